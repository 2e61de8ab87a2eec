"""The value of a formula at a point, by floating-point numbers: enough to see that lines differ.

It computes what practice needs and no more: arithmetic, functions, sums over an index, derivatives
by differences.  What it can't compute it says so.  Whether a step is proved is the grader's to say.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Mapping
from typing import Any

from autograder.algebra.reading.tree import Node, bound_parts

#: Functions of one number.
_OF_ONE_NUMBER: dict[str, Any] = {
    "exp": cmath.exp,
    "log": cmath.log,
    "ln": cmath.log,
    "sqrt": cmath.sqrt,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "tanh": cmath.tanh,
    "abs": abs,
}
_DERIVATIVES = ("diff", "D")
_SUMS = ("sum", "Sum")
_STEP = 2e-4  # of a derivative by five points: as good as rounding allows, for two of them, too
_AS_NEAR = 1e-5


class NoValue(ValueError):
    """Something that is not computed here."""


class Point:
    """Numbers for all names: as they are drawn, the same for the same seed.

    Parameters
    ----------
    definitions
        What names stand for, as trees, by name; ``p_i`` says it of every entry of p.
    indexed
        Names that carry indices.
    positive
        Names that are larger than 0.
    sizes
        Names of numbers of entries, those of a sum without ends first: from 2 on.
    """

    def __init__(
        self,
        seed: int,
        definitions: Mapping[str, Node],
        *,
        indexed: tuple[str, ...] = (),
        positive: tuple[str, ...] = (),
        sizes: tuple[str, ...] = (),
    ) -> None:
        self._random = random.Random(seed)
        self._indexed, self._positive, self._sizes = indexed, positive, sizes
        self.many = 2 + seed % 3
        self._alike = seed == 0  # all indices are
        self._meant = {name.replace("_", ""): (name, tree) for name, tree in definitions.items()}
        self._entries = {
            name.partition("_")[0]: (name.partition("_")[2], tree)
            for name, tree in definitions.items()
            if name.partition("_")[0] in indexed
        }
        self._moved: dict[str, complex] = {}
        self.numbers: dict[str, float] = {}

    def value(self, node: Node, bound: Mapping[str, int] | None = None) -> complex:
        """Return the value of a formula, where some indices are bound."""
        bound = bound or {}
        try:
            return complex(self._value(node, bound))
        except (ArithmeticError, ValueError) as error:
            raise NoValue(str(error)) from None

    def _value(self, node: Node, bound: Mapping[str, int]) -> complex:
        kind, word, children = node.kind, node.token.text, node.children
        if kind == "number":
            above, _, below = word.partition("/")
            return float(above) / float(below or 1)
        if kind == "name":
            return self._named(word, bound)
        if kind == "group" and len(children) == 1:
            return self._value(children[0], bound)
        if kind == "negative":
            return -self._value(children[0], bound)
        if kind == "chain":
            return self._chain(node, bound)
        if kind == "power":
            return self._value(children[0], bound) ** self._value(children[1], bound)
        if kind == "factorial":
            return math.factorial(round(self._value(children[0], bound).real))
        if kind == "call" or (kind == "indexed" and word == "delta"):
            return self._called(word, node, bound)
        raise NoValue(kind)

    def _chain(self, node: Node, bound: Mapping[str, int]) -> complex:
        first, *others = (self._value(child, bound) for child in node.children)
        for mark, other in zip(node.marks, others, strict=True):
            if mark == "+":
                first += other
            elif mark == "-":
                first -= other
            elif mark == "*":
                first *= other
            else:
                first /= other
        return first

    def _called(self, word: str, node: Node, bound: Mapping[str, int]) -> complex:
        if word in _DERIVATIVES:
            return self._derivative(node, bound)
        parts = bound_parts(node)
        if word in _SUMS and len(parts) > 1:
            body, index, *ends = parts
            low, high = (
                (round(self._value(end, bound).real) for end in ends) if ends else (1, self.many)
            )
            places = range(low, high + 1)
            return sum(self._value(body, {**bound, index.token.text: at}) for at in places)
        if word == "delta" and len(node.children) == 2:
            one, other = (self._value(child, bound) for child in node.children)
            return float(one == other)
        if word in _OF_ONE_NUMBER and len(node.children) == 1:
            return complex(_OF_ONE_NUMBER[word](self._value(node.children[0], bound)))
        raise NoValue(word)

    def _derivative(self, node: Node, bound: Mapping[str, int]) -> complex:
        """Differentiate by one name, once: by five points."""
        body, by, *more = node.children
        if more or by.kind != "name":
            raise NoValue("a higher derivative")
        key = self._key(by.token.text, bound)
        self._value(by, bound)  # it has a number now
        before = self._moved.get(key, 0.0)
        found = {}
        for steps in (-2, -1, 1, 2):
            self._moved[key] = before + steps * _STEP
            found[steps] = self._value(body, bound)
        self._moved[key] = before
        return (8 * (found[1] - found[-1]) - (found[2] - found[-2])) / (12 * _STEP)

    def _named(self, word: str, bound: Mapping[str, int]) -> complex:
        plain = word.replace("_", "")
        if plain in bound:
            return bound[plain]
        base, _, index = word.partition("_")
        if base == "delta" and len(index) == 2:
            return float(self._place(index[0], bound) == self._place(index[1], bound))
        if base in self._indexed and index:
            return self._entry(base, index, bound)
        if plain in self._meant:
            return self._value(self._meant[plain][1], {})
        if plain in self._sizes:
            return self.many + self._sizes.index(plain)
        if plain in ("pi", "e") and plain not in self.numbers:
            return math.pi if plain == "pi" else math.e
        if self._indexed and plain in "ijklm":
            return self._place(plain, bound)
        return self._drawn(plain)

    def _entry(self, base: str, index: str, bound: Mapping[str, int]) -> complex:
        places = [self._place(letter, bound) for letter in index]
        if base in self._entries:
            letters, tree = self._entries[base]
            return self._value(tree, dict(zip(letters, places, strict=True)))
        return self._drawn("_".join([base, *map(str, places)]))

    def _key(self, word: str, bound: Mapping[str, int]) -> str:
        base, _, index = word.partition("_")
        if base in self._indexed and index:
            return "_".join([base, *(str(self._place(letter, bound)) for letter in index)])
        return word.replace("_", "")

    def _place(self, letter: str, bound: Mapping[str, int]) -> int:
        if letter in bound:
            return bound[letter]
        if letter.isdigit():
            return int(letter)
        if letter not in self.numbers:
            self.numbers[letter] = 1 if self._alike else self._random.randint(1, self.many)
        return int(self.numbers[letter])

    def _drawn(self, name: str) -> complex:
        if name not in self.numbers:
            size = round(self._random.uniform(0.3, 1.7), 2)
            base = name.partition("_")[0]
            negative = self._random.random() < 0.5 and base not in self._positive
            self.numbers[name] = -size if negative else size
        return self.numbers[name] + self._moved.get(name, 0.0)


def apart(one: complex, other: complex, relation: str = "=") -> bool:
    """Tell whether two values stand otherwise than they should."""
    near = abs(one - other) <= _AS_NEAR * (1 + abs(one) + abs(other))
    return not near and (relation == "=" or one.real > other.real)


def shown_value(value: complex) -> str:
    """Write a value in four digits.

    >>> shown_value(-0.12345 + 0j)
    '−0.1235'
    """
    if abs(value.imag) > _AS_NEAR * (1 + abs(value)):
        return f"{value.real:.4g} + {value.imag:.4g}i".replace("-", "−")
    return f"{value.real:.4g}".replace("-", "−")
