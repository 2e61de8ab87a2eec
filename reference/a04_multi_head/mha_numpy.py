"""Multi-head attention in NumPy, as a class that later notebooks build on.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.2.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Exercise, agree, require, seeded
from autograder.exercise.properties import causal, keeps_dtype, rows_sum_to_one, worked
from reference.helpers import ATTENTION, attention, softmax

exercise = Exercise(
    "mha_numpy",
    title="Multi-head attention in NumPy",
    source="Vaswani et al. (2017), section 3.2.2",
    minutes=70,
    hints=[
        "Multiply with the whole matrix first and deal the columns out afterwards: h small "
        "products aren't needed.",
        "With heads as an axis before the tokens, one `@` does all heads and examples at once.",
        "A mask for all heads needs an axis where the heads are, of length 1.",
    ],
)
split_heads = exercise.carries("a04_multi_head/mha_split", "split_heads")
merge_heads = exercise.carries("a04_multi_head/mha_split", "merge_heads")


@exercise.reference
def project(x: Float[ndarray, "b n d"], W: Float[ndarray, "d d"], h: int):
    """Project all tokens at once, and deal the columns out to the heads."""
    return split_heads(x @ W, h)


@exercise.alternative
def head_by_head(x, W, h):
    """Use a small matrix for each head."""
    return np.stack([x @ each for each in np.split(W, h, axis=1)], axis=1)


@exercise.alternative
def with_einsum(x, W, h):
    """Give the columns of W two axes."""
    d = W.shape[0]
    return np.einsum("bnd,dhk->bhnk", x, W.reshape(d, h, d // h))


@exercise.alternative
def by_broadcasting(x, W, h):
    """Stack the small matrices and let tokens broadcast over them."""
    d = len(W)
    return x[:, None] @ W.reshape(d, h, d // h).transpose(1, 0, 2)


@exercise.check(points=1, visible=True)
def every_head_has_its_own_matrix(call, rng):
    """Head t gets the tokens times columns t·d/h … of W, just as with a small matrix of its own."""
    x, W = rng.normal(size=(2, 5, 6)), rng.normal(size=(6, 6))
    agree(call(x, W, 3), head_by_head(x, W, 3))


@exercise.check(points=0.5)
def one_head_gets_everything(call, rng):
    """With one head there is one axis more, and else it is the product."""
    x, W = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 4))
    agree(call(x, W, 1), (x @ W)[:, None])


@exercise.check(points=0.5)
def examples_keep_apart(call, rng):
    """Examples of a batch don't mix."""
    x, W = rng.normal(size=(3, 4, 6)), rng.normal(size=(6, 6))
    found = np.asarray(call(x, W, 2))
    require(found.ndim == 4, "the result should have the axes example, head, token and width")
    agree(found[1:2], call(x[1:2], W, 2), what="the second of three examples")


