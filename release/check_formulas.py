"""The form of a formula: can it be read, in which names, and as what?  Nothing is computed.

This module and the grammar that it builds on need the standard library alone: they are put into
the file that students' notebooks look at formulas with (autograder/course/release/shipping.py), so
that a notebook reads a formula just as the grader does.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Callable, Collection, Container
from collections.abc import Callable, Collection, Mapping
from collections.abc import Callable, Container, Iterator, Mapping
from collections.abc import Collection
from collections.abc import Collection, Container
from collections.abc import Collection, Container, Iterator
from collections.abc import Collection, Mapping
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Container
from collections.abc import Container, Iterable, Mapping
from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction
from typing import Any
from typing import Any, NamedTuple
from typing import Literal, NamedTuple
from typing import NamedTuple
from typing import NoReturn
import cmath
import difflib
import itertools
import math
import operator
import random
import re
import sys
import unicodedata


_AT_ZERO = dict.fromkeys(("sin", "tan", "sinh", "tanh", "erf", "sqrt", "norm"), 0)
_AT_ZERO |= {"exp": 1, "cos": 1}
EXTREMA = ("max", "Max", "maximum", "min", "Min", "minimum")
ABSOLUTE = ("abs", "Abs", "fabs", "absolute", "norm")
BINOMIALS = ("binomial", "binom", "comb")
LARGEST_FACTORIAL = 300
_STANDS = 2**59 - 55  # a prime, below the line of what stands for a name
_LONG = 2**50


class Amount(NamedTuple):
    """What a part of a formula comes to.

    Attributes
    ----------
    number
        Its value, or one that stands for it; None where nobody knows.
    exact
        Whether it is its value.
    constant
        Whether no name stands in it.
    matrix
        Whether it is a matrix.
    about
        About what it is, where that is known and `number` is not its value.
    """

    number: Fraction | None = None
    exact: bool = False
    constant: bool = False
    matrix: bool = False
    about: complex | None = None


class Vocabulary(NamedTuple):
    """What a formula may use.

    Attributes
    ----------
    known
        Names as declared, by how they are written without underscores.
    constants
        Names such as ``pi``.
    calls
        By function, how many arguments it takes.
    indexed
        Names that carry indices, of lines with indices.
    indices
        What may be an index there.
    blocks
        Names of matrices, where lists are block matrices.
    defined
        Names that stand for something else, which are no variables.
    """

    known: Mapping[str, str]
    constants: Collection[str]
    calls: Mapping[str, tuple[int, int]]
    indexed: Collection[str] = ()
    indices: Collection[str] = ()
    blocks: Collection[str] = ()
    defined: Collection[str] = ()


def combined(mark: str, left: Amount, right: Amount) -> Amount:
    """Return what an operation makes of two amounts."""
    a, b = left.number, right.number
    exact, constant = left.exact and right.exact, left.constant and right.constant
    matrix = left.matrix or right.matrix
    ordered = mark in "*∘" and matrix and not (left.constant or right.constant)
    if a is None or b is None or ordered:
        zero = mark in "*∘" and (a == 0 or b == 0)
        return Amount(Fraction(0) if zero else None, zero, zero or constant, matrix)
    value = a + b if mark == "+" else a - b if mark == "-" else a / b if mark == "/" else a * b
    zero = value == 0  # of blocks that go out nothing is left
    return Amount(value, exact or zero, constant or zero, matrix and not zero)


def applied(word: str, args: list[Amount]) -> Amount:
    """Return the value of a function, or a number that stands for it."""
    if word == "transpose":
        return args[0]
    constant = all(one.constant for one in args)
    numbers = [one.number for one in args if one.exact and one.number is not None]
    value: Fraction | int | None = _whatever_names_are(word, args)
    if value is None and constant and len(numbers) == len(args) and word in _OF_NUMBERS:
        value = _OF_NUMBERS[word](*numbers)
    if value is None:
        return Amount(opaque(word, *args), constant=constant)
    return Amount(Fraction(value), True, True)


def _whatever_names_are(word: str, args: list[Amount]) -> int | None:
    """Return what a function comes to for any values of the names in it: log(1), exp(x - x)."""
    first, *others = [one.number for one in args]
    like_the_next = first is not None and others[:1] == [first]
    if word in _AT_ZERO and first == 0:
        return _AT_ZERO[word]
    if word in ("log", "ln", "log2", "log10") and first == 1:
        return 0
    if word == "log" and like_the_next:
        return 1
    if word in BINOMIALS and (like_the_next or others == [0]):
        return 1
    if word in ("KroneckerDelta", "delta"):
        apart = combined("-", *args)
        if apart.number is not None and (apart.exact or _is_plain(apart.number)):
            return int(apart.number == 0)
    return None


def _whole_factorial(number: Fraction) -> int | None:
    is_read = number.denominator == 1 and number <= LARGEST_FACTORIAL
    return math.factorial(int(number)) if is_read else None


def _choices(above: Fraction, below: Fraction) -> int | None:
    is_read = above.denominator == below.denominator == 1 and 0 <= below <= above
    return math.comb(int(above), int(below)) if is_read and above <= LARGEST_FACTORIAL else None


def _whole_log2(number: Fraction) -> int | None:
    whole, below = number.as_integer_ratio()
    is_power = whole > 0 and whole.bit_count() == below == 1
    return whole.bit_length() - 1 if is_power else None


#: What functions make of numbers; None where that is no fraction, or too large.
_OF_NUMBERS: dict[str, Callable[..., Fraction | int | None]] = {
    **dict.fromkeys(ABSOLUTE, abs),
    **dict.fromkeys(("sign", "sgn"), lambda number: (number > 0) - (number < 0)),
    **dict.fromkeys(EXTREMA[:3], lambda *numbers: max(numbers)),
    **dict.fromkeys(EXTREMA[3:], lambda *numbers: min(numbers)),
    **dict.fromkeys(BINOMIALS, _choices),
    "factorial": _whole_factorial,
    "log2": _whole_log2,
    "relu": lambda number: max(number, 0),
}


def exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return a power of numbers where it is a fraction: 8^(2/3) is 4."""
    whole, degree = exponent.numerator, exponent.denominator
    if degree == 1:
        return base**whole
    if base < 0 or degree > LARGEST_FACTORIAL:
        return None
    try:
        parts = base.as_integer_ratio()
        roots = [math.isqrt(p) if degree == 2 else round(p ** (1 / degree)) for p in parts]
    except OverflowError:
        return None
    root = Fraction(*roots) if roots[1] else Fraction(0)
    return root**whole if root**degree == base else None


def opaque(word: str, *args: Amount) -> Fraction | None:
    """Return the same number for the same function of the same numbers."""
    if any(one.number is None for one in args):
        return None
    return standing_for(f"{word} {' '.join(str(one.number) for one in args)}")


def _is_plain(number: Fraction) -> bool:
    """Whether what stands for names has gone out of a number: it would be long."""
    return max(map(abs, number.as_integer_ratio())) < _LONG


def standing_for(name: str) -> Fraction:
    """Return the number that stands for a name."""
    return Fraction(random.Random(name).getrandbits(60) | 1, _STANDS)


def takes_too_long(word: str, args: list[Amount]) -> bool:
    """Whether a number has too many digits for a factorial."""
    known = [one.number for one in args if one.exact and one.constant and one.number is not None]
    sizes = [max(map(abs, number.as_integer_ratio())) for number in known]
    return word in ("factorial", *BINOMIALS) and max(sizes, default=0) >> 16 > 0


def positive(amount: Amount) -> bool:
    """Whether a number is known to be positive."""
    return amount.number is not None and amount.number > 0


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


_GREEK_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron
    pi rho sigma tau upsilon phi chi psi omega"""
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True))
GREEK |= {letter.upper(): name.capitalize() for letter, name in GREEK.items()}
ACCENTS = {"hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "tilde": "tilde"}
MARKS = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde"}
# x̂ is one character or two.
_MARKED = {
    unicodedata.normalize("NFC", letter + mark): letter + word
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for mark, word in MARKS.items()
}
_MARKED = {letter: name for letter, name in _MARKED.items() if len(letter) == 1}
_DIGITS = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
LETTERS = str.maketrans(GREEK | _MARKED | MARKS | _DIGITS | {"′": "'", "ℯ": "e"})
LETTER = "A-Za-zℯ" + "".join(GREEK) + "".join(_MARKED)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᐟᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
RAISED = dict(zip(_RAISED, "0123456789+-()/abcdefghijklmnoprstuvwxyz", strict=True))
LOWERED = dict(zip("ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "aehijklmnoprstuvx", strict=True))
FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}
FRACTIONS |= {"⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6"}


def _sign(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""


def is_greek(name: str) -> bool:
    """Whether a name is that of a Greek letter, perhaps with an index: ``sigma_q``."""
    return name.partition("_")[0] in GREEK.values()


WRITTEN = {
    "**": "^",
    "−": "-",
    "–": "-",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∙": "*",
    "•": "*",
    "@": "*",
    "÷": "/",
    "⁄": "/",
    "∕": "/",
    "∗": "*",
    "∣": "|",
    "∥": "‖",
    "（": "(",
    "）": ")",
    "==": "=",
    ":=": "=",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "||": "‖",
    "->": "→",
    ".T": "ᵀ",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "∞": "oo",
}
# Words that are never taken apart.
WORDS = frozenset({"pi", "oo", "inf", "infty", "infinity", "and", "or", "not", "True", "False"})
# Blackboard letters are no ordinary ones: 𝔼 is not the number e.
DOUBLE_STRUCK = {
    letter: next(
        sign
        for name in ("DOUBLE-STRUCK CAPITAL", "MATHEMATICAL DOUBLE-STRUCK CAPITAL")
        if (sign := _sign(f"{name} {letter}"))
    )
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
} | {"1": "𝟙"}
EXPECTATION = DOUBLE_STRUCK["E"]
STRUCK_FUNCTIONS = {EXPECTATION: "E", DOUBLE_STRUCK["V"]: "Var"}
# What stands under these says where they begin and end.
BIG_OPERATORS = {r"\sum": "Sum", r"\prod": "Product", r"\lim": "Limit"}
# 1 where what stands behind them holds, and 0 elsewhere.
INDICATORS = frozenset({"1", "𝟙", "𝟏", "𝕀", "I"})
BIG = {"Σ": r"\sum", "∑": r"\sum", "∏": r"\prod", "lim": r"\lim"}

COMMANDS = {
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
    r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\%": "%",
    r"\to": "→",
    r"\rightarrow": "→",
    r"\colon": ":",
    r"\partial": "∂",
    r"\ast": "*",
}
NAMED = {
    r"\infty": "oo",
    r"\varepsilon": "epsilon",
    r"\vartheta": "theta",
    r"\varphi": "phi",
    r"\ell": "l",
}
LAYOUT = {
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
    r"\displaystyle",
    r"\textstyle",
    r"\limits",
    r"\nolimits",
}


signs = sys.modules[__name__]


#: Euler's number where its letter could also begin an exponent of ten.
EULER = "ℯ"

# What follows is looked at alone: the 3 of 2e+3e+1 has an e of its own.
_E_BEHIND_NUMBER = re.compile(
    r"(?<![\w.])(\d[\d_]*(?:\.\d*)?|\.\d+)([eE])(?=(?P<exponent>([+-]|−)?(\d+)))"
)
# An e that begins no exponent of ten, alone or as a factor: e^2, 3e, 2 e - 1.
_EULER_ALONE = re.compile(r"(?<![A-Za-z_\\])e(?![A-Za-z_])(?![+\-−]?\d)|(?<![\w.])e(?![A-Za-z_])")
_AROUND_ENTRIES = (*",;[\n=≈&$", r"\(", r"\\")
_ENTRY_ENDS = re.compile(r"[ \t]*(?:\Z|[,;\]\n%&$]|\\[\])\\])|[ \t]+[+\-−]?[\d.]")
_IN_UNIT = re.compile(r"[ \t]*[A-Za-zμ]{1,3}(?:/s)?[ \t]*(?:\Z|[,;\]])")


class TwoReadings(ValueError):
    """A text that has two meanings.

    Parameters
    ----------
    reason
        Both of them, for the student.
    position
        Where it stands.
    """

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason, self.position = reason, position


def with_euler(text: str, *, number: bool = False) -> str:
    """Return a text of the same length with ℯ for every e that would else begin an exponent.

    ``3e+2`` is 3·e + 2.  ``3e-2`` is a power of ten where a number is asked for and it is that by
    itself, perhaps with a unit behind it; in a formula it could be both.  What programs print is a
    power of ten anywhere: 1.5e-3, 1e-3, 2E-3, 3e-04 and 2e3.

    Raises
    ------
    TwoReadings
        For what could be both.

    Examples
    --------
    >>> with_euler("1+3e+2e^(-2)"), with_euler("3e-2", number=True), with_euler("1.5e-3*x")
    ('1+3ℯ+2e^(-2)', '3e-2', '1.5e-3*x')
    """
    signs = list(text)
    others = _EULER_ALONE.search(text) is not None
    read = 0
    for found in _E_BEHIND_NUMBER.finditer(text):
        if found.start() < read:
            continue
        if _is_euler(found, text, others, number):
            signs[found.start(2)] = EULER
        else:
            read = found.end("exponent")
    return "".join(signs)


def _is_euler(found: re.Match[str], text: str, others: bool, asked: bool) -> bool:
    """Decide about one e.

    ``others`` says whether Euler's stands elsewhere in the text, and ``asked`` whether a number
    is asked for.
    """
    number, letter, exponent, sign, digits = found.groups()
    end = found.end("exponent")
    behind = text[end : end + 1]
    if sign is None or letter == "E" or (digits[0] == "0" and len(digits) > 1):
        return False
    if behind == "." or (behind == "e" and "." not in number):  # 3e-1.5, 3e+2e^x
        return True
    typed = sign != "−"  # no program prints that
    if typed and (number == "1" or ("." in number and not others)):
        return False
    if "." not in number:
        if sign == "+" and len(digits) == 1:
            return True
        if asked and typed and not others and _stands_alone(found, text):
            return False
    sign = sign if typed else "-"
    power = f"{number}*10^{sign.replace('+', '')}{digits}"
    both = f"{power}, or Euler's e: {number}*e {sign} {digits}"
    raise TwoReadings(f"{found[0]}{exponent} may be {both}; write one of them", found.start())


def _stands_alone(found: re.Match[str], text: str) -> bool:
    """Whether a number is all of an answer, or an entry of it, perhaps with a sign or a unit."""
    before = text[: found.start()]
    signed = before.rstrip(" \t")
    unsigned = signed[:-1] if signed[-1:] in tuple("+-−") else signed
    left = unsigned.rstrip(" \t")
    # 2 -3e-4 are two numbers, and 2 - 3e-4 is a difference.
    begins = left[-1:].isdigit() and (unsigned == signed or (signed == before and left != unsigned))
    end = found.end("exponent")
    ends = _ENTRY_ENDS.match(text, end) or _IN_UNIT.match(text, end)
    return bool(ends) and (not left or begins or left.endswith(_AROUND_ENTRIES))


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


class Node(NamedTuple):
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
        The operators between the children of a ``chain`` or ``relation``.
    """

    kind: str
    token: Token
    children: tuple[Node, ...] = ()
    marks: tuple[str, ...] = ()


