"""What layer norm cannot see: shift and scale, up to a sign and up to ε.

Source: Ba, Kiros & Hinton (2016), "Layer normalization", section 5.1.
"""

from dataclasses import replace

import numpy as np

from autograder.algebra import Chain
from autograder.exercise import Derivation, Exercise, Formula, Numbers

exercise = Exercise(
    "ln_invariance",
    title="Shift, scale, sign, epsilon",
    source="Ba et al. (2016), section 5.1",
    minutes=40,
    hints=[
        "Write down the mean of a x + b first: a mean is a sum, and a constant factor comes out.",
        "Deviations from the mean lose the shift b and keep the factor a; then they are squared.",
        "With ε, put both denominators next to each other and take a² out of the one that has it.",
    ],
)


@exercise.part(
    points=0.25,
    answer=Formula(
        "a b m v", practice=("The mean of the squares of the entries of a x.", "a^2*(v + m^2)")
    ),
)
def new_mean():
    """The mean of the entries of a x + b, where those of x have the mean m and the variance v."""
    return "a*m + b"


new_mean.mistakes(
    mean_not_shifted=("a*m", "The shift moves all entries, and their mean with them."),
    shift_scaled=(
        "a*(m + b)",
        "The entries are multiplied first and then shifted: b is not multiplied.",
    ),
    mean_not_scaled=("m + b", "The factor multiplies all entries, and so their mean."),
)


@exercise.part(
    points=0.25,
    answer=Formula("a b m v", practice=("The variance of the entries of (x − m)/b.", "v/b^2")),
)
def new_variance():
    """The variance of the entries of a x + b."""
    return "a^2*v"


new_variance.mistakes(
    factor_not_squared=("a*v", "Squared deviations get the factor squared."),
    variance_shifted=(
        "a^2*v + b",
        "The shift moves the mean along with the entries: their deviations stay.",
    ),
    variance_shifted_by_a_square=(
        "a^2*v + b^2",
        "The shift moves the mean along with the entries: their deviations stay the same.",
    ),
)


def chain(factor, target):
    """Return the derivation for an entry x of the vector that is scaled and shifted."""
    return Chain(
        start=f"({factor}*x + b - M)/sqrt(V)",
        target=target,
        names=("a", "b", "x", "m", "v", "M", "V", "y"),
        definitions={"M": f"{factor}*m + b", "V": "a^2*v", "y": "(x - m)/sqrt(v)"},
        assumptions={"a": "positive", "v": "positive", "M": "real", "V": "real"},
    )


OTHER_POSITIVE_STEPS = (
    "(a*x + b - M)^2/V",
    "(a*x + b - (a*m + b))^2/(a^2*v)",
    "a^2*(x - m)^2/(a^2*v)",
    "(x - m)^2/v",
    "y^2",
)


@exercise.part(points=0.75, answer=Derivation(chain("a", "y"), practice=OTHER_POSITIVE_STEPS))
def positive_steps():
    """The factor a, positive: from the definition to y, the entry of LN(x)."""
    return [
        "(a*x + b - M)/sqrt(V)",
        "(a*x + b - (a*m + b))/sqrt(a^2*v)",
        "a*(x - m)/(a*sqrt(v))",
        "(x - m)/sqrt(v)",
        "y",
    ]


@positive_steps.alternative
def root_first():
    """Put in the variance, take its root, and then the mean."""
    return [
        "(a*x + b - M)/sqrt(V)",
        "(a*x + b - M)/(a*sqrt(v))",
        "(a*x - a*m)/(a*sqrt(v))",
        "y",
    ]


@positive_steps.alternative
def in_latex():
    """With fractions."""
    return [
        "(a*x + b - M)/sqrt(V)",
        r"\frac{a x + b - a m - b}{\sqrt{a^2 v}}",
        r"\frac{a (x - m)}{a \sqrt{v}}",
        r"\frac{x - m}{\sqrt{v}}",
        "y",
    ]


@positive_steps.alternative
def through_y():
    """Write x − m as y √v."""
    return ["(a*x + b - M)/sqrt(V)", "a*(x - m)/sqrt(V)", "a*y*sqrt(v)/sqrt(V)", "y"]


