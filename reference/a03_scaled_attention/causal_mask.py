"""The causal mask: every token may look at itself and back, never ahead.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.3.
"""

import numpy as np
from jaxtyping import Bool
from numpy import inf, ndarray

from autograder.exercise import Choice, Essay, Exercise, Numbers, agree, require
from autograder.exercise.properties import causal
from reference.helpers import softmax

exercise = Exercise(
    "causal_mask",
    title="No peeking",
    source="Vaswani et al. (2017), section 3.2.3",
    minutes=30,
    hints=[
        "Row i belongs to the query at position i. Which keys, counted from 0, has it seen by"
        " then?",
        "Cross out the blocked scores first, and then take the softmax over those that are "
        "left, row by row.",
        "`np.arange(n)` as a column, compared with the same as a row, gives a table of True "
        "and False.",
    ],
)


@exercise.variant
def draw(rng):
    """S: (4, 4), whole numbers 0–3; some score above the diagonal is not 0."""
    while True:
        S = rng.integers(0, 4, (4, 4))
        if np.triu(S, 1).any():
            return {"S": S}


@exercise.reference
def causal_mask(n: int) -> Bool[ndarray, "n n"]:
    """Return True where the key (column) is not later than the query (row)."""
    position = np.arange(n)
    return position <= position[:, None]


@exercise.alternative
def upper_part_blocked(n):
    """Block what lies strictly above the diagonal."""
    return ~np.triu(np.ones((n, n), dtype=bool), k=1)


@exercise.alternative
def row_by_row(n):
    """Open one key more in each row."""
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


@exercise.alternative
def running_sum(n):
    """Add up the identity along each row from its end: 1 up to the diagonal, 0 behind it."""
    return np.eye(n)[:, ::-1].cumsum(axis=1)[:, ::-1] > 0


def attend(Q, K, V, mask):
    """Masked attention with the mask under test."""
    return softmax(np.where(mask, Q @ K.T / np.sqrt(Q.shape[-1]), -inf)) @ V


def mask_for(call, n):
    """The answer for n tokens, by what counts as true: its type is asked for elsewhere."""
    mask = np.asarray(call(n))
    require(mask.shape == (n, n), f"the mask for {n} tokens has shape {mask.shape}")
    return mask != 0


@exercise.check(points=0.5, visible=True)
def is_a_boolean_matrix(call, rng):
    """The mask for n tokens is an n × n array of True and False."""
    for n in (4, 5):
        mask = call(n)
        require(isinstance(mask, ndarray), "the mask is not a NumPy array")
        require(mask.shape == (n, n), f"the mask for {n} tokens has another shape")
        require(mask.dtype == bool, f"the mask has dtype {mask.dtype}; bool was expected")


@exercise.check(points=0.5)
def future_is_hidden(call, rng):
    """Changing a token leaves the attention output at all earlier positions as it was."""
    mask = mask_for(call, 5)
    W = rng.normal(size=(3, 4, 4))
    causal(lambda x: attend(*(x @ W), mask), rng.normal(size=(5, 4)), rng, what="the output")


@exercise.check(points=0.5)
def past_is_visible(call, rng):
    """Every token may attend to itself and to all tokens before it."""
    mask = mask_for(call, 5)
    allowed = causal_mask(5)
    require(not mask.all(), "everything is allowed")
    agree(mask[allowed], np.ones(15, dtype=bool), what="the lower triangle")


@exercise.check(points=0.5)
def shortest_texts(call, rng):
    """Two tokens, one and none: the mask is always n × n, so for n = 0 of shape (0, 0)."""
    for n in (2, 1, 0):
        agree(mask_for(call, n), causal_mask(n), what=f"the mask for n = {n}")


@exercise.misconception
def ones_and_zeros(n):
    """The mask holds numbers 1 and 0. True and False can't be added to scores by mistake."""
    return np.tri(n)


@exercise.misconception(fatal="what it returns is no mask")
def additive_mask(n):
    """These are 0 and −∞, to be added to the scores. Asked for: True where a query may look."""
    return np.where(causal_mask(n), 0.0, -inf)


@exercise.misconception(fatal="True everywhere takes no thought")
def nothing_blocked(n):
    """Every pair is allowed. A key that comes after its query has to be blocked."""
    return np.ones((n, n), dtype=bool)


@exercise.misconception
def looks_ahead(n):
    """Rows are queries and columns are keys; your mask lets them look ahead, not back."""
    return causal_mask(n).T


@exercise.misconception
def true_means_blocked(n):
    """You marked what is blocked. True means that the query may attend."""
    return ~causal_mask(n)


