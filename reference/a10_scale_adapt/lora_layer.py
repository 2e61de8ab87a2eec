"""A linear layer with a low-rank update: adapt, merge, undo.

Source: Hu et al. (2022), "LoRA: Low-rank adaptation of large language models", section 4.1.
"""

import numpy as np
import torch
from torch import nn

from autograder.exercise import Count, Exercise, Mismatch, agree, require
from autograder.exercise.properties import refuses

exercise = Exercise(
    "lora_layer",
    title="Adapt, merge, undo",
    source="Hu et al. (2022), section 4.1",
    minutes=55,
    hints=[
        "Which factor meets x first, and which shapes follow from that? The path goes through r "
        "numbers, so no large matrix is formed on the way.",
        "Let the layer remember whether it is merged: `forward`, `weight`, `merge` and "
        "`unmerge` all depend on it.",
        "For the start write the derivatives by A and by B down. With what is each of them "
        "multiplied?",
    ],
)


@exercise.reference
class LoRALinear(nn.Module):
    """x ↦ W x + (α/r) B A x, with W frozen."""

    def __init__(self, W, r, alpha):
        super().__init__()
        if r < 1:
            raise ValueError(f"the rank should be at least 1, not {r}")
        self.register_buffer("W", W.detach().clone())
        self.scale, self.merged = alpha / r, False
        self.A = nn.Parameter(torch.randn(r, W.shape[1]) / W.shape[1] ** 0.5)
        self.B = nn.Parameter(torch.zeros(W.shape[0], r))

    @property
    def weight(self):
        """The matrix that x is multiplied by in full."""
        return self.W + self._update() if self.merged else self.W

    def _update(self):
        return self.scale * (self.B @ self.A).detach()

    def forward(self, x):
        """Apply both paths, or the merged matrix."""
        if self.merged:
            return x @ self.weight.T
        return x @ self.W.T + self.scale * (x @ self.A.T @ self.B.T)

    def merge(self):
        """Go over to one matrix."""
        self.merged = True

    def unmerge(self):
        """Go back to two paths."""
        self.merged = False


@exercise.alternative
class InPlace(nn.Module):
    """Add the update to the stored matrix, and take it off again."""

    def __init__(self, W, r, alpha):
        super().__init__()
        if r <= 0:
            raise ValueError("no rank")
        self.register_buffer("W", W.clone())
        self.A, self.B = (nn.Parameter(torch.empty(s)) for s in ((r, W.shape[1]), (len(W), r)))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)
        nn.init.zeros_(self.B)
        self.factor, self.merged = alpha / r, False

    @property
    def weight(self):
        """The matrix in use."""
        return self.W

    def forward(self, x):
        """One matrix, and the update where it isn't in it."""
        y = nn.functional.linear(x, self.W)
        return y if self.merged else y + self.factor * ((x @ self.A.mT) @ self.B.mT)

    @torch.no_grad()
    def merge(self):
        """Add the update, once."""
        if not self.merged:
            self.W += self.factor * self.B @ self.A
            self.merged = True

    @torch.no_grad()
    def unmerge(self):
        """Take it off, once."""
        if self.merged:
            self.W -= self.factor * self.B @ self.A
            self.merged = False


@exercise.alternative
class WritesTheWeight(nn.Module):
    """Keep W, and write the matrix in use anew."""

    def __init__(self, W, r, alpha):
        super().__init__()
        if not r:
            raise ValueError("r = 0")
        self.register_buffer("W", W.detach())
        self.register_buffer("weight", W.detach().clone())
        self.alpha, self.r, self.merged = alpha, r, False
        self.A = nn.Parameter(0.02 * torch.randn(r, W.size(1)))
        self.B = nn.Parameter(torch.zeros(W.size(0), r))

    def forward(self, x):
        """Name every axis."""
        y = torch.einsum("...i,oi->...o", x, self.weight)
        if self.merged:
            return y
        return y + self.alpha * torch.einsum("...i,ri,or->...o", x, self.A, self.B) / self.r

    def merge(self):
        """Compute the sum."""
        self.weight = self.W + self.alpha / self.r * (self.B @ self.A).detach()
        self.merged = True

    def unmerge(self):
        """Take what was kept."""
        self.weight, self.merged = self.W.clone(), False


@exercise.alternative
class TheOtherAtZero(LoRALinear):
    """Start with A = 0 and a random B: then A learns first."""

    def __init__(self, W, r, alpha):
        super().__init__(W, r, alpha)
        nn.init.zeros_(self.A)
        nn.init.normal_(self.B)


@exercise.alternative
class WithLinearLayers(LoRALinear):
    """Scale the input of the thin path."""

    def forward(self, x):
        """The thin path first."""
        base = nn.functional.linear(x, self.weight)
        if self.merged:
            return base
        thin = nn.functional.linear(self.scale * x, self.A)
        return nn.functional.linear(thin, self.B) + base


def tensor(rng, *shape):
    """Numbers in single precision."""
    return torch.tensor(rng.normal(size=shape), dtype=torch.float32)


