"""What checks say about time and memory on a GPU.

The grader holds the clock, and judges exponents over the largest sizes. What it reads includes
drawing the inputs, which grows like n: it can hide growth from view, but never make any up. So a
size tells something where the time is well above that of the smallest, or at the very end; and a
machine on which a function of torch's own is not seen to grow as it does judges nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from autograder.exercise.checks.agree import Mismatch
from autograder.exercise.checks.clocks import Curve, Inconclusive, exponent

_SIZES = tuple(2**i for i in range(9, 17))  # 512 … 65,536
# And how far off a row may be.  Single precision on a GPU's units for half of it is 4e-4 off.
_DTYPES = {"float32": 1e-4, "bfloat16": 3e-2}
_ABOVE_LAUNCH = 3.0  # times the least time: below that it is the launch that is timed
_FITTED, _FEWEST = 4, 3  # the largest sizes
_PASS, _FAIL = 0.35, 0.65
_MEMORY = 0.2
_LONGEST = 0.25  # seconds of a call, after which no larger size is tried
_SEEN = 0.01  # of torch's own function, by when its growth is to be seen
_LARGER = 2  # sizes beyond the check's own at which it is looked for, on a card that is fast
_ATTEMPTS = 3


@dataclass(frozen=True)
class Timing:
    """Calls of one function at one size.

    Attributes
    ----------
    seconds
        Of one call with what belongs to it, by the grader's clock: this decides.
    events
        Of one call alone, by the device's events, as the process says: for a picture.
    peak
        Bytes held at once besides inputs and result.
    value, inputs
        Rows of a result, or None if it was no plain tensor, and the inputs it belongs to.
    """

    seconds: float
    events: float
    peak: int
    value: Any
    inputs: tuple[Any, ...]


class OnGpu(Protocol):
    """A call that can be made on a GPU."""

    curve: Curve | None

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: object, *, sdpa: bool = False
    ) -> Timing | None:
        """Time calls with three normal inputs of one shape; None if the memory does not do.

        ``sdpa`` times torch's own function of three inputs in the place of the submission.
        """


def grows_on_gpu(
    call: OnGpu,
    *,
    time: float,
    memory: float,
    rows: Callable[..., Any],
    shape: Callable[[int], tuple[int, ...]] = lambda n: (1, 8, n, 64),
    sizes: Sequence[int] = _SIZES,
) -> None:
    """Require that time and peak memory grow no faster than these powers of n.

    Parameters
    ----------
    call
        What is checked: a function of Q, K, V.
    time, memory : float
        The powers.
    rows : callable
        ``rows(i, Q, K, V)`` returns the right rows i of the last axis but one, as a tensor; Q, K
        and V are float64 and on the device.
    shape : callable
        ``shape(n)`` is the shape of Q, of K and of V.
    sizes : sequence of int
        Increasing.  Where a size does not fit into the memory, the smaller ones decide.

    Raises
    ------
    Mismatch
        If something grows faster, or a result is wrong.
    Inconclusive
        If that can't be decided.
    """
    for dtype, tolerance in _DTYPES.items():
        _decide(call, dtype, tolerance, time, memory, rows, shape, sizes)


def _decide(
    call: OnGpu,
    dtype: str,
    tolerance: float,
    time: float,
    memory: float,
    rows: Callable[..., Any],
    shape: Callable[[int], tuple[int, ...]],
    sizes: Sequence[int],
) -> None:
    """Measure until it is clear; that the time grows too fast has to be seen twice."""
    too_fast = 0
    for attempt in range(_ATTEMPTS):
        try:
            yours = _timings(call, shape, dtype, sizes, rows, tolerance)
            _judge_memory({n: timing.peak for n, timing in yours.items()}, memory, dtype)
            theirs = _control(call, shape, dtype, sizes)
            both = sorted(yours.keys() & theirs.keys())
            if len(both) > 1:
                own, torch_s = ([found[n].events for n in both] for found in (yours, theirs))
                call.curve = Curve(both, own, torch_s)
            return _judge_time(yours, theirs, time, dtype, complete=max(sizes) in yours)
        except Inconclusive:
            if attempt == _ATTEMPTS - 1:
                raise
        except Mismatch as failure:
            too_fast += failure.kind == "time"
            if failure.kind != "time" or too_fast == 2:
                raise
    raise Inconclusive("the time grew too fast once, and not again")


def _judge_time(
    yours: dict[int, Timing], theirs: dict[int, Timing], time: float, dtype: str, *, complete: bool
) -> None:
    machine = fitted({n: timing.seconds for n, timing in theirs.items()})
    if machine is None or abs(machine - 2) > _FAIL:
        raise Inconclusive("the GPU is too busy: torch's own function does not grow like n²")
    found = fitted({n: timing.seconds for n, timing in yours.items()}, complete=complete)
    if found is None:
        raise Inconclusive("too few sizes fit into the memory, or are above a launch's cost")
    if found > time + _FAIL:
        raise Mismatch(
            f"in {dtype} the time grows like n^{found:.1f}; the exponent can be kept to {time:g}",
            kind="time",
        )
    if found > time + _PASS:
        raise Inconclusive("the time grows neither clearly as it should nor clearly faster")


def fitted(seconds: dict[int, float], *, complete: bool = False) -> float | None:
    """Return the exponent over the largest sizes, where the time is that of the work.

    Where no size was left out at the end, it is told by the largest in any case: time that is
    hardly more than a launch's there grows slowly.

    >>> fitted({n: 1e-5 + 1e-12 * n**2 for n in (512, 2048, 8192, 16384, 32768, 65536)})
    1.9...
    >>> fitted({512: 1e-5, 1024: 1.1e-5, 2048: 1.2e-5}) is None
    True
    >>> fitted({512: 1e-5, 1024: 1.1e-5, 2048: 1.2e-5}, complete=True)
    0.1...
    """
    floor = min(seconds.values(), default=0.0)
    largest = sorted(n for n, taken in seconds.items() if taken >= _ABOVE_LAUNCH * floor)[-_FITTED:]
    if len(largest) < _FEWEST and complete:
        largest = sorted(seconds)[-_FEWEST:]
    if len(largest) < _FEWEST:
        return None
    return exponent({n: [seconds[n]] for n in largest})


def _timings(
    call: OnGpu,
    shape: Callable[[int], tuple[int, ...]],
    dtype: str,
    sizes: Sequence[int],
    rows: Callable[..., Any],
    tolerance: float,
) -> dict[int, Timing]:
    """Time a submission at every size that fits, and check rows of its results."""
    found: dict[int, Timing] = {}
    for n in sizes:
        drawn = np.sort(np.random.default_rng().choice(n, min(n, 4), replace=False))
        timing = call.on_gpu(shape(n), dtype, drawn)
        if timing is None:
            break
        _check(timing, rows, drawn, tolerance, f"in {dtype}, for n = {n}")
        found[n] = replace(timing, value=None, inputs=())  # not needed, and large
        if timing.seconds > _LONGEST and len(found) >= _FITTED:
            break
    return found


def _control(
    call: OnGpu, shape: Callable[[int], tuple[int, ...]], dtype: str, sizes: Sequence[int]
) -> dict[int, Timing]:
    """Time torch's own function, until its growth must be seen."""
    found: dict[int, Timing] = {}
    for n in (*sizes, *(2**i * max(sizes) for i in range(1, _LARGER + 1))):
        timing = call.on_gpu(shape(n), dtype, np.array([0]), sdpa=True)
        if timing is None:
            break
        found[n] = replace(timing, value=None, inputs=())
        if timing.seconds > _SEEN and len(found) >= _FITTED:
            break
    return found


