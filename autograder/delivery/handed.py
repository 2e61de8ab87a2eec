"""What a learning platform hands out: a folder or a zip of notebooks, named its own way.

Known layouts:

=====================================================  =========================================
``<student>/<a>.ipynb``, ``<student>/<a>/<a>.ipynb``   nbgrader's own
``<student>.ipynb``                                    one assignment at a time
``<a>/<student>.ipynb``                                a folder per assignment
``<student>_<n>_<n>_<a>.ipynb``                        Canvas, ``_LATE_`` and ``-1`` included
``<name>_<n>_assignsubmission_file_/<a>.ipynb``        Moodle; also with the file's name behind
=====================================================  =========================================

``<a> (1).ipynb``, as browsers rename, is ``<a>.ipynb``; any other file name will do where the
notebook's cells tell the assignment.

Whose a file is, the outermost name tells: the platform wrote it. What stands behind it, and what
lies in a student's folder, the student named, and it names nobody. Hence there are no other folders
around these; in a zip there may be one, of the zip's own name.
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

_CANVAS = re.compile(r"(?P<who>.+?)(?:_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<who>.+?)_(?P<number>\d+)_assignsubmission_file_?(?P<file>.*)")
_COPY = re.compile(r"( ?\(\d+\)|-\d+)$")  # a browser's, and Canvas's for handing in again
_SKIPPED = re.compile(r"(^|/)(\.|__MACOSX/)")
_TIME = "timestamp.txt"  # of a hand-in, by nbgrader; the same name in a student's upload is nothing
#: Folders of nbgrader that hold students' folders, and are none themselves.
_STEPS = ("autograded", "feedback", "release", "source", "submitted")


@dataclass(frozen=True)
class Origin:
    """Whose a file is, as the platform wrote it.

    Attributes
    ----------
    who
        An id or a name.
    number
        The platform's own number of that person; empty where it gives none.
    """

    who: str
    number: str = ""


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
        yield _in_zip(archive, source.stem)


def origin(path: str, assignments: Sequence[str]) -> tuple[Origin, str]:
    """Return whom a notebook's path names, and the file's own name.

    Raises
    ------
    ValueError
        If it names nobody.

    Examples
    --------
    >>> origin("ada/a01/a01 (1).ipynb", ["a01"])
    (Origin(who='ada', number=''), 'a01')
    >>> origin("Ada Lovelace_7_assignsubmission_file_/eve.ipynb", ["a01"])
    (Origin(who='Ada Lovelace', number='7'), 'eve')
    """
    *folders, stem = PurePosixPath(unicodedata.normalize("NFC", path)).with_suffix("").parts
    if folders and folders[0] in assignments:
        del folders[0]
    outer = folders[0] if folders else stem
    found = [_MOODLE.fullmatch(outer), None if folders else _CANVAS.fullmatch(outer)]
    if matches := [match for match in found if match]:
        # Who begins the name: a student may have put the other platform's words behind it.
        match = min(matches, key=lambda match: len(match["who"]))
        own = stem if folders else match["file"]
        return Origin(match["who"], match["number"]), _own_name(own, assignments)
    if outer in _STEPS:
        raise ValueError(f"{outer}/ is no student: collect from that folder itself")
    stem = _own_name(stem, assignments)
    if not folders and stem in assignments:
        raise ValueError("neither a folder nor the file's name tells whose it is")
    return Origin(outer if folders else stem), stem


def _own_name(stem: str, assignments: Sequence[str]) -> str:
    """Undo how browsers and platforms rename a file that is there already."""
    name = stem
    while name not in assignments and _COPY.search(name):
        name = _COPY.sub("", name)
    return name if name in assignments else re.sub(r" ?\(\d+\)$", "", stem)


def identify(origin: Origin, known: Mapping[str, Person]) -> str:
    """Return the id of a student given by id or name.

    Raises
    ------
    ValueError
        If nobody can be meant, or several.

    Examples
    --------
    >>> identify(Origin("Zoë Ångström", "7"), {})
    'zoe-angstrom'
    """
    who = origin.who
    if who in known:
        return who
    named = [p.id for p in known.values() if _key(who) in _names(p)]
    if len(named) > 1:
        raise ValueError(f"{who!r} may be any of {', '.join(sorted(named))}")
    if named:
        return named[0]
    if origin.number and not STUDENT_ID.fullmatch(who):
        who = _slug(who)
    if not STUDENT_ID.fullmatch(who):
        raise ValueError(
            f"{origin.who!r} is no student's name that is known, and no id: letters, digits and "
            ". _ @ + - only, a letter, digit or _ first, at most 80"
        )
    if like := next((id for id in known if id.casefold() == who.casefold()), ""):
        raise ValueError(f"{origin.who!r} may be {like}, or somebody else: only {like} would be")
    return who


def _names(person: Person) -> set[str]:
    """Return a person's name as platforms write it: either name first."""
    if not person.last_name:
        return set()
    return {_key(person.first_name + person.last_name), _key(person.last_name + person.first_name)}


