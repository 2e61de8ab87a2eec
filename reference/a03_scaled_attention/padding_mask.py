"""Texts of different lengths in one batch.

Source: Vaswani et al. (2017), section 3.2.3; Devlin et al. (2019), "BERT", appendix A.
"""

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, agree, require

exercise = Exercise(
    "padding_mask",
    title="Ragged batches",
    source="Vaswani et al. (2017), section 3.2.3; Devlin et al. (2019), appendix A",
    minutes=30,
    hints=[
        "A padding mask is about keys, so it hides columns: each row of an example allows as "
        "many as the example is long.",
        "For the causal pairs draw the 5 × 5 square of one example and hatch what is left of "
        "the column where the padding begins.",
        "Give the mask an axis for the queries, of length 1, so that it meets every row.",
    ],
)
attention = exercise.carries("a03_scaled_attention/sdpa", "attention")


def attend(x, mask):
    """Self-attention without projections."""
    return attention(x, x, x, mask)[0]


@exercise.reference
def padding_mask(lengths: Int[ndarray, " B"], n: int) -> Bool[ndarray, "B 1 n"]:
    """Return True for the keys that are there: the first ones of each example."""
    return (np.arange(n) < np.asarray(lengths)[:, None])[:, None, :]


@exercise.alternative
def example_by_example(lengths, n):
    """A row for each example."""
    rows = [[[position < length for position in range(n)]] for length in lengths]
    return np.array(rows, dtype=bool).reshape(len(lengths), 1, n)


@exercise.alternative
def by_an_outer_comparison(lengths, n):
    """Compare all lengths with all positions."""
    return np.greater.outer(np.asarray(lengths), np.arange(n)).reshape(-1, 1, n)


@exercise.alternative
def by_repeating(lengths, n):
    """Fill from the left."""
    mask = np.zeros((len(lengths), 1, n), bool)
    for example, length in enumerate(lengths):
        mask[example, 0, :length] = True
    return mask


@exercise.check(points=1, visible=True)
def keys_that_are_there(call, rng):
    """True for the first keys of each example, as many as it is long; shape (B, 1, n)."""
    lengths = rng.integers(1, 6, 3)
    agree(call(lengths, 6), padding_mask(lengths, 6))


@exercise.check(points=0.5)
def as_if_cut_off(call, rng):
    """Attention on a padded text equals that on the text cut off, whatever the padding is."""
    n, length = 6, int(rng.integers(2, 5))
    x = rng.normal(size=(1, n, 3))
    mask = call(np.array([length]), n)
    require(np.shape(mask) == (1, 1, n), "the mask has another shape than (1, 1, n)")
    right = attend(x[:, :length], None)
    for _ in range(2):
        agree(attend(x, mask)[:, :length], right, what="the output at the real tokens")
        x[:, length:] = rng.normal(size=(1, n - length, 3)) * 9


@exercise.check(points=0.5)
def empty_and_full(call, rng):
    """Length 0 blocks every key, length n none."""
    lengths = np.array([0, 4, 1])
    agree(call(lengths, 4), padding_mask(lengths, 4))


@exercise.misconception(credit=0.4)
def queries_masked(lengths, n):
    """You masked queries, as rows. What must not be seen are keys, the last axis."""
    return np.swapaxes(padding_mask(lengths, n), 1, 2)


@exercise.misconception(credit=0.4)
def padded_queries_blocked_too(lengths, n):
    """You blocked padded queries as well. Only keys are, so the axis of queries has length 1."""
    mask = padding_mask(lengths, n)
    return mask & np.swapaxes(mask, 1, 2)


@exercise.misconception(credit=0.4)
def true_for_padding(lengths, n):
    """Yours is True for the padding. True means that the query may attend."""
    return ~padding_mask(lengths, n)


@exercise.misconception(credit=0.5)
def one_key_too_many(lengths, n):
    """One key too many: positions count from 0."""
    return (np.arange(n) <= np.asarray(lengths)[:, None])[:, None, :]


