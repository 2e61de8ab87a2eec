"""The course on attention, for tests of its contents: loaded once for all that only look at it."""

from functools import cache
from pathlib import Path

from autograder.course.config import Course
from autograder.course.discover import load_assignment

ROOT = Path(__file__).resolve().parents[1]
COURSE = Course.load(ROOT)


@cache
def assigned(id):
    """Return an assignment with its references; whoever changes anything loads its own."""
    return load_assignment(COURSE, id)
