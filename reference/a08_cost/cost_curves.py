"""Measured times beside predicted ones, on log–log axes.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", figure 1.
"""

import numpy as np
from jaxtyping import Num
from numpy import ndarray

from autograder.exercise import Count, Essay, Exercise, Numbers, agree

exercise = Exercise(
    "cost_curves",
    title="Measured against predicted",
    source="Katharopoulos et al. (2020), figure 1",
    minutes=40,
    hints=[
        "A power law is a straight line between logarithms; its exponent is the slope.",
        "A reference line goes through one known point: that fixes its constant.",
        "Where both predictions are equal, powers of d that they share cancel.",
    ],
)

lengths = np.array([100, 500, 1000, 2000, 5000])
width = 64
slowest = np.array([0.25, 0.006])  # seconds at the largest length, standard and linear


@exercise.part(points=1, answer=Count())
def predicted():
    """Madds for the five n and d = 64: a row for standard, a row for linear attention."""
    return np.array([2 * lengths**2 * width, 2 * lengths * width**2])


predicted.mistakes(
    one_product_each=(
        np.array([lengths**2 * width, lengths * width**2]),
        "You counted one product. Both methods take two of the same size.",
    ),
    linear_without_features=(
        np.array([2 * lengths**2 * width, 2 * lengths * width]),
        "Linear attention multiplies D features with d_v columns: the width counts twice.",
    ),
    predicted_flops=(
        np.array([4 * lengths**2 * width, 4 * lengths * width**2]),
        "These are FLOPs; asked for are madds, of which each is two.",
    ),
    rows_exchanged=(
        np.array([2 * lengths * width**2, 2 * lengths**2 * width]),
        "The rows are in the other order: standard first.",
    ),
)


@exercise.part(points=1, answer=Numbers(unit="s"))
def lines():
    """The reference lines c₁n² and c₂n in seconds, through the points at n = 5000."""
    return np.array([slowest[0] * (lengths / 5000) ** 2, slowest[1] * lengths / 5000])


lines.mistakes(
    both_linear=(
        slowest[:, None] * lengths / 5000,
        "Both lines grow like n. The first one should have slope 2 on log–log axes.",
    ),
    both_quadratic=(
        slowest[:, None] * (lengths / 5000) ** 2,
        "Both lines grow like n². The second one should have slope 1 on log–log axes.",
    ),
)


@lines.misconception()
def lines_in_milliseconds():
    """These are milliseconds. Seconds are asked for."""
    return 1000 * lines.compute()


lines.mistakes(
    constants_left_out=(
        np.array([lengths**2, lengths]),
        "These are n² and n. Choose c₁ and c₂ so that the lines go through the measured points.",
    ),
    anchored_at_the_first=(
        np.array([slowest[0] * (lengths / 100) ** 2, slowest[1] * lengths / 100]),
        "Your lines have the given times at the smallest n; they belong to the largest.",
    ),
)


@exercise.part(points=1, answer=Essay())
def picture():
    """Measured times against n on log–log axes, with both reference lines.

    (1) Both axes are logarithmic and labelled, with units.
    (2) Measured points of both methods and both lines are there, and a legend tells them apart,
    without colour too. (3) It is said where points leave their line and why: overhead
    at small n, memory at large n.
    """
    return (
        "Points of two kinds, a dashed line of slope 2 and a dotted one of slope 1, through the "
        "points at n = 5000. At n = 100 both methods lie above their lines: calling functions "
        "takes longer there than computing."
    )


@exercise.part(points=1, answer=Count())
def cross():
    """The n at which both predictions are equal, for d = 64."""
    return width


cross.mistakes(
    square_of_the_width=(
        width**2,
        "Divide both predictions by 2 n d: what is left on either side?",
    ),
    twice_the_width=(2 * width, "Both methods take two products: the factors 2 cancel."),
    root_of_the_width=(8, "n stands squared on one side, and once on the other."),
)


@exercise.reference
def fit_exponent(n: Num[ndarray, " k"], t: Num[ndarray, " k"], n_min: int | float = 0) -> float:
    """Return the slope of log t against log n, over the points with n ≥ n_min."""
    use = np.asarray(n) >= n_min
    x, y = np.log(np.asarray(n, float)[use]), np.log(np.asarray(t, float)[use])
    x = x - x.mean()
    return float(x @ y / (x @ x))


