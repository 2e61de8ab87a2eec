"""Which heads can go, measured by the loss of the output.

Source: Michel et al. (2019), "Are sixteen heads really better than one?", sections 3 and 4.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers, data_file
from reference.helpers import echo_pass, softmax

exercise = Exercise(
    "head_pruning",
    title="Which heads matter?",
    source="Michel et al. (2019), sections 3 and 4",
    minutes=35,
    hints=[
        "The output is a sum, so without a head just its contribution is missing. For the shares "
        "add contributions up in your order, and square afterwards.",
        "Imagine a layer whose second head is a copy of the first. What is lost without one of "
        "them, and what without both?",
        "In the trained model a row of logits is about the letter that comes next: write letters "
        "and rows below each other, and see which pairs belong together.",
    ],
)


WORD = np.array(["^ABCDEFGHIJ".index(letter) for letter in ("^" + 5 * "BADGE")[:24]])
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a11_theory/echo.npz")).items()}
HEADS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def costs(off=()):
    """Return −log p of all letters (11) behind each of the 24 symbols, without some heads."""
    return -np.log(softmax(echo_pass(ECHO, WORD, off)[0]))


def losses_by(measure):
    """Return a measure of the costs, of the whole model and without each head."""
    return np.array([measure(costs(off)) for off in [(), *([head] for head in HEADS)]])


def mean_cost(cost):
    """Return what the letters behind ``^`` cost on average."""
    return cost[np.arange(23), WORD[1:]].mean()


def contributions(seed, sizes):
    """Return what four heads add to the output, (4, 50, 3)."""
    return np.random.default_rng(seed).normal(size=(4, 50, 3)) * np.reshape(sizes, (4, 1, 1))


@exercise.variant
def draw(rng):
    """seed and sizes, from which the notebook makes the contributions of the four heads."""
    sizes = [3, 1, 0.15, 0.2], [3, 2, 1.2, 0.3], [2, 1.6, 1.2, 1]
    while True:
        variant = {"seed": int(rng.integers(100)), "sizes": rng.permutation(rng.choice(sizes))}
        H = contributions(**variant)
        shares = shares_kept(H, by_loss(H))
        if np.any(by_loss(H) != np.arange(4)) and np.abs(shares - 0.99).min() > 0.002:
            return variant


def by_loss(H):
    """Return the heads by the loss without them, the largest first."""
    return np.argsort(-(H**2).mean(axis=(1, 2)))


def shares_kept(H, order):
    """Return the explained share with the first one, two, … heads of an order."""
    Y = H.sum(axis=0)
    kept = np.cumsum(H[np.asarray(order, int)], axis=0)
    return 1 - ((Y - kept) ** 2).sum(axis=(1, 2)) / (Y**2).sum()


def is_an_order(order):
    """Each head has to stand in it once."""
    return sorted(order) == [0, 1, 2, 3]


@exercise.part(points=0.5, answer=Count(), carry_if=is_an_order)
def order(seed, sizes):
    """The heads by the loss without them alone, the largest loss first, counted from 0."""
    return by_loss(contributions(seed, sizes))


@order.misconception()
def least_important_first(seed, sizes):
    """You put the smallest loss first: those heads matter least."""
    return by_loss(contributions(seed, sizes))[::-1]


@order.misconception(credit=0.3)
def counted_from_one(seed, sizes):
    """You counted the heads from 1. As in Python, the first one is head 0."""
    return by_loss(contributions(seed, sizes)) + 1


@order.misconception()
def places_for_heads(seed, sizes):
    """You wrote for each head its place. Write for each place the head."""
    return np.argsort(by_loss(contributions(seed, sizes)))


@exercise.part(points=1, answer=Numbers())
def explained(order, seed, sizes):
    """The explained shares with the first one, two, three and four heads of your order."""
    return shares_kept(contributions(seed, sizes), order)


@explained.misconception()
def each_head_alone(order, seed, sizes):
    """You took each head by itself. Add the heads up in your order."""
    H = contributions(seed, sizes)[np.asarray(order, int)]
    Y = H.sum(axis=0)
    return 1 - ((Y - H) ** 2).sum(axis=(1, 2)) / (Y**2).sum()


@explained.misconception()
def unexplained(order, seed, sizes):
    """That is the share that is left. Subtract it from 1."""
    return 1 - shares_kept(contributions(seed, sizes), order)


@explained.misconception()
def not_squared(order, seed, sizes):
    """You divided norms. Shares are of sums of squares."""
    return 1 - np.sqrt(1 - np.minimum(shares_kept(contributions(seed, sizes), order), 1))


@explained.misconception()
def squares_added_up(order, seed, sizes):
    """You added up the squares of single heads. Heads overlap: add them up first."""
    squares = (contributions(seed, sizes)[np.asarray(order, int)] ** 2).sum(axis=(1, 2))
    return np.cumsum(squares) / squares.sum()


@explained.misconception()
def size_of_what_is_kept(order, seed, sizes):
    """You compared the sizes of the sums. What counts is how far the sum is from the output."""
    kept = np.cumsum(contributions(seed, sizes)[np.asarray(order, int)], axis=0)
    return (kept**2).sum(axis=(1, 2)) / (kept[-1] ** 2).sum()


@exercise.part(points=0.5, answer=Count())
def needed(explained):
    """How many heads of your order it takes to explain at least 99 %."""
    return 1 + int(np.argmax(np.asarray(explained) >= 0.99))


@needed.misconception()
def counted_from_zero(explained):
    """That is an index. How many heads are there up to it?"""
    return int(np.argmax(np.asarray(explained) >= 0.99))


@needed.misconception()
def one_more(explained):
    """The share passes 99 % earlier."""
    return 2 + int(np.argmax(np.asarray(explained) >= 0.99))


@exercise.part(points=0.5, answer=Numbers())
def ratio(needed):
    """The compression ratio: all heads for each one that is kept."""
    return 4 / needed


@ratio.misconception()
def share_removed(needed):
    """That is the share of heads that are removed. Divide all heads by those that are kept."""
    return 1 - needed / 4


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Heads with large contributions look important although this error never changes "
            "without them.",
            "Nothing: the error without two heads is the sum of the errors without each.",
            "Two heads that do the same look unimportant, each by itself, and yet one of them "
            "has to stay: importance doesn't add up.",
            "Two heads that do the same both look more important than they would alone.",
        ]
    ),
)
def pitfall():
    """What goes wrong when heads are judged one at a time?"""
    return "C"


pitfall.mistakes(
    large_is_important=(
        "A",
        "That the error is measured is no fault. But which heads may stand in for each other?",
    ),
    nothing_goes_wrong=(
        "B",
        "Imagine the same head twice. Remove the first, then the second, then both.",
    ),
    duplicates_look_important=("D", "If a head has a double, how much is missing without it?"),
)


@exercise.part(points=0.5, answer=Numbers())
def losses():
    """The loss of the trained model, and its losses without each of its four heads."""
    return losses_by(mean_cost)


@losses.misconception()
def letter_itself():
    """You looked for each letter in its own row. A row of logits is about the letter behind it."""
    return losses_by(lambda cost: cost[np.arange(24), WORD].mean())


@losses.misconception()
def row_before_unread():
    """You looked for each letter in its own row: a row is about what comes behind it."""
    return losses_by(lambda cost: cost[np.arange(23), WORD[:23]].mean())


@losses.misconception()
def first_letter_left_out():
    """You left out the first letter behind ^. The row of ^ is about it."""
    return losses_by(lambda cost: cost[np.arange(1, 23), WORD[2:]].mean())


@losses.misconception()
def one_row_too_late():
    """You left out the first row of logits. The last one is about nothing that comes."""
    return losses_by(lambda cost: cost[np.arange(1, 24), WORD[1:]].mean())


@losses.misconception()
def letters_added_up():
    """You added up what the letters cost. The loss is their mean."""
    return 23 * losses_by(mean_cost)


@losses.misconception()
def divided_by_all_symbols():
    """You divided by 24. Nothing comes behind the last letter, so 23 letters are predicted."""
    return losses_by(mean_cost) * 23 / 24


@losses.misconception()
def of_the_greatest():
    """You took the most probable letter. The loss is about the one that really comes."""
    return losses_by(lambda cost: cost[:23].min(axis=1).mean())


@losses.misconception()
def two_heads_exchanged():
    """Two heads are exchanged. The order is layer by layer: 0.0, 0.1, 1.0, 1.1."""
    return losses_by(mean_cost)[[0, 1, 3, 2, 4]]


@losses.misconception()
def others_switched_off():
    """You kept that head and switched the others off. Switch off one at a time."""
    kept = [[head for head in HEADS if head != one] for one in HEADS]
    return np.array([mean_cost(costs(off)) for off in [(), *kept]])


@losses.misconception()
def one_after_the_other():
    """You left the heads switched off, one more each time. Switch off each one alone."""
    return np.array([mean_cost(costs(HEADS[:count])) for count in range(5)])
