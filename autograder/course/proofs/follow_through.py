"""What is proved of an exercise that builds on earlier code: no mistake is paid for twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograder.course.proofs.part_proofs import right_answers
from autograder.course.proofs.said import lost, shown
from autograder.course.proofs.sources import typed
from autograder.exercise import Exercise, Part
from autograder.exercise.answers.slips import is_trivial
from autograder.exercise.standing_in import standing_in
from autograder.exercise.words.carried_source import all_carried
from autograder.exercise.words.checked import Carried, CheckedFunction
from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.part import arguments
from autograder.exercise.words.source import standalone
from autograder.grading.budget import Exhausted, judging
from autograder.grading.callee import Callee
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.diagnosis import NO_VALUE
from autograder.grading.local import Local
from autograder.grading.own import own_function
from autograder.grading.parts import grade_parts
from autograder.grading.results import Item

#: From an exception nothing follows, and a GPU may not be here.
_NOTHING_FOLLOWS = ("student_error", NO_GPU)


def carried_problems(exercise: Exercise, variant: Mapping[str, Any]) -> list[str]:
    """Grade right work on top of each mistake of what it builds on, but the fatal ones.

    What that was built on in turn comes with students' code, mistakes and all.
    """
    problems: list[str] = []
    reached = [_reached(each) for each in exercise.functions if exercise.carried]
    for carried in all_carried(exercise.carried):
        for wrong in carried.function.misconceptions:
            if wrong.fatal:
                continue
            own = _with(wrong.compute, carried, exercise.carried)
            changed = {
                one.name: own[one.name]
                for one in exercise.carried
                if own[one.name] is not one.solution
            }
            graded = {"the parts": _parts_on(exercise, variant, changed)}
            for function, ways in zip(exercise.functions, reached, strict=True):
                for right, words in ways.items():
                    if not changed.keys().isdisjoint(words):
                        call = _BuiltOn(right, own)
                        graded[f"`{call.name}`"] = grade_checks(function, call)
            problems += [
                f"right work on {what}, built on `{carried.name}` with the mistake "
                f"`{wrong.name}`, fails {shown(item)} Call {_listed(changed)} for what is right, "
                f"or compare with {_listed(f'call.own({name})' for name in changed)}"
                for what, items in graded.items()
                for item in lost(items)
                if item.note not in _NOTHING_FOLLOWS
            ]
    return problems


def own_problems(exercise: Exercise, variant: Mapping[str, Any]) -> list[str]:
    """Grade what follows from each mistake of a function that the exercise itself asks for.

    Where nothing follows, as from an exception, nothing is said.
    """
    if not exercise.calling:
        return []
    problems = []
    known, true = solve(exercise, variant), right_answers(exercise, variant)
    for function in exercise.functions:
        name, others = function.name, {**exercise.solutions}
        for wrong in function.misconceptions:
            if wrong.fatal:
                continue
            own = {
                each: _own(right, wrong.compute if each == name else right)
                for each, right in others.items()
            }
            answers, follow = {**true}, []
            for part in exercise.parts:
                ways = [way for way in part.routes if name in arguments(way)]
                answer = _computed(part, ways[0], {**known, **own}) if ways else None
                if answer is not None:
                    answers[part.name] = answer
                    follow.append(part.name)
            if not follow:
                continue
            items = grade_parts(exercise, variant, answers.__getitem__, functions=own)
            problems += [
                f"what follows from `{name}` with the mistake `{wrong.name}` fails {shown(item)}"
                for item in lost(items)
                if item.name in follow
            ]
    return problems


def _computed(part: Part, way: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Return what a way to an answer gives, unless it gives none, or one that takes no work."""
    right = known[part.name]
    try:
        with np.errstate(all="ignore"):
            value = judging(part.name, lambda: evaluate(part, way, known))
            if is_trivial(value, right) or np.shape(value) != np.shape(right):
                return None
            return typed(part, apply(way, known), known)
    except (*NO_VALUE, Exhausted):  # some mistakes are in the work that is done
        return None


def _own(solution: Callable[..., Any], wrong: Callable[..., Any]) -> Any:
    """Return a function or class as that of a student's."""
    return own_function(solution, Local(wrong).ask)


def _reached(function: CheckedFunction) -> dict[Callable[..., Any], set[str]]:
    """Return the words of the reference, and what alternatives have that it doesn't build on."""
    words = _words(function.solution, *(check.run for check in function.checks))
    others = {way: _words(way) - words for way in function.alternatives}
    return {function.solution: words, **others}


def _words(*codes: Callable[..., Any]) -> set[str]:
    """Return the words in the code of functions, with all that they call."""
    return set(re.findall(r"\w+", "".join(standalone(code, code.__name__) for code in codes)))


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _with(
    wrong: Callable[..., Any], mistaken: Carried, carried: Iterable[Carried]
) -> dict[str, Any]:
    """Return earlier functions by name, as a student has them of whom one is wrong."""
    found = {}
    for one in carried:
        below = _with(wrong, mistaken, one.below)
        found[one.name] = one.solution
        if one.place == mistaken.place:
            found[one.name] = wrong
        elif any(below[each.name] is not each.solution for each in one.below):
            found[one.name] = _rebuilt(one.solution, below)
    return found


def _rebuilt(solution: Callable[..., Any], below: Mapping[str, Any]) -> Callable[..., Any]:
    """Define a reference anew on top of other earlier functions."""
    names = dict(below)
    exec(standalone(solution, solution.__name__), names)
    found: Callable[..., Any] = names[solution.__name__]
    return found


def _parts_on(
    exercise: Exercise, variant: Mapping[str, Any], functions: Mapping[str, Any]
) -> list[Item]:
    """Grade what a student works out with earlier functions that are wrong.

    Where nothing comes of them the answer is the right one.
    """
    own = {name: _own(each, each) for name, each in functions.items()}
    if not own:
        return []
    known, true = solve(exercise, variant), right_answers(exercise, variant)
    answers: dict[str, Any] = {}
    for part in exercise.parts:
        with np.errstate(all="ignore"), standing_in(own) as cast:
            try:
                value = evaluate(part, part, known)
                answers[part.name] = typed(part, apply(part, known), known)
            except NO_VALUE:
                value, answers[part.name] = known[part.name], true[part.name]
        shapes = np.shape(value), np.shape(known[part.name])
        if cast.called and (is_trivial(value, known[part.name]) or len(set(shapes)) > 1):
            value, answers[part.name] = known[part.name], true[part.name]
        known[part.name] = value
    with np.errstate(all="ignore"):
        return grade_parts(exercise, variant, answers.__getitem__, earlier=own)


class _BuiltOn(Local):
    """A reference as a student has it whose earlier code is wrong."""

    def __init__(self, solution: Any, own: Mapping[str, Any]) -> None:
        self.name, self._own = solution.__name__, own
        super().__init__(_rebuilt(solution, own))

    def own(self, solution: Callable[..., Any]) -> Callee:
        """Return another function of the student's."""
        return Local(self._own.get(solution.__name__, solution))
