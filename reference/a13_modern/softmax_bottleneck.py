"""What a softmax over a narrow hidden vector can't say.

Source: Yang et al. (2018), "Breaking the softmax bottleneck"; Demeter et al. (2020), "Stolen
probability" (tokens that can never win).
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Witness
from reference.helpers import softmax

exercise = Exercise(
    "softmax_bottleneck",
    title="One hidden vector, too many futures",
    source="Yang et al. (2018); Demeter et al. (2020)",
    minutes=30,
    hints=[
        "Which changes of a row of scores does its softmax not notice? Use them to make each "
        "table as simple as you can, before you ask for a rank.",
        "For `P` go backwards: choose scores for which one number per context is too little, and "
        "take the softmax of the rows.",
        "For `E` draw five points. The logit of a token is the product of its point with the "
        "hidden vector: which point lies farthest in a direction?",
    ],
)


def log_softmax(S):
    """Return log P for a table of scores."""
    return np.log(softmax(S))


def rank(table):
    """Return the rank, rounding errors aside."""
    return int(np.linalg.matrix_rank(table, tol=1e-9))


def width(S):
    """Return the smallest hidden width that gives softmax(S): the rank of the centred rows."""
    return rank(S - S.mean(axis=1, keepdims=True))


def width_with_bias(S):
    """The same if there is an output bias: the columns are centred as well."""
    rows = S - S.mean(axis=1, keepdims=True)
    return rank(rows - rows.mean(axis=0))


@exercise.variant
def draw(rng):
    """T1 … T4: score tables of four contexts and four tokens."""
    while True:
        a, b, c, e = rng.integers(0, 4, (4, 4))
        tables = [
            np.tile(rng.permutation(4), (4, 1)),  # equal rows
            np.outer(rng.permutation(4) + 1, a > 1) + rng.permutation([0, 1, 2, 5])[:, None],
            np.outer(b, a > 1) + np.outer(c, e),
            rng.choice([2, 3, 4]) * np.eye(4, dtype=int),
        ]
        found = [
            [of(T.astype(float)) for T in tables]
            for of in (width, lambda T: rank(log_softmax(T)), rank, width_with_bias)
        ]
        if found == [[1, 1, 2, 3], [1, 2, 3, 4], [1, 2, 2, 4], [0, 1, 2, 3]]:
            order = rng.permutation(4)
            return {f"T{i + 1}": tables[j].astype(int) for i, j in enumerate(order)}


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "$\\log P$ is $H W^\\top$ minus one number per row, and a table whose columns are "
            "all equal has rank 1.",
            "Softmax keeps the rank, and the logarithm adds 1 to it.",
            "$W$ has $d + 1$ independent rows.",
            "Probabilities sum to 1, which removes one dimension.",
        ]
    ),
)
def why_bounded():
    """Why is the rank of log P at most d + 1?"""
    return "A"


why_bounded.mistakes(
    softmax_keeps_the_rank=(
        "B",
        "Softmax usually raises the rank, as you saw for attention weights. Look at log P itself.",
    ),
    too_many_rows=("C", "W has a row for each token, of d numbers: its rank is at most d."),
    sums_to_one=("D", "That the rows sum to 1 holds for P; the bound is about log P."),
)


@exercise.part(points=2.5, answer=Count())
def d(T1, T2, T3, T4):
    """The smallest width without output bias for each of the four tables."""
    return [width(T) for T in (T1, T2, T3, T4)]


@d.misconception()
def rank_of_log_p(T1, T2, T3, T4):
    """That is the rank of log P. The normaliser may be one of its dimensions, and costs nothing."""
    return [rank(log_softmax(T)) for T in (T1, T2, T3, T4)]


@d.misconception()
def rank_of_the_scores(T1, T2, T3, T4):
    """That is the rank of the scores. A number added to a whole row changes them and not P."""
    return [rank(T) for T in (T1, T2, T3, T4)]


@d.misconception()
def with_bias(T1, T2, T3, T4):
    """With an output bias that would do. Here there is none: what can a width of 0 give?"""
    return [width_with_bias(T) for T in (T1, T2, T3, T4)]


@d.misconception()
def rank_of_the_scores_less_one(T1, T2, T3, T4):
    """You took 1 off the rank of the scores. Take the mean of each row off first: what is left?"""
    return [max(rank(T) - 1, 0) for T in (T1, T2, T3, T4)]


@d.misconception()
def bound_plus_one(T1, T2, T3, T4):
    """You have one too many each time. The normaliser costs no width."""
    return [width(T) + 1 for T in (T1, T2, T3, T4)]


def dimensions(P):
    """What a table of probabilities shows about the width that it needs."""
    if P.min() <= 0:
        return "not positive"
    if np.abs(P.sum(axis=1) - 1).max() > 2e-3:
        return "other sums"
    logs = np.log(P)
    first, second, _ = np.linalg.svd(logs - logs.mean(axis=1, keepdims=True), compute_uv=False)
    if first < 0.2 and second <= 0.05:
        return "nearly equal"
    return "more than one" if second > 0.05 else "one is enough"


@exercise.part(points=1, answer=Witness(dimensions))
def P():
    """Three positive rows of sum 1 that no hidden width of 1 can give."""
    return softmax(3 * np.eye(3))


@P.alternative
def typed_by_hand():
    """Each context has another favourite."""
    return [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]


@P.alternative
def two_contexts_alike():
    """Two different rows are enough if they point in different directions."""
    return [[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]


@P.misconception()
def on_one_line():
    """A width of 1 is enough for your table, or nearly: its rows are multiples of one pattern."""
    return softmax(np.outer([1.0, 2, 3], [0.0, 1, 2]))


P.mistakes(
    hardly_different=(
        (np.full((3, 3), 33) + np.eye(3)) / 100,
        "Your probabilities are nearly equal, and equal ones fit any width. Make them differ more.",
    ),
    with_zeros=(np.eye(3), "A softmax never gives 0: all entries must be positive."),
    rows_of_other_sums=(
        1 + 2 * np.eye(3),
        "Your rows are no probabilities: each must add up to 1.",
    ),
)


def winners(E):
    """How many of the rows lie farthest of all in some direction.

    A point does so where it is a corner of the hull: where a half-plane, and a little more, that
    begins at it holds none of the others.
    """
    count = 0
    for i, point in enumerate(E):
        away = np.delete(E, i, axis=0) - point
        if np.abs(away).sum(axis=1).min() > 1e-9:
            angles = np.sort(np.arctan2(away[:, 1], away[:, 0]))
            gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
            count += gaps.max() > np.pi + 1e-6
    return int(count)


@exercise.part(points=1, answer=Witness(winners))
def E():
    """Five output vectors in the plane of which exactly one can never win."""
    return np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [0.2, 0.1]])


@E.alternative
def on_an_edge():
    """In the middle between two others."""
    return np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 0]])


@E.alternative
def far_from_the_origin():
    """The origin needn't lie within."""
    return np.array([[7, 7], [9, 7.2], [9.1, 9], [7, 9.3], [8, 8]])


