"""Every exercise says how long it takes and what it is to the points; headings stand in order."""

import re
from dataclasses import replace
from itertools import pairwise

import jupytext
import pytest

from autograder.course.release.overview import tasks, told
from autograder.course.release.plan import notes, plan
from autograder.course.release.releasable import problems
from autograder.course.sections import headed, without

from ..loaded import COURSE, ROOT, assigned

HEADING = re.compile(r"^(#+) (.+)$", re.M)


def texts(id):
    cells = jupytext.read(ROOT / "assignments" / id / f"{id}.py").cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("id", COURSE.ids())
def test_every_exercise_says_below_its_heading_what_it_is_and_takes(id):
    every = tasks(assigned(id))
    assert all(task.minutes and task.minutes % 5 == 0 for task in every)
    said = "\n".join(cell.source for cell in told(assigned(id)) if cell.kind == "markdown")
    below = re.findall(r"^##+ (?:\d+\.? )?(.+)\n\n\*([●○★] .+)\*$", said, re.M)
    # its title, as in the table at the top, so that who looks for it finds it
    assert sorted(below) == sorted((task.title, task.badge) for task in every)


@pytest.mark.parametrize("id", COURSE.ids())
def test_the_core_is_a_notebook_of_its_own(id):
    """Nothing in it builds on what is choice: a lecturer may leave out all of that."""
    whole = assigned(id)
    left_out = [task.id for task in tasks(whole) if task.role != "core"]
    assert headed(whole.cells).keys() == whole.exercises.keys()
    rule = replace(COURSE.counting[id], best={}, stars=[])
    course = replace(
        COURSE,
        without={id: left_out},
        counting={**COURSE.counting, id: rule},
    )
    core = replace(
        whole,
        course=course,
        cells=without(whole.cells, left_out),
        exercises={e: own for e, own in whole.exercises.items() if e not in left_out},
    )
    assert problems(core) == []
    assert {cell.exercise for cell in core.cells} - {""} == core.exercises.keys()


def test_the_core_of_the_course_fits_a_term():
    every = [
        task for id in COURSE.ids() if id not in COURSE.optional for task in tasks(assigned(id))
    ]
    core = [task for task in every if task.role == "core"]

    assert sum(task.points for task in core) == 588  # one essay of eight comes to it
    assert 60 < sum(task.minutes for task in core) / 60 < 63
    made = plan(map(assigned, COURSE.ids()), 12, 5.2)
    assert [task.id for week in made.weeks for own in week for task in own.exercises] == [
        task.id for task in core
    ]
    assert made.short == 0
    assert notes(made)[0] in (ROOT / "docs" / "instructor.md").read_text()


@pytest.mark.parametrize("id", COURSE.ids())
def test_one_title_and_no_level_is_skipped(id):
    levels = [len(marks) for marks, _ in HEADING.findall(texts(id))]
    assert levels[0] == 1
    assert 1 not in levels[1:]
    assert all(one <= before + 1 for before, one in pairwise(levels))


@pytest.mark.parametrize("id", COURSE.ids())
def test_what_you_can_do_now_comes_last(id):
    assert re.split(r"^## ", texts(id), flags=re.M)[-1].startswith("What you can do now\n")
