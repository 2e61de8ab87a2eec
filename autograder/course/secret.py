"""The secret of a course: hidden inputs are drawn with it, so that nobody knows them beforehand."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from autograder.course.config import Course, CourseError

FILE = "grading_secret.txt"


def secret_of(course: Course) -> str:
    """Return the secret, which is made on first use; every machine that grades needs the same.

    It lies beside the gradebook, is no part of release/ and never enters a process of student code.

    Raises
    ------
    CourseError
        If it is empty, or can't be read or made.
    """
    path = course.root / FILE
    try:
        if not path.exists():
            _make(path)
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(
            f"{path} can't be read or made ({error}): it decides the hidden inputs"
        ) from error
    if not secret:
        raise CourseError(
            f"{path} is empty: restore it from a backup, or delete it and every submission will be "
            "graded again on other inputs"
        )
    return secret


def _make(path: Path) -> None:
    """Make a secret that nobody else reads, unless another process just did."""
    new = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
