"""A trained model under one's own window: at which width does the head that copies die?

Source: Beltagy et al. (2020), "Longformer", section 3.1; Olsson et al. (2022), "In-context learning
and induction heads".
"""

import functools

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Formula, Numbers, data_file
from reference.helpers import echo_pass

exercise = Exercise(
    "echo_window",
    title="Where copying ends",
    source="Beltagy et al. (2020), section 3.1; Olsson et al. (2022)",
    minutes=25,
    hints=[
        "The row at a symbol predicts the next one. Which row is the first at which everything "
        "is known?",
        "Write the sentence down, and mark for one row the letter that has to be found. How many "
        "places back is it, for a motif of your length, and of another one?",
        "What does the first layer put beside a letter, and at which place does it lie then?",
    ],
)

local_mask = exercise.carries("a09_efficient/sparse_local", "local_mask")

LETTERS = "^ABCDEFGHIJ"
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a09_efficient/echo.npz")).items()}
WIDTHS = np.arange(10)


@exercise.variant
def draw(rng):
    """motif: four to eight letters; n: symbols of the sentence."""
    motif = "".join(rng.permutation(list(LETTERS[1:]))[: rng.integers(4, 9)])
    return {"motif": motif, "n": int(rng.integers(20, 25))}


@functools.cache  # each part and each mistake wants them again
def logits(motif, n, mask):
    """Logits of the sentence `^` and the motif again and again, n symbols, under a mask."""
    return echo_pass(ECHO, read(motif, n), mask=np.array(mask, bool))[0]


def read(motif, n):
    """The ids of the sentence."""
    return np.array([LETTERS.index(letter) for letter in ("^" + motif * n)[:n]])


def under(motif, n, mask):
    """The logits under a mask that is an array."""
    allowed = np.asarray(mask) != 0
    np.fill_diagonal(allowed, True)  # what a wrong mask leaves without a key sees itself
    return logits(motif, n, tuple(map(tuple, allowed.tolist())))


def copied(motif, n, mask, first=1):
    """How many of the letters that are known are predicted, from a row of the second pass on."""
    ids = read(motif, n)
    rows = np.arange(len(motif) + first, n - 1)
    return int((under(motif, n, mask)[rows].argmax(axis=1) == ids[rows + 1]).sum())


def paid(motif, n, mask, first=1):
    """What these letters cost on average, in nats."""
    ids, z = read(motif, n), under(motif, n, mask)
    z = z - z.max(axis=1, keepdims=True)
    lost = np.log(np.exp(z).sum(axis=1))[:-1] - z[np.arange(n - 1), ids[1:]]
    return lost[len(motif) + first :].mean()


@exercise.part(points=0.75, answer=Count())
def counts(motif, n):
    """How many of the letters that are known are predicted, for the reaches 0 … 9."""
    return [copied(motif, n, local_mask(n, int(w), True)) for w in WIDTHS]


@counts.misconception()
def whole_width(motif, n):
    """You took w for the number of keys. It is the reach: w keys behind the query, and its own."""
    return [copied(motif, n, local_mask(n, max(int(w) - 1, 0), True)) for w in WIDTHS]


@counts.misconception()
def looked_ahead(motif, n):
    """Your windows reach ahead. The model was trained under a causal mask."""
    return [copied(motif, n, local_mask(n, int(w))) for w in WIDTHS]


@counts.misconception(credit=0.5)
def whole_sentence(motif, n):
    """You began too early: until the second pass has begun nobody can know what comes."""
    return [copied(motif, n, local_mask(n, int(w), True), -len(motif)) for w in WIDTHS]


@counts.misconception(credit=0.5)
def return_thought_known(motif, n):
    """You began too early: until the second pass has begun nobody can know what comes."""
    return [copied(motif, n, local_mask(n, int(w), True), 0) for w in WIDTHS]


