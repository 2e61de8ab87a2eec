"""The backward pass of attention.

Source: the chain rule; Dao et al. (2022), "FlashAttention", appendix B.2.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.algebra import Fact, IndexedChain, Waypoint
from autograder.exercise import Derivation, Exercise, Numbers, agree, require
from autograder.exercise.properties import is_gradient
from reference.helpers import GRADIENTS

exercise = Exercise(
    "sdpa_grad",
    title="Backward pass of attention",
    source="Dao et al. (2022), appendix B.2",
    minutes=65,
    hints=[
        "Go backwards through the four steps: output, weights, scaled scores, scores. What "
        "comes from the output to the weights is dO Vᵀ.",
        "Through the softmax each row goes by itself: take off the mean of the incoming "
        "gradient, weighted with the weights, and multiply by the weights.",
        "The scale was on the way forwards between Q Kᵀ and the softmax, so it is on the way "
        "back too, to Q as to K. Shapes tell where to transpose.",
    ],
)
attention = exercise.carries("a03_scaled_attention/sdpa", "attention")

chain = IndexedChain(
    start="sum(g_k*D(p_k, s_j), k)",
    target="p_j*(g_j - sum(g_k*p_k, k))",
    indexed=("s", "p", "g"),
    definitions={"p_i": "exp(s_i)/sum(exp(s_k), k)"},
    rules=(
        "linearity of sums",
        "delta contraction",
        Fact("softmax Jacobian", "D(p_i, s_j)", "p_i*(delta(i,j) - p_j)"),
    ),
    ends=Waypoint(
        "End with p_j times a difference.",
        lambda line: line.expr.is_Mul and any(factor.is_Add for factor in line.expr.args),
    ),
)


@exercise.part(points=3, answer=Derivation(chain))
def steps():
    """The gradient with respect to one score, from the chain rule to two terms."""
    return [
        "sum(g_k*D(p_k, s_j), k)",
        "sum(g_k*p_k*(delta(k,j) - p_j), k)  # softmax Jacobian",
        "sum(g_k*p_k*delta(k,j), k) - sum(g_k*p_k*p_j, k)  # linearity of sums",
        "g_j*p_j - sum(g_k*p_k*p_j, k)  # delta contraction",
        "g_j*p_j - p_j*sum(g_k*p_k, k)  # linearity of sums",
        "p_j*(g_j - sum(g_k*p_k, k))",
    ]


@steps.alternative
def factor_out_first():
    """Take p_j out before δ is used."""
    return [
        "sum(g_k*D(p_k, s_j), k)",
        "sum(g_k*p_k*(delta(k,j) - p_j), k)",
        "sum(g_k*p_k*delta(k,j), k) - sum(g_k*p_k*p_j, k)",
        "sum(g_k*p_k*delta(k,j), k) - p_j*sum(g_k*p_k, k)",
        "g_j*p_j - p_j*sum(g_k*p_k, k)",
        "p_j*(g_j - sum(g_k*p_k, k))",
    ]


@steps.alternative
def other_letters():
    """Call the bound index i, and sort the factors in another way."""
    return [
        "sum(D(p_i, s_j)*g_i, i)",
        "sum(p_i*(delta(i,j) - p_j)*g_i, i)",
        "sum(p_i*delta(i,j)*g_i - p_i*p_j*g_i, i)",
        "sum(p_i*delta(i,j)*g_i, i) - sum(p_i*p_j*g_i, i)",
        "p_j*g_j - sum(p_i*p_j*g_i, i)",
        "p_j*g_j - p_j*sum(p_i*g_i, i)",
        "p_j*(g_j - sum(p_i*g_i, i))",
    ]


@steps.alternative
def without_the_last_bracket_until_the_end():
    """Both sums in one line."""
    return [
        "sum(g_k*D(p_k, s_j), k)",
        "sum(g_k*p_k*(delta(k,j) - p_j), k)  # softmax Jacobian",
        "sum(g_k*p_k*delta(k,j), k) - sum(g_k*p_k, k)*p_j  # linearity of sums",
        "g_j*p_j - p_j*sum(g_k*p_k, k)  # delta contraction",
        "p_j*(g_j - sum(g_k*p_k, k))  # algebra",
    ]


def weights_of(Q, K, mask=None):
    """Return the weights; rows without an allowed key are 0."""
    return attention(Q, K, K, mask)[1]


@exercise.reference(without=GRADIENTS)
def attention_grad(
    Q: Float[ndarray, "n d_k"],
    K: Float[ndarray, "m d_k"],
    V: Float[ndarray, "m d_v"],
    dO: Float[ndarray, "n d_v"],
    mask: Bool[ndarray, "n m"] | None = None,
) -> tuple[Float[ndarray, "n d_k"], Float[ndarray, "m d_k"], Float[ndarray, "m d_v"]]:
    """Return the gradients for Q, K and V from that for the output."""
    A = weights_of(Q, K, mask)
    dA = dO @ V.T
    dS = A * (dA - (dA * A).sum(axis=-1, keepdims=True)) / np.sqrt(Q.shape[-1])
    return dS @ K, dS.T @ Q, A.T @ dO


@exercise.alternative
def query_by_query(Q, K, V, dO, mask=None):
    """Build the Jacobian of every row."""
    A, scale = weights_of(Q, K, mask), 1 / np.sqrt(Q.shape[1])
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for i, p in enumerate(A):
        ds = (np.diag(p) - np.outer(p, p)) @ (V @ dO[i]) * scale
        dQ[i] = K.T @ ds
        dK += np.outer(ds, Q[i])
        dV += np.outer(p, dO[i])
    return dQ, dK, dV


@exercise.alternative
def from_the_output(Q, K, V, dO, mask=None):
    """The row sum of dA ∘ A is that of dO ∘ O."""
    A, d_k = weights_of(Q, K, mask), Q.shape[-1]
    delta = ((A @ V) * dO).sum(axis=1)
    dS = A * (dO @ V.T - delta[:, None])
    return [dS @ K / d_k**0.5, np.einsum("nm,nd->md", dS, Q) / d_k**0.5, A.T @ dO]


@exercise.alternative
def with_einsum(Q, K, V, dO, mask=None):
    """Indices for everything."""
    A = weights_of(Q, K, mask)
    dA = np.einsum("nv,mv->nm", dO, V)
    dS = (A * dA - A * np.einsum("nm,nm->n", A, dA)[:, None]) * Q.shape[-1] ** -0.5
    return (
        np.einsum("nm,md->nd", dS, K),
        np.einsum("nm,nd->md", dS, Q),
        np.einsum("nm,nv->mv", A, dO),
    )


def fixture(rng, n=3, m=5, d_k=4, d_v=2):
    """Four different sizes."""
    return [rng.normal(size=shape) for shape in ((n, d_k), (m, d_k), (m, d_v), (n, d_v))]


def loss(Q, K, V, dO, mask=None):
    """Return Σ O ∘ dO, a number with these gradients."""
    return (weights_of(Q, K, mask) @ V * dO).sum()


@exercise.check(points=2, visible=True)
def equals_the_chain_rule(call, rng):
    """The three gradients are right for n queries and m keys, without a mask."""
    for sizes in ({}, {"n": 1, "m": 2, "d_k": 3, "d_v": 1}):
        Q, K, V, dO = fixture(rng, **sizes)
        agree(tuple(call(Q, K, V, dO)), attention_grad(Q, K, V, dO))


@exercise.check(points=1)
def equals_differences(call, rng):
    """They agree with central differences of the output, to a relative error below 1e-7."""
    Q, K, V, dO = fixture(rng, n=2, m=3, d_k=2, d_v=3)
    found = call(Q, K, V, dO)
    require(isinstance(found, tuple | list) and len(found) == 3, "three arrays are asked for")
    dQ, dK, dV = found
    is_gradient(dQ, lambda x: loss(x, K, V, dO), Q, tolerance=1e-7, what="dQ")
    is_gradient(dK, lambda x: loss(Q, x, V, dO), K, tolerance=1e-7, what="dK")
    is_gradient(dV, lambda x: loss(Q, K, x, dO), V, tolerance=1e-7, what="dV")


@exercise.check(points=1)
def common_shift_of_the_keys(call, rng):
    """The entries of dK add up to 0 over the keys: a common shift of all keys changes nothing."""
    Q, K, V, dO = fixture(rng)
    dK = np.asarray(call(Q, K, V, dO)[1])
    require(dK.shape == K.shape, "dK has another shape than K")
    agree(dK.sum(axis=0), np.zeros(4), atol=1e-10, what="the sum of dK over the keys")


@exercise.check(points=1)
def masked_pairs_get_nothing(call, rng):
    """Blocked pairs pass no gradient on; a query without any key gets 0, not NaN."""
    Q, K, V, dO = fixture(rng)
    mask = np.tri(3, 5, k=1, dtype=bool)
    mask[1] = False
    agree(tuple(call(Q, K, V, dO, mask)), attention_grad(Q, K, V, dO, mask))


@exercise.misconception(credit=0.5)
def scale_forgotten(Q, K, V, dO, mask=None):
    """The factor 1/√d_k is missing in dQ and dK: the scores were scaled, so their gradients are."""
    dQ, dK, dV = attention_grad(Q, K, V, dO, mask)
    root = np.sqrt(Q.shape[-1])
    return dQ * root, dK * root, dV


@exercise.misconception(credit=0.5)
def scale_forgotten_for_the_keys(Q, K, V, dO, mask=None):
    """The factor 1/√d_k is missing in dK: the scores were scaled, so both gradients are."""
    dQ, dK, dV = attention_grad(Q, K, V, dO, mask)
    return dQ, dK * np.sqrt(Q.shape[-1]), dV


@exercise.misconception(credit=0.5)
def scale_forgotten_for_the_queries(Q, K, V, dO, mask=None):
    """The factor 1/√d_k is missing in dQ: the scores were scaled, so both gradients are."""
    dQ, dK, dV = attention_grad(Q, K, V, dO, mask)
    return dQ * np.sqrt(Q.shape[-1]), dK, dV


@exercise.misconception(credit=0.5)
def divided_by_d_k(Q, K, V, dO, mask=None):
    """You divide dQ and dK by d_k. The factor is that of the scores: where does a root stand?"""
    dQ, dK, dV = attention_grad(Q, K, V, dO, mask)
    root = np.sqrt(Q.shape[-1])
    return dQ / root, dK / root, dV


@exercise.misconception(credit=0.5)
def weights_not_scaled(Q, K, V, dO, mask=None):
    """Your weights are those of scores without 1/√d_k. They have to be the ones of the output."""
    dQ, dK, dV = attention_grad(Q * np.sqrt(Q.shape[-1]), K, V, dO, mask)
    return dQ, dK / np.sqrt(Q.shape[-1]), dV


@exercise.misconception(credit=0.4)
def no_scale_at_all(Q, K, V, dO, mask=None):
    """The scale 1/√d_k stands nowhere in yours: neither in the weights nor in the gradients."""
    root = np.sqrt(Q.shape[-1])
    dQ, dK, dV = attention_grad(Q * root, K, V, dO, mask)
    return dQ * root, dK, dV


def passed_back(Q, K, V, dO, mask, through):
    """Take the way back through the softmax that is given for weights and their gradient."""
    A = weights_of(Q, K, mask)
    dS = through(A, dO @ V.T) / np.sqrt(Q.shape[-1])
    return dS @ K, dS.T @ Q, A.T @ dO


@exercise.misconception(credit=0.4)
def softmax_left_out(Q, K, V, dO, mask=None):
    """You take the gradient of the weights for that of the scores. Softmax lies between them."""
    return passed_back(Q, K, V, dO, mask, lambda A, dA: dA * (A > 0))


@exercise.misconception(credit=0.4)
def sum_without_the_weights(Q, K, V, dO, mask=None):
    """In the sum of the second term every dA counts with its weight. Yours are added bare."""
    through = lambda A, dA: A * (dA - dA.sum(axis=-1, keepdims=True))  # noqa: E731
    return passed_back(Q, K, V, dO, mask, through)


@exercise.misconception(credit=0.4)
def sum_over_all_rows(Q, K, V, dO, mask=None):
    """You took one sum for all queries. The softmax is one of each row, and so is that sum."""
    return passed_back(Q, K, V, dO, mask, lambda A, dA: A * (dA - (A * dA).sum()))


@exercise.misconception(credit=0.4)
def second_term_not_weighted(Q, K, V, dO, mask=None):
    """The weight stands before both terms of the difference; yours has the second without it."""
    through = lambda A, dA: A * dA - (A * dA).sum(axis=-1, keepdims=True)  # noqa: E731
    return passed_back(Q, K, V, dO, mask, through)


@exercise.misconception(credit=0.4)
def second_term_added(Q, K, V, dO, mask=None):
    """You add the second term. What one score gains, the others lose."""
    through = lambda A, dA: A * (dA + (A * dA).sum(axis=-1, keepdims=True))  # noqa: E731
    return passed_back(Q, K, V, dO, mask, through)


@exercise.misconception(credit=0.4)
def diagonal_only(Q, K, V, dO, mask=None):
    """You used the diagonal of the softmax Jacobian alone. Each weight depends on every score."""
    A = weights_of(Q, K, mask)
    dS = A * (1 - A) * (dO @ V.T) / np.sqrt(Q.shape[-1])
    return dS @ K, dS.T @ Q, A.T @ dO


@exercise.misconception(credit=0.4)
def second_term_forgotten(Q, K, V, dO, mask=None):
    """The second term of the Jacobian is missing: what one score gains, the others lose."""
    A = weights_of(Q, K, mask)
    dS = A * (dO @ V.T) / np.sqrt(Q.shape[-1])
    return dS @ K, dS.T @ Q, A.T @ dO


@exercise.misconception(credit=0.4)
def sum_over_the_queries(Q, K, V, dO, mask=None):
    """You summed over the queries. The softmax, and so its Jacobian, is that of a row."""
    A = weights_of(Q, K, mask)
    dA = dO @ V.T
    dS = A * (dA - (dA * A).sum(axis=0, keepdims=True)) / np.sqrt(Q.shape[-1])
    return dS @ K, dS.T @ Q, A.T @ dO


@exercise.misconception
def mask_ignored(Q, K, V, dO, mask=None):
    """The mask has no effect."""
    return attention_grad(Q, K, V, dO)


@exercise.misconception
def dead_rows_are_nan(Q, K, V, dO, mask=None):
    """A query without any allowed key gives NaN. Its weights are 0, and its gradients, too."""
    gradients = attention_grad(Q, K, V, dO, mask)
    if mask is None or mask.any(axis=1).all():
        return gradients
    return tuple(np.full_like(gradient, np.nan) for gradient in gradients)


@exercise.misconception(credit=0.5)
def queries_and_keys_exchanged(Q, K, V, dO, mask=None):
    """The gradients come in the order dQ, dK, dV: yours are exchanged."""
    dQ, dK, dV = attention_grad(Q, K, V, dO, mask)
    return dK, dQ, dV


q, keys = np.array([[1.0, 0]]), np.eye(2)


@exercise.part(points=0.5, answer=Numbers())
def A():
    """The weights for q = (1, 0), K = I, V = (1, 0)ᵀ, shape (2,)."""
    return weights_of(q, keys)[0]


@A.misconception()
def A_not_scaled():
    """The score isn't scaled by 1/√d_k."""
    return weights_of(q * np.sqrt(2), keys)[0]


