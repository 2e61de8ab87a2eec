"""One decoder layer: it looks at what was written, at the source, and thinks.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.1 and figure 1.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Count, Essay, Exercise, Ordering, agree, require, seeded
from autograder.exercise.properties import worked
from reference.helpers import ATTENTION, NORMS

exercise = Exercise(
    "decoder_layer",
    title="Six steps in order",
    source="Vaswani et al. (2017), sections 3.1 and 3.2.3, figure 1",
    minutes=65,
    hints=[
        "There are two attentions and one feed-forward layer, and after each of the three the"
        " same single step, sum and norm together.",
        "A target output looks at itself and at earlier target tokens, and at every source token.",
        "Keep the two masks apart: one is about the future of the target, the other about the"
        " padding of the source.",
    ],
)

MultiHead = exercise.carries("a04_multi_head/mha_numpy", "MultiHead")
layer_norm = exercise.carries("a06_block/ln_code", "layer_norm")
ffn = exercise.carries("a06_block/ffn_code", "ffn")

NORM = "Add what went into the sublayer, and normalise."
figure = Ordering(
    [
        "Attend from the target to the target, at and before each position.",
        NORM,
        "Attend from the target to the source.",
        NORM,
        "Send every position through the feed-forward layer by itself.",
        NORM,
    ],
    distractors={
        "nothing_masked": (
            "Attend from the target to the target, everywhere.",
            "Everywhere means: also to tokens that are not written yet. Masked attention does not.",
        ),
        "queries_from_the_source": (
            "Attend from the source to the target.",
            "The target asks and the source answers: queries come from the target.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """The steps by their letters."""
    return {"steps": figure.shuffled(rng)}


@exercise.part(points=1.25, answer=figure)
def order(steps):
    """What a decoder layer does, in order."""
    return figure.order(steps)


@exercise.part(points=0.75, answer=Count())
def numbers():
    """Sublayers of a decoder layer, norms of a decoder layer, norms of an encoder layer."""
    return [3, 3, 2]


numbers.mistakes(
    two_sublayers=(
        [2, 2, 2],
        "You counted an encoder layer. A decoder layer looks at the source as well.",
    ),
    attentions_as_one=(
        [2, 3, 2],
        "You took the two attentions for one sublayer. Each has a sum and a norm of its own.",
        0.5,
    ),
    no_norm_after_cross_attention=([3, 2, 2], "Every sublayer is followed by a norm."),
    norms_as_sublayers=(
        [6, 3, 2],
        "You counted the norms as sublayers. They belong to the sublayer before them.",
    ),
    one_norm_in_the_encoder=(
        [3, 3, 1],
        "An encoder layer has more than one sublayer, and a norm behind each.",
        0.5,
    ),
    norms_of_a_decoder_in_both=(
        [3, 3, 3],
        "The third norm belongs to the attention to the source. An encoder layer has none.",
    ),
)


@exercise.part(points=2, answer=Count())
def affected():
    """Target outputs that move with target token 3, and with the last source token: two rows."""
    return [[0, 0, 0, 1, 1], [1, 1, 1, 1, 1]]


affected.mistakes(
    no_mask=(
        [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1]],
        "Positions before token 3 can't see it: masked attention lets nobody look ahead.",
    ),
    own_position_left_out=(
        [[0, 0, 0, 0, 1], [1, 1, 1, 1, 1]],
        "A position sees its own token, too.",
    ),
    earlier_ones=(
        [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]],
        "You marked the positions that token 3 can see. Which ones can see token 3?",
    ),
    counted_from_one=(
        [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]],
        "You counted from 1. Positions start at 0 here: token 3 is the last but one of five.",
    ),
    nobody_looks_back=(
        [[0, 0, 0, 1, 0], [1, 1, 1, 1, 1]],
        "Later positions may look back: they see token 3.",
    ),
    source_masked_as_well=(
        [[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]],
        "The whole source is known beforehand: every target position may look at all of it.",
        0.5,
    ),
    source_without_effect=(
        [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]],
        "In the middle of its layer every target position looks at the source.",
        0.5,
    ),
)


@exercise.part(points=2, answer=Essay())
def why_masked():
    """Why is the decoder's self-attention masked, and its attention to the source not?

    (1) In training the whole target is put in at once, and every position predicts its next token;
    (2) without a mask a position would see the token that it is to predict (½). When the model
    writes, later tokens don't exist yet: the mask makes training compute what writing computes
    (½). The source is complete from the start, so nothing of it need be hidden.
    """
    return (
        "In training all positions of a known target learn in parallel. Without a mask the "
        "label of a position would stand among its inputs. With it, each position computes just "
        "what it will compute when the text is written token by token. The source is known as a "
        "whole, in training and in use, so attention to it needs no such mask."
    )


@exercise.reference(without=ATTENTION | NORMS)
class DecoderLayer:
    """Masked self-attention, cross-attention, feed-forward; after each, the sum and its norm."""

    def __init__(self, d: int, h: int, f: int, rng: np.random.Generator):
        self.attention, self.cross = MultiHead(d, h, rng), MultiHead(d, h, rng)
        self.W1, self.b1 = rng.normal(size=(d, f)) / np.sqrt(d), np.zeros(f)
        self.W2, self.b2 = rng.normal(size=(f, d)) / np.sqrt(f), np.zeros(d)
        self.gamma1, self.gamma2, self.gamma3 = np.ones((3, d))
        self.beta1, self.beta2, self.beta3 = np.zeros((3, d))

    def __call__(
        self,
        y: Float[ndarray, "b t d"],
        memory: Float[ndarray, "b s d"],
        tgt_mask: Bool[ndarray, "*tgt_heads t t"] | None = None,
        src_mask: Bool[ndarray, "*src_heads #t s"] | None = None,
    ) -> Float[ndarray, "b t d"]:
        """Take target and source, and return the target's new vectors."""
        y = self._norm(1, y, self._look_back(y, tgt_mask))
        y = self._norm(2, y, self._look_over(y, memory, src_mask))
        return self._norm(3, y, self._forward(y))

    def load(self, weights: dict):
        """Put arrays in place of the weights, by name; those of `cross` begin with "cross_"."""
        for name, array in weights.items():
            owner = self.cross if name.startswith("cross_") else self
            owner = self.attention if name in ATTENTION else owner
            setattr(owner, name.removeprefix("cross_"), array)

    def _look_back(self, y, mask):
        return self.attention(y, y, y, mask)[0]

    def _look_over(self, y, memory, mask):
        return self.cross(y, memory, memory, mask)[0]

    def _forward(self, y):
        return ffn(y, self.W1, self.b1, self.W2, self.b2)

    def _norm(self, number, y, new):
        gamma, beta = (getattr(self, f"{name}{number}") for name in ("gamma", "beta"))
        return layer_norm(y + new, gamma, beta)


