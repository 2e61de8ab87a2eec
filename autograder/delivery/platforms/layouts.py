"""How learning platforms name the files that they hand out: whose a file is, when and whether late.

Known layouts:

=====================================================  =========================================
``<student>/<a>.ipynb``, ``<student>/<a>/<a>.ipynb``   nbgrader's own
``<student>.ipynb``                                    one assignment at a time
``<a>/<student>.ipynb``                                a folder per assignment
``<name>[_LATE]_<n>_<n>_<a>.ipynb``                    Canvas, ``-1`` for handing in again included
``[LATE_]anon_<letters>_<n>_<a>.ipynb``                Canvas, where it hides who it is
``<name>_<n>_assignsubmission_file/<a>.ipynb``         Moodle; also with the file's name behind
``<name>_<n>_assignsubmission_file_/<a>.ipynb``        Moodle before 4.1
``<group>_assignsubmission_file/<a>.ipynb``            Moodle, of people in no team
``<n>-<n> - <name> - <time>/<a>.ipynb``                Brightspace
``<title>_<student>_attempt_<time>_<a>.ipynb``         Blackboard
``submission_<n>/<a>.ipynb``                           Gradescope, with submission_metadata.yml
=====================================================  =========================================

``<a> (1).ipynb``, as browsers rename, is ``<a>.ipynb``; any other file name will do where the
notebook's cells tell the assignment.

Whose a file is, the outermost name tells: the platform wrote it. What stands behind it, and what
lies in a student's folder, the student named, and it names nobody and no time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

_CANVAS = re.compile(r"(?P<who>.+?)(?P<late>_LATE)?_(?P<number>\d+)_\d+_(?P<file>.+)")
_CANVAS_HIDDEN = re.compile(
    r"(?P<late>LATE_)?(?P<who>anon)_(?P<number>[A-Za-z0-9]+)_\d+_(?P<file>.+)"
)
_CANVAS_TEXT = re.compile(r".+_\d+_(text|link)\.html")  # typed in, no file
# The platform takes `_` out of names, so what stands before the first one is the name.
_MOODLE = re.compile(
    r"(?P<who>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)"
)
_BRIGHTSPACE = re.compile(
    r"(?P<number>\d+)-\d+ - (?P<who>.+?) - "
    r"(?P<time>[A-Z][a-z]+ \d{1,2}, \d{4} \d{3,4} [AP]M)(?P<file>)"
)
_BLACKBOARD = re.compile(
    r"(?P<who>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.*))?", re.ASCII
)
# A browser's; and Canvas's for handing in again, which gives up counting after -7.
_COPY = re.compile(r"( ?\(\d+\)|-\d+|-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
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
        When it was handed in, on the platform's clock; None where the platform doesn't tell.
    late
        Does the platform say that it is late?
    email
        Empty where it gives none.
    otherwise
        Names and numbers that the file's name can be read as, too: a name may hold numbers.
    hidden
        Does the platform hide who it is?
    team
        Is ``who`` a group?
    members
        Who is in it, where the platform's list of the assignment says so.
    """

    who: str
    number: str = ""
    platform: str = ""
    time: datetime | None = None
    late: bool = False
    email: str = ""
    otherwise: tuple[tuple[str, str], ...] = ()
    hidden: bool = False
    team: bool = False
    members: tuple[Origin, ...] = ()


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
    >>> found, name = origin("Ada Lovelace_7_assignsubmission_file/eve.ipynb", ["a01"])
    >>> found.who, found.number, found.platform, name
    ('Ada Lovelace', '7', 'moodle', 'eve')
    """
    outer, alone, stem = _outermost(path, assignments)
    if found := _written(outer, alone=alone):
        known, file = found
        return known, _own_name(file if alone else stem, assignments)
    if outer in _STEPS:
        raise ValueError(f"{outer}/ is no student: collect from that folder itself")
    stem = _own_name(stem, assignments)
    if alone and stem in assignments:
        raise ValueError("neither a folder nor the file's name tells whose it is")
    return Origin(stem if alone else outer), stem


def platform_s(path: str, assignments: Sequence[str]) -> Origin | None:
    """Return what a platform wrote into the outermost name of a path, if one did."""
    outer, alone, _ = _outermost(path, assignments)
    found = _written(outer, alone=alone)
    return found[0] if found else None


def as_moodle_writes(name: str) -> str:
    """Return what stays of a person's or group's name in a path of Moodle's.

    >>> as_moodle_writes(" Group_A: O'Connor ")
    'Group A OConnor'
    """
    return re.sub(r"[&<>\"':|\\/`\x00-\x1f]", "", name.replace("_", " ")).strip()


def around(paths: Collection[str], assignments: Sequence[str]) -> str:
    """Return the folder around what a platform wrote, with a slash; empty where there is none.

    Whether it is a student's folder, with names of a platform's that the student chose, the names
    alone don't tell.

    Examples
    --------
    >>> around(["x/y/ada_1_2_a.ipynb", "x/y/bob_3_4_a.ipynb", "x/y/cy_5_text.html"], ["a"])
    'x/y/'
    """
    outer = {path.partition("/")[0] for path in paths}
    if len(outer) != 1 or not all("/" in path for path in paths):
        return ""
    (name,) = outer
    if _written(name, alone=False) or name in assignments:
        return ""
    inside = [path.partition("/")[2] for path in paths]
    ours = [path for path in inside if not _CANVAS_TEXT.fullmatch(path)]
    said = [platform_s(path, assignments) for path in ours]
    if said and len({known.platform if known else "" for known in said}) == 1 and said[0]:
        return f"{name}/"
    deeper = around(inside, assignments)
    return f"{name}/{deeper}" if deeper else ""


def _outermost(path: str, assignments: Sequence[str]) -> tuple[str, bool, str]:
    """Return the outermost name, whether it is the file's own, and that without its ending."""
    *folders, name = PurePosixPath(unicodedata.normalize("NFC", path)).parts or ("",)
    stem = PurePosixPath(name).stem
    if folders and folders[0] in assignments:
        del folders[0]
    return (folders[0], False, stem) if folders else (stem, True, stem)


def _written(outer: str, *, alone: bool) -> tuple[Origin, str] | None:
    """Return what a platform wrote into a name, and what stands behind it."""
    layouts = {"moodle": _MOODLE, "brightspace": _BRIGHTSPACE, "blackboard": _BLACKBOARD}
    if alone:
        layouts["canvas"] = _CANVAS_HIDDEN if _CANVAS_HIDDEN.fullmatch(outer) else _CANVAS
    found = {name: match for name, layout in layouts.items() if (match := layout.fullmatch(outer))}
    if not found:
        return None
    # Who begins the name: a student may have put another platform's words behind it.
    platform = min(found, key=lambda name: len(found[name]["who"]))
    said = found[platform].groupdict()
    known = Origin(
        said["who"],
        said.get("number") or "",
        platform,
        _time(said.get("time", "")),
        bool(said.get("late")),
        otherwise=_other_readings(outer) if platform == "canvas" else (),
        hidden=platform == "canvas" and bool(_CANVAS_HIDDEN.fullmatch(outer)),
        team=platform == "moodle" and not said["number"],
    )
    return known, said["file"] or ""


def _other_readings(name: str) -> tuple[tuple[str, str], ...]:
    """Read a name of Canvas's in all further ways.

    >>> _other_readings("x_47_90_y_48_91_a01")
    (('x_47_90_y', '48'),)
    """
    found = re.compile(r"_(\d+)(?=_\d+_.)").finditer(name, 1)
    return tuple((name[: match.start()].removesuffix("_LATE"), match[1]) for match in found)[1:]


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
