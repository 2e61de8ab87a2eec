"""The derivative of normalisation.

Source: Ba, Kiros & Hinton (2016), "Layer normalization"; Xu et al. (2019), "Understanding and
improving layer normalization", section 3.
"""

import numpy as np
import sympy

from autograder.algebra import Chain, parse
from autograder.exercise import Count, Derivation, Exercise, Formula, Numbers

exercise = Exercise(
    "ln_jacobian",
    title="The derivative of normalisation",
    source="Xu et al. (2019), section 3",
    minutes=65,
    hints=[
        "The mean depends on every entry, with the slope 1/d. Keep that term in every derivative.",
        "Differentiate σ² first, and then the root; deviations add up to 0, which makes one "
        "sum vanish.",
        "For the rank look for directions in which the output doesn't change: what does layer"
        " norm not see?",
    ],
)

# One entry t of x varies; R and Q are the sums of the other entries and of their squares, u is one
# of them. So all of this holds for any d.
names = ("t", "u", "d", "R", "Q", "m", "s", "y", "z")
definitions = {
    "m": "(t + R)/d",
    "s": "sqrt((t^2 + Q)/d - m^2)",
    "y": "(u - m)/s",
    "z": "(t - m)/s",
}


def chain(start, target, final_names, factor=1):
    """Return a derivation about one varying entry, where ∂s/∂t is so many times z/d."""
    return Chain(
        start=start,
        target=target,
        names=names,
        definitions=definitions | {"s": f"sqrt(({factor})*((t^2 + Q)/d - m^2))"},
        final_names=final_names,
        assumptions={"d": "positive", "Q": "positive"},
    )


sigma_chain = chain("diff(s, t)", "z/d", ("z", "d"))
other_chain = chain("diff((u - m)/s, t)", "-(1 + y*z)/(d*s)", ("y", "z", "d", "s"))
own_chain = chain("diff((t - m)/s, t)", "(1 - 1/d - z^2/d)/s", ("z", "d", "s"))


def own_factor(sigma_steps):
    """Return how many times z/d the student's own ∂s/∂t is, if it is a multiple of that."""
    z, d = parse("z"), parse("d")
    factor = sympy.simplify(parse(sigma_steps.end) * d / z)
    if not factor.is_positive:
        raise ValueError("from this nothing follows")
    return factor


OTHER_SIGMA_STEPS = (
    "diff(m^2, t)",
    "2*m*diff(m, t)",
    "2*m/d",
)


@exercise.part(points=1, answer=Derivation(sigma_chain, practice=OTHER_SIGMA_STEPS))
def sigma_steps():
    """∂σ/∂t in terms of z and d."""
    return [
        "diff(s, t)",
        "diff((t^2 + Q)/d - m^2, t)/(2*s)",
        "(2*t/d - 2*m*diff(m, t))/(2*s)",
        "(t/d - m/d)/s",
        "z/d",
    ]


@sigma_steps.alternative
def by_the_square():
    """σ ∂σ is half of ∂σ²."""
    return ["diff(s, t)", "diff(s^2, t)/(2*s)", "(2*t/d - 2*m/d)/(2*s)", "(t - m)/(d*s)", "z/d"]


@sigma_steps.alternative
def root_written_out():
    """Differentiate the root as it stands."""
    return [
        "diff(sqrt((t^2 + Q)/d - m^2), t)",
        "1/(2*sqrt((t^2 + Q)/d - m^2))*(2*t/d - 2*m*(1/d))",
        "(t - m)/(d*s)",
        "z/d",
    ]


@sigma_steps.alternative
def mean_put_in():
    """Without the name m."""
    return [
        "diff(sqrt((t^2 + Q)/d - (t + R)^2/d^2), t)",
        "(2*t/d - 2*(t + R)/d^2)/(2*s)",
        "(t - (t + R)/d)/(d*s)",
        "z/d",
    ]


@exercise.part(points=1.5, answer=Derivation(other_chain))
def other_steps():
    """∂y/∂t for another entry u, in terms of y, z, d and s."""
    return [
        "diff((u - m)/s, t)",
        "(diff(u - m, t)*s - (u - m)*diff(s, t))/s^2",
        "(-s/d - (u - m)*z/d)/s^2",
        "-(1 + y*z)/(d*s)",
    ]


@other_steps.restated
def other_by_the_own_deviation(sigma_steps):
    """With the student's own derivative of the deviation."""
    factor = own_factor(sigma_steps)
    target = f"-(1 + ({factor})*y*z)/(d*s)"
    return chain("diff((u - m)/s, t)", target, ("y", "z", "d", "s"), factor)


@other_steps.alternative
def other_by_product_rule():
    """A product with 1/σ."""
    return [
        "diff((u - m)/s, t)",
        "-diff(m, t)/s + (u - m)*diff(1/s, t)",
        "-1/(d*s) - (u - m)/s^2*z/d",
        "(-1/d - y*z/d)/s",
    ]


@other_steps.alternative
def other_by_y():
    """y σ is u − m, so y′ σ + y σ′ is −1/d."""
    return [
        "diff(y, t)",
        "(diff(y*s, t) - y*diff(s, t))/s",
        "(-1/d - y*diff(s, t))/s",
        "(-1/d - y*z/d)/s",
    ]


