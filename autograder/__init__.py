"""An engine that grades courses of notebooks, and whose exercises prove themselves.

    from autograder import CourseError, grade_notebook

What is named here is public, as are `autograder.exercise` and `autograder.algebra`; docs/api.md
says what else, and what that promises.  The folders are the stages that an exercise and a
submission pass through, and imports run only downwards: cli, delivery, course, grading, sandbox,
exercise, algebra, student.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.course.config import CourseError
    from autograder.course.submissions.grade import grade_notebook

__all__ = ["CourseError", "__version__", "grade_notebook"]

__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    # Lazy, so that the worker and the command line's --help stay light.
    if name == "CourseError":
        from autograder.course.config import CourseError

        return CourseError
    if name == "grade_notebook":
        from autograder.course.submissions.grade import grade_notebook

        return grade_notebook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
