"""Whether what follows from a student's earlier functions is an answer, and no noise.

Earlier functions may be anything: what they give may be so small that every small number agrees
with it, or the same whatever comes.  Then nothing was computed on top of them.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from autograder.exercise import CheckedFunction
from autograder.exercise.standing_in import standing_in
from autograder.grading.answering import Exchange
from autograder.grading.callee import Callee
from autograder.grading.interview import Interview
from autograder.grading.repeat import answers, renumbered
from autograder.sandbox.wire.requests import Call, CallMethod, Make
from autograder.student.differences import numbers_of

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]
Asked = tuple[tuple[Any, ...], dict[str, Any], Any]  #: arguments, and what was returned

_SMALL = 1e-3  # of the spread of the true result
_SAME = 1e-9  # of an answer's own size
_FEW = 4  # numbers, between which many a line can be drawn


def insubstantial(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether the answers of a call on top of earlier functions took no computing."""
    return _lost(function, call) or _ignores(function, call) or _hands_on(function, call)


def vanishes(follows: object, right: object, answer: object) -> bool:
    """Tell whether what follows is so small beside the true result that any small number agrees.

    Not so if the answer has its digits.

    >>> vanishes([1e-200, 0], [0.5, 0.2], [0, 0]), vanishes([1e-3, 0], [0.5, 0.2], [1e-3, 0])
    (True, False)
    >>> vanishes([1.605e-7, 0], [0.5, 0.2], [1.605e-7, 0]), vanishes(0, 0, 0)
    (False, False)
    """
    triples = zip(_arrays(follows), _arrays(right), _arrays(answer), strict=False)
    return any(
        _size(f) < 1e-5 and _size(f) < _SMALL * _size(r) and not _has_digits(a, f)
        for f, r, a in triples
    )


def _has_digits(answer: Array, follows: Array) -> bool:
    """Tell whether an answer is another one to three digits, however small that is."""
    if answer.shape != follows.shape or not follows.any():
        return False
    return np.allclose(answer, follows, rtol=_SMALL, atol=_SAME * _size(follows))


def heedless(own: Function, reference: Function, asked: Sequence[Asked]) -> bool:
    """Tell whether a function returns the same for other inputs, where the reference does not.

    >>> three = (np.arange(3.0),), {}, 1
    >>> heedless(lambda x: 1, np.argmax, [three]), heedless(np.argmin, np.argmax, [three])
    (True, False)
    """
    told = False
    for (args, kwargs, value), turn in itertools.product(asked, (_reversed, _sorted)):
        others, named = turn(args), turn(kwargs)
        try:
            if _alike(reference(*args, **kwargs), reference(*others, **named)):
                continue
            if not _alike(value, own(*others, **named)):
                return False
        except Exception:  # then these can't be compared
            continue
        told = True
    return told


def heedless_objects(own: Callee, reference: Callee, asked: Sequence[Exchange]) -> bool:
    """Tell the same of objects: of one that was made, with what it was asked then."""
    try:
        right = [_asked_again(reference, asked, turn) for turn in (copy.deepcopy, _reversed)]
        if all(map(_alike, *right)):
            return False
        now = _asked_again(own, asked, _reversed)
    except Exception:  # then nothing can be compared
        return False
    values = [each.value for each in asked if isinstance(each.request, CallMethod)]
    return all(map(_alike, values, now))


def _asked_again(callee: Callee, asked: Sequence[Exchange], turn: Function) -> list[Any]:
    """Make an object anew, call its methods as they were, and return what these return."""
    made: Any = None
    values = []
    for request in (each.request for each in asked):
        if isinstance(request, Make | CallMethod):
            args, kwargs = turn(tuple(request.args)), turn(dict(request.kwargs))
        if isinstance(request, Make):
            made = Interview(callee).make(*args, **kwargs)
        elif isinstance(request, CallMethod):
            call = made if request.name == "__call__" else getattr(made, request.name)
            values.append(call(*args, **kwargs))
    return values


