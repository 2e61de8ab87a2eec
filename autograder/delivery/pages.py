"""Render pages that stand alone: no scripts, nothing from the network."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from autograder.course.files import write_atomically
from autograder.grading.results import Status

#: What a status looks like and is called; never told by colour alone.
STATUS = {
    Status.PASSED: ("✓", "passed"),
    Status.PARTIAL: ("◐", "partly right"),
    Status.FAILED: ("✗", "not right yet"),
    Status.SKIPPED: ("–", "not run"),
    Status.ERRORED: ("!", "withheld"),
}


def write_page(path: Path, template: str, **values: Any) -> Path:
    """Write a page from a template in templates/ and return its path."""
    page = _environment().get_template(template).render(values)
    # Student text may hold lone surrogates, which UTF-8 can't.
    write_atomically(path, page.encode(errors="replace"))
    return path


def prose(text: str) -> Markup:
    """Escape ``text``, and show what is between backticks as code.

    >>> prose("`a < b` holds")
    Markup('<code>a &lt; b</code> holds')
    """
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))


def points(value: float | None) -> str:
    """Write points without needless digits; what isn't known as a dash.

    >>> points(2.0), points(1 / 3), points(None)
    ('2', '0.33', '–')
    """
    return "–" if value is None else f"{round(value, 2):g}"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("autograder.delivery"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "points": points}
    environment.globals |= {"STATUS": STATUS}
    return environment
