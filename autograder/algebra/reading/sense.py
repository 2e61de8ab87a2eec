"""Whether a formula that can be read says something: one number, in known names, that is defined.

The grader builds an expression and refuses what is none; this finds the same without building, so
that a notebook says it, too.  A name stands for a number of its own, and what comes to 0 with
these is 0 whatever they are: ``1/(x - x)`` is not defined.
"""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import NoReturn

from autograder.algebra.reading.amounts import (
    EXTREMA,
    LARGEST_FACTORIAL,
    Amount,
    Vocabulary,
    applied,
    combined,
    opaque,
    positive,
    standing_for,
    takes_too_long,
)
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.magnitudes import is_large_argument, is_pole, power_problem
from autograder.algebra.reading.tree import Node, bound_parts, indicator, is_constant, shares_a_name

_SUMS = ("sum", "Sum", "product", "prod", "Product")
_SQUARE_MATRIX = ("det", "trace", "tr")
_OF_ONE_MATRIX = (*_SQUARE_MATRIX, "norm", "abs", "Abs", "transpose", "diag")
_EXPONENTIALS = ("exp", "sinh", "cosh", "tanh", "sech", "csch", "coth", "erf", "sigmoid")
_INFINITE = ("oo", "infinity", "infty", "inf")
_NO_NUMBERS = (*_INFINITE, "True", "False", "EmptySet")
MOST_TERMS = 400
MOST_EXACT_POWER = 64
LARGEST_ARGUMENT = 1000
_MOST_BITS = 4000


