"""Text to a Python syntax tree, through tokens of our own.

Names and numbers reach `ast.parse` as the placeholders ``x`` and ``1``, and are found again by
their column.  So no student's word can be a Python keyword, string or attribute, and no number is
ever rounded to a float.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Literal, NoReturn

from autograder.algebra.errors import ParseError

MAX_LENGTH = 2000
MAX_TOKENS = 600
MAX_BRACKETS = 40

_GREEK_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron
    pi rho sigma tau upsilon phi chi psi omega"""
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True))
GREEK |= {letter.upper(): name.capitalize() for letter, name in GREEK.items()}
_LETTERS = str.maketrans(GREEK | dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)))
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_OPERATORS = {"^": "**", "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/"}
_LATEX_OPERATORS = {r"\cdot": "*", r"\times": "*", r"\div": "/"}
_LATEX_LAYOUT = {r"\left", r"\right", r"\quad", r"\qquad"}
_LATEX_FRACTIONS = {r"\frac", r"\dfrac", r"\tfrac"}

_LETTER = "A-Za-z" + "".join(GREEK)
_TOKEN = re.compile(
    rf"""(?P<space>\s+|\\[,;:!\ ])
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<name>\\?[{_LETTER}](?:[{_LETTER}0-9_₀-₉]*[{_LETTER}0-9₀-₉])?(?:_\{{[A-Za-z0-9]+\}})?)
    | (?P<superscript>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
    | (?P<operator>\*\*|[-+*/^(){{}},−–×·⋅÷])
    | (?P<root>√)""",
    re.VERBOSE,
)

Kind = Literal["number", "name", "operator"]


@dataclass(frozen=True)
class Token:
    """A piece of the student's text and where it stands."""

    kind: Kind
    text: str
    position: int


@dataclass(frozen=True)
class Source:
    """A syntax tree with the student's own tokens by column."""

    text: str
    tree: ast.expr
    columns: dict[int, Token]

    def token(self, node: ast.expr) -> Token:
        """Return the token with which `node` begins."""
        return self.columns[node.col_offset]


def read_source(text: object, *, implicit: bool, functions: Container[str]) -> Source:
    """Turn `text` into a syntax tree, or raise `ParseError` where it stops making sense."""
    if not isinstance(text, str):
        raise ParseError(f"expected a formula as text, not {type(text).__name__}")
    if not text.strip():
        raise ParseError("expected a formula, but there is no text", text)
    if len(text) > MAX_LENGTH:
        raise ParseError(f"a formula may have at most {MAX_LENGTH} characters", text)
    tokens = _arrange(_plain(_tokens(text), text), text, implicit, functions)
    if len(tokens) > MAX_TOKENS:
        raise ParseError("this formula has too many parts", text)
    python, columns = "", {}
    for token in tokens:
        columns[len(python)] = token
        python += {"number": "1", "name": "x", "operator": token.text}[token.kind] + " "
    try:
        tree = ast.parse(python, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise ParseError("this is nested too deeply", text) from None
    return Source(text, tree, columns)


def _tokens(text: str) -> list[Token]:
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ParseError(_unexpected(text[position]), text, position)
        kind, word = match.lastgroup, match.group()
        if kind == "superscript":
            tokens.append(Token("operator", "**", position))
            tokens.append(Token("number", word.translate(_SUPERSCRIPTS), position))
        elif kind == "number":
            tokens.append(Token("number", word, position))
        elif kind == "name":
            plain = word.translate(_LETTERS).replace("{", "").replace("}", "")
            tokens.append(Token("name", plain, position))
        elif kind == "root":
            tokens.append(Token("name", "sqrt", position))
        elif kind == "operator":
            tokens.append(Token("operator", _OPERATORS.get(word, word), position))
        position = match.end()
    return tokens


def _unexpected(character: str) -> str:
    if character == "=":
        return "expected one expression, not an equation"
    if character in "[]":
        return "expected round brackets"
    return f"unexpected character {character!a}"


def _plain(tokens: list[Token], text: str) -> list[Token]:
    r"""Replace LaTeX commands and braces: ``\frac{a}{b}`` becomes ``((a)/(b))``."""
    plain: list[Token] = []
    braces: list[Token] = []
    closing: list[str] = []  # what the brace that closes stands for
    expected = ""

    def emit(symbols: str, at: Token) -> None:
        plain.extend(Token("operator", symbol, at.position) for symbol in symbols)

    for token in tokens:
        if expected and token.text != "{":
            raise ParseError(r"expected '{': write \frac{a}{b}", text, token.position)
        if token.text in _LATEX_FRACTIONS:
            emit("((", token)
            expected = ")/("
        elif token.text == "{":
            if not expected:
                emit("(", token)
            braces.append(token)
            closing.append(expected or ")")
            expected = ""
        elif token.text == "}":
            if not braces:
                raise ParseError("this bracket was never opened", text, token.position)
            braces.pop()
            end = closing.pop()
            emit(end, token)
            expected = "))" if end == ")/(" else ""
        elif token.text in _LATEX_OPERATORS:
            emit(_LATEX_OPERATORS[token.text], token)
        elif token.text not in _LATEX_LAYOUT:
            plain.append(Token(token.kind, token.text.removeprefix("\\"), token.position))
    if braces:
        raise ParseError("this bracket is never closed", text, braces[-1].position)
    if expected:
        raise ParseError(r"expected '{': write \frac{a}{b}", text, len(text))
    return plain


def _arrange(
    tokens: list[Token], text: str, implicit: bool, functions: Container[str]
) -> list[Token]:
    """Check that operands and operators take turns; put in the products left out."""
    arranged: list[Token] = []
    brackets: list[tuple[Token, bool]] = []  # each with: is it a function's?
    operand_expected = True

    def fail(reason: str, token: Token) -> NoReturn:
        raise ParseError(reason, text, token.position)

    for token in tokens:
        starts_operand = token.kind != "operator" or token.text == "("
        is_call = False
        if starts_operand and not operand_expected:
            last = arranged[-1]
            is_call = token.text == "(" and last.kind == "name" and last.text in functions
            if implicit and not is_call and token.kind != "number":
                arranged.append(Token("operator", "*", token.position))
            elif not is_call and last.kind == "name" and token.text == "(":
                fail(f"{last.text} is not a function: write {last.text}*(…) for a product", last)
            elif not is_call:
                fail("expected an operator: write * for a product", token)
        elif operand_expected and not starts_operand and token.text not in ("+", "-"):
            fail("expected a number, a name or '('", token)

        if token.text == "(":
            brackets.append((token, is_call))
            if len(brackets) > MAX_BRACKETS:
                fail(f"brackets may be nested at most {MAX_BRACKETS} deep", token)
        elif token.text == ")":
            if not brackets:
                fail("this bracket was never opened", token)
            brackets.pop()
        elif token.text == "," and not (brackets and brackets[-1][1]):
            fail("a comma can only separate the arguments of a function", token)
        arranged.append(token)
        operand_expected = token.kind == "operator" and token.text != ")"
    if brackets:
        fail("this bracket is never closed", brackets[-1][0])
    if operand_expected:
        raise ParseError("expected a number, a name or '(' at the end", text, len(text))
    return arranged
