"""The Gaussian factor of positive random features.

Source: Choromanski et al. (2021), "Rethinking attention with Performers", lemma 1.
"""

import numpy as np
import sympy

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Formula, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "favor_derive",
    title="The missing Gaussian factor",
    source="Choromanski et al. (2021), lemma 1",
    minutes=40,
    hints=[
        "For the constant multiply the square out and compare with ωz − ω²/2. What is left over "
        "holds no ω.",
        "In `mean_steps` bring both exponentials under one sum first, so that the rule meets a "
        "single vector in the place of z.",
        "The mean has a factor of q and a factor of k that softmax doesn't need. Each feature "
        "can see to its own; and how do two features share the m?",
    ],
)


@exercise.variant
def draw(rng):
    """q, k: (2,), a query and a key; p: (2,), another query, K: (3, 2), its keys."""
    while True:
        q, k, p = rng.integers(-1, 2, (3, 2))
        K = rng.integers(-1, 3, (3, 2))
        norms = (K**2).sum(axis=1)
        if np.all(q + k == 0) or not p.any() or len(set(K @ p)) < 2 or len(set(norms)) < 3:
            continue
        return {"q": q, "k": k, "p": p, "K": K}


@exercise.part(
    points=0.5,
    answer=Formula(
        "z", practice=("What is left of 4ωz − ω² when the square of ω − 2z is complete.", "4*z^2")
    ),
)
def constant():
    """What is left of ωz − ω²/2 when the square of ω − z is complete."""
    return "z^2/2"


constant.mistakes(
    half_lost=("z^2", "Multiply out −(ω − z)²/2: what is too much in it?"),
    sign_lost=("-z^2/2", "Multiply out −(ω − z)²/2 and compare: the sign is the other one."),
    linear_term=("z", "That still has z as in ωz. The square takes that term along."),
)


def comes_in_factors(line):
    """Do exponentials stand side by side?"""
    return any(
        sum(isinstance(factor, sympy.exp) for factor in above) > 1 for above, _ in line.products
    )


chain = IndexedChain(
    start="E(exp(sum(w_k*x_k, k))*exp(sum(w_k*y_k, k)))",
    target="exp(sum(x_k*y_k, k))*exp(sum(x_k^2, k)/2)*exp(sum(y_k^2, k)/2)",
    indexed=("w", "x", "y"),
    normal=("w",),
    rules=("linearity of sums", "normal expectation"),
    ends=Waypoint(
        "End with a product: what depends on both vectors is a factor by itself.", comes_in_factors
    ),
)


@exercise.part(points=1.5, answer=Derivation(chain))
def mean_steps():
    """The mean of a product of two exponentials, by the exponential of one sum."""
    return [
        "E(exp(sum(w_k*x_k, k))*exp(sum(w_k*y_k, k)))",
        "E(exp(sum(w_k*x_k, k) + sum(w_k*y_k, k)))  # algebra",
        "E(exp(sum(w_k*(x_k + y_k), k)))  # linearity of sums",
        "exp(sum((x_k + y_k)^2, k)/2)  # normal expectation",
        "exp(sum(x_k^2, k)/2 + sum(x_k*y_k, k) + sum(y_k^2, k)/2)  # linearity of sums",
        "exp(sum(x_k*y_k, k))*exp(sum(x_k^2, k)/2)*exp(sum(y_k^2, k)/2)  # algebra",
    ]


@mean_steps.alternative
def in_larger_steps():
    """Leave the algebra to the reader."""
    return [
        "E(exp(sum(w_k*(x_k + y_k), k)))",
        "exp(sum((x_k + y_k)^2, k)/2)",
        "exp(sum(x_k*y_k, k))*exp(sum(x_k^2, k)/2)*exp(sum(y_k^2, k)/2)",
    ]


@mean_steps.alternative
def square_multiplied_out():
    """Multiply the square out under the sum."""
    return [
        "E(exp(sum(w_k*x_k + w_k*y_k, k)))",
        "exp(sum((x_k + y_k)^2/2, k))",
        "exp(sum(x_k^2 + 2*x_k*y_k + y_k^2, k)/2)",
        "exp(sum(x_k*y_k, k))*exp(sum(x_k^2, k)/2)*exp(sum(y_k^2, k)/2)",
    ]


@mean_steps.alternative
def other_indices():
    """Other names for what is summed over."""
    return [
        "E(exp(sum(w_i*x_i, i) + sum(w_j*y_j, j)))",
        "E(exp(sum(w_i*(x_i + y_i), i)))",
        "exp(sum((x_i + y_i)^2, i)/2)",
        "exp(sum(x_k*y_k, k))*exp(sum(x_k^2, k)/2)*exp(sum(y_k^2, k)/2)",
    ]


@exercise.part(
    points=3, answer=Formula("w x m", assumptions={"w": "vector", "x": "vector", "m": "positive"})
)
def feature():
    """Feature j of x, with ω_j called w, for m features in all."""
    return "exp(w*x - norm(x)^2/2)/sqrt(m)"


@feature.alternative
def factors_apart():
    """The Gaussian factor as a factor."""
    return "m^(-1/2)*exp(-norm(x)^2/2)*exp(w*x)"


