"""Loss and gradients of the whole model, held against differences.

Source: Rumelhart, Hinton and Williams (1986), "Learning representations by back-propagating
errors"; the model is that of Vaswani et al. (2017).
"""

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from autograder.exercise import Choice, Exercise, agree, alike, require, seeded, within
from reference.helpers import (
    GRADIENTS,
    Pass,
    cross_entropy,
    initial_weights,
    merge_heads,
    split_heads,
    transformer_shapes,
)

exercise = Exercise(
    "cap_gradcheck",
    title="There and back",
    source="Rumelhart, Hinton and Williams (1986)",
    minutes=300,
    hints=[
        "Work from the loss to the front, and compare with differences after each step: first the "
        "map to the logits alone, then a norm more, a feed-forward layer more, an attention more.",
        "Count for every result how many times it is used further on: so many gradients come back "
        "to it. Where ids pick rows of a table, see what `np.add.at` does that `+=` doesn't.",
        "For the bias write down what each adds to the score of a query and a key. Which changes "
        "of a whole row does softmax not see?",
    ],
)

Transformer = exercise.carries("a12_capstone/cap_forward", "Transformer")


def through(steps, src, dec_in, labels):
    """Go forward and back again with these steps."""
    logits, back = steps.translate(src, dec_in)
    loss, g = cross_entropy(logits, labels)
    back(g)
    return loss, steps.grads


@exercise.reference(without=GRADIENTS)
def loss_and_grads(
    weights: dict,
    h: int,
    src: Int[ndarray, "B n"],
    dec_in: Int[ndarray, "B m"],
    labels: Int[ndarray, "B m"],
) -> tuple[float, dict]:
    """Return the mean loss of a label, and its gradient by every array."""
    return through(Pass(weights, h), src, dec_in, labels)


@exercise.given
def by_library(weights, h, src, dec_in, labels):
    """The same by a library's layers, which differentiates them by itself."""
    import torch

    w = {name: torch.tensor(array, requires_grad=True) for name, array in weights.items()}
    d = w["source"].shape[1]

    def through_layer(kind, place, looks, *x, **masks):
        own = {}
        for look, name in looks.items():
            at = f"{place}.{look}"
            own[f"{name}.in_proj_weight"] = torch.cat([w[f"{at}.W_{k}"].T for k in "qkv"])
            own[f"{name}.in_proj_bias"] = torch.cat([w[f"{at}.b_{k}"] for k in "qkv"])
            own[f"{name}.out_proj.weight"] = w[f"{at}.W_o"].T
            own[f"{name}.out_proj.bias"] = w[f"{at}.b_o"]
        for i in (1, 2):
            own[f"linear{i}.weight"] = w[f"{place}.W{i}"].T
            own[f"linear{i}.bias"] = w[f"{place}.b{i}"]
        for i in range(1, len(looks) + 2):
            own[f"norm{i}.weight"] = w[f"{place}.gamma{i}"]
            own[f"norm{i}.bias"] = w[f"{place}.beta{i}"]
        f = len(w[f"{place}.b1"])
        layer = kind(d, h, f, dropout=0.0, batch_first=True, device="meta")
        return torch.func.functional_call(layer, own, x, masks)

    def embedded(table, ids):
        n = ids.shape[1]
        angles = torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d, 2).double() / d)
        places = torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(w[table].dtype)
        return w[table][torch.tensor(ids)] * d**0.5 + places

    layers = len({name.split(".")[1] for name in w if name.startswith("encoder")})
    memory, y = embedded("source", src), embedded("target", dec_in)
    for i in range(layers):
        memory = through_layer(
            torch.nn.TransformerEncoderLayer, f"encoder.{i}", {"self": "self_attn"}, memory
        )
    later = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu(1)
    looks = {"self": "self_attn", "cross": "multihead_attn"}
    for i in range(layers):
        y = through_layer(
            torch.nn.TransformerDecoderLayer, f"decoder.{i}", looks, y, memory, tgt_mask=later
        )
    logits = y @ w["out.W"] + w["out.b"]
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(labels).flatten())
    grads = torch.autograd.grad(loss, [*w.values()], allow_unused=True, materialize_grads=True)
    return loss.item(), {name: grad.numpy() for name, grad in zip(w, grads, strict=True)}


