"""Steps to be put in order: a proof, a procedure, with steps among them that don't belong there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, count, permutations, product
from typing import Any

import numpy as np

from autograder.exercise.answers.kind import Answer, Array, Attempt, Judgement, Scaffold, mistaken
from autograder.student.letters import read_ordering

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST = 12  # steps; more are two exercises
_SHUFFLES = 300
_ENUMERATED = 6  # so few steps have so few orders that all of them are looked at


class Order(tuple[str, ...]):
    """Letters of steps in the order in which somebody puts them.

    Attributes
    ----------
    key
        The letters of all steps as the author wrote them, those that don't belong there last.
    """

    key: str

    def __new__(cls, letters: Iterable[str], key: str) -> Order:
        """Make it of letters."""
        order = super().__new__(cls, letters)
        order.key = key
        return order


@dataclass(frozen=True)
class Ordering(Answer):
    """Shuffled steps, each with a letter, of which students write the letters in a right order.

    Credit is given for the longest chain of steps that stand in a right order, above what
    shuffled steps have on average: of n steps with a chain of k, and of m in a shuffle (2.8 of 5,
    3.7 of 8), (k − m)/(n − m).  Which steps belong there is half of what is asked: of d steps
    that don't, each takes 1/(2 d) away.  So all letters in a right order earn half, and letters at
    random next to nothing.

    Attributes
    ----------
    steps
        Sentences.  What stands in a list comes in this order, what stands in a tuple in any; they
        may be nested.  Steps of the same text are interchangeable.
    distractors
        By the name of a mistake, a step that is wrong and the sentence that says why.

    Examples
    --------
    >>> tea = Ordering(["boil", ("pour", "warm the cup"), "drink"], {"cold": ("cool", "It is.")})
    >>> steps = tea.shuffled(np.random.default_rng(1))
    >>> steps
    {'A': 'warm the cup', 'B': 'drink', 'C': 'cool', 'D': 'pour', 'E': 'boil'}
    >>> right = tea.order(steps)
    >>> " ".join(right)
    'E D A B'
    >>> tea.judge(tea.read("E A D B", like=right), right).credit
    1.0
    >>> tea.judge(tea.read("E A D B C", like=right), right).credit
    0.5
    """

    kind = "ordering"
    reader = staticmethod(read_ordering)
    table = (
        (
            "Ordering([…])",
            'letters in order: `"C A F"`, a list',
            "credit for the longest right chain, above what a shuffle has, minus wrong/(2 others)",
        ),
    )
    scaffold = Scaffold(
        asks="""\
