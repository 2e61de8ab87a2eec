"""Slips that happen with any numbers: a sign, a factor 2, a transposed matrix.

Each is a function of the right answer and of the one that was given; it yields the wrong answers
that the slip leads to.  Its docstring is what the student reads: it says what is the case, and so
it is true whatever the reason.  An author's misconceptions come first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import Any

import numpy as np

from autograder.exercise.answers.kind import Answer, Undecided
from autograder.exercise.formula_types import is_formula

#: A wrong answer must be this many tolerances away from the right one.
DISTANCE = 5.0

Slip = Callable[[Any, Any], Iterator[Any]]

#: Below this, whole numbers meet by chance too often to conclude anything from them.
SMALL = 5
#: What happens more often to somebody who didn't make a mistake is no sign of it.
CHANCE = 0.02
_LOGARITHM = 1e-3  # so near is what somebody has computed with another logarithm
_HEAD = 500  # numbers that are looked at before the rest
_MET, _MET_SMALL = 0.1, 0.25  # so often one whole number, or a small one, shows a slip by chance


def opposite_sign(right: Any, given: object) -> Iterator[Any]:
    """The size is right, the sign is not."""
    if not _is_shape(right):
        yield -right


def percent(right: Any, given: object) -> Iterator[Any]:
    """The digits are right; the size is off by a factor of 100, as between percent and parts."""
    if _is_numbers(right) and _telling(right):
        yield 100 * right
        yield right / 100


def factor_two(right: Any, given: object) -> Iterator[Any]:
    """It is off by a factor of 2: something is counted twice, or only half of it."""
    if _telling(right):
        yield 2 * right
        yield right / 2


def reciprocal(right: Any, given: object) -> Iterator[Any]:
    """This is 1 divided by the right answer: what stands above the line, and what below?"""
    nothing = _is_numbers(right) and not np.all(right)
    if _telling(right) and not nothing and not hasattr(right, "det"):
        yield 1 / right


def other_logarithm(right: Any, given: Any) -> Iterator[Any]:
    """It is off by a constant factor, as between the logarithms to the bases e, 2 and 10."""
    if _is_numbers(right) and right.dtype.kind == "f" and _telling(right):
        for factor in (np.log(2), np.log(10), np.log2(10)):
            for wrong in (right * factor, right / factor):
                if np.allclose(given, wrong, rtol=_LOGARITHM, atol=0):  # log 2 is nearly 0.3
                    yield wrong


def exchanged_truth(right: Any, given: object) -> Iterator[Any]:
    """True and False are exchanged."""
    if _is_numbers(right) and right.dtype.kind == "b":
        yield ~right


def off_by_one(right: Any, given: object) -> Iterator[Any]:
    """It is off by exactly 1: where does the counting begin, and where does it end?"""
    if _is_numbers(right) and right.size == 1 and right.dtype.kind != "f" and _telling(right):
        yield right + 1
        yield right - 1


def transposed(right: Any, given: object) -> Iterator[Any]:
    """This is the right matrix transposed: rows and columns are exchanged."""
    if len(getattr(right, "shape", ())) == 2:
        yield right.T


def reversed_order(right: Any, given: object) -> Iterator[Any]:
    """The right entries stand in reversed order."""
    if _is_shape(right):
        yield right[::-1]
    elif _is_numbers(right) and right.ndim:
        yield right[::-1]
        yield right[..., ::-1]


def shifted_by_one(right: Any, given: object) -> Iterator[Any]:
    """The right entries are shifted by one place: does the index begin with 0 or with 1?"""
    if _is_numbers(right) and right.ndim and right.shape[0] > 2:
        yield np.roll(right, 1, axis=0)
        yield np.roll(right, -1, axis=0)


def permuted(right: Any, given: Any) -> Iterator[Any]:
    """The right entries stand in another order."""
    if _is_shape(right):
        yield from permutations(right)
    elif _is_numbers(right) and np.unique(right).size > 2 and np.shape(given) == right.shape:
        order, own = np.argsort(right, axis=None), np.argsort(given, axis=None)
        other = np.empty(right.size, right.dtype)
        other[own] = right.flat[order]
        yield other.reshape(right.shape)


def another_shape(right: Any, given: Any) -> Iterator[Any]:
    """The right numbers are there, in an array of another shape than the one asked for."""
    if _is_numbers(right) and np.shape(given) != right.shape and np.size(given) == right.size:
        yield right.reshape(np.shape(given))


def one_entry_wrong(right: Any, given: Any) -> Iterator[Any]:
    """All entries are right but one."""
    if _is_numbers(right) and right.size > 2 and np.shape(given) == right.shape:
        other = right.copy()
        worst = np.argmax(np.abs(np.asarray(given, float) - np.asarray(right, float)))
        other.flat[worst] = given.flat[worst]
        yield other


#: How far off something is: few numbers may be so by chance.
OF_SIZE: tuple[Slip, ...] = (
    opposite_sign,
    percent,
    factor_two,
    reciprocal,
    other_logarithm,
    off_by_one,
    exchanged_truth,
)
#: What is looked for, in this order.
SLIPS: tuple[Slip, ...] = (
    *OF_SIZE,
    transposed,
    reversed_order,
    shifted_by_one,
    permuted,
    another_shape,
    one_entry_wrong,
)


def other_order(right: object, given: object) -> Iterator[Any]:
    """The right results come in another order than the one asked for."""
    if isinstance(right, tuple) and 1 < len(right) <= 5:
        yield from permutations(right)


#: What is looked for in the results of functions.
FUNCTION_SLIPS = (other_order, *SLIPS[:-1])

#: What a slip raises where it can't be made.
_IMPOSSIBLE = (Undecided, ArithmeticError, ValueError, TypeError)


def recognise(answer: Answer, given: object, right: object) -> Slip | None:
    """Return the slip that leads from the right answer to the one that was given, if any."""
    if answer.free or not answer.says_much(right):
        return None
    for slip in SLIPS:
        with np.errstate(all="ignore"), contextlib.suppress(*_IMPOSSIBLE):
            for wrong in slip(right, given):
                if answer.same(given, wrong) and not answer.same(wrong, right, widen=DISTANCE):
                    return slip
    return None


def by_chance(rights: Iterable[Any], given: Iterable[Any]) -> bool:
    """Tell whether a factor or difference may be chance: the numbers are few, and plain ones.

    >>> by_chance([np.array(12)], [np.array(24)]), by_chance([np.array(0.31)], [np.array(0.62)])
    (True, False)
    >>> by_chance([np.array(12), np.array(7)], [np.array(24), np.array(14)])
    False
    """
    instead, own = (np.concatenate([np.empty(0), *map(_numbers, all_)]) for all_ in (rights, given))
    numbers = instead[instead != own] if instead.shape == own.shape else instead
    return _are_few(numbers[:_HEAD]) and _are_few(numbers)


def _are_few(numbers: Any) -> bool:
    """Tell whether these are so few different numbers, and so plain, that they may be chance."""
    numbers = np.unique(numbers)
    numbers = numbers[np.isfinite(numbers)]
    plain = np.mod(np.where(np.abs(numbers) < SMALL, 4, 1) * numbers, 1) == 0
    chances = np.where(np.abs(numbers) < SMALL, _MET_SMALL, _MET)
    return bool(np.prod(np.where(plain, chances, 0)) >= CHANCE)


def _numbers(value: Any) -> Any:
    """Return all numbers in a result, as floats; NaN for what is no number."""
    if isinstance(value, tuple | list):
        return np.concatenate([np.empty(0), *map(_numbers, value)])
    try:
        numbers = np.ravel(getattr(value, "array", value))
        is_complex = numbers.dtype.kind == "c"
        return np.full(numbers.size, np.nan) if is_complex else numbers.astype(float)
    except (TypeError, ValueError, OverflowError):
        return np.array([np.nan])


def is_telling(value: Any) -> bool:
    """Tell whether nobody gives this answer by chance."""
    return _telling(value) or (_is_shape(value) and len(value) > 1)


def is_nothing(answer: object, right: object) -> bool:
    """Tell whether an answer is 0 everywhere, where the right one is not."""
    return bool(np.all(_entries(answer) == 0) and np.any(_entries(right) != 0))


def is_trivial(answer: Any, right: Any) -> bool:
    """Tell whether an answer takes no work where the right one does: the same number everywhere.

    Of single numbers these are 0, 1 and −1; of formulas those without a symbol and, where the right
    one has several, a symbol alone, as it is given, or a multiple of it.
    """
    if is_formula(right):
        alone = len(right.free_symbols) > 1 and _is_one_symbol(answer)
        return bool(right.free_symbols) and (alone or not answer.free_symbols)
    own, due = _entries(answer), _entries(right)
    if own.size == 1:
        return bool(np.all(np.abs(own) <= 1) and _is_whole(own) and np.any(own != due))
    return bool(own.size and np.all(own == own[0]) and np.any(due != due[0]))


def _is_one_symbol(formula: Any) -> bool:
    return not hasattr(formula, "shape") and formula.as_coeff_Mul()[1].is_Symbol


def _entries(value: Any) -> Any:
    """Return the numbers or formulas in an answer; nothing of what is neither."""
    if _is_numbers(value):
        return value.ravel()
    if isinstance(value, dict):
        return np.concatenate([np.empty(0), *map(_entries, value.values())])
    if is_formula(value):
        return np.array(value.flat() if hasattr(value, "flat") else [value], dtype=object)
    return np.empty(0)


def _telling(right: Any) -> bool:
    if is_formula(right):
        return bool(right.free_symbols)
    if not _is_numbers(right):
        return False
    if right.size > 2 and np.ptp(right) > 0:
        return True
    return bool(np.any(np.abs(right) >= SMALL)) or not _is_whole(right)


def _is_numbers(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _is_shape(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(n, int) for n in value)


def _is_whole(value: Any) -> bool:
    return bool(np.all(np.equal(np.mod(value, 1), 0)))
