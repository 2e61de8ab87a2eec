"""What has passed and can't have changed is not run again: ``pytest --changed``, in `make test`.

Tests of some rooms say the same wherever they run: nothing but files decides.  A group of them
(those of one file and, where a file is about all assignments, of one assignment) is left out if all
of it has passed, and its key is the same since: a hash of all that these tests depend on.  That are
their names, their files and the helpers that those import, the layers of the engine that these know
with all below, what they read of the course, the versions of Python and of what constraints.txt
pins; and where submissions are graded, the isolation and whose machine it is.

What has passed here is in pytest's cache.  ``proved.json`` is committed: a whole run that leaves
nothing out writes it (``AUTOGRADER_PROVE_ALL=1``, as in `.ci/run`).  So a fresh clone, too, has to
run no more than what was changed since, and what depends on the machine.
"""

import ast
import hashlib
import inspect
import json
import os
import platform
import re
import sys
import time
import tomllib
from collections import defaultdict
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from autograder.sandbox import probe

HERE = Path(__file__).parent
ROOT = HERE.parent
RECORD = HERE / "proved.json"
ALL = bool(os.environ.get("AUTOGRADER_PROVE_ALL"))
#: Rooms, or files in others, of tests that depend on files alone.
ROOMS = ("algebra/", "exercises/", "kinds/", "release/", "docs/test_site.py")
#: The same, and how student code is isolated, and for whom, in which language and time zone.
ROOMS_HERE = ("end_to_end/test_class.py", "end_to_end/test_platforms.py")
OF_THE_COURSE = ("exercises/", "end_to_end/", "docs/")
#: What tests may read, where they name it.
READ = {name: ROOT / name for name in ("bench", "docs", "tests")}
READ["sample_course"] = HERE / "sample_course"
GROUP = pytest.StashKey[tuple[str, str, int]]()
_PHASES = ("setup", "call", "teardown")
_CACHE = "proved"


