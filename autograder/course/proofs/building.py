"""What a reference computes with, although students have written that themselves before."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from autograder.course.discover import Assignment
from autograder.exercise import CheckedFunction, Exercise, Mismatch
from autograder.exercise.standing_in import standing_in
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.part import arguments, computation
from autograder.grading.checks import grade_checks
from autograder.grading.interview import Interview
from autograder.grading.repeat import repeats
from autograder.grading.replay import seed_of
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import Request
from autograder.student.differences import Comparison, difference

Function = Callable[..., Any]


class _HelperCall(NamedTuple):
    """A function that is called, and by which name in which module."""

    name: str
    function: Function
    names: dict[str, Any]


def building_problems(
    assignment: Assignment, exercise: Exercise, variant: Mapping[str, Any]
) -> list[str]:
    """Find what answers are computed with that an earlier exercise of the notebook asks for.

    A student may call the function written there, and would pay for its mistake again. It is found
    by its name, or by what it returns; and what comes out is the same with the earlier one.
    """
    carried = {one.name for one in exercise.carried}
    own = {*exercise.solutions, *carried}
    helpers = _helpers(exercise)
    problems = []
    for id, earlier in assignment.sound.items():
        if id == exercise.id:
            break
        for function in earlier.functions:
            name = function.name
            if name in own or isinstance(function.solution, type):
                continue
            for helper in helpers:
                alike = helper.name == name or _does_the_same(function, helper)
                if alike and _serves(function.solution, helper, exercise, variant):
                    call = f'`{name} = exercise.carries("{assignment.id}/{id}", "{name}")`'
                    problems.append(
                        f"answers are computed with `{helper.name}`, which students have from "
                        f"{id}: {call} lets what follows from their own count"
                    )
    return problems


def asked_problems(exercise: Exercise, variant: Mapping[str, Any]) -> list[str]:
    """Find answers that are computed with a function that the exercise itself asks for.

    Unless a route of theirs names it, what follows from the student's own doesn't count.
    """
    problems = []
    own = {f"{exercise.id}.{name}": each for name, each in exercise.solutions.items()}
    known = solve(exercise, variant) if own else {}
    for part in exercise.parts if own else ():
        with standing_in(own) as cast, np.errstate(all="ignore"):
            evaluate(part, part, known)
        named = {name for route in part.routes for name in arguments(route)}
        for name in sorted({each.rpartition(".")[2] for each in cast.called} - named):
            problems.append(
                f"`{part.name}` is computed with `{name}`, which students write here: an "
                f"alternative that takes `{name}` as an argument lets what follows from their own "
                "count"
            )
    return problems


def unlike_problems(exercise: Exercise) -> list[str]:
    """Find answers that don't follow from the student's function, where one beside them does.

    Both build on the same earlier answer: what students get from that they may get from the
    function in both, counts for their numbers and counts for a long text.
    """
    parts, functions = {part.name for part in exercise.parts}, exercise.solutions.keys()
    needs = {
        part.name: {name for route in part.routes for name in arguments(computation(route))}
        for part in exercise.parts
    }
    return [
        f"`{name}` doesn't follow from `{function}`, as `{other}` does, which builds on "
        f"`{shared}`, too: give it an alternative that takes `{function}` as an argument"
        for name, own in needs.items()
        for other, others in needs.items()
        if not own & functions
        for function in sorted(others & functions)
        for shared in sorted(own & others & parts)
    ]


def _helpers(exercise: Exercise) -> list[_HelperCall]:
    """Return the functions of a module that right answers are computed with."""
    computes = [part.compute for part in exercise.parts if not part.manual]
    computes += [f for f in exercise.solutions.values() if inspect.isfunction(f)]
    found: dict[Function, _HelperCall] = {}
    waiting = list(computes)
    while waiting:
        for helper in _called(inspect.unwrap(waiting.pop())):
            if inspect.unwrap(helper.function) not in {*map(inspect.unwrap, found), *computes}:
                found[helper.function] = helper
                waiting.append(helper.function)
    return list(found.values())


def _called(function: Function) -> Iterator[_HelperCall]:
    """Yield the functions among the globals that a function names."""
    for name in _named(function.__code__):
        value = function.__globals__.get(name)
        if inspect.isfunction(value) and value.__module__.startswith("reference."):
            yield _HelperCall(name, value, function.__globals__)


def _named(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in a function, and in those within it."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(_named, inner))


class _Few(Interview):
    """Records two calls, which tell functions apart: some checks call for seconds."""

    def ask(self, request: Request) -> Any:
        if len(self.calls) == 2:
            raise Mismatch("enough")
        return super().ask(request)


@cache
def _asked(function: CheckedFunction) -> Interview:
    """Return the first calls of a check that calls a function for what it returns."""
    interview = Interview(function.solution)
    for check in function.checks:
        if check.gpu:
            continue
        interview = _Few(function.solution)
        with contextlib.suppress(Mismatch, StudentError):
            check.run(interview, seed_of(function, check))
        if interview.calls and not interview.metered:
            break
    return interview


def _serves(
    solution: Function, helper: _HelperCall, exercise: Exercise, variant: Mapping[str, Any]
) -> bool:
    """Tell whether an earlier function returns the same wherever the helper is called."""
    alike: list[bool] = []

    def both(*args: object, **kwargs: object) -> Any:
        value = helper.function(*args, **kwargs)
        with contextlib.suppress(Exception):  # the author's: then they differ
            alike.append(not difference(value, solution(*args, **kwargs), Comparison(dtype=True)))
            return value
        alike.append(False)
        return value

    helper.names[helper.name] = both
    try:
        with standing_in({solution.__name__: solution}), np.errstate(all="ignore"):
            solve(exercise, variant)
            for function in exercise.functions:
                grade_checks(function, function.solution)
    finally:
        helper.names[helper.name] = helper.function
    return bool(alike) and all(alike)


def _does_the_same(function: CheckedFunction, helper: _HelperCall) -> bool:
    asked = _asked(function)
    return bool(asked.calls) and not asked.metered and repeats(asked.calls)(helper.function, True)
