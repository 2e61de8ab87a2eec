"""What makes nbgrader's own commands safe; nbgrader_config.py calls `configure`.

Without it `nbgrader autograde` and formgrader's Autograde button would run submissions with the
rights of whoever grades, and show what students wrote as it is.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any

from traitlets.config import Config, PyFileConfigLoader

from autograder.course.config import Course, CourseError

FILE = "nbgrader_config.py"
TEXT = '''\
"""What nbgrader reads: the course, and the engine in the place of nbgrader's own execution."""

from autograder.delivery.nbgrader_settings import configure

c = get_config()
load_subconfig("course_config.py")
configure(c)
'''


def configure(c: Config) -> None:
    """Put the engine in the place of what nbgrader would do with submissions."""
    # The stubs are written by hand: nbgrader must not put its own text in their place.
    c.GenerateAssignment.preprocessors = [
        "nbgrader.preprocessors.CheckCellMetadata",
        "nbgrader.preprocessors.ComputeChecksums",
        "nbgrader.preprocessors.SaveCells",
    ]
    c.Autograde.autograde_preprocessors = [
        "autograder.delivery.nbgrader.preprocessor.LockedDownExecute",
        "nbgrader.preprocessors.LimitOutput",
        "nbgrader.preprocessors.SaveAutoGrades",
        "autograder.delivery.nbgrader.preprocessor.WithholdErrored",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    # What students put into the exchange is theirs, and lies where nobody can replace another's;
    # an exchange that is no folder of nbgrader's sees to that itself.
    ours = {
        "collect": "CollectFiles",
        "release_assignment": "ReleaseFiles",
        "release_feedback": "FeedbackFiles",
    }
    for action, name in ours.items():
        if "nbgrader." in str(c.ExchangeFactory.get(action) or "nbgrader."):
            c.ExchangeFactory[action] = f"autograder.delivery.nbgrader.exchange.{name}"
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        "autograder.delivery.nbgrader.preprocessor.ClearRubrics",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    # What a student wrote is shown in formgrader and feedback; nothing of it may run there.
    c.HTMLExporter.sanitize_html = True
    own = c.HTMLExporter.get("filters", {})
    filters = {
        name: f"autograder.delivery.pages.sanitise.{name}"
        for name in ("markdown2html", "clean_html")
    }
    c.HTMLExporter.filters = {**own, **filters}
    _end_sessions()


def _end_sessions() -> None:
    """Let formgrader, in its process, end what it began in the database with each page.

    Otherwise it keeps one session as long as it runs: it may take for the present what others have
    changed since, and when its connection is lost once, every page fails until Jupyter is started
    anew.
    """
    if formgrader := sys.modules.get("nbgrader.server_extensions.formgrader.base"):
        formgrader.BaseHandler.on_finish = _end_session


def _end_session(handler: Any) -> None:
    if gradebook := handler.settings["nbgrader_gradebook"]:
        gradebook.db.remove()


def nbgrader_config(course: Course) -> Config:
    """Return what nbgrader reads in a course's folder.

    Raises
    ------
    CourseError
        If it can't be read, or nbgrader would run submissions by itself.
    """
    path = course.root / FILE
    if not path.is_file():
        raise CourseError(
            f"{path} is missing, and without it nbgrader's own commands would run submissions "
            "unprotected: `autograder init .` in the course's folder writes it"
        )
    try:
        read = PyFileConfigLoader(FILE, path=str(course.root)).load_config()
    except (Exception, SystemExit) as error:
        raise CourseError(f"{path} can't be read: {str(error) or repr(error)}") from error
    safe = deepcopy(read)
    configure(safe)
    if safe != read:
        raise CourseError(
            f"{path}: as it stands nbgrader's own commands would run submissions unprotected; its "
            "last line must be `configure(c)` (delete it, and `autograder init .` writes it anew)"
        )
    return read
