"""Linformer: fewer keys and values, by a projection along the sequence.

Source: Wang et al. (2020), "Linformer: Self-attention with linear complexity", eq. 7.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, agree, grows
from reference.helpers import ATTENTION, attention, softmax

exercise = Exercise(
    "linformer",
    title="Linformer",
    source="Wang et al. (2020), eq. 7",
    minutes=35,
    hints=[
        "Where do the brackets go so that E and F meet keys and values before any query does? "
        "From then on nothing has the size m.",
        "Count a product by its entries and the terms in each. Which of the four products don't "
        "know how many queries there are?",
        "For `moved` follow the last value: into which rows of F V does it go, and who looks at "
        "those?",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens; r: keys that are left; d: the width of queries, keys and values."""
    return {
        "n": int(rng.choice([512, 1024, 2048, 4096])),
        "r": int(rng.choice([32, 96, 128, 256])),
        "d": int(rng.choice([48, 64, 80, 112])),
    }


@exercise.reference(without=ATTENTION)
def linformer(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "m d"],
    V: Float[ndarray, "m d_v"],
    E: Float[ndarray, "r m"],
    F: Float[ndarray, "r m"],
) -> Float[ndarray, "n d_v"]:
    """Return softmax(Q (E K)ᵀ / √d) (F V)."""
    return attention(Q, E @ K, F @ V)[0]


@exercise.alternative
def with_einsum(Q, K, V, E, F):
    """Name the indices: positions m, the keys that are left r."""
    keys, values = np.einsum("rm,md->rd", E, K), np.einsum("rm,mv->rv", F, V)
    scores = np.einsum("nd,rd->nr", Q, keys) / np.sqrt(Q.shape[1])
    return np.einsum("nr,rv->nv", softmax(scores), values)


@exercise.alternative
def scaled_queries(Q, K, V, E, F):
    """Divide the queries, which are smaller than the scores."""
    scores = Q / np.sqrt(Q.shape[-1]) @ np.dot(E, K).T
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return np.dot(weights, np.dot(F, V)) / np.sum(weights, axis=-1, keepdims=True)


@exercise.alternative
def in_single_precision(Q, K, V, E, F):
    """The same in float32."""
    return linformer(*(x.astype(np.float32) for x in (Q, K, V, E, F)))


def inputs(rng, n=5, m=7, d=4, d_v=3, r=2):
    """Arguments of five different sizes."""
    shapes = (n, d), (m, d), (m, d_v), (r, m), (r, m)
    return tuple(rng.standard_normal(shape) for shape in shapes)


@exercise.check(points=0.75, visible=True)
def matches_the_formula(call, rng):
    """Equals softmax(Q (E K)ᵀ / √d) (F V), here for one projection E = F."""
    Q, K, V, E, _ = inputs(rng)
    agree(call(Q, K, V, E, E), linformer(Q, K, V, E, E), rtol=1e-4)


@exercise.check(points=0.75)
def each_its_own_projection(call, rng):
    """E projects the keys and F the values."""
    args = inputs(rng)
    agree(call(*args), linformer(*args), rtol=1e-4)


@exercise.check(points=0.25)
def nothing_projected(call, rng):
    """With the identity for E and F it is ordinary attention."""
    Q, K, V, *_ = inputs(rng, m=6)
    agree(call(Q, K, V, np.eye(6), np.eye(6)), attention(Q, K, V)[0], rtol=1e-4)


@exercise.check(points=0.25)
def large_scores_stay_finite(call, rng):
    """Scores in the thousands overflow nowhere."""
    Q, K, V, E, _ = inputs(rng)
    agree(call(2000 * Q, K, V, E, E), linformer(2000 * Q, K, V, E, E), rtol=1e-4)


def shared(Q, K, V, E, F):
    """The same with one projection, which has a check of its own."""
    return Q, K, V, E, E


@exercise.check(points=1, after=matches_the_formula)
def work_is_linear(call, rng):
    """With r fixed, arithmetic and memory grow like n: no array has n × n entries."""
    grows(
        call,
        lambda n: shared(*inputs(rng, n, n, 32, 32, 16)),
        rows=lambda i, Q, K, V, E, F: linformer(Q[i], K, V, E, F),
        floor=lambda n: 8 * n * 16 * 32,
    )


@exercise.misconception
def scores_projected(Q, K, V, E, F):
    """You form all n × n scores and project those. Project the keys before they are compared."""
    scores = Q @ K.T @ E.T / np.sqrt(Q.shape[1])
    return softmax(scores) @ (F @ V)


