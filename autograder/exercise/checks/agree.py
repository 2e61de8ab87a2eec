"""What checks say about a submission's answer.  Each raises ``Mismatch`` with a sentence."""

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

_LONG, _HEAD = 5000, 500  # entries of an array, and those that are compared first


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
    free
        Whether answers are drawn, or chosen among many right ones: then the kind alone tells
        which misconception it was, however its answers differ.
    """

    def __init__(
        self,
        message: str,
        detail: str = "",
        *,
        kind: str = "",
        credit: float = 0.0,
        free: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.detail, self.kind = message, detail or message, kind
        self.credit, self.free = credit, free and bool(kind)


def require(condition: object, message: str, *, credit: float = 0.0) -> None:
    """Raise ``Mismatch(message)`` unless ``condition`` is true; ``credit`` is earned even so."""
    if not condition:
        raise Mismatch(message, credit=credit)


def agree(
    actual: object,
    expected: object,
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
    rule = Comparison(rtol=rtol, atol=atol)
    if found := difference(actual, expected, rule):
        message, detail = _said(found, what, rounded=rtol is None)
        raise Mismatch(message, detail, credit=credit)


def _said(found: Difference, what: str, *, rounded: bool) -> tuple[str, str]:
    """Say a difference without values, and with them."""
    came, right = found.came, found.right
    at = found.at[:-1] if found.kind == "entry" else found.at
    for key in at:
        what = f"entry {key} of {what}" if isinstance(key, int) else f"{what}[{key!r}]"
    match found.kind:
        case "length":
            kind = "a dictionary" if isinstance(right, dict) else f"a {type(right).__name__}"
            counted = f"{len(right)} {'entries' if isinstance(right, dict) else 'values'}"
            asked = f"{what} should be {kind} of {counted}"
            return asked, f"{asked}, not {_kind(came)}"
        case "entry":
            return (said := f"there is no entry {found.at[-1]!r} in {what}"), said
        case "ragged":
            return (said := f"{what} should be an array of numbers, not a ragged list"), said
        case "numbers":
            asked = f"{what} should be an array of numbers"
            missing = f" ({_kind(None)})" if came is None else ""
            return f"{asked}{missing}", f"{asked}, not {_kind(came)}"
        case "other":
            said = f"{what} is another one than expected{_from_where(came, right)}"
            return said, f"{what} is {came!r}, not {right!r}"
        case "shape":
            said = f"the shape of {what} is {came.shape}; {right.shape} was expected"
            return f"the shape of {what} is another one than expected{_where(came, right)}", said
        case "dtype":
            said = f"the dtype of {what} is {came.dtype}; {right.dtype} was expected"
            return f"the dtype of {what} is another one; {right.dtype} was expected", said
        case "nan":
            return (said := f"there is NaN in {what}"), said
    return _values(found, what, rounded=rounded)


def _from_where(came: object, right: object) -> str:
    """Say from where on two texts differ, and not what is right.

    >>> _from_where("a key", "a value"), _from_where("keys", "key"), _from_where(3, "3")
    (', from character 3 on', ', from character 4 on', '')
    """
    if not (isinstance(came, str) and isinstance(right, str)):
        return ""
    same = next((i for i, (a, b) in enumerate(zip(came, right, strict=False)) if a != b), None)
    return f", from character {min(len(came), len(right)) + 1 if same is None else same + 1} on"


def _where(came: Any, right: Any) -> str:
    """Say in what two shapes differ, and not what is right.

    >>> _where(np.zeros((2, 3)), np.zeros((2, 4))), _where(np.zeros(3), np.zeros((3, 1)))
    (': axis 1 has another length', ': it has 1 axis, and should have 2')
    """
    if came.ndim != right.ndim:
        axes = "axis" if came.ndim == 1 else "axes"
        return f": it has {came.ndim} {axes}, and should have {right.ndim}"
    differ = [
        str(i)
        for i, pair in enumerate(zip(came.shape, right.shape, strict=True))
        if pair[0] != pair[1]
    ]
    named = f"axis {differ[0]} has" if len(differ) == 1 else f"axes {' and '.join(differ)} have"
    return f": {named} another length"


def _values(found: Difference, what: str, *, rounded: bool) -> tuple[str, str]:
    """Say which numbers differ."""
    given, right, close = found.came, found.right, found.close
    at = tuple(int(i) for i in np.argwhere(~close)[0]) if right.ndim else ()
    place = f" at index {list(at)}" if at else ""
    truth = right.dtype.kind == "b" and not right.ndim
    said = f"{what}: the other answer is right" if truth else f"{what} is not the right number"
    if rounded and right_in_float32(given, right):
        said = f"{what} {SINGLE}"
    elif at:
        share = f"{int((~close).sum())} of {close.size} entries differ"
        said = f"{what}: right in shape, but not in value; {share}, the first{place}"
    a, b = told_apart(given[at], right[at])
    return said, f"{'the entry of ' * bool(at)}{what}{place} is {a}; {b} was expected"


def told_apart(a: object, b: object) -> tuple[str, str]:
    """Write two different numbers with as many digits as it takes to see the difference.

    >>> told_apart(1 / 3, 0.25), told_apart(1.0000001, 1.0)
    (('0.333333', '0.25'), ('1.0000001', '1'))
    """
    for digits in range(6, 17):
        texts = f"{a:.{digits}g}", f"{b:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def alike(a: object, b: object, rtol: float | None = None, atol: float | None = None) -> bool:
    """Tell whether two answers are the same, NaN for NaN, by default to their types' precision."""
    rules = Comparison(rtol=rtol, atol=atol)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape != ():
        few = max(1, _HEAD * len(a) // a.size) if a.size > _LONG else len(a)
        if few < len(a) and difference(a[:few], b[:few], rules) is not None:
            return False  # what differs mostly does so soon
    return difference(a, b, rules) is None


def _kind(value: object) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, tuple | list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"
