"""Grade a class and enter the scores in the gradebook, a batch at a time.

What needs nbgrader, or judges, is imported where it is used: graders are at work by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Self

from autograder.course.classes.classroom import grade_class
from autograder.course.config import Course, CourseError
from autograder.course.graders import Graders, Open
from autograder.course.lock import grading
from autograder.course.people.roster import TYPED, declared
from autograder.course.people.student_ids import STUDENT_ID
from autograder.course.submissions import kept_runs
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.handed_in import Handed, empty_folders, submissions
from autograder.course.submissions.records import read_grade
from autograder.delivery.department.bar import Bar
from autograder.delivery.nbgrader_settings import nbgrader_config
from autograder.grading.results import Grade, Status
from autograder.sandbox.isolation import probe

#: So many submissions are entered in one transaction; until then records/.unsaved/ has them.
BATCH = 96
_LARGEST = 4  # such batches at once, where more come than are saved: a transaction costs by itself


class NothingToGrade(CourseError):
    """No submission is there to be graded; the message says what brings them in."""


@dataclass
class Outcome:
    """What a grading run did.

    Attributes
    ----------
    graded
        Student and assignment of what was graded; the grades themselves are on disk, so that the
        memory needed does not grow with the class.
    up_to_date
        Submissions that did not need grading again.
    problems
        What was not graded, and scores that are withheld; one sentence each.
    notes
        What an instructor should look at though it was graded; one sentence each.
    """

    course: Course
    graded: list[tuple[str, str]] = field(default_factory=list)
    up_to_date: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def grades(self) -> list[Grade]:
        """The grades, from their records."""
        found = (read_grade(self.course, *names) for names in self.graded)
        return [grade for grade in found if grade]

    def lines(self) -> list[str]:
        """Say it on the console."""
        per_assignment = Counter(assignment for _, assignment in self.graded)
        lines = [f"{id}: {count} graded" for id, count in sorted(per_assignment.items())]
        if self.up_to_date:
            lines.append(f"{self.up_to_date} up to date")
        return [*lines, *self.notes, *self.problems]


def grade_and_save(
    course: Course,
    ids: list[str],
    options: GradingOptions = DEFAULT,
    *,
    bar: Bar | None = None,
    open_graders: Open | None = None,
) -> Outcome:
    """Grade submissions and save each in gradebook, autograded/ and records/.

    Parameters
    ----------
    options
        Without a GPU the checks that need one are withheld.
    open_graders
        Opens graders; by default processes of this machine.

    Raises
    ------
    NothingToGrade
        If there are no submissions, or none waits for a GPU.
    CourseError
        If somebody else is grading, this machine isolates too
        little, a folder can't be written, or nbgrader's own commands would run submissions
        unprotected; if a GPU is wanted without trust, or a class that
        waits for one is graded without.
    """
    if open_graders is None:
        course.demand(probe(), trust_students=options.trust_students)
    nbgrader_config(course)  # refused before its own commands could be used
    run = _Run(course, ids, options, bar)
    work = run.work()
    with grading(course) as confirm, _Saver(course, confirm) as saver:
        kept_runs.forget(course, work if options.force else ())
        if bar:
            bar.begin(len(work))
        for graded in grade_class(
            course,
            work,
            run.options,
            tell=bar.tell if bar else None,
            open_graders=run.noting(open_graders) if open_graders else None,
            meanwhile=run.look,
        ):
            saver.add(graded)
            run.note(graded)
        saver.finish()
    return run.finished()


class _Run:
    """What is graded, and what is to be said of it."""

    def __init__(
        self, course: Course, ids: list[str], options: GradingOptions, bar: Bar | None
    ) -> None:
        self._course, self._ids, self._bar = course, ids, bar
        self._outcome = Outcome(course)
        self._work: list[Handed] = []
        self._used: list[Graders] = []
        self._withheld: dict[tuple[str, str], dict[str, set[str]]] = {}
        if options.gpu and (reason := without_gpu(options.trust_students)):
            if options.waiting_for_gpu or not options.trust_students:
                raise CourseError(reason)
            self._outcome.problems.append(f"checks that need a GPU are withheld: {reason}")
            options = replace(options, gpu=False)
        # What waits for a GPU is up to date otherwise.
        self.options = replace(options, force=options.force or options.waiting_for_gpu)

    def work(self) -> list[Handed]:
        """Return what is to be graded, or is up to date; refuse to do nothing."""
        found = {id: submissions(self._course, id) for id in self._ids}
        everybody = (handed.student for there in found.values() for handed in there)
        strangers = _strangers(self._course, everybody)
        for id, there in found.items():
            self._outcome.notes += [
                f"{folder} holds no notebook: nothing was handed in there"
                for folder in empty_folders(self._course, id, there)
                if self._wants(folder.parent.name)
            ]
            for handed in there:
                if not self._wants(handed.student) or not self._waits(handed):
                    continue
                if problem := _refused(handed, strangers):
                    self._outcome.problems.append(problem)
                else:
                    self._work.append(handed)
        if not self._work:
            self._refuse()
        return self._work

    def _wants(self, student: str) -> bool:
        return not self.options.students or student in self.options.students

    def _waits(self, handed: Handed) -> bool:
        if not self.options.waiting_for_gpu:
            return True
        return _waits(read_grade(self._course, handed.student, handed.assignment))

    def _refuse(self) -> None:
        if self.options.waiting_for_gpu:
            raise NothingToGrade("no graded submission waits for a GPU")
        if not self._outcome.problems:
            named = ", ".join(self.options.students)
            wanted = f" of {named}" if named else ""
            raise NothingToGrade(
                f"there are no submissions{wanted} in {self._course.folder('submitted')}: "
                "`autograder collect` brings them in, `autograder simulate` makes some up"
            )

    def look(self, up_to_date: Sequence[Handed]) -> list[Handed]:
        """Look through what is up to date, while graders are at work; return what is not."""
        from autograder.delivery.nbgrader.entering import entered_again, prepare

        prepare(self._course, self._ids, sorted({handed.assignment for handed in self._work}))
        again = entered_again(self._course, up_to_date)
        self._outcome.up_to_date = len(up_to_date) - len(again)
        if self._bar:
            self._bar.advance(self._outcome.up_to_date)
        for id, count in Counter(handed.assignment for handed in again).items():
            self._outcome.notes.append(
                f"{id}: {count} were not in the gradebook as recorded; entered again"
            )
        return again

    def noting(self, open_graders: Open) -> Open:
        """Return what opens graders, and keeps them for what they have to say at the end."""

        def opening(width: int) -> Graders:
            self._used.append(open_graders(width))
            return self._used[-1]

        return opening

    def note(self, graded: Graded) -> None:
        """Note what was graded."""
        grade, outcome = graded.grade, self._outcome
        if self._bar:
            self._bar.advance()
        outcome.graded.append((grade.student, grade.assignment))
        _add_withheld(self._withheld, grade)
        outcome.notes += [
            f"{grade.student}, {grade.assignment}: {notice}"
            for notice in grade.notices
            if notice.startswith(TYPED)
        ]

    def finished(self) -> Outcome:
        """Return what was done."""
        outcome = self._outcome
        outcome.notes += dict.fromkeys(note for graders in self._used for note in graders.notes)
        outcome.problems += [_sentence(*reason, who) for reason, who in self._withheld.items()]
        return outcome


class _Saver:
    """Save in batches, aside: the graders are given the next jobs meanwhile.

    Parameters
    ----------
    confirm
        Raises a CourseError if others may be grading by now; then nothing is saved.
    """

    def __init__(self, course: Course, confirm: Callable[[], None]) -> None:
        self._course, self._confirm = course, confirm
        self._batch: list[Graded] = []
        self._aside = ThreadPoolExecutor(1)
        self._saving: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._aside.shutdown()

    def add(self, graded: Graded) -> None:
        """Save a submission with the next batch; raise what became of the one before."""
        self._batch.append(graded)
        busy = self._saving is not None and not self._saving.done()
        if len(self._batch) >= (_LARGEST if busy else 1) * BATCH:
            self._begin()

    def finish(self) -> None:
        """Save what is left, and wait for it."""
        self._begin()
        if self._saving:
            self._saving.result()

    def _begin(self) -> None:
        if self._saving:
            self._saving.result()
        from autograder.delivery.nbgrader.entering import save

        self._confirm()
        self._saving = self._aside.submit(save, self._course, self._batch)
        self._batch = []


def _strangers(course: Course, students: Iterable[str]) -> set[str]:
    """Return who is neither on the class list nor in the gradebook, where there is a list."""
    listed = {person.id for person in declared(course)}
    unlisted = set(students) - listed if listed else set()
    if unlisted:
        from autograder.delivery.nbgrader.people import people

        unlisted -= people(course).keys()
    return unlisted


def _refused(handed: Handed, strangers: set[str]) -> str:
    if not STUDENT_ID.fullmatch(handed.student):
        return f"{handed.path}: {handed.student!r} can't be a student's id; not graded"
    if handed.student in strangers:
        return (
            f"{handed.student} is not on the roster, {handed.assignment} is not graded: "
            "add the id to the class list, or rename the folder"
        )
    return ""


def without_gpu(trust_students: bool) -> str:
    """Return why checks that need a GPU can't be run."""
    if not trust_students:
        return (
            "CUDA needs devices and system calls that the isolation denies: --gpu runs the checks "
            "that need a GPU without isolation, and takes --trust-students as well"
        )
    from autograder.grading.gpu import missing

    return missing()


