"""The gradient of a whole attention layer, and a check of gradients against central differences.

Source: Vaswani et al. (2017), section 3.2.2; chain rule.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Exercise, agree, given, made, require
from autograder.exercise.properties import worked
from reference.helpers import GRADIENTS, attention

exercise = Exercise(
    "mha_grad",
    title="The gradient of the whole layer",
    source="Vaswani et al. (2017), section 3.2.2",
    minutes=70,
    hints=[
        "Keep everything from the way forwards that the way back needs: Q, K, V, the weights,"
        " the joined heads.",
        "X enters three times, through queries, keys and values; the three gradients are added.",
        "A gradient has the shape of what it is for. Where shapes fit in two ways, compare "
        "with difference quotients.",
    ],
)
split_heads = exercise.carries("a04_multi_head/mha_split", "split_heads")
merge_heads = exercise.carries("a04_multi_head/mha_split", "merge_heads")


def backward(
    X, W, h, dY, mask=None, *, scaled=True, turned=True, summed=(0, 1, 2), through=None, back=None
):
    """Differentiate self-attention; the options leave out what is often forgotten."""
    q, k, v = (split_heads(X @ each, h) for each in W[:3])
    out, A = attention(q, k, v, mask)
    dout = split_heads(dY @ W[3].T, h)
    dA = dout @ v.swapaxes(-1, -2)
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True)) if through is None else through(A, dA)
    if scaled:
        dS = dS / np.sqrt(q.shape[-1])
    turned_dS = dS.swapaxes(-1, -2) if turned else dS
    paths = [merge_heads(g) for g in (dS @ k, turned_dS @ q, A.swapaxes(-1, -2) @ dout)]
    dX = sum(paths[i] @ (W[i].T if back is None else back) for i in summed)
    return dX, np.stack([*(products(X, g) for g in paths), products(merge_heads(out), dY)])


def products(a, b):
    """Sum aᵀ b over the batch."""
    return np.einsum("bni,bnj->ij", a, b)


@exercise.reference(without=GRADIENTS)
def mha_backward(
    X: Float[ndarray, "b n d"],
    W: Float[ndarray, "4 d d"],
    h: int,
    dY: Float[ndarray, "b n d"],
    mask: Bool[ndarray, "n n"] | None = None,
):
    """Return the gradients for X and for the four stacked matrices."""
    return backward(X, W, h, dY, mask)


@exercise.alternative
def example_by_example(X, W, h, dY, mask=None):
    """Add up what each example gives for the matrices."""
    found = [backward(x[None], W, h, g[None], mask) for x, g in zip(X, dY, strict=True)]
    return np.concatenate([dx for dx, _ in found]), sum(dW for _, dW in found)


@exercise.alternative
def head_by_head(X, W, h, dY, mask=None):
    """One head after the other, with its columns and its rows of W_o."""
    dX, dW = np.zeros_like(X), np.zeros_like(W)
    for own in np.split(np.arange(X.shape[-1]), h):
        q, k, v = (X @ each[:, own] for each in W[:3])
        out, A = attention(q, k, v, mask)
        dout = dY @ W[3, own].T
        dA = dout @ v.swapaxes(-1, -2)
        dS = A * (dA - (dout * out).sum(axis=-1, keepdims=True)) / np.sqrt(len(own))
        grads = dS @ k, dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dout
        for i, g in enumerate(grads):
            dW[i][:, own] = products(X, g)
            dX += g @ W[i][:, own].T
        dW[3, own] = products(out, dY)
    return dX, dW


@exercise.alternative
def by_the_jacobian(X, W, h, dY, mask=None):
    """Build the Jacobian of softmax for every row."""

    def through(A, dA):
        J = A[..., None] * np.eye(A.shape[-1]) - A[..., None] * A[..., None, :]
        return (J @ dA[..., None])[..., 0]

    return backward(X, W, h, dY, mask, through=through)


def data(rng):
    """X, W and dY of two examples, width 6."""
    X, dY = rng.normal(size=(2, 2, 4, 6))
    return X, rng.normal(size=(4, 6, 6)) / 2, dY


@exercise.check(points=2, visible=True)
def gradient_of_the_input(call, rng):
    """dX adds up what comes along all three paths on which X enters."""
    X, W, dY = data(rng)
    agree(call(X, W, 2, dY)[0], mha_backward(X, W, 2, dY)[0], what="dX")


@exercise.check(points=1.5)
def gradients_of_query_and_key_matrix(call, rng):
    """The gradients of W_q and W_k are right."""
    X, W, dY = data(rng)
    agree(call(X, W, 3, dY)[1][:2], mha_backward(X, W, 3, dY)[1][:2], what="dW[:2]")


@exercise.check(points=1)
def gradient_of_the_value_matrix(call, rng):
    """The gradient of W_v is right."""
    X, W, dY = data(rng)
    agree(call(X, W, 2, dY)[1][2], mha_backward(X, W, 2, dY)[1][2], what="dW[2]")


@exercise.check(points=1.5)
def gradient_of_the_output_matrix(call, rng):
    """The gradient of W_o is right."""
    X, W, dY = data(rng)
    agree(call(X, W, 2, dY)[1][3], mha_backward(X, W, 2, dY)[1][3], what="dW[3]")


@exercise.check(points=1)
def examples_add_up(call, rng):
    """For the matrices, the gradients of a batch are the sums of those of its examples."""
    X, W, dY = data(rng)
    dW = np.asarray(call(X, W, 2, dY)[1])
    right = mha_backward(X, W, 2, dY)[1]
    worked(dW, like=right, what="the gradient of the matrices")
    each = [np.asarray(call(X[i : i + 1], W, 2, dY[i : i + 1])[1]) for i in (0, 1)]
    agree(dW, each[0] + each[1], what="dW of two examples")


@exercise.check(points=1)
def with_a_causal_mask(call, rng):
    """With a causal mask nothing flows back from what a query may not see."""
    X, W, dY = data(rng)
    dY[:, 1:] = 0  # so dX is 0 behind the first token, whatever else is right
    dX, dW = call(X, W, 2, dY, np.tri(4, dtype=bool))
    worked(dX, like=mha_backward(X, W, 2, dY, np.tri(4, dtype=bool))[0], what="dX")
    agree(np.asarray(dX)[:, 1:], np.zeros((2, 3, 6)), what="dX behind the only token that counts")
    # That token has one weight, 1, whatever its score is.
    agree(np.asarray(dW)[:2], np.zeros((2, 6, 6)), what="dW[:2] of a token that sees itself alone")


@exercise.misconception
def query_path_alone(X, W, h, dY, mask=None):
    """dX holds the path through the queries alone. X enters as keys and as values, too."""
    return backward(X, W, h, dY, mask, summed=(0,))


@exercise.misconception
def value_path_missing(X, W, h, dY, mask=None):
    """dX lacks the path through the values."""
    return backward(X, W, h, dY, mask, summed=(0, 1))


@exercise.misconception
def key_path_missing(X, W, h, dY, mask=None):
    """dX lacks the path through the keys."""
    return backward(X, W, h, dY, mask, summed=(0, 2))


@exercise.misconception
def scale_missing(X, W, h, dY, mask=None):
    """The factor 1/√d_k of the scores is missing on the way back to queries and keys."""
    return backward(X, W, h, dY, mask, scaled=False)


@exercise.misconception
def scale_missing_for_the_keys(X, W, h, dY, mask=None):
    """The factor 1/√d_k of the scores is missing on the way back to the keys."""
    dX, dW = backward(X, W, h, dY, mask)
    more = np.sqrt(X.shape[-1] // h)
    dX = dX + (more - 1) * backward(X, W, h, dY, mask, summed=(1,))[0]
    return dX, np.stack([dW[0], more * dW[1], dW[2], dW[3]])


@exercise.misconception
def scores_not_transposed(X, W, h, dY, mask=None):
    """On the way to the keys the gradient of the scores is to be transposed: rows are queries."""
    return backward(X, W, h, dY, mask, turned=False)


@exercise.misconception
def scale_missing_for_the_queries(X, W, h, dY, mask=None):
    """The factor 1/√d_k of the scores is missing on the way back to the queries."""
    dX, dW = backward(X, W, h, dY, mask)
    more = np.sqrt(X.shape[-1] // h)
    dX = dX + (more - 1) * backward(X, W, h, dY, mask, summed=(0,))[0]
    return dX, np.stack([more * dW[0], dW[1], dW[2], dW[3]])


@exercise.misconception
def scale_of_the_model(X, W, h, dY, mask=None):
    """You scale by the width of the model. It is the width of a head, d/h, that counts."""
    dX, dW = backward(X, np.stack([W[0] / np.sqrt(h), *W[1:]]), h, dY, mask)
    return dX, np.stack([dW[0] / np.sqrt(h), *dW[1:]])


@exercise.misconception
def scale_of_the_model_on_the_way_back(X, W, h, dY, mask=None):
    """On the way back you divide by √d. The scores were divided by √(d/h), the width of a head."""
    through = lambda A, dA: A * (dA - (A * dA).sum(axis=-1, keepdims=True)) / np.sqrt(h)  # noqa: E731
    return backward(X, W, h, dY, mask, through=through)


@exercise.misconception
def no_scale_at_all(X, W, h, dY, mask=None):
    """The scale 1/√d_k stands nowhere in yours: neither in the weights nor on the way back."""
    root = np.sqrt(X.shape[-1] // h)
    dX, dW = backward(X, np.stack([W[0] * root, *W[1:]]), h, dY, mask)
    return dX, np.stack([dW[0] * root, *dW[1:]])


@exercise.misconception
def heads_ignored(X, W, h, dY, mask=None):
    """The number of heads has no effect: forward, each head has its own scores and weights."""
    return backward(X, W, 1, dY, mask)


@exercise.misconception
def matrices_not_transposed(X, W, h, dY, mask=None):
    """dX comes back through W_q, W_k and W_v as they are. On the way back they are transposed."""
    dX = sum(path(X, W, h, dY, mask, i) @ W[i] for i in range(3))
    return dX, backward(X, W, h, dY, mask)[1]


def path(X, W, h, dY, mask, i):
    """Return the gradient of queries, keys or values: what an identity would let through."""
    return backward(X, W, h, dY, mask, summed=(i,), back=np.eye(W.shape[-1]))[0]


@exercise.misconception
def weights_not_transposed(X, W, h, dY, mask=None):
    """On the way to the values the weights are to be transposed: their rows are queries."""
    dX, dW = backward(X, W, h, dY, mask)
    q, k, v = (split_heads(X @ each, h) for each in W[:3])
    A = attention(q, k, v, mask)[1]
    values = merge_heads(A @ split_heads(dY @ W[3].T, h))
    dX = dX + (values - path(X, W, h, dY, mask, 2)) @ W[2].T
    return dX, np.stack([*dW[:2], products(X, values), dW[3]])


@exercise.misconception
def keys_and_queries_exchanged(X, W, h, dY, mask=None):
    """The gradients of W_q and W_k are exchanged: what queries get comes along the keys."""
    dX, dW = backward(X, W, h, dY, mask)
    return dX, dW[[1, 0, 2, 3]]


@exercise.misconception
def output_matrix_from_the_input(X, W, h, dY, mask=None):
    """dW[3] is made with X. What W_o multiplies is the heads' result, side by side."""
    dX, dW = backward(X, W, h, dY, mask)
    return dX, np.stack([*dW[:3], products(X, dY)])


