"""What several references compute with.  Students never get it; its examples prove it."""

import numpy as np

from autograder.exercise import require

# What of a library is no answer where it is what students are to write; see `Exercise.reference`.
# The words are in the names of torch's functions, or of the operations that come of them; "ufunc."
# stands before the name of a function of numpy's that goes through an array by its methods.
ATTENTION = {
    "the library's attention": (
        *("scaled_dot_product", "multi_head_attention", "safe_softmax", "flex_attention"),
        *("transformer_encoder", "transformer_decoder"),
    )
}
NORMS = {
    "the library's normalisation": (
        *("layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"),
    )
}
SOFTMAX = {
    "the library's softmax or log-sum-exp (that is `np.logaddexp.reduce`, too)": (
        *("softmax", "logsumexp", "logcumsumexp", "ufunc.logaddexp"),
    )
}
GELU = {"the library's GELU": ("gelu",)}
LOSSES = {"the library's loss": ("cross_entropy", "nll_loss", "kl_div")}
GRADIENTS = {"automatic differentiation": ("autograd", "make_dual")}


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


def sinusoids(n, d):
    """Sinusoidal encodings of the positions 0 … n − 1.

    >>> sinusoids(2, 4).round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0]]
    """
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** ((column - column % 2) / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


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


class Pass:
    """Sublayers of a transformer and their ways back, which gather the gradients of the weights.

    Each method takes the names of its weights, or the place where they are, and returns what it
    computes and a function that turns a gradient of that into one of what went in.

    >>> p = Pass({"W": np.array([[2.0], [1.0]]), "b": np.ones(1)})
    >>> out, back = p.linear(np.array([[3.0, 4.0]]), "W", "b")
    >>> out.tolist(), back(np.ones((1, 1))).tolist(), p.grads["W"].tolist()
    ([[11.0]], [[2.0, 1.0]], [[3.0], [4.0]])
    """

    def __init__(self, weights, h=1):
        self.w, self.h = weights, h
        self.grads = {name: np.zeros_like(array) for name, array in weights.items()}

    def linear(self, x, W, b):
        """x W + b."""

        def back(g):
            flat = g.reshape(-1, g.shape[-1])
            self.grads[W] += x.reshape(-1, x.shape[-1]).T @ flat
            self.grads[b] += flat.sum(axis=0)
            return g @ self.w[W].T

        return x @ self.w[W] + self.w[b], back

    def norm(self, x, place, number):
        """Layer norm with a scale and a shift."""
        gamma, beta = f"{place}.gamma{number}", f"{place}.beta{number}"
        deviation = x - x.mean(axis=-1, keepdims=True)
        scale = 1 / np.sqrt((deviation**2).mean(axis=-1, keepdims=True) + 1e-5)
        hat = deviation * scale

        def back(g):
            axes = tuple(range(g.ndim - 1))
            self.grads[gamma] += (g * hat).sum(axis=axes)
            self.grads[beta] += g.sum(axis=axes)
            g = g * self.w[gamma]
            along = (g * hat).mean(axis=-1, keepdims=True)
            return scale * (g - g.mean(axis=-1, keepdims=True) - hat * along)

        return hat * self.w[gamma] + self.w[beta], back

    def attend(self, x, y, place, mask=None):
        """Multi-head attention of x over y; behind the output come the weights."""
        (q, back_q), (k, back_k), (v, back_v) = (
            self.linear(z, f"{place}.W_{name}", f"{place}.b_{name}")
            for z, name in ((x, "q"), (y, "k"), (y, "v"))
        )
        q, k, v = (split_heads(z, self.h) for z in (q, k, v))
        out, weights = attention(q, k, v, mask)
        out, back_o = self.linear(merge_heads(out), f"{place}.W_o", f"{place}.b_o")
        factor = np.asarray(q.shape[-1] ** -0.5, q.dtype)

        def back(g):
            g = split_heads(back_o(g), self.h)
            slope = g @ np.swapaxes(v, -1, -2)
            slope = weights * (slope - (slope * weights).sum(axis=-1, keepdims=True)) * factor
            of_v = np.swapaxes(weights, -1, -2) @ g
            of_q, of_k = slope @ k, np.swapaxes(slope, -1, -2) @ q
            return back_q(merge_heads(of_q)), back_k(merge_heads(of_k)) + back_v(merge_heads(of_v))

        return out, weights, back

    def forward(self, x, place):
        """The feed-forward layer."""
        hidden, back_1 = self.linear(x, f"{place}.W1", f"{place}.b1")
        out, back_2 = self.linear(np.maximum(hidden, 0), f"{place}.W2", f"{place}.b2")
        return out, lambda g: back_1(back_2(g) * (hidden > 0))

    def encode(self, x, place):
        """One encoder block."""
        new, _, back_new = self.attend(x, x, f"{place}.self")
        x, back_1 = self.norm(x + new, place, 1)
        new, back_forward = self.forward(x, place)
        x, back_2 = self.norm(x + new, place, 2)

        def back(g):
            g = back_2(g)
            g = back_1(g + back_forward(g))
            of_x, of_y = back_new(g)
            return g + of_x + of_y

        return x, back

    def decode(self, y, memory, place):
        """One decoder layer, whose way back gives a gradient of the target and of the source."""
        new, _, back_self = self.attend(y, y, f"{place}.self", np.tri(y.shape[1], dtype=bool))
        y, back_1 = self.norm(y + new, place, 1)
        new, _, back_cross = self.attend(y, memory, f"{place}.cross")
        y, back_2 = self.norm(y + new, place, 2)
        new, back_forward = self.forward(y, place)
        y, back_3 = self.norm(y + new, place, 3)

        def back(g):
            g = back_3(g)
            g = back_2(g + back_forward(g))
            of_y, of_memory = back_cross(g)
            g = back_1(g + of_y)
            of_x, of_y = back_self(g)
            return g + of_x + of_y, of_memory

        return y, back

    def embed(self, ids, name, encoding):
        """Rows of a table times √d, plus an encoding of positions."""
        table = self.w[name]
        factor = np.asarray(np.sqrt(table.shape[1]), table.dtype)

        def back(g):
            np.add.at(self.grads[name], ids, factor * g)

        return factor * table[ids] + encoding, back

    def translate(self, src, tgt):
        """The logits of an encoder–decoder."""
        d, dtype = self.w["source"].shape[1], self.w["source"].dtype
        x, back_source = self.embed(src, "source", sinusoids(src.shape[1], d).astype(dtype))
        ways, ways_of_y = [], []
        for place in self._layers("encoder"):
            x, back = self.encode(x, place)
            ways.append(back)
        y, back_target = self.embed(tgt, "target", sinusoids(tgt.shape[1], d).astype(dtype))
        for place in self._layers("decoder"):
            y, back = self.decode(y, x, place)
            ways_of_y.append(back)
        logits, back_out = self.linear(y, "out.W", "out.b")

        def back(g):
            g, of_memory = back_out(g), []
            for way in reversed(ways_of_y):
                g, more = way(g)
                of_memory.append(more)
            back_target(g)
            g = sum(of_memory)
            for way in reversed(ways):
                g = way(g)
            back_source(g)

        return logits, back

    def _layers(self, kind):
        end = ".W1"
        return sorted(n[: -len(end)] for n in self.w if n.startswith(kind) and n.endswith(end))


def transformer_shapes(V, d, f, L):
    """The shape of every weight of an encoder–decoder with L layers on either side, by its name.

    >>> transformer_shapes(9, 8, 12, 1)["decoder.0.cross.W_q"]
    (8, 8)
    """
    found = {"source": (V, d), "target": (V, d), "out.W": (d, V), "out.b": (V,)}
    for i in range(L):
        found |= layer_shapes(f"encoder.{i}", d, f, ("self",))
        found |= layer_shapes(f"decoder.{i}", d, f, ("self", "cross"))
    return found


def weights_of(found, shapes):
    """The arrays of a model by name, in float32; what is no part of it is left out.

    >>> weights_of({"W": [[1.0, 2.0]], "seconds": 3}, {"W": (1, 2)})
    {'W': array([[1., 2.]], dtype=float32)}
    """
    for name, shape in shapes.items():
        require(name in found, f"there is no array `{name}` among the weights")
        require(np.shape(found[name]) == shape, f"`{name}` has another shape than in the model")
    parts = {name.partition(".")[0] for name in shapes}
    for name in set(found).difference(shapes):
        require(str(name).partition(".")[0] not in parts, "there are weights of another model")
    return {name: np.asarray(found[name], np.float32) for name in shapes}


def layer_shapes(place, d, f, looks):
    """The same for one layer, with attention under these names.

    >>> len(layer_shapes("encoder.0", 8, 12, ("self",)))
    16
    """
    found = {f"{place}.W1": (d, f), f"{place}.b1": (f,), f"{place}.W2": (f, d), f"{place}.b2": (d,)}
    for look in looks:
        found |= {f"{place}.{look}.W_{name}": (d, d) for name in "qkvo"}
        found |= {f"{place}.{look}.b_{name}": (d,) for name in "qkvo"}
    norms = range(1, len(looks) + 2)
    return found | {f"{place}.{name}{i}": (d,) for name in ("gamma", "beta") for i in norms}


def initial_weights(shapes, rng):
    """Draw matrices whose products keep the variance; scales are 1, shifts and biases 0.

    >>> initial_weights({"a.gamma1": (2,), "out.b": (1,)}, None)
    {'a.gamma1': array([1., 1.]), 'out.b': array([0.])}
    """
    return {
        name: np.full(shape, float(".gamma" in name))
        if len(shape) == 1
        else rng.normal(size=shape) / np.sqrt(shape["." not in name])
        for name, shape in shapes.items()
    }


def cross_entropy(logits, labels):
    """Mean −log p of the labels, and its gradient by the logits.

    >>> loss, gradient = cross_entropy(np.zeros((1, 2)), np.array([0]))
    >>> round(loss, 4), gradient.tolist()
    (0.6931, [[-0.5, 0.5]])
    """
    p = softmax(logits)
    right = np.arange(p.shape[-1]) == labels[..., None]
    return float(-np.log(p[right]).mean()), ((p - right) / labels.size).astype(logits.dtype)


def adam(weights, gradients, steps, rate):
    """Change the weights in place, a step of Adam at a time; the rate depends on the step.

    >>> w = {"x": np.array([1.0])}
    >>> for _ in adam(w, lambda: (0.0, {"x": 2 * w["x"]}), 3, lambda step: 0.1): pass
    >>> w["x"].round(3).tolist()
    [0.701]
    """
    m, v = ({name: np.zeros_like(w) for name, w in weights.items()} for _ in range(2))
    for step in range(1, steps + 1):
        loss, found = gradients()
        for name, g in found.items():
            m[name] += 0.1 * (g - m[name])
            v[name] += 0.02 * (g * g - v[name])
            size = np.sqrt(v[name] / (1 - 0.98**step)) + 1e-9
            weights[name] -= rate(step) * (m[name] / (1 - 0.9**step)) / size
        yield loss


def rms_norm(x, gain=1.0):  # given
    """Divide by √(mean of squares + ε) along the last axis, then scale.

    >>> rms_norm(np.array([1.0, 7.0]), np.array([5.0, 10.0])).round(4).tolist()
    [1.0, 14.0]
    """
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gain


def rotated(x, at, base=100.0):  # given
    """Turn neighbouring pairs of columns by angles that grow with the position.

    >>> rotated(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([0, 1])).round(4).tolist()
    [[3.0, 4.0], [0.5403, 0.8415]]
    """
    d = x.shape[-1]
    angle = np.asarray(at)[:, None] * base ** (-np.arange(0, d, 2) / d)
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)


