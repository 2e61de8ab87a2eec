"""Every exercise of the course proves itself, and keeps the shapes it promises."""

import inspect
import os

import pytest
from beartype import beartype
from jaxtyping import jaxtyped

from autograder.course.proofs.verify import verify
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.results import Status

from ..loaded import COURSE, assigned

ASSIGNMENTS = {id: assigned(id) for id in COURSE.ids()}
EXERCISES = [(a, id) for a, loaded in ASSIGNMENTS.items() for id in loaded.exercises]


#: Minutes each, of trainings or of many mistakes on top of others: here only where they are asked
#: for.  The tests of their values try them always.
LONG = ("train_text", "cap_forward", "cap_gradcheck", "cap_seq2seq")

#: Of the 64 of an exercise; with all of them `autograder verify` takes several times as long.
VARIANTS = 8


def proved(assignment, exercise):
    (proof,) = verify(ASSIGNMENTS[assignment], [exercise], secret="s1", variants=VARIANTS)
    assert proof.problems == []


@pytest.mark.parametrize(
    ("assignment", "exercise"), [e for e in EXERCISES if e[1] not in LONG], ids=lambda name: name
)
def test_an_exercise_proves_itself(assignment, exercise):
    proved(assignment, exercise)


@pytest.mark.skipif(
    not os.environ.get("AUTOGRADER_PROVE_LONG"),
    reason="takes minutes: AUTOGRADER_PROVE_LONG=1, or autograder verify",
)
@pytest.mark.parametrize(
    ("assignment", "exercise"), [e for e in EXERCISES if e[1] in LONG], ids=lambda name: name
)
def test_an_exercise_of_minutes_proves_itself(assignment, exercise):
    proved(assignment, exercise)


FUNCTIONS = [(a, id) for a, id in EXERCISES if ASSIGNMENTS[a].sound[id].functions]


def typed(solution):
    """A function, or a class with its methods, that refuses other shapes."""
    if not isinstance(solution, type):
        return jaxtyped(solution, typechecker=beartype)
    methods = {name: typed(f) for name, f in vars(solution).items() if inspect.isfunction(f)}
    return type(solution.__name__, (solution,), methods)


@pytest.mark.parametrize(("assignment", "id"), FUNCTIONS, ids=lambda name: name)
def test_a_reference_keeps_the_shapes_in_its_signature(assignment, id):
    for function in ASSIGNMENTS[assignment].sound[id].functions:
        for item in grade_checks(function, typed(function.solution)):
            assert item.status is Status.PASSED or item.note == NO_GPU, item
