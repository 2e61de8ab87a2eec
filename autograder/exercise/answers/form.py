"""The form in which a formula is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    """How a formula is to be written, where a form is asked for.

    Attributes
    ----------
    wanted
        A sentence for the student: "Write it in the difference a − b alone."
    has
        Whether a formula that is right, as sympy reads it, has that form.
    restated
        What is given, written again: it is equal to the answer, and must not have the form.
    credit
        What a right formula in another form earns.
    """

    wanted: str
    has: Callable[[Any], bool]
    restated: Any
    credit: float = 0.0