_BINDING = ("Sum", "sum", "Product", "product", "Largest")


def call(name: str, token: Token, *arguments: Node) -> Node:
    """Return a call of `name` that stands where `token` does."""
    return Node("call", Token("name", name, token.position), arguments)


def kronecker(token: Token, one: Node, other: Node) -> Node:
    """Return what is 1 where two indices are the same and 0 elsewhere, as δ_{ij} is read."""
    if all(_is_letter_or_number(index) for index in (one, other)):
        name = f"delta_{one.token.text}{other.token.text}"
        return Node("name", Token("name", name, token.position, token.end))
    delta = Token("name", "delta", token.position, token.end)
    return Node("indexed", delta, (one, other))


def indices_in(base: str, subscript: str) -> list[str]:
    """Return the letters and numbers of an index; behind a δ are two signs.

    >>> indices_in("p", "k12"), indices_in("delta", "11")
    (['k', '12'], ['1', '1'])
    """
    return re.findall(r"[A-Za-z]|\d" if base == "delta" else r"[A-Za-z]|\d+", subscript)


def written_delta(node: Node, is_known: Callable[[str], bool]) -> Node | None:
    """Return δ(i, j) as δ_ij where a letter is no name by itself, None for any other call."""
    if node.token.text not in ("delta", "KroneckerDelta") or len(node.children) != 2:
        return None
    found = kronecker(node.token, *node.children)
    letters = [child.token.text for child in node.children if child.kind == "name"]
    return found if found.kind == "name" and not all(map(is_known, letters)) else None


def indicator(token: Token, relation: Node) -> Node | None:
    """Return what is 1 where ``i = j``, ``i ≠ j`` or ``x > 0`` holds, None for no condition."""
    if relation.kind != "relation" or "≈" in relation.marks:
        return None
    if relation.marks not in (("=",), ("!=",)):
        if not {*relation.marks} <= {"<", ">", "<=", ">="}:
            return None
        one, zero = (
            Node("number", Token("number", digit, token.position, token.end)) for digit in "10"
        )
        return call("cases", token, one, relation, zero)
    delta = kronecker(token, *relation.children)
    if relation.marks == ("=",):
        return delta
    one = Node("number", Token("number", "1", token.position, token.end))
    return Node("group", token, (Node("chain", token, (one, delta), ("-",)),))


def between_indices(node: Node) -> bool:
    """Whether this says that two running letters are the same: ``i == j``."""
    return node.kind == "relation" and all(
        child.kind == "name" and child.token.text in tuple("ijklm") for child in node.children
    )


def is_delta_with_one_index(node: Node) -> bool:
    """Whether this is δ_i, which stands before a second index: δ_i^j."""
    return node.kind == "name" and re.fullmatch(r"delta_[A-Za-z0-9]", node.token.text) is not None


def _is_letter_or_number(node: Node) -> bool:
    if node.kind == "number":
        return node.token.text.isdigit() and len(node.token.text) == 1
    return node.kind == "name" and len(node.token.text) == 1


def is_constant(
    node: Node, text: str, declared: Mapping[str, str], constants: Container[str]
) -> bool:
    r"""Whether a name is π, where p_i is declared, which is written as pi elsewhere.

    ``\\pi`` and π are the number; what could be either is refused.

    Raises
    ------
    ParseError
        With both readings.
    """
    word = node.token.text
    name = declared.get(word, word)
    if name == word or name.replace("_", "") != word or word not in constants:
        return False
    if text[node.token.position : node.token.end] == word:
        reason = f"{word} may be the constant, or {name}: write {name}, or \\{word}"
        raise ParseError(reason, text, node.token.position)
    return True


def nodes_of(tree: Node) -> Iterator[Node]:
    """Return a tree's nodes, each before those below it."""
    yield tree
    for child in tree.children:
        yield from nodes_of(child)


def unbracketed(node: Node) -> Node:
    """Return what stands in brackets."""
    while node.kind == "group":
        node = node.children[0]
    return node


def bound_parts(node: Node) -> tuple[Node, ...]:
    """Return what is summed, by which index, and its range, in ``sum(f, (k, 1, n))`` as well."""
    parts = node.children
    if len(parts) == 2 and parts[1].kind == "tuple":
        return (parts[0], *parts[1].children)
    return parts


def letters_of(node: Node) -> set[str]:
    """Return the letters of names and of their indices: z, c and k of ``z_{ck}``."""
    named = node.kind in ("name", "indexed")
    base, _, index = node.token.text.partition("_")
    own = re.findall(r"[^\W\d_]", (base if len(base) == 1 else "") + index) if named else []
    return {*own}.union(*map(letters_of, node.children))


def with_letter(node: Node, old: str, new: str) -> Node:
    """Return a tree with another letter for an index, wherever it stands: alone or in ``z_c``."""
    children = tuple(with_letter(child, old, new) for child in node.children)
    token = node.token
    if node.kind == "name":
        base, mark, index = token.text.partition("_")
        if mark:
            token = token._replace(text=f"{base}_{index.replace(old, new)}")
        elif base == old:
            token = token._replace(text=new)
    return node._replace(token=token, children=children)


def shares_a_name(one: Node, other: Node) -> bool:
    """Whether a name of one tree stands in the other, alone or as an index: j in ``v_j``.

    An index that is bound inside is no name of the whole: there is no j in ``sum(v_j, j)``.
    """
    return bool(_names(one) & _names(other))


def _names(node: Node) -> set[str]:
    own = re.findall(r"[^\W\d_]+", node.token.text) if node.kind == "name" else []
    own += node.token.text.partition("_")[2] if own else ""  # j and a in k_ja
    if node.kind == "call" and node.token.text in _BINDING and len(node.children) > 1:
        body, index, *ends = node.children
        return _names(body) - _names(index) | set().union(*map(_names, ends))
    return {*own}.union(*map(_names, node.children))


def as_blocks(tree: Node, text: str) -> Node:
    """Return a tree in which ``[A; B]`` is ``[[A], [B]]``.

    Raises
    ------
    ParseError
        If something in it is a row or a product: ``[A B]``.
    """
    _refuse_blanks(tree, text)
    return _with_columns(tree, text) if ";" in text else tree


def rows_of_blocks(node: Node) -> Sequence[Sequence[Node]]:
    """Return the entries of a block matrix: one row, or a row for each list in a list."""
    rows = [child.children if child.kind == "list" else () for child in node.children]
    return rows if all(rows) else [node.children]


def _refuse_blanks(tree: Node, text: str) -> None:
    """Refuse ``[A B]``, where lists are block matrices: is that a row, or a product?

    Raises
    ------
    ParseError
        With both readings.
    """
    for node in nodes_of(tree):
        if node.kind not in ("list", "group") or text[node.token.position] != "[":
            continue
        places = [min(n.token.position for n in nodes_of(child)) for child in node.children]
        if "," in text[places[0] : places[-1]]:
            continue
        for child, place in zip(node.children, places, strict=True):
            if child.kind == "chain" and {*child.marks} == {"*"}:
                end = max(n.token.position for n in nodes_of(child))
                if not re.search(r"[*·×∙⋅(\[{]|\\(?:cdot|times|ast)", text[place:end]):
                    reason = "are these blocks side by side, or a product? Write [A, B], or [A*B]"
                    raise ParseError(reason, text, place)


def _with_columns(node: Node, text: str) -> Node:
    """Make of a list ``[A; B]`` what ``[[A], [B]]`` is."""
    children = tuple(_with_columns(child, text) for child in node.children)
    if node.kind == "list" and len(children) > 1:
        places = [child.token.position for child in node.children]
        if ";" in text[places[0] : places[1]]:
            children = tuple(
                child if child.kind == "list" else Node("list", child.token, (child,))
                for child in children
            )
    return node._replace(children=children)


LARGEST_LOGARITHM = 1000
LARGEST_ANGLE = 1e60
LARGEST_POWER, LARGEST_INDEXED_POWER = 10_000, 12  # of what holds a name
MOST_BITS_OF_POWER = 2000
_NEAR = 1e-9  # zero, but for rounding
_FAR = 1e6  # angles beyond it have lost too many digits
_OF_ANGLES = ("sin", "cos", "tan", "cot")
_CONSTANTS = {"pi": cmath.pi, "e": cmath.e, "E": cmath.e, "I": 1j}


def _bounded(
    function: Callable[[complex], complex], most: float = LARGEST_LOGARITHM
) -> Callable[[complex], complex]:
    """Return a function that is infinite where the grader doesn't compute it."""
    return lambda x: function(x) if abs(x) <= most else complex("inf")


def _logarithm(base: float) -> Callable[[complex], complex]:
    """Return a logarithm, which says nothing of what is out of range: log(exp(900)) is 900."""
    return lambda x: cmath.log(x, base) if cmath.isfinite(x) else cmath.nan


