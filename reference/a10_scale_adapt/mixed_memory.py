"""The bytes that training holds for each parameter.

Source: Micikevicius et al. (2018); Rajbhandari et al. (2020), "ZeRO", section 3.1.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers

exercise = Exercise(
    "mixed_memory",
    title="Does half precision halve the memory?",
    source="Micikevicius et al. (2018); Rajbhandari et al. (2020), section 3.1",
    minutes=20,
    hints=[
        "Make a table: a row for each thing that is held, a column for each way of training. "
        "Which precision has each entry?",
        "For the letters compare the columns, line by line and in sum. What isn't in the table "
        "needs a thought of its own: in which precision is it, and what limits it?",
    ],
)

PARAMETERS = 44_138_496


@exercise.part(points=0.5, answer=Count(unit="B"))
def mixed():
    """Bytes in mixed precision: weights, gradients, master copy, first moment, second moment."""
    return [2, 2, 4, 4, 4]


mixed.mistakes(
    moments_in_half=(
        [2, 2, 4, 2, 2],
        "The moments stay in single precision: squares of small gradients would vanish.",
    ),
    no_master_copy=(
        [2, 2, 0, 4, 4],
        "Small steps would be rounded away: a copy of the weights in single precision is kept.",
    ),
    gradients_in_single=(
        [2, 4, 4, 4, 4],
        "The gradients are computed in half precision, as the loss was scaled for.",
    ),
)


@exercise.part(points=0.5, answer=Count(unit="B"))
def per_parameter(mixed):
    """Bytes for each parameter in all: single precision, and mixed."""
    return np.array([16, np.sum(mixed)])


@per_parameter.misconception()
def half_of_everything():
    """Add up what you have just listed: not everything is halved."""
    return np.array([16, 8])


@per_parameter.misconception()
def single_without_gradient(mixed):
    """In single precision, too, there is a gradient beside weights and the two moments."""
    return np.array([12, np.sum(mixed)])


@per_parameter.misconception()
def single_with_master_copy(mixed):
    """In single precision the weights are their own master copy."""
    return np.array([20, np.sum(mixed)])


@exercise.part(points=0.4, answer=Count(unit="B"))
def total(per_parameter):
    """The bytes for all parameters in mixed precision."""
    return per_parameter[1] * PARAMETERS


total.mistakes(
    total_halved=(
        8 * PARAMETERS,
        "That is half of what it takes. Which of the five numbers was halved?",
    ),
    weights_alone=(
        2 * PARAMETERS,
        "These are the weights. Gradients, master copy and moments are held as well.",
    ),
)


@exercise.part(points=0.3, answer=Numbers(unit="GiB"))
def gib(total):
    """The same in GiB."""
    return total / 2**30


@gib.misconception()
def in_gb(total):
    """That is in GB. A GiB has 2³⁰ bytes."""
    return total / 1e9


@gib.misconception()
def in_mib(total):
    """That is in MiB."""
    return total / 2**20


@exercise.part(points=0.3, answer=Count(unit="B"))
def weights():
    """The bytes of the weights alone, in single and in half precision."""
    return [4 * PARAMETERS, 2 * PARAMETERS]


weights.mistakes(
    weights_in_bits=([32 * PARAMETERS, 16 * PARAMETERS], "These are bits. A byte has eight."),
    weights_exchanged=(
        [2 * PARAMETERS, 4 * PARAMETERS],
        "Single precision is the first one: four bytes for each number.",
    ),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "the working copy of the weights",
            "the state of the optimiser",
            "the activations that are stored for the backward pass",
            "the time for a step, on any hardware",
            "the bytes for each parameter in training",
        ],
        multiple=True,
    ),
)
def halved():
    """What mixed precision halves."""
    return "AC"


halved.mistakes(
    optimiser_state_too=(
        "ABC",
        "Look at your list: how many bytes has the optimiser's state in mixed precision?",
    ),
    parameters_in_training=(
        "ACE",
        "Compare the two sums that you have just written: is one the half of the other?",
    ),
    activations_overlooked=(
        "A",
        "What the forward pass leaves for the backward pass: in which precision was it computed?",
    ),
    time_for_certain=(
        "ACD",
        "Half the bytes are half the time only where memory is what limits, on hardware for it.",
    ),
    everything_of_it=(
        "ABCD",
        "Some of these follow from the number of bytes, and some of them don't.",
    ),
)
