"""The shapes of scores, weights and outputs.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
"""

import numpy as np

from autograder.exercise import Exercise, Shape

exercise = Exercise(
    "sdpa_shapes",
    title="Shapes only",
    source="Vaswani et al. (2017), section 3.2.1",
    minutes=15,
    hints=[
        "In Q Kᵀ the width is summed over and disappears; the number of queries and the "
        "number of keys stay.",
        "The weights have a column for each key, and the output has for each query one vector"
        " as wide as a value. Axes in front stay as they are.",
    ],
)


@exercise.variant
def draw(rng):
    """All sizes differ: B examples, h heads, n queries, m keys, d_k and d_v columns."""
    B, h, n, m, d_k, d_v = (int(size) for size in rng.permutation(np.arange(2, 13))[:6])
    return {"B": B, "h": h, "n": n, "m": m, "d_k": d_k, "d_v": d_v}


@exercise.part(points=1, answer=Shape())
def single(n, d_v):
    """The output for one example: Q (n, d_k), K (m, d_k), V (m, d_v)."""
    return (n, d_v)


@single.misconception()
def rows_of_the_keys(m, d_v):
    """There is an output for each query, not for each key."""
    return (m, d_v)


@single.misconception()
def shape_of_the_weights(n, m):
    """That is the shape of the weights: they have a column for each key."""
    return (n, m)


@single.misconception()
def width_of_the_keys(n, d_k):
    """An output is an average of values, so it has their width."""
    return (n, d_k)


@exercise.part(points=1, answer=Shape())
def batch(single, B):
    """The output for a batch: Q (B, n, d_k), K (B, m, d_k), V (B, m, d_v)."""
    return (B, *single)


@batch.misconception()
def batch_forgotten(n, d_v):
    """Every example has an output of its own."""
    return (n, d_v)


@batch.misconception()
def scores_of_the_batch(B, n, m):
    """That is the shape of the scores: they have a column for each key."""
    return (B, n, m)


@batch.misconception()
def batch_of_the_keys(B, m, d_v):
    """There is an output for each query, not for each key."""
    return (B, m, d_v)


@batch.misconception()
def batch_as_wide_as_keys(B, n, d_k):
    """An output is an average of values, so it has their width."""
    return (B, n, d_k)


@exercise.part(points=1, answer=Shape())
def weights(B, h, n, m):
    """The weights with heads: Q (B, h, n, d_k), K (B, h, m, d_k)."""
    return (B, h, n, m)


@weights.misconception()
def keys_as_rows(B, h, n, m):
    """Rows are queries, columns are keys."""
    return (B, h, m, n)


@weights.misconception()
def heads_added_up(B, n, m):
    """Every head has weights of its own."""
    return (B, n, m)


@weights.misconception()
def heads_as_examples(B, h, n, m):
    """You joined the axes of examples and heads. Each stays an axis of its own."""
    return (B * h, n, m)


@weights.misconception()
def one_square(B, h, n):
    """Queries and keys may differ in number: there is a column for each key."""
    return (B, h, n, n)


@exercise.part(points=1, answer=Shape())
def out(single, B, h):
    """The output with heads: Q (B, h, n, d_k), K (B, h, m, d_k), V (B, h, m, d_v)."""
    return (B, h, *single)


@out.misconception()
def last_axis_of_the_keys(B, h, n, d_k):
    """An output is an average of values, so it has their width."""
    return (B, h, n, d_k)


@out.misconception()
def one_output_per_key(B, h, m, d_v):
    """There is an output for each query, not for each key."""
    return (B, h, m, d_v)


@out.misconception()
def heads_joined(B, h, n, d_v):
    """Heads are joined later, in the next notebook. Here each is an axis of its own."""
    return (B, n, h * d_v)
