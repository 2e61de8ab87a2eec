"""What checks say about how something is computed: by counted work first, by clocks never alone.

A meter counts the work of a call; how it grows with n decides.  Where the meter saw too little,
or contradicts the grader's own clock, processor time decides (`autograder.exercise.clocks`), and
where that is not clear either, the check is withheld: nobody loses points to noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from autograder.exercise import clocks
from autograder.exercise.agree import Mismatch
from autograder.exercise.clocks import Inconclusive, Make, Rows, checked

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


class Call(clocks.Clocked, Protocol):
    """A submission, the reference or a misconception, as checks of work call it."""

    def work(self, *args: Any, **kwargs: Any) -> Work:
        """Call and count."""


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


def grows(
    call: Call,
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
        which ones are drawn after each call.
    floor : callable
        ``floor(n)`` is the number of FLOPs that no right solution can avoid.
    of : {"work", "memory"}
        Everything, or only what is held at once (tiled attention: time n², memory n).
    sizes : tuple of int
        Two pairs of sizes.  The second decides, the first where the second is out of reach.

    Raises
    ------
    Mismatch
        If something grows faster, or a result is wrong.
    Inconclusive
        If that can't be decided.
    """
    watched = tuple(METERS) if of == "work" else _MEMORY
    try:
        work = _judge(call, make, at_most, rows, floor, watched, sizes)
    except Inconclusive:
        if of == "memory":
            raise
        clocks.decide(call, make, at_most, rows)
        return
    if of == "work":
        if not clocks.confirms(call, make, at_most, rows, (sizes[0], sizes[-1])):
            clocks.decide(call, make, at_most, rows)
        if work.steps >= _LOOPED * sizes[-1]:
            call.remark(
                "slow_constant",
                "The work grows as it should. A Python loop over the rows makes it many times "
                "slower than it could be: can whole blocks of rows be computed at once?",
            )


def vectorised(call: Call, make: Make, *, rows: Rows, floor: Callable[[int], float]) -> None:
    """Require that neither Python instructions nor array operations grow in number with n.

    A loop over rows fails, and so does one over blocks of rows.  Parameters and exceptions are
    those of `grows`.
    """
    few = _measured(call, make, _TINY[0], rows)
    for n, m in (_TINY, (_TINY[1], 4 * _TINY[1])):  # loops over rows show first, then blocks
        many = _measured(call, make, m, rows)
        found = {name: _exponent(few, many, name, n, m) for name in ("steps", "operations")}
        if max(found.values()) > _LOOP:
            raise Mismatch(f"it loops: {_grow(found, _LOOP)}, and could stay the same", kind="loop")
        few = many
    covers(few, floor(m))


def _judge(
    call: Call,
    make: Make,
    at_most: float,
    rows: Rows,
    floor: Callable[[int], float],
    watched: tuple[str, ...],
    sizes: tuple[int, int, int, int],
) -> Work:
    """Decide by work alone, and return that at the largest size."""
    few, many = (_measured(call, make, n, rows) for n in _TINY)
    steps = {"steps": _exponent(few, many, "steps", *_TINY)}
    if "steps" in watched:
        _refuse(steps, at_most, *_TINY)
    small = _exponents(call, make, rows, watched, *sizes[:2])[1]
    try:
        work, large = _exponents(call, make, rows, watched, *sizes[2:])
    except Inconclusive:  # too slow or too large to be counted there
        _refuse(small, at_most, *sizes[:2])
        raise
    _refuse(large, at_most, *sizes[2:])
    covers(work, floor(sizes[-1]))
    if max(large.values()) > at_most + _PASS:
        raise Inconclusive("the work grows neither clearly as it should nor clearly faster")
    return work


def _exponents(
    call: Call, make: Make, rows: Rows, watched: tuple[str, ...], n: int, m: int
) -> tuple[Work, Mapping[str, float]]:
    few, many = (_measured(call, make, size, rows) for size in (n, m))
    return many, {name: _exponent(few, many, name, n, m) for name in watched}


def _measured(call: Call, make: Make, n: int, rows: Rows) -> Work:
    args = make(n)
    work = call.work(*args)
    checked(work.value, args, rows, n, count=16)
    return work


def _exponent(few: Work, many: Work, name: str, n: int, m: int) -> float:
    """Return the power with which a meter grows from n to m; zeros count as one."""
    return math.log(max(getattr(many, name), 1) / max(getattr(few, name), 1)) / math.log(m / n)


def _refuse(found: Mapping[str, float], at_most: float, n: int, m: int) -> None:
    limit = at_most + _FAIL
    if fast := [name for name in METERS if found.get(name, -np.inf) > limit]:
        raise Mismatch(
            f"between n = {n} and n = {m} {_grow(found, limit)}; "
            f"the exponent can be kept to {at_most:g}",
            kind=",".join(fast),
        )


def _grow(found: Mapping[str, float], limit: float) -> str:
    """Say which meters grow faster than the limit, and how."""
    fast = [f"{METERS[name]} like n^{power:.1f}" for name, power in found.items() if power > limit]
    listed = f"{', '.join(fast[:-1])} and {fast[-1]}" if len(fast) > 1 else fast[0]
    first, _, rest = listed.partition(" like ")
    return f"{first} grows like {rest}"
