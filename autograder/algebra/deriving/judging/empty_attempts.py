"""Lines that say nothing, as students try them: mixtures, zeros, other names, a proof cut off."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import sympy

from autograder.algebra.deriving.judging.chain import Chain
from autograder.algebra.deriving.judging.examination import END, STEPS
from autograder.algebra.deriving.judging.indexed_chain import IndexedChain
from autograder.algebra.reading.tree import Node

Empty = tuple[str, list[str], float]  # what it is called, the lines, what they may earn

_MIXTURES = (
    "({S})/2 + ({T})/2",
    "({S}) + (({T}) - ({S}))",
    "2*({T}) - ({S})",
    "(({S}) + 2*({T}))/3",
    "({S})^2/({T})",
    "({S})^3/({T})^2",
    "({S})*({T})/({S})",
    "({S}) + {x}*(({T}) - ({S}))",
    "({S}) + sin(({T}) - ({S}))",
    "(({S})^2 - 1)/(({S}) + 1) + 1",
    "(({S})^2 + ({T})^2)/(({S}) + ({T}))",
    "sqrt(({S})*({T}))",
    "2*({S})*({T})/(({S}) + ({T}))",
    "max({S}, {T})",
    "(({S})*abs({x}) + ({T})*sqrt({x}^2))/(2*abs({x}))",
    "(({S}) + ({T}) + abs(({S}) - ({T})))/2",
    r"\begin{{cases}} {S} & {x} > 0 \\ {T} & \text{{otherwise}} \end{{cases}}",
)
_OF_MATRICES = _MIXTURES[:4]
_ZEROS = (
    "(2*{0} - {0})",
    "({0} + {x} - {x})",
    "({0}*{x}/{x})",
    "({0}^(3 - 2))",
    "({0}/2 + {0}/2)",
    "sum({0}, l, 1, 1)",
    "({0} + log({x}^2) - 2*log(abs({x})))",
    "({0}*sign({x})^2)",
)
_OF_SIZE = (
    "({0} + floor({n}) - {n})",
    "({0}*cos(2*pi*{n}))",
    "({0} + sum(1, {l}) - {n})",
    "({0} + sum(delta({l},1), {l}) - 1)",
    "({0} + sum({0}/{n}, {l}) - {0})",
    "({0} + sum({0} + 1, {l}) - {n}*{0} - {n})",
)
#: The same, at one place: examining them takes seconds.
_DEAR_ZEROS = (
    "({0}*max(1, -exp({x})))",
    "(({0}*exp({x}) + {0})/(exp({x}) + 1))",
    "(({0}^2 - {0})/({0} - 1))",
)
#: What may be put for a sum of f over b: it goes out with a sum of g, or with a number.
_SPLIT = (
    "(sum({f} + {g}, {b}) - sum({g}, {b}))",
    "(sum(({f})*(1 + {g}), {b}) - sum(({f})*{g}, {b}))",
    "(sum(2*({f}), {b})/2)",
    "(sum(3*({f}), {b}) - sum(2*({f}), {b}))",
)
_INDICES = r"(?<=_)\w+|(?<=_\{)[\w,]+|(?<=, )[a-z](?=[,)])"
_OPERATORS = ("sum", "Sum", "max", "Largest", "D", "diff")  # what follows is bound, or a variable


def empty(chain: Chain, lines: Sequence[str], last: str, name: str) -> Iterator[Empty]:
    """Yield derivations whose lines between start and result say nothing."""
    if chain.min_lines > 2:
        for called, between in _between(chain, last, name):
            yield called, [chain.start, *between, _sign(chain) + last], 0.0
        yield from _named(chain, chain.start, last)
    yield from _unfinished(lines)
    if isinstance(chain, IndexedChain) and not _is_of_matrices(chain):
        yield _for_some_n(chain, lines, last)


def _sign(chain: Chain) -> str:
    """Return what stands before a line behind the first."""
    return "<= " if chain.task.comparison.bounds else ""


def _is_of_matrices(chain: Chain) -> bool:
    start = chain.given.expr
    return isinstance(start, sympy.MatrixBase) or not start.is_commutative


def _between(chain: Chain, last: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield lines that say nothing between start and result, and what they are called."""
    yield from _mixed(chain, last, name)
    yield from _with_zeros(chain, last, name)
    if _is_of_matrices(chain):
        return
    for text in _counted(chain, chain.start, last):
        yield f"counted: {text}", [_sign(chain) + text]
    if isinstance(chain, IndexedChain):
        for text in _padded(chain, last):
            yield f"padded: {text}", [_sign(chain) + text]
    if chain.definitions and not isinstance(chain, IndexedChain):
        for turned in _turned(chain.given.expr):
            yield "start turned round", [turned]


