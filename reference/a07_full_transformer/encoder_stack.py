"""A stack of encoder blocks, each with weights of its own.

Source: Vaswani et al. (2017), "Attention is all you need", sections 3.1 and 3.4.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Numbers, Shape, agree, require, seeded
from autograder.exercise.properties import worked
from reference.helpers import ATTENTION, NORMS

exercise = Exercise(
    "encoder_stack",
    title="A sentence through the layers",
    source="Vaswani et al. (2017), sections 3.1 and 3.4",
    minutes=65,
    hints=[
        "Of the shapes asked for, only that of the scores is another one: the rest have the width"
        " of the model.",
        "Count per layer first: how many times attention, how many norms, and for each head a"
        " weight for every pair.",
    ],
)

EncoderBlock = exercise.carries("a06_block/encoder_block", "EncoderBlock")
HEADS = 8


@exercise.variant
def draw(rng):
    """n: tokens; L: layers; d: width. One sentence, 8 heads."""
    return {
        "n": int(rng.choice([3, 5, 6, 7, 9])),
        "L": int(rng.choice([4, 10, 11, 12, 13])),
        "d": int(rng.choice([128, 192, 320, 384, 640, 768, 896])),
    }


@exercise.part(points=0.5, answer=Shape())
def embedded(n, d):
    """The shape of what enters the first layer."""
    return (1, n, d)


@embedded.misconception()
def no_batch(n, d):
    """The axis of the batch is missing: it holds one sentence."""
    return (n, d)


@embedded.misconception()
def put_side_by_side(n, d):
    """Embedding and encoding are added, not put side by side."""
    return (1, n, 2 * d)


@exercise.part(points=0.5, answer=Numbers())
def factor(d):
    """The factor on the embedding."""
    return np.sqrt(d)


@factor.misconception()
def factor_of_the_scores(d):
    """You divided. The entries are small, and the factor enlarges them."""
    return 1 / np.sqrt(d)


@factor.misconception()
def variance_as_factor(d):
    """A factor c multiplies a variance by c²."""
    return d


@factor.misconception()
def width_of_a_head(d):
    """Heads play no part here: the whole embedding is multiplied."""
    return np.sqrt(d / HEADS)


def kept(embedded, n, d):
    """What every layer keeps: the shape of what went in, if it has a vector for each token."""
    return tuple(embedded) if tuple(embedded[-2:]) == (n, d) else (1, n, d)


@exercise.part(points=0.5, answer=Shape())
def after_two(embedded, n, d):
    """The shape of what the second layer gives."""
    return kept(embedded, n, d)


@after_two.misconception()
def one_axis_per_layer(n, d):
    """Layers leave no axis behind: each takes the output of the one before."""
    return (2, n, d)


@after_two.misconception()
def width_doubled(n, d):
    """A sum keeps the width, and so does each sublayer."""
    return (1, n, 2 * d)


@exercise.part(points=0.5, answer=Shape())
def scores(embedded, n, d):
    """The shape of the scores in one layer."""
    return (*kept(embedded, n, d)[:-2], HEADS, n, n)


@scores.misconception()
def scores_without_batch(n):
    """The axis of the batch is missing: it holds one sentence."""
    return (HEADS, n, n)


@scores.misconception()
def no_heads(n):
    """Each head has scores and weights of its own."""
    return (1, n, n)


@scores.misconception()
def scores_of_all_layers(n, L):
    """These are the scores of all layers. One layer is asked for."""
    return (L, HEADS, n, n)


@scores.misconception()
def queries_of_heads(n, d):
    """These are the queries, head by head. Scores are for pairs of tokens."""
    return (1, HEADS, n, d // HEADS)


@exercise.part(points=1, answer=Shape())
def output(embedded, n, d):
    """The shape of what the encoder gives."""
    return kept(embedded, n, d)


@output.misconception()
def one_vector_for_all(d):
    """The encoder keeps a vector for every token. Nothing averages over them."""
    return (1, d)


@output.misconception()
def outputs_of_all_layers(n, d, L):
    """Only the last layer's output leaves the encoder."""
    return (L, n, d)


@exercise.part(points=0.25, answer=Count())
def attention_sublayers(L):
    """How many times attention is computed."""
    return L


@attention_sublayers.misconception()
def heads_counted(L):
    """You counted heads. They are computed side by side, in one sublayer."""
    return HEADS * L


@attention_sublayers.misconception()
def all_sublayers(L):
    """You counted all sublayers. Which ones of them compute attention?"""
    return 2 * L


@exercise.part(points=0.25, answer=Count())
def norms(L):
    """How many layer norms there are."""
    return 2 * L


@norms.misconception()
def one_per_layer(L):
    """Each sublayer is followed by one."""
    return L