def data(rng):
    """A matrix and inputs."""
    return tensor(rng, 5, 4), tensor(rng, 3, 4)


def fresh(call, W, r=2, alpha=4.0, seed=0):
    """A layer before any training, drawn with a seed."""
    call.seed(seed)
    return call.make(W, r, alpha)


def adapted(call, rng, W, r=2, alpha=6.0):
    """A layer with factors that have been trained, and ΔW."""
    B, A = tensor(rng, W.shape[0], r), tensor(rng, r, W.shape[1])
    layer = fresh(call, W, r, alpha)
    layer.load_state_dict({"W": W, "A": A, "B": B}, strict=False)
    return layer, alpha / r * B @ A


def effective(layer, W, x, consequence):
    """Require that the factors of an adapted layer change its output; return it."""
    found = layer(x).array
    idle = np.allclose(found, (x @ W.T).numpy(), atol=1e-3)
    require(not idle, f"the factors have no effect, so {consequence}")
    return found


def near(given, right, **kwargs):
    """Agree to the accuracy of single precision."""
    agree(given, right, rtol=1e-4, atol=1e-5, **kwargs)


@exercise.check(points=0.25, visible=True)
def begins_as_it_was(call, rng):
    """Before any training the layer gives W x."""
    W, x = data(rng)
    one, other = (fresh(call, W, seed=seed)(x).array for seed in (0, 1))
    if not np.allclose(one, other, rtol=1e-4, atol=1e-5):
        message = "the output before any training depends on what is drawn"
        raise Mismatch(message, kind="drawn", free=True)
    near(one, x @ W.T)


@exercise.check(points=1.25)
def begins_to_learn(call, rng):
    """A gradient reaches the factor that starts at 0, so that it isn't stuck there."""
    W, x = data(rng)
    effective(adapted(call, rng, W)[0], W, x, "they can't learn anything")
    found = fresh(call, W).gradients(x)
    for name in "AB":
        require(name in found.parameters, f"{name} is no parameter")
    gradients = [found.parameters[name] for name in "AB"]
    largest = [abs(gradient.array).max() for gradient in gradients if gradient is not None]
    require(largest, "no gradient reaches A or B")
    require(max(largest) > 1e-4, "the gradients of A and B are both 0: neither would ever change")


@exercise.check(points=1)
def both_paths(call, rng):
    """With trained factors it gives W x + (α/r) B A x, for other ranks and batches, too."""
    for r, alpha in ((1, 6.0), (3, 1.5)):
        W, x = data(rng)
        layer, update = adapted(call, rng, W, r, alpha)
        near(layer(x), x @ (W + update).T)
        near(layer(x[None]), (x @ (W + update).T)[None])


@exercise.check(points=0.75)
def merging_changes_nothing(call, rng):
    """After merge(), once or twice, the outputs are the same, and `weight` gives them by itself."""
    W, x = data(rng)
    layer, _ = adapted(call, rng, W)
    before = effective(layer, W, x, "there is nothing to merge")
    each = layer(torch.eye(W.shape[1])).array
    layer.merge()
    near(layer(x), before, what="the merged output")
    near(layer.weight, each.T, what="the merged weight")
    layer.merge()
    near(layer(x), before, what="the output after merging twice")


@exercise.check(points=0.5)
def unmerging_undoes_it(call, rng):
    """After unmerge() the weight is W again, and the outputs are the same."""
    W, x = data(rng)
    layer, _ = adapted(call, rng, W)
    before = effective(layer, W, x, "there is nothing to undo")
    layer.unmerge()
    near(layer.weight, W, what="the weight of a layer that was never merged")
    layer.merge()
    layer.unmerge()
    near(layer.weight, W, what="the weight")
    near(layer(x), before, what="the output")


@exercise.check(points=1)
def only_the_factors_learn(call, rng):
    """Gradients reach A and B, and W gets none."""
    W, x = data(rng)
    layer, _ = adapted(call, rng, W)
    effective(layer, W, x, "they can't learn anything")
    found = layer.gradients(x)
    learning = {name for name, gradient in found.parameters.items() if gradient is not None}
    require(learning == {"A", "B"}, "A and B, and nothing else, should get a gradient")
    require(found.hidden == 0, "a gradient reaches numbers that are no parameters")


@exercise.check(points=0.25)
def no_rank_is_refused(call, rng):
    """A rank of 0 raises a ValueError."""
    W, _ = data(rng)
    refuses(call.make, W, 0, 4.0, why="the rank 0")


@exercise.misconception
class BothRandom(LoRALinear):
    """Both factors start at random: the layer gives something else before it is trained."""

    def __init__(self, W, r, alpha):
        super().__init__(W, r, alpha)
        nn.init.normal_(self.B)


@exercise.misconception
class BothZero(LoRALinear):
    """Both factors start at 0: each one's gradient is multiplied by the other, and stays 0."""

    def __init__(self, W, r, alpha):
        super().__init__(W, r, alpha)
        nn.init.zeros_(self.A)