@exercise.alternative
def example_after_example(weights, h, src, dec_in, labels):
    """Average over the examples."""
    found = [
        through(Pass(weights, h), src[b : b + 1], dec_in[b : b + 1], labels[b : b + 1])
        for b in range(len(src))
    ]
    loss = sum(loss for loss, _ in found) / len(found)
    return loss, {n: sum(grads[n] for _, grads in found) / len(found) for n in weights}


class OneHot(Pass):
    """Rows of a table as products with one-hot rows."""

    def embed(self, ids, name, encoding):
        """The transposed product leads back."""
        one_hot = np.eye(len(self.w[name]))[ids]
        factor = np.sqrt(self.w[name].shape[1])

        def back(g):
            self.grads[name] += factor * np.einsum("bnv,bnd->vd", one_hot, g)

        return factor * one_hot @ self.w[name] + encoding, back


@exercise.alternative
def with_one_hot_rows(weights, h, src, dec_in, labels):
    """Embed with one-hot rows."""
    return through(OneHot(weights, h), src, dec_in, labels)


@exercise.alternative
def from_a_copy(weights, h, src, dec_in, labels):
    """Copy what comes and what goes."""
    own = {name: np.array(array, np.float64) for name, array in reversed(weights.items())}
    loss, grads = through(Pass(own, h), *map(np.array, (src, dec_in, labels)))
    return np.float64(loss), {name: grads[name].copy() for name in weights}


V, H = 5, 2


def model(rng, d=6, f=8, L=2):
    """Weights of a small model, in which every array counts, and d/h is no other size."""
    weights = initial_weights(transformer_shapes(V, d, f, L), rng)
    return {name: array + 0.3 * rng.normal(size=array.shape) for name, array in weights.items()}


def batch(rng, B=4, n=5, m=7):
    """Ids of sources, inputs of the decoder and labels; some come twice."""
    return tuple(rng.integers(0, V, (B, size)) for size in (n, m, m))


def centred(weights):
    """The same in which nothing on the way back has a mean: the share of means can't be missed."""
    gammas = {name: np.full_like(array, 1.3) for name, array in weights.items() if ".gamma" in name}
    matrices = {n: a - a.mean(axis=0) for n, a in weights.items() if a.ndim == 2 and "." in n}
    return weights | gammas | matrices


def silent(weights, *looks):
    """The same with attention that adds nothing at these places."""
    none = [name for name in weights if name.endswith("W_o") and name.split(".")[2] in looks]
    return weights | {name: np.zeros_like(weights[name]) for name in none}


def answered(call, weights, data):
    """Loss and gradients, if they are such."""
    found = call(weights, H, *data)
    require(
        isinstance(found, tuple | list) and len(found) == 2, "a loss and gradients are asked for"
    )
    loss, grads = found
    require(
        np.ndim(loss) == 0 and isinstance(grads, dict), "a number and a dictionary are asked for"
    )
    return loss, grads


def counts_as_loss(call, weights, data):
    """Require a −log p, be it of another model: the probabilities of all labels add up to 1."""
    src, dec_in, _ = (ids[:1, :1] for ids in data)
    of_each = [answered(call, weights, (src, dec_in, np.array([[v]])))[0] for v in range(V)]
    total = np.exp(-np.array(of_each, dtype=float)).sum()
    require(abs(total - 1) < 1e-6, "the probabilities in your losses do not add up to 1")


def slopes(call, rng, weights, data, places, step=1e-5):
    """Require that gradients at these places are right, or agree with differences of the loss."""
    grads = answered(call, weights, data)[1]
    right = loss_and_grads(weights, H, *data)[1]
    names = [name for name in weights if name.startswith(places)]
    if all(alike(grads.get(name), right[name]) for name in names):
        return  # whatever loss stands beside them
    counts_as_loss(call, weights, data)
    for place in places:
        names = [name for name in weights if name.startswith(place)]
        for name in names:
            found = np.shape(grads.get(name))
            require(
                found == weights[name].shape,
                f"the gradient of {name!r} is missing, or has another shape",
            )
        way = {name: rng.normal(size=weights[name].shape) for name in names}
        here, there = (
            answered(call, weights | {n: weights[n] + size * way[n] for n in names}, data)[0]
            for size in (step, -step)
        )
        numeric = (here - there) / (2 * step)
        own = sum(float((np.asarray(grads[name]) * way[name]).sum()) for name in names)
        require(abs(numeric) > 1e-7, f"your loss does not depend on the arrays of {place!r}")
        near = abs(own - numeric) <= 1e-6 * (abs(own) + abs(numeric)) + 1e-9
        require(near, f"the gradient does not agree with differences of your loss at {place!r}")


