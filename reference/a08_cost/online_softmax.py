"""Softmax and weighted sum in one pass over blocks of keys.

Source: Milakov & Gimelshein (2018), "Online normalizer calculation for softmax", algorithm 3.
"""

import numpy as np
import sympy
from numpy import inf

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Numbers, agree, require

exercise = Exercise(
    "online_softmax",
    title="One pass, two blocks",
    source="Milakov & Gimelshein (2018), algorithm 3",
    minutes=65,
    pool=32,
    hints=[
        "A state is the largest score so far, the sum of exponentials relative to it, and the"
        " values weighted with these.",
        "When the maximum grows, everything that was summed relative to the old one is too "
        "large by one and the same factor.",
        "For the proof bring the exponentials that hold the maximum of the first two side by "
        "side; only in the next line does it cancel.",
    ],
)


@exercise.variant
def draw(rng):
    """s: four scores 0–5 whose maximum is in the second block; v: their values."""
    while True:
        s, v = rng.integers(0, 6, (2, 4))
        if s[2:].max() > s[:2].max() and len(set(v.tolist())) > 2:
            return {"s": s, "v": v}


def block(s, v, m=None):
    """The state of some keys: maximum, sum and weighted sum."""
    m = s.max() if m is None else m
    p = np.exp(s - m)
    return np.array([m, p.sum(), p @ v])


def positive_sum(state):
    """Something that can be divided by."""
    return state[1] > 0


@exercise.part(points=1, answer=Numbers(), carry_if=positive_sum)
def state1(s, v):
    """m, l and o after the first block."""
    return block(s[:2], v[:2])


@state1.misconception()
def not_shifted(s, v):
    """Subtract the maximum before the exponentials: m and l belong together."""
    return np.array([s[:2].max(), *block(s[:2], v[:2], 0)[1:]])


@state1.misconception()
def normalised_already(s, v):
    """You divided o by l. That is done once, at the end."""
    m, ell, o = block(s[:2], v[:2])
    return np.array([m, ell, o / ell])


@state1.misconception()
def values_without_weights(s, v):
    """Your o is the plain sum of the values. Each of them has its exponential as a weight."""
    m, ell, _ = block(s[:2], v[:2])
    return np.array([m, ell, v[:2].sum()])


@state1.misconception()
def maximum_of_all(s, v):
    """You used the maximum of all four scores: in the first block it is not known yet."""
    return block(s[:2], v[:2], s.max())


@exercise.part(points=2, answer=Numbers(), carry_if=positive_sum)
def state2(state1, s, v):
    """m, l and o after the second block."""
    m, ell, o = block(s[2:], v[2:])
    top = max(m, state1[0])
    old, new = np.exp(state1[0] - top), np.exp(m - top)
    return np.array([top, state1[1] * old + ell * new, state1[2] * old + o * new])


@state2.misconception()
def no_rescaling(state1, s, v):
    """You added the sums as they are, but they belong to different maxima."""
    m, ell, o = block(s[2:], v[2:])
    return np.array([m, state1[1] + ell, state1[2] + o])


@state2.misconception()
def sum_alone_rescaled(state1, s, v):
    """l is rescaled and o is not. Both were collected with the old maximum."""
    m, ell, o = block(s[2:], v[2:])
    return np.array([m, state1[1] * np.exp(state1[0] - m) + ell, state1[2] + o])


@state2.misconception()
def second_block_alone(s, v):
    """That is the second block by itself. Merge it with the first one."""
    return block(s[2:], v[2:])


@state2.misconception()
def old_maximum_kept(state1, s, v):
    """You kept the old maximum. Then exponentials of the new block exceed 1, and may overflow."""
    return state1 + np.array([0, *block(s[2:], v[2:], state1[0])[1:]])


@state2.misconception()
def factor_upside_down(state1, s, v):
    """The correction is above 1 with you. Old terms get smaller when the maximum grows."""
    m, ell, o = block(s[2:], v[2:])
    factor = np.exp(m - state1[0])
    return np.array([m, state1[1] * factor + ell, state1[2] * factor + o])


@exercise.part(points=0.5, answer=Numbers())
def correction(state1, state2):
    """The factor by which l and o of the first block were multiplied."""
    return np.exp(state1[0] - state2[0])


