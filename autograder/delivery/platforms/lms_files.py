"""What a learning platform hands out: a folder or a zip, with the notebooks in it."""

from __future__ import annotations

import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from autograder.course.config import CourseError
from autograder.course.opening import listed, read_once
from autograder.course.submissions.handed_in import MAX_BYTES
from autograder.delivery.nbgrader.database import parsed_time, read_time
from autograder.delivery.platforms.gradescope_metadata import MAX_BYTES as MAX_METADATA
from autograder.delivery.platforms.gradescope_metadata import METADATA

_SKIPPED = re.compile(r"(^|/)(\.|__MACOSX/)")
_GRADESCOPE = re.compile(r"assignment_\d+_export/")
_TIME = "timestamp.txt"  # of a hand-in, by nbgrader; the same name in a student's upload is nothing
#: What nbgrader, a release or a platform puts beside notebooks: nobody misses it.
_BESIDE = re.compile(
    r"(^|/)(timestamp\.txt|submission_secret\.txt|check\w*\.(py|json)|help\.json|collected\.json|"
    r"index\.html|submission_metadata\.yml|[^/]*_attempt_[\d-]+\.txt)$"
)


def printable(line: str) -> str:
    r"""Return a line as a console can show it: whoever names files may try to write elsewhere.

    >>> print(printable("a\x1b[2Jb\nc"))
    a?[2Jb?c
    """
    return "".join(sign if sign.isprintable() else "?" for sign in line)


@dataclass(frozen=True)
class Problem:
    """Something that was not collected, and why."""

    path: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.path}: {self.message}")


@dataclass(frozen=True)
class File:
    """A notebook in a folder or zip.

    Attributes
    ----------
    path
        Inside the folder or zip, with forward slashes.
    modified
        What the folder or zip says of the file, often the time of the download: of two files it
        tells the later one, and never whether one is late.
    read
        Returns the content; raises ValueError with the reason why it can't be taken.
    stamp
        Returns the time in a timestamp.txt that lies beside; None where there is none. Whether
        nbgrader wrote that or a student, `Attribution` tells.
    """

    path: str
    modified: datetime | None
    read: Callable[[], bytes]
    stamp: Callable[[], datetime | None] | None = None


@dataclass(frozen=True)
class Contents:
    """What is in a folder or zip: notebooks, what is refused, and what is no notebook.

    Attributes
    ----------
    names
        Paths of all files.
    listed
        Reads the platform's list of whose each folder is, where there is one.
    own_name
        What a folder would be called that whoever made the zip put around everything.
    """

    files: list[File]
    refused: list[Problem]
    others: list[Problem]
    names: list[str]
    listed: Callable[[], bytes] | None = None
    own_name: str = ""


@contextmanager
def opened_source(source: Path) -> Iterator[Contents]:
    """Open a folder or zip that a platform handed out.

    Raises
    ------
    CourseError
        If it is neither.
    """
    if source.is_dir():
        yield _in_folder(source)
        return
    with ExitStack() as opened:
        try:
            file = opened.enter_context(open(source, "rb", opener=_not_waiting))
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is no ordinary file")
            archive = opened.enter_context(zipfile.ZipFile(file))
        except (OSError, zipfile.BadZipFile) as error:
            raise CourseError(f"{source} is neither a folder nor a zip file ({error})") from error
        yield _in_zip(archive, source.stem)


def _not_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # nobody may ever write into a pipe


def _no_notebook(path: str) -> list[Problem]:
    """Say what to do about a file that is no notebook, unless it is known to lie there."""
    name = path.lower()
    if _BESIDE.search(path):
        return []
    if ".ipynb." in name:
        return [Problem(path, "a notebook under another name: rename it to end in .ipynb.")]
    if name.endswith((".zip", ".tar", ".gz", ".7z", ".rar")):
        return [Problem(path, "an archive inside: unpack it and collect its notebooks.")]
    return [Problem(path, "no notebook: where it is the hand-in, ask for the .ipynb file.")]


