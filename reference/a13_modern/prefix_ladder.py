"""From a loop to attention: four programs that average what has been seen so far.

Source: Karpathy (2023), lecture "Let's build GPT: from scratch, in code, spelled out".
"""

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

from autograder.exercise import Exercise, Formula, Numbers, agree, alike, vectorised
from autograder.exercise.properties import leaves_alone, rows_sum_to_one
from reference.helpers import softmax

exercise = Exercise(
    "prefix_ladder",
    title="Four programs, one average",
    source='Karpathy (2023), lecture "Let\'s build GPT"',
    minutes=20,
    hints=[
        "Each rung writes the same numbers in another way: look for a matrix whose row t holds "
        "what row t of the output takes from each row of the input.",
        "A score of −∞ becomes the weight 0, and equal scores become equal weights. Which "
        "scores have to be −∞ before the softmax?",
        "Two layers are two matrices, one after the other.",
    ],
)


@exercise.variant
def draw(rng):
    """x: (4, 2), one row per token."""
    while True:
        x = rng.integers(-3, 7, (4, 2))
        halves = 2 * prefix_means(x)
        if np.ptp(x, axis=0).all() and np.allclose(halves, np.round(halves)):
            return {"x": x}


def prefix_means(x):
    """The mean of each row and those before it."""
    return np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]


@exercise.part(points=1, answer=Numbers())
def y(x):
    """Each row of your x replaced by the mean of itself and the rows before it."""
    return prefix_means(x)


@y.misconception()
def sums(x):
    """This is the running sum. Divide by how many rows have been seen."""
    return np.cumsum(x, axis=0)


@y.misconception()
def divided_by_n(x):
    """Row t has seen t + 1 rows, not n."""
    return np.cumsum(x, axis=0) / len(x)


@y.misconception()
def mean_of_all(x):
    """You averaged all rows everywhere. Row 0 may not know what comes later."""
    return np.tile(x.mean(axis=0), (len(x), 1))


@y.misconception()
def itself_left_out(x):
    """The diagonal is allowed: a row belongs to its own past."""
    return np.vstack([np.zeros(2), prefix_means(x)[:-1]])


@y.misconception()
def rows_to_come(x):
    """You averaged each row with those behind it. It belongs to those before it."""
    return prefix_means(x[::-1])[::-1]


@y.misconception()
def along_the_features(x):
    """You averaged over the features. The rows are the tokens, and each column stays by itself."""
    return np.cumsum(x, axis=1) / [1, 2]


@y.misconception()
def halved_each_time(x):
    """You took the middle of the last mean and the new row. All rows so far count alike."""
    means = 1.0 * x
    for t in range(1, len(x)):
        means[t] = (means[t - 1] + x[t]) / 2
    return means


@y.misconception()
def one_row_less(x):
    """With row t, t + 1 rows have been seen, not t."""
    return np.cumsum(x, axis=0) / [[1], [1], [2], [3]]


@exercise.reference
def mean_matrix(n: int) -> Float[ndarray, "n n"]:
    """Return the matrix that turns the rows of x into their prefix means."""
    return np.tri(n) / np.arange(1, n + 1)[:, None]


@exercise.alternative
def row_after_row(n):
    """Fill t + 1 equal shares into row t."""
    W = np.zeros((n, n))
    for t in range(n):
        W[t, : t + 1] = 1 / (t + 1)
    return W


@exercise.alternative
def divided_by_its_sums(n):
    """Ones on and below the diagonal, each row divided by its sum."""
    seen = np.tril(np.ones((n, n)))
    return seen / seen.sum(axis=1, keepdims=True)


@exercise.alternative
def means_of_the_identity(n):
    """What happens to the rows of the identity is the matrix."""
    return np.cumsum(np.eye(n), axis=0) / np.arange(1, n + 1).reshape(n, 1)


@exercise.check(points=0.5, visible=True)
def shares_of_the_past(call, rng):
    """mean_matrix(n) @ x holds the prefix means; n = 1 works as well."""
    for n in (4, int(rng.integers(5, 9)), 1):
        agree(call(n), mean_matrix(n))


@exercise.misconception(credit=0.4)
def shares_of_n(n):
    """Row t has seen t + 1 rows, not n."""
    return np.tri(n) / n


@exercise.misconception(credit=0.4)
def shares_by_column(n):
    """Your columns add up to 1. The weights of one output stand in a row."""
    return np.tri(n) / np.arange(n, 0, -1)


@exercise.misconception(credit=0.4)
def everything_shared(n):
    """Row 0 may not know what comes later."""
    return np.full((n, n), 1 / n)


