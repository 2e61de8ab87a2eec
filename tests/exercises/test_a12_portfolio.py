"""What the capstone's portfolio shows, and what becomes of it where nothing was trained."""

import json
import re

import numpy as np
import pytest

from autograder.course.discover import load_assignment
from autograder.course.release.handed_out import Release
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.kept_runs import folder_of, keep_runs
from autograder.course.submissions.records import write_record
from autograder.delivery.pages.portfolio import write_portfolios
from autograder.exercise.words.dependencies import solve
from autograder.exercise.words.variants import draws
from autograder.grading.own_answer import as_written
from autograder.grading.results import ExerciseGrade, Grade, Item, Status
from autograder.grading.runs import Run, packed
from tests.delivery.test_pages import Page, stands_alone

from ..copies import copied_for
from ..loaded import assigned

A = "a12_capstone"
EVIL = "Heads **differ**. <script>x()</script><b onclick='x()'>b</b><iframe src='//a.b'>"


def save(course, values, *, essay=EVIL):
    """Write the record, the notebook and the runs of a submission without grading it."""
    exercises, notebook = [], Release.load(course, A).notebook
    for exercise in load_assignment(course, A).sound.values():
        right = solve(exercise, draws(exercise, "course", most=1).pool[0])
        items = [Item("checked", "It holds.", Status.PASSED, 1, 1)] if not exercise.parts else []
        for item in exercise.items:
            given = as_written(right.get(item.name)) if item in exercise.parts else ""
            items.append(Item(item.name, item.rubric, Status.PASSED, 1, 1, given=given))
        exercises.append(ExerciseGrade.of(exercise.id, items))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "cap_attention_essay":
            cell["source"] = essay
    write_record(course, Graded.of(Grade(A, "ada", "A", exercises), notebook, ""))
    path = course.submission("ada", A)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))
    runs = {name: packed(name, Run(value, 1.0)) for name, value in values.items()}
    keep_runs(folder_of(course, "ada", A), runs)


@pytest.fixture(scope="module")
def capstone(tmp_path_factory):
    return copied_for(tmp_path_factory.mktemp("capstone") / "course", A)


@pytest.fixture(scope="module")
def trained():
    """What short training runs of the references give."""
    sound = assigned(A).sound.values()
    stopped = {wrong.name: wrong.compute for e in sound for wrong in e.misconceptions}
    return {"train": stopped["never_changed"](1, 32)}


def page(course, to):
    (path,) = write_portfolios(course, [A], to, ["ada"])
    return Page(path)


def test_a_portfolio_shows_pictures_tables_and_texts_and_runs_nothing(capstone, trained, tmp_path):
    save(capstone, trained)
    found = page(capstone, tmp_path)
    stands_alone(found)
    assert found.tags.count("table") == 4  # what is written, how much of it, by place, without
    assert found.tags.count("img") == 2  # heat maps, times
    assert "strong" in found.tags
    assert "decoder.1.cross" in found.text
    assert not re.search("points|misconception", found.text)


@pytest.mark.parametrize(
    "train",
    [
        7,
        ({"source": np.zeros((9, 2))}, []),
        ({"encoder.$x.self.W_o": np.zeros((2, 2)), "source": np.full((9, 2), np.nan)}, [1.0]),
    ],
)
def test_what_is_no_model_is_left_out(capstone, train, tmp_path):
    save(capstone, {"train": train})
    found = page(capstone, tmp_path)
    stands_alone(found)
    assert "table" not in found.tags
