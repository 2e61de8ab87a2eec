"""When a token prefers itself: equal lengths force it, and two ways in which it fails.

Source: Strang (2016), "Introduction to Linear Algebra", section 1.2 (Schwarz inequality).
"""

import numpy as np

from autograder.algebra import Fact, IndexedChain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Witness

exercise = Exercise(
    "self_preference",
    title="When does a token prefer itself?",
    source="Strang (2016), section 1.2",
    minutes=35,
    hints=[
        "Write the squared distance |x − y|² as a product and multiply it out; then use that "
        "the lengths are equal.",
        "The score x·y is |x| times the length of y's shadow on x. For a token to prefer "
        "another one, that shadow has to be longer than x itself.",
        "For W_K, write down the keys X W_K for X = I: what are the rows, and which of them "
        "should fit the first query best?",
    ],
)


GAP = "sum(x_i^2, i) - sum(x_i*y_i, i)"

PAIRS = (("x", "y"), ("y", "x"))
gap_chain = IndexedChain(
    start=GAP,
    target="sum((x_i - y_i)^2, i)/2",
    indexed=("x", "y"),
    where={"x_i": "u_i*sqrt(sum(v_j^2, j))", "y_i": "v_i*sqrt(sum(u_j^2, j))"},
    hidden=("u_i", "v_i"),
    rules=("linearity of sums", Fact("equal lengths", "sum(x_i^2, i)", "sum(y_i^2, i)")),
    reasons=True,
    ends=Waypoint(
        "End with the square of a distance, which is never negative.",
        lambda line: line.shows(*(f"({a}_{i} - {b}_{i})^2" for i in "ijklm" for a, b in PAIRS)),
    ),
)


OTHER_GAP = (
    "sum((x_i + y_i)^2, i) - sum((x_i - y_i)^2, i)",
    "sum((x_i + y_i)^2 - (x_i - y_i)^2, i)",
    "sum(4*x_i*y_i, i)",
    "4*sum(x_i*y_i, i)",
)


@exercise.part(points=1.5, answer=Derivation(gap_chain, practice=OTHER_GAP))
def gap():
    """From x·x − x·y, for x and y of equal length, to half the square of the distance."""
    return [
        GAP,
        "sum(x_i^2, i)/2 + sum(y_i^2, i)/2 - sum(x_i*y_i, i)  # equal lengths",
        "sum((x_i^2 + y_i^2 - 2*x_i*y_i)/2, i)  # linearity of sums",
        "sum((x_i - y_i)^2, i)/2  # algebra",
    ]


@gap.alternative
def backwards_from_the_distance():
    """Take the half out at the end."""
    return [
        GAP,
        "sum(x_i^2, i)/2 + sum(y_i^2, i)/2 - sum(x_i*y_i, i)  # equal lengths",
        "1/2*(sum(x_i^2, i) + sum(y_i^2, i) - 2*sum(x_i*y_i, i))  # algebra",
        "1/2*sum(x_i^2 + y_i^2 - 2*x_i*y_i, i)  # linearity of sums",
        "1/2*sum((y_i - x_i)^2, i)  # algebra",
    ]


@gap.alternative
def one_sum_first():
    """Write one sum, and exchange half of the squares by what they come to."""
    return [
        "sum(x_i^2 - x_i*y_i, i)  # linearity of sums",
        "sum(x_i^2/2 - x_i*y_i, i) + sum(x_i^2, i)/2  # linearity of sums",
        "sum(x_i^2/2 - x_i*y_i, i) + sum(y_i^2, i)/2  # equal lengths",
        "sum((x_i - y_i)^2/2, i)  # linearity of sums",
    ]


@gap.alternative
def gap_in_latex():
    """Write the sums with their sign."""
    return [
        r"\frac{1}{2} \sum_{i=1}^{n} x_i^2 + \frac{1}{2} \sum_{i=1}^{n} y_i^2"
        r" - \sum_{i=1}^{n} x_i y_i  # equal lengths",
        r"\frac{1}{2} \sum_{i=1}^{n} (x_i^2 - 2 x_i y_i + y_i^2)  # linearity of sums",
        r"\frac{1}{2} \sum_{i=1}^{n} (x_i - y_i)^2  # algebra",
    ]


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "For every $y$ that is parallel to $x$.",
            "For $y = x$ alone.",
            "For every $y$ orthogonal to $x$.",
            "For none.",
        ]
    ),
)
def equality():
    """For which y of the same length as x is the score x·y as large as x·x?"""
    return "B"


equality.mistakes(
    every_parallel_one=(
        "A",
        "Two vectors of equal length can be parallel and opposite. What is x·y then?",
    ),
    orthogonal_ones=("C", "An orthogonal y has the score 0. When is your last line 0?"),
    never=("D", "Put y = x into your last line."),
)


def preference(pair):
    """What a pair x, y shows; a y that is no longer than x can't win."""
    x, y = pair
    if x @ y > x @ x:
        return "x prefers y"
    return "y is no longer than x" if y @ y <= x @ x else "x prefers itself"


@exercise.part(points=1.25, answer=Witness(preference))
def pair():
    """Two vectors x and y, rows of a 2 × 2 array, for which softmax(x·x, x·y) favours y."""
    return np.array([[1, 0], [2, 1]])


@pair.alternative
def twice_as_long():
    """Stretch x."""
    return np.array([[0.1, -0.2], [0.2, -0.4]])


pair.mistakes(
    no_longer_than_x=(
        np.array([[1, 0], [0, 1]]),
        "Your y is no longer than x, so it can't win: x·y is at most the product of the lengths.",
    ),
    pointing_away=(
        np.array([[1, 0], [0, 5]]),
        "Your y is long enough, but points too far away from x: compare x·y with x·x.",
    ),
)


def learned_preference(W_K):
    """What a key projection shows for the tokens (1, 0) and (0, 1), W_Q = I."""
    X = np.eye(2)
    S = X @ (X @ W_K).T
    if S[0, 1] > S[0, 0]:
        return "0 prefers 1"
    return "0 prefers 1 in the transpose" if S.T[0, 1] > S.T[0, 0] else "0 prefers itself"


@exercise.part(points=1, answer=Witness(learned_preference))
def W_K():
    """A key projection, 2 × 2, with which token 0 of X = I prefers token 1."""
    return np.array([[0, 1], [1, 0]])


@W_K.alternative
def only_one_entry():
    """Let token 1 alone have a key along the first axis."""
    return np.array([[0, 0], [0.5, 0]])


@W_K.misconception()
def identity_again():
    """With this matrix token 0 does not prefer token 1. The key of token 1 is row 1 of W_K."""
    return np.eye(2)


@W_K.misconception()
def transposed():
    """Your matrix would do as W_K x. Tokens are rows, so the key of (0, 1) is (0, 1) W_K."""
    return np.array([[0, 1], [0, 0]])
