import json
import os
import shutil
import stat
import zipfile
from datetime import UTC, datetime

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.people.roster import Person
from autograder.course.release.handed_out import Release
from autograder.course.submissions.hand_in import teams
from autograder.course.submissions.handed_in import MAX_BYTES
from autograder.delivery.nbgrader.gradebook import register
from autograder.delivery.nbgrader.marks import said_late, scores
from autograder.delivery.nbgrader.people import people, roster
from autograder.delivery.pages.report import write_report
from autograder.delivery.platforms.collect import collect
from autograder.delivery.platforms.export import export
from autograder.delivery.platforms.layouts import origin
from autograder.delivery.platforms.owners import identify

from ..courses import ENERGY, MOTION

A = "a01_tiny"
DUE = "2026-05-01 01:00 UTC"
MAY, JUNE = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path, released):
    """Return a function that writes files of notebooks into a folder."""
    root = tmp_path / "lms"

    def write(*paths, text="", when=MAY):
        for path in paths:
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(released()) + text)
            os.utime(file, (when.timestamp(), when.timestamp()))
        return root

    return write


@pytest.fixture
def archive(tmp_path, released):
    """Return a function that writes a zip of notebooks: name or entry to content."""

    def write(entries, **options):
        path = tmp_path / "lms.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as file:
            for entry, content in entries.items():
                file.writestr(entry, json.dumps(released()) if content is None else content)
        return path

    return write


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ada/a01_tiny.ipynb", "ada"),
        ("ada/a01_tiny/a01_tiny.ipynb", "ada"),
        ("a01_tiny/ada.ipynb", "ada"),
        ("ada.ipynb", "ada"),
        ("ada/a01_tiny (1).ipynb", "ada"),
        ("ada/a01_tiny(2).ipynb", "ada"),
        ("ada/my homework.ipynb", "ada"),
        ("ada_1234_567890_a01_tiny.ipynb", "ada"),
        ("ada_LATE_1234_567890_a01_tiny-1.ipynb", "ada"),
        ("lovelaceada_1234_567890_a01_tiny.ipynb", "ada"),
        ("Ada Lovelace_4711_assignsubmission_file_/a01_tiny.ipynb", "ada"),
        ("Ada Lovelace_4711_assignsubmission_file_/a01_tiny (1).ipynb", "ada"),
        ("Ada Lovelace_4711_assignsubmission_file_a01_tiny.ipynb", "ada"),
        ("Zoë Ångström_4712_assignsubmission_file_/a01_tiny.ipynb", "zoe-angstrom"),
        ("Joerg Mueller_4713_assignsubmission_file_/a01_tiny.ipynb", "joerg"),
        ("Jorg Muller_4713_assignsubmission_file_/a01_tiny.ipynb", "joerg"),
        ("muellerjoerg_77_567890_a01_tiny.ipynb", "joerg"),
        ("12345-67890 - Ada Lovelace - Mar 3, 2027 905 PM/a01_tiny.ipynb", "ada"),
        ("First sheet_ada_attempt_2027-03-03-21-05-00_a01_tiny.ipynb", "ada"),
    ],
)
def test_layouts_of_learning_platforms_are_recognised(path, student):
    known = {"ada": Person("ada", "Ada", "Lovelace"), "joerg": Person("joerg", "Jörg", "Müller")}
    assert identify(origin(path, [A])[0], known) == student


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a01_tiny.ipynb", "tells whose it is"),
        ("a01_tiny/a01_tiny (1).ipynb", "tells whose it is"),
        ("submitted/eve/a01_tiny/a01_tiny.ipynb", "collect from that folder itself"),
        ("export 2026/eve/a01_tiny/a01_tiny.ipynb", "no student's name that is known"),
        ("Ada Lovelace_1_assignsubmission_file_/a01_tiny.ipynb", "may be any of ada, ada2"),
        ("lovelaceada_9_8_a01_tiny.ipynb", "put canvas's number 9 into students.csv"),
    ],
)
def test_an_owner_that_is_not_clear_is_not_guessed(path, reason):
    twins = {id: Person(id, "Ada", "Lovelace") for id in ("ada", "ada2")}
    with pytest.raises(ValueError, match=reason):
        identify(origin(path, [A])[0], twins)


