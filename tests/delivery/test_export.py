import csv
import zipfile

import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.course.roster import Person
from autograder.delivery.collect import collect
from autograder.delivery.export import export
from autograder.delivery.feedback import pack_feedback, write_feedback
from autograder.delivery.gradebook import register, seal
from autograder.delivery.people import add_students

A = "a01_tiny"
HEAD = [
    "student",
    "name",
    "assignment",
    "submitted",
    "late",
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
    ada = Person("ada", "Ada", "Lovelace", "ada@example.org", numbers={"canvas": ("77",)})
    add_students(course, [ada, Person("zed")])
    hand_in(course, "ada")
    save(course, graded("ada", qk=1.3), graded("bob", qk=None))
    with Gradebook(course.database) as book:
        book.find_grade("qk_why", A, A, "ada").manual_score = 2.5
        book.find_grade("qk_why", A, A, "ada").needs_manual_grade = False
        book.db.commit()
    return course


def rows(course, to, path, **options):
    written = export(course, to, path, **options)
    with path.open(newline="", encoding="utf-8-sig") as file:
        read = list(csv.reader(file))
    assert written.rows == len(read) - 1
    done = "are sent as they are so far" if options else "are left empty"
    (note,) = written.notes
    assert note.startswith(f"{A}: 1 scores are not final and {done} (1 for marking by hand, 1 for")
    assert ("--partial" in note) == (not options)
    return read


def test_csv_has_a_row_per_student_and_assignment(graded_course, tmp_path):
    late = "2026-05-04 10:00:00", "01:00:00"
    assert rows(graded_course, "csv", tmp_path / "grades.csv") == [
        [*HEAD, "qk", "norm"],
        ["ada", "Ada Lovelace", A, *late, "4.8", "6.0", "0.0", "0", "3.8", "1.0"],
        ["bob", "bob", A, "", "", "", "6.0", "0.0", "2", "", "1.0"],
        ["zed", "zed", A, "", "", "", "", "", "", "", ""],
    ]


def test_canvas_gets_its_import(graded_course, tmp_path):
    assert rows(graded_course, "canvas", tmp_path / "grades.csv") == [
        ["Student", "ID", "SIS Login ID", "Section", "Tiny, one"],
        ["    Points Possible", "", "", "", "6.0"],
        ["Lovelace, Ada", "77", "ada", "", "4.8"],
        ["bob", "", "bob", "", ""],
        ["zed", "", "zed", "", ""],
    ]


def test_moodle_gets_its_import(graded_course, tmp_path):
    assert rows(graded_course, "moodle", tmp_path / "grades.csv") == [
        ["Username", "First name", "Last name", "Email address", "Tiny, one"],
        ["ada", "Ada", "Lovelace", "ada@example.org", "4.8"],
        ["bob", "", "", "", ""],
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
    assert bob[4:] == ["", "6.0", "", "00:00:00"]
    assert zed[4:] == ["", "6.0", "", ""]


@pytest.mark.parametrize(
    ("to", "column"), [("csv", 5), ("canvas", 4), ("moodle", 4), ("gradescope", 4)]
)
def test_what_is_not_final_is_sent_only_when_that_is_said(graded_course, tmp_path, to, column):
    def of(read):
        return {tuple(row): row[column] for row in read if "bob" in row}

    assert list(of(rows(graded_course, to, tmp_path / "a.csv")).values()) == [""]
    partial = rows(graded_course, to, tmp_path / "b.csv", partial=True)
    assert list(of(partial).values()) == ["1.0"]


def test_a_name_that_is_a_formula_is_none_in_a_spreadsheet(graded_course, tmp_path):
    path = tmp_path / "grades.csv"
    add_students(graded_course, [Person("mal", '=HYPERLINK("x")', "")])
    assert "'=HYPERLINK" in rows(graded_course, "csv", path)[3][1]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")  # or Excel reads no umlauts
    again = export(graded_course, "csv", path, assignments=[A])
    assert again.notes[0] == f"{path} was there before and has been replaced"


def test_feedback_goes_back_under_the_names_that_platforms_gave(tiny, graded, save, tmp_path):
    lms = tmp_path / "lms.zip"
    names = {
        "Ada Lovelace_501_assignsubmission_file_/a01_tiny.ipynb": "Ada Lovelace_501_assignsubmiss"
        "ion_file_/a01_tiny.html",
        "bob_LATE_11_9001_a01_tiny-1.ipynb": "bob_LATE_11_9001_a01_tiny-1.html",
        "cy/a01_tiny.ipynb": "cy/a01_tiny.html",
    }
    with zipfile.ZipFile(lms, "w") as archive:
        for name in names:
            archive.writestr(name, (tiny.folder("release") / A / f"{A}.ipynb").read_text())
    collect(tiny, [A], lms)
    save(tiny, *(graded(student) for student in ("ada-lovelace", "bob", "cy")))
    write_feedback(tiny, [A])
    back = tmp_path / "back.zip"
    assert pack_feedback(tiny, [A], back) == [f"3 pages in {back}"]
    assert pack_feedback(tiny, [A], back)[0].endswith("has been replaced")
    with zipfile.ZipFile(back) as archive:
        assert set(archive.namelist()) == set(names.values())
        page = archive.read("bob_LATE_11_9001_a01_tiny-1.html").decode()
    assert "Feedback for bob" in page
    with pytest.raises(CourseError, match="of one assignment"):
        pack_feedback(tiny, [A], tmp_path / "back.html")


def test_another_format_is_refused(tiny, tmp_path):
    with pytest.raises(CourseError, match="there is csv, canvas, moodle, gradescope"):
        export(tiny, "excel", tmp_path / "grades.xlsx")
