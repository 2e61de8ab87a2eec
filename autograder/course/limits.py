"""What student code may use: limits of the course, and those of single exercises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from autograder.course.config import CONFIG, Course, CourseError, line_of
from autograder.exercise.nearest import meant
from autograder.sandbox import Limits

#: Time for all cells and calls of a notebook.
SUBMISSION_SECONDS = "submission_seconds"
_PER_REQUEST = ("cell_seconds", "call_seconds", "output_bytes")
_DEFAULTS = {**vars(Limits()), SUBMISSION_SECONDS: 120.0}


def check_limits(course: Course) -> None:
    """Check the names and values of all limits in course_config.py.

    That is for whoever has the course whole: a machine that helps has the references of what it
    grades alone, and the limits of all.

    Raises
    ------
    CourseError
        If a limit is none, or is set for an exercise that doesn't exist.
    """
    _check(course, course.limits, "c.Course.limits")
    known = {path.stem for path in (course.root / "reference").glob("*/*.py")}
    for exercise, own in course.exercise_limits.items():
        _check(course, own, f"c.Course.exercise_limits[{exercise!r}]")
        if exercise not in known:
            raise CourseError(
                f"{_line(course, exercise)}c.Course.exercise_limits: there is no exercise "
                f"{exercise!r}{meant(exercise, known)}"
            )


def notebook_limits(course: Course, exercises: Iterable[str]) -> tuple[Limits, float]:
    """Return what a notebook's process may use, and the seconds for all of it.

    What cannot be changed between cells is the most that any of the exercises may use.
    """
    settings = {**_DEFAULTS, **course.limits}
    for id in exercises:
        for name, value in course.exercise_limits.get(id, {}).items():
            if name not in _PER_REQUEST:
                settings[name] = max(settings[name], value)
    seconds = settings.pop(SUBMISSION_SECONDS)
    return Limits(**settings), seconds


def exercise_limits(course: Course, exercise: str, notebook: Limits) -> Limits:
    """Return what the cells and calls of one exercise may use."""
    own = course.exercise_limits.get(exercise)
    if not own:
        return notebook
    return replace(notebook, **{name: own[name] for name in _PER_REQUEST if name in own})


def _check(course: Course, limits: object, where: str) -> None:
    if not isinstance(limits, Mapping):
        raise CourseError(
            f"{_line(course, where)}{where} is {limits!r}, and must be names with numbers, like "
            '{"cell_seconds": 10.0}'
        )
    for name, value in limits.items():
        if name not in _DEFAULTS:
            raise CourseError(
                f"{_line(course, name)}{where}: {name!r} is no limit{meant(str(name), _DEFAULTS)}; "
                f"there are {', '.join(_DEFAULTS)}"
            )
        whole = isinstance(_DEFAULTS[name], int)
        kinds = (int,) if whole else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value < 1e12:
            number = "whole number" if whole else "number"
            raise CourseError(
                f"{_line(course, name)}{where}: {name} is {value!r}, and must be a {number} above 0"
            )


def _line(course: Course, name: str) -> str:
    """Return where course_config.py has a limit or an exercise."""
    return f"{line_of(course.root / CONFIG, name)}: "
