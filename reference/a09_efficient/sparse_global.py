"""A window and some tokens that see all and are seen by all.

Source: Beltagy, Peters & Cohan (2020), "Longformer: The long-document transformer", section 3.1.
"""

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from autograder.exercise import Count, Exercise, Formula, agree, require
from autograder.exercise.properties import worked
from reference.helpers import global_mask

exercise = Exercise(
    "sparse_global",
    title="Window plus global tokens",
    source="Beltagy et al. (2020), section 3.1",
    minutes=30,
    hints=[
        "Begin with the window's mask, then open whole rows and whole columns. An array of "
        "positions can be used as an index, empty or not.",
        "Count every pair once: split them into those with a global token and those without. "
        "What does the window still add to the second kind?",
    ],
)
local_mask = exercise.carries("a09_efficient/sparse_local", "local_mask")


@exercise.variant
def draw(rng):
    """n: tokens; w: how far a query sees to each side; g: global tokens, the first ones."""
    w, g = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    return {"n": int(rng.integers(8, 17)), "w": w, "g": g}


@exercise.reference
def longformer_mask(n: int, w: int, global_idx: Int[ndarray, " g"]) -> Bool[ndarray, "n n"]:
    """Return True within the window, and in the rows and columns of the global tokens."""
    return local_mask(n, w) | global_mask(n, global_idx)


@exercise.alternative
def rows_and_columns_set(n, w, global_idx):
    """Begin with the window, then open rows and columns."""
    mask = local_mask(n, w)
    mask[global_idx] = True
    mask[:, global_idx] = True
    return mask


@exercise.alternative
def token_by_token(n, w, global_idx):
    """Ask each pair."""
    chosen = {int(token) for token in global_idx}
    pairs = [[abs(i - j) <= w or i in chosen or j in chosen for j in range(n)] for i in range(n)]
    return np.array(pairs, dtype=bool)


@exercise.alternative
def by_maxima(n, w, global_idx):
    """The union of three patterns of 1 and 0."""
    band = np.tri(n, k=w) - np.tri(n, k=-w - 1)
    chosen = np.zeros(n)
    for token in global_idx:
        chosen[token] = 1
    return np.maximum(np.maximum(band, chosen), chosen[:, None]) == 1


def mask_of(call, n, w, tokens):
    """The answer by what counts as true: its type is asked for elsewhere."""
    mask = np.asarray(call(n, w, np.array(tokens, dtype=int)))
    require(mask.shape == (n, n), f"the mask for {n} tokens has shape {mask.shape}")
    return mask != 0


@exercise.check(points=0.75, visible=True)
def union_of_three_patterns(call, rng):
    """True within the window, for global queries and for global keys."""
    agree(mask_of(call, 9, 2, [0, 1]), longformer_mask(9, 2, [0, 1]))