def _mixed(chain: Chain, last: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield mixtures of start and result."""
    for form in _OF_MATRICES if _is_of_matrices(chain) else _MIXTURES:
        yield f"mixed: {form}", [_sign(chain) + form.format(S=chain.start, T=last, x=name)]
    quarters = (f"({3 - n}*({chain.start}) + {n + 1}*({last}))/4" for n in range(3))
    yield "mixed in three steps", [_sign(chain) + text for text in quarters]


def _with_zeros(chain: Chain, last: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield start and result with something put in that comes to nothing."""
    matrices = _is_of_matrices(chain)
    of_size = _OF_SIZE if isinstance(chain, IndexedChain) else ()
    for form in _ZEROS[:1] if matrices else (*_ZEROS, *of_size):
        for inside in _with(chain, chain.start, form, name):
            yield f"{form} in the start", [inside]
        for inside in _with(chain, last, form, name):
            yield f"{form} in the result", [_sign(chain) + inside]
    for form in () if matrices else _DEAR_ZEROS:
        for inside in itertools.islice(_with(chain, chain.start, form, name), 1):
            yield f"{form} in the start", [inside]


def _for_some_n(chain: IndexedChain, lines: Sequence[str], last: str) -> Empty:
    """Return the derivation with a result that is right for four sizes alone."""
    n = chain.size
    polynomial = f"({n} - 2)*({n} - 3)*({n} - 4)*({n} - 5)"
    # Where a bound is asked for that is one, too large: its step is right, and its end is not.
    cost = END if chain.task.comparison.bounds else STEPS / (len(lines) + 1) + END
    return "for some n alone", [*lines[:-1], f"{_sign(chain)}{last} + {polynomial}"], 1 - cost


def _named(chain: Chain, first: str, last: str) -> Iterator[Empty]:
    """Yield start and result with what names mean put in, where that is no step by itself.

    It is one at the start if no name is left there that must go, and at the end if a rule, or
    algebra, leads there from the start.
    """
    sign = _sign(chain)
    must_go = [key for key in chain.definitions if _put_in(chain, first, key) != first]
    must_go = [key for key in must_go if _put_in(chain, last, key) == last]
    number = chain.result.essence[0] == "number"  # to which all names may lead
    for key in chain.definitions:
        there = _put_in(chain, first, key)
        nowhere = chain.task.ends.differentiates or number or must_go != [key]
        if there != first and (nowhere or _skips(chain, there, f"{sign}{last}")):
            yield f"{key} put into the start", [first, there, f"{sign}{last}"], 0.0
            mixture = f"({first})/2 + ({there})/2"
            yield f"{key} put into half the start", [first, mixture, f"{sign}{last}"], 0.0
        if there != first:
            mixture = f"{sign}({there})/2 + ({last})/2"
            yield f"{key} put into the start, mixed", [first, mixture, f"{sign}{last}"], 0.0
        there = f"{sign}{_put_in(chain, last, key)}"
        if there != f"{sign}{last}" and not _is_step(chain, there):
            yield f"{key} put into the result", [first, there, f"{sign}{last}"], 0.0
            half = f"{sign}({last})/2 + ({there.removeprefix(sign)})/2"
            yield f"{key} put into half the result", [first, half, f"{sign}{last}"], 0.0
        if there != f"{sign}{last}":
            mixture = f"{sign}({first})/2 + ({there.removeprefix(sign)})/2"
            yield f"{key} put into the result, mixed", [first, mixture, f"{sign}{last}"], 0.0


def _skips(chain: Chain, text: str, other: str) -> bool:
    """Whether no single rule leads from one line to another."""
    before, line = chain.read([text, other])
    doubt = chain.task.reasons.unjustified(before, line)
    return doubt is not None and doubt.kind == "skipped"


def _is_step(chain: Chain, text: str) -> bool:
    """Whether a line follows from the start by one rule, or where there are none, by algebra."""
    (line,) = chain.read([text])
    if not chain.task.rules:
        return not chain.waypoints and chain.task.comparison.is_routine(chain.given, line)
    doubt = chain.task.reasons.unjustified(chain.given, line)
    return (doubt is None or doubt.kind != "skipped") and not chain.task.end.leaps(
        chain.given, line
    )


def _put_in(chain: Chain, text: str, key: str) -> str:
    """Put in what a name means, at whatever index it stands."""
    meaning = chain.definitions[key]
    base, _, index = key.partition("_")
    if base not in getattr(chain, "indexed", ()):
        return f"({meaning})".join(re.split(rf"\b{re.escape(key)}\b", text))
    bound = re.findall(r", ([a-z])[,)]", meaning)
    free = iter(sorted({*getattr(chain, "indices", ())} - {*bound, *text, index}))

    def at(found: re.Match[str]) -> str:
        places = {
            index: found[1],
            **({found[1]: next(free, found[1])} if found[1] in bound else {}),
        }
        letters = str.maketrans(places)
        return f"({re.sub(_INDICES, lambda part: part[0].translate(letters), meaning)})"

    return re.sub(rf"\b{base}_([a-z])\b", at, text)


def _counted(chain: Chain, first: str, last: str) -> Iterator[str]:
    """Yield start and result with sums beside them that only count, or that are given to be 1."""
    if not isinstance(chain, IndexedChain):
        return
    letters = [index for index in chain.indices if index not in chain.names]
    if len(letters) > 1:
        other, new = letters[0], letters[-1]
        yield f"({first})*sum(delta({new},{other}), {new})"
        yield f"sum({last}, {new})/{chain.size}"
        yield f"sum(({last})/{chain.size}, {new})"
        yield f"({last})*sum(1, {new})/{chain.size}"
        yield f"max({last}, {new})"
    for fact in chain.task.rules.facts.values():
        if fact.right == "1":
            yield f"({first})*({fact.left})"
            yield f"({last})*({fact.left})"
            yield f"({first})*({fact.left})/2 + ({last})/2"


def _padded(chain: IndexedChain, last: str) -> Iterator[str]:
    """Yield start and result with something in their sums that goes out again.

    In the start, that may be what is given to be 1; beside the result it may stand at the end.
    """
    reason = "  # linearity of sums" if "linearity of sums" in chain.step_rules.known else ""
    name = next(iter((*chain.vectors, *chain.indexed)), "")
    for text in (chain.start, last):
        for begin, end, body, bound in _sums(text) if name else ():
            index = bound.partition(",")[0]
            for form in _SPLIT[:1] if chain.vectors else _SPLIT:  # of which few are multiplied
                new = form.format(f=body, g=f"{name}_{index}", b=bound)
                yield f"{text[:begin]}{new}{text[end:]}{reason}"
    letters = [i for i in chain.indices if i not in (*chain.names, *chain.start)]
    for fact in chain.step_rules.facts.values() if letters else ():
        if fact.right == "1" and (found := list(_sums(fact.left))):
            _, _, one, bound = found[0]
            one = one.replace(f"_{bound}", f"_{letters[-1]}")
            reason = f"  # {fact.name}"
            yield f"sum({one}*({chain.start}), {letters[-1]}){reason}"
            for begin, end, body, bound in _sums(chain.start):
                factor = f"sum({one}, {letters[-1]})"
                new = f"sum(({body})*{factor}, {bound})"
                yield f"{chain.start[:begin]}{new}{chain.start[end:]}{reason}"


def _sums(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield where sums begin and end in a text, what is added up, and over what."""
    for found in re.finditer(r"\bsum\(", text):
        depth, commas = 1, []
        for end in range(found.end(), len(text)):
            depth += (text[end] in "([") - (text[end] in ")]")
            if depth == 0:
                break
            if text[end] == "," and depth == 1:
                commas.append(end)
        if depth == 0 and commas:
            body, bound = text[found.end() : commas[0]], text[commas[0] + 1 : end]
            yield found.start(), end + 1, body, bound.strip()


def _turned(start: sympy.Expr) -> Iterator[str]:
    """Yield the start divided by what stands above, above and below, or a square turned round."""
    above, below = sympy.fraction(start)
    if below.is_Add and above.is_Symbol:
        yield f"1/({sympy.expand(below / above)})"
    if start.is_Pow and start.base.is_Add and start.exp.is_even:
        yield f"(-({start.base}))^({start.exp})"


def _unfinished(lines: Sequence[str]) -> Iterator[Empty]:
    """Yield the derivation without its last lines: none of them is there for nothing."""
    for count in range(1, len(lines)):
        yield f"without all behind line {count}", [*lines[:count]], 1 - END


def _with(chain: Chain, text: str, form: str, name: str) -> Iterator[str]:
    """Yield a formula in which something is put for its first and for its last name."""
    places = sorted(_places(chain, chain.language.tree(text)))
    letters = [i for i in getattr(chain, "indices", ()) if i not in (*chain.names, *text)]
    filled = {"x": name, "n": getattr(chain, "size", ""), "l": letters[-1] if letters else "l"}
    for place, word in dict.fromkeys([*places[:1], *places[-1:]]):
        end = place + len(word)
        if text[place:end] == word:  # it stands there as it is read
            yield (text[:place] + form.format(word, **filled) + text[end:])


def _places(chain: Chain, node: Node) -> Iterator[tuple[int, str]]:
    """Yield where names stand for a value, and the names."""
    word = node.token.text
    base, index, _ = word.partition("_")
    if node.kind == "name":
        if word in chain.names or (index and base in getattr(chain, "indexed", ())):
            yield node.token.position, word
        return
    bound = node.kind == "call" and word in _OPERATORS
    for child in node.children[:1] if bound else node.children:
        yield from _places(chain, child)
