"""What a library does in place of the student earns nothing where it is what was to be written."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from autograder.exercise import Exercise, require
from autograder.exercise.words.checked import Carried
from autograder.exercise.words.loading import load_module
from autograder.grading.checks import grade_checks
from autograder.grading.local import Local
from autograder.grading.watched import LIBRARY, Watched
from autograder.sandbox.wire.requests import Call

from ..loaded import ROOT
from .library_layers import CASES, my_own, tensors


@cache
def function(path, name):
    exercise = load_module(ROOT / "reference" / f"{path}.py").exercise
    exercise.leave_out_gpu()
    return next(each for each in exercise.functions if each.name == name)


@pytest.mark.parametrize(("path", "name", "cheat"), CASES)
def test_a_library_layer_earns_nothing_where_the_layer_is_the_task(path, name, cheat):
    own = function(path, name)
    items = grade_checks(own, cheat)
    assert sum(item.score or 0 for item in items) == 0, items
    assert {item.note for item in items} <= {LIBRARY, "skipped", "student_error", "not_timed"}
    assert LIBRARY in {item.note for item in items}


@pytest.mark.parametrize(("path", "name"), sorted({case[:2] for case in CASES}))
def test_the_reference_and_its_alternatives_do_without(path, name):
    own = function(path, name)
    for right in (own.solution, *own.alternatives):
        assert LIBRARY not in {item.note for item in grade_checks(own, right)}


def test_what_is_looked_for_is_found_under_an_alias_and_nothing_else_is():
    watched = Watched(Local(lambda q: my_own(*tensors(q, q, q)).numpy()), {"it": ("safe_softmax",)})
    q = np.ones((2, 3))
    other = Watched(Local(lambda q: np.exp(q)), {"it": ("safe_softmax",)})
    assert watched.ask(Call((q,), {})).layers
    assert not other.ask(Call((q,), {})).layers


def asked(name, without):
    """A function of which a check asks its shape alone."""
    exercise = Exercise(name, title=name, source="none")
    exercise.reference(without={"a softmax": (without,)})(lambda q: 0 * q)

    @exercise.check(points=1)
    def shape(call, rng):
        """It has the shape of q."""
        require(np.shape(call(rng.normal(size=(2, 3)))) == (2, 3), "the shape is another one")

    return exercise.functions[0]


class Building(Local):
    """A function on top of an earlier one of the same student."""

    def __init__(self, function, earlier):
        super().__init__(function)
        self.earlier = earlier

    def own(self, _solution):
        return Local(self.earlier)


def by_the_library(q):
    return my_own(*tensors(q, q, q)).numpy()


@pytest.mark.parametrize(
    ("earlier", "forbidden", "earned"),
    [(by_the_library, "safe_softmax", 1), (np.exp, "safe_softmax", 0), (by_the_library, "gelu", 0)],
)
def test_what_an_earlier_function_leaves_to_a_library_is_paid_for_there(earlier, forbidden, earned):
    first, later = asked("first", forbidden), asked("later", "safe_softmax")
    later = replace(later, carried=(Carried("a01", "first", first),))
    (item,) = grade_checks(later, Building(by_the_library, earlier))
    assert (item.score, item.note == LIBRARY) == (earned, not earned), item
