"""What earlier versions wrote is read; what a later one wrote is refused by name, and stays."""

import json

import pytest

from autograder.course.config import CourseError
from autograder.course.release.handed_out import Release
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.hand_in import HandIn, hand_in
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.records import (
    keep,
    kept,
    read_grade,
    read_record,
    read_scores,
    recorded_key,
    write,
)
from autograder.delivery.department.grading import grade_and_save

A = "a01_tiny"


def item(name, score, most, **more):
    status = {None: "errored", 0: "failed", most: "passed"}.get(score, "partial")
    entries = {"name": name, "rubric": "R.", "status": status, "score": score, "max_score": most}
    return entries | {"note": "", "feedback": ""} | more


def record(*exercises, **more):
    """A record's entries that every version has."""
    head = {"schema": 1, "assignment": A, "student": "ada", "isolation": "B"}
    return head | {"exercises": list(exercises), "notices": [], "runtime": {}, "key": "k"} | more


def exercise(id, score, most, *items):
    status = "errored" if score is None else "partial"
    own = {"id": id, "status": status, "score": score, "max_score": most}
    return own | {"variant": 0, "items": list(items)}


#: By the version that wrote it: a record, and the points that it stands for.
RECORDS = {
    # No texts, nothing of what counts; an exercise was withheld as a whole.
    "0.1": (
        record(
            exercise("qk", 1.5, 2.0, item("scores", 1.5, 2.0)),
            exercise("norm", None, 1.0, item("total", None, 1.0, note="timeout", feedback="Long.")),
        ),
        (1.5, 3.0),
    ),
    # What counts stood at the top.
    "0.4": (
        record(
            exercise("qk", 2.0, 2.0, item("why", 2.0, 2.0, given="So.", curve={"n": [1.0]})),
            exercise("norm", 1.0, 3.0, item("why", 1.0, 3.0, fits=[2], training={"seed": 1})),
            exercise("deep", 0.5, 1.0, item("total", 0.5, 1.0)),
            best={"why": 1},
            stars=["deep"],
            texts=None,
        ),
        (3.5, 3.0),
    ),
    "1.0": (
        record(
            exercise("qk", 2.0, 2.0, item("scores", 2.0, 2.0, chosen="AC")),
            exercise("norm", 1.0, 3.0, item("total", 1.0, 3.0)),
            counting={"core": ["qk"], "choice": 0.5},
            texts={"qk": "0123456789abcdef"},
        ),
        (2.5, 2.5),
    ),
}


def put(course, content):
    path = course.record("ada", A)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("version", RECORDS)
def test_a_record_of_an_earlier_version_is_read(tiny, version):
    content, points = RECORDS[version]
    path = put(tiny, content)
    found = read_record(tiny, "ada", A)
    assert (found.grade.score, found.grade.max_score) == points
    assert [one.score for one in read_scores(tiny, "ada", A)] == [
        each["score"] for each in content["exercises"]
    ]
    assert recorded_key(tiny, Handed("ada", A, path)) == found.provenance.key == "k"
    write(tiny, found)  # as it is written today it says the same
    assert read_record(tiny, "ada", A) == found


def newer(course):
    return put(course, record(schema=2, exercises="otherwise"))


@pytest.mark.parametrize(
    "read",
    [
        lambda course, handed: read_grade(course, handed.student, A),
        lambda course, handed: recorded_key(course, handed),
    ],
    ids=["read_grade", "recorded_key"],
)
def test_a_record_of_a_later_version_is_refused(tiny, read):
    path = newer(tiny)
    with pytest.raises(CourseError, match=r"ada/a01_tiny.json has schema 2.*autograder knows 1"):
        read(tiny, Handed("ada", A, path))


def test_scores_of_a_later_version_are_refused(tiny):
    put(tiny, record(schema=2))
    with pytest.raises(CourseError, match="has schema 2"):
        read_scores(tiny, "ada", A)


def test_grading_leaves_what_a_later_version_wrote(tiny, hand_in):
    hand_in(tiny, "ada")
    path = newer(tiny)
    before = path.read_bytes()
    with pytest.raises(CourseError, match="install that one, or one after it"):
        grade_and_save(tiny, [A], GradingOptions(trust_students=True, jobs=1))
    assert path.read_bytes() == before


def test_what_a_later_version_had_not_saved_yet_is_refused(tiny, graded):
    path = keep(tiny, graded("ada"))
    handed = Handed("ada", A, path)
    assert kept(tiny, handed, "") is not None
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(CourseError, match="has schema 2"):
        kept(tiny, handed, "")


CHECK = {"name": "adds_up", "rubric": "Adds up.", "points": 1, "calls": []}


@pytest.mark.parametrize(
    ("version", "functions"),
    [
        ("0.1", {"function": "total", "checks": [CHECK], "hidden_checks": 2}),
        ("0.2", {"functions": [{"name": "total", "checks": [CHECK], "hidden_checks": 2}]}),
    ],
)
def test_a_release_of_an_earlier_version_is_read(tiny, version, functions):
    path = tiny.folder("release") / A / "check.json"
    content = json.loads(path.read_text())
    common = {"title": "T", "points": 1, "parts": []}
    numbers = [{"k": 3}, {"k": 5}]
    content["exercises"] = {"norm": common | {"pool": numbers} | functions}
    if version == "0.1":
        none = {"function": None, "checks": [], "hidden_checks": 0}
        content["exercises"]["qk"] = common | {"pool": [{}]} | none
    path.write_text(json.dumps(content))
    found = Release.load(tiny, A)
    assert found.pool("norm") == numbers
    own = found.data["exercises"]["norm"]["functions"]
    assert own == [{"name": "total", "checks": [CHECK], "hidden_checks": 2}]
    assert version == "0.2" or found.data["exercises"]["qk"]["functions"] == []


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ({}, HandIn()),
        (
            {"file": "a.ipynb", "platform": "canvas", "late": True},
            HandIn("a.ipynb", "canvas", True),
        ),
        ({"team": ["ada", "eve"], "of a later version": 1}, HandIn(team=("ada", "eve"))),
    ],
    ids=["nothing", "0.3", "later"],
)
def test_what_is_known_of_a_hand_in_is_read_whichever_version_wrote_it(tiny, content, known):
    path = tiny.submission("ada", A).with_name("collected.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    assert hand_in(tiny, "ada", A) == known
