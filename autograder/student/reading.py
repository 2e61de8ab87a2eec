"""What an answer is read as."""

from __future__ import annotations

from typing import Any, NamedTuple

from autograder.student.entries import MAX_NESTED
from autograder.student.literals import Entry


class Reading(NamedTuple):
    """An answer as it is read, and what the student is told of that.

    Attributes
    ----------
    value
        What the grader judges.
    shown
        What was read, for the student.
    advice
        What the student may want to do about it.
    entries
        The numbers of it as they were written.
    typeset
        By line of what is shown, LaTeX of it; none for other lines.
    """

    value: Any
    shown: str
    advice: str = ""
    entries: tuple[Entry, ...] = ()
    typeset: tuple[str, ...] = ()


def is_blank(raw: object, depth: int = 0) -> bool:
    """Tell whether an answer was never written: None, empty text, or nothing but those."""
    if isinstance(raw, dict) and raw:
        raw = list(raw.values())
    if isinstance(raw, (list, tuple, set, frozenset)) and raw != () and depth < MAX_NESTED:
        return all(is_blank(entry, depth + 1) for entry in raw)
    return raw is None or (isinstance(raw, str) and not raw.strip())