@counts.misconception(credit=0.5)
def first_known_left_out(motif, n):
    """You began a row late: the first letter of the second pass says what follows it."""
    return [copied(motif, n, local_mask(n, int(w), True), 2) for w in WIDTHS]


@counts.misconception()
def not_shifted(motif, n):
    """You compared each row with its own symbol. It predicts the next one."""
    ids, found = read(motif, n), []
    for w in WIDTHS:
        best = under(motif, n, local_mask(n, int(w), True)).argmax(axis=1)
        found.append(int((best == ids)[len(motif) + 1 : -1].sum()))
    return found


@exercise.part(points=0.25, answer=Formula("m"))
def least():
    """The least reach at which it copies a motif of m letters."""
    return "m - 1"


least.mistakes(
    back_to_the_copy=(
        "m",
        "So far back stands the same letter as here. Which letter has to be in reach?",
    ),
    one_before=("m - 2", "There your counts are 0."),
    behind_it_all=("m + 1", "So far back nothing stands that is needed: compare with your counts."),
    half_by_two_layers=(
        "(m - 1)/2",
        "Two layers reach twice as far, but your counts say that it doesn't help.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def costs(motif, n):
    """What such a letter costs on average in nats, one reach below the least, and at the least."""
    least = len(motif) - 1
    return [paid(motif, n, local_mask(n, w, True)) for w in (least - 1, least)]


@costs.alternative
def as_counted(motif, n, counts):
    """Over the rows, and with the reach, by which the student counted."""
    least = len(motif) - 1
    for first, less in ((0, 0), (2, 0), (1, 1)):
        masks = [local_mask(n, max(int(w) - less, 0), True) for w in WIDTHS]
        if np.array_equal(counts, [copied(motif, n, mask, first) for mask in masks]):
            return [paid(motif, n, masks[w], first) for w in (least - 1, least)]
    return costs.compute(motif, n)


@costs.alternative
def at_the_own_least(motif, n, least):
    """At the least reach of the student's own formula."""
    w = float(least(m=len(motif)))
    if w not in range(2, 10):
        raise ValueError("from such a reach nothing follows")
    return [paid(motif, n, local_mask(n, int(w) - less, True)) for less in (1, 0)]


@costs.misconception(credit=0.5)
def costs_added_up(motif, n):
    """You added up what the letters cost. What does one of them cost on average?"""
    return (n - len(motif) - 2) * np.array(costs.compute(motif, n))


@costs.misconception(credit=0.5)
def in_bits(motif, n):
    """These are bits. Nats are asked for: take the natural logarithm."""
    least = len(motif) - 1
    return [paid(motif, n, local_mask(n, w, True)) / np.log(2) for w in (least - 1, least)]


@costs.misconception(credit=0.5)
def one_reach_further(motif, n):
    """Your reaches are one too far: compare with your counts."""
    return [paid(motif, n, local_mask(n, w, True)) for w in (len(motif) - 1, len(motif))]


@costs.misconception()
def of_the_whole_sentence(motif, n):
    """That is the mean over the whole sentence. The first pass can't be known."""
    least = len(motif) - 1
    return [paid(motif, n, local_mask(n, w, True), -len(motif)) for w in (least - 1, least)]


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The head that copies finds its key by what the first layer has written there, and "
            "takes the letter from this same key: one step has to reach it.",
            "The second layer sees only what the first has left out.",
            "Behind a window the first layer loses the letter before, too.",
            "Rotations allow no distance that is longer than a head is wide.",
        ]
    ),
)
def why():
    """Two layers of reach w reach 2w back. Why doesn't that help?"""
    return "A"


why.mistakes(
    what_was_left_out=(
        "B",
        "The stream carries on all that the first layer was given, and adds to it.",
    ),
    previous_token_lost=(
        "C",
        "How far back is the letter before, and from which reach on is it seen?",
    ),
    width_of_a_head=(
        "D",
        "Rotations turn by any angle: without a window the model copies motifs of eight letters.",
    ),
)
