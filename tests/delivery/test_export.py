import csv
import zipfile
from dataclasses import replace

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.course.people.roster import Person
from autograder.delivery.nbgrader.gradebook import register, seal
from autograder.delivery.nbgrader.marks import Mark, Marks
from autograder.delivery.nbgrader.people import add_students
from autograder.delivery.pages.feedback import pack_feedback, write_feedback
from autograder.delivery.platforms.collect import collect
from autograder.delivery.platforms.export import _parts, export
from autograder.delivery.platforms.score_tables import FORMATS, IMPORTED, Book

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
    left = "are left out" if to in ("canvas", "moodle") else "are left empty"
    done = "are sent as they are so far" if options else left
    note, *more = written.notes
    assert [f"{A}: set the maximum grade of 'Tiny, one'"] * (to == "moodle") == [
        text.partition(" in Moodle to 6 ")[0] for text in more
    ]
    assert note.startswith(
        f"{A}: 1 of 2 scores are not final and {done} (1 for marking by hand, 1 for"
    )
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
    ]


def test_moodle_gets_its_import(graded_course, tmp_path):
    assert rows(graded_course, "moodle", tmp_path / "grades.csv") == [
        ["Username", "First name", "Last name", "Email address", "Tiny, one"],
        ["ada", "Ada", "Lovelace", "ada@example.org", "4.8"],
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

    left_out = to in ("canvas", "moodle")
    final = of(rows(graded_course, to, tmp_path / "a.csv"))
    assert list(final.values()) == ([] if left_out else [""])
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
        "bob_LATE_11_9001_a01_tiny-1.ipynb": "bob_LATE_11_9001_a01_tiny-1.ipynb",
        "cy/a01_tiny.ipynb": "cy/a01_tiny.html",
    }
    with zipfile.ZipFile(lms, "w") as archive:
        for name in names:
            archive.writestr(name, (tiny.folder("release") / A / f"{A}.ipynb").read_text())
    collect(tiny, [A], lms)
    save(tiny, *(graded(student) for student in ("ada-lovelace", "bob", "cy")))
    write_feedback(tiny, [A])
    back = tmp_path / "back.zip"
    done, of_canvas = pack_feedback(tiny, [A], back)
    assert done == f"3 pages in {back}"
    assert "Canvas shows a returned file under the name" in of_canvas
    assert "such as a01_tiny.ipynb" in of_canvas
    assert pack_feedback(tiny, [A], back)[0].endswith("has been replaced")
    with zipfile.ZipFile(back) as archive:
        assert set(archive.namelist()) == set(names.values())
        page = archive.read("bob_LATE_11_9001_a01_tiny-1.ipynb").decode()
        assert b"Feedback for cy" in archive.read("cy/a01_tiny.html")
    notebook = nbformat.reads(page, as_version=4)  # it opens as what Canvas calls it
    nbformat.validate(notebook)
    (cell,) = notebook.cells
    shown = cell.outputs[0].data["text/html"]
    assert "Feedback for bob" in shown
    assert "<style" not in shown
    with pytest.raises(CourseError, match="of one assignment"):
        pack_feedback(tiny, [A], tmp_path / "back.html")


def test_numbers_in_a_name_give_no_page_to_another_person(tiny, graded, save, tmp_path):
    """Canvas takes the first two numbers for person and file, and people choose their names."""
    (tiny.root / "students.csv").write_text(
        'id,name,canvas\nada,Ada Lovelace,4711\neve,"x_4711-_9001-_, y",4717\nbo,"007, Bo",4718\n'
    )
    returned = {
        "lovelaceada_4711_9001_a01_tiny.ipynb": "lovelaceada_4711_9001_a01_tiny.ipynb",
        "x_4711_9001_y_4717_9007_a01_tiny.ipynb": "feedback_4717_9007_a01_tiny.ipynb",
        "007_bo_LATE_4718_9008_a01_1_2_x.ipynb": "feedback_4718_9008_a01_1_2_x.ipynb",
    }
    lms = tmp_path / "lms.zip"
    with zipfile.ZipFile(lms, "w") as archive:
        for name in returned:
            archive.writestr(name, (tiny.folder("release") / A / f"{A}.ipynb").read_text())
    result = collect(tiny, [A], lms)
    assert sorted(result.new) == [(student, A) for student in ("ada", "bo", "eve")]
    save(tiny, *(graded(student) for student in ("ada", "bo", "eve")))
    write_feedback(tiny, [A])
    back = tmp_path / "back.zip"
    pack_feedback(tiny, [A], back)
    with zipfile.ZipFile(back) as archive:
        assert set(archive.namelist()) == set(returned.values())
        assert b"Feedback for eve" in archive.read("feedback_4717_9007_a01_tiny.ipynb")


def test_another_format_is_refused(tiny, tmp_path):
    with pytest.raises(CourseError, match="there is csv, canvas, moodle, gradescope, moodle-work"):
        export(tiny, "excel", tmp_path / "grades.xlsx")


def test_what_has_no_final_score_is_never_an_empty_cell_of_an_import(
    graded_course, configure, tmp_path
):
    """Platforms erase by it what they have; where rows differ, each assignment has its file."""
    both = {id: {"ada": marks(4.0), "bob": marks(None if id == A else 5.0)} for id in (A, "b")}
    for to in IMPORTED:
        parts = [
            FORMATS[to](two_titles(graded_course), BOTH, p) for p in _parts(Book(both, False), to)
        ]
        assert len(parts) == 2
        assert all("" not in row[4:] for part in parts for row in part if "Points" not in row[0])
        assert ["bob" in str(part) for part in parts] == [False, True]
        alike = {id: {"ada": marks(4.0)} for id in (A, "b")}
        assert len(_parts(Book(alike, False), to)) == 1


def test_points_above_the_maximum_are_in_a_column_of_their_own(graded_course):
    book = Book({A: {"ada": marks(12.0), "bob": marks(7.0)}}, False)
    head, ada, bob = FORMATS["moodle"](graded_course, BOTH, book)
    assert head[4:] == ["Tiny, one", "Tiny, one (extra points)"]
    assert (ada[4:], bob[4:]) == ([10.0, 2.0], [7.0, 0.0])
    head, ada, bob = FORMATS["moodle"](graded_course, BOTH, Book(book.marks, False, scale=100))
    assert (ada[4:], bob[4:]) == ([100, 20], [70, 0])
    assert FORMATS["canvas"](graded_course, BOTH, book)[1:3] == [
        ["    Points Possible", "", "", "", 10.0],
        ["ada", "", "ada", "", 12.0],
    ]


BOTH = {id: Person(id) for id in ("ada", "bob")}


def marks(score):
    return Marks({"check_x": Mark(score, None, 0.0, 10.0, pending=score is None)})


def two_titles(course):
    return replace(course, titles={A: "One", "b": "Two"})
