"""The position-wise feed-forward layer.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.3.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, Shape, agree, require
from autograder.exercise.properties import keeps_dtype, leaves_alone
from reference.helpers import feed_forward

exercise = Exercise(
    "ffn_code",
    title="Position-wise feed-forward",
    source="Vaswani et al. (2017), section 3.3",
    minutes=40,
    hints=[
        "Every position goes through the same two maps by itself; ReLU comes between them.",
        "A bias is added to each row: broadcasting does that if the last axes agree.",
    ],
)


@exercise.variant
def draw(rng):
    """x: (2,), W1: (2, 3), b1: (3,), W2: (3, 2), b2: (2,), whole numbers from −2 to 2."""
    while True:
        x, W1, b1, W2, b2 = (rng.integers(-2, 3, s) for s in (2, (2, 3), 3, (3, 2), 2))
        pre = x @ W1 + b1
        out, linear = np.maximum(pre, 0) @ W2 + b2, pre @ W2 + b2
        both_signs = all(v.min() < 0 < v.max() for v in (pre, out, linear))
        if both_signs and b1.any() and b2.any() and x.all():
            return {"x": x, "W1": W1, "b1": b1, "W2": W2, "b2": b2}


@exercise.part(points=1, answer=Numbers())
def pre(x, W1, b1):
    """What the first map gives, before the ReLU."""
    return x @ W1 + b1


@pre.misconception(credit=0.5)
def first_bias_left_out(x, W1):
    """The bias is missing."""
    return x @ W1


@pre.misconception()
def bias_subtracted(x, W1, b1):
    """The bias is added."""
    return x @ W1 - b1


@pre.misconception()
def already_cut_off(x, W1, b1):
    """That is after the ReLU. First what goes into it."""
    return np.maximum(x @ W1 + b1, 0)


@exercise.part(points=1, answer=Numbers())
def hidden(pre):
    """The hidden layer, after the ReLU."""
    return np.maximum(pre, 0)


@hidden.misconception()
def relu_left_out(pre):
    """Nothing has been cut off: the ReLU makes negative entries 0."""
    return pre


@hidden.misconception()
def absolute_values(pre):
    """You turned negative entries round. The ReLU makes them 0."""
    return np.abs(pre)


@hidden.misconception()
def steps_taken(pre):
    """You put 1 where an entry is positive. The ReLU leaves it as it is."""
    return (pre > 0) * 1.0


@hidden.misconception()
def positive_cut_off(pre):
    """You kept the negative entries. The ReLU keeps the positive ones."""
    return np.minimum(pre, 0)


@exercise.part(points=1, answer=Numbers())
def y(hidden, W2, b2):
    """The output."""
    return hidden @ W2 + b2


@y.misconception()
def linear_throughout(pre, W2, b2):
    """You went on from before the ReLU. Then the two maps are one."""
    return pre @ W2 + b2


@y.misconception()
def relu_at_the_end(pre, W2, b2):
    """You applied the ReLU to the output. It stands between the two maps, and nowhere else."""
    return np.maximum(pre @ W2 + b2, 0)


@y.misconception()
def relu_twice(hidden, W2, b2):
    """You applied the ReLU once more. The output may be negative."""
    return np.maximum(hidden @ W2 + b2, 0)


@y.misconception()
def both_biases_left_out(x, W1, W2):
    """Both biases are missing."""
    return np.maximum(x @ W1, 0) @ W2


@y.misconception(credit=0.5)
def second_bias_left_out(hidden, W2):
    """The second bias is missing."""
    return hidden @ W2


@exercise.reference
def ffn(
    x: Float[ndarray, "*batch d"],
    W1: Float[ndarray, "d f"],
    b1: Float[ndarray, " f"],
    W2: Float[ndarray, "f d"],
    b2: Float[ndarray, " d"],
) -> Float[ndarray, "*batch d"]:
    """Apply max(0, x W1 + b1) W2 + b2 to every position."""
    return feed_forward(x, W1, b1, W2, b2)


@exercise.alternative
def with_where(x, W1, b1, W2, b2):
    """Choose entry by entry."""
    hidden = np.dot(x, W1) + b1
    return np.dot(np.where(hidden > 0, hidden, 0), W2) + b2


@exercise.alternative
def position_by_position(x, W1, b1, W2, b2):
    """Take all positions one after the other."""
    rows = [(lambda h: W2.T @ (h * (h > 0)) + b2)(W1.T @ row + b1) for row in _rows(x)]
    return np.array(rows, x.dtype).reshape(*x.shape[:-1], len(b2))


def _rows(x):
    return x.reshape(-1, x.shape[-1])


@exercise.alternative
def with_einsum(x, W1, b1, W2, b2):
    """Name the axes."""
    hidden = np.einsum("...d,df->...f", x, W1) + b1
    return np.einsum("...f,fd->...d", hidden.clip(0, None), W2) + b2


def layer(rng, d=4, f=6):
    """The weights of a layer, no bias near 0."""
    return (
        rng.normal(size=(d, f)),
        rng.choice([-1, 1], f) * rng.uniform(0.5, 1, f),
        rng.normal(size=(f, d)),
        rng.choice([-1, 1], d) * rng.uniform(0.5, 1, d),
    )


@exercise.check(points=1.25, visible=True)
def matches_the_formula(call, rng):
    """Equals max(0, x W1 + b1) W2 + b2 where the biases are 0."""
    x = rng.normal(size=(5, 4))
    W1, _, W2, _ = layer(rng)
    weights = W1, np.zeros(6), W2, np.zeros(4)
    agree(call(x, *weights), feed_forward(x, *weights))


@exercise.check(points=0.75, after=matches_the_formula)
def biases_are_added(call, rng):
    """The first bias comes before the ReLU, the second one at the end."""
    x, weights = rng.normal(size=(6, 3)), layer(rng, 3, 7)
    agree(call(x, *weights), feed_forward(x, *weights))


@exercise.check(points=0.5, after=matches_the_formula)
def positions_keep_to_themselves(call, rng):
    """A change at one position changes the output there and nowhere else, in any batch."""
    x, weights = rng.normal(size=(2, 3, 5, 4)), layer(rng)
    before = np.asarray(call(x, *weights))
    require(before.shape == x.shape, "the result has another shape than x")
    x[1, 0, 2] += 3
    moved = np.abs(np.asarray(call(x, *weights)) - before).max(axis=-1) > 1e-9
    require(moved[1, 0, 2], "a position's own change has no effect")
    require(moved.sum() == 1, "a change at one position has changed the output at another one")


@exercise.check(points=0.5, after=matches_the_formula)
def type_is_kept(call, rng):
    """float32 comes out as float32; the arguments are left alone."""
    x, weights = rng.normal(size=(3, 4)), layer(rng)
    leaves_alone(call, x, *weights)
    keeps_dtype(call, x, *weights)


@exercise.misconception
def no_relu(x, W1, b1, W2, b2):
    """The ReLU is left out: the two maps are one linear map."""
    return (x @ W1 + b1) @ W2 + b2


def with_another(x, W1, b1, W2, b2, bend):
    """Put something else where the ReLU stands."""
    return (bend(x @ W1 + b1) @ W2 + b2).astype(x.dtype)


@exercise.misconception
def leaky(x, W1, b1, W2, b2):
    """A little of what is negative passes in yours. With max(0, ·) nothing does."""
    return with_another(x, W1, b1, W2, b2, lambda z: np.where(z > 0, z, 0.01 * z))


@exercise.misconception
def gelu_for_the_relu(x, W1, b1, W2, b2):
    """Between your maps stands a GELU, as in later models. Here it is max(0, ·)."""
    phi = np.vectorize(lambda z: (1 + math.erf(z / math.sqrt(2))) / 2, otypes=[float])
    return with_another(x, W1, b1, W2, b2, lambda z: z * phi(z))


@exercise.misconception
def logistic_function_for_the_relu(x, W1, b1, W2, b2):
    """Between your maps stands a logistic function. Here it is max(0, ·)."""
    return with_another(x, W1, b1, W2, b2, lambda z: 1 / (1 + np.exp(-z)))


@exercise.misconception
def hyperbolic_tangent_for_the_relu(x, W1, b1, W2, b2):
    """Between your maps stands a tanh. Here it is max(0, ·)."""
    return with_another(x, W1, b1, W2, b2, np.tanh)


@exercise.misconception
def what_is_negative_kept(x, W1, b1, W2, b2):
    """You keep what is negative, and set to 0 what is positive. max(0, ·) does the opposite."""
    return with_another(x, W1, b1, W2, b2, lambda z: np.minimum(z, 0))


@exercise.misconception
def sizes_taken(x, W1, b1, W2, b2):
    """You take what is negative without its sign. max(0, ·) makes 0 of it."""
    return with_another(x, W1, b1, W2, b2, abs)


@exercise.misconception
def input_added(x, W1, b1, W2, b2):
    """You add the input at the end. In a block that is done around this layer, not in it."""
    return x + feed_forward(x, W1, b1, W2, b2)


@exercise.misconception
def relu_on_the_output(x, W1, b1, W2, b2):
    """The ReLU is at the end. It stands between the two maps."""
    return np.maximum((x @ W1 + b1) @ W2 + b2, 0)


@exercise.misconception(credit=0.4)
def two_relus(x, W1, b1, W2, b2):
    """The output has gone through a ReLU as well. It may be negative."""
    return np.maximum(feed_forward(x, W1, b1, W2, b2), 0)


@exercise.misconception
def no_biases(x, W1, b1, W2, b2):
    """The biases are never used."""
    return np.maximum(x @ W1, 0) @ W2


@exercise.misconception
def first_bias_missing(x, W1, b1, W2, b2):
    """The first bias is never used."""
    return np.maximum(x @ W1, 0) @ W2 + b2


@exercise.misconception
def second_bias_missing(x, W1, b1, W2, b2):
    """The second bias is never used."""
    return np.maximum(x @ W1 + b1, 0) @ W2


@exercise.misconception
def bias_behind_the_relu(x, W1, b1, W2, b2):
    """The first bias is added after the ReLU. It belongs to the map before it."""
    return (np.maximum(x @ W1, 0) + b1) @ W2 + b2


@exercise.misconception
def centred_over_positions(x, W1, b1, W2, b2):
    """Your result at one position depends on the others. Each position is computed by itself."""
    y = feed_forward(x, W1, b1, W2, b2)
    return y if y.ndim < 3 else y - y.mean(axis=-2, keepdims=True)


@exercise.misconception
def double_whatever_comes(x, W1, b1, W2, b2):
    """The result is float64 whatever comes in. The type of x is kept."""
    return feed_forward(x, W1, b1, W2, b2).astype(float)


WIDE, NARROW = (1, 10, 2048), (1, 10, 512)


@exercise.part(points=1, answer=Shape())
def shapes():
    """The shapes of the input, of the hidden layer and of the output."""
    return {"input": NARROW, "hidden": WIDE, "output": NARROW}


shapes.mistakes(
    batch_left_out=(
        {"input": NARROW[1:], "hidden": WIDE[1:], "output": NARROW[1:]},
        "The axis of the batch is missing, though it holds a single sequence.",
    ),
    batch_left_out_inside=(
        {"input": NARROW, "hidden": WIDE[1:], "output": NARROW},
        "The hidden layer has the axis of the batch, too, though it holds a single sequence.",
        0.5,
    ),
    hidden_as_wide_as_the_input=(
        {"input": NARROW, "hidden": NARROW, "output": NARROW},
        "The first map widens: each token gets f numbers.",
    ),
    longer_instead_of_wider=(
        {"input": NARROW, "hidden": (1, 2048, 512), "output": NARROW},
        "The number of tokens doesn't change, their width does.",
    ),
    still_wide=(
        {"input": NARROW, "hidden": WIDE, "output": WIDE},
        "The second map goes back to the width of the model, so that the input can be added.",
    ),
)
