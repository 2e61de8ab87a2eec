"""Text to tokens: Python-like and everyday notation, and LaTeX where there is a backslash."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from autograder.algebra.errors import ParseError

MAX_LENGTH = 2000
MAX_TOKENS = 1200

_GREEK_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron
    pi rho sigma tau upsilon phi chi psi omega"""
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True))
GREEK |= {letter.upper(): name.capitalize() for letter, name in GREEK.items()}
_LETTERS = str.maketrans(GREEK | dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)))
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_WRITTEN = {
    "**": "^",
    "−": "-",
    "–": "-",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∘": "∘",
    "÷": "/",
    "（": "(",
    "）": ")",
    "==": "=",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "||": "‖",
    "∞": "oo",
    "∅": "EmptySet",
}
_COMMANDS = {
    r"\cdot": "*",
    r"\times": "*",
    r"\odot": "∘",
    r"\circ": "∘",
    r"\div": "/",
    r"\le": "<=",
    r"\leq": "<=",
    r"\leqslant": "<=",
    r"\ge": ">=",
    r"\geq": ">=",
    r"\geqslant": ">=",
    r"\lt": "<",
    r"\gt": ">",
    r"\ne": "!=",
    r"\neq": "!=",
    r"\approx": "≈",
    r"\cup": "∪",
    r"\cap": "∩",
    r"\setminus": "∖",
    r"\land": "∧",
    r"\wedge": "∧",
    r"\lor": "∨",
    r"\vee": "∨",
    r"\|": "‖",
    r"\lVert": "‖",
    r"\rVert": "‖",
    r"\Vert": "‖",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\vert": "|",
    r"\mid": "|",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\top": "ᵀ",
    r"\intercal": "ᵀ",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\cfrac": r"\frac",
}
_NAMED = {
    r"\infty": "oo",
    r"\emptyset": "EmptySet",
    r"\varnothing": "EmptySet",
    r"\varepsilon": "epsilon",
    r"\vartheta": "theta",
    r"\varphi": "phi",
    r"\ell": "l",
}
_LAYOUT = {
    r"\left",
    r"\right",
    r"\big",
    r"\Big",
    r"\bigl",
    r"\bigr",
    r"\Bigl",
    r"\Bigr",
    r"\bigg",
    r"\Bigg",
    r"\quad",
    r"\qquad",
}
_LAYOUT |= {r"\displaystyle", r"\textstyle", r"\limits", r"\nolimits"}
# Words in upright or bold letters; what stands in the braces is one name.
_FONTS = (
    r"\\(?:mathrm|mathbf|mathit|mathcal|mathsf|mathbb|boldsymbol|bm|text|textrm|textbf|operatorname"
    r"|hat|bar|tilde)"
)
_ACCENTS = ("hat", "bar", "tilde")

_LETTER = "A-Za-z" + "".join(GREEK)
_INDEX = r"_(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z0-9])"
_COMMON = r"""(?P<space>\s+|\\[,;:!\ ]|~)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<superscript>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
    | (?P<operator>\*\*|<=|>=|!=|==|\|\||[-+*/^(){}\[\],=<>!|&;:_−–×·⋅∘÷（）≤≥≠≈∪∩∖∧∨¬‖ᵀ])
    | (?P<root>√)
    | (?P<constant>[∞∅])"""
_TEXT = re.compile(
    rf"""{_COMMON}
    | (?P<name>Interval\.(?:Lopen|Ropen|open)
        |[{_LETTER}](?:[{_LETTER}0-9_₀-₉]*[{_LETTER}0-9₀-₉])?(?:_\{{[A-Za-z0-9,]+\}})?)""",
    re.VERBOSE,
)
_LATEX = re.compile(
    rf"""(?P<font>{_FONTS}\s*\{{[A-Za-z0-9\ ]+\}}(?:{_INDEX})?)
    | {_COMMON}
    | (?P<environment>\\(?:begin|end)\s*\{{[A-Za-z*]+\}})
    | (?P<escaped>\\\\|\\[{{}}|])
    | (?P<command>\\[A-Za-z]+(?:{_INDEX})?)
    | (?P<name>[{_LETTER}]+[0-9₀-₉]*(?:{_INDEX})?)""",
    re.VERBOSE,
)

Kind = Literal["number", "name", "operator", "command", "end"]


@dataclass(frozen=True)
class Token:
    """A piece of the student's text and where it stands."""

    kind: Kind
    text: str
    position: int


def is_latex(text: str) -> bool:
    """Whether `text` is to be read as LaTeX."""
    return "\\" in text


