"""Derivations as answers: lists of lines, each of which is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autograder import algebra
from autograder.algebra.deriving import attempts, equation_attempts
from autograder.algebra.deriving.examination import Examination
from autograder.algebra.deriving.line import Line
from autograder.exercise.cache import remembered
from autograder.exercise.declaring import ask_to_declare
from autograder.exercise.kind import (
    Answer,
    Attempt,
    FormatError,
    Judgement,
    Scaffold,
    Undecided,
)
from autograder.exercise.symbolic import settled, text_of
from autograder.student.formulas import lines_of


class Lines(list[Any]):
    """The lines of a derivation that can be read; ``texts`` holds all of them as written."""

    def __init__(self, lines: Iterable[Line], texts: Sequence[str]) -> None:
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
        texts = [text_of("" if text is None else text) for text in lines_of(raw)]
        lines: list[Line] = []
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
        return settled(self.chain.compare(expected[-1], given[-1]))

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Examine the chain line by line; credit per sound step."""
        examined = self._examined(*given.texts)
        if not examined.findings:
            if examined.review:
                raise Undecided("a step could be neither proved nor refuted")
            return Judgement(1.0)
        _ = self.chain.proved  # before anything is lost by it
        note = f"derivation_{examined.findings[0].kind}"
        text = "\n".join(finding.message for finding in examined.findings)
        return Judgement(examined.credit, note, text)

    def published(self) -> Iterable[str]:
        """Return what it starts from and, where reasons are asked for, all but the way."""
        return (self.chain.start, *self.chain.told)

    def attempts(self, right: Any) -> Iterator[Attempt]:
        """Jumps, circles, disguises and wrong lines; and the reference's lines in other clothes."""
        texts = self.read(right).texts
        tried: Any = attempts
        if isinstance(self.chain, algebra.EquationChain):
            tried = equation_attempts
        for name, lines, at_most in tried.cheats(self.chain, texts):
            yield Attempt(name, lines, at_most=at_most)
        for name, lines in tried.disguises(self.chain, texts):
            yield Attempt(name, lines, at_least=1.0)

    def unsaid(self, right: Any) -> Iterator[str]:
        """Ask for names that may be those of matrices; where lines have indices it is said."""
        if not isinstance(self.chain, algebra.IndexedChain):
            yield from ask_to_declare(self.chain.names, self.chain.assumptions)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and symbols, and whether a line may be at least as large as the one before."""
        return {"kind": "lines", "bounds": self.chain.bounds, **self.chain.hint()}

    @cached_property
    def _read_line(self) -> Callable[[str], list[Line]]:
        return remembered()(lambda text: self.chain.read([text]))

    @cached_property
    def _examined(self) -> Callable[..., Examination]:
        @remembered(_sure)
        def examined(*texts: str) -> Examination:
            return self.chain.examine(texts)

        return examined


def _sure(examined: Examination) -> bool:
    """Tell whether a derivation would be examined alike at another time.

    Limits are worked out in bounded time, and a line in which that was too short is unreadable.
    """
    return not examined.review and all(f.kind != "unreadable" for f in examined.findings)
