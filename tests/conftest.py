"""Fixtures that several folders of tests share."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from autograder.sandbox import probe

ROOT = Path(__file__).resolve().parents[1]

# A busy machine draws examples slowly; that is no fault of a test.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_collection_modifyitems(items):
    """Skip what this machine can't run, with the reason; in CI that is a failure instead."""
    isolation = probe()
    if isolation.tier == "C" and not os.environ.get("AUTOGRADER_REQUIRE_SANDBOX"):
        skip = pytest.mark.skip(reason="no isolation here: `autograder doctor` says why")
        for item in items:
            if "sandbox" in item.keywords:
                item.add_marker(skip)
    if not shutil.which("chromium") and not os.environ.get("AUTOGRADER_REQUIRE_BROWSER"):
        skip = pytest.mark.skip(reason="chromium is not installed")
        for item in items:
            if "browser" in item.keywords:
                item.add_marker(skip)


@pytest.fixture
def course(tmp_path):
    """A copy of the course with nothing handed in, where a hang is stopped after two seconds."""
    return copied(tmp_path / "course")


@pytest.fixture(scope="module")
def shared_course(tmp_path_factory):
    """Another one, for all tests of a module."""
    return copied(tmp_path_factory.mktemp("shared") / "course")


def copied(folder):
    """Copy the course as it stands to a folder."""
    from autograder.course.config import Course
    from autograder.delivery.demo import copy_course

    root = copy_course(ROOT, folder).root
    config = root / "course_config.py"
    usual = '"cell_seconds": 10.0, "call_seconds": 5.0'
    assert usual in config.read_text()
    short = usual.replace("10.0", "2.0").replace("5.0", "2.0")
    config.write_text(config.read_text().replace(usual, short))
    # The same in every run; one that draws inputs by which every known mistake is told.
    (root / "grading_secret.txt").write_text("s1")
    return Course.load(root)
