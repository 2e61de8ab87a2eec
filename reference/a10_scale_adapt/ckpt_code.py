"""Checkpointing in PyTorch: the same gradients from fewer saved activations.

Source: Chen et al. (2016), "Training deep nets with sublinear memory cost", section 4.
"""

import weakref

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from autograder.exercise import Count, Exercise, agree, made, require, within

exercise = Exercise(
    "ckpt_code",
    title="Checkpointing in PyTorch",
    source="Chen et al. (2016), section 4",
    minutes=40,
    hints=[
        "Cut the list into consecutive parts first. What `checkpoint` needs is a function that "
        "runs one part.",
        "If the parts can't be equally long, `divmod` tells how long they are at least, and how "
        "many of them get one block more.",
        "For `calls` follow a block of the first segment and a block of the last one through a "
        "whole training step.",
    ],
)


def in_order(blocks, x):
    """Pass x through the blocks."""
    for block in blocks:
        x = block(x)
    return x


def parts_of(blocks, segments):
    """Cut a list into consecutive parts whose lengths differ by at most one."""
    short, longer = divmod(len(blocks), segments)
    first = 0
    for number in range(segments):
        last = first + short + (number < longer)
        yield blocks[first:last]
        first = last


@exercise.reference
def checkpointed(blocks: list, segments: int, x):
    """The result of all blocks; between the ends of the segments nothing is saved."""
    for part in parts_of(blocks, segments):
        x = checkpoint(in_order, part, x, use_reentrant=False)
    return x


@exercise.alternative
def by_the_library(blocks, segments, x):
    """The function that torch has for a sequence; its last segment is saved as usual."""
    return checkpoint_sequential(nn.Sequential(*blocks), segments, x, use_reentrant=False)


@exercise.alternative
def last_segment_as_usual(blocks, segments, x):
    """The last segment is needed at once: it isn't computed again."""
    *first, last = parts_of(blocks, segments)
    for part in first:
        x = checkpoint(nn.Sequential(*part), x, use_reentrant=False)
    return in_order(last, x)


