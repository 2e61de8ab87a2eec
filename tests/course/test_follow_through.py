"""What follows from one's own earlier function counts, and `verify` finds where it does not."""

import json

import numpy as np
import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.building import unlike_problems
from autograder.course.proofs.follow_through import own_problems
from autograder.course.proofs.verify import verify
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.delivery import nbgrader_settings
from autograder.delivery.department.releasing import generate
from autograder.exercise import Exercise, Formula, Numbers

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "following"
c.Course.assignments = [{"id": "a01_all", "title": "1", "guessed": (1.0, "it is so small")}]
c.Course.limits = {"cell_seconds": 1.0, "call_seconds": 1.0}
"""
DOUBLE = '''
"""A function."""
from autograder.exercise import Exercise, agree

exercise = Exercise("double", title="Double", source="none")

@exercise.reference
def doubled(x):
    """Return 2 x."""
    return 2 * x

@exercise.check(points=1)
def doubles(call, rng):
    """Doubles."""
    for x in rng.normal(size=(2, 3)):
        agree(call(x), doubled(x))

@exercise.misconception
def squared(x):
    """You squared."""
    return x**2
'''
TOTAL = '''
"""Numbers that it helps to find, and a function."""
import numpy as np
from autograder.exercise import Exercise, Formula, Numbers, agree

exercise = Exercise("total", title="Total", source="none")
doubled = exercise.carries("a01_all/double", "doubled")
values = np.array([1.5, 2.5, 5.0])

@exercise.part(points=2, answer=Numbers())
def entries():
    """The doubled numbers."""
    return doubled(values)

@entries.misconception()
def one_too_many():
    """You added 1."""
    return doubled(values) + 1

@exercise.part(points=2, answer=Numbers())
def sum_of(entries):
    """Their sum."""
    return entries.sum()

@exercise.reference
def doubled_sum(x):
    """Return the sum of the doubled numbers."""
    return doubled(x).sum()

@exercise.check(points=2)
def adds_up(call, rng):
    """Is the sum."""
    for x in (rng.normal(size=3), rng.normal(size=4)):
        agree(call(x), doubled_sum(x))

@exercise.misconception
def difference(x):
    """You subtracted."""
    return -doubled(x).sum()
'''
TEXT = """\
# %% [markdown]
# # All
#
# %% exercise="double"
def doubled(x):
    raise NotImplementedError

# %% exercise="total"
entries = None
sum_of = None

def doubled_sum(x):
    raise NotImplementedError
"""
SQUARED = "def doubled(x):\n    return x**2\n"
SUM = "def doubled_sum(x):\n    return doubled(x).sum()\n"


@pytest.fixture
def course(tmp_path):
    """Return a function that makes the course with another text of the second exercise."""

    def make(total=TOTAL):
        files = {
            "course_config.py": CONFIG,
            nbgrader_settings.FILE: nbgrader_settings.TEXT,
            "reference/a01_all/double.py": DOUBLE,
            "reference/a01_all/total.py": total,
            "assignments/a01_all/a01_all.py": TEXT,
        }
        for place, content in files.items():
            path = tmp_path / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return Course.load(tmp_path)

    return make


def test_an_exercise_that_builds_on_another_one_proves_itself(course):
    assert [proof.problems for proof in verify(load_assignment(course(), "a01_all"))] == [[], []]


@pytest.mark.parametrize(
    "own",
    [
        "def doubled(x):\n    return 2 * x\n",
        "def twice(x):\n    return x + x\ndoubled = twice\n",
    ],
)
def test_what_is_computed_with_a_function_of_the_authors_own_is_found(course, own):
    total = TOTAL.replace('doubled = exercise.carries("a01_all/double", "doubled")\n', own)
    proof = verify(load_assignment(course(total), "a01_all"))[1]
    assert "which students have from double" in proof.problems[0]


def test_what_is_computed_with_a_function_of_the_same_exercise_is_found(course):
    total = TOTAL.replace("return entries.sum()", "return doubled_sum(values)")
    proof = verify(load_assignment(course(total), "a01_all"))[1]
    assert "`sum_of` is computed with `doubled_sum`, which students write here" in proof.problems[0]


#: The reference of `doubled_sum` doubles by itself; who calls the own function is right as well.
ANOTHER_WAY = TOTAL.replace(
    """return doubled(x).sum()

@exercise.check""",
    """return 2 * x.sum()

@exercise.alternative
def of_the_doubled(x):
    return doubled(x).sum()