_FUNCTIONS: dict[str, Callable[..., complex]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
    "exp": cmath.exp,
    "sqrt": cmath.sqrt,
    **{name: _bounded(getattr(cmath, name), LARGEST_ANGLE) for name in ("sin", "cos", "tan")},
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "log10": _logarithm(10),
    "log2": _logarithm(2),
    "factorial": lambda x: math.gamma(x.real + 1),
    "floor": lambda x: math.floor(x.real),
    "sgn": lambda x: (x.real > 0) - (x.real < 0),
    "sign": lambda x: (x.real > 0) - (x.real < 0),
}
_FUNCTIONS["cot"] = _bounded(lambda x: 1 / cmath.tan(x), LARGEST_ANGLE)
_FUNCTIONS |= dict.fromkeys(("log", "ln"), _logarithm(cmath.e)) | dict.fromkeys(ABSOLUTE, abs)
_FUNCTIONS |= dict.fromkeys(("ceil", "ceiling"), lambda x: math.ceil(x.real))
_FUNCTIONS |= dict.fromkeys(EXTREMA[:3], lambda *xs: max(x.real for x in xs))
_FUNCTIONS |= dict.fromkeys(EXTREMA[3:], lambda *xs: min(x.real for x in xs))
for _name in ("asin", "acos", "atan"):
    _FUNCTIONS |= dict.fromkeys((_name, f"arc{_name[1:]}"), _bounded(getattr(cmath, _name)))
_POLES = {"tan": cmath.cos, "sec": cmath.cos, "cot": cmath.sin, "csc": cmath.sin}


def constant(word: str) -> complex | None:
    """Return about what a constant is, None for one that is not known here."""
    return _CONSTANTS.get(word)


def sized(amount: Amount, word: str, *args: Amount) -> Amount:
    """Return an amount with about what it is, which an operation or a function makes of others."""
    if not amount.constant or amount.exact or word not in _FUNCTIONS:
        return amount
    if word in _OF_ANGLES and (value := _at_an_angle(word, *args)) is not None:
        return Amount(value, True, True)
    known = [about for about in map(about_what, args) if about is not None]
    if len(known) < len(args):
        return amount
    try:
        return amount._replace(about=complex(_FUNCTIONS[word](*known)))
    except (OverflowError, ZeroDivisionError):  # exp(900), 1/exp(-900)
        return amount._replace(about=complex("inf"))
    except (ArithmeticError, ValueError, TypeError):
        return amount


def _at_an_angle(word: str, angle: Amount) -> Fraction | None:
    """Return sin, cos, tan or cot of a multiple of π/12 where it is rational, as sin(π) is 0."""
    turned = 12 * (angle.about or 0) / cmath.pi
    if not angle.about or abs(turned) > _FAR or abs(turned - round(turned.real)) > _NEAR:
        return None
    value = _FUNCTIONS[word](angle.about)
    twice = round(2 * value.real) if abs(value) < 2 else 0
    return Fraction(twice, 2) if abs(value - twice / 2) < _NEAR else None


def about_what(amount: Amount) -> complex | None:
    """Return about what a number is; None where that is not known, or it is out of range."""
    if not (amount.exact and amount.constant and amount.number is not None):
        return amount.about
    try:
        return complex(float(amount.number))
    except OverflowError:
        return None


def power_problem(base: Amount, exponent: Amount, *, indexed: bool) -> str:
    """Say why a power is not built, "" if it is; `indexed` of lines with indices."""
    most = LARGEST_INDEXED_POWER if indexed else LARGEST_POWER
    constant = base.constant and exponent.constant
    if exponent.constant and indexed and not exponent.exact:
        return f"a power may be at most {most}"
    if exponent.exact and exponent.number is not None and exponent.constant:
        known = base.number if base.exact and base.constant else None
        most = LARGEST_LOGARITHM if constant and not indexed else most
        too_large = abs(exponent.number) > most or (known and _is_long(known, exponent.number))
        return "this power is too large" if too_large else ""
    if constant and base.number == 0:
        return "this power is not defined"
    return "this number is too large" if constant and _is_tower(base, exponent) else ""


def _is_tower(base: Amount, exponent: Amount) -> bool:
    below, above = about_what(base), about_what(exponent)
    if not below or above is None:
        return False
    return abs(above * cmath.log(below)) > LARGEST_LOGARITHM


def _is_long(base: Fraction, exponent: Fraction) -> bool:
    length = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    return length > MOST_BITS_OF_POWER or length * abs(exponent) > MOST_BITS_OF_POWER


def is_large_argument(amount: Amount) -> bool:
    """Whether a number is too large for an exponential."""
    if amount.exact and amount.constant and amount.number is not None:
        return abs(amount.number) > LARGEST_LOGARITHM
    return amount.about is not None and abs(amount.about) > LARGEST_LOGARITHM


def is_pole(word: str, amount: Amount) -> bool:
    """Whether a function has no value there, as tan(pi/2) has none."""
    if word not in _POLES:
        return False
    if amount.exact and amount.number is not None:
        return amount.number == 0 and word in ("cot", "csc")
    return amount.about is not None and abs(_POLES[word](amount.about)) < _NEAR


SUMS = ("sum", "Sum", "product", "prod", "Product")
INFINITE = ("oo", "infinity", "infty", "inf")
_NO_NUMBERS = (*INFINITE, "True", "False", "EmptySet")
MOST_PARTS = 20_000  # those of a sum counted once for every term
_MOST_BITS = 8000
MOST_TERMS = 400
_LONGEST_TOTAL = 20 * MOST_TERMS  # of a sum or product that is written out


class IndexedSense:
    """Goes through a tree, and knows the nodes that have an index, or may have one."""

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text, self.words = text, words
        self.bound: dict[str, Amount | None] = {}  # what an index is, None where it runs on
        self.roots: dict[Fraction, tuple[Amount, Fraction]] = {}  # by what stands for them
        self.parts = 0

    def fail(self, reason: str, node: Node) -> NoReturn:
        """Raise the error that points at `node`."""
        raise ParseError(reason, self.text, node.token.position)

    def number(self, node: Node) -> Amount:
        """Return what a node comes to, which must be a number."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            self.fail("this formula has too many parts", node)
        method = getattr(self, f"_{node.kind}", None)
        if method is None:
            kind = {"relation": "an equation", "list": "a list", "tuple": "a list"}
            self.fail(f"expected one expression, not {kind.get(node.kind, 'this')}", node)
        found: Amount = method(node)
        size = max(map(abs, (found.number or Fraction(0)).as_integer_ratio()))
        return found._replace(number=None, exact=False) if size >> _MOST_BITS else found

    def _name(self, node: Node) -> Amount:
        word, plain = node.token.text, node.token.text.replace("_", "")
        base, mark, subscript = word.partition("_")
        if word in self.bound:
            return self.bound[word] or Amount(standing_for(word))
        if {subscript, *subscript} & self.bound.keys() and not self.words.indices:
            letters = [subscript] if subscript in self.bound else [*subscript]
            return self._entry(base, [self._at(letter) for letter in letters], node)
        if is_constant(node, self.text, self.words.known, self.words.constants):
            return Amount(standing_for(word), constant=True, about=constant(word))
        if word == "I" and word in self.words.blocks:  # the identity, beside which numbers stand
            return Amount(Fraction(1), True, True)
        if plain in self.words.known:
            return Amount(standing_for(self.words.known[plain]))
        if mark and self.words.indices and base in (*self.words.indexed, "delta"):
            letters = indices_in(base, subscript)
            if base in self.words.indexed or (len(letters) == 2 and "delta" in self.words.calls):
                return self._entry(base, [self._index_of(letter, node) for letter in letters], node)
        if (
            base == "delta"
            and len(subscript) == 2
            and f"delta{subscript[::-1]}" in self.words.known
        ):
            return Amount(standing_for(self.words.known[f"delta{subscript[::-1]}"]))
        if word in _NO_NUMBERS and word in self.words.constants:
            self.fail("this is not defined", node)
        if word not in self.words.constants:
            if word in self.words.calls:
                self.fail(f"{word} needs brackets: {word}(…)", node)
            self.fail(f"unknown name {word}", node)
        return Amount(standing_for(word), constant=True, about=constant(word))

    def _index_of(self, letter: str, node: Node) -> Amount:
        """Return an index as it is written behind a name with indices."""
        if letter.isdigit():
            return Amount(Fraction(letter), True, True)
        if letter not in {*self.words.indices, *self.bound}:
            self.fail(f"{letter} is no index", node)
        return self.bound.get(letter) or Amount(standing_for(letter))

    def _at(self, letter: str) -> Amount | str:
        """Return what runs, or a letter that is part of a name."""
        if letter not in self.bound:
            return letter
        return self.bound[letter] or Amount(standing_for(letter))

    def _entry(self, base: str, places: list[Amount | str], node: Node) -> Amount:
        """Return what stands for an entry, which must be declared where its indices are known."""
        numbers = [Amount(_standing(p)) if isinstance(p, str) else p for p in places]
        if base == "delta" and (len(places) == 2 or self.words.indices):
            return self.delta(numbers, node)
        known = [p if isinstance(p, str) else _counted(p) for p in places]
        if not self.words.indices and all(known):
            if f"{base}{''.join(known)}" not in self.words.known:
                self.fail(f"unknown name {base}_{''.join(known)}", node)
            return Amount(standing_for(self.words.known[f"{base}{''.join(known)}"]))
        if not self.words.indices and not self._is_family(base):
            self.fail(f"unknown name {base}", node)
        return Amount(opaque(base, *numbers))

    def delta(self, indices: list[Amount], node: Node) -> Amount:
        """Return what is 1 where two indices are the same."""
        if len(indices) != 2 or not all(map(_is_index, indices)):
            self.fail("delta takes two indices", node)
        return applied("KroneckerDelta", indices)

    def _is_family(self, base: str) -> bool:
        digits = tuple(f"{base}{digit}" for digit in range(10))
        names = self.words.known.values()
        return any(name == base or name.startswith((f"{base}_", *digits)) for name in names)

    def _running(self, node: Node) -> Amount:
        parts, word = bound_parts(node), node.token.text
        bounded = len(parts) == 4 or (self.words.indices and len(parts) == 2) or node.marks
        if word in SUMS[2:] and self.words.indices:
            self.fail(f"unknown function {word}", node)
        if not bounded or len(parts) not in (2, 3, 4) or (node.marks and not self.words.indices):
            self.fail(f"write the range: {word}(term, k, 1, n)", node)
        if parts[1].kind != "name":
            self.fail("expected the name of the running index", parts[1])
        if self.words.indices and not self._may_run(parts[1].token.text):
            self.fail("write sum(f, k) or sum(f, k, 1, n) with an index k", parts[1])
        ends = [self.number(part) for part in parts[2:4]]
        if any(end.matrix for end in ends) and not self.words.indices:
            self.fail("a range goes from a whole number to one", parts[1])
        if not self.words.indices and all(end.constant for end in ends):
            return self._written_out(word in SUMS[:2], parts, *ends)
        body = self._body(parts, None)
        if node.marks:
            return Amount()
        if not self.words.indices and body.exact and body.number == int(word not in SUMS[:2]):
            return body  # nothing is added, or multiplied by one
        if len(ends) == 2 and all(map(_counted, ends)) and body.constant and not body.matrix:
            low, high = (int(end.number or 0) for end in ends)
            times = Amount(Fraction(max(high - low + 1, 0)), True, True)  # so many times the same
            return sized(combined("*", times, body), "*", times, body)
        found = opaque(word, body, Amount(standing_for(parts[1].token.text)), *ends)
        return Amount(found, matrix=body.matrix and bool(self.words.indices))

    def _may_run(self, letter: str) -> bool:
        """Whether this is an index, or a letter of one's own."""
        known = letter in self.words.known or letter in self.words.calls
        return letter in self.words.indices or (len(letter) == 1 and not known)

    def _written_out(self, add: bool, parts: tuple[Node, ...], low: Amount, high: Amount) -> Amount:
        if not all(map(_counted, (low, high))):
            self.fail("a range goes from a whole number to one", parts[1])
        first, last = (int(end.number or 0) for end in (low, high))
        if last - first >= MOST_TERMS or max(abs(first), abs(last)) > 10**6:
            self.fail(f"at most {MOST_TERMS} terms are read", parts[1])
        total = Amount(Fraction(0 if add else 1), True, True)
        if last < first:
            self._body(parts, None)
        for place in range(first, last + 1):
            term = self._body(parts, Amount(Fraction(place), True, True))
            mark = "+" if add else "*"
            total = sized(combined(mark, total, term), mark, total, term)
            length = max(map(abs, (total.number or Fraction(0)).as_integer_ratio())).bit_length()
            if length > _LONGEST_TOTAL and total.exact:
                self.fail("this number is too large", parts[1])
            if length > _LONGEST_TOTAL:
                total = Amount(constant=total.constant)
        return total

    def _body(self, parts: tuple[Node, ...], at: Amount | None) -> Amount:
        """Return what is summed where the index is a number, or runs on."""
        hidden, letter = dict(self.bound), parts[1].token.text
        self.bound[letter] = at
        term = self.number(parts[0])
        if term.matrix and not self.words.indices:
            self.fail("a sum of matrices is not read", parts[0])
        self.bound = hidden
        return term


