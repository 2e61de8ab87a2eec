"""A pre-norm block as a torch module, with GELU and dropout.

Source: Vaswani et al. (2017), section 5.4; Hendrycks & Gimpel (2016); PyTorch's
nn.TransformerEncoderLayer.
"""

import torch
from torch import nn
from torch.nn import functional as F

from autograder.exercise import Exercise, Numbers, agree, made, require
from reference.helpers import ATTENTION

exercise = Exercise(
    "torch_block",
    title="A block in torch, with GELU and dropout",
    source="Vaswani et al. (2017), section 5.4; Hendrycks & Gimpel (2016)",
    minutes=45,
    hints=[
        "Write one line for each of the two sublayers, and read off the formula where the norm "
        "and the dropout stand in it.",
        "A module that is an attribute of yours is registered, and hears of `train()` and "
        "`eval()` when yours does.",
        "For `growth` take one number that is dropped or divided, and average its square over "
        "both cases.",
    ],
)
MHA = exercise.carries("a04_multi_head/mha_torch", "MHA")


@exercise.part(points=0.5, answer=Numbers())
def growth():
    """By which factor dropout with p = 0.1 enlarges the mean square of what it is given."""
    return 1 / 0.9


growth.mistakes(
    mean_is_kept=(
        1,
        "It is the mean that is kept. What is left is divided by 0.9, and squares feel that twice.",
    ),
    divided_for_all=(1 / 0.81, "You divided all numbers by 0.9. A tenth of them are 0."),
    not_divided=(0.9, "That would be so if what is left stayed as it is. It is divided by 1 − p."),
)


@exercise.reference(without=ATTENTION)
class Block(nn.Module):
    """x + drop(attention(LN x)), then x + drop(W2 GELU(W1 LN x))."""

    def __init__(self, d: int, h: int, f: int, p: float = 0.1):
        super().__init__()
        self.attention = MHA(d, h)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.up, self.down = nn.Linear(d, f), nn.Linear(f, d)
        self.p = p

    def load_from(self, m: nn.TransformerEncoderLayer):
        """Take over the weights of the library's block."""
        inner, others = m.self_attn, (m.norm1, m.norm2, m.linear1, m.linear2)
        self.attention.load_from(inner)
        for own, other in zip((self.norm1, self.norm2, self.up, self.down), others, strict=True):
            own.load_state_dict(other.state_dict())

    def forward(self, x, mask=None):
        """Attend and add, feed forward and add."""
        x = x + self._drop(self._attend(self.norm1(x), mask))
        return x + self._drop(self._feed(self.norm2(x)))

    def _attend(self, x, mask):
        return self.attention(x, x, x, mask)[0]

    def _feed(self, x):
        return self.down(self._bend(self.up(x)))

    def _bend(self, x):
        return F.gelu(x)

    def _drop(self, x):
        return F.dropout(x, self.p, self.training)


@exercise.alternative
class ModulesThroughout(nn.Module):
    """Modules for everything, and the feed-forward layer as a sequence."""

    def __init__(self, d, h, f, p=0.1):
        super().__init__()
        self.attention = MHA(d, h)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.feed = nn.Sequential(nn.Linear(d, f), nn.GELU(), nn.Linear(f, d), nn.Dropout(p))
        self.drop = nn.Dropout(p)

    def load_from(self, m):
        """Take over the weights, by their places in the sequence."""
        inner = m.self_attn
        self.attention.load_from(inner)
        self.norm1.load_state_dict(m.norm1.state_dict())
        self.norm2.load_state_dict(m.norm2.state_dict())
        self.feed[0].load_state_dict(m.linear1.state_dict())
        self.feed[2].load_state_dict(m.linear2.state_dict())

    def forward(self, x, mask=None):
        """Name the intermediate results."""
        normed = self.norm1(x)
        attended, _ = self.attention(normed, normed, normed, mask)
        y = x + self.drop(attended)
        return y + self.feed(self.norm2(y))


@exercise.alternative
class DrawnByHand(Block):
    """Draw the zeros by hand, and GELU by the error function."""

    def _bend(self, x):
        return x / 2 * (1 + torch.erf(x / 2**0.5))

    def _drop(self, x):
        if not self.training:
            return x
        return x * (torch.rand_like(x) >= self.p) / (1 - self.p)


@exercise.alternative
class SublayersInALoop(Block):
    """Both sublayers alike, and norms by hand."""

    def _normed(self, x, norm):
        deviation = x - x.mean(-1, keepdim=True)
        scale = (deviation.square().mean(-1, keepdim=True) + norm.eps).rsqrt()
        return deviation * scale * norm.weight + norm.bias

    def forward(self, x, mask=None):
        """Norm, sublayer, dropout, sum."""
        sublayers = ((self.norm1, lambda y: self._attend(y, mask)), (self.norm2, self._feed))
        for norm, sublayer in sublayers:
            x = torch.add(
                x, nn.functional.dropout(sublayer(self._normed(x, norm)), self.p, self.training)
            )
        return x


