"""An assignment of three exercises, the second of which an attack answers."""

import gc
import os
import sqlite3
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise import Exercise, Numbers, agree
from autograder.exercise.properties import leaves_alone
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.sandbox import Isolation, Limits, Zygote

from ..processes import descendants
from ..tiers import isolation_of
from .attacks import CANARY, HONEST, MARK, SHM_KEY

LIMITS = Limits(
    cell_seconds=1.0, call_seconds=1.0, memory_mb=128, cpu_seconds=20.0, payload_bytes=1 << 20
)

#: Under which tiers everything is tried; .ci/run names others as an ordinary user.
TIERS = os.environ.get("AUTOGRADER_TIERS", "A B").split()


def pytest_collection_modifyitems(items):
    """Run what looks for traces in one process: what another one leaves for a moment would be some.

    Of other files each goes to one, for what its tests share.
    """
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.sandbox)
            if item.config.pluginmanager.hasplugin("xdist"):
                traces = not {"zygote", "unlocked"}.isdisjoint(item.fixturenames)
                name = "hostile" if traces else item.path.stem
                item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(scope="session", autouse=True)
def without_dask():
    """Take away what Dask has called at each collection of garbage: no grader has it loaded.

    A timer that strikes in there is lost until it strikes again.
    """
    gc.callbacks.clear()


@pytest.fixture(scope="session")
def world():
    """A course that anybody could read, and a folder in which anybody could write."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder)
        files = {
            "reference/a01/softmax.py": "SECRET = 1",
            "submitted/eve.ipynb": "{}",
            "nbgrader_config.py": "c = 1",
            "victim": "here",
            "open/package.py": "",
            "open/nbgrader_config.py": "",
            "open/empty": "",
        }
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        with sqlite3.connect(root / "gradebook.db") as database:
            database.execute("create table grade (score real)")
        database.close()
        for path in [root, *root.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        for path in [root / "open", root / "victim", *(root / "open").iterdir()]:
            path.chmod(0o777)
        yield root


@pytest.fixture(scope="session", params=TIERS)
def tier(request):
    """A tier that this machine gives, or a weaker one."""
    return isolation_of(request.param).tier


@pytest.fixture(scope="session")
def zygote(tier):
    with Zygote(isolation=Isolation(tier), limits=LIMITS) as zygote:
        yield zygote


@pytest.fixture(scope="session")
def unlocked():
    """What student code could do if nothing held it back."""
    with Zygote(isolation=Isolation("C"), trust=True, limits=Limits(cell_seconds=30)) as zygote:
        yield zygote


_USED = []  # by the processes of student code


@pytest.fixture(autouse=True)
def measured(record_property):
    """Note, for bench/hostile.py, what a test has taken: the grader and student code together."""
    _USED.clear()
    before = time.process_time()
    yield
    students = sum(used["cpu_seconds"] for used in _USED)
    record_property("cpu_seconds", time.process_time() - before + students)
    record_property("peak_mb", max((used["peak_mb"] for used in _USED), default=0.0))


def _exercises():
    answer = Exercise("answer", title="A number", source="none")

    @answer.part(points=1, answer=Numbers())
    def six_times_seven():
        """6 · 7."""
        return 42

    def function(id):
        exercise = Exercise(id, title="Softmax", source="none")

        def softmax(x):
            """Return the softmax of a vector."""
            e = np.exp(x - x.max())
            return e / e.sum()

        softmax.__name__ = "softmax" if id == "attacked" else "last"
        exercise.reference(softmax)

        @exercise.check(points=1, visible=True)
        def is_the_softmax(call, rng):
            """Equals the formula."""
            x = rng.normal(size=4)
            agree(call(x), softmax(x))

        @exercise.check(points=2)
        def of_large_numbers(call, rng):
            """Is finite for large numbers."""
            x = np.array([CANARY, CANARY - 1, 0])
            agree(call(x), softmax(x))

        @exercise.check(points=1)
        def leaves_its_argument_alone(call, rng):
            """Does not change its argument."""
            leaves_alone(call, rng.normal(size=4))

        return exercise

    return [answer, function("attacked"), function("last")]


EXERCISES = _exercises()
POINTS = {"answer": 1, "attacked": 4, "last": 4}
SCRATCH = "try: print(os.listdir(os.environ['HOME']))\nexcept OSError: print([])"


def _cell(source, id=""):
    metadata = {"nbgrader": {"grade_id": id}} if id else {}
    empty = {"outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": f"c-{id}", "metadata": metadata, "source": source, **empty}


def notebook(attack, at_the_end=""):
    cells = [
        _cell(f"import os\nimport numpy as np\n{SCRATCH}"),
        _cell("six_times_seven = 42", "answer"),
        _cell("check('answer')", "check_answer"),
        _cell(attack, "attacked"),
        _cell("check('attacked')", "check_attacked"),
        _cell(HONEST.replace("softmax", "last"), "last"),
        _cell("check('last')", "check_last"),
    ]
    cells += [_cell(at_the_end)] if at_the_end else []
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@dataclass(frozen=True)
class Marked:
    """What came of a submission, and its notebook with outputs."""

    grade: object
    notebook: dict

    @property
    def scores(self):
        return {exercise.id: exercise.score for exercise in self.grade.exercises}

    def output(self, id):
        """The text that a cell has shown."""
        [cell] = [c for c in self.notebook["cells"] if c["id"] == f"c-{id}"]
        return "".join(output.get("text", "") for output in cell["outputs"])


@pytest.fixture(scope="session")
def grade(world):
    """A function that grades a notebook with an attack in it, as a class is graded."""
    assigned = [Assigned(e.id, e, POINTS[e.id]) for e in EXERCISES]

    def grade(zygote, attack, at_the_end=""):
        source = notebook(attack.replace("@WORLD", str(world)), at_the_end)
        marked = Marked(*grade_submission(SubmissionRun("a00", "eve", source, assigned, zygote)))
        _USED.append(marked.grade.runtime)
        return marked

    return grade


def _files(world):
    return {path: path.stat().st_size for path in world.rglob("*")}


def _system_v():
    tables = Path("/proc/sysvipc").iterdir()
    lines = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    return [fields for fields in lines if int(fields[0]) == SHM_KEY]


@pytest.fixture
def left(world):
    """What is there that was not when the test began: a function of the zygote."""
    before = _files(world)

    def left(zygote, usual):
        folders = [Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path.cwd(), world]
        marked = [path for folder in folders for path in folder.glob(f"*{MARK}*")]
        changed = _files(world).items() ^ before.items()
        return [
            *marked,
            *changed,
            *_system_v(),
            *(descendants(zygote._process.pid) - usual),
        ]

    return left


@pytest.fixture(scope="session")
def usual(zygote):
    """The processes that a zygote consists of, once it has started."""
    zygote.session().close()
    return descendants(zygote._process.pid)
