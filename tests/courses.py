"""Courses that the engine is tried on: the sample course, and others of one assignment.

The course on attention is none of them (``tests/loaded.py`` has it, for the tests of its contents).
"""

import json
import shutil
from pathlib import Path

from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.delivery import nbgrader_settings

SAMPLE = Path(__file__).parent / "sample_course"
MOTION, ENERGY = "m01_motion", "m02_energy"

#: What a right submission to the first earns without a marker, and all that there is to earn.
EARNED, POINTS = 9, 12


def copied(folder, origin=SAMPLE):
    """Copy a course to a folder that isn't there yet, and return it."""
    shutil.copytree(origin, folder, ignore=shutil.ignore_patterns("__pycache__"))
    # The same in every run; one that draws inputs by which every known mistake is told.
    (folder / SECRET).write_text("s1")
    return Course.load(folder)


def one_assignment(folder, id, text, references, *settings):
    """Write a course of one assignment, with references by name, and return it."""
    files = {
        "course_config.py": "\n".join(
            [
                "c = get_config()",
                'c.CourseDirectory.course_id = "own"',
                # So small that what is guessed is a large share.
                f'c.Course.assignments = [{{"id": "{id}", "title": "One", "guessed": (1.0, "-")}}]',
                *settings,
                "",
            ]
        ),
        nbgrader_settings.FILE: nbgrader_settings.TEXT,
        f"assignments/{id}/{id}.py": text,
        **{f"reference/{id}/{name}.py": content for name, content in references.items()},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return Course.load(folder)


def runtimes(course):
    """Return how long each submission ran, of those that were graded; every file must be whole."""
    found = {}
    for path in (course.root / "records").rglob("[!.]*.json"):
        content = json.loads(path.read_bytes())
        record = content.get("record", content)
        found[record["student"]] = record["runtime"]
    return found
