"""Show Markdown that a student wrote: formulas, pictures and tables stay, nothing of it runs.

nbgrader's templates print what Markdown becomes as it is, and Markdown may hold any HTML. So it is
sanitised where it becomes HTML: `nbgrader_settings` puts `markdown2html` in the place of
nbconvert's filter, for formgrader's pages and `nbgrader generate_feedback` alike. Raw cells may
hold HTML as well: nbconvert's own cleaner keeps classes, which can lay a link over the whole page,
so `clean_html` takes its place. Both give a piece of the page that nothing in it leaves: formulas
can be larger than a page, and stand elsewhere. Everything else of a notebook is made by the engine:
outputs of text and PNG pictures, and metadata as released.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from functools import cache
from html import escape
from typing import Any

from jinja2 import pass_context
from markupsafe import Markup

from autograder.sandbox.pictures import showable

#: Pictures come with the notebook: one from elsewhere would tell its owner who looks, and when.
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
#: TeX that makes links, classes and ids or loads more of MathJax. Which backslashes belong together
#: MathJax decides: so all of them go.
_TEX = re.compile(
    r"(?<!\\)\\+"
    r"(?=(?:href|class|cssId|style|data|require|unicode|mmlToken|csname|html\w*)(?![A-Za-z]))"
)
#: What is in there is cut off where it ends, wherever it says that it stands.
_PLACE = "contain:paint;overflow:auto"
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
_SINGLE = {"br", "col", "hr", "img", "input", "wbr", "area", "link", "meta"}
_DEEPEST = 500  # elements in one another: what reads pages takes the square of it
_LONGEST = 50_000  # characters of Markdown, besides pictures: so does what reads it, of some
_SIZE = re.compile(r"\d{1,4}%?")  # of pictures and lines, in pixels


@pass_context
def markdown2html(context: object, source: str) -> str:
    """Turn Markdown into a safe piece of a page: the filter of this name in templates."""
    return _in_place(rendered(context, source))


def rendered(context: Any, source: str) -> str:
    """Turn Markdown into HTML that is safe to show, where there are no scripts."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    if len(_PICTURE.sub("", source)) > _LONGEST:
        return _as_written(source)
    cell = context.get("cell", {})
    renderer = IPythonRenderer(
        escape=False,
        attachments=cell.get("attachments", {}),
        exclude_anchor_links=True,  # they lead nowhere: what they lead to is taken out
    )
    try:
        html: str = MarkdownWithMath(renderer=renderer).render(source)
    except Exception:  # a picture that isn't there, or nested too deeply: show what was written
        return _as_written(source)
    return sanitised(html)


def sanitised(html: str) -> str:
    r"""Return HTML without anything that runs, loads, sends or takes the page's place.

    >>> sanitised('<b onclick="x()">$a &lt; b$</b><script>x()</script><a href="javascript:x()">c')
    '<b>$a &lt; b$</b><a rel="noopener noreferrer">c</a>'
    >>> sanitised(r"$\href{javascript:x()}{y}$")
    '$href{javascript:x()}{y}$'
    """
    if _is_deep(html):
        return _as_written(html)
    return _TEX.sub("", str(_cleaner().clean(html)))


def _is_deep(html: str) -> bool:
    """Say whether elements may stand in one another too deeply."""
    unclosed: Counter[str] = Counter()
    depth = 0
    for closes, name in _TAG.findall(html):
        kind = name.lower()
        if closes and unclosed[kind]:
            unclosed[kind] -= 1
            depth -= 1
        elif not closes and kind not in _SINGLE:
            unclosed[kind] += 1
            depth += 1
        if depth > _DEEPEST:
            return True
    return False


def _as_written(text: str) -> str:
    return f"<pre>{_TEX.sub('', escape(text))}</pre>"


def _in_place(html: str) -> str:
    return f'<div style="{_PLACE}">{html}</div>'


def beneath(html: str) -> Markup:
    """Fit a text into a page of ours: below its headings, and with a word where pictures have none.

    >>> beneath('<h1>Why</h1><img src="data:…" alt="">')
    Markup('<h3>Why</h3><img alt="a picture without a description" src="data:…" alt="">')
    """
    below = re.sub(r"<(/?)h([1-6])\b", lambda tag: f"<{tag[1]}h{min(int(tag[2]) + 2, 6)}", html)
    words = '<img alt="a picture without a description"'  # of two, the first one counts
    return Markup(re.sub(r'<img\b(?![^>]* alt="[^"])', words, below))


def clean_html(html: str | bytes) -> str:
    """Return a safe piece of a page, of a raw cell or of highlighted code: templates' filter."""
    return _in_place(sanitised(html.decode(errors="replace") if isinstance(html, bytes) else html))


@cache
def _cleaner() -> Any:
    import nh3
    from pygments.token import STANDARD_TYPES

    colours = set(filter(None, STANDARD_TYPES.values()))
    return nh3.Cleaner(
        tags=nh3.ALLOWED_TAGS - {"wbr"},  # MathJax reads on behind it: \h<wbr>ref
        attribute_filter=_attribute,
        tag_attribute_values={"div": {"style": {_PLACE}}},
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
    if name in ("width", "height", "size"):
        return value if _SIZE.fullmatch(value) else None
    return None if value.lstrip().lower().startswith("data:") else value
