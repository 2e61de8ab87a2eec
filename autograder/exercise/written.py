"""How a number was written: decimals, significant figures, units."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_NUMBER = re.compile(r"[+-]?(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?", re.IGNORECASE)
_UNIT = re.compile(r"(.*?[\d.)])\s*([A-Za-zµμ%][A-Za-zµμ/]*)\s*", re.DOTALL)

_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SMALL = {"m": 1e-3, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "n": 1e-9}
#: What a unit is a multiple of, and by how much.
UNITS: dict[str, tuple[str, float]] = {"%": ("1", 0.01), "1": ("1", 1.0)}
for _base, _prefixes in (
    ("B", _DECIMAL | _BINARY),
    ("bit", _DECIMAL),
    ("FLOP", _DECIMAL),
    ("FLOP/s", _DECIMAL),
    ("B/s", _DECIMAL | _BINARY),
    ("s", _SMALL),
):
    UNITS[_base] = (_base, 1.0)
    UNITS |= {prefix + _base: (_base, float(f)) for prefix, f in _prefixes.items()}


class Written(np.ndarray):
    """Numbers that remember the text they were written as."""

    texts: tuple[str, ...] | None = None

    def __array_finalize__(self, obj: object) -> None:
        self.texts = None  # what is computed from them was not written


def decimals(text: str) -> int:
    """Return how many decimals a number is written with.

    >>> decimals("0.250")
    3
    """
    match = _NUMBER.fullmatch(text.strip().replace("−", "-"))
    return len(match[2] or "") - int(match[3] or 0) if match else 0


def figures(text: str) -> tuple[int, int]:
    """Return the least and the largest number of significant figures that a text can mean.

    >>> figures("0.0250"), figures("1500"), figures("1.5e3")
    ((3, 3), (2, 4), (2, 2))
    """
    match = _NUMBER.fullmatch(text.strip().replace("−", "-"))
    if not match:
        return 0, 0
    digits = (match[1] + (match[2] or "")).lstrip("0")
    if match[2] is not None:
        return len(digits) or 1, len(digits) or 1
    return len(digits.rstrip("0")) or 1, len(digits) or 1


def is_coarse(given: Array, expected: Array) -> bool:
    """Tell whether numbers are right as far as their last decimal goes, and stop too early.

    The last decimal may be rounded or cut off; it must be worth something beside the numbers.

    >>> is_coarse(np.array([88, 709]), np.array([88.7228, 709.7827]))
    True
    >>> is_coarse(np.array([0, 1]), np.array([0.1192, 0.8808]))
    False
    """
    last = 10.0 ** -max((decimals(f"{number:.15g}") for number in np.ravel(given)), default=0)
    if not np.size(expected) or last > 0.05 * np.max(np.abs(expected)):
        return False
    return bool(np.all(np.abs(np.subtract(given, expected, dtype=float)) < last))


def unit_factor(given: str, wanted: str) -> float | None:
    """Return what a number in one unit is multiplied by to be one in another, if it can.

    >>> unit_factor("KiB", "B"), unit_factor("s", "B")
    (1024.0, None)
    """
    if given not in UNITS or UNITS[given][0] != UNITS[wanted][0]:
        return None
    return UNITS[given][1] / UNITS[wanted][1]


def split_unit(text: str) -> tuple[str, str]:
    """Split a unit from the number before it.

    >>> split_unit("1.5 GiB"), split_unit("1e3")
    (('1.5', 'GiB'), ('1e3', ''))
    """
    match = _UNIT.fullmatch(text.strip())
    return (match[1].strip(), match[2]) if match else (text.strip(), "")
