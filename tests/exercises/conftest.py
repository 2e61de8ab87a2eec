"""Tests of one assignment go to one process: what it has worked out of the variants, it keeps."""

from pathlib import Path

import pytest

from ..dependencies import assignment_of

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents and (assignment := assignment_of(item)):
            item.add_marker(pytest.mark.xdist_group(f"exercises of {assignment}"))
