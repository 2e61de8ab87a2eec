"""Properties that many functions share, for checks to ask for.

``f`` is what has the property: ``call`` itself, an object that `make` returned, or a function of
some of its arguments such as ``lambda x: call(x, x, x)[0]``.  Each word raises `Mismatch` with a
sentence, where ``what`` says how to call the result.

What does nothing has many a property: so each of them also asks for a result that is finite, that
depends on what goes in, and that isn't just that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autograder.exercise.checks.agree import Mismatch, agree, alike, require
from autograder.exercise.checks.work import WorkCall

__all__ = [
    "causal",
    "differences",
    "drawn",
    "each_by_itself",
    "is_gradient",
    "keeps_dtype",
    "leaves_alone",
    "permutation_equivariant",
    "permutation_invariant",
    "refuses",
    "rows_sum_to_one",
    "shift_invariant",
    "took_work",
    "worked",
]

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

_FACTOR = 1.7  # so far a result's size may be from what it should be like


class _Watched(Protocol):
    """A call that says what it did to its arguments."""

    modified: bool

    def __call__(self, *args: object, **kwargs: object) -> Any: ...


class _Ran(Protocol):
    """A call that says how long the expensive one took."""

    @property
    def spent(self) -> float | None: ...


def rows_sum_to_one(weights: object, *, axis: int = -1, what: str = "the weights") -> None:
    """Require that no entry is negative, and that each row adds up to 1."""
    array = np.asarray(getattr(weights, "array", weights))
    require(array.dtype.kind == "f", f"{what} should be an array of numbers")
    require(np.isfinite(array).all(), f"there is NaN or ∞ in {what}")
    require(np.all(array >= 0), f"{what} should not be negative")
    loose = 1e-2 if array.dtype.itemsize < 4 else 1e-5
    require(np.allclose(array.sum(axis), 1, atol=loose), f"each row of {what} should add up to 1")


def worked(value: object, *inputs: object, like: object = None, what: str = "the result") -> Array:
    """Require a finite result that isn't one number everywhere, nor what went in; return it.

    Where something is to be ``like`` it, the result has roughly the size of that: what many slips
    leave as it is, and no factor does.
    """
    array = _array(value)
    _finite(array, what)
    even = array.size > 1 and bool((array == array.flat[0]).all())
    require(not even, f"{what} is one number everywhere, whatever goes in")
    same = any(np.array_equal(array, _array(given)) for given in inputs)
    require(not same, f"{what} is what goes in, as it is")
    if like is not None:
        size, due = np.linalg.norm(array), np.linalg.norm(_array(like))
        right = due / _FACTOR <= size <= due * _FACTOR
        require(right, f"{what} is far larger or smaller than it should be")
    return array


def permutation_equivariant(
    f: Function, x: Array, rng: np.random.Generator, *, axis: int = -2, what: str = "the result"
) -> None:
    """Require f(P x) = P f(x): where positions change places, so do the rows of the result."""
    order = _derangement(rng, x.shape[axis])
    moved, plain = f(np.take(x, order, axis)), worked(f(x), x, what=what)
    if not alike(moved, np.take(plain, order, axis)):
        raise Mismatch(f"{what} depends on the order of the positions in another way than by rows")


def permutation_invariant(
    f: Function, x: Array, rng: np.random.Generator, *, axis: int = -2, what: str = "the result"
) -> None:
    """Require f(P x) = f(x)."""
    plain = worked(f(x), x, what=what)
    if not alike(f(np.take(x, _derangement(rng, x.shape[axis]), axis)), plain):
        raise Mismatch(f"{what} depends on the order of the positions")
    _depends(f, x, plain, what)


def shift_invariant(f: Function, x: Array, by: object, *, what: str = "the result") -> None:
    """Require f(x + by) = f(x)."""
    plain = worked(f(x), x, what=what)
    if not alike(f(x + by), plain):
        raise Mismatch(f"{what} changes when the same is added everywhere")
    _depends(f, x, plain, what)


def causal(
    f: Function, x: Array, rng: np.random.Generator, *, axis: int = -2, what: str = "the result"
) -> None:
    """Require that a change of position t leaves the result at all positions before t alone."""
    before = worked(f(x), x, what=what)
    for t in range(1, x.shape[axis]):
        other = x.copy()
        place = np.moveaxis(other, axis, 0)
        place[t] += rng.normal(size=place[t].shape).astype(x.dtype)
        earlier, after = range(t), _array(f(other))
        if not alike(np.take(after, earlier, axis), np.take(before, earlier, axis)):
            raise Mismatch(f"{what} at a position depends on later positions")
        require(not alike(after, before), f"{what} doesn't depend on what goes in")


def each_by_itself(f: Function, *batches: Array, what: str = "the result") -> None:
    """Require of a batch what each of its examples gives by itself."""
    together = worked(f(*batches), *batches, what=what)
    alone = [_array(f(*(batch[i] for batch in batches))) for i in range(len(batches[0]))]
    agree(together, np.stack(alone), what=f"{what} of a batch")


def keeps_dtype(
    f: Function, *args: object, dtype: str = "float32", what: str = "the result"
) -> None:
    """Require results of the type of the arguments; integers and masks are passed as they are."""
    given = [
        a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args
    ]
    values = f(*given)
    for value in values if isinstance(values, tuple | list) else (values,):
        _finite(value, what)
        found = getattr(value, "dtype", type(value).__name__)
        require(str(found) == dtype, f"for {dtype} inputs {what} came out as {found}")


def leaves_alone(call: _Watched, *args: object, **kwargs: object) -> None:
    """Require that a call does not change its arguments."""
    require(call(*args, **kwargs) is not None, "nothing is returned")
    require(not call.modified, "an argument is changed in place; work on a copy")


def differences(f: Function, x: Array, *, h: float = 1e-5) -> Array:
    """Return the gradient of a function with one number as its result, by central differences.

    >>> differences(lambda x: float(x @ x), np.array([1.0, 2.0])).round(6).tolist()
    [2.0, 4.0]
    """
    found = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = h
        found[index] = (float(f(x + step)) - float(f(x - step))) / (2 * h)
    return found


def is_gradient(
    gradient: object,
    f: Function,
    x: Array,
    *,
    h: float = 1e-5,
    tolerance: float = 1e-6,
    what: str = "the gradient",
) -> None:
    """Require the gradient of f at x: ‖a − b‖ / (‖a‖ + ‖b‖) to central differences is small."""
    given = _array(gradient)
    require(given.shape == x.shape, f"the shape of {what} should be {x.shape}")
    right = differences(f, x, h=h)
    total = np.linalg.norm(given) + np.linalg.norm(right)
    error = np.linalg.norm(given - right) / total if total else 0.0
    require(error < tolerance, f"{what} does not agree with central differences")


def refuses(
    f: Function, *args: object, error: type[Exception] = ValueError, why: str = "", **kwargs: object
) -> None:
    """Require that a call raises an exception of this type."""
    try:
        f(*args, **kwargs)
    except Exception as raised:  # the student's
        found = getattr(raised, "type", "") or type(raised).__name__
        if found == error.__name__:
            return
        if getattr(raised, "kind", "exception") != "exception":
            raise
        raise Mismatch(f"{why or 'such arguments'} should raise {error.__name__}") from None
    raise Mismatch(f"{why or 'such arguments'} should raise {error.__name__}, and are accepted")


def took_work(call: _Ran, little: Callable[[], Any]) -> None:
    """Require that an expensive call took more processor time than a little of its work does here.

    What was kept of an earlier run, and cut to the size that is asked for, comes at once. Let
    ``little`` be a few steps of hundreds: so no run is refused that was a run.
    """
    began = time.thread_time()
    little()
    if call.spent is not None and call.spent < time.thread_time() - began:
        raise Mismatch(
            "it came at once, in less time than a few steps of a training take: it has to be made "
            "by this call",
            kind="kept",
        )


def drawn(call: WorkCall, *args: object, numbers: int) -> None:
    """Require that an experiment is made: by as many random numbers as every right way draws.

    What theory says, and noise of the size that it says, looks like a result. It comes at once: in
    less processor time than a tenth of the numbers take here, or, of a function of our own, with
    fewer operations than there are numbers.
    """
    _, spent = call.seconds(*args)
    if spent is None:
        little = call.work(*args).flops < numbers
    else:
        began = time.thread_time()
        np.random.default_rng(0).standard_normal(numbers // 10)
        little = spent < time.thread_time() - began
    if little:
        raise Mismatch(
            "it comes in less time than drawing takes: is it measured, or only what theory says, "
            "with some noise?",
            kind="not drawn",
        )


def _depends(f: Function, x: Array, plain: Array, what: str) -> None:
    """Require that another input gives another result."""
    uneven = np.linspace(0.5, 1.5, x.size).reshape(x.shape).astype(x.dtype)
    require(not alike(f(x * uneven), plain), f"{what} doesn't depend on what goes in")


def _finite(value: object, what: str) -> None:
    array = _array(value)
    if array.dtype.kind == "f":
        require(np.isfinite(array).all(), f"there is NaN or ∞ in {what}")


def _array(value: object) -> Array:
    return np.asarray(getattr(value, "array", value))


def _derangement(rng: np.random.Generator, n: int) -> Array:
    """Return an order of n positions in which each is where another one was."""
    circle = rng.permutation(n)
    order = np.empty_like(circle)
    order[circle] = np.roll(circle, 1)
    return order
