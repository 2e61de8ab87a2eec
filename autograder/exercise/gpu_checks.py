"""What checks say about time and memory on a GPU.

The grader holds the clock, and judges exponents: where the time is well above the cost of a launch,
over the largest sizes.  A machine on which a function of torch's own does not grow as it must is
too busy to judge anybody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from autograder.exercise.agree import Mismatch
from autograder.exercise.clocks import Curve, Inconclusive, exponent

_SIZES = tuple(2**i for i in range(9, 17))  # 512 … 65,536
_DTYPES = {"float32": 2e-3, "bfloat16": 3e-2}  # and how far off a row may be
_ABOVE_LAUNCH = 4.0  # times the least time: below that it is the launch that is timed
_FITTED = 4  # the largest sizes, at most
_PASS, _FAIL = 0.35, 0.65
_MEMORY = 0.2
_HIDDEN = 3.0  # the grader's time over the events' time: work went where the events don't look
_HIDDEN_SECONDS = 5e-4


@dataclass(frozen=True)
class Timing:
    """Calls of one function at one size.

    Attributes
    ----------
    seconds
        Of one call, by the grader's clock.
    events
        Of one call, by the device's events.
    peak
        Bytes held at once besides inputs and result; None where it ran out of memory.
    value, inputs
        Rows of the last result, and the inputs it belongs to.
    """

    seconds: float
    events: float
    peak: int | None
    value: Any
    inputs: tuple[Any, ...]


class OnGpu(Protocol):
    """A call that can be made on a GPU."""

    curve: Curve | None

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: Any, *, sdpa: bool = False
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
        yours = _timings(call, shape, dtype, sizes, rows, tolerance)
        theirs = _timings(call, shape, dtype, sizes, None, tolerance)
        seconds = {n: [timing.seconds] for n, timing in yours.items()}
        reference = {n: [timing.seconds] for n, timing in theirs.items()}
        both = sorted(seconds.keys() & reference.keys())
        if len(both) > 1:
            call.curve = Curve(both, [seconds[n][0] for n in both], [reference[n][0] for n in both])
        _judge_memory({n: t.peak for n, t in yours.items()}, memory, dtype)
        machine = fitted(reference)
        if machine is None or abs(machine - 2) > _FAIL:
            raise Inconclusive("the GPU is too busy: torch's own function does not grow like n²")
        found = fitted(seconds)
        if found is None:
            raise Inconclusive("too few sizes fit into the memory, or are above a launch's cost")
        if found > time + _FAIL:
            raise Mismatch(
                f"in {dtype} the time grows like n^{found:.1f}; "
                f"the exponent can be kept to {time:g}",
                kind="time",
            )
        if found > time + _PASS:
            raise Inconclusive("the time grows neither clearly as it should nor clearly faster")


def fitted(seconds: dict[int, list[float]]) -> float | None:
    """Return the exponent over the largest sizes, where the time is that of the work.

    >>> fitted({n: [1e-5 + 1e-12 * n**2] for n in (512, 2048, 8192, 16384, 32768, 65536)})
    1.9...
    >>> fitted({512: [1e-5], 1024: [1.1e-5]}) is None
    True
    """
    floor = min((min(samples) for samples in seconds.values()), default=0.0)
    above = {n: s for n, s in seconds.items() if min(s) >= _ABOVE_LAUNCH * floor}
    largest = sorted(above)[-_FITTED:]
    return exponent({n: above[n] for n in largest}) if len(largest) >= 3 else None


def _timings(
    call: OnGpu,
    shape: Callable[[int], tuple[int, ...]],
    dtype: str,
    sizes: Sequence[int],
    rows: Callable[..., Any] | None,
    tolerance: float,
) -> dict[int, Timing]:
    """Time every size that fits; with ``rows`` the submission's, else torch's own function."""
    found: dict[int, Timing] = {}
    for n in sizes:
        drawn = np.sort(np.random.default_rng().choice(n, min(n, 4), replace=False))
        timing = call.on_gpu(shape(n), dtype, drawn, sdpa=rows is None)
        if timing is None:
            break
        if rows is not None:
            right = rows(drawn, *timing.inputs)
            _check(timing, np.asarray(right.cpu(), dtype=float), tolerance, n)
            if timing.seconds > _HIDDEN * timing.events + _HIDDEN_SECONDS:
                raise Inconclusive("the device's events and the grader's clock disagree")
        found[n] = replace(timing, value=None, inputs=())  # not needed, and large
    return found


def _check(timing: Timing, right: Any, tolerance: float, n: int) -> None:
    given = np.asarray(timing.value, dtype=float)
    if given.shape != right.shape:
        raise Mismatch(f"for n = {n} the result has another shape than it should")
    with np.errstate(all="ignore"):
        off = np.linalg.norm(given - right, axis=-1) / (np.linalg.norm(right, axis=-1) + 1e-300)
    if not (off <= tolerance).all():
        raise Mismatch(f"for n = {n} some rows of the result are wrong")


def _judge_memory(peaks: dict[int, int | None], power: float, dtype: str) -> None:
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
