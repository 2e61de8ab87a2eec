"""Cells and calls of one submission, over as many processes as it takes."""

import time

import pytest

from autograder.grading.history import Cell, History
from autograder.grading.runner import Runner
from autograder.sandbox import Limits, Session, StudentError, Zygote
from autograder.sandbox.wire.requests import Call

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def zygote():
    with Zygote(limits=Limits(cell_seconds=1.0, call_seconds=1.0)) as zygote:
        yield zygote


@pytest.fixture
def runner(zygote):
    with Runner(zygote, {}, seconds=30.0) as runner:
        yield runner


def called(runner, name, *args):
    return runner.ask(name, Call(args, {})).value


def test_what_a_function_was_called_with_is_in_no_later_cell(runner):
    runner.execute("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)", 1)
    assert [called(runner, "f", 7), called(runner, "f", 7)] == [1, 2]
    assert runner.execute("seen", 2).outputs[0]["data"] == {"text/plain": "[]"}
    assert runner.read("seen") == []
    assert called(runner, "f", 7) == 3


def test_calls_see_what_later_cells_define(runner):
    runner.execute("def f(): return a", 1)
    with pytest.raises(StudentError, match="NameError"):
        called(runner, "f")
    runner.execute("a = 1", 2)
    assert called(runner, "f") == 1
    runner.execute("a = 2", 3)
    assert called(runner, "f") == 2


def test_a_call_that_hangs_costs_no_cell(runner):
    runner.execute(
        "import os\nruns = 1\ndef f(stop):\n    while not stop: pass\n    return runs", 1
    )
    pid = runner.execute("os.getpid()", 2).outputs
    with pytest.raises(StudentError) as caught:
        called(runner, "f", False)
    assert caught.value.kind == "timeout"
    assert called(runner, "f", True) == 1
    assert runner.execute("os.getpid()", 3).outputs[0]["data"] == pid[0]["data"]


def test_a_cell_that_hangs_is_left_out_everywhere(runner):
    runner.execute("a = 1\ndef f(): return a", 1)
    run = runner.execute("a = 2\nwhile True: pass", 2)
    assert run.error.kind == "timeout"
    runner.execute("b = a", 3)
    assert runner.read("b") == 1
    assert called(runner, "f") == 1


def test_both_processes_are_counted(zygote):
    with Runner(zygote, {}, seconds=30.0) as runner:
        runner.execute("def f(): return sum(range(2_000_000))", 1)
        called(runner, "f")
    assert runner.cpu_seconds > 0.01
    assert runner.peak_mb > 1


def test_the_whole_notebook_has_a_limit_too(zygote):
    with Runner(zygote, {}, seconds=0.2) as runner:
        run = runner.execute("while True: pass", 1)
        assert run.error.kind == "timeout"
        run = runner.execute("1", 2)
        assert run.error.message == "the whole notebook took longer than 0.2 s"


def test_the_graders_own_work_counts_for_the_whole_notebook_as_well(zygote):
    with Runner(zygote, {}, seconds=0.3) as runner:
        assert runner.execute("x = 1", 1).error is None
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            pass
        with pytest.raises(StudentError, match="whole notebook"):
            runner.read("x")


def test_waiting_for_the_grader_costs_the_notebook_nothing(zygote):
    with Runner(zygote, {}, seconds=0.5) as runner:
        runner.execute("x = 1", 1)
        time.sleep(0.6)
        assert runner.read("x") == 1


def test_all_cells_together_may_show_so_much(zygote):
    with Runner(zygote, {}, seconds=60.0) as runner:
        runs = [runner.execute("print('x' * 250_000)", number) for number in range(1, 101)]
        assert all(run.error is None for run in runs)
        assert runs[0].outputs[0]["text"].count("x") > 200_000
        assert "too much in all" in runs[-1].outputs[0]["text"]
        assert sum(len(str(run.outputs)) for run in runs) < zygote.limits.notebook_bytes + (1 << 18)


def test_the_many_cells_of_a_notebook_take_time_by_their_number_alone(zygote):
    with Runner(zygote, {}, seconds=60.0) as runner:
        runner.execute("", 0)
        runner._history = History([Cell(number, "", 1.0) for number in range(100_000)])
        runner._cells.last = 100_000
        before = time.thread_time()
        for number in range(100_001, 100_501):
            runner.execute("", number)
        assert time.thread_time() - before < 2


