"""The guide to teaching names what is there, with its numbers."""

import re
import sys

import pytest

from ..loaded import COURSE, ROOT, assigned

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
import teaching
from teaching import bank

_, *SECTIONS = re.split(r"^## ", (ROOT / "docs" / "teaching.md").read_text(), flags=re.M)
BY_ID = dict(zip(COURSE.titles, SECTIONS, strict=True))
PARTS = ["For", "Goes wrong", "Say", "Leave out", "Ask"]


def test_its_numbers_are_those_of_the_course():
    text = teaching.PAGE.read_text()
    made = teaching.counted(text, [assigned(id) for id in COURSE.titles])
    # The bank grows: the page may be a little behind with it, and with nothing else.
    known = re.compile(r"\d+(?= known mistakes| mistakes of)")
    assert known.sub("", made) == known.sub("", text), "run docs/pictures/teaching.py"
    for said, now in zip(known.findall(text), known.findall(made), strict=True):
        assert abs(int(now) - int(said)) <= 3 + int(now) // 20, "run docs/pictures/teaching.py"


@pytest.mark.parametrize("id", COURSE.titles)
def test_a_section_says_what_lecturers_ask(id):
    assert BY_ID[id].startswith(f"{int(id[1:3])} {COURSE.titles[id]}\n\n*")
    assert re.findall(r"^\*\*([\w ]+)\.\*\*", BY_ID[id], re.M) == PARTS


@pytest.mark.parametrize("id", COURSE.titles)
def test_mistakes_are_in_the_bank_and_counted(id):
    exercises = assigned(id).sound
    named = re.findall(r"`(\w+)\.(\w+)`", BY_ID[id])
    assert len(named) >= 4
    for exercise, mistake in named:
        assert mistake in bank(exercises[exercise]), f"{exercise}.{mistake}"


def test_nothing_is_left_out_that_is_core_or_that_a_later_notebook_needs():
    needed = {
        one.exercise: id
        for id in COURSE.titles
        for exercise in assigned(id).sound.values()
        for one in exercise.carried
    }
    for id, section in BY_ID.items():
        [left] = re.findall(r"^\*\*Leave out\.\*\*(.*?)\n\n", section, re.M | re.S)
        sentences = re.split(r"\.\s", left)
        free = " ".join(each for each in sentences if " stay" not in each)
        assert len(re.findall(r"`(\w+)`", free)) >= 3
        for exercise in re.findall(r"`(\w+)`", free):
            assert exercise not in needed or needed[exercise] == id, exercise
            assert exercise not in COURSE.counting[id].core, exercise
