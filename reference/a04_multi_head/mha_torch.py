"""Multi-head attention as a torch module that takes over the weights of the library's own.

Source: Vaswani et al. (2017), section 3.2.2; PyTorch's nn.MultiheadAttention.
"""

import torch
from torch import nn

from autograder.exercise import Count, Exercise, agree, made, require
from autograder.exercise.properties import rows_sum_to_one, worked
from reference.helpers import ATTENTION

exercise = Exercise(
    "mha_torch",
    title="The same as the library",
    source="Vaswani et al. (2017), section 3.2.2",
    minutes=55,
    hints=[
        "A map from d to d has d² weights; count how many maps there are, then the biases.",
        "The library keeps a matrix for x Wᵀ, and the three of query, key and value one below"
        " the other: `chunk(3)` takes them apart.",
        "Its mask says who is blocked, yours who is allowed.",
    ],
)


@exercise.part(points=1, answer=Count())
def parameters():
    """The numbers in nn.MultiheadAttention(512, 8), with biases and without."""
    d = 512
    return [4 * (d * d + d), 4 * d * d]


@parameters.misconception(credit=0.5)
def output_map_forgotten():
    """These are the maps of queries, keys and values. The output has one, too."""
    d = 512
    return [3 * (d * d + d), 3 * d * d]


@parameters.misconception(credit=0.5)
def biases_of_one_map():
    """Each of the four maps has biases of its own."""
    d = 512
    return [4 * d * d + d, 4 * d * d]


@parameters.misconception(credit=0.5)
def bias_of_the_output_forgotten():
    """You counted three biases. The map behind the heads has one, too."""
    d = 512
    return [4 * d * d + 3 * d, 4 * d * d]


@parameters.misconception()
def full_width_for_every_head():
    """A head is only d/h wide: all heads together have as many weights as one of width d."""
    d, h = 512, 8
    return [4 * h * (d * d + d), 4 * h * d * d]


@exercise.reference(without=ATTENTION)
class MHA(nn.Module):
    """Attention with h heads that can take over the library's weights."""

    def __init__(self, d: int, h: int, bias: bool = True):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias) for _ in range(4))

    def load_from(self, m: nn.MultiheadAttention):
        """Take over the weights of m."""
        self._load([*m.in_proj_weight.chunk(3), m.out_proj.weight])
        if m.in_proj_bias is not None:
            self._load_biases([*m.in_proj_bias.chunk(3), m.out_proj.bias])

    def _load(self, matrices):
        for own, matrix in zip((self.q, self.k, self.v, self.o), matrices, strict=True):
            own.weight = nn.Parameter(matrix.detach().clone())

    def _load_biases(self, biases):
        for own, bias in zip((self.q, self.k, self.v, self.o), biases, strict=True):
            own.bias = nn.Parameter(bias.detach().clone())

    def forward(self, xq, xk, xv, mask=None):
        """Return the output and the weights, (B, n, d) and (B, h, n, m)."""
        q, k, v = self._split(self.q(xq)), self._split(self.k(xk)), self._split(self.v(xv))
        weights = self._weights(q, k, mask)
        return self.o((weights @ v).transpose(1, 2).flatten(2)), weights

    def _split(self, x):
        return x.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def _weights(self, q, k, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(dim=-1)


@exercise.alternative
class OneLinearForAll(nn.Module):
    """Keep the three maps in one, as the library does, and copy into what is there."""

    def __init__(self, d, h, bias=True):
        super().__init__()
        self.h = h
        self.into, self.out = nn.Linear(d, 3 * d, bias), nn.Linear(d, d, bias)

    @torch.no_grad()
    def load_from(self, m):
        """Copy in place."""
        self.into.weight.copy_(m.in_proj_weight)
        self.out.weight.copy_(m.out_proj.weight)
        if self.into.bias is not None:
            self.into.bias.copy_(m.in_proj_bias)
            self.out.bias.copy_(m.out_proj.bias)

    def forward(self, xq, xk, xv, mask=None):
        """Project each input by its third, name every axis."""
        W, b = self.into.weight.chunk(3), self.into.bias
        b = [None] * 3 if b is None else b.chunk(3)
        x = [nn.functional.linear(*each) for each in zip((xq, xk, xv), W, b, strict=True)]
        q, k, v = (each.reshape(*each.shape[:2], self.h, -1) for each in x)
        scores = torch.einsum("bnhc,bmhc->bhnm", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)
        return self.out(torch.einsum("bhnm,bmhc->bnhc", weights, v).flatten(2)), weights


@exercise.alternative
class MatricesFromTheRight(nn.Module):
    """Parameters of shape (d, d) that are used from the right, head after head."""

    def __init__(self, d, h, bias=True):
        super().__init__()
        self.h = h
        self.W = nn.Parameter(torch.randn(4, d, d) / d**0.5)
        self.b = nn.Parameter(torch.zeros(4, d)) if bias else None

    def load_from(self, m):
        """Transpose what the library keeps."""
        self.W.data = torch.stack([*m.in_proj_weight.data.chunk(3), m.out_proj.weight.data]).mT
        if self.b is not None:
            self.b.data = torch.stack([*m.in_proj_bias.data.chunk(3), m.out_proj.bias.data])

    def forward(self, xq, xk, xv, mask=None):
        """Attend head by head."""
        b = [0, 0, 0, 0] if self.b is None else self.b
        q, k, v = (x @ self.W[i] + b[i] for i, x in enumerate((xq, xk, xv)))
        heads, weights = [], []
        for a, c, e in zip(*(x.chunk(self.h, -1) for x in (q, k, v)), strict=True):
            scores = a @ c.mT * a.shape[-1] ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, -torch.inf)
            weights.append(torch.softmax(scores, -1))
            heads.append(weights[-1] @ e)
        return torch.cat(heads, -1) @ self.W[3] + b[3], torch.stack(weights, 1)


