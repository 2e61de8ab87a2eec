"""Open nbgrader's gradebook, and read the small files that nbgrader keeps beside notebooks."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError

from autograder.course.config import Course, CourseError
from autograder.course.files import environment, write_atomically

#: What the grade_id of an exercise's check cell begins with.
CHECK = "check_"


@contextmanager
def opened(course: Course) -> Iterator[Any]:
    """Open the gradebook, making it where there is none.

    Raises
    ------
    CourseError
        If the database is locked, can't be written or is of another nbgrader.
    """
    try:
        with _finding_alembic():
            _make(course)
            opening = api.Gradebook(course.database, course.id)
        with opening as gradebook:
            yield gradebook
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise CourseError(
            f"the gradebook {course.database} takes a driver that is not installed ({error}): "
            "`pip install psycopg2-binary` for PostgreSQL"
        ) from error
    except ArgumentError as error:
        raise CourseError(
            f"c.CourseDirectory.db_url is {course.database!r}, which is no address of a database: "
            "write it like sqlite:////srv/course/gradebook.db, or leave it out"
        ) from error
    except (DatabaseError, api.InvalidEntry) as error:
        reason = getattr(error, "orig", error)
        raise CourseError(
            f"the gradebook {course.database} can't be used ({reason}). If another program is "
            "writing to it, try again; after an update of nbgrader, run `nbgrader db upgrade`; if "
            "the file is damaged, restore it from a backup"
        ) from error


def _finding_alembic() -> AbstractContextManager[None]:
    """Let nbgrader find the program that it runs to make a database: beside this Python."""
    if shutil.which("alembic"):
        return nullcontext()
    folders = str(Path(sys.executable).parent), os.environ.get("PATH", "")
    return environment(PATH=os.pathsep.join(folders))


def _make(course: Course) -> None:
    """Make a gradebook where there is no file of one, whole or not at all."""
    url = make_url(course.database)
    path = Path(url.database or "")
    if url.drivername == "sqlite" and path.name and path.parent.is_dir() and not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder) / path.name
            api.Gradebook(f"sqlite:///{new}", course.id).close()
            write_atomically(path, new.read_bytes())


def time_zone(course: Course) -> tzinfo:
    """Return the course's clock, nbgrader's ``c.Exchange.timezone``: UTC unless that is set.

    Raises
    ------
    CourseError
        If there is no such zone.
    """
    name = str(course.config.Exchange.get("timezone", "UTC"))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CourseError(
            f"c.Exchange.timezone is {name!r}, which is no time zone: write it like Europe/Berlin"
        ) from None


def zoned(text: str, what: str) -> datetime:
    """Return a time that a person wrote with its zone (in UTC, without one, as nbgrader keeps it).

    Raises
    ------
    CourseError
        If it is no time, or has no zone.
    """
    expected = 'write it like "2027-03-01 23:59 UTC" or "2027-03-01 23:59 Europe/Berlin"'
    date, _, zone = text.strip().rpartition(" ")
    try:
        if date and zone[:1].isalpha():
            moment = datetime.fromisoformat(date).replace(tzinfo=ZoneInfo(zone))
        else:
            moment = datetime.fromisoformat(date + zone if zone[:1] in "+-" else text.strip())
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise CourseError(f"{what}, {text!r}, is no date: {expected}") from None
    if moment.tzinfo is None:
        raise CourseError(f"{what}, {text!r}, has no time zone: {expected}")
    return moment.astimezone(UTC).replace(tzinfo=None)


def submitted_at(course: Course, student: str, assignment: str) -> datetime | None:
    """Return when a submission was handed in (UTC, without a time zone), if that is known."""
    return read_time(course.submission(student, assignment).with_name("timestamp.txt"))


def read_time(path: Path) -> datetime | None:
    """Return the time in one of nbgrader's timestamp.txt."""
    return parsed_time(small_text(path))


def parsed_time(text: str) -> datetime | None:
    """Return a time as nbgrader writes it, or None where it is none."""
    try:
        moment: datetime | None = parse_utc(text.strip()) if text.strip() else None
    except (ValueError, OverflowError):
        return None
    return moment


def small_text(path: Path) -> str:
    """Return what a small file of ours or nbgrader's holds, or nothing."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > 1000:
            return ""  # a pipe would be waited for
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
