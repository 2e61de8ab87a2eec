"""What lies in the exchange's inbound folder: whose it is, since when, and whether it can be taken.

Everybody can write there, and what a name says anybody can have written. Who owns a folder, and
when it was last changed, the kernel says. What belongs to whoever collects needs no proof: nobody
else can have made it so.
"""

from __future__ import annotations

import os
import pwd
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.course.opening import NotOrdinary, folder_opened, inner_opened, read_at
from autograder.course.people.student_ids import STUDENT_ID
from autograder.delivery.nbgrader.database import parsed_time

UNFINISHED = "it is still being handed in"
#: What nbgrader writes when all of a submission is in the exchange.
_TIME, _SECRET = "timestamp.txt", "submission_secret.txt"
#: nbgrader copies, and then writes the time down; clocks of file servers go differently.
_TOLERANCE = timedelta(minutes=10)
_DEEPEST, _MOST = 20, 10_000  # folders in folders, and entries in all


class NotTaken(Exception):
    """A submission is left where it is; the message is a reason."""


@dataclass(frozen=True)
class InboundName:
    """What the name of a folder in the exchange claims.

    Attributes
    ----------
    time
        In UTC, without a time zone.
    """

    folder: str
    student: str
    time: datetime


def read_name(folder: str, assignment: str) -> InboundName:
    """Read ``<student>+<assignment>+<time>``, with or without ``+<random>`` behind it.

    Raises
    ------
    NotTaken
        If it is no such name.
    """
    form = rf"(?P<student>.+)\+{re.escape(assignment)}\+(?P<time>[^+]+)(\+[^+]*)?"
    found = re.fullmatch(form, folder)
    if not found:
        raise NotTaken("its name is not <student>+<assignment>+<time>")
    if not STUDENT_ID.fullmatch(found["student"]):
        raise NotTaken("its name begins with what is no student's id")
    time = parsed_time(found["time"])
    if time is None:
        raise NotTaken("the time in its name can't be read")
    return InboundName(folder, found["student"], time)


@dataclass(frozen=True)
class _Entry:
    """A file or folder that was opened, and what it is."""

    path: str
    status: os.stat_result
    content: bytes | None  # None for a folder


def contents(inbound: Path, name: InboundName, *, most: int, owned: bool) -> dict[str, bytes]:
    """Return the files of a submission, by their paths in its folder.

    Parameters
    ----------
    most
        Bytes of all of them together.
    owned
        Whether everything must be the student's own, or of whoever collects.

    Raises
    ------
    NotTaken
        If there is a link or no ordinary file in it, it isn't all there, it is too large, or it is
        not what its name says.
    """
    try:
        with folder_opened(inbound / name.folder, inbound) as top:
            entries = list(_Contents(most).entries(top))
    except (NotOrdinary, OSError) as error:
        raise NotTaken(getattr(error, "strerror", "") or str(error)) from None
    files = {entry.path: entry.content for entry in entries if entry.content is not None}
    if not {_TIME, _SECRET} <= files.keys():
        raise NotTaken(f"{UNFINISHED}, or was broken off: its last files aren't there")
    if owned:
        _check_owner(name.student, entries)
        _check_time(name, entries, files[_TIME])
    return files


def check_owner(inbound: Path, name: InboundName) -> None:
    """Refuse a folder that belongs to neither its student nor whoever collects.

    Raises
    ------
    NotTaken
        As it says; also if it can't be opened.
    """
    try:
        with folder_opened(inbound / name.folder, inbound) as folder:
            _check_owner(name.student, [_Entry("", os.fstat(folder), None)])
    except (NotOrdinary, OSError) as error:
        raise NotTaken(getattr(error, "strerror", "") or str(error)) from None


def _check_owner(student: str, entries: list[_Entry]) -> None:
    for entry in entries:
        owner = entry.status.st_uid
        if owner != os.geteuid() and _account(owner) != student:
            what = f"{entry.path} in it" if entry.path else "it"
            raise NotTaken(
                f"{what} belongs to {_account(owner) or f'user {owner}'}, and its name says "
                f"{student}: somebody may have handed in as somebody else. Copied by you it is "
                "yours, and is taken"
            )


def _check_time(name: InboundName, entries: list[_Entry], stamp: bytes) -> None:
    """Refuse what says an earlier time than that at which it came to be as it is."""
    if all(entry.status.st_uid == os.geteuid() for entry in entries):
        return
    if parsed_time(stamp.decode(errors="replace")) != name.time:
        raise NotTaken(f"{_TIME} in it and its name say different times")
    changed = datetime.fromtimestamp(max(e.status.st_ctime for e in entries), UTC)
    changed = changed.replace(tzinfo=None)
    if changed - name.time > _TOLERANCE:
        raise NotTaken(
            f"it says {name.time:%Y-%m-%d %H:%M} (UTC), and was last changed in the exchange at "
            f"{changed:%Y-%m-%d %H:%M}. Copied by you it is yours, and is taken as it says"
        )


def _account(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return ""


class _Contents:
    """Opens all that lies in a folder, within limits of size and number."""

    def __init__(self, most: int) -> None:
        self._bytes, self._entries = most, _MOST

    def entries(self, folder: int, path: str = "", depth: int = 0) -> Iterator[_Entry]:
        """Give an open folder, and what is in it."""
        yield _Entry(path, os.fstat(folder), None)
        for name in sorted(os.listdir(folder)):
            inside = f"{path}/{name}".lstrip("/")
            self._entries -= 1
            if depth >= _DEEPEST or not self._entries:
                raise NotOrdinary("it holds too many files, or folders in folders")
            kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(kind):
                with inner_opened(name, folder) as inner:
                    yield from self.entries(inner, inside, depth + 1)
            elif not stat.S_ISREG(kind):
                raise NotOrdinary(f"{inside} is a link or no ordinary file")
            else:
                content, status = read_at(folder, name, self._bytes)
                self._bytes -= len(content)
                yield _Entry(inside, status, content)
