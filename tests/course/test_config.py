"""Courses that aren't as they should be get one clear sentence."""

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import Broken, load_assignment, load_exercise
from autograder.course.release.overview import best_of, in_words
from autograder.course.submissions.grade import Grader

from ..courses import ENERGY, MOTION


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


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("assignments = [{'id': 'a01'}]", "every entry needs both; one is {'id': 'a01'}"),
        ("assignments = ['a01']", "every entry needs both; one is 'a01'"),
        ("assignments = {}", "c.Course.assignments is {}; it is a list of"),
        (
            "assignments = [{'id': 'a01', 'title': '', 'deu': ''}]",
            r'"deu" of a01 is no setting \(did you mean \'due\'\?\); there are id, title, due',
        ),
        (
            "assignments = [{'id': 'a01', 'title': '', 'due': 3}]",
            '"due" of a01 is 3; it is a text, a time with its zone',
        ),
        ("assignments = 2 * [{'id': 'a01', 'title': ''}]", "has a01 twice"),
        ("minimum_teir = 'A'", r"minimum_teir is no setting \(did you mean 'minimum_tier'\?\)"),
        ("student = []", r"c.Course.student is no setting \(did you mean 'students'\?\)"),
        ("students = 3", "c.Course.students is 3; it is the name of a file, a list of ids"),
        ("gpu = 'no'", "c.Course.gpu is 'no'; it is True or False"),
        ("solutions = 1", "c.Course.solutions is 1; it is True or False"),
        ("limits = 3", "c.Course.limits is 3; it is names with numbers"),
        ("minimum_tier = 'C'", "it is one of 'A', 'A-', 'B', or left out"),
        ("given = ['a01']", r"c.Course.given is \['a01'\]; it is a list of assignments of this"),
    ],
)
def test_a_setting_that_is_none_is_named(tmp_path, line, says):
    (tmp_path / "course_config.py").write_text(f"c = get_config()\nc.Course.{line}\n")
    with pytest.raises(CourseError, match=says):
        Course.load(tmp_path)


GPU = '''

@exercise.check(points=1.5, gpu=True)
def quick_for_many_readings(call, rng):
    """It is quick."""
    call(*np.ones((2, 2**20)))
'''


@pytest.fixture
def timed(course):
    """The path of an exercise with a check that needs a GPU."""
    path = course.root / "reference" / MOTION / "mean_speeds.py"
    path.write_text(path.read_text() + GPU)
    return path


def test_a_course_without_a_gpu_leaves_out_what_needs_one(timed):
    with_gpu, without = load_exercise(timed), load_exercise(timed, gpu=False)
    left_out = {check.name for check in with_gpu.checks if check.gpu}
    assert left_out == {"quick_for_many_readings"}
    assert {item.name for item in with_gpu.items} - left_out == {i.name for i in without.items}
    for exercise in (without, *without.functions):
        assert not any(check.gpu for check in exercise.checks)
    assert with_gpu.points - without.points == 1.5


def test_other_points_than_released_are_withheld(course, timed):
    fall, speeds = Grader(course).assigned(MOTION, "ada")
    assert fall.exercise is not None
    assert speeds.exercise is None
    assert speeds.fault == (
        "it is worth 5.5 points now, and 4 in release/: run `autograder generate`"
    )
    with (course.root / "course_config.py").open("a") as file:
        file.write("\nc.Course.gpu = False\n")
    assert Grader(Course.load(course.root)).assigned(MOTION, "ada")[1].exercise is not None


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
    assert Course.load(tmp_path).demo == ["a01"]
    config.write_text(f'{listed}c.Course.demo = ["a07"]\n')
    with pytest.raises(CourseError, match=r"c\.Course\.demo is \['a07'\].* which are a01"):
        Course.load(tmp_path)


def test_short_names(course):
    assert course.ids(["m01"]) == [MOTION]
    assert course.ids(["m01", MOTION]) == [MOTION]
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
    (course.root / "reference" / MOTION / "mean_speeds.py").unlink()
    spring = course.root / "reference" / ENERGY / "spring.py"
    carries = f'exercise.carries("{MOTION}/mean_speeds", "mean_speeds")'
    spring.write_text(f"{spring.read_text()}\nmean_speeds = {carries}\n")
    assignment = load_assignment(course, MOTION)
    (missing,) = assignment.broken
    assert missing.id == "mean_speeds"
    assert assignment.sound.keys() == {"fall"}
    (carrying,) = load_assignment(course, ENERGY).broken
    assert carrying.id == "spring"
    assert "mean_speeds" in carrying.message


def test_two_solution_cells_for_one_exercise(course):
    path = course.root / "assignments" / MOTION / f"{MOTION}.py"
    path.write_text(path.read_text() + '\n# %% exercise="fall"\nx = 1\n')
    with pytest.raises(CourseError, match="two cells are the solution of fall"):
        load_assignment(course, MOTION)


WHY = '''

from autograder.exercise import Essay

@exercise.part(points=2, answer=Essay())
def why():
    """Why?"""
'''


def test_both_numbers_are_said_where_only_the_best_texts_count(course):
    assert best_of(load_assignment(course, MOTION)) == []
    path = course.root / "reference" / MOTION / "mean_speeds.py"
    path.write_text(path.read_text() + WHY)
    config = course.root / "course_config.py"
    listed = '"title": "Falling and driving"'
    config.write_text(config.read_text().replace(listed, f'{listed}, "best": {{"why": 1}}'))
    loaded = load_assignment(Course.load(course.root), MOTION)
    said = "14 points in all, of which 12 can be earned: the best 1 of 2 `why` count"
    assert best_of(loaded) == [said]
    assert f"- {said}" in in_words(loaded)
