"""Comparing case by case: indices that may coincide, names that may be positive or negative."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import sympy

from autograder.algebra.building.functions import Ceiling, Floor, Max, Min, Vector
from autograder.algebra.comparing.floors import rounded_down
from autograder.algebra.comparing.ingredients import PIECES
from autograder.algebra.comparing.proof import is_zero
from autograder.algebra.comparing.verdict import EVERYWHERE, Verdict

MAX_SPLIT_CASES = 16
MAX_ROUNDS = 4  # times that sizes are taken apart
_BENDS = (sympy.Abs, sympy.sign)
_BOUNDED = (sympy.Add, sympy.Mul, sympy.exp, sympy.log, sympy.Symbol, sympy.Number)

Pair = tuple[sympy.Expr, sympy.Expr]
Signs = Mapping[sympy.Symbol, int]


def coincidences(
    a: sympy.Expr, b: sympy.Expr, known: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Pair]]:
    """Yield both sides for indices that differ, and for those that are equal; say which they are.

    In p_i δ_ij the two indices may be one; then p_j is p_i, though the names are two.

    >>> i, j = sympy.symbols("i j")
    >>> p_i, p_j = sympy.symbols("p_i p_j")
    >>> delta = sympy.KroneckerDelta(i, j)
    >>> list(coincidences(p_i * delta, p_j * delta))
    [(('i ≠ j',), (0, 0)), (('i = j',), (p_i, p_i))]
    """
    deltas = sorted(a.atoms(sympy.KroneckerDelta) | b.atoms(sympy.KroneckerDelta), key=str)
    if not deltas or 2 ** len(deltas) > MAX_SPLIT_CASES or a.has(sympy.Sum) or b.has(sympy.Sum):
        yield known, (a, b)
        return
    delta = deltas[0]
    first, second = sorted(delta.args, key=str)
    for number, renamed in ((0, {}), (1, _renamed(sympy.Tuple(a, b), first, second))):
        chosen = {delta: sympy.Integer(number)}
        left, right = (side.xreplace(chosen).xreplace(renamed) for side in (a, b))
        case = f"{first} {'≠='[number]} {second}"
        yield from coincidences(left, right, (*known, case))


def _renamed(whole: sympy.Basic, to: sympy.Expr, index: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Return what each name becomes when one index is the other: p_j becomes p_i."""
    renamed = {index: to}
    for symbol in whole.free_symbols - {to, index}:
        base, _, subscript = symbol.name.partition("_")
        letters = re.findall(r"[A-Za-z]|\d+", subscript)
        if str(index) in letters:
            new = "".join(str(to) if letter == str(index) else letter for letter in letters)
            renamed[symbol] = sympy.Symbol(f"{base}_{new}", **symbol._assumptions_orig)
    return renamed


def signs(a: sympy.Expr, b: sympy.Expr) -> Iterator[tuple[Signs, Pair]]:
    """Yield both sides for each sign of the names whose size or sign is taken, and for 0.

    Nothing is yielded where that would not remove each |…| and each sign.

    >>> x = sympy.Symbol("x", real=True)
    >>> list(signs(x * sympy.sign(x), abs(x)))
    [({x: 0}, (0, 0)), ({x: 1}, (_x, _x)), ({x: -1}, (_x, _x))]
    >>> x = sympy.Symbol("x", positive=True)
    >>> list(signs(sympy.sign(x, evaluate=False), sympy.Integer(1)))
    [({x: 1}, (1, 1))]
    """
    bends = {f for side in (a, b) for f in side.atoms(*_BENDS)}
    names = sorted({f.args[0] for f in bends}, key=str)
    plain = all(x.is_Symbol and x.is_extended_real and not isinstance(x, Vector) for x in names)
    if not (bends and plain) or 3 ** len(names) > MAX_SPLIT_CASES:
        return
    sizes = [sympy.Dummy(name.name, positive=True) for name in names]
    for chosen in itertools.product(*map(_possible_signs, names)):
        values = {n: s * size for n, s, size in zip(names, chosen, sizes, strict=True)}
        sides = tuple(side.subs(values, simultaneous=True) for side in (a, b))
        if not any(side.has(sympy.nan, sympy.zoo) for side in sides):  # both are defined there
            yield dict(zip(names, chosen, strict=True)), (sides[0], sides[1])


def _possible_signs(name: sympy.Symbol) -> list[int]:
    known = {0: name.is_zero, 1: name.is_positive, -1: name.is_negative}
    return [sign for sign, is_so in known.items() if is_so is not False]


def in_names(verdict: Verdict, chosen: Signs) -> Verdict:
    """Say a refutation for certain signs of names in these names, not in their sizes.

    >>> x = sympy.Symbol("x", real=True)
    >>> in_names(Verdict(False, "refuted at _x=2, y=3", ("1", "0")), {x: -1}).point
    'x=-2, y=3'
    """
    if not verdict.values:
        return verdict
    places = [f"{name}=0" for name, sign in chosen.items() if not sign]
    known = {f"_{name}": f"{name}={'-' if sign < 0 else ''}" for name, sign in chosen.items()}
    for place in verdict.places:
        name, _, value = place.partition("=")
        places.append(known[name] + value if name in known else place)
    return replace(verdict, how=f"refuted at {', '.join(places) or EVERYWHERE}")