@correction.alternative
def as_it_was_used(state1, state2, s, v):
    """What l of the first block was multiplied by, to get from the first state to the second."""
    return (state2[1] - block(s[2:], v[2:], state2[0])[1]) / state1[1]


@correction.misconception()
def reciprocal(state1, state2):
    """The other way round: old terms get smaller when the maximum grows."""
    return np.exp(state2[0] - state1[0])


@correction.misconception()
def no_exponential(state1, state2):
    """That is the difference of the maxima. The factor is an exponential of it."""
    return state1[0] - state2[0]


@correction.misconception()
def ratio_of_maxima(state1, state2):
    """A quotient of exponentials has the *difference* in its exponent, not a quotient."""
    return state1[0] / state2[0]


@exercise.part(points=0.5, answer=Numbers())
def out(state2):
    """The output of attention over all four keys."""
    return state2[2] / state2[1]


@out.alternative
def all_at_once(s, v):
    """The softmax of all scores, times the values."""
    p = np.exp(s - s.max())
    return p @ v / p.sum()


@out.misconception()
def blocks_never_rescaled(s, v):
    """Both blocks count as if they had the same maximum. The first one must be scaled down."""
    both = block(s[:2], v[:2]) + block(s[2:], v[2:])
    return both[2] / both[1]


@out.misconception()
def blocks_averaged(s, v):
    """You averaged the outputs of the blocks. The one with larger scores counts for more."""
    first, second = block(s[:2], v[:2]), block(s[2:], v[2:])
    return (first[2] / first[1] + second[2] / second[1]) / 2


@out.misconception()
def only_l_rescaled(s, v):
    """Numerator and denominator don't fit: you rescaled l and not o."""
    first, second = block(s[:2], v[:2]), block(s[2:], v[2:])
    return (first[2] + second[2]) / (first[1] * np.exp(first[0] - second[0]) + second[1])


@out.misconception()
def never_divided(s, v):
    """That is o. Divide by l at the end."""
    return block(s, v)[2]


@exercise.part(points=0.5, answer=Numbers())
def lse(state2):
    """The log-sum-exp of all four scores."""
    return state2[0] + np.log(state2[1])


@lse.misconception()
def maximum_left_out(state2):
    """log l belongs to the shifted scores. What was subtracted must be added again."""
    return np.log(state2[1])


@lse.misconception()
def logarithm_left_out(state2):
    """You added l itself to the maximum."""
    return state2[0] + state2[1]


@lse.misconception()
def maximum_times_sum(state2):
    """log(e^m · l) is a sum, not a product."""
    return state2[0] * np.log(state2[1])


def factor_is_taken_in(line):
    """Do two exponentials with the intermediate maximum stand side by side?"""
    for above, below in line.products:
        powers = [factor for factor in (*above, *below) if isinstance(factor, sympy.exp)]
        if sum(any(s.name == "M12" for s in power.free_symbols) for power in powers) > 1:
            return True
    return line.shows("M12 - M + m1 - M12", "M12 - M + m2 - M12")


chain = Chain(
    start="exp(M12 - M)*(exp(m1 - M12)*l1 + exp(m2 - M12)*l2) + exp(m3 - M)*l3",
    target="exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
    names=("m1", "m2", "m3", "M12", "M", "l1", "l2", "l3"),
    final_names=("m1", "m2", "m3", "M", "l1", "l2", "l3"),
    assumptions={"M12": "real", "M": "real"},
    waypoints=(
        Waypoint("Show the exponentials in which M12 stands side by side.", factor_is_taken_in),
    ),
)


@exercise.part(points=2, answer=Derivation(chain))
def merge_steps():
    """The sum of (first ∘ second) ∘ third, until no trace of the intermediate maximum is left."""
    return [
        "exp(M12 - M)*(exp(m1 - M12)*l1 + exp(m2 - M12)*l2) + exp(m3 - M)*l3",
        "exp(M12 - M)*exp(m1 - M12)*l1 + exp(M12 - M)*exp(m2 - M12)*l2 + exp(m3 - M)*l3",
        "exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
    ]


