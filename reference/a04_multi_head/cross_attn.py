"""Attention from one sequence to another.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.3.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, Shape, agree, alike, require
from autograder.exercise.properties import permutation_invariant
from reference.helpers import ATTENTION, attention

exercise = Exercise(
    "cross_attn",
    title="Two sequences",
    source="Vaswani et al. (2017), section 3.2.3",
    minutes=50,
    hints=[
        "Ask who asks and who is asked: the decoder is looking something up in the encoder's "
        "states.",
        "Rows of the weights belong to the target, columns to the source. The outputs are as "
        "many as the questions.",
    ],
)
split_heads = exercise.carries("a04_multi_head/mha_split", "split_heads")
merge_heads = exercise.carries("a04_multi_head/mha_split", "merge_heads")
MultiHead = exercise.carries("a04_multi_head/mha_numpy", "MultiHead")


@exercise.variant
def draw(rng):
    """B examples, n target and m source tokens, width d, h heads; all differ."""
    while True:
        B, n, m, h, k = (int(size) for size in rng.permutation(np.arange(2, 12))[:5])
        if h * k not in (B, n, m):
            return {"B": B, "n": n, "m": m, "d": h * k, "h": h}


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Queries from the decoder, keys and values from the encoder.",
            "Queries from the encoder, keys and values from the decoder.",
            "Queries and values from the decoder, keys from the encoder.",
            "All three from both, joined to one sequence.",
        ]
    ),
)
def origins():
    """Where do queries, keys and values come from in the decoder's cross-attention?"""
    return "A"


origins.mistakes(
    roles_exchanged=("B", "It is the decoder that asks. Who asks gives the queries."),
    values_of_the_decoder=(
        "C",
        "The decoder wants to know what the source says: the values come from there.",
    ),
    all_joined=(
        "D",
        "Putting both texts into one sequence would be self-attention over a longer one.",
    ),
)


@exercise.part(points=1.25, answer=Shape())
def weights_shape(B, n, m, h):
    """The shape of the weights."""
    return (B, h, n, m)


@weights_shape.misconception()
def source_tokens_ask(B, n, m, h):
    """The roles are exchanged: rows are queries, which come from the decoder."""
    return (B, h, m, n)


@weights_shape.misconception()
def no_axis_of_heads(B, n, m):
    """Every head has weights of its own."""
    return (B, n, m)


@weights_shape.misconception()
def square_of_the_target(B, n, h):
    """Those are the weights of self-attention. Across, there is a column for each source token."""
    return (B, h, n, n)


@exercise.part(points=1.25, answer=Shape())
def out_shape(B, n, d):
    """The shape of the output."""
    return (B, n, d)


@out_shape.misconception()
def one_row_per_source_token(B, m, d):
    """There is an output for each query."""
    return (B, m, d)


