"""A trained model learns shorter words with 64 numbers, and what it forgets by that.

Source: Hu et al. (2022), "LoRA: Low-rank adaptation of large language models", sections 4 and 7;
McCloskey & Cohen (1989), "Catastrophic interference in connectionist networks".
"""

import functools

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers, Witness, data_file
from reference.helpers import echo_pass, softmax

exercise = Exercise(
    "echo_lora",
    title="A new rule in 64 numbers",
    source="Hu et al. (2022), sections 4 and 7",
    minutes=45,
    hints=[
        "Two layers of yours, one around the queries' matrix and one around the keys'. Only their "
        "factors go to the optimiser.",
        "Count the loss where the next letter is known, and nowhere else: the rest is noise. Adam "
        "at a rate of about 0.02, going down, and 200 batches of 32 sentences are enough.",
        "What has to be in a batch so that a loss on the old words is noticed at all?",
    ],
)

LETTERS = "^ABCDEFGHIJ"
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a10_scale_adapt/echo.npz")).items()}
ENOUGH, KEPT = 0.05, 0.005  # nats for a known letter: of short motifs, and of those it had learned


def words(rng, *lengths):
    """A motif of each length."""
    return ["".join(rng.permutation(list(LETTERS[1:]))[:m]) for m in lengths]


LENGTHS = (2, 3) * 20, (4, 5, 6, 7, 8) * 20  # fewer long ones may all be easy
SHORT, LONG = (words(np.random.default_rng(1), *lengths) for lengths in LENGTHS)


@exercise.variant
def draw(rng):
    """short: a motif of two or three letters; long: one of four to eight."""
    short, long = words(rng, rng.integers(2, 4), rng.integers(4, 9))
    return {"short": short, "long": long}


def adapted(factors):
    """The model with these factors on queries and keys of its second layer."""
    changed = {name: ECHO[name].copy() for name in ("wq", "wk")}
    for name, (A, B) in zip(changed, np.split(np.asarray(factors, float), 2), strict=True):
        changed[name][1] += np.outer(A, B)
    return ECHO | changed


def paid(model, motif, first=1):
    """What a letter costs on the average, from the second one of the second pass on: nats."""
    ids = np.array([LETTERS.index(letter) for letter in ("^" + motif * 12)[:24]])
    p = softmax(echo_pass(model, ids)[0])[np.arange(23), ids[1:]]
    return -np.log(p[len(motif) + first :]).mean()


def both_losses(factors):
    """What letters of short motifs and of longer ones cost."""
    return _both_losses(np.asarray(factors, float).tobytes())


@functools.lru_cache(100)
def _both_losses(packed):
    model = adapted(np.frombuffer(packed).reshape(4, 16))
    return [float(np.mean([paid(model, motif) for motif in each])) for each in (SHORT, LONG)]


def learned(factors):
    """What the new words have come to."""
    short, _ = both_losses(factors)
    if short <= ENOUGH:
        return "learned"
    if both_losses(factors[[1, 0, 3, 2]])[0] <= ENOUGH:
        return "factors exchanged"
    if both_losses(factors[[2, 3, 0, 1]])[0] <= ENOUGH:
        return "matrices exchanged"
    before, _ = both_losses(0 * factors)
    return "begun" if short < before / 2 else "as before" if short < 1.5 * before else "worse"


def kept(factors):
    """Which words the model knows."""
    short, long = both_losses(factors)
    return short <= ENOUGH, long <= KEPT


