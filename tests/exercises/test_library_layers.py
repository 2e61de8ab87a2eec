"""What a library does in place of the student earns nothing where it is what was to be written."""

from functools import cache

import numpy as np
import pytest

from autograder.exercise import Exercise, require
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
    """A function on top of an earlier one of the same student; with ours, it is another one."""

    def __init__(self, function, on_ours):
        super().__init__(function)
        self.ours = on_ours

    def on_ours(self):
        return self.ours and Local(self.ours)


def by_the_library(q):
    return my_own(*tensors(q, q, q)).numpy()


def wrong(q):
    return q[0]


@pytest.mark.parametrize(
    ("on_ours", "earned", "note"),
    [
        (np.exp, 1, ""),
        (by_the_library, 0, LIBRARY),
        (wrong, 0, ""),
        (None, 0, LIBRARY),
    ],
)
def test_what_an_earlier_function_leaves_to_a_library_costs_nothing_behind_it(
    on_ours, earned, note
):
    later = asked("later", "safe_softmax")
    (item,) = grade_checks(later, Building(by_the_library, on_ours))
    assert (item.score, item.note) == (earned, note), item
    assert ("a right version took its place" in item.feedback) == (note != LIBRARY)
