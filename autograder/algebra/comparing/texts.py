"""Whether two texts say the same: both are read, each with an eye on the other."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.building.composites import Conjunction, Listing, kind
from autograder.algebra.building.library import CALLS
from autograder.algebra.building.parse import parse_any
from autograder.algebra.building.scope import plain_name
from autograder.algebra.comparing.sameness import STATEMENTS, compare, too_late
from autograder.algebra.comparing.undeclared import matrices
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deadlines.guard import within
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.grammar import plain_names
from autograder.algebra.reading.signs import is_greek

# Letters that are functions wherever a bracket follows.
_FUNCTIONS = frozenset({"f", "g", "h", "F", "G", "H", "P", "p", "q", "phi", "psi", "sigma"})


@within(too_late)
def equivalent(
    expected: str,
    given: str,
    *,
    variables: Iterable[str] | None = None,
    assumptions: Mapping[str, str] | None = None,
) -> Verdict:
    """Compare a student's answer with the expected one.

    Parameters
    ----------
    expected, given : str
        Two formulas, equations, inequalities, lists, sets, intervals or matrices, see `parse_any`.
    variables : iterable of str, optional
        The names that may occur.  If omitted: any, ``2x`` is a product and ``f(x)`` a function.
    assumptions : mapping of str to str, optional
        What is known of the names, see `parse`.  Names are real numbers unless told otherwise.

    Returns
    -------
    Verdict
        Two formulas are equal if they agree wherever both are defined; two equations, if one is a
        multiple of the other, or for names declared as real, if their solutions agree.  No text
        raises, and no text takes longer than `guard.SECONDS` of processor time here and
        `ALL_SECONDS` in the second process.

    Examples
    --------
    >>> equivalent("p1*(1 - p1)", "p1 - p1^2")
    Verdict(equal=True, how='proved', values=None)
    >>> equivalent("-p1*p2", "p1*p2").equal
    False
    >>> equivalent("[0, 1)", "(0, 1) ∪ {0}").equal
    True
    """
    names = None if variables is None else tuple(variables)
    known = dict(assumptions or {})
    try:
        right = _read(expected, names, tuple(known.items()))
        if factors := _factors(right, given):
            right = _read(expected, names, tuple(known.items()), factors)
    except ParseError as error:
        return Verdict(None, f"parse error: the expected formula: {error}")
    try:
        symbols = frozenset(symbol.name for symbol in right.free_symbols if symbol.is_Symbol)
        names = _with_label(names, given)
        answer = _read(given, names, tuple(known.items()), symbols)
        if "*" not in known and (found := matrices((expected, given), names, known)):
            known |= found
            right = _read(expected, names, tuple(known.items()), factors)
            answer = _read(given, names, tuple(known.items()), symbols)
    except ParseError as error:
        return Verdict(False, f"parse error: {error}")
    if names is None:
        right, answer = _without_chain(right, answer), _without_chain(answer, right)
    elif kind(right) == "expression" and (sides := _chain(answer)):
        # Declared names are marked: every side that is no label has to be right.
        sides = sides[1:] if sides[0].is_Symbol and _is_label(sides[0], right) else sides
        return compare(Listing(*[right] * len(sides)), Listing(*sides), assumptions)
    if kind(right) not in STATEMENTS and _is_assignment(given):
        answer = _assigned(answer, right)
    elif kind(answer) not in STATEMENTS and _is_assignment(expected):
        right = _assigned(right, answer)
    return compare(right, answer, assumptions)


def _read(
    text: object,
    names: tuple[str, ...] | None,
    assumptions: tuple[tuple[str, str], ...],
    symbols: frozenset[str] = frozenset(),
) -> Any:
    if not isinstance(text, str):
        raise ParseError(f"expected a formula as text, not {type(text).__name__}")
    return _read_text(text, names, assumptions, symbols)


@functools.lru_cache(512)  # the expected answer is the same for a whole class
def _read_text(
    text: str,
    names: tuple[str, ...] | None,
    assumptions: tuple[tuple[str, str], ...],
    symbols: frozenset[str],
) -> Any:
    return parse_any(
        text,
        names,
        implicit=True,
        assumptions=dict(assumptions),
        open_functions=names is None,
        symbols=symbols,
    )


def _factors(expected: Any, given: object) -> frozenset[str]:
    """Return the names that looked like functions, ``a(b + c)``, but are factors in `given`."""
    names = {function.func.__name__ for function in expected.atoms(AppliedUndef)}
    called = {plain_name(n) for n in names if is_greek(n) or len(n.partition("_")[0]) == 1}
    if not called or not isinstance(given, str):
        return frozenset()
    return plain_names(given, implicit=True, functions=CALLS).intersection(called) - _FUNCTIONS


def _with_label(names: tuple[str, ...] | None, given: object) -> tuple[str, ...] | None:
    """Let ``p = …`` be read where p is not declared: that is what the answer is called."""
    label = (
        re.match(r"[\s$\\(\[]*([A-Za-z]\w*)\s*=(?!=)", given) if isinstance(given, str) else None
    )
    if names is None or label is None or plain_name(label[1]) in map(plain_name, names):
        return names
    return (*names, label[1])


def _is_label(name: sympy.Symbol, expected: Any) -> bool:
    return name not in expected.free_symbols


def _chain(value: Any) -> list[Any]:
    """Return the sides of ``a = b = c``; none of anything else."""
    links = value.args if isinstance(value, Conjunction) else (value,)
    if not all(isinstance(link, sympy.Eq) for link in links):
        return []
    if any(one.rhs != other.lhs for one, other in itertools.pairwise(links)):
        return []
    return [links[0].lhs, *(link.rhs for link in links)]


def _without_chain(value: Any, other: Any) -> Any:
    """Return the answer that a chain ends with: c, or x = c for ``x = a = b = c``."""
    sides = _chain(value)
    if len(sides) < 3:
        return value
    if kind(other) not in STATEMENTS:
        return sides[-1]
    return sympy.Eq(sides[0], sides[-1], evaluate=False)


def _is_assignment(text: object) -> bool:
    return isinstance(text, str) and "=" in text and not re.match(r"\s*[A-Z][a-z]+\(", text)


def _assigned(value: Any, other: Any) -> Any:
    """Return what is on the right of ``x = …``, where that name means nothing in `other`."""
    if not isinstance(value, sympy.Eq):
        return value
    names = value.lhs.args if isinstance(value.lhs, Listing) else (value.lhs,)
    used = value.rhs.free_symbols | other.free_symbols
    fresh = all(name.is_Symbol and name not in used for name in names)
    return value.rhs if fresh else value
