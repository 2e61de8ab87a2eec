"""Nats per token, bits per byte, and what counting alone predicts.

Source: Shannon (1951), "Prediction and entropy of printed English"; Jurafsky and Martin (2009),
section 4.5, for smoothing.
"""

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Formula, Numbers, agree, data_file, require

exercise = Exercise(
    "bits_per_byte",
    title="Bits for each byte",
    source="Shannon (1951); Jurafsky and Martin (2009), section 4.5",
    minutes=55,
    hints=[
        "A mean over tokens times the number of tokens is a sum over the whole text, and that "
        "doesn't care how it was cut. From there divide by what you like.",
        "Smoothing adds α to each count. What has to be added to the number of tokens in front, "
        "so that a row still sums to 1?",
        "In code make one table of counts for all pairs of the training text, then look up the "
        "pairs of the other text in it. `np.add.at` adds at the same place more than once.",
    ],
)

COURSE = np.frombuffer(data_file("a14_text/course.txt").read_bytes(), np.uint8).astype(int)
CUT, ALPHAS = 300_000, (10, 1, 0.1)


@exercise.variant
def draw(rng):
    """size: bytes of a text; tokens, nats: of two models; train: (14,), test: (6,)."""
    size = int(rng.integers(40, 90) * 1000)
    tokens = (size / rng.choice([[1.6, 3.4], [1.9, 4.1], [2.2, 4.4], [1.4, 2.9]])).astype(int)
    bits = rng.permutation([1.9, 2.1]) + rng.choice([-0.08, 0, 0.08], 2)
    nats = (bits * size / tokens * np.log(2)).round(3)
    train, test = rng.choice(3, 14, p=rng.permutation([0.5, 0.3, 0.2])), rng.choice(3, 6)
    return {"size": size, "tokens": tokens, "nats": nats, "train": train, "test": test}


def table(x, V):
    """How often each pair of neighbours occurs."""
    return np.bincount(V * x[:-1] + x[1:], minlength=V * V).reshape(V, V)


def smoothed(counts, alpha):
    """Rows of probabilities, with alpha added to each count."""
    counts = counts + alpha
    return counts / counts.sum(axis=-1, keepdims=True)


@exercise.part(points=0.5, answer=Numbers())
def perplexity(nats):
    """The perplexities per token of the two models."""
    return np.exp(nats)


@perplexity.misconception()
def two_to_the_nats(nats):
    """You raised 2 to a number of nats. With nats, the base is e."""
    return 2**nats


@perplexity.misconception()
def of_the_whole_text(nats, tokens):
    """That is the loss of the whole text. Perplexity is per token."""
    return nats * tokens


@perplexity.misconception()
def of_a_byte(nats, tokens, size):
    """That is the perplexity of a byte. Asked for is that of a token."""
    return np.exp(nats * tokens / size)


@perplexity.misconception()
def nats_as_they_are(nats):
    """Those are the losses themselves. The perplexity is e to the power of them."""
    return nats


@perplexity.misconception()
def two_to_the_bits_per_byte(nats, tokens, size):
    """That is 2 to the nats for each byte. Asked for is the perplexity of a token."""
    return 2 ** (nats * tokens / size)


@perplexity.misconception()
def in_bits_and_e(nats):
    """You raised e to a number of bits. With bits, the base is 2."""
    return np.exp(nats / np.log(2))


@exercise.part(points=1, answer=Numbers())
def bits(size, tokens, nats):
    """The bits per byte of the two models."""
    return nats * tokens / size / np.log(2)


@bits.misconception()
def still_in_nats(size, tokens, nats):
    """Those are nats for each byte. A bit is log 2 nats."""
    return nats * tokens / size


@bits.misconception()
def bits_per_token(nats):
    """Those are bits for each token. How many bytes share them?"""
    return nats / np.log(2)


@bits.misconception()
def tokens_and_bytes_exchanged(size, tokens, nats):
    """You multiplied by the bytes of a token. Several bytes share the bits of one token."""
    return nats * size / tokens / np.log(2)


