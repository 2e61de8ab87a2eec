"""The class list: students.csv beside course_config.py, the one place for who is who."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten
from typing import Any

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.opening import read_once
from autograder.course.people.student_ids import FORM, STUDENT_ID, checked_id, typed_id

FILE = "students.csv"
#: Bytes of a table of people: a university has fewer.
LARGEST = 4 << 20
#: Learning platforms whose own numbers of people stand in the names of the files they hand out.
PLATFORMS = ("canvas", "moodle", "brightspace", "blackboard", "gradescope")
#: How a notice begins that a notebook names another student than handed it in.
TYPED = "The notebook says "
_TEXTS = ("first_name", "last_name", "email", "section")
COLUMNS = ("id", *_TEXTS, *PLATFORMS)
#: What else a person is called: user name, registration number. It is written where there is any.
ALIASES = "aliases"


@dataclass(frozen=True)
class Person:
    """A student; texts are empty where they are unknown.

    Attributes
    ----------
    numbers
        What a learning platform calls the person, by platform. Moodle has another number for
        each assignment, hence several.
    aliases
        Other ids of the person, as platforms have them.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    section: str = ""
    numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    def is_called(self, typed: str) -> bool:
        """Tell whether somebody may type this for an id: an alias, the address, what begins it.

        >>> Person("a@b.org", aliases=("4711",)).is_called("a")
        True
        """
        own = {self.id, self.email, *self.aliases, *(n for ns in self.numbers.values() for n in ns)}
        own |= {name.partition("@")[0] for name in (self.id, self.email)}
        return typed.casefold() in {name.casefold() for name in own if name}

    @property
    def name(self) -> str:
        """First and last name, or the id."""
        return f"{self.first_name} {self.last_name}".strip() or self.id


def roster_file(course: Course) -> Path:
    """Return where the class list is or would be."""
    return course.root / (course.students if isinstance(course.students, str) else FILE)


def declared(course: Course) -> list[Person]:
    """Return the class list; empty where there is none, and everybody may hand in.

    ``c.Course.students`` names the file, if it isn't students.csv; or it is the list itself: ids,
    or a dictionary from names to ids.  ``c.CourseDirectory.db_students``, nbgrader's former list
    of ``{"id": ..., "first_name": ..., "last_name": ..., "email": ...}``, is read as well.

    Raises
    ------
    CourseError
        If a list can't be read, or there is a file beside a list in course_config.py.
    """
    listed = course.students
    path = roster_file(course)
    if isinstance(listed, str) and not path.is_file():
        raise CourseError(
            f"{course.root / CONFIG}: c.Course.students names {path}, and there is no such file: "
            "`autograder roster import` writes one"
        )
    if listed is not None and not isinstance(listed, str) and path.is_file():
        raise CourseError(
            f"the class stands in {path} and in c.Course.students of {CONFIG}: take one away"
        )
    if listed is None or isinstance(listed, str):
        found = read_roster(path) if path.is_file() else []
    elif isinstance(listed, dict):
        found = [Person(str(id), *split_name(name)) for name, id in listed.items()]
    else:
        found = [Person(str(id)) for id in listed]
    for entry in course.config.CourseDirectory.get("db_students", []):
        found.append(_person(str(entry["id"]), {k: str(v or "") for k, v in entry.items()}))
    for person in found:
        checked_id(person.id)
    return found


