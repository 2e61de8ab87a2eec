"""Tokens to a tree: one grammar for everyday notation and for LaTeX.

The tree says how a text was written and computes nothing.  Where an operand is expected and
where an operator decides most of what a sign means: ``|`` opens or closes an absolute value, a
bracket holds together or opens the arguments of a function.

A `Cursor` moves over the tokens, and functions read what stands where it is: `operators` what is
between operands, `brackets`, `differentials` and `latex` what their names say, `operands` the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container

from autograder.algebra.reading.cursor import Cursor
from autograder.algebra.reading.layout import without_environments
from autograder.algebra.reading.lexer import Token, is_latex, tokenize
from autograder.algebra.reading.operands import read_operand
from autograder.algebra.reading.operators import read_all
from autograder.algebra.reading.signs import WORDS
from autograder.algebra.reading.tree import Node


def read_tree(
    text: object,
    *,
    implicit: bool,
    functions: Container[str],
    words: Collection[str] = (),
    open_functions: bool = False,
    latex: bool = False,
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
    latex : bool
        Whether to read LaTeX, even where nothing in the text says so.
    """
    latex = latex or is_latex(str(text))
    text = without_environments(text) if isinstance(text, str) else text
    tokens = tokenize(text, words=words, functions=functions, split=implicit, latex=latex)
    if "lam" in words and "lambda" not in words:  # Python keeps that word: it is no name there
        tokens = [t._replace(text="lam") if t.text == "lambda" else t for t in tokens]
    if open_functions:
        words = _without_bracket(tokens, functions).union(words)
    return read_all(
        Cursor(str(text), tokens, implicit, functions, words, open_functions, latex, read_operand)
    )


def plain_names(
    text: object, *, implicit: bool, functions: Container[str], words: Collection[str] = ()
) -> frozenset[str]:
    """Return the names, without underscores, that stand in `text` without a bracket behind them."""
    latex = is_latex(str(text))
    tokens = tokenize(text, words=words, functions=functions, split=implicit, latex=latex)
    return _without_bracket(tokens, functions)


def _without_bracket(tokens: list[Token], functions: Container[str]) -> frozenset[str]:
    found = set()
    before = ""
    for token, after in itertools.pairwise(tokens):
        is_name = token.kind == "name" and token.text not in functions and token.text not in WORDS
        transposes = token.text == "T" and before == "^"
        differs = token.text == "d" and before in (r"\frac", "}")  # \frac{d}{dx}
        if is_name and not transposes and not differs and after.text not in ("(", "["):
            found.add(token.text.replace("_", ""))
        if token.text != "{":
            before = token.text
    return frozenset(found)