ATTENTION = ("W_q", "W_k", "W_v", "W_o")


@exercise.alternative
class WeightsInADictionary:
    """All but attention in one dictionary, and the sublayers in a list."""

    def __init__(self, d, h, f, rng):
        self.looking = {"": MultiHead(d, h, rng), "cross_": MultiHead(d, h, rng)}
        self.w = {"W1": rng.uniform(-1, 1, (d, f)), "W2": rng.uniform(-1, 1, (f, d))}
        self.w |= {"b1": np.zeros(f), "b2": np.zeros(d)}
        for i in "123":
            self.w |= {f"gamma{i}": np.ones(d), f"beta{i}": np.zeros(d)}

    def load(self, weights):
        """Sort them by whose they are."""
        for name, array in weights.items():
            if name in self.w:
                self.w[name] = array
            else:
                at = name.index("W")
                setattr(self.looking[name[:at]], name[at:], array)

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Go through the sublayers."""
        w = self.w
        sublayers = [
            lambda y: self.looking[""](y, y, y, tgt_mask)[0],
            lambda y: self.looking["cross_"](y, memory, memory, src_mask)[0],
            lambda y: ffn(y, w["W1"], w["b1"], w["W2"], w["b2"]),
        ]
        for i, sublayer in enumerate(sublayers, start=1):
            y = layer_norm(y + sublayer(y), w[f"gamma{i}"], w[f"beta{i}"])
        return y


@exercise.alternative
class OwnNorm(DecoderLayer):
    """A norm and a feed-forward layer of its own."""

    def _norm(self, number, y, new):
        centred = y + new - (y + new).mean(axis=-1, keepdims=True)
        scale = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + 1e-5)
        return centred / scale * vars(self)[f"gamma{number}"] + vars(self)[f"beta{number}"]

    def _forward(self, y):
        hidden = np.einsum("btd,df->btf", y, self.W1) + self.b1
        return np.einsum("btf,fd->btd", hidden * (hidden > 0), self.W2) + self.b2


@exercise.alternative
class ExampleAfterExample(DecoderLayer):
    """One example after the other."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Stack what comes of each."""
        masks = [
            [mask] * len(y) if mask is None or mask.ndim < 4 or len(mask) == 1 else mask
            for mask in (tgt_mask, src_mask)
        ]
        one = super().__call__
        each = range(len(y))
        return np.concatenate(
            [one(y[b : b + 1], memory[b : b + 1], masks[0][b], masks[1][b]) for b in each]
        )


