"""Measuring times so that somebody else gets the same ones.

Source: Chen & Revels (2016), "Robust benchmarking in noisy environments".
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers

exercise = Exercise(
    "bench_hygiene",
    title="Measuring honestly",
    source="Chen & Revels (2016), sections 3 and 4",
    minutes=20,
    hints=[
        "What does a first run do that no later one does? And who else uses the machine?",
        "If the work grows like n², ask by what n itself has grown.",
        "One very slow run moves the mean; does it move the median?",
    ],
)

TRUE = "ACDFG"


@exercise.part(
    points=2,
    answer=Choice(
        [
            "Call each function once or twice before the clock starts.",
            "Measure once: a repeated run would profit from the first one.",
            "Repeat, and report the minimum or the median.",
            "On a GPU, wait until all work is finished before reading the clock.",
            "Report the mean of all runs, also if one of them took nine times as long.",
            "Use the same number type and the same number of threads for both.",
            "Make the inputs before the clock starts.",
            "Let each method use the number type in which it is fastest.",
        ],
        multiple=True,
    ),
)
def good_practice():
    """The letters of what makes a comparison of times trustworthy."""
    return TRUE


@good_practice.misconception()
def single_run_trusted():
    """You marked “Measure once: a repeated run would profit from the first one”.

    Run it twice: the first time contains one-off costs, and any run noise.
    """
    return "ABCDFG"


@good_practice.misconception()
def mean_of_everything():
    """You marked “Report the mean of all runs, also if one of …”.

    Interruptions only ever add time, and one of them moves the mean a lot.
    """
    return "ACDEFG"


@good_practice.misconception()
def unequal_arithmetic():
    """You marked “Let each method use the number type in which it is fastest”.

    With other number types or threads you measure these, not the algorithms.
    """
    return "ACDFGH"


@good_practice.misconception()
def cold_start():
    """You left out “Call each function once or twice before the clock starts”.

    A first call pays for what never comes again.
    """
    return "CDFG"


@good_practice.misconception()
def repetitions_left_out():
    """You left out “Repeat, and report the minimum or the median”.

    How would you notice that one run was disturbed?
    """
    return "ADFG"


@good_practice.misconception()
def device_not_awaited():
    """You left out “On a GPU, wait until all work is finished …”.

    A GPU hands control back before it is done: what has the clock seen?
    """
    return "ACFG"


@good_practice.misconception()
def unequal_conditions_allowed():
    """You left out “Use the same number type and the same number …”.

    If one of the two may use a shorter type, what is compared?
    """
    return "ACDG"


@good_practice.misconception()
def inputs_timed_as_well():
    """You left out “Make the inputs before the clock starts”.

    Drawing the inputs takes time, too, and belongs to neither method.
    """
    return "ACDF"


@good_practice.misconception()
def every_advice_taken():
    """You marked every statement. Some of them contradict each other: which ones?"""
    return "ABCDEFGH"


@exercise.part(points=1, answer=Numbers())
def factors():
    """By what the time grows from n = 1000 to n = 5000: quadratic, linear."""
    return np.array([25, 5])


factors.mistakes(
    doubled_instead_of_squared=(
        np.array([10, 5]),
        "A quadratic cost is multiplied by the square of the factor, not by twice the factor.",
    ),
    difference_of_lengths=(
        np.array([16, 4]),
        "Growth is a ratio of the two times, not a difference.",
    ),
    factors_swapped=(np.array([5, 25]), "The two are in the other order: quadratic first."),
)


runs = np.array([1.0, 1.02, 0.98, 9.0, 1.01])


@exercise.part(points=0.5, answer=Numbers())
def median():
    """The median of the five runs."""
    return np.median(runs)


@median.misconception()
def middle_of_the_list():
    """That is the third run. Sort them first."""
    return runs[2]


@median.misconception()
def middle_of_the_range():
    """You took the middle between the fastest and the slowest run."""
    return (runs.min() + runs.max()) / 2


@median.misconception()
def mean_for_median():
    """That is the mean. The median is the middle one of the sorted runs."""
    return runs.mean()


@exercise.part(points=0.5, answer=Numbers())
def mean():
    """The mean of the five runs."""
    return runs.mean()


@mean.misconception()
def outlier_left_out():
    """You left the slow run out. The question is what it does to the mean."""
    return runs[runs < 2].mean()


@mean.misconception()
def median_for_mean():
    """That is the median. The mean is the sum divided by how many there are."""
    return np.median(runs)


@mean.misconception()
def divided_by_four():
    """You divided by one less than the number of runs: that belongs to a variance."""
    return runs.sum() / 4