def test_two_people_of_one_name_are_told_by_the_platform_s_numbers(tiny, archive, configure):
    (tiny.root / "students.csv").write_text(
        "id;name;canvas;moodle\nada;Ada Lovelace;11;501 502\nada2;Lovelace, Ada;12;503\n"
    )
    canvas = archive({f"lovelaceada_{n}_900{n}_{A}.ipynb": None for n in (11, 12, 13)})
    result = collect(Course.load(tiny.root), [A], canvas)
    assert result.new == [("ada", A), ("ada2", A)]
    (stranger,) = result.left  # a third one of the name, whom the roster has not
    assert str(stranger).startswith(f"lovelaceada_13_90013_{A}.ipynb: lovelaceada is not on")
    moodle = archive(
        {f"Ada Lovelace_{n}_assignsubmission_file_/{A}.ipynb": None for n in (502, 503)}
    )
    result = collect(Course.load(tiny.root), [A], moodle)
    assert sorted(result.unchanged) == [("ada", A), ("ada2", A)]


def test_whether_canvas_s_files_are_late_canvas_says(tiny, archive, configure, graded, save):
    listed = {"id": A, "title": "T", "due": DUE}
    course = configure(tiny.root, f"c.Course.assignments = [{listed}]")
    downloaded = {"ada_1_2_a01_tiny.ipynb": None, "bob_LATE_3_4_a01_tiny.ipynb": None}
    result = collect(course, [A], archive(downloaded))  # a zip made now, long after the due date
    (note,) = result.notes
    assert note.startswith(f"{A}: 1 are late, says canvas, and not by how much: no penalty")
    register(course, A, Release.load(course, A).notebook)
    save(course, graded("ada"), graded("bob"))
    book = scores(course, A)
    assert [(m.submitted, m.seconds_late) for m in book.values()] == [(None, 0), (None, 0)]
    assert [said_late(course, student, A) for student in ("ada", "bob")] == ["", "canvas"]
    assert [book[student].lateness for student in ("ada", "bob")] == ["", "says canvas"]
    page = write_report(course, [A]).with_name(f"{A}.html").read_text()
    assert "<li>bob: late, says canvas, and not by how much" in page
    export(course, "csv", course.root / "grades.csv")
    assert f"bob,bob,{A},,says canvas," in (course.root / "grades.csv").read_text()
    # somebody who knows the time writes it down, and it stays when the zip is collected again
    stamp = course.submission("bob", A).with_name("timestamp.txt")
    stamp.write_text("2026-05-01 02:00:00 UTC")
    assert collect(course, [A], archive(downloaded)).updated == []
    save(course, graded("bob"))
    assert scores(course, A)["bob"].seconds_late == 3600
    assert scores(course, A)["bob"].lateness == "60 min"
    page = write_report(course, [A]).with_name(f"{A}.html").read_text()
    assert "<li>bob: 60 min</li>" in page
    assert said_late(course, "bob", A) == ""


@pytest.mark.parametrize(
    "path",
    [
        "12345-67890 - Ada Lovelace - May 1, 2026 1200 AM/a01_tiny.ipynb",
        "First sheet_ada_attempt_2026-05-01-00-00-00_a01_tiny.ipynb",
    ],
)
def test_a_time_that_the_platform_writes_counts(tiny, archive, configure, path):
    (tiny.root / "students.csv").write_text("id,name\nada,Ada Lovelace\n")
    course = configure(tiny.root, 'c.Exchange.timezone = "Europe/Berlin"')
    assert collect(course, [A], archive({path: None})).new == [("ada", A)]
    stamp = course.submission("ada", A).with_name("timestamp.txt").read_text()
    assert stamp == "2026-04-30 22:00:00.000000 UTC"
    course = configure(tiny.root, 'c.Exchange.timezone = "Berlin"')
    with pytest.raises(CourseError, match="c.Exchange.timezone is 'Berlin', which is no time zone"):
        collect(course, [A], archive({path: None}))