D, H, F = 6, 2, 10
SHAPES = {
    **dict.fromkeys(ATTENTION, (D, D)),
    **dict.fromkeys((f"cross_{name}" for name in ATTENTION), (D, D)),
    **{"W1": (D, F), "W2": (F, D), "b1": (F,), "b2": (D,)},
    **dict.fromkeys((f"{name}{i}" for name in ("gamma", "beta") for i in (1, 2, 3)), (D,)),
}


def drawn(rng, *, plain=False):
    """Weights by name; if `plain`, no biases, and norms without scale and shift."""
    weights = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    for name, shape in SHAPES.items():
        if name.startswith("gamma"):
            weights[name] = np.ones(shape) if plain else rng.uniform(0.5, 2, shape)
        elif plain and len(shape) == 1:
            weights[name] = np.zeros(shape)
    return weights


def layer(call, weights):
    """Make a layer with these weights."""
    made = call.make(D, H, F, seeded(0))
    made.load(weights)
    return made


def attending(call, weights, prefix):
    """Make the attention with these weights, the student's own if need be."""
    made = call.own(MultiHead).make(D, H, seeded(0))
    for name in ATTENTION:
        setattr(made, name, weights[prefix + name])
    return lambda *args: np.asarray(made(*args)[0])


def expected(call, w, y, memory, tgt_mask=None, src_mask=None):
    """What comes out of such a layer, whose pieces are the student's own if need be."""
    look_back, look_over = attending(call, w, ""), attending(call, w, "cross_")
    norm, forward = call.own(layer_norm), call.own(ffn)
    y = norm(y + look_back(y, y, y, tgt_mask), w["gamma1"], w["beta1"])
    y = norm(y + look_over(y, memory, memory, src_mask), w["gamma2"], w["beta2"])
    return norm(y + forward(y, w["W1"], w["b1"], w["W2"], w["b2"]), w["gamma3"], w["beta3"])


def texts(rng, t=5, s=7, B=2):
    """Vectors of a target and of a source, and a causal mask."""
    return rng.normal(size=(B, t, D)), rng.normal(size=(B, s, D)), np.tri(t, dtype=bool)


def compare(call, weights, *texts_and_masks):
    """Require what comes out of a layer with these weights."""
    right = expected(call, weights, *texts_and_masks)
    agree(layer(call, weights)(*texts_and_masks), right)


def silent(rng, *names):
    """Weights by name, of which these are 0."""
    weights = drawn(rng)
    return weights | {name: np.zeros_like(weights[name]) for name in names}


