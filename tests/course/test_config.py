"""Courses that aren't as they should be get one clear sentence."""

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import Broken, load_assignment, load_exercise


def test_a_folder_without_a_course(tmp_path):
    with pytest.raises(CourseError, match="holds no course_config.py"):
        Course.load(tmp_path)


def test_an_empty_course(tmp_path):
    (tmp_path / "course_config.py").write_text("c = get_config()\n")
    with pytest.raises(CourseError, match="lists no assignments"):
        Course.load(tmp_path).ids()


@pytest.mark.parametrize("text", ["c = get_config(\n", "c = get_config()\n1/0\n"])
def test_a_broken_configuration(tmp_path, text):
    (tmp_path / "course_config.py").write_text(text)
    with pytest.raises(CourseError, match="can't be read"):
        Course.load(tmp_path)


def test_an_assignment_without_a_title(tmp_path):
    (tmp_path / "course_config.py").write_text(
        "c = get_config()\nc.Course.assignments = [{'id': 'a01'}]\n"
    )
    with pytest.raises(CourseError, match="every entry needs both"):
        Course.load(tmp_path)


def test_short_names(course):
    assert course.ids(["a03"]) == ["a03_scaled_attention"]
    with pytest.raises(CourseError, match="a99 is no assignment"):
        course.ids(["a99"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import numpy\n\nexercise = oops\n", "x.py:3: NameError"),
        ("def f(:\n", "x.py:1: SyntaxError"),
        ("a = 1\n", "defines no `exercise"),
        (
            "from autograder.exercise import Exercise\n"
            "exercise = Exercise('y', title='', source='')\n",
            "the exercise is called 'y'",
        ),
        (
            "from autograder.exercise import Exercise, Count\n"
            "exercise = Exercise('x', title='', source='')\n"
            "@exercise.part(points=1, answer=Count())\n"
            "def a():\n"
            "    return 1\n",
            "has no docstring",
        ),
    ],
)
def test_a_broken_module_is_named_with_its_line(tmp_path, text, says):
    path = tmp_path / "x.py"
    path.write_text(text)
    broken = load_exercise(path)
    assert isinstance(broken, Broken)
    assert says in broken.message


def test_a_missing_module_is_named(course):
    (course.root / "reference/a03_scaled_attention/sdpa.py").unlink()
    assignment = load_assignment(course, "a03_scaled_attention")
    assert [b.id for b in assignment.broken] == ["sdpa"]
    assert list(assignment.sound) == ["causal_mask"]


def test_two_solution_cells_for_one_exercise(course):
    path = course.root / "assignments/a03_scaled_attention/a03_scaled_attention.py"
    path.write_text(path.read_text() + '\n# %% exercise="sdpa"\nx = 1\n')
    with pytest.raises(CourseError, match="two cells are the solution of sdpa"):
        load_assignment(course, "a03_scaled_attention")
