"""What a team hands in is graded once, and is each member's."""

import csv
import json

import pytest

from autograder.course.people.roster import whose_numbers
from autograder.course.submissions.hand_in import HandIn, hand_in, keep_hand_in, teams
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.students import apply, planned
from autograder.delivery.nbgrader.gradebook import register, seal
from autograder.delivery.pages.feedback import pack_feedback, page_of, shows, write_feedback
from autograder.delivery.pages.report import write_report
from autograder.delivery.platforms.export import export

from .conftest import A

TEAM = HandIn("Group A_1_assignsubmission_file/x.ipynb", "moodle", number="1", team=("ada", "emmy"))

BOB = HandIn("Bob_1_assignsubmission_file/x.ipynb", "moodle", number="1")


@pytest.fixture
def team(tiny, graded, save, released):
    """Return the course after ada's and emmy's notebook, and bob's, were graded."""
    (tiny.root / "students.csv").write_text(
        "id,name,moodle\nada,Ada Lovelace,15\nbob,Bob,1\nemmy,Emmy Noether,20\n"
    )
    register(tiny, A, seal(released()))
    for student, known in (("ada", TEAM), ("bob", BOB)):
        path = tiny.submission(student, A)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(released()))
        keep_hand_in(path, known, None)
    save(tiny, graded("ada", qk=1.0), graded("bob"))
    return tiny


def test_each_member_has_the_score_and_the_page(team, tmp_path):
    file = tmp_path / "grades.csv"
    export(team, "csv", file, partial=True)
    with file.open(encoding="utf-8-sig") as table:
        rows = {row["student"]: row["score"] for row in csv.DictReader(table)}
    assert rows == {"ada": "2.0", "bob": "3.0", "emmy": "2.0"}
    assert len(write_feedback(team, [A])) == 3
    assert shows(team, "ada", A)
    pages = [page_of(team, student, A).read_text() for student in ("ada", "emmy")]
    assert pages[0] == pages[1]
    assert "Feedback for ada, emmy" in pages[0]
    page_of(team, "emmy", A).unlink()
    assert not shows(team, "ada", A)
    assert pack_feedback(team, [A], tmp_path / "back.zip") == [f"2 pages in {tmp_path}/back.zip"]


def test_the_report_counts_it_once_and_lists_everybody(team):
    page = write_report(team, [A])
    assert "emmy" in page.read_text()
    assert '<th scope="col">submissions</th>' in page.read_text()
    own = page.with_name(f"{A}.html").read_text()
    assert "2 submissions" in own
    assert "Ada Lovelace, with emmy" in own


def test_a_team_works_with_the_numbers_of_whichever_member_it_typed(team, released):
    def typed(id):
        notebook = released()
        notebook["cells"][0]["source"] = f'student("{id}")'
        notebook["cells"][0]["cell_type"] = "code"
        return notebook

    found = {handed.student: handed.team for handed in submissions(team, A)}
    assert found == {"ada": ("ada", "emmy"), "bob": ()}
    assert whose_numbers(team, "ada", typed("emmy"), found["ada"]) == ("emmy", "")
    numbers, notice = whose_numbers(team, "ada", typed("bob"), found["ada"])
    assert numbers == "ada"
    assert "bob" in notice


def test_who_hands_in_alone_after_all_is_graded_with_that(team):
    own = team.submission("emmy", A)
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    assert teams(team, A) == {}


def test_a_member_who_is_renamed_or_removed_is_so_in_the_team(team):
    apply(team, planned(team, "emmy", "noether"))
    assert hand_in(team, "ada", A).team == ("ada", "noether")
    change = planned(team, "ada", "")
    assert f"{A} was handed in together with noether: collect it again" in change.lines()
    apply(team, planned(team, "noether", ""))
    assert hand_in(team, "ada", A).team == ("ada",)
    assert teams(team, A) == {}