GRADESCOPE = """\
---
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '3141'
    :email: Ada@example.org
  :created_at: 2026-05-01 00:30:00.123456789 Z
  :score: 2.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
submission_12:
  :submitters:
  - :name: Emmy Noether
    :sid:
    :email: emmy@example.org
  :created_at: 2026-05-01 03:00:00 +02:00
submission_13:
  :submitters:
  - {":name": Bob, ":sid": "77", ":email": bob@example.org}
  - {":name": Cy, ":sid": "78", ":email": cy@example.org}
"""


@pytest.mark.parametrize("around", ["", "assignment_4711_export/"])
def test_gradescope_s_export_says_whose_a_folder_is_and_when_it_came(tiny, archive, around):
    (tiny.root / "students.csv").write_text(
        "id,name,email,gradescope\nada,Ada L.,ada@example.org,\nbob,Bob,,77\ncy,Cy,,78\n"
        "emmy,Emmy Noether,,\n"
    )
    entries = {f"{around}submission_{n}/{A}.ipynb": None for n in (11, 12, 13)}
    entries[f"{around}submission_12/submission_metadata.yml"] = "submission_12: a student's own"
    source = archive({**entries, f"{around}submission_metadata.yml": GRADESCOPE})
    result = collect(Course.load(tiny.root), [A], source)
    assert result.new == [("ada", A), ("bob", A), ("emmy", A)]
    assert "the notebook of Bob, Cy is kept as bob's, and counts for cy as well" in result.notes[0]
    stamps = [tiny.submission(s, A).with_name("timestamp.txt").read_text() for s in ("ada", "emmy")]
    assert stamps == ["2026-05-01 00:30:00.123456 UTC", "2026-05-01 01:00:00.000000 UTC"]
    assert teams(tiny, A) == {"cy": "bob"}
    assert result.problems == []
    with zipfile.ZipFile(source) as file:
        file.extractall(source.with_suffix(""))
    folder = source.with_suffix("") / around
    assert len(collect(Course.load(tiny.root), [A], folder).unchanged) == 3


def test_a_student_s_own_list_of_people_names_nobody(tiny, archive):
    source = archive(
        {
            "eve/submission_11/a01_tiny.ipynb": None,
            "eve/submission_metadata.yml": GRADESCOPE,
        }
    )
    assert collect(tiny, [A], source).new == [("eve", A)]


def test_without_a_class_list_gradescope_s_number_is_the_id(tiny, archive):
    people = {"submission_metadata.yml": GRADESCOPE}
    entries = {f"submission_{n}/{A}.ipynb": None for n in (11, 12)}
    result = collect(tiny, [A], archive(people | entries))
    assert result.new == [("3141", A), ("emmy@example.org", A)]
    with pytest.raises(CourseError, match=r"submission_metadata.yml: it can't be read"):
        collect(tiny, [A], archive(entries | {"submission_metadata.yml": "{"}))


def test_all_that_is_left_is_named_with_what_to_do(tiny, archive, course):
    other = (course.folder("release") / MOTION / f"{MOTION}.ipynb").read_text()
    source = archive(
        {
            f"ada/{A}.ipynb": None,
            "ada/check.py": "",
            "ada/plot.pdf": "",
            "bob/all.zip": "",
            f"cy/{A}.ipynb.txt": None,
            f"di/{MOTION}.ipynb": other,
        }
    )
    result = collect(tiny, [A], source)
    assert result.new == [("ada", A)]
    assert {p.path: p.message for p in [*result.left, *result.problems]} == {
        "ada/plot.pdf": "no notebook: where it is the hand-in, ask for the .ipynb file.",
        "bob/all.zip": "an archive inside: unpack it and collect its notebooks.",
        f"cy/{A}.ipynb.txt": "a notebook under another name: rename it to end in .ipynb.",
        f"di/{MOTION}.ipynb": "neither its name nor its cells are of an assignment of this course.",
    }
    assert result.lines()[-1] == "1 new, 0 updated, 0 unchanged, 4 left"


