"""Bring submissions in: from nbgrader's exchange, or from what a learning platform hands out."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from autograder.course.config import Course, CourseError
from autograder.delivery.nbgrader.database import submitted_at
from autograder.delivery.nbgrader.exchange import NOT_COLLECTED, exchange_root, run
from autograder.delivery.nbgrader.exchange_owners import unsafe
from autograder.delivery.nbgrader.people import roster
from autograder.delivery.platforms.collector import Collection, Collector, stranger
from autograder.delivery.platforms.lms_files import Problem, opened_source
from autograder.delivery.platforms.moodle_worksheet import read_worksheet


def collect(
    course: Course,
    ids: Sequence[str],
    source: str | Path = "exchange",
    *,
    only: Container[str] | None = None,
    worksheet: Path | None = None,
) -> Collection:
    """Bring submissions into submitted/<student>/<assignment>/.

    An earlier submission is replaced by a later one, never the other way round.  Where
    course_config.py lists students, nobody else's submission is taken.

    Parameters
    ----------
    source
        ``"exchange"`` for nbgrader's, or a folder or zip file of a learning platform
        (``layouts`` says which are known).
    only
        Paths of notebooks in the folder, where others are passed over.
    worksheet
        Moodle's grading worksheet of the assignment, which says when each was handed in.

    Raises
    ------
    CourseError
        If there is no such source, or the worksheet is none.
    """
    if worksheet and (source == "exchange" or len(ids) != 1):
        raise CourseError(
            "a worksheet is of one assignment and goes with its zip: `autograder collect a03 "
            "--from a03.zip --worksheet a03.csv`"
        )
    if source == "exchange":
        return _from_exchange(course, ids)
    collector = Collector(course, ids)
    sheet = read_worksheet(course, worksheet) if worksheet else None
    with opened_source(Path(source)) as contents:
        collector.result.problems += contents.refused
        collector.result.left += contents.others
        files = contents.files
        wanted = [f for f in files if only is None or f.path in only]
        collector.take_all(replace(contents, files=wanted), sheet)
        collector.store()
    return collector.result


def _from_exchange(course: Course, ids: Sequence[str]) -> Collection:
    result = Collection()
    listed = roster(course)
    if said := unsafe(root := exchange_root(course)):
        result.notes.append(f"{root}: {said}")
    for id in ids:
        before = _times(course, id)
        log = run(course, "collect", id)
        refused = re.findall(rf"^\[WARNING\] (.+) ({NOT_COLLECTED}: .+)$", log, re.M)
        result.problems += [Problem(path, f"{reason}.") for path, reason in refused]
        for student, time in _times(course, id).items():
            kind = "new" if student not in before else "unchanged"
            kind = "updated" if kind == "unchanged" and before[student] != time else kind
            getattr(result, kind).append((student, id))
            if listed and student not in listed:
                result.left.append(Problem(f"{student}/{id}", f"{stranger(course, student)}."))
    return result


def _times(course: Course, id: str) -> dict[str, datetime | None]:
    folders = sorted(course.folder("submitted").glob(f"*/{id}"))
    return {f.parent.name: submitted_at(course, f.parent.name, id) for f in folders}
