"""Start a course of one's own: its settings, and a first exercise that proves itself."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.scaffold import new_exercise
from autograder.delivery import nbgrader_settings

_ASSIGNMENT, _EXERCISE = "a01_first", "scale"
_SETTINGS = f'''\
"""The whole course in one file; nbgrader reads it too ({nbgrader_settings.FILE} loads it)."""

c = get_config()

c.CourseDirectory.course_id = "%s"

c.Course.assignments = [
    {{"id": "{_ASSIGNMENT}", "title": "First steps"}},
]
# A due date is an ISO time with a time zone: "due": "2027-03-01 23:59 UTC".
# Of a small assignment more may be guessed, with a reason: "guessed": (0.1, "one choice of three").

# Seconds for a cell and for a call of a checked function, MiB for a submission.
c.Course.limits = {{"cell_seconds": 10.0, "call_seconds": 5.0, "memory_mb": 1024}}

# Who may hand in stands in students.csv: `autograder roster import` writes it.
'''
_IGNORED = """\
# what grading a class produces
/source/
/submitted/
/autograded/
/feedback/
/records/
/reports/
/gradebook.db
/grading_secret.txt
/.nbgrader.log
/students.csv
/extensions.csv
/looks.csv
/removed/
"""


def start_course(folder: Path) -> list[Path]:
    """Write a course into a folder, or what a course that is there lacks.

    Returns
    -------
    list of Path
        The files that were written; none of those that were there is touched.

    Raises
    ------
    CourseError
        If the folder's name can't be a course's.
    """
    root = folder.resolve()
    if not re.fullmatch(r"[\w.-]+", root.name):
        raise CourseError(
            f"{root.name!r} can't be the name of a course: letters, digits, _, - and . only"
        )
    begun = not (root / CONFIG).exists()
    files = {
        CONFIG: _SETTINGS % root.name,
        nbgrader_settings.FILE: nbgrader_settings.TEXT,
        ".gitignore": _IGNORED,
    }
    missing = [name for name in files if not (root / name).exists()]
    for name in missing:
        write_atomically(root / name, files[name].encode())
    written = [root / name for name in missing]
    if begun:
        written += new_exercise(Course.load(root), _ASSIGNMENT, _EXERCISE, "function")
    return written
