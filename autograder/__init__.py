"""An engine that grades courses of notebooks, and whose exercises prove themselves.

The folders are the stages that an exercise and a submission pass through, and imports
run only downwards: cli, delivery, course, grading, sandbox, exercise, algebra, student.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.course.grade import grade_notebook

__all__ = ["grade_notebook"]


def __getattr__(name: str) -> Any:
    # Lazy, so that the worker and the command line's --help stay light.
    if name == "grade_notebook":
        from autograder.course.grade import grade_notebook

        return grade_notebook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
