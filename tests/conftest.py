"""Fixtures that several folders of tests share."""

import os
import random
import re
import shutil
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from autograder.algebra.building import chance
from autograder.sandbox import probe
from autograder.sandbox.threads import one_thread

from . import postgres
from .courses import copied
from .proved import Proved

collect_ignore = ["sample_course"]

# A busy machine draws examples slowly; that is no fault of a test. The examples are the same in
# every run, so that what fails is what was changed; `--hypothesis-profile=explore` draws new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("explore"), derandomize=True)
settings.load_profile("same")
# Nor do they depend on the modules that other tests have loaded: constants are taken of none.
providers.is_local_module_file = lambda _: False


def pytest_addoption(parser):
    """Let `make test` leave out what can't have changed."""
    text = "leave out what has passed before, where nothing that it depends on has changed"
    parser.addoption("--changed", action="store_true", help=text)


def pytest_configure(config):
    """Remember what passes; the processes that share the tests take a thread each."""
    os.environ.update(one_thread())
    config.pluginmanager.register(Proved(config))


def pytest_collection_modifyitems(items):
    """Skip what this machine can't run, with the reason; in CI that is a failure instead."""
    isolation = probe()
    if not isolation.isolates and not os.environ.get("AUTOGRADER_REQUIRE_SANDBOX"):
        skip = pytest.mark.skip(reason="no isolation here: `autograder doctor` says why")
        for item in items:
            if "sandbox" in item.keywords:
                item.add_marker(skip)
    if not shutil.which("chromium") and not os.environ.get("AUTOGRADER_REQUIRE_BROWSER"):
        skip = pytest.mark.skip(reason="not installed: chromium")
        for item in items:
            if "browser" in item.keywords:
                item.add_marker(skip)
    if not postgres.program("initdb") and not os.environ.get("AUTOGRADER_REQUIRE_POSTGRES"):
        skip = pytest.mark.skip(reason="not installed: postgresql")
        for item in items:
            if "postgres" in item.keywords:
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter):
    """Say in one line what was left out, and with which packages it would run."""
    reasons = (str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    found = (re.search(r"not installed: ([\w, -]+)|could not import '(\w+)'", r) for r in reasons)
    wanted = Counter(match[1] or match[2] for match in found if match)
    if wanted:
        told = ", ".join(f"{count} without {name}" for name, count in wanted.most_common())
        terminalreporter.write_line(f"left out, and would run where it is installed: {told}")


@pytest.fixture(autouse=True)
def same_points(monkeypatch):
    """Compare formulas at the same points in every run; bench/ varies them."""
    monkeypatch.setattr(chance, "SALT", bytes(32))
    monkeypatch.setattr(chance, "draw", random.Random(1))
    monkeypatch.setattr(chance, "arrays", np.random.default_rng(1))


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """The folder of a sample course that is generated and registered: made once, since that takes
    seconds, and copied by whoever changes anything."""
    # Brings nbgrader, which not every test needs.
    from autograder.delivery.department.releasing import generate

    course = copied(tmp_path_factory.mktemp("sample") / "course")
    generate(course, course.ids())
    return course.root


@pytest.fixture
def course(tmp_path, generated):
    """A sample course with nothing handed in, where a hang is stopped after two seconds."""
    return copied(tmp_path / "course", generated)


@pytest.fixture(scope="module")
def shared_course(tmp_path_factory, generated):
    """Another one, for all tests of a module."""
    return copied(tmp_path_factory.mktemp("shared") / "course", generated)
