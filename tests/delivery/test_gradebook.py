import json
import shutil
import sqlite3
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from autograder.course.config import Course, CourseError
from autograder.delivery.nbgrader import gradebook
from autograder.delivery.nbgrader.database import zoned
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.pages.final_grades import sheets

A = "a01_tiny"


def test_sealing_is_deterministic_and_locks_the_cells(released):
    sealed = gradebook.seal(released())
    assert sealed == gradebook.seal(released()) == gradebook.seal(sealed)
    checksums = {
        c["id"]: c["metadata"].get("nbgrader", {}).get("checksum") for c in sealed["cells"]
    }
    assert checksums.pop("title") is None
    assert all(checksums.values())


def test_nbgrader_s_complaint_about_a_notebook_is_passed_on(released):
    twice = released()
    twice["cells"].append(twice["cells"][1] | {"id": "again"})
    with pytest.raises(CourseError, match="qk"):
        gradebook.seal(twice)


def test_registering_again_changes_nothing(tiny, released, graded, save):
    gradebook.register(tiny, A, gradebook.seal(released()))
    save(tiny, graded("ada"))
    gradebook.register(tiny, A, gradebook.seal(released()))
    with Gradebook(tiny.database) as book:
        (notebook,) = book.find_assignment(A).notebooks
        assert (notebook.name, notebook.max_score, notebook.num_submissions) == (A, 6, 1)
        assert {cell.name for cell in notebook.grade_cells} == {"check_qk", "qk_why", "check_norm"}
        assert book.find_assignment(A).course_id == tiny.id