@merge_steps.alternative
def one_factor_at_a_time():
    """Take the intermediate maximum out of the bracket."""
    return [
        "exp(M12 - M)*(exp(m1 - M12)*l1 + exp(m2 - M12)*l2) + exp(m3 - M)*l3",
        "exp(M12 - M)*exp(-M12)*(exp(m1)*l1 + exp(m2)*l2) + exp(m3 - M)*l3",
        "exp(-M)*(exp(m1)*l1 + exp(m2)*l2) + exp(m3 - M)*l3",
        "exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
    ]


@merge_steps.alternative
def exponents_added():
    """Multiply out, then write each product as one exponential of a sum."""
    return [
        "= exp(M12 - M)*exp(m1 - M12)*l1 + exp(M12 - M)*exp(m2 - M12)*l2 + exp(m3 - M)*l3",
        "= exp(M12 - M + m1 - M12)*l1 + exp(M12 - M + m2 - M12)*l2 + exp(m3 - M)*l3",
        "= exp(m1 - M)*l1 + exp(m2 - M)*l2 + exp(m3 - M)*l3",
    ]


@merge_steps.alternative
def merged_in_latex():
    """Powers of e, and the terms in another order."""
    return [
        r"e^{m3 - M} l3 + e^{M12 - M} (e^{m1 - M12} l1 + e^{m2 - M12} l2)",
        r"= e^{m3 - M} l3 + e^{M12 - M} e^{m1 - M12} l1 + e^{M12 - M} e^{m2 - M12} l2",
        r"= e^{m3 - M} l3 + e^{m1 - M} l1 + e^{m2 - M} l2",
    ]


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "$(0, 0, 0)$",
            "$(-\\infty, 0, 0)$",
            "$(0, 1, 0)$",
            "$(-\\infty, 1, 0)$",
        ]
    ),
)
def neutral():
    """The state that changes nothing when it is merged with another one."""
    return "B"


neutral.mistakes(
    zero_maximum=("A", "Merge it with a state whose maximum is −5. Which maximum comes out?"),
    one_key_of_value_zero=("C", "Here one key of score 0 has been seen. Nothing should have been."),
    sum_of_one=("D", "A sum of 1 says that a key has been seen. What is an empty sum?"),
)


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "They may not: the first block has to come first.",
            "They may, as long as the block with the largest maximum comes last, so that no "
            "sum shrinks behind it.",
            "The end of your derivation treats the three alike, and $M$ is the maximum of all "
            "three in any order.",
            "Only up to rounding errors, which the maximum keeps small.",
        ]
    ),
)
def why_any_order():
    """Why may the three blocks be merged in any order and in any brackets?"""
    return "C"


why_any_order.mistakes(
    first_block_first=(
        "A",
        "Look at your last line: does any of the blocks play a part of its own in it?",
    ),
    largest_maximum_first=("B", "The proof never asks which maximum is larger."),
    rounding_argument=("D", "With exact numbers it holds exactly; rounding is the smaller matter."),
)


def factor(m, top):
    """exp(m − top), where −∞ stands for nothing seen so far."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(m), 0.0, np.exp(m - top))


@exercise.reference
def merge(a: tuple, b: tuple) -> tuple:
    """Both parts of the keys together."""
    top = np.maximum(a[0], b[0])
    fa, fb = factor(a[0], top), factor(b[0], top)
    return top, fa * a[1] + fb * b[1], fa[:, None] * a[2] + fb[:, None] * b[2]


@exercise.alternative
def row_by_row(a, b):
    """One query after the other, with Python's own numbers."""
    rows = [one_row(*(row_of(state, i) for state in (a, b))) for i in range(len(a[0]))]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def row_of(state, i):
    """The state of one query."""
    return float(state[0][i]), float(state[1][i]), state[2][i]


def one_row(a, b):
    """Merge the states of one query."""
    if a[0] < b[0]:
        a, b = b, a
    if b[0] == -inf:
        return a
    small = np.exp(b[0] - a[0])
    return a[0], a[1] + small * b[1], a[2] + small * b[2]


