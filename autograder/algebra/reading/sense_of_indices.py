"""What names, entries and sums come to in a formula that is looked at and not built."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from autograder.algebra.reading.amounts import (
    Amount,
    Vocabulary,
    applied,
    combined,
    opaque,
    standing_for,
)
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.magnitudes import constant, sized
from autograder.algebra.reading.tree import Node, bound_parts, indices_in, is_constant

SUMS = ("sum", "Sum", "product", "prod", "Product")
INFINITE = ("oo", "infinity", "infty", "inf")
_NO_NUMBERS = (*INFINITE, "True", "False", "EmptySet")
MOST_PARTS = 20_000  # those of a sum counted once for every term
_MOST_BITS = 8000
MOST_TERMS = 400
_LONGEST_TOTAL = 20 * MOST_TERMS  # of a sum or product that is written out


class IndexedSense:
    """Goes through a tree, and knows the nodes that have an index, or may have one."""

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text, self.words = text, words
        self.bound: dict[str, Amount | None] = {}  # what an index is, None where it runs on
        self.roots: dict[Fraction, tuple[Amount, Fraction]] = {}  # by what stands for them
        self.parts = 0

    def fail(self, reason: str, node: Node) -> NoReturn:
        """Raise the error that points at `node`."""
        raise ParseError(reason, self.text, node.token.position)

    def number(self, node: Node) -> Amount:
        """Return what a node comes to, which must be a number."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            self.fail("this formula has too many parts", node)
        method = getattr(self, f"_{node.kind}", None)
        if method is None:
            kind = {"relation": "an equation", "list": "a list", "tuple": "a list"}
            self.fail(f"expected one expression, not {kind.get(node.kind, 'this')}", node)
        found: Amount = method(node)
        size = max(map(abs, (found.number or Fraction(0)).as_integer_ratio()))
        return found._replace(number=None, exact=False) if size >> _MOST_BITS else found

    def _name(self, node: Node) -> Amount:
        word, plain = node.token.text, node.token.text.replace("_", "")
        base, mark, subscript = word.partition("_")
        if word in self.bound:
            return self.bound[word] or Amount(standing_for(word))
        if {subscript, *subscript} & self.bound.keys() and not self.words.indices:
            letters = [subscript] if subscript in self.bound else [*subscript]
            return self._entry(base, [self._at(letter) for letter in letters], node)
        if is_constant(node, self.text, self.words.known, self.words.constants):
            return Amount(standing_for(word), constant=True, about=constant(word))
        if word == "I" and word in self.words.blocks:  # the identity, beside which numbers stand
            return Amount(Fraction(1), True, True)
        if plain in self.words.known:
            return Amount(standing_for(self.words.known[plain]))
        if mark and self.words.indices and base in (*self.words.indexed, "delta"):
            letters = indices_in(base, subscript)
            if base in self.words.indexed or (len(letters) == 2 and "delta" in self.words.calls):
                return self._entry(base, [self._index_of(letter, node) for letter in letters], node)
        if (
            base == "delta"
            and len(subscript) == 2
            and f"delta{subscript[::-1]}" in self.words.known
        ):
            return Amount(standing_for(self.words.known[f"delta{subscript[::-1]}"]))
        if word in _NO_NUMBERS and word in self.words.constants:
            self.fail("this is not defined", node)
        if word not in self.words.constants:
            if word in self.words.calls:
                self.fail(f"{word} needs brackets: {word}(…)", node)
            self.fail(f"unknown name {word}", node)
        return Amount(standing_for(word), constant=True, about=constant(word))

    def _index_of(self, letter: str, node: Node) -> Amount:
        """Return an index as it is written behind a name with indices."""
        if letter.isdigit():
            return Amount(Fraction(letter), True, True)
        if letter not in {*self.words.indices, *self.bound}:
            self.fail(f"{letter} is no index", node)
        return self.bound.get(letter) or Amount(standing_for(letter))

    def _at(self, letter: str) -> Amount | str:
        """Return what runs, or a letter that is part of a name."""
        if letter not in self.bound:
            return letter
        return self.bound[letter] or Amount(standing_for(letter))

    def _entry(self, base: str, places: list[Amount | str], node: Node) -> Amount:
        """Return what stands for an entry, which must be declared where its indices are known."""
        numbers = [Amount(_standing(p)) if isinstance(p, str) else p for p in places]
        if base == "delta" and (len(places) == 2 or self.words.indices):
            return self.delta(numbers, node)
        known = [p if isinstance(p, str) else _counted(p) for p in places]
        if not self.words.indices and all(known):
            if f"{base}{''.join(known)}" not in self.words.known:
                self.fail(f"unknown name {base}_{''.join(known)}", node)
            return Amount(standing_for(self.words.known[f"{base}{''.join(known)}"]))
        if not self.words.indices and not self._is_family(base):
            self.fail(f"unknown name {base}", node)
        return Amount(opaque(base, *numbers))

    def delta(self, indices: list[Amount], node: Node) -> Amount:
        """Return what is 1 where two indices are the same."""
        if len(indices) != 2 or not all(map(_is_index, indices)):
            self.fail("delta takes two indices", node)
        return applied("KroneckerDelta", indices)

    def _is_family(self, base: str) -> bool:
        digits = tuple(f"{base}{digit}" for digit in range(10))
        names = self.words.known.values()
        return any(name == base or name.startswith((f"{base}_", *digits)) for name in names)

    def _running(self, node: Node) -> Amount:
        parts, word = bound_parts(node), node.token.text
        bounded = len(parts) == 4 or (self.words.indices and len(parts) == 2) or node.marks
        if word in SUMS[2:] and self.words.indices:
            self.fail(f"unknown function {word}", node)
        if not bounded or len(parts) not in (2, 3, 4) or (node.marks and not self.words.indices):
            self.fail(f"write the range: {word}(term, k, 1, n)", node)
        if parts[1].kind != "name":
            self.fail("expected the name of the running index", parts[1])
        if self.words.indices and not self._may_run(parts[1].token.text):
            self.fail("write sum(f, k) or sum(f, k, 1, n) with an index k", parts[1])
        ends = [self.number(part) for part in parts[2:4]]
        if any(end.matrix for end in ends) and not self.words.indices:
            self.fail("a range goes from a whole number to one", parts[1])
        if not self.words.indices and all(end.constant for end in ends):
            return self._written_out(word in SUMS[:2], parts, *ends)
        body = self._body(parts, None)
        if node.marks:
            return Amount()
        if not self.words.indices and body.exact and body.number == int(word not in SUMS[:2]):
            return body  # nothing is added, or multiplied by one
        if len(ends) == 2 and all(map(_counted, ends)) and body.constant and not body.matrix:
            low, high = (int(end.number or 0) for end in ends)
            times = Amount(Fraction(max(high - low + 1, 0)), True, True)  # so many times the same
            return sized(combined("*", times, body), "*", times, body)
        found = opaque(word, body, Amount(standing_for(parts[1].token.text)), *ends)
        return Amount(found, matrix=body.matrix and bool(self.words.indices))

    def _may_run(self, letter: str) -> bool:
        """Whether this is an index, or a letter of one's own."""
        known = letter in self.words.known or letter in self.words.calls
        return letter in self.words.indices or (len(letter) == 1 and not known)

    def _written_out(self, add: bool, parts: tuple[Node, ...], low: Amount, high: Amount) -> Amount:
        if not all(map(_counted, (low, high))):
            self.fail("a range goes from a whole number to one", parts[1])
        first, last = (int(end.number or 0) for end in (low, high))
        if last - first >= MOST_TERMS or max(abs(first), abs(last)) > 10**6:
            self.fail(f"at most {MOST_TERMS} terms are read", parts[1])
        total = Amount(Fraction(0 if add else 1), True, True)
        if last < first:
            self._body(parts, None)
        for place in range(first, last + 1):
            term = self._body(parts, Amount(Fraction(place), True, True))
            mark = "+" if add else "*"
            total = sized(combined(mark, total, term), mark, total, term)
            length = max(map(abs, (total.number or Fraction(0)).as_integer_ratio())).bit_length()
            if length > _LONGEST_TOTAL and total.exact:
                self.fail("this number is too large", parts[1])
            if length > _LONGEST_TOTAL:
                total = Amount(constant=total.constant)
        return total

    def _body(self, parts: tuple[Node, ...], at: Amount | None) -> Amount:
        """Return what is summed where the index is a number, or runs on."""
        hidden, letter = dict(self.bound), parts[1].token.text
        self.bound[letter] = at
        term = self.number(parts[0])
        if term.matrix and not self.words.indices:
            self.fail("a sum of matrices is not read", parts[0])
        self.bound = hidden
        return term


def _standing(word: str) -> Fraction:
    return Fraction(word) if word.isdigit() else standing_for(word)


def _counted(amount: Amount) -> str:
    """Return a whole number as it is written, "" for all else."""
    known = amount.exact and amount.constant and amount.number is not None
    return str(amount.number) if known and amount.number == int(amount.number or 0) else ""


def _is_index(amount: Amount) -> bool:
    if amount.matrix:
        return False
    whole = amount.exact and amount.number is not None and amount.number.denominator == 1
    return whole or not amount.constant
