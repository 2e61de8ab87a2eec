"""What is found wrong with a derivation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "unreadable",
    "wrong",
    "wrong_start",
    "wrong_reason",
    "skipped",
    "not_in_form",
    "missing_waypoint",
    "too_short",
]


@dataclass(frozen=True)
class Finding:
    """Something wrong with a derivation, in a sentence for the student."""

    line: int  # counted from 1; 0 is the whole derivation
    kind: Kind
    message: str
