"""The first block of a trained model, put together from one's own parts.

Source: Zhang & Sennrich (2019), RMSNorm; Su et al. (2021), RoPE; Shazeer (2020), "GLU variants
improve transformer"; Touvron et al. (2023), "LLaMA", section 2.2.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree, data_file
from autograder.exercise.properties import causal, worked
from reference.helpers import ATTENTION, NORMS

exercise = Exercise(
    "echo_block",
    title="A trained block on your own code",
    source="Touvron et al. (2023), section 2.2; Shazeer (2020)",
    minutes=35,
    hints=[
        "Write the block as two additions to the stream. What goes into each sublayer has been "
        "normalised, what it is added to has not.",
        "Go along the shapes: project, deal the columns out to the heads, rotate what scores are "
        "made of, attend under the mask, put the heads side by side, and project once more.",
        "If your first rows are right and later ones aren't, look at mask and rotation; if no row "
        "is, at the norms and at the gate.",
    ],
)

attention = exercise.carries("a03_scaled_attention/sdpa", "attention")
split_heads = exercise.carries("a04_multi_head/mha_split", "split_heads")
merge_heads = exercise.carries("a04_multi_head/mha_split", "merge_heads")
rope = exercise.carries("a05_positions/rope_apply", "rope")

LETTERS = "^ABCDEFGHIJ"
BASE, EPS = 100.0, 1e-5
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a06_block/echo.npz")).items()}
FIRST = {name: w[0] for name, w in ECHO.items() if len(w) == 2}


def embedded(sentence):
    """The stream in front of the first block, (1, n, 16)."""
    return ECHO["embed"][[LETTERS.index(letter) for letter in sentence]][None]


def said(rng, n=24):
    """A sentence of the model's language: `^`, then four to eight letters again and again."""
    motif = rng.permutation(list(LETTERS[1:]))[: rng.integers(4, 9)]
    return "^" + "".join(motif[i % len(motif)] for i in range(n - 1))


@exercise.variant
def draw(rng):
    """sentence: `^` and a motif of four to eight letters, said again and again."""
    return {"sentence": said(rng)}


@exercise.reference(without=ATTENTION | NORMS)
def echo_block(x: Float[ndarray, "B n d"], w: dict, h: int) -> Float[ndarray, "B n d"]:
    """Add to x what attention makes of its norm, and to that what the gated layer makes of its."""
    x = x + attend(norm(x, w["norm1"]), w, h)
    return x + gated(norm(x, w["norm2"]), w)


