"""Attention by random features: an estimate of the exponential, in linear time.

Source: Choromanski et al. (2021), "Rethinking attention with Performers", section 2.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, Witness, agree, alike, grows, require, seeded
from reference.helpers import attention

exercise = Exercise(
    "favor_code",
    title="Performer attention",
    source="Choromanski et al. (2021), section 2",
    minutes=75,
    hints=[
        "One product of matrices gives all ω · x. The other part of the exponent depends on the "
        "row of X alone: keep its axis, so that the shapes fit.",
        "In `performer_attention` work with exponents until all of them are known. A largest "
        "one may come off: which axis is it taken over for queries, and which for keys?",
        "A power law is a straight line between logarithms; `np.polyfit` finds the slope of a "
        "line.",
    ],
)


def exponent(X, W):
    """ω · x − ‖x‖²/2 for all rows of both."""
    return X @ W.T - (X**2).sum(axis=-1, keepdims=True) / 2


@exercise.reference
def favor_features(X: Float[ndarray, "*batch n d"], W: Float[ndarray, "m d"]):
    """Return exp(ω_j · x − ‖x‖²/2)/√m for each row x of X and ω_j of W."""
    return np.exp(exponent(X, W)) / np.sqrt(len(W))


@exercise.alternative
def factor_by_factor(X, W):
    """The Gaussian factor by itself."""
    factor = np.exp(-np.sum(X * X, axis=-1) / 2)[..., None]
    return factor * np.exp(np.matmul(X, W.T)) * len(W) ** -0.5


@exercise.alternative
def with_einsum(X, W):
    """Name the indices: width d, features m."""
    products = np.einsum("...nd,md->...nm", X, W)
    return (
        np.exp(products - 0.5 * np.einsum("...nd,...nd->...n", X, X)[..., None]) / W.shape[0] ** 0.5
    )


@exercise.alternative
def square_completed(X, W):
    """exp(‖ω‖²/2 − ‖ω − x‖²/2)."""
    apart = ((X[..., :, None, :] - W) ** 2).sum(axis=-1)
    return np.exp((W**2).sum(axis=-1) / 2 - apart / 2 - np.log(len(W)) / 2)


@exercise.check(points=1, visible=True)
def matches_the_formula(call, rng):
    """Feature j of x is exp(ω_j · x − ‖x‖²/2)/√m, for leading axes, too."""
    W = rng.normal(size=(5, 3))
    for shape in ((4, 3), (2, 4, 3)):
        X = rng.normal(size=shape)
        agree(call(X, W), favor_features(X, W), rtol=1e-4)


@exercise.check(points=0.5)
def products_average_to_the_exponential(call, rng):
    """φ(x) · φ(y) of 10 000 features is within 5 % of exp(x · y); no feature is negative."""
    W = rng.standard_normal((10_000, 3))
    X, Y = np.array([[0.6, 0.0, -0.4]]), np.array([[0.0, 0.5, 0.5]])
    x, y = np.asarray(call(X, W)), np.asarray(call(Y, W))
    require(x.min() > 0 and y.min() > 0, "a feature is not positive")
    right = favor_features(X, W) @ favor_features(Y, W).T  # within 5 %: the mean scatters by 0.9 %
    agree(x @ y.T, right, rtol=0.01, what="φ(x) · φ(y)")


@exercise.misconception(credit=0.5)
def gaussian_factor_missing(X, W):
    """Your features are exp(ω · x). Their products are too large on average: what is missing?"""
    return np.exp(X @ W.T) / np.sqrt(len(W))


@exercise.misconception
def textbook_constant(X, W):
    """The constant √(2/m) belongs to other features, and exp(ω · x) alone is too large."""
    return np.exp(X @ W.T) * np.sqrt(2 / len(W))


@exercise.misconception(credit=0.4)
def number_of_features_forgotten(X, W):
    """The products are to be a mean over the m features: where does m come in?"""
    return np.exp(exponent(X, W))


@exercise.misconception(credit=0.4)
def divided_by_m(X, W):
    """You divided by m in each factor, so the product is divided by m twice."""
    return np.exp(exponent(X, W)) / len(W)


@exercise.misconception(credit=0.4)
def half_forgotten(X, W):
    """You subtracted ‖x‖², not its half."""
    return np.exp(X @ W.T - (X**2).sum(axis=-1, keepdims=True)) / np.sqrt(len(W))


@exercise.misconception(credit=0.4)
def norm_of_omega(X, W):
    """You subtracted ‖ω‖²/2. The factor that is too much depends on x."""
    return np.exp(X @ W.T - (W**2).sum(axis=-1) / 2) / np.sqrt(len(W))


@exercise.misconception(credit=0.4)
def norm_not_squared(X, W):
    """You subtracted half the norm: it comes in squared."""
    return np.exp(X @ W.T - np.linalg.norm(X, axis=-1, keepdims=True) / 2) / np.sqrt(len(W))


@exercise.misconception(credit=0.5)
def norms_along_axis_1(X, W):
    """Your norms run along axis 1. The entries of a row lie along the last one, in batches, too."""
    return np.exp(X @ W.T - (X**2).sum(axis=1, keepdims=True) / 2) / np.sqrt(len(W))


@exercise.misconception
def trigonometric(X, W):
    """These are trigonometric features. They have either sign, and weights need one."""
    return np.exp((X**2).sum(axis=-1, keepdims=True) / 2) * np.cos(X @ W.T) / np.sqrt(len(W))


@exercise.misconception(credit=0.4)
def maximum_subtracted(X, W):
    """Subtracting a maximum changes the features. It may be done where a quotient follows."""
    e = exponent(X, W)
    return np.exp(e - e.max(axis=-1, keepdims=True)) / np.sqrt(len(W))


def from_exponents(q, k, V):
    """The quotient, by exponents from which the largest is taken off."""
    q = np.exp(q - q.max(axis=-1, keepdims=True))  # cancels, row by row
    k = np.exp(k - k.max())  # must be the same for all keys to cancel
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


def performer(Q, K, V, W):
    """Performer attention with these ω."""
    root = Q.shape[-1] ** 0.25
    return from_exponents(exponent(Q / root, W), exponent(K / root, W), V)


@exercise.reference
def performer_attention(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "k d"],
    V: Float[ndarray, "k d_v"],
    m: int,
    rng: np.random.Generator,
) -> Float[ndarray, "n d_v"]:
    """Return attention with the weights of m random features, in linear time."""
    return performer(Q, K, V, rng.standard_normal((m, Q.shape[-1])))


@exercise.alternative
def column_of_ones(Q, K, V, m, rng):
    """The normaliser as one more column of the values."""
    W, root = rng.normal(size=(m, K.shape[1])), np.sqrt(np.sqrt(K.shape[1]))
    q, k = exponent(Q / root, W), exponent(K / root, W)
    q, k = np.exp(q - q.max(-1, keepdims=True)), np.exp(k - k.max())
    out = q @ (k.T @ np.column_stack([V, np.ones(len(V))]))
    return out[:, :-1] / out[:, -1:]


@exercise.alternative
def in_blocks_of_keys(Q, K, V, m, rng):
    """Collect the state block by block."""
    W = rng.standard_normal((m, Q.shape[1]))
    root = Q.shape[1] ** 0.25
    k = exponent(K / root, W)
    k = np.exp(k - k.max())
    S, z = np.zeros((m, V.shape[1])), np.zeros(m)
    for first in range(0, len(K), 500):
        S = S + k[first : first + 500].T @ V[first : first + 500]
        z = z + k[first : first + 500].sum(axis=0)
    q = exponent(Q / root, W)
    q = np.exp(q - q.max(axis=1, keepdims=True))
    return q @ S / (q @ z)[:, None]


@exercise.alternative
def squares_left_out_of_the_queries(Q, K, V, m, rng):
    """‖q‖²/2 is the same for all keys and cancels."""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    return from_exponents(Q / root @ W.T, exponent(K / root, W), V)


@exercise.alternative
def a_factor_for_each_feature(Q, K, V, m, rng):
    """What is taken off a feature of all keys comes back to that of the queries: never 0/0."""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    k = exponent(K / root, W)
    largest = k.max(axis=0)
    return from_exponents(exponent(Q / root, W) + largest, k - largest, V)


def on_features(features, Q, K, V, W, scale=0.25):
    """Performer attention with these features."""
    root = Q.shape[-1] ** scale
    q, k = (np.asarray(features(each / root, W)) for each in (Q, K))
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


def qkv(rng, n=5, keys=7, d=4, d_v=3, spread=1.0):
    """Queries and keys of this spread, and values."""
    shapes = (n, d), (keys, d)
    return *(spread * rng.standard_normal(shape) for shape in shapes), rng.standard_normal(
        (keys, d_v)
    )


@exercise.check(points=1, visible=True)
def equals_its_own_features(call, rng):
    """Equals attention with the features of the ω that rng.standard_normal((m, d)) gives."""
    Q, K, V = qkv(rng)
    features = call.own(favor_features)
    for seed in (3, 4):
        W = np.random.default_rng(seed).standard_normal((6, Q.shape[1]))
        agree(call(Q, K, V, 6, seeded(seed)), on_features(features, Q, K, V, W), rtol=1e-4)


def pointed(rng, d=16):
    """Queries along four keys and against them, so that the scores are far from even.

    Two of the keys are shorter, which tells whether their own factor is there. A right estimate of
    20 000 features is off by 0.016 at most, one with another scale by 0.09 at least.
    """
    K = rng.standard_normal((4, d))
    K /= np.linalg.norm(K, axis=1, keepdims=True)
    V = K @ rng.standard_normal((d, 8))
    size = 1.2 * d**0.25
    return size * np.concatenate([K, -K]), size * K * [[0.4], [1], [0.4], [1]], V / V.std()


@exercise.check(points=1)
def close_to_softmax_attention(call, rng):
    """With 20 000 features it is close to softmax attention, however the ω were drawn."""
    Q, K, V = pointed(rng)
    out = np.asarray(call(Q, K, V, 20_000, seeded(int(rng.integers(2**31)))))
    right = attention(Q, K, V)[0]
    W, features = rng.standard_normal((20_000, Q.shape[1])), call.own(favor_features)
    if not alike(features(K, W[:9]), favor_features(K, W[:9])):
        right = on_features(features, Q, K, V, W)  # of other features other attention comes
    require(out.shape == right.shape, f"the outputs have shape {out.shape}")
    error = np.sqrt(np.mean((out - right) ** 2))
    require(error < 0.05, "the outputs are not close to those of softmax attention")


@exercise.check(points=0.5, after=equals_its_own_features)
def long_vectors_stay_finite(call, rng):
    """Vectors of one direction, so long that every feature underflows, give means of the values."""
    Q, K, V = qkv(rng, spread=0.1)
    lengths = 40.0 * np.arange(1, 6)[:, None]  # one for each query: it needs a factor of its own
    out = np.asarray(call(Q + lengths, K + lengths.max(), V, 50, seeded(1)))
    require(np.isfinite(out).all(), "the outputs are not finite")
    require(np.all(out >= V.min(axis=0) - 1e-6), "an output is no mean of the values")
    require(np.all(out <= V.max(axis=0) + 1e-6), "an output is no mean of the values")


@exercise.check(points=1, after=equals_its_own_features)
def work_is_linear(call, rng):
    """With m fixed, arithmetic and memory grow like n: no array has n × n entries."""
    W, features = np.random.default_rng(5).standard_normal((16, 8)), call.own(favor_features)
    grows(
        call,
        lambda n: (*qkv(rng, n, n, 8, 16, 0.5), 16, seeded(5)),
        rows=lambda i, Q, K, V, *_: on_features(features, Q[i], K, V, W),
        floor=lambda n: 4 * n * 16 * (8 + 16),
    )


@exercise.misconception
def weights_formed(Q, K, V, m, rng):
    """You form all n × n products of features. Which product can come before them?"""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    q, k = exponent(Q / root, W), exponent(K / root, W)
    A = np.exp(q - q.max(-1, keepdims=True)) @ np.exp(k - k.max()).T
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception
def underflows(Q, K, V, m, rng):
    """All features underflow to 0 for long vectors. A common factor cancels: take it off before."""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    q, k = favor_features(Q / root, W), favor_features(K / root, W)
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


@exercise.misconception(credit=0.4)
def inputs_not_divided(Q, K, V, m, rng):
    """The scores of softmax attention are divided by √d. Here the inputs are, before φ."""
    return on_features(favor_features, Q, K, V, rng.standard_normal((m, Q.shape[-1])), 0)


@exercise.misconception(credit=0.4)
def divided_twice(Q, K, V, m, rng):
    """You divided queries and keys by √d each, so the scores are divided by d."""
    return on_features(favor_features, Q, K, V, rng.standard_normal((m, Q.shape[-1])), 0.5)


@exercise.misconception
def factor_of_the_keys_missing(Q, K, V, m, rng):
    """The factor exp(−‖k‖²/2) is missing. That of a query cancels; those of the keys differ."""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    return from_exponents(Q / root @ W.T, K / root @ W.T, V)


@exercise.misconception
def features_of_their_own(Q, K, V, m, rng):
    """You drew other ω for the keys than for the queries. Products estimate with the same ones."""
    W, other = (rng.standard_normal((m, Q.shape[-1])) for _ in range(2))
    root = Q.shape[-1] ** 0.25
    return from_exponents(exponent(Q / root, W), exponent(K / root, other), V)


@exercise.misconception(credit=0.4)
def maximum_of_each_key(Q, K, V, m, rng):
    """You took another factor off each key, which doesn't cancel: take the same off all keys."""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    k = exponent(K / root, W)
    return from_exponents(exponent(Q / root, W), k - k.max(axis=-1, keepdims=True), V)


