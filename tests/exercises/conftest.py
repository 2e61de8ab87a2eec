"""Tests of one assignment go to one process: what it has worked out of the variants, it keeps.

And who has changed nothing that such a test depends on need not wait for it again: what passed is
skipped until then. ``AUTOGRADER_PROVE_ALL=1`` runs all, as `.ci/run` does.
"""

import hashlib
import os
import re
from functools import cache
from pathlib import Path

import pytest

from autograder.course.keys import files_of

from ..loaded import COURSE, ROOT

HERE = Path(__file__).parent
ALL = bool(os.environ.get("AUTOGRADER_PROVE_ALL"))
SKIP = pytest.mark.skip(reason="passed before, and nothing that it depends on has changed")
STATE = pytest.StashKey[str]()
#: The assignment of every exercise.
ASSIGNMENTS = {path.stem: path.parent.name for path in ROOT.glob("reference/a*/*.py")}


def pytest_collection_modifyitems(items, config):
    for item in items:
        if HERE in item.path.parents and (assignment := of(item)):
            item.add_marker(pytest.mark.xdist_group(f"exercises of {assignment}"))
            item.stash[STATE] = state(assignment)
            if not ALL and remembered(item) == item.stash[STATE]:
                item.add_marker(SKIP)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if STATE in item.stash and report.when == "call" and hasattr(item.config, "cache"):
        item.config.cache.set(place(item), item.stash[STATE] if report.passed else "")
    return report


def of(item):
    """The assignment of a test: its file has the name, or it is given it, or an exercise of it."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [item.path.name.removeprefix("test_"), *(v for v in given if type(v) is str)]
    places = (ASSIGNMENTS.get(name, name) for name in names)
    return next((place[:3] for place in places if re.match(r"a\d\d_", place)), "")


@cache
def state(assignment):
    """A hash of all that the tests of an assignment depend on."""
    (id,) = (id for id in COURSE.ids() if id.startswith(assignment))
    files = files_of(COURSE, id) + sorted((ROOT / "assignments" / id).rglob("*.*"))
    digests = (hashlib.sha256(path.read_bytes()).digest() for path in files if path.is_file())
    return hashlib.sha256(b"".join([everywhere(), *digests])).hexdigest()


@cache
def everywhere():
    """The same of what the tests of all assignments depend on: the engine, tests and figures."""
    files = [path for folder in ("autograder", "bench") for path in (ROOT / folder).rglob("*.*")]
    files += [*HERE.glob("*.py"), *HERE.parent.glob("*.py"), ROOT / "course_config.py"]
    files += [ROOT / "constraints.txt", ROOT / "pyproject.toml"]
    kept = sorted(p for p in files if p.is_file() and p.suffix != ".pyc")
    return hashlib.sha256(b"".join(path.read_bytes() for path in kept)).digest()


def remembered(item):
    """The state in which a test passed."""
    return item.config.cache.get(place(item), "") if hasattr(item.config, "cache") else ""


def place(item):
    return f"passed/{hashlib.sha256(item.nodeid.encode()).hexdigest()[:24]}"
