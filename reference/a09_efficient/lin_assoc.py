"""Linear attention is ordinary attention with the brackets moved.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", eq. 4 to 6.
"""

import numpy as np

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import Choice, Count, Derivation, Exercise, Formula

exercise = Exercise(
    "lin_assoc",
    title="Where the brackets go",
    source="Katharopoulos et al. (2020), eq. 4 to 6",
    minutes=50,
    pool=16,
    hints=[
        "Which factors know the index j? Those that don't may leave the sum over j, as soon as "
        "it is the inner one.",
        "Write the shapes of all four products down before you count: a product of a × b with b "
        "× c takes a · b · c madds.",
        "For the letter put the equal sizes into both counts, and try a short text with long "
        "vectors, then a long text with short ones.",
    ],
)


@exercise.variant
def draw(rng):
    """n queries, m keys, D features, d_v columns of the values."""
    return {
        "n": int(rng.choice([600, 800, 1000, 1200, 1500])),
        "m": int(rng.choice([500, 700, 900, 1000, 2000])),
        "D": int(rng.choice([32, 64, 128])),
        "d_v": int(rng.choice([16, 48, 64, 96])),
    }


chain = IndexedChain(
    start="sum(sum(q_a*k_ja, a, 1, r)*v_j, j)/sum(sum(q_a*k_ja, a, 1, r), j)",
    target="sum(q_a*S_a, a, 1, r)/sum(q_a*z_a, a, 1, r)",
    indexed=("q", "k", "v", "S", "z"),
    indices=("a", "b", "i", "j"),
    sizes=("r",),
    definitions={"S_a": "sum(k_ja*v_j, j)", "z_a": "sum(k_ja, j)"},
    rules=("linearity of sums", "order of sums", "definition"),
)


@exercise.part(points=2, answer=Derivation(chain))
def row_steps():
    """One row of the output, from sums over keys of products to a product of sums over keys."""
    return [
        "sum(sum(q_a*k_ja, a, 1, r)*v_j, j)/sum(sum(q_a*k_ja, a, 1, r), j)",
        "sum(sum(q_a*k_ja*v_j, a, 1, r), j)/sum(sum(q_a*k_ja, a, 1, r), j)",
        "sum(sum(q_a*k_ja*v_j, j), a, 1, r)/sum(sum(q_a*k_ja, j), a, 1, r)",
        "sum(q_a*sum(k_ja*v_j, j), a, 1, r)/sum(q_a*sum(k_ja, j), a, 1, r)",
        "sum(q_a*S_a, a, 1, r)/sum(q_a*z_a, a, 1, r)",
    ]


@row_steps.alternative
def numerator_before_denominator():
    """Treat the two sums one after the other."""
    return [
        "sum(sum(q_a*k_ja*v_j, a, 1, r), j)/sum(sum(q_a*k_ja, a, 1, r), j)",
        "sum(sum(q_a*k_ja*v_j, j), a, 1, r)/sum(sum(q_a*k_ja, a, 1, r), j)",
        "sum(q_a*sum(k_ja*v_j, j), a, 1, r)/sum(sum(q_a*k_ja, a, 1, r), j)",
        "sum(q_a*S_a, a, 1, r)/sum(sum(q_a*k_ja, a, 1, r), j)",
        "sum(q_a*S_a, a, 1, r)/sum(sum(q_a*k_ja, j), a, 1, r)",
        "sum(q_a*S_a, a, 1, r)/sum(q_a*sum(k_ja, j), a, 1, r)",
        "sum(q_a*S_a, a, 1, r)/sum(q_a*z_a, a, 1, r)",
    ]


@row_steps.alternative
def row_in_latex():
    """Fractions and sums in LaTeX, the denominator first."""
    return [
        r"\frac{\sum_j \sum_{a=1}^r q_a k_{ja} v_j}{\sum_{a=1}^r q_a \sum_j k_{ja}}",
        r"= \frac{\sum_j \sum_{a=1}^r q_a k_{ja} v_j}{\sum_{a=1}^r q_a z_a}",
        r"= \frac{\sum_{a=1}^r \sum_j q_a k_{ja} v_j}{\sum_{a=1}^r q_a z_a}",
        r"= \frac{\sum_{a=1}^r q_a \sum_j k_{ja} v_j}{\sum_{a=1}^r q_a z_a}",
        r"= \frac{\sum_{a=1}^r q_a S_a}{\sum_{a=1}^r q_a z_a}",
    ]


