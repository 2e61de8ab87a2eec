"""One encoder block: attention and a feed-forward layer, each with a shortcut and a norm.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.1 and figure 1.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Shape, agree, require, seeded
from reference.helpers import ATTENTION, NORMS

exercise = Exercise(
    "encoder_block",
    title="One post-norm block",
    source="Vaswani et al. (2017), section 3.1 and figure 1",
    minutes=65,
    hints=[
        "A block gives back what it was given, as far as shapes go; only inside are there "
        "others. Follow the width.",
        "Order in the original encoder: a sublayer, then the sum with what went in, then the norm.",
        "Ask of each step whether it looks at one token alone, or at one head alone.",
    ],
)

MultiHead = exercise.carries("a04_multi_head/mha_numpy", "MultiHead")
layer_norm = exercise.carries("a06_block/ln_code", "layer_norm")
ffn = exercise.carries("a06_block/ffn_code", "ffn")


@exercise.part(points=0.5, answer=Shape())
def scores_shape():
    """The shape of the attention weights, all heads together."""
    return (2, 8, 10, 10)


scores_shape.mistakes(
    no_axis_of_heads=((2, 10, 10), "Every head has weights of its own."),
    columns_of_a_head=(
        (2, 8, 10, 64),
        "That is what a head has of queries, or of keys. Weights are for pairs of tokens.",
    ),
)


@exercise.part(points=0.25, answer=Shape())
def attended_shape():
    """The shape of what attention gives."""
    return (2, 10, 512)


attended_shape.mistakes(
    heads_not_merged=(
        (2, 8, 10, 64),
        "The heads have been put side by side again, and W_O keeps the width.",
    ),
    one_head_alone=(
        (2, 10, 64),
        "That is the width of one head. All of them are put side by side again.",
    ),
)


@exercise.part(points=0.25, answer=Shape())
def first_norm_shape():
    """The shape after the first sum and its norm."""
    return (2, 10, 512)


first_norm_shape.mistakes(
    twice_as_wide=((2, 10, 1024), "Input and attention are added, not put side by side."),
    one_number_per_token=(
        (2, 10),
        "Each token has one mean, but what comes out has all its features.",
    ),
    the_means_alone=(
        (2, 10, 1),
        "That is the shape of the means. What comes out has all the features of each token.",
    ),
)


@exercise.part(points=0.5, answer=Shape())
def hidden_shape():
    """The shape of the hidden layer."""
    return (2, 10, 2048)


hidden_shape.mistakes(
    as_wide_as_the_model=((2, 10, 512), "Between its two maps the feed-forward layer is wider."),
    longer_instead_of_wider=(
        (2, 2048, 512),
        "The number of tokens doesn't change, their width does.",
    ),
    heads_in_the_hidden_layer=(
        (2, 8, 10, 2048),
        "There are no heads in the feed-forward layer: they were joined in attention.",
    ),
)


@exercise.part(points=0.25, answer=Shape())
def forward_shape():
    """The shape of what the feed-forward layer gives."""
    return (2, 10, 512)


@forward_shape.misconception()
def not_narrowed_again():
    """The second map goes back to the width of the model."""
    return (2, 10, 2048)


@exercise.part(points=0.25, answer=Shape())
def block_shape():
    """The shape of what the block gives."""
    return (2, 10, 512)


@block_shape.misconception()
def last_token_alone():
    """Every token comes out, not the last one alone."""
    return (2, 512)


@exercise.reference(without=ATTENTION | NORMS)
class EncoderBlock:
    """One block of the original encoder."""

    def __init__(self, d: int, h: int, f: int, rng: np.random.Generator):
        self.attention = MultiHead(d, h, rng)
        self.W1, self.b1 = rng.normal(size=(d, f)) / np.sqrt(d), np.zeros(f)
        self.W2, self.b2 = rng.normal(size=(f, d)) / np.sqrt(f), np.zeros(d)
        self.gamma1, self.beta1 = np.ones(d), np.zeros(d)
        self.gamma2, self.beta2 = np.ones(d), np.zeros(d)

    def __call__(
        self, x: Float[ndarray, "b n d"], mask: Bool[ndarray, "*heads n n"] | None = None
    ) -> Float[ndarray, "b n d"]:
        """Attend, add, normalise; feed forward, add, normalise."""
        y = self._first_norm(x + self._attend(x, mask))
        return self._second_norm(y + self._forward(y))

    def load(self, weights: dict):
        """Put arrays in place of the weights, by name."""
        for name, array in weights.items():
            setattr(self.attention if name in ATTENTION else self, name, array)

    def _attend(self, x, mask):
        return self.attention(x, x, x, mask)[0]

    def _forward(self, x):
        return ffn(x, self.W1, self.b1, self.W2, self.b2)

    def _first_norm(self, x):
        return layer_norm(x, self.gamma1, self.beta1)

    def _second_norm(self, x):
        return layer_norm(x, self.gamma2, self.beta2)


ATTENTION = ("W_q", "W_k", "W_v", "W_o")


@exercise.alternative
class WeightsInADictionary:
    """All weights in one dictionary, and two sublayers in a loop."""

    def __init__(self, d, h, f, rng):
        shapes = {"W1": (d, f), "W2": (f, d), "b1": (f,), "b2": (d,)}
        shapes |= dict.fromkeys(("gamma1", "gamma2", "beta1", "beta2"), (d,))
        self.attention = MultiHead(d, h, rng)
        self.all = {name: np.zeros(shape) for name, shape in shapes.items()}
        for name in ("W1", "W2"):
            limit = np.sqrt(3 / shapes[name][0])
            self.all[name] = rng.uniform(-limit, limit, shapes[name])
        for name in ("gamma1", "gamma2"):
            self.all[name] += 1

    def __getattr__(self, name):
        if name in self.__dict__.get("all", {}):
            return self.all[name]
        raise AttributeError(name)

    def load(self, weights):
        """Sort them by whose they are."""
        for name, array in weights.items():
            if name in self.all:
                self.all[name] = array
            else:
                setattr(self.attention, name, array)

    def __call__(self, x, mask=None):
        """Go through both sublayers."""
        w = self.all
        sublayers = (
            lambda x: self.attention(x, x, x, mask)[0],
            lambda x: ffn(x, w["W1"], w["b1"], w["W2"], w["b2"]),
        )
        for i, sublayer in enumerate(sublayers, start=1):
            x = layer_norm(x + sublayer(x), w[f"gamma{i}"], w[f"beta{i}"])
        return x


@exercise.alternative
class NormsInside(EncoderBlock):
    """Its own norm and its own feed-forward layer."""

    def _forward(self, x):
        hidden = x @ self.W1 + self.b1
        return np.where(hidden > 0, hidden, 0) @ self.W2 + self.b2

    def _norm(self, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    def _first_norm(self, x):
        return self._norm(x) * self.gamma1 + self.beta1

    def _second_norm(self, x):
        return self._norm(x) * self.gamma2 + self.beta2


@exercise.alternative
class ExampleAfterExample(EncoderBlock):
    """One example after the other."""

    def __call__(self, x, mask=None):
        """Stack what comes of each."""
        masks = [mask] * len(x) if mask is None or mask.ndim < 4 else mask
        one = super().__call__
        return np.concatenate([one(x[b : b + 1], masks[b]) for b in range(len(x))])


def drawn(rng, d=6, f=10, *, plain=False):
    """Weights by name; if `plain`, no biases, and norms without scale and shift."""
    weights = {name: 1.5 * rng.normal(size=(d, d)) / np.sqrt(d) for name in ATTENTION}
    weights |= {"W1": rng.normal(size=(d, f)), "W2": rng.normal(size=(f, d)) / np.sqrt(f)}
    for name, size in {"b1": f, "b2": d, "beta1": d, "beta2": d}.items():
        weights[name] = np.zeros(size) if plain else rng.normal(size=size)
    for name in ("gamma1", "gamma2"):
        weights[name] = np.ones(d) if plain else rng.uniform(0.5, 2, d)
    return weights


def block(call, weights, h):
    """Make a block with these weights."""
    made = call.make(*weights["W1"].shape[:1], h, weights["W1"].shape[1], seeded(0))
    made.load(weights)
    return made


def expected(call, w, h, x, mask=None):
    """What comes out of such a block, whose pieces are the student's own if need be."""
    attend = call.own(MultiHead).make(x.shape[-1], h, seeded(0))
    for name in ATTENTION:
        setattr(attend, name, w[name])
    norm, forward = call.own(layer_norm), call.own(ffn)
    y = norm(x + np.asarray(attend(x, x, x, mask)[0]), w["gamma1"], w["beta1"])
    return norm(y + forward(y, w["W1"], w["b1"], w["W2"], w["b2"]), w["gamma2"], w["beta2"])


