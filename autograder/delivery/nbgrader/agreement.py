"""Do the records on disk and nbgrader's gradebook say the same?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.course.config import Course, CourseError
from autograder.course.release.handed_out import Release
from autograder.course.submissions.handed_in import submissions
from autograder.course.submissions.records import ScoredExercise, read_grade, recorded
from autograder.delivery.nbgrader.marks import EnginePoints, engine_scores
from autograder.grading.results import ExerciseGrade
from autograder.student.notebook import check_of


def unlike(
    exercises: Sequence[ScoredExercise | ExerciseGrade], entered: Mapping[str, EnginePoints] | None
) -> str:
    """Say what the gradebook lacks or has otherwise of recorded scores; nothing if they agree."""
    if not entered:
        return "is graded, and the gradebook has no scores of it"
    for exercise in exercises:
        cell = check_of(exercise.id)
        if cell not in entered or all(item.note == "manual" for item in exercise.items):
            continue
        score, most = entered[cell]
        ours = None if exercise.score is None else min(exercise.score, most)
        if ours != score:
            return f"has {_points(ours)} for {exercise.id}, and {_points(score)} in the gradebook"
    return ""


def disagreements(course: Course, ids: Sequence[str]) -> list[str]:
    """Say where submissions, records and gradebook don't agree, one sentence each."""
    found = []
    for id in ids:
        found += _release(course, id)
        entered = engine_scores(course, id)
        handed = {submission.student for submission in submissions(course, id)}
        known = recorded(course, id)
        for student in sorted(handed | known | entered.keys()):
            grade = read_grade(course, student, id)
            if grade is None and student in entered and student not in handed:
                reason = "has scores in the gradebook, and there is no submission and no record"
            elif grade is None:
                reason = "is not graded" if student not in entered else "has no record"
            else:
                reason = unlike(grade.exercises, entered.get(student))
            if reason:
                found.append(f"{id}, {student}: {reason}")
    return found


def _release(course: Course, id: str) -> list[str]:
    """Say what keeps a release from being graded with, where there is one."""
    if (course.folder("release") / id).is_dir():
        try:
            Release.load(course, id)
        except CourseError as error:
            return str(error).splitlines()
    return []


def _points(score: float | None) -> str:
    return "no score" if score is None else f"{score:g}"
