"""Units that a number may stand before."""

from __future__ import annotations

from fractions import Fraction

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
