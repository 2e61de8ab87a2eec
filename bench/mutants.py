"""Wrong variants of the course's symbolic answers, and right ones written differently.

    python bench/mutants.py [--out bench/results/mutants.json]

Each is graded as a student's answer to an exercise that asks for the original.
A mutant that is accepted must be equal to the original: sympy then has to simplify the
difference to zero, or the run fails.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

import sympy
from graded import RIGHT, formula, graded

from autograder.algebra import ParseError, parse
from autograder.algebra.building.sizes import is_larger

MUTANTS = 1500
REWRITES = 400
SEED = 20
REAL = {"*": "real"}

# The symbolic answers of the catalogue, in this project's notation.
_TEXT = """
exp(z_i - z_j)
p_i^2/(p_1^2 + p_2^2 + p_3^2)
1/n + (z_i - zbar)/(n*tau)
1/(1 + exp(-(a - b)/tau))
(exp(z_1)*Z - exp(2*z_1))/Z^2
p_1*(1 - p_1)
-p_1*p_2
exp(z_1)/(exp(z_1) + exp(z_2) + exp(z_3))
log(exp(z_1) + exp(z_2) + exp(z_3))
(s - t)/tau
d*(sigma_q^2*sigma_k^2 + mu_q^2*sigma_k^2 + mu_k^2*sigma_q^2)
sqrt(d)
n*(n + 1)/2
n*(n + 1)/2 + p*(p - 1)/2
cos(omega*k)
-sin(omega*k)
cos(m*theta)*cos(n*theta) + sin(m*theta)*sin(n*theta)
cos((n - m)*theta)
a*sqrt(s2)/sqrt(a^2*s2 + epsilon)
8*d^2 + 5*d
T*G + H*(F - x) + 1 - T
12*d^2 + 13*d
16*d^2 + 19*d
m*n
2*d
4*n*d^2 + n*(n + 1)*d
2*n*(n + 1)*d^2 + n*(n + 1)*(2*n + 1)*d/3
n*m*(D + d_v)
D*d_v*(m + n)
exp(u - r^2/2)/sqrt(m)
exp(r^2/2)
n*(2*w + 1) - w*(w + 1)
2*g*n - g^2 + (n - g)*(2*w + 1) - w*(w + 1)
L/s + s
2*sqrt(L)
2*n^2*d + 4*n*d^2
Z_p/(Z_p + Z_s)
-p_1*log(p_1) - p_2*log(p_2)
(x - mu)/sqrt(v + epsilon)
x/(1 + exp(-x))
(1 + tanh(x/2))/2
sum(cos(k*omega), k, 0, 3)
4*d^2 + 4*d
exp(2*q)*(1 - exp(-r^2))/m
"""
FORMULAS = _TEXT.strip().splitlines()

Expr = Any
_SWAPS = {sympy.sin: sympy.cos, sympy.cos: sympy.sin, sympy.exp: sympy.cosh, sympy.log: sympy.exp}


def mutated(expr: Expr, rng: random.Random) -> Expr:
    """Change one node: a sign, a number, a name, a function, an operation."""
    node = rng.choice(list(sympy.preorder_traversal(expr)))
    symbols = sorted(expr.free_symbols, key=str)
    if node.is_Symbol:
        new = rng.choice([-node, node + 1, 2 * node, rng.choice(symbols), node**2])
    elif node.is_Rational:
        new = rng.choice([node + 1, -node, node / 2, node + sympy.Rational(1, 10**9)])
    elif node.is_Add:
        first, *rest = node.args
        new = rng.choice([sympy.Add(-first, *rest), sympy.Add(*rest), sympy.Mul(*node.args)])
    elif node.is_Mul:
        first, *rest = node.args
        new = rng.choice([sympy.Mul(*rest), sympy.Add(*node.args), sympy.Mul(1 / first, *rest)])
    elif node.is_Pow:
        new = rng.choice([node.base, node.base ** (node.exp + 1), node.base**-node.exp])
    else:
        new = _SWAPS.get(node.func, lambda x: 2 * x)(node.args[0])
    return expr.xreplace({node: new})


def rewritten(expr: Expr, rng: random.Random) -> Expr:
    """Write `expr` differently, through one or two of sympy's own transformations."""
    ways = [
        sympy.expand,
        sympy.factor,
        sympy.together,
        sympy.cancel,
        sympy.powsimp,
        sympy.trigsimp,
        sympy.simplify,
        lambda e: e.rewrite(sympy.exp),
        lambda e: sympy.collect(e, sorted(e.free_symbols, key=str)),
        lambda e: sympy.Mul(sympy.Add(*[x * 2 for x in sympy.Add.make_args(e)]), sympy.S.Half),
        lambda e: sympy.apart(e) if len(e.free_symbols) == 1 else sympy.expand(e),
    ]
    for way in rng.sample(ways, rng.randint(1, 2)):
        expr = way(expr)
    return expr


def standard(expr: Expr) -> Expr:
    """Return `expr` with sympy's own functions in place of ours."""
    from autograder.algebra.building import functions as own

    for ours in (own.sinh, own.cosh, own.tanh):
        expr = expr.replace(ours, getattr(sympy, ours.__name__))
    return expr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng = random.Random(SEED)
    originals = [(text, standard(parse(text, assumptions=REAL))) for text in FORMULAS]
    answers = {text: formula([text], {}) for text in FORMULAS}
    times: list[float] = []

    def ask(expected: str, given: Expr) -> str:
        start = time.perf_counter()
        outcome = graded(answers[expected], expected, str(given))
        times.append(time.perf_counter() - start)
        return outcome

    mutants: Counter[str] = Counter()
    wrong: list[str] = []
    while mutants.total() < MUTANTS:
        text, expr = rng.choice(originals)
        mutant = mutated(expr, rng)
        if mutant == expr or is_larger(mutant, 300) or mutant.has(sympy.zoo, sympy.nan):
            continue
        outcome = ask(text, mutant)
        if outcome == RIGHT:
            equal = (
                sympy.simplify(
                    standard(parse(text, assumptions=REAL))
                    - standard(parse(str(mutant), assumptions=REAL))
                )
                == 0
            )
            mutants["accepted, and equal" if equal else "accepted, not proved equal"] += 1
            if not equal:
                wrong.append(f"{text} accepted as {mutant}")
        else:
            mutants[outcome] += 1
    rewrites: Counter[str] = Counter()
    while rewrites.total() < REWRITES:
        text, expr = rng.choice(originals)
        try:
            other = rewritten(expr, rng)
            parse(str(other), assumptions=REAL)
        except (sympy.PolynomialError, NotImplementedError, ParseError):
            continue
        if str(other) == str(expr):
            continue
        outcome = ask(text, other)
        rewrites[outcome] += 1
        if outcome != RIGHT:
            wrong.append(f"{text} not recognised as {other}: {outcome}")
    results = {
        "formulas": len(FORMULAS),
        "mutants": dict(mutants),
        "rewrites": dict(rewrites),
        "median_ms": round(1000 * statistics.median(times), 2),
        "p99_ms": round(1000 * sorted(times)[int(0.99 * len(times))], 1),
    }
    print(*wrong, json.dumps(results, indent=2), sep="\n")
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
