"""Operators, from the loosest to the tightest: relations, sums, products, powers."""

from __future__ import annotations

import re

from autograder.algebra.reading.cursor import Cursor
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.tree import Node, call, is_delta_with_one_index, kronecker

RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "≈")
_POSTFIX = {"!": "factorial", "ᵀ": "transpose", "%": "percent", "°": "degrees"}


class Operators(Cursor):
    """Read what stands between operands."""

    def primary(self) -> Node:
        """Read an operand."""
        raise NotImplementedError

    def group(self) -> Node:
        """Read ``{…}`` that only holds together."""
        raise NotImplementedError

    def read(self) -> Node:
        """Read all of the text."""
        node = self.statement()
        if self.token.kind != "end":
            if self.sees(","):
                self.fail("a comma can only separate the arguments of a function")
            if self.sees(")", "]", "}", r"\}"):
                self.fail("this bracket was never opened")
            self.after_operand()
            self.fail(f"unexpected {self.token.text!r}")
        return node

    def statement(self) -> Node:
        """Read formulas, joined by ``=``, ``<`` and the like."""
        self.enter()
        first = self.sum()
        token, sides, marks = self.token, [first], []
        while self.sees(*RELATIONS):
            marks.append(self.next().text)
            sides.append(self.sum())
        self.leave()
        return Node("relation", token, tuple(sides), tuple(marks)) if marks else first

    def sum(self) -> Node:
        """Read terms."""
        token = self.token
        children, marks = [self.product()], []
        while self.sees("+", "-"):
            marks.append(self.next().text)
            children.append(self.product())
        return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]

    def product(self) -> Node:
        """Read factors, with or without a sign between them."""
        token = self.token
        children, marks = [self.signed()], []
        while True:
            if self.sees("*", "/", "∘"):
                marks.append(self.next().text)
            elif self.sees("//"):
                children, marks = [self.rounded_quotient(children, marks)], []
                continue
            elif self.starts_operand():
                self.after_operand(children[-1])
                marks.append("*")
                children.append(self.signed())
                self.no_mixed_number(*children[-2:])
                continue
            else:
                break
            children.append(self.signed())
        return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]

    def no_mixed_number(self, whole: Node, part: Node) -> None:
        r"""Refuse ``2\\frac{2}{3}`` as well."""
        if part.token.kind == "command" and part.kind == "chain" and part.marks == ("/",):
            words = "/".join(child.token.text for child in part.children)
            self.refuse_mixed(whole.token.text, re.fullmatch(r"\d+/\d+", words), part.token)

    def rounded_quotient(self, children: list[Node], marks: list[str]) -> Node:
        """Read ``// b`` behind factors: what comes before is divided and rounded down."""
        token = self.next()
        whole = Node("chain", token, (*children, self.signed()), (*marks, "/"))
        return call("floor", token, whole)

    def signed(self) -> Node:
        """Read a power, perhaps with signs before it."""
        if not self.sees("+", "-"):
            return self.power()
        self.enter()
        token = self.next()
        operand = self.signed()
        self.leave()
        return operand if token.text == "+" else Node("negative", token, (operand,))

    def power(self) -> Node:
        """Read an operand, perhaps with an exponent."""
        base = self.postfix()
        if not self.sees("^"):
            return base
        if degrees := self.degrees(base):
            return degrees
        token = self.next()
        self.enter()
        exponent = self.exponent()
        self.leave()
        if is_delta_with_one_index(base) and exponent.kind in ("name", "number"):
            below = Node("name", base.token._replace(text=base.token.text.removeprefix("delta_")))
            return kronecker(base.token, below, exponent)
        return self.postfix(self.raised(base, token, exponent))

    def degrees(self, base: Node) -> Node | None:
        r"""Read ``90^\\circ``, None where there is another exponent."""
        if not self.peek("∘", "{∘"):
            return None
        self.next()
        opened = self.next() if self.sees("{") else None
        token = self.next()
        if opened:
            self.close("}", opened)
        return Node("degrees", token, (base,))

    def raised(self, base: Node, token: Token, exponent: Node) -> Node:
        """Return a power; ``A^T`` is a transpose and ``A^-T`` that of the inverse."""
        if base.kind == "number":
            return Node("power", token, (base, exponent))
        if self.is_transposing(exponent):
            return Node("transpose", token, (base,))
        if exponent.kind == "negative" and self.is_transposing(exponent.children[0]):
            one = Node("number", Token("number", "1", token.position))
            inverse = Node("power", token, (base, Node("negative", token, (one,))))
            return Node("transpose", token, (inverse,))
        return Node("power", token, (base, exponent))

    def is_transposing(self, exponent: Node) -> bool:
        """Whether an exponent is the letter T, and not the name of something."""
        known = exponent.kind == "name" and exponent.token.text in ("T", "top")
        return known and "T" not in self.words

    def exponent(self) -> Node:
        """Read what follows ``^``."""
        braced = self.next() if self.sees("{") and self.peek("ᵀ", "-ᵀ") else None
        if self.sees("{"):
            return self.group()
        minus = self.next() if self.sees("-") and self.peek("ᵀ") else None
        if not self.sees("ᵀ"):
            return self.signed()
        token = self.next()
        node = Node("name", Token("name", "top", token.position, token.end))
        if braced:
            self.close("}", braced)
        return Node("negative", minus, (node,)) if minus else node

    def peek(self, *signs: str) -> bool:
        """Whether one of these comes after the token here, sign by sign."""
        after = self.tokens[self.at + 1 : self.at + 3]
        return any([t.text for t in after[: len(sign)]] == list(sign) for sign in signs)

    def postfix(self, node: Node | None = None) -> Node:
        """Read an operand with factorials and transposes after it."""
        node = node or self.primary()
        while self.sees(*_POSTFIX):
            token = self.next()
            if token.text == "!" and self.sees("!"):
                self.fail("n!! may be (n!)!, or a product of every second number: write brackets")
            if token.text == "%" and self.starts_operand():
                self.fail("% may be percent, or a remainder: write /100, or floor", token)
            node = Node(_POSTFIX[token.text], token, (node,))
        if self.sees("^") and node.kind in ("transpose", "factorial"):
            token = self.next()
            node = Node("power", token, (node, self.exponent()))
        return node
