"""The released notebook, executed as a student would."""

import shutil

import nbclient
import nbformat
import pytest

from ..courses import MOTION

SPEEDS = """\
import numpy as np

def mean_speeds(t, x):
    return np.diff(x) / np.diff(t)
"""
FALL = "seconds, speed, heavier = 3.1, 30.411, 'B'"


@pytest.fixture
def executed(tmp_path, generated):
    """Return a function that executes a released notebook, filled in, and returns its cells."""

    def execute(**answers):
        shutil.copytree(generated / "release" / MOTION, tmp_path / MOTION)
        notebook = nbformat.read(tmp_path / MOTION / f"{MOTION}.ipynb", as_version=4)
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            cell.source = answers.get(grade_id, cell.source).replace(
                'student("")', 'student("ada")'
            )
        resources = {"metadata": {"path": str(tmp_path / MOTION)}}
        nbclient.NotebookClient(
            notebook, resources=resources, allow_errors=True, timeout=60
        ).execute()
        return {cell.source: cell.get("outputs", []) for cell in notebook.cells}

    return execute


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_student_who_has_written_something_sees_it_pass(executed):
    cells = executed(fall=FALL, mean_speeds=SPEEDS)
    (printed,) = cells['check("fall")']
    assert printed.data["text/plain"].splitlines() == [
        "fall: Free fall",
        "  → read as    seconds: 3.1",
        "        (fewer than 4 digits are enough only where they are exact)",
        "  → read as    speed: 30.411",
        "  → read as    heavier: B",
        "  – by hand    why: a cell of its own, which a person marks",
        "  Whether these are right, you learn when you are graded.",
        '  There is practice("fall") for other numbers.',
    ]
    (shown,) = cells['your_numbers("fall")']
    assert shown.data["text/latex"].startswith(r"$$\begin{gathered} h = ")
    (printed,) = cells['check("mean_speeds")']
    assert printed.data["text/plain"].splitlines() == [
        "mean_speeds: A drive",
        "  ✓ passed     A steady drive has the same speed all the way.",
        "  Grading also runs 2 hidden checks: passing here is not yet the mark.",
        '  There is practice("mean_speeds") for other inputs.',
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_mistake_is_shown_with_the_line_of_the_cell(executed):
    wrong = SPEEDS.replace("np.diff(t)", "t")
    cells = executed(fall=FALL.replace("speed,", "x,"), mean_speeds=wrong)
    (printed,) = cells['check("fall")']
    assert "`speed` is not defined yet: run its cell first" in printed.data["text/plain"]
    (printed,) = cells['check("mean_speeds")']
    assert "ValueError: operands" in printed.data["text/plain"]
    assert "in line 4 of the cell: return np.diff(x) / t" in printed.data["text/plain"]
