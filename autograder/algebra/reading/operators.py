"""Operators, from the loosest to the tightest: relations, sums, products, powers."""

from __future__ import annotations

import re

from autograder.algebra.reading.cursor import Cursor
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.tree import Node, call, is_delta_with_one_index, kronecker

RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "≈")
_POSTFIX = {"!": "factorial", "ᵀ": "transpose", "%": "percent", "°": "degrees"}


def read_all(here: Cursor) -> Node:
    """Read all of the text."""
    node = read_statement(here)
    if here.token.kind != "end":
        if here.sees(","):
            here.fail("a comma can only separate the arguments of a function")
        if here.sees(")", "]", "}", r"\}"):
            here.fail("this bracket was never opened")
        here.after_operand()
        here.fail(f"unexpected {here.token.text!r}")
    return node


def read_statement(here: Cursor) -> Node:
    """Read formulas, joined by ``=``, ``<`` and the like."""
    here.enter()
    first = read_sum(here)
    token, sides, marks = here.token, [first], []
    while here.sees(*RELATIONS):
        marks.append(here.next().text)
        sides.append(read_sum(here))
    here.leave()
    return Node("relation", token, tuple(sides), tuple(marks)) if marks else first


def read_sum(here: Cursor) -> Node:
    """Read terms."""
    token = here.token
    children, marks = [read_product(here)], []
    while here.sees("+", "-"):
        marks.append(here.next().text)
        children.append(read_product(here))
    return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]


def read_product(here: Cursor) -> Node:
    """Read factors, with or without a sign between them."""
    token = here.token
    children, marks = [read_signed(here)], []
    while True:
        if here.sees("*", "/", "∘"):
            marks.append(here.next().text)
        elif here.sees("//"):
            children, marks = [rounded_quotient(here, children, marks)], []
            continue
        elif here.starts_operand():
            here.after_operand(children[-1])
            marks.append("*")
            children.append(read_signed(here))
            no_mixed_number(here, *children[-2:])
            continue
        else:
            break
        children.append(read_signed(here))
    return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]


def no_mixed_number(here: Cursor, whole: Node, part: Node) -> None:
    r"""Refuse ``2\\frac{2}{3}`` as well."""
    if part.token.kind == "command" and part.kind == "chain" and part.marks == ("/",):
        words = "/".join(child.token.text for child in part.children)
        here.refuse_mixed(whole.token.text, re.fullmatch(r"\d+/\d+", words), part.token)


def rounded_quotient(here: Cursor, children: list[Node], marks: list[str]) -> Node:
    """Read ``// b`` behind factors: what comes before is divided and rounded down."""
    token = here.next()
    whole = Node("chain", token, (*children, read_signed(here)), (*marks, "/"))
    return call("floor", token, whole)


def read_signed(here: Cursor) -> Node:
    """Read a power, perhaps with signs before it."""
    if not here.sees("+", "-"):
        return read_power(here)
    here.enter()
    token = here.next()
    operand = read_signed(here)
    here.leave()
    return operand if token.text == "+" else Node("negative", token, (operand,))


def read_power(here: Cursor) -> Node:
    """Read an operand, perhaps with an exponent."""
    base = read_postfix(here)
    if not here.sees("^"):
        return base
    if degrees := read_degrees(here, base):
        return degrees
    token = here.next()
    here.enter()
    exponent = read_exponent(here)
    here.leave()
    if is_delta_with_one_index(base) and exponent.kind in ("name", "number"):
        below = Node("name", base.token._replace(text=base.token.text.removeprefix("delta_")))
        return kronecker(base.token, below, exponent)
    return read_postfix(here, raised(here, base, token, exponent))


def read_degrees(here: Cursor, base: Node) -> Node | None:
    r"""Read ``90^\\circ``, None where there is another exponent."""
    if not here.peek("∘", "{∘"):
        return None
    here.next()
    bracket = here.next() if here.sees("{") else None
    token = here.next()
    if bracket:
        here.close("}", bracket)
    return Node("degrees", token, (base,))


def raised(here: Cursor, base: Node, token: Token, exponent: Node) -> Node:
    """Return a power; ``A^T`` is a transpose and ``A^-T`` that of the inverse."""
    if base.kind == "number":
        return Node("power", token, (base, exponent))
    if is_transposing(here, exponent):
        return Node("transpose", token, (base,))
    if exponent.kind == "negative" and is_transposing(here, exponent.children[0]):
        one = Node("number", Token("number", "1", token.position))
        inverse = Node("power", token, (base, Node("negative", token, (one,))))
        return Node("transpose", token, (inverse,))
    return Node("power", token, (base, exponent))


def is_transposing(here: Cursor, exponent: Node) -> bool:
    """Whether an exponent is the letter T, and not the name of something."""
    known = exponent.kind == "name" and exponent.token.text in ("T", "top")
    return known and "T" not in here.words


def read_exponent(here: Cursor) -> Node:
    """Read what follows ``^``."""
    braced = here.next() if here.sees("{") and here.peek("ᵀ", "-ᵀ") else None
    if here.sees("{"):
        return read_group(here)
    minus = here.next() if here.sees("-") and here.peek("ᵀ") else None
    if not here.sees("ᵀ"):
        return read_signed(here)
    token = here.next()
    node = Node("name", Token("name", "top", token.position, token.end))
    if braced:
        here.close("}", braced)
    return Node("negative", minus, (node,)) if minus else node


def read_group(here: Cursor) -> Node:
    """Read ``{…}`` that only holds together."""
    bracket = here.next()
    here.enter(bracket)
    inner = read_statement(here)
    if here.sees(r"\choose"):
        inner = call("binomial", here.next(), inner, read_statement(here))
    here.close("}", bracket)
    here.leave(bracket)
    return inner


def read_postfix(here: Cursor, node: Node | None = None) -> Node:
    """Read an operand with factorials and transposes after it."""
    node = node or here.operand()
    while here.sees(*_POSTFIX):
        token = here.next()
        if token.text == "!" and here.sees("!"):
            here.fail("n!! may be (n!)!, or a product of every second number: write brackets")
        if token.text == "%" and here.starts_operand():
            here.fail("% may be percent, or a remainder: write /100, or floor", token)
        node = Node(_POSTFIX[token.text], token, (node,))
    if here.sees("^") and node.kind in ("transpose", "factorial"):
        token = here.next()
        node = Node("power", token, (node, read_exponent(here)))
    return node
