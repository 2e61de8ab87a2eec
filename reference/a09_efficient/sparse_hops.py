"""How many layers a sparse pattern needs until every output depends on every token.

Source: Child et al. (2019), section 4; Li et al. (2019), "LogSparse transformer", section 4.2.
"""

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from autograder.exercise import ComplexityClass, Count, Exercise, agree, require
from reference.helpers import global_mask, layers_to_reach

exercise = Exercise(
    "sparse_hops",
    title="How many layers to reach everyone?",
    source="Child et al. (2019), section 4; Li et al. (2019), section 4.2",
    minutes=35,
    hints=[
        "Keep a table of who depends on whom, and let a layer be one step with it: what a query "
        "learns is what its keys knew before, and what it knew itself.",
        "Stop in two cases: everybody depends on everybody, or a layer has brought nothing new.",
        "In the last pattern each layer goes back by a power of two. With which powers do you "
        "get over the whole distance in the fewest steps?",
    ],
)
local_mask = exercise.carries("a09_efficient/sparse_local", "local_mask")


@exercise.variant
def draw(rng):
    """n: tokens; w: how far a query sees to each side."""
    while True:
        n, w = int(rng.choice([300, 400, 512, 600, 700])), int(rng.choice([24, 32, 48, 64, 80]))
        if (n - 1) % w and (n - 1) // w != n // w - 1:
            return {"n": n, "w": w}


@exercise.reference
def hops(mask: Bool[ndarray, "n n"]) -> int:
    """Return after how many layers every output depends on every token, −1 if never."""
    return layers_to_reach(mask)


@exercise.alternative
def searched_from_every_token(mask):
    """Breadth first, from one query after the other."""
    n, worst = len(mask), 0
    for start in range(n):
        seen, front, layers = {start}, {start}, 0
        while len(seen) < n:
            front = {int(j) for i in front for j in np.flatnonzero(mask[i])} - seen
            if not front:
                return -1
            seen, layers = seen | front, layers + 1
        worst = max(worst, layers)
    return worst


@exercise.alternative
def by_doubling(mask):
    """Square until all is reached, then go down by halves."""
    n = len(mask)
    powers = [mask | np.eye(n, dtype=bool)]
    while not powers[-1].all():
        powers.append((powers[-1].astype(float) @ powers[-1]) > 0)
        if len(powers) > n.bit_length() + 1:
            return -1
    reached, layers = np.eye(n, dtype=bool), 0
    for exponent in range(len(powers) - 1, -1, -1):
        further = (reached.astype(float) @ powers[exponent]) > 0
        if not further.all():
            reached, layers = further, layers + 2**exponent
    return 0 if n == 1 else layers + 1


@exercise.alternative
def by_distances(mask):
    """All distances at once, through one token after the other."""
    n = len(mask)
    distance = np.where(mask, 1.0, np.inf)
    np.fill_diagonal(distance, 0)
    for k in range(n):
        distance = np.minimum(distance, distance[:, k, None] + distance[k])
    return int(distance.max()) if np.isfinite(distance).all() else -1


