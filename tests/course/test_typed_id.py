"""A notebook that names another student than handed it in."""

import json

import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.people.roster import whose_numbers
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.pages.report import write_report

from ..courses import EARNED
from ..courses import MOTION as A

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("typed", ["\x1b[2J\x1b[31m", "x" * 100_000, "a\nb"])
def test_what_was_typed_does_nothing_to_the_terminal(course, typed):
    notebook = {"cells": [{"source": f'student("{typed}")'}]}
    whose, notice = whose_numbers(course, "ada", notebook)
    assert whose == "ada"
    assert notice.isprintable()
    assert len(notice) < 500


def test_it_is_noticed_and_may_count_where_the_course_allows_it(course):
    simulate(course, A, 1)
    right = course.submission("student_001", A)
    swapped = course.submission("student_002", A)
    swapped.parent.mkdir(parents=True)
    swapped.write_bytes(right.read_bytes())
    (course.folder("submitted") / "student_003" / A).mkdir(parents=True)
    outcome = grade_and_save(course, [A])
    empty, note = outcome.notes
    assert empty.endswith(f"student_003/{A} holds no notebook: nothing was handed in there")
    assert note.startswith(
        f'student_002, {A}: The notebook says student("student_001"), and it was handed in as '
        "student_002. It was graded with the numbers of student_002: answers"
    )
    assert not outcome.problems
    scores = {grade.student: grade.score for grade in outcome.grades}
    assert scores["student_001"] == EARNED > scores["student_002"]
    write_feedback(course, [A])
    page = course.folder("feedback") / "student_002" / A / f"{A}.html"
    write_report(course, [A])
    for path in (page, course.root / "reports" / f"{A}.html"):
        assert "was handed in as student_002" in path.read_text()
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + "\nc.Course.typed_ids = True\n")
    assert grade_and_save(Course.load(course.root), [A]).up_to_date == 2  # not on the roster
    (course.root / "students.csv").write_text("id\nstudent_001\nstudent_002\n")
    outcome = grade_and_save(Course.load(course.root), [A])
    assert (outcome.up_to_date, [grade.score for grade in outcome.grades]) == (1, [EARNED])
    assert "graded with the numbers of student_001." in outcome.notes[-1]
    record = json.loads(course.record("student_002", A).read_text())
    assert record["student"] == "student_002"


def test_who_is_known_by_what_was_typed_later_is_graded_again(course):
    """An import of the class list may say that the other id is the same person's."""
    simulate(course, A, 1)
    path = course.submission("student_001", A)
    moved = course.submission("ada@example.org", A)
    moved.parent.mkdir(parents=True)
    path.rename(moved)
    roster = course.root / "students.csv"
    roster.write_text("id,email\nada@example.org,ada@example.org\n")
    first = grade_and_save(Course.load(course.root), [A]).grades[0]
    roster.write_text("id,email,aliases\nada@example.org,ada@example.org,student_001\n")
    outcome = grade_and_save(Course.load(course.root), [A])
    assert outcome.grades[0].score == EARNED > first.score
    assert "The notebook says" not in str(outcome.notes)
    assert grade_and_save(Course.load(course.root), [A]).up_to_date == 1
