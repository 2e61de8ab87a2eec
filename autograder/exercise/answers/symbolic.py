"""Formulas, a kind of answer.

Student text goes to ``autograder.algebra`` alone, which never evaluates it.  A class writes the
same formulas in few spellings: each is read and compared once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from autograder import algebra
from autograder.algebra.building.numeric import Undefined, value_at
from autograder.algebra.building.parse import operators_in
from autograder.algebra.building.scope import check_assumptions
from autograder.algebra.comparing.verdict import HOPELESS
from autograder.algebra.reading.finished import check_operators
from autograder.exercise.answers.decimals import EXACT, is_rounded
from autograder.exercise.answers.declaring import ask_to_declare
from autograder.exercise.answers.form import Form
from autograder.exercise.answers.kind import (
    Answer,
    Array,
    Attempt,
    FormatError,
    Judgement,
    Scaffold,
    Senseless,
    Undecided,
)
from autograder.exercise.cache import remembered
from autograder.exercise.formula_types import is_formula
from autograder.student.formulas import text_of as text_of

_SOME_NUMBER = "12345/678"
_WHOLE = (3, 5, 7, 11, 13, 17)  # what can be a count, too; of no more names
_UNDONE = {  # each comes to nothing
    "derivative": " + diff({0}, {0}) - 1",
    "limit": " + limit({0}, {0}, 0)",
    "sum": " + sum({0}, u, 1, {0}) - {0}^2",
    "product": " + product({0}, u, 1, {0}) - {0}^{0}",
}
Assumptions = tuple[tuple[str, str], ...]
Operators = tuple[str, ...] | None


@remembered()
def _parsed(
    text: str,
    names: tuple[str, ...] | None,
    assumptions: Assumptions,
    operators: Operators = None,
) -> Any:
    known = dict(assumptions)
    return algebra.parse(text, names, implicit=True, assumptions=known, operators=operators)


@remembered()
def _replaced(expression: Any, definitions: tuple[tuple[Any, Any], ...]) -> Any:
    for _ in definitions:  # a definition may use another one
        expression = expression.xreplace(dict(definitions))
    return expression


@remembered(lambda verdict: verdict.equal is not None)
def _compared(expected: object, given: object, assumptions: Assumptions) -> algebra.Verdict:
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
        x/(x + y) and y/(x + y), p₁ (1 − p₁) equals p₁ p₂.
    form
        How it is to be written: an answer that restates what is given is equal to it, too.
    operators
        What a finished answer may leave to be worked out, besides what the expected one does, out
        of ``derivative limit sum product``: ``diff(x^2, x)`` is no derivative of x².
    question
        What is asked, as somebody may hand it in again: ``verify`` sees that it earns nothing.
    practice
        Another question of the same kind, in these names, and its answer: everybody is graded
        with the same formula, so that this one is practised in its place.
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
    operators: str = ""
    question: Any = ""
    practice: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        """Refuse a misspelt assumption or operator where it is written."""
        check_assumptions(self.assumptions)
        check_operators(self.operators.split())

    def read(self, raw: object, like: object = None) -> Any:
        """Parse text; a formula that is one already (from a reference) stays as it is."""
        if is_formula(raw):
            return raw
        names = tuple(self.names.split())
        try:
            return _parsed(text_of(raw), names, self._assumed, self._finished(like))
        except algebra.ParseError as error:
            raise FormatError(str(error)) from None

    def same(
        self, given: object, expected: object, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Equality as functions, raising ``Undecided`` where it can't be settled."""
        right, own = self._expanded(expected), self._expanded(given)
        verdict = _compared(right, own, self._assumed)
        senseless = verdict.equal is None and _has_no_value(own, self._assumed)
        if senseless and not _has_no_value(right, self._assumed):
            raise Senseless(
                "this formula has no value that could be computed: look at its logarithms, roots, "
                "powers and length"
            )
        return settled(verdict)

    def judge(self, given: object, expected: object, *, slack: float | Array = 0.0) -> Judgement:
        """Judge whether it is equal, and then whether it has the form that is asked for."""
        judgement = super().judge(given, expected, slack=slack)
        if not judgement.credit and self._is_rounded(given, expected):
            return judgement._replace(feedback=judgement.feedback or EXACT)
        if self.form is None or not judgement.credit or self.form.has(given):
            return judgement
        text = f"This is right, but not in the form that is asked for. {self.form.wanted}"
        return Judgement(self.form.credit, "other_form", text)

    def locate(self, given: object, expected: object) -> str:
        """Say what the answer comes to at a point where it is wrong: of whole numbers, if any."""
        right, own = self._expanded(expected), self._expanded(given)
        verdict = _compared(right, own, self._assumed)
        if verdict.equal is not False or not verdict.values or not verdict.point:
            return ""
        point, value = _at_whole_numbers(right, own) or (verdict.point, verdict.values[1])
        return f"At {point} this is {value}: put numbers in, and compare."

    def attempts(self, right: object) -> Iterator[Attempt]:
        """Write what is given once more, and the right answer with something left to be done."""
        if self.form:
            yield Attempt("restated", self.form.restated, at_most=self.form.credit)
        if self.question:
            yield Attempt("the question as its answer", self.question, at_most=0.0)
        expected = self.read(right)
        numbers = [name for name in self.names.split() if name not in self._functions]
        finished = self._finished(expected) or ()
        for operator, undone in _UNDONE.items():
            if numbers and operator not in finished:
                raw = self._extended(right, undone.format(numbers[0]))
                yield Attempt(f"a {operator} left to be worked out", raw, at_most=0.0)
        needed = {symbol.name for symbol in expected.free_symbols}
        for name in numbers:
            if name not in needed:
                raw = self._extended(right, f" + {name} - {name}")
                yield Attempt(f"{name} that cancels", raw, at_most=0.0)

    def _extended(self, right: object, more: str) -> Any:
        """Write an answer as it stands with something behind it."""
        return f"{right}{more}"

    def unsaid(self, right: object) -> Iterator[str]:
        """Ask for names that may be those of matrices."""
        yield from ask_to_declare(self.names.split(), self.assumptions, self.read(right))

    def _finished(self, like: object) -> Operators:
        """Return the operators that a finished answer may hold; None where there is no telling."""
        if like is None:
            return None
        return tuple(sorted({*self.operators.split(), *operators_in(like)}))

    @property
    def practised(self) -> bool:
        """It is practised on another question, if at all."""
        return False

    @property
    def statement(self) -> Mapping[str, Any] | None:
        """The other question, whose answer a notebook looks at by numbers."""
        if self.practice is None:
            return None
        asks, right = self.practice
        positive = [name for name in self.names.split() if "positive" in self._words(name)]
        return {
            "asks": [f"Another question: {asks}"],
            "hint": self.hint(self.read(right)),
            "rule": {"positive": positive},
            "right": right,
        }

    def _words(self, name: str) -> str:
        return self.assumptions.get(name, self.assumptions.get("*", ""))

    @property
    def _functions(self) -> list[str]:
        return [name for name, words in self.assumptions.items() if "function" in words]

    @property
    def _assumed(self) -> Assumptions:
        return tuple(self.assumptions.items())

    @cached_property
    def _meanings(self) -> dict[Any, Any]:
        def read(text: str) -> Any:
            return _parsed(text, None, self._assumed)

        return {read(name): read(meaning) for name, meaning in self.definitions.items()}

    def _is_rounded(self, given: object, expected: object) -> bool:
        return is_rounded(self._expanded(given), self._expanded(expected))

    def _expanded(self, expression: object) -> Any:
        return _replaced(expression, tuple(self._meanings.items()))

    def guess(self, number: int, right: object) -> Any:
        """Return a number, or one of the names."""
        return ["0", "1", *self.names.split()[:2], "1"][number]

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and symbols."""
        functions = [*self._functions, *(["delta"] * ("delta_" in self.names))]
        known: dict[str, Any] = {"functions": functions} if functions else {}
        known["operators"] = list(self._finished(expected) or ())
        return {"kind": "formula", "names": self.names.split(), "implicit": True, **known}


def _has_no_value(formula: object, assumed: Assumptions) -> bool:
    """Tell whether a formula can't even be compared with a number: it has no values to compare."""
    compared = _compared(_SOME_NUMBER, formula, assumed)
    return compared.equal is None and compared.how in HOPELESS


def _at_whole_numbers(right: Any, own: Any) -> tuple[str, str] | None:
    """Return a point at which formulas differ, easy to put in by hand, and the second's value.

    None where nothing is found: whatever has been drawn tells more.
    """
    symbols = right.free_symbols | own.free_symbols
    names = sorted({symbol.name for symbol in symbols})
    if any(symbol.is_positive is False for symbol in symbols):
        return None
    for first in range(3):
        numbers = dict(zip(names, _WHOLE[first:], strict=False))
        try:
            due, value = (value_at(formula, numbers) for formula in (right, own))
        except (Undefined, ArithmeticError, ValueError, TypeError):
            continue
        if math.isfinite(value) and f"{due:.4g}" != f"{value:.4g}":
            point = ", ".join(f"{name}={number}" for name, number in numbers.items())
            return point, f"{value:.4g}"
    return None


def settled(verdict: algebra.Verdict) -> bool:
    """Return what was found out, raising ``Undecided`` where it is nothing."""
    if verdict.equal is None:
        raise Undecided(verdict.how)
    return verdict.equal
