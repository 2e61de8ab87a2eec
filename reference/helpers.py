"""What several references compute with.  Students never get it; its examples prove it."""

import numpy as np


def softmax(x, axis=-1):
    """Softmax along an axis; a slice of nothing but −∞ gives zeros.

    >>> softmax(np.array([0.0, np.log(3.0)])).round(6).tolist()
    [0.25, 0.75]
    >>> softmax(np.array([[1000.0, 1000.0], [-np.inf, -np.inf]])).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def attention(q, k, v, mask=None, scale=None):
    """Output and weights of scaled dot-product attention; True in a mask means: may attend.

    >>> out, weights = attention(np.zeros((1, 2)), np.zeros((2, 2)), np.array([[0.0], [4.0]]))
    >>> out.tolist(), weights.tolist()
    ([[2.0]], [[0.5, 0.5]])
    >>> attention(np.eye(1), np.eye(1), np.eye(1), np.zeros((1, 1), bool))[0].tolist()
    [[0.0]]
    """
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    scores = q @ np.swapaxes(k, -1, -2) * np.asarray(factor, q.dtype)
    if mask is not None:
        scores = np.where(mask, scores, q.dtype.type(-np.inf))
    weights = softmax(scores)
    return weights @ v, weights


def split_heads(x, h):
    """(…, n, d) to (…, h, n, d/h): head 0 has the first columns.

    >>> split_heads(np.arange(8).reshape(2, 4), 2).tolist()
    [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    """
    return np.swapaxes(x.reshape(*x.shape[:-1], h, x.shape[-1] // h), -2, -3)


def merge_heads(x):
    """(…, h, n, k) to (…, n, h·k), which undoes ``split_heads``.

    >>> merge_heads(split_heads(np.arange(8).reshape(2, 4), 2)).tolist()
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    x = np.swapaxes(x, -2, -3)
    return x.reshape(*x.shape[:-2], -1)


def layer_norm(x, gamma=1.0, beta=0.0, eps=1e-5, axis=-1):
    """Subtract the mean along an axis, divide by √(variance + ε), then scale and shift.

    >>> layer_norm(np.array([1.0, 7.0, 9.0, 15.0]), eps=0).tolist()
    [-1.4, -0.2, 0.2, 1.4]
    >>> layer_norm(np.full((2, 3), 7.0), np.ones(3), np.full(3, 0.5)).tolist()
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    """
    deviation = x - x.mean(axis=axis, keepdims=True)
    variance = (deviation**2).mean(axis=axis, keepdims=True)
    return gamma * (deviation / np.sqrt(variance + eps)) + beta


def feed_forward(x, W1, b1, W2, b2):
    """Two linear maps with a ReLU between them, for every position by itself.

    >>> feed_forward(np.array([[1.0], [-1.0]]), np.array([[1.0, -2.0]]), 0, np.eye(2), 1).tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    """
    return np.maximum(x @ W1 + b1, 0) @ W2 + b2


def local_mask(n, w):
    """True where query and key are at most w apart.

    >>> local_mask(3, 1).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    position = np.arange(n)
    return abs(position[:, None] - position) <= w


def global_mask(n, tokens):
    """True where query or key is one of these tokens.

    >>> global_mask(3, [1]).astype(int).tolist()
    [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    """
    chosen = np.isin(np.arange(n), tokens)
    return chosen[:, None] | chosen


def layers_to_reach(mask):
    """The layers after which every output depends on every token, −1 if that never happens.

    >>> layers_to_reach(local_mask(5, 2)), layers_to_reach(np.eye(2, dtype=bool))
    (2, -1)
    """
    step = (mask | np.eye(len(mask), dtype=bool)).astype(np.float32)
    reached, layers = np.eye(len(mask), dtype=np.float32), 0
    while not reached.all():
        further = np.minimum(reached @ step, 1)
        if (further == reached).all():
            return -1
        reached, layers = further, layers + 1
    return layers
