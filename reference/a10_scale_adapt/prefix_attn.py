"""Learned keys and values in front of a sequence.

Source: Li & Liang (2021), "Prefix-tuning: Optimizing continuous prompts for generation";
He et al. (2022), "Towards a unified view of parameter-efficient transfer learning", eq. 5.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.algebra import IndexedChain
from autograder.exercise import Choice, Count, Derivation, Exercise, Numbers, Shape, agree
from reference.helpers import ATTENTION, attention, softmax

exercise = Exercise(
    "prefix_attn",
    title="Extra keys and values",
    source="Li & Liang (2021); He et al. (2022), eq. 5",
    minutes=50,
    hints=[
        "Put the learned keys and values in front of the others, and compute attention as "
        "always: it is the mask that needs a thought.",
        "The mask has two parts side by side, the columns of the prefix and those of the "
        "tokens. Which of them is a triangle?",
        "In `mixture_steps` multiply the definitions of x and y by P and S: what you get stands "
        "in the numerator.",
    ],
)


@exercise.variant
def draw(rng):
    """s: scaled scores of a prefix pair and of two tokens; v: their values."""
    while True:
        s, v = rng.integers(0, 3, 3).astype(float), rng.integers(0, 11, 3).astype(float)
        results = [softmax(s) @ v, without_it(s, v), value_added(s, v), half_and_half(s, v)]
        apart = np.abs(np.subtract.outer(results, results)) + np.eye(4)
        if apart.min() > 0.1 and len(set(s)) > 1:
            return {"s": s, "v": v}


def without_it(s, v):
    """That is the output without the prefix."""
    return softmax(s[1:]) @ v[1:]


def value_added(s, v):
    """You added the prefix's value to the output. It takes part in the softmax."""
    return without_it(s, v) + v[0]


def half_and_half(s, v):
    """You averaged the prefix and the sequence evenly. Their weights come from the scores."""
    return (without_it(s, v) + v[0]) / 2


@exercise.part(points=0.5, answer=Numbers())
def prefix_weight(s):
    """The weight of the prefix pair."""
    return softmax(s)[0]


@prefix_weight.misconception()
def weight_linear(s):
    """You divided scores by their sum. A softmax takes exponentials first."""
    return s[0] / s.sum()


@prefix_weight.misconception()
def weight_against_the_rest(s):
    """You divided by the sum of the other two. The prefix is in the sum, too."""
    return np.exp(s[0]) / np.exp(s[1:]).sum()


prefix_weight.mistakes(
    shared_equally=(1 / 3, "That is an equal share. The weights of a softmax follow the scores."),
)


@exercise.part(points=0.5, answer=Numbers())
def without(s, v):
    """The output without the prefix."""
    return without_it(s, v)


@without.misconception()
def not_normalised_again(s, v):
    """Without the prefix the two weights have to add up to 1 again."""
    return softmax(s)[1:] @ v[1:]


@without.misconception()
def without_weights(v):
    """You averaged the two values evenly."""
    return v[1:].mean()


@exercise.part(points=1, answer=Numbers())
def output(prefix_weight, without, v):
    """The output with the prefix."""
    return prefix_weight * v[0] + (1 - prefix_weight) * without


for mistake in (without_it, value_added, half_and_half):
    output.misconception()(mistake)


@output.misconception()
def rest_counted_in_full(prefix_weight, without, v):
    """The tokens have only the weight that the prefix leaves them."""
    return prefix_weight * v[0] + without


@output.misconception()
def shares_exchanged(prefix_weight, without, v):
    """You exchanged the shares: the prefix's weight belongs to its own value."""
    return prefix_weight * without + (1 - prefix_weight) * v[0]


chain = IndexedChain(
    start="(sum(exp(a_j)*u_j, j, 1, p) + sum(exp(s_k)*v_k, k))"
    "/(sum(exp(a_j), j, 1, p) + sum(exp(s_k), k))",
    target="l*x + (1 - l)*y",
    names=("P", "S", "l", "x", "y"),
    indexed=("a", "u", "s", "v"),
    indices=("i", "j", "k"),
    sizes=("p",),
    definitions={
        "P": "sum(exp(a_i), i, 1, p)",
        "S": "sum(exp(s_k), k)",
        "x": "sum(exp(a_j)*u_j, j, 1, p)/P",
        "y": "sum(exp(s_k)*v_k, k)/S",
        "l": "P/(P + S)",
    },
    rules=("definition",),
)


@exercise.part(points=2, answer=Derivation(chain))
def mixture_steps():
    """The output is a mixture of attention over the prefix and attention over the sequence."""
    return [
        chain.start,
        "(P*x + S*y)/(P + S)",
        "P/(P + S)*x + S/(P + S)*y",
        "l*x + (1 - l)*y",
    ]


