import json
import shutil
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.config import Course, CourseError
from autograder.course.proofs import guessing
from autograder.course.release import standing
from autograder.course.release.shipping import shared
from autograder.delivery.department import releasing
from autograder.delivery.department.releasing import generate, hand_out

from ..courses import MOTION as REAL
from ..courses import POINTS, copied, one_assignment

A = "a01_tiny"


@pytest.fixture
def real(tmp_path, template):
    """Return a sample course with nothing released."""
    course = copied(tmp_path / "course")
    shutil.copy(template / "gradebook.db", course.root)  # made in no time
    return course


def test_an_assignment_is_written_registered_and_then_up_to_date(real, configure):
    course = configure(real.root, 'c.Course.students = {"Ada King Lovelace": "ada"}')
    done = []
    first = generate(course, [REAL], progress=done.append)
    names = (f"{REAL}.ipynb", "check.py", "check.json", "help.json")
    assert {str(drift) for drift in first} == {
        f"release/{REAL}/{name}: is missing" for name in names
    }
    assert done == [[]]  # once, and nothing is to be said of it
    notebook = json.loads((course.folder("release") / REAL / f"{REAL}.ipynb").read_text())
    marked = [c["metadata"]["nbgrader"] for c in notebook["cells"] if "nbgrader" in c["metadata"]]
    assert all(data["checksum"] for data in marked)
    with Gradebook(course.database) as book:
        assert book.find_notebook(REAL, REAL).max_score == POINTS
        student = book.find_student("ada")
        assert (student.first_name, student.last_name) == ("Ada King", "Lovelace")
    files = sorted((course.folder("release") / REAL).iterdir())
    times = [path.stat().st_mtime_ns for path in files]
    assert generate(course, [REAL]) == []
    assert [path.stat().st_mtime_ns for path in files] == times


def test_drift_names_the_file_and_the_cell_and_check_changes_nothing(real):
    generate(real, [REAL])
    folder = real.folder("release") / REAL
    path = folder / f"{REAL}.ipynb"
    fresh = path.read_bytes()
    notebook = json.loads(fresh)
    check = next(c for c in notebook["cells"] if c["id"] == "check_mean_speeds")
    check["source"] = ["print('easy')"]
    path.write_text(json.dumps(notebook))
    (folder / "check.py").write_text("# edited\n")
    (folder / "old").mkdir()
    (folder / ".ipynb_checkpoints").mkdir()
    found = {drift.file: drift.message for drift in generate(real, [REAL], check=True)}
    assert found == {
        path.name: "differs in check_mean_speeds (changed)",
        "check.py": "differs from line 1 on",
        "old": "is no longer part of it",
    }
    assert path.read_bytes() != fresh
    assert len(generate(real, [REAL])) == 3
    assert path.read_bytes() == fresh
    assert not (folder / "old").exists()
    assert generate(real, [REAL], check=True) == []


