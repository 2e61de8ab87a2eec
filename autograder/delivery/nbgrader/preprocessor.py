"""What nbgrader's own commands do through this project; `nbgrader_settings` names the classes.

`nbgrader autograde` and formgrader's Autograde button run the engine; `nbgrader generate_feedback`
leaves out what is for the marker alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course.config import Course
from autograder.grading.rubric import TAG
from autograder.student.notebook import CHECK


class LockedDownExecute(NbGraderPreprocessor):  # type: ignore[misc]
    """Grade in the sandbox; takes the place of nbgrader's Execute."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Return the autograded notebook, and write the result record."""
        from autograder.course.limits import check_limits
        from autograder.course.lock import grading
        from autograder.course.people.student_ids import checked_id
        from autograder.course.submissions.grade import Grader
        from autograder.course.submissions.kept_runs import folder_of, keep_runs, kept_runs
        from autograder.course.submissions.records import changed, write_record
        from autograder.sandbox.isolation import probe

        place = resources["nbgrader"]
        course = Course.load(Path.cwd())  # nbgrader's converters work in the course's folder
        course.demand(probe())
        checked_id(place["student"])
        check_limits(course)
        with grading(course), Grader(course) as grader:
            folder = folder_of(course, place["student"], place["assignment"])
            known = kept_runs(folder)
            graded = grader.grade_json(place["assignment"], place["student"], nb, known)
            keep_runs(folder, graded.runs)
            place["settled"] = _marked(place) - changed(course, graded)
            write_record(course, graded)
        place["withheld"] = {e.id: e.score for e in graded.grade.exercises if e.withheld}
        return nbformat.from_dict(graded.notebook), resources


class WithholdErrored(NbGraderPreprocessor):  # type: ignore[misc]
    """Take back what SaveAutoGrades saved too much; goes right behind it."""

    def preprocess(self, nb: object, resources: Any) -> tuple[Any, Any]:
        """Let what is withheld of a score wait, and leave marked cells as they were marked."""
        place = resources["nbgrader"]
        with _grades(place) as grades:
            for grade in grades:
                if (id := grade.name.removeprefix(CHECK)) in place["withheld"]:
                    grade.auto_score, grade.needs_manual_grade = place["withheld"][id], True
                if grade.manual_score is not None:  # nbgrader asks for every one of them again
                    grade.needs_manual_grade = (
                        grade.name.removeprefix(CHECK) not in place["settled"]
                    )
        return nb, resources


@contextmanager
def _grades(place: dict[str, str]) -> Iterator[list[Any]]:
    """Give what the gradebook holds of a submission; changes are saved."""
    with Gradebook(place["db_url"]) as gradebook:
        names = place["notebook"], place["assignment"], place["student"]
        yield list(gradebook.find_submission_notebook(*names).grades)
        gradebook.db.commit()


def _marked(place: dict[str, str]) -> set[str]:
    """Return the cells that a person has marked, and that wait for nobody since."""
    with _grades(place) as grades:
        settled = [g for g in grades if g.manual_score is not None and not g.needs_manual_grade]
        return {grade.name.removeprefix(CHECK) for grade in settled}


class ClearRubrics(NbGraderPreprocessor):  # type: ignore[misc]
    """Take the marker's rubrics out of feedback.

    They are whole cells with a tag.  nbgrader's ClearMarkScheme and ClearHiddenTests look for lines
    of text instead, and give up on an answer that has such a line of its own; nbconvert's
    TagRemovePreprocessor would take the cells out of formgrader's pages as well.
    """

    def preprocess(self, nb: Any, resources: object) -> tuple[Any, Any]:
        """Keep the other cells."""
        nb.cells = [cell for cell in nb.cells if TAG not in cell.metadata.get("tags", [])]
        return nb, resources