@norms.misconception()
def norms_of_a_decoder(L):
    """You gave each layer three norms. How many sublayers has a layer of the encoder?"""
    return 3 * L


@norms.misconception()
def final_one_added(L):
    """You added a final norm. Where the norm comes after each sum, there is none."""
    return 2 * L + 1


@exercise.part(points=0.5, answer=Count())
def weights(n, L):
    """How many attention weights are computed in all."""
    return L * HEADS * n * n


@weights.misconception()
def weights_of_one_layer(n):
    """This is one layer."""
    return HEADS * n * n


@weights.misconception()
def weights_of_one_head(n, L):
    """Each head has scores and weights of its own."""
    return L * n * n


@weights.misconception()
def numbers_learned(d, L):
    """You counted what is learned. Attention weights are computed, for each pair of tokens."""
    return L * 4 * d * d


@exercise.reference(without=ATTENTION | NORMS)
class Encoder:
    """L blocks, one after the other."""

    def __init__(self, L: int, d: int, h: int, f: int, rng: np.random.Generator):
        self.blocks = [EncoderBlock(d, h, f, rng) for _ in range(L)]

    def __call__(
        self, x: Float[ndarray, "b n d"], mask: Bool[ndarray, "*heads n n"] | None = None
    ) -> Float[ndarray, "b n d"]:
        """Send x through all blocks."""
        for block in self._route():
            x = self._step(block, x, mask)
        return x

    def load(self, weights: list):
        """Put arrays in place of the weights: a dictionary by name for each block."""
        for block, own in zip(self.blocks, weights, strict=True):
            block.load(own)

    def _route(self):
        return self.blocks

    def _step(self, block, x, mask):
        return block(x, mask)


@exercise.alternative
class ByRecursion(Encoder):
    """The first block, and an encoder of the others."""

    def __init__(self, L, d, h, f, rng):
        self.first = EncoderBlock(d, h, f, rng) if L else None
        self.others = ByRecursion(L - 1, d, h, f, rng) if L else None

    def load(self, weights):
        """The first one's, and those of the others."""
        if self.first:
            self.first.load(weights[0])
            self.others.load(weights[1:])

    def __call__(self, x, mask=None):
        """One block, and the rest."""
        return self.others(self.first(x, mask), mask) if self.first else x


@exercise.alternative
class BlocksInADictionary:
    """Blocks by number."""

    def __init__(self, L, d, h, f, rng):
        self.L = L
        self.block = {number: EncoderBlock(d, h, f, rng) for number in range(1, L + 1)}

    def load(self, weights):
        """Load number after number."""
        for number, own in enumerate(weights, start=1):
            self.block[number].load(own)

    def __call__(self, x, mask=None):
        """Count up."""
        number = 0
        while number < self.L:
            number += 1
            x = self.block[number](x, mask)
        return np.array(x)


@exercise.alternative
class ExampleAfterExample(Encoder):
    """One sentence after the other through all blocks."""

    def __call__(self, x, mask=None):
        """Stack what comes of each."""
        masks = [mask] * len(x) if mask is None or mask.ndim < 4 else mask
        one = super().__call__
        return np.concatenate([one(x[b : b + 1], masks[b]) for b in range(len(x))])


D, H, F = 6, 2, 10
SHAPES = {
    **dict.fromkeys(("W_q", "W_k", "W_v", "W_o"), (D, D)),
    **{"W1": (D, F), "W2": (F, D), "b1": (F,)},
    **dict.fromkeys(("b2", "beta1", "beta2", "gamma1", "gamma2"), (D,)),
}


def drawn(rng):
    """Weights of one block by name."""
    return {name: rng.normal(size=shape) for name, shape in SHAPES.items()}


def encoder(call, weights):
    """Make an encoder with these weights."""
    stack = call.make(len(weights), D, H, F, seeded(0))
    stack.load(weights)
    return stack


def expected(call, weights, x, mask=None):
    """What comes out of such blocks, which are the student's own if need be."""
    for own in weights:
        block = call.own(EncoderBlock).make(D, H, F, seeded(0))
        block.load(own)
        x = np.asarray(block(x, mask))
    return x


@exercise.check(points=1.5, visible=True)
def blocks_in_their_order(call, rng):
    """Three blocks with weights of their own, the first one first."""
    x, weights = rng.normal(size=(2, 4, D)), [drawn(rng) for _ in range(3)]
    agree(encoder(call, weights)(x), expected(call, weights, x))