def swiglu(y, w):  # given
    """The feed-forward layer with a gate.

    >>> w = {"gate": np.eye(1), "up": np.full((1, 1), 2.0), "down": np.full((1, 1), 3.0)}
    >>> swiglu(np.ones((1, 1)), w).round(4).tolist()
    [[4.3864]]
    """
    gate = y @ w["gate"]
    return gate / (1 + np.exp(-gate)) * (y @ w["up"]) @ w["down"]


def echo_layers(weights):
    """The weights of each layer by itself.

    >>> [w["wq"].tolist() for w in echo_layers({"wq": np.array([[1.0], [2.0]]), "norm": None})]
    [[1.0], [2.0]]
    """
    names = [name for name in weights if name not in ("embed", "unembed", "norm")]
    return [{name: weights[name][i] for name in names} for i in range(len(weights["wq"]))]


def small_model(rng, L, V=7, d=8, f=6):
    """Draw the weights of L layers like those in echo.npz; the gains are not 1.

    >>> small_model(np.random.default_rng(0), 3)["down"].shape
    (3, 6, 8)
    """
    sides = {"embed": (V, d), "unembed": (d, V), "gate": (L, d, f), "up": (L, d, f)}
    sides |= dict.fromkeys(("wq", "wk", "wv", "wo"), (L, d, d)) | {"down": (L, f, d)}
    found = {name: 1.5 * rng.normal(size=side) / side[-2] ** 0.5 for name, side in sides.items()}
    gains = {"norm": (d,), "norm1": (L, d), "norm2": (L, d)}
    return found | {name: 1 + 0.5 * rng.normal(size=side) for name, side in gains.items()}