def test_cells_beyond_all_reason_are_not_run(zygote, monkeypatch):
    monkeypatch.setattr("autograder.grading.runner._CELLS", 2)
    with Runner(zygote, {}, seconds=30.0) as runner:
        runs = [runner.execute(f"x = {number}", number) for number in (1, 2, 3)]
        assert [run.error is None for run in runs] == [True, True, False]
        assert runner.read("x") == 2


HONEST = "def g(n):\n    return sorted([n] * n)[0]\n"


@pytest.mark.parametrize(
    "damage",
    [
        "import builtins\nbuiltins.sorted = lambda x: 0",
        "import builtins\ndel builtins.sorted",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.settrace(lambda *a: None)",
        "import numpy as np\nnp.exp = np.log",
        "import numpy as np\nnp.linalg.norm = np.sum",
        "import math\nmath.sqrt = math.exp",
        "import sys\nsys.setrecursionlimit(60)",
        "import numpy as np\nfor np.exp in [np.log]: pass",
        "import numpy as np\nsetattr(np, 'exp', np.log)",
        "import numpy as np\nvars(np)['exp'] = np.log",
        "import numpy as np\nnp.__dict__.update(exp=np.log)",
        "import numpy as np\ndef f(self, m): m.exp = m.log\nf(1, np)",
        "exec('import numpy as np; np.exp = np.log')",
        "%time exec('import numpy as np; np.exp = np.log')",
        "import unittest.mock, numpy\nunittest.mock.patch('numpy.exp').start()",
    ],
)
def test_what_a_cell_does_to_python_reaches_no_later_exercise(runner, damage):
    runner.execute("a = 1", 1)
    run = runner.execute(damage, 2)
    assert not run.healthy
    assert "This cell changed Python itself" in run.outputs[-1]["text"]
    runner.settle()
    assert runner.execute(f"import numpy as np\n{HONEST}b = a + len('xy')", 3).error is None
    assert runner.read("b") == 3
    assert called(runner, "g", 4) == 4


def test_what_a_call_does_to_python_reaches_no_later_exercise(runner):
    runner.execute(f"import builtins\ndef f(): builtins.sorted = None\n{HONEST}", 1)
    called(runner, "f")
    with pytest.raises(StudentError):
        called(runner, "g", 4)
    runner.settle()
    assert called(runner, "g", 4) == 4


def test_a_thread_that_a_call_leaves_reaches_no_later_exercise(runner):
    runner.execute(
        "import threading\nstop = threading.Event()\nrunning = threading.active_count\n"
        "def f(): threading.Thread(target=stop.wait, daemon=True).start()",
        1,
    )
    called(runner, "f")
    assert called(runner, "running") == 2
    runner.settle()
    assert called(runner, "running") == 1


def test_a_thread_that_a_cell_leaves_is_left_alone(runner):
    source = (
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    )
    assert runner.execute(source, 1).healthy
    runner.settle()
    runner.execute("n = threading.active_count()", 2)
    assert runner.read("n") == 2


def test_what_is_honest_counts_as_healthy(runner):
    for number, source in enumerate(
        [
            "import numpy as np, random, warnings, builtins, sys\nnp.set_printoptions(precision=3)",
            "np.random.seed(1); random.seed(1); warnings.simplefilter('error')\nnp.float_ = float",
            "len = 3; print = list; builtins.mine = 1\nsys.setrecursionlimit(100_000)",
            "from IPython.core.interactiveshell import InteractiveShell\n"
            "InteractiveShell.ast_node_interactivity = 'all'\n1\n2",
            "import json, threading\nt = threading.Thread(target=int); t.start(); t.join()",
            "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): help(sum)",
            "%time x = 1\n",
            "1 / 0",
        ],
        1,
    ):
        assert runner.execute(source, number).healthy, source


def test_a_cell_that_takes_requests_away_is_found_and_left_out(runner):
    runner.execute("a = 1", 1)
    runner.execute(
        "import socket, threading\ns = socket.socket(fileno=3)\n"
        "def steal():\n    while True: s.recv(1 << 16)\n"
        "threading.Thread(target=steal, daemon=True).start()",
        2,
    )
    for number in range(3, 9):
        assert runner.execute(f"a += {number}", number).error is None
    assert runner.read("a") == 1 + sum(range(3, 9))


def test_where_nothing_was_spoiled_nothing_is_asked_twice(runner, monkeypatch):
    executed = []
    execute = Session.execute

    def counted(session, source, **kwargs):
        executed.append(source)
        return execute(session, source, **kwargs)

    monkeypatch.setattr(Session, "execute", counted)
    runner.execute("runs = []", 1)
    run = runner.execute("runs.append(1)\nwhile True: pass", 2)
    assert run.error.kind == "timeout"
    assert run.outputs[-1]["ename"] == "timeout"
    assert runner.read("runs") == []
    assert sum("while" in source for source in executed) == 1


