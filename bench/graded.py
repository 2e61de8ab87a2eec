"""Formulas on the way of a student's answer, read and judged as an exercise does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autograder.algebra import ParseError
from autograder.algebra.building.library import CALLS, CONSTANTS
from autograder.algebra.reading.finished import OPERATORS
from autograder.algebra.reading.grammar import plain_names, read_tree
from autograder.exercise import Answer, Formula
from autograder.exercise.answers.kind import FormatError, Undecided

UNREADABLE, REVIEW, RIGHT, WRONG = "unreadable", "review", "right", "wrong"


def graded(answer: Answer, expected: Any, given: Any) -> str:
    """Return what becomes of an answer: right, wrong, unreadable, or left to a person."""
    right = answer.read(expected)
    try:
        read = answer.read(given, like=right)
    except FormatError:
        return UNREADABLE
    try:
        return RIGHT if answer.judge(read, right).credit else WRONG
    except Undecided:
        return REVIEW


def formula(
    texts: Iterable[str], assumptions: Mapping[str, str], functions: Iterable[str] = ()
) -> Formula:
    """Declare the names in some texts, as the author of an exercise does: numbers and functions.

    What is left to be worked out is none of these texts' business.
    """
    names, called = [], dict.fromkeys(functions, "function")
    for text in texts:
        try:
            names += _names(text, called)
        except ParseError:  # it is refused when it is graded
            continue
    declared = {"*": "real"} | dict(assumptions) | called
    declared_names = " ".join(dict.fromkeys([*names, *called]))
    return Formula(declared_names, declared, operators=" ".join(OPERATORS))


def _names(text: str, functions: Mapping[str, str]) -> Iterator[str]:
    known = frozenset(CALLS).union(functions)
    alone = plain_names(text, implicit=True, functions=known)
    tree = read_tree(text, implicit=True, functions=known, words=alone, open_functions=True)
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        name = node.token.text
        declared = name in known or name in CONSTANTS
        if not declared and node.kind in ("name", "call", "indexed"):
            yield name
