"""Core, choice, stars and what is left out: one rule, said in course_config.py."""

import re
from types import SimpleNamespace

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.release.build import build
from autograder.course.release.overview import barred, in_words, tasks, told
from autograder.course.release.plan import markdown, plan
from autograder.course.release.releasable import problems
from autograder.grading.results import Counting, ExerciseGrade, Grade, Item, Status

MOTION = "m01_motion"
ENTRY = '"title": "Falling and driving"'
FALL, DRIVE = "fall", "mean_speeds"


@pytest.fixture
def motion(course):
    """Return a function that loads the assignment with more said of it."""

    def load(said, **minutes):
        config = course.root / "course_config.py"
        config.write_text(config.read_text().replace(ENTRY, f"{ENTRY}, {said}"))
        for id, time in minutes.items():
            path = course.root / "reference" / MOTION / f"{id}.py"
            text = path.read_text().replace(f'"{id}", title', f'"{id}", minutes={time}, title')
            path.write_text(text)
        return load_assignment(Course.load(course.root), MOTION)

    return load


def test_each_heading_says_what_is_below_it_and_a_table_says_all(motion):
    loaded = motion(f'"core": ["{FALL}"]', fall=20, mean_speeds=25)
    text = "\n".join(cell.source for cell in told(loaded))
    assert "## 1. Free fall\n\n*● core · 20 minutes · 8 points*\n" in text
    assert "## 2. A drive\n\n*○ choice · 25 minutes · 4 points*\n" in text
    table = told(loaded)[1].source
    assert "| ● core | Free fall | 20 | 8 |" in table
    assert "- **● core**: 8 points, about 15 min." in table
    assert "whatever you choose of them counts" in table
    notebook = build(loaded)[f"{MOTION}.ipynb"].decode()
    assert "○ choice · 25 minutes" in notebook


def test_a_course_that_says_nothing_has_its_text_as_it_is(motion):
    loaded = motion('"due": None')
    assert told(loaded) == loaded.cells


def test_what_a_function_is_to_be_written_without_is_said_below_its_heading():
    function = SimpleNamespace(name="mean", without={"a library": ("torch",), "a loop": ()})
    plain = SimpleNamespace(name="sum", without={})
    said = barred(SimpleNamespace(functions=[plain, function]))
    assert said == ["Write `mean` without a library and a loop; with it, it earns nothing."]


def test_of_choice_as_much_counts_as_the_course_says(motion):
    loaded = motion(f'"core": ["{FALL}"], "choice": 3')
    assert "3 points of them count, whichever" in "\n".join(in_words(loaded))


def graded(rule, **points):
    def exercise(id, score, most):
        return ExerciseGrade.of(id, [Item(id, "", Status.PARTIAL, score, most)], variant=0)

    exercises = [exercise(id, *both) for id, both in points.items()]
    return Grade("a", "s", "A", exercises, counting=rule)


@pytest.mark.parametrize(
    ("rule", "score", "most"),
    [
        (Counting(), 11.0, 17.0),
        (Counting(core=["a"]), 11.0, 17.0),
        (Counting(core=["a"], choice=5), 9.0, 10.0),
        (Counting(core=["a"], choice=0), 4.0, 5.0),
        (Counting(core=["a"], choice=50), 11.0, 17.0),
        (Counting(core=["a"], choice=5, stars=["c"]), 11.0, 10.0),
    ],
)
def test_points_are_counted_by_the_rule(rule, score, most):
    grade = graded(rule, a=(4.0, 5.0), b=(5.0, 8.0), c=(2.0, 4.0))
    assert (grade.score, grade.max_score) == (score, most)
    assert Grade.from_json(grade.to_json()) == grade


def test_a_record_of_an_earlier_version_is_read():
    old = graded(Counting(stars=["b"]), a=(1.0, 2.0), b=(3.0, 3.0)).to_json()
    old |= old.pop("counting")
    assert Grade.from_json(old).max_score == 2.0


