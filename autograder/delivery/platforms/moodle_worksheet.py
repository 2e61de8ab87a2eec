"""Moodle's grading worksheet: who is which number, when each handed in, and grades back into it.

It is in the marker's language throughout. So columns are found by what stands in them and in
Moodle's order, and only the months of dates are read by the language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from babel import Locale, UnknownLocaleError

from autograder.course.config import Course, CourseError
from autograder.course.people.roster import read_table

_IDENTIFIER = re.compile(r"\D*?(\d+)")  # "Participant 24", in whatever language
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})(?!\d)")
_NO = ("no", "nein", "non", "nee", "nie", "não", "nej", "nei", "ei", "ne", "нет", "όχι")


@dataclass(frozen=True)
class WorksheetRow:
    """A person of the worksheet.

    Attributes
    ----------
    name, email
        Empty under blind marking.
    time
        When it was handed in, on the marker's clock; None where nothing was.
    maximum
        The most points that Moodle takes.
    groups
        What stands where a team's name stands if teams hand in.
    locked
        Does Moodle leave the grade as it is, whatever is imported?
    cells
        What has to come back, by heading: identifier, grade and when that was changed.
    """

    number: str
    name: str
    email: str
    time: datetime | None
    maximum: float
    groups: tuple[str, ...]
    locked: bool
    cells: Mapping[str, str]


@dataclass(frozen=True)
class MoodleWorksheet:
    """Moodle's worksheet of one assignment.

    Attributes
    ----------
    rows
        By the number that Moodle gives a person.
    grade
        The heading of the column of grades.
    """

    path: Path
    rows: dict[str, WorksheetRow]
    grade: str


def read_worksheet(course: Course, path: Path) -> MoodleWorksheet:
    """Read a worksheet as Moodle writes it.

    Raises
    ------
    CourseError
        If it is none, or its dates are in another language than ``c.Course.moodle_language``.
    """
    table = read_table(path)
    columns = list(table[0]) if table else []
    months = _Months(course.moodle_language)
    dates = [name for name in columns if all(_is_date(row[name]) for row in table)]
    maximum = _column_of_maximum(columns, table)
    wanted = {_IDENTIFIER.fullmatch(row[columns[0]]) is not None for row in table}
    if len(dates) < 2 or maximum < 2 or wanted != {True}:
        raise CourseError(
            f"{path} is no grading worksheet of Moodle's: that has an identifier with a number in "
            "its first column, a grade beside the maximum grade, and two columns of dates. "
            "Download it anew (Assignment → Submissions → Download grading worksheet)"
        )
    submitted, modified = dates[-2:]
    grade, back = columns[maximum - 1], columns[columns.index(submitted) - 1]
    status = _column_of_status(columns, table)
    named = status > 1
    mails = [name for name in columns if any("@" in row[name] for row in table)]
    mail = next((m for m in mails if columns.index(m) < maximum), "")
    rows = {}
    for line, row in enumerate(table, 2):
        number = _IDENTIFIER.findall(row[columns[0]])[-1]
        try:
            time = months.read(row[submitted])
        except ValueError as error:
            raise CourseError(f"{path}, line {line}, {submitted}: {error}") from None
        kept = {name: row[name] for name in (columns[0], grade, modified)}
        rows[number] = WorksheetRow(
            number,
            row[columns[1]] if named else "",
            row.get(mail, ""),
            time,
            float(row[columns[maximum]].replace(",", ".")),
            tuple(row[name] for name in columns[status + 1 : maximum - 1]),
            row[back].casefold() in _NO,
            kept,
        )
    return MoodleWorksheet(path, rows, grade)


def _is_date(text: str) -> bool:
    return text == "-" or bool(re.search(r"\d{4}", text) and _CLOCK.search(text))


def _column_of_maximum(columns: list[str], table: list[dict[str, str]]) -> int:
    """Return where the maximum stands: a number in each row, beside grades or nothing."""
    for i in range(2, len(columns)):
        before = [row[columns[i - 1]] for row in table]
        if all(_NUMBER.fullmatch(row[columns[i]]) for row in table) and all(
            not text or text == "-" or _NUMBER.fullmatch(text) for text in before
        ):
            return i
    return 0


def _column_of_status(columns: list[str], table: list[dict[str, str]]) -> int:
    """Return where the status stands: a sentence of parts that ends in a dash."""
    ends = (i for i, name in enumerate(columns) if all(row[name].endswith("-") for row in table))
    return next(ends, 0)


class _Months:
    """Reads dates in one language, as ``Tuesday, 24 November 2026, 2:45 PM``."""

    def __init__(self, language: str) -> None:
        try:
            locale = Locale.parse(language)
        except (UnknownLocaleError, ValueError):
            raise CourseError(
                f'c.Course.moodle_language is {language!r}, which is no language: write "en"'
            ) from None
        self._language = locale.english_name
        forms = [
            names
            for kind in locale.months.values()
            for names in (kind["wide"], kind["abbreviated"])
        ]
        found = {str(name).casefold(): n for names in forms for n, name in names.items()}
        self._months = sorted(found.items(), key=lambda item: -len(item[0]))
        forms = [locale.day_periods["format"][width] for width in ("wide", "abbreviated")]
        self._afternoon = {"pm", *(_letters(str(form.get("pm", "pm"))) for form in forms)}
        self._forenoon = {"am", *(_letters(str(form.get("am", "am"))) for form in forms)}

    def read(self, text: str) -> datetime | None:
        """Return a time; None for a dash.

        >>> _Months("de").read("Dienstag, 24. November 2026, 14:45")
        datetime.datetime(2026, 11, 24, 14, 45)
        """
        if text == "-":
            return None
        plain = text.casefold()
        clock = list(_CLOCK.finditer(plain))[-1]
        date = plain[: clock.start()]
        year = re.search(r"\d{4}", date)
        named = next(((name, n) for name, n in self._months if _has(name, date)), None)
        rest = date.replace(year[0], " ", 1) if year else ""
        if named and not named[0].isalpha():  # 11月: a number that is no day
            rest = rest.replace(named[0], " ", 1)
        day = re.search(r"(?<!\d)\d{1,2}(?!\d)", rest)
        if not (year and named and day):
            raise ValueError(
                f"{text!r} is no date in {self._language}. If Moodle speaks another language with "
                'you, write it into course_config.py: c.Course.moodle_language = "de"'
            )
        hour, beside = int(clock[1]), _letters(date.rpartition(day[0])[2] + plain[clock.end() :])
        if any(word in beside for word in self._afternoon):
            hour = hour % 12 + 12
        elif hour == 12 and any(word in beside for word in self._forenoon):
            hour = 0
        return datetime(int(year[0]), named[1], int(day[0]), hour, int(clock[2]))


def _letters(text: str) -> str:
    """Return a text's letters: Moodle and the calendar's tables differ in dots and spaces."""
    return "".join(filter(str.isalpha, text.casefold()))


def _has(name: str, date: str) -> bool:
    return (
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)" if name.isalpha() else re.escape(name), date)
        is not None
    )
