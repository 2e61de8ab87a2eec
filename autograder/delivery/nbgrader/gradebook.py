"""Write nbgrader's gradebook: register assignments, save scores.

nbgrader's preprocessors are imported where they are used: they bring nbconvert, a third of a second
that grading a class does not need.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import nbformat
from nbgrader import api

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.submissions.graded import Graded, digests
from autograder.course.submissions.records import changed, move_notebook
from autograder.delivery.nbgrader.database import open_gradebook, small_text, submitted_at, zoned
from autograder.delivery.nbgrader.extensions import extensions
from autograder.delivery.nbgrader.gradebook_rows import CellRows, rows_of
from autograder.delivery.nbgrader.marks import owner
from autograder.grading.results import ExerciseGrade, Status
from autograder.student.notebook import CHECK

__all__ = ["register", "save", "seal"]

_TIME, _SECRET = "timestamp.txt", "submission_secret.txt"


def seal(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook with nbgrader's checksums, after nbgrader's own check of its cells.

    Raises
    ------
    CourseError
        If nbgrader would refuse the notebook.
    """
    from nbgrader.preprocessors import CheckCellMetadata, ComputeChecksums

    node = _node(notebook)
    try:
        node, _ = ComputeChecksums().preprocess(node, {})
        CheckCellMetadata().preprocess(node, {})
    except Exception as error:  # nbgrader raises no kind of its own
        reason = error.__context__ or error  # nbgrader's own message names no cell
        raise CourseError(f"nbgrader refuses the notebook: {reason}") from error
    sealed: dict[str, Any] = json.loads(json.dumps(node))
    return sealed


def register(course: Course, assignment: str, notebook: Mapping[str, Any]) -> None:
    """Enter a sealed notebook's cells and the assignment's due date into the gradebook.

    Raises
    ------
    CourseError
        If cells were added or removed after submissions were graded, or the due date is no date.
    """
    due: dict[str, Any] = {}
    if assignment in course.due:  # without one, a date set in formgrader stays
        due["duedate"] = zoned(course.due[assignment], f"the due date of {assignment}")
    place = {"notebook": assignment, "assignment": assignment, "db_url": course.database}
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(assignment, **due)
        if _is_registered(gradebook, assignment, notebook):
            return
        from nbgrader.preprocessors import SaveCells

        try:
            SaveCells().preprocess(_node(notebook), {"nbgrader": place})
        except RuntimeError as error:
            raise CourseError(
                f"graded cells of {assignment} were added or removed, but the gradebook holds "
                "submissions of it, with scores for the cells as they were. Give the changed "
                f"assignment a new id; or run `nbgrader db assignment remove {assignment} "
                "--force`, which deletes these submissions' scores, those given by hand too, and "
                "grade again"
            ) from error


def _is_registered(gradebook: Any, assignment: str, notebook: Mapping[str, Any]) -> bool:
    """Tell whether the gradebook has these cells; checksums cover all that it keeps of them."""
    try:
        known = gradebook.find_notebook(assignment, assignment)
    except api.MissingEntry:
        return False
    sealed = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    checksums = {cell["grade_id"]: cell.get("checksum") for cell in sealed if "grade_id" in cell}
    return checksums == {cell.name: cell.checksum for cell in known.source_cells}


def _node(notebook: Mapping[str, Any]) -> Any:
    """Return a notebook as nbgrader works on it: with a single text for a cell's lines."""
    return nbformat.reads(json.dumps(notebook), as_version=4)


def save(course: Course, batch: Sequence[Graded]) -> None:
    """Save graded submissions: autograded/ notebooks, then every score in one transaction.

    The rules are those of nbgrader's SaveAutoGrades, for many submissions at once.  Points given
    by a person are never touched, and wait for one again only where the text that was marked has
    changed.  An errored exercise has no automatic score and waits for a
    person; so does free text, unless it is as released (0 points).

    Raises
    ------
    CourseError
        If an assignment isn't in the gradebook yet.
    """
    with open_gradebook(course) as gradebook:
        for assignment in dict.fromkeys(graded.grade.assignment for graded in batch):
            group = {g.grade.student: g for g in batch if g.grade.assignment == assignment}
            _save_assignment(course, gradebook, assignment, group)
        gradebook.db.commit()
    for graded in batch:
        _write_autograded(course, graded)


def _write_autograded(course: Course, graded: Graded) -> None:
    """Write the autograded notebook, and the two files nbgrader releases feedback by."""
    move_notebook(course, graded)
    keep_hand_in_s_files(course, graded.grade.student, graded.grade.assignment)


def keep_hand_in_s_files(course: Course, student: str, assignment: str) -> None:
    """Let time and secret in autograded/ be those of the hand-in that is there now.

    Who hands in again what they had handed in before fetches feedback under the new secret.
    """
    handed = course.submission(student, assignment)
    shown = course.submission(student, assignment, "autograded")
    kept = {name: shown.with_name(name) for name in (_TIME, _SECRET)}
    there = {name: small_text(path) for name, path in kept.items()}
    # A time that nobody recorded stays unknown: nbgrader takes an empty file as no time.
    # The exchange made a secret per submission; one from elsewhere gets its own, and keeps it.
    secret = small_text(handed.with_name(_SECRET)) or there[_SECRET] or secrets.token_hex(64)
    now = {_TIME: small_text(handed.with_name(_TIME)), _SECRET: secret}
    for name, text in now.items():
        if text != there[name] or not (text or kept[name].is_file()):
            write_atomically(kept[name], text.encode())


