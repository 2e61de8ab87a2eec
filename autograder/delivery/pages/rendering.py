"""Render pages that stand alone: nothing from the network, and no script but one of ours."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from autograder.course.files import write_atomically
from autograder.delivery.pages import picture
from autograder.grading.results import Status

if TYPE_CHECKING:
    from autograder.delivery.pages.class_results import CourseTotal
    from autograder.delivery.pages.final_grades import Section, Sheet

#: What a status looks like and is called; never told by colour alone.
STATUS = {
    Status.PASSED: ("✓", "passed"),
    Status.PARTIAL: ("◐", "partly right"),
    Status.FAILED: ("✗", "not right yet"),
    Status.SKIPPED: ("–", "not run"),
    Status.ERRORED: ("!", "withheld"),
}


def write_page(path: Path, template: str, **values: object) -> Path:
    """Write a page from a template in templates/ and return its path."""
    # Student text may hold lone surrogates, which UTF-8 can't.
    write_atomically(path, rendered(template, **values).encode(errors="replace"))
    return path


def rendered(template: str, **values: object) -> str:
    """Return a page, or a piece of one, from a template in templates/."""
    return _environment().get_template(template).render(values)


def prose(text: str) -> Markup:
    """Escape ``text``, and show what is between backticks as code.

    >>> prose("`a < b` holds")
    Markup('<code>a &lt; b</code> holds')
    """
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))


def blocks(text: str) -> list[tuple[bool, str]]:
    r"""Split a message into prose and what it quotes of the student's; True is a quotation.

    >>> blocks("line 2 cannot be read\n    1 - sum\n        ^\nAnd more.")
    [(False, 'line 2 cannot be read'), (True, '    1 - sum\n        ^'), (False, 'And more.')]
    """
    lines = groupby(text.splitlines(), key=lambda line: line.startswith(" "))
    return [(quoted, "\n".join(group)) for quoted, group in lines]


def counted(value: float) -> str:
    """Write a number of points with its noun.

    >>> counted(1), counted(0.5)
    ('1 point', '0.5 points')
    """
    return f"{points(value)} point{'s' * (value != 1)}"


def points(value: float | None) -> str:
    """Write points without needless digits; what isn't known as a dash.

    >>> points(2.0), points(1 / 3), points(None)
    ('2', '0.33', '–')
    """
    return "–" if value is None else f"{round(value, 2):g}"


def entry(value: object) -> str:
    """Write an entry of a table: three digits of a fraction, and what it is of everything else.

    >>> entry(0.81234), entry(3), entry("B A D")
    ('0.812', '3', 'B A D')
    """
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def so_far(sheet: Sheet | CourseTotal) -> str:
    """Write a score, and behind it the points that are not final."""
    return points(sheet.score) + (f" (+{points(sheet.open)})" if sheet.open else "")


def earned(section: Section) -> str:
    """Write the points of an exercise, with a sign where a part of it is left out."""
    return points(section.score) + "°" * section.left_out


def digest(script: str) -> str:
    """Return what a page's policy calls a script that may run: its hash.

    >>> digest("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def script(name: str) -> Markup:
    """Return a script of ours from templates/, to stand in a page."""
    return Markup((Path(__file__).parent / "templates" / name).read_text("utf-8"))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("autograder.delivery.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "blocks": blocks, "points": points, "counted": counted}
    environment.filters |= {"so_far": so_far, "earned": earned, "digest": digest}
    environment.filters |= {"picture": picture.svg, "in_words": picture.describe}
    environment.filters |= {
        "entry": entry,
        "loss": picture.loss_svg,
        "trained": picture.describe_training,
    }
    environment.globals |= {"STATUS": STATUS, "script": script}
    return environment
