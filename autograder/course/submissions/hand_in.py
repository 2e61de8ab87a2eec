"""What is known of a hand-in beside the notebook: its time, and what the platform said of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.opening import read_once
from autograder.course.typed_json import decoded, encoded

#: Lies beside the notebook. Nobody but `collect` writes one: it is not taken from an upload.
COLLECTED = "collected.json"


@dataclass(frozen=True)
class HandIn:
    """Where a notebook in submitted/ came from.

    Attributes
    ----------
    file
        Its path in the platform's folder or zip.
    platform
        Empty where none was recognised.
    late
        Does the platform say that it is late?
    modified
        What the folder or zip said of the file's time; it tells the later one of two files.
    number
        The platform's own number of whoever handed it in; empty where it gives none.
    team
        Ids of those whose it is, where several handed it in together.
    """

    file: str = ""
    platform: str = ""
    late: bool = False
    modified: str = ""
    number: str = ""
    team: tuple[str, ...] = ()

    def is_another_s(self, other: HandIn) -> bool:
        """Tell whether the platform calls the two by different numbers."""
        both = self.number and other.number
        return bool(both) and self.platform == other.platform and self.number != other.number

    def before(self, modified: datetime | None) -> bool:
        """Tell whether another file is later, where that is known."""
        return not (self.modified and modified) or self.modified < modified.isoformat()


def hand_in(course: Course, student: str, assignment: str) -> HandIn:
    """Return what is known of a hand-in."""
    path = course.submission(student, assignment).with_name(COLLECTED)
    try:
        return decoded(read_once(path, 10_000), HandIn)
    except (OSError, ValueError):
        return HandIn()


def partners(course: Course, student: str, assignment: str) -> list[str]:
    """Return who else gets the grade of a notebook, since it is theirs, too.

    Who has another notebook is graded with that.
    """
    team = hand_in(course, student, assignment).team
    others = (id for id in team if id != student)
    return [id for id in others if not course.submission(id, assignment).is_file()]


def teams(course: Course, assignment: str) -> dict[str, str]:
    """Return under whose id the notebook of a team is kept, by each of the others in it."""
    folders = sorted(course.folder("submitted").glob(f"*/{assignment}"))
    keepers = [folder.parent.name for folder in folders]
    return {id: keeper for keeper in keepers for id in partners(course, keeper, assignment)}


def keep_hand_in(notebook: Path, known: HandIn, time: datetime | None) -> None:
    """Write what is known of a hand-in beside its notebook."""
    stamp = f"{time:%Y-%m-%d %H:%M:%S.%f} UTC" if time else ""
    write_atomically(notebook.with_name("timestamp.txt"), stamp.encode())
    keep_origin(notebook, known)


def keep_origin(notebook: Path, known: HandIn) -> None:
    """Write where a notebook came from, and leave alone when."""
    write_atomically(notebook.with_name(COLLECTED), encoded(known))
