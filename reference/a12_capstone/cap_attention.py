"""Where a trained transformer looks, and what its heads have in common.

Source: Clark et al. (2019), "What does BERT look at?", sections 3 to 5.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.exercise import (
    Count,
    Essay,
    Exercise,
    HeatMaps,
    Table,
    Undecided,
    Witness,
    agree,
    alike,
    require,
    seeded,
)
from autograder.exercise.properties import worked
from reference.helpers import (
    Pass,
    attention,
    cross_entropy,
    initial_weights,
    split_heads,
    transformer_shapes,
)

exercise = Exercise(
    "cap_attention",
    title="Inside the trained model",
    source="Clark et al. (2019), sections 3 to 5",
    minutes=75,
    hints=[
        "Give a model of yours these weights and run it once: afterwards its maps lie where part "
        "1 has put them. All sizes but the number of heads can be read from shapes.",
        "Mind the order: to measure a mean map is one thing, to average what was measured on each "
        "map another. Read for every function which of the two is asked for.",
        "See that the model reverses before you measure it. A head that knows nothing treats all "
        "six keys alike: hold your masses against that, and put both seeds side by side before "
        "you write.",
    ],
)

Transformer = exercise.carries("a12_capstone/cap_forward", "Transformer")

H, N, LAYERS = 2, 6, 2


class Recording(Pass):
    """A pass through the model that keeps the maps."""

    def __init__(self, weights, h=H):
        super().__init__(weights, h)
        self.maps = {}

    def attend(self, x, y, place, mask=None):
        """Keep what comes of it under the name of the place."""
        out, self.maps[place], back = super().attend(x, y, place, mask)
        return out, self.maps[place], back


def recorded(weights, src, dec_in, kind=Recording):
    """All maps of one pass."""
    there = kind(weights)
    there.translate(src, dec_in)
    return there.maps


@exercise.reference
def collect(weights: dict, src: Int[ndarray, "B n"], dec_in: Int[ndarray, "B m"]) -> dict:
    """Return the weights of all attentions by their places, (B, 2, n, m) each."""
    return recorded(weights, src, dec_in)


@exercise.alternative
def example_after_example(weights, src, dec_in):
    """One example at a time."""
    each = [recorded(weights, src[b : b + 1], dec_in[b : b + 1]) for b in range(len(src))]
    return {name: np.concatenate([maps[name] for maps in each]) for name in each[0]}


@exercise.alternative
def later_layers_first(weights, src, dec_in):
    """The names in another order, lists instead of arrays."""
    return {name: maps.tolist() for name, maps in sorted(recorded(weights, src, dec_in).items())}


@exercise.alternative
def head_after_head(weights, src, dec_in):
    """The heads one by one, from queries and keys."""

    class ByHead(Recording):
        def attend(self, x, y, place, mask=None):
            found = super().attend(x, y, place, mask)
            q, k = (
                z @ self.w[f"{place}.W_{name}"] + self.w[f"{place}.b_{name}"]
                for z, name in ((x, "q"), (y, "k"))
            )
            heads = [
                attention(a, b, b, mask)[1]
                for a, b in zip(np.split(q, H, -1), np.split(k, H, -1), strict=True)
            ]
            self.maps[place] = np.stack(heads, axis=1)
            return found

    return recorded(weights, src, dec_in, ByHead)


def inputs(rng):
    """Weights of a small model that looks sharply, and two batches of ids."""
    weights = initial_weights(transformer_shapes(9, 8, 10, LAYERS), rng)
    weights = {n: 1.5 * a + 0.3 * rng.normal(size=a.shape) for n, a in weights.items()}
    return weights, rng.integers(1, 9, (3, N)), rng.integers(0, 9, (3, N - 1))


def names_of(maps):
    """The names, and whether they are those asked for."""
    require(isinstance(maps, dict), "a dictionary of maps is asked for")
    return set(maps)


def of_a_model(call, weights, src, dec_in):
    """The maps that the model of part 1 keeps, be it the student's own."""
    own = call.own(Transformer).make(9, 8, H, 10, LAYERS, seeded(0))
    own.weights = weights
    own.decode(np.asarray(own.encode(src)), dec_in)
    require(names_of(own.attention), "your model of part 1 keeps no maps")
    return own.attention


@exercise.check(points=1, visible=True)
def six_maps(call, rng):
    """There are six maps under the names of their places, each for every example and head."""
    given = inputs(rng)
    found, right = call(*given), of_a_model(call, *given)
    require(names_of(found) == set(right), "the names are not those of the six attentions")
    for name, maps in right.items():
        agree(np.shape(found[name]), maps.shape, what=f"the shape of {name!r}")
        worked(found[name], what=f"{name!r}")