def with_known_signs(expr: sympy.Expr) -> sympy.Expr:
    """Write each |…| as a product of sizes, without those of which the sign is known.

    Nor does a sign stand that is known.  What is positive and common to all goes out of a maximum
    or minimum, too.

    >>> x, y, z = sympy.symbols("x y z", positive=True)
    >>> t = sympy.Symbol("t", real=True)
    >>> with_known_signs(abs((1 - (x + y + z) / x) * t))
    (y + z)*Abs(t)/x
    >>> with_known_signs(Max(x * t, x * t**2))
    x*Max(t, t**2)
    >>> with_known_signs(sympy.sign(t**2 + 1, evaluate=False))
    1
    """
    for _ in range(MAX_ROUNDS):  # what has been cancelled may have more factors
        before = expr
        for extreme in (Max, Min):
            expr = expr.replace(extreme, functools.partial(_without_common_factor, extreme))
        expr = expr.replace(sympy.Abs, _sizes).replace(sympy.sign, sympy.sign)  # evaluated anew
        if expr == before:
            break
    return expr


def loosened(a: sympy.Expr, b: sympy.Expr) -> Pair:
    """Put a name in the place of each |…|, sign and maximum.

    What holds whatever they are holds for what they are: m + log(e^(x - m) + e^(y - m)) does not
    depend on m, which may as well be the larger of x and y.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> loosened(Max(x, y) + x, 2 * Max(x, y))
    (_m + x, 2*_m)
    """
    names: dict[sympy.Expr, sympy.Expr] = {}
    for bend in sorted(a.atoms(*PIECES) | b.atoms(*PIECES), key=sympy.count_ops, reverse=True):
        if all(value.is_extended_real for value in bend.args):
            names[bend] = sympy.Dummy(
                "m", real=True, nonnegative=isinstance(bend, sympy.Abs) or None
            )
    return a.xreplace(names), b.xreplace(names)


def by_sizes(expr: sympy.Expr) -> sympy.Expr:
    """Write maxima and minima with sizes, and what is rounded up as something rounded down.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> by_sizes(Max(x, y)), by_sizes(Ceiling(x))
    (x/2 + y/2 + Abs(x - y)/2, -Floor(-x))
    """
    for extreme in (Max, Min):
        expr = expr.replace(extreme, functools.partial(_half_the_sum, extreme.sign))
    expr = expr.replace(Ceiling, lambda inner: -Floor(-inner))
    return expr.replace(Floor, rounded_down)


def _half_the_sum(sign: int, *values: sympy.Expr) -> sympy.Expr:
    return functools.reduce(lambda a, b: (a + b + sign * sympy.Abs(a - b)) / 2, values)


def _without_common_factor(extreme: type[sympy.Function], *values: sympy.Expr) -> sympy.Expr:
    factors = (set(sympy.Mul.make_args(value)) for value in values)
    common = sympy.Mul(*(f for f in set.intersection(*factors) if f.is_positive))
    return common * extreme(*(value / common for value in values))


@functools.lru_cache(1000)  # the lines of a derivation have most of theirs in common
def _sizes(inner: sympy.Expr) -> sympy.Expr:
    try:
        factors = sympy.Mul.make_args(sympy.factor_terms(inner))
        return sympy.Mul(*(_size(sympy.cancel(sympy.together(f))) for f in factors))
    except sympy.PolynomialError:
        return sympy.Abs(inner)


def _size(factor: sympy.Expr) -> sympy.Expr:
    """Return the size of a factor, without bars where its names tell its sign: 1 - 1/√M."""
    size = sympy.Abs(factor)
    plain = all(map(_is_plain, sympy.preorder_traversal(factor)))
    if not (isinstance(size, sympy.Abs) and plain and factor.is_extended_real):  # as √x may not be
        return size
    bounds = factor.xreplace({name: _bounds(name) for name in factor.free_symbols})
    if isinstance(bounds, sympy.AccumBounds):
        if bounds.min >= 0:
            return factor
        if bounds.max <= 0:
            return -factor
    return size


def _is_plain(node: sympy.Expr) -> bool:
    return isinstance(node, _BOUNDED) or bool(node.is_Pow and node.exp.is_Rational)


def _bounds(name: sympy.Symbol) -> sympy.AccumBounds:
    least = 1 if name.is_integer and name.is_positive else 0 if name.is_nonnegative else -sympy.oo
    most = -1 if name.is_integer and name.is_negative else 0 if name.is_nonpositive else sympy.oo
    return sympy.AccumBounds(least, most)


def unified(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """Write `b` with the |…|, signs and maxima that stand in `a`, where these are proved equal.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> unified(abs(x**2 + x * y), abs(-x * (x + y)))
    Abs(x**2 + x*y)
    """
    known = _in_order(a.atoms(*PIECES))
    renamed = {}
    for bend in _in_order(b.atoms(*PIECES) - {*known}):
        for other in known:
            if bend.func == other.func and _same(bend, other):
                renamed[bend] = other
                break
    return b.xreplace(renamed)


def _in_order(exprs: set[sympy.Expr]) -> list[sympy.Expr]:
    return sorted(exprs, key=str) if len(exprs) > 1 else list(exprs)  # printing takes its time


def _same(one: sympy.Expr, other: sympy.Expr) -> bool:
    if len(one.args) != len(other.args):
        return False
    if all(is_zero(x - y) for x, y in zip(one.args, other.args, strict=True)):
        return True
    return isinstance(one, sympy.Abs) and is_zero(one.args[0] + other.args[0])


def together(verdicts: Iterator[Verdict]) -> Verdict:
    """Return what holds in every case, or what fails in one."""
    undecided = None
    certificates = set()
    for verdict in verdicts:
        if verdict.equal is False:
            return verdict
        if verdict.equal is None:
            undecided = undecided or verdict
        certificates.add(verdict.how)
    return undecided or Verdict(True, "proved" if certificates == {"proved"} else "numeric")
