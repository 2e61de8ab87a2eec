"""A softmax over the whole array, and what it does to a batch.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Numbers, agree
from autograder.exercise.properties import rows_sum_to_one
from reference.helpers import softmax

exercise = Exercise(
    "softmax_axis_bug",
    title="Find the normalisation bug",
    source="Vaswani et al. (2017), section 3.2.1",
    minutes=30,
    hints=[
        "The faulty softmax divides by the sum over everything, so one row receives its share"
        " of the whole. How large is that share?",
        "If 5 is added to all scores of one example, its exponentials all grow by the same "
        "factor, and so does the sum that everybody is divided by.",
        "To mend it no exponential is needed: the ratios within a row are right already.",
    ],
)


@exercise.variant
def draw(rng):
    """seed: of your Q, K and V."""
    return {"seed": int(rng.integers(1000))}


def scores(seed):
    """Return the scaled scores of the fixture, shape (2, 3, 3)."""
    rng = np.random.default_rng(seed)
    Q, K = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3, 4))
    return Q @ np.swapaxes(K, -1, -2) / 2


def over_everything(S):
    """One maximum, one sum."""
    return softmax(S.reshape(-1)).reshape(S.shape)


@exercise.part(points=1, answer=Numbers())
def rowsums(seed):
    """The row sums of the faulty weights, shape (2, 3)."""
    return over_everything(scores(seed)).sum(axis=-1)


@rowsums.misconception()
def sums_of_right_rows(seed):
    """These are the row sums as they should be. What does the faulty code give?"""
    return softmax(scores(seed)).sum(axis=-1)


@rowsums.misconception()
def sums_of_columns(seed):
    """You added up columns. A row belongs to a query."""
    return over_everything(scores(seed)).sum(axis=-2)


@rowsums.misconception()
def each_example_by_itself(seed):
    """You normalised each example. The faulty code takes one sum for the whole batch."""
    return np.stack([over_everything(S).sum(axis=-1) for S in scores(seed)])


@rowsums.misconception()
def rowsums_not_scaled(seed):
    """The scores are not scaled by 1/√d_k."""
    return over_everything(scores(seed) * 2).sum(axis=-1)


@exercise.part(points=1, answer=Numbers())
def totals():
    """The sum of all faulty weights, and that of all right ones."""
    return np.array([1.0, 6.0])


totals.mistakes(
    one_per_example=(
        np.array([1.0, 2.0]),
        "A right softmax gives a total of 1 to each query. How many queries are there in all?",
    ),
    one_example_alone=(
        np.array([1.0, 3.0]),
        "Each query has a total of 1. You counted those of one example.",
    ),
    totals_exchanged=(np.array([6.0, 1.0]), "The other way round: the faulty ones come first."),
    faulty_taken_for_right=(
        np.array([6.0, 6.0]),
        "The second is right. What does the faulty code divide all of its weights by?",
    ),
    entries_counted=(
        np.array([1.0, 18.0]),
        "That is the number of weights. What do they add up to?",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The weights have the wrong shape.",
            "Each row adds up to about 0.125, and outputs are far too small.",
            "Each row still adds up to 1, but within a row the ratios are wrong.",
            "The weights are NaN.",
        ]
    ),
)
def symptom():
    """What would one notice with nearly equal scores of shape (1, 2, 4, 4)?"""
    return "B"


symptom.mistakes(
    wrong_shape=(
        "A",
        "Dividing by a single number keeps every shape, which is why it isn't noticed.",
    ),
    still_one=("C", "All weights together add up to 1, and there are eight rows."),
    not_a_number=("D", "Neither the exponentials nor their sum are 0 or infinite here."),
)


@exercise.part(points=2.5, answer=Numbers())
def leak(seed):
    """The total faulty weight of example 0, before and after 5 is added to example 1's scores."""
    S = scores(seed)
    raised = S + np.array([0, 5])[:, None, None]
    return np.array([over_everything(S)[0].sum(), over_everything(raised)[0].sum()])


@leak.alternative
def from_the_row_sums(rowsums):
    """Of two shares that make up everything, the second one grows by the factor e⁵."""
    before, other = rowsums.sum(axis=-1)
    return np.array([before, before / (before + np.exp(5) * other)])


@leak.alternative
def from_the_row_sums_of_one(rowsums):
    """The same by the share of example 0 alone, since both together are 1."""
    before = rowsums[0].sum()
    return np.array([before, before / (before + np.exp(5) * (1 - before))])


