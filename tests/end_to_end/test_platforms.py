"""Files that platforms really wrote go the whole way: whose, when, graded, and back again."""

import csv
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.submissions.hand_in import teams
from autograder.delivery import nbgrader_settings
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.nbgrader.marks import Mark, Marks
from autograder.delivery.nbgrader.people import import_people, people
from autograder.delivery.pages.feedback import pack_feedback, page_of, write_feedback
from autograder.delivery.platforms.collect import collect
from autograder.delivery.platforms.export import export

ROOT = Path(__file__).resolve().parents[2]
MOODLE = Path(__file__).resolve().parents[1] / "platforms" / "moodle45"
A = "a03_scaled_attention"
TIMES = {  # as the worksheet has them, in UTC
    "ada": "2026-11-19 10:00",
    "jeanluc": "2026-11-22 10:00",
    **dict.fromkeys(
        ("emmy", "jmueller", "oconnor", "weili1", "weili2", "maxp", "giorgos", "eve@uni.example"),
        "2026-11-24 14:45",
    ),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Return a course with this one assignment, and its class as Moodle lists it."""
    root = tmp_path_factory.mktemp("course")
    (root / nbgrader_settings.FILE).write_text(nbgrader_settings.TEXT)
    listed = {"id": A, "title": "Scaled attention", "due": "2026-11-20 23:59 UTC"}
    (root / "course_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "platforms"\n'
        f"c.Course.assignments = [{listed}]\n"
    )
    shutil.copytree(ROOT / "release" / A, root / "release" / A)
    shutil.copytree(ROOT / "reference", root / "reference")
    for table in ("participants_all_identity_fields", "worksheet_identity_email"):
        import_people(Course.load(root), MOODLE / f"{table}.csv")
    return root


@pytest.fixture
def moodle(tmp_path, template):
    """Return a function that collects a download into the course, and what came of it."""
    root = shutil.copytree(template, tmp_path / "course")
    course = Course.load(root)

    def collected(name, worksheet="worksheet_identity_email.csv"):
        sheet = MOODLE / worksheet if worksheet else None  # a path of its own stays that
        return course, collect(course, [A], MOODLE / name, worksheet=sheet)

    return collected


def filed(course):
    """Return whose notebooks lie where: the id that each types, by the folder's name."""
    found = {}
    for path in course.folder("submitted").glob(f"*/{A}/{A}.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        found[path.parts[-3]] = "".join(cells[1]["source"]).split('student("')[1].split('"')[0]
    return found


def times(course):
    stamps = course.folder("submitted").glob(f"*/{A}/timestamp.txt")
    return {path.parts[-3]: path.read_text()[:16] for path in stamps}


@pytest.mark.parametrize("shape", ["folders", "flat"])
def test_moodle_s_people_and_times_come_in_right(moodle, shape):
    course, result = moodle(f"individual_{shape}.zip")
    assert filed(course) == {student: student for student in TIMES}
    assert result.problems == []
    assert any("a03.zip: an archive inside" in str(left) for left in result.left)
    expected = TIMES | {"emmy": "2026-11-24 15:03"}  # the worksheet is of later
    assert times(course) == expected


def test_without_a_worksheet_nobody_is_late_and_namesakes_go_by_their_numbers(moodle):
    course, result = moodle("individual_folders.zip", worksheet=None)
    assert set(filed(course)) == set(TIMES)
    assert set(times(course).values()) == {""}
    assert "10 came without a time" in result.notes[0]
    assert "--worksheet" in result.notes[0]


@pytest.mark.parametrize("unpacked", [False, True])
@pytest.mark.parametrize("worksheet", [None, "worksheet_identity_email.csv"])
def test_a_time_that_a_student_wrote_is_nobody_s(moodle, tmp_path, unpacked, worksheet):
    name = MOODLE / "individual_folders_later_forged_time.zip"
    if unpacked:
        with zipfile.ZipFile(name) as archive:
            archive.extractall(tmp_path / "zip")
        name = tmp_path / "zip"
    course, _ = moodle(name, worksheet)
    assert filed(course)["emmy"] == "emmy"
    assert times(course)["emmy"] == ("2026-11-24 15:03" if worksheet else "")


@pytest.mark.parametrize("shape", ["folders", "flat"])
def test_who_is_hidden_is_left_until_the_numbers_are_known(moodle, shape):
    course, result = moodle(f"blind_{shape}.zip", "worksheet_blind.csv")
    assert filed(course) == {}
    assert len(result.problems) == 3
    assert "moodle hides whose it is, and its number 12 is not in students.csv" in str(result)
    path = course.root / "students.csv"
    text = path.read_text(encoding="utf-8-sig")
    for new in ("15 6", "21 12", "20 3"):  # as a worksheet with names would write them
        text = text.replace(f",{new.split()[0]},", f",{new},")
    path.write_text(text)
    course = Course.load(course.root)
    zipped = MOODLE / f"blind_{shape}.zip"
    result = collect(course, [A], zipped, worksheet=MOODLE / "worksheet_blind.csv")
    assert result.problems == []
    assert filed(course) == {id: id for id in ("ada", "jmueller", "emmy")}
    assert times(course) == {"ada": "2026-11-24 14:45", "jmueller": "", "emmy": ""}


@pytest.mark.parametrize("shape", ["folders", "flat"])
def test_a_team_s_notebook_comes_in_once_and_is_each_member_s(moodle, shape):
    course, result = moodle(f"teams_{shape}.zip")
    assert filed(course) == {"ada": "ada"}
    assert teams(course, A) == {"emmy": "ada"}
    assert result.notes[0].endswith(
        "the notebook of Group A is kept as ada's, and counts for emmy as well"
    )
    (problem,) = result.problems
    assert "'Default group' is what Moodle calls those who are in no team" in str(problem)
    assert moodle(f"teams_{shape}.zip")[1].unchanged == [("ada", A)]


def test_the_worksheet_of_teams_says_who_is_in_one_and_when_it_came(moodle, tmp_path):
    """As Moodle writes it: the groups between the status and the grade, in whatever language."""
    with (MOODLE / "worksheet_identity_email.csv").open(newline="", encoding="utf-8-sig") as file:
        head, *rows = csv.reader(file)
    groups = {"Ada Lovelace": "Group_A", "Jörg Müller": "Group_A"}
    rows = [[*row[:4], groups.get(row[1], "Gruppe"), *row[4:]] for row in rows]
    sheet = tmp_path / "teams.csv"
    with sheet.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([[*head[:4], "Gruppe", *head[4:]], *rows])
    course, _ = moodle("teams_flat.zip", sheet)
    assert filed(course) == {"ada": "ada"}
    assert teams(course, A) == {"jmueller": "ada"}
    assert times(course) == {"ada": "2026-11-24 14:45"}  # the team's last


def test_who_is_called_like_a_team_or_a_marker_is_one_person(moodle, tmp_path):
    text = (MOODLE / "worksheet_identity_email.csv").read_text("utf-8-sig")
    text = text.replace("Ada Lovelace", "Tea Cher").replace(' -  - ",', ' -  - ",Tea_Cher,')
    sheet = tmp_path / "marked.csv"
    sheet.write_text(text.replace("Status,", "Status,Marker,"))
    source = tmp_path / "one.zip"
    name = "Tea Cher_15_assignsubmission_file/a03_scaled_attention.ipynb"
    notebook = ROOT / "release" / A / f"{A}.ipynb"
    with zipfile.ZipFile(source, "w") as archive:
        archive.write(notebook, name)
    course, result = moodle(source, sheet)
    assert teams(course, A) == {}
    assert "moodle's number there is that of ada" in str(result.problems)


def test_who_has_a_notebook_beside_the_team_s_is_named_and_keeps_it(moodle):
    course, _ = moodle("teams_flat.zip")
    own = course.submission("emmy", A)
    own.parent.mkdir(parents=True)
    shutil.copy(course.submission("ada", A), own)
    _, result = moodle("teams_flat.zip")
    assert "emmy is in that team and has another notebook" in str(result.problems)
    assert teams(course, A) == {}


def test_of_two_lists_of_one_class_what_differs_is_said_and_no_more(tmp_path):
    root = tmp_path / "course"
    root.mkdir()
    (root / "course_config.py").write_text("c = get_config()\n")
    import_people(Course.load(root), MOODLE / "participants_email_only.csv")
    note, _ = import_people(Course.load(root), MOODLE / "worksheet_identity_email.csv")
    assert note.startswith("not in the worksheet, and so nobody who can hand in there: t@example")
    assert note.endswith("`autograder student remove t@example.org`")
    with pytest.raises(CourseError, match="shows no names.*download Moodle's grading worksheet wh"):
        import_people(Course.load(root), MOODLE / "worksheet_blind.csv")


def test_a_worksheet_that_does_not_know_who_came_is_not_asked_for_again(moodle):
    _, result = moodle("teams_flat.zip")
    assert "worksheet_identity_email.csv has no time for them: is it of this" in result.notes[1]


def test_a_worksheet_is_what_moodle_wrote(moodle):
    course, _ = moodle("individual_flat.zip")
    with (course.root / "students.csv").open(newline="", encoding="utf-8-sig") as file:
        numbers = {row["id"]: row["moodle"] for row in csv.DictReader(file)}
    assert (numbers["weili1"], numbers["weili2"], numbers["nosub"]) == ("24", "16", "19")


def test_grades_go_back_in_moodle_s_own_worksheet(moodle, monkeypatch, tmp_path):
    course, _ = moodle("individual_folders.zip")
    graded = {student: marked(student) for student in TIMES if student != "maxp"}
    monkeypatch.setattr("autograder.delivery.platforms.export.scores", lambda *_: graded)
    sheet, back = MOODLE / "worksheet_identity_email.csv", tmp_path / "back.csv"
    done = export(course, "moodle-worksheet", back, scale=100, worksheet=sheet)
    with back.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["Identifier", "Grade", "Last modified (grade)"]
    grades = {row["Identifier"]: float(row["Grade"]) for row in rows}
    assert len(grades) == done.rows == 8  # Max has no final score, Emmy more than the maximum
    assert "Participant 25" not in grades
    assert grades["Participant 24"] == len("weili1")
    assert rows[0]["Last modified (grade)"] == "Thursday, 19 November 2026, 10:00 AM"
    assert "maximum of 100: emmy" in str(done.notes)
    assert "8 grades are locked in Moodle" in str(done.notes)
    blind = export(
        course, "moodle-worksheet", back, worksheet=MOODLE / "worksheet_blind.csv", partial=True
    )
    assert blind.rows == 0
    assert "not found in worksheet_blind.csv: ada, emmy" in str(blind.notes)


def marked(student):
    """As many points of 100 as the id has letters; for Emmy more than there are."""
    points = 101.0 if student == "emmy" else float(len(student))
    return Marks({"check_x": Mark(points, None, 0.0, 100.0, pending=False)})


#: Download and worksheet; and how many notebooks it holds that can be somebody's, of how many.
FIGURES = {
    "individual_folders.zip": 10,
    "individual_flat.zip": 10,
    "individual_folders_later_forged_time.zip": 10,
    "blind_folders.zip": 3,
    "blind_flat.zip": 3,
    "teams_folders.zip": 2,
    "teams_flat.zip": 2,
}
PAGE = ROOT / "docs" / "platforms.md"


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_table_of_what_comes_of_each_file_is_what_comes(moodle, tmp_path):
    """Collected, graded, exported and returned; `PAGE` shows it."""
    rows = []
    for name, notebooks in FIGURES.items():
        blind = name.startswith("blind")
        course, _ = moodle(name, f"worksheet_{'blind' if blind else 'identity_email'}.csv")
        rows.append(figures(course, name, notebooks, tmp_path))
        shutil.rmtree(course.folder("submitted"), ignore_errors=True)  # records stay: graded once
        shutil.rmtree(course.folder("feedback"), ignore_errors=True)
    table = "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
    assert table in PAGE.read_text(), f"{PAGE.name} is out of date:\n{table}"


def figures(course, name, notebooks, folder):
    """Return a row: of so many notebooks how many people, times, grades and pages are right."""
    owners = filed(course)
    assert all(student == typed for student, typed in owners.items())
    late = {"emmy": "2026-11-24 15:03"}
    right = sum(time == (TIMES | late)[student] for student, time in times(course).items())
    graded = grade_and_save(course, [A]) if owners else None
    back = folder / "back.csv"
    back.unlink(missing_ok=True)
    sheet = MOODLE / "worksheet_identity_email.csv"
    kept = pages = 0
    everybody = {*owners, *teams(course, A)}
    numbers = {n: p.id for p in people(course).values() for n in p.numbers.get("moodle", ())}
    if graded:
        assert graded.problems == []
        options = {"scale": 100, "partial": True, "worksheet": sheet}
        done = export(course, "moodle-worksheet", back, **options)
        with back.open(newline="", encoding="utf-8-sig") as file:
            sent = list(csv.DictReader(file))
        assert len(sent) == done.rows
        assert all(row["Grade"] for row in sent)
        kept = sum(numbers[row["Identifier"].split()[1]] in everybody for row in sent)
        write_feedback(course, [A], owners)
        packed = folder / "feedback.zip"
        pack_feedback(course, [A], packed)
        with zipfile.ZipFile(packed) as archive:
            for entry in archive.namelist():
                group, _, number = entry.partition("_assignsubmission_")[0].rpartition("_")
                team = {"ada", "emmy"} if group == "Group A" else {numbers[number]}
                written = {page_of(course, student, A).read_bytes() for student in team}
                pages += {archive.read(entry)} == written
    return name, notebooks, len(everybody), right, kept, pages, notebooks - len(owners)
