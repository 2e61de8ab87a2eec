"""Scores of low rank, weights of full rank.

Source: Bhojanapalli et al. (2020), "Low-rank bottleneck in multi-head attention models".
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers, Ordering
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


proof = Ordering(
    [
        "We show first that $f(t) = c_1 e^{k_1 t} + \\dots + c_n e^{k_n t}$, where the $k_j$ are "
        "different and not all $c_j$ are 0, has at most $n - 1$ zeros. For $n = 1$ it has none.",
        "Let it be known for fewer than $n$ terms. If a $c_j$ is 0, there are fewer. Else look at "
        "$g(t) = e^{-k_1 t} f(t)$, which has the same zeros.",
        "Its derivative $g'$ has $n - 1$ terms, with the different exponents $k_j - k_1$ for $j > "
        "1$: at most $n - 2$ zeros.",
        "Between two neighbouring zeros of $g$ lies one of $g'$. So $g$, and with it $f$, has at "
        "most $n - 1$ zeros.",
        "Now let $E_{ij} = e^{q_i k_j}$ and $E c = 0$. Then $f$ has the $n$ different zeros $q_1, "
        "\\dots, q_n$, and so $c = 0$.",
        "So the columns of $E$ are independent: $E$ has the rank $n$.",
        "Softmax divides each row of $E$ by its sum, a positive number. So the weights have the "
        "rank $n$ as well.",
    ],
    distractors={
        "rank_passes_through": (
            "The scores have rank 1, and an exponential taken entry by entry keeps the rank.",
            "An exponential of each entry is no linear map. Which ranks did you find yourself?",
        ),
        "positive_entries_suffice": (
            "All entries of $E$ are positive, so its determinant is positive.",
            "All entries of a matrix of ones are positive, and its determinant is 0.",
        ),
        "derivative_read_backwards": (
            "Between two neighbouring zeros of $g'$ lies one of $g$, so $g$ has at least as many.",
            "Rolle's theorem leads from zeros of a function to those of its derivative, not back.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """x: three different whole numbers, at once queries and keys; the steps by their letters."""
    x = np.sort(rng.choice([-3, -2, -1, 1, 2, 3], 3, replace=False))
    return {"x": x, "steps": proof.shuffled(rng)}


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
def trace(A):
    """That is the trace."""
    return np.trace(A)


@exercise.part(points=3, answer=proof)
def order(steps):
    """For different queries and different keys of width 1: a proof that the rank is full."""
    return proof.order(steps)


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
def statement():
    """Which statement is right?"""
    return "B"


@statement.misconception()
def weights_bounded_too():
    """You have just seen weights of rank 3 with d_k = 1."""
    return "A"


@statement.misconception()
def softmax_never_lowers():
    """Scores that are all 0 have rank 0. And their weights?"""
    return "C"


@statement.misconception()
def always_full():
    """Equal queries have equal rows of weights."""
    return "D"
