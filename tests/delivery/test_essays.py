"""Marking by exercise: a sheet without names goes out, and its marks come back in."""

import csv
import re

import openpyxl
import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course.config import CourseError
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.pages.essays.essay_marks import read_essays
from autograder.delivery.pages.essays.sheets import write_essays
from autograder.delivery.pages.essays.two_markers import agreed, compare, weighted_kappa
from autograder.delivery.pages.feedback import write_feedback
from tests.delivery.test_pages import Page, stands_alone

A = "a01_tiny"
TEXT = """# %% [markdown]
# # Tiny
# %% exercise="qk"
scores = None
# %% [markdown] exercise="qk" part="why"
# Write here.
# %% exercise="norm"
total = None
"""
QK = '''"""Queries and keys."""
from autograder.exercise import Essay, Exercise, Numbers

exercise = Exercise("qk", title="Queries <and> keys", source="nobody")


@exercise.part(points=2, answer=Numbers())
def scores():
    """Scores."""
    return [1.0, 2.0]


@exercise.part(points=3, answer=Essay())
def why():
    """Says why.

    (1) 2 points. The reason.

    (2) 1 point. An example.
    """
    return "A <model> answer."
'''
WRITTEN = {
    "ada": "Because.",
    "bob": '=HYPERLINK("x", "y")\nsecond line, with a comma',
    "eve": "<script>x()</script> $a < b$",
    "zoe": "Write here.",
}


@pytest.fixture
def essays(tiny, graded, save):
    """Return the course, with three texts that wait and one that was not written."""
    (tiny.root / "assignments" / A).mkdir(parents=True)
    (tiny.root / "assignments" / A / f"{A}.py").write_text(TEXT)
    (tiny.root / "reference" / A).mkdir(parents=True)
    (tiny.root / "reference" / A / "qk.py").write_text(QK)
    save(tiny, *(graded(student, answer=text) for student, text in WRITTEN.items()))
    return tiny


@pytest.fixture(params=["xlsx", "csv"])
def sheet(request, essays, tmp_path):
    """Return a sheet as it was written."""
    path = tmp_path / f"essays.{request.param}"
    write_essays(essays, A, path)
    return Sheet(path)


class Sheet:
    """A sheet that a person edits."""

    def __init__(self, path):
        self.path = path
        if path.suffix == ".xlsx":
            first = openpyxl.load_workbook(path).worksheets[0]
            self.columns, *rows = [list(row) for row in first.iter_rows(values_only=True)]
        else:
            self.columns, *rows = csv.reader(path.read_text("utf-8-sig").splitlines(True))
        self.rows = [dict(zip(self.columns, row, strict=True)) for row in rows]

    def of(self, text):
        """Return the row of the answer with such a text."""
        (row,) = (row for row in self.rows if text in row["text"])
        return row

    def save(self, *, separator=","):
        """Save it as a spreadsheet does."""
        rows = [self.columns, *([row[c] for c in self.columns] for row in self.rows)]
        if self.path.suffix == ".xlsx":
            book = openpyxl.load_workbook(self.path)
            for number, row in enumerate(rows, 1):
                for place, value in enumerate(row, 1):
                    book.worksheets[0].cell(number, place).value = value
            book.save(self.path)
        else:
            with self.path.open("w", encoding="utf-8-sig", newline="") as file:
                csv.writer(file, delimiter=separator).writerows(rows)
        return self.path


def mark(course, student, points, comment=None):
    """Mark as formgrader does."""
    with Gradebook(course.database) as book:
        row = book.find_grade("qk_why", A, A, student)
        row.manual_score, row.needs_manual_grade = points, False
        if comment:
            book.find_comment("qk_why", A, A, student).manual_comment = comment
        book.db.commit()


def marks(course):
    return {
        s: (m.cells["qk_why"].manual, m.comments.get("qk_why"))
        for s, m in scores(course, A).items()
    }


