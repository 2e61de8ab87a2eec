"""What a library does in place of the student earns nothing where it is what was to be written."""

import importlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
import torch
import torch._refs
from torch import nn
from torch.nn import functional as F

from autograder.exercise import Exercise, require
from autograder.exercise.words.loading import load_module
from autograder.grading.checks import grade_checks
from autograder.grading.local import Local
from autograder.grading.watched import LIBRARY, Watched
from autograder.sandbox.meters import layers
from autograder.sandbox.meters.layers import watching
from autograder.sandbox.wire.requests import Call, CountWork, Lend

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


def in_a_thread(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(x.softmax, -1).result()


def with_watching_off(x):
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return x.softmax(-1)


def as_torch_defines_it(x):
    return torch._refs.softmax(x, -1)


def not_at_its_door(x):
    with torch._C.DisableTorchFunction():
        return F.softmax(x, -1)


@pytest.mark.parametrize(
    "hidden", [in_a_thread, with_watching_off, as_torch_defines_it, not_at_its_door]
)
def test_a_close_look_finds_what_is_hidden(hidden):
    with watching(("softmax",), closely=True) as seen:
        hidden(torch.ones(2, 3))
    assert seen.words == {"softmax"}


@pytest.fixture
def another_torch(monkeypatch):
    """A torch whose profiler is another one."""
    layers._close.cache_clear()
    monkeypatch.delattr(torch._C._profiler, "_ExperimentalConfig")
    yield
    layers._close.cache_clear()


@pytest.mark.usefixtures("another_torch")
@pytest.mark.parametrize("hidden", [as_torch_defines_it, nn.Softmax(-1)])
def test_without_its_profiler_a_close_look_still_finds_what_it_can(hidden):
    with watching(("softmax",), closely=True) as seen:
        hidden(torch.ones(2, 3))
    assert seen.words == {"softmax"}


def by_hand(x):
    """Modules, gradients turned off, what is imported late, and a function called as theirs."""

    def softmax(x):
        e = (x - x.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    with torch.no_grad():
        importlib.import_module("torch.masked")
        torch.func.vmap(softmax)(nn.Linear(3, 3)(x))
    return softmax(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Dropout())(x))


def test_a_close_look_accuses_nobody():
    kinds = {f.id: f for f in (function(*case[:2]) for case in CASES)}.values()
    words = {word for each in kinds for words in each.without.values() for word in words}
    with watching(words - {"autograd"}, closely=True) as seen:
        by_hand(torch.ones(2, 3))
    assert not seen.words


class Noting(Local):
    """It notes of which requests a close look is asked."""

    def __init__(self):
        super().__init__(lambda q: q)
        self.closely = []

    def ask(self, request):
        self.closely.append(request.closely)
        return super().ask(request)


def test_one_call_of_each_kind_is_looked_at_closely_in_each_check():
    watched = Watched(noting := Noting(), {"it": ("softmax",)})
    for _ in range(2):
        watched.begin()
        for request in (Call((1,), {}), Call((1,), {}), CountWork((1,), {}), Lend((1,), {})):
            watched.ask(request)
    assert noting.closely == 2 * [True, False, False, False]


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
