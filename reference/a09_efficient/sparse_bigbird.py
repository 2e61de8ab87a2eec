"""Random keys beside a window and global tokens.

Source: Zaheer et al. (2020), "Big Bird: Transformers for longer sequences", section 2.
"""

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from autograder.exercise import Count, Exercise, Formula, Numbers, agree, require, seeded
from autograder.exercise.properties import worked
from reference.helpers import global_mask, layers_to_reach

exercise = Exercise(
    "sparse_bigbird",
    title="Some keys by chance",
    source="Zaheer et al. (2020), section 2",
    minutes=40,
    hints=[
        "The mask is a union: begin with the window, open rows and columns for the global "
        "tokens, then let one query after the other draw its keys.",
        "For the layers let a function count where chance plays a part. For the window alone "
        "ask which two tokens have the longest way.",
        "What is the chance that one query misses a given token, and how many queries might "
        "have seen it? Then let n grow.",
    ],
)
local_mask = exercise.carries("a09_efficient/sparse_local", "local_mask")

SIZES = {64: 320, 256: 80, 1024: 20}  # tokens, and graphs over which a share is averaged
BAND = 0.007  # five standard deviations of that average: 0.00140 at most


@exercise.variant
def draw(rng):
    """seed: for the random keys."""
    return {"seed": int(rng.integers(1, 10_000))}


@exercise.reference
def bigbird_mask(n: int, w: int, g: int, r: int, rng: np.random.Generator) -> Bool[ndarray, "n n"]:
    """Return window, the first g tokens as global ones, and r random keys for each query."""
    mask = local_mask(n, w) | global_mask(n, np.arange(g))
    for i in range(n):
        mask[i, rng.choice(n, r, replace=False)] = True
    return mask


@exercise.alternative
def random_keys_first(n, w, g, r, rng):
    """Draw all keys, then fill in the three patterns."""
    keys = np.array([rng.choice(n, size=r, replace=False) for _ in range(n)], dtype=int)
    mask = np.zeros((n, n), dtype=bool)
    np.put_along_axis(mask, keys.reshape(n, r), True, axis=1)
    mask[:g, :] = True
    mask[:, :g] = True
    return mask | local_mask(n, w)


@exercise.alternative
def row_by_row(n, w, g, r, rng):
    """Build one row after the other."""
    rows = []
    for i in range(n):
        chosen = set(rng.choice(n, r, replace=False).tolist())
        rows.append([abs(i - j) <= w or i < g or j < g or j in chosen for j in range(n)])
    return np.array(rows)


@exercise.alternative
def as_a_list_of_pairs(n, w, g, r, rng):
    """Scatter pairs of query and key."""
    mask = abs(np.subtract.outer(np.arange(n), np.arange(n))) <= w
    query = np.repeat(np.arange(n), r)
    key = np.concatenate([rng.choice(n, r, replace=False) for _ in range(n)])
    mask[query, key.astype(int)] = True
    mask[:g] = mask[:, :g] = True
    return mask


def mask_of(call, *sizes, seed=0):
    """The answer by what counts as true: its type is asked for elsewhere."""
    n = sizes[0]
    mask = np.asarray(call(*sizes, seeded(seed)))
    require(mask.shape == (n, n), f"the mask for {n} tokens has shape {mask.shape}")
    return mask != 0


@exercise.check(points=1, visible=True)
def window_and_global_tokens(call, rng):
    """Without random keys it is the window and the rows and columns of the first g tokens."""
    for n, w, g in ((10, 2, 2), (9, 3, 0)):
        agree(mask_of(call, n, w, g, 0), local_mask(n, w) | global_mask(n, np.arange(g)))


@exercise.check(points=0.5)
def true_and_false(call, rng):
    """The mask is an array of True and False, whatever overlaps."""
    mask = np.asarray(call(9, 1, 1, 2, seeded(1)))
    require(mask.dtype == bool, f"the mask has dtype {mask.dtype}; bool was expected")
    require(mask.shape == (9, 9), "the mask has a row and a column for each token")
    worked(mask, what="the mask")