@exercise.check(points=2, after=six_maps)
def right_maps(call, rng):
    """The maps are those with which the model computes, in every layer."""
    weights, *ids = inputs(rng)
    ids = [batch[:2] for batch in ids]
    found = call(weights, *ids)
    other = call({name: 1.1 * array for name, array in weights.items()}, *ids)
    followed = any(not alike(maps, other[name]) for name, maps in found.items())
    require(followed, "the maps are the same whatever weights come: put them into the model")
    right = of_a_model(call, weights, *ids)
    require(names_of(found) == set(right), "the names are not those of the six attentions")
    for name, maps in right.items():
        agree(found[name], maps, rtol=1e-6, atol=1e-8, what=f"the maps of {name!r}")


@exercise.misconception(credit=0.5)
def heads_averaged(weights, src, dec_in):
    """You averaged over the heads. Each head has a map of its own."""
    return {name: maps.mean(axis=1) for name, maps in collect(weights, src, dec_in).items()}


@exercise.misconception(credit=0.5)
def batch_averaged(weights, src, dec_in):
    """You averaged over the batch. Here each example keeps its maps; `heatmaps` takes the mean."""
    return {name: maps.mean(axis=0) for name, maps in collect(weights, src, dec_in).items()}


@exercise.misconception
def source_and_target_exchanged(weights, src, dec_in):
    """You exchanged the two: the encoder reads the source, the decoder its own input."""
    return collect(weights, dec_in, src)


@exercise.misconception
def decoder_reads_the_source(weights, src, dec_in):
    """You gave the decoder the source as well. It reads `dec_in`."""
    return collect(weights, src, src)


@exercise.misconception(credit=0.5)
def first_example_only(weights, src, dec_in):
    """These are the maps of one example. The whole batch is asked for."""
    return {name: maps[:1] for name, maps in collect(weights, src, dec_in).items()}


@exercise.misconception(credit=0.5)
def maps_transposed(weights, src, dec_in):
    """Rows and columns are exchanged: a row holds the weights of one query."""
    return {name: np.swapaxes(m, -1, -2) for name, m in collect(weights, src, dec_in).items()}


class Uncovered(Recording):
    """See `decoder_sees_all`."""

    def attend(self, x, y, place, mask=None):
        """Forget the mask."""
        return super().attend(x, y, place)


@exercise.misconception(credit=0.25)
def decoder_sees_all(weights, src, dec_in):
    """The decoder's attention to itself is causal: nothing may look ahead."""
    return recorded(weights, src, dec_in, Uncovered)


class Scores(Recording):
    """See `scores_kept`."""

    def attend(self, x, y, place, mask=None):
        """Keep scores."""
        found = super().attend(x, y, place, mask)
        q, k = (
            split_heads(z @ self.w[f"{place}.W_{n}"] + self.w[f"{place}.b_{n}"], H)
            for z, n in ((x, "q"), (y, "k"))
        )
        self.maps[place] = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        return found


@exercise.misconception
def scores_kept(weights, src, dec_in):
    """These are scores. The maps are what comes of them through the softmax."""
    return recorded(weights, src, dec_in, Scores)


def drawn_maps(rng, n=N, m=N, sharp=2.0):
    """Maps of four examples and two heads: rows that sum to 1."""
    weights = np.exp(sharp * rng.normal(size=(4, H, n, m)))
    return weights / weights.sum(axis=-1, keepdims=True)


@exercise.reference
def heatmaps(maps: dict) -> dict:
    """Return the mean over the batch of every map, (2, n, m), under the same names."""
    return {name: np.mean(each, axis=0) for name, each in maps.items()}


@exercise.alternative
def sums_divided(maps):
    """Add up and divide."""
    return {name: sum(each) / len(each) for name, each in maps.items()}


@exercise.alternative
def means_with_einsum(maps):
    """Name the axes."""
    return {name: np.einsum("bhnm->hnm", each) / len(each) for name, each in maps.items()}


@exercise.alternative
def means_as_lists(maps):
    """Lists."""
    return {name: each.mean(axis=0).tolist() for name, each in maps.items()}