def _standing(word: str) -> Fraction:
    return Fraction(word) if word.isdigit() else standing_for(word)


def _counted(amount: Amount) -> str:
    """Return a whole number as it is written, "" for all else."""
    known = amount.exact and amount.constant and amount.number is not None
    return str(amount.number) if known and amount.number == int(amount.number or 0) else ""


def _is_index(amount: Amount) -> bool:
    if amount.matrix:
        return False
    whole = amount.exact and amount.number is not None and amount.number.denominator == 1
    return whole or not amount.constant


_SQUARE_MATRIX = ("det", "trace", "tr")
_OF_ONE_MATRIX = (*_SQUARE_MATRIX, "norm", "abs", "Abs", "transpose", "diag")
_EXPONENTIALS = ("exp", "sinh", "cosh", "tanh", "sech", "csch", "coth", "erf", "sigmoid")
_OUTSIDE = {"log": 0, "ln": 0, "log2": 0, "log10": 0, "log1p": -1}  # where there is no value
_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_RELATIONS |= {"=": operator.eq, "!=": operator.ne}
MOST_EXACT_POWER = 64  # of a number that stands for a name
_MOST_OF_MATRIX = 8  # the power that is read of one


class Sense(IndexedSense):
    """Goes through a tree as the builders do, and refuses what they would."""

    def _group(self, node: Node) -> Amount:
        return self.number(node.children[0])

    def _number(self, node: Node) -> Amount:
        mantissa, _, exponent = node.token.text.lower().partition("e")
        if len(mantissa) > 60 or len(exponent) > 5 or abs(int(exponent or 0)) > LARGEST_FACTORIAL:
            self.fail("this number is out of range", node)
        above, _, below = mantissa.partition("/")
        return Amount(Fraction(f"{above}e{exponent or 0}") / int(below or 1), True, True)

    def _negative(self, node: Node) -> Amount:
        minus, found = Amount(Fraction(-1), True, True), self.number(node.children[0])
        return sized(combined("*", minus, found), "*", minus, found)

    def _chain(self, node: Node) -> Amount:
        total = self.number(node.children[0])
        for mark, child in zip(node.marks, node.children[1:], strict=True):
            right = self.number(child)
            if mark == "/" and right.number == 0:
                self.fail("division by zero", child)
            if mark == "∘" and self.words.indices:
                self.fail("∘ is not read here", child)
            if not self.words.indices and right.matrix and mark == "/":
                self.fail("there is no division by a matrix", child)
            if not self.words.indices and mark in "+-" and total.matrix != right.matrix:
                self.fail("these cannot be added: their sizes differ", child)
            total = sized(combined(mark, total, right), mark, total, right)
        return total

    def _power(self, node: Node) -> Amount:
        base, exponent = map(self.number, node.children)
        if exponent.matrix:
            self.fail("an exponent cannot be a matrix", node.children[1])
        if base.matrix and not self.words.indices:
            times = exponent.number if exponent.exact and exponent.constant else None
            if times is None or times.denominator != 1 or not 0 <= times <= _MOST_OF_MATRIX:
                self.fail("only small powers of square matrices are read", node)
            return Amount(matrix=True)
        if base.matrix and base.number != 0 and exponent[:3] == (Fraction(0), True, True):
            return Amount(Fraction(1), True, True)
        above = exponent.exact and exponent.constant and positive(exponent)
        if base.number == 0 and not above:
            self.fail("this power is not defined", node.children[1])
        if problem := power_problem(base, exponent, indexed=bool(self.words.indices)):
            self.fail(problem, node.children[1])
        if base.number == 0:
            return Amount(Fraction(0), True, True)
        return self._raised(base, exponent)._replace(matrix=base.matrix)

    def _raised(self, base: Amount, exponent: Amount) -> Amount:
        """Return a power, exactly where it is one of numbers, or a root that is one."""
        both = base.constant and exponent.constant
        power = exponent.number if exponent.exact else None
        if (base.number == 1 and base.exact) or power == 1:
            return base
        whole = power is not None and power.denominator == 1
        if power is not None and (both or whole) and base.number in self.roots:
            below, degree = self.roots[base.number]
            return self._raised(below, Amount(power * degree, True, True))
        if both and power is not None and base.exact and base.number is not None:
            if (value := exact_power(base.number, power)) is not None:
                return Amount(value, True, True)
            found = Amount(opaque("^", base, exponent), constant=True)
            if found.number is not None and base.number > 0:
                self.roots[found.number] = (base, power)
            return sized(found, "^", base, exponent)
        if (
            whole
            and power is not None
            and base.number is not None
            and abs(power) <= MOST_EXACT_POWER
        ):
            found = Amount(base.number ** int(power), not power, both or not power)
        else:
            found = Amount(opaque("^", base, exponent), constant=both)
            if found.number is not None and power is not None:
                self.roots[found.number] = (base, power)
        return sized(found, "^", base, exponent)

    def _factorial(self, node: Node) -> Amount:
        return self._function("factorial", [self.number(node.children[0])], node)

    def _percent(self, node: Node) -> Amount:
        found, hundred = self.number(node.children[0]), Amount(Fraction(100), True, True)
        return sized(combined("/", found, hundred), "/", found, hundred)

    def _degrees(self, node: Node) -> Amount:
        found = self.number(node.children[0])
        turned = found._replace(exact=found.number == 0)
        return sized(turned, "*", found, Amount(constant=True, about=cmath.pi / 180))

    def _transpose(self, node: Node) -> Amount:
        inner = unbracketed(node.children[0])
        found = self.number(inner)
        names = {n.token.text for n in nodes_of(inner)} & {*self.words.blocks}
        if inner.kind == "transpose":  # which is undone
            return self.number(inner.children[0])
        if found.constant or not names:
            return found
        return found._replace(number=opaque("transpose", found))

    def _list(self, node: Node) -> Amount:
        """Look at a block matrix, by whichever sign it is written."""
        if not self.words.blocks or not node.children:
            self.fail("expected one expression, not a list", node)
        rows = rows_of_blocks(node)
        if len({*map(len, rows)}) != 1:
            self.fail("the rows have different numbers of blocks", node)
        entries = [*itertools.chain(*rows)]
        if any(map(_is_of_blocks, entries)):
            self.fail("a block matrix stands among the blocks", node)
        found = [*map(self.number, entries)]
        return Amount(opaque(f"{len(rows)} rows", *found), matrix=True) if found[1:] else found[0]

    def _matrix(self, node: Node) -> Amount:
        if self.words.indices:
            return self._list(node)
        rows = [r.children if r.kind in ("list", "tuple") else (r,) for r in node.children]
        if len({*map(len, rows)}) != 1 and not self.words.blocks:
            self.fail("every row of a matrix must have the same number of entries", node)
        for entry in itertools.chain(*rows):
            self.number(entry)
        return Amount(matrix=True)

    def _call(self, node: Node) -> Amount:
        word, args = node.token.text, node.children
        if self.words.indices and word in self.words.indexed:
            return self._entry(word, [self.number(child) for child in args], node)
        binds = word == "Largest" or (word in EXTREMA and self._binds(node))
        if word in SUMS or (self.words.indices and binds):
            return self._running(node)
        if word == "Matrix" and len(args) == 1 and args[0].kind == "list":
            return self._matrix(args[0])
        if word == "Matrix":
            self.fail("Matrix cannot be used like this", node)
        if word == "Largest":
            self.fail("the largest over an index is not read here: write max(a, b)", node)
        if word == "cases":
            return self._cases(node)
        if word in ("diff", "Derivative", "D") and word in self.words.calls:
            return self._derivative(node)
        if word in ("limit", "Limit"):
            return self._limit(node)
        if (delta := written_delta(node, self._is_known)) and self._has_delta:
            return self.number(delta)
        return self._function(word, [self.number(argument) for argument in args], node)

    def _is_known(self, word: str) -> bool:
        return bool(self.words.indices) or word in self.words.known

    @property
    def _has_delta(self) -> bool:
        return any(name.startswith("delta") for name in self.words.known)

    def _binds(self, node: Node) -> bool:
        index = node.children[1] if len(node.children) in (2, 4) else node
        index = index.children[0] if index.kind == "tuple" and index.children else index
        return index.kind == "name" and index.token.text in self.words.indices

    def _cases(self, node: Node) -> Amount:
        parts = [*node.children]
        if self.words.indices:
            self.fail("cases are not read here", node)
        rest = [self.number(parts.pop())] if len(parts) % 2 else []
        pairs = zip(parts[::2], parts[1::2], strict=True)
        found = [(self.number(value), self._holds(condition)) for value, condition in pairs]
        amounts = [*(amount for amount, _ in found), *rest]
        if any(one.matrix for one in amounts):
            self.fail("cases of matrices are not read", node)
        if len({one.number for one in amounts}) == 1:
            return amounts[0]
        for amount, holds in found:
            if holds is not False:
                return amount if holds else Amount()
        return amounts[-1]

    def _holds(self, condition: Node) -> bool | None:
        """Tell whether a condition holds; None where that is not the same everywhere."""
        condition = unbracketed(condition)
        if condition.kind != "relation" or "≈" in condition.marks:
            self.fail("expected a condition, such as x > 0", condition)
        sides = [about_what(self.number(side)) for side in self._sides(condition)]
        known = [side.real for side in sides if side is not None]
        if len(known) < len(condition.children):
            return None
        links = zip(condition.marks, known, known[1:], strict=False)
        return all(_RELATIONS[mark](left, right) for mark, left, right in links)

    def _sides(self, condition: Node) -> tuple[Node, ...]:
        """Return what is compared, or the delta where two indices are."""
        delta = indicator(condition.token, condition)
        names = all(side.kind == "name" for side in condition.children)
        if not (delta and names and self._has_delta):
            return condition.children
        plain = {side.token.text.replace("_", "") for side in condition.children}
        return condition.children if plain <= self.words.known.keys() else (delta,)

    def _derivative(self, node: Node) -> Amount:
        if len(node.children) < 2:
            self.fail("differentiate with respect to a variable: diff(f, x)", node)
        found = [self.number(node.children[0])]
        if found[0].matrix and not self.words.indices:
            self.fail("differentiate with respect to a variable: diff(f, x)", node)
        for by in node.children[1:]:
            times = by.kind == "number" and by is not node.children[1] and by.token.text in "123"
            if by.kind == "tuple" and self.words.indices:
                self.fail("expected one expression, not a list", by)
            variable = by.children[0] if by.kind == "tuple" and by.children else by
            if times and not self.words.indices:
                found += found[-1:] * (int(by.token.text) - 1)
                continue
            while variable.token.text in EXTREMA and len(variable.children) == 1:
                variable = variable.children[0]
            is_entry = variable.kind in ("indexed", "call")
            entry = is_entry and variable.token.text in self.words.indexed
            if variable.kind != "name" and not entry:
                self.fail("differentiate with respect to a variable: diff(f, x)", by)
            found.append(self.number(variable))
            if self.words.indices and found[-1].number != found[1].number:
                self.fail(f"{node.token.text} takes 2 arguments", node)
            defined = variable.token.text.replace("_", "") in self.words.defined
            if found[-1].constant or defined or variable.token.text.startswith("delta_"):
                self.fail("differentiate with respect to a variable: diff(f, x)", by)
        return Amount(opaque("diff", *found))

    def _limit(self, node: Node) -> Amount:
        if len(node.children) not in (3, 4) or node.token.text not in self.words.calls:
            self.fail("write limit(f, x, a)", node)
        inner, variable, to = node.children[:3]
        if self.number(inner).matrix:
            self.fail("write limit(f, x, a)", node)
        if variable.kind != "name" or self.number(variable).constant:
            self.fail("write limit(f, x, a)", variable)
        end = to.children[0] if to.kind == "negative" else to
        if not (end.kind == "name" and end.token.text in INFINITE):
            self.number(to)
        return Amount()

    def _indexed(self, node: Node) -> Amount:
        base, places = node.token.text, list[Amount | str]()
        for child in node.children:
            word = child.token.text
            free = child.kind == "name" and word not in self.bound and not self.words.indices
            places.append(word if free else self.number(child))
        if self.words.indices and base not in self.words.indexed:
            if base not in self.words.calls:
                self.fail(f"unknown name {base}", node)
            return self._function(base, [p for p in places if isinstance(p, Amount)], node)
        return self._entry(base, places, node)

    def _function(self, word: str, args: list[Amount], node: Node) -> Amount:
        self._check_arguments(word, args, node)
        if reason := _undefined(word, args):
            self.fail(reason, node)
        if word in ("KroneckerDelta", "delta"):
            return self.delta(args, node)
        if word == "sqrt" and args[0].number != 0:
            return self._raised(args[0], Amount(Fraction(1, 2), True, True))
        found = sized(applied(word, args), word, *args)
        of_blocks = bool(self.words.blocks) and any(one.matrix for one in args)
        return found._replace(matrix=found.matrix or of_blocks)

    def _check_arguments(self, word: str, args: list[Amount], node: Node) -> None:
        """Refuse a function that is not known, or that takes no such arguments."""
        if word not in self.words.calls:
            self.fail(f"unknown function {word}", node)
        least, most = self.words.calls[word]
        if not least <= len(args) <= most:
            self.fail(f"{word} takes {most} argument{'s' * (most > 1)}", node)
        if word in _SQUARE_MATRIX and not args[0].matrix:
            self.fail("this needs a square matrix", node)
        if any(one.matrix for one in args) and word not in _OF_ONE_MATRIX and not self.words.blocks:
            self.fail(f"{word} takes numbers, not a matrix", node)