def split_name(name: str) -> tuple[str, str]:
    """Split a name into first and last.

    >>> split_name("Ada King Lovelace"), split_name("van der Berg, Ada"), split_name("Ada")
    (('Ada King', 'Lovelace'), ('Ada', 'van der Berg'), ('', 'Ada'))
    """
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.strip().rpartition(" ")
    return first.strip(), last.strip()


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a table with a header, as spreadsheets and learning platforms write them.

    Commas, semicolons and tabs separate; UTF-8 with or without a mark, and UTF-16.

    Raises
    ------
    CourseError
        If it can't be read.
    """
    try:
        content = read_once(path, LARGEST)
        encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = content.decode(encoding)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"{path} can't be read ({error}): a table in CSV and UTF-8 is expected"
        ) from error
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="")
    try:
        return [{k.strip(): (v or "").strip() for k, v in row.items() if k} for row in rows]
    except csv.Error as error:
        raise CourseError(f"{path}, line {rows.line_num}: it is no table ({error})") from None


def read_roster(path: Path) -> list[Person]:
    """Read a class list.

    Raises
    ------
    CourseError
        If a column is unknown, an id is none, or two people share an id or a number.
    """
    people: list[Person] = []
    taken: dict[tuple[str, str], int] = {}
    rows = read_table(path)
    unknown = [
        name for name in (rows[0] if rows else ()) if name not in (*COLUMNS, ALIASES, "name")
    ]
    if unknown:
        close = get_close_matches(unknown[0], COLUMNS, n=1)
        raise CourseError(
            f"{path}: there is no column {unknown[0]!r}"
            + (f" (did you mean {close[0]!r}?)" if close else "")
            + f"; there are {', '.join(COLUMNS)}, and name in place of first and last name"
        )
    for line, row in enumerate(rows, 2):
        id = row.get("id", "")
        if not STUDENT_ID.fullmatch(id):
            raise CourseError(f"{path}, line {line}: {id!r} can't be a student's id: {FORM}")
        texts = {name: row.get(name, "") for name in _TEXTS}
        if row.get("name"):
            texts["first_name"], texts["last_name"] = split_name(row["name"])
        numbers = {p: tuple(row[p].split()) for p in PLATFORMS if row.get(p)}
        keys = [("id", id.casefold())] + [(p, n) for p, own in numbers.items() for n in own]
        for key in keys:
            if key in taken:
                raise CourseError(
                    f"{path}, line {line}: {key[0]} {key[1]!r} is that of line {taken[key]}, too"
                )
            taken[key] = line
        aliases = tuple(row.get(ALIASES, "").split())
        people.append(replace(_person(id, texts, numbers), aliases=aliases))
    return people


def _person(
    id: str, texts: Mapping[str, str], numbers: Mapping[str, tuple[str, ...]] | None = None
) -> Person:
    first, last, email, section = (texts.get(name, "") for name in _TEXTS)
    return Person(id, first, last, email, section, numbers or {})


def write_roster(path: Path, people: Iterable[Person]) -> None:
    """Write a class list as ``read_roster`` reads it."""
    write_atomically(path, roster_table(people))


def roster_table(people: Iterable[Person]) -> bytes:
    """Return a class list as a table, by id."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    listed = sorted(people, key=lambda person: person.id)
    called = any(person.aliases for person in listed)
    table.writerow([*COLUMNS, *([ALIASES] if called else [])])
    for person in listed:
        texts = [getattr(person, name) for name in _TEXTS]
        numbers = [" ".join(person.numbers.get(platform, ())) for platform in PLATFORMS]
        aliases = [" ".join(person.aliases)] if called else []
        table.writerow([person.id, *texts, *numbers, *aliases])
    return text.getvalue().encode("utf-8-sig")


def whose_numbers(
    course: Course,
    student: str,
    notebook: dict[str, Any],
    team: Sequence[str] = (),
    people: Mapping[str, Person] | None = None,
) -> tuple[str, str]:
    """Return whose personal numbers a notebook is graded with, and a notice where ids differ.

    These are the numbers of the id under which it was collected, or of what else the platform
    calls that person where the student typed it: an e-mail address for an id is what few type.
    A team works with those of whichever member was typed.
    With ``c.Course.typed_ids = True`` those of whatever id on the roster the student typed.
    ``people`` is the class list by id, for who has read it already.
    """
    typed = typed_id(notebook)
    if typed in ("", student):
        return student, ""
    if typed in team:
        return typed, ""
    if people is None:
        people = {person.id: person for person in declared(course)}
    own = people.get(student, Person(student))
    if typed not in people and STUDENT_ID.fullmatch(typed) and own.is_called(typed):
        return typed, ""
    taken = typed if course.typed_ids and typed in people else student
    # What a terminal would obey, or fill pages with, is shown as text and cut.
    shown = typed if STUDENT_ID.fullmatch(typed) else shorten(ascii(typed)[1:-1], 80)
    said = f'{TYPED}student("{shown}"), and it was handed in as {student}.'
    if taken == typed:
        return typed, f"{said} It was graded with the numbers of {typed}."
    return student, (
        f"{said} It was graded with the numbers of {student}: answers to those of {shown} do "
        "not fit them. If you worked with the wrong id, tell your instructor."
    )
