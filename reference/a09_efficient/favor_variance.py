"""How far random features are off, in closed form.

Source: Choromanski et al. (2021), "Rethinking attention with Performers", lemma 2.
"""

import numpy as np

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Formula, Numbers

exercise = Exercise(
    "favor_variance",
    title="How far off?",
    source="Choromanski et al. (2021), lemma 2",
    minutes=40,
    hints=[
        "The square of an exponential is an exponential again. Of which vector, if the mean "
        "that you found is to be used once more?",
        "For the formula multiply ‖x + y‖² out: it tells what ‖x‖² + ‖y‖², which stands in the "
        "factors in front, is in N and p.",
        "Every relative error here begins with a variance for the m that is asked for. Mind in "
        "which order you divide by m, take the root, and divide by e^(x·y).",
    ],
)

x, y = np.array([0.6, 0.2, -0.4]), np.array([0.3, -0.2, 0.2])
far = np.array([1.5, 0, 0])


def positive(x, y):
    """The variance of one positive feature."""
    z = (x + y) @ (x + y)
    return np.exp(z) * np.exp(2 * x @ y) * (1 - np.exp(-z))


def trigonometric(x, y):
    """The variance of one trigonometric feature."""
    apart = (x - y) @ (x - y)
    return np.exp(x @ x + y @ y) * (1 - np.exp(-apart)) ** 2 / 2


chain = IndexedChain(
    start="Var(c*exp(sum(w_k*z_k, k)))",
    target="c^2*exp(N)*(exp(N) - 1)",
    names=("c", "N"),
    indexed=("w", "z"),
    normal=("w",),
    definitions={"N": "sum(z_k^2, k)"},
    rules=(
        "variance of a multiple",
        "definition of Var",
        "linearity of E",
        "linearity of sums",
        "normal expectation",
        "definition",
    ),
    ends=Waypoint(
        "End with a product, one factor of which is a difference with 1.",
        lambda line: line.shows("exp(N) - 1", "1 - exp(N)", "1 - exp(-N)"),
    ),
)


@exercise.part(points=2, answer=Derivation(chain))
def variance_steps():
    """The variance of one product of positive features, with the factors in front called c."""
    return [
        "Var(c*exp(sum(w_k*z_k, k)))",
        "c^2*Var(exp(sum(w_k*z_k, k)))  # variance of a multiple",
        "c^2*(E(exp(sum(w_k*z_k, k))^2) - E(exp(sum(w_k*z_k, k)))^2)  # definition of Var",
        "c^2*(E(exp(2*sum(w_k*z_k, k))) - E(exp(sum(w_k*z_k, k)))^2)  # algebra",
        "c^2*(E(exp(sum(2*w_k*z_k, k))) - E(exp(sum(w_k*z_k, k)))^2)  # algebra",
        "c^2*(exp(sum((2*z_k)^2, k)/2) - exp(sum(z_k^2, k)/2)^2)  # normal expectation",
        "c^2*(exp(2*sum(z_k^2, k)) - exp(sum(z_k^2, k)))  # algebra",
        "c^2*(exp(2*N) - exp(N))  # definition",
        "c^2*exp(N)*(exp(N) - 1)  # algebra",
    ]


@variance_steps.alternative
def constant_kept_inside():
    """Take c out of the means, not out of the variance."""
    return [
        "E((c*exp(sum(w_k*z_k, k)))^2) - E(c*exp(sum(w_k*z_k, k)))^2",
        "E(c^2*exp(2*sum(w_k*z_k, k))) - E(c*exp(sum(w_k*z_k, k)))^2",
        "c^2*E(exp(2*sum(w_k*z_k, k))) - c^2*E(exp(sum(w_k*z_k, k)))^2",
        "c^2*E(exp(sum(w_k*(2*z_k), k))) - c^2*E(exp(sum(w_k*z_k, k)))^2",
        "c^2*exp(sum((2*z_k)^2, k)/2) - c^2*exp(sum(z_k^2, k)/2)^2",
        "c^2*exp(2*sum(z_k^2, k)) - c^2*exp(sum(z_k^2, k))",
        "c^2*exp(N)*(exp(N) - 1)",
    ]


@variance_steps.alternative
def algebra_left_out():
    """In as few lines as there are rules."""
    return [
        "c^2*Var(exp(sum(w_k*z_k, k)))",
        "c^2*(E(exp(2*sum(w_k*z_k, k))) - E(exp(sum(w_k*z_k, k)))^2)",
        "c^2*(exp(2*sum(z_k^2, k)) - exp(sum(z_k^2, k)/2)^2)",
        "c^2*exp(N)*(exp(N) - 1)",
    ]


