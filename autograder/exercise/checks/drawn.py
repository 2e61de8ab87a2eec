"""Inputs of checks that measure: drawn once for a class, and fresh for every call of a submission.

Large inputs take longer to draw than to send.  What is drawn for the first call of a size, for the
second one, and so on, is the same in every submission, whatever came before it.  So are the rows of
the result that are looked at: which ones, nobody knows but the grader's own process.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from autograder.exercise.cache import Unfamiliar, Values, size_of
from autograder.exercise.standing_in import note, noting, replaces

Make = Callable[[int], tuple[Any, ...]]
Rows = Callable[..., Any]

_Right = tuple[np.ndarray[Any, Any], Any, set[str]]  # indices, rows, and whose functions they need
_KEPT = 192 << 20  # bytes of inputs in each grader
_LASTING = 2000  # inputs that were asked for since: some submissions' worth


class Inputs(tuple[Any, ...]):
    """Arguments, with rows of the right result by what says them and how many they are.

    Attributes
    ----------
    known
        Those rows.
    turn
        When they were asked for last.
    """

    def __init__(self, _: Iterable[Any]) -> None:
        self.known: dict[Hashable, _Right] = {}
        self.turn = 0


class _Inputs:
    """What was drawn; what was not wanted for long makes room.

    What the last submissions asked for stays, even where it isn't all: every submission asks in the
    same order, and who drops first what was not wanted for the longest has just dropped what comes.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Inputs] = OrderedDict()
        self._held = self._turn = 0

    def get(self, key: Hashable) -> Inputs | None:
        self._turn += 1
        if (args := self._known.get(key)) is not None:
            args.turn = self._turn
            self._known.move_to_end(key)
        return args

    def keep(self, key: Hashable, args: Inputs) -> None:
        for each in args:
            if isinstance(each, np.ndarray):
                each.flags.writeable = False
        size = size_of(args)
        while self._held + size > _KEPT:
            oldest = next(iter(self._known), None)
            if oldest is None or self._known[oldest].turn > self._turn - _LASTING:
                return
            self._held -= size_of(self._known.pop(oldest))
        self._known[key], args.turn = args, self._turn
        self._held += size


_inputs = _Inputs()


class _Code:
    """The code of one function: that of another module may be equal, and mean something else."""

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Code) and self.code is other.code

    def __hash__(self) -> int:
        return id(self.code)


@contextmanager
def drawing(make: Make) -> Iterator[Make]:
    """Let the k-th call of ``make(n)`` return what the k-th one returns in every submission.

    That is remembered where all is known that it is made from: generators, and plain data.  Arrays
    can't be written to then.
    """
    generators: list[np.random.Generator] = []
    try:
        beside = _made_from(make, generators)
    except Unfamiliar:
        generators = []
    if not generators:  # drawn from something else, or by a student's function
        yield make
        return
    starts = [_entropy(generator) for generator in generators]
    try:
        yield Drawing(make, generators, starts, beside)
    finally:  # what is drawn next does not depend on how often something was measured
        _seed(generators, starts, ())


class Drawing:
    """Draws inputs that are the same in every submission.

    Attributes
    ----------
    key
        What they are made from.
    """

    def __init__(
        self,
        make: Make,
        generators: Sequence[np.random.Generator],
        starts: Sequence[int],
        beside: Hashable,
    ) -> None:
        self.key = beside, *starts
        self._make, self._generators, self._starts = make, generators, starts
        self._counts: defaultdict[int, Iterator[int]] = defaultdict(itertools.count)

    def __call__(self, n: int) -> tuple[Any, ...]:
        """Return the next inputs of size n."""
        place = n, next(self._counts[n])
        key = *self.key, place
        if (known := _inputs.get(key)) is not None:
            return known
        _seed(self._generators, self._starts, place)
        with noting() as names:
            args = Inputs(self._make(n))
        if not names:  # else they may be made by one student's functions
            _inputs.keep(key, args)
        return args


def right_rows(
    rows: Rows, args: tuple[Any, ...], n: int, count: int
) -> tuple[np.ndarray[Any, Any], Any]:
    """Return indices of rows out of n, and what is right there.

    At most ``count`` of them are drawn by chance. The last row is among them in any case: there a
    last block ends that may not be full.
    That is remembered with inputs that are, where no student's function has a hand in it.
    """
    key: Hashable = ()
    known: dict[Hashable, _Right] = args.known if isinstance(args, Inputs) else {}
    generators: list[np.random.Generator] = []
    try:
        key = count, _made_from(rows, generators)
    except Unfamiliar:
        known = {}
    if key in known and not replaces(known[key][2]):
        drawn, right, names = known[key]
        note(names)
        return drawn, right
    drawn = np.union1d(np.random.default_rng().choice(n, min(count, n), replace=False), [n - 1])
    with noting() as names:
        right = rows(drawn, *args)
    if not generators and not replaces(names):
        known[key] = drawn, right, names
    return drawn, right


def _made_from(value: Any, generators: list[np.random.Generator]) -> Hashable:
    """Return what tells a function's results apart, but for the generators that it draws from."""
    if isinstance(value, np.random.Generator):
        generators.append(value)
        return len(generators)
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        beside = *cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()
        return _Code(value.__code__), *(_made_from(each, generators) for each in beside)
    return Values(value).key


def _entropy(generator: np.random.Generator) -> int:
    state = repr(generator.bit_generator.state).encode()
    return int.from_bytes(hashlib.blake2b(state, digest_size=16).digest())


def _seed(
    generators: Sequence[np.random.Generator], starts: Sequence[int], place: Sequence[int]
) -> None:
    for generator, start in zip(generators, starts, strict=True):
        bits = generator.bit_generator
        bits.state = type(bits)(np.random.SeedSequence([start, *place])).state
