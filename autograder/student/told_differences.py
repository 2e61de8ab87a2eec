"""How a result differs from the expected one, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.student.differences import (
    SINGLE,
    Comparison,
    Difference,
    difference,
    right_in_float32,
)
from autograder.student.display import block, brief, counted, kind_of


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