@row_steps.alternative
def sums_change_places_with_rules():
    """Name the rule of each line, and exchange both pairs of sums at once."""
    return [
        "= sum(sum(q_a*k_ja*v_j, a, 1, r), j)/sum(sum(q_a*k_ja, a, 1, r), j)  # linearity of sums",
        "= sum(sum(q_a*k_ja*v_j, j), a, 1, r)/sum(sum(q_a*k_ja, j), a, 1, r)  # order of sums",
        "= sum(q_a*sum(k_ja*v_j, j), a, 1, r)/sum(q_a*sum(k_ja, j), a, 1, r)  # linearity of sums",
        "= sum(q_a*S_a, a, 1, r)/sum(q_a*z_a, a, 1, r)  # definition",
    ]


chunks = IndexedChain(
    start="Q*K^T*V",
    target="Q*S_1 + Q*S_2",
    matrices=("Q", "K", "V", "K_1", "K_2", "V_1", "V_2", "S_1", "S_2"),
    definitions={
        "K": "[K_1; K_2]",
        "V": "[V_1; V_2]",
        "S_1": "K_1^T*V_1",
        "S_2": "K_2^T*V_2",
    },
    rules=("definition", "product of blocks"),
    ends=Waypoint("End with one term for each chunk.", lambda line: line.expr.is_Add),
)


@exercise.part(points=1, answer=Derivation(chunks))
def chunk_steps():
    """Keys that come in two chunks: the numerator as a sum, with block matrices."""
    return [
        "Q*[K_1; K_2]^T*[V_1; V_2]  # definition",
        "Q*[K_1^T, K_2^T]*[V_1; V_2]",
        "Q*(K_1^T*V_1 + K_2^T*V_2)  # product of blocks",
        "Q*(S_1 + S_2)  # definition",
        "Q*S_1 + Q*S_2",
    ]


@chunk_steps.alternative
def query_first():
    """Multiply the queries with the keys first, and out at once."""
    return [
        "Q*[K_1; K_2]^T*[V_1; V_2]",
        "[Q*K_1^T, Q*K_2^T]*[V_1; V_2]",
        "Q*K_1^T*V_1 + Q*K_2^T*V_2",
        "Q*S_1 + Q*S_2",
    ]


@chunk_steps.alternative
def in_latex():
    """Blocks between brackets."""
    return [
        r"Q \begin{pmatrix} K_1 \\ K_2 \end{pmatrix}^\top \begin{pmatrix} V_1 \\ V_2 \end{pmatrix}",
        r"= Q (K_1^\top V_1 + K_2^\top V_2)",
        "= Q S_1 + Q S_2",
    ]


@chunk_steps.alternative
def values_first():
    """Put in the values first, and multiply the blocks of the keys with them."""
    return [
        "= Q*K^T*[V_1; V_2]",
        "= Q*[K_1; K_2]^T*[V_1; V_2]",
        "= Q*[K_1^T, K_2^T]*[V_1; V_2]",
        "= Q*(K_1^T*V_1 + K_2^T*V_2)",
        "= Q*K_1^T*V_1 + Q*K_2^T*V_2",
        "= Q*S_1 + Q*S_2",
    ]


@exercise.part(
    points=1,
    answer=Formula(
        "n m D d_v",
        practice=(
            "Madds of (A B) C for A (n × D), B (D × d_v) and C (d_v × m).",
            "n*D*d_v + n*d_v*m",
        ),
    ),
)
def weights_first():
    """Madds of (φ(Q) φ(K)ᵀ) V, as a formula."""
    return "n*m*(D + d_v)"


@weights_first.alternative
def one_product_after_the_other():
    """Add the two products."""
    return "n*m*D + n*m*d_v"


