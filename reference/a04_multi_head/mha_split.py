"""Splitting into heads and merging them: a reshape and a transposition.

Source: Vaswani et al. (2017), section 3.2.2, as it is written in code.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Shape, agree
from autograder.exercise.properties import refuses

exercise = Exercise(
    "mha_split",
    title="Reshape, then transpose",
    source="Vaswani et al. (2017), section 3.2.2",
    minutes=40,
    hints=[
        "Two moves are needed: the last axis becomes two, and then two axes change places.",
        "Merging undoes the moves in the opposite order. Try both with an array of whole "
        "numbers in a row, `np.arange`, and look at one head.",
        "Which axis holds the tokens must not change its order: a reshape that joins or cuts "
        "it mixes tokens.",
    ],
)


@exercise.variant
def draw(rng):
    """B examples, n tokens, width d in h heads; all sizes differ."""
    while True:
        B, n, h, k = (int(size) for size in rng.permutation(np.arange(2, 9))[:4])
        if h * k not in (B, n):
            return {"B": B, "n": n, "d": h * k, "h": h}


@exercise.part(points=0.5, answer=Shape())
def split_shape(B, n, d, h):
    """The shape after splitting (B, n, d) into heads."""
    return (B, h, n, d // h)


@split_shape.misconception()
def heads_behind_the_tokens(B, n, d, h):
    """That is the shape after the reshape alone. Heads come before tokens."""
    return (B, n, h, d // h)


@split_shape.misconception()
def width_of_the_model(B, n, d, h):
    """The heads share the width: each has its part of the columns."""
    return (B, h, n, d)


@split_shape.misconception()
def heads_as_examples(B, n, d, h):
    """You joined the axes of examples and heads. Each stays an axis of its own."""
    return (B * h, n, d // h)


@exercise.part(points=0.5, answer=Shape())
def merged_shape(B, n, d):
    """The shape after merging again."""
    return (B, n, d)


@merged_shape.misconception()
def heads_remain(B, n, d, h):
    """Merging puts the heads side by side: their axis is gone afterwards."""
    return (B, n, h, d // h)


@merged_shape.misconception()
def one_head_left(B, n, d, h):
    """That is the width of one head. All of them stand side by side."""
    return (B, n, d // h)


@merged_shape.misconception()
def tokens_times_heads(B, n, d, h):
    """You put the heads one below the other. Side by side: the width grows, not the length."""
    return (B, n * h, d // h)


@exercise.reference
def split_heads(x: Float[ndarray, "B n d"], h: int) -> Float[ndarray, "B h n k"]:
    """Give head t the columns t·d/h … (t + 1)·d/h − 1."""
    B, n, d = x.shape
    if d % h:
        raise ValueError(f"{h} heads can't share a width of {d}")
    return x.reshape(B, n, h, d // h).transpose(0, 2, 1, 3)


@exercise.alternative
def cut_and_stacked(x, h):
    """Cut the columns, stack the pieces."""
    if x.shape[-1] % h != 0:
        raise ValueError("does not divide")
    return np.stack(np.split(x, h, axis=-1), axis=1)


@exercise.alternative
def head_by_head(x, h):
    """Copy head after head."""
    k, rest = divmod(x.shape[2], h)
    if rest:
        raise ValueError
    out = np.empty((x.shape[0], h, x.shape[1], k))
    for t in range(h):
        out[:, t] = x[:, :, t * k : (t + 1) * k]
    return out


@exercise.alternative
def with_swapaxes(x, h):
    """Let one size be worked out."""
    if x.shape[-1] % h:
        raise ValueError(h)
    return x.reshape(*x.shape[:2], h, x.shape[-1] // h).swapaxes(1, 2)


@exercise.check(points=1, visible=True)
def heads_get_their_columns(call, rng):
    """Head t of a token has the columns t·d/h … (t + 1)·d/h − 1 of that token."""
    agree(
        call(np.arange(24.0).reshape(1, 4, 6), 3), split_heads(np.arange(24.0).reshape(1, 4, 6), 3)
    )
    x = rng.normal(size=(2, 5, 8))
    agree(call(x, 4), split_heads(x, 4))


@exercise.check(points=0.5)
def one_head_and_no_example(call, rng):
    """One head gets all columns; a batch may be empty."""
    for shape, h in (((2, 3, 5), 1), ((0, 3, 4), 2)):
        x = rng.normal(size=shape)
        agree(call(x, h), split_heads(x, h))


@exercise.check(points=0.5)
def widths_that_do_not_divide(call, rng):
    """A width that h doesn't divide raises a ValueError."""
    agree(call(np.ones((1, 2, 6)), 3), np.ones((1, 3, 2, 2)))
    refuses(call, rng.normal(size=(1, 6, 5)), 3, why="3 heads in a width of 5")


