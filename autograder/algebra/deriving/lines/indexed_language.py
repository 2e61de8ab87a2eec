"""How the lines of a derivation are read: with indices, for any number n of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import sympy

from autograder.algebra.deriving.lines.essence import Essence
from autograder.algebra.deriving.lines.indexed import BOUND, LineNames, build_indexed, tree_of
from autograder.algebra.deriving.lines.line import TEXTS, Line
from autograder.algebra.deriving.lines.structure import Structure
from autograder.algebra.reading.lines import declared_names
from autograder.algebra.reading.tree import Node


@dataclass(frozen=True)
class IndexedLanguage:
    """Names with and without indices; what a line comes to depends on n, so it stays as written.

    Attributes
    ----------
    known
        The names, see `LineNames`.
    definitions
        What some of them stand for; nothing of it is put into a line that is read.
    equations
        Whether a line is an equation: it says its left side minus its right side.
    """

    known: LineNames
    definitions: Mapping[str, str] = field(default_factory=dict)
    equations: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a line may use, but for those that carry indices."""
        return self.known.plain

    def hint(self) -> dict[str, object]:
        """Return which names a line may use, and which of them carry indices."""
        names = self.known
        return {
            "names": [*names.plain, *names.all_matrices, *names.indices, *names.numbers],
            "indexed": [*names.indexed, "delta"],
            "functions": sorted(names.calls),
            "indices": [*names.indices, *names.numbers],
            "blocks": [*names.all_matrices],
            **({"equations": True} if self.equations else {}),
        }

    @functools.cached_property
    def declared(self) -> frozenset[str]:
        """The names by which a line is told from what is said beside it."""
        return declared_names(self.hint())

    def tree(self, text: str, *, latex: bool = False) -> Node:
        """Read `text` as a tree, by the one grammar that there is."""
        return self._tree(text, latex)

    @functools.cached_property
    def _tree(self) -> Callable[[str, bool], Node]:
        """Reads a text once: each line is asked for what stands in a waypoint's forms."""
        return functools.lru_cache(TEXTS)(
            lambda text, latex: tree_of(text, self.known, latex=latex)
        )

    def build(self, tree: Node, text: str) -> sympy.Expr:
        """Return what a tree says; operators stay as written."""
        if self.equations and tree.kind == "relation" and tree.marks == ("=",):
            left, right = (self.build(side, text) for side in tree.children)
            return left - right
        return build_indexed(tree, text, self.known)

    def read_form(self, text: str) -> sympy.Expr:
        """Return what a text says; derivatives stay as written."""
        return self.build(self.tree(text), text)

    def expand(self, expr: sympy.Expr, text: str = "") -> sympy.Expr:  # noqa: ARG002
        """Leave the line as it is: what it comes to depends on n."""
        return expr

    def fold(self, expr: sympy.Expr) -> sympy.Expr:
        """Leave the line as it is: defined names are not put in for what is written out."""
        return expr

    @functools.cached_property
    def essence(self) -> Essence:
        """What takes out of formulas what adds nothing."""
        names = self.known
        whole = {*names.sizes, *names.parts}
        positive = {name.replace("_", "") for name in names.positive}
        return Essence(names.indexed, names.indices, names.size, positive=positive, whole=whole)

    @property
    def written_out(self) -> Mapping[Structure, Structure]:
        """Nothing: what a name means, with indices, stands in no line as it is written."""
        return {}

    def behind(self, names: Collection[str]) -> set[str]:  # noqa: ARG002
        """Return nothing, for the same reason."""
        return set()

    @property
    def named(self) -> set[str]:
        """The names that are no indices."""
        names = self.known
        return {*names.indexed, *names.plain, *names.matrices, *names.permutations}

    def names_in(self, expr: sympy.Expr) -> set[str]:
        """Return the names that stand in an expression, indices and the size left out."""
        known = expr.atoms(sympy.Function) | expr.free_symbols
        return {getattr(f, "name", "") or f.func.__name__ for f in known} & self.named

    def shown_in(self, line: Line) -> set[str]:
        """Return the names as written, whatever cancels, and the indices that are not bound."""
        return self._shown_in(line.tree)

    def _shown_in(self, node: Node) -> set[str]:
        word = node.token.text
        if node.kind == "name":
            plain = getattr(self.known.symbol(word), "name", "")
            base, _, letters = word.partition("_")
            parts = {plain} if plain == word else {plain, base, *letters}  # H_1 is a name
            return parts & {*self.named, *self.known.indices}
        inside = set[str]().union(*map(self._shown_in, node.children))
        if node.kind == "call" and word in BOUND and len(node.children) > 1:
            binder = node.children[1]
            inside -= {(binder.children[0] if binder.children else binder).token.text}
        return inside | ({word} & {*self.known.indexed})