def test_a_changed_cell_is_registered_and_an_unchanged_one_left_alone(tiny, released, monkeypatch):
    def texts():
        with Gradebook(tiny.database) as book:
            return {cell.name: cell.source for cell in book.find_notebook(A, A).source_cells}

    sealed = gradebook.seal(released())
    gradebook.register(tiny, A, sealed)
    (one,) = (
        c for c in sealed["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "qk"
    )
    one["source"] += "\n# more"
    gradebook.register(tiny, A, gradebook.seal(sealed))
    assert texts()["qk"].endswith("# more")
    monkeypatch.setattr("nbgrader.preprocessors.SaveCells.preprocess", None)
    gradebook.register(tiny, A, gradebook.seal(sealed))


def test_a_new_cell_after_submissions_is_refused_with_what_to_do(tiny, released, graded, save):
    save(tiny, graded("ada"))
    extra = released()["cells"][2] | {"id": "more"}
    extra["metadata"] = {"nbgrader": extra["metadata"]["nbgrader"] | {"grade_id": "check_more"}}
    with pytest.raises(CourseError, match=f"nbgrader db assignment remove {A}"):
        gradebook.register(tiny, A, gradebook.seal(released([extra])))


def test_a_due_date_is_registered_and_nonsense_refused(tiny, released, configure):
    due = f'c.Course.assignments = [{{"id": "{A}", "title": "T", "due": "%s"}}]'
    course = configure(tiny.root, due % "2027-03-01 23:59 UTC")
    gradebook.register(course, A, gradebook.seal(released()))
    with Gradebook(course.database) as book:
        assert book.find_assignment(A).duedate == datetime(2027, 3, 1, 23, 59)
    for text, reason in (
        ("soon", r"course_config.py:\d+: the due date of a01_tiny, 'soon', is no date"),
        ("next monday", "'next monday', is no date: write it like"),
        ("2027-03-01 23:59", "'2027-03-01 23:59', has no time zone: write it like"),
    ):
        with pytest.raises(CourseError, match=reason):  # when the course is loaded
            configure(tiny.root, due % text)


@pytest.mark.parametrize(
    "text",
    [
        "2027-06-01 23:59 UTC",
        "2027-06-02 01:59 Europe/Berlin",
        "2027-06-02 01:59 +02:00",
        "2027-06-02T01:59+02:00",
        "2027-06-01T23:59Z",
    ],
)
def test_a_date_has_its_zone_in_any_usual_way(text):
    assert zoned(text, "it") == datetime(2027, 6, 1, 23, 59)


def test_scores_and_files_are_saved(tiny, graded, hand_in, save):
    hand_in(tiny, "ada")
    save(tiny, graded("ada", qk=1.5), graded("bob"))
    book = scores(tiny, A)
    assert {id: m.auto for id, m in book["ada"].cells.items()} == {
        "check_qk": 1.5,
        "qk_why": None,
        "check_norm": 1.0,
    }
    assert [id for id, m in book["ada"].cells.items() if m.pending] == ["qk_why"]
    assert (book["ada"].score, book["ada"].max_score) == (2.5, 6)
    assert book["ada"].submitted == datetime(2026, 5, 4, 10)
    assert book["bob"].submitted is None
    folder = tiny.submission("ada", A, "autograded").parent
    assert json.loads((folder / f"{A}.ipynb").read_text())["cells"][2]["outputs"]
    assert (folder / "timestamp.txt").read_text().startswith("2026-05-04 10:00")
    secret = (folder / "submission_secret.txt").read_text()
    assert len(secret) == 128
    save(tiny, graded("ada"))
    assert (folder / "submission_secret.txt").read_text() == secret


def test_the_exchange_s_secret_is_kept(tiny, graded, hand_in, save):
    hand_in(tiny, "ada").with_name("submission_secret.txt").write_text("s3cret")
    save(tiny, graded("ada"))
    folder = tiny.submission("ada", A, "autograded").parent
    assert (folder / "submission_secret.txt").read_text() == "s3cret"


def test_points_given_by_hand_survive_grading_again(tiny, graded, save):
    save(tiny, graded("ada"))
    with Gradebook(tiny.database) as book:
        for name, points in (("qk_why", 2.5), ("check_qk", 1.0)):
            book.find_grade(name, A, A, "ada").manual_score = points
            book.find_grade(name, A, A, "ada").needs_manual_grade = False
        book.find_grade("check_norm", A, A, "ada").extra_credit = 0.5
        book.find_comment("qk_why", A, A, "ada").manual_comment = "Nearly."
        book.db.commit()
    save(tiny, graded("ada", qk=0.0))
    marks = scores(tiny, A)["ada"]
    assert (marks.cells["qk_why"].manual, marks.cells["check_qk"].manual) == (2.5, 1.0)
    assert marks.cells["check_qk"].auto == 0.0
    assert not marks.cells["check_qk"].pending  # what a person marked is what is there
    assert marks.comments == {"qk_why": "Nearly."}
    assert marks.score == 2.5 + 1.0 + 1.5


def test_a_person_looks_again_where_another_text_was_handed_in(tiny, graded, save):
    save(tiny, graded("ada"))
    with Gradebook(tiny.database) as book:
        for name in ("qk_why", "check_qk"):
            book.find_grade(name, A, A, "ada").manual_score = 1.0
            book.find_grade(name, A, A, "ada").needs_manual_grade = False
        book.db.commit()
    for _ in range(2):  # and until then goes on waiting
        save(tiny, graded("ada", answer="Because of something else."))
        cells = scores(tiny, A)["ada"].cells
        assert [cells[name].pending for name in ("qk_why", "check_qk")] == [True, False]
        assert cells["qk_why"].manual == 1.0


def test_what_was_marked_stays_marked_though_autograded_is_gone(tiny, graded, save):
    save(tiny, graded("ada"))
    with Gradebook(tiny.database) as book:
        book.find_grade("qk_why", A, A, "ada").manual_score = 1.0
        book.find_grade("qk_why", A, A, "ada").needs_manual_grade = False
        book.db.commit()
    shutil.rmtree(tiny.folder("autograded"))
    save(tiny, graded("ada"))
    assert not scores(tiny, A)["ada"].cells["qk_why"].pending
    # a record of an earlier version says no texts: the autograded notebook does
    path = tiny.record("ada", A)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"texts": None}))
    save(tiny, graded("ada"))
    assert not scores(tiny, A)["ada"].cells["qk_why"].pending
    path.write_text(json.dumps(json.loads(path.read_text()) | {"texts": None}))
    save(tiny, graded("ada", answer="Another."))
    assert scores(tiny, A)["ada"].cells["qk_why"].pending


def test_an_errored_exercise_is_withheld_and_never_0(tiny, graded, save):
    save(tiny, graded("ada", qk=None))
    marks = scores(tiny, A)["ada"]
    assert (marks.cells["check_qk"].auto, marks.cells["check_qk"].pending) == (None, True)
    save(tiny, graded("ada"))
    marks = scores(tiny, A)["ada"]
    assert (marks.cells["check_qk"].auto, marks.cells["check_qk"].pending) == (2.0, False)


def test_of_an_exercise_only_what_waits_is_withheld(tiny, graded, save, partly):
    save(tiny, partly("ada"))
    marks = scores(tiny, A)["ada"]
    assert (marks.cells["check_qk"].auto, marks.cells["check_qk"].pending) == (2.0, True)
    assert marks.withheld
    assert marks.score == 3
    own = sheets(tiny, A)["ada"].by_id["qk"]
    assert (own.status.value, own.score, own.withheld) == ("errored", 2.0, 0.5)
    save(tiny, graded("ada"))
    marks = scores(tiny, A)["ada"]
    assert (marks.cells["check_qk"].auto, marks.cells["check_qk"].pending) == (2.0, False)


