"""From logits to a token: temperature, the likeliest few, and how often each one comes.

Source: Holtzman et al. (2020), "The curious case of neural text degeneration"; Fan et al. (2018),
"Hierarchical neural story generation".
"""

import random

import numpy as np
from jaxtyping import Float, Int
from numpy import inf, ndarray

from autograder.exercise import Choice, Count, Exercise, Numbers, agree, require
from autograder.exercise.properties import leaves_alone, rows_sum_to_one
from reference.helpers import softmax

exercise = Exercise(
    "sampling",
    title="Which token comes next?",
    source="Holtzman et al. (2020); Fan et al. (2018)",
    minutes=70,
    hints=[
        "Make a table of your six tokens, the likeliest first, with a column for each step: "
        "logit, probability, sum so far, kept or not, probability again.",
        "What was left out has the probability 0, and the others share everything: after each "
        "cut the sum is less than 1. Which rule looks at that sum?",
        "For the draws you need nothing but sums of probabilities and uniform numbers: which "
        "token's stretch of the line from 0 to 1 does such a number fall into?",
    ],
)

V = 6
#: How many tokens top-p keeps, at temperature T and at 1: no pair of numbers is that of many.
KEPT = (2, 3), (2, 4), (3, 2), (3, 2), (3, 5), (4, 2), (4, 2), (4, 5)


@exercise.variant
def draw(rng):
    """z: (6,), logits; T: the temperature; k, p: what is kept; table: (6, 6), start: for part 6."""
    wanted = KEPT[rng.integers(len(KEPT))]
    while True:
        gaps = rng.choice([0.5, 1.0, 1.5], 5)
        gaps[2] = 0  # the third and the fourth are level
        z = float(rng.integers(-2, 2)) + np.append(np.cumsum(gaps[::-1])[::-1], 0)
        T, p = float(rng.choice([0.5, 1.5, 2.0, 2.5])), int(rng.integers(12, 20)) / 20
        warm, cold = softmax(z / T), softmax(z)
        first = count_of(likeliest(warm, 3), p) < min(3, count_of(warm, p))
        if first and (count_of(warm, p), count_of(cold, p)) == wanted:
            break
    table, start = circle(rng)
    return {"z": rng.permutation(z), "T": T, "k": 3, "p": p, "table": table, "start": start}


def circle(rng, size=7):
    """Logits behind each of some tokens, and a start from which one comes to a circle of them."""
    round_, ids = int(rng.integers(2, 6)), rng.permutation(size)
    before = int(rng.integers(2, min(4, size - round_) + 1))
    behind = rng.permutation(size)  # of tokens that the path never meets
    behind[ids[: before + round_]] = [*ids[1 : before + round_], ids[before]]
    table = np.array([rng.permutation(size) for _ in range(size)])
    for row, token in zip(table, behind, strict=True):
        top = int(np.argmax(row))
        row[[token, top]] = row[[top, token]]
    return table, int(ids[0])


def ranked(weights):
    """Ids by falling weight; of equal ones the smaller id comes first."""
    return np.argsort(-np.asarray(weights), kind="stable")


def kept_only(weights, ids):
    """These ids share what there is, and the others get nothing."""
    left = np.zeros(len(weights))
    left[ids] = weights[ids]
    return left / left.sum()


def likeliest(probabilities, k):
    """The k likeliest share what there is."""
    return kept_only(probabilities, ranked(probabilities)[:k])


def count_of(probabilities, p):
    """The size of the smallest set of likeliest tokens that has p together."""
    ids = ranked(probabilities)
    sums = np.cumsum(probabilities[ids])
    return min(int(np.sum(sums < p - 1e-12)) + 1, np.count_nonzero(probabilities))


def nucleus(probabilities, p):
    """The smallest set of likeliest tokens that has p together shares what there is."""
    return likeliest(probabilities, count_of(probabilities, p))


@exercise.part(points=0.75, answer=Numbers())
def warm(z, T):
    """The probabilities of your six tokens at temperature T, shape (6,)."""
    return softmax(z / T)


@warm.misconception()
def multiplied_by_the_temperature(z, T):
    """You multiplied by T. Heat levels differences, cold sharpens them."""
    return softmax(z * T)


@warm.misconception()
def temperature_left_out(z):
    """That is the softmax at temperature 1."""
    return softmax(1.0 * z)


@warm.misconception()
def probabilities_divided(z, T):
    """You divided the probabilities by T: they no longer add up to 1. Divide the logits."""
    return softmax(1.0 * z) / T


@warm.misconception()
def softmax_of_probabilities(z, T):
    """You took the softmax of probabilities. It is taken once, of logits."""
    return softmax(softmax(1.0 * z) / T)