@exercise.check(points=2.5, visible=True)
def matches_the_figure(call, rng):
    """Without biases, scales and shifts: attend, add, normalise; feed forward, add, normalise."""
    weights = drawn(rng, plain=True)
    made = block(call, weights, 2)
    for shape in ((2, 4, 6), (1, 1, 6)):
        x = rng.normal(size=shape)
        agree(made(x), expected(call, weights, 2, x))


@exercise.check(points=1.5)
def every_weight_counts(call, rng):
    """Biases, scales and shifts take part, each in its place."""
    x, weights = rng.normal(size=(2, 4, 6)), drawn(rng)
    agree(block(call, weights, 2)(x), expected(call, weights, 2, x))


@exercise.check(points=1.25)
def mask_is_handed_on(call, rng):
    """The mask reaches attention, so that with a causal one no token sees a later one."""
    x, weights, mask = rng.normal(size=(2, 5, 6)), drawn(rng), np.tri(5, dtype=bool)
    agree(block(call, weights, 2)(x, mask), expected(call, weights, 2, x, mask))


@exercise.check(points=1)
def silent_sublayers(call, rng):
    """Where W_o is 0, attention is silent; where W2 is 0 as well, x comes out normalised."""
    x, weights = 9 * rng.normal(size=(2, 4, 6)), drawn(rng, plain=True)
    for name in ("W_o", "W2"):
        weights[name] = np.zeros_like(weights[name])
        agree(block(call, weights, 2)(x), expected(call, weights, 2, x))


