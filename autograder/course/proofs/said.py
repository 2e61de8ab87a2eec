"""How a proof speaks of items."""

from __future__ import annotations

from autograder.grading.results import Item, Status


def lost(items: list[Item]) -> list[Item]:
    """Return the items that did not earn everything."""
    return [i for i in items if i.note != "manual" and i.status is not Status.PASSED]


def shown(item: Item) -> str:
    """Name an item and how it was graded."""
    return f"`{item.name}` ({item.status}, {item.note or 'no note'}: {item.feedback})"