def _waits(grade: Grade | None) -> bool:
    from autograder.grading.checks import NO_GPU

    items = [item for exercise in grade.exercises for item in exercise.items] if grade else []
    return any(item.note == NO_GPU for item in items)


def _add_withheld(withheld: dict[tuple[str, str], dict[str, set[str]]], grade: Grade) -> None:
    """Note whose scores of which exercises are withheld, by assignment and reason."""
    for exercise in grade.exercises:
        if exercise.status is Status.ERRORED:
            item = next(i for i in exercise.items if i.status is Status.ERRORED)
            who = withheld.setdefault((grade.assignment, item.feedback), {})
            who.setdefault(exercise.id, set()).add(grade.student)


def _sentence(assignment: str, reason: str, who: dict[str, set[str]]) -> str:
    """Say it once, however many students wait for the same.

    >>> _sentence("a08", "There is no GPU.", {"time": {"ada", "bob"}, "grow": {"ada"}})
    '2 students, a08: the scores of time, grow are withheld (There is no GPU.)'
    """
    students = set().union(*who.values())
    named = students.pop() if len(students) == 1 else f"{len(students)} students"
    scores, verb = ("score", "is") if len(who) == 1 else ("scores", "are")
    return f"{named}, {assignment}: the {scores} of {', '.join(who)} {verb} withheld ({reason})"
