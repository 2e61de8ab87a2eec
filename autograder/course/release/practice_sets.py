"""Which numbers are practised with: nobody's, and none whose answers many are graded with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from autograder.exercise import Exercise, Part
from autograder.exercise.cache import Values
from autograder.exercise.words.dependencies import solve
from autograder.exercise.words.part import arguments
from autograder.exercise.words.variants import hiding, rng_for

Known = dict[str, Any]
T = TypeVar("T")

#: Draws for numbers that nobody is graded with.
TRIES = 300
#: An answer for practice is right for at most this share of all who are graded, and the numbers
#: that an answer is computed from are in all sets together those of as many.
MOST = 0.25
#: So many times as many numbers are drawn as are kept; of what that isn't enough for, too many
#: have the same answer.
_SPARE = 3
#: Of the sets that are wanted this share has to be found, or a part is left out.
_LEAST = 0.25


class Taken:
    """Tells which numbers somebody is graded with, of as many names as are asked about."""

    def __init__(self, graded: Sequence[Known]) -> None:
        self._graded = graded
        self._keys: dict[tuple[str, ...], set[Any]] = {}

    def __contains__(self, numbers: Known) -> bool:
        names = tuple(numbers)
        if names and names not in self._keys:
            theirs = ({name: known.get(name) for name in names} for known in self._graded)
            self._keys[names] = {Values(each).key for each in theirs}
        return bool(names) and Values(numbers).key in self._keys[names]


def practice_sets(
    own: Exercise, parts: Sequence[Part], course: str, number: int, graded: Sequence[Known]
) -> tuple[list[Part], list[tuple[Known, Known]]]:
    """Return what of an exercise is practised, and numbers for it with the right answers.

    A part whose answers are nearly the same for everybody is left out: to practise it would be to
    be told.

    Parameters
    ----------
    own
        What is practised: an exercise, or the one that stands in its place.
    number
        How many sets are wanted.
    graded
        The variants of the release, with the right answers.
    """
    taken = Taken(graded)
    there = _Candidates(
        (variant, known, {p.name for p in parts if _given_away(p, known, graded)})
        for variant in islice(_nobodys(own, parts, course, taken), _SPARE * number)
        for known in [solve(own, variant)]
    )
    asked = list(parts)
    while asked:
        names = {part.name for part in asked}
        left = _Candidates(
            (variant, known)
            for variant, known, away in there
            if not away & names and used(own, asked, variant) not in taken
        )
        sets, over = _few_told(own, asked, left, graded, number)
        if len(sets) == number:  # whatever the others are, which need not be drawn
            return asked, sets
        if _SPARE * len(left.drawn) >= len(there.drawn):
            if not over or len(sets) >= _LEAST * min(number, len(left.drawn)):
                return asked, sets
            asked.remove(max(asked, key=lambda part: over[part.name]))
        else:
            away = Counter(name for _, _, away in there.drawn for name in away)
            asked.remove(max(asked, key=lambda part: away[part.name]))
    return [], []


class _Candidates(Generic[T]):
    """What may be chosen, each drawn when somebody first looks at it."""

    def __init__(self, more: Iterator[T]) -> None:
        self._more = more
        self.drawn: list[T] = []

    def __iter__(self) -> Iterator[T]:
        yield from self.drawn
        for each in self._more:
            self.drawn.append(each)
            yield each


def _few_told(
    own: Exercise,
    asked: Sequence[Part],
    sets: Iterable[tuple[Known, Known]],
    graded: Sequence[Known],
    most: int,
) -> tuple[list[tuple[Known, Known]], Counter[str]]:
    """Return sets whose numbers, as far as a part uses them, are those of few; and what others had.

    Whoever is graded with the same L and d, say, reads off what depends on nothing else, though
    the rest of the numbers differs.
    """
    names: dict[str, list[str]] = {}
    theirs: defaultdict[str, defaultdict[Any, set[int]]] = defaultdict(lambda: defaultdict(set))
    told: dict[str, set[int]] = {part.name: set() for part in asked}
    kept: list[tuple[Known, Known]] = []
    over: Counter[str] = Counter()
    for variant, known in sets:
        if not names:  # the same in all
            names = {part.name: [*used(own, [part], variant)] for part in asked}
            for who, known_to in enumerate(graded):
                for name, numbers in names.items():
                    key = Values({each: known_to.get(each) for each in numbers}).key
                    theirs[name][key].add(who)
        now = {
            name: told[name] | theirs[name][Values({each: variant[each] for each in numbers}).key]
            for name, numbers in names.items()
            if numbers
        }
        too_many = [name for name, people in now.items() if len(people) > MOST * len(graded)]
        if not too_many:
            kept.append((variant, known))
            told |= now
            if len(kept) == most:
                break
        over.update(too_many)
    return kept, over


def used(exercise: Exercise, asked: Sequence[Part], variant: Known) -> Known:
    """Return those of the numbers that the parts are computed from."""
    names = set().union(*map(needs, asked))
    for part in reversed(exercise.parts):
        names |= needs(part) if part.name in names else set()
    return {name: value for name, value in variant.items() if name in names}


def needs(part: Part) -> set[str]:
    """Return what an answer is computed from, by whichever route."""
    return set().union(*map(arguments, part.routes))


def _nobodys(own: Exercise, parts: Sequence[Part], course: str, taken: Taken) -> Iterator[Known]:
    """Draw numbers that are nobody's, as far as the parts use them, and that show every mistake."""
    if own.draw is None:
        yield {}
        return
    rng = rng_for(course, own.id, "practice")
    seen: set[Any] = set()
    for _ in range(TRIES):
        variant = dict(own.draw(rng))
        now = used(own, parts, variant)
        key = Values(now).key
        if key not in seen and now not in taken and not any(hiding(own, variant)):
            seen.add(key)
            yield variant


def _given_away(part: Part, known: Mapping[str, Any], graded: Sequence[Known]) -> bool:
    """Tell whether an answer for practice is right for too many of those who are graded."""
    right = sum(
        part.name in other and bool(part.answer.same(known[part.name], other[part.name]))
        for other in graded
    )
    return right > MOST * len(graded)
