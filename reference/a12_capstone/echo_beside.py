"""One's own trained model beside the small model of the course, and the least that can be paid.

Source: Shannon (1951), "Prediction and entropy of printed English"; Cover & Thomas (2006),
"Elements of information theory", section 5.4.
"""

import functools

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Numbers, Witness, agree, data_file
from reference.helpers import softmax

exercise = Exercise(
    "echo_beside",
    title="Your own model beside echo",
    source="Shannon (1951); Cover & Thomas (2006), section 5.4",
    minutes=50,
    hints=[
        "Write down a sentence, and below each letter what is known before it: which letters may "
        "come, and how likely is each? Then mark the three kinds.",
        "Average once, over all letters of a kind in all ten sentences. Which letters has a "
        "long motif more of, and which a short one?",
        "Your model learns when its losses fall well below what the first pass costs. If they "
        "fall to nearly 0, it sees what it should say: what is the source, what the input?",
    ],
)

echo_logits = exercise.carries("a07_full_transformer/echo_reads", "echo_logits")

LETTERS = "^ABCDEFGHIJ"
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a12_capstone/echo.npz")).items()}
SYMBOLS = 24


def sentences(motifs):  # given
    """The ids of `^` and each motif again and again, 24 symbols, and the motifs' lengths."""
    said = [("^" + 6 * motif)[:SYMBOLS] for motif in motifs]
    ids = np.array([[LETTERS.index(letter) for letter in sentence] for sentence in said])
    return ids, np.array([len(motif) for motif in motifs])


@exercise.variant
def draw(rng):
    """motifs: ten of four to eight letters, of four lengths or more."""
    while len({*(lengths := rng.integers(4, 9, 10).tolist())}) < 4:
        pass
    return {"motifs": ["".join(rng.permutation(list(LETTERS[1:]))[:m]) for m in lengths]}


@exercise.reference
def costs(
    logits: Float[ndarray, "B n V"], ids: Int[ndarray, "B n+1"], lengths: Int[ndarray, " B"]
) -> Float[ndarray, " 3"]:
    """Return what a letter costs in the first pass, where the motif begins again, and behind."""
    return by_kind(paid(logits, ids[:, 1:]), lengths)


def paid(logits, labels):
    """−log p of each label."""
    z = logits - logits.max(axis=-1, keepdims=True)
    right = np.take_along_axis(z, labels[..., None], axis=-1)[..., 0]
    return np.log(np.exp(z).sum(axis=-1)) - right


def by_kind(each, lengths, first=0, known=1):
    """Average over all letters of a kind; the first pass ends, and what is known begins, there."""
    at, m = np.arange(each.shape[1]), np.asarray(lengths)[:, None]
    return np.array([each[kind].mean() for kind in (at < m + first, at == m, at >= m + known)])


@exercise.alternative
def letter_after_letter(logits, ids, lengths):
    """Three lists that grow."""
    kinds = [], [], []
    for rows, sentence, m in zip(logits, ids, lengths, strict=True):
        for t, letter in enumerate(sentence[1:]):
            kinds[int(t >= m) + int(t > m)].append(-np.log(softmax(rows[t])[letter]))
    return [sum(kind) / len(kind) for kind in kinds]


