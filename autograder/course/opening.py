"""Open what others can write to: once, without following a link, and ask the open file what it is.

A path that is looked at and then read can be another one by then. So every folder on the way and
the file itself are opened by descriptor, and kind, owner and size are those of what was opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is not waited for
_DEEPEST = 20  # folders in folders: paths have an end, and so has Python's stack


class NotOrdinary(ValueError):
    """What is there is no file to be read; the message is a reason."""


class LinkRefused(NotOrdinary):
    """It is a symbolic link, or lies behind one."""


class TooLarge(NotOrdinary):
    """It has more bytes than are read.

    Attributes
    ----------
    size
        How many it has.
    """

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"it has {size / 2**20:.0f} MB, and at most {most // 2**20} are taken")
        self.size = size


@dataclass(frozen=True)
class Listed:
    """What lies somewhere beneath a folder, as it was when that was looked through.

    Attributes
    ----------
    path
        Inside that folder, with forward slashes.
    mode
        What it is; of a link, a link; 0 where that isn't known.
    size, changed
        Its bytes, and when they were changed, in nanoseconds.
    names
        How many entries a folder has.
    closed
        Why it was not looked at, or a folder not looked into.
    """

    path: str
    mode: int = 0
    size: int = 0
    changed: int = 0
    names: int = 0
    closed: str = ""


def listed(root: Path) -> Iterator[Listed]:
    """Give all that lies beneath a folder, however it is called; what goes meanwhile is left out.

    Raises
    ------
    OSError
        If the folder itself can't be looked through.
    """
    todo = [("", _names(root), 0)]
    while todo:
        folder, names, depth = todo.pop()
        inner = []
        for name in names:
            path = f"{folder}/{name}".lstrip("/")
            try:
                status = os.lstat(root / path)
                within = _names(root / path) if stat.S_ISDIR(status.st_mode) else []
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                yield Listed(path, closed=f"it can't be opened ({error.strerror})")
                continue
            found = Listed(path, status.st_mode, status.st_size, status.st_mtime_ns, len(within))
            if within and depth == _DEEPEST:
                found = replace(found, closed=f"it lies more than {_DEEPEST} folders deep")
            elif within:
                inner.append((path, within, depth + 1))
            yield found
        todo += reversed(inner)


@contextmanager
def folder_opened(path: Path, beneath: Path) -> Iterator[int]:
    """Give a descriptor of a folder somewhere beneath another one, which may be anywhere.

    Raises
    ------
    LinkRefused, OSError
        If something on the way is a link or no folder, or can't be opened.
    """
    descriptor = os.open(beneath, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in path.relative_to(beneath).parts:
            inner = _opened(name, _FOLDER, descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def inner_opened(name: str, folder: int) -> Iterator[int]:
    """Give a descriptor of a folder in an open one; it raises as `folder_opened`."""
    descriptor = _opened(name, _FOLDER, folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_once(path: Path, most: int, *, beneath: Path | None = None) -> bytes:
    """Return what a file holds.

    Parameters
    ----------
    most
        So many bytes at most.
    beneath
        The folder that others can write to, if not only the file's own.

    Raises
    ------
    NotOrdinary, OSError
        If it is a link, no ordinary file or too large, or can't be opened.
    """
    if beneath is None:
        return _read(_opened(str(path), _FILE), most)[0]
    with folder_opened(path.parent, beneath) as folder:
        return read_at(folder, path.name, most)[0]


def read_at(folder: int, name: str, most: int) -> tuple[bytes, os.stat_result]:
    """Return what a file of an open folder holds, and what it is; it raises as `read_once`."""
    return _read(_opened(name, _FILE, folder), most)


def _read(descriptor: int, most: int) -> tuple[bytes, os.stat_result]:
    """Read an open file, and close it."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise NotOrdinary("it is no ordinary file")
    with os.fdopen(descriptor, "rb") as file:
        # As much room as was asked for is made first, so no more is than it has by now.
        content = file.read(min(found.st_size, most) + 1)
        if len(content) > found.st_size:  # it has grown meanwhile
            content += file.read(most + 1 - len(content))
    if len(content) > most:
        raise TooLarge(max(found.st_size, len(content)), most)
    return content, found


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _opened(name: str, flags: int, folder: int | None = None) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        # Linux says of a link that it is one, or, where a folder is asked for, that it is none.
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise LinkRefused("it is a symbolic link, or lies behind one") from None
        if error.errno == errno.ENOTDIR and _is_link(name, folder):
            raise LinkRefused("it is a symbolic link, or lies behind one") from None
        if error.errno == errno.ENXIO:  # a socket
            raise NotOrdinary("it is no ordinary file") from None
        raise


def _is_link(name: str, folder: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
