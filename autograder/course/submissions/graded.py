"""A graded submission: the grade and the autograded notebook, as the files that they will be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import msgspec

from autograder.course.files import by_lines
from autograder.course.submissions.handed_in import texts
from autograder.course.typed_json import decoded
from autograder.grading.results import SCHEMA, Grade


@dataclass(frozen=True)
class Graded:
    """A grade and the notebook that goes with it, as the files that they will be.

    They are written where the submission was graded: who saves a class passes them on.

    Attributes
    ----------
    content
        The file of the autograded notebook.
    texts
        By the cells' names, hashes of their texts.
    key
        What the grade was made from; equal keys need no second run. It is empty where the machine
        was at fault: the next run grades again.
    runs
        Expensive calls that it rests on, to be kept for the next grading.
    """

    grade: Grade
    content: bytes
    texts: Mapping[str, str]
    key: str = ""
    runs: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        grade: Grade,
        notebook: Mapping[str, Any],
        key: str = "",
        runs: Mapping[str, bytes] | None = None,
    ) -> Self:
        """Write down an autograded notebook."""
        return cls(grade, by_lines(notebook, "cells"), digests(texts(notebook)), key, runs or {})

    @classmethod
    def read(cls, record: bytes, content: bytes, runs: Mapping[str, bytes] | None = None) -> Self:
        """Take the two files as they are.

        Raises
        ------
        ValueError
            If the record is none of today's. The notebook is not looked into.
        """
        own = decoded(record, _Beside)
        if own.schema != SCHEMA:
            raise ValueError(f"this is a record of schema {own.schema}, not {SCHEMA}")
        found = cls(decoded(record, Grade), content, own.texts or {}, own.key, runs or {})
        vars(found)["record"] = record  # what it would be written as once more
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes as what it is on disk: who saves it need not write it again."""
        return Graded.read, (self.record, self.content, dict(self.runs))

    @property
    def notebook(self) -> dict[str, Any]:
        """The autograded notebook as JSON."""
        read: dict[str, Any] = json.loads(self.content)
        return read

    @cached_property
    def record(self) -> bytes:
        """The file of the result record."""
        beside = {"key": self.key, "texts": self.texts}
        return by_lines(self.grade.to_json() | beside, "exercises")


@dataclass(frozen=True)
class Provenance:
    """What a record holds beside the grade.

    Attributes
    ----------
    key
        A hash of submission, assignment and engine; equal keys need no second run.  It is empty
        where the machine was at fault, so that the next run grades again.
    texts
        By the cells' names, hashes of their texts: they tell whether what a person marked is
        still there; none in a record of an earlier version.
    """

    key: str = ""
    texts: dict[str, str] | None = None


@dataclass(frozen=True)
class _Beside(Provenance):
    """All that a record holds beside the grade."""

    schema: int = 0


@dataclass(frozen=True)
class WholeNotebook:
    """Of a notebook what tells that it is one: its cells are not looked into."""

    cells: list[msgspec.Raw]


def digests(texts: Mapping[str, str]) -> dict[str, str]:
    """Tell texts apart where they need not be kept."""
    return {
        id: hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
        for id, text in texts.items()
    }