def test_a_marker_gets_the_answers_without_names_and_gives_the_points_of_the_rubric(essays, sheet):
    assert len(sheet.rows) == 3  # who wrote nothing has 0 already
    everything = sheet.path.read_bytes().decode(errors="replace") + repr(sheet.rows)
    assert not [s for s in WRITTEN if re.search(rf"\b{s}\b", everything)]
    assert sheet.columns[3:] == ["text", "(1)", "(2)", "points", "of", "comment", "stamp"]
    assert {row["of"] for row in sheet.rows} == {"3 = 2 + 1"}

    sheet.of("Because").update({"(1)": 1.5, "(2)": 1, "comment": "-1 for <there>."})
    sheet.of("second line").update(points=0.5)
    entered = read_essays(essays, A, [sheet.save()])
    assert entered.problems == []
    assert entered.lines[0] == "marks that were entered in the gradebook: 2; comments: 1"
    assert marks(essays) == {
        "ada": (2.5, "-1 for <there>."),
        "bob": (0.5, None),
        "eve": (None, None),
        "zoe": (None, "No response."),
    }
    cells = {student: own.cells["qk_why"] for student, own in scores(essays, A).items()}
    assert [s for s, cell in cells.items() if cell.pending] == ["eve"]
    with Gradebook(essays.database) as book:  # what formgrader shows
        row = book.find_grade("qk_why", A, A, "ada")
        assert (row.score, row.needs_manual_grade) == (2.5, False)
    (page, *_) = write_feedback(essays, [A])
    assert "-1 for <there>." in Page(page).text


def test_a_formula_of_a_student_is_a_text_in_the_sheet(sheet):
    (row,) = (row for row in sheet.rows if "HYPERLINK" in row["text"])
    assert row["text"].startswith("'=HYPERLINK")
    if sheet.path.suffix == ".xlsx":
        book = openpyxl.load_workbook(sheet.path)
        kinds = {cell.data_type for row in book.worksheets[0].iter_rows() for cell in row}
        assert "f" not in kinds


def test_a_workbook_refuses_more_points_than_there_are(essays, tmp_path):
    write_essays(essays, A, tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    rules = {
        str(rule.sqref): (rule.type, rule.operator, rule.formula1, rule.formula2)
        for rule in book.worksheets[0].data_validations.dataValidation
    }
    most = {"E2:E4": "2", "F2:F4": "1", "G2:G4": "3"}
    assert rules == {cells: ("decimal", "between", "0", points) for cells, points in most.items()}


def test_what_formgrader_gives_is_in_the_sheet_and_leaves_it(essays, tmp_path):
    mark(essays, "ada", 2.0, "From formgrader.")
    write_essays(essays, A, tmp_path / "rest.csv")
    assert len(Sheet(tmp_path / "rest.csv").rows) == 2
    write_essays(essays, A, tmp_path / "all.csv", everything=True)
    sheet = Sheet(tmp_path / "all.csv")
    assert len(sheet.rows) == 4
    assert sheet.of("Because")["points"] == "2.0"
    assert sheet.of("Because")["comment"] == "From formgrader."
    entered = read_essays(essays, A, [sheet.path])
    assert entered.lines[0].endswith(": 0; comments: 0")
    sheet.of("Because").update(points="1")
    read_essays(essays, A, [sheet.save()])
    assert marks(essays)["ada"] == (1, "From formgrader.")


def test_codes_tell_nothing_and_are_the_same_in_every_sheet(essays, tmp_path):
    write_essays(essays, A, tmp_path / "one.csv", marker="one")
    write_essays(essays, A, tmp_path / "two.csv", marker="two")
    one, two = (Sheet(tmp_path / f"{name}.csv") for name in ("one", "two"))
    codes = [row["code"] for row in one.rows]
    assert {row["code"] for row in two.rows} == set(codes)
    assert all(re.fullmatch("[B-DF-HJ-NP-TV-XZ]{10}", code) for code in codes)
    (essays.root / "grading_secret.txt").write_text("another")
    write_essays(essays, A, tmp_path / "three.csv")
    assert not set(codes) & {row["code"] for row in Sheet(tmp_path / "three.csv").rows}


def test_every_marker_has_an_order_of_their_own(essays, graded, save, tmp_path):
    save(essays, *(graded(f"student_{n:03}", answer=f"Text {n:03}.") for n in range(12)))
    orders = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.csv"
        write_essays(essays, A, path, marker=name)
        orders.append([row["text"] for row in Sheet(path).rows])
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1] != sorted(orders[1])
    assert orders[0] != sorted(orders[0])


