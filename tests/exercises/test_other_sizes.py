"""A function that is right for the sizes of its visible check alone fails a hidden one."""

import inspect
from dataclasses import replace
from functools import wraps

import numpy as np
import pytest

from autograder.exercise.words.part import computation
from autograder.grading.checks import grade_checks
from autograder.grading.results import Status

from ..loaded import COURSE, assigned

FUNCTIONS = {
    f"{id}-{function.name}": function
    for assignment in COURSE.ids()
    for id, exercise in assigned(assignment).sound.items()
    for function in exercise.functions
    if not inspect.isclass(computation(function.solution))
    and {check.visible for check in function.checks if not check.gpu} == {True, False}
}


def sizes(given):
    """Whole numbers, the lengths of texts, and the shapes of arrays and tensors."""
    if hasattr(given, "shape"):
        return tuple(given.shape)
    if isinstance(given, dict):
        return tuple((key, sizes(value)) for key, value in given.items())
    if isinstance(given, tuple | list):
        return tuple(map(sizes, given))
    return len(given) if isinstance(given, str) else given if isinstance(given, int) else None


def off(result):
    """Another result of the same form."""
    if isinstance(result, str):
        return result + "."
    if isinstance(result, dict):
        return {key: off(value) for key, value in result.items()}
    if isinstance(result, tuple | list):
        return type(result)(map(off, result))
    kind = np.asarray(result).dtype.kind
    if kind == "b":
        return np.logical_not(result)
    return result + 1 if kind in "iu" else 1.05 * result + 0.01


def passes(function, checks, call):
    """Tell whether each of these checks passes by itself."""
    for check in checks:
        alone = replace(function, misconceptions=(), checks=(replace(check, after=None),))
        (item,) = grade_checks(alone, call)
        if item.status is not Status.PASSED:
            return False
    return True


@pytest.mark.parametrize("name", FUNCTIONS)
def test_hidden_checks_take_other_sizes(name):
    function, seen, looking = FUNCTIONS[name], set(), True
    solution = computation(function.solution)

    @wraps(solution)
    def of_sizes_that_were_seen(*args, **kwargs):
        given, result = sizes((args, kwargs)), solution(*args, **kwargs)
        if looking:
            seen.add(given)
        return result if given in seen else off(result)

    checks = [check for check in function.checks if not check.gpu]
    assert passes(function, [c for c in checks if c.visible], of_sizes_that_were_seen)
    looking = False
    assert not passes(function, [c for c in checks if not c.visible], of_sizes_that_were_seen)
