"""Every sample submission gets the verdict it deserves.

Those that only processor time decides are told apart by it; nothing here asserts how long anything
takes, and a verdict that a busy machine withholds is not a failure of the test.
"""

import pytest

from autograder.grading.checks import grade_checks

from .course import FUNCTIONS, grade
from .samples import SAMPLES

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gets_its_verdict(name, zygote, yardstick):
    sample = SAMPLES[name]
    items = grade(sample, zygote, yardstick)
    items.pop("no_loop", None)
    found = [str(item.status) for item in items.values()]
    if sample.verdict == "errored":
        last = items.popitem()[1]
        assert (found[-1], last.note) == ("errored", sample.note)
        assert "could not be counted" not in last.feedback  # what is forged must arrive
        return
    if sample.by_time and "errored" in found:
        pytest.skip("the machine was too busy to decide by time, and so nothing was")
    assert set(found) - {"skipped"} <= {"passed", "failed"}
    assert ("failed" if "failed" in found else "passed") == sample.verdict
    assert sample.note in [item.note for item in items.values()]


def test_what_is_withheld_is_no_zero(zygote):
    """Without a yardstick nothing can be decided by time."""
    item = grade(SAMPLES["outside_the_tracer"], zygote)["work"]
    assert (item.status, item.score, item.note) == ("errored", None, "inconclusive")
    assert "a person will look at it" in item.feedback


@pytest.mark.parametrize(
    ("name", "status", "note"),
    [("vectorised", "passed", ""), ("row_loop", "failed", "loops"), ("blocks", "failed", "loops")],
)
def test_vectorised_is_decided_by_steps(name, status, note, zygote):
    item = grade(SAMPLES[name], zygote)["no_loop"]
    assert (item.status, item.note) == (status, note)


def test_a_matrix_is_called_by_its_name(zygote):
    assert grade(SAMPLES["matrix"], zygote)["work"].note == "builds_the_matrix"


def test_times_are_kept_for_a_picture_whatever_the_verdict(zygote, yardstick):
    for name in ("vectorised", "matrix"):
        curve = grade(SAMPLES[name], zygote, yardstick)["work"].curve
        assert len(curve["n"]) == len(curve["seconds"]) == len(curve["reference"]) > 1
        assert min(curve["seconds"] + curve["reference"]) > 0


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_the_exercises_prove_themselves(kind):
    function = FUNCTIONS[kind]
    for item in grade_checks(function, function.solution):
        assert item.status == "passed", item
    for wrong in function.misconceptions:
        failed = [item for item in grade_checks(function, wrong) if item.status == "failed"]
        assert {item.note for item in failed} == {wrong.name}