@exercise.misconception(credit=0.4)
def not_divided(n):
    """This matrix adds up. For a mean every row has to be divided by its sum."""
    return np.tri(n)


@exercise.misconception
def strict_triangle(n):
    """The diagonal is allowed: a row belongs to its own past."""
    return np.tri(n, k=-1) / np.maximum(np.arange(n), 1)[:, None]


@exercise.reference
def causal_weights(S: Real[ndarray, "n n"]) -> Float[ndarray, "n n"]:
    """Return the softmax of the scores along the keys, where no key is later than its query."""
    return softmax(np.where(np.tri(len(S), dtype=bool), S, -np.inf))


@exercise.alternative
def minus_infinity_added(S):
    """Add 0 or −∞, subtract the largest score, and normalise."""
    Z = S + np.triu(np.full(S.shape, -np.inf), k=1)
    E = np.exp(Z - Z.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@exercise.alternative
def query_by_query(S):
    """A softmax of the first t + 1 scores for each row t."""
    A = np.zeros(S.shape)
    for t in range(len(S)):
        A[t, : t + 1] = softmax(S[t, : t + 1] * 1.0)
    return A


@exercise.alternative
def very_negative_number(S):
    """Take a very large number away from the scores of later keys."""
    return softmax(S - 1e30 * np.triu(np.ones(S.shape), k=1))


@exercise.check(points=0.25, visible=True)
def softmax_of_what_is_left(call, rng):
    """The weights are the softmax of the allowed scores, 0 above the diagonal; rows sum to 1."""
    S = 2 * rng.normal(size=(5, 5))
    agree(call(S), causal_weights(S))
    rows_sum_to_one(call(rng.normal(size=(7, 7))))


@exercise.check(points=0.25)
def nobody_looks_ahead(call, rng):
    """Row i does not change with the scores of later keys, however large; S is left alone."""
    S = rng.normal(size=(6, 6))
    other = np.where(np.tri(6, dtype=bool), S, rng.normal(size=(6, 6)) * 5 + 3)
    agree(call(other), causal_weights(S))
    leaves_alone(call, S)


@exercise.check(points=0.25)
def large_scores(call, rng):
    """Scores of ±1000, and n = 1, give weights and no NaN."""
    S = rng.choice([-1000.0, 1000.0, 999.0], (6, 6))
    S[0, :2] = -1000, 1000  # what is taken off is the largest of what may be seen
    agree(call(S), causal_weights(S))
    agree(call(np.array([[-1000.0]])), np.ones((1, 1)))


@exercise.misconception(credit=0.5)
def mask_after_the_softmax(S):
    """Rows that lose weights to the mask no longer sum to 1: mask the scores."""
    return softmax(S) * np.tri(len(S))


@exercise.misconception(credit=0.5)
def maximum_of_the_whole_row(S):
    """You take the largest score of the whole row off, later keys included: mask first."""
    with np.errstate(all="ignore"):
        e = np.exp(S - S.max(axis=1, keepdims=True)) * np.tri(len(S))
        return e / e.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.4)
def columns(S):
    """Each query shares out its own attention: normalise along the keys."""
    return softmax(np.where(np.tri(len(S), dtype=bool), S, -np.inf), axis=0)


@exercise.misconception(credit=0.4)
def future_not_masked(S):
    """Nothing is masked: a query sees the keys that come after it."""
    return softmax(S * 1.0)


@exercise.misconception(credit=0.4)
def past_masked(S):
    """You masked the past. A query sees itself and the keys *before* it."""
    return softmax(np.where(np.tri(len(S), dtype=bool).T, S, -np.inf))