@exercise.check(points=1.5, visible=True)
def matches_the_figure(call, rng):
    """Without biases, scales, shifts and masks: three sublayers, a sum and a norm after each."""
    y, memory, _ = texts(rng)
    compare(call, drawn(rng, plain=True), y, memory)


@exercise.check(points=1)
def source_is_silent(call, rng):
    """With a `cross_W_o` of zeros the source adds nothing, and all else is as ever."""
    y, memory, _ = texts(rng)
    compare(call, silent(rng, "cross_W_o"), y, memory)


@exercise.check(points=0.75)
def every_weight_counts(call, rng):
    """Biases, scales and shifts take part, each in its place."""
    y, memory, _ = texts(rng)
    compare(call, drawn(rng), y, memory)


def moved(f, first, second):
    """Say whether two inputs give different outputs."""
    return not np.allclose(f(first), f(second))


@exercise.check(points=1)
def mask_of_the_target(call, rng):
    """With a causal mask on the target, its last token changes no earlier output."""
    y, memory, mask = texts(rng)
    weights, other = drawn(rng), y + rng.normal(size=y.shape) * (np.arange(5) == 4)[:, None]
    made = layer(call, weights)
    right = expected(call, weights, y, memory, mask)
    out = worked(made(y, memory, mask), y, memory, like=right, what="the output")
    agree(out.shape, y.shape, what="the shape of the output")
    leaks = moved(lambda y: np.asarray(made(y, memory, mask))[:, :4], y, other)
    due = leaks and moved(lambda y: expected(call, weights, y, memory, mask)[:, :4], y, other)
    require(due or not leaks, "the output at a position depends on a later token of the target")


@exercise.check(points=1)
def padding_of_the_source(call, rng):
    """Padding of the source is not seen, whatever the mask of the target; what is real is seen."""
    y, memory, mask = texts(rng, s=5)
    seen = np.arange(5) < np.array([2, 4])[:, None]
    masks, real = (mask, seen[:, None, None]), seen[:, :, None]
    weights, noise = drawn(rng), rng.normal(size=memory.shape)
    made = layer(call, weights)
    right = expected(call, weights, y, memory, *masks)
    worked(made(y, memory, *masks), y, memory, like=right, what="the output")
    for change, is_seen in ((noise * ~real, False), (noise * real, True)):
        found = moved(lambda x: made(y, x, *masks), memory, memory + change)
        if found != is_seen:  # then the reason may lie in the pieces
            right = moved(lambda x: expected(call, weights, y, x, *masks), memory, memory + change)
            wrong = "the real source has no effect" if is_seen else "the source's padding is seen"
            require(found == right, wrong)


@exercise.check(points=0.75)
def draws_its_weights(call, rng):
    """Fresh layers draw their matrices from `rng`, anew for each; all else begins as 0 or 1."""
    y, memory, _ = texts(rng)
    same, again, other = (call.make(D, H, F, seeded(seed)) for seed in (1, 1, 2))
    # With fresh scales and shifts a norm gives 1 for the mean of the squares.
    right = call.own(layer_norm)(y, np.ones(D), np.zeros(D))
    out = worked(same(y, memory), y, memory, like=right, what="the output")
    agree(again(y, memory), out, what="the output of a second layer from the same generator")
    require(not np.allclose(other(y, memory), out), "another generator gives the same weights")
    vectors = {name: shape for name, shape in SHAPES.items() if len(shape) == 1}
    again.load({n: np.full(size, float(n.startswith("gamma"))) for n, size in vectors.items()})
    agree(again(y, memory), out, what="the output with biases and shifts of 0, scales of 1")


@exercise.misconception
class PreNorm(DecoderLayer):
    """You normalise what goes into a sublayer. Here the sum behind it is normalised."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Norm first."""
        y = y + self._look_back(self._norm(1, y, 0), tgt_mask)
        y = y + self._look_over(self._norm(2, y, 0), memory, src_mask)
        return y + self._forward(self._norm(3, y, 0))


@exercise.misconception
class NoShortcuts(DecoderLayer):
    """What goes into a sublayer is not added to what comes out."""

    def _norm(self, number, y, new):
        return super()._norm(number, 0, new)


