"""Grade what arrives: collect, grade and publish feedback, again and again.

All that a watch must know is on disk (submissions, records, pages), so that one that was killed is
followed by another which goes on where it stopped.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.digests import engine_digest
from autograder.course.lock import watching
from autograder.course.people.roster import roster_file
from autograder.course.settings import WHEN
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.handed_in import Handed, submissions
from autograder.course.submissions.records import recorded
from autograder.delivery.department.arrivals import Arrivals, Inbound, Stamp, stamp
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.nbgrader import extensions
from autograder.delivery.nbgrader.exchange import run
from autograder.delivery.nbgrader.handed_over import UNFINISHED
from autograder.delivery.pages.feedback import shows, write_feedback
from autograder.delivery.pages.solutions import over
from autograder.delivery.platforms.collect import collect
from autograder.delivery.platforms.lms_files import printable
from autograder.sandbox import SandboxError

Say = Callable[[str], object]


@dataclass
class Watcher:
    """Looks at a source, and does what there is to do.

    Attributes
    ----------
    source
        ``"exchange"`` for nbgrader's, or a folder.
    feedback
        One of ``WHEN``; empty leaves it to ``c.Course.watch_feedback``.
    say
        Told what was done, a line at a time.
    """

    root: Path
    ids: list[str]
    source: str | Path = "exchange"
    feedback: str = ""
    options: GradingOptions = DEFAULT
    say: Say = print
    _said: set[str] = field(default_factory=set)
    _graded: dict[Handed, tuple[Stamp | None, ...]] = field(default_factory=dict)
    _published: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._engine = engine_digest()
        self._inbound = Inbound()
        self._arrivals = Arrivals(Path(self.source))
        self._when(Course.load(self.root))
        if self.source != "exchange" and not self._arrivals.folder.is_dir():
            raise CourseError(
                f"{self.source} is no folder: a watch looks at the exchange or at a folder, and "
                "`autograder collect` takes zip files"
            )

    def once(self) -> bool:
        """Collect, grade and publish what there is; tell whether all went well.

        Raises
        ------
        CourseError
            If something can't be used; what was done until then stays done.
        """
        course = Course.load(self.root)
        if engine_digest() != self._engine:
            raise CourseError(
                "the engine was changed since this watch began, which goes on with the old one: "
                "end it, and start it again"
            )
        well = self._collect(course)
        well = self._grade(course) and well
        self._publish(course)
        return well

    def forever(self, every: float) -> None:
        """Do so every so many seconds, whatever comes."""
        failed = ""
        while True:
            try:
                self.once()
                failed = ""
            except (CourseError, SandboxError, OSError) as error:  # a person grades, a full disk
                if str(error) != failed:
                    self.say(f"error: {error}; it is tried again")
                failed = str(error)
            time.sleep(every)

    def unfinished(self) -> None:
        """Name what was passed over in the folder."""
        self._name(self._arrivals.unfinished)

    def _collect(self, course: Course) -> bool:
        if self.source == "exchange":
            ids = self._inbound.look(course, self.ids)
            if not ids:
                return True
            done = collect(course, ids)
            self._inbound.taken(ids)
        else:
            there = self._arrivals.look()
            self._name(self._arrivals.overdue())
            if not there:
                return True
            done = collect(course, self.ids, self.source, only=self._arrivals.finished())
            self._arrivals.taken()
        for line in map(str, (*done.left, *done.problems, *done.notes)):
            self._say_once(line)
        if done.new or done.updated:
            self.say(f"collected: {len(done.new)} new, {len(done.updated)} updated")
        return all(UNFINISHED in problem.message for problem in done.problems)

    def _name(self, files: dict[str, str]) -> None:
        for path, why in files.items():
            self._say_once(f"{path}: {why}; it is taken when it is all there")

    def _grade(self, course: Course) -> bool:
        """Grade what was not graded as it is now; the records know what is up to date."""
        settings = tuple(
            stamp(path)
            for path in (course.root / CONFIG, roster_file(course), extensions.path_of(course))
        )
        now = {
            handed: (stamp(handed.path), stamp(handed.path.with_name("timestamp.txt")), *settings)
            for id in self.ids
            for handed in submissions(course, id)
        }
        todo = [handed for handed, known in now.items() if self._graded.get(handed) != known]
        if not todo:
            return True
        outcome = grade_and_save(
            course,
            sorted({handed.assignment for handed in todo}),
            replace(self.options, students=tuple(sorted({handed.student for handed in todo}))),
        )
        self._graded = now
        for id in self.ids:
            if count := sum(graded == id for _, graded in outcome.graded):
                self.say(f"{id}: {count} graded")
        for line in (*outcome.notes, *outcome.problems):
            self._say_once(line)
        return not outcome.problems

    def _publish(self, course: Course) -> None:
        """Write the pages that are older than their records, and hand them to the students."""
        when = self._when(course)
        for id in self.ids if when != "never" else ():
            students = recorded(course, id)
            if not students:
                continue
            if when == "due" and not over(course, id):
                self._say_once(_waits(course, id))
                continue
            stale = {student for student in students if not shows(course, student, id)}
            if stale and course.quartiles:  # the class is another, and stands on everybody's page
                stale = set(students)
            pages = write_feedback(course, [id], stale) if stale else []
            if self.source == "exchange" and (stale or id not in self._published):
                # a watch that was killed may have written pages and not released them
                some = id in self._published and stale != set(students)
                for student in sorted(stale) if some else ["*"]:
                    run(course, "release_feedback", id, student)
                self._published.add(id)
            if pages:
                self.say(f"{id}: feedback of {len(pages)} published")

    def _when(self, course: Course) -> str:
        when = self.feedback or course.watch_feedback
        if when not in WHEN:
            raise CourseError(f"--feedback is {when!r}; it is one of {', '.join(WHEN)}")
        return when

    def _say_once(self, line: str) -> None:
        line = printable(line)
        if line not in self._said:
            self._said.add(line)
            self.say(line)


def _waits(course: Course, assignment: str) -> str:
    """Say why feedback isn't published yet."""
    if due := course.due.get(assignment):
        return f"{assignment}: feedback is published after {due} and the last extension of it"
    return (
        f"{assignment}: feedback is not published, since it has no due date: give it one, or say "
        '--feedback now, or c.Course.watch_feedback = "now" in course_config.py'
    )


def watch(work: Watcher, *, every: float, once: bool) -> bool:
    """Watch until a signal ends it, or look ``once``; tell whether all went well.

    Raises
    ------
    CourseError
        If another watch works on the course, or, with ``once``, something can't be used.
    """
    said = work.say
    work.say = lambda line: said(f"{datetime.now():%H:%M:%S} {line}")
    course = Course.load(work.root)
    with watching(course), _stoppable():
        try:
            if once:
                well = work.once()
                work.unfinished()
                return well
            place = "the exchange" if work.source == "exchange" else work.source
            work.say(f"watching {place} for {', '.join(work.ids)}; Ctrl-C ends it")
            work.forever(every)
        except KeyboardInterrupt:
            work.say("stopped; the next watch goes on here")
    return True


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
