"""Four ways to write one mask, and a causal mask for a block of queries.

Source: the documentation of PyTorch's `scaled_dot_product_attention` and `MultiheadAttention`,
which use opposite Booleans.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import inf, ndarray

from autograder.exercise import Exercise, agree, require

exercise = Exercise(
    "mask_forms",
    title="Four dialects of one mask",
    source="PyTorch documentation, scaled_dot_product_attention and MultiheadAttention",
    minutes=30,
    hints=[
        "Decide for each form what 'allowed' looks like: True, False, 0, or 1. Then translate"
        " into one form and from it into the others.",
        "`np.where` chooses between two values; multiplying by ∞ turns zeros into NaN.",
        "With fewer queries than keys, query i stands at position i + (m − n) of the text.",
    ],
)


def dialects(allowed):
    """Return an allowing Boolean mask in each of the four forms."""
    return {
        "allow01": allowed.astype(int),
        "additive": np.where(allowed, 0.0, -inf),
        "block_bool": ~allowed,
        "allow_bool": allowed,
    }


@exercise.reference
def to_bool(mask: ndarray, kind: str) -> Bool[ndarray, "..."]:
    """Return the mask with True where the query may attend."""
    match kind:
        case "allow01":
            return mask != 0
        case "additive":
            return np.isfinite(mask)
        case "block_bool":
            return ~mask
        case "allow_bool":
            return mask.copy()
    raise ValueError(f"no such kind of mask: {kind}")


@exercise.alternative
def by_comparisons(mask, kind):
    """Compare with what an allowed pair has in each form."""
    allowed = {"allow01": 1, "additive": 0, "block_bool": False, "allow_bool": True}[kind]
    return np.asarray(mask) == allowed


@exercise.alternative
def by_a_table(mask, kind):
    """One small function for each form."""
    table = {
        "allow01": lambda m: m.astype(bool),
        "additive": lambda m: m > -1,
        "block_bool": np.logical_not,
        "allow_bool": np.array,
    }
    return table[kind](mask)


@exercise.alternative
def by_ifs(mask, kind):
    """Blocked first."""
    if kind == "additive":
        blocked = np.isneginf(mask)
    elif kind == "block_bool":
        blocked = mask
    else:
        blocked = mask == 0
    return np.logical_not(blocked)


@exercise.check(points=1, visible=True)
def numbers_are_read(call, rng):
    """1 allows and 0 blocks; added to the scores, 0 allows and −∞ blocks."""
    allowed = rng.random((3, 4)) < 0.6
    for kind in ("allow01", "additive"):
        agree(call(dialects(allowed)[kind], kind), allowed)


@exercise.check(points=1)
def booleans_are_read(call, rng):
    """Of the two Boolean forms, one says True for blocked, the other one for allowed."""
    allowed = rng.random((2, 3, 5)) < 0.5
    for kind in ("allow_bool", "block_bool"):
        agree(call(dialects(allowed)[kind], kind), allowed)


@exercise.misconception(credit=0.5)
def numbers_stay_numbers(mask, kind):
    """The result holds numbers. Asked for are True and False."""
    return to_bool(mask, kind).astype(int)


@exercise.misconception
def additive_read_as_zero_one(mask, kind):
    """In an additive mask 0 stands for allowed: it is added to the score, and changes nothing."""
    return mask != 0 if kind == "additive" else to_bool(mask, kind)


@exercise.misconception
def blocked_taken_for_allowed(mask, kind):
    """The form `block_bool` has True where a pair is blocked: turn it round."""
    return mask.copy() if kind == "block_bool" else to_bool(mask, kind)


@exercise.misconception(credit=0.4)
def true_means_blocked(mask, kind):
    """Yours is True where a pair is blocked. In this course True means allowed."""
    return ~to_bool(mask, kind)


@exercise.reference
def to_additive(mask_bool: Bool[ndarray, "..."]) -> Float[ndarray, "..."]:
    """Return 0 where the query may attend and −∞ elsewhere."""
    return np.where(mask_bool, 0.0, -inf)


@exercise.alternative
def by_filling(mask_bool):
    """Start from −∞."""
    added = np.full(np.shape(mask_bool), -inf)
    added[mask_bool] = 0
    return added


@exercise.alternative
def by_a_logarithm(mask_bool):
    """The logarithm of 1 is 0, that of 0 is −∞."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(mask_bool, float))