def test_what_all_assignments_share_lies_there_once_and_is_handed_out_as_copies(real, tmp_path):
    generate(real, [REAL])
    release = real.folder("release")
    assert (release / REAL / "check.py").readlink() == Path("../check.py")
    (release / "check.py").unlink()  # leads nowhere
    assert [str(drift) for drift in generate(real, [REAL])] == [
        f"release/{REAL}/check.py: is missing"
    ]
    hand_out(real, [REAL], tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.read(f"{REAL}/check.py") == shared()["check.py"]


def test_where_there_are_no_links_copies_are_made(real, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    generate(real, [REAL])
    check = real.folder("release") / REAL / "check.py"
    assert not check.is_symlink()
    assert check.read_bytes() == shared()["check.py"]


def test_checking_registers_nothing(real):
    generate(real, [REAL], check=True)
    assert not real.folder("release").exists()
    with Gradebook(real.database) as book:
        assert [assignment.name for assignment in book.assignments] == [A]


@pytest.fixture
def built(real, monkeypatch):
    """What was built, call by call, after a first release."""
    generate(real, [REAL])
    found, right = [], releasing.build
    monkeypatch.setattr(releasing, "build", lambda a: found.append(a.id) or right(a))
    return found


def test_what_stands_there_is_looked_at_and_not_made_again(real, built):
    said = []
    assert generate(real, [REAL], progress=said.append) == []
    assert generate(real, [REAL], check=True, progress=said.append) == []
    assert built == []
    shutil.rmtree(real.root / "records")
    generate(real, [REAL], progress=said.append)
    assert built == [REAL]
    assert said[0] == said[1] == said[2]


def _reference(course):
    return next((course.root / "reference" / REAL).glob("*.py"))


@pytest.mark.parametrize(
    "changed",
    [
        _reference,
        lambda course: course.root / "assignments" / REAL / f"{REAL}.py",
        lambda course: course.root / "course_config.py",
        lambda course: course.root / "reference" / "helpers.py",
        lambda course: course.root / "reference" / REAL / "_notes.py",
        lambda course: course.root / "assignments" / "a09_other" / "data" / "numbers.txt",
    ],
)
def test_whatever_a_release_is_made_from_has_it_made_again(real, built, changed):
    path = changed(real)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("\n")
    generate(real, [REAL])
    assert built == [REAL]


def test_what_was_changed_in_a_release_is_made_again(real, built):
    check = real.folder("release") / REAL / "check.json"
    right = check.read_bytes()
    check.write_bytes(right + b" ")
    assert not generate(real, [REAL], check=True)  # the same but for a blank
    check.write_text("{}")
    assert [drift.file for drift in generate(real, [REAL])] == ["check.json"]
    assert check.read_bytes() == right
    assert built == [REAL, REAL]


def test_another_engine_makes_a_release_again(real, built, monkeypatch):
    monkeypatch.setattr(standing, "computing", lambda: "another")
    generate(real, [REAL])
    assert built == [REAL]


def test_what_is_guessed_stops_a_release_that_was_not_held_to_it(real, built):
    generate(real, [REAL], held=False)
    assert built == [REAL]


def test_a_leak_stops_the_release(real, monkeypatch):
    monkeypatch.setattr(releasing, "leaks", lambda *_: ["check.json holds `np.diff(x)`"])
    with pytest.raises(CourseError, match="give away answers:\ncheck.json holds"):
        generate(real, [REAL])
    assert not real.folder("release").exists()


def test_a_zip_is_the_same_every_time(tiny, tmp_path):
    contents = []
    for name in ("one.zip", "two.zip"):
        assert hand_out(tiny, [A], tmp_path / name) == [f"{A}: written to {tmp_path / name}"]
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == [f"{A}/{A}.ipynb", f"{A}/check.json"]


def test_what_can_not_be_handed_out_is_said(tiny, tmp_path):
    with pytest.raises(CourseError, match="to a .zip file, not to lms"):
        hand_out(tiny, [A], "lms")
    (tiny.folder("release") / A / f"{A}.ipynb").unlink()
    with pytest.raises(CourseError, match="run `autograder generate a01_tiny`"):
        hand_out(tiny, [A], tmp_path / "a.zip")


GUESSED = """
from autograder.exercise import Choice, Exercise

exercise = Exercise("sky", title="Sky", source="none")


@exercise.part(points=3, answer=Choice("ABC"))
def colour():
    "The colour of the sky."
    return "B"


@colour.misconception
def green():
    "That is the meadow."
    return "A"


@colour.misconception
def black():
    "At night."
    return "C"
"""
SKY = '\n# %% exercise="sky"\ncolour = None\n'


@pytest.fixture
def sky(tmp_path):
    """A course of one choice of three."""
    course = one_assignment(tmp_path / "course", "a01_sky", SKY, {"sky": GUESSED})
    config = course.root / "course_config.py"
    config.write_text(config.read_text().replace('"guessed": (1.0, "-")', ""))
    return Course.load(course.root)


def test_verify_generate_and_release_hold_to_one_limit_of_what_is_guessed(sky, tmp_path):
    config, plain = sky.root / "course_config.py", (sky.root / "course_config.py").read_text()
    allowed = plain.replace('"title"', '"guessed": (0.34, "one choice"), "title"')
    config.write_text(allowed)
    generate(Course.load(sky.root), ["a01_sky"])
    given = ("--course", str(sky.root))
    commands = {
        "verify": ["verify", *given],
        "generate": ["generate", *given],
        "check": ["generate", "--check", *given],
        "release": ["release", "--to", str(tmp_path / "sky.zip"), *given],
    }

    def said(words):
        done = CliRunner().invoke(app, words)
        return done.exit_code, f"{done.stderr} {done.exception}"

    assert {said(words)[0] for words in commands.values()} == {0}
    for text in (plain, allowed.replace("0.34", "0.33")):
        config.write_text(text)
        for words in commands.values():
            code, told = said(words)
            assert code == 1
            assert "a01_sky: answers without a thought earn 1 of 3 points; more than" in told
            assert f'entry of a01_sky in {config}:3: "guessed": (0.34, "why")' in told


def test_what_is_guessed_is_found_out_anew_where_something_has_changed(sky, monkeypatch):
    config = sky.root / "course_config.py"
    config.write_text(config.read_text().replace('"title"', '"guessed": (0.4, "-"), "title"'))
    course = Course.load(sky.root)
    asked = []
    right = guessing.blind_guess
    monkeypatch.setattr(
        guessing, "blind_guess", lambda exercise, pool: asked.append(0) or right(exercise, pool)
    )
    for _ in range(2):
        generate(course, ["a01_sky"])
    assert len(asked) == 1
    (course.root / "records" / ".a01_sky.json").write_text("[")
    generate(course, ["a01_sky"])
    assert len(asked) == 2
    module = course.root / "reference" / "a01_sky" / "sky.py"
    module.write_text(GUESSED.replace('"ABC"', '"ABCD"'))  # what is guessed is a quarter then
    config.write_text(config.read_text().replace("0.4", "0.26"))
    generate(Course.load(course.root), ["a01_sky"])
    assert len(asked) == 3