@exercise.misconception
class NormBeforeTheSum(DecoderLayer):
    """You normalise what a sublayer gives and then add. Here the sum is normalised."""

    def _norm(self, number, y, new):
        return y + super()._norm(number, 0, new)


@exercise.misconception
class NoShortcutAroundTheSource(DecoderLayer):
    """What goes into the cross-attention is not added to what comes out."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Forget the target in the middle."""
        y = self._norm(1, y, self._look_back(y, tgt_mask))
        y = self._norm(2, 0, self._look_over(y, memory, src_mask))
        return self._norm(3, y, self._forward(y))


@exercise.misconception
class CrossAttentionFirst(DecoderLayer):
    """You look at the source first. The target looks at itself before it asks the source."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Exchange the two."""
        y = self._norm(1, y, self._look_over(y, memory, src_mask))
        y = self._norm(2, y, self._look_back(y, tgt_mask))
        return self._norm(3, y, self._forward(y))


@exercise.misconception
class NormAfterAttentionForgotten(DecoderLayer):
    """The first sum is not normalised. A norm follows each of the three."""

    def _norm(self, number, y, new):
        return y + new if number == 1 else super()._norm(number, y, new)


@exercise.misconception
class NormAfterCrossAttentionForgotten(DecoderLayer):
    """The second sum is not normalised. A norm follows each of the three."""

    def _norm(self, number, y, new):
        return y + new if number == 2 else super()._norm(number, y, new)


@exercise.misconception
class NormAtTheEndForgotten(DecoderLayer):
    """The last sum is not normalised. A norm follows each of the three."""

    def _norm(self, number, y, new):
        return y + new if number == 3 else super()._norm(number, y, new)


@exercise.misconception
class NoNorms(DecoderLayer):
    """Nothing is normalised. A norm follows each of the three sums."""

    def _norm(self, number, y, new):
        return y + new


@exercise.misconception
class ScalesAndShiftsForgotten(DecoderLayer):
    """Your norms have no effect of `gamma` and `beta`. Each has a scale and a shift of its own."""

    def _norm(self, number, y, new):
        return layer_norm(y + new, np.ones(y.shape[-1]), np.zeros(y.shape[-1]))


@exercise.misconception
class NoShortcutAroundTheTarget(DecoderLayer):
    """What goes into the first attention is not added to what comes out."""

    def _norm(self, number, y, new):
        return super()._norm(number, 0 if number == 1 else y, new)


@exercise.misconception
class NoShortcutAroundTheFeedForward(DecoderLayer):
    """What goes into the feed-forward layer is not added to what comes out."""

    def _norm(self, number, y, new):
        return super()._norm(number, 0 if number == 3 else y, new)


@exercise.misconception
class FeedForwardInTheMiddle(DecoderLayer):
    """The feed-forward layer stands before the source is asked. It comes last."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Exchange the last two."""
        y = self._norm(1, y, self._look_back(y, tgt_mask))
        y = self._norm(3, y, self._forward(y))
        return self._norm(2, y, self._look_over(y, memory, src_mask))


@exercise.misconception
class EveryShortcutFromTheInput(DecoderLayer):
    """All your sums add what went into the layer. Each adds what went into its own sublayer."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Begin all shortcuts at the input."""
        seen = self._norm(1, y, self._look_back(y, tgt_mask))
        asked = self._norm(2, y, self._look_over(seen, memory, src_mask))
        return self._norm(3, y, self._forward(asked))


@exercise.misconception
class LastShortcutTooEarly(DecoderLayer):
    """Your last sum doesn't add what went into the feed-forward layer, but something earlier."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Begin the third shortcut before the source is asked."""
        y = self._norm(1, y, self._look_back(y, tgt_mask))
        asked = self._norm(2, y, self._look_over(y, memory, src_mask))
        return self._norm(3, y, self._forward(asked))


