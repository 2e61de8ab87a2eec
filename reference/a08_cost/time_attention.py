"""Standard and linear attention against the clock.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", section 4.1.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import (
    Exercise,
    Numbers,
    Undecided,
    Witness,
    agree,
    grows,
    grows_on_gpu,
    vectorised,
)
from reference.helpers import ATTENTION

exercise = Exercise(
    "time_attention",
    title="Race of two kernels",
    source="Katharopoulos et al. (2020), section 4.1",
    minutes=55,
    hints=[
        "In linear attention bring keys and values together first: the result no longer knows n.",
        "Warm up before you measure, repeat, and take the median for each n.",
        "For the two ratios write down what each side takes, in milliseconds, one kind of cost "
        "after the other; which of them does the second side pay, too?",
    ],
)

lengths = np.array([100, 500, 1000, 2000, 5000])


def elu1(x):
    """elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def qkv(rng, n, d=8, d_v=4):
    """Inputs for n tokens."""
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, d_v))


@exercise.reference(without=ATTENTION)
def standard_attention(
    Q: Float[ndarray, "n d"], K: Float[ndarray, "n d"], V: Float[ndarray, "n d_v"]
) -> Float[ndarray, "n d_v"]:
    """Compare all queries with all keys."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    A = np.exp(S - S.max(axis=1, keepdims=True))
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.alternative
def with_einsum(Q, K, V):
    """Sums over named indices."""
    S = np.einsum("nd,md->nm", Q, K) / Q.shape[1] ** 0.5
    A = np.exp(S - np.max(S, axis=-1, keepdims=True))
    return np.einsum("nm,mv->nv", A / np.sum(A, axis=-1, keepdims=True), V)


@exercise.alternative
def in_place(Q, K, V):
    """Work within one array."""
    A = Q @ K.T
    A /= np.sqrt(Q.shape[-1])
    A -= A.max(axis=-1, keepdims=True)
    np.exp(A, out=A)
    A /= A.sum(axis=-1, keepdims=True)
    return A @ V


@exercise.alternative
def in_single_precision(Q, K, V):
    """The same in float32."""
    return standard_attention(*(x.astype(np.float32) for x in (Q, K, V))).astype(np.float32)


@exercise.check(points=0.75, visible=True)
def standard_is_right(call, rng):
    """standard_attention is softmax(Q Kᵀ/√d) V, also for scores in the thousands."""
    for scale in (1.0, 2000.0):
        Q, K, V = qkv(rng, 6, 3, 2)
        agree(call(scale * Q, K, V), standard_attention(scale * Q, K, V))


@exercise.check(points=0.75, after=standard_is_right)
def standard_has_no_loop(call, rng):
    """standard_attention runs without a Python loop over queries or keys, hidden ones included."""
    vectorised(
        call,
        lambda n: qkv(rng, n),
        rows=lambda i, Q, K, V: standard_attention(Q[i], K, V),
        floor=lambda n: 2 * n * n * (8 + 4),
    )


@exercise.misconception
def softmax_row_by_row(Q, K, V):
    """Your softmax goes row by row: np.apply_along_axis and comprehensions are Python loops."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    A = [np.exp(row - row.max()) / np.exp(row - row.max()).sum() for row in S]
    return np.array(A) @ V


@exercise.misconception(credit=0.4)
def not_shifted(Q, K, V):
    """exp overflows for large scores: subtract the maximum of each row first."""
    A = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.4)
def one_shift_for_all(Q, K, V):
    """You subtract one maximum from all rows. A row far below it underflows to 0/0."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    A = np.exp(S - S.max())
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.4)
def not_scaled(Q, K, V):
    """The scores are not divided by √d."""
    return standard_attention(Q * np.sqrt(Q.shape[1]), K, V)


@exercise.misconception(credit=0.4)
def divided_by_the_width(Q, K, V):
    """You divided the scores by d. It is its root that keeps their variance near 1."""
    return standard_attention(Q / np.sqrt(Q.shape[1]), K, V)


@exercise.misconception(credit=0.4)
def softmax_over_queries(Q, K, V):
    """Your columns add up to 1. The weights of a query stand in a row: sum over the other axis."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    A = np.exp(S - S.max(axis=1, keepdims=True))
    return A / A.sum(axis=0, keepdims=True) @ V


@exercise.reference
def linear_attention(
    Q: Float[ndarray, "n d"], K: Float[ndarray, "n d"], V: Float[ndarray, "n d_v"]
) -> Float[ndarray, "n d_v"]:
    """Sum up keys and values first."""
    q, k = elu1(Q), elu1(K)
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


@exercise.alternative
def linear_with_einsum(Q, K, V):
    """Sums over named indices."""
    q, k = elu1(Q), elu1(K)
    top = np.einsum("nd,dv->nv", q, np.einsum("md,mv->dv", k, V))
    return top / np.einsum("nd,d->n", q, k.sum(axis=0))[:, None]