def _key(name: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", name).casefold()))


def _slug(name: str) -> str:
    """Make an id of a name; of letters with accents, not of those that merely look alike."""
    letters = unicodedata.normalize("NFD", name)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[ ,.']+", "-", plain.lower()).strip("-")


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
                time = read_time(path.with_name(_TIME)) if _is_nbgrader_s(inside) else None
                files.append(File(inside, time or modified, partial(_read_file, path)))
    return files, problems


def _read_file(path: Path) -> bytes:
    if not path.is_file():  # a pipe would be waited for
        raise ValueError("it is no ordinary file")
    _limit(path.stat().st_size)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"it can't be read ({error.strerror})") from None


def _is_nbgrader_s(path: str) -> bool:
    """Tell whether nbgrader wrote what lies beside: ``<student>/<a>/<a>.ipynb``."""
    match path.split("/"):
        case [student, folder, name]:
            return name == f"{folder}.ipynb" and not _MOODLE.fullmatch(student)
    return False


def _in_zip(archive: zipfile.ZipFile, own_name: str) -> tuple[list[File], list[Problem]]:
    notebooks: list[tuple[str, zipfile.ZipInfo]] = []
    problems = []
    for entry in archive.infolist():
        name = entry.filename.replace("\\", "/").removeprefix("./")
        if name.startswith("/") or ":" in name[:2] or ".." in name.split("/"):
            problems.append(Problem(name, "a path that leads out of the zip is not taken."))
        elif stat.S_ISLNK(entry.external_attr >> 16):
            problems.append(Problem(name, "a symbolic link is not followed."))
        elif name.endswith(".ipynb") and not _SKIPPED.search(name):
            notebooks.append((name, entry))
    if all(name.startswith(f"{own_name}/") and name.count("/") > 1 for name, _ in notebooks):
        notebooks = [(name.removeprefix(f"{own_name}/"), entry) for name, entry in notebooks]
    files = [
        File(name, _entry_time(archive, name, entry), partial(_read_entry, archive, entry))
        for name, entry in notebooks
    ]
    return files, problems


def _entry_time(archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> datetime | None:
    beside = f"{entry.filename.rpartition('/')[0]}/{_TIME}"
    if _is_nbgrader_s(name) and beside in archive.NameToInfo:
        try:
            written = parsed_time(_read_entry(archive, archive.getinfo(beside), 1000).decode())
        except ValueError:
            written = None
        if written:
            return written
    if entry.date_time[:3] == (1980, 1, 1):  # zip's way to say nothing
        return None
    try:
        return datetime(*entry.date_time).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int = MAX_BYTES) -> bytes:
    _limit(entry.file_size, most)
    try:
        with archive.open(entry) as file:
            content = file.read(most + 1)  # the declared size may be a lie
    except (
        OSError,
        EOFError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise ValueError(f"it can't be unpacked ({error})") from None
    _limit(len(content), most)
    return content


def _limit(size: int, most: int = MAX_BYTES) -> None:
    if size > most:
        raise ValueError(f"it has {size / 2**20:.0f} MB, and at most {most // 2**20} are taken")