@exercise.misconception
def reshaped_at_once(x, h):
    """One reshape to (B, h, n, d/h) deals whole tokens out to the heads. Split columns first."""
    B, n, d = x.shape
    if d % h:
        raise ValueError
    return x.reshape(B, h, n, d // h)


@exercise.misconception
def every_h_th_column(x, h):
    """Your heads take every h-th column. Here each has neighbouring ones."""
    B, n, d = x.shape
    if d % h:
        raise ValueError
    return x.reshape(B, n, d // h, h).transpose(0, 3, 1, 2)


@exercise.misconception(credit=0.5)
def tokens_before_heads(x, h):
    """The transposition is missing: heads come before tokens, so that `@` works head by head."""
    B, n, d = x.shape
    if d % h:
        raise ValueError
    return x.reshape(B, n, h, d // h)


@exercise.misconception
def rest_dropped(x, h):
    """A width that h doesn't divide must raise a ValueError; you drop the last columns."""
    k = x.shape[-1] // h
    return split_heads(x[..., : k * h], h)


@exercise.misconception
def size_left_open(x, h):
    """In an empty batch NumPy can't work out what −1 stands for: write the size."""
    if x.shape[-1] % h:
        raise ValueError
    return x.reshape(*x.shape[:2], h, -1).transpose(0, 2, 1, 3)


@exercise.misconception
def empty_batch_breaks(x, h):
    """An empty batch has another shape in yours: start from the shape of x, not from a list."""
    if x.shape[-1] % h:
        raise ValueError
    return np.array([np.stack(np.split(example, h, axis=-1)) for example in x])


@exercise.reference
def merge_heads(x: Float[ndarray, "B h n k"]) -> Float[ndarray, "B n d"]:
    """Put the heads of each token side by side."""
    B, h, n, k = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, n, h * k)


@exercise.alternative
def concatenated(x):
    """Put them together along the last axis."""
    return np.concatenate([x[:, t] for t in range(x.shape[1])], axis=-1)


@exercise.alternative
def filled_in(x):
    """Copy head after head."""
    B, h, n, k = x.shape
    out = np.empty((B, n, h * k))
    for t in range(h):
        out[..., t * k : (t + 1) * k] = x[:, t]
    return out


@exercise.alternative
def with_einsum(x):
    """Let einsum order the axes."""
    moved = np.einsum("bhnk->bnhk", x)
    return np.ascontiguousarray(moved).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


@exercise.check(points=1, visible=True)
def heads_side_by_side(call, rng):
    """A token's row holds its part of head 0, then that of head 1, and so on."""
    x = np.arange(24.0).reshape(1, 3, 4, 2)
    agree(call(x), merge_heads(x))
    x = rng.normal(size=(2, 4, 5, 2))
    agree(call(x), merge_heads(x))


@exercise.check(points=0.75)
def undoes_the_splitting(call, rng):
    """Merging what was split gives back the same array."""
    for shape, h in (((3, 5, 8), 2), ((2, 4, 3), 1)):
        x = rng.normal(size=shape)
        agree(call(split_heads(x, h)), x)


@exercise.check(points=0.25)
def merges_no_example(call, rng):
    """A batch may be empty."""
    agree(call(rng.normal(size=(1, 3, 2, 2))).shape, (1, 2, 6), what="the shape for one example")
    agree(call(np.ones((0, 3, 2, 2))), np.ones((0, 2, 6)))


@exercise.misconception
def merged_by_reshape_alone(x):
    """A reshape alone puts rows of one head side by side. Tokens first, then heads."""
    B, h, n, k = x.shape
    return x.reshape(B, n, h * k)


@exercise.misconception
def columns_interleaved(x):
    """Your columns alternate between the heads. Each head's columns stay together."""
    B, h, n, k = x.shape
    return x.transpose(0, 2, 3, 1).reshape(B, n, h * k)


@exercise.misconception
def merged_size_left_open(x):
    """In an empty batch NumPy can't work out what −1 stands for: write the size."""
    return x.transpose(0, 2, 1, 3).reshape(len(x), x.shape[2], -1)


@exercise.misconception(credit=0.5)
def first_example_only(x):
    """The axis of the examples gets lost in yours, or mixed with that of the tokens."""
    B, h, n, k = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B * n, h * k)
