"""Operands: numbers, names and calls, and by which sign anything else begins."""

from __future__ import annotations

from autograder.algebra.reading.big_operators import read_big_operator, read_extremum
from autograder.algebra.reading.brackets import (
    CLOSING,
    POWERS,
    read_arguments,
    read_bracketed,
    read_items,
)
from autograder.algebra.reading.cursor import OPERAND, Cursor
from autograder.algebra.reading.differentials import read_derivative, read_quotient
from autograder.algebra.reading.latex import read_argument, read_command
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.operators import (
    RELATIONS,
    read_exponent,
    read_group,
    read_power,
    read_sum,
)
from autograder.algebra.reading.signs import (
    BIG_OPERATORS,
    EXPECTATION,
    INDICATORS,
    WORDS,
    is_greek,
)
from autograder.algebra.reading.tree import Node, call, indicator, unbracketed

_TRIGONOMETRIC = ("sin", "cos", "tan")
# After these, LaTeX and `sin 5n` need no brackets.
_LOGARITHMS = ("log", "ln", "log2", "log10")
_HYPERBOLIC = ("sinh", "cosh", "tanh", "sech", "csch", "coth")
_BARE = (*_TRIGONOMETRIC, "sec", "csc", "cot", *_HYPERBOLIC, "exp", *_LOGARITHMS)
_CHOOSE = ("C", "nCr")
_SQUARE = ("E", "Var")  # written E[X] as well
_INVERSES = ("arcsin", "arccos", "arctan")


def read_operand(here: Cursor) -> Node:
    """Read an operand."""
    token = here.token
    if token.kind == "number":
        number = Node("number", here.next())
        return (token.text == "1" and read_indicator(here, token)) or number
    if token.kind == "name":
        return read_name(here)
    if token.kind == "command":
        return read_big_operator(here) if token.text in BIG_OPERATORS else read_command(here)
    if here.sees("(", "["):
        return read_bracketed(here)
    if here.latex and here.sees("{"):
        return read_group(here)
    if here.sees("|", "‖"):
        return read_bar(here)
    if here.sees("√"):
        here.enter()
        root = call("sqrt", here.next(), read_operand(here))
        here.leave()
        return root
    if here.sees("∂"):
        return read_derivative(here)
    here.fail(OPERAND)
    return None


def read_bar(here: Cursor) -> Node:
    """Read an absolute value or a norm."""
    bracket = here.next()
    here.bars.append(bracket.text)
    here.enter(bracket)
    inner = read_sum(here)
    here.close(bracket.text, bracket)
    here.leave(bracket)
    here.bars.pop()
    if bracket.text == "|":
        return call("abs", bracket, inner)
    if here.sees("_"):
        here.next()
        which = read_argument(here)
        if which.token.text != "2":
            here.fail("only the Euclidean norm is read here", which.token)
    return call("norm", bracket, inner)


def read_name(here: Cursor) -> Node:
    """Read a name, with its index or with the arguments of a call."""
    token = here.next()
    if token.text == "sigma" and is_sigmoid(here):
        token = token._replace(text="sigmoid")
    known = token.text in here.functions or (token.text in POWERS and here.sees("("))
    known = known and token.text.replace("_", "") not in here.words
    if token.text[:1] == "d" and (found := read_quotient(here, token)):
        return found
    own = known or token.text in here.words
    if not own and (found := read_by_what_follows(here, token)):
        return found
    square = token.text in _SQUARE or token.text.startswith(EXPECTATION)
    if known and square and here.sees("["):
        return Node("call", token, read_items(here, ("]",), here.next()))
    if known and here.latex and token.text in _SQUARE and not here.sees("(", "⟦", "{"):
        return read_mean(here, token)
    if here.sees("⟦", "[") and token.text not in _BARE and is_index(here, token):
        return read_indexed(here, token)
    if known and token.text in ("max", "min") and here.sees("_"):
        return read_extremum(here, token)
    if known and token.text in ("max", "min") and here.sees("{", r"\{"):
        return Node("call", token, read_items(here, (CLOSING[here.next().text],), token))
    if here.sees("(") and is_call(here, token, known):
        return read_arguments(here, token)
    if here.latex and not known and is_open_call(here, token):
        return read_arguments(here, token)
    if known and token.text in (*_BARE, *_INVERSES) and (here.implicit or here.sees("_")):
        return read_bare_call(here, token)
    return Node("name", token)


def read_by_what_follows(here: Cursor, token: Token) -> Node | None:
    """Read ``1_{i=j}``, or ``C(n, k)``, which is no product; None where nothing such follows."""
    if token.text in INDICATORS:
        return read_indicator(here, token)
    start = here.at
    if token.text in _CHOOSE and here.sees("(") and "binomial" in here.functions:
        found = read_arguments(here, token)
        if len(found.children) == 2:
            return call("binomial", token, *found.children)
    here.go(start)
    return None


def is_sigmoid(here: Cursor) -> bool:
    """Whether σ is the function, where names are declared and σ is none of them."""
    own = "sigma" in here.words or "sigma" in here.functions or here.open_functions
    return here.sees("(") and "sigmoid" in here.functions and not own


