"""Scores that are kept small: a soft cap, unit queries and keys, and what that means for entropy.

Source: Henry et al. (2020), "Query-key normalization for transformers"; Zhai et al. (2023),
"Stabilizing transformer training by preventing attention entropy collapse"; Gemma Team (2024).
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.algebra import RULES, Fact, IndexedChain, Rule
from autograder.exercise import Derivation, Exercise, Formula, Numbers, Witness, agree, require
from reference.helpers import ATTENTION, softmax

exercise = Exercise(
    "logit_control",
    title="Scores on a leash",
    source="Henry et al. (2020); Zhai et al. (2023), section 3; Gemma Team (2024), Gemma 2",
    minutes=50,
    hints=[
        "For `smallest` one key has the best score that is possible, and all others the worst. "
        "Write its weight down, and solve for g.",
        "A sum of p_k times something is an average. With which of its terms can you compare all "
        "of them?",
        "For `W` the score of tokens i and j is x_i W x_jᵀ. Where must x_i W point, for the row "
        "of token i to look at the token after it?",
    ],
)


@exercise.variant
def draw(rng):
    """cap, s: the cap and three scores; n, p: keys, and the weight that one of them gets."""
    cap = int(rng.choice([30, 50]))
    parts = rng.choice([0.4, 0.5, 0.6]), rng.choice([0.9, 1, 1.1]), rng.choice([1.6, 1.8, 2])
    return {
        "cap": cap,
        "s": np.round(cap * np.array(parts)),
        "n": int(rng.choice([100, 200, 500, 1000, 2000])),
        "p": float(rng.choice([0.9, 0.95, 0.98, 0.99])),
    }


@exercise.part(
    points=1,
    answer=Formula(
        "s c",
        {"c": "positive"},
        question="diff(c*tanh(s/c), s)",
        practice=("The derivative of c·log(1 + exp(s/c)) with respect to s.", "1/(1 + exp(-s/c))"),
    ),
)
def slope():
    """The derivative of c·tanh(s/c) with respect to s."""
    return "1 - tanh(s/c)^2"


@slope.alternative
def by_the_cosine():
    """The same, written with cosh."""
    return "1/cosh(s/c)^2"


@slope.alternative
def by_exponentials():
    """The same, written with exponentials."""
    return "4/(exp(s/c) + exp(-s/c))^2"


slope.mistakes(
    divided_by_c_again=("(1 - tanh(s/c)^2)/c", "The inner derivative 1/c and the factor c cancel."),
    inner_derivative_forgotten=(
        "c*(1 - tanh(s/c)^2)",
        "The inner derivative is missing: s is divided by c before the tanh is taken.",
    ),
    square_forgotten=("1 - tanh(s/c)", "The derivative of tanh x has a *square* in it."),
    square_of_cosh_forgotten=(
        "1/cosh(s/c)",
        "That is 1/cosh. Compare it with 1 − tanh² at s = c: are they the same?",
    ),
    taken_at_s=(
        "1 - tanh(s)^2",
        "The outer derivative is taken where the tanh was: at s/c, not at s.",
    ),
    capped_score_squared=(
        "1 - c^2*tanh(s/c)^2",
        "You squared the capped score. The square is that of the tanh alone, without the c.",
    ),
    one_left_out=(
        "tanh(s/c)^2",
        "At s = 0 the cap follows the score, so the slope there is 1. Which one has yours?",
    ),
    plus_for_minus=(
        "1 + tanh(s/c)^2",
        "Yours grows with s. A cap gets flatter: look at the sign in front of the square.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def capped(cap, s):
    """The three capped scores."""
    return cap * np.tanh(s / cap)


@capped.misconception()
def clipped(cap, s):
    """You clipped. A cap is smooth: it bends the score long before the limit."""
    return np.minimum(s, cap)


@capped.misconception()
def not_stretched(cap, s):
    """These lie between −1 and 1: multiply by the cap."""
    return np.tanh(s / cap)


@capped.misconception()
def not_divided_by_the_cap(cap, s):
    """You took the tanh of s itself. Divide by the cap first."""
    return cap * np.tanh(s)


@capped.misconception()
def quotient_upside_down(cap, s):
    """You divided the cap by the score."""
    return cap * np.tanh(cap / s)


@exercise.part(points=0.5, answer=Numbers())
def slopes(slope, cap, s):
    """The slope of the cap at the three scores."""
    return slope(s=s, c=cap)


@slopes.misconception()
def slope_of_a_clip(cap, s):
    """These are the slopes of a clip. Put the scores into your derivative."""
    return np.where(s < cap, 1.0, 0.0)


@slopes.misconception()
def share_that_is_left(cap, s):
    """You divided the capped score by the score. A slope says what a *small change* of s does."""
    return cap * np.tanh(s / cap) / s


@slopes.misconception()
def slope_without_the_square(cap, s):
    """The derivative of tanh x has a *square* in it."""
    return 1 - np.tanh(s / cap)


@exercise.part(
    points=0.75,
    answer=Formula(
        "n p",
        {"n": "positive", "p": "positive"},
        practice=(
            "The smallest gain with which one of n keys can get n times the weight of each other.",
            "log(n)/2",
        ),
    ),
)
def smallest():
    """The smallest gain g with which one of n keys can get the weight p."""
    return "log((n - 1)*p/(1 - p))/2"


@smallest.alternative
def logarithms_apart():
    """Three logarithms."""
    return "(log(n - 1) + log(p) - log(1 - p))/2"


smallest.mistakes(
    half_forgotten=("log((n - 1)*p/(1 - p))", "The gap between +g and −g is 2g."),
    doubled_for_halved=(
        "2*log((n - 1)*p/(1 - p))",
        "The gap between +g and −g is 2g: g is half of the gap.",
    ),
    logarithm_forgotten=(
        "(n - 1)*p/(2*(1 - p))",
        "What stands in the exponential is the gap: take the logarithm.",
    ),
    one_rival=("log(p/(1 - p))/2", "There are more rivals than one, and their weights add up."),
    rival_too_many=("log(n*p/(1 - p))/2", "How many keys are left besides the one?"),
    odds_upside_down=(
        "log((n - 1)*(1 - p)/p)/2",
        "The larger p is, the larger g has to be. Which way does yours go?",
    ),
    rivals_below=(
        "log(p/((n - 1)*(1 - p)))/2",
        "More rivals need a larger gain: n − 1 is on the wrong side.",
    ),
    what_the_rivals_keep=("log((n - 1)*p)/2", "The rivals share 1 − p among them: it is missing."),
    own_weight_missing=(
        "log((n - 1)/(1 - p))/2",
        "The p of the one key is missing: yours is right for p near 1 only.",
    ),
    as_much_as_all_rivals=(
        "log(n - 1)/2",
        "That gives the key as much as all others together. It should have p.",
    ),
)


@exercise.part(points=0.25, answer=Numbers())
def smallest_here(smallest, n, p):
    """That gain for your n and p."""
    return smallest(n=n, p=p)


@smallest_here.misconception()
def gap_in_place_of_the_gain(n, p):
    """That is the gap between the best score and the others. How far does a gain of g reach?"""
    return np.log((n - 1) * p / (1 - p))


chain = IndexedChain(
    start="sum(p_k*log(p_k), k)",
    target="max(log(p_k), k)",
    indexed=("p", "s"),
    positive=("p",),
    definitions={"p_i": "exp(s_i)/sum(exp(s_k), k)"},
    rules=(
        "largest term",
        Fact("weights sum to one", "sum(p_k, k)", "1"),
        Rule("weights sum to one", RULES["linearity of sums"].rewrites),  # Σ c p_k = c, too
    ),
    relation="<=",
    min_lines=2,
)


@exercise.part(points=2, answer=Derivation(chain))
def bound_steps():
    """Σ p_k log p_k is at most the logarithm of the largest weight."""
    return [
        "<= max(log(p_k), k)*sum(p_k, k)  # largest term",
        "= max(log(p_k), k)  # weights sum to one",
    ]


@bound_steps.alternative
def factor_left_inside():
    """Leave the largest logarithm under the sum first."""
    return [
        "sum(p_j*log(p_j), j)",
        "<= sum(p_j*max(log(p_k), k), j)  # largest term",
        "= max(log(p_k), k)",
    ]


@bound_steps.alternative
def in_latex():
    """Write the sums with their sign."""
    return [
        r"\sum_k p_k \log p_k",
        r"\le max(log(p_k), k) \sum_k p_k",
        "= max(log(p_k), k)",
    ]


@bound_steps.alternative
def factor_taken_out():
    """Compare term by term, take the largest logarithm out, and add the weights up."""
    return [
        "<= sum(p_k*max(log(p_j), j), k)  # largest term",
        "= max(log(p_j), j)*sum(p_k, k)",
        "= max(log(p_j), j)*1  # weights sum to one",
        "= max(log(p_k), k)",
    ]


gains = np.array([1, 3, 5])


@exercise.part(points=1, answer=Numbers())
def least():
    """The bound on the entropy for n = 100 keys and g = 1, 3 and 5, three numbers."""
    return np.log(1 + 99 * np.exp(-2.0 * gains))


least.mistakes(
    gap_of_g=(
        np.log(1 + 99 * np.exp(-1.0 * gains)),
        "Between the best and the worst score lies 2g.",
    ),
    rivals_forgotten=(
        np.log(1 + np.exp(-2.0 * gains)),
        "The 99 other keys weigh against the one together.",
    ),
    largest_weight_itself=(
        1 / (1 + 99 * np.exp(-2.0 * gains)),
        "That is the largest weight. The bound is minus its logarithm.",
    ),
    own_term_left_out=(
        np.log(99 * np.exp(-2.0 * gains)),
        "The key itself stands in the denominator, too, beside its rivals.",
    ),
    four_keys=(
        np.log(1 + 3 * np.exp(-2.0 * gains)),
        "That is for four keys, as in the example. Here there are 100.",
    ),
    logarithm_left_out=(
        1 + 99 * np.exp(-2.0 * gains),
        "That is 1 divided by the largest weight. Take its logarithm.",
    ),
    gain_with_the_wrong_sign=(
        np.log(1 + 99 * np.exp(2.0 * gains)),
        "The rivals lie *below* the key: a larger gain lowers the bound.",
    ),
)


@least.misconception(credit=0.5)
def entropy_of_that_row():
    """That is the entropy of the row with one key at +g. The bound looks at one weight alone."""
    rows = np.concatenate([gains[:, None], -np.tile(gains[:, None], 99)], axis=1)
    p = softmax(rows.astype(float))
    return -(p * np.log(p)).sum(axis=1)


tokens = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])


def looks_at(W):
    """What the rows of softmax(X W Xᵀ/√2) do, and whether W is small enough."""
    if np.linalg.norm(W, 2) > 12 * (1 + 1e-6):
        return "too large"
    A = softmax(tokens @ W @ tokens.T / np.sqrt(2))
    entropy = -(A * np.log(np.maximum(A, 1e-300))).sum(axis=1)
    ways = {1: "the next", 3: "the one before", 0: "itself", 2: "the opposite one"}
    for step, way in ways.items():
        if (A.argmax(axis=1) == (np.arange(4) + step) % 4).all():
            return way if (entropy < 0.01).all() else f"{way}, with more entropy"
    return "different ones"


@exercise.part(points=1, answer=Witness(looks_at))
def W():
    """A matrix of spectral norm at most 12, with which each token looks at the next one alone."""
    return np.array([[0.0, 12], [-12, 0]])


@W.alternative
def shorter():
    """The same, a little shorter."""
    return np.array([[0.0, 10.6], [-10.6, 0]])


@W.alternative
def not_quite_a_quarter():
    """Turn and stretch a little as well."""
    return np.array([[0.3, 11.5], [-11.8, 0.1]])


W.mistakes(
    points_back=(
        np.array([[0.0, -12], [12, 0]]),
        "Row i of X W Xᵀ asks token i: check which token it names. Yours is the one before.",
    ),
    points_to_itself=(
        12 * np.eye(2),
        "A multiple of the identity matches a token with itself: turn it.",
    ),
    points_across=(-12 * np.eye(2), "Your tokens look at the opposite ones: that is half a turn."),
    too_short=(
        np.array([[0.0, 1], [-1, 0]]),
        "Your rows point to the next token, and their entropy isn't below 0.01 yet.",
        0.5,
    ),
    too_long=(
        np.array([[0.0, 40], [-40, 0]]),
        "The largest singular value of your matrix is above 12.",
        0.5,
    ),
)


@exercise.reference(without=ATTENTION)
def leashed_attention(
    Q: Float[ndarray, "n d_k"],
    K: Float[ndarray, "m d_k"],
    V: Float[ndarray, "m d_v"],
    gain: float | None = None,
    cap: float | None = None,
    mask: Bool[ndarray, "n m"] | None = None,
) -> Float[ndarray, "n d_v"]:
    """Unit rows and a gain if there is one, then the cap, then the mask."""
    return weigh(bend(scores(Q, K, gain), cap), mask) @ V


def unit(x):
    """Divide each row by its length; a row of zeros stays."""
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def scores(Q, K, gain):
    """Return the scores before the cap."""
    return Q @ K.T / np.sqrt(Q.shape[-1]) if gain is None else gain * unit(Q) @ unit(K).T


def bend(s, cap):
    """Return capped scores."""
    return s if cap is None else cap * np.tanh(s / cap)


def weigh(s, mask):
    """Return the weights of the allowed keys."""
    return softmax(s if mask is None else np.where(mask, s, -np.inf))


@exercise.alternative
def scores_divided_by_lengths(Q, K, V, gain=None, cap=None, mask=None):
    """Divide the scores by both lengths, and add a large negative number where masked."""
    s = Q @ K.T
    if gain is None:
        s = s / np.sqrt(K.shape[1])
    else:
        lengths = np.outer(np.sqrt((Q**2).sum(1)), np.sqrt((K**2).sum(1)))
        s = gain * s / np.where(lengths == 0, 1, lengths)
    if cap is not None:
        s = cap * np.tanh(s / cap)
    if mask is not None:
        s = s + np.where(mask, 0, -1e9)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ V


@exercise.alternative
def with_a_small_epsilon(Q, K, V, gain=None, cap=None, mask=None):
    """Add 1e-9 to the lengths."""
    if gain is not None:
        Q, K = (x / (np.linalg.norm(x, axis=1)[:, None] + 1e-9) for x in (Q, K))
    s = Q @ K.T * (1 / np.sqrt(Q.shape[1]) if gain is None else gain)
    return weigh(bend(s, cap), mask) @ V


@exercise.alternative
def query_by_query(Q, K, V, gain=None, cap=None, mask=None):
    """A loop over the queries, each with the keys that it may see."""

    def direction(x):
        length = np.sqrt(x @ x)
        return x / length if length > 0 else x

    rows = []
    for i, q in enumerate(Q):
        seen = np.arange(len(K)) if mask is None else np.flatnonzero(mask[i])
        if gain is None:
            s = K[seen] @ q / np.sqrt(len(q))
        else:
            s = np.array([gain * (direction(k) @ direction(q)) for k in K[seen]])
        p = softmax(s if cap is None else np.tanh(s / cap) * cap)
        rows.append(p @ V[seen])
    return np.array(rows)


def qkv(rng, n=4, m=5, d_k=3, d_v=2):
    """Four different sizes."""
    return rng.normal(size=(n, d_k)), rng.normal(size=(m, d_k)), rng.normal(size=(m, d_v))


def near(found, right):
    """Agree, also with lengths to which something like 1e-8 was added."""
    agree(found, right, rtol=1e-5, atol=1e-5)


@exercise.check(points=0.25, visible=True)
def without_a_leash(call, rng):
    """With neither gain nor cap it is scaled attention."""
    for sizes in ({}, {"n": 1, "m": 2}):
        x = qkv(rng, **sizes)
        agree(call(*x), leashed_attention(*x))


@exercise.check(points=0.5, visible=True)
def gain_and_unit_rows(call, rng):
    """With a gain, directions alone count: positive multiples of queries or keys change nothing."""
    Q, K, V = qkv(rng)
    long = rng.uniform(0.1, 9, (4, 1)) * Q, rng.uniform(0.1, 9, (5, 1)) * K, V
    for gain in (2.0, 7.5):
        near(call(*long, gain=gain), leashed_attention(Q, K, V, gain))


@exercise.check(points=0.25)
def zero_rows(call, rng):
    """A query or a key of zeros has no direction: its scores are 0, and not NaN."""
    Q, K, V = qkv(rng)
    Q[1], K[2] = 0, 0
    near(call(Q, K, V, gain=3.0), leashed_attention(Q, K, V, 3.0))
    require(not call.warnings, "the result is right, but a warning is raised", credit=0.5)


@exercise.check(points=0.5)
def cap_bends_the_scores(call, rng):
    """The cap bends all scores smoothly, with a gain and without; a large cap changes nothing."""
    Q, K, V = qkv(rng)
    for x, gain, cap in (((3 * Q, K, V), None, 1.5), ((Q, K, V), 4.0, 2.0), ((Q, K, V), 4.0, 1e6)):
        near(call(*x, gain=gain, cap=cap), leashed_attention(*x, gain, cap))


@exercise.check(points=0.25)
def masked_keys_have_no_weight(call, rng):
    """Behind the mask no weight is left, with a gain, a cap, or both; the others add up to 1."""
    Q, K, _ = qkv(rng)
    mask = np.tri(4, 5, dtype=bool)
    for gain, cap in ((None, None), (None, 1.0), (2.0, None), (2.0, 1.0)):
        weights = np.asarray(call(Q, K, np.eye(5), gain=gain, cap=cap, mask=mask))
        require(weights.shape == (4, 5), f"the output has shape {weights.shape}")
        require(not weights[~mask].any(), "keys behind the mask have some weight")
        agree(weights.sum(axis=1), np.ones(4), what="what the weights of a row add up to")
        require(np.ptp(weights[3, :4]) > 0, "the weights do not depend on the keys")


@exercise.check(points=0.25)
def inputs_are_left_alone(call, rng):
    """The arrays that were given are not changed, and everything at once is as it should be."""
    x = qkv(rng)
    mask = np.tri(4, 5, 1, dtype=bool)
    near(call(*x, gain=3.0, cap=2.0, mask=mask), leashed_attention(*x, 3.0, 2.0, mask))
    require(not call.modified, "an array that was given is changed")


@exercise.misconception(credit=0.5)
def mask_before_the_cap(Q, K, V, gain=None, cap=None, mask=None):
    """You masked before the cap. A capped −∞ is −c, and the future leaks: mask after the cap."""
    s = scores(Q, K, gain)
    return softmax(bend(s if mask is None else np.where(mask, s, -np.inf), cap)) @ V


@exercise.misconception(credit=0.5)
def both_scales(Q, K, V, gain=None, cap=None, mask=None):
    """You multiplied by the gain and divided by √d_k. The gain replaces 1/√d_k."""
    s = scores(Q, K, gain) / (1 if gain is None else np.sqrt(Q.shape[1]))
    return weigh(bend(s, cap), mask) @ V


@exercise.misconception
def never_divided(Q, K, V, gain=None, cap=None, mask=None):
    """Without a gain the scores are those of scaled attention: 1/√d_k is missing."""
    s = Q @ K.T if gain is None else scores(Q, K, gain)
    return weigh(bend(s, cap), mask) @ V


@exercise.misconception
def scores_clipped(Q, K, V, gain=None, cap=None, mask=None):
    """You clipped the scores. A cap is smooth, c·tanh(s/c)."""
    s = scores(Q, K, gain)
    return weigh(s if cap is None else np.clip(s, -cap, cap), mask) @ V


@exercise.misconception
def no_cap(Q, K, V, gain=None, cap=None, mask=None):
    """The gain bounds the scores by g; the cap is asked for as well."""
    return leashed_attention(Q, K, V, gain, None, mask)


@exercise.misconception
def either_gain_or_cap(Q, K, V, gain=None, cap=None, mask=None):
    """With a gain your cap has no effect. Both may be given."""
    return leashed_attention(Q, K, V, gain, cap if gain is None else None, mask)


@exercise.misconception(credit=0.5)
def gain_without_unit_rows(Q, K, V, gain=None, cap=None, mask=None):
    """You multiplied by the gain, but queries and keys keep their lengths."""
    s = Q @ K.T * (1 / np.sqrt(Q.shape[1]) if gain is None else gain)
    return weigh(bend(s, cap), mask) @ V


@exercise.misconception(credit=0.5)
def queries_alone(Q, K, V, gain=None, cap=None, mask=None):
    """Only the queries have the length 1. A long key still gets large scores."""
    s = scores(Q, K, None) if gain is None else gain * unit(Q) @ K.T
    return weigh(bend(s, cap), mask) @ V


@exercise.misconception(credit=0.4)
def columns_of_length_one(Q, K, V, gain=None, cap=None, mask=None):
    """You divided columns by their lengths. A query is a row, and so is a key."""
    s = scores(Q, K, None) if gain is None else gain * unit(Q.T).T @ unit(K.T)
    return weigh(bend(s, cap), mask) @ V


@exercise.misconception
def zero_over_zero(Q, K, V, gain=None, cap=None, mask=None):
    """A row of zeros becomes NaN (0/0): it has no direction to keep."""
    s = scores(Q, K, gain)
    if gain is not None:
        s = np.where((Q**2).sum(1)[:, None] * (K**2).sum(1) == 0, np.nan, s)
    return weigh(bend(s, cap), mask) @ V


@exercise.misconception
def mask_ignored(Q, K, V, gain=None, cap=None, mask=None):
    """The mask has no effect."""
    return leashed_attention(Q, K, V, gain, cap)


@exercise.misconception
def weights_masked(Q, K, V, gain=None, cap=None, mask=None):
    """You masked the weights, which no longer add up to 1. Mask the scores, behind the cap."""
    weights = weigh(bend(scores(Q, K, gain), cap), None)
    return (weights if mask is None else weights * mask) @ V


@exercise.misconception
def changed_in_place(Q, K, V, gain=None, cap=None, mask=None):
    """You divide the arrays that you were given by their lengths. Make new ones."""
    if gain is not None:
        Q[...], K[...] = unit(Q), unit(K)
    return leashed_attention(Q, K, V, gain, cap, mask)