@exercise.misconception
def diagonal_blocked(n):
    """A token may look at itself too: blocking the diagonal leaves the first row nothing."""
    return np.tri(n, k=-1, dtype=bool)


@exercise.misconception
def empty_loses_an_axis(n):
    """For n = 0 a list of no rows becomes shape (0,). Build the array with both axes at once."""
    return np.array([[j <= i for j in range(n)] for i in range(n)], dtype=bool)


@exercise.part(points=4, answer=Numbers())
def A(S):
    """The weights softmax(S) under the causal mask, shape (4, 4)."""
    return softmax(np.where(causal_mask(len(S)), S, -inf))


@A.alternative
def by_own_mask(S, causal_mask):
    """Under the mask that the student's own function gives."""
    return softmax(np.where(causal_mask(len(S)), S, -inf))


@A.misconception()
def no_mask(S):
    """This is the softmax without a mask: weights above the diagonal should be 0."""
    return softmax(S)


@A.misconception()
def masked_after_softmax(S):
    """You set weights to 0 after the softmax. Add up a row: the blocked keys took their share."""
    return softmax(S) * causal_mask(len(S))


@A.misconception()
def zero_for_minus_infinity(S):
    """You set blocked scores to 0, but exp(0) is 1. Which score has the exponential 0?"""
    return softmax(np.where(causal_mask(len(S)), S, 0))


@A.misconception()
def mask_transposed(S):
    """You blocked the keys that come before. Rows are queries, columns are keys."""
    return softmax(np.where(causal_mask(len(S)).T, S, -inf))


@A.misconception()
def own_token_blocked(S):
    """You blocked the diagonal as well. A token may look at itself."""
    return softmax(np.where(np.tri(len(S), k=-1), S, -inf))


@A.misconception()
def mask_added(S):
    """You added True and False as 1 and 0, which only favours the allowed keys a little."""
    return softmax(S + causal_mask(len(S)))


@A.misconception()
def columns_add_up(S):
    """Your columns add up to 1. For each query the weights of the keys do."""
    return softmax(np.where(causal_mask(len(S)), S, -inf).T).T


@A.misconception()
def scaled_once_more(S):
    """You divided S by 2. These scores are scaled already."""
    return softmax(np.where(causal_mask(len(S)), S / 2, -inf))


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The weights of the allowed keys get wrong ratios among each other.",
            "The rows no longer add up to 1: blocked keys have taken part in the sum.",
            "Blocked keys keep a little of the weight.",
            "Nothing: both orders give the same.",
        ]
    ),
)
def after_softmax():
    """What goes wrong when the mask is multiplied onto the weights, after the softmax?"""
    return "B"


after_softmax.mistakes(
    ratios_change=(
        "A",
        "Compare the allowed weights of a row with each other: their ratios are the right ones.",
    ),
    some_weight_left=("C", "Multiplying by 0 leaves exactly 0. Look at the weights that remain."),
    nothing_wrong=("D", "Add up the first row of weights, before and after the multiplication."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Never: what the blocked keys have taken is lost.",
            "Always, by applying the softmax once more.",
            "By dividing each row by its sum, wherever that sum is not 0.",
            "Only if all scores of the row are equal.",
        ]
    ),
)
def repair():
    """When can weights that were masked after the softmax be repaired without the scores?"""
    return "C"


repair.mistakes(
    never=(
        "A",
        "The ratios of the allowed weights survive the mask, and they are all that is needed.",
    ),
    softmax_again=(
        "B",
        "A second softmax takes weights for scores: it changes the ratios and makes exp(0) = 1.",
    ),
    only_equal_scores=(
        "D",
        "Try two unequal scores: the exponentials of the allowed keys keep their ratio.",
    ),
)


@exercise.part(points=2, answer=Essay())
def why_needed():
    """Why does language modelling need the causal mask?

    (1) Training predicts the next token at all positions in one pass.
    (2) Without the mask the label of a position is among its inputs, and copying it is enough.
    (3) The mask matches p(x₁ … x_n) = Π p(x_t | x_<t), by which text is generated, where later
    tokens do not exist yet.
    """
    return (
        "One training pass predicts the next token at every position at once. The token to be "
        "predicted at position t is the input at position t + 1, so without the mask the model "
        "could read the label off and would learn to copy. With the mask, position t depends on "
        "the tokens up to t alone, which is the factorisation p(x_1) p(x_2 | x_1) ... used when "
        "text is generated token by token: the future is not there to be read."
    )