@exercise.misconception
def reshaped_alone(x, W, h):
    """Reshaping alone gives a head some of the tokens whole. Split the columns, then swap axes."""
    B, n, d = x.shape
    return (x @ W).reshape(B, h, n, d // h)


@exercise.misconception
def every_h_th_column(x, W, h):
    """Your heads take every h-th column. Here each has neighbouring ones."""
    B, n, d = x.shape
    return (x @ W).reshape(B, n, d // h, h).transpose(0, 3, 1, 2)


@exercise.misconception(credit=0.5)
def matrix_transposed(x, W, h):
    """You multiply by a transpose. Tokens are rows, and a matrix stands to their right."""
    return project(x, W.T, h)


@exercise.misconception(credit=0.5)
def heads_before_examples(x, W, h):
    """Heads are your first axis. Examples come first, then heads, then tokens."""
    return project(x, W, h).swapaxes(0, 1)


@exercise.misconception(credit=0.5)
def batch_reshaped(x, W, h):
    """You cut the batch as if it were one list of numbers: examples mix. Keep its axis in front."""
    B, n, d = x.shape
    return (x @ W).reshape(n, B, h, d // h).transpose(1, 2, 0, 3)


WEIGHTS = ("W_q", "W_k", "W_v", "W_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")


@exercise.reference(without=ATTENTION)
class MultiHead:
    """Attention with h heads: four matrices of shape (d, d), applied from the right."""

    def __init__(self, d: int, h: int, rng: np.random.Generator | None = None, bias: bool = False):
        rng = np.random.default_rng() if rng is None else rng
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = rng.normal(size=(4, d, d)) / np.sqrt(d)
        self.b_q = self.b_k = self.b_v = self.b_o = np.zeros(d) if bias else None

    def __call__(
        self,
        xq: Float[ndarray, "b n d"],
        xk: Float[ndarray, "b m d"],
        xv: Float[ndarray, "b m d"],
        mask: Bool[ndarray, "..."] | None = None,
    ):
        """Return the output, shape (B, n, d), and the weights of every head, (B, h, n, m)."""
        q = self._split(self._linear(xq, self.W_q, self.b_q))
        k = self._split(self._linear(xk, self.W_k, self.b_k))
        v = self._split(self._linear(xv, self.W_v, self.b_v))
        out, weights = self._attend(q, k, v, mask)
        return self._linear(self._merge(out), self.W_o, self.b_o), weights

    def _linear(self, x, W, b):
        return x @ W if b is None else x @ W + b

    def _split(self, x):
        return split_heads(x, self.h)

    def _merge(self, x):
        return merge_heads(x)

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, mask)


@exercise.alternative
class HeadAfterHead(MultiHead):
    """One head after the other, and a sum of what they write."""

    def __call__(self, xq, xk, xv, mask=None):
        """Add up head times its rows of W_o."""
        n, m = xq.shape[1], xk.shape[1]
        masks = np.broadcast_to(True if mask is None else mask, (len(xq), self.h, n, m))
        q = self._linear(xq, self.W_q, self.b_q)
        k = self._linear(xk, self.W_k, self.b_k)
        v = self._linear(xv, self.W_v, self.b_v)
        out, weights = 0 if self.b_o is None else self.b_o, []
        for t, rows in enumerate(np.split(self.W_o, self.h)):
            own = slice(t * len(rows), (t + 1) * len(rows))
            head, A = attention(q[..., own], k[..., own], v[..., own], masks[:, t])
            out = out + head @ rows
            weights.append(A)
        return out, np.stack(weights, axis=1)


@exercise.alternative
class EveryAxisNamed(MultiHead):
    """Einsum throughout, scores shifted by their largest, masked by a finite number."""

    def __call__(self, xq, xk, xv, mask=None):
        """Name batch, head, query, key, column."""
        q, k, v = (
            self._linear(x, W, b).reshape(*x.shape[:2], self.h, -1)
            for x, W, b in (
                (xq, self.W_q, self.b_q),
                (xk, self.W_k, self.b_k),
                (xv, self.W_v, self.b_v),
            )
        )
        scores = np.einsum("bnhc,bmhc->bhnm", q, k) / q.dtype.type(q.shape[-1] ** 0.5)
        if mask is not None:
            scores = np.where(mask, scores, q.dtype.type(-1e30))
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        A = e / e.sum(axis=-1, keepdims=True)
        heads = np.einsum("bhnm,bmhc->bnhc", A, v).reshape(*xq.shape[:2], -1)
        return self._linear(heads, self.W_o, self.b_o), A


@exercise.alternative
class OneArrayInside:
    """All weights in one array, which the attributes look into."""

    def __init__(self, d, h, rng=None, bias=False):
        limit = np.sqrt(3 / d)
        self.h = h
        self.all = (rng or np.random.default_rng()).uniform(-limit, limit, (4, d, d))
        self.biases = np.zeros((4, d)) if bias else None

    def __getattr__(self, name):
        if name in WEIGHTS:
            return self.all[WEIGHTS.index(name)]
        if name in BIASES:
            return None if self.biases is None else self.biases[BIASES.index(name)]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if name in WEIGHTS:
            at = WEIGHTS.index(name)
            self.all = np.stack([*self.all[:at], value, *self.all[at + 1 :]]).astype(value.dtype)
        elif name in BIASES:
            self.biases[BIASES.index(name)] = value
        else:
            super().__setattr__(name, value)

    def __call__(self, xq, xk, xv, mask=None):
        """Project, attend, merge, project."""
        b = self.biases
        q, k, v = (x @ W for x, W in zip((xq, xk, xv), self.all[:3], strict=True))
        if b is not None:
            q, k, v = q + b[0], k + b[1], v + b[2]
        out, A = attention(*(split_heads(x, self.h) for x in (q, k, v)), mask)
        out = merge_heads(out) @ self.all[3]
        return (out if b is None else out + b[3]), A


def drawn(rng, d=8):
    """Matrices for a layer whose weights are not near 1/m."""
    return 1.5 * rng.normal(size=(4, d, d)) / np.sqrt(d)


def layer(call, W, h, **options):
    """Make a layer with these matrices, in place of those that it drew."""
    made = call.make(W.shape[-1], h, seeded(0), **options)
    for name, each in zip(WEIGHTS, W, strict=True):
        setattr(made, name, each)
    return made


def expected(W, h, xq, xk, xv, mask=None):
    """Return the output and weights of the layer with these matrices."""
    q, k, v = (project(x, w, h) for x, w in zip((xq, xk, xv), W[:3], strict=True))
    out, weights = attention(q, k, v, mask)
    return merge_heads(out) @ W[3], weights


@exercise.check(points=2.5, visible=True)
def two_heads(call, rng):
    """The output of two heads over one sequence is right."""
    x, W = rng.normal(size=(2, 4, 8)), drawn(rng)
    agree(layer(call, W, 2)(x, x, x)[0], expected(W, 2, x, x, x)[0], what="the output")


@exercise.check(points=1.5)
def every_head_has_its_weights(call, rng):
    """The weights of every head come back, (B, h, n, m): rows that sum to 1, and the right ones."""
    x, W = rng.normal(size=(2, 4, 8)), drawn(rng)
    weights = layer(call, W, 2)(x, x, x)[1]
    right = expected(W, 2, x, x, x)[1]
    require(np.shape(weights) == right.shape, "the weights have another shape than (B, h, n, m)")
    rows_sum_to_one(weights)
    agree(weights, right, what="the weights")


@exercise.check(points=1)
def one_head_is_plain_attention(call, rng):
    """One head is plain attention with projections, over another sequence as well."""
    x, y, W = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 5, 6)), drawn(rng, 6)
    out, _ = attention(x @ W[0], y @ W[1], y @ W[2])
    agree(layer(call, W, 1)(x, y, y)[0], out @ W[3], what="the output")