def _undefined(word: str, args: list[Amount]) -> str:
    """Say why a function has no value for these arguments; "" where it may have one."""
    first = args[0]
    known = first.number if first.exact and first.constant else None
    if word in _EXPONENTIALS and first.constant and is_large_argument(first):
        return "this number is too large"
    if first.constant and is_pole(word, first):
        return "this is not defined"
    if word == "factorial" and known is not None and not 0 <= known <= LARGEST_FACTORIAL:
        return f"factorials are read from 0 to {LARGEST_FACTORIAL}"
    if takes_too_long(word, args):
        return f"this number is too large for {word}"
    if word in _OUTSIDE and first.number == _OUTSIDE[word]:
        return "this is not defined"
    if word == "log" and len(args) == 2 and args[1].number in (0, 1):
        return "there is no logarithm to this base"
    if word == "root" and args[1].number == 0:
        return "there is no root of degree 0"
    return ""


def _is_of_blocks(node: Node) -> bool:
    """Whether this is a block matrix, in brackets or not; of one block, it is that block."""
    node = unbracketed(node)
    rows = node.kind in ("list", "matrix")
    return _is_of_blocks(node.children[0]) if rows and len(node.children) == 1 else rows


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


_LAYOUT_ONLY = (
    *("align", "alignat", "aligned", "displaymath", "eqnarray", "equation", "flalign"),
    *("gather", "gathered", "math", "multline", "split"),
)
_LAYOUT_MARK = re.compile(
    r"\\(?P<end>begin|end)\s*\{(?P<name>[A-Za-z]+)\*?\}(?:\[[a-z]\])?"
    r"|\\\\(?:\[[^\]]*\])?|(?<!\\)&"
)
_OPENING = re.compile(
    rf"\s*(?:\$\$?|\\[(\[])?(?:\s*\\begin\s*\{{(?:{'|'.join(_LAYOUT_ONLY)})\*?\}}\s*&?)?"
)
_CONSTANT = ("e", "pi", "π", "ℯ")

_FONT_AND_NAME = r"\\[A-Za-z]+\s*\{\\?[A-Za-z0-9 ]+\}"
_ARGUMENTS = r"(?:\s*(?:\\(?:left|big|Big))?\s*[(\[][^=()\[\]]*(?:\\(?:right|big|Big))?\s*[)\]])?"
_SUBSCRIPT = r"(?:\s*_(?:\{[^{}=]*\}|\\?[A-Za-z]+|[A-Za-z0-9]))?"
_PRIME = r"['′]|\\prime"
_PRIMES = r"(?:['′*]|\^\{?(?:\\prime|\*|\\star|\\ast)+\}?)*"
_NAMED = rf"(?:{_FONT_AND_NAME}|\\?[^\W\d_]+[0-9₀-₉ᵢⱼₖₙ]*){_SUBSCRIPT}{_PRIMES}"
_UPRIGHT_D = r"(?:d|∂|\\partial|\\mathrm\{d\}|\\operatorname\{d\})"
_BY = rf"{_UPRIGHT_D}\s*{_NAMED}"
_REST = r"[^{}=]*(?:\{[^{}=]*\})?\s*\}"  # of what stands above or below the line of a fraction
_LABEL = re.compile(
    rf"""\s*(?:(?P<name>{_NAMED}){_ARGUMENTS}
    | \\[dt]?frac\s*\{{\s*{_UPRIGHT_D}(?:\^2)?{_REST}\s*\{{\s*{_BY}{_REST}
    | {_UPRIGHT_D}\s*{_NAMED}\s*/\s*{_BY}
    | \\?[|‖]\|?[^=|‖]*\\?[|‖]\|?)
    \s*&?\s*(?::=|={{1,2}}|≈|\\approx|\\coloneqq|\\equiv)(?!=)\s*&?""",
    re.VERBOSE,
)


def without_environments(text: str) -> str:
    r"""Return a text of the same length without environments of lines, and without their marks.

    What stands in a matrix, or between cases, stays.  An environment may have begun in an earlier
    line, or go on in the next one.

    >>> without_environments(r"\begin{aligned} &x \\ \end{aligned}").strip()
    'x'
    >>> without_environments(r"&= x \\ \end{aligned}").strip()
    '= x'
    """
    if "\\begin" not in text and "\\end" not in text:
        return text
    marks = list(_LAYOUT_MARK.finditer(text))
    begun = [mark["name"] for mark in marks if mark["end"] == "begin"]
    before = [m["name"] for m in marks if m["end"] == "end" and m["name"] not in begun]
    signs, inside = list(text), before[::-1]
    for mark in marks:
        name = mark["name"]
        if mark["end"] == "begin":
            inside.append(name)
        outer = not inside or inside[-1] in _LAYOUT_ONLY
        if mark["end"] == "end" and inside:
            inside.pop()
        if name in _LAYOUT_ONLY or (name is None and inside and outer):
            signs[mark.start() : mark.end()] = " " * (mark.end() - mark.start())
    return "".join(signs)


def without_label(text: str, declared: Container[str], *, names_only: bool = False) -> str:
    """Return a text of the same length without ``H(p) =`` before it, which names the answer.

    What is ``declared``, without underscores, is no such name: ``x = 2`` is an equation.  With
    ``names_only``, neither is a derivative nor a norm.

    >>> without_label("H(p) = 2*p", {"p"}).strip(), without_label("p = 2", {"p"})
    ('2*p', 'p = 2')
    """
    opening = _OPENING.match(text)
    start = begin = opening.end() if opening else 0
    while (found := _LABEL.match(text, begin)) and found.end() < len(text):
        name = found["name"]
        if (name is None and names_only) or (name and _is_known(name, declared)):
            break
        begin = found.end()
    return text[:start] + " " * (begin - start) + text[begin:]


def _is_known(name: str, declared: Container[str]) -> bool:
    """Whether a name, or the letter that carries its index, is declared or a constant."""
    bare = re.sub(r"\\[A-Za-z]+\s*(?=\{)", "", name).translate(LETTERS)
    letter = re.sub(r"[\\{}\s'*]", "", bare.partition("_")[0])
    whole = re.sub(r"[\\{}_\s,'*]", "", bare)
    if re.search(_PRIME, name):  # b' is another one than b
        return whole + "'" in declared
    return any(word in _CONSTANT or word in declared for word in (whole, letter))


RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "≈")
_POSTFIX = {"!": "factorial", "ᵀ": "transpose", "%": "percent", "°": "degrees"}


def read_all(here: Cursor) -> Node:
    """Read all of the text."""
    node = read_statement(here)
    if here.token.kind != "end":
        if here.sees(","):
            here.fail("a comma can only separate the arguments of a function")
        if here.sees(")", "]", "}", r"\}"):
            here.fail("this bracket was never opened")
        here.after_operand()
        here.fail(f"unexpected {here.token.text!r}")
    return node


def read_statement(here: Cursor) -> Node:
    """Read formulas, joined by ``=``, ``<`` and the like."""
    here.enter()
    first = read_sum(here)
    token, sides, marks = here.token, [first], []
    while here.sees(*RELATIONS):
        marks.append(here.next().text)
        sides.append(read_sum(here))
    here.leave()
    return Node("relation", token, tuple(sides), tuple(marks)) if marks else first


def read_sum(here: Cursor) -> Node:
    """Read terms."""
    token = here.token
    children, marks = [read_product(here)], []
    while here.sees("+", "-"):
        marks.append(here.next().text)
        children.append(read_product(here))
    return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]


def read_product(here: Cursor) -> Node:
    """Read factors, with or without a sign between them."""
    token = here.token
    children, marks = [read_signed(here)], []
    while True:
        if here.sees("*", "/", "∘"):
            marks.append(here.next().text)
        elif here.sees("//"):
            children, marks = [rounded_quotient(here, children, marks)], []
            continue
        elif here.starts_operand():
            here.after_operand(children[-1])
            marks.append("*")
            children.append(read_signed(here))
            no_mixed_number(here, *children[-2:])
            continue
        else:
            break
        children.append(read_signed(here))
    return Node("chain", token, tuple(children), tuple(marks)) if marks else children[0]


def no_mixed_number(here: Cursor, whole: Node, part: Node) -> None:
    r"""Refuse ``2\\frac{2}{3}`` as well."""
    if part.token.kind == "command" and part.kind == "chain" and part.marks == ("/",):
        words = "/".join(child.token.text for child in part.children)
        here.refuse_mixed(whole.token.text, re.fullmatch(r"\d+/\d+", words), part.token)


def rounded_quotient(here: Cursor, children: list[Node], marks: list[str]) -> Node:
    """Read ``// b`` behind factors: what comes before is divided and rounded down."""
    token = here.next()
    whole = Node("chain", token, (*children, read_signed(here)), (*marks, "/"))
    return call("floor", token, whole)


def read_signed(here: Cursor) -> Node:
    """Read a power, perhaps with signs before it."""
    if not here.sees("+", "-"):
        return read_power(here)
    here.enter()
    token = here.next()
    operand = read_signed(here)
    here.leave()
    return operand if token.text == "+" else Node("negative", token, (operand,))


def read_power(here: Cursor) -> Node:
    """Read an operand, perhaps with an exponent."""
    base = read_postfix(here)
    if not here.sees("^"):
        return base
    if degrees := read_degrees(here, base):
        return degrees
    token = here.next()
    here.enter()
    exponent = read_exponent(here)
    here.leave()
    if is_delta_with_one_index(base) and exponent.kind in ("name", "number"):
        below = Node("name", base.token._replace(text=base.token.text.removeprefix("delta_")))
        return kronecker(base.token, below, exponent)
    return read_postfix(here, raised(here, base, token, exponent))


def read_degrees(here: Cursor, base: Node) -> Node | None:
    r"""Read ``90^\\circ``, None where there is another exponent."""
    if not here.peek("∘", "{∘"):
        return None
    here.next()
    bracket = here.next() if here.sees("{") else None
    token = here.next()
    if bracket:
        here.close("}", bracket)
    return Node("degrees", token, (base,))


def raised(here: Cursor, base: Node, token: Token, exponent: Node) -> Node:
    """Return a power; ``A^T`` is a transpose and ``A^-T`` that of the inverse."""
    if base.kind == "number":
        return Node("power", token, (base, exponent))
    if is_transposing(here, exponent):
        return Node("transpose", token, (base,))
    if exponent.kind == "negative" and is_transposing(here, exponent.children[0]):
        one = Node("number", Token("number", "1", token.position))
        inverse = Node("power", token, (base, Node("negative", token, (one,))))
        return Node("transpose", token, (inverse,))
    return Node("power", token, (base, exponent))


def is_transposing(here: Cursor, exponent: Node) -> bool:
    """Whether an exponent is the letter T, and not the name of something."""
    known = exponent.kind == "name" and exponent.token.text in ("T", "top")
    return known and "T" not in here.words