def _check(timing: Timing, rows: Any, drawn: object, tolerance: float, where: str) -> None:
    if timing.value is None:
        raise Mismatch(f"{where}, the result is not a plain tensor on the device of the inputs")
    right = np.asarray(rows(drawn, *timing.inputs).cpu(), dtype=float)
    given = np.asarray(timing.value, dtype=float)
    if given.shape != right.shape:
        raise Mismatch(f"{where}, the result has another shape than it should")
    off = furthest(given, right)
    if not off <= tolerance:
        raise Mismatch(
            f"{where}, some rows of the result are off by {off:.1g} of their size; "
            f"{tolerance:g} is allowed"
        )


def furthest(given: object, right: Any) -> float:
    """Return how far the worst row is off, as a part of its size."""
    with np.errstate(all="ignore"):
        off = np.linalg.norm(given - right, axis=-1) / (np.linalg.norm(right, axis=-1) + 1e-300)
    return float(np.max(off))  # NaN where one is


def _judge_memory(peaks: dict[int, int], power: float, dtype: str) -> None:
    known = {n: peak for n, peak in peaks.items() if peak}
    n, m = sorted(known)[-_FITTED:][:: _FITTED - 1] if len(known) >= _FITTED else (0, 0)
    if not n:
        return  # it holds nothing besides its result
    found = math.log(known[m] / known[n]) / math.log(m / n)
    if found > power + _MEMORY:
        raise Mismatch(
            f"in {dtype} the memory grows like n^{found:.1f}; the exponent can be kept "
            f"to {power:g}",
            kind="memory",
        )
