"""ALiBi: scores are lowered by an amount that grows linearly with the distance.

Source: Press, Smith & Lewis (2022), "Train short, test long", section 3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Numbers, agree, require
from reference.helpers import softmax

exercise = Exercise(
    "alibi_bias",
    title="Linear distance penalties",
    source="Press et al. (2022), section 3",
    minutes=40,
    hints=[
        "The slopes form a geometric sequence: each is the one before times the same factor, "
        "which depends on the number of heads.",
        "Equal scores drop out of a softmax, so the weights depend on the penalties alone.",
        "With n queries and m keys, the last query stands at the last key.",
    ],
)


@exercise.variant
def draw(rng):
    """h: heads; n: tokens; slope: of one head; row: a query for which weights are asked."""
    n = int(rng.choice([4, 5]))
    return {
        "h": int(rng.choice([2, 4, 8, 16])),
        "n": n,
        "slope": float(rng.choice([0.2, 0.25, 0.4, 0.5, 0.75, 1.0])),
        "row": int(rng.integers(1, n - 1)),
    }


def distances(n):
    """Return i − j."""
    i, j = np.indices((n, n))
    return i - j


def of_two_rows(bias, row):
    """Return the weights of the query in question and of the last one, for equal scores."""
    return softmax(bias)[[row, -1]]


def penalties(n, slope):
    """Return the bias of one head, −∞ for keys that are still to come."""
    return np.where(distances(n) >= 0, -slope * distances(n), -np.inf)


@exercise.part(points=2, answer=Numbers())
def slopes(h):
    """The slopes of your h heads, shape (h,)."""
    return 2.0 ** (-8 * np.arange(1, h + 1) / h)


@slopes.misconception()
def first_slope_one(h):
    """You began with the exponent 0. The first head has the exponent −8/h already."""
    return 2.0 ** (-8 * np.arange(h) / h)


@slopes.misconception()
def always_halved(h):
    """You halved from head to head. That is so for 8 heads; the ratio is 2^(−8/h)."""
    return 2.0 ** -np.arange(1.0, h + 1)


@slopes.misconception()
def fraction_upside_down(h):
    """Your exponents are multiples of h/8. With more heads the slopes lie closer together: 8/h."""
    return 2.0 ** (-h / 8 * np.arange(1, h + 1))


@slopes.misconception()
def slopes_reversed(h):
    """The other way round: the first head has the largest slope."""
    return 2.0 ** (-8 * np.arange(h, 0, -1) / h)


@slopes.misconception()
def growing_exponent(h):
    """Your slopes grow. The exponents are negative."""
    return 2.0 ** (8 * np.arange(1, h + 1) / h)


@exercise.reference
def alibi(n: int, slopes: Float[ndarray, " h"], m: int | None = None) -> Float[ndarray, "h n m"]:
    """Return −slope · distance for n queries, the last ones of m keys, and −∞ for later keys."""
    m = n if m is None else m
    distance = (np.arange(n)[:, None] + m - n) - np.arange(m)
    bias = np.multiply.outer(np.asarray(slopes, float), -distance)
    return np.where(distance >= 0, bias, -np.inf)


@exercise.alternative
def head_by_head(n, slopes, m=None):
    """Fill one table after the other."""
    m = m or n
    tables = []
    for slope in slopes:
        table = np.full((n, m), -np.inf)
        for i in range(n):
            last = i + m - n
            table[i, : last + 1] = slope * (np.arange(last + 1) - last)
        tables.append(table)
    return np.array(tables)


@exercise.alternative
def by_triangles(n, slopes, m=None):
    """Mask with a triangle; the queries are the last rows of a square."""
    m = n if m is None else m
    full = np.arange(m)[None, :] - np.arange(m)[:, None]
    full = np.where(np.tri(m, dtype=bool), full, -np.inf)[m - n :]
    with np.errstate(invalid="ignore"):
        return np.array([np.where(np.isinf(full), full, s * full) for s in slopes])


@exercise.alternative
def by_broadcasting(n, slopes, m=None):
    """Let shapes (h, 1, 1), (n, 1) and (m,) meet."""
    m = n if m is None else m
    behind = np.arange(m - n, m).reshape(n, 1) - np.arange(m)
    behind = np.where(behind < 0, np.inf, behind)
    return -np.asarray(slopes).reshape(-1, 1, 1) * behind


@exercise.check(points=1.5, visible=True)
def one_square_per_head(call, rng):
    """For each slope the n × n table: 0 on the diagonal, −slope per step into the past, then −∞."""
    for n, h in ((4, 2), (int(rng.integers(5, 9)), 3)):
        slopes = rng.uniform(0.1, 1, h)
        agree(call(n, slopes), alibi(n, slopes))


@exercise.check(points=0.5)
def a_single_token(call, rng):
    """For n = 1 there is one entry per head, and it is 0."""
    slopes = np.array([0.5, 0.25])
    agree(call(1, slopes), np.zeros((2, 1, 1)))
    require(np.any(call(2, slopes)), "two tokens have a bias other than 0")


@exercise.check(points=1)
def queries_behind_a_cache(call, rng):
    """With m > n keys the queries are the last n of them."""
    slopes = rng.uniform(0.1, 1, 2)
    for n, m in ((1, 6), (3, 8)):
        agree(call(n, slopes, m), alibi(n, slopes, m))
        agree(call(n, slopes, m=m), alibi(n, slopes, m))


@exercise.misconception(credit=0.5)
def symmetric(n, slopes, m=None):
    """Keys that are still to come are only lowered, not blocked: −∞ belongs there."""
    distance = (np.arange(n)[:, None] + (m or n) - n) - np.arange(m or n)
    return -np.multiply.outer(np.asarray(slopes), abs(distance))


@exercise.misconception(credit=0.5)
def own_key_blocked(n, slopes, m=None):
    """A query's own key is blocked in yours. Its distance is 0, and only later keys are blocked."""
    return np.where(np.tri(n, m or n, (m or n) - n - 1, dtype=bool), alibi(n, slopes, m), -np.inf)


