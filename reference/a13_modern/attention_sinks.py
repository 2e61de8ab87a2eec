"""Somewhere to look when there is nothing to see: a 1 in the denominator, and kept first tokens.

Source: Miller (2023), "Attention is off by one"; Xiao et al. (2023), "Efficient streaming language
models with attention sinks".
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.algebra import IndexedChain
from autograder.exercise import Count, Derivation, Exercise, Formula, Numbers, agree, require
from autograder.exercise.properties import leaves_alone
from reference.helpers import ATTENTION, SOFTMAX, attention, softmax

exercise = Exercise(
    "attention_sinks",
    title="Somewhere to look when there is nothing to see",
    source="Miller (2023); Xiao et al. (2023)",
    minutes=35,
    hints=[
        "Imagine one more key whose score is fixed and whose value is 0, in an ordinary softmax.",
        "To stay finite, subtract the same number from all scores, the sink's too. Which one?",
        "For the mask ask two questions of each pair that is not ahead: is the key in the window, "
        "and is it one of the first? One yes is enough.",
    ],
)


@exercise.variant
def draw(rng):
    """s: (3,), scores; n, w, sinks: tokens, window and kept first tokens of a small text."""
    w, sinks = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    s = rng.integers(-2, 4, 3)
    return {"s": s, "n": int(rng.integers(w + sinks + 4, 19)), "w": w, "sinks": sinks}


chain = IndexedChain(
    start="exp(s_i)/(1 + sum(exp(s_k), k))",
    target="p_i/(1 + exp(-L))",
    names=("L",),
    indexed=("s", "p"),
    definitions={"L": "log(sum(exp(s_k), k))", "p_i": "exp(s_i)/sum(exp(s_k), k)"},
    rules=("definition",),
    min_lines=3,
)


@exercise.part(points=2, answer=Derivation(chain))
def steps():
    """From the weight with a 1 in the denominator to a softmax weight, made smaller."""
    return [
        "exp(s_i)/(1 + exp(L))  # definition",
        "exp(s_i)*exp(-L)/(1 + exp(-L))  # divide by exp(L)",
        "p_i/(1 + exp(-L))  # definition",
    ]


@steps.alternative
def sum_first():
    """Divide by the sum before it gets a name."""
    return [
        "exp(s_i)/sum(exp(s_k), k)/(1 + 1/sum(exp(s_k), k))",
        "p_i/(1 + 1/sum(exp(s_k), k))  # definition",
        "p_i/(1 + 1/exp(L))  # definition",
        "p_i/(1 + exp(-L))",
    ]


@steps.alternative
def numerator_first():
    """Put the softmax weight in the place of the numerator first."""
    return [
        "= p_i*sum(exp(s_k), k)/(1 + sum(exp(s_k), k))  # definition",
        "= p_i*exp(L)/(1 + exp(L))  # definition",
        "= p_i/(1 + exp(-L))",
    ]


@steps.alternative
def in_latex():
    """Write fractions and powers as on paper."""
    return [
        r"\frac{e^{s_i}}{1 + e^L}",
        r"\frac{e^{s_i} / e^L}{e^{-L} + 1}",
        r"\frac{p_i}{1 + e^{-L}}",
    ]


def with_sink(s, sink=0.0):
    """The weights of all keys but the last one, which is the sink."""
    return softmax(np.append(s, sink))[:-1]


@exercise.part(points=0.5, answer=Numbers())
def weights(s):
    """The weights of your three keys with a 1 in the denominator."""
    return with_sink(s)


@weights.misconception()
def plain_softmax(s):
    """The 1 in the denominator is missing: some weight may go nowhere."""
    return softmax(s)


@weights.misconception()
def unshifted_one(s):
    """If you subtract the maximum, the 1 becomes exp(−max) as well."""
    return with_sink(s - s.max())


@weights.misconception()
def each_by_itself(s):
    """The keys still share one denominator."""
    return 1 / (1 + np.exp(-1.0 * s))


@weights.misconception()
def score_of_one(s):
    """The 1 in the denominator is e⁰. You gave the sink the *score* 1, which is e there."""
    return with_sink(s, 1.0)


@weights.misconception()
def one_for_every_key(s):
    """You added a 1 for each key. There is one in the denominator that they share."""
    return np.exp(s) / (np.exp(s) + 1).sum()


@weights.misconception()
def exponentials_alone(s):
    """These are the exponentials. Divide them by the denominator."""
    return np.exp(1.0 * s)


@exercise.part(points=0.25, answer=Numbers())
def total(weights):
    """The sum of these weights."""
    return np.sum(weights)


@total.misconception()
def always_one():
    """A softmax sums to 1. Here some weight goes nowhere."""
    return 1.0


@total.misconception()
def mean_weight(weights):
    """That is their mean. Add them up."""
    return np.mean(weights)


@total.misconception()
def what_goes_nowhere(weights):
    """That is what goes nowhere. Asked for is what the three keys keep."""
    return 1 - np.sum(weights)


@exercise.part(points=0.25, answer=Numbers())
def lowered(s):
    """The sum of the weights when all three scores are 5 smaller."""
    return with_sink(s - 5).sum()


@lowered.misconception()
def shift_ignored(total):
    """You took it for invariant. The 1 is not shifted along with the scores."""
    return total


@lowered.misconception()
def sum_divided(total):
    """You divided the sum by e⁵. The 1 in the denominator is not divided."""
    return total * np.exp(-5)


@lowered.misconception()
def exponentials_added_up(s):
    """These are the exponentials, added up. The denominator is missing, where the 1 stands."""
    return np.exp(s - 5).sum()


@lowered.misconception()
def rest_when_lowered(s):
    """That is what goes nowhere then. Asked for is what the three keys keep."""
    return 1 - with_sink(s - 5).sum()


@lowered.misconception()
def one_in_a_softmax():
    """A softmax sums to 1 after every shift. Here the 1 in the denominator stays behind."""
    return 1.0


@exercise.reference(without=SOFTMAX)
def softmax1(x: Float[ndarray, "..."], axis: int = -1, sink: float = 0.0) -> Float[ndarray, "..."]:
    """Return exp(x_i)/(exp(sink) + Σ exp(x_k)) along an axis."""
    top = np.maximum(x.max(axis=axis, keepdims=True), x.dtype.type(sink))
    e = np.exp(x - top)
    return e / (e.sum(axis=axis, keepdims=True) + np.exp(sink - top))


@exercise.alternative
def one_key_more(x, axis=-1, sink=0.0):
    """Append the sink to the scores, and take its weight off again."""
    x = np.moveaxis(x, axis, -1)
    sinks = np.full((*x.shape[:-1], 1), sink, x.dtype)
    return np.moveaxis(softmax(np.concatenate([x, sinks], axis=-1))[..., :-1], -1, axis)


@exercise.alternative
def softmax_made_smaller(x, axis=-1, sink=0.0):
    """A softmax times the share that does not go to the sink."""
    top = x.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        L = top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))
    return np.exp(x - np.logaddexp(L, sink))


@exercise.alternative
def slice_by_slice(x, axis=-1, sink=0.0):
    """One softmax for each slice, shifted by the largest of its scores and the sink."""

    def of_one(z):
        top = max(z.max(), sink)
        e = np.exp(z - top)
        return e / (e.sum() + np.exp(sink - top))

    return np.apply_along_axis(of_one, axis, x)


def scores(rng, *shape):
    """Scores of moderate size."""
    return 2 * rng.normal(size=shape)


@exercise.check(points=0.5, visible=True)
def one_key_more_than_there_are(call, rng):
    """Equals the softmax of the scores and the sink, without the sink's own weight."""
    x = scores(rng, 5)
    agree(call(x), with_sink(x))
    for sink in (3.0, -1.5):
        agree(call(x, sink=sink), with_sink(x, sink))


