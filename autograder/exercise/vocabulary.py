"""The words an exercise is written in: exercise, check, and what stands in the other modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from autograder.exercise.answers import Answer
from autograder.exercise.earlier import Carried, earlier
from autograder.exercise.exhibit import Exhibit, Shown
from autograder.exercise.part import AuthoringError, Function, Misconception, Part, sentences
from autograder.exercise.standing_in import replaceable


@dataclass(eq=False)
class Check:
    """One property of a submitted function.  Its docstring is the rubric item.

    ``run(call, rng)`` calls the submission through ``call`` and raises ``Mismatch`` where it
    is wrong.  ``call`` may be the sandboxed student, the reference or a misconception.

    Attributes
    ----------
    visible
        Students run a recording of it in their notebook.
    after
        Run only if that check passed.
    gpu
        Run only on a machine with a GPU; elsewhere its score is withheld.
    """

    run: Callable[..., None]
    points: float
    visible: bool = False
    after: Check | None = None
    gpu: bool = False

    @property
    def name(self) -> str:
        """The name under which the check is reported."""
        return self.run.__name__

    @property
    def rubric(self) -> str:
        """The property, in a sentence."""
        return sentences(self.run, "check")


class Exercise:
    """Everything that the grader knows about one exercise.

    An exercise may ask for several functions: the checks, misconceptions and alternatives that
    stand behind a reference are about it.

    Parameters
    ----------
    id
        The catalogue's slug with ``_`` for ``-``; also the solution cell's ``grade_id``.
    title, source
        Shown to students; where the theory comes from.
    pool
        How many variants a release holds.  Without a ``variant`` function there is one.
    """

    def __init__(self, id: str, *, title: str, source: str, pool: int = 64) -> None:
        self.id, self.title, self.source, self._pool = id, title, source, pool
        self.draw: Callable[..., Mapping[str, Any]] | None = None
        self.solution: Function | None = None
        #: The same for each function that students write: its reference, checks and mistakes.
        self.functions: list[Exercise] = []
        self.items: list[Part | Check] = []
        self.misconceptions: list[Misconception] = []
        self.alternatives: list[Function] = []
        #: What students carry here from earlier exercises.
        self.carried: list[Carried] = []
        #: What a portfolio shows of it.
        self.exhibits: list[Exhibit] = []

    def __repr__(self) -> str:
        return f"<Exercise {self.id}: {len(self.items)} items, {self.points:g} points>"

    @property
    def parts(self) -> list[Part]:
        """Answers, in the order in which they were declared."""
        return [item for item in self.items if isinstance(item, Part)]

    @property
    def checks(self) -> list[Check]:
        """Checks, in the order in which they were declared."""
        return [item for item in self.items if isinstance(item, Check)]

    @property
    def solutions(self) -> dict[str, Function]:
        """The references of the functions that students write, by name."""
        found = (function.solution for function in self.functions)
        return {solution.__name__: solution for solution in found if solution}

    @property
    def calling(self) -> bool:
        """Is there a part that is computed with a function of the student's own?"""
        return any(self.solutions.keys() & set(part.needs) for part in self.parts)

    @property
    def pool(self) -> int:
        """Number of variants in a release."""
        return self._pool if self.draw else 1

    @property
    def points(self) -> float:
        """Points for the whole exercise, those given by hand included."""
        return sum(item.points for item in self.items)

    @property
    def auto_points(self) -> float:
        """Points that are given automatically."""
        return self.points - sum(part.points for part in self.parts if part.manual)

    def variant(self, draw: Callable[..., Mapping[str, Any]]) -> Callable[..., Mapping[str, Any]]:
        """Register ``draw(rng)``, which returns one student's numbers by name."""
        self.draw = draw
        return draw

    def part(
        self,
        *,
        points: float,
        answer: Answer,
        carry_if: Callable[[Any], bool] | None = None,
        after: Part | None = None,
    ) -> Callable[[Function], Part]:
        """Register the computation that gives one answer."""

        def register(compute: Function) -> Part:
            if after and (after not in self.parts or after.manual):
                raise AuthoringError(
                    f"{self.id}: `{compute.__name__}` comes after `{after.name}`, which is no part "
                    "before it that is marked at once"
                )
            self._add(part := Part(compute, points, answer, carry_if, after))
            return part

        return register

    def reference(self, solution: Function) -> Function:
        """Register the right implementation of a function that students write."""
        name = solution.__name__
        if name in (function.solution.__name__ for function in self.functions if function.solution):
            raise AuthoringError(f"{self.id} has two references called `{name}`")
        own = Exercise(self.id, title=self.title, source=self.source)
        own.solution, own.carried = solution, self.carried
        if not self.functions:
            self.solution = solution
            own.items += self.checks
            own.misconceptions += self.misconceptions
            own.alternatives += self.alternatives
        self.functions.append(own)
        return solution

    def carries(self, place: str, name: str) -> Function:
        """Let answers build on the student's own function or class of an earlier exercise.

        ``place`` is assignment and exercise, ``"a04_multi_head/mha_numpy"``. What comes is its
        reference. What is wrong by it is looked at once more with the student's own in its place,
        wherever it is called; of a class, and within a check, ``call.own(…)`` is the student's.
        """
        self.carried.append(carried := earlier(place, name))
        return replaceable(carried.solution, name)

    def check(
        self,
        *,
        points: float,
        visible: bool = False,
        after: Check | None = None,
        gpu: bool = False,
    ) -> Callable[[Callable[..., None]], Check]:
        """Register a property of the submitted function."""

        def register(run: Callable[..., None]) -> Check:
            if visible and gpu:
                raise AuthoringError(f"{self.id}: `{run.__name__}` needs a GPU: hide it")
            if after and after.gpu and not gpu:
                raise AuthoringError(
                    f"{self.id}: `{run.__name__}` comes after `{after.name}`, so it needs a GPU too"
                )
            check = Check(run, points, visible, after, gpu)
            if self.functions and after and after not in self.functions[-1].items:
                raise AuthoringError(
                    f"{self.id}: `{check.name}` comes after `{after.name}`, which checks another "
                    "function"
                )
            self._add(check)
            for function in self.functions[-1:]:
                function.items.append(check)
            return check

        return register

    @overload
    def misconception(self, compute: Function) -> Misconception: ...

    @overload
    def misconception(
        self, *, fatal: bool = False, credit: float = 0.0
    ) -> Callable[[Function], Misconception]: ...

    def misconception(
        self, compute: Function | None = None, *, fatal: bool = False, credit: float = 0.0
    ) -> Misconception | Callable[[Function], Misconception]:
        """Register a wrong implementation worth recognising.

        One that is ``fatal`` may cost more than 60 % of the function's points; of each check that
        it fails, ``credit`` is the fraction that it still earns.
        """

        def register(compute: Function) -> Misconception:
            wrong = Misconception(compute, credit, fatal)
            for place in (self, *self.functions[-1:]):
                place.misconceptions.append(wrong)
            return wrong

        return register(compute) if compute else register

    def alternative(self, compute: Function) -> Function:
        """Register another right implementation, written in another style."""
        for place in (self, *self.functions[-1:]):
            place.alternatives.append(compute)
        return compute

    def exhibit(self, show: Callable[..., Shown]) -> Callable[..., Shown]:
        """Register a picture or table for portfolios, made of answers and expensive calls."""
        self.exhibits.append(exhibit := Exhibit(show))
        assert exhibit.caption  # raises AuthoringError where there is no docstring
        return show

    def resting_on(self, part: Part) -> list[Part]:
        """Return the parts that count only where this one is right."""
        found = [part]
        for other in self.parts:
            found += [other] * (other.after in found)
        return found[1:]

    def leave_out_gpu(self) -> None:
        """Do without the checks that need a GPU, and without their points."""
        for place in (self, *self.functions):
            place.items = [i for i in place.items if not (isinstance(i, Check) and i.gpu)]
        self.functions = [function for function in self.functions if function.items]

    def _add(self, item: Part | Check) -> None:
        if item.name in (other.name for other in self.items):
            raise AuthoringError(f"{self.id} has two items called `{item.name}`")
        if not item.points > 0:
            raise AuthoringError(f"{self.id}: `{item.name}` is worth {item.points} points")
        assert item.rubric  # raises AuthoringError where there is no docstring
        self.items.append(item)