@mixture_steps.alternative
def denominator_first():
    """Name the denominator, then the two numerators."""
    return [
        "(sum(exp(a_j)*u_j, j, 1, p) + sum(exp(s_k)*v_k, k))/(P + S)",
        "sum(exp(a_j)*u_j, j, 1, p)/(P + S) + sum(exp(s_k)*v_k, k)/(P + S)",
        "P*x/(P + S) + S*y/(P + S)",
        "l*x + (1 - l)*y",
    ]


@mixture_steps.alternative
def one_after_the_other():
    """The prefix first."""
    return [
        "(P*x + sum(exp(s_k)*v_k, k))/(sum(exp(a_j), j, 1, p) + sum(exp(s_k), k))",
        "(P*x + S*y)/(sum(exp(a_j), j, 1, p) + sum(exp(s_k), k))",
        "(P*x + S*y)/(P + S)",
        "l*x + S*y/(P + S)",
        "l*x + (1 - l)*y",
    ]


@mixture_steps.alternative
def complement_shown():
    """Show what 1 − λ is."""
    return [
        "(x*P + y*S)/(P + S)",
        "x*P/(P + S) + y*(P + S - P)/(P + S)",
        "x*(P/(P + S)) + y*(1 - P/(P + S))",
        "x*l + y*(1 - l)",
    ]


@exercise.reference(without=ATTENTION)
def prefix_attention(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "n d"],
    V: Float[ndarray, "n d_v"],
    Pk: Float[ndarray, "p d"],
    Pv: Float[ndarray, "p d_v"],
    causal: bool = True,
) -> Float[ndarray, "n d_v"]:
    """Attention over the prefix and the sequence; the mask is about the sequence alone."""
    n, p = len(K), len(Pk)
    mask = np.hstack([np.ones((n, p), bool), np.tril(np.ones((n, n), bool)) | (not causal)])
    return attention(Q, np.vstack([Pk, K]), np.vstack([Pv, V]), mask)[0]


def alone(Q, K, V, causal):
    """Attention without a prefix."""
    return prefix_attention(Q, K, V, K[:0], V[:0], causal)


@exercise.alternative
def as_a_mixture(Q, K, V, Pk, Pv, causal=True):
    """Two attentions, mixed by their sums."""
    if not len(Pk):
        return alone(Q, K, V, causal)
    scale = Q.shape[1] ** -0.5
    prefix, own = Q @ Pk.T * scale, Q @ K.T * scale
    if causal:
        own = np.where(np.tri(len(K), dtype=bool), own, -np.inf)
    tops = [x.max(axis=1, keepdims=True) for x in (prefix, own)]
    sums = [
        np.log(np.exp(x - t).sum(axis=1)) + t[:, 0]
        for x, t in zip((prefix, own), tops, strict=True)
    ]
    share = np.exp(sums[0] - np.logaddexp(*sums))[:, None]
    return share * (softmax(prefix) @ Pv) + (1 - share) * (softmax(own) @ V)


@exercise.alternative
def with_positions(Q, K, V, Pk, Pv, causal=True):
    """The prefix stands at negative positions: an ordinary causal mask."""
    p = len(Pk)
    keys, values = np.concatenate([Pk, K]), np.concatenate([Pv, V])
    scores = Q @ keys.T / np.sqrt(Q.shape[1])
    if causal:
        scores[np.arange(len(keys)) - p > np.arange(len(Q))[:, None]] = -np.inf
    return softmax(scores) @ values


@exercise.alternative
def row_by_row(Q, K, V, Pk, Pv, causal=True):
    """Each query takes the keys that it may see."""
    rows = []
    for i, q in enumerate(Q):
        last = i + 1 if causal else len(K)
        keys, values = np.vstack([Pk, K[:last]]), np.vstack([Pv, V[:last]])
        rows.append(softmax(keys @ q / len(q) ** 0.5) @ values)
    return np.array(rows)


def inputs(rng, n=5, p=3, d=4, d_v=2):
    """Queries, keys, values, and a prefix."""
    shapes = ((n, d), (n, d), (n, d_v), (p, d), (p, d_v))
    return [rng.normal(size=shape) for shape in shapes]


@exercise.check(points=1, visible=True)
def more_keys(call, rng):
    """Without a mask it is attention over p + n keys."""
    for p in (1, 3):
        args = inputs(rng, p=p)
        agree(call(*args, False), prefix_attention(*args, False))


@exercise.check(points=0.75)
def prefix_is_seen_by_all(call, rng):
    """With the causal mask each token sees the whole prefix, itself, and what lies before it."""
    args = inputs(rng)
    agree(call(*args), prefix_attention(*args))


@exercise.check(points=0.75)
def empty_prefix(call, rng):
    """With p = 0 it is ordinary attention."""
    Q, K, V, *_ = inputs(rng)
    for causal in (True, False):
        agree(call(Q, K, V, K[:0], V[:0], causal), alone(Q, K, V, causal))


