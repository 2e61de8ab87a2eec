"""Every output is a weighted mean of the values, so it stays in their convex hull.

Source: Boyd & Vandenberghe (2004), "Convex Optimization", sections 2.1.4 and 3.1.8.
"""

import numpy as np

from autograder.algebra import Chain, Fact, IndexedChain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Numbers

exercise = Exercise(
    "attn_hull",
    title="Outputs are averages",
    source="Boyd & Vandenberghe (2004), section 2.1.4",
    minutes=30,
    hints=[
        "M is M times 1, and 1 is what the weights add up to. Bring both terms under one sum.",
        "For the length, the triangle inequality takes a sum apart; then each length is at "
        "most the longest.",
        "Write Σ w_j v_j = (x, y) out: two equations, and the third one is the sum of the "
        "weights. Then ask which of the solutions are weights.",
    ],
)

names = ("w1", "w2", "w3", "v1", "v2", "v3", "M")


def sum_is_used(line):
    """Is M spread over the weights, or one of them written as what the others lack to 1?"""
    lacking = ("1 - w1 - w2", "1 - w1 - w3", "1 - w2 - w3", "1 - (w1 + w2)")
    return line.has_sum("1") or line.contains("w1*M", "w2*M", "w3*M") or line.shows(*lacking)


def bound_is_used(line):
    """Is every value compared with the bound?"""
    return all(line.contains(f"M - {v}", f"{v} - M") for v in ("v1", "v2", "v3"))


bound_chain = Chain(
    start="M - (w1*v1 + w2*v2 + w3*v3)",
    target="w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
    names=names,
    definitions={"w3": "1 - w1 - w2"},
    final_names=names,
    waypoints=(Waypoint("Show how the weights, which add up to 1, meet M.", sum_is_used),),
    ends=Waypoint("Compare each value with M by itself.", bound_is_used),
)


OTHER_BOUND = (
    "w1*v1 + w2*v2 + w3*v3 - v3",
    "w1*v1 + w2*v2 + (1 - w1 - w2)*v3 - v3",
    "w1*v1 + w2*v2 - w1*v3 - w2*v3",
    "w1*(v1 - v3) + w2*(v2 - v3)",
)


@exercise.part(points=1.5, answer=Derivation(bound_chain, practice=OTHER_BOUND))
def bound():
    """From M minus the output to a sum of terms, none of which is negative."""
    return [
        "M - (w1*v1 + w2*v2 + w3*v3)",
        "(w1 + w2 + w3)*M - (w1*v1 + w2*v2 + w3*v3)",
        "w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
    ]


@bound.alternative
def term_by_term():
    """Spread M over the three terms first."""
    return [
        "w1*M + w2*M + w3*M - w1*v1 - w2*v2 - w3*v3",
        "(w1*M - w1*v1) + (w2*M - w2*v2) + (w3*M - w3*v3)",
        "w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
    ]


@bound.alternative
def without_the_third_weight():
    """Eliminate w₃, and let it come back."""
    return [
        "M - w1*v1 - w2*v2 - (1 - w1 - w2)*v3",
        "(M - v3) - w1*(v1 - v3) - w2*(v2 - v3)",
        "w1*(M - v1) + w2*(M - v2) + (1 - w1 - w2)*(M - v3)",
        "w1*(M - v1) + w2*(M - v2) + w3*(M - v3)",
    ]


@bound.alternative
def in_latex():
    """One value after the other."""
    return [
        r"M \left(w_1 + w_2 + w_3\right) - w_1 v_1 - w_2 v_2 - w_3 v_3",
        r"w_1 \left(M - v_1\right) + w_2 M - w_2 v_2 + w_3 M - w_3 v_3",
        r"w_1 \left(M - v_1\right) + w_2 \left(M - v_2\right) + w_3 \left(M - v_3\right)",
    ]


norm_chain = IndexedChain(
    start="norm(sum(w_k*V_k, k))",
    target="max(norm(V_k), k)",
    indexed=("w", "V", "s"),
    vectors=("V",),
    positive=("w",),
    definitions={"w_i": "exp(s_i)/sum(exp(s_k), k)"},
    relation="<=",
    rules=(
        "triangle inequality",
        "norm of a multiple",
        "largest term",
        "linearity of sums",
        Fact("weights sum to one", "sum(w_k, k)", "1"),
    ),
    reasons=True,
)


