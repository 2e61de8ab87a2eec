"""Tests of one assignment go to one process: what it has worked out of the variants, it keeps."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            given = item.callspec.params.values() if hasattr(item, "callspec") else ()
            places = [item.path.name.removeprefix("test_"), *(v for v in given if type(v) is str)]
            if found := [place[:3] for place in places if re.match(r"a\d\d_", place)]:
                item.add_marker(pytest.mark.xdist_group(f"exercises of {found[0]}"))
