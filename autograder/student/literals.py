"""A number as it is written: its digits, how precise it is, and signs that look alike."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction
from typing import Any, NamedTuple

from autograder.student.powers_of_ten import EULER, TwoReadings, with_euler
from autograder.student.unreadable import FormatError

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
