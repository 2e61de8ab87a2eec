"""Right derivations earn everything, by whatever route and in whatever notation."""

import functools
from pathlib import Path

import pytest

from autograder.exercise import Derivation
from autograder.exercise.loading import load_module

from .right_derivations import RIGHT

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
CASES = [(*part, number) for part, routes in RIGHT.items() for number in range(len(routes))]


@functools.cache
def answer(assignment, exercise, part):
    module = load_module(REFERENCE / assignment / f"{exercise}.py")
    (found,) = (p for p in module.exercise.parts if p.name == part)
    assert isinstance(found.answer, Derivation)
    return found.answer


@pytest.mark.parametrize(("assignment", "exercise", "part", "number"), CASES)
def test_a_right_derivation_earns_everything(assignment, exercise, part, number):
    lines = RIGHT[assignment, exercise, part][number]
    examination = answer(assignment, exercise, part).chain.examine(lines)
    assert examination.findings == ()
    assert examination.credit == 1
    assert not examination.review


def test_there_are_sixty_of_them():
    assert len(CASES) >= 60
