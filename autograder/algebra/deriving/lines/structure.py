"""The structure of a formula as written, up to order, brackets and spelling; nothing cancels.

sympy reads ``exp(-c)*a/(exp(-c)*b)`` as ``a/b`` and ``a + b - b`` as ``a``.  Whether a line repeats
another one, or adds nothing to it, is a question about what was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from autograder.algebra.reading.tree import Node

Structure = tuple[Any, ...]

_SPELLINGS = {
    "ln": "log",
    "D": "diff",
    "Derivative": "diff",
    "Sum": "sum",
    "Abs": "abs",
    "Largest": "max",
    "Max": "max",
    "maximum": "max",
    "Min": "min",
    "minimum": "min",
    "fabs": "abs",
    "absolute": "abs",
    "ReLU": "relu",
    "sgn": "sign",
    "ceil": "ceiling",
    "expit": "sigmoid",
}
E: Structure = ("name", "e")
PI: Structure = ("name", "π")  # p_i is called pi
_DELTAS = (("call", "delta"), ("call", "KroneckerDelta"))
BINDERS = (("call", "sum"), ("call", "max"))
ONE: Structure = ("number", Fraction(1))
MINUS: Structure = ("number", Fraction(-1))
ZERO: Structure = ("number", Fraction(0))


def structure(node: Node) -> Structure:
    """Return what two spellings of one formula have in common."""
    word = node.token.text
    match node.kind:
        case "group":
            return structure(node.children[0])
        case "number":
            return ("number", _number(word))
        case "name":
            return PI if word == "pi" else ("name", word.replace("_", ""))
        case "indexed" if all(child.kind in ("name", "number") for child in node.children):
            return ("name", word + "".join(child.token.text for child in node.children))
        case "negative":
            return product_of([MINUS, structure(node.children[0])])
        case "power":
            return power_of(*map(structure, node.children))
        case "chain" if node.marks[0] in "+-":
            signs = ("+", *node.marks)
            terms = map(structure, node.children)
            return sum_of(
                t if sign == "+" else product_of([MINUS, t])
                for sign, t in zip(signs, terms, strict=True)
            )
        case "chain":
            signs = ("*", *node.marks)
            parts = map(structure, node.children)
            return product_of(
                part if sign != "/" else inverse_of(part)
                for sign, part in zip(signs, parts, strict=True)
            )
        case "call" if word == "exp" and len(node.children) == 1:
            return power_of(E, structure(node.children[0]))
        case "call" if word == "sqrt" and len(node.children) == 1:
            return power_of(structure(node.children[0]), ("number", Fraction(1, 2)))
        case "relation" if node.marks == ("=",):  # sides may be exchanged
            sides = tuple(sorted(map(structure, node.children), key=repr))
            return ("relation", "", node.marks, sides)
    children = tuple(
        structure(inner)
        for child in node.children
        for inner in (child.children if node.kind == "call" and child.kind == "tuple" else (child,))
    )
    name = _SPELLINGS.get(word, word) if node.kind in ("call", "indexed") else ""
    return (node.kind, name, node.marks, children)


def terms(form: Structure) -> Counter[Structure]:
    """Return the terms of a sum; of anything else, itself."""
    return Counter(form[1]) if form[0] == "sum" else Counter([form])


def factors(form: Structure) -> Counter[Structure]:
    """Return the factors of a product, those below a line as powers of −1."""
    return Counter(form[1]) if form[0] == "product" else Counter([form])


def adds_nothing(before: Structure, after: Structure) -> bool:
    """Whether one of two equal lines is the other one with + 0 or · 1 in disguise."""
    if before in (ZERO, ONE) or after in (ZERO, ONE):
        return False
    for parts in (terms, factors):
        few, many = parts(before), parts(after)
        if few <= many or many <= few:
            return True
    return False


def leaves(form: Structure) -> int:
    """Return how many names stand in a formula; x² holds two, and a sum over k a k."""
    kind, *rest = form
    if kind == "power":
        base, exponent = rest
        whole = exponent[0] == "number" and exponent[1].denominator == 1
        return leaves(base) * (abs(int(exponent[1])) if whole else 1) + leaves(exponent)
    if kind == "name":
        return int(form not in (E, PI))
    if kind == "indexed" or form[:2] in _DELTAS:
        return 1
    if form[:2] in BINDERS:
        return leaves(rest[2][0]) + 1
    return sum(map(leaves, inside(form)))


def adds_up(form: Structure) -> bool:
    """Whether something is left to be added up or cancelled, as in 3x + x, 1 - 1, x/x and 0·x.

    >>> x = ("name", "x")
    >>> adds_up(sum_of([x, ONE])), adds_up(sum_of([x, product_of([("number", Fraction(3)), x])]))
    (False, True)
    """
    if form[0] == "sum":
        alike = Counter(frozenset(_powers(term).items()) for term in form[1])
        if max(alike.values()) > 1:
            return True
    if form[0] == "product":
        above = {base for base, exponent in _exponents(form) if exponent > 0}
        below = {base for base, exponent in _exponents(form) if exponent < 0}
        if ZERO in form[1] or any(base[0] != "number" for base in above & below):
            return True
    return any(map(adds_up, inside(form)))


def _powers(term: Structure) -> Counter[Structure]:
    """Return what a term is a number times of, and to which powers: x·x is x²."""
    found: Counter[Structure] = Counter()
    for base, exponent in _exponents(term):
        if base[0] != "number":
            found[base] += exponent  # type: ignore[assignment]
    return found


def _exponents(form: Structure) -> Iterator[tuple[Structure, Fraction]]:
    for factor in factors(form).elements():
        if factor[0] == "power" and factor[2][0] == "number":
            yield factor[1], factor[2][1]
        else:
            yield factor, Fraction(1)


def folded(form: Structure, meanings: Mapping[Structure, Structure]) -> Structure:
    """Return `form` with a name wherever stands what it means, be it among other factors."""
    kind = form[0]
    if kind in ("sum", "product"):
        parts = Counter(folded(part, meanings) for part in form[1])
        for meaning, name in meanings.items():
            whole = Counter(meaning[1]) if meaning[0] == kind else Counter([meaning])
            while whole <= parts:
                parts = parts - whole + Counter([name])
        form = (sum_of if kind == "sum" else product_of)(parts.elements())
    elif kind == "power":
        form = (kind, *(folded(part, meanings) for part in form[1:]))
    elif kind not in ("name", "number"):
        form = (*form[:3], tuple(folded(part, meanings) for part in form[3]))
    return meanings.get(form, form)


def holds(whole: Structure, part: Structure) -> bool:
    """Whether `part` stands somewhere in `whole`; of a sum or a product, some of it is enough.

    >>> x = ("name", "x")
    >>> holds(power_of(x, ("number", Fraction(2))), product_of([x, x]))
    True
    """
    if whole == part:
        return True
    if part[0] == "sum" and whole[0] == "sum" and Counter(part[1]) <= Counter(whole[1]):
        return True
    if part[0] == "product" and _multiplied(part) <= _multiplied(whole):
        return True
    return any(holds(inner, part) for inner in inside(whole))


def _multiplied(form: Structure) -> Counter[Structure]:
    """Return the factors of a product, those of x² one by one."""
    found: Counter[Structure] = Counter()
    for base, exponent in _exponents(form):
        if exponent.denominator == 1 and exponent > 0:
            found[base] += int(exponent)
        else:
            found[power_of(base, ("number", exponent))] += 1
    return found


def is_below(form: Structure) -> bool:
    """Whether this factor stands below a line."""
    return form[0] == "power" and form[2][0] == "number" and bool(form[2][1] < 0)


def inside(form: Structure) -> Iterator[Structure]:
    """Yield what stands in a formula, one level down."""
    kind, *rest = form
    if kind in ("sum", "product"):
        yield from rest[0]
    elif kind == "power":
        yield from rest
    elif kind not in ("name", "number"):
        yield from rest[2]


def sums(node: Node) -> Iterator[list[tuple[str, Node]]]:
    """Yield the terms of every sum that stands in a tree, with their signs."""
    if node.kind == "chain" and node.marks[0] in "+-":
        yield list(_signed(node, "+"))
    for child in node.children:
        yield from sums(child)


def products(node: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """Yield the factors of every product or quotient in a tree: above, and below a line."""
    if node.kind == "chain" and node.marks[0] not in "+-":
        yield list(_over(node, "*", "*")), list(_over(node, "*", "/"))
    for child in node.children:
        yield from products(child)


def quotients(node: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """Yield what stands above and below the fraction lines of a quotient, as written and in all."""
    while node.kind == "group":
        node = node.children[0]
    if node.kind == "chain" and "/" in node.marks:
        signs = ("*", *node.marks)
        pairs = list(zip(signs, node.children, strict=True))
        yield [n for sign, n in pairs if sign == "*"], [n for sign, n in pairs if sign == "/"]
        yield list(_over(node, "*", "*")), list(_over(node, "*", "/"))


def without_numbers(node: Node) -> Node:
    """Return a product or a quotient without the numbers in it, and without brackets around it."""
    while node.kind == "group":
        node = node.children[0]
    if node.kind != "chain" or node.marks[0] in "+-":
        return node
    pairs = zip(("*", *node.marks), node.children, strict=True)
    kept = [(mark, child) for mark, child in pairs if child.kind != "number"]
    if not kept or kept[0][0] == "/":
        return node
    if len(kept) == 1:
        return without_numbers(kept[0][1])
    marks, children = zip(*kept, strict=True)
    return node._replace(children=children, marks=marks[1:])


def _signed(node: Node, sign: str) -> Iterator[tuple[str, Node]]:
    while node.kind == "group":
        node = node.children[0]
    if node.kind == "chain" and node.marks[0] in "+-":
        for mark, child in zip(("+", *node.marks), node.children, strict=True):
            yield from _signed(child, "+" if mark == sign else "-")
    else:
        yield sign, node


def _over(node: Node, place: str, wanted: str) -> Iterator[Node]:
    """Yield the factors that stand above or below, wherever brackets put them."""
    while node.kind == "group":
        node = node.children[0]
    if node.kind == "chain" and node.marks[0] not in "+-":
        for mark, child in zip(("*", *node.marks), node.children, strict=True):
            other = "/" if place == "*" else "*"
            yield from _over(child, other if mark == "/" else place, wanted)
    elif place == wanted:
        yield node


def _number(word: str) -> Fraction:
    try:
        return Fraction(word)
    except (ValueError, ZeroDivisionError):
        return Fraction(0)


def sum_of(parts: Iterable[Structure]) -> Structure:
    """Return a sum; sums in it are taken apart, and zeros left out."""
    flat = [t for part in parts for t in (part[1] if part[0] == "sum" else (part,)) if t != ZERO]
    if len(flat) < 2:
        return flat[0] if flat else ZERO
    return ("sum", tuple(sorted(flat, key=repr)))


def product_of(parts: Any) -> Structure:
    """Return a product; products in it are taken apart, ones left out, and signs counted."""
    flat = [f for part in parts for f in (part[1] if part[0] == "product" else (part,))]
    negative = flat.count(MINUS) % 2
    flat = [f for f in flat if f not in (ONE, MINUS)]
    if negative and len(flat) == 1 and flat[0][0] == "number":
        return ("number", -flat[0][1])
    flat += [MINUS] * negative
    if len(flat) < 2:
        return flat[0] if flat else ONE
    return ("product", tuple(sorted(flat, key=repr)))


def power_of(base: Structure, exponent: Structure) -> Structure:
    """Return a power."""
    if exponent == ONE:
        return base
    return ("power", base, _number_of(exponent) or exponent)


def _number_of(form: Structure) -> Structure | None:
    """Return the number that a quotient of numbers is: 1/2."""
    if form[0] != "product":
        return None
    value = Fraction(1)
    for factor in form[1]:
        below = is_below(factor)
        number = factor[1] if below else factor
        if number[0] != "number" or (below and factor[2] != MINUS) or (below and not number[1]):
            return None
        value = value / number[1] if below else value * number[1]
    return ("number", value)


def inverse_of(form: Structure) -> Structure:
    """Return 1 over something."""
    if form[0] == "product":
        return product_of(map(inverse_of, form[1]))
    if form in (ONE, MINUS):
        return form
    if form[0] == "power" and form[2][0] == "number":
        return power_of(form[1], ("number", -form[2][1]))
    return ("power", form, MINUS)
