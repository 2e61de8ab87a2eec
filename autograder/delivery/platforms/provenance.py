"""Whose the files of a source are and when they came, as far as its platform says it.

What a platform says stands in the outermost names, in its own list beside them, or in nbgrader's
files where the whole source is nbgrader's. Nothing in a student's upload says who or when.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property

from autograder.course.config import CourseError
from autograder.course.people.roster import Person
from autograder.course.people.student_ids import STUDENT_ID
from autograder.delivery.platforms.gradescope_metadata import METADATA, Submission, read_metadata
from autograder.delivery.platforms.layouts import (
    Origin,
    around,
    as_moodle_writes,
    origin,
    platform_s,
)
from autograder.delivery.platforms.lms_files import Contents, File
from autograder.delivery.platforms.moodle_worksheet import MoodleWorksheet, WorksheetRow
from autograder.delivery.platforms.owners import named

#: What Moodle calls everybody under blind marking, in some of its languages.
_HIDDEN = re.compile(
    "participante?|teilnehmer(in)?|teilnehmende|partecipante|deelnemer|uczestnik|deltagare|"
    "deltager|deltaker|osallistuja|účastník|участник|учасник|résztvevő",
    re.IGNORECASE,
)


class Attribution:
    """What the platform says of the files of one source.

    Parameters
    ----------
    known
        Everybody, by id.
    listed
        Is there a class list?
    zone
        The platform's clock.
    worksheet
        Moodle's, where one was named.

    Attributes
    ----------
    doubt
        Why all files of the source are left; empty where they aren't.
    """

    def __init__(
        self,
        contents: Contents,
        assignments: Sequence[str],
        known: Mapping[str, Person],
        *,
        listed: bool,
        zone: tzinfo,
        worksheet: MoodleWorksheet | None = None,
    ) -> None:
        self._assignments, self._zone, self._worksheet = assignments, zone, worksheet
        self.doubt = ""
        self._prefix = around(contents.names, assignments)
        if self._prefix:
            self._consider(contents, known, listed)
        names = [name.removeprefix(self._prefix) for name in contents.names]
        self.files = [replace(f, path=f.path.removeprefix(self._prefix)) for f in contents.files]
        self._said = [said for name in names if (said := platform_s(name, assignments))]
        self._submissions = _submissions(contents)

    def _consider(self, contents: Contents, known: Mapping[str, Person], listed: bool) -> None:
        """Decide whether a folder is around everything, or is a student's who imitates that."""
        ids = {id.casefold() for id in known}
        outer = [name for name in self._prefix.split("/") if name]
        if self._prefix == f"{contents.own_name}/":
            return  # whoever made the zip, or unpacked it, named both
        inside = (
            platform_s(n.removeprefix(self._prefix), self._assignments) for n in contents.names
        )
        several = len({(said.who, said.number) for said in inside if said}) > 1
        if any(name.casefold() in ids or named(name, known) for name in outer):
            self._prefix = ""
        elif not (several and listed):
            if several:
                self.doubt = (
                    f"{self._prefix} may be a folder around what a platform wrote, or a student's: "
                    "name that folder itself with --from, or keep a class list"
                )
            self._prefix = ""

    def of(self, file: File) -> tuple[Origin, str]:
        """Return whose a file is, with the time in UTC, and the file's own name.

        Raises
        ------
        ValueError
            If nobody is named.
        """
        said, stem = origin(file.path, self._assignments)
        if self._submissions is not None:
            submission = self._submissions.get(file.path.split("/")[0], Submission())
            return replace(submission.owner, time=submission.time), stem
        if said.platform == "moodle":
            said = self._in_moodle(said)
        elif said.time:
            said = replace(said, time=self._as_utc(said.time))
        elif self.is_nbgrader_s and file.stamp and file.path.count("/") == 2:
            said = replace(said, time=file.stamp())
        return said, stem

    @cached_property
    def is_nbgrader_s(self) -> bool:
        """Is the whole source as nbgrader leaves it, with times beside all notebooks?

        A student could upload such a folder; not for everybody else, too.
        """
        for file in self.files:
            student, *inside = file.path.split("/")
            own = len(inside) > 1 and inside[0] in self._assignments
            if not own or not STUDENT_ID.fullmatch(student):
                return False
            if len(inside) == 2 and not file.stamp:
                return False
        return not self._said

    def _in_moodle(self, said: Origin) -> Origin:
        """Add what Moodle doesn't say in one name: is it a person, a group, or hidden?"""
        moodle = [known for known in self._said if known.platform == "moodle"]
        row = self._worksheet.rows.get(said.number) if self._worksheet else None
        own = row is not None and as_moodle_writes(row.name) == said.who
        group = [] if own else self._rows_of(said.who)
        if group or any(known.team for known in moodle):
            times = [self._as_utc(row.time) for row in group if row.time]
            people = tuple(
                Origin(row.name, row.number, said.platform, email=row.email) for row in group
            )
            return replace(said, team=True, members=people, time=max(times, default=None))
        alike = len({known.who for known in moodle}) == 1
        numbers = {known.number for known in moodle}
        hidden = bool(_HIDDEN.fullmatch(said.who)) or (alike and len(numbers) > 2)
        if row is None:
            return replace(said, hidden=hidden)
        time = self._as_utc(row.time) if row.time else None
        who = row.name if hidden and row.name else said.who
        return replace(said, who=who, time=time, email=row.email, hidden=hidden and not row.name)

    def _rows_of(self, group: str) -> list[WorksheetRow]:
        """Return whom the worksheet has in a group, if it is of teams."""
        rows = self._worksheet.rows.values() if self._worksheet else ()
        return [row for row in rows if group in map(as_moodle_writes, row.groups)]

    def _as_utc(self, time: datetime) -> datetime:
        """Read a platform's time, which names no zone, on the course's clock."""
        return time.replace(tzinfo=self._zone).astimezone(UTC).replace(tzinfo=None)


def _submissions(contents: Contents) -> dict[str, Submission] | None:
    """Return what Gradescope's list says of each folder, where there is such a list."""
    if contents.listed is None:
        return None
    try:
        return read_metadata(contents.listed())
    except ValueError as error:
        raise CourseError(f"{METADATA}: {error}; it says whose each folder is") from None
