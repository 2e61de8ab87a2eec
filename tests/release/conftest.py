"""A small course of its own, its release, and a student's Python that has numpy alone."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.release.build import build
from autograder.course.release.shipping import formulas_module

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "mini"
c.Course.assignments = [{"id": "a01_mini", "title": "Mini"}]
"""

TEXT = '''\
# %% [markdown]
# # A small assignment

# %% [markdown]
# Your numbers:

# %%
your_numbers("by_hand")

# %% exercise="by_hand"
doubled = None
letter = ""
formula = None

# %% [markdown] exercise="by_hand" part="why"
# *Your answer.*

# %% exercise="norm"
import numpy as np


def norm(x: "array", axis: "which" = -1, *, keep=False):
    """Return the norm of x."""
    raise NotImplementedError
'''

BY_HAND = '''\
"""By hand."""
from autograder.exercise import Choice, Essay, Exercise, Formula, Numbers

exercise = Exercise("by_hand", title="Numbers by hand", source="None", pool=8)

@exercise.variant
def draw(rng):
    """x: two or three numbers."""
    return {"x": rng.normal(size=rng.integers(2, 4)), "k": rng.integers(2, 9), "unit": "cm"}

@exercise.part(points=1, answer=Numbers())
def doubled(x):
    """Twice your numbers."""
    return 2 * x + 0 * x.sum()  # added for the sake of an operation

@doubled.misconception()
def squared_instead(x):
    """You squared the numbers. Twice a number is the number plus itself."""
    return x**2

@exercise.part(points=1, answer=Choice("AB"))
def letter():
    """The right letter."""
    return "A"

@exercise.part(points=0.5, answer=Formula("a b_1"))
def formula():
    """A formula in a and b₁."""
    return "a + b_1"

@exercise.part(points=2, answer=Essay())
def why():
    """Why so?

    (1) The word double stands there.
    """
    return "Because every number has exactly one double. Short."
'''

NORM = '''\
"""A function."""
import numpy as np
from autograder.exercise import Exercise, agree, require

exercise = Exercise("norm", title="The length of a vector", source="None")

@exercise.reference
def norm(x, axis=-1, *, keep=False):
    """Return the Euclidean norm."""
    squares = np.sum(np.square(x), axis=axis, keepdims=keep)
    return np.sqrt(squares)

@exercise.check(points=1, visible=True)
def right_length(call, rng):
    """Equals the root of the sum of squares."""
    x = rng.normal(size=(2, 3))
    agree(call(x), norm(x))
    agree(call(x, axis=0, keep=True), norm(x, 0, keep=True))

@exercise.check(points=1, visible=True)
def single_stays_single(call, rng):
    """Single precision stays single precision, and the input stays what it is."""
    out = call(np.ones((4, 2), np.float32))
    require(not call.modified, "the input changed")
    require(out.dtype == np.float32 and out.shape == (4,), "the type changed")

@exercise.check(points=1)
def works_on_tiny_numbers(call, rng):
    """Tiny numbers do not vanish."""
    agree(call(np.array([3e-20, 4e-20])), 5e-20)

@exercise.misconception
def no_root_taken(x, axis=-1, *, keep=False):
    """You forgot the root. A length has the unit of its entries."""
    return np.sum(np.square(x), axis=axis, keepdims=keep)

@exercise.misconception
def always_double(x, axis=-1, *, keep=False):
    """The result is float64. Keep the type of the input, please."""
    return norm(x.astype(float), axis, keep=keep)
'''

STUDENTS_PYTHON = """
import sys

class NumpyAlone:
    def find_spec(self, name, path=None, target=None):
        ours = {"numpy", "check", "check_formulas"}
        if name.partition(".")[0] not in sys.stdlib_module_names | ours:
            raise ImportError(f"students don't have {name}")

sys.meta_path.insert(0, NumpyAlone())
sys.path.insert(0, ".")
from check import check, hint, practice, solution, student, your_numbers
"""


@pytest.fixture(scope="module")
def formulas(tmp_path_factory):
    """check_formulas.py, importable, as check.py finds it beside itself."""
    path = tmp_path_factory.mktemp("shipped") / "check_formulas.py"
    path.write_bytes(formulas_module())
    spec = importlib.util.spec_from_file_location("check_formulas", path)
    sys.modules["check_formulas"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield
    del sys.modules["check_formulas"]


@pytest.fixture
def mini(tmp_path):
    """Return a function that makes the small course, with texts replaced by file name."""

    def make(**changes):
        files = {
            "course_config.py": CONFIG,
            "assignments/a01_mini/a01_mini.py": TEXT,
            "reference/a01_mini/by_hand.py": BY_HAND,
            "reference/a01_mini/norm.py": NORM,
        }
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            for old, new in changes.get(path.stem, []):
                assert old in content
                content = content.replace(old, new)
            path.write_text(content, encoding="utf-8")
        return load_assignment(Course.load(tmp_path), "a01_mini")

    return make


@pytest.fixture
def released(mini):
    """Return the folder with the release of the small course."""
    assignment = mini()
    return write(build(assignment), assignment.course.root / "release" / assignment.id)


def write(files, folder):
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def as_student():
    """Return a function that runs a student's code in a folder and returns what it prints."""

    def run(folder: Path, code: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-I", "-c", STUDENTS_PYTHON + code],
            cwd=folder,
            env={"OPENBLAS_NUM_THREADS": "1", **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def write_release():
    """Return a function that writes built files into a new folder."""
    return write
