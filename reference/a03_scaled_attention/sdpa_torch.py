"""Scaled dot-product attention as a torch module, with dropout on the weights.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1; the documentation of
PyTorch's scaled_dot_product_attention.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from autograder.exercise import Choice, Exercise, agree, require
from autograder.exercise.properties import rows_sum_to_one
from reference.helpers import ATTENTION

exercise = Exercise(
    "sdpa_torch",
    title="Attention as a torch module",
    source="Vaswani et al. (2017), section 3.2.1; PyTorch documentation",
    minutes=40,
    hints=[
        "What is dropped becomes 0, and what is left is divided by 1 − p: so that the mean "
        "stays. What does that do to one single row?",
        "`self.training` says whether dropout is on; `torch.nn.functional.dropout` takes it "
        "as an argument.",
        "Return the weights as they are before dropout, and use the dropped ones for the output.",
    ],
)


@exercise.reference(without=ATTENTION)
class Attention(nn.Module):
    """Scaled dot-product attention with dropout on the weights."""

    def __init__(self, p: float = 0.1):
        super().__init__()
        self.p = p

    def forward(self, q, k, v, mask=None):
        """Return the output and the weights, these before dropout."""
        weights = self._weights(q, k, mask)
        return F.dropout(weights, self.p, self.training) @ v, weights

    def _weights(self, q, k, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(dim=-1)


@exercise.alternative
class WithEinsum(nn.Module):
    """Name every axis, keep dropout as a module, and add the mask to the scores."""

    def __init__(self, p=0.1):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, q, k, v, mask=None):
        """Return the output and the weights."""
        scores = torch.einsum("...nd,...md->...nm", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, -1)
        return torch.einsum("...nm,...mv->...nv", self.drop(weights), v), weights


@exercise.alternative
class ByHand(nn.Module):
    """Take the exponentials by hand, less each row's maximum, and draw the dropped ones."""

    def __init__(self, p=0.1):
        super().__init__()
        self.p = p

    def forward(self, q, k, v, mask=None):
        """Return the output and the weights."""
        scores = torch.matmul(q / math.sqrt(q.size(-1)), k.transpose(-2, -1))
        if mask is not None:
            scores = torch.where(mask, scores, float("-inf"))
        e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        weights = e / e.sum(dim=-1, keepdim=True)
        dropped = weights
        if self.training:
            keep = torch.rand_like(weights) >= self.p
            dropped = weights * keep / (1 - self.p)
        return dropped @ v, weights


@exercise.alternative
class LogSoftmax(nn.Module):
    """Add the mask as a bias of 0 and −∞, and take the exponential of the log-softmax."""

    def __init__(self, p=0.1):
        super().__init__()
        self.dropout = nn.Dropout(p)

    def forward(self, q, k, v, mask=None):
        """Return the output and the weights."""
        scores = q.matmul(k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=scores.dtype)
            bias[mask.logical_not()] = -torch.inf
            scores = scores + bias
        weights = F.log_softmax(scores, dim=-1).exp()
        return self.dropout(weights).matmul(v), weights


def qkv(rng, *batch, dtype=torch.float32):
    """Tensors of four different sizes; a width of 4 has its half for a root."""
    shapes = (3, 6), (5, 6), (5, 2)
    return [torch.tensor(rng.normal(size=(*batch, *shape))).to(dtype) for shape in shapes]


def evaluating(call, p=0.5):
    """A module in evaluation mode."""
    call.seed(0)
    module = call.make(p)
    module.eval()
    return module


@exercise.check(points=2, visible=True)
def agrees_with_the_library(call, rng):
    """In evaluation mode the output is that of torch's own function, and the weights are right."""
    q, k, v = qkv(rng, 2)
    out, weights = evaluating(call)(q, k, v)
    agree(out, F.scaled_dot_product_attention(q, k, v), rtol=1e-5, atol=1e-6, what="the output")
    rows_sum_to_one(weights)
    agree(weights.array @ v.numpy(), out.array, rtol=1e-5, atol=1e-6, what="weights times values")


@exercise.check(points=0.5, after=agrees_with_the_library)
def gradients_agree_too(call, rng):
    """Gradients reach q, k and v as they do in the library's function, and nothing else."""
    q, k, v = (x.requires_grad_() for x in qkv(rng, 2))
    found = evaluating(call).gradients(q, k, v)
    require(found.count == found.hidden == 0, "attention by itself has no parameters")
    out = F.scaled_dot_product_attention(q, k, v)
    weights = F.scaled_dot_product_attention(q, k, torch.eye(5).expand(2, 5, 5))
    factors = [torch.cos(torch.arange(x.numel())).reshape(x.shape) for x in (out, weights)]
    total = (out * factors[0]).sum() + (weights * factors[1]).sum()
    expected = torch.autograd.grad(total, (q, k, v))
    for name, given, right in zip("qkv", found.inputs, expected, strict=True):
        require(given is not None, f"no gradient reaches {name}")
        agree(given, right, rtol=1e-4, atol=1e-5, what=f"the gradient of {name}")


@exercise.check(points=0.5, after=agrees_with_the_library)
def masks_broadcast(call, rng):
    """A mask of shape (n, m) counts for all heads; one of an example counts for its own."""
    q, k, v = qkv(rng, 2, 3)
    for shape in ((3, 5), (2, 1, 3, 5)):
        mask = torch.tensor(rng.random(shape) < 0.6)
        mask[..., 0], mask[..., 1] = True, False
        out, _ = evaluating(call)(q, k, v, mask=mask)
        right = F.scaled_dot_product_attention(q, k, v, mask)
        agree(out, right, rtol=1e-5, atol=1e-6, what="the output")


