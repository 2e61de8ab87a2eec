"""What is said of an answer that can't be read."""

from typing import Any


class FormatError(ValueError):
    """The answer can't be read; the message is shown to the student."""


def refuse_set(raw: Any, entries: str) -> None:
    """Refuse a set where order matters: which of its entries comes first is chance.

    One that has reached the grader is a list that says so.

    Raises
    ------
    FormatError
        If it has two entries or more.
    """
    came = isinstance(raw, (set, frozenset)) or getattr(raw, "unordered", False)
    if came and len(raw) > 1:
        raise FormatError(f"a set has no order: write the {entries} in a list, or as text")
