"""What can be done to derivatives, finite sums, sines and definitions: one rewriting each."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from autograder.algebra.deriving.lines.inert import D, E, Total
from autograder.algebra.deriving.lines.world import World

Rewrite = Callable[[sympy.Expr, World], sympy.Expr]


# --- derivatives --------------------------------------------------------------------------------


def variables(e: sympy.Expr, world: World) -> sympy.Expr:
    """Differentiate constants and the variables themselves."""
    if not isinstance(e, D):
        return e
    inner, by = e.args
    if inner == by:
        return sympy.Integer(1)
    if inner.func == by.func and inner.is_Function and len(inner.args) == len(by.args):
        return sympy.Mul(
            *(sympy.KroneckerDelta(a, b) for a, b in zip(inner.args, by.args, strict=True))
        )
    return e if world.is_variable(inner, by) else sympy.Integer(0)


def additive(e: sympy.Expr, world: World) -> sympy.Expr:
    """Differentiate sums term by term and take constant factors out."""
    if not isinstance(e, D):
        return e
    inner, by = e.args
    if inner.is_Add:
        return sympy.Add(*(D(term, by) for term in inner.args))
    if isinstance(inner, Total):
        return Total(D(inner.args[0], by), *inner.args[1:])
    if inner.is_Mul:
        fixed = [f for f in inner.args if not world.is_variable(f, by)]
        if fixed:
            rest = [f for f in inner.args if f not in fixed]
            return sympy.Mul(*fixed, D(sympy.Mul(*rest), by))
    return e


def products(e: sympy.Expr, world: World) -> sympy.Expr:
    """Use the product rule, and the quotient rule with it."""
    if not isinstance(e, D):
        return e
    inner, by = e.args
    if inner.is_Mul:
        terms = []
        for place, factor in enumerate(inner.args):
            others = [*inner.args[:place], *inner.args[place + 1 :]]
            terms.append(sympy.Mul(D(factor, by), *others))
        return sympy.Add(*terms)
    if inner.is_Pow and inner.exp.is_Integer:
        return inner.exp * inner.base ** (inner.exp - 1) * D(inner.base, by)
    # exp(a − b) is a product too: sympy writes exp(a)·exp(b) like that.
    if isinstance(inner, sympy.exp) and inner.exp.is_Add:
        factors = [sympy.exp(a) for a in inner.exp.args]
        return sympy.Add(*(inner * D(f, by) / f for f in factors))
    return e


def without_constant(inner: sympy.Expr, by: sympy.Expr) -> sympy.Expr:
    """Return the derivative of something without the number that is added to it."""
    return D(inner - inner.as_coeff_Add()[0], by)


def logarithmic(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write the derivative of f as f times the derivative of log f."""
    if not isinstance(e, D):
        return e
    inner, by = e.args
    defined = inner.is_Function and inner.func.__name__ in world.definitions
    if not (inner.is_Mul or inner.is_Pow or isinstance(inner, sympy.exp) or defined):
        return e
    logs = [
        f.exp
        if isinstance(f, sympy.exp)
        else f.exp * sympy.log(f.base)
        if f.is_Pow
        else sympy.log(f)
        for f in sympy.Mul.make_args(inner)
    ]
    return inner * D(sympy.Add(*logs), by)


def numbers(e: sympy.Expr, world: World) -> sympy.Expr:
    """Take numbers out of derivatives, sums and expectations: that is algebra enough."""
    if not isinstance(e, D | Total | E):
        return e
    inner = e.args[0]
    terms = sympy.expand_mul(inner)
    number, rest = terms.primitive() if terms.is_Add else terms.as_coeff_Mul()
    if rest.is_Add and rest.could_extract_minus_sign():
        number = -number
    return e if number in (0, 1) else number * e.func(inner / number, *e.args[1:])


def outer(*functions: object) -> Rewrite:
    """Return the chain rule for these functions, or for all of them."""

    def chain(e: sympy.Expr, world: World) -> sympy.Expr:
        if not isinstance(e, D):
            return e
        inner, by = e.args
        if functions and inner.func not in functions:
            return e
        if inner.is_Pow and not isinstance(inner, sympy.exp) and inner.exp.is_number:
            return inner.exp * inner.base ** (inner.exp - 1) * D(inner.base, by)
        if isinstance(inner, sympy.exp | sympy.log | sympy.sin | sympy.cos | sympy.tanh):
            t = sympy.Dummy(real=True)
            return inner.func(t).diff(t).xreplace({t: inner.args[0]}) * D(inner.args[0], by)
        return e

    return chain


