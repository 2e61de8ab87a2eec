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

import nbformat

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.submissions.hand_in import HandIn, hand_in, partners, teams
from autograder.course.submissions.records import recorded
from autograder.delivery.nbgrader.database import small_text
from autograder.delivery.pages.class_results import quartiles
from autograder.delivery.pages.final_grades import sheets, with_solutions
from autograder.delivery.pages.rendering import write_page
from autograder.delivery.pages.solutions import solutions

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
        allowed, others = solutions(course, id), teams(course, id)
        # As they are before they are read: what is written meanwhile is of another time.
        times = {student: _time(course.record(student, id)) for student in recorded(course, id)}
        found = sheets(course, id)
        common = {
            "title": course.titles[id],
            "quartiles": quartiles(found.values()) if course.quartiles else None,
        }
        for student, sheet in found.items():
            if student in others or (students is not None and student not in students):
                continue
            if allowed:
                sheet = with_solutions(sheet, allowed)
            readers = _readers(course, student, id)
            values = {**common, "sheet": sheet, "whose": ", ".join(sorted(readers))}
            for reader in readers:
                path = page_of(course, reader, id)
                pages.append(write_page(path, "feedback.html.j2", **values))
                if time := times.get(student):
                    os.utime(path, ns=(time, time))
            for name in ("timestamp.txt", _SECRET):  # for release_feedback
                beside = course.submission(student, id, "autograded").with_name(name)
                if beside.is_file():
                    page = page_of(course, student, id)
                    write_atomically(page.with_name(name), beside.read_bytes())
    return pages


def _readers(course: Course, student: str, assignment: str) -> list[str]:
    """Return who gets the page of a submission: whom it is kept under, and the rest of a team."""
    return [student, *partners(course, student, assignment)]


def shows(course: Course, student: str, assignment: str) -> bool:
    """Tell whether the page is of the record that is there, and of the hand-in.

    It has the record's time, and another time is another record's: which of two is later can't be
    told where a clock was set back.
    """
    readers = _readers(course, student, assignment)
    pages = {_time(page_of(course, one, assignment)) for one in readers}
    beside = page_of(course, student, assignment).with_name(_SECRET)
    kept = course.submission(student, assignment, "autograded").with_name(_SECRET)
    same = small_text(beside) == small_text(kept)
    return None not in pages and pages == {_time(course.record(student, assignment))} and same


def _time(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


#: Canvas gives a returned file the name of the one that was handed in, whatever it is.
_AS_HANDED_IN = (
    "Canvas shows a returned file under the name of the one that was handed in, such as {}.ipynb: "
    "so what came from Canvas goes back as notebooks that show the page"
)


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
    keepers = teams(course, id)  # a platform gives a team's page to each of its members
    by_student = {page.parent.parent.name: page for page in pages}
    named = {
        _name_for_platform(course, keepers.get(one, one), id): page
        for one, page in by_student.items()
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in named.items():
            shown = page.read_bytes()
            archive.writestr(name, as_notebook(shown) if name.endswith(".ipynb") else shown)
    write_atomically(path, content.getvalue())
    lines.append(f"{len(named)} pages in {path}")
    if any(name.endswith(".ipynb") for name in named):
        lines.append(_AS_HANDED_IN.format(id))
    return lines


def _name_for_platform(course: Course, student: str, assignment: str) -> str:
    """Return the name under which a platform recognises whose a page is."""
    known = hand_in(course, student, assignment)
    if known.platform == "canvas":
        return _name_for_canvas(known)
    if known.platform != "moodle":
        return f"{student}/{assignment}.html"
    name = PurePosixPath(known.file).with_suffix(".html")
    return str(name if len(name.parts) == 1 else PurePosixPath(name.parts[0], f"{assignment}.html"))


def _name_for_canvas(known: HandIn) -> str:
    """Return the name that a file had, without numbers before the person's.

    Canvas takes the first two parts that are digits alone for those of a person and a file, and
    people's names may hold some: so it would give one person's page to another.
    """
    name = PurePosixPath(known.file).name
    before, _, behind = name.partition(f"_{known.number}_")
    misleading = any(part.isdigit() for part in before.split("_"))
    return f"feedback_{known.number}_{behind}" if misleading else name


def as_notebook(page: bytes) -> bytes:
    """Return a notebook that shows what a page says; without its style, as of all who show one."""
    body = page.decode().partition("<body>")[2].partition("</body>")[0]
    shown = nbformat.v4.new_output("display_data", {"text/html": body.strip()})
    cell = nbformat.v4.new_code_cell(id="feedback", outputs=[shown])
    notebook: str = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]), version=4)
    return notebook.encode()
