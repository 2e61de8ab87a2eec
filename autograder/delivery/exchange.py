"""nbgrader's exchange: the folder through which JupyterHub users get and hand in assignments."""

from __future__ import annotations

import os
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect

from autograder.course.config import Course, CourseError

NOT_COLLECTED = "is not collected"


class CollectFiles(ExchangeCollect):  # type: ignore[misc]
    """Collect files and folders alone; course_config.py puts it in the place of nbgrader's.

    nbgrader's follows links, with the rights of whoever collects: a student's could lead to another
    one's submission, or to a reference.
    """

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a submission, unless it holds anything else."""
        for folder, folders, names in os.walk(src):
            for name in (*folders, *names):
                path = Path(folder, name)
                if path.is_symlink() or not (path.is_file() or path.is_dir()):
                    reason = f"{path.relative_to(src)} is a link or no ordinary file"
                    self.log.warning("%s %s: %s", Path(src).name, NOT_COLLECTED, reason)
                    return
        super().do_copy(src, dest, log=log)


def run(course: Course, action: str, assignment: str) -> str:
    """Run an action of nbgrader's API and return its log.

    Parameters
    ----------
    action
        ``release_assignment`` or ``collect``.

    Raises
    ------
    CourseError
        If nbgrader reports an error, with the sentences that it logged.
    """
    config = deepcopy(course.config)
    config.CourseDirectory.root = str(course.root)
    # Releasing again replaces what was released: otherwise a correction would not get out.
    config.ExchangeReleaseAssignment.force = True
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    result = getattr(api, action)(assignment)
    log = str(result.get("log", ""))
    if not result["success"]:
        said = re.findall(r"^\[(?:ERROR|CRITICAL)\] (.*)$", log, re.M) or [result["error"]]
        raise CourseError(
            f"nbgrader's exchange ({api.exchange_root}) refuses {assignment}: {' '.join(said)}"
        )
    return log