@exercise.misconception
def output_matrix_left_out(X, W, h, dY, mask=None):
    """dY goes to the heads as it is. Between them and Y stands W_o."""
    through_identity = np.stack([*W[:3], np.eye(W.shape[-1], dtype=W.dtype)])
    return backward(X, through_identity, h, dY, mask)


@exercise.misconception
def query_path_missing(X, W, h, dY, mask=None):
    """dX lacks the path through the queries."""
    return backward(X, W, h, dY, mask, summed=(1, 2))


@exercise.misconception
def value_path_alone(X, W, h, dY, mask=None):
    """dX holds the path through the values alone. X enters as queries and as keys, too."""
    return backward(X, W, h, dY, mask, summed=(2,))


@exercise.misconception
def second_term_forgotten(X, W, h, dY, mask=None):
    """The second term of the softmax is missing: what one score gains, the others lose."""
    return backward(X, W, h, dY, mask, through=lambda A, dA: A * dA)


@exercise.misconception
def sum_without_the_weights(X, W, h, dY, mask=None):
    """In the sum of the second term every dA counts with its weight. Yours are added bare."""
    through = lambda A, dA: A * (dA - dA.sum(axis=-1, keepdims=True))  # noqa: E731
    return backward(X, W, h, dY, mask, through=through)