def test_a_notebook_of_another_assignment_is_left_and_said(course, tmp_path):
    release = course.folder("release") / MOTION
    shutil.copytree(release, tmp_path / "lms" / "ada")
    (tmp_path / "lms" / "bob").mkdir()
    result = collect(course, [ENERGY], tmp_path / "lms")
    assert [str(problem) for problem in result.left] == [
        "bob/: an empty folder: nothing was handed in there.",
        f"ada/{MOTION}.ipynb: it is of {MOTION}: `autograder collect {MOTION}` takes it.",
    ]


def test_what_is_not_released_yet_keeps_nobody_from_handing_in(course, tmp_path):
    shutil.copytree(course.folder("release") / MOTION, tmp_path / "lms" / "ada")
    shutil.rmtree(course.folder("release") / ENERGY)
    assert collect(course, [MOTION], tmp_path / "lms").new == [("ada", MOTION)]
    with pytest.raises(CourseError, match=f"run `autograder generate {ENERGY}`"):
        collect(course, [ENERGY], tmp_path / "lms")


def test_a_folder_is_collected(tiny, folder):
    source = folder("ada/a01_tiny.ipynb", "bob/own name.ipynb", ".x/eve/a01_tiny.ipynb")
    folder("__MACOSX/mallory/a01_tiny.ipynb", "bob/.ipynb_checkpoints/a01_tiny.ipynb")
    result = collect(tiny, [A], source)
    assert result.new == [("ada", A), ("bob", A)]
    assert result.lines() == ["2 new, 0 updated, 0 unchanged"]
    path = tiny.submission("ada", A)
    assert path.read_bytes() == (source / "ada/a01_tiny.ipynb").read_bytes()
    # A file's time is when it was downloaded or unpacked, and nobody's hand-in.
    assert path.with_name("timestamp.txt").read_text() == ""
    assert collect(tiny, [A], source).unchanged == [("ada", A), ("bob", A)]


def test_the_time_that_nbgrader_wrote_counts_before_the_file_s(tiny, folder):
    source = folder("ada/a01_tiny/a01_tiny.ipynb")
    (source / "ada/a01_tiny/timestamp.txt").write_text("2026-04-01 12:00:00 CEST")
    collect(tiny, [A], source)
    written = tiny.submission("ada", A).with_name("timestamp.txt").read_text()
    assert written.startswith("2026-04-01 1")


def test_a_later_submission_replaces_an_earlier_one_and_not_the_reverse(tiny, folder):
    source = folder("ada/a01_tiny.ipynb", text=" ", when=JUNE)
    assert collect(tiny, [A], source).new == [("ada", A)]
    later = tiny.submission("ada", A).read_bytes()
    folder("ada/a01_tiny.ipynb", text="  ", when=MAY)
    result = collect(tiny, [A], source)
    assert "at least as new was collected before; it stays." in str(result.left[0])
    assert tiny.submission("ada", A).read_bytes() == later
    folder("ada/a01_tiny.ipynb", text="   ", when=datetime(2026, 7, 1, tzinfo=UTC))
    assert collect(tiny, [A], source).updated == [("ada", A)]


def test_of_two_files_the_later_counts_and_the_other_is_named(tiny, folder):
    folder("ada_1_2_a01_tiny.ipynb", when=MAY)
    source = folder("ada_1_2_a01_tiny-1.ipynb", text=" ", when=JUNE)
    result = collect(tiny, [A], source)
    assert result.new == [("ada", A)]
    assert [str(p) for p in result.left] == [
        "ada_1_2_a01_tiny.ipynb: ada handed in a01_tiny twice; "
        "what counts is ada_1_2_a01_tiny-1.ipynb."
    ]
    assert tiny.submission("ada", A).read_text().endswith(" ")


