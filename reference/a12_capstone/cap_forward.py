"""A complete encoder–decoder, built from pieces that exist.

Source: Vaswani et al. (2017), "Attention is all you need", section 3 and figure 1.
"""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from autograder.exercise import Count, Exercise, Mismatch, agree, require, seeded
from reference.helpers import (
    ATTENTION,
    NORMS,
    attention,
    initial_weights,
    merge_heads,
    split_heads,
    transformer_shapes,
)

exercise = Exercise(
    "cap_forward",
    title="A complete transformer",
    source="Vaswani et al. (2017), section 3 and figure 1",
    minutes=270,
    hints=[
        "Write a small method for each kind of step: embed, look, feed forward, add and "
        "normalise. A layer is then a short list of calls.",
        "All names of one attention begin alike: pick the arrays that begin with its place, and "
        "cut that beginning off. The dictionary that remains is what `multi_head` takes.",
        "You can ask your own model for `touched` and `parameters`: change one input and compare, "
        "and add up the sizes of the arrays.",
    ],
)

positional_encoding = exercise.carries("a05_positions/pe_code", "positional_encoding")
layer_norm = exercise.carries("a06_block/ln_code", "layer_norm")
ffn = exercise.carries("a06_block/ffn_code", "ffn")


@exercise.reference(without=ATTENTION)
def multi_head(
    x: Float[ndarray, "B n d"],
    y: Float[ndarray, "B m d"],
    weights: dict,
    h: int,
    mask: Bool[ndarray, "*batch n m"] | None = None,
) -> tuple[Float[ndarray, "B n d"], Float[ndarray, "B h n m"]]:
    """Let x ask and y answer, in h heads, with a bias on each of the four maps."""
    out, maps = attention(*projected(x, y, weights, h), mask)
    return merge_heads(out) @ weights["W_o"] + weights["b_o"], maps


@exercise.alternative
def head_by_head(x, y, weights, h, mask=None):
    """One head after the other, each with its columns and its rows."""
    out, maps = weights["b_o"] + np.zeros(x.shape), []
    for columns in np.split(np.arange(x.shape[-1]), h):
        q, k, v = (
            z @ weights[f"W_{name}"][:, columns] + weights[f"b_{name}"][columns]
            for z, name in ((x, "q"), (y, "k"), (y, "v"))
        )
        head, weight = attention(q, k, v, mask)
        out = out + head @ weights["W_o"][columns]
        maps += [weight]
    return out, np.stack(maps, axis=1)


@exercise.alternative
def with_sums_over_names(x, y, weights, h, mask=None):
    """The same with einsum."""

    def heads(z, name):
        W = weights[f"W_{name}"].reshape(z.shape[-1], h, -1)
        return np.einsum("bnd,dhk->bhnk", z, W) + weights[f"b_{name}"].reshape(h, 1, -1)

    out, maps = attention(heads(x, "q"), heads(y, "k"), heads(y, "v"), mask)
    W = weights["W_o"].reshape(h, -1, x.shape[-1])
    return np.einsum("bhnk,hkd->bnd", out, W) + weights["b_o"], maps


@exercise.alternative
def with_a_column_of_ones(x, y, weights, h, mask=None):
    """A bias is one more row of the matrix, met by a one."""

    def mapped(z, name):
        ones = np.concatenate([z, np.ones((*z.shape[:2], 1))], axis=-1)
        return ones @ np.vstack([weights[f"W_{name}"], weights[f"b_{name}"]])

    q, k, v = (
        np.stack(np.split(mapped(z, name), h, axis=-1), axis=1)
        for z, name in ((x, "q"), (y, "k"), (y, "v"))
    )
    out, maps = attention(q, k, v, mask)
    return mapped(out.transpose(0, 2, 1, 3).reshape(x.shape), "o"), maps


def projected(x, y, weights, h):
    """Queries, keys and values of all heads, (B, h, n, d/h) each."""
    return [
        split_heads(z @ weights[f"W_{name}"] + weights[f"b_{name}"], h)
        for z, name in ((x, "q"), (y, "k"), (y, "v"))
    ]


def head_weights(rng, d=8):
    """Weights of one attention: the biases are as large as what they are added to."""
    weights = {f"W_{name}": rng.normal(size=(d, d)) / np.sqrt(d) for name in "qkvo"}
    return weights | {f"b_{name}": rng.uniform(0.5, 2, d) for name in "qkvo"}


def plain(weights):
    """The same without biases."""
    return weights | {f"b_{name}": np.zeros(8) for name in "qkvo"}


@exercise.check(points=1.5, visible=True)
def matrices_alone(call, rng):
    """With biases of zero: four maps, heads side by side, weights for each head."""
    x, y, w = rng.normal(size=(2, 5, 8)), rng.normal(size=(2, 3, 8)), plain(head_weights(rng))
    agree(call(x, y, w, 2), multi_head(x, y, w, 2))


@exercise.check(points=1.5)
def all_four_biases(call, rng):
    """Queries, keys, values and the output have biases, in each head its own columns of them."""
    x, y, w = rng.normal(size=(2, 4, 8)), rng.normal(size=(2, 6, 8)), head_weights(rng)
    agree(call(x, y, w, 4), multi_head(x, y, w, 4))


