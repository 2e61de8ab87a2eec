"""What is rounded down or up, in one form, so that two ways to write it can be compared."""

from __future__ import annotations

import itertools
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
    # Multiplied out, for sympy takes (6t + 2)^2/6 for a whole number.
    terms = sympy.Add.make_args(sympy.expand_mul(sympy.expand_multinomial(inner)))
    whole = sympy.Add(*(term for term in terms if term.is_integer))
    part = sympy.Add(*(term for term in terms if not term.is_integer))
    if part.is_Rational:
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
    floors = sorted(a.atoms(Floor) | b.atoms(Floor), key=str)
    for floor in floors:
        for name in sorted(floor.free_symbols, key=str):
            if not name.is_integer or not 1 < (_period(floor, name) or 0) <= MAX_RESIDUES:
                continue
            count = math.lcm(*(_period(other, name) or 1 for other in floors))
            if count > MAX_RESIDUES:
                continue
            least = 1 if name.is_positive else 0
            times = sympy.Dummy("t", integer=True, nonnegative=name.is_nonnegative or None)
            for rest in range(least, least + count):
                yield tuple(side.xreplace({name: count * times + rest}) for side in (a, b))
            return


def _period(floor: sympy.Expr, name: sympy.Symbol) -> int | None:
    """Return after how many whole numbers what is rounded comes back, but for a whole number."""
    polynomial = floor.args[0].as_poly(name)
    if polynomial is None:
        return None
    slopes = [c for (power,), c in polynomial.terms() if power]
    return math.lcm(*(c.q for c in slopes)) if all(c.is_Rational for c in slopes) else None


def cells(a: sympy.Expr, b: sympy.Expr) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """Yield both sides between the places where ⌊…⌋ of one real number jump, and at these.

    Nothing is yielded where something else is rounded down, too.

    >>> x = sympy.Symbol("x", real=True)
    >>> [sides[0] for sides in cells(Floor(2 * x), Floor(x))][:2]
    [2*_m, 2*_m]
    """
    floors = a.atoms(Floor) | b.atoms(Floor)
    names = {name for floor in floors for name in floor.free_symbols}
    if len(names) != 1:
        return
    (name,) = names
    lines = [(f, f.args[0].diff(name), f.args[0].subs(name, 0)) for f in floors]
    known = all(number.is_Rational for _, *line in lines for number in line)
    if not (name.is_extended_real and known) or name.is_integer:
        return
    length = math.lcm(*(slope.q for _, slope, _ in lines))
    jumps = {sympy.Integer(0), sympy.Integer(length)}
    for _, slope, at_zero in lines:
        first, last = sorted((at_zero, slope * length + at_zero))
        if last - first > MAX_RESIDUES:
            return
        whole = range(math.ceil(first), math.floor(last) + 1)
        jumps |= {(number - at_zero) / slope for number in whole if slope}
    places = sorted(jump for jump in jumps if 0 <= jump <= length)
    times = sympy.Dummy("m", integer=True, nonnegative=name.is_nonnegative or None)
    between = sympy.Dummy("w", positive=True)
    for low, high in itertools.pairwise(places):
        for place, inside in (
            (low, low),
            ((low + high) / 2, (low + high * between) / (1 + between)),
        ):
            values = {
                f: slope * length * times + math.floor(slope * place + c) for f, slope, c in lines
            }
            yield tuple(
                side.xreplace(values).xreplace({name: length * times + inside}) for side in (a, b)
            )
