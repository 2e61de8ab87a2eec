"""What a head looks at: five averages of its weights.

Source: Clark et al. (2019), "What does BERT look at?", section 3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Mismatch, Numbers, agree, alike, data_file, require
from reference.helpers import echo_pass, softmax

exercise = Exercise(
    "head_profile",
    title="Local, previous-token, uniform, first-token",
    source="Clark et al. (2019), section 3",
    minutes=50,
    hints=[
        "Draw the four maps as tables of six rows. What stands in row 0 of each, and over how "
        "many rows does each average go?",
        "The numbers |i − j| are a table of their own, to be multiplied with the map entry by "
        "entry. `np.diagonal` lets you choose an offset and two axes, so that axes in front "
        "survive.",
    ],
)

N = 6
MAPS = np.array(
    [
        np.eye(N),
        np.eye(N)[[0, 0, 1, 2, 3, 4]],
        np.tri(N) / np.arange(1, N + 1)[:, None],
        np.eye(N)[[0] * N],
    ]
)

UNIFORM = np.arange(4)[:, None, None] == 2  # the third of the four maps

LETTERS = "^ABCDEFGHIJ"
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a11_theory/echo.npz")).items()}
TOY = echo_pass(ECHO, [LETTERS.index(letter) for letter in "^BADGEBADGE"])[1].reshape(4, 11, 11)


def steps(A):
    """Return |i − j| for every entry of the last two axes."""
    i, j = np.indices(A.shape[-2:])
    return np.abs(i - j)


def mean_distance(A):
    """Return the mean over the rows of Σ_j A_ij |i − j|."""
    return (A * steps(A)).sum(axis=-1).mean(axis=-1)


def mean_previous(A):
    """Return the mean weight on the token before, for all rows that have one."""
    return np.diagonal(A, -1, -2, -1).mean(axis=-1)


def mean_entropy(A):
    """Return the mean entropy of a row."""
    return -np.sum(A * np.log(np.where(A > 0, A, 1)), axis=-1).mean(axis=-1)


def averages(A):
    """Return all five."""
    return {
        "distance": mean_distance(A),
        "previous": mean_previous(A),
        "first": A[..., 0].mean(axis=-1),
        "entropy": mean_entropy(A),
        "diagonal": np.diagonal(A, 0, -2, -1).mean(axis=-1),
    }


def followed(head_profile, name):
    """Return an entry for the four maps, if the function has most of them right."""
    found, right = head_profile(MAPS), averages(MAPS)
    if sum(alike(found.get(each), right[each]) for each in right) < 3:
        raise ValueError("from such a function nothing follows")
    return np.asarray(found[name])


@exercise.part(points=1, answer=Numbers())
def distance(head_profile):
    """The mean attention distances of the four maps."""
    return followed(head_profile, "distance")


@distance.misconception()
def distances_added():
    """You added up the rows. Average over them."""
    return N * mean_distance(MAPS)


@distance.misconception()
def of_the_favourite():
    """You took the distance of the largest weight. Every key counts with its weight."""
    return np.abs(MAPS.argmax(axis=-1) - np.arange(N)).mean(axis=-1)


@distance.misconception()
def first_row_left_out():
    """You divided by five. The first row has a distance, too."""
    return mean_distance(MAPS) * N / (N - 1)


@distance.misconception()
def squared_distances():
    """You squared the distances."""
    return (MAPS * steps(MAPS) ** 2).sum(axis=-1).mean(axis=-1)


@distance.misconception()
def first_row_moved_on():
    """In the second map one row looks at itself. It counts, with its distance."""
    return mean_distance(MAPS) * [1, N / (N - 1), 1, 1]


@distance.misconception()
def distances_without_the_mask():
    """In the uniform map you let every row see all six keys. What does the mask leave?"""
    return mean_distance(np.where(UNIFORM, 1 / N, MAPS))


@exercise.part(points=0.5, answer=Numbers())
def previous(head_profile):
    """The mean weights on the previous token, over rows 1 to 5."""
    return followed(head_profile, "previous")


@previous.misconception()
def all_six_rows():
    """You divided by six. The first row has no previous token."""
    return mean_previous(MAPS) * (N - 1) / N


@previous.misconception()
def next_token():
    """You took the diagonal above. Rows are queries, and the key before stands left of the own."""
    return np.diagonal(MAPS, 1, 1, 2).mean(axis=-1)


@previous.misconception()
def own_token():
    """That is the weight on the token itself."""
    return np.diagonal(MAPS, 0, 1, 2).mean(axis=-1)


@previous.misconception()
def previous_without_the_mask():
    """In the uniform map you let every row see all six keys. What does the mask leave?"""
    return mean_previous(np.where(UNIFORM, 1 / N, MAPS))


@exercise.part(points=0.5, answer=Numbers())
def entropy(head_profile):
    """The mean row entropies of the four maps, in nats."""
    return followed(head_profile, "entropy")


@entropy.misconception()
def six_keys_for_all():
    """You gave all rows of the uniform map six keys. What does the causal mask leave?"""
    return np.array([0, 0, np.log(N), 0])


@entropy.misconception()
def entropies_added():
    """You added up the rows. Average over them."""
    return N * mean_entropy(MAPS)


@entropy.misconception()
def row_without_doubt_left_out():
    """You divided by five. A row that is certain counts, too."""
    return mean_entropy(MAPS) * N / (N - 1)


@entropy.misconception()
def of_the_mean_row():
    """You took the entropy of the mean row. Average the entropies of the rows."""
    return mean_entropy(MAPS.mean(axis=1, keepdims=True))


@exercise.reference
def head_profile(A: Float[ndarray, "*b n n"]) -> dict[str, Float[ndarray, "*b"] | float]:
    """Return averages over the rows, one number for each head of each example."""
    return averages(A)


@exercise.alternative
def with_einsum(A):
    """Sums with named axes."""
    n = A.shape[-1]
    i = np.arange(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.nan_to_num(-A * np.log(A))
    return {
        "distance": np.einsum("...ij,ij->...", A, abs(i[:, None] - i)) / n,
        "previous": A[..., i[1:], i[:-1]].sum(-1) / (n - 1),
        "first": np.einsum("...i->...", A[..., 0]) / n,
        "entropy": surprise.sum((-2, -1)) / n,
        "diagonal": np.einsum("...ii->...", A) / n,
    }


@exercise.alternative
def map_by_map(A):
    """Plain loops over the maps."""
    n = A.shape[-1]

    def one(X):
        return [
            np.mean([sum(X[i, j] * abs(i - j) for j in range(n)) for i in range(n)]),
            np.mean([X[i, i - 1] for i in range(1, n)]),
            np.mean(X[:, 0]),
            np.mean([-sum(x * np.log(x) for x in row if x > 0) for row in X]),
            np.trace(X) / n,
        ]

    found = np.array([one(X) for X in A.reshape(-1, n, n)]).T.reshape(5, *A.shape[:-2])
    return dict(zip(("distance", "previous", "first", "entropy", "diagonal"), found, strict=True))


@exercise.alternative
def by_traces(A):
    """Traces of shifted maps."""
    n = A.shape[-1]
    safe = np.clip(A, np.finfo(float).tiny, 1)
    return {
        "diagonal": np.trace(A, axis1=-2, axis2=-1) / n,
        "previous": np.trace(A, -1, axis1=-2, axis2=-1) / (n - 1),
        "first": np.mean(A, axis=-2)[..., 0],
        "entropy": -(A * np.log(safe)).sum(-1).mean(-1),
        "distance": sum(abs(k) * np.trace(A, k, axis1=-2, axis2=-1) for k in range(1 - n, n)) / n,
    }


def profile(call, A, *names):
    """Call, and require these entries to be right."""
    found, right = call(A), head_profile(A)
    require(isinstance(found, dict), "a dictionary is asked for")
    for name in names:
        if name not in found:
            raise Mismatch(f"the dictionary has no entry {name!r}")
        agree(found[name], right[name], what=f"the entry {name!r}", atol=1e-7)


def weights(rng, *shape):
    """Weights of any map, causal or not."""
    return softmax(2 * rng.normal(size=shape))


@exercise.check(points=0.75, visible=True)
def distances(call, rng):
    """`distance` is the mean over the rows of Σ_j A_ij |i − j|, for maps that look ahead, too."""
    profile(call, weights(rng, 5, 5), "distance")
    profile(call, weights(rng, 7, 7), "distance")


@exercise.check(points=0.25, visible=True)
def on_the_previous(call, rng):
    """`previous` is the mean weight on the token before, over the rows that have one."""
    profile(call, weights(rng, 5, 5), "previous")


@exercise.check(points=0.25, visible=True)
def on_the_first(call, rng):
    """`first` is the mean weight on token 0."""
    profile(call, weights(rng, 5, 5), "first")


@exercise.check(points=0.25, visible=True)
def on_itself(call, rng):
    """`diagonal` is the mean weight of a token on itself."""
    profile(call, weights(rng, 5, 5), "diagonal")


@exercise.check(points=0.5)
def entropies(call, rng):
    """`entropy` is the mean entropy of a row; a weight of 0 adds nothing to it."""
    A = weights(rng, 6, 6) * np.tri(6)
    profile(call, A / A.sum(-1, keepdims=True), "entropy")


@exercise.check(points=0.5)
def batches_and_heads(call, rng):
    """Maps of shape (batch, heads, n, n) give entries of shape (batch, heads), each its own."""
    A = weights(rng, 2, 3, 4, 4)
    found, each = call(A), [[call(X) for X in heads] for heads in A]
    require(isinstance(found, dict), "a dictionary is asked for")
    differing = 0
    for name in averages(A):
        require(name in found, f"the dictionary has no entry {name!r}")
        alone = np.array([[one[name] for one in heads] for heads in each])
        agree(found[name], alone, what=f"the entry {name!r}", atol=1e-7)
        differing += np.ptp(alone) > 1e-6
    require(differing >= 3, "most entries are the same for all maps")


@exercise.misconception
def signed_distance(A):
    """You average i − j. A key ahead of the query is far away as well."""
    i, j = np.indices(A.shape[-2:])
    return head_profile(A) | {"distance": (A * (i - j)).sum(-1).mean(-1)}


@exercise.misconception
def distance_not_averaged(A):
    """You add up the distances of the rows. Average over them."""
    return head_profile(A) | {"distance": (A * steps(A)).sum((-2, -1))}


@exercise.misconception
def distance_averaged_twice(A):
    """You averaged over the keys as well. The weights of a row already average its distances."""
    return head_profile(A) | {"distance": (A * steps(A)).mean((-2, -1))}


@exercise.misconception
def previous_over_all_rows(A):
    """The first row has no token before it: there is one weight fewer to average."""
    n = A.shape[-1]
    return head_profile(A) | {"previous": mean_previous(A) * (n - 1) / n}


@exercise.misconception
def following_token(A):
    """You took the diagonal above. Rows are queries, and the key before stands left of the own."""
    return head_profile(A) | {"previous": np.diagonal(A, 1, -2, -1).mean(-1)}


@exercise.misconception
def largest_weight(A):
    """You took the largest weight of each row. `diagonal` is the one on the token itself."""
    return head_profile(A) | {"diagonal": A.max(-1).mean(-1)}


@exercise.misconception
def first_query(A):
    """You averaged the first row. Which weights do all queries give to the first key?"""
    return head_profile(A) | {"first": A[..., 0, :].mean(-1)}


@exercise.misconception
def zeros_become_nan(A):
    """0 · log 0 is NaN for a computer, and counts as 0 in an entropy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return head_profile(A) | {"entropy": -(A * np.log(A)).sum(-1).mean(-1)}


@exercise.misconception
def entropy_in_bits(A):
    """Your entropy is in bits. Nats come from the natural logarithm."""
    return head_profile(A) | {"entropy": head_profile(A)["entropy"] / np.log(2)}


@exercise.misconception
def entropy_of_the_mean(A):
    """You took the entropy of the mean row. Average the entropies of the rows."""
    return head_profile(A) | {"entropy": mean_entropy(A.mean(-2, keepdims=True))}


@exercise.misconception
def one_number_for_all(A):
    """You average over batch and heads as well. Each map has a profile of its own."""
    return {name: np.mean(value) for name, value in head_profile(A).items()}


@exercise.part(points=0.5, answer=Numbers())
def toy(head_profile):
    """The mean weights on the previous token and on the first one, of the four trained heads."""
    found = head_profile(TOY)
    return np.array([found["previous"], found["first"]])


@toy.misconception()
def rows_exchanged(head_profile):
    """You exchanged the two rows: the previous token comes first."""
    found = head_profile(TOY)
    return np.array([found["first"], found["previous"]])


@toy.misconception()
def own_for_previous(head_profile):
    """The first row holds weights on the token itself."""
    found = head_profile(TOY)
    return np.array([found["diagonal"], found["first"]])