@exercise.check""",
)


def test_what_follows_by_an_alternative_alone_follows(course):
    assert not verify(load_assignment(course(ANOTHER_WAY), "a01_all"))[1].problems


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("double", "total", "scores", "notes"),
    [
        pytest.param(
            SQUARED,
            f"entries = [2.25, 6.25, 25]\nsum_of = 33.5\n{SUM}",
            [2, 2, 2],
            ["follow_through"] * 3,
            id="it follows",
        ),
        pytest.param(
            SQUARED,
            f"entries = [3.25, 7.25, 26]\nsum_of = 36.5\n{SUM.replace('return ', 'return -')}",
            [0, 2, 0.8],
            ["one_too_many", "follow_through", "difference"],
            id="a mistake beside it is known",
        ),
        pytest.param(
            SQUARED.replace("x**2", "2 * x"),
            f"{SQUARED}entries = [2.25, 6.25, 25]\nsum_of = 33.5\n",
            [0, 2, 0],
            ["", "follow_through", "blank"],
            id="the function as it was graded",
        ),
        pytest.param(
            SQUARED.replace("x**2", "0 * x"),
            f"entries = [0, 0, 0]\nsum_of = 0\n{SUM}",
            [0, 0, 0],
            ["", "", "idle"],
            id="what takes no work",
        ),
        pytest.param(
            SQUARED.replace("return x**2", "raise NotImplementedError"),
            f"entries = None\nsum_of = None\n{SUM}",
            [0, 0, 2],
            ["blank", "blank", ""],
            id="what was left as it was handed out is taken for the right one",
        ),
        pytest.param(
            SQUARED.replace("return x**2", "while True: pass"),
            f"entries = [2.25, 6.25, 25]\nsum_of = 33.5\n{SUM}",
            [0, 2, 0],
            ["", "follow_through", "timeout"],
            id="it hangs",
        ),
        pytest.param(
            SQUARED.replace("return x**2", "return 2 * x if len(x) == 3 else 1 / 0"),
            f"entries = [3, 5, 10]\nsum_of = 18\n{SUM}",
            [2, 2, 2],
            ["", "", "follow_through"],
            id="it raises an exception for some",
        ),
    ],
)
def test_one_slip_in_a_function_is_paid_for_once(course, double, total, scores, notes):
    items = graded(course(), double, total)
    assert [item.score for item in items] == scores
    assert [item.note for item in items] == notes


@pytest.mark.sandbox
def test_who_goes_the_way_of_an_alternative_pays_once_as_well(course):
    items = graded(course(ANOTHER_WAY), SQUARED, f"entries = sum_of = None\n{SUM}")
    assert (items[2].score, items[2].note) == (2, "follow_through")


def graded(made, double, total):
    """Grade two cells, and return the items of the second exercise."""
    generate(made, ["a01_all"])
    simulate(made, "a01_all", 1)
    path = made.submission("student_001", "a01_all")
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = {"double": double, "total": total}.get(id, cell["source"])
    path.write_text(json.dumps(notebook))
    with Grader(made) as grader:
        return grader.grade(Handed("student_001", "a01_all", path)).grade.exercises[1].items


def test_what_does_not_follow_from_a_mistake_of_the_own_function_is_found():
    exercise = Exercise("own", title="Own", source="none")

    @exercise.part(points=1, answer=Numbers())
    def at_two(root):
        """The value at 2.25, and at 6.25."""
        return root(np.array([2.25, 6.25]))

    @exercise.reference
    def root(x):
        return x**0.5

    @exercise.misconception
    def half(x):
        """You halved."""
        return x / 2

    assert not own_problems(exercise, {})

    @exercise.misconception
    def always(x):
        """You return the same."""
        return np.array([1.0, 2.0])

    [problem] = own_problems(exercise, {})
    assert problem.startswith("what follows from `root` with the mistake `always` fails `at_two`")


def test_what_follows_from_the_own_function_beside_an_answer_that_does_not_is_found():
    exercise = Exercise("own", title="Own", source="none")

    @exercise.part(points=1, answer=Formula("n"))
    def edges():
        """The pairs."""
        return "n^2"

    @exercise.reference
    def mask(n):
        return np.ones((n, n))

    @exercise.part(points=1, answer=Numbers())
    def count(edges):
        """The pairs of three."""
        return edges(n=3)

    @exercise.part(points=1, answer=Numbers())
    def long_count(edges):
        """The pairs of a thousand."""
        return edges(n=1000)

    @exercise.part(points=1, answer=Numbers())
    def apart():
        """Something else."""
        return 5

    assert not unlike_problems(exercise)

    @count.alternative
    def in_the_mask(mask):
        """Add it up."""
        return mask(3).sum()

    [problem] = unlike_problems(exercise)
    assert problem.startswith("`long_count` doesn't follow from `mask`, as `count` does")
