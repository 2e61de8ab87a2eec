"""An answer of several numbers, one of which can't be read: the others are read all the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.exercise.answers.kind import Answer, FormatError
from autograder.student.display import brief

_MOST = 1000
_BETWEEN = re.compile(r"\s*[,;\n]\s*|\s+")
_ROWS = re.compile(r"\s*(?:;|\n)\s*")
_AROUND = "[]() ,\t\n"
_FAR = 12_345_679  # beyond any tolerance


def patched(answer: Answer, raw: object, right: Any) -> tuple[Any, str] | None:
    """Read an answer with something wrong in the place of each entry that can't be read.

    Returns
    -------
    tuple or None
        What was read, and a sentence about the entries; None where nothing is gained by it.
    """
    shape = np.shape(right)
    if not answer.by_entry or len(shape) not in (1, 2) or not 1 < np.size(right) <= _MOST:
        return None
    entries = _entries(raw, shape)
    if entries is None:
        return None
    said = []
    for place, entry in enumerate(entries):
        due = np.asarray(right).flat[place]
        try:
            if isinstance(entry, list | tuple | set | dict):
                raise FormatError(f"one number is expected, not {brief(entry)}")
            answer.read(entry, like=due)
        except FormatError as error:
            wrong = answer.typed((int(due) if np.isfinite(float(due)) else 0) * 1000 + _FAR)
            if answer.same(answer.read(wrong, like=due), due):
                return None
            entries[place] = wrong
            where = "entry " + ", ".join(str(i + 1) for i in np.unravel_index(place, shape))
            said.append(f"{where}: {error}")
    if not said or len(said) == len(entries):
        return None
    rows = np.empty(len(entries), dtype=object)
    rows[:] = entries
    return answer.read(rows.reshape(shape).tolist(), like=right), "; ".join(said)


def _entries(raw: object, shape: tuple[int, ...]) -> list[Any] | None:
    """Return the entries one by one, None where there are more or fewer of them."""
    if isinstance(raw, np.ndarray):  # nobody can stop numpy while it makes lists of all rows
        raw = raw.tolist() if raw.shape == shape else None
    if isinstance(raw, str) and len(shape) == 2:
        raw = _ROWS.split(raw.strip())
    if not isinstance(raw, list | tuple | str):
        return None
    rows = [
        _BETWEEN.split(row.strip(_AROUND), maxsplit=shape[-1]) if isinstance(row, str) else row
        for row in (raw if len(shape) == 2 else [raw])
    ]
    wide = all(isinstance(row, list | tuple) and len(row) == shape[-1] for row in rows)
    if not wide or (len(shape) == 2 and len(rows) != shape[0]):
        return None
    return [entry for row in rows for entry in row]
