"""What is rounded down or up, in one form, so that two ways to write it can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterator

import sympy

from autograder.algebra.building.functions import Floor

MAX_RESIDUES = 12


def rounded_down(inner: sympy.Expr) -> sympy.Expr:
    """Return ⌊…⌋ with whole numbers outside, no ⌊…⌋ inside and no minus in front.

    >>> n, b = sympy.symbols("n b", integer=True, positive=True)
    >>> rounded_down((n + b - 1) / b) == -rounded_down(-n / b)  # ⌈n/b⌉
    True
    >>> rounded_down(Floor(n / b) / 2)
    Floor(n/(2*b))
    """
    terms = sympy.Add.make_args(sympy.expand_mul(inner, deep=False))
    whole = sympy.Add(*(term for term in terms if term.is_integer))
    if (part := inner - whole).is_Rational:
        return whole + sympy.floor(part)
    above, below = sympy.fraction(sympy.together(part))
    if not (below.is_integer and below.is_positive) or below == 1:
        return whole + Floor(part)
    above = sympy.expand(above)
    if above.is_integer and above.has(Floor):  # ⌊(⌊x⌋ + k)/m⌋ is ⌊(x + k)/m⌋
        floors = {term: term.args[0] for term in above.args if isinstance(term, Floor)}
        if isinstance(above, Floor):
            return whole + rounded_down(above.args[0] / below)
        if floors:
            return whole + rounded_down(sympy.Add(*(floors.get(t, t) for t in above.args)) / below)
    _, rest = above.as_coeff_Add()
    if above.is_integer and rest.could_extract_minus_sign():  # ⌊-m/b⌋ is -1 - ⌊(m - 1)/b⌋
        return whole - 1 - rounded_down((-above - 1) / below)
    return whole + Floor(sympy.expand(above / below))


def residues(a: sympy.Expr, b: sympy.Expr) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """Yield both sides for each remainder of a whole number that is divided and rounded.

    >>> n = sympy.Symbol("n", integer=True, positive=True)
    >>> len(list(residues(Floor(n / 2) + Floor((n + 1) / 2), n)))
    2
    """
    for floor in sorted(a.atoms(Floor) | b.atoms(Floor), key=str):
        for name in sorted(floor.free_symbols, key=str):
            slope = floor.args[0].diff(name)
            if not (name.is_integer and slope.is_Rational) or not 1 < slope.q <= MAX_RESIDUES:
                continue
            slopes = [f.args[0].diff(name) for side in (a, b) for f in side.atoms(Floor)]
            count = math.lcm(*(s.q for s in slopes if s.is_Rational))
            if count > MAX_RESIDUES:
                continue
            least = 1 if name.is_positive else 0
            times = sympy.Dummy("t", integer=True, nonnegative=name.is_nonnegative or None)
            for rest in range(least, least + count):
                yield tuple(side.xreplace({name: count * times + rest}) for side in (a, b))
            return
