"""How the lines of a derivation are read: in plain names, with definitions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import sympy

from autograder.algebra.building.derivatives import carried_out
from autograder.algebra.building.library import CALLS
from autograder.algebra.building.parse import build
from autograder.algebra.building.scope import Scope
from autograder.algebra.deriving.lines.essence import Essence
from autograder.algebra.deriving.lines.line import TEXTS, Language, Line
from autograder.algebra.deriving.lines.running_sums import spelled_out
from autograder.algebra.deriving.lines.structure import Structure, structure
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.lines import WrittenLine, declared_names, take_apart
from autograder.algebra.reading.tree import Node
from autograder.student.formulas import MAX_LINES

_CALLS = frozenset(CALLS)


def line_parts(
    number: int, raw: object, declared: Collection[str] | None = None
) -> tuple[str, WrittenLine]:
    """Return a line as text, and taken apart; see `take_apart`.

    Raises
    ------
    ParseError
        That says which line it is.
    """
    if not isinstance(raw, str):
        raise ParseError(f"Line {number} cannot be read: it is no text")
    try:
        return raw, take_apart(raw, declared)
    except ParseError as error:
        reason = f"Line {number} cannot be read: {error.reason}"
        raise ParseError(reason, raw, error.position) from None


def numbered_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that are not blank, counted from 1; `ParseError` if these are none."""
    if not isinstance(lines, list | tuple):
        raise ParseError("expected a list of lines, each a text")
    found = [
        (number, text)
        for number, text in enumerate(lines, 1)
        if not isinstance(text, str) or text.strip()
    ]
    if len(found) > MAX_LINES:
        raise ParseError(f"a derivation may have at most {MAX_LINES} lines")
    return found


def read_line(
    language: Language, number: int, raw: object, before: Sequence[Line], *, bounds: bool
) -> list[Line]:
    """Read the formulas of one line; the first of several is left out if it stands before.

    `bounds` is whether a line may be at least as large as the one before.
    """
    text, written = line_parts(number, raw, language.declared)
    if not written.sides:
        raise ParseError(f"Line {number} cannot be read: there is no formula", text)
    read = []
    for side in written.sides:
        if side.relation != "=" and not bounds:
            reason = f"Line {number} cannot be read: expected an equality"
            raise ParseError(reason, text, 0)
        read.append(read_one(language, number, side.text, side.relation, text, written.reason))
    if len(read) > 1 and any(read[0].structure == line.structure for line in before):
        del read[0]
    return read


def read_one(
    language: Language, number: int, text: str, relation: str = "=", whole: str = "", rule: str = ""
) -> Line:
    """Read one formula; what makes no sense as text may do so as LaTeX."""
    problem: ParseError | None = None
    for latex in (False, True):
        try:
            tree = language.tree(text, latex=latex)
            expr = language.build(tree, text)
            expanded = language.expand(expr, text)
        except ParseError as error:
            problem = problem or error
            continue
        return Line(number, whole or text, expr, expanded, tree, language, relation, rule)
    assert problem is not None
    reason = f"Line {number} cannot be read: {problem.reason}"
    raise ParseError(reason, whole or text, problem.position) from None


@dataclass(frozen=True)
class PlainLanguage:
    """Names without indices; `Chain` says what they are. Derivatives can be carried out."""

    names: tuple[str, ...]
    definitions: Mapping[str, str] = field(default_factory=dict)
    assumptions: Mapping[str, str] = field(default_factory=dict)

    def hint(self) -> dict[str, object]:
        """Return what a student's notebook may know about a line: the names it may use."""
        meanings = {name: self.expand(self.read_form(name)) for name in self.definitions}
        defined = [name for name, meaning in meanings.items() if not meaning.is_Symbol]
        return {"names": list(self.names), **({"defined": defined} if defined else {})}

    def expand(self, expr: sympy.Expr, text: str = "") -> sympy.Expr:
        """Put definitions in and carry derivatives out."""
        for _ in self._definitions:
            expr = expr.xreplace(self._definitions)
        if not self._definitions.keys().isdisjoint(expr.free_symbols):
            raise ValueError("the definitions go round in a circle")
        return carried_out(expr, text)

    def read_form(self, text: str) -> sympy.Expr:
        """Read `text` with this derivation's names; derivatives stay as written."""
        return self.build(self.tree(text), text)

    def tree(self, text: str, *, latex: bool = False) -> Node:
        """Read `text` as a tree, by the one grammar that there is."""
        return self._tree(text, latex)

    @functools.cached_property
    def _tree(self) -> Callable[[str, bool], Node]:
        """Reads a text once: each line is asked for what stands in a waypoint's forms."""

        def read(text: str, latex: bool) -> Node:
            words = self._scope.words
            tree = read_tree(text, implicit=True, functions=_CALLS, words=words, latex=latex)
            return spelled_out(tree)

        return functools.lru_cache(TEXTS)(read)

    def build(self, tree: Node, text: str) -> sympy.Expr:
        """Return what a tree, or a part of one, says in this derivation's names."""
        return build(tree, text, self._scope)

    def fold(self, expr: sympy.Expr) -> sympy.Expr:
        """Put the defined name wherever the sum that it stands for is written out."""
        sums = {value: name for name, value in self._definitions.items() if value.is_Add}
        return expr.xreplace(sums)

    def names_in(self, expr: sympy.Expr) -> set[str]:
        """Return the names that stand in an expression."""
        return {symbol.name for symbol in expr.free_symbols if symbol.is_Symbol}

    def shown_in(self, line: Line) -> set[str]:
        """Return all that a last line may not hold unless the result does: the names it writes."""
        return line.written_names

    @functools.cached_property
    def declared(self) -> frozenset[str]:
        """The names by which a line is told from what is said beside it."""
        return declared_names(self.hint())

    @functools.cached_property
    def essence(self) -> Essence:
        """What takes out of formulas what adds nothing."""
        known = {
            name: f"{self.assumptions.get(name, '')} {self.assumptions.get('*', '')}".split()
            for name in self.names
        }
        positive, whole = (
            {name.replace("_", "") for name, words in known.items() if word in words}
            for word in ("positive", "integer")
        )
        return Essence(positive=positive, whole=whole)

    @functools.cached_property
    def _scope(self) -> Scope:
        return Scope(self.names, self.assumptions)

    @functools.cached_property
    def _definitions(self) -> dict[sympy.Symbol, sympy.Expr]:
        return {self.read_form(k): self.read_form(v) for k, v in self.definitions.items()}

    @functools.cached_property
    def written_out(self) -> Mapping[Structure, Structure]:
        """What the names mean that a line may put in, as it is written, and those names."""
        return {
            structure(self.tree(v)): structure(self.tree(k)) for k, v in self.definitions.items()
        }

    def behind(self, names: Collection[str]) -> set[str]:
        """Return the defined names by which some of `names` are defined."""
        meanings = (self.read_form(v) for k, v in self.definitions.items() if k in names)
        found = {symbol.name for meaning in meanings for symbol in meaning.free_symbols}
        return found & self.definitions.keys()