@exercise.alternative
def through_logarithms(a, b):
    """Keep log-sum-exps, and go back to maximum and sum."""
    top = np.fmax(a[0], b[0])
    finite = np.where(np.isneginf(top), 0.0, top)
    weights = [np.exp(state[0] - finite) for state in (a, b)]
    ell = weights[0] * a[1] + weights[1] * b[1]
    return top, ell, weights[0].reshape(-1, 1) * a[2] + weights[1].reshape(-1, 1) * b[2]


@exercise.alternative
def with_einsum(a, b):
    """Stack both states and contract them with their factors."""
    m, ell, o = (np.stack(pair) for pair in zip(a, b, strict=True))
    top = m.max(axis=0)
    factors = factor(m, top)
    return top, np.einsum("bn,bn->n", factors, ell), np.einsum("bn,bnd->nd", factors, o)


@exercise.alternative
def in_single_precision(a, b):
    """The same in float32."""
    return tuple(np.asarray(x, np.float32) for x in merge(a, b))


def states(rng, n=3, width=2, keys=4, spread=3.0):
    """The state of some keys for n queries."""
    S, V = spread * rng.normal(size=(n, keys)), rng.normal(size=(keys, width))
    m = S.max(axis=1)
    P = np.exp(S - m[:, None])
    return m, P.sum(axis=1), P @ V


def empty(n=3, width=2):
    """The state before any key."""
    return np.full(n, -inf), np.zeros(n), np.zeros((n, width))


def some_of(state, seen):
    """That state where keys were seen, and nothing elsewhere."""
    return tuple(
        np.where(seen.reshape(-1, *[1] * (x.ndim - 1)), x, none)
        for x, none in zip(state, empty(), strict=True)
    )


def merges(call, a, b):
    """Merge copies of two states, and require the right result."""
    given = call(*(tuple(part.copy() for part in state) for state in (a, b)))
    agree(given, merge(a, b), what="merge(a, b)")
    return given


@exercise.check(points=0.5, visible=True)
def merges_two_blocks(call, rng):
    """merge(a, b) is the state of both blocks together."""
    for keys in ((4, 2), (1, 3)):
        a, b = (states(rng, keys=number) for number in keys)
        merges(call, a, b)


@exercise.check(points=0.5, after=merges_two_blocks)
def blocks_of_one_key(call, rng):
    """Blocks of a single key, with maxima thousands apart, neither overflow nor get lost."""
    for distance in (0.0, 2000.0, -2000.0):
        a, b = states(rng, keys=1), states(rng, keys=1)
        b = (b[0] + distance, b[1], b[2])
        merges(call, a, b)


@exercise.check(points=0.5, after=merges_two_blocks)
def nothing_is_neutral(call, rng):
    """Merging with (−∞, 0, 0) changes nothing, from either side, even merging it with itself."""
    m, ell, o = states(rng)
    a, far = (m, ell, o), (m + 2000, ell, o)
    seen = np.array([True, False, False])  # as under a mask: each query has keys of its own
    for x, y in ((a, empty()), (far, empty()), (a, some_of(states(rng), seen))):
        merges(call, x, y)
        merges(call, y, x)
    merges(call, empty(), empty())


@exercise.check(points=0.5, after=merges_two_blocks)
def any_tree(call, rng):
    """Six blocks may be merged in any order and in any brackets, and stay what they are."""
    for _ in range(3):
        S, V = 3 * rng.normal(size=(4, 6)), rng.normal(size=(6, 3))
        forest = [(S[:, j], np.ones(4), np.tile(V[j], (4, 1))) for j in rng.permutation(6)]
        while len(forest) > 1:
            i = int(rng.integers(len(forest) - 1))
            a, b = forest[i], forest.pop(i + 1)
            forest[i] = merges(call, a, b)
        require(not call.modified, "a state that was passed in has been changed")


def shift(m):
    """Of another state's terms."""
    return np.exp(m)[:, None]


@exercise.misconception
def sums_added(a, b):
    """You added l and o without rescaling: they were collected with different maxima."""
    return np.maximum(a[0], b[0]), a[1] + b[1], a[2] + b[2]


@exercise.misconception
def output_not_rescaled(a, b):
    """l is rescaled and o is not. Both were collected with the old maximum."""
    return *merge(a, b)[:2], a[2] + b[2]