def norm(x, gain):
    """RMSNorm."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPS) * gain


def attend(y, w, h, **changed):
    """Causal attention with queries and keys rotated, its heads joined and projected."""
    heads = [split_heads(y @ w[name], h) for name in ("wq", "wk", "wv")]
    return merge_heads(over(*heads, **changed)) @ w["wo"]


def over(q, k, v, turned=(True, True, False), base=BASE, mask=True, scale=None):
    """What the heads give."""
    at, ahead = np.arange(q.shape[-2]), np.tri(q.shape[-2], dtype=bool) if mask else None
    q, k, v = (rope(z, at, base) if t else z for z, t in zip((q, k, v), turned, strict=True))
    return attention(q, k, v, ahead, scale)[0]


def silu(z):
    """z·σ(z)."""
    return z / (1 + np.exp(-z))


def gated(y, w, bend=silu):
    """The feed-forward layer with a gate."""
    return bend(y @ w["gate"]) * (y @ w["up"]) @ w["down"]


@exercise.alternative
def in_one_piece(x, w, h):
    """Complex rotations, a loop over heads, and everything written out."""
    n, d = x.shape[-2:]
    width = d // h
    turns = np.exp(1j * np.outer(np.arange(n), BASE ** (-np.arange(0, width, 2) / width)))
    y = w["norm1"] * x / np.sqrt(np.square(x).sum(-1)[..., None] / d + EPS)
    ahead, parts = np.triu(np.full((n, n), -np.inf), k=1), []
    for j in range(h):
        own = slice(j * width, (j + 1) * width)
        q, k, v = (y @ w[name][:, own] for name in ("wq", "wk", "wv"))
        q, k = ((z[..., ::2] + 1j * z[..., 1::2]) * turns for z in (q, k))
        scores = (q @ np.swapaxes(k.conj(), -1, -2)).real / np.sqrt(width) + ahead
        A = np.exp(scores - scores.max(axis=-1, keepdims=True))
        parts.append(A / A.sum(axis=-1, keepdims=True) @ v)
    x = x + np.concatenate(parts, axis=-1) @ w["wo"]
    y = w["norm2"] * x / np.sqrt(np.square(x).sum(-1)[..., None] / d + EPS)
    z = y @ w["gate"]
    return x + (z * (1 + np.tanh(z / 2)) / 2 * (y @ w["up"])) @ w["down"]


@exercise.alternative
def heads_by_einsum(x, w, h):
    """Cosines and sines; the heads have an axis, and scores are one sum over indices."""
    B, n, d = x.shape
    angles = np.outer(np.arange(n), BASE ** (-np.arange(0, d // h, 2) / (d // h)))[:, None]

    def turned(z):
        a, b = z[..., 0::2], z[..., 1::2]
        pairs = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
        return np.stack(pairs, axis=-1).reshape(z.shape)

    y = norm(x, w["norm1"])
    q, k, v = ((y @ w[name]).reshape(B, n, h, d // h) for name in ("wq", "wk", "wv"))
    scores = np.einsum("bihk,bjhk->bhij", turned(q), turned(k)) / math.sqrt(d // h)
    E = np.exp(scores - scores.max(axis=-1, keepdims=True)) * np.tri(n)
    out = np.einsum("bhij,bjhk->bihk", E / E.sum(axis=-1, keepdims=True), v)
    x = x + out.reshape(B, n, d) @ w["wo"]
    return x + gated(norm(x, w["norm2"]), w)


@exercise.alternative
def token_after_token(x, w, h):
    """One token at a time reads what stands before it; the joined heads are a sum over heads."""
    n, d = x.shape[1:]
    out = np.array(x, float)
    y = norm(x, w["norm1"])
    q, k, v = (split_heads(y @ w[name], h) for name in ("wq", "wk", "wv"))
    at = np.arange(n)
    for j, rows in enumerate(np.split(w["wo"], h)):
        for i in range(n):
            scores = rope(q[:, j], at, BASE)[:, i, None] @ np.swapaxes(
                rope(k[:, j], at, BASE)[:, : i + 1], 1, 2
            )
            E = np.exp((scores - scores.max(axis=-1, keepdims=True)) / (d / h) ** 0.5)
            out[:, i] += (E / E.sum(axis=-1, keepdims=True) @ v[:, j, : i + 1])[:, 0] @ rows
    return out + gated(norm(out, w["norm2"]), w)


def weights(rng, d=8, f=12):
    """A block of width d; the gains are not 1."""
    sides = {"norm1": (d,), "norm2": (d,), "gate": (d, f), "up": (d, f), "down": (f, d)}
    sides |= dict.fromkeys(("wq", "wk", "wv", "wo"), (d, d))
    w = {name: 1.5 * rng.normal(size=side) / np.sqrt(side[0]) for name, side in sides.items()}
    return w | {name: 1 + 0.5 * rng.normal(size=d) for name in ("norm1", "norm2")}


def same(found, right):
    """Agree to single precision: what ε does is asked for in checks of its own."""
    agree(found, right, rtol=1e-3, atol=1e-4)


@exercise.check(points=0.75, visible=True)
def matches_the_formula(call, rng):
    """Both sublayers, each behind its norm and added to the stream; two heads, drawn weights."""
    x, w = rng.normal(size=(1, 5, 8)), weights(rng)
    same(call(x, w, 2), echo_block(x, w, 2))


@exercise.check(points=0.25)
def nobody_looks_ahead(call, rng):
    """A change of a later token changes no earlier row."""
    x, w = rng.normal(size=(1, 6, 8)), weights(rng)
    causal(lambda x: call(x, w, 2), x, rng)
    worked(call(x, w, 2), x, like=echo_block(x, w, 2))


@exercise.check(points=0.5)
def other_sizes(call, rng):
    """Other widths, numbers of heads and of sentences, and a sentence of one symbol."""
    for d, h, f, B, n in ((12, 3, 5, 2, 4), (16, 4, 8, 3, 6), (4, 1, 6, 2, 1)):
        x, w = rng.normal(size=(B, n, d)), weights(rng, d, f)
        same(call(x, w, h), echo_block(x, w, h))


@exercise.check(points=0.25)
def small_vectors(call, rng):
    """Of vectors as small as √ε the norm makes no large ones."""
    x, w = 3e-3 * rng.normal(size=(1, 4, 8)), weights(rng)
    same(call(x, w, 2), echo_block(x, w, 2))


@exercise.check(points=0.75)
def the_trained_block(call, rng):
    """With the trained weights the block gives the model's numbers, on sentences that are drawn."""
    for sentence in ("^BADGEBADGE", said(rng), said(rng, 17)):
        x = embedded(sentence)
        agree(call(x, FIRST, 2), echo_block(x, FIRST, 2), rtol=1e-5, atol=1e-5)