def _save_assignment(
    course: Course, gradebook: Any, assignment: str, group: Mapping[str, Graded]
) -> None:
    """Write the rows of one assignment in a handful of queries, whatever the class's size."""
    db = gradebook.db
    try:
        master = gradebook.find_assignment(assignment)
        notebook = gradebook.find_notebook(assignment, assignment)
    except api.MissingEntry:
        raise CourseError(
            f"{assignment} isn't in the gradebook: run `autograder generate {assignment}`"
        ) from None
    graded_cells = db.query(api.GradeCell).filter_by(notebook_id=notebook.id).all()
    solution_cells = db.query(api.SolutionCell).filter_by(notebook_id=notebook.id).all()
    sources = db.query(api.SourceCell).filter_by(notebook_id=notebook.id)
    released = digests({cell.name: cell.source for cell in sources})
    free_text = {cell.name for cell in graded_cells} & {cell.name for cell in solution_cells}

    times = {student: submitted_at(course, student, assignment) for student in group}
    rows_of(db, api.Student, group, by="id")
    submissions = rows_of(
        db,
        api.SubmittedAssignment,
        group,
        by="student_id",
        fresh={student: {"timestamp": time} for student, time in times.items()},
        assignment_id=master.id,
    )
    students = {row.id: student for student, row in submissions.items()}
    notebooks = rows_of(
        db, api.SubmittedNotebook, students, by="assignment_id", notebook_id=notebook.id
    )
    owners = {row.id: students[id] for id, row in notebooks.items()}
    late = _lateness(course, master, submissions, notebooks, times)

    unchanged = {s: _unchanged(graded.texts, released) for s, graded in group.items()}
    anew = {s: changed(course, graded) for s, graded in group.items()}
    exercises = {s: {e.id: e for e in graded.grade.exercises} for s, graded in group.items()}
    rows = CellRows(db, api.Grade, owners, graded_cells, manual_score=None)
    for cell, of_cell in rows:
        for id, row in of_cell.items():
            own = exercises[owners[id]]
            exercise = own.get(owner(cell.name, own))
            if cell.name not in free_text:
                row.auto_score = _score(exercise, cell.max_score)
            elif exercise and exercise.status is Status.ERRORED and exercise.score is None:
                row.auto_score = None  # even the text may not be what was handed in
            else:
                row.auto_score = 0.0 if cell.name in unchanged[owners[id]] else None
            if row.manual_score is None:
                withheld = cell.name not in free_text and exercise and exercise.withheld > 0
                row.needs_manual_grade = row.auto_score is None or bool(withheld)
            elif cell.name.removeprefix(CHECK) in anew[owners[id]]:
                row.needs_manual_grade = True  # a person marked another text
    rows.insert()
    rows = CellRows(db, api.Comment, owners, solution_cells)
    for cell, of_cell in rows:
        for id, row in of_cell.items():
            row.auto_comment = "No response." if cell.name in unchanged[owners[id]] else None
    rows.insert()
    db.flush()  # penalties are taken off the score as the database adds it up
    _penalise(course, late)


def refresh_times(course: Course, assignment: str) -> None:
    """Enter times of handing in, extensions and penalties as they are known now."""
    with open_gradebook(course) as gradebook:
        db = gradebook.db
        try:
            master = gradebook.find_assignment(assignment)
            notebook = gradebook.find_notebook(assignment, assignment)
        except api.MissingEntry:
            return
        submissions = {row.student_id: row for row in master.submissions}
        query = db.query(api.SubmittedNotebook).filter_by(notebook_id=notebook.id)
        notebooks = {row.assignment_id: row for row in query}
        submissions = {s: row for s, row in submissions.items() if row.id in notebooks}
        times = {student: submitted_at(course, student, assignment) for student in submissions}
        late = _lateness(course, master, submissions, notebooks, times)
        db.flush()
        _penalise(course, late)
        db.commit()


def _lateness(
    course: Course,
    master: Any,
    submissions: Mapping[str, Any],
    notebooks: Mapping[str, Any],
    times: Mapping[str, datetime | None],
) -> list[tuple[str, Any, float]]:
    """Enter when each submission came and until when it might; return who is late by how much.

    Set is only what changes: what is set the database's session looks through, row by row.
    """
    late = []
    granted = extensions(course).get(master.name, {})
    for student, row in submissions.items():
        # As in nbgrader, a time once known is kept when the file is gone.
        if times[student] not in (None, row.timestamp):
            row.timestamp = times[student]
        due = master.duedate
        if due and student in granted:
            row.extension = max(granted[student] - due, timedelta())
        if due and row.extension:
            due += row.extension
        if notebooks[row.id].late_submission_penalty is not None:
            notebooks[row.id].late_submission_penalty = None
        if row.timestamp and due and row.timestamp > due:
            late.append((student, notebooks[row.id], (row.timestamp - due).total_seconds()))
    return late


def _unchanged(now: Mapping[str, str], before: Mapping[str, str]) -> set[str]:
    """Return the grade_ids of cells whose text is as before, by the texts' digests."""
    return {id for id, digest in now.items() if digest == before.get(id)}


def _score(exercise: ExerciseGrade | None, max_score: float) -> float | None:
    if exercise is None or exercise.score is None:
        return None
    return min(float(exercise.score), float(max_score))


def _penalise(course: Course, late: Sequence[tuple[str, Any, float]]) -> None:
    """Take off what the course's nbgrader plugin for late submissions says."""
    if not late:
        return
    from nbgrader.preprocessors import AssignLatePenalties

    sys.path.insert(0, str(course.root))  # where nbgrader finds a course's own plugin
    try:
        rule = AssignLatePenalties(config=course.config)
        rule.init_plugin()
    finally:
        sys.path.remove(str(course.root))
    for student, notebook, seconds in late:
        penalty = rule.plugin_inst.late_submission_penalty(student, notebook.score, seconds)
        if penalty is not None:
            notebook.late_submission_penalty = rule._check_late_penalty(notebook, penalty)
