"""What formulas come to where names may be negative, or are whole numbers: what |x| is there.

``log(x^2) - 2*log(abs(x))``, ``sign(x)^2 - 1``, ``floor(n) - n`` and ``delta_ij*(p_i - p_j)`` are
nothing, which is not seen where all names are positive, or by how such functions are written.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.bound_indices import BoundIndices
from autograder.algebra.deriving.lines.branches import BRANCHING
from autograder.algebra.deriving.lines.points import worked_out
from autograder.algebra.deriving.lines.structure import Structure

PLACES = 32
_ENOUGH = 12  # of the places at which a formula has a value
_SCALES = (1, 1, 20, 1, 200, 20, 10_000)  # of names
_MOST_PARTS = 8  # of a sum or a product of which every selection is looked at
_TOLERANCE = 1e-9
_KEPT = 2048

Row = Any  # a value for each place, NaN where there is none


def _real(value: complex) -> float:
    if abs(value.imag) > _TOLERANCE * (1 + abs(value)):
        raise ValueError("a complex number")
    return value.real


_BRANCHES: dict[str, Callable[..., complex]] = {
    "abs": lambda x: abs(_real(x)),
    "sign": lambda x: (_real(x) > 0) - (_real(x) < 0),
    "relu": lambda x: max(_real(x), 0),
    "max": lambda *xs: max(map(_real, xs)),
    "min": lambda *xs: min(map(_real, xs)),
    "floor": lambda x: math.floor(_real(x)),
    "ceiling": lambda x: math.ceil(_real(x)),
}


class RealPoints:
    """Works out formulas with branches, δ or π, and finds what adds nothing in them.

    `positive` and `whole` are names, without indices, of which that is known.
    """

    def __init__(
        self, bound: BoundIndices, positive: Collection[str], whole: Collection[str]
    ) -> None:
        self.bound = bound
        self.positive, self.whole = frozenset(positive), frozenset(whole)
        self.matters = functools.lru_cache(_KEPT)(self._matters)
        self._row = functools.lru_cache(_KEPT)(self._as_row)
        self._values = functools.lru_cache(_KEPT)(self._worked_out)

    def nothing(self, form: Structure) -> Structure:
        """Return a sum without terms that come to 0, or a product without factors that are ±1."""
        if form[0] not in ("sum", "product") or not self.matters(form):
            return form
        parts = list(form[1])
        rows = self._rows(parts)
        for some in _selections(parts):
            if not any(self.matters(parts[at]) for at in some):
                continue
            chosen = [rows[at] for at in some]
            rest = [part for at, part in enumerate(parts) if at not in some]
            if form[0] == "sum" and _is_zero(chosen):
                return self.nothing(structures.sum_of(rest))
            if form[0] == "product" and (sign := _sign(chosen)):
                return self.nothing(structures.product_of([("number", Fraction(sign)), *rest]))
        return form

    def are_same(self, form: Structure, other: Structure) -> bool:
        """Whether a formula in which something with branches stands comes to another one."""
        return self.matters(form) and _is_zero([self._row(form), -self._row(other)])

    def _matters(self, form: Structure) -> bool:
        """Whether something stands in a formula that may be nothing at such points alone."""
        if form == structures.PI or any(True for _ in _deltas(form)):
            return True
        if self.bound.binds(form) or form[0] == "number":
            return False
        branches = form[0] == "call" and form[1] in BRANCHING
        return branches or any(map(self.matters, structures.inside(form)))

    def _rows(self, parts: Sequence[Structure]) -> list[Row]:
        """Return what parts come to; if there is one δ, half of the places are where it is 1."""
        found = {pair: delta for part in parts for delta, pair in _deltas(part)}
        if len(found) != 1:
            return [self._row(part) for part in parts]
        (i, j), deltas = next(iter(found)), {d for part in parts for d, _ in _deltas(part)}
        rows = []
        for part in parts:
            apart, alike = (
                structures.folded(part, dict.fromkeys(deltas, value))
                for value in (structures.ZERO, structures.ONE)
            )
            alike = self.bound.with_indices(alike, {j: i})
            half = np.arange(PLACES) % 4 < 2
            rows.append(np.where(half, self._row(apart), self._row(alike)))
        return rows

    def _as_row(self, form: Structure) -> Row:
        values = self._values(form)
        return np.array([np.nan if v is None else v for v in values], dtype=complex)

    def _worked_out(self, form: Structure) -> tuple[complex | None, ...]:
        """Return what a formula comes to at each place, None where it has no value."""
        parts: dict[int, tuple[complex | None, ...]] = {}  # asked for at each place

        def at(place: int) -> complex | None:
            def of(part: Structure) -> complex:
                if id(part) not in parts:
                    parts[id(part)] = self._values(part)
                value = parts[id(part)][place]
                if value is None:
                    raise ValueError("no value")
                return value

            try:
                return self._value(form, place, of)
            except (ValueError, ArithmeticError, TypeError):
                return None

        return tuple(map(at, range(PLACES)))

    def _value(self, form: Structure, place: int, of: Callable[[Structure], complex]) -> complex:
        def otherwise() -> complex:
            word = form[1] if form[0] == "call" and form[3] else ""
            if word in _BRANCHES and not self.bound.binds(form):
                return complex(_BRANCHES[word](*map(of, form[3])))
            return self._drawn(form, place)

        return worked_out(form, of, otherwise)

    def _drawn(self, form: Structure, place: int) -> complex:
        seed = hashlib.sha256(f"{place} {form!r}".encode()).digest()
        size = int.from_bytes(seed[:8], "big") / 2**64
        name = self.bound.entry(form[1])[0] if form[0] == "name" else ""
        scale = _SCALES[seed[9] % len(_SCALES)]
        if name in self.whole:
            return complex(1 + int(size * 3 * scale))
        sign = 1 if name in self.positive or seed[8] % 2 else -1
        return complex(sign * (0.3 + 1.4 * size) * scale)


def _selections(parts: Sequence[Structure]) -> Iterator[tuple[int, ...]]:
    most = len(parts) if len(parts) <= _MOST_PARTS else 2
    for count in range(1, most + 1):
        yield from itertools.combinations(range(len(parts)), count)


def _is_zero(rows: Sequence[Row]) -> bool:
    total, size = sum(rows), sum(map(abs, rows))
    return _everywhere(abs(total) <= _TOLERANCE * np.maximum(size, 1), total)


def _sign(rows: Sequence[Row]) -> int:
    """Return 1 or −1 if a product is that, else 0."""
    product = functools.reduce(np.multiply, rows)
    signs = (s for s in (1, -1) if _everywhere(abs(product - s) <= _TOLERANCE, product))
    return next(signs, 0)


def _everywhere(holds: Any, row: Row) -> bool:
    known = np.isfinite(row)
    return bool(known.sum() >= _ENOUGH and holds[known].all())


def _deltas(form: Structure) -> Iterator[tuple[Structure, tuple[str, str]]]:
    """Yield every δ of two indices, and these; not under a Σ."""
    word, indices = "", list[str]()
    if form[0] == "name":
        word, indices = form[1][:5], list(form[1][5:])
    elif form[0] == "call" and all(index[0] == "name" for index in form[3]):
        word, indices = form[1], [index[1] for index in form[3]]
    if word in ("delta", "KroneckerDelta") and len(indices) == 2:
        first, second = sorted(indices)
        yield form, (first, second)
    elif form[:2] not in structures.BINDERS:
        for part in structures.inside(form):
            yield from _deltas(part)