Say what is to be shown. Your own steps are below; some of them are wrong. Write the letters of the
others in an order in which each step follows from those before it.""",
        stub="order = None  # letters, such as C A F",
        numbers=True,
        reference='''
proof = Ordering(
    [
        "Let n be odd.",
        "Then n = 2k + 1 for a whole number k.",
        "So n² = 4k² + 4k + 1.",
        "Hence n² = 2(2k² + 2k) + 1, which is odd.",
    ],
    distractors={
        "square_term_by_term": (
            "So n² = 4k² + 1.",
            "A square of a sum has a term in which both occur.",
        ),
        "begun_at_the_end": (
            "Let n² be odd.",
            "That is what is to be shown: it can't be assumed.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """The steps by their letters, shuffled."""
    return {"steps": proof.shuffled(rng)}


@exercise.part(points=2, answer=proof)
def order(steps):
    """The square of an odd number is odd: the steps of a proof."""
    return proof.order(steps)
''',
    )

    steps: list[Any]
    distractors: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        number, wrong = len(self._texts), [text for text, _ in self.distractors.values()]
        if number > MOST or number + len(wrong) > len(LETTERS):
            raise ValueError(
                f"{number} steps and {len(wrong)} wrong ones; at most {MOST} steps and "
                f"{len(LETTERS)} letters are possible"
            )
        if len(set(wrong)) < len(wrong) or set(wrong) & set(self._texts):
            raise ValueError("a wrong step has the text of another step")
        if self._by_chance > number - 1:
            raise ValueError(
                f"of these {number} steps a shuffle has {self._by_chance:.1f} in order: ask for "
                "more steps, or for fewer that may stand anywhere"
            )

    def shuffled(self, rng: np.random.Generator) -> dict[str, str]:
        """Return the texts of all steps by letter; the letters from A on are in no right order."""
        texts = self._all
        while True:
            places = rng.permutation(len(texts))
            letters = {LETTERS[i]: texts[place] for i, place in enumerate(places)}
            plain = Order((s for s in letters if letters[s] in self._texts), self._key(letters))
            if not self.judge(plain, plain).credit:
                return letters

    def order(self, steps: Mapping[str, str]) -> Order:
        """Return the right order of shuffled steps."""
        key = self._key(steps)
        return Order(key[: len(self._texts)], key)

    def read(self, raw: object, like: Any = None) -> Any:
        """Read letters; the order that an author's function returns stays as it is."""
        if isinstance(raw, Order):
            return raw
        found = read_ordering(raw, self.hint(like))
        return Order(found.value, like.key if like is not None else "")

    def same(
        self, given: Any, expected: Any, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Tell whether both are right, or the same letters."""
        if tuple(given) == tuple(expected):
            return True
        return all(self.judge(order, expected).credit == 1 for order in (given, expected))

    def judge(self, given: Any, expected: Any, *, slack: float | Array = 0.0) -> Judgement:
        """Judge the longest right chain, and the steps that don't belong there."""
        number, key = len(self._texts), expected.key
        own = [letter for letter in given if letter in key[:number]]
        places = max(self._places(own, key), key=lambda way: len(self._longest(way)))
        kept = self._longest(places)
        wrong = [name for name, s in zip(self.distractors, key[number:], strict=True) if s in given]
        share = (len(kept) - self._by_chance) / (number - self._by_chance)
        credit = max(0.0, share - len(wrong) / max(2 * len(self.distractors), 1))
        misplaced, missing = len(own) - len(kept), number - len(own)
        said = [self.distractors[name][1] for name in wrong]
        if misplaced:
            said.append(f"Of {len(own)} right steps {len(kept)} stand in a right order.")
            early = own[self._too_early(places, kept)]
            said.append(f"Step {early} stands too early: a step that it needs comes after it.")
        if missing and 2 * len(own) > number:
            said.append(f"{missing} step{'s are' if missing > 1 else ' is'} missing.")
        notes = [*wrong, *["wrong_order"] * bool(misplaced), *["missing_step"] * bool(missing)]
        note = notes[0] if notes and (wrong or credit) else ""
        return Judgement(credit, note, " ".join(said))

    def mistakes(self, compute: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
        """Return for each wrong step the right order with this step at the end."""
        number = len(self._texts)
        for place, (name, (_, why)) in enumerate(self.distractors.items(), number):

            def spoiled(right: Order, place: int = place) -> Order:
                return Order((*right, right.key[place]), right.key)

            yield mistaken(compute, name, why, spoiled)

    def typed(self, value: Any) -> Any:
        """Write the letters with blanks between."""
        return " ".join(value)

    def attempts(self, right: Any) -> Iterable[Attempt]:
        """Try what takes no thought, other right orders, and letters in other clothes."""
        letters = list(right)
        yield Attempt("a list of letters", letters, at_least=1)
        yield Attempt("small letters", "".join(letters).lower(), at_least=1)
        yield Attempt("commas between", ", ".join(letters), at_least=1)
        other = [right.key[place] for place in _leaves(_turned(self._nested))]
        yield Attempt("another right order", other, at_least=1)
        yield Attempt("backwards", letters[::-1], at_most=0)
        yield Attempt("the first step alone", letters[:1], at_most=0)
        yield Attempt("the steps as they stand", sorted(letters), at_most=0)
        if self.distractors:
            yield Attempt("all letters as they stand", sorted(right.key), at_most=0)

    def published(self) -> Iterable[str]:
        """Return the texts of the steps."""
        return self._all

    def guess(self, number: int, right: object) -> list[str]:
        """Return all letters in any order."""
        return [*np.random.default_rng(number).permutation([*LETTERS[: len(self._all)]])]

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and letters."""
        return {"kind": "ordering", "letters": LETTERS[: len(self._all)]}

    @cached_property
    def _texts(self) -> list[str]:
        """The steps that belong there, in a right order."""
        return list(_leaves(self.steps))

    @cached_property
    def _all(self) -> list[str]:
        return [*self._texts, *(text for text, _ in self.distractors.values())]

    @cached_property
    def _nested(self) -> Any:
        """The places of the steps, in lists and tuples as the steps are."""
        return _numbered(self.steps, count())

    @cached_property
    def _before(self) -> frozenset[tuple[int, int]]:
        """The pairs of places of which the first must come before the second."""
        return frozenset(_pairs(self._nested))

    @cached_property
    def _by_chance(self) -> float:
        """How long the chain of shuffled steps is on average."""
        number = len(self._texts)
        rng = np.random.default_rng(0)
        shuffles: Iterable[Any] = (rng.permutation(number).tolist() for _ in range(_SHUFFLES))
        if number <= _ENUMERATED:
            shuffles = permutations(range(number))
        return float(np.mean([len(self._longest(tuple(order))) for order in shuffles]))

    def _key(self, steps: Mapping[str, str]) -> str:
        """Return the letters of the author's steps in the author's order."""
        free = {text: [s for s in sorted(steps) if steps[s] == text] for text in self._all}
        return "".join(free[text].pop(0) for text in self._all)

    def _places(self, letters: list[str], key: str) -> Iterator[tuple[int, ...]]:
        """Yield the places of right steps; steps of the same text may take each other's."""
        texts = [self._texts[key.index(letter)] for letter in letters]
        kinds = list(dict.fromkeys(texts))
        ways = (
            combinations(
                [i for i, other in enumerate(self._texts) if other == text], texts.count(text)
            )
            for text in kinds
        )
        for way in product(*ways):
            left = {text: iter(places) for text, places in zip(kinds, way, strict=True)}
            yield tuple(next(left[text]) for text in texts)

    def _longest(self, places: tuple[int, ...]) -> tuple[int, ...]:
        """Return the longest part of an order in which no step stands before one that it needs."""
        for i, place in enumerate(places):
            early = {other for other in places[i + 1 :] if (other, place) in self._before}
            if early:
                with_it = self._longest(tuple(p for p in places if p not in early))
                without = self._longest(places[:i] + places[i + 1 :])
                return max(with_it, without, key=len)
        return places

    def _too_early(self, places: tuple[int, ...], kept: tuple[int, ...]) -> int:
        """Return which step stands before one that it needs, if possible one that isn't kept."""
        early = [
            i
            for i, place in enumerate(places)
            if any((other, place) in self._before for other in places[i + 1 :])
        ]
        return next((i for i in early if places[i] not in kept), early[0])


def _leaves(steps: object) -> Iterator[Any]:
    if isinstance(steps, list | tuple):
        for inner in steps:
            yield from _leaves(inner)
    else:
        yield steps


def _numbered(steps: Any, numbers: Iterator[int]) -> Any:
    """Return the places of the steps, nested as they are."""
    if isinstance(steps, str):
        return next(numbers)
    return type(steps)([_numbered(inner, numbers) for inner in steps])


def _pairs(places: Any) -> Iterator[tuple[int, int]]:
    """Yield which places must come before which."""
    if isinstance(places, int):
        return
    for i, inner in enumerate(places):
        yield from _pairs(inner)
        if isinstance(places, list):
            yield from product(_leaves(places[:i]), _leaves(inner))


def _turned(places: Any) -> Any:
    """Turn all that may come in any order round."""
    if isinstance(places, int):
        return places
    turned = [_turned(inner) for inner in places]
    return turned if isinstance(places, list) else turned[::-1]
