"""Sort notebooks by student and assignment, and keep the latest of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.people.roster import roster_file
from autograder.course.release.handed_out import Release
from autograder.course.submissions.hand_in import HandIn, hand_in, keep_hand_in, keep_origin
from autograder.course.submissions.handed_in import Unreadable, parse_notebook
from autograder.delivery.nbgrader.database import submitted_at, time_zone
from autograder.delivery.nbgrader.people import people, roster
from autograder.delivery.platforms.layouts import Origin
from autograder.delivery.platforms.lms_files import Contents, File, Problem, printable
from autograder.delivery.platforms.moodle_worksheet import MoodleWorksheet
from autograder.delivery.platforms.owners import as_meant, identify
from autograder.delivery.platforms.provenance import Attribution
from autograder.delivery.platforms.teams import members
from autograder.student.notebook import grade_id


@dataclass
class Collection:
    """What came of collecting.

    Attributes
    ----------
    new, updated, unchanged
        (student, assignment) of each submission.
    problems
        What was left where it was and needs a person: it may be somebody's submission.
    left
        What was left with less ado: strangers' files, earlier versions, what is no notebook.
    notes
        What else is to be known.
    """

    new: list[tuple[str, str]] = field(default_factory=list)
    updated: list[tuple[str, str]] = field(default_factory=list)
    unchanged: list[tuple[str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Say it on the console."""
        counts = (
            f"{len(self.new)} new, {len(self.updated)} updated, {len(self.unchanged)} unchanged"
        )
        if left := len(self.problems) + len(self.left):
            counts += f", {left} left"
        return [*map(str, [*self.left, *self.problems]), *map(printable, self.notes), counts]


def stranger(course: Course, student: str) -> str:
    """Say that somebody is not on the class list."""
    return (
        f"{student} is not on the roster, and is not graded; "
        f"if the id is right, add it to {roster_file(course).name}"
    )


@dataclass(frozen=True)
class _Found:
    """A notebook whose owner and assignment are known."""

    file: File
    digest: bytes
    origin: Origin
    team: tuple[str, ...] = ()

    @property
    def time(self) -> datetime | None:
        """When it was handed in, where the platform says so."""
        return self.origin.time

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """Later files are greater."""
        return (
            self.time or datetime.min,
            self.file.modified or datetime.min,
            self.file.path,
        )

    def content(self) -> bytes:
        """Return what was looked at; raise ValueError if it is something else by now."""
        content = self.file.read()
        if sha256(content).digest() != self.digest:
            raise ValueError("it changed while it was collected: collect it again")
        return content

    @property
    def known(self) -> HandIn:
        """What is kept of it beside the notebook."""
        modified = self.file.modified.isoformat() if self.file.modified else ""
        said = self.origin
        return HandIn(self.file.path, said.platform, said.late, modified, said.number, self.team)


