"""What a group of tests depends on: the files that can change it, the versions, and the machine.

The files are those of its tests and what these import of other tests, the layers of the engine that
these know with all below (all of them, where programs are started), what they read of the course,
and what they name of the other files here.
"""

import ast
import contextlib
import hashlib
import inspect
import locale
import os
import platform
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from autograder.course.digests import hash_file
from autograder.sandbox import probe

from .postgres import program as located

HERE = Path(__file__).parent
ROOT = HERE.parent
RECORD = HERE / "proved.json"
#: Rooms, or files in others, of tests that depend on files alone, and where they need a sandbox on
#: the machine's as well.
ROOMS = ("algebra/", "exercises/", "grading/", "kinds/", "release/", "docs/test_site.py")
#: Of tests that depend on the kind of machine, too.  `sandbox/`, `hostile/` and `timing/` are in
#: neither: they show what this very machine does, and always run.
ROOMS_HERE = ("browser/", "course/", "delivery/", "docs/test_docs.py", "end_to_end/")
OF_THE_COURSE = ("exercises/", "end_to_end/", "docs/")
#: What any course has, whatever it is about.
SETTINGS = "nbgrader_config.py"
#: Tests of a page's commands; and those that start whatever the engine has.
PAGES = "docs/test_docs.py"
WHOLE = ("docs/", "end_to_end/")
#: What a marker says that a test starts.
PROGRAMS = {"browser": "chromium", "postgres": "initdb"}
#: What tests may read, where they name it.
READ = {name: ROOT / name for name in ("autograder", "bench", "docs", "tests")}
READ |= {name: HERE / name for name in ("platforms", "sample_course")}
#: What is no part of the project, though it lies in its folder; what is installed is in `versions`.
_CACHES = {"__pycache__", ".hypothesis", ".pytest_cache", ".mypy_cache", "records"}
_NOT_OURS = {".venv", ".git", *_CACHES}


@dataclass(frozen=True)
class Group:
    """Tests that are left out together; what they depend on, and how many there are."""

    name: str
    machine: str
    key: str
    size: int
    files: frozenset[Path]

    @classmethod
    def of(cls, name, items):
        files = files_of(name, items)
        ids = sorted(f"{item.parent.nodeid}::{item.name}" for item in items)
        facts = _of_texts([*ids, *programs(items), *processor(name)])
        key = _hash([facts, versions(), *sorted(map(_of_file, files))]).hex()[:20]
        return cls(name, machine_of(name, items), key, len(items), files)

    def unknown(self, opened):
        """Of files that were opened, those of the project that are no part of the key."""
        others = {path.resolve() for path in opened if path not in self.files}
        ours = {p for p in others if p.is_relative_to(ROOT) and p.is_file() and is_ours(p)}
        if ours:  # what is a link in one place lies in another
            ours -= {path.resolve() for path in self.files}
        return sorted(str(path.relative_to(ROOT)) for path in ours)


def opened_files():
    """A set that from now on gets every file in this project's folder that this process opens.

    But for those that are hashed: with another hash something is computed anew, and not otherwise.
    """
    found = set()

    def hook(event, values):
        if event == "open" and isinstance(values[0], (str, os.PathLike)):
            caller = sys._getframe(1).f_back  # of what opens a path
            if caller and caller.f_code is hash_file.__code__:
                return
            with contextlib.suppress(OSError):  # a folder that is gone is nobody's
                path = Path.cwd() / values[0]
                if path.is_relative_to(ROOT):
                    found.add(path)

    sys.addaudithook(hook)
    return found


def group_of(item):
    """The name of a test's group; empty for a test that always runs."""
    if HERE not in item.path.parents:
        return ""
    path = item.path.relative_to(HERE).as_posix()
    if not path.startswith(ROOMS + ROOMS_HERE) or (path == PAGES and not page_of(item)):
        return ""
    return f"{path} {assignment_of(item) or page_of(item)}".strip()


