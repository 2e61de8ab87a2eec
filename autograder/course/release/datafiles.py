"""The data files of an assignment, which stand beside the notebook: are they as released?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course.config import Course

MOST = 8 << 20  # bytes of an assignment's files together
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\.[A-Za-z0-9]+")
_OURS = re.compile(r".*\.(?:ipynb|pyc?)|check\.json")
_ARRAYS = (".npz", ".npy")


def folder_of(course: Course, assignment: str) -> Path:
    """Return where an assignment's authors put its data files."""
    return course.root / "assignments" / assignment / "data"


def data_files(course: Course) -> set[Path]:
    """Return the data files of all assignments: a reference may read those of another one."""
    return {*(course.root / "assignments").glob("*/data/*")}


def written(course: Course, assignment: str) -> dict[str, bytes]:
    """Return the data files of an assignment by name, as its authors have them."""
    paths = sorted(folder_of(course, assignment).glob("[!._]*"))
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return by what files of data are known, by name."""
    return {name: _digest(content) for name, content in sorted(files.items())}


def data_problems(course: Course, assignment: str) -> dict[str, list[str]]:
    """Return what keeps each data file from being released, in sentences."""
    folder = folder_of(course, assignment)
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("[!._]*")):
        found[path.name] = [f"assignments/{assignment}/data/{path.name} {s}" for s in _wrong(path)]
    if found and (size := sum(map(len, written(course, assignment).values()))) > MOST:
        found[max(found, key=lambda name: (folder / name).stat().st_size)].append(
            f"assignments/{assignment}/data/ holds {size / 2**20:.1f} MiB, and every student gets "
            f"it: keep it below {MOST >> 20} MiB"
        )
    return found


def _wrong(path: Path) -> list[str]:
    if path.is_symlink() or not path.is_file():
        return ["is no ordinary file: files stand beside the notebook, without folders or links"]
    if not _NAME.fullmatch(path.name):
        return ["has no plain name: letters, digits, _, - and an ending, such as words.txt"]
    if _OURS.fullmatch(path.name):
        return ["is no data: code goes into cells, and check.json is written by `generate`"]
    if path.suffix in _ARRAYS:
        try:
            loaded: Any = np.load(path, allow_pickle=False)
            for name in getattr(loaded, "files", ()):
                loaded[name]  # reads it
        except Exception as error:  # numpy's, of many kinds
            return [f"holds no plain arrays ({error}): write it with numpy.savez"]
    return []


def altered(
    course: Course, assignment: str, released: Mapping[str, str], files: Mapping[str, bytes]
) -> list[str]:
    """Say which data files are not as they were released.

    Parameters
    ----------
    released
        The digests in check.json, by name.
    files
        What stands in release/ by these names.
    """
    again = f"run `autograder generate {assignment}`"
    found = []
    for name, digest in released.items():
        if name not in files:
            found.append(f"release/{assignment}/{name} is missing: {again}")
        elif _digest(files[name]) != digest:
            found.append(f"release/{assignment}/{name} is not the file that was released: {again}")
    if folder_of(course, assignment).is_dir():
        now = digests(written(course, assignment))
        found += [
            f"assignments/{assignment}/data/{name} is not what was released: {again}"
            for name in sorted({*now, *released})
            if now.get(name) != released.get(name)
        ]
    return found


def other_files(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Say which data files came with a submission and are not those that were released."""
    return [
        f"{name} beside the notebook is not the file that was released; the grade rests on the "
        "released one"
        for name, content in files.items()
        if (folder / name).is_file() and _hash(folder / name) != _digest(content)
    ]


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
