"""One progress bar of submissions; beside it stands which expensive calls are being made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """Counts submissions, of one course or of several.

    Parameters
    ----------
    shown
        What shows it.
    total
        How many there are, where that is known before the first course tells.
    """

    def __init__(self, shown: Progress, total: int | None = None) -> None:
        self._shown = shown
        self._of = ""
        self._calls: dict[str, str] = {}
        self._task = None if total is None else shown.add_task("grading", total=total)

    def begin(self, total: int) -> None:
        """Be told how many submissions a course has."""
        if self._task is None:
            self._task = self._shown.add_task("grading", total=total)

    def name(self, course: str) -> None:
        """Say which course is being graded."""
        self._of = course
        self._describe()

    def advance(self, count: int = 1) -> None:
        """Count so many more."""
        if self._task is not None:
            self._shown.advance(self._task, count)

    def reach(self, count: int) -> None:
        """Count so many as done: those of a course that was left among them."""
        if self._task is not None:
            self._shown.update(self._task, completed=count)

    def tell(self, student: str, function: str) -> None:
        """Be told that a submission calls an expensive function; none once that is over."""
        self._calls.pop(student, None)
        if function:
            self._calls[student] = f"{function}() of {student}"
        self._describe()

    def _describe(self) -> None:
        if self._task is not None:
            said = " ".join(filter(None, ("grading", self._of, ", ".join(self._calls.values()))))
            self._shown.update(self._task, description=said)