def test_what_a_course_is_without_is_in_no_release(motion):
    loaded = motion(f'"without": ["{FALL}"]')
    assert problems(loaded) == []
    assert [task.id for task in tasks(loaded)] == [DRIVE]
    text = "\n".join(cell.source for cell in loaded.cells)
    assert "Free fall" not in text
    assert 'your_numbers("fall")' not in text
    assert text.startswith("# Falling and driving")
    assert "## 2. A drive" in text
    assert b'"fall"' not in build(loaded)["check.json"]


def test_the_last_exercise_can_be_left_out_too(motion):
    loaded = motion(f'"without": ["{DRIVE}"]')
    assert problems(loaded) == []
    assert [*loaded.exercises] == [FALL]
    assert loaded.cells[-1].part == "why"


def test_what_makes_a_name_that_is_used_later_stays(motion, course):
    path = course.root / "assignments" / MOTION / f"{MOTION}.py"
    text = path.read_text().replace("# 3. Why?\n", "# 3. Why?\n\n# %%\ngravity = 9.81\n")
    path.write_text(text + "\n# %%\nprint(gravity)\n")
    (said,) = problems(motion(f'"without": ["{FALL}"]'))
    assert "the only cell that makes `gravity`, which a later cell uses; keep" in said


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            '"core": ["fal"]',
            '"core" of m01_motion names `fal`, which is no exercise there (did you',
        ),
        ('"core": ["fall"], "stars": ["fall"]', "both name `fall`; it is one of them"),
        ('"choice": 2', 'every exercise is core there: say with "core" which ones are'),
    ],
)
def test_what_a_role_can_t_be_is_said(motion, said, text):
    assert text in "\n".join(problems(motion(said)))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('"without": ["fal"]', '"without" of m01_motion names `fal`, which is no exercise there'),
        ('"choice": "all"', "\"choice\" of m01_motion is 'all'; it is a number of points, like 12"),
        ('"core": "fall"', "it is a list of exercises"),
    ],
)
def test_a_setting_that_says_nothing_is_refused(motion, said, text):
    with pytest.raises(CourseError, match=re.escape(text)):
        motion(said)


def test_without_a_heading_of_its_own_nothing_can_be_left_out(motion, course):
    path = course.root / "assignments" / MOTION / f"{MOTION}.py"
    path.write_text(path.read_text().replace("## 2. A drive", "A drive"))
    with pytest.raises(CourseError, match="it stands below no heading of its own"):
        motion(f'"without": ["{DRIVE}"]')


def test_a_plan_spreads_the_core_over_the_weeks(motion):
    loaded = motion(f'"core": ["{FALL}", "{DRIVE}"]', fall=60, mean_speeds=60)
    made = plan([loaded], 2, 1.5)
    assert [[t.id for s in week for t in s.exercises] for week in made.weeks] == [[FALL], [DRIVE]]
    assert (made.minutes, made.short) == (120, 0.0)
    text = markdown(made)
    assert "| 1 | m01 Falling and driving | Free fall | 1.0 | Galilei (1638), third day |" in text
    assert "2.0 hours of core exercises in 2 weeks: 1.0 a week, where there are 1.5." in text


def test_a_plan_that_does_not_fit_says_what_may_go(motion):
    loaded = motion(f'"core": ["{FALL}", "{DRIVE}"]', fall=60, mean_speeds=60)
    made = plan([loaded], 1, 1.0)
    assert "1.0 hours are missing. Nothing is built on the code of m01 (2.0 h)" in markdown(made)


def test_a_notebook_that_is_a_choice_as_a_whole_is_in_no_week(motion):
    loaded = motion(f'"core": ["{FALL}"], "optional": True', fall=60, mean_speeds=30)
    made = plan([loaded], 2, 1.5)
    assert made.weeks == [[], []]
    assert made.minutes == 0
    assert "In no week, since it is optional: m01 (1.0 h)." in markdown(made)


def test_a_plan_needs_minutes(motion):
    with pytest.raises(CourseError, match="m01_motion/fall doesn't say how long it takes"):
        plan([motion('"core": ["fall"]')], 2, 1.0)


def test_minutes_are_at_least_one(motion):
    loaded = motion('"core": ["fall"]', fall=0)
    assert "minutes=0; it takes one at least" in loaded.exercises[FALL].message