@exercise.misconception(credit=0.4)
def post_norm(x, w, h):
    """Your norms stand behind the sums. Here they stand in front of the sublayers."""
    x = norm(x + attend(x, w, h), w["norm1"])
    return norm(x + gated(x, w), w["norm2"])


@exercise.misconception(credit=0.4)
def sums_normed(x, w, h):
    """You add the sublayer to the normalised input. The shortcut carries x as it is."""
    x = norm(x, w["norm1"])
    x = norm(x + attend(x, w, h), w["norm2"])
    return x + gated(x, w)


@exercise.misconception(credit=0.4)
def no_shortcut(x, w, h):
    """The sums are missing: what comes in has to be added to what a sublayer gives."""
    return gated(norm(attend(norm(x, w["norm1"]), w, h), w["norm2"]), w)


@exercise.misconception(credit=0.4)
def second_shortcut_lost(x, w, h):
    """You return what the gated layer gives. It is added to what went into its norm."""
    return gated(norm(x + attend(norm(x, w["norm1"]), w, h), w["norm2"]), w)


@exercise.misconception(credit=0.4)
def first_shortcut_lost(x, w, h):
    """What attention gives is not added to x in yours: it takes the place of x."""
    x = attend(norm(x, w["norm1"]), w, h)
    return x + gated(norm(x, w["norm2"]), w)


@exercise.misconception(credit=0.4)
def side_by_side(x, w, h):
    """The gated layer reads x in yours. It reads what attention has added to."""
    return x + attend(norm(x, w["norm1"]), w, h) + gated(norm(x, w["norm2"]), w)


@exercise.misconception(credit=0.4)
def nothing_normed(x, w, h):
    """The norms are missing: each sublayer reads its norm of the stream."""
    x = x + attend(x, w, h)
    return x + gated(x, w)


@exercise.misconception(credit=0.4)
def mean_removed(x, w, h):
    """You subtract the mean, as layer norm does. RMSNorm leaves it in."""
    centred = lambda x: x - x.mean(axis=-1, keepdims=True)  # noqa: E731
    x = x + attend(norm(centred(x), w["norm1"]), w, h)
    return x + gated(norm(centred(x), w["norm2"]), w)


@exercise.misconception(credit=0.5)
def gains_left_out(x, w, h):
    """The gains are missing: each norm multiplies every feature by one of its own."""
    ones = {name: np.ones_like(w[name]) for name in ("norm1", "norm2")}
    return echo_block(x, w | ones, h)


