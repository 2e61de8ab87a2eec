"""Counting one encoder block.

Source: Vaswani et al. (2017), sections 3.1 to 3.3.
"""

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "block_params",
    title="Three million weights",
    source="Vaswani et al. (2017), 3.1 to 3.3",
    minutes=15,
    hints=[
        "Four matrices with their biases for attention, two for the feed-forward layer; and the "
        "norms learn as well.",
        "A bias is as long as the output of its map, a norm has two numbers for each feature.",
    ],
)

d, f = 512, 2048
ATTENTION, FEED_FORWARD, NORM = 4 * (d * d + d), 2 * d * f + f + d, 2 * d


@exercise.part(points=1.5, answer=Count())
def groups():
    """Attention, feed-forward layer, and both norms: three whole numbers."""
    return [ATTENTION, FEED_FORWARD, 2 * NORM]


groups.mistakes(
    one_norm=(
        [ATTENTION, FEED_FORWARD, NORM],
        "Two norms, and each has two vectors of parameters: a scale and a shift.",
        0.6,
    ),
    no_parameters_in_norms=(
        [ATTENTION, FEED_FORWARD, 0],
        "A norm has parameters: a scale and a shift for each feature.",
        0.6,
    ),
    three_maps_of_attention=(
        [3 * (d * d + d), FEED_FORWARD, 2 * NORM],
        "You counted queries, keys and values. The output of attention has a map as well.",
        0.6,
    ),
    attention_without_biases=(
        [4 * d * d, FEED_FORWARD, 2 * NORM],
        "Here the four maps of attention have biases, too.",
        0.6,
    ),
    heads_multiplied=(
        [8 * ATTENTION, FEED_FORWARD, 2 * NORM],
        "You counted the attention layer once per head. The heads share the width.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def total(groups):
    """All parameters of the block."""
    return int(sum(groups))


@total.misconception()
def without_norms(groups):
    """The norms are missing."""
    return int(groups[0] + groups[1])


@total.misconception()
def with_one_norm(groups):
    """There are two norms, one after each sum."""
    return int(groups[0] + groups[1] + NORM)


@total.misconception()
def without_feed_forward(groups):
    """The feed-forward layer is part of the block."""
    return int(groups[0] + groups[2])


@total.misconception()
def without_attention(groups):
    """Attention is part of the block."""
    return int(groups[1] + groups[2])


@exercise.part(points=0.5, answer=Numbers(tolerance=1e-4))  # 2/3 is another share
def share(groups, total):
    """The share of the feed-forward layer in all of them."""
    return groups[1] / total


@share.misconception()
def against_attention(groups):
    """You divided by the attention layer. The whole block is asked for."""
    return groups[1] / groups[0]


@share.misconception()
def share_of_attention(groups, total):
    """That is the share of the attention layer."""
    return groups[0] / total


@share.misconception()
def share_of_the_rest(groups, total):
    """That is the share of all the rest."""
    return 1 - groups[1] / total


@share.misconception()
def share_of_the_matrices():
    """Biases and norms count in all of them, and the norms stand beside the feed-forward layer."""
    return 2 / 3


@exercise.part(points=0.5, answer=Count())
def bare():
    """All weights without biases and norms."""
    return 4 * d * d + 2 * d * f


bare.mistakes(
    norms_alone_left_out=(ATTENTION + FEED_FORWARD, "The biases are still in it."),
    output_matrix_forgotten=(
        3 * d * d + 2 * d * f,
        "You counted queries, keys and values. The output of attention has a matrix as well.",
    ),
    biases_alone_left_out=(4 * d * d + 2 * d * f + 2 * NORM, "The norms are still in it."),
    one_matrix_of_two=(4 * d * d + d * f, "The feed-forward layer has two matrices."),
)
