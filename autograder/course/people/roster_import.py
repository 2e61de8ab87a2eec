"""Take people over from what learning platforms export into students.csv."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

from autograder.course.config import Course, CourseError
from autograder.course.opening import NotOrdinary, read_once
from autograder.course.people.roster import (
    LARGEST,
    Person,
    read_roster,
    read_table,
    roster_file,
    split_name,
    write_roster,
)
from autograder.course.people.student_ids import FORM, STUDENT_ID

Row = dict[str, str]
_PARTICIPANTS, _WORKSHEET = "Moodle's participants", "Moodle's grading worksheet"
_HUB = "JupyterHub's users"
_MANY = 50  # names and numbers of one person: who has more is many people


@dataclass(frozen=True)
class _Table:
    """A platform's table: how it is recognised, and what a row of it says of a person.

    Attributes
    ----------
    columns
        All of these are in its header.
    """

    name: str
    columns: frozenset[str]
    read: Callable[[Row], Person | None]


@dataclass(frozen=True)
class Imported:
    """What came of an import.

    Attributes
    ----------
    notes
        Where the file keeps something else than the platform says, and who was left out.
    """

    source: str
    new: list[str]
    completed: list[str]
    notes: list[str]


def import_roster(course: Course, source: Path) -> Imported:
    """Add people to students.csv from a platform's export, and complete those that are there.

    Who is there already is recognised by id, e-mail address or the platform's number.  What
    stands in the file stays; where the platform says something else, a note tells.

    Raises
    ------
    CourseError
        If the export is of none of the known platforms, or a list can't be read.
    """
    path = roster_file(course)
    if not isinstance(course.students, str | None):
        raise CourseError(
            f"the class stands in c.Course.students of course_config.py: take it away there, and "
            f"{path} will be the class list"
        )
    kind, rows = _read(source)
    known = _Known(read_roster(path) if path.is_file() else [])
    result = Imported(kind, [], [], [])
    if kind == _HUB and (own := {person.id for person in rows} & _instructors(course)):
        rows = [person for person in rows if person.id not in own]
        result.notes.append(
            f"{', '.join(sorted(own))} gives the course here, and is left out of the class list"
        )
    for found in rows:
        old = known.same(found)
        if old is None and not STUDENT_ID.fullmatch(found.id):
            shown = ascii(found.name)[1:-1] if not found.name.isprintable() else found.name
            result.notes.append(
                f"{shorten(shown, 80)}: {shorten(ascii(found.id), 100)} can't be an id ({FORM}); "
                "add the person by hand"
            )
        elif old is None and (alike := known.alike(found.id)):
            result.notes.append(
                f"{found.id} is {alike} but for capital letters, and is left out: where these are "
                "two people, give one of them another id by hand"
            )
        elif old is None:
            known.add(found)
            result.new.append(found.id)
        elif _known_as(old) >= _MANY:
            result.notes.append(
                f"{shorten(ascii(found.id)[1:-1], 100)} is left out: {old.id}, with the same id, "
                f"number or e-mail address, has {_MANY} names and numbers already"
            )
        else:
            completed, differs = _completed(old, found)
            known.add(completed)
            result.notes.extend(differs)
            if completed != old:
                result.completed.append(old.id)
    write_roster(path, known.people.values())
    result.notes.extend(_about_roles(kind, known.people.values()))
    return result


def _about_roles(kind: str, people: Iterable[Person]) -> list[str]:
    """Say who may be no student: a worksheet has students alone, participants no roles."""
    without = [person.id for person in people if not person.numbers.get("moodle")]
    if kind == _PARTICIPANTS:
        return [
            "Moodle's participants say nothing of roles, so teachers may be among them: choose the "
            "role Student there before you download, or import the grading worksheet as well, "
            "which lists who can hand in"
        ]
    if kind == _WORKSHEET and without:
        return [
            f"not in the worksheet, and so nobody who can hand in there: {', '.join(without)}. "
            f"Take teachers out of the class list: `autograder student remove {without[0]}`"
        ]
    return []


class _Known:
    """The class by id, and by what else tells who somebody is."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people: dict[str, Person] = {}
        self._ids: dict[tuple[str, str], str] = {}
        for person in people:
            self.add(person)

    def add(self, person: Person) -> None:
        """Add a person, or put him in the place of the one with this id."""
        self.people[person.id] = person
        for sign in (("alike", person.id.casefold()), *_signs(person)):
            self._ids.setdefault(sign, person.id)

    def same(self, found: Person) -> Person | None:
        """Return who of the class a person is: by id, by a platform's number, or by e-mail."""
        if found.id in self.people:
            return self.people[found.id]
        ids = (self._ids[sign] for sign in _signs(found) if sign in self._ids)
        return self.people.get(next(ids, ""))

    def alike(self, id: str) -> str:
        """Return the id that differs by capital letters alone, if there is one."""
        return self._ids.get(("alike", id.casefold()), "")


def _known_as(person: Person) -> int:
    return len(person.aliases) + sum(map(len, person.numbers.values()))


def _signs(person: Person) -> list[tuple[str, str]]:
    numbers = [(platform, n) for platform, own in person.numbers.items() for n in own]
    return [*numbers, *([("email", person.email.casefold())] if person.email else [])]