@exercise.misconception
def second_maximum_assumed_larger(a, b):
    """You rescaled the first state alone. Its maximum may be the larger one."""
    old = np.exp(a[0] - b[0])
    return b[0], old * a[1] + b[1], old[:, None] * a[2] + b[2]


@exercise.misconception
def plain_exponentials(a, b):
    """You went back to exp of the scores themselves, which overflows or underflows to 0/0."""
    ell = a[1] * np.exp(a[0]) + b[1] * np.exp(b[0])
    o = a[2] * shift(a[0]) + b[2] * shift(b[0])
    top = np.maximum(a[0], b[0])
    return top, ell / np.exp(top), o / shift(top)


@exercise.misconception
def infinity_minus_infinity(a, b):
    """−∞ − (−∞) is NaN. Where both states are empty there is nothing to rescale."""
    top = np.maximum(a[0], b[0])
    fa, fb = np.exp(a[0] - top), np.exp(b[0] - top)
    return top, fa * a[1] + fb * b[1], fa[:, None] * a[2] + fb[:, None] * b[2]


@exercise.misconception
def empty_for_one_query_taken_for_all(a, b):
    """A state may be empty for one query and not for others, as under a mask. Go row by row."""
    for state, other in ((a, b), (b, a)):
        if np.isneginf(state[0]).any():
            return other
    return merge(a, b)


@exercise.misconception
def merged_into_the_first(a, b):
    """You changed the arrays of the first state (`*=` does). Another merge may still need them."""
    top, ell, o = merge(a, b)
    a[1][:] = ell
    return top, ell, o


@exercise.misconception
def divided_in_the_merge(a, b):
    """You divided by l while merging. The next merge then adds means instead of sums."""
    m, ell, o = merge(a, b)
    return m, ell, o / ell[:, None]


@exercise.reference
def finish(state: tuple) -> tuple:
    """Output and log-sum-exp; rows that have seen no key give 0 and −∞."""
    m, ell, o = state
    seen = ell > 0
    out = np.where(seen[:, None], o / np.where(seen, ell, 1)[:, None], 0.0)
    return out, m + np.log(np.where(seen, ell, 1))


@exercise.alternative
def finish_row_by_row(state):
    """One query after the other."""
    rows = [
        (o / ell, m + np.log(ell)) if ell else (0 * o, -inf)
        for m, ell, o in zip(*state, strict=True)
    ]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@exercise.alternative
def finish_and_mend(state):
    """Divide, and put zeros where there was nothing to divide."""
    m, ell, o = state
    with np.errstate(all="ignore"):
        return np.nan_to_num(o / ell[:, None]), m + np.log(ell)


@exercise.alternative
def finish_in_single_precision(state):
    """The same in float32."""
    return tuple(np.asarray(x, np.float32) for x in finish(state))


@exercise.check(points=0.5, visible=True)
def finishes_a_state(call, rng):
    """finish(state) gives the outputs o/l and the log-sum-exps m + log l."""
    for keys in (4, 1):
        state = states(rng, keys=keys)
        agree(call(state), finish(state), what="finish(state)")


@exercise.check(points=0.5)
def no_keys_at_all(call, rng):
    """finish of a state without keys gives the output 0 and the log-sum-exp −∞, not NaN."""
    m, ell, o = states(rng, 4, 3)
    m[1], ell[1], o[1] = -inf, 0, 0
    out, lse = call((m, ell, o))
    agree(np.asarray(out)[1], np.zeros(3), what="the output of a query without keys")
    agree(np.asarray(lse)[1], -inf, what="its log-sum-exp")


@exercise.misconception
def zero_over_zero(state):
    """A query that has seen no key gives 0/0. House convention: its output is 0."""
    m, ell, o = state
    return o / ell[:, None], m + np.log(ell)


@exercise.misconception
def log_of_the_sum_alone(state):
    """log l is the log-sum-exp of the shifted scores. Add the maximum again."""
    out, lse = finish(state)
    return out, np.where(state[1] > 0, lse - state[0], lse)


@exercise.misconception
def never_normalised(state):
    """finish returns o as it is. Divide it by l."""
    return state[2], finish(state)[1]
