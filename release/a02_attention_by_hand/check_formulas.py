"""The form of a formula: can it be read, in which names, and as what?  Nothing is computed.

This module and the grammar that it builds on need the standard library alone: they are put into
the file that students' notebooks look at formulas with (autograder/course/shipping.py), so that a
notebook reads a formula just as the grader does.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from collections.abc import Collection, Iterator
from collections.abc import Container
from dataclasses import dataclass
from typing import Any
from typing import Literal
from typing import NoReturn
import difflib
import itertools
import re


_WINDOW = 36  # characters shown on each side of the caret


class ParseError(ValueError):
    """A text cannot be read as a formula; ``str()`` of it is a message for the student.

    Parameters
    ----------
    reason : str
        What is wrong, in one sentence.
    text : str
        What the student wrote.
    position : int, optional
        Offset into `text` of the place that is wrong.

    Examples
    --------
    >>> print(ParseError("expected a number, a name or '('", "p1*/Z", 3))
    expected a number, a name or '('
        p1*/Z
           ^
    """

    def __init__(self, reason: str, text: str = "", position: int | None = None) -> None:
        super().__init__(reason if position is None else f"{reason}\n{_point_at(text, position)}")
        self.reason = reason
        self.text = text
        self.position = position

    def __reduce__(self) -> tuple[type[ParseError], tuple[str, str, int | None]]:
        # Results travel between processes; the default would lose the text and the position.
        return type(self), (self.reason, self.text, self.position)


def _point_at(text: str, position: int) -> str:
    start, stop = max(0, position - _WINDOW), position + _WINDOW
    before, after = "…" * (start > 0), "…" * (stop < len(text))
    shown = "".join(c if c.isprintable() else " " for c in text[start:stop])
    return f"    {before}{shown}{after}\n    {' ' * (len(before) + position - start)}^"


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


MAX_BRACKETS = 40
MAX_DEPTH = 120

RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "≈")
_LOGIC = {"and": "and", "or": "or", "∧": "and", "∨": "or"}
_SETS = {"∪": "union", "U": "union", "∩": "intersection", "&": "intersection", "∖": "difference"}
_SET_KINDS = ("set", "interval", "tuple", "list", "union", "intersection", "difference", "group")
_CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
# After these, LaTeX and `sin 5n` need no brackets.
_BARE = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "sec",
        "csc",
        "cot",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "ln",
        "arcsin",
        "arccos",
        "arctan",
    ]
)
_OPERAND = "expected a number, a name or '('"


@dataclass(frozen=True)
class Node:
    """One construct of a text.

    Attributes
    ----------
    kind : str
        ``number``, ``name``, ``call``, ``chain`` (a sum or a product), ``power``, ``relation``,
        ``matrix``, …
    token : Token
        Where it stands; the name of a ``call``.
    children : tuple of Node
    marks : tuple of str
        The operators between the children of a ``chain`` or ``relation``; the brackets of an
        ``interval``.
    """

    kind: str
    token: Token
    children: tuple[Node, ...] = ()
    marks: tuple[str, ...] = ()


def read_tree(
    text: object,
    *,
    implicit: bool,
    functions: Container[str],
    words: Collection[str] = (),
    open_functions: bool = False,
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
    """
    tokens = tokenize(text, words=words, functions=functions)
    if open_functions:
        plain = {
            token.text.replace("_", "")
            for token, after in itertools.pairwise(tokens)
            if token.kind == "name" and after.text != "(" and token.text not in functions
        }
        words = plain.union(words)
    return _Reader(str(text), tokens, implicit, functions, words, open_functions).read()


