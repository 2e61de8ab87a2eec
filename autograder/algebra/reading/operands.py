"""Operands: numbers, names, calls, and what stands in brackets of any kind."""

from __future__ import annotations

from autograder.algebra.reading.cursor import OPERAND
from autograder.algebra.reading.differentials import Differentials
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import RELATIONS
from autograder.algebra.reading.signs import (
    BIG_OPERATORS,
    EXPECTATION,
    INDICATORS,
    WORDS,
    is_greek,
)
from autograder.algebra.reading.tree import Node, between_indices, call, indicator

_CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
_TRIGONOMETRIC = ("sin", "cos", "tan")
# After these, LaTeX and `sin 5n` need no brackets.
_LOGARITHMS = ("log", "ln", "log2", "log10")
_HYPERBOLIC = ("sinh", "cosh", "tanh", "sech", "csch", "coth")
_BARE = (*_TRIGONOMETRIC, "sec", "csc", "cot", *_HYPERBOLIC, "exp", *_LOGARITHMS)
_SQUARE = ("E", "Var")  # written E[X] as well
_POWERS = ("pow", "power")
_INVERSES = ("arcsin", "arccos", "arctan")


class Operands(Differentials):
    """Read what stands between operators."""

    def command(self) -> Node:
        """Read what begins with a LaTeX command."""
        raise NotImplementedError

    def big_operator(self) -> Node:
        """Read a sum, a product or a limit with what is written under it."""
        raise NotImplementedError

    def argument(self) -> Node:
        """Read what a LaTeX command is applied to."""
        raise NotImplementedError

    def extremum(self, token: Token) -> Node:
        """Read the largest or smallest of what an index runs through."""
        raise NotImplementedError

    def primary(self) -> Node:
        """Read an operand."""
        token = self.token
        if token.kind == "number":
            number = Node("number", self.next())
            return (token.text == "1" and self.indicated(token)) or number
        if token.kind == "name":
            return self.name()
        if token.kind == "command":
            return self.big_operator() if token.text in BIG_OPERATORS else self.command()
        if self.sees("(", "["):
            return self.bracketed()
        if self.latex and self.sees("{"):
            return self.group()
        if self.sees("|", "‖"):
            return self.bar()
        if self.sees("√"):
            self.enter()
            root = call("sqrt", self.next(), self.primary())
            self.leave()
            return root
        if self.sees("∂"):
            return self.derivative()
        self.fail(OPERAND)
        return None

    def group(self) -> Node:
        """Read ``{…}`` that only holds together."""
        opened = self.next()
        self.enter(opened)
        inner = self.statement()
        if self.sees(r"\choose"):
            inner = call("binomial", self.next(), inner, self.statement())
        self.close("}", opened)
        self.leave(opened)
        return inner

    def bar(self) -> Node:
        """Read an absolute value or a norm."""
        opened = self.next()
        self.bars.append(opened.text)
        self.enter(opened)
        inner = self.sum()
        self.close(opened.text, opened)
        self.leave(opened)
        self.bars.pop()
        if opened.text == "|":
            return call("abs", opened, inner)
        if self.sees("_"):
            self.next()
            which = self.argument()
            if which.token.text != "2":
                self.fail("only the Euclidean norm is read here", which.token)
        return call("norm", opened, inner)

    def items(
        self, closing: tuple[str, ...], opened: Token, *, divided: bool = False
    ) -> tuple[list[Node], Token]:
        """Read what stands between brackets, separated by commas; or `divided` by one bar."""
        self.enter(opened)
        bars, self.bars = self.bars, ["|"] * divided
        items: list[Node] = []
        while not self.sees(*closing) or items:
            items.append(self.statement())
            if not self.sees(",", ";", *self.bars):
                break
            self.bars = [] if self.sees("|") else self.bars
            self.next()
        if not self.sees(*closing):
            self.close(closing[0], opened)
        self.bars = bars
        self.leave(opened)
        return items, self.next()

    def bracketed(self) -> Node:
        """Read ``(…)`` or ``[…]``."""
        opened = self.next()
        if self.sees(_CLOSING[opened.text]) and opened.text == "(":
            self.fail(OPERAND)
        inside = self.tokens[self.at : self.closing(self.at - 1)]
        divided = opened.text == "[" and sum(token.text == "|" for token in inside) == 1
        items, _ = self.items((_CLOSING[opened.text],), opened, divided=divided)
        may_be = len(items) == 1 and (opened.text == "[" or between_indices(items[0]))
        if may_be and (found := indicator(opened, items[0])):
            return found
        if opened.text == "[":
            if self.latex and len(items) == 1:
                return Node("group", opened, tuple(items))
            return Node("list", opened, tuple(items))
        return Node("group" if len(items) == 1 else "tuple", opened, tuple(items))

    def name(self) -> Node:
        """Read a name, with its index or with the arguments of a call."""
        token = self.next()
        if token.text == "sigma" and self.is_sigmoid():
            token = token._replace(text="sigmoid")
        known = token.text in self.functions or (token.text in _POWERS and self.sees("("))
        known = known and token.text.replace("_", "") not in self.words
        if token.text[:1] == "d" and (found := self.quotient(token)):
            return found
        may_be = token.text in INDICATORS and not known and token.text not in self.words
        if may_be and (found := self.indicated(token)):
            return found
        square = token.text in _SQUARE or token.text.startswith(EXPECTATION)
        if known and square and self.sees("["):
            items, _ = self.items(("]",), self.next())
            return Node("call", token, tuple(items))
        if known and self.latex and token.text in _SQUARE and not self.sees("(", "⟦", "{"):
            return self.mean(token)
        if self.sees("⟦", "[") and token.text not in _BARE and self.is_index(token):
            return self.indexed(token)
        if known and token.text in ("max", "min") and self.sees("_"):
            return self.extremum(token)
        if known and token.text in ("max", "min") and self.sees("{", r"\{"):
            items, _ = self.items((_CLOSING[self.next().text],), token)
            return Node("call", token, tuple(items))
        if self.sees("(") and self.is_call(token, known):
            return self.applied(token)
        if self.latex and not known and self.is_open_call(token):
            return self.applied(token)
        if known and token.text in (*_BARE, *_INVERSES) and (self.implicit or self.sees("_")):
            return self.bare_call(token)
        return Node("name", token)

    def is_sigmoid(self) -> bool:
        """Whether σ is the function, where names are declared and σ is none of them."""
        own = "sigma" in self.words or "sigma" in self.functions or self.open_functions
        return self.sees("(") and "sigmoid" in self.functions and not own

    def indicated(self, one: Token) -> Node | None:
        """Read ``[i = j]``, ``_{i=j}`` or the like behind a 1 (or 𝟙), None where none follows."""
        start, token = self.at, self.token
        if self.sees("_"):
            self.next()
        adjacent = token.position == one.end or self.latex
        if not adjacent or not self.sees("[", "(", "{", r"\{", "⟦"):
            self.at, self.token = start, token
            return None
        closing = self.closing(self.at)
        inside = {t.text for t in self.tokens[self.at : closing]}
        if inside.isdisjoint(RELATIONS):
            self.at, self.token = start, token
            return None
        opened = self.next()
        inner = self.next() if self.sees(r"\{") else None  # \mathbb{1}_{\{i=j\}}
        closing_signs = _CLOSING | {"⟦": "⟧"}
        items, _ = self.items((closing_signs[(inner or opened).text],), inner or opened)
        if inner:
            self.close(closing_signs[opened.text], opened)
        if len(items) != 1 or (found := indicator(one, items[0])) is None:
            self.fail("write 1 where two indices are the same as [i = j], or delta(i, j)", one)
        return found

    def applied(self, name: Token) -> Node:
        """Read the arguments of a call; ``pow(a, b)`` is a power."""
        opened = self.next()
        closing = _CLOSING[opened.text]
        if self.sees(closing):
            self.fail(OPERAND)
        items, _ = self.items((closing,), opened)
        if name.text in _POWERS and len(items) == 2:
            return Node("power", name, tuple(items))
        return Node("call", name, tuple(items))

    def mean(self, token: Token) -> Node:
        r"""Read ``\\mathbb{E} e^{wz}``: of one operand it is clear what E is taken of."""
        if not self.starts_operand():
            self.fail(f"{token.text} needs brackets: {token.text}[…]", token)
        inner = self.power()
        if self.starts_operand():
            self.fail(f"it is unclear what {token.text} is taken of: write {token.text}[…]", token)
        return Node("call", token, (inner,))

    def is_open_call(self, name: Token) -> bool:
        r"""Whether a name that nobody declared is a function in LaTeX: ``\operatorname{Var}(X)``.

        A word in letters of its own is never a factor before a bracket; where names are declared
        it is unknown, and so is the expectation, which is no number e.
        """
        if name.text.replace("_", "") in self.words and not name.text.startswith(EXPECTATION):
            return False
        written = self.text[name.position : name.end]
        is_word = written.startswith("\\") and len(name.text) > 1 and not is_greek(name.text)
        if written.startswith((r"\operatorname", r"\mathbb")) and not self.sees("(", "["):
            self.fail(f"{name.text} needs brackets: {name.text}(…)", name)
        if not self.sees("(", "[") or name.text in WORDS | {"e"}:
            return False
        if self.open_functions:
            return is_word or self.sees("(") or name.text.startswith(EXPECTATION)
        if is_word or name.text == "E":
            self.fail(f"unknown function {name.text}", name)
        return False

    def is_index(self, name: Token) -> bool:
        """Whether the bracket here holds an index: it stands directly after a name."""
        adjacent = self.token.position == name.end
        return self.token.text == "⟦" or (adjacent and not self.latex)

    def indexed(self, name: Token) -> Node:
        """Read ``p[k]``, ``J[i, j]``, ``z_{k+1}``."""
        opened = self.next()
        items, _ = self.items(("]" if opened.text == "[" else "⟧",), opened)
        if not items:
            self.fail(OPERAND, opened)
        if name.text == "delta" and len(items) == 1 and items[0].kind == "relation":
            return indicator(name, items[0]) or Node("indexed", name, tuple(items))
        if len(items) == 1 and (found := indicator(opened, items[0])):  # p_i[i = j] is a product
            return self.times([Node("name", name), found])
        return Node("indexed", name, tuple(items))

    def is_call(self, token: Token, known: bool) -> bool:
        """Whether the bracket after a name holds arguments."""
        adjacent = self.token.position == token.end
        unknown = token.text.replace("_", "") not in self.words
        return known or (self.open_functions and unknown and adjacent and not self.latex)

    def bare_call(self, token: Token) -> Node:
        r"""Read ``sin 5n``, ``\\sin^2 x``, ``\\log_2 n``."""
        arguments: list[Node] = []
        power = None
        if self.sees("_"):
            self.next()
            arguments.append(self.argument())
        if self.sees("^"):
            power = self.next(), self.exponent()
        if self.sees("(") or (self.latex and self.sees("[", "{", r"\{")):
            opened = self.next()
            items, _ = self.items((_CLOSING[opened.text],), opened)
        elif self.sees(*BIG_OPERATORS):
            items = [self.power()]
        elif self.starts_operand() and not self.is_function(self.token):
            factors = [self.power()]
            while (
                self.starts_operand()
                and not self.sees("(", "[")
                and not self.is_function(self.token)
            ):
                factors.append(self.power())
            if self.sees("(", "["):  # cos w(k + l): the cosine of w, or of all that?
                word = token.text
                self.fail(f"it is unclear whether this bracket belongs to {word}: write {word}(…)")
            items = [self.times(factors)]
        else:
            word = token.text
            self.fail(f"{word} needs brackets: {word}(…)", token)
        if power and token.text in _TRIGONOMETRIC and _is_minus_one(power[1]):
            return call(f"arc{token.text}", token, *items)
        node = Node("call", token, (*items, *arguments))
        return Node("power", power[0], (node, power[1])) if power else node

    def is_function(self, token: Token) -> bool:
        """Whether a function begins here that needs no brackets."""
        return token.text.removeprefix("\\") in (*_BARE, *_INVERSES) or token.text in BIG_OPERATORS

    def times(self, factors: list[Node]) -> Node:
        """Return the product of some factors."""
        if len(factors) == 1:
            return factors[0]
        return Node("chain", factors[0].token, tuple(factors), ("*",) * (len(factors) - 1))


def _is_minus_one(node: Node) -> bool:
    while node.kind == "group":
        node = node.children[0]
    return node.kind == "negative" and node.children[0].token.text == "1"
