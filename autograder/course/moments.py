"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_EXPECTED = 'write it like "2027-03-01 23:59 UTC" or "2027-03-01 23:59 Europe/Berlin"'


def moment(text: str) -> datetime:
    """Return a time that a person wrote with its zone (in UTC, without one, as nbgrader keeps it).

    Raises
    ------
    ValueError
        If it is no time, or has no zone; the message goes on a sentence about it.
    """
    date, _, zone = text.strip().rpartition(" ")
    try:
        if date and zone[:1].isalpha():
            found = datetime.fromisoformat(date).replace(tzinfo=ZoneInfo(zone))
        else:
            found = datetime.fromisoformat(date + zone if zone[:1] in "+-" else text.strip())
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise ValueError(f"is no date: {_EXPECTED}") from None
    if found.tzinfo is None:
        raise ValueError(f"has no time zone: {_EXPECTED}")
    return found.astimezone(UTC).replace(tzinfo=None)
