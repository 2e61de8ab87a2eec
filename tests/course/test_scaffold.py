"""`autograder new` writes an exercise that proves itself, whatever its kind."""

from pathlib import Path

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import verify
from autograder.course.release.build import build
from autograder.course.scaffold import kinds, new_exercise
from autograder.exercise.answers.registry import kinds as answer_kinds

ROOT = Path(__file__).parents[2]


@pytest.fixture
def empty(tmp_path):
    (tmp_path / "course_config.py").write_text(
        "c = get_config()\nc.Course.assignments = [{'id': 'a99_toys', 'title': 'Toys'}]\n"
    )
    return Course.load(tmp_path)


@pytest.mark.parametrize("kind", kinds())
def test_a_new_exercise_proves_itself_and_can_be_built(empty, kind):
    new_exercise(empty, "a99_toys", "toy", kind)
    assignment = load_assignment(empty, "a99_toys")
    (proof,) = verify(assignment)
    assert proof.problems == []
    assert b"toy" in build(assignment)["a99_toys.ipynb"]


def test_exercises_are_added_one_after_the_other(empty):
    for kind in kinds():
        text, module = new_exercise(empty, "a99_toys", f"my_{kind}", kind)
        assert text.is_file()
        assert module.name == f"my_{kind}.py"
    assignment = load_assignment(empty, "a99_toys")
    assert list(assignment.exercises) == [f"my_{kind}" for kind in kinds()]
    assert all(proof.problems == [] for proof in verify(assignment))


@pytest.mark.parametrize(
    ("exercise", "kind", "says"),
    [
        ("toy", "riddle", "riddle is no kind of exercise; there are band"),
        ("My Toy", "count", "small letters"),
        ("there", "count", "exists already"),
    ],
)
def test_what_cannot_be_started_is_said(empty, exercise, kind, says):
    new_exercise(empty, "a99_toys", "there", "count")
    with pytest.raises(CourseError, match=says):
        new_exercise(empty, "a99_toys", exercise, kind)


def test_the_docs_name_every_kind():
    docs = (ROOT / "docs" / "author.md").read_text(encoding="utf-8")
    for kind in answer_kinds().values():
        assert kind.table
        assert f"`{kind.__name__}`" in docs