@exercise.check(points=0.25)
def some_weight_goes_nowhere(call, rng):
    """Sums stay below 1; a shift of the scores alone matters, one of scores and sink does not."""
    x = scores(rng, 4)
    a, b = np.asarray(call(x)), np.asarray(call(x - 2))
    require(0 < a.sum() < 1 and b.sum() < a.sum(), "the weights should sum to less than 1")
    agree(call(x + 2.5, sink=2.5), a)


@exercise.check(points=0.5)
def large_and_small_scores(call, rng):
    """Scores of ±1000 give finite weights: equal shares far above the sink, 0 far below it."""
    for x in ([1000.0, 1000], [-800.0, -801], [1000.0, -1000], [-1000.0, -1000, 0.5]):
        agree(call(np.array(x)), with_sink(np.array(x)))
    agree(call(np.array([-1000.0, -1001]), sink=-1000.0), with_sink([-1000, -1001], -1000.0))
    rows = np.array([[1000.0, 999], [-1000.0, -1001]])
    right = [with_sink(row, -1000.0) for row in rows]
    agree(call(rows, sink=-1000.0), right, what="the result for unlike rows", credit=0.5)


@exercise.check(points=0.25)
def infinities(call, rng):
    """A row of −∞ gives zeros; with the sink −∞ it is the ordinary softmax."""
    agree(call(np.full(3, -np.inf)), np.zeros(3))
    x = scores(rng, 4)
    agree(call(x, sink=-np.inf), softmax(x))


