"""Check your answers while you work on them.

    student("ada")               whose numbers these are
    your_numbers("exercise")     the numbers that are yours
    check("exercise")            how answers are read, and what the visible checks say
    carry("exercise")            your own code of an earlier notebook, in place of this cell
    practice("exercise")         other numbers; with answers, at once what is right
    solution()                   how the answers to these other numbers come out
    hint("exercise")             something to help you on
    moving(draw, "name", […], 1)  a picture with a slider
    check("exercise", answer="part")    whether this answer is right, where your course offers it

There are no solutions of graded answers to be read in this file or in those beside it, and grading
uses none of them.  It needs numpy and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from numbers import Rational
from pathlib import Path
from typing import Any
from typing import Any, NamedTuple
from typing import NamedTuple
from typing import TYPE_CHECKING, Any
from typing import TYPE_CHECKING, Any, NamedTuple
import array as arrays
import ast
import base64
import builtins
import contextlib
import difflib
import hashlib
import html
import importlib
import inspect
import io
import json
import linecache
import math
import numpy as np
import os
import random
import re
import reprlib
import symtable
import sys
import traceback
import unicodedata
import warnings


# The cells that are known to be an exercise's, by their number among those that were run.
_claimed: dict[int, str] = {}


def answers_another(
    exercise: str,
    name: str,
    exercises: dict[str, RecordedExercise],
    notebook: dict[str, Any],
) -> str:
    """Return the exercise that a variable was last written for, "" if it is this one.

    Jupyter keeps the text of the cells that were run: the last one that writes the variable is
    another exercise's if that was checked with it, or if it writes all of that one's answers and
    not all of these.  Where this can't be known the variable counts as this exercise's.
    """
    cells: Any = notebook.get("In")
    if not isinstance(cells, list):
        return ""
    for number in reversed(range(len(cells))):
        written = _written(cells[number])
        if name not in written:
            continue
        if _names(exercises[exercise]) <= written:
            return "" if _claimed.setdefault(number, exercise) == exercise else _claimed[number]
        others = (e for e in exercises if name in (own := _names(exercises[e])) and own <= written)
        return next(others, "")
    return ""


def _names(exercise: RecordedExercise) -> set[str]:
    return {part["name"] for part in exercise["parts"] if part["hint"]["kind"] != "manual"}


def _written(source: Any) -> set[str]:
    """Return the names that a cell writes."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, TypeError, RecursionError):
        return set()
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


#: The form of check.json that is read here; one that earlier code can't read has the next number.
SCHEMA = 1

#: Where a variant holds, by part, in which order its statements are shown: "CAB" shows first the
#: third one of those that the part's hint lists.
ORDERS = "orders"


