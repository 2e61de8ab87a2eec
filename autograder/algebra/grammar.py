"""Tokens to a tree: one grammar for everyday notation and for LaTeX.

The tree says how a text was written and computes nothing.  Where an operand is expected and
where an operator decides most of what a sign means: ``|`` opens or closes an absolute value, a
bracket opens an interval or the arguments of a function.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container
from dataclasses import dataclass
from typing import NoReturn

from autograder.algebra.errors import ParseError
from autograder.algebra.lexer import Token, is_latex, tokenize

MAX_BRACKETS = 40
MAX_DEPTH = 120

RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "≈")
_LOGIC = {"and": "and", "or": "or", "∧": "and", "∨": "or"}
_SETS = {"∪": "union", "U": "union", "∩": "intersection", "&": "intersection", "∖": "difference"}
_SET_KINDS = ("set", "interval", "tuple", "list", "union", "intersection", "difference", "group")
_CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
# After these, LaTeX and `sin 5n` need no brackets.
_BARE = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "sec",
        "csc",
        "cot",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "ln",
        "arcsin",
        "arccos",
        "arctan",
    ]
)
_OPERAND = "expected a number, a name or '('"


@dataclass(frozen=True)
class Node:
    """One construct of a text.

    Attributes
    ----------
    kind : str
        ``number``, ``name``, ``call``, ``chain`` (a sum or a product), ``power``, ``relation``,
        ``matrix``, …
    token : Token
        Where it stands; the name of a ``call``.
    children : tuple of Node
    marks : tuple of str
        The operators between the children of a ``chain`` or ``relation``; the brackets of an
        ``interval``.
    """

    kind: str
    token: Token
    children: tuple[Node, ...] = ()
    marks: tuple[str, ...] = ()


def read_tree(
    text: object,
    *,
    implicit: bool,
    functions: Container[str],
    words: Collection[str] = (),
    open_functions: bool = False,
) -> Node:
    """Turn `text` into a tree, or raise `ParseError` where it stops making sense.

    Parameters
    ----------
    text : str
    implicit : bool
        Whether ``2 n d`` is a product; always so in LaTeX.
    functions : container of str
        The names that make a call when a bracket follows.
    words : container of str
        Declared names, without underscores.
    open_functions : bool
        Whether any other name makes a call as well when a bracket follows it at once, unless it
        also stands somewhere without one: ``n(n + 1)`` is a product.
    """
    tokens = tokenize(text, words=words, functions=functions)
    if open_functions:
        plain = {
            token.text.replace("_", "")
            for token, after in itertools.pairwise(tokens)
            if token.kind == "name" and after.text != "(" and token.text not in functions
        }
        words = plain.union(words)
    return _Reader(str(text), tokens, implicit, functions, words, open_functions).read()


class _Reader:
    def __init__(
        self,
        text: str,
        tokens: list[Token],
        implicit: bool,
        functions: Container[str],
        words: Container[str],
        open_functions: bool,
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.latex = is_latex(text)
        self.implicit = implicit or self.latex
        self.functions = functions
        self.words = words
        self.open_functions = open_functions
        self.at = 0
        self.depth = 0
        self.bars: list[str] = []  # signs that would close an absolute value or a norm
        self.brackets = 0

    # ---- tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def sees(self, *signs: str) -> bool:
        return self.token.kind in ("operator", "command") and self.token.text in signs

    def fail(self, reason: str, token: Token | None = None) -> NoReturn:
        token = token or self.token
        if token.kind == "end" and reason == _OPERAND:
            reason += " at the end"
        raise ParseError(reason, self.text, token.position)

    def close(self, sign: str, opened: Token) -> Token:
        if self.sees(sign):
            return self.next()
        if self.token.kind == "end":
            self.fail("this bracket is never closed", opened)
        if self.sees(","):
            self.fail("a comma can only separate the arguments of a function")
        self.after_operand()
        self.fail(f"expected {sign!r}")
        return None

    def enter(self, bracket: Token | None = None) -> None:
        self.depth += 1
        if bracket:
            self.brackets += 1
            if self.brackets > MAX_BRACKETS:
                self.fail(f"brackets may be nested at most {MAX_BRACKETS} deep", bracket)
        if self.depth > MAX_DEPTH:
            self.fail("this is nested too deeply")

    def leave(self, bracket: Token | None = None) -> None:
        self.depth -= 1
        self.brackets -= bracket is not None

    # ---- levels, from the loosest to the tightest

    def read(self) -> Node:
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
        self.enter()
        node = self.relation()
        while self.token.text in _LOGIC and self.token.kind in ("operator", "name"):
            if node.kind not in ("relation", "logic", "group", "call"):
                break
            token = self.next()
            node = Node("logic", token, (node, self.relation()), (_LOGIC[token.text],))
        self.leave()
        return node

    def relation(self) -> Node:
        first = self.sets()
        if not self.sees(*RELATIONS):
            return first
        token, sides, marks = self.token, [first], []
        while self.sees(*RELATIONS):
            marks.append(self.next().text)
            sides.append(self.sets())
        return Node("relation", token, tuple(sides), tuple(marks))

    def sets(self) -> Node:
        node = self.sum()
        while self.token.text in _SETS and node.kind in _SET_KINDS:
            token = self.next()
            node = Node(_SETS[token.text], token, (node, self.sum()))
        return node

    def sum(self) -> Node:
        return self.chain(self.product, ("+", "-"))

    def product(self) -> Node:
        return self.chain(self.signed, ("*", "/", "∘"), implicit=True)

    def chain(self, operand: object, signs: tuple[str, ...], *, implicit: bool = False) -> Node:
        token = self.token
        children, marks = [operand()], []  # type: ignore[operator]
        while True:
            if self.sees(*signs):
                marks.append(self.next().text)
            elif implicit and self.starts_operand() and self.token.text not in _LOGIC:
                if self.token.text in _SETS and children[-1].kind in _SET_KINDS:
                    break
                self.after_operand(children[-1])
                marks.append("*")
            else:
                break
            children.append(operand())  # type: ignore[operator]
        return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]

    def starts_operand(self) -> bool:
        if self.token.kind in ("number", "name"):
            return True
        if self.sees("|", "‖"):
            return not self.bars or self.bars[-1] != self.token.text
        if self.token.kind == "command":
            return not self.token.text.startswith((r"\end", r"\rfloor", r"\rceil"))
        return self.sees("(", "[", r"\{", "{", "¬")

    def after_operand(self, last: Node | None = None) -> None:
        """Refuse what follows an operand, unless it is a product without a sign."""
        if not self.starts_operand():
            return
        if self.sees("[") and not self.latex:
            self.fail("expected round brackets")
        if self.implicit and last is not None and self.token.kind != "number":
            return
        if self.sees("(") and last is not None and last.kind == "name":
            name = last.token.text
            self.fail(f"{name} is not a function: write {name}*(…) for a product", last.token)
        self.fail("expected an operator: write * for a product")

    def signed(self) -> Node:
        if not self.sees("+", "-"):
            return self.power()
        self.enter()
        token = self.next()
        operand = self.signed()
        self.leave()
        return operand if token.text == "+" else Node("negative", token, (operand,))

    def power(self) -> Node:
        base = self.postfix()
        if not self.sees("^"):
            return base
        token = self.next()
        self.enter()
        exponent = self.exponent()
        self.leave()
        if exponent.kind == "name" and exponent.token.text in ("T", "top") and self.is_transpose():
            return self.postfix(Node("transpose", token, (base,)))
        return self.postfix(Node("power", token, (base, exponent)))

    def is_transpose(self) -> bool:
        return "T" not in self.words

    def exponent(self) -> Node:
        if self.sees("{"):
            return self.group()
        if self.sees("ᵀ"):
            token = self.next()
            return Node("name", Token("name", "top", token.position))
        return self.signed()

    def postfix(self, node: Node | None = None) -> Node:
        node = node or self.primary()
        while self.sees("!", "ᵀ"):
            token = self.next()
            node = Node("transpose" if token.text == "ᵀ" else "factorial", token, (node,))
        if self.sees("^") and node.kind in ("transpose", "factorial"):
            token = self.next()
            node = Node("power", token, (node, self.exponent()))
        return node

    # ---- operands

    def primary(self) -> Node:
        token = self.token
        if token.kind == "number":
            return Node("number", self.next())
        if token.kind == "name":
            return self.name()
        if token.kind == "command":
            return self.command()
        if self.sees("(", "["):
            return self.bracketed()
        if self.sees("{"):
            return self.group() if self.latex else self.set("}")
        if self.sees(r"\{"):
            return self.set(r"\}")
        if self.sees("|", "‖"):
            return self.bar()
        if self.sees("¬"):
            self.next()
            return Node("call", Token("name", "Not", token.position), (self.primary(),))
        self.fail(_OPERAND)
        return None

    def group(self) -> Node:
        """``{…}`` that only holds together."""
        opened = self.next()
        self.enter(opened)
        inner = self.statement()
        self.close("}", opened)
        self.leave(opened)
        return inner

    def bar(self) -> Node:
        opened = self.next()
        self.bars.append(opened.text)
        self.enter(opened)
        inner = self.sum()
        self.close(opened.text, opened)
        self.leave(opened)
        self.bars.pop()
        name = "abs" if opened.text == "|" else "norm"
        return Node("call", Token("name", name, opened.position), (inner,))

    def items(self, closing: tuple[str, ...], opened: Token) -> tuple[list[Node], Token]:
        self.enter(opened)
        bars, self.bars = self.bars, []
        items: list[Node] = []
        while not self.sees(*closing) or items:
            items.append(self.statement())
            if not self.sees(",", ";"):
                break
            self.next()
        if not self.sees(*closing):
            self.close(closing[0], opened)
        self.bars = bars
        self.leave(opened)
        return items, self.next()

    def bracketed(self) -> Node:
        opened = self.next()
        if self.sees(_CLOSING[opened.text]) and opened.text == "(":
            self.fail(_OPERAND)
        items, closed = self.items((")", "]"), opened)
        matching = closed.text == _CLOSING[opened.text]
        if len(items) == 2 and not matching:
            return Node("interval", opened, tuple(items), (opened.text, closed.text))
        if not matching:
            self.fail("this bracket was never opened", closed)
        if opened.text == "[":
            if self.latex and len(items) == 1:
                return Node("group", opened, tuple(items))
            return Node("list", opened, tuple(items))
        return Node("group" if len(items) == 1 else "tuple", opened, tuple(items))

    def set(self, closing: str) -> Node:
        opened = self.next()
        items, _ = self.items((closing,), opened)
        return Node("set", opened, tuple(items))

    def name(self) -> Node:
        token = self.next()
        known = token.text in self.functions and token.text.replace("_", "") not in self.words
        if self.sees("(") and self.is_call(token, known):
            opened = self.next()
            if self.sees(")") and token.text not in ("FiniteSet", "EmptySet"):
                self.fail(_OPERAND)
            items, _ = self.items((")",), opened)
            return Node("call", token, tuple(items))
        if known and self.implicit and token.text in _BARE:
            return self.bare_call(token)
        return Node("name", token)

    def is_call(self, token: Token, known: bool) -> bool:
        adjacent = self.token.position == token.position + len(token.text)
        unknown = token.text.replace("_", "") not in self.words
        return known or (self.open_functions and unknown and adjacent and not self.latex)

    def bare_call(self, token: Token) -> Node:
        r"""``sin 5n``, ``\\sin^2 x``, ``\\log_2 n``."""
        arguments: list[Node] = []
        power = None
        if self.sees("_"):
            self.next()
            arguments.append(self.argument())
        if self.sees("^"):
            power = self.next(), self.exponent()
        if self.sees("("):
            opened = self.next()
            items, _ = self.items((")",), opened)
        elif self.sees(r"\sum", r"\prod"):
            items = [self.power()]
        elif self.starts_operand() and not self.is_function(self.token):
            factors = [self.power()]
            while (
                self.starts_operand()
                and not self.sees("(", "[")
                and not self.is_function(self.token)
            ):
                factors.append(self.power())
            items = [self.times(factors)]
        else:
            word = token.text
            self.fail(f"{word} needs brackets: {word}(…)", token)
        call = Node("call", token, (*items, *arguments))
        return Node("power", power[0], (call, power[1])) if power else call

    def is_function(self, token: Token) -> bool:
        return token.text.removeprefix("\\") in _BARE or token.text in (r"\sum", r"\prod")

    def times(self, factors: list[Node]) -> Node:
        if len(factors) == 1:
            return factors[0]
        return Node("chain", factors[0].token, tuple(factors), ("*",) * (len(factors) - 1))

    # ---- LaTeX commands

    def command(self) -> Node:
        token = self.next()
        match token.text:
            case r"\frac":
                return Node(
                    "chain",
                    token,
                    (self.argument(fraction=True), self.argument(fraction=True)),
                    ("/",),
                )
            case r"\binom":
                return self.call("binomial", token, self.argument(), self.argument())
            case r"\sqrt":
                return self.root(token)
            case r"\sum" | r"\prod":
                return self.big_operator(token)
            case r"\begin{bmatrix}" | r"\begin{pmatrix}" | r"\begin{matrix}":
                return self.matrix(token)
            case r"\lfloor" | r"\lceil":
                return self.rounding(token)
            case r"\partial" | r"\nabla":
                self.fail("write a derivative as diff(f, x)", token)
        word = token.text.removeprefix("\\")
        if word in self.functions:
            plain = Token("name", word, token.position)
            if word in _BARE:
                return self.bare_call(plain)
            if self.sees("("):
                items, _ = self.items((")",), self.next())
                return Node("call", plain, tuple(items))
        self.fail(f"unknown command {token.text}", token)
        return None

    def call(self, name: str, token: Token, *arguments: Node) -> Node:
        return Node("call", Token("name", name, token.position), arguments)

    def argument(self, *, fraction: bool = False) -> Node:
        if self.sees("{"):
            return self.group()
        if fraction:
            self.fail(r"expected '{': write \frac{a}{b}")
        if self.token.kind in ("number", "name"):
            token = self.next()
            return Node(token.kind, token)
        self.fail(_OPERAND)
        return None

    def root(self, token: Token) -> Node:
        if not self.sees("["):
            if self.sees("("):
                items, _ = self.items((")",), self.next())
                return Node("call", Token("name", "sqrt", token.position), tuple(items))
            return self.call("sqrt", token, self.argument())
        opened = self.next()
        degree = self.sum()
        self.close("]", opened)
        return self.call("root", token, self.argument(), degree)

    def big_operator(self, token: Token) -> Node:
        name = "Sum" if token.text == r"\sum" else "Product"
        if not self.sees("_"):
            self.fail(rf"write the range: {token.text}_{{k=1}}^{{n}}", token)
        self.next()
        opened = self.next() if self.sees("{") else self.token
        start = self.statement()
        if opened.text == "{":
            self.close("}", opened)
        if start.kind != "relation" or start.marks != ("=",) or not self.sees("^"):
            self.fail(rf"write the range: {token.text}_{{k=1}}^{{n}}", token)
        self.next()
        stop = self.group() if self.sees("{") else self.argument()
        body = self.chain(self.signed, ("*", "/", "∘"), implicit=True)
        index, first = start.children
        return self.call(name, token, body, index, first, stop)

    def matrix(self, token: Token) -> Node:
        self.enter(token)
        rows: list[Node] = []
        cells: list[Node] = []
        while True:
            cells.append(self.statement())
            if self.sees("&"):
                self.next()
                continue
            rows.append(Node("list", token, tuple(cells)))
            cells = []
            if self.sees("\\\\"):
                self.next()
            if self.token.text == token.text.replace("begin", "end"):
                self.next()
                break
            if self.tokens[self.at - 1].text != "\\\\":
                self.fail("expected '&', '\\\\' or the end of the matrix")
        self.leave(token)
        return Node("matrix", token, tuple(rows))

    def rounding(self, token: Token) -> Node:
        inner = self.sum()
        if self.token.text != token.text.replace(r"\l", r"\r"):
            self.fail("this bracket is never closed", token)
        self.next()
        return self.call("floor" if "floor" in token.text else "ceiling", token, inner)
