"""The class list: written by hand, or taken over from what platforms export."""

import csv
import json
import os
import pwd
import sys

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course.config import Course, CourseError
from autograder.course.people.roster import declared, whose_numbers
from autograder.delivery.nbgrader.people import people, roster

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,a01 (7)
    Points Possible,,,,,10
"Lovelace, Ada",11,s11,ada,Monday,
"Lovelace, Ada",12,s12,ada2,Tuesday,
"Student, Test",99,,abc,Monday,
"""
PARTICIPANTS = """\ufeffVorname,Nachname,Anmeldename,E-Mail-Adresse,Groups
Ada,Lovelace,ada,ada@example.org,Monday
Jörg,Müller,joerg,joerg@example.org,
"""
WORKSHEET = """Identifier,Full name,Email address,Status,Grade
Participant 501,Ada King,ada@example.org,Submitted,
Participant 504,"van der Berg, Emmy",emmy@example.org,,
"""
GRADESCOPE = """First Name,Last Name,SID,Email,Role
Ada,Lovelace,3141,ada@example.org,Student
Tara,Teacher,,tara@example.org,TA
"""
USERS = json.dumps([{"name": "ada"}, {"name": "zed"}, {"name": "boss", "admin": True}])


@pytest.fixture
def run(tiny, tmp_path, monkeypatch, capsys):
    """Return a function that imports an export with the command, and returns what it says."""

    def imported(text):
        (tmp_path / "export").write_text(text)
        arguments = ("roster", "import", tmp_path / "export", "--course", tiny.root)
        monkeypatch.setattr(sys, "argv", ["autograder", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        said = capsys.readouterr()
        return said.out + said.err if not exit.value.code else pytest.fail(said.err)

    return imported


def rows(course):
    with (course.root / "students.csv").open(newline="", encoding="utf-8-sig") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_every_platform_s_export_completes_one_list(tiny, run):
    assert run(CANVAS) == "2 new in students.csv, 0 completed (Canvas's gradebook)\n"
    assert run(PARTICIPANTS).endswith(
        "1 new in students.csv, 1 completed (Moodle's participants)\n"
    )
    said = run(WORKSHEET).splitlines()
    assert said == [
        "ada: the last name stays 'Lovelace'; the platform says 'King'",
        "not in the worksheet, and so nobody who can hand in there: ada2, joerg. Take teachers out "
        "of the class list: `autograder student remove ada2`",
        "1 new in students.csv, 1 completed (Moodle's grading worksheet)",
    ]
    assert run(GRADESCOPE).startswith("0 new in students.csv, 1 completed")
    assert run(USERS) == "1 new in students.csv, 0 completed (JupyterHub's users)\n"
    found = rows(tiny)
    assert list(found) == ["ada", "ada2", "emmy@example.org", "joerg", "zed"]
    assert found["ada"] == {
        "id": "ada",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email": "ada@example.org",
        "section": "Monday",
        "canvas": "11",
        "moodle": "501",
        "gradescope": "3141",
        "brightspace": "",
        "blackboard": "",
    }
    assert found["emmy@example.org"]["last_name"] == "van der Berg"
    course = Course.load(tiny.root)
    assert roster(course) == set(found)
    with Gradebook(course.database) as book:
        assert book.find_student("ada2").lms_user_id == "12"


def test_who_gives_the_course_is_no_student_of_a_hub(tiny, run, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "boss")
    users = [{"name": "ada", "groups": ["nbgrader-tiny"]}, {"name": "boss", "groups": []}]
    users.append({"name": "tara", "groups": ["formgrade-tiny"]})
    users.append({"name": pwd.getpwuid(os.geteuid()).pw_name})  # the owner of the course's folder
    said = run(json.dumps(users))
    assert "gives the course here, and is left out of the class list" in said
    assert list(rows(tiny)) == ["ada"]


def test_a_corrected_name_shows_at_once(tiny, run):
    run(CANVAS)
    path = tiny.root / "students.csv"
    path.write_text(path.read_text().replace("ada2,Ada", "ada2,Adeline"))
    assert people(Course.load(tiny.root))["ada2"].name == "Adeline Lovelace"


def test_an_export_of_no_known_platform_is_refused_with_those_known(tiny, run):
    with pytest.raises(pytest.fail.Exception, match="of no known platform: its columns are a, b"):
        run("a,b\n1,2\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id,emial\nada,x\n", "no column 'emial' .did you mean 'email'."),
        ("id,name\n=ada,x\n", "line 2: '=ada' can't be a student's id"),
        ("id,name\nada,x\nAda,y\n", "line 3: id 'ada' is that of line 2, too"),
        ("id,canvas\nada,7\nbob,7\n", "line 3: canvas '7' is that of line 2, too"),
    ],
)
def test_a_list_that_is_wrong_is_refused_with_its_line(tiny, text, reason):
    (tiny.root / "students.csv").write_text(text)
    with pytest.raises(CourseError, match=reason):
        declared(Course.load(tiny.root))


def test_the_class_stands_in_one_place(tiny, configure):
    (tiny.root / "class.csv").write_text("id\nada\n")
    course = configure(tiny.root, 'c.Course.students = "class.csv"')
    assert [person.id for person in declared(course)] == ["ada"]
    course = configure(tiny.root, 'c.Course.students = "clas.csv"')
    with pytest.raises(CourseError, match="clas.csv, and there is no such file"):
        declared(course)
    (tiny.root / "students.csv").write_text("id\nada\n")
    course = configure(tiny.root, 'c.Course.students = ["ada"]')
    with pytest.raises(CourseError, match="take one away"):
        declared(course)


def test_what_else_a_platform_calls_somebody_may_be_typed(tiny, run):
    """E-mail addresses for ids are what few type: the numbers are those of what was typed."""
    run("First name,Last name,Email address\nAda,Lovelace,al@example.org\nBo,B,bo@example.org\n")
    said = run(
        "First name,Last name,Username,ID number,Email address\n"
        "Ada,Lovelace,ada,4711,al@example.org\nTea,Cher,tea,,t@example.org\n"
    )
    assert "say nothing of roles, so teachers may be among them" in said
    course = Course.load(tiny.root)
    student = "al@example.org"
    assert {p.id: p.aliases for p in declared(course)}[student] == ("ada", "4711")
    for typed in ("ada", "4711", "al", student):
        assert whose_numbers(course, student, typing(typed)) == (typed, "")
    for typed in ("bo@example.org", "tea", "ad", "eve"):
        assert whose_numbers(course, student, typing(typed))[0] == student


def typing(id):
    cell = {"cell_type": "code", "metadata": {}, "source": f'student("{id}")'}
    return {"cells": [cell]}