def _in_folder(root: Path) -> Contents:
    files, problems, others, paths = [], [], [], []
    found = [entry for entry in listed(root) if not _SKIPPED.search(entry.path)]
    there = {entry.path for entry in found}
    for entry in found:
        path, is_folder = root / entry.path, stat.S_ISDIR(entry.mode)
        if not is_folder:
            paths.append(entry.path)
        if entry.closed:
            problems.append(Problem(entry.path, f"{entry.closed}."))
        elif stat.S_ISLNK(entry.mode):
            problems.append(Problem(entry.path, "a symbolic link is not followed."))
        elif not _is_text(entry.path):
            problems.append(Problem(entry.path, "its name is no text: rename it."))
        elif not is_folder and path.suffix == ".ipynb":
            beside = path.with_name(_TIME).relative_to(root).as_posix()
            stamp = partial(read_time, root / beside, root) if beside in there else None
            reading = partial(_read_file, path, root)
            files.append(File(entry.path, _moment(entry.changed), reading, stamp))
        elif not is_folder:
            others += _no_notebook(entry.path)
        elif not entry.names:
            others.append(
                Problem(f"{entry.path}/", "an empty folder: nothing was handed in there.")
            )
    own = root / METADATA
    reading = partial(_read_file, own, root, MAX_METADATA)
    return Contents(files, problems, others, paths, reading if METADATA in there else None)


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _moment(nanoseconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).replace(tzinfo=None)
    except (ArithmeticError, ValueError, OSError):  # a file may be of any year
        return None


def _read_file(path: Path, root: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file of a folder that students may write to while it is looked through."""
    try:
        return read_once(path, most, beneath=root)
    except OSError as error:
        raise ValueError(f"it can't be read ({error.strerror})") from None


def _in_zip(archive: zipfile.ZipFile, own_name: str) -> Contents:
    notebooks: list[tuple[str, zipfile.ZipInfo]] = []
    problems, others, names = [], [], []
    for entry in archive.infolist():
        name = entry.filename.replace("\\", "/").removeprefix("./")
        if not entry.is_dir() and not _SKIPPED.search(name):
            names.append(name)
        if name.startswith("/") or ":" in name[:2] or ".." in name.split("/"):
            problems.append(Problem(name, "a path that leads out of the zip is not taken."))
        elif stat.S_ISLNK(entry.external_attr >> 16):
            problems.append(Problem(name, "a symbolic link is not followed."))
        elif name.endswith(".ipynb") and not _SKIPPED.search(name):
            notebooks.append((name, entry))
        elif not entry.is_dir() and not _SKIPPED.search(name):
            others += _no_notebook(name)
    around = next((f"{n.split('/')[0]}/" for n, _ in notebooks if _GRADESCOPE.match(n)), "")
    around = around or f"{own_name}/"
    if all(name.startswith(around) and name.count("/") > 1 for name, _ in notebooks):
        notebooks = [(name.removeprefix(around), entry) for name, entry in notebooks]
        names = [name.removeprefix(around) for name in names]
    # Gradescope's own list stands beside the students' folders; in one of them it is a student's.
    lists = [n for n in (METADATA, around + METADATA) if n in archive.NameToInfo]
    lists = [n for n in lists if "/" not in n or _GRADESCOPE.match(n)]
    listed = (
        partial(_read_entry, archive, archive.getinfo(lists[0]), MAX_METADATA) if lists else None
    )
    files = []
    for name, entry in notebooks:
        beside = archive.NameToInfo.get(f"{entry.filename.rpartition('/')[0]}/{_TIME}")
        stamp = partial(_recorded, archive, beside) if beside else None
        reading = partial(_read_entry, archive, entry)
        files.append(File(name, _modified(entry), reading, stamp))
    return Contents(files, problems, others, names, listed, own_name)


def _recorded(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> datetime | None:
    try:
        return parsed_time(_read_entry(archive, entry, 1000).decode())
    except ValueError:
        return None


def _modified(entry: zipfile.ZipInfo) -> datetime | None:
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
