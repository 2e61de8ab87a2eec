"""What is proved of an exercise that builds on earlier code: no mistake is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.course.proofs.parts import right_answers
from autograder.course.proofs.said import lost, shown
from autograder.course.sources import typed
from autograder.exercise import Exercise, FormatError, apply, evaluate, is_trivial, solve
from autograder.exercise.earlier import Carried
from autograder.exercise.source import standalone
from autograder.exercise.standing_in import standing_in
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.local import Local
from autograder.grading.parts import grade_parts
from autograder.grading.results import Item
from autograder.sandbox import StudentError

#: From an exception nothing follows, and a GPU may not be here.
_NOTHING_FOLLOWS = ("student_error", NO_GPU)


def carried_problems(exercise: Exercise, variant: Mapping[str, Any]) -> list[str]:
    """Grade right work on top of each mistake of what it builds on, but the fatal ones."""
    problems = []
    for carried in exercise.carried:
        for wrong in carried.function.misconceptions:
            if wrong.fatal:
                continue
            graded = {"the parts": _parts_on(exercise, variant, carried, wrong.compute)}
            for function in exercise.functions:
                call = _BuiltOn(exercise, function.solution, carried, wrong.compute)
                graded[f"`{call.name}`"] = grade_checks(function, call)
            problems += [
                f"right work on {what}, built on `{carried.name}` with the mistake "
                f"`{wrong.name}`, fails {shown(item)} Call `{carried.name}` for what is right, or "
                f"compare with `call.own({carried.name})`"
                for what, items in graded.items()
                for item in lost(items)
                if item.note not in _NOTHING_FOLLOWS
            ]
    return problems


def _parts_on(
    exercise: Exercise, variant: Mapping[str, Any], carried: Carried, wrong: Callable[..., Any]
) -> list[Item]:
    """Grade what a student works out with an earlier function that is wrong.

    Where nothing comes of it the answer is the right one.
    """
    if isinstance(carried.solution, type):
        return []
    own = {carried.name: Local(wrong)}
    known, true = solve(exercise, variant), right_answers(exercise, variant)
    answers: dict[str, Any] = {}
    for part in exercise.parts:
        with np.errstate(all="ignore"), standing_in(own) as cast:
            try:
                value = evaluate(part, part, known)
                answers[part.name] = typed(part, apply(part, known))
            except (FormatError, StudentError, ArithmeticError, ValueError, LookupError, TypeError):
                value, answers[part.name] = known[part.name], true[part.name]
        shapes = np.shape(value), np.shape(known[part.name])
        if cast.called and (is_trivial(value, known[part.name]) or len(set(shapes)) > 1):
            value, answers[part.name] = known[part.name], true[part.name]
        known[part.name] = value
    with np.errstate(all="ignore"):
        return grade_parts(exercise, variant, answers.__getitem__, earlier=own)


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
