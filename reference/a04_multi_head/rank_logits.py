"""Scores of low rank, weights of full rank.

Source: Bhojanapalli et al. (2020), "Low-rank bottleneck in multi-head attention models".
"""

import numpy as np

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import Choice, Count, Derivation, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "rank_logits",
    title="Low-rank scores, full-rank attention",
    source="Bhojanapalli et al. (2020), section 3",
    minutes=65,
    hints=[
        "x xᵀ is a table of products: every row is a multiple of one and the same row.",
        "The exponential is taken entry by entry, and that is no linear map: don't expect the"
        " rank to survive.",
        "For the determinant divide nothing too early: factors of a whole row may be taken "
        "out in front.",
    ],
)


@exercise.variant
def draw(rng):
    """x: three different whole numbers, at once queries and keys."""
    return {"x": np.sort(rng.choice([-3, -2, -1, 1, 2, 3], 3, replace=False))}


@exercise.part(points=1, answer=Numbers())
def A(x):
    """The weights softmax(x xᵀ), shape (3, 3); d_k = 1, so that nothing is divided."""
    return softmax(np.outer(x, x).astype(float))


@A.misconception()
def scaled_by_three(x):
    """You divided by √3. The width of these queries and keys is 1."""
    return softmax(np.outer(x, x) / np.sqrt(3))


@A.misconception()
def columns_add_up(x):
    """Your columns add up to 1. For each query the weights of the keys do."""
    return softmax(np.outer(x, x).astype(float)).T


@A.misconception()
def softmax_of_the_numbers(x):
    """You took the softmax of the keys alone: each query multiplies them first."""
    return np.tile(softmax(x.astype(float)), (3, 1))


@A.misconception()
def exponentials_alone(x):
    """These are the exponentials. Divide each row by its sum."""
    return np.exp(np.outer(x, x).astype(float))


@exercise.part(points=1, answer=Count())
def ranks(x):
    """The rank of the scores x xᵀ, and that of the weights."""
    return [1, 3]


@ranks.misconception()
def softmax_keeps_the_rank(x):
    """The softmax takes each entry's exponential: that is no linear map. Compute det A."""
    return [1, 1]


@ranks.misconception()
def both_full(x):
    """All rows of x xᵀ are multiples of one row."""
    return [3, 3]


@ranks.misconception()
def one_is_lost(x):
    """Rows that add up to 1 needn't be dependent. Compute det A."""
    return [1, 2]


@exercise.part(points=1.5, answer=Numbers())
def det(A):
    """The determinant of A."""
    return np.linalg.det(A)


@det.misconception()
def product_of_the_diagonal(A):
    """That is the product of the diagonal. A is no triangular matrix."""
    return np.prod(np.diag(A))


@det.misconception()
def of_the_exponentials(x):
    """That is the determinant of the exponentials, before each row is divided by its sum."""
    return np.linalg.det(np.exp(np.outer(x, x)))


@det.misconception()
def of_the_scores():
    """A determinant of 0 has whoever takes the scores, whose rows are multiples of one another."""
    return 0


@det.misconception()
def trace(A):
    """That is the trace."""
    return np.trace(A)


START = "(exp(a*u)/Y)*(exp(b*v)/Z) - (exp(a*v)/Y)*(exp(b*u)/Z)"


def differences_are_shown(line):
    """Does an exponential of the product of both differences stand beside a 1?"""
    products = [f"({one})*({two})" for one in ("a - b", "b - a") for two in ("u - v", "v - u")]
    exponentials = [f"exp({sign}{product})" for sign in ("", "-") for product in products]
    return line.shows(*(f"{e} - 1" for e in exponentials), *(f"1 - {e}" for e in exponentials))


chain = IndexedChain(
    start=START,
    target="exp(a*v + b*u)*(exp((a - b)*(u - v)) - 1)/(Y*Z)",
    names=("a", "b", "u", "v", "Y", "Z"),
    positive=("Y", "Z"),
    indices=("i",),
    size="N",
    min_lines=3,
    ends=Waypoint(
        "End with one product, of which a factor holds (a − b)(u − v).", differences_are_shown
    ),
)


OTHER_STEPS = (
    "exp(a*u)*exp(a*v)*exp(b*u)*exp(b*v)",
    "exp(a*u + a*v + b*u + b*v)",
    "exp(a*(u + v) + b*(u + v))",
    "exp((a + b)*(u + v))",
)