@exercise.misconception
def never_normalised(Q, K, V, m, rng):
    """The denominator is missing: the weights of a query should add up to 1."""
    W, root = rng.standard_normal((m, Q.shape[-1])), Q.shape[-1] ** 0.25
    return favor_features(Q / root, W) @ (favor_features(K / root, W).T @ V)


@exercise.misconception(fatal="nothing is estimated")
def softmax_itself(Q, K, V, m, rng):
    """That is softmax attention. It is to be estimated, without its n × n weights."""
    return attention(Q, K, V)[0]


#: What a right experiment gives for 64, 256, 1024 and 4096 features (bench/chance.py).  With a
#: mean over the repetitions instead of the median, one seed of 2,000 is off by a factor of 1.7.
TYPICAL = np.array([0.0135, 0.0068, 0.00345, 0.00174])
WITHIN = 1.5  # factor; the logarithm of a right one varies by 0.076


def shown_by(errors):
    """What four errors are evidence of."""
    if np.any(errors <= 0):
        return "no errors"
    if np.all(abs(np.log(errors / TYPICAL)) < np.log(WITHIN)):
        return "right"
    if np.all(abs(np.log(np.sqrt(errors) / TYPICAL)) < np.log(WITHIN)):
        return "squared"
    if np.all(abs(np.log(errors[::-1] / TYPICAL)) < np.log(WITHIN)):
        return "reversed"
    if errors[-1] > errors[0] / 3:
        return "no convergence"
    return "larger" if errors[1] > TYPICAL[1] else "smaller"