@exercise.misconception(fatal="nothing is learned with it")
class NeverLearns(LoRALinear):
    """No gradient reaches the factors: `detach` or `no_grad` stops it, and nothing is learnt."""

    def forward(self, x):
        """Cut the gradients off."""
        base = x @ self.weight.T
        thin = self.scale * (x @ self.A.T @ self.B.T)
        return base if self.merged else base + thin.detach()


@exercise.misconception
class NoScale(LoRALinear):
    """The factor α/r is missing."""

    def __init__(self, W, r, alpha):
        super().__init__(W, r, alpha)
        self.scale = 1.0


@exercise.misconception
class AlphaAlone(LoRALinear):
    """You multiply by α. Divide by the rank as well."""

    def __init__(self, W, r, alpha):
        super().__init__(W, r, alpha)
        self.scale = alpha


@exercise.misconception
class MergedWithoutScale(LoRALinear):
    """You merge B A without the factor α/r."""

    def _update(self):
        return (self.B @ self.A).detach()


@exercise.misconception
class UpdateCountedTwice(LoRALinear):
    """After merging the thin path is still added: the update counts twice."""

    def forward(self, x):
        """Add the thin path whatever the state."""
        return x @ self.weight.T + self.scale * (x @ self.A.T @ self.B.T)


@exercise.misconception
class MergesAgain(InPlace):
    """A second merge() adds the update once more."""

    @torch.no_grad()
    def merge(self):
        """Add the update."""
        self.W += self.factor * self.B @ self.A
        self.merged = True


@exercise.misconception
class UnmergesTooOften(InPlace):
    """unmerge() takes the update off even where it isn't in."""

    @torch.no_grad()
    def unmerge(self):
        """Take the update off."""
        self.W -= self.factor * self.B @ self.A
        self.merged = False


@exercise.misconception
class StateNeverAsked(WritesTheWeight):
    """merge() and unmerge() act whether there is anything to do or not: ask before."""

    def merge(self):
        """Add the update."""
        self.weight = self.weight + self.alpha / self.r * (self.B @ self.A).detach()
        self.merged = True

    def unmerge(self):
        """Take it off."""
        self.weight = self.weight - self.alpha / self.r * (self.B @ self.A).detach()
        self.merged = False


@exercise.misconception
class NeverUndone(LoRALinear):
    """After unmerge() the layer is still merged."""

    def unmerge(self):
        """Do nothing."""


@exercise.misconception
class BaseLearns(LoRALinear):
    """W is trained as well. It has to stay frozen: that is what saves memory."""

    def __init__(self, W, r, alpha):
        super().__init__(W, r, alpha)
        del self.W
        self.W = nn.Parameter(W.clone())


@exercise.misconception
class AnyRankAccepted(InPlace):
    """The rank 0 is accepted."""

    def __init__(self, W, r, alpha):
        super().__init__(W, max(r, 1), alpha)


@exercise.part(points=1, answer=Count())
def start():
    """How many numbers in A and B the first step changes, and the second; d = 256, r = 4."""
    return [256 * 4, 2 * 256 * 4]


@start.alternative
def from_the_start_of_the_own_layer(LoRALinear):
    """A factor moves where the other one isn't 0, then where either has moved or isn't 0."""
    factors = LoRALinear(torch.eye(256), 4, 8.0).state_dict()
    A, B = (np.asarray(getattr(factors[name], "array", factors[name])) for name in "AB")
    return [A.size * B.any() + B.size * A.any(), (A.size + B.size) * (A.any() or B.any())]


start.mistakes(
    both_from_the_first_step=(
        [2 * 256 * 4, 2 * 256 * 4],
        "The gradient of each factor is a product with the other one. What is it where the "
        "output is still that of W?",
    ),
    one_for_ever=(
        [256 * 4, 256 * 4],
        "After the first step, neither factor is 0 any more. What can change then?",
    ),
    nothing_ever=(
        [0, 0],
        "With both factors at 0 no gradient would ever reach them: such a layer never learns.",
    ),
    stuck_at_first=(
        [0, 2 * 256 * 4],
        "A step that changes nothing is followed by one that changes nothing.",
    ),
    one_after_the_other=(
        [2 * 256 * 4, 256 * 4],
        "In the second step the factor that has moved goes on moving, and the other one begins.",
    ),
    update_counted=(
        [256 * 256, 256 * 256],
        "You counted the entries of B A. The numbers that are trained are those of the factors.",
    ),
)


@exercise.part(points=1, answer=Count())
def madds():
    """Madds for a token with d = 512, r = 8: the full product, the path of the factors."""
    return [512 * 512, 2 * 512 * 8]


madds.mistakes(
    one_thin_product=(
        [512 * 512, 512 * 8],
        "There are two thin products: down to r, and up again.",
    ),
    factors_multiplied_first=(
        [512 * 512, 512 * 512 * 8],
        "B A is never formed for a token: that would be more than the full product.",
    ),
)


@madds.misconception()
def flops():
    """These are FLOPs: a madd is two of them."""
    return [2 * 512 * 512, 4 * 512 * 8]
