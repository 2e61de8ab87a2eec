"""The search for a point at which two formulas differ; before many are tried, for a proof."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.building import chance
from autograder.algebra.building.numeric import Evaluator, Undefined, Value, shared_context
from autograder.algebra.comparing.cases import unified
from autograder.algebra.comparing.ingredients import PIECES, Survey, is_complex
from autograder.algebra.comparing.proof import is_zero, split_sums
from autograder.algebra.comparing.verdict import EVERYWHERE, NO_POINTS, Verdict

DIGITS = 50
START_DIGITS = 80  # enough for sizes that range over fifteen powers of 10
DIGITS_PER_BIT = 0.61  # two for every power of 10 in the range of the sizes met
MAX_DIGITS = 1000
MAX_NODE_DIGITS = 2_000_000  # nodes times digits
FIRST_POINTS = 1  # before a proof is tried
GLANCED_POINTS = 2  # where a proof comes from elsewhere
POINTS = 12  # at which both sides must be defined and agree
SIGNED_POINTS = 60  # where the sign of unknown functions matters, which half of the points show
TRIES = 600
MAX_BRANCHES = 150  # points at which both sides are complex and differ
WIDEST = 2**24  # every fourth point of a function in pieces lies that far out,
FARTHER = 3  # and every other one so many bits: each combination of signs is met there, too
_Exact = tuple[int, ...]  # (m, e) for m·2^e; with (n, f) behind it, m·2^e + i·n·2^f
_Place = tuple[dict[Any, _Exact], bool]  # a point, and whether unknown functions may be negative
LARGE = 10**5  # every third value of a name declared as a whole number may be so large
FAR = 5  # every fifth point has indices and ends of sums that lie far away,
FAR_END, FAR_NESTED = 60, 5  # at most so far
MAX_SPECIAL = 4  # symbols; more make too many special points
_SPECIAL: tuple[_Exact, ...] = ((-2, 0), (2, 0), (1, -1))
_STEPS: tuple[_Exact, ...] = ((-1, 1), (1, 0), (3, 0), (6, 0), (3, -1))


class Search:
    """The search for a point at which `a` and `b` differ."""

    def __init__(self, a: sympy.Expr, b: sympy.Expr, survey: Survey) -> None:
        self.sides = a, b
        self.survey = survey
        self.symbols = survey.symbols
        self.context = shared_context(DIGITS)
        self.work = 0
        self.real_refutation: Verdict | None = None
        self.complex_refutation: Verdict | None = None
        self.agreed = False  # at some point
        self.entries: dict[str, Value] = {}  # of names with running indices, at the last point

    def verdict(self) -> Verdict:
        """Look at a few points, then for a proof, then at more points."""
        if not self._agree(self._random_points(), FIRST_POINTS):
            return self._without_points()
        if self._is_proved():
            return Verdict(True, "proved")
        if not self.symbols:
            return Verdict(True, "numeric")
        self._agree(self._special_points(), len(_SPECIAL + _STEPS) ** MAX_SPECIAL)
        twice = self.survey.wide  # each combination of signs, near zero and farther out
        wanted = max(POINTS, 2 ** min(len(self.symbols) + 1 + twice, 5 + twice))
        if self.survey.wide and any(side.has(AppliedUndef, sympy.Indexed) for side in self.sides):
            wanted = SIGNED_POINTS
        if self.real_refutation or not self._agree(self._random_points(), wanted):
            return self._without_points()
        return Verdict(True, "numeric")

    def glance(self) -> Verdict:
        """Look at a few points alone."""
        if self._agree(self._random_points(), GLANCED_POINTS):
            return Verdict(True, "numeric")
        return self._without_points()

    def _without_points(self) -> Verdict:
        undecided = Verdict(None, NO_POINTS)
        if self.agreed and self.complex_refutation and any(map(is_complex, self.symbols)):
            undecided = Verdict(None, "undecided: equal but for the branch of a root or logarithm")
            return self.real_refutation or undecided
        return self.real_refutation or self.complex_refutation or undecided

    def _agree(self, points: Iterable[_Place], wanted: int) -> bool:
        """Whether both sides agree at so many of `points`; ends at a real refutation.

        What is said of real numbers is refuted only where all numbers on the way are real.  Other
        points at which both sides differ may differ by the branch of a root or logarithm alone,
        as log(a/b) and log(a) - log(b) do for negative numbers.
        """
        agreements = branches = 0
        for point in points:
            try:
                same, real, left, right = self._at(*point)
            except (Undefined, ArithmeticError, ValueError, TypeError):
                if self.work > MAX_NODE_DIGITS or self._valueless:
                    break
                continue
            agreements += same
            are_real = [value.imag == 0 for value in (left, right)]
            if not same and all(are_real) and (real or self.survey.imaginary):
                self.real_refutation = self._refutation(point[0], left, right)
                return False
            if not same and (not any(are_real) or self.survey.imaginary):
                branches += 1
                if self.complex_refutation is None:
                    self.complex_refutation = self._refutation(point[0], left, right)
            if agreements == wanted or self.work > MAX_NODE_DIGITS:
                break
            if branches == (MAX_BRANCHES if agreements else 20):
                break
        self.agreed |= agreements > 0
        parted = branches > 0 and any(map(is_complex, self.symbols))
        return agreements == (wanted if self.symbols else 1) and not parted

    @cached_property
    def _valueless(self) -> bool:
        """Whether no point at all gives both sides a value: a derivative of F at 2x has none."""
        return any(side.has(sympy.Subs) and not side.has(*PIECES) for side in self.sides)

    def _random_points(self) -> Iterator[_Place]:
        for attempt in range(TRIES if self.symbols else 1):
            # Every other point is all positive: log(a*b*c*d) would rarely be defined otherwise.
            # In between, the signs go through their combinations.
            signs, out = (attempt + 1) // 2 if attempt % 2 else 0, 0
            if self.survey.wide:  # log(exp(x) + exp(y)) is negative where both are, and not near 0
                signs, out = signs // 2, FARTHER * (signs % 2)
            point = {
                symbol: self._draw(symbol, attempt, out, negative=bool(signs >> i & 1))
                for i, symbol in enumerate(self.symbols)
            }
            yield point, attempt % 2 == 1

    def _is_proved(self) -> bool:
        a, b = map(split_sums, self.sides) if self.survey.runs else self.sides
        return is_zero(a - unified(a, b))

    def _at(self, point: Mapping[Any, _Exact], mixed: bool) -> tuple[bool, bool, Value, Value]:
        """Evaluate both sides with so many digits that rounding errors do not matter.

        Returns whether they are equal, whether all numbers on the way were real, and both.

        A term of 10⁻⁴⁰ next to one of 10⁰ needs forty digits more to be seen at all, so the number
        of digits grows with the range of the sizes met.
        """
        context, digits, zero_before = self.context, START_DIGITS, False
        while digits <= MAX_DIGITS:
            context.dps = digits
            values = {s: self._value(x) for s, x in point.items()}
            evaluate = Evaluator(context, values, mixed=mixed)
            try:
                left, right = map(evaluate, self.sides)
            finally:
                self.work += digits * evaluate.work
                self.entries = evaluate.entries
            needed = DIGITS + int((evaluate.largest - evaluate.smallest) * DIGITS_PER_BIT)
            if needed > digits:
                digits = max(needed, digits + DIGITS)
                continue
            noise = context.ldexp(context.mpf(10) ** (20 - digits), evaluate.largest)
            left, right = context.chop(left, noise), context.chop(right, noise)
            if abs(left - right) > noise:
                return False, evaluate.real, left, right
            if zero_before or max(abs(left), abs(right)) > noise * 10**10:
                return True, evaluate.real, left, right
            # Both are nothing but noise: zero, if they still are with twice the digits.
            zero_before, digits = True, 2 * digits
        raise Undefined("needs too many digits")

    def _special_points(self) -> Iterator[_Place]:
        """Yield points of a kind hardly ever drawn.

        There (a^b)^c and a^(b·c) part and are real; or quotients are whole numbers, where what is
        rounded makes its steps.
        """
        survey = self.survey
        if not (survey.general or survey.steps) or len(self.symbols) > MAX_SPECIAL:
            return
        special = _SPECIAL * survey.general + _STEPS * survey.steps
        for values in itertools.product(special, repeat=len(self.symbols)):
            point = dict(zip(self.symbols, values, strict=True))
            if all(_is_allowed(s, *value, whole=s in survey.whole) for s, value in point.items()):
                yield point, False

    def _draw(self, symbol: sympy.Symbol, attempt: int, out: int, *, negative: bool) -> _Exact:
        if symbol in self.survey.whole:
            return self._draw_whole(symbol, far=attempt % FAR == FAR - 1), 0
        if is_complex(symbol):
            return (*_draw(symbol, attempt, negative=negative), *_draw(symbol, 0, negative=False))
        size, exponent = _draw(symbol, attempt, negative=negative)
        if self.survey.wide and attempt % 8 in (2, 3):
            exponent += chance.draw.randint(1, WIDEST.bit_length())
        return size, exponent + (out if not symbol.is_integer else 0)

    def _draw_whole(self, symbol: sympy.Symbol, *, far: bool) -> int:
        """Draw an index, or where a sum ends: behind all indices, and sometimes far away."""
        last_index = 3 if not far else 6 if self.survey.nested else 30
        if symbol in self.survey.indices:
            return chance.draw.randint(1, last_index)
        first = last_index if self.survey.indices else 1
        if not far:
            return chance.draw.randint(first, 9)
        end = FAR_NESTED if self.survey.nested else FAR_END
        # What is near is met at other points.
        return first + chance.draw.randint((end + 1) // 2, end)

    def _value(self, exact: _Exact) -> Value:
        real = self.context.ldexp(self.context.mpf(exact[0]), exact[1])
        if len(exact) == 2:
            return real
        return self.context.mpc(real, self.context.ldexp(self.context.mpf(exact[2]), exact[3]))

    def _refutation(self, point: Mapping[Any, _Exact], left: Value, right: Value) -> Verdict:
        show = self.context.nstr
        families = {entry.base.label for side in self.sides for entry in side.atoms(sympy.Indexed)}
        places = [f"{s}={self._shown(s, x)}" for s, x in point.items() if s not in families]
        places += [f"{name}={show(value, 4)}" for name, value in self.entries.items()]
        digits = 4
        while digits < 16 and show(left, digits) == show(right, digits):
            digits *= 2
        values = (str(show(left, digits)), str(show(right, digits)))
        return Verdict(False, f"refuted at {', '.join(places) or EVERYWHERE}", values)

    def _shown(self, symbol: sympy.Symbol, exact: _Exact) -> str:
        if symbol in self.survey.whole or symbol.is_integer:
            return str(self.context.nstr(self._value(exact), 15)).removesuffix(".0")
        return str(self.context.nstr(self._value(exact), 4))


def _is_allowed(symbol: sympy.Symbol, size: int, exponent: int, *, whole: bool) -> bool:
    if whole and (size < 0 or exponent < 0):
        return False
    if (symbol.is_integer and exponent < 0) or (symbol.is_negative and size > 0):
        return False
    return size > 0 or not symbol.is_nonnegative


def _draw(symbol: sympy.Symbol, attempt: int, *, negative: bool) -> tuple[int, int]:
    """Draw a value for `symbol`, off every decimal grid that a formula could be fitted to."""
    if symbol.is_integer:
        size, exponent = chance.draw.randint(1, LARGE if attempt % 3 == 2 else 40), 0
    else:
        size, exponent = chance.draw.getrandbits(150) + (1 << 145), chance.draw.randint(-149, -148)
    if symbol.is_negative or (negative and not symbol.is_nonnegative):
        return -size, exponent
    return size, exponent
