"""Is what stands in release/ what its assignment would generate now?  Seen without loading that.

Known by a hash of all that its files were made from: whoever changes one exercise has the other
assignments looked at, and no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from typing import NamedTuple

from autograder.course.config import CONFIG, Course
from autograder.course.digests import engine_digest, hash_file, hash_of, libraries_digest
from autograder.course.discover import Assignment
from autograder.course.release.datafiles import data_files
from autograder.course.release.kept import add, modules, read
from autograder.course.secret import FILE as SECRET

_KEPT = "released"
#: What writes notebooks beside the engine.
_WRITING = ("nbformat", "nbgrader", "jupytext", "jsonschema")


class Sources(NamedTuple):
    """What a release is made from: a hash of all of it, and the references among it."""

    key: str
    references: list[str]


class Made(NamedTuple):
    """What an assignment generates: files by name, and what is said of it to authors."""

    files: dict[str, bytes]
    said: list[str]
    sources: Sources


def standing(course: Course, id: str, held: bool) -> Made | None:
    """Return what stands in release/, if it is what this assignment would generate.

    Parameters
    ----------
    held
        Was it held to what may be guessed?
    """
    key, known = read(course, id).get(_KEPT, ("", None))
    if key != computing():  # by another engine it may have another form
        return None
    made_from = Sources(known["key"], known["references"])
    if not unchanged(course, id, made_from, str(held)):
        return None
    files = _released(course, id, known["files"])
    if _digests(files) != known["files"]:
        return None
    return Made(files, known["said"], made_from)


def sources(assignment: Assignment, also: str) -> Sources:
    """Return what a release, or a proof, is made from; at best before it is made.

    Parameters
    ----------
    also
        What else it depends on.
    """
    course, id = assignment.course, assignment.id
    loaded = modules(assignment, assignment.sound.values())
    references = sorted(path.relative_to(course.root).as_posix() for path in loaded)
    return Sources(_hash(course, id, also, references), references)


def unchanged(course: Course, id: str, made_from: Sources, also: str) -> bool:
    """Tell whether an assignment is still what something was made from."""
    return made_from.key == _hash(course, id, also, made_from.references)


def remember(course: Course, id: str, made: Made) -> None:
    """Keep that what stands in release/ now is what was made."""
    known = {
        **made.sources._asdict(),
        "files": _digests(_released(course, id, made.files)),
        "said": made.said,
    }
    add(course, id, {_KEPT: (computing(), known)})


def _released(course: Course, id: str, names: Iterable[str]) -> dict[str, bytes]:
    folder = course.folder("release") / id
    return {name: path.read_bytes() for name in names if (path := folder / name).is_file()}


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _hash(course: Course, id: str, also: str, references: Iterable[str]) -> str:
    """Hash what authors write of a release: its text, references, data, and settings."""
    root = course.root
    files = {root / CONFIG, *(root / reference for reference in references), *data_files(course)}
    files |= {*(root / "reference").glob("*.py"), *(root / "reference" / id).glob("*.py")}
    files |= {path for path in (root / "assignments" / id).rglob("*") if path.is_file()}
    if course.look is not None:
        files.add(root / SECRET)
    named = [
        part
        for path in sorted(files)
        for part in (path.relative_to(root).as_posix().encode(), hash_file(path))
    ]
    return hash_of([repr(course).encode(), also.encode(), *named]).hex()


@cache
def computing() -> str:
    """Hash the engine as it was when this process began, and the libraries."""
    versions = (f"{name} {metadata.version(name)}".encode() for name in _WRITING)
    return hash_of([engine_digest(), libraries_digest(), *versions]).hex()
