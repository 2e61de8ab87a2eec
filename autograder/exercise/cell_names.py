"""Which names a cell uses and makes, by its text; remembered, since a class writes much alike."""

from __future__ import annotations

import re

from autograder.exercise.cache import remembered
from autograder.student import names as reading
from autograder.student.names import Unparsable

__all__ = ["WORD", "Unparsable", "names"]

WORD = re.compile(r"[^\W\d]\w*")

names = remembered(size=500)(reading.names)