@exercise.check(points=1.25)
def draws_its_weights(call, rng):
    """W1, W2 are drawn from `rng`, with deviations 1/√d, 1/√f; the rest is 0, the scales 1."""
    first, other = (call.make(16, 2, 64, seeded(seed)) for seed in (1, 2))
    for name, shape in {"W1": (16, 64), "W2": (64, 16)}.items():
        W = np.asarray(getattr(first, name))
        require(W.shape == shape, f"{name} has another shape than {shape}")
        same = np.allclose(W, getattr(other, name))
        require(not same, f"another generator gives the same {name}", credit=0.5)
        close = 0.85 < W.std() * shape[0] ** 0.5 < 1.15
        require(close, f"the deviation of {name} should be 1/√{shape[0]}", credit=0.5)
    for name, right in {
        **dict.fromkeys(("gamma1", "gamma2"), np.ones(16)),
        **dict.fromkeys(("beta1", "beta2", "b2"), np.zeros(16)),
        "b1": np.zeros(64),
    }.items():
        agree(getattr(first, name), right, what=f"{name} at first", credit=0.5)


@exercise.check(points=0.5, after=matches_the_figure)
def single_precision(call, rng):
    """float32 gives float32, if the weights are of that type."""
    weights = {name: array.astype(np.float32) for name, array in drawn(rng).items()}
    x = rng.normal(size=(1, 3, 6)).astype(np.float32)
    out = np.asarray(block(call, weights, 2)(x))
    wanted = expected(call, weights, 2, x).dtype
    require(out.dtype == wanted, f"the result is {out.dtype}; {wanted} was expected")


@exercise.misconception
class PreNorm(EncoderBlock):
    """You normalise what goes into a sublayer. Here the sum behind it is normalised."""

    def __call__(self, x, mask=None):
        """Norm first."""
        x = x + self._attend(self._first_norm(x), mask)
        return x + self._forward(self._second_norm(x))


@exercise.misconception
class NoShortcuts(EncoderBlock):
    """The input of a sublayer is not added to its output."""

    def __call__(self, x, mask=None):
        """One after the other."""
        y = self._first_norm(self._attend(x, mask))
        return self._second_norm(self._forward(y))


@exercise.misconception(credit=0.5)
class FirstNormMissing(EncoderBlock):
    """There is no norm between attention and the feed-forward layer."""

    def _first_norm(self, x):
        return x


@exercise.misconception(credit=0.5)
class LastNormMissing(EncoderBlock):
    """There is no norm at the end."""

    def _second_norm(self, x):
        return x


@exercise.misconception(credit=0.5)
class SecondShortcutFromTheInput(EncoderBlock):
    """The second shortcut starts at the block's input. It starts where the first norm ends."""

    def __call__(self, x, mask=None):
        """Add x twice."""
        y = self._first_norm(x + self._attend(x, mask))
        return self._second_norm(x + self._forward(y))


@exercise.misconception(credit=0.5)
class OneShortcutMissing(EncoderBlock):
    """The second shortcut is missing, the one around the feed-forward layer."""

    def __call__(self, x, mask=None):
        """Add once."""
        return self._second_norm(self._forward(self._first_norm(x + self._attend(x, mask))))


