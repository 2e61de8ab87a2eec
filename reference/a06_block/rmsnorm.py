"""RMSNorm: divide by the root mean square and leave the mean in.

Source: Zhang & Sennrich (2019), "Root mean square layer normalization", eq. 4.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers

exercise = Exercise(
    "rmsnorm",
    title="Leaving the mean in",
    source="Zhang & Sennrich (2019), eq. 4",
    minutes=20,
    hints=[
        "The root mean square takes no mean off: square, average, take the root.",
        "When does the variance equal the mean of the squares?",
    ],
)

x = np.array([1, 7, 9, 15])


@exercise.part(points=1, answer=Numbers())
def rms():
    """The root mean square of x."""
    return np.sqrt((x**2).mean())


@rms.misconception()
def length_of_x():
    """That is the length of x. The squares are averaged, not added up."""
    return np.linalg.norm(x)


@rms.misconception(credit=0.5)
def root_not_taken():
    """That is the mean square. Its root is asked for."""
    return (x**2).mean()


@rms.misconception()
def mean_of_x():
    """That is the mean. First the squares, then their mean, then the root."""
    return x.mean()


@rms.misconception()
def deviation_of_x():
    """That is the standard deviation: you subtracted the mean. Here it stays in."""
    return x.std()


@exercise.part(points=1, answer=Numbers())
def y(rms):
    """x after RMSNorm with γ = 1 and ε = 0."""
    return x / rms


@y.misconception()
def layer_normed():
    """That is layer norm. RMSNorm subtracts nothing."""
    return (x - x.mean()) / x.std()


@y.misconception()
def centred_first(rms):
    """You subtracted the mean before you divided. RMSNorm subtracts nothing."""
    return (x - x.mean()) / rms


@y.misconception()
def divided_by_the_mean_square():
    """You divided by the mean square. Its root is the size of x."""
    return x / (x**2).mean()


@y.misconception()
def divided_by_the_length():
    """You divided by the length. Then the squares add up to 1; here their mean is 1."""
    return x / np.linalg.norm(x)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Those of length 1.",
            "Those whose entries add up to 0.",
            "Those whose entries are all positive.",
            "None.",
        ]
    ),
)
def equal_when():
    """For which inputs do RMSNorm and layer norm (γ = 1, β = 0, ε = 0) agree?"""
    return "B"


equal_when.mistakes(
    unit_length=("A", "Try (0.6, 0.8): what does layer norm make of it?"),
    positive_entries=("C", "Try your x, whose entries are all positive."),
    never_equal=(
        "D",
        "What does layer norm do to a vector from which there is no mean to subtract?",
    ),
)


@exercise.part(points=0.5, answer=Count())
def parameters():
    """The parameters at d = 512 of layer norm, and of RMSNorm: two whole numbers."""
    return [2 * 512, 512]


parameters.mistakes(
    a_shift_in_both=(
        [2 * 512, 2 * 512],
        "RMSNorm has a scale alone: it neither subtracts a mean nor adds a shift.",
        0.5,
    ),
    a_shift_in_neither=([512, 512], "Layer norm learns a shift besides its scale.", 0.5),
    one_for_all=([2, 1], "Scale and shift are vectors: every feature has its own."),
    mean_and_deviation=(
        [4 * 512, 2 * 512],
        "Mean and deviation are computed from each token. Parameters are what training changes.",
    ),
)