@exercise.part(points=1, answer=Numbers())
def dQ(A):
    """The gradient for the query, with dO = 1, shape (2,)."""
    return A[0] * A[1] * np.array([1, -1]) / np.sqrt(2)


@dQ.alternative
def dQ_with_the_scale_of_the_weights(A):
    """The scores are the scale and 0, so the logarithm of the weights' ratio is the scale."""
    return A[0] * A[1] * np.array([1, -1]) * np.log(A[0] / A[1])


@dQ.misconception()
def dQ_without_scale(A):
    """The factor 1/√d_k is missing: the scores were scaled, so their gradients are."""
    return A[0] * A[1] * np.array([1.0, -1])


@dQ.misconception()
def dQ_of_the_diagonal(A):
    """You used the diagonal of the softmax Jacobian alone. Each weight depends on every score."""
    return np.array([A[0] * A[1] / np.sqrt(2), 0])


@dQ.misconception()
def dQ_without_the_second_term(A):
    """The second term of the Jacobian is missing: what one score gains, the others lose."""
    return np.array([A[0] / np.sqrt(2), 0])


@exercise.part(points=1, answer=Numbers())
def dK(dQ):
    """The gradient for the keys, with dO = 1, shape (2, 2)."""
    return np.outer(dQ, [1, 0])


@dK.misconception()
def dK_transposed(dQ):
    """Each row of dK belongs to a key: it is a multiple of the query."""
    return np.outer([1, 0], dQ)


@dK.misconception()
def dK_both_alike(dQ):
    """What one score gains the other loses: the gradients of the two keys add up to 0."""
    return np.outer([dQ[0], dQ[0]], [1, 0])


@exercise.part(points=0.5, answer=Numbers())
def dV(A):
    """The gradient for the values, with dO = 1, shape (2,)."""
    return A


@dV.misconception()
def values_themselves():
    """These are the values, or dA. How much does each of the values count in the output?"""
    return np.array([1.0, 0])