@out_shape.misconception()
def width_of_a_head(B, n, d, h):
    """The heads have been put side by side again, and W_O keeps the width."""
    return (B, n, d // h)


@out_shape.misconception()
def heads_apart(B, n, d, h):
    """That is the output of the heads before they are merged."""
    return (B, h, n, d // h)


@exercise.reference(without=ATTENTION)
def cross_attention(
    dec: Float[ndarray, "B n d"],
    enc: Float[ndarray, "B m d"],
    W: Float[ndarray, "4 d d"],
    h: int,
    src_mask: Bool[ndarray, "B m"] | None = None,
) -> Float[ndarray, "B n d"]:
    """Let every target token attend to the source; W holds W_Q, W_K, W_V and W_O."""
    q, k, v = (split_heads(x @ w, h) for x, w in zip((dec, enc, enc), W, strict=False))
    mask = None if src_mask is None else src_mask[:, None, None, :]
    return merge_heads(attention(q, k, v, mask)[0]) @ W[3]


@exercise.alternative
def head_by_head(dec, enc, W, h, src_mask=None):
    """Add up what each head contributes."""
    k, out = dec.shape[-1] // h, 0
    for t in range(h):
        c = slice(t * k, (t + 1) * k)
        mask = None if src_mask is None else src_mask[:, None, :]
        head, _ = attention(dec @ W[0][:, c], enc @ W[1][:, c], enc @ W[2][:, c], mask)
        out = out + head @ W[3][c]
    return out


@exercise.alternative
def example_by_example(dec, enc, W, h, src_mask=None):
    """Cut the source off instead of masking it, one example after the other."""
    rows = []
    for b in range(len(dec)):
        source = enc[b] if src_mask is None else enc[b][src_mask[b]]
        q, k, v = dec[b] @ W[0], source @ W[1], source @ W[2]
        q, k, v = (np.stack(np.split(x, h, axis=-1)) for x in (q, k, v))
        rows.append(np.concatenate(attention(q, k, v)[0], axis=-1) @ W[3])
    return np.stack(rows)


@exercise.alternative
def by_the_layer(dec, enc, W, h, src_mask=None):
    """Set the matrices of a layer, in which the decoder asks and the encoder answers."""
    layer = MultiHead(dec.shape[-1], h, np.random.default_rng(0))
    layer.W_q, layer.W_k, layer.W_v, layer.W_o = W
    return layer(dec, enc, enc, None if src_mask is None else src_mask[:, None, None, :])[0]


@exercise.alternative
def with_einsum(dec, enc, W, h, src_mask=None):
    """Indices for everything."""
    d = dec.shape[-1]
    Wq, Wk, Wv = (w.reshape(d, h, d // h) for w in W[:3])
    q, k, v = (np.einsum("bnd,dhk->bhnk", x, w) for x, w in ((dec, Wq), (enc, Wk), (enc, Wv)))
    s = np.einsum("bhnk,bhmk->bhnm", q, k) / np.sqrt(d // h)
    if src_mask is not None:
        s = np.where(src_mask[:, None, None, :], s, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("bhnm,bhmk,hkd->bnd", a, v, W[3].reshape(h, d // h, d))


def fixture(rng, B=2, n=4, m=6, d=6):
    """Return decoder states, encoder states and the four matrices."""
    W = rng.normal(size=(4, d, d)) / np.sqrt(d)
    return rng.normal(size=(B, n, d)), rng.normal(size=(B, m, d)), W


@exercise.check(points=1.5, visible=True)
def matches_the_formula(call, rng):
    """Queries from the decoder, keys and values from the encoder, h heads, then W_O."""
    for h in (1, 3):
        dec, enc, W = fixture(rng)
        agree(call(dec, enc, W, h), cross_attention(dec, enc, W, h))


@exercise.check(points=0.5)
def order_of_the_source(call, rng):
    """Permuting the source tokens changes nothing, but another source does."""
    dec, enc, W = fixture(rng)
    permutation_invariant(lambda x: call(dec, x, W, 2), enc, rng)
    found = np.asarray(call(dec, enc, W, 2))
    require(not alike(call(dec, 2 * enc, W, 2), found), "another source gives the same")


@exercise.check(points=1.5)
def padded_source(call, rng):
    """With a source mask it is as if the padded source tokens weren't there."""
    dec, enc, W = fixture(rng)
    mask = np.arange(6) < np.array([[4], [2]])
    agree(call(dec, enc, W, 2, mask), cross_attention(dec, enc, W, 2, mask))


@exercise.check(points=0.5)
def whole_source_is_visible(call, rng):
    """No causal mask over the source: the last source token reaches the first target token."""
    dec, enc, W = fixture(rng, n=6)
    agree(call(dec, enc, W, 2)[:, 0], cross_attention(dec, enc, W, 2)[:, 0])


@exercise.misconception
def encoder_asks(dec, enc, W, h, src_mask=None):
    """Queries come from the encoder in yours. It is the decoder that asks."""
    mask = None if src_mask is None else src_mask[:, :, None]
    q, k, v = (split_heads(x @ w, h) for x, w in zip((enc, dec, dec), W, strict=False))
    mask = None if mask is None else mask[:, None]
    return merge_heads(attention(q, k, v, mask)[0]) @ W[3]


@exercise.misconception(fatal="the source is never looked at")
def attends_to_itself(dec, enc, W, h, src_mask=None):
    """The encoder states are never used: that is self-attention."""
    return cross_attention(dec, dec, W, h)


@exercise.misconception(credit=0.5)
def scaled_by_the_model_width(dec, enc, W, h, src_mask=None):
    """You scaled by the width of the model. It is the width of a head, d/h, that counts."""
    return cross_attention(dec, enc, np.stack([W[0] / np.sqrt(h), *W[1:]]), h, src_mask)


@exercise.misconception(credit=0.5)
def values_by_the_keys_matrix(dec, enc, W, h, src_mask=None):
    """You make the values with W_K. They have a matrix of their own, the third one."""
    return cross_attention(dec, enc, W[[0, 1, 1, 3]], h, src_mask)


@exercise.misconception(credit=0.4)
def heads_ignored(dec, enc, W, h, src_mask=None):
    """The number of heads has no effect: split the columns into h groups before attending."""
    return cross_attention(dec, enc, W, 1, src_mask)


@exercise.misconception(credit=0.5)
def output_not_projected(dec, enc, W, h, src_mask=None):
    """The fourth matrix, W_O, is never used: it comes after the heads are joined."""
    return cross_attention(dec, enc, np.stack([*W[:3], np.eye(W.shape[-1])]), h, src_mask)


@exercise.misconception
def mask_ignored(dec, enc, W, h, src_mask=None):
    """The source mask has no effect."""
    return cross_attention(dec, enc, W, h)


@exercise.misconception
def mask_meets_the_heads(dec, enc, W, h, src_mask=None):
    """Your mask's first axis meets the heads. With shape (B, 1, 1, m) it stays with its example."""
    q, k, v = (split_heads(x @ w, h) for x, w in zip((dec, enc, enc), W, strict=False))
    mask = None if src_mask is None else src_mask[:, None, :]
    return merge_heads(attention(q, k, v, mask)[0]) @ W[3]


@exercise.misconception
def mask_inverted(dec, enc, W, h, src_mask=None):
    """The mask is read the wrong way round: True means that a source token is there."""
    return cross_attention(dec, enc, W, h, None if src_mask is None else ~src_mask)


@exercise.misconception(credit=0.4)
def causal_over_the_source(dec, enc, W, h, src_mask=None):
    """You masked the source causally. All of it has been read before decoding starts."""
    mask = np.tri(dec.shape[1], enc.shape[1], dtype=bool)
    mask = mask if src_mask is None else mask & src_mask[:, None, None, :]
    q, k, v = (split_heads(x @ w, h) for x, w in zip((dec, enc, enc), W, strict=False))
    return merge_heads(attention(q, k, v, mask)[0]) @ W[3]


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Translating.",
            "Summarising an article.",
            "Predicting the next word of a single text.",
            "Describing a picture, of which there is a list of vectors.",
        ],
        multiple=True,
    ),
)
def uses():
    """For which tasks does it fit?"""
    return "ABD"


uses.mistakes(
    one_stream=("ABCD", "One of them has a single text and nothing else to look at."),
    texts_only=("AB", "The source needn't be a text: any list of vectors will do."),
)


@exercise.part(points=1.5, answer=Count())
def entries(n, m):
    """The scores per head and example: the decoder's self-attention, and its cross-attention."""
    return [n * n, n * m]


@entries.misconception()
def whole_square(n, m):
    """You put both texts into one. Across, queries come from one and keys from the other."""
    return [n * n, (n + m) ** 2]


@entries.misconception()
def of_all_heads(n, m, h):
    """You counted the scores of all heads. Asked for are those of a single one."""
    return [h * n * n, h * n * m]


@entries.misconception()
def across_twice(n, m):
    """In the decoder's self-attention the keys are its own tokens, not the source's."""
    return [n * m, n * m]


@entries.misconception()
def square_of_the_source(n, m):
    """Across, there are n queries and m keys."""
    return [n * n, m * m]