def read_exponent(here: Cursor) -> Node:
    """Read what follows ``^``."""
    braced = here.next() if here.sees("{") and here.peek("ᵀ", "-ᵀ") else None
    if here.sees("{"):
        return read_group(here)
    minus = here.next() if here.sees("-") and here.peek("ᵀ") else None
    if not here.sees("ᵀ"):
        return read_signed(here)
    token = here.next()
    node = Node("name", Token("name", "top", token.position, token.end))
    if braced:
        here.close("}", braced)
    return Node("negative", minus, (node,)) if minus else node


def read_group(here: Cursor) -> Node:
    """Read ``{…}`` that only holds together."""
    bracket = here.next()
    here.enter(bracket)
    inner = read_statement(here)
    if here.sees(r"\choose"):
        inner = call("binomial", here.next(), inner, read_statement(here))
    here.close("}", bracket)
    here.leave(bracket)
    return inner


def read_postfix(here: Cursor, node: Node | None = None) -> Node:
    """Read an operand with factorials and transposes after it."""
    node = node or here.operand()
    while here.sees(*_POSTFIX):
        token = here.next()
        if token.text == "!" and here.sees("!"):
            here.fail("n!! may be (n!)!, or a product of every second number: write brackets")
        if token.text == "%" and here.starts_operand():
            here.fail("% may be percent, or a remainder: write /100, or floor", token)
        node = Node(_POSTFIX[token.text], token, (node,))
    if here.sees("^") and node.kind in ("transpose", "factorial"):
        token = here.next()
        node = Node("power", token, (node, read_exponent(here)))
    return node


CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
POWERS = ("pow", "power")


def read_items(
    here: Cursor, closing: tuple[str, ...], bracket: Token, *, divided: bool = False
) -> tuple[Node, ...]:
    """Read what stands between brackets, separated by commas; or `divided` by one bar."""
    here.enter(bracket)
    bars, here.bars = here.bars, ["|"] * divided
    items: list[Node] = []
    while not here.sees(*closing) or items:
        items.append(read_statement(here))
        if not here.sees(",", ";", *here.bars):
            break
        here.bars = [] if here.sees("|") else here.bars
        here.next()
    if not here.sees(*closing):
        here.close(closing[0], bracket)
    here.bars = bars
    here.leave(bracket)
    here.next()
    return tuple(items)


def read_bracketed(here: Cursor) -> Node:
    """Read ``(…)`` or ``[…]``."""
    before = here.tokens[here.at - 1] if here.at else here.token
    factor = before.kind in ("number", "name") or before.text in ("*", "·", ")")
    bracket = here.next()
    if here.sees(CLOSING[bracket.text]) and bracket.text == "(":
        here.fail(OPERAND)
    inside = here.tokens[here.at : here.closing(here.at - 1)]
    divided = bracket.text == "[" and sum(token.text == "|" for token in inside) == 1
    items = read_items(here, (CLOSING[bracket.text],), bracket, divided=divided)
    factor = factor or here.sees("*", "·") or (here.implicit and here.starts_operand())
    may_be = len(items) == 1 and (bracket.text == "[" or between_indices(items[0]))
    may_be = may_be or (factor and len(items) == 1 and "=" not in items[0].marks)
    if may_be and (found := indicator(bracket, items[0])):
        return found
    if bracket.text == "[":
        if here.latex and len(items) == 1:
            return Node("group", bracket, items)
        return Node("list", bracket, items)
    return Node("group" if len(items) == 1 else "tuple", bracket, items)


def read_arguments(here: Cursor, name: Token) -> Node:
    """Read the arguments of a call; ``pow(a, b)`` is a power."""
    bracket = here.next()
    closing = CLOSING[bracket.text]
    if here.sees(closing):
        here.fail(OPERAND)
    items = read_items(here, (closing,), bracket)
    if name.text in POWERS and len(items) == 2:
        return Node("power", name, items)
    return Node("call", name, items)


def read_derivative(here: Cursor) -> Node:
    """Read ``∂f/∂x``, ``∂²f/∂x∂y`` and ``∂/∂x f``."""
    token = here.next()
    times = read_order(here)
    inner = None if here.sees("/") else read_power(here)
    if not here.sees("/"):
        here.fail("expected '/': write a derivative as ∂f/∂x or diff(f, x)")
    here.next()
    variables = read_variables(here)
    if times != len(variables):
        here.fail("this is not how often it is differentiated", token)
    return call("diff", token, inner or read_power(here), *variables)


def read_quotient(here: Cursor, above: Token) -> Node | None:
    """Read ``dF/dx`` or ``d/dx f`` from behind its first word, None where that is no d."""
    inner = above.text.removeprefix("d")
    called = bool(inner) and here.sees("(") and inner in here.functions
    at = here.closing(here.at) + 1 if called else here.at
    slash, below = (here.tokens[min(place, len(here.tokens) - 1)] for place in (at, at + 1))
    if slash.text != "/" or not is_differential(here, below):
        return None
    if inner and not (inner in here.functions or is_differential(here, above)):
        return None
    if is_declared(here, above.text):
        return None
    name = above._replace(text=inner)
    node = read_arguments(here, name) if called else Node("name", name)
    here.next()
    here.next()
    by = Node("name", below._replace(text=below.text.removeprefix("d")))
    return call("diff", above, node if inner else read_power(here), by)


def is_differential(here: Cursor, token: Token) -> bool:
    """Whether this is dx for a name x, and itself none."""
    name = token.text.removeprefix("d")
    return name != token.text and is_declared(here, name) and not is_declared(here, token.text)


def is_declared(here: Cursor, word: str) -> bool:
    """Whether a word is one of the names."""
    return word.replace("_", "") in here.words


def read_variables(here: Cursor) -> list[Node]:
    """Read ``∂x∂y`` or ``∂x²``."""
    variables: list[Node] = []
    if not here.sees("∂"):
        here.fail("expected ∂ and a variable: write a derivative as ∂f/∂x or diff(f, x)")
    while here.sees("∂"):
        here.next()
        if here.token.kind != "name":
            here.fail("expected the variable to differentiate by")
        variable = Node("name", here.next())
        variables += [variable] * read_order(here)
    return variables


def read_order(here: Cursor) -> int:
    """Read how often to differentiate."""
    if not here.sees("^"):
        return 1
    here.next()
    exponent = unbracketed(read_exponent(here))
    if exponent.token.text not in ("1", "2", "3"):
        here.fail("expected how often to differentiate, at most 3 times", exponent.token)
    return int(exponent.token.text)


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


_RANGE = {
    "Sum": r"\sum_{k=1}^{n} or sum(term, k, 1, n)",
    "Product": r"\prod_{k=1}^{n} or product(term, k, 1, n)",
    "Limit": r"\lim_{x \to 0} or limit(f, x, 0)",
}


def read_big_operator(here: Cursor) -> Node:
    """Read a sum, a product or a limit with what is written under it."""
    tight = is_tight(here, here.at)
    token = here.next()
    name = BIG_OPERATORS[token.text]
    under = read_script(here, "_", token, name)
    if name == "Limit":
        if under.kind != "towards":
            here.fail("write the limit as lim_{x → 0}", token)
        return call(name, token, read_product(here), *under.children)
    plain = under.kind == "relation" and under.marks == ("=",)
    if plain and here.sees("^"):
        stop = read_script(here, "^", token, name)
        index, first = under.children
        body, factors = read_summed(here, index, token, tight)
        return before_factors(call(name, token, body, index, first, stop), factors)
    if under.kind == "relation" and not (under.marks == ("!=",) and len(under.children) == 2):
        here.fail(f"write the range: {_RANGE[name]}", token)
    index = under.children[0] if under.kind == "relation" else under
    body, factors = read_summed(here, index, token, tight)
    if under.kind == "relation":
        body = call(name, token, body, *under.children)._replace(marks=under.marks)
        return before_factors(body, factors)
    for index in reversed(under.children if under.kind == "tuple" else (under,)):
        body = call(name, token, body, index)
    return before_factors(body, factors)


def read_summed(here: Cursor, index: Node, token: Token, tight: bool) -> tuple[Node, Node | None]:
    """Read what is summed, and the factors behind it that are sums of their own.

    Σ_i x_i Σ_j y_j is a product of two sums: nothing from the second sign on has an i.  In
    Π_i x_i Σ_j y_j it matters whether the sum is in every factor, and where it stands `tight`,
    in 1/Σ_i x_i y, whether y stands below.
    """
    body = read_product(here)
    if body.kind != "chain" or set(body.marks) - {"*", "/"}:
        return body, None
    if tight and not shares_a_name(body.children[-1], index):
        here.fail("it is unclear where this ends: put brackets around it", token)
    factors, marks = body.children, body.marks
    first = next((at for at, factor in enumerate(factors) if at and _is_big(factor)), None)
    if first is None or any(shares_a_name(factor, index) for factor in factors[first:]):
        return body, None
    if BIG_OPERATORS[token.text] == "Product":
        here.fail("it is unclear where this product ends: put brackets around it", token)
    inner = body._replace(children=factors[:first], marks=marks[: first - 1])
    one = Node("number", Token("number", "1", index.token.position))
    behind = body._replace(children=(one, *factors[first:]), marks=marks[first - 1 :])
    return inner if first > 1 else factors[0], behind


def is_tight(here: Cursor, at: int) -> bool:
    """Whether what stands here is divided by, or an exponent."""
    return at > 0 and here.tokens[at - 1].text in ("/", "^")


def before_factors(whole: Node, factors: Node | None) -> Node:
    """Return a sum times the factors behind it."""
    if factors is None:
        return whole
    return factors._replace(children=(whole, *factors.children[1:]))


def read_extremum(here: Cursor, token: Token) -> Node:
    """Read the largest or smallest of what an index runs through; min f is −max −f.

    Factors behind that, in which the index doesn't stand, are no part of it: max_j |v_j| M is
    a product.
    """
    tight = is_tight(here, here.at - 1)
    under = read_script(here, "_", token, "Sum")
    body = read_product(here)
    factors, marks = (body.children, body.marks) if body.kind == "chain" else ((body,), ())
    own = 1 + max((i for i, f in enumerate(factors) if shares_a_name(f, under)), default=-1)
    if own in (0, len(factors)):
        return largest(token, body, under)
    if tight:
        here.fail("it is unclear where this ends: put brackets around it", token)
    inner = body._replace(children=factors[:own], marks=marks[: own - 1])
    extreme = largest(token, inner if own > 1 else factors[0], under)
    return Node("chain", token, (extreme, *factors[own:]), marks[own - 1 :])


def largest(token: Token, body: Node, index: Node) -> Node:
    """Return what is read for max or min over an index."""
    if token.text == "max":
        return call("Largest", token, body, index)
    return Node(
        "negative", token, (call("Largest", token, Node("negative", token, (body,)), index),)
    )


def read_script(here: Cursor, sign: str, token: Token, name: str) -> Node:
    """Read what stands under or over a sign: ``_{k=1}``, ``_(i≠j)``, ``_k``, ``_{i,j}``."""
    if not here.sees(sign):
        here.fail(f"write the range: {_RANGE[name]}", token)
    here.next()
    if not here.sees("{", "("):
        return read_argument(here)
    bracket = here.next()
    closing = "}" if bracket.text == "{" else ")"
    here.enter(bracket)
    items = [read_statement(here)]
    arrow = here.next() if here.sees("→") else None
    if arrow:
        items += read_towards(here).children
    while not arrow and here.sees(","):
        here.next()
        items.append(read_statement(here))
    here.close(closing, bracket)
    here.leave(bracket)
    if arrow:
        return Node("towards", arrow, tuple(items))
    return items[0] if len(items) == 1 else Node("tuple", bracket, tuple(items))


def read_towards(here: Cursor) -> Node:
    """Read where a limit goes, ``0``, ``0^+`` or ``∞``, and from which side."""
    sign = "-" if here.sees("-") else ""
    token = here.next() if sign else here.token
    to = read_postfix(here)
    if sign:
        to = Node("negative", token, (to,))
    side = ""
    if here.sees("^"):
        here.next()
        braced = here.sees("{", "(") and here.next()
        if not here.sees("+", "-"):
            here.fail("expected the side from which the limit is taken, + or -")
        side = here.next().text
        if braced:
            here.close("}" if braced.text == "{" else ")", braced)
    children = (to,) if not side else (to, Node("side", Token("operator", side, token.position)))
    return Node("towards", token, children)


def _is_big(node: Node) -> bool:
    """Whether this is a sum or a product, perhaps the first of several."""
    while node.kind == "group" or (node.kind == "chain" and not set(node.marks) & {"+", "-"}):
        node = node.children[0]
    return node.kind == "call" and node.token.text in ("Sum", "Product")


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