@exercise.check(points=1)
def keys_and_values_may_differ(call, rng):
    """Queries, keys and values may come from three different inputs."""
    x, W = rng.normal(size=(2, 3, 8)), drawn(rng)
    y, z = rng.normal(size=(2, 2, 5, 8))
    agree(layer(call, W, 2)(x, y, z)[0], expected(W, 2, x, y, z)[0], what="the output")


@exercise.check(points=0.5)
def no_query_gives_the_mean(call, rng):
    """Where W_q is 0, every output is the mean of the values, times W_o."""
    x, W = rng.normal(size=(2, 4, 6)), drawn(rng, 6)
    W[0] = 0
    right = np.broadcast_to((x @ W[2] @ W[3]).mean(axis=1, keepdims=True), x.shape)
    agree(layer(call, W, 1)(x, x, x)[0], right, what="the output")


@exercise.check(points=0.5)
def draws_its_matrices(call, rng):
    """The matrices are drawn from `rng`, with a standard deviation of 1/√d."""
    first, again, other = (call.make(32, 4, seeded(seed)) for seed in (1, 1, 2))
    for name in WEIGHTS:
        W = getattr(first, name)
        require(np.shape(W) == (32, 32), f"{name} has another shape than (d, d)")
        agree(getattr(again, name), W, what=f"{name} from the same generator")
        require(not np.allclose(W, getattr(other, name)), "another generator gives the same")
        require(0.8 < np.std(W) * 32**0.5 < 1.25, f"the standard deviation of {name} is not 1/√d")
    require(not np.allclose(first.W_q, first.W_k), "W_q and W_k are the same")
    call.make(4, 2)


@exercise.check(points=0.5)
def biases_are_added(call, rng):
    """With `bias=True` there are b_q, b_k, b_v, b_o: zeros at first, and added to each map."""
    x, W, b = rng.normal(size=(2, 4, 6)), drawn(rng, 6), rng.normal(size=(4, 6))
    made = layer(call, W, 1, bias=True)
    for name, each in zip(BIASES, b, strict=True):
        agree(getattr(made, name), np.zeros(6), what=f"the new {name}")
        setattr(made, name, each)
    out, _ = attention(*(x @ W[i] + b[i] for i in range(3)))
    agree(made(x, x, x)[0], out @ W[3] + b[3], what="the output")


@exercise.check(points=0.5)
def single_precision(call, rng):
    """float32 gives float32, output and weights."""
    x, W = rng.normal(size=(1, 3, 4)), drawn(rng, 4).astype(np.float32)
    keeps_dtype(layer(call, W, 2), x, x, x)


