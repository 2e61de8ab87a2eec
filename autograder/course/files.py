"""Write files so that nobody ever sees half of one, and change the environment for a while."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

from autograder.course.config import CourseError

_PART = ".part"
_ADVICE = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.EACCES: "change the permissions",
    errno.EPERM: "change the permissions",
    errno.EROFS: "make the disk writable",
}


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write ``content`` to ``path``, making folders as needed.

    Raises
    ------
    CourseError
        If the folder can't be written, with its name and what to do.
    """
    temporary = None
    try:
        handle, temporary = _part_of(path)
        _fill(handle, content, mode)
        os.replace(temporary, path)  # noqa: PTH105 - a path is made anew for each file otherwise
    except BaseException as error:  # raised again when it is tidied up
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path.parent, error) from error
        raise


def write_in_place(path: Path, content: bytes, *, mode: int) -> None:
    """Write ``content`` to ``path`` itself, where whoever reads it sees that half of it is none.

    Raises
    ------
    CourseError
        As `write_atomically`.
    """
    try:
        _fill(_opened(path, os.O_TRUNC), content, mode)
    except OSError as error:
        raise unwritable(path.parent, error) from error


def put_in_place(written: Path, path: Path, content: bytes, *, mode: int) -> None:
    """Let a file that was ``written`` be ``path``, or write the same content there.

    Raises
    ------
    CourseError
        As `write_atomically`.
    """
    try:
        try:
            written.replace(path)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            written.replace(path)
    except OSError:  # it isn't there any more, or lies on another disk
        write_atomically(path, content, mode=mode)
        written.unlink(missing_ok=True)


def _part_of(path: Path) -> tuple[int, str]:
    """Open a file beside ``path``, of a name that nobody else takes."""
    part = f"{path.parent}/.{path.name}.{secrets.token_hex(6)}{_PART}"
    return _opened(part, os.O_EXCL), part


def _opened(path: Path | str, how: int) -> int:
    """Open a file to write it; nearly always its folder is there."""
    how |= os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, how, 0o600)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, how, 0o600)


def _fill(handle: int, content: bytes, mode: int) -> None:
    """Write an open file, and close it."""
    with open(handle, "wb", buffering=0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]
        os.fchmod(handle, mode)


def make_private(folder: Path, mode: int) -> None:
    """Make a folder that others can't enter, or close one that is there."""
    try:
        try:
            found = folder.stat().st_mode
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            found = folder.stat().st_mode
        if stat.S_IMODE(found) & 0o007:
            folder.chmod(mode)
    except PermissionError:  # somebody else's: it stays as it was made
        return
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> CourseError:
    """Return what to say where a folder can't be written."""
    return CourseError(
        f"{folder} can't be written ({error.strerror}): make room on the disk, change its "
        "permissions, or work on a copy of the course in a folder of your own"
    )


def unusable(error: OSError) -> CourseError:
    """Return what to say of a file that any step may have met: a full disk, above all."""
    what = error.filename or "a file"
    why = shorten(error.strerror or str(error), 200)
    advice = _ADVICE.get(error.errno or 0, "see what is there")
    return CourseError(f"{what} can't be used ({why}): {advice}, and run the command again")


def by_lines(data: Mapping[str, Any], entries: str) -> bytes:
    """Return JSON with each entry of one list on a line of its own.

    ``json.dumps`` with an indent takes ten times as long: only without one it is written in C.

    Examples
    --------
    >>> print(by_lines({"schema": 1, "cells": [{"id": "a"}, {"id": "b"}]}, "cells").decode())
    {"schema": 1,
    "cells": [
    {"id": "a"},
    {"id": "b"}
    ]}
    <BLANKLINE>
    """
    rows = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in data[entries])
    fields = [
        f'"{entries}": [\n{rows}\n]'
        if key == entries
        else f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in data.items()
    ]
    # Student text may hold lone surrogates, which JSON allows and UTF-8 doesn't.
    text = ",\n".join(fields)
    return f"{{{text}}}\n".encode(errors="replace")


def sweep(paths: Iterable[Path]) -> None:
    """Remove, of ``paths``, what `write_atomically` left when its process was killed."""
    for path in paths:
        if path.name.startswith(".") and path.suffix == _PART:
            path.unlink(missing_ok=True)


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set environment variables for programs that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
