"""A power law through five losses, and what a budget of weights buys.

Source: Kaplan et al. (2020), "Scaling laws for neural language models", sections 1 and 3.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "scaling_fit",
    title="Fit a power law",
    source="Kaplan et al. (2020), sections 1 and 3",
    minutes=30,
    hints=[
        "`np.polyfit` fits a line. Take both logarithms to the same base, and look at the sign of "
        "the slope before you call it α.",
        "For the factor put two computes into the power law, one ten times the other, and divide: "
        "what cancels?",
        "With d = 4L the weights are a number times a power of L. Which power is it?",
    ],
)

exponents = np.arange(18, 23)


@exercise.variant
def draw(rng):
    """loss: the losses at a compute of 10^18, 10^19, …, 10^22."""
    alpha, first = rng.uniform(0.035, 0.085), rng.uniform(3, 4)
    while True:
        noise = rng.uniform(-0.4, 0.4, 5)
        loss = np.round(first * 10 ** (-alpha * (np.arange(5) + noise)), 2)
        ends, fitted = np.log10(loss[0] / loss[-1]) / 4, -line(np.log10(loss))[0]
        if abs(ends / fitted - 1) > 0.06:
            return {"loss": loss}


def line(y):
    """Return slope and standard error of the slope of a line through y over log₁₀ C."""
    x = exponents - exponents.mean()
    slope = x @ y / (x @ x)
    rest = y - y.mean() - slope * x
    return slope, np.sqrt(rest @ rest / (len(y) - 2) / (x @ x))


@exercise.part(points=1, answer=Numbers())
def alpha(loss):
    """The exponent α."""
    return -line(np.log10(loss))[0]


@alpha.misconception()
def loss_not_logarithmic(loss):
    """You fitted the loss over log C. A power law is a line where *both* are logarithms."""
    return -line(loss)[0]


@alpha.misconception()
def first_and_last_point(loss):
    """That is the line through the first and the last point. Least squares uses all five."""
    return np.log10(loss[0] / loss[-1]) / 4


@alpha.misconception()
def logarithms_mixed(loss):
    """You took logarithms to different bases for loss and compute."""
    return -line(np.log(loss))[0]


@alpha.misconception()
def slope_of_the_other_axis(loss):
    """You exchanged the axes: log C over log loss."""
    return -1 / line(np.log10(loss))[0]


def deviation(loss, alpha):
    """Return the standard error, of natural logarithms where α is of these."""
    natural = np.isclose(alpha, -line(np.log(loss))[0], rtol=1e-2)
    return line(np.log(loss) if natural else np.log10(loss))[1]


@exercise.part(points=0.5, answer=Numbers())
def error(loss, alpha):
    """The standard error of α."""
    return deviation(loss, alpha)


@error.misconception()
def five_degrees_of_freedom(loss, alpha):
    """You divided by the number of points. Slope and intercept take two degrees of freedom."""
    return deviation(loss, alpha) * np.sqrt(3 / 5)


@error.misconception()
def four_degrees_of_freedom(loss, alpha):
    """You divided by 4. Slope *and* intercept were fitted."""
    return deviation(loss, alpha) * np.sqrt(3 / 4)


@error.misconception()
def spread_of_the_points(loss, alpha):
    """That is how far the points lie from the line. The error of a slope has Σ (x − mean)² too."""
    return deviation(loss, alpha) * np.sqrt(10)


@error.misconception()
def root_forgotten(loss, alpha):
    """That is a variance: take the root."""
    return deviation(loss, alpha) ** 2


@exercise.part(points=0.5, answer=Numbers())
def factor(alpha):
    """The factor by which the loss changes when the compute grows tenfold."""
    return 10.0**-alpha


@factor.misconception()
def grows(alpha):
    """With more compute the loss falls."""
    return 10.0**alpha


@factor.misconception()
def part_taken_off(alpha):
    """That is the share which is taken off. What is the loss multiplied by?"""
    return 1 - 10.0**-alpha


@factor.misconception()
def natural_base(alpha):
    """You raised e to the power. How much larger is the compute?"""
    return np.exp(-alpha)


@factor.misconception()
def linear_change(alpha):
    """1 − α isn't a power."""
    return 1 - alpha


@exercise.part(points=1, answer=Numbers())
def quarter():
    """The factor if α were 0.25."""
    return 10**-0.25


quarter.mistakes(
    quarter_grows=(10**0.25, "With more compute the loss falls."),
    exponent_given=(
        0.25,
        "That is the exponent. By what is the loss multiplied if the compute grows tenfold?",
    ),
    quarter_natural=(np.exp(-0.25), "You raised e to the power. The compute grows tenfold."),
)


shapes = np.array([[6, 512], [24, 256], [96, 128]])


@exercise.part(points=0.5, answer=Count())
def weights():
    """12 L d² of the three shapes."""
    return 12 * shapes[:, 0] * shapes[:, 1] ** 2


weights.mistakes(
    width_not_squared=(
        12 * shapes[:, 0] * shapes[:, 1],
        "The width counts twice: matrices are d × d.",
    ),
    attention_alone=(
        4 * shapes[:, 0] * shapes[:, 1] ** 2,
        "That is attention, 4 d² a layer. The feed-forward network has 8 d² more.",
    ),
    one_matrix_a_layer=(
        shapes[:, 0] * shapes[:, 1] ** 2,
        "A layer has more than one matrix of that size: you left out the factor in front.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def slender():
    """The width divided by the depth of the three shapes."""
    return shapes[:, 1] / shapes[:, 0]


@slender.misconception()
def depth_over_width():
    """That is depth over width."""
    return shapes[:, 0] / shapes[:, 1]


@exercise.part(points=0.5, answer=Numbers())
def depth(weights):
    """The depth with the budget of these shapes if d = 4 L; it needn't be a whole number."""
    return np.cbrt(weights[0] / 192)


depth.mistakes(
    square_root_taken=(np.sqrt(12 * 6 * 512**2 / 192), "The depth stands in L d² three times."),
    four_not_squared=(np.cbrt(12 * 6 * 512**2 / 48), "d² is 16 L²."),
    twelve_forgotten=(
        np.cbrt(12 * 6 * 512**2 / 16),
        "The weights are 12 L d², and not L d²: the 12 counts for this shape as for the others.",
    ),
    width_given=(4 * np.cbrt(12 * 6 * 512**2 / 192), "That is the width."),
    shape_turned_round=(
        np.cbrt(12 * 6 * 512**2 * 16 / 12),
        "You took L = 4d. Here the width is four times the depth.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def published():
    """Width over depth of GPT-3 (96 layers, width 12288) and of BERT base (12, 768)."""
    return np.array([128.0, 64.0])


published.mistakes(
    published_upside_down=(np.array([96 / 12288, 12 / 768]), "That is depth over width."),
    models_exchanged=(np.array([64.0, 128.0]), "GPT-3 comes first."),
)
