"""Text to tokens: Python-like and everyday notation, and LaTeX where there is a backslash."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Literal, NamedTuple

from autograder.algebra.reading import signs
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.signs import FRACTIONS, LETTER, LOWERED, MARKS, RAISED
from autograder.student.powers_of_ten import TwoReadings, with_euler

MAX_LENGTH = 2000
MAX_TOKENS = 1200

# Words in upright or bold letters, or with an accent; what stands in the braces is one name.
_FONTS = (
    r"\\(?:mathrm|mathbf|mathit|mathcal|mathsf|mathbb|boldsymbol|bm|text|textrm|textbf|operatorname"
    rf"|{'|'.join(signs.ACCENTS)})"
)
_WORD = rf"{_FONTS}(?![A-Za-z])\s*(?:\{{\\?[A-Za-z0-9\ ]+[.,;]?\}}|[A-Za-z1]|\\[A-Za-z]+)"
_FONT = re.compile(
    r"\\(?P<font>[A-Za-z]+)\s*(?:\{(?P<braced>[^}]*)\}|(?P<bare>(?<=\s)[A-Za-z1]|\\[A-Za-z]+))"
)
_MARK = f"[{''.join(MARKS)}]"
_LOW = f"[{''.join(LOWERED)}₀-₉]"
_INDEX = rf"""(?:_(?:{_FONTS}\s*\{{[^{{}}]*\}}|\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}|\\[A-Za-z]+
    |[A-Za-z0-9])|{_LOW}+)"""
_COMMON = rf"""(?P<space>\s+|\\[,;:!\ ]|~)
    | (?P<big>[∑∏]|Σ(?=\s*_)|lim(?=_))
    | (?P<fraction>[0-9]{{0,9}}[{"".join(FRACTIONS)}])
    | (?P<number>(?:[0-9]{{1,3}}(?:\{{,\}}[0-9]{{3}})+|[0-9]+(?:\.(?!T\b)[0-9]*)?|\.[0-9]+)
        (?:[eE][+-]?[0-9]+)?)
    | (?P<superscript>⁻ᵀ|[{"".join(RAISED)}]+)
    | (?P<operator>\*\*|//|<=|>=|!=|==|:=|->|\|\||\.T\b|[-+*/^(){{}}\[\],=<>!|&;:_@%°]
        |[−–×·⋅∙•∗∘÷⁄∕（）≤≥≠≈‖∥∣ᵀ√∂→])
    | (?P<indicator>[𝟙𝟏𝕀𝔼𝕍])
    | (?P<rounding>[⌊⌋⌈⌉])
    | (?P<constant>∞)"""
# np.exp(x) is exp(x), whatever the module is called.
MODULE = r"(?:np|numpy|math|cmath|torch|sp|sympy|scipy)\.(?:linalg\.)?(?=[A-Za-z])"
_TEXT = rf"""{_COMMON}
    | (?P<module>{MODULE})
    | (?P<name>Interval\.(?:Lopen|Ropen|open)
        |[{LETTER}](?:{_MARK}(?:_[{LETTER}0-9]+)?|[{LETTER}0-9_₀-₉]*[{LETTER}0-9₀-₉]|)
         (?:_\{{[^{{}}]+\}}|{_LOW}+)?
        ['′]{{0,2}})"""
_LATEX = rf"""(?P<font>{_WORD}{_INDEX}?)
    | {_COMMON}
    | (?P<environment>\\(?:begin|end)\s*\{{[A-Za-z*]+\}})
    | (?P<escaped>\\\\|\\[{{}}|%])
    | (?P<module>{MODULE})
    | (?P<command>\\[A-Za-z]+{_INDEX}?)
    | (?P<name>[{LETTER}]{_MARK}?[{LETTER}]*[0-9₀-₉]*{_INDEX}?['′]{{0,2}})"""
# A declared Σ is a name; else it is a sum.
_PATTERNS = {
    (latex, sigma): re.compile(text.replace(r"|Σ(?=\s*_)", "" if sigma else r"|Σ(?=\s*_)"), re.X)
    for latex, text in ((False, _TEXT), (True, _LATEX))
    for sigma in (False, True)
}

_WITH_BASE = ("log", "max", "min")  # or with an index below
_FACTOR = re.compile(r"[A-Za-z](?:_?[0-9]+|[₀-₉]+|_[a-z](?![a-z0-9]))?")
_GREEK_LETTERS = re.compile(f"[{''.join(signs.GREEK)}]|[^{''.join(signs.GREEK)}]+")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]")
# x_{<t} is a name, and 1_{x<t} is not.
_COMPUTED = re.compile(
    r"[-+*/()^−·=≠]|!=|\\neq?(?![a-z])|(?<!\{)(?:[<>≤≥]|\\(?:[lg]eq?|[lg]t)(?![a-z]))"
)
_THOUSANDS = re.compile(r"\s*[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?\s*")

Kind = Literal["number", "name", "operator", "command", "end"]


#: Signs that stand for one token each: its kind, and what it holds.
_MEANINGS: dict[str, tuple[Kind, Mapping[str, str]]] = {
    "constant": ("name", signs.WRITTEN),
    "rounding": ("command", signs.WRITTEN),
    "big": ("command", signs.BIG),
}


class Token(NamedTuple):
    """A piece of the student's text, where it stands and where it ends."""

    kind: Kind
    text: str
    position: int
    end: int = -1


def is_latex(text: str) -> bool:
    """Whether `text` is to be read as LaTeX: a brace after ``^`` is enough."""
    return "\\" in text or "^{" in text


def tokenize(
    text: object,
    *,
    words: Iterable[str] = (),
    functions: Container[str] = (),
    split: bool = False,
    latex: bool = False,
) -> list[Token]:
    """Split `text` into tokens, the last one of kind ``end``, or raise `ParseError`.

    `words` and `functions` are the names of more than one letter that LaTeX text may hold without
    a command: elsewhere ``ab`` is a product there.  With `split` it is one in other text as well,
    if a and b are among the `words` and ``ab`` is not.  With `latex` it is read as LaTeX.
    """
    if not isinstance(text, str):
        raise ParseError(f"expected a formula as text, not {type(text).__name__}")
    if not text.strip():
        raise ParseError("expected a formula, but there is no text", text)
    if len(text) > MAX_LENGTH:
        raise ParseError(f"a formula may have at most {MAX_LENGTH} characters", text)
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        text = with_euler(text)
    except TwoReadings as error:
        raise ParseError(error.reason, text, error.position) from None
    tokens = _Scanner(text, frozenset(words), functions, split, latex).scan(*without_dollars(text))
    return [*tokens, Token("end", "", len(text), len(text))]


def without_dollars(text: str) -> tuple[int, int]:
    r"""Return where a formula begins and ends between ``$`` or ``\(`` and ``\)``."""
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    for begin, end in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        inside = text[start:stop]
        both = inside.startswith(begin) and inside.endswith(end)
        if both and stop - start > len(begin) + len(end):
            return start + len(begin), stop - len(end)
    return start, stop


def _with_fraction(word: str) -> str:
    """Return what ``½`` or ``2⅔`` is as one fraction.

    >>> _with_fraction("½"), _with_fraction("2⅔")
    ('1/2', '8/3')
    """
    above, below = map(int, FRACTIONS[word[-1]].split("/"))
    return f"{int(word[:-1] or 0) * below + above}/{below}"


class _Scanner:
    def __init__(
        self,
        text: str,
        words: frozenset[str],
        functions: Container[str],
        split: bool,
        latex: bool,
    ) -> None:
        self.split = split
        self.text = text
        self.latex = latex
        self.words = words
        self.functions = functions
        sigma = any(word.startswith("Sigma") for word in words)
        self.pattern = _PATTERNS[self.latex, sigma]

    def scan(self, position: int, stop: int) -> list[Token]:
        tokens: list[Token] = []
        while position < stop:
            match = self.pattern.match(self.text, position, stop)
            if match is None:
                reason = f"unexpected character {self.text[position]!r}"
                raise ParseError(reason, self.text, position)
            tokens += self.read(match)
            if len(tokens) > MAX_TOKENS:
                raise ParseError("this formula has too many parts", self.text)
            position = match.end()
        return tokens

    def read(self, match: re.Match[str]) -> list[Token]:
        kind, word, at, end = match.lastgroup, match.group(), match.start(), match.end()
        match kind:
            case "space" | "module":
                return []
            case "name":
                return self.letters(word, at) if self.latex else self.name(word, at)
            case "number":
                if "e" in word.lower() and _EXPONENT.match(self.text, end):
                    raise ParseError("this number has two exponents", self.text, at)
                return [Token("number", word.replace("{,}", ""), at, end)]
            case "operator" | "escaped":
                written = signs.COMMANDS.get(word) or signs.WRITTEN.get(word, word)
                return [Token("operator", written, at, end)]
            case "superscript":
                return self.raised(word, at)
            case "indicator":
                return [Token("name", self.struck(word), at, end)]
            case "fraction":
                return [Token("number", _with_fraction(word), at, end)]
            case "constant" | "rounding" | "big":
                meant, written_as = _MEANINGS[kind]
                return [Token(meant, written_as[word], at, end)]
            case "environment":
                return [Token("command", word.replace(" ", ""), at, end)]
            case "font":
                return self.font(word, at)
        return self.command(word, at)

    def raised(self, word: str, at: int) -> list[Token]:
        """Tokens of ``ⁿ⁺¹`` or ``⁻ᵀ``."""
        end = at + len(word)
        if word == "⁻ᵀ":
            return [Token("operator", sign, at, end) for sign in "^-ᵀ"]
        inside = "".join(RAISED[sign] for sign in word)
        tokens = []
        for piece in re.findall(r"\d+|\D", inside):
            kind: Kind = "number" if piece.isdigit() else "name" if piece.isalpha() else "operator"
            tokens.append(Token(kind, piece, at, end))
        if len(tokens) > 1:
            tokens = [Token("operator", "(", at), *tokens, Token("operator", ")", at, end)]
        return [Token("operator", "^", at), *tokens]

    def name(self, word: str, at: int) -> list[Token]:
        """Tokens of a name in text."""
        head, _, base = word.partition("_")
        base = base[1:-1] if base.startswith("{") else base
        if head in _WITH_BASE and base.isalnum() and word.replace("_", "") not in self.words:
            middle = at + len(head)
            kind: Kind = "number" if base.isdigit() else "name"
            rest = Token(kind, base, middle + 1, at + len(word))
            return [Token("name", head, at, middle), Token("operator", "_", middle), rest]
        tokens: list[Token] = []
        for piece in self.factors(word) if self.split else [word]:
            tokens += self.with_index(piece, at)
            at += len(piece)
        return tokens

    def factors(self, word: str) -> list[str]:
        """Take ``ab``, ``p_1p_2`` and ``πσ²`` apart where only the pieces are names."""
        known = word in self.functions or word in signs.WORDS
        if known or _plain(word) in self.words:
            return [word]
        pieces = _FACTOR.findall(word)
        if "".join(pieces) == word and (self.words | {"e"}).issuperset(map(_plain, pieces)):
            return pieces  # x e^x may be written xe^x
        letters = re.match(f"[{LETTER}]*", word)
        head = letters[0] if letters else ""
        if any(letter in signs.GREEK for letter in head):
            pieces = _GREEK_LETTERS.findall(head)
            return [*pieces[:-1], pieces[-1] + word[len(head) :]]
        return [word]

    def letters(self, word: str, at: int) -> list[Token]:
        """Tokens for letters in LaTeX, each a name of its own unless their word is known."""
        head, underscore, index = word.partition("_")
        name = head.translate(signs.LETTERS) + _plain_index(underscore + index)
        bare = re.match(r"[^0-9₀-₉]*", head)
        length = len(re.sub(f"[{''.join(MARKS)}{''.join(LOWERED)}'′]", "", bare[0] if bare else ""))
        if length <= 1 or name.replace("_", "") in self.words or name in self.functions:
            return self.with_index(word, at)
        last = length - 1
        split = [
            Token("name", head[i].translate(signs.LETTERS), at + i, at + i + 1) for i in range(last)
        ]
        return [*split, *self.with_index(word[last:], at + last)]

    def with_index(
        self, word: str, at: int, prefix: str = "", middle: int | None = None
    ) -> list[Token]:
        """Tokens of a name; an index that is a formula stands in brackets behind it.

        `prefix` is the name, if it is not what stands before the index, which begins at `middle`.
        """
        end = at + len(word)
        middle = word.find("_") if middle is None else middle
        head, index = (word, "") if middle < 0 else (word[:middle], word[middle:])
        if _is_formula(index):
            start = at + len(head) + 2
            return [
                Token("name", prefix or head.translate(signs.LETTERS), at, at + len(head)),
                Token("operator", "⟦", start - 1, start),
                *self.scan(start, end - 1),
                Token("operator", "⟧", end - 1, end),
            ]
        name = prefix or _lowered(head).translate(signs.LETTERS)
        return [Token("name", name + _plain_index(index), at, end)]

    def font(self, word: str, at: int) -> list[Token]:
        r"""Tokens of ``\\mathrm{diag}``, ``\\hat{x}_j``, ``\\hat\\sigma``."""
        match = _FONT.match(word)
        assert match is not None
        inner = "".join((match["braced"] or match["bare"]).replace("\\", "").rstrip(".,;").split())
        struck = match["font"] == "mathbb" or inner == "1"
        if struck and inner not in self.words:
            inner = self.struck(signs.DOUBLE_STRUCK.get(inner, inner))
        return self.with_index(word, at, inner + signs.ACCENTS.get(match["font"], ""), match.end())

    def struck(self, sign: str) -> str:
        """Return what a blackboard letter is called: 𝔼 is the expectation, where there is one."""
        called = signs.STRUCK_FUNCTIONS.get(sign, sign)
        return called if called in self.functions else sign

    def command(self, word: str, at: int) -> list[Token]:
        """Tokens of what begins with a backslash."""
        command, underscore, _ = word.partition("_")
        middle, end = at + len(command), at + len(word)
        if command in signs.LAYOUT and not underscore:
            return []
        if command in signs.NAMED or command[1:] in signs.GREEK.values():
            return self.with_index(word, at, signs.NAMED.get(command, command[1:]))
        written = signs.COMMANDS.get(command, command)
        kind: Kind = "command" if written[:1] == "\\" and written[1:].isalpha() else "operator"
        tokens = [] if command in signs.LAYOUT else [Token(kind, written, at, middle)]
        if underscore:  # no part of a name: the bounds of a sum, the base of a logarithm
            tokens += [Token("operator", "_", middle, middle + 1), *self.scan(middle + 1, end)]
        return tokens


def _is_formula(index: str) -> bool:
    """Whether an index is computed, as in ``z_{k+1}``."""
    return index.startswith("_{") and bool(_COMPUTED.search(re.sub(_FONTS, "", index)))


def _lowered(word: str) -> str:
    """Write ``pᵢ`` as ``p_i``; lowered digits alone stay with their letter."""

    def written(match: re.Match[str]) -> str:
        return "_" + "".join(LOWERED.get(sign, sign) for sign in match[0])

    return re.sub(f"[₀-₉]*[{''.join(LOWERED)}]{_LOW}*", written, word)


def _plain_index(index: str) -> str:
    r"""``_{ij}``, ``_{i,j}``, ``_\text{max}`` without braces, commas and commands."""
    index = re.sub(r"\\ell(?![A-Za-z])", "l", re.sub(_FONTS, "", _lowered(index)))
    index = index.translate(signs.LETTERS)
    return re.sub(r"[{}\\,\s]", "", index)


def _plain(name: str) -> str:
    """Return ``p₁`` and ``p_1`` as they are declared: ``p1``."""
    return name.translate(signs.LETTERS).replace("_", "")
