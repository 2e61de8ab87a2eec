"""Grade one submission of a course."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.algebra.deriving.judging.proving import taken_as_proved
from autograder.course.config import Course, CourseError
from autograder.course.discover import Broken, load_exercise
from autograder.course.limits import check_limits, exercise_limits, notebook_limits
from autograder.course.looks_given import looks_of
from autograder.course.people.roster import whose_numbers
from autograder.course.people.student_ids import checked_id, typed_id
from autograder.course.release.handed_out import Release, libraries, libraries_of
from autograder.course.secret import secret_of
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.hand_in import hand_in
from autograder.course.submissions.handed_in import (
    Handed,
    Unreadable,
    as_released,
    parse_notebook,
    read_notebook,
    restore,
)
from autograder.course.submissions.job import Job, job_of
from autograder.course.submissions.kept_runs import KeptRuns, Tell
from autograder.course.submissions.worked_out import WorkedOut
from autograder.course.submissions.zygotes import Zygotes
from autograder.exercise import Exercise
from autograder.exercise.lasting import lasting
from autograder.grading import budget
from autograder.grading.gpu import Gpu
from autograder.grading.one_exercise import Assigned
from autograder.grading.results import ALL, Counting, Grade
from autograder.grading.submission import SubmissionRun, grade_submission, lost
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import COMPILER, Isolation, SandboxError, probe
from autograder.sandbox.threads import take_one_thread
from autograder.student.notebook import new_cell
from autograder.student.released_files import RecordedExercise


class Grader:
    """Grades submissions of one course in this process, one after the other.

    The process takes one thread from then on, torch included, unless ``OMP_NUM_THREADS`` says more.

    Parameters
    ----------
    isolation
        What the machine offers, where that is known already.
    tell
        Told when an expensive call begins and ends.
    zygotes
        Warm processes of somebody who keeps them; by default they end with this grader.
    """

    def __init__(
        self,
        course: Course,
        options: GradingOptions = DEFAULT,
        *,
        isolation: Isolation | None = None,
        tell: Tell | None = None,
        zygotes: Zygotes | None = None,
    ) -> None:
        take_one_thread()
        self.course = course
        self._tell = tell
        self._lent = zygotes is not None
        self._zygotes = zygotes or Zygotes(isolation, trust=options.trust_students)
        self._releases: dict[str, Release] = {}
        self._exercises: dict[str, dict[str, Exercise | Broken]] = {}
        self._tensors: dict[str, set[str]] = {}
        self._worked_out: dict[str, WorkedOut] = {}
        self._yardstick = Yardstick()
        self._gpu: Gpu | None = None
        self._with_gpu = options.gpu

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that are this grader's own."""
        if not self._lent:
            self._zygotes.close()
        self._yardstick.close()
        for known in self._worked_out.values():
            known.close()
        self._worked_out.clear()
        if self._gpu is not None:
            self._gpu.close()
        self._gpu = None

    def grade(self, handed: Handed) -> Graded:
        """Grade a file; nothing that is wrong with it raises."""
        looks = looks_of(self.course, (handed.student, *handed.team))
        return self.grade_job(job_of(handed, self.release(handed.assignment), looks=looks))

    def grade_job(self, job: Job) -> Graded:
        """Grade what was handed in; nothing that is wrong with it raises.

        Raises
        ------
        CourseError
            If this machine isolates less than the course demands: no submission is at fault.
        """
        self._demand()
        budget.bar(job.barred)
        if job.failure:
            reason = f"The grader failed on this submission ({job.failure})."
            return self.lose(replace(job, key=""), reason)
        try:
            if job.unreadable:
                raise Unreadable(job.unreadable)
            return self._graded(job, parse_notebook(job.content))
        except Unreadable as error:
            return self.lose(job, str(error), note="unreadable_submission")
        except Exception as error:  # ours: withhold, and go on with the next one
            reason = f"The grader failed on this submission ({type(error).__name__}: {error})."
            if isinstance(error, SandboxError | OSError | MemoryError):
                job = replace(job, key="")  # this machine's fault, and perhaps not the next one's
            return self.lose(job, reason)

    def lose(self, job: Job, reason: str, *, note: str = "grader_error") -> Graded:
        """Return what a submission gets that could not be run; our fault withholds its scores."""
        assigned = self.assigned(job.assignment, job.student)
        ours = note == "grader_error"
        grade = lost(
            job.assignment,
            job.student,
            assigned,
            note=note,
            reason=reason,
            errored=ours,
            counting=self._counting(job.assignment),
        )
        release = self.release(job.assignment)
        notebook = _handed_in(job, release) if ours else release.notebook
        return Graded.of(grade, _explained(notebook, reason), job.key, job.runs)

    def grade_json(
        self,
        assignment: str,
        student: str,
        notebook: dict[str, Any],
        runs: Mapping[str, bytes] | None = None,
    ) -> Graded:
        """Grade a notebook that is in memory (nbgrader's own autograde hands one over)."""
        self._demand()
        team = hand_in(self.course, student, assignment).team
        looks = looks_of(self.course, (student, *team))
        job = Job(student, assignment, runs=runs or {}, team=team, looks=looks)
        return self._graded(job, notebook)

    def _demand(self) -> None:
        """Refuse here, too, so that no backend can forget it."""
        self.course.demand(self._zygotes.isolation, trust_students=self._zygotes.trust)

    def _graded(self, handed: Job, notebook: dict[str, Any]) -> Graded:
        release = self.release(handed.assignment)
        restored, notices = restore(notebook, release)
        numbers_of, notice = whose_numbers(self.course, handed.student, notebook, handed.team)
        notices = [notice, *notices] if notice else notices
        notices = [*notices, *handed.notices]
        limits, seconds = notebook_limits(self.course, release.data["exercises"])
        also = libraries(restored) | self._handed_over(handed.assignment)
        zygote = self._zygotes.of(release, limits, also)  # imports while the references are loaded
        assigned = self.assigned(handed.assignment, numbers_of)
        needed = any(c.gpu for a in assigned if a.exercise for c in a.exercise.checks)
        if needed and self._with_gpu and (self._gpu is None or self._gpu.data != release.files):
            if self._gpu is not None:
                self._gpu.close()
            self._gpu = Gpu(data=release.files)
        runs = KeptRuns(handed.student, handed.runs, self._tell)
        run = SubmissionRun(
            handed.assignment,
            handed.student,
            restored,
            assigned,
            zygote,
            notices=notices,
            limits={e.id: exercise_limits(self.course, e.id, limits) for e in assigned},
            seconds=seconds,
            yardstick=self._yardstick,
            gpu=self._gpu,
            runs=runs,
            secret=secret_of(self.course),
            blank=as_released(restored, release),
            counting=self._counting(handed.assignment),
            hint_cost=self.course.hint_cost,
            looks=handed.looks,
            look_cost=self.course.look or 0.0,
        )
        with lasting(self._known(handed.assignment)):
            graded = grade_submission(run)
        lacking = any(
            isinstance(exercise, Broken) and exercise.lacking
            for exercise in self._exercises[handed.assignment].values()
        )
        return Graded.of(*graded, "" if lacking else handed.key, runs.asked)

    def _known(self, assignment: str) -> WorkedOut:
        """Return what was worked out for an assignment, by this process and earlier ones."""
        if assignment not in self._worked_out:
            self._worked_out[assignment] = WorkedOut(self.course, assignment)
        return self._worked_out[assignment]

    def _counting(self, assignment: str) -> Counting:
        return self.course.counting.get(assignment, ALL)

    def _handed_over(self, assignment: str) -> set[str]:
        """Return torch, where a check may hand over tensors, and its compiler, where that is used.

        A function can work with tensors and never name torch: no call pays for its import.
        """
        if assignment not in self._tensors:
            references = (self.course.root / "reference" / assignment).glob("*.py")
            found = set().union(
                *(libraries_of(path.read_text(encoding="utf-8")) for path in references)
            )
            self._tensors[assignment] = found & {"torch", COMPILER}
        return self._tensors[assignment]

    def release(self, assignment: str) -> Release:
        """Return an assignment as it was released."""
        if assignment not in self._releases:
            self._releases[assignment] = Release.load(self.course, assignment)
        return self._releases[assignment]

    def assigned(self, assignment: str, student: str) -> list[Assigned]:
        """Return every exercise as ``student`` has it."""
        release = self.release(assignment)
        if assignment not in self._exercises:
            folder = self.course.root / "reference" / assignment
            with taken_as_proved():  # by `generate`, or before somebody loses
                self._exercises[assignment] = {
                    id: _as_released(load_exercise(folder / f"{id}.py", gpu=self.course.gpu), given)
                    for id, given in release.data["exercises"].items()
                }
        assigned = []
        for id, exercise in self._exercises[assignment].items():
            assigned.append(
                Assigned(
                    id,
                    None if isinstance(exercise, Broken) else exercise,
                    release.data["exercises"][id]["points"],
                    release.variant(id, student),
                    release.pool(id),
                    exercise.message if isinstance(exercise, Broken) else "",
                )
            )
        return assigned


