"""Activation patching in a small trained model, and a linear probe beside it.

Source: Meng et al. (2022), "Locating and editing factual associations in GPT", section 2; Wang et
al. (2022), "Interpretability in the wild"; Alain & Bengio (2016), "Understanding intermediate
layers using linear classifier probes".
"""

import functools

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers, data_file
from reference.helpers import echo_pass, softmax

exercise = Exercise(
    "echo_patch",
    title="Put the clean run into the spoiled one",
    source="Meng et al. (2022), section 2; Alain & Bengio (2016)",
    minutes=40,
    hints=[
        "Write one function of a sentence and a hook that returns the cost of the letter in "
        "question. Everything else is a hook that puts a kept array, or one row of it, in place.",
        "Where, in the clean sentence, does a symbol stand that has to know that an A came before "
        "it? And at which symbol is the answer given?",
        "For the probe put the rows of all sentences below each other, without the first row of "
        "each: it has nothing before it.",
    ],
)

LETTERS = "^ABCDEFGHIJ"
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a11_theory/echo.npz")).items()}
OLD, COPIER = (0, 1), (1, 1)  # the head that looks one symbol back, and the one that copies
HEADS = [(0, 0), OLD, (1, 0), COPIER]


@exercise.variant
def draw(rng):
    """clean and spoiled: two sentences that differ in one letter; seed: of the probe's."""
    while True:
        m = rng.integers(4, 9)
        *motif, other = rng.permutation(list(LETTERS[1:]))[: m + 1]
        i = rng.integers(1, m - 1)
        clean = "^" + "".join([*motif, *motif[: i + 1]])
        spoiled = clean[: i + 1] + other + clean[i + 2 :]
        if tells(clean, spoiled):
            break
    while True:
        seed = int(rng.integers(1000))
        if clear(seed):
            return {"clean": clean, "spoiled": spoiled, "seed": seed}


def tells(clean, spoiled):
    """Tell whether these sentences show the two heads, and no others."""
    alone = [restored(clean, spoiled, (head, clean)) for head in HEADS]
    held = restored(clean, spoiled, (OLD, clean), (COPIER, spoiled))
    gap = cost(spoiled, asked(clean, spoiled)) - cost(clean, asked(clean, spoiled))
    return gap > 2 and min(alone[1::2]) > 0.9 and max(map(abs, [*alone[::2], held])) < 0.25


def clear(seed):
    """Tell whether in every tested row one entry is the largest, whatever the processor."""
    for layer in LAYERS:
        found = np.sort(rows(seed, layer)[1][0] @ probe(seed, layer), axis=1)
        if (found[:, -1] - found[:, -2]).min() < 1e-5:
            return False
    return True


@functools.lru_cache(500)  # each part and each mistake wants them again
def run(sentence, put=(), off=()):
    """Logits, and what is at every place; put holds heads, whose run they are from, and rows."""
    new = [(head, run(other)[1]["heads", head[0]][head[1]], [*at]) for head, other, at in put]
    found = {}

    def hook(place, array):
        found[place] = array = array.copy()
        for (layer, head), output, at in new:
            if place == ("heads", layer):
                array[head, at] = output[at]
        return array

    return echo_pass(ECHO, read_in(sentence), off, hook)[0], found


def read_in(sentence):
    """The ids of a sentence."""
    return np.array([LETTERS.index(letter) for letter in sentence])


def asked(clean, spoiled):
    """The letter that follows: the one behind the place where the sentences differ."""
    return clean[differs(clean, spoiled) + 1]


def differs(clean, spoiled):
    """The position of the spoiled letter."""
    return next(i for i, (a, b) in enumerate(zip(clean, spoiled, strict=True)) if a != b)


def by_cost(row, letter):
    """What a letter costs by a row of logits, in nats."""
    return -np.log(softmax(row)[LETTERS.index(letter)])


def by_logit(row, letter):
    """Its logit."""
    return row[LETTERS.index(letter)]


def by_probability(row, letter):
    """Its probability."""
    return softmax(row)[LETTERS.index(letter)]