@exercise.alternative
def by_choice(mask_bool):
    """Look both values up."""
    return np.array([-inf, 0.0])[np.asarray(mask_bool).astype(int)]


@exercise.check(points=1, visible=True)
def zero_or_minus_infinity(call, rng):
    """0 where a pair is allowed, −∞ where it is blocked, of any shape."""
    for shape in ((3, 4), (2, 1, 5)):
        allowed = rng.random(shape) < 0.6
        agree(call(allowed), to_additive(allowed))


@exercise.check(points=1)
def no_nan_anywhere(call, rng):
    """No entry is NaN, not even where everything or nothing is allowed."""
    for allowed in (np.ones((3, 3), bool), np.zeros((3, 3), bool)):
        added = np.asarray(call(allowed))
        require(not np.isnan(added).any(), "some entries are NaN")
        agree(added, to_additive(allowed))


@exercise.misconception(credit=0.5)
def product_with_infinity(mask_bool):
    """0 · ∞ is not a number. Choose between two values instead of multiplying."""
    with np.errstate(invalid="ignore"):
        return ~mask_bool * -inf


@exercise.misconception
def ones_added(mask_bool):
    """You add 1 where a pair is allowed. What is added there should change nothing."""
    return mask_bool.astype(float)


@exercise.misconception(credit=0.4)
def sides_exchanged(mask_bool):
    """The allowed pairs are blocked in yours."""
    return np.where(mask_bool, -inf, 0.0)


@exercise.misconception(credit=0.5)
def large_number_instead(mask_bool):
    """A large negative number is no −∞: asked for is −∞, and the next exercise says why."""
    return np.where(mask_bool, 0.0, -1e9)


@exercise.reference
def causal_mask(n: int, m: int) -> Bool[ndarray, "n m"]:
    """Return True where the key is not later than the query; the queries are the last n of m."""
    return np.arange(m) <= np.arange(m - n, m)[:, None]


@exercise.alternative
def by_a_triangle(n, m):
    """A triangle with its diagonal moved."""
    return np.tri(n, m, k=m - n, dtype=bool)


@exercise.alternative
def last_rows(n, m):
    """The last n rows of the square mask."""
    return np.tril(np.ones((m, m), dtype=bool))[m - n :]


@exercise.alternative
def entry_by_entry(n, m):
    """Two loops into an array that is there already."""
    mask = np.zeros((n, m), dtype=bool)
    for i in range(n):
        for j in range(m):
            mask[i, j] = j <= i + m - n
    return mask


@exercise.check(points=1, visible=True)
def queries_at_the_end(call, rng):
    """The n queries are the last n of the m positions."""
    for n, m in ((2, 5), (1, 4), (3, int(rng.integers(5, 9)))):
        agree(call(n, m), causal_mask(n, m))


@exercise.check(points=1)
def square_and_empty(call, rng):
    """For m = n it is the mask that you know; without queries it has no row."""
    for n, m in ((4, 4), (0, 3), (0, 0)):
        agree(call(n, m), causal_mask(n, m))


@exercise.misconception
def aligned_at_the_top_left(n, m):
    """Your first query stands at position 0. With a cache the queries come last."""
    return np.tri(n, m, dtype=bool)


@exercise.misconception
def looks_ahead(n, m):
    """Rows are queries and columns are keys; your mask lets them look ahead, not back."""
    return np.triu(np.ones((n, m), dtype=bool), k=m - n)


@exercise.misconception(credit=0.5)
def own_key_blocked(n, m):
    """A token may look at itself: you are one key short."""
    return np.tri(n, m, k=m - n - 1, dtype=bool)


@exercise.misconception(credit=0.5)
def next_key_allowed(n, m):
    """One key too many: your queries see the token after their own."""
    return np.tri(n, m, k=m - n + 1, dtype=bool)


@exercise.misconception(credit=0.5)
def numbers_for_booleans(n, m):
    """The result holds numbers. Asked for are True and False."""
    return np.tri(n, m, k=m - n)


@exercise.misconception
def last_row_lost(n, m):
    """Without queries there is no row; you return one."""
    return causal_mask(max(n, 1), max(m, 1))