@exercise.check(points=1.5)
def drops_weights_while_training(call, rng):
    """In training each weight is dropped or divided by 1 − p; what is returned is not dropped."""
    q, k, _ = qkv(rng, 40)
    p = 0.25
    module = call.make(p)
    call.seed(1)
    out, weights = module(q, k, torch.eye(5).repeat(1, 2).expand(40, 5, 10))
    rows_sum_to_one(weights)
    dropped, again = np.split(out.array, 2, axis=-1)  # two columns with the same values
    require(np.array_equal(dropped, again), "equal columns of the values give other outputs")
    kept = dropped != 0
    divided = np.allclose((1 - p) * dropped[kept], weights.array[kept], rtol=1e-4)
    require(0.65 < kept.mean() < 0.85, "a weight should be dropped with the probability p")
    require(divided, "the weights that are kept should be divided by 1 − p")
    require(kept.any(axis=-1).mean() > 0.8, "a query should not lose all of its weights at once")


@exercise.check(points=0.5, after=agrees_with_the_library)
def half_stays_half(call, rng):
    """float16 and bfloat16 come out as they went in, near the float32 result."""
    for dtype in (torch.float16, torch.bfloat16):
        q, k, v = qkv(rng, dtype=dtype)
        out, weights = evaluating(call)(q, k, v)
        name = str(dtype).removeprefix("torch.")
        require(out.dtype == weights.dtype == name, f"{name} inputs give another type")
        right = F.scaled_dot_product_attention(q.float(), k.float(), v.float())
        agree(out, right, rtol=2e-2, atol=2e-2, what="the output")


@exercise.misconception(credit=0.25)
class NoScale(Attention):
    """The factor 1/√d is missing: without it wide keys make the softmax nearly one-hot."""

    def _weights(self, q, k, mask):
        return super()._weights(q * q.shape[-1] ** 0.5, k, mask)


@exercise.misconception
class SoftmaxOverQueries(Attention):
    """Softmax is over the wrong axis: for each query the weights of the keys add up to 1."""

    def _weights(self, q, k, mask):
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-2)


@exercise.misconception(credit=0.25)
class DropsAlways(Attention):
    """Dropout is active in evaluation mode, too. It depends on `self.training`."""

    def forward(self, q, k, v, mask=None):
        """Drop whatever the mode."""
        weights = self._weights(q, k, mask)
        return F.dropout(weights, self.p, True) @ v, weights


@exercise.misconception
class DropsNever(Attention):
    """No weight is ever dropped."""

    def __init__(self, p=0.1):
        super().__init__(0.0)


@exercise.misconception
class KeepsWithThatProbability(Attention):
    """p is the probability with which a weight is dropped. You keep it with that one."""

    def __init__(self, p=0.1):
        super().__init__(1 - p)


@exercise.misconception
class DroppedWeightsReturned(Attention):
    """You return the weights after dropout: in training their rows do not add up to 1."""

    def forward(self, q, k, v, mask=None):
        """Return what was dropped."""
        weights = F.dropout(self._weights(q, k, mask), self.p, self.training)
        return weights @ v, weights


@exercise.misconception
class DropsTheOutput(Attention):
    """You drop entries of the output. Dropped are weights: for a query, some keys are not seen."""

    def forward(self, q, k, v, mask=None):
        """Drop entries of the output."""
        weights = self._weights(q, k, mask)
        return F.dropout(weights @ v, self.p, self.training), weights


@exercise.misconception
class KeptAsTheyAre(Attention):
    """Weights that are kept stay as they are. Divide them by 1 − p, so that the mean is kept."""

    def forward(self, q, k, v, mask=None):
        """Multiply with zeros and ones."""
        weights = self._weights(q, k, mask)
        keep = torch.rand_like(weights) >= self.p if self.training else True
        return (weights * keep) @ v, weights


@exercise.misconception
class MaskInverted(Attention):
    """The mask is read the wrong way round: True means that the query may attend."""

    def _weights(self, q, k, mask):
        return super()._weights(q, k, None if mask is None else ~mask)


@exercise.misconception
class MaskIgnored(Attention):
    """The mask is never used."""

    def _weights(self, q, k, mask):
        return super()._weights(q, k, None)


@exercise.misconception
class GradientsCut(Attention):
    """No gradient reaches q and k: `detach`, `no_grad` and NumPy cut them off."""

    def _weights(self, q, k, mask):
        return super()._weights(q, k, mask).detach()


@exercise.misconception
class ScaleLearnt(Attention):
    """You made the scale a parameter. It is fixed: 1/√d."""

    def __init__(self, p=0.1):
        super().__init__(p)
        self.scale = nn.Parameter(torch.ones(()))

    def _weights(self, q, k, mask):
        return super()._weights(q * self.scale.to(q.dtype), k, mask)


@exercise.misconception
class AlwaysFloat32(Attention):
    """The result is float32 although the inputs have half of that."""

    def forward(self, q, k, v, mask=None):
        """Compute in float32, and leave it there."""
        return super().forward(q.float(), k.float(), v.float(), mask)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "To 1: dropout divides by $1 - p$ to make sure of that.",
            "To less than 1, or to 1 where nothing is dropped.",
            "To 1 on average alone: to 1.11 if nothing is dropped (which happens to 59 % of the "
            "rows), else to less than that.",
            "Always to $1/0.9 = 1.11$.",
        ]
    ),
)
def row_sums():
    """What the rows of the weights add up to after dropout with p = 0.1."""
    return "C"


row_sums.mistakes(
    still_one=(
        "A",
        "That holds for softmax. Dropout comes after it, and treats each weight by itself.",
    ),
    only_smaller=(
        "B",
        "The kept weights are divided by 0.9: a row that loses nothing adds up to more than 1.",
    ),
    one_point_one=(
        "D",
        "That is the largest sum, where nothing is dropped. How often does that happen?",
    ),
)
