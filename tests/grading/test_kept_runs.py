"""A run is kept under a hash of what it depends on, and repeated for no other reason."""

import numpy as np
import pytest

from autograder.course.submissions.kept_runs import KeptRuns, keep_runs, kept_runs
from autograder.grading.depends import behind
from autograder.grading.runner import Runner
from autograder.grading.runs import LARGEST, Run, Training, key_of, packed, unpacked
from autograder.sandbox import Limits, StudentError, Zygote
from autograder.sandbox.wire.requests import Call

TRAIN = "def train(seed):\n    return [size * step() for _ in range(3)]"
CELLS = ["import numpy as np\nsize = 3", "def step():\n    return np.float64(1.5)", TRAIN]
WITHOUT = "letter = 'B'\ndef other(x):\n    return np.exp(x)"


def key(*cells, function="train", args=(1,), numbers=(), data=()):
    return key_of(cells, function, args, {}, dict(numbers), dict(data))


def test_what_other_exercises_answer_changes_nothing():
    assert key(*CELLS) == key(CELLS[0], WITHOUT, *CELLS[1:], "table = [[1, 2], [3, 4]]")
    assert key(*CELLS) == key(*CELLS[:2], f"# another remark\n{TRAIN}  # here, too")


@pytest.mark.parametrize(
    "cells",
    [
        [CELLS[0].replace("3", "4"), *CELLS[1:]],
        [CELLS[0], CELLS[1].replace("1.5", "1.4"), TRAIN],
        [*CELLS, "np.random.seed(3)"],
        [*CELLS, "import numpy\nnumpy.seterr(all='raise')"],
        [*CELLS, "def configure():\n    global size\n    size = 9", "configure()"],
        [*CELLS, "exec('size = 5')"],
        [*CELLS, "def other(x):\n    return x", "other.__globals__['size'] = 5"],
        [*CELLS, "from math import *"],
        [*CELLS, "range = lambda n: []"],
        [*CELLS, "%run other.py"],
        [*CELLS, "@print\ndef shown():\n    return step"],
    ],
)
def test_whatever_may_have_a_hand_in_it_makes_it_another_run(cells):
    assert key(*cells) != key(*CELLS)


def test_arguments_numbers_and_files_make_it_another_run():
    keys = [key(*CELLS), key(*CELLS, args=(2,)), key(*CELLS, args=(1.0,))]
    keys += [key(*CELLS, numbers={"e": {"n": np.arange(3)}}), key(*CELLS, function="step")]
    keys += [key(*CELLS, data={"a.csv": b"1"}), key(*CELLS, data={"a.csv": b"2"})]
    assert len({*keys}) == 7
    assert key(*CELLS, args=(np.random.default_rng(0),)) == ""  # never kept


def test_an_object_that_is_changed_under_another_name_counts():
    cells = [
        "weights = {}\nalias = weights",
        "def train(seed):\n    return weights",
        "alias[1] = 2",
    ]
    assert behind(cells, "train")[-1] == "alias[1] = 2"


def test_what_is_kept_comes_back_bit_for_bit():
    value = {"W": np.linspace(0, 1, 7, dtype=np.float32), "losses": [0.1, float("nan")]}
    name, again = unpacked(packed("train", Run((value, "text"), 1.25)))
    assert name == "train"
    assert again.seconds == 1.25
    assert isinstance(again.value, tuple)
    assert again.value[0]["W"].tobytes() == value["W"].tobytes()


def test_what_is_too_large_or_not_in_order_is_worked_out_again():
    assert packed("f", Run(np.zeros(LARGEST // 8 + 1))) is None
    content = packed("f", Run([1, 2]))
    for spoiled in (b"", content[:-1], content + b"x", b"AGW1" + b"\xff" * 40):
        assert unpacked(spoiled) is None


def test_a_curve_shows_a_hundred_points_of_any_number_of_losses():
    one = Training.of(Run(None, 3.714), 1, np.linspace(2, 0, 1000))
    assert (one.seed, one.seconds, len(one.losses), one.steps[-1]) == (1, 3.71, 100, 1000)
    assert Training.of(Run(None), 1, [0.5]).steps == [1]
    assert Training.of(Run(None), 1).losses == []


@pytest.fixture(scope="module")
def zygote():
    with Zygote(limits=Limits(cell_seconds=2.0, call_seconds=2.0)) as zygote:
        yield zygote


def graded(zygote, runs, *cells, before=()):
    """Run cells, make other calls, and then the expensive one."""
    with Runner(zygote, {}, seconds=30.0, runs=runs) as runner:
        for number, source in enumerate(cells, 1):
            assert runner.execute(source, number).error is None
        for name in before:
            runner.ask(name, Call((), {}))
        return runner.once("train", (1,), {})


@pytest.mark.sandbox
def test_a_second_grading_takes_what_the_first_one_kept(zygote, tmp_path):
    told = []
    runs = KeptRuns("ada", tell=lambda *it: told.append(it))
    first = graded(zygote, runs, *CELLS)
    assert first.value == [4.5, 4.5, 4.5]
    assert first.seconds is not None
    assert told == [("ada", "train"), ("ada", "")]
    keep_runs(tmp_path, runs.asked)
    again = KeptRuns("ada", kept_runs(tmp_path), lambda *it: told.append(it))
    assert graded(zygote, again, CELLS[0], WITHOUT, *CELLS[1:]) == first
    assert len(told) == 2
    keep_runs(tmp_path, again.asked)
    assert len([*tmp_path.iterdir()]) == 1
    other = KeptRuns("ada", kept_runs(tmp_path))
    assert graded(zygote, other, CELLS[0].replace("3", "4"), *CELLS[1:]).value[0] == 6.0
    keep_runs(tmp_path, other.asked)  # the first one is asked for by nobody now
    assert kept_runs(tmp_path) == other.asked
    assert len(other.asked) == 1


@pytest.mark.sandbox
def test_a_run_that_fails_is_not_kept(zygote):
    cell = "def train(seed):\n    raise ValueError"
    with pytest.raises(StudentError):
        graded(zygote, runs := KeptRuns("ada"), cell)
    assert runs.asked == {}


@pytest.mark.sandbox
def test_a_run_knows_nothing_of_other_calls(zygote):
    cells = [
        "seen = []",
        "def step():\n    seen.append(1)",
        "def train(seed):\n    return len(seen)",
    ]
    assert graded(zygote, None, *cells, before=["step"]).value == 0


@pytest.mark.sandbox
def test_student_code_neither_reads_nor_writes_what_is_kept(zygote, tmp_path):
    graded(zygote, runs := KeptRuns("ada"), *CELLS)
    keep_runs(tmp_path / ".runs", runs.asked)
    (path,) = (tmp_path / ".runs").iterdir()
    content = path.read_bytes()
    for mode in ("rb", "wb"):
        with Runner(zygote, {}, seconds=30.0) as runner:
            run = runner.execute(f"open({str(path)!r}, {mode!r})", 1)
        assert run.error.type in ("PermissionError", "FileNotFoundError")
    assert path.read_bytes() == content
