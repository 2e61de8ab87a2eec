"""A tree written as LaTeX, as papers would."""

from __future__ import annotations

import re

from autograder.algebra.reading.signs import GREEK
from autograder.algebra.reading.tree import Node

_FUNCTIONS = ("exp", "log", "ln", "sin", "cos", "tan", "tanh")
_OPERATORS = ("E", "Var", "sign", "erf")


def to_latex(node: Node) -> str:
    r"""Write a tree as LaTeX; raises `ValueError` for what few lines of a derivation hold.

    >>> from autograder.algebra.reading.grammar import read_tree
    >>> to_latex(read_tree("exp(z_1)/Z", implicit=True, functions=["exp"]))
    '\\frac{e^{z_{1}}}{Z}'
    """
    children = [to_latex(child) for child in node.children]
    match node.kind:
        case "number":
            return node.token.text
        case "name":
            return _name(node.token.text)
        case "group":
            return rf"\left({children[0]}\right)"
        case "negative":
            return f"-{_factor(node.children[0], children[0])}"
        case "power":
            base = node.children[0]
            whole = base.kind in ("name", "number", "group")
            return f"{children[0] if whole else _bracket(children[0])}^{{{children[1]}}}"
        case "transpose":
            return rf"{_factor(node.children[0], children[0])}^\top"
        case "list" | "matrix":
            return _grid(node)
        case "indexed":
            return f"{_name(node.token.text)}_{{{','.join(children)}}}"
        case "chain" if node.marks[0] in "+-":
            pairs = zip(("", *node.marks), children, strict=True)
            return " ".join(f"{mark} {text}".strip() for mark, text in pairs)
        case "chain":
            return _product(node, children)
        case "call":
            return _call(node, children)
    raise ValueError(f"{node.kind} is not written as LaTeX")


def _grid(node: Node) -> str:
    """Write a matrix: one row, or a row for each list in it."""
    rows = node.children if all(row.kind == "list" for row in node.children) else (node,)
    text = r" \\ ".join(" & ".join(map(to_latex, row.children)) for row in rows)
    return rf"\begin{{pmatrix}} {text} \end{{pmatrix}}"


def _product(node: Node, children: list[str]) -> str:
    text = _factor(node.children[0], children[0])
    for mark, child, written in zip(node.marks, node.children[1:], children[1:], strict=True):
        if mark == "/":
            text = rf"\frac{{{text}}}{{{written}}}"
        else:
            text = rf"{text} \cdot {_factor(child, written)}"
    return text


def _call(node: Node, children: list[str]) -> str:
    word = node.token.text
    if word in ("sum", "Sum", "max", "Largest") and len(node.children) > 1:
        sign = r"\sum" if word in ("sum", "Sum") else r"\max"
        index, *ends = children[1:]
        if node.children[1].kind == "tuple":
            index, *ends = map(to_latex, node.children[1].children)
        under = f"_{{{index}={ends[0]}}}^{{{ends[1]}}}" if ends else f"_{{{index}}}"
        return f"{sign}{under} {_bracket(children[0])}"
    if word in ("D", "diff") and len(children) == 2:
        return rf"\frac{{\partial}}{{\partial {children[1]}}} {_bracket(children[0])}"
    if word == "exp":
        return f"e^{{{children[0]}}}"
    if word == "sqrt":
        return rf"\sqrt{{{children[0]}}}"
    if word == "norm":
        return rf"\left\| {children[0]} \right\|"
    if word in ("abs", "Abs"):
        return rf"\left| {children[0]} \right|"
    if word in _FUNCTIONS:
        return rf"\{word}{_bracket(children[0])}"
    if word in _OPERATORS:
        return rf"\operatorname{{{word}}}{_bracket(children[0])}"
    if all(child.kind in ("name", "number") for child in node.children):
        return f"{_name(word)}_{{{','.join(children)}}}"  # delta(i, j)
    raise ValueError(f"{word} is not written as LaTeX")


def _name(word: str) -> str:
    match = re.fullmatch(r"([A-Za-z]+)_?([A-Za-z0-9]*)", word)
    if match is None:
        return word
    base, index = match.groups()
    head = re.fullmatch(r"([A-Za-z]+?)(\d*)", word) if "_" not in word else None
    if head:
        base, index = head.groups()
    if base in GREEK.values():
        base = f"\\{base}"
    elif len(base) > 1:
        base = rf"\mathrm{{{base}}}"
    return f"{base}_{{{index}}}" if index else base


def _factor(node: Node, text: str) -> str:
    loose = node.kind == "negative" or (node.kind == "chain" and node.marks[0] in "+-")
    big = node.kind == "call" and node.token.text in ("sum", "Sum", "max", "Largest")
    return _bracket(text) if loose or big else text


def _bracket(text: str) -> str:
    return rf"\left({text}\right)"
