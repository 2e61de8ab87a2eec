"""docs/api.md names what is public, all of it and nothing else; its examples run."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
import tomllib

import pytest

import autograder
from autograder import cli
from autograder.exercise.answers.registry import GROUP

from ..loaded import ROOT

PAGE = ROOT / "docs" / "api.md"
MODULES = [
    "autograder",
    "autograder.exercise",
    "autograder.exercise.properties",
    "autograder.algebra",
]
WORD = re.compile(r"`(\w+)(?:\([^`]*\))?`")


def named(module):
    """Return the names in a module's section: in a table those of its first column."""
    section = PAGE.read_text("utf-8").partition(f"## `{module}`\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    return WORD.findall(" ".join(rows) if rows else section)


@pytest.mark.parametrize("module", MODULES)
def test_the_page_names_what_is_public_and_nothing_else(module):
    found = importlib.import_module(module)
    assert sorted(named(module)) == sorted(found.__all__)
    assert all(hasattr(found, name) for name in found.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_arguments_are_called_as_the_page_says(module):
    found = importlib.import_module(module)
    for name, said in re.findall(r"`(\w+)\(([^`]*)\)`", PAGE.read_text("utf-8")):
        if name in found.__all__:
            known = inspect.signature(getattr(found, name)).parameters
            assert {part.partition("=")[0].strip(" *") for part in said.split(",")} <= {*known, ""}


def test_what_an_own_kind_may_use_is_there():
    pairs = re.findall(r"`(\w+)` of\s+`(autograder[\w.]+)`", PAGE.read_text("utf-8"))
    assert len(pairs) == 4
    for name, module in pairs:
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_the_entry_points_are_those_that_there_are():
    section = PAGE.read_text("utf-8").partition("## Entry points\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE) == ["console_scripts", GROUP]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [*project["scripts"]] == ["autograder"]
    asked = [p for p in (ROOT / "autograder").rglob("*.py") if "entry_points(" in p.read_text()]
    assert [path.name for path in asked] == ["registry.py"]


def test_commands_that_print_json_are_named():
    section = PAGE.read_text("utf-8").partition("With `--json`")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `([\w-]+)", section, re.MULTILINE))
    commands = {c.name or c.callback.__name__: c.callback for c in cli.app.registered_commands}
    assert named == {name for name, run in commands.items() if "json" in run.__annotations__}


def test_the_changelog_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", text, re.MULTILINE)
    assert versions[0] == autograder.__version__
    assert versions == sorted(versions, key=lambda v: [*map(int, v.split("."))], reverse=True)
    assert text.count("\n## [Unreleased]\n") == 1
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == len(versions) + 1


def test_importing_the_package_loads_none_of_it():
    code = "import sys, autograder; print(*(m for m in sys.modules if m.startswith('autograder')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["autograder"]


@pytest.mark.sandbox
def test_the_examples_give_what_they_show(course, monkeypatch):
    monkeypatch.chdir(course.root)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 6)
