"""Kinds of answer that are mathematics: formulas, matrices, complexity classes.

Student text goes to ``autograder.algebra`` alone, which never evaluates it.  A class writes the
same formulas in few spellings: each is read and compared once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from autograder import algebra
from autograder.exercise.cache import remembered
from autograder.exercise.form import Form
from autograder.exercise.kind import (
    Answer,
    Attempt,
    FormatError,
    Judgement,
    Scaffold,
    Senseless,
    Undecided,
    same_everywhere,
)
from autograder.student.formulas import text_of as text_of
from autograder.student.rows import rows_of

_FEW_DIGITS = 8  # below a line: 0.5, 0.25 and 0.125 are exact
_NEAR = 5e-3
_EXACT = (
    "As a number this comes close, but a formula is exact: write fractions, roots and constants, "
    "such as 1/3, not decimals such as 0.333."
)
_SOME_NUMBER = "12345/678"
_NO_POINTS = "undecided: too few points could be computed"  # as algebra/comparing/search.py has it
_Assumptions = tuple[tuple[str, str], ...]


@remembered()
def _parsed(text: str, names: tuple[str, ...] | None, assumptions: _Assumptions) -> Any:
    return algebra.parse(text, names, implicit=True, assumptions=dict(assumptions))


@remembered()
def _replaced(expression: Any, definitions: tuple[tuple[Any, Any], ...]) -> Any:
    for _ in definitions:  # a definition may use another one
        expression = expression.xreplace(dict(definitions))
    return expression


@remembered(lambda verdict: verdict.equal is not None)
def _compared(expected: Any, given: Any, assumptions: _Assumptions) -> algebra.Verdict:
    return algebra.equivalent(expected, given, assumptions=dict(assumptions))


@dataclass(frozen=True)
class Formula(Answer):
    """An expression in ``names``, right if it equals the expected one for all their values.

    Attributes
    ----------
    names
        The symbols that an answer may use, separated by blanks.
    assumptions
        What is assumed of a symbol, such as ``{"p_i": "positive"}``.
    definitions
        What some of the names stand for, put in before comparing: with p₁ and p₂ defined as
        softmax, p₁ (1 − p₁) equals p₁ p₂.
    form
        How it is to be written: an answer that restates what is given is equal to it, too.
    """

    kind = "formula"
    ships = ("check_formulas.py",)
    table: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ('Formula("p_i p_j")', "text", "equal as functions"),
        ('Formula("a b", form=Form(…))', "text", "the same, and in the form that is asked for"),
    )
    scaffold = Scaffold(
        asks="Ask for an expression in $$x$$ and $$y$$.",
        stub="formula = None  # text in x and y",
        reference='''
@exercise.part(points=1, answer=Formula("x y"))
def formula():
    """The square of x + y, multiplied out."""
    return "x^2 + 2*x*y + y^2"


@formula.misconception()
def cross_term_missing():
    """A square of a sum has a term in which both occur."""
    return "x^2 + y^2"
''',
    )

    names: str
    assumptions: Mapping[str, str] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    form: Form | None = None

    def __post_init__(self) -> None:
        """Refuse a misspelt assumption where it is written."""
        algebra.check_assumptions(self.assumptions)

    def read(self, raw: Any, like: Any = None) -> Any:
        """Parse text; a formula that is one already (from a reference) stays as it is."""
        if hasattr(raw, "free_symbols"):
            return raw
        try:
            return _parsed(text_of(raw), tuple(self.names.split()), self._assumed)
        except algebra.ParseError as error:
            raise FormatError(str(error)) from None

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Equality as functions, raising ``Undecided`` where it can't be settled."""
        right, own = self._expanded(expected), self._expanded(given)
        verdict = _compared(right, own, self._assumed)
        senseless = verdict.equal is None and _has_no_value(own, self._assumed)
        if senseless and not _has_no_value(right, self._assumed):
            raise Senseless(
                "this formula has no value that could be computed: look at its logarithms, roots "
                "and powers"
            )
        return settled(verdict)

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Judge whether it is equal, and then whether it has the form that is asked for."""
        judgement = super().judge(given, expected, slack=slack)
        if not judgement.credit and self._is_rounded(given, expected):
            return judgement._replace(feedback=judgement.feedback or _EXACT)
        if self.form is None or not judgement.credit or self.form.has(given):
            return judgement
        text = f"This is right, but not in the form that is asked for. {self.form.wanted}"
        return Judgement(self.form.credit, "other_form", text)

    def attempts(self, right: Any) -> Iterator[Attempt]:
        """Write what is given once more."""
        if self.form:
            yield Attempt("restated", self.form.restated, at_most=self.form.credit)

    def unsaid(self, right: Any) -> Iterator[str]:
        """Ask for names that may be those of matrices."""
        yield from ask_to_declare(self.names.split(), self.assumptions, self.read(right))

    @property
    def _assumed(self) -> _Assumptions:
        return tuple(self.assumptions.items())

    @cached_property
    def _meanings(self) -> dict[Any, Any]:
        def read(text: str) -> Any:
            return _parsed(text, None, self._assumed)

        return {read(name): read(meaning) for name, meaning in self.definitions.items()}

    def _is_rounded(self, given: Any, expected: Any) -> bool:
        return _is_rounded(self._expanded(given), self._expanded(expected))

    def _expanded(self, expression: Any) -> Any:
        return _replaced(expression, tuple(self._meanings.items()))

    def guess(self, number: int, right: Any) -> Any:
        """Return a number, or one of the names."""
        return ["0", "1", *self.names.split()[:2], "1"][number]

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and symbols."""
        functions = [name for name, words in self.assumptions.items() if "function" in words]
        functions += ["delta"] * ("delta_" in self.names)
        known = {"functions": functions} if functions else {}
        return {"kind": "formula", "names": self.names.split(), "implicit": True, **known}