@exercise.check(points=3, visible=True)
def batch_means(call, rng):
    """A picture of every head shows the mean over the batch."""
    maps = {"encoder.0.self": drawn_maps(rng), "decoder.1.cross": drawn_maps(rng, 5, 4)}
    found = call(maps)
    require(names_of(found) == set(maps), "the names are not those of the maps")
    for name, right in heatmaps(maps).items():
        agree(found[name], right, what=f"the means of {name!r}")


@exercise.misconception
def one_example_shown(maps):
    """You show one example. The mean over the batch is asked for."""
    return {name: each[0] for name, each in maps.items()}


@exercise.misconception
def heads_mixed(maps):
    """You averaged over heads as well."""
    return {name: each.mean(axis=(0, 1)) for name, each in maps.items()}


@exercise.misconception
def mean_over_heads(maps):
    """You averaged over the heads and kept the batch. The batch is the first axis."""
    return {name: each.mean(axis=1) for name, each in maps.items()}


@exercise.misconception
def sums_shown(maps):
    """You added up the batch. A mean is asked for."""
    return {name: each.sum(axis=0) for name, each in maps.items()}


@exercise.reference
def head_distance(maps: Float[ndarray, "B 2 n m"]) -> float:
    """Return the Frobenius distance between the mean maps of two heads."""
    one, other = maps.mean(axis=0)
    return float(np.linalg.norm(one - other))


@exercise.alternative
def root_of_squares(maps):
    """Entry by entry."""
    return (np.diff(maps.mean(axis=0), axis=0) ** 2).sum() ** 0.5


@exercise.alternative
def mean_of_differences(maps):
    """Subtract first: the mean is linear."""
    return np.linalg.norm((maps[:, 0] - maps[:, 1]).mean(axis=0).ravel())


@exercise.alternative
def by_a_trace(maps):
    """The root of a trace."""
    off = np.subtract(*maps.mean(axis=0))
    return np.sqrt(np.trace(off.T @ off))


@exercise.check(points=1, visible=True)
def distance(call, rng):
    """Squares of all differences between the two mean maps, added up, and the root of that."""
    maps = drawn_maps(rng)
    agree(call(maps), head_distance(maps))


@exercise.misconception
def distance_squared(maps):
    """The root is missing."""
    return head_distance(maps) ** 2


@exercise.misconception
def distance_of_sums(maps):
    """You added up the batch before you measured. Average it."""
    return head_distance(maps) * len(maps)


@exercise.misconception
def mean_of_distances(maps):
    """You averaged distances. Average the maps first, then measure once."""
    return float(np.linalg.norm(maps[:, 0] - maps[:, 1], axis=(1, 2)).mean())


@exercise.misconception
def spectral_distance(maps):
    """This is another norm of the matrix: for Frobenius, add up all squares."""
    return float(np.linalg.norm(np.subtract(*maps.mean(axis=0)), 2))


@exercise.misconception
def amounts_added_up(maps):
    """You added up the differences without their signs. Frobenius squares them."""
    return float(np.abs(np.subtract(*maps.mean(axis=0))).sum())


@exercise.misconception
def root_of_a_mean(maps):
    """You took the mean of the squares. Add them up."""
    return float(np.sqrt(np.square(np.subtract(*maps.mean(axis=0))).mean()))


@exercise.misconception
def distance_of_whole_batches(maps):
    """You added up over the batch as well. Average the maps first, then measure once."""
    return float(np.linalg.norm(maps[:, 0] - maps[:, 1]))


@exercise.reference
def mirror_mass(maps: Float[ndarray, "B 2 n n"]) -> Float[ndarray, " 2"]:
    """Return for each head the mean weight on the mirrored position, over batch and queries."""
    return np.diagonal(maps[..., ::-1], axis1=-2, axis2=-1).mean(axis=(0, 2))


@exercise.alternative
def sum_over_queries(maps):
    """Query i and key n − 1 − i."""
    n = maps.shape[-1]
    return sum(maps[:, :, i, n - 1 - i] for i in range(n)).mean(axis=0) / n


@exercise.alternative
def with_a_permutation(maps):
    """Multiply with the mirrored identity."""
    n = maps.shape[-1]
    return (maps * np.eye(n)[::-1]).sum(axis=(0, 2, 3)) / (n * len(maps))


@exercise.alternative
def of_the_mean_map(maps):
    """Average over the batch first."""
    return [np.trace(np.fliplr(each)) / len(each) for each in maps.mean(axis=0)]


@exercise.check(points=1, visible=True)
def mass(call, rng):
    """Query i of n is mirrored by key n − 1 − i; the mean is over batch and queries."""
    maps = drawn_maps(rng)
    agree(call(maps), mirror_mass(maps))


