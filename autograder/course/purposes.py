"""What a lock on a course is for, and whether it is held on the server of its gradebook."""

from __future__ import annotations

from enum import IntEnum


class Purpose(IntEnum):
    """What somebody is alone for, as a lock on a server says it."""

    GRADING = 1
    WATCHING = 2
    MAKING = 3


def is_on_server(url: str) -> bool:
    """Tell whether an address is that of a PostgreSQL server.

    >>> is_on_server("postgresql+psycopg://db/course"), is_on_server("sqlite:///gradebook.db")
    (True, False)
    """
    return url.startswith(("postgresql:", "postgresql+"))
