"""Whether a formula that can be read says something: one number, in known names, that is defined.

The grader builds an expression and refuses what is none; this finds the same without building, so
that a notebook says it, too.  A name stands for a number of its own, and what comes to 0 with
these is 0 whatever they are: ``1/(x - x)`` is not defined.
"""

from __future__ import annotations

import cmath
import itertools
import operator
from fractions import Fraction

from autograder.algebra.reading.amounts import (
    EXTREMA,
    LARGEST_FACTORIAL,
    Amount,
    applied,
    combined,
    exact_power,
    opaque,
    positive,
    takes_too_long,
)
from autograder.algebra.reading.block_rows import rows_of_blocks
from autograder.algebra.reading.magnitudes import (
    about_what,
    is_large_argument,
    is_pole,
    power_problem,
    sized,
)
from autograder.algebra.reading.sense_of_indices import INFINITE, SUMS, IndexedSense
from autograder.algebra.reading.tree import Node, indicator, nodes_of, unbracketed, written_delta

_SQUARE_MATRIX = ("det", "trace", "tr")
_OF_ONE_MATRIX = (*_SQUARE_MATRIX, "norm", "abs", "Abs", "transpose", "diag")
_EXPONENTIALS = ("exp", "sinh", "cosh", "tanh", "sech", "csch", "coth", "erf", "sigmoid")
_OUTSIDE = {"log": 0, "ln": 0, "log2": 0, "log10": 0, "log1p": -1}  # where there is no value
_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_RELATIONS |= {"=": operator.eq, "!=": operator.ne}
MOST_EXACT_POWER = 64  # of a number that stands for a name
_MOST_OF_MATRIX = 8  # the power that is read of one