@exercise.check(points=0.25)
def every_axis(call, rng):
    """Works along any axis; every slice has a sink of its own."""
    x = scores(rng, 3, 4, 5)
    for axis in (0, 1, -1):
        agree(call(x, axis=axis), np.apply_along_axis(with_sink, axis, x))


@exercise.check(points=0.25)
def single_precision(call, rng):
    """Works for float32; the scores are left alone."""
    x = scores(rng, 3, 4)
    right = np.apply_along_axis(with_sink, -1, x)
    agree(call(x.astype(np.float32)), right, rtol=1e-4, atol=1e-6)
    leaves_alone(call, x)


@exercise.misconception(credit=0.4)
def no_sink(x, axis=-1, sink=0.0):
    """The 1 in the denominator is missing: some weight may go nowhere."""
    return softmax(x, axis)


@exercise.misconception(credit=0.4)
def one_not_shifted(x, axis=-1, sink=0.0):
    """If you subtract the maximum, the 1 becomes exp(−max) as well."""
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    return e / (np.exp(sink) + e.sum(axis=axis, keepdims=True))


@exercise.misconception(credit=0.4)
def one_not_shifted_with_the_larger(x, axis=-1, sink=0.0):
    """If you subtract the maximum, the 1 becomes exp(−max) as well."""
    top = np.maximum(x.max(axis=axis, keepdims=True), sink)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    return e / (np.exp(sink) + e.sum(axis=axis, keepdims=True))


@exercise.misconception
def overflows(x, axis=-1, sink=0.0):
    """exp of a large score is infinite. Subtract the same number from scores and sink first."""
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(x)
        return e / (np.exp(sink) + e.sum(axis=axis, keepdims=True))


@exercise.misconception
def largest_score_alone(x, axis=-1, sink=0.0):
    """You subtract the largest score. Where it is far below the sink, the sink overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        top = x.max(axis=axis, keepdims=True)
        e = np.exp(x - top)
        return e / (np.exp(sink - top) + e.sum(axis=axis, keepdims=True))


@exercise.misconception(credit=0.5)
def one_shift_for_all(x, axis=-1, sink=0.0):
    """You subtract the largest of all scores. Rows far below it need a number of their own."""
    top = max(x.max(), x.dtype.type(sink))
    with np.errstate(invalid="ignore"):
        e = np.exp(x - top)
        return e / (e.sum(axis=axis, keepdims=True) + np.exp(sink - top))


@exercise.misconception(credit=0.4)
def own_denominators(x, axis=-1, sink=0.0):
    """The keys still share one denominator."""
    return (1 + np.tanh((x - sink) / 2)) / 2


@exercise.misconception(credit=0.4)
def sink_ignored(x, axis=-1, sink=0.0):
    """The argument `sink` has no effect: e^sink takes the place of the 1."""
    return softmax1(x, axis)


@exercise.misconception(credit=0.4)
def sink_itself_added(x, axis=-1, sink=0.0):
    """You added the sink's score to the denominator. Its exponential belongs there."""
    top = np.maximum(x.max(axis=axis, keepdims=True), 0)
    e = np.exp(x - top)
    return e / (e.sum(axis=axis, keepdims=True) + (1 + sink) * np.exp(-top))


@exercise.misconception
def axis_ignored(x, axis=-1, sink=0.0):
    """You always normalise along the last axis: `axis` has no effect."""
    return softmax1(x, sink=sink)


@exercise.misconception
def changed_in_place(x, axis=-1, sink=0.0):
    """You write into the array that you were given. Make a new one."""
    found = softmax1(x, axis, sink)
    if x.flags.writeable:
        x[...] = found
    return found


def sink_mask(n, w, sinks):
    """True where key j is not ahead of query i, and in its window or one of the first."""
    i, j = np.indices((n, n))
    return (j <= i) & ((j > i - w) | (j < sinks))


