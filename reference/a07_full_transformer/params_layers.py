"""The weights of encoder and decoder layers, matrices alone.

Source: Vaswani et al. (2017), "Attention is all you need", section 3 and table 3.
"""

from fractions import Fraction

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "params_layers",
    title="Counting without biases",
    source="Vaswani et al. (2017), section 3 and table 3",
    minutes=40,
    hints=[
        "An attention sublayer has four square matrices, whatever the number of heads.",
        "A decoder layer has one attention sublayer more than an encoder layer.",
        "For f = 4d the feed-forward layer has twice 4d² entries.",
    ],
)


@exercise.variant
def draw(rng):
    """L: layers of the encoder, and of the decoder; d: width; h: heads; f: feed-forward width."""
    d = int(rng.choice([192, 256, 320, 384, 640, 768, 896, 1024]))
    return {
        "L": int(rng.choice([3, 4, 5, 7, 8, 9, 10])),
        "d": d,
        "h": int(rng.choice([4, 8, 16])),
        "f": d * int(rng.choice([3, 5, 6, 7])),
    }


@exercise.part(points=1, answer=Count())
def attention(d):
    """Matrix entries of one attention sublayer, all heads together."""
    return 4 * d * d


@attention.misconception()
def times_heads(d, h):
    """You multiplied by the number of heads. The heads share the width: more of them, narrower."""
    return 4 * d * d * h


@attention.misconception()
def one_head(d, h):
    """That is the share of one head. The layer has h of them, side by side."""
    return 4 * d * d // h


@attention.misconception()
def output_forgotten(d):
    """You counted queries, keys and values. One more matrix follows the heads."""
    return 3 * d * d


@attention.misconception()
def attention_with_biases(d):
    """You added biases. Here the matrices alone are counted."""
    return 4 * (d * d + d)


@exercise.part(points=1, answer=Count())
def feed_forward(d, f):
    """Matrix entries of one feed-forward sublayer."""
    return 2 * d * f


@feed_forward.misconception()
def one_matrix(d, f):
    """The feed-forward layer widens and narrows again: what brings you back to d?"""
    return d * f


@feed_forward.misconception()
def four_times_as_wide(d):
    """You took 4d for the inner width. Yours is in your numbers."""
    return 8 * d * d


@feed_forward.misconception()
def feed_forward_with_biases(d, f):
    """You added biases. Here the matrices alone are counted."""
    return 2 * d * f + d + f


@exercise.part(points=0.5, answer=Count())
def norms(d):
    """Numbers that the norms of one encoder layer learn: scales and shifts."""
    return 4 * d


@norms.misconception()
def half_of_the_norms(d):
    """That is one norm, or the scales of both. Each has a scale and a shift for every column."""
    return 2 * d


@norms.misconception()
def norms_of_a_decoder(d):
    """You counted the norms of a decoder layer. How many sublayers has an encoder layer?"""
    return 6 * d


@norms.misconception()
def norms_of_all_layers(L, d):
    """You counted the norms of all layers. One layer is asked for."""
    return 4 * d * L


@norms.misconception()
def one_number_each(d):
    """A norm learns a scale and a shift for each of its columns, not one for all."""
    return 4


@exercise.part(points=0.5, answer=Numbers(tolerance=6e-7))  # what is left out shows in no 1 %
def share(d, f, attention, feed_forward, norms):
    """Their share of all that an encoder layer learns, biases and norms included."""
    return norms / (attention + 4 * d + feed_forward + d + f + norms)


@share.misconception(credit=0.5)
def share_in_percent(d, f, norms):
    """You gave percent. A share is a number between 0 and 1."""
    return 100 * norms / (4 * (d * d + d) + 2 * d * f + d + f + 4 * d)


@share.misconception(credit=0.5)
def share_of_the_matrices(norms, attention, feed_forward):
    """You divided by the matrices alone. All that the layer learns counts here, biases included."""
    return norms / (attention + feed_forward)


@share.misconception(credit=0.5)
def biases_left_out(norms, attention, feed_forward):
    """The biases are missing in what the layer learns."""
    return norms / (attention + feed_forward + norms)


@share.misconception()
def share_of_the_stack(L, d, f, norms):
    """You divided by all layers. The norms of one layer are compared with that layer."""
    return norms / (L * (4 * (d * d + d) + 2 * d * f + d + f + 4 * d))


@exercise.part(points=1, answer=Count())
def encoder(L, attention, feed_forward):
    """Matrix entries of the L layers of the encoder."""
    return L * (attention + feed_forward)


@encoder.misconception()
def one_layer(attention, feed_forward):
    """That is one layer. Every layer has matrices of its own."""
    return attention + feed_forward


@encoder.misconception()
def norms_counted(L, attention, feed_forward, norms):
    """You added the norms. Here the matrices alone are counted."""
    return L * (attention + feed_forward + norms)


@encoder.misconception()
def everything_counted(L, d, f, attention, feed_forward):
    """You added biases and norms. Here the matrices alone are counted."""
    return L * (attention + feed_forward + 9 * d + f)


@exercise.part(points=1, answer=Count())
def decoder(L, attention, feed_forward):
    """Matrix entries of the L layers of the decoder."""
    return L * (2 * attention + feed_forward)


@decoder.misconception()
def cross_attention_forgotten(L, attention, feed_forward):
    """A decoder layer has three sublayers: it also looks at the source."""
    return L * (attention + feed_forward)


@decoder.misconception()
def two_feed_forwards(L, attention, feed_forward):
    """You doubled the feed-forward layer. Only one kind of sublayer occurs twice."""
    return 2 * L * (attention + feed_forward)


@decoder.misconception()
def cross_with_two_matrices(L, d, attention, feed_forward):
    """Queries have a matrix in the cross-attention, too, and so has its output."""
    return L * (attention + 2 * d * d + feed_forward)


@exercise.part(points=1, answer=Count())
def both(encoder, decoder):
    """Matrix entries of encoder and decoder together."""
    return encoder + decoder


@both.misconception()
def encoder_twice(encoder):
    """You took the encoder twice. A decoder layer is larger."""
    return 2 * encoder


def times(entries, rectangle):
    """How many times a rectangle of weights has these entries."""
    return Fraction(int(entries), rectangle)


@exercise.part(
    points=0.5,
    answer=Formula(
        "d", practice=("Matrix entries of one encoder layer for f = 3d, in d.", "10*d^2")
    ),
)
def encoder_layer(attention, feed_forward, d, f):
    """Matrix entries of one encoder layer for f = 4d, in d."""
    return f"{times(attention, d * d) + 4 * times(feed_forward, d * f)}*d**2"


encoder_layer.mistakes(
    feed_forward_once=("8*d**2", "The feed-forward layer has two matrices."),
    heads_output_forgotten=("11*d**2", "The matrix after the heads is missing."),
)


@exercise.part(
    points=0.5,
    answer=Formula(
        "d", practice=("Matrix entries of one decoder layer for f = 3d, in d.", "14*d^2")
    ),
)
def decoder_layer(encoder_layer, attention, d):
    """Matrix entries of one decoder layer for f = 4d, in d."""
    return f"{encoder_layer.expression} + {times(attention, d * d)}*d**2"


@decoder_layer.misconception()
def as_an_encoder_layer():
    """A decoder layer has three sublayers: it also looks at the source."""
    return "12*d**2"


@decoder_layer.misconception()
def doubled():
    """A decoder layer is not two encoder layers: it has one feed-forward sublayer."""
    return "24*d**2"


@decoder_layer.misconception()
def two_matrices_for_the_source():
    """Queries have a matrix in the cross-attention, too, and so has its output."""
    return "14*d**2"
