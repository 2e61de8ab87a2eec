"""Every output is a weighted mean of the values, so it stays in their convex hull.

Source: Boyd & Vandenberghe (2004), "Convex Optimization", sections 2.1.4 and 3.1.8.
"""

import numpy as np

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Numbers

exercise = Exercise(
    "attn_hull", title="Outputs are averages", source="Boyd & Vandenberghe (2004), section 2.1.4"
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


@exercise.part(points=1, answer=Derivation(bound_chain))
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


@exercise.part(points=0.5, answer=Choice("ABCD"))
def first_step():
    """Why is ‖Σ w_j V_j‖ ≤ Σ w_j ‖V_j‖?"""
    return "A"


@first_step.misconception()
def largest_norm_too_early():
    """The largest norm has not come in yet: on the right every value has its own norm."""
    return "B"


@first_step.misconception()
def inner_products():
    """No two vectors are multiplied with each other here."""
    return "C"


@first_step.misconception()
def orthogonal_values():
    """Nobody says that values are orthogonal, and then there would be squares."""
    return "D"


@exercise.part(points=0.5, answer=Choice("ABCD"))
def second_step():
    """Why is Σ w_j ‖V_j‖ ≤ max ‖V_j‖?"""
    return "B"


@second_step.misconception()
def triangle_again():
    """No vectors are added any more: both sides are numbers. How large is a mean at most?"""
    return "A"


@second_step.misconception()
def products_of_lengths():
    """No two vectors are multiplied with each other here."""
    return "C"


@second_step.misconception()
def orthogonality():
    """Nobody says that values are orthogonal, and it is not needed."""
    return "D"


corners = np.array([[0, 0], [4, 0], [0, 4]])


def coordinates(point):
    """The weights with sum 1 that lead from the three values to a point."""
    return np.linalg.solve(np.vstack([corners.T, np.ones(3)]), [*point, 1])


@exercise.part(points=0.5, answer=Numbers())
def weights_11():
    """Three numbers with sum 1 for which Σ w_j v_j is (1, 1)."""
    return coordinates((1, 1))


@weights_11.misconception()
def first_value_ignored():
    """Your numbers do not add up to 1. The value (0, 0) takes what is left."""
    return np.array([0, 0.25, 0.25])


@weights_11.misconception()
def an_even_mean():
    """That leads to the centre of the triangle, (4/3, 4/3)."""
    return np.full(3, 1 / 3)


@exercise.part(points=0.5, answer=Numbers())
def weights_33():
    """Three numbers with sum 1 for which Σ w_j v_j is (3, 3)."""
    return coordinates((3, 3))


@weights_33.misconception()
def sum_not_kept():
    """Your numbers do not add up to 1. That sum is a third equation beside the coordinates."""
    return np.array([0, 0.75, 0.75])


@weights_33.misconception()
def pressed_into_weights():
    """Those are weights, but they lead to another point: multiply them with the values."""
    return np.array([0, 0.5, 0.5])


@exercise.part(points=1, answer=Choice("ABCD"))
def reachable():
    """Which of (1, 1) and (3, 3) can be an output for the values (0, 0), (4, 0), (0, 4)?"""
    return "B"


@reachable.misconception()
def coordinate_bounds_only():
    """You looked at the coordinates one by one. They bound a square; the hull is smaller."""
    return "A"


@reachable.misconception()
def the_other_one():
    """Solve for the weights of both points: which solution is positive?"""
    return "C"


@reachable.misconception()
def neither():
    """An output need not be one of the values. Solve for the weights of both points."""
    return "D"
