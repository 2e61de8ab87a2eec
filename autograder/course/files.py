"""Write files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from autograder.course.config import CourseError

_PART = ".part"


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, making folders as needed.

    Raises
    ------
    CourseError
        If the folder can't be written, with its name and what to do.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PART)
    except OSError as error:
        raise CourseError(
            f"{path.parent} can't be written ({error.strerror}): change its permissions, "
            "or work on a copy of the course in a folder of your own"
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sweep(paths: Iterable[Path]) -> None:
    """Remove, of ``paths``, what `write_atomically` left when its process was killed."""
    for path in paths:
        if path.name.startswith(".") and path.suffix == _PART:
            path.unlink(missing_ok=True)