@exercise.alternative
def with_polyfit(n, t, n_min=0):
    """Let numpy fit a polynomial of degree one; the base of the logarithm cancels."""
    use = n >= n_min
    return np.polyfit(np.log10(n[use]), np.log10(t[use]), 1)[0]


@exercise.alternative
def with_least_squares(n, t, n_min=0):
    """Solve for slope and intercept."""
    points = [(np.log2(a), np.log2(b)) for a, b in zip(n, t, strict=True) if a >= n_min]
    x, y = np.array(points).T
    return np.linalg.lstsq(np.stack([x, np.ones(len(x))], axis=1), y, rcond=None)[0][0]


@exercise.alternative
def covariance_over_variance(n, t, n_min=0):
    """The slope of a regression is a covariance divided by a variance."""
    both = np.cov(np.log(n[n >= n_min]), np.log(t[n >= n_min]))
    return both[0, 1] / both[0, 0]


@exercise.check(points=0.5, visible=True)
def exact_powers(call, rng):
    """Times c·n^a give a, whatever c is."""
    for power in (2.0, 1.0, 0.5, 0.0):
        agree(call(lengths, 10 ** rng.uniform(-9, 2) * lengths**power), power, atol=1e-9)


@exercise.check(points=0.5, after=exact_powers)
def noisy_times(call, rng):
    """With noise it is the least-squares slope over all points."""
    n = np.sort(rng.integers(50, 20_000, 8))
    t = 1e-7 * n**1.6 * np.exp(rng.normal(0, 0.3, 8))
    agree(call(n, t), fit_exponent(n, t))


@exercise.check(points=0.5, visible=True, after=exact_powers)
def overhead_flattens(call, rng):
    """1 ms of overhead and 10 ns · n² look like the exponent 1.39 over the five lengths."""
    t = 1e-3 + 1e-8 * lengths**2
    agree(call(lengths, t), fit_exponent(lengths, t))


@exercise.check(points=0.5, after=exact_powers)
def small_lengths_left_out(call, rng):
    """`n_min` leaves out what is below it, and keeps what is equal to it."""
    t = 1e-3 + 1e-8 * lengths**2
    for n_min in (1000, 501, 2000):
        agree(call(lengths, t, n_min=n_min), fit_exponent(lengths, t, n_min))


def slope(x, y):
    """Of the straight line that fits best."""
    return np.polyfit(x, y, 1)[0]


@exercise.misconception
def no_logarithms(n, t, n_min=0):
    """That is the slope of t against n. On log–log axes both are logarithms."""
    return slope(n[n >= n_min], t[n >= n_min])


@exercise.misconception
def axes_exchanged(n, t, n_min=0):
    """You fitted log n against log t. Asked for is by what the time grows with n."""
    return 1 / fit_exponent(n, t, n_min) if np.ptp(t) else 0.0


@exercise.misconception
def half_logarithmic(n, t, n_min=0):
    """You took the logarithm of the times alone. A power law is straight if both axes have it."""
    return slope(n[n >= n_min], np.log(t[n >= n_min]))


@exercise.misconception
def different_bases(n, t, n_min=0):
    """The two logarithms have different bases: then the slope carries a factor."""
    return slope(np.log10(n[n >= n_min]), np.log(t[n >= n_min]))


@exercise.misconception
def intercept_returned(n, t, n_min=0):
    """You returned the intercept: np.polyfit gives the highest power first."""
    return np.polyfit(np.log(n[n >= n_min]), np.log(t[n >= n_min]), 1)[1]


@exercise.misconception
def ends_only(n, t, n_min=0):
    """You used the first and the last point. All points should have a say."""
    x, y = np.log(n[n >= n_min]), np.log(t[n >= n_min])
    return (y[-1] - y[0]) / (x[-1] - x[0])


@exercise.misconception
def through_the_origin(n, t, n_min=0):
    """Your line has no intercept, so the unit of the times changes its slope."""
    x, y = np.log(n[n >= n_min]), np.log(t[n >= n_min])
    return x @ y / (x @ x)


@exercise.misconception
def n_min_ignored(n, t, n_min=0):
    """The argument `n_min` has no effect."""
    return slope(np.log(n), np.log(t))


@exercise.misconception
def n_min_left_out(n, t, n_min=0):
    """You left out n = n_min itself: the points with n ≥ n_min stay."""
    return slope(np.log(n[n > n_min]), np.log(t[n > n_min]))
