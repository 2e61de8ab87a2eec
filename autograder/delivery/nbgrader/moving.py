"""Copy a gradebook to another database: from SQLite to a server, and back."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from nbgrader import api
from sqlalchemy import Table, delete, insert, select

from autograder.course.config import Course, CourseError, has_password_behind
from autograder.course.lock import grading
from autograder.course.server import shown
from autograder.delivery.nbgrader.database import open_gradebook

_COURSES = api.Course.__table__


def copy_gradebook(course: Course, url: str) -> list[str]:
    """Copy every row of a course's gradebook to the empty database at ``url``, or none.

    Other tools would do for the marks; nbgrader keeps extensions, though, in SQLite as dates.
    Nothing is taken out of the old gradebook, and what arrived is compared with it.

    Returns
    -------
    list of str
        What was done, and what is left to do, a line for each.

    Raises
    ------
    CourseError
        If there is something in the new database, either can't be used, or the old one was changed
        meanwhile.
    """
    if has_password_behind(url):
        raise CourseError(
            f"the address {shown(url)} says a password behind its question mark, where programs "
            "print it: leave it out, and write it into ~/.pgpass"
        )
    config = deepcopy(course.config)
    config.CourseDirectory.db_url = url
    with (
        grading(course),
        open_gradebook(course) as old,
        open_gradebook(replace(course, config=config)) as new,
    ):
        tables = api.Base.metadata.sorted_tables  # those first that others refer to
        if any(new.db.execute(select(t).limit(1)).first() for t in tables if t is not _COURSES):
            raise CourseError(
                f"{shown(url)} has a gradebook in it already, which is left as it is: name an "
                "empty database"
            )
        new.db.execute(delete(_COURSES))
        for table in tables:
            for rows in old.db.execute(select(table)).mappings().partitions(1000):
                new.db.execute(insert(table), [dict(row) for row in rows])
        counts = {table.name: len(_rows(old.db, table)) for table in tables}
        if changed := [t.name for t in tables if _rows(old.db, t) != _rows(new.db, t)]:
            raise CourseError(
                f"the old gradebook was changed while it was copied ({', '.join(changed)}), and "
                "nothing was: close formgrader, and run this again"
            )
        new.db.commit()
    return [
        f"{sum(counts.values())} rows of {shown(course.database)} are in {shown(url)}, "
        f"those of {counts['student']} students and {counts['grade']} grades among them",
        f"to use it, write into course_config.py: c.CourseDirectory.db_url = {shown(url)!r}",
    ]


def _rows(db: Any, table: Table) -> set[tuple[Any, ...]]:
    return set(map(tuple, db.execute(select(table))))