NEW = np.array(
    [
        [-44, -7, 45, -39, 51, -33, -32, -6, 25, 17, -42, 19, -38, -39, 2, 25],
        [15, 53, -66, -20, -69, 94, -114, 78, 1, -35, -53, -42, 11, -18, 8, -7],
        [-12, 22, 28, 41, 6, 0, -34, 44, -9, 26, -50, 32, -27, 35, -41, -33],
        [-56, 23, -8, -5, -5, 30, 115, 45, 15, -22, -27, 101, -22, 13, 41, 38],
    ]
)
BOTH = np.array(
    [
        [-44, -4, 33, -11, 28, -19, -10, 4, 43, 13, -29, -2, -35, -23, -5, 19],
        [24, 47, -61, -20, -93, 67, -99, 36, 4, -13, -33, -35, 7, -28, -1, -16],
        [2, 26, 14, 38, 8, 5, -19, 48, -7, 1, -38, 32, -13, 19, -55, -39],
        [-47, 22, -21, -12, -90, 52, 125, 88, 8, -31, -33, 100, -22, 22, 26, 43],
    ]
)


@exercise.part(points=1, answer=Witness(learned))
def new():
    """Factors with which the model says motifs of two and three letters."""
    return NEW / 100


@new.misconception(credit=0.5)
def factors_exchanged():
    """In each pair A and B are exchanged: the first row meets what comes in."""
    return NEW[[1, 0, 3, 2]] / 100


new.mistakes(
    matrices_exchanged=(
        NEW[[2, 3, 0, 1]] / 100,
        "The first two rows belong to the queries, the others to the keys: yours are exchanged.",
        0.5,
    ),
    nothing_learned=(
        NEW * [[1], [0], [1], [0]] / 100,
        "With these factors the model does what it did. Is one of them still 0?",
    ),
    half_way=(
        NEW / 250,
        "It is better than before, and not there yet: train for longer, or at another rate.",
        0.3,
    ),
    worse_than_before=(
        -3 * NEW / 100,
        "With these factors short motifs cost more than before. What does your loss count?",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def losses(new, short, long):
    """What a known letter of your two sentences costs with your factors, in nats."""
    return [paid(adapted(new), motif) for motif in (short, long)]


@losses.misconception()
def not_adapted(short, long):
    """That is what the model pays without your factors."""
    return [paid(ECHO, motif) for motif in (short, long)]


@losses.misconception(credit=0.5)
def in_bits(new, short, long):
    """These are bits. Nats are asked for: take the natural logarithm."""
    return [paid(adapted(new), motif) / np.log(2) for motif in (short, long)]


@losses.misconception()
def whole_sentences(new, short, long):
    """You took all letters. In the first pass nobody can know them."""
    return [paid(adapted(new), motif, -len(motif)) for motif in (short, long)]


@losses.misconception(credit=0.5)
def one_letter_early(new, short, long):
    """You began a letter early: that the motif is over can't be known before it begins again."""
    return [paid(adapted(new), motif, 0) for motif in (short, long)]


@exercise.part(points=1, answer=Witness(kept))
def both():
    """Factors with which the model says short motifs, and the old ones still."""
    return BOTH / 100


@both.alternative
def smaller():
    """The first factors, all of them smaller: half of the change forgets less than half as much."""
    return 0.8 * NEW / 100


both.mistakes(
    old_words_forgotten=(
        NEW / 100,
        "The short motifs are there, and the old ones cost more than they may. What was in a "
        "batch?",
        0.4,
    ),
    old_words_alone=(0 * BOTH, "The old motifs are as they were, the short ones aren't learned."),
    neither=(
        -3 * BOTH / 100,
        "With these factors the model says neither the short motifs nor the old ones.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Nothing in the first batches spoke for the old motifs, so that the factors could go "
            "wherever the short ones sent them.",
            "A change of rank 1 has no room for two kinds of motifs.",
            "The frozen weights were changed by the training.",
            "The first training was too short.",
        ]
    ),
)
def forgets():
    """Why did the first training make the old motifs dearer?"""
    return "A"


forgets.mistakes(
    no_room=("B", "Your second factors have the same 64 numbers. What do they do?"),
    frozen_changed=("C", "Set the factors to 0: the model is what it was."),
    too_short=("D", "Train for longer in the same way, and look at both losses."),
)
