r"""Numbers as text: 0.25, 1/3, 3.33×10^-1, 1/(1+exp(2)), \frac{3}{8}, lists and matrices of them.

Nothing is evaluated as code: the grammar is the one below, and what it works out has bounds.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from autograder.student.display import brief
from autograder.student.literals import LITERAL, Entry, literal, plain
from autograder.student.operations import CONSTANTS, FUNCTIONS, SPECIAL, applied, operated
from autograder.student.powers_of_ten import EULER
from autograder.student.typeset import without_latex
from autograder.student.units import UNITS
from autograder.student.unreadable import FormatError

MAX_TEXT = 20_000  # characters of an answer in numbers
MAX_DEPTH = 40  # brackets in brackets, signs before signs

_NAME = re.compile(rf"(?:(?:np|numpy|math)\.)?([π{EULER}]|(?:ln|sqrt)(?=\d)|[A-Za-z]+\d*)")
_UNIT = re.compile(r"[ \t]*([A-Za-zμ%]+(?:/s)?)(?![\w/])")
_FACTORS = sorted([*FUNCTIONS, *CONSTANTS, "frac"], key=len, reverse=True)
#: What may stand behind a number as a factor without a sign: 2(3 + 4), 16√2, 2 ln(3), 2π√5.
_FACTOR = re.compile(rf"[(√π{EULER}]|(?:(?:np|numpy|math)\.)?(?:{'|'.join(_FACTORS)})(?![A-Za-z])")
_EXPONENT = re.compile(r"[eE][+-]?\d+")
# Half of 1, or one and a half.
_MIXED = re.compile(r"(?<![\d.^{])\d+\s*\\[dtc]?frac\s*(?:\d\s*\d|\{\s*\d+\s*\}\s*\{\s*\d+\s*\})")
# As Python shows an array.
_SHOWN = re.compile(r"\s*(?:\w+\.)?(?:array|tensor)\((.*)\)\s*", re.DOTALL)

Nested = Any  # an Entry, or a list of these


def read_text(text: str, *, units: bool = False, alone: bool = False) -> Nested:
    """Return the numbers in a text: one, or nested lists of them.

    Blanks, commas, line breaks and semicolons separate; the latter two rows where there are
    several numbers in a row.  As in Matlab, ``1 -2`` are two numbers and ``1 - 2`` is one; where
    one number ``alone`` is asked for, both are one, and ``2 √3`` is a product.

    Raises
    ------
    FormatError
        If there is anything else in it.

    Examples
    --------
    >>> read_text("3.33×10^-1").last, read_text("½ 1/3")[1].value
    (-3, Fraction(1, 3))
    """
    if len(text) > MAX_TEXT:
        raise FormatError(
            f"a text of {len(text)} characters is too long; {MAX_TEXT} are the most here"
        )
    if unclear := _MIXED.search(text):
        raise FormatError(f"{brief(unclear[0])} may be a sum or a product: write + or * between")
    if shown := _SHOWN.fullmatch(text):
        text = shown[1]
    return _Parser(plain(without_latex(text)), text, units, alone).answer()


class _Parser:
    """Reads from left to right; ``_at`` is where it is."""

    def __init__(self, text: str, written: str, units: bool, alone: bool) -> None:
        self._text, self._written, self._units, self._alone = text, written, units, alone
        self._at = self._depth = self._brackets = 0
        self._bare = ("", -1)  # the last function without brackets, and where its number ended

    def answer(self) -> Nested:
        """Read all of it."""
        rows, _ = self._rows("")
        rows = [row for row in rows if row]
        if len(rows) == 1:
            return rows[0][0] if len(rows[0]) == 1 else rows[0]
        if all(len(row) == 1 for row in rows):  # one number in a line
            return [row[0] for row in rows]
        return rows

    def _refused(self) -> FormatError:
        return FormatError(f"numbers are expected, not {brief(self._written)}")

    def _rows(self, close: str) -> tuple[list[list[Any]], bool]:
        """Read up to a closing bracket; say whether a comma stood in it."""
        rows: list[list[Any]] = [[]]
        comma = False
        free = True  # may a number begin here?
        while True:
            if self._skip(newlines=bool(close)):
                free = True
            sign = self._sign()
            if sign == close or not sign:
                if sign != close:
                    raise FormatError(f"in {brief(self._written)} a {close} is missing")
                self._at += len(close)
                return rows, comma
            if sign in ",;\n":
                self._at += 1
                comma, free = comma or sign == ",", True
                rows += [[]] if sign in ";\n" else []
            elif free or sign == "[":
                rows[-1].append(self._sum(loose=close == ")" or (self._alone and not close)))
                free = False
            else:
                raise self._refused()

    def _sign(self) -> str:
        """Return the next sign; at the end there is none."""
        return self._text[self._at : self._at + 1]

    def _skip(self, *, newlines: bool) -> bool:
        start = self._at
        blank = " \t\r\n" if newlines else " \t\r"
        while self._at < len(self._text) and self._text[self._at] in blank:
            self._at += 1
        return self._at > start

    def _operator(self, pattern: str, *, loose: bool = True) -> str:
        """Take an operator if it comes next; where not ``loose``, 1 -2 are two numbers."""
        found = re.compile(rf"\s*({pattern})" if self._brackets else rf"[ \t]*({pattern})").match(
            self._text, self._at
        )
        if not found:
            return ""
        blank_before = found.start(1) > self._at
        blank_after = self._text[found.end() : found.end() + 1].isspace()
        if not loose and blank_before and not blank_after:
            return ""
        self._at = found.end()
        return str(found[1])

    def _sum(self, *, loose: bool) -> Nested:
        left = self._product(loose)
        while sign := self._operator(r"[+-]", loose=loose):
            left = self._worked_out(sign, left, self._product(loose))
        return left

    def _product(self, loose: bool) -> Nested:
        left, divided = self._signed(), False
        while True:
            if sign := self._operator(r"\*(?!\*)|/"):
                left = self._worked_out(sign, left, self._signed())
                divided = sign == "/"
            elif not divided and self._factor_follows(left, loose):  # 1/2(3) is unclear
                left = self._worked_out("*", left, self._power())
            else:
                return left

    def _factor_follows(self, left: Nested, loose: bool) -> bool:
        """Go to a factor that stands there without a sign, behind a blank only where ``loose``."""
        at = self._at
        if loose:
            self._skip(newlines=False)
        factor = None if isinstance(left, list) else _FACTOR.match(self._text, self._at)
        if factor:
            name, end = self._bare
            if end == at and factor[0] not in FUNCTIONS:  # ln 2π, but not ln 2 ln 3
                raise FormatError(f"it is unclear what {name} is taken of: write {name}(…)")
            return True
        self._at = at
        return False

    def _signed(self) -> Nested:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FormatError(f"{brief(self._written)} is nested too deeply")
        try:
            self._skip(newlines=bool(self._brackets))
            if self._operator(r"\+"):
                return self._signed()
            if self._operator("-"):
                below = self._signed()
                if isinstance(below, list):
                    raise self._refused()
                return below._replace(value=-below.value)
            return self._power()
        finally:
            self._depth -= 1

    def _power(self) -> Nested:
        base = self._operand()
        if self._operator(r"\^|\*\*"):
            return self._worked_out("^", base, self._signed())
        return base

    def _operand(self) -> Nested:
        found: Nested
        if self._sign() in ("(", "["):
            found = self._bracket()
        elif match := LITERAL.match(self._text, self._at):
            entry = literal(match[0])
            found = self._named() if entry is None else entry
            self._at = self._at if entry is None else match.end()
            if match[3] and (more := _EXPONENT.match(self._text, self._at)):
                raise FormatError(f"{brief(match[0] + more[0])} has two exponents: write one")
        else:
            found = self._named()
        if isinstance(found, list):
            return found
        if self._sign() == "!":
            self._at += 1
            found = self._called("factorial", found)
        return self._with_unit(found)

    def _bracket(self) -> Nested:
        bracket = self._text[self._at]
        self._at += 1
        self._depth += 1
        self._brackets += 1
        if self._depth > MAX_DEPTH:
            raise FormatError(f"{brief(self._written)} is nested too deeply")
        rows, comma = self._rows(")" if bracket == "(" else "]")
        self._depth -= 1
        self._brackets -= 1
        rows = [row for row in rows if row] or [[]]
        if bracket == "(" and not comma and [len(row) for row in rows] == [1]:
            return rows[0][0]
        return rows[0] if len(rows) == 1 else rows

    def _named(self) -> Entry:
        """Read a constant, or a function and what it is taken of."""
        if self._sign() == "√":
            self._at += 1
            root = self._called("sqrt", self._taken_of())
            if self._text[self._at - 1] in "!%":  # of what is written, or of what that is
                raise FormatError("it is unclear what √ is taken of: write √(…)")
            return root
        match = _NAME.match(self._text, self._at)
        if not match:
            raise self._refused()
        name = match[1]
        self._at = match.end()
        if name in CONSTANTS:
            return Entry(CONSTANTS[name], typed=True)
        if name.lower() in SPECIAL:
            return Entry(SPECIAL[name.lower()], typed=True)
        if name == "frac":
            above = self._argument()
            return self._worked_out("/", above, self._argument())
        if name not in FUNCTIONS:
            raise self._refused()
        self._skip(newlines=False)
        if name == "sqrt" and self._sign() == "[":
            return self._root()
        bare = self._sign() != "("
        argument = self._taken_of()
        self._bare = (name, self._at) if bare else self._bare
        return self._called(name, argument)

    def _root(self) -> Entry:
        """Read a root with its degree in square brackets before it."""
        degree, *more = self._bracket()
        if more:
            raise self._refused()
        inverse = self._worked_out("/", Entry(Fraction(1)), degree)
        return self._worked_out("^", self._taken_of(), inverse)

    def _argument(self) -> Nested:
        """Read what stands above or below the line of a fraction: of bare digits, one."""
        self._skip(newlines=False)
        if not self._sign().isdecimal():
            return self._taken_of()
        self._at += 1
        return literal(self._text[self._at - 1])

    def _taken_of(self) -> Nested:
        """Read what a function is taken of, behind a blank, too: ln 2, ln (2)."""
        self._skip(newlines=False)
        return self._bracket() if self._sign() == "(" else self._signed()

    def _called(self, name: str, argument: Nested) -> Entry:
        if isinstance(argument, list):
            raise self._refused()
        try:
            return Entry(applied(name, argument.value), typed=True)
        except OverflowError:
            return Entry(math.inf, typed=True)
        except ValueError:
            raise self._refused() from None

    def _with_unit(self, entry: Entry) -> Entry:
        """Take a unit, or per cent, that stands behind a number."""
        match = _UNIT.match(self._text, self._at)
        if not match:
            return entry
        word = match[1]
        if self._units and word in UNITS:
            self._at = match.end()
            return entry._replace(unit=word)
        if word == "%":
            self._at = match.end()
            last = None if entry.last is None else entry.last - 2
            return entry._replace(value=entry.value / 100, last=last)
        if word not in _FACTORS and word.lower() not in SPECIAL:
            unit = ", in the unit that the text asks for" if word in UNITS else ""
            raise FormatError(f"write the number alone, without {brief(word)}{unit}")
        return entry

    def _worked_out(self, sign: str, left: Nested, right: Nested) -> Entry:
        if isinstance(left, list) or isinstance(right, list):
            raise self._refused()
        try:
            value = operated(sign, left.value, right.value)
        except OverflowError:
            value = math.inf
        except (ZeroDivisionError, ValueError, TypeError):
            raise self._refused() from None
        return Entry(value, typed=True, unit=left.unit or right.unit)
