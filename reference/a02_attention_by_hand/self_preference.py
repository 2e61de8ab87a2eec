"""When a token prefers itself: equal lengths force it, and two ways in which it fails.

Source: Strang (2016), "Introduction to Linear Algebra", section 1.2 (Schwarz inequality).
"""

import numpy as np

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Witness

exercise = Exercise(
    "self_preference",
    title="When does a token prefer itself?",
    source="Strang (2016), section 1.2",
)


def length_is_used(line):
    """Is there the length, or something of y that cancels against x?"""
    return line.contains("y1**2", "r", "x1 + y1") or line.has_sum("0")


def sign_can_be_seen(line):
    """Is there a square of a difference, or one minus a cosine, or a sine squared?"""
    squares = ("(x1 - y1)**2", "(y1 - x1)**2", "sin((s - t)/2)")
    return line.contains(*squares, "1 - cos(s - t)", "cos(s - t) - 1")


gap_chain = Chain(
    start="x1*x1 + x2*x2 - (x1*y1 + x2*y2)",
    target="((x1 - y1)**2 + (x2 - y2)**2)/2",
    names=("x1", "x2", "y1", "y2", "r", "s", "t"),
    definitions={"x1": "r*cos(s)", "x2": "r*sin(s)", "y1": "r*cos(t)", "y2": "r*sin(t)"},
    final_names=("x1", "x2", "y1", "y2", "r", "s", "t"),
    waypoints=(Waypoint("Use that x and y have the same length.", length_is_used),),
    ends=Waypoint("End in a form whose sign can be seen.", sign_can_be_seen),
    assumptions={"r": "positive"},
)


@exercise.part(points=1.5, answer=Derivation(gap_chain))
def gap():
    """From x·x − x·y, for x and y of equal length, to a form that cannot be negative."""
    return [
        "x1*x1 + x2*x2 - (x1*y1 + x2*y2)",
        "(x1**2 + x2**2 + y1**2 + y2**2)/2 - x1*y1 - x2*y2",
        "((x1**2 - 2*x1*y1 + y1**2) + (x2**2 - 2*x2*y2 + y2**2))/2",
        "((x1 - y1)**2 + (x2 - y2)**2)/2",
    ]


@gap.alternative
def with_the_angle():
    """Put in length and angles."""
    return [
        "x1*x1 + x2*x2 - (x1*y1 + x2*y2)",
        "r**2 - r**2*(cos(s)*cos(t) + sin(s)*sin(t))",
        "r**2*(1 - cos(s - t))",
    ]


@gap.alternative
def with_half_the_angle():
    """Go on to a square of a sine."""
    return [
        "r^2*cos(s)^2 + r^2*sin(s)^2 - r^2*(cos(s)*cos(t) + sin(s)*sin(t))",
        "r^2 - r^2*cos(s - t)",
        "2*r^2*sin((s - t)/2)^2",
    ]


@gap.alternative
def squares_first():
    """Put the square of the length in for the sums of squares."""
    return [
        "x1*x1 + x2*x2 - (x1*y1 + x2*y2)",
        "r^2 - x1*y1 - x2*y2",
        "(r^2 + r^2 - 2*x1*y1 - 2*x2*y2)/2",
        "(y1 - x1)^2/2 + (y2 - x2)^2/2",
    ]


@exercise.part(points=0.5, answer=Choice("ABCD"))
def equality():
    """For which y of the same length as x is the score x·y as large as x·x?"""
    return "B"


@equality.misconception()
def every_parallel_one():
    """Two vectors of equal length can be parallel and opposite. What is x·y then?"""
    return "A"


@equality.misconception()
def orthogonal_ones():
    """An orthogonal y has the score 0. When is your last line 0?"""
    return "C"


@equality.misconception()
def never():
    """Put y = x into your last line."""
    return "D"


def preference(pair):
    """What a pair x, y shows; a y that is no longer than x can't win."""
    x, y = pair
    if x @ y > x @ x:
        return "x prefers y"
    return "y is no longer than x" if y @ y <= x @ x else "x prefers itself"


@exercise.part(points=1, answer=Witness(preference))
def pair():
    """Two vectors x and y, rows of a 2 × 2 array, for which softmax(x·x, x·y) favours y."""
    return np.array([[1, 0], [2, 1]])


@pair.alternative
def twice_as_long():
    """Stretch x."""
    return np.array([[0.1, -0.2], [0.2, -0.4]])


@pair.misconception()
def no_longer_than_x():
    """Your y is no longer than x, so it can't win: x·y is at most the product of the lengths."""
    return np.array([[1, 0], [0, 1]])


@pair.misconception()
def pointing_away():
    """Your y is long enough, but points too far away from x: compare x·y with x·x."""
    return np.array([[1, 0], [0, 5]])


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
