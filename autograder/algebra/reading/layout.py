"""What stands around a formula and says nothing: environments of lines, and ``H(p) =`` before it.

Blanks take its place, so that a place in the text stays where it was.
"""

from __future__ import annotations

import re
from collections.abc import Container

from autograder.algebra.reading.signs import LETTERS

_LAYOUT_ONLY = (
    *("align", "alignat", "aligned", "displaymath", "eqnarray", "equation", "flalign"),
    *("gather", "gathered", "math", "multline", "split"),
)
_LAYOUT_MARK = re.compile(
    r"\\(?P<end>begin|end)\s*\{(?P<name>[A-Za-z]+)\*?\}(?:\[[a-z]\])?"
    r"|\\\\(?:\[[^\]]*\])?|(?<!\\)&"
)
_OPENING = re.compile(
    rf"\s*(?:\$\$?|\\[(\[])?(?:\s*\\begin\s*\{{(?:{'|'.join(_LAYOUT_ONLY)})\*?\}}\s*&?)?"
)
_CONSTANT = ("e", "pi", "π", "ℯ")

_FONT_AND_NAME = r"\\[A-Za-z]+\s*\{\\?[A-Za-z0-9 ]+\}"
_ARGUMENTS = r"(?:\s*(?:\\(?:left|big|Big))?\s*[(\[][^=()\[\]]*(?:\\(?:right|big|Big))?\s*[)\]])?"
_SUBSCRIPT = r"(?:\s*_(?:\{[^{}=]*\}|\\?[A-Za-z]+|[A-Za-z0-9]))?"
_PRIME = r"['′]|\\prime"
_PRIMES = r"(?:['′*]|\^\{?(?:\\prime|\*|\\star|\\ast)+\}?)*"
_NAMED = rf"(?:{_FONT_AND_NAME}|\\?[^\W\d_]+[0-9₀-₉ᵢⱼₖₙ]*){_SUBSCRIPT}{_PRIMES}"
_UPRIGHT_D = r"(?:d|∂|\\partial|\\mathrm\{d\}|\\operatorname\{d\})"
_BY = rf"{_UPRIGHT_D}\s*{_NAMED}"
_REST = r"[^{}=]*(?:\{[^{}=]*\})?\s*\}"  # of what stands above or below the line of a fraction
_LABEL = re.compile(
    rf"""\s*(?:(?P<name>{_NAMED}){_ARGUMENTS}
    | \\[dt]?frac\s*\{{\s*{_UPRIGHT_D}(?:\^2)?{_REST}\s*\{{\s*{_BY}{_REST}
    | {_UPRIGHT_D}\s*{_NAMED}\s*/\s*{_BY}
    | \\?[|‖]\|?[^=|‖]*\\?[|‖]\|?)
    \s*&?\s*(?::=|={{1,2}}|≈|\\approx|\\coloneqq|\\equiv)(?!=)\s*&?""",
    re.VERBOSE,
)


def without_environments(text: str) -> str:
    r"""Return a text of the same length without environments of lines, and without their marks.

    What stands in a matrix, or between cases, stays.  An environment may have begun in an earlier
    line, or go on in the next one.

    >>> without_environments(r"\begin{aligned} &x \\ \end{aligned}").strip()
    'x'
    >>> without_environments(r"&= x \\ \end{aligned}").strip()
    '= x'
    """
    if "\\begin" not in text and "\\end" not in text:
        return text
    marks = list(_LAYOUT_MARK.finditer(text))
    begun = [mark["name"] for mark in marks if mark["end"] == "begin"]
    before = [m["name"] for m in marks if m["end"] == "end" and m["name"] not in begun]
    signs, inside = list(text), before[::-1]
    for mark in marks:
        name = mark["name"]
        if mark["end"] == "begin":
            inside.append(name)
        outer = not inside or inside[-1] in _LAYOUT_ONLY
        if mark["end"] == "end" and inside:
            inside.pop()
        if name in _LAYOUT_ONLY or (name is None and inside and outer):
            signs[mark.start() : mark.end()] = " " * (mark.end() - mark.start())
    return "".join(signs)


def without_label(text: str, declared: Container[str], *, names_only: bool = False) -> str:
    """Return a text of the same length without ``H(p) =`` before it, which names the answer.

    What is ``declared``, without underscores, is no such name: ``x = 2`` is an equation.  With
    ``names_only``, neither is a derivative nor a norm.

    >>> without_label("H(p) = 2*p", {"p"}).strip(), without_label("p = 2", {"p"})
    ('2*p', 'p = 2')
    """
    opening = _OPENING.match(text)
    start = begin = opening.end() if opening else 0
    while (found := _LABEL.match(text, begin)) and found.end() < len(text):
        name = found["name"]
        if (name is None and names_only) or (name and _is_known(name, declared)):
            break
        begin = found.end()
    return text[:start] + " " * (begin - start) + text[begin:]


def _is_known(name: str, declared: Container[str]) -> bool:
    """Whether a name, or the letter that carries its index, is declared or a constant."""
    bare = re.sub(r"\\[A-Za-z]+\s*(?=\{)", "", name).translate(LETTERS)
    letter = re.sub(r"[\\{}\s'*]", "", bare.partition("_")[0])
    whole = re.sub(r"[\\{}_\s,'*]", "", bare)
    if re.search(_PRIME, name):  # b' is another one than b
        return whole + "'" in declared
    return any(word in _CONSTANT or word in declared for word in (whole, letter))
