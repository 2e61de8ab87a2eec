"""How specialised and how diverse heads are.

Source: Li et al. (2018), "Multi-head attention with disagreement regularization", section 3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.algebra import IndexedChain
from autograder.exercise import Choice, Derivation, Exercise, Numbers, agree, alike, require

exercise = Exercise(
    "head_metrics",
    title="Specialisation and diversity",
    source="Li et al. (2018), section 3",
    minutes=55,
    hints=[
        "The mean head is a matrix like the others. Form the difference first; a distance is the "
        "norm of that.",
        "In the derivation multiply the square out, and ask of each term which of the two indices "
        "it knows: a sum over the other one only counts.",
        "Try each weakness out on small heads: multiply them all, exchange two, take one twice. "
        "And which matrix do heads still go through?",
    ],
)

heads = np.array([np.eye(2), np.eye(2), np.diag([4.0, 5])])


def size(X, order="fro"):
    """Return the norm of each matrix."""
    return np.linalg.norm(X, order, axis=(-2, -1))


def deviations(H):
    """Return the distance of each head from the mean head."""
    return size(H - H.mean(axis=0))


def distances(H, order="fro"):
    """Return the distances between all pairs of heads."""
    return size(H[:, None] - H, order)


@exercise.part(points=1, answer=Numbers())
def S():
    """The distances of the three heads from their mean."""
    return deviations(heads)


@S.misconception()
def squared():
    """These are squares. The norm is the root of the sum of squares."""
    return deviations(heads) ** 2


@S.misconception()
def from_the_others():
    """You took the mean of the other heads. The mean goes over all of them."""
    return 1.5 * deviations(heads)


@S.misconception()
def largest_stretch():
    """That is the spectral norm. The Frobenius norm adds up the squares of all entries."""
    return size(heads - heads.mean(axis=0), 2)


@S.misconception()
def norms_of_the_heads():
    """You took the norms of the heads themselves. Subtract their mean first."""
    return size(heads)


@S.misconception()
def twins_counted_once():
    """You took the mean of the two different heads. Heads that are alike count one by one."""
    return size(heads - (heads[0] + heads[2]) / 2)


@exercise.part(points=0.5, answer=Numbers())
def D():
    """The sum of the distances over all ordered pairs of different heads."""
    return distances(heads).sum()


@D.misconception(credit=0.5)
def each_pair_once():
    """You counted every pair once. The sum goes over ordered pairs."""
    return distances(heads).sum() / 2


@D.misconception()
def spectral():
    """You took the spectral norm. The Frobenius norm adds up the squares of all entries."""
    return distances(heads, 2).sum()


@D.misconception()
def squares_added():
    """You added up squared distances."""
    return (distances(heads) ** 2).sum()


@D.misconception()
def mean_distance():
    """You averaged over the pairs. The sum is asked for."""
    return distances(heads).sum() / 6


@exercise.part(points=0.5, answer=Numbers())
def D_scaled(D):
    """D after all outputs are multiplied by 10."""
    return 10 * D


@D_scaled.misconception()
def unchanged(D):
    """You left D as it was. What does a norm do if its matrix is multiplied by 10?"""
    return D


@D_scaled.misconception()
def factor_squared(D):
    """You squared the factor. That happens to a square of a norm."""
    return 100 * D


chain = IndexedChain(
    start="sum(sum((x_i - x_j)^2, i), j)",
    target="2*h*sum((x_i - m)^2, i)",
    names=("m",),
    indexed=("x",),
    indices=("i", "j", "k", "l"),  # m is a name here
    size="h",
    definitions={"m": "sum(x_k, k)/h"},
    rules=("linearity of sums", "definition"),
)


@exercise.part(points=2, answer=Derivation(chain))
def pairs_steps():
    """All squared distances of pairs, led to those from the mean, for one entry of the outputs."""
    return [
        "sum(sum(x_i^2 - 2*x_i*x_j + x_j^2, i), j)  # algebra",
        "2*h*sum(x_i^2, i) - 2*sum(x_i, i)*sum(x_j, j)  # linearity of sums",
        "2*h*sum(x_i^2, i) - 2*h^2*m^2  # definition",
        "2*h*(sum(x_i^2, i) - 2*m*sum(x_i, i) + h*m^2)  # definition",
        "2*h*sum((x_i - m)^2, i)  # linearity of sums",
    ]


@pairs_steps.alternative
def one_sum_after_the_other():
    """Carry out the inner sum first."""
    return [
        "sum(sum(x_i^2 - 2*x_i*x_j + x_j^2, i), j)",
        "sum(sum(x_i^2, i) - 2*x_j*sum(x_i, i) + h*x_j^2, j)",
        "h*sum(x_i^2, i) - 2*sum(x_j, j)*sum(x_i, i) + h*sum(x_j^2, j)",
        "2*h*sum(x_i^2, i) - 2*(h*m)^2",
        "2*h*sum(x_i^2, i) - 4*h*m*sum(x_i, i) + 2*h^2*m^2",
        "2*h*sum((x_i - m)^2, i)",
    ]


@pairs_steps.alternative
def around_the_mean():
    """Subtract m from both, so that the mixed term vanishes."""
    return [
        "sum(sum(((x_i - m) - (x_j - m))^2, i), j)",
        "2*h*sum((x_i - m)^2, i) - 2*sum(x_i - m, i)*sum(x_j - m, j)",
        "2*h*sum((x_i - m)^2, i) - 2*(sum(x_i, i) - h*m)^2",
        "2*h*sum((x_i - m)^2, i)",
    ]


@pairs_steps.alternative
def in_latex():
    """Write sums with their signs."""
    return [
        r"\sum_j \sum_i (x_i^2 - 2 x_i x_j + x_j^2)",
        r"2 h \sum_i x_i^2 - 2 \left(\sum_i x_i\right)^2",
        r"2 h \sum_i x_i^2 - 2 h^2 m^2",
        r"2 h \left(\sum_i x_i^2 - 2 m \sum_i x_i + h m^2\right)",
        r"2 h \sum_{k=1}^{h} (x_k - m)^2",
    ]


@exercise.reference
def head_metrics(
    H: Float[ndarray, "h n d"], normalise: bool = False
) -> tuple[Float[ndarray, " h"], float]:
    """Return the distances from the mean head, and the sum of those of all ordered pairs."""
    if normalise:
        H = H / np.sqrt((H**2).sum() / len(H))
    return deviations(H), distances(H).sum()


@exercise.alternative
def with_loops(H, normalise=False):
    """Plain loops over the heads."""
    scale = np.sqrt(np.mean([np.sum(head**2) for head in H])) if normalise else 1
    H = [head / scale for head in H]
    mean = sum(H) / len(H)
    S = [np.linalg.norm(head - mean) for head in H]
    return np.array(S), sum(np.linalg.norm(a - b) for a in H for b in H)


@exercise.alternative
def by_inner_products(H, normalise=False):
    """Distances from the Gram matrix of the flattened heads."""
    X = H.reshape(len(H), -1)
    X = X / np.linalg.norm(X) * np.sqrt(len(X)) if normalise else X
    squares = (X**2).sum(axis=1)
    between = squares[:, None] + squares - 2 * X @ X.T
    return np.linalg.norm(X - X.mean(axis=0), axis=1), np.sqrt(np.maximum(between, 0)).sum()


@exercise.alternative
def scaled_at_the_end(H, normalise=False):
    """Norms are homogeneous, so the results may be divided."""
    scale = np.sqrt((size(H) ** 2).mean()) if normalise else 1.0
    i, j = np.triu_indices(len(H), 1)
    return deviations(H) / scale, 2 * size(H[i] - H[j]).sum() / scale


def outputs(rng, h=4):
    """Heads of which no two are alike."""
    return rng.normal(size=(h, 3, 5)) * np.arange(1, h + 1)[:, None, None]


@exercise.check(points=1, visible=True)
def distances_from_the_mean(call, rng):
    """S is the distance of each head from the mean head, in the order of the heads."""
    for h in (4, 3):
        H = outputs(rng, h)
        S, _ = call(H)
        agree(S, deviations(H), what="S")
        S, _ = call(H[::-1])
        agree(S, deviations(H)[::-1], what="S with the heads in another order")


@exercise.check(points=1, visible=True)
def distances_of_pairs(call, rng):
    """D is the sum over ordered pairs; heads that are all alike have 0."""
    for h in (4, 3):
        H = outputs(rng, h)
        agree(call(H)[1], distances(H).sum(), rtol=1e-6, what="D")
    agree(call(np.ones((3, 2, 2)))[1], 0.0, atol=1e-6, what="D of equal heads")


@exercise.check(points=1)
def normalised_outputs(call, rng):
    """With `normalise`, S and D stay as they are when all outputs are multiplied by 10."""
    H = outputs(rng)
    S, D = call(H / np.sqrt((H**2).sum() / len(H)))  # by what comes for outputs of that size
    require(np.shape(S) == (len(H),), "S has one number for each head")
    require(not alike(call(H)[0], S), "S doesn't depend on how large the outputs are")
    for scale in (1, 10):
        found = call(scale * H, normalise=True)
        agree(found[0], S, what="S")
        agree(found[1], D, rtol=1e-6, what="D")


@exercise.misconception
def pairs_once(H, normalise=False):
    """You count every pair once. D goes over ordered pairs."""
    S, D = head_metrics(H, normalise)
    return S, D / 2


@exercise.misconception
def squares_for_norms(H, normalise=False):
    """You add up squared distances of pairs. Take the root of each."""
    S, _ = head_metrics(H, normalise)
    if normalise:
        H = H / np.sqrt((H**2).sum() / len(H))
    return S, (distances(H) ** 2).sum()


@exercise.misconception
def spectral_norms(H, normalise=False):
    """D is made of spectral norms. The Frobenius norm adds up the squares of all entries."""
    S, _ = head_metrics(H, normalise)
    scale = np.sqrt((H**2).sum() / len(H)) if normalise else 1
    return S, distances(H, 2).sum() / scale


@exercise.misconception
def from_the_other_heads(H, normalise=False):
    """S is the distance from the mean of the *other* heads. The mean goes over all of them."""
    S, D = head_metrics(H, normalise)
    return S * len(H) / (len(H) - 1), D


@exercise.misconception
def mean_of_all_entries(H, normalise=False):
    """For S you subtract one number, the mean of all entries. The mean head has n × d of them."""
    _, D = head_metrics(H, normalise)
    scale = np.sqrt((H**2).sum() / len(H)) if normalise else 1
    return size(H - H.mean()) / scale, D


@exercise.misconception
def never_normalised(H, normalise=False):
    """`normalise` has no effect."""
    return head_metrics(H)


@exercise.misconception(credit=0.3)
def each_head_by_itself(H, normalise=False):
    """You scale each head to the norm 1. One common factor is asked for, or the sizes are lost."""
    return head_metrics(H / size(H)[:, None, None] if normalise else H)


@exercise.misconception(credit=0.3)
def not_averaged(H, normalise=False):
    """You divide by the norm of all heads together. The mean of the squared norms is needed."""
    return head_metrics(H / np.linalg.norm(H) if normalise else H)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "They grow with the size of the outputs: a layer with larger values looks more "
            "diverse.",
            "$D$ changes when two heads are exchanged.",
            "Conventions differ: counted over unordered pairs, $D$ is half as large, so "
            "published numbers can't be compared without the definition.",
            "They don't see $W_O$: heads whose outputs differ may add the same thing to the "
            "stream.",
            "Two heads that are exactly alike have a positive distance from each other.",
        ],
        multiple=True,
    ),
)
def weaknesses():
    """The weaknesses of S and D as measures of how differently heads work."""
    return "ACD"


weaknesses.mistakes(
    scale_overlooked=("CD", "You overlooked what happens when the outputs are multiplied by 10."),
    order_blamed=(
        "ABCD",
        "You blamed D for depending on the order of the heads. Exchange two of them.",
    ),
    output_matrix_overlooked=(
        "AC",
        "Heads don't reach the stream as they are. What stands between them and it?",
    ),
    conventions_overlooked=(
        "AD",
        "Others add up each pair once: can you compare your D with theirs?",
    ),
    duplicates_blamed=(
        "ACDE",
        "You blamed D for duplicates: two equal heads have the distance 0, as they should.",
    ),
)