@dataclass(frozen=True)
class Matrix(Formula):
    """A matrix of expressions: rows of lists or of text, ``"a 0; 0 b"``, or a matrix in LaTeX."""

    kind = "matrix"
    table = (
        (
            'Matrix("p1 p2")',
            'rows of text, `"p1 0; 0 p2"`, a matrix in LaTeX',
            "equal entry by entry",
        ),
    )
    scaffold = Scaffold(
        asks="Ask for a matrix with entries in $$x$$ and $$y$$.",
        stub="matrix = None  # text, such as a b; c d",
        reference='''
@exercise.part(points=1, answer=Matrix("x y"))
def matrix():
    """The outer product of (x, y) with itself."""
    return [["x^2", "x*y"], ["x*y", "y^2"]]


@matrix.misconception()
def diagonal_only():
    """An outer product has an entry for every pair, also for different ones."""
    return [["x^2", "0"], ["0", "y^2"]]
''',
    )

    def read(self, raw: Any, like: Any = None) -> Any:
        """Parse each entry; the size must be that of ``like``."""
        value = raw
        if not hasattr(raw, "free_symbols"):
            try:
                value = algebra.parse_matrix(
                    rows_of(raw),
                    self.names.split(),
                    implicit=True,
                    assumptions=self.assumptions,
                )
            except algebra.ParseError as error:
                raise FormatError(str(error)) from None
        if like is not None and value.shape != like.shape:
            raise FormatError(f"a {_size(like)} matrix is expected, not a {_size(value)} one")
        return value

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Equality entry by entry."""
        if given.shape != expected.shape:
            return False
        return all(super(Matrix, self).same(g, e) for g, e in zip(given, expected, strict=True))

    def _is_rounded(self, given: Any, expected: Any) -> bool:
        return False

    def guess(self, number: int, right: Any) -> Any:
        """Return the same number everywhere."""
        entries = same_everywhere(number, right.shape).astype(int)
        return entries.astype(str).tolist()

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind, symbols and size."""
        return super().hint(expected) | {"kind": "matrix", "shape": list(expected.shape)}


@dataclass(frozen=True)
class ComplexityClass(Answer):
    """A class such as ``n*m*d_k``: constants and dominated terms do not matter."""

    kind = "complexity"
    ships = ("check_formulas.py",)
    table = (('ComplexityClass("n m d")', "text", "the same class"),)
    scaffold = Scaffold(
        asks="Ask for a class in $$n$$ and $$d$$.",
        stub="time = None  # text, such as n*d",
        reference='''
@exercise.part(points=1, answer=ComplexityClass("n d"))
def time():
    """The time of multiplying an n × d matrix with its transpose."""
    return "n^2*d"


@time.misconception()
def size_of_the_result():
    """That is the size of the result. Each of its entries is a sum."""
    return "n^2"
''',
    )

    symbols: str

    def read(self, raw: Any, like: Any = None) -> algebra.Complexity:
        """Parse text, with or without ``O(…)``."""
        if isinstance(raw, algebra.Complexity):
            return raw
        try:
            parsed: algebra.Complexity = algebra.parse_complexity(
                text_of(raw), self.symbols.split()
            )
        except algebra.ParseError as error:
            raise FormatError(str(error)) from None
        return parsed

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Equality of the reduced sums."""
        return bool(given == expected)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and symbols."""
        names = self.symbols.split()
        return {"kind": "formula", "names": names, "functions": ["O", "Theta"], "implicit": True}


def ask_to_declare(
    names: Iterable[str], assumptions: Mapping[str, str], *formulas: Any
) -> Iterator[str]:
    """Ask the author what the names are that may be numbers or matrices."""
    if found := algebra.to_declare(tuple(names), assumptions, *formulas):
        declared = ", ".join(f'"{name}": "matrix"' for name in found)
        which = " and ".join(found)
        what = "are numbers" if len(found) > 1 else "is a number"
        yield (
            f"nobody has said whether {which} {what}, whose products have no order: say so, "
            f'assumptions={{{declared}}}, or "vector", or "real" for a number'
        )


def _is_rounded(given: Any, expected: Any) -> bool:
    """Whether a formula with decimals comes close to the right one, as 0.333 does to 1/3."""
    if getattr(given, "is_Matrix", True) or getattr(expected, "is_Matrix", True):
        return False  # of a formula in matrices
    numbers = [n for n in given.atoms() if n.is_Rational]
    if not any(n.q > _FEW_DIGITS and 10**12 % n.q == 0 for n in numbers):
        return False
    names = sorted(symbol.name for symbol in given.free_symbols | expected.free_symbols)
    try:
        for shift in (0.7, 1.3, 2.1):
            at = {name: shift + place / 7 for place, name in enumerate(names)}
            right = algebra.value_at(expected, at)
            if abs(algebra.value_at(given, at) - right) > _NEAR * abs(right):
                return False
    except algebra.Undefined:
        return False
    return True


def _has_no_value(formula: Any, assumed: _Assumptions) -> bool:
    """Tell whether a formula can't even be compared with a number: it has no values to compare."""
    compared = _compared(_SOME_NUMBER, formula, assumed)
    return compared.equal is None and compared.how == _NO_POINTS


def settled(verdict: algebra.Verdict) -> bool:
    """Return what was found out, raising ``Undecided`` where it is nothing."""
    if verdict.equal is None:
        raise Undecided(verdict.how)
    return verdict.equal


def _size(matrix: Any) -> str:
    return f"{matrix.shape[0]} × {matrix.shape[1]}"
