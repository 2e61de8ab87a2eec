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
        inner = None if self.sees("/") else self.postfix()
        return self.by(token, times, inner)

    def applied(self, name: Token) -> Node:
        """Read the arguments of a call."""
        raise NotImplementedError

    def quotient(self, above: Token) -> Node | None:
        """Read ``dF/dx`` or ``d/dx f`` from behind its first word, None where that is no d."""
        function = above.text.removeprefix("d")
        if above.text in self.words or (function and not self.is_a_function(function)):
            return None
        at = self.closing(self.at) + 1 if function and self.sees("(") else self.at
        slash, below = (self.tokens[min(place, len(self.tokens) - 1)] for place in (at, at + 1))
        variable = below.text.removeprefix("d")
        if slash.text != "/" or below.text in (variable, *self.words) or variable not in self.words:
            return None
        inner = None
        if function:
            name = above._replace(text=function)
            inner = self.applied(name) if self.sees("(") else Node("name", name)
        self.next()
        self.next()
        by = Node("name", below._replace(text=variable))
        return call("diff", above, inner or self.power(), by)

    def is_a_function(self, word: str) -> bool:
        """Whether a word is called with brackets, and no declared name of a number."""
        return word in self.functions and word not in self.words

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
