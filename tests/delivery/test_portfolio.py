"""The page that a student shows to others: pictures, tables and texts, and nothing that runs."""

import html
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course.config import CourseError
from autograder.course.release.handed_out import Release
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.kept_runs import folder_of, keep_runs
from autograder.course.submissions.records import write_record
from autograder.delivery.pages.picture import exhibit_svg
from autograder.delivery.pages.portfolio import _derivations, write_portfolios
from autograder.exercise import Curves, HeatMaps
from autograder.grading.results import ExerciseGrade, Grade, Item, Status
from autograder.grading.runs import Run, packed

from ..courses import MOTION, copied
from .test_pages import Page, stands_alone

EVIL = "Masses **cancel**. <script>x()</script><b onclick='x()'>b</b><iframe src='//a.b'>"
EXHIBITS = '''

from autograder.exercise import Curves, HeatMaps, Table


@exercise.exhibit
def falling(seconds):
    """How it falls."""
    t = np.linspace(0, seconds, 9)
    return Curves("t", "h", {"stone": (t, g * t**2 / 2)})


@exercise.exhibit
def measured(mean_speeds):
    """What was measured."""
    return Table(["drive", "speed"], [[name, speeds[0]] for name, speeds in mean_speeds.items()])


@exercise.exhibit
def compared(mean_speeds):
    """All drives beside one another."""
    return HeatMaps("reading", "", {name: [speeds] for name, speeds in mean_speeds.items()})
'''


@pytest.fixture(scope="module")
def shown(tmp_path_factory, generated):
    """A course with exhibits, and a function that gives the page of what ada earned and kept."""
    course = copied(tmp_path_factory.mktemp("shown") / "course", generated)
    reference = course.root / "reference" / MOTION / "fall.py"
    reference.write_text(reference.read_text() + EXHIBITS)

    def page(to, *, seconds="3.1", run=None, texts=None):
        given = Item("seconds", "The time.", Status.PASSED, 2, 2, given=seconds)
        passed = Item("of_any_drive", "Any drive.", Status.PASSED, 2, 2)
        failed = Item("of_a_way_back", "A way back.", Status.FAILED, 0, 1)
        exercises = [
            ExerciseGrade.of("fall", [given]),
            ExerciseGrade.of("mean_speeds", [passed, failed]),
        ]
        notebook = Release.load(course, MOTION).notebook
        for cell in notebook["cells"]:
            id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = {"fall_why": EVIL, **(texts or {})}.get(id, cell["source"])
        write_record(course, Graded.of(Grade(MOTION, "ada", "A", exercises), notebook, ""))
        path = course.submission("ada", MOTION)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook))
        kept = {"mean_speeds": packed("mean_speeds", Run(run, 1.0))}
        keep_runs(folder_of(course, "ada", MOTION), kept)
        (written,) = write_portfolios(course, [MOTION], to, ["ada"])
        return Page(written)

    return course, page


def test_a_portfolio_shows_pictures_tables_and_texts_and_runs_nothing(shown, tmp_path):
    run = {name: np.array([1.5, 0.5]) for name in ("slow <b>", "quick")}
    found = shown[1](tmp_path, run=run)
    stands_alone(found)
    assert (found.tags.count("table"), found.tags.count("img")) == (1, 2)
    assert "strong" in found.tags
    assert "slow <b>" in found.text
    assert "Any drive." in found.text
    assert "A way back." not in found.text
    assert "points" not in found.text


def test_what_a_student_is_proud_of_is_shown_alone_and_with_its_code(shown, tmp_path):
    code = "def mean_speeds(t, x):\n    return x < 1  # <b>"
    found = shown[1](tmp_path, texts={"mean_speeds": f"# proud\n{code}"})
    stands_alone(found)
    assert code in html.unescape(found.html)
    assert "proud" not in found.html
    assert "Masses" not in found.text  # of the other exercise
    assert "def mean_speeds" not in shown[1](tmp_path, texts={"mean_speeds": code}).text


def test_a_derivation_is_shown_where_it_is_right_and_chosen():
    part = SimpleNamespace(name="lines", answer=SimpleNamespace(kind="derivation"))
    right = Item("lines", "Why it falls.", Status.PASSED, 2, 2, given="a + b\nb + a")
    for item, wanted in (
        (right, [("Why it falls.", "a + b\nb + a")]),
        (replace(right, status=Status.PARTIAL), []),
        (replace(right, name="number"), []),
    ):
        section = SimpleNamespace(grade=ExerciseGrade.of("fall", [item]))
        assert _derivations(SimpleNamespace(parts=[part]), section) == wanted


@pytest.mark.parametrize(
    ("seconds", "run"),
    [
        ("", 7),
        ("[]", {"x": "y"}),
        ("three", {"$x": np.full((9, 2), np.nan)}),
        ("1" * 10_000, ({"quick": np.zeros((2, 2))}, [])),
    ],
)
def test_what_an_exhibit_can_not_be_made_of_is_left_out(shown, seconds, run, tmp_path):
    found = shown[1](tmp_path, seconds=seconds, run=run)
    stands_alone(found)
    assert "img" not in found.tags


def test_who_handed_nothing_in_has_no_portfolio(shown, tmp_path):
    course, page = shown
    page(tmp_path)
    with pytest.raises(CourseError, match="no graded submission of bob to m01_motion"):
        write_portfolios(course, [MOTION], tmp_path, ["bob"])


def test_pictures_are_made_of_curves_and_maps():
    x = np.arange(1.0, 4)
    for picture in (
        Curves("n", "s", {"a": (x, x**2)}, log=True),
        Curves("n", "s", {"a": (x, -x), "b": (x, x)}),
        HeatMaps("key", "query", {f"map {i}": np.eye(3) for i in range(5)}),
    ):
        assert exhibit_svg(picture).startswith("data:image/svg+xml;base64,")
