"""Read what Gradescope's export of submissions says of them: submission_metadata.yml."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import yaml

from autograder.delivery.platforms.layouts import Origin

METADATA = "submission_metadata.yml"
MAX_BYTES = 100 * 2**20
#: The C parser takes a second where the other takes a minute: all results stand in this file.
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):  # type: ignore[misc]
    """Reads plain data; what Ruby writes as an object of its own is passed over."""


_Loader.add_multi_constructor("!", lambda _loader, _tag, _node: None)


@dataclass(frozen=True)
class Submission:
    """A folder of the export.

    Attributes
    ----------
    submitters
        Several where a group handed in.
    time
        When it was handed in (UTC, without a time zone).
    """

    submitters: tuple[Origin, ...] = ()
    time: datetime | None = None

    @property
    def owner(self) -> Origin:
        """Whose it is.

        Raises
        ------
        ValueError
            If that is nobody.
        """
        if len(self.submitters) == 1:
            return self.submitters[0]
        if not self.submitters:
            raise ValueError(
                f"nobody handed it in, says {METADATA}: put it into a folder of its student's id "
                "and collect that"
            )
        names = ", ".join(one.who or one.email for one in self.submitters)
        return Origin(names, platform="gradescope", team=True, members=self.submitters)


def read_metadata(content: bytes) -> dict[str, Submission]:
    """Return the submissions of an export by their folders.

    Raises
    ------
    ValueError
        If it can't be read.
    """
    try:
        data = yaml.load(content, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"it can't be read ({' '.join(str(error).split())})") from None
    if not isinstance(data, dict):
        raise ValueError("it names no submissions")
    return {str(folder): _submission(known) for folder, known in data.items()}


def _submission(known: object) -> Submission:
    own = known if isinstance(known, dict) else {}
    listed = own.get(":submitters")
    people = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    time = own.get(":created_at")
    moment = time if isinstance(time, datetime) and time.tzinfo else None
    utc = moment and moment.astimezone(UTC).replace(tzinfo=None)
    return Submission(tuple(map(_submitter, people)), utc)


def _submitter(known: dict[str, Any]) -> Origin:
    name, number, email = (str(known.get(key) or "") for key in (":name", ":sid", ":email"))
    return Origin(name, number, "gradescope", email=email)