@exercise.misconception(credit=0.4)
def one_gain_for_both(x, w, h):
    """Both norms multiply by the same gains. Each has its own."""
    return echo_block(x, w | {"norm2": w["norm1"]}, h)


def with_norm(x, w, h, other):
    """The block with another RMSNorm."""
    x = x + attend(other(x) * w["norm1"], w, h)
    return x + gated(other(x) * w["norm2"], w)


def rms(x):
    """The root mean square of each token."""
    return np.sqrt((x * x).mean(axis=-1, keepdims=True))


@exercise.misconception(credit=0.6)
def epsilon_outside(x, w, h):
    """You add ε to the root mean square. It stands inside the root."""
    return with_norm(x, w, h, lambda x: x / (rms(x) + EPS))


@exercise.misconception(credit=0.6)
def no_epsilon(x, w, h):
    """There is no ε in your norms. What do they make of a very small vector?"""
    return with_norm(x, w, h, lambda x: x / np.maximum(rms(x), 1e-300))


@exercise.misconception(credit=0.4)
def divided_by_the_length(x, w, h):
    """You divide by the length. RMSNorm divides by the root of a *mean* of squares."""
    return with_norm(x, w, h, lambda x: x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + EPS))


def with_attention(x, w, h, **changed):
    """The block with another attention."""
    x = x + attend(norm(x, w["norm1"]), w, h, **changed)
    return x + gated(norm(x, w["norm2"]), w)


@exercise.misconception(credit=0.4)
def looks_ahead(x, w, h):
    """Your tokens see what comes later. A token sees itself and earlier ones alone."""
    return with_attention(x, w, h, mask=False)


@exercise.misconception(credit=0.4)
def not_scaled(x, w, h):
    """The scores are not divided. They are scaled by the root of the width of a head."""
    return with_attention(x, w, h, scale=1.0)


@exercise.misconception(credit=0.5)
def scaled_by_the_width(x, w, h):
    """You scaled by the width of the model. Queries and keys are as wide as a head."""
    return with_attention(x, w, h, scale=x.shape[-1] ** -0.5)


@exercise.misconception(credit=0.4)
def nothing_rotated(x, w, h):
    """Nothing is rotated: without that scores don't know how far apart two tokens are."""
    return with_attention(x, w, h, turned=(False, False, False))


@exercise.misconception(credit=0.4)
def queries_alone_rotated(x, w, h):
    """Queries *and* keys are rotated: only then does a score know the distance."""
    return with_attention(x, w, h, turned=(True, False, False))


@exercise.misconception(credit=0.4)
def values_rotated(x, w, h):
    """Positions belong into the scores. Values stay as they are."""
    return with_attention(x, w, h, turned=(True, True, True))


@exercise.misconception(credit=0.5)
def another_base(x, w, h):
    """You rotate with the base 10000. This model was trained with 100."""
    return with_attention(x, w, h, base=10000.0)


@exercise.misconception(credit=0.5)
def halves_paired(x, w, h):
    """In yours a column turns with the one half a head further. Here neighbours are a pair."""
    paired = {}
    for name in ("wq", "wk"):
        halves = w[name].reshape(len(w[name]), h, 2, -1)
        paired[name] = np.swapaxes(halves, -1, -2).reshape(w[name].shape)
    return echo_block(x, w | paired, h)


@exercise.misconception(credit=0.4)
def heads_not_split(x, w, h):
    """There is one wide head in yours. Deal the columns out to h heads before they attend."""
    return echo_block(x, w, 1)


@exercise.misconception(credit=0.5)
def rotated_before_the_split(x, w, h):
    """You rotate before the heads are split. Each head has all the angles, the fastest first."""
    y, at = norm(x, w["norm1"]), np.arange(x.shape[-2])
    q, k = (split_heads(rope(y @ w[name], at, BASE), h) for name in ("wq", "wk"))
    heads = over(q, k, split_heads(y @ w["wv"], h), turned=(False, False, False))
    x = x + merge_heads(heads) @ w["wo"]
    return x + gated(norm(x, w["norm2"]), w)