_RELATION = re.compile(r"\s*&?\s*(<=|≤|\\leq?(?:slant)?(?![A-Za-z])|==?)\s*&?\s*")
_ARROW = re.compile(
    r"^\s*(?:<=>|=>|⇔|⟺|⇒|⟹|\\(?:iff|implies|Leftrightarrow|Rightarrow|Longrightarrow)(?![A-Za-z]))"
)
_OTHER_RELATION = re.compile(r"\s*&?\s*(>=?|≥|\\geq?(?:slant)?(?![A-Za-z])|<(?![=>]))")
_ORNAMENT = re.compile(r"(?:\s|\\\\|(?<=\s)[.,;]|(?<=[)\]}\w])[.,;])*\Z")
_REASON = re.compile(  # (why), behind a wide blank or in brackets
    r"(?:\\q?quad[\s~]*[(\[]?|\s[(\[])\s*\\(?:text|textrm|textit|mbox|mathrm)\s*"
    r"\{\s*\(?([^{}()]*)\)?\s*\}\s*[)\]]?(?:\s|\\\\)*\Z"
)
_OPENS, _CLOSES = "([{", ")]}"


class Side(NamedTuple):
    """One formula of a line, at its place: blanks stand for what comes before it."""

    relation: str  # how it stands to what comes before: ``"="`` or ``"<="``
    text: str


class WrittenLine(NamedTuple):
    """A line as written: ``= p_1 - p_1^2  # algebra`` or ``a = b = c``."""

    sides: tuple[Side, ...]
    reason: str


def take_apart(text: str, declared: Collection[str] | None = None) -> WrittenLine:
    r"""Return the formulas of a line and the reason behind it; an arrow may stand in front.

    What stands before the first = and is not `declared`, ``H(p) =``, is left out.

    >>> sides, reason = take_apart("&= p_1 = 1/2 \\\\  # why")
    >>> [(side.relation, side.text) for side in sides], reason
    ([('=', '   p_1'), ('=', '         1/2')], 'why')

    Raises
    ------
    ParseError
        If it begins with a relation that no derivation has.
    """
    formula, reason = _reason_apart(text)
    formula = re.sub(r"^(\s*)&", r"\1 ", without_environments(formula))
    formula = _ARROW.sub(lambda found: " " * len(found[0]), formula)
    if declared is not None:
        formula = without_label(formula, declared, names_only=True)
    if other := _OTHER_RELATION.match(formula):
        raise ParseError("a line begins with = or <=, or without either", text, other.start(1))
    end = _ORNAMENT.search(formula)
    start, stop = without_dollars(formula[: end.start()] if end else formula)
    sides: list[Side] = []
    relation, begin, depth, at = "=", start, 0, start
    while at < stop:
        match = _RELATION.match(formula, at, stop) if depth == 0 else None
        if match and (formula[at - 1 : at] not in ("<", ">", "!", ":") or match[1] != "="):
            _add(sides, relation, formula, begin, at)
            relation = "=" if match[1].startswith("=") else "<="
            begin = at = match.end()
            continue
        depth += (formula[at] in _OPENS) - (formula[at] in _CLOSES)
        at += 1
    _add(sides, relation, formula, begin, stop)
    return WrittenLine(tuple(sides), reason.strip().rstrip("."))


def _reason_apart(text: str) -> tuple[str, str]:
    r"""Return a line without its reason, and that; it may be said in LaTeX's words.

    >>> _reason_apart(r"x \quad \text{(algebra)} \\"), _reason_apart(r"x \# algebra")
    (('x ', 'algebra'), ('x ', 'algebra'))
    """
    formula, mark, reason = text.partition("#")
    if mark:
        formula = re.sub(r"(?<!\\)\\\Z", "", formula)  # \# is the sign itself
        return formula, re.sub(r"(?:\s|\\)*\Z", "", reason.lstrip())
    found = _REASON.search(text)
    return (text[: found.start()], found[1].strip()) if found else (text, "")


def _add(sides: list[Side], relation: str, formula: str, begin: int, stop: int) -> None:
    if formula[begin:stop].strip():
        sides.append(Side(relation, " " * begin + formula[begin:stop].rstrip()))


def declared_names(known: Mapping[str, Any]) -> frozenset[str]:
    """Return the names that a notebook's hint about lines declares, without underscores."""
    words = [*known.get("names", ()), *known.get("indexed", ()), *known.get("functions", ())]
    return frozenset(word.replace("_", "") for word in words)


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


#: Functions of one number.
_OF_ONE_NUMBER: dict[str, Any] = {
    "exp": cmath.exp,
    "log": cmath.log,
    "ln": cmath.log,
    "sqrt": cmath.sqrt,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "tanh": cmath.tanh,
    "abs": abs,
}
_DERIVATIVES = ("diff", "D")
_SUMS = ("sum", "Sum")
_STEP = 2e-4  # of a derivative by five points: as good as rounding allows, for two of them, too
_AS_NEAR = 1e-5


class NoValue(ValueError):
    """Something that is not computed here."""


class Point:
    """Numbers for all names: as they are drawn, the same for the same seed.

    Parameters
    ----------
    definitions
        What names stand for, as trees, by name; ``p_i`` says it of every entry of p.
    indexed
        Names that carry indices.
    positive
        Names that are larger than 0.
    sizes
        Names of numbers of entries, those of a sum without ends first: from 2 on.
    """

    def __init__(
        self,
        seed: int,
        definitions: Mapping[str, Node],
        *,
        indexed: tuple[str, ...] = (),
        positive: tuple[str, ...] = (),
        sizes: tuple[str, ...] = (),
    ) -> None:
        self._random = random.Random(seed)
        self._indexed, self._positive, self._sizes = indexed, positive, sizes
        self.many = 2 + seed % 3
        self._alike = seed == 0  # all indices are
        self._meant = {name.replace("_", ""): (name, tree) for name, tree in definitions.items()}
        self._entries = {
            name.partition("_")[0]: (name.partition("_")[2], tree)
            for name, tree in definitions.items()
            if name.partition("_")[0] in indexed
        }
        self._moved: dict[str, complex] = {}
        self.numbers: dict[str, float] = {}

    def value(self, node: Node, bound: Mapping[str, int] | None = None) -> complex:
        """Return the value of a formula, where some indices are bound."""
        bound = bound or {}
        try:
            return complex(self._value(node, bound))
        except (ArithmeticError, ValueError) as error:
            raise NoValue(str(error)) from None

    def _value(self, node: Node, bound: Mapping[str, int]) -> complex:
        kind, word, children = node.kind, node.token.text, node.children
        if kind == "number":
            above, _, below = word.partition("/")
            return float(above) / float(below or 1)
        if kind == "name":
            return self._named(word, bound)
        if kind == "group" and len(children) == 1:
            return self._value(children[0], bound)
        if kind == "negative":
            return -self._value(children[0], bound)
        if kind == "chain":
            return self._chain(node, bound)
        if kind == "power":
            return self._value(children[0], bound) ** self._value(children[1], bound)
        if kind == "factorial":
            return math.factorial(round(self._value(children[0], bound).real))
        if kind == "call" or (kind == "indexed" and word == "delta"):
            return self._called(word, node, bound)
        raise NoValue(kind)

    def _chain(self, node: Node, bound: Mapping[str, int]) -> complex:
        first, *others = (self._value(child, bound) for child in node.children)
        for mark, other in zip(node.marks, others, strict=True):
            if mark == "+":
                first += other
            elif mark == "-":
                first -= other
            elif mark == "*":
                first *= other
            else:
                first /= other
        return first

    def _called(self, word: str, node: Node, bound: Mapping[str, int]) -> complex:
        if word in _DERIVATIVES:
            return self._derivative(node, bound)
        parts = bound_parts(node)
        if word in _SUMS and len(parts) > 1:
            body, index, *ends = parts
            low, high = (
                (round(self._value(end, bound).real) for end in ends) if ends else (1, self.many)
            )
            places = range(low, high + 1)
            return sum(self._value(body, {**bound, index.token.text: at}) for at in places)
        if word == "delta" and len(node.children) == 2:
            one, other = (self._value(child, bound) for child in node.children)
            return float(one == other)
        if word in _OF_ONE_NUMBER and len(node.children) == 1:
            return complex(_OF_ONE_NUMBER[word](self._value(node.children[0], bound)))
        raise NoValue(word)

    def _derivative(self, node: Node, bound: Mapping[str, int]) -> complex:
        """Differentiate by one name, once: by five points."""
        body, by, *more = node.children
        if more or by.kind != "name":
            raise NoValue("a higher derivative")
        key = self._key(by.token.text, bound)
        self._value(by, bound)  # it has a number now
        before = self._moved.get(key, 0.0)
        found = {}
        for steps in (-2, -1, 1, 2):
            self._moved[key] = before + steps * _STEP
            found[steps] = self._value(body, bound)
        self._moved[key] = before
        return (8 * (found[1] - found[-1]) - (found[2] - found[-2])) / (12 * _STEP)

    def _named(self, word: str, bound: Mapping[str, int]) -> complex:
        plain = word.replace("_", "")
        if plain in bound:
            return bound[plain]
        base, _, index = word.partition("_")
        if base == "delta" and len(index) == 2:
            return float(self._place(index[0], bound) == self._place(index[1], bound))
        if base in self._indexed and index:
            return self._entry(base, index, bound)
        if plain in self._meant:
            return self._value(self._meant[plain][1], {})
        if plain in self._sizes:
            return self.many + self._sizes.index(plain)
        if plain in ("pi", "e") and plain not in self.numbers:
            return math.pi if plain == "pi" else math.e
        if self._indexed and plain in "ijklm":
            return self._place(plain, bound)
        return self._drawn(plain)

    def _entry(self, base: str, index: str, bound: Mapping[str, int]) -> complex:
        places = [self._place(letter, bound) for letter in index]
        if base in self._entries:
            letters, tree = self._entries[base]
            return self._value(tree, dict(zip(letters, places, strict=True)))
        return self._drawn("_".join([base, *map(str, places)]))

    def _key(self, word: str, bound: Mapping[str, int]) -> str:
        base, _, index = word.partition("_")
        if base in self._indexed and index:
            return "_".join([base, *(str(self._place(letter, bound)) for letter in index)])
        return word.replace("_", "")

    def _place(self, letter: str, bound: Mapping[str, int]) -> int:
        if letter in bound:
            return bound[letter]
        if letter.isdigit():
            return int(letter)
        if letter not in self.numbers:
            self.numbers[letter] = 1 if self._alike else self._random.randint(1, self.many)
        return int(self.numbers[letter])

    def _drawn(self, name: str) -> complex:
        if name not in self.numbers:
            size = round(self._random.uniform(0.3, 1.7), 2)
            base = name.partition("_")[0]
            negative = self._random.random() < 0.5 and base not in self._positive
            self.numbers[name] = -size if negative else size
        return self.numbers[name] + self._moved.get(name, 0.0)


def apart(one: complex, other: complex, relation: str = "=") -> bool:
    """Tell whether two values stand otherwise than they should."""
    near = abs(one - other) <= _AS_NEAR * (1 + abs(one) + abs(other))
    return not near and (relation == "=" or one.real > other.real)


def shown_value(value: complex) -> str:
    """Write a value in four digits.

    >>> shown_value(-0.12345 + 0j)
    '−0.1235'
    """
    if abs(value.imag) > _AS_NEAR * (1 + abs(value)):
        return f"{value.real:.4g} + {value.imag:.4g}i".replace("-", "−")
    return f"{value.real:.4g}".replace("-", "−")


_HOW_MANY_POINTS = 6
_NAMES_SHOWN = 6  # numbers of a point; more say nothing
_WORKED_OUT = ("diff", "D", "sum", "Sum")