class Sense:
    """Goes through a tree as the builders do, and refuses what they would."""

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text, self.words = text, words
        self.bound: dict[str, range | None] = {}

    def fail(self, reason: str, node: Node) -> NoReturn:
        """Raise the error that points at `node`."""
        raise ParseError(reason, self.text, node.token.position)

    def number(self, node: Node) -> Amount:
        """Return what a node comes to, which must be a number."""
        method = getattr(self, f"_{node.kind}", None)
        if method is None:
            kind = {"relation": "an equation", "list": "a list", "tuple": "a list"}
            self.fail(f"expected one expression, not {kind.get(node.kind, 'this')}", node)
        found: Amount = method(node)
        size = max(map(abs, (found.number or Fraction(0)).as_integer_ratio()))
        return found._replace(number=None, exact=False) if size >> _MOST_BITS else found

    def _group(self, node: Node) -> Amount:
        return self.number(node.children[0])

    def _number(self, node: Node) -> Amount:
        mantissa, _, exponent = node.token.text.lower().partition("e")
        if len(mantissa) > 60 or len(exponent) > 5 or abs(int(exponent or 0)) > LARGEST_FACTORIAL:
            self.fail("this number is out of range", node)
        above, _, below = mantissa.partition("/")
        return Amount(Fraction(f"{above}e{exponent or 0}") / int(below or 1), True, True)

    def _name(self, node: Node) -> Amount:
        word = node.token.text
        base, _, subscript = word.partition("_")
        runs = {subscript, *subscript} & self.bound.keys()
        if word not in self.bound and runs and not self.words.indices:
            if not self._carries(base, subscript, node):
                self.fail(f"unknown name {word}", node)
            return Amount(standing_for(word))
        if is_constant(node, self.text, self.words.known, self.words.constants):
            return Amount(standing_for(word), constant=True)
        if word in self.bound or word.replace("_", "") in self.words.known:
            return Amount(standing_for(self.words.known.get(word.replace("_", ""), word)))
        base, mark, subscript = word.partition("_")
        if mark and self._carries(base, subscript, node):
            return Amount(standing_for(word))
        if word in _NO_NUMBERS and word in self.words.constants:
            self.fail("this is not defined", node)
        if word not in self.words.constants:
            if word in self.words.calls:
                self.fail(f"{word} needs brackets: {word}(…)", node)
            self.fail(f"unknown name {word}", node)
        return Amount(standing_for(word), constant=True)

    def _carries(self, base: str, subscript: str, node: Node) -> bool:
        """Whether ``p_k`` is a name because p carries indices, or k runs."""
        letters = [subscript] if subscript in self.bound else [*subscript]
        if self.words.indices:
            if base not in self.words.indexed:
                return False
            for letter in re.findall(r"[A-Za-z]|\d+", subscript):
                if not letter.isdigit() and letter not in {*self.words.indices, *self.bound}:
                    self.fail(f"{letter} is no index", node)
            return True
        if base == "delta" and len(letters) == 2:
            plain = {f"delta{letters[0]}{letters[1]}", f"delta{letters[1]}{letters[0]}"}
            return bool(plain & self.words.known.keys() or self.bound.keys() & set(letters))
        if not self.bound.keys() & set(letters):
            return False
        runs = [self.bound.get(letter, (letter,)) for letter in letters]
        if any(run is None for run in runs):
            return self._is_family(base)
        written = itertools.islice(itertools.product(*(run or () for run in runs)), MOST_TERMS)
        return all(f"{base}{''.join(map(str, at))}" in self.words.known for at in written)

    def _is_family(self, base: str) -> bool:
        digits = tuple(f"{base}{digit}" for digit in range(10))
        names = self.words.known.values()
        return any(name == base or name.startswith((f"{base}_", *digits)) for name in names)

    def _indexed(self, node: Node) -> Amount:
        base, own = node.token.text, []
        for child in node.children:
            free = child.kind == "name" and child.token.text not in self.bound
            own.append(child.token.text if free and not self.words.indices else "")
            if not own[-1]:
                index = self.number(child)
                own[-1] = str(index.number) if index.exact and index.constant else ""
        if self.words.indices:
            if base not in self.words.indexed and base not in self.words.calls:
                self.fail(f"unknown name {base}", node)
        elif not (base == "delta" and len(own) == 2):
            whole = all(own) and f"{base}{''.join(own)}" in self.words.known
            if not whole and (all(own) or not self._is_family(base)):
                self.fail(f"unknown name {base}", node)
        return Amount()

    def _negative(self, node: Node) -> Amount:
        return combined("*", Amount(Fraction(-1), True, True), self.number(node.children[0]))

    def _chain(self, node: Node) -> Amount:
        total = self.number(node.children[0])
        for mark, child in zip(node.marks, node.children[1:], strict=True):
            right = self.number(child)
            if mark == "/" and right.number == 0:
                self.fail("division by zero", child)
            if mark == "∘" and self.words.indices:
                self.fail("∘ is not read here", child)
            total = combined(mark, total, right)
        return total

    def _power(self, node: Node) -> Amount:
        base, exponent = map(self.number, node.children)
        both = base.constant and exponent.constant
        if base.number == 0 and exponent.exact and exponent.constant and not positive(exponent):
            self.fail("this power is not defined", node.children[1])
        above = node.children[1].token.text in self.words.indices or exponent.exact
        if base.number == 0 and self.words.indices and not (above and positive(exponent)):
            self.fail("this is not defined", node.children[1])
        if problem := power_problem(node, base, exponent, indexed=bool(self.words.indices)):
            self.fail(problem, node.children[1])
        power = exponent.number if exponent.exact else None
        small = power is not None and abs(power) <= MOST_EXACT_POWER and power.denominator == 1
        if small and power is not None and base.number is not None:
            return Amount(base.number ** int(power), base.exact or not power, both or not power)
        return Amount(opaque("^", base, exponent), constant=both)

    def _factorial(self, node: Node) -> Amount:
        return self._function("factorial", [self.number(node.children[0])], node)

    def _percent(self, node: Node) -> Amount:
        return combined("/", self.number(node.children[0]), Amount(Fraction(100), True, True))

    def _degrees(self, node: Node) -> Amount:
        found = self.number(node.children[0])
        return found._replace(exact=found.number == 0)

    def _transpose(self, node: Node) -> Amount:
        return self.number(node.children[0])

    def _list(self, node: Node) -> Amount:
        if not self.words.blocks or not node.children:
            self.fail("expected one expression, not a list", node)
        for row in node.children:
            for entry in row.children if row.kind == "list" else (row,):
                self.number(entry)
        return Amount(matrix=True)

    def _matrix(self, node: Node) -> Amount:
        rows = [r.children if r.kind in ("list", "tuple") else (r,) for r in node.children]
        if len({*map(len, rows)}) != 1 and not self.words.blocks:
            self.fail("every row of a matrix must have the same number of entries", node)
        for entry in itertools.chain(*rows):
            self.number(entry)
        return Amount(matrix=True)

    def _call(self, node: Node) -> Amount:
        word, args = node.token.text, node.children
        if self.words.indices and word in self.words.indexed:
            for child in args:
                self.number(child)
            return Amount()
        binds = word == "Largest" or (word in EXTREMA and self._binds(node))
        if word in _SUMS or (self.words.indices and binds):
            return self._running(node)
        if word == "Matrix" and len(args) == 1 and args[0].kind == "list":
            return self._matrix(args[0])
        if word == "Largest":
            self.fail("the largest over an index is not read here: write max(a, b)", node)
        if word == "cases":
            return self._cases(node)
        if word in ("diff", "Derivative", "D") and word in self.words.calls:
            return self._derivative(node)
        if word in ("limit", "Limit"):
            return self._limit(node)
        return self._function(word, [self.number(argument) for argument in args], node)

    def _binds(self, node: Node) -> bool:
        index = node.children[1] if len(node.children) in (2, 4) else node
        index = index.children[0] if index.kind == "tuple" and index.children else index
        return index.kind == "name" and index.token.text in self.words.indices

    def _running(self, node: Node) -> Amount:
        parts = bound_parts(node)
        sized = len(parts) == 4 or (self.words.indices and len(parts) == 2) or node.marks
        if node.token.text in _SUMS[2:] and self.words.indices:
            self.fail(f"unknown function {node.token.text}", node)
        if not sized or len(parts) not in (2, 3, 4) or (node.marks and not self.words.indices):
            self.fail(f"write the range: {node.token.text}(term, k, 1, n)", node)
        if parts[1].kind != "name":
            self.fail("expected the name of the running index", parts[1])
        letter = parts[1].token.text
        ends = [self.number(part) for part in parts[2:4]]
        run: range | None = None
        if not self.words.indices and all(end.constant for end in ends):
            if not all(
                (end.exact and end.number and end.number.denominator == 1) or end.number == 0
                for end in ends
            ):
                self.fail("a range goes from a whole number to one", parts[1])
            low, high = (int(end.number or 0) for end in ends)
            if high - low >= MOST_TERMS or max(abs(low), abs(high)) > 10**6:
                self.fail(f"at most {MOST_TERMS} terms are read", parts[1])
            run = range(low, high + 1)
        hidden = dict(self.bound)
        self.bound[letter] = run
        if (run is None or len(run)) and self.number(parts[0]).matrix and not self.words.indices:
            self.fail("a sum of matrices is not read", parts[0])
        self.bound = hidden
        return Amount()

    def _cases(self, node: Node) -> Amount:
        parts = [*node.children]
        if self.words.indices:
            self.fail("cases are not read here", node)
        found = [self.number(parts.pop())] if len(parts) % 2 else []
        for value, condition in zip(parts[::2], parts[1::2], strict=True):
            found.append(self.number(value))
            while condition.kind == "group":
                condition = condition.children[0]
            if condition.kind != "relation" or "≈" in condition.marks:
                self.fail("expected a condition, such as x > 0", condition)
            for side in self._sides(condition):
                self.number(side)
        if len({one.number for one in found}) == 1:
            return found[0]
        return Amount()

    def _sides(self, condition: Node) -> tuple[Node, ...]:
        """Return what is compared, or the delta where two indices are."""
        delta = indicator(condition.token, condition)
        names = all(side.kind == "name" for side in condition.children)
        if not (delta and names and any(n.startswith("delta") for n in self.words.known)):
            return condition.children
        plain = {side.token.text.replace("_", "") for side in condition.children}
        return condition.children if plain <= self.words.known.keys() else (delta,)

    def _derivative(self, node: Node) -> Amount:
        if len(node.children) < 2:
            self.fail("differentiate with respect to a variable: diff(f, x)", node)
        if self.number(node.children[0]).matrix and not self.words.indices:
            self.fail("differentiate with respect to a variable: diff(f, x)", node)
        for by in node.children[1:]:
            times = by.kind == "number" and by is not node.children[1] and by.token.text in "123"
            variable = by.children[0] if by.kind == "tuple" and by.children else by
            if times and not self.words.indices:
                continue
            while variable.token.text in EXTREMA and len(variable.children) == 1:
                variable = variable.children[0]
            is_entry = variable.kind in ("indexed", "call")
            entry = is_entry and variable.token.text in self.words.indexed
            if variable.kind != "name" and not entry:
                self.fail("differentiate with respect to a variable: diff(f, x)", by)
            if self.number(variable).constant or variable.token.text.startswith("delta_"):
                self.fail("differentiate with respect to a variable: diff(f, x)", by)
        if node.children[0].kind == "name" and node.children[0].token.text in self.words.calls:
            return Amount()  # dT/dx of a function T
        if not self.words.indices and not shares_a_name(node.children[0], node.children[1]):
            return Amount(Fraction(0))  # once it is carried out
        if not self.words.indices and node.children[0].token.text == node.children[1].token.text:
            return Amount(Fraction(1))
        return Amount()

    def _limit(self, node: Node) -> Amount:
        if len(node.children) not in (3, 4) or node.token.text not in self.words.calls:
            self.fail("write limit(f, x, a)", node)
        inner, variable, to = node.children[:3]
        self.number(inner)
        if variable.kind != "name" or self.number(variable).constant:
            self.fail("write limit(f, x, a)", variable)
        end = to.children[0] if to.kind == "negative" else to
        if not (end.kind == "name" and end.token.text in _INFINITE):
            self.number(to)
        return Amount()

    def _function(self, word: str, args: list[Amount], node: Node) -> Amount:
        if word not in self.words.calls:
            self.fail(f"unknown function {word}", node)
        least, most = self.words.calls[word]
        if not least <= len(args) <= most:
            self.fail(f"{word} takes {most} argument{'s' * (most > 1)}", node)
        if word in _SQUARE_MATRIX and not args[0].matrix:
            self.fail("this needs a square matrix", node)
        if any(one.matrix for one in args) and word not in _OF_ONE_MATRIX and not self.words.blocks:
            self.fail(f"{word} takes numbers, not a matrix", node)
        first = args[0]
        known = first.number if first.exact and first.constant else None
        if word in _EXPONENTIALS and first.constant and is_large_argument(node.children[0]):
            self.fail("this number is too large", node)
        if first.constant and is_pole(word, node.children[0]):
            self.fail("this is not defined", node)
        if word == "factorial" and known is not None and not 0 <= known <= LARGEST_FACTORIAL:
            self.fail(f"factorials are read from 0 to {LARGEST_FACTORIAL}", node)
        if takes_too_long(word, args):
            self.fail(f"this number is too large for {word}", node)
        if word in ("log", "ln", "log2", "log10") and first.number == 0:
            self.fail("this is not defined", node)
        if word == "log1p" and first.number == -1:
            self.fail("this is not defined", node)
        if word == "log" and len(args) == 2 and args[1].number in (0, 1):
            self.fail("there is no logarithm to this base", node)
        if word == "root" and args[1].number == 0:
            self.fail("there is no root of degree 0", node)
        return applied(word, args)
