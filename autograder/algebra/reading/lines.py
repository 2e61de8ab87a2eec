"""A line of a derivation taken apart: its formulas, how they are related, and the reason given."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.layout import without_environments, without_label
from autograder.algebra.reading.lexer import without_dollars

_RELATION = re.compile(r"\s*&?\s*(<=|≤|\\leq?(?:slant)?(?![A-Za-z])|==?)\s*&?\s*")
_ARROW = re.compile(
    r"^\s*(?:<=>|=>|⇔|⟺|⇒|⟹|\\(?:iff|implies|Leftrightarrow|Rightarrow|Longrightarrow)(?![A-Za-z]))"
)
_OTHER_RELATION = re.compile(r"\s*&?\s*(>=?|≥|\\geq?(?:slant)?(?![A-Za-z])|<(?![=>]))")
_ORNAMENT = re.compile(r"(?:\s|\\\\|(?<=\s)[.,;]|(?<=[)\]}\w])[.,;])*\Z")
_REASON = re.compile(  # (why), behind a wide blank or in brackets
    r"(?:\\q?quad[\s~]*[(\[]?|\s[(\[])\s*\\(?:text|textrm|textit|mbox|mathrm)\s*"
    r"\{\s*\(?([^{}()]*)\)?\s*\}\s*[)\]]?(?:\s|\\\\)*\Z"
)
_OPENS, _CLOSES = "([{", ")]}"


class Side(NamedTuple):
    """One formula of a line, at its place: blanks stand for what comes before it."""

    relation: str  # how it stands to what comes before: ``"="`` or ``"<="``
    text: str


class WrittenLine(NamedTuple):
    """A line as written: ``= p_1 - p_1^2  # algebra`` or ``a = b = c``."""

    sides: tuple[Side, ...]
    reason: str


def take_apart(text: str, declared: Collection[str] | None = None) -> WrittenLine:
    r"""Return the formulas of a line and the reason behind it; an arrow may stand in front.

    What stands before the first = and is not `declared`, ``H(p) =``, is left out.

    >>> sides, reason = take_apart("&= p_1 = 1/2 \\\\  # why")
    >>> [(side.relation, side.text) for side in sides], reason
    ([('=', '   p_1'), ('=', '         1/2')], 'why')

    Raises
    ------
    ParseError
        If it begins with a relation that no derivation has.
    """
    formula, reason = _reason_apart(text)
    formula = re.sub(r"^(\s*)&", r"\1 ", without_environments(formula))
    formula = _ARROW.sub(lambda found: " " * len(found[0]), formula)
    if declared is not None:
        formula = without_label(formula, declared, names_only=True)
    if other := _OTHER_RELATION.match(formula):
        raise ParseError("a line begins with = or <=, or without either", text, other.start(1))
    end = _ORNAMENT.search(formula)
    start, stop = without_dollars(formula[: end.start()] if end else formula)
    sides: list[Side] = []
    relation, begin, depth, at = "=", start, 0, start
    while at < stop:
        match = _RELATION.match(formula, at, stop) if depth == 0 else None
        if match and (formula[at - 1 : at] not in ("<", ">", "!", ":") or match[1] != "="):
            _add(sides, relation, formula, begin, at)
            relation = "=" if match[1].startswith("=") else "<="
            begin = at = match.end()
            continue
        depth += (formula[at] in _OPENS) - (formula[at] in _CLOSES)
        at += 1
    _add(sides, relation, formula, begin, stop)
    return WrittenLine(tuple(sides), reason.strip().rstrip("."))


def _reason_apart(text: str) -> tuple[str, str]:
    r"""Return a line without its reason, and that; it may be said in LaTeX's words.

    >>> _reason_apart(r"x \quad \text{(algebra)} \\"), _reason_apart(r"x \# algebra")
    (('x ', 'algebra'), ('x ', 'algebra'))
    """
    formula, mark, reason = text.partition("#")
    if mark:
        formula = re.sub(r"(?<!\\)\\\Z", "", formula)  # \# is the sign itself
        return formula, re.sub(r"(?:\s|\\)*\Z", "", reason.lstrip())
    found = _REASON.search(text)
    return (text[: found.start()], found[1].strip()) if found else (text, "")


def _add(sides: list[Side], relation: str, formula: str, begin: int, stop: int) -> None:
    if formula[begin:stop].strip():
        sides.append(Side(relation, " " * begin + formula[begin:stop].rstrip()))


def declared_names(known: Mapping[str, Any]) -> frozenset[str]:
    """Return the names that a notebook's hint about lines declares, without underscores."""
    words = [*known.get("names", ()), *known.get("indexed", ()), *known.get("functions", ())]
    return frozenset(word.replace("_", "") for word in words)