def tokenize(
    text: object, *, words: Container[str] = (), functions: Container[str] = ()
) -> list[Token]:
    """Split `text` into tokens, the last one of kind ``end``, or raise `ParseError`.

    `words` and `functions` are the names of more than one letter that LaTeX text may hold without
    a command: elsewhere ``ab`` is a product there.
    """
    if not isinstance(text, str):
        raise ParseError(f"expected a formula as text, not {type(text).__name__}")
    if not text.strip():
        raise ParseError("expected a formula, but there is no text", text)
    if len(text) > MAX_LENGTH:
        raise ParseError(f"a formula may have at most {MAX_LENGTH} characters", text)
    start, stop = _without_dollars(text)
    tokens = _scan(text, start, stop, is_latex(text), words, functions)
    return [*tokens, Token("end", "", len(text))]


def _scan(
    text: str,
    position: int,
    stop: int,
    latex: bool,
    words: Container[str] = (),
    functions: Container[str] = (),
) -> list[Token]:
    pattern = _LATEX if latex else _TEXT
    tokens: list[Token] = []
    while position < stop:
        match = pattern.match(text, position, stop)
        if match is None:
            raise ParseError(f"unexpected character {text[position]!a}", text, position)
        tokens += _read(match, words, functions, latex)
        if len(tokens) > MAX_TOKENS:
            raise ParseError("this formula has too many parts", text)
        position = match.end()
    return tokens


def _without_dollars(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    for mark in ("$$", "$"):
        if (
            text[start:stop].startswith(mark)
            and text[start:stop].endswith(mark)
            and stop - start > 2 * len(mark)
        ):
            return start + len(mark), stop - len(mark)
    return start, stop


def _read(
    match: re.Match[str], words: Container[str], functions: Container[str], latex: bool
) -> list[Token]:
    kind, word, at = match.lastgroup, match.group(), match.start()
    match kind:
        case "space":
            return []
        case "superscript":
            return [Token("operator", "^", at), Token("number", word.translate(_SUPERSCRIPTS), at)]
        case "number":
            return [Token("number", word, at)]
        case "root":
            return [Token("name", "sqrt", at)]
        case "constant":
            return [Token("name", _WRITTEN[word], at)]
        case "operator":
            return [Token("operator", _WRITTEN.get(word, word), at)]
        case "escaped":
            return [Token("operator", _COMMANDS.get(word, word), at)]
        case "environment":
            return [Token("command", word.replace(" ", ""), at)]
        case "command":
            return _command(word, at)
        case "font":
            font, _, rest = word.partition("{")
            inner, _, index = rest.partition("}")
            accent = font.strip()[1:] if font.strip()[1:] in _ACCENTS else ""
            name = "".join(inner.split()) + accent
            return [Token("name", name + _plain_index(index), at)]
    if latex:
        return _letters(word, at, words, functions)
    return [Token("name", _plain_index(word.translate(_LETTERS)), at)]


def _command(word: str, at: int) -> list[Token]:
    command, _, index = word.partition("_")
    if command in _LAYOUT:
        return []
    if command in (r"\sum", r"\prod", r"\log", r"\max", r"\min") or command in _COMMANDS:
        written = _COMMANDS.get(command, command)
        kind: Kind = "command" if written[:1] == "\\" and written[1:].isalpha() else "operator"
        tokens = [Token(kind, written, at)]
        return tokens + (_split_index(index, at + len(command)) if index else [])
    if command in _NAMED or command[1:] in GREEK.values():
        name = _NAMED.get(command, command[1:])
        return [Token("name", name + _plain_index(index and "_" + index), at)]
    return [Token("command", command, at)] + (
        _split_index(index, at + len(command)) if index else []
    )


def _split_index(index: str, at: int) -> list[Token]:
    """Tokens of a subscript that is no part of a name: the bounds of a sum, the base of a log."""
    inside = _scan(index, 0, len(index), True)
    moved = [Token(token.kind, token.text, at + 1 + token.position) for token in inside]
    return [Token("operator", "_", at), *moved]


def _letters(word: str, at: int, words: Container[str], functions: Container[str]) -> list[Token]:
    """Tokens for letters in LaTeX, where each is a name of its own unless their word is known."""
    head, underscore, index = word.partition("_")
    name = head.translate(_LETTERS) + _plain_index(underscore + index)
    bare = re.match(r"[^0-9₀-₉]*", head)
    length = bare.end() if bare else len(head)
    if length <= 1 or name.replace("_", "") in words or name in functions:
        return [Token("name", name, at)]
    split = [Token("name", head[i].translate(_LETTERS), at + i) for i in range(length - 1)]
    last = head[length - 1 :].translate(_LETTERS) + _plain_index(underscore + index)
    return [*split, Token("name", last, at + length - 1)]


def _plain_index(index: str) -> str:
    r"""``_{ij}``, ``_{i,j}``, ``_\text{max}`` without braces, commas and commands."""
    index = re.sub(_FONTS, "", index)
    return re.sub(r"[{}\\,\s]", "", index)