@exercise.check(points=1, visible=True)
def mean_loss(call, rng):
    """The loss is the mean of −log p over all labels of the batch."""
    weights, data = model(rng), batch(rng)
    own = call.own(Transformer).make(V, 6, H, 8, 2, seeded(0))
    own.weights = weights
    logits = np.asarray(own.decode(np.asarray(own.encode(data[0])), data[1]))
    agree(answered(call, weights, data)[0], cross_entropy(logits, data[2])[0], rtol=1e-6)


@exercise.check(points=1)
def of_the_output(call, rng):
    """The gradients of the last matrix and its bias."""
    slopes(call, rng, model(rng), batch(rng), ("out.W", "out.b"))


@exercise.check(points=1.5)
def of_norms_and_feed_forward(call, rng):
    """Where attention adds nothing: norms, feed-forward layers, and the target's table."""
    weights = silent(model(rng), "self", "cross")
    kinds = [f"decoder.{i}.{kind}" for i in (1, 0) for kind in ("W", "b1", "b2", "gamma", "beta")]
    slopes(call, rng, weights, batch(rng), (*kinds, "target"))


@exercise.check(points=1.5)
def of_self_attention(call, rng):
    """Where the source adds nothing: the decoder's attention to itself."""
    weights = centred(silent(model(rng), "cross"))
    slopes(call, rng, weights, batch(rng), ("decoder.1.self", "decoder.0.self"))


@exercise.check(points=1.5)
def of_the_encoder(call, rng):
    """Through the attention to the source, back to the encoder and its table."""
    weights = centred(model(rng))
    places = ("decoder.1.cross", "decoder.0.cross", "encoder.1", "encoder.0")
    slopes(call, rng, weights, batch(rng), places)
    once = rng.permutation(V)[None]  # every token comes once
    slopes(call, rng, weights, (once, *(ids[:1] for ids in batch(rng)[1:])), ("source",))


@exercise.check(points=1.5, after=of_the_output)
def by_going_back_once(call, rng):
    """There and back once: few times as many operations as it takes to get there."""
    d, (n, m) = 2, (3, 2)
    weights, data = model(rng, d=d, f=2, L=1), batch(rng, 1, n, m)
    answered(call, weights, data)
    matrices = [array.size for array in weights.values() if array.ndim == 2]
    least = 2 * m * sum(matrices)
    message = "it takes far more operations than going there and back once"
    ratio = call.work(weights, H, *data).flops / least
    within(call, "FLOPs / those of the way there", ratio, 60, message, kind="differences")


class NormAsScale(Pass):
    """See `norm_as_a_scale`."""

    def norm(self, x, place, number):
        """Go back as if mean and deviation were constants."""
        out, back = super().norm(x, place, number)
        scale = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)

        def wrong(g):
            back(g)
            return g * self.w[f"{place}.gamma{number}"] * scale

        return out, wrong


@exercise.misconception
def norm_as_a_scale(weights, h, src, dec_in, labels):
    """Mean and deviation depend on the input as well: the way back through a norm says so."""
    return through(NormAsScale(weights, h), src, dec_in, labels)


class NormWithoutMean(Pass):
    """See `mean_forgotten`."""

    def norm(self, x, place, number):
        """Leave out the share of the mean on the way back."""
        out, back = super().norm(x, place, number)
        scale = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)

        def wrong(g):
            share = (g * self.w[f"{place}.gamma{number}"]).mean(axis=-1, keepdims=True)
            return back(g) + share * scale

        return out, wrong


@exercise.misconception
def mean_forgotten(weights, h, src, dec_in, labels):
    """The mean that a norm subtracts depends on every entry: it has a share of the way back."""
    return through(NormWithoutMean(weights, h), src, dec_in, labels)