def library(d, h, f):  # given
    """The library's block, with weights that are not small and biases that are not 0."""
    layer = nn.TransformerEncoderLayer(d, h, f, 0, "gelu", batch_first=True, norm_first=True)
    numbers = torch.Generator().manual_seed(6)
    for p in layer.parameters():
        p.data = 1.2 * torch.randn(p.shape, generator=numbers) / p.shape[-1] ** (p.ndim / 4)
    return layer.eval()


LOUD = 1000


def loud(d, h, f):
    """The same, whose feed-forward layer gives 1000 whatever comes in."""
    layer = library(d, h, f)
    layer.linear2.weight.data.zero_()
    layer.linear2.bias.data.fill_(LOUD)
    return layer


def attention_of(d, h, f):
    """The attention of the library's block."""
    return library(d, h, f).self_attn


def loaded(call, sizes, p=0.1, weights=library):
    """The student's block with the library's weights, in evaluation mode."""
    call.seed(0)
    block = call.make(*sizes, p)
    block.load_from(made(weights, *sizes))
    block.eval()
    return block


def tokens(rng, *shape):
    """A batch of float32."""
    return torch.tensor(rng.normal(size=shape), dtype=torch.float32)


def attention(call, sizes):
    """The attention of the library's block, or the student's own with its weights."""
    attend = call.own(MHA).make(*sizes[:2])
    attend.load_from(made(attention_of, *sizes))
    return attend


def expected(call, sizes, x, mask=None):
    """What comes out of the library's block, with the student's own attention if need be."""
    m, attend = library(*sizes), attention(call, sizes)
    with torch.no_grad():
        normed = m.norm1(x)
        y = x + torch.tensor(attend(normed, normed, normed, mask)[0].array)
        return y + m.linear2(F.gelu(m.linear1(m.norm2(y))))


def close(given, right, what="the output"):
    """Compare float32."""
    agree(given, right, rtol=1e-4, atol=1e-5, what=what)


SIZES = (8, 2, 12)


@exercise.check(points=1.5, visible=True)
def same_as_the_library(call, rng):
    """In evaluation mode, and with the library's weights, the output is the library's."""
    x = tokens(rng, 2, 4, 8)
    close(loaded(call, SIZES)(x), expected(call, SIZES, x))


@exercise.check(points=0.5)
def mask_is_handed_on(call, rng):
    """The mask reaches attention: with a causal one no token sees a later one."""
    x, mask = tokens(rng, 2, 5, 8), torch.ones(5, 5, dtype=torch.bool).tril()
    close(loaded(call, SIZES)(x, mask), expected(call, SIZES, x, mask))


def dropped(call, p):
    """Which entries of both sublayers are kept in training, and which of attention's can be told.

    In evaluation a block adds what its attention gives, and 1000; in training either of the two is
    missing, or divided by 1 − p.
    """
    sizes = 16, 2, 8
    x = torch.linspace(-2, 2, 40 * 16).reshape(1, 40, 16).sin()
    block = loaded(call, sizes, p, loud)
    attended = block(x).array - x.numpy() - LOUD
    block.train()
    call.seed(1)
    added = (block(x).array - x.numpy()) * (1 - p)
    fed = added > LOUD / 2
    rest = added - LOUD * fed
    kept = abs(rest - attended) < 0.01
    as_due = (kept | (abs(rest) < 0.01)).all()
    message = "what is added should be 0, or what the sublayer gives, divided by 1 − p"
    require(as_due, message, credit=0.25)
    return kept, fed, abs(attended) > 0.05


@exercise.check(points=0.75)
def drops_what_attention_gives(call, rng):
    """In training entries of what attention gives are dropped with probability p, or divided."""
    kept, _, told = dropped(call, 0.25)
    share = kept[told].mean()
    require(0.65 < share < 0.85, "entries of what attention gives are dropped with probability p")
    some = (kept & told).any(-1) & (~kept & told).any(-1)
    require(some.any(), "a token loses all of its entries, or none")


@exercise.check(points=0.75)
def drops_what_the_layer_gives(call, rng):
    """In training the same happens to what the feed-forward layer gives, drawn anew."""
    kept, fed, told = dropped(call, 0.25)
    require(0.65 < fed.mean() < 0.85, "entries of the feed-forward layer are dropped, too")
    require((fed != kept)[told].any(), "both sublayers lose the same entries")


@exercise.check(points=0.5)
def nothing_is_dropped_in_evaluation(call, rng):
    """In evaluation mode p makes no difference, and two runs agree."""
    x = tokens(rng, 1, 6, 8)
    block = loaded(call, SIZES, 0.5)
    first = block(x)
    close(block(x), first.array, "the second run")
    close(first, expected(call, SIZES, x))


@exercise.check(points=0.5)
def every_parameter_learns(call, rng):
    """There are as many parameters as in the library's block, and gradients reach all of them."""
    x, (d, _, f) = tokens(rng, 2, 3, 8), SIZES
    found, inner = loaded(call, SIZES).gradients(x), attention(call, SIZES).gradients(x, x, x)
    hidden = "there are weights that `parameters()` does not know"
    require(found.hidden == inner.hidden, hidden)
    right = found.count == inner.count + 4 * d + 2 * d * f + d + f
    require(right, "the number of parameters is not that of the library's block")
    require(None not in found.parameters.values(), "some parameter gets no gradient")


