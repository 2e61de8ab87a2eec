"""What stands in brackets: arguments, lists, what only holds together."""

from __future__ import annotations

from autograder.algebra.reading.cursor import OPERAND, Cursor
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import read_statement
from autograder.algebra.reading.tree import Node, between_indices, indicator

CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
POWERS = ("pow", "power")


def read_items(
    here: Cursor, closing: tuple[str, ...], bracket: Token, *, divided: bool = False
) -> tuple[Node, ...]:
    """Read what stands between brackets, separated by commas; or `divided` by one bar."""
    here.enter(bracket)
    bars, here.bars = here.bars, ["|"] * divided
    items: list[Node] = []
    while not here.sees(*closing) or items:
        items.append(read_statement(here))
        if not here.sees(",", ";", *here.bars):
            break
        here.bars = [] if here.sees("|") else here.bars
        here.next()
    if not here.sees(*closing):
        here.close(closing[0], bracket)
    here.bars = bars
    here.leave(bracket)
    here.next()
    return tuple(items)


def read_bracketed(here: Cursor) -> Node:
    """Read ``(…)`` or ``[…]``."""
    before = here.tokens[here.at - 1] if here.at else here.token
    factor = before.kind in ("number", "name") or before.text in ("*", "·", ")")
    bracket = here.next()
    if here.sees(CLOSING[bracket.text]) and bracket.text == "(":
        here.fail(OPERAND)
    inside = here.tokens[here.at : here.closing(here.at - 1)]
    divided = bracket.text == "[" and sum(token.text == "|" for token in inside) == 1
    items = read_items(here, (CLOSING[bracket.text],), bracket, divided=divided)
    factor = factor or here.sees("*", "·") or (here.implicit and here.starts_operand())
    may_be = len(items) == 1 and (bracket.text == "[" or between_indices(items[0]))
    may_be = may_be or (factor and len(items) == 1 and "=" not in items[0].marks)
    if may_be and (found := indicator(bracket, items[0])):
        return found
    if bracket.text == "[":
        if here.latex and len(items) == 1:
            return Node("group", bracket, items)
        return Node("list", bracket, items)
    return Node("group" if len(items) == 1 else "tuple", bracket, items)


def read_arguments(here: Cursor, name: Token) -> Node:
    """Read the arguments of a call; ``pow(a, b)`` is a power."""
    bracket = here.next()
    closing = CLOSING[bracket.text]
    if here.sees(closing):
        here.fail(OPERAND)
    items = read_items(here, (closing,), bracket)
    if name.text in POWERS and len(items) == 2:
        return Node("power", name, items)
    return Node("call", name, items)
