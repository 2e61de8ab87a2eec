"""Expensive calls of submissions, beside their records: ``records/<student>/.runs/<assignment>/``.

A file is what one call gave, under a hash of all that this depends on.  It is data, in the form in
which it came from the student's process, and no student's process can read or write it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.submissions.handed_in import Handed
from autograder.grading.runs import Run, unpacked

#: Told whose submission makes an expensive call of which function, and of none once it is over.
Tell = Callable[[str, str], None]

_FOLDER = ".runs"
_ENDING = ".run"


class KeptRuns:
    """The expensive calls of one submission, while it is graded.

    Parameters
    ----------
    known
        What an earlier grading has kept, by its keys.
    tell
        Told when one begins and ends.

    Attributes
    ----------
    asked
        What this grading has asked for and may be kept: the others nobody asks for any more.
    """

    def __init__(
        self, student: str, known: Mapping[str, bytes] | None = None, tell: Tell | None = None
    ) -> None:
        self._student, self._tell = student, tell
        self._known = dict(known or {})
        self.asked: dict[str, bytes] = {}

    def find(self, key: str) -> bytes | None:
        """Return what was kept under a key, if anything was."""
        if key in self._known:
            self.asked[key] = self._known[key]
        return self._known.get(key)

    def keep(self, key: str, content: bytes) -> None:
        """Keep it for the next grading."""
        self._known[key] = self.asked[key] = content

    @contextmanager
    def telling(self, function: str) -> Iterator[None]:
        """Tell, meanwhile, that the function is being called."""
        if self._tell is None:
            yield
            return
        self._tell(self._student, function)
        try:
            yield
        finally:
            self._tell(self._student, "")


def kept_runs(folder: Path) -> dict[str, bytes]:
    """Return what is kept in a folder, by its keys."""
    try:
        found = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):  # nearly all submissions have none
        return {}
    return {path.stem: path.read_bytes() for path in found if path.suffix == _ENDING}


def keep_runs(folder: Path, runs: Mapping[str, bytes]) -> None:
    """Keep these in a folder, and nothing else."""
    there = kept_runs(folder)
    for key, content in runs.items():
        if there.get(key) != content:
            write_atomically(folder / f"{key}{_ENDING}", content)
    for key in there.keys() - runs.keys():
        (folder / f"{key}{_ENDING}").unlink(missing_ok=True)


def folder_of(course: Course, student: str, assignment: str) -> Path:
    """Return where the calls of a submission are kept."""
    return course.record(student, assignment).parent / _FOLDER / assignment


def read_runs(course: Course, student: str, assignment: str) -> dict[str, Run]:
    """Return what is kept of a submission, by the name of the function that was called."""
    found = {}
    for content in kept_runs(folder_of(course, student, assignment)).values():
        if known := unpacked(content):
            function, run = known
            found[function] = run
    return found


def forget(course: Course, again: Iterable[Handed] = ()) -> None:
    """Remove the calls of submissions that are gone, and of those that are to make them again."""
    repeated = {folder_of(course, handed.student, handed.assignment) for handed in again}
    for folder in (course.root / "records").glob(f"*/{_FOLDER}/*"):
        student, assignment = folder.parents[1].name, folder.name
        if folder in repeated or not course.submission(student, assignment).exists():
            shutil.rmtree(folder, ignore_errors=True)