@warm.misconception()
def powers_not_shared_out(z, T):
    """Yours are powers of e, which don't add up to 1. What is each one's share?"""
    return np.exp(z / T)


@warm.misconception()
def temperature_in_the_powers(z, T):
    """You divided powers of e by T. Logits are divided, before the powers are taken."""
    return np.exp(z) / T


@exercise.part(points=0.75, answer=Numbers())
def top_k(z, k):
    """At temperature 1, the probabilities if only the k likeliest tokens are kept, shape (6,)."""
    return likeliest(softmax(1.0 * z), k)


@top_k.misconception()
def tie_kept_whole(z, k):
    """Two tokens are level at the last place, and you kept both: k is how many there are."""
    p = softmax(1.0 * z)
    return kept_only(p, p >= np.sort(p)[-k] - 1e-12)


@top_k.misconception(credit=0.5)
def larger_id_wins(z, k):
    """Two tokens are level at the last place, where the smaller id wins here."""
    p = softmax(1.0 * z)
    return kept_only(p, V - 1 - ranked(p[::-1])[:k])


@top_k.misconception(credit=0.5)
def not_shared_out(z, k):
    """These do not add up to 1: those that are left share what the others had."""
    p = softmax(1.0 * z)
    return p * (likeliest(p, k) > 0)


@top_k.misconception()
def zero_logits(z, k):
    """You set the other logits to 0, and e⁰ is 1. What is never to come has the logit −∞."""
    return softmax(np.where(likeliest(softmax(1.0 * z), k) > 0, z, 0.0))


@top_k.misconception()
def unlikeliest_kept(z, k):
    """You kept the k least likely tokens."""
    p = softmax(1.0 * z)
    return kept_only(p, ranked(-p)[:k])


@top_k.misconception()
def k_at_your_temperature(z, T, k):
    """You took your T. Asked for is temperature 1."""
    return likeliest(softmax(z / T), k)


@top_k.misconception()
def softmax_of_those_left(z, k):
    """You took a softmax of probabilities. Those that are left are divided by their sum."""
    ids = ranked(z)[:k]
    left = np.zeros(V)
    left[ids] = softmax(softmax(1.0 * z)[ids])
    return left


@top_k.misconception()
def one_of_k_missing(z, k):
    """You kept one token less than k."""
    return likeliest(softmax(1.0 * z), k - 1)


@top_k.misconception()
def k_in_order_of_size(z, k):
    """Yours stand in order of size. Each belongs to its token's place."""
    return np.sort(likeliest(softmax(1.0 * z), k))[::-1]


@exercise.part(points=0.75, answer=Numbers())
def top_p(z, p):
    """At temperature 1, the probabilities if top-p keeps its tokens, shape (6,)."""
    return nucleus(softmax(1.0 * z), p)


@top_p.misconception()
def stopped_before(z, p):
    """Together your tokens have less than p. The one that reaches it is kept as well."""
    probabilities = softmax(1.0 * z)
    return likeliest(probabilities, max(1, count_of(probabilities, p) - 1))


@top_p.misconception()
def one_too_many(z, p):
    """You kept a token more than it takes to reach p."""
    probabilities = softmax(1.0 * z)
    return likeliest(probabilities, count_of(probabilities, p) + 1)


@top_p.misconception(credit=0.5)
def nucleus_not_shared_out(z, p):
    """These do not add up to 1: those that are left share what the others had."""
    probabilities = softmax(1.0 * z)
    return probabilities * (nucleus(probabilities, p) > 0)


@top_p.misconception()
def from_the_unlikely_end(z, p):
    """You began with the least likely token. Begin with the likeliest."""
    probabilities = softmax(1.0 * z)
    ids = ranked(-probabilities)
    many = int(np.sum(np.cumsum(probabilities[ids]) < p)) + 1
    return kept_only(probabilities, ids[:many])


@top_p.misconception()
def p_at_your_temperature(z, T, p):
    """You took your T. Asked for is temperature 1."""
    return nucleus(softmax(z / T), p)


@exercise.part(points=0.5, answer=Count())
def sizes(z, T, p):
    """How many tokens top-p keeps: at temperature T, and at temperature 1."""
    return [count_of(softmax(z / T), p), count_of(softmax(1.0 * z), p)]


@sizes.alternative
def by_the_own_probabilities(warm, z, p):
    """Counted in the probabilities that are there already."""
    return [count_of(warm, p), count_of(softmax(1.0 * z), p)]


@sizes.misconception()
def other_order(z, T, p):
    """You exchanged the two: which one is flatter, and where does it take more tokens?"""
    return [count_of(softmax(1.0 * z), p), count_of(softmax(z / T), p)]