def test_calls_after_the_last_cell_need_no_second_process(runner, started):
    runner.execute("a = 1\ndef f(): return a", 1)
    runner.keep(2, ["f"])
    runner.execute("a = 2", 3)
    runner.keep(4, ["f"])
    for number, value in ((2, 1), (4, 2), (2, 1)):
        assert runner.kept(number)
        runner.turn_back(number)
        assert called(runner, "f") == value
    assert len(started) == 1


def test_what_cannot_be_kept_has_its_names_when_others_were_called_before(runner, started):
    runner.execute("import numpy as np\ndef f(x): return float(np.sqrt(x))", 1)
    runner.keep(2, ["f"])
    runner.execute("from math import sqrt\nseen = []\ndef g(x): return [*seen, sqrt(x)]", 3)
    runner.keep(4, ["g"])
    runner.turn_back(2)
    assert called(runner, "f", 9) == 3
    runner.turn_back(4)
    assert called(runner, "g", 9) == [3]
    assert len(started) == 1


def test_what_can_be_changed_is_made_again(runner, started):
    runner.execute("a = [1]\ndef f(): return a", 1)
    runner.keep(2, ["f"])
    runner.execute("a += [2]", 3)
    runner.keep(4, ["f"])
    assert not runner.kept(2)
    for number, value in ((2, [1]), (4, [1, 2]), (2, [1])):
        runner.turn_back(number)
        assert called(runner, "f") == value
    assert len(started) == 3  # the second one goes on to the later cell


def test_after_a_call_no_cell_runs_where_it_was_made(runner):
    runner.execute("seen = []\ndef f(x): seen.append(x)", 1)
    runner.keep(2, ["f"])
    runner.turn_back(2)
    called(runner, "f", 7)
    assert runner.execute("seen", 3).outputs[0]["data"] == {"text/plain": "[]"}


def test_a_call_that_hangs_costs_the_next_function_nothing(runner):
    runner.execute("def f():\n    while True: pass\ndef g(): return a\na = 1", 1)
    runner.keep(2, ["f"])
    runner.keep(3, ["g"])
    runner.execute("a = 2", 4)
    runner.turn_back(2)
    with pytest.raises(StudentError) as caught:
        called(runner, "f")
    assert caught.value.kind == "timeout"
    assert not runner.kept(3)
    runner.turn_back(3)
    assert called(runner, "g") == 1


def test_a_later_cell_that_takes_requests_away_costs_an_earlier_function_nothing(runner):
    runner.execute("def f(): return 5", 1)
    runner.keep(2, ["f"])
    runner.execute(
        "import socket, threading\ns = socket.socket(fileno=3)\n"
        "def steal():\n    while True: s.recv(1 << 16)\n"
        "threading.Thread(target=steal, daemon=True).start()",
        3,
    )
    runner.turn_back(2)
    assert [called(runner, "f") for _ in range(6)] == [5] * 6


def test_settings_of_a_later_cell_reach_no_earlier_function(runner, started):
    runner.execute("import numpy as np\ndef f(): return float(np.exp(np.float64(-1e4)))", 1)
    runner.keep(2, ["f"])
    runner.execute("np.seterr(all='raise')", 3)
    runner.turn_back(2)
    assert called(runner, "f") == 0
    assert len(started) == 2


DAMAGE = "import numpy as np\nnp.exp = lambda x: -1.0\n"


def test_a_later_cell_that_damages_python_reaches_no_earlier_function(runner):
    runner.execute("import numpy as np\ndef f(): return float(np.exp(0.0))", 1)
    runner.keep(2, ["f"])
    runner.settle(2)
    runner.execute(DAMAGE, 3)
    runner.settle(4)
    runner.turn_back(2)
    assert called(runner, "f") == 1


def test_a_later_cell_that_damages_a_part_of_numpy_reaches_no_earlier_function(runner):
    runner.execute("import numpy as np\ndef f(): return float(np.linalg.norm([3.0, 4.0]))", 1)
    runner.keep(2, ["f"])
    runner.settle(2)
    runner.execute("np.linalg.norm = lambda x: -1.0", 3)
    runner.settle(4)
    runner.turn_back(2)
    assert called(runner, "f") == 5


