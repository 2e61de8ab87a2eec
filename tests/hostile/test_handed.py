"""Many hostile functions in one notebook: none earns its points, and none costs another's."""

import numpy as np
import pytest

from autograder.exercise import Exercise, agree
from autograder.exercise.words.given import given
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission

from .attacks import CANARY
from .conftest import Marked, _cell
from .handed import ATTACKS, HONEST, bowl, smallest, wave
from .test_attacks import assert_in_order


def asked(id):
    exercise = Exercise(id, title="The smallest", source="none")

    def reference(f, x):
        """Return the entry of x where f is smallest."""
        return smallest(f, x)

    reference.__name__ = id
    exercise.reference(reference)

    @exercise.check(points=1, visible=True)
    def of_a_bowl(call, rng):
        """Finds the bottom of a bowl."""
        for x in rng.permuted(np.tile(np.linspace(-3, 2.1, 6), (3, 1)), axis=1):
            agree(call(given(bowl), x), smallest(bowl, x))

    @exercise.check(points=1)
    def of_a_wave(call, rng):
        """Finds the bottom of a wave."""
        for x in rng.permuted(np.tile([CANARY, 1.5, 4.5, 3, 0], (3, 1)), axis=1):
            agree(call(given(wave), x), smallest(wave, x))

    return exercise


@pytest.fixture(scope="module")
def names():
    return {f"attack_{i}": name for i, name in enumerate(ATTACKS)}


@pytest.fixture(scope="module")
def marked(zygote, names):
    """A notebook of all attacks, with an honest answer before, between and behind them."""
    sources = {id: ATTACKS[name] for id, name in names.items()}
    middle = len(sources) // 2
    ids = list(sources)
    ids = ["first", *ids[:middle], "between", *ids[middle:], "last"]
    cells = [_cell("import numpy as np\nprint([])")]
    for id in ids:
        cells.append(_cell(sources.get(id, HONEST).replace("NAME", id), id))
        cells.append(_cell(f"check({id!r})", f"check_{id}"))
    source = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assigned = [Assigned(id, asked(id), 2) for id in ids]
    return Marked(
        *grade_submission(SubmissionRun("a00", "eve", source, assigned, zygote, seconds=600))
    )


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_handed_over_earns_nothing(marked, names, name):
    [id] = [id for id, known in names.items() if known == name]
    assert marked.scores[id] == 0


def test_honest_answers_beside_them_lose_nothing(marked, names):
    full = {names.get(id, id) for id, score in marked.scores.items() if score == 2}
    assert full == {"first", "between", "last"}


def test_the_notebook_tells_nothing(marked, tier):
    assert_in_order(marked, tier)
