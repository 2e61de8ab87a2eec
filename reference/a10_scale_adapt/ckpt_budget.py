"""The least recomputation for a memory budget: where to store, if so many states fit.

Source: Griewank & Walther (2000), "Algorithm 799: revolve", section 2.
"""

import math
from bisect import bisect_left
from functools import cache

import numpy as np

from autograder.exercise import Count, Exercise, agree, within

exercise = Exercise(
    "ckpt_budget",
    title="The least recomputation for a memory budget",
    source="Griewank & Walther (2000), section 2",
    minutes=50,
    hints=[
        "With one slot there is no choice: before each backward step everything in front of it is "
        "run anew, from the input. Add up.",
        "Store one state in the chain. What lies behind it is a chain of its own with one slot "
        "less; and what happens to that slot when that chain is done?",
        "The same shorter chains come up again and again: keep what you have found of them.",
    ],
)


@exercise.variant
def draw(rng):
    """L: layers; k: behind how many of them the first state is stored."""
    L = int(rng.integers(8, 13))
    return {"L": L, "k": int(rng.integers(4, L - 3))}


@cache
def runs(layers, slots):
    """The least number of runs, by the recursion."""
    if layers == 1:
        return 0
    if slots == 1:
        return layers * (layers - 1) // 2
    return min(total(layers, slots, k) for k in range(1, layers))


def pieces_of(layers, slots, k):
    """Runs to the state behind k layers, behind it, and before it when its slot is free again."""
    return [k, runs(layers - k, slots - 1), runs(k, slots)]


def total(layers, slots, k):
    """All runs, if the first state is stored behind k layers."""
    return sum(pieces_of(layers, slots, k))


def falling(least_runs, layers):
    """Ask the student's function for 1, 2 and 3 slots; more slots may not take more runs."""
    found = [int(least_runs(layers, s)) for s in (1, 2, 3)]
    if not found[0] > found[1] >= found[2]:
        raise ValueError("from such a function nothing follows")
    return found


@exercise.part(points=1, answer=Count())
def pieces(L, k):
    """Two slots: runs to the state behind k layers, for what lies behind it, for what is before."""
    return pieces_of(L, 2, k)


@pieces.alternative
def last_one_by_the_function(L, k, least_runs):
    """What is before the state, by the student's own function; one slot needs none."""
    return [k, runs(L - k, 1), falling(least_runs, k)[1]]


@pieces.alternative
def both_by_the_function(L, k, least_runs):
    """What is behind the state, too."""
    return [k, falling(least_runs, L - k)[0], falling(least_runs, k)[1]]


@pieces.misconception(credit=0.5)
def slot_not_free_again(L, k):
    """The layers in front are reversed last. By then the slot of the stored state is free again."""
    return [k, runs(L - k, 1), runs(k, 1)]


@pieces.misconception(credit=0.5)
def slot_kept_behind(L, k):
    """While what lies behind is reversed, the input still takes the other slot."""
    return [k, runs(L - k, 2), runs(k, 2)]


@pieces.misconception(credit=0.5)
def own_run_counted(L, k):
    """The backward step of a layer runs that layer itself. Such runs are not counted."""
    behind = (L - k) * (L - k + 1) // 2
    return [k, behind, runs(k, 2)]


@pieces.misconception(credit=0.5)
def once_behind(L, k):
    """With one slot left, nothing behind the state is kept: each backward step starts from it."""
    return [k, L - k - 1, runs(k, 2)]


@exercise.part(points=1, answer=Count())
def least(L):
    """The least number of runs for your L layers, with 1, 2 and 3 slots."""
    return [runs(L, s) for s in (1, 2, 3)]


@least.alternative
def by_the_function(L, least_runs):
    """As the student's own function gives them."""
    return falling(least_runs, L)


@least.misconception(credit=0.5)
def cut_in_the_middle(L):
    """You stored in the middle of each piece. Another place may take fewer runs."""
    return [halved(L, s) for s in (1, 2, 3)]


@least.misconception(credit=0.5)
def slot_counted_beside_the_input(L):
    """The input takes one of the slots: with one slot, it is all that is stored."""
    return [runs(L, s) for s in (2, 3, 4)]


@least.misconception(credit=0.5)
def own_runs_counted(L):
    """The backward step of a layer runs that layer itself. Such runs are not counted."""
    return [runs(L, s) + L for s in (1, 2, 3)]


@least.misconception(credit=0.5)
def first_pass_not_counted(L):
    """You left out the first pass. It runs all layers but the last one, and is counted."""
    return [runs(L, s) - (L - 1) for s in (1, 2, 3)]


@least.misconception(credit=0.5)
def never_free_again(L):
    """In yours a slot is used once. When what lies behind its state is done, it is free again."""
    return [spent(L, s) for s in (1, 2, 3)]