class Sense(IndexedSense):
    """Goes through a tree as the builders do, and refuses what they would."""

    def _group(self, node: Node) -> Amount:
        return self.number(node.children[0])

    def _number(self, node: Node) -> Amount:
        mantissa, _, exponent = node.token.text.lower().partition("e")
        if len(mantissa) > 60 or len(exponent) > 5 or abs(int(exponent or 0)) > LARGEST_FACTORIAL:
            self.fail("this number is out of range", node)
        above, _, below = mantissa.partition("/")
        return Amount(Fraction(f"{above}e{exponent or 0}") / int(below or 1), True, True)

    def _negative(self, node: Node) -> Amount:
        minus, found = Amount(Fraction(-1), True, True), self.number(node.children[0])
        return sized(combined("*", minus, found), "*", minus, found)

    def _chain(self, node: Node) -> Amount:
        total = self.number(node.children[0])
        for mark, child in zip(node.marks, node.children[1:], strict=True):
            right = self.number(child)
            if mark == "/" and right.number == 0:
                self.fail("division by zero", child)
            if mark == "∘" and self.words.indices:
                self.fail("∘ is not read here", child)
            if not self.words.indices and right.matrix and mark == "/":
                self.fail("there is no division by a matrix", child)
            if not self.words.indices and mark in "+-" and total.matrix != right.matrix:
                self.fail("these cannot be added: their sizes differ", child)
            total = sized(combined(mark, total, right), mark, total, right)
        return total

    def _power(self, node: Node) -> Amount:
        base, exponent = map(self.number, node.children)
        if exponent.matrix:
            self.fail("an exponent cannot be a matrix", node.children[1])
        if base.matrix and not self.words.indices:
            times = exponent.number if exponent.exact and exponent.constant else None
            if times is None or times.denominator != 1 or not 0 <= times <= _MOST_OF_MATRIX:
                self.fail("only small powers of square matrices are read", node)
            return Amount(matrix=True)
        if base.matrix and base.number != 0 and exponent[:3] == (Fraction(0), True, True):
            return Amount(Fraction(1), True, True)
        above = exponent.exact and exponent.constant and positive(exponent)
        if base.number == 0 and not above:
            self.fail("this power is not defined", node.children[1])
        if problem := power_problem(base, exponent, indexed=bool(self.words.indices)):
            self.fail(problem, node.children[1])
        if base.number == 0:
            return Amount(Fraction(0), True, True)
        return self._raised(base, exponent)._replace(matrix=base.matrix)

    def _raised(self, base: Amount, exponent: Amount) -> Amount:
        """Return a power, exactly where it is one of numbers, or a root that is one."""
        both = base.constant and exponent.constant
        power = exponent.number if exponent.exact else None
        if (base.number == 1 and base.exact) or power == 1:
            return base
        whole = power is not None and power.denominator == 1
        if power is not None and (both or whole) and base.number in self.roots:
            below, degree = self.roots[base.number]
            return self._raised(below, Amount(power * degree, True, True))
        if both and power is not None and base.exact and base.number is not None:
            if (value := exact_power(base.number, power)) is not None:
                return Amount(value, True, True)
            found = Amount(opaque("^", base, exponent), constant=True)
            if found.number is not None and base.number > 0:
                self.roots[found.number] = (base, power)
            return sized(found, "^", base, exponent)
        if (
            whole
            and power is not None
            and base.number is not None
            and abs(power) <= MOST_EXACT_POWER
        ):
            found = Amount(base.number ** int(power), not power, both or not power)
        else:
            found = Amount(opaque("^", base, exponent), constant=both)
            if found.number is not None and power is not None:
                self.roots[found.number] = (base, power)
        return sized(found, "^", base, exponent)

    def _factorial(self, node: Node) -> Amount:
        return self._function("factorial", [self.number(node.children[0])], node)

    def _percent(self, node: Node) -> Amount:
        found, hundred = self.number(node.children[0]), Amount(Fraction(100), True, True)
        return sized(combined("/", found, hundred), "/", found, hundred)

    def _degrees(self, node: Node) -> Amount:
        found = self.number(node.children[0])
        turned = found._replace(exact=found.number == 0)
        return sized(turned, "*", found, Amount(constant=True, about=cmath.pi / 180))

    def _transpose(self, node: Node) -> Amount:
        inner = unbracketed(node.children[0])
        found = self.number(inner)
        names = {n.token.text for n in nodes_of(inner)} & {*self.words.blocks}
        if inner.kind == "transpose":  # which is undone
            return self.number(inner.children[0])
        if found.constant or not names:
            return found
        return found._replace(number=opaque("transpose", found))

    def _list(self, node: Node) -> Amount:
        """Look at a block matrix, by whichever sign it is written."""
        if not self.words.blocks or not node.children:
            self.fail("expected one expression, not a list", node)
        rows = rows_of_blocks(node)
        if len({*map(len, rows)}) != 1:
            self.fail("the rows have different numbers of blocks", node)
        entries = [*itertools.chain(*rows)]
        if any(map(_is_of_blocks, entries)):
            self.fail("a block matrix stands among the blocks", node)
        found = [*map(self.number, entries)]
        return Amount(opaque(f"{len(rows)} rows", *found), matrix=True) if found[1:] else found[0]

    def _matrix(self, node: Node) -> Amount:
        if self.words.indices:
            return self._list(node)
        rows = [r.children if r.kind in ("list", "tuple") else (r,) for r in node.children]
        if len({*map(len, rows)}) != 1 and not self.words.blocks:
            self.fail("every row of a matrix must have the same number of entries", node)
        for entry in itertools.chain(*rows):
            self.number(entry)
        return Amount(matrix=True)

    def _call(self, node: Node) -> Amount:
        word, args = node.token.text, node.children
        if self.words.indices and word in self.words.indexed:
            return self._entry(word, [self.number(child) for child in args], node)
        binds = word == "Largest" or (word in EXTREMA and self._binds(node))
        if word in SUMS or (self.words.indices and binds):
            return self._running(node)
        if word == "Matrix" and len(args) == 1 and args[0].kind == "list":
            return self._matrix(args[0])
        if word == "Matrix":
            self.fail("Matrix cannot be used like this", node)
        if word == "Largest":
            self.fail("the largest over an index is not read here: write max(a, b)", node)
        if word == "cases":
            return self._cases(node)
        if word in ("diff", "Derivative", "D") and word in self.words.calls:
            return self._derivative(node)
        if word in ("limit", "Limit"):
            return self._limit(node)
        if (delta := written_delta(node, self._is_known)) and self._has_delta:
            return self.number(delta)
        return self._function(word, [self.number(argument) for argument in args], node)

    def _is_known(self, word: str) -> bool:
        return bool(self.words.indices) or word in self.words.known

    @property
    def _has_delta(self) -> bool:
        return any(name.startswith("delta") for name in self.words.known)

    def _binds(self, node: Node) -> bool:
        index = node.children[1] if len(node.children) in (2, 4) else node
        index = index.children[0] if index.kind == "tuple" and index.children else index
        return index.kind == "name" and index.token.text in self.words.indices

    def _cases(self, node: Node) -> Amount:
        parts = [*node.children]
        if self.words.indices:
            self.fail("cases are not read here", node)
        rest = [self.number(parts.pop())] if len(parts) % 2 else []
        pairs = zip(parts[::2], parts[1::2], strict=True)
        found = [(self.number(value), self._holds(condition)) for value, condition in pairs]
        amounts = [*(amount for amount, _ in found), *rest]
        if any(one.matrix for one in amounts):
            self.fail("cases of matrices are not read", node)
        if len({one.number for one in amounts}) == 1:
            return amounts[0]
        for amount, holds in found:
            if holds is not False:
                return amount if holds else Amount()
        return amounts[-1]

    def _holds(self, condition: Node) -> bool | None:
        """Tell whether a condition holds; None where that is not the same everywhere."""
        condition = unbracketed(condition)
        if condition.kind != "relation" or "≈" in condition.marks:
            self.fail("expected a condition, such as x > 0", condition)
        sides = [about_what(self.number(side)) for side in self._sides(condition)]
        known = [side.real for side in sides if side is not None]
        if len(known) < len(condition.children):
            return None
        links = zip(condition.marks, known, known[1:], strict=False)
        return all(_RELATIONS[mark](left, right) for mark, left, right in links)

    def _sides(self, condition: Node) -> tuple[Node, ...]:
        """Return what is compared, or the delta where two indices are."""
        delta = indicator(condition.token, condition)
        names = all(side.kind == "name" for side in condition.children)
        if not (delta and names and self._has_delta):
            return condition.children
        plain = {side.token.text.replace("_", "") for side in condition.children}
        return condition.children if plain <= self.words.known.keys() else (delta,)

    def _derivative(self, node: Node) -> Amount:
        if len(node.children) < 2:
            self.fail("differentiate with respect to a variable: diff(f, x)", node)
        found = [self.number(node.children[0])]
        if found[0].matrix and not self.words.indices:
            self.fail("differentiate with respect to a variable: diff(f, x)", node)
        for by in node.children[1:]:
            times = by.kind == "number" and by is not node.children[1] and by.token.text in "123"
            if by.kind == "tuple" and self.words.indices:
                self.fail("expected one expression, not a list", by)
            variable = by.children[0] if by.kind == "tuple" and by.children else by
            if times and not self.words.indices:
                found += found[-1:] * (int(by.token.text) - 1)
                continue
            while variable.token.text in EXTREMA and len(variable.children) == 1:
                variable = variable.children[0]
            is_entry = variable.kind in ("indexed", "call")
            entry = is_entry and variable.token.text in self.words.indexed
            if variable.kind != "name" and not entry:
                self.fail("differentiate with respect to a variable: diff(f, x)", by)
            found.append(self.number(variable))
            if self.words.indices and found[-1].number != found[1].number:
                self.fail(f"{node.token.text} takes 2 arguments", node)
            defined = variable.token.text.replace("_", "") in self.words.defined
            if found[-1].constant or defined or variable.token.text.startswith("delta_"):
                self.fail("differentiate with respect to a variable: diff(f, x)", by)
        return Amount(opaque("diff", *found))

    def _limit(self, node: Node) -> Amount:
        if len(node.children) not in (3, 4) or node.token.text not in self.words.calls:
            self.fail("write limit(f, x, a)", node)
        inner, variable, to = node.children[:3]
        if self.number(inner).matrix:
            self.fail("write limit(f, x, a)", node)
        if variable.kind != "name" or self.number(variable).constant:
            self.fail("write limit(f, x, a)", variable)
        end = to.children[0] if to.kind == "negative" else to
        if not (end.kind == "name" and end.token.text in INFINITE):
            self.number(to)
        return Amount()

    def _indexed(self, node: Node) -> Amount:
        base, places = node.token.text, list[Amount | str]()
        for child in node.children:
            word = child.token.text
            free = child.kind == "name" and word not in self.bound and not self.words.indices
            places.append(word if free else self.number(child))
        if self.words.indices and base not in self.words.indexed:
            if base not in self.words.calls:
                self.fail(f"unknown name {base}", node)
            return self._function(base, [p for p in places if isinstance(p, Amount)], node)
        return self._entry(base, places, node)

    def _function(self, word: str, args: list[Amount], node: Node) -> Amount:
        self._check_arguments(word, args, node)
        if reason := _undefined(word, args):
            self.fail(reason, node)
        if word in ("KroneckerDelta", "delta"):
            return self.delta(args, node)
        if word == "sqrt" and args[0].number != 0:
            return self._raised(args[0], Amount(Fraction(1, 2), True, True))
        found = sized(applied(word, args), word, *args)
        of_blocks = bool(self.words.blocks) and any(one.matrix for one in args)
        return found._replace(matrix=found.matrix or of_blocks)

    def _check_arguments(self, word: str, args: list[Amount], node: Node) -> None:
        """Refuse a function that is not known, or that takes no such arguments."""
        if word not in self.words.calls:
            self.fail(f"unknown function {word}", node)
        least, most = self.words.calls[word]
        if not least <= len(args) <= most:
            self.fail(f"{word} takes {most} argument{'s' * (most > 1)}", node)
        if word in _SQUARE_MATRIX and not args[0].matrix:
            self.fail("this needs a square matrix", node)
        if any(one.matrix for one in args) and word not in _OF_ONE_MATRIX and not self.words.blocks:
            self.fail(f"{word} takes numbers, not a matrix", node)


def _undefined(word: str, args: list[Amount]) -> str:
    """Say why a function has no value for these arguments; "" where it may have one."""
    first = args[0]
    known = first.number if first.exact and first.constant else None
    if word in _EXPONENTIALS and first.constant and is_large_argument(first):
        return "this number is too large"
    if first.constant and is_pole(word, first):
        return "this is not defined"
    if word == "factorial" and known is not None and not 0 <= known <= LARGEST_FACTORIAL:
        return f"factorials are read from 0 to {LARGEST_FACTORIAL}"
    if takes_too_long(word, args):
        return f"this number is too large for {word}"
    if word in _OUTSIDE and first.number == _OUTSIDE[word]:
        return "this is not defined"
    if word == "log" and len(args) == 2 and args[1].number in (0, 1):
        return "there is no logarithm to this base"
    if word == "root" and args[1].number == 0:
        return "there is no root of degree 0"
    return ""


def _is_of_blocks(node: Node) -> bool:
    """Whether this is a block matrix, in brackets or not; of one block, it is that block."""
    node = unbracketed(node)
    rows = node.kind in ("list", "matrix")
    return _is_of_blocks(node.children[0]) if rows and len(node.children) == 1 else rows
