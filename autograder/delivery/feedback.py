"""One page of feedback for each submission, as students read it.

The page goes to feedback/<student>/<assignment>/<assignment>.html, where nbgrader keeps its own
(the notebook with scores in it) and from where `nbgrader release_feedback` takes it: the exchange
delivers a page to a student only under the notebook's name.  nbgrader's `generate_feedback`
leaves a page that is there alone; with --force, as from formgrader, it puts its own in place.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.records import recorded
from autograder.delivery.database import small_text
from autograder.delivery.final_grades import sheets, with_solutions
from autograder.delivery.hand_in import hand_in
from autograder.delivery.pages import write_page
from autograder.delivery.solutions import solutions

_SECRET = "submission_secret.txt"  # a student fetches feedback by it


def page_of(course: Course, student: str, assignment: str) -> Path:
    """Return where the feedback of a submission is."""
    return course.folder("feedback") / student / assignment / f"{assignment}.html"


def write_feedback(
    course: Course, ids: Sequence[str], students: Collection[str] | None = None
) -> list[Path]:
    """Write the feedback of graded submissions, of all or these students, and return the pages.

    Raises
    ------
    CourseError
        If an assignment isn't released.
    """
    pages = []
    for id in ids:
        allowed = solutions(course, id)
        # As they are before they are read: what is written meanwhile is of another time.
        times = {student: _time(course.record(student, id)) for student in recorded(course, id)}
        for student, sheet in sheets(course, id).items():
            if students is not None and student not in students:
                continue
            if allowed:
                sheet = with_solutions(sheet, allowed)
            path = page_of(course, student, id)
            pages.append(write_page(path, "feedback.html.j2", title=course.titles[id], sheet=sheet))
            if time := times.get(student):
                os.utime(path, ns=(time, time))
            for name in ("timestamp.txt", _SECRET):  # for release_feedback
                beside = course.submission(student, id, "autograded").with_name(name)
                if beside.is_file():
                    write_atomically(path.with_name(name), beside.read_bytes())
    return pages


def shows(course: Course, student: str, assignment: str) -> bool:
    """Tell whether the page is of the record that is there, and of the hand-in.

    It has the record's time, and another time is another record's: which of two is later can't be
    told where a clock was set back.
    """
    page = _time(page_of(course, student, assignment))
    beside = page_of(course, student, assignment).with_name(_SECRET)
    kept = course.submission(student, assignment, "autograded").with_name(_SECRET)
    same = small_text(beside) == small_text(kept)
    return page is not None and page == _time(course.record(student, assignment)) and same


def _time(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def pack_feedback(course: Course, ids: Sequence[str], path: Path) -> list[str]:
    """Write an assignment's pages into a zip for a learning platform; say what was done.

    Moodle takes them as feedback files, Canvas as submissions that are uploaded again: both go by
    the name that they gave the notebook.

    Raises
    ------
    CourseError
        If there is more than one assignment, no page of it, or ``path`` is no zip.
    """
    if len(ids) != 1 or path.suffix != ".zip":
        raise CourseError(
            "a zip of feedback is of one assignment: `autograder feedback a03 --to feedback.zip`"
        )
    (id,) = ids
    pages = sorted(course.folder("feedback").glob(f"*/{id}/{id}.html"))
    if not pages:
        raise CourseError(f"there is no feedback on {id}: `autograder grade {id}` comes first")
    lines = [f"{path} was there before and has been replaced"] if path.exists() else []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in pages:
            archive.write(page, _name_for_platform(course, page.parent.parent.name, id))
    write_atomically(path, content.getvalue())
    return [*lines, f"{len(pages)} pages in {path}"]


def _name_for_platform(course: Course, student: str, assignment: str) -> str:
    """Return the name under which a platform recognises whose a page is."""
    known = hand_in(course, student, assignment)
    if known.platform not in ("canvas", "moodle"):
        return f"{student}/{assignment}.html"
    name = PurePosixPath(known.file).with_suffix(".html")
    return str(name if len(name.parts) == 1 else PurePosixPath(name.parts[0], f"{assignment}.html"))