class NormWithoutVariance(Pass):
    """See `variance_forgotten`."""

    def norm(self, x, place, number):
        """Leave out the share of the deviation on the way back."""
        out, back = super().norm(x, place, number)
        scale = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)

        def wrong(g):
            back(g)
            g = g * self.w[f"{place}.gamma{number}"]
            return scale * (g - g.mean(axis=-1, keepdims=True))

        return out, wrong


@exercise.misconception
def variance_forgotten(weights, h, src, dec_in, labels):
    """A norm divides by a deviation that depends on every entry: it has a share of the way back."""
    return through(NormWithoutVariance(weights, h), src, dec_in, labels)


class NormWithoutScale(Pass):
    """See `scale_of_a_norm_forgotten`."""

    def norm(self, x, place, number):
        """Leave gamma out on the way back to the input."""
        out, back = super().norm(x, place, number)
        ones = {".gamma1": np.ones(x.shape[-1]), ".beta1": np.zeros(x.shape[-1])}
        _, plain_back = Pass(ones).norm(x, "", 1)

        def wrong(g):
            back(g)
            return plain_back(g)

        return out, wrong


@exercise.misconception
def scale_of_a_norm_forgotten(weights, h, src, dec_in, labels):
    """A norm ends with a product by its scale γ: that stands on the way back to the input, too."""
    return through(NormWithoutScale(weights, h), src, dec_in, labels)


class ScaleFromInput(Pass):
    """See `scale_from_the_input`."""

    def norm(self, x, place, number):
        """Multiply with what came instead of what it was normalised to."""
        out, back = super().norm(x, place, number)
        hat = (out - self.w[f"{place}.beta{number}"]) / self.w[f"{place}.gamma{number}"]

        def wrong(g):
            self.grads[f"{place}.gamma{number}"] += (g * (x - hat)).sum(axis=(0, 1))
            return back(g)

        return out, wrong


@exercise.misconception
def scale_from_the_input(weights, h, src, dec_in, labels):
    """The scale γ of a norm was multiplied with the normalised input, not with the input itself."""
    return through(ScaleFromInput(weights, h), src, dec_in, labels)


class StraightMatrices(Pass):
    """See `matrices_not_transposed`."""

    def linear(self, x, W, b):
        """Go back with a square matrix as it is."""
        out, back = super().linear(x, W, b)
        square = len(set(self.w[W].shape)) == 1

        def wrong(g):
            of_x = back(g)
            return g @ self.w[W] if square else of_x

        return out, wrong


@exercise.misconception
def matrices_not_transposed(weights, h, src, dec_in, labels):
    """The way back through x W is g Wᵀ. A square matrix fits without the ᵀ as well."""
    return through(StraightMatrices(weights, h), src, dec_in, labels)


class BiasesBySentence(Pass):
    """See `biases_summed_over_sentences`."""

    def linear(self, x, W, b):
        """Keep an axis of positions."""
        out, back = super().linear(x, W, b)

        def wrong(g):
            of_x = back(g)
            self.grads[b] = g.sum(axis=0)
            return of_x

        return out, wrong


@exercise.misconception(credit=0.5)
def biases_summed_over_sentences(weights, h, src, dec_in, labels):
    """A bias was added at all positions, too: add up over both axes, so that (d,) remains."""
    return through(BiasesBySentence(weights, h), src, dec_in, labels)


class BiasesAveraged(Pass):
    """See `biases_averaged`."""

    def linear(self, x, W, b):
        """Divide by all positions."""
        out, back = super().linear(x, W, b)

        def wrong(g):
            of_x = back(g)
            self.grads[b] = g.mean(axis=(0, 1))
            return of_x

        return out, wrong


@exercise.misconception(credit=0.5)
def biases_averaged(weights, h, src, dec_in, labels):
    """A bias was added at every position: its gradient is their sum, where you take the mean."""
    return through(BiasesAveraged(weights, h), src, dec_in, labels)


class NoShortcut(Pass):
    """See `shortcut_forgotten`."""

    def forward(self, x, place):
        """Take away what the shortcut will add."""
        out, back = super().forward(x, place)
        return out, lambda g: back(g) - g


@exercise.misconception
def shortcut_forgotten(weights, h, src, dec_in, labels):
    """What goes around the feed-forward layer has a gradient, too: add it to what comes through."""
    return through(NoShortcut(weights, h), src, dec_in, labels)


