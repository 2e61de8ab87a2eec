"""What the names in a formula mean."""

from __future__ import annotations

import copy
import difflib
import functools
import re
from collections.abc import Collection, Iterable, Mapping

import sympy

from autograder.algebra.building.functions import Undeclared, Vector
from autograder.algebra.building.library import CONSTANTS, FUNCTIONS
from autograder.algebra.reading.preview import say_derivative

ASSUMPTIONS = [
    "complex",
    "real",
    "positive",
    "negative",
    "nonnegative",
    "nonzero",
    "integer",
    "matrix",
    "vector",
    "function",
]
_OPEN = "open"  # what is assumed of a name that may be a number or a matrix, see `undeclared`


_DELTA = re.compile(r"delta_([i-n])([i-n])")


def plain_name(name: str) -> str:
    """Return what two spellings of one name have in common: ``p_1`` is ``p1``."""
    return name.replace("_", "")


def check_assumptions(assumptions: Mapping[str, str]) -> None:
    """Raise ValueError where something is assumed of a name that can't be."""
    for name, words in assumptions.items():
        for word in words.split():
            if word not in ASSUMPTIONS:
                close = difflib.get_close_matches(word, ASSUMPTIONS, n=1)
                raise ValueError(
                    f"unknown assumption {word!r} of {name}"
                    + (f" (did you mean {close[0]!r}?)" if close else "")
                    + f"; known: {', '.join(ASSUMPTIONS)}"
                )


class Scope:
    """What the names in a formula mean.

    Parameters
    ----------
    names : iterable of str, optional
        The names that may occur; any, if omitted.
    assumptions : mapping of str to str
        What is known of them: words out of `ASSUMPTIONS`.  A ``matrix`` does not commute, nor
        does a ``vector``, a matrix of one column; beside them ``I`` is the identity.  A
        ``function`` is one of which nothing is known.
    ranges : mapping of str to str
        For an index, or ``"*"`` for every one, where it ends if nothing is written: ``Σ_j`` runs
        from 1 to there.
    """

    def __init__(
        self,
        names: Iterable[str] | None,
        assumptions: Mapping[str, str],
        ranges: Mapping[str, str] | None = None,
    ) -> None:
        self._ranges = dict(ranges or {})
        self.names = None if names is None else {plain_name(name): name for name in names}
        self._assumptions = {name: words.split() for name, words in assumptions.items()}
        check_assumptions(assumptions)
        self.functions = {n for n, words in self._assumptions.items() if "function" in words}

    @property
    def _has_matrices(self) -> bool:
        return any({"matrix", "vector"}.intersection(known) for known in self._assumptions.values())

    @property
    def has_delta(self) -> bool:
        """Whether a Kronecker delta is among the declared names, so that δ(i, j) may be written."""
        return any(_DELTA.fullmatch(name) for name in (self.names or {}).values())

    @property
    def words(self) -> frozenset[str]:
        """The declared names, without underscores."""
        declared = {plain_name(name) for name in self._assumptions} - {"*"}
        return frozenset((self.names or {}).keys() | declared) - self.functions

    @property
    def declared(self) -> Collection[str]:
        """The names of which something is known; ``"*"`` for all."""
        return self._assumptions.keys()

    def left_open(self, names: Collection[str]) -> Scope:
        """Return the same, with names that may be those of matrices."""
        scope = copy.copy(self)
        scope._assumptions = self._assumptions | {name: [_OPEN] for name in names}
        return scope

    def find(self, word: str) -> sympy.Expr | None:
        """Return the symbol or constant called `word`, None if there is none.

        A declared function without brackets is one of the only variable: ``dT/dx`` is of T(x).
        """
        declared = self.names is not None and plain_name(word) in self.names
        if declared and word in self.functions and len(self.words) == 1:
            return sympy.Function(word)(self.find(*self.words))
        delta = _DELTA.fullmatch(word)
        either = delta and plain_name(f"delta{delta[2]}{delta[1]}") in (self.names or ())
        if delta and (declared or either or self.names is None):
            return sympy.KroneckerDelta(*(sympy.Symbol(i, integer=True) for i in delta.groups()))
        if declared and self.names:
            return self.symbol(self.names[plain_name(word)])
        if word in self._assumptions and self.names is None:
            return self.symbol(word)
        if word == "I" and self._has_matrices:
            return sympy.S.One
        if word in CONSTANTS:
            return CONSTANTS[word]
        return self.symbol(word) if self.names is None and word not in FUNCTIONS else None

    def knows(self, word: str) -> bool:
        """Whether there is a symbol or constant called `word`."""
        return self.find(word) is not None

    def find_base(self, word: str) -> bool:
        """Whether ``p_k`` may be written for a running index k, `word` being ``p``."""
        return self.names is None or any(
            name == word or name.startswith((f"{word}_", *(f"{word}{n}" for n in range(10))))
            for name in self.names.values()
        )

    def known_of_family(self, base: str) -> dict[str, bool]:
        """Return what is known of every ``p_k``, `base` being ``p``."""
        words = self._assumptions.get(base, self._assumptions.get("*", []))
        return {"real": True} | dict.fromkeys({"positive", "nonnegative"}.intersection(words), True)

    def size(self, index: str) -> sympy.Expr | None:
        """Return where a running index ends for which no range is written, None if unknown."""
        last = self._ranges.get(index, self._ranges.get("*"))
        if last is None:
            return None
        return sympy.Integer(last) if last.isdigit() else self.symbol(last)

    def nearest(self, word: str) -> str:
        """Return a hint for an unknown `word`."""
        names = self.names or {}
        if said := say_derivative(word, [*names.values()], self.functions):
            return said
        if close := difflib.get_close_matches(plain_name(word), names, n=1, cutoff=0.5):
            return f"did you mean {names[close[0]]}?"
        if close := difflib.get_close_matches(word, FUNCTIONS, n=1, cutoff=0.7):
            return f"did you mean {close[0]}?"
        return f"the names are {', '.join(names.values())}" if names else "no names are expected"

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the symbol called `name`, with what is known of it."""
        return _symbol(name, *self._assumptions.get(name, self._assumptions.get("*", ["real"])))


@functools.lru_cache(1000)
def _symbol(name: str, *words: str) -> sympy.Symbol:
    if "vector" in words:
        return Vector(name, commutative=False)
    if _OPEN in words:
        return Undeclared(name, commutative=False)
    if "matrix" in words:
        return sympy.Symbol(name, commutative=False)
    return sympy.Symbol(name, **dict.fromkeys(words, True))