@exercise.misconception
def mass_on_the_diagonal(maps):
    """This is the weight on the same position. The mirror of the first one is the last."""
    return np.diagonal(maps, axis1=-2, axis2=-1).mean(axis=(0, 2))


@exercise.misconception
def one_beside_the_mirror(maps):
    """You look one key beside the mirror: it is n − 1 − i, counted from 0."""
    return mirror_mass(np.roll(maps, 1, axis=-1))


@exercise.misconception
def counted_from_the_end(maps):
    """Key `-i` is one beside the mirror: from the end, the mirror of query i is key `-1 - i`."""
    return mirror_mass(np.roll(maps, -1, axis=-1))


@exercise.misconception
def mass_summed(maps):
    """You added up over the queries. The mean is asked for."""
    return mirror_mass(maps) * maps.shape[-1]


@exercise.reference
def row_entropy(maps: Float[ndarray, "B 2 n m"]) -> Float[ndarray, " 2"]:
    """Return for each head the mean entropy of a row, in nats; 0 log 0 is 0."""
    logs = np.log(np.where(maps > 0, maps, 1))
    return -(maps * logs).sum(axis=-1).mean(axis=(0, 2))


@exercise.alternative
def only_where_positive(maps):
    """Take logarithms of what has one."""
    terms = np.zeros_like(maps)
    positive = maps > 0
    terms[positive] = maps[positive] * np.log(maps[positive])
    return -np.einsum("bhnm->h", terms) / (maps.shape[0] * maps.shape[2])


@exercise.alternative
def with_a_tiny_number(maps):
    """A tiny number keeps the logarithm finite, and changes nothing."""
    return -(maps * np.log(maps + 1e-300)).sum(-1).mean(-1).mean(0)


@exercise.alternative
def head_by_head_in_a_list(maps):
    """One head after the other."""
    return [
        np.mean([-sum(p * np.log(p) for p in row if p > 0) for rows in head for row in rows])
        for head in np.swapaxes(maps, 0, 1)
    ]


@exercise.check(points=0.5, visible=True)
def entropy(call, rng):
    """The mean of −Σ p log p over all rows of a head."""
    maps = drawn_maps(rng, 4, 5)
    agree(call(maps), row_entropy(maps), rtol=1e-5)


@exercise.check(points=0.5)
def entropy_of_zeros(call, rng):
    """Rows with zeros, as those under a causal mask, have an entropy, too."""
    maps = np.tril(drawn_maps(rng))
    maps /= maps.sum(axis=-1, keepdims=True)
    agree(call(maps), row_entropy(maps), rtol=1e-5)


@exercise.misconception
def logarithm_of_zero(maps):
    """Where a weight is 0, your entropy isn't a number: 0 log 0 counts as 0."""
    with np.errstate(all="ignore"):
        return -(maps * np.log(maps)).sum(axis=-1).mean(axis=(0, 2))


@exercise.misconception
def in_bits(maps):
    """These are bits. The natural logarithm gives nats."""
    return row_entropy(maps) / np.log(2)


@exercise.misconception
def entropy_of_the_mean(maps):
    """You averaged the maps before: the entropy of a mean isn't the mean entropy."""
    return row_entropy(maps.mean(axis=0, keepdims=True))


@exercise.misconception
def along_the_queries(maps):
    """You added up over the queries. A row is the distribution of one query over the keys."""
    logs = np.log(np.where(maps > 0, maps, 1))
    return -(maps * logs).sum(axis=-2).mean(axis=(0, 2))


@exercise.misconception
def rows_added_up(maps):
    """You added up the entropies of all rows. Their mean is asked for."""
    return row_entropy(maps) * maps.shape[2]


@exercise.misconception
def whole_batch_added_up(maps):
    """You added up the entropies of all rows of the batch. Their mean is asked for."""
    return row_entropy(maps) * maps.shape[0] * maps.shape[2]


@exercise.misconception
def mean_over_keys(maps):
    """You took the mean over the keys, too. Within a row −p log p is added up."""
    return row_entropy(maps) / maps.shape[3]


def shown_by(masses):
    """What a trained model's masses are evidence of."""
    if np.any(masses < 0) or np.any(masses > 1 + 1e-9):
        return "impossible"
    if np.ptp(masses) == 0:
        return "nothing"
    if masses.max() >= 0.5:
        return "a reversing model"
    if masses.max() < 0.1:
        return "another place"
    if masses.max() < 0.3:
        return "untrained"
    raise Undecided("the model looks partly at the mirror; a person decides")