@exercise.alternative
class ScaledQueries(MHA):
    """Scale the queries instead of the scores."""

    def _weights(self, q, k, mask):
        scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-2, -1))
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        return nn.functional.softmax(scores, dim=-1)


def library(d, h, bias=True):  # given
    """The library's layer, with weights that are not small and biases that are not 0."""
    m = nn.MultiheadAttention(d, h, bias=bias, batch_first=True)
    numbers = torch.Generator().manual_seed(5)
    for p in m.parameters():
        p.data = 1.2 * torch.randn(p.shape, generator=numbers) / d ** (p.ndim / 4)
    return m


def loaded(call, d, h, **options):
    """The student's module with the library's weights."""
    module = call.make(d, h, **options)
    module.load_from(made(library, d, h, **options) if not options else made(unbiased, d, h))
    module.eval()
    return module


def unbiased(d, h):
    """The library's layer without biases."""
    return library(d, h, False)


def tensors(rng, *lengths, d=8):
    """Batches of two."""
    return [torch.tensor(rng.normal(size=(2, n, d)), dtype=torch.float32) for n in lengths]


def close(given, right, what):
    """Compare float32."""
    agree(given, right.detach(), rtol=1e-4, atol=1e-5, what=what)


@exercise.check(points=1.5, visible=True)
def same_output(call, rng):
    """With the library's weights the output is the library's."""
    (x,) = tensors(rng, 4)
    out, _ = loaded(call, 8, 2)(x, x, x)
    close(out, library(8, 2)(x, x, x)[0], "the output")


@exercise.check(points=1)
def same_weights(call, rng):
    """The weights of every head are the library's, of shape (B, h, n, m)."""
    (x,) = tensors(rng, 4)
    weights = loaded(call, 8, 4)(x, x, x)[1]
    rows_sum_to_one(weights)
    close(weights, library(8, 4)(x, x, x, average_attn_weights=False)[1], "the weights")


