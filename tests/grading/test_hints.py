"""Hints that a notebook says were taken, and what they cost where a course says so."""

import pytest

from autograder.grading.hints import hints_taken, with_hints
from autograder.grading.results import ExerciseGrade, Item, Status


def grade(score, of=4.0):
    status = Status.PASSED if score == of else Status.PARTIAL
    return ExerciseGrade.of("sdpa", [Item("works", "It works.", status, score, of)])


def test_the_last_hint_that_cells_ask_for_counts_and_text_about_hints_does_not():
    sources = ['hint("sdpa")', "if True:\n    hint('sdpa', number=2)", '# hint("mask")', "hint(("]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    cells.append({"cell_type": "markdown", "source": 'hint("mask")'})
    assert hints_taken({"cells": cells}) == {"sdpa": 2}


def test_free_hints_are_counted_and_cost_nothing():
    found = with_hints(grade(4.0), 2, 3, 0.0)
    assert (found.score, found.max_score, found.status) == (4.0, 4.0, Status.PASSED)
    assert (found.items[-1].note, found.items[-1].feedback[:12]) == ("hints", "2 of 3 hints")


@pytest.mark.parametrize(("score", "left"), [(4.0, 3.2), (0.5, 0.0), (0.0, 0.0)])
def test_a_hint_costs_its_share_of_the_points_and_never_more_than_there_are(score, left):
    assert with_hints(grade(score), 2, 3, 0.1).score == left


def test_hints_that_there_are_not_cost_nothing():
    assert with_hints(grade(4.0), 5, 0, 0.1) == grade(4.0)
    assert with_hints(grade(4.0), 0, 3, 0.1) == grade(4.0)
