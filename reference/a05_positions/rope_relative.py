"""Scores of rotated vectors know the difference of the positions and nothing else.

Source: Su et al. (2021), "RoFormer", section 3.2.1, eq. 12 to 16.
"""

import numpy as np

from autograder.algebra import IndexedChain
from autograder.exercise import Derivation, Exercise, Matrix, Numbers

exercise = Exercise(
    "rope_relative",
    title="Only the difference counts",
    source="Su et al. (2021), eq. 12 to 16",
)


@exercise.variant
def draw(rng):
    """q, k: (2,), whole numbers; m, n: their positions from 1 to 6, which differ."""
    q, k = rng.integers(-3, 4, (2, 2))
    while True:
        m, n = rng.choice(np.arange(1, 7), 2, replace=False)
        if m != 2 * n:  # then the angles m − n and n would be one
            return {"q": q, "k": k, "m": int(m), "n": int(n)}


def rotation(angle):
    """Turn counter-clockwise."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


START = (
    "(x*cos(m*w) - y*sin(m*w))*(u*cos(n*w) - v*sin(n*w))"
    " + (x*sin(m*w) + y*cos(m*w))*(u*sin(n*w) + v*cos(n*w))"
)

chain = IndexedChain(
    start=START,
    target="(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    names=("x", "y", "u", "v", "m", "n", "w"),
    indices=("i",),
    size="N",
    rules=("addition theorem",),
    closed=("sin", "cos"),
    min_lines=3,
)


@exercise.part(points=2, answer=Derivation(chain))
def steps():
    """The score of two turned pairs, to a form in which m and n stand as a difference alone."""
    return [
        START,
        "(x*u + y*v)*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w))"
        " + (y*u - x*v)*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))",
        "(x*u + y*v)*cos(n*w - m*w) + (y*u - x*v)*sin(n*w - m*w)",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@steps.alternative
def both_theorems_at_once():
    """Sort by x u + y v and y u − x v, then use the two addition theorems."""
    return [
        START,
        "(x*u + y*v)*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w))"
        " + (y*u - x*v)*(cos(m*w)*sin(n*w) - sin(m*w)*cos(n*w))",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@steps.alternative
def one_theorem_after_the_other():
    """The cosine first."""
    return [
        START,
        "(x*u + y*v)*(cos(n*w)*cos(m*w) + sin(n*w)*sin(m*w))"
        " + (y*u - x*v)*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))",
        "(x*u + y*v)*cos(n*w - m*w) + (y*u - x*v)*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@steps.alternative
def sorted_by_the_query():
    """Collect what stands behind x and what stands behind y."""
    return [
        START,
        "x*(u*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w))"
        " - v*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w)))"
        " + y*(u*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))"
        " + v*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w)))",
        "x*(u*cos(n*w - m*w) - v*sin(n*w - m*w)) + y*(u*sin(n*w - m*w) + v*cos(n*w - m*w))",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@exercise.part(points=1, answer=Matrix("m n w"))
def product():
    """The product R_mᵀ R_n, with a single sine or cosine in every entry."""
    return [["cos((n - m)*w)", "-sin((n - m)*w)"], ["sin((n - m)*w)", "cos((n - m)*w)"]]


@product.misconception()
def other_difference():
    """That is R_(m − n). It is the first factor that is transposed, so it turns backwards."""
    return [["cos((m - n)*w)", "-sin((m - n)*w)"], ["sin((m - n)*w)", "cos((m - n)*w)"]]


@product.misconception()
def sum_of_the_positions():
    """That is R_m R_n. The transposed factor turns backwards, so the angles are subtracted."""
    return [["cos((m + n)*w)", "-sin((m + n)*w)"], ["sin((m + n)*w)", "cos((m + n)*w)"]]


@exercise.part(points=2, answer=Numbers())
def score(q, k, m, n):
    """The score (R_m q) · (R_n k) of your vectors, one radian for each position."""
    return q @ rotation(n - m) @ k


@score.misconception()
def score_of_the_other_difference(q, k, m, n):
    """You turned by (m − n). The query is turned as well: R_mᵀ R_n = R_(n − m)."""
    return q @ rotation(m - n) @ k


@score.misconception()
def score_without_positions(q, k):
    """That is q · k, as if both were at the same position."""
    return q @ k


@score.misconception()
def score_of_the_sum(q, k, m, n):
    """You added the angles. Both vectors are turned the same way, so they are subtracted."""
    return q @ rotation(m + n) @ k


@score.misconception()
def only_the_key_turned(q, k, n):
    """You turned the key alone. The query stands at a position as well."""
    return q @ rotation(n) @ k
