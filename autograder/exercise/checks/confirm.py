"""Confirm counts that passed by what the grader sees for itself: they could have been forged.

The meter runs beside the student's code.  Processor time and memory of its process are read from
outside.  They are far less exact than counts, so nothing is failed by them: what they clearly
contradict goes to another verdict, or is withheld.  Where there is nothing to read, the counts
stand alone.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence

import numpy as np

from autograder.exercise.checks.clocks import (
    ROUNDS,
    Clocked,
    Seconds,
    block,
    checked,
    keep,
)
from autograder.exercise.checks.drawn import Make, Rows

_DOUBT, _CONTRADICTION = 0.25, 0.5  # by which the exponent of the time is larger
_APART = 5
_LARGE, _LARGE_SECONDS = 2503, 0.6  # where an n × n array stands out, and how long it may take
_TIMES, _MARGIN = 2, 16 << 20  # the memory of allocators, of libraries' buffers and of the answer
_SMALL = (16, 62, 124)  # an n × n array stays below what allocators take from the system each time
_OPERATIONS = 2.0  # on arrays for each row, in time: measured 1.4 without a loop, 2.5 with one
_SHARE = 0.2  # of the first growth of the time, in a loop: measured 0.6 and more
_EXCESS = 0.75  # operations for each row, more than the reference: measured 0.6 without, 0.8 with
_REFERENCE = 3.0  # times that of the reference, which has no loop
_FOUND, _CLEAN = 2, 3  # looks that find a loop, or none, until that is believed
_REPEATED, _SINGLE = 50, 40  # operations of one moment, and moments of a look
_GLANCE = 12  # moments of a first look: 50 at loops beside busy cores found 2.2 operations and more


def growth(call: Clocked, make: Make, at_most: float, rows: Rows, sizes: tuple[int, int]) -> bool:
    """Tell whether processor time at sizes far apart agrees.

    Between the two sizes is a third, as the cost of a call can hide how the rest grows.  Chunks
    look like a higher power up to their size, and what is hidden may stand out only later: in
    doubt, what comes beyond the sizes decides.  No round ends it early: one slow call of the small
    size hides how the rest grows.  Of the large one, whose calls cost the most, the first round
    suffices where it was quick enough: others could only be quicker.
    """
    if not call.clocked:
        return True
    small, large = sizes
    between = max(large // _APART, small + 1)
    least = _least(call.seconds, make, rows, (small, between, large), 1)
    if least is None:
        return True
    least |= _again(call, make, rows, (small, between), least)
    if _growing(least) > at_most + _DOUBT:
        least |= _again(call, make, rows, (large,), least)
    keep(call, make, least)
    found = _growing(least)
    if found > at_most + _DOUBT and least[large] < _LARGE_SECONDS:
        beyond = _least(call.seconds, make, rows, (large, 2 * large))
        found = _power(beyond, large, 2 * large) if beyond else found
    return found < at_most + _CONTRADICTION


def _again(
    call: Clocked, make: Make, rows: Rows, sizes: Sequence[int], before: dict[int, float]
) -> dict[int, float]:
    """Return the least times at some sizes after the rounds that follow the first."""
    found = _least(call.seconds, make, rows, sizes, ROUNDS - 1) or before
    return {n: min(before[n], found[n]) for n in sizes}


def _growing(seconds: dict[int, float]) -> float:
    """Return the largest exponent with which the time grows from another size to the last."""
    *others, large = sorted(seconds)
    return max(_power(seconds, each, large) for each in others)


def _power(seconds: dict[int, float], small: int, large: int) -> float:
    """Return the exponent with which the time grows between two sizes."""
    return math.log(seconds[large] / seconds[small]) / math.log(large / small)


def memory(
    call: Clocked, make: Make, at_most: float, rows: Rows, size: int, counted: float
) -> bool:
    """Tell whether the memory of one large call agrees with ``counted`` bytes at a smaller size.

    Only the first call of its size tells: freed memory may stay with the process.
    """
    seconds = block(call.seconds, make, rows, size, calls=1) if call.clocked else None
    if seconds is None:
        return True
    n = int(min(max(_LARGE, size), max(size, size * math.sqrt(_LARGE_SECONDS / seconds))))
    args = make(n)
    value, grown = call.grown(*args)
    checked(value, args, rows, n)
    return grown is None or grown <= _TIMES * counted * (n / size) ** at_most + _MARGIN


def no_loop(call: Clocked, make: Make, rows: Rows) -> bool:
    """Tell whether the time of small calls agrees with a number of steps that is always the same.

    Such a time is a + b·n + c·n², and b is the time of a row: in a loop that of some operations
    on arrays, and else that of a few numbers.  A busy machine hides a loop now and then, and makes
    one up much more seldom: two looks of four that find one suffice.  A glance that finds less than
    half of what a loop takes ends it.
    """
    if not call.clocked or _clearly_without_loop(call, make, rows):
        return True
    found: list[bool] = []
    while found.count(False) < _FOUND and found.count(True) < _CLEAN:
        found.append(_without_loop(call, make, rows))
    return found.count(False) < _FOUND


def _clearly_without_loop(call: Clocked, make: Make, rows: Rows) -> bool:
    """Glance at a few calls, and not at the reference.

    Half of them are enough where they find half of what the whole glance may find: beside seven
    jobs for each core 11 of 140 loops passed so, and 10 without.
    """
    each: list[float] = []
    operations: list[float] = []
    for bound in (_OPERATIONS / 4, _OPERATIONS / 2):
        for _ in range(_GLANCE // 2):
            once = _moment(call.seconds, make, rows)
            if once is None:
                return True
            each.append(_for_each_row(once)[0])
            operations.append(_operation())
        if np.median(each) < bound * np.median(operations):
            return True
    return False


def _without_loop(call: Clocked, make: Make, rows: Rows) -> bool:
    """Look at many small calls, each beside one of another size and beside the reference.

    What is compared are calls of one moment, since a processor's speed changes from one to the
    next, and then the median of all moments is taken: one that was disturbed counts once.
    """
    own, reference, excess, operations = [], [], [], []
    for _ in range(_SINGLE):
        once = _moment(call.seconds, make, rows)
        if once is None:
            return True
        own.append(_for_each_row(once))
        operations.append(_operation())
        again = _moment(call.reference_seconds, make, None)
        if again is None:
            return True
        reference.append(_for_each_row(again)[0])
        excess.append(_slope(once) - _slope(again))
    each, share = np.median(own, axis=0)
    operation = np.median(operations)
    if each < _OPERATIONS * operation or share < _SHARE:
        return True
    # The fit by itself takes a step in the cost of memory, say, for a loop.
    if np.median(excess) < _EXCESS * operation:
        return True
    return bool(each < _REFERENCE * np.median(reference))


def _moment(seconds: Seconds, make: Make, rows: Rows | None) -> dict[int, float] | None:
    """Return the times of one call of each small size, if there is a clock.

    A process that had to wait is slow at first.  One call is for that, and the order is drawn: else
    it is always the same size that pays, and the growth of the time is bent.
    """
    order = np.random.default_rng().permutation(_SMALL).tolist()
    found = {n: block(seconds, make, rows, n, calls=1) for n in (_SMALL[1], *order)}
    times = {n: taken for n in _SMALL if (taken := found[n]) is not None}
    return times if len(times) == len(_SMALL) else None


def _slope(seconds: dict[int, float]) -> float:
    """Return the time for each further row, from the first size to the last."""
    (n, first), *_, (m, last) = seconds.items()
    return (last - first) / (m - n)


def _least(
    seconds: Seconds, make: Make, rows: Rows, sizes: Sequence[int], rounds: int = ROUNDS
) -> dict[int, float] | None:
    """Return the least time at each size, of blocks of calls, if there is a clock."""
    least = dict.fromkeys(sizes, math.inf)
    for _, n in itertools.product(range(rounds), sizes):
        taken = block(seconds, make, rows, n)
        if taken is None:
            return None
        least[n] = min(least[n], taken)
    return least


def _for_each_row(seconds: dict[int, float]) -> tuple[float, float]:
    """Return the b of a + b·n + c·n² through three times, and its share of their growth at first.

    >>> each, share = _for_each_row({n: 9.0 + 3 * n + 0.5 * n**2 for n in (10, 20, 40)})
    >>> round(each, 6), round(share, 6)
    (3.0, 0.166667)
    """
    (k, first), (n, second), (m, third) = seconds.items()
    early, late = (second - first) / (n - k), (third - second) / (m - n)
    each = early - (late - early) / (m - k) * (k + n)
    return each, each / max(early, 1e-12)


def _operation() -> float:
    """Return the processor time of one operation on a small array, here and now.

    Of this thread: Linux keeps that of a process in steps of milliseconds while a timer runs on it,
    and judging runs on one.
    """
    row, matrix = np.ones(8), np.ones((8, 8))
    before = time.thread_time()
    for _ in range(_REPEATED):
        row @ matrix
    return (time.thread_time() - before) / _REPEATED