def test_a_second_marker_does_not_see_what_the_first_gave(essays, tmp_path):
    mark(essays, "ada", 2.0, "Good.")
    write_essays(essays, A, tmp_path / "two.csv", everything=True, marker="two")
    row = Sheet(tmp_path / "two.csv").of("Because")
    assert (row["points"], row["comment"], row["marker"]) == ("", "", "two")


WRONG = [
    ({"(1)": 2.5, "(2)": 0}, "(1)", "'2.5' is not a number from 0 to 2"),
    ({"points": "good"}, "points", "'good' is not a number from 0 to 3"),
    ({"points": -1}, "points", "'-1' is not a number from 0 to 3"),
    ({"(1)": 2}, "(2)", "it is empty, and (1) not; write 0 where nothing"),
    ({"(1)": 2, "(2)": 0, "points": 3}, "points", "it says 3, and the rubric's"),
    ({"points": 1, "code": "BBBBBBBBBB"}, "code", "has the code 'BBBBBBBBBB'"),
    ({"points": 1, "text": "Other."}, "text", "this is not what"),
    ({"points": 1, "essay": "qk_how"}, "essay", "this is not what"),
    ({"points": 1, "stamp": "0"}, "stamp", "'0' is not what was written there"),
]


def test_what_is_wrong_with_a_row_is_said_with_its_cell_and_nothing_is_entered(essays, sheet):
    before, rows = marks(essays), sheet.rows
    for edit, column, said in WRONG:
        sheet.rows = [dict(row) for row in rows]
        wrong = sheet.of("Because")
        wrong.update(edit)
        sheet.of("script").update(points=1)
        entered = read_essays(essays, A, [sheet.save()])
        (problem,) = entered.problems
        cell = f"{'ABCDEFGHIJ'[sheet.columns.index(column)]}{sheet.rows.index(wrong) + 2}"
        assert problem.startswith(sheet.path.name)
        assert f", {cell} ({column}): " in problem
        assert said in problem
        assert entered.lines == ["nothing was entered"]
    assert marks(essays) == before


def test_an_answer_that_is_there_twice_is_named(essays, sheet):
    sheet.of("Because").update(points=1)
    sheet.rows.append(sheet.of("Because") | {"points": 2})
    (problem,) = read_essays(essays, A, [sheet.save()]).problems
    assert "is there twice, also in" in problem
    assert marks(essays)["ada"][0] is None


def test_a_dry_run_enters_nothing(essays, sheet):
    sheet.of("Because").update(points=1)
    entered = read_essays(essays, A, [sheet.save()], dry_run=True)
    assert entered.lines == ["marks that would be entered in the gradebook: 1; comments: 0"]
    assert marks(essays)["ada"][0] is None


def test_a_mark_that_formgrader_gave_meanwhile_is_not_lost(essays, sheet):
    mark(essays, "ada", 3.0, "Whole.")
    sheet.of("Because").update(points=1, comment="Half.")
    problems = read_essays(essays, A, [sheet.save()]).problems
    assert len(problems) == 2
    assert "1 point here, and " in problems[0]
    assert "has 3 points by now" in problems[0]
    assert "has another comment by now, 'Whole.'" in problems[1]
    assert marks(essays)["ada"] == (3.0, "Whole.")
    assert not read_essays(essays, A, [sheet.path], replace=True).problems
    assert marks(essays)["ada"] == (1.0, "Half.")
    assert read_essays(essays, A, [sheet.path]).lines[1] == "rows that say what is there already: 1"


def test_a_row_whose_text_is_another_by_now_is_not_entered(essays, sheet, graded, save):
    save(essays, graded("ada", answer="Because of something else."))
    sheet.of("Because").update(points=1)
    (problem,) = read_essays(essays, A, [sheet.save()]).problems
    assert "was graded again with another text since the sheet was written" in problem
    assert marks(essays)["ada"][0] is None


def test_a_spreadsheet_s_own_csv_is_read(essays, tmp_path):
    write_essays(essays, A, tmp_path / "a.csv")
    sheet = Sheet(tmp_path / "a.csv")
    sheet.of("Because").update({"(1)": "1,5", "(2)": "0", "comment": "Schön."})
    assert not read_essays(essays, A, [sheet.save(separator=";")]).problems
    assert marks(essays)["ada"] == (1.5, "Schön.")