@exercise.reference
def least_runs(L: int, s: int) -> int:
    """The least number of runs for L layers and s slots, from tables of shorter chains."""
    found = [i * (i - 1) // 2 for i in range(L + 1)]
    for _ in range(min(s, L) - 1):
        longer = [0, 0]
        for n in range(2, L + 1):
            longer.append(min(k + found[n - k] + longer[k] for k in range(1, n)))
        found = longer
    return found[L]


@exercise.alternative
def with_memory(L, s):
    """The recursion, each result remembered."""

    @cache
    def best(n, slots):
        if n < 2:
            return 0
        if slots == 1:
            return sum(range(n))
        return min(k + best(n - k, slots - 1) + best(k, slots) for k in range(1, n))

    return best(L, min(s, L))


@exercise.alternative
def by_binomials(L, s):
    """No layer need be run more than r times, if C(s + r, s) layers are enough."""
    r = 0
    while math.comb(s + r, s) < L:
        r += 1
    return r * L - math.comb(s + r, s + 1)


@exercise.alternative
def level_by_level(L, s):
    """Layers that are run 0, 1, 2, … times: so many of each as there are binomials."""
    left, result, r = L, 0, 0
    while left > 0:
        here = min(left, math.comb(s + r - 1, r))
        result, left, r = result + r * here, left - here, r + 1
    return result


def halved(L, s):
    """Store in the middle of each piece."""
    if L < 2:
        return 0
    if s == 1:
        return L * (L - 1) // 2
    k = L // 2
    return k + halved(L - k, s - 1) + halved(k, s)


@cache
def spent(L, s):
    """Never use a slot a second time."""
    if L < 2:
        return 0
    if s == 1:
        return L * (L - 1) // 2
    return min(
        k + spent(L - k, behind) + spent(k, s - behind)
        for k in range(1, L)
        for behind in range(1, s)
    )


@exercise.check(points=0.75, visible=True)
def short_chains(call, rng):
    """Up to eight layers, with one to three slots."""
    for L, s in ((1, 1), (6, 1), (5, 2), (8, 2), (8, 3)):
        agree(call(L, s), least_runs(L, s), what=f"the runs for {L} layers and {s} slots")


@exercise.check(points=0.5)
def more_slots_than_layers(call, rng):
    """With as many slots as layers, or more, each layer but the last is run once."""
    for L, s in ((1, 3), (4, 4), (6, 9)):
        agree(call(L, s), L - 1, what=f"the runs for {L} layers and {s} slots")


@exercise.check(points=0.75, after=short_chains)
def deep_models(call, rng):
    """More layers take no more steps than tables of shorter chains do."""
    agree(call(13, 3), least_runs(13, 3))
    within(
        call,
        "bytecodes",
        call.work(13, 3).steps,
        200_000,
        "the same shorter chains are worked out again and again",
        kind="steps",
    )


@exercise.misconception(credit=0.5)
def stored_in_the_middle(L, s):
    """You store in the middle of each piece. Try every place, and take the best."""
    return halved(L, s)


@exercise.misconception(credit=0.5)
def slots_spent(L, s):
    """In yours a slot is used once. When what lies behind its state is done, it is free again."""
    return spent(L, s)


@exercise.misconception(credit=0.5)
def one_slot_more(L, s):
    """The input takes one of the slots: with one slot, it is all that is stored."""
    return least_runs(L, s + 1)


@exercise.misconception(credit=0.5)
def own_runs_too(L, s):
    """The backward step of a layer runs that layer itself. Such runs are not counted."""
    return least_runs(L, s) + L


@exercise.misconception
def own_runs_with_one_slot(L, s):
    """With one slot left you count a layer's run in its own backward step. It is not counted."""
    found = [n * (n + 1) // 2 for n in range(L + 1)]
    for _ in range(min(s, L) - 1):
        longer = [0, 0]
        for n in range(2, L + 1):
            longer.append(min(k + found[n - k] + longer[k] for k in range(1, n)))
        found = longer
    return found[L]


@exercise.misconception(credit=0.5)
def only_what_is_run_again(L, s):
    """You left out the first pass. It runs all layers but the last one, and is counted."""
    return least_runs(L, s) - (L - 1)


@exercise.misconception(credit=0.5)
def way_to_the_state_forgotten(L, s):
    """You forgot the k runs that lead to the stored state."""

    @cache
    def best(n, slots):
        if n < 2 or slots == 1:
            return n * (n - 1) // 2
        return min(best(n - k, slots - 1) + best(k, slots) for k in range(1, n))

    return best(L, s)


@exercise.misconception(credit=0.5)
def equal_segments(L, s):
    """You cut into segments of equal length. The first ones can be longer: they keep more slots."""
    lengths = [len(part) for part in np.array_split(np.arange(L), min(s, L))]
    return L - lengths[-1] + sum(n * (n - 1) // 2 for n in lengths)


@exercise.misconception
def without_memory(L, s):
    """The result is right, and the same shorter chains are worked out again and again."""
    if L < 2 or s == 1:
        return L * (L - 1) // 2
    return min(k + without_memory(L - k, s - 1) + without_memory(k, s) for k in range(1, L))


@exercise.part(points=1, answer=Count())
def fewest(least_runs):
    """The fewest slots for 96 layers, if these may be run twice each on the average."""
    return next(s for s in range(1, 97) if least_runs(96, s) <= 2 * 96)


@fewest.misconception()
def once_on_the_average(least_runs):
    """You allowed one run for each layer on the average. Asked for is two."""
    return bisect_left(range(97), True, lo=1, key=lambda s: least_runs(96, s) <= 96)


@fewest.misconception()
def twice_at_most():
    """With these no layer is run more than twice. On the average fewer slots are enough."""
    return next(s for s in range(1, 97) if math.comb(s + 2, 2) >= 96)


fewest.mistakes(
    root_of_the_layers=(10, "That is the root of 96. It is the rule for segments of equal length."),
    units_of_the_root=(20, "These are the units of segments of equal length, live ones included."),
)
