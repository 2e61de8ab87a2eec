"""What students try with a derivation: to be paid for nothing, and to write the right one anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy

from autograder.algebra.deriving.judging.chain import Chain
from autograder.algebra.deriving.judging.empty_attempts import empty
from autograder.algebra.deriving.judging.examination import END, STEPS
from autograder.algebra.deriving.lines.to_latex import to_latex
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.lines import take_apart

Tried = tuple[str, list[str], float]  # what it is called, the lines, what they may earn


def cheats(chain: Chain, lines: Sequence[str]) -> Iterator[Tried]:
    """Yield derivations that show nothing, or something wrong, and the most they may earn."""
    first, last = chain.start, _formula(lines[-1])
    sign = "<= " if chain.bounds else ""
    name = _any_name(chain)
    if chain.min_lines > 2:
        there, result = f"{first}", f"{sign}{last}"
        yield "the result alone", [result], 0.0
        yield "straight to the result", [there, result], 0.0
        yield "the result said again", [there, there, result, result, result], 0.0
        yield "+ 0 in disguise", [there, f"{first} + {name} - {name}", result], 0.0
        yield "the result + 0", [there, f"{sign}{last} + {name} - {name}", result], 0.0
        if not chain.bounds:
            yield "there and back", [there, last, there, last], 0.0
            yield (
                "padded",
                [there, last, f"2*({last})/2", f"-(-({last}))", f"({last})/1", last],
                0.0,
            )
            yield "backwards", [_formula(line) for line in reversed(lines)], 0.0
            yield "behind something wrong", [there, f"{last} + {name}", last], 0.0
            if not getattr(chain, "matrices", ()):
                if chain.definitions:  # else algebra is all that is asked for
                    yield "about something else", _about_nothing(name), STEPS
                yield "· 1 in disguise", [there, f"({first})*exp({name})/exp({name})", result], 0.0
    yield from empty(chain, lines, last, name)
    of_matrix = isinstance(chain.given.expr, sympy.MatrixBase)  # to which no number can be added
    form = "({})*(1 + {})" if of_matrix else "({}) + {}"
    for number, line in enumerate(lines):
        changed = _changed(line, form.format(_formula(line), name))
        wrong = [*lines[:number], changed, *lines[number + 1 :]]
        at_end = END if number == len(lines) - 1 else 0.0
        cost = STEPS / (len(lines) + 1)
        yield f"line {number + 1} wrong", wrong, 1 - cost - at_end


def disguises(chain: Chain, lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the same derivation in other clothes, each of which must earn everything."""
    name = _any_name(chain)
    yield "with =", [line if _relation(line) else f"= {line}" for line in lines]
    yield "a line twice", [line for line in lines for _ in range(2)]
    zero = f"{name} - {name}"
    if isinstance(chain.given.expr, sympy.MatrixBase):  # to which no number can be added
        zero = f"{name}*({{0}}) - {name}*({{0}})"
    yield "with 0 added", _each_but_the_last(lines, f"{{0}} + {zero}")
    yield (
        "in finer steps",
        [
            text
            for line in lines[:-1]
            for text in (line, f"({_formula(line)})/2 + ({_formula(line)})/2")
        ]
        + [lines[-1]],
    )
    if not getattr(chain, "matrices", ()):
        yield (
            "multiplied above and below",
            _each_but_the_last(lines, f"exp({name})*({{}})/exp({name})"),
        )
    try:
        yield "in LaTeX", [_in_latex(chain, line) for line in lines]
    except (ValueError, ParseError):  # something that few lines hold
        return


def _in_latex(chain: Chain, line: str) -> str:
    return _changed(line, to_latex(chain.tree(_formula(line))))


def _each_but_the_last(lines: Sequence[str], form: str) -> list[str]:
    return [*(_changed(line, form.format(_formula(line))) for line in lines[:-1]), lines[-1]]


def _changed(line: str, formula: str) -> str:
    """Put another formula into a line; how it is related and its reason stay."""
    reason = take_apart(line).reason
    return _relation(line) + formula + (f"  # {reason}" if reason else "")


def _relation(line: str) -> str:
    side = take_apart(line).sides[0]
    return "<= " if side.relation == "<=" else ""


def _formula(line: str) -> str:
    return take_apart(line).sides[-1].text.strip()


def _about_nothing(name: str) -> list[str]:
    first, second = f"({name} + 1)", f"({name} - 1)"
    return [
        f"{first}*{second}",
        f"{name}^2 - 1",
        f"{first}*{name} - {first}",
        f"{name}*{second} + {second}",
    ]


def _any_name(chain: Chain) -> str:
    """Return something that may stand in any line."""
    if chain.names:
        return chain.names[0]
    indexed = getattr(chain, "indexed", ())
    return f"{indexed[0]}_1" if indexed else str(getattr(chain, "matrices", ("1",))[0])
