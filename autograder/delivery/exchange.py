"""nbgrader's exchange: the folder through which JupyterHub users get and hand in assignments."""

from __future__ import annotations

import re
from copy import deepcopy

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from autograder.course.config import Course, CourseError


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
