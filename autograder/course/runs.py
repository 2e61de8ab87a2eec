"""Expensive calls of submissions, beside their records: ``records/<student>/.runs/<assignment>/``.

A file is what one call gave, under a hash of all that this depends on.  It is data, in the form in
which it came from the student's process, and no student's process can read or write it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.submissions import Handed
from autograder.grading.runs import Run, unpacked

#: Told whose submission makes an expensive call of which function, and of none once it is over.
Tell = Callable[[str, str], None]

_FOLDER = ".runs"
_ENDING = ".run"


class KeptRuns:
    """The expensive calls of one submission.

    Parameters
    ----------
    folder
        Where they are kept; without one they are not.
    tell
        Told when one begins and ends.
    """

    def __init__(self, folder: Path | None, student: str, tell: Tell | None = None) -> None:
        self._folder, self._student, self._tell = folder, student, tell
        self._asked: set[Path] = set()

    def find(self, key: str) -> bytes | None:
        """Return what was kept under a key, if anything was."""
        if self._folder is None:
            return None
        self._asked.add(path := self._folder / f"{key}{_ENDING}")
        try:
            return path.read_bytes()
        except OSError:
            return None

    def keep(self, key: str, content: bytes) -> None:
        """Keep it for the next grading."""
        if self._folder is not None:
            write_atomically(self._folder / f"{key}{_ENDING}", content)

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

    def sweep(self) -> None:
        """Forget what this grading has not asked for: nothing asks for it any more."""
        if self._folder is not None:
            for path in {*self._folder.glob(f"*{_ENDING}")} - self._asked:
                path.unlink(missing_ok=True)


def folder_of(course: Course, student: str, assignment: str) -> Path:
    """Return where the calls of a submission are kept."""
    return course.record(student, assignment).parent / _FOLDER / assignment


def read_runs(course: Course, student: str, assignment: str) -> dict[str, Run]:
    """Return what is kept of a submission, by the name of the function that was called."""
    found = {}
    for path in sorted(folder_of(course, student, assignment).glob(f"*{_ENDING}")):
        if known := unpacked(path.read_bytes()):
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