def assignment_of(item):
    """The assignment of a test: its file has the name, or it is given it, or an exercise of it."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [item.path.name.removeprefix("test_"), *(v for v in given if type(v) is str)]
    places = (exercises().get(name, name) for name in names)
    return next((place[:3] for place in places if re.match(r"a\d\d_", place)), "")


def page_of(item):
    """The page whose commands a test runs."""
    page = item.callspec.params.get("page") if hasattr(item, "callspec") else None
    return page.relative_to(ROOT).as_posix() if isinstance(page, Path) else ""


@cache
def exercises():
    """The assignment of every exercise."""
    return {path.stem: path.parent.name for path in ROOT.glob("reference/a*/*.py")}


def files_of(name, items):
    """The files that can change what comes of a group."""
    path = items[0].path
    infos = [item._fixtureinfo.name2fixturedefs.values() for item in items]
    fixtures = {each.func for found in infos for fixtures in found for each in fixtures}
    own = needed(
        path, path.with_name("conftest.py"), *{f for each in fixtures for f in behind(each)}
    )
    # What is named above is what any test may read, and not what those do that import this.
    texts = [file.read_text("utf-8") for file in own if file != Path(__file__)]
    text = "\n".join([*texts, *map(inspect.getsource, fixtures)])
    helpers = {file for file in HERE.glob("*.py") if not file.name.startswith("test_")}
    found = {*own, *helpers, *ROOT.glob(SETTINGS)}
    if page := page_of(items[0]):
        found.add(ROOT / page)
    else:
        named = (folder for word, folder in READ.items() if re.search(rf'"{word}["/]', text))
        found.update(*map(all_of, named))
    found |= engine("autograder.cli" if name.startswith(WHOLE) else text)
    if name.startswith("docs/test_site.py"):  # it shows everything
        found.update(*(all_of(ROOT / each) for each in ("autograder", "bench", "docs")))
        found |= {*ROOT.glob("*.md"), ROOT / "Makefile"}
    if name.startswith(OF_THE_COURSE):
        about_one = re.match(r"test_a\d\d_", path.name)
        others = re.findall(r"\ba\d\d(?=_)", path.read_text("utf-8")) if about_one else []
        found.update(*map(course, {assignment_of(items[0]), *others}))
    return frozenset(found - {RECORD})


def needed(*paths):
    """Files of tests, with what they import of the others."""
    found = [path for path in paths if path.exists()]
    for one in found:
        found += {other for _, other in imported(one) if other not in found}
    return found


def behind(fixture):
    """Other files of tests, of which a fixture uses what its own file imports."""
    path, source = Path(inspect.getsourcefile(fixture)), inspect.getsource(fixture)
    names = imported(path) if HERE in path.parents else []
    return [other for name, other in names if re.search(rf"\b{name}\b", source)]


@cache
def imported(path):
    """What a file imports of other files of tests: each name there, and the file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else ROOT
            base = base.joinpath(*(node.module or "").split("."))
            for each in node.names:
                files = (one.with_suffix(".py") for one in (base, base / each.name))
                known = (one for one in files if HERE in one.parents and one.exists())
                found += [(each.asname or each.name, one) for one in known]
    return found


def engine(text):
    """The highest layer of the engine that a text names, and those below."""
    named = (number for number, layer in enumerate(layers()) if f"autograder.{layer}" in text)
    return below(layers()[next(named, -1)])


@cache
def below(layer):
    """What a layer of the engine is made of, and those below."""
    folder = ROOT / "autograder"
    own = (all_of(folder / each) for each in layers()[layers().index(layer) :])
    return set(folder.glob("*.py")).union(*own)


@cache
def layers():
    """The layers from top to bottom; imports run only downwards."""
    return settings()["importlinter"]["contracts"][0]["layers"]


@cache
def settings():
    """What pyproject.toml tells the tools."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]


@cache
def course(assignment):
    """What an assignment is made of; all, where none is named."""
    from autograder.course.config import Course  # tests of the engine need none of it
    from autograder.course.submissions.keys import files_of

    loaded = Course.load(ROOT)
    ids = [id for id in loaded.ids() if id.startswith(assignment)]
    files = {path for id in ids for path in files_of(loaded, id)}
    files |= {path for id in ids for path in all_of(ROOT / "assignments" / id)}
    files |= {*ROOT.glob("assignments/*/data/*")}  # a reference may use another assignment's
    files.add(ROOT / "course_config.py")
    return {path for path in files if path.is_file()}


@cache
def all_of(folder):
    """All files of a folder."""
    return {path for path in folder.rglob("*") if is_ours(path) and path.is_file()}


def is_ours(path):
    """Tell whether a file in the project's folder is part of the project."""
    return _NOT_OURS.isdisjoint(path.relative_to(ROOT).parts)


@cache
def versions():
    """A hash of the versions of Python and of what is pinned, and of how pytest is set.

    The processor is no part of it: bench/processors.py shows that it changes nothing.
    """
    text = (ROOT / "constraints.txt").read_text("utf-8")
    pinned = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
    found = [f"{name} {installed(name)}" for name in pinned]
    set_so = settings()["pytest"]
    return _of_texts([*found, *sys.version_info[:2], platform.machine(), set_so])


def installed(name):
    """Which version of a package is here; nothing where there is none."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return ""


def machine_of(name, items):
    """The kind of machine, in words, for tests to which it is not all the same."""
    here = name.startswith(ROOMS_HERE)
    if not here and not any(item.get_closest_marker("sandbox") for item in items):
        return ""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    language = re.split(r"[_.@]", next(filter(None, names), ""))[0]
    facts = [
        f"tier {probe().tier}",
        "an ordinary user" if os.geteuid() else "root",
        "en" if language in ("", "C", "POSIX") else language,
        locale.getpreferredencoding().lower(),
        "/".join(time.tzname),
    ]
    return ", ".join(facts)


def programs(items):
    """What the programs that tests need say of their versions."""
    markers = {marker.name for item in items for marker in item.iter_markers()}
    return [version_of(PROGRAMS[marker]) for marker in sorted(markers & PROGRAMS.keys())]


@cache
def version_of(program):
    """What a program says of its version; nothing where it is not installed."""
    path = located(program)
    done = path and subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return done.stdout if done else ""


def processor(name):
    """What one machine can stand for other processors by, for the tests that have it do so."""
    info = Path("/proc/cpuinfo")
    if name != "end_to_end/test_processors.py" or not info.exists():
        return []
    return re.findall(r"^flags.*$", info.read_text("utf-8"), re.MULTILINE)[:1]


def _of_texts(values):
    return _hash(str(value).encode() for value in values)


@cache
def _of_file(path):
    return _hash([path.relative_to(ROOT).as_posix().encode(), path.read_bytes()])


def _hash(parts):
    return hashlib.sha256(b"\0".join(parts)).digest()