def test_a_cell_that_damages_python_still_defines_its_own_exercises_function(runner):
    runner.execute(DAMAGE + "def f(): return 5", 1)
    runner.keep(3, ["f"])
    runner.settle(3)
    runner.execute("import numpy as np\ndef g(): return float(np.exp(0.0))", 4)
    runner.keep(5, ["g"])
    runner.settle(5)
    for number, name, value in ((5, "g", 1), (3, "f", 5), (5, "g", 1)):
        runner.turn_back(number)
        assert called(runner, name) == value
        runner.settle()


def test_no_cell_runs_once_functions_are_called(runner):
    runner.execute("def f(): return 1", 1)
    assert called(runner.calls(), "f") == 1
    with pytest.raises(AssertionError, match="no cell runs after the first call"):
        runner.execute("shown = 2", 2)


def two_states(runner):
    runner.execute("a = 1\ndef f(): return a\ndef g(x): seen.append(x)", 1)
    runner.execute("a = 2\ndef h(): return 10 * a + f()\nseen = []", 3)
    runner.execute("a = 3", 5)


def test_what_was_before_several_cells_needs_one_process(runner, started):
    two_states(runner)
    calls = runner.calls({2: ["f"], 4: ["f", "h"]})
    early, late = calls.before(2), calls.before(4)
    for _ in range(2):
        assert called(early, "f") == 1
        assert called(late, "h") == 22
    assert (called(calls, "f"), called(early, "f")) == (3, 1)
    assert len(started) == 3  # that of the cells, that of calls, and one for what was before


def test_what_was_before_cells_in_no_order_needs_one_process(runner, started):
    two_states(runner)
    calls = runner.calls({2: ["f"], 4: ["f", "h"]})
    late, early = calls.before(4), calls.before(2)
    assert [called(late, "h"), called(early, "f"), called(late, "h")] == [22, 1, 22]
    assert len(started) == 2


def test_what_was_before_a_later_cell_is_as_if_nothing_had_been_called(runner):
    runner.execute(
        "import random\ndef f():\n    global n\n    n = random.random()\n    return n", 1
    )
    runner.execute("m = random.random()\ndef g(): return m, globals().get('n')", 3)
    calls = runner.calls({2: ["f"], 4: ["g"]})
    early, late = calls.before(2), calls.before(4)
    first = called(early, "f")
    assert called(late, "g") == (first, None)


def test_what_can_be_changed_has_a_process_of_its_own(runner):
    runner.execute("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)", 1)
    runner.execute("def g(): return len(seen)", 3)
    calls = runner.calls({2: ["f"], 4: ["g"]})
    early, late = calls.before(2), calls.before(4)
    assert [called(early, "f", 7), called(early, "f", 7), called(late, "g")] == [1, 2, 0]


def test_what_is_supplied_before_one_cell_is_not_there_before_another(runner):
    two_states(runner)
    calls = runner.calls({2: ["f"], 4: ["f", "h"]})
    early, late = calls.before(2), calls.before(4)
    assert early.lacking(["h"]) == ["h"]
    early.supply({"h": "def h(): return 0"})
    assert (called(early, "h"), called(early, "f"), called(late, "h")) == (0, 1, 22)


def test_a_call_of_what_was_earlier_that_hangs_costs_nothing_else(runner):
    runner.execute("def f():\n    while True: pass\ndef g(): return a\na = 1", 1)
    runner.execute("a = 2", 3)
    calls = runner.calls({2: ["f", "g"], 4: ["g"]})
    early, late = calls.before(2), calls.before(4)
    with pytest.raises(StudentError) as caught:
        called(early, "f")
    assert caught.value.kind == "timeout"
    assert [called(late, "g"), called(early, "g"), called(calls, "g")] == [2, 1, 2]


def test_a_cell_that_damages_python_is_before_its_own_check_cell_alone(runner):
    runner.execute(DAMAGE + "def f(): return float(np.exp(0.0))", 1)
    runner.settle(2)
    runner.execute("import numpy as np\ndef g(): return float(np.exp(0.0))", 3)
    calls = runner.calls({2: ["f"], 4: ["g"]})
    early, late = calls.before(2), calls.before(4)
    assert [called(early, "f"), called(late, "g"), called(early, "f")] == [-1, 1, -1]


def test_who_calls_nothing_else_needs_no_further_process(runner, started):
    two_states(runner)
    runner.execute("def k(): return a", 6)
    runner.keep(7, ["k"])
    calls = runner.calls({7: ["k"]})
    calls.turn_back(7)
    assert called(calls, "k") == 3
    assert called(calls.back_at(7), "k") == 3
    assert len(started) == 1
    calls.abandon()
    assert called(calls.back_at(7), "k") == 3
    assert len(started) == 2