@exercise.alternative
def rounded_up(blocks, segments, x):
    """Segments of ⌈L/segments⌉ blocks; the last may be shorter."""
    size = -(-len(blocks) // segments)
    for first in range(0, len(blocks), size):
        part = nn.Sequential(*blocks[first : first + size])
        x = checkpoint(part, x, use_reentrant=False, preserve_rng_state=True)
    return x


class Residual(nn.Module):  # given
    """x + tanh(x W), with dropout if there is any."""

    def __init__(self, weight, p=0.0):
        super().__init__()
        self.weight, self.p = nn.Parameter(torch.as_tensor(weight)), p

    def forward(self, x):
        """One block."""
        return x + nn.functional.dropout(torch.tanh(x @ self.weight), self.p)


def stack(weights, p=0.0):  # given
    """Residual blocks with these weights."""
    return [Residual(weight, p) for weight in weights]


class Watch(torch.autograd.Function):
    """Passes x on, saves a copy for the backward pass, and tells how much is alive meanwhile."""

    @staticmethod
    def forward(ctx, x, alive, most, _copies, _all, _calls):
        """Copies and results count as long as somebody keeps them, and calls for ever."""
        kept, passed = x.clone(), x.clone()
        most["calls"] += 1
        for tensor, names in ((kept, ("copies", "all")), (passed, ("all",))):
            for name in names:
                alive[name] += 1
                most[name] = max(most[name], alive[name])
                weakref.finalize(tensor.untyped_storage(), forget, alive, name)
        ctx.most = most
        ctx.save_for_backward(kept)
        return passed

    @staticmethod
    def backward(ctx, gradient):
        """Use what was saved; the gradients of the counters are what they have counted."""
        (kept,) = ctx.saved_tensors
        counts = (torch.tensor(float(ctx.most[name])) for name in ("copies", "all", "calls"))
        return gradient + 0 * kept, None, None, *counts


def forget(alive, name):
    """A tensor is gone."""
    alive[name] -= 1


class Watched(nn.Module):
    """A block that passes x on; the gradients of its parameters say how much was alive."""

    def __init__(self, alive, most):
        super().__init__()
        self.alive, self.most = alive, most
        self.copies, self.all, self.calls = (nn.Parameter(torch.zeros(())) for _ in range(3))

    def forward(self, x):
        """Do nothing, and watch."""
        return Watch.apply(x, self.alive, self.most, self.copies, self.all, self.calls)


def watched(L):
    """Blocks that count together."""
    alive, most = ({"copies": 0, "all": 0, "calls": 0} for _ in range(2))
    return [Watched(alive, most) for _ in range(L)]


def gradients(blocks, x):
    """The derivatives of a plain run, by the blocks' weights and by x."""
    x = x.clone().requires_grad_()
    value = in_order(blocks, x)
    total = (value.double() * torch.cos(torch.arange(value.numel())).reshape(value.shape)).sum()
    by = [x, *(p for block in blocks for p in block.parameters())]
    return torch.autograd.grad(total, by)


def numbers(rng, L, d=4):
    """Weights of L blocks, and an input."""
    weights = rng.normal(size=(L, d, d)).astype("float32") / 2
    return weights, torch.tensor(rng.normal(size=(3, d)).astype("float32"))


def same_gradients(found, weights, x, p=0.0):
    """Require the gradients of a plain run."""
    right_x, *right = gradients(stack(weights, p), x)
    require(found.inputs[0] is not None, "no gradient reaches x")
    agree(found.inputs[0], right_x, rtol=1e-4, atol=1e-6, what="the gradient of x")
    for i, expected in enumerate(right):
        given = found.parameters[f"0.{i}.weight"]
        require(given is not None, "a block gets no gradient")
        agree(given, expected, rtol=1e-4, atol=1e-6, what="the gradient of a block")


@exercise.check(points=0.25, visible=True)
def same_result(call, rng):
    """The result is that of the blocks one after the other, for any number of segments."""
    for L, segments in ((8, 4), (8, 1), (11, 4), (5, 5)):
        weights, x = numbers(rng, L)
        right = in_order(stack(weights), x).detach()
        agree(call(made(stack, weights), segments, x), right, rtol=1e-5, atol=1e-6)


@exercise.check(points=0.5, after=same_result)
def same_derivatives(call, rng):
    """All gradients are those of a plain run."""
    for L, segments in ((8, 4), (10, 4)):
        weights, x = numbers(rng, L)
        same_gradients(call.gradients(made(stack, weights), segments, x), weights, x)


@exercise.check(points=2.75, after=same_derivatives)
def little_is_saved(call, rng):
    """At most the inputs of the segments and what lies within one of them are kept."""
    for L, segments in ((24, 4), (26, 5)):
        found = call.gradients(made(watched, L), segments, torch.ones(2, 3))
        names = ("copies", "all", "calls")
        copies, everything, calls = (found.parameters[f"0.0.{name}"] for name in names)
        require(everything is not None, "a block gets no gradient")
        longest = L - (segments - 1) * (L // segments)
        within(
            call,
            f"tensors alive at once / segments and longest segment, {L} blocks",
            float(everything.array) / (segments + longest),
            1.7,
            "too many activations are alive at once",
            kind="inputs" if copies.array < L / 2 else "activations",
        )
        again = calls.array > L
        require(again, "no block is run again: what it needs is kept after all, in another place")
        enough = copies.array >= L // segments
        require(enough, "your segments are shorter than so many would be", credit=0.5)


@exercise.check(points=0.5, after=little_is_saved)
def dropout_is_repeated(call, rng):
    """The second run drops what the first one did."""
    weights, x = numbers(rng, 8)
    call.seed(3)
    found = call.gradients(made(stack, weights, 0.5), 4, x)
    torch.manual_seed(3)
    same_gradients(found, weights, x, 0.5)


@exercise.misconception(fatal="nothing of what is asked is done")
def nothing_forgotten(blocks, segments, x):
    """That is the plain run: everything is saved."""
    return in_order(blocks, x)


@exercise.misconception(credit=0.4)
def each_block_by_itself(blocks, segments, x):
    """Each block is a segment of its own: all their inputs are saved. Where are the segments?"""
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


@exercise.misconception(credit=0.4)
def all_in_one_segment(blocks, segments, x):
    """One segment holds all blocks: while it is run again, everything is alive."""
    return checkpoint(in_order, blocks, x, use_reentrant=False)


@exercise.misconception
def other_random_numbers(blocks, segments, x):
    """Dropout draws anew in the second run. The state of the generator must be restored."""
    for part in parts_of(blocks, segments):
        x = checkpoint(in_order, part, x, use_reentrant=False, preserve_rng_state=False)
    return x


@exercise.misconception(fatal="nothing could be learned with it")
def gradients_cut(blocks, segments, x):
    """Where a segment ends, `detach` or `no_grad` cuts the gradients off."""
    for part in parts_of(blocks, segments):
        x = checkpoint(in_order, part, x, use_reentrant=False).detach()
    return x


@exercise.misconception(credit=0.5)
def number_for_length(blocks, segments, x):
    """You made segments of so many blocks. The argument says how many segments there are."""
    for first in range(0, len(blocks), segments):
        x = checkpoint(in_order, blocks[first : first + segments], x, use_reentrant=False)
    return x


@exercise.misconception(credit=0.4)
def looked_up_too_late(blocks, segments, x):
    """Your function looks up its blocks when it runs: the second time the loop is over."""
    for part in parts_of(blocks, segments):
        x = checkpoint(lambda h: in_order(part, h), x, use_reentrant=False)  # noqa: B023
    return x


@exercise.misconception(credit=0.6)
def rest_forgotten(blocks, segments, x):
    """If the number of segments doesn't divide that of the blocks, the last blocks are lost."""
    size = len(blocks) // segments
    for first in range(0, size * segments, size):
        x = checkpoint(in_order, blocks[first : first + size], x, use_reentrant=False)
    return x


@exercise.part(points=1, answer=Count())
def calls():
    """Block calls of a step: plain; with checkpoints and the last of four segments as usual."""
    return [8, 14]


calls.mistakes(
    all_segments_again=(
        [8, 16],
        "The last segment is still there when the backward pass begins: it isn't run again.",
    ),
    one_segment_again=(
        [8, 10],
        "Only the last segment is still there. The three before it are run again.",
    ),
    segments_counted=(
        [8, 12],
        "You added one call for each segment. Every block of a segment is run again.",
    ),
    backward_counted=(
        [16, 22],
        "You counted backward passes as calls. Count how often the blocks' `forward` runs.",
    ),
)
