"""Which names a cell uses and makes, by its text; remembered, since a class writes much alike.

What a student wrote is asked for through `autograder.grading.own_text`.
"""

from __future__ import annotations

import re

from autograder.exercise.cache import remembered
from autograder.student import names as reading
from autograder.student.names import Names, Unparsable

__all__ = ["WORD", "Names", "Unparsable", "names"]

WORD = re.compile(r"[^\W\d]\w*")

names = remembered(size=500)(reading.names)
