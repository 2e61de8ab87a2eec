"""Plans for checkpoints: uniform, recursive, and for layers of unequal size.

Source: Griewank & Walther (2000), "Algorithm 799: revolve"; Chen et al. (2016), section 4.
"""

import itertools
import math
from functools import cache

import numpy as np

from autograder.exercise import Choice, Count, Exercise, agree, require, within

exercise = Exercise(
    "ckpt_plan",
    title="Better plans",
    source="Griewank & Walther (2000); Chen et al. (2016)",
    minutes=55,
    hints=[
        "Draw a chain whose last segment is shorter than the others, and mark what is stored, "
        "what is alive, and what is run again.",
        "For `reversible` fill a table: its first row and column are given, and every other "
        "entry is the sum of two neighbours.",
        "For `smallest_part` ask where the last cut lies: what stands before it is the same "
        "question, with fewer layers and one cut less. Keep the answers.",
    ],
)


@exercise.reference
def uniform_plan(L: int, s: int) -> tuple:
    """Units at the peak, and how many layers are run again, with segments of s layers."""
    segments = math.ceil(L / s)
    return segments + min(s, L), (segments - 1) * s


@exercise.alternative
def by_listing_the_segments(L, s):
    """Cut the layers, then measure the pieces."""
    segments = [range(first, min(first + s, L)) for first in range(0, L, s)]
    return len(segments) + max(map(len, segments)), sum(map(len, segments[:-1]))