# --- sums ---------------------------------------------------------------------------------------


def counted(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write a sum of equal terms as so many times the term."""
    if not isinstance(e, Total):
        return e
    inner, k, low, high = e.args
    return e if _uses(inner, k) else inner * (high - low + 1)


def linear(e: sympy.Expr, world: World) -> sympy.Expr:
    """Split sums of sums and take out what does not depend on the index."""
    if not isinstance(e, Total):
        return e
    inner, k, low, high = e.args
    inner = sympy.expand(inner, deep=False) if inner.is_Mul or inner.is_Pow else inner
    if inner.is_Add:
        return sympy.Add(*(Total(term, k, low, high) for term in inner.args))
    if not _uses(inner, k):
        return inner * (high - low + 1)
    if isinstance(inner, sympy.exp) and inner.exp.is_Add:
        inner = sympy.Mul(*(sympy.exp(a) for a in inner.exp.args), evaluate=False)
    if inner.is_Mul:
        factors = []
        for f in inner.args:
            parts = f.exp.args if isinstance(f, sympy.exp) and f.exp.is_Add else ()
            factors += [sympy.exp(a) for a in parts] or [f]
        fixed = [f for f in factors if not _uses(f, k)]
        if fixed:
            rest = sympy.Mul(*(f for f in factors if _uses(f, k)))
            return sympy.Mul(*fixed) * Total(rest, k, low, high)
    return e


def inward(e: sympy.Expr, world: World) -> sympy.Expr:
    """Take into a sum what stands beside it and holds no sum."""
    sums = [f for f in sympy.Mul.make_args(e) if isinstance(f, Total)]
    beside = [f for f in sympy.Mul.make_args(e) if not f.has(Total)]
    if not (sums and beside):
        return e
    inner, k, *ends = sums[0].args
    own = sympy.Dummy(k.name, integer=True, positive=True)
    total = Total(sympy.Mul(*beside, inner.xreplace({k: own})), own, *ends)
    return e / sums[0] / sympy.Mul(*beside) * total


def apart(e: sympy.Expr, world: World) -> sympy.Expr:
    """Multiply exponents out, and split logarithms: that may tell an index apart from the rest."""
    if isinstance(e, sympy.exp):
        return sympy.exp(sympy.expand_mul(e.exp))
    return sympy.expand_log(e, deep=False) if isinstance(e, sympy.log) else e


def contraction(e: sympy.Expr, world: World) -> sympy.Expr:
    """Carry out a sum over δ_{kj} · f(k); the index j is in the range."""
    if not isinstance(e, Total):
        return e
    inner, k, low, high = e.args
    if inner.is_Add or (inner.is_Mul and any(f.is_Add and _has_delta(f, k) for f in inner.args)):
        inner = sympy.expand(inner)
        deltas = [t for t in sympy.Add.make_args(inner) if _has_delta(t, k)]
        if deltas and inner.is_Add:
            rest = sympy.Add(*(t for t in inner.args if t not in deltas))
            split = [Total(t, k, low, high) for t in deltas]
            return sympy.Add(*split) + (Total(rest, k, low, high) if rest != 0 else 0)
    for factor in sympy.Mul.make_args(inner):
        if isinstance(factor, sympy.KroneckerDelta) and k in factor.args:
            (other,) = [a for a in factor.args if a != k] or [k]
            return (inner / factor).xreplace({k: other})
    return e


def _uses(e: sympy.Expr, k: sympy.Symbol) -> bool:
    return bool(e.has(k))


def _has_delta(e: sympy.Expr, k: sympy.Symbol) -> bool:
    return any(k in delta.args for delta in e.atoms(sympy.KroneckerDelta))


# --- functions ----------------------------------------------------------------------------------


def addition(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write the sine and cosine of a sum by those of its terms."""
    if not isinstance(e, sympy.sin | sympy.cos):
        return e
    first, *others = sympy.Add.make_args(sympy.expand(e.args[0]))
    if not others:
        return e
    rest = sympy.Add(*others)
    a, b, c, d = sympy.sin(first), sympy.cos(first), sympy.sin(rest), sympy.cos(rest)
    return a * d + b * c if isinstance(e, sympy.sin) else b * d - a * c


def definitions(e: sympy.Expr, world: World) -> sympy.Expr:
    """Put in what a defined name stands for."""
    return world.put_definitions_in(e)