@exercise.check(points=0.75)
def drawn_one_by_one(call, rng):
    """Fresh blocks differ from each other: one block twice gives something else than two."""
    x = rng.normal(size=(1, 4, D))
    block, other = (call.own(EncoderBlock).make(D, H, F, seeded(seed)) for seed in (3, 4))
    stack, another = (call.make(2, D, H, F, seeded(seed)) for seed in (3, 4))
    out = np.asarray(stack(x))
    require(np.isfinite(out).all(), "there is NaN or ∞ in the output")
    agree(out.shape, (1, 4, D), what="the shape of the result")
    worked(out, x, like=other(np.asarray(block(x))), what="the output")
    if np.allclose(block(x), other(x)):  # a slip of the block's: nothing can be told
        return
    one = call.make(1, D, H, F, seeded(3))
    twice = one(np.asarray(one(x)))
    require(not np.allclose(twice, out), "the second block has the weights of the first")
    require(not np.allclose(another(x), out), "another generator gives the same weights")


@exercise.check(points=0.5)
def no_layers(call, rng):
    """Without layers the input comes back as it is."""
    x = 3 + rng.normal(size=(2, 3, D))
    agree(encoder(call, [])(x), x)
    worked(encoder(call, [drawn(rng)])(x), x, what="the output of one layer")


@exercise.check(points=1.25)
def mask_in_every_block(call, rng):
    """Every block gets the mask: with a causal one, the last token changes no earlier output."""
    x, weights, mask = rng.normal(size=(2, 5, D)), [drawn(rng) for _ in range(2)], np.tri(5) > 0
    other = x + rng.normal(size=x.shape) * (np.arange(5) == 4)[:, None]
    stack = encoder(call, weights)
    out = worked(stack(x, mask), x, like=expected(call, weights, x, mask), what="the output")
    agree(out.shape, x.shape, what="the shape of the output")
    leaks = moved(lambda x: stack(x, mask), x, other)
    due = leaks and moved(lambda x: expected(call, weights, x, mask), x, other)
    require(due or not leaks, "the output at a position depends on a later token")


def moved(f, x, other):
    """Say whether two inputs give different outputs, the last position's aside."""
    return not np.allclose(np.asarray(f(x))[:, :-1], np.asarray(f(other))[:, :-1])


@exercise.misconception
class WeightsShared(Encoder):
    """All your blocks are one and the same. Each has weights of its own: make it in the loop."""

    def __init__(self, L, d, h, f, rng):
        self.blocks = [EncoderBlock(d, h, f, rng)] * L


@exercise.misconception
class SameDraw(Encoder):
    """All your blocks begin with the same weights. Let them draw from one generator in turn."""

    def __init__(self, L, d, h, f, rng):
        seed = int(rng.integers(2**32))
        self.blocks = [EncoderBlock(d, h, f, np.random.default_rng(seed)) for _ in range(L)]


@exercise.misconception
class GeneratorIgnored(Encoder):
    """Your weights don't come from `rng`: another generator gives the same ones."""

    def __init__(self, L, d, h, f, rng):
        super().__init__(L, d, h, f, np.random.default_rng(0))


@exercise.misconception
class LastBlockFirst(Encoder):
    """You go through the blocks from the last one to the first."""

    def _route(self):
        return self.blocks[::-1]


@exercise.misconception
class InputForEveryBlock(Encoder):
    """Each block gets the embeddings. It takes what the block before it gave."""

    def __call__(self, x, mask=None):
        """Feed all the same."""
        out = x
        for block in self.blocks:
            out = block(x, mask)
        return out


@exercise.misconception
class FirstWeightsForAll(Encoder):
    """`load` gives every block the first dictionary. Each block has one of its own."""

    def load(self, weights):
        """Hand out the first one."""
        super().load(weights[:1] * len(weights))


@exercise.misconception
class OneBlockTooFew(Encoder):
    """One of the blocks takes no part: there are L, and all of them are gone through."""

    def _route(self):
        return self.blocks[:-1]


@exercise.misconception
class MaskForgotten(Encoder):
    """The mask has no effect. Every block needs it."""

    def _step(self, block, x, mask):
        return block(x)


@exercise.misconception
class MaskInTheFirstBlock(Encoder):
    """Only the first block gets the mask. In the others everyone sees everyone."""

    def _step(self, block, x, mask):
        return block(x, mask if block is self.blocks[0] else None)


@exercise.misconception
class NothingWithoutLayers(Encoder):
    """Without layers nothing comes out. Then the input itself is what the encoder gives."""

    def __call__(self, x, mask=None):
        """Forget the input."""
        return super().__call__(x, mask) if self.blocks else np.zeros_like(x)


@exercise.misconception
class ShortcutAroundTheStack(Encoder):
    """You add the input once more at the end. The shortcuts are inside the blocks."""

    def __call__(self, x, mask=None):
        """Add the input."""
        return x + super().__call__(x, mask) if self.blocks else x


@exercise.misconception
class ShortcutAroundEveryBlock(Encoder):
    """You add what goes into a block once more. The shortcuts are inside the blocks."""

    def _step(self, block, x, mask):
        return x + block(x, mask)
