"""What students try with a derivation: to be paid for nothing, and to write the right one anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import sympy

from autograder.algebra.deriving.judging.chain import Chain
from autograder.algebra.deriving.judging.empty_attempts import empty
from autograder.algebra.deriving.judging.examination import END, STEPS
from autograder.algebra.deriving.judging.indexed_chain import IndexedChain
from autograder.algebra.deriving.lines.to_latex import to_latex
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.lines import take_apart
from autograder.algebra.reading.tree import Node

Tried = tuple[str, list[str], float]  # what it is called, the lines, what they may earn


def cheats(chain: Chain, lines: Sequence[str]) -> Iterator[Tried]:
    """Yield derivations that show nothing, or something wrong, and the most they may earn."""
    first, last = chain.start, _formula(lines[-1])
    sign = "<= " if chain.task.comparison.bounds else ""
    name = _any_name(chain)
    if chain.min_lines > 2:
        there, result = f"{first}", f"{sign}{last}"
        yield "the result alone", [result], 0.0
        yield "straight to the result", [there, result], 0.0
        yield "the result said again", [there, there, result, result, result], 0.0
        yield "+ 0 in disguise", [there, f"{first} + {name} - {name}", result], 0.0
        yield "the result + 0", [there, f"{sign}{last} + {name} - {name}", result], 0.0
        if not chain.task.comparison.bounds:
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
    if written := _with_other_letters(chain):
        yield "with other letters", [*map(written, lines)]
    yield from _without_algebra(chain, lines)
    try:
        trees = [chain.language.tree(_formula(line)) for line in lines]
        yield "in LaTeX", [*map(_changed, lines, map(to_latex, trees))]
        turned = [to_latex(turned_round(tree, _commute(chain))) for tree in trees]
        yield "turned round", [*map(_changed, lines, turned)]
    except (ValueError, ParseError):  # something that few lines hold
        return


def _without_algebra(chain: Chain, lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines without one that algebra alone leads to, or from, where rules are asked."""
    if not isinstance(chain, IndexedChain) or chain.waypoints or len(lines) <= chain.min_lines:
        return
    rules, end = chain.task.rules, chain.task.end
    if not rules or chain.task.comparison.bounds:
        return
    read = [chain.given, *(chain.read([line])[-1] for line in lines)]
    for place in range(1, len(lines)):
        before, line, after = read[place - 1 : place + 2]
        there, on = (rules.goes_by(*pair, "algebra") for pair in ((before, line), (line, after)))
        shown = not (end.is_target(after) or end.leaps(before, after))
        if there == on or not shown or before.is_spelled_as(line):
            continue
        reason = after.rule if there else line.rule
        merged = _formula(lines[place]) + (f"  # {reason}" if reason else "")
        yield f"without line {place}", [*lines[: place - 1], merged, *lines[place + 1 :]]


def _with_other_letters(chain: Chain) -> Callable[[str], str] | None:
    """Return what writes a line with other letters for indices that are free nowhere."""
    letters = [i for i in getattr(chain, "indices", ()) if i not in chain.names]
    own = (chain.given, chain.result)
    free = {name for line in own for name in line.shown_names}
    fixed = {*free, *getattr(chain, "sizes", ()), *getattr(chain, "parts", ())}
    bound = [letter for letter in letters if letter not in fixed]
    if len(bound) < 2:
        return None
    others = str.maketrans(dict(zip(bound, bound[1:] + bound[:1], strict=True)))
    places = re.compile(r"(?<=_)[a-z]+|(?<=_\{)[a-z,]+|(?<![\w\\])[a-z](?![\w(])")
    return lambda line: _changed(line, places.sub(lambda m: m[0].translate(others), _formula(line)))


def _commute(chain: Chain) -> bool:
    return chain.given.expr.is_commutative and not isinstance(chain.given.expr, sympy.MatrixBase)


def turned_round(node: Node, commute: bool = True) -> Node:
    r"""Return a tree with the terms of each sum, and the factors of each product, turned round.

    >>> from autograder.algebra.reading.grammar import read_tree
    >>> to_latex(turned_round(read_tree("a*b - c", implicit=True, functions=())))
    '-c + b \\cdot a'
    """
    node = node._replace(children=tuple(turned_round(c, commute) for c in node.children))
    if node.kind != "chain" or not {*node.marks} <= (
        {"+", "-"} if "*" not in node.marks else {"*"}
    ):
        return node
    if node.marks[0] == "*":
        return node._replace(children=node.children[::-1]) if commute else node
    marks = ("+", *node.marks)[::-1]
    children = list(node.children[::-1])
    if marks[0] == "-":
        children[0] = Node("negative", node.token, (_bracketed(children[0]),))
    return node._replace(children=tuple(children), marks=marks[1:])


def _bracketed(node: Node) -> Node:
    loose = node.kind == "negative" or (node.kind == "chain" and node.marks[0] in "+-")
    return Node("group", node.token, (node,)) if loose else node


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
    matrices = [name for name in getattr(chain, "matrices", ()) if name != "I"]
    return f"{indexed[0]}_1" if indexed else str((*matrices, "1")[0])