@exercise.misconception
def softmax_left_out(X, W, h, dY, mask=None):
    """You take the gradient of the weights for that of the scores. Softmax lies between them."""
    return backward(X, W, h, dY, mask, through=lambda _, dA: dA)


@exercise.misconception
def softmax_entry_by_entry(X, W, h, dY, mask=None):
    """You treat softmax entry by entry, A (1 − A). A weight depends on all scores of its row."""
    return backward(X, W, h, dY, mask, through=lambda A, dA: A * (1 - A) * dA)


@exercise.misconception
def sum_over_the_queries(X, W, h, dY, mask=None):
    """You summed over the queries. The softmax, and so its Jacobian, is that of a row."""
    through = lambda A, dA: A * (dA - (A * dA).sum(axis=-2, keepdims=True))  # noqa: E731
    return backward(X, W, h, dY, mask, through=through)


@exercise.misconception(credit=0.5)
def first_example_alone(X, W, h, dY, mask=None):
    """The gradients of the matrices come from one example. Add up all of the batch."""
    return backward(X, W, h, dY, mask)[0], backward(X[:1], W, h, dY[:1], mask)[1]


@exercise.misconception(credit=0.5)
def mean_over_the_batch(X, W, h, dY, mask=None):
    """The gradients of the matrices are means over the batch. Every example adds its own."""
    dX, dW = backward(X, W, h, dY, mask)
    return dX, dW / len(X)