@exercise.misconception
def weights_projected(Q, K, V, E, F):
    """You project the finished weights. The softmax has to run over the keys that are left."""
    return attention(Q, K, V)[1] @ E.T @ F @ V


@exercise.misconception
def one_projection_for_both(Q, K, V, E, F):
    """You project keys and values with the same matrix. Values have their own, F."""
    return linformer(Q, K, V, E, E)


@exercise.misconception
def roles_exchanged(Q, K, V, E, F):
    """E and F have changed places: E is for the keys."""
    return linformer(Q, K, V, F, E)


@exercise.misconception
def first_keys_kept(Q, K, V, E, F):
    """You kept the first r keys and values. All of them go into the projection."""
    r = len(E)
    return attention(Q, K[:r], V[:r])[0]


@exercise.misconception
def unscaled(Q, K, V, E, F):
    """The scores are not divided by √d."""
    return linformer(Q * np.sqrt(Q.shape[1]), K, V, E, F)


@exercise.misconception
def divided_by_d(Q, K, V, E, F):
    """You divide the scores by d. It is its root that their spread grows with."""
    return linformer(Q / np.sqrt(Q.shape[1]), K, V, E, F)


@exercise.misconception
def softmax_over_the_queries(Q, K, V, E, F):
    """Your columns sum to 1. A query's weights stand in a row: use the last axis."""
    return softmax(Q @ (E @ K).T / np.sqrt(Q.shape[1]), axis=0) @ (F @ V)


@exercise.misconception
def softmax_left_out(Q, K, V, E, F):
    """There is no softmax: scores are not weights, and their rows don't add up to 1."""
    return Q @ (E @ K).T / np.sqrt(Q.shape[1]) @ (F @ V)


@exercise.misconception(credit=0.4)
def scaled_by_the_keys_left(Q, K, V, E, F):
    """You divided by √r. A score is still a product of vectors of width d."""
    return linformer(Q * np.sqrt(Q.shape[1] / len(E)), K, V, E, F)


@exercise.misconception
def never_shifted(Q, K, V, E, F):
    """exp overflows for large scores: subtract the largest of each row first."""
    weights = np.exp(Q @ (E @ K).T / np.sqrt(Q.shape[1]))
    return weights / weights.sum(axis=1, keepdims=True) @ (F @ V)


@exercise.part(points=1, answer=Count())
def sizes(n, r):
    """Three numbers: score entries with r keys, with all keys, and parameters of E and F."""
    return [n * r, n * n, 2 * n * r]


@sizes.misconception()
def one_matrix_counted(n, r):
    """You counted the parameters of one projection. Keys and values have one each."""
    return [n * r, n * n, n * r]


@sizes.misconception()
def square_of_the_keys_left(n, r):
    """The queries are not projected, there are still n of them."""
    return [r * r, n * n, 2 * n * r]


@sizes.misconception()
def square_projections(n, r):
    """E takes n positions to r: it has r rows and n columns."""
    return [n * r, n * n, 2 * n * n]


@exercise.part(points=1, answer=Count())
def madds(n, r, d):
    """The madds of E K, F V, the scores and the weighted sums together; those of full attention."""
    return [4 * n * r * d, 2 * n * n * d]


@madds.misconception()
def projections_forgotten(n, r, d):
    """E K and F V cost something, too: r · n · d madds each."""
    return [2 * n * r * d, 2 * n * n * d]


@madds.misconception()
def one_projection(n, r, d):
    """Keys and values are both projected."""
    return [3 * n * r * d, 2 * n * n * d]


@madds.misconception()
def scores_alone(n, r, d):
    """That is one product each. The weighted sums cost as much as the scores."""
    return [3 * n * r * d, n * n * d]


@madds.misconception(credit=0.5)
def one_product_of_full_attention(n, r, d):
    """Full attention has two products as well: scores and weighted sums."""
    return [4 * n * r * d, n * n * d]


@madds.misconception()
def in_flops(n, r, d):
    """These are FLOPs; asked for are madds, of which each is two."""
    return [8 * n * r * d, 4 * n * n * d]


@exercise.part(points=1, answer=Count())
def moved():
    """How many of the five earlier outputs move if the last of six values is changed?"""
    return 5


moved.mistakes(
    none_of_them=(
        0,
        "That is so under a causal mask. Here every row of F V holds a share of the last value.",
    ),
    last_key_left=(
        3,
        "Each of the three rows of F V has changed, and every query gives all of them some weight.",
    ),
)
