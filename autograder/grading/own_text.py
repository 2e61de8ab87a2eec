"""The one door to Python that a student wrote: it is parsed here, within a budget, or not at all.

A few kilobytes can take Python's parser gigabytes, or end its process. So a text of more than
`LONGEST` characters is never parsed, and who parses one has opened a budget: `looking` does that
for whatever goes through a notebook, and gives what stands for it where the budget is used up.
Texts that authors write need no such care.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from autograder.exercise.words import cell_names
from autograder.exercise.words.cell_names import WORD, Names, Unparsable
from autograder.grading import budget

__all__ = ["LONGEST", "WORD", "Names", "Unparsable", "array", "looking", "names", "statements"]

#: Characters of a cell that is parsed: the parser needs less than a second for so many.
LONGEST = 100_000

Result = TypeVar("Result")


def looking(what: str, work: Callable[[], Result], otherwise: Result) -> Result:
    """Go through a student's texts within a budget; return ``otherwise`` where that is used up."""
    try:
        return budget.judging(f"the cells ({what})", work)
    except budget.Exhausted:
        return otherwise


def names(text: str) -> Names:
    """Return the names that a cell uses and makes.

    Raises
    ------
    Unparsable
        If it has magics, isn't Python or is too long.
    """
    return _parsed(cell_names.names, text)


def statements(text: str) -> list[ast.stmt]:
    """Return a cell's statements, or raise `Unparsable`."""
    return _parsed(ast.parse, text).body


def array(text: str, dtype: type | None = None) -> np.ndarray[Any, Any] | None:
    """Return the array that an answer in a record writes down; None where it is none."""
    return looking("an answer", lambda: _array(text, dtype), None)


def _array(text: str, dtype: type | None) -> np.ndarray[Any, Any] | None:
    try:
        return np.asarray(_parsed(ast.literal_eval, text), dtype)
    except (Unparsable, ValueError, TypeError):
        return None


def _parsed(parse: Callable[[str], Result], text: str) -> Result:
    assert budget.is_open(), "a student's text is parsed outside of any budget"
    if len(text) > LONGEST:
        raise Unparsable(f"it has more than {LONGEST} characters")
    try:
        with warnings.catch_warnings():  # of the parser, about what is no concern of the grader's
            warnings.simplefilter("ignore")
            return parse(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise Unparsable(str(error)) from error