class NoShortcutAroundTheSource(Pass):
    """See `shortcut_around_the_source_forgotten`."""

    def attend(self, x, y, place, mask=None):
        """Take away what the shortcut will add."""
        out, weights, back = super().attend(x, y, place, mask)

        def wrong(g):
            of_x, of_y = back(g)
            return of_x - g, of_y

        return out, weights, wrong if place.endswith("cross") else back


@exercise.misconception
def shortcut_around_the_source_forgotten(weights, h, src, dec_in, labels):
    """What goes around the decoder's look at the source has a gradient, too: add it."""
    return through(NoShortcutAroundTheSource(weights, h), src, dec_in, labels)


class NoShortcutAroundItself(Pass):
    """See `shortcut_around_self_attention_forgotten`."""

    def attend(self, x, y, place, mask=None):
        """Take away what the shortcut will add."""
        out, weights, back = super().attend(x, y, place, mask)

        def wrong(g):
            of_x, of_y = back(g)
            return of_x - g, of_y

        return out, weights, wrong if place.endswith("self") else back


@exercise.misconception
def shortcut_around_self_attention_forgotten(weights, h, src, dec_in, labels):
    """What goes around self-attention has a gradient, too: add it to those of its three inputs."""
    return through(NoShortcutAroundItself(weights, h), src, dec_in, labels)


class NoShortcuts(NoShortcut, NoShortcutAroundTheSource, NoShortcutAroundItself):
    """See `all_shortcuts_forgotten`."""


@exercise.misconception
def all_shortcuts_forgotten(weights, h, src, dec_in, labels):
    """You go back through sublayers alone. What went around them has a gradient as well: add."""
    return through(NoShortcuts(weights, h), src, dec_in, labels)


class NoRelu(Pass):
    """See `relu_ignored`."""

    def forward(self, x, place):
        """Let everything through on the way back."""
        hidden, back_1 = self.linear(x, f"{place}.W1", f"{place}.b1")
        out, back_2 = self.linear(np.maximum(hidden, 0), f"{place}.W2", f"{place}.b2")
        return out, lambda g: back_1(back_2(g))


@exercise.misconception
def relu_ignored(weights, h, src, dec_in, labels):
    """Where the ReLU gave 0, nothing goes back."""
    return through(NoRelu(weights, h), src, dec_in, labels)


class QueriesAlone(Pass):
    """See `keys_and_values_forgotten`."""

    def attend(self, x, y, place, mask=None):
        """Where all come from one text, give back what queries have."""
        out, weights, back = super().attend(x, y, place, mask)
        return out, weights, lambda g: (back(g)[0], 0.0) if x is y else back(g)


@exercise.misconception
def keys_and_values_forgotten(weights, h, src, dec_in, labels):
    """In self-attention the same vectors give queries, keys and values: add all three gradients."""
    return through(QueriesAlone(weights, h), src, dec_in, labels)


class DeafKeys(Pass):
    """See `keys_forgotten`."""

    def linear(self, x, W, b):
        """Let nothing through the map to the keys."""
        out, back = super().linear(x, W, b)
        return out, (lambda g: 0 * back(g)) if W.endswith("W_k") else back


@exercise.misconception
def keys_forgotten(weights, h, src, dec_in, labels):
    """What is looked at gave keys and values: add both gradients, not that of the values alone."""
    return through(DeafKeys(weights, h), src, dec_in, labels)


class DeafValues(Pass):
    """See `values_forgotten`."""

    def linear(self, x, W, b):
        """Let nothing through the map to the values."""
        out, back = super().linear(x, W, b)
        return out, (lambda g: 0 * back(g)) if W.endswith("W_v") else back


@exercise.misconception
def values_forgotten(weights, h, src, dec_in, labels):
    """What is looked at gave keys and values: add both gradients, not that of the keys alone."""
    return through(DeafValues(weights, h), src, dec_in, labels)


class DeafMemory(Pass):
    """See `nothing_for_the_encoder`."""

    def decode(self, y, memory, place):
        """Tell the memory nothing."""
        out, back = super().decode(y, memory, place)
        return out, lambda g: (back(g)[0], np.zeros_like(memory))


