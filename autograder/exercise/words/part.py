"""One answer that students write: the part, its misconceptions, and samples for its markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from inspect import cleandoc, signature, unwrap
from typing import Any, overload

from autograder.exercise.answers.kind import Answer
from autograder.exercise.cache import copied

Function = Callable[..., Any]

#: Where a variant holds, by part, in which order its statements are shown.
ORDERS = "orders"


class AuthoringError(ValueError):
    """An exercise is declared in a way that cannot work; the message says what to change."""


@cache
def sentences(function: Function, role: str) -> str:
    """Return the docstring of ``function`` as running text, which students read."""
    text = " ".join(cleandoc(function.__doc__ or "").split())
    if not text:
        raise AuthoringError(
            f"{role} `{function.__name__}` has no docstring: students read it, so write one"
        )
    return text


@lru_cache(4000)
def arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's arguments."""
    return tuple(signature(function).parameters)


def place_of(function: Function) -> str:
    """Return file and line of a function that an author wrote."""
    code = getattr(unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


@dataclass(frozen=True)
class Misconception:
    """A wrong computation worth recognising.  Its docstring is the feedback.

    Attributes
    ----------
    compute
        The wrong function, with the arguments of what it gets wrong.
    credit
        Fraction of the points that it still earns: of the part, or of each check that it fails.
    fatal
        Why it may cost all of a function's points; nothing where it may not.
    """

    compute: Function
    credit: float = 0.0
    fatal: str = ""

    @property
    def name(self) -> str:
        """The stable tag under which reports count this mistake."""
        return self.compute.__name__

    @property
    def feedback(self) -> str:
        """What the student reads."""
        return sentences(self.compute, "misconception")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Compute the wrong answer."""
        return self.compute(*args, **kwargs)


def computation(function: Function | Misconception | Part) -> Function:
    """Return the function itself, where it is declared as a misconception or a part."""
    return function.compute if isinstance(function, Misconception | Part) else function


def _returning(value: object, name: str, docstring: str) -> Function:
    """Return a function that returns a value, anew each time."""

    def compute() -> Any:
        return copied(value)

    compute.__name__, compute.__doc__ = name, docstring
    return compute


@dataclass(frozen=True)
class Sample:
    """What a student may write where a person marks it; its docstring says why it is worth that."""

    compute: Function
    points: float

    @property
    def why(self) -> str:
        """What the marker reads below it."""
        return sentences(self.compute, "sample")


@dataclass(eq=False)
class Part:
    """One answer that the student writes, and the computation that gives the right one.

    The argument names of ``compute`` are the dependency graph: a name is a number of the
    student's variant, an earlier part (one that is a formula can be called), or a function that
    the exercise asks for.

    Attributes
    ----------
    name
        The variable in which the student leaves the answer.
    carry_if
        May a wrong answer be carried forward?  Called with the answer as read; without it
        every readable answer is.
    after
        Counts only where that part is right: a reason for a claim.
    """

    compute: Function
    points: float
    answer: Answer
    carry_if: Callable[[Any], bool] | None = None
    after: Part | None = None
    misconceptions: list[Misconception] = field(default_factory=list)
    alternatives: list[Function] = field(default_factory=list)
    restatements: list[Function] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.compute.__name__
        self.misconceptions += map(Misconception, self.answer.mistakes(self.compute))

    @property
    def rubric(self) -> str:
        """What the part asks, as students read it with their grade."""
        text = sentences(self.compute, "part")
        return self.asks if self.manual else text

    @property
    def asks(self) -> str:
        """The first paragraph of the rubric: what students may read before they answer."""
        first, _, _ = cleandoc(self.compute.__doc__ or "").partition("\n\n")
        return " ".join(first.split())

    @property
    def scheme(self) -> list[str]:
        """The further paragraphs: of a part marked by hand, what the marker looks for."""
        return re.split(r"\n\s*\n", cleandoc(self.compute.__doc__ or ""))[1:]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the variant's numbers and of the earlier parts it is computed from."""
        return arguments(self.compute)

    @property
    def routes(self) -> tuple[Function, ...]:
        """The computation and its alternatives: whichever a student took is followed."""
        return self.compute, *self.alternatives

    @property
    def followed(self) -> tuple[Function, ...]:
        """All that says what is right given earlier answers."""
        return *self.routes, *self.restatements

    @property
    def manual(self) -> bool:
        """Is the part marked by hand?"""
        return self.answer.manual

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Compute the right answer."""
        return self.compute(*args, **kwargs)

    def order(self, known: Mapping[str, Any]) -> str:
        """Return in which order a variant shows what there is to choose from; see `ORDERS`."""
        return str(known.get(ORDERS, {}).get(self.name, ""))

    @overload
    def misconception(self, compute: Function) -> Misconception: ...

    @overload
    def misconception(self, *, credit: float = 0.0) -> Callable[[Function], Misconception]: ...

    def misconception(
        self, compute: Function | None = None, *, credit: float = 0.0
    ) -> Misconception | Callable[[Function], Misconception]:
        """Register a wrong computation of this part; ``credit`` is the fraction it earns."""

        def register(compute: Function) -> Misconception:
            self.misconceptions.append(wrong := Misconception(compute, credit))
            return wrong

        return register(compute) if compute else register

    def mistakes(self, **known: tuple[Any, str] | tuple[Any, str, float]) -> None:
        """Register wrong answers that depend on nothing, each with the sentence that it gets.

        A third entry is the fraction of the points that it earns.

        Examples
        --------
        >>> from autograder.exercise import Count, Exercise
        >>> exercise = Exercise("tiles", title="Tiles", source="none")
        >>> @exercise.part(points=1, answer=Count())
        ... def tiles():
        ...     "Tiles of a matrix."
        ...     return 8 * 8
        >>> tiles.mistakes(
        ...     one_row=(8, "That is one row of tiles. There are as many rows."),
        ...     lower_half=(36, "Without a mask every tile is visited.", 0.5),
        ... )
        >>> [(wrong.name, wrong(), wrong.credit) for wrong in tiles.misconceptions]
        [('one_row', 8, 0.0), ('lower_half', 36, 0.5)]
        """
        for name, (value, said, *credit) in known.items():
            wrong = Misconception(_returning(value, name, said), credit[0] if credit else 0.0)
            self.misconceptions.append(wrong)

    def alternative(self, compute: Function) -> Function:
        """Register another right answer (another route, another form)."""
        self.alternatives.append(compute)
        return compute

    def restated(self, compute: Function) -> Function:
        """Register what a derivation has to show by the student's own earlier answers: a chain."""
        self.restatements.append(compute)
        return compute

    def sample(self, *, points: float) -> Callable[[Function], Sample]:
        """Register a text as a student may write it, marked: for those who mark the others."""
        if not self.manual or not 0 <= points <= self.points:
            raise AuthoringError(
                f"`{self.name}` has a sample worth {points:g} points: a sample is of a part that "
                f"is marked by hand, and worth 0 to {self.points:g}"
            )

        def register(compute: Function) -> Sample:
            self.samples.append(sample := Sample(compute, points))
            assert sample.why  # raises AuthoringError where there is no docstring
            return sample

        return register
