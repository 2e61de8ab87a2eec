"""The gradebook on a PostgreSQL server: what SQLite does, and several people at once."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader import api
from sqlalchemy import create_engine, select

from autograder.cli import main
from autograder.course.config import Course, CourseError
from autograder.course.lock import grading, watching
from autograder.course.submissions.grading_options import GradingOptions
from autograder.delivery.department import grading as runs
from autograder.delivery.department.demo import copy_course
from autograder.delivery.department.students import apply, planned
from autograder.delivery.nbgrader import gradebook, moving
from autograder.delivery.nbgrader.agreement import disagreements
from autograder.delivery.nbgrader.database import open_gradebook
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.nbgrader.moving import copy_gradebook

from ..postgres import program, serving
from ..servers import page_of
from ..servers import serving as serving_formgrader

pytestmark = [pytest.mark.postgres, pytest.mark.xdist_group("postgres")]

A = "a01_tiny"
ROOT = Path(__file__).resolve().parents[2]
#: Grades, and doesn't come to an end.
HOLDER = """
import sys, time
from autograder.course.config import Course
from autograder.course.lock import grading
with grading(Course.load(sys.argv[1])):
    print("holds", flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def marked(tmp_path_factory, template, graded, hand_in, save, configure):
    """A course on SQLite with marks, comments and an extension that grading did not give."""
    root = shutil.copytree(template, tmp_path_factory.mktemp("marked") / "course")
    (root / "students.csv").write_text("id,name\nada,Ada Lovelace\nbob,Bob\neve,Ève 一\nfay,Fay\n")
    course = configure(root)
    for student in ("ada", "bob"):
        hand_in(course, student)
    save(course, graded("ada", qk=0.1 + 0.2), graded("bob", qk=None))
    with open_gradebook(course) as book:
        book.update_or_create_assignment(A, duedate="2026-05-04 09:00 UTC")
        grade = book.find_grade("qk_why", A, A, "ada")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 2.5, 0.5, False
        book.find_comment("qk_why", A, A, "ada").manual_comment = "Schön: √d_k\n✓"
        notebook = book.find_submission_notebook(A, A, "bob")
        notebook.flagged, notebook.late_submission_penalty = True, 1 / 3
        notebook.assignment.extension = timedelta(days=3, seconds=1, microseconds=5)
        book.db.commit()
    return course


@pytest.fixture(scope="module")
def copied(marked, server):
    """What copying it to a server said, and the database there; nobody changes either."""
    name = server.create()
    return copy_gradebook(marked, server.url(name)), name


@pytest.fixture(scope="module")
def empty(server):
    """The address of a database that stays without a row of a course's."""
    return server.url(server.create())


@pytest.fixture
def name(copied, server):
    """The name of a database with the same gradebook."""
    return server.create(template=copied[1])


@pytest.fixture
def moved(marked, name, server, tmp_path, configure):
    """The same course, its gradebook on the server."""
    root = shutil.copytree(marked.root, tmp_path / "course")
    (root / "gradebook.db").unlink()
    return configure(root, f"c.CourseDirectory.db_url = {server.url(name)!r}")


@pytest.fixture
def grade(moved, graded, hand_in, monkeypatch):
    """Return a function that grades so many submissions, without looking at them."""

    def grade(*students, batch=48, between=lambda: None):
        for student in students:
            hand_in(moved, student)

        def grade_class(course, work, options, **_):
            for handed in work:
                yield graded(handed.student)
                between()

        monkeypatch.setattr(runs, "grade_class", grade_class)
        monkeypatch.setattr(runs, "BATCH", batch)
        return runs.grade_and_save(moved, [A], GradingOptions(students=tuple(students)))

    return grade


@pytest.fixture
def said(monkeypatch, capsys):
    """Return a function that gives what a command says when it is refused."""

    def run(*arguments):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["autograder", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        assert exit.value.code == 1
        return capsys.readouterr().err

    return run


def elsewhere(course, folder):
    """Return the course as another machine has it: in a folder of its own."""
    return Course.load(shutil.copytree(course.root, folder))


def rows(url):
    """Return all that nbgrader keeps, by table."""
    engine = create_engine(url)
    with engine.connect() as connection:
        tables = api.Base.metadata.sorted_tables
        found = {table.name: set(map(tuple, connection.execute(select(table)))) for table in tables}
    engine.dispose()
    return found


def waits_for(server, condition):
    until = time.monotonic() + 30
    while server.sql(condition) != "t":
        assert time.monotonic() < until, condition
        time.sleep(0.05)


def test_every_row_arrives_and_comes_back(marked, copied, server, tmp_path):
    said, name = copied
    before = rows(marked.database)
    assert rows(server.url(name)) == before
    counts = {table: len(found) for table, found in before.items()}
    assert (counts["student"], counts["grade"], counts["comment"]) == (2, 6, 6)
    assert f"{sum(counts.values())} rows of sqlite:" in said[0]
    assert "write into course_config.py: c.CourseDirectory.db_url = 'postgresql+psycopg" in said[1]
    there = replace(marked, config=deepcopy(marked.config))
    there.config.CourseDirectory.db_url = server.url(name)
    back = f"sqlite:///{tmp_path / 'back.db'}"
    copy_gradebook(there, back)
    assert rows(back) == before


def test_nothing_is_copied_over_what_is_there(marked, copied, server, said):
    url = server.url(copied[1])
    before = rows(url)
    error = said("gradebook", "copy", "--to", url, "--course", marked.root)
    assert "has a gradebook in it already" in error
    assert "name an empty database" in error
    assert rows(url) == before


def test_a_copy_arrives_whole_or_not_at_all(marked, empty, tmp_path):
    other = elsewhere(marked, tmp_path / "other")
    with open_gradebook(other) as book:
        book.find_student("ada").first_name = "A" * 200  # SQLite doesn't mind
        book.db.commit()
    with pytest.raises(CourseError, match="value too long for type character varying"):
        copy_gradebook(other, empty)
    assert sum(map(len, rows(empty).values())) == 1  # the course itself


def test_what_changes_meanwhile_is_not_copied(marked, empty, monkeypatch):
    real = moving._rows
    twice = {table.name: 0 for table in api.Base.metadata.sorted_tables}

    def changing(db, table):
        twice[table.name] += 1
        return set() if (table.name, twice[table.name]) == ("grade", 2) else real(db, table)

    monkeypatch.setattr(moving, "_rows", changing)
    with pytest.raises(CourseError, match=r"changed while it was copied \(grade\).*formgrader"):
        copy_gradebook(marked, empty)
    assert sum(map(len, rows(empty).values())) == 1


def test_what_is_done_with_a_gradebook_works(moved, grade, nbgrader):
    first = scores(moved, A)
    assert (first["ada"].score, first["ada"].comments) == (4.3, {"qk_why": "Schön: √d_k\n✓"})
    assert first["bob"].late_penalty == 1 / 3
    outcome = grade("ada", "bob", "eve", batch=2)
    assert [student for student, _ in outcome.graded] == ["ada", "bob", "eve"]
    now = scores(moved, A)
    assert {student: marks.score for student, marks in now.items()} == {
        "ada": 6,
        "bob": 3,
        "eve": 3,
    }
    assert disagreements(moved, [A]) == []
    apply(moved, planned(moved, "eve", ""))
    apply(moved, planned(moved, "ada", "eve"))
    apply(moved, planned(moved, "bob", "eve", merge=True))
    assert scores(moved, A) == {"eve": now["ada"]}
    nbgrader(moved.root, "export")
    assert "eve" in (moved.root / "grades.csv").read_text()
    assert not (moved.root / "gradebook.db").exists()


def test_who_grades_elsewhere_is_named_and_its_end_ends_its_lock(moved, tmp_path, said):
    other = elsewhere(moved, tmp_path / "other")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, moved.root],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "holds\n"
        error = said("student", "remove", "bob", "--yes", "--course", other.root)
        who = f"autograder number {process.pid} on {os.uname().nodename}, as postgres"
        assert f"another process ({who}) is grading this course" in error
        with watching(other):  # is another lock
            pass
        process.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while True:
        try:
            with grading(other):
                break
        except CourseError:  # the server has yet to see it
            assert time.monotonic() < until
            time.sleep(0.05)


def test_a_second_watch_is_refused(moved, tmp_path):
    other = elsewhere(moved, tmp_path / "other")
    refused = pytest.raises(CourseError, match="watches this course already")
    with watching(moved), refused, watching(other):
        pass
    with watching(other), grading(moved):
        pass


def test_who_lost_the_lock_enters_nothing_and_goes_on_later(moved, name, server, grade):
    def lose():
        server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database "
            f"WHERE locktype = 'advisory' AND datname = '{name}'"
        )

    with pytest.raises(CourseError, match=r"connection to postgresql.* was lost .*terminating"):
        grade("eve", "fay", batch=1, between=lose)
    assert scores(moved, A).keys() & {"eve", "fay"} == {"eve"}  # who was entered before
    assert len(grade("eve", "fay").graded) == 2
    assert scores(moved, A).keys() > {"eve", "fay"}


