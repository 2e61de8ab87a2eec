"""What students upload is filed under them, whatever names they give it.

Eve uploads, Ada has handed in before. Each upload is collected from a folder and from a zip.
"""

import json
import os
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.course.people.roster import Person
from autograder.course.people.student_ids import STUDENT_ID
from autograder.delivery.nbgrader.people import add_students
from autograder.delivery.platforms.collect import collect
from autograder.delivery.platforms.lms_files import MAX_BYTES

from ..delivery.conftest import A, released, template, tiny  # noqa: F401

ADA = "ada/a01_tiny/a01_tiny.ipynb"
MOODLE, CANVAS = "Eve_12_assignsubmission_file_", "eve_12_34_"

#: In what Eve uploads: names of Ada's in every form that a platform has.
NAMES = [
    "ada.ipynb",
    "ada/a01_tiny.ipynb",
    "ada/a01_tiny/a01_tiny.ipynb",
    "submitted/ada/a01_tiny/a01_tiny.ipynb",
    "a01_tiny/ada.ipynb",
    "a01_tiny/ada/a01_tiny.ipynb",
    "ada_1_2_a01_tiny.ipynb",
    "ada_LATE_1_2_a01_tiny-1.ipynb",
    "lovelaceada_1_2_a01_tiny.ipynb",
    "x/ada_1_2_a01_tiny.ipynb",
    "Ada Lovelace_7_assignsubmission_file_a01_tiny.ipynb",
    "Ada Lovelace_7_assignsubmission_file_/a01_tiny.ipynb",
    "x/Ada Lovelace_7_assignsubmission_file_/a01_tiny.ipynb",
    "Ada Lovelace/a01_tiny.ipynb",
    "ada (1).ipynb",
    "a01_tiny/ada_1_2_a01_tiny.ipynb",
    "a01_tiny_ada_attempt_2026-05-01-10-00-00_a01_tiny.ipynb",
    "1-2 - Ada Lovelace - May 1, 2026 1000 AM/a01_tiny.ipynb",
]
INSIDE = [
    *(f"{MOODLE}/{name}" for name in NAMES),
    *(f"{MOODLE}{name}" for name in NAMES if "/" not in name),
    *(f"{CANVAS}{name}" for name in NAMES if "/" not in name),
    *(f"eve/{name}" for name in NAMES),
    *(f"eve/a01_tiny/{name}" for name in NAMES[:3]),
]
#: Folders that an attacker may have his platform write: they look like Ada's.
LOOK_ALIKES = [
    "ａda/a01_tiny.ipynb",
    "аda/a01_tiny.ipynb",  # the first letter is Cyrillic
    "ada\u200b/a01_tiny.ipynb",
    "ada\u0301/a01_tiny.ipynb",
    "Ada/a01_tiny.ipynb",
    "ADA.ipynb",
    "ａda_12_assignsubmission_file_/a01_tiny.ipynb",
    "аda_12_assignsubmission_file_/a01_tiny.ipynb",
    "ADA_12_34_a01_tiny.ipynb",
    "Àda_12_assignsubmission_file_/a01_tiny.ipynb",
    "+ada/a01_tiny.ipynb",
    "-ada/a01_tiny.ipynb",
    "=ada/a01_tiny.ipynb",
    "@ada/a01_tiny.ipynb",
    "ada\n/a01_tiny.ipynb",
    "./ada /a01_tiny.ipynb",
]


def notebook(text):
    content = released()
    content["cells"][1]["source"] = text
    return json.dumps(content)


@pytest.fixture
def class_(tiny):  # noqa: F811
    """The course in which Ada's submission lies already."""
    add_students(tiny, [Person("ada", "Ada", "Lovelace")])
    path = tiny.submission("ada", A)
    path.parent.mkdir(parents=True)
    path.write_text(notebook("ada's own"))
    path.with_name("timestamp.txt").write_text("2026-05-01 00:00:00 UTC")
    return tiny