@exercise.check(points=1, visible=True)
def windows(call, rng):
    """A window of w reaches w positions further with every layer."""
    for n, w in ((17, 4), (16, 4), (int(rng.integers(20, 30)), 3), (24, 1)):
        agree(call(local_mask(n, w)), -(-(n - 1) // w), what=f"the layers for n = {n}, w = {w}")


@exercise.check(points=0.5)
def one_way(call, rng):
    """Who sees whom need not be mutual: a query collects what its keys collected before."""
    order = rng.permutation(7)
    ring = np.eye(7, dtype=bool)
    ring[order, np.roll(order, 1)] = True
    agree(call(ring), 6)
    uneven = np.eye(5, dtype=bool)
    uneven[0] = True
    uneven[1:, 0] = True
    uneven[0, 4] = False
    uneven[0, 3] = False
    uneven[1, 3] = uneven[2, 4] = True
    agree(call(uneven), layers_to_reach(uneven))


@exercise.check(points=0.5)
def residual_path(call, rng):
    """A token keeps what it knows, also where the mask hides it from itself."""
    agree(call(np.roll(np.eye(5, dtype=bool), 1, axis=1)), 4)
    agree(call(~np.eye(4, dtype=bool)), 1)


@exercise.check(points=0.5)
def smallest_cases(call, rng):
    """A single token needs no layer, and a full mask one."""
    agree(call(np.ones((5, 5), dtype=bool)), 1)
    agree(call(np.ones((1, 1), dtype=bool)), 0)
    require(isinstance(call(np.ones((3, 3), dtype=bool)), int | np.integer), "not a whole number")


@exercise.check(points=0.5)
def never(call, rng):
    """−1, if some output never depends on some token."""
    i, j = np.indices((12, 12))
    agree(call((i - j) % 3 == 0), -1)
    agree(call(np.tri(6, dtype=bool)), -1)
    agree(call(np.eye(4, dtype=bool)), -1)


@exercise.misconception
def unreachable_overlooked(mask):
    """You return how far tokens get, also where some are never reached. Then the answer is −1."""
    seen, layers = np.eye(len(mask), dtype=bool), 0
    while (wider := seen | (seen.astype(int) @ mask > 0)).sum() > seen.sum():
        seen, layers = wider, layers + 1
    return layers


@exercise.misconception
def given_up_early(mask):
    """You stop after a fixed number of layers. More tokens may need more of them."""
    layers = layers_to_reach(mask)
    return layers if layers <= 12 else -1


@exercise.misconception(credit=0.4)
def one_layer_too_many(mask):
    """One too many: count the layers that were needed."""
    layers = layers_to_reach(mask)
    return layers if layers < 0 else layers + 1


@exercise.misconception(credit=0.4)
def one_layer_too_few(mask):
    """One too few: before the first layer each token knows nothing but itself."""
    layers = layers_to_reach(mask)
    return max(layers - 1, 0) if layers > 0 else layers


@exercise.misconception(credit=0.4)
def from_the_first_token(mask):
    """You followed the first query. The slowest one counts."""
    n = len(mask)
    reached, layers = np.arange(n) == 0, 0
    step = mask | np.eye(n, dtype=bool)
    while not reached.all():
        further = reached.astype(float) @ step > 0
        if (further == reached).all():
            return -1
        reached, layers = further, layers + 1
    return layers


@exercise.misconception(credit=0.4)
def steps_mutual(mask):
    """You go along pairs in both directions. A query sees its keys, and they need not see it."""
    return layers_to_reach(mask | mask.T)


@exercise.misconception
def own_knowledge_lost(mask):
    """In yours a token forgets what it knew, where the mask hides it from itself."""
    n, reached = len(mask), np.eye(len(mask))
    if n == 1:
        return 0
    for layers in range(1, 2 * n):
        reached = (reached @ mask > 0).astype(float)
        if reached.all():
            return layers
    return -1


@exercise.misconception(credit=0.4)
def gives_up_with_zero(mask):
    """If a token is never reached, −1 is asked for."""
    layers = layers_to_reach(mask)
    return 0 if layers < 0 and len(mask) > 1 else layers


@exercise.misconception(credit=0.5)
def at_least_one_layer(mask):
    """A single token has seen everything before the first layer."""
    layers = layers_to_reach(mask)
    return 1 if layers == 0 else layers


@exercise.part(points=0.5, answer=Count())
def window_layers(n, w):
    """Layers for a window of your w over your n tokens."""
    return -(-(n - 1) // w)


@window_layers.misconception()
def rounded_down(n, w):
    """You rounded down: the last few positions need a layer as well."""
    return (n - 1) // w


@window_layers.misconception()
def whole_width_per_layer(n, w):
    """You let a layer reach the whole width further. To one side it reaches w."""
    return -(-(n - 1) // (2 * w + 1))


@exercise.part(points=0.5, answer=Count())
def patterns(hops):
    """Layers for 16 tokens: all; stride 4; that and window 4; a global token and window 1."""
    i, j = np.indices((16, 16))
    stride = (i - j) % 4 == 0
    masks = (
        np.ones((16, 16), dtype=bool),
        stride,
        stride | local_mask(16, 4),
        local_mask(16, 1) | global_mask(16, [0]),
    )
    return [hops(mask) for mask in masks]


@patterns.alternative
def all_at_a_glance(hops):
    """Where everyone sees everyone there is nothing to compute."""
    return [1, *patterns.compute(hops)[1:]]


@patterns.alternative
def one_alone_by_code(hops):
    """A stride by itself and a global token can be thought through, whatever the own mask gives."""
    return [1, -1, patterns.compute(hops)[2], 2]


@patterns.alternative
def strides_by_thought(hops):
    """So can both strides."""
    return [1, -1, 2, patterns.compute(hops)[3]]


patterns.mistakes(
    stride_reaches_all=(
        [1, 4, 2, 2],
        "A stride alone keeps to the positions with the same remainder, in any number of layers.",
    ),
    global_token_in_one=(
        [1, -1, 2, 1],
        "Through a global token it takes two layers: one to it, one from it.",
    ),
    window_of_the_rest=([1, -1, 2, 15], "The global token is a shortcut between any two tokens."),
    stride_and_window_one_by_one=(
        [1, -1, 4, 2],
        "One layer can step along the stride and the next one along the window.",
    ),
)


@exercise.part(points=0.5, answer=ComplexityClass("n"))
def doubling_class():
    """The class of the allowed pairs, if query i sees the keys i, i − 1, i − 2, i − 4 and so on."""
    return "n*log(n)"


doubling_class.mistakes(
    keys_of_one_query=("log(n)", "That is what one query sees."),
    taken_for_linear=("n", "The number of keys of a query grows with n, if slowly."),
    taken_for_all_pairs=(
        "n^2",
        "Each key is twice as far away as the one before. How many fit into n tokens?",
    ),
    taken_for_root=("n^(3/2)", "How many powers of two are there up to n?"),
)


@exercise.part(points=0.5, answer=Count())
def doubling_layers():
    """Layers until the last of 1024 tokens depends on the first, for that pattern."""
    return 10


doubling_layers.mistakes(
    one_jump=(1, "1023 is no power of two. Of how many is it a sum?"),
    one_by_one=(1023, "One step at a time is the longest way. Which longer steps are there?"),
    eleven=(11, "1023 = 512 + 256 + … + 1. Count the terms."),
    two_as_if_through_a_global_token=(
        2,
        "No token is seen by all here: each step is a power of two.",
    ),
)