def test_the_cells_tell_the_assignment_and_a_broken_file_goes_by_its_name(tiny, archive):
    source = archive({"ada/x.ipynb": None, "bob/a01_tiny.ipynb": "no JSON", "cy/y.ipynb": "{}"})
    result = collect(tiny, [A], source)
    assert result.new == [("ada", A), ("bob", A)]
    (problem,) = result.problems
    assert problem.path == "cy/y.ipynb"
    assert "neither its name nor its cells" in problem.message


def test_one_cell_that_is_none_costs_a_notebook_nothing(tiny, archive, released):
    odd = [None, 3, {}, {"metadata": []}, {"metadata": {"nbgrader": "x"}}]
    notebook = released()
    notebook["cells"] += odd
    assert collect(tiny, [A], archive({"ada/x.ipynb": json.dumps(notebook)})).new == [("ada", A)]


def test_a_zip_that_attacks_is_refused_entry_by_entry(tiny, archive, tmp_path):
    link = zipfile.ZipInfo("eve/a01_tiny.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    source = archive(
        {
            "../../a01_tiny.ipynb": None,
            "/etc/a01_tiny.ipynb": None,
            "ada\\..\\..\\a01_tiny.ipynb": None,
            "C:\\a01_tiny.ipynb": None,
            link: "/etc/passwd",
            "big/a01_tiny.ipynb": b" " * (MAX_BYTES + 1),
            "a b;c/a01_tiny.ipynb": None,
            ".hidden/a01_tiny.ipynb": None,
            "-/a01_tiny.ipynb": None,
            "good/a01_tiny.ipynb": None,
        }
    )
    result = collect(tiny, [A], source)
    assert [student for student, _ in result.new] == ["good"]
    refused = {p.path: p.message for p in result.problems}
    leads_out = "a path that leads out of the zip is not taken."
    assert refused.pop("eve/a01_tiny.ipynb") == "a symbolic link is not followed."
    assert refused.pop("big/a01_tiny.ipynb") == "it has 20 MB, and at most 20 are taken."
    assert len(refused) == 6
    names_nobody = [path for path, message in refused.items() if "no id: letters" in message]
    assert names_nobody == ["a b;c/a01_tiny.ipynb", "-/a01_tiny.ipynb"]
    assert {message for path, message in refused.items() if path not in names_nobody} == {leads_out}
    made = {p.relative_to(tiny.root).parts[0] for p in tiny.root.rglob("*") if p.is_file()}
    assert "etc" not in made
    assert not (tmp_path / "a01_tiny.ipynb").exists()


def test_a_zip_that_lies_about_its_size_is_refused(tiny, archive):
    source = archive({"ada/a01_tiny.ipynb": b" " * (MAX_BYTES + 1), "bob/a01_tiny.ipynb": None})
    content = bytearray(source.read_bytes())
    size = (MAX_BYTES + 1).to_bytes(4, "little")
    while (at := content.find(size)) >= 0:
        content[at : at + 4] = (100).to_bytes(4, "little")
    source.write_bytes(content)
    result = collect(tiny, [A], source)
    assert result.new == [("bob", A)]
    assert "can't be unpacked" in result.problems[0].message


def test_links_and_pipes_in_a_folder_are_refused(tiny, folder):
    source = folder("ada/a01_tiny.ipynb")
    (source / "eve").mkdir()
    (source / "eve/a01_tiny.ipynb").symlink_to("/etc/passwd")
    (source / "mallory").symlink_to(source / "ada")
    (source / "pip").mkdir()
    os.mkfifo(source / "pip/a01_tiny.ipynb")
    with (source / "ada/huge.ipynb").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    result = collect(tiny, [A], source)
    assert result.new == [("ada", A)]
    assert sorted(map(str, result.problems)) == [
        "ada/huge.ipynb: it has 20 MB, and at most 20 are taken.",
        "eve/a01_tiny.ipynb: a symbolic link is not followed.",
        "mallory: a symbolic link is not followed.",
        "pip/a01_tiny.ipynb: it is no ordinary file.",
    ]


