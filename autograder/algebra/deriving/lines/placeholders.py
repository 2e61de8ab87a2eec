"""Formulas that are called @ wherever they stand in another one: in sums, products and powers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.structure import Structure

MARK: Structure = ("name", "@")
MAX_EXPONENT = 20  # of a number
_SIZES = (("call", "abs"), ("call", "norm"))

Marks = tuple[tuple[Structure, Structure], ...]  # what is equal, and what is put for it


def marked_terms(form: Structure, marks: Marks) -> Structure:
    """Put @ where another sum, or minus that, stands among the terms of one."""
    if form[0] != "sum":
        return form
    parts: Counter[Structure] = Counter(form[1])
    for whole, mark in marks:
        if whole[0] != "sum":
            continue
        turned = structures.sum_of(structures.product_of([structures.MINUS, t]) for t in whole[1])
        negated = structures.terms(turned)  # -(b + c) in a - (b + c) are two of them
        minus = structures.product_of([structures.MINUS, mark])
        for terms, shown in ((Counter(whole[1]), mark), (negated, minus)):
            while terms <= parts:
                parts = parts - terms + Counter([shown])
    return structures.sum_of(parts.elements())


def marked_factors(form: Structure, marks: Marks) -> Structure:
    """Put @ where another product, or 1 over that, stands among the factors of one."""
    if form[0] != "product":
        return form
    number, factors = numbers_apart(form)
    parts: Counter[Structure] = Counter(factors)
    for whole, mark in marks:
        if whole[0] != "product":
            continue
        for power, shown in ((whole, mark), (structures.inverse_of(whole), _below(mark))):
            times, rest = numbers_apart(power)
            while rest and Counter(rest) <= parts and shown is not None:
                parts = parts - Counter(rest) + Counter([shown])
                number = number / times
    return structures.product_of([("number", number), *parts.elements()])


def marked_power(form: Structure, marks: Marks) -> Structure:
    """Write x⁴ as @² where another formula is x²."""
    if form[0] == "power" and form[2][0] == "number":
        for whole, mark in marks:
            if whole[0] == "power" and whole[1] == form[1] and whole[2][0] == "number":
                times = form[2][1] / whole[2][1]
                if times.denominator == 1 and (times > 0 or mark != structures.ZERO):
                    return structures.power_of(mark, ("number", times))
    return form


def marked_bases(whole: Structure, mark: Structure) -> Marks:
    """Return what x is where 1/x, or a root of x, is another formula."""
    if whole[0] != "power" or whole[2][0] != "number" or mark == structures.ZERO:
        return ()
    exponent = 1 / whole[2][1]
    whole_number = exponent.denominator == 1 and whole[1] != MARK
    return ((whole[1], structures.power_of(mark, ("number", exponent))),) if whole_number else ()


def power(base: Structure, exponent: Structure) -> Structure:
    """Write a power of a power as one, and even ones of a and -a alike."""
    if base[0] == "power" and base[2][0] == exponent[0] == "number":
        return structures.power_of(base[1], ("number", base[2][1] * exponent[1]))
    even = exponent[0] == "number" and exponent[1] % 2 == 0
    return structures.power_of(_with_one_sign(base) if even else base, exponent)


def size(form: Structure) -> Structure:
    """Write what stands in bars as it would with another sign: |a - b| as |b - a|."""
    if form[:2] in _SIZES and len(form[3]) == 1:
        return (*form[:3], (_with_one_sign(form[3][0]),))
    return form


def _with_one_sign(form: Structure) -> Structure:
    turned = structures.sum_of(
        structures.product_of([structures.MINUS, term])
        for term in structures.terms(form).elements()
    )
    return min(form, turned, key=lambda one: (len(repr(one)), repr(one)))


def _below(mark: Structure) -> Structure | None:
    return None if mark == structures.ZERO else structures.inverse_of(mark)


def cancelled(factors: Sequence[Structure]) -> list[Structure]:
    """Put powers of one base into one that stand above and below a line: x³/x² is x."""
    exponents: dict[Structure, list[Fraction]] = {}
    for factor in factors:
        is_power = factor[0] == "power" and factor[2][0] == "number"
        base, exponent = (factor[1], factor[2][1]) if is_power else (factor, Fraction(1))
        exponents.setdefault(base, []).append(exponent)
    result: list[Structure] = []
    for base, found in exponents.items():
        both = min(found) < 0 < max(found)
        for exponent in [sum(found, Fraction(0))] if both else found:
            if exponent:
                result.append(structures.power_of(base, ("number", exponent)))
    return result


def numbers_apart(form: Structure) -> tuple[Fraction, list[Structure]]:
    """Return the number and the other factors of a product."""
    number = Fraction(1)
    others: list[Structure] = []
    for factor in structures.factors(form).elements():
        base, exponent = factor[1:] if factor[0] == "power" else (factor, structures.ONE)
        whole = exponent[0] == "number" and exponent[1].denominator == 1
        if (
            base[0] == "number"
            and whole
            and (base[1] or exponent[1] > 0)
            and abs(exponent[1]) < MAX_EXPONENT
        ):
            number *= base[1] ** int(exponent[1])
        else:
            others.append(factor)
    return number, others
