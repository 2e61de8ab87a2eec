"""The block of today: RMSNorm in front, rotated and grouped queries, SwiGLU, no biases.

Source: Zhang & Sennrich (2019), RMSNorm; Shazeer (2020), "GLU variants improve transformer"; Su et
al. (2021), RoPE; Xiong et al. (2020), pre-norm; Touvron et al. (2023), "LLaMA", section 2.2.
"""

import math

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

from autograder.exercise import (
    Choice,
    Count,
    Exercise,
    Formula,
    Numbers,
    agree,
    alike,
    data_file,
    require,
)
from autograder.exercise.properties import causal, leaves_alone
from reference.helpers import ATTENTION, NORMS, echo_pass, merge_heads, split_heads

exercise = Exercise(
    "modern_block",
    title="The block that replaced the one of 2017",
    source="Touvron et al. (2023), section 2.2; Shazeer (2020)",
    minutes=55,
    hints=[
        "Two branches leave the same input and meet in a product, entry by entry. Only one of "
        "them passes through silu.",
        "Write the block as two additions to the stream. What goes into each sublayer has been "
        "normalised, what it is added to has not.",
        "Count one block by its matrices: which of their sides is d, h heads wide, g heads wide, "
        "or f? What does a model have once, beside its blocks?",
    ],
)

gqa = exercise.carries("a13_modern/gqa", "gqa")
rope = exercise.carries("a05_positions/rope_apply", "rope")

AT = np.arange(-2, 3)


def sigmoid(z):
    """The logistic function."""
    return 1 / (1 + np.exp(-z))


def silu(z):
    """z·σ(z), which is also called swish."""
    return z * sigmoid(z)


@exercise.variant
def draw(rng):
    """x, gate, up, down: a small SwiGLU; sizes: two models as (V, d, L, h, g, f)."""
    while True:
        x, (gate, up) = rng.integers(-3, 4, 2), rng.integers(-3, 4, (2, 2, 3))
        z, u = x @ gate, x @ up
        if z.min() < 0 < z.max() and abs(z).max() <= 2 and z.all() and u.all():
            break
    V = rng.choice([32000, 50304, 65536, 128256, 151936], 2, replace=False)
    h = rng.choice([16, 24, 32, 40, 48], 2, replace=False)
    L = rng.choice([16, 24, 28, 36, 40], 2, replace=False)
    g = h[0], rng.choice([2, 4, 8])
    f = 256 * np.ceil(128 * h * np.array([8 / 3, 3.5]) / 256)
    sizes = np.stack([V, 128 * h, L, h, g, f], axis=1).astype(int)
    down = rng.choice([-3, -2, -1, 1, 2, 3], (3, 2))
    return {"x": x, "gate": gate, "up": up, "down": down, "sizes": sizes}


@exercise.part(points=1, answer=Numbers(), carry_if=lambda values: np.shape(values) == (5,))
def silu_values():
    """silu(z) = z·σ(z) at −2, −1, 0, 1, 2."""
    return silu(AT)


@silu_values.misconception()
def gelu():
    """That is z·Φ(z). SiLU uses the logistic function."""
    return [z * (1 + math.erf(z / math.sqrt(2))) / 2 for z in AT]


@silu_values.misconception()
def relu():
    """SiLU is smooth and lets negative numbers through a little."""
    return np.maximum(AT, 0)


@silu_values.misconception()
def logistic_function():
    """That is σ(z). It is multiplied by z."""
    return sigmoid(AT)


@silu_values.misconception()
def other_half():
    """You multiplied by σ(−z), the other part of 1. For large z silu is nearly z."""
    return AT * sigmoid(-AT)


