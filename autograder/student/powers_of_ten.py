"""Is the e behind a number a power of ten, as in 1.5e-3, or Euler's, as in 3e - 2?

The reader of numbers and the grammar of formulas ask here, so that a text means the same to both.
"""

from __future__ import annotations

import re

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
