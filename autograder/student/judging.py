"""When an answer is right: the same rule for the grader and for `practice` in the notebook.

A judge is a pure function of an answer as it was read, of the right one, and of what the author
asks for beside: the kind's rule, plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.student.judgement import Judgement, judged_by_entries
from autograder.student.literals import Entry
from autograder.student.practice_lines import judge_formula, judge_lines

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
