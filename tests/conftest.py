"""Fixtures that several folders of tests share."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.sandbox import probe

ROOT = Path(__file__).resolve().parents[1]


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
    """A copy of the course, with nothing handed in."""
    from autograder.delivery.demo import copy_course

    return copy_course(ROOT, tmp_path / "course")