@exercise.check(points=0.75)
def keys_for_each_query(call, rng):
    """Each query has r different random keys, other ones than the next, other ones by each seed."""
    n, r = 40, 5
    masks = [mask_of(call, n, 0, 0, r, seed=seed) for seed in (3, 4)]
    for mask in masks:
        others = (mask & ~np.eye(n, dtype=bool)).sum(axis=1)
        require(set(others.tolist()) <= {r - 1, r}, "the queries do not have r random keys each")
        require(len({tuple(row) for row in mask}) > n // 2, "the queries share their random keys")
    require((masks[0] != masks[1]).any(), "another seed gives the same keys")


@exercise.check(points=0.75)
def drawn_as_described(call, rng):
    """The keys are those that rng.choice gives, one query after the other from the first one."""
    seed = int(rng.integers(1000))
    for sizes in ((20, 1, 2, 3), (15, 0, 0, 4)):
        agree(mask_of(call, *sizes, seed=seed), bigbird_mask(*sizes, np.random.default_rng(seed)))


@exercise.misconception(credit=0.3)
def same_keys_for_all(n, w, g, r, rng):
    """All queries got the same random keys. Draw anew for each of them."""
    mask = local_mask(n, w) | global_mask(n, np.arange(g))
    mask[:, rng.choice(n, r, replace=False)] = True
    return mask


@exercise.misconception(credit=0.3)
def with_replacement(n, w, g, r, rng):
    """Some queries drew a key twice: draw without replacement."""
    mask = local_mask(n, w) | global_mask(n, np.arange(g))
    for i in range(n):
        mask[i, rng.choice(n, r)] = True
    return mask


@exercise.misconception(credit=0.3)
def made_mutual(n, w, g, r, rng):
    """You made random pairs mutual. A key need not see the query that drew it."""
    mask = bigbird_mask(n, w, g, r, rng)
    return mask | mask.T


@exercise.misconception(credit=0.3)
def keys_drawn_by_columns(n, w, g, r, rng):
    """You drew r queries for each key. Rows are queries: each of them draws keys."""
    return bigbird_mask(n, w, g, r, rng).T


@exercise.misconception(credit=0.5)
def global_rows_alone(n, w, g, r, rng):
    """Your global tokens see all, but are not seen by all."""
    mask = bigbird_mask(n, w, 0, r, rng)
    mask[:g] = True
    return mask


@exercise.misconception(credit=0.5)
def seed_of_its_own(n, w, g, r, rng):
    """You made a generator of your own. The keys come from the one that is passed."""
    return bigbird_mask(n, w, g, r, np.random.default_rng(0))


@exercise.misconception(credit=0.5)
def window_missing(n, w, g, r, rng):
    """The window is missing."""
    return bigbird_mask(n, -1, g, r, rng) | np.eye(n, dtype=bool)


@exercise.misconception(credit=0.5)
def ends_left_out(n, w, g, r, rng):
    """Keys exactly w away belong to the window."""
    return bigbird_mask(n, w - 1, g, r, rng) | np.eye(n, dtype=bool)


@exercise.misconception(credit=0.5)
def global_columns_alone(n, w, g, r, rng):
    """All see your global tokens, but those don't see all."""
    mask = bigbird_mask(n, w, 0, r, rng)
    mask[:, :g] = True
    return mask


@exercise.misconception
def patterns_added(n, w, g, r, rng):
    """You added the patterns: where they overlap stands 2 or 3. A pair is allowed or it isn't."""
    drawn = bigbird_mask(n, -1, 0, r, rng)
    return local_mask(n, w) + global_mask(n, np.arange(g)).astype(int) + drawn


@exercise.part(points=0.5, answer=Count())
def edges(bigbird_mask, seed):
    """The allowed pairs for n = 64, w = 1, g = 2, r = 3 and your seed."""
    return int(np.sum(bigbird_mask(64, 1, 2, 3, seeded(seed))))


@edges.misconception()
def overlaps_counted_twice(seed):
    """You added the pairs of the three patterns. Some are in two of them."""
    return int(local_mask(64, 1).sum() + global_mask(64, [0, 1]).sum() + 3 * 64)


@edges.misconception()
def edges_without_chance():
    """These are the pairs of window and global tokens."""
    return int((local_mask(64, 1) | global_mask(64, [0, 1])).sum())


@exercise.part(points=0.5, answer=Count())
def bound():
    """The bound n(2w + 1 + r + g) + g n for them."""
    return 64 * (3 + 3 + 2) + 2 * 64


bound.mistakes(
    bound_of_the_queries=(64 * (3 + 3 + 2), "The global tokens' own rows are missing: g n more."),
    window_on_one_side=(
        64 * (2 + 3 + 2) + 2 * 64,
        "A window of w reaches to both sides, so it holds 2w + 1 keys.",
    ),
)


@exercise.part(points=2, answer=Count())
def layers(bigbird_mask, seed):
    """Layers to reach everyone: this mask; the same without global tokens; the window alone."""
    masks = [bigbird_mask(64, 1, g, 3, seeded(seed)) for g in (2, 0)]
    return [*(layers_to_reach(np.asarray(mask) != 0) for mask in masks), 63]


@layers.misconception(credit=0.5)
def logarithm_with_a_global_token(bigbird_mask, seed):
    """Through a global token two layers are enough, whatever n is."""
    return [6, *layers.compute(bigbird_mask, seed)[1:]]


@layers.misconception(credit=0.5)
def window_from_the_middle(bigbird_mask, seed):
    """You started in the middle. The two ends are the farthest apart."""
    return [*layers.compute(bigbird_mask, seed)[:2], 32]


@layers.misconception(credit=0.5)
def tokens_for_steps(bigbird_mask, seed):
    """From the first token to the last of 64 it is one step fewer than there are tokens."""
    return [*layers.compute(bigbird_mask, seed)[:2], 64]


@layers.misconception(credit=0.5)
def random_keys_as_good(seed):
    """Random keys shorten the way a good deal, but not to two layers."""
    return [2, 2, 63]


@exercise.part(points=0.5, answer=Numbers(tolerance=BAND))
def unattended():
    """The share of tokens that nobody else attends to, for n = 64, 256, 1024 and three keys."""
    return np.array([(1 - 3 / n) ** (n - 1) for n in SIZES])


@unattended.misconception()
def attended():
    """That is the share of tokens to which somebody attends."""
    return 1 - unattended.compute()


@unattended.misconception()
def numbers_of_tokens():
    """These are numbers of tokens. A share is divided by n."""
    return unattended.compute() * np.array(list(SIZES))


unattended.mistakes(
    one_key_each=(
        np.array([(1 - 1 / n) ** (n - 1) for n in SIZES]),
        "That is what one random key gives. Each query has three.",
    ),
    two_keys_each=(
        np.array([(1 - 2 / n) ** (n - 1) for n in SIZES]),
        "That is what two random keys give. Each query has three.",
    ),
    queries_without_keys=(
        np.zeros(3),
        "You looked along rows: every query has its keys. Who is seen stands in the columns.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Formula("r", practice=("The limit of (1 − r/n)^(2n) for n → ∞.", "exp(-2*r)")),
)
def limit():
    """The share to which it tends for n → ∞ with r keys, as a formula."""
    return "exp(-r)"


limit.mistakes(
    attended_in_the_limit=("1 - exp(-r)", "That is the share of tokens to which somebody attends."),
    vanishes=("0", "With more tokens there are more queries, but each key is drawn less often."),
    limit_for_one_key=("exp(-1)", "That is what one random key gives. Each query has r of them."),
    reciprocal=("1/r", "The limit of (1 − r/n)ⁿ is no fraction in r."),
    sign_lost=("exp(r)", "A share is at most 1."),
)