class _Reader:
    def __init__(
        self,
        text: str,
        tokens: list[Token],
        implicit: bool,
        functions: Container[str],
        words: Container[str],
        open_functions: bool,
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.latex = is_latex(text)
        self.implicit = implicit or self.latex
        self.functions = functions
        self.words = words
        self.open_functions = open_functions
        self.at = 0
        self.depth = 0
        self.bars: list[str] = []  # signs that would close an absolute value or a norm
        self.brackets = 0

    # ---- tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def sees(self, *signs: str) -> bool:
        return self.token.kind in ("operator", "command") and self.token.text in signs

    def fail(self, reason: str, token: Token | None = None) -> NoReturn:
        token = token or self.token
        if token.kind == "end" and reason == _OPERAND:
            reason += " at the end"
        raise ParseError(reason, self.text, token.position)

    def close(self, sign: str, opened: Token) -> Token:
        if self.sees(sign):
            return self.next()
        if self.token.kind == "end":
            self.fail("this bracket is never closed", opened)
        if self.sees(","):
            self.fail("a comma can only separate the arguments of a function")
        self.after_operand()
        self.fail(f"expected {sign!r}")
        return None

    def enter(self, bracket: Token | None = None) -> None:
        self.depth += 1
        if bracket:
            self.brackets += 1
            if self.brackets > MAX_BRACKETS:
                self.fail(f"brackets may be nested at most {MAX_BRACKETS} deep", bracket)
        if self.depth > MAX_DEPTH:
            self.fail("this is nested too deeply")

    def leave(self, bracket: Token | None = None) -> None:
        self.depth -= 1
        self.brackets -= bracket is not None

    # ---- levels, from the loosest to the tightest

    def read(self) -> Node:
        node = self.statement()
        if self.token.kind != "end":
            if self.sees(","):
                self.fail("a comma can only separate the arguments of a function")
            if self.sees(")", "]", "}", r"\}"):
                self.fail("this bracket was never opened")
            self.after_operand()
            self.fail(f"unexpected {self.token.text!r}")
        return node

    def statement(self) -> Node:
        self.enter()
        node = self.relation()
        while self.token.text in _LOGIC and self.token.kind in ("operator", "name"):
            if node.kind not in ("relation", "logic", "group", "call"):
                break
            token = self.next()
            node = Node("logic", token, (node, self.relation()), (_LOGIC[token.text],))
        self.leave()
        return node

    def relation(self) -> Node:
        first = self.sets()
        if not self.sees(*RELATIONS):
            return first
        token, sides, marks = self.token, [first], []
        while self.sees(*RELATIONS):
            marks.append(self.next().text)
            sides.append(self.sets())
        return Node("relation", token, tuple(sides), tuple(marks))

    def sets(self) -> Node:
        node = self.sum()
        while self.token.text in _SETS and node.kind in _SET_KINDS:
            token = self.next()
            node = Node(_SETS[token.text], token, (node, self.sum()))
        return node

    def sum(self) -> Node:
        return self.chain(self.product, ("+", "-"))

    def product(self) -> Node:
        return self.chain(self.signed, ("*", "/", "∘"), implicit=True)

    def chain(self, operand: object, signs: tuple[str, ...], *, implicit: bool = False) -> Node:
        token = self.token
        children, marks = [operand()], []  # type: ignore[operator]
        while True:
            if self.sees(*signs):
                marks.append(self.next().text)
            elif implicit and self.starts_operand() and self.token.text not in _LOGIC:
                if self.token.text in _SETS and children[-1].kind in _SET_KINDS:
                    break
                self.after_operand(children[-1])
                marks.append("*")
            else:
                break
            children.append(operand())  # type: ignore[operator]
        return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]

    def starts_operand(self) -> bool:
        if self.token.kind in ("number", "name"):
            return True
        if self.sees("|", "‖"):
            return not self.bars or self.bars[-1] != self.token.text
        if self.token.kind == "command":
            return not self.token.text.startswith((r"\end", r"\rfloor", r"\rceil"))
        return self.sees("(", "[", r"\{", "{", "¬")

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
        self.fail("expected an operator: write * for a product")

    def signed(self) -> Node:
        if not self.sees("+", "-"):
            return self.power()
        self.enter()
        token = self.next()
        operand = self.signed()
        self.leave()
        return operand if token.text == "+" else Node("negative", token, (operand,))

    def power(self) -> Node:
        base = self.postfix()
        if not self.sees("^"):
            return base
        token = self.next()
        self.enter()
        exponent = self.exponent()
        self.leave()
        if exponent.kind == "name" and exponent.token.text in ("T", "top") and self.is_transpose():
            return self.postfix(Node("transpose", token, (base,)))
        return self.postfix(Node("power", token, (base, exponent)))

    def is_transpose(self) -> bool:
        return "T" not in self.words

    def exponent(self) -> Node:
        if self.sees("{"):
            return self.group()
        if self.sees("ᵀ"):
            token = self.next()
            return Node("name", Token("name", "top", token.position))
        return self.signed()

    def postfix(self, node: Node | None = None) -> Node:
        node = node or self.primary()
        while self.sees("!", "ᵀ"):
            token = self.next()
            node = Node("transpose" if token.text == "ᵀ" else "factorial", token, (node,))
        if self.sees("^") and node.kind in ("transpose", "factorial"):
            token = self.next()
            node = Node("power", token, (node, self.exponent()))
        return node

    # ---- operands

    def primary(self) -> Node:
        token = self.token
        if token.kind == "number":
            return Node("number", self.next())
        if token.kind == "name":
            return self.name()
        if token.kind == "command":
            return self.command()
        if self.sees("(", "["):
            return self.bracketed()
        if self.sees("{"):
            return self.group() if self.latex else self.set("}")
        if self.sees(r"\{"):
            return self.set(r"\}")
        if self.sees("|", "‖"):
            return self.bar()
        if self.sees("¬"):
            self.next()
            return Node("call", Token("name", "Not", token.position), (self.primary(),))
        self.fail(_OPERAND)
        return None

    def group(self) -> Node:
        """``{…}`` that only holds together."""
        opened = self.next()
        self.enter(opened)
        inner = self.statement()
        self.close("}", opened)
        self.leave(opened)
        return inner

    def bar(self) -> Node:
        opened = self.next()
        self.bars.append(opened.text)
        self.enter(opened)
        inner = self.sum()
        self.close(opened.text, opened)
        self.leave(opened)
        self.bars.pop()
        name = "abs" if opened.text == "|" else "norm"
        return Node("call", Token("name", name, opened.position), (inner,))

    def items(self, closing: tuple[str, ...], opened: Token) -> tuple[list[Node], Token]:
        self.enter(opened)
        bars, self.bars = self.bars, []
        items: list[Node] = []
        while not self.sees(*closing) or items:
            items.append(self.statement())
            if not self.sees(",", ";"):
                break
            self.next()
        if not self.sees(*closing):
            self.close(closing[0], opened)
        self.bars = bars
        self.leave(opened)
        return items, self.next()

    def bracketed(self) -> Node:
        opened = self.next()
        if self.sees(_CLOSING[opened.text]) and opened.text == "(":
            self.fail(_OPERAND)
        items, closed = self.items((")", "]"), opened)
        matching = closed.text == _CLOSING[opened.text]
        if len(items) == 2 and not matching:
            return Node("interval", opened, tuple(items), (opened.text, closed.text))
        if not matching:
            self.fail("this bracket was never opened", closed)
        if opened.text == "[":
            if self.latex and len(items) == 1:
                return Node("group", opened, tuple(items))
            return Node("list", opened, tuple(items))
        return Node("group" if len(items) == 1 else "tuple", opened, tuple(items))

    def set(self, closing: str) -> Node:
        opened = self.next()
        items, _ = self.items((closing,), opened)
        return Node("set", opened, tuple(items))

    def name(self) -> Node:
        token = self.next()
        known = token.text in self.functions and token.text.replace("_", "") not in self.words
        if self.sees("(") and self.is_call(token, known):
            opened = self.next()
            if self.sees(")") and token.text not in ("FiniteSet", "EmptySet"):
                self.fail(_OPERAND)
            items, _ = self.items((")",), opened)
            return Node("call", token, tuple(items))
        if known and self.implicit and token.text in _BARE:
            return self.bare_call(token)
        return Node("name", token)

    def is_call(self, token: Token, known: bool) -> bool:
        adjacent = self.token.position == token.position + len(token.text)
        unknown = token.text.replace("_", "") not in self.words
        return known or (self.open_functions and unknown and adjacent and not self.latex)

    def bare_call(self, token: Token) -> Node:
        r"""``sin 5n``, ``\\sin^2 x``, ``\\log_2 n``."""
        arguments: list[Node] = []
        power = None
        if self.sees("_"):
            self.next()
            arguments.append(self.argument())
        if self.sees("^"):
            power = self.next(), self.exponent()
        if self.sees("("):
            opened = self.next()
            items, _ = self.items((")",), opened)
        elif self.sees(r"\sum", r"\prod"):
            items = [self.power()]
        elif self.starts_operand() and not self.is_function(self.token):
            factors = [self.power()]
            while (
                self.starts_operand()
                and not self.sees("(", "[")
                and not self.is_function(self.token)
            ):
                factors.append(self.power())
            items = [self.times(factors)]
        else:
            word = token.text
            self.fail(f"{word} needs brackets: {word}(…)", token)
        call = Node("call", token, (*items, *arguments))
        return Node("power", power[0], (call, power[1])) if power else call

    def is_function(self, token: Token) -> bool:
        return token.text.removeprefix("\\") in _BARE or token.text in (r"\sum", r"\prod")

    def times(self, factors: list[Node]) -> Node:
        if len(factors) == 1:
            return factors[0]
        return Node("chain", factors[0].token, tuple(factors), ("*",) * (len(factors) - 1))

    # ---- LaTeX commands

    def command(self) -> Node:
        token = self.next()
        match token.text:
            case r"\frac":
                return Node(
                    "chain",
                    token,
                    (self.argument(fraction=True), self.argument(fraction=True)),
                    ("/",),
                )
            case r"\binom":
                return self.call("binomial", token, self.argument(), self.argument())
            case r"\sqrt":
                return self.root(token)
            case r"\sum" | r"\prod":
                return self.big_operator(token)
            case r"\begin{bmatrix}" | r"\begin{pmatrix}" | r"\begin{matrix}":
                return self.matrix(token)
            case r"\lfloor" | r"\lceil":
                return self.rounding(token)
            case r"\partial" | r"\nabla":
                self.fail("write a derivative as diff(f, x)", token)
        word = token.text.removeprefix("\\")
        if word in self.functions:
            plain = Token("name", word, token.position)
            if word in _BARE:
                return self.bare_call(plain)
            if self.sees("("):
                items, _ = self.items((")",), self.next())
                return Node("call", plain, tuple(items))
        self.fail(f"unknown command {token.text}", token)
        return None

    def call(self, name: str, token: Token, *arguments: Node) -> Node:
        return Node("call", Token("name", name, token.position), arguments)

    def argument(self, *, fraction: bool = False) -> Node:
        if self.sees("{"):
            return self.group()
        if fraction:
            self.fail(r"expected '{': write \frac{a}{b}")
        if self.token.kind in ("number", "name"):
            token = self.next()
            return Node(token.kind, token)
        self.fail(_OPERAND)
        return None

    def root(self, token: Token) -> Node:
        if not self.sees("["):
            if self.sees("("):
                items, _ = self.items((")",), self.next())
                return Node("call", Token("name", "sqrt", token.position), tuple(items))
            return self.call("sqrt", token, self.argument())
        opened = self.next()
        degree = self.sum()
        self.close("]", opened)
        return self.call("root", token, self.argument(), degree)

    def big_operator(self, token: Token) -> Node:
        name = "Sum" if token.text == r"\sum" else "Product"
        if not self.sees("_"):
            self.fail(rf"write the range: {token.text}_{{k=1}}^{{n}}", token)
        self.next()
        opened = self.next() if self.sees("{") else self.token
        start = self.statement()
        if opened.text == "{":
            self.close("}", opened)
        if start.kind != "relation" or start.marks != ("=",) or not self.sees("^"):
            self.fail(rf"write the range: {token.text}_{{k=1}}^{{n}}", token)
        self.next()
        stop = self.group() if self.sees("{") else self.argument()
        body = self.chain(self.signed, ("*", "/", "∘"), implicit=True)
        index, first = start.children
        return self.call(name, token, body, index, first, stop)

    def matrix(self, token: Token) -> Node:
        self.enter(token)
        rows: list[Node] = []
        cells: list[Node] = []
        while True:
            cells.append(self.statement())
            if self.sees("&"):
                self.next()
                continue
            rows.append(Node("list", token, tuple(cells)))
            cells = []
            if self.sees("\\\\"):
                self.next()
            if self.token.text == token.text.replace("begin", "end"):
                self.next()
                break
            if self.tokens[self.at - 1].text != "\\\\":
                self.fail("expected '&', '\\\\' or the end of the matrix")
        self.leave(token)
        return Node("matrix", token, tuple(rows))

    def rounding(self, token: Token) -> Node:
        inner = self.sum()
        if self.token.text != token.text.replace(r"\l", r"\r"):
            self.fail("this bracket is never closed", token)
        self.next()
        return self.call("floor" if "floor" in token.text else "ceiling", token, inner)