@exercise.misconception
def gradients_transposed(X, W, h, dY, mask=None):
    """The gradients of the matrices are transposed: dW has row i for the input's column i."""
    dX, dW = backward(X, W, h, dY, mask)
    return dX, dW.swapaxes(-1, -2)


@exercise.misconception
def output_matrix_not_transposed(X, W, h, dY, mask=None):
    """dY goes back through W_o. On the way back it is W_oᵀ."""
    wrong = W.copy()
    wrong[3] = W[3].T
    return backward(X, wrong, h, dY, mask)


@exercise.misconception
def mask_forgotten(X, W, h, dY, mask=None):
    """The mask is never used."""
    return backward(X, W, h, dY)


@exercise.reference(without=GRADIENTS)
def gradcheck(f, x: Float[ndarray, "..."], h: float = 1e-5):
    """Return ‖a − b‖ / (‖a‖ + ‖b‖) for the gradient a that f claims, and central differences b."""
    if x.dtype != np.float64:
        raise ValueError(f"differences need float64, not {x.dtype}")
    return relative(f(x)[1], central(f, x, h))


def central(f, x, h):
    """Differentiate by central differences."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        found[i] = (f(x + step)[0] - f(x - step)[0]) / (2 * h)
    return found


def relative(a, b):
    """Return the relative difference of two gradients; 0 if both are 0."""
    size = np.linalg.norm(a) + np.linalg.norm(b)
    return float(np.linalg.norm(a - b) / size) if size else 0.0


@exercise.alternative
def in_place(f, x, h=1e-5):
    """Change one entry after the other, and change it back."""
    if x.dtype == np.float32:
        raise TypeError("single precision is too coarse")
    claimed, x, found = np.array(f(x)[1]), x.copy(), np.empty(x.size)
    for i in range(x.size):
        kept = x.flat[i]
        x.flat[i] = kept + h
        above = f(x)[0]
        x.flat[i] = kept - h
        found[i] = (above - f(x)[0]) / (2 * h)
        x.flat[i] = kept
    a, b = claimed.ravel(), found
    return np.sqrt(((a - b) ** 2).sum()) / (np.sqrt((a**2).sum()) + np.sqrt((b**2).sum()))


@exercise.alternative
def with_all_steps(f, x, h=1e-5):
    """Make all steps at once."""
    if x.itemsize < 8:
        raise ValueError("use float64")
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    found = [(f(x + s)[0] - f(x - s)[0]) / (2 * h) for s in steps]
    return relative(np.ravel(f(x)[1]), np.array(found))


@exercise.alternative
def with_doubled_steps(f, x, h=1e-5):
    """Warn about single precision instead of refusing it."""
    if x.dtype != np.float64:
        import warnings

        warnings.warn("single precision is too coarse for differences", stacklevel=2)
    return relative(f(x)[1], central(f, x, h))


def cubes(x):  # given
    """The sum of cubes and its gradient."""
    return (x**3).sum(), 3 * x**2


def claiming(factor):
    """The sum of cubes, with a gradient that is too large by a factor."""
    return lambda x: ((x**3).sum(), factor * 3 * x**2)


def layer(part):
    """What one attention layer adds up to, by its input, with a gradient that lacks some paths."""
    rng = np.random.default_rng(0)
    W, G = rng.normal(size=(4, 6, 6)) / 2, rng.normal(size=(2, 4, 6))

    def f(X):
        q, k, v = (split_heads(X @ each, 2) for each in W[:3])
        value = (merge_heads(attention(q, k, v)[0]) @ W[3] * G).sum()
        return value, backward(X, W, 2, G, summed=range(part))[0]

    return f


@exercise.check(points=0.25)
def accepts_what_is_right(call, rng):
    """A right gradient comes out below 1e-6, a wrong one doesn't."""
    x = rng.normal(size=(2, 3))
    agree(call(given(cubes), x) < 1e-6, True, what="whether the error is small")
    agree(call(made(claiming, 2.0), x) < 1e-6, False, what="whether the error is small")


