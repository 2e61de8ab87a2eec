"""How learning platforms name the files that they hand out: whose a file is, when and whether late.

Known layouts:

=====================================================  =========================================
``<student>/<a>.ipynb``, ``<student>/<a>/<a>.ipynb``   nbgrader's own
``<student>.ipynb``                                    one assignment at a time
``<a>/<student>.ipynb``                                a folder per assignment
``<name>[_LATE]_<n>_<n>_<a>.ipynb``                    Canvas, ``-1`` for handing in again included
``<name>_<n>_assignsubmission_file_/<a>.ipynb``        Moodle; also with the file's name behind
``<n>-<n> - <name> - <time>/<a>.ipynb``                Brightspace
``<title>_<student>_attempt_<time>_<a>.ipynb``         Blackboard
``submission_<n>/<a>.ipynb``                           Gradescope, with submission_metadata.yml
=====================================================  =========================================

``<a> (1).ipynb``, as browsers rename, is ``<a>.ipynb``; any other file name will do where the
notebook's cells tell the assignment.

Whose a file is, the outermost name tells: the platform wrote it. What stands behind it, and what
lies in a student's folder, the student named, and it names nobody. Hence there are no other folders
around these; in a zip there may be one, of the zip's own name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

_CANVAS = re.compile(r"(?P<who>.+?)(?P<late>_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<who>.+?)_(?P<number>\d+)_assignsubmission_file_?(?P<file>.*)")
_BRIGHTSPACE = re.compile(
    r"(?P<number>\d+)-\d+ - (?P<who>.+?) - "
    r"(?P<time>[A-Z][a-z]+ \d{1,2}, \d{4} \d{3,4} [AP]M)(?P<file>)"
)
_BLACKBOARD = re.compile(
    r"(?P<who>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.*))?", re.ASCII
)
_COPY = re.compile(r"( ?\(\d+\)|-\d+)$")  # a browser's, and Canvas's for handing in again
#: Folders of nbgrader that hold students' folders, and are none themselves.
_STEPS = ("autograded", "feedback", "release", "source", "submitted")


@dataclass(frozen=True)
class Origin:
    """Whose a file is, as the platform wrote it.

    Attributes
    ----------
    who
        An id or a name.
    number
        The platform's own number of that person; empty where it gives none.
    platform
        Empty where none is recognised.
    time
        When it was handed in, on the platform's clock; None where the name doesn't tell.
    late
        Does the platform say that it is late?
    email
        Empty where it gives none.
    """

    who: str
    number: str = ""
    platform: str = ""
    time: datetime | None = None
    late: bool = False
    email: str = ""


def origin(path: str, assignments: Sequence[str]) -> tuple[Origin, str]:
    """Return whom a notebook's path names, and the file's own name.

    Raises
    ------
    ValueError
        If it names nobody.

    Examples
    --------
    >>> origin("ada/a01/a01 (1).ipynb", ["a01"])[0].who
    'ada'
    >>> found, name = origin("Ada Lovelace_7_assignsubmission_file_/eve.ipynb", ["a01"])
    >>> found.who, found.number, found.platform, name
    ('Ada Lovelace', '7', 'moodle', 'eve')
    """
    *folders, stem = PurePosixPath(unicodedata.normalize("NFC", path)).with_suffix("").parts
    if folders and folders[0] in assignments:
        del folders[0]
    outer = folders[0] if folders else stem
    layouts = {"moodle": _MOODLE, "brightspace": _BRIGHTSPACE, "blackboard": _BLACKBOARD}
    if not folders:
        layouts["canvas"] = _CANVAS
    found = {name: match for name, layout in layouts.items() if (match := layout.fullmatch(outer))}
    if found:
        # Who begins the name: a student may have put another platform's words behind it.
        platform = min(found, key=lambda name: len(found[name]["who"]))
        said = found[platform].groupdict()
        known = Origin(
            said["who"],
            said.get("number", ""),
            platform,
            _time(said.get("time", "")),
            bool(said.get("late")),
        )
        return known, _own_name(stem if folders else said["file"] or "", assignments)
    if outer in _STEPS:
        raise ValueError(f"{outer}/ is no student: collect from that folder itself")
    stem = _own_name(stem, assignments)
    if not folders and stem in assignments:
        raise ValueError("neither a folder nor the file's name tells whose it is")
    return Origin(outer if folders else stem), stem


def _time(text: str) -> datetime | None:
    """Read a time as Brightspace and Blackboard write it.

    >>> _time("Mar 3, 2027 905 PM"), _time("2027-03-03-21-05-00")
    (datetime.datetime(2027, 3, 3, 21, 5), datetime.datetime(2027, 3, 3, 21, 5))
    """
    padded = re.sub(r" (\d{3}) ", r" 0\1 ", text)
    for form in ("%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p", "%Y-%m-%d-%H-%M-%S"):
        try:
            return datetime.strptime(padded, form)
        except ValueError:
            continue
    return None


def _own_name(stem: str, assignments: Sequence[str]) -> str:
    """Undo how browsers and platforms rename a file that is there already."""
    name = stem
    while name not in assignments and _COPY.search(name):
        name = _COPY.sub("", name)
    return name if name in assignments else re.sub(r" ?\(\d+\)$", "", stem)