@bits.misconception()
def times_log_two(size, tokens, nats):
    """A bit is less than a nat: there are more bits than nats."""
    return nats * tokens / size * np.log(2)


@bits.misconception()
def bits_of_the_text(tokens, nats):
    """Those are the bits of the whole text."""
    return nats * tokens / np.log(2)


@bits.misconception()
def bytes_of_eight_bits(size, tokens, nats):
    """You divided by 8. Nothing is measured in bytes here: a byte of text takes so many bits."""
    return nats * tokens / size / np.log(2) / 8


@bits.misconception()
def logarithm_to_ten(size, tokens, nats):
    """You divided by log 10. Bits belong to the base 2."""
    return nats * tokens / size / np.log(10)


@bits.misconception()
def logarithm_of_the_nats(size, tokens, nats):
    """You took the logarithm of the nats. To come to bits they are divided by log 2."""
    return np.log2(nats) * tokens / size


@bits.misconception()
def exchanged_texts(size, tokens, nats):
    """You took each model's nats with the other one's tokens."""
    return nats * tokens[::-1] / size / np.log(2)


@exercise.part(
    points=0.75,
    answer=Choice(
        [
            "A longer token is harder to guess: it holds several choices at once, so its "
            "perplexity is larger even where the whole text is as likely.",
            "Perplexities can be compared only if both models have equally many parameters.",
            "The perplexity of a token can't be larger than the vocabulary, so the model with "
            "more tokens has the larger one.",
            "Perplexity has the base e, and bits have the base 2.",
        ]
    ),
)
def why():
    """Why do perplexities per token say nothing across tokenisers?"""
    return "A"


why.mistakes(
    by_the_parameters=(
        "B",
        "Parameters don't enter. The two are averages over different things: over which?",
    ),
    bounded_by_the_vocabulary=(
        "C",
        "A loss may be as large as it likes: a model can be surer of the wrong than guessing is.",
    ),
    a_matter_of_bases=(
        "D",
        "Another base changes both in the same way. What is the average taken over?",
    ),
)


@exercise.part(
    points=0.5,
    answer=Formula("P r", {"*": "positive"}, practice=("The perplexity per byte.", "P^(1/r)")),
)
def from_perplexity():
    """Bits per byte, from the perplexity P per token and r bytes per token."""
    return "log(P)/(r*log(2))"