@exercise.part(points=2, answer=Derivation(chain, practice=OTHER_STEPS))
def steps():
    """The determinant of the weights of two queries a, b and two keys u, v, as one product."""
    return [
        START,
        "(exp(a*u)*exp(b*v) - exp(a*v)*exp(b*u))/(Y*Z)",
        "(exp(a*u + b*v) - exp(a*v + b*u))/(Y*Z)",
        "exp(a*v + b*u)*(exp(a*u + b*v - a*v - b*u) - 1)/(Y*Z)",
        "exp(a*v + b*u)*(exp((a - b)*(u - v)) - 1)/(Y*Z)",
    ]


@steps.alternative
def factor_taken_out_at_once():
    """Take the second product out, and sort the exponent afterwards."""
    return [
        START,
        "(exp(a*u + b*v) - exp(a*v + b*u))/(Y*Z)",
        "exp(a*v + b*u)/(Y*Z)*(exp(a*(u - v) - b*(u - v)) - 1)",
        "exp(a*v + b*u)/(Y*Z)*(exp((a - b)*(u - v)) - 1)",
    ]


@steps.alternative
def exponents_first():
    """Join the exponentials of each term, keep both terms for a while."""
    return [
        START,
        "exp(a*u)*exp(b*v)/(Y*Z) - exp(a*v)*exp(b*u)/(Y*Z)",
        "exp(a*u + b*v)/(Y*Z) - exp(a*v + b*u)/(Y*Z)",
        "exp(a*v + b*u)*(exp(a*u + b*v - a*v - b*u) - 1)/(Y*Z)",
        "exp(a*v + b*u)*(exp((a - b)*(u - v)) - 1)/(Y*Z)",
    ]


@steps.alternative
def in_latex():
    """Fractions and powers in LaTeX."""
    return [
        r"= \frac{e^{a u} e^{b v} - e^{a v} e^{b u}}{Y Z}",
        r"= \frac{e^{a u + b v} - e^{a v + b u}}{Y Z}",
        r"= \frac{e^{a v + b u} (e^{a u + b v - a v - b u} - 1)}{Y Z}",
        r"= \frac{e^{a v + b u} (e^{(a - b)(u - v)} - 1)}{Y Z}",
    ]


@exercise.part(
    points=1,
    answer=Choice(
        [
            "The scores have rank 1, and an exponential taken entry by entry keeps the rank.",
            "All $e^{q_i k_j}$ are positive, so the determinant of such a table is positive.",
            "$e^{-k_1 t} f(t)$ has the same zeros, and a derivative with one term less. Between "
            "two zeros lies one of the derivative, so term by term $f$ has at most $n - 1$.",
            "$e^{-k_1 t} f(t)$ has a derivative with one term less. Between two zeros of the "
            "derivative lies one of $f$, so $f$ has at least $n - 1$.",
            "$f$ is a sum of positive numbers, so it has no zero at all.",
        ]
    ),
)
def few_zeros():
    """Why can f, which is not 0 everywhere, not vanish at n different queries?"""
    return "C"


few_zeros.mistakes(
    rank_passes_through=(
        "A",
        "An exponential of each entry is no linear map. Which ranks did you find yourself?",
    ),
    positive_entries_suffice=(
        "B",
        "All entries of a matrix of ones are positive, and its determinant is 0.",
    ),
    derivative_read_backwards=(
        "D",
        "Rolle's theorem leads from zeros of a function to those of its derivative, not back.",
    ),
    all_signs_positive=(
        "E",
        "The exponentials are positive. The factors c_j in front of them need not be.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The weights have at most rank $d_k$.",
            "The scores have at most rank $\\min(n, m, d_k)$; the weights can have rank "
            "$\\min(n, m)$.",
            "Where the scores have rank 0, the weights have rank 0.",
            "The weights always have rank $\\min(n, m)$.",
        ]
    ),
)
def statement(ranks):
    """Which statement is right?"""
    return "A" if ranks[1] == 1 else "B"


statement.mistakes(
    weights_bounded_too=("A", "You have just seen weights of rank 3 with d_k = 1."),
    softmax_never_lowers=("C", "Scores that are all 0 have rank 0. And their weights?"),
    always_full=("D", "Equal queries have equal rows of weights."),
)
