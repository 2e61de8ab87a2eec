"""Write answers and functions down as a student would: the text of a solution cell."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from autograder.exercise import CheckedFunction, Part
from autograder.exercise.formula_types import is_formula
from autograder.exercise.words.part import computation
from autograder.exercise.words.source import standalone


def function_source(checked: CheckedFunction, function: Any) -> str:
    """Return code that defines ``function`` under the name that students must use."""
    return standalone(computation(function), checked.name)


def assignments_source(values: Mapping[str, Any], *, rounded: bool = False) -> str:
    """Return lines ``name = value``; ``rounded`` writes numbers as text of five digits."""
    return "".join(f"{name} = {literal(v, rounded=rounded)}\n" for name, v in values.items())


def literal(value: object, *, rounded: bool = False) -> str:
    """Write a value as a Python literal: numbers, lists of them, text, formulas as text."""
    return repr(plain(value, rounded=rounded))


def plain(value: object, *, rounded: bool = False) -> Any:
    """Return a value as a student types it: plain numbers, lists and text."""
    if is_formula(value):  # a formula, or a matrix of them
        rows = getattr(value, "tolist", None)
        return [[str(e) for e in row] for row in rows()] if rows else str(value)
    if hasattr(value, "texts"):  # a derivation
        return value.texts
    if isinstance(value, np.ndarray | np.generic):
        numbers = value.dtype.kind in "iuf" and not rounded and np.isfinite(value).all()
        value = value.tolist()
        if numbers:  # as they are, without a look at each
            return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, set | frozenset):  # letters, in an order that stays the same
        value = sorted(value)
    if isinstance(value, dict):
        return {key: plain(entry, rounded=rounded) for key, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(entry, rounded=rounded) for entry in value)
    if isinstance(value, list):
        return [plain(entry, rounded=rounded) for entry in value]
    if isinstance(value, float) and (rounded or not isfinite(value)):  # no name stands for ∞ or NaN
        return f"{value:.5g}"
    return value


def typed(part: Part, value: object, known: Mapping[str, Any]) -> Any:
    """Return an answer to a part as a student types it who has a variant."""
    if order := part.order(known):
        value = part.answer.seen(value, order) or "none"
    return part.answer.typed(plain(value))