@sizes.misconception()
def temperature_changes_nothing(z, p):
    """The temperature changes the probabilities, and with them how many it takes to reach p."""
    return [count_of(softmax(1.0 * z), p)] * 2


@sizes.misconception()
def before_p_is_reached(z, T, p):
    """So many have less than p together. The one that reaches it is kept, too; k is left out."""
    return [count_of(softmax(z / T), p) - 1, count_of(softmax(1.0 * z), p) - 1]


@sizes.misconception()
def top_k_as_well(z, T, k, p):
    """You cut by k first. Asked for is how many tokens p alone keeps."""
    return [count_of(likeliest(softmax(z / t), k), p) for t in (T, 1.0)]


@sizes.misconception()
def one_token_above_p(z, T, p):
    """You counted a token more than it takes to reach p."""
    return [count_of(softmax(z / T), p) + 1, count_of(softmax(1.0 * z), p) + 1]


@sizes.misconception()
def sizes_multiplied(z, T, p):
    """You multiplied logits by T. They are divided: cold sharpens, and heat levels."""
    return [count_of(softmax(z * T), p), count_of(softmax(1.0 * z), p)]


@exercise.part(points=1, answer=Numbers())
def all_three(z, T, k, p):
    """Temperature, then the k likeliest, then top-p of what is left, shape (6,)."""
    return nucleus(likeliest(softmax(z / T), k), p)


@all_three.alternative
def cut_from_the_own(warm, k, p):
    """The same, from the probabilities that are there already."""
    return nucleus(likeliest(warm, k), p)


@all_three.misconception()
def stopped_before_p(z, T, k, p):
    """Together your tokens have less than p. The one that reaches it is kept as well."""
    left = likeliest(softmax(z / T), k)
    many = count_of(left, p) - 1
    return likeliest(left, many) if many else np.zeros(V)


@all_three.misconception()
def sum_of_all(z, T, k, p):
    """Top-p cut off too little: it adds up shares at temperature T, made anew behind top-k."""
    warm = softmax(z / T)
    return likeliest(warm, min(k, count_of(warm, p)))


@all_three.misconception()
def temperature_last(z, T, k, p):
    """You cut at temperature 1, and warmed what was left. The temperature comes first."""
    left = nucleus(likeliest(softmax(1.0 * z), k), p)
    return left ** (1 / T) / (left ** (1 / T)).sum()


@all_three.misconception()
def temperature_forgotten(z, k, p):
    """You cut rightly, and the temperature is missing."""
    return nucleus(likeliest(softmax(1.0 * z), k), p)


@all_three.misconception(credit=0.5)
def all_three_not_shared_out(z, T, k, p):
    """These do not add up to 1: those that are left share what the others had."""
    warm = softmax(z / T)
    return warm * (nucleus(likeliest(warm, k), p) > 0)


@all_three.misconception()
def all_three_multiplied(z, T, k, p):
    """You multiplied by T. Heat levels differences, cold sharpens them."""
    return nucleus(likeliest(softmax(z * T), k), p)


@exercise.reference
def shaped(
    z: Float[ndarray, " V"], temperature: float = 1.0, k: int | None = None, p: float | None = None
) -> Float[ndarray, " V"]:
    """Return the probabilities with which the next token is drawn."""
    if temperature == 0:
        return np.eye(len(z))[np.argmax(z)]
    probabilities = softmax((z - z.max()) / temperature)
    if k is not None:
        probabilities = likeliest(probabilities, k)
    return probabilities if p is None else nucleus(probabilities, p)


@exercise.alternative
def through_a_mask(z, temperature=1.0, k=None, p=None):
    """Put −∞ where nothing may come, and take a softmax after each cut."""
    z = np.asarray(z, float)
    if temperature == 0:
        out = [0.0] * len(z)
        out[int(np.argmax(z))] = 1.0
        return out
    z = (z - z.max()) / temperature
    order = sorted(range(len(z)), key=lambda i: (-z[i], i))
    if k is not None:
        z[order[k:]] = -inf
    if p is not None:
        found, total = softmax(z), 0.0
        for i in order:
            if total >= p - 1e-12:
                z[i] = -inf
            total += found[i]
    return softmax(z)


@exercise.alternative
def sums_before_each(z, temperature=1.0, k=None, p=None):
    """Keep a token where those before it have less than p together."""
    z = np.asarray(z, np.float64)
    if temperature == 0:
        return (np.arange(len(z)) == z.argmax()) * 1.0
    q = np.exp((z - z.max()) / temperature)
    order = np.lexsort((np.arange(len(z)), -z))
    q = q[order] / q.sum()
    if k is not None:
        q[k:] = 0
        q = q / q.sum()
    if p is not None:
        q[np.cumsum(q) - q >= p - 1e-12] = 0
    out = np.zeros(len(z))
    out[order] = q / q.sum()
    return out


