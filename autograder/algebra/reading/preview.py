"""The form of a formula: can it be read, in which names, and as what?  Nothing is computed.

This module and the grammar that it builds on need the standard library alone: they are put into
the file that students' notebooks look at formulas with (autograder/course/release/shipping.py), so
that a notebook reads a formula just as the grader does.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any

from autograder.algebra.reading.amounts import Vocabulary
from autograder.algebra.reading.block_rows import as_blocks
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.finished import refuse_unfinished
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.layout import without_label
from autograder.algebra.reading.lexer import MODULE
from autograder.algebra.reading.lines import declared_names, take_apart
from autograder.algebra.reading.sense import Sense
from autograder.algebra.reading.tree import Node, nodes_of, written_delta

#: Operators by how strongly they bind, and how they are written.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
_CALLED = {"Sum": "sum", "Largest": "max"}
_LISTED = {"call": "{}({})", "tuple": "({1})", "indexed": "{}[{}]"}  # by kind of node
_OPERATORS = {"D": (2, 4), "diff": (2, 4), "delta": (2, 2), "E": (1, 1), "Var": (1, 1)}
_OF_LINES = ("pi", "e")  # constants in lines with indices
_SIGNS = {"*": "·", "/": "/", "+": " + ", "-": " − "}


def look(text: object, names: Collection[str], **known: Any) -> str:
    """Return how a text is read, with brackets where it could have been meant otherwise.

    What may be `known` besides is as for `tree_of`, which raises `ParseError`.

    Examples
    --------
    >>> look("1/2*x^2", ["x"], calls={}, constants=[])
    '(1/2)·x^2'
    """
    tree = tree_of(text, names, **known)
    module = re.search(rf"\b{MODULE}", str(text))
    hint = f"  (without {module[0]} it is the same)" if module else ""
    return (_written(tree)[0] or " ".join(str(text).split())) + hint


def tree_of(
    text: object,
    names: Collection[str],
    *,
    calls: Mapping[str, tuple[int, int]],
    constants: Collection[str],
    functions: Collection[str] = (),
    implicit: bool = False,
    indexed: Collection[str] = (),
    indices: Collection[str] = (),
    blocks: Collection[str] = (),
    defined: Collection[str] = (),
    latex: bool = False,
    operators: Collection[str] | None = None,
) -> Node:
    """Return what a text says as a tree, if it makes sense.

    Parameters
    ----------
    text
        What a student wrote.
    names
        What it may be about; ``p_1`` and ``p1`` are the same name.
    calls, constants
        Functions that every formula may use, with the least and the largest number of their
        arguments, and names such as ``pi``.
    functions
        Functions of the exercise's own. One may be among the names, too: ``F(x)`` is its value.
    implicit
        Whether ``2 n d`` is a product.
    indexed
        Names that carry indices: ``z`` for z_i.
    indices
        What may be such an index, in lines with indices; these have no functions but `functions`.
    blocks
        Names of matrices, where lists are block matrices.
    defined
        Names that stand for something else: nothing is differentiated with respect to these.
    latex
        Whether to read LaTeX, even where nothing in the text says so.
    operators
        Of a finished answer: those that may be left to be worked out, see `finished`.

    Raises
    ------
    ParseError
        If it can't be read, is not finished, or holds a name that nobody declared.
    """
    known = {name.replace("_", ""): name for name in names}
    own = {name: _OPERATORS.get(name, (1, 1)) for name in functions}
    if indices:
        calls = {name: calls.get(name, own[name]) for name in own}
        constants = [name for name in _OF_LINES if name in constants]
    called = frozenset(calls).difference(known).union(functions)
    words = frozenset(known).difference(functions)
    if isinstance(text, str):
        text = without_label(text, frozenset(known))
    tree = read_tree(text, implicit=implicit, functions=called, words=words, latex=latex)
    _check_names(tree, str(text), known, frozenset(constants), called, frozenset(indexed))
    if blocks:
        tree = as_blocks(tree, str(text))
    meant = [name.replace("_", "") for name in defined]
    called_as = {**own, **calls}
    vocabulary = Vocabulary(known, constants, called_as, indexed, indices, blocks, meant)
    Sense(str(text), vocabulary).number(tree)
    if operators is not None:
        refuse_unfinished(tree, str(text), operators, vocabulary, functions)
    return tree


def look_line(
    text: str,
    names: Collection[str],
    *,
    equations: bool = False,
    bounds: bool = True,
    **known: object,
) -> str:
    """Return how a line of a derivation is read; `known` is as for `tree_of`.

    With `equations` it must be one, and without `bounds` there is no ≤ in it.

    Raises
    ------
    ParseError
        As `look` does.

    Examples
    --------
    >>> look_line("= 2 x  # algebra", ["x"], calls={}, constants=[])
    '2·x  (reason: algebra)'
    """
    declared = None if equations else declared_names({"names": names, **known})
    written = take_apart(text, declared)
    if not written.sides:
        raise ParseError("there is no formula", text)
    if equations and (len(written.sides) < 2 or any(s.relation != "=" for s in written.sides)):
        raise ParseError("expected an equation, such as a = b", text)
    if not bounds and any(side.relation != "=" for side in written.sides):
        raise ParseError("expected an equality", text)
    shown = []
    for place, side in enumerate(written.sides):
        sign = f"{'≤' if side.relation == '<=' else '='} " if place or side.relation != "=" else ""
        shown.append(sign + twice(look, side.text, names, known))
    return " ".join(shown) + (f"  (reason: {written.reason})" if written.reason else "")


def twice(read: Any, text: str, names: Collection[str], known: Mapping[str, Any]) -> Any:
    """Read a formula; what makes no sense as text may do so as LaTeX."""
    try:
        return read(text, names, implicit=True, **known)
    except ParseError as error:
        try:
            return read(text, names, implicit=True, latex=True, **known)
        except ParseError:
            raise error from None


def _check_names(
    tree: Any,
    text: str,
    known: dict[str, str],
    constants: frozenset[str],
    calls: frozenset[str],
    indexed: frozenset[str],
) -> None:
    bases = {"delta", *(_base(name) for name in known.values())}
    bound = {
        name.token.text
        for node in nodes_of(tree)
        if node.kind == "call"
        for argument in node.children[1:]
        for name in (argument, *argument.children[:1])  # k, or (k, 1, n)
        if name.kind == "name"
    }
    bound |= {
        name.token.text
        for node in nodes_of(tree)
        if node.kind == "indexed"  # J[i, j]
        for name in node.children
        if name.kind == "name"
    }
    bound |= {
        letter.token.text
        for node in nodes_of(tree)
        if written_delta(node, known.__contains__)  # δ(i, j) is δ_ij
        for letter in node.children
    }
    for node in nodes_of(tree):
        word = node.token.text
        if node.kind != "name" or word in constants | bound or word.replace("_", "") in known:
            continue
        if word.startswith("delta_") and word[:-3:-1] in (k[5:] for k in known if len(k) == 7):
            continue  # δ_ji is δ_ij
        if "_" in word and _base(word) in bases and bound:  # p_k, where k runs
            continue
        if "_" in word and word.partition("_")[0] in indexed:
            continue
        if word in calls:
            raise ParseError(f"{word} needs brackets: {word}(…)", text, node.token.position)
        near = difflib.get_close_matches(word.replace("_", ""), known, n=1, cutoff=0.5)
        near += difflib.get_close_matches(word, calls, n=1, cutoff=0.7)
        hint = f"the names are {', '.join(known.values())}" if known else "no names are expected"
        if near:
            hint = f"did you mean {known.get(near[0], near[0])}?"
        hint = say_derivative(word, known.values(), calls) or hint
        raise ParseError(f"unknown name {word}; {hint}", text, node.token.position)


def say_derivative(word: str, names: Collection[str], functions: Collection[str]) -> str:
    """Return how the derivative ``T'`` of a function is written, "" for other words.

    >>> say_derivative("T'", ["x", "T"], ["T"])
    "for T' write diff(T(x), x)"
    """
    base = word.rstrip("'′")
    if base == word or base not in functions:
        return ""
    by = next((name for name in names if name not in functions), "x")
    return f"for {word} write diff({base}({by}), {by})"


def _base(name: str) -> str:
    return re.split(r"[_0-9]", name, maxsplit=1)[0]


def _written(node: Any) -> tuple[str, int]:
    """Return how a tree is written, and how strongly it holds together; "" for rare things."""
    kind, word = node.kind, node.token.text
    if kind == "number" and "e" in word.lower():
        return f"{re.sub('[eE][+]?', '·10^', word)}", _PRODUCT
    if kind in ("number", "name"):
        return word, _PRODUCT if "/" in word else _ATOM
    if kind == "group" and len(node.children) == 1:
        return _written(node.children[0])
    pieces = [_written(child) for child in node.children]
    if not all(text for text, _ in pieces):
        return "", _ATOM
    if kind in _LISTED:
        inside = ", ".join(text for text, _ in pieces)
        return _LISTED[kind].format(_CALLED.get(word, word), inside), _ATOM
    if kind == "negative":
        return f"−{_in_brackets(pieces[0], _POWER)}", _SIGN
    if kind == "power":
        return f"{_in_brackets(pieces[0], _ATOM)}^{_in_brackets(pieces[1], _ATOM)}", _POWER
    if kind in ("transpose", "factorial"):
        return _in_brackets(pieces[0], _ATOM) + ("ᵀ" if kind == "transpose" else "!"), _POWER
    if kind == "chain" and set(node.marks) <= _SIGNS.keys():
        if node.marks[0] == "/" and pieces[0][0].endswith("^1"):  # d^1/2 is no root of d
            pieces[0] = (f"({pieces[0][0]})", _ATOM)
        return _chain(pieces, node.marks)
    return "", _ATOM


def _chain(pieces: list[tuple[str, int]], marks: Collection[str]) -> tuple[str, int]:
    level = _SUM if set(marks) <= {"+", "-"} else _PRODUCT
    text = _in_brackets(pieces[0], level)
    divided = False
    for mark, piece in zip(marks, pieces[1:], strict=True):
        if divided:
            text = f"({text})"
        own = _ATOM + 1 if piece[0].startswith("−") else level + 1
        text += _SIGNS[mark] + _in_brackets(piece, own)
        divided = mark == "/"
    return text, level


def _in_brackets(piece: tuple[str, int], level: int) -> str:
    text, own = piece
    return text if own >= level else f"({text})"
