"""A formula as LaTeX, to be typeset beside how it is read."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from autograder.algebra.reading.lines import declared_names, take_apart
from autograder.algebra.reading.preview import tree_of, twice
from autograder.algebra.reading.tree import Node, bound_parts

_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|"
    "chi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega"
)
_UPRIGHT = ("exp", "log", "ln", "sin", "cos", "tan", "tanh", "max", "min")
_ADDED, _TIMES, _WHOLE = range(3)  # how strongly something holds together


def latex_of(tree: Node) -> str:
    r"""Return a formula as LaTeX; "" where something of it is written in no usual way.

    >>> from autograder.algebra.reading.grammar import read_tree
    >>> latex_of(read_tree("-p_1*(1 + x)/2^n", implicit=False, functions=()))
    '-\\frac{p_{1} \\left(1 + x\\right)}{2^{n}}'
    """
    try:
        return _set_in(tree)[0]
    except LookupError:
        return ""


def typeset(text: object, names: Collection[str], **known: Any) -> str:
    """Return LaTeX of a formula that `preview.look` can read, "" of a rare one."""
    return latex_of(tree_of(text, names, **known))


def typeset_line(
    text: str, names: Collection[str], *, equations: bool = False, **known: object
) -> str:
    """Return LaTeX of a line that `preview.look_line` can read, "" of a rare one."""
    declared = None if equations else declared_names({"names": names, **known})
    known.pop("bounds", None)
    found = ""
    for place, side in enumerate(take_apart(text, declared).sides):
        sign = r" \le " if side.relation == "<=" else " = "
        latex = latex_of(twice(tree_of, side.text, names, known))
        if not latex:
            return ""
        found += (sign if place or side.relation != "=" else "") + latex
    return found


def _set_in(node: Node) -> tuple[str, int]:
    kind, word, children = node.kind, node.token.text, node.children
    if kind == "number" and re.fullmatch(r"[\d.]+", word):
        return word, _WHOLE
    if kind == "name":
        return _letter(word), _WHOLE
    if kind == "group" and len(children) == 1:
        return _set_in(children[0])
    if kind == "negative":
        return f"-{_held(children[0], _TIMES)}", _ADDED
    if kind == "power":
        return f"{_held(children[0], _WHOLE)}^{{{_set_in(children[1])[0]}}}", _TIMES
    if kind in ("transpose", "factorial"):
        return _held(children[0], _WHOLE) + (r"^{\top}" if kind == "transpose" else "!"), _TIMES
    if kind == "chain" and {*node.marks} <= {"+", "-"}:
        first, *others = children
        pairs = zip(node.marks, others, strict=True)
        more = (f" {mark} {_held(other, _TIMES)}" for mark, other in pairs)
        return _set_in(first)[0] + "".join(more), _ADDED
    if kind == "chain" and {*node.marks} <= {"*", "/"}:
        return _product(node), _TIMES
    if kind == "call" or (kind == "indexed" and word == "delta"):
        return _call(word, node), _WHOLE
    raise LookupError(kind)


def _product(node: Node) -> str:
    first, *others = node.children
    negative = first.kind == "negative"  # the sign stands before the fraction
    done = _held(first.children[0] if negative else first, _TIMES)
    for mark, other in zip(node.marks, others, strict=True):
        if mark == "/":
            above = _set_in(first)[0] if other is others[0] and not negative else done
            done = rf"\frac{{{above}}}{{{_set_in(other)[0]}}}"
        else:
            factor = _held(other, _TIMES)
            done += rf" \cdot {factor}" if factor[0].isdigit() else f" {factor}"
    return f"-{done}" if negative else done


def _call(word: str, node: Node) -> str:
    parts = bound_parts(node)
    if word == "delta" and len(parts) == 2:
        return rf"\delta_{{{_set_in(parts[0])[0]} {_set_in(parts[1])[0]}}}"
    inner = _set_in(parts[0])[0]
    if word in ("diff", "D") and len(parts) == 2:
        return rf"\frac{{\partial}}{{\partial {_set_in(parts[1])[0]}}} {_held(parts[0], _TIMES)}"
    if word in ("sum", "Sum") and len(parts) in (2, 4):
        low, *high = (_set_in(part)[0] for part in parts[1:])
        ends = f"_{{{low} = {high[0]}}}^{{{high[1]}}}" if high else f"_{{{low}}}"
        return rf"\sum{ends} {_held(parts[0], _TIMES)}"
    if word == "sqrt" and len(parts) == 1:
        return rf"\sqrt{{{inner}}}"
    if word == "abs" and len(parts) == 1:
        return rf"\left|{inner}\right|"
    if word not in _UPRIGHT or len(parts) != 1:
        raise LookupError(word)
    return rf"\{word}\left({inner}\right)"


def _held(node: Node, level: int) -> str:
    text, own = _set_in(node)
    return text if own >= level else rf"\left({text}\right)"


def _letter(word: str) -> str:
    base, _, index = word.partition("_")
    if not index and (found := re.fullmatch(r"([A-Za-z])(\d+)", base)):
        base, index = found[1], found[2]
    letter = (
        f"\\{base}" if _GREEK.fullmatch(base) else base if len(base) == 1 else rf"\mathit{{{base}}}"
    )
    return f"{letter}_{{{index}}}" if index else letter