@exercise.check(points=1)
def same_with_a_mask(call, rng):
    """With a mask no query looks where it may not: True means that it may look."""
    x, y = tensors(rng, 4, 4)
    y[:, 0] = x[:, 0]
    module, mask = loaded(call, 8, 1), torch.ones(4, 4, dtype=torch.bool).tril().triu(-1)
    (a, weights), (b, _) = module(x, x, x, mask), module(y, y, y, mask)
    worked(a, what="the output")
    require(weights.array.any(), "no query looks anywhere")
    require(not (weights.array * ~mask.numpy()).any(), "a query looks where it may not")
    agree(a.array[:, 0], b.array[:, 0], rtol=1e-4, atol=1e-5, what="the first row")


@exercise.check(points=0.5)
def three_inputs(call, rng):
    """Queries, keys and values may come from three inputs, without biases as well."""
    x, y, z = tensors(rng, 3, 5, 5)
    out, _ = loaded(call, 8, 2, bias=False)(x, y, z)
    close(out, library(8, 2, False)(x, y, z)[0], "the output")


@exercise.check(points=0.5)
def nothing_but_these_parameters(call, rng):
    """There are as many parameters as in the library's layer, and gradients reach all of them."""
    (x,) = tensors(rng, 3)
    for options, count in (({}, 288), ({"bias": False}, 256)):
        found = loaded(call, 8, 2, **options).gradients(x, x, x)
        require(found.hidden == 0, "there are weights that `parameters()` does not know")
        require(found.count == count, "the number of parameters is not that of the library's layer")
        require(None not in found.parameters.values(), "some parameter gets no gradient")


@exercise.check(points=1)
def one_head(call, rng):
    """One head over one token leaves the maps of value and output alone."""
    (x,) = tensors(rng, 1)
    m = library(8, 1)
    value = nn.functional.linear(x, m.in_proj_weight[16:], m.in_proj_bias[16:])
    close(loaded(call, 8, 1)(x, x, x)[0], m.out_proj(value), "the output")


@exercise.check(points=0.5)
def half_stays_half(call, rng):
    """In float16 and bfloat16 the results have that type, too."""
    (x,) = tensors(rng, 4)
    for cast, name in (("half", "float16"), ("bfloat16", "bfloat16")):
        module = loaded(call, 8, 2)
        getattr(module, cast)()
        given = x.to(getattr(torch, name))
        out, weights = module(given, given, given)
        worked(out, given.float().numpy(), what="the output")
        require(out.dtype == weights.dtype == name, f"{name} gives another type")


@exercise.misconception(credit=0.5)
class NotTransposed(MHA):
    """The matrices are used the wrong way round. The library keeps them for x Wᵀ."""

    def _load(self, matrices):
        super()._load([matrix.T for matrix in matrices])


@exercise.misconception(credit=0.5)
class OneOrTheOtherTransposed(MHA):
    """`in_proj_weight` and `out_proj.weight` are both for x Wᵀ: you treat them differently."""

    def _load(self, matrices):
        *three, out = matrices
        super()._load([*(matrix.T for matrix in three), out])


@exercise.misconception(credit=0.5)
class OtherOrder(MHA):
    """The three blocks of `in_proj_weight` are those of queries, keys, values, in this order."""

    def _load(self, matrices):
        q, k, v, o = matrices
        super()._load([v, q, k, o])

    def _load_biases(self, biases):
        q, k, v, o = biases
        super()._load_biases([v, q, k, o])


@exercise.misconception
class BiasesNotLoaded(MHA):
    """The biases are not taken over."""

    def _load_biases(self, biases):
        super()._load_biases([torch.zeros_like(bias) for bias in biases])


@exercise.misconception
class OutputMapNotLoaded(MHA):
    """The weights of `out_proj` are not taken over."""

    def _load(self, matrices):
        super()._load([*matrices[:3], torch.eye(len(matrices[0]))])


@exercise.misconception
class MaskAsInTheLibrary(MHA):
    """True in your mask blocks, as in the library. Here it means that a query may look."""

    def _weights(self, q, k, mask):
        return super()._weights(q, k, None if mask is None else ~mask)


@exercise.misconception
class MaskForgotten(MHA):
    """The mask is never used."""

    def _weights(self, q, k, mask):
        return super()._weights(q, k, None)


