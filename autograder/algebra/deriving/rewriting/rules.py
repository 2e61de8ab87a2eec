"""Rules that a step of a derivation can go by.

A rule rewrites a line as far as it goes.  A step goes by a rule if the two lines, each rewritten
by it, differ by algebra alone: whatever else stands in them, sums and derivatives say, is not
looked into.  So no rule needs to know where in a line, how often, or in which direction it is
used.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from autograder.algebra.deriving.rewriting import (
    blocks,
    bounds,
    calculus,
    matrix_lines,
    probability,
)
from autograder.algebra.deriving.rewriting.calculus import Rewrite


@dataclass(frozen=True)
class Rule:
    """What a rule does to a line.

    Attributes
    ----------
    rewrites
        Done to both lines of a step.
    bounds
        Done to the first line alone: each leads to something at least as large.
    reorders
        Whether a sum of a sum may be added up in any order.
    beside
        May be done to a sum in one of the two lines: what comes with the rule, before or behind it.
    obvious
        Whether it may be used beside another one that is obvious, in one line.
    """

    name: str
    rewrites: tuple[Rewrite, ...] = ()
    bounds: tuple[Rewrite, ...] = ()
    reorders: bool = False
    beside: tuple[Rewrite, ...] = ()
    obvious: bool = False


@dataclass(frozen=True)
class Fact:
    """An equality that a step may use, for all values of its indices: Σ w_k = 1, say."""

    name: str
    left: str
    right: str


DERIVATIVES = (calculus.variables, calculus.additive, calculus.products, calculus.outer())
EXPECTATIONS = (
    probability.variance_of_sum,
    probability.variance,
    probability.mean_is_linear,
    probability.independence,
    probability.normal_exponential,
    probability.moments,
)
LINEARITY = "linearity of sums"
_KNOWN = (
    Rule("algebra", (calculus.numbers,)),
    Rule("definition", (calculus.definitions,), obvious=True),
    Rule("quotient rule", (calculus.products, calculus.variables)),
    Rule("product rule", (calculus.products, calculus.variables)),
    Rule("chain rule", (calculus.outer(), calculus.variables)),
    Rule("logarithmic derivative", (calculus.logarithmic,)),
    Rule("derivative of exp", (calculus.outer(sympy.exp), calculus.variables)),
    Rule("derivative of log", (calculus.outer(sympy.log), calculus.variables)),
    Rule("derivative of a variable", (calculus.variables,)),
    Rule("derivative of a sum", (calculus.additive, calculus.variables)),
    Rule("differentiate", DERIVATIVES),
    Rule(LINEARITY, (probability.alike, calculus.linear), obvious=True),
    Rule("delta contraction", (calculus.contraction,), obvious=True),
    Rule("order of sums", reorders=True, beside=(calculus.inward,)),
    Rule("linearity of E", (probability.mean_is_linear,)),
    Rule("independence", (probability.independence,)),
    Rule("definition of Var", (probability.variance, probability.about_the_mean)),
    Rule("variance of a sum", (probability.variance_of_sum, probability.alike, calculus.linear)),
    Rule("variance of a multiple", (probability.variance_of_multiple,)),
    Rule("normal expectation", (probability.normal_exponential,)),
    Rule("transpose of a product", (matrix_lines.transposed,)),
    Rule("product of blocks", (blocks.multiplied,)),
    Rule("permutations pass through", (matrix_lines.permuted,)),
    Rule("addition theorem", (calculus.addition,)),
    Rule("norm of a multiple", (bounds.norm_of_multiple,)),
    Rule("triangle inequality", (bounds.norm_of_multiple,), bounds=(bounds.triangle,)),
    Rule("Cauchy-Schwarz", bounds=(bounds.cauchy_schwarz,)),
    Rule("parts of a sum", (bounds.parts,)),
    Rule("largest term", (calculus.linear,), bounds=(bounds.largest,)),
)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _KNOWN}


_SEVERAL = re.compile(r"[,;&+]|\b(?:and|then)\b")

#: What rules are also called, or how what they do is.
_ALSO = {
    "algebra": ("binomial", "expand", "multipl", "factor", "cancel", "simplif", "collect"),
    "definition": ("def",),
    "delta contraction": ("delta", "δ"),
    "derivative of a sum": ("sum rule",),
    LINEARITY: ("factor", "constant", "out of the sum"),
    "derivative of exp": ("exponential",),
    "transpose of a product": ("^t", "transpos"),
    "variance of a multiple": ("factor", "constant", "squared"),
}


def named(text: str, known: Mapping[str, Rule], facts: Mapping[str, Fact]) -> str | None:
    """Return the rule that is meant, spelling aside; a fact may be given as what it says."""
    plain = {_plain(fact.left + fact.right): name for name, fact in facts.items()}
    plain |= {_plain(name): name for name in known}
    close = difflib.get_close_matches(_plain(text), plain, n=1, cutoff=0.85)
    if close:
        return plain[close[0]]
    words = _words(text)
    for found in (
        [name for name in known if _words(name) <= words],
        [name for name in known if words and words <= _words(name)],
        _also(text, known),
        [name for name in facts if len(_words(name) & words) > 1],
    ):
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _also(text: str, known: Mapping[str, Rule]) -> list[str]:
    return [name for name in known if any(word in text.lower() for word in _ALSO.get(name, ()))]


def all_named(text: str, known: Mapping[str, Rule], facts: Mapping[str, Fact]) -> tuple[str, ...]:
    """Return the rules that may be meant: each of "chain rule, derivative of exp"; or none."""
    if (whole := named(text, known, facts)) is not None:
        return (whole,)
    parts = [part for part in _SEVERAL.split(text) if part.strip()]
    found = [named(part, known, facts) for part in parts]
    if None in found:
        mentioned = [name for name in known if _words(name) <= _words(text)]
        found = [*(mentioned or _also(text, known))]
    return tuple(dict.fromkeys(name for name in found if name))


def _plain(name: str) -> str:
    return re.sub(r"\W|\bthe\b", "", name.lower())


def _words(text: str) -> set[str]:
    """Return the words that count, each in one form: *sum to 1* is *add up to one*.

    >>> sorted(_words("the weights add up to 1")), sorted(_words("weights sum to one"))
    (['one', 'sum', 'to', 'weights'], ['one', 'sum', 'to', 'weights'])
    """
    plain = re.sub(r"\badds? up\b|\bsums\b|[σ∑]|\\sum", " sum ", text.lower())
    return set(re.findall(r"[^\W_]+", re.sub(r"\b1\b", "one", plain))) - {"a", "of", "the"}