@exercise.alternative
def linear_in_place(Q, K, V):
    """Divide in place."""
    q, k = elu1(Q), elu1(K)
    out = q @ (k.T @ V)
    out /= (q @ k.sum(axis=0)).reshape(-1, 1)
    return out


@exercise.alternative
def linear_in_single_precision(Q, K, V):
    """The same in float32."""
    return linear_attention(*(x.astype(np.float32) for x in (Q, K, V))).astype(np.float32)


WIDE = 32  # so that n² products, wherever they are made, take far more time than n do


@exercise.check(points=0.75, visible=True)
def linear_is_right(call, rng):
    """linear_attention has the weights φ(q)·φ(k) with φ = elu + 1, normalised."""
    Q, K, V = qkv(rng, 6, 3, 2)
    agree(call(Q, K, V), linear_attention(Q, K, V))


@exercise.check(points=0.75, after=linear_is_right)
def linear_work_is_linear(call, rng):
    """The arithmetic and the memory of linear_attention grow like n."""
    grows(
        call,
        lambda n: qkv(rng, n, WIDE, WIDE),
        rows=lambda i, Q, K, V: linear_attention(Q[i], K, V),
        floor=lambda n: 4 * n * WIDE**2,
    )


@exercise.misconception
def linear_through_the_matrix(Q, K, V):
    """linear_attention forms all n × n weights: nothing about it is linear. Move the brackets."""
    A = elu1(Q) @ elu1(K).T
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.4)
def relu_plus_one(Q, K, V):
    """Your feature map is max(x, 0) + 1. Below 0, elu + 1 is the exponential."""
    q, k = np.maximum(Q, 0) + 1, np.maximum(K, 0) + 1
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


@exercise.misconception(credit=0.4)
def elu_alone(Q, K, V):
    """Your feature map is elu alone, which is negative below 0. Weights need elu + 1."""
    q, k = elu1(Q) - 1, elu1(K) - 1
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


@exercise.misconception(credit=0.4)
def keys_left_out_below(Q, K, V):
    """Your denominator adds up the query's features. Each counts with the sum of the keys'."""
    q, k = elu1(Q), elu1(K)
    return q @ (k.T @ V) / q.sum(axis=1)[:, None]


@exercise.misconception
def linear_not_normalised(Q, K, V):
    """The denominator of linear attention is missing."""
    return elu1(Q) @ (elu1(K).T @ V)


@exercise.reference
def torch_attention(Q, K, V):
    """Linear attention along the last two axes."""
    from torch.nn.functional import elu  # here, because importing torch takes seconds

    q, k = elu(Q) + 1, elu(K) + 1
    return q @ (k.mT @ V) / (q @ k.sum(dim=-2).unsqueeze(-1))


@exercise.alternative
def torch_one_key_after_the_other(Q, K, V):
    """Add up the state key by key, for all heads at once, in float32 at least."""
    import torch

    kind = torch.promote_types(V.dtype, torch.float32)
    q, k = (x.where(x > 0, x.exp() - 1) + 1 for x in (Q.to(kind), K.to(kind)))
    S = z = 0
    for key, value in zip(k.unbind(-2), V.to(kind).unbind(-2), strict=True):
        S, z = S + key.unsqueeze(-1) * value.unsqueeze(-2), z + key
    return (q @ S / (q @ z.unsqueeze(-1))).to(V.dtype)


@exercise.alternative
def torch_with_einsum(Q, K, V):
    """Sums over named indices, for any number of heads."""
    import torch

    q, k = (torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0))) for x in (Q, K))
    top = torch.einsum("...nd,...dv->...nv", q, torch.einsum("...md,...mv->...dv", k, V))
    return top / torch.einsum("...nd,...d->...n", q, k.sum(-2))[..., None]


@exercise.alternative
def torch_with_a_column_of_ones(Q, K, V):
    """The denominator is one more column of the values."""
    import torch
    from torch.nn.functional import elu

    ones = torch.ones_like(V[..., :1])
    state = (elu(K) + 1).transpose(-2, -1) @ torch.cat([V, ones], dim=-1)
    both = (elu(Q) + 1) @ state
    return both[..., :-1] / both[..., -1:]


@exercise.check(points=0.5)
def torch_is_right(call, rng):
    """torch_attention has the weights of linear attention, in every head of every example."""
    import torch

    drawn = rng.normal(size=(3, 2, 2, 5, 3))
    Q, K, V = torch.tensor(drawn, dtype=torch.float32).unbind()
    agree(call(Q, K, V), torch_attention(Q, K, V))