silu_values.mistakes(
    softplus=(
        np.log(1 + np.exp(AT)),
        "That is log(1 + e^z), whose slope is σ(z). Here z is multiplied by σ(z).",
    ),
    gate_of_tanh=(
        AT * np.tanh(AT),
        "You multiplied by tanh z. The gate of silu lies between 0 and 1.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def hidden(silu_values, x, gate, up):
    """The hidden vector of your SwiGLU, silu(x·W_gate) ⊙ (x·W_up): three numbers."""
    return np.asarray(silu_values)[x @ gate + 2] * (x @ up)


@hidden.misconception()
def gate_and_up_exchanged(x, gate, up):
    """silu belongs to the gate, the other factor stays linear."""
    return silu(x @ up) * (x @ gate)


@hidden.misconception()
def sigmoid_gate(x, gate, up):
    """That is the older GLU: here the gate is z·σ(z)."""
    return sigmoid(x @ gate) * (x @ up)


@hidden.misconception()
def no_second_factor(x, gate):
    """A gate needs something to gate: multiply by x·W_up."""
    return silu(x @ gate)


@hidden.misconception()
def relu_gate(x, gate, up):
    """You used a ReLU. SiLU is smooth and lets negative numbers through a little."""
    return np.maximum(x @ gate, 0) * (x @ up)


@hidden.misconception()
def without_silu(x, gate, up):
    """The gate has not passed through silu. Without it the layer is a product of linear maps."""
    return (x @ gate) * (x @ up)


@hidden.misconception()
def silu_of_both(x, gate, up):
    """You put both factors through silu. One of them stays linear."""
    return silu(x @ gate) * silu(x @ up)


@hidden.misconception()
def silu_of_the_product(x, gate, up):
    """You multiplied first. The gate passes through silu alone, then it is multiplied."""
    return silu((x @ gate) * (x @ up))


@hidden.misconception()
def branches_added(x, gate, up):
    """You added the two branches. They meet in a product, entry by entry."""
    return silu(x @ gate) + x @ up


@exercise.part(points=0.5, answer=Numbers())
def out(hidden, down):
    """The output of your SwiGLU: two numbers."""
    return hidden @ down


@out.misconception()
def shortcut_added(hidden, down, x):
    """You added x. The shortcut belongs to the block; here the layer alone is asked for."""
    return hidden @ down + x


@out.misconception()
def activated_again(hidden, down):
    """You put the output through silu as well. Behind W_down nothing comes any more."""
    return silu(hidden @ down)


@exercise.reference(without=ATTENTION | NORMS)
def modern_block(
    x: Float[ndarray, "*b n d"],
    P: dict,
    h: int,
    g: int,
    base: float = 10000.0,
    eps: float = 1e-5,
    positions: Real[ndarray, " n"] | None = None,
) -> Float[ndarray, "*b n d"]:
    """Return x + attention(norm(x)), to which the same is done with SwiGLU."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    x = x + attend(norm(x, P["norm1"], eps), P, h, g, at, base)
    return x + swiglu(norm(x, P["norm2"], eps), P)


def norm(x, gain, eps):
    """RMSNorm."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain


def attend(x, P, h, g, positions, base, attention=gqa, rotated=(True, True, False)):
    """Causal attention, with queries and keys (and values) rotated or not."""
    heads = [split_heads(x @ P[w], n) for w, n in (("wq", h), ("wk", g), ("wv", g))]
    heads = [rope(y, positions, base) if r else y for y, r in zip(heads, rotated, strict=True)]
    return merge_heads(attention(*heads, np.tri(x.shape[-2], dtype=bool))) @ P["wo"]


def swiglu(x, P, act=silu):
    """The feed-forward layer with a gate."""
    return act(x @ P["gate"]) * (x @ P["up"]) @ P["down"]


@exercise.alternative
def in_one_piece(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Complex rotations, a loop over heads, and the norms written out."""
    n, d = x.shape[-2:]
    y = P["norm1"] * x / np.sqrt(np.square(x).sum(-1)[..., None] / d + eps)
    d_k = P["wq"].shape[-1] // h
    at = np.arange(n) if positions is None else np.asarray(positions)
    turns = np.exp(1j * at[:, None] * base ** (-np.arange(0, d_k, 2) / d_k))
    ahead = np.triu(np.full((n, n), -np.inf), k=1)
    parts = []
    for j in range(h):
        own, shared = slice(j * d_k, (j + 1) * d_k), j // (h // g)
        theirs = slice(shared * d_k, (shared + 1) * d_k)
        q, k = y @ P["wq"][:, own], y @ P["wk"][:, theirs]
        q, k = ((z[..., ::2] + 1j * z[..., 1::2]) * turns for z in (q, k))
        S = (q @ np.swapaxes(k.conj(), -1, -2)).real / np.sqrt(d_k) + ahead
        A = np.exp(S - S.max(axis=-1, keepdims=True))
        A /= A.sum(axis=-1, keepdims=True)
        parts.append(A @ (y @ P["wv"][:, theirs]))
    x = x + np.concatenate(parts, axis=-1) @ P["wo"]
    y = P["norm2"] * x / np.sqrt(np.square(x).sum(-1)[..., None] / d + eps)
    z = y @ P["gate"]
    return x + (z * (1 + np.tanh(z / 2)) / 2 * (y @ P["up"])) @ P["down"]


@exercise.alternative
def own_copies_of_the_keys(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Repeat the shared heads: the block has no limit for its memory."""
    at = range(x.shape[-2]) if positions is None else positions

    def attention(q, k, v, mask):
        k, v = (np.repeat(z, h // g, axis=-3) for z in (k, v))
        E = np.exp(q @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5) * mask
        return E / E.sum(axis=-1, keepdims=True) @ v

    at = np.array(at, float)
    x = x + attend(norm(x, P["norm1"], eps), P, h, g, at, base, attention)
    return x + swiglu(norm(x, P["norm2"], eps), P)


@exercise.alternative
def groups_by_einsum(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Rotate with cosine and sine; query heads have an axis for their group."""
    front, n = x.shape[:-1], x.shape[-2]
    d_k = P["wq"].shape[1] // h
    at = np.arange(n) if positions is None else positions
    angles = np.outer(at, base ** (-np.arange(0, d_k, 2) / d_k))[:, None]

    def turned(z):
        a, b = z[..., 0::2], z[..., 1::2]
        pairs = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
        return np.stack(pairs, axis=-1).reshape(z.shape)

    y = norm(x, P["norm1"], eps)
    q, k, v = ((y @ P[w]).reshape(*front, -1, d_k) for w in ("wq", "wk", "wv"))
    q = turned(q).reshape(*front, g, h // g, d_k)
    S = np.einsum("...igrd,...jgd->...grij", q, turned(k)) / np.sqrt(d_k)
    S = np.where(np.tri(n, dtype=bool), S, -1e30)
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    out = np.einsum("...grij,...jgd->...igrd", E / E.sum(axis=-1, keepdims=True), v)
    x = x + out.reshape(*front, -1) @ P["wo"]
    return x + swiglu(norm(x, P["norm2"], eps), P)


def weights(rng, d=8, h=4, g=2, f=12):
    """A block of width d; the gains are not 1."""
    sides = {"wq": (d, d), "wk": (d, d // h * g), "wv": (d, d // h * g), "wo": (d, d)}
    sides |= {"gate": (d, f), "up": (d, f), "down": (f, d)}
    P = {name: rng.normal(size=side) / np.sqrt(side[0]) for name, side in sides.items()}
    return P | {f"norm{i}": 1 + 0.5 * rng.normal(size=d) for i in (1, 2)}


def same(found, right):
    """Agree to single precision: where ε stands is asked for in one check alone."""
    agree(found, right, rtol=1e-3, atol=1e-4)


def adds_something(call, x, P):
    """What hands x through would have properties without being a block."""
    require(not alike(call(x, P, 4, 2), x), "the block returns x as it is")


@exercise.check(points=0.75, visible=True)
def matches_the_formula(call, rng):
    """Both sublayers, each behind its norm and added to the stream."""
    for h, g, n in ((4, 2, 5), (2, 1, 3)):
        x, P = rng.normal(size=(n, 8)), weights(rng, 8, h, g)
        same(call(x, P, h, g), modern_block(x, P, h, g))


@exercise.check(points=0.25)
def nothing_to_add(call, rng):
    """Where W_O and W_down are 0, x comes out as it went in."""
    x, P = 3 * rng.normal(size=(4, 8)) + 1, weights(rng)
    agree(call(x, P | {"wo": 0 * P["wo"], "down": 0 * P["down"]}, 4, 2), x)
    adds_something(call, x, P)


@exercise.check(points=0.25)
def nobody_looks_ahead(call, rng):
    """A change of a later token changes no earlier output."""
    P = weights(rng)
    causal(lambda x: call(x, P, 4, 2), rng.normal(size=(6, 8)), rng)
    adds_something(call, rng.normal(size=(6, 8)), P)


@exercise.check(points=0.5)
def differences_of_positions(call, rng):
    """Positions that are all 1000 later give the same; other distances give something else."""
    x, P = rng.normal(size=(5, 8)), weights(rng)
    agree(call(x, P, 4, 2, positions=np.arange(5) + 1000), modern_block(x, P, 4, 2), atol=1e-8)
    apart = np.cumsum(rng.integers(1, 4, 5))
    right = modern_block(x, P, 4, 2, positions=apart)
    same(call(x, P, 4, 2, positions=apart), right)


@exercise.check(points=0.5)
def any_number_of_key_heads(call, rng):
    """g = h is multi-head attention, with g = 1 all query heads share one head; others too."""
    for g in (4, 1, 2):
        x, P = rng.normal(size=(4, 16)), weights(rng, 16, 4, g)
        same(call(x, P, 4, g), modern_block(x, P, 4, g))


@exercise.check(points=0.25)
def batches(call, rng):
    """Axes in front are kept; every example keeps to itself."""
    P = weights(rng)
    for front in ((3,), (2, 2)):
        x = rng.normal(size=(*front, 4, 8))
        same(call(x, P, 4, 2), modern_block(x, P, 4, 2))


@exercise.check(points=0.25)
def single_precision(call, rng):
    """Works for float32, to its digits; neither x nor the weights are changed."""
    x, P = rng.normal(size=(4, 8)), weights(rng)
    small = {name: array.astype(np.float32) for name, array in P.items()}
    same(call(x.astype(np.float32), small, 4, 2), modern_block(x, P, 4, 2))
    leaves_alone(call, x, P, 4, 2)


@exercise.check(points=0.5)
def base_and_epsilon(call, rng):
    """The arguments `base` and `eps` take the place of 10000 and 1e-5."""
    x, P = rng.normal(size=(4, 16)), weights(rng, 16, 2, 1)
    same(call(x, P, 2, 1, base=20.0), modern_block(x, P, 2, 1, base=20.0))
    same(call(x, P, 2, 1, eps=0.5), modern_block(x, P, 2, 1, eps=0.5))


ECHO = {name: w.astype(float) for name, w in np.load(data_file("a11_theory/echo.npz")).items()}
WORD = np.array(["^ABCDEFGHIJ".index(letter) for letter in "^BADGEBADGEBADGE"])


@exercise.check(points=0.75)
def a_trained_model(call, rng):
    """Two of your blocks give the logits of the small trained model of the eleventh notebook."""
    x = ECHO["embed"][WORD]
    for layer in range(2):
        P = {name: w[layer] for name, w in ECHO.items() if len(w) == 2}
        x = np.asarray(call(x, P, 2, 2, base=100.0))
    logits = norm(x, ECHO["norm"], 1e-5) @ ECHO["unembed"]
    agree(logits, echo_pass(ECHO, WORD)[0], rtol=1e-3)


@exercise.misconception(credit=0.4)
def post_norm(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """The norm stands in front of the sublayer, and the sum stays as it is."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    x = norm(x + attend(x, P, h, g, at, base), P["norm1"], eps)
    return norm(x + swiglu(x, P), P["norm2"], eps)


@exercise.misconception(credit=0.4)
def mean_removed(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """RMSNorm divides by the root mean square and leaves the mean in."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    centred = x - x.mean(axis=-1, keepdims=True)
    x = x + attend(norm(centred, P["norm1"], eps), P, h, g, at, base)
    centred = x - x.mean(axis=-1, keepdims=True)
    return x + swiglu(norm(centred, P["norm2"], eps), P)


def with_attention(x, P, h, g, base, eps, positions, **changed):
    """The block with another attention."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    x = x + attend(norm(x, P["norm1"], eps), P, h, g, at, base, **changed)
    return x + swiglu(norm(x, P["norm2"], eps), P)


@exercise.misconception(credit=0.4)
def values_rotated(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Positions belong in the scores. Rotated values would have to be rotated back."""
    return with_attention(x, P, h, g, base, eps, positions, rotated=(True, True, True))


@exercise.misconception(credit=0.4)
def queries_alone_rotated(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Only if both are rotated is the score a function of the difference."""
    return with_attention(x, P, h, g, base, eps, positions, rotated=(True, False, False))


@exercise.misconception(credit=0.4)
def nothing_rotated(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Without the rotation the block cannot tell positions apart, the mask aside."""
    return with_attention(x, P, h, g, base, eps, positions, rotated=(False, False, False))


@exercise.misconception(credit=0.4)
def halves_paired(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Each column turns with the one half a head further. Here neighbours are a pair."""
    turned = {}
    for name, heads in (("wq", h), ("wk", g)):
        halves = P[name].reshape(len(P[name]), heads, 2, -1)
        turned[name] = np.swapaxes(halves, -1, -2).reshape(P[name].shape)
    return modern_block(x, P | turned, h, g, base, eps, positions)


@exercise.misconception(credit=0.4)
def branches_exchanged(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """silu belongs to the gate, the other factor stays linear."""
    return modern_block(x, P | {"gate": P["up"], "up": P["gate"]}, h, g, base, eps, positions)


@exercise.misconception(credit=0.4)
def second_norm_reads_x(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """The feed-forward layer reads what attention has added."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    attended = attend(norm(x, P["norm1"], eps), P, h, g, at, base)
    return x + attended + swiglu(norm(x, P["norm2"], eps), P)


@exercise.misconception(credit=0.4)
def every_gth_head(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Neighbouring query heads share a key head."""

    def attention(q, k, v, mask):
        i = np.arange(h) % g
        return gqa(q, k[..., i, :, :], v[..., i, :, :], mask)

    return with_attention(x, P, h, g, base, eps, positions, attention=attention)


@exercise.misconception(credit=0.4)
def second_residual_lost(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Both sublayers are added to the stream."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    x = x + attend(norm(x, P["norm1"], eps), P, h, g, at, base)
    return swiglu(norm(x, P["norm2"], eps), P)


@exercise.misconception(credit=0.4)
def no_gains(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Each norm has a gain per feature."""
    ones = {name: np.ones_like(P[name]) for name in ("norm1", "norm2")}
    return modern_block(x, P | ones, h, g, base, eps, positions)


@exercise.misconception(credit=0.4)
def looks_ahead(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Your tokens see what comes later: the block is causal."""

    def attention(q, k, v, mask):
        return gqa(q, k, v)

    return with_attention(x, P, h, g, base, eps, positions, attention=attention)


@exercise.misconception
def positions_ignored(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """The argument `positions` has no effect: you took 0 … n − 1."""
    return modern_block(x, P, h, g, base, eps)


@exercise.misconception
def base_ignored(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """The argument `base` has no effect."""
    return modern_block(x, P, h, g, eps=eps, positions=positions)


@exercise.misconception
def epsilon_outside_the_root(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """You add ε to the root mean square. It stands inside the root."""
    at = np.arange(x.shape[-2]) if positions is None else positions
    rms = lambda x: np.sqrt((x * x).mean(axis=-1, keepdims=True))  # noqa: E731
    x = x + attend(x / (rms(x) + eps) * P["norm1"], P, h, g, at, base)
    return x + swiglu(x / (rms(x) + eps) * P["norm2"], P)


@exercise.misconception
def one_example(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """Axes in front are lost: every example has its own rows."""
    return modern_block(x.reshape(-1, *x.shape[-2:])[0], P, h, g, base, eps, positions)


@exercise.misconception
def gains_multiplied_in(x, P, h, g, base=10000.0, eps=1e-5, positions=None):
    """You change the weights in P: the next call finds other ones."""
    found = modern_block(x, P, h, g, base, eps, positions)
    for name in ("wq", "wk", "wv"):
        if P[name].flags.writeable:
            P[name] *= P["norm1"][:, None]
    return found


def model(sizes, tables=2, matrices=3, norms=2, biases=False):
    """Count the parameters of models with these sizes (…, 6)."""
    V, d, L, h, g, f = np.moveaxis(np.asarray(sizes), -1, 0)
    block = 2 * d * d + 2 * d * g * (d // h) + matrices * d * f + norms * d
    return tables * V * d + L * block + d


@exercise.part(points=1, answer=Count())
def parameters(sizes):
    """All parameters of your two models."""
    return model(sizes)


@parameters.misconception()
def tied(sizes):
    """Here embedding and output are two matrices."""
    return model(sizes, tables=1)


@parameters.misconception()
def two_matrices(sizes):
    """SwiGLU has three."""
    return model(sizes, matrices=2)


@parameters.misconception()
def final_norm_forgotten(sizes):
    """Before the output matrix the stream is normalised once more."""
    return model(sizes) - sizes[:, 1]


@parameters.misconception()
def no_norms(sizes):
    """Each norm has a gain for every feature, and there are two in a block."""
    return model(sizes, norms=0)


@parameters.misconception()
def layer_norms(sizes):
    """An RMSNorm has a gain for every feature and no shift."""
    return model(sizes, norms=4) + sizes[:, 1]


@parameters.misconception()
def key_heads_not_shared(sizes):
    """W_K and W_V are g heads wide, not h."""
    own = sizes.copy()
    own[:, 4] = own[:, 3]
    return model(own)


@parameters.misconception()
def one_block(sizes):
    """You counted one block. The model has L of them."""
    single = sizes.copy()
    single[:, 2] = 1
    return model(single)


@parameters.misconception()
def attention_output_forgotten(sizes):
    """W_O is missing: attention has a fourth matrix, which joins the heads."""
    return model(sizes) - sizes[:, 2] * sizes[:, 1] ** 2


@parameters.misconception()
def values_forgotten(sizes):
    """Keys and values have a matrix each."""
    d, L, h, g = sizes.T[1:5]
    return model(sizes) - L * d * g * (d // h)


@parameters.misconception()
def no_tables(sizes):
    """Embedding and output matrix belong to the model, too."""
    return model(sizes, tables=0)


@parameters.misconception()
def one_norm(sizes):
    """A block has two norms, one in front of each sublayer."""
    return model(sizes, norms=1)


@parameters.misconception()
def key_heads_as_wide_as_the_model(sizes):
    """A head is d/h wide, and W_K and W_V have g heads of this width."""
    d, L, h, g = sizes.T[1:5]
    return model(sizes) + 2 * L * d * g * (d - d // h)


@exercise.part(
    points=1,
    answer=Formula(
        "d",
        practice=(
            ("The hidden width for which SwiGLU has as many weights as a ReLU layer with 6d."),
            "4*d",
        ),
    ),
)
def f():
    """The hidden width for which SwiGLU has as many weights as a ReLU layer with 4d, in d."""
    return "8*d/3"


f.mistakes(
    same_width=("4*d", "With the same width the third matrix comes on top."),
    wider=("6*d", "Three matrices have to share what two had: then each of them is smaller."),
    a_third=("4*d/3", "The ReLU layer has two matrices of d × 4d."),
    third_forgotten=(
        "8*d",
        "Those two matrices have 8d² weights. How many matrices share them here?",
    ),
    three_of_that_width=(
        "12*d",
        "SwiGLU shall have as many weights as two matrices with 4d, not as three.",
    ),
    weights_of_a_matrix=(
        "8*d^2/3",
        "That is the number of weights of one matrix. Its other side is d wide.",
    ),
    all_weights_of_relu=("8*d^2", "Those are the weights of the ReLU layer. Asked for is a width."),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "With $W_\\text{down} = 0$ and $\\varepsilon = 0$: $\\operatorname{block}(3x) - 3x "
            "= \\operatorname{block}(x) - x$.",
            "Rotary positions leave the values as they are.",
            "The stream itself is never normalised inside the block.",
            "If 1 is added to all features, RMSNorm gives the same as before.",
            "SwiGLU with one hidden unit is 0 for half of all inputs, as a ReLU layer with one "
            "hidden unit is.",
        ],
        multiple=True,
    ),
)
def exact():
    """Which of the statements are exactly true?"""
    return "ABC"


@exact.misconception()
def scale_overlooked():
    """You left out “With ε = 0 the block …”. What does a norm with ε = 0 make of 3x?"""
    return "BC"


@exact.misconception()
def values_thought_rotated():
    """You left out “Rotary positions leave the values as they are”.

    What is rotated, and what is only summed up?
    """
    return "AC"


@exact.misconception()
def stream_thought_normalised():
    """You left out “The stream itself is never normalised inside the block”.

    Follow x itself through the two sums.
    """
    return "AB"


@exact.misconception()
def shift_thought_invisible():
    """You marked “If 1 is added to all features, RMSNorm gives …”.

    That is a property of layer norm: which of the two subtracts the mean?
    """
    return "ABCD"


@exact.misconception()
def gate_thought_closed():
    """You marked “SwiGLU with one hidden unit is 0 for half of …”.

    Is silu(z) 0 for any z other than 0?
    """
    return "ABCE"
