"""Rows and columns of the softmax Jacobian add up to 0, each for a reason of its own.

Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. 4.106.
"""

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise

exercise = Exercise(
    "jacobian_sums",
    title="Why rows and columns add to zero",
    source="Bishop (2006), eq. 4.106",
)


def sum_is_gathered(line):
    """Do probabilities stand there as a sum, which is 1 or 1 − p₁, or what one of them lacks?"""
    sums = ("p2 + p3", "1 - p1 - p2", "1 - p1 - p3", "exp(z2) + exp(z3)", "exp(z2)/Z + exp(z3)/Z")
    return line.contains(*sums, *(f"-({form})" for form in sums))


chain = Chain(
    start="p1*(1 - p1) + p1*(0 - p2) + p1*(0 - p3)",
    target="0",
    names=("z1", "z2", "z3", "Z", "p1", "p2", "p3"),
    definitions={
        "Z": "exp(z1) + exp(z2) + exp(z3)",
        "p1": "exp(z1)/Z",
        "p2": "exp(z2)/Z",
        "p3": "exp(z3)/Z",
    },
    final_names=(),
    waypoints=(
        Waypoint("Show the sum of probabilities of which you know the value.", sum_is_gathered),
    ),
)


@exercise.part(points=2, answer=Derivation(chain))
def row_steps():
    """The first row of J added up, down to 0, one equality a line."""
    return [
        "p1*(1 - p1) + p1*(0 - p2) + p1*(0 - p3)",
        "p1 - p1*(p1 + p2 + p3)",
        "0",
    ]


@row_steps.alternative
def diagonal_replaced():
    """Use 1 − p₁ = p₂ + p₃ first."""
    return ["p1*(p2 + p3) - p1*p2 - p1*p3", "p1*p2 + p1*p3 - p1*p2 - p1*p3", "0"]


@row_steps.alternative
def bracket_taken_out():
    """Take p₁ out of everything."""
    return [
        "p1*(1 - p1) - p1*p2 - p1*p3",
        "p1*(1 - p1 - p2 - p3)",
        "p1*(1 - (p1 + p2 + p3))",
        "p1*(1 - 1)",
    ]


@row_steps.alternative
def others_gathered():
    """Compare 1 − p₁ with the sum of the others."""
    return [
        "p1*((1 - p1) - (p2 + p3))",
        "p1*(1 - p1 - (1 - p1))",
        "p1*0",
    ]


@exercise.part(points=1, answer=Choice("ABCD"))
def columns():
    """What makes the entries of a column, ∂p_i/∂z_j over all i, add up to 0?"""
    return "A"


@columns.misconception()
def shift_moves_all_logits():
    """In a column a single logit moves. A shift would move them all."""
    return "B"


@columns.misconception()
def sign_says_nothing_of_columns():
    """That holds for many maps whose columns do not add up to 0: exp, entry by entry, is one."""
    return "C"


@columns.misconception()
def order_says_nothing_of_columns():
    """Keeping the order is no equation, and can't make a sum vanish."""
    return "D"


@exercise.part(points=1, answer=Choice("ABCD"))
def rows():
    """What makes the entries of a row, ∂p_i/∂z_j over all j, add up to 0?"""
    return "B"


@rows.misconception()
def reason_of_the_columns():
    """Often said, but adding up probabilities adds over i. A row has one i and all logits j."""
    return "A"


@rows.misconception()
def sign_says_nothing_of_rows():
    """That holds for many maps whose rows do not add up to 0: exp, entry by entry, is one."""
    return "C"


@rows.misconception()
def order_says_nothing_of_rows():
    """Keeping the order is no equation, and can't make a sum vanish."""
    return "D"