def test_untouched_text_gets_0_unless_the_grader_failed(tiny, graded, save):
    blank = {"answer": "Write here.", "changed": False}
    save(tiny, graded("ada", **blank), graded("bob", qk=None, **blank))
    book = scores(tiny, A)
    assert (book["ada"].cells["qk_why"].auto, book["ada"].cells["qk_why"].pending) == (0.0, False)
    assert book["ada"].comments == dict.fromkeys(("qk", "qk_why", "norm"), "No response.")
    assert (book["bob"].cells["qk_why"].auto, book["bob"].cells["qk_why"].pending) == (None, True)


def test_no_score_is_above_the_maximum(tiny, graded, save):
    save(tiny, graded("ada", norm=1.0000001))
    assert scores(tiny, A)["ada"].cells["check_norm"].auto == 1.0


def test_the_course_s_late_penalty_is_taken_off(tiny, released, graded, hand_in, configure, save):
    (tiny.root / "late.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class Half(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return score / 2 if total_seconds_late > 60 else None\n"
    )
    course = configure(
        tiny.root,
        f'c.Course.assignments = [{{"id": "{A}", "title": "T", "due": "2026-05-04 09:00 UTC"}}]',
        'c.AssignLatePenalties.plugin_class = "late.Half"',
    )
    gradebook.register(course, A, gradebook.seal(released()))
    hand_in(course, "ada")
    hand_in(course, "bob", timestamp="2026-05-04 08:59:59 UTC")
    hand_in(course, "cleo", timestamp="soon")
    save(course, graded("ada"), graded("bob"), graded("cleo"))
    book = scores(course, A)
    assert (book["ada"].late_penalty, book["ada"].seconds_late, book["ada"].score) == (
        1.5,
        3600,
        1.5,
    )
    assert (book["bob"].late_penalty, book["bob"].score) == (0, 3)
    assert (book["cleo"].late_penalty, book["cleo"].submitted) == (0, None)


def test_nothing_is_saved_for_an_assignment_that_is_not_registered(tiny, graded):
    (tiny.root / "gradebook.db").unlink()
    with pytest.raises(CourseError, match="run `autograder generate a01_tiny`"):
        gradebook.save(tiny, [graded("ada")])


def test_a_locked_gradebook_is_said_to_be_locked(tiny, graded, released):
    holder = sqlite3.connect(tiny.root / "gradebook.db")
    holder.execute("BEGIN EXCLUSIVE")
    quick = Course(tiny.root, tiny.id, tiny.titles, config=tiny.config.copy())
    quick.config.CourseDirectory.db_url = f"{tiny.database}?timeout=0.1"
    try:
        with pytest.raises(CourseError, match="If another program"):
            gradebook.save(quick, [graded("ada")])
        with pytest.raises(CourseError, match="database is locked"):
            gradebook.register(quick, A, gradebook.seal(released()))
    finally:
        holder.close()


DRIVER = r"can't be opened .*install 'autograder-engine\[postgres"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql+nodriver://x/y", DRIVER),
        ("postgres://x/y", DRIVER),
        ("somewhere", "no address of a database"),
    ],
)
def test_what_is_no_database_or_has_no_driver_is_said_in_one_sentence(tiny, configure, url, said):
    course = configure(tiny.root, f"c.CourseDirectory.db_url = {url!r}")
    with pytest.raises(CourseError, match=said):
        scores(course, A)


def test_a_password_in_a_file_that_travels_is_refused(tiny, configure, monkeypatch):
    line = 'c.CourseDirectory.db_url = "postgresql+psycopg://ada:%s@127.0.0.1:1/x"'
    with pytest.raises(CourseError, match="holds the password .* into ~/.pgpass"):
        configure(tiny.root, line % "secret")
    path = tiny.root / "course_config.py"
    path.write_text(path.read_text().replace("secret", '" + __import__("os").environ["PW"] + "'))
    monkeypatch.setenv("PW", "secret")
    with pytest.raises(
        CourseError, match=r"psycopg://ada:\*\*\*@127.* can't be used .*psql"
    ) as said:
        scores(Course.load(tiny.root), A)
    assert "secret" not in str(said.value)


def test_text_that_utf8_can_not_hold_is_saved(tiny, graded):
    save_me = graded("ada", answer="half a pair: \ud800")
    gradebook.save(tiny, [save_me])
    assert "half a pair: ?" in tiny.submission("ada", A, "autograded").read_text()
