"""Right derivations earn everything, by whatever route and in whatever notation; wrong ones not."""

import functools
from pathlib import Path

import pytest

from autograder.exercise import Derivation
from autograder.exercise.words.loading import load_module

from .derivations_gone_wrong import GONE_WRONG
from .derivations_otherwise import OTHERWISE
from .right_derivations import RIGHT

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
RIGHT_ONES = [
    (*part, lines)
    for routes in (RIGHT, OTHERWISE)
    for part, several in routes.items()
    for lines in several
]
WRONG_ONES = [(*part, *tried) for part, several in GONE_WRONG.items() for tried in several]


@functools.cache
def answer(assignment, exercise, part):
    module = load_module(REFERENCE / assignment / f"{exercise}.py")
    (found,) = (p for p in module.exercise.parts if p.name == part)
    assert isinstance(found.answer, Derivation)
    return found.answer


@pytest.mark.parametrize(("assignment", "exercise", "part", "lines"), RIGHT_ONES)
def test_a_right_derivation_earns_everything(assignment, exercise, part, lines):
    examination = answer(assignment, exercise, part).chain.examine(lines)
    assert examination.findings == ()
    assert examination.credit == 1
    assert not examination.review


@pytest.mark.parametrize(("assignment", "exercise", "part", "lines", "least", "most"), WRONG_ONES)
def test_what_is_missing_or_wrong_costs_its_share(assignment, exercise, part, lines, least, most):
    examination = answer(assignment, exercise, part).chain.examine(lines)
    assert examination.findings
    assert least - 1e-6 <= examination.credit <= most + 1e-6


def test_there_are_many_of_them():
    assert len(RIGHT_ONES) >= 100
    assert len(WRONG_ONES) >= 50
