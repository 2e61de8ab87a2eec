"""Grade a class: leave out what is up to date, and keep what is graded until it is saved."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from autograder.course.config import Course
from autograder.course.graders import Graders, Open
from autograder.course.graders.lost_graders import recovering
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import sharing
from autograder.course.limits import check_limits
from autograder.course.looks_given import looks_of
from autograder.course.release.handed_out import Release
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.job import Job, job_of
from autograder.course.submissions.kept_runs import Tell, folder_of, keep_runs, kept_runs
from autograder.course.submissions.keys import Keys
from autograder.course.submissions.records import keep, kept, recorded_key


def grade_class(
    course: Course,
    work: Sequence[Handed],
    options: GradingOptions = DEFAULT,
    *,
    tell: Tell | None = None,
    open_graders: Open | None = None,
    meanwhile: Callable[[Sequence[Handed]], Sequence[Handed]] = lambda _: (),
) -> Iterator[Graded]:
    """Grade submissions, several at once; yield each as it is done.

    A submission whose record is up to date is left out, unless they are forced; one that an
    interrupted run had graded but not saved is not run again either. The caller saves what is
    graded, and calls ``move_record`` last.

    Parameters
    ----------
    tell
        Told, in a thread of its own, when an expensive call begins and ends.
    open_graders
        Opens graders; by default processes of this machine.
    meanwhile
        Called once, before anything is yielded, while the first submissions are being graded: with
        those that are up to date. Which it returns are not: their records are gone.
    """
    check_limits(course)
    due = _Due(course, work, options.force, meanwhile)
    width = options.width

    def lose(job: Job, reason: str) -> Graded:
        from autograder.course.submissions.grade import Grader

        return Grader(course).lose(job, reason)

    with ExitStack() as stack:

        def here(wanted: int) -> Graders:
            nonlocal open_graders
            pool = Pool(wanted, options, tell=tell)
            open_graders = sharing(stack.enter_context(pool))(course)
            return open_graders(wanted)

        if not due.waiting:
            due.look()
        if due.waiting:
            if open_graders is None:
                width = min(width, len(due.waiting))
            for graded in recovering(open_graders or here, width, due.jobs(width), lose):
                due.look()
                names = graded.grade.student, graded.grade.assignment
                keep_runs(folder_of(course, *names), graded.runs)
                keep(course, graded)
                yield graded
        yield from due.unsaved


class _Due:
    """What of a class has to be graded.

    Attributes
    ----------
    waiting
        Submissions that no grader has yet.
    unsaved
        What an interrupted run had graded already.
    """

    def __init__(
        self,
        course: Course,
        work: Sequence[Handed],
        force: bool,
        meanwhile: Callable[[Sequence[Handed]], Sequence[Handed]],
    ) -> None:
        keys = Keys(course)
        self._course, self._force, self._meanwhile = course, force, meanwhile
        self._keys = {handed: keys.of(handed) for handed in work}
        self._same: list[Handed] = []
        self._looked = False
        self.waiting: deque[Handed] = deque()
        self.unsaved: list[Graded] = []
        for handed, key in self._keys.items():
            if not force and recorded_key(course, handed) == key:
                self._same.append(handed)
            else:
                self._add(handed)

    def jobs(self, first: int) -> Iterator[Job]:
        """Read submissions one by one, as there is somebody to grade them.

        When so many are given out ``first``, there is time to look at what is up to date.
        """
        releases: dict[str, Release] = {}
        while self.waiting:
            handed = self.waiting.popleft()
            if handed.assignment not in releases:
                releases[handed.assignment] = Release.load(self._course, handed.assignment)
            runs = kept_runs(folder_of(self._course, handed.student, handed.assignment))
            yield job_of(
                handed,
                releases[handed.assignment],
                key=self._keys[handed],
                runs=runs,
                looks=looks_of(self._course, (handed.student, *handed.team)),
            )
            first -= 1
            if first == 0 or not self.waiting:
                self.look()

    def look(self) -> None:
        """Say once what is up to date, and add what is not after all."""
        if not self._looked:
            self._looked = True
            for handed in self._meanwhile(self._same):
                self._add(handed)

    def _add(self, handed: Handed) -> None:
        if not self._force and (graded := kept(self._course, handed, self._keys[handed])):
            self.unsaved.append(graded)
        else:
            self.waiting.append(handed)