@exercise.misconception(credit=0.5)
def axis_of_the_queries_missing(lengths, n):
    """The axis of the queries is missing: with shape (B, n) examples and queries get mixed up."""
    return padding_mask(lengths, n)[:, 0, :]


@exercise.misconception(credit=0.4)
def padded_on_the_left(lengths, n):
    """You took the padding to stand on the left. It comes after the text."""
    return padding_mask(lengths, n)[..., ::-1]


@exercise.reference
def combine(*masks: Bool[ndarray, "..."]) -> Bool[ndarray, "..."]:
    """Return True where all masks allow a pair."""
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed & mask
    return allowed


@exercise.alternative
def by_reduction(*masks):
    """Broadcast first, then ask for all."""
    return np.all(np.stack(np.broadcast_arrays(*masks)), axis=0)


@exercise.alternative
def by_multiplication(*masks):
    """A product of Booleans."""
    result = np.array(True)
    for mask in masks:
        result = result * mask
    return result


@exercise.alternative
def by_de_morgan(*masks):
    """Not: any of them blocks."""
    blocked = ~np.asarray(masks[0])
    for mask in masks[1:]:
        blocked = blocked | ~np.asarray(mask)
    return ~blocked


@exercise.check(points=0.5, visible=True)
def all_must_allow(call, rng):
    """A pair is allowed where all masks allow it; they broadcast."""
    causal, padding = np.tri(4, dtype=bool), rng.random((2, 1, 4)) < 0.6
    agree(call(causal, padding), causal & padding)


@exercise.check(points=0.5)
def any_number_of_masks(call, rng):
    """One mask stays as it is, three count together."""
    masks = rng.random((3, 4, 5)) < 0.7
    agree(call(masks[0]), masks[0])
    agree(call(*masks), masks.all(axis=0))


@exercise.misconception
def any_may_allow(*masks):
    """Yours allows what any of the masks allows. All of them must."""
    allowed = masks[0]
    for mask in masks[1:]:
        allowed = allowed | mask
    return allowed


@exercise.misconception(credit=0.5)
def added_up(*masks):
    """You added masks up: the result holds numbers or allows too much."""
    return np.sum(np.stack(np.broadcast_arrays(*masks)).astype(int), axis=0)


@exercise.misconception
def only_two(*masks):
    """Only the first two masks count in yours."""
    return masks[0] & masks[1] if len(masks) > 1 else masks[0]


@exercise.part(points=1, answer=Count())
def pairs():
    """The allowed pairs for n = 5 and lengths 1, 3, 5, everyone sees everyone."""
    return [5, 15, 25]


pairs.mistakes(
    keys_counted=(
        [1, 3, 5],
        "You counted keys. A pair is a query and a key, and there are five queries.",
    ),
    squares=(
        [1, 9, 25],
        "You left the padded queries out. They are computed as well; only keys are masked.",
    ),
    nothing_masked=([25, 25, 25], "You counted all pairs. Keys of the padding are blocked."),
)


@exercise.part(points=1.5, answer=Count())
def causal_pairs():
    """The same with a causal mask in addition."""
    return [5, 12, 15]


causal_pairs.mistakes(
    causal_squares=(
        [1, 6, 15],
        "You left the padded queries out. They are computed as well, and look back at the text.",
    ),
    diagonal_blocked=([4, 9, 10], "A causal mask lets a token look at itself, too."),
    padding_forgotten=([15, 15, 15], "You counted the causal mask alone."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Nothing special: every query still has a key.",
            "The queries of the two padding tokens are dead rows.",
            "The first two real tokens are dead rows.",
            "Nothing bad, if one simply allows all keys: padding then gets no weight.",
        ]
    ),
)
def left_padding():
    """What happens with two padding tokens on the left, and a causal mask?"""
    return "B"


left_padding.mistakes(
    nothing_dies=(
        "A",
        "What may the first token look at, if it is padding and can only look at itself and back?",
    ),
    text_dies=("C", "A real token may look at itself, so it is never left without a key."),
    all_ones_is_fine=(
        "D",
        "With all keys allowed, five equal scores give two padding tokens a share of 2/5.",
    ),
)