def _completed(old: Person, new: Person) -> tuple[Person, list[str]]:
    texts, notes = {}, []
    same_name = _words(old.name) == _words(new.name)  # from one column it can't be split for sure
    for name in ("first_name", "last_name", "email", "section"):
        before, after = getattr(old, name), getattr(new, name)
        texts[name] = before or after
        if before and after and before != after and not (same_name and name.endswith("_name")):
            notes.append(
                f"{old.id}: the {name.replace('_', ' ')} stays {before!r}; "
                f"the platform says {after!r}"
            )
    numbers = dict(old.numbers)
    for platform, own in new.numbers.items():
        numbers[platform] = tuple(dict.fromkeys((*numbers.get(platform, ()), *own)))
    others = (new.id, *new.aliases) if STUDENT_ID.fullmatch(new.id) else new.aliases
    aliases = dict.fromkeys((*old.aliases, *others))
    known = {old.id, texts["email"], *(n for own in numbers.values() for n in own)}
    shorter = tuple(name for name in aliases if name not in known)
    return replace(old, **texts, numbers=numbers, aliases=shorter), notes


def _words(name: str) -> list[str]:
    """Return a name's words, whichever comes first.

    >>> _words("van den Berg, Anna") == _words("Anna van den Berg")
    True
    """
    return sorted(re.findall(r"[\w’'-]+", name))


def _read(source: Path) -> tuple[str, list[Person]]:
    users = _hub_users(source)
    if users is not None:
        return _HUB, users
    rows = read_table(source)
    header = {_plain(name) for name in (rows[0] if rows else ())}
    for table in _TABLES:
        if table.columns <= header:
            plain = ({_plain(name): text for name, text in row.items()} for row in rows)
            return table.name, [person for row in plain if (person := table.read(row))]
    if "identifier" in header:
        raise CourseError(
            f"{source} shows no names, so it says of nobody whose number is whose (its columns are "
            f"{_listed(header)}): download Moodle's grading worksheet while names are shown"
        )
    expected = "; ".join(f"{t.name} ({', '.join(sorted(t.columns))})" for t in _TABLES)
    raise CourseError(
        f"{source} is of no known platform: its columns are {_listed(header)}. "
        f"Known are {expected}; and JupyterHub's users as JSON"
    )


def _listed(header: set[str]) -> str:
    return shorten(ascii(", ".join(sorted(header)))[1:-1], 300) or "none"


def _hub_users(source: Path) -> list[Person] | None:
    """Read the list that JupyterHub's API gives of its users.

    Admins are no students, nor is who is in a group ``formgrade-…``, as nbgrader calls its graders.
    """
    try:
        content = read_once(source, LARGEST)
    except (OSError, NotOrdinary) as error:
        why = getattr(error, "strerror", "") or error
        raise CourseError(f"{source} can't be read ({why})") from error
    try:
        users = json.loads(content)
        return [
            Person(str(user["name"]))
            for user in users
            if not user.get("admin")
            and not any(str(group).startswith("formgrade-") for group in user.get("groups") or ())
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _instructors(course: Course) -> set[str]:
    """Return who owns the course's folder, and who asks: by account and as JupyterHub's user."""
    found = {os.environ.get("JUPYTERHUB_USER", "")}
    for user in (course.root.stat().st_uid, os.geteuid()):
        with contextlib.suppress(KeyError):  # an account that has no name
            found.add(pwd.getpwuid(user).pw_name)
    return found


#: Moodle writes its headers in the teacher's language.
_TRANSLATED = {
    "vorname": "first name",
    "nachname": "last name",
    "surname": "last name",
    "e-mail-adresse": "email address",
    "anmeldename": "username",
    "id-nummer": "id number",
    "vollständiger name": "full name",
    "kennung": "identifier",
    "id": "id",
}


def _plain(header: str) -> str:
    name = header.casefold().strip()
    return _TRANSLATED.get(name, name)


def _canvas(row: Row) -> Person | None:
    name = row["student"]
    id = row["sis login id"] or row.get("sis user id", "")
    if name.startswith("Points Possible") or name in ("", "Student, Test", "Test Student"):
        return None
    section, number = row.get("section", ""), row["id"]
    email = id if "@" in id else ""
    return Person(id, *split_name(name), email, section, {"canvas": (number,)} if number else {})


def _moodle(row: Row) -> Person | None:
    email = row["email address"]
    id, *others = _ids(row, email)
    return Person(
        id, row["first name"], row["last name"], email, row.get("groups", ""), {}, tuple(others)
    )


def _ids(row: Row, email: str) -> list[str]:
    """Return what Moodle calls somebody, first what becomes the id."""
    found = dict.fromkeys([row.get("username", ""), row.get("id number", ""), email])
    named = [name for name in found if name] or [""]
    return [named[0], *(n for n in named[1:] if n != email and STUDENT_ID.fullmatch(n))]


def _moodle_worksheet(row: Row) -> Person | None:
    numbers = re.findall(r"\d+", row["identifier"])
    email = row.get("email address", "")
    id, *others = _ids(row, email)
    moodle = {"moodle": tuple(numbers)}
    return Person(id, *split_name(row["full name"]), email, "", moodle, tuple(others))


def _gradescope(row: Row) -> Person | None:
    if row.get("role", "student").casefold() != "student":
        return None
    names = (row["first name"], row["last name"]) if "first name" in row else None
    first, last = names or split_name(row.get("name", ""))
    numbers = {"gradescope": (row["sid"],)} if row["sid"] else {}
    return Person(row["sid"] or row["email"], first, last, row["email"], "", numbers)


_TABLES = [
    _Table("Canvas's gradebook", frozenset({"student", "id", "sis login id"}), _canvas),
    _Table(_WORKSHEET, frozenset({"identifier", "full name"}), _moodle_worksheet),
    _Table("Gradescope's roster", frozenset({"sid", "email"}), _gradescope),
    _Table(
        _PARTICIPANTS,
        frozenset({"first name", "last name", "email address"}),
        _moodle,
    ),
]