@exercise.check(points=2)
def nobody_looks_ahead(call, rng):
    """With a causal mask a later token changes no earlier output."""
    W, x, mask = drawn(rng, 6), rng.normal(size=(2, 5, 6)), np.tri(5, dtype=bool)
    made = layer(call, W, 1)
    out = made(x, x, x, mask)[0]
    agree(np.shape(out), x.shape, what="the shape of the output")
    worked(out, x, like=expected(W, 1, x, x, x, mask)[0], what="the output")
    causal(lambda x: made(x, x, x, mask)[0], x, rng)


@exercise.check(points=1)
def the_first_sees_itself(call, rng):
    """With a causal mask the first token gets its own value, times W_o; padding is not seen."""
    x, W = rng.normal(size=(2, 4, 8)), drawn(rng)
    out = layer(call, W, 2)(x, x, x, np.tri(4, dtype=bool))[0]
    agree(out[:, 0], x[:, 0] @ W[2] @ W[3], what="the first row")
    W[0] = 0  # every query sees alike, whatever else is wrong
    mask = (np.arange(4) < [[3], [2]])[:, None, None]
    out, right = layer(call, W, 2)(x, x, x, mask)[0], expected(W, 2, x, x, x, mask)[0]
    agree(out, right, credit=0.5, what="the output with a mask (B, 1, 1, n) for padding")


@exercise.check(points=1)
def heads_side_by_side(call, rng):
    """Where W_o is the identity, the heads stand side by side."""
    x, W = rng.normal(size=(2, 4, 8)), drawn(rng)
    W[3] = np.eye(8)
    agree(layer(call, W, 4)(x, x, x)[0], expected(W, 4, x, x, x)[0], what="the output")


@exercise.check(points=1)
def output_passes_through_its_matrix(call, rng):
    """Doubling W_o doubles the output; W_o = 0 leaves nothing, nor does W_v = 0, whenever set."""
    x, W = rng.normal(size=(1, 3, 6)), drawn(rng, 6)
    made = layer(call, W, 2)
    once = worked(made(x, x, x)[0], x, what="the output")
    made.W_o = 2 * W[3]
    agree(made(x, x, x)[0], 2 * np.asarray(once), what="the output for 2 W_o")
    made.W_o = 0 * W[3]
    agree(made(x, x, x)[0], np.zeros_like(x), what="the output for W_o = 0")
    made.W_o, made.W_v = W[3], 0 * W[2]
    agree(made(x, x, x)[0], np.zeros_like(x), credit=0.5, what="the output for W_v = 0, set later")


@exercise.misconception
class SplitByReshaping(MultiHead):
    """Reshaping alone gives a head some of the tokens whole. Split the columns, then swap axes."""

    def _split(self, x):
        B, n, d = x.shape
        return x.reshape(B, self.h, n, d // self.h)

    def _merge(self, x):
        return merge_heads(x)


@exercise.misconception
class MergedByReshaping(MultiHead):
    """The heads are merged by reshaping alone, which mixes tokens. Swap the axes back first."""

    def _merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], -1)


@exercise.misconception
class ScaledByTheWidth(MultiHead):
    """You divide by √d. A head's queries and keys are d/h wide: divide by √(d/h)."""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, mask, scale=(self.h * q.shape[-1]) ** -0.5)


@exercise.misconception
class NotScaled(MultiHead):
    """The scores are not scaled: with the width of a head they grow, and weights go to 0 and 1."""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, mask, scale=1.0)


@exercise.misconception
class DividedByTheHeadsWidth(MultiHead):
    """You divide the scores by the width of a head. It is its root that their spread grows with."""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, mask, scale=1 / q.shape[-1])


@exercise.misconception
class ScaledByTheNumberOfHeads(MultiHead):
    """You scale with the number of heads. How wide are the vectors that are multiplied?"""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, mask, scale=self.h**-0.5)


@exercise.misconception
class EveryHthColumn(MultiHead):
    """Your heads take every h-th column. Here each has neighbouring ones."""

    def _split(self, x):
        return x.reshape(*x.shape[:2], -1, self.h).transpose(0, 3, 1, 2)


@exercise.misconception
class EveryHthColumnAndBack(MultiHead):
    """Your heads take every h-th column, and give them back so. Here each has neighbouring ones."""

    def _split(self, x):
        return x.reshape(*x.shape[:2], -1, self.h).transpose(0, 3, 1, 2)

    def _merge(self, x):
        return x.transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1)


