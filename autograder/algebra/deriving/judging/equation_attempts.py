"""What students try with a derivation in equations: cheats, and the right one in other clothes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograder.algebra.deriving.judging.attempts import Tried
from autograder.algebra.deriving.judging.equation_chain import EquationChain
from autograder.algebra.deriving.judging.examination import END, STEPS
from autograder.algebra.deriving.lines.inert import D
from autograder.algebra.deriving.lines.to_latex import to_latex
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.lines import take_apart


def cheats(chain: EquationChain, lines: Sequence[str]) -> Iterator[Tried]:
    """Yield derivations that show nothing, or something wrong, and the most they may earn."""
    first, last = chain.start, lines[-1]
    left, right = _sides(last)
    name = chain.names[0] if chain.names else f"{chain.indexed[0]}_1"
    yield "the result alone", [last], 0.0
    yield "straight to the result", [first, last], 0.0
    yield "the result said again", [first, last, last, f"{right} = {left}"], 0.0
    yield "there and back", [first, last, first, last], 0.0
    yield "the result on one side", [first, f"{left} - ({right}) = 0", last], 0.0
    yield "the result + 0", [first, f"{left} = {right} + {name} - {name}", last], 0.0
    yield "behind something wrong", [first, f"{left} = {right} + {name}", last], 0.0
    sides = _sides(first)
    for form in (
        "{A} - ({B}) + ({C}) - ({D}) = 0",
        "2*({A}) + {D} = 2*({B}) + {C}",
        "{A} - ({B}) = {x}*(({C}) - ({D}))",
    ):
        mixture = form.format(A=sides[0], B=sides[1], C=left, D=right, x=name)
        yield f"mixed: {form}", [first, mixture, last], 0.0
    yield "what always holds", [first, f"{name} = {name}", last], 0.0
    yield "backwards", [*reversed(lines)], STEPS
    for number, line in enumerate(lines):
        left, right = _sides(line)
        wrong = [*lines[:number], f"{left} = ({right}) + {name}", *lines[number + 1 :]]
        at_end = END if number == len(lines) - 1 else 0.0
        yield f"line {number + 1} wrong", wrong, 1 - STEPS / (len(lines) + 1) - at_end


def disguises(chain: EquationChain, lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the same derivation in other clothes, each of which must earn everything."""
    pairs = [_sides(line) for line in lines]
    yield "a line twice", [line for line in lines for _ in range(2)]
    yield "sides exchanged", [f"{right} = {left}" for left, right in pairs]
    yield "with arrows", [f"⇔ {left} = {right}" for left, right in pairs]
    if chain.given.expr.has(D):  # else it may take a line for its step to one side
        yield "all on one side", [*(f"{a} - ({b}) = 0" for a, b in pairs[:-1]), lines[-1]]
    yield "times 2", [*(f"2*({a}) = 2*({b})" for a, b in pairs[:-1]), lines[-1]]
    try:
        latex = [tuple(to_latex(chain.language.tree(side)) for side in pair) for pair in pairs]
    except (ValueError, ParseError):  # something that few lines hold
        return
    yield "in LaTeX", [rf"\iff {left} = {right}" for left, right in latex]


def _sides(line: str) -> tuple[str, str]:
    left, right = (side.text.strip() for side in take_apart(line).sides)
    return left, right
