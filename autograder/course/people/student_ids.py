"""A student's id: what it may be, since it names folders, and the one that a notebook gives."""

from __future__ import annotations

import re
from typing import Any

from autograder.course.config import CourseError
from autograder.student.notebook import source_of

#: A spreadsheet would take + - = @ at the beginning for a formula, a command - for an option, and
#: the system a . for a folder.
STUDENT_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]{0,79}")
FORM = "letters, digits and . _ @ + - only, a letter, digit or _ first, at most 80"


def checked_id(id: str) -> str:
    """Return an id that somebody gives, whoever it names.

    Raises
    ------
    CourseError
        If it can't be a student's.
    """
    if not STUDENT_ID.fullmatch(id):
        raise CourseError(f"{id!r} can't be a student's id: {FORM}")
    return id


def typed_id(notebook: dict[str, Any]) -> str:
    """Return the id in the call ``student("…")`` of a submitted notebook, read as text."""
    for cell in notebook["cells"]:
        found = re.search(r"^student\(\s*['\"]([^'\"]+)['\"]\s*\)", source_of(cell), re.M)
        if found and found[1].isprintable():  # it stands on a console
            return found[1].strip()
    return ""
