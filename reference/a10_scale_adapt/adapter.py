"""Bottleneck modules beside a frozen model.

Source: Houlsby et al. (2019), "Parameter-efficient transfer learning for NLP", section 2.1.
"""

import numpy as np
import torch
from torch import nn

from autograder.exercise import Choice, Count, Exercise, Mismatch, Numbers, agree, require

exercise = Exercise(
    "adapter",
    title="Bottleneck modules",
    source="Houlsby et al. (2019), section 2.1",
    minutes=35,
    hints=[
        "The identity at the start means that nothing is added yet. Which of the two linear "
        "layers can see to that, and still get a gradient?",
        "A linear layer has inputs times outputs weights, and as many biases as it has outputs: "
        "count the two layers one by one.",
        "What can be merged is a matrix. Compare what a trained adapter, biases aside, does to "
        "x and to −x.",
    ],
)

X = np.array([1.0, 3, -2])
DOWN = np.array([[1.0, 0], [0, 1], [1, 1]])
UP = np.array([[1.0, 0, 1], [0, 2, 0]])
ONE = 2 * 768 * 64 + 64 + 768
BERT = 109_482_240


@exercise.part(points=1, answer=Numbers())
def y():
    """The output x + ReLU(x W_down) W_up, shape (3,)."""
    return X + np.maximum(0, X @ DOWN) @ UP


y.mistakes(
    residual_forgotten=(
        np.maximum(0, X @ DOWN) @ UP,
        "x itself is missing: an adapter adds something to what was there.",
    ),
    relu_forgotten=(X + X @ DOWN @ UP, "One hidden number is negative: the ReLU makes it 0."),
    relu_at_the_end=(
        np.maximum(0, X + (X @ DOWN) @ UP),
        "The ReLU stands between the two matrices, and not around the sum.",
    ),
)


@exercise.part(points=1, answer=Count())
def one():
    """The parameters of one adapter, d = 768, r = 64: with both biases, and without."""
    return [ONE, 2 * 768 * 64]


one.mistakes(
    biases_of_the_same_width=(
        [2 * 768 * 64 + 2 * 768, 2 * 768 * 64],
        "One bias is as wide as the bottleneck, the other as the model.",
    ),
    biases_of_the_bottleneck=(
        [2 * 768 * 64 + 2 * 64, 2 * 768 * 64],
        "A bias is as wide as what comes out of its matrix: the second one leads back up.",
    ),
    one_of_two_matrices=([768 * 64 + 64 + 768, 768 * 64], "There are two matrices: down and up."),
)


@exercise.part(points=0.5, answer=Count())
def twelve_layers(one):
    """Two adapters with biases in each of 12 layers."""
    return 24 * one[0]


@twelve_layers.misconception()
def one_for_each_layer(one):
    """Each layer has two: behind attention, and behind the feed-forward network."""
    return 12 * one[0]


@twelve_layers.misconception()
def adapters_without_biases(one):
    """Their biases are missing."""
    return 24 * one[1]


@exercise.part(points=0.5, answer=Numbers())
def share(twelve_layers):
    """The fraction of BERT-base's 109,482,240 parameters."""
    return twelve_layers / BERT


@share.misconception()
def share_of_the_layers(twelve_layers):
    """You divided by the layers' parameters. The embeddings belong to the model as well."""
    return twelve_layers / 85_054_464


@exercise.reference
class Adapter(nn.Module):
    """x + ReLU(x W_down + b_down) W_up + b_up, which starts as the identity."""

    def __init__(self, d, r):
        super().__init__()
        self.down, self.up = nn.Linear(d, r), nn.Linear(r, d)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        """Add what comes out of the bottleneck."""
        return x + self.up(torch.relu(self.down(x)))


@exercise.alternative
class AsASequence(nn.Module):
    """The linear layers inside a sequence, too."""

    def __init__(self, d, r):
        super().__init__()
        self.down = nn.Linear(d, r)
        self.up = nn.Linear(r, d)
        for parameter in self.up.parameters():
            parameter.data.fill_(0.0)
        self.bottleneck = nn.Sequential(self.down, nn.ReLU(), self.up)

    def forward(self, x):
        """One after the other."""
        return self.bottleneck(x) + x


@exercise.alternative
class SmallStart(nn.Module):
    """Small random numbers below, zeros above, the formula written out."""

    def __init__(self, d, r):
        super().__init__()
        self.down, self.up = nn.Linear(d, r), nn.Linear(r, d)
        nn.init.normal_(self.down.weight, std=0.1)
        with torch.no_grad():
            self.up.weight *= 0
            self.up.bias *= 0

    def forward(self, x):
        """Products and sums."""
        hidden = (x @ self.down.weight.T + self.down.bias).clamp(min=0)
        return x + hidden @ self.up.weight.T + self.up.bias


@exercise.alternative
class WithEinsum(Adapter):
    """Name every axis."""

    def forward(self, x):
        """Sums over named axes."""
        hidden = torch.einsum("...d,rd->...r", x, self.down.weight) + self.down.bias
        up = torch.einsum("...r,dr->...d", nn.functional.relu(hidden), self.up.weight)
        return (x + up) + self.up.bias


def seeded(call, d=6, r=3, seed=1):
    """A fresh adapter, drawn with a seed."""
    call.seed(seed)
    return call.make(d, r)


def tokens(rng, *shape):
    """Inputs in single precision."""
    return torch.tensor(rng.normal(size=shape), dtype=torch.float32)


