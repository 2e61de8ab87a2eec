"""What an author has to say of the names in formulas before products of them can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from autograder.algebra.building.undeclared import to_declare


def ask_to_declare(
    names: Iterable[str], assumptions: Mapping[str, str], *formulas: object
) -> Iterator[str]:
    """Ask the author what the names are that may be numbers or matrices."""
    if found := to_declare(tuple(names), assumptions, *formulas):
        declared = ", ".join(f'"{name}": "matrix"' for name in found)
        which = " and ".join(found)
        what = "are numbers" if len(found) > 1 else "is a number"
        yield (
            f"nobody has said whether {which} {what}, whose products have no order: say so, "
            f'assumptions={{{declared}}}, or "vector", or "real" for a number'
        )
