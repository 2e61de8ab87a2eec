"""The course's own work checks: natural cheats pass none that they should not, honest code all."""

from functools import cache

import pytest

from autograder.exercise.words.loading import load_module
from autograder.grading.checks import grade_checks
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall

from ..loaded import ROOT
from ..timing.conftest import yardstick, zygote  # noqa: F401
from .work_cheats import CHEATS

pytestmark = pytest.mark.sandbox


@cache
def exercise(path):
    found = load_module(ROOT / "reference" / f"{path}.py").exercise
    found.leave_out_gpu()
    return found


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_caught_where_it_cheats_and_honest_code_nowhere(name, zygote, yardstick):  # noqa: F811
    cheat = CHEATS[name]
    with Runner(zygote, {}, seconds=120.0) as runner:
        run = runner.execute(cheat.source, 1)
        assert run.error is None, run.error
        items = []
        functions = exercise(cheat.exercise).functions
        for function in (f for f in functions if f.solution.__name__ in cheat.source):
            call = StudentCall(runner, function.solution, yardstick)
            items += grade_checks(function, call)
    lost = {item.name: item for item in items if item.status != "passed"}
    skipped = {name for name, item in lost.items() if item.status == "skipped"}
    # Behind a known mistake the others are run, and may fail by it as well.
    checks = [check for function in functions for check in function.checks]
    behind = {check.name for check in checks if check.after and check.after.name in lost}
    assert set(lost) - skipped - behind <= cheat.caught <= set(lost), lost