@exercise.check(points=0.25, visible=True)
def starts_as_the_identity(call, rng):
    """A fresh adapter gives back what it gets."""
    x = tokens(rng, 4, 6)
    one, other = (seeded(call, seed=seed)(x).array for seed in (1, 2))
    apart = one - other
    if not np.allclose(apart, 0, atol=1e-6):
        kind = "bias" if np.allclose(apart, apart[0], atol=1e-6) else "matrix"
        message = "what a fresh adapter gives depends on what is drawn"
        raise Mismatch(message, kind=kind, free=True)
    agree(one, x, rtol=1e-6, atol=1e-7)


SHAPES = {"down.weight": (3, 6), "down.bias": (3,), "up.weight": (6, 3), "up.bias": (6,)}


def with_trained_weights(call, rng):
    """The adapter and the right one, both with weights as a training leaves them."""
    state = {name: tokens(rng, *shape) for name, shape in SHAPES.items()}
    right = Adapter(6, 3)
    right.load_state_dict(state)
    module = seeded(call)
    module.load_state_dict(state, strict=False)  # second names are all right
    return module, right


@exercise.check(points=1.5)
def learns(call, rng):
    """From the start a gradient other than 0 reaches the matrix up, and later all weights."""
    found = seeded(call, 16, 8).gradients(tokens(rng, 20, 16))
    module, _ = with_trained_weights(call, rng)
    x = tokens(rng, 20, 6)
    later, given = module.gradients(x).parameters, module(x).array
    gradient = found.parameters.get("up.weight")
    require(gradient is not None, "no gradient reaches `up.weight`")
    require(abs(gradient.array).max() > 1e-4, "the gradient of `up.weight` is 0")
    require(not np.allclose(given, x.numpy()), "trained weights change nothing: what is learnt?")
    for name in SHAPES:
        reached = later.get(name) is not None and abs(later[name].array).max() > 1e-4
        require(reached, f"with trained weights no gradient reaches `{name}`")


@exercise.check(points=1)
def formula(call, rng):
    """With trained weights it gives x + ReLU(x W_down + b_down) W_up + b_up."""
    module, right = with_trained_weights(call, rng)
    for x in (tokens(rng, 5, 6), tokens(rng, 2, 3, 6)):
        agree(module(x), right(x).detach(), rtol=1e-4, atol=1e-5)


@exercise.check(points=0.25)
def as_many_parameters(call, rng):
    """Two matrices and two biases are learnt, and nothing else."""
    found = seeded(call).gradients(tokens(rng, 4, 6))
    require(found.hidden == 0, "there are weights that `parameters()` does not know")
    agree(found.count, 2 * 6 * 3 + 3 + 6, what="the number of parameters")


@exercise.misconception
class StartsAtRandom(Adapter):
    """It starts at random, and changes the model before it has learnt anything."""

    def __init__(self, d, r):
        super().__init__(d, r)
        nn.init.normal_(self.up.weight, std=0.3)


@exercise.misconception
class BiasAtRandom(Adapter):
    """The matrix up starts at 0, its bias doesn't: that is added from the start."""

    def __init__(self, d, r):
        nn.Module.__init__(self)
        self.down, self.up = nn.Linear(d, r), nn.Linear(r, d)
        nn.init.zeros_(self.up.weight)


@exercise.misconception
class NoResidual(Adapter):
    """x itself is missing: an adapter adds something to what was there."""

    def forward(self, x):
        """The bottleneck alone."""
        return self.up(torch.relu(self.down(x)))


@exercise.misconception
class BothZero(Adapter):
    """Everything starts at 0: then no gradient reaches the matrices, and nothing is learnt."""

    def __init__(self, d, r):
        super().__init__(d, r)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.down.bias)


@exercise.misconception
class NeverLearns(Adapter):
    """No gradient reaches its weights: does `detach`, `no_grad` or a frozen parameter stop it?"""

    def forward(self, x):
        """Cut the gradients off."""
        return x + self.up(torch.relu(self.down(x))).detach()


@exercise.misconception(credit=0.5)
class MatrixDownNeverLearns(Adapter):
    """No gradient reaches the matrix that leads down: something between the two cuts it off."""

    def forward(self, x):
        """Cut the gradients off in the middle."""
        return x + self.up(torch.relu(self.down(x)).detach())


@exercise.misconception
class NoNonlinearity(Adapter):
    """The ReLU is missing: that is a low-rank update of a linear map."""

    def forward(self, x):
        """Two products."""
        return x + self.up(self.down(x))


@exercise.misconception(credit=0.3)
class ReluAtTheEnd(Adapter):
    """The ReLU comes after the second matrix: an adapter could then only increase numbers."""

    def forward(self, x):
        """Both products, then the ReLU."""
        return x + torch.relu(self.up(self.down(x)))


@exercise.misconception
class NormAdded(Adapter):
    """There are more parameters than in two linear layers."""

    def __init__(self, d, r):
        super().__init__(d, r)
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        """Scale what is added."""
        return x + self.scale * self.up(torch.relu(self.down(x)))


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Yes, always.",
            "No.",
            "If the bottleneck is as wide as the model.",
        ]
    ),
)
def mergeable():
    """Can a trained adapter be merged into the matrix before it?"""
    return "B"


mergeable.mistakes(
    like_lora=("A", "A sum of linear maps is one matrix. Is this map linear?"),
    wide_enough=(
        "C",
        "Between the two matrices stands something that no width of the bottleneck removes.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The residual connection around it.",
            "That it consists of two matrices.",
            "The width of the bottleneck.",
            "What stands between the two matrices.",
        ]
    ),
    after=mergeable,
)
def because():
    """Why?"""
    return "D"


because.mistakes(
    because_of_residual=(
        "A",
        "The residual is linear: it would only add the identity to a matrix.",
    ),
    because_of_two_matrices=("B", "A product of two matrices is a matrix. LoRA has two as well."),
    because_of_the_width=(
        "C",
        "A product through a narrow middle is still a matrix, of small rank.",
    ),
)
