"""Exercises that nobody needs: what is earned there comes on top."""

import csv
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.delivery.export import export
from autograder.delivery.feedback import write_feedback
from autograder.delivery.final_grades import sheets
from autograder.delivery.report import write_report
from autograder.grading.results import Grade

A = "a01_tiny"


def listed(stars):
    return f'c.Course.assignments = [{{"id": "{A}", "title": "Tiny", "stars": {stars}}}]'


@pytest.fixture
def starred(tiny, configure):
    """Return the course, in which one of two exercises is extra."""
    return configure(tiny.root, listed(["norm"]))


@pytest.fixture
def sheet(starred, graded, save):
    """Return what the starred course holds of a student who has everything."""
    one = graded("ada")
    grade = replace(one.grade, stars=starred.counting[A].stars)
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


def test_what_is_extra_is_kept_in_the_record(sheet):
    assert Grade.from_json(sheet.grade.to_json()) == sheet.grade
    assert sheet.grade.to_json()["stars"] == ["norm"]


def test_stars_are_a_list(tiny, configure):
    with pytest.raises(CourseError, match="\"stars\" of a01_tiny is 'norm'"):
        configure(tiny.root, listed("'norm'"))
