"""What stands around a formula and says nothing: environments of lines, and ``H(p) =`` before it.

Blanks take its place, so that a place in the text stays where it was.
"""

from __future__ import annotations

import re
from collections.abc import Container

_LINES = "align|alignat|aligned|displaymath|eqnarray|equation|flalign|gather|gathered|math|multline|split"
_MARK = re.compile(
    rf"\\(?P<end>begin|end)\s*\{{(?P<name>[A-Za-z]+)\*?\}}(?:\[[a-z]\])?|\\\\(?:\[[^\]]*\])?|(?<!\\)&"
)
_LAYOUT_ONLY = frozenset(_LINES.split("|"))

_FONT = r"\\[A-Za-z]+\s*\{\\?[A-Za-z0-9 ]+\}"
_ARGUMENTS = r"(?:\s*(?:\\(?:left|big|Big))?\s*[(\[][^=()\[\]]*(?:\\(?:right|big|Big))?\s*[)\]])?"
_INDEX = r"(?:\s*_(?:\{[^{}=]*\}|\\?[A-Za-z]+|[A-Za-z0-9]))?"
_NAMED = rf"(?:{_FONT}|\\?[^\W\d_]+[0-9₀-₉ᵢⱼₖₙ]*){_INDEX}(?:['′*]|\^\{{?(?:\\prime|\*|\\star|\\ast)+\}}?)*"
_D = r"(?:d|∂|\\partial|\\mathrm\{d\}|\\operatorname\{d\})"
_BY = rf"{_D}\s*{_NAMED}"
_LABEL = re.compile(
    rf"""\s*(?:(?P<name>{_NAMED}){_ARGUMENTS}
    | \\[dt]?frac\s*\{{\s*{_D}(?:\^2)?[^{{}}=]*(?:\{{[^{{}}=]*\}})?\s*\}}\s*\{{\s*{_BY}[^{{}}=]*(?:\{{[^{{}}=]*\}})?\s*\}}
    | {_D}\s*{_NAMED}\s*/\s*{_BY}
    | \\?[|‖]\|?[^=|‖]*\\?[|‖]\|?)\s*&?\s*(?::=|={{1,2}}|\\coloneqq|\\equiv)(?!=)\s*&?""",
    re.VERBOSE,
)


def without_environments(text: str) -> str:
    r"""Return a text of the same length without environments of lines, and without their marks.

    What stands in a matrix, or between cases, stays.

    >>> without_environments(r"\begin{aligned} &x \\ \end{aligned}").strip()
    'x'
    """
    if "\\begin" not in text:
        return text
    signs, inside = list(text), []
    for mark in _MARK.finditer(text):
        name = mark["name"]
        if mark["end"] == "begin":
            inside.append(name)
        outer = not inside or inside[-1] in _LAYOUT_ONLY
        if mark["end"] == "end" and inside:
            inside.pop()
        if name in _LAYOUT_ONLY or (name is None and inside and outer):
            signs[mark.start() : mark.end()] = " " * (mark.end() - mark.start())
    return "".join(signs)


def without_label(text: str, declared: Container[str]) -> str:
    """Return a text of the same length without ``H(p) =`` before it, which names the answer.

    What is ``declared``, without underscores, is no such name: ``x = 2`` is an equation.

    >>> without_label("H(p) = 2*p", {"p"}).strip(), without_label("p = 2", {"p"})
    ('2*p', 'p = 2')
    """
    begin = 0
    while (found := _LABEL.match(text, begin)) and found.end() < len(text):
        if found["name"] and _plain_label(found["name"]) in declared:
            break
        begin = found.end()
    opening = re.match(r"\s*(?:\$\$?|\\[(\[])?", text)
    kept = opening.end() if opening and not begin else 0
    if not begin and kept and (found := _LABEL.match(text, kept)):
        inner = without_label(text[kept:], declared)
        return text[:kept] + inner
    return " " * begin + text[begin:]


def _plain_label(name: str) -> str:
    """Return a name as it is declared, without fonts, braces and underscores."""
    bare = re.sub(r"\\[A-Za-z]+\s*(?=\{)", "", name)
    return re.sub(r"[\\{}_\s]", "", bare)