@exercise.check(points=1)
def masked(call, rng):
    """A mask reaches every head: True means: may attend."""
    x, w, mask = rng.normal(size=(2, 5, 8)), plain(head_weights(rng)), np.tri(5, dtype=bool)
    mask[4, 2] = False  # so that its opposite, too, leaves every query a key
    found = call(x, x, w, 2, mask)
    require(isinstance(found, tuple | list) and len(found) == 2, "output and weights are asked for")
    agree(found[1], multi_head(x, x, w, 2, mask)[1], what="the weights")


@exercise.misconception
def biases_forgotten(x, y, weights, h, mask=None):
    """The biases have no effect."""
    return multi_head(x, y, weights | {f"b_{n}": 0.0 * weights["b_o"] for n in "qkvo"}, h, mask)


@exercise.misconception
def output_bias_forgotten(x, y, weights, h, mask=None):
    """The bias of the output, b_o, has no effect."""
    return multi_head(x, y, weights | {"b_o": 0.0 * weights["b_o"]}, h, mask)


@exercise.misconception
def biases_of_inputs_forgotten(x, y, weights, h, mask=None):
    """Only the output has a bias. Queries, keys and values have one each, too."""
    return multi_head(x, y, weights | {f"b_{n}": 0.0 * weights["b_o"] for n in "qkv"}, h, mask)


@exercise.misconception
def mask_ignored(x, y, weights, h, mask=None):
    """The mask has no effect."""
    return multi_head(x, y, weights, h)


@exercise.misconception
def mask_negated(x, y, weights, h, mask=None):
    """You block where the mask is True. True means: may attend."""
    return multi_head(x, y, weights, h, None if mask is None else ~mask)


@exercise.misconception
def masked_behind_the_softmax(x, y, weights, h, mask=None):
    """You set weights to 0 behind the softmax, so that rows no longer add up to 1."""
    q, k, v = projected(x, y, weights, h)
    _, maps = attention(q, k, v)
    maps = maps if mask is None else maps * mask
    return merge_heads(maps @ v) @ weights["W_o"] + weights["b_o"], maps


@exercise.misconception(credit=0.5)
def scaled_by_the_whole_width(x, y, weights, h, mask=None):
    """You divided the scores by √d. A head's queries and keys have only d/h columns."""
    scaled = {name: weights[name] / np.sqrt(h) for name in ("W_q", "b_q")}
    return multi_head(x, y, weights | scaled, h, mask)


