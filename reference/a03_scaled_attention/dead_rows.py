"""What becomes of a query that may attend to nothing.

Source: IEEE 754 arithmetic; the house rule of this course.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import inf, ndarray

from autograder.exercise import Choice, Exercise, Numbers, agree, require
from reference.helpers import ATTENTION, softmax

exercise = Exercise(
    "dead_rows",
    title="When nothing may be attended",
    source="IEEE 754-2019, sections 6.1 and 7.2",
    minutes=30,
    hints=[
        "The softmax of equal scores is even, however small they are: does replacing tell a "
        "dead row from a living one?",
        "If a number is *added*, the differences between the scores stay, as far as the type "
        "has digits for them. How many digits has float32 at 10⁹?",
        "In code, find the rows without an allowed key first, give them a finite maximum, and"
        " see to the division at the end.",
    ],
)


@exercise.variant
def draw(rng):
    """s: (3,), the scores of a query of which every key is blocked."""
    while True:
        s = np.sort(rng.choice(np.arange(1, 30), 3, replace=False)) / 10
        if s[2] - s[0] > 1:
            return {"s": rng.permutation(s)}


@exercise.part(points=0.25, answer=Numbers(special=True))
def filled():
    """The weights if every score is replaced by −1e9."""
    return np.full(3, 1 / 3)


@filled.misconception()
def filled_is_zero():
    """A softmax looks at differences. All three scores are equal now."""
    return np.zeros(3)


@exercise.part(points=3.25, answer=Numbers(special=True))
def added(s):
    """The weights if −1e9 is added to every score, in float64."""
    return softmax(s)


@added.misconception()
def added_is_flat(s):
    """In float64 the scores are still there behind the large number: 16 digits are enough."""
    return np.full(3, 1 / 3)


@added.misconception()
def added_is_zero(s):
    """A softmax doesn't see a shift that is common to all scores."""
    return np.zeros(3)


@exercise.part(points=0.25, answer=Numbers(special=True))
def added32():
    """The same in float32."""
    return np.full(3, 1 / 3)


@added32.misconception()
def scores_survive(s):
    """Next to 1e9, float32 numbers are 64 apart. What is left of your scores?"""
    return softmax(s)


@added32.misconception()
def added32_is_zero():
    """Rounded, all three are equal, and equal scores share the weight."""
    return np.zeros(3)


@exercise.part(points=1.25, answer=Numbers(special=True))
def plain():
    """The weights of a plain softmax if every score is replaced by −∞."""
    return np.full(3, np.nan)


plain.mistakes(
    plain_is_zero=(
        np.zeros(3),
        "The numerators are 0, or would be. Which denominator do they meet?",
    ),
    plain_is_even=(
        np.full(3, 1 / 3),
        "Finite scores that are equal would share the weight. What is −∞ − (−∞)?",
    ),
    plain_is_infinite=(
        np.full(3, inf),
        "The largest score is subtracted before anything is divided. What is −∞ − (−∞)?",
    ),
)