positive_steps.mistakes(
    mean_not_shifted_put_in=(
        ["(a*x + b - M)/sqrt(V)", "(a*x + b - a*m)/(a*sqrt(v))", "y + b/(a*sqrt(v))"],
        "The shift moves all entries, and their mean with them.",
    ),
    shift_scaled_put_in=(
        [
            "(a*x + b - M)/sqrt(V)",
            "(a*x + b - a*(m + b))/(a*sqrt(v))",
            "y + (b - a*b)/(a*sqrt(v))",
        ],
        "The entries are multiplied first and then shifted: b is not multiplied.",
    ),
    mean_not_scaled_put_in=(
        ["(a*x + b - M)/sqrt(V)", "(a*x + b - m - b)/(a*sqrt(v))", "(a*x - m)/(a*sqrt(v))"],
        "The factor multiplies all entries, and so their mean.",
    ),
    factor_not_squared_put_in=(
        ["(a*x + b - M)/sqrt(V)", "a*(x - m)/sqrt(a*v)", "sqrt(a)*y"],
        "Squared deviations get the factor squared.",
    ),
)


OTHER_NEGATIVE_STEPS = (
    "(-a*x + b - M)*(x - m)",
    "(-a*x + b + a*m - b)*(x - m)",
    "-a*(x - m)^2",
    "-a*v*y^2",
)


@exercise.part(points=0.75, answer=Derivation(chain("-a", "-y"), practice=OTHER_NEGATIVE_STEPS))
def negative_steps():
    """The factor −a, negative: from the definition to what becomes of y."""
    return [
        "(-a*x + b - M)/sqrt(V)",
        "(-a*x + b - (-a*m + b))/sqrt(a^2*v)",
        "-a*(x - m)/(a*sqrt(v))",
        "-(x - m)/sqrt(v)",
        "-y",
    ]


@negative_steps.alternative
def root_first_again():
    """Put in the variance, take its root, and then the mean."""
    return [
        "(-a*x + b - M)/sqrt(V)",
        "(-a*x + b - M)/(a*sqrt(v))",
        "(-a*x + a*m)/(a*sqrt(v))",
        "(m - x)/sqrt(v)",
        "-y",
    ]


@negative_steps.alternative
def in_latex_again():
    """With fractions."""
    return [
        "(-a*x + b - M)/sqrt(V)",
        r"\frac{-a x + b + a m - b}{\sqrt{V}}",
        r"\frac{-a (x - m)}{a \sqrt{v}}",
        "-y",
    ]


@negative_steps.alternative
def through_y_again():
    """Write x − m as y √v."""
    return ["(b - a*x - M)/sqrt(V)", "-a*(x - m)/sqrt(V)", "-a*y*sqrt(v)/sqrt(V)", "-y"]


negative_steps.mistakes(
    mean_not_shifted_put_in_again=(
        ["(-a*x + b - M)/sqrt(V)", "(-a*x + b + a*m)/(a*sqrt(v))", "-y + b/(a*sqrt(v))"],
        "The shift moves all entries, and their mean with them.",
    ),
    shift_scaled_put_in_again=(
        [
            "(-a*x + b - M)/sqrt(V)",
            "(-a*x + b + a*(m + b))/(a*sqrt(v))",
            "-y + (b + a*b)/(a*sqrt(v))",
        ],
        "The entries are multiplied first and then shifted: b is not multiplied.",
    ),
    mean_not_scaled_put_in_again=(
        ["(-a*x + b - M)/sqrt(V)", "(-a*x + b - m - b)/(a*sqrt(v))", "(-a*x - m)/(a*sqrt(v))"],
        "The factor multiplies all entries, and so their mean.",
    ),
    factor_not_squared_put_in_again=(
        ["(-a*x + b - M)/sqrt(V)", "-a*(x - m)/sqrt(a*v)", "-sqrt(a)*y"],
        "Squared deviations get the factor squared.",
    ),
    sign_lost=(
        ["(-a*x + b - M)/sqrt(V)", "-a*(x - m)/(-a*sqrt(v))", "y"],
        "The root of the variance is positive whatever the factor's sign: where does the sign go?",
    ),
)