@exercise.check(points=0.5)
def anywhere_in_the_text(call, rng):
    """Global tokens may stand in the middle or at the end, and be named twice."""
    n = int(rng.integers(10, 14))
    for tokens in ([n // 2], [n - 1, 4], [5, 5, 0]):
        agree(mask_of(call, n, 2, tokens), longformer_mask(n, 2, tokens))


@exercise.check(points=0.25)
def no_global_token(call, rng):
    """Without a global token the window is left."""
    agree(mask_of(call, 8, 2, []), local_mask(8, 2))


@exercise.check(points=0.5)
def true_and_false(call, rng):
    """The mask holds True and False, whatever overlaps."""
    mask = np.asarray(call(8, 1, np.array([3])))
    require(mask.dtype == bool, f"the mask has dtype {mask.dtype}; bool was expected")
    require(mask.shape == (8, 8), "the mask has a row and a column for each token")
    worked(mask, what="the mask")


@exercise.misconception(credit=0.5)
def global_queries_alone(n, w, global_idx):
    """Your global tokens see all, but are not seen by all: open their columns, too."""
    mask = local_mask(n, w)
    mask[np.asarray(global_idx, dtype=int)] = True
    return mask


@exercise.misconception(credit=0.5)
def global_keys_alone(n, w, global_idx):
    """All see your global tokens, but those don't see all: open their rows, too."""
    mask = local_mask(n, w)
    mask[:, np.asarray(global_idx, dtype=int)] = True
    return mask


@exercise.misconception
def patterns_added(n, w, global_idx):
    """You added the patterns: where they overlap stands 2 or 3. A pair is allowed or it isn't."""
    chosen = np.isin(np.arange(n), global_idx).astype(int)
    return local_mask(n, w).astype(int) + chosen + chosen[:, None]


@exercise.misconception
def first_tokens_taken(n, w, global_idx):
    """You took the first tokens. Which ones are global is said by global_idx."""
    return longformer_mask(n, w, np.arange(len(set(np.asarray(global_idx).tolist()))))


@exercise.misconception(credit=0.5)
def window_forgotten(n, w, global_idx):
    """The window is missing."""
    return global_mask(n, global_idx) | np.eye(n, dtype=bool)


@exercise.misconception(credit=0.5)
def ends_left_out(n, w, global_idx):
    """Keys exactly w away belong to the window."""
    return local_mask(n, max(w - 1, 0)) | global_mask(n, global_idx)


@exercise.misconception(credit=0.5)
def global_pairs_alone(n, w, global_idx):
    """In yours global tokens see each other only. All tokens see them, and they see all."""
    chosen = np.isin(np.arange(n), global_idx)
    return local_mask(n, w) | (chosen & chosen[:, None])


@exercise.misconception(credit=0.5)
def exclusive(n, w, global_idx):
    """Where window and global pattern overlap, yours is False. Either of them is enough."""
    return local_mask(n, w) ^ global_mask(n, global_idx)


@exercise.part(
    points=2,
    answer=Formula(
        "n w g",
        practice=(
            (
                "The allowed pairs if the first g of n tokens are global, and "
                "the others see themselves."
            ),
            "2*g*n - g^2 + n - g",
        ),
    ),
)
def edges():
    """The allowed pairs, if the first g of n tokens are global."""
    return "2*g*n - g**2 + (n - g)*(2*w + 1) - w*(w + 1)"


@edges.alternative
def window_of_the_rest():
    """All pairs with a global token, and a window over the others."""
    return "n^2 - (n - g)^2 + (n - g)*(2*w + 1) - w^2 - w"


edges.mistakes(
    overlaps_counted_twice=(
        "2*g*n + n*(2*w + 1) - w*(w + 1)",
        "You added the pairs of the window and of the global tokens. Some are in both.",
        0.3,
    ),
    corner_counted_twice=(
        "2*g*n + (n - g)*(2*w + 1) - w*(w + 1)",
        "Pairs of two global tokens stand in a row and in a column: you counted them twice.",
        0.5,
    ),
    corner_forgotten=(
        "2*g*(n - g) + (n - g)*(2*w + 1) - w*(w + 1)",
        "Pairs of two global tokens are missing: you took both rows and columns without them.",
        0.5,
    ),
    rows_added_to_the_window=(
        "g*n + n*(2*w + 1) - w*(w + 1)",
        "You added rows of global tokens to the whole window. As columns these tokens count, too.",
    ),
    global_rows_only=(
        "g*n + (n - g)*(2*w + 1) - w*(w + 1)",
        "You counted what global tokens see. Being seen counts as well.",
        0.5,
    ),
    window_not_shortened=(
        "2*g*n - g**2 + n*(2*w + 1) - w*(w + 1)",
        "Only the other tokens add a window: it is shorter by g.",
        0.5,
    ),
    ends_of_the_window=(
        "2*g*n - g**2 + (n - g)*(2*w + 1)",
        "The window of the other tokens is cut off at both of its ends.",
        0.5,
    ),
)


def pairs(n, w, g):
    """Count the allowed pairs."""
    return int(longformer_mask(n, w, np.arange(g)).sum())


@exercise.part(points=0.5, answer=Count())
def count(edges, n, w, g):
    """The allowed pairs for your numbers."""
    return edges(n=n, w=w, g=g)


@count.alternative
def counted_in_the_mask(longformer_mask, n, w, g):
    """Add up the mask itself."""
    return int(np.sum(longformer_mask(n, w, np.arange(g))))


@count.misconception()
def count_with_overlaps(n, w, g):
    """You counted pairs twice that are in the window and in the global pattern."""
    return int(local_mask(n, w).sum()) + 2 * g * n


@count.misconception()
def shared_pairs_taken_off_twice(n, w, g):
    """You took what window and global columns share off twice. Each pair counts once."""
    shared = int(local_mask(n, w)[g:, :g].sum())
    return pairs(n, w, g) - shared


@count.misconception()
def columns_taken_off_once_more(n, w, g):
    """You took what window and global columns share off twice. Each pair counts once."""
    return pairs(n, w, g) - int(local_mask(n, w)[:, :g].sum())


@count.misconception()
def windows_of_global_tokens(n, w, g):
    """Global tokens see all already: only the window of the other tokens adds pairs."""
    return int(local_mask(n, w).sum()) + 2 * g * n - g * g


@count.misconception()
def count_of_rows(n, w, g):
    """You counted global queries or global keys, not both: they see all, and all see them."""
    return int(global_queries_alone.compute(n, w, np.arange(g)).sum())


@exercise.part(points=0.5, answer=Count())
def long_count(edges):
    """The allowed pairs for n = 4096, w = 256 and two global tokens."""
    return edges(n=4096, w=256, g=2)


@long_count.alternative
def counted_in_masks(longformer_mask):
    """Add up masks: behind the window's length each further token adds as many pairs."""
    short, longer = (int(np.sum(longformer_mask(n, 256, np.arange(2)))) for n in (600, 601))
    return short + (4096 - 600) * (longer - short)


long_count.mistakes(
    long_count_with_overlaps=(
        4096 * 513 - 256 * 257 + 4 * 4096,
        "You counted pairs twice that are in the window and in the global pattern.",
    ),
    window_only=(4096 * 513 - 256 * 257, "These are the pairs of the window."),
)
