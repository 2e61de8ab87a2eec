"""Training a decoder on a known target: what goes in, what comes out, what is compared.

Source: Vaswani et al. (2017), sections 3.1 and 3.2.3; Williams and Zipser (1989) on the name.
"""

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Ordering, Shape, agree

exercise = Exercise(
    "teacher_forcing",
    title="A source, a target, one pass",
    source="Vaswani et al. (2017), sections 3.1 and 3.2.3",
    minutes=35,
    hints=[
        "The decoder gets the right words, one place later, so its input is as long as its output.",
        "Cross-attention has rows for the target and columns for the source.",
        "Row t has seen everything up to its own input: which word comes next?",
    ],
)

WIDTH, HEADS = 512, 8
one_pass = Ordering(
    [
        (
            ["Embed the source.", "Send it through the encoder layers."],
            ["Embed the shifted target.", "Masked self-attention of the target."],
        ),
        "Cross-attention to the source.",
        "Feed-forward layer of the decoder.",
        "Project to the vocabulary.",
    ],
    distractors={
        "labels_embedded": (
            "Embed the labels.",
            "The labels are what comes out is compared with. What goes in is the shifted target.",
        ),
        "source_once_more": (
            "Send the decoder's output through the encoder layers.",
            "The encoder reads the source, once. The decoder's output goes on to the vocabulary.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """s: source tokens; t: target tokens; steps: by their letters."""
    s, t = (int(size) for size in rng.choice(range(2, 10), 2, replace=False))
    if s == t + 1:  # the decoder's input would be as long as the source
        s = t + 2
    return {"s": s, "t": t, "steps": one_pass.shuffled(rng)}


@exercise.part(points=0.5, answer=Shape())
def encoded(s):
    """The shape of the encoder's output."""
    return (1, s, WIDTH)


@encoded.misconception()
def as_long_as_the_target(t):
    """The encoder reads the source, and keeps a vector for each of its tokens."""
    return (1, t, WIDTH)


@encoded.misconception()
def one_vector_for_the_source():
    """The encoder keeps a vector for every token of the source."""
    return (1, WIDTH)


@encoded.misconception()
def heads_left_apart(s):
    """Heads are apart within an attention alone. What leaves it is as wide as the model again."""
    return (1, HEADS, s, WIDTH // HEADS)


@exercise.part(points=0.5, answer=Shape())
def decoder_input(t):
    """The shape of what enters the first decoder layer."""
    return (1, t + 1, WIDTH)


@decoder_input.misconception()
def start_forgotten(t):
    """A start token stands before the target."""
    return (1, t, WIDTH)


@decoder_input.misconception()
def start_and_end(t):
    """The end token does not go in: nothing comes after it."""
    return (1, t + 2, WIDTH)


@exercise.part(points=0.5, answer=Shape())
def self_weights(decoder_input):
    """The shape of the self-attention weights in a decoder layer."""
    tokens = decoder_input[1]
    return (1, HEADS, tokens, tokens)


@self_weights.misconception()
def self_weights_without_heads(t):
    """Every head has weights of its own."""
    return (1, t + 1, t + 1)


@self_weights.misconception()
def self_weights_without_start(t):
    """The start token looks, and is looked at, like all others."""
    return (1, HEADS, t, t)


@exercise.part(points=0.5, answer=Shape())
def cross_weights(s, decoder_input):
    """The shape of the cross-attention weights in a decoder layer."""
    return (1, HEADS, decoder_input[1], s)


@cross_weights.misconception()
def source_asks(s, decoder_input):
    """Rows are queries, and these come from the target."""
    return (1, HEADS, s, decoder_input[1])


@cross_weights.misconception()
def start_does_not_ask(s, t):
    """The start token asks as well."""
    return (1, HEADS, t, s)


@cross_weights.misconception()
def cross_as_self(t):
    """Keys come from the source here, so there are as many columns as source tokens."""
    return (1, HEADS, t + 1, t + 1)


@exercise.reference
def shift_right(
    tgt: Int[ndarray, "*batch t"], bos: int, eos: int, pad: int | None = None
) -> tuple[Int[ndarray, "*batch t+1"], Int[ndarray, "*batch t+1"]]:
    """Return what goes into the decoder, and the labels."""
    tgt = np.asarray(tgt, int)
    column = np.full((*tgt.shape[:-1], 1), bos)
    dec_in = np.concatenate([column, tgt], axis=-1)
    labels = np.concatenate([tgt, np.full_like(column, eos if pad is None else pad)], axis=-1)
    if pad is not None:
        length = (tgt != pad).sum(axis=-1, keepdims=True)
        np.put_along_axis(labels, length, eos, axis=-1)
    return dec_in, labels


@exercise.alternative
def row_by_row(tgt, bos, eos, pad=None):
    """Build lists, and pad them again."""
    tgt = np.asarray(tgt, int)
    inputs, labels = [], []
    for row in np.atleast_2d(tgt):
        real = [int(token) for token in row if token != pad]
        inputs.append([bos, *real] + [pad] * (len(row) - len(real)))
        labels.append([*real, eos] + [pad] * (len(row) - len(real)))
    shape = (*tgt.shape[:-1], tgt.shape[-1] + 1)
    return np.array(inputs, int).reshape(shape), np.array(labels, int).reshape(shape)


@exercise.alternative
def into_one_array(tgt, bos, eos, pad=None):
    """Write the target between both tokens, and read it twice."""
    tgt = np.asarray(tgt, int)
    t = tgt.shape[-1]
    whole = np.zeros((*tgt.shape[:-1], t + 2), int)
    whole[..., 0], whole[..., 1:-1], whole[..., -1] = bos, tgt, eos if pad is None else pad
    labels = whole[..., 1:].copy()
    if pad is not None:
        first = np.argmax(labels == pad, axis=-1)
        labels[np.arange(t + 1) == first[..., None]] = eos
    return whole[..., :-1], labels


@exercise.alternative
def by_rolling(tgt, bos, eos, pad=None):
    """Roll the target with a token of its own at the end."""
    tgt = np.asarray(tgt, int)
    ends = np.full((*tgt.shape[:-1], 1), -7 if pad is None else pad)
    labels = np.concatenate([tgt, ends], axis=-1)
    dec_in = np.roll(labels, 1, axis=-1)
    dec_in[..., 0] = bos
    blank = labels == ends
    return dec_in, np.where(blank & (np.cumsum(blank, axis=-1) == 1), eos, labels)


@exercise.check(points=0.75, visible=True)
def one_target(call, rng):
    """One target without padding, of several lengths."""
    for t in (4, 1):
        tgt = rng.permutation(range(3, 12))[:t]
        agree(call(tgt, 0, 1), shift_right(tgt, 0, 1))


@exercise.check(points=0.25)
def other_tokens(call, rng):
    """Start and end token may have any ids."""
    tgt = rng.permutation(9)[:4]
    agree(call(tgt, 21, 35), shift_right(tgt, 21, 35))


@exercise.check(points=0.75)
def padded_batch(call, rng):
    """Each label row ends with its own end token, and padding after it; so does a single one."""
    tgt = rng.integers(3, 12, (3, 5))
    for row, length in zip(tgt, rng.permutation([2, 3, 5]), strict=True):
        row[length:] = 2
    for padded in (tgt, tgt[0]):
        agree(call(padded, 0, 1, 2), shift_right(padded, 0, 1, 2))


@exercise.check(points=0.25)
def shortest_targets(call, rng):
    """A single token; and an empty target: the start token goes in, the end token comes out."""
    agree(call(np.array([5]), 0, 1), (np.array([0, 5]), np.array([5, 1])))
    agree(call(np.zeros(0, int), 0, 1), (np.array([0]), np.array([1])))


@exercise.misconception
def not_shifted(tgt, bos, eos, pad=None):
    """You put the target in as it is. Each position then sees the label that it is to predict."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    return np.asarray(tgt, int), labels[..., : dec_in.shape[-1] - 1]


@exercise.misconception
def shifted_left(tgt, bos, eos, pad=None):
    """Your inputs are the labels, and the labels the inputs."""
    return shift_right(tgt, bos, eos, pad)[::-1]


@exercise.misconception(credit=0.4)
def start_among_the_labels(tgt, bos, eos, pad=None):
    """Your labels begin with the start token. The first label is the first token of the target."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    return dec_in, np.concatenate([dec_in[..., :1], labels], axis=-1)


@exercise.misconception(credit=0.4)
def end_goes_in(tgt, bos, eos, pad=None):
    """Your input ends with the end token. Nothing is predicted after it, so it does not go in."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    return np.concatenate([dec_in[..., :1], labels], axis=-1), labels


@exercise.misconception(credit=0.5)
def no_end(tgt, bos, eos, pad=None):
    """Your labels have no end token: the model never learns to stop."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    return dec_in[..., :-1], labels[..., :-1]


@exercise.misconception
def end_behind_the_padding(tgt, bos, eos, pad=None):
    """Your end tokens stand behind the padding. A row's end comes right after its last token."""
    dec_in, _ = shift_right(tgt, bos, eos, pad)
    return dec_in, shift_right(tgt, bos, eos)[1]


@exercise.misconception
def end_first_where_nothing_is_padded(tgt, bos, eos, pad=None):
    """Where a row has no padding your end token takes the place of its first token."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    if pad is not None:
        full = (np.asarray(tgt) != pad).all(axis=-1)
        labels[full, 0], labels[full, -1] = eos, pad
    return dec_in, labels


@exercise.misconception
def always_zero_and_one(tgt, bos, eos, pad=None):
    """You used the ids 0 and 1. Start and end token are arguments."""
    return shift_right(tgt, 0, 1, pad)


@exercise.misconception
def end_in_all_padding(tgt, bos, eos, pad=None):
    """Your labels have an end token wherever there is padding. Each row ends once."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    return dec_in, np.where(labels == pad, eos, labels) if pad is not None else labels


@exercise.misconception
def end_over_the_last_token(tgt, bos, eos, pad=None):
    """With padding your end token takes the place of a row's last token. It comes behind it."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    if pad is not None:
        early = np.roll(labels, -1, axis=-1) == eos
        labels = np.where(early, eos, np.where(labels == eos, pad, labels))
    return dec_in, labels


@exercise.misconception
def last_token_left_out(tgt, bos, eos, pad=None):
    """In padded rows the last token does not go in. It does: the end is predicted after it."""
    dec_in, labels = shift_right(tgt, bos, eos, pad)
    if pad is not None:
        dec_in = np.where((labels == eos) & (labels[..., -1:] == pad), pad, dec_in)
    return dec_in, labels


@exercise.misconception
def nothing_for_nothing(tgt, bos, eos, pad=None):
    """For an empty target you return nothing. The model should learn to end at once."""
    tgt = np.asarray(tgt, int)
    return shift_right(tgt, bos, eos, pad) if tgt.size else (tgt, tgt)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Both come once, before the six layers.",
            "Masked self-attention is in every layer, cross-attention once, behind the last.",
            "Both are in each of the six layers.",
            "Three layers have one of them, three the other.",
        ]
    ),
)
def where_attention_is():
    """Where are masked self-attention and cross-attention, in a decoder of six layers?"""
    return "C"


where_attention_is.mistakes(
    once_before_the_layers=(
        "A",
        "Then one layer would be the feed-forward layer alone. What does each layer consist of?",
    ),
    cross_attention_once=("B", "Every decoder layer has three sublayers, so there are 18."),
    layers_divided=("D", "No layer is for one kind of attention alone: all six are built alike."),
)


@exercise.part(points=0.5, answer=Shape(names="V"))
def logits(decoder_input):
    """The shape of the logits."""
    return (1, decoder_input[1], "V")


@logits.misconception()
def last_position_only():
    """In training every position predicts, not the last one alone."""
    return (1, "V")


@logits.misconception()
def still_as_wide_as_the_model(decoder_input):
    """The last step leads from the width of the model to the vocabulary."""
    return (1, decoder_input[1], WIDTH)


@logits.misconception()
def no_logits_for_the_end(t):
    """There is one prediction for each token that went in, and the start token went in, too."""
    return (1, t, "V")


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "is a distribution of the token that went in at position $t$",
            "is a distribution of the target token that translates source token $t$ in its place",
            "has entries that add up to 1 together with those of the other rows",
            "is a distribution of label $t$, the token after the first $t + 1$ that went in",
        ]
    ),
)
def row_predicts():
    """What does row t of the probabilities predict?"""
    return "D"


row_predicts.mistakes(
    its_own_input=("A", "That token is known: it goes in at this very position."),
    aligned_with_the_source=(
        "B",
        "The rows belong to the target. Source and target need not even have the same length.",
    ),
    columns_add_up=(
        "C",
        "A softmax acts on the last axis here: at each position one token is chosen.",
    ),
)


@exercise.part(points=1, answer=one_pass)
def order(steps):
    """One pass in training, in order."""
    return one_pass.order(steps)
