"""Open nbgrader's gradebook, and read the small files that nbgrader keeps beside notebooks."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    NullPool,
    String,
    Table,
    create_engine,
    func,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.orm.exc import StaleDataError

from autograder.course.config import Course, CourseError
from autograder.course.files import environment, write_atomically
from autograder.course.moments import moment
from autograder.course.opening import read_once
from autograder.course.purposes import Purpose, is_on_server
from autograder.course.server import OURS, unusable_gradebook

_SMALL = 1000  # bytes of a small file

# What a database says, or nbgrader of it; the last where somebody else removed a row meanwhile.
_REFUSED = (DBAPIError, api.InvalidEntry, StaleDataError)
# nbgrader writes down here how its tables are made, for `nbgrader db upgrade`.
_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), nullable=False))


@contextmanager
def open_gradebook(course: Course) -> Iterator[Any]:
    """Open the gradebook, making it where there is none.

    Raises
    ------
    CourseError
        If the database is locked, can't be reached or written, or is of another nbgrader.
    """
    try:
        with _finding_alembic():
            _make(course)
            gradebook = api.Gradebook(course.database, course.id)
    except (ArgumentError, ImportError, *_REFUSED) as error:
        raise unusable_gradebook(course.database, error) from error
    try:
        with gradebook:
            yield gradebook
    except _REFUSED as error:
        raise unusable_gradebook(course.database, error) from error


def _finding_alembic() -> AbstractContextManager[None]:
    """Let nbgrader find the program that it runs to make a database: beside this Python."""
    if shutil.which("alembic"):
        return nullcontext()
    folders = str(Path(sys.executable).parent), os.environ.get("PATH", "")
    return environment(PATH=os.pathsep.join(folders))


def _make(course: Course) -> None:
    """Make a gradebook where there is none, whole or not at all."""
    url = make_url(course.database)
    path = Path(url.database or "")
    if url.drivername == "sqlite" and path.name and path.parent.is_dir() and not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder) / path.name
            api.Gradebook(f"sqlite:///{new}", course.id).close()
            write_atomically(path, new.read_bytes(), mode=course.private[0])
    elif is_on_server(course.database):
        with create_engine(url, poolclass=NullPool).begin() as connection:
            _make_tables(connection, course.id)


def read_by_others(course: Course) -> list[str]:
    """Say whether others on the system can read the gradebook: one that nbgrader has made is so."""
    url = make_url(course.database)
    path = Path(url.database or "")
    if url.drivername != "sqlite" or not path.is_file() or not path.stat().st_mode & 0o007:
        return []
    return [f"others can read {path}: `chmod {course.private[0]:o} {path}` lets them no longer"]


def _make_tables(connection: Connection, course_id: str) -> None:
    """Do what nbgrader does for an empty database; who comes at the same time waits."""
    if inspect(connection).has_table(_VERSION.name):
        return
    connection.execute(select(func.pg_advisory_xact_lock(OURS, Purpose.MAKING)))
    if inspect(connection).has_table(_VERSION.name):
        return
    api.Base.metadata.create_all(connection)
    _VERSION.create(connection)
    connection.execute(insert(_VERSION).values(version_num=api.get_alembic_version()))
    connection.execute(insert(api.Course).values(id=course_id))


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
    try:
        return moment(text)
    except ValueError as error:
        raise CourseError(f"{what}, {text!r}, {error}") from None


def submitted_at(course: Course, student: str, assignment: str) -> datetime | None:
    """Return when a submission was handed in (UTC, without a time zone), if that is known."""
    return read_time(course.submission(student, assignment).with_name("timestamp.txt"))


def read_time(path: Path, beneath: Path | None = None) -> datetime | None:
    """Return the time in one of nbgrader's timestamp.txt."""
    return parsed_time(small_text(path, beneath))


def parsed_time(text: str) -> datetime | None:
    """Return a time as nbgrader writes it, or None where it is none."""
    text = text.strip()
    if not text or "/" in text:  # what reads any time opens a file for a zone that is a path
        return None
    try:
        moment: datetime | None = parse_utc(_in_utc(text) or text)
    except (ValueError, ArithmeticError, TypeError, AttributeError, OSError):
        return None  # dateutil takes any text, and not all of it well
    return moment


def _in_utc(text: str) -> datetime | None:
    """Read a time as nbgrader writes it: what reads any time takes fifty times as long."""
    try:
        return datetime.fromisoformat(text.removesuffix(" UTC")) if text.endswith(" UTC") else None
    except ValueError:
        return None


def small_text(path: Path, beneath: Path | None = None) -> str:
    """Return what a small file of ours or nbgrader's holds, or nothing."""
    try:
        return read_once(path, _SMALL, beneath=beneath).decode().strip()
    except (OSError, ValueError):
        return ""