def test_a_formula_of_the_marker_counts_by_its_value(essays, tmp_path):
    write_essays(essays, A, tmp_path / "a.xlsx")
    sheet = Sheet(tmp_path / "a.xlsx")
    sheet.of("Because").update(points="=1+1")  # as if never opened in a spreadsheet
    with pytest.raises(CourseError, match=r"\(points\) holds the formula =1\+1 without its value"):
        read_essays(essays, A, [sheet.save()])


def test_a_sheet_that_may_hold_marks_is_never_overwritten(essays, sheet):
    with pytest.raises(CourseError, match="is there already, and may hold marks"):
        write_essays(essays, A, sheet.path)


def test_all_answers_are_on_one_page_without_names(essays, tmp_path):
    write_essays(essays, A, tmp_path / "essays.html")
    page = Page(tmp_path / "essays.html")
    stands_alone(page)
    assert "Because." in page.text
    assert "The reason." in page.text
    assert "A <model> answer." in page.text
    assert "ada" not in page.text
    assert "Write here." not in page.text


def test_nothing_to_mark_is_said(essays, tmp_path):
    for student in ("ada", "bob", "eve"):
        mark(essays, student, 1.0)
    with pytest.raises(CourseError, match="no answer to a01_tiny waits for a person; --all"):
        write_essays(essays, A, tmp_path / "a.csv")


def test_two_markers_are_compared(essays, tmp_path):
    given = {"one": [(2, 1), (1, 0), (0, 0)], "two": [(2, 0), (1, 0), (1, 0)]}
    for name, split in given.items():
        write_essays(essays, A, tmp_path / f"{name}.xlsx", marker=name)
        sheet = Sheet(tmp_path / f"{name}.xlsx")
        for text, (first, second) in zip(("Because", "second", "script"), split, strict=True):
            sheet.of(text).update({"(1)": first, "(2)": second})
        sheet.save()
    both, problems = compare(essays, A, tmp_path / "one.xlsx", tmp_path / "two.xlsx")
    assert problems == []
    found = {one.point: one for one in agreed(both)}
    assert (found["(1)"].count, found["(1)"].equal) == (3, pytest.approx(2 / 3))
    assert found["(1)"].kappa == pytest.approx(weighted_kappa([2, 1, 0], [2, 1, 1]))
    assert found["(1)"].higher == pytest.approx(1 / 3)
    assert found["(2)"].kappa == 0
    assert found["sum"].equal == pytest.approx(1 / 3)


def test_weighted_kappa_is_what_a_table_of_counts_gives():
    # 3 grades by two markers: counts, by hand 1 - sum(w o) / sum(w e)
    counts = [[4, 1, 0], [1, 3, 1], [0, 2, 3]]
    one = [i for i in range(3) for j in range(3) for _ in range(counts[i][j])]
    two = [j for i in range(3) for j in range(3) for _ in range(counts[i][j])]
    n = sum(map(sum, counts))
    rows = [sum(row) for row in counts]
    columns = [sum(row[j] for row in counts) for j in range(3)]
    observed = sum((i - j) ** 2 * counts[i][j] for i in range(3) for j in range(3)) / n
    expected = sum((i - j) ** 2 * rows[i] * columns[j] for i in range(3) for j in range(3)) / n**2
    assert weighted_kappa(one, two) == pytest.approx(1 - observed / expected)


def test_the_command_writes_reads_and_compares(essays, tmp_path, monkeypatch, capsys):
    def run(*arguments):
        command = ["autograder", "essays", *map(str, arguments), "--course", str(essays.root)]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as exit:
            main()
        return exit.value.code or 0, capsys.readouterr()

    path = tmp_path / "one.csv"
    code, said = run("a01", "--to", path)
    assert (code, said.out) == (0, f"3 answers in {path} (qk_why: 3)\n")
    sheet = Sheet(path)
    sheet.of("Because").update(points="4")
    code, said = run("a01", "--from", sheet.save())
    assert code == 1
    assert "'4' is not a number from 0 to 3" in said.out
    assert said.out.endswith("nothing was entered\n")
    sheet.of("Because").update(points="3")
    assert run("a01", "--from", sheet.save())[0] == 0
    code, said = run("a01", "--agreement", path, path)
    assert code == 0
    assert "100%" in said.out
    code, said = run("a01")
    assert code == 1
    assert "say one of --to FILE" in said.err