@exercise.misconception
def own_key_blocked(S):
    """The diagonal is allowed: a row belongs to its own past."""
    Z = np.where(np.tri(len(S), k=-1, dtype=bool), S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(Z - Z.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.4)
def masked_with_zero(S):
    """You set the masked scores to 0. A score of 0 has the weight e⁰, and is seen."""
    return softmax(np.tril(S))


@exercise.misconception
def overflows(S):
    """exp of a large score is infinite. Subtract the largest score of the row first."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        E = np.exp(S) * np.tri(len(S))
        return E / E.sum(axis=-1, keepdims=True)


@exercise.misconception
def overwritten(S):
    """You write the −∞ into the array that you were given. Make a new one."""
    A = causal_weights(S)
    if S.flags.writeable:
        S[np.triu_indices(len(S), k=1)] = -np.inf
    return A


@exercise.reference
def causal_average(
    x: Real[ndarray, "n d"], S: Real[ndarray, "n n"] | None = None
) -> Float[ndarray, "n d"]:
    """Return the weighted mean of each row and those before it; without scores, the plain one."""
    return (mean_matrix(len(x)) if S is None else causal_weights(S)) @ x


@exercise.alternative
def zeros_for_scores(x, S=None):
    """No scores are equal scores."""
    return causal_weights(np.zeros((len(x), len(x))) if S is None else S) @ x


@exercise.alternative
def running_sums(x, S=None):
    """A cumulative sum, where nothing else is asked for."""
    return prefix_means(x) if S is None else np.einsum("ij,jd->id", causal_weights(S), x)


@exercise.alternative
def divided_at_the_end(x, S=None):
    """Add up rows times exponentials, and divide by the sum of the exponentials."""
    Z = np.where(np.tri(len(x), dtype=bool), 0.0 if S is None else S, -np.inf)
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    return E @ x / E.sum(axis=1, keepdims=True)


@exercise.check(points=0.25, visible=True)
def three_programs_agree(call, rng):
    """No scores, zeros, and a constant for each row: all give the prefix means."""
    x = rng.normal(size=(5, 3))
    for S in (None, np.zeros((5, 5)), np.tile(rng.normal(size=(5, 1)), 5)):
        W = mean_matrix(5) if S is None else call.own(causal_weights)(S)
        agree(call(x) if S is None else call(x, S), W @ x)


@exercise.check(points=0.25)
def scores_weigh_the_rows(call, rng):
    """With scores, causal_average(x, S) is causal_weights(S) @ x; nothing is changed in place."""
    x, S = rng.normal(size=(6, 2)), 2 * rng.normal(size=(6, 6))
    agree(call(x, S), call.own(causal_weights)(S) @ x)
    leaves_alone(call, x, S)


@exercise.check(points=0.25, after=three_programs_agree)
def no_loop_over_rows(call, rng):
    """All rows at once, with scores and without: as many array operations for any n."""
    vectorised(
        call,
        lambda n: (rng.normal(size=(n, 4)),),
        rows=lambda i, x: prefix_means(x)[i],
        floor=lambda n: 4 * n,
    )
    own, S, larger = call.own(causal_weights), *(rng.normal(size=(n, n)) for n in (5, 20))
    if not alike(own(S), causal_weights(S)):
        return  # paid for already
    if own.work(larger).steps > 2 * own.work(S).steps:
        return  # the weights may be made row by row
    vectorised(
        call,
        lambda n: (rng.normal(size=(n, 4)), rng.normal(size=(n, n))),
        rows=lambda i, x, S: causal_average(x, S)[i],
        floor=lambda n: 4 * n * n,
    )


@exercise.misconception(credit=0.4)
def everything_averaged(x, S=None):
    """Row 0 may not know what comes later."""
    return softmax(np.zeros((len(x), len(x))) if S is None else S) @ x


@exercise.misconception(credit=0.5)
def scores_ignored(x, S=None):
    """You return the plain mean, whatever the scores are."""
    return prefix_means(x)


@exercise.misconception
def two_loops(x, S=None):
    """You go through the rows in a loop. One product with a matrix does all of them."""
    S = np.zeros((len(x), len(x))) if S is None else S
    return np.array([softmax(S[t, : t + 1]) @ x[: t + 1] for t in range(len(x))])


@exercise.misconception(credit=0.4)
def transposed_weights(x, S=None):
    """You used the weights by columns. Row t of the weights makes row t of the output."""
    return (mean_matrix(len(x)) if S is None else causal_weights(S)).T @ x


@exercise.part(
    points=1,
    answer=Formula(
        "y x t",
        practice=(
            ("The mean of the other rows, if y is that of rows 0 … t and x is one of them."),
            "(y*(t + 1) - x)/t",
        ),
    ),
)
def running():
    """y_t from the mean y of rows 0 … t − 1, the new row x, and t."""
    return "y + (x - y)/(t + 1)"


@running.alternative
def back_to_the_sum():
    """Make the mean a sum again, add, and divide."""
    return "(t*y + x)/(t + 1)"


running.mistakes(
    one_row_too_few=(
        "y + (x - y)/t",
        "With the new row t + 1 rows have been seen: try t = 1, the mean of two rows.",
    ),
    half_and_half=("(x + y)/2", "The old mean stands for t rows, the new row for one."),
    mean_added_as_if_a_sum=(
        "(y + x)/(t + 1)",
        "y is a mean, not the sum of t rows: make it a sum before you add.",
    ),
    divided_by_the_old_number=(
        "(t*y + x)/t",
        "The sum is right. How many rows are in it, once the new one has come?",
    ),
    old_mean_kept_whole=(
        "y + x/(t + 1)",
        "The old mean keeps its full weight. Try equal rows: their mean should stay as it is.",
    ),
    sum_of_all_rows=("t*y + x", "That is the sum of all rows so far. Divide it by their number."),
    new_row_kept_whole=(
        "t*y/(t + 1) + x",
        "The new row keeps its full weight. Try equal rows: their mean should stay as it is.",
    ),
    weights_of_the_two_exchanged=(
        "(t*x + y)/(t + 1)",
        "The old mean stands for t rows, the new row for one: you have it the other way round.",
    ),
    one_row_too_many=(
        "((t + 1)*y + x)/(t + 2)",
        "The rows 0 … t − 1 are t rows, not t + 1: try t = 1, the mean of two rows.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def last_weights():
    """The weights in the last row for the scores S_ij = j·log 2."""
    return causal_weights(np.tile(np.arange(4) * np.log(2), (4, 1)))[3]


@last_weights.alternative
def by_own_weights(causal_weights):
    """As the student's own function gives them."""
    return causal_weights(np.tile(np.arange(4) * np.log(2), (4, 1)))[3]


last_weights.mistakes(
    scores_shared=(
        np.arange(4) / 6,
        "You divided the scores by their sum. Softmax takes their exponentials first.",
    ),
    exponentials=(
        2.0 ** np.arange(4),
        "These are the exponentials. Divide them by their sum.",
        0.3,
    ),
)


@last_weights.misconception()
def logarithm_left_out():
    """You took the scores 0, 2, 4, 6. They are multiples of log 2, which is 0.69."""
    return softmax(2 * np.arange(4.0))


@last_weights.misconception()
def to_base_e():
    """You took the scores 0, 1, 2, 3. With log 2 the base of the powers becomes another one."""
    return softmax(np.arange(4.0))


@last_weights.misconception()
def logarithm_to_base_ten():
    """You took log 2 to the base 10. Logarithms are natural here, as the exponential is."""
    return softmax(np.arange(4) * np.log10(2))


last_weights.mistakes(
    own_key_left_out=(
        np.array([1, 2, 4, 0]) / 7,
        "The last query sees its own key as well: the diagonal is allowed.",
    ),
    first_key_left_out=(
        np.array([0, 1, 2, 4]) / 7,
        "The first key is missing. Its score is 0; what is the exponential of that?",
    ),
)


@last_weights.misconception()
def exponential_taken_twice():
    """You took the exponential twice: e to the power j·log 2 is a power of 2 already."""
    return softmax(2.0 ** np.arange(4))


@exercise.part(points=0.5, answer=Numbers())
def last_output(last_weights, x):
    """The last row of the output with these weights."""
    return last_weights @ x


@last_output.misconception()
def plain_mean(x):
    """You averaged evenly. Each row counts with its weight."""
    return x.mean(axis=0)


@last_output.misconception()
def weights_from_behind(last_weights, x):
    """Your weights meet the rows in reversed order. The first weight belongs to row 0."""
    return last_weights[::-1] @ x


@last_output.misconception()
def last_row_alone(x):
    """That is the last row itself. The output mixes all rows that it may see."""
    return x[-1]


@last_output.misconception()
def not_divided_by_their_sum(x):
    """You weighed the rows with the exponentials. Divide those by their sum first."""
    return 2.0 ** np.arange(4) @ x


@exercise.part(points=1, answer=Numbers())
def w():
    """The weights with which the four rows enter the last row after two uniform layers."""
    return (mean_matrix(4) @ mean_matrix(4))[3]


@w.alternative
def by_own_matrix(mean_matrix):
    """As the student's own matrix gives them."""
    return (mean_matrix(4) @ mean_matrix(4))[3]


@w.misconception()
def one_layer():
    """A second layer averages averages: multiply the matrices."""
    return mean_matrix(4)[3]


@w.misconception()
def down_the_column():
    """That is a column: what row 0 gives to each output. A row says what one output takes."""
    return (mean_matrix(4) @ mean_matrix(4))[:, 0]


@w.misconception()
def entries_squared():
    """You squared the entries. A product of matrices sums over all ways through the middle."""
    return (mean_matrix(4) ** 2)[3]


@w.misconception()
def second_layer_not_divided():
    """You added the rows of the first layer. The second layer averages them."""
    return mean_matrix(4).sum(axis=0)


@w.misconception()
def three_layers():
    """Those are three layers: one matrix for each, and two are asked for."""
    return np.linalg.matrix_power(mean_matrix(4), 3)[3]