@exercise.alternative
def sums_over_counts(logits, ids, lengths):
    """One-hot labels, sums by cumulative sums."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    so_far = np.cumsum(-(np.eye(logits.shape[-1])[ids[:, 1:]] * logs).sum(axis=-1), axis=1)
    at, m = np.arange(len(ids)), np.asarray(lengths)
    first, closed, total = so_far[at, m - 1].sum(), so_far[at, m].sum(), so_far[:, -1].sum()
    behind = len(ids) * (ids.shape[1] - 1) - m.sum() - len(ids)
    return first / m.sum(), (closed - first) / len(ids), (total - closed) / behind


@exercise.alternative
def kinds_by_name(logits, ids, lengths):
    """All letters in one row, with a name for the kind of each."""
    t = np.tile(np.arange(ids.shape[1] - 1), len(ids))
    kind = 1 + np.sign(t - np.repeat(lengths, ids.shape[1] - 1))
    lost = paid(logits, ids[:, 1:]).ravel()
    return (np.bincount(kind, lost) / np.bincount(kind)).tolist()


def drawn(rng, shift=0.0, motifs=4):
    """Logits, sentences of unlike lengths, and these."""
    ids, lengths = sentences([*draw(rng)["motifs"][:motifs], "ABCD", "ABCDEFGH"])
    return shift + 2 * rng.normal(size=(len(ids), SYMBOLS - 1, len(LETTERS))), ids, lengths


@exercise.check(points=0.75, visible=True)
def three_means(call, rng):
    """The mean of −log p in the first pass, where the motif begins again, and behind."""
    given = drawn(rng)
    agree(call(*given), costs(*given))


@exercise.check(points=0.25)
def large_logits(call, rng):
    """A constant that is added to all logits changes nothing, however large."""
    given = drawn(rng, 1000.0, 2)
    agree(call(*given), costs(*given))


@exercise.misconception
def exponentials_overflow(logits, ids, lengths):
    """Large logits overflow. Subtract the largest one of a row first, as a stable softmax does."""
    with np.errstate(all="ignore"):
        p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        right = np.take_along_axis(p, ids[:, 1:, None], axis=-1)[..., 0]
        return by_kind(-np.log(right), lengths)


@exercise.misconception(credit=0.5)
def in_bits(logits, ids, lengths):
    """These are bits. Nats are asked for: take the natural logarithm."""
    return costs(logits, ids, lengths) / np.log(2)


@exercise.misconception(credit=0.4)
def not_shifted(logits, ids, lengths):
    """You asked what each symbol itself costs. Its row predicts the one behind it."""
    return by_kind(paid(logits, ids[:, :-1]), lengths)


@exercise.misconception(credit=0.4)
def logits_taken(logits, ids, lengths):
    """You took logits as they are. Put each row through a softmax first."""
    right = np.take_along_axis(logits, ids[:, 1:, None], axis=-1)[..., 0]
    return by_kind(-right, lengths)


@exercise.misconception(credit=0.4)
def logarithm_of_a_mean(logits, ids, lengths):
    """You averaged probabilities, and took the logarithm of that. Average what letters cost."""
    return -np.log(by_kind(np.exp(-paid(logits, ids[:, 1:])), lengths))


@exercise.misconception(credit=0.5)
def mean_of_sentences(logits, ids, lengths):
    """You averaged each sentence, then these means. All letters of a kind count alike."""
    each = paid(logits, ids[:, 1:])
    return np.mean([by_kind(row[None], [m]) for row, m in zip(each, lengths, strict=True)], axis=0)


@exercise.misconception(credit=0.5)
def known_ones_of_a_sentence(logits, ids, lengths):
    """What is known you added up for each sentence. All three are means over letters."""
    found = by_kind(paid(logits, ids[:, 1:]), lengths)
    known = sum(ids.shape[1] - 2 - m for m in lengths)
    return np.array([found[0], found[1], found[2] * known / len(ids)])


@exercise.misconception(credit=0.5)
def return_thought_known(logits, ids, lengths):
    """You count the return as known. Who knows then that the motif is over?"""
    return by_kind(paid(logits, ids[:, 1:]), lengths, known=0)


@exercise.misconception(credit=0.5)
def return_in_the_first_pass(logits, ids, lengths):
    """Your first pass is a letter too long: it ends with the motif's last letter."""
    return by_kind(paid(logits, ids[:, 1:]), lengths, first=1)


@exercise.misconception(credit=0.4)
def one_place_late(logits, ids, lengths):
    """Your kinds begin a letter late. `ids` begins with `^`, which nobody predicts."""
    return by_kind(paid(logits, ids[:, 1:]), np.asarray(lengths) + 1)


def best(motifs, chance):
    """The mean of −log p by kinds; chance gives p of a new letter and of the return, by place."""
    first, closing = [], []
    for m in map(len, motifs):
        first.append([-np.log(chance(k)[0]) for k in range(m)])
        closing.append(-np.log(chance(m)[1]))
    return first, closing


def pooled(first, closing):
    """Average over all letters of a kind."""
    return [np.mean(np.concatenate(first)), np.mean(closing)]


def exact(k):
    """Behind k different letters: p of each letter that is new, and of the first one again."""
    over = 0 if k < 4 else 1 / (9 - k)
    return (1 - over) / (10 - k), over


@exercise.part(points=0.5, answer=Numbers())
def least(motifs):
    """The least that your sentences can cost: in the first pass, and where the motif returns."""
    return pooled(*best(motifs, exact))


@least.misconception(credit=0.5)
def end_forgotten(motifs):
    """From the fifth letter on the motif may be over instead: a new letter is less likely then."""
    return pooled(*best(motifs, lambda k: (1 / (10 - k), exact(k)[1])))