@pytest.fixture(params=["folder", "zip"])
def upload(request, tmp_path):
    """Return a function that makes a folder or a zip of files by name."""

    def make(files):
        if request.param == "folder":
            root = tmp_path / "lms"
            for name, content in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            return root
        with zipfile.ZipFile(tmp_path / "lms.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, (2027, 1, 1, 0, 0, 0)), content)
        return tmp_path / "lms.zip"

    return make


def filed(course):
    """Return the first answer of each submission, by student."""
    found = course.folder("submitted").glob(f"*/{A}/{A}.ipynb")
    return {p.parts[-3]: json.loads(p.read_text())["cells"][1]["source"] for p in found}


@pytest.mark.parametrize("name", INSIDE)
def test_a_name_inside_an_upload_names_nobody(class_, upload, name):
    collect(class_, [A], upload({name: notebook("eve's")}))
    found = filed(class_)
    assert found.pop("ada") == "ada's own"
    assert set(map(str.casefold, found)) == {"eve"}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_who_looks_like_another_replaces_nothing_of_hers(class_, upload, name):
    result = collect(class_, [A], upload({name: notebook("eve's")}))
    assert filed(class_) == {"ada": "ada's own"}
    assert len(result.problems) == 1


def test_what_the_platform_says_is_hers_replaces_hers(class_, upload):
    """The positive control."""
    collect(class_, [A], upload({ADA: notebook("her second")}))
    assert filed(class_) == {"ada": "her second"}


def test_two_people_of_one_name_replace_nothing(class_, upload):
    files = {
        f"Ada Lovelace_{number}_assignsubmission_file_/a01_tiny.ipynb": notebook(f"of {number}")
        for number in (7, 8)
    }
    result = collect(class_, [A], upload(files))
    assert filed(class_) == {"ada": "ada's own"}
    assert "the platform names two people" in str(result.problems[0])


@pytest.mark.parametrize("folder", [MOODLE, f"{MOODLE}/a01_tiny", "eve"])
def test_a_time_in_an_upload_is_nothing(class_, upload, folder):
    times = {f"{folder}/timestamp.txt": "2001-01-01 00:00:00 UTC"}
    collect(class_, [A], upload({f"{folder}/a01_tiny.ipynb": notebook("late"), **times}))
    (eve,) = class_.folder("submitted").glob("[Ee]ve")
    assert "2001" not in (eve / A / "timestamp.txt").read_text()


def test_the_time_that_nbgrader_wrote_is_one(class_, upload):
    """The positive control."""
    times = {"eve/a01_tiny/timestamp.txt": "2001-01-01 00:00:00 UTC"}
    collect(class_, [A], upload({"eve/a01_tiny/a01_tiny.ipynb": notebook("early"), **times}))
    assert "2001" in class_.submission("eve", A).with_name("timestamp.txt").read_text()


@pytest.mark.parametrize("name", ["timestamp.txt", "a01_tiny.ipynb", "submission_secret.txt"])
@pytest.mark.parametrize("kind", ["pipe", "socket", "link", "device", "folder", "endless"])
def test_what_is_no_file_is_waited_for_by_nobody(class_, tmp_path, name, kind):
    folder = tmp_path / "lms" / "eve" / A
    folder.mkdir(parents=True)
    if name != "a01_tiny.ipynb":
        (folder / "a01_tiny.ipynb").write_text(notebook("eve's"))
    spoil(folder / name, kind)
    before = datetime.now(UTC)
    collect(class_, [A], tmp_path / "lms")
    assert (datetime.now(UTC) - before).total_seconds() < 10
    assert filed(class_)["ada"] == "ada's own"
    if name != "a01_tiny.ipynb":
        assert filed(class_)["eve"] == "eve's"


def spoil(path, kind):
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root makes devices")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(MAX_BYTES * 1000)


@pytest.mark.parametrize("id", ["+ada", "-ada", "=ada", "@ada", ".ada", "ａda", "a/b", "", "a\nb"])
def test_what_a_spreadsheet_or_a_shell_takes_for_its_own_is_no_id(id):
    assert not STUDENT_ID.fullmatch(id)


def test_there_are_sixty():
    assert len(INSIDE) + len(LOOK_ALIKES) >= 60
    assert Path(ADA).name == f"{A}.ipynb"
