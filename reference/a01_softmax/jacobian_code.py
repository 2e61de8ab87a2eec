"""The softmax Jacobian in code, and its product with a vector without the matrix.

Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. 4.106.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Mismatch, agree, require
from reference.helpers import GRADIENTS

exercise = Exercise(
    "jacobian_code",
    title="Jacobian, JVP and VJP without the matrix",
    source="Bishop (2006), eq. 4.106",
    minutes=20,
    hints=[
        "The matrix has two terms: one lies on the diagonal alone, the other is an outer "
        "product. `p[..., :, None] * p[..., None, :]` is how an outer product looks for any "
        "batch.",
        "For the product with v, multiply the two terms with v on paper first: one becomes a "
        "product entry by entry, the other a mean.",
        "Start from a softmax that shifts its logits, and sum along the last axis alone.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")

LONG = 50_000  # logits; their Jacobian would take 20 GB


def diagonal(p):
    """A matrix with p on the diagonal, for every p along the last axis."""
    return p[..., None] * np.eye(p.shape[-1])


def difference_quotients(z, h=1e-5):
    """The Jacobian by central differences."""
    steps = h * np.eye(len(z))
    return np.stack([(softmax(z + s) - softmax(z - s)) / (2 * h) for s in steps], axis=1)


def jacobian_at(p):
    """The Jacobian where the probabilities are p."""
    return diagonal(p) - p[..., :, None] * p[..., None, :]


def product_at(p, v):
    """J v where the probabilities are p."""
    return p * (v - (p * v).sum(axis=-1, keepdims=True))


@exercise.reference(without=GRADIENTS)
def softmax_jacobian(z: Float[ndarray, "*batch n"]) -> Float[ndarray, "*batch n n"]:
    """Return the matrix of the derivatives ∂p_i/∂z_j."""
    return jacobian_at(softmax(z))


@exercise.alternative
def jacobian_with_einsum(z):
    """Write the outer product as a product without a sum."""
    p = softmax(z)
    return diagonal(p) - np.einsum("...i,...j->...ij", p, p)


@exercise.alternative
def jacobian_entry_by_entry(z):
    """Loop over the vectors of a batch, and over the entries p_i (δ_ij − p_j)."""
    z = np.asarray(z)
    n = z.shape[-1]
    rows = softmax(z.reshape(-1, n))
    J = np.zeros((len(rows), n, n))
    for row, p in zip(J, rows, strict=True):
        for i in range(n):
            for j in range(n):
                row[i, j] = p[i] * ((i == j) - p[j])
    return J.reshape(*z.shape, n)


@exercise.alternative
def jacobian_in_single_precision(z):
    """Compute in float32, and return it."""
    p = softmax(z).astype(np.float32)
    return diagonal(p).astype(np.float32) - p[..., :, None] * p[..., None, :]


@exercise.check(points=1.5, visible=True)
def jacobian_is_the_derivative(call, rng):
    """softmax_jacobian(z) agrees with difference quotients of the softmax."""
    for n in (3, 5):
        z = rng.normal(size=n)
        J = call(z)
        agree(J, difference_quotients(z), rtol=1e-5, atol=1e-6, what="the Jacobian")
        agree(J, softmax_jacobian(z), what="the Jacobian")


@exercise.check(points=0.5, after=jacobian_is_the_derivative)
def jacobian_of_a_certain_choice(call, rng):
    """Where one entry gets all, for n = 1 or logits such as (1000, 0, 0), J is finite and 0."""
    for z in (rng.normal(size=1), np.array([1000.0, 0.0, 0.0]), np.array([-800.0, 800.0])):
        agree(call(z), jacobian_at(call.own(softmax)(z)), what="the Jacobian")


@exercise.check(points=1, after=jacobian_is_the_derivative)
def jacobian_of_a_batch(call, rng):
    """Logits of shape (…, n) give Jacobians of shape (…, n, n), also if rows lie far apart."""
    for shape in ((4, 3), (3, 3), (2, 4, 3)):
        z = rng.normal(size=shape)
        z[0] += 1000
        agree(call(z), jacobian_at(call.own(softmax)(z)), what="the batch of Jacobians")


@exercise.misconception
def diagonal_part_only(z):
    """Only the diagonal part is there. Each logit also moves all p_i through the sum below."""
    return diagonal(softmax(z))


@exercise.misconception
def outer_part_only(z):
    """Only the part with −p twice is there. Each logit also moves its own numerator."""
    p = softmax(z)
    return -p[..., :, None] * p[..., None, :]


@exercise.misconception
def separate_sigmoids(z):
    """These are the derivatives of separate sigmoids: the entries off the diagonal are missing."""
    p = softmax(z)
    return diagonal(p * (1 - p))


@exercise.misconception
def outer_part_added(z):
    """The sign: where one logit grows, the other probabilities fall."""
    p = softmax(z)
    return diagonal(p) + p[..., :, None] * p[..., None, :]


@exercise.misconception
def own_probability_twice(z):
    """You wrote p_i (δ_ij − p_i). The probability in the bracket is that of the other index."""
    p = softmax(z)
    return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., :, None])


@exercise.misconception
def overflows(z):
    """exp overflows for large logits. Use a softmax that shifts them first."""
    e = np.exp(z)
    return jacobian_at(e / e.sum(axis=-1, keepdims=True))


@exercise.misconception
def one_vector_expected(z):
    """For a batch, sums ran over all its vectors. Each vector along the last axis is by itself."""
    e = np.exp(z - z.max())
    return jacobian_at(e / e.sum())


@exercise.reference(without=GRADIENTS)
def softmax_jvp(
    z: Float[ndarray, "*batch n"], v: Float[ndarray, "*batch n"]
) -> Float[ndarray, "*batch n"]:
    """Return J v, without the matrix J."""
    return product_at(softmax(z), v)


@exercise.alternative
def product_with_einsum(z, v):
    """Write the mean of v as a sum over an index."""
    p = softmax(z)
    return p * v - p * np.einsum("...i,...i->...", p, v)[..., None]


@exercise.alternative
def product_vector_by_vector(z, v):
    """Loop over the vectors of a batch."""
    z, v = np.asarray(z), np.asarray(v)
    n = z.shape[-1]
    pairs = zip(softmax(z.reshape(-1, n)), v.reshape(-1, n), strict=True)
    return np.array([p * v_row - p * (p @ v_row) for p, v_row in pairs]).reshape(z.shape)


@exercise.alternative
def product_in_single_precision(z, v):
    """Compute in float32, and return it."""
    p, v = softmax(z).astype(np.float32), v.astype(np.float32)
    return p * (v - np.sum(p * v, axis=-1, keepdims=True))


@exercise.check(points=1, visible=True)
def product_is_the_jacobian_times_v(call, rng):
    """softmax_jvp(z, v) equals J v."""
    for n in (3, 5):
        z, v = rng.normal(size=(2, n))
        agree(call(z, v), difference_quotients(z) @ v, rtol=1e-6, atol=1e-7, what="the product")
        agree(call(z, v), softmax_jvp(z, v), what="the product")


@exercise.check(points=0.5, after=product_is_the_jacobian_times_v)
def product_of_a_certain_choice(call, rng):
    """For n = 1 and for logits such as (1000, 0, 0) the product is finite and 0."""
    for z in (rng.normal(size=1), np.array([1000.0, 0.0, 0.0])):
        v = rng.normal(size=len(z))
        agree(call(z, v), product_at(call.own(softmax)(z), v), what="the product")


@exercise.check(points=0.5, after=product_is_the_jacobian_times_v)
def product_of_a_batch(call, rng):
    """z and v of shape (…, n) give a product for each vector, also if rows lie far apart."""
    for shape in ((4, 3), (3, 3), (2, 4, 3)):
        z, v = rng.normal(size=(2, *shape))
        z[0] += 1000
        agree(call(z, v), product_at(call.own(softmax)(z), v), what="the batch of products")


@exercise.check(points=1, after=product_is_the_jacobian_times_v)
def product_needs_no_matrix(call, rng):
    """The product works for 50 000 logits, whose Jacobian fits into no memory."""
    z, v = rng.normal(size=(2, 4))
    agree(call(z, v), softmax_jvp(z, v), what="the product")
    z, v = rng.normal(size=(2, LONG))
    try:
        product = call(z, v)
    except Exception:  # out of memory, as a rule, in the student's process
        raise Mismatch(f"there is no answer for {LONG} logits") from None
    require(np.shape(product) == (LONG,), f"{LONG} logits give a result of another length")
    agree(product, softmax_jvp(z, v), what="the product")


@exercise.misconception
def mean_not_subtracted(z, v):
    """This is p v, entry by entry: what each logit does through the sum below is missing."""
    return softmax(z) * v


@exercise.misconception
def mean_of_the_whole_batch(z, v):
    """For a batch, your sum of p v ran over all its vectors. Each of them has a mean of its own."""
    p = softmax(z)
    return p * (v - (p * v).sum())


@exercise.misconception
def mean_alone(z, v):
    """Only the part with −p twice is there. Each logit also moves its own numerator."""
    p = softmax(z)
    return -p * (p * v).sum(axis=-1, keepdims=True)


@exercise.misconception
def product_of_sigmoids(z, v):
    """This is the product for separate sigmoids: it leaves out what one logit does to others."""
    p = softmax(z)
    return p * (1 - p) * v


@exercise.misconception
def mean_added(z, v):
    """The sign: where one logit grows, the other probabilities fall."""
    p = softmax(z)
    return p * (v + (p * v).sum(axis=-1, keepdims=True))


@exercise.misconception
def plain_sum_of_v(z, v):
    """You subtracted the plain sum of v. It is the mean of v under p that is subtracted."""
    p = softmax(z)
    return p * v - p * v.sum(axis=-1, keepdims=True)


@exercise.misconception
def product_overflows(z, v):
    """exp overflows for large logits. Use a softmax that shifts them first."""
    e = np.exp(z)
    return product_at(e / e.sum(axis=-1, keepdims=True), v)


@exercise.misconception
def product_of_one_vector(z, v):
    """For a batch, sums ran over all its vectors. Each vector along the last axis is by itself."""
    e = np.exp(z - z.max())
    p = e / e.sum()
    return p * (v - np.sum(p * v))


@exercise.misconception
def matrix_first(z, v):
    """You built the whole matrix on the way to J v. Put brackets so that only vectors appear."""
    if z.shape[-1] == LONG:
        raise MemoryError  # as it would, where so much is not allowed
    return (softmax_jacobian(z) @ v[..., None])[..., 0]