def _lost(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether most of an answer is small beside the true result, and not what follows.

    That is compared without an absolute tolerance: to noise of size 1e-200 any other is near.
    """
    try:
        theirs = renumbered(call.calls)  # their objects stay what they are
        with standing_in({}):
            right = answers(function.solution, theirs)
        follows = answers(function.solution, theirs)
    except Exception:  # nothing is known then but that the check was passed
        return False
    found = zip((each.value for each in call.calls), follows, right, strict=True)
    return any(
        _noise(*three) for values in found for three in zip(*map(_arrays, values), strict=False)
    )


def _noise(given: Array, follows: Array, right: Array) -> bool:
    if not given.shape == follows.shape == right.shape or not given.size:
        return False
    if np.isfinite(right).all() and np.isfinite(given).mean() < 0.5:
        return True
    if not all(np.isfinite(each).all() for each in (given, follows, right)):
        return False
    level = np.median(follows) if follows.size > 1 else 0.0
    middle = np.median(right) if right.size > 1 else 0.0
    large = np.abs(right - middle) > _SMALL * np.abs(right - middle).max()
    small = np.abs(follows - level) <= _SMALL * np.abs(right - middle).max()
    off = np.abs(given - follows) > _SMALL * np.abs(follows - level)
    return bool((large & small & off).sum() > large.sum() / 2)


def _ignores(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether the answers are the same for other inputs, where the right ones are others."""
    if call.metered or call.raised:
        return False
    asked = [i for i, each in enumerate(call.calls) if isinstance(each.request, Call | CallMethod)]
    theirs = renumbered(call.calls)
    try:
        with standing_in({}):
            right = answers(function.solution, [*theirs, *(_turned(theirs[i]) for i in asked)])
        after = right[len(theirs) :]
        if all(_alike(right[i], other) for i, other in zip(asked, after, strict=True)):
            return False
        now = [call.callee.ask(_turned(call.calls[i]).request).value for i in asked]
    except Exception:  # then nothing can be compared
        return False
    return all(_alike(call.calls[i].value, other) for i, other in zip(asked, now, strict=True))


def _hands_on(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether answers are what came in, scaled and shifted, where the right ones are not."""
    if call.metered or call.raised:
        return False
    asked = [
        i
        for i, each in enumerate(call.calls)
        if isinstance(each.request, Call | CallMethod) and each.value is not None
    ]
    if not asked or not all(_is_scaled(call.calls[i], call.calls[i].value) for i in asked):
        return False
    try:
        with standing_in({}):
            right = answers(function.solution, renumbered(call.calls))
    except Exception:  # then nothing can be compared
        return False
    return not all(_is_scaled(call.calls[i], right[i]) for i in asked)


def _is_scaled(each: Exchange, value: object) -> bool:
    """Tell whether what a call returned first is one of its arguments, scaled and shifted."""
    request: Any = each.request
    first = next(_arrays(value), np.zeros(0))
    return any(
        _scaled(given, first) for given in _arrays([*request.args, *request.kwargs.values()])
    )


def _scaled(given: Array, found: Array) -> bool:
    """Tell whether an array is another one, scaled and shifted.

    >>> x = np.array([0.0, 1.0, 3.0, 4.0])
    >>> _scaled(x, 2 * x - 1), _scaled(x, x**2)
    (True, False)
    """
    if given.shape != found.shape or given.size < _FEW or not np.isfinite([given, found]).all():
        return False
    across = given - given.mean()
    if not across.any():
        return False
    slope = (across * found).sum() / (across * across).sum()
    rest = found - found.mean() - slope * across
    return bool(np.abs(rest).max() <= _SAME * _size(found))


def _turned(each: Exchange) -> Exchange:
    """Return the same request with the entries of all arrays of numbers in the opposite order."""
    request: Any = each.request
    named = {name: _reversed(value) for name, value in request.kwargs.items()}
    return Exchange(replace(request, args=tuple(map(_reversed, request.args)), kwargs=named))


def _reversed(value: Any) -> Any:
    """Return arguments with the entries of all arrays of numbers in the opposite order."""
    return _reordered(value, np.flip, lambda t: t.flip(*[tuple(range(t.ndim))]))


def _sorted(value: Any) -> Any:
    """Return them in the order of their size: rows that were alike are no longer."""
    return _reordered(value, _by_size, lambda t: t.flatten().sort().values.reshape(t.shape))


def _by_size(array: Array) -> Array:
    return np.sort(array, axis=None).reshape(array.shape)


def _reordered(value: Any, numbers: Function, tensor: Function) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return numbers(value).copy()
    if isinstance(value, dict):
        return {name: _reordered(each, numbers, tensor) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_reordered(each, numbers, tensor) for each in value)
    return tensor(value) if hasattr(value, "flip") else value


def _alike(one: Any, other: Any) -> bool:
    """Tell whether the numbers of two answers are the same, however small they are."""

    def same(a: Any, b: Any) -> bool:
        if np.shape(a) != np.shape(b) or a is None or b is None:
            return False
        return np.allclose(a, b, rtol=_SAME, atol=_SAME * _size(a), equal_nan=True)

    return all(same(a, b) for a, b in zip_longest(_arrays(one), _arrays(other)))


def _arrays(value: object) -> Iterator[Array]:
    """Yield the arrays of numbers in an answer."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple) and not all(isinstance(e, int | float) for e in value):
        for each in value:
            yield from _arrays(each)
        return
    array = np.asarray(numbers_of(value))
    if array.dtype.kind in "biuf":
        yield array.astype(float)


def _size(array: Array) -> float:
    finite = array[np.isfinite(array)]
    return float(np.abs(finite).max(initial=0.0))
