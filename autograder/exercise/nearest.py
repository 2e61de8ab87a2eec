"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """Return a question for the nearest known name; an empty text where none is near.

    >>> meant("secnds", ["seconds", "speed"])
    " (did you mean 'seconds'?)"
    """
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