@exercise.misconception(credit=0.4)
def heads_not_joined(x, w, h):
    """W_O is missing: it projects the joined heads back into the stream."""
    return echo_block(x, w | {"wo": np.eye(x.shape[-1])}, h)


def with_gate(x, w, h, layer):
    """The block with another feed-forward layer."""
    x = x + attend(norm(x, w["norm1"]), w, h)
    return x + layer(norm(x, w["norm2"]))


@exercise.misconception(credit=0.4)
def gate_and_up_exchanged(x, w, h):
    """Gate and up are exchanged: SiLU belongs to the gate, the other factor stays linear."""
    return echo_block(x, w | {"gate": w["up"], "up": w["gate"]}, h)


@exercise.misconception(credit=0.5)
def relu_gate(x, w, h):
    """Your gate passes through a ReLU. It passes through SiLU."""
    return with_gate(x, w, h, lambda y: gated(y, w, lambda z: np.maximum(z, 0)))


@exercise.misconception(credit=0.5)
def gelu_gate(x, w, h):
    """Your gate passes through GELU. It passes through SiLU."""
    erf = np.vectorize(math.erf, otypes=[float])
    return with_gate(x, w, h, lambda y: gated(y, w, lambda z: z * (1 + erf(z / 2**0.5)) / 2))


@exercise.misconception(credit=0.5)
def sigmoid_gate(x, w, h):
    """Your gate is σ(z) alone. SiLU multiplies it by z."""
    return with_gate(x, w, h, lambda y: gated(y, w, lambda z: 1 / (1 + np.exp(-z))))


@exercise.misconception(credit=0.4)
def nothing_bends(x, w, h):
    """The gate has not passed through SiLU. Without it the layer is a product of linear maps."""
    return with_gate(x, w, h, lambda y: gated(y, w, lambda z: z))


@exercise.misconception(credit=0.4)
def branches_added(x, w, h):
    """You added the two branches. They meet in a product, entry by entry."""
    return with_gate(x, w, h, lambda y: (silu(y @ w["gate"]) + y @ w["up"]) @ w["down"])


@exercise.misconception(credit=0.4)
def one_branch(x, w, h):
    """The second branch is missing: multiply the gate by what `up` gives."""
    return with_gate(x, w, h, lambda y: silu(y @ w["gate"]) @ w["down"])


def sizes_of(stream):
    """Root mean squares at `^`, at the first letter, and at the last one."""
    return np.sqrt(np.square(stream[0]).mean(axis=-1))[[0, 1, -1]]


@exercise.part(points=0.5, answer=Numbers())
def sizes(echo_block, sentence):
    """The root mean square of the stream behind the block: at `^`, first letter, last letter."""
    return sizes_of(echo_block(embedded(sentence), FIRST, 2))


@sizes.misconception()
def in_front(sentence):
    """That is the stream in front of the block: the embeddings."""
    return sizes_of(embedded(sentence))


@sizes.misconception()
def what_is_added(echo_block, sentence):
    """That is what the block adds. The stream behind it holds the embedding, too."""
    x = embedded(sentence)
    return sizes_of(echo_block(x, FIRST, 2) - x)


@sizes.misconception(credit=0.5)
def root_not_taken(echo_block, sentence):
    """These are mean squares. Their roots are asked for."""
    return sizes_of(echo_block(embedded(sentence), FIRST, 2)) ** 2


@sizes.misconception()
def lengths(echo_block, sentence):
    """These are lengths. The squares are averaged, not added up."""
    return 4 * sizes_of(echo_block(embedded(sentence), FIRST, 2))


@sizes.misconception()
def the_other_block(echo_block, sentence):
    """You took the weights of the second block."""
    second = {name: w[1] for name, w in ECHO.items() if len(w) == 2}
    return sizes_of(echo_block(embedded(sentence), second, 2))