@exercise.misconception
class ScaledByTheWidth(MHA):
    """You divide by √d. A head's queries and keys are d/h wide: divide by √(d/h)."""

    def _weights(self, q, k, mask):
        return super()._weights(q / self.h**0.5, k, mask)


@exercise.misconception
class NotScaled(MHA):
    """The scores are not scaled: with the width of a head they grow, and weights go to 0 and 1."""

    def _weights(self, q, k, mask):
        return super()._weights(q * q.shape[-1] ** 0.5, k, mask)


@exercise.misconception
class DividedByTheHeadsWidth(MHA):
    """You divide the scores by the width of a head. It is its root that their spread grows with."""

    def _weights(self, q, k, mask):
        return super()._weights(q / q.shape[-1] ** 0.5, k, mask)


@exercise.misconception
class SoftmaxOverTheQueries(MHA):
    """Your columns sum to 1. A query's weights stand in a row: use the last axis."""

    def _weights(self, q, k, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(dim=-2).nan_to_num()


@exercise.misconception
class MaskedWithZero(MHA):
    """You set blocked scores to 0, but exp(0) is 1. Which score has the exponential 0?"""

    def _weights(self, q, k, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return (scores if mask is None else scores.masked_fill(~mask, 0)).softmax(dim=-1)


@exercise.misconception
class MaskAfterSoftmax(MHA):
    """You masked the weights, so they no longer sum to 1. Mask the scores with −∞."""

    def _weights(self, q, k, mask):
        weights = super()._weights(q, k, None)
        return weights if mask is None else weights * mask


@exercise.misconception
class OutputMapForgotten(MHA):
    """What the heads give is returned as it is. The map of `out_proj` comes behind them."""

    def forward(self, xq, xk, xv, mask=None):
        """Leave out the last map, which stays a parameter."""
        q, k, v = self._split(self.q(xq)), self._split(self.k(xk)), self._split(self.v(xv))
        weights = self._weights(q, k, mask)
        return (weights @ v).transpose(1, 2).flatten(2) + 0 * self.o(xq), weights


@exercise.misconception
class MergedByReshaping(MHA):
    """The heads are merged by reshaping alone, which mixes tokens. Swap the axes back first."""

    def forward(self, xq, xk, xv, mask=None):
        """Reshape what the heads give."""
        q, k, v = self._split(self.q(xq)), self._split(self.k(xk)), self._split(self.v(xv))
        weights = self._weights(q, k, mask)
        return self.o((weights @ v).reshape(xq.shape)), weights


@exercise.misconception
class SplitByReshaping(MHA):
    """Reshaping alone gives a head some of the tokens whole. Split the columns, then swap axes."""

    def _split(self, x):
        return x.reshape(x.shape[0], self.h, x.shape[1], -1)


@exercise.misconception
class WeightsAveraged(MHA):
    """The weights are averaged over the heads, as the library does. Return those of every head."""

    def forward(self, xq, xk, xv, mask=None):
        """Return a mean."""
        out, weights = super().forward(xq, xk, xv, mask)
        return out, weights.mean(dim=1)


@exercise.misconception
class KeysAsValues(MHA):
    """The values are made from `xk`. They come from `xv`, which may be something else."""

    def forward(self, xq, xk, xv, mask=None):
        """Leave out xv."""
        return super().forward(xq, xk, xk, mask)


@exercise.misconception
class NoParameters(MHA):
    """Your weights are plain tensors: an optimiser would never find them. Use `nn.Parameter`."""

    def _load(self, matrices):
        for own, matrix in zip((self.q, self.k, self.v, self.o), matrices, strict=True):
            del own.weight
            own.weight = matrix.detach().clone()


@exercise.misconception
class AlwaysFloat32(MHA):
    """The results are float32 although inputs and weights have half of that."""

    def forward(self, xq, xk, xv, mask=None):
        """Compute in float32."""
        dtype = next(self.parameters()).dtype
        out, weights = super().forward(xq.to(dtype), xk.to(dtype), xv.to(dtype), mask)
        return out.float(), weights.float()
