"""Sums, products, limits and extrema, with what is written under and over them."""

from __future__ import annotations

from autograder.algebra.reading.cursor import Cursor
from autograder.algebra.reading.latex import read_argument
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import read_postfix, read_product, read_statement
from autograder.algebra.reading.signs import BIG_OPERATORS
from autograder.algebra.reading.tree import Node, call, shares_a_name

_RANGE = {
    "Sum": r"\sum_{k=1}^{n} or sum(term, k, 1, n)",
    "Product": r"\prod_{k=1}^{n} or product(term, k, 1, n)",
    "Limit": r"\lim_{x \to 0} or limit(f, x, 0)",
}


def read_big_operator(here: Cursor) -> Node:
    """Read a sum, a product or a limit with what is written under it."""
    tight = is_tight(here, here.at)
    token = here.next()
    name = BIG_OPERATORS[token.text]
    under = read_script(here, "_", token, name)
    if name == "Limit":
        if under.kind != "towards":
            here.fail("write the limit as lim_{x → 0}", token)
        return call(name, token, read_product(here), *under.children)
    plain = under.kind == "relation" and under.marks == ("=",)
    if plain and here.sees("^"):
        stop = read_script(here, "^", token, name)
        index, first = under.children
        body, factors = read_summed(here, index, token, tight)
        return before_factors(call(name, token, body, index, first, stop), factors)
    if under.kind == "relation" and not (under.marks == ("!=",) and len(under.children) == 2):
        here.fail(f"write the range: {_RANGE[name]}", token)
    index = under.children[0] if under.kind == "relation" else under
    body, factors = read_summed(here, index, token, tight)
    if under.kind == "relation":
        body = call(name, token, body, *under.children)._replace(marks=under.marks)
        return before_factors(body, factors)
    for index in reversed(under.children if under.kind == "tuple" else (under,)):
        body = call(name, token, body, index)
    return before_factors(body, factors)


def read_summed(here: Cursor, index: Node, token: Token, tight: bool) -> tuple[Node, Node | None]:
    """Read what is summed, and the factors behind it that are sums of their own.

    Σ_i x_i Σ_j y_j is a product of two sums: nothing from the second sign on has an i.  In
    Π_i x_i Σ_j y_j it matters whether the sum is in every factor, and where it stands `tight`,
    in 1/Σ_i x_i y, whether y stands below.
    """
    body = read_product(here)
    if body.kind != "chain" or set(body.marks) - {"*", "/"}:
        return body, None
    if tight and not shares_a_name(body.children[-1], index):
        here.fail("it is unclear where this ends: put brackets around it", token)
    factors, marks = body.children, body.marks
    first = next((at for at, factor in enumerate(factors) if at and _is_big(factor)), None)
    if first is None or any(shares_a_name(factor, index) for factor in factors[first:]):
        return body, None
    if BIG_OPERATORS[token.text] == "Product":
        here.fail("it is unclear where this product ends: put brackets around it", token)
    inner = body._replace(children=factors[:first], marks=marks[: first - 1])
    one = Node("number", Token("number", "1", index.token.position))
    behind = body._replace(children=(one, *factors[first:]), marks=marks[first - 1 :])
    return inner if first > 1 else factors[0], behind


def is_tight(here: Cursor, at: int) -> bool:
    """Whether what stands here is divided by, or an exponent."""
    return at > 0 and here.tokens[at - 1].text in ("/", "^")


def before_factors(whole: Node, factors: Node | None) -> Node:
    """Return a sum times the factors behind it."""
    if factors is None:
        return whole
    return factors._replace(children=(whole, *factors.children[1:]))


def read_extremum(here: Cursor, token: Token) -> Node:
    """Read the largest or smallest of what an index runs through; min f is −max −f.

    Factors behind that, in which the index doesn't stand, are no part of it: max_j |v_j| M is
    a product.
    """
    tight = is_tight(here, here.at - 1)
    under = read_script(here, "_", token, "Sum")
    body = read_product(here)
    factors, marks = (body.children, body.marks) if body.kind == "chain" else ((body,), ())
    own = 1 + max((i for i, f in enumerate(factors) if shares_a_name(f, under)), default=-1)
    if own in (0, len(factors)):
        return largest(token, body, under)
    if tight:
        here.fail("it is unclear where this ends: put brackets around it", token)
    inner = body._replace(children=factors[:own], marks=marks[: own - 1])
    extreme = largest(token, inner if own > 1 else factors[0], under)
    return Node("chain", token, (extreme, *factors[own:]), marks[own - 1 :])


def largest(token: Token, body: Node, index: Node) -> Node:
    """Return what is read for max or min over an index."""
    if token.text == "max":
        return call("Largest", token, body, index)
    return Node(
        "negative", token, (call("Largest", token, Node("negative", token, (body,)), index),)
    )


def read_script(here: Cursor, sign: str, token: Token, name: str) -> Node:
    """Read what stands under or over a sign: ``_{k=1}``, ``_(i≠j)``, ``_k``, ``_{i,j}``."""
    if not here.sees(sign):
        here.fail(f"write the range: {_RANGE[name]}", token)
    here.next()
    if not here.sees("{", "("):
        return read_argument(here)
    bracket = here.next()
    closing = "}" if bracket.text == "{" else ")"
    here.enter(bracket)
    items = [read_statement(here)]
    arrow = here.next() if here.sees("→") else None
    if arrow:
        items += read_towards(here).children
    while not arrow and here.sees(","):
        here.next()
        items.append(read_statement(here))
    here.close(closing, bracket)
    here.leave(bracket)
    if arrow:
        return Node("towards", arrow, tuple(items))
    return items[0] if len(items) == 1 else Node("tuple", bracket, tuple(items))


def read_towards(here: Cursor) -> Node:
    """Read where a limit goes, ``0``, ``0^+`` or ``∞``, and from which side."""
    sign = "-" if here.sees("-") else ""
    token = here.next() if sign else here.token
    to = read_postfix(here)
    if sign:
        to = Node("negative", token, (to,))
    side = ""
    if here.sees("^"):
        here.next()
        braced = here.sees("{", "(") and here.next()
        if not here.sees("+", "-"):
            here.fail("expected the side from which the limit is taken, + or -")
        side = here.next().text
        if braced:
            here.close("}" if braced.text == "{" else ")", braced)
    children = (to,) if not side else (to, Node("side", Token("operator", side, token.position)))
    return Node("towards", token, children)


def _is_big(node: Node) -> bool:
    """Whether this is a sum or a product, perhaps the first of several."""
    while node.kind == "group" or (node.kind == "chain" and not set(node.marks) & {"+", "-"}):
        node = node.children[0]
    return node.kind == "call" and node.token.text in ("Sum", "Product")