@exercise.check(points=1.5, gpu=True, after=torch_is_right)
def torch_is_linear_on_a_gpu(call, rng):
    """On a GPU the time and the peak memory of torch_attention grow like n, up to n = 65 536."""
    grows_on_gpu(
        call,
        time=1,
        memory=1,
        rows=lambda i, Q, K, V: torch_attention(Q[..., i, :], K, V),
    )


@exercise.misconception
def torch_not_normalised(Q, K, V):
    """The denominator is missing in torch_attention: the weights of a row have to add up to 1."""
    from torch.nn.functional import elu

    return (elu(Q) + 1) @ ((elu(K) + 1).mT @ V)


@exercise.misconception
def torch_sums_over_heads(Q, K, V):
    """The sum for the denominator runs over another axis than that of the keys."""
    from torch.nn.functional import elu

    q, k = elu(Q) + 1, elu(K) + 1
    return q @ (k.mT @ V) / (q * k.sum(dim=1, keepdim=True)).sum(dim=-1, keepdim=True)


BEYOND = 0.2  # by which one of two slopes may leave its band


def grows_like(times, low, high):
    """Is the slope on log–log axes in this band?

    Fixed costs bend the short lengths, and other programs the long ones. So one of two slopes,
    over all lengths or from n = 1000 on, is enough, if the other is near the band.
    """
    slopes = [np.polyfit(np.log(lengths[i:]), np.log(times[i:]), 1)[0] for i in (0, 2)]
    near = low - BEYOND <= min(slopes) and max(slopes) <= high + BEYOND
    return near and any(low <= slope <= high for slope in slopes)


def race(slow, fast):
    """Do these look like a quadratic and a linear method?"""
    apart = slow[-1] >= 8 * fast[-1]
    return apart and grows_like(slow, 1.6, 2.6) and grows_like(fast, 0.5, 1.5)


def shown_by(times):
    """What two rows of times are evidence of.

    Wide bands, and no failing grade beyond them: a busy machine can bend any curve.
    """
    standard, linear = times
    if np.any(times <= 0) or np.ptp(standard) == 0 or np.ptp(linear) == 0:
        return "no times"
    if standard.max() > 60:
        return "not seconds"
    if race(standard, linear):
        return "a race"
    if race(linear, standard):
        return "rows exchanged"
    raise Undecided("the times show neither slope clearly; the machine may have been busy")


@exercise.part(points=1, answer=Witness(shown_by))
def times():
    """Your times in seconds for the five n: a row for standard, a row for linear attention."""
    return np.array([2e-5 + 1e-8 * lengths**2.0, 1e-5 + 1.2e-6 * lengths])


@times.misconception()
def milliseconds():
    """These can't be seconds: you would have waited for minutes."""
    return 1000 * np.array([2e-5 + 1e-8 * lengths**2.0, 1e-5 + 1.2e-6 * lengths])


@times.misconception()
def exchanged():
    """The rows are in the other order: standard attention first."""
    return times.compute()[::-1]


@times.misconception()
def nothing_measured():
    """A time is a positive number, and differs from one n to the next."""
    return np.zeros((2, 5))


def ratio(calls=True, cold=True, cold_later=0.0, exponentials=True, products=2):
    """What the race prints for n = 2000 and d = 64, in terms of what is counted."""
    n, d, madd, exponential = 2000, 64, 1e-10, 5e-9
    standard = products * n * n * d * madd + n * n * exponential
    linear = products * n * d * d * madd + 2 * n * d * exponential * exponentials
    return (standard + calls * n * 1e-5 + cold * 0.05) / (linear + cold_later)


FAIR = {"calls": False, "cold": False}


@exercise.part(points=1, answer=Numbers())
def flattering():
    """The ratio that the race prints for n = 2000, and the one without calls and first time."""
    return np.array([ratio(), ratio(**FAIR)])


@flattering.misconception()
def first_time_for_both():
    """You let linear attention pay for a first time as well. What has run when its turn comes?"""
    return np.array([ratio(cold_later=0.05), ratio(**FAIR)])


@flattering.misconception()
def calls_left_out():
    """The calls are missing in what is printed: there is one for every row of scores."""
    return np.array([ratio(calls=False), ratio(**FAIR)])


@flattering.misconception()
def first_time_left_out():
    """The first time is missing in what is printed. Which of the two sides runs first?"""
    return np.array([ratio(cold=False), ratio(**FAIR)])


@flattering.misconception()
def features_for_nothing():
    """The exponentials of the features are missing: they cost nearly as much as their products."""
    return np.array([ratio(exponentials=False), ratio(exponentials=False, **FAIR)])


@flattering.misconception()
def one_product_each():
    """Each side multiplies twice: scores or a d × d matrix first, and then with what is left."""
    return np.array([ratio(products=1), ratio(products=1, **FAIR)])


@flattering.misconception()
def other_way_round():
    """You divided the other way round: printed is how many times as fast linear attention is."""
    return 1 / np.array([ratio(), ratio(**FAIR)])