def test_where_there_is_a_roster_nobody_else_is_taken(tiny, folder, configure, graded, save):
    source = folder("ada/a01_tiny.ipynb", "eve/a01_tiny.ipynb", "bob/a01_tiny.ipynb")
    assert roster(tiny) == set()
    save(tiny, graded("bob"))
    assert roster(tiny) == set()  # that somebody was graded makes no roster
    listed = {"id": "cy", "first_name": "Cy", "last_name": None}
    course = configure(
        tiny.root, 'c.Course.students = ["ada"]', f"c.CourseDirectory.db_students = [{listed}]"
    )
    assert roster(course) == {"ada", "bob", "cy"}
    assert people(course)["cy"].name == "Cy"
    result = collect(course, [A], source)
    assert result.new == [("ada", A), ("bob", A)]
    assert result.problems == []  # a stranger is no failure
    assert str(result.left[0]).startswith("eve/a01_tiny.ipynb: eve is not on the roster")
    assert "add it to students.csv" in str(result.left[0])


def test_a_source_that_is_none_is_said(tiny, tmp_path):
    (tmp_path / "x.zip").write_text("no zip")
    for name in ("x.zip", "missing"):
        with pytest.raises(CourseError, match="neither a folder nor a zip file"):
            collect(tiny, [A], tmp_path / name)


NUMBERED = "id;name;canvas;moodle\nada;Ada Lovelace;4711;15\nemmy;Emmy Noether;4712;20\n"
NAMES = {
    "lovelaceada_4711_9001_x_1.ipynb": "ada",
    "lovelaceada_LATE_4711_9001_7_8_x.ipynb": "ada",
    "lovelaceada_4711_9001_a01_tiny-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f.ipynb": "ada",
    "anon_4711_9001_a01_tiny.ipynb": "ada",
    "LATE_anon_4711_9001_a01_tiny.ipynb": "ada",
    "x_4712_9002_lovelaceada_4711_9001_a01_tiny.ipynb": "its name holds the numbers of emmy, ada",
    "x_4712_9002_y_4711_9001_a01_tiny.ipynb": "its name holds the numbers of emmy, ada",
    "lovelaceada_4711_9001_y_4712_9002_a01_tiny.ipynb": "its name holds the numbers of ada, emmy",
    "x_4712_9002_a01_tiny.ipynb": "the name before it, 'x', is another",
    "teamblue_4711_9001_a01_tiny.ipynb": "the name before it, 'teamblue', is another",
    "LATE_anon_aB3x_9001_a01_tiny.ipynb": "canvas hides whose it is, and its number aB3x",
    "Group A_15_assignsubmission_file/a01_tiny.ipynb": "the name before it, 'Group A'",
    "Standardgruppe_assignsubmission_file/a01_tiny.ipynb": "'Standardgruppe' is what Moodle calls",
    "Teilnehmerin_7_assignsubmission_file_a01_tiny.ipynb": "moodle hides whose it is",
    "Participant_20_assignsubmission_file/sub/sub/a01_tiny.ipynb": "emmy",
    "Noether Emmy_20_assignsubmission_file/a01_tiny.ipynb": "emmy",
}


@pytest.mark.parametrize(("path", "expected"), NAMES.items(), ids=NAMES)
def test_a_number_counts_with_its_own_name_before_it(tiny, archive, path, expected):
    (tiny.root / "students.csv").write_text(NUMBERED)
    result = collect(Course.load(tiny.root), [A], archive({path: None}))
    if " " in expected:
        assert result.new == []
        assert expected in str(result.problems[0])
    else:
        assert result.new == [(expected, A)]