@exercise.part(points=1, answer=Derivation(norm_chain))
def length():
    """The length of an output of n values, bounded by the longest value; a reason for each step."""
    return [
        "<= sum(norm(w_k*V_k), k)  # triangle inequality",
        "= sum(w_k*norm(V_k), k)  # norm of a multiple",
        "<= max(norm(V_k), k)*sum(w_k, k)  # largest term",
        "= max(norm(V_k), k)  # weights sum to one",
    ]


@length.alternative
def two_steps_in_one():
    """Take the weights out at once."""
    return [
        "<= sum(w_j*norm(V_j), j)  # triangle inequality",
        "<= sum(w_j, j)*max(norm(V_j), j)  # largest term",
        "= 1*max(norm(V_j), j)  # weights sum to one",
    ]


@length.alternative
def each_term_by_itself():
    """Bound each term, then take the bound out of the sum."""
    return [
        "<= sum(norm(w_k*V_k), k)  # triangle inequality",
        "= sum(w_k*norm(V_k), k)  # norm of a multiple",
        "<= sum(w_k*max(norm(V_j), j), k)  # largest term",
        "= max(norm(V_j), j)*sum(w_k, k)  # linearity of sums",
        "= max(norm(V_k), k)  # weights sum to one",
    ]


@length.alternative
def with_the_other_sign():
    """Write ≤."""
    return [
        "norm(sum(w_i*V_i, i))",
        "≤ sum(norm(w_i*V_i), i)  # triangle inequality",
        "= sum(norm(V_i)*w_i, i)  # norm of a multiple",
        "≤ max(norm(V_i), i)*sum(w_i, i)  # largest term",
        "= max(norm(V_i), i)  # weights sum to one",
    ]


@length.alternative
def length_in_latex():
    """Write sums and norms with their signs."""
    return [
        r"\le \sum_{k=1}^n \lVert w_k V_k \rVert  # triangle inequality",
        r"= \sum_{k=1}^n w_k \lVert V_k \rVert  # norm of a multiple",
        r"\le max(norm(V_k), k) \sum_{k=1}^n w_k  # largest term",
        "= max(norm(V_k), k)  # weights sum to one",
    ]


corners = np.array([[0, 0], [4, 0], [0, 4]])


def coordinates(point):
    """The weights with sum 1 that lead from the three values to a point."""
    return np.linalg.solve(np.vstack([corners.T, np.ones(3)]), [*point, 1])


@exercise.part(points=0.75, answer=Numbers())
def weights_11():
    """Three numbers with sum 1 for which Σ w_j v_j is (1, 1)."""
    return coordinates((1, 1))


weights_11.mistakes(
    first_value_ignored=(
        np.array([0, 0.25, 0.25]),
        "Your numbers do not add up to 1. The value (0, 0) takes what is left.",
    ),
    an_even_mean=(np.full(3, 1 / 3), "That leads to the centre of the triangle, (4/3, 4/3)."),
)


@exercise.part(points=0.5, answer=Numbers())
def weights_33():
    """Three numbers with sum 1 for which Σ w_j v_j is (3, 3)."""
    return coordinates((3, 3))


weights_33.mistakes(
    sum_not_kept=(
        np.array([0, 0.75, 0.75]),
        "Your numbers do not add up to 1. That sum is a third equation beside the coordinates.",
    ),
    pressed_into_weights=(
        np.array([0, 0.5, 0.5]),
        "Those are weights, but they lead to another point: multiply them with the values.",
    ),
)


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "Both.",
            "Only $(1, 1)$.",
            "Only $(3, 3)$.",
            "Neither.",
        ]
    ),
)
def reachable(weights_11, weights_33):
    """Which of (1, 1) and (3, 3) can be an output for the values (0, 0), (4, 0), (0, 4)?"""
    inside = tuple(bool(np.min(numbers) >= 0) for numbers in (weights_11, weights_33))
    return {(True, True): "A", (True, False): "B", (False, True): "C", (False, False): "D"}[inside]


reachable.mistakes(
    coordinate_bounds_only=(
        "A",
        "You looked at the coordinates one by one. They bound a square; the hull is smaller.",
    ),
    the_other_one=("C", "Solve for the weights of both points: which solution is positive?"),
    neither=("D", "An output need not be one of the values. Solve for the weights of both points."),
)