#: One example of each mistake.
WRONG = {
    "squared": TYPICAL**2,
    "reversed": TYPICAL[::-1],
    "no convergence": TYPICAL + 0.05,
    "larger": 4 * TYPICAL,
    "smaller": TYPICAL / 4,
}


class Errors(Witness):
    """Errors of an experiment with chance in it: the same within a factor.

    An example of a mistake stands for all errors that show the same.
    """

    def same(self, given, expected, *, slack=0.0, widen=1.0):
        """Compare logarithms; with an example, what both show."""
        if any(np.array_equal(expected, example) for example in WRONG.values()):
            return super().same(given, expected)
        if given.shape != expected.shape or np.any(given <= 0):
            return False
        return bool(np.all(abs(np.log(given / expected)) < np.log(WITHIN)))


@exercise.part(points=1.5, answer=Errors(shown_by))
def rmse():
    """The medians of the root mean square errors for 64, 256, 1024 and 4096 features."""
    return TYPICAL


@rmse.alternative
def measured(performer_attention):
    """The experiment itself."""
    draw = np.random.default_rng(0)
    Q, K, V = draw.normal(size=(3, 32, 8))
    Q, K = 0.3 * Q, 0.3 * K
    right = attention(Q, K, V)[0]
    found = []
    for m in (64, 256, 1024, 4096):
        runs = [performer_attention(Q, K, V, m, seeded(seed)) for seed in range(10)]
        errors = np.sqrt(np.mean((np.array(runs) - right) ** 2, axis=(1, 2)))
        found.append(np.median(errors))
    return np.array(found)