class Statement(NamedTuple):
    """What is to be shown, and in which names.

    Attributes
    ----------
    start, target
        What is given, and what it should become.
    known
        As for `preview.look_line`: names, functions, indices.
    definitions
        What names stand for.
    positive
        Names that are larger than 0.
    sizes
        Names of how many entries there are.
    """

    start: str
    target: str
    known: Mapping[str, Any]
    definitions: Mapping[str, str]
    positive: tuple[str, ...]
    sizes: tuple[str, ...]

    def tree(self, text: str) -> Node:
        """Return what a formula says."""
        known = {name: value for name, value in self.known.items() if name != "names"}
        tree: Node = twice(tree_of, text, self.known["names"], known)
        return tree

    def points(self) -> list[Point]:
        """Return the points at which lines are compared."""
        meant = {name: self.tree(text) for name, text in self.definitions.items()}
        indexed = tuple(self.known.get("indexed", ()))
        return [
            Point(seed, meant, indexed=indexed, positive=self.positive, sizes=self.sizes)
            for seed in range(_HOW_MANY_POINTS)
        ]

    def known_at(self, line: str) -> bool:
        """Tell whether a line has a value at each point."""
        tree = self.tree(line.partition("#")[0])
        try:
            return all(point.value(tree) is not None for point in self.points())
        except NoValue:
            return False


class _Line(NamedTuple):
    name: str
    relation: str
    text: str
    tree: Node


def first_problem(texts: Sequence[str], asked: Statement) -> str:
    """Say which line is the first that is wrong, or what is missing; "" where nothing is seen.

    Raises
    ------
    ParseError
        If a line can't be read.
    """
    points = asked.points()
    given = _Line("what is given", "=", asked.start, asked.tree(asked.start))
    lines = [given, *_lines_read(texts, asked)]
    for before, line in itertools.pairwise(lines):
        for point in points:
            if found := _differs_by_numbers(before, line, point):
                return found
    return _not_done(lines[1:], asked)


def not_computed(texts: Sequence[str], asked: Statement) -> str:
    """Say of which lines nothing is known, as they have no value here; "" where all have one."""
    unknown = [line.name for line in _lines_read(texts, asked) if not asked.known_at(line.text)]
    if not unknown:
        return ""
    names = ", ".join(dict.fromkeys(unknown))
    return f"a notebook can't compute {names}: that may be right. No line that it can is wrong."


def other_value(text: str, right: str, asked: Statement) -> str:
    """Say where a formula has another value than the right one; "" where that isn't seen.

    Raises
    ------
    ParseError
        If it can't be read.
    """
    given, meant = asked.tree(text), asked.tree(right)
    for point in asked.points():
        try:
            own, other = point.value(given), point.value(meant)
        except NoValue:
            continue
        if apart(other, own, "="):
            at = [f"{name} = {shown_value(number)}" for name, number in point.numbers.items()]
            where = f"At {', '.join(at[:_NAMES_SHOWN])} this" if at else "This"
            return f"{where} is {shown_value(own)}: put numbers in, and compare."
    return ""


def _lines_read(texts: Sequence[str], asked: Statement) -> list[_Line]:
    declared = declared_names(asked.known)
    return [
        _Line(f"line {number}", side.relation, side.text, asked.tree(side.text))
        for number, text in enumerate(texts, 1)
        for side in take_apart(text, declared).sides
    ]


def _differs_by_numbers(before: _Line, line: _Line, point: Point) -> str:
    try:
        one, other = point.value(before.tree), point.value(line.tree)
    except NoValue:
        return ""
    if not apart(one, other, line.relation):
        return ""
    at = [f"{name} = {shown_value(number)}" for name, number in point.numbers.items()]
    where = f" at {', '.join(at[:_NAMES_SHOWN])}{', …' * (len(at) > _NAMES_SHOWN)}," if at else ""
    stands = "is not equal to" if line.relation == "=" else "is not at least"
    return (
        f"{line.name[0].upper()}{line.name[1:]} {stands} {before.name}:{where} "
        f"{before.name} is {shown_value(one)} and {line.name} is {shown_value(other)}."
    )


def _not_done(lines: Sequence[_Line], asked: Statement) -> str:
    ends = {"".join(asked.start.split()), "".join(asked.target.split())}
    others = {*asked.known.get("indices", ()), "e", "pi"}
    if not lines or _words_in(lines[-1].tree) - _words_in(asked.tree(asked.target)) - others:
        return (
            f"Each line equals the one before it; the last is not yet in the form {asked.target}."
        )
    if all("".join(line.text.split()) in ends for line in lines):
        return "Show what stands between what is given and the result."
    return ""


def _words_in(tree: Node) -> set[str]:
    """Return the names in a formula, and what is still to be worked out in it."""
    names = {node.token.text.replace("_", "") for node in nodes_of(tree) if node.kind == "name"}
    calls = {node.token.text for node in nodes_of(tree) if node.kind == "call"}
    return names | (calls & {*_WORKED_OUT})


def statement_of(
    hint: Mapping[str, Any],
    rule: Mapping[str, Any],
    calls: Mapping[str, tuple[int, int]],
    constants: Collection[str],
) -> Statement:
    """Return what is to be shown, as help.json says it."""
    kept = ("names", "functions", "indexed", "indices", "blocks", "defined")
    known = {name: hint[name] for name in kept if name in hint}
    return Statement(
        rule.get("start", ""),
        rule.get("target", ""),
        {**known, "calls": calls, "constants": constants},
        rule.get("definitions", {}),
        tuple(rule.get("positive", ())),
        tuple(rule.get("sizes", ())),
    )


_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|"
    "chi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega"
)
_UPRIGHT = ("exp", "log", "ln", "sin", "cos", "tan", "tanh", "max", "min")
_ADDED, _TIMES, _WHOLE = range(3)  # how strongly something holds together


def latex_of(tree: Node) -> str:
    r"""Return a formula as LaTeX; "" where something of it is written in no usual way.

    >>> from autograder.algebra.reading.grammar import read_tree
    >>> latex_of(read_tree("-p_1*(1 + x)/2^n", implicit=False, functions=()))
    '-\\frac{p_{1} \\left(1 + x\\right)}{2^{n}}'
    """
    try:
        return _set_in(tree)[0]
    except LookupError:
        return ""


def typeset(text: object, names: Collection[str], **known: Any) -> str:
    """Return LaTeX of a formula that `preview.look` can read, "" of a rare one."""
    return latex_of(tree_of(text, names, **known))


def typeset_line(
    text: str, names: Collection[str], *, equations: bool = False, **known: object
) -> str:
    """Return LaTeX of a line that `preview.look_line` can read, "" of a rare one."""
    declared = None if equations else declared_names({"names": names, **known})
    known.pop("bounds", None)
    found = ""
    for place, side in enumerate(take_apart(text, declared).sides):
        sign = r" \le " if side.relation == "<=" else " = "
        latex = latex_of(twice(tree_of, side.text, names, known))
        if not latex:
            return ""
        found += (sign if place or side.relation != "=" else "") + latex
    return found


def _set_in(node: Node) -> tuple[str, int]:
    kind, word, children = node.kind, node.token.text, node.children
    if kind == "number" and re.fullmatch(r"[\d.]+", word):
        return word, _WHOLE
    if kind == "name":
        return _letter(word), _WHOLE
    if kind == "group" and len(children) == 1:
        return _set_in(children[0])
    if kind == "negative":
        return f"-{_held(children[0], _TIMES)}", _ADDED
    if kind == "power":
        return f"{_held(children[0], _WHOLE)}^{{{_set_in(children[1])[0]}}}", _TIMES
    if kind in ("transpose", "factorial"):
        return _held(children[0], _WHOLE) + (r"^{\top}" if kind == "transpose" else "!"), _TIMES
    if kind == "chain" and {*node.marks} <= {"+", "-"}:
        first, *others = children
        pairs = zip(node.marks, others, strict=True)
        more = (f" {mark} {_held(other, _TIMES)}" for mark, other in pairs)
        return _set_in(first)[0] + "".join(more), _ADDED
    if kind == "chain" and {*node.marks} <= {"*", "/"}:
        return _product(node), _TIMES
    if kind == "call" or (kind == "indexed" and word == "delta"):
        return _call(word, node), _WHOLE
    raise LookupError(kind)


def _product(node: Node) -> str:
    first, *others = node.children
    negative = first.kind == "negative"  # the sign stands before the fraction
    done = _held(first.children[0] if negative else first, _TIMES)
    for mark, other in zip(node.marks, others, strict=True):
        if mark == "/":
            above = _set_in(first)[0] if other is others[0] and not negative else done
            done = rf"\frac{{{above}}}{{{_set_in(other)[0]}}}"
        else:
            factor = _held(other, _TIMES)
            done += rf" \cdot {factor}" if factor[0].isdigit() else f" {factor}"
    return f"-{done}" if negative else done


def _call(word: str, node: Node) -> str:
    parts = bound_parts(node)
    if word == "delta" and len(parts) == 2:
        return rf"\delta_{{{_set_in(parts[0])[0]} {_set_in(parts[1])[0]}}}"
    inner = _set_in(parts[0])[0]
    if word in ("diff", "D") and len(parts) == 2:
        return rf"\frac{{\partial}}{{\partial {_set_in(parts[1])[0]}}} {_held(parts[0], _TIMES)}"
    if word in ("sum", "Sum") and len(parts) in (2, 4):
        low, *high = (_set_in(part)[0] for part in parts[1:])
        ends = f"_{{{low} = {high[0]}}}^{{{high[1]}}}" if high else f"_{{{low}}}"
        return rf"\sum{ends} {_held(parts[0], _TIMES)}"
    if word == "sqrt" and len(parts) == 1:
        return rf"\sqrt{{{inner}}}"
    if word == "abs" and len(parts) == 1:
        return rf"\left|{inner}\right|"
    if word not in _UPRIGHT or len(parts) != 1:
        raise LookupError(word)
    return rf"\{word}\left({inner}\right)"


def _held(node: Node, level: int) -> str:
    text, own = _set_in(node)
    return text if own >= level else rf"\left({text}\right)"


def _letter(word: str) -> str:
    base, _, index = word.partition("_")
    if not index and (found := re.fullmatch(r"([A-Za-z])(\d+)", base)):
        base, index = found[1], found[2]
    letter = (
        f"\\{base}" if _GREEK.fullmatch(base) else base if len(base) == 1 else rf"\mathit{{{base}}}"
    )
    return f"{letter}_{{{index}}}" if index else letter


CALLS = {'Abs': (1, 1), 'Derivative': (2, 4), 'KroneckerDelta': (2, 2), 'Limit': (0, 20), 'Matrix': (0, 20), 'Max': (1, 10), 'Min': (1, 10), 'Product': (0, 20), 'ReLU': (1, 1), 'Sum': (0, 20), 'abs': (1, 1), 'absolute': (1, 1), 'acos': (1, 1), 'acosh': (1, 1), 'arccos': (1, 1), 'arccosh': (1, 1), 'arcsin': (1, 1), 'arcsinh': (1, 1), 'arctan': (1, 1), 'arctan2': (2, 2), 'arctanh': (1, 1), 'artanh': (1, 1), 'asin': (1, 1), 'asinh': (1, 1), 'atan': (1, 1), 'atan2': (2, 2), 'atanh': (1, 1), 'binom': (2, 2), 'binomial': (2, 2), 'cbrt': (1, 1), 'ceil': (1, 1), 'ceiling': (1, 1), 'comb': (2, 2), 'conjugate': (1, 1), 'cos': (1, 1), 'cosh': (1, 1), 'cot': (1, 1), 'coth': (1, 1), 'csc': (1, 1), 'csch': (1, 1), 'det': (1, 1), 'diag': (1, 20), 'diff': (2, 4), 'erf': (1, 1), 'exp': (1, 1), 'expit': (1, 1), 'expm1': (1, 1), 'fabs': (1, 1), 'factorial': (1, 1), 'floor': (1, 1), 'hypot': (2, 2), 'im': (1, 1), 'limit': (0, 20), 'ln': (1, 1), 'log': (1, 2), 'log10': (1, 1), 'log1p': (1, 1), 'log2': (1, 1), 'logaddexp': (2, 2), 'max': (1, 10), 'maximum': (1, 10), 'min': (1, 10), 'minimum': (1, 10), 'norm': (1, 1), 'prod': (0, 20), 'product': (0, 20), 're': (1, 1), 'relu': (1, 1), 'root': (2, 2), 'sec': (1, 1), 'sech': (1, 1), 'sgn': (1, 1), 'sigmoid': (1, 1), 'sign': (1, 1), 'sin': (1, 1), 'sinh': (1, 1), 'sqrt': (1, 1), 'sum': (0, 20), 'tan': (1, 1), 'tanh': (1, 1), 'tr': (1, 1), 'trace': (1, 1), 'transpose': (1, 1)}
CONSTANTS = frozenset(['E', 'I', 'e', 'inf', 'infinity', 'infty', 'oo', 'pi'])
