"""Broken notebooks in a class: each is graded or refused in a sentence, and costs nobody else."""

import nbformat
import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.submissions.records import read_grade
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.pages.feedback import page_of, write_feedback
from autograder.grading.results import Status

from ..courses import EARNED
from ..courses import MOTION as A
from .broken_notebooks import WAYS, broken

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

#: Every way three times; bench/notebooks.py tries a thousand.
COUNT = 3 * len(WAYS)


@pytest.fixture(scope="module")
def graded(shared_course):
    """A class of one whole notebook and many broken ones, graded in one run."""
    simulate(shared_course, A, 1)
    whole = shared_course.submission("student_001", A).read_bytes()
    for number in range(COUNT):
        way, content = broken(whole, number)
        path = shared_course.submission(f"{way}_{number}", A)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    outcome = grade_and_save(shared_course, [A])
    return shared_course, outcome


def grades(course):
    folders = (path.parent.name for path in (course.root / "records").glob(f"*/{A}.json"))
    return {student: read_grade(course, student, A) for student in folders}


def test_each_is_graded_or_refused_in_a_sentence(graded):
    course, outcome = graded
    assert outcome.problems == []  # among them would be what is withheld
    found = grades(course)
    assert len(found) == COUNT + 1
    for student, grade in found.items():
        items = [item for exercise in grade.exercises for item in exercise.items]
        assert not any(item.status is Status.ERRORED for item in items), student
        assert 0 <= grade.score <= grade.max_score
        if any(item.note == "unreadable_submission" for item in items):
            assert grade.score == 0
            (notice,) = grade.notices
            assert notice.endswith(".")
            assert len(notice) < 300
    assert found["student_001"].score == EARNED


def test_what_becomes_of_them_can_be_read_by_others(graded):
    course, _ = graded
    write_feedback(course, [A])
    for student in grades(course):
        nbformat.validate(nbformat.read(course.submission(student, A, "autograded"), 4))
        assert page_of(course, student, A).is_file()


def test_the_same_number_breaks_a_notebook_in_the_same_way(graded):
    whole = graded[0].submission("student_001", A).read_bytes()
    for number in range(len(WAYS)):
        assert broken(whole, number) == broken(whole, number)
        assert broken(whole, number)[0] == WAYS[number]