def restored(clean, spoiled, *put, measure=by_cost, rows=None, off=()):
    """The share of what the last row costs by that is restored."""
    letter = asked(clean, spoiled)
    rows = tuple(range(len(clean)) if rows is None else rows)
    changed = tuple((head, sentence, rows) for head, sentence in put)
    whole = measure(run(clean)[0][-1], letter)
    broken = measure(run(spoiled)[0][-1], letter)
    now = measure(run(spoiled, changed, off)[0][-1], letter)
    return (broken - now) / (broken - whole)


def cost(sentence, letter):
    """What a letter costs behind a sentence."""
    return by_cost(run(sentence)[0][-1], letter)


def over_heads(clean, spoiled, measure=by_cost):
    """A share for each head by itself."""
    shares = [restored(clean, spoiled, (head, clean), measure=measure) for head in HEADS]
    return np.reshape(shares, (2, 2))


@exercise.part(points=1, answer=Numbers())
def table(clean, spoiled):
    """What each head, put in from the clean run, restores: a row for each layer."""
    return over_heads(clean, spoiled)


@table.misconception(credit=0.5)
def what_is_left(clean, spoiled):
    """That is the share that is still missing. Subtract it from 1."""
    return 1 - over_heads(clean, spoiled)


@table.misconception()
def the_other_way(clean, spoiled):
    """You put heads of the spoiled run into the clean one. Here it is the other way round."""
    return over_heads(spoiled, clean)


@table.misconception(credit=0.5)
def shares_of_logits(clean, spoiled):
    """You compared logits. The cost is −log p of the letter."""
    return over_heads(clean, spoiled, by_logit)


@table.misconception(credit=0.5)
def shares_of_probabilities(clean, spoiled):
    """You compared probabilities. The cost is −log p of the letter."""
    return over_heads(clean, spoiled, by_probability)


@table.misconception()
def heads_switched_off(clean, spoiled):
    """You switched heads of the spoiled run off. Put the clean run's output in their place."""
    return np.reshape([restored(clean, spoiled, off=(head,)) for head in HEADS], (2, 2))


@table.misconception()
def last_row_alone(clean, spoiled):
    """You put in the last row alone. All rows of the head's output are asked for."""
    last = [len(clean) - 1]
    return np.reshape([restored(clean, spoiled, (h, clean), rows=last) for h in HEADS], (2, 2))


# A hook without effect costs the path as well: zeros may be written down without any hook.
@table.misconception()
def nothing_put_in():
    """Nothing has changed in your spoiled run: a hook returns the array with the new rows in it."""
    return np.zeros((2, 2))


@table.misconception(credit=0.5)
def layers_in_columns(clean, spoiled):
    """You gave each layer a column. Each has a row, and each head a column."""
    return over_heads(clean, spoiled).T


@exercise.part(points=0.5, answer=Count())
def place(clean, spoiled):
    """The position of the row that is enough, for head 0.1 and for head 1.1."""
    return [differs(clean, spoiled) + 1, len(clean) - 1]


@place.misconception()
def where_they_differ(clean, spoiled):
    """Where the letters differ, head 0.1 looks at the one before. Who looks at *this* place?"""
    return [differs(clean, spoiled), len(clean) - 1]


@place.misconception()
def at_the_other_copy(clean, spoiled):
    """Head 1.1 writes where the answer is given. What it looks at stands elsewhere."""
    return [differs(clean, spoiled) + 1] * 2


@place.misconception(credit=0.5)
def counted_from_one(clean, spoiled):
    """You counted from 1. `^` is at 0."""
    return [differs(clean, spoiled) + 2, len(clean)]


@exercise.part(points=0.5, answer=Numbers())
def path(clean, spoiled):
    """What head 0.1 restores while head 1.1 gives what it gave in the spoiled run."""
    return restored(clean, spoiled, (OLD, clean), (COPIER, spoiled))


@path.misconception()
def nothing_held(clean, spoiled):
    """That is what head 0.1 restores while head 1.1 may read it. Hold head 1.1."""
    return restored(clean, spoiled, (OLD, clean))


@path.misconception()
def switched_off(clean, spoiled):
    """You switched head 1.1 off. Hold it at its output in the spoiled run."""
    return restored(clean, spoiled, (OLD, clean), off=(COPIER,))


@path.misconception(credit=0.5)
def logits_compared(clean, spoiled):
    """You compared logits. The cost is −log p of the letter."""
    return restored(clean, spoiled, (OLD, clean), (COPIER, spoiled), measure=by_logit)


