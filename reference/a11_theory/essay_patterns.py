"""Essay: full, sparse or linear attention?

Source: Yun et al. (2020), "Are transformers universal approximators of sequence-to-sequence
functions?"; Zaheer et al. (2020), "Big Bird"; Katharopoulos et al. (2020).
"""

import numpy as np

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_patterns",
    title="Full, sparse, linear",
    source="Yun et al. (2020); Zaheer et al. (2020); Katharopoulos et al. (2020)",
    minutes=60,
    hints=[
        "Draw each pattern for eight tokens, and check your formula by counting. What is missing "
        "at the corners, and what would be counted twice?",
        "Follow one token: from whom has it heard after one layer, and after two? See for each "
        "pattern whether the circle keeps growing.",
        "For the essay write the weights of linear attention as a product of two matrices. What "
        "does that bound, and which tables of weights lie beyond?",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens, w: the window to each side, s: the stride, g: global tokens."""
    return {
        "n": int(rng.choice([512, 1024, 2048])),
        "w": int(rng.choice([16, 32, 64])),
        "s": int(rng.choice([16, 32, 64])),
        "g": int(rng.integers(2, 6)),
    }


def window(n, w):
    """Pairs at most w apart."""
    return n * (2 * w + 1) - w * (w + 1)


@exercise.part(points=1, answer=Count())
def edges(n, w, s, g):
    """Pairs of query and key that the full, window, stride, and window-and-global patterns have."""
    return [n * n, window(n, w), n * n // s, 2 * g * n - g * g + window(n - g, w)]


@edges.misconception()
def beyond_the_ends(n, w, s, g):
    """Near the two ends of the sequence a window is cut off."""
    return [n * n, n * (2 * w + 1), n * n // s, 2 * g * n - g * g + (n - g) * (2 * w + 1)]


@edges.misconception()
def window_never_cut_off(n, w, s, g):
    """Near the two ends of the sequence the window is cut off: your second number is too large."""
    return [n * n, n * (2 * w + 1), n * n // s, 2 * g * n - g * g + window(n - g, w)]


@edges.misconception()
def as_many_as_the_stride(n, w, s, g):
    """With the stride s a query sees every s-th key: how many are these?"""
    return [n * n, window(n, w), n * s, 2 * g * n - g * g + window(n - g, w)]


@edges.misconception()
def counted_twice(n, w, s, g):
    """Some pairs of the last pattern are in its window and in a global row or column, too."""
    return [n * n, window(n, w), n * n // s, 2 * g * n + window(n, w)]


@edges.misconception()
def overlap_with_the_window(n, w, s, g):
    """Some pairs of global tokens are in the window as well. No pair counts twice."""
    return [n * n, window(n, w), n * n // s, 2 * g * n - g * g + window(n, w)]


@edges.misconception()
def global_rows_only(n, w, s, g):
    """A global token attends to all, and all attend to it."""
    return [n * n, window(n, w), n * n // s, g * n + window(n - g, w)]


@edges.misconception()
def one_sided_window(n, w, s, g):
    """The window reaches to both sides."""

    def past(n):
        return n * (w + 1) - w * (w + 1) // 2

    return [n * n, past(n), n * n // s, 2 * g * n - g * g + past(n - g)]


@exercise.part(points=1, answer=Count())
def layers(n, w):
    """The layers until every token can depend on every other one; −1 where they never do."""
    return [1, -(-(n - 1) // w), -1, 2]


@layers.misconception()
def whole_window_each_layer(n, w):
    """With every layer the reach grows by the window on one side, not by both sides together."""
    return [1, -(-(n - 1) // (2 * w)), -1, 2]


@layers.misconception()
def logarithm(n, w):
    """A reach grows by a fixed number of tokens with every layer: it is not multiplied."""
    return [1, int(np.log2(n)), -1, 2]


@layers.misconception()
def stride_reaches_all(n, w, s):
    """With the stride, which tokens can the first one reach at all, in however many steps?"""
    return [1, -(-(n - 1) // w), s, 2]


@layers.misconception()
def global_in_one(n, w):
    """Two tokens that are not global have no edge between them: what comes takes a way round."""
    return [1, -(-(n - 1) // w), -1, 1]


@exercise.part(points=8, answer=Essay())
def essay():
    """When may full attention be replaced by a sparse or a linear one, and what is lost?

    (1) 2 points. The approximation theorem with its conditions: continuous maps, compact domain,
    fixed n, positions (without them only equivariant maps). It says nothing about training or size.

    (2) 2 points. For a sparse pattern the union over layers must let every token reach every other
    one; a diameter of O(log n) is not required. One global token gives 2 layers; a window alone
    takes (n − 1)/w; a stride alone never does. With the essay's own numbers.

    (3) 2 points. Linear attention with D = 64 features: its n × n weights have rank at most 64.

    (4) 2 points. A task that separates them, with the reason: retrieval, where every query needs
    another key, takes weights near a permutation, of rank n.
    """
    return (
        "That transformers approximate every map of sequences is a theorem with conditions: the "
        "map is continuous, its domain compact, n fixed, and tokens carry positions; without "
        "positions all that attention computes is equivariant. Nothing is said about how large "
        "the model must be or whether training finds it. The theorem was carried over to sparse "
        "patterns in which every token can reach every other one through the layers. A diameter "
        "of O(log n) is not needed: with my window alone it takes (n − 1)/w layers, dozens of "
        "them, and still works in the end, while a single global token brings it down to 2 with a "
        "few per cent of the n² pairs. A stride alone never does, since tokens of different "
        "remainders never meet. Reach is necessary, not sufficient: what passes through one "
        "global token must fit into its vector. Linear attention is another restriction. Its "
        "weights are φ(Q)φ(K)ᵀ with rows rescaled, so with D = 64 features their rank is at most "
        "64 for any n. Softmax has no such bound: the exponential acts entry by entry. Retrieval "
        "separates them: if each of n = 1024 queries has to fetch another value, the weights must "
        "be near a permutation, which has rank 1024. Sharp softmax attention does that, a window "
        "does it for near keys only, and 64 features can't. For summaries or local structure the "
        "cheap variants may be enough; that has to be measured."
    )


@essay.sample(points=5)
def without_conditions():
    """(1) 0, (2) 2, (3) 2, (4) 1.

    (1): any function, without conditions. (2): reach with numbers. (4): the task is named, the
    reason isn't.
    """
    return (
        "Transformers can approximate any function. Sparse attention can too, if information gets "
        "everywhere: in my numbers a window of 32 needs 32 layers for n = 1024, with two global "
        "tokens it is 2 layers, and the stride by itself never connects tokens of different "
        "remainders, so it must be combined with a window. The window with global tokens has "
        "69,466 pairs instead of a million. Linear attention writes the weights as φ(Q)φ(K)ᵀ with "
        "64 columns, so the rank is at most 64, whatever n is. It will be worse at looking things "
        "up in a long text."
    )


@essay.sample(points=3)
def diameter_needed():
    """(1) 1, (2) 1, (3) 0, (4) 1.

    (1): positions are named, nothing else. (2): layers are right, O(log n) is demanded. (3): speed
    only. (4): retrieval, without a reason.
    """
    return (
        "With position encodings transformers are universal. Sparse attention stays universal "
        "only if the graph has a diameter of O(log n), which a window of 32 does not have since "
        "it needs 32 layers; with global tokens it is 2 layers. Linear attention takes O(n) "
        "instead of O(n²), so for long sequences it is always the better choice. Only for "
        "retrieval I would keep full attention."
    )
