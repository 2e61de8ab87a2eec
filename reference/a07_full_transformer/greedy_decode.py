"""The most probable token, again and again.

Source: Vaswani et al. (2017), section 3.1; Sutskever et al. (2014), section 3.2, on beam search.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers, agree, made
from reference.helpers import attention, merge_heads, split_heads

exercise = Exercise(
    "greedy_decode",
    title="Step by step equals all at once",
    source="Vaswani et al. (2017), section 3.1; Sutskever et al. (2014), section 3.2",
    minutes=50,
    hints=[
        "Greedy looks one step ahead: it takes the best first token and never comes back. "
        "Follow both first tokens to the end.",
        "The probability of a sequence is a product; a modest first factor can be made up for"
        " by the second one.",
    ],
)


def sinusoids(n, d):
    """Sinusoidal encodings of the positions 0 … n − 1."""
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d)


def toy(seed, V=7, d=6):
    """One causal attention layer with random weights: a function from ids to logits."""
    rng = np.random.default_rng(seed)
    E, U, W = rng.normal(size=(V, d)), rng.normal(size=(d, V)), rng.normal(size=(4, d, d))

    def logits(ids):
        x = E[np.asarray(ids)] + sinusoids(len(ids), d)
        q, k, v = (split_heads(x @ W[i], 2) for i in range(3))
        out, _ = attention(q, k, v, np.tri(len(ids), dtype=bool))
        return (x + merge_heads(out) @ W[3]) @ U

    return logits


def bigram(table):  # given
    """Logits that depend on the last token alone: a row of a table."""
    return lambda ids: table[np.asarray(ids)]


def reminder(V):
    """After each token comes one that depends on the first token and on how many there are."""
    others = 0.1 * (np.arange(V) * 3 % V) / V  # no two are equal, so that mistakes differ

    def logits(ids):
        n = len(ids)
        choice = (int(ids[0]) + np.arange(1, n + 1) ** 2) % V
        habit = 0.7 * np.eye(V)[(ids[0] + 2) % V]  # the same at all positions
        return (1 + np.arange(n)[:, None] * 5 % 7) * np.maximum(np.eye(V)[choice], habit) - others

    return logits


@exercise.reference
def greedy(logits_fn, bos: int, steps: int) -> list:
    """Return bos and the tokens that follow, each the most probable after those before it."""
    ids = [bos]
    for _ in range(steps):
        ids.append(int(np.argmax(logits_fn(ids)[-1])))
    return ids


@exercise.alternative
def by_recursion(logits_fn, bos, steps):
    """Decode one token less, and add one."""
    if steps == 0:
        return [bos]
    before = by_recursion(logits_fn, bos, steps - 1)
    return [*before, int(np.asarray(logits_fn(before))[-1].argmax())]


@exercise.alternative
def into_an_array(logits_fn, bos, steps):
    """Fill an array, and compare probabilities."""
    ids = np.full(steps + 1, bos)
    for t in range(steps):
        last = logits_fn(ids[: t + 1])[t]
        p = np.exp(last - last.max())
        ids[t + 1] = np.argsort(-p, kind="stable")[0]
    return ids.tolist()


@exercise.alternative
def until_there_are_enough(logits_fn, bos, steps):
    """Go on until the list is long enough."""
    out = [bos]
    while len(out) <= steps:
        row = list(logits_fn(np.array(out))[-1])
        out += [row.index(max(row))]
    return out


@exercise.check(points=0.75, visible=True)
def most_probable_next(call, rng):
    """With logits that depend on the last token alone: the most probable one, again and again."""
    circle = [0, *rng.permutation(range(1, 6))]
    table = rng.random((6, 6)) / 2
    table[circle, np.roll(circle, -1)] += [2, 3, 2, 3, 2, 3]
    agree(call(made(bigram, table), 0, 4), greedy(bigram(table), 0, 4), what="the sequence")


@exercise.check(points=1)
def everything_before_counts(call, rng):
    """With a model that looks at all tokens so far; all at once, it predicts the same tokens."""
    agree(call(made(reminder, 11), 0, 7), greedy(reminder(11), 0, 7), what="the sequence")
    for seed in (125, *rng.integers(0, 1000, 2)):
        found = call(made(toy, int(seed)), 0, 5)
        agree(found, greedy(toy(int(seed)), 0, 5), what="the sequence")


@exercise.check(points=1.25)
def as_many_as_asked(call, rng):
    """bos and `steps` tokens: none, one, or several."""
    V = 5
    model = made(reminder, V)
    for steps in (0, 1, 3):
        bos = int(rng.integers(1, V))
        found = call(model, bos, steps)
        agree(len(found), steps + 1, what="the length")
        agree(found[0], bos, what="the first token")


@exercise.misconception(credit=0.4)
def bos_left_out(logits_fn, bos, steps):
    """Your list begins with the first token that was decoded. It begins with bos."""
    return greedy(logits_fn, bos, steps)[1:]


@exercise.misconception(credit=0.5)
def bos_among_the_steps(logits_fn, bos, steps):
    """You counted bos as a step: there is one token too few."""
    return greedy(logits_fn, bos, max(steps - 1, 0))


@exercise.misconception(credit=0.5)
def one_step_too_many(logits_fn, bos, steps):
    """There is one token too many: bos is not one of the steps."""
    return greedy(logits_fn, bos, steps + 1)


@exercise.misconception
def begins_with_zero(logits_fn, bos, steps):
    """You begin with 0. The first token is bos."""
    return greedy(logits_fn, 0, steps)


@exercise.misconception
def last_token_alone(logits_fn, bos, steps):
    """You hand over the last token alone. The model sees all tokens so far."""
    return greedy(lambda ids: logits_fn(ids[-1:]), bos, steps)


@exercise.misconception
def first_row(logits_fn, bos, steps):
    """All comes from bos alone: what does the model see, and which row of logits do you read?"""
    return greedy(lambda ids: logits_fn(ids)[:1], bos, steps)


@exercise.misconception
def row_before_the_last(logits_fn, bos, steps):
    """You read the row before the last one. It predicts the token that is there already."""
    return greedy(lambda ids: logits_fn(ids)[-2:][:1], bos, steps)


@exercise.misconception
def along_the_positions(logits_fn, bos, steps):
    """np.argmax went along the positions. A token is a column: compare the entries of a row."""
    ids = [bos]
    for _ in range(steps):
        ids.append(int(np.argmax(logits_fn(ids), axis=0)[-1]))
    return ids


@exercise.misconception
def largest_of_all_rows(logits_fn, bos, steps):
    """You took the largest of all logits. The earlier rows predict tokens that are known."""

    def anywhere(ids):
        return np.asarray(logits_fn(ids)).max(axis=0, keepdims=True)

    return greedy(anywhere, bos, steps)


@exercise.misconception
def place_in_the_whole_array(logits_fn, bos, steps):
    """np.argmax of several rows counts through all of them. Take the last row first."""
    ids = [bos]
    for _ in range(steps):
        ids.append(int(np.argmax(logits_fn(ids))))
    return ids


@exercise.misconception
def mean_of_the_rows(logits_fn, bos, steps):
    """You averaged over positions. The next token is predicted at the last one."""
    return greedy(lambda ids: logits_fn(ids).mean(axis=0, keepdims=True), bos, steps)


@exercise.misconception
def smallest(logits_fn, bos, steps):
    """You took the least probable token."""
    return greedy(lambda ids: -logits_fn(ids), bos, steps)


@exercise.part(points=0.5, answer=Numbers())
def greedy_probability():
    """The probability of the sequence that greedy decoding finds."""
    return 0.6 * 0.5


greedy_probability.mistakes(
    first_step_only=(0.6, "That is the first token. The sequence has two."),
    second_step_only=(0.5, "That is the second token, given the first. The sequence has both."),
    probabilities_added=(0.6 + 0.5, "You added. Both tokens must come, one after the other."),
    not_what_greedy_finds=(
        0.4 * 0.9,
        "Greedy decoding decides on the first token before it looks at the second.",
    ),
    second_of_the_other_branch=(
        0.6 * 0.9,
        "After the first token that greedy takes, no second one has that probability.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def best_probability():
    """The probability of the most probable sequence."""
    return 0.4 * 0.9


best_probability.mistakes(
    greedy_taken_for_best=(0.6 * 0.5, "Compare the sequences that begin with the other token."),
    largest_second_step=(0.9, "That is the second token, given the first. The sequence has both."),
    largest_of_each=(
        0.6 * 0.9,
        "These two belong to different sequences: the second depends on the first.",
    ),
)