def test_a_mark_given_while_a_batch_is_saved_is_kept(moved, server, graded, monkeypatch):
    gave = threading.Event()

    def mark():
        with open_gradebook(moved) as book:
            grade = book.find_grade("qk_why", A, A, "bob")
            grade.manual_score, grade.needs_manual_grade = 1.5, False
            gave.set()
            book.db.commit()  # waits until the batch is saved

    marker = threading.Thread(target=mark)
    real = gradebook._penalise

    def meanwhile(*arguments):
        marker.start()
        assert gave.wait(30)
        waits_for(
            server, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        )
        real(*arguments)

    monkeypatch.setattr(gradebook, "_penalise", meanwhile)
    gradebook.save(moved, [graded("bob")])
    marker.join()
    mark_of_bob = scores(moved, A)["bob"].cells["qk_why"]
    assert (mark_of_bob.manual, mark_of_bob.pending) == (1.5, False)


def test_who_comes_at_the_same_time_to_an_empty_database_finds_one_gradebook(tiny, server):
    name = server.create()
    tiny.config.CourseDirectory.db_url = server.url(name)
    problems = []

    def come():
        try:
            with open_gradebook(tiny) as book:
                assert book.students == []
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=come) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert server.sql("SELECT count(*) FROM alembic_version", name) == "1"