@variance_steps.alternative
def squared_mean_first():
    """Compute the second term before the first one."""
    return [
        "c^2*Var(exp(sum(w_j*z_j, j)))",
        "c^2*(E(exp(sum(w_j*z_j, j))^2) - E(exp(sum(w_j*z_j, j)))^2)",
        "c^2*(E(exp(sum(2*w_j*z_j, j))) - E(exp(sum(w_j*z_j, j)))^2)",
        "c^2*(exp(sum((2*z_j)^2/2, j)) - exp(sum(z_j^2/2, j))^2)",
        "c^2*(exp(sum((2*z_j)^2/2, j)) - exp(N))",
        "c^2*(exp(2*N) - exp(N))",
        "c^2*exp(N)*(exp(N) - 1)",
    ]


def of_both(formula):
    """Does it depend on the vectors at all? From one that doesn't no number follows."""
    return {"N", "p"} <= {str(symbol) for symbol in formula.free_symbols}


@exercise.part(
    points=1,
    answer=Formula(
        "m N p",
        practice=(
            ("The variance of a mean of m independent draws, with mean p and mean square N."),
            "(N - p^2)/m",
        ),
    ),
    carry_if=of_both,
)
def var_formula():
    """The variance of the positive estimate, in m, N = ‖x + y‖² and p = x · y."""
    return "exp(2*p)*(exp(N) - 1)/m"


@var_formula.alternative
def as_published():
    """Another form of it."""
    return "exp(N)*exp(2*p)*(1 - exp(-N))/m"