@exercise.misconception(credit=0.5)
class FeedForwardFirst(EncoderBlock):
    """The feed-forward layer comes first in yours. Attention does."""

    def __call__(self, x, mask=None):
        """The other way round."""
        y = self._first_norm(x + self._forward(x))
        return self._second_norm(y + self._attend(y, mask))


@exercise.misconception
class MaskNotHandedOn(EncoderBlock):
    """The mask has no effect: hand it on to attention."""

    def _attend(self, x, mask):
        return super()._attend(x, None)


@exercise.misconception
class OneNormForBoth(EncoderBlock):
    """Both norms have the same scale and shift. Each has its own."""

    def _second_norm(self, x):
        return self._first_norm(x)


@exercise.misconception
class ScaleAndShiftLeftOut(EncoderBlock):
    """The norms' scales and shifts are never used."""

    def _first_norm(self, x):
        return layer_norm(x, np.ones_like(self.gamma1), np.zeros_like(self.beta1))

    def _second_norm(self, x):
        return layer_norm(x, np.ones_like(self.gamma2), np.zeros_like(self.beta2))


@exercise.misconception
class BiasesLeftOut(EncoderBlock):
    """The biases of the feed-forward layer are never used."""

    def _forward(self, x):
        return ffn(x, self.W1, 0 * self.b1, self.W2, 0 * self.b2)


@exercise.misconception
class WeightsNotDrawn(EncoderBlock):
    """W1 and W2 are the same whatever `rng` is. Draw them from it."""

    def __init__(self, d, h, f, rng):
        super().__init__(d, h, f, rng)
        own = np.random.default_rng(0)
        self.W1, self.W2 = own.normal(size=(d, f)) / d**0.5, own.normal(size=(f, d)) / f**0.5


@exercise.misconception
class WeightsTooLarge(EncoderBlock):
    """W1 and W2 are drawn with deviation 1. Divide by the root of the number of rows."""

    def __init__(self, d, h, f, rng):
        super().__init__(d, h, f, rng)
        self.W1, self.W2 = self.W1 * d**0.5, self.W2 * f**0.5


@exercise.misconception(fatal="nothing gets through, so nothing is seen of what is built on it")
class ScalesStartAtZero(EncoderBlock):
    """The scales start at 0, so nothing gets through. They start at 1."""

    def __init__(self, d, h, f, rng):
        super().__init__(d, h, f, rng)
        self.gamma1, self.gamma2 = np.zeros(d), np.zeros(d)


@exercise.misconception
class DoubleInBetween(EncoderBlock):
    """The result is float64 whatever comes in."""

    def __call__(self, x, mask=None):
        """Go to float64."""
        return super().__call__(x, mask).astype(float)


@exercise.misconception
class NormOverTokens(EncoderBlock):
    """Your norms mix the tokens. Each token is normalised by itself."""

    def _first_norm(self, x):
        return layer_norm(x.swapaxes(1, 2), 1, 0).swapaxes(1, 2) * self.gamma1 + self.beta1

    def _second_norm(self, x):
        return layer_norm(x.swapaxes(1, 2), 1, 0).swapaxes(1, 2) * self.gamma2 + self.beta2


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "the weighted sums of attention",
            "the matrix $W_O$",
            "the feed-forward layer",
            "the shortcuts",
            "the norms",
        ],
        multiple=True,
    ),
)
def mixes_tokens():
    """What lets information pass from one token to another?"""
    return "A"


mixes_tokens.mistakes(
    feed_forward_mixes_tokens=("AC", "The feed-forward layer takes each position by itself."),
    output_matrix_mixes_tokens=(
        "AB",
        "W_O mixes the columns of a token. Which token they belong to it doesn't ask.",
    ),
    norm_mixes_tokens=("AE", "A layer norm takes its mean over the features of one token."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "the weighted sums of attention",
            "the matrix $W_O$",
            "the feed-forward layer",
            "the shortcuts",
        ],
        multiple=True,
    ),
)
def mixes_heads():
    """What lets information pass from the columns of one head to those of another?"""
    return "BC"


mixes_heads.mistakes(
    output_matrix_alone=("B", "One more linear map reads all columns at once."),
    shortcuts_mix_heads=("BCD", "A shortcut adds each column to the same column."),
    attention_mixes_heads=(
        "ABC",
        "Until their outputs are joined, heads know nothing of one another.",
    ),
)