@E.misconception()
def pentagon():
    """All of yours can win. Every corner wins in its own direction; put one point inside."""
    turn = 2 * np.pi * np.arange(5) / 5
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


E.mistakes(
    two_inside=(
        np.array([[0, 0], [9, 0], [0, 9], [2, 2], [3, 2]]),
        "Two of your tokens can never win.",
    ),
    all_on_a_line=(
        np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]]),
        "Your points lie on a line, where only the two ends can win.",
    ),
)


@exercise.part(points=0.75, answer=Count())
def largest_rank():
    """The largest rank that log P can have for GPT-2 small."""
    return 769


largest_rank.mistakes(
    width_alone=(768, "The normaliser of each row brings one dimension more."),
    vocabulary=(50257, "That is the size of the vocabulary. How wide is the hidden vector?"),
    one_dimension_removed=(
        767,
        "That the rows sum to 1 holds for P. For log P the normaliser brings something in.",
    ),
)


@exercise.part(points=0.25, answer=Count())
def able_to_win():
    """How many tokens can win if d = 1 and all entries of W are different."""
    return 2


able_to_win.mistakes(
    only_one=(1, "The hidden number may be negative."),
    normaliser_counted=(
        3,
        "The normaliser changes no order. On a line, which points lie farthest?",
    ),
    all_of_them=(
        50257,
        "With one hidden number the logits are multiples of one list. Which entries can be "
        "largest?",
    ),
)