@exercise.misconception(credit=0.5)
def future_raised(n, slopes, m=None):
    """Keys that are still to come are raised the more, the later they are. −∞ belongs there."""
    m = m or n
    return np.multiply.outer(np.asarray(slopes), np.arange(m) - np.arange(m - n, m)[:, None])


@exercise.misconception(credit=0.5)
def rising(n, slopes, m=None):
    """Your bias favours the oldest key. Each step into the past should lower the score."""
    bias = alibi(n, slopes, m)
    return np.where(np.isinf(bias), bias, -bias)


@exercise.misconception(credit=0.5)
def counted_from_the_first_key(n, slopes, m=None):
    """You penalised the position of the key, 0, −1, …: the oldest key is favoured by it."""
    bias = alibi(n, slopes, m)
    key = -np.multiply.outer(np.asarray(slopes), np.broadcast_to(np.arange(m or n), bias.shape[1:]))
    return np.where(np.isinf(bias), bias, key)


@exercise.misconception
def aligned_at_the_first_key(n, slopes, m=None):
    """Your first query stands at the first key. The n queries are the last n of the m positions."""
    return alibi(max(n, m or n), slopes)[:, :n, :]


@exercise.misconception
def mask_at_the_first_key(n, slopes, m=None):
    """Your mask has the first query at the first key. It moves by m − n, as the distances do."""
    m = m or n
    distance = (np.arange(n)[:, None] + m - n) - np.arange(m)
    bias = -np.multiply.outer(np.asarray(slopes, float), distance)
    return np.where(np.tri(n, m, dtype=bool), bias, -np.inf)


@exercise.misconception(credit=0.4)
def zeros_for_the_future(n, slopes, m=None):
    """Keys that are still to come have the bias 0 in yours, as if they were near."""
    bias = alibi(n, slopes, m)
    return np.where(np.isinf(bias), 0, bias)


@exercise.misconception(credit=0.5)
def heads_last(n, slopes, m=None):
    """The axis of the heads comes first: shape (h, n, m)."""
    return np.moveaxis(alibi(n, slopes, m), 0, -1)


@exercise.misconception(credit=0.5)
def one_off_the_diagonal(n, slopes, m=None):
    """Your diagonal is not 0. A token has no distance from itself."""
    return alibi(n, slopes, m) - np.asarray(slopes).reshape(-1, 1, 1)


@exercise.part(points=2.75, answer=Numbers())
def weights(n, slope, row):
    """The weights of your query and of the last one, with equal scores, shape (2, n)."""
    return of_two_rows(penalties(n, slope), row)


@weights.alternative
def by_the_own_function(alibi, n, slope, row):
    """Let the function of question 2 make the bias."""
    return of_two_rows(np.asarray(alibi(n, np.array([slope]), n))[0], row)


@weights.misconception()
def oldest_favoured(n, slope, row):
    """The oldest key has the largest weight in yours. Each step into the past lowers the score."""
    return of_two_rows(np.where(distances(n) >= 0, slope * distances(n), -np.inf), row)


@weights.misconception()
def penalty_scaled(n, slope, row):
    """You divided the penalty by √d_k as well. It is added to the scaled scores."""
    return of_two_rows(penalties(n, slope) / 2, row)


@weights.misconception()
def future_not_masked(n, slope, row):
    """Your query looks ahead. Keys that are still to come have weight 0."""
    return of_two_rows(-slope * abs(distances(n)), row)


@weights.misconception()
def masked_after_the_softmax(n, slope, row):
    """Your first row doesn't add up to 1: mask before you divide by the sum."""
    return of_two_rows(-slope * distances(n), row) * np.tri(n)[[row, -1]]


@weights.misconception()
def row_counted_from_one(n, slope, row):
    """Your first row is the one before. Positions count from 0, so row 1 sees two keys."""
    return of_two_rows(penalties(n, slope), row - 1)


@weights.misconception()
def not_divided(n, slope, row):
    """These are the exponentials. Divide each row by its sum."""
    return np.exp(penalties(n, slope))[[row, -1]]


@weights.misconception()
def even_weights(n, slope, row):
    """Your weights are even: where is the penalty?"""
    return of_two_rows(penalties(n, 0), row)


@exercise.part(points=0.25, answer=Count())
def parameters():
    """How many parameters are learned for it?"""
    return 0


@parameters.misconception()
def one_per_head(h):
    """The slopes are fixed before training starts."""
    return h
