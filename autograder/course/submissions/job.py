"""One submission to be graded: all that a grader needs besides the course."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.course.release.datafiles import other_files
from autograder.course.release.handed_out import Release
from autograder.course.submissions.handed_in import Handed, Unreadable, read_content


@dataclass(frozen=True)
class Job:
    """A submission as it travels: nothing in it is about the machine that it comes from.

    Attributes
    ----------
    key
        What the grade is made from; it goes into the record.
    content
        The notebook file.
    unreadable
        Why there is no such content, as a sentence for the student.
    failure
        Why it could not be read, though that is not the student's fault.
    notices
        Sentences about what lay beside it.
    runs
        Expensive calls that an earlier grading has kept, by their keys.
    team
        Whose it is, where several handed it in together.
    looks
        Exercise and part of each look that they were given a code for.
    barred
        Items that are not to be judged: they have ended a grader before.
    """

    student: str
    assignment: str
    key: str = ""
    content: bytes = b""
    unreadable: str = ""
    failure: str = ""
    notices: tuple[str, ...] = ()
    runs: Mapping[str, bytes] = field(default_factory=dict)
    team: tuple[str, ...] = ()
    looks: tuple[tuple[str, str], ...] = ()
    barred: tuple[str, ...] = ()


def job_of(
    handed: Handed,
    release: Release,
    *,
    key: str = "",
    runs: Mapping[str, bytes] | None = None,
    looks: tuple[tuple[str, str], ...] = (),
) -> Job:
    """Read what was handed in for a release; nothing that is wrong with it raises."""
    names = handed.student, handed.assignment, key
    try:
        content = read_content(handed.path)
        notices = tuple(other_files(handed.path.parent, release.files))
    except Unreadable as error:
        return Job(*names, unreadable=str(error))
    except OSError as error:
        return Job(*names, failure=f"{type(error).__name__}: {error}")
    return Job(
        *names,
        content=content,
        notices=notices,
        runs=runs or {},
        team=handed.team,
        looks=looks,
    )
