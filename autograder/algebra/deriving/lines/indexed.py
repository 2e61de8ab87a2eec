"""Lines about indexed quantities: ``D(exp(z_i)/sum(exp(z_k), k), z_j)``, for any number n.

Sums, derivatives, expectations and norms are kept as they are written, so that a rule can be
looked for in a line; what they come to for a given n is the business of `written_out`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NoReturn

import sympy

from autograder.algebra.building import library
from autograder.algebra.building.block import Block, Misfit, block
from autograder.algebra.building.calls import argument_problem
from autograder.algebra.building.construction import number_value
from autograder.algebra.building.functions import Permutation, RowWise
from autograder.algebra.building.sizes import MAX_BITS
from autograder.algebra.deadlines.guard import within
from autograder.algebra.deriving.lines.indexed_binding import apart, with_own_letter
from autograder.algebra.deriving.lines.indexed_functions import EXTREMA, FUNCTIONS, OPERATORS
from autograder.algebra.deriving.lines.inert import D, Largest, Total, Transposed
from autograder.algebra.reading.block_rows import as_blocks, rows_of_blocks
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.tree import Node, indices_in

MAX_INDEXED_POWER = 12

BOUND = ("sum", "Sum", "max", "Largest")


@dataclass(frozen=True)
class LineNames:
    """What the names in a line stand for.

    Attributes
    ----------
    indexed
        Names that carry one or two indices: ``z`` for z_i.
    plain
        Names that stand alone.
    matrices
        Names of matrices, whose products keep their order; ``I`` is the identity beside them.
    permutations
        Those of them that are permutation matrices.
    by_rows
        Functions of matrices that treat each row, and the entries of a row, alike: "permutations
        pass through" makes ``P*S(A)*P^T`` of ``S(P*A*P^T)``.
    positive
        Those of the names that are positive; the others are real.
    indices
        Names of indices.
    size
        How many there are: sums run from 1 to this, unless they say otherwise.
    sizes
        Other numbers of indices.
    parts
        Numbers below `size`: how many of all indices belong to a part, the first m say.  With the
        largest weights first, ``sum(w_i*v_i, i, 1, m)`` is what the m largest contribute; "parts
        of a sum" splits a sum.
    """

    indexed: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    indices: tuple[str, ...] = ("i", "j", "k", "l", "m")
    size: str = "n"
    sizes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    permutations: tuple[str, ...] = ()
    by_rows: tuple[str, ...] = ()

    @property
    def all_matrices(self) -> tuple[str, ...]:
        """The names of matrices, ``I`` among them if there are any."""
        named = (*self.matrices, *self.permutations)
        return tuple(dict.fromkeys((*named, "I"))) if named and "I" not in self.plain else named

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names that stand for how many indices there are."""
        return (self.size, *self.sizes, *self.parts)

    def index(self, name: str) -> sympy.Symbol:
        """Return the symbol of an index or of the size."""
        return sympy.Symbol(name, integer=True, positive=True)

    def symbol(self, name: str) -> sympy.Expr | None:
        """Return what a name that stands alone is, None if there is none."""
        if name in self.indices or name in self.numbers:
            return self.index(name)
        name = self._plain.get(name.replace("_", ""), name)
        if name == "I" and name in self.all_matrices:
            return sympy.S.One
        if name in self.permutations:
            return Permutation(name, commutative=False)
        if name in self.matrices:
            return sympy.Symbol(name, commutative=False)
        if name in self.plain:
            return sympy.Symbol(name, real=True, positive=name in self.positive or None)
        return {"pi": sympy.pi, "e": sympy.E}.get(name)

    def entry(self, name: str, indices: list[sympy.Expr]) -> sympy.Expr:
        """Return the entry of an indexed name."""
        return sympy.Function(name, real=True, positive=name in self.positive or None)(*indices)

    @functools.cached_property
    def _plain(self) -> dict[str, str]:
        return {
            name.replace("_", ""): name
            for name in (*self.plain, *self.matrices, *self.permutations)
        }

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The names that stand alone, without underscores."""
        return frozenset([*self._plain, *self.indices, *self.numbers])

    @functools.cached_property
    def calls(self) -> frozenset[str]:
        """What a bracket makes a call of: functions, operators and indexed names."""
        return (
            frozenset([*OPERATORS, *FUNCTIONS, *BOUND, *EXTREMA, *self.indexed, *self.by_rows])
            - self.words
        )

    @property
    def all(self) -> list[str]:
        """Every name, for a message."""
        both = [f"{base}_{self.indices[0]}" for base in self.indexed]
        return [*both, *self.plain, *self.all_matrices, *self.indices, *self.numbers]


def _late() -> Any:
    raise ParseError("reading this line takes too long")


def read_indexed(text: str, names: LineNames) -> sympy.Expr:
    """Read a formula with indexed names; raise `ParseError` for every text that is none.

    >>> read_indexed("p_i*(delta(i,j) - p[j])", LineNames(indexed=("p",)))
    (-p(j) + KroneckerDelta(i, j))*p(i)
    """
    return build_indexed(tree_of(text, names), str(text), names)


def tree_of(text: object, names: LineNames, *, latex: bool = False) -> Node:
    """Read a formula with indexed names as a tree, by the one grammar that there is."""
    tree = read_tree(text, implicit=True, functions=names.calls, words=names.words, latex=latex)
    return as_blocks(tree, str(text)) if names.all_matrices else tree


@within(_late)
def build_indexed(tree: Node, text: str, names: LineNames) -> sympy.Expr:
    """Return what a tree with indexed names says."""
    try:
        return _Builder(text, names).build(tree)
    except ParseError:
        raise
    except Exception as error:  # sympy's, of many kinds
        # sympy raises many kinds of exception when an expression makes no sense to it.
        raise ParseError("this cannot be read as a formula", text) from error


class _Builder:
    """Build the value of a tree; nothing is evaluated but numbers."""

    def __init__(self, text: str, names: LineNames) -> None:
        self.text, self.names = text, names

    def fail(self, reason: str, node: Node) -> NoReturn:
        raise ParseError(reason, self.text, node.token.position)

    def build(self, node: Node) -> sympy.Expr:
        method = getattr(self, f"_{node.kind}", None)
        if method is None:
            self.fail("expected one expression", node)
        value = method(node)
        if value in (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            self.fail("this is not defined", node)
        return value

    def _group(self, node: Node) -> sympy.Expr:
        return self.build(node.children[0])

    def _number(self, node: Node) -> sympy.Expr:
        try:
            return number_value(node.token.text)
        except ValueError as error:
            return self.fail(str(error), node)

    def _negative(self, node: Node) -> sympy.Expr:
        return -self.build(node.children[0])

    def _factorial(self, node: Node) -> sympy.Expr:
        return self._applied("factorial", [self.build(node.children[0])], node)

    def _percent(self, node: Node) -> sympy.Expr:
        return self.build(node.children[0]) / 100

    def _degrees(self, node: Node) -> sympy.Expr:
        return self.build(node.children[0]) * sympy.pi / 180

    def _transpose(self, node: Node) -> sympy.Expr:
        return Transposed(self.build(node.children[0]))

    def _list(self, node: Node) -> sympy.Expr:
        """Build a block matrix: a row ``[A, B]``, a column ``[A; B]``, or rows of rows."""
        if not self.names.all_matrices or not node.children:
            self.fail("expected one expression", node)
        try:
            return block([[self.build(entry) for entry in row] for row in rows_of_blocks(node)])
        except Misfit as error:
            return self.fail(str(error), node)

    _matrix = _list

    def _chain(self, node: Node) -> sympy.Expr:
        value = self.build(node.children[0])
        for sign, operand in zip(node.marks, node.children[1:], strict=True):
            right = self.build(operand)
            if sign == "/" and right == 0:
                self.fail("division by zero", operand)
            match sign:
                case "+":
                    value = value + right
                case "-":
                    value = value - right
                case "*":
                    value = value * right
                case "/":
                    value = value / right
                case _:
                    self.fail(f"{sign} is not read here", operand)
        return value

    def _power(self, node: Node) -> sympy.Expr:
        base, exponent = map(self.build, node.children)
        if exponent.has(Block):
            self.fail("an exponent cannot be a matrix", node.children[1])
        if exponent.is_number and not (exponent.is_Rational and abs(exponent) <= MAX_INDEXED_POWER):
            self.fail(f"a power may be at most {MAX_INDEXED_POWER}", node.children[1])
        if base.is_Rational and exponent.is_Rational:
            bits = max(abs(base.p).bit_length(), base.q.bit_length())
            if bits * abs(exponent) > MAX_BITS:
                self.fail("this power is too large", node.children[1])
        if base == 0 and not (exponent.is_Rational and exponent > 0):
            self.fail("this is not defined", node.children[1])
        return base**exponent

    def _name(self, node: Node) -> sympy.Expr:
        word = node.token.text
        if (value := self.names.symbol(word)) is not None:
            return value
        base, _, subscript = word.partition("_")
        if subscript and (base in self.names.indexed or base == "delta"):
            indices = [self.index(letter, node) for letter in indices_in(base, subscript)]
            if base == "delta":
                return self._applied(base, indices, node)
            return self.names.entry(base, indices)
        if word in self.names.calls:
            self.fail(f"{word} needs brackets: {word}(…)", node)
        return self.fail(f"unknown name {word}; the names are {', '.join(self.names.all)}", node)

    def index(self, letter: str, node: Node) -> sympy.Expr:
        if letter.isdigit():
            return sympy.Integer(letter)
        if letter in self.names.indices or letter in self.names.numbers:
            return self.names.index(letter)
        return self.fail(f"{letter} is no index; these are {', '.join(self.names.indices)}", node)

    def _indexed(self, node: Node) -> sympy.Expr:
        if node.token.text in self.names.indexed:
            return self.names.entry(node.token.text, [self.build(i) for i in node.children])
        return self._call(node)

    def _call(self, node: Node) -> sympy.Expr:
        word = node.token.text
        if word in self.names.indexed:
            return self.names.entry(word, [self.build(child) for child in node.children])
        if word in BOUND and (word != "max" or self._binds(node)):
            return self._bound(node)
        args = [self.build(child) for child in node.children]
        if word in EXTREMA:
            return EXTREMA[word](*args)
        if word in self.names.by_rows and len(args) == 1:
            return RowWise(sympy.Symbol(word), *args)
        return self._applied(word, args, node)

    def _applied(self, word: str, args: list[sympy.Expr], node: Node) -> sympy.Expr:
        if word in FUNCTIONS:
            least, most, function = FUNCTIONS[word]
        elif word in OPERATORS:
            function = OPERATORS[word]
            least = most = 2 if function is D else 1
        else:
            self.fail(f"unknown function {word}", node)
        if function is D and len(args) > 2 and all(by == args[1] for by in args[1:]):
            return functools.reduce(D, args)
        if not least <= len(args) <= most:
            self.fail(f"{word} takes {most} argument{'s' * (most > 1)}", node)
        variable = len(args) > 1 and (
            args[1].is_Symbol or args[1].func.__name__ in self.names.indexed
        )
        if function is D and not variable:
            self.fail("differentiate with respect to a variable: D(f, z_j)", node)
        if problem := argument_problem(word, args):
            self.fail(problem, node)
        try:
            return function(*args)
        except library.WrongArguments as error:
            return self.fail(str(error), node)

    def _renamed(self, parts: tuple[Node, ...]) -> tuple[Node, ...]:
        """Give an index with a letter of the student's own one that is declared."""
        letter = parts[1].token.text if len(parts) > 1 else ""
        own = len(letter) == 1 and letter.isalpha() and parts[1].kind == "name"
        if not own or letter in self.names.calls or self.names.symbol(letter) is not None:
            return parts
        return with_own_letter(parts, letter, self.names.indices)

    def _binds(self, node: Node) -> bool:
        """Whether ``max(f, k)`` is over all k, and not the larger one of two."""
        index = node.children[1] if len(node.children) in (2, 4) else node
        index = index.children[0] if index.kind == "tuple" and index.children else index
        return index.kind == "name" and index.token.text in self.names.indices

    def _bound(self, node: Node) -> sympy.Expr:
        """Build ``sum(f, k)``, ``sum(f, k, 1, n)``, ``sum(f, (k, 1, n))`` or ``Σ_{k≠j} f``."""
        kind = Total if node.token.text in BOUND[:2] else Largest
        parts = node.children
        if len(parts) == 2 and parts[1].kind == "tuple":
            parts = (parts[0], *parts[1].children)
        parts = self._renamed(parts)
        left_out = self.build(parts[2]) if node.marks == ("!=",) else None
        args = [self.build(part) for part in parts[: 2 if node.marks else 4]]
        if len(args) == 2:
            args += [sympy.Integer(1), self.names.index(self.names.size)]
        if len(args) != 4 or not args[1].is_Symbol or args[1].name not in self.names.indices:
            self.fail("write sum(f, k) or sum(f, k, 1, n) with an index k", node)
        args[0] = apart(args[0], args[1], self.names.indices)
        if left_out is None:
            return kind(*args)
        if kind is Largest:
            self.fail("write a maximum over every k: max(f, k)", node)
        return kind(*args) - args[0].xreplace({args[1]: left_out})