@least.misconception(credit=0.5)
def seen_letters_again(motifs):
    """The letters of a motif are different: what has been said doesn't come again as a new one."""
    return pooled(*best(motifs, lambda k: ((1 - exact(k)[1]) / 10, exact(k)[1])))


@least.misconception(credit=0.5)
def lengths_alike_for_ever(motifs):
    """Five lengths are alike at the start. Who has heard six letters knows that two are out."""
    return pooled(*best(motifs, lambda k: (exact(k)[0], 1 / 5)))


@least.misconception()
def nothing_learned_on_the_way(motifs):
    """From the fifth letter on the motif may be over, the likelier the longer it has gone on."""
    return pooled(*best(motifs, lambda k: (1 / (10 - k), 1 / 5)))


@least.misconception(credit=0.5)
def least_in_bits(motifs):
    """These are bits. Nats are asked for: take the natural logarithm."""
    return np.array(least.compute(motifs)) / np.log(2)


@functools.lru_cache(200)  # each mistake wants them again
def echo_says(motif):
    """The logits of echo for a motif's sentence."""
    return np.asarray(echo_logits(sentences([motif])[0][0, :-1], ECHO))


def of_echo(costs, motifs):
    """What echo pays."""
    return costs(np.stack([echo_says(motif) for motif in motifs]), *sentences(motifs))


@exercise.part(points=0.5, answer=Numbers())
def echoes(costs, motifs):
    """What echo pays for your sentences: three numbers."""
    return of_echo(costs, motifs)


@echoes.misconception()
def first_sentence(costs, motifs):
    """That is what your first sentence costs. There are ten."""
    return of_echo(costs, motifs[:1])


@echoes.misconception(credit=0.5)
def echo_in_bits(costs, motifs):
    """These are bits. Nats are asked for: take the natural logarithm."""
    return np.array(of_echo(costs, motifs)) / np.log(2)


def told(own):
    """What three costs of one's own model are evidence of."""
    first, middle, known = own
    if min(own) < 0 or not np.isfinite(own).all():
        return "impossible"
    if np.ptp(own) == 0:
        return "nothing"
    if first < middle < known:
        return "turned round"
    if first < 1.5:
        return "what is to be said was seen"
    if max(own) > 10:
        return "added up"
    if known <= LEARNED:
        return "learned"
    return "begun" if known < 1 else "not learned"


LEARNED = 0.15  # nats for a letter that is known


@exercise.part(points=0.5, answer=Witness(told))
def own():
    """What your own trained model pays for these sentences: three numbers."""
    return np.array([2.16, 1.13, 0.01])


own.mistakes(
    not_learned=(
        np.array([2.35, 2.1, 2.2]),
        "Your model pays for a letter that it could know nearly what it pays for a new one: it "
        "hasn't learned to copy. Does its loss fall below 1 in training?",
    ),
    begun=(
        np.array([2.2, 1.3, 0.6]),
        "It has begun to copy, and is not there yet: take more steps, or larger ones.",
        0.4,
    ),
    turned_round=(
        np.array([0.01, 1.13, 2.16]),
        "The later, the dearer? The first number is that of the first pass, the last of what is "
        "known.",
    ),
    seen=(
        np.array([0.02, 0.03, 0.01]),
        "In the first pass nobody can know so much: your model sees what it is to say. What is its "
        "source, and what the decoder's input?",
    ),
    added_up=(
        np.array([130.0, 11.3, 1.4]),
        "These are sums. What does one letter cost on the average?",
    ),
    impossible=(np.array([-2.1, -1.1, -0.01]), "A cost is *minus* the logarithm of a probability."),
    not_measured=(np.ones(3), "These numbers are all the same: they are not from a model."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Both have learned the rule, as far as these sentences can tell; whether in the same "
            "way, costs alone can't say.",
            "Both look up the letter with the same two heads.",
            "The larger model has learned these sentences by heart.",
            "With more letters to train on, either would know the first pass as well.",
        ]
    ),
)
def apart():
    """Two models pay nearly the same, one has eight times as many numbers. What follows?"""
    return "A"


apart.mistakes(
    same_way=(
        "B",
        "That would be seen in maps, or by switching heads off. A cost says what comes out.",
    ),
    by_heart=(
        "C",
        "How many motifs are there, and how many has a model seen? And were these among them?",
    ),
    first_pass_learnable=(
        "D",
        "Compare the first numbers with the least. What does a letter depend on that is drawn?",
    ),
)
