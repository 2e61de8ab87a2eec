"""Courses that aren't as they should be get one clear sentence."""

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import Broken, load_assignment, load_exercise
from autograder.course.grade import Grader


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


def test_a_gpu_is_there_or_not(tmp_path):
    (tmp_path / "course_config.py").write_text("c = get_config()\nc.Course.gpu = 'no'\n")
    with pytest.raises(CourseError, match="c.Course.gpu is 'no'; it is True or False"):
        Course.load(tmp_path)


def test_a_course_without_a_gpu_leaves_out_what_needs_one(course):
    path = course.root / "reference/a08_cost/time_attention.py"
    with_gpu, without = load_exercise(path), load_exercise(path, gpu=False)
    left_out = {check.name for check in with_gpu.checks if check.gpu}
    assert left_out
    assert {item.name for item in with_gpu.items} - left_out == {i.name for i in without.items}
    for exercise in (without, *without.functions):
        assert not any(check.gpu for check in exercise.checks)
    assert with_gpu.points - without.points == 1.5


def test_other_points_than_released_are_withheld(course):
    with (course.root / "course_config.py").open("a") as file:
        file.write("\nc.Course.gpu = False\n")
    assigned = Grader(Course.load(course.root)).assigned("a08_cost", "ada")
    (timed,) = (each for each in assigned if each.id == "time_attention")
    assert timed.exercise is None
    assert timed.fault == (
        "it is worth 5.5 points now, and 7 in release/: run `autograder generate`"
    )
    assert len([each for each in assigned if each.exercise is None]) == 2  # flash_tiled, too


def test_an_exercise_for_a_gpu_alone_is_none_without(tmp_path):
    (tmp_path / "x.py").write_text(
        "from autograder.exercise import Exercise\n"
        "exercise = Exercise('x', title='', source='')\n"
        "@exercise.reference\n"
        "def f(x):\n"
        "    return x\n"
        "@exercise.check(points=1, gpu=True)\n"
        "def quick(call, rng):\n"
        '    """It is quick."""\n'
    )
    assert not isinstance(load_exercise(tmp_path / "x.py"), Broken)
    assert "all of it needs a GPU" in load_exercise(tmp_path / "x.py", gpu=False).message


def test_the_demo_shows_assignments_of_the_course(tmp_path):
    listed = 'c = get_config()\nc.Course.assignments = [{"id": "a01", "title": "One"}]\n'
    config = tmp_path / "course_config.py"
    config.write_text(f'{listed}c.Course.demo = ["a01"]\n')
    assert Course.load(tmp_path).demo == ("a01",)
    config.write_text(f'{listed}c.Course.demo = ["a07"]\n')
    with pytest.raises(CourseError, match=r"c\.Course\.demo is \['a07'\].* which are a01"):
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
    missing, *others = assignment.broken
    assert missing.id == "sdpa"
    assert all("sdpa" in broken.message for broken in others)  # they carry it on
    assert "causal_mask" in assignment.sound
    assert "sdpa" not in assignment.sound


def test_two_solution_cells_for_one_exercise(course):
    path = course.root / "assignments/a03_scaled_attention/a03_scaled_attention.py"
    path.write_text(path.read_text() + '\n# %% exercise="sdpa"\nx = 1\n')
    with pytest.raises(CourseError, match="two cells are the solution of sdpa"):
        load_assignment(course, "a03_scaled_attention")


def test_both_numbers_are_said_where_only_the_best_texts_count(course):
    assert load_assignment(course, "a12_capstone").choices == []
    assert load_assignment(course, "a11_theory").choices == [
        "a11_theory: 135 points in all, of which 103 can be earned: the best 4 of 8 `essay` count"
    ]