@exercise.misconception
class MergedInTurn(MultiHead):
    """The heads' columns come in turn when you merge. Head 0's come first, all of them."""

    def _merge(self, x):
        return x.transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1)


@exercise.misconception
class HeadsIgnored(MultiHead):
    """There is one head of the full width. Split queries, keys and values before they attend."""

    def _split(self, x):
        return split_heads(x, 1)


@exercise.misconception(credit=0.5)
class SoftmaxOverEverything(MultiHead):
    """The softmax runs over all scores at once. Every row sums to 1: use the last axis."""

    def _attend(self, q, k, v, mask):
        scores = q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        A = softmax(scores.reshape(-1)).reshape(scores.shape)
        return A @ v, A


def of_scores(q, k, v, mask, weigh):
    """Attend with other weights: those that a function makes of the scaled scores."""
    scores = q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5)
    A = weigh(scores, np.ones(1, bool) if mask is None else mask)
    return A @ v, A


@exercise.misconception
class SoftmaxOverTheQueries(MultiHead):
    """Your columns sum to 1. A query's weights stand in a row: use the last axis."""

    def _attend(self, q, k, v, mask):
        hidden = lambda s, may: softmax(np.where(may, s, -np.inf), axis=-2)  # noqa: E731
        return of_scores(q, k, v, mask, hidden)


@exercise.misconception
class SoftmaxOverTheHeads(MultiHead):
    """Your weights sum to 1 over the heads. Every head's rows do, by themselves."""

    def _attend(self, q, k, v, mask):
        hidden = lambda s, may: softmax(np.where(may, s, -np.inf), axis=1)  # noqa: E731
        return of_scores(q, k, v, mask, hidden)


@exercise.misconception
class MaskedWithZero(MultiHead):
    """Blocked scores are 0 in yours, but exp(0) is 1. Which score has the exponential 0?"""

    def _attend(self, q, k, v, mask):
        return of_scores(q, k, v, mask, lambda s, may: softmax(np.where(may, s, 0)))


@exercise.misconception
class MaskAdded(MultiHead):
    """You added True and False as 1 and 0, which only favours the allowed keys a little."""

    def _attend(self, q, k, v, mask):
        weigh = lambda s, may: softmax(s if mask is None else s + may)  # noqa: E731
        return of_scores(q, k, v, mask, weigh)


@exercise.misconception
class ScoresReturned(MultiHead):
    """You return the scores. Asked for are the weights: what comes out of the softmax."""

    def _attend(self, q, k, v, mask):
        out, _ = attention(q, k, v, mask)
        return out, q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5)


@exercise.misconception
class OutputMatrixForgotten(MultiHead):
    """W_o is missing. Only it lets the heads' results mix."""

    def __call__(self, xq, xk, xv, mask=None):
        """Leave out the last map."""
        kept, self.W_o = self.W_o, np.eye(len(self.W_o), dtype=self.W_o.dtype)
        found = super().__call__(xq, xk, xv, mask)
        self.W_o = kept
        return found


@exercise.misconception(credit=0.5)
class MatricesTransposed(MultiHead):
    """You multiply by a transpose. Tokens are rows, and a matrix stands to their right."""

    def _linear(self, x, W, b):
        return super()._linear(x, W.T, b)


@exercise.misconception
class KeysAsValues(MultiHead):
    """The values are made from `xk`. They come from `xv`, which may be something else."""

    def __call__(self, xq, xk, xv, mask=None):
        """Never look at the values."""
        return super().__call__(xq, xk, xk, mask)


@exercise.misconception
class ValuesByTheKeysMatrix(MultiHead):
    """You make the values with W_k. They have a matrix of their own."""

    def __call__(self, xq, xk, xv, mask=None):
        """Take another matrix for the values."""
        return with_matrices(self, {"W_v": self.W_k}, xq, xk, xv, mask)


@exercise.misconception
class KeysByTheQueriesMatrix(MultiHead):
    """You make the keys with W_q. They have a matrix of their own."""

    def __call__(self, xq, xk, xv, mask=None):
        """Take another matrix for the keys."""
        return with_matrices(self, {"W_k": self.W_q}, xq, xk, xv, mask)


@exercise.misconception
class QueriesAndKeysExchanged(MultiHead):
    """W_q and W_k are exchanged: the first makes queries, of `xq`, the second keys, of `xk`."""

    def __call__(self, xq, xk, xv, mask=None):
        """Exchange two matrices."""
        return with_matrices(self, {"W_q": self.W_k, "W_k": self.W_q}, xq, xk, xv, mask)