def looking(share):
    """Maps of two heads with this share on the mirror, and the rest on all other keys alike."""
    mirror = np.eye(N)[::-1]
    return np.tile(share * mirror + (1 - share) / (N - 1) * (1 - mirror), (1, H, 1, 1))


@exercise.part(points=0.75, answer=Witness(shown_by))
def mirror(mirror_mass):
    """Of your own model: four masses on the mirror, in any order."""
    masses = np.ravel([mirror_mass(looking(share)) for share in (0.65, 0.8)])
    if not masses.any():
        raise ValueError("no masses")
    return masses


mirror.mistakes(
    untrained_model=(
        np.array([0.16, 0.17, 0.18, 0.16]),
        "No head looks at the mirror: train the model first, and collect with its weights.",
    ),
    mass_of_another_place=(
        np.array([0.04, 0.04, 0.02, 0.01]),
        "A model that reverses looks away from the place that you measured: is it the mirror?",
    ),
    impossible_values=(
        np.array([3.7, 3.9, 4.8, 4.8]),
        "A mass lies between 0 and 1: it is a mean of weights.",
    ),
    nothing_measured=(np.zeros(4), "These numbers are all the same: they are not from a model."),
)


def apart(distances):
    """What the distances of six pairs of maps are evidence of."""
    if np.any(distances < 0) or np.any(distances > 12**0.5):
        return "impossible"
    if np.ptp(distances) == 0:
        return "nothing"
    return "distances"


@exercise.part(points=0.25, answer=Witness(apart))
def distances(head_distance):
    """Of your own model: six distances between two heads of an attention, in any order."""
    found = head_distance(np.stack([looking(0.65)[:, 0], looking(0.9)[:, 0]], axis=1))
    return np.array([0.3, 0.38, found, 0.69, 0.19, 0.11])


distances.mistakes(
    beyond_any_distance=(
        np.array([3.7, 3.9, 4.8, 4.8, 0.3, 0.38]),
        "Two maps of six rows are at most √12 apart, and at least 0.",
    ),
    no_distance_measured=(
        np.zeros(6),
        "These distances are all the same: they are not from a model.",
    ),
)


def plausible(table):
    """Are these entropies of six positions?"""
    bits = np.any(table > np.log(N) + 1e-6) or np.any(table[2:4] > 1.0966)
    highest = table * np.log(2) if bits else table
    if np.any(table < 0) or np.any(highest > np.log(N) + 1e-6) or np.any(highest[2:4] > 1.0966):
        return "impossible"
    if np.ptp(table) <= 1e-3:
        return "nothing"
    # What looks at the mirror is sharp, what the encoder looks at isn't: of 14 trained models the
    # first had at most 0.7 of the second's entropy, and an untrained one has about as much.
    if table[4:].mean() > 1.25 * table[:2].mean():
        return "another order"
    return "bits" if bits else "entropies"


@exercise.part(points=0.5, answer=Witness(plausible))
def entropies(row_entropy):
    """Of your own model, rows of two heads: encoder, decoder to itself, decoder to encoder."""
    rows = [[1.7, 1.6], [1.18, 1.39], [0.74, 0.92], [0.89, 0.73], [0.82, 0.77], [0.54, 0.54]]
    unit = np.mean(row_entropy(np.full((1, H, N, N), 1 / N))) / np.log(N)
    return unit * np.array(rows)