@exercise.alternative
def by_remainder(L, s):
    """What is left over is the last segment."""
    last = L % s or s
    again = max(L - last, 0)
    return [-(-L // s) + min(L, s), again]


@exercise.alternative
def layer_by_layer(L, s):
    """Walk through the layers."""
    sizes = []
    for layer in range(L):
        if layer % s == 0:
            sizes.append(0)
        sizes[-1] += 1
    return [len(sizes) + max(sizes), sum(sizes) - sizes[-1]]


def two(result):
    """Two numbers, in whatever holds them."""
    numbers = np.asarray(result)
    require(numbers.shape == (2,), "return two numbers")
    return numbers


@exercise.check(points=0.75, visible=True)
def peak_of_equal_segments(call, rng):
    """The peak, where s divides L."""
    for L, s in ((12, 4), (12, 3), (64, 8), (6, 6)):
        agree(two(call(L, s))[0], uniform_plan(L, s)[0], what="the peak")


@exercise.check(points=0.75)
def peak_of_unequal_segments(call, rng):
    """The peak, where the last segment is shorter, or the only one."""
    for L, s in ((10, 4), (17, 5), (3, 8)):
        agree(two(call(L, s))[0], uniform_plan(L, s)[0], what="the peak")


@exercise.check(points=0.75)
def run_again_with_equal_segments(call, rng):
    """How many layers are run again, where s divides L."""
    for L, s in ((12, 4), (12, 3), (64, 8), (6, 6)):
        agree(two(call(L, s))[1], uniform_plan(L, s)[1], what="the number of layers run again")


@exercise.check(points=0.75)
def run_again_with_a_shorter_last(call, rng):
    """How many layers are run again, where the last segment is shorter, or the only one."""
    for L, s in ((10, 4), (17, 5), (3, 8)):
        agree(two(call(L, s))[1], uniform_plan(L, s)[1], what="the number of layers run again")


@exercise.misconception
def last_segment_again(L, s):
    """You run the last segment again, too. It is still alive when the backward pass begins."""
    return uniform_plan(L, s)[0], L


@exercise.misconception
def segment_not_counted(L, s):
    """Your peak holds the stored inputs alone. A whole segment is alive as well."""
    return math.ceil(L / s), uniform_plan(L, s)[1]


@exercise.misconception
def rounded_down(L, s):
    """A shorter last segment is a segment, too: it has an input to store."""
    return L // s + min(s, L), uniform_plan(L, s)[1]


@exercise.misconception
def rest_left_out(L, s):
    """You count full segments alone. A shorter last one is the last: all before it run again."""
    return L // s + min(s, L), (L // s - 1) * s


@exercise.misconception
def one_segment_too_many(L, s):
    """Where s divides L nothing is left over for one more segment: round L/s up, no more."""
    return L // s + 1 + min(s, L), L // s * s


@exercise.misconception
def full_length_spared(L, s):
    """You spared s layers. The last segment may be shorter than s."""
    return uniform_plan(L, s)[0], max(L - s, 0)


@exercise.misconception
def longer_than_the_chain(L, s):
    """You count s layers in the longest segment. In a shorter chain there are not so many."""
    return math.ceil(L / s) + s, uniform_plan(L, s)[1]


@exercise.misconception
def last_for_longest(L, s):
    """You count the last segment as alive. The longest one decides about the peak."""
    segments = math.ceil(L / s)
    return segments + L - (segments - 1) * s, (segments - 1) * s


@exercise.misconception
def not_a_whole_number(L, s):
    """L/s needn't be a whole number. Round it up: there are so many segments."""
    return L / s + min(s, L), uniform_plan(L, s)[1]


@exercise.part(points=1, answer=Count())
def reversible():
    """The longest chains for (c, r) = (3, 2), (2, 3), (8, 1)."""
    return np.array([math.comb(c + r, c) for c, r in ((3, 2), (2, 3), (8, 1))])


reversible.mistakes(
    product_of_both=(
        np.array([6, 6, 8]),
        "You multiplied c and r. Recursion does better: solve the recurrence for small numbers.",
    ),
    product_and_one=(
        np.array([7, 7, 9]),
        "This is c r + 1. Recursion does better: solve the recurrence for small numbers.",
    ),
    power_of_two=(
        np.array([2 ** (c + r) for c, r in ((3, 2), (2, 3), (8, 1))]),
        "Not every state and every run halves the chain. Solve the recurrence for small numbers.",
    ),
    end_not_counted=(
        np.array([math.comb(c + r, c) - 1 for c, r in ((3, 2), (2, 3), (8, 1))]),
        "Close: what is the longest chain with no state to store, or with no further run?",
    ),
)


def cost(sizes, cut):
    """What is kept at the cut, and the larger side."""
    return sizes[cut] + max(sum(sizes[:cut]), sum(sizes[cut:]))


@exercise.reference
def best_cut(sizes: list) -> tuple:
    """The cut with the least cost, the first of several, and that cost."""
    cut = min(range(1, len(sizes)), key=lambda c: cost(sizes, c))
    return cut, cost(sizes, cut)


@exercise.alternative
def by_prefix_sums(sizes):
    """All costs at once."""
    sizes = np.asarray(sizes)
    left = np.cumsum(sizes)[:-1]
    costs = sizes[1:] + np.maximum(left, sizes.sum() - left)
    return int(np.argmin(costs)) + 1, costs.min()


@exercise.alternative
def in_a_loop(sizes):
    """Keep the best so far."""
    best = None
    for cut in range(1, len(sizes)):
        left, right = sum(sizes[:cut]), sum(sizes[cut:])
        found = sizes[cut] + (left if left > right else right)
        if best is None or found < best[1]:
            best = [cut, found]
    return best


@exercise.alternative
def by_sorting(sizes):
    """Sort pairs of cost and cut."""
    costs = sorted((cost(sizes, c), c) for c in range(1, len(sizes)))
    return [costs[0][1], costs[0][0]]


def chain_of(rng, n):
    """Sizes of n layers, with a few large ones."""
    return [int(x) for x in rng.integers(1, 9, n) + 12 * (rng.random(n) < 0.25)]


def revealing(rng, n):
    """Sizes for which each known mistake has another cut, and another cost."""
    while True:
        sizes = chain_of(rng, n)
        right = best_cut(sizes)
        wrong = [
            f(sizes) for f in (middle, kept_not_counted, sides_added, cut_before, smaller_side)
        ]
        if all(a != right[0] and b != right[1] for a, b in wrong):
            return sizes


@exercise.check(points=1, visible=True)
def cuts_of_chains(call, rng):
    """The cut is the best one, the first of several."""
    for sizes in ([8, 1, 1, 1, 1, 4], revealing(rng, 9), [1, 9], [5, 3, 3, 3, 5]):
        agree(two(call(sizes))[0], best_cut(sizes)[0], what="the cut")


@exercise.check(points=1)
def costs_of_cuts(call, rng):
    """The cost is what is kept at the cut, and the larger side."""
    for sizes in ([8, 1, 1, 1, 1, 4], revealing(rng, 12), [5, 3, 3, 3, 5]):
        cut, found = two(call(sizes))
        require(cut == int(cut) and 0 < cut < len(sizes), "a cut is a place between two layers")
        agree(found, cost(sizes, int(cut)), what="the cost at your cut")


@exercise.misconception(credit=0.4)
def middle(sizes):
    """You cut in the middle. Where layers are unequal, another cut may cost less."""
    cut = len(sizes) // 2
    return cut, cost(sizes, cut)


@exercise.misconception(credit=0.5)
def last_of_equal_costs(sizes):
    """Of equal costs you take the last cut. Take the first."""
    cut = min(range(1, len(sizes)), key=lambda c: (cost(sizes, c), -c))
    return cut, cost(sizes, cut)


@exercise.misconception(credit=0.4)
def kept_not_counted(sizes):
    """The input that is kept at the cut has a size, too."""
    costs = {c: max(sum(sizes[:c]), sum(sizes[c:])) for c in range(1, len(sizes))}
    cut = min(costs, key=costs.get)
    return cut, costs[cut]


@exercise.misconception(credit=0.4)
def sides_added(sizes):
    """You added both sides up. Only one of them is alive at a time."""
    cut = min(range(1, len(sizes)), key=lambda c: sizes[c])
    return cut, sum(sizes) + sizes[cut]


@exercise.misconception(credit=0.4)
def smaller_side(sizes):
    """You added the smaller side. The larger one needs more memory: it decides."""
    costs = {c: sizes[c] + min(sum(sizes[:c]), sum(sizes[c:])) for c in range(1, len(sizes))}
    cut = min(costs, key=costs.get)
    return cut, costs[cut]


@exercise.misconception(credit=0.4)
def cuts_from_zero(sizes):
    """You call the first cut 0. A cut has the number of the layer behind it."""
    cut, found = best_cut(sizes)
    return cut - 1, found


@exercise.misconception(credit=0.4)
def cut_before(sizes):
    """You keep the layer before the cut. What is kept is the input of the one behind it."""
    costs = {c: sizes[c - 1] + max(sum(sizes[:c]), sum(sizes[c:])) for c in range(1, len(sizes))}
    cut = min(costs, key=costs.get)
    return cut, costs[cut]


@exercise.reference
def smallest_part(sizes: list, cuts: int) -> int:
    """The smallest possible largest part of a chain with this many cuts."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    largest = ends[1:].astype(float)
    for number in range(1, cuts + 1):
        longer = np.full(len(sizes), np.inf)
        for last in range(number, len(sizes)):
            longer[last] = np.maximum(largest[:last], ends[last + 1] - ends[1 : last + 1]).min()
        largest = longer
    return int(largest[-1])


@exercise.alternative
def with_memory(sizes, cuts):
    """Recursion from the front, each result remembered."""
    ends = [0, *itertools.accumulate(sizes)]

    @cache
    def best(first, left):
        if not left:
            return ends[-1] - ends[first]
        last = len(sizes) - left + 1
        return min(max(ends[i] - ends[first], best(i, left - 1)) for i in range(first + 1, last))

    return best(0, cuts)


@exercise.alternative
def by_bisection(sizes, cuts):
    """Guess the answer, and fill parts greedily up to it."""
    low, high = max(sizes), sum(sizes)
    while low < high:
        guess, parts, filled = (low + high) // 2, 1, 0
        for size in sizes:
            if filled + size > guess:
                parts, filled = parts + 1, 0
            filled += size
        low, high = (low, guess) if parts <= cuts + 1 else (guess + 1, high)
    return low


@exercise.alternative
def by_guesses(sizes, cuts):
    """Try the sums of all pieces in order of size."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    for guess in np.unique((ends[None] - ends[:, None])[np.triu_indices(len(ends), 1)]):
        place, parts = 0, 0
        while guess >= max(sizes) and place < len(sizes):
            place, parts = int(np.searchsorted(ends, ends[place] + guess, "right")) - 1, parts + 1
        if 0 < parts <= cuts + 1:
            return guess
    raise AssertionError("the whole chain is a piece, too")


def by_trying(sizes, cuts):
    """Every way to cut."""
    n = len(sizes)
    return min(
        max(sum(sizes[a:b]) for a, b in itertools.pairwise((0, *places, n)))
        for places in itertools.combinations(range(1, n), cuts)
    )


def lopsided(rng, n, cuts):
    """A chain for which the known mistakes give results of their own."""
    while True:
        sizes = chain_of(rng, n)
        mistakes = (
            equal_lengths,
            equal_lengths_rounded,
            one_part_less,
            filled_greedily,
            layers_sorted,
        )
        if len({smallest_part(sizes, cuts), *(f(sizes, cuts) for f in mistakes)}) == 6:
            return sizes


@exercise.check(points=0.25, visible=True)
def agrees_with_trying(call, rng):
    """The result is that of trying every way to cut."""
    for n, cuts in ((8, 2), (9, 3)):
        sizes = lopsided(rng, n, cuts)
        agree(call(sizes, cuts), by_trying(sizes, cuts))


@exercise.check(points=0.25, after=agrees_with_trying)
def long_chains(call, rng):
    """With 24 layers and six cuts it takes far fewer steps than there are ways to cut."""
    sizes = lopsided(rng, 24, 6)
    agree(call(sizes, 6), smallest_part(sizes, 6))
    within(
        call,
        "bytecodes / number of ways to cut",
        call.work(sizes, 6).steps / math.comb(23, 6),
        5,
        "it takes as many steps as there are ways to cut",
        kind="steps",
    )


@exercise.misconception(credit=0.4)
def equal_lengths(sizes, cuts):
    """You cut into parts of equal length. Their sums differ."""
    return max(int(sum(part)) for part in np.array_split(sizes, cuts + 1))


@exercise.misconception(credit=0.4)
def equal_lengths_rounded(sizes, cuts):
    """You cut where parts of equal length would end. Their sums differ."""
    places = [round(i * len(sizes) / (cuts + 1)) for i in range(cuts + 2)]
    return max(sum(sizes[a:b]) for a, b in itertools.pairwise(places))


@exercise.misconception(credit=0.4)
def one_part_less(sizes, cuts):
    """Two cuts make three parts."""
    return smallest_part(sizes, cuts - 1)


@exercise.misconception(credit=0.4)
def filled_greedily(sizes, cuts):
    """You fill each part up to the mean. The last part gets what is left."""
    mean, parts = sum(sizes) / (cuts + 1), [0]
    for size in sizes:
        if parts[-1] + size > mean and parts[-1] and len(parts) <= cuts:
            parts.append(0)
        parts[-1] += size
    return max(parts)


@exercise.misconception(credit=0.4)
def layers_sorted(sizes, cuts):
    """You sorted the layers. A chain keeps its order."""
    return smallest_part(sorted(sizes), cuts)


@exercise.misconception
def every_way_tried(sizes, cuts):
    """The result is right, and you try every way to cut. What do many of them have in common?"""
    n, best = len(sizes), sum(sizes)
    ends = [0, *itertools.accumulate(sizes)]
    for places in itertools.combinations(range(1, n), cuts):
        last = largest = 0
        for place in (*places, n):
            largest, last = max(largest, ends[place] - last), ends[place]
        best = min(best, largest)
    return best


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "It is NP-hard, even for a chain of layers.",
            "It isn't hard, since segments of equal length are always best.",
            "For a chain dynamic programming does it in polynomial time; it is NP-hard for "
            "general graphs.",
            "Dynamic programming does it in polynomial time for every graph.",
        ]
    ),
)
def hardness():
    """How hard it is to find the best plan."""
    return "C"


hardness.mistakes(
    hard_even_on_chains=(
        "A",
        "That holds for general graphs. You have just written a fast method for chains.",
    ),
    uniform_is_best=(
        "B",
        "Cut 8, 1, 1, 1, 1, 4 in the middle: cost 11. Cut behind the first layer: 9.",
    ),
    easy_everywhere=(
        "D",
        "A chain has few ways to cut it. In a general graph a value may be needed in many places.",
    ),
)
