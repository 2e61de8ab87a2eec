"""The words an exercise is written in: exercise, check, and what stands in the other modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, overload

from autograder.exercise.answers.kind import Answer
from autograder.exercise.standing_in import replaceable
from autograder.exercise.words.checked import Carried, Check, CheckedFunction
from autograder.exercise.words.earlier import earlier
from autograder.exercise.words.exhibit import Exhibit, Shown
from autograder.exercise.words.part import (
    AuthoringError,
    Function,
    Misconception,
    Part,
    arguments,
)

MOST_HINTS = 3


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
    minutes
        How long it takes a student, honestly; None where nobody says.
    pool
        How many variants a release holds.  Where neither a ``variant`` function nor the order of
        statements makes them differ, there is one.
    practice
        How many sets of numbers there are to practise with; or why there are none, which students
        read behind *can't be practised:*.
    hints
        Up to three sentences or two that help on, one after the other, for who asks.
    """

    _frozen = False

    def __init__(
        self,
        id: str,
        *,
        title: str,
        source: str,
        minutes: int | None = None,
        pool: int = 64,
        practice: int | str = 8,
        hints: Sequence[str] = (),
    ) -> None:
        if isinstance(hints, str) or len(hints) > MOST_HINTS:
            raise AuthoringError(f"{id}: hints are a list of at most {MOST_HINTS} texts")
        if minutes is not None and minutes < 1:
            raise AuthoringError(f"{id}: minutes={minutes}; it takes one at least")
        self.id, self.title, self.source, self._pool = id, title, source, pool
        if practice == 0:
            raise AuthoringError(f'{id}: practice=0; say why there is none, practice="it is …"')
        #: Why there is nothing to practise, where the author says it.
        self.unpractised = practice if isinstance(practice, str) else ""
        self.practice = 0 if isinstance(practice, str) else practice
        self.hints, self.minutes = list(hints), minutes
        #: What is practised in place of it.
        self.twin: Exercise | None = None
        self.draw: Callable[..., Mapping[str, Any]] | None = None
        #: The functions that students write: references, checks and mistakes of each.
        self.functions: tuple[CheckedFunction, ...] = ()
        self.items: tuple[Part | Check, ...] = ()
        self.misconceptions: tuple[Misconception, ...] = ()
        self.alternatives: tuple[Function, ...] = ()
        #: What students carry here from earlier exercises.
        self.carried: tuple[Carried, ...] = ()
        #: What a portfolio shows of it.
        self.exhibits: tuple[Exhibit, ...] = ()

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen:
            raise AuthoringError(
                f"{self.id} is loaded, and can't be changed any more: declare what belongs to it "
                "in its own module"
            )
        super().__setattr__(name, value)

    def freeze(self) -> None:
        """Let nothing be changed from now on: its module is loaded."""
        if self.twin is not None:
            self.twin.freeze()
        self._frozen = True

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
        return {function.name: function.solution for function in self.functions}

    @property
    def calling(self) -> bool:
        """Is there a part that is computed with a function of the student's own?"""
        routes = [route for part in self.parts for route in part.routes]
        return any(self.solutions.keys() & set(arguments(route)) for route in routes)

    @property
    def pool(self) -> int:
        """Number of variants in a release."""
        mixed = any(part.answer.mixed for part in self.parts)
        return self._pool if self.draw or mixed else 1

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

    def for_practice(self, *parts: Part) -> Exercise:
        """Return an exercise that is practised in place of this one: give it a `variant`.

        It has these parts of this one, and those that are declared with it; their points and
        their docstrings are as of any part, and further paragraphs are shown as well.
        """
        self.twin = Exercise(self.id, title=self.title, source=self.source, pool=self.practice)
        self.twin.items = tuple(parts)
        return self.twin

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

    @overload
    def reference(self, solution: Function) -> Function: ...

    @overload
    def reference(
        self, *, without: Mapping[str, tuple[str, ...]]
    ) -> Callable[[Function], Function]: ...

    def reference(
        self,
        solution: Function | None = None,
        *,
        without: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Function | Callable[[Function], Function]:
        """Register the right implementation of a function that students write.

        What builds on it in this exercise may so get the student's own in its place.

        ``without`` says what of a library may not be used for it, since it is what is to be
        written: ``{"the library's sorting": ("sort",)}``, words in the names of torch's
        functions and operations by what that is called in a sentence.  It is found where the
        function is called, under whatever name the student's code has it; `check` in the notebook
        says it, and the exercise's text should.
        """
        if solution is None:
            return lambda solution: self._reference(solution, without or {})
        return self._reference(solution, {})

    def _reference(self, solution: Function, without: Mapping[str, tuple[str, ...]]) -> Function:
        if (name := solution.__name__) in self.solutions:
            raise AuthoringError(f"{self.id} has two references called `{name}`")
        function = CheckedFunction(self.id, solution, carried=self.carried, without=without)
        if not self.functions:  # what was declared before is about the first one
            function = replace(
                function,
                checks=tuple(self.checks),
                misconceptions=self.misconceptions,
                alternatives=self.alternatives,
            )
        self.functions = (*self.functions, function)
        return replaceable(solution, f"{self.id}.{name}")

    def carries(self, place: str, name: str) -> Function:
        """Let answers build on the student's own function or class of an earlier exercise.

        ``place`` is assignment and exercise, ``"a04_waves/spectrum"``. What comes is its
        reference. What is wrong by it is looked at once more with the student's own in its place,
        wherever it is called; of a class, and within a check, ``call.own(…)`` is the student's.
        """
        self.carried = (*self.carried, carried := earlier(place, name))
        self.functions = tuple(replace(each, carried=self.carried) for each in self.functions)
        return replaceable(carried.solution, name)

    def check(
        self,
        *,
        points: float,
        visible: bool = False,
        after: Check | None = None,
        gpu: bool = False,
        draws: str = "",
    ) -> Callable[[Callable[..., None]], Check]:
        """Register a property of the submitted function.

        Checks of a function with the same ``draws`` get generators that give the same: with what
        each draws first they can ask for one and the same training run.
        """

        def register(run: Callable[..., None]) -> Check:
            if visible and gpu:
                raise AuthoringError(f"{self.id}: `{run.__name__}` needs a GPU: hide it")
            if after and after.gpu and not gpu:
                raise AuthoringError(
                    f"{self.id}: `{run.__name__}` comes after `{after.name}`, so it needs a GPU too"
                )
            check = Check(run, points, visible, after, gpu, draws)
            if self.functions and after and after not in self.functions[-1].checks:
                raise AuthoringError(
                    f"{self.id}: `{check.name}` comes after `{after.name}`, which checks another "
                    "function"
                )
            self._add(check)
            self._of_last(lambda function: replace(function, checks=(*function.checks, check)))
            return check

        return register

    @overload
    def misconception(self, compute: Function) -> Misconception: ...

    @overload
    def misconception(
        self, *, fatal: str = "", credit: float = 0.0
    ) -> Callable[[Function], Misconception]: ...

    def misconception(
        self, compute: Function | None = None, *, fatal: str = "", credit: float = 0.0
    ) -> Misconception | Callable[[Function], Misconception]:
        """Register a wrong implementation worth recognising.

        Checks that fail by it are paid for once, and at most 60 % of the function's points with it,
        unless ``fatal`` says why nothing of the function is left; of each check that it fails,
        ``credit`` is the fraction that it still earns.
        """
        if not isinstance(fatal, str):
            raise AuthoringError(
                f'{self.id}: say why a mistake is fatal, fatal="nothing is sampled": without a '
                "reason it keeps two fifths of the function's points"
            )

        def register(compute: Function) -> Misconception:
            wrong = Misconception(compute, credit, fatal)
            self.misconceptions = (*self.misconceptions, wrong)
            self._of_last(
                lambda function: replace(function, misconceptions=(*function.misconceptions, wrong))
            )
            return wrong

        return register(compute) if compute else register

    def alternative(self, compute: Function) -> Function:
        """Register another right implementation, written in another style."""
        self.alternatives = (*self.alternatives, compute)
        self._of_last(
            lambda function: replace(function, alternatives=(*function.alternatives, compute))
        )
        return compute

    def given(self, compute: Function) -> Function:
        """Register a right version to build on for who leaves the function out: no answer to it."""
        self._of_last(lambda function: replace(function, given=compute))
        return compute

    def exhibit(self, show: Callable[..., Shown]) -> Callable[..., Shown]:
        """Register a picture or table for portfolios, made of answers and expensive calls."""
        self.exhibits = (*self.exhibits, exhibit := Exhibit(show))
        assert exhibit.caption  # raises AuthoringError where there is no docstring
        return show

    def resting_on(self, part: Part) -> list[Part]:
        """Return the parts that count only where this one is right."""
        found = [part]
        for other in self.parts:
            found += [other] * (other.after in found)
        return found[1:]

    def only(self, names: Collection[str]) -> Exercise:
        """Return the same with no items but the parts of these names."""
        other = copy(self)
        vars(other)["items"] = tuple(part for part in self.parts if part.name in names)
        return other

    def leave_out_gpu(self) -> None:
        """Do without the checks that need a GPU, and without their points."""
        self.items = tuple(i for i in self.items if not (isinstance(i, Check) and i.gpu))
        without = (
            replace(each, checks=tuple(check for check in each.checks if not check.gpu))
            for each in self.functions
        )
        self.functions = tuple(function for function in without if function.checks)

    def _of_last(self, changed: Callable[[CheckedFunction], CheckedFunction]) -> None:
        """Change the function that was declared last, if there is one."""
        if self.functions:
            self.functions = (*self.functions[:-1], changed(self.functions[-1]))

    def _add(self, item: Part | Check) -> None:
        if item.name in (other.name for other in self.items):
            raise AuthoringError(f"{self.id} has two items called `{item.name}`")
        if not item.points > 0:
            raise AuthoringError(f"{self.id}: `{item.name}` is worth {item.points} points")
        assert item.rubric  # raises AuthoringError where there is no docstring
        self.items = (*self.items, item)