@exercise.alternative
def cuts_on_unshared_weights(z, temperature=1.0, k=None, p=None):
    """Compare with p times the sum of what is left, and divide once, at the end."""
    z = np.asarray(z, float)
    weights = np.zeros(len(z))
    if temperature == 0:
        weights[z.argmax()] = 1
        return weights
    weights = np.exp((z - z.max()) / temperature)
    order = np.argsort(-z, kind="stable")
    if k is not None:
        weights[order[k:]] = 0
    if p is not None:
        before, total = 0.0, weights.sum()
        for i in order:
            weight = weights[i]
            if before >= p * total - 1e-12:
                weights[i] = 0
            before += weight
    return weights / weights.sum()


def logits_for(rng, size=7):
    """Logits in which no two are level."""
    return rng.permutation(np.arange(size)) * 0.6 + rng.normal(size=size) * 0.1


@exercise.check(points=0.5, visible=True)
def each_by_itself(call, rng):
    """Temperature alone, top-k alone and top-p alone."""
    z = logits_for(rng)
    agree(call(z, 2.0), shaped(z, 2.0))
    agree(call(z, 1.0, 3), shaped(z, 1.0, 3))
    agree(call(z, 1.0, None, 0.7), shaped(z, 1.0, None, 0.7))
    leaves_alone(call, z, 0.5, 3, 0.7)


@exercise.check(points=0.5)
def in_this_order(call, rng):
    """All three together: temperature, then top-k, then top-p of what is left."""
    for _ in range(6):
        z, k = logits_for(rng), int(rng.integers(3, 6))
        for temperature, p in ((2.5, 0.6), (0.6, 0.9), (1.7, 0.8)):
            agree(call(z, temperature, k, p), shaped(z, temperature, k, p))


@exercise.check(points=0.25)
def level_tokens(call, rng):
    """Where tokens are level at the last place, the one with the smaller id is kept."""
    for _ in range(4):
        z = rng.permutation([3.0, 2, 2, 2, 1, 0])
        agree(call(z, 1.0, 2), shaped(z, 1.0, 2))
        agree(call(z, 1.0, 3), shaped(z, 1.0, 3))
        agree(call(z, 1.0, None, 0.6), shaped(z, 1.0, None, 0.6))


@exercise.check(points=0.5)
def at_the_limits(call, rng):
    """Temperature 0 is greedy, p = 1 and k ≥ V keep all; logits of ±1000, −∞ among them, do."""
    z = logits_for(rng)
    level = rng.permutation([2.0, 2, 1, 0])
    agree(call(z, 0.0), shaped(z, 0.0))
    agree(call(level, 0.0), shaped(level, 0.0))
    agree(call(z, 1.5, 99, 1.0), shaped(z, 1.5))
    agree(call(z, 1.0, 1), shaped(z, 0.0))
    agree(call(z, 1.0, None, 1e-3), shaped(z, 0.0))
    large = np.array([1000.0, 999, -inf, -1000, 998])
    agree(call(large, 2.0, 3, 0.9), shaped(large, 2.0, 3, 0.9))
    rows_sum_to_one(np.asarray(call(large + 5, 0.7)))


def cut(z, temperature, k, p, *, first=softmax, keep=likeliest, sum_up=nucleus):
    """The reference with another step."""
    if temperature == 0:
        return np.eye(len(z))[np.argmax(z)]
    found = first((z - z.max()) / temperature)
    found = found if k is None else keep(found, k)
    return found if p is None else sum_up(found, p)


@exercise.misconception
def hot_is_cold(z, temperature=1.0, k=None, p=None):
    """You multiply by the temperature: divide, so that heat levels differences."""
    return cut(z, 1 / temperature if temperature else 0, k, p)


@exercise.misconception
def no_temperature(z, temperature=1.0, k=None, p=None):
    """The temperature has no effect."""
    return cut(z, 1.0, k, p)


@exercise.misconception(credit=0.5)
def temperature_after_the_cuts(z, temperature=1.0, k=None, p=None):
    """You cut at temperature 1 and warm what is left. The temperature comes first."""
    found = cut(z, 1.0, k, p)
    if temperature == 0:
        return cut(z, 0, k, p)
    found = (found / found.max()) ** (1 / temperature)
    return found / found.sum()


@exercise.misconception(credit=0.5)
def top_p_before_top_k(z, temperature=1.0, k=None, p=None):
    """Top-p adds up what was there before top-k. It comes behind it, and adds up new shares."""
    found = cut(z, temperature, None, p)
    return found if k is None else likeliest(found, k)


