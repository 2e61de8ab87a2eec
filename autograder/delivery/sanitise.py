"""Show Markdown that a student wrote: formulas, pictures and tables stay, nothing of it runs.

nbgrader's templates print what Markdown becomes as it is, and Markdown may hold any HTML. So it is
sanitised where it becomes HTML: `nbgrader_settings` puts `markdown2html` in the place of
nbconvert's filter, for formgrader's pages and `nbgrader generate_feedback` alike. Raw cells may
hold HTML as well: nbconvert's own cleaner keeps classes, which can lay a link over the whole page,
so `clean_html` takes its place. Everything else of a notebook is made by the engine: outputs of
text and PNG pictures, and metadata as released.
"""

from __future__ import annotations

import re
from base64 import b64decode
from functools import cache
from html import escape
from typing import Any

from jinja2 import pass_context
from markupsafe import Markup

from autograder.sandbox.pictures import showable

#: Pictures come with the notebook: one from elsewhere would tell its owner who looks, and when.
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
#: TeX that makes links, classes and ids or loads more of MathJax.
_TEX = re.compile(r"\\(?=(?:href|class|cssId|style|data|require|unicode|html\w*)(?![A-Za-z]))")


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """Turn Markdown into HTML that is safe to show: the filter of this name in templates."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    cell = context.get("cell", {})
    renderer = IPythonRenderer(
        escape=False,
        attachments=cell.get("attachments", {}),
        exclude_anchor_links=True,  # they lead nowhere: what they lead to is taken out
    )
    try:
        html: str = MarkdownWithMath(renderer=renderer).render(source)
    except Exception:  # a picture that isn't there, or nested too deeply: show what was written
        html = f"<pre>{escape(source)}</pre>"
    return sanitised(html)


def sanitised(html: str) -> str:
    r"""Return HTML without anything that runs, loads, sends or takes the page's place.

    >>> sanitised('<b onclick="x()">$a &lt; b$</b><script>x()</script><a href="javascript:x()">c')
    '<b>$a &lt; b$</b><a rel="noopener noreferrer">c</a>'
    >>> sanitised(r"$\href{javascript:x()}{y}$")
    '$href{javascript:x()}{y}$'
    """
    return _TEX.sub("", str(_cleaner().clean(html)))


def beneath(html: str) -> Markup:
    """Fit a text into a page of ours: below its headings, and with a word where pictures have none.

    >>> beneath('<h1>Why</h1><img src="data:…" alt="">')
    Markup('<h3>Why</h3><img alt="a picture without a description" src="data:…" alt="">')
    """
    below = re.sub(r"<(/?)h([1-6])\b", lambda tag: f"<{tag[1]}h{min(int(tag[2]) + 2, 6)}", html)
    words = '<img alt="a picture without a description"'  # of two, the first one counts
    return Markup(re.sub(r'<img\b(?![^>]* alt="[^"])', words, below))


def clean_html(html: str | bytes) -> str:
    """Return what is safe to show of a raw cell or of highlighted code: templates' filter."""
    return sanitised(html.decode(errors="replace") if isinstance(html, bytes) else html)


@cache
def _cleaner() -> Any:
    import nh3
    from pygments.token import STANDARD_TYPES

    colours = set(filter(None, STANDARD_TYPES.values()))
    return nh3.Cleaner(
        attribute_filter=_attribute,
        allowed_classes={"span": colours, "div": {"highlight"}},
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
    )


def _is_picture(address: str) -> bool:
    """Say whether an address is a picture, and none that would fill the reader's memory."""
    if not _PICTURE.fullmatch(address):
        return False
    try:
        return showable(b64decode(address.partition(",")[2]))
    except ValueError:
        return False


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Keep an attribute, or drop it: data is for pictures, and pictures are of data."""
    if name == "src":
        return value if tag == "img" and _is_picture(value) else None
    return None if value.lstrip().lower().startswith("data:") else value