rmse.mistakes(
    mean_squares=(
        WRONG["squared"],
        "These are mean squares: take the root, after the mean over the entries.",
    ),
    largest_number_first=(WRONG["reversed"], "The other way round: 64 features first."),
    no_convergence=(
        WRONG["no convergence"],
        "Your errors hardly fall with m. What you estimate tends to something else than softmax.",
    ),
    errors_too_large=(
        WRONG["larger"],
        "Your errors fall, but they are larger than these inputs give. Were they multiplied "
        "by 0.3?",
    ),
    errors_too_small=(
        WRONG["smaller"],
        "Your errors fall, but are too small. Is each the root of a mean over all entries?",
    ),
)


@exercise.part(points=1.5, answer=Numbers(tolerance=0.05))
def slope(rmse):
    """The slope of log RMSE against log m, by least squares."""
    return np.polyfit(np.log([64, 256, 1024, 4096]), np.log(rmse), 1)[0]


@slope.misconception()
def slope_of_the_variance(rmse):
    """That is the slope of the mean square. The error is its root."""
    return 2 * slope.compute(rmse)


@slope.misconception()
def fall_without_sign(rmse):
    """The errors fall: the slope is negative."""
    return -slope.compute(rmse)


@slope.misconception()
def bases_mixed(rmse):
    """You took two kinds of logarithms. Any base will do, if it is the same for both."""
    return slope.compute(rmse) / np.log(10)


@slope.misconception()
def logarithm_forgotten(rmse):
    """A logarithm is missing. A power law is a line between the logarithms of both."""
    return np.polyfit([64, 256, 1024, 4096], rmse, 1)[0]
