"""The minutes in front of the exercises add up to what a notebook promises at its beginning."""

import re
from itertools import pairwise

import jupytext
import pytest

from ..loaded import COURSE, ROOT

ROW = re.compile(r"^\| (\d .+?) \|.*\| (\d+) min \|$", re.M)
HEADING = re.compile(r"^(#+) (.+)$", re.M)
#: *20 minutes*, or *4 minutes, and 40 for the essay*.
MINUTES = re.compile(r"^\*(\d+) minutes(?:, and (\d+) for the (\w+))?", re.M)


def cells(id):
    return jupytext.read(ROOT / "assignments" / id / f"{id}.py").cells


def texts(id):
    text = "\n\n".join(cell.source for cell in cells(id) if cell.cell_type == "markdown")
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("id", COURSE.ids())
def test_every_exercise_says_how_long_it_takes(id):
    exercises = {cell.metadata["exercise"] for cell in cells(id) if "exercise" in cell.metadata}
    assert len(MINUTES.findall(texts(id))) == len(exercises)


@pytest.mark.parametrize("id", [id for id in COURSE.ids() if ROW.search(texts(id))])
def test_minutes_add_up(id):
    parts = re.split(r"^## ", texts(id), flags=re.M)
    for title, promised in ROW.findall(parts[0]):
        [part] = [part for part in parts if part.startswith(f"{title}\n")]
        found = MINUTES.findall(part)
        written = sorted(int(more or 0) for _, more, _ in found)
        kinds = {kind for *_, kind in found}
        counted = [n for name, n in COURSE.counting[id].best.items() if name in kinds]
        more = sum(written[-counted[0] :] if counted else written)
        # Whoever sums up may round, but not by an exercise.
        assert abs(sum(int(own) for own, *_ in found) + more - int(promised)) < 5, title


@pytest.mark.parametrize("id", COURSE.ids())
def test_stars_are_those_whose_points_are_extra(id):
    stars = [head for _, head in HEADING.findall(texts(id)) if head.startswith("★")]
    assert len(stars) == len(COURSE.counting[id].stars)
    assert texts(id).count("an optional star exercise.*") == len(stars)


@pytest.mark.parametrize("id", COURSE.ids())
def test_one_title_and_no_level_is_skipped(id):
    levels = [len(marks) for marks, _ in HEADING.findall(texts(id))]
    assert levels[0] == 1
    assert 1 not in levels[1:]
    assert all(one <= before + 1 for before, one in pairwise(levels))


@pytest.mark.parametrize("id", COURSE.ids())
def test_what_you_can_do_now_comes_last(id):
    assert re.split(r"^## ", texts(id), flags=re.M)[-1].startswith("What you can do now\n")
