"""A sigmoid for each score: weights that don't compete.

Source: Ramapuram et al. (2024), "Theory, analysis, and best practices for sigmoid
self-attention".
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import Derivation, Exercise, Formula, Numbers, agree, require
from reference.helpers import softmax

exercise = Exercise(
    "sigmoid_attn",
    title="Weights without competition",
    source="Ramapuram et al. (2024)",
    minutes=30,
    hints=[
        "σ(x) = 1/(1 + e^(−x)), and e^(log n) is n: put the bias in before you add anything up.",
        "In the derivation give the sum of the other exponentials the name that it has as a "
        "power of e. Then make the numerator 1.",
        "In code a blocked key simply has the weight 0. For large scores think of a form of the "
        "sigmoid in which no exponential is taken of a large positive number, such as "
        "(1 + tanh(x/2))/2.",
    ],
)


@exercise.variant
def draw(rng):
    """s: three scores that are not all equal."""
    while True:
        s = rng.integers(-2, 4, 3).astype(float)
        if np.ptp(s) > 0:
            return {"s": s}


def sigmoid(x):
    """1/(1 + e^−x), for any x."""
    return (1 + np.tanh(x / 2)) / 2


@exercise.part(
    points=1,
    answer=Formula(
        "n",
        {"n": "positive"},
        question="sum(1/(1 + exp(log(n))), i, 1, n)",
        practice=("The sum of a row of n scores of 0, with the bias −log(n)/2.", "n/(1 + sqrt(n))"),
    ),
)
def row_sum():
    """The sum of a row of n scores of 0, with the bias −log n."""
    return "n/(n + 1)"


@row_sum.alternative
def with_the_logarithm():
    """As it comes."""
    return "n/(1 + exp(log(n)))"


row_sum.mistakes(
    sum_without_bias=(
        "n/2",
        "Without the bias n keys of score 0 sum to this. What does the bias make of each weight?",
    ),
    one_weight=("1/(n + 1)", "That is the weight of one key. The row has n of them."),
    bias_added=("n^2/(n + 1)", "The bias lowers every weight: it stands for n rivals."),
    one_as_in_a_softmax=(
        "1",
        "That holds for a softmax. Nothing makes these weights add up to 1: try n = 1.",
    ),
    exponential_forgotten=(
        "n/(1 + log(n))",
        "The bias stands in an exponent. What is e to the power log n?",
    ),
    halves_divided_by_n=(
        "1/2",
        "You divided the weights by n. The bias is added to the scores, before the sigmoid.",
    ),
)


@exercise.part(
    points=1,
    answer=Formula(
        "n",
        {"n": "positive"},
        practice=("The bias with which the n weights add up to 1/2.", "-log(2*n - 1)"),
    ),
)
def unit_bias():
    """The bias with which that sum is exactly 1."""
    return "-log(n - 1)"


unit_bias.mistakes(
    log_n_again=("-log(n)", "With this one the sum isn't 1: look at what you found before."),
    bias_of_the_other_sign=(
        "log(n - 1)",
        "More keys need smaller weights: which sign must the bias have?",
    ),
    bias_of_one_more=(
        "-log(n + 1)",
        "Set n times the sigmoid of the bias to 1, and solve for the bias.",
    ),
    logarithm_left_out=("1/(n - 1)", "That is e to the power of the bias. Take its logarithm."),
    exponential_of_minus_the_bias=(
        "n - 1",
        "That is e^(−b), which stands in the denominator. Solve on for b.",
    ),
    both_slips_of_the_bias=(
        "log(n)",
        "More keys need smaller weights; and with log n the sum isn't 1, whatever the sign.",
    ),
)


@exercise.part(points=0.75, answer=Numbers())
def weights(s):
    """The weights of your three scores with the bias −log 3."""
    return sigmoid(s - np.log(3))


@weights.misconception()
def softmax_taken(s):
    """That is a softmax. Here no key knows of the others."""
    return softmax(s)


@weights.misconception()
def renormalised(s):
    """You divided by the sum, which brings the competition back."""
    return weights.compute(s) / weights.compute(s).sum()


@weights.misconception()
def bias_left_out(s):
    """The bias is missing. Without it n keys of score 0 sum to n/2."""
    return sigmoid(s)


@weights.misconception()
def bias_with_the_wrong_sign(s):
    """You added log 3. The bias lowers every weight: it stands for n rivals."""
    return sigmoid(s + np.log(3))


@weights.misconception()
def divided_by_three(s):
    """You divided the weights by 3. The bias is added to the scores, before the sigmoid."""
    return sigmoid(s) / 3


@weights.misconception()
def three_subtracted(s):
    """You subtracted 3. The bias is minus the *logarithm* of 3."""
    return sigmoid(s - 3)


@weights.misconception()
def two_keys(s):
    """Your bias is that of two keys, as in the example. Here there are three."""
    return sigmoid(s - np.log(2))


@weights.misconception()
def logarithm_to_base_ten(s):
    """You took the logarithm to the base 10. Logarithms are natural here."""
    return sigmoid(s - np.log10(3))


@weights.misconception()
def sign_in_the_exponent(s):
    """You took 1/(1 + e^x). In a sigmoid stands e^(−x): a larger score gives a larger weight."""
    return sigmoid(np.log(3) - s)


@weights.misconception()
def exponential_alone(s):
    """These are the exponentials of the scores with their bias. Put them into the sigmoid."""
    return np.exp(s) / 3


@exercise.part(points=0.25, answer=Numbers())
def total(weights):
    """Their sum."""
    return weights.sum()


@total.misconception()
def one_expected():
    """Nothing makes these weights add up to 1. Add them."""
    return 1.0


@total.misconception()
def mean_weight(weights):
    """That is their mean. Add them up."""
    return weights.mean()


chain = IndexedChain(
    start="exp(t)/(exp(t) + sum(exp(s_k), k))",
    target="1/(1 + exp(-(t - L)))",
    names=("t", "L"),
    indexed=("s",),
    definitions={"L": "log(sum(exp(s_k), k))"},
    rules=("definition", "linearity of sums"),
    min_lines=3,
    ends=Waypoint("End with the sigmoid of t - L.", lambda line: line.shows("t - L", "L - t")),
)


@exercise.part(points=2, answer=Derivation(chain))
def steps():
    """The softmax weight of a score t beside the scores s_k, led to a sigmoid."""
    return [
        "exp(t)/(exp(t) + exp(L))  # definition",
        "1/(1 + exp(L)*exp(-t))",
        "1/(1 + exp(-(t - L)))",
    ]


@steps.alternative
def divided_first():
    """Divide above and below by e^t, then use L."""
    return [
        "1/(1 + exp(-t)*sum(exp(s_k), k))",
        "1/(1 + exp(-t)*exp(L))  # definition",
        "1/(1 + exp(-(t - L)))",
    ]


@steps.alternative
def in_latex():
    """Write fractions and powers as on paper."""
    return [
        r"\frac{e^t}{e^t + e^L}",
        r"\frac{1}{1 + e^L / e^t}",
        r"\frac{1}{1 + e^{-(t - L)}}",
    ]


@steps.alternative
def factor_taken_into_the_sum():
    """Divide every exponential by e^t, and take the factor out again."""
    return [
        "1/(1 + sum(exp(s_k - t), k))",
        "1/(1 + exp(-t)*sum(exp(s_k), k))  # linearity of sums",
        "1/(1 + exp(-t)*exp(L))  # definition",
        "1/(1 + exp(-(t - L)))",
    ]


@steps.alternative
def one_exponent():
    """Write the quotient of exponentials as one exponential."""
    return [
        "exp(t)/(exp(t) + sum(exp(s_k), k))",
        "exp(t)/(exp(t) + exp(L))  # definition",
        "1/(1 + exp(L)/exp(t))",
        "1/(1 + exp(L - t))",
        "1/(1 + exp(-(t - L)))",
    ]


@exercise.reference
def sigmoid_attention(
    Q: Float[ndarray, "n d_k"],
    K: Float[ndarray, "m d_k"],
    V: Float[ndarray, "m d_v"],
    bias: float | None = None,
    mask: Bool[ndarray, "n m"] | None = None,
) -> Float[ndarray, "n d_v"]:
    """Weigh every key by itself; blocked ones have no weight."""
    A = sigmoid(scores(Q, K) + (-np.log(len(K)) if bias is None else bias))
    return (A if mask is None else A * mask) @ V


def scores(Q, K):
    """Return Q Kᵀ/√d_k."""
    return Q @ K.T / np.sqrt(Q.shape[1])


@exercise.alternative
def with_minus_infinity(Q, K, V, bias=None, mask=None):
    """Set blocked scores to −∞; take the exponential of −|x| alone."""
    x = scores(Q, K) - np.log(len(K)) if bias is None else scores(Q, K) + bias
    if mask is not None:
        x = np.where(mask, x, -np.inf)
    e = np.exp(-abs(x))
    return np.where(x > 0, 1 / (1 + e), e / (1 + e)) @ V


@exercise.alternative
def by_log_add_exp(Q, K, V, bias=None, mask=None):
    """σ(x) is e to the −log(1 + e^−x)."""
    b = -np.log(K.shape[0]) if bias is None else bias
    A = np.exp(-np.logaddexp(0, -(np.einsum("nd,md->nm", Q, K) * Q.shape[-1] ** -0.5 + b)))
    return np.where(True if mask is None else mask, A, 0) @ V


@exercise.alternative
def clipped_before(Q, K, V, bias=None, mask=None):
    """Beyond ±700 nothing changes any more."""
    x = np.clip(scores(Q, K) + (-np.log(len(K)) if bias is None else bias), -700, 700)
    A = 1 / (1 + np.exp(-x))
    return (A if mask is None else np.where(mask, A, 0)) @ V


def qkv(rng, n=3, m=5, d_k=4, d_v=2):
    """Four different sizes."""
    return rng.normal(size=(n, d_k)), rng.normal(size=(m, d_k)), rng.normal(size=(m, d_v))


@exercise.check(points=0.5, visible=True)
def matches_the_definition(call, rng):
    """With a bias that is given, equals σ(Q Kᵀ/√d_k + bias) V."""
    for sizes, bias in (({}, -1.5), ({"n": 4, "m": 2}, 0.5)):
        x = qkv(rng, **sizes)
        agree(call(*x, bias=bias), sigmoid_attention(*x, bias))


@exercise.check(points=0.25)
def default_bias(call, rng):
    """Without one the bias is −log of the number of keys, of masked ones, too."""
    x = qkv(rng)
    agree(call(*x), sigmoid_attention(*x))
    mask = np.tri(3, 5, 1, dtype=bool)
    agree(call(*x, mask=mask), sigmoid_attention(*x, mask=mask), credit=0.5)


@exercise.check(points=0.25)
def no_key_knows_of_the_others(call, rng):
    """With a fixed bias, masking the last key is as good as dropping it."""
    Q, K, V = qkv(rng)
    mask = np.ones((3, 5), bool)
    mask[:, -1] = False
    agree(call(Q, K, V, bias=-2.0, mask=mask), sigmoid_attention(Q, K[:-1], V[:-1], -2.0))


@exercise.check(points=0.25)
def rows_without_a_key(call, rng):
    """A query that may attend to nothing gets 0; the others get what they should."""
    x = qkv(rng)
    mask = np.array([[1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [0, 1, 1, 0, 0]], bool)
    agree(call(*x, bias=-1.0, mask=mask), sigmoid_attention(*x, -1.0, mask))


@exercise.check(points=0.25)
def order_of_the_keys(call, rng):
    """Exchanging keys together with their values changes nothing."""
    Q, K, V = qkv(rng)
    order = rng.permutation(5)
    agree(call(Q, K[order], V[order], bias=-1.0), sigmoid_attention(Q, K, V, -1.0))


@exercise.check(points=0.25)
def scores_of_any_size(call, rng):
    """Scores of −1000 or 1000 give weights of 0 or 1, and no warning."""
    Q, K, V = np.array([[2000.0, 0, 0, 0]]), np.eye(4)[[0, 0, 1]], rng.normal(size=(3, 2))
    K[1] *= -1
    agree(call(Q, K, V, bias=-1.0), sigmoid_attention(Q, K, V, -1.0))
    require(not call.warnings, "the result is right, but a warning is raised", credit=0.5)


@exercise.check(points=0.25)
def outputs_leave_the_hull(call, rng):
    """Four keys of score 9, values of 1 and a bias of 0 give nearly 4."""
    Q, K, V = np.full((1, 1), 3.0), np.full((4, 1), 3.0), np.ones((4, 1))
    agree(call(Q, K, V, bias=0.0), sigmoid_attention(Q, K, V, 0.0))


def with_weights(make):
    """Return attention with weights made of the scores with their bias, and the mask."""

    def attend(Q, K, V, bias=None, mask=None):
        x = scores(Q, K) + (-np.log(len(K)) if bias is None else bias)
        return make(x, np.ones(x.shape, bool) if mask is None else mask) @ V

    return attend


@exercise.misconception(credit=0.4)
def divided_by_their_sum(Q, K, V, bias=None, mask=None):
    """You divide the weights by their sum. That brings the competition back."""

    def weigh(x, mask):
        A = sigmoid(x) * mask
        return A / np.maximum(A.sum(axis=1, keepdims=True), 1e-30)

    return with_weights(weigh)(Q, K, V, bias, mask)


@exercise.misconception(fatal="the weights that were to be written are not there")
def softmax_attention(Q, K, V, bias=None, mask=None):
    """That is softmax attention. Here each weight depends on its own score alone."""
    weigh = lambda x, mask: softmax(np.where(mask, x, -np.inf))  # noqa: E731
    return with_weights(weigh)(Q, K, V, bias, mask)


@exercise.misconception
def no_default_bias(Q, K, V, bias=None, mask=None):
    """If none is given, your bias is 0. Without a bias n keys of score 0 sum to n/2."""
    return sigmoid_attention(Q, K, V, 0.0 if bias is None else bias, mask)


@exercise.misconception
def zero_taken_for_none(Q, K, V, bias=None, mask=None):
    """A bias of 0 is a bias, too. Ask `bias is None`: `bias or …` replaces 0 as well."""
    return sigmoid_attention(Q, K, V, bias or None, mask)


@exercise.misconception
def visible_keys_counted(Q, K, V, bias=None, mask=None):
    """Your default bias counts the keys that a row may see. Here it counts all keys."""
    if bias is None and mask is not None:
        bias = -np.log(np.maximum(mask.sum(axis=1, keepdims=True), 1))
    return sigmoid_attention(Q, K, V, bias, mask)


@exercise.misconception(credit=0.4)
def bias_subtracted(Q, K, V, bias=None, mask=None):
    """You subtract the bias. It is added to every score; the default is negative already."""
    return sigmoid_attention(Q, K, V, np.log(len(K)) if bias is None else -bias, mask)


@exercise.misconception(credit=0.4)
def no_scale(Q, K, V, bias=None, mask=None):
    """Scores are divided by √d_k as before."""
    return sigmoid_attention(Q * np.sqrt(Q.shape[1]), K, V, bias, mask)


@exercise.misconception(credit=0.4)
def divided_by_d_k(Q, K, V, bias=None, mask=None):
    """You divide the scores by d_k. As before it is √d_k."""
    return sigmoid_attention(Q / np.sqrt(Q.shape[1]), K, V, bias, mask)


@exercise.misconception(credit=0.4)
def bias_divided_as_well(Q, K, V, bias=None, mask=None):
    """You divide the bias by √d_k as well. Only the scores are divided; it is added afterwards."""
    bias = -np.log(len(K)) if bias is None else bias
    return sigmoid_attention(Q, K, V, bias / np.sqrt(Q.shape[1]), mask)


@exercise.misconception
def number_of_queries_taken(Q, K, V, bias=None, mask=None):
    """Without a bias you take the number of queries. A query's weights are shared among keys."""
    return sigmoid_attention(Q, K, V, -np.log(len(Q)) if bias is None else bias, mask)


