"""Rows and columns of the softmax Jacobian add up to 0, each for a reason of its own.

Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. 4.106.
"""

from autograder.algebra import Chain, Fact, IndexedChain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise

exercise = Exercise(
    "jacobian_sums",
    title="Why rows and columns add to zero",
    source="Bishop (2006), eq. 4.106",
    minutes=20,
    hints=[
        "Write the entries of the row next to each other before you add: each of them has p₁ "
        "as a factor.",
        "Which sum do you know without any calculation? Try to make it appear.",
        "For rows and columns ask what is varied: all logits by the same amount, or a single "
        "one while all probabilities are watched.",
    ],
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


OTHER_ROW_STEPS = (
    "(1 - p1)*(1 - p2) - p3",
    "1 - p1 - p2 + p1*p2 - p3",
    "1 - (p1 + p2 + p3) + p1*p2",
    "p1*p2",
)


@exercise.part(points=1, answer=Derivation(chain, practice=OTHER_ROW_STEPS))
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
        "0",
    ]


@row_steps.alternative
def others_gathered():
    """Compare 1 − p₁ with the sum of the others."""
    return [
        "p1*((1 - p1) - (p2 + p3))",
        "p1*(1 - p1 - (1 - p1))",
        "p1*0",
        "0",
    ]


general_chain = IndexedChain(
    start="sum(p_i*(delta(i,j) - p_j), j)",
    target="0",
    indexed=("z", "p"),
    definitions={"p_i": "exp(z_i)/sum(exp(z_k), k)"},
    rules=(
        "linearity of sums",
        "delta contraction",
        Fact("weights sum to one", "sum(p_k, k)", "1"),
    ),
    reasons=True,
)


OTHER_GENERAL = (
    "sum(p_i*(z_i + 1), i)",
    "sum(p_i*z_i, i) + sum(p_i, i)",
    "sum(p_i*z_i, i) + 1",
)


@exercise.part(points=2, answer=Derivation(general_chain, practice=OTHER_GENERAL))
def general():
    """Any row of J for n logits added up, down to 0, with the reason of each step."""
    return [
        "p_i*(sum(delta(i,j), j) - sum(p_j, j))  # linearity of sums",
        "p_i*(1 - sum(p_j, j))  # delta contraction",
        "p_i*(1 - 1)  # weights sum to one",
        "0  # algebra",
    ]


@general.alternative
def two_sums():
    """Multiply out before the sum is split."""
    return [
        "sum(p_i*delta(i,j) - p_i*p_j, j)  # algebra",
        "sum(p_i*delta(i,j), j) - sum(p_i*p_j, j)  # linearity of sums",
        "p_i - sum(p_i*p_j, j)  # delta contraction",
        "p_i - p_i*sum(p_j, j)  # linearity of sums",
        "p_i - p_i  # weights sum to one",
        "0",
    ]


@general.alternative
def weights_before_the_delta():
    """Use that the weights add up to 1 first."""
    return [
        "p_i*sum(delta(i,j) - p_j, j)  # linearity of sums",
        "p_i*(sum(delta(i,j), j) - sum(p_j, j))  # linearity of sums",
        "p_i*(sum(delta(i,j), j) - 1)  # weights sum to one",
        "p_i*(1 - 1)  # delta contraction",
        "0  # algebra",
    ]


@general.alternative
def general_in_latex():
    """Write the sums with their sign."""
    return [
        r"\sum_{j=1}^n p_i \delta_{ij} - \sum_{j=1}^n p_i p_j  # linearity of sums",
        r"p_i - \sum_{j=1}^n p_i p_j  # delta contraction",
        r"p_i - p_i \sum_{j=1}^n p_j  # linearity of sums",
        r"p_i - p_i \cdot 1  # weights sum to one",
        "0",
    ]


facts = Choice(
    [
        "The outputs add up to 1, whatever the logits are.",
        "The outputs do not change when the same number is added to all logits.",
        "The outputs are positive.",
        "The outputs are in the same order as the logits.",
    ]
)


@exercise.part(points=0.5, answer=facts)
def columns():
    """What makes the entries of a column, ∂p_i/∂z_j over all i, add up to 0?"""
    return "A"


columns.mistakes(
    shift_moves_all_logits=("B", "In a column a single logit moves. A shift would move them all."),
    sign_says_nothing_of_columns=(
        "C",
        "That holds for many maps whose columns do not add up to 0: exp, entry by entry, is one.",
    ),
    order_says_nothing_of_columns=(
        "D",
        "Keeping the order is no equation, and can't make a sum vanish.",
    ),
)


@exercise.part(points=0.5, answer=facts)
def rows():
    """What makes the entries of a row, ∂p_i/∂z_j over all j, add up to 0?"""
    return "B"


rows.mistakes(
    reason_of_the_columns=(
        "A",
        "Often said, but adding up probabilities adds over i. A row has one i and all logits j.",
    ),
    sign_says_nothing_of_rows=(
        "C",
        "That holds for many maps whose rows do not add up to 0: exp, entry by entry, is one.",
    ),
    order_says_nothing_of_rows=(
        "D",
        "Keeping the order is no equation, and can't make a sum vanish.",
    ),
)
