"""Copies of the course on attention, for tests that change something or hand something in."""

import shutil

import pytest

from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.delivery.department.demo import copy_course

from . import dependencies
from .loaded import ROOT


@pytest.fixture
def course(tmp_path):
    """A copy of the course with nothing handed in, where a hang is stopped after a second."""
    return copied(tmp_path / "course")


def copied(folder):
    """Copy the course as it stands to a folder."""
    return _for_tests(copy_course(ROOT, folder).root)


def copied_for(folder, assignment):
    """Copy what one assignment needs of the course, and no more, to a folder."""
    for path in [*dependencies.course(assignment[:3]), ROOT / dependencies.SETTINGS]:
        to = folder / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    known = {path.stem for path in (folder / "reference").glob("*/*.py")}
    with (folder / "course_config.py").open("a") as config:
        config.write(
            "own = c.Course.exercise_limits.items()\n"
            f"c.Course.exercise_limits = {{id: own for id, own in own if id in {known}}}\n"
        )
    return _for_tests(folder)


def _for_tests(root):
    config = root / "course_config.py"
    usual = '"cell_seconds": 10.0, "call_seconds": 5.0'
    assert usual in config.read_text()
    short = usual.replace("10.0", "1.0").replace("5.0", "1.0")
    config.write_text(config.read_text().replace(usual, short))
    # The same in every run; one that draws inputs by which every known mistake is told.
    (root / SECRET).write_text("s1")
    return Course.load(root)
