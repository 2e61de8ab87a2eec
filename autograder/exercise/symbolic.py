"""Kinds of answer that are mathematics: formulas, matrices, derivations, complexity classes.

Student text goes to ``autograder.algebra`` alone, which never evaluates it as code.  A class writes
the same formulas in few spellings: each is read and compared once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from autograder import algebra
from autograder.algebra.deriving import attempts
from autograder.exercise.answers import (
    Answer,
    Attempt,
    FormatError,
    Judgement,
    Scaffold,
    Undecided,
)
from autograder.exercise.remember import remembered

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
    return algebra.equal(expected, given, assumptions=dict(assumptions))


@dataclass(frozen=True)
class Form:
    """How a formula is to be written, where a form is asked for.

    Attributes
    ----------
    wanted
        A sentence for the student: "Write it in the difference a − b alone."
    has
        Whether a formula that is right, as sympy reads it, has that form.
    restated
        What is given, written again: it is equal to the answer, and must not have the form.
    credit
        What a right formula in another form earns.
    """

    wanted: str
    has: Callable[[Any], bool]
    restated: str
    credit: float = 0.0


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

    def read(self, raw: Any, like: Any = None) -> Any:
        """Parse text; a formula that is one already (from a reference) stays as it is."""
        if hasattr(raw, "free_symbols"):
            return raw
        try:
            return _parsed(_text(raw), tuple(self.names.split()), self._assumed)
        except algebra.ParseError as error:
            raise FormatError(str(error)) from None

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Equality as functions, raising ``Undecided`` where it can't be settled."""
        pair = (self._expanded(expected), self._expanded(given))
        return _settled(_compared(*pair, self._assumed))

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Judge whether it is equal, and then whether it has the form that is asked for."""
        judgement = super().judge(given, expected, slack=slack)
        if self.form is None or not judgement.credit or self.form.has(given):
            return judgement
        text = f"This is right, but not in the form that is asked for. {self.form.wanted}"
        return Judgement(self.form.credit, "other_form", text)

    def attempts(self, right: Any) -> Iterator[Attempt]:
        """Write what is given once more."""
        if self.form:
            yield Attempt("restated", self.form.restated, at_most=self.form.credit)

    @property
    def _assumed(self) -> _Assumptions:
        return tuple(self.assumptions.items())

    @cached_property
    def _meanings(self) -> dict[Any, Any]:
        def read(text: str) -> Any:
            return _parsed(text, None, self._assumed)

        return {read(name): read(meaning) for name, meaning in self.definitions.items()}

    def _expanded(self, expression: Any) -> Any:
        return _replaced(expression, tuple(self._meanings.items()))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and symbols."""
        functions = [name for name, words in self.assumptions.items() if "function" in words]
        functions += ["delta"] * ("delta_" in self.names)
        known = {"functions": functions} if functions else {}
        return {"kind": "formula", "names": self.names.split(), "implicit": True, **known}


