"""References share a module of helpers, which is proved, written out for simulated students, and
never shipped."""

import sys

import numpy as np
import pytest

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.sources import function_source
from autograder.course.proofs.verify import verify, verify_helpers
from autograder.course.release.leak import leaks

HELPERS = '''
"""Shared."""
import numpy as np

FACTOR = 2

def scaled(x):
    """FACTOR times x.

    >>> scaled(3)
    6
    """
    return FACTOR * x

def doubled(x):
    """The same, by way of `scaled`.

    >>> doubled(np.array([1, 2])).tolist()
    [2, 4]
    """
    return np.asarray(scaled(x))
'''
TOY = '''
from autograder.exercise import Exercise, agree
from reference.helpers import doubled as twice

exercise = Exercise("toy", title="Toy", source="none")

def scaled(x):  # another one than the helpers' own
    return x**3

@exercise.reference
def double(x: int):
    """Return 2 x."""
    return twice(x)

@exercise.check(points=1)
def doubles(call, rng):
    """Doubles."""
    x = rng.normal(size=3)
    agree(call(x), double(x))

@exercise.misconception
def cubes(x):
    """You took the third power."""
    return double(0 * x) + scaled(x)
'''
STUB = """
# %%
import numpy as np

# %% exercise="toy"
def double(x):
    raise NotImplementedError
"""


@pytest.fixture
def write(tmp_path):
    def write(helpers=HELPERS, toy=TOY):
        files = {
            "course_config.py": "c = get_config()\n"
            "c.Course.assignments = [{'id': 'toys', 'title': 'Toys'}]\n",
            "assignments/toys/toys.py": STUB,
            "reference/toys/toy.py": toy,
            "reference/helpers.py": helpers,
        }
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return Course.load(tmp_path)

    return write


def problems(course):
    return " | ".join(p for proof in verify_helpers(course) for p in proof.problems)


def test_an_exercise_with_helpers_proves_itself_and_so_do_they(write):
    course = write()
    (proof,) = verify(load_assignment(course, "toys"))
    assert proof.problems == []
    assert problems(course) == ""


def test_a_simulated_student_writes_helpers_out(write):
    (function,) = load_assignment(write(), "toys").sound["toy"].functions
    for compute, right in ((function.solution, [2, 4]), (function.misconceptions[0], [1, 8])):
        names = {}
        source = function_source(function, compute)
        exec(source, names)
        assert names["double"](np.array([1, 2])).tolist() == right
        assert "reference" not in source
        assert '"""' not in source


def test_two_courses_keep_their_helpers_apart(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # wherever this runs
    assert load_assignment(write(), "toys").sound["toy"].functions[0].solution(3) == 6
    tripled = HELPERS.replace("FACTOR = 2", "FACTOR = 3")
    assert load_assignment(write(tripled), "toys").sound["toy"].functions[0].solution(3) == 9


def test_what_is_broken_in_helpers_is_named_where_it_is(write):
    (broken,) = load_assignment(write("def scaled(:\n"), "toys").broken
    assert "helpers.py:1: SyntaxError" in broken.message
    assert "can't be loaded: SyntaxError" in problems(write("def scaled(:\n"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (">>> scaled(3)\n    6", ">>> scaled(3)\n    7", "an example of `scaled` fails"),
        (">>> scaled(3)\n    6", "", "`scaled` has no example"),
        ("def doubled", "def unused(x):\n    pass\n\ndef doubled", "`unused` has no docstring"),
        ("def doubled", "def unused(x):\n    pass\n\ndef doubled", "no reference uses `unused`"),
        ("import numpy", "import pytest\nimport numpy", "line 3: it imports pytest"),
    ],
)
def test_a_helper_that_proves_nothing_is_told(write, old, new, says):
    assert says in problems(write(HELPERS.replace(old, new)))


def test_a_reference_that_imports_what_it_must_not_is_told(write):
    toy = TOY.replace(
        "from autograder.exercise",
        "from autograder.grading import checks\n\nfrom autograder.exercise",
        1,
    )
    (proof,) = verify(load_assignment(write(toy=toy), "toys"))
    assert any("line 2 imports autograder.grading" in problem for problem in proof.problems)


def test_helpers_in_a_release_are_a_leak(write):
    secret = HELPERS.replace("FACTOR * x", "np.log(np.exp(x)) + np.abs(x)")
    assignment = load_assignment(write(secret), "toys")
    found = leaks(assignment, {"check.py": b"return np.log(np.exp(x)) + np.abs(x)"})
    assert any("reference/helpers.py" in leak for leak in found)