@exercise.check(points=0.5)
def large_scores(call, rng):
    """Scores of several hundred give finite outputs."""
    args = inputs(rng)
    args[0] = args[0] * 500
    agree(call(*args, False), prefix_attention(*args, False))


@exercise.misconception(credit=0.4)
def prefix_hidden(Q, K, V, Pk, Pv, causal=True):
    """Your mask hides the prefix from the tokens: then it changes nothing."""
    return alone(Q, K, V, causal)


@exercise.misconception
def mask_from_the_first_key(Q, K, V, Pk, Pv, causal=True):
    """Your mask counts the prefix as positions: tokens see too little. Shift it by p."""
    keys, values = np.vstack([Pk, K]), np.vstack([Pv, V])
    mask = np.tri(len(Q), len(keys), dtype=bool) | (not causal)
    return attention(Q, keys, values, mask)[0]


@exercise.misconception
def mask_forgotten(Q, K, V, Pk, Pv, causal=True):
    """Your tokens see what comes after them."""
    return prefix_attention(Q, K, V, Pk, Pv, False)


@exercise.misconception(credit=0.4)
def always_masked(Q, K, V, Pk, Pv, causal=True):
    """You mask even if `causal` is False."""
    return prefix_attention(Q, K, V, Pk, Pv, True)


@exercise.misconception(credit=0.4)
def outputs_added(Q, K, V, Pk, Pv, causal=True):
    """You added two attentions up. All keys share one softmax."""
    own = alone(Q, K, V, causal)
    return own + attention(Q, Pk, Pv)[0] if len(Pk) else own


@exercise.misconception(credit=0.4)
def scale_forgotten(Q, K, V, Pk, Pv, causal=True):
    """The scale 1/√d is missing."""
    return prefix_attention(Q * Q.shape[1] ** 0.5, K, V, Pk, Pv, causal)


@exercise.misconception(credit=0.4)
def values_in_another_order(Q, K, V, Pk, Pv, causal=True):
    """Your values stand in another order than your keys: each key brings its own value."""
    n, p = len(K), len(Pk)
    mask = np.hstack([np.ones((n, p), bool), np.tri(n, dtype=bool) | (not causal)])
    return attention(Q, np.vstack([Pk, K]), np.vstack([V, Pv]), mask)[0]


@exercise.misconception
def prefix_needed(Q, K, V, Pk, Pv, causal=True):
    """Without a prefix something is divided by 0."""
    mixed = prefix_attention(Q, K, V, Pk, Pv, causal)
    return mixed if len(Pk) else mixed * np.nan


@exercise.misconception
def exponentials_overflow(Q, K, V, Pk, Pv, causal=True):
    """Large scores overflow. Subtract each row's largest one first."""
    with np.errstate(all="ignore"):
        e = np.exp(Q @ np.vstack([Pk, K]).T / np.sqrt(Q.shape[1]))
        p = len(Pk)
        e[:, p:] *= np.tri(len(Q), dtype=bool) | (not causal)
        return e / e.sum(axis=1, keepdims=True) @ np.vstack([Pv, V])


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Every token sees the prefix.",
            "The prefix sees every token, and the tokens needn't see the prefix.",
            "The first token sees the prefix, and the others see the first token only.",
            "Nobody: a prefix has an effect through its gradient.",
        ]
    ),
)
def who_sees_whom():
    """Who has to see whom for the prefix to have an effect."""
    return "A"


who_sees_whom.mistakes(
    prefix_sees_tokens=(
        "B",
        "A prefix of keys and values has no queries. And what would the tokens' outputs depend on?",
    ),
    only_the_first_token=(
        "C",
        "Then the others would learn of it at second hand only. No mask demands that.",
    ),
    nobody_needs_to=("D", "A key that nobody sees has the weight 0. What is left of its value?"),
)


@exercise.part(points=0.5, answer=Shape())
def mask_shape():
    """The shape of the mask for n = 5 and p = 3."""
    return (5, 8)


mask_shape.mistakes(
    mask_square=((8, 8), "The prefix has keys and no queries: there are more columns than rows."),
    mask_of_the_tokens=((5, 5), "The prefix's keys are columns, too."),
    mask_transposed=((8, 5), "Rows are queries, columns are keys."),
)


@exercise.part(points=0.5, answer=Count())
def allowed():
    """The pairs that a causal mask allows then."""
    return 15 + 15


allowed.mistakes(
    everything_allowed=(40, "The mask among the tokens is causal."),
    own_key_hidden=(
        15 + 10,
        "You hid each token from itself. A causal mask hides what comes later.",
    ),
    prefix_not_counted=(15, "These are the pairs of tokens. Each token sees the prefix, too."),
    causal_over_everything=(36, "You counted the prefix as queries as well."),
)
