"""What checkpoints cost in time.

Source: Chen et al. (2016), "Training deep nets with sublinear memory cost", section 4.2.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "ckpt_time",
    title="The price",
    source="Chen et al. (2016), section 4.2",
    minutes=20,
    hints=[
        "Write down how long each pass takes, and ask of each whether it is run again.",
        "A segment that is still alive is spared: which share of all layers is left to be run "
        "again?",
    ],
)


@exercise.part(points=1, answer=Count())
def units():
    """The units of time of a step: plain, and with checkpoints."""
    return np.array([3, 4])


units.mistakes(
    everything_twice=(
        np.array([3, 6]),
        "Only the forward pass is repeated. The backward pass runs once, as before.",
    ),
    backward_as_cheap=(
        np.array([2, 3]),
        "A backward pass takes two units: gradients of the inputs, and gradients of the weights.",
    ),
    backward_twice=(
        np.array([3, 5]),
        "You repeated the backward pass. What is computed again are activations.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def ratio(units):
    """How many times as long the step takes with checkpoints."""
    return units[1] / units[0]


@ratio.misconception()
def twice_the_time():
    """Twice the forward passes isn't twice the time."""
    return 2.0


@ratio.misconception()
def additional_share(units):
    """That is what comes on top. How many times as long is the whole?"""
    return units[1] / units[0] - 1


@exercise.part(points=1, answer=Numbers())
def last_alive(units):
    """The ratio for L = 64, s = 8, if the last segment isn't computed again."""
    return (units[0] + (64 - 8) / 64 * (units[1] - units[0])) / units[0]


@last_alive.misconception()
def last_segment_too(units):
    """That is the ratio if all segments are computed again."""
    return units[1] / units[0]


@last_alive.misconception()
def time_in_units(units):
    """That is the time in units. Divide it by the time of the plain step."""
    return units[0] + (64 - 8) / 64 * (units[1] - units[0])


@last_alive.misconception()
def only_the_last(units):
    """You computed the last segment again and no other."""
    return (units[0] + 8 / 64 * (units[1] - units[0])) / units[0]


@last_alive.misconception()
def by_the_longer_step(units):
    """You divided by the time with checkpoints. Compare with the plain step."""
    return (units[0] + 56 / 64 * (units[1] - units[0])) / units[1]


@last_alive.misconception()
def one_layer_spared(units):
    """A segment has eight layers: all of them are spared, not one."""
    return (units[0] + 63 / 64 * (units[1] - units[0])) / units[0]


@exercise.part(points=1, answer=Count())
def forwards():
    """Forward runs of a layer: plain; in the first segment; in a last one that is still alive."""
    return [1, 2, 1]


forwards.mistakes(
    forwards_once=([1, 1, 1], "It runs once to get to the loss. And for what was forgotten?"),
    last_one_again=([1, 2, 2], "What is still alive needn't be computed again."),
    only_what_is_run_again=(
        [0, 1, 0],
        "These are the runs that come on top. The first one, to the loss, counts as well.",
    ),
    forwards_three_times=(
        [1, 3, 1],
        "Once to get to the loss, once more to compute again what was forgotten.",
    ),
)
