"""What is proved of an exercise that builds on earlier code: no mistake is paid for twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.course.proofs.said import lost, shown
from autograder.exercise import Exercise
from autograder.exercise.earlier import Carried
from autograder.exercise.source import standalone
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.local import Local


def carried_problems(exercise: Exercise) -> list[str]:
    """Grade the references on top of each mistake of what they build on, but the fatal ones."""
    problems = []
    for carried in exercise.carried:
        for wrong in carried.function.misconceptions:
            if wrong.fatal:
                continue
            for function in exercise.functions:
                call = _BuiltOn(exercise, function.solution, carried, wrong.compute)
                problems += [
                    f"`{call.name}` is right, built on `{carried.name}` with the mistake "
                    f"`{wrong.name}`, and fails {shown(item)} Compare with "
                    f"`call.own({carried.name})`"
                    for item in lost(grade_checks(function, call))
                    if item.note != NO_GPU
                ]
    return problems


class _BuiltOn(Local):
    """A reference as a student has it whose earlier code is wrong."""

    def __init__(
        self, exercise: Exercise, solution: Any, carried: Carried, wrong: Callable[..., Any]
    ) -> None:
        self.name = solution.__name__
        self._names = {one.name: one.solution for one in exercise.carried} | {carried.name: wrong}
        exec(standalone(solution, self.name), self._names)
        super().__init__(self._names[self.name])

    def own(self, solution: Callable[..., Any]) -> Local:
        """Return another function of the student's."""
        return Local(self._names.get(solution.__name__, solution))