# Who measured or patched in another way for the table did so here, too, and pays for it once. What
# is near 0 or 1 here earns nothing by itself.
@path.misconception()
def probabilities_compared(clean, spoiled):
    """You compared probabilities. The cost is −log p of the letter."""
    return restored(clean, spoiled, (OLD, clean), (COPIER, spoiled), measure=by_probability)


@path.misconception()
def share_that_is_left(clean, spoiled):
    """That is the share that is still missing. Subtract it from 1."""
    return 1 - path(clean, spoiled)


@path.misconception()
def into_the_clean_run(clean, spoiled):
    """You put heads of the spoiled run into the clean one. Here it is the other way round."""
    return path(spoiled, clean)


@path.misconception()
def last_row_of_both(clean, spoiled):
    """You put in the last row alone. All rows of the head's output are asked for."""
    return restored(clean, spoiled, (OLD, clean), (COPIER, spoiled), rows=[len(clean) - 1])


@path.misconception()
def old_head_switched_off(clean, spoiled):
    """You switched heads of the spoiled run off. Put the clean run's output in their place."""
    return restored(clean, spoiled, (COPIER, spoiled), off=(OLD,))


def sentences(seed):  # given
    """Forty sentences to fit the probe and ten to test it."""
    rng = np.random.default_rng(seed)

    def sentence():
        letters = rng.permutation(list(LETTERS[1:]))
        return ("^" + "".join(letters[: rng.integers(4, 9)]) * 6)[:24]

    return [[sentence() for _ in range(count)] for count in (40, 10)]


LAYERS = (None, 0, 1)  # the embedding, and the stream behind either layer


@functools.lru_cache(50)
def rows(seed, layer):
    """For fitted and tested sentences rows of the stream, their symbols and those before."""
    found = []
    for each in sentences(seed):
        ids = np.array([read_in(sentence) for sentence in each])
        streams = [run(sentence)[1]["stream", layer] for sentence in each if layer is not None]
        x = np.array(streams) if streams else ECHO["embed"][ids]
        found.append((x[:, 1:].reshape(-1, 16), ids[:, 1:].ravel(), ids[:, :-1].ravel()))
    return found


def probe(seed, layer, symbols=2):
    """The matrix that finds symbols in rows of the fitted sentences."""
    fitted = rows(seed, layer)[0]
    return np.linalg.lstsq(fitted[0], np.eye(11)[fitted[symbols]], rcond=None)[0]


def hits(seed, symbols=2, tested=1, matrices=LAYERS):
    """In how many rows the probe is right, for the three streams."""
    found = []
    for layer, matrix in zip(LAYERS, matrices, strict=True):
        x = rows(seed, layer)[tested]
        best = (x[0] @ probe(seed, matrix, symbols)).argmax(axis=1)
        found.append(int((best == x[symbols]).sum()))
    return found


@exercise.part(points=0.5, answer=Count())
def read(seed):
    """In how many of 230 rows the probe finds the symbol before."""
    return hits(seed)


@read.misconception()
def own_symbol(seed):
    """You asked for the row's own symbol. The one before is asked for."""
    return hits(seed, symbols=1)


@read.misconception(credit=0.5)
def on_fitted_sentences(seed):
    """You tested the probe on the sentences that it was fitted to."""
    return hits(seed, tested=0)


@read.misconception(credit=0.5)
def one_matrix_for_all(seed):
    """You used the embedding's matrix for all three streams. Fit one for each."""
    return hits(seed, matrices=[None] * 3)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The probe finds it in nearly all rows.",
            "Head 0.1, put in at one place, brings the letter back, and doesn't while head 1.1 is "
            "held.",
            "Head 0.1 gives the symbol before a weight near 1.",
            "The embedding doesn't hold it, so that the model must have computed it.",
        ]
    ),
)
def shown():
    """What shows that the model uses what the probe reads?"""
    return "B"


shown.mistakes(
    what_is_there_is_used=("A", "A probe shows that something can be read. Who reads it?"),
    what_is_looked_at_is_used=(
        "C",
        "A weight shows where a head looks. What becomes of what it wrote?",
    ),
    what_is_computed_is_used=(
        "D",
        "Something may be computed in passing. What changes when it is changed?",
    ),
)