@other_steps.alternative
def other_in_latex():
    """With fractions."""
    return [
        "diff((u - m)/s, t)",
        r"\frac{-\frac{1}{d} s - (u - m) \frac{z}{d}}{s^2}",
        r"-\frac{1}{d s} - \frac{y z}{d s}",
    ]


OTHER_OWN_STEPS = (
    "diff(z*s, t)",
    "diff(t - m, t)",
    "1 - diff(m, t)",
    "1 - 1/d",
)


@exercise.part(points=1.5, answer=Derivation(own_chain, practice=OTHER_OWN_STEPS))
def own_steps():
    """∂z/∂t for the entry itself, in terms of z, d and s."""
    return [
        "diff((t - m)/s, t)",
        "(diff(t - m, t)*s - (t - m)*diff(s, t))/s^2",
        "((1 - 1/d)*s - (t - m)*z/d)/s^2",
        "(1 - 1/d)/s - z^2/(d*s)",
    ]


@own_steps.restated
def own_by_the_own_deviation(sigma_steps):
    """With the student's own derivative of the deviation."""
    factor = own_factor(sigma_steps)
    target = f"(1 - 1/d - ({factor})*z^2/d)/s"
    return chain("diff((t - m)/s, t)", target, ("z", "d", "s"), factor)


@own_steps.alternative
def own_by_product_rule():
    """A product with 1/σ."""
    return [
        "diff((t - m)/s, t)",
        "diff(t - m, t)/s + (t - m)*diff(1/s, t)",
        "(1 - 1/d)/s - (t - m)/s^2*z/d",
        "(1 - 1/d - z^2/d)/s",
    ]


@own_steps.alternative
def own_by_z():
    """z σ is t − m."""
    return [
        "diff(z, t)",
        "(diff(z*s, t) - z*diff(s, t))/s",
        "(1 - 1/d - z*diff(s, t))/s",
        "(1 - 1/d - z*z/d)/s",
    ]


@own_steps.alternative
def own_in_latex():
    """With fractions."""
    return [
        "diff((t - m)/s, t)",
        r"\frac{(1 - \frac{1}{d}) s - (t - m) \frac{z}{d}}{s^2}",
        r"\frac{d - 1 - z^2}{d s}",
    ]


X = np.array([1, 2, 4])


@exercise.part(points=0.5, answer=Numbers())
def sigma():
    """The deviation σ of (1, 2, 4)."""
    return X.std()


@sigma.misconception()
def over_one_less():
    """You divided by d − 1. Layer norm divides by d."""
    return X.std(ddof=1)


@sigma.misconception(credit=0.5)
def variance_instead():
    """That is the variance, σ². Its root is asked for."""
    return X.var()


def jacobian(sigma, *, ones=1, own=1):
    """(I − 11ᵀ/d − x̂x̂ᵀ/d)/σ, each subtracted term as often as is said."""
    xhat = (X - X.mean()) / sigma
    return (np.eye(3) - ones / 3 - own * np.outer(xhat, xhat) / 3) / sigma


@exercise.part(points=1.5, answer=Numbers())
def J(sigma):
    """The Jacobian at (1, 2, 4), three rows."""
    return jacobian(sigma)


@J.misconception(credit=0.5)
def second_term_missing(sigma):
    """x moves σ as well: the term with x̂ is missing."""
    return jacobian(sigma, own=0)


@J.misconception(credit=0.5)
def mean_held_fixed(sigma):
    """x moves the mean as well: the term with the matrix of ones is missing."""
    return jacobian(sigma, ones=0)


@J.misconception()
def each_by_itself(sigma):
    """You held mean and deviation fixed. Every entry of x moves both."""
    return jacobian(sigma, ones=0, own=0)


@J.misconception(credit=0.5)
def second_term_added(sigma):
    """Both terms are subtracted; you added the one with x̂."""
    return jacobian(sigma, own=-1)


@J.misconception(credit=0.5)
def not_divided(sigma):
    """The division by σ is missing."""
    return jacobian(sigma) * sigma


@J.misconception(credit=0.5)
def deviations_not_normalised(sigma):
    """In the last term stand the normalised entries, not the deviations."""
    c = X - X.mean()
    return (np.eye(3) - 1 / 3 - np.outer(c, c) / 3) / sigma


@exercise.part(points=0.5, answer=Count())
def ranks():
    """The rank of the Jacobian at (1, 2, 4), and at (1, 2, 4, 8, 16): two whole numbers."""
    return [1, 3]


ranks.mistakes(
    full_ranks=([3, 5], "Multiply the matrix by a vector of ones."),
    one_null_vector=(
        [2, 4],
        "Ones are mapped to 0. So is another vector: into which direction may x move unseen?",
    ),
    directions_lost=(
        [2, 2],
        "So many directions are mapped to 0. The rank counts those that are left.",
    ),
    one_in_both=(
        [1, 1],
        "The first one is right. With five entries more of the directions are left.",
    ),
)


@exercise.part(points=0.5, answer=Formula("d"))
def rank_general(ranks):
    """The rank of the Jacobian at an x of d entries that differ enough (d ≥ 3)."""
    return f"d - {3 - ranks[0]}"


rank_general.mistakes(
    one_direction_lost=("d - 1", "Two directions are lost: a shift of all entries is one of them."),
    nothing_lost=(
        "d",
        "A shift of all entries changes nothing, so one direction at least is lost.",
    ),
    always_one=("1", "That is the rank for three entries. With more of them there is more to see."),
)
