"""Every attack is graded as part of a submission, and the next student notices nothing of it."""

import json
import os
import signal

import nbformat
import pytest

from autograder.grading.results import Grade, Status

from ..processes import descendants
from .attacks import CANARY, HONEST, PROBES, TRICKS
from .conftest import POINTS


def assert_in_order(marked, tier):
    """A valid grade, and a notebook that tells nothing."""
    record = json.loads(json.dumps(marked.grade.to_json()))
    assert Grade.from_json(record) == marked.grade
    assert marked.grade.isolation == tier
    for exercise in marked.grade.exercises:
        assert exercise.status is not Status.ERRORED, exercise
        assert 0 <= exercise.score <= exercise.max_score
    nbformat.validate(nbformat.from_dict(marked.notebook))
    everything = json.dumps([record, marked.notebook["cells"]])
    assert len(everything) < 1 << 20
    shown = json.dumps([record, [cell.get("outputs") for cell in marked.notebook["cells"]]])
    for secret in (str(CANARY)[:8], "text/html", "SECRET"):
        assert secret not in shown


def assert_full(marked, tier):
    assert_in_order(marked, tier)
    assert marked.scores == POINTS
    assert marked.output("") == "[]\n"  # nothing in the folder of its own, if it has one


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_is_denied(name, tier, zygote, usual, grade, left):
    probe = PROBES[name]
    marked = grade(zygote, probe.source)
    assert_full(marked, tier)
    allowed = probe.own_scratch and tier == "A"
    assert marked.output("attacked").startswith("BREACH" if allowed else "denied")
    assert_full(grade(zygote, HONEST), tier)
    assert left(zygote, usual) == []


@pytest.mark.parametrize("name", [name for name in PROBES if PROBES[name].everywhere])
def test_nothing_else_would_have_stopped_it(name, unlocked, grade):
    marked = grade(unlocked, PROBES[name].source)
    assert marked.output("attacked").startswith("BREACH")


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_costs_no_more_than_it_must(name, tier, zygote, usual, grade, left):
    trick = TRICKS[name]
    marked = grade(zygote, trick.source)
    assert_in_order(marked, tier)
    assert marked.scores["answer"] == POINTS["answer"]
    if trick.costs == "nothing":
        assert marked.scores == POINTS
    if trick.costs == "exercise":
        assert marked.scores["attacked"] < POINTS["attacked"]
    assert marked.scores["last"] == POINTS["last"]
    assert_full(grade(zygote, HONEST), tier)
    assert left(zygote, usual) == []


def test_what_is_left_behind_would_be_seen(unlocked, grade):
    usual = descendants(unlocked._process.pid)
    grade(unlocked, PROBES["leave a daemon"].source)
    daemons = descendants(unlocked._process.pid) - usual
    assert daemons  # one for each process that ran the cells
    for daemon in daemons:
        os.kill(daemon, signal.SIGKILL)


def test_a_hidden_input_would_be_seen_if_it_were_visible(zygote, grade):
    marked = grade(zygote, f"print({CANARY})\n{HONEST}")
    assert str(CANARY)[:8] in marked.output("attacked")


@pytest.mark.parametrize(
    "damage",
    [
        "np.exp = lambda x: -x",
        "import builtins\nbuiltins.len = lambda x: 0",
        "np.seterr(all='raise')",
        "def softmax(x): return -1\nlast = softmax",
        "import os; os._exit(1)",
    ],
)
def test_what_a_cell_does_at_the_end_costs_no_exercise(zygote, grade, damage):
    assert grade(zygote, HONEST, at_the_end=damage).scores == POINTS


def test_a_cell_that_damages_python_keeps_its_own_function(zygote, grade):
    marked = grade(zygote, f"import builtins\nbuiltins.sorted = None\n{HONEST}")
    assert marked.scores == POINTS


IN_PLACE = """
def softmax(x):
    x -= x.max()
    np.exp(x, out=x)
    x /= x.sum()
    return x
"""
WORKER = "import gc\n[w] = [o for o in gc.get_objects() if type(o).__name__ == 'Worker']\n"


@pytest.mark.parametrize(
    "deceit",
    [
        "",
        f"{WORKER}w.answer.__globals__['_differs'] = lambda *_: False",
        f"{WORKER}kind = w.answer.__globals__['decode'].__globals__['_Decoder']\n"
        "array = kind._array\nkind._array = lambda s, c: array(s, c)",
        f"{WORKER}w._lent = None",
        f"{WORKER}own = w._where_the_grader_looks\nw._lent.madvise(9)",
    ],
)
def test_what_becomes_of_an_argument_is_seen_by_the_grader(zygote, grade, deceit):
    assert grade(zygote, f"{deceit}{IN_PLACE}").scores["attacked"] == POINTS["attacked"] - 1