def read_indicator(here: Cursor, one: Token) -> Node | None:
    """Read ``[i = j]``, ``_{i=j}`` or the like behind a 1 (or 𝟙), None where none follows."""
    start, token = here.at, here.token
    if here.sees("_"):
        here.next()
    adjacent = token.position == one.end or here.latex
    if not adjacent or not here.sees("[", "(", "{", r"\{", "⟦"):
        here.go(start)
        return None
    closing = here.closing(here.at)
    inside = {t.text for t in here.tokens[here.at : closing]}
    if inside.isdisjoint(RELATIONS):
        here.go(start)
        return None
    bracket = here.next()
    inner = here.next() if here.sees(r"\{") else None  # \mathbb{1}_{\{i=j\}}
    closing_signs = CLOSING | {"⟦": "⟧"}
    items = read_items(here, (closing_signs[(inner or bracket).text],), inner or bracket)
    if inner:
        here.close(closing_signs[bracket.text], bracket)
    if len(items) != 1 or (found := indicator(one, items[0])) is None:
        here.fail("write 1 where two indices are the same as [i = j], or delta(i, j)", one)
    return found


def read_mean(here: Cursor, token: Token) -> Node:
    r"""Read ``\\mathbb{E} e^{wz}``: of one operand it is clear what E is taken of."""
    if not here.starts_operand():
        here.fail(f"{token.text} needs brackets: {token.text}[…]", token)
    inner = read_power(here)
    if here.starts_operand():
        here.fail(f"it is unclear what {token.text} is taken of: write {token.text}[…]", token)
    return Node("call", token, (inner,))


def is_open_call(here: Cursor, name: Token) -> bool:
    r"""Whether a name that nobody declared is a function in LaTeX: ``\operatorname{Var}(X)``.

    A word in letters of its own is never a factor before a bracket; where names are declared
    it is unknown, and so is the expectation, which is no number e.
    """
    if name.text.replace("_", "") in here.words and not name.text.startswith(EXPECTATION):
        return False
    written = here.text[name.position : name.end]
    is_word = written.startswith("\\") and len(name.text) > 1 and not is_greek(name.text)
    if written.startswith((r"\operatorname", r"\mathbb")) and not here.sees("(", "["):
        here.fail(f"{name.text} needs brackets: {name.text}(…)", name)
    if not here.sees("(", "[") or name.text in WORDS | {"e"}:
        return False
    if here.open_functions:
        return is_word or here.sees("(") or name.text.startswith(EXPECTATION)
    if is_word or name.text == "E":
        here.fail(f"unknown function {name.text}", name)
    return False


def is_index(here: Cursor, name: Token) -> bool:
    """Whether the bracket here holds an index: it stands directly after a name."""
    adjacent = here.token.position == name.end
    return here.token.text == "⟦" or (adjacent and not here.latex)


def read_indexed(here: Cursor, name: Token) -> Node:
    """Read ``p[k]``, ``J[i, j]``, ``z_{k+1}``."""
    bracket = here.next()
    items = read_items(here, ("]" if bracket.text == "[" else "⟧",), bracket)
    if not items:
        here.fail(OPERAND, bracket)
    if name.text == "delta" and len(items) == 1 and items[0].kind == "relation":
        return indicator(name, items[0]) or Node("indexed", name, items)
    if len(items) == 1 and (found := indicator(bracket, items[0])):  # p_i[i = j] is a product
        return times([Node("name", name), found])
    return Node("indexed", name, items)


def is_call(here: Cursor, token: Token, known: bool) -> bool:
    """Whether the bracket after a name holds arguments."""
    adjacent = here.token.position == token.end
    unknown = token.text.replace("_", "") not in here.words
    return known or (here.open_functions and unknown and adjacent and not here.latex)


def read_bare_call(here: Cursor, token: Token) -> Node:
    r"""Read ``sin 5n``, ``\\sin^2 x``, ``\\log_2 n``."""
    arguments: list[Node] = []
    power = None
    if here.sees("_"):
        here.next()
        arguments.append(read_argument(here))
    if here.sees("^"):
        power = here.next(), read_exponent(here)
    if here.sees("(") or (here.latex and here.sees("[", "{", r"\{")):
        bracket = here.next()
        items = read_items(here, (CLOSING[bracket.text],), bracket)
    elif here.sees(*BIG_OPERATORS):
        items = (read_power(here),)
    elif here.starts_operand() and not needs_no_brackets(here.token):
        factors = [read_power(here)]
        while (
            here.starts_operand() and not here.sees("(", "[") and not needs_no_brackets(here.token)
        ):
            factors.append(read_power(here))
        if here.sees("(", "["):  # cos w(k + l): the cosine of w, or of all that?
            word = token.text
            here.fail(f"it is unclear whether this bracket belongs to {word}: write {word}(…)")
        items = (times(factors),)
    else:
        word = token.text
        here.fail(f"{word} needs brackets: {word}(…)", token)
    if power and token.text in _TRIGONOMETRIC and _is_minus_one(power[1]):
        return call(f"arc{token.text}", token, *items)
    node = Node("call", token, (*items, *arguments))
    return Node("power", power[0], (node, power[1])) if power else node


def needs_no_brackets(token: Token) -> bool:
    """Whether a function begins here that needs no brackets."""
    return token.text.removeprefix("\\") in (*_BARE, *_INVERSES) or token.text in BIG_OPERATORS


def times(factors: list[Node]) -> Node:
    """Return the product of some factors."""
    if len(factors) == 1:
        return factors[0]
    return Node("chain", factors[0].token, tuple(factors), ("*",) * (len(factors) - 1))


def _is_minus_one(node: Node) -> bool:
    node = unbracketed(node)
    return node.kind == "negative" and node.children[0].token.text == "1"