@exercise.misconception
class LastShortcutFromTheInput(DecoderLayer):
    """Your last sum adds what went into the layer. It adds what went into its own sublayer."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Begin the third shortcut at the input."""
        seen = self._norm(1, y, self._look_back(y, tgt_mask))
        asked = self._norm(2, seen, self._look_over(seen, memory, src_mask))
        return self._norm(3, y, self._forward(asked))


@exercise.misconception
class InputOfTheLayerAdded(DecoderLayer):
    """Your second sum adds what went into the layer. It adds what went into its own sublayer."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Begin the second shortcut too early."""
        seen = self._norm(1, y, self._look_back(y, tgt_mask))
        y = self._norm(2, y, self._look_over(seen, memory, src_mask))
        return self._norm(3, y, self._forward(y))


@exercise.misconception
class NoCrossAttention(DecoderLayer):
    """This is an encoder layer: the source plays no part."""

    def _look_over(self, y, memory, mask):
        return 0


@exercise.misconception
class ValuesFromTheTarget(DecoderLayer):
    """Keys and values both come from the source in the cross-attention. You mix the two texts."""

    def _look_over(self, y, memory, mask):
        t, s = y.shape[1], memory.shape[1]
        wanted = np.arange(s) % t
        return self.cross(y, memory, y[:, wanted], mask)[0]


@exercise.misconception
class QueriesFromTheSource(DecoderLayer):
    """In the cross-attention the source asks in yours. The target asks, the source answers."""

    def _look_over(self, y, memory, mask):
        t, s = y.shape[1], memory.shape[1]
        out = self.cross(memory, y, y)[0]
        return out[:, np.arange(t) % s]


@exercise.misconception
class OneAttentionForBoth(DecoderLayer):
    """Both attentions have the same weights in yours. Each has four matrices of its own."""

    def _look_over(self, y, memory, mask):
        return self.attention(y, memory, memory, mask)[0]


@exercise.misconception
class OneObjectForBoth(DecoderLayer):
    """Both attentions are one object, in which the last loaded weights stay. Make two of them."""

    def __init__(self, d, h, f, rng):
        super().__init__(d, h, f, rng)
        self.attention = self.cross


@exercise.misconception
class CrossWeightsNotLoaded(DecoderLayer):
    """`load` does not reach the second attention: what begins with `cross_` has no effect."""

    def load(self, weights):
        """Leave them aside."""
        super().load({n: array for n, array in weights.items() if not n.startswith("cross_")})


@exercise.misconception
class TargetMaskIgnored(DecoderLayer):
    """`tgt_mask` has no effect: everyone looks ahead."""

    def _look_back(self, y, mask):
        return super()._look_back(y, None)


@exercise.misconception
class SourceMaskIgnored(DecoderLayer):
    """`src_mask` has no effect: the target reads the padding of the source."""

    def _look_over(self, y, memory, mask):
        return super()._look_over(y, memory, None)


@exercise.misconception
class TargetMaskForBoth(DecoderLayer):
    """You handed `tgt_mask` to both attentions. Columns of the second one are source tokens."""

    def __call__(self, y, memory, tgt_mask=None, src_mask=None):
        """Mix them up."""
        return super().__call__(y, memory, tgt_mask, tgt_mask)


@exercise.misconception
class FeedForwardForgotten(DecoderLayer):
    """The feed-forward layer is missing."""

    def _forward(self, y):
        return 0


@exercise.misconception
class OneNormForAll(DecoderLayer):
    """All three norms use the first one's scale and shift. Each has its own."""

    def _norm(self, number, y, new):
        return super()._norm(1, y, new)


@exercise.misconception
class BiasesForgotten(DecoderLayer):
    """The biases of the feed-forward layer have no effect."""

    def _forward(self, y):
        return ffn(y, self.W1, 0 * self.b1, self.W2, 0 * self.b2)


@exercise.misconception
class GeneratorIgnored(DecoderLayer):
    """Your weights don't come from `rng`: another generator gives the same ones."""

    def __init__(self, d, h, f, rng):
        super().__init__(d, h, f, np.random.default_rng(0))
