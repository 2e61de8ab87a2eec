"""Moving over the tokens of a formula: what comes next, and what to say if it should not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container
from typing import NoReturn

from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.tree import Node

MAX_BRACKETS = 40
MAX_DEPTH = 120

_NESTED = dict.fromkeys(("(", "[", "{", r"\{", "⟦"), 1) | dict.fromkeys(
    (")", "]", "}", r"\}", "⟧"), -1
)

OPERAND = "expected a number, a name or '('"


class Cursor:
    """A place in a list of tokens, and how deeply it is nested.

    What is read there is said by functions, each of which moves it on.  ``operand`` is the one that
    operators and brackets, on which it builds, ask in their turn.
    """

    def __init__(
        self,
        text: str,
        tokens: list[Token],
        implicit: bool,
        functions: Container[str],
        words: Collection[str],
        open_functions: bool,
        latex: bool,
        operand: Callable[[Cursor], Node],
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.latex = latex
        self.implicit = implicit or self.latex
        self.functions = functions
        self.words = words
        self.open_functions = open_functions
        self._operand = operand
        self.at = 0
        self.depth = 0
        self.bars: list[str] = []  # signs that would close an absolute value or a norm
        self.brackets = 0
        self.token = tokens[0]

    def next(self) -> Token:
        """Return the token here and move past it."""
        token = self.token
        self.go(self.at + 1)
        return token

    def go(self, at: int) -> None:
        """Go to a place; behind the last token the text still ends."""
        self.at, self.token = at, self.tokens[min(at, len(self.tokens) - 1)]

    @property
    def token_source(self) -> str:
        """What the student wrote for the token here."""
        return self.text[self.token.position : self.token.end]

    def put(self, *tokens: Token) -> None:
        """Replace the token here by others."""
        self.tokens[self.at : self.at + 1] = tokens
        self.token = self.tokens[self.at]

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        return self.token.text in signs and self.token.kind in ("operator", "command")

    def peek(self, *signs: str) -> bool:
        """Whether one of these comes after the token here, sign by sign."""
        after = self.tokens[self.at + 1 : self.at + 3]
        return any([t.text for t in after[: len(sign)]] == list(sign) for sign in signs)

    def operand(self) -> Node:
        """Read an operand."""
        return self._operand(self)

    def fail(self, reason: str, token: Token | None = None) -> NoReturn:
        """Raise the error that points at `token`, or at the token here."""
        token = token or self.token
        if token.kind == "end" and reason == OPERAND:
            reason += " at the end"
        raise ParseError(reason, self.text, token.position)

    def close(self, sign: str, bracket: Token) -> Token:
        """Move past the sign that closes what `bracket` began."""
        if self.sees(sign):
            return self.next()
        if self.token.kind == "end":
            self.fail("this bracket is never closed", bracket)
        if self.sees(","):
            self.fail("a comma can only separate the arguments of a function")
        self.after_operand()
        self.fail(f"expected {sign!r}")
        return None

    def closing(self, at: int) -> int:
        """Return where the bracket that opens at `at` is closed, or the end."""
        depth = 0
        for place in range(at, len(self.tokens)):
            depth += _NESTED.get(self.tokens[place].text, 0)
            if depth == 0:
                return place
        return len(self.tokens) - 1

    def enter(self, bracket: Token | None = None) -> None:
        """Go one level deeper, if that is allowed."""
        self.depth += 1
        if bracket:
            self.brackets += 1
            if self.brackets > MAX_BRACKETS:
                self.fail(f"brackets may be nested at most {MAX_BRACKETS} deep", bracket)
        if self.depth > MAX_DEPTH:
            self.fail("this is nested too deeply")

    def leave(self, bracket: Token | None = None) -> None:
        """Come back up from the level that `enter` went down to."""
        self.depth -= 1
        self.brackets -= bracket is not None

    def starts_operand(self) -> bool:
        """Whether an operand may begin here."""
        if self.token.kind in ("number", "name"):
            return True
        if self.sees("|", "‖"):
            if self.sees("‖") and self.bars[-1:] == ["|"] and len(self.token_source) == 2:
                at = self.token.position  # |a||b| is a product of two, no norm
                self.put(Token("operator", "|", at, at + 1), Token("operator", "|", at + 1, at + 2))
            return not self.bars or self.bars[-1] != self.token.text
        if self.token.kind == "command":
            closing = (r"\end", r"\rfloor", r"\rceil", r"\choose")
            return not self.token.text.startswith(closing)
        return self.sees("(", "[", "{", "√", "∂")

    def after_operand(self, last: Node | None = None) -> None:
        """Refuse what follows an operand, unless it is a product without a sign."""
        if not self.starts_operand():
            return
        if self.sees("[") and not self.latex:
            self.fail("expected round brackets")
        if self.implicit and last is not None and self.token.kind != "number":
            return
        if self.sees("(") and last is not None and last.kind == "name":
            name = last.token.text
            self.fail(f"{name} is not a function: write {name}*(…) for a product", last.token)
        if last is not None and last.kind == "number":
            part = "".join(token.text for token in self.tokens[self.at : self.at + 3])
            self.refuse_mixed(last.token.text, re.match(r"\d+/\d+", part), self.token)
        self.fail("expected an operator: write * for a product")

    def refuse_mixed(self, whole: str, part: re.Match[str] | None, at: Token) -> None:
        """Refuse ``2 2/3``, which may be a sum or a product, with both readings."""
        if part and whole.isdigit():
            both = f"{whole} + {part[0]}, or {whole}*({part[0]})"
            self.fail(f"{whole} {part[0]} may be a sum or a product: write {both}", at)
