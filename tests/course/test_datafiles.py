"""Data files: released beside the notebook, and read by students and grader alike."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import verify
from autograder.course.release.build import build
from autograder.course.release.releasable import problems
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.keys import Keys
from autograder.delivery import nbgrader_settings
from autograder.delivery.department.releasing import generate, hand_out
from autograder.delivery.nbgrader.agreement import disagreements
from autograder.exercise.words.loading import load_module

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "data"
c.Course.assignments = [{"id": "a01_first", "title": "1", "guessed": (1.0, "it is so small")}]
"""
REFERENCE = '''
"""A number from a file, and one from a text."""
import numpy as np
from autograder.exercise import Count, Exercise, Numbers, data_file

exercise = Exercise("reading", title="Reading", source="none")
WEIGHTS = np.load(data_file("a01_first/weights.npz"))["w"]

@exercise.part(points=1, answer=Numbers())
def total():
    """The sum of the weights."""
    return WEIGHTS.sum()

@total.misconception()
def largest():
    """That is the largest one."""
    return WEIGHTS.max()

@exercise.part(points=1, answer=Count())
def words():
    """The number of words."""
    return len(data_file("a01_first/words.txt").read_text().split())

@words.misconception()
def letters():
    """You counted letters."""
    return len(data_file("a01_first/words.txt").read_text())
'''
TEXT = """\
# %% [markdown]
# # The first
#
# %%
import numpy as np
weights = np.load("weights.npz")["w"]
text = open("words.txt").read()

# %% exercise="reading"
total = None
words = None
"""


@pytest.fixture
def course(tmp_path):
    files = {
        "course_config.py": CONFIG,
        nbgrader_settings.FILE: nbgrader_settings.TEXT,
        "reference/a01_first/reading.py": REFERENCE,
        "assignments/a01_first/a01_first.py": TEXT,
        "assignments/a01_first/data/words.txt": "one two three",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    np.savez(tmp_path / "assignments/a01_first/data/weights.npz", w=[1.5, 2.0, 4.0])
    return Course.load(tmp_path)


def release(course):
    """Write what is released, without a gradebook."""
    folder = course.folder("release") / "a01_first"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in build(load_assignment(course, "a01_first")).items():
        (folder / name).write_bytes(content)


def data(course):
    return course.root / "assignments/a01_first/data"


def test_a_function_finds_those_of_its_own_course(course, tmp_path):
    words = load_assignment(course, "a01_first").exercises["reading"].parts[1]
    other = tmp_path / "other" / "reference" / "a01_first" / "plain.py"
    other.parent.mkdir(parents=True)
    other.write_text("")
    load_module(other)
    assert words() == 3


def test_they_are_released_as_they_are_and_known_by_their_hashes(course, tmp_path):
    generate(course, ["a01_first"])
    folder = course.folder("release") / "a01_first"
    released = json.loads((folder / "check.json").read_text())["data"]
    assert released.keys() == {"weights.npz", "words.txt"}
    for name in released:
        assert (folder / name).read_bytes() == (data(course) / name).read_bytes()
    hand_out(course, ["a01_first"], tmp_path / "all.zip")
    assert "a01_first/weights.npz" in zipfile.ZipFile(tmp_path / "all.zip").namelist()
    (data(course) / "words.txt").write_text("four")
    [drift] = [d for d in generate(course, ["a01_first"], check=True) if d.file == "words.txt"]
    assert "differs" in drift.message


@pytest.mark.sandbox
def test_grading_reads_them_and_what_a_student_did_to_hers_changes_nothing(course):
    release(course)
    simulate(course, "a01_first", 2)
    path = course.submission("student_001", "a01_first")
    handed = Handed("student_001", "a01_first", path)
    text = json.loads(path.read_text())
    for cell in text["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "reading":
            cell["source"] = "total = weights.sum()\nwords = len(text.split())"
    path.write_text(json.dumps(text))
    np.savez(path.with_name("weights.npz"), w=[0.0])
    key = Keys(course).of(handed)
    with Grader(course) as grader:
        grade = grader.grade(handed).grade
    assert grade.score == 2
    assert [n for n in grade.notices if "weights.npz beside the notebook is not the file" in n]
    (data(course) / "words.txt").write_text("four")
    release(course)
    assert Keys(course).of(handed) != key


@pytest.mark.parametrize("damage", ["removed", "changed", "not generated"])
def test_a_release_whose_files_are_not_whole_grades_nobody(course, damage):
    release(course)
    released = course.folder("release") / "a01_first" / "words.txt"
    if damage == "removed":
        released.unlink()
    elif damage == "changed":
        released.write_text("one")
    else:
        (data(course) / "words.txt").write_text("one")
    with Grader(course) as grader, pytest.raises(CourseError, match=r"words.txt is .*generate a01"):
        grader.release("a01_first")
    if damage == "removed":  # `autograder doctor --course` says the same
        assert "words.txt is missing" in disagreements(course, ["a01_first"])[0]


def test_the_notebook_says_which_file_is_missing_or_another(course):
    release(course)
    folder = course.folder("release") / "a01_first"
    (folder / "words.txt").unlink()
    (folder / "weights.npz").write_bytes(b"")
    code = "from check import check\ncheck('reading')"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert "✗ words.txt is missing: put it beside this notebook" in said
    assert "✗ weights.npz isn't the file that you were given" in said


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("code.py", "x = 1", "is no data: code goes into cells"),
        ("a b.txt", "", "has no plain name"),
        ("w.npz", "no array", "holds no plain arrays"),
        ("big.txt", "x" * (9 << 20), "holds 9.0 MiB, and every student gets it"),
    ],
)
def test_what_is_no_data_is_named_before_it_is_released(course, name, content, said):
    (data(course) / name).write_text(content)
    assignment = load_assignment(course, "a01_first")
    assert any(said in line for line in problems(assignment))
    found = {proof.exercise: proof.problems for proof in verify(assignment)}
    assert said in " ".join(found[name])
    assert found["words.txt"] == found["reading"] == []


def test_a_reference_without_its_file_says_where_to_put_it(course):
    (data(course) / "words.txt").unlink()
    (data(course) / "weights.npz").unlink()
    [broken] = load_assignment(course, "a01_first").broken
    assert "put it into assignments/a01_first/data/" in broken.message
