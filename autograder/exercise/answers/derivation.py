"""Derivations as answers: lists of lines, each of which is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autograder import algebra
from autograder.algebra.deriving.judging import attempts, equation_attempts
from autograder.algebra.deriving.judging.examination import Examination
from autograder.algebra.deriving.lines.line import Line
from autograder.exercise.answers.declaring import ask_to_declare
from autograder.exercise.answers.kind import (
    Answer,
    Attempt,
    FormatError,
    Judgement,
    Scaffold,
    Undecided,
)
from autograder.exercise.answers.symbolic import settled, text_of
from autograder.exercise.cache import remembered
from autograder.student.formulas import lines_of


class Lines(list[Any]):
    """The lines of a derivation that can be read; ``texts`` holds all of them as written."""

    def __init__(self, lines: Iterable[Line], texts: Sequence[str]) -> None:
        super().__init__(lines)
        self.texts = list(texts)

    @property
    def end(self) -> str:
        """What the last line says, behind its last ``=``."""
        return str(self[-1].text).partition("#")[0].rpartition("=")[2].strip()


class Restated(Lines):
    """What is to be shown by the student's own earlier answers, as its result alone."""

    def __init__(self, chain: algebra.Chain) -> None:
        super().__init__([chain.result], [chain.target])
        self.derivation = Derivation(chain)


@dataclass(frozen=True)
class Derivation(Answer):
    """A list of lines, each equal to the one before, from what is given to a target form.

    What it earns says `Chain.examine` (`autograder.algebra`).  These are no steps:

    - a neighbour with zeros and ones at any depth (``exp(2*s - s)``,
      ``x*(sin(t)^2 + cos(t)^2)``), a mixture of what stands before with the result
      (``S/2 + T/2``, ``S^2/T``), these with sums beside them that only count, or with what a fact
      says to be 1 or ``I``; to skip everything up to such a line is to jump to the result;
    - definitions put in before a given derivative is carried out; those of names in start and
      target alike, or of some of the names that must go, if nothing else is between start and
      result; the result with definitions put in, or mixed with itself so, unless a single rule (or,
      without rules, algebra alone) leads there from the start, which has not to be used on both;
    - a derivative that is there to be carried out at once, ``diff(c*x, x)`` for ``c``, where none
      is given;
    - in equations, a line in which the given derivative still stands, or the same done to both
      sides of a known one;
    - a ``Σ`` from one number to another beyond its terms; a factor that cancels, unless numerator
      and denominator are those of a neighbour.

    The end is looked at as written: ``c + p - c`` does not end in ``p``, nor is ``3*d + d``,
    ``p*(1 - 1)`` or ``A*I*B`` an end; by rules, algebra alone must lead from the last line to the
    target.

    The target is known, so it can be put behind a slip. There it earns what a line would that
    goes on from the slip: its step, if a right one came before, and nothing for the end. But a
    wrong line among right ones costs its step and no more: what is left when the wrong lines
    are struck out is judged, too, with each of these as a step that is not sound, and what
    earns more counts. Where steps go on from the only slip that there is, and more than algebra
    is in them, waypoints that they show count half, and the end counts whole if a right step
    came before. Where nothing right is shown, all that algebra alone does counts as one step,
    as it does beside a skipped one: else more lines about anything earned more.
    """

    kind = "derivation"
    stepwise = True
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
    #: Another statement of the same kind, in names of the chain: its lines, from what is given to
    #: the result.
    practice: tuple[str, ...] = ()

    def read(self, raw: object, like: object = None) -> Lines:
        """Parse every line; text is split at line breaks.

        A line that can't be read costs its step and not the others, so it is kept for ``judge``.
        """
        if isinstance(raw, Lines):
            return raw
        if isinstance(raw, algebra.Chain):
            return Restated(raw)
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
        return settled(self.chain.task.truth.compare(expected[-1], given[-1]))

    def judge(self, given: Any, expected: object, *, slack: Any = 0.0) -> Judgement:
        """Examine the chain line by line; credit per sound step."""
        if isinstance(expected, Restated):
            return expected.derivation.judge(given, None)
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

    @property
    def statement(self) -> Mapping[str, Any] | None:
        """The other statement, which a notebook looks at by numbers."""
        if not self.practice:
            return None
        start, *_, target = (line.partition("#")[0].strip() for line in self.practice)
        return {
            "asks": [f"Show that {start} is {target}, one equality a line."],
            "hint": self.hint(None),
            "rule": {"start": start, "target": target, **self.chain.drawn},
            "right": [*self.practice],
        }

    def attempts(self, right: object) -> Iterator[Attempt]:
        """Jumps, circles, disguises and wrong lines; and the reference's lines in other clothes."""
        for name, lines, at_most in self._tried.cheats(self.chain, self.read(right).texts):
            yield Attempt(name, lines, at_most=at_most)
        yield from self.other_clothes(right)

    def other_clothes(self, right: object) -> Iterator[Attempt]:
        """Write the lines of a right answer as others may."""
        for name, lines in self._tried.disguises(self.chain, self.read(right).texts):
            yield Attempt(name, lines, at_least=1.0)

    @property
    def _tried(self) -> Any:
        return equation_attempts if isinstance(self.chain, algebra.EquationChain) else attempts

    def unsaid(self, right: object) -> Iterator[str]:
        """Ask for names that may be those of matrices; where lines have indices it is said."""
        if not isinstance(self.chain, algebra.IndexedChain):
            yield from ask_to_declare(self.chain.names, self.chain.assumptions)

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and symbols, and whether a line may be at least as large as the one before."""
        bounds = self.chain.task.comparison.bounds
        return {"kind": "lines", "bounds": bounds, **self.chain.language.hint()}

    @cached_property
    def _read_line(self) -> Callable[[str], list[Line]]:
        return remembered()(lambda text: self.chain.read([text]))

    @cached_property
    def _examined(self) -> Callable[..., Examination]:
        @remembered(_sure, lasts=True, of=self.chain)
        def examined(*texts: str) -> Examination:
            return self.chain.examine(texts)

        return examined


def _sure(examined: Examination) -> bool:
    """Tell whether a derivation would be examined alike at another time.

    Limits are worked out in bounded time, and a line in which that was too short is unreadable.
    """
    return not examined.review and all(f.kind != "unreadable" for f in examined.findings)