feature.mistakes(
    gaussian_factor_missing=(
        "exp(w*x)/sqrt(m)",
        "The mean of the product then has factors that depend on q and k. Divide them away.",
        0.3,
    ),
    published_features=(
        "sqrt(2/m)*exp(w*x)",
        "These are the features of the page. What do they estimate?",
    ),
    number_of_features_forgotten=(
        "exp(w*x - norm(x)^2/2)",
        "m such products are added up. On average that is m times too much.",
        0.5,
    ),
    divided_by_m=(
        "exp(w*x - norm(x)^2/2)/m",
        "A product of two features has this factor twice.",
        0.5,
    ),
    whole_square_taken_off=(
        "exp(w*x - norm(x)^2)/sqrt(m)",
        "The factor that is too much is exp(‖x‖²/2).",
        0.5,
    ),
    norm_not_squared=(
        "exp(w*x - norm(x)/2)/sqrt(m)",
        "The factor that is too much is exp(‖x‖²/2): the norm comes in squared.",
        0.5,
    ),
    factor_the_wrong_way=(
        "exp(w*x + norm(x)^2/2)/sqrt(m)",
        "The factor is too much: divide by it.",
        0.3,
    ),
    norm_of_omega=(
        "exp(w*x - norm(w)^2/2)/sqrt(m)",
        "The factor that is too much depends on x, not on ω.",
        0.3,
    ),
)


@exercise.part(points=1, answer=Numbers())
def target(q, k):
    """What the product of features is to be on average, for your q and k."""
    return np.exp(q @ k)


@target.misconception()
def target_scaled(q, k):
    """You divided by √2. No scale is asked for here."""
    return np.exp(q @ k / np.sqrt(2))


@target.misconception()
def gaussian_kernel(q, k):
    """That is exp(−‖q − k‖²/2), the Gaussian kernel. Softmax takes the exponential of q · k."""
    return np.exp(-((q - k) @ (q - k)) / 2)


@target.misconception()
def the_score_itself(q, k):
    """That is the score. What is estimated is its exponential."""
    return q @ k


@exercise.part(points=1, answer=Numbers())
def expected(q, k):
    """What the product of the features √(2/m) exp(ω · x) is on average, for your q and k."""
    return 2 * np.exp((q + k) @ (q + k) / 2)


@expected.misconception(credit=0.3)
def constant_forgotten(q, k):
    """The constant √(2/m) comes in twice, and m features are added up."""
    return np.exp((q + k) @ (q + k) / 2)


@expected.misconception(credit=0.3)
def factor_forgotten(q, k):
    """The product of both exponentials is exp(ω · (q + k)). What is its mean?"""
    return 2 * np.exp(q @ k)


@expected.misconception()
def norms_apart(q, k):
    """You multiplied two means. The same ω is in both exponentials: they aren't independent."""
    return 2 * np.exp((q @ q + k @ k) / 2)


@exercise.part(points=1, answer=Numbers())
def right(p, K):
    """The weights softmax(K p) of the query p, shape (3,)."""
    return softmax((K @ p).astype(float))


@right.misconception()
def right_scaled(p, K):
    """You divided by √2. No scale is asked for here."""
    return softmax(K @ p / np.sqrt(2))


@right.misconception()
def right_not_normalised(p, K):
    """These are exponentials of the scores. Weights add up to 1."""
    return np.exp(K @ p)


@right.misconception()
def right_by_distance(p, K):
    """These are weights by distance: the norms of the keys came in."""
    return softmax(-((K - p) ** 2).sum(axis=1) / 2)


@exercise.part(points=1, answer=Numbers())
def wrong(p, K):
    """The weights to which the features √(2/m) exp(ω · x) tend for m → ∞, shape (3,)."""
    return softmax(((p + K) ** 2).sum(axis=1) / 2)


@wrong.misconception()
def constant_blamed(p, K):
    """A constant cancels. There is something else in the mean that depends on the key."""
    return softmax((K @ p).astype(float))


@wrong.misconception()
def wrong_not_normalised(p, K):
    """These are similarities. Weights add up to 1, wrong ones too."""
    return np.exp(((p + K) ** 2).sum(axis=1) / 2)


@wrong.misconception()
def factor_below(p, K):
    """You divided by the factor of the keys. It stands there because nobody divides by it."""
    return softmax(K @ p - (K**2).sum(axis=1) / 2)


@wrong.misconception()
def half_forgotten(p, K):
    """In the mean of exp(ω · z) only half the square of z is in the exponent."""
    return softmax(((p + K) ** 2).sum(axis=1).astype(float))


@wrong.misconception()
def whole_norm(p, K):
    """The factor of a key is exp(‖k‖²/2)."""
    return softmax(K @ p + (K**2).sum(axis=1))


@exercise.part(
    points=1,
    answer=Choice(
        [
            "The products of features are divided by $\\sqrt{d_k}$.",
            "Queries and keys are both divided by $\\sqrt{d_k}$, before the features.",
            "Queries and keys are both divided by $d_k^{1/4}$, before the features.",
            "Nowhere: it cancels in the quotient.",
        ]
    ),
)
def root():
    """Where does 1/√d_k go?"""
    return "C"


root.mistakes(
    after_the_product=(
        "A",
        "The product of features is no score any more: dividing it does not divide the exponent.",
    ),
    each_by_the_root=("B", "Then the exponent is divided by √d_k twice."),
    of_no_importance=("D", "A factor in an exponent does not cancel."),
)
