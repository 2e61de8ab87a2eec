"""The guide to teaching names what is there, with its numbers."""

import re
import sys

import pytest

from ..loaded import COURSE, ROOT, assigned

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
import front

_, *SECTIONS = re.split(r"^## ", (ROOT / "docs" / "teaching.md").read_text(), flags=re.M)
BY_ID = dict(zip(COURSE.titles, SECTIONS, strict=True))
PARTS = ["For", "Goes wrong", "Say", "Leave out", "Ask"]


def bank(exercise):
    """Return the names of the mistakes that are known of an exercise, each as often as it is."""
    of_parts = [mistake for part in exercise.parts for mistake in part.misconceptions]
    return [mistake.name for mistake in [*exercise.misconceptions, *of_parts]]


@pytest.mark.parametrize("id", COURSE.titles)
def test_a_section_has_its_notebooks_numbers(id):
    notebook = assigned(id)
    sizes = len(notebook.sound), sum(exercise.points for exercise in notebook.sound.values())
    known = sum(len(bank(exercise)) for exercise in notebook.sound.values())
    head = f"{int(id[1:3])} {COURSE.titles[id]}\n\n*{front.hours(notebook):.1f} hours of core; "
    head += f"in all {sizes[0]} exercises, {sizes[1]:g} points, {known} known mistakes.*\n"
    assert BY_ID[id].startswith(head)
    assert re.findall(r"^\*\*([\w ]+)\.\*\*", BY_ID[id], re.M) == PARTS


@pytest.mark.parametrize("id", COURSE.titles)
def test_mistakes_are_in_the_bank_and_counted(id):
    exercises = assigned(id).sound
    named = re.findall(r"`(\w+)\.(\w+)`", BY_ID[id])
    assert len(named) >= 4
    for exercise, mistake in named:
        assert mistake in bank(exercises[exercise]), f"{exercise}.{mistake}"
    for exercise, count in re.findall(r"`(\w+)` \((\d+)\)", BY_ID[id]):
        assert len(bank(exercises[exercise])) == int(count), exercise
    for count, exercise in re.findall(r"(\d+) mistakes of `(\w+)`", BY_ID[id]):
        assert len(bank(exercises[exercise])) == int(count), exercise


def test_nothing_is_left_out_that_is_core_or_that_a_later_notebook_needs():
    needed = {
        one.exercise: id
        for id in COURSE.titles
        for exercise in assigned(id).sound.values()
        for one in exercise.carried
    }
    for id, section in BY_ID.items():
        [left] = re.findall(r"^\*\*Leave out\.\*\*(.*?)\n\n", section, re.M | re.S)
        for exercise in re.findall(r"`(\w+)` \(\d+\)", left):
            assert exercise not in needed or needed[exercise] == id, exercise
            assert exercise not in COURSE.counting[id].core, exercise
