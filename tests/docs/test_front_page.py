"""What the front page says of the course is what the course does."""

import re
import sys

import numpy as np
import pytest

from autograder.grading.parts import grade_parts

from ..loaded import COURSE, ROOT, assigned

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
import front

PAGE = (ROOT / "README.md").read_text()
NOTEBOOKS = [assigned(id) for id in COURSE.titles]
EXERCISES = [exercise for notebook in NOTEBOOKS for exercise in notebook.sound.values()]


def said(item):
    """Return the sentence about an item as the page shows it: with an example's numbers, if any."""
    return re.sub(r"[-\d.]*\d", "0", item.feedback)


def rows(first, last):
    """Return the cells of the page's tables from one row to another, without their marks."""
    lines = PAGE.splitlines()
    at = [
        next(i for i, line in enumerate(lines) if line.startswith(f"| {mark}"))
        for mark in (first, last)
    ]
    split = (lines[i].strip("| ").split(" | ") for i in range(at[0], at[1] + 1))
    return [[cell.strip("|`* ") for cell in row] for row in split]


def test_the_sizes_are_those_of_the_course():
    points = sum(exercise.points for exercise in EXERCISES)
    known = sum(
        len(exercise.misconceptions) + sum(len(part.misconceptions) for part in exercise.parts)
        for exercise in EXERCISES
    )
    assert f"{len(EXERCISES)} exercises, {points:g} points, and a bank of more than " in PAGE
    assert f"more than {known // 1000},000 known mistakes" in PAGE


def test_the_hours_are_those_of_the_notebooks():
    needed = [each for each in NOTEBOOKS if each.id not in COURSE.optional]
    core, choice, star = (
        sum(front.hours(each, role) for each in needed) for role in ("core", "choice", "star")
    )
    others = [each for each in NOTEBOOKS if each not in needed]
    choice += sum(front.hours(each, role) for each in others for role in ("core", "choice"))
    assert f"{core:.0f} hours for the core" in PAGE
    assert f"{choice:.0f} more of your choice, and {star:.0f} with a ★" in PAGE


def test_the_graph_is_drawn_from_the_course():
    drawn = (ROOT / "docs" / "pictures" / "notebooks.svg").read_text()
    assert drawn == front.graph(NOTEBOOKS)
    code = front.carried_on(NOTEBOOKS)
    assert all(one < two for one, two in code | front.IDEAS)
    assert {two for _, two in code | front.IDEAS} == set(range(2, 15))  # all but the first


def test_the_lesson_is_a_notebooks():
    text = (ROOT / "assignments/a02_attention_by_hand/a02_attention_by_hand.py").read_text()
    text = " ".join(text.replace("\n# ", " ").split())
    quoted = "\n".join(line[2:] for line in PAGE.splitlines() if line.startswith(">"))
    before, after = re.split(r"!\[.*\)", quoted)
    for words in (before, after):
        assert words.strip()
        assert " ".join(words.split()) in text


def test_the_numbers_of_the_small_model_are_those_of_the_notebooks():
    losses = front.in_echo("a04_multi_head")["on_repeats"]
    assert f"from {losses[-1]} to {losses[3]:.2f} nats" in " ".join(PAGE.split())
    weights = front.in_echo("a03_scaled_attention")["masked"]
    letters = "^BADGEBADGE"
    for query, key in zip(range(6, 11), range(2, 7), strict=True):
        assert f"{letters[query]} at {letters[key]} {weights[query][key]}" in PAGE
    scores = front.in_echo("a02_attention_by_hand")["scores"]
    told = ", ".join(f"{score:.2f}".replace("-", "−") for score in scores[:-1])
    assert f"{told} and −0.47" in PAGE


def test_the_pictures_of_the_lesson_can_be_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    for draw in (front.lesson, front.induction):
        assert draw(plt).axes
    plt.close("all")


def test_a_wrong_line_is_told_as_the_page_shows():
    table = rows("1 | `diff(p1", "4 | `p1*(1")
    lines = [cells[1] for cells in table]
    exercise = assigned("a01_softmax").sound["jacobian_proof"]
    item = grade_parts(exercise, {}, {"diag_steps": lines}.get)[0]
    assert f"{item.score:g} of {item.max_score:g} points remain" in PAGE
    shown = table[2][2]
    assert re.sub(r"[-\d.]*\d", "0", shown) == said(item)
    at = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+\d)", shown)}
    before, after = map(float, re.findall(r"is ([\d.]+\d)", shown))
    np.testing.assert_allclose(before, at["p1"] * (1 - at["p1"]), rtol=2e-3)
    np.testing.assert_allclose(after, at["p1"] - at["p1"] / at["Z"], rtol=2e-3)


def test_a_slip_is_paid_for_as_the_page_shows():
    table = rows("`scores` | 4", "`out` | 1.66")
    numbers = {
        "q": np.array([2, 0, -1, 0]),
        "K": np.array([[2, 1, 0, 2], [2, 2, 2, 2], [0, -1, 2, -1]]),
        "V": np.array([[1, 0], [3, 1], [1, 3]]),
    }
    answers = {cells[0]: cells[1].replace("−", "-") for cells in table}
    exercise = assigned("a02_attention_by_hand").sound["attn_hand_scaled"]
    items = grade_parts(exercise, numbers, answers.get)
    assert [cells[:1] + cells[2:] for cells in table] == [
        [item.name, f"{item.score:g} of {item.max_score:g}", *filter(None, [item.feedback])]
        for item in items
    ]