def grade_notebook(
    path: Path | str,
    *,
    student: str | None = None,
    assignment: str | None = None,
    course: Path | str = ".",
) -> Grade:
    """Grade one notebook without a class around it.

    Parameters
    ----------
    path
        The notebook.  Its assignment is recognised by its cells.
    student
        Whose numbers count; by default the id typed into the notebook's first cell.
    course
        A folder with course_config.py, reference/ and release/.

    Raises
    ------
    CourseError
        If there is no such course, the notebook is of none of its assignments, or this machine
        isolates too little.
    """
    return grade_file(Course.load(course), Path(path), student=student, assignment=assignment).grade


def grade_file(
    course: Course,
    path: Path,
    *,
    student: str | None = None,
    assignment: str | None = None,
    options: GradingOptions = DEFAULT,
    tell: Tell | None = None,
) -> Graded:
    """Grade one notebook file; see ``grade_notebook``."""
    course.demand(probe(), trust_students=options.trust_students)
    try:
        notebook = read_notebook(path)
    except Unreadable as error:
        raise CourseError(f"{path}: {error}") from None
    assignment = assignment or _recognise(course, path, notebook)
    student = checked_id(student) if student else typed_id(notebook) or "anonymous"
    check_limits(course)
    with Grader(course, options, tell=tell) as grader:
        return grader.grade(Handed(student, assignment, path))


