"""Derivatives with ∂: ``∂f/∂x`` and ``∂²f/∂x∂y``."""

from __future__ import annotations

from autograder.algebra.reading.brackets import read_arguments
from autograder.algebra.reading.cursor import Cursor
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import read_exponent, read_power
from autograder.algebra.reading.tree import Node, call, unbracketed


def read_derivative(here: Cursor) -> Node:
    """Read ``∂f/∂x``, ``∂²f/∂x∂y`` and ``∂/∂x f``."""
    token = here.next()
    times = read_order(here)
    inner = None if here.sees("/") else read_power(here)
    if not here.sees("/"):
        here.fail("expected '/': write a derivative as ∂f/∂x or diff(f, x)")
    here.next()
    variables = read_variables(here)
    if times != len(variables):
        here.fail("this is not how often it is differentiated", token)
    return call("diff", token, inner or read_power(here), *variables)


def read_quotient(here: Cursor, above: Token) -> Node | None:
    """Read ``dF/dx`` or ``d/dx f`` from behind its first word, None where that is no d."""
    inner = above.text.removeprefix("d")
    called = bool(inner) and here.sees("(") and inner in here.functions
    at = here.closing(here.at) + 1 if called else here.at
    slash, below = (here.tokens[min(place, len(here.tokens) - 1)] for place in (at, at + 1))
    if slash.text != "/" or not is_differential(here, below):
        return None
    if inner and not (inner in here.functions or is_differential(here, above)):
        return None
    if is_declared(here, above.text):
        return None
    name = above._replace(text=inner)
    node = read_arguments(here, name) if called else Node("name", name)
    here.next()
    here.next()
    by = Node("name", below._replace(text=below.text.removeprefix("d")))
    return call("diff", above, node if inner else read_power(here), by)


def is_differential(here: Cursor, token: Token) -> bool:
    """Whether this is dx for a name x, and itself none."""
    name = token.text.removeprefix("d")
    return name != token.text and is_declared(here, name) and not is_declared(here, token.text)


def is_declared(here: Cursor, word: str) -> bool:
    """Whether a word is one of the names."""
    return word.replace("_", "") in here.words


def read_variables(here: Cursor) -> list[Node]:
    """Read ``∂x∂y`` or ``∂x²``."""
    variables: list[Node] = []
    if not here.sees("∂"):
        here.fail("expected ∂ and a variable: write a derivative as ∂f/∂x or diff(f, x)")
    while here.sees("∂"):
        here.next()
        if here.token.kind != "name":
            here.fail("expected the variable to differentiate by")
        variable = Node("name", here.next())
        variables += [variable] * read_order(here)
    return variables


def read_order(here: Cursor) -> int:
    """Read how often to differentiate."""
    if not here.sees("^"):
        return 1
    here.next()
    exponent = unbracketed(read_exponent(here))
    if exponent.token.text not in ("1", "2", "3"):
        here.fail("expected how often to differentiate, at most 3 times", exponent.token)
    return int(exponent.token.text)