from_perplexity.mistakes(
    without_the_bytes=("log(P)/log(2)", "Those are bits for each token. r bytes share them."),
    in_nats=("log(P)/r", "Those are nats for each byte."),
    multiplied_by_r=(
        "r*log(P)/log(2)",
        "The more bytes a token has, the fewer bits has each of them.",
    ),
    times_log_two_in_letters=(
        "log(P)*log(2)/r",
        "A bit is less than a nat: there are more bits than nats.",
    ),
    perplexity_of_a_byte=(
        "P^(1/r)",
        "That is the perplexity of a byte. Take its logarithm to the base 2.",
    ),
    logarithm_of_a_share=("log(P/r)/log(2)", "The bytes share the logarithm of P, not P."),
    logarithm_forgotten=("P/(r*log(2))", "P is e to the nats per token. Take its logarithm first."),
    divided_by_the_logarithm_of_r=(
        "log(P)/log(r)",
        "r is how many bytes share the bits: divide by r, not by its logarithm.",
    ),
    logarithm_taken_twice=(
        "log(P)/(r*log(2)^2)",
        "log 2 stands once there: nats become bits once.",
    ),
    to_the_base_ten=(
        "log(P)/(r*log(10))",
        "You took the logarithm to the base 10. Bits belong to the base 2.",
    ),
    divided_by_eight=(
        "log(P)/(8*r*log(2))",
        "You divided by 8. Nothing is measured in bytes here: a byte of text takes so many bits.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def after_each(train):
    """The bigram model with α = 1: row i, column j for the probability of j after i."""
    return smoothed(table(train, 3), 1)


@after_each.misconception()
def not_smoothed(train):
    """Add 1 to each count before you divide."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(table(train, 3) / table(train, 3).sum(axis=1, keepdims=True))


@after_each.misconception()
def columns_sum_to_one(train):
    """Your columns sum to 1. A row is what may come after one token."""
    counts = table(train, 3) + 1
    return counts / counts.sum(axis=0)


@after_each.misconception()
def divided_by_the_old_sum(train):
    """Your rows don't sum to 1: where 1 is added to three counts, 3 is added to their sum."""
    counts = table(train, 3)
    return (counts + 1) / np.maximum(counts.sum(axis=1, keepdims=True), 1)


@after_each.misconception()
def one_added_below(train):
    """Your rows don't sum to 1: three counts grew by 1 each."""
    counts = table(train, 3)
    return (counts + 1) / (counts.sum(axis=1, keepdims=True) + 1)


@after_each.misconception()
def of_all_pairs(train):
    """All nine of yours sum to 1 together. What comes after token i is a row that sums to 1."""
    counts = table(train, 3) + 1
    return counts / counts.sum()


@after_each.misconception()
def before_each(train):
    """In yours the row is the token that comes after. The row is what stands in front."""
    return smoothed(table(train, 3).T, 1)


@after_each.misconception()
def last_token_counted(train):
    """You divided by how often a token stands in the text. Behind the last one nothing comes."""
    counts = table(train, 3)
    return (counts + 1) / (np.bincount(train, minlength=3) + 3)[:, None]


@after_each.misconception()
def counts_with_one(train):
    """Those are counts. Divide each row by its sum."""
    return table(train, 3) + 1


@after_each.misconception()
def of_the_test_text(test):
    """You counted in `test`. The model knows `train` alone."""
    return smoothed(table(test, 3), 1)


@after_each.misconception()
def of_both_texts(train, test):
    """You counted in `test` as well. The model knows `train` alone."""
    return smoothed(table(train, 3) + table(test, 3), 1)


@after_each.misconception()
def unigram_in_each_row(train):
    """All your rows are alike. In row i are only the pairs that begin with i."""
    return np.tile(alone_in(train), (3, 1))


@after_each.misconception()
def around_the_end(train):
    """You counted the last token with the first one. A text has an end."""
    return smoothed(table(np.append(train, train[0]), 3), 1)


@exercise.part(points=1, answer=Numbers())
def test_bits(train, test, after_each):
    """Bits per token of the last five tokens of test: by the unigram model, by the bigram model."""
    alone = (np.bincount(train, minlength=3) + 1) / (len(train) + 3)
    return [-np.log2(alone[test[1:]]).mean(), -np.log2(after_each[test[:-1], test[1:]]).mean()]


def both(alone, after, test):
    """Mean bits of the tokens behind the first one."""
    with np.errstate(all="ignore"):
        return [-np.log2(alone[test[1:]]).mean(), -np.log2(after[test[:-1], test[1:]]).mean()]


def alone_in(train, alpha=1):
    """Probabilities of single tokens."""
    return smoothed(np.bincount(train, minlength=3), alpha)


@test_bits.misconception()
def test_in_nats(train, test, after_each):
    """Those are nats. Take logarithms to the base 2."""
    return np.multiply(both(alone_in(train), after_each, test), np.log(2))


@test_bits.misconception()
def all_added_up(train, test, after_each):
    """That is the sum of five tokens. Asked for is the mean."""
    return np.multiply(both(alone_in(train), after_each, test), 5)


@test_bits.misconception()
def divided_by_six(train, test, after_each):
    """You divided by 6. Five tokens have one in front of them."""
    return np.multiply(both(alone_in(train), after_each, test), 5 / 6)


@test_bits.misconception()
def log_of_the_mean(train, test, after_each):
    """You took the logarithm of a mean. The mean is of the logarithms."""
    alone, after = alone_in(train)[test[1:]], after_each[test[:-1], test[1:]]
    return [-np.log2(alone.mean()), -np.log2(after.mean())]


@test_bits.misconception()
def pairs_turned_round(train, test, after_each):
    """You looked up each pair the wrong way round. The row is the token in front."""
    return [
        both(alone_in(train), after_each, test)[0],
        both(alone_in(train), after_each.T, test)[1],
    ]


@test_bits.misconception()
def first_ones_alone(train, test, after_each):
    """By the unigram model you took the tokens in front. The last five are predicted."""
    return [
        -np.log2(alone_in(train)[test[:-1]]).mean(),
        both(alone_in(train), after_each, test)[1],
    ]


@test_bits.misconception()
def counted_in_the_test(test):
    """You counted in the text that is to be predicted. The models know `train` alone."""
    return both(alone_in(test), smoothed(table(test, 3), 1), test)


@test_bits.misconception()
def unigram_over_all_six(train, test, after_each):
    """By the unigram model you took all six tokens. Asked for are the last five."""
    return [-np.log2(alone_in(train)[test]).mean(), both(alone_in(train), after_each, test)[1]]


@test_bits.misconception()
def all_six_in_both(train, test, after_each):
    """You took all six tokens, the first one by the unigram model. Asked for are the last five."""
    alone, pairs = both(alone_in(train), after_each, test)
    first = -np.log2(alone_in(train)[test[0]])
    return [(first + 5 * alone) / 6, (first + 5 * pairs) / 6]


@test_bits.misconception()
def perplexities_of_both(train, test, after_each):
    """Those are perplexities. Asked for are bits: the mean of −log₂ P."""
    return np.exp2(both(alone_in(train), after_each, test))


@test_bits.misconception()
def last_token_of_train_left_out(train, test, after_each):
    """The unigram model counts all tokens of `train`, the last one as well."""
    return both(alone_in(train[:-1]), after_each, test)


@test_bits.misconception()
def by_train_s_own_end(train, after_each):
    """You predicted tokens of `train`. Asked for are those of `test`."""
    return both(alone_in(train), after_each, train[-6:])


@test_bits.misconception()
def unigram_not_smoothed(train, test, after_each):
    """In the unigram model 1 is added to each of the three counts, too."""
    return both(alone_in(train, 1e-9), after_each, test)


@test_bits.misconception()
def unigram_divided_by_the_old_sum(train, test, after_each):
    """In the unigram model three counts grew by 1 each: divide by their new sum."""
    alone = (np.bincount(train, minlength=3) + 1) / len(train)
    return both(alone, after_each, test)


@exercise.reference
def bigram_bits(train: Int[ndarray, " n"], test: Int[ndarray, " m"], V: int, alpha: float) -> float:
    """Return the bits per token of a text but for its first token, by the counts of another."""
    P = smoothed(table(np.asarray(train), V), alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.alternative
def pair_by_pair(train, test, V, alpha):
    """Keep counts in dictionaries, and add up pair by pair."""
    pairs, fronts, total = {}, {}, 0.0
    for one, two in zip(train[:-1].tolist(), train[1:].tolist(), strict=True):
        pairs[one, two] = pairs.get((one, two), 0) + 1
        fronts[one] = fronts.get(one, 0) + 1
    for one, two in zip(test[:-1].tolist(), test[1:].tolist(), strict=True):
        p = (pairs.get((one, two), 0) + alpha) / (fronts.get(one, 0) + alpha * V)
        total -= np.log(p)
    return total / (len(test) - 1) / np.log(2)


@exercise.alternative
def with_numbered_pairs(train, test, V, alpha):
    """Number the pairs, and count numbers."""
    counts = np.bincount(V * train[:-1] + train[1:], minlength=V * V)
    above = counts[V * test[:-1] + test[1:]] + alpha
    below = np.bincount(train[:-1], minlength=V)[test[:-1]] + alpha * V
    return np.mean(np.log2(below) - np.log2(above))


@exercise.alternative
def by_one_hot_products(train, test, V, alpha):
    """Count with a product of tables of zeros and ones."""
    one = np.eye(V)
    counts = one[train[:-1]].T @ one[train[1:]] + alpha
    logs = np.log(counts) - np.log(counts @ np.ones(V))[:, None]
    seen = one[test[:-1]].T @ one[test[1:]]
    return float(-(seen * logs).sum() / seen.sum() / np.log(2))


def texts(rng, V=5, n=60, m=20):
    """Two texts of a language in which what comes next depends on what was there."""
    P = 0.7 * rng.dirichlet(np.full(V, 0.4), V) + 0.3 / V  # every token comes now and then
    x = [0]
    for _ in range(n + m - 1):
        x.append(int(rng.choice(V, p=P[x[-1]])))
    return np.array(x[:n]), np.array(x[n:])


@exercise.check(points=0.75, visible=True)
def matches_the_formula(call, rng):
    """The mean of −log₂ P(next | token), with α added to each count."""
    train, test = texts(rng)
    for alpha in (1.0, 0.5):
        agree(
            call(train, test, 5, alpha),
            bigram_bits(train, test, 5, alpha),
            what="the mean of the bits",
        )


@exercise.check(points=0.5)
def tokens_never_seen(call, rng):
    """A pair, or a token, that the training text lacks costs much, but not everything."""
    train, test = np.array([0, 1, 0, 1, 1]), np.array([3, 2, 0, 3, 3, 1])
    for alpha in (1.0, 0.1, 1e-3):
        agree(
            call(train, test, 6, alpha),
            bigram_bits(train, test, 6, alpha),
            what="the mean of the bits",
        )
    agree(call(train, np.array([4, 5]), 6, 0.5), np.log2(6), what="the mean of the bits")


@exercise.check(points=0.25)
def without_training(call, rng):
    """Who has seen nothing pays log₂ V for each token."""
    for V in (4, 7):
        none, test = np.zeros(1, int), rng.integers(1, V, 9)
        agree(call(none, test, V, 0.3), np.log2(V), what="the mean of the bits")


@exercise.check(points=0.25)
def a_larger_vocabulary(call, rng):
    """Tokens in neither text take their part of the probability, also where counts are large."""
    long = rng.integers(0, 2, 1500)
    agree(call(long, long, 3, 1.0), bigram_bits(long, long, 3, 1.0), what="the mean of the bits")
    train, test = texts(rng)
    agree(
        call(train, test, 40, 1.0), bigram_bits(train, test, 40, 1.0), what="the mean of the bits"
    )
    require(call(train, test, 40, 1.0) > 1e-6, "the bits can't be 0 here")


@exercise.misconception
def loss_in_nats(train, test, V, alpha):
    """Yours are nats. Take logarithms to the base 2."""
    return bigram_bits(train, test, V, alpha) * np.log(2)


@exercise.misconception
def counts_in_a_byte(train, test, V, alpha):
    """Your counts begin anew behind 255. Count in an array of a larger type."""
    P = smoothed(table(train, V).astype(np.uint8), alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def alpha_is_one(train, test, V, alpha):
    """You add 1, whatever α is."""
    return bigram_bits(train, test, V, 1)


@exercise.misconception
def alpha_below_once(train, test, V, alpha):
    """Your rows don't sum to 1: with α added to V counts, their sum grows by α V."""
    counts = table(train, V)
    P = (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def vocabulary_of_the_text(train, test, V, alpha):
    """You spread α over the tokens that were seen. There are V, and any may come."""
    counts, size = table(train, V), len(np.unique(train))
    P = (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha * size)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def vocabulary_of_both_texts(train, test, V, alpha):
    """You take V from the texts. There are as many tokens as V says, and any may come."""
    return bigram_bits(train, test, int(max(train.max(), test.max())) + 1, alpha)


@exercise.misconception
def vocabulary_is_256(train, test, V, alpha):
    """You take V for 256, whatever comes in."""
    return bigram_bits(train, test, 256, alpha)


@exercise.misconception
def first_token_as_well(train, test, V, alpha):
    """You predict the first token, too, by the unigram model. It is to be left out."""
    alone = smoothed(np.bincount(train, minlength=V), alpha)
    rest = bigram_bits(train, test, V, alpha) * (len(test) - 1)
    return float((rest - np.log2(alone[test[0]])) / len(test))


@exercise.misconception
def last_token_of_train_in_front(train, test, V, alpha):
    """You put the end of the first text in front of the second one. Its first token has none."""
    return bigram_bits(train, np.append(train[-1], test), V, alpha)


@exercise.misconception
def last_token_of_test_left_out(train, test, V, alpha):
    """You leave out the last token. All but the first one are predicted."""
    return bigram_bits(train, test[:-1], V, alpha) if len(test) > 2 else 0.0


@exercise.misconception
def perplexity_for_bits(train, test, V, alpha):
    """Yours is a perplexity. Asked for are bits: the mean of −log₂ P."""
    return 2 ** bigram_bits(train, test, V, alpha)


@exercise.misconception
def alpha_by_the_vocabulary(train, test, V, alpha):
    """You add α/V to each count. α itself is added."""
    return bigram_bits(train, test, V, alpha / V)


@exercise.misconception
def alpha_added_to_the_probability(train, test, V, alpha):
    """You add α to probabilities. It is added to counts, before they are divided."""
    counts = table(train, V)
    P = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) + alpha
    P = P / P.sum(axis=1, keepdims=True)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def divided_by_all_tokens(train, test, V, alpha):
    """You divide by all tokens. The first one has none in front, and is not predicted."""
    return bigram_bits(train, test, V, alpha) * (len(test) - 1) / len(test)


@exercise.misconception
def pairs_reversed(train, test, V, alpha):
    """You predict the token in front from the one behind it: what follows one token sums to 1."""
    P = smoothed(table(train, V).T, alpha)
    return float(-np.log2(P[test[1:], test[:-1]]).mean())


@exercise.misconception
def looked_up_backwards(train, test, V, alpha):
    """You look up each pair the wrong way round: the token in front has the row."""
    P = smoothed(table(train, V), alpha)
    return float(-np.log2(P[test[1:], test[:-1]]).mean())


@exercise.misconception
def unseen_pairs_left_out(train, test, V, alpha):
    """You add α to the counts of pairs that were seen. It is added to those of 0 as well."""
    counts = table(train, V).astype(float)
    counts[counts > 0] += alpha
    counts[counts == 0] = 1e-12
    return float(-np.log2(smoothed(counts, 0)[test[:-1], test[1:]]).mean())


@exercise.misconception
def logarithm_of_the_mean(train, test, V, alpha):
    """You take the logarithm of a mean. The mean is of the logarithms."""
    P = smoothed(table(train, V), alpha)
    return float(-np.log2(P[test[:-1], test[1:]].mean()))


@exercise.misconception
def single_tokens_alone(train, test, V, alpha):
    """Yours is the unigram model. Which token stands in front?"""
    counts = np.bincount(train, minlength=V) + alpha
    return float(-np.log2(counts / counts.sum())[test[1:]].mean())


@exercise.misconception
def last_token_in_the_sum(train, test, V, alpha):
    """You divide by how often a token stands in the text. Behind its last token nothing comes."""
    counts = table(train, V) + alpha
    P = counts / (np.bincount(train, minlength=V) + alpha * V)[:, None]
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def joint_probability(train, test, V, alpha):
    """Yours is the probability of a pair. Asked for is that of a token after the one in front."""
    counts = table(train, V) + alpha
    return float(-np.log2((counts / counts.sum())[test[:-1], test[1:]]).mean())


@exercise.misconception
def total_of_bits(train, test, V, alpha):
    """You added up. The mean over the tokens is asked for."""
    return bigram_bits(train, test, V, alpha) * (len(test) - 1)


@exercise.misconception
def sign_forgotten(train, test, V, alpha):
    """Yours is a mean of logarithms, which is negative. Its negative is asked for."""
    return -bigram_bits(train, test, V, alpha)


@exercise.misconception
def pairs_counted_once(train, test, V, alpha):
    """You count each pair once, however often it stands: `counts[i, j] += 1` with arrays does."""
    P = smoothed(np.minimum(table(train, V), 1), alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def counts_of_the_test(train, test, V, alpha):
    """You count in the text that is to be predicted as well."""
    P = smoothed(table(train, V) + table(test, V), alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def texts_put_together(train, test, V, alpha):
    """You count in the text that is to be predicted as well."""
    P = smoothed(table(np.append(train, test), V), alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.misconception
def test_alone_counted(train, test, V, alpha):
    """You count in the text that is to be predicted, and nothing of the other one."""
    P = smoothed(table(test, V), alpha)
    return float(-np.log2(P[test[:-1], test[1:]]).mean())


@exercise.part(points=1, answer=Numbers())
def course_bits(bigram_bits):
    """Bits per byte of the end of the course, from counts in what stands before, for three α."""
    return [float(bigram_bits(COURSE[:CUT], COURSE[CUT:], 256, alpha)) for alpha in ALPHAS]


@course_bits.misconception()
def where_it_was_counted():
    """Those are the bits of the text in which you counted. Predict the other one."""
    return [bigram_bits(COURSE[:CUT], COURSE[:CUT], 256, alpha) for alpha in ALPHAS]


@course_bits.misconception()
def in_reverse_order():
    """The order is α = 10, 1, 0.1."""
    return [bigram_bits(COURSE[:CUT], COURSE[CUT:], 256, a) for a in ALPHAS[::-1]]


@course_bits.misconception()
def counted_in_all():
    """You counted in the whole text. What is to be predicted must not be counted."""
    return [bigram_bits(COURSE, COURSE[CUT:], 256, alpha) for alpha in ALPHAS]


@course_bits.misconception()
def course_in_nats():
    """Those are nats."""
    return [np.log(2) * bigram_bits(COURSE[:CUT], COURSE[CUT:], 256, a) for a in ALPHAS]


@course_bits.misconception()
def single_bytes_alone():
    """That is the unigram model. Which byte stands in front?"""
    return [
        -np.log2(smoothed(np.bincount(COURSE[:CUT], minlength=256), a)[COURSE[CUT:]]).mean()
        for a in ALPHAS
    ]


@course_bits.misconception()
def texts_exchanged():
    """You exchanged the two: counted is what comes first, and predicted is the end."""
    return [bigram_bits(COURSE[CUT:], COURSE[:CUT], 256, alpha) for alpha in ALPHAS]


@course_bits.misconception()
def counted_in_the_end_alone():
    """You counted in the text that is to be predicted. Count in what comes before it."""
    return [bigram_bits(COURSE[CUT:], COURSE[CUT:], 256, alpha) for alpha in ALPHAS]


@course_bits.misconception()
def all_is_predicted():
    """You predicted the whole text. Predict what comes from the 300,000th byte on."""
    return [bigram_bits(COURSE[:CUT], COURSE, 256, alpha) for alpha in ALPHAS]


@course_bits.misconception()
def whole_text_for_both():
    """You counted in the whole text, and predicted it. Cut it at the 300,000th byte."""
    return [bigram_bits(COURSE, COURSE, 256, alpha) for alpha in ALPHAS]


@course_bits.misconception()
def one_for_every_alpha():
    """All yours are for α = 1. The order is α = 10, 1, 0.1."""
    return [bigram_bits(COURSE[:CUT], COURSE[CUT:], 256, 1)] * 3


@course_bits.misconception()
def tokens_that_occur():
    """You took V from the text. There are 256 bytes, and any may come: V = 256."""
    seen = int(COURSE.max()) + 1
    return [bigram_bits(COURSE[:CUT], COURSE[CUT:], seen, alpha) for alpha in ALPHAS]
