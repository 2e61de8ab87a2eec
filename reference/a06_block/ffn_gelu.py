"""GELU and two of its approximations.

Source: Hendrycks & Gimpel (2016), "Gaussian error linear units (GELUs)", section 2.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree
from autograder.exercise.properties import keeps_dtype
from reference.helpers import GELU

exercise = Exercise(
    "ffn_gelu",
    title="The other activation",
    source="Hendrycks & Gimpel (2016), section 2",
    minutes=35,
    hints=[
        "Φ(x) = (1 + erf(x/√2))/2, and `math.erf` knows erf.",
        "Differentiate x Φ(x) as a product; the derivative of Φ is the density of the normal "
        "distribution.",
        "At the minimum the derivative is 0: look for its zero by halving an interval in "
        "which it changes sign.",
    ],
)

erf = np.vectorize(math.erf, otypes=[float])
AT = np.array([-3.0, 0, 1, 2])
ENDS = np.array([0.0, 1])


def normal_cdf(x):
    """Φ(x), the chance that a standard normal number is at most x."""
    return (1 + erf(x / math.sqrt(2))) / 2


def density(x):
    """Return Φ′(x), the density of standard normal numbers."""
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


@exercise.part(points=1, answer=Numbers())
def exact():
    """x Φ(x) at −3, 0, 1, 2."""
    return AT * normal_cdf(AT)


@exact.misconception()
def relu_values():
    """These are the values of the ReLU. GELU lets negative numbers through a little."""
    return np.maximum(AT, 0)


@exact.misconception(credit=0.5)
def values_of_the_tanh_form():
    """These are the values of the approximation with tanh. Far from 0 it shows: Φ is asked for."""
    return gelu(AT, "tanh")


@exact.misconception(credit=0.5)
def values_of_the_logistic_form():
    """These are the values of the approximation with a logistic function. Φ is asked for."""
    return gelu(AT, "sigmoid")


@exact.misconception()
def phi_alone():
    """That is Φ(x). It is multiplied by x."""
    return normal_cdf(AT)


@exact.misconception()
def density_instead():
    """You took the density in place of the distribution function."""
    return AT * density(AT)


@exact.misconception(credit=0.5)
def root_of_two_forgotten():
    """You put x itself into erf. It is x/√2."""
    return AT * (1 + erf(AT)) / 2


@exact.misconception()
def silu_values():
    """You took the logistic function. Here it is that of the normal distribution."""
    return AT / (1 + np.exp(-AT))


@exercise.part(points=0.5, answer=Numbers())
def slopes():
    """The derivative at 0 and at 1, two numbers."""
    return normal_cdf(ENDS) + ENDS * density(ENDS)


@slopes.misconception()
def slopes_of_the_relu():
    """The ReLU has the slope 1 right of 0. What does the product rule give for x Φ(x)?"""
    return np.array([1.0, 1.0])


@slopes.misconception()
def densities():
    """That is Φ′. By the product rule it is multiplied by x, and Φ is added."""
    return density(ENDS)


@slopes.misconception()
def density_not_multiplied():
    """The product rule: Φ′ is multiplied by x."""
    return normal_cdf(ENDS) + density(ENDS)


@slopes.misconception()
def second_term_subtracted():
    """The product rule adds: x Φ′ is added to Φ."""
    return normal_cdf(ENDS) - ENDS * density(ENDS)


@slopes.misconception()
def first_factor_alone():
    """That is Φ. The second term of the product rule is missing."""
    return normal_cdf(ENDS)


@exercise.part(points=0.5, answer=Numbers())
def minimum():
    """Where GELU is smallest, and its value there."""
    at = -0.75
    for _ in range(20):  # Newton's method for Φ(x) + x Φ′(x) = 0
        at -= (normal_cdf(at) + at * density(at)) / (density(at) * (2 - at * at))
    return np.array([at, at * normal_cdf(at)])


@minimum.misconception()
def value_at_minus_one():
    """You took a whole number. The lowest point lies a little to the right of it."""
    return np.array([-1, -normal_cdf(1.0)])


@minimum.misconception()
def minimum_of_silu():
    """That is the minimum of SiLU, x/(1 + e⁻ˣ)."""
    return np.array([-1.2784645, -0.2784645])


@exercise.reference(without=GELU)
def gelu(x: Float[ndarray, "*any"], approximate: str = "none") -> Float[ndarray, "*any"]:
    """Return x Φ(x), or an approximation of it."""
    if approximate == "tanh":
        gate = (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    elif approximate == "sigmoid":
        gate = 1 / (1 + np.exp(-1.702 * x))
    else:
        gate = normal_cdf(x)
    return (x * gate).astype(x.dtype)


@exercise.alternative
def with_the_complement(x, approximate="none"):
    """erfc and logistic functions: ½ (1 + tanh u) is a logistic function of 2u."""
    if approximate == "none":
        gate = np.vectorize(lambda t: 0.5 * math.erfc(-t / 2**0.5), otypes=[float])(x)
    else:
        u = 1.702 * x if approximate == "sigmoid" else 1.5957691216057308 * (x + 0.044715 * x**3)
        gate = 1 / (1 + np.exp(-u))
    return x * gate.astype(x.dtype)


@exercise.alternative
def number_by_number(x, approximate="none"):
    """A loop over all entries."""
    kinds = {
        "none": lambda t: t * 0.5 * (1.0 + math.erf(t / math.sqrt(2.0))),
        "tanh": lambda t: t / (1 + math.exp(-2 * (2 / math.pi) ** 0.5 * (t + 0.044715 * t**3))),
        "sigmoid": lambda t: t / (1 + math.exp(-1.702 * t)),
    }
    flat = [kinds[approximate](float(t)) for t in x.ravel()]
    return np.array(flat, x.dtype).reshape(x.shape)


@exercise.alternative
def by_a_table(x, approximate="none"):
    """Split into x/2 and an odd factor."""
    factor = {
        "none": lambda: erf(x * 0.5**0.5).astype(x.dtype),
        "tanh": lambda: np.tanh(np.sqrt(2 / np.pi).astype(x.dtype) * x * (1 + 0.044715 * x * x)),
        "sigmoid": lambda: np.tanh(0.851 * x),
    }[approximate]()
    return x / 2 + x / 2 * factor


@exercise.check(points=0.75, visible=True)
def exact_form(call, rng):
    """Without a second argument it is x Φ(x), for any shape."""
    for shape in ((7,), (2, 3, 4)):
        x = rng.uniform(-3, 3, shape)
        agree(call(x), gelu(x))


@exercise.check(points=0.5)
def tanh_form(call, rng):
    """The approximation with tanh."""
    x = rng.uniform(-3, 3, (4, 5))
    agree(call(x, "tanh"), gelu(x, "tanh"))


@exercise.check(points=0.5)
def sigmoid_form(call, rng):
    """The approximation with a logistic function."""
    x = rng.uniform(-3, 3, (4, 5))
    agree(call(x, "sigmoid"), gelu(x, "sigmoid"))


@exercise.check(points=0.25, after=exact_form)
def type_is_kept(call, rng):
    """float32 comes out as float32."""
    keeps_dtype(call, rng.uniform(-3, 3, 6))


@exercise.misconception(fatal="the function that was to be written is not there")
def always_relu(x, approximate="none"):
    """That is the ReLU."""
    return np.maximum(x, 0)


@exercise.misconception
def one_forgotten(x, approximate="none"):
    """erf runs from −1 to 1, and Φ from 0 to 1. How does one become the other?"""
    if approximate != "none":
        return gelu(x, approximate)
    return (x * erf(x / math.sqrt(2))).astype(x.dtype)


@exercise.misconception
def never_halved(x, approximate="none"):
    """Yours tends to 2x for large x. Φ, and what takes its place, ends at 1."""
    return gelu(x, approximate) * np.asarray(1 if approximate == "sigmoid" else 2, x.dtype)


@exercise.misconception(credit=0.4)
def silu_throughout(x, approximate="none"):
    """That is x σ(x), the SiLU. GELU has Φ in place of σ, or something that is nearer to it."""
    return (x / (1 + np.exp(-x))).astype(x.dtype)


@exercise.misconception
def sigmoid_of_the_other_sign(x, approximate="none"):
    """With that sign large x give 0. In the form with the logistic function they give x."""
    if approximate != "sigmoid":
        return gelu(x, approximate)
    return (x / (1 + np.exp(1.702 * x))).astype(x.dtype)


@exercise.misconception
def root_of_two_pi(x, approximate="none"):
    """In the tanh form the factor is √(2/π): yours is another root of 2 and π."""
    if approximate != "tanh":
        return gelu(x, approximate)
    inner = math.sqrt(2 * math.pi) * (x + 0.044715 * x**3)
    return (x * (1 + np.tanh(inner)) / 2).astype(x.dtype)


@exercise.misconception
def root_of_two(x, approximate="none"):
    """You put x itself into erf. It is x/√2."""
    if approximate != "none":
        return gelu(x, approximate)
    return (x * (1 + erf(x)) / 2).astype(x.dtype)


@exercise.misconception
def always_exact(x, approximate="none"):
    """The argument `approximate` has no effect."""
    return gelu(x)


@exercise.misconception
def approximations_exchanged(x, approximate="none"):
    """The two approximations are exchanged."""
    return gelu(x, {"tanh": "sigmoid", "sigmoid": "tanh"}.get(approximate, approximate))


@exercise.misconception
def tanh_without_the_cube(x, approximate="none"):
    """In the tanh form a term with x³ belongs inside."""
    if approximate != "tanh":
        return gelu(x, approximate)
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * x)) / 2


@exercise.misconception
def tanh_without_the_factor(x, approximate="none"):
    """In the tanh form the whole argument is multiplied by √(2/π)."""
    if approximate != "tanh":
        return gelu(x, approximate)
    return x * (1 + np.tanh(x + 0.044715 * x**3)) / 2


@exercise.misconception
def tanh_with_a_square(x, approximate="none"):
    """In the tanh form x stands to the third power inside, not squared."""
    if approximate != "tanh":
        return gelu(x, approximate)
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**2))) / 2


@exercise.misconception
def sigmoid_without_the_factor(x, approximate="none"):
    """In the form with the logistic function its argument is 1.702 x."""
    if approximate != "sigmoid":
        return gelu(x, approximate)
    return x / (1 + np.exp(-x))


@exercise.misconception
def double_always(x, approximate="none"):
    """The result is float64 whatever comes in. The type of x is kept."""
    return gelu(np.asarray(x, float), approximate)
