"""Formulas and lines that are practised: each is held against what it should equal, by numbers."""

from __future__ import annotations

import importlib
from typing import Any

from autograder.student.judgement import Judgement

_FINE = (
    "at every point that was drawn each line equals the one before it. Grading also looks at what "
    "each step takes."
)
_NO_READER = Judgement(0.0, feedback="put check_formulas.py beside check.py to have it looked at")
_UNKNOWN = "a notebook can't compute this formula: it may be right."


def judge_lines(given: object, _expected: object, rule: object, *, hint: object) -> Judgement:
    """Judge lines as far as numbers tell: the first that differs is wrong, and a point shows it.

    A line without numbers is neither right nor wrong.
    """
    if not (reader := _reader()):
        return _NO_READER
    asked = reader.statement_of(hint, rule, reader.CALLS, reader.CONSTANTS)
    if said := reader.first_problem(given, asked):
        return Judgement(0.0, feedback=said)
    if unknown := reader.not_computed(given, asked):
        return Judgement(0.5, feedback=unknown)
    return Judgement(1.0, feedback=_FINE)


def judge_formula(given: object, expected: object, rule: object, *, hint: object) -> Judgement:
    """Judge a formula as far as numbers tell: a point shows where it is wrong."""
    if not (reader := _reader()):
        return _NO_READER
    asked = reader.statement_of(hint, rule, reader.CALLS, reader.CONSTANTS)
    if said := reader.other_value(given, expected, asked):
        return Judgement(0.0, feedback=said)
    if not asked.known_at(given):
        return Judgement(0.5, feedback=_UNKNOWN)
    return Judgement(1.0)


def _reader() -> Any:
    try:
        return importlib.import_module("check_formulas")
    except (ImportError, SyntaxError):  # it needs Python 3.10
        return None