@exercise.misconception(credit=0.3)
def one_before_p(z, temperature=1.0, k=None, p=None):
    """Top-p also keeps the token with which the sum reaches p."""
    return cut(z, temperature, k, p, sum_up=lambda q, p: likeliest(q, max(1, count_of(q, p) - 1)))


@exercise.misconception(credit=0.3)
def maybe_none_before_p(z, temperature=1.0, k=None, p=None):
    """Top-p also keeps the token with which the sum reaches p: else it may keep none at all."""

    def sum_up(found, p):
        ids = ranked(found)
        with np.errstate(invalid="ignore"):
            return kept_only(found, ids[: int(np.sum(np.cumsum(found[ids]) <= p))])

    return cut(z, temperature, k, p, sum_up=sum_up)


@exercise.misconception(credit=0.3)
def one_above_p(z, temperature=1.0, k=None, p=None):
    """Top-p keeps one token more than it takes to reach p."""
    return cut(z, temperature, k, p, sum_up=lambda q, p: likeliest(q, count_of(q, p) + 1))


@exercise.misconception(credit=0.3)
def one_less_than_k(z, temperature=1.0, k=None, p=None):
    """Top-k keeps one token less than k."""
    return cut(z, temperature, k, p, keep=lambda q, k: likeliest(q, max(k - 1, 1)))


@exercise.misconception(credit=0.3)
def one_more_than_k(z, temperature=1.0, k=None, p=None):
    """Top-k keeps one token more than k."""
    return cut(z, temperature, k, p, keep=lambda q, k: likeliest(q, k + 1))


@exercise.misconception(credit=0.3)
def unlikely_ones_kept(z, temperature=1.0, k=None, p=None):
    """You keep the least likely tokens."""

    def sum_up(found, p):
        ids = ranked(-found)
        return kept_only(found, ids[: int(np.sum(np.cumsum(found[ids]) < p - 1e-12)) + 1])

    def keep(found, k):
        return kept_only(found, ranked(-found)[:k])

    return cut(z, temperature, k, p, keep=keep, sum_up=sum_up)


@exercise.misconception(credit=0.3)
def added_up_from_the_unlikely_end(z, temperature=1.0, k=None, p=None):
    """Top-p begins with the likeliest token. You begin with the least likely one."""

    def sum_up(found, p):
        ids = ranked(-found)
        return kept_only(found, ids[: int(np.sum(np.cumsum(found[ids]) < p - 1e-12)) + 1])

    return cut(z, temperature, k, p, sum_up=sum_up)


@exercise.misconception(credit=0.3)
def in_order_of_size(z, temperature=1.0, k=None, p=None):
    """Yours stand in order of size. Each belongs to its token's place."""
    found = cut(z, temperature, k, p)
    return found if k is None and p is None else np.sort(found)[::-1]


@exercise.misconception(credit=0.3)
def softmax_once_more(z, temperature=1.0, k=None, p=None):
    """You take a softmax of probabilities. It is taken once, of logits."""
    found = cut(z, temperature, k, p)
    return (
        found
        if temperature == 0
        else np.where(found > 0, np.exp(found), 0) / np.sum(np.where(found > 0, np.exp(found), 0))
    )


@exercise.misconception(credit=0.3)
def temperature_of_probabilities(z, temperature=1.0, k=None, p=None):
    """You divide probabilities by the temperature, and the softmax is there already.

    The logits are divided, before it.
    """
    return cut(z, temperature, k, p, first=lambda _: softmax(softmax(z - z.max()) / temperature))


@exercise.misconception
def k_not_handed_on(z, temperature=1.0, k=None, p=None):
    """k has no effect."""
    return cut(z, temperature, None, p)


@exercise.misconception
def p_not_handed_on(z, temperature=1.0, k=None, p=None):
    """p has no effect."""
    return cut(z, temperature, k, None)


@exercise.misconception(credit=0.3)
def shares_left_as_they_were(z, temperature=1.0, k=None, p=None):
    """What is left doesn't add up to 1: divide by its sum."""
    if temperature == 0:
        return cut(z, 0, k, p)
    found = softmax((z - z.max()) / temperature)
    return found * (cut(z, temperature, k, p) > 0)


@exercise.misconception
def tie_kept_whole_in_code(z, temperature=1.0, k=None, p=None):
    """Of tokens that are level you keep all, more than k: of equal ones the smaller id wins."""

    def keep(found, k):
        return kept_only(found, found >= np.sort(found)[-min(k, len(found))])

    def sum_up(found, p):
        return kept_only(found, found >= np.sort(found)[-count_of(found, p)])

    return cut(z, temperature, k, p, keep=keep, sum_up=sum_up)


