"""Grade one exercise: read its answers where its check cell stands, call its functions later."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from autograder.exercise import Exercise
from autograder.exercise.words.carried_source import all_carried
from autograder.exercise.words.checked import Carried
from autograder.exercise.words.given import hands_over
from autograder.grading.as_references import AsReferences
from autograder.grading.budget import TOO_MUCH
from autograder.grading.checks import grade_checks
from autograder.grading.gpu import Gpu
from autograder.grading.own import (
    Ask,
    Earlier,
    Places,
    own_function,
    supplied,
)
from autograder.grading.parts import PartsGrading
from autograder.grading.phases import Calls, Cells
from autograder.grading.pricing import paid_once
from autograder.grading.results import ExerciseGrade, Item, Status
from autograder.grading.student import StudentCall
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import Reply, StudentError


@dataclass(frozen=True)
class Assigned:
    """One exercise as one student has it.

    Attributes
    ----------
    exercise
        None where the author's module is broken; then ``fault`` says how.
    max_score
        Points as released.
    variant, pool
        Index of the student's numbers, and the numbers of everybody.
    """

    id: str
    exercise: Exercise | None
    max_score: float
    variant: int = 0
    pool: Sequence[Mapping[str, Any]] = ({},)
    fault: str = ""


class OneExercise:
    """One exercise of a submission, while it is graded.

    What goes wrong in it withholds its score: it is never the student's loss, and never the next
    exercise's.

    Attributes
    ----------
    exercise
        None where it is broken.
    stopped
        Why its solution cell stopped, if it did.
    """

    def __init__(self, assigned: Assigned, secret: str = "") -> None:
        self._assigned = assigned
        self._secret = secret
        self.exercise = assigned.exercise
        self._items: dict[str, Item] = {}
        self._values: dict[str, Any] = {}  # answers that wait for the functions they depend on
        self._judged: PartsGrading | None = None  # without these, where that can be
        self._fault = ""
        self._number = 0
        self._left: Mapping[str, StudentError] = {}
        self.stopped: StudentError | None = None
        if self.exercise is None:
            self._fault = f"This exercise can't be graded now ({assigned.fault})."

    def read(
        self, cells: Cells, number: int = 0, left: Mapping[str, StudentError] | None = None
    ) -> None:
        """Grade the answers, as they are before cell ``number``.

        ``left`` says which of the names are no answers of this exercise, and why.
        """
        self._number, self._left = number, left or {}
        exercise = self.exercise
        if exercise is None:
            return
        with self._withholding():
            names = self._names
            values = {**cells.read_all(names), **self._left}
            for name in names:
                if name not in values:
                    try:
                        values[name] = cells.read(name)
                    except StudentError as error:
                        values[name] = error
            if exercise.calling:
                self._values = values
            else:
                grading = PartsGrading(exercise, self._variant)
                self._judge(grading, values)
                if exercise.carried and any(map(_may_follow, self._items.values())):
                    self._values, self._judged = values, grading
            if exercise.solutions:
                cells.keep(number, exercise.solutions, self._used)

    def ahead(self, cells: Cells, number: int) -> None:
        """Say what `read` will ask for: so the cell that runs next answers it as well."""
        if self.exercise is not None:
            cells.ahead(number, self._names, self.exercise.solutions, self._used)

    @property
    def _names(self) -> list[str]:
        parts = self.exercise.parts if self.exercise else ()
        return [part.name for part in parts if not part.manual]

    @property
    def _used(self) -> list[str]:
        return [one.name for one in all_carried(self.carried)]

    def _judge(self, grading: PartsGrading, values: Mapping[str, Any]) -> None:
        def read(name: str) -> Any:
            if isinstance(values[name], StudentError):
                raise values[name]
            return values[name]

        found = grading.judged(read).items(self._assigned.pool)
        self._items |= {item.name: item for item in found}

    @property
    def _variant(self) -> Mapping[str, Any]:
        return self._assigned.pool[self._assigned.variant]

    def call(
        self,
        calls: Calls,
        yardstick: Yardstick | None,
        gpu: Gpu | None,
        places: Places,
        right: AsReferences,
    ) -> None:
        """Check the functions, as they were before that cell.

        What they and answers build on is taken as it was where it was graded, and what the
        notebook lacks of it as it should be.  ``right`` is what answered there as the references
        do; what is graded here adds to it.
        """
        exercise = self.exercise
        if exercise is None or self._fault:
            return
        with self._withholding():
            calling = bool(exercise.functions)
            earlier = Earlier(
                calls, exercise.carried, places, self._number, right.has, calling=calling
            )
            if calling:
                calls.turn_back(self._number)
                supplied(calls, exercise.carried)
            for function in exercise.functions:
                lost = self._left.get(function.name)
                with StudentCall(calls, function.solution, yardstick, gpu, earlier, lost) as call:
                    watch = right.watching(function)
                    found = grade_checks(function, call, secret=self._secret, watch=watch)
                right.graded(function, found)
                found = _with_supplied(found, calls.supplied())
                self._items |= {item.name: item for item in found}
                calls.forget()
            if self._values:  # now it is known which functions are as their references
                own = earlier.functions()
                if self._judged is None:
                    functions = {
                        name: own_function(
                            solution,
                            self._asking(calls, name),
                            right=right.has(exercise.id, name),
                        )
                        for name, solution in exercise.solutions.items()
                    }
                    self._judge(
                        PartsGrading(exercise, self._variant, functions=functions, earlier=own),
                        self._values,
                    )
                elif own:
                    self._judge(self._judged.following(own), self._values)
            self._items = {item.name: item for item in paid_once([*self._items.values()])}
            if any(item.note == TOO_MUCH for item in self._items.values()):
                calls.abandon()

    def _asking(self, calls: Calls, name: str) -> Ask:
        def ask(request: Any) -> Reply:
            if name in self._left:
                raise self._left[name]
            return calls.ask(name, request)

        return ask

    @property
    def hints(self) -> int:
        """How many hints there are."""
        return len(self.exercise.hints) if self.exercise else 0

    @property
    def carried(self) -> Sequence[Carried]:
        """What it builds on."""
        return self.exercise.carried if self.exercise else ()

    @property
    def place(self) -> int:
        """The number of its check cell."""
        return self._number

    def order(self, calls: Calls, waiting: Collection[str]) -> int:
        """Return when to call, so that few cells are run again: the smallest numbers come first.

        Answers wait for the earlier functions that they may follow from, of exercises that are
        ``waiting``: it is of no use to ask those that are as their references.
        """
        functions = self.exercise.functions if self.exercise else ()
        if not functions:
            return 4 if any(one.exercise in waiting for one in self.carried) else 1
        if not calls.kept(self._number):
            return 3
        # A process that got functions of ours is of no use to others afterwards.
        return 2 if any(hands_over(each.checks[0].run) for each in functions) else 0

    @property
    def grade(self) -> ExerciseGrade:
        """What was found."""
        assigned, exercise = self._assigned, self.exercise
        if exercise is not None and not self._fault:
            items = [self._because(self._items[item.name]) for item in exercise.items]
            return ExerciseGrade.of(exercise.id, items, variant=assigned.variant)
        text = f"{self._fault} The score is withheld; a person will look at it."
        item = Item(assigned.id, "", Status.ERRORED, None, assigned.max_score, "grader_error", text)
        return ExerciseGrade.of(assigned.id, [item], variant=assigned.variant)

    @contextmanager
    def _withholding(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # ours: one exercise is withheld
            self._fault = f"The grader failed here ({type(error).__name__}: {error})."

    def _because(self, item: Item) -> Item:
        """Say that an answer, or something that it uses, is missing because its cell stopped."""
        if self.stopped is None or item.note not in ("blank", "student_error"):
            return item
        why = self.stopped.message.rstrip(".") + "."
        if item.note == "student_error":
            return replace(item, feedback=f"{item.feedback} Its cell had stopped before: {why}")
        note = "timeout" if self.stopped.kind == "timeout" else "cell_error"
        text = f"There is no answer to read, because the cell stopped: {why}"
        return replace(item, note=note, feedback=text)


def _with_supplied(items: list[Item], names: Sequence[str]) -> list[Item]:
    """Say which of ours were called for what the notebook lacks, with an item that says nothing."""
    first = next((item for item in items if not item.feedback), None)
    if not names or first is None:
        return items
    listed = " and ".join(f"`{name}`" for name in names)
    verb = "is" if len(names) == 1 else "are"
    text = f"{listed} {verb} not in your notebook; a right version took the place."
    return [replace(item, feedback=text) if item is first else item for item in items]


def _may_follow(item: Item) -> bool:
    """Tell whether an answer is there that may be right by the student's own earlier functions."""
    return item.status in (Status.FAILED, Status.PARTIAL) and bool(item.given)