entropies.mistakes(
    table_in_bits=(
        np.array([[2.2, 2.1], [2.0, 1.8], [1.1, 1.2], [1.2, 1.1], [1.2, 1.1], [0.8, 0.8]]),
        "Six weights have at most log 6 nats, row i of a causal map log i: are these bits?",
    ),
    in_the_opposite_order=(
        np.array([[0.5, 0.5], [0.8, 0.7], [0.8, 0.7], [0.7, 0.9], [1.1, 1.3], [1.7, 1.6]]),
        "By these the decoder looks at the encoder less sharply than the encoder at itself. Are "
        "the rows in the order of the six names?",
    ),
    beyond_the_bound=(
        np.full((6, 2), 3.0) - np.eye(6, 2),
        "Six weights have an entropy of at most log 6, and row i of a causal map one of log i.",
    ),
    all_the_same=(
        np.ones((6, 2)) / 2,
        "These numbers are all the same: they are not from a model.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def sharper(entropies):
    """Which layer, 0 or 1, has the lower mean entropy: encoder, decoder to itself, to encoder."""
    return [int(b < a) for a, b in np.reshape(entropies, (3, 2, 2)).mean(axis=2)]


@sharper.misconception()
def flatter(entropies):
    """By your `entropies` it is the other layer each time.

    A sharp map has a low entropy. And do the six rows stand in the order of the six names?
    """
    return [1 - layer for layer in sharper.compute(entropies)]


@sharper.misconception()
def counted_from_one(entropies):
    """Layers are counted from 0."""
    return [1 + layer for layer in sharper.compute(entropies)]


@exercise.part(points=2, answer=Essay())
def essay():
    """Do the heads of your model differ, and can you say what they do?

    (1) 1 point. Numbers are quoted (distances, masses), compared over two seeds at least.

    (2) 1 point. "Different" is kept apart from "interpretable": a distance says that two maps are
    not the same, not what either is for.
    """
    return (
        "With seed 0 the mean maps of the two heads are between 0.11 and 0.81 apart, with seed 1 "
        "between 0.11 and 0.69, where 3.46 is the largest distance possible. In both runs the "
        "largest distance is in the decoder's first attention to itself, and the smallest in the "
        "last cross-attention, whose heads have 0.80 and 0.80 of their weight on the mirrored "
        "position (seed 1: 0.68 and 0.70), against 0.17 by chance. In the encoder the order of "
        "the heads' entropies changes with the seed. So heads differ in some places and hardly in "
        "others, and two seeds are few to call that a rule. That two maps differ does not say what "
        "they do: the distance of 0.81 is real, and has no reading that I could name. The mirror "
        "has one, as it is the position that the task needs, and here both heads do the same. "
        "Whether the model needs them could be tested by taking one away and measuring the loss."
    )


@essay.sample(points=1)
def one_seed():
    """(1) 0, (2) 1.

    (1): figures of one seed only. (2): kept apart.
    """
    return (
        "In my model the heads of one layer are 0.81 apart, and one head has 80 percent of "
        "its weight on the mirror. The other distances are smaller. A large distance only shows "
        "that two maps are not equal. What a head is good for can't be seen from it; for the "
        "mirror head we know what the task needs, for those in the encoder I can't say."
    )


@essay.sample(points=0.5)
def different_is_meaningful():
    """(1) 0.5, (2) 0.

    (1): two seeds, without numbers. (2): the difference is taken for a meaning.
    """
    return (
        "I trained with two seeds and the heads were different both times. This means that every "
        "head has learned a role of its own: one looks at the mirrored symbol, and the others "
        "understand the rest of the sequence."
    )


def reversal():
    """Sequences that no model has seen: sources, inputs of the decoder, labels."""
    src = np.random.default_rng(1).integers(1, 9, (256, N))
    labels = src[:, ::-1]
    return src, np.hstack([np.zeros((len(src), 1), int), labels[:, :-1]]), labels


@exercise.exhibit
def where_it_looks(train):
    """Mean weights of all heads of the trained model, on 256 sequences that it has never seen."""
    src, dec_in, _ = reversal()
    means = heatmaps(collect(train[0], src, dec_in))
    maps = {f"{name}, {head}": maps[head] for name, maps in means.items() for head in range(H)}
    return HeatMaps("key", "query", maps)


@exercise.exhibit
def by_place(train):
    """Of each attention: weight on the mirror, entropy, both by head, and the heads' distance."""
    src, dec_in, _ = reversal()
    rows = []
    for place, maps in collect(train[0], src, dec_in).items():
        numbers = *mirror_mass(maps), *row_entropy(maps), head_distance(maps)
        rows.append([place, *map(float, numbers)])
    return Table(("attention", "mirror, 0", "mirror, 1", "entropy, 0", "entropy, 1", "apart"), rows)


@exercise.exhibit
def without_a_head(train):
    """The mean loss on new sequences if head 0 or head 1 of one attention is taken away."""
    weights, data = train[0], reversal()

    def loss(weights):
        src, dec_in, labels = data
        return float(cross_entropy(Pass(weights, H).translate(src, dec_in)[0], labels)[0])

    rows = [["all heads", loss(weights), loss(weights)]]
    for place in collect(weights, *data[:2]):
        name, row = f"{place}.W_o", [place]
        for columns in np.split(np.arange(len(weights[name])), H):
            without = weights[name].copy()
            without[columns] = 0
            row.append(loss(weights | {name: without}))
        rows.append(row)
    return Table(("attention", "without 0", "without 1"), rows)