@exercise.misconception(credit=0.5)
def scores_not_scaled(x, y, weights, h, mask=None):
    """The scores are not divided by the root of a head's width."""
    scaled = {name: weights[name] * np.sqrt(x.shape[-1] // h) for name in ("W_q", "b_q")}
    return multi_head(x, y, weights | scaled, h, mask)


@exercise.misconception(credit=0.5)
def scaled_without_a_root(x, y, weights, h, mask=None):
    """You divided the scores by the width of a head. Its root is asked for."""
    scaled = {name: weights[name] / np.sqrt(x.shape[-1] // h) for name in ("W_q", "b_q")}
    return multi_head(x, y, weights | scaled, h, mask)


@exercise.misconception(credit=0.5)
def output_matrix_forgotten(x, y, weights, h, mask=None):
    """The heads stand side by side, but W_o never mixes them."""
    return multi_head(x, y, weights | {"W_o": np.eye(x.shape[-1])}, h, mask)


@exercise.misconception
def softmax_over_queries(x, y, weights, h, mask=None):
    """Your softmax runs over the queries: what one query gives to all keys adds up to 1."""
    q, k, v = projected(x, y, weights, h)
    there = None if mask is None else np.swapaxes(mask, -1, -2)
    maps = np.swapaxes(attention(k, q, q, there)[1], -1, -2)
    return merge_heads(maps @ v) @ weights["W_o"] + weights["b_o"], maps


@exercise.misconception
def masked_with_zero(x, y, weights, h, mask=None):
    """You set scores to 0 where nothing may be seen. Softmax gives a weight to that, too: −∞."""
    q, k, v = projected(x, y, weights, h)
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    maps = np.exp(scores if mask is None else scores * mask)
    maps = maps / maps.sum(axis=-1, keepdims=True)
    return merge_heads(maps @ v) @ weights["W_o"] + weights["b_o"], maps


@exercise.misconception
def heads_cut_out_of_rows(x, y, weights, h, mask=None):
    """You reshaped to (B, h, n, d/h) at once, which mixes tokens. Split the columns, then turn."""
    q, k, v = (
        merge_heads(z).reshape(len(z), h, z.shape[2], -1) for z in projected(x, y, weights, h)
    )
    out, maps = attention(q, k, v, mask)
    return merge_heads(out) @ weights["W_o"] + weights["b_o"], maps


@exercise.misconception(credit=0.5)
def maps_averaged(x, y, weights, h, mask=None):
    """You averaged the maps over the heads. Each head keeps its own."""
    out, maps = multi_head(x, y, weights, h, mask)
    return out, maps.mean(axis=1)


@exercise.misconception
def only_one_head(x, y, weights, h, mask=None):
    """You attend once, over the whole width. Each head has its own columns."""
    out, maps = multi_head(x, y, weights, 1, mask)
    return out, np.repeat(maps, h, axis=1)


@exercise.misconception
def heads_not_side_by_side(x, y, weights, h, mask=None):
    """You reshaped the heads without bringing the axis of tokens to the front again."""
    out, maps = attention(*projected(x, y, weights, h), mask)
    return out.reshape(x.shape) @ weights["W_o"] + weights["b_o"], maps


@exercise.misconception
def heads_interleaved(x, y, weights, h, mask=None):
    """Your heads take every h-th column. Each has columns that stand side by side."""
    order = np.arange(x.shape[-1]).reshape(-1, h).T.ravel()
    sorted_ = {f"{kind}_{n}": weights[f"{kind}_{n}"][..., order] for kind in "Wb" for n in "qkv"}
    return multi_head(x, y, weights | sorted_ | {"W_o": weights["W_o"][order]}, h, mask)


@exercise.misconception
def source_asks(x, y, weights, h, mask=None):
    """You exchanged the two: `x` asks, `y` answers."""
    return multi_head(y, x, weights, h, None if mask is None else np.swapaxes(mask, -1, -2))


LINEAR = ("W_q", "W_k", "W_v", "W_o")
BIAS = ("b_q", "b_k", "b_v", "b_o")


@exercise.reference(without=ATTENTION | NORMS)
class Transformer:
    """Encoder and decoder of L layers each; `attention` holds the maps of the last calls."""

    def __init__(self, V: int, d: int, h: int, f: int, L: int, rng: np.random.Generator):
        self.h, self.L, self.attention = h, L, {}
        self.weights = initial_weights(transformer_shapes(V, d, f, L), rng)

    def encode(self, src: Int[ndarray, "B n"]) -> Float[ndarray, "B n d"]:
        """Return the memory of a batch of sources."""
        x = self._embed("source", src)
        for i in range(self.L):
            x = self._encoder(f"encoder.{i}", x)
        return x

    def decode(
        self, memory: Float[ndarray, "B n d"], tgt: Int[ndarray, "B m"]
    ) -> Float[ndarray, "B m V"]:
        """Return the logits behind each token of the target."""
        y = self._embed("target", tgt)
        for i in range(self.L):
            y = self._decoder(f"decoder.{i}", y, memory)
        return y @ self.weights["out.W"] + self.weights["out.b"]

    def _encoder(self, place, x):
        x = self._norm(place, 1, x, self._look(f"{place}.self", x, x))
        return self._norm(place, 2, x, self._forward(place, x))

    def _decoder(self, place, y, memory):
        causal = np.tri(y.shape[1], dtype=bool)
        y = self._norm(place, 1, y, self._look(f"{place}.self", y, y, causal))
        y = self._norm(place, 2, y, self._look(f"{place}.cross", y, memory))
        return self._norm(place, 3, y, self._forward(place, y))

    def _embed(self, name, ids):
        table = self.weights[name]
        d = table.shape[1]
        return table[ids] * np.sqrt(d) + positional_encoding(ids.shape[1], d)

    def _look(self, place, x, y, mask=None):
        own = {name: self.weights[f"{place}.{name}"] for name in LINEAR + BIAS}
        out, self.attention[place] = multi_head(x, y, own, self.h, mask)
        return out

    def _forward(self, place, x):
        return ffn(x, *(self.weights[f"{place}.{name}"] for name in ("W1", "b1", "W2", "b2")))

    def _norm(self, place, number, x, new):
        gamma, beta = (self.weights[f"{place}.{name}{number}"] for name in ("gamma", "beta"))
        return layer_norm(x + new, gamma, beta)


@exercise.alternative
class ExampleAfterExample(Transformer):
    """One example of the batch after the other."""

    def encode(self, src):
        """Stack what comes of each."""
        return np.concatenate(self._each(super().encode, src))

    def decode(self, memory, tgt):
        """Do so here, too."""
        return np.concatenate(self._each(super().decode, memory, tgt))

    def _each(self, one, *batches):
        found, maps, kept = [], [], self.attention
        for b in range(len(batches[0])):
            self.attention = {}
            found += [one(*(batch[b : b + 1] for batch in batches))]
            maps += [self.attention]
        both = {place: np.concatenate([each[place] for each in maps]) for place in maps[0]}
        self.attention = kept | both
        return found


@exercise.alternative
class OwnPieces(Transformer):
    """With a table of one-hot rows, and a norm and a feed-forward layer of its own."""

    def _embed(self, name, ids):
        table = self.weights[name]
        one_hot = np.eye(len(table))[ids]
        places = positional_encoding(ids.shape[1], table.shape[1])
        return one_hot @ (table.shape[1] ** 0.5 * table) + places[None]

    def _norm(self, place, number, x, new):
        total = x + new
        total = total - total.mean(axis=-1, keepdims=True)
        total /= np.sqrt((total * total).mean(axis=-1, keepdims=True) + 1e-5)
        return (
            total * self.weights[f"{place}.gamma{number}"] + self.weights[f"{place}.beta{number}"]
        )

    def _forward(self, place, x):
        w = self.weights
        hidden = np.einsum("bnd,df->bnf", x, w[f"{place}.W1"]) + w[f"{place}.b1"]
        return (hidden * (hidden > 0)) @ w[f"{place}.W2"] + w[f"{place}.b2"]


@exercise.alternative
class DrawnAtOnce(Transformer):
    """All weights from one long draw that isn't normal, and ones as numpy has them."""

    def __init__(self, V, d, h, f, L, rng):
        self.h, self.L, self.attention = h, L, {}
        sizes = {
            name: int(np.prod(shape)) for name, shape in transformer_shapes(V, d, f, L).items()
        }
        ends = np.cumsum([*sizes.values()])
        numbers = iter(np.split(rng.uniform(-(3**0.5), 3**0.5, ends[-1]), ends))
        self.weights = {
            name: next(numbers).reshape(shape) / np.sqrt(rows(name, shape))
            for name, shape in transformer_shapes(V, d, f, L).items()
        }
        for name, array in self.weights.items():
            if array.ndim == 1:
                self.weights[name] = np.zeros(array.shape) + (".gamma" in name)


def rows(name, shape):
    """By what the variance of a matrix is divided: d for the tables of embeddings."""
    return shape[-1] if name in ("source", "target") else shape[0]


V, D, H, F, L = 7, 8, 2, 10, 2


def drawn(rng):
    """Weights of which each counts."""
    found = {}
    for name, shape in transformer_shapes(V, D, F, L).items():
        scale = 0.7 if len(shape) == 2 else 1
        found[name] = scale * rng.normal(size=shape)
        if ".gamma" in name:
            found[name] = rng.uniform(0.5, 2, shape)
    return found


def built(call, weights):
    """A transformer with these weights."""
    model = call.make(V, D, H, F, L, seeded(0))
    model.weights = weights
    return model


class Expected:
    """The same, of pieces that are the student's own if need be."""

    def __init__(self, call, weights):
        self.w, self.maps = weights, {}
        own = (multi_head, layer_norm, ffn, positional_encoding)
        self.attend, self.norm, self.forward, self.encoding = map(call.own, own)

    def encode(self, src):
        """Return the memory."""
        x = self._embed("source", src)
        for i in range(L):
            x = self._rest(f"encoder.{i}", 1, x, self._look(f"encoder.{i}.self", x, x))
        return x

    def decode(self, memory, tgt):
        """Return the logits."""
        y, mask = self._embed("target", tgt), np.tri(tgt.shape[1], dtype=bool)
        for i in range(L):
            place = f"decoder.{i}"
            y = self._sum(place, 1, y, self._look(f"{place}.self", y, y, mask))
            y = self._rest(place, 2, y, self._look(f"{place}.cross", y, memory))
        return y @ self.w["out.W"] + self.w["out.b"]

    def _embed(self, name, ids):
        return self.w[name][ids] * np.sqrt(D) + np.asarray(self.encoding(ids.shape[1], D))

    def _look(self, place, x, y, mask=None):
        own = {name: self.w[f"{place}.{name}"] for name in LINEAR + BIAS}
        out, maps = self.attend(x, y, own, H, mask)
        self.maps[place] = np.asarray(maps)
        return np.asarray(out)

    def _sum(self, place, number, x, new):
        scales = (self.w[f"{place}.{name}{number}"] for name in ("gamma", "beta"))
        return np.asarray(self.norm(x + new, *scales))

    def _rest(self, place, number, x, new):
        x = self._sum(place, number, x, new)
        new = self.forward(x, *(self.w[f"{place}.{name}"] for name in ("W1", "b1", "W2", "b2")))
        return self._sum(place, number + 1, x, np.asarray(new))


def sentences(rng, B=3, n=6, m=5):
    """Ids of sources and targets."""
    return rng.integers(0, V, (B, n)), rng.integers(0, V, (B, m))


CLOSE = {"rtol": 1e-8, "atol": 1e-8}


@exercise.check(points=3, visible=True)
def encodes(call, rng):
    """`encode` embeds, adds positions, and sends the result through all blocks of the encoder."""
    src, _ = sentences(rng)
    weights = drawn(rng)
    agree(built(call, weights).encode(src), Expected(call, weights).encode(src), **CLOSE)


ENDS = {"self": ("self.W_o", "self.b_o"), "cross": ("cross.W_o", "cross.b_o"), "": (".W2", ".b2")}
CASES = {
    "no sublayer adds anything": (),
    "feed-forward layers alone add something": ("",),
    "self-attention alone adds something": ("self",),
    "the look at the memory alone adds something": ("cross",),
    "all sublayers add something": ("self", "cross", ""),
}


def hushed(weights, heard):
    """The same where no other sublayers than these add anything."""
    quiet = tuple(end for kind, own in ENDS.items() if kind not in heard for end in own)
    return {name: 0 * array if name.endswith(quiet) else array for name, array in weights.items()}


@exercise.check(points=4)
def decodes(call, rng):
    """`decode` gives logits of targets for any memory, without a look ahead."""
    src, tgt = sentences(rng)
    weights, memory = drawn(rng), rng.normal(size=(3, 6, D))
    there = [hushed(weights, heard) for heard in CASES.values()]
    found = [built(call, each).decode(memory, tgt) for each in there]
    other = there[0] | {"target": -there[0]["target"]}
    require(
        not np.array_equal(found[0], found[-1])
        and not np.array_equal(found[0], built(call, other).decode(memory, tgt)),
        "the logits are the same whatever arrays come into `weights`: look them up when you need "
        "them, and keep no copies, nor any of a table",
    )
    for case, logits, each in zip(CASES, found, there, strict=True):
        right = Expected(call, each).decode(memory, tgt)
        agree(logits, right, what=f"what comes where {case}", **CLOSE)
    model = built(call, there[-1])
    before = model.encode(src), model.decode(memory, tgt)
    for name in ("source", "target"):
        setattr(model, f"weights[{name}]", -there[-1][name])
    for old, new in zip(before, (model.encode(src), model.decode(memory, tgt)), strict=True):
        message = "a table that is put into `weights` changes nothing: look it up when you need it"
        require(not np.array_equal(old, new), message, credit=0.75)


@exercise.check(points=1)
def maps_by_place(call, rng):
    """`attention` has a map for every place at which is looked, with an axis of heads."""
    src, tgt = sentences(rng)
    weights = drawn(rng)
    model, right = built(call, weights), Expected(call, weights)
    memory = right.encode(src)
    model.encode(src)
    model.decode(memory, tgt)
    right.decode(memory, tgt)
    found = model.attention
    for place, maps in right.maps.items():
        require(isinstance(found, dict) and place in found, f"there is no map of {place!r}")
        if np.shape(found[place]) == maps.mean(axis=1).shape:
            raise Mismatch(f"the map of {place!r} has no axis of heads", kind="heads")
        agree(np.shape(found[place]), maps.shape, what=f"the shape of the map of {place!r}")
    # Values are those of what has been checked above: the encoder's first map depends on no norm.
    first = "encoder.0.self"
    agree(found[first], right.maps[first], what=f"the map of {first!r}")


@exercise.check(points=1)
def weights_by_name(call, rng):
    """`weights` has an array of the right shape under every name, and no others."""
    size = [int(n) for n in rng.permutation([3, 5, 9])]
    model = call.make(size[0], 4 * size[1], 2, size[2], 3, seeded(1))
    right = transformer_shapes(size[0], 4 * size[1], size[2], 3)
    found = model.weights
    require(isinstance(found, dict), "`weights` is no dictionary")
    missing, more = (sorted(a.keys() - b.keys()) for a, b in ((right, found), (found, right)))
    require(not missing, f"{len(missing)} names are missing, the first is {missing[:1]}")
    require(not more, f"there are {len(more)} names that nothing is known of")
    for name, shape in right.items():
        agree(np.shape(found[name]), shape, what=f"the shape of {name!r}")


@exercise.check(points=1)
def drawn_from_rng(call, rng):
    """Matrices come from `rng`, with the variance asked for; scales are 1, shifts and biases 0."""
    one, same, other = (call.make(V, D, H, F, L, seeded(s)).weights for s in (5, 5, 6))
    known = {
        n: s
        for n, s in transformer_shapes(V, D, F, L).items()
        if n in one and n in same and n in other
    }
    for name, shape in known.items():
        agree(one[name], same[name], what=f"{name!r} of a second model from the same generator")
        if len(shape) == 2:
            require(not np.allclose(one[name], other[name]), f"{name!r} does not come from `rng`")
        else:
            agree(one[name], np.full(shape, float(".gamma" in name)), what=f"{name!r}")
    matrices = [one[name].tobytes() for name, shape in known.items() if len(shape) == 2]
    require(matrices, "`weights` has no matrices")
    require(len({*matrices}) == len(matrices), "two matrices begin with the same numbers")
    large = call.make(90, 32, H, 100, 1, seeded(7)).weights
    for name, array in large.items():
        if np.ndim(array) == 2:
            times = np.var(array) * rows(name, np.shape(array))
            message = f"{name!r} begins with {times:.2g} times the variance that is asked for"
            require(0.7 < times < 1.4, message, credit=0.5)


@exercise.misconception(credit=0.75)
class CopiesWhenSet(Transformer):
    """You copy tables when `weights` is set. Look them up there when you need them."""

    @property
    def weights(self):
        """The arrays by name."""
        return self._weights

    @weights.setter
    def weights(self, new):
        self._weights, self._tables = new, {name: new[name].copy() for name in ("source", "target")}

    def _embed(self, name, ids):
        d = self._tables[name].shape[1]
        return self._tables[name][ids] * np.sqrt(d) + positional_encoding(ids.shape[1], d)


@exercise.misconception(credit=0.5)
class NoPositions(Transformer):
    """The encoder and the decoder don't know the order: nothing was added to the embeddings."""

    def _embed(self, name, ids):
        return self.weights[name][ids] * np.sqrt(self.weights[name].shape[1])


@exercise.misconception(credit=0.5)
class NotEnlarged(Transformer):
    """The embedding is multiplied by √d before the positions are added."""

    def _embed(self, name, ids):
        places = positional_encoding(ids.shape[1], self.weights[name].shape[1])
        return self.weights[name][ids] + places


@exercise.misconception(credit=0.5)
class EnlargedWithPositions(Transformer):
    """You multiplied the sum by √d. The positions are added afterwards."""

    def _embed(self, name, ids):
        d = self.weights[name].shape[1]
        return (self.weights[name][ids] + positional_encoding(ids.shape[1], d)) * np.sqrt(d)


@exercise.misconception(credit=0.5)
class EnlargedWithoutARoot(Transformer):
    """You multiplied the embedding by d. Its root is asked for."""

    def _embed(self, name, ids):
        d = self.weights[name].shape[1]
        return self.weights[name][ids] * d + positional_encoding(ids.shape[1], d)


@exercise.misconception(credit=0.5)
class PositionsFromOne(Transformer):
    """Your positions begin at 1. The first one is 0."""

    def _embed(self, name, ids):
        d = self.weights[name].shape[1]
        return self.weights[name][ids] * np.sqrt(d) + positional_encoding(ids.shape[1] + 1, d)[1:]


@exercise.misconception
class OneTableForBoth(Transformer):
    """Source and target have tables of their own."""

    def _embed(self, name, ids):
        return super()._embed("source", ids)


@exercise.misconception(credit=0.3)
class PreNorm(Transformer):
    """You normalise what goes into a sublayer. Here the sum behind it is normalised."""

    def _encoder(self, place, x):
        inner = self._norm(place, 1, x, 0)
        x = x + self._look(f"{place}.self", inner, inner)
        return x + self._forward(place, self._norm(place, 2, x, 0))

    def _decoder(self, place, y, memory):
        inner = self._norm(place, 1, y, 0)
        y = y + self._look(f"{place}.self", inner, inner, np.tri(y.shape[1], dtype=bool))
        y = y + self._look(f"{place}.cross", self._norm(place, 2, y, 0), memory)
        return y + self._forward(place, self._norm(place, 3, y, 0))


@exercise.misconception(credit=0.3)
class NormBesideTheShortcut(Transformer):
    """You normalise what a sublayer gives. The norm comes behind the sum with the shortcut."""

    def _norm(self, place, number, x, new):
        return x + super()._norm(place, number, 0, new)


@exercise.misconception(credit=0.3)
class ForwardNormBesideTheShortcut(Transformer):
    """In the encoder the norm behind the feed-forward layer leaves out the shortcut."""

    def _norm(self, place, number, x, new):
        if place.startswith("encoder") and number == 2:
            return x + super()._norm(place, number, 0, new)
        return super()._norm(place, number, x, new)


@exercise.misconception(credit=0.3)
class NoShortcuts(Transformer):
    """What goes into a sublayer is added to what comes out of it, before the norm."""

    def _norm(self, place, number, x, new):
        return super()._norm(place, number, 0, new)


@exercise.misconception(credit=0.3)
class NoShortcutAroundForward(Transformer):
    """Around the feed-forward layer, too, there is a shortcut: what went in is added."""

    def _norm(self, place, number, x, new):
        behind_forward = number == (2 if place.startswith("encoder") else 3)
        return super()._norm(place, number, 0 if behind_forward else x, new)


@exercise.misconception(credit=0.3)
class FirstNormAgain(Transformer):
    """All norms of a layer use gamma1 and beta1. Each has a scale and a shift of its own."""

    def _norm(self, place, number, x, new):
        return super()._norm(place, 1, x, new)


@exercise.misconception(credit=0.3)
class SecondNormAgain(Transformer):
    """The last norm of a decoder's layer uses gamma2 and beta2. It has a scale and a shift too."""

    def _norm(self, place, number, x, new):
        return super()._norm(place, min(number, 2), x, new)


@exercise.misconception(credit=0.3)
class ShortcutFromTheStart(Transformer):
    """The shortcut around the feed-forward layer begins behind the first norm, not before it."""

    def _encoder(self, place, x):
        inner = self._norm(place, 1, x, self._look(f"{place}.self", x, x))
        return self._norm(place, 2, x, self._forward(place, inner))


@exercise.misconception(credit=0.3)
class ForwardBeforeTheMemory(Transformer):
    """A decoder layer looks at the memory before its feed-forward layer, not after it."""

    def _decoder(self, place, y, memory):
        y = self._norm(place, 1, y, self._look(f"{place}.self", y, y, np.tri(y.shape[1]) > 0))
        y = self._norm(place, 2, y, self._forward(place, y))
        return self._norm(place, 3, y, self._look(f"{place}.cross", y, memory))


@exercise.misconception(credit=0.3)
class MaskTurnedRound(Transformer):
    """The decoder's mask is turned round: a token sees itself and what comes behind it."""

    def _look(self, place, x, y, mask=None):
        return super()._look(place, x, y, None if mask is None else mask.T)


@exercise.misconception(credit=0.2)
class BlindToItself(Transformer):
    """In the decoder a token sees itself, too. Your first one sees nothing, hence NaN."""

    def _look(self, place, x, y, mask=None):
        out = super()._look(place, x, y, None if mask is None else np.tri(*mask.shape, -1) > 0)
        if mask is not None:
            out[:, 0] = np.nan
        return out


@exercise.misconception
class LooksAhead(Transformer):
    """The decoder's self-attention is not masked: a token sees those behind it."""

    def _look(self, place, x, y, mask=None):
        return super()._look(place, x, y)


@exercise.misconception
class SourceMaskedAsWell(Transformer):
    """You masked the encoder, too. The whole source is known from the start."""

    def _look(self, place, x, y, mask=None):
        if place.startswith("encoder"):
            mask = np.tri(x.shape[1], dtype=bool)
        return super()._look(place, x, y, mask)


@exercise.misconception(credit=0.3)
class MemoryMasked(Transformer):
    """You masked the look at the memory, too. Every target token sees the whole source."""

    def _decoder(self, place, y, memory):
        causal = np.tri(y.shape[1], dtype=bool)
        y = self._norm(place, 1, y, self._look(f"{place}.self", y, y, causal))
        mask = np.tri(y.shape[1], memory.shape[1], dtype=bool)
        y = self._norm(place, 2, y, self._look(f"{place}.cross", y, memory, mask))
        return self._norm(place, 3, y, self._forward(place, y))


@exercise.misconception
class CrossAttentionForgotten(Transformer):
    """The decoder looks at itself twice. Its second look goes to the memory."""

    def _decoder(self, place, y, memory):
        causal = np.tri(y.shape[1], dtype=bool)
        y = self._norm(place, 1, y, self._look(f"{place}.self", y, y, causal))
        y = self._norm(place, 2, y, self._look(f"{place}.cross", y, y, causal))
        return self._norm(place, 3, y, self._forward(place, y))


@exercise.misconception(credit=0.3)
class FirstLayerAgain(Transformer):
    """Every layer uses the weights of the first. Each has its own."""

    def _look(self, place, x, y, mask=None):
        first = place.replace(".1.", ".0.")
        out = super()._look(first, x, y, mask)
        self.attention[place] = self.attention[first]
        return out

    def _forward(self, place, x):
        return super()._forward(place.replace(".1", ".0"), x)

    def _norm(self, place, number, x, new):
        return super()._norm(place.replace(".1", ".0"), number, x, new)


@exercise.misconception
class OutputBiasForgotten(Transformer):
    """The logits lack their bias."""

    def decode(self, memory, tgt):
        """Leave it out."""
        return super().decode(memory, tgt) - self.weights["out.b"]


@exercise.misconception
class ProbabilitiesReturned(Transformer):
    """You returned probabilities. Logits are what stands before the softmax."""

    def decode(self, memory, tgt):
        """Add a softmax."""
        e = np.exp(super().decode(memory, tgt))
        return e / e.sum(axis=-1, keepdims=True)


@exercise.misconception
class HeadsAveraged(Transformer):
    """You averaged the maps over the heads. Each head keeps its own."""

    def _look(self, place, x, y, mask=None):
        out = super()._look(place, x, y, mask)
        self.attention[place] = self.attention[place].mean(axis=1)
        return out


@exercise.misconception
class LastLayerKept(Transformer):
    """You keep the maps of the last layer alone. `attention` has one for every place."""

    def _look(self, place, x, y, mask=None):
        out = super()._look(place, x, y, mask)
        kind, number, _ = place.split(".")
        self.attention = {
            other: maps
            for other, maps in self.attention.items()
            if not other.startswith(kind) or other.split(".")[1] == number
        }
        return out


@exercise.misconception
class PlacesShortened(Transformer):
    """Your keys end with the number of a layer: say which look it was, such as `encoder.0.self`."""

    def _look(self, place, x, y, mask=None):
        out = super()._look(place, x, y, mask)
        self.attention[place.rsplit(".", 1)[0]] = self.attention.pop(place)
        return out


@exercise.misconception
class EncodersMapsLost(Transformer):
    """`decode` begins a new dictionary of maps, and those of the encoder are lost. Keep them."""

    def decode(self, memory, tgt):
        """Forget all maps first."""
        self.attention = {}
        return super().decode(memory, tgt)


@exercise.misconception
class ScoresKept(Transformer):
    """You keep scores. The maps are what comes of them through the softmax."""

    def _look(self, place, x, y, mask=None):
        own = {name: self.weights[f"{place}.{name}"] for name in LINEAR + BIAS}
        q, k, _ = projected(x, y, own, self.h)
        out = super()._look(place, x, y, mask)
        self.attention[place] = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        return out


@exercise.misconception
class BiasesDrawn(Transformer):
    """Shifts and biases are drawn as well. They begin as zeros."""

    def __init__(self, V, d, h, f, L, rng):
        super().__init__(V, d, h, f, L, rng)
        for name, array in self.weights.items():
            if array.ndim == 1 and ".gamma" not in name:
                self.weights[name] = rng.normal(size=array.shape)


@exercise.misconception
class GeneratorIgnored(Transformer):
    """Your weights don't come from `rng`: another generator gives the same ones."""

    def __init__(self, V, d, h, f, L, rng):
        super().__init__(V, d, h, f, L, np.random.default_rng(0))


@exercise.misconception
class LayersAlike(Transformer):
    """All layers begin with the same weights. Draw those of each anew."""

    def __init__(self, V, d, h, f, L, rng):
        super().__init__(V, d, h, f, L, rng)
        for name in self.weights:
            first = ".".join("0" if piece.isdigit() else piece for piece in name.split("."))
            self.weights[name] = self.weights[first].copy()


@exercise.misconception
class ScalesDrawn(Transformer):
    """The scales of the norms are drawn as well. They begin as ones."""

    def __init__(self, V, d, h, f, L, rng):
        super().__init__(V, d, h, f, L, rng)
        for name in self.weights:
            if ".gamma" in name:
                self.weights[name] = rng.normal(size=d)


@exercise.misconception
class NormsOfTheDecoderMissing(Transformer):
    """A decoder layer has three norms: one behind each look, one behind the feed-forward layer."""

    def __init__(self, V, d, h, f, L, rng):
        super().__init__(V, d, h, f, L, rng)
        for i in range(L):
            del self.weights[f"decoder.{i}.gamma3"], self.weights[f"decoder.{i}.beta3"]

    def _norm(self, place, number, x, new):
        third = number == 3 and f"{place}.gamma3" not in self.weights
        return super()._norm(place, 2 if third else number, x, new)


@exercise.part(points=0.5, answer=Count())
def touched():
    """The outputs that move with decoder input 4, one entry for each of six positions."""
    return [0, 0, 0, 0, 1, 1]


touched.mistakes(
    all_outputs=(
        [1, 1, 1, 1, 1, 1],
        "The decoder doesn't look ahead: earlier positions never see input 4.",
    ),
    later_ones_alone=(
        [0, 0, 0, 0, 0, 1],
        "The output at a position depends on the input at that position.",
    ),
    that_one_alone=([0, 0, 0, 0, 1, 0], "Later positions look back at it."),
    earlier_ones=(
        [1, 1, 1, 1, 1, 0],
        "These are the inputs that output 4 depends on. Which outputs depend on input 4?",
    ),
)


def counted(V, d, f, L):
    """Numbers in the encoder's blocks, in the decoder's layers, in all."""
    encoder = 4 * (d * d + d) + 2 * d * f + f + d + 4 * d
    decoder = encoder + 4 * (d * d + d) + 2 * d
    return [L * encoder, L * decoder, L * (encoder + decoder) + 2 * V * d + d * V + V]


#: The model whose numbers are counted: vocabulary, width, hidden width, layers on each side.
SIZES = WORDS, WIDTH, HIDDEN, LAYERS = 9, 32, 64, 2
ENCODER, DECODER, ALL = counted(*SIZES)
LOOK_BIASES, FORWARD_BIASES = 4 * WIDTH, HIDDEN + WIDTH
LOOK = 4 * WIDTH * WIDTH + LOOK_BIASES
NORM = 2 * WIDTH
TABLE, TO_LOGITS = WORDS * WIDTH, WIDTH * WORDS + WORDS


def but(encoder, decoder, outside=0):
    """The counts with so many numbers more in each layer, and in what belongs to none."""
    layers = LAYERS * encoder, LAYERS * decoder
    return [ENCODER + layers[0], DECODER + layers[1], ALL + sum(layers) + outside]


@exercise.part(points=1.5, answer=Count())
def parameters():
    """Numbers that are learned: in the encoder's blocks, in the decoder's layers, in all."""
    return counted(*SIZES)


parameters.mistakes(
    no_biases_in_attention=(
        but(-LOOK_BIASES, -2 * LOOK_BIASES),
        "The four maps of attention have biases here.",
        0.5,
    ),
    one_layer_counted=(
        counted(WORDS, WIDTH, HIDDEN, 1),
        "Encoder and decoder have two layers each.",
        0.5,
    ),
    norms_not_counted=(
        but(-2 * NORM, -3 * NORM),
        "Scales and shifts of the norms are learned, too.",
        0.5,
    ),
    cross_attention_forgotten=(
        but(0, -LOOK),
        "Your decoder lacks the weights of its look at the source.",
        0.5,
    ),
    biases_of_forward_forgotten=(
        but(-FORWARD_BIASES, -FORWARD_BIASES),
        "The feed-forward layers have biases as well.",
        0.5,
    ),
    scales_without_shifts=(
        but(-2 * WIDTH, -3 * WIDTH),
        "You counted half of the norms' numbers: each norm has a scale and a shift, in every "
        "layer.",
        0.5,
    ),
    three_norms_in_the_encoder=(
        but(NORM, 0),
        "A layer of the encoder has two norms. Only those of the decoder have three.",
        0.5,
    ),
    two_norms_in_the_decoder=(
        but(0, -NORM),
        "A layer of the decoder has three norms, one behind each sublayer.",
        0.5,
    ),
    tables_among_the_layers=(
        [ENCODER + TABLE, DECODER + TABLE, ALL],
        "Layers alone are asked for at first: the tables of embeddings belong to none of them.",
        0.5,
    ),
    all_on_two_sides=(
        [ENCODER + TABLE, DECODER + TABLE + TO_LOGITS, ALL],
        "Layers alone are asked for at first: neither tables nor the map to logits belong to them.",
        0.5,
    ),
    one_table_left_out=(
        but(0, 0, -TABLE),
        "All includes two tables of embeddings: one of the source, and one of the target.",
        0.5,
    ),
    map_to_logits_left_out=(
        but(0, 0, -TO_LOGITS),
        "All includes the map to the logits, with its bias.",
        0.5,
    ),
    no_biases=(
        but(-LOOK_BIASES - FORWARD_BIASES, -2 * LOOK_BIASES - FORWARD_BIASES, -WORDS),
        "You counted no biases. All maps have them here, also of attention and of the output.",
    ),
    one_look_in_the_decoder=(
        but(0, -LOOK - NORM),
        "A decoder layer looks twice: at the target and at the source.",
    ),
    tables_shared=(
        but(0, 0, -TABLE - TO_LOGITS),
        "Source, target and output have tables of their own.",
    ),
)
