"""A gradebook on a PostgreSQL server: its address, and the locks that graders take there."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import NullPool, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from autograder.course.config import CourseError
from autograder.course.purposes import Purpose, is_on_server

#: An advisory lock is known by two numbers. This one says that it is ours, a `Purpose` what for.
OURS = 1_735_549_285

# Either side notices within a minute that the other's machine is gone, and a quiet connection is
# no reason for a router or the server to end it.
_OF_THE_CLIENT = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_OF_THE_SERVER = """
SET tcp_keepalives_idle = 30;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3;
SET tcp_user_timeout = '60s';
SET idle_session_timeout = 0;
"""
#: What stands behind the question mark of an address and tells no secret.
_PLAIN = {"sslmode", "host", "port", "application_name", "connect_timeout", "mode", "uri"}
#: In the name of a user, a server or a database: a sign that the password is in there as well.
_ODD = re.compile(r"[:@#?=;]")
_HOLDER = """
SELECT application_name || ', as ' || usename FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND classid = :ours AND objid = :purpose
AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def shown(url: str) -> str:
    """Return an address as it may be shown: without its password, wherever somebody has put it.

    >>> shown("postgresql+psycopg://ada:secret@db/course")
    'postgresql+psycopg://ada:***@db/course'
    """
    try:
        known = make_url(url)
    except ArgumentError:  # it may have one all the same
        return re.split(r"[:@?#=;\s]", url, maxsplit=1)[0] + "***"
    host = (known.host or "").replace(":", "")  # a number may have some
    names = f"{known.username} {known.database} {host}"
    if _ODD.search(names) and not known.drivername.startswith("sqlite"):
        return f"{known.drivername}://***"
    return known.difference_update_query(known.query.keys() - _PLAIN).render_as_string()


def unusable_gradebook(url: str, error: Exception) -> CourseError:
    """Return what to say where a gradebook can't be opened, read or written."""
    reason = _reason(error)
    if isinstance(error, NoSuchModuleError | ImportError):
        return CourseError(
            f"the gradebook {shown(url)} can't be opened ({reason}): on PostgreSQL an address is "
            "postgresql+psycopg://user@host/database, and the driver for it comes with `pip "
            "install 'autograder-engine[postgres]'`"
        )
    if isinstance(error, ArgumentError):
        return CourseError(
            f"c.CourseDirectory.db_url is {shown(url)!r}, which is no address of a database: write "
            "it like sqlite:////srv/course/gradebook.db or postgresql+psycopg://user@host/database"
        )
    advice = (
        "If another program is writing to it, try again; after an update of nbgrader, run "
        "`nbgrader db upgrade`; "
    )
    if is_on_server(url):
        plain = shown(make_url(url).set(drivername="postgresql").render_as_string(False))
        advice += f"if the server can't be reached, `psql '{plain}'` shows why"
    else:
        advice += "if the file is damaged, restore it from a backup"
    return CourseError(f"the gradebook {shown(url)} can't be used ({reason}). {advice}")


def _reason(error: Exception) -> str:
    """Return in one line what the driver says, which takes several."""
    return " ".join(str(getattr(error, "orig", error)).split())


@contextmanager
def alone(url: str, purpose: Purpose, said: str) -> Iterator[Callable[[], None]]:
    """Hold a lock of the gradebook's server, which ends with the connection, however that ends.

    Parameters
    ----------
    purpose
        What a `Purpose` says.
    said
        What another process does that holds it, and what to do then.

    Yields
    ------
    Callable
        Raises CourseError if the lock was lost by now, as it is when the server starts anew.

    Raises
    ------
    CourseError
        If another process holds it, or the server can't be used.
    """
    key = {"ours": OURS, "purpose": purpose}
    us = f"autograder number {os.getpid()} on {socket.gethostname()}"
    arguments = {**_OF_THE_CLIENT, "application_name": us}
    try:
        engine = create_engine(
            url, connect_args=arguments, poolclass=NullPool, isolation_level="AUTOCOMMIT"
        )
        connection = engine.connect()
        connection.execute(text(_OF_THE_SERVER))
    except (ArgumentError, ImportError, DBAPIError) as error:
        raise unusable_gradebook(url, error) from error

    def confirm() -> None:
        try:
            connection.execute(text("SELECT 1"))
        except DBAPIError as error:
            raise CourseError(
                f"the connection to {shown(url)} was lost ({_reason(error)}), and with it the lock "
                "that keeps other graders away; nothing more was entered. Run the same command "
                "again: it goes on from here"
            ) from error

    with connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:ours, :purpose)"), key):
            holder = connection.scalar(text(_HOLDER), key)
            raise CourseError(f"another process ({holder or 'just started'}) {said}")
        yield confirm