@exercise.misconception
def last_of_level_ones(z, temperature=1.0, k=None, p=None):
    """Of tokens that are level you keep those with the larger id."""
    return shaped(z[::-1], temperature, k, p)[::-1]


@exercise.misconception(credit=0.3)
def zeros_instead_of_infinity(z, temperature=1.0, k=None, p=None):
    """You set logits to 0 where nothing may come, and e⁰ is 1. Their logit is −∞."""
    kept = cut(z, temperature, k, p) > 0
    return softmax(np.where(kept, z / (temperature or 1e-9), 0.0))


@exercise.misconception
def exponentials_overflow(z, temperature=1.0, k=None, p=None):
    """Large logits overflow, and temperature 0 divides by 0: both need a word of their own."""
    with np.errstate(all="ignore"):
        e = np.exp(z / np.float64(temperature))
        found = e / e.sum()
        found = found if k is None else likeliest(found, k)
        return found if p is None else nucleus(found, p)


@exercise.misconception
def largest_not_taken_off(z, temperature=1.0, k=None, p=None):
    """Large logits overflow: subtract the largest one before you take exponentials."""
    if temperature == 0:
        return cut(z, 0, k, p)
    with np.errstate(all="ignore"):
        e = np.exp(z / temperature)
        found = e / e.sum()
        found = found if k is None else likeliest(found, k)
        return found if p is None else nucleus(found, p)


@exercise.misconception
def temperature_zero_divides(z, temperature=1.0, k=None, p=None):
    """You divide by a temperature of 0. It means greedy decoding, and needs a line of its own."""
    if temperature == 0:
        return np.full(len(z), np.nan)
    return shaped(z, temperature, k, p)


@exercise.misconception
def shared_at_temperature_zero(z, temperature=1.0, k=None, p=None):
    """At temperature 0 you share among level tokens. Greedy decoding takes one: the smaller id."""
    if temperature == 0:
        return (z == z.max()) / np.count_nonzero(z == z.max())
    return shaped(z, temperature, k, p)


@exercise.misconception(credit=0.3)
def compared_with_the_likeliest(z, temperature=1.0, k=None, p=None):
    """You compare each token with the likeliest one. Top-p adds probabilities up."""
    return cut(z, temperature, k, p, sum_up=lambda q, p: kept_only(q, q >= (1 - p) * q.max()))


@exercise.reference
def sample(
    z: Float[ndarray, " V"],
    size: int,
    seed: int,
    temperature: float = 1.0,
    k: int | None = None,
    p: float | None = None,
) -> Int[ndarray, " size"]:
    """Return ``size`` tokens, drawn independently with the probabilities of `shaped`."""
    sums = np.cumsum(shaped(z, temperature, k, p))
    u = np.random.default_rng(seed).random(size)
    return np.searchsorted(sums / sums[-1], u, side="right")


@exercise.alternative
def by_choice(z, size, seed, temperature=1.0, k=None, p=None):
    """Let NumPy draw."""
    return np.random.default_rng(seed).choice(len(z), size, p=shaped(z, temperature, k, p))


@exercise.alternative
def by_noise(z, size, seed, temperature=1.0, k=None, p=None):
    """Add Gumbel noise to the logarithms of the probabilities, and take the largest."""
    with np.errstate(divide="ignore"):
        logs = np.log(shaped(z, temperature, k, p))
    g = np.random.default_rng(seed).gumbel(size=(size, len(z)))
    return np.argmax(logs + g, axis=1)


@exercise.alternative
def one_after_the_other(z, size, seed, temperature=1.0, k=None, p=None):
    """A loop over the draws, with the generator of the standard library."""
    generator = random.Random(seed)
    law = shaped(z, temperature, k, p)
    return generator.choices(range(len(z)), weights=law.tolist(), k=size)


DRAWS = 20_000
# X² of five tokens has four degrees of freedom, and P(X² > x) = e^(-x/2) (1 + x/2): for 55 that is
# 3.2e-11, so that of all right answers in one hundred million gradings less than one fails.
TOO_FAR = 55.0
# The sum of four has sixteen, and P(X² < x) is at most (x/2)^8/8!: 2.5e-13.
TOO_NEAR = 0.2
TOO_MANY = 7.0  # deviations: passed by chance once in four hundred billion draws


def drawn(call, law, *args):
    """How often each token came."""
    found = np.asarray(call(*args))
    require(found.shape == (args[1],), f"size={args[1]} gives a result of another shape")
    require(found.dtype.kind in "iu", f"tokens are whole numbers, not {found.dtype}")
    inside = found.min() >= 0 and found.max() < len(law)
    require(inside, f"a token lies outside 0, …, {len(law) - 1}")
    return found


