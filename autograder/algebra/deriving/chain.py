"""Derivations: chains of lines, each equal to the one before."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy

from autograder.algebra.building.functions import Diff
from autograder.algebra.building.parse import differentiate, read
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.examination import Examination, Examiner, Finding
from autograder.algebra.reading.errors import ParseError

MAX_LINES = 40


@dataclass(frozen=True)
class Line:
    """One line of a derivation.

    Attributes
    ----------
    number : int
        Counted from 1.
    text : str
        As written.
    expr : sympy.Expr
        As read: defined names stand as they are, derivatives (`Diff`) are not carried out.
    expanded : sympy.Expr
        Definitions put in and derivatives carried out.
    relation : str
        How it stands to the line before: ``"="`` or ``"<="``.
    rule : str
        The rule that the student gives for the step, if any.
    """

    number: int
    text: str
    expr: sympy.Expr
    expanded: sympy.Expr
    chain: Chain = field(repr=False, compare=False)
    relation: str = "="
    rule: str = ""

    def contains(self, *forms: str) -> bool:
        """Whether one of `forms` stands in the line as written.

        A sum that is written out counts as the name that is defined as that sum.
        """
        return any(self._folded.has(self.chain.fold(self.chain.read_form(f))) for f in forms)

    @property
    def names(self) -> set[str]:
        """The names that stand in the line."""
        return {symbol.name for symbol in self.expr.free_symbols}

    @functools.cached_property
    def _folded(self) -> sympy.Expr:
        return self.chain.fold(self.expr)


@dataclass(frozen=True)
class Waypoint:
    """Something that a line of the derivation must show.

    Parameters
    ----------
    rubric : str
        A sentence for the student: what is asked.
    reached : callable
        Whether a line shows it, ``lambda line: line.contains("1/Z**2")`` say.
    """

    rubric: str
    reached: Callable[[Line], bool]


@dataclass(frozen=True)
class Chain:
    """What a derivation must do: lead from `start` to `target` in steps that can be followed.

    Parameters
    ----------
    start : str
        The given expression.
    target : str
        What it must be shown to equal.
    names : tuple of str
        Every name that a line may use.
    definitions : mapping of str to str
        What some of the names stand for; may use each other.
    final_names : tuple of str, optional
        The names that the last line may contain; those of `target`, if omitted.
    waypoints : tuple of Waypoint
        What some line after the given expression must show.
    min_lines : int
        How many different lines are asked for, the given expression among them.
    assumptions : mapping of str to str
        As for `parse`.

    Raises
    ------
    ValueError
        If the parts do not fit together: `start` is not equal to `target`, say.

    Examples
    --------
    >>> chain = Chain(
    ...     start="diff(log(Z), a)",
    ...     target="p",
    ...     names=("a", "b", "Z", "p"),
    ...     definitions={"Z": "exp(a) + exp(b)", "p": "exp(a)/Z"},
    ...     waypoints=(Waypoint("Show the chain rule.", lambda line: line.contains("1/Z")),),
    ... )
    >>> chain.examine(["diff(log(Z), a)", "diff(Z, a)/Z", "exp(a)/Z", "p"])
    Examination(findings=(), credit=1.0, review=False)
    >>> for finding in chain.examine(["diff(log(Z), a)", "p"]).findings:
    ...     print(finding.message)
    Line 2 jumps from the derivative to the result. Show the chain rule.
    Show at least 2 steps from the given expression.
    """

    start: str
    target: str
    names: tuple[str, ...]
    definitions: Mapping[str, str] = field(default_factory=dict)
    final_names: tuple[str, ...] | None = None
    waypoints: tuple[Waypoint, ...] = ()
    min_lines: int = 3
    assumptions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        verdict = self.follows(self._line(0, self.target))
        if verdict.equal is False:
            raise ValueError(f"start and target differ: {verdict.how}")
        for waypoint in self.waypoints:
            if waypoint.reached(self.given):
                raise ValueError(f"the given expression already shows: {waypoint.rubric}")

    def read(self, lines: Sequence[str]) -> list[Line]:
        """Read every line that is not blank; raises `ParseError`, which names the line."""
        return [self._line(number, text) for number, text in _numbered(lines)]

    def examine(self, lines: Sequence[str]) -> Examination:
        """Check a derivation and say what it earns.

        A step is the passage from one line to the next, and from the given expression to line 1
        unless line 1 repeats it.  A step is sound if its two lines are equal, whatever went before:
        one slip costs one step.  A step that takes several at once is right, but shows none of
        them: it counts nothing.  The credit is the sum of

        - 0.4 times the share of sound steps; at least ``min_lines - 1`` steps are expected, and a
          line that cannot be read is one that is not sound,
        - 0.4 times the share of waypoints shown by a line that is equal to the given expression,
        - 0.2 if the last line is equal to the given expression and in the form asked for, times
          the share of steps that skip nothing.

        Without waypoints, steps count 0.8.  No finding and nothing to review means credit 1; a
        derivation that goes from the given expression straight to the result earns nothing.
        """
        try:
            numbered = _numbered(lines)
        except ParseError as error:
            return Examination((Finding(0, "unreadable", str(error)),), 0.0)
        read: list[Line] = []
        unreadable: list[Finding] = []
        for number, text in numbered:
            try:
                read.append(self._line(number, text))
            except ParseError as error:
                unreadable.append(Finding(number, "unreadable", str(error)))
        return Examiner(self, read, unreadable).examination()

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""
        return equal(before.expanded, line.expanded)

    def follows(self, line: Line) -> Verdict:
        """Whether a line is right by itself: it stands to the given expression as it should."""
        return self.compare(self.given, line)

    def unjustified(self, before: Line, line: Line) -> Finding | None:  # noqa: ARG002
        """Say what is wrong with how a right line was reached; here any way will do."""
        return None

    def point(self, verdict: Verdict, *lines: Line) -> str:
        """Return the point that refutes, in the names that stand in the lines.

        With a derivative in them that is not enough to follow the numbers: then, in the names
        that all others are defined by.
        """
        at = dict(re.findall(r"(\w+)=([^,]+)", verdict.point))
        names = sorted({name for line in lines for name in line.names})
        if any(line.expr.has(Diff) for line in lines) or at.keys() >= set(names):
            return verdict.point
        values = {self.read_form(name): sympy.Float(value) for name, value in at.items()}
        meanings = {name: self._expand(self.read_form(name), name) for name in names}
        return ", ".join(f"{n}={meaning.subs(values).evalf(4)}" for n, meaning in meanings.items())

    def out_of_form(self, line: Line) -> str:
        """Say what the last line may not contain, if it does."""
        foreign = sorted(line.names - set(self.allowed_at_end))
        if not foreign:
            return ""
        allowed = self.allowed_at_end
        form = f"in {', '.join(allowed)}" if allowed else "as a number"
        return f"The last line still contains {', '.join(foreign)}: write the result {form}."

    def read_form(self, text: str) -> sympy.Expr:
        """Read `text` with this derivation's names; derivatives stay as written."""
        return read(text, self.names, assumptions=self.assumptions)

    def hint(self) -> dict[str, object]:
        """Return what a student's notebook may know about a line: the names it may use."""
        return {"names": list(self.names)}

    def fold(self, expr: sympy.Expr) -> sympy.Expr:
        """Put the defined name wherever the sum that it stands for is written out."""
        sums = {value: name for name, value in self._definitions.items() if value.is_Add}
        return expr.xreplace(sums)

    @functools.cached_property
    def given(self) -> Line:
        """The given expression, as line 0."""
        return self._line(0, self.start)

    @functools.cached_property
    def allowed_at_end(self) -> tuple[str, ...]:
        """The names that the last line may contain."""
        if self.final_names is not None:
            return self.final_names
        return tuple(sorted(self._line(0, self.target).names))

    @functools.cached_property
    def _definitions(self) -> dict[sympy.Symbol, sympy.Expr]:
        return {self.read_form(k): self.read_form(v) for k, v in self.definitions.items()}

    def _line(self, number: int, text: str) -> Line:
        try:
            expr = self.read_form(text)
            return Line(number, text, expr, self._expand(expr, text), self)
        except ParseError as error:
            reason = f"Line {number} cannot be read: {error.reason}"
            raise ParseError(reason, error.text, error.position) from None

    def _expand(self, expr: sympy.Expr, text: str) -> sympy.Expr:
        for _ in self._definitions:
            expr = expr.xreplace(self._definitions)
        if not self._definitions.keys().isdisjoint(expr.free_symbols):
            raise ValueError("the definitions go round in a circle")
        return differentiate(expr, text)


def _numbered(lines: Sequence[str]) -> list[tuple[int, str]]:
    if not isinstance(lines, list | tuple):
        raise ParseError("expected a list of lines, each a text")
    if len(lines) > MAX_LINES:
        raise ParseError(f"a derivation may have at most {MAX_LINES} lines")
    return [
        (number, text)
        for number, text in enumerate(lines, 1)
        if not isinstance(text, str) or text.strip()
    ]
