"""Routing a batch: choose experts, count loads, limit them.

Source: Fedus, Zoph & Shazeer (2022), "Switch Transformers", section 2.2.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, agree, require
from autograder.exercise.properties import permutation_equivariant, worked
from reference.helpers import softmax

exercise = Exercise(
    "moe_route",
    title="Routing a batch",
    source="Fedus et al. (2022), section 2.2",
    minutes=40,
    hints=[
        "To sort downwards, sort the negatives upwards. Which kind of sort leaves equal entries "
        "in their order?",
        "`np.take_along_axis` picks from each row what your indices name, and `np.bincount` "
        "counts how often each index was named.",
    ],
)

LOGITS = np.array(
    [
        [2, 1, 0, -1],
        [3, 0, 1, 0],
        [1, 2, 0, 0],
        [0, 3, 1, -1],
        [2, 0, -1, 1],
        [2, 2.5, 0, 0],
        [1, 0, 3, 0],
        [4, 1, 0, 2],
    ]
)
FACTOR = 1.25


@exercise.reference
def route(logits: Float[ndarray, "T E"], k: int) -> tuple:
    """The k experts with the largest logits for each token, and their gates of the softmax."""
    chosen = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    return chosen, np.take_along_axis(softmax(logits), chosen, axis=1)


@exercise.alternative
def token_by_token(logits, k):
    """Sort the experts of every token by logit, then by index."""
    chosen = [sorted(range(len(row)), key=lambda e, r=row: (-r[e], e))[:k] for row in logits]
    gates = softmax(logits)
    return np.array(chosen), np.array([gates[t, c] for t, c in enumerate(chosen)])


@exercise.alternative
def largest_again_and_again(logits, k):
    """Take the largest k times; argmax takes the first of equal ones."""
    left, gates = np.array(logits, dtype=float), softmax(logits)
    rows, chosen = np.arange(len(left)), []
    for _ in range(k):
        chosen.append(left.argmax(axis=1))
        left[rows, chosen[-1]] = -np.inf
    chosen = np.stack(chosen, axis=1)
    return chosen, gates[rows[:, None], chosen]


@exercise.alternative
def by_lexsort(logits, k):
    """Sort by two keys at once, in lists."""
    chosen = [np.lexsort((np.arange(len(row)), -row))[:k].tolist() for row in logits]
    gates = [[softmax(row)[e] for e in c] for row, c in zip(logits, chosen, strict=True)]
    return chosen, gates


def batch(rng, T=6, E=5):
    """Logits of T tokens for E experts, no two of a token near each other."""
    return rng.permuted(np.tile(np.linspace(-1.5, 1.5, E), (T, 1)), axis=1) + rng.uniform(
        0, 0.2, (T, E)
    )


@exercise.check(points=1, visible=True)
def chooses_the_largest(call, rng):
    """For each token the k experts with the largest logits, the largest first."""
    logits = batch(rng)
    chosen, _ = pair(call(logits, 2))
    agree(chosen, route(logits, 2)[0], what="the indices")


@exercise.check(points=1, visible=True)
def gates_of_the_chosen(call, rng):
    """The gates are entries of the softmax over all experts, in the order of the indices."""
    logits = batch(rng)
    chosen, gates = pair(call(logits, 3))
    chosen = np.asarray(chosen)
    require(chosen.shape == (6, 3), "the indices should have the shape (T, k)")
    require(np.isin(chosen, range(5)).all(), "an index is no expert")
    agree(gates, np.take_along_axis(softmax(logits), chosen.astype(int), 1), what="the gates")


@exercise.check(points=0.5)
def ties_go_to_the_first(call, rng):
    """Of equal logits the smaller index comes first."""
    logits = np.zeros((3, 4))
    logits[1] = [1, 2, 1, 2]
    agree(pair(call(logits, 3))[0], [[0, 1, 2], [1, 3, 0], [0, 1, 2]], what="the indices")


@exercise.check(points=0.5)
def one_or_all(call, rng):
    """k = 1 gives one column, k = E all experts with gates that add up to 1."""
    logits = batch(rng)
    for k in (1, 5):
        chosen, gates = (np.asarray(x) for x in pair(call(logits, k)))
        require(chosen.shape == gates.shape == (6, k), "the results should have the shape (T, k)")
    require(np.allclose(gates.sum(axis=1), 1), "all gates together should add up to 1")
    require((np.sort(chosen, axis=1) == np.arange(5)).all(), "with k = E every expert is chosen")
    many = rng.normal(size=(2, 700))  # more than a partial sort happens to put in order
    agree(pair(call(many, 350))[0], route(many, 350)[0], what="the indices of 350 experts of 700")


@exercise.check(points=0.5)
def tokens_keep_to_themselves(call, rng):
    """Another order of the tokens is another order of the rows: no token depends on others."""
    logits = batch(rng, T=7)
    for which, what in enumerate(("the array of indices", "the array of gates")):
        permutation_equivariant(lambda x, i=which: pair(call(x, 2))[i], logits, rng, what=what)
    alone, together = pair(call(logits[:1], 2))[1], pair(call(logits, 2))[1]
    agree(np.asarray(alone), np.asarray(together)[:1], what="the gates of a token by itself")


@exercise.check(points=0.5)
def large_logits(call, rng):
    """Gates stay finite for large logits: those of logits that are all smaller by 1000."""
    logits = batch(rng)
    gates = worked(pair(call(logits, 2))[1], what="the gates")
    agree(pair(call(logits + 1000, 2))[1], gates, rtol=1e-6, what="the gates")


def pair(result):
    """Indices and gates."""
    require(
        isinstance(result, tuple | list) and len(result) == 2,
        "return two arrays: the indices and the gates",
    )
    return result


@exercise.misconception
def smallest_logits(logits, k):
    """You sorted upwards: these are the experts with the smallest logits."""
    chosen = np.argsort(logits, axis=1, kind="stable")[:, :k]
    return chosen, np.take_along_axis(softmax(logits), chosen, axis=1)


@exercise.misconception
def smaller_gate_first(logits, k):
    """You take the end of an ascending order: so the smaller gate, or larger index, comes first."""
    chosen = np.argsort(logits, axis=1, kind="stable")[:, logits.shape[1] - k :]
    return chosen, np.take_along_axis(softmax(logits), chosen, axis=1)


@exercise.misconception(credit=0.4)
def sorted_by_index(logits, k):
    """You put the experts in order of their indices. The one with the largest logit comes first."""
    chosen = np.sort(route(logits, k)[0], axis=1)
    return chosen, np.take_along_axis(softmax(logits), chosen, axis=1)


@exercise.misconception
def ties_to_the_last(logits, k):
    """Of equal logits you take the larger index."""
    chosen = np.argsort(logits, axis=1, kind="stable")[:, ::-1][:, :k]
    return chosen, np.take_along_axis(softmax(logits), chosen, axis=1)


@exercise.misconception
def gates_renormalised(logits, k):
    """Your gates add up to 1 for the chosen experts. Here they stay as the softmax gave them."""
    chosen, gates = route(logits, k)
    return chosen, gates / gates.sum(axis=1, keepdims=True)


@exercise.misconception
def logits_as_gates(logits, k):
    """You return logits. The gates are entries of their softmax."""
    chosen, _ = route(logits, k)
    return chosen, np.take_along_axis(logits, chosen, axis=1)


@exercise.misconception(credit=0.2)
def softmax_over_tokens(logits, k):
    """Your softmax runs over the tokens. Each token shares its mass among the experts."""
    chosen, _ = route(logits, k)
    return chosen, np.take_along_axis(softmax(logits, axis=0), chosen, axis=1)


@exercise.misconception(credit=0.2)
def one_softmax_for_all(logits, k):
    """All gates of the batch add up to 1. Each token has a softmax of its own."""
    chosen, _ = route(logits, k)
    return chosen, np.take_along_axis(softmax(logits, axis=None), chosen, axis=1)


@exercise.misconception
def gates_not_shifted(logits, k):
    """Exponentials of large logits overflow. Subtract the largest one first."""
    chosen, _ = route(logits, k)
    with np.errstate(all="ignore"):
        gates = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return chosen, np.take_along_axis(gates, chosen, axis=1)


@exercise.misconception
def all_gates(logits, k):
    """You return the gates of all experts. Return those of the chosen ones, shape (T, k)."""
    return route(logits, k)[0], softmax(logits)


@exercise.part(points=0.25, answer=Count())
def load(route):
    """How many assignments each expert gets with k = 2."""
    return np.bincount(np.asarray(route(LOGITS, 2)[0], int).ravel(), minlength=4)


@load.misconception()
def first_choices_alone(route):
    """You counted first choices. With k = 2 each token is assigned twice."""
    return np.bincount(np.asarray(route(LOGITS, 1)[0], int).ravel(), minlength=4)


@exercise.part(points=0.75, answer=Count())
def top1_load(route):
    """The same with k = 1."""
    return np.bincount(np.asarray(route(LOGITS, 1)[0], int).ravel(), minlength=4)


@top1_load.misconception(credit=0.5)
def sixth_token_misread():
    """Look at the sixth token once more: which of its two positive logits is larger?"""
    return np.array([5, 2, 1, 0])


@top1_load.misconception()
def second_choices_too(route):
    """These are the loads with two experts for each token."""
    return np.bincount(np.asarray(route(LOGITS, 2)[0], int).ravel(), minlength=4)


@exercise.part(points=0.5, answer=Count())
def capacity():
    """How many assignments an expert takes with the capacity factor 1.25 and k = 2."""
    return math.ceil(FACTOR * 2 * 8 / 4)


capacity.mistakes(
    capacity_without_k=(
        math.ceil(FACTOR * 8 / 4),
        "Each token is assigned k times, so there are k T assignments to share.",
    ),
    capacity_without_factor=(4, "That is the even share. The factor leaves room beyond it."),
)


@exercise.part(points=0.5, answer=Count())
def dropped(load, capacity):
    """How many assignments of each expert are dropped."""
    return np.maximum(load - capacity, 0)


@dropped.misconception()
def experts_over_capacity(load, capacity):
    """You marked the experts that are too full. How many assignments are beyond the capacity?"""
    return (load > capacity).astype(int)


@dropped.misconception(credit=0.5)
def less_than_none(load, capacity):
    """An expert with room to spare drops nothing: no number is below 0."""
    return load - capacity


@dropped.misconception(credit=0.5)
def distances_from_the_capacity(load, capacity):
    """An expert with room to spare drops nothing: you counted its empty places."""
    return np.abs(load - capacity)


@dropped.misconception()
def room_left(load, capacity):
    """That is the room that is left. Empty places elsewhere don't help a full expert."""
    return np.maximum(capacity - load, 0)