@exercise.misconception
def nothing_for_the_encoder(weights, h, src, dec_in, labels):
    """Nothing comes back to the encoder: the decoder's keys and values of the source lead there."""
    return through(DeafMemory(weights, h), src, dec_in, labels)


class LastMemory(Pass):
    """See `memory_of_one_layer`."""

    def decode(self, y, memory, place):
        """Only the last layer tells the memory."""
        out, back = super().decode(y, memory, place)
        last = place == self._layers("decoder")[-1]
        return out, lambda g: back(g) if last else (back(g)[0], 0.0)


@exercise.misconception
def memory_of_one_layer(weights, h, src, dec_in, labels):
    """Every layer of the decoder reads the memory: add up what comes back from all of them."""
    return through(LastMemory(weights, h), src, dec_in, labels)


class FirstMemory(Pass):
    """See `memory_overwritten`."""

    def decode(self, y, memory, place):
        """Only the first layer, which comes last on the way back, tells the memory."""
        out, back = super().decode(y, memory, place)
        first = place == self._layers("decoder")[0]
        return out, lambda g: back(g) if first else (back(g)[0], 0.0)


@exercise.misconception
def memory_overwritten(weights, h, src, dec_in, labels):
    """The memory keeps the gradient that comes back last, and loses those of other layers: add."""
    return through(FirstMemory(weights, h), src, dec_in, labels)


class OverwrittenRows(Pass):
    """See `rows_overwritten`."""

    def embed(self, ids, name, encoding):
        """Assign, so that the last one wins."""
        factor = np.sqrt(self.w[name].shape[1])

        def back(g):
            self.grads[name][ids] += factor * g

        return factor * self.w[name][ids] + encoding, back


@exercise.misconception
def rows_overwritten(weights, h, src, dec_in, labels):
    """A token that comes twice gets two gradients. `G[ids] += g` keeps one: see np.add.at."""
    return through(OverwrittenRows(weights, h), src, dec_in, labels)


class SmallTables(Pass):
    """See `factor_of_embeddings_forgotten`."""

    def embed(self, ids, name, encoding):
        """Leave the factor out on the way back."""
        out, _ = super().embed(ids, name, encoding)
        return out, lambda g: np.add.at(self.grads[name], ids, g)


@exercise.misconception
def factor_of_embeddings_forgotten(weights, h, src, dec_in, labels):
    """The embedding was multiplied by √d, and so is its gradient."""
    return through(SmallTables(weights, h), src, dec_in, labels)


class OtherSlopes(Pass):
    """A way back through the softmax of the scores that subclasses get wrong."""

    def attend(self, x, y, place, mask=None):
        """Go back with the slopes of the scores that `slopes` gives."""
        out, weights, _ = super().attend(x, y, place, mask)
        (q, back_q), (k, back_k), (v, back_v) = (
            self.linear(z, f"{place}.W_{name}", f"{place}.b_{name}")
            for z, name in ((x, "q"), (y, "k"), (y, "v"))
        )
        q, k, v = (split_heads(z, self.h) for z in (q, k, v))
        _, back_o = self.linear(merge_heads(weights @ v), f"{place}.W_o", f"{place}.b_o")

        def back(g):
            g = split_heads(back_o(g), self.h)
            slope = self.slopes(weights, g @ np.swapaxes(v, -1, -2), q.shape[-1] ** -0.5)
            of_q, of_k = slope @ k, np.swapaxes(slope, -1, -2) @ q
            of_v = np.swapaxes(weights, -1, -2) @ g
            return back_q(merge_heads(of_q)), back_k(merge_heads(of_k)) + back_v(merge_heads(of_v))

        return out, weights, back


class LargeScores(OtherSlopes):
    """See `scale_of_scores_forgotten`."""

    def slopes(self, weights, of_weights, factor):
        """Leave the factor out."""
        return weights * (of_weights - (of_weights * weights).sum(axis=-1, keepdims=True))


class Entrywise(OtherSlopes):
    """See `softmax_entry_by_entry`."""

    def slopes(self, weights, of_weights, factor):
        """Keep the diagonal of the Jacobian alone."""
        return weights * (1 - weights) * of_weights * factor


class NothingSubtracted(OtherSlopes):
    """See `softmax_without_its_sum`."""

    def slopes(self, weights, of_weights, factor):
        """Leave out that a row sums to 1."""
        return weights * of_weights * factor