@exercise.misconception
def logarithm_of_another_base(Q, K, V, bias=None, mask=None):
    """Your bias is a logarithm to the base 2. Beside an exponential it is the natural one."""
    return sigmoid_attention(Q, K, V, -np.log2(len(K)) if bias is None else bias, mask)


@exercise.misconception
def mask_inverted(Q, K, V, bias=None, mask=None):
    """The mask is read the wrong way round: True means that the query may attend."""
    return sigmoid_attention(Q, K, V, bias, None if mask is None else ~mask)


@exercise.misconception
def mask_ignored(Q, K, V, bias=None, mask=None):
    """The mask has no effect."""
    return sigmoid_attention(Q, K, V, bias)


@exercise.misconception
def blocked_scores_zero(Q, K, V, bias=None, mask=None):
    """You set blocked scores to 0, and σ(0) is a half. A blocked key has no weight at all."""
    weigh = lambda x, mask: sigmoid(np.where(mask, x, 0))  # noqa: E731
    return with_weights(weigh)(Q, K, V, bias, mask)


@exercise.misconception
def bias_left_for_blocked_keys(Q, K, V, bias=None, mask=None):
    """You set blocked scores to 0, and σ(0 + b) is a weight still. A blocked key has none."""
    S = scores(Q, K) if mask is None else scores(Q, K) * mask
    return sigmoid(S + (-np.log(len(K)) if bias is None else bias)) @ V


@exercise.misconception(credit=0.5)
def exponential_overflows(Q, K, V, bias=None, mask=None):
    """The weights are right, but e^(−x) overflows for a large negative score."""
    weigh = lambda x, mask: 1 / (1 + np.exp(-x)) * mask  # noqa: E731
    return with_weights(weigh)(Q, K, V, bias, mask)