@exercise.misconception(credit=0.25)
class NormBehindTheSum(Block):
    """Your norms stand behind the sums. Here they stand in front of the sublayers."""

    def forward(self, x, mask=None):
        """Post-norm."""
        x = self.norm1(x + self._drop(self._attend(x, mask)))
        return self.norm2(x + self._drop(self._feed(x)))


@exercise.misconception(credit=0.25)
class SumsNormed(Block):
    """You add the sublayer to the normalised input. The shortcut carries x as it is."""

    def forward(self, x, mask=None):
        """Lose the stream."""
        x = self.norm1(x)
        x = x + self._drop(self._attend(x, mask))
        x = self.norm2(x)
        return x + self._drop(self._feed(x))


@exercise.misconception(credit=0.5)
class OneNormForBoth(Block):
    """Both sublayers use the same norm. Each has its own scale and shift."""

    def forward(self, x, mask=None):
        """Forget the second one."""
        x = x + self._drop(self._attend(self.norm1(x), mask))
        return x + self._drop(self._feed(self.norm1(x)))


@exercise.misconception(credit=0.25)
class NoShortcut(Block):
    """The sums are missing: what comes in has to be added to what a sublayer gives."""

    def forward(self, x, mask=None):
        """Go through the sublayers alone."""
        x = self._drop(self._attend(self.norm1(x), mask))
        return self._drop(self._feed(self.norm2(x)))


@exercise.misconception(credit=0.5)
class ReluInside(Block):
    """Between the two maps you have a ReLU, not GELU."""

    def _bend(self, x):
        return F.relu(x)


@exercise.misconception(credit=0.5)
class ApproximateGelu(Block):
    """This is GELU by a tanh. Asked for is x Φ(x) itself."""

    def _bend(self, x):
        return F.gelu(x, approximate="tanh")


@exercise.misconception(credit=0.25)
class NothingBetween(Block):
    """Nothing bends between the two maps: together they are one linear map."""

    def _bend(self, x):
        return x


@exercise.misconception
class MaskForgotten(Block):
    """The mask is never used."""

    def _attend(self, x, mask):
        return super()._attend(x, None)


@exercise.misconception
class MaskTurnedRound(Block):
    """True means that a token may be attended to. You turned the mask round."""

    def _attend(self, x, mask):
        return super()._attend(x, None if mask is None else ~mask)


@exercise.misconception(credit=0.25)
class DropsAlways(Block):
    """Dropout is active in evaluation mode, too. It depends on `self.training`."""

    def _drop(self, x):
        return F.dropout(x, self.p, True)


@exercise.misconception
class DropsNever(Block):
    """Nothing is dropped in training."""

    def _drop(self, x):
        return x


@exercise.misconception
class DropsOneSublayer(Block):
    """You drop entries of one sublayer alone. Both sums are preceded by dropout."""

    def forward(self, x, mask=None):
        """Drop what attention gives."""
        x = x + self._drop(self._attend(self.norm1(x), mask))
        return x + self._feed(self.norm2(x))


@exercise.misconception
class DropsTheStream(Block):
    """You drop entries of the sum, and with them what came in. Drop what the sublayer gives."""

    def forward(self, x, mask=None):
        """Drop after adding."""
        x = self._drop(x + self._attend(self.norm1(x), mask))
        return self._drop(x + self._feed(self.norm2(x)))


@exercise.misconception
class DropsWhatGoesIn(Block):
    """You drop entries of what goes into the sublayers. Dropped is what they give."""

    def forward(self, x, mask=None):
        """Drop before the sublayers."""
        x = x + self._attend(self._drop(self.norm1(x)), mask)
        return x + self._feed(self._drop(self.norm2(x)))


@exercise.misconception
class KeepsWithThatProbability(Block):
    """p is the probability with which an entry is dropped. You keep it with that one."""

    def _drop(self, x):
        return F.dropout(x, 1 - self.p, self.training)


@exercise.misconception
class KeptAsTheyAre(Block):
    """Entries that are kept stay as they are. Divide them by 1 − p, so that the mean is kept."""

    def _drop(self, x):
        return x * (torch.rand_like(x) >= self.p) if self.training else x


@exercise.misconception
class WholeTokens(Block):
    """You drop whole tokens. Dropout treats each number by itself."""

    def _drop(self, x):
        if not self.training:
            return x
        return x * (torch.rand(*x.shape[:-1], 1) >= self.p) / (1 - self.p)


@exercise.misconception
class GradientsCut(Block):
    """No gradient reaches the weights of attention: `detach` or `no_grad` cuts it off."""

    def _attend(self, x, mask):
        return super()._attend(x, mask).detach()


@exercise.misconception
class OneMoreNorm(Block):
    """There are more parameters than the formula has: a norm at the end belongs to the stack."""

    def __init__(self, d, h, f, p=0.1):
        super().__init__(d, h, f, p)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, mask=None):
        """Keep one that is not used."""
        return super().forward(x, mask)
