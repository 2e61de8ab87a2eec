"""The page that a student shows to others: pictures, tables and texts, and nothing that runs."""

import json
import re

import numpy as np
import pytest

from autograder.course.config import CourseError
from autograder.course.discover import load_assignment
from autograder.course.grade import Graded
from autograder.course.records import write_record
from autograder.course.release import Release
from autograder.course.runs import KeptRuns, folder_of
from autograder.delivery.picture import exhibit_svg
from autograder.delivery.portfolio import write_portfolios
from autograder.exercise import Curves, HeatMaps
from autograder.exercise.follow import solve
from autograder.grading.results import ExerciseGrade, Grade, Item, Status
from autograder.grading.runs import Run, packed
from autograder.grading.written import as_written
from tests.delivery.test_pages import Page, stands_alone

A = "a12_capstone"
EVIL = "Heads **differ**. <script>x()</script><b onclick='x()'>b</b><iframe src='//a.b'>"


def save(course, values, *, essay=EVIL):
    """Write the record, the notebook and the runs of a submission without grading it."""
    exercises, notebook = [], Release.load(course, A).notebook
    for exercise in load_assignment(course, A).sound.values():
        right = solve(exercise, {"n": 8192, "h": 8})
        items = [Item("checked", "It holds.", Status.PASSED, 1, 1)] if not exercise.parts else []
        for item in exercise.items:
            given = as_written(right.get(item.name)) if item in exercise.parts else ""
            items.append(Item(item.name, item.rubric, Status.PASSED, 1, 1, given=given))
        exercises.append(ExerciseGrade.of(exercise.id, items))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "cap_attention_essay":
            cell["source"] = essay
    write_record(course, Graded(Grade(A, "ada", "A", exercises), notebook, ""))
    path = course.submission("ada", A)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))
    runs = KeptRuns(folder_of(course, "ada", A), "ada")
    for name, value in values.items():
        runs.keep(name, packed(name, Run(value, 1.0)))


@pytest.fixture(scope="module")
def trained(shared_course):
    """What short training runs of the references give."""
    sound = load_assignment(shared_course, A).sound
    stopped = {wrong.name: wrong.compute for e in sound.values() for wrong in e.misconceptions}
    return {"train": stopped["never_changed"](1)}


def page(course, to):
    (path,) = write_portfolios(course, [A], to, ["ada"])
    return Page(path)


def test_a_portfolio_shows_pictures_tables_and_texts_and_runs_nothing(
    shared_course, trained, tmp_path
):
    save(shared_course, trained)
    found = page(shared_course, tmp_path)
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
def test_what_is_no_model_is_left_out(shared_course, train, tmp_path):
    save(shared_course, {"train": train})
    found = page(shared_course, tmp_path)
    stands_alone(found)
    assert "table" not in found.tags


def test_who_handed_nothing_in_has_no_portfolio(shared_course, trained, tmp_path):
    save(shared_course, trained)
    with pytest.raises(CourseError, match="no graded submission of bob to a12_capstone"):
        write_portfolios(shared_course, [A], tmp_path, ["bob"])


def test_pictures_are_made_of_curves_and_maps():
    x = np.arange(1.0, 4)
    for shown in (
        Curves("n", "s", {"a": (x, x**2)}, log=True),
        Curves("n", "s", {"a": (x, -x), "b": (x, x)}),
        HeatMaps("key", "query", {f"map {i}": np.eye(3) for i in range(5)}),
    ):
        assert exhibit_svg(shown).startswith("data:image/svg+xml;base64,")
