"""What a learning platform hands out: a folder or a zip of notebooks, named its own way.

Known layouts, at any depth:

=====================================================  =========================================
``<student>/<a>.ipynb``, ``<student>/<a>/<a>.ipynb``   nbgrader's own
``<student>.ipynb``                                    one assignment at a time
``<a>/<student>.ipynb``                                a folder per assignment
``<student>_<n>_<n>_<a>.ipynb``                        Canvas, ``_LATE_`` and ``-1`` included
``<name>_<n>_assignsubmission_file_/<a>.ipynb``        Moodle; also with the file's name behind
=====================================================  =========================================

``<a> (1).ipynb``, as browsers rename, is ``<a>.ipynb``; any other file name will do where the
notebook's cells tell the assignment.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from autograder.course.config import CourseError
from autograder.course.submissions import MAX_BYTES, STUDENT_ID
from autograder.delivery.database import parsed_time, read_time
from autograder.delivery.people import Person

_CANVAS = re.compile(r"(?P<who>.+?)(?:_LATE)?_\d+_\d+_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<who>.+?)_\d+_assignsubmission_file_?(?P<file>.*)")
_COPY = re.compile(r"( ?\(\d+\)|-\d+)$")  # a browser's, and Canvas's for handing in again
_SKIPPED = re.compile(r"(^|/)(\.|__MACOSX/)")


@dataclass(frozen=True)
class Problem:
    """Something that was not collected, and why."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True)
class File:
    """A notebook in a folder or zip.

    Attributes
    ----------
    path
        Inside the folder or zip, with forward slashes.
    time
        When it was handed in, as far as the file tells (UTC, without a time zone).
    read
        Returns the content; raises ValueError with the reason why it can't be taken.
    """

    path: str
    time: datetime | None
    read: Callable[[], bytes]

    @property
    def order(self) -> tuple[datetime, str]:
        """Later files are greater."""
        return self.time or datetime.min, self.path


@contextmanager
def notebooks_in(source: Path) -> Iterator[tuple[list[File], list[Problem]]]:
    """Open a folder or zip: give its notebooks, and what of it is refused.

    Raises
    ------
    CourseError
        If it is neither.
    """
    if source.is_dir():
        yield _in_folder(source)
        return
    try:
        archive = zipfile.ZipFile(source)
    except (OSError, zipfile.BadZipFile) as error:
        raise CourseError(f"{source} is neither a folder nor a zip file ({error})") from error
    with archive:
        yield _in_zip(archive)


def whose(path: str, known: Mapping[str, Person], assignments: Sequence[str]) -> tuple[str, str]:
    """Return the student that a notebook's path names, and the file's own name.

    Raises
    ------
    ValueError
        If nobody is named, or a name that several students have.

    Examples
    --------
    >>> whose("ada/a01/a01 (1).ipynb", {}, ["a01"])
    ('ada', 'a01')
    >>> whose("Ada Lovelace_7_assignsubmission_file_/a01.ipynb", {}, ["a01"])
    ('ada-lovelace', 'a01')
    """
    *folders, stem = PurePosixPath(path).with_suffix("").parts
    for text in (stem, *reversed(folders)):
        if match := _MOODLE.fullmatch(text) or (text is stem and _CANVAS.fullmatch(text)):
            return _identify(match["who"], known), _own_name(match["file"] or stem, assignments)
    stem = _own_name(stem, assignments)
    people = [folder for folder in folders if folder not in assignments]
    if stem in assignments:
        if not people:
            raise ValueError("neither a folder nor the file's name tells whose it is")
        return _identify(people[-1], known), stem
    if not people or (stem in known and people[-1] not in known):
        return _identify(stem, known), stem
    return _identify(people[-1], known), stem


def _own_name(stem: str, assignments: Sequence[str]) -> str:
    """Undo how browsers and platforms rename a file that is there already."""
    name = stem
    while name not in assignments and _COPY.search(name):
        name = _COPY.sub("", name)
    return name if name in assignments else re.sub(r" ?\(\d+\)$", "", stem)


def _identify(who: str, known: Mapping[str, Person]) -> str:
    """Return the id of a student given by id or name."""
    if who in known:
        return who
    named = [p.id for p in known.values() if _key(who) in _names(p)]
    if len(named) > 1:
        raise ValueError(f"{who!r} may be any of {', '.join(sorted(named))}")
    if named:
        return named[0]
    return who if STUDENT_ID.fullmatch(who) else _slug(who)


def _names(person: Person) -> set[str]:
    """Return a person's name as platforms write it: either name first."""
    if not person.last_name:
        return set()
    return {_key(person.first_name + person.last_name), _key(person.last_name + person.first_name)}


def _key(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def _in_folder(root: Path) -> tuple[list[File], list[Problem]]:
    files, problems = [], []
    for folder, subfolders, names in os.walk(root):
        for name in sorted([*subfolders, *names]):
            path = Path(folder, name)
            inside = path.relative_to(root).as_posix()
            if _SKIPPED.search(inside):
                continue
            if path.is_symlink():
                problems.append(Problem(inside, "a symbolic link is not followed."))
            elif name in names and path.suffix == ".ipynb":
                modified = datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(tzinfo=None)
                time = read_time(path.with_name("timestamp.txt")) or modified
                files.append(File(inside, time, partial(_read_file, path)))
    return files, problems


def _read_file(path: Path) -> bytes:
    if not path.is_file():  # a pipe would be waited for
        raise ValueError("it is no ordinary file")
    _limit(path.stat().st_size)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"it can't be read ({error.strerror})") from None


def _in_zip(archive: zipfile.ZipFile) -> tuple[list[File], list[Problem]]:
    files, problems = [], []
    for entry in archive.infolist():
        name = entry.filename.replace("\\", "/")
        if name.startswith("/") or ":" in name[:2] or ".." in name.split("/"):
            problems.append(Problem(name, "a path that leads out of the zip is not taken."))
        elif stat.S_ISLNK(entry.external_attr >> 16):
            problems.append(Problem(name, "a symbolic link is not followed."))
        elif name.endswith(".ipynb") and not _SKIPPED.search(name):
            read = partial(_read_entry, archive, entry)
            files.append(File(name, _entry_time(archive, entry), read))
    return files, problems


def _entry_time(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> datetime | None:
    beside = entry.filename.rpartition("/")[0] + "/timestamp.txt"
    if beside in archive.NameToInfo and archive.getinfo(beside).file_size < 1000:
        try:
            return parsed_time(_read_entry(archive, archive.getinfo(beside)).decode())
        except ValueError:
            return None
    if entry.date_time[:3] == (1980, 1, 1):  # zip's way to say nothing
        return None
    try:
        return datetime(*entry.date_time).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    _limit(entry.file_size)
    try:
        with archive.open(entry) as file:
            content = file.read(MAX_BYTES + 1)  # the declared size may be a lie
    except (
        OSError,
        EOFError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise ValueError(f"it can't be unpacked ({error})") from None
    _limit(len(content))
    return content


def _limit(size: int) -> None:
    if size > MAX_BYTES:
        raise ValueError(
            f"it has {size / 2**20:.0f} MB, and at most {MAX_BYTES // 2**20} are taken"
        )
