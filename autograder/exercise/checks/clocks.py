"""Decide by processor time, where counted work could not.

The time is that of the process of the student's code, read by the grader from outside, with one
thread.  Every call has fresh inputs, and rows of every result are checked, drawn after it came.
What is decided is an exponent with an interval, from sizes far apart: measured over 1,767 cases
under all kinds of load this was never wrong, where two sizes, or wall time, were.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from autograder.exercise.checks.agree import Mismatch
from autograder.exercise.checks.drawn import Drawing, Make, Rows, right_rows

Seconds = Callable[..., tuple[Any, float | None]]

_LADDERS = ((250, 500, 1000, 2000, 5000), (16, 32, 64, 128, 256))  # the second for pure Python
_PASS, _FAIL = 0.35, 0.65  # the interval's end may be off by this much, and is beyond that wrong
_REFERENCE_OFF = 0.3  # by which a machine is too busy to time even the reference
_LARGEST = 3
_CHEAP = 0.4  # below what must be: the work was hidden
_BLOCK_SECONDS, _BLOCK_CALLS = 0.004, 32
_DRAWN_CALLS, _DRAWN_SECONDS = 4, 0.1  # of each size, for a picture
ROUNDS, _ATTEMPTS = 3, 3
_SLOWER = 1.25  # than the limit, and it is slow beyond doubt
_CALL_SECONDS, _BUDGET = 0.6, 10.0
_RESAMPLES = 400
_PRECISION = {2: 5e-2, 4: 1e-3, 8: 1e-8}

_of_references: dict[Hashable, float] = {}  # seconds of references, for pictures


class Inconclusive(Exception):
    """A measurement was not clear: the check is withheld, and nobody loses points by it."""


@dataclass(frozen=True)
class Curve:
    """Measured times, for a picture: nothing is decided by them.

    Attributes
    ----------
    n
        Sizes.
    seconds, reference
        Processor time of the submission and of the reference.
    """

    n: list[int]
    seconds: list[float]
    reference: list[float]


class Clocked(Protocol):
    """A call whose processor time can be read, beside that of the reference."""

    def seconds(self, *args: object, **kwargs: object) -> tuple[Any, float | None]:
        """Return the result and the processor time; None where there is no clock to read."""

    def reference_seconds(self, *args: object, **kwargs: object) -> tuple[Any, float | None]:
        """Do the same with the reference, in a process of its own."""

    def grown(self, *args: object, **kwargs: object) -> tuple[Any, float | None]:
        """Return the result and the bytes by which the process grew; None where nothing tells."""

    def remark(self, note: str, feedback: str) -> None:
        """Say something beside the verdict; it appears if the check passes."""

    @property
    def clocked(self) -> bool:
        """Is there a process whose time can be read?"""

    curve: Curve | None


def checked(value: object, args: tuple[Any, ...], rows: Rows, n: int, *, count: int = 2) -> None:
    """Require that rows of a result, drawn by chance, are right, each to the precision of its type.

    Where ``rows`` returns a tuple, so has the function to do, and entry by entry is compared.

    Raises
    ------
    Mismatch
        If one is not.
    """
    drawn, right = right_rows(rows, args, n, count)
    if not isinstance(right, tuple):
        _compare(value, right, drawn, n, "the result")
        return
    if not isinstance(value, tuple | list) or len(value) != len(right):
        raise Mismatch(f"for n = {n} the result is not a tuple of {len(right)} arrays")
    for number, (one, other) in enumerate(zip(value, right, strict=True), start=1):
        _compare(one, other, drawn, n, f"entry {number} of the result")


def _compare(value: object, rows: object, drawn: np.ndarray[Any, Any], n: int, which: str) -> None:
    try:
        result = np.asarray(getattr(value, "array", value))
    except ValueError:  # lists of different lengths
        result = np.empty(0)
    if result.dtype.kind not in "iuf" or result.shape[:1] != (n,):
        raise Mismatch(f"for n = {n} {which} has not n rows of numbers")
    right = np.asarray(rows, dtype=float).reshape(len(drawn), -1)
    given = result[drawn].astype(float).reshape(len(drawn), -1)
    if given.shape != right.shape:
        raise Mismatch(f"for n = {n} {which} has rows of another length")
    with np.errstate(all="ignore"):
        off = np.linalg.norm(given - right, axis=1) / (np.linalg.norm(right, axis=1) + 1e-300)
    if not (off <= _PRECISION[min(max(result.dtype.itemsize, 2), 8)]).all():
        raise Mismatch(f"for n = {n} some rows of {which} are wrong")


def decide(call: Clocked, make: Make, at_most: float, rows: Rows) -> None:
    """Decide by processor time how a call grows, in three attempts at most.

    Raises
    ------
    Mismatch
        If it grows faster than n to the power ``at_most``.
    Inconclusive
        If that is not clear, because the machine is too busy or the time was spent elsewhere.
    """
    sizes = _feasible(call, make, rows)
    racing = _Racing(call)
    rng = np.random.default_rng()
    own: dict[int, list[float]] = {n: [] for n in sizes}
    reference: dict[int, list[float]] = {n: [] for n in sizes}
    for _ in range(_ATTEMPTS):
        for n in itertools.chain.from_iterable(rng.permutation(sizes) for _ in range(ROUNDS)):
            _race(racing, make, rows, int(n), own, reference)
            if racing.spent > _BUDGET:
                break
        if not all(own.values()) or not all(reference.values()):
            break
        right, seen = exponent(reference), own
        if right < at_most - _REFERENCE_OFF:  # mostly the cost of a call: it hides the growth
            seen = {n: own[n] for n in sizes[-_LARGEST:]}
            right = exponent({n: reference[n] for n in seen})
        if right <= at_most + _REFERENCE_OFF:
            low, high = interval(seen, rng)
            if low > at_most + _FAIL:
                raise Mismatch(
                    f"from n = {min(seen)} to n = {max(seen)} the time grows like "
                    f"n^{exponent(seen):.1f}; the exponent can be kept to {at_most:g}",
                    kind="time",
                )
            if high < at_most + _PASS:
                if exponent(seen) < min(at_most, right) - _CHEAP:
                    raise Inconclusive("the time does not fit the work: it was spent elsewhere")
                return
        if racing.spent > _BUDGET:
            break
    raise Inconclusive("the time could not be measured clearly enough")


def no_slower(call: Clocked, make: Make, *, than: float = 5.0, n: int = 2000, rows: Rows) -> None:
    """Require that a call takes at most ``than`` times the reference's processor time.

    Both are timed in turn, each in a process of its own, with fresh inputs for every call.
    Where there is no clock to read, as when exercises prove themselves, the check passes with
    the note ``not_timed``.

    Raises
    ------
    Mismatch
        If it takes clearly longer.
    Inconclusive
        If that is not clear.
    """
    if not call.clocked:
        call.remark("not_timed", "The time was not compared: there is no clock to read.")
        return
    ratios: list[float] = []
    rng = np.random.default_rng()
    for _ in range(_ATTEMPTS):
        for _ in range(2 * ROUNDS):
            own = block(call.seconds, make, rows, n)
            reference = block(call.reference_seconds, make, None, n)
            if own is None or reference is None:
                raise Inconclusive("there is no clock here that measures processor time")
            ratios.append(own / reference)
        medians = [float(np.median(rng.choice(ratios, len(ratios)))) for _ in range(_RESAMPLES)]
        low, high = np.quantile(medians, [0.025, 0.975])
        if high < than:
            return
        if low > _SLOWER * than:
            times = float(np.median(ratios))
            raise Mismatch(
                f"for n = {n} it takes {times:.0f} times as long as the reference; "
                f"{than:g} times would do",
                kind="slow",
            )
    raise Inconclusive("the time could not be compared clearly enough")


def keep(call: Clocked, make: Make, seconds: Mapping[int, float]) -> None:
    """Keep times that a verdict rests on for a picture, with those of the reference beside them."""
    with contextlib.suppress(Exception):  # whatever goes wrong: it is a picture
        timed = (_of_reference(call, make, n) for n in seconds)
        reference = [taken for taken in timed if taken is not None]
        if len(reference) == len(seconds):
            call.curve = Curve(list(seconds), list(seconds.values()), reference)


def draw(call: Clocked, make: Make, rows: Rows) -> None:
    """Time a call and the reference for a picture, once each, where no verdict has timed them.

    Sizes at which either may take long, were it to grow like n², are left out: seconds for a
    point of a picture are better spent on the next student.
    """
    for ladder in _LADDERS if call.clocked else ():
        curve = _curve(call, make, rows, ladder)
        if curve and len(curve.n) > 1:
            call.curve = curve
        if curve is None or len(curve.n) >= _LARGEST:
            return


def _curve(call: Clocked, make: Make, rows: Rows, ladder: Sequence[int]) -> Curve | None:
    curve = Curve([], [], [])
    for n in ladder:
        if curve.n:
            longest = max(curve.seconds[-1], curve.reference[-1])
            if longest * (n / curve.n[-1]) ** 2 > _DRAWN_SECONDS:
                break
        own = block(call.seconds, make, rows, n, calls=_DRAWN_CALLS)
        reference = _of_reference(call, make, n)
        if own is None or reference is None:
            return None
        curve.n.append(n)
        curve.seconds.append(own)
        curve.reference.append(reference)
    return curve


def _of_reference(call: Clocked, make: Make, n: int) -> float | None:
    """Return the time of the reference for a picture, once for a class where its inputs are."""
    key = (make.key, n) if isinstance(make, Drawing) else None
    if key in _of_references:
        return _of_references[key]
    taken = block(call.reference_seconds, make, None, n, calls=_DRAWN_CALLS)
    if key and taken is not None:
        _of_references[key] = taken
    return taken


def exponent(seconds: dict[int, list[float]]) -> float:
    """Return the power of n with which the least times grow: the slope on log-log axes.

    >>> round(exponent({100: [1.0, 3.0], 200: [4.0], 400: [16.0]}), 6)
    2.0
    """
    return _slope(list(seconds), [min(samples) for samples in seconds.values()])


def interval(
    seconds: dict[int, list[float]], rng: np.random.Generator, *, level: float = 0.95
) -> tuple[float, float]:
    """Return an interval for the exponent, from samples drawn anew (bootstrap)."""
    powers = [
        _slope(list(seconds), [rng.choice(own, len(own)).min() for own in seconds.values()])
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(powers, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _slope(sizes: Sequence[int], seconds: Iterable[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(list(seconds)), 1)[0])


def _feasible(call: Clocked, make: Make, rows: Rows) -> list[int]:
    """Return the sizes at which a call is quick enough to be repeated; this warms up as well."""
    for ladder in _LADDERS:
        sizes = []
        for n in ladder:
            seconds = block(call.seconds, make, rows, n, calls=1)
            if seconds is None:
                raise Inconclusive("there is no clock here that measures processor time")
            if seconds > _CALL_SECONDS:
                break
            sizes.append(n)
        if len(sizes) >= 4:
            return sizes
    raise Inconclusive("it is too slow to be measured")


class _Racing:
    """Adds up the processor time of the calls that are timed: a busy machine gets no fewer."""

    def __init__(self, call: Clocked) -> None:
        self._call = call
        self.spent = 0.0

    def seconds(self, *args: object) -> tuple[Any, float | None]:
        return self._added(self._call.seconds(*args))

    def reference_seconds(self, *args: object) -> tuple[Any, float | None]:
        return self._added(self._call.reference_seconds(*args))

    def _added(self, found: tuple[Any, float | None]) -> tuple[Any, float | None]:
        self.spent += found[1] or 0.0
        return found


def _race(
    call: _Racing,
    make: Make,
    rows: Rows,
    n: int,
    own: dict[int, list[float]],
    reference: dict[int, list[float]],
) -> None:
    """Time a block of calls of the student's function and one of the reference, at once."""
    for seconds, kept, right in (
        (call.seconds, own, rows),
        (call.reference_seconds, reference, None),
    ):
        taken = block(seconds, make, right, n)
        if taken is None:
            raise Inconclusive("the reference can't be timed here")
        kept[n].append(taken)


def block(
    seconds: Seconds, make: Make, rows: Rows | None, n: int, *, calls: int = _BLOCK_CALLS
) -> float | None:
    """Return the mean time of enough calls to be measured, each with inputs of its own.

    Results are looked at where ``rows`` says what is right: those of the reference are.
    """
    total, done = 0.0, 0
    while done < calls and total < _BLOCK_SECONDS:
        args = make(n)
        value, taken = seconds(*args)
        if rows:
            checked(value, args, rows, n)
        if taken is None:
            return None
        total, done = total + taken, done + 1
    return max(total / done, 1e-9)
