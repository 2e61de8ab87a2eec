"""Is a formula worked out, or does it say what is to be computed?

The derivative of x² is 2x; "diff(x^2, x)" only asks for it.  Grader and notebook refuse by the same
function what is no finished answer, so that check() says it in time.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator

from autograder.algebra.reading.amounts import Vocabulary
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.sense import Sense
from autograder.algebra.reading.tree import Node, bound_parts, is_constant, nodes_of, with_letter

#: What may be left to be worked out: by the operator, the words that it is called by.
OPERATORS = {
    "derivative": ("diff", "Derivative"),
    "limit": ("limit", "Limit"),
    "sum": ("sum", "Sum"),
    "product": ("product", "prod", "Product"),
}
_COUNTED = ("sum", "product")
_FEW = 20  # terms
_ELSEWHERE = " elsewhere"  # behind a name: it stands for another number


def refuse_unfinished(
    tree: Node, text: str, operators: Container[str], words: Vocabulary, functions: Container[str]
) -> None:
    """Raise where a formula is no finished answer.

    Parameters
    ----------
    operators
        Those of `OPERATORS` that may stand in one.
    words
        What the formula may use.
    functions
        Those of which nothing is known: their derivatives can't be carried out, and stay.

    Raises
    ------
    ParseError
        At an operator that is to be worked out, or a name that cancels.
    """
    left = list(_left(tree, functions))
    for operator, node in left:
        if operator not in operators:
            may = "; only that of a function nobody knows may stay" if functions else ""
            reason = f"this {operator} is still to be worked out: write what it comes to"
            reason += may if operator == "derivative" else ""
            raise ParseError(reason, text, node.token.position)
    if left:  # what cancels shows once they are worked out
        return
    whole = _term_by_term(tree)
    named = {node.token.text: node for node in nodes_of(whole) if node.kind == "name"}
    for word, node in named.items():
        constant = is_constant(node, text, words.known, words.constants)
        if not constant and _cancels(word, whole, text, words):
            reason = f"{word} cancels here: work it out, and leave {word} out"
            raise ParseError(reason, text, node.token.position)


def _left(tree: Node, functions: Container[str]) -> Iterator[tuple[str, Node]]:
    """Yield the operators that are left to be worked out, each with where it stands."""
    for node in nodes_of(tree):
        found = next((o for o, called in OPERATORS.items() if node.token.text in called), "")
        if not found or node.kind != "call" or node.token.text in functions:
            continue
        known = found == "derivative" and not _is_unknown(node.children[0], functions)
        if known or found == "limit" or (found in _COUNTED and not _is_written_out(node)):
            yield found, node


def _is_unknown(inner: Node, functions: Container[str]) -> bool:
    """Whether this is F(x), or F: a function of which nothing is known, of names alone."""
    while inner.kind == "group":
        inner = inner.children[0]
    if inner.token.text not in functions or inner.kind not in ("name", "call"):
        return False
    return all(child.kind == "name" for child in inner.children)


def _is_written_out(node: Node) -> bool:
    """Whether the terms are counted: from 1 to 3, say, and not to n."""
    ends = [inner.kind for end in bound_parts(node)[2:] for inner in nodes_of(end)]
    return bool(ends) and "name" not in ends


def _term_by_term(node: Node) -> Node:
    """Return a tree with a few counted terms in the place of a sum or product of them."""
    node = node._replace(children=tuple(map(_term_by_term, node.children)))
    word = node.token.text
    mark = "+" if word in OPERATORS["sum"] else "*" if word in OPERATORS["product"] else ""
    if node.kind != "call" or not mark or len(bound_parts(node)) != 4:
        return node
    body, index, *ends = bound_parts(node)
    if not all(end.kind == "number" and end.token.text.isdigit() for end in ends):
        return node
    low, high = (int(end.token.text) for end in ends)
    if not low <= high < low + _FEW:
        return node
    terms = [_at(body, index.token.text, str(place)) for place in range(low, high + 1)]
    return Node("chain", node.token, tuple(terms), (mark,) * (high - low))


def _at(node: Node, index: str, place: str) -> Node:
    """Return a tree with a number for an index, alone or in ``z_j``."""
    if node.kind == "name" and node.token.text == index:
        return Node("number", node.token._replace(text=place))
    children = tuple(_at(child, index, place) for child in node.children)
    return with_letter(node._replace(children=()), index, place)._replace(children=children)


def _cancels(word: str, tree: Node, text: str, words: Vocabulary) -> bool:
    """Whether a formula comes to the same whatever a name stands for."""
    plain = word.replace("_", "")
    if plain not in words.known:
        return False
    other = words._replace(known={**words.known, plain: words.known[plain] + _ELSEWHERE})
    try:
        here, there = (Sense(text, each).number(tree).number for each in (words, other))
    except ParseError:  # whoever reads it says so
        return False
    return here is not None and here == there


def check_operators(operators: Collection[str]) -> None:
    """Raise ValueError for one that there is none of."""
    if unknown := sorted(set(operators) - OPERATORS.keys()):
        raise ValueError(f"no operator: {', '.join(unknown)}; known: {', '.join(OPERATORS)}")
