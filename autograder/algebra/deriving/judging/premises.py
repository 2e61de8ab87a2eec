"""What the author of a derivation about indexed quantities says: names, meanings and rules."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import sympy

from autograder.algebra.deriving.judging.chain import Chain
from autograder.algebra.deriving.lines.essence import Essence
from autograder.algebra.deriving.lines.indexed import (
    BOUND,
    LineNames,
    build_indexed,
    read_indexed,
    tree_of,
)
from autograder.algebra.deriving.lines.inert import Uncomputed
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.structure import Structure, structure
from autograder.algebra.deriving.lines.world import Meanings, World
from autograder.algebra.deriving.rewriting.rules import RULES, Fact, Rule
from autograder.algebra.reading.tree import Node


@dataclass(frozen=True)
class IndexedLine(Line):
    """A line with indexed names."""

    @property
    def names(self) -> set[str]:
        """The names that stand in the line, indices and the size left out."""
        known = self.expr.atoms(sympy.Function) | self.expr.free_symbols
        names = {getattr(f, "name", "") or f.func.__name__ for f in known}
        assert isinstance(self.chain, Premises)
        return names & self.chain.named

    @functools.cached_property
    def shown_names(self) -> set[str]:
        """The names as written, whatever cancels, and the indices that are not bound."""
        assert isinstance(self.chain, Premises)
        return self.chain.shown_in(self.tree)

    @property
    def operators(self) -> set[str]:
        """What is still to be carried out, ``D`` and ``E`` for example."""
        return {f.func.__name__ for f in self.expr.atoms(Uncomputed)}


@dataclass(frozen=True)
class Premises(Chain):
    """The premises of an `IndexedChain`, which says what they are."""

    names: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    indices: tuple[str, ...] = ("i", "j", "k", "l", "m")
    size: str = "n"
    sizes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    permutations: tuple[str, ...] = ()
    by_rows: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    rules: tuple[str | Rule | Fact, ...] = ()
    reasons: bool = False
    relation: str = "="
    moments: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    normal: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    line_type: ClassVar[type[Line]] = IndexedLine

    def tree(self, text: str, *, latex: bool = False) -> Node:
        """Read `text` as a tree, by the one grammar that there is."""
        return tree_of(text, self._names, latex=latex)

    def build(self, tree: Node, text: str) -> sympy.Expr:
        """Return what a tree says; operators stay as written."""
        return build_indexed(tree, text, self._names)

    def expand(self, expr: sympy.Expr, text: str = "") -> sympy.Expr:  # noqa: ARG002
        """Leave the line as it is: what it comes to depends on n."""
        return expr

    def hint(self) -> dict[str, object]:
        """Return which names a line may use, and which of them carry indices."""
        names = self._names
        return {
            "names": [*names.plain, *names.all_matrices, *names.indices, *names.numbers],
            "indexed": [*self.indexed, "delta"],
            "functions": sorted(names.calls),
            "indices": [*names.indices, *names.numbers],
            "blocks": [*names.all_matrices],
        }

    @property
    def drawn(self) -> dict[str, object]:
        """Return what a notebook has to know to draw numbers for the names."""
        assumed = {} if self.hidden else self.where
        return {
            "definitions": {**assumed, **self.definitions},
            "positive": [*self.positive],
            "sizes": [*self._names.numbers],
        }

    @functools.cached_property
    def essence(self) -> Essence:
        """What takes out of formulas what adds nothing."""
        whole = {*self.sizes, *self.parts}
        positive = {name.replace("_", "") for name in self.positive}
        return Essence(self.indexed, self.indices, self.size, positive=positive, whole=whole)

    def fold(self, expr: sympy.Expr) -> sympy.Expr:
        """Leave the line as it is: defined names are not put in for what is written out."""
        return expr

    @property
    def written_out(self) -> Mapping[Structure, Structure]:
        """Nothing: what a name means, with indices, stands in no line as it is written."""
        return {}

    @functools.cached_property
    def ones(self) -> Collection[Structure]:
        """What a fact says to be 1."""
        sides = [(fact.left, fact.right) for fact in self.facts.values()]
        pairs = [*sides, *((right, left) for left, right in sides)]
        return [structure(self.tree(a)) for a, b in pairs if b == "1"]

    def behind(self, names: Collection[str]) -> set[str]:  # noqa: ARG002
        """Return nothing, for the same reason."""
        return set()

    def shown_in(self, node: Node) -> set[str]:
        """Return the names in a tree, with the indices that are not bound there."""
        word = node.token.text
        if node.kind == "name":
            plain = getattr(self._names.symbol(word), "name", "")
            base, _, letters = word.partition("_")
            parts = {plain} if plain == word else {plain, base, *letters}  # H_1 is a name
            return parts & {*self.named, *self.indices}
        inside = set[str]().union(*map(self.shown_in, node.children))
        if node.kind == "call" and word in BOUND and len(node.children) > 1:
            binder = node.children[1]
            inside -= {(binder.children[0] if binder.children else binder).token.text}
        return inside | ({word} & {*self.indexed})

    @property
    def named(self) -> set[str]:
        """The names that are no indices."""
        return {*self.indexed, *self.names, *self.matrices, *self.permutations}

    @functools.cached_property
    def known(self) -> dict[str, Rule]:
        """The rules by name, algebra first; a fact is a rule of its own."""
        known = {"algebra": RULES["algebra"]}
        for rule in self.rules:
            if isinstance(rule, str):
                if rule not in RULES:
                    raise ValueError(f"no rule {rule!r}; the rules are {', '.join(RULES)}")
                known[rule] = RULES[rule]
            else:
                known[rule.name] = rule if isinstance(rule, Rule) else Rule(rule.name)
        return known

    @functools.cached_property
    def facts(self) -> dict[str, Fact]:
        """The facts by name."""
        return {rule.name: rule for rule in self.rules if isinstance(rule, Fact)}

    @functools.cached_property
    def world(self) -> World:
        """What the lines are about."""
        moments = {
            self.read_form(key).func.__name__: tuple(map(self.read_form, pair))
            for key, pair in self.moments.items()
        }
        return World(
            self._all_names,
            self._meanings(self.definitions, self._names),
            moments,
            frozenset(self.normal),
            frozenset(self.vectors),
            self._meanings(self.where, self._all_names),
        )

    def _meanings(self, texts: Mapping[str, str], names: LineNames) -> Meanings:
        meanings = {}
        for key, text in texts.items():
            head, meaning = (read_indexed(part, names) for part in (key, text))
            name = head.name if head.is_Symbol else head.func.__name__
            meanings[name] = (tuple(head.args), meaning)
        return meanings

    @functools.cached_property
    def _all_names(self) -> LineNames:
        """The names, and those that students do not see."""
        bases = [name.partition("_") for name in self.hidden]
        return replace(
            self._names,
            indexed=(*self.indexed, *(base for base, index, _ in bases if index)),
            plain=(*self.names, *(base for base, index, _ in bases if not index)),
        )

    @functools.cached_property
    def _names(self) -> LineNames:
        return LineNames(
            self.indexed,
            self.names,
            self.matrices,
            self.positive,
            tuple(index for index in self.indices if index not in self.names),
            self.size,
            self.sizes,
            self.parts,
            self.permutations,
            self.by_rows,
        )
