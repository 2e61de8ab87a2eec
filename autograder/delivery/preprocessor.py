"""What nbgrader's own commands do through this project; course_config.py names the classes.

`nbgrader autograde` and formgrader's Autograde button run the engine; `nbgrader generate_feedback`
leaves out what is for the marker alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course.config import Course
from autograder.delivery.database import CHECK
from autograder.grading.results import Status
from autograder.grading.rubric import TAG


class LockedDownExecute(NbGraderPreprocessor):  # type: ignore[misc]
    """Grade in the sandbox; takes the place of nbgrader's Execute."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Return the autograded notebook, and write the result record."""
        from autograder.course.grade import Grader
        from autograder.course.lock import grading
        from autograder.course.records import write_record
        from autograder.sandbox.isolation import probe

        place = resources["nbgrader"]
        course = Course.load(Path.cwd())  # nbgrader's converters work in the course's folder
        course.demand(probe())
        with grading(course), Grader(course) as grader:
            graded = grader.grade_json(place["assignment"], place["student"], nb)
            write_record(course, graded)
        place["withheld"] = [e.id for e in graded.grade.exercises if e.status is Status.ERRORED]
        return nbformat.from_dict(graded.notebook), resources


class WithholdErrored(NbGraderPreprocessor):  # type: ignore[misc]
    """Take back what SaveAutoGrades saved for errored exercises; goes right behind it."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Leave errored exercises without a score, for a person to grade."""
        place = resources["nbgrader"]
        with Gradebook(place["db_url"]) as gradebook:
            submission = gradebook.find_submission_notebook(
                place["notebook"], place["assignment"], place["student"]
            )
            for grade in submission.grades:
                if grade.name.removeprefix(CHECK) in place["withheld"]:
                    grade.auto_score, grade.needs_manual_grade = None, True
            gradebook.db.commit()
        return nb, resources


class ClearRubrics(NbGraderPreprocessor):  # type: ignore[misc]
    """Take the marker's rubrics out of feedback.

    They are whole cells with a tag.  nbgrader's ClearMarkScheme and ClearHiddenTests look for lines
    of text instead, and give up on an answer that has such a line of its own; nbconvert's
    TagRemovePreprocessor would take the cells out of formgrader's pages as well.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Keep the other cells."""
        nb.cells = [cell for cell in nb.cells if TAG not in cell.metadata.get("tags", [])]
        return nb, resources