def chi_squared(found, law):
    """Σ (found − expected)²/expected over the tokens that may come."""
    counts = np.bincount(found, minlength=len(law))
    may = law > 0
    require(counts[~may].sum() == 0, "a token has come that is cut off")
    expected = len(found) * law[may]
    return float(((counts[may] - expected) ** 2 / expected).sum())


def in_a_row(found, law):
    """How many deviations the number of equal neighbours is away from that of independent draws."""
    same, three, n = (law**2).sum(), (law**3).sum(), len(found) - 1
    deviation = np.sqrt(n * (same * (1 - same) + 2 * (three - same**2)))
    return abs(np.sum(found[1:] == found[:-1]) - n * same) / deviation


@exercise.check(points=0.25, visible=True)
def only_one_can_come(call, rng):
    """Where a single token is left, it comes every time."""
    z = np.array([0.5, 3.0, 2.0, -1.0])
    for args in ((0.0,), (1.0, 1)):
        agree(call(z, 6, 3, *args), np.full(6, 1), what="the tokens")
        agree(call(z[::-1], 5, 4, *args), np.full(5, 2), what="the tokens")


@exercise.check(points=1)
def as_often_as_they_should(call, rng):
    """20,000 draws from five tokens agree with the exact probabilities, by a chi-squared test.

    A token is followed by the same one as often as chance does that, too.
    """
    z, total, freedom = np.array([2.0, 1.0, 0.5, 0.0, -0.5, -2.0, -2.5]), 0.0, 0
    for temperature, k, p in ((1.0, 5, None), (2.0, 5, None), (0.7, 5, 1.0), (1.5, None, 0.88)):
        args = (rng.permutation(z), DRAWS, int(rng.integers(1 << 30)), temperature, k, p)
        law = np.asarray(call.own(shaped)(args[0], temperature, k, p), float)
        found = drawn(call, law, *args)
        distance = chi_squared(found, law)
        require(
            distance < TOO_FAR,
            f"X² is {distance:.0f}, where chance alone stays below {TOO_FAR:.0f} all but always",
        )
        independent = in_a_row(found, law) < TOO_MANY
        require(independent, "a token has to do with the one before it: they aren't independent")
        total, freedom = total + distance, freedom + np.count_nonzero(law) - 1
    require(
        freedom < 16 or total > TOO_NEAR,
        "tokens come as often as they should, nearer than chance ever lets them: nothing is drawn",
    )


@exercise.check(points=0.25)
def seeds_decide(call, rng):
    """One seed gives the same tokens again, another one others; and not all are alike."""
    z = np.array([0.3, 0.1, 0.0, 0.2])
    one, same, other = (np.asarray(call(z, 200, seed)) for seed in (7, 7, 8))
    require(
        np.array_equal(one, same),
        "the same seed gives other tokens the second time: make a generator from it in every call",
    )
    require(np.any(one != other), "another seed gives the same tokens")
    require(np.ptp(one) > 0, "all tokens of a draw are alike")


@exercise.misconception
def always_the_likeliest(z, size, seed, temperature=1.0, k=None, p=None):
    """You take the likeliest token each time. That is greedy decoding, and nothing is drawn."""
    return np.full(size, np.argmax(shaped(z, temperature, k, p)))


