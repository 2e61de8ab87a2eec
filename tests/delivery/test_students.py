"""Extensions, other ids, people who leave; and a gradebook that was lost."""

import json
import shutil
import sys

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.records import kept, read_grade
from autograder.delivery.nbgrader.agreement import disagreements
from autograder.delivery.nbgrader.entering import entered_again
from autograder.delivery.nbgrader.gradebook import refresh_times, register, seal
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.platforms.export import export

A = "a01_tiny"
DUE = {"id": A, "title": "Tiny", "due": "2026-05-04 09:00 UTC"}
PENALTY = (
    "from nbgrader.plugins import BasePlugin\n"
    "class One(BasePlugin):\n"
    "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
    "        return 1.0\n"
)


@pytest.fixture
def command(tiny, monkeypatch, capsys):
    """Return a function that runs a command on the course."""

    def run(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["autograder", *arguments, "--course", str(tiny.root)])
        with pytest.raises(SystemExit) as exit:
            main()
        said = capsys.readouterr()
        assert (exit.value.code or 0) == code, said.err
        return said.out + said.err

    return run


@pytest.fixture
def marked(tiny, configure, hand_in, graded, save, released):
    """A course in which ada and bob handed in an hour late; ada's text is marked."""
    (tiny.root / "later.py").write_text(PENALTY)
    (tiny.root / "students.csv").write_text("id,name\nada,Ada Lovelace\nbob,Bob\n")
    course = configure(
        tiny.root,
        f"c.Course.assignments = [{DUE}]",
        'c.AssignLatePenalties.plugin_class = "later.One"',
    )
    register(course, A, seal(released()))
    for student in ("ada", "bob"):
        hand_in(course, student)
    save(course, graded("ada"), graded("bob"))
    with Gradebook(course.database) as book:
        row = book.find_grade("qk_why", A, A, "ada")
        row.manual_score, row.needs_manual_grade = 2.5, False
        book.db.commit()
    write_feedback(course, [A])
    return course


def test_an_extension_counts_at_the_next_grading_and_can_be_taken_back(marked, command):
    assert scores(marked, A)["ada"].late_penalty == 1
    said = command("extension", "ada", A, "--until", "2026-05-05 09:00 UTC")
    assert said == f"ada, {A}: until 2026-05-05 09:00 UTC\n"
    refresh_times(marked, A)
    times = {s: (m.late_penalty, m.seconds_late) for s, m in scores(marked, A).items()}
    assert times == {"ada": (0, 0), "bob": (1, 3600)}
    command("extension", "ada", A, "--until", "")
    refresh_times(marked, A)
    assert scores(marked, A)["ada"].late_penalty == 1


@pytest.mark.parametrize(
    ("student", "until", "reason"),
    [
        ("eve", "2026-05-05 09:00 UTC", "eve is no student of this course"),
        ("ada", "2026-05-05 09:00", "has no time zone"),
        ("ada", "2026-05-01 09:00 UTC", "is not after the due date, 2026-05-04 09:00 UTC"),
    ],
)
def test_an_extension_that_means_nothing_is_refused(marked, command, student, until, reason):
    assert reason in command("extension", student, A, "--until", until, code=1)
    assert not (marked.root / "extensions.csv").exists()


def test_a_renamed_student_takes_everything_along(marked, command, save, graded):
    command("extension", "ada", A, "--until", "2026-05-05 09:00 UTC")
    said = command("student", "rename", "ada", "ada1")
    assert "nothing is changed yet" in said
    assert scores(marked, A).keys() == {"ada", "bob"}
    command("student", "rename", "ada", "ada1", "--yes")
    book = scores(marked, A)
    assert book.keys() == {"ada1", "bob"}
    assert book["ada1"].cells["qk_why"].manual == 2.5
    assert read_grade(marked, "ada1", A).student == "ada1"
    for step in ("submitted", "autograded", "feedback"):
        assert {path.name for path in marked.folder(step).iterdir()} == {"ada1", "bob"}
    assert "ada1,Ada,Lovelace" in (marked.root / "students.csv").read_text()
    assert "ada1,a01_tiny" in (marked.root / "extensions.csv").read_text()
    save(marked, graded("ada1"))  # graded again under the new id: what was marked stays marked
    assert not scores(marked, A)["ada1"].cells["qk_why"].pending
    assert "is a student already: `autograder student merge" in command(
        "student", "rename", "bob", "ada1", code=1
    )


def test_of_two_ids_one_student_is_made(marked, command):
    said = command("student", "merge", "bob", "ada", "--yes")
    assert f"put aside in removed/ (ada has them, too): {A}" in said
    assert scores(marked, A).keys() == {"ada"}
    assert scores(marked, A)["ada"].cells["qk_why"].manual == 2.5
    (aside,) = (marked.root / "removed").iterdir()
    assert (aside / "submitted" / A / f"{A}.ipynb").is_file()


def test_a_removed_student_is_gone_everywhere_and_put_aside(marked, command, tmp_path):
    assert "nothing is changed yet" in command("student", "remove", "ada")
    command("student", "remove", "ada", "--yes")
    assert scores(marked, A).keys() == {"bob"}
    export(marked, "csv", tmp_path / "grades.csv")
    for path in (tmp_path / "grades.csv", marked.root / "students.csv"):
        assert "ada" not in path.read_text()
    assert not list(marked.root.glob("*/ada"))
    (aside,) = (marked.root / "removed").iterdir()
    cells = json.loads((aside / "gradebook.json").read_text())
    assert 2.5 in [cell.get("manual_score") for cell in cells]
    assert "no student of this course" in command("student", "remove", "ada", code=1)


def test_what_the_gradebook_lost_is_entered_again_from_the_records(marked, command, save, template):
    assert disagreements(marked, [A]) == []
    assert command("doctor") == "submissions, records and gradebook agree\n"
    shutil.copy(template / "gradebook.db", marked.root)  # a backup from before anybody was graded
    said = command("doctor", code=1)
    assert f"{A}, ada: is graded, and the gradebook has no scores of it\n" in said
    work = [Handed(s, A, marked.submission(s, A)) for s in ("ada", "bob")]
    key = json.loads(marked.record("ada", A).read_text())["key"]
    assert entered_again(marked, work) == work
    # they wait to be saved, without being run again
    save(marked, *(kept(marked, handed, key) for handed in work))
    assert disagreements(marked, [A]) == []
    assert scores(marked, A)["bob"].cells["check_qk"].auto == 2


def test_a_score_that_differs_is_named(marked):
    with Gradebook(marked.database) as book:
        book.find_grade("check_norm", A, A, "bob").auto_score = 0.5
        book.db.commit()
    assert disagreements(marked, [A]) == [f"{A}, bob: has 1 for norm, and 0.5 in the gradebook"]
    shutil.rmtree(marked.submission("bob", A).parent)
    marked.record("bob", A).unlink()
    assert disagreements(marked, [A]) == [
        f"{A}, bob: has scores in the gradebook, and there is no submission and no record"
    ]
