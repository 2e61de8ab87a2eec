"""What checks say about a submission's answer.  Each raises ``Mismatch`` with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.student.rounding import rounding_of

_SINGLE = 2e-6  # sixteen roundings of float32


class Mismatch(AssertionError):
    """The submission's answer is not what the check expects.

    Parameters
    ----------
    message
        What is wrong, without the values of hidden inputs or of expected answers.
    detail
        The same with values; shown for visible checks alone.
    kind
        What is wrong, as a tag.  Where the result is right and the way to it isn't, this is
        how a misconception is recognised: it fails with the same one.
    credit
        The fraction of the check's points that the submission earns nevertheless.
    """

    def __init__(
        self, message: str, detail: str = "", *, kind: str = "", credit: float = 0.0
    ) -> None:
        super().__init__(message)
        self.message, self.detail, self.kind = message, detail or message, kind
        self.credit = credit


def require(condition: object, message: str, *, credit: float = 0.0) -> None:
    """Raise ``Mismatch(message)`` unless ``condition`` is true; ``credit`` is earned even so."""
    if not condition:
        raise Mismatch(message, credit=credit)


def agree(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    what: str = "the result",
    credit: float = 0.0,
) -> None:
    """Require the expected structure, shape, finite values and entrywise agreement.

    Parameters
    ----------
    actual, expected : array_like, or tuple or dict of such
        What the submission returned and what it should have.
    rtol, atol : float, optional
        Tolerances; by default those of the less precise of the two types, so that a
        float32 answer is held to float32 accuracy.
    what : str
        How to call the value in the message.
    credit : float
        The fraction of the check's points that is earned where they don't agree.

    Raises
    ------
    Mismatch
        With the first difference found.
    """
    try:
        _agree(actual, expected, rtol, atol, what)
    except Mismatch as mismatch:
        mismatch.credit = credit
        raise


def _agree(actual: Any, expected: Any, rtol: float | None, atol: float | None, what: str) -> None:
    if isinstance(expected, tuple):
        if isinstance(actual, np.ndarray) and actual.ndim:
            actual = tuple(actual)  # it is unpacked like one
        if not isinstance(actual, tuple | list) or len(actual) != len(expected):
            asked = f"{what} should be a tuple of {len(expected)} values"
            raise Mismatch(asked, f"{asked}, not {_kind(actual)}")
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _agree(a, e, rtol, atol, f"entry {i} of {what}")
        return
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or len(actual) != len(expected):
            asked = f"{what} should be a dictionary of {len(expected)} entries"
            raise Mismatch(asked, f"{asked}, not {_kind(actual)}")
        for key, value in expected.items():
            if key not in actual:
                raise Mismatch(f"there is no entry {key!r} in {what}")
            _agree(actual[key], value, rtol, atol, f"{what}[{key!r}]")
        return
    given, right = _array(actual, what), np.asarray(numbers_of(expected))
    if given.shape != right.shape:
        raise Mismatch(
            f"the shape of {what} is another one than expected",
            f"the shape of {what} is {given.shape}; {right.shape} was expected",
        )
    if right.dtype.kind == "b" and given.dtype.kind != "b":
        raise Mismatch(
            f"the dtype of {what} is another one; bool was expected",
            f"the dtype of {what} is {given.dtype}; bool was expected",
        )
    if np.any(np.isnan(given) & ~np.isnan(right)):
        raise Mismatch(f"there is NaN in {what}")
    loose = rounding_of(given, right)
    close = np.isclose(
        given,
        right,
        rtol=loose[0] if rtol is None else rtol,
        atol=loose[1] if atol is None else atol,
        equal_nan=True,
    )
    if not close.all():
        at = tuple(int(i) for i in np.argwhere(~close)[0]) if right.ndim else ()
        place = f" at index {list(at)}" if at else ""
        share = f"{int((~close).sum())} of {close.size} entries differ" if at else "it differs"
        a, b = told_apart(given[at], right[at])
        said = f"{what} is not the right number"
        if rtol is None and _single(given, right):
            said = (
                f"{what} is right to the digits of float32 alone: is something computed in that "
                "type, or is a constant short? The dtype should be that of the inputs, float64"
            )
        elif at:
            said = f"{what}: right in shape, but not in value; {share}, the first{place}"
        raise Mismatch(said, f"{'the entry of ' * bool(at)}{what}{place} is {a}; {b} was expected")


def _single(given: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    """Tell whether numbers that should be double precision are right to that of float32 alone."""
    if not given.dtype == right.dtype == np.float64 or not np.isfinite(right).all():
        return False
    off, size = np.abs(given - right).max(initial=0), np.abs(right).max(initial=0)
    return bool(off < _SINGLE * size)


def told_apart(a: Any, b: Any) -> tuple[str, str]:
    """Write two different numbers with as many digits as it takes to see the difference.

    >>> told_apart(1 / 3, 0.25), told_apart(1.0000001, 1.0)
    (('0.333333', '0.25'), ('1.0000001', '1'))
    """
    for digits in range(6, 17):
        texts = f"{a:.{digits}g}", f"{b:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def alike(a: Any, b: Any) -> bool:
    """Tell whether two answers are the same, NaN for NaN, to the precision of their types."""
    try:
        agree(a, b)
    except Mismatch:
        return False
    return True


def numbers_of(value: Any) -> Any:
    """Return the numbers of a tensor, which arrives as these and its type; else the value."""
    if hasattr(value, "detach"):  # one of torch's, from the check itself
        tensor = value.detach().cpu()
        return (tensor if tensor.dtype.itemsize != 2 else tensor.float()).numpy()
    return getattr(value, "array", value)


def _array(value: Any, what: str) -> np.ndarray[Any, Any]:
    array = numbers_of(value)
    try:
        array = np.asarray(array)
    except ValueError:
        raise Mismatch(f"{what} should be an array of numbers, not a ragged list") from None
    if array.dtype.kind not in "bifuc":
        missing = f" ({_kind(None)})" if value is None else ""
        raise Mismatch(
            f"{what} should be an array of numbers{missing}",
            f"{what} should be an array of numbers, not {_kind(value)}",
        )
    return array


def _kind(value: Any) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, tuple | list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"
