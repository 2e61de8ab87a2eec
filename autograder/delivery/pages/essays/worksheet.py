"""Tables as spreadsheets keep them, written and read: .xlsx, or .csv."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.config import CourseError
from autograder.course.files import write_atomically
from autograder.course.people.roster import read_table
from autograder.delivery.platforms.export import FORMULA, harmless

SUFFIXES = (".xlsx", ".csv")
#: Characters that a cell of a spreadsheet can't hold, and how many of the others it can.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 32_000


@dataclass(frozen=True)
class Worksheet:
    """A table to be written: a sheet of a workbook.

    Attributes
    ----------
    widths
        Of columns, in characters; their texts are wrapped.
    most
        The largest number that a column may hold.
    """

    name: str
    columns: list[str]
    rows: list[list[Any]]
    widths: Mapping[str, int]
    most: Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """A row that was read.

    Attributes
    ----------
    place
        The file, and the sheet in it.
    number
        As a spreadsheet counts: the columns' names are in row 1.
    cells
        Texts by column.
    """

    place: str
    number: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def at(self, column: str) -> str:
        """Name a cell, for a message."""
        columns = list(self.cells)
        letter = chr(ord("A") + columns.index(column)) if column in columns[:26] else "row "
        return f"{self.place}, {letter}{self.number} ({column})"


def fitting(text: str) -> str:
    r"""Return a text as a cell of a spreadsheet can hold it, and as no formula.

    >>> fitting("a\x00b\r\nc"), fitting("=1")
    ('ab\nc', "'=1")
    """
    text = _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if more := len(text[_LONGEST:]):
        text = f"{text[:_LONGEST]} … (and {more} characters more, which formgrader shows)"
    return str(harmless(text))


def unquoted(text: str) -> str:
    """Take away what `fitting` added in front of a formula.

    >>> unquoted("'=1"), unquoted("'tis")
    ('=1', "'tis")
    """
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def write_tables(path: Path, tables: Sequence[Worksheet]) -> None:
    """Write tables: as the sheets of a workbook, or the first one as CSV."""
    if path.suffix == ".csv":
        text = io.StringIO(newline="")
        csv.writer(text).writerows([tables[0].columns, *tables[0].rows])
        write_atomically(path, text.getvalue().encode("utf-8-sig"))
        return
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for table in tables:
        _fill(book.create_sheet(table.name[:31]), table)
    content = io.BytesIO()
    book.save(content)
    write_atomically(path, content.getvalue())


def _fill(sheet: Any, table: Worksheet) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    for row in (table.columns, *table.rows):
        sheet.append(row)
    for cells in sheet.iter_rows():
        for cell in cells:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.font = Font(bold=cell.row == 1)
    sheet.freeze_panes = "B2"
    for index, column in enumerate(table.columns, 1):
        letter = get_column_letter(index)
        sheet.column_dimensions[letter].width = table.widths.get(column, 8)
        if column in table.most and table.rows:
            most = f"{table.most[column]:g}"
            rule = DataValidation(
                type="decimal", operator="between", formula1="0", formula2=most, allow_blank=True
            )
            rule.showErrorMessage, rule.error = True, f"0 to {most} points"
            rule.add(f"{letter}2:{letter}{len(table.rows) + 1}")
            sheet.add_data_validation(rule)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a table, or of all sheets of a workbook.

    Raises
    ------
    CourseError
        If it can't be read.
    """
    if path.suffix == ".xlsx":
        return list(_workbook_rows(path))
    rows = enumerate(read_table(path), 2)
    return [Row(path.name, number, cells) for number, cells in rows if any(cells.values())]


def _workbook_rows(path: Path) -> Iterator[Row]:
    from openpyxl import load_workbook

    try:
        book, formulas = load_workbook(path, data_only=True), load_workbook(path)
    except Exception as error:  # whatever a zip, or the XML in it, is found to lack
        raise CourseError(f"{path} can't be read as a workbook ({error})") from error
    for sheet in book.worksheets:
        rows = sheet.iter_rows(values_only=True)
        columns = [str(name or "").strip() for name in next(rows, ())]
        place = f"{path.name}, sheet {sheet.title}"
        for number, values in enumerate(rows, 2):
            cells = {c: _text(v) for c, v in zip(columns, values, strict=True) if c}
            row = Row(place, number, cells)
            written = next(formulas[sheet.title].iter_rows(number, number, values_only=True))
            for column, formula, value in zip(columns, written, values, strict=True):
                if value is None and formula is not None:
                    raise CourseError(
                        f"{row.at(column)} holds the formula {formula} without its value: open "
                        "the workbook in a spreadsheet and save it, or write the number"
                    )
            if any(cells.values()):
                yield row


def _text(value: object) -> str:
    """Return what a cell holds as text; a number without needless digits."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f"{value:.10g}"
    return "" if value is None else str(value).strip()