var_formula.mistakes(
    for_one_feature=(
        "exp(2*p)*(exp(N) - 1)",
        "That is for m = 1. A mean of m independent terms varies less.",
        0.5,
    ),
    m_squared=(
        "exp(2*p)*(exp(N) - 1)/m^2",
        "The mean has 1/m² in front of a variance, but m terms are added up.",
        0.5,
    ),
    root_of_m=(
        "exp(2*p)*(exp(N) - 1)/sqrt(m)",
        "A mean of m independent terms has 1/m of the variance. The root belongs to the deviation.",
        0.5,
    ),
    square_of_the_mean_left_in=(
        "exp(2*p)*exp(N)/m",
        "That is the mean of the square, over m: subtract the square of the mean.",
        0.5,
    ),
    exponential_not_squared=(
        "exp(p)*(exp(N) - 1)/m",
        "exp(x · y) is a factor of what varies. In a variance a factor is squared.",
        0.5,
    ),
    relative_to_the_kernel=(
        "(exp(N) - 1)/m",
        "That is the variance of the estimate over exp(x · y), so of the relative error.",
        0.5,
    ),
    c_forgotten=(
        "exp(N)*(exp(N) - 1)/m",
        "c² is missing: it is exp(−‖x‖² − ‖y‖²), which N and p determine.",
    ),
    c_not_squared=(
        "exp(p + N/2)*(exp(N) - 1)/m",
        "You put c in once. In a variance a factor is squared.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def kernel():
    """exp(x · y) for the first pair."""
    return np.exp(x @ y)


kernel.mistakes(
    exponent_alone=(x @ y, "That is x · y. Asked for is its exponential."),
    gaussian_kernel=(
        np.exp(-((x - y) @ (x - y)) / 2),
        "That is exp(−‖x − y‖²/2), the Gaussian kernel.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def var_positive():
    """The variance of the positive estimate with m = 1."""
    return positive(x, y)


@var_positive.alternative
def by_the_formula(var_formula):
    """Put the numbers into the formula."""
    return var_formula(m=1, N=(x + y) @ (x + y), p=x @ y)


var_positive.mistakes(
    second_moment=(
        np.exp((x + y) @ (x + y)) * np.exp(2 * x @ y),
        "That is the mean of the square: subtract the square of the mean.",
    ),
    difference_for_sum=(
        np.exp(2 * x @ y) * (np.exp((x - y) @ (x - y)) - 1),
        "Here the sum x + y comes in.",
    ),
)


@var_positive.misconception()
def standard_deviation():
    """That is the standard deviation."""
    return np.sqrt(positive(x, y))


@var_positive.misconception()
def kernel_not_squared():
    """The variance goes with the square of exp(x · y)."""
    return positive(x, y) / np.exp(x @ y)


@exercise.part(points=0.5, answer=Numbers())
def var_trigonometric():
    """The variance of the trigonometric estimate with m = 1."""
    return trigonometric(x, y)


@var_trigonometric.misconception()
def half_forgotten():
    """A cosine of a random angle has half the square: a factor ½ is missing."""
    return 2 * trigonometric(x, y)


@var_trigonometric.misconception()
def sum_for_difference():
    """Here the difference x − y comes in."""
    z = (x + y) @ (x + y)
    return np.exp(x @ x + y @ y) * (1 - np.exp(-z)) ** 2 / 2


@var_trigonometric.misconception()
def bracket_not_squared():
    """The bracket comes in squared."""
    apart = (x - y) @ (x - y)
    return np.exp(x @ x + y @ y) * (1 - np.exp(-apart)) / 2


@exercise.part(points=0.5, answer=Numbers())
def relative(kernel, var_positive):
    """The standard deviation of the positive estimate with m = 1000, relative to exp(x · y)."""
    return np.sqrt(var_positive / 1000) / kernel


@relative.alternative
def relative_by_the_formula(var_formula, kernel):
    """Put m = 1000 into the formula."""
    return np.sqrt(var_formula(m=1000, N=(x + y) @ (x + y), p=x @ y)) / kernel


@relative.misconception()
def variance_over_thousand(kernel, var_positive):
    """That is made of the variance. Take the root."""
    return var_positive / 1000 / kernel


@relative.misconception()
def not_relative(kernel, var_positive):
    """Divide by what is estimated."""
    return np.sqrt(var_positive / 1000)


@relative.misconception()
def relative_variance(kernel, var_positive):
    """That is the relative variance. Take the root."""
    return var_positive / 1000 / kernel**2


@relative.misconception()
def root_forgotten_of_m(kernel, var_positive):
    """A mean of m features has 1/m of the variance, so 1/√m of the deviation."""
    return np.sqrt(var_positive) / 1000 / kernel


@exercise.part(points=0.5, answer=Numbers())
def opposite():
    """For x = −y = (1.5, 0, 0): exp(x · y) and the variance of the positive estimate, m = 1."""
    return np.array([np.exp(-far @ far), 0])


@opposite.alternative
def opposite_by_the_formula(var_formula):
    """Put N = 0 into the formula."""
    return np.array([np.exp(-far @ far), var_formula(m=1, N=0, p=-far @ far)])


opposite.mistakes(
    sign_of_the_product=(
        np.array([np.exp(far @ far), 0]),
        "x and y point away from each other: x · y is negative.",
    ),
    difference_taken=(
        np.array([np.exp(-far @ far), np.exp(-2 * far @ far) * (np.exp(4 * far @ far) - 1)]),
        "It is x + y that comes in, and that is 0 here.",
    ),
    second_moment_of_opposites=(
        np.array([np.exp(-far @ far), np.exp(-2 * far @ far)]),
        "That is the mean of the square: subtract the square of the mean.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def opposite_relative():
    """For them the relative standard deviation of the trigonometric estimate, m = 1000."""
    return np.sqrt(trigonometric(far, -far) / 1000) / np.exp(-far @ far)


@opposite_relative.alternative
def with_the_same_constant(var_trigonometric):
    """With the constant in front that the first pair's variance has."""
    constant = var_trigonometric / trigonometric(x, y)
    return np.sqrt(constant * trigonometric(far, -far) / 1000) / np.exp(-far @ far)


@opposite_relative.misconception()
def opposite_not_relative():
    """Divide by what is estimated, which is small here."""
    return np.sqrt(trigonometric(far, -far) / 1000)


@opposite_relative.misconception()
def opposite_variance():
    """That is made of the variance. Take the root."""
    return trigonometric(far, -far) / 1000 / np.exp(-far @ far)


@opposite_relative.misconception()
def opposite_single_feature():
    """That is for m = 1."""
    return np.sqrt(trigonometric(far, -far)) / np.exp(-far @ far)


@exercise.part(points=0.5, answer=Numbers())
def growth():
    """The relative deviation of the positive estimate for x = y, m = 1, of norm 0.5, 1 and 2."""
    return np.sqrt(np.exp(4 * np.array([0.5, 1, 2]) ** 2) - 1)


growth.mistakes(
    growth_squared=(
        np.exp(4 * np.array([0.5, 1, 2]) ** 2) - 1,
        "These are relative variances. Take the root.",
    ),
    norm_taken_once=(
        np.sqrt(np.exp(np.array([0.5, 1, 2]) ** 2) - 1),
        "x + y is twice as long as x, so its square is 4r².",
    ),
    squares_added=(
        np.sqrt(np.exp(2 * np.array([0.5, 1, 2]) ** 2) - 1),
        "‖x‖² + ‖y‖² leaves the mixed term out: x + y is twice as long as x.",
    ),
    norm_not_squared_here=(
        np.sqrt(np.exp(4 * np.array([0.5, 1, 2])) - 1),
        "The norm comes in squared.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Like $1/m$, with a constant that depends on the norms.",
            "Like $1/\\sqrt m$, with a constant that grows exponentially with the squares of "
            "the norms.",
            "Like $1/\\sqrt m$, with the same constant for all vectors.",
            "It falls exponentially with $m$.",
        ]
    ),
)
def law():
    """How does the error behave?"""
    return "B"


law.mistakes(
    one_over_m=("A", "The variance falls like 1/m. The error is its root."),
    constant_does_not_grow=("C", "Look at your three numbers for longer and longer vectors."),
    exponentially_in_m=("D", "Random features are averaged, and averages converge slowly."),
)
