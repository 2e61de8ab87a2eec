"""Units that a number may stand before."""

from __future__ import annotations

_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SMALL = {"m": 1e-3, "μ": 1e-6, "u": 1e-6, "n": 1e-9}
#: What a unit is a multiple of, and by how much.
UNITS = {"%": ("1", 0.01), "1": ("1", 1.0)}
for _base, _prefixes in (
    ("B", {**_DECIMAL, **_BINARY}),
    ("bit", _DECIMAL),
    ("FLOP", _DECIMAL),
    ("FLOP/s", _DECIMAL),
    ("B/s", {**_DECIMAL, **_BINARY}),
    ("s", _SMALL),
):
    UNITS[_base] = (_base, 1.0)
    UNITS.update({prefix + _base: (_base, float(f)) for prefix, f in _prefixes.items()})


def unit_factor(given: str, wanted: str) -> float | None:
    """Return what a number in one unit is multiplied by to be one in another, if it can.

    >>> unit_factor("KiB", "B"), unit_factor("s", "B")
    (1024.0, None)
    """
    if given not in UNITS or UNITS[given][0] != UNITS[wanted][0]:
        return None
    return UNITS[given][1] / UNITS[wanted][1]