#: Operators by how strongly they bind, and how they are written.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
_SIGNS = {"*": "·", "/": "/", "+": " + ", "-": " − "}


def look(
    text: object,
    names: Collection[str],
    *,
    calls: Collection[str],
    constants: Collection[str],
    implicit: bool = False,
) -> str:
    """Return how a text is read, with brackets where it could have been meant otherwise.

    Parameters
    ----------
    text
        What a student wrote.
    names
        What it may be about; ``p_1`` and ``p1`` are the same name.
    calls, constants
        Functions, and names such as ``pi``, that every formula may use.
    implicit
        Whether ``2 n d`` is a product.

    Raises
    ------
    ParseError
        If it can't be read, or holds a name that nobody declared.

    Examples
    --------
    >>> look("1/2*x^2", ["x"], calls=[], constants=[])
    '(1/2)·x^2'
    """
    known = {name.replace("_", ""): name for name in names}
    tree = read_tree(text, implicit=implicit, functions=frozenset(calls), words=frozenset(known))
    _check_names(tree, str(text), known, frozenset(constants), frozenset(calls))
    return _written(tree)[0] or " ".join(str(text).split())


def _check_names(
    tree: Any,
    text: str,
    known: dict[str, str],
    constants: frozenset[str],
    calls: frozenset[str],
) -> None:
    bases = {_base(name) for name in known.values()}
    bound = {
        argument.token.text
        for node in _nodes(tree)
        if node.kind == "call"
        for argument in node.children[1:]
        if argument.kind == "name"
    }
    for node in _nodes(tree):
        word = node.token.text
        if node.kind != "name" or word in constants | bound or word.replace("_", "") in known:
            continue
        if "_" in word and _base(word) in bases and bound:  # p_k, where k runs
            continue
        near = difflib.get_close_matches(word.replace("_", ""), known, n=1, cutoff=0.5)
        near += difflib.get_close_matches(word, calls, n=1, cutoff=0.7)
        hint = f"the names are {', '.join(known.values())}" if known else "no names are expected"
        if near:
            hint = f"did you mean {known.get(near[0], near[0])}?"
        raise ParseError(f"unknown name {word}; {hint}", text, node.token.position)


