"""nbgrader's own commands run on what is written here."""

import csv
import json
import shutil

import pytest
from nbgrader.api import Gradebook

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.submissions.grading_options import GradingOptions
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.releasing import hand_out
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.platforms.collect import collect

from ..courses import EARNED, MOTION

A = "a01_tiny"


def test_nbgrader_s_feedback_and_export_run(tiny, nbgrader, graded, save):
    save(tiny, graded("ada", qk=1.5), graded("bob", qk=None))
    nbgrader(tiny.root, "generate_feedback", A)
    page = tiny.folder("feedback") / "ada" / A / f"{A}.html"
    theirs = page.read_text()
    assert "2.5 / 6" in theirs
    assert "Because." in theirs
    assert page in write_feedback(tiny, [A])
    ours = page.read_text()
    assert ours != theirs
    nbgrader(tiny.root, "generate_feedback", A)  # without --force, it leaves ours alone
    assert page.read_text() == ours
    nbgrader(tiny.root, "export")
    with (tiny.root / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert (rows["ada"]["score"], rows["bob"]["score"]) == ("2.5", "1.0")


@pytest.mark.slow
def test_the_exchange_carries_an_assignment_there_and_back(
    tiny, nbgrader, tmp_path, monkeypatch, graded, save
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    exchange = f"--Exchange.root={tmp_path / 'exchange'}"
    made, released = hand_out(tiny, [A], "exchange")
    place = tmp_path / "exchange"
    assert made == f"Creating exchange directory: {place}"  # open to everybody, so it is said
    assert released == f"{A}: released to the exchange, {place / tiny.id / 'outbound' / A}"
    assert hand_out(tiny, [A], "exchange") == [released]  # a correction replaces it
    student = tmp_path / "home"
    student.mkdir()
    as_ada = ("--course", tiny.id, exchange)
    nbgrader(student, "fetch_assignment", A, *as_ada)
    assert sorted(p.name for p in (student / A).iterdir()) == [f"{A}.ipynb", "check.json"]
    nbgrader(student, "submit", A, "--student=ada", *as_ada)
    assert collect(tiny, [A]).new == [("ada", A)]
    assert collect(tiny, [A]).unchanged == [("ada", A)]
    save(tiny, graded("ada"))
    (page,) = write_feedback(tiny, [A])
    nbgrader(tiny.root, "release_feedback", A)
    nbgrader(student, "fetch_feedback", A, *as_ada)
    (fetched,) = (student / A / "feedback").glob(f"*/{A}.html")
    assert fetched.read_text() == page.read_text()


def test_a_link_in_the_exchange_is_not_followed(tiny, nbgrader, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    hand_out(tiny, [A], "exchange")
    inbound = tmp_path / "exchange" / tiny.id / "inbound"
    for student in ("ada", "eve"):
        folder = inbound / f"{student}+{A}+2026-05-04 10:00:00 UTC+x"
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text("2026-05-04 10:00:00 UTC")
        (folder / "submission_secret.txt").write_text("s")
        (folder / f"{A}.ipynb").write_text("{}")
    secret = tmp_path / "reference.py"
    secret.write_text("SECRET")
    (inbound / f"eve+{A}+2026-05-04 10:00:00 UTC+x" / "mine.py").symlink_to(secret)
    result = collect(tiny, [A])
    assert result.new == [("ada", A)]
    (problem,) = result.problems
    assert "mine.py is a link or no ordinary file." in str(problem)
    assert "SECRET" not in [p.read_text() for p in tiny.root.rglob("submitted/*/*/*")]


def test_what_the_exchange_says_is_passed_on(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    with pytest.raises(CourseError, match="exchange.*refuses a01_tiny: Unwritable directory"):
        collect(tiny, [A])


@pytest.mark.slow
@pytest.mark.sandbox
def test_nbgrader_autograde_uses_the_engine(course, nbgrader):
    id = MOTION
    simulate(course, id, 7)
    keep = {"student_001", "student_007"}
    for folder in course.folder("submitted").iterdir():
        if folder.name not in keep:
            shutil.rmtree(folder)
    nbgrader(course.root, "autograde", id)
    by_nbgrader = scores(course, id)
    assert by_nbgrader.keys() == keep
    assert by_nbgrader["student_001"].score == EARNED
    record = json.loads(course.record("student_001", id).read_text())
    assert (record["score"], record["key"]) == (EARNED, "")
    grade_and_save(course, [id], GradingOptions(force=True))
    ours = scores(course, id)
    assert {s: m.cells for s, m in by_nbgrader.items()} == {s: m.cells for s, m in ours.items()}
    assert {s: m.comments for s, m in by_nbgrader.items()} == {
        s: m.comments for s, m in ours.items()
    }
    # what a person marked is not asked for again, whichever way the same text is graded again
    with Gradebook(course.database) as book:
        row = book.find_grade("check_fall", id, id, "student_001")
        row.manual_score, row.needs_manual_grade = 1.0, False
        book.db.commit()
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.Course.students = ["student_001", "new"]\n')
    assert (
        grade_and_save(
            Course.load(course.root), [id], GradingOptions(students=("student_001",))
        ).up_to_date
        == 1
    )
    nbgrader(course.root, "autograde", id, "--force", "--student=student_001")
    grade_and_save(course, [id], GradingOptions(students=("student_001",), force=True))
    mark = scores(course, id)["student_001"].cells["check_fall"]
    assert (mark.manual, mark.pending) == (1.0, False)
    path = course.submission("student_001", id)
    notebook = json.loads(path.read_text())
    cell = next(c for c in notebook["cells"] if c["id"] == "fall")
    cell["source"] = "".join(cell["source"]) + "\n# changed"
    path.write_text(json.dumps(notebook))
    nbgrader(course.root, "autograde", id, "--force", "--student=student_001")
    assert scores(course, id)["student_001"].cells["check_fall"].pending
    # a broken exercise: withheld by either way
    module = course.root / "reference" / id / "mean_speeds.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('typo')\n")
    # and of a part that can't be judged its own points alone
    module = course.root / "reference" / id / "fall.py"
    undecided = (
        "class Unsure(Choice):\n    def judge(self, *_, **__): raise RuntimeError('a bug')\n\n\n"
    )
    text = module.read_text().replace('answer=Choice("ABC")', 'answer=Unsure("ABC")')
    module.write_text(text.replace("exercise = Exercise", f"{undecided}exercise = Exercise", 1))
    nbgrader(course.root, "autograde", id, "--force", "--student=student_001")
    marks = scores(course, id)["student_001"].cells
    assert (marks["check_mean_speeds"].auto, marks["check_mean_speeds"].pending) == (None, True)
    assert (marks["check_fall"].auto, marks["check_fall"].pending) == (4.0, True)