@leak.misconception()
def nothing_leaks(seed):
    """You say that nothing changes. One sum for the whole batch has both examples in it."""
    before = over_everything(scores(seed))[0].sum()
    return np.array([before, before])


@leak.misconception()
def of_the_other_example(seed):
    """That is example 1, which gains. What is left for example 0?"""
    S = scores(seed)
    raised = S + np.array([0, 5])[:, None, None]
    return np.array([over_everything(S)[1].sum(), over_everything(raised)[1].sum()])


@leak.misconception()
def raised_itself(seed):
    """You added 5 to the scores of example 0. It is example 1 whose scores grow."""
    S = scores(seed)
    raised = S + np.array([5, 0])[:, None, None]
    return np.array([over_everything(S)[0].sum(), over_everything(raised)[0].sum()])


@leak.misconception()
def five_times(seed):
    """You multiplied by 5. It is added to the scores, so the exponentials grow by the factor e⁵."""
    S = scores(seed)
    raised = S * np.array([1, 5])[:, None, None]
    return np.array([over_everything(S)[0].sum(), over_everything(raised)[0].sum()])


@leak.misconception()
def divided_by_the_factor(seed):
    """You divided by e⁵. Only one part of the sum grows by that: the other is as it was."""
    before = over_everything(scores(seed))[0].sum()
    return np.array([before, before * np.exp(-5)])


@exercise.reference
def repair(weights: Float[ndarray, "*batch n m"]) -> Float[ndarray, "*batch n m"]:
    """Divide each row by its sum."""
    return weights / weights.sum(axis=-1, keepdims=True)


@exercise.alternative
def by_a_product_with_ones(weights):
    """Sum with a matrix product."""
    return weights / (weights @ np.ones((weights.shape[-1], 1)))


@exercise.alternative
def row_by_row(weights):
    """Go through all rows."""
    rows = [row / sum(row) for row in weights.reshape(-1, weights.shape[-1])]
    return np.array(rows).reshape(weights.shape)


@exercise.alternative
def through_logarithms(weights):
    """Take logarithms, and a softmax along the last axis."""
    return softmax(np.log(weights))


@exercise.check(points=1, visible=True)
def gives_back_the_right_weights(call, rng):
    """From the faulty weights of a batch to those of a softmax for each query."""
    for shape in ((2, 4, 3, 3), (2, 3, 5), (3, 4)):
        S = rng.normal(size=shape)
        agree(call(over_everything(S)), softmax(S))


@exercise.check(points=1)
def rows_add_up(call, rng):
    """Every row adds up to 1, whatever its faulty share was."""
    weights = over_everything(rng.normal(size=(2, 4, 3, 6)) * 4)
    rows_sum_to_one(call(weights))


@exercise.misconception
def softmax_again(weights):
    """You applied another softmax. Weights are no scores: dividing is enough."""
    return softmax(weights)


@exercise.misconception(credit=0.4)
def multiplied_by_the_rows(weights):
    """You multiplied by the number of rows. Their shares of the sum are not equal."""
    return weights * (weights.size / weights.shape[-1])


@exercise.misconception(credit=0.4)
def columns_divided(weights):
    """Your columns add up to 1. It is the rows that belong to the queries."""
    return weights / weights.sum(axis=-2, keepdims=True)


@exercise.misconception(credit=0.4)
def examples_divided(weights):
    """You divided along axis 0, the examples. A query's weights stand along the last axis."""
    return weights / weights.sum(axis=0, keepdims=True)


@exercise.misconception(credit=0.4)
def second_axis_divided(weights):
    """You divided along axis 1. That is the last axis of a matrix alone: call it −1."""
    return weights / weights.sum(axis=1, keepdims=True)


@exercise.misconception
def axis_of_the_sums_lost(weights):
    """Shapes don't fit. Have your sums lost an axis? `keepdims=True` keeps it."""
    return weights / weights.sum(axis=-1)


@exercise.misconception(credit=0.4)
def whole_examples(weights):
    """You divided by the sum of the whole last two axes. Each query has a sum of its own."""
    return weights / weights.sum(axis=(-2, -1), keepdims=True)


@exercise.misconception(credit=0.4)
def largest_to_one(weights):
    """You divided by the largest weight of a row. They should add up to 1."""
    return weights / weights.max(axis=-1, keepdims=True)