def test_namesakes_on_two_days_replace_nothing_of_each_other_s(tiny, archive, released):
    first = archive({f"Wei Li_24_assignsubmission_file/{A}.ipynb": None})
    assert collect(tiny, [A], first).new == [("wei-li", A)]
    before = tiny.submission("wei-li", A).read_bytes()
    for content in (None, json.dumps(released()) + " "):
        second = archive({f"Wei Li_16_assignsubmission_file/{A}.ipynb": content})
        result = collect(tiny, [A], second)
        assert (result.new, result.updated, result.unchanged) == ([], [], [])
        assert "moodle calls that person 24 and this one 16" in str(result.problems[0])
    assert tiny.submission("wei-li", A).read_bytes() == before
    (tiny.root / "students.csv").write_text("id;name;moodle\nwei-li;Wei Li;24 16\n")
    assert collect(Course.load(tiny.root), [A], second).problems == []


AROUND = {
    "canvas": [f"lovelaceada_4711_9001_{A}.ipynb", f"noetheremmy_LATE_4712_9002_{A}-1.ipynb"],
    "moodle": [
        f"Ada Lovelace_15_assignsubmission_file_{A}.ipynb",
        f"Emmy Noether_20_assignsubmission_file_{A}.ipynb",
    ],
    "folders": [
        f"Ada Lovelace_15_assignsubmission_file/{A}.ipynb",
        f"Emmy Noether_20_assignsubmission_file/sub/{A}.ipynb",
    ],
}


@pytest.mark.parametrize("platform", AROUND)
@pytest.mark.parametrize("around", ["export", "a course/2027"])
def test_a_folder_around_a_platform_s_files_is_nobody_s(tiny, archive, platform, around):
    names = [f"{around}/{name}" for name in AROUND[platform]]
    more = {f"{around}/noetheremmy_4712_text.html": "typed"} if platform == "canvas" else {}
    source = archive(dict.fromkeys(names) | more)
    result = collect(tiny, [A], source)  # without a class list, it may be a student's
    assert (result.new, len(result.problems)) == ([], 2)
    assert "may be a folder around what a platform wrote, or a student's" in str(result)
    (tiny.root / "students.csv").write_text(NUMBERED)
    course = Course.load(tiny.root)
    assert collect(course, [A], source).new == [("ada", A), ("emmy", A)]
    with zipfile.ZipFile(source) as file:
        file.extractall(source.with_suffix(""))
    assert collect(course, [A], source.with_suffix("")).unchanged == [("ada", A), ("emmy", A)]


def test_the_folder_of_the_zip_s_own_name_is_nobody_s(tiny, archive):
    names = {f"lms/{name}": None for name in AROUND["canvas"]}
    assert [s for s, _ in collect(tiny, [A], archive(names)).new] == ["lovelaceada", "noetheremmy"]


@pytest.mark.parametrize("listed", [True, False])
def test_a_student_s_folder_that_imitates_a_platform_is_hers(tiny, archive, listed):
    if listed:
        (tiny.root / "students.csv").write_text(NUMBERED + "eve;Eve;;\n")
    names = {f"eve/{name}": None for name in AROUND["canvas"]}
    result = collect(Course.load(tiny.root), [A], archive(names))
    assert result.new == ([("eve", A)] if listed else [])


STAMP = "2001-01-01 00:00:00 UTC"
LATE = "12345-67890 - Ada Lovelace - May 1, 2026 1200 AM"


@pytest.mark.parametrize(
    "entries",
    [
        {f"Ada Lovelace_7_assignsubmission_file/{A}/timestamp.txt": STAMP},
        {f"Ada Lovelace_7_assignsubmission_file_/{A}/timestamp.txt": STAMP},
        {f"Grace Ho_8_assignsubmission_file/{A}/timestamp.txt": STAMP},
        {f"{LATE}/{A}/timestamp.txt": STAMP},
        {f"First sheet_ada_attempt_2026-05-01-00-00-00/{A}/timestamp.txt": STAMP},
        {f"Ada Lovelace/{A}/timestamp.txt": STAMP},
        {f"ada/{A}/timestamp.txt": STAMP, f"bob/{A}.ipynb": None},
        {f"ada/{A}/timestamp.txt": STAMP, f"bob/{A}/{A}.ipynb": None},
        {f"ada/{A}/timestamp.txt": STAMP, f"Bo_1_assignsubmission_file/{A}/{A}.ipynb": None},
        {f"ada/other/timestamp.txt": STAMP},  # noqa: F541
    ],
)
def test_a_time_in_an_upload_counts_on_no_platform(tiny, archive, entries):
    (tiny.root / "students.csv").write_text("id,name\nada,Ada Lovelace\ngrace,Grace Ho\nbob,Bo\n")
    beside = {name.replace("timestamp.txt", f"{A}.ipynb"): None for name in list(entries)[:1]}
    result = collect(Course.load(tiny.root), [A], archive(beside | entries))
    assert result.new
    for student, _ in result.new:
        stamp = tiny.submission(student, A).with_name("timestamp.txt").read_text()
        assert "2001" not in stamp