weights_first.mistakes(
    widths_multiplied=(
        "n*m*D*d_v",
        "You multiplied the costs of the two products. They are done one after the other: add.",
    ),
    as_many_keys_as_queries=(
        "n^2*(D + d_v)",
        "You took as many keys as queries. There are m of them.",
    ),
    weights_alone=(
        "n*m*D",
        "That is the product of the features. The weights still have to meet the values.",
    ),
    values_alone=(
        "n*m*d_v",
        "That is the product with the values. The weights have to be computed before.",
    ),
    flops_of_weights_first=(
        "2*n*m*(D + d_v)",
        "These are FLOPs; asked for are madds, of which each is two.",
    ),
)


@exercise.part(
    points=1,
    answer=Formula(
        "n m D d_v", practice=("Madds of φ(Q) (φ(K)ᵀ φ(K)), as a formula.", "D^2*(n + m)")
    ),
)
def keys_first():
    """Madds of φ(Q) (φ(K)ᵀ V), as a formula."""
    return "D*d_v*(m + n)"


@keys_first.alternative
def two_products():
    """Add the two products."""
    return "m*D*d_v + n*D*d_v"


keys_first.mistakes(
    state_alone=(
        "m*D*d_v",
        "That is the product of keys and values. The queries still have to meet it.",
    ),
    queries_alone=(
        "n*D*d_v",
        "That is the product with the queries. Keys and values have to be multiplied before.",
    ),
    one_column_of_the_state=(
        "m*D*d_v + n*D",
        "The queries meet a matrix. Each of its columns takes a product with every query.",
        0.5,
    ),
    keys_met_again=(
        "m*D*d_v + n*m*d_v",
        "In the second product the queries meet what the first one left, and no key any more.",
    ),
    linear_in_the_width=(
        "D*(m + n)",
        "Each key meets each column of the values with each of its features: both widths count.",
    ),
    still_all_pairs=(
        "n*m*D*d_v",
        "No query meets a key any more, so nowhere is n multiplied with m.",
    ),
)


@exercise.part(points=1, answer=Count())
def counts(weights_first, keys_first, n, m, D, d_v):
    """Both numbers of madds for your sizes."""
    return np.array([cost(n=n, m=m, D=D, d_v=d_v) for cost in (weights_first, keys_first)])


@counts.misconception()
def counts_of_one_product(n, m, D, d_v):
    """You counted the first product of each. There are two."""
    return np.array([n * m * D, m * D * d_v])


@counts.misconception()
def weights_without_values(n, m, D, d_v):
    """In the first order the weights still have to meet the values."""
    return np.array([n * m * D, D * d_v * (n + m)])


@counts.misconception()
def width_not_squared(n, m, D, d_v):
    """In the second order both widths count, D features by d_v columns."""
    return np.array([n * m * (D + d_v), (D + d_v) * (n + m)])


@counts.misconception()
def counts_in_flops(n, m, D, d_v):
    """These are FLOPs; asked for are madds, of which each is two."""
    return 2 * np.array([n * m * (D + d_v), D * d_v * (n + m)])


@counts.misconception()
def counts_exchanged(n, m, D, d_v):
    """The two are in the other order: weights first."""
    return np.array([D * d_v * (n + m), n * m * (D + d_v)])


@exercise.part(
    points=1,
    answer=Choice(
        [
            "$O(n d)$; always cheaper.",
            "$O(n d^2)$; always cheaper.",
            "$O(n d^2)$; cheaper for $n < d$.",
            "$O(n d^2)$; cheaper for $n > d$.",
            "$O(n^2 d)$; equally expensive.",
        ]
    ),
)
def pays_off():
    """The class of the second order for n = m and D = d_v = d, and when it is the cheaper one."""
    return "D"


pays_off.mistakes(
    width_forgotten=(
        "A",
        "Often written, but a factor is missing: what size has the product of keys and values?",
    ),
    always_cheaper=(
        "B",
        "The class is right. For two tokens and a thousand features, which order is cheaper?",
    ),
    pays_off_for_wide=(
        "C",
        "The class is right. Put the two costs beside each other and divide by 2 n d.",
    ),
    quadratic_still=("E", "That is the class of the first order."),
)
