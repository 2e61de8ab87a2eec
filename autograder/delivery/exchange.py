"""nbgrader's exchange: the folder through which JupyterHub users get and hand in assignments."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect
from traitlets.config import Config

from autograder.course.config import Course, CourseError
from autograder.delivery.nbgrader_settings import nbgrader_config

NOT_COLLECTED = "is not collected"
UNFINISHED = "it is still being handed in"
#: What nbgrader writes when all of a submission is in the exchange.
_LAST = ("timestamp.txt", "submission_secret.txt")


class CollectFiles(ExchangeCollect):  # type: ignore[misc]
    """Collect files and folders alone; `nbgrader_settings` puts it in the place of nbgrader's.

    nbgrader's follows links, with the rights of whoever collects: a student's could lead to another
    one's submission, or to a reference.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """Look for submissions; what can't be taken leaves an earlier one where it is."""
        super().init_src()
        folder = Path(self.inbound_path)
        self.src_records = [r for r in self.src_records if self._takes(folder / r["filename"])]

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a submission, whole or not at all; links may have come since it was looked at."""
        if self._takes(Path(src)):
            part = Path(dest).with_name(f".{Path(dest).name}.part")
            shutil.rmtree(part, ignore_errors=True)  # left by a process that was killed
            super().do_copy(src, str(part), log=log)
            part.rename(dest)

    def _takes(self, path: Path) -> bool:
        """Tell whether a submission can be taken, and log why not."""
        if reason := _why_not(path):
            self.log.warning("%s %s: %s", path.name, NOT_COLLECTED, reason)
        return not reason


def _why_not(submission: Path) -> str:
    for folder, folders, names in os.walk(submission):
        for name in (*folders, *names):
            path = Path(folder, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                return f"{path.relative_to(submission)} is a link or no ordinary file"
    if not all((submission / name).is_file() for name in _LAST):
        return f"{UNFINISHED}, or was broken off: its last files aren't there"
    return ""


def inbound(course: Course) -> Path:
    """Return the folder of the exchange that students hand in to."""
    config = _config(course)
    exchange = CollectFiles(coursedir=CourseDirectory(config=config), config=config)
    return Path(exchange.root) / course.id / "inbound"


def run(course: Course, action: str, assignment: str, *arguments: str) -> str:
    """Run an action of nbgrader's API and return its log.

    Parameters
    ----------
    action
        ``release_assignment``, ``collect`` or ``release_feedback``.
    arguments
        A student, where the action takes one.

    Raises
    ------
    CourseError
        If nbgrader reports an error, with the sentences that it logged.
    """
    config = _config(course)
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    with warnings.catch_warnings():  # nbgrader misspells an argument of its own
        warnings.filterwarnings("ignore", ".*unrecognized arguments", DeprecationWarning)
        result = getattr(api, action)(assignment, *arguments)
    log = str(result.get("log", ""))
    if not result["success"]:
        said = re.findall(r"^\[(?:ERROR|CRITICAL)\] (.*)$", log, re.M) or [result["error"]]
        raise CourseError(
            f"nbgrader's exchange ({api.exchange_root}) refuses {assignment}: {' '.join(said)}"
        )
    return log


def _config(course: Course) -> Config:
    config = nbgrader_config(course)
    config.CourseDirectory.root = str(course.root)
    # Releasing again replaces what was released: otherwise a correction would not get out.
    config.ExchangeReleaseAssignment.force = True
    return config