@dataclass(frozen=True)
class Matrix(Formula):
    """A matrix of expressions, written as a list of rows."""

    kind = "matrix"
    table = (('Matrix("p1 p2")', "rows of text", "equal entry by entry"),)
    scaffold = Scaffold(
        asks="Ask for a matrix with entries in $$x$$ and $$y$$.",
        stub="matrix = None  # a list of rows, each a list of texts",
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
            if not isinstance(raw, list | tuple):
                raise FormatError("a list of rows is expected, such as [['a', 'b'], ['c', 'd']]")
            try:
                value = algebra.parse_matrix(raw, self.names.split(), implicit=True)
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

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind, symbols and size."""
        return super().hint(expected) | {"kind": "matrix", "shape": list(expected.shape)}


class Lines(list[Any]):
    """The lines of a derivation that can be read; ``texts`` holds all of them as written."""

    def __init__(self, lines: Iterable[algebra.Line], texts: Sequence[str]) -> None:
        super().__init__(lines)
        self.texts = list(texts)


@dataclass(frozen=True)
class Derivation(Answer):
    """A list of lines, each equal to the one before, from what is given to a target form."""

    kind = "derivation"
    ships = ("check_formulas.py",)
    table = (("Derivation(chain)", "lines of text", "every step holds, from start to target form"),)
    scaffold = Scaffold(
        asks="Ask for a derivation: a list with one line an entry.",
        stub="steps = None  # lines of text in x",
        imports="from autograder.algebra import Chain",
        reference='''
chain = Chain(start="diff(x^2 + x, x)", target="2*x + 1", names=("x",))


@exercise.part(points=2, answer=Derivation(chain))
def steps():
    """The derivative of x² + x, one equality a line."""
    return ["diff(x^2 + x, x)", "diff(x^2, x) + diff(x, x)", "2*x + 1"]
''',
    )

    chain: algebra.Chain

    def read(self, raw: Any, like: Any = None) -> Lines:
        """Parse every line; text is split at line breaks.

        A line that can't be read costs its step and not the others, so it is kept for ``judge``.
        """
        if isinstance(raw, Lines):
            return raw
        texts = raw.splitlines() if isinstance(raw, str) else raw
        if not isinstance(texts, list | tuple):
            raise FormatError(f"a list of lines of text is expected, not {type(raw).__name__}")
        texts = [_text(text) for text in texts]
        lines: list[algebra.Line] = []
        problem = None
        for text in texts:
            try:
                lines += self._read_line(text)
            except algebra.ParseError as error:
                problem = problem or error
        if not lines:
            raise FormatError(str(problem or "there is no line with text"))
        return Lines(lines, texts)

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Tell whether two derivations end in the same expression."""
        return _settled(self.chain.compare(expected[-1], given[-1]))

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Examine the chain line by line; credit per sound step."""
        examined = self._examined(*given.texts)
        if not examined.findings:
            if examined.review:
                raise Undecided("a step could be neither proved nor refuted")
            return Judgement(1.0)
        note = f"derivation_{examined.findings[0].kind}"
        text = "\n".join(finding.message for finding in examined.findings)
        return Judgement(examined.credit, note, text)

    def published(self) -> Iterable[str]:
        """Return what it starts from and, where reasons are asked for, all but the way."""
        return (self.chain.start, *self.chain.told)

    def attempts(self, right: Any) -> Iterator[Attempt]:
        """Jumps, circles, disguises and wrong lines; and the reference's lines in other clothes."""
        texts = self.read(right).texts
        for name, lines, at_most in attempts.cheats(self.chain, texts):
            yield Attempt(name, lines, at_most=at_most)
        for name, lines in attempts.disguises(self.chain, texts):
            yield Attempt(name, lines, at_least=1.0)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and symbols."""
        return {"kind": "lines", **self.chain.hint()}

    @cached_property
    def _read_line(self) -> Callable[[str], list[algebra.Line]]:
        return remembered()(lambda text: self.chain.read([text]))

    @cached_property
    def _examined(self) -> Callable[..., algebra.Examination]:
        @remembered(_sure)
        def examined(*texts: str) -> algebra.Examination:
            return self.chain.examine(texts)

        return examined


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
            parsed: algebra.Complexity = algebra.parse_complexity(_text(raw), self.symbols.split())
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


def _sure(examined: algebra.Examination) -> bool:
    """Tell whether a derivation would be examined alike at another time.

    Limits are worked out in bounded time, and a line in which that was too short is unreadable.
    """
    return not examined.review and all(f.kind != "unreadable" for f in examined.findings)


def _text(raw: Any) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise FormatError(f"text is expected, not {type(raw).__name__}")
    return str(raw)


def _settled(verdict: algebra.Verdict) -> bool:
    if verdict.equal is None:
        raise Undecided(verdict.how)
    return verdict.equal


def _size(matrix: Any) -> str:
    return f"{matrix.shape[0]} × {matrix.shape[1]}"