def with_matrices(layer, others, *given):
    """Call a layer in which some matrices are others for the time of the call."""
    kept = {name: getattr(layer, name) for name in others}
    vars(layer).update(others)
    found = MultiHead.__call__(layer, *given)
    vars(layer).update(kept)
    return found


@exercise.misconception
class SelfAttentionAlone(MultiHead):
    """Keys and values are made from `xq`. They come from `xk` and `xv`, which may differ."""

    def __call__(self, xq, xk, xv, mask=None):
        """Look at the queries alone."""
        return super().__call__(xq, xq, xq, mask)


@exercise.misconception
class WeightsAveraged(MultiHead):
    """The weights are averaged over the heads. Return those of every head."""

    def __call__(self, xq, xk, xv, mask=None):
        """Return one table for each example."""
        out, weights = super().__call__(xq, xk, xv, mask)
        return out, weights.mean(axis=1)


@exercise.misconception
class MaskForgotten(MultiHead):
    """The mask is never used."""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v)


@exercise.misconception
class MaskForMatricesAlone(MultiHead):
    """You put axes in front of every mask. One of shape (B, 1, 1, n) has all four already."""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, None if mask is None else mask[None, None])


@exercise.misconception
class MaskInverted(MultiHead):
    """The mask is read the wrong way round: True means that the query may attend."""

    def _attend(self, q, k, v, mask):
        return attention(q, k, v, None if mask is None else ~mask)


@exercise.misconception
class MaskAfterSoftmax(MultiHead):
    """You masked the weights, so they no longer sum to 1. Mask the scores with −∞."""

    def _attend(self, q, k, v, mask):
        _, weights = attention(q, k, v)
        weights = weights if mask is None else weights * mask
        return weights @ v, weights


@exercise.misconception
class DrawnFromAnother(MultiHead):
    """The matrices don't depend on `rng`: draw them from it, so that others give other layers."""

    def __init__(self, d, h, rng=None, bias=False):
        super().__init__(d, h, np.random.default_rng(0), bias)


@exercise.misconception
class DrawnTooLarge(MultiHead):
    """The matrices have entries of size 1. Divide by √d, or products grow with the width."""

    def __init__(self, d, h, rng=None, bias=False):
        super().__init__(d, h, rng, bias)
        for name in WEIGHTS:
            setattr(self, name, getattr(self, name) * np.sqrt(d))


@exercise.misconception
class DrawnTooSmall(MultiHead):
    """You divide the matrices by d. For the variance to stay, their spread is 1/√d."""

    def __init__(self, d, h, rng=None, bias=False):
        super().__init__(d, h, rng, bias)
        for name in WEIGHTS:
            setattr(self, name, getattr(self, name) / np.sqrt(d))


@exercise.misconception
class OneMatrixForAll(MultiHead):
    """W_q and W_k are one and the same matrix. Draw each of the four by itself."""

    def __init__(self, d, h, rng=None, bias=False):
        super().__init__(d, h, rng, bias)
        self.W_k = self.W_v = self.W_o = self.W_q


@exercise.misconception(credit=0.5, fatal="whoever builds on it can set nothing")
class DrawnMatricesKept(MultiHead):
    """You keep the matrices as drawn: setting W_q changes nothing. Look at it in each call."""

    def __init__(self, d, h, rng=None, bias=False):
        super().__init__(d, h, rng, bias)
        self._kept = self.W_q, self.W_k, self.W_v

    def __call__(self, xq, xk, xv, mask=None):
        """Look at the first three matrices as they were at first."""
        now = self.W_q, self.W_k, self.W_v
        self.W_q, self.W_k, self.W_v = self._kept
        found = super().__call__(xq, xk, xv, mask)
        self.W_q, self.W_k, self.W_v = now
        return found


@exercise.misconception
class BiasesIgnored(MultiHead):
    """The biases are there but not added."""

    def _linear(self, x, W, b):
        return x @ W


@exercise.misconception
class OutputBiasForgotten(MultiHead):
    """b_o is not added: the map behind the heads has a bias, too."""

    def __call__(self, xq, xk, xv, mask=None):
        """Take it off again."""
        out, weights = super().__call__(xq, xk, xv, mask)
        return (out if self.b_o is None else out - self.b_o), weights


@exercise.misconception
class AlwaysDouble(MultiHead):
    """The result is float64 although everything that goes in is float32."""

    def _attend(self, q, k, v, mask):
        return attention(q.astype(float), k.astype(float), v.astype(float), mask)