class Collector:
    """Sorts notebooks by student and assignment, and keeps the latest of each."""

    def __init__(self, course: Course, ids: Sequence[str]) -> None:
        self.course, self.ids, self.result = course, ids, Collection()
        self.known = people(course)
        self.roster = roster(course)
        self.zone = time_zone(course)
        released = course.folder("release")
        self.cells = {
            id: _grade_ids(Release.load(course, id).notebook)
            for id in course.ids()
            if id in ids or (released / id).is_dir()  # of what is to come nobody hands in
        }
        self.latest: dict[tuple[str, str], _Found] = {}
        self.twofold: dict[tuple[str, str], list[_Found]] = {}  # several people under one id
        self._telling = "; Moodle's grading worksheet has it (--worksheet)"

    def take_all(self, contents: Contents, worksheet: MoodleWorksheet | None) -> None:
        """Find out whose each notebook of a source is and of which assignment."""
        if worksheet:
            self._telling = f"; {worksheet.path.name} has no time for them: is it of this download?"
        said = Attribution(
            contents,
            list(self.cells),
            self.known,
            listed=bool(self.roster),
            zone=self.zone,
            worksheet=worksheet,
        )
        for file in said.files:
            self._take(file, said)

    def _take(self, file: File, said: Attribution) -> None:
        try:
            if said.doubt:
                raise ValueError(said.doubt)
            content = file.read()
            whose, stem = said.of(file)
            team = members(whose, self.known) if whose.team else ()
            student = "" if team else identify(whose, self.known)
            whose = as_meant(whose, self.known.get(student))
            assignment = self._assignment(stem, content)
            if assignment not in self.ids:
                self._leave(
                    file, f"it is of {assignment}: `autograder collect {assignment}` takes it"
                )
                return
            if team:
                team = self._listed(team, file)
                student = self._keeper(team, whose, assignment)
            if self.roster and student not in self.roster:
                self._leave(file, stranger(self.course, student))
                return
        except ValueError as error:
            self.result.problems.append(Problem(file.path, f"{error}."))
            return
        place = student, assignment
        found = _Found(file, sha256(content).digest(), whose, team)
        other = self.latest.setdefault(place, found)
        names = [(f.origin.who, f.origin.number, f.origin.platform) for f in (other, found)]
        if names[0] != names[1]:
            self.twofold.setdefault(place, [other]).append(found)
        elif other.digest != found.digest:
            first, last = sorted((other, found), key=lambda f: f.order)
            self.latest[place] = last
            self._leave(
                first.file,
                f"{student} handed in {assignment} twice; what counts is {last.file.path}",
            )

    def _listed(self, team: tuple[str, ...], file: File) -> tuple[str, ...]:
        """Return who of a team is in the class."""
        listed = tuple(id for id in team if not self.roster or id in self.roster)
        for id in sorted({*team} - {*listed} if listed else ()):
            self._leave(file, f"of its team {stranger(self.course, id)}")
        return listed or team

    def _keeper(self, team: tuple[str, ...], whose: Origin, assignment: str) -> str:
        """Return under whose id a team's notebook is kept: the same one when it comes again."""
        for id in team:
            before = hand_in(self.course, id, assignment)
            if (before.team and before.platform, before.number) == (whose.platform, whose.number):
                return id
        return team[0]

    def _once(self) -> None:
        """Take who has two notebooks out of the teams: which of them counts nobody says."""
        own = Counter(
            (id, a) for (student, a), f in self.latest.items() for id in (f.team or (student,))
        )
        for (student, assignment), found in self.latest.items():
            team = found.team
            for id in found.team:
                place = id, assignment
                alone = id != student and self.course.submission(*place).is_file()
                if id != student and (own[place] > 1 or alone):
                    team = tuple(one for one in team if one != id)
                    self.result.problems.append(
                        Problem(
                            found.file.path,
                            f"{id} is in that team and has another notebook of {assignment} as "
                            "well: the team's doesn't count for that one. If it should, remove the "
                            "other from the folder or zip and from submitted/, and collect again.",
                        )
                    )
            self.latest[student, assignment] = replace(found, team=team)

    def _leave(self, file: File, reason: str) -> None:
        self.result.left.append(Problem(file.path, f"{reason}."))

    def _assignment(self, stem: str, content: bytes) -> str:
        """Recognise an assignment by the cells, or by the file's name where they can't be read."""
        try:
            inside = _grade_ids(parse_notebook(content))
        except Unreadable:
            inside = set()
        shared = {id: len(cells & inside) for id, cells in self.cells.items()}
        likely = max(shared, key=lambda id: (shared[id], id == stem))
        if shared[likely]:
            return likely
        if stem in self.cells:
            return stem
        raise ValueError("neither its name nor its cells are of an assignment of this course")

    def store(self) -> None:
        """Write what is new into submitted/."""
        for (student, assignment), claims in self.twofold.items():
            del self.latest[student, assignment]
            others = ", ".join(found.file.path for found in claims[1:])
            self.result.problems.append(
                Problem(
                    claims[0].file.path,
                    f"this and {others} would both be {student}'s {assignment}, and the platform "
                    "names two people; neither is taken: put both on the roster, with its numbers.",
                )
            )
        self._once()
        for (student, assignment), found in sorted(self.latest.items()):
            place = student, assignment
            path = self.course.submission(student, assignment)
            there = path.is_file()
            before = hand_in(self.course, student, assignment) if there else HandIn()
            if before.is_another_s(found.known) and not self._both_are(
                student, before, found.known
            ):
                self.result.problems.append(
                    Problem(
                        found.file.path,
                        f"{student}'s {assignment} was collected before from {before.file}, and "
                        f"{before.platform} calls that person {before.number} and this one "
                        f"{found.origin.number}: two people of one name? It is left. Put both on "
                        "the roster, with the numbers; where it is one person, both numbers",
                    )
                )
                continue
            same = there and sha256(path.read_bytes()).digest() == found.digest
            try:
                content = found.content() if not same else b""
            except ValueError as error:
                self.result.problems.append(Problem(found.file.path, f"{error}."))
                continue
            if there and not same and not self._is_later(found, student, assignment):
                self._leave(
                    found.file,
                    f"a submission of {assignment} by {student} that is at least as new was "
                    "collected before; it stays",
                )
                continue
            if not same:
                write_atomically(path, content)
            if found.time or not same:
                keep_hand_in(path, found.known, found.time)
            elif hand_in(self.course, student, assignment) != found.known:  # killed in between
                keep_origin(path, found.known)
            done = self.result
            (done.unchanged if same else done.updated if there else done.new).append(place)
            if also := [id for id in found.team if id != student]:
                done.notes.append(
                    f"{assignment}: the notebook of {found.origin.who} is kept as {student}'s, and "
                    f"counts for {', '.join(also)} as well"
                )
        self.result.notes += self._about_times()

    def _both_are(self, student: str, one: HandIn, other: HandIn) -> bool:
        """Tell whether the roster has both numbers as one student's."""
        listed = self.known[student].numbers if student in self.known else {}
        return {one.number, other.number} <= set(listed.get(one.platform, ()))

    def _is_later(self, found: _Found, student: str, assignment: str) -> bool:
        time = submitted_at(self.course, student, assignment)
        if time and found.time:
            return found.time > time
        return hand_in(self.course, student, assignment).before(found.file.modified)

    def _about_times(self) -> list[str]:
        """Say for whom no penalty can be taken off, since nobody says when they handed in."""
        notes = []
        for id in self.ids:
            untimed = [f for (_, a), f in self.latest.items() if a == id and not f.time]
            late = [found for found in untimed if found.origin.late]
            if late:
                notes.append(
                    f"{id}: {len(late)} are late, says {late[0].origin.platform}, and not by how "
                    "much: no penalty is taken off. Where you know the time, write it into "
                    "submitted/<student>/<assignment>/timestamp.txt and grade"
                )
            elif untimed and id in self.course.due:
                moodle = any(found.origin.platform == "moodle" for found in untimed)
                notes.append(
                    f"{id}: {len(untimed)} came without a time of handing in: no penalty is "
                    f"taken off for them{self._telling if moodle else ''}"
                )
        return notes


def _grade_ids(notebook: object) -> set[str]:
    """Return the grade_ids of a notebook's cells; the file may hold anything."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return {*map(grade_id, cells if isinstance(cells, list) else ())} - {""}
