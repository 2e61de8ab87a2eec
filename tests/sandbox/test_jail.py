"""What the jail holds back, and what student code may still do in it."""

import contextlib
import struct
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import pytest

from autograder.sandbox import StudentError, Zygote
from autograder.sandbox.jails import confinement, control, root, seccomp

pytestmark = pytest.mark.sandbox

COURSE = Path(__file__).resolve().parents[2]


class TestReading:
    """Student code may import what is installed, and read nothing else."""

    def test_installed_libraries_can_be_imported(self, session):
        run = session.execute("import sqlite3, decimal, numpy.polynomial, ctypes.util")
        assert run.error is None, run.error

    def test_matplotlib_works_without_a_folder_to_write_to(self, session):
        pytest.importorskip("matplotlib")
        run = session.execute(
            "import matplotlib.pyplot as plt, io\nplt.plot([1, 2])\nplt.savefig(io.BytesIO())"
        )
        assert run.error is None, run.error

    def test_the_allow_list_holds_libraries_alone(self):
        for path in map(Path, confinement.python_paths()):
            assert not COURSE.is_relative_to(path)
            assert {"lib", "lib64", "lib32"} & set(path.parts), path

    def test_the_graders_environment_is_not_there(self, monkeypatch):
        monkeypatch.setenv("GRADER_SECRET", "7f3a")
        with Zygote() as zygote, zygote.session() as session:
            session.execute("import os; names = list(os.environ)")
            # Python itself adds LC_CTYPE where the system lacks the locale.
            added = {"IPYTHONDIR", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR"}
            added |= {"LC_CTYPE", "PWD", "TMPDIR"}
            assert set(session.read("names")) <= control.environment().keys() | added

    def test_no_descriptor_but_the_connection_is_open(self, session):
        session.execute(
            "import fcntl\nopen_ = []\nfor d in range(2000):\n"
            "    try: fcntl.fcntl(d, 1); open_.append(d)\n    except OSError: pass"
        )
        assert session.read("open_") == [0, 1, 2, 3]

    def test_the_framework_is_not_in_memory_nor_what_finds_it(self, session):
        """However it is installed: in its own folder or among the libraries."""
        session.execute(
            "import sys\nours = [m for m in sys.modules if 'autograder' in m]\n"
            f"where = [p for p in sys.path + sys.argv + sys.orig_argv if '{COURSE}/auto' in p]\n"
            "hooks = [h.__module__ for h in sys.meta_path + sys.path_hooks]"
        )
        assert session.read("ours") == []
        assert session.read("where") == []
        assert "_frozen_importlib" in session.read("hooks")
        assert not [hook for hook in session.read("hooks") if "autograder" in hook]

    def test_the_framework_can_not_be_imported_from_its_own_folder(self, zygote, unlocked):
        """Without isolation, too: no other folder than Python's own is searched."""
        purelib = Path(sysconfig.get_path("purelib"))
        if (purelib / "autograder").exists():
            pytest.skip("the framework is installed among the libraries, which can be read")
        assert list(purelib.glob("__editable__*autograder*")), "the positive control"
        for each in (zygote, unlocked):
            with each.session() as session:
                assert session.execute("import autograder").error.type == "ModuleNotFoundError"

    def test_the_user_is_not_root(self, session):
        session.execute("import os; ids = [*os.getresuid(), *os.getresgid()]")
        assert 0 not in session.read("ids")


class TestResources:
    @pytest.mark.parametrize(
        "body",
        [
            "return np.ones(1 << 33).sum()",
            "return len([bytearray(b'x' * (1 << 20)) for _ in range(3000)])",
            "import mmap; return len([mmap.mmap(-1, 1 << 20) for _ in range(3000)])",
        ],
    )
    def test_memory(self, session, body):
        session.execute(f"import numpy as np\ndef attack():\n    {body}")
        with pytest.raises(StudentError) as caught:
            session.call("attack")
        assert caught.value.type in ("MemoryError", "_ArrayMemoryError", "OSError")
        assert session.execute("1").error is None

    def test_threads_work_up_to_a_number(self, session):
        session.execute(
            "import threading\nstop = threading.Event()\nthreading.stack_size(1 << 15)\n"
            "def start(n):\n    i = 0\n    try:\n        for i in range(n):\n"
            "            threading.Thread(target=stop.wait, daemon=True).start()\n"
            "    except RuntimeError: pass\n    return i"
        )
        assert session.call("start", 20) == 19
        assert session.call("start", 3000) < 1000

    def test_no_file_grows(self, session):
        session.execute("import os\nopen(os.devnull, 'w').write('x')\nok = True")
        assert session.read("ok") is True


class TestTheConnection:
    def test_replies_forged_in_advance(self, session):
        forged = '{"d":["id","0000000000000000","value",100]}'
        frame = struct.pack("<4sIQ", b"AGW1", len(forged), 0) + forged.encode()
        soon = f"thread = threading.Timer(0.1, os.write, (3, {frame!r}))"
        runs = [
            session.execute(f"import threading, os\n{soon}\nthread.start()"),
            session.execute("thread.join()"),
        ]
        # On a slow machine the forged reply may already come before the first one.
        assert "protocol" in {run.error.kind for run in runs if run.error}
        assert not session.alive

    @pytest.mark.parametrize(
        "junk",
        [
            b"junk" * 10,
            struct.pack("<4sIQ", b"AGW1", 2, 1 << 40) + b"{}",
            struct.pack("<4sIQ", b"AGW1", 1 << 30, 0),
            struct.pack("<4sIQ", b"AGW1", 4, 0) + b"null",
        ],
    )
    def test_junk(self, session, junk):
        session.execute(f"import os\ndef attack(): os.write(3, {junk!r})")
        with pytest.raises(StudentError, match="interfered with the connection") as caught:
            session.call("attack")
        assert caught.value.kind == "protocol"
        assert not session.alive

    def test_outputs_are_checked(self, session):
        # The worker's own objects can be reached, so it can be made to say anything.
        source = (
            "import gc, sys\n"
            "[w] = [o for o in gc.get_objects() if type(o).__name__ == 'Worker']\n"
            "w._execute = lambda *a: {'error': None, 'outputs': [{'output_type': 'display_data',"
            " 'data': {'text/html': '<script>'}}]}"
        )
        assert session.execute(source).error is None
        run = session.execute("1")
        assert run.error.kind == "protocol"
        assert "script" not in str(run.outputs)

    def test_a_descriptor_sent_along_is_dropped(self, session):
        session.execute(
            "import socket\ndef attack():\n"
            "    s = socket.socket(fileno=3); socket.send_fds(s, [b'x'], [0]); s.detach()"
        )
        with pytest.raises(StudentError):
            session.call("attack")


class TestObjects:
    def call(self, session, source, *args):
        session.execute(f"import numpy as np, time\n{source}")
        return session.call("f", *args, seconds=0.5)

    def test_lazy_objects_are_not_evaluated(self, session):
        source = (
            "class Lazy:\n    def __array__(s, *a, **k): time.sleep(60)\n"
            "    __len__ = __iter__ = __float__ = __array__\ndef f(): return Lazy()"
        )
        with pytest.raises(StudentError, match="returned a Lazy object"):
            self.call(session, source)
        assert session.alive

    def test_an_array_that_always_agrees(self, session):
        source = (
            "class Yes(np.ndarray):\n    def __eq__(s, o): return True\n"
            "    def __array__(s, *a, **k): time.sleep(60)\n"
            "def f(): return np.zeros(2).view(Yes)"
        )
        result = self.call(session, source)
        assert type(result) is np.ndarray
        assert (result == 0).all()

    @pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit"])
    def test_exceptions_that_end_programs(self, session, name):
        with pytest.raises(StudentError, match=f"`f` raised {name}"):
            self.call(session, f"def f(): raise {name}")
        assert session.alive

    def test_an_exception_that_sleeps(self, session):
        source = "class E(Exception):\n    def __str__(s): time.sleep(60)\ndef f(): raise E"
        with pytest.raises(StudentError) as caught:
            self.call(session, source)
        assert caught.value.kind == "timeout"


class TestPatching:
    """Whoever breaks the process breaks it for himself."""

    @pytest.mark.parametrize(
        "source",
        [
            "import json\njson.dumps = json.loads = json.JSONEncoder.encode = lambda *a: '{}'",
            "import builtins\nbuiltins.isinstance = lambda *a: True",
            "import builtins\nbuiltins.type = builtins.len = None",
            "import sys\nsys.modules.clear()",
            "import socket\nsocket.socket.sendmsg = None",
            "import numpy as np\nnp.ndarray = np.generic = list",
            "import sys\nsys.setrecursionlimit(20)",
            "import sys\nsys.settrace(lambda *a: 1 / 0)",
            "import gc\nfor o in gc.get_objects():\n    if type(o) is dict: o.clear()",
        ],
    )
    def test_the_grader_gets_a_value_or_an_error(self, zygote, source):
        with zygote.session() as session:
            session.execute(f"def f(x): return x\n{source}", seconds=1)
            with contextlib.suppress(StudentError):
                assert session.call("f", 3, seconds=1) == 3
        with zygote.session() as session:
            session.execute("def f(x): return x")
            assert session.call("f", 3) == 3

    def test_clocks(self, session):
        session.execute(
            "import time\ntime.monotonic = time.time = time.perf_counter = lambda: 0.0\n"
            "def f():\n    while True: pass"
        )
        with pytest.raises(StudentError) as caught:
            session.call("f", seconds=0.2)
        assert caught.value.kind == "timeout"


class TestPreparation:
    def test_both_processors_are_known(self, monkeypatch):
        for machine in ("x86_64", "aarch64"):
            monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
            assert seccomp.supported()
        monkeypatch.setattr("platform.machine", lambda: "riscv64")
        assert not seccomp.supported()

    def test_a_closed_folder_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            outer = Path(folder)
            inner = outer / "closed" / "python" / "lib"
            inner.mkdir(parents=True)
            outer.chmod(0o755)
            assert root._closed_folder(str(inner)) is None
            (outer / "closed").chmod(0o700)
            assert root._closed_folder(str(inner)) == str(outer / "closed")

    def test_the_advice_names_the_folder(self):
        assert "/srv/python cannot be read" in root._advice("/srv/python")