@exercise.check(points=1.25)
def measures_what_is_wrong(call, rng):
    """A gradient too large by a factor c comes out as (c − 1)/(c + 1)."""
    x = 1 + rng.random((2, 3))
    for factor in (3.0, 1.5):
        right = (factor - 1) / (factor + 1)
        agree(call(made(claiming, factor), x), right, rtol=1e-4, what="the relative error")


@exercise.check(points=0.5)
def finds_a_missing_path(call, rng):
    """A layer's gradient that lacks a path is found out, and the right one isn't."""
    X = rng.normal(size=(2, 4, 6))
    for part in (1, 2, 3):
        error = call(made(layer, part), X)
        require((error < 1e-6) == (part == 3), "a gradient of the layer is judged wrongly")


@exercise.check(points=0.5)
def steps_of_h(call, rng):
    """The differences are central, with steps of h: too large a step shows in the error."""
    x = rng.normal(size=4)
    for h in (0.1, 0.3):
        right = relative(3 * x**2, 3 * x**2 + h**2)
        agree(call(given(cubes), x, h), right, rtol=1e-5, what=f"the error for h = {h}")


@exercise.check(points=0.5)
def single_precision_is_no_good(call, rng):
    """For float32 there is an exception or a warning: rounding hides the differences."""
    x = rng.normal(size=4)
    call(given(cubes), x)
    x = x.astype(np.float32)
    try:
        call(given(cubes), x)
    except Exception:
        if not call.raised:
            raise
    else:
        require(call.warnings, "float32 is taken without a word")


@exercise.misconception
def forward_differences(f, x, h=1e-5):
    """These are differences to one side. Central ones have an error like h², not like h."""
    if x.dtype != np.float64:
        raise ValueError(x.dtype)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        found[i] = (f(x + step)[0] - f(x)[0]) / h
    return relative(f(x)[1], found)


@exercise.misconception
def absolute_error(f, x, h=1e-5):
    """This is ‖a − b‖, which depends on how large the gradient is. Divide by ‖a‖ + ‖b‖."""
    if x.dtype != np.float64:
        raise ValueError(x.dtype)
    return float(np.linalg.norm(f(x)[1] - central(f, x, h)))


@exercise.misconception
def relative_to_one(f, x, h=1e-5):
    """You divide by the norm of the differences. Divide by the sum of both norms."""
    if x.dtype != np.float64:
        raise ValueError(x.dtype)
    b = central(f, x, h)
    return float(np.linalg.norm(f(x)[1] - b) / np.linalg.norm(b))


@exercise.misconception
def relative_to_the_claim(f, x, h=1e-5):
    """You divide by the norm of the claimed gradient. Divide by the sum of both norms."""
    if x.dtype != np.float64:
        raise ValueError(x.dtype)
    a = f(x)[1]
    return float(np.linalg.norm(a - central(f, x, h)) / np.linalg.norm(a))


@exercise.misconception
def step_ignored(f, x, h=1e-5):
    """Your steps don't depend on h."""
    return gradcheck(f, x)


@exercise.misconception(credit=0.5)
def not_halved(f, x, h=1e-5):
    """Between the two points lie two steps: divide by 2h."""
    if x.dtype != np.float64:
        raise ValueError(x.dtype)
    return relative(f(x)[1], 2 * central(f, x, h))


@exercise.misconception(fatal="a test that believes everything tests nothing")
def trusts_everything(f, x, h=1e-5):
    """The claimed gradient is compared with itself. Take the differences of the values."""
    if x.dtype != np.float64:
        raise ValueError(x.dtype)
    return relative(f(x)[1], f(x)[1])


@exercise.misconception
def single_precision_taken(f, x, h=1e-5):
    """float32 is taken without a word, though its rounding is larger than what h changes."""
    return relative(f(x)[1], central(f, x, h))
