"""Derivatives with ∂: ``∂f/∂x`` and ``∂²f/∂x∂y``."""

from __future__ import annotations

from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import Operators
from autograder.algebra.reading.tree import Node, call


class Differentials(Operators):
    """Read what is differentiated, how often and by what."""

    def derivative(self) -> Node:
        """Read ``∂f/∂x``, ``∂²f/∂x∂y`` and ``∂/∂x f``."""
        token = self.next()
        times = self.order()
        inner = None if self.sees("/") else self.power()
        return self.by(token, times, inner)

    def applied(self, name: Token) -> Node:
        """Read the arguments of a call."""
        raise NotImplementedError

    def quotient(self, above: Token) -> Node | None:
        """Read ``dF/dx`` or ``d/dx f`` from behind its first word, None where that is no d."""
        inner = above.text.removeprefix("d")
        called = bool(inner) and self.sees("(") and inner in self.functions
        at = self.closing(self.at) + 1 if called else self.at
        slash, below = (self.tokens[min(place, len(self.tokens) - 1)] for place in (at, at + 1))
        if slash.text != "/" or not self.is_differential(below):
            return None
        if inner and not (inner in self.functions or self.is_differential(above)):
            return None
        if self.is_declared(above.text):
            return None
        name = above._replace(text=inner)
        node = self.applied(name) if called else Node("name", name)
        self.next()
        self.next()
        by = Node("name", below._replace(text=below.text.removeprefix("d")))
        return call("diff", above, node if inner else self.power(), by)

    def is_differential(self, token: Token) -> bool:
        """Whether this is dx for a name x, and itself none."""
        name = token.text.removeprefix("d")
        return name != token.text and self.is_declared(name) and not self.is_declared(token.text)

    def is_declared(self, word: str) -> bool:
        """Whether a word is one of the names."""
        return word.replace("_", "") in self.words

    def by(self, token: Token, times: int, inner: Node | None) -> Node:
        """Read the lower half of a derivative, ``/∂x∂y``, and what it is applied to."""
        if not self.sees("/"):
            self.fail("expected '/': write a derivative as ∂f/∂x or diff(f, x)")
        self.next()
        variables = self.variables()
        if times != len(variables):
            self.fail("this is not how often it is differentiated", token)
        return call("diff", token, inner or self.power(), *variables)

    def variables(self) -> list[Node]:
        """Read ``∂x∂y`` or ``∂x²``."""
        variables: list[Node] = []
        if not self.sees("∂"):
            self.fail("expected ∂ and a variable: write a derivative as ∂f/∂x or diff(f, x)")
        while self.sees("∂"):
            self.next()
            if self.token.kind != "name":
                self.fail("expected the variable to differentiate by")
            variable = Node("name", self.next())
            variables += [variable] * self.order()
        return variables

    def order(self) -> int:
        """Read how often to differentiate."""
        if not self.sees("^"):
            return 1
        self.next()
        exponent = self.exponent()
        while exponent.kind == "group":
            exponent = exponent.children[0]
        if exponent.token.text not in ("1", "2", "3"):
            self.fail("expected how often to differentiate, at most 3 times", exponent.token)
        return int(exponent.token.text)
