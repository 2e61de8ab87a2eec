"""Cells and calls of one submission, over as many processes as it takes."""

import pytest

from autograder.grading.runner import Runner
from autograder.sandbox import Limits, StudentError, Zygote

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def zygote():
    with Zygote(limits=Limits(cell_seconds=1.0, call_seconds=1.0)) as zygote:
        yield zygote


@pytest.fixture
def runner(zygote):
    with Runner(zygote, {}, seconds=30.0) as runner:
        yield runner


def test_what_a_function_was_called_with_is_in_no_later_cell(runner):
    runner.execute("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)", 1)
    assert [runner.call("f", 7), runner.call("f", 7)] == [1, 2]
    assert runner.execute("seen", 2).outputs[0]["data"] == {"text/plain": "[]"}
    assert runner.read("seen") == []
    assert runner.call("f", 7) == 3


def test_calls_see_what_later_cells_define(runner):
    runner.execute("def f(): return a", 1)
    with pytest.raises(StudentError, match="NameError"):
        runner.call("f")
    runner.execute("a = 1", 2)
    assert runner.call("f") == 1
    runner.execute("a = 2", 3)
    assert runner.call("f") == 2


def test_a_call_that_hangs_costs_no_cell(runner):
    runner.execute(
        "import os\nruns = 1\ndef f(stop):\n    while not stop: pass\n    return runs", 1
    )
    pid = runner.execute("os.getpid()", 2).outputs
    with pytest.raises(StudentError) as caught:
        runner.call("f", False)
    assert caught.value.kind == "timeout"
    assert runner.call("f", True) == 1
    assert runner.execute("os.getpid()", 3).outputs[0]["data"] == pid[0]["data"]


def test_a_cell_that_hangs_is_left_out_everywhere(runner):
    runner.execute("a = 1\ndef f(): return a", 1)
    run = runner.execute("a = 2\nwhile True: pass", 2)
    assert run.error.kind == "timeout"
    runner.execute("b = a", 3)
    assert runner.read("b") == 1
    assert runner.call("f") == 1


def test_both_processes_are_counted(zygote):
    with Runner(zygote, {}, seconds=30.0) as runner:
        runner.execute("def f(): return sum(range(2_000_000))", 1)
        runner.call("f")
    assert runner.cpu_seconds > 0.01
    assert runner.peak_mb > 1


def test_the_whole_notebook_has_a_limit_too(zygote):
    with Runner(zygote, {}, seconds=0.2) as runner:
        run = runner.execute("while True: pass", 1)
        assert run.error.kind == "timeout"
        run = runner.execute("1", 2)
        assert run.error.message == "the whole notebook took longer than 0.2 s"
