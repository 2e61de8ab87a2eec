"""Bring the gradebook to where the records are: before a class is graded, and batch by batch.

It is imported when graders are at work already: nbgrader takes half a second.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.course.config import Course
from autograder.course.people.roster import declared
from autograder.course.release.handed_out import Release
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.records import move_record, read_scores, reopen
from autograder.delivery.nbgrader import gradebook, people
from autograder.delivery.nbgrader.agreement import unlike
from autograder.delivery.nbgrader.marks import engine_scores


def prepare(course: Course, assignments: Sequence[str], handed_in: Sequence[str]) -> None:
    """Enter what scores are entered under: students, times, and assignments that were handed in."""
    people.add_students(course, declared(course))  # a corrected name shows at once
    for id in handed_in:
        gradebook.register(course, id, Release.load(course, id).notebook)
    for id in assignments:
        gradebook.refresh_times(course, id)


def entered_again(course: Course, recorded: Sequence[Handed]) -> list[Handed]:
    """Let be saved again what has a record and is not so in the gradebook; return what that is."""
    again = []
    for id in dict.fromkeys(handed.assignment for handed in recorded):
        entered = engine_scores(course, id)
        for handed in recorded:
            if handed.assignment != id:
                continue
            scores = read_scores(course, handed.student, id)
            if scores and unlike(scores, entered.get(handed.student)):
                reopen(course, handed)
                again.append(handed)
            elif scores:
                gradebook.keep_hand_in_s_files(course, handed.student, id)
    return again


def save(course: Course, batch: Sequence[Graded]) -> None:
    """Save the records last: what has one is in the gradebook; what hasn't is saved again."""
    if batch:
        gradebook.save(course, batch)
    for graded in batch:
        move_record(course, graded)
