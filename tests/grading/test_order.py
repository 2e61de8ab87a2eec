"""Exercises are called in an order in which few cells run again."""

import pytest

from autograder.exercise import Exercise, agree, given
from autograder.exercise.words.given import hands_over
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.sandbox import Session, Zygote

pytestmark = pytest.mark.sandbox

HANDING = "def check(call, rng):\n    'Applies.'\n    agree(call(given(negative), 3), -3)"
PLAIN = "def check(call, rng):\n    'Doubles.'\n    agree(call(4), 8)"


def negative(x):
    return -x


def exercise(id, solution, check, **names):
    """An exercise with one check, whose module has these names besides."""
    made, module = Exercise(id, title=id, source="none"), {"agree": agree, **names}
    made.reference(solution)
    exec(check, module)
    made.check(points=1)(module["check"])
    return made


def applied(f, x):
    return f(x)


def double(x):
    return 2 * x


def kept(x):
    return 2 * x


EXERCISES = [
    exercise("handing", applied, HANDING, given=given, negative=negative),
    exercise("plain", double, PLAIN),
    exercise("again", kept, PLAIN),
]
SOURCES = ["def applied(f, x): return f(x)", "def double(x): return 2 * x", "kept = double"]


def test_who_hands_functions_over_is_known_by_the_module():
    assert [hands_over(each.functions[0].checks[0].run) for each in EXERCISES] == [
        True,
        False,
        False,
    ]


def test_what_gets_functions_of_ours_is_called_last(started, monkeypatch):
    execute, executed = Session.execute, []

    def counted(session, source, **kwargs):
        executed.append(source)
        return execute(session, source, **kwargs)

    monkeypatch.setattr(Session, "execute", counted)
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {"nbgrader": {"grade_id": id}},
            "source": text,
            "outputs": [],
            "execution_count": None,
        }
        for number, (id, text) in enumerate(
            pair
            for each, source in zip(EXERCISES, SOURCES, strict=True)
            for pair in ((each.id, source), (f"check_{each.id}", ""))
        )
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assigned = [Assigned(each.id, each, 1) for each in EXERCISES]
    with Zygote() as zygote:
        grade, _ = grade_submission(SubmissionRun("a01", "ada", notebook, assigned, zygote))
    assert [each.score for each in grade.exercises] == [1, 1, 1]
    assert len(started) == 1
    assert executed == SOURCES