def _base(name: str) -> str:
    return re.split(r"[_0-9]", name, maxsplit=1)[0]


def _nodes(tree: Any) -> Iterator[Any]:
    yield tree
    for child in tree.children:
        yield from _nodes(child)


def _written(node: Any) -> tuple[str, int]:
    """Return how a tree is written, and how strongly it holds together; "" for rare things."""
    kind, word = node.kind, node.token.text
    if kind in ("number", "name"):
        return word, _PRODUCT if "/" in word else _ATOM
    if kind == "group" and len(node.children) == 1:
        return _written(node.children[0])
    pieces = [_written(child) for child in node.children]
    if not all(text for text, _ in pieces):
        return "", _ATOM
    if kind == "call":
        return f"{word}({', '.join(text for text, _ in pieces)})", _ATOM
    if kind == "negative":
        return f"−{_in_brackets(pieces[0], _POWER)}", _SIGN
    if kind == "power":
        return f"{_in_brackets(pieces[0], _ATOM)}^{_in_brackets(pieces[1], _ATOM)}", _POWER
    if kind in ("transpose", "factorial"):
        return _in_brackets(pieces[0], _ATOM) + ("ᵀ" if kind == "transpose" else "!"), _POWER
    if kind == "chain" and set(node.marks) <= _SIGNS.keys():
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


CALLS = frozenset(['Abs', 'And', 'Complement', 'Derivative', 'EmptySet', 'Eq', 'FiniteSet', 'Ge', 'Gt', 'Implies', 'Intersection', 'Interval', 'Interval.Lopen', 'Interval.Ropen', 'Interval.open', 'KroneckerDelta', 'Le', 'Limit', 'Lt', 'Matrix', 'Max', 'Min', 'Ne', 'Not', 'Or', 'Product', 'Sum', 'Union', 'Xor', 'abs', 'acos', 'acosh', 'arccos', 'arcsin', 'arctan', 'arctan2', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'binomial', 'ceil', 'ceiling', 'conjugate', 'cos', 'cosh', 'cot', 'coth', 'csc', 'csch', 'det', 'diag', 'diff', 'erf', 'exp', 'factorial', 'floor', 'im', 'limit', 'ln', 'log', 'max', 'min', 'norm', 'prod', 'product', 're', 'root', 'sec', 'sech', 'sgn', 'sign', 'sin', 'sinh', 'sqrt', 'sum', 'tan', 'tanh', 'tr', 'trace', 'transpose'])
CONSTANTS = frozenset(['E', 'EmptySet', 'False', 'I', 'True', 'e', 'infinity', 'oo', 'pi'])
