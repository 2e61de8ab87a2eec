"""LaTeX commands: fractions, roots, cases, matrices."""

from __future__ import annotations

from autograder.algebra.reading.brackets import read_bracketed, read_items
from autograder.algebra.reading.cursor import OPERAND, Cursor
from autograder.algebra.reading.differentials import read_order, read_variables
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import (
    read_group,
    read_power,
    read_product,
    read_statement,
    read_sum,
)
from autograder.algebra.reading.tree import Node, call

_MATRICES = tuple(rf"\begin{{{kind}matrix}}" for kind in ("", "b", "p"))
_IF = ("if", "for", "when", "falls")
_ELSE = ("otherwise", "else", "sonst")


def read_command(here: Cursor) -> Node:
    """Read what begins with a LaTeX command."""
    token = here.next()
    match token.text:
        case r"\frac":
            return read_fraction(here, token)
        case r"\binom":
            return call("binomial", token, read_argument(here), read_argument(here))
        case r"\begin{cases}":
            return read_cases(here, token)
        case r"\sqrt":
            return read_root(here, token)
        case r"\boxed":
            return Node("group", token, (read_argument(here),))
        case r"\lfloor" | r"\lceil":
            return read_rounding(here, token)
        case r"\nabla":
            here.fail("write a derivative as diff(f, x)", token)
        case r"\int":
            here.fail("integrals are not read", token)
    if token.text in _MATRICES:
        return read_matrix_rows(here, token)
    word = token.text.removeprefix("\\")
    if word in here.functions:
        here.tokens[here.at - 1] = Token("name", word, token.position)
        here.go(here.at - 1)
        return here.operand()
    if here.open_functions:  # a name that means nothing to us
        return Node("name", Token("name", word, token.position, token.end))
    here.fail(f"unknown command {token.text}", token)
    return None


def read_argument(here: Cursor) -> Node:
    r"""Read ``{…}`` or one sign; of ``12`` in ``\\frac12`` the first digit alone."""
    if here.sees("{"):
        return read_group(here)
    if here.sees("("):
        return read_bracketed(here)
    if here.token.kind == "number" and here.latex and len(here.token.text) > 1:
        text, at = here.token.text, here.token.position
        if text.isdigit():
            here.put(Token("number", text[0], at), Token("number", text[1:], at + 1))
    if here.token.kind == "name" and here.latex and here.token.text not in here.words:
        text, at = here.token.text, here.token.position
        if text[0].isalpha() and text[1:].isdigit():  # \frac n2
            here.put(Token("name", text[0], at, at + 1), Token("number", text[1:], at + 1))
    if here.token.kind in ("number", "name"):
        token = here.next()
        return Node(token.kind, token)
    if here.token.kind == "command":
        return read_command(here)
    here.fail(OPERAND)
    return None


def read_fraction(here: Cursor, token: Token) -> Node:
    r"""Read a fraction; with ∂ or an upright d on both levels it is a derivative."""
    if here.sees("("):
        here.fail(r"expected '{': write \frac{a}{b}")
    above = here.at
    if is_derivative(here):
        write_partials(here)
    if here.sees("{") and here.tokens[above + 1].text == "∂":
        return read_partial_fraction(here, token)
    parts = []
    for _ in range(2):
        if not here.starts_operand() and not here.sees("{"):
            here.fail(r"expected '{': write \frac{a}{b}")
        parts.append(read_argument(here))
    return Node("chain", token, tuple(parts), ("/",))


def is_derivative(here: Cursor) -> bool:
    r"""Whether a d stands on both levels and can be nothing else: ``\\frac{d f}{d x}``."""
    if "d" in here.words or not here.sees("{") or here.tokens[here.at + 1].text != "d":
        return False
    after = here.tokens[here.at + 2]
    below = here.closing(here.at) + 1
    signs = [token.text for token in here.tokens[below : below + 2]]
    variable = here.tokens[min(below + 2, len(here.tokens) - 1)]
    begins = after.kind in ("name", "command") or after.text in ("}", "^", "(")
    return begins and signs == ["{", "d"] and variable.kind == "name"


def write_partials(here: Cursor) -> None:
    """Put ∂ in the place of each d of a derivative."""
    below = here.closing(here.at) + 1
    for place in (here.at + 1, *range(below + 1, here.closing(below))):
        old = here.tokens[place]
        if old.text == "d":
            here.tokens[place] = Token("operator", "∂", old.position, old.end)


def read_partial_fraction(here: Cursor, token: Token) -> Node:
    r"""Read ``\\frac{\\partial f}{\\partial x}`` and ``\\frac{\\partial}{\\partial x} f``."""
    bracket = here.next()
    here.next()
    times = read_order(here)
    inner = None if here.sees("}") else read_product(here)
    here.close("}", bracket)
    bracket = here.token
    if not here.sees("{"):
        here.fail(r"expected '{': write \frac{a}{b}")
    here.next()
    variables = read_variables(here)
    here.close("}", bracket)
    if times != len(variables):
        here.fail("this is not how often it is differentiated", token)
    return call("diff", token, inner or read_power(here), *variables)


def read_root(here: Cursor, token: Token) -> Node:
    """Read a root of any degree."""
    if not here.sees("["):
        if here.sees("("):
            return call("sqrt", token, *read_items(here, (")",), here.next()))
        whole = here.token.kind == "number"
        return call("sqrt", token, Node("number", here.next()) if whole else read_argument(here))
    bracket = here.next()
    degree = read_sum(here)
    here.close("]", bracket)
    return call("root", token, read_argument(here), degree)


def read_cases(here: Cursor, token: Token) -> Node:
    """Read values and when they hold: ``x & x > 0``, and in the end ``0 & otherwise``."""
    here.enter(token)
    children: list[Node] = []
    while not here.sees(r"\end{cases}"):
        children.append(read_sum(here))
        while here.sees(",", "&") or here.token.text in _IF:
            here.next()
        if here.token.text not in _ELSE:
            children.append(read_statement(here))
        else:
            here.next()
            if here.sees("\\\\"):
                here.next()
            if not here.sees(r"\end{cases}"):
                here.fail("nothing comes after what holds otherwise")
            break
        if here.sees(",", ";"):
            here.next()
        if here.sees("\\\\"):
            here.next()
        elif not here.sees(r"\end{cases}"):
            here.fail("expected '&', '\\\\' or the end of the cases")
    here.next()
    here.leave(token)
    return call("cases", token, *children)


def read_matrix_rows(here: Cursor, token: Token) -> Node:
    """Read the rows of a matrix."""
    here.enter(token)
    rows: list[Node] = []
    cells: list[Node] = []
    while True:
        cells.append(read_statement(here))
        if here.sees("&"):
            here.next()
            continue
        rows.append(Node("list", token, tuple(cells)))
        cells = []
        if here.sees("\\\\"):
            here.next()
        if here.token.text == token.text.replace("begin", "end"):
            here.next()
            break
        if here.tokens[here.at - 1].text != "\\\\":
            here.fail("expected '&', '\\\\' or the end of the matrix")
    here.leave(token)
    return Node("matrix", token, tuple(rows))


def read_rounding(here: Cursor, token: Token) -> Node:
    """Read ``⌊x⌋`` or ``⌈x⌉``."""
    here.enter(token)
    inner = read_sum(here)
    here.leave(token)
    if here.token.text != token.text.replace(r"\l", r"\r"):
        here.fail("this bracket is never closed", token)
    here.next()
    return call("floor" if "floor" in token.text else "ceiling", token, inner)
