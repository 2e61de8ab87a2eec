"""Exercises that nobody needs, and points of choice: how they count wherever points are shown."""

import csv
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.pages.final_grades import sheets
from autograder.delivery.pages.report import write_report
from autograder.delivery.platforms.export import export
from autograder.grading.results import Grade

A = "a01_tiny"


def listed(stars):
    return said(f'"stars": {stars}')


def said(more):
    return f'c.Course.assignments = [{{"id": "{A}", "title": "Tiny", {more}}}]'


@pytest.fixture
def starred(tiny, configure):
    """Return the course, in which one of two exercises is extra."""
    return configure(tiny.root, listed(["norm"]))


@pytest.fixture
def sheet(starred, graded, save):
    """Return what the starred course holds of a student who has everything."""
    one = graded("ada")
    grade = replace(one.grade, counting=starred.counting[A])
    save(starred, replace(one, grade=grade))
    with Gradebook(starred.database) as book:  # as formgrader does
        row = book.find_grade("qk_why", A, A, "ada")
        row.manual_score, row.needs_manual_grade = 3, False
        book.db.commit()
    return sheets(starred, A)["ada"]


def test_their_points_come_on_top_wherever_points_are_shown(sheet, starred, tmp_path):
    qk, norm = sheet.sections
    assert norm.score > 0
    assert sheet.score == qk.score + norm.score
    assert sheet.grade.max_score == sheet.marks.max_score == qk.max_score
    assert (qk.title[0] == "★", norm.title[0] == "★") == (False, True)
    (page,) = write_feedback(starred, [A])
    assert f"comes on top of the {qk.max_score:g} points" in page.read_text()
    assert norm.title in write_report(starred, [A]).with_name(f"{A}.html").read_text()
    export(starred, "csv", tmp_path / "grades.csv")
    (row,) = csv.DictReader((tmp_path / "grades.csv").read_text("utf-8-sig").splitlines())
    found = [float(row[column]) for column in ("score", "max_score", "qk", "norm")]
    assert found == [sheet.score, qk.max_score, qk.score, norm.score]


@pytest.mark.parametrize(("choice", "counts"), [("", 1.0), (', "choice": 0.5', 0.5)])
def test_points_of_choice_count_as_far_as_the_course_says(
    tiny, configure, graded, save, tmp_path, choice, counts
):
    course = configure(tiny.root, said(f'"core": ["qk"]{choice}'))
    one = graded("ada")
    save(course, replace(one, grade=replace(one.grade, counting=course.counting[A])))
    sheet = sheets(course, A)["ada"]
    qk, norm = sheet.sections
    assert norm.title[0] == "○"
    assert sheet.score == sheet.grade.score == qk.score + counts
    assert sheet.grade.max_score == sheet.marks.max_score == qk.max_score + counts
    (page,) = write_feedback(course, [A])
    told = "0.5 points of what you earn there count" if choice else "counts like the rest"
    assert told in page.read_text()
    export(course, "csv", tmp_path / "grades.csv", partial=True)
    (row,) = csv.DictReader((tmp_path / "grades.csv").read_text("utf-8-sig").splitlines())
    assert float(row["max_score"]) == qk.max_score + counts


def test_what_is_extra_is_kept_in_the_record(sheet):
    assert Grade.from_json(sheet.grade.to_json()) == sheet.grade
    assert sheet.grade.to_json()["counting"] == {"stars": ["norm"]}


def test_stars_are_a_list(tiny, configure):
    with pytest.raises(CourseError, match="\"stars\" of a01_tiny is 'norm'"):
        configure(tiny.root, listed("'norm'"))