@exercise.reference(without=ATTENTION)
def sink_attention(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "n d"],
    V: Float[ndarray, "n v"],
    w: int,
    sinks: int,
) -> Float[ndarray, "n v"]:
    """Return causal attention in a window of w keys and to the first tokens."""
    return attention(Q, K, V, sink_mask(len(Q), w, sinks))[0]


@exercise.alternative
def from_a_cache(Q, K, V, w, sinks):
    """Token by token, from the keys and values that are kept."""
    rows = []
    for i in range(len(Q)):
        kept = sorted({*range(min(sinks, i + 1)), *range(max(0, i - w + 1), i + 1)})
        rows.append(softmax(K[kept] @ Q[i] / np.sqrt(Q.shape[1])) @ V[kept])
    return np.array(rows)


@exercise.alternative
def blocked_with_a_large_number(Q, K, V, w, sinks):
    """Say which keys are hidden: those ahead, and those too old that are no sinks."""
    i, j = np.ogrid[: len(Q), : len(Q)]
    hidden = (j > i) | ((i - j >= w) & (j >= sinks))
    S = np.where(hidden, -1e30, np.einsum("id,jd->ij", Q, K) / Q.shape[1] ** 0.5)
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E @ V / E.sum(axis=1, keepdims=True)


@exercise.alternative
def mask_row_by_row(Q, K, V, w, sinks):
    """Write the mask in a loop over the queries: first the window, then the sinks."""
    n = len(Q)
    S = np.full((n, n), -np.inf)
    scores = Q @ K.T / np.sqrt(K.shape[1])
    for i in range(n):
        for part in (slice(max(0, i - w + 1), i + 1), slice(0, min(sinks, i + 1))):
            S[i, part] = scores[i, part]
    return softmax(S) @ V


def qkv(rng, n, d=4, d_v=3):
    """Inputs for n tokens."""
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, d_v))


@exercise.check(points=0.5, visible=True)
def masked_attention(call, rng):
    """Equals attention under the mask of window and sinks; a key that is both counts once."""
    for n, w, sinks in ((9, 3, 2), (int(rng.integers(8, 12)), 4, 1)):
        Q, K, V = qkv(rng, n)
        agree(call(Q, K, V, w, sinks), sink_attention(Q, K, V, w, sinks))


@exercise.check(points=0.25)
def plain_windows(call, rng):
    """Without sinks it is the plain window, and for w ≥ n causal attention."""
    Q, K, V = qkv(rng, 8)
    agree(call(Q, K, V, 3, 0), attention(Q, K, V, sink_mask(8, 3, 0))[0])
    for w in (8, 11):
        agree(call(Q, K, V, w, 2), attention(Q, K, V, np.tri(8, dtype=bool))[0])


@exercise.check(points=0.25)
def what_was_dropped(call, rng):
    """A row comes from sinks and window alone: what lies between them may be anything."""
    n, w, sinks = 10, 3, 2
    Q, K, V = qkv(rng, n)
    other = [X.copy() for X in (K, V)]
    for X in other:
        X[sinks : n - w] = 50 * rng.normal(size=X[sinks : n - w].shape)
    last = np.asarray(call(Q, *other, w, sinks))[-1]
    agree(last, sink_attention(Q, K, V, w, sinks)[-1])


@exercise.misconception(credit=0.4)
def sinks_counted_twice(Q, K, V, w, sinks):
    """A sink inside the window is one key; in yours it counts twice."""
    n = len(Q)
    i, j = np.indices((n, n))
    times = 1.0 * ((j <= i) & (j > i - w)) + ((j <= i) & (j < sinks))
    E = np.exp(Q @ K.T / np.sqrt(Q.shape[1])) * times
    return E / E.sum(axis=-1, keepdims=True) @ V


@exercise.misconception(credit=0.4)
def sinks_ahead(Q, K, V, w, sinks):
    """A query sees no sink behind it: the first tokens are sinks for those that come later."""
    i, j = np.indices((len(Q), len(Q)))
    return attention(Q, K, V, ((j <= i) & (j > i - w)) | (j < sinks))[0]


@exercise.misconception(credit=0.4)
def window_too_wide(Q, K, V, w, sinks):
    """The window of w keys counts the token itself: yours holds w + 1."""
    return sink_attention(Q, K, V, w + 1, sinks)


