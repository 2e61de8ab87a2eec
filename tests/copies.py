"""Copies of the course on attention, for tests that change something or hand something in."""

import pytest

from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.delivery.department.demo import copy_course

from .loaded import ROOT


@pytest.fixture
def course(tmp_path):
    """A copy of the course with nothing handed in, where a hang is stopped after a second."""
    return copied(tmp_path / "course")


def copied(folder):
    """Copy the course as it stands to a folder."""
    root = copy_course(ROOT, folder).root
    config = root / "course_config.py"
    usual = '"cell_seconds": 10.0, "call_seconds": 5.0'
    assert usual in config.read_text()
    short = usual.replace("10.0", "1.0").replace("5.0", "1.0")
    config.write_text(config.read_text().replace(usual, short))
    # The same in every run; one that draws inputs by which every known mistake is told.
    (root / SECRET).write_text("s1")
    return Course.load(root)
