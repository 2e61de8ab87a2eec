"""What a look costs: whoever is in the course's list is charged, whatever the notebook says."""

import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.looks_given import give
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.students import apply, planned

from ..courses import EARNED
from ..courses import MOTION as A

pytestmark = pytest.mark.sandbox


def test_a_code_that_was_given_is_charged_once_and_the_notebook_graded_again(course):
    simulate(course, A, 1)
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + "\nc.Course.look = 0.2\n")
    course = Course.load(course.root)
    (first,) = grade_and_save(course, [A]).grades
    assert first.score == EARNED
    give(course, "somebody_else", "fall", "seconds")
    assert grade_and_save(course, [A]).up_to_date == 1
    for _ in range(2):
        give(course, "student_001", "fall", "seconds")
    (again,) = grade_and_save(course, [A]).grades
    assert again.score == EARNED - 0.2 * 2
    (item,) = (
        each for exercise in again.exercises for each in exercise.items if each.note == "looks"
    )
    assert item.feedback == (
        "You were given a code for seconds. Each costs 20% of its points, at most what it earned."
    )
    apply(course, planned(course, "student_001", "ada"))
    (renamed,) = grade_and_save(course, [A]).grades
    assert any(each.note == "looks" for exercise in renamed.exercises for each in exercise.items)