def pick(course: str, student: str, exercise: str, pool: int) -> int:
    """Return which of the ``pool`` variants of an exercise a student has."""
    digest = hashlib.sha256(f"{course}\0{student}\0{exercise}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % pool


def decode(value: object) -> Any:
    """Turn a value of check.json back into numbers, text, tuples and arrays."""
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        torch = importlib.import_module("torch")
        return torch.from_numpy(decode(value["tensor"])).to(getattr(torch, value["dtype"]))
    if "array" in value:
        return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
    if "scalar" in value:
        return np.dtype(value["dtype"]).type(value["scalar"])
    if "tuple" in value:
        return tuple(decode(entry) for entry in value["tuple"])
    if "dict" in value:
        return {decode(key): decode(entry) for key, entry in value["dict"]}
    return float(value["float"])  # "nan", "inf" or "-inf"


def contents() -> CheckFile:
    """Return check.json."""
    known: CheckFile = json.loads(Path(__file__).with_name("check.json").read_text("utf-8"))
    return known


def statements(parts: list[RecordedPart], orders: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return what there is to choose from by letter, in the orders of a variant.

    What is one list for several parts is called by all of them.
    """
    found: dict[str, dict[str, str]] = {}
    for part in parts:
        if order := orders.get(part["name"]):
            options, texts = part["hint"]["options"], part["hint"]["statements"]
            shown = {options[i]: texts[options.index(letter)] for i, letter in enumerate(order)}
            same = next((name for name, other in found.items() if other == shown), "")
            found.pop(same, None)
            found[f"{same}, {part['name']}" if same else part["name"]] = shown
    return found


def file_problems() -> list[str]:
    """Say which files beside the notebook are missing, or aren't those that were given."""
    found = []
    for name, digest in contents().get("data", {}).items():
        path = Path(__file__).with_name(name)
        if not path.is_file():
            found.append(f"{name} is missing: put it beside this notebook, as you were given it.")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(
                f"{name} isn't the file that you were given, which grading uses: put that one back."
            )
    return found


def find(exercise: str) -> tuple[RecordedExercise | None, str]:
    """Return what check.json says about an exercise, or None and what to do."""
    try:
        known = contents()
        exercises, later = known["exercises"], known["schema"] > SCHEMA
    except FileNotFoundError:
        return None, "check.json is missing: put it beside check.py, as you were given it."
    except (ValueError, KeyError, TypeError):
        return None, "check.json can't be read: put it back as you were given it."
    if later:
        return None, "check.json belongs to a later check.py: put both here as you were given them."
    if exercise in exercises:
        return exercises[exercise], ""
    near = " or ".join(difflib.get_close_matches(str(exercise), exercises))
    there_are = f"Did you mean {near}?" if near else f"There are {', '.join(exercises)}."
    return None, f"There is no exercise {exercise!r} here. {there_are}"


def help_with(exercise: str) -> Help:
    """Return what help.json holds for an exercise, which may be nothing."""
    path = Path(__file__).with_name("help.json")
    found: dict[str, Help] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found.get(exercise, {})


def variant_of(exercise: str, found: RecordedExercise, student: str) -> int | None:
    """Return which variant is a student's, or None where that can't be known yet."""
    if len(found["pool"]) == 1:
        return 0
    return pick(contents()["course"], student, exercise, len(found["pool"])) if student else None


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 70
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 20


def block(values: dict[str, Any], size: int = 30) -> list[str]:
    """Return ``name = value`` with the further lines of a value under its first."""
    lines: list[str] = []
    for name, value in values.items():
        first, *rest = _shown(value, size).splitlines() or [""]
        lines += [f"{name} = {first}", *(" " * (len(name) + 3) + line for line in rest)]
    return lines


def counted(shape: Any) -> str:
    """Say how many numbers an array of a shape holds."""
    if len(shape) == 0:
        return "one number"
    if len(shape) > 1:
        return f"an array of shape {tuple(shape)}"
    return f"{shape[0]} number{'s' * (shape[0] != 1)}"


def _shown(value: object, size: int) -> str:
    """Write a value, or only its shape where it has many entries."""
    if not isinstance(value, np.ndarray):
        return f"{value:.6g}" if isinstance(value, (float, np.floating)) else brief(value)
    kind = "" if value.dtype in (float, int, bool) else f" ({value.dtype})"
    if value.size > size:
        return f"array of shape {value.shape}{kind}"
    return np.array2string(value, precision=4, separator=", ", suppress_small=True) + kind


def brief(value: object) -> str:
    """Write a value in at most 60 characters, without writing out what is much longer."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    try:
        text = _SHORT.repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # an object of the student's own
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(value: Any) -> str:
    """Write the numbers of an answer as they were read; of many, only how many."""
    if value.ndim == 0:
        return _one(value[()])
    if value.size > 30 or value.ndim > 2:
        return counted(value.shape)
    rows = value if value.ndim == 2 else [value]
    lines = [", ".join(map(_one, row)) for row in rows]
    if value.ndim == 1:
        return f"{counted(value.shape)}: {lines[0]}" if lines[0] else counted(value.shape)
    return "\n".join([counted(value.shape), *(f"[{line}]" for line in lines)])


def _one(number: object) -> str:
    return f"{number:.8g}" if isinstance(number, float) else str(number)


def kind_of(value: object) -> str:
    """Say what kind of thing a result is."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"


#: Euler's number where its letter could also begin an exponent of ten.
EULER = "ℯ"

# What follows is looked at alone: the 3 of 2e+3e+1 has an e of its own.
_E_BEHIND_NUMBER = re.compile(
    r"(?<![\w.])(\d[\d_]*(?:\.\d*)?|\.\d+)([eE])(?=(?P<exponent>([+-]|−)?(\d+)))"
)
# An e that begins no exponent of ten, alone or as a factor: e^2, 3e, 2 e - 1.
_EULER_ALONE = re.compile(r"(?<![A-Za-z_\\])e(?![A-Za-z_])(?![+\-−]?\d)|(?<![\w.])e(?![A-Za-z_])")
_AROUND_ENTRIES = (*",;[\n=≈&$", r"\(", r"\\")
_ENTRY_ENDS = re.compile(r"[ \t]*(?:\Z|[,;\]\n%&$]|\\[\])\\])|[ \t]+[+\-−]?[\d.]")
_IN_UNIT = re.compile(r"[ \t]*[A-Za-zμ]{1,3}(?:/s)?[ \t]*(?:\Z|[,;\]])")


class TwoReadings(ValueError):
    """A text that has two meanings.

    Parameters
    ----------
    reason
        Both of them, for the student.
    position
        Where it stands.
    """

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason, self.position = reason, position


def with_euler(text: str, *, number: bool = False) -> str:
    """Return a text of the same length with ℯ for every e that would else begin an exponent.

    ``3e+2`` is 3·e + 2.  ``3e-2`` is a power of ten where a number is asked for and it is that by
    itself, perhaps with a unit behind it; in a formula it could be both.  What programs print is a
    power of ten anywhere: 1.5e-3, 1e-3, 2E-3, 3e-04 and 2e3.

    Raises
    ------
    TwoReadings
        For what could be both.

    Examples
    --------
    >>> with_euler("1+3e+2e^(-2)"), with_euler("3e-2", number=True), with_euler("1.5e-3*x")
    ('1+3ℯ+2e^(-2)', '3e-2', '1.5e-3*x')
    """
    signs = list(text)
    others = _EULER_ALONE.search(text) is not None
    read = 0
    for found in _E_BEHIND_NUMBER.finditer(text):
        if found.start() < read:
            continue
        if _is_euler(found, text, others, number):
            signs[found.start(2)] = EULER
        else:
            read = found.end("exponent")
    return "".join(signs)


def _is_euler(found: re.Match[str], text: str, others: bool, asked: bool) -> bool:
    """Decide about one e.

    ``others`` says whether Euler's stands elsewhere in the text, and ``asked`` whether a number
    is asked for.
    """
    number, letter, exponent, sign, digits = found.groups()
    end = found.end("exponent")
    behind = text[end : end + 1]
    if sign is None or letter == "E" or (digits[0] == "0" and len(digits) > 1):
        return False
    if behind == "." or (behind == "e" and "." not in number):  # 3e-1.5, 3e+2e^x
        return True
    typed = sign != "−"  # no program prints that
    if typed and (number == "1" or ("." in number and not others)):
        return False
    if "." not in number:
        if sign == "+" and len(digits) == 1:
            return True
        if asked and typed and not others and _stands_alone(found, text):
            return False
    sign = sign if typed else "-"
    power = f"{number}*10^{sign.replace('+', '')}{digits}"
    both = f"{power}, or Euler's e: {number}*e {sign} {digits}"
    raise TwoReadings(f"{found[0]}{exponent} may be {both}; write one of them", found.start())


def _stands_alone(found: re.Match[str], text: str) -> bool:
    """Whether a number is all of an answer, or an entry of it, perhaps with a sign or a unit."""
    before = text[: found.start()]
    signed = before.rstrip(" \t")
    unsigned = signed[:-1] if signed[-1:] in tuple("+-−") else signed
    left = unsigned.rstrip(" \t")
    # 2 -3e-4 are two numbers, and 2 - 3e-4 is a difference.
    begins = left[-1:].isdigit() and (unsigned == signed or (signed == before and left != unsigned))
    end = found.end("exponent")
    ends = _ENTRY_ENDS.match(text, end) or _IN_UNIT.match(text, end)
    return bool(ends) and (not left or begins or left.endswith(_AROUND_ENTRIES))


class FormatError(ValueError):
    """The answer can't be read; the message is shown to the student."""


def refuse_set(raw: Any, entries: str) -> None:
    """Refuse a set where order matters: which of its entries comes first is chance.

    One that has reached the grader is a list that says so.

    Raises
    ------
    FormatError
        If it has two entries or more.
    """
    came = isinstance(raw, (set, frozenset)) or getattr(raw, "unordered", False)
    if came and len(raw) > 1:
        raise FormatError(f"a set has no order: write the {entries} in a list, or as text")


MAX_EXPONENT = 400  # beyond what a float can hold, either way

LITERAL = re.compile(r"(\d+(?:_\d+)*)?(?:\.(\d*))?(?:[eE]([+-]?\d+))?")
# A factor 10^k behind a number: its exponent.  A number begins in one place and is read in one
# way, or a thousand digits take seconds.
_POWER = re.compile(
    r"((?<![\d_])\d[\d_]*(?:\.\d*)?|(?<!\d)\.\d+)\s*\*\s*10\s*(?:\^|\*\*)\s*(?:\(\s*([+-]?\d+)\s*\)|([+-]?\d+))"
    r"(?!\s*(?:\^|\*\*)|[\d.])"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SIGNS = {
    **dict.fromkeys("−–—‒﹣－", "-"),
    **dict.fromkeys("×·⋅∙∗", "*"),
    **dict.fromkeys("÷⁄∕", "/"),
    "∞": "inf",
    "{": "(",
    "}": ")",
    "⌈": "ceil(",
    "⌊": "floor(",
    **dict.fromkeys("⌉⌋", ")"),
}
# An x between numbers is a sign as well, and no more than a hexadecimal 0x10 a name.
_TIMES = re.compile(r"(?<=[\d)])(?<!\b0)\s*[xX]\s*(?=[\d.(√])")
_BASE = re.compile(r"\blog\s*_\s*(?:\(\s*(2|10)\s*\)|(2|10)(?!\d))")
_LEADING = re.compile(r"\A\s*(?:[A-Za-z]\w*\s*)?[=≈~]")
_AND = re.compile(r"(?<=[\d)%]),?\s+(?:and|&)\s+")
_ASIDE = re.compile(r"(?<=\d)(?:['’](?=\d{3}(?!\d))|\.\.\.)")  # 1'048'576, 0.333...


class Entry(NamedTuple):
    """One number of an answer, and how it was written.

    Attributes
    ----------
    value
        Exactly, where it is a fraction of whole numbers.
    last
        The place of the last digit that was written, as a power of 10; None where it was worked
        out.
    figures
        The least and the largest number of significant figures that it may have been given with.
    typed
        Did it come as text?
    unit
        What stands behind it.
    scale
        What it was multiplied by since.
    """

    value: Fraction | float
    last: int | None = None
    figures: tuple[int, int] = (17, 17)
    typed: bool = False
    unit: str = ""
    scale: float = 1.0

    @property
    def half(self) -> float:
        """Half a unit of the last digit, as a number; 0 where none was written."""
        if self.last is None:
            return 0.0
        return 0.5 * self.scale * 10.0 ** max(min(self.last, 300), -300)


def literal(text: str) -> Entry | None:
    """Return a number that is written without a sign, None if the text is none.

    >>> literal("0.0250").figures, literal("1500").figures, literal("1.5e3").last
    ((3, 3), (2, 4), 2)
    """
    digits = written(text)
    if digits is None:
        return None
    value: Fraction | float
    if not digits.text:
        value = Fraction(0)
    elif abs(digits.last + len(digits.text)) > MAX_EXPONENT or len(digits.text) > 1000:
        value = math.inf if digits.last + len(digits.text) > 0 else 0.0
    else:
        value = Fraction(int(digits.text)) * Fraction(10) ** digits.last
    return Entry(value, digits.place, digits.figures, typed=True)


class Digits(NamedTuple):
    """The digits of a number, the place of the last one, and how many of them are significant."""

    text: str
    last: int
    figures: tuple[int, int]

    @property
    def place(self) -> int:
        """The place of the last one, or one far off."""
        return max(min(self.last, 10**6), -(10**6))


def written(text: str) -> Digits | None:
    """Return the digits of a number that is written without a sign, None if the text is none.

    >>> written("0.0250")
    Digits(text='250', last=-4, figures=(3, 3))
    """
    match = LITERAL.fullmatch(text)
    if not match or not (match[1] or match[2]):
        return None
    whole, after = (match[1] or "").replace("_", ""), match[2]
    digits = (whole + (after or "")).lstrip("0")
    most = max(len(digits), 1)
    least = most if after is not None else max(len(digits.rstrip("0")), 1)
    exponent = int(match[3] or 0) if len(match[3] or "") < 9 else 10**9
    return Digits(digits, exponent - len(after or ""), (least, most))


def plain(text: str) -> str:
    """Write what looks alike alike.

    Raises
    ------
    FormatError
        If an e may be Euler's, or begin an exponent of ten.
    """
    text = text.replace(EULER, "(e)")
    text = re.sub("[⁺⁻⁰¹²³⁴-⁹]+", lambda m: f"^({m[0].translate(_RAISED)})", text)

    def vulgar(match: Any) -> str:  # ½, 1½
        above, _, below = unicodedata.normalize("NFKC", match[2]).partition("⁄")
        return f"({match[1] or 0}+{above}/{below or 1})"

    text = re.sub("((?<!\\d)\\d*)([¼-¾⅐-⅞])", vulgar, text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join(_SIGNS.get(sign, sign) for sign in _TIMES.sub("*", text))
    try:
        text = with_euler(text, number=True)
    except TwoReadings as error:
        raise FormatError(error.reason) from None
    text = _ASIDE.sub("", _AND.sub(", ", _LEADING.sub("", text)))
    text = _BASE.sub(lambda base: f"log{base[1] or base[2]} ", text)

    def exponent(match: Any) -> str:
        # Behind a power or a quotient, signs aside, a product is no number by itself: 2^-14*10^8.
        before = match.string[: match.start()]
        if before.rstrip(" \t+-")[-1:] in tuple("^*/.") or before[-1:].isalnum():
            return str(match[0])
        if re.search(r"[\d.][eE][+-]?$", before):  # 1e-3*10^2
            return str(match[0])
        return f"{match[1]}e{match[2] or match[3]}"

    return _POWER.sub(exponent, text)


MOST_BITS = 4096  # of a number that is worked out exactly
_MOST = 170  # a larger number's factorial is beyond what a float can hold

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e, EULER: math.e}
SPECIAL = {"inf": math.inf, "infinity": math.inf, "oo": math.inf, "nan": math.nan}


def _factorial(number: Any) -> Any:
    if number != int(number):
        raise ValueError("only whole numbers have one")
    return math.factorial(int(number)) if number <= _MOST else math.inf


_EXACT: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "factorial": _factorial,
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **_EXACT,
    "exp": math.exp,
    "log": math.log,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
}


def applied(name: str, number: Fraction | float) -> Fraction | float:
    """Return the value of a function, exactly where it has whole ones."""
    if name not in _EXACT:
        return float(FUNCTIONS[name](float(number)))
    value = _EXACT[name](number)
    return Fraction(value) if isinstance(value, int) else value


def operated(sign: str, a: Fraction | float, b: Fraction | float) -> Any:
    """Work out an operation, exactly as long as the numbers are short."""
    if sign == "^":
        size = _bits(a) * abs(float(b))
        if isinstance(b, Fraction) and b.denominator == 1 and size <= MOST_BITS:
            return a ** int(b)
        return math.pow(a, b)
    if _bits(a) + _bits(b) > MOST_BITS:
        a, b = float(a), float(b)
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    return a * b if sign == "*" else a / b


def _bits(number: Fraction | float) -> int:
    if isinstance(number, Fraction):
        return max(number.numerator.bit_length(), number.denominator.bit_length())
    return 64


# What Python makes of "\frac" and "\times" where no r stands before the quotes.
_CHANGED = re.compile(r"[\a\b\f\v]|\t(?=imes|[dt]?frac|ext)|\r(?=ight|ceil|floor)")
_TYPED = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v", "\t": r"\t", "\r": r"\r"}

_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|\\[,;: ]|~)(?=\d{3}(?!\d))")  # 1{,}048{,}576
_FONTS = r"\\(?:text|mathrm|mathbb|mathbf|operatorname|mathit|textrm)\s*\{([^{}]*)\}"
_BEGIN = r"\\begin\s*\{(?:[A-Za-z]*matrix|array)\*?\}(?:\s*\{[lcr| ]*\})?"
_END = r"\\end\s*\{(?:[A-Za-z]*matrix|array)\*?\}"
#: The name e, where the word of a command would stick to it.
_BEFORE_WORD = re.compile(
    r"(?<![A-Za-z\\])e\s*(?=\\(?:ln|log|exp|sqrt|sin|cos|tanh?|[dtc]?frac)(?![a-z]))"
)
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_MEANT = {
    **dict.fromkeys(("cdot", "times", "ast"), "×"),
    "div": "÷",
    "pi": "π",
    "infty": "∞",
    "approx": "≈",
    "lceil": "⌈",
    "rceil": "⌉",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "{": "{",
    "}": "}",
    "%": "%",
    **dict.fromkeys(("dots", "ldots"), "..."),
    **dict.fromkeys(("dfrac", "tfrac", "cfrac"), "frac "),
    **dict.fromkeys(("left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "!"), ""),
    **dict.fromkeys(("(", ")", "[", "]"), ""),  # around a formula
    **dict.fromkeys((",", ";", ":", " ", "quad", "qquad", "displaystyle", "textstyle"), " "),
}


def as_typed(text: str) -> str:
    r"""Undo what Python makes of LaTeX in a text without an r before it.

    >>> as_typed("\frac{3}{8}")
    '\\frac{3}{8}'
    """
    typed = _CHANGED.sub(lambda sign: _TYPED[sign[0]], text)
    if typed != text:  # then a \\ has become a single one
        typed = re.sub(r"(?<!\\)\\(?=\s|$)", r"\\\\", typed)
    return typed


def without_latex(text: str) -> str:
    r"""Write a text in LaTeX without it; any other text stays as it is.

    >>> without_latex(r"$16\sqrt{2}$")
    '16sqrt {2}'
    >>> without_latex(r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}")
    '[ 1 , 0 ; 0 , 1 ]'
    """
    text = as_typed(text)
    if "\\" not in text and "$" not in text and "{,}" not in text:
        return text
    text = _GROUPED.sub("", text.replace("$", ""))
    text = re.sub(_BEGIN, "[", re.sub(_END, "]", text))
    text = re.sub(r"\\\\(?:\[[^]]*\])?", ";", text).replace(r"\&", " ").replace("&", ",")
    text = _BEFORE_WORD.sub("e*", re.sub(_FONTS, _upright, text))
    return _COMMAND.sub(_meant, text)


def _upright(font: Any) -> str:
    """Return what stands in a font; an upright e is Euler's, and begins no exponent of ten."""
    return "(e)" if font[1].strip() == "e" else str(font[1])


def _meant(command: Any) -> str:
    """Return the sign for a command, or its name, behind which a blank ends it."""
    return _MEANT.get(command[1], f"{command[1]} ")


_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SMALL = {"m": Fraction(1, 10**3), "n": Fraction(1, 10**9)} | dict.fromkeys(
    "μu", Fraction(1, 10**6)
)
#: What a unit is a multiple of, and by how much.
UNITS = {"%": ("1", Fraction(1, 100)), "1": ("1", Fraction(1))}
for _base, _prefixes in (
    ("B", {**_DECIMAL, **_BINARY}),
    ("bit", _DECIMAL),
    ("FLOP", _DECIMAL),
    ("FLOP/s", _DECIMAL),
    ("B/s", {**_DECIMAL, **_BINARY}),
    ("s", _SMALL),
):
    UNITS[_base] = (_base, Fraction(1))
    UNITS.update({prefix + _base: (_base, Fraction(f)) for prefix, f in _prefixes.items()})
for _unit, _words in (
    ("B", "byte bytes Byte Bytes"),
    ("bit", "bits"),
    ("FLOP", "FLOPs"),
    ("s", "sec second seconds"),
    ("%", "percent"),
):
    UNITS.update(dict.fromkeys(_words.split(), UNITS[_unit]))


def unit_factor(given: str, wanted: str) -> Fraction | None:
    """Return what a number in one unit is multiplied by to be one in another, if it can.

    >>> unit_factor("KiB", "B"), unit_factor("s", "B")
    (Fraction(1024, 1), None)
    """
    if given not in UNITS or UNITS[given][0] != UNITS[wanted][0]:
        return None
    return UNITS[given][1] / UNITS[wanted][1]


def check_unit(unit: str) -> None:
    """Raise ``ValueError`` for a unit that nobody can ask for."""
    if unit and unit not in UNITS:
        raise ValueError(f"no unit {unit!r}; the units are {', '.join(UNITS)}")


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


MAX_ENTRIES = 100_000
MAX_NESTED = 8
_LOOKED_AT = 1000  # of more numbers than these nobody typed the digits

_GROUPS = re.compile(r"([+\-−–]?)([1-9]\d{0,2})((?:,\d{3})+|(?: \d{3})+)(?![\d,])(.*)", re.DOTALL)


def entries(
    raw: object, *, shape: Any = None, units: bool = False
) -> tuple[tuple[int, ...], list[Entry]]:
    """Return the shape of an answer and its numbers in order.

    Parameters
    ----------
    raw
        Numbers, text, lists, arrays, tensors.
    shape
        The shape that is asked for, if one is.
    units
        May a unit stand behind a number of a text?

    Raises
    ------
    FormatError
        If it is anything else, or too large, or of another shape.
    """
    wanted = None if shape is None else tuple(shape)
    found = _Walk(units, -1 if wanted is None else len(wanted)).walk(raw, 0)
    if isinstance(found, Entry):
        got: tuple[int, ...] = ()
        numbers = [found]
    else:
        got, numbers = found
    if wanted is not None and got != wanted:
        if _fits(raw, got, wanted):
            return wanted, numbers
        more = _rows(raw, got, wanted) or _comma(raw)
        raise FormatError(f"{counted(wanted)} expected, {counted(got)} given{more}")
    return got, numbers


def _fits(raw: object, got: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Tell whether one number stands in brackets, or a row or column has one axis too many."""
    if wanted == () and set(got) == {1}:
        return True
    if len(wanted) == 1 and got in ((1, *wanted), (*wanted, 1)):  # as with keepdims=True
        return True
    line = isinstance(raw, str) and len(wanted) == 2 and 1 in wanted and len(got) == 1
    return line and got[0] == math.prod(wanted)


def _rows(raw: object, got: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Say how rows are parted in text, where all numbers are there."""
    in_line = isinstance(raw, str) and len(wanted) == 2 and got == (math.prod(wanted),)
    return '; a semicolon parts rows, as in "1 2; 3 4"' if in_line else ""


def _comma(raw: object) -> str:
    """Say that commas separate numbers, where one may have been meant as something else."""
    if isinstance(raw, str) and (grouped := re.search(r"[1-9]\d{0,2}(?:,\d{3}){2,}", raw)):
        return f"; a comma separates numbers: {grouped[0].replace(',', '')}, not {grouped[0]}"
    found = re.search(r"(\d+),(\d+)", raw) if isinstance(raw, str) else None
    if not found:
        return ""
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", found[0]):
        whole = found[1] + found[2]
        return f"; a comma separates numbers: {whole} or {found[1]}.{found[2]}, not {found[0]}"
    return f"; the decimal sign is a point: {found[1]}.{found[2]}, not {found[0]}"


def _joined(raw: object) -> Any:
    """Take the signs out that group the digits of a single number: 1,048,576."""
    match = _GROUPS.fullmatch(raw.strip()) if isinstance(raw, str) else None
    return f"{match[1]}{match[2]}{re.sub('[, ]', '', match[3])}{match[4]}" if match else raw


class _Walk:
    """Goes through lists and arrays, no further than their limits."""

    def __init__(self, units: bool, axes: int) -> None:
        self._units, self._axes, self._left = units, axes, MAX_ENTRIES

    def walk(self, raw: object, depth: int) -> Any:
        """Return an entry, or a shape and a list of entries."""
        raw = _array(raw)
        if isinstance(raw, np.ndarray) and raw.ndim:
            return self._of_array(raw)
        if isinstance(raw, str):
            alone = depth == self._axes
            text = _joined(raw) if alone or (depth and "," in raw) else raw
            raw = read_text(text, units=self._units, alone=alone)
        if isinstance(raw, Entry):
            return raw
        if isinstance(raw, (list, tuple, set, frozenset)):
            refuse_set(raw, "numbers")
            return self._of_list(raw, depth)
        return _number(raw)

    def _count(self, number: int) -> None:
        self._left -= number
        if self._left < 0:
            raise FormatError(f"more than {MAX_ENTRIES} numbers are too large an answer")

    def _of_array(self, raw: Any) -> tuple[tuple[int, ...], list[Entry]]:
        self._count(math.prod(max(size, 1) for size in raw.shape))  # axes without entries, too
        if raw.dtype.kind not in "iufb":
            raise FormatError(f"numbers are expected, not an array of {raw.dtype.name}")
        flat = raw.ravel()
        if flat.size > _LOOKED_AT:
            return raw.shape, [Entry(value) for value in flat.astype(float).tolist()]
        return raw.shape, [_number(value) for value in flat]

    def _of_list(self, raw: Any, depth: int) -> tuple[tuple[int, ...], list[Entry]]:
        self._count(len(raw) + 1)
        if depth >= MAX_NESTED:
            raise FormatError(f"lists are nested more than {MAX_NESTED} deep")
        if len(raw) > _LOOKED_AT and all(type(inner) is float for inner in raw):
            return (len(raw),), [Entry(value) for value in raw]
        found = [self.walk(inner, depth + 1) for inner in raw]
        shapes = {() if isinstance(inner, Entry) else inner[0] for inner in found}
        if len(shapes) > 1:
            raise FormatError("the rows of the answer have different lengths")
        numbers: list[Entry] = []
        for inner in found:
            numbers += [inner] if isinstance(inner, Entry) else inner[1]
        return (len(found), *(shapes.pop() if shapes else ())), numbers


def _array(raw: Any) -> Any:
    """Return the array in a tensor: torch's own, or one that arrived by itself."""
    if hasattr(raw, "detach"):
        raw = raw.detach().cpu()
        raw = raw.float() if str(raw.dtype) == "torch.bfloat16" else raw
        return raw.numpy()[()]
    return getattr(raw, "array", raw)


def as_sent(raw: Any) -> Any:
    """Return a number of sympy's, or another exact one, as it will reach the grader.

    >>> as_sent(Decimal("2.5")), as_sent("2.5")
    (Fraction(5, 2), '2.5')
    """
    try:
        if isinstance(raw, Rational) and not isinstance(raw, (int, np.integer)):  # sympy's too
            return Fraction(int(raw.numerator), int(raw.denominator))
        if isinstance(raw, Decimal):
            return Fraction(raw)
        if type(raw).__module__.startswith("sympy."):
            return float(raw)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        pass
    return raw


def _number(raw: object) -> Entry:
    """Return a number; what a float was typed as are its shortest digits."""
    raw = as_sent(raw[()] if isinstance(raw, np.ndarray) else raw)  # an array without axes
    if isinstance(raw, np.timedelta64):  # numpy's own whole numbers with a unit
        raise FormatError(f"numbers are expected, not {brief(raw)}")
    if isinstance(raw, (int, np.integer, np.bool_)):  # a truth value is 0 or 1, as in a mask
        whole = int(raw)
        if whole.bit_length() > 4096:
            raise FormatError("a number of the answer is too large")
        digits = written(str(abs(whole)))
        return Entry(Fraction(whole), 0, digits.figures if digits else (1, 1))
    if isinstance(raw, (float, np.floating)):
        value = float(raw)
        digits = written(str(raw).lstrip("-"))  # numpy writes the digits of its precision
        if digits is None:  # nan, inf
            return Entry(value)
        return Entry(value, digits.place, digits.figures)
    if isinstance(raw, Fraction):
        return Entry(raw)
    raise FormatError(f"numbers are expected, not {brief(raw)}")


def as_float(entry: Entry, *, special: bool = False) -> float:
    """Return the number as a float, which is finite unless NaN and infinity are asked for."""
    try:
        value = float(entry.value)
    except OverflowError:
        raise FormatError("a number of the answer is too large") from None
    if not special and not math.isfinite(value):
        raise FormatError("it contains NaN or infinity; finite numbers are expected")
    return value


def as_fraction(entry: Entry, raw: object) -> Fraction:
    """Return the number exactly, which a decimal is not unless it is whole."""
    if is_whole(entry) or (isinstance(entry.value, Fraction) and entry.last is None):
        return Fraction(entry.value)
    raise FormatError(f'fractions are expected, as text such as "-2/3", not {brief(raw)}')


def as_whole(entry: Entry, raw: object) -> int:
    """Return the number as a whole one."""
    if is_whole(entry):
        return int(entry.value)
    raise FormatError(f"whole numbers are expected, not {brief(raw)}")


def is_whole(entry: Entry) -> bool:
    """Tell whether there is nothing behind the decimal point."""
    value = entry.value
    return value.denominator == 1 if isinstance(value, Fraction) else value.is_integer()


class Reading(NamedTuple):
    """An answer as it is read, and what the student is told of that.

    Attributes
    ----------
    value
        What the grader judges.
    shown
        What was read, for the student.
    advice
        What the student may want to do about it.
    entries
        The numbers of it as they were written.
    typeset
        By line of what is shown, LaTeX of it; none for other lines.
    """

    value: Any
    shown: str
    advice: str = ""
    entries: tuple[Entry, ...] = ()
    typeset: tuple[str, ...] = ()


def is_blank(raw: object, depth: int = 0) -> bool:
    """Tell whether an answer was never written: None, empty text, or nothing but those."""
    if isinstance(raw, dict) and raw:
        raw = list(raw.values())
    if isinstance(raw, (list, tuple, set, frozenset)) and raw != () and depth < MAX_NESTED:
        return all(is_blank(entry, depth + 1) for entry in raw)
    return raw is None or (isinstance(raw, str) and not raw.strip())


def text_of(raw: object) -> str:
    """Return an answer as text; a number is text, too, and numpy's as well.

    Raises
    ------
    FormatError
        If it is anything else.
    """
    raw = as_sent(raw.item() if isinstance(raw, np.generic) else raw)
    if not isinstance(raw, (str, int, float)) or isinstance(raw, bool):
        raise FormatError(f"text in quotes is expected, not {brief(raw)}")
    return str(raw)


#: What a hint about a formula may say beside the names and functions.
_OF_FORMULAS = ("implicit", "operators")


def read_formula(raw: object, hint: dict[str, Any]) -> Reading:
    """Return how the grader will read a formula."""
    how = {name: hint[name] for name in _OF_FORMULAS if name in hint}
    shown, latex = _ask_the_grammar(raw, hint, ("look", "typeset"), **how)
    return Reading(text_of(raw), shown, typeset=(latex,))


#: What a hint about lines may say beside the names and functions.
_OF_LINES = ("indexed", "indices", "blocks", "defined", "equations", "bounds")

#: A line of LaTeX in which an environment begins or ends, and nothing stands.
_NO_FORMULA = re.compile(r"\s*(?:\$\$|\\[\[\]]|\\(?:begin|end)\s*\{[a-z]+\*?\})\s*")

#: Far more lines than a derivation of a page has, and few enough to be examined.
MAX_LINES = 40


def lines_of(raw: object) -> list[Any]:
    """Return the lines of a derivation, one by one."""
    refuse_set(raw, "lines")
    texts = raw.splitlines() if isinstance(raw, str) else raw
    if not isinstance(texts, (list, tuple)):
        raise FormatError(f"a list of lines of text is expected, not {brief(raw)}")
    texts = ["" if isinstance(t, str) and _NO_FORMULA.fullmatch(t) else t for t in texts]
    count = sum(text is not None and bool(str(text).strip()) for text in texts)
    if count > MAX_LINES:
        raise FormatError(f"{count} lines are too long a derivation; {MAX_LINES} are the most")
    return texts


def read_lines(raw: object, hint: dict[str, Any]) -> Reading:
    """Return the lines of a derivation and how they are read, or which of them can't be."""
    texts, read, typeset, wrong = [], [], [""], []
    for number, text in enumerate(lines_of(raw), 1):
        if text is None or not str(text).strip():
            continue
        try:
            how = {name: hint[name] for name in _OF_LINES if name in hint}
            shown, latex = _ask_the_grammar(text, hint, ("look_line", "typeset_line"), **how)
            typeset.append(latex)
            texts.append(text_of(text))
            read.append(f"line {number}: {shown.replace('read as ', '', 1)}")
        except FormatError as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        raise FormatError("\n".join(wrong))
    if not read:
        raise FormatError("there is no line with text")
    shown = "\n".join([f"{len(read)} line{'s' * (len(read) != 1)}, read as", *read])
    return Reading(texts, shown, typeset=tuple(typeset))


def _ask_the_grammar(
    raw: object, hint: dict[str, Any], looks: tuple[str, str], **how: object
) -> tuple[str, str]:
    """Return what the grader's own grammar makes of a text, and LaTeX of it where it can."""
    text = text_of(raw)
    try:
        reader: Any = importlib.import_module("check_formulas")
    except ImportError:
        said = f"{brief(raw)} (put check_formulas.py beside check.py to see how it is read)"
        return said, ""
    except SyntaxError:  # it needs Python 3.10
        return brief(raw), ""
    how["functions"] = hint.get("functions", ())
    how.update(calls=reader.CALLS, constants=reader.CONSTANTS)
    try:
        read = getattr(reader, looks[0])(text, hint["names"], **how)
    except reader.ParseError as error:
        raise FormatError(str(error)) from None
    except Exception:  # nobody's fault but ours: the answer may well be readable
        return brief(raw), ""
    latex = ""
    with contextlib.suppress(Exception):  # it is as well read without
        latex = getattr(reader, looks[1])(text, hint["names"], **how)
    return f"read as {read}", latex


_NONE = ("none", "[]", "()", "{}", "∅")
_SEPARATORS = r"\band\b|[\s,;.()\[\]{}&+/|'\"`*$]"
# Arrows and numbers between steps in order.
_BETWEEN = re.compile(r"[-–→⟶⇒>=]|\\(?:to|(?:long)?rightarrow|Rightarrow)\b|\bthen\b|\b\d+[.:)]")
_ALSO = {"true": "t", "t": "true", "false": "f", "f": "false"}


def read_choice(raw: object, hint: Any) -> Reading:
    """Read letters in either case; several come back in the order of the options."""
    options, several = hint["options"], hint.get("multiple", False)
    letters = _letters(raw, several)
    if letters is not None and {*letters} <= {*options} and (several or len({*letters}) == 1):
        text = "".join(option for option in options if option in letters)
        words = hint.get("shown", {})
        said = [f"{letter}, {words[letter]}" for letter in text if letter in words]
        return Reading(text, "\n".join(said) or text or "none")
    if not several:
        raise FormatError(f"one of {', '.join(options)} is expected, not {brief(raw)}")
    raise FormatError(
        f'letters out of {", ".join(options)} are expected, such as "{options[:2]}", or "none" '
        f"where no statement applies, not {brief(raw)}"
    )


def read_ordering(raw: object, hint: Any) -> Reading:
    """Read the letters of steps in the order in which they were written, each at most once."""
    known = hint["letters"]
    refuse_set(raw, "letters")
    text = _BETWEEN.sub(" ", raw) if isinstance(raw, str) and len(raw) <= 200 else raw
    letters = _letters(text, several=False)
    if not letters or not {*letters} <= {*known}:
        example = " ".join(known[2::-1])
        raise FormatError(
            f'letters from {known[0]} to {known[-1]} in order are expected, such as "{example}", '
            f"not {brief(raw)}"
        )
    if twice := [letter for letter in known if letters.count(letter) > 1]:
        raise FormatError(f"each step stands there once, and {', '.join(twice)} more often")
    return Reading(tuple(letters), f"{' '.join(letters)}: {len(letters)} steps in this order")


def read_labels(raw: object, hint: Any) -> Reading:
    """Read a label for each name of a table; one that is missing is no label."""
    labels = {label.casefold(): label for label in hint["labels"]}
    names = {str(name): str(name) for name in (raw if isinstance(raw, dict) else ())}
    names = {name.casefold(): name for name in hint.get("names", names)}
    if not isinstance(raw, dict) or not raw:
        example = f'{{"{next(iter(names.values()), "C1")}": "{hint["labels"][0]}"}}'
        raise FormatError(f"a dictionary such as {example} is expected, not {brief(raw)}")
    value: dict[str, Any] = dict.fromkeys(names.values())
    for name, label in raw.items():
        key = names.get(str(name).strip().casefold())
        if key is None:
            known = ", ".join(names.values())
            raise FormatError(f"there is no {brief(name)} in this table, but {known}")
        if is_blank(label):
            continue
        word = str(label).strip(" .").casefold() if isinstance(label, (str, bool)) else ""
        word = word if word in labels else _ALSO.get(word, "")
        if word not in labels:
            one = ", ".join(hint["labels"])
            raise FormatError(f"{key}: one of {one} is expected, not {brief(label)}")
        value[key] = labels[word]
    missing = [name for name, label in value.items() if label is None]
    text = ", ".join(f"{name} {label}" for name, label in value.items() if label is not None)
    return Reading(value, text, f"no label yet: {', '.join(missing)}" if missing else "")


def _letters(raw: object, several: bool) -> list[str] | None:
    """Return the letters that were written, None if there is anything but letters."""
    if isinstance(raw, str):
        if several and raw.strip().lower() in _NONE:
            return []
        text = re.sub(_SEPARATORS, "", unicodedata.normalize("NFKC", raw[:201]))
        raw = list(text) if text and len(raw) <= 200 else None
    if not isinstance(raw, (list, tuple, set, frozenset)) or len(raw) > 200:
        return None
    letters = [entry.strip().upper() if isinstance(entry, str) else "" for entry in raw]
    return letters if all(len(letter) == 1 for letter in letters) else None


MAX_MATRIX = 20_000  # characters of a matrix, or entries of an array

_AROUND = r"(?:\$|\\[()\[\]]|\\(?:left|right)|[\s()\[\].,])*"
_LATEX = re.compile(
    _AROUND
    + r"\\begin\s*\{([A-Za-z]*matrix|array)\*?\}(?:\s*\{[lcr| ]*\})?(.*)\\end\s*\{\1\*?\}"
    + _AROUND,
    re.DOTALL,
)
_NUMPY = re.compile(r"(?:[A-Za-z]+\.)?(?:Matrix|matrix|array)\s*\((.*)\)", re.DOTALL)
# A blank between entries: 1 -2 are two, and 1 - 2 is one, as in Matlab.
_BLANK = r"(?<![-+*/^·×\s])\s+(?![*/^·×\s]|[-+]\s)"


def rows_of(raw: Any) -> Any:
    r"""Return the rows of a matrix, each a list of its entries as they are written.

    >>> rows_of("1 0; 0 a + b"), rows_of(r"\begin{pmatrix} a & 1 \\ 0 & -a \end{pmatrix}")
    ([['1', '0'], ['0', 'a + b']], [['a', '1'], ['0', '-a']])

    Raises
    ------
    FormatError
        If it is nothing that has rows.
    """
    refuse_set(raw, "rows")
    if isinstance(raw, str):
        raw = _rows_of_text(raw)
    if hasattr(raw, "tolist") and 0 < raw.size <= MAX_MATRIX:
        raw = raw.tolist()
    if not isinstance(raw, (list, tuple)):
        raise FormatError(f'rows are expected, such as "a b; c d", not {brief(raw)}')
    for row in raw:
        refuse_set(row, "entries")
    return [_entries_of(row) if isinstance(row, str) else row for row in raw]


def _rows_of_text(text: str) -> list[Any]:
    if len(text) > MAX_MATRIX:
        raise FormatError(f"a matrix of {len(text)} characters is too long")
    text = as_typed(text)
    if found := _LATEX.fullmatch(text):
        rows = re.split(r"\\\\(?:\[[^]]*\])?", found[2])
        return [
            [entry.strip() for entry in re.split(r"(?<!\\)&", row)] for row in rows if row.strip()
        ]
    text = text.strip().strip("$").strip()
    if found := _NUMPY.fullmatch(text):
        text = found[1].strip()
    inner = _unwrapped(text)
    rows = [row.strip(" \t\r,") for row in _split_outside(inner, r"[;\n]")]
    if len(rows) == 1 and inner.lstrip().startswith("["):
        rows = [row.strip() for row in _split_outside(inner, ",")]
    return [row for row in rows if row]


def _entries_of(row: str) -> list[str]:
    row = _unwrapped(row.strip())
    found = _split_outside(row, ",")
    return [entry.strip() for entry in (found if found[1:] else _split_outside(row, _BLANK))]


def _unwrapped(text: str) -> str:
    """Take the square brackets away that stand around a text."""
    inner = text[1:-1]
    wrapped = text[:1] == "[" and text[-1:] == "]"
    return inner.strip() if wrapped and _deepest_end(inner) >= 0 else text


def _deepest_end(text: str) -> int:
    """Return how far closing brackets run ahead of the opening ones, as a negative number."""
    depth = least = 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        least = min(least, depth)
    return least


def _split_outside(text: str, at: str) -> list[str]:
    """Split a text where a pattern matches outside of all brackets."""
    pieces, start, seen, depth = [], 0, 0, 0
    for found in re.finditer(at, text):
        between = text[seen : found.start()]
        depth += sum(map(between.count, "([{")) - sum(map(between.count, ")]}"))
        seen = found.start()
        if depth == 0:
            pieces.append(text[start : found.start()])
            start = found.end()
    return [*pieces, text[start:]]


def read_matrix(raw: object, hint: dict[str, Any]) -> str:
    """Return how the entries of a matrix are read, or which of them can't be."""
    rows, columns = hint["shape"]
    given = rows_of(raw)
    if len(given) != rows:
        raise FormatError(f"a {rows} × {columns} matrix is expected, not {brief(raw)}")
    lines = []
    for number, row in enumerate(given, 1):
        if not isinstance(row, (list, tuple)) or len(row) != columns:
            size = f"a row of {columns} entries"
            raise FormatError(f"row {number}: {size} is expected, not {brief(row)}")
        entries = []
        for column, entry in enumerate(row, 1):
            try:
                entries.append(read_formula(entry, hint).shown.removeprefix("read as "))
            except FormatError as error:
                raise FormatError(f"row {number}, column {column}: {error}") from None
        lines.append(f"[{', '.join(entries)}]")
    return "\n".join(["read as", *lines])


_BEFORE = re.compile(r"\A\s*(?:torch\.Size\b|(?:R|ℝ)\s*\^)")
#: What the names in shapes stand for while two shapes are compared.
PRIMES = (1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121)


def read_shape(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read a tuple or list of sizes, or text such as ``"(2, 3)"`` and ``"2 × n"``; or several."""
    if "shapes" not in hint:
        return _one_shape(raw, hint)
    wanted = hint["shapes"]
    refuse_set(raw, "shapes")
    if isinstance(raw, str):
        raw = _several(raw, wanted)
    given = raw if isinstance(raw, dict) else {}
    if isinstance(raw, (list, tuple)) and len(raw) == len(wanted):
        given = {name: raw[i] for i, name in enumerate(wanted)}
    given = {str(name): shape for name, shape in given.items() if len(given) <= len(wanted)}
    if not given or not given.keys() <= set(wanted):
        raise FormatError(f"a dictionary with {', '.join(wanted)} is expected, not {brief(raw)}")
    value: dict[str, Any] = {}
    lines, missing = [], []
    for name in wanted:
        value[name] = None
        if is_blank(given.get(name)):
            missing.append(name)
            continue
        try:
            found = _one_shape(given[name], hint)
        except FormatError as error:
            raise FormatError(f"{name}: {error}") from None
        value[name] = found.value
        lines.append(f"{name}: {found.shown}")
    return Reading(value, "\n".join(lines), f"missing: {', '.join(missing)}" if missing else "")


def _one_shape(raw: Any, hint: Mapping[str, Any]) -> Reading:
    """Read one shape; a size with names counts as its value for certain large primes."""
    names, text, shown = hint.get("names", []), isinstance(raw, str), raw
    refuse_set(raw, "sizes")
    if names and re.search("ceil|floor|[⌈⌊]", str(raw)):  # of the primes that says nothing
        raise FormatError(f"sizes without rounding are expected, not {brief(shown)}")
    if names and isinstance(raw, (list, tuple)):
        raw = [_with_primes(size, names) for size in raw]
    if text:
        raw = _BEFORE.sub("", without_latex(raw))
        raw = re.sub(r"(?<=[\d)])\s*[xX×]\s*(?=[\d(])", ", ", _with_primes(raw, names))
    try:
        shape, numbers = entries([] if text and not raw.strip(" ()[],") else raw)
        if len(shape) != 1 and not (text and shape == ()):
            raise FormatError("")
        read = as_fraction if names else as_whole
        sizes = tuple(_whole_or_not(read(number, shown)) for number in numbers)
    except FormatError as error:
        example = f"({', '.join(['2', *names[:2]])})" if names else "(2, 3)"
        known = f" with sizes in {', '.join(names)}" if names else ""
        if str(error) and not names:
            raise
        raise FormatError(
            f"a tuple such as {example}{known} is expected, not {brief(shown)}"
        ) from None
    if names:
        said = shown.strip() if text else f"({', '.join(map(str, shown))})"
        return Reading(sizes, f"{said}: {len(sizes)} ax{'i' if len(sizes) == 1 else 'e'}s")
    return Reading(sizes, f"({', '.join(map(str, sizes))})")


def _several(text: str, wanted: Any) -> Any:
    """Take shapes apart: by semicolons, lines or their brackets, with names before them or none."""
    inner = re.sub(r"\A\s*\[(?=\s*[(\[])|(?<=[)\]])\s*\]\s*\Z", "", text)
    pieces = [p for p in re.split(r"[;\n]|(?<=[)\]])\s*,\s*(?=[(\[])", inner) if p.strip()]
    named = [re.fullmatch(r"\s*(\w+)\s*[:=](.*)", piece) for piece in pieces]
    found = {match[1]: match[2] for match in named if match and match[1] in wanted}
    return found if found and len(found) == len(pieces) else pieces


def _with_primes(size: Any, names: Any) -> Any:
    """Put a prime in the place of each name of a text: 2n is 2*1000003."""
    if not isinstance(size, str) or not names:
        return size
    primes = {name: PRIMES[i] for i, name in enumerate(names)}

    def number(match: re.Match[str]) -> str:
        return f"{match[1]}*{primes[match[2]]}" if match[1] else str(primes[match[2]])

    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![A-Za-z_])(\d*)({known})(?![A-Za-z0-9_])", number, size)


def _whole_or_not(size: Any) -> Any:
    return int(size) if size.denominator == 1 else size


DIGITS = 4  # significant digits that always suffice
POINTS = 10  # fewer are no curve


def read_numbers(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read numbers, nested lists, arrays and text such as ``"0.25 1/3 1e-3"``."""
    if isinstance(raw, (bool, np.bool_)):  # one alone is what a comparison gave
        raise FormatError(f"numbers are expected, not {brief(raw)}")
    unit, figures = hint.get("unit", ""), hint.get("figures")
    shape, numbers = _quantities(raw, hint)
    if figures and "shape" in hint and not all(number.typed for number in numbers):
        example = f"{0.5:.{figures}f}"
        raise FormatError(f'write the digits as text, "{example}" say: a number has no zeros')
    values = [as_float(number, special=hint.get("special", False)) for number in numbers]
    value = np.array(values, dtype=float).reshape(shape)
    text = f"{listed(value)} {unit}".rstrip()
    computed = isinstance(raw, np.ndarray) and raw.dtype.kind == "f" and _worked_out(numbers)
    return Reading(value, text, "" if computed else _advice(numbers, hint), tuple(numbers))


def _quantities(raw: object, hint: Mapping[str, Any]) -> tuple[tuple[int, ...], list[Entry]]:
    """Return a shape and numbers in the unit that is asked for, if one is.

    Without a unit a number is in this one; a unit behind the last number of a text is that of all.
    """
    unit = hint.get("unit", "")
    shape, numbers = entries(raw, shape=hint.get("shape"), units=bool(unit))
    if not unit:
        return shape, numbers
    last = numbers[-1].unit if numbers and isinstance(raw, str) else ""
    converted = []
    for number in numbers:
        factor = unit_factor(number.unit or last or unit, unit)
        if factor is None:
            raise FormatError(f"numbers in {unit} are expected, not {brief(raw)}")
        if factor != 1:
            number = number._replace(value=number.value * factor, scale=float(factor))
        converted.append(number)
    return shape, converted


def _advice(numbers: list[Entry], hint: Mapping[str, Any]) -> str:
    """Say where few digits were written; whether they suffice nobody knows here."""
    if hint.get("loose"):
        return ""
    written = [number for number in numbers if number.last is not None and number.value]
    places, figures = hint.get("places"), hint.get("figures")
    if places is not None:
        few = any(-(number.last or 0) < places for number in written if number.typed)
        return f"{places} decimals are asked for" if few else ""
    if figures is not None:
        other = any(n.figures[0] > figures or n.figures[1] < figures for n in written)
        return f"{figures} significant figures are asked for" if other else ""
    if hint.get("exact"):
        return ""
    few = any(n.figures[1] < DIGITS for n in written if not -10 < n.value < 10 or not is_whole(n))
    return f"fewer than {DIGITS} digits are enough only where they are exact" if few else ""


def _worked_out(numbers: list[Entry]) -> bool:
    """Tell an array that was computed, of which some numbers are short, from a rounded one.

    Rounded numbers have equally many decimals, but for zeros at the end, which few of them have.
    """
    places = [number.last for number in numbers if number.last is not None]
    return 2 * places.count(min(places, default=0)) < len(places) or min(places, default=0) < -9


def read_count(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read whole numbers, also as floats (4.0) and as text (1,048,576 or 2**20 or 12 KiB)."""
    shape, numbers = _quantities(raw, hint)
    value = np.empty(len(numbers), dtype=object)
    value[:] = [as_whole(number, raw) for number in numbers]
    shown = f"{listed(value.reshape(shape))} {hint.get('unit', '')}".rstrip()
    return Reading(value.reshape(shape), shown)


def read_fractions(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read fractions and whole numbers; a decimal is none."""
    shape, numbers = entries(raw, shape=hint.get("shape"))
    value = np.empty(len(numbers), dtype=object)
    value[:] = [as_fraction(number, raw) for number in numbers]
    return Reading(value.reshape(shape), listed(value.reshape(shape)))


def read_figure(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read a dictionary of curves and tables, or one of them where one is asked for."""
    names = hint.get("names")
    given = raw if isinstance(raw, dict) else {"data": raw}
    if names and not isinstance(raw, dict) and len(names) > 1:
        raise FormatError(f"a dictionary with {', '.join(names)} is expected, not {brief(raw)}")
    if len(given) > 100:
        raise FormatError(f"a dictionary of {len(given)} entries is too large for this answer")
    drawn = {str(name): entry for name, entry in given.items()}
    if names and len(names) == len(drawn) == 1:  # the only one needs no name
        drawn = {names[0]: next(iter(drawn.values()))}
    if missing := [name for name in names or () if name not in drawn]:
        raise FormatError(
            f"the data of {', '.join(missing)} are missing; "
            f"there is {', '.join(drawn) or 'nothing'}"
        )
    value = {name: _drawn(name, drawn[name], hint) for name in names or drawn}
    return Reading(value, f"the data of {', '.join(value)}")


def _drawn(name: str, raw: Any, hint: Mapping[str, Any]) -> Any:
    """Read numbers as what the right answer has there: a curve (x, y) or a table."""
    points, shape = hint.get("curves", {}).get(name), hint.get("tables", {}).get(name)
    pair = isinstance(raw, (list, tuple)) and len(raw) == 2
    try:
        refuse_set(raw, "rows")
        if pair:
            rows = [_values(row) for row in raw]
            if any(row.ndim != 1 for row in rows) or (shape and len({r.size for r in rows}) == 1):
                pair = False
        entry = tuple(rows) if pair else _values(raw)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None
    if shape is not None:
        if isinstance(entry, tuple):
            raise FormatError(f"for {name}, the rows have different lengths")
        if list(entry.shape) != list(shape):
            raise FormatError(f"for {name}, shape {tuple(shape)} is expected, not {entry.shape}")
    elif points is not None:
        if not isinstance(entry, tuple) and entry.ndim == 2 and len(entry) == 2:
            entry = (entry[0], entry[1])
        if not isinstance(entry, tuple) or entry[0].shape != entry[1].shape:
            raise FormatError(f"for {name}, a pair (x, y) of rows of the same length is expected")
        if len(entry[0]) < points:
            raise FormatError(f"for {name}, a curve needs {POINTS} points or more")
    return entry


def _values(raw: object) -> Any:
    """Read numbers of which nobody asks how they were written: there are thousands of them."""
    refuse_set(raw, "numbers")
    with contextlib.suppress(TypeError, ValueError):
        found = np.asarray(raw)
        if found.dtype.kind in "iuf" and 0 < found.size <= MAX_ENTRIES and np.isfinite(found).all():
            return found.astype(float)
    return read_numbers(raw, {}).value


def read(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Return an answer as it is read.

    Raises
    ------
    FormatError
        With what was expected and what came.
    """
    reader = READERS.get(hint["kind"])
    found = Reading(None, brief(raw)) if reader is None else reader(raw, hint)
    return found if isinstance(found, Reading) else Reading(None, found)


#: By the kind that a hint names.  Of mathematics only the text is shown that the grader reads.
READERS: dict[str, Any] = {
    "numbers": read_numbers,
    "count": read_count,
    "fractions": read_fractions,
    "shape": read_shape,
    "choice": read_choice,
    "ordering": read_ordering,
    "labels": read_labels,
    "figure": read_figure,
    "formula": read_formula,
    "matrix": read_matrix,
    "lines": read_lines,
}


_MARKED = re.compile(r"  ([✓✗→–~?]) (.+?)(?:\s{2,}(.*))?$")
#: Of what stands behind a sign; each has enough contrast on white and on black.
_COLOURS = {
    "✓": "#2e8b57",
    "✗": "#d9534f",
    "→": "#4a86e8",
    "~": "#b8860b",
    "–": "#808080",
    "?": "#808080",
}
_CALL = re.compile(r'hint\("\w+"(?:, \d)?\)')
_BELOW = ["notebook:insert-cell-below", "notebook:replace-selection", "notebook:run-cell"]
_ITEM = "border-left: 4px solid {}; padding: 0.1em 0.7em; margin: 0.3em 0; list-style: none"


class Typeset(str):
    """A line with LaTeX of the formula that it ends in."""

    latex: str = ""


def typeset(line: str, latex: str) -> str:
    """Return a line that shows its formula typeset, where there is LaTeX of it."""
    if not latex:
        return line
    found = Typeset(line)
    found.latex = latex
    return found


def show(lines: list[str]) -> None:
    """Show lines: as a page where something displays pages, and print them elsewhere."""
    text = "\n".join(lines)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        print(text)
        return
    display: Any = importlib.import_module("IPython.display").display
    display({"text/plain": text, "text/html": page(lines)}, raw=True)


def page(lines: list[str]) -> str:
    """Return lines as HTML: a title, an item for each mark, what belongs to it below."""
    title, *rest = lines
    parts = [f"<p><strong>{_text(title)}</strong></p>"]
    for item in _items(rest):
        found = _MARKED.match(item[0])
        if not found:
            parts += [f"<p>{_text(line.strip())}{_button(line)}</p>" for line in item]
            continue
        sign, word, said = found[1], found[2], found[3] or ""
        colour = _COLOURS[sign]
        parts.append(
            f'<li style="{_ITEM.format(colour)}"><span style="color: {colour}" aria-hidden="true">'
            f"{sign}</span> <strong>{_text(word)}</strong> {_text(said)}{_math(item[0])}"
            f"{_below(item[1:])}</li>"
        )
    return f"<div>{''.join(_with_lists(parts))}</div>"


def _button(line: str) -> str:
    """Return a button that writes the call of a hint into a cell below, and runs it.

    The cell stays in the notebook, as one that was typed. Only JupyterLab has such commands: it is
    the only one to show the button.
    """
    call = _CALL.search(line)
    if not call:
        return ""
    args = html.escape(json.dumps({"commands": _BELOW, "args": {"text": call[0]}}))
    return (
        "<style>.jp-OutputArea .runs-below { display: inline !important }</style> "
        '<button class="runs-below" style="display: none" data-commandlinker-command='
        f'"apputils:run-all-enabled" data-commandlinker-args="{args}">Run it below</button>'
    )


def _items(lines: list[str]) -> list[list[str]]:
    """Return each mark with what is further in, and each other line by itself."""
    items: list[list[str]] = []
    for line in lines:
        if items and line.startswith("      "):
            items[-1].append(line)
        else:
            items.append([line])
    return items


def _with_lists(parts: list[str]) -> list[str]:
    """Put items that follow one another into a list."""
    found: list[str] = []
    inside = False
    for part in parts:
        item = part.startswith("<li")
        if item != inside:
            found.append('<ul style="padding: 0; margin: 0">' if item else "</ul>")
        inside = item
        found.append(part)
    return [*found, "</ul>" * inside]


def _below(lines: list[str]) -> str:
    """Return what belongs to a mark: formulas typeset, the rest as it stands."""
    if not lines:
        return ""
    if any(isinstance(line, Typeset) for line in lines):
        return "".join(f"<div>{_text(line.strip())}{_math(line)}</div>" for line in lines)
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    text = "\n".join(html.escape(line[margin:]) for line in lines)
    return f'<pre style="margin: 0.2em 0">{text}</pre>'


def _text(line: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(line))


def _math(line: str) -> str:
    return f" &emsp; ${html.escape(line.latex)}$" if isinstance(line, Typeset) else ""


def report_answers(exercise: str, variant: int | None, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every part: not written yet, unreadable, or how it is read."""
    exercises = contents()["exercises"]
    lines, shown = [], _meanings(exercises[exercise], variant)
    for part in exercises[exercise]["parts"]:
        name, hint = part["name"], part["hint"]
        if hint["kind"] == "manual":
            lines.append(f"  – by hand    {name}: a cell of its own, which a person marks")
            continue
        if "varies" in hint and variant is not None:
            hint = {**hint, **hint["varies"][variant]}
        if name in shown:
            hint = {**hint, "shown": shown[name]}
        raw = notebook.get(name)
        if name not in notebook:
            lines.append(f"  ✗ undefined  `{name}` is not defined yet: run its cell first")
        elif is_blank(raw):
            lines.append(f"  – blank      {name}: {part['rubric']}")
        elif other := answers_another(exercise, name, exercises, notebook):
            lines.append(f"  ✗ undefined  `{name}` is the one of {other}: run the cell of this one")
        else:
            lines += _looked_at(name, hint, raw)
    if any(line.startswith("  →") for line in lines):
        lines.append("  Whether these are right, you learn when you are graded.")
    return lines


def _meanings(found: Any, variant: int | None) -> dict[str, dict[str, str]]:
    """Return by part what its letters stand for."""
    orders = {} if variant is None else found["pool"][variant].get(ORDERS)
    by_parts = statements(found["parts"], decode(orders) if orders else {})
    return {name: texts for names, texts in by_parts.items() for name in names.split(", ")}


def _looked_at(name: str, hint: dict[str, Any], raw: object) -> list[str]:
    mark, advice = "✗ form     ", ""
    latex: tuple[str, ...] = ()
    try:
        found: Reading = read(raw, hint)
        mark, text, advice, latex = "→ read as  ", found.shown, found.advice, found.typeset
    except FormatError as why:
        text = str(why)
    except Exception:  # nothing that anybody would take for an answer
        text = f"it can't be read, being {brief(raw)}"
    first, *more = text.split("\n") + [f"({advice})"] * bool(advice)
    lines = [f"  {mark}  {name}: {first}", *(f"        {line}" for line in more)]
    known = dict(enumerate(latex))
    return [typeset(line, known.get(place, "")) for place, line in enumerate(lines)]


class Unparsable(Exception):
    """A cell is not plain Python."""


class Names(NamedTuple):
    """Names of the notebook that a cell uses, and that it makes; it may do both with one."""

    used: frozenset[str]
    made: frozenset[str]


def names(source: str) -> Names:
    """Return the names of a cell.

    Raises
    ------
    Unparsable
        If it has magics or isn't Python.
    """
    try:
        top = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(str(error)) from error
    symbols = top.get_symbols()
    made = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    used = {s.get_name() for s in symbols if s.is_referenced()}
    inner = list(top.get_children())
    while inner:
        table = inner.pop()
        inner += table.get_children()
        taken = [s for s in table.get_symbols() if s.is_global()]
        used |= {s.get_name() for s in taken if s.is_referenced()}
        made |= {s.get_name() for s in taken if s.is_assigned()}
    return Names(frozenset(used), frozenset(made))


#: What the ``grade_id`` of an exercise's check cell begins with.
CHECK = "check_"


def grade_id(cell: object) -> str:
    """Return what a cell is called, "" where it has no such name."""
    found = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def source_of(cell: object) -> str:
    """Return the text of a cell, which may be one string or a list of lines."""
    source = cell.get("source", "") if isinstance(cell, dict) else ""
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def check_of(exercise: str) -> str:
    """Return what the check cell of an exercise is called."""
    return CHECK + exercise


def part_of(exercise: str, part: str) -> str:
    """Return what the cell of a part marked by hand is called."""
    return f"{exercise}_{part}"


def new_cell(kind: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a cell, ``code`` or ``markdown``, that was not run."""
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata or {}, "source": source, **code}


_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.M)


class NotCarried(Exception):
    """Code can't be carried; the message says why, and what to do."""


def carried_code(exercise: str, notebook: str = "", *, given: bool = False) -> tuple[str, str]:
    """Return code of an earlier exercise as the text of a cell, and a sentence about it.

    Raises
    ------
    NotCarried
        If it isn't found, isn't written yet or doesn't run.
    """
    known = contents().get("carried", {})
    if exercise not in known:
        only = f": only of {' and '.join(known)}" if known else ""
        raise NotCarried(f"nothing of {exercise!r} is carried on here{only}")
    assignment, wanted = known[exercise]["assignment"], known[exercise]["names"]
    mark = f"# {exercise} of {assignment}, carried over. Change it here if it needs mending."
    if given:
        if "given" not in known[exercise]:
            raise NotCarried(f"your course gives no version of {exercise}: carry or write your own")
        return f"{mark}\n{known[exercise]['given']}", "the version that your course gives"
    path = _found(assignment, notebook)
    units = _units(_cells(path), exercise, wanted, path)
    chosen = _needed(units, wanted)
    text = "\n\n".join(units[i].source for i in sorted(chosen))
    listed = " and ".join(f"`{name}`" for name in wanted)
    if "raise NotImplementedError" in "".join(u.source for u in units if u.made & {*wanted}):
        raise NotCarried(f"{listed} of {exercise} is not written yet in {path}")
    _try(text, exercise, path)
    others = {name for i in chosen for name in units[i].functions} - {*wanted}
    more = f", with {', '.join(sorted(others))}" if others else ""
    saved = datetime.fromtimestamp(path.stat().st_mtime).strftime("%d %b, %H:%M")
    return f"{mark}\n{text}\n", f"{listed}{more}, from {path} as it was saved on {saved}"


def _found(assignment: str, notebook: str) -> Path:
    """Return where the earlier notebook is: in the folder beside this one, or where they say."""
    if notebook:
        path = Path(notebook)
        if not path.is_file():
            raise NotCarried(f"there is no file {path}")
        return path
    here = Path(__file__).parent
    for folder in (here.parent / assignment, here):
        if (path := folder / f"{assignment}.ipynb").is_file():
            return path
    raise NotCarried(
        f"there is no {here.parent / assignment / assignment}.ipynb. Put the folder {assignment} "
        'beside this one, or say where the notebook is: carry("…", "path/to/it.ipynb")'
    )


def _cells(path: Path) -> list[tuple[str, str]]:
    """Return the id and the text of each cell of code."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        return [(grade_id(cell), _MAGIC.sub(r"\1pass", source_of(cell))) for cell in code]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise NotCarried(f"{path} can't be read as a notebook") from None


class _Unit(NamedTuple):
    """A statement, or several that stand on one line."""

    source: str
    used: frozenset[str]
    made: frozenset[str]
    functions: frozenset[str]  # that it defines; also classes
    built_on: frozenset[str]  # names that it makes out of what they were before


def _units(
    cells: Iterable[tuple[str, str]], exercise: str, wanted: list[str], path: Path
) -> list[_Unit]:
    """Return the statements of a notebook, up to the exercise's own cell if that can be told."""
    found: list[_Unit] = []
    for id, source in cells:
        try:
            found += _statements(source)
        except (SyntaxError, ValueError, Unparsable) as error:
            if id == exercise:
                raise NotCarried(
                    f"the cell of {exercise} in {path} is no Python: {error}"
                ) from None
        if id == exercise:
            break
    if missing := {*wanted}.difference(*(unit.made for unit in found)):
        listed = " and ".join(f"`{name}`" for name in sorted(missing))
        raise NotCarried(f"the cell of {exercise} in {path} defines no {listed}")
    return found


def _statements(source: str) -> list[_Unit]:
    lines = source.splitlines()
    groups: list[tuple[int, int, list[ast.stmt]]] = []
    for node in ast.parse(source).body:
        decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
        first, last = min([node.lineno, *decorators]) - 1, node.end_lineno or node.lineno
        if groups and first < groups[-1][1]:
            groups[-1] = groups[-1][0], last, [*groups[-1][2], node]
        else:
            groups.append((first, last, [node]))
    return [_unit("\n".join(lines[first:last]), nodes) for first, last, nodes in groups]


def _unit(source: str, nodes: list[ast.stmt]) -> _Unit:
    used, made = names(source)
    defined = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    # `Layer.forward = …` and `weights[0] = …` change what is there already.
    changed = set()
    for node in nodes if not defined else ():
        for target in ast.walk(node):
            if isinstance(target, ast.Attribute | ast.Subscript) and isinstance(
                target.ctx, ast.Store
            ):
                changed |= {n.id for n in ast.walk(target.value) if isinstance(n, ast.Name)}
    at_once = [ast.unparse(part) for node in defined for part in _at_once(node)]
    now = {name for text in at_once for name in names(text).used} if defined else used
    functions = frozenset(node.name for node in defined)
    return _Unit(source, used, made | changed, functions, frozenset((made & now) | changed))


def _at_once(node: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    """Return what a definition uses when it is made, not when it is called."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases]
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    return [*node.decorator_list, *defaults]


def _needed(units: list[_Unit], wanted: Iterable[str]) -> set[int]:
    """Return which statements make these names and all that they use."""
    found: set[int] = set()
    waiting, seen = {*wanted}, set(vars(builtins))
    while waiting:
        seen.add(name := waiting.pop())
        for i in reversed(range(len(units))):
            if name in units[i].made:
                found.add(i)
                waiting |= units[i].used - seen
                if name not in units[i].built_on:
                    break
    return found


def _try(text: str, exercise: str, path: Path) -> None:
    """Run the code by itself, as grading will."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, f"<{exercise}>", "exec"), {"__name__": "__main__"})
    except (Exception, SystemExit) as error:
        raise NotCarried(
            f"your code of {exercise} in {path} doesn't run by itself "
            f"({type(error).__name__}: {error}). Mend it there, save, and try again"
        ) from None


class Judgement(NamedTuple):
    """How good an answer is: ``credit`` from 0 to 1, a stable ``note`` and a sentence."""

    credit: float
    note: str = ""
    feedback: str = ""


def judged_by_entries(credits: Any, expected: Any, taken_for: Callable[[Any], Any]) -> Judgement:
    """Return the share of an array's entries that are right, where at least half are.

    Entries that repeat the array's commonest value come free with one value everywhere: they count
    where half of the others were told apart from them.  Where that value is 0 or infinite the
    pattern alone, of a mask, gives it away: there half of the others must be right.

    Parameters
    ----------
    credits
        What each entry is worth, from 0 to 1.
    expected
        What each of them should be.
    taken_for
        Tells of each entry whether it was given as a certain value.

    Examples
    --------
    >>> given, right = np.array([4, 4, 4, 1]), np.array([4, 4, 4, 2])
    >>> judged_by_entries(given == right, right, lambda value: given == value).feedback
    '3 of 4 entries are right.'
    >>> given = np.array([4, 4, 4, 4])
    >>> judged_by_entries(given == right, right, lambda value: given == value).credit
    0.0
    """
    credits, expected = np.ravel(credits).astype(float), np.ravel(expected)
    right = int(np.sum(credits == 1))
    if credits.size < 2 or np.mean(credits > 0) < 0.5 or not right:
        return Judgement(0.0)
    values, places, times = np.unique(expected, return_inverse=True, return_counts=True)
    common = values[np.argmax(times)]
    if len(values) > 1 and times.max() > 1:
        others = places != np.argmax(times)
        masked = common == 0 or common in (-np.inf, np.inf) or common != common
        apart = credits > 0 if masked else ~np.ravel(taken_for(common))
        if np.mean(apart[others]) < 0.5:
            return Judgement(0.0)
    return Judgement(float(np.mean(credits)), feedback=entries_right(right, credits.size))


def entries_right(right: int, size: int) -> str:
    """Say how many entries are right."""
    return f"{right} of {size} entries {'is' if right == 1 else 'are'} right."


_FINE = (
    "at every point that was drawn each line equals the one before it. Grading also looks at what "
    "each step takes."
)
_NO_READER = Judgement(0.0, feedback="put check_formulas.py beside check.py to have it looked at")
_UNKNOWN = "a notebook can't compute this formula: it may be right."


def judge_lines(given: object, _expected: object, rule: object, *, hint: object) -> Judgement:
    """Judge lines as far as numbers tell: the first that differs is wrong, and a point shows it.

    A line without numbers is neither right nor wrong.
    """
    if not (reader := _reader()):
        return _NO_READER
    asked = reader.statement_of(hint, rule, reader.CALLS, reader.CONSTANTS)
    if said := reader.first_problem(given, asked):
        return Judgement(0.0, feedback=said)
    if unknown := reader.not_computed(given, asked):
        return Judgement(0.5, feedback=unknown)
    return Judgement(1.0, feedback=_FINE)


def judge_formula(given: object, expected: object, rule: object, *, hint: object) -> Judgement:
    """Judge a formula as far as numbers tell: a point shows where it is wrong."""
    if not (reader := _reader()):
        return _NO_READER
    asked = reader.statement_of(hint, rule, reader.CALLS, reader.CONSTANTS)
    if said := reader.other_value(given, expected, asked):
        return Judgement(0.0, feedback=said)
    if not asked.known_at(given):
        return Judgement(0.5, feedback=_UNKNOWN)
    return Judgement(1.0)


def _reader() -> Any:
    try:
        return importlib.import_module("check_formulas")
    except (ImportError, SyntaxError):  # it needs Python 3.10
        return None


RELATIVE = 1e-3  # of a number: four significant digits always suffice
SMALL = 10.0  # times the number, where it is below a tenth: the tolerance has no cliff there
FLOOR = 1e-6
_WORTH = 0.1  # of the largest number, as with two digits: a last one worth more says nothing


def judge_numbers(
    given: Any,
    expected: Any,
    rule: Mapping[str, Any],
    *,
    slack: object = 0.0,
    written: tuple[Entry, ...] = (),
) -> Judgement:
    """Judge numbers entry by entry; half for a right number with too few digits.

    ``rule`` holds what `Numbers` is declared with, and ``written`` how each number was.
    """
    if np.shape(given) != np.shape(expected):
        return Judgement(0.0)
    right = close(given, expected, rule, slack)
    credits, note, advice = right.astype(float), "", ""
    if written and (asked := _digits_asked(rule)):
        other = np.reshape([not _has_digits(entry, rule) for entry in written], right.shape)
        credits = np.where(right & other, 0.5, credits)
        if (right & other).any():
            note, advice = "precision", f"Right as far as it goes: write {asked}."
    elif written and not is_loose(rule) and not right.all():
        coarse, cut = too_coarse(written, given, expected)
        credits = np.where(~right & coarse, 0.5, credits)
        if (right | coarse | cut).all():
            note, advice = "too_coarse", "Right as far as it goes: write more digits."
    if np.all(credits):
        return Judgement(float(np.mean(credits)) if credits.size else 1.0, note, advice)
    if rule.get("whole"):
        return Judgement(0.0, note, advice)
    found = judged_by_entries(credits, expected, lambda value: close(given, value, rule))
    return Judgement(found.credit, note, advice or found.feedback)


def judge_exact(given: Any, expected: Any, rule: Mapping[str, Any]) -> Judgement:
    """Judge what is counted: right, or the share of right entries where at least half are right."""
    if np.shape(given) != np.shape(expected):
        return Judgement(0.0)
    right = np.asarray(np.equal(given, expected), bool)
    if right.all() or rule.get("whole"):
        return Judgement(float(right.all()))
    return judged_by_entries(
        right, expected, lambda value: np.asarray(np.equal(given, value), bool)
    )


def judge_shape(given: Any, expected: object, _rule: object) -> Judgement:
    """Judge a shape, or the share of right shapes where several are asked for."""
    if given == expected or not isinstance(expected, dict) or len(expected) < 2:
        return Judgement(float(given == expected))
    shapes = list(expected.values())

    def taken_for(place: int) -> Any:
        return np.array([given[name] == shapes[place - 1] for name in expected])

    right = np.array([given[name] == shape for name, shape in expected.items()])
    return judged_by_entries(right, np.array([shapes.index(s) + 1 for s in shapes]), taken_for)


def judge_choice(given: Any, expected: Any, rule: Mapping[str, Any]) -> Judgement:
    """Judge letters: right or wrong; of several letters, credit for those that apply."""
    apply, others = set(expected), set(rule["options"]) - set(expected)
    if given == expected or not rule.get("multiple") or not apply or not others:
        return Judgement(float(given == expected))
    right, wrong = len(apply & set(given)), len(others & set(given))
    credit = max(0.0, right / len(apply) - wrong / (rule.get("false") or len(others)))
    # How many are right, not which.
    found = f"Of {len(apply)} that apply {right} are marked, and {wrong} that do not apply."
    return Judgement(credit, feedback=found)


def contains(given: str, wrong: str, right: str) -> bool:
    """Tell whether letters have a mistake among others: as it has them where it is wrong.

    >>> contains("ADE", "ABD", right="AB"), contains("AD", "ABE", right="AB")
    (True, False)
    """
    slip = {*wrong} ^ {*right}
    return bool(slip) and not slip & ({*given} ^ {*wrong})


#: By kind: those that can be judged by values alone.
JUDGES: dict[str, Any] = {
    "numbers": judge_numbers,
    "count": judge_exact,
    "fractions": judge_exact,
    "shape": judge_shape,
    "choice": judge_choice,
    "lines": judge_lines,
    "formula": judge_formula,
}


def close(
    given: object,
    expected: object,
    rule: Mapping[str, Any],
    slack: object = 0.0,
    widen: float = 1.0,
) -> Any:
    """Tell of each number whether it is the expected one; see `Numbers`."""
    with np.errstate(all="ignore"):
        given, expected = np.asarray(given, float), np.asarray(expected, float)
        near = np.abs(given - expected) <= widen * tolerance_of(expected, rule) + slack
        near &= np.isfinite(expected)  # everything is near to ∞, relative to it
        if rule.get("between") is not None:
            low, high = rule["between"]
            within = (low <= expected) & (expected <= high)
            near = np.where(within, (low - slack <= given) & (given <= high + slack), near)
        equal = (given == expected) | (np.isnan(given) & np.isnan(expected))  # ±∞, NaN
        return np.asarray(near | equal)


def tolerance_of(expected: object, rule: Mapping[str, Any]) -> Any:
    """Return how far off each number may be."""
    size = np.abs(np.asarray(expected, float))
    if rule.get("tolerance") is not None:
        return np.full(size.shape, rule["tolerance"])
    if rule.get("places") is not None:
        return np.full(size.shape, 0.5 * 10.0 ** -rule["places"] * (1 + 1e-9))
    if rule.get("figures") is not None:
        top = np.floor(np.log10(np.where(size == 0, 1.0, size)))
        return np.asarray(0.5 * 10.0 ** (top - rule["figures"] + 1) * (1 + 1e-9))
    usual = RELATIVE * np.maximum(size, np.minimum(1, SMALL * np.minimum(size, 1)))
    return np.asarray(np.maximum(usual, FLOOR))


def half_units(value: Any, written: tuple[Entry, ...], rule: Mapping[str, Any]) -> Any:
    """Return half a unit of each last written digit, never more than the tolerance."""
    half = np.reshape([entry.half for entry in written], np.shape(value))
    return np.asarray(np.minimum(half, tolerance_of(value, rule)))


def is_loose(rule: Mapping[str, Any]) -> bool:
    """Tell whether the number of digits does not matter."""
    return rule.get("tolerance") is not None or rule.get("between") is not None


def _digits_asked(rule: Mapping[str, Any]) -> str:
    for name, called in (("places", "decimal"), ("figures", "significant figure")):
        if (number := rule.get(name)) is not None:
            return f"{number} {called}{'s' * (number != 1)}"
    return ""


def _has_digits(entry: Entry, rule: Mapping[str, Any]) -> bool:
    if not entry.typed or entry.last is None:
        return True
    if rule.get("places") is not None:
        return bool(-entry.last >= rule["places"])
    figures = rule.get("figures")
    return figures is None or entry.figures[0] <= figures <= entry.figures[1]


def too_coarse(written: Any, given: object, expected: object) -> tuple[Any, Any]:
    """Tell which numbers are the expected as far as they are written, rounded there or cut off.

    The last digit must be worth something beside the numbers: who writes 1 for 0.8 knows nothing.
    Zeros at the end are often left out: beside 1.5 a 2 may have been rounded to tenths, too.
    """
    given, expected = np.asarray(given, float), np.asarray(expected, float)
    rounded, cut = np.zeros(given.shape, bool), np.zeros(given.shape, bool)
    if not given.size:
        return rounded, cut
    shown = np.reshape([entry.half for entry in written], given.shape)
    finest = np.where(shown > 0, np.min(shown[shown > 0], initial=np.inf), 0)
    with np.errstate(all="ignore"):
        difference = np.abs(given - expected)
        inward = np.abs(given) <= np.abs(expected)
        for half in (shown, finest):
            worth = 2 * half <= _WORTH * np.max(np.abs(expected))
            cut |= worth & inward & (difference < 2 * half * (1 - 1e-9))
            rounded |= worth & (difference <= half * (1 + 1e-9))
    return rounded, cut


#: Of scrypt: 16 MiB for each key.
COST, BLOCK = 1 << 14, 8
#: So many keys are tried for one answer, to find the one that it was locked with.
KEYS = 128
_TAG = 8  # bytes by which a key knows its box

_FOLLOWS = "what follows from an earlier answer of yours may count all the same"


def place_of(course: str, exercise: str, part: str, variant: int) -> str:
    """Return what tells the boxes of a part and a variant from all others."""
    return "\0".join((course, exercise, part, str(variant)))


def rounded(value: object, grid: float, shift: float) -> str:
    """Return the cells of a grid that numbers lie in, as text.

    >>> rounded([0.26, -0.1], 0.1, 0.05), rounded([7], 1, -0.5)
    ('2,-2', '7')
    """
    numbers = np.ravel(np.asarray(value, dtype=float))
    return ",".join(str(math.floor((number - shift) / grid)) for number in numbers)


def key_of(place: str, code: str, cells: str, number: int) -> bytes:
    """Return a key, slowly."""
    secret = "\0".join((code, cells, str(number))).encode()
    return hashlib.scrypt(secret, salt=place.encode(), n=COST, r=BLOCK, p=1, dklen=32)


def locked(key: bytes, content: dict[str, Any]) -> str:
    """Put something into a box; a key is for one box alone."""
    text = json.dumps(content).encode()
    tag, stream = _from(key, len(text))
    return base64.b64encode(tag + _mixed(text, stream)).decode()


def unlocked(key: bytes, boxes: list[str]) -> dict[str, Any] | None:
    """Return what is in the box that a key is for, if there is one."""
    for box in map(base64.b64decode, boxes):
        tag, stream = _from(key, len(box) - _TAG)
        if box.startswith(tag):
            found: dict[str, Any] = json.loads(_mixed(box[_TAG:], stream))
            return found
    return None


def seal_of(place: str, code: str) -> str:
    """Return by what a code is known to be the one; it is far too long to be found by trying."""
    return hashlib.sha256(f"{place}\0{code}".encode()).hexdigest()[:16]


def looked(
    exercise: str, found: Any, student: str, notebook: dict[str, Any], part: object, code: str
) -> list[str]:
    """Say of the answer to one part whether it is right.

    Parameters
    ----------
    found
        What check.json says of the exercise.
    notebook
        The variables of the notebook.
    part
        The name of the part, or True where there is but one.
    code
        What the course gave for this look, where it asks for one.
    """
    looks = _looks().get(exercise, {})
    name = next(iter(looks)) if part is True and len(looks) == 1 else part
    title = f"{exercise}, a look"
    if name not in looks:
        there_are = ", ".join(f'answer="{each}"' for each in looks)
        return [title, f"  There is {f'one at {there_are}' if looks else 'none here'}."]
    variant, look = variant_of(exercise, found, student), looks[name]
    if variant is None:
        return [title, '  Whose? Type your id into student("…") at the top and run that cell.']
    boxes, place = look["boxes"][variant], place_of(contents()["course"], exercise, name, variant)
    code = code.replace("-", "").strip().upper()
    if (seal := boxes.get("seal")) and seal != seal_of(place, code):
        asks = "It needs a code: ask for one, and say which part" if not code else "This is no code"
        return [title, f"  {asks}; it is for your id and this part alone."]
    if name not in notebook or is_blank(notebook[name]):
        return [title, f"  – blank    {name}"]
    (asked,) = (each for each in found["parts"] if each["name"] == name)
    hint = asked["hint"]
    hint = {**hint, **hint["varies"][variant]} if "varies" in hint else hint
    try:
        answer = read(notebook[name], hint)
    except FormatError as why:
        return [title, f"  ✗ form     {name}: {why}"]
    except Exception:  # nothing that anybody would take for an answer
        return [title, f"  ✗ form     {name}: it can't be read, being {brief(notebook[name])}"]
    return [
        title,
        _said(name, look, hint["kind"], answer, _inside(look, boxes, place, code, answer)),
    ]


def _inside(look: Look, boxes: LookBoxes, place: str, code: str, answer: Reading) -> dict[str, Any]:
    """Return what an answer opens, or nothing."""
    cells = rounded(answer.value, look["grid"], boxes["shift"])
    keys = (key_of(place, code, cells, number) for number in range(KEYS))
    contents = (unlocked(key, boxes["locked"]) for key in keys)
    return next((content for content in contents if content is not None), {})


def _said(name: str, look: Look, kind: str, answer: Reading, content: dict[str, Any]) -> str:
    """Say how an answer is, by the rule that it is graded by."""
    if says := content.get("says"):
        return f"  ✗ mistake  {name}: {says}"
    if "right" in content:
        right = np.reshape(content["right"], np.shape(answer.value))
        how = {"written": answer.entries} if kind == "numbers" else {}
        judgement = JUDGES[kind](answer.value, right, look["rule"], **how)
        if judgement.credit == 1:
            return f"  ✓ right    {name}"
        if judgement.note:
            return f"  ~ partly   {name}: {judgement.feedback}"
    return f"  ✗ wrong    {name}: not right to enough digits in all its numbers; {_FOLLOWS}"


def _looks() -> dict[str, dict[str, Look]]:
    path = Path(__file__).with_name("looks.json")
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def _from(key: bytes, size: int) -> tuple[bytes, bytes]:
    stream = hashlib.shake_256(key).digest(_TAG + size)
    return stream[:_TAG], stream[_TAG:]


def _mixed(text: bytes, stream: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))


#: Draws a picture for a value; returns the figure, and in words what it shows.
Draw = Callable[[Any], "tuple[Any, str]"]


def show_moving(draw: Draw, name: str, choices: list[Any], first: Any) -> None:
    """Show a picture for the first value; with a slider, where there are widgets."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    still, says = _picture(draw, first)
    if shell is None:
        print(says)
        return
    shown = {"text/html": still}
    if hasattr(shell, "kernel") and (widgets := _widgets()):
        slider = widgets.SelectionSlider(
            options=choices,
            value=first,
            description=name,
            style={"description_width": "initial"},
            layout={"width": "95%", "max_width": "30em"},
        )
        below = widgets.HTML(_naming(still, name, first))

        def move(change: Any) -> None:
            drawn, _ = _picture(draw, change["new"])
            below.value = _naming(drawn, name, change["new"])

        slider.observe(move, "value")
        shown |= widgets.VBox([slider, below])._repr_mimebundle_()
    display: Any = importlib.import_module("IPython.display").display
    display({**shown, "text/plain": says}, raw=True)


def _widgets() -> Any:
    try:
        return importlib.import_module("ipywidgets")
    except ImportError:
        return None


def _naming(drawn: str, name: str, value: object) -> str:
    """Let a picture that is there tell the slider its name and value, which ipywidgets does not."""
    told = f"one.ariaLabel = {json.dumps(name)}; one.ariaValueText = {json.dumps(str(value))}"
    found = "const one = this.closest('.widget-vbox').querySelector('[role=slider]')"
    return drawn.replace("<img ", f'<img onload="{html.escape(f"{found}; {told}")}" ', 1)


def _picture(draw: Draw, value: object) -> tuple[str, str]:
    """Return a picture as HTML, with what it shows below it; and that.

    A screen reader is told of the text whenever it changes; the picture itself says nothing more.
    """
    figure, says = draw(value)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    data = base64.b64encode(content.getvalue()).decode()
    image = f'<img alt="" src="data:image/png;base64,{data}" style="max-width: 100%">'
    return f'{image}<p role="status">{html.escape(says)}</p>', says


class Said(NamedTuple):
    """What is said of one answer: how it is, in a word, and a sentence."""

    name: str
    mark: str
    text: str = ""


def diagnosed(
    parts: list[PracticePart], worked: PracticeSet, answers: dict[str, Any]
) -> list[Said]:
    """Say of each part whether its answer is right, what went wrong, or what is asked.

    Parameters
    ----------
    parts
        As in help.json, each with its own ``hint`` for these numbers.
    worked
        The right answers to these numbers, and what follows ``after`` which wrong ones.
    answers
        What was answered, by part.
    """
    own = _Own(parts, worked)
    return [
        own.said(part, answers[part["name"]])
        if part["name"] in answers
        else Said(part["name"], "blank", part["asks"][0])
        for part in parts
    ]


def recorded(part: PracticePart, value: object) -> Reading:
    """Read a value that is recorded, of whatever shape."""
    return read(value, {key: asked for key, asked in part["hint"].items() if key != "shape"})


class _Own:
    """What somebody has answered, as far as it was looked at."""

    def __init__(self, parts: list[PracticePart], worked: PracticeSet) -> None:
        self._parts = {part["name"]: part for part in parts}
        self._right, self._after = worked["right"], worked.get("after", [])
        self._given: dict[str, Reading] = {}
        self._met: dict[str, list[Any]] = {}  # by part, what is recorded and was answered

    def said(self, part: PracticePart, raw: object) -> Said:
        """Look at the next answer."""
        name = part["name"]
        try:
            answer = read(raw, part["hint"])
        except FormatError as error:
            return self._misshapen(part, raw) or Said(name, "form", str(error))
        except Exception:  # nothing that anybody would take for an answer
            return Said(name, "form", f"it can't be read, being {brief(raw)}")
        self._given[name], met = answer, self._met.setdefault(name, [])
        found, mistakes = [], []
        for case, earlier in self._cases(part):
            slack = self._slack({**self._right[name], **case}.get("reach", {}), earlier)
            for right in case["right"]:
                judgement = _judged(part, answer, recorded(part, right).value, slack)
                met += [right] if judgement.credit == 1 or judgement.note == "too_coarse" else []
                found.append((judgement, earlier if case is not self._right[name] else {}))
            for place, wrong in case.get("wrong", []):
                if _same(part, answer, wrong, slack):
                    met.append(wrong)
                    mistakes.append(part["says"][place])
        best, earlier = max(found, key=lambda each: each[0].credit)
        if best.credit == 1:
            follows = f"right, given your own {' and '.join(earlier)}" if earlier else ""
            return Said(name, "follows" if follows else "right", follows or best.feedback)
        if mistakes:
            return Said(name, "mistake", _either(mistakes))
        if says := self._shown(part, answer):
            return Said(name, "mistake", " ".join(filter(None, [best.feedback, *says])))
        said = self._wrong(part, answer, best)
        if best.credit:
            return Said(name, "partly", said)
        if unknown := [n for n in part["needs"] if n in self._given and not self._met[n]]:
            first = f"It may follow from your {' and '.join(unknown)}: mend that first."
            return Said(name, "open", " ".join(filter(None, [said, first])))
        return Said(name, "wrong", said)

    def _shown(self, part: PracticePart, answer: Reading) -> list[str]:
        """Return what is said of each mistake that is among the letters of an answer."""
        if not part["rule"].get("multiple"):
            return []
        case = self._right[part["name"]]
        says = [
            part["says"][place]
            for place, wrong in case.get("wrong", [])
            if contains(answer.value, recorded(part, wrong).value, case["right"][0])
        ]
        return list(dict.fromkeys(says))

    def _cases(self, part: PracticePart) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield what is right, and from which earlier answers, where these were given."""
        name, needed = part["name"], [n for n in part["needs"] if n in self._given]
        right = {n: self._right[n]["right"][0] for n in needed}
        yield self._right[name], {n: value for n, value in right.items() if self._is(n, value)}
        for after in self._after:
            then = after["then"]
            changed = {n: then[n]["right"][0] for n in needed if n in then}
            changed |= {after["part"]: after["value"]} if after["part"] in needed else {}
            own = {**right, **changed}
            if name in then and changed and all(self._is(n, own[n]) for n in needed):
                yield then[name], own

    def _is(self, name: str, value: object) -> bool:
        return value in self._met.get(name, [])

    def _slack(self, reach: Any, earlier: dict[str, Any]) -> Any:
        """Return how far rounding of the earlier answers may move this one, entry by entry."""
        slack: Any = 0.0
        for name in earlier:
            if name in reach:
                part, own = self._parts[name], self._given[name]
                off = np.abs(own.value - recorded(part, earlier[name]).value)
                off = off + half_units(own.value, own.entries, part["rule"])
                slack = slack + np.asarray(reach[name]) * np.max(off, initial=0.0)
        return slack

    def _misshapen(self, part: PracticePart, raw: object) -> Said | None:
        """Recognise a known mistake that gives another shape than the right answer's."""
        try:
            answer = recorded(part, raw)
        except Exception:  # it was said already why it can't be read
            return None
        wrong = self._right[part["name"]].get("wrong", [])
        says = [part["says"][place] for place, value in wrong if _same(part, answer, value, 0.0)]
        return Said(part["name"], "mistake", _either(says)) if says else None

    def _wrong(self, part: PracticePart, answer: Reading, best: Judgement) -> str:
        """Say how much of an answer is right."""
        case = self._right[part["name"]]
        right = recorded(part, case["right"][0]).value
        many = "" if best.note else _how_many(part, answer, right)
        return many or best.feedback


def _judged(part: PracticePart, answer: Reading, right: object, slack: object) -> Judgement:
    kind, rule = part["hint"]["kind"], part["rule"]
    how = {"slack": slack, "written": answer.entries} if kind == "numbers" else {}
    if kind in ("lines", "formula"):
        how = {"hint": part["hint"]}
    found: Judgement = JUDGES[kind](answer.value, right, rule, **how)
    return found


def _same(part: PracticePart, answer: Reading, value: object, slack: object) -> bool:
    """Tell whether an answer is one that is recorded; with how many digits does not matter."""
    other = recorded(part, value).value
    if part["hint"]["kind"] != "numbers":
        return _judged(part, answer, other, slack).credit == 1
    same_shape = np.shape(answer.value) == np.shape(other)
    return same_shape and bool(np.all(close(answer.value, other, part["rule"], slack)))


def _how_many(part: PracticePart, answer: Reading, right: Any) -> str:
    """Say how many entries are right, where there are several, and where to look first."""
    kind = part["hint"]["kind"]
    if kind not in ("numbers", "count", "fractions"):
        return ""
    given, right = np.asarray(answer.value), np.asarray(right)

    def same(value: Any) -> Any:
        if kind == "numbers":
            return close(value, right, part["rule"])
        return np.asarray(np.equal(value, right), bool)

    if given.shape == right.shape:
        if np.all(same(-given)):
            return "It is right but for its sign."
        if given.size > 1 and np.all(same(np.flip(given))):
            return "The numbers are right, in the reverse order."
        if given.size > 1:
            each = same(given)
            first = ", ".join(map(str, np.argwhere(~each)[0]))
            look = f" Look first at the one at [{first}]." * bool(each.any())
            return entries_right(int(np.sum(each)), right.size) + look
    return ""


def _either(says: list[str]) -> str:
    """Join what is said of mistakes that numbers can't tell apart."""
    different = list(dict.fromkeys(says))
    return f"Either: {' Or: '.join(different)}" if different[1:] else different[0]


#: Relative and absolute tolerance by the size of the floating-point type, in bytes.
TOLERANCE = {2: (2e-2, 2e-3), 4: (1e-4, 1e-6), 8: (1e-9, 1e-12)}


def rounding_of(*arrays: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the relative and absolute tolerance of the least precise of some arrays.

    >>> rounding_of(np.zeros(2), np.zeros(2, np.float32))
    (0.0001, 1e-06)
    """
    sizes = [a.dtype.itemsize for a in arrays if a.dtype.kind == "f"]
    return TOLERANCE.get(min(sizes, default=8), TOLERANCE[8])


#: What is said of numbers that are right to single precision alone, from whatever cause.
SINGLE = (
    "is right to the digits of float32 alone: is a step computed in that type, is a constant "
    "short, or is a small term, such as an ε, missing or in another place?"
)
_SINGLE = 2e-6  # sixteen roundings of float32


@dataclass(frozen=True)
class Comparison:
    """What counts in a comparison.

    Attributes
    ----------
    value, shape, dtype
        Whether values, or else only the shape, and exact types of numbers count.  What should be
        true or false counts as a type always.
    more
        Whether a dictionary may have further entries.
    rtol, atol
        Tolerances; by default those of the less precise of the two types.
    of_largest
        Whether ``rtol`` is relative to the largest entry of an array instead of to each.
    """

    value: bool = True
    shape: bool = True
    dtype: bool = False
    more: bool = False
    rtol: float | None = None
    atol: float | None = None
    of_largest: bool = False


@dataclass(frozen=True)
class Difference:
    """The first difference that was found.

    Attributes
    ----------
    kind
        "length", "entry", "ragged", "numbers", "other", "shape", "dtype", "nan" or "value".
    came, right
        What differs: two arrays, where both are.
    at
        The indices and keys that lead there.
    close
        Which entries agree; of the kind "value" alone.
    """

    kind: str
    came: Any
    right: Any
    at: tuple[Any, ...] = ()
    close: Any = None


_NUMBERS = Comparison()


def difference(came: object, right: object, rules: Any = _NUMBERS) -> Difference | None:
    """Return where a value first differs from the right one; None where they agree.

    Parameters
    ----------
    came, right
        The two values.
    rules : Comparison, or list of such for the entries of a tuple
        What counts.

    Examples
    --------
    >>> difference([1.0, 2.0 + 1e-12], np.array([1.0, 2.0]))
    >>> difference((1, {"a": 2.0}), (1, {"a": 2.5})).at
    (1, 'a')
    """
    if isinstance(right, (tuple, list, dict)) and not holds_numbers(right):
        return _between_trees(came, right, rules)
    numbers = np.asarray(numbers_of(right))
    if numbers.dtype.kind not in "bifuc":
        same = type(came) is type(right) and came == right
        return None if same else Difference("other", came, right)
    return _between_arrays(came, numbers, rules)


def _between_trees(came: object, right: Any, rules: object) -> Difference | None:
    if isinstance(came, np.ndarray) and came.ndim and not isinstance(right, dict):
        came = tuple(came)  # it is unpacked like one
    fits = dict if isinstance(right, dict) else (tuple, list)
    more = isinstance(rules, Comparison) and rules.more
    if not isinstance(came, fits) or (len(came) != len(right) and not more):
        return Difference("length", came, right)
    for key in right if fits is dict else range(len(right)):
        if fits is dict and key not in came:
            return Difference("entry", came, right, (key,))
        own = rules[key] if isinstance(rules, list) else rules
        if found := difference(came[key], right[key], own):
            return replace(found, at=(key, *found.at))
    return None


def _between_arrays(came: object, right: Any, rule: Comparison) -> Difference | None:
    try:
        given = np.asarray(numbers_of(came))
    except ValueError:
        return Difference("ragged", came, right)
    if given.dtype.kind not in "bifuc":
        return Difference("numbers", came, right)
    if isinstance(came, list) and given.size == right.size == 0:
        return None  # lists of nothing have no axes to tell
    if given.shape != right.shape and (rule.value or rule.shape):
        return Difference("shape", given, right)
    truth = right.dtype.kind == "b" and (right.ndim or given.item() not in (0, 1))
    if given.dtype != right.dtype and (rule.dtype or truth):
        return Difference("dtype", given, right)
    if not rule.value:
        return None
    if np.any(np.isnan(given) & ~np.isnan(right)):
        return Difference("nan", given, right)
    close = _close(given, right, rule)
    return None if close.all() else Difference("value", given, right, close=close)


def _close(given: Any, right: Any, rule: Comparison) -> Any:
    if {given.dtype.kind, right.dtype.kind} <= set("biu"):
        return given == right
    rtol, atol = rounding_of(given, right)
    rtol = rtol if rule.rtol is None else rule.rtol
    atol = atol if rule.atol is None else rule.atol
    if rule.of_largest:
        largest = np.max(np.abs(right), initial=0, where=np.isfinite(right))
        rtol, atol = 0.0, max(atol, rtol * largest)
    right = right.astype(np.result_type(right, 1.0), copy=False)  # |−2⁶³| is no integer
    with np.errstate(all="ignore"):  # as np.isclose does, in half of its time
        near = np.abs(given - right) <= atol + rtol * np.abs(right)
        same = (near & np.isfinite(right)) | (given == right)
        return same | (np.isnan(given) & np.isnan(right))


def right_in_float32(given: Any, right: Any) -> bool:
    """Tell whether numbers that should be double precision are right to that of float32 alone."""
    if not given.dtype == right.dtype == np.float64 or not np.isfinite(right).all():
        return False
    off, size = np.abs(given - right).max(initial=0), np.abs(right).max(initial=0)
    return bool(off < _SINGLE * size)


def numbers_of(value: object) -> Any:
    """Return the numbers of a tensor of torch's, or of one as it comes to a grader; else the value.

    numpy has no bfloat16.
    """
    if not hasattr(value, "detach"):
        return getattr(value, "array", value)
    tensor = value.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def holds_numbers(value: object) -> bool:
    """Tell whether it is a list of numbers, also a nested one."""
    try:
        return isinstance(value, list) and np.asarray(value).dtype.kind in "bifuc"
    except (ValueError, TypeError):  # a ragged one, or of tensors
        return False


_COUNTED = 10  # of what came longer lists are only called long
_NO_RETURN = "None (is a `return` missing?)"


def other_kind(came: object, right: object, what: str = "the result") -> str:
    """Say in what way a result is of another kind than the right one; nothing where it isn't.

    Lists, tuples and tensors of numbers are arrays as well, an array of one entry is a number, and
    whatever can be taken apart into as many as a tuple has, each with axes enough, is one.

    >>> other_kind(None, np.zeros(3))
    'the result should be an array of numbers, not None (is a `return` missing?)'
    >>> other_kind((1.0, 2.0, 3.0), (1.0, 2.0))
    'the result should be a tuple of 2, not a tuple of 3'
    >>> other_kind(np.zeros((2, 3)), (np.zeros((2, 3)), 1.0))
    'the result should be a tuple of 2, not an array'
    """
    if right is None:
        return ""
    if isinstance(right, tuple):
        if _length(came) != len(right) or _is_but_one(came, right):
            return _should(what, f"a tuple of {len(right)}", came)
        pairs = enumerate(zip(_taken_apart(came), right))  # noqa: B905
        entries = (other_kind(c, r, f"entry {i} of {what}") for i, (c, r) in pairs)
        return next(filter(None, entries), "")
    if isinstance(right, str):
        return "" if isinstance(came, str) else _should(what, "text", came)
    if isinstance(right, dict):
        return "" if isinstance(came, dict) else _should(what, "a dictionary", came)
    if isinstance(right, list) and not _holds_numbers(right):
        return "" if _length(came) is not None else _should(what, "a list", came)
    given, asked = numbers_in(came), numbers_in(right)
    if given is None or (isinstance(came, (list, tuple)) and not asked.ndim and not given.ndim):
        return _should(what, _asked_for(asked), came)
    if not asked.ndim and given.size != 1:
        return _should(what, _asked_for(asked), came)
    return ""


def as_asked(came: Any, right: object) -> Any:
    """Return a result in the form of the right one, which is of the same kind."""
    if isinstance(right, tuple):
        return tuple(map(as_asked, _taken_apart(came), right))
    if isinstance(right, dict):
        return {key: as_asked(value, right.get(key)) for key, value in came.items()}
    if isinstance(right, list):
        if _length(came) is None:
            return as_numbers(came)
        came = list(_taken_apart(came))
        kinds = {type(entry) for entry in right}
        return [as_asked(entry, right[0]) for entry in came] if len(kinds) == 1 else came
    if right is None or isinstance(right, str) or _is_tensor(right):
        return came
    asked = np.asarray(right)
    if asked.ndim:
        return came if type(came) is np.ndarray else numbers_in(came)
    if isinstance(came, (bool, int, float, complex)) or type(came) is type(right):
        return came
    number = numbers_in(came).reshape(())[()]
    return bool(number) if asked.dtype.kind == number.dtype.kind == "b" else number


def as_numbers(value: Any) -> Any:
    """Return a result with the numbers of tensors in their places."""
    if isinstance(value, dict):
        return {key: as_numbers(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(as_numbers, value))
    if not _is_tensor(value):
        return value
    array = np.asarray(numbers_of(value))
    return array if array.ndim else array[()]


def numbers_in(value: object) -> Any:
    """Return the array that a result is; None if it is none."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif _is_tensor(value):
        array = np.asarray(numbers_of(value))
    else:
        try:
            array = np.asarray(as_numbers(value))
            if array.dtype == object and array.size and isinstance(array.flat[0], (int, Fraction)):
                array = array.astype(float)
        except (ValueError, TypeError, OverflowError):  # a ragged list
            return None
    return array if array.dtype.kind in "biufc" and not hasattr(value, "unordered") else None


def said_kind(value: object) -> str:
    """Say what kind of thing came, in words from a short list: nothing of what is in it."""
    if value is None:
        return _NO_RETURN
    if isinstance(value, str):
        return "text"
    if isinstance(value, dict):
        return "a dictionary"
    if isinstance(value, (set, frozenset)) or hasattr(value, "unordered"):
        return "a set"
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return f"a {kind} of {len(value)}" if len(value) < _COUNTED else f"a long {kind}"
    if isinstance(value, (bool, np.bool_)):
        return "True or False"
    if numbers_in(value) is None:
        return "a number that is too large"
    return "an array" if _length(value) is not None else "a number"


def _should(what: str, asked: str, came: object) -> str:
    return f"{what} should be {asked}, not {said_kind(came)}"


def _asked_for(asked: Any) -> str:
    if asked.ndim:
        return "an array of numbers"
    return "True or False" if asked.dtype.kind == "b" else "a number"


def _length(value: object) -> int | None:
    """Return into how many a result can be taken apart; of a set that is chance."""
    if hasattr(value, "unordered"):
        return None
    if isinstance(value, (tuple, list)):
        return len(value)
    shape = getattr(value, "shape", getattr(getattr(value, "array", None), "shape", ()))
    return shape[0] if shape else None


def _is_but_one(came: object, right: tuple[Any, ...]) -> bool:
    """Tell whether an array has fewer axes than one that holds all results would have."""
    if isinstance(came, (tuple, list)):
        return False
    arrays = [numbers_in(each) for each in right if not isinstance(each, (tuple, list, dict, str))]
    axes = max((array.ndim for array in arrays if array is not None), default=0)
    return bool(numbers_in(came).ndim <= axes)


def _taken_apart(value: object) -> Any:
    return value if isinstance(value, (tuple, list)) else numbers_in(value)


def _is_tensor(value: object) -> bool:
    """Tell whether it is a tensor of torch's, or one as it comes to the grader."""
    return hasattr(value, "detach") or (hasattr(value, "array") and hasattr(value, "dtype"))


def _holds_numbers(values: list[Any]) -> bool:
    return bool(values) and numbers_in(values) is not None


_TOLERANCE = 1e-5  # of the sum of sizes: more than what single precision rounds


def mark_of(value: object) -> Any:
    """Return the mark of a result: of an array its shape, a sum with uneven weights, and its size.

    The sum and the size are a list of their own: rounding moves both by so much of the size.

    >>> mark_of(np.array([1.0, 2.0]))
    [[2], [-0.291991, 3.0], 0]
    >>> mark_of((True, "yes"))
    [[[], [0.540302, 1.0], 0], 'yes']
    """
    numbers = numbers_in(value)
    if numbers is not None and numbers.dtype.kind != "c":
        flat = np.asarray(numbers_of(numbers), float).ravel()
        finite = np.isfinite(flat)
        flat = np.where(finite, flat, 0.0)
        told = float(flat @ np.cos(np.arange(1, flat.size + 1))), float(np.abs(flat).sum())
        return [[*numbers.shape], [float(f"{x:.6g}") for x in told], int((~finite).sum())]
    if isinstance(value, dict):
        return [[str(key), mark_of(value[key])] for key in sorted(value, key=str)]
    if isinstance(value, (tuple, list)):
        return [mark_of(entry) for entry in value]
    return str(value)[:40]


def same_mark(one: object, other: object) -> bool:
    """Tell whether two marks are those of one result, rounding aside."""
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return bool(one == other)
    if len(one) == 2 and all(isinstance(told, float) for told in (*one, *other)):
        near = abs(one[0] - other[0]) + abs(one[1] - other[1]) <= _TOLERANCE * (one[1] + other[1])
        return bool(near)
    return all(map(same_mark, one, other))


def told_difference(
    came: object, expected: object, compare: list[Any], what: str, loose: float = 0.0
) -> list[str]:
    """Return in what way a result isn't the expected one; nothing where it is.

    ``compare`` says whether values (or else the shape) and exact dtypes count, for each entry of a
    tuple, and "more" that a dictionary may have other entries; ``loose`` is the relative tolerance
    of a check that allows for more than rounding.
    """
    found = difference(came, expected, _rules(compare, loose))
    if not found:
        return []
    given, right = found.came, found.right
    at = found.at[:-1] if found.kind == "entry" else found.at
    for key in at:
        what = f"{what.removeprefix('the ')}[{key!r}]"
    if otherwise := _otherwise(found, what):
        return [otherwise]
    shown = "value" in compare or isinstance(compare[0], list)
    pair = block({"came": given, "expected": right} if shown else {"came": given})
    if found.kind == "shape":
        return [f"{what} has shape {given.shape}; shape {right.shape} was expected", *pair]
    if found.kind == "dtype":
        return [f"{what} has dtype {given.dtype}; {right.dtype} was expected", *pair]
    if found.kind == "nan":
        return [f"{what} contains NaN", *pair]
    if not loose and right_in_float32(given, right):
        return [f"{what} {SINGLE}", *pair]
    if not right.ndim:
        return [f"{what} is {given:.6g}; {right:.6g} was expected"]
    at = tuple(int(i) for i in np.argwhere(~found.close)[0])
    a, b = (f"{x[at].item():.6g}" for x in (given, right))
    a, b = (str(given[at]), str(right[at])) if a == b else (a, b)
    many = f"{int((~found.close).sum())} of {found.close.size} entries differ"
    return [f"{many}: {what} is {a} at index {list(at)}; {b} was expected", *pair]


def _otherwise(found: Difference, what: str) -> str:
    """Say of a result that is no array like the expected one what it is."""
    came = kind_of(found.came)
    if found.kind == "length":
        return f"{what} should be a {type(found.right).__name__} of {len(found.right)}, not {came}"
    if found.kind == "entry":
        return f"{what} has no entry {found.at[-1]!r}"
    if found.kind == "other":
        return f"{what} is {brief(found.came)}; {brief(found.right)} was expected"
    if found.kind == "ragged":
        return f"{what} is a ragged list; an array of numbers was expected"
    if found.kind == "numbers":
        return f"{what} is {came}; {counted(found.right.shape)} was expected"
    return ""


def _rules(compare: list[Any], loose: float) -> Any:
    """Return what counts, as a check of a release says it."""
    if compare and isinstance(compare[0], list):
        return [_rules(own, loose) for own in compare]
    kinds = {*compare}
    return Comparison(
        value="value" in kinds,
        shape="shape" in kinds,
        dtype="dtype" in kinds,
        more="more" in kinds,
        rtol=loose or None,
    )


# As in autograder/sandbox/wire/plain.py, which this module can't import: it goes to students.
MOST_NODES = 50_000
BYTES_NODES = 10
MANY = 8
MANY_PER_NODE = 20
ALIKE_NODES = 2
DEEPEST = 12
LONG_TEXT = 1 << 8
INTEGER_BITS = 4096
SMALL_BYTES = 1 << 14

#: What is said where something else came.
READABLE = "expected numbers, arrays, text, lists, tuples or dictionaries of these"


class Untold(Exception):
    """There is something in a result that the grader can't read; the message says what."""


def unreadable_result(value: object) -> str:
    """Say what a function returned that the grader can't read; nothing where it can.

    It completes "the function returned …", and is what the grader says.
    """
    try:
        _Weighing().see(value, 1)
    except Untold as refusal:
        return str(refusal)
    return ""


class _Weighing:
    """Goes through a value as it is sent, counting what there is to read."""

    def __init__(self) -> None:
        self.nodes = 0

    def take(self, nodes: int = 1) -> None:
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            raise Untold("more values in lists and dictionaries than can be read")

    def see(self, value: Any, depth: int) -> None:
        self.take()
        kind = type(value)
        if value is None or issubclass(kind, (bool, float, complex)) or _is_exact(value):
            if issubclass(kind, np.generic):
                self.take(BYTES_NODES)
        elif issubclass(kind, str):
            self.text(value)
        elif issubclass(kind, int):
            _integer(value)
        elif issubclass(kind, (list, tuple, *_LISTS)):
            self.sequence(list(value), depth)
        elif issubclass(kind, dict):
            self.dictionary(value, depth)
        elif kind in (set, frozenset):
            self.see(list(value), depth)
        elif _block(value):
            self.take(BYTES_NODES)
        else:
            raise Untold(_a(kind.__name__))

    def text(self, value: str) -> None:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Untold("text with unpaired surrogates") from None
        if len(value) > LONG_TEXT:
            self.take(BYTES_NODES)

    def sequence(self, items: list[Any], depth: int) -> None:
        if depth >= DEEPEST:
            raise Untold("lists nested too deeply")
        if len(items) >= MANY and len({*map(type, items)}) == 1:
            nodes = _packed(items, depth)
            nodes = _alike(items) if nodes is None else nodes
            if nodes is not None:
                self.take(nodes)
                return
        for item in items:
            self.see(item, depth + 1)

    def dictionary(self, items: dict[Any, Any], depth: int) -> None:
        if depth >= DEEPEST:
            raise Untold("lists nested too deeply")
        for key, value in items.items():
            self.take()
            kind = type(key)
            if issubclass(kind, str):
                self.text(key)
            elif kind is not bool and issubclass(kind, (int, np.integer)):
                _integer(int(key))
            else:
                raise Untold(f"a dictionary with {_a(kind.__name__)} as a key")
            self.see(value, depth + 1)


#: What numpy takes for a list as well.
_LISTS = (range, deque, arrays.array)


def _packed(items: list[Any], depth: int) -> int | None:
    """Return what a list of numbers takes, or a list of lists; None if it is none."""
    size, nodes, deep = len(items), len(items), 1
    while type(items[0]) is list:
        widths = {len(row) for row in items}
        if len(widths) > 1 or not (width := widths.pop()) or depth + deep >= DEEPEST:
            return None
        size, deep = size * width, deep + 1
        nodes += size
        if nodes // MANY_PER_NODE > MOST_NODES:
            return None
        items = list(chain.from_iterable(items))
        if len({*map(type, items)}) > 1:
            return None
    kind = type(items[0])
    if kind not in (bool, int, float):
        return None
    if kind is int and not -(1 << 63) <= min(items) <= max(items) < 1 << 63:
        return None
    return BYTES_NODES + nodes // MANY_PER_NODE


def _alike(items: list[Any]) -> int | None:
    """Return what a list of arrays, scalars or tensors of one type and shape takes."""
    if not _block(items[0]):
        return None
    kinds = {_block(item) for item in items}
    if len(kinds) > 1 or items[0].nbytes > SMALL_BYTES:
        return None
    scalar = isinstance(items[0], np.generic)
    return BYTES_NODES + (len(items) // MANY_PER_NODE if scalar else ALIKE_NODES * len(items))


def _block(value: object) -> Any:
    """Return type and shape of an array, a scalar of numpy's or a tensor; nothing of all else."""
    if isinstance(value, np.ma.MaskedArray):
        raise Untold("a masked array")
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, str):
        if isinstance(value, np.ndarray) and value.ndim > 8:
            raise Untold(f"an array with {value.ndim} axes")
        if value.dtype.kind not in "biufc":
            name = f"numpy {type(value).__name__}"
            is_array = isinstance(value, np.ndarray)
            raise Untold(f"an array of dtype {value.dtype}" if is_array else _a(name))
        return str(value.dtype), value.shape
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    try:
        tensor = value.detach().cpu().resolve_conj().resolve_neg()
        (tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor).numpy()
    except (RuntimeError, TypeError):
        raise Untold("a tensor that is not an ordinary dense one") from None
    return str(tensor.dtype), tuple(tensor.shape)


def _is_exact(value: Any) -> bool:
    """Tell whether it is a number of a library for exact ones."""
    kind = type(value)
    if kind not in (Fraction, Decimal) and not kind.__module__.startswith("sympy."):
        return False
    try:
        float(value)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        raise Untold(_a(kind.__name__)) from None
    if kind is Decimal and not value.is_finite():
        raise Untold(_a(kind.__name__))
    return True


def _integer(value: int) -> None:
    if int(value).bit_length() > INTEGER_BITS:
        raise Untold(f"an integer of more than {INTEGER_BITS} bits")


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun[:100]} object"


class Tried(NamedTuple):
    """A recorded call as it went with your function.

    Attributes
    ----------
    came
        What it returned, in the form of what was expected; None where it raised an exception.
    wrong
        What is wrong with that, and with which arguments; nothing where it is as it should be.
    size
        How many numbers it was given.
    """

    came: Any
    wrong: list[str]
    size: int


def repeated(
    function: object, name: str, calls: list[RecordedCall], notebook: dict[str, Any]
) -> Iterator[Tried]:
    """Repeat recorded calls one after the other, until an object can't be made.

    Raises
    ------
    NotImplementedError
        If something of it is not written yet.
    """
    objects: dict[int, Any] = {}
    for number, call in enumerate(calls, 1):
        asked: Any = None
        came: Any = None
        wrong: list[str] = []
        args, kwargs = _arguments(call, objects)
        try:
            asked = _asked(function, call, objects)
            came = _quietly(asked, args, kwargs)
            if call.get("do") == "make":
                objects[call["object"]] = came
            elif refused := _unreadable(came, objects):
                wrong = [f"it returned {refused}; {READABLE}"]
            elif "value" in call:
                expected = decode(call["value"])
                wrong = [kind] if (kind := other_kind(came, expected)) else []
                came = came if wrong else as_asked(came, expected)
                wrong = wrong or told_difference(
                    came, expected, call["compare"], "the result", call.get("rtol", 0.0)
                )
            if not wrong and call.get("unchanged"):
                before = _named(asked, *_arguments(call, objects))
                for given, value in _named(asked, args, kwargs).items():
                    if told_difference(value, before[given], ["value"], given):
                        wrong = [f"it changes its argument {given}"]
        except NotImplementedError:
            raise
        except (Exception, SystemExit) as error:
            came, wrong = None, _told(error, notebook)
        if wrong:
            named = _named(asked, *_arguments(call, objects))
            said = ".".join([name, *([call["name"]] if "name" in call else [])])
            said = said.removesuffix(".__call__")
            which = f"    (call {number} of {len(calls)})" if len(calls) > 1 else ""
            shown = {
                argument: np.asarray(numbers_of(value)) if hasattr(value, "detach") else value
                for argument, value in named.items()
            }
            wrong = [f"{said}({', '.join(named)}){which}", *wrong, *block(shown)]
        yield Tried(came, wrong, _size([*args, *kwargs.values()]))
        if wrong and call.get("do") == "make":
            return


def _size(value: object) -> int:
    """Return how many numbers there are in arguments."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value))
    return int(np.size(numbers_of(value)))


def _unreadable(came: object, objects: dict[int, Any]) -> str:
    """Say what the grader can't read of a result; an object's own method may return the object."""
    return "" if any(came is held for held in objects.values()) else unreadable_result(came)


def _asked(function: object, call: RecordedCall, objects: dict[int, Any]) -> Any:
    """Return what a recorded request calls."""
    do = call.get("do", "call")
    if do in ("call", "make"):
        return function
    if do == "seed":
        return _seed
    held, attribute = objects[call["object"]], call["name"]
    if do == "method":
        return held if attribute == "__call__" else getattr(held, attribute)
    if do == "get":
        return lambda: getattr(held, attribute)
    return lambda value: setattr(held, attribute, value)


def _seed(number: int) -> None:
    """Seed the generators that all code has in common."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def _quietly(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call it, and drop what it prints and warns about."""
    with contextlib.ExitStack() as quiet:
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
        quiet.enter_context(contextlib.redirect_stderr(io.StringIO()))
        quiet.enter_context(np.errstate(all="ignore"))
        quiet.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def _arguments(call: RecordedCall, objects: dict[int, Any]) -> tuple[list[Any], dict[str, Any]]:
    kwargs = {name: _argument(value, objects) for name, value in call["kwargs"].items()}
    return [_argument(value, objects) for value in call["args"]], kwargs


def _argument(value: object, objects: dict[int, Any]) -> Any:
    """Return an argument: data, an object that was made before, or a function from its source."""
    if isinstance(value, dict) and "object" in value:
        return objects[value["object"]]
    if not isinstance(value, dict) or "given" not in value:
        return decode(value)
    names: dict[str, Any] = {}
    exec(compile(value["given"], "<given>", "exec"), names)
    return names["given"] if value["args"] is None else names["given"](*decode(value["args"]))


def _named(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return what a call passes, by name as far as the function has names."""
    function = getattr(function, "forward", function)  # torch calls this
    try:
        found = inspect.signature(function).parameters.values()
        names = [parameter.name for parameter in found if parameter.kind < 2]
    except (ValueError, TypeError):
        names = []
    names += [f"argument {i}" for i in range(len(names) + 1, len(args) + 1)]
    return {**dict(zip(names, args)), **kwargs}  # noqa: B905


def _told(error: BaseException, notebook: dict[str, Any]) -> list[str]:
    """Return what an exception says, and the line of the notebook where it arose."""
    lines = [f"{type(error).__name__}: {error}"]
    if type(error) is NameError and (name := re.search(r"name '(\w+)'", str(error))):
        lines = [f"`{name[1]}` is not defined yet: run its cell first"]
    for frame, number in own_steps(error, notebook)[-1:]:
        source = linecache.getline(frame.f_code.co_filename, number).strip()
        lines.append(f"in line {number} of the cell: {source}")
    return lines


def own_steps(error: BaseException, notebook: dict[str, Any]) -> list[Any]:
    """Return the steps of a traceback that are in the notebook, each with its line."""
    return [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals is notebook and frame.f_code.co_name != "<module>"
    ]


_FEW = 64  # entries of an array
_ROUNDED = 1e-12  # of a number


def report_function(found: RecordedFunction, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every visible check, and what to know where it fails."""
    name, checks = found["name"], found["checks"]
    if missing := unwritten(name, notebook, called=bool(checks)):
        return [missing]
    lines: list[str] = []
    for recorded in checks:
        try:
            trouble, came = [], []
            for each in repeated(notebook[name], name, recorded["calls"], notebook):
                came.append(each.came)
                if trouble := each.wrong:
                    break
        except NotImplementedError as error:
            return [*lines, blank(error, name, notebook)]
        if not trouble and recorded.get("varied") and effortless(came):
            trouble = [f"{name} returns the same number everywhere, whatever it is given"]
        mark = "✗ failed   " if trouble else "✓ passed   "
        lines += [f"  {mark}  {recorded['rubric']}", *(f"      {line}" for line in trouble)]
    return lines


def unwritten(name: str, notebook: dict[str, Any], *, called: bool) -> str:
    """Say that a function is not there, or a stub; what is called says that itself."""
    function = notebook.get(name)
    if function is None:
        return f"  ✗ undefined  `{name}` is not defined yet: run its cell first"
    if not callable(function):
        return f"  ✗ form       `{name}` should be a function, not {kind_of(function)}"
    return _blank(name) if not called and _is_stub(function) else ""


def blank(error: NotImplementedError, name: str, notebook: dict[str, Any]) -> str:
    """Say which function is not written yet: this one, or one that it calls."""
    stub = [_called(frame.f_code) for frame, _ in own_steps(error, notebook)] or [name]
    return _blank(stub[-1])


def _blank(name: str) -> str:
    return f"  – blank      `{name}` is not written yet"


def _called(code: Any) -> str:
    """Return the name of a function, or of a method with its class; Python 3.10 knows no class."""
    name: str = getattr(code, "co_qualname", code.co_name)
    return name.rpartition("<locals>.")[2].removesuffix(".__init__")


def _is_stub(function: object) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_names == ("NotImplementedError",)


def effortless(values: list[Any]) -> bool:
    """Tell whether each result, or all of them together, are one number alone."""
    if all(map(_even, values)):
        return True
    alone = [
        np.ravel(np.asarray(numbers_of(value)))
        for value in values
        if not isinstance(value, (tuple, list))
    ]
    if len(alone) < len(values):
        return False
    heads = [each[:_FEW] for each in alone]  # what varies does so soon
    return _even(np.concatenate(heads)) and _even(np.concatenate(alone))


def _even(value: object) -> bool:
    """Tell whether an array holds one number alone, rounding aside."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(_even, value))
    entries = np.asarray(numbers_of(value))
    if entries.dtype.kind not in "biuf" or entries.size < 2:
        return False
    entries = entries.ravel()
    few = map(entries.item, range(min(entries.size, _FEW)))  # what varies does so soon
    first = float(next(few))
    if not all(each == first or abs(each - first) <= _ROUNDED * abs(first) for each in few):
        return False
    return _one_number(entries)


def _one_number(entries: Any) -> bool:
    entries = entries.astype(float)
    first = entries[0]
    if not np.isfinite(first):
        return bool((entries == first).all())
    return bool((abs(entries - first) <= _ROUNDED * abs(first)).all())


def tried_out(found: PracticeFunction, notebook: dict[str, Any]) -> list[str]:
    """Return a line for every check of a function, a counterexample, and the mistake's sentence."""
    name = found["name"]
    if missing := unwritten(name, notebook, called=True):
        return [missing]
    lines: list[str] = []
    for check in found["checks"]:
        try:
            lines += _of_check(check, found, notebook)
        except NotImplementedError as error:
            return [*lines, blank(error, name, notebook)]
    return lines


def _of_check(check: PracticeCheck, found: PracticeFunction, notebook: dict[str, Any]) -> list[str]:
    name, sets = found["name"], check["sets"]
    tried = [
        (inputs, [*repeated(notebook[name], name, inputs["calls"], notebook)]) for inputs in sets
    ]
    if failing := [(inputs, calls) for inputs, calls in tried if any(c.wrong for c in calls)]:
        smallest = min((c for _, calls in failing for c in calls if c.wrong), key=_by_size)
        many = f"with {len(failing)} of {len(sets)} draws" if sets[1:] else ""
        lines = [f"  ✗ failed     {check['rubric']}", *(f"      {line}" for line in smallest.wrong)]
        lines[0] += f"  ({many}; a smallest input that shows it:)" if many else ""
        says = list(dict.fromkeys(found["says"][place] for place in _mistakes(failing)))
        return lines + [f"  ✗ mistake    {' Or: '.join(says)}"] * bool(says)
    results = [call.came for _, calls in tried for call in calls]
    if check.get("varied") and effortless(results):
        said = f"{name} returns the same number everywhere, whatever it is given"
        return [f"  ✗ failed     {check['rubric']}", f"      {said}"]
    return [f"  ✓ passed     {check['rubric']}"]


def _by_size(call: Tried) -> int:
    return call.size


def _mistakes(failing: list[tuple[PracticeInputs, list[Tried]]]) -> list[int]:
    """Return the places of the known mistakes that answer every failing set of calls alike.

    A set whose results are too near the right ones for marks to tell says nothing of mistakes.
    """
    found: list[set[int]] = []
    for inputs, calls in failing:
        marks = [mark_of(call.came) for call in calls]
        if not _answers_alike(marks, _right(inputs)):
            found.append(
                {place for place, wrong in inputs["wrong"] if _answers_alike(marks, wrong)}
            )
    return sorted(set.intersection(*found)) if found else []


def _right(inputs: PracticeInputs) -> list[Any]:
    values = (call.get("value") for call in inputs["calls"])
    return [None if value is None else mark_of(decode(value)) for value in values]


def _answers_alike(marks: list[Any], wrong: list[Any]) -> bool:
    """Tell whether results are a mistake's, as far as it comes; None stands for anything."""
    return len(wrong) <= len(marks) and all(
        own is None or same_mark(mark, own)
        for mark, own in zip(marks, wrong)  # noqa: B905
    )


GREEK = re.findall(
    r"\w+",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "phi chi psi omega",
)


class NumbersByName(dict):  # type: ignore[type-arg]
    """Numbers by name, shown as formulas; or none, and a message that says why.

    Sentences by letter, which are to be put in order, are shown as a list; so are ``lists`` of
    statements to choose from, by what asks for them.
    """

    def __init__(
        self,
        numbers: dict[str, Any],
        message: str = "",
        lists: dict[str, dict[str, str]] | None = None,
    ) -> None:
        super().__init__(numbers)
        self._message, self._choices = message, lists or {}

    def __missing__(self, name: object) -> Any:
        raise KeyError(self._message or f"no {name!r} among your numbers: {', '.join(self)}")

    def __repr__(self) -> str:
        lines = block({name: self[name] for name in self if name not in self._lists}, 1000)
        lines += [
            f"{letter}  {text}" for name in self._lists for letter, text in self[name].items()
        ]
        for name, texts in self._choices.items():
            lines.append(f"{name}, to choose from:")
            lines += [f"  {letter}  {text}" for letter, text in texts.items()]
        return self._message or "\n".join(lines)

    @property
    def _lists(self) -> list[str]:
        return [name for name, value in self.items() if isinstance(value, dict)]

    def _repr_markdown_(self) -> str | None:
        if not self._lists and not self._choices:
            return None
        numbers = NumbersByName({name: self[name] for name in self if name not in self._lists})
        items = [
            f"- **{letter}** {text}" for name in self._lists for letter, text in self[name].items()
        ]
        for name, texts in self._choices.items():
            called = ", ".join(f"`{each}`" for each in name.split(", "))
            items += ["", f"{called}, to choose from:", ""]
            items += [f"- **{letter}** {text}" for letter, text in texts.items()]
        return "\n".join([*([numbers._repr_latex_() or "", ""] if numbers else []), *items])

    def _repr_latex_(self) -> str | None:
        if self._message or self._lists or self._choices:
            return None
        lines: list[str] = []
        room = 0
        for name, value in self.items():
            for equation in _equations(_symbol(name), value):
                columns = 2 + equation.split(r"\\")[0].count("&") + equation.count(r",\ ")
                room -= columns
                if room < 0:
                    lines.append(equation)
                    room = 16 - columns
                else:
                    lines[-1] += r",\qquad " + equation
        return r"$$\begin{gathered} " + r" \\[1ex] ".join(lines) + r" \end{gathered}$$"


def _symbol(name: str) -> str:
    letter, _, index = name.partition("_")
    if len(letter) > 1 and letter.lower() not in GREEK:
        return r"\mathtt{" + name.replace("_", r"\_") + "}"
    symbol = "\\" + letter if len(letter) > 1 else letter
    if len(index) > 1:
        index = r"\mathrm{" + index.replace("_", r"\_") + "}"
    return f"{symbol}_{{{index}}}" if index else symbol


def _equations(symbol: str, value: Any) -> list[str]:
    """Return ``symbol = value``, once for each matrix where there are more than two axes."""
    if np.ndim(value) > 2:
        return [e for i, v in enumerate(value) for e in _equations(f"{symbol}[{i}]", v)]
    return [f"{symbol} = {_latex(value)}"]


def _latex(value: Any) -> str:
    if np.ndim(value) == 2:
        rows = [" & ".join(map(_latex, row)) for row in value]
        return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"
    if np.ndim(value) == 1:
        return "(" + r",\ ".join(map(_latex, value)) + ")"
    text = str(value)  # every digit: you compute with these
    if isinstance(value, float) and abs(value) >= 1e6 and float(short := f"{value:g}") == value:
        text = short  # nobody counts fifteen zeros
    if not re.fullmatch(r"-?(\d.*|inf|nan)", text):
        return r"\text{" + re.sub(r"([_#$%&{}])", r"\\\1", text) + "}"
    text = re.sub(r"e([+-]?)0*(\d+)$", r" \\cdot 10^{\1\2}", text).replace("{+", "{")
    return "{" * (text[0] == "-") + text.replace("inf", r"\infty") + "}" * (text[0] == "-")


#: Characters of a formula with numbers put in; what is longer shows less than its names do.
MOST_PUT_IN = 120

_rounds: dict[str, Round] = {}  # the last ones, by exercise


class NoPractice(Exception):
    """There is nothing to practise; the message says why."""


class Round:
    """One set of numbers of an exercise, and what was answered to it so far."""

    def __init__(self, exercise: str, practice: Practice, number: int = 0) -> None:
        sets = practice["sets"]
        self.exercise, self.number = exercise, number % len(sets)
        self.worked = sets[self.number]
        self.parts = [_for_set(part, self.number) for part in practice["parts"]]
        self.answers: dict[str, Any] = {}
        #: The parts that were answered rightly.
        self.right: list[str] = []
        #: Were all answers right, or shown?
        self.shown = False
        self.others = len(sets) > 1
        number_of = f" {self.number + 1} of {len(sets)}" if self.others else ""
        self.title = f"{exercise}, practice{number_of}"

    def asks(self) -> list[str]:
        """Say what is asked for, and how to answer."""
        lines = [self.title]
        left = [part for part in self.parts if part["name"] not in self.right]
        for part in left or self.parts:
            first, *more = part["asks"]
            lines += [f"  {part['name']}: {first}", *(f"    {line}" for line in more)]
        known = [part["name"] for part in self.parts]
        names, first = "".join(f", {name}=..." for name in known), known[0]
        if self.right and left:
            return [*lines, f"Right so far: {', '.join(self.right)}."]
        return [
            *lines,
            "Answer some or all of them:",
            f'practice("{self.exercise}"{names})',
            f'or one after the other: practice("{self.exercise}").{first} = ...',
            *_left_out(self.exercise, known),
        ]

    def says(self, answers: dict[str, Any]) -> list[str]:
        """Take answers, and say of all that were given so far what is right."""
        known = [part["name"] for part in self.parts]
        if strange := [name for name in answers if name not in known]:
            near = difflib.get_close_matches(strange[0], known) or known
            return [f"There is no `{strange[0]}` to practise. Did you mean {' or '.join(near)}?"]
        self.answers.update(answers)
        given = {n: raw for n, raw in self.answers.items() if raw is not ... and not is_blank(raw)}
        found = diagnosed(self.parts, self.worked, given)
        lines = [self.title, *(line for said in found for line in _lines(said))]
        self.right = [said.name for said in found if said.mark == "right"]
        self.shown = len(self.right) == len(found)
        if self.shown:
            more = f' practice("{self.exercise}") gives other numbers.' if self.others else ""
            return [*lines, f"All right.{more}"]
        lines += self._helps(found)
        return [*lines, "Mend what you like and run it again; solution() shows how it comes out."]

    def _helps(self, found: list[Said]) -> list[str]:
        """Say where to look, if something is wrong that nobody knows a name for."""
        hints = "hints" in help_with(self.exercise)
        nameless = any(said.mark in ("wrong", "partly") for said in found)
        return [f'hint("{self.exercise}") says where to begin.'] if hints and nameless else []

    def solution(self) -> list[str]:
        """Show the way to the right answers: each formula, with numbers put in, and its value."""
        self.shown = True
        numbers = {name: decode(value) for name, value in self.worked["numbers"].items()}
        lines = [f"{self.title}, how it comes out:", *_indented(block(numbers, 1000), 2)]
        shown = {part["name"]: self._right(part) for part in self.parts}
        for part in self.parts:
            lines.append(f"  {part['name']}: {part['asks'][0]}")
            lines += _indented(way := self._way(part, numbers), 6)
            for name in part["needs"] if len(way) < 2 else ():  # what is put in is seen
                first, *more = shown[name]
                lines += _indented([f"from {name}: {first}", *_indented(more, 5)], 6)
            lines += _indented(shown[part["name"]], 6)
        return lines

    def _way(self, part: PracticePart, numbers: dict[str, Any]) -> list[str]:
        """Return the formula of a part, and what it is with the numbers, where that is short."""
        if not (way := part.get("way")):
            return []
        known = {name: self.worked["right"][name]["right"][0] for name in part["needs"]}
        put_in = {name: _in_formula(value) for name, value in {**numbers, **known}.items()}
        formula, filled = way.format_map({n: n for n in put_in}), way.format_map(put_in)
        return [f"= {formula}", *([f"= {filled}"] if len(filled) <= MOST_PUT_IN else [])]

    def _right(self, part: PracticePart) -> list[str]:
        value = self.worked["right"][part["name"]]["right"][0]
        return recorded(part, value).shown.split("\n")


def _left_out(exercise: str, known: list[str]) -> list[str]:
    """Say which graded answers can't be practised."""
    found, _ = find(exercise)
    graded = [p["name"] for p in found["parts"] if p["hint"]["kind"] != "manual"] if found else []
    left = [name for name in graded if name not in known]
    if not left:
        return []
    why = "as nearly everybody has the same answer, or many are right"
    return [f"Left out, {why}: {', '.join(left)}."]


def _in_formula(value: object, *, alone: bool = True) -> str:
    """Write a number, or a list of them, as it stands in a formula: with four digits."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_in_formula(each, alone=False) for each in value)}]"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"({text})" if alone and text.startswith("-") else text


def next_round(exercise: str, notebook: dict[str, Any]) -> NumbersByName | None:
    """Try the functions on other inputs; ask for the next answers, and return the numbers."""
    practice = _practice(exercise)
    if functions := practice.get("functions", []):
        show(_functions_tried(exercise, functions, notebook))
    if not practice["sets"]:
        return None
    last = _rounds.pop(exercise, None)
    if last is None or last.shown:
        last = Round(exercise, practice, 0 if last is None else last.number + 1)
    _rounds[exercise] = last  # as the last one
    print("\n".join(last.asks()))
    return ToAnswer(last)


class ToAnswer(NumbersByName):
    """Numbers to practise with; an answer is said to be right or wrong as soon as it is set."""

    def __init__(self, now: Round) -> None:
        numbers = {name: decode(value) for name, value in now.worked["numbers"].items()}
        super().__init__(numbers, "" if numbers else "(Everything is in the text.)")
        self._round = now

    def __setattr__(self, name: str, value: object) -> None:
        """Take an answer."""
        if name.startswith("_"):
            vars(self)[name] = value
        else:
            show(self._round.says({name: value}))


def this_round(exercise: str) -> Round:
    """Return what was asked last, of an exercise or of any."""
    if not exercise and not _rounds:
        raise NoPractice('Practise first, practice("…"); then solution() shows the right answers.')
    exercise = exercise or list(_rounds)[-1]
    if exercise not in _rounds:
        practice = _practice(exercise)
        if not practice["sets"]:
            raise NoPractice(f'Of {exercise} functions are practised: practice("{exercise}").')
        _rounds[exercise] = Round(exercise, practice)
    _rounds[exercise] = _rounds.pop(exercise)  # as the last one
    return _rounds[exercise]


def _functions_tried(
    exercise: str, functions: list[PracticeFunction], notebook: dict[str, Any]
) -> list[str]:
    lines = [f"{exercise}, practice on other inputs"]
    for found in functions:
        lines += [f"  `{found['name']}`"] if functions[1:] else []
        lines += tried_out(found, notebook)
    return [*lines, "Grading also looks at what isn't tried here: other sizes, other properties."]


def offers(exercise: str) -> list[str]:
    """Say what helps on with an exercise, if anything does."""
    found = help_with(exercise).get("practice")
    others = "other inputs" if found and not found["sets"] else "other numbers"
    practice = f'practice("{exercise}") for {others}' if found else ""
    hints = f'hint("{exercise}") for a hint' * ("hints" in help_with(exercise))
    offered = ", ".join(filter(None, [practice, hints]))
    return [f"  There is {offered}."] if offered else []


def hint_lines(exercise: str, number: int) -> list[str]:
    """Return a hint, and how to get the next one."""
    hints = help_with(exercise).get("hints", [])
    if not hints:
        return [f"There are no hints for {exercise}."]
    if not isinstance(number, int) or not 1 <= number <= len(hints):
        return [f'There are hints 1 to {len(hints)}: hint("{exercise}", 1) is the first.']
    more = f'The next one: hint("{exercise}", {number + 1})'
    return [f"Hint {number} of {len(hints)}: {hints[number - 1]}"] + [more] * (number < len(hints))


def _practice(exercise: str) -> Practice:
    helping = help_with(exercise)
    if "practice" not in helping:
        why = helping.get("unpractised", "nothing for it was released")
        raise NoPractice(f"{exercise} can't be practised: {why}.")
    return helping["practice"]


def _for_set(part: PracticePart, number: int) -> PracticePart:
    """Return a part as it is asked for with the numbers of one set."""
    hint = part["hint"]
    return {**part, "hint": {**hint, **hint["varies"][number]} if "varies" in hint else hint}


def _indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line for line in lines]


_MARKS = {
    "right": "✓ right  ",
    "follows": "✓ follows",
    "partly": "~ partly ",
    "mistake": "✗ mistake",
    "wrong": "✗ wrong  ",
    "open": "? open   ",
    "form": "✗ form   ",
    "blank": "– blank  ",
}


def _lines(said: Said) -> list[str]:
    first, *more = said.text.split("\n")
    line = f"  {_MARKS[said.mark]}  {said.name}" + (f": {first}" if first else "")
    return [line, *(f"        {further}" for further in more)]


_student = ""


def student(id: str = "") -> None:
    """Say whose notebook this is; on JupyterHub it knows without being told."""
    global _student
    _student = str(id).strip() or os.environ.get("JUPYTERHUB_USER", "").strip()
    if _student:
        print(f"Hello {_student}: these are your own numbers.")
    else:
        print('Type your id between the quotes, as in student("ada"), and run this cell again.')


def your_numbers(exercise: str) -> NumbersByName:
    """Return your numbers of an exercise by name; the last line of a cell shows them.

    They can be used: ``your_numbers("an_exercise")["x"]`` is an array.
    """
    found, message = find(exercise)
    if found is None:
        return NumbersByName({}, message)
    if not found["pool"][0]:
        return NumbersByName(
            {}, f"{exercise}: everybody has the same numbers; they are in the text."
        )
    mine = variant_of(exercise, found, _student)
    if mine is None:
        return NumbersByName(
            {}, 'Whose? Type your id into student("…") at the top and run that cell.'
        )
    numbers = {name: decode(value) for name, value in found["pool"][mine].items()}
    return NumbersByName(numbers, lists=statements(found["parts"], numbers.pop(ORDERS, {})))


def check(exercise: str, *, answer: str | bool = False, code: str = "") -> None:
    """Say how answers are read, and what the visible checks find in your function.

    Whether an answer is right, and what the hidden checks find, you learn from your grade; where
    your course offers a look, ``answer="a_part"`` tells it of the answer to this part.
    """
    notebook = sys._getframe(1).f_globals  # the variables and functions of your notebook
    found, message = find(exercise)
    if found is None:
        print(message)
        _tell_nbgrader([f"  ✗ {message}"])
        return
    if answer:
        show(looked(exercise, found, _student, notebook, answer, code))
        return
    lines = [f"{exercise}: {found['title']}", *(f"  ✗ {said}" for said in file_problems())]
    if found["parts"]:
        lines += report_answers(exercise, variant_of(exercise, found, _student), notebook)
    for function in found["functions"]:
        lines += report_function(function, notebook)
        if "without" in function:
            barred = " and ".join(function["without"])
            lines.append(
                f"  Write `{function['name']}` without {barred}; with it, it earns nothing."
            )
    if hidden := sum(function["hidden_checks"] for function in found["functions"]):
        checks = f"{hidden} hidden check{'s' * (hidden > 1)}"
        lines.append(f"  Grading also runs {checks}: passing here is not yet the mark.")
    lines += offers(exercise)
    show(lines)
    _tell_nbgrader(lines)


class NotYet(Exception):
    """Something is blank, can't be read or fails."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _tell_nbgrader(lines: list[str]) -> None:
    """Let nbgrader's Validate fail, which learns by exceptions alone; you go on without."""
    validating = os.environ.get("NBGRADER_EXECUTION") == "validate"
    missing = [line for line in lines if line.startswith(("  ✗", "  – blank"))]
    if validating and missing:
        raise NotYet("\n".join(dict.fromkeys([lines[0], *missing])))


def carry(exercise: str, notebook: str = "", *, given: bool = False) -> None:
    """Put your own code of an earlier exercise in place of this cell, with all that it needs.

    It is copied from the notebook that lies in the folder beside this one, or from ``notebook``,
    as it was saved last; so save that one first. ``given`` takes the version that your course
    gives, where it does.
    """
    try:
        code, said = carried_code(exercise, notebook, given=given)
    except NotCarried as problem:
        print(f"✗ not carried: {problem}.")
        return
    exec(compile(code, f"<{exercise}>", "exec"), sys._getframe(1).f_globals)
    print(f"✓ carried: {said}.")
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        print(f"Put this in place of the cell:\n\n{code}")
    else:
        shell.set_next_input(code, replace=True)
        print("The code stands in this cell now. Save this notebook: graded is what stands here.")


def practice(exercise: str, /, **answers: object) -> NumbersByName | None:
    """Give other numbers to practise with; with answers to these, say at once what is right.

    ``practice("an_exercise")`` shows numbers that nobody is graded with and what is asked for, and
    ``practice("an_exercise", sums=[1, 2, 3])`` looks at an answer.  Functions are tried on inputs
    that nobody is graded with.  Nothing of it is graded.
    """
    found, message = find(exercise)
    if found is None:
        print(message)
        return None
    try:
        if not answers:
            return next_round(exercise, sys._getframe(1).f_globals)
        show(this_round(exercise).says(answers))
    except NoPractice as why:
        print(why)
    return None


def solution(exercise: str = "") -> None:
    """Show how the answers to the numbers that you practise with come out."""
    try:
        show(this_round(exercise).solution())
    except NoPractice as why:
        print(why)


def hint(exercise: str, number: int = 1) -> None:
    """Show a hint: the first one, or the one of this number."""
    found, message = find(exercise)
    print(message if found is None else "\n".join(hint_lines(exercise, number)))


def moving(draw: Draw, name: str, choices: list[Any], first: object) -> None:
    """Show a picture that a slider moves, where the notebook has ipywidgets; else it stands still.

    ``draw`` is called with one of the choices, ``first`` at the beginning.  It returns a figure,
    made with ``plt.Figure``, and a sentence on what this shows, which stands below it.
    """
    show_moving(draw, name, choices, first)