def echo_pass(weights, ids, off=(), hook=lambda _, array: array, mask=None):  # given
    """Logits (n, V) and maps (layers, heads, n, n) of the small trained model in echo.npz.

    ``off`` holds heads, as (layer, head), that add nothing. ``hook`` gets what is computed at a
    place, ("heads", layer) or ("stream", layer), and returns what the model goes on with. The mask
    is causal where none is given.

    >>> names = ("wq", "wk", "wv", "wo", "gate", "up", "down")
    >>> none = {name: np.zeros((2, 4, 4)) for name in names}
    >>> none |= {"embed": np.eye(3, 4), "norm1": np.ones((2, 4)), "norm2": np.ones((2, 4))}
    >>> none |= {"norm": np.ones(4), "unembed": np.eye(4, 3)}
    >>> logits, maps = echo_pass(none, np.array([1, 0]))
    >>> logits.round(2).tolist(), maps[1, 0].tolist()
    ([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0]], [[1.0, 0.0], [0.5, 0.5]])
    """
    at = np.arange(len(ids))
    mask = at <= at[:, None] if mask is None else mask
    x, maps = weights["embed"][ids], []
    for layer, w in enumerate(echo_layers(weights)):
        y = rms_norm(x, w["norm1"])
        q, k, v = (split_heads(y @ w[name], 2) for name in ("wq", "wk", "wv"))
        out, A = attention(rotated(q, at), rotated(k, at), v, mask)
        for head in range(len(out)):
            out[head] *= (layer, head) not in off
        maps.append(A)
        x = x + merge_heads(hook(("heads", layer), out)) @ w["wo"]
        x = hook(("stream", layer), x + swiglu(rms_norm(x, w["norm2"]), w))
    return rms_norm(x, weights["norm"]) @ weights["unembed"], np.stack(maps)