@exercise.misconception(credit=0.4)
def sinks_forgotten(Q, K, V, w, sinks):
    """That is the plain window: the first tokens stay visible for everyone."""
    return sink_attention(Q, K, V, w, 0)


@exercise.misconception(credit=0.4)
def not_scaled(Q, K, V, w, sinks):
    """The scores are not divided by √d."""
    return sink_attention(Q * np.sqrt(Q.shape[1]), K, V, w, sinks)


@exercise.misconception(credit=0.4)
def not_causal(Q, K, V, w, sinks):
    """Your window looks ahead as well."""
    i, j = np.indices((len(Q), len(Q)))
    return attention(Q, K, V, (abs(i - j) < w) | (j < sinks))[0]


@exercise.part(points=0.5, answer=Count())
def edges(n, w, sinks):
    """The allowed pairs for your n, w and sinks."""
    return int(sink_mask(n, w, sinks).sum())


@edges.misconception()
def overlap(n, w, sinks):
    """A sink inside the window is one key, and a query sees no sink behind it."""
    return int(sink_mask(n, w, 0).sum()) + sinks * n


@edges.misconception()
def window_alone(n, w, sinks):
    """These are the pairs of the window. The first tokens stay visible."""
    return int(sink_mask(n, w, 0).sum())


@edges.misconception()
def sinks_in_addition(n, w, sinks):
    """In the first rows a sink is in the window already: count each key once."""
    i, j = np.indices((n, n))
    return int(sink_mask(n, w, 0).sum() + ((j <= i) & (j < sinks)).sum())


@edges.misconception()
def start_not_cut(n, w, sinks):
    """The first queries have fewer keys than w and the sinks together."""
    return n * (w + sinks)


@edges.misconception()
def window_of_one_more(n, w, sinks):
    """The window of w keys counts the token itself: yours holds w + 1."""
    return int(sink_mask(n, w + 1, sinks).sum())


@edges.misconception()
def sinks_left_at_once(n, w, sinks):
    """The window leaves the sinks one by one: for a few queries it still holds some of them."""
    return int(sink_mask(n, w, 0).sum()) + sinks * (n - w)


@exercise.part(points=0.5, answer=Count())
def cached():
    """The tokens that are kept at token 5000, for a window of 1020 and 4 sinks."""
    return 1020 + 4


cached.mistakes(
    everything_kept=(5001, "What lies between the sinks and the window is never read again."),
    sinks_not_kept=(1020, "The sinks are read by every token: they are kept as well."),
    sinks_taken_from_the_window=(
        1020 - 4,
        "The sinks are kept besides the window: they take no places from it.",
    ),
    one_of_the_tokens_missed=(
        5000,
        "What lies between the sinks and the window is never read again.",
    ),
)


@exercise.part(
    points=1,
    answer=Formula(
        "m epsilon",
        practice=(
            ("The weight that m keys of score 0 keep together beside one of score epsilon."),
            "m/(m + exp(epsilon))",
        ),
    ),
)
def sink_score():
    """The score of a sink for which m keys of score 0 keep the weight ε together."""
    return "log(m*(1 - epsilon)/epsilon)"


sink_score.mistakes(
    m_forgotten=("log((1 - epsilon)/epsilon)", "All m keys weigh against the sink together."),
    weight_of_the_sink=(
        "log(m*epsilon/(1 - epsilon))",
        "You gave ε to the sink. It is what the other keys keep.",
    ),
    weight_for_exponential=(
        "log(m*epsilon)",
        "The smaller ε, the larger the score has to be. Write the weight of the m keys down first.",
    ),
    own_weight_forgotten=(
        "log(m/epsilon)",
        "The sink's exponential stands in the denominator, too.",
    ),
    logarithm_forgotten=("m*(1 - epsilon)/epsilon", "That is e to the score. Take its logarithm."),
    each_keeps_epsilon=(
        "log(1/epsilon - m)",
        "You left the weight ε to each key. They keep it together.",
    ),
    keys_on_the_other_side=(
        "log((1 - epsilon)/(epsilon*m))",
        "You divided by m. More keys pull more, and need a stronger sink.",
    ),
    not_divided_by_epsilon=(
        "log(m*(1 - epsilon))",
        "You left out a division: set the keys' share, m over the whole denominator, equal to ε.",
    ),
    half_for_the_sink=("log(m)", "That leaves one half to the keys. They should keep ε."),
)
