"""Complexity classes as answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder import algebra
from autograder.algebra.comparing.complexity import Complexity, parse_complexity
from autograder.exercise.answers.kind import Answer, Array, FormatError, Scaffold
from autograder.student.formulas import text_of


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

    def read(self, raw: object, like: object = None) -> Complexity:
        """Parse text, with or without ``O(…)``."""
        if isinstance(raw, Complexity):
            return raw
        try:
            parsed: Complexity = parse_complexity(text_of(raw), self.symbols.split())
        except algebra.ParseError as error:
            raise FormatError(str(error)) from None
        return parsed

    def same(
        self, given: object, expected: object, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Equality of the reduced sums."""
        return bool(given == expected)

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and symbols."""
        names = self.symbols.split()
        return {"kind": "formula", "names": names, "functions": ["O", "Theta"], "implicit": True}