def test_the_page_s_statements_and_commands_do_what_it_says(marked, server, tmp_path):
    page = (ROOT / "docs" / "postgres.md").read_text()
    setup, who = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    _, _, dump, restore = re.findall(r"```sh\n(.*?)\n", page)
    for statement in setup.splitlines():
        server.sql(statement)
    copy_gradebook(marked, server.url("attention", "ada"))
    theirs = {}
    for person in ("ada", "bob"):
        theirs[person] = elsewhere(marked, tmp_path / person)
        theirs[person].config.CourseDirectory.db_url = server.url("attention", person)
    assert scores(theirs["bob"], A) == scores(marked, A)
    refused = pytest.raises(CourseError, match=f"{os.getpid()} on .*, as ada")
    with grading(theirs["ada"]), refused, grading(theirs["bob"]):
        pass
    with grading(theirs["ada"]) as confirm:
        assert "|ada|autograder number" in server.sql(who.splitlines()[0])
        server.sql(who.splitlines()[1])
        with pytest.raises(CourseError, match="was lost"):
            confirm()

    def run(command, person):
        name, host, *options = shlex.split(command.replace("db.example.org", str(server.folder)))
        command = [program(name), host, *options, "--username", person]
        subprocess.run(command, check=True, cwd=tmp_path)

    before = rows(theirs["ada"].database)
    run(dump, "bob")
    with open_gradebook(theirs["bob"]) as book:
        book.remove_student("ada")
    assert rows(theirs["ada"].database) != before
    run(restore, "ada")
    assert rows(theirs["bob"].database) == before


@pytest.mark.slow
def test_formgrader_keeps_nothing_open_and_outlives_a_lost_connection(
    moved, name, server, tmp_path
):
    def page():
        with urllib.request.urlopen(f"{address}{path}", timeout=60) as answer:
            return answer.read().decode()

    def idle():
        return server.sql(
            f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND state ~ 'in trans'"
        )

    with serving_formgrader(moved, tmp_path) as address:
        path = page_of(moved, A, "ada")
        assert "check_qk" in page()
        assert idle() == "0"
        server.sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        with pytest.raises(urllib.error.HTTPError):
            page()
        assert "check_qk" in page()


def test_a_server_that_is_not_there_is_said_in_one_sentence(tiny, configure):
    # a short path: a socket's has 107 bytes at most, and a folder for tests may lie deep
    course = configure(
        tiny.root, 'c.CourseDirectory.db_url = "postgresql+psycopg://ada@/x?host=/not_there"'
    )
    for attempt in (lambda: scores(course, A), lambda: apply(course, planned(course, "ada", ""))):
        with pytest.raises(CourseError, match=r"can't be used .*No such file.*`psql '.*shows why"):
            attempt()
    with pytest.raises(CourseError, match=r"can't be used .*No such file"), grading(course):
        pass


def test_the_demo_keeps_out_of_the_real_gradebook(moved, tmp_path):
    before = rows(moved.database)
    copy = copy_course(moved.root, tmp_path / "demo")
    assert copy.database == f"sqlite:///{tmp_path / 'demo' / 'gradebook.db'}"
    assert rows(moved.database) == before
