import base64
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from autograder.sandbox import (
    Isolation,
    Limits,
    SandboxError,
    StudentError,
    Tensor,
    WireError,
    Zygote,
    affinity,
    probe,
)
from autograder.sandbox.wire.requests import Call, Keep, ReadAll

from ..processes import descendants

pytestmark = pytest.mark.sandbox

PRELUDE = """
import numpy as np
x = np.arange(4)
def identity(v): return v
def divide(a, b): return a / b
def spin():
    while True: pass
def lazy(): return object()
"""


@pytest.fixture
def notebook(session):
    assert session.execute(PRELUDE).error is None
    return session


def ends(pid):
    """Wait for a process to end; whether somebody has waited for it does not matter."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def shown(run):
    return "".join(o.get("text", "") for o in run.outputs)


class TestCells:
    def test_names_are_kept_from_cell_to_cell(self, session):
        session.execute("a = 1", number=1)
        session.execute("def f(): return a + b", number=2)
        session.execute("b = 2", number=3)
        assert session.call("f") == 3

    @pytest.mark.parametrize(
        ("source", "said"),
        [
            ("a = 1\ndef f(): return a", [{"a": 1}, {"kept": True, "lacking": ["g"]}]),
            ("a = 2\n1 / 0", [{"a": 2}, {"kept": True, "lacking": ["f", "g"]}]),
            ("a = 'x' * 100_000", []),
            ("a = object()", []),
            (f"a = {'[' * 40}{']' * 40}", []),
        ],
    )
    def test_what_is_asked_along_is_answered_or_left_to_a_message(self, session, source, said):
        run = session.execute(source, along=[ReadAll(["a", "b"]), Keep("m", ["f"], ["g"])])
        assert (run.along, run.healthy) == (said, True)
        assert bool(run.error) == ("/" in source)
        assert session.execute("1").along == []

    def test_the_last_expression_is_the_result(self, session):
        run = session.execute("print('hi')\n{'a': 1}", number=7)
        assert run.error is None
        assert run.outputs == [
            {"output_type": "stream", "name": "stdout", "text": "hi\n"},
            {
                "output_type": "execute_result",
                "execution_count": 7,
                "data": {"text/plain": "{'a': 1}"},
                "metadata": {},
            },
        ]
        assert session.execute("None").outputs == []
        assert session.execute("").outputs == []

    def test_an_error_does_not_stop_later_cells(self, session):
        session.execute("def f(n): return 1 / n", number=1)
        run = session.execute("before = 1\nf(0)\nafter = 1", number=2)
        assert run.error.kind == "exception"
        assert run.error.type == "ZeroDivisionError"
        assert run.error.message == "cell 2 raised ZeroDivisionError: division by zero"
        assert session.read("before") == 1
        with pytest.raises(StudentError):
            session.read("after")

    def test_a_traceback_shows_the_cells_and_nothing_else(self, session):
        session.execute("import json\ndef f(n): return json.loads(n)", number=1)
        run = session.execute("try:\n    1 / 0\nexcept ZeroDivisionError:\n    f('{')", number=2)
        [output] = run.outputs
        text = "\n".join(output["traceback"])
        assert output["ename"] == "JSONDecodeError"
        assert 'File "<cell 1>", line 2, in f' in text
        assert "def f(n): return json.loads(n)" in text
        assert "ZeroDivisionError: division by zero" in text
        assert ".py" not in text

    def test_a_syntax_error_shows_its_line(self, session):
        run = session.execute("x = 1\ny = = 2")
        assert run.error.type == "SyntaxError"
        assert "    y = = 2" in run.outputs[0]["traceback"]

    @pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit"])
    def test_no_exception_escapes(self, session, name):
        run = session.execute(f"raise {name}('enough')")
        assert run.error.type == name
        assert session.alive

    def test_an_exception_that_cannot_be_printed(self, session):
        run = session.execute("class E(Exception):\n    def __str__(self): 1/0\nraise E")
        assert run.error.message == "cell 1 raised E"

    def test_source_that_is_no_text(self, session):
        assert session.execute("s = '\ud800'").error is None
        assert session.execute("s = '\0'").error.type in ("SyntaxError", "ValueError")

    def test_standard_error_warnings_and_surrogates(self, session):
        run = session.execute(
            "import sys, warnings\nprint('a', file=sys.stderr)\nprint('b\\ud800')\n"
            "warnings.warn('c')\nprint('d')"
        )
        assert [(o["name"], o["text"][:2]) for o in run.outputs] == [
            ("stderr", "a\n"),
            ("stdout", "b?"),
            ("stderr", "<c"),
            ("stdout", "d\n"),
        ]

    def test_images_as_png_and_nothing_livelier(self, session):
        session.execute(
            "class Picture:\n"
            "    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n...'\n"
            "    def _repr_html_(self): return '<script>'\n"
        )
        [output] = session.execute("Picture()").outputs
        assert output["data"].keys() == {"text/plain", "image/png"}
        assert base64.b64decode(output["data"]["image/png"]).endswith(b"...")

    def test_there_is_no_input(self, session):
        assert session.execute("input()").error.type == "EOFError"

    def test_endless_output_ends_at_the_deadline(self, session):
        run = session.execute("while True: print('x' * 1000)", seconds=0.3)
        assert run.error.kind == "timeout"

    def test_output_is_cut_while_it_streams(self, session):
        run = session.execute("for i in range(20_000): print('x' * 100)\n'y' * 10**6")
        assert run.error is None
        assert len(shown(run)) < 270_000
        assert shown(run).endswith("\n[output cut after 256 KiB]\n")
        run = session.execute(
            "import sys\nfor i in range(9**5):\n    sys.stdout.write('o'); sys.stderr.write('e')"
        )
        assert run.error is None
        assert len(run.outputs) < 5000

    def test_what_c_code_prints_blocks_nobody(self, session):
        run = session.execute(
            "import os\nfor i in range(300): os.write(1, b'x' * 4096), os.write(2, b'x' * 4096)"
        )
        assert run.error is None
        assert run.outputs == []

    def test_random_numbers_repeat(self, zygote):
        source = "import random, numpy as np\nr = [random.random(), float(np.random.rand())]"
        seen = []
        for _ in range(2):
            with zygote.session() as session:
                session.execute(source)
                seen.append(session.read("r"))
        assert seen[0] == seen[1]

    def test_the_main_module_is_the_notebook(self, session):
        run = session.execute(
            "import sys, dataclasses\n"
            "@dataclasses.dataclass\nclass P:\n    x: 'int' = 1\n"
            "ok = sys.modules['__main__'].P is P and __name__ == '__main__'"
        )
        assert run.error is None
        assert session.read("ok") is True


class TestNotebookSemantics:
    def test_what_would_leave_the_process_is_skipped_and_said_to_be(self, session):
        run = session.execute(
            "if True:\n    !pip install x\n%pip install y\nfiles = !ls\nexit()\n%no_such_magic\n"
            "%load_ext no_such_extension\ns = '''\n%kept\n'''\nn = (7\n% 4)\nfiles"
        )
        assert run.error is None
        assert shown(run) == (
            "(!pip was skipped: no programs run while grading)\n"
            "(%pip was skipped: no programs run while grading)\n"
            "(!ls was skipped: no programs run while grading)\n"
            "(exit was skipped: the notebook is run to its end)\n"
            "(%no_such_magic was skipped: it is not known here)\n"
            "(%load_ext was skipped: no_such_extension is not installed here)\n"
        )
        assert run.outputs[-1]["data"] == {"text/plain": "[]"}
        assert session.read("s") == "\n%kept\n"
        assert session.read("n") == 3
        assert shown(session.execute("%%bash\ncat /etc/passwd")) == (
            "(%%bash was skipped: no programs run while grading)\n"
        )

    def test_time_and_timeit(self, session):
        run = session.execute("%%time\ny = 5\ny + 1")
        assert run.error is None
        assert "Wall time" in shown(run)
        assert run.outputs[-1]["data"] == {"text/plain": "6"}
        assert session.read("y") == 5
        run = session.execute("runs = []\n%timeit runs.append(1)")
        assert "per loop" in shown(run)
        assert len(session.read("runs")) < 10
        run = session.execute("%%time\n1 / 0")
        assert "ZeroDivisionError: division by zero" in run.outputs[-1]["traceback"]

    def test_results_are_kept_under_their_number(self, session):
        session.execute("6 * 7", number=3)
        session.execute("again = _, Out[3], _3, In[3]", number=4)
        assert session.read("again") == (42, 42, 42, "6 * 7")
        assert session.execute("6 * 7;").outputs == []

    def test_display_keeps_text_and_images_alone(self, session):
        run = session.execute(
            "from IPython.display import HTML, Javascript, display\n"
            "display(1, HTML('<script>1</script>'), Javascript('alert(1)'))\n"
            "display({'text/html': '<b>', 'application/json': '{}'}, raw=True)\n"
            "handle = display('old', display_id=True)\nhandle.update('new')"
        )
        assert run.error is None
        assert [o["output_type"] for o in run.outputs] == ["display_data"] * 4
        assert [o["data"] for o in run.outputs] == [
            {"text/plain": "1"},
            {"text/plain": "<IPython.core.display.HTML object>"},
            {"text/plain": "<IPython.core.display.Javascript object>"},
            {"text/plain": "'new'"},
        ]

    def test_clear_output(self, session):
        run = session.execute(
            "from IPython.display import clear_output\n"
            "for i in range(3):\n    clear_output()\n    print(i)"
        )
        assert shown(run) == "2\n"

    def test_top_level_await(self, session):
        run = session.execute(
            "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 3\nawait f()"
        )
        assert run.error is None
        assert run.outputs[0]["data"] == {"text/plain": "3"}

    @pytest.mark.parametrize("magic", ["%matplotlib inline\n", ""])
    def test_figures_are_kept_as_png(self, session, magic):
        pytest.importorskip("matplotlib")
        run = session.execute(
            f"{magic}import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint('drawn')",
        )
        assert run.error is None
        assert base64.b64decode(run.outputs[-1]["data"]["image/png"]).startswith(b"\x89PNG")
        session.execute("def draw(): plt.plot([1, 2])")
        session.call("draw")
        assert session.execute("1;").outputs == []  # what a hidden call drew is shown nowhere

    def test_figures_are_kept_where_matplotlib_was_imported_beforehand(self):
        pytest.importorskip("matplotlib")
        with Zygote(("numpy", "matplotlib.pyplot")) as zygote, zygote.session() as session:
            run = session.execute("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()")
        assert run.error is None
        assert base64.b64decode(run.outputs[-1]["data"]["image/png"]).startswith(b"\x89PNG")

    def test_images_have_a_limit_and_cost_no_session(self, session):
        session.execute(
            "class Big:\n    def _repr_png_(self):\n"
            "        return b'\\x89PNG\\r\\n\\x1a\\n' + bytes(600_000)"
        )
        run = session.execute("for i in range(20): display(Big())")
        assert run.error is None
        assert ["image/png" in o["data"] for o in run.outputs] == [True] + [False] * 19
        assert run.outputs[1]["data"]["text/plain"].endswith(
            "[image left out: the images of a cell may have 1024 KiB]"
        )

    def test_a_text_that_cannot_be_shown_does_not_stop_the_cell(self, session):
        run = session.execute("class E:\n    def __repr__(self): 1/0\nE()")
        assert run.error is None
        assert run.outputs[0]["ename"] == "ZeroDivisionError"

    def test_a_cell_that_does_not_end_keeps_its_output(self, session):
        run = session.execute("print('so far')\nwhile True: pass", seconds=0.5)
        assert run.error.kind == "timeout"
        assert shown(run) == "so far\n"
        assert run.outputs[-1]["ename"] == "timeout"

    def test_a_cell_that_only_just_ends_shows_everything_once(self, session):
        run = session.execute("import time\nprint(1)\ntime.sleep(0.95)\nprint(2)", seconds=1.0)
        if run.error is None:
            assert shown(run) == "1\n2\n"
        else:
            assert shown(run) == "1\n"

    def test_outputs_may_have_a_limit_of_their_own(self, session):
        run = session.execute("print('x' * 5000)", output_bytes=2048)
        assert shown(run) == "x" * 2048 + "\n[output cut after 2 KiB]\n"

    def test_nothing_is_left_of_the_zygotes_own_cells(self, session):
        session.execute("names = [n for n in dir() if n[0] != '_']\ncount = len(In)", number=1)
        assert session.read("names") == ["In", "Out", "exit", "get_ipython", "open", "quit"]
        assert session.read("count") == 2


class TestValues:
    @pytest.mark.parametrize(
        "value",
        [None, True, 3, 2**70, -0.5, 1 + 2j, "é", [1, (2, "a")], {"a": {1: [None]}}],
    )
    def test_round_trip(self, notebook, value):
        result = notebook.call("identity", value)
        assert result == value
        assert type(result) is type(value)

    def test_arrays_scalars_and_tensors(self, notebook):
        array = np.arange(12, dtype=np.float32).reshape(3, 4)
        result = notebook.call("identity", v=[array, np.int8(3)])
        np.testing.assert_array_equal(result[0], array)
        assert result[0].dtype == np.float32
        assert type(result[1]) is np.int8
        np.testing.assert_array_equal(notebook.read("x"), np.arange(4))

    def test_tensors(self):
        torch = pytest.importorskip("torch")
        with Zygote(("torch",)) as zygote, zygote.session() as session:
            session.execute("def half(t): return (t / 2).bfloat16()")
            result = session.call("half", torch.ones(2))
        assert type(result) is Tensor
        assert result.array.tolist() == [0.5, 0.5]

    def test_large_arrays(self, notebook):
        array = np.random.default_rng(0).random(1_000_000)
        np.testing.assert_array_equal(notebook.call("identity", array), array)

    @pytest.mark.parametrize(
        "made",
        [
            "[np.float64(i) for i in range(1500)]",
            "[np.zeros(5000 if i % 2 else 2) for i in range(2000)]",  # more pieces than go at once
            "[[0.5, i] for i in range(10_000)]",
            "{i: [np.zeros(3)] for i in range(2000)}",
        ],
    )
    def test_long_lists_come_back(self, notebook, made):
        notebook.execute(f"def losses(): return {made}")
        assert len(notebook.call("losses")) in (1500, 2000, 10_000)

    @pytest.mark.parametrize(
        ("made", "told"),
        [
            ("[np.float32(1), np.float64(1)] * 9000", "more values in lists"),
            ("[[], [0]] * 20_000", "more values in lists"),
            ("(i for i in x)", "a generator object"),
            ("np.array([None])", "an array of dtype object"),
        ],
    )
    def test_what_is_refused_is_no_attack(self, notebook, made, told):
        notebook.execute(f"def losses(): return {made}")
        with pytest.raises(StudentError, match=f"`losses` returned {told}") as caught:
            notebook.call("losses")
        assert caught.value.kind == "unsendable"
        assert notebook.call("identity", 1) == 1

    def test_a_result_above_the_limit(self, notebook):
        notebook.execute("def big(): return np.zeros(9_000_000)")
        with pytest.raises(StudentError, match="returned more data than can be sent") as caught:
            notebook.call("big")
        assert caught.value.kind == "unsendable"
        assert notebook.alive

    def test_a_call_cannot_change_the_graders_array(self, notebook):
        notebook.execute("def wipe(a):\n    a[:] = 0\n    return a")
        array = np.ones(3)
        answer = notebook.ask("wipe", Call((array,), {}))
        assert answer.value.tolist() == [0, 0, 0]
        assert array.tolist() == [1, 1, 1]
        assert answer.modified
        assert not notebook.ask("identity", Call((array,), {})).modified

    def test_what_a_call_prints_is_dropped(self, notebook):
        notebook.execute("def noisy(): print('secret'); return 1")
        assert notebook.call("noisy") == 1
        assert notebook.execute("").outputs == []

    def test_unsendable_arguments_are_the_graders_mistake(self, notebook):
        with pytest.raises(WireError):
            notebook.call("identity", object())
        assert notebook.call("identity", 1) == 1


class TestMessages:
    @pytest.mark.parametrize(
        ("name", "args", "kind", "message"),
        [
            (
                "softmax",
                (),
                "missing",
                "`softmax` is not defined: was its cell run, and is the name right?",
            ),
            ("x", (), "missing", "`x` is not a function: its type is ndarray"),
            ("divide", (1, 0), "exception", "`divide` raised ZeroDivisionError: division by zero"),
            (
                "lazy",
                (),
                "unsendable",
                "`lazy` returned an object object; "
                "expected numbers, arrays, text, lists, tuples or dictionaries of these",
            ),
        ],
    )
    def test_of_a_call(self, notebook, name, args, kind, message):
        with pytest.raises(StudentError) as caught:
            notebook.call(name, *args)
        assert (caught.value.kind, caught.value.message) == (kind, message)
        assert notebook.alive

    def test_of_a_variable(self, notebook):
        with pytest.raises(StudentError, match="`nope` is not defined"):
            notebook.read("nope")
        with pytest.raises(
            StudentError, match="`divide` holds a function object; expected numbers"
        ):
            notebook.read("divide")

    def test_the_line_of_the_students_code_is_the_graders_own(self, notebook):
        notebook.execute("def first(x):\n    return second(x)", number=2)
        notebook.execute("def second(x):\n    y = 1\n    return x['a']  # here", number=3)
        with pytest.raises(StudentError) as caught:
            notebook.call("first", 1)
        assert caught.value.line == "return x['a']  # here"
        far = "compile('\\n' * 90 + '1 / 0', '<cell 3>', 'exec')"
        notebook.execute(f"def sly(): exec({far})", number=4)
        with pytest.raises(StudentError) as caught:
            notebook.call("sly")
        assert caught.value.line == ""

    def test_only_one_printable_line(self, notebook):
        notebook.execute("def bad(): raise ValueError('\\x1b[31mred\\nand more')")
        with pytest.raises(StudentError) as caught:
            notebook.call("bad")
        assert caught.value.message == "`bad` raised ValueError: [31mred"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("import os; os._exit(3)", "cell 1 ended its process, for example with os._exit"),
            ("import ctypes; ctypes.string_at(0)", "cell 1 crashed Python (Segmentation fault)"),
            ("import os; os.abort()", "cell 1 crashed Python ("),
            ("import os; os.close(3)\nwhile True: pass", "cell 1 lost its process"),
        ],
    )
    def test_of_a_death(self, session, source, message):
        run = session.execute(source)
        assert run.error.kind == "died"
        assert run.error.message.startswith(message)
        assert not session.alive
        assert run.outputs[0]["output_type"] == "error"

    def test_of_a_dead_session(self, notebook):
        with pytest.raises(StudentError):
            notebook.call("spin", seconds=0.1)
        with pytest.raises(StudentError) as caught:
            notebook.call("identity", 1)
        assert caught.value.kind == "died"
        assert caught.value.message == (
            "`identity` could not be used: `spin` took longer than 0.1 s and was stopped"
        )


class TestDeadlines:
    @pytest.mark.parametrize(
        "body",
        ["while True: pass", "import time; time.sleep(60)", "9 ** 9 ** 9", "return Slow()"],
    )
    def test_a_call_costs_its_time_and_no_more(self, zygote, body):
        with zygote.session() as session:
            session.execute(
                "class Meta(type):\n    def __getattribute__(c, n):\n        while True: pass\n"
                f"class Slow(metaclass=Meta): pass\ndef f():\n    {body}"
            )
            start = time.monotonic()
            with pytest.raises(StudentError) as caught:
                session.call("f", seconds=0.3)
            assert caught.value.kind == "timeout"
            assert time.monotonic() - start < 3
        with zygote.session() as session:
            assert session.execute("1").error is None

    def test_a_peer_that_drips_bytes_gains_nothing(self, session):
        session.execute(
            "import os, time\ndef f():\n    while True: os.write(3, b'A'); time.sleep(0.02)"
        )
        start = time.monotonic()
        with pytest.raises(StudentError) as caught:
            session.call("f", seconds=0.2)
        assert caught.value.kind in ("timeout", "protocol")
        assert time.monotonic() - start < 3

    def test_a_worker_that_does_not_read(self, session):
        session.execute(
            "import signal\ndef hang(*_):\n    while True: pass\n"
            "signal.signal(signal.SIGALRM, hang); signal.setitimer(signal.ITIMER_REAL, 0.05)"
        )
        time.sleep(0.2)
        with pytest.raises(StudentError) as caught:
            session.call("f", np.zeros(4_000_000), seconds=0.3)
        assert caught.value.kind == "timeout"

    def test_processor_time_is_limited(self):
        with Zygote(limits=Limits(cpu_seconds=0)) as zygote, zygote.session() as session:
            run = session.execute("while True: pass")
        assert run.error.kind == "died"
        assert "processor time" in run.error.message


class TestManyOutputs:
    def test_streams_that_alternate(self, session):
        run = session.execute(
            "import sys\nfor i in range(5000): print(i); print(i, file=sys.stderr)"
        )
        assert run.error is None
        assert "4999" not in run.outputs[-1]["text"]


class TestZygote:
    def test_sessions_start_fresh(self, zygote):
        with zygote.session() as session:
            session.execute("import json; leftover = 1; json.dumps = None")
        with zygote.session() as session:
            assert session.execute("import json; json.dumps(1)").error is None
            with pytest.raises(StudentError):
                session.read("leftover")

    def test_it_is_replaced_when_lost(self):
        with Zygote() as zygote:
            session = zygote.session()
            zygote._process.kill()
            assert session.execute("import time; time.sleep(5)").error.kind == "died"
            session.close()
            with zygote.session() as session:
                assert session.execute("1").error is None

    def test_it_is_replaced_when_it_does_not_answer(self, monkeypatch):
        monkeypatch.setattr("autograder.sandbox.session.CONTROL_SECONDS", 0.5)
        monkeypatch.setattr(Zygote._command, "__kwdefaults__", {"seconds": 0.5})
        with Zygote() as zygote:
            session = zygote.session()
            first = zygote._process.pid
            for pid in (first, *descendants(first)):
                os.kill(pid, signal.SIGSTOP)
            assert session.close().cpu_seconds == 0
            with zygote.session() as session:
                assert session.execute("1").error is None
            assert zygote._process.pid != first

    def test_no_process_outlives_it(self):
        with Zygote() as zygote:
            session = zygote.session()
            started = descendants(zygote._process.pid)
        assert started
        assert all(ends(pid) for pid in started)
        session.close()

    def test_it_ends_with_the_grader(self):
        source = (
            "from autograder.sandbox import Zygote\n"
            "zygote = Zygote()\n"
            "session = zygote.session()\n"
            "print('ready', flush=True)\n"
            "import os; input(); os._exit(0)"
        )
        with subprocess.Popen(
            [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as grader:
            assert grader.stdout.readline() == b"ready\n"
            started = descendants(grader.pid)
            assert len(started) >= 2
            grader.communicate(b"\n")
        assert all(ends(pid) for pid in started)

    def test_a_module_that_is_not_installed(self):
        with pytest.raises(SandboxError, match="'no_such_module' is not installed"):
            Zygote(("numpy", "no_such_module")).session()

    def test_usage(self, zygote):
        with zygote.session() as session:
            session.execute("s = sum(range(3_000_000))")
            usage = session.close()
            assert usage.cpu_seconds > 0.01
            assert usage.max_rss_mb > 1
            assert session.close() == usage

    def test_without_isolation_it_refuses(self):
        with pytest.raises(SandboxError, match=r"cannot isolate student code .* trust=True"):
            Zygote(isolation=Isolation("C"))

    def test_the_tier_is_known(self, zygote):
        assert zygote.isolation is probe()
        assert {"Landlock", "seccomp"} <= {part.what for part in probe().tried}


class TestTurns:
    """The grader and the processes of its sessions share a processor, as long as there are any."""

    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch):
        """Other graders of this machine may have taken all processors."""
        monkeypatch.setattr(affinity, "_NAME", f"\0test.{os.getpid()}.")

    def test_one_processor_for_all_and_then_none_is_preferred(self, zygote):
        usual = os.sched_getaffinity(0)
        source = "import os; cpus = os.sched_getaffinity(0)"
        with zygote.session() as first:
            here = os.sched_getaffinity(0)
            assert len(here) == 1
            with zygote.session() as second:
                for session in (first, second):
                    session.execute(source)
                    assert set(session.read("cpus")) == here
            assert os.sched_getaffinity(0) == here
        assert os.sched_getaffinity(0) == usual

    def test_no_two_graders_choose_the_same(self, zygote):
        usual = os.sched_getaffinity(0)
        taken = []
        for cpu in usual:
            taken.append(socket.socket(socket.AF_UNIX))
            taken[-1].bind(f"{affinity._NAME}{cpu}")
        with zygote.session() as session:
            assert os.sched_getaffinity(0) == usual
            assert session.execute("import os; cpus = os.sched_getaffinity(0)").error is None
            assert set(session.read("cpus")) == usual
        last = taken.pop()
        last.close()
        with zygote.session():
            assert os.sched_getaffinity(0) == {list(usual)[-1]}
        for claim in taken:
            claim.close()

    def test_it_ends_where_a_session_is_lost(self, zygote):
        usual = os.sched_getaffinity(0)
        with zygote.session() as session:
            session.execute("import os; os._exit(0)")
            assert os.sched_getaffinity(0) == usual
        assert os.sched_getaffinity(0) == usual

    def test_it_ends_with_the_zygote(self):
        usual = os.sched_getaffinity(0)
        with Zygote() as zygote:
            session = zygote.session()
            zygote._process.kill()
            while session.alive:  # bubblewrap is killed, and what it runs a moment later
                session.execute("1")
            again = zygote.session()
            zygotes = {zygote._process.pid, *descendants(zygote._process.pid)}  # or bubblewrap's
            assert any(os.sched_getaffinity(pid) == usual for pid in zygotes)
        assert os.sched_getaffinity(0) == usual
        session.close()
        again.close()
        assert os.sched_getaffinity(0) == usual


class TestNumbers:
    def test_a_students_own_numbers(self, zygote):
        numbers = {"hand": {"q": np.arange(3), "d_k": 4}}
        with zygote.session(numbers) as session:
            run = session.execute(
                "from check import check, student, your_numbers\n"
                "student('ada')\ncheck('hand')\n"
                "d = your_numbers('hand')\nd['q'][0] = 99\n"
                "again, unknown = your_numbers('hand'), your_numbers('other')"
            )
            assert run.outputs == []
            assert session.read("again")["q"].tolist() == [0, 1, 2]
            assert session.read("again")["d_k"] == 4
            assert session.read("unknown") == {}

    def test_numbers_that_cannot_be_sent(self, zygote):
        with pytest.raises(WireError):
            zygote.session({"hand": {"q": object()}})


def test_asking_for_the_tier_loads_no_numpy():
    source = "import sys, autograder.sandbox.isolation; print('numpy' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", source], check=True, capture_output=True, text=True
    )
    assert output.stdout == "False\n"
