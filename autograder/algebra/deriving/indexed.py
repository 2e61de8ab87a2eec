"""Lines about indexed quantities: ``D(exp(z_i)/sum(exp(z_k), k), z_j)``, for any number n.

Sums, derivatives, expectations and norms are kept as they are written, so that a rule can be
looked for in a line; what they come to for a given n is `meaning`'s business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import sympy

from autograder.algebra.deadlines.guard import within
from autograder.algebra.reading.errors import ParseError

MAX_LENGTH = 1000
MAX_DEPTH = 40
MAX_POWER = 12
MAX_BITS = 2000  # of a number that a power makes

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[^\W\d_]+\d*(?:_(?:\{[A-Za-z0-9,]+\}|[A-Za-z0-9]+))?)"
    r"|(?P<sign>\*\*|[-+*/^()\[\],·−])|(?P<other>\S))"
)
_GREEK_NAMES = """alpha beta gamma delta epsilon eta theta kappa lambda mu nu xi pi rho sigma tau
    phi chi psi omega"""
_GREEK = dict(zip("αβγδεηθκλμνξπρστφχψω", _GREEK_NAMES.split(), strict=True))


class Inert(sympy.Function):  # type: ignore[misc]  # sympy is untyped
    """Something that is written, not carried out."""


class D(Inert):
    """``D(f, x)``, a derivative."""


class Total(Inert):
    """``sum(f, k, a, b)``; k is bound."""


class Largest(Inert):
    """``max(f, k, a, b)``; k is bound."""


class E(Inert):
    """An expectation."""


class Var(Inert):
    """A variance."""


class Norm(Inert):
    """The Euclidean norm of a vector."""


BINDERS = (Total, Largest)
OPERATORS = {"D": D, "diff": D, "E": E, "Var": Var, "norm": Norm, "sum": Total, "Sum": Total}
_SHARED = ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh")
FUNCTIONS: dict[str, Any] = {name: getattr(sympy, name) for name in _SHARED}
FUNCTIONS |= {"ln": sympy.log, "delta": sympy.KroneckerDelta}


@dataclass(frozen=True)
class Names:
    """What the names in a line stand for.

    Attributes
    ----------
    indexed
        Names that carry one or two indices: ``z`` for z_i.
    plain
        Names that stand alone.
    matrices
        Names of matrices, whose products keep their order; ``I`` is the identity.
    positive
        Those of the names that are positive; the others are real.
    indices
        Names of indices.
    size
        How many there are: sums run from 1 to this, unless they say otherwise.
    """

    indexed: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    indices: tuple[str, ...] = ("i", "j", "k", "l", "m")
    size: str = "n"
    sizes: tuple[str, ...] = field(default=())

    def index(self, name: str) -> sympy.Symbol:
        """Return the symbol of an index or of the size."""
        return sympy.Symbol(name, integer=True, positive=True)

    def symbol(self, name: str) -> sympy.Expr | None:
        """Return what a name that stands alone is, None if there is none."""
        if name in self.indices or name == self.size or name in self.sizes:
            return self.index(name)
        if name in self.matrices:
            return sympy.Symbol(name, commutative=False)
        if name in self.plain:
            return sympy.Symbol(name, real=True, positive=name in self.positive or None)
        return {"pi": sympy.pi, "e": sympy.E}.get(name)

    def entry(self, name: str, indices: list[sympy.Expr]) -> sympy.Expr:
        """Return the entry of an indexed name."""
        return sympy.Function(name, real=True, positive=name in self.positive or None)(*indices)

    @property
    def all(self) -> list[str]:
        """Every name, for a message."""
        both = [f"{base}_{self.indices[0]}" for base in self.indexed]
        return [*both, *self.plain, *self.matrices, *self.indices, self.size, *self.sizes]


def _late() -> Any:
    raise ParseError("reading this line takes too long")


@within(_late)
def read_indexed(text: str, names: Names) -> sympy.Expr:
    """Read a formula with indexed names; raise `ParseError` for every text that is none.

    >>> read_indexed("p_i*(delta(i,j) - p[j])", Names(indexed=("p",)))
    (-p(j) + KroneckerDelta(i, j))*p(i)
    """
    if not isinstance(text, str):
        raise ParseError(f"expected a formula as text, not {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise ParseError(f"a line may have at most {MAX_LENGTH} characters", text)
    try:
        return _Reader(text, names).read()
    except ParseError:
        raise
    except Exception as error:
        # sympy raises many kinds of exception when an expression makes no sense to it.
        raise ParseError("this cannot be read as a formula", text) from error


class _Reader:
    """Read by operator precedence, building as it goes; nothing is evaluated but numbers."""

    def __init__(self, text: str, names: Names) -> None:
        self.text, self.names = text, names
        self.tokens = [
            (m.lastgroup, m.group(m.lastgroup or 0), m.start(m.lastgroup or 0))
            for m in _TOKEN.finditer(text)
        ]
        self.tokens.append(("end", "", len(text)))
        self.at = self.depth = 0

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        raise ParseError(reason, self.text, self.tokens[self.at][2] if at is None else at)

    def sees(self, *signs: str) -> bool:
        kind, word, _ = self.tokens[self.at]
        return kind == "sign" and word in signs

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def expect(self, sign: str) -> None:
        if not self.sees(sign):
            self.fail(f"expected {sign!r}")
        self.at += 1

    def read(self) -> sympy.Expr:
        value = self.sum()
        if self.tokens[self.at][0] != "end":
            self.fail("expected an operator: write * for a product")
        return value

    def sum(self) -> sympy.Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("this is nested too deeply")
        value = self.product()
        while self.sees("+", "-", "−"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        self.depth -= 1
        return value

    def product(self) -> sympy.Expr:
        value = self.signed()
        while self.sees("*", "/", "·"):
            if self.take() == "/":
                at = self.tokens[self.at][2]
                below = self.signed()
                if below == 0:
                    self.fail("division by zero", at)
                value = value / below
            else:
                value = value * self.signed()
        return value

    def signed(self) -> sympy.Expr:
        minus = False
        while self.sees("-", "−", "+"):
            minus ^= self.take() != "+"
        value = self.power()
        return -value if minus else value

    def power(self) -> sympy.Expr:
        base = self.operand()
        if not self.sees("^", "**"):
            return base
        self.take()
        at = self.tokens[self.at][2]
        exponent = self.signed()
        if exponent.is_number and not (exponent.is_Rational and abs(exponent) <= MAX_POWER):
            self.fail(f"a power may be at most {MAX_POWER}", at)
        if base.is_Rational and exponent.is_Rational:
            bits = max(abs(base.p).bit_length(), base.q.bit_length())
            if bits * abs(exponent) > MAX_BITS:
                self.fail("this power is too large", at)
        if base == 0 and not exponent.is_positive:
            self.fail("this is not defined", at)
        return base**exponent

    def operand(self) -> sympy.Expr:
        kind, word, at = self.tokens[self.at]
        if kind == "number":
            self.take()
            return sympy.Rational(word)
        if kind == "name":
            return self.name()
        if self.sees("("):
            self.take()
            value = self.sum()
            self.expect(")")
            return value
        if kind == "other":
            self.fail(f"unexpected character {word!a}", at)
        return self.fail("expected a number, a name or '('")

    def name(self) -> sympy.Expr:
        at = self.tokens[self.at][2]
        word = self.take()
        word = _GREEK.get(word[0], word[0]) + word[1:]
        base, _, subscript = word.partition("_")
        if not subscript and self.sees("(", "["):
            closing = ")" if self.take() == "(" else "]"
            return self.call(base, closing, at)
        if (value := self.names.symbol(word)) is not None:
            return value
        if subscript and (base in self.names.indexed or base == "delta"):
            letters = re.findall(r"[A-Za-z]|\d+", subscript)
            indices = [self.index(letter, at) for letter in letters]
            if base == "delta" and len(indices) == 2:
                return sympy.KroneckerDelta(*indices)
            return self.names.entry(base, indices)
        return self.fail(f"unknown name {word}; the names are {', '.join(self.names.all)}", at)

    def index(self, letter: str, at: int) -> sympy.Expr:
        if letter.isdigit():
            return sympy.Integer(letter)
        if letter in self.names.indices or letter == self.names.size:
            return self.names.index(letter)
        return self.fail(f"{letter} is no index; these are {', '.join(self.names.indices)}", at)

    def call(self, word: str, closing: str, at: int) -> sympy.Expr:
        if word in ("sum", "Sum", "max"):
            return self.bound(Largest if word == "max" else Total, closing, at)
        args = [self.sum()]
        while self.sees(","):
            self.take()
            args.append(self.sum())
        self.expect(closing)
        if word in self.names.indexed:
            return self.names.entry(word, args)
        wanted = 2 if word in ("D", "diff", "delta") else 1
        function = OPERATORS.get(word) or FUNCTIONS.get(word)
        if function is None:
            if self.names.symbol(word) is not None:
                self.fail(f"{word} is not a function: write {word}*(…) for a product", at)
            self.fail(f"unknown function {word}", at)
        if len(args) != wanted:
            self.fail(f"{word} takes {wanted} argument{'s' * (wanted > 1)}", at)
        if function is D and not (args[1].is_Symbol or args[1].is_Function):
            self.fail("differentiate with respect to a variable: D(f, z_j)", at)
        value = function(*args)
        if value in (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            self.fail("this is not defined", at)
        return value

    def bound(self, kind: type[Inert], closing: str, at: int) -> sympy.Expr:
        """Read ``sum(f, k)``, ``sum(f, k, 1, n)`` or ``sum(f, (k, 1, n))``."""
        args = [self.sum()]
        self.expect(",")
        inner = self.sees("(")
        if inner:
            self.take()
        args.append(self.sum())
        while self.sees(",") and len(args) < 4:
            self.take()
            args.append(self.sum())
        if inner:
            self.expect(")")
        self.expect(closing)
        if len(args) == 2:
            args += [sympy.Integer(1), self.names.index(self.names.size)]
        if len(args) != 4 or not args[1].is_Symbol or args[1].name not in self.names.indices:
            self.fail("write sum(f, k) or sum(f, k, 1, n) with an index k", at)
        return kind(*args)
