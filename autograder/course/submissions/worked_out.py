"""What grading worked out and takes long, for other processes: ``records/.worked_out.db``.

It is what the engine says of an exercise and of an answer, whoever gave it: how a known mistake
fails a check, what a reference returns, what a derivation earns.  No student's process can read or
write it.  It is found again while engine, libraries and the files of the assignment are the same;
without it all is worked out once more.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

from autograder.algebra.deriving.judging.examination import Examination
from autograder.algebra.deriving.judging.finding import Finding
from autograder.course.config import Course, CourseError
from autograder.course.digests import engine_digest, hash_file, hash_of, libraries_digest
from autograder.course.files import make_private
from autograder.course.submissions.keys import files_of
from autograder.exercise import Mismatch
from autograder.exercise.cache import Values
from autograder.grading.runs import Run
from autograder.sandbox import Reply, WireError
from autograder.sandbox.wire import decode, encode_parts

FILE = ".worked_out.db"
_LAYERS = ("student", "algebra", "exercise", "sandbox", "grading")
_SECONDS = 1.0  # to wait for another process that writes
_LOOK = 0.25  # seconds between looks at what other processes have kept
_MOST = 1 << 20  # bytes of a result
_TABLE = (
    "CREATE TABLE IF NOT EXISTS known (key BLOB PRIMARY KEY, topic BLOB, assignment TEXT, "
    "computing BLOB, header BLOB, payload BLOB)"
)
_INDEX = "CREATE INDEX IF NOT EXISTS topics ON known (assignment, topic)"


class WorkedOut:
    """What is known of one assignment.

    Parameters
    ----------
    found
        May it be found?  `verify` keeps for graders what it works out, and takes nothing as known.
    """

    def __init__(self, course: Course, assignment: str, *, found: bool = True) -> None:
        self._course, self._assignment, self._found = course, assignment, found
        self._topics: set[bytes] = set()
        self._version, self._next_look = -1, 0.0

    def knows(self, topic: bytes) -> bool:
        """Tell whether anything was kept about a topic, a moment ago at the latest."""
        if not self._found:
            return False
        if topic not in self._topics and time.monotonic() >= self._next_look:
            self._look()
        return topic in self._topics

    def find(self, key: bytes) -> tuple[Any, set[str]] | None:
        """Return a result and the names of the references that were called for it."""
        with _trying():
            if self._file is None:
                return None
            asked = "SELECT header, payload FROM known WHERE key = ?"
            row = self._file.execute(asked, (self._key(key),)).fetchone()
            if row is not None:
                return _unpacked(decode(*row))
        return None

    def keep(self, topic: bytes, key: bytes, result: Any, names: set[str]) -> None:
        """Keep a result that is plain data, or says what failed."""
        with _trying():  # what isn't plain data can't be kept
            header, buffers = encode_parts(_packed(result, names))
            payload = b"".join(buffers)
            if self._file is None or len(header) + len(payload) > _MOST:
                return
            if not _same(_unpacked(decode(header, payload))[0], result):
                return
            row = self._key(key), topic, self._assignment, self._computing, header, payload
            self._file.execute("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?)", row)
            self._topics.add(topic)

    def close(self) -> None:
        """Close the file."""
        if file := self.__dict__.get("_file"):  # if anything was asked
            file.close()

    def _key(self, key: bytes) -> bytes:
        return hash_of([self._computing, key])

    @cached_property
    def _computing(self) -> bytes:
        """Hash what results depend on besides what was asked."""
        course = self._course
        settings = f"{course.id} {course.gpu} {self._assignment}".encode()
        return hash_of([_engine(), settings, *map(hash_file, files_of(course, self._assignment))])

    def _look(self) -> None:
        """Take note of the topics, if another process has kept something since the last look."""
        self._next_look = time.monotonic() + _LOOK
        with _trying():
            if self._file is None:
                return
            (version,) = self._file.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._version = version
                asked = "SELECT DISTINCT topic FROM known WHERE assignment = ?"
                self._topics.update(t for (t,) in self._file.execute(asked, (self._assignment,)))

    @cached_property
    def _file(self) -> sqlite3.Connection | None:
        """The file, without what holds no longer; None where it can't be used."""
        path = self._course.root / "records" / FILE
        private, folder = self._course.private
        try:
            make_private(path.parent, folder)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, private))
            file = sqlite3.connect(
                path, timeout=_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, CourseError, sqlite3.Error):  # a folder that nobody may write to
            return None
        try:
            file.execute("PRAGMA synchronous = OFF")  # what is lost is worked out once more
            file.execute(_TABLE)
            file.execute(_INDEX)
            file.execute(
                "DELETE FROM known WHERE assignment = ? AND computing <> ?",
                (self._assignment, self._computing),
            )
        except sqlite3.OperationalError:  # another process writes, or the disk is full
            file.close()
            return None
        except sqlite3.DatabaseError:  # it is none
            file.close()
            path.unlink(missing_ok=True)
            return None
        return file


@contextmanager
def _trying() -> Iterator[None]:
    """Go on without, where the file or what stands in it can't be used."""
    with contextlib.suppress(sqlite3.Error, OSError, WireError, ValueError, TypeError, KeyError):
        yield


@cache
def _engine() -> bytes:
    """Hash the engine as it was when this process began, and the libraries."""
    return hash_of([engine_digest(*_LAYERS), libraries_digest()])


#: Kinds of results that are known by their attributes, which are plain data; others are such.
_KINDS = {kind.__name__: kind for kind in (Examination, Mismatch, Reply, Run)}


def _packed(result: Any, names: set[str]) -> tuple[Any, ...]:
    """Return a result as plain data."""
    kind = type(result).__name__
    if type(result) is not _KINDS.get(kind):
        return "", result, sorted(names)
    values = dict(vars(result))
    if type(result) is Examination:
        values["findings"] = [vars(each) for each in result.findings]
    return kind, values, sorted(names)


def _unpacked(packed: Any) -> tuple[Any, set[str]]:
    kind, values, names = packed
    if kind == Examination.__name__:
        values["findings"] = tuple(Finding(**each) for each in values["findings"])
    return _KINDS[kind](**values) if kind else values, set(names)


def _same(found: Any, result: Any) -> bool:
    """Tell whether a result came out of its packed form as it went in."""
    if type(result) is Examination:
        return bool(found == result)
    if type(result) in _KINDS.values():
        found, result = vars(found), vars(result)
    return Values(found).key == Values(result).key
