"""What an exercise builds on is what was graded, whatever later cells make of it."""

from dataclasses import replace

import numpy as np
import pytest

from autograder.exercise import Exercise, Numbers, agree, require, seeded
from autograder.exercise.standing_in import replaceable
from autograder.exercise.words.checked import Carried
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.sandbox import Limits, Zygote

pytestmark = pytest.mark.sandbox


def weights(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


class Layer:
    def __init__(self, d, rng=None):
        self.W = np.random.default_rng(0 if rng is None else rng).normal(size=(d, d))

    def __call__(self, x):
        return x @ self.W


def exercises():
    """A function, a class, and an exercise for each that builds on it."""
    first = Exercise("weights", title="Weights", source="none")
    first.reference(weights)

    @first.check(points=4)
    def of_one_row(call, rng):
        """Of one row."""
        x = rng.normal(size=3)
        agree(call(x), weights(x))

    layer = Exercise("layer", title="Layer", source="none")

    layer.reference(Layer)

    @layer.check(points=4)
    def multiplies(call, rng):
        """Multiplies."""
        x, made = rng.normal(size=(2, 3)), call.make(3, seeded(0))
        agree(made(x), x @ np.asarray(made.W))

    carried = [Carried("a01", e.id, e.functions[0]) for e in (first, layer)]
    own = replaceable(weights, "weights")
    mean = Exercise("mean", title="Mean", source="none")
    mean.carried = tuple(carried[:1])

    @mean.part(points=1, answer=Numbers())
    def heaviest():
        """The largest weight of 0, 1 and 2."""
        return own(np.arange(3.0)).max()

    @mean.reference
    def weighted(x):
        return (own(x) * x).sum(-1)

    @mean.check(points=1, visible=True)
    def of_a_row(call, rng):
        """Of one row."""
        x = rng.normal(size=4)
        agree(call(x), weighted(x))

    @mean.check(points=2)
    def of_rows(call, rng):
        """Of several rows."""
        for _ in range(2):
            x = rng.normal(size=(3, 4))
            agree(call(x), weighted(x))

    stack = Exercise("stack", title="Stack", source="none")
    stack.carried = tuple(carried[1:])

    @stack.reference
    class Stack:
        def __init__(self, d, rng=None):
            self.layer = Layer(d, rng)

        def __call__(self, x):
            return x + self.layer(x)

    @stack.check(points=3)
    def adds(call, rng):
        """Adds the layer's output."""
        x = rng.normal(size=(2, 3))
        own = call.own(Layer).make(3, seeded(0))
        found = call.make(3, seeded(0))(x)
        require(np.shape(found) == x.shape, "the shape is another one")
        agree(found, x + np.asarray(own(x)))

    for exercise in (mean, stack):
        functions = [replace(f, carried=exercise.carried) for f in exercise.functions]
        exercise.functions = tuple(functions)
    return {e.id: e for e in (first, layer, mean, stack)}


EXERCISES = exercises()
WEIGHTS = "def weights(x):\n    e = np.exp(x)\n    return e / e.sum(-1, keepdims=True)\n"
MEAN = "def weighted(x):\n    return (weights(x) * x).sum(-1)\n"
LAYER = (
    "class Layer:\n    def __init__(self, d, rng=None):\n"
    "        self.W = np.random.default_rng(0 if rng is None else rng).normal(size=(d, d))\n"
    "    def __call__(self, x): return x @ self.W\n"
)
STACK = (
    "class Stack:\n    def __init__(self, d, rng=None): self.layer = Layer(d, rng)\n"
    "    def __call__(self, x): return x + self.layer(x)\n"
)


def cell(source, id=""):
    metadata = {"nbgrader": {"grade_id": id}} if id else {}
    empty = {"outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": "c", "metadata": metadata, "source": source, **empty}


@pytest.fixture(scope="module")
def scores():
    """A function that grades cells, of exercises or without one, and returns items by name."""
    with Zygote(limits=Limits(cell_seconds=2.0, call_seconds=2.0)) as zygote:

        def scores(*cells):
            written = [cell("import numpy as np")]
            for id, source in cells:
                written.append(cell(source, id))
                written += [cell("", f"check_{id}")] if id else []
            notebook = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            assigned = [Assigned(id, EXERCISES[id], 4) for id, _ in cells if id]
            grade, _ = grade_submission(SubmissionRun("a01", "ada", notebook, assigned, zygote))
            return {item.name: item for each in grade.exercises for item in each.items}

        yield scores


def earned(items, *names):
    return [items[name].score for name in names]


NOISE = "def weights(x): return 1e-200 * np.exp(x)\n"
RAISES = "def weights(x): raise ValueError\n"


@pytest.mark.parametrize(
    "later",
    [
        f"{NOISE}def weighted(x): return 1e-14 * x.sum(-1)\n",
        "def weights(x): return 0 * x\ndef weighted(x): return 0 * x.sum(-1)\n",
        "def weights(x): return np.arange(x.size).reshape(x.shape) / x.size\n" + MEAN,
        f"{RAISES}def weighted(x): return float((np.exp(x) / np.exp(x).sum() * x).sum()) "
        "if x.ndim == 1 else weights(x)\n",
        "weights.__code__ = (lambda x: 1e-200 * x).__code__\n"
        "def weighted(x): return 1e-14 * x.sum(-1)\n",
        "old = weights\ndef weights(x): return old(x) if x.shape == (4,) else 1 / 0\n" + MEAN,
        "np.exp = lambda x: 1e-200 * x\ndef weighted(x): return 1e-14 * x.sum(-1)\n",
    ],
)
def test_no_later_cell_changes_what_was_graded(scores, later):
    items = scores(("weights", WEIGHTS), ("mean", f"{later}heaviest = 0.0\n"))
    assert earned(items, "heaviest", "of_rows") == [0, 0]


@pytest.mark.parametrize("wrapped", ["", "{source}\n"])
@pytest.mark.parametrize(
    "carried",
    [
        NOISE + "#\n",
        RAISES,
        "def weights(x): return np.linspace(0, 1, x.size).reshape(x.shape)\n",
    ],
)
def test_noise_and_exceptions_in_carried_text_earn_nothing(scores, carried, wrapped):
    answer = (
        "def weighted(x):\n    if x.ndim == 1: return (np.exp(x) / np.exp(x).sum() * x).sum()\n"
        "    return weights(x)[..., 0]\n"
    )
    cells = [("", carried + "pass")] if not wrapped else []
    within = wrapped.format(source=carried)
    items = scores(*cells, ("mean", f"{within}{answer}heaviest = 1e-9\n"))
    assert earned(items, "heaviest", "of_rows") == [0, 0]


def test_of_a_class_too(scores):
    noise = "class Layer(Layer):\n    def __call__(self, x): return -x\n"
    flat = (
        "class Stack:\n    def __init__(self, *_): pass\n    def __call__(self, x): return 0 * x\n"
    )
    items = scores(("layer", LAYER), ("stack", noise + flat))
    assert earned(items, "multiplies", "adds") == [4, 0]
    patched = "Layer.__call__ = lambda self, x: -x\n"
    assert earned(scores(("layer", LAYER), ("stack", patched + flat)), "adds") == [0]


@pytest.mark.parametrize(
    ("carried", "answer"),
    [
        ("x", "2 * x"),
        ("3 * x + 1", "4 * x + 1"),
        ("np.inf * x", "np.inf * x"),
    ],
)
def test_nothing_follows_from_a_class_that_hands_on_what_comes(scores, carried, answer):
    layer = f"class Layer:\n    def __call__(self, x): return {carried}\n"
    layer += "    def __init__(self, *_): self.W = np.eye(3)\n"
    stack = f"class Stack:\n    def __call__(self, x): return {answer}\n"
    stack += "    def __init__(self, *_): pass\n"
    assert earned(scores(("", layer), ("stack", stack)), "adds") == [0]


def test_a_slip_in_what_was_graded_is_still_paid_for_once(scores):
    wrong = WEIGHTS.replace("np.exp(x)", "np.exp(-x)")
    items = scores(("weights", wrong), ("mean", f"{MEAN}heaviest = {np.exp(0) / 1.5032:.4f}\n"))
    assert earned(items, "of_one_row", "heaviest", "of_a_row", "of_rows") == [0, 1, 1, 2]
    items = scores(
        ("layer", LAYER.replace("x @ self.W", "x @ self.W.T")), ("stack", STACK), ("mean", MEAN)
    )
    assert earned(items, "multiplies", "adds") == [0, 3]
    items = scores(("", wrong), ("mean", MEAN))
    assert earned(items, "of_a_row", "of_rows") == [1, 2]


@pytest.mark.parametrize(
    "text", ["", "carry('weights')", "def weights(x):\n    raise NotImplementedError"]
)
def test_what_the_notebook_lacks_is_taken_for_the_right_one(scores, text):
    items = scores(("", text), ("mean", f"heaviest = 0.6652\n{MEAN}"))
    assert earned(items, "heaviest", "of_a_row", "of_rows") == [1, 1, 2]
    assert "`weights` is not in your notebook" in items["of_a_row"].feedback


def test_what_is_lacking_and_not_called_is_not_spoken_of(scores):
    alone = "def weighted(x):\n    e = np.exp(x)\n    return (e * x).sum(-1) / e.sum(-1)\n"
    items = scores(("mean", alone))
    assert earned(items, "of_a_row", "of_rows") == [1, 2]
    assert not items["of_a_row"].feedback
    items = scores(("stack", STACK))
    assert "`Layer` is not in your notebook" in items["adds"].feedback


def test_what_is_lacking_is_lent_to_no_other_exercise(scores):
    keeps = MEAN.replace("return", "global mine; mine = weights; return")
    steals = "def weights(x): return mine(x)\n"
    items = scores(("mean", keeps), ("weights", steals))
    assert earned(items, "of_one_row") == [0]
    unwritten = "def weights(x):\n    raise NotImplementedError\n"
    items = scores(("weights", unwritten), ("layer", LAYER), ("mean", keeps), ("stack", STACK))
    assert earned(items, "of_one_row", "of_rows", "adds") == [0, 2, 3]
    assert items["of_one_row"].note == "blank"


@pytest.mark.parametrize("stub", ["", "def weighted(x):\n    raise NotImplementedError\n"])
def test_for_what_is_not_written_no_process_of_earlier_functions_begins(scores, started, stub):
    wrong = WEIGHTS.replace("np.exp(x)", "np.exp(-x)")
    items = scores(("weights", wrong), ("mean", f"{stub}heaviest = 0.6652\n"))
    assert earned(items, "of_one_row", "heaviest", "of_a_row") == [0, 1, 0]
    assert items["of_a_row"].note == "blank"
    assert len(started) == 1
    asks = "def weighted(x): return weights(x).stub()\n"
    scores(("weights", wrong), ("mean", f"{asks}heaviest = 0.6652\n"))
    assert len(started) == 3


@pytest.mark.parametrize(
    ("weights", "processes"),
    [
        (WEIGHTS, 1),
        (WEIGHTS.replace("np.exp(x)", "np.exp(-x)"), 2),
        (WEIGHTS.replace("e /", "e.astype('f') /"), 2),  # right, and yet not the reference
    ],
)
def test_no_answer_is_followed_through_a_function_that_is_as_its_reference(
    scores, started, weights, processes
):
    items = scores(("weights", weights), ("layer", LAYER), ("mean", f"{MEAN}heaviest = 0.5\n"))
    assert items["heaviest"].score == 0
    assert len(started) == processes


def test_what_is_lacking_of_a_class_is_taken_for_the_right_one(scores):
    stub = "class Layer:\n    def __init__(self, d, rng=None): raise NotImplementedError\n"
    for text in ("", stub):
        assert earned(scores(("", text), ("stack", STACK)), "adds") == [3]