def _as_released(exercise: Exercise | Broken, released: RecordedExercise) -> Exercise | Broken:
    """Return an exercise, or what is wrong where other points were released for it."""
    if isinstance(exercise, Broken) or exercise.points == released["points"]:
        return exercise
    message = f"it is worth {exercise.points:g} points now, and {released['points']:g} in release/"
    return Broken(exercise.id, f"{message}: run `autograder generate`")


def _handed_in(job: Job, release: Release) -> dict[str, Any]:
    """Return what was handed in, for a person to mark; as released where it can't be read."""
    try:
        return restore(parse_notebook(job.content), release)[0]
    except Exception:  # what failed once may fail here, too
        return release.notebook


def _explained(notebook: dict[str, Any], reason: str) -> dict[str, Any]:
    """Return a notebook under a cell that says why it was not run."""
    cell = {"id": "cell-why", **new_cell("markdown", f"**{reason}**")}
    return {**notebook, "cells": [cell, *notebook["cells"]]}


def _recognise(course: Course, path: Path, notebook: dict[str, Any]) -> str:
    if path.stem in course.titles:
        return path.stem
    for id in course.ids():
        try:
            restore(notebook, Release.load(course, id))
        except (Unreadable, CourseError):
            continue
        return id
    raise CourseError(
        f"{path} holds no cell of an assignment of this course ({', '.join(course.titles)})"
    )
