"""One page of feedback for each submission, as students read it.

The page goes to feedback/<student>/<assignment>/<assignment>.html, where nbgrader keeps its own
(the notebook with scores in it) and from where `nbgrader release_feedback` takes it: the exchange
delivers a page to a student only under the notebook's name.  nbgrader's `generate_feedback`
leaves a page that is there alone; with --force, as from formgrader, it puts its own in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.delivery.pages import write_page
from autograder.delivery.sheets import sheets, with_solutions
from autograder.delivery.solutions import solutions


def write_feedback(course: Course, ids: Sequence[str]) -> list[Path]:
    """Write the feedback of every graded submission and return the pages.

    Raises
    ------
    CourseError
        If an assignment isn't released.
    """
    pages = []
    for id in ids:
        allowed = solutions(course, id)
        for student, sheet in sheets(course, id).items():
            if allowed:
                sheet = with_solutions(sheet, allowed)
            path = course.folder("feedback") / student / id / f"{id}.html"
            pages.append(write_page(path, "feedback.html.j2", title=course.titles[id], sheet=sheet))
            for name in ("timestamp.txt", "submission_secret.txt"):  # for release_feedback
                beside = course.submission(student, id, "autograded").with_name(name)
                if beside.is_file():
                    write_atomically(path.with_name(name), beside.read_bytes())
    return pages
