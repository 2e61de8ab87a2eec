"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from autograder.exercise.nearest import meant

_EXPECTED = 'write it like "2027-03-01 23:59 UTC" or "2027-03-01 23:59 Europe/Berlin"'


def moment(text: str) -> datetime:
    """Return a time that a person wrote with its zone (in UTC, without one, as nbgrader keeps it).

    Raises
    ------
    ValueError
        If it is no time, or has no zone; the message goes on a sentence about it.
    """
    date, _, zone = text.strip().rpartition(" ")
    named = bool(date) and zone[:1].isalpha()
    written = date if named else date + zone if zone[:1] in "+-" else text.strip()
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(f"is no date: {_EXPECTED}") from None
    if named:
        found = found.replace(tzinfo=_zone(zone))
    if found.tzinfo is None:
        raise ValueError(f"has no time zone: {_EXPECTED}")
    return found.astimezone(UTC).replace(tzinfo=None)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        near = meant(name, available_timezones())
        raise ValueError(
            f"has a time zone that there is not, {name!r}{near}: {_EXPECTED}"
        ) from None