DATES = [
    ("en", "Tuesday, 24 November 2026, 2:45 PM"),
    ("en", "Tuesday, 24 November 2026, 14:45"),
    ("de", "Dienstag, 24. November 2026, 14:45"),
    ("fr", "mardi 24 novembre 2026, 14:45"),
    ("es", "martes, 24 de noviembre de 2026, 14:45"),
    ("it", "martedì, 24 novembre 2026, 14:45"),
    ("pl", "wtorek, 24 listopada 2026, 14:45"),
    ("el", "Τρίτη, 24 Νοεμβρίου 2026, 2:45 μμ"),
    ("ja", "2026年 11月 24日(火曜日) 14:45"),
]


@pytest.mark.parametrize(("language", "date"), DATES)
def test_moodle_s_worksheet_is_read_in_the_marker_s_language(
    tiny, archive, configure, language, date
):
    """Headings are none of ours here: columns go by what stands in them."""
    lines = [
        ["X 15", "Ada Lovelace", "ada@example.org", "Y - ", "", "100,00", "Z", date, "-", ""],
        ["X 20", "Emmy Noether", "emmy@example.org", "Y - ", "7", "100,00", "Z", "-", "-", ""],
    ]
    head = [f"H{i}" for i in range(len(lines[0]))]
    sheet = tiny.root / "sheet.csv"
    sheet.write_text("\n".join(";".join(line) for line in [head, *lines]), encoding="utf-8-sig")
    (tiny.root / "students.csv").write_text(NUMBERED)
    course = configure(
        tiny.root,
        'c.Exchange.timezone = "Europe/Berlin"',
        f"c.Course.moodle_language = {language!r}",
    )
    names = dict.fromkeys(AROUND["folders"])
    assert len(collect(course, [A], archive(names), worksheet=sheet).new) == 2
    stamps = [
        course.submission(s, A).with_name("timestamp.txt").read_text()[:16] for s in ("ada", "emmy")
    ]
    assert stamps == ["2026-11-24 13:45", ""]


def test_a_worksheet_that_is_none_is_refused_with_what_to_do(tiny, archive, configure):
    source, sheet = archive({AROUND["folders"][0]: None}), tiny.root / "sheet.csv"
    sheet.write_text("a,b\n1,2\n")
    with pytest.raises(CourseError, match="is no grading worksheet of Moodle's"):
        collect(tiny, [A], source, worksheet=sheet)
    with pytest.raises(CourseError, match="of one assignment and goes with its zip"):
        collect(tiny, [A], "exchange", worksheet=sheet)
    row = "X 15,Ada,a@x,Y - ,,100,Z,{},-\n"
    sheet.write_text("a,b,c,d,e,f,g,h,i\n" + row.format('"Dienstag, 24. Dezember 2026, 14:45"'))
    with pytest.raises(
        CourseError, match=r"line 2, h: .* is no date in English. .*moodle_language"
    ):
        collect(tiny, [A], source, worksheet=sheet)
    course = configure(tiny.root, 'c.Course.moodle_language = "klingon"')
    with pytest.raises(CourseError, match="moodle_language is 'klingon', which is no language"):
        collect(course, [A], source, worksheet=sheet)
