"""What is released of every exercise: no answer in it, and check.py agrees with the grader."""

import contextlib
import importlib.util
import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from autograder.course.proofs.prices import answers_after
from autograder.course.proofs.sources import typed
from autograder.course.release.check_json import record
from autograder.course.release.drawing import drawn
from autograder.course.release.practice_share import share_in_words, unpractised
from autograder.course.release.practising import practised
from autograder.exercise import FormatError
from autograder.exercise.words.dependencies import apply, solve
from autograder.exercise.words.variants import draws
from autograder.grading.checks import grade_checks
from autograder.grading.parts import grade_parts
from autograder.grading.watched import LIBRARY
from autograder.student.data import decode
from autograder.student.practice import Round
from autograder.student.practice_diagnosis import diagnosed
from autograder.student.readers import read as read_answer

from ..loaded import COURSE, ROOT, assigned
from ..release.conftest import formulas  # noqa: F401


@pytest.mark.usefixtures("formulas")
@pytest.mark.parametrize("id", COURSE.ids())
def test_what_the_grader_reads_check_reads_too(id):
    """Right answers and mistakes, as students type them."""
    for exercise in assigned(id).sound.values():
        entry = record(exercise, drawn(exercise, "course"))
        variant = draws(exercise, "course").pool[0]
        known = solve(exercise, variant)
        for part, recorded in zip(exercise.parts, entry["parts"], strict=True):
            hint = recorded["hint"]
            if part.manual:
                continue
            hint = hint | hint["varies"][0] if "varies" in hint else hint
            for compute in (part, *part.alternatives, *part.misconceptions):
                with np.errstate(all="ignore"):
                    raw = typed(part, apply(compute, known), known)
                try:
                    part.answer.read(raw, like=known[part.name])
                except FormatError:
                    continue
                assert read_answer(raw, hint).shown, f"{exercise.id}.{part.name}: {raw}"


def load(folder):
    """Import the released check.py of a folder under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"check_{folder.name}", folder / "check.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions():
    for id in COURSE.ids():
        for name, exercise in assigned(id).sound.items():
            if any(check.visible for check in exercise.checks):
                yield pytest.param(id, name, id=name)


def ticked(function):
    """A function's visible checks and those that they come after, without a search for mistakes."""
    wanted = [check for check in function.checks if check.visible]
    for check in wanted:
        if check.after and check.after not in wanted:
            wanted.append(check.after)
    checks = tuple(check for check in function.checks if check in wanted)
    return replace(function, checks=checks, misconceptions=())


@pytest.mark.parametrize(("id", "name"), list(functions()))
def test_a_tick_in_the_notebook_is_one_of_the_graders_and_right_code_gets_them_all(id, name):
    """Results are compared as a whole there; a check may look at less, of a wrong function only."""
    exercise = assigned(id).sound[name]
    module = load(ROOT / "release" / id)
    right = {f.solution.__name__: f.solution for f in exercise.functions}
    for own, function in [
        (one, function)
        for one in exercise.functions
        for function in [one.solution, *one.alternatives, *one.misconceptions]
    ]:
        rights = (own.solution, *own.alternatives)
        function = getattr(function, "compute", function)
        printed = io.StringIO()
        notebook = {"check": module.check, **right, own.solution.__name__: function}
        with contextlib.redirect_stdout(printed):
            exec(f"check({name!r})", notebook)
        graded = {item.name: item for item in grade_checks(ticked(own), function)}
        for check in own.checks:
            if check.visible and graded[check.name].status != "skipped":
                passed = f"✓ passed     {check.rubric}" in printed.getvalue()
                earned = graded[check.name].status == "passed"
                fits = passed == earned if function in rights else passed <= earned
                if graded[check.name].note == LIBRARY:  # seen in grading alone; here it is said
                    fits = f"Write `{own.name}` without" in printed.getvalue()
                assert fits, (function, printed.getvalue())


def test_four_fifths_of_the_exercises_can_be_practised():
    found = [not why for id in COURSE.ids() for why in unpractised(COURSE, id).values()]
    assert sum(found) >= 0.8 * len(found), share_in_words(COURSE, COURSE.ids())


@pytest.mark.parametrize("id", COURSE.ids())
def test_nobody_is_graded_with_the_numbers_that_are_practised(id):
    path = ROOT / "release" / id / "help.json"
    graded = json.loads(path.with_name("check.json").read_text(encoding="utf-8"))["exercises"]
    helping = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for exercise, entry in helping.items():
        for each in entry.get("practice", {"sets": []})["sets"]:
            names = each["numbers"].keys()
            assert not names or each["numbers"] not in [
                {name: variant.get(name) for name in names} for variant in graded[exercise]["pool"]
            ]


@pytest.mark.parametrize("id", COURSE.ids())
def test_no_answer_that_practice_shows_is_right_for_more_than_a_quarter_of_a_class(id):
    path = ROOT / "release" / id / "help.json"
    pools = json.loads(path.with_name("check.json").read_text(encoding="utf-8"))["exercises"]
    helping = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for name, entry in helping.items():
        exercise = assigned(id).sound[name]
        pool = pools[name]["pool"] if "practice" in entry else []
        variants = [{key: decode(value) for key, value in numbers.items()} for numbers in pool]
        graded = [solve(exercise, variant) for variant in variants]
        for part in [part for part in exercise.parts if graded]:
            shown = [each["right"].get(part.name) for each in entry["practice"]["sets"]]
            for answers in filter(None, shown):
                for raw in answers["right"]:
                    value = part.answer.read(raw)
                    fits = [part.answer.same(value, known[part.name]) for known in graded]
                    assert np.mean(fits) <= 0.25, f"{name}.{part.name}: {raw}"


@pytest.mark.parametrize("id", ["attn_hand_scaled", "self_attn_cat", "soft_lookup"])
def test_practice_says_of_every_mistake_what_the_grader_finds(id):
    exercise = assigned("a02_attention_by_hand").sound[id]
    variants = drawn(exercise, "attention")
    practice = practised(exercise, "attention", [known for _, known in variants])
    asked = [part for part in exercise.parts if part.name in {p["name"] for p in practice["parts"]}]
    for number, part in enumerate(asked):
        now = Round(id, practice, number)
        variant = {name: decode(value) for name, value in now.worked["numbers"].items()}
        for wrong in part.misconceptions:
            answers = answers_after(exercise, variant, part, wrong)
            own = {each.name: answers[each.name] for each in asked}
            said = {each.name: each for each in diagnosed(now.parts, now.worked, own)}
            for item in grade_parts(exercise, variant, answers.__getitem__):
                if item.name in said:
                    mark, text = said[item.name].mark, said[item.name].text
                    assert (mark in ("right", "follows")) == (item.status == "passed"), item
                    assert (mark == "follows") == (item.note == "follow_through"), item
                    assert mark != "mistake" or text == item.feedback
