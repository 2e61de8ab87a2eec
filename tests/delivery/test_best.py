"""Where only the best of several parts count: the better one of two texts, here."""

import csv
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.course.submissions.graded import Graded
from autograder.delivery.nbgrader import gradebook
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.pages.final_grades import sheets
from autograder.delivery.pages.report import summarise, write_report
from autograder.delivery.platforms.export import export
from autograder.grading.results import ExerciseGrade, Grade

A = "a01_tiny"
BOTH = {"qk_why": "Because.", "norm_why": "Therefore."}


def two_texts(notebook):
    """Return the notebook with a text in the other exercise as well."""
    (one,) = (cell for cell in notebook["cells"] if cell["id"] == "qk_why")
    own = one["metadata"]["nbgrader"] | {"grade_id": "norm_why"}
    other = one | {"id": "norm_why", "metadata": {"nbgrader": own}}
    return {**notebook, "cells": [*notebook["cells"], other]}


@pytest.fixture
def choosing(tiny, released, configure):
    """Return the course, in which one of the texts counts."""
    gradebook.register(tiny, A, gradebook.seal(two_texts(released())))
    listed = f'[{{"id": "{A}", "title": "Tiny", "best": {{"why": 1}}}}]'
    return configure(tiny.root, f"c.Course.assignments = {listed}")


@pytest.fixture
def written(choosing, graded, save):
    """Return a function that saves what a student wrote, and the marks of it."""

    def written(student, texts, **marks):
        one = graded(student)
        qk, norm = one.grade.exercises
        norm = ExerciseGrade.of("norm", [*norm.items, qk.items[1]])
        notebook = two_texts(one.notebook)
        for cell in notebook["cells"]:
            if cell["id"] in BOTH:
                cell["source"] = texts.get(cell["id"], "Write here.")
        grade = replace(one.grade, exercises=[qk, norm], counting=choosing.counting[A])
        save(choosing, Graded.of(grade, notebook, one.key))
        with Gradebook(choosing.database) as book:  # as formgrader does
            for cell, points in marks.items():
                row = book.find_grade(cell, A, A, student)
                row.manual_score, row.needs_manual_grade = points, False
            book.db.commit()
        return sheets(choosing, A)[student]

    return written


def test_the_better_text_counts_wherever_points_are_shown(choosing, written, tmp_path):
    sheet = written("ada", BOTH, qk_why=1, norm_why=2)
    assert (sheet.score, sheet.grade.max_score, sheet.marks.max_score) == (5, 6, 6)
    assert [(s.score, s.max_score, s.left_out) for s in sheet.sections] == [
        (2, 2, True),
        (3, 4, False),
    ]
    (page,) = write_feedback(choosing, [A])
    assert "The best 1 of 2 of this kind count; this one does not." in page.read_text()
    assert "The best 1 of 2 of this kind count; this one does." in page.read_text()
    report = (write_report(choosing, [A]).with_name(f"{A}.html")).read_text()
    assert "2° " in report
    assert "it does not for 1" in report
    assert "°" in next(summarise(choosing, [A], 200)).caption
    export(choosing, "csv", tmp_path / "grades.csv")
    (row,) = csv.DictReader((tmp_path / "grades.csv").read_text("utf-8-sig").splitlines())
    assert [float(row[c]) for c in ("score", "max_score", "qk", "norm")] == [5, 6, 2, 3]


def test_nbgrader_itself_adds_up_all_of_them(choosing, written):
    written("ada", BOTH, qk_why=1, norm_why=2)
    with Gradebook(choosing.database) as book:
        row = book.find_submission(A, "ada")
        assert (row.score, row.max_score) == (6, 9)


def test_a_text_that_was_not_written_costs_nothing(written):
    sheet = written("ada", {"norm_why": "Therefore."}, norm_why=3)
    assert (sheet.score, sheet.waiting, sheet.grade.max_score) == (6, 0, 6)


def test_nothing_is_final_while_a_text_that_may_be_the_best_waits(written):
    sheet = written("ada", BOTH, qk_why=1)
    assert (sheet.score, sheet.waiting) == (3, 3)


def test_what_counts_is_kept_in_the_record(written):
    grade = written("ada", BOTH).grade
    assert Grade.from_json(grade.to_json()) == grade
    assert grade.to_json()["counting"] == {"best": {"why": 1}}


def test_how_many_count_is_a_number(tiny, configure):
    with pytest.raises(CourseError, match="\"best\" of a01_tiny is {'why': 0}"):
        configure(
            tiny.root,
            f'c.Course.assignments = [{{"id": "{A}", "title": "Tiny", "best": {{"why": 0}}}}]',
        )