class Proved:
    """Leaves groups of tests out, and remembers which have passed."""

    def __init__(self, config):
        self._cache = getattr(config, "cache", None)
        self._groups = {}  # by name, the key and the number of tests
        self._passed = defaultdict(int)
        self._left_out = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        groups = defaultdict(list)
        for item in items:
            if name := group_of(item):
                groups[name].append(item)
        known = [committed(), self._here()] if config.getoption("--changed") and not ALL else []
        left_out = set()
        for name, own in groups.items():
            key = key_of(name, own)
            if any(each.get(name) == key for each in known):
                left_out.update(own)
            for item in own:
                item.stash[GROUP] = name, key, len(own)
        if left_out:
            items[:] = [item for item in items if item not in left_out]
            config.hook.pytest_deselected(items=list(left_out))
        self._left_out = len(left_out)

    def _here(self):
        return self._cache.get(_CACHE, {}) if self._cache else {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        report.proves = item.stash.get(GROUP, None)  # goes with it to the process that counts
        return report

    def pytest_runtest_logreport(self, report):
        if proves := getattr(report, "proves", None):  # a process that has crashed tells nothing
            name, *self._groups[name] = proves
            self._passed[name] += report.passed  # what fails in any phase, or is skipped, is not

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self._left_out = getattr(node, "workeroutput", {}).get(_CACHE, 0)

    def pytest_sessionfinish(self, session, exitstatus):
        config = session.config
        if hasattr(config, "workeroutput"):
            config.workeroutput[_CACHE] = self._left_out
            return
        found = {
            name: key
            for name, (key, size) in sorted(self._groups.items())
            if self._passed[name] == size * len(_PHASES)
        }
        if self._cache:
            self._cache.set(_CACHE, self._here() | found)
        some = config.option.keyword or config.option.markexpr
        whole = config.args_source is config.ArgsSource.TESTPATHS and not some
        if ALL and whole and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            RECORD.write_text(json.dumps(found, indent=0) + "\n", "utf-8")

    def pytest_terminal_summary(self, terminalreporter):
        if self._left_out:
            terminalreporter.write_line(
                f"left out, since they have passed and nothing that they depend on has changed: "
                f"{self._left_out:,} tests (all run with AUTOGRADER_PROVE_ALL=1)"
            )


def committed():
    """What has passed in the last whole run: groups by name, with their keys."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def group_of(item):
    """The name of a test's group; empty for a test that may depend on more than files."""
    if HERE not in item.path.parents:
        return ""
    path = item.path.relative_to(HERE).as_posix()
    return f"{path} {assignment_of(item)}".strip() if path.startswith(ROOMS + ROOMS_HERE) else ""


def assignment_of(item):
    """The assignment of a test: its file has the name, or it is given it, or an exercise of it."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [item.path.name.removeprefix("test_"), *(v for v in given if type(v) is str)]
    places = (exercises().get(name, name) for name in names)
    return next((place[:3] for place in places if re.match(r"a\d\d_", place)), "")


@cache
def exercises():
    """The assignment of every exercise."""
    return {path.stem: path.parent.name for path in ROOT.glob("reference/a*/*.py")}


def key_of(name, items):
    """A hash of the tests of a group, and of all that they depend on."""
    path = items[0].path
    files = needed(path)
    infos = [item._fixtureinfo.name2fixturedefs.values() for item in items]
    fixtures = {each.func for found in infos for fixtures in found for each in fixtures}
    # What is named below is what any test may read, and not what those do that import this.
    texts = [file.read_text("utf-8") for file in files if file != Path(__file__)]
    text = "\n".join([*texts, *map(inspect.getsource, fixtures)])
    hashes = [versions(), engine(text), of_files([*files, *HERE.glob("*.py")])]
    hashes += [all_of(folder) for word, folder in READ.items() if f'"{word}"' in text]
    if name.startswith(ROOMS_HERE) or any(item.get_closest_marker("sandbox") for item in items):
        hashes.append(machine())
    if name.startswith("docs/"):  # the site shows everything
        hashes += [all_of(ROOT / each) for each in ("autograder", "bench", "docs")]
        hashes.append(of_files([*ROOT.glob("*.md"), ROOT / "Makefile"]))
    if name.startswith(OF_THE_COURSE):
        about_one = re.match(r"test_a\d\d_", path.name)
        others = re.findall(r"\ba\d\d(?=_)", path.read_text("utf-8")) if about_one else []
        hashes += map(course, sorted({name.partition(" ")[2], *others}))
    ids = sorted(f"{item.parent.nodeid}::{item.name}".encode() for item in items)
    return _hash([*ids, *hashes]).hex()[:20]


def needed(path):
    """A file of tests and the one that its folder shares, with what they import of the others."""
    found = [one for one in (path, path.with_name("conftest.py")) if one.exists()]
    for one in found:
        found += [other for other in imported(one) if other not in found]
    return found


@cache
def imported(path):
    """Other files of tests that one imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else ROOT
            base = base.joinpath(*(node.module or "").split("."))
            files = [one.with_suffix(".py") for one in (base, *(base / n.name for n in node.names))]
            found += [one for one in files if HERE in one.parents and one.exists()]
    return found


def engine(text):
    """A hash of the highest layer of the engine that a text names, and of those below."""
    named = (number for number, layer in enumerate(layers()) if f"autograder.{layer}" in text)
    return b"".join(all_of(ROOT / "autograder" / each) for each in layers()[next(named, -1) :])


@cache
def layers():
    """The layers from top to bottom; imports run only downwards."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return settings["tool"]["importlinter"]["contracts"][0]["layers"]


@cache
def course(assignment):
    """A hash of what an assignment is made of; of all, where none is named."""
    from autograder.course.config import Course  # tests of the engine need none of it
    from autograder.course.keys import files_of

    loaded = Course.load(ROOT)
    ids = [id for id in loaded.ids() if id.startswith(assignment)]
    files = {path for id in ids for path in files_of(loaded, id)}
    files |= {path for id in ids for path in (ROOT / "assignments" / id).rglob("*")}
    return of_files([ROOT / "course_config.py", *files])


@cache
def all_of(folder):
    """A hash of all files of a folder."""
    return of_files(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


@cache
def versions():
    """A hash of the versions of Python and of what is pinned.

    The processor is no part of it: bench/processors.py shows that it changes nothing.
    """
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    own = {one.name: one.version.partition("+")[0] for one in metadata.distributions()}
    found = sorted(f"{name}=={version}" for name, version in own.items() if name in pinned)
    return _of_texts([*found, *sys.version_info[:2], platform.machine()])


@cache
def machine():
    """A hash of what else the grading of a class may meet."""
    settings = [os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    return _of_texts([probe().tier, os.geteuid() == 0, *settings, *time.tzname])


def _of_texts(values):
    return _hash(str(value).encode() for value in values)


def of_files(paths):
    """A hash of what is in files."""
    found = sorted(path for path in {*paths} if path.is_file() and path != RECORD)
    return _hash(hashlib.sha256(path.read_bytes()).digest() for path in found)


def _hash(parts):
    return hashlib.sha256(b"\0".join(parts)).digest()
