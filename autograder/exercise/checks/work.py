"""What checks say about how something is computed: by counted work first, by clocks never alone.

A meter counts the work of a call; how it grows with n decides.  Where the meter saw too little,
or contradicts the grader's own clock, processor time decides (`autograder.exercise.checks.clocks`),
and where that is not clear either, the check is withheld: nobody loses points to noise.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from autograder.exercise.checks import clocks, confirm
from autograder.exercise.checks.agree import Mismatch
from autograder.exercise.checks.clocks import Inconclusive, checked
from autograder.exercise.checks.drawn import Make, Rows, drawing

#: How the meters are called in sentences.
METERS = {
    "flops": "the number of multiplications and additions",
    "largest": "the largest array",
    "peak": "the memory in use at once",
    "steps": "the number of Python instructions",
    "operations": "the number of array operations",
}
_MEMORY = ("largest", "peak")
_TINY = (33, 66)  # here even a double loop in Python is quick
_PASS, _FAIL = 0.15, 0.6  # an exponent may be off by this much, and is too large beyond that
_COVERED = 0.45  # of the least work; less has left the tracer
_CERTAIN = 0.85  # beyond small sizes, so much too fast is no method with blocks of a fixed size
_FLOPS, _ENTRIES = 1e9, 3e7  # more is not counted to refuse what is too fast already
_LOOP = 0.5  # the exponent of the number of steps, which is 0 without a loop and 1 with one
_LOOPED = 5  # Python instructions for each of n rows: a loop over the rows


@dataclass(frozen=True)
class Work:
    """What a call returned, and how much work it was.

    Attributes
    ----------
    value
        What the call returned; the check's to compare.
    flops
        Multiplications and additions of products, and one for each entry of other operations.
    largest
        Entries of the largest array that was made.
    peak
        Bytes alive at once besides the arguments, the result among them.
    steps
        Bytecodes of the student's own code.
    operations
        Operations on whole arrays.
    shapes
        Shapes of the arrays that were made, at most 500 of them.
    """

    value: Any
    flops: int
    largest: int
    peak: int
    steps: int
    operations: int
    shapes: frozenset[tuple[int, ...]] = frozenset()


@dataclass(frozen=True)
class Measured:
    """What a check of work measured, and where it draws the line.

    `autograder verify` shows how far honest code and the natural cheats are from the line.
    """

    what: str
    value: float
    limit: float


class WorkCall(clocks.Clocked, Protocol):
    """A submission, the reference or a misconception, as checks of work call it."""

    readings: list[Measured]

    def work(self, *args: object, **kwargs: object) -> Work:
        """Call and count."""

    def outline(self, *shapes: tuple[int, ...], dtype: str = "float32") -> Work:
        """Count for torch tensors of these shapes that hold no numbers."""


def covers(work: Work, floor: float) -> None:
    """Withhold the check if the meter saw less work than any right solution takes.

    Parameters
    ----------
    work : Work
        Of a call whose result is right.
    floor : float
        FLOPs that no right solution can avoid.

    Raises
    ------
    Inconclusive
        If the meter saw less than 0.45 of it.
    """
    if work.flops < _COVERED * floor:
        raise Inconclusive("most of the work was done where it can't be counted")


def within(
    call: WorkCall, what: str, value: float, limit: float, message: str, *, kind: str = ""
) -> None:
    """Require a measured value of at most ``limit``, and note how far from it the call is.

    Parameters
    ----------
    call
        What is checked.
    what : str
        What was measured, in units of what is needed: ``"entries of the largest array / a tile"``.
    value, limit : float
        The measured value, and the largest that passes.  Put the limit where honest code stays
        well below and the natural cheat well above: `autograder verify` prints both.
    message, kind : str
        Of the ``Mismatch``.

    Raises
    ------
    Mismatch
        If the value is above the limit.
    """
    call.readings.append(Measured(what, value, limit))
    if value > limit:
        raise Mismatch(message, kind=kind)


def grows(
    call: WorkCall,
    make: Make,
    *,
    at_most: float = 1.0,
    rows: Rows,
    floor: Callable[[int], float],
    of: Literal["work", "memory"] = "work",
    sizes: tuple[int, int, int, int] = (257, 514, 2503, 5006),
) -> None:
    """Require that work and memory grow no faster than n to the power ``at_most``.

    Parameters
    ----------
    call
        What is checked.
    make : callable
        ``make(n)`` returns fresh arguments of size n.
    at_most : float
        The power.
    rows : callable
        ``rows(i, *args)`` returns the right values of ``result[i]`` for an array of indices i;
        which ones are drawn by chance, and nobody else knows them.  Where the result is a tuple, so
        is what it returns.
    floor : callable
        ``floor(n)`` is the number of FLOPs that no right solution can avoid.
    of : {"work", "memory"}
        Everything, or only what is held at once (a product in tiles: time n², memory n).
    sizes : tuple of int
        Two pairs of sizes.  The second decides, the first where the second is out of reach.

    Raises
    ------
    Mismatch
        If something grows faster, or a result is wrong.
    Inconclusive
        If that can't be decided.
    """
    call.curve = None
    with drawing(make) as drawn:
        try:
            _decide(call, drawn, at_most, rows, floor, of, sizes)
        finally:
            with contextlib.suppress(Exception):  # whatever goes wrong: it is a picture
                if call.curve is None:
                    clocks.draw(call, drawn, rows)


def _decide(
    call: WorkCall,
    make: Make,
    at_most: float,
    rows: Rows,
    floor: Callable[[int], float],
    of: str,
    sizes: tuple[int, int, int, int],
) -> None:
    gauge = _Gauge(call, make, rows, at_most, tuple(METERS) if of == "work" else _MEMORY)
    try:
        work = gauge.judge(sizes)
        covers(work, floor(sizes[-1]))
    except Inconclusive:
        if of == "memory":
            raise
        clocks.decide(call, make, at_most, rows)
        return
    if of == "memory":
        if not confirm.memory(call, make, at_most, rows, sizes[-1], work.peak):
            raise Inconclusive("far more memory was in use than was counted")
    else:
        ends = sizes[0], sizes[-1]
        if not confirm.growth(call, make, at_most, rows, ends):
            clocks.decide(call, make, at_most, rows)
            # It passed up to the sizes that it looks at; what takes over only beyond them, doesn't.
            if not confirm.growth(call, make, at_most, rows, ends):
                raise Inconclusive("its time grows faster for large n than what was counted")
        if work.steps >= _LOOPED * sizes[-1]:
            call.remark(
                "slow_constant",
                "The work grows as it should. A Python loop over the rows makes it many times "
                "slower than it could be: can whole blocks of rows be computed at once?",
            )


def vectorised(call: WorkCall, make: Make, *, rows: Rows, floor: Callable[[int], float]) -> None:
    """Require that neither Python instructions nor array operations grow in number with n.

    A loop over rows fails, and so does one over blocks of rows.  Parameters and exceptions are
    those of `grows`.
    """
    with drawing(make) as drawn:
        _without_loop(call, drawn, rows, floor)


def _without_loop(call: WorkCall, make: Make, rows: Rows, floor: Callable[[int], float]) -> None:
    gauge = _Gauge(call, make, rows, 0.0, ("steps", "operations"))
    for n, m in (_TINY, (_TINY[1], 4 * _TINY[1])):  # loops over rows show first, then blocks
        found = gauge.exponents(n, m)
        power = max(found.values())
        grown = _grow(found, _LOOP) if power > _LOOP else ""
        message = f"it loops: {grown}, and could stay the same"
        within(call, "exponent of steps and operations", power, _LOOP, message, kind="loop")
    covers(gauge.at(m), floor(m))
    if not confirm.no_loop(call, make, rows):
        raise Inconclusive("it takes the time of a loop, but none was counted")


class _Gauge:
    """Measures a call at sizes as they are needed, and says how what is watched grows."""

    def __init__(
        self, call: WorkCall, make: Make, rows: Rows, at_most: float, watched: tuple[str, ...]
    ) -> None:
        self._call, self._make, self._rows = call, make, rows
        self._at_most, self._watched = at_most, watched
        self._works: dict[int, Work] = {}

    def at(self, n: int) -> Work:
        """Return the work of one call of size n, whose result is right."""
        if n not in self._works:
            args = self._make(n)
            work = self._call.work(*args)
            checked(work.value, args, self._rows, n, count=16)
            self._works[n] = replace(work, value=None)  # not needed, and large
        return self._works[n]

    def exponents(self, n: int, m: int) -> dict[str, float]:
        """Return the powers with which the meters grow from n to m; zeros count as one."""
        few, many = vars(self.at(n)), vars(self.at(m))
        return {
            name: math.log(max(many[name], 1) / max(few[name], 1)) / math.log(m / n)
            for name in self._watched
        }

    def judge(self, sizes: tuple[int, int, int, int]) -> Work:
        """Decide by work alone, and return that at the largest size."""
        if "steps" in self._watched:
            tiny = self.exponents(*_TINY)
            self._refuse({"steps": tiny["steps"]}, *_TINY)
        a, b, c, d = sizes
        small = self.exponents(a, b)
        try:
            # What is too fast here mostly is so farther on, and shows at a fraction of the cost.
            # A method with blocks as long as that is slower only until there are more of them.
            if self._too_fast(small):
                beyond = c if self._countable(b, c) else 3 * b // 2
                self._refuse(self.exponents(b, beyond), b, beyond, _CERTAIN)
            large = self.exponents(c, d)
            if _PASS < self._excess(large) <= _FAIL and self._countable(d, 2 * d):
                c, d = d, 2 * d  # a last block that isn't full shows at one pair of sizes
                large = self.exponents(c, d)
        except Inconclusive:  # too slow or too large to be counted there
            self._refuse(small, a, b)
            raise
        self._refuse(large, c, d)
        self._read(large)
        if self._excess(large) > _PASS:
            raise Inconclusive("the work grows neither clearly as it should nor clearly faster")
        return self.at(d)

    def _excess(self, found: dict[str, float]) -> float:
        return max(found.values()) - self._at_most

    def _read(self, found: dict[str, float]) -> None:
        limit = self._at_most + _FAIL
        self._call.readings.append(Measured("exponent of n", max(found.values()), limit))

    def _countable(self, n: int, m: int) -> bool:
        """Tell whether a call of size m is quick to count, were it to grow like n² from n on."""
        work, times = self.at(n), (m / n) ** 2
        return work.flops * times < _FLOPS and work.largest * times < _ENTRIES

    def _too_fast(self, found: dict[str, float], by: float = _FAIL) -> list[str]:
        return [name for name, power in found.items() if power > self._at_most + by]

    def _refuse(self, found: dict[str, float], n: int, m: int, by: float = _FAIL) -> None:
        if self._too_fast(found, by):
            self._read(found)
            fast = self._too_fast(found)
            raise Mismatch(
                f"between n = {n} and n = {m} {_grow(found, self._at_most + _FAIL)}; "
                f"the exponent can be kept to {self._at_most:g}",
                kind=",".join(fast),
            )


def _grow(found: dict[str, float], limit: float) -> str:
    """Say which meters grow faster than the limit, and how."""
    fast = [f"{METERS[name]} like n^{power:.1f}" for name, power in found.items() if power > limit]
    listed = f"{', '.join(fast[:-1])} and {fast[-1]}" if len(fast) > 1 else fast[0]
    first, _, rest = listed.partition(" like ")
    return f"{first} grows like {rest}"
