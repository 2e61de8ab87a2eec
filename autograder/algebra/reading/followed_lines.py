"""Lines of a derivation, each held against the one before by numbers.

A line that differs is wrong, and a point shows it.  Lines that agree everywhere that was tried are
not proved by that, nor is any of them looked at for what it takes: the grader does both.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from autograder.algebra.reading.lines import declared_names, take_apart
from autograder.algebra.reading.preview import tree_of, twice
from autograder.algebra.reading.tree import Node, nodes_of
from autograder.algebra.reading.values import NoValue, Point, apart, shown_value

_HOW_MANY_POINTS = 6
_NAMES_SHOWN = 6  # numbers of a point; more say nothing
_WORKED_OUT = ("diff", "D", "sum", "Sum")


class Statement(NamedTuple):
    """What is to be shown, and in which names.

    Attributes
    ----------
    start, target
        What is given, and what it should become.
    known
        As for `preview.look_line`: names, functions, indices.
    definitions
        What names stand for.
    positive
        Names that are larger than 0.
    sizes
        Names of how many entries there are.
    """

    start: str
    target: str
    known: Mapping[str, Any]
    definitions: Mapping[str, str]
    positive: tuple[str, ...]
    sizes: tuple[str, ...]

    def tree(self, text: str) -> Node:
        """Return what a formula says."""
        known = {name: value for name, value in self.known.items() if name != "names"}
        tree: Node = twice(tree_of, text, self.known["names"], known)
        return tree

    def points(self) -> list[Point]:
        """Return the points at which lines are compared."""
        meant = {name: self.tree(text) for name, text in self.definitions.items()}
        indexed = tuple(self.known.get("indexed", ()))
        return [
            Point(seed, meant, indexed=indexed, positive=self.positive, sizes=self.sizes)
            for seed in range(_HOW_MANY_POINTS)
        ]

    def known_at(self, line: str) -> bool:
        """Tell whether a line has a value at each point."""
        tree = self.tree(line.partition("#")[0])
        try:
            return all(point.value(tree) is not None for point in self.points())
        except NoValue:
            return False


class _Line(NamedTuple):
    name: str
    relation: str
    text: str
    tree: Node


def first_problem(texts: Sequence[str], asked: Statement) -> str:
    """Say which line is the first that is wrong, or what is missing; "" where nothing is seen.

    Raises
    ------
    ParseError
        If a line can't be read.
    """
    points = asked.points()
    given = _Line("what is given", "=", asked.start, asked.tree(asked.start))
    lines = [given, *_lines_read(texts, asked)]
    for before, line in itertools.pairwise(lines):
        for point in points:
            if found := _differs_by_numbers(before, line, point):
                return found
    return _not_done(lines[1:], asked)


def not_computed(texts: Sequence[str], asked: Statement) -> str:
    """Say of which lines nothing is known, as they have no value here; "" where all have one."""
    unknown = [line.name for line in _lines_read(texts, asked) if not asked.known_at(line.text)]
    if not unknown:
        return ""
    names = ", ".join(dict.fromkeys(unknown))
    return f"a notebook can't compute {names}: that may be right. No line that it can is wrong."


def other_value(text: str, right: str, asked: Statement) -> str:
    """Say where a formula has another value than the right one; "" where that isn't seen.

    Raises
    ------
    ParseError
        If it can't be read.
    """
    given, meant = asked.tree(text), asked.tree(right)
    for point in asked.points():
        try:
            own, other = point.value(given), point.value(meant)
        except NoValue:
            continue
        if apart(other, own, "="):
            at = [f"{name} = {shown_value(number)}" for name, number in point.numbers.items()]
            where = f"At {', '.join(at[:_NAMES_SHOWN])} this" if at else "This"
            return f"{where} is {shown_value(own)}: put numbers in, and compare."
    return ""


def _lines_read(texts: Sequence[str], asked: Statement) -> list[_Line]:
    declared = declared_names(asked.known)
    return [
        _Line(f"line {number}", side.relation, side.text, asked.tree(side.text))
        for number, text in enumerate(texts, 1)
        for side in take_apart(text, declared).sides
    ]


def _differs_by_numbers(before: _Line, line: _Line, point: Point) -> str:
    try:
        one, other = point.value(before.tree), point.value(line.tree)
    except NoValue:
        return ""
    if not apart(one, other, line.relation):
        return ""
    at = [f"{name} = {shown_value(number)}" for name, number in point.numbers.items()]
    where = f" at {', '.join(at[:_NAMES_SHOWN])}{', …' * (len(at) > _NAMES_SHOWN)}," if at else ""
    stands = "is not equal to" if line.relation == "=" else "is not at least"
    return (
        f"{line.name[0].upper()}{line.name[1:]} {stands} {before.name}:{where} "
        f"{before.name} is {shown_value(one)} and {line.name} is {shown_value(other)}."
    )


def _not_done(lines: Sequence[_Line], asked: Statement) -> str:
    ends = {"".join(asked.start.split()), "".join(asked.target.split())}
    others = {*asked.known.get("indices", ()), "e", "pi"}
    if not lines or _words_in(lines[-1].tree) - _words_in(asked.tree(asked.target)) - others:
        return (
            f"Each line equals the one before it; the last is not yet in the form {asked.target}."
        )
    if all("".join(line.text.split()) in ends for line in lines):
        return "Show what stands between what is given and the result."
    return ""


def _words_in(tree: Node) -> set[str]:
    """Return the names in a formula, and what is still to be worked out in it."""
    names = {node.token.text.replace("_", "") for node in nodes_of(tree) if node.kind == "name"}
    calls = {node.token.text for node in nodes_of(tree) if node.kind == "call"}
    return names | (calls & {*_WORKED_OUT})


def statement_of(
    hint: Mapping[str, Any],
    rule: Mapping[str, Any],
    calls: Mapping[str, tuple[int, int]],
    constants: Collection[str],
) -> Statement:
    """Return what is to be shown, as help.json says it."""
    kept = ("names", "functions", "indexed", "indices", "blocks", "defined")
    known = {name: hint[name] for name in kept if name in hint}
    return Statement(
        rule.get("start", ""),
        rule.get("target", ""),
        {**known, "calls": calls, "constants": constants},
        rule.get("definitions", {}),
        tuple(rule.get("positive", ())),
        tuple(rule.get("sizes", ())),
    )
