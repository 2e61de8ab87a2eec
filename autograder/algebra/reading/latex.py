"""LaTeX commands, and sums, products and limits with what is written under them."""

from __future__ import annotations

from autograder.algebra.reading.cursor import OPERAND
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operands import Operands
from autograder.algebra.reading.signs import BIG_OPERATORS
from autograder.algebra.reading.tree import Node, call, shares_a_name

_MATRICES = tuple(rf"\begin{{{kind}matrix}}" for kind in ("", "b", "p"))


class Reader(Operands):
    """Read a formula in everyday notation or in LaTeX."""

    def command(self) -> Node:
        """Read what begins with a LaTeX command."""
        token = self.next()
        match token.text:
            case r"\frac":
                return self.fraction(token)
            case r"\binom":
                return call("binomial", token, self.argument(), self.argument())
            case r"\begin{cases}":
                return self.cases(token)
            case r"\sqrt":
                return self.root(token)
            case r"\boxed":
                return Node("group", token, (self.argument(),))
            case r"\lfloor" | r"\lceil":
                return self.rounding(token)
            case r"\nabla":
                self.fail("write a derivative as diff(f, x)", token)
            case r"\int":
                self.fail("integrals are not read", token)
        if token.text in _MATRICES:
            return self.matrix(token)
        word = token.text.removeprefix("\\")
        if word in self.functions:
            self.tokens[self.at - 1] = Token("name", word, token.position)
            self.at -= 1
            self.token = self.tokens[self.at]
            return self.name()
        if self.open_functions:  # a name that means nothing to us
            return Node("name", Token("name", word, token.position, token.end))
        self.fail(f"unknown command {token.text}", token)
        return None

    def argument(self) -> Node:
        r"""Read ``{…}`` or one sign; of ``12`` in ``\\frac12`` the first digit alone."""
        if self.sees("{"):
            return self.group()
        if self.sees("("):
            return self.bracketed()
        if self.token.kind == "number" and self.latex and len(self.token.text) > 1:
            text, at = self.token.text, self.token.position
            if text.isdigit():
                self.put(Token("number", text[0], at), Token("number", text[1:], at + 1))
        if self.token.kind == "name" and self.latex and self.token.text not in self.words:
            text, at = self.token.text, self.token.position
            if text[0].isalpha() and text[1:].isdigit():  # \frac n2
                self.put(Token("name", text[0], at, at + 1), Token("number", text[1:], at + 1))
        if self.token.kind in ("number", "name"):
            token = self.next()
            return Node(token.kind, token)
        if self.token.kind == "command":
            return self.command()
        self.fail(OPERAND)
        return None

    def fraction(self, token: Token) -> Node:
        r"""Read a fraction; with ∂ or an upright d on both levels it is a derivative."""
        if self.sees("("):
            self.fail(r"expected '{': write \frac{a}{b}")
        above = self.at
        if self.is_derivative():
            self.write_partials()
        if self.sees("{") and self.tokens[above + 1].text == "∂":
            return self.partial_fraction(token)
        parts = []
        for _ in range(2):
            if not self.starts_operand() and not self.sees("{"):
                self.fail(r"expected '{': write \frac{a}{b}")
            parts.append(self.argument())
        return Node("chain", token, tuple(parts), ("/",))

    def is_derivative(self) -> bool:
        r"""Whether a d stands on both levels and can be nothing else: ``\\frac{d f}{d x}``."""
        if "d" in self.words or not self.sees("{") or self.tokens[self.at + 1].text != "d":
            return False
        after = self.tokens[self.at + 2]
        below = self.closing(self.at) + 1
        signs = [token.text for token in self.tokens[below : below + 2]]
        variable = self.tokens[min(below + 2, len(self.tokens) - 1)]
        begins = after.kind in ("name", "command") or after.text in ("}", "^", "(")
        return begins and signs == ["{", "d"] and variable.kind == "name"

    def write_partials(self) -> None:
        """Put ∂ in the place of each d of a derivative."""
        below = self.closing(self.at) + 1
        for place in (self.at + 1, *range(below + 1, self.closing(below))):
            old = self.tokens[place]
            if old.text == "d":
                self.tokens[place] = Token("operator", "∂", old.position, old.end)

    def partial_fraction(self, token: Token) -> Node:
        r"""Read ``\\frac{\\partial f}{\\partial x}`` and ``\\frac{\\partial}{\\partial x} f``."""
        opened = self.next()
        self.next()
        times = self.order()
        inner = None if self.sees("}") else self.product()
        self.close("}", opened)
        opened = self.token
        if not self.sees("{"):
            self.fail(r"expected '{': write \frac{a}{b}")
        self.next()
        variables = self.variables()
        self.close("}", opened)
        if times != len(variables):
            self.fail("this is not how often it is differentiated", token)
        return call("diff", token, inner or self.power(), *variables)

    def root(self, token: Token) -> Node:
        """Read a root of any degree."""
        if not self.sees("["):
            if self.sees("("):
                items, _ = self.items((")",), self.next())
                return call("sqrt", token, *items)
            whole = self.token.kind == "number"
            return call("sqrt", token, Node("number", self.next()) if whole else self.argument())
        opened = self.next()
        degree = self.sum()
        self.close("]", opened)
        return call("root", token, self.argument(), degree)

    def big_operator(self) -> Node:
        """Read a sum, a product or a limit with what is written under it."""
        tight = self.is_tight(self.at)
        token = self.next()
        name = BIG_OPERATORS[token.text]
        under = self.script("_", token, name)
        if name == "Limit":
            if under.kind != "towards":
                self.fail("write the limit as lim_{x → 0}", token)
            return call(name, token, self.product(), *under.children)
        plain = under.kind == "relation" and under.marks == ("=",)
        if plain and self.sees("^"):
            stop = self.script("^", token, name)
            index, first = under.children
            body, factors = self.summed(index, token, tight)
            return self.before(call(name, token, body, index, first, stop), factors)
        if under.kind == "relation" and not (under.marks == ("!=",) and len(under.children) == 2):
            self.fail(f"write the range: {_RANGE[name]}", token)
        index = under.children[0] if under.kind == "relation" else under
        body, factors = self.summed(index, token, tight)
        if under.kind == "relation":
            body = call(name, token, body, *under.children)._replace(marks=under.marks)
            return self.before(body, factors)
        for index in reversed(under.children if under.kind == "tuple" else (under,)):
            body = call(name, token, body, index)
        return self.before(body, factors)

    def summed(self, index: Node, token: Token, tight: bool) -> tuple[Node, Node | None]:
        """Read what is summed, and the factors behind it that are sums of their own.

        Σ_i x_i Σ_j y_j is a product of two sums: nothing from the second sign on has an i.  In
        Π_i x_i Σ_j y_j it matters whether the sum is in every factor, and where it stands `tight`,
        in 1/Σ_i x_i y, whether y stands below.
        """
        body = self.product()
        if body.kind != "chain" or set(body.marks) - {"*", "/"}:
            return body, None
        if tight and not shares_a_name(body.children[-1], index):
            self.fail("it is unclear where this ends: put brackets around it", token)
        factors, marks = body.children, body.marks
        first = next((at for at, factor in enumerate(factors) if at and _is_big(factor)), None)
        if first is None or any(shares_a_name(factor, index) for factor in factors[first:]):
            return body, None
        if BIG_OPERATORS[token.text] == "Product":
            self.fail("it is unclear where this product ends: put brackets around it", token)
        inner = body._replace(children=factors[:first], marks=marks[: first - 1])
        one = Node("number", Token("number", "1", index.token.position))
        behind = body._replace(children=(one, *factors[first:]), marks=marks[first - 1 :])
        return inner if first > 1 else factors[0], behind

    def is_tight(self, at: int) -> bool:
        """Whether what stands here is divided by, or an exponent."""
        return at > 0 and self.tokens[at - 1].text in ("/", "^")

    def before(self, whole: Node, factors: Node | None) -> Node:
        """Return a sum times the factors behind it."""
        if factors is None:
            return whole
        return factors._replace(children=(whole, *factors.children[1:]))

    def extremum(self, token: Token) -> Node:
        """Read the largest or smallest of what an index runs through; min f is −max −f.

        Factors behind that, in which the index doesn't stand, are no part of it: max_j |v_j| M is
        a product.
        """
        tight = self.is_tight(self.at - 1)
        under = self.script("_", token, "Sum")
        body = self.product()
        factors, marks = (body.children, body.marks) if body.kind == "chain" else ((body,), ())
        own = 1 + max((i for i, f in enumerate(factors) if shares_a_name(f, under)), default=-1)
        if own in (0, len(factors)):
            return self.largest(token, body, under)
        if tight:
            self.fail("it is unclear where this ends: put brackets around it", token)
        inner = body._replace(children=factors[:own], marks=marks[: own - 1])
        extreme = self.largest(token, inner if own > 1 else factors[0], under)
        return Node("chain", token, (extreme, *factors[own:]), marks[own - 1 :])

    def largest(self, token: Token, body: Node, index: Node) -> Node:
        """Return what is read for max or min over an index."""
        if token.text == "max":
            return call("Largest", token, body, index)
        return Node(
            "negative", token, (call("Largest", token, Node("negative", token, (body,)), index),)
        )

    def script(self, sign: str, token: Token, name: str) -> Node:
        """Read what stands under or over a sign: ``_{k=1}``, ``_(i≠j)``, ``_k``, ``_{i,j}``."""
        if not self.sees(sign):
            self.fail(f"write the range: {_RANGE[name]}", token)
        self.next()
        if not self.sees("{", "("):
            return self.argument()
        opened = self.next()
        closing = "}" if opened.text == "{" else ")"
        self.enter(opened)
        items = [self.statement()]
        arrow = self.next() if self.sees("→") else None
        if arrow:
            items += self.towards().children
        while not arrow and self.sees(","):
            self.next()
            items.append(self.statement())
        self.close(closing, opened)
        self.leave(opened)
        if arrow:
            return Node("towards", arrow, tuple(items))
        return items[0] if len(items) == 1 else Node("tuple", opened, tuple(items))

    def towards(self) -> Node:
        """Read where a limit goes, ``0``, ``0^+`` or ``∞``, and from which side."""
        sign = "-" if self.sees("-") else ""
        token = self.next() if sign else self.token
        to = self.postfix()
        if sign:
            to = Node("negative", token, (to,))
        side = ""
        if self.sees("^"):
            self.next()
            braced = self.sees("{", "(") and self.next()
            if not self.sees("+", "-"):
                self.fail("expected the side from which the limit is taken, + or -")
            side = self.next().text
            if braced:
                self.close("}" if braced.text == "{" else ")", braced)
        children = (
            (to,) if not side else (to, Node("side", Token("operator", side, token.position)))
        )
        return Node("towards", token, children)

    def cases(self, token: Token) -> Node:
        """Read values and when they hold: ``x & x > 0``, and in the end ``0 & otherwise``."""
        self.enter(token)
        children: list[Node] = []
        while not self.sees(r"\end{cases}"):
            children.append(self.sum())
            while self.sees(",", "&") or self.token.text in _IF:
                self.next()
            if self.token.text not in _ELSE:
                children.append(self.statement())
            else:
                self.next()
                if self.sees("\\\\"):
                    self.next()
                if not self.sees(r"\end{cases}"):
                    self.fail("nothing comes after what holds otherwise")
                break
            if self.sees(",", ";"):
                self.next()
            if self.sees("\\\\"):
                self.next()
            elif not self.sees(r"\end{cases}"):
                self.fail("expected '&', '\\\\' or the end of the cases")
        self.next()
        self.leave(token)
        return call("cases", token, *children)

    def matrix(self, token: Token) -> Node:
        """Read the rows of a matrix."""
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
        """Read ``⌊x⌋`` or ``⌈x⌉``."""
        self.enter(token)
        inner = self.sum()
        self.leave(token)
        if self.token.text != token.text.replace(r"\l", r"\r"):
            self.fail("this bracket is never closed", token)
        self.next()
        return call("floor" if "floor" in token.text else "ceiling", token, inner)


def _is_big(node: Node) -> bool:
    """Whether this is a sum or a product, perhaps the first of several."""
    while node.kind == "group" or (node.kind == "chain" and not set(node.marks) & {"+", "-"}):
        node = node.children[0]
    return node.kind == "call" and node.token.text in ("Sum", "Product")


_IF = ("if", "for", "when", "falls")
_ELSE = ("otherwise", "else", "sonst")
_RANGE = {
    "Sum": r"\sum_{k=1}^{n} or sum(term, k, 1, n)",
    "Product": r"\prod_{k=1}^{n} or product(term, k, 1, n)",
    "Limit": r"\lim_{x \to 0} or limit(f, x, 0)",
}
