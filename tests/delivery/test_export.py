import csv

import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.delivery.export import export
from autograder.delivery.gradebook import register, seal
from autograder.delivery.people import Person, add_students

A = "a01_tiny"
HEAD = [
    "student",
    "name",
    "assignment",
    "submitted",
    "score",
    "max_score",
    "late_penalty",
    "waiting",
]


@pytest.fixture
def graded_course(tiny, configure, hand_in, graded, save, released):
    """Return a course of three, of whom two handed in, one of them late and marked by hand."""
    listed = {"id": A, "title": "Tiny, one", "due": "2026-05-04 09:00 UTC"}
    course = configure(tiny.root, f"c.Course.assignments = [{listed}]")
    register(course, A, seal(released()))
    ada = Person("ada", "Ada", "Lovelace", "ada@example.org", "77")
    add_students(course, [ada, Person("zed")])
    hand_in(course, "ada")
    save(course, graded("ada", qk=1.3), graded("bob", qk=None))
    with Gradebook(course.database) as book:
        book.find_grade("qk_why", A, A, "ada").manual_score = 2.5
        book.find_grade("qk_why", A, A, "ada").needs_manual_grade = False
        book.db.commit()
    return course


def rows(course, to, path):
    count = export(course, to, path)
    with path.open(newline="") as file:
        read = list(csv.reader(file))
    assert count == len(read) - 1
    return read


def test_csv_has_a_row_per_student_and_assignment(graded_course, tmp_path):
    assert rows(graded_course, "csv", tmp_path / "grades.csv") == [
        [*HEAD, "qk", "norm"],
        ["ada", "Ada Lovelace", A, "2026-05-04 10:00:00", "4.8", "6.0", "0.0", "0", "3.8", "1.0"],
        ["bob", "bob", A, "", "1.0", "6.0", "0.0", "2", "0.0", "1.0"],
        ["zed", "zed", A, "", "", "", "", "", "", ""],
    ]


def test_canvas_gets_its_import(graded_course, tmp_path):
    assert rows(graded_course, "canvas", tmp_path / "grades.csv") == [
        ["Student", "ID", "SIS Login ID", "Section", "Tiny, one"],
        ["    Points Possible", "", "", "", "6.0"],
        ["Lovelace, Ada", "77", "ada", "", "4.8"],
        ["bob", "", "bob", "", "1.0"],
        ["zed", "", "zed", "", ""],
    ]


def test_moodle_gets_its_import(graded_course, tmp_path):
    assert rows(graded_course, "moodle", tmp_path / "grades.csv") == [
        ["Username", "First name", "Last name", "Email address", "Tiny, one"],
        ["ada", "Ada", "Lovelace", "ada@example.org", "4.8"],
        ["bob", "", "", "", "1.0"],
        ["zed", "", "", "", ""],
    ]


def test_gradescope_s_layout_has_times(graded_course, tmp_path):
    head, ada, bob, zed = rows(graded_course, "gradescope", tmp_path / "grades.csv")
    assert head[4:] == [
        "Tiny, one",
        "Tiny, one - Max Points",
        "Tiny, one - Submission Time",
        "Tiny, one - Lateness (H:M:S)",
    ]
    assert ada[2:] == [
        "ada",
        "ada@example.org",
        "4.8",
        "6.0",
        "2026-05-04 10:00:00 +0000",
        "01:00:00",
    ]
    assert bob[4:] == ["1.0", "6.0", "", "00:00:00"]
    assert zed[4:] == ["", "6.0", "", ""]


def test_another_format_is_refused(tiny, tmp_path):
    with pytest.raises(CourseError, match="there is csv, canvas, moodle, gradescope"):
        export(tiny, "excel", tmp_path / "grades.xlsx")