positive_numbers = Formula(
    "a sigma2 epsilon",
    assumptions={"a": "positive", "sigma2": "positive", "epsilon": "positive"},
)


def depends_on_the_factor(formula):
    """Only what depends on a can tell the two vectors apart."""
    return "a" in map(str, formula.free_symbols)


@exercise.part(
    points=2,
    answer=replace(
        positive_numbers,
        practice=(
            "By which factor an entry of LN(x) with 2 ε differs from one with ε.",
            "sqrt(sigma2 + epsilon)/sqrt(sigma2 + 2*epsilon)",
        ),
    ),
    carry_if=depends_on_the_factor,
)
def factor():
    """By which factor an entry of LN(a x) with ε differs from one of LN(x) without, for a > 0."""
    return "a*sqrt(sigma2)/sqrt(a**2*sigma2 + epsilon)"


@factor.alternative
def as_one_root():
    """Under one root."""
    return "sqrt(a**2*sigma2/(a**2*sigma2 + epsilon))"


@factor.alternative
def divided_through():
    """Divide above and below."""
    return "1/sqrt(1 + epsilon/(a**2*sigma2))"


@factor.alternative
def with_powers():
    """Powers in place of roots."""
    return "(1 + epsilon*a**(-2)/sigma2)**(-1/2)"


factor.mistakes(
    invariant_to_any_scaling=("1", "With ε in the root the factor a no longer cancels."),
    epsilon_outside=(
        "a*sqrt(sigma2)/(a*sqrt(sigma2) + epsilon)",
        "You added ε to the root. It stands beside the variance, inside.",
        0.5,
    ),
    deviations_not_scaled=(
        "sqrt(sigma2)/sqrt(a**2*sigma2 + epsilon)",
        "The deviations of a x from their mean are scaled as well, not their variance alone.",
        0.5,
    ),
    variance_not_scaled=(
        "a*sqrt(sigma2)/sqrt(sigma2 + epsilon)",
        "Below, the variance is that of a x.",
        0.5,
    ),
    epsilon_scaled=(
        "sqrt(sigma2)/sqrt(sigma2 + epsilon)",
        "There is no a in yours, as if ε were scaled with x. It is a fixed number.",
        0.5,
    ),
    deviation_of_x_left_out=(
        "a/sqrt(a**2*sigma2 + epsilon)",
        "LN(x) without ε divides by a root as well. Where does it stand in the ratio of the two?",
        0.5,
    ),
    upside_down=(
        "sqrt(a**2*sigma2 + epsilon)/(a*sqrt(sigma2))",
        "That is the reciprocal: does ε make the entries larger?",
        0.5,
    ),
    root_forgotten=(
        "a**2*sigma2/(a**2*sigma2 + epsilon)",
        "That is the factor's square: the norm divides by a root.",
        0.5,
    ),
)


@exercise.part(points=1, answer=Numbers(whole=True))
def factors(factor):
    """That factor at ε = 1e-5 for x = (1, 7, 9, 15) and for 0.001 x: two numbers."""
    return factor(a=np.array([1, 0.001]), sigma2=25, epsilon=1e-5)


factors.mistakes(
    both_one=(np.array([1.0, 1.0]), "For the small vector ε is not small beside the variance."),
    squares_of_them=(
        np.array([25 / (25 + 1e-5), 25e-6 / (25e-6 + 1e-5)]),
        "The norm divides by a root: these are the squares.",
        0.5,
    ),
    deviation_for_the_variance=(
        1 / np.sqrt(1 + 1e-5 / (5 * np.array([1, 1e-6]))),
        "You put the deviation, 5, in the place of the variance.",
    ),
    epsilon_beside_the_root=(
        np.array([5 / (5 + 1e-5), 5e-3 / (5e-3 + 1e-5)]),
        "You added ε to the root. It stands beside the variance, inside.",
    ),
)