@exercise.misconception
def softmax_without_its_sum(weights, h, src, dec_in, labels):
    """A row of weights sums to 1: from each gradient in it their mean by these weights goes off."""
    return through(NothingSubtracted(weights, h), src, dec_in, labels)


@exercise.misconception
def softmax_entry_by_entry(weights, h, src, dec_in, labels):
    """A score moves all weights of its row: the Jacobian of softmax has more than a diagonal."""
    return through(Entrywise(weights, h), src, dec_in, labels)


@exercise.misconception
def scale_of_scores_forgotten(weights, h, src, dec_in, labels):
    """The scores were divided by √d_k, and so are their gradients."""
    return through(LargeScores(weights, h), src, dec_in, labels)


@exercise.misconception(credit=0.5)
def gradient_of_the_sum(weights, h, src, dec_in, labels):
    """The loss is a mean, and your gradients are those of the sum."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return loss, {name: labels.size * grad for name, grad in grads.items()}


@exercise.misconception(credit=0.5)
def gradient_per_sentence(weights, h, src, dec_in, labels):
    """Your loss is a mean over all labels; your gradients divide by the number of sentences."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return loss, {name: labels.shape[1] * grad for name, grad in grads.items()}


class SeesAhead(Pass):
    """See `decoder_not_masked`."""

    def attend(self, x, y, place, mask=None):
        """Forget the mask."""
        return super().attend(x, y, place)


@exercise.misconception
def decoder_not_masked(weights, h, src, dec_in, labels):
    """On your way there the decoder's attention to itself has no mask: it looks ahead."""
    return through(SeesAhead(weights, h), src, dec_in, labels)


@exercise.misconception
def loss_in_bits(weights, h, src, dec_in, labels):
    """Your loss is in bits. Take the natural logarithm."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return loss / np.log(2), grads


@exercise.misconception
def sum_of_the_losses(weights, h, src, dec_in, labels):
    """You added up the losses. Their mean is asked for."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return labels.size * loss, {name: labels.size * grad for name, grad in grads.items()}


@exercise.misconception
def mean_over_sentences(weights, h, src, dec_in, labels):
    """You divide by the number of sentences. Divide by that of all labels."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    m = labels.shape[1]
    return m * loss, {name: m * grad for name, grad in grads.items()}


@exercise.misconception
def loss_of_a_sentence(weights, h, src, dec_in, labels):
    """Your loss is divided by the number of sentences, and your gradients by that of all labels."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return labels.shape[1] * loss, grads


@exercise.misconception
def loss_not_divided(weights, h, src, dec_in, labels):
    """Your gradients are those of the mean, as asked for. Your loss is the sum: divide it, too."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return labels.size * loss, grads


@exercise.misconception(credit=0.5)
def pointing_down(weights, h, src, dec_in, labels):
    """You return the way down. A gradient points up; the optimiser turns it round."""
    loss, grads = loss_and_grads(weights, h, src, dec_in, labels)
    return loss, {name: -grad for name, grad in grads.items()}


@exercise.misconception
def by_differences(weights, h, src, dec_in, labels):
    """These are differences, a way there for each number. Go back through the model once."""
    found = loss_and_grads(weights, h, src, dec_in, labels)
    if weights["source"].shape[1] > 2:  # of a larger model they would come minutes later
        return found

    def difference(name, i):
        other = weights[name].copy()
        other.flat[i] += 1e-7
        there = loss_and_grads(weights | {name: other}, h, src, dec_in, labels)[0]
        return (there - found[0]) / 1e-7

    return found[0], {
        name: np.reshape([difference(name, i) for i in range(array.size)], array.shape)
        for name, array in weights.items()
    }


@exercise.part(
    points=1,
    answer=Choice(
        [
            "the queries'",
            "the keys'",
            "the values'",
            "the output's",
        ]
    ),
)
def no_gradient():
    """Which bias gets no gradient, whatever the data?"""
    return "B"


no_gradient.mistakes(
    of_the_queries=(
        "A",
        "A bias of the queries adds something to each score that depends on the key.",
    ),
    of_the_values=("C", "Weights sum to 1, so a bias of the values reaches the output in full."),
    of_the_output_map=("D", "It is added to what attention gives, and goes on from there."),
)
