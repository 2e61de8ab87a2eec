"""What a check asks for: the number and kind of results, as the reference gives them.

What comes back is held against that before the check sees it. So no check has to think of what
else may come, and a forgotten `return` is the student's and never the check's.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autograder.exercise import Check, CheckedFunction, Mismatch, agree
from autograder.exercise.cache import remembered
from autograder.exercise.standing_in import standing_in
from autograder.grading.answering import Exchange, Expectation, annotated, asking
from autograder.grading.callee import Callee
from autograder.grading.interview import Interview
from autograder.grading.repeat import answers, renumbered
from autograder.grading.replay import seed_of
from autograder.sandbox import Tensor
from autograder.sandbox.wire.requests import Differentiate

#: What a check says where what came is of the right kind, and yet it can't go on with it.
_UNUSABLE = (
    "the result can't be used: it is not what the text asks for (its shape, its entries or "
    "what they hold)"
)


def when_needed(
    function: CheckedFunction, check: Check, secret: str, callee: Callee
) -> Callable[[], Expectation]:
    """Return what looks up the expectations of a check, once: of a blank answer nothing is asked.

    A function of ours shares the generators of all code with the reference: there it is at once.
    """

    @cache
    def asked() -> Expectation:
        with standing_in({}):  # or what is looked up would not be remembered
            return expectations(function, check, secret)

    if not callee.isolated:
        asked()
    return asked


@remembered()
def expectations(function: CheckedFunction, check: Check, secret: str) -> Expectation:
    """Return for each request of a check what kind of answer the reference gives.

    Only up to the first that is metered, timed or a training: these are not made for this alone.
    """
    call = Looking(function.solution)
    with warnings.catch_warnings(), standing_in({}):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # `_Enough`; what the reference can't do isn't asked
            check.run(call, seed_of(function, check, secret))
    call.release()
    answers = tuple((asking(each.request), _kind_of_answer(each)) for each in call.calls)
    return Expectation(answers, annotated(function.solution))


def blamed(
    function: CheckedFunction, check: Check, call: Interview, secret: str
) -> Mismatch | None:
    """Return what was wrong with the answers that a check could not go on with.

    None if it can't go on with those of the reference either: then it is the check's own fault.
    """
    # A training of our own takes long, and `verify` has seen that it passes.
    if not call.ran and not _passed_by_reference(function, check, secret):
        return None
    plain = [each for each in renumbered(call.calls) if not each.raised]
    with standing_in({}):
        try:
            for each, right in zip(plain, answers(function.solution, plain), strict=True):
                if right is not None:
                    agree(each.value, right)
        except Mismatch as mismatch:
            return mismatch
        except Exception:  # what came can't be compared at all
            pass
    return Mismatch(_UNUSABLE)


@remembered()
def _passed_by_reference(function: CheckedFunction, check: Check, secret: str) -> bool:
    call = Interview(function.solution)
    try:
        with warnings.catch_warnings(), standing_in({}):
            warnings.simplefilter("ignore")
            check.run(call, seed_of(function, check, secret))
    except Exception:  # the check's verdict, whatever it is
        return False
    finally:
        call.release()
    return True


def _kind_of_answer(each: Exchange) -> Any:
    """Return the kind of an answer; derivatives are counted by our own code, name by name."""
    return None if isinstance(each.request, Differentiate) else _kind(each.value)


def _kind(value: object) -> Any:
    """Return something small of the same kind as a result."""
    if isinstance(value, Tensor):
        return Tensor(value.dtype, _kind(value.array))
    if isinstance(value, np.ndarray) and value.ndim:
        return np.empty((0,) * value.ndim, value.dtype)
    if isinstance(value, tuple):
        return tuple(map(_kind, value))
    if isinstance(value, list):
        return [_kind(value[0])] if len({*map(type, value)}) == 1 else value[:8]
    if isinstance(value, dict):
        return {key: _kind(entry) for key, entry in value.items()}
    return "" if isinstance(value, str) else value


class _Enough(Exception):
    """What comes now is expensive."""


class Looking(Interview):
    """A call of the reference that ends before anything that takes long."""

    def _stop(self, *_: object, **__: object) -> Any:
        raise _Enough

    once = work = outline = measured = _work = seconds = reference_seconds = grown = _stop
    on_gpu = _stop