@exercise.misconception
def one_draw_repeated(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw once and repeat that token: each of them is drawn by itself."""
    return np.full(size, sample(z, 1, seed, temperature, k, p)[0])


@exercise.misconception
def all_alike(z, size, seed, temperature=1.0, k=None, p=None):
    """All tokens that are left come equally often. They have probabilities of their own."""
    left = np.flatnonzero(shaped(z, temperature, k, p))
    return np.random.default_rng(seed).choice(left, size)


@exercise.misconception(credit=0.3)
def drawn_at_temperature_one(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw at temperature 1, whatever was asked for."""
    return sample(z, size, seed, 1.0, k, p)


@exercise.misconception(credit=0.3)
def nothing_cut_off(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw from all tokens: hand k and p on."""
    return sample(z, size, seed, temperature)


@exercise.misconception(credit=0.5)
def evenly_spaced(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw nothing: evenly spaced numbers give the tokens in their order, for every seed."""
    sums = np.cumsum(shaped(z, temperature, k, p))
    return np.searchsorted(sums / sums[-1], (np.arange(size) + 0.5) / size, side="right")


@exercise.misconception(credit=0.5)
def exact_shares_shuffled(z, size, seed, temperature=1.0, k=None, p=None):
    """You give every token its share and shuffle. Drawn independently, they come by chance."""
    law = shaped(z, temperature, k, p)
    tokens = np.repeat(
        np.arange(len(z)), np.diff(np.rint(np.cumsum(law) * size), prepend=0).astype(int)
    )
    return np.random.default_rng(seed).permutation(tokens)


@exercise.misconception(credit=0.5)
def one_number_and_even_steps(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw one number and go on in even steps: tokens are drawn independently of each other."""
    rng, sums = np.random.default_rng(seed), np.cumsum(shaped(z, temperature, k, p))
    u = (np.arange(size) + rng.random()) / size
    return rng.permutation(np.searchsorted(sums / sums[-1], u, side="right"))


@exercise.misconception(credit=0.5)
def tokens_in_order(z, size, seed, temperature=1.0, k=None, p=None):
    """Your tokens come in order of their ids. Drawn independently, they come in any."""
    return np.sort(sample(z, size, seed, temperature, k, p))


@exercise.misconception(credit=0.3)
def softmax_before_the_draw(z, size, seed, temperature=1.0, k=None, p=None):
    """You take a softmax of probabilities before you draw."""
    law = shaped(z, temperature, k, p)
    law = np.where(law > 0, np.exp(law), 0)
    return np.random.default_rng(seed).choice(len(z), size, p=law / law.sum())


@exercise.misconception(credit=0.3)
def drawn_from_the_logits(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw at temperature T, and cut nothing off by p."""
    return sample(z, size, seed, temperature, k)


@exercise.misconception(credit=0.3)
def drawn_without_k(z, size, seed, temperature=1.0, k=None, p=None):
    """You draw at temperature T, and cut nothing off by k."""
    return sample(z, size, seed, temperature, None, p)


def written(table, start, length):
    """What greedy decoding writes behind a token."""
    out = [start]
    for _ in range(length):
        out.append(int(np.argmax(table[out[-1]])))
    return out[1:]


def repeats_after(path):
    """After how many tokens a long path goes round."""
    return next(n for n in range(1, len(path)) if path[-1] == path[-1 - n])


@exercise.part(points=0.5, answer=Count())
def path(table, start):
    """The eight tokens that greedy decoding writes behind the start, shape (8,)."""
    return written(table, start, 8)


@path.misconception()
def column_instead_of_row(table, start):
    """You looked down a column. A row has what comes behind its token."""
    return written(table.T, start, 8)


@path.misconception(credit=0.5)
def start_written_again(table, start):
    """The start stands there already. Your list begins with what comes behind it."""
    return [start, *written(table, start, 7)]


@path.misconception()
def least_likely_written(table, start):
    """You took the smallest logit of each row."""
    return written(-table, start, 8)


@path.misconception()
def row_of_the_start_again(table, start):
    """You looked into the row of the start each time. The next row is that of the last token."""
    return [int(np.argmax(table[start]))] * 8


@path.misconception()
def no_token_twice(table, start):
    """You kept tokens from coming twice. Greedy decoding has no such rule."""
    out, free = [start], set(range(len(table))) - {start}
    while free and len(out) < 9:
        out.append(max(free, key=lambda token: table[out[-1]][token]))
        free.remove(out[-1])
    return [*out[1:], *[out[-1]] * (9 - len(out))]


@exercise.part(points=0.25, answer=Count())
def period(path):
    """After how many tokens it repeats itself."""
    return repeats_after([int(token) for token in path])


@period.misconception()
def tokens_before_it_repeats(path):
    """You counted the different tokens. Some may come before the circle begins."""
    return len({int(token) for token in path})


@period.misconception()
def way_into_it_counted(path):
    """You counted the way from the first token, too. After how many tokens does it come back?"""
    return len({int(token) for token in path}) + 1


@period.misconception()
def all_that_is_written(path):
    """So many tokens are written. After how many of them does it come back?"""
    return len(path)


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "It goes round in a circle sooner or later, whatever its weights: there are finitely"
            " many texts that fill its window.",
            "It goes round if two of its logits are level, and else need not.",
            "It goes round only if it was trained too little: a good model finds its way out.",
            "It goes round at once if the temperature is low, and never above 1.",
        ]
    ),
)
def forever():
    """A model that sees the last n tokens is decoded greedily without end. What does it do?"""
    return "A"


forever.mistakes(
    ties_needed=(
        "B",
        "Ties don't matter: what comes next depends on the window alone, and always in one way.",
    ),
    training_helps=(
        "C",
        "The better model, too, writes what its window says. How many windows are there?",
    ),
    temperature_matters=(
        "D",
        "Greedy decoding takes the largest logit, whatever the temperature is.",
    ),
)