@exercise.reference(without=ATTENTION)
def masked_softmax(
    s: Float[ndarray, "... n m"], mask: Bool[ndarray, "..."]
) -> Float[ndarray, "... n m"]:
    """Return the softmax over the allowed keys; rows that have none are 0."""
    allowed = np.where(mask, s, -inf)
    top = allowed.max(axis=-1, keepdims=True)
    e = np.exp(allowed - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@exercise.alternative
def divided_where_possible(s, mask):
    """Divide where there is something to divide by."""
    mask = np.broadcast_to(mask, s.shape)
    e = np.where(mask, np.exp(s - np.where(mask, s, s.min()).max(axis=-1, keepdims=True)), 0)
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


@exercise.alternative
def row_by_row(s, mask):
    """A softmax for each row that is alive."""
    mask, out = np.broadcast_to(mask, s.shape), np.zeros_like(s)
    for index in np.ndindex(s.shape[:-1]):
        open_ = mask[index]
        if open_.any():
            out[index][open_] = softmax(s[index][open_])
    return out


@exercise.alternative
def with_a_helping_key(s, mask):
    """Open a dead row for the softmax, and close it afterwards."""
    mask = np.broadcast_to(mask, s.shape)
    dead = ~mask.any(axis=-1, keepdims=True)
    opened = np.where(mask | dead, s, -inf)
    e = np.exp(opened - opened.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * ~dead


@exercise.check(points=1, visible=True)
def living_rows_are_as_before(call, rng):
    """Rows with allowed keys have the softmax over these, and 0 elsewhere."""
    s, mask = rng.normal(size=(3, 5)), rng.random((3, 5)) < 0.6
    mask[:, 0] = True
    agree(call(s, mask), masked_softmax(s, mask))


@exercise.check(points=1.5)
def dead_rows_are_zero(call, rng):
    """Rows without an allowed key are 0, and no warning is raised on the way."""
    s, mask = rng.normal(size=(2, 3, 4)), rng.random((2, 3, 4)) < 0.7
    mask[..., 1, :] = False
    mask[0, 0, 2] = True
    agree(call(s, mask), masked_softmax(s, mask))
    agree(call(s, mask[0]), masked_softmax(s, mask[0]), what="the weights with one mask for all")
    require(not call.warnings, "the weights are right, but a warning is raised", credit=0.5)


@exercise.check(points=0.5)
def scores_of_any_size(call, rng):
    """Scores of −10000 or 10000 change nothing of this, nor do larger ones that are blocked."""
    mask = np.array([True, True, False, True])
    for size in (-1e4, 1e4, np.array([[-1e4], [0], [1e4]]), -1e4 * mask):
        s = rng.normal(size=(3, 4)) + size
        agree(call(s, mask), masked_softmax(s, mask))


@exercise.misconception
def one_mask_for_all_overlooked(s, mask):
    """A mask with fewer axes holds for every example: its dead rows are dead in all of them."""
    dead = ~mask.any(axis=-1, keepdims=True)
    found = masked_softmax(s, mask | dead)
    return np.where(dead, 0, found) if mask.shape == s.shape else found


@exercise.misconception
def not_a_number(s, mask):
    """Dead rows are NaN: −∞ − (−∞) is not a number. Treat the row that has no largest score."""
    right = masked_softmax(s, mask)
    dead = ~np.broadcast_to(mask, s.shape).any(axis=-1, keepdims=True)
    return np.where(dead, np.nan, right)


@exercise.misconception(credit=0.5)
def repaired_afterwards(s, mask):
    """You replace NaN by 0 at the end. On the way there 0 is divided by 0, and NumPy warns."""
    allowed = np.where(mask, s, -inf)
    e = np.exp(allowed - allowed.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


@exercise.misconception
def large_number(s, mask):
    """A large negative number makes dead rows even, not 0."""
    filled = np.where(mask, s, -1e9)
    e = np.exp(filled - filled.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@exercise.misconception(credit=0.4)
def masked_afterwards(s, mask):
    """You masked the weights. The blocked keys have taken their share of the sum by then."""
    return masked_softmax(s, np.ones(s.shape, bool)) * mask


@exercise.misconception
def small_fill(s, mask):
    """You filled with −9999. Beside scores of that size, blocked keys get weight."""
    right = np.where(mask, s, -9999.0)
    e = np.exp(right - right.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights * np.broadcast_to(mask, s.shape).any(axis=-1, keepdims=True)


@exercise.misconception
def one_largest_for_all_rows(s, mask):
    """You subtract the largest score of the whole array. Rows of far smaller ones underflow."""
    allowed = np.where(mask, s, -inf)
    e = np.exp(allowed - allowed.max())
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@exercise.misconception
def largest_of_all_subtracted(s, mask):
    """You subtract the largest score, allowed or not. If it is blocked, the others underflow."""
    e = np.exp(s - s.max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@exercise.misconception
def overflowing(s, mask):
    """exp overflows, or everything underflows. Subtract the largest allowed score of each row."""
    with np.errstate(all="ignore"):
        e = np.exp(s) * mask
        total = e.sum(axis=-1, keepdims=True)
        return np.where(total == 0, 0, e / total)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "float16 has no such number as $-10^9$: rounded to it, it is $-\\infty$.",
            "Added in float32, it swallows differences between scores.",
            "The gradient of a blocked score becomes NaN, if another key of its row is allowed.",
            "A fill of −9995 beside two genuine scores of −10000 takes 98.7 % of the weight.",
            "Computing takes longer.",
        ],
        multiple=True,
    ),
)
def risks(added32):
    """What speaks against a large negative number in place of −∞?"""
    return "AD" if np.ptp(added32) > 0.1 else "ABD"  # B where float32 left the scores apart


risks.mistakes(
    all_of_them=(
        "ABCDE",
        "Gradients of blocked scores are 0 either way, and finite numbers take no more time.",
    ),
    gradients_too=(
        "ABCD",
        "The gradient of a blocked score is its weight, 0, times something finite.",
    ),
    half_precision_forgotten=("BD", "What is the largest number that float16 knows?"),
    leaking_forgotten=(
        "AB",
        "Think of a fill that is too small, beside scores that are smaller still.",
    ),
)
