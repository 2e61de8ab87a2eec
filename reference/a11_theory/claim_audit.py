"""Twelve claims about attention: proved, refuted, or a matter of experiment.

Source: Yun et al. (2020), "Are transformers universal approximators?"; Vaswani et al. (2017).
"""

import numpy as np

from autograder.exercise import Exercise, Labels, Witness
from reference.helpers import softmax

exercise = Exercise(
    "claim_audit",
    title="True, false, empirical",
    source="Vaswani et al. (2017); Yun et al. (2020)",
    minutes=40,
    hints=[
        "Ask of each claim what would settle it: a proof for all cases, one example against it, "
        "or many runs of training.",
        "With width 1 the scores are a multiplication table. Compute its rank, and that of its "
        "softmax, for a few queries and keys.",
        "For the scale try a right key that leads and one that lags. For ten layers look at the "
        "number by which a single one multiplies the gradient.",
    ],
)

claims = Labels(
    "T F E",
    wrong={
        "ranks_exchanged": (
            {"C1": "T", "C2": "F"},
            "C1 and C2: which of the two is a product of narrow matrices, which a function of it?",
        ),
        "rank_through_the_softmax": (
            {"C1": "T", "C2": "T"},
            "C1: does the bound on the rank survive the exponential?",
        ),
        "order_from_pooling": (
            {"C3": "T"},
            "C3: permute the input of a layer. What happens to its outputs, what to their mean?",
        ),
        "convexity_missed": (
            {"C4": "F"},
            "C4: what signs have the weights of a row, and what is their sum?",
        ),
        "tiles_save_work": (
            {"C5": "T"},
            "C5: tiles never store the whole matrix. How many of its entries are computed?",
        ),
        "observed_taken_for_proved": (
            {"C6": "T"},
            "C6: such heads were found in trained models. Is there a theorem that says so?",
        ),
        "scale_called_optimal": (
            {"C7": "T"},
            "C7: the scale keeps a variance at 1. Is that the same as the least loss, always?",
        ),
        "counts_differ": (
            {"C8": "F"},
            "C8: count both layers, with a width of d/h for each of the h heads.",
        ),
        "shortcut_guarantees": (
            {"C9": "T"},
            "C9: the Jacobian is I + J. Which J makes it small?",
        ),
        "stability_called_a_theorem": (
            {"C10": "T"},
            "C10: how would one find out? Nothing in the formula says so.",
        ),
        "levels_of_abstraction": (
            {"C11": "T"},
            "C11: how far does the first layer see, and what would a level be?",
        ),
        "experiment_for_all": (
            {"C7": "E"},
            "C7: it speaks of *no* other temperature and *ever*. What does one example do to that?",
        ),
        "doubted_without_proof": (
            {"C10": "F"},
            "C10: you call it refuted. By which proof, or by which example?",
        ),
        "levels_left_open": (
            {"C11": "E"},
            "C11: it says *each* and *exactly*. What can a single layer do that doesn't fit?",
        ),
        "offset_missed": (
            {"C12": "F"},
            "C12: what is the product of a rotation and the transpose of another one?",
        ),
    },
)


@exercise.part(points=3, answer=claims)
def labels():
    """T, F or E for each of the twelve claims."""
    return dict(zip((f"C{i}" for i in range(1, 13)), "FTFTFEFTFEFT", strict=True))


def table(array, *shape):
    """Return the array if it has this shape and its numbers are finite and not too large."""
    array = np.asarray(array, float)
    fits = array.shape == shape and np.isfinite(array).all() and np.abs(array).max() <= 100
    return array if fits else None


def ranks(pair):
    """Return what scores and weights of three queries and keys of width 1 show about the ranks."""
    if (pair := table(pair, 2, 3)) is None:
        return "no two rows of three numbers"
    scores = np.outer(*pair)
    stretch = np.linalg.svd(softmax(scores), compute_uv=False)
    if not pair.any(axis=1).all():
        return "zero scores"
    return "rank 1" if (stretch > 1e-9).sum() == 1 else "a larger rank"


@exercise.part(points=0.75, answer=Witness(ranks))
def rank_test():
    """Three queries and three keys of width 1 that refute C1 or C2, two rows of three numbers."""
    return np.array([[1, 2, 3], [1, 2, 3]])


@rank_test.alternative
def other_signs():
    """Queries of both signs."""
    return np.array([[-1, 0, 1], [2, 0, -2]])


@rank_test.alternative
def different_keys():
    """Queries and keys need not be alike."""
    return np.array([[0.5, -1, 2], [1, 0, 3]])


@rank_test.alternative
def only_two_different_queries():
    """A rank of 2 is more than 1 already."""
    return np.array([[1, 2, 2], [0, 1, 0]])


rank_test.mistakes(
    equal_queries=(
        np.array([[1, 1, 1], [1, 2, 3]]),
        "All rows of these weights are alike, so their rank is 1, within both bounds.",
    ),
    zero_queries_or_keys=(
        np.array([[0, 0, 0], [1, 2, 3]]),
        "These queries or keys vanish, so all scores are 0: no bound is exceeded.",
    ),
)


def better_scale(scores):
    """Return at which of two temperatures, 1 or √d_k = 2, the loss of key 0 is smaller."""
    if (scores := table(scores, 3)) is None:
        return "no three numbers"
    behind = scores[1:] - scores[0]
    sharp, scaled = (np.log1p(np.exp(behind / tau).sum()) for tau in (1, 2))
    if np.isclose(sharp, scaled, rtol=1e-12, atol=0):
        return "neither"
    return "without" if sharp < scaled else "with"


@exercise.part(points=0.5, answer=Witness(better_scale))
def scale_test():
    """Three scores q·k that refute C7, or three zeros if there are none."""
    return np.array([4, 0, 0])


@scale_test.alternative
def just_ahead():
    """Key 0 a little ahead of the others."""
    return np.array([1, 0.5, 0.5])


@scale_test.alternative
def negative_scores():
    """Only differences count."""
    return np.array([-1, -3, -2])


@scale_test.alternative
def ahead_of_one():
    """One of the others may be level."""
    return np.array([3, 3, 0])


@scale_test.alternative
def far_ahead():
    """Both losses are next to nothing, and yet one is the smaller one."""
    return np.array([100, 0, 0])


scale_test.mistakes(
    key_behind=(
        np.array([0, 4, 0]),
        "Key 0 lies behind here, and a wrong answer costs less if it is given with less certainty.",
    ),
    equal_scores=(
        np.zeros(3),
        "Equal scores refute nothing. Compare the losses where key 0 is far ahead of the others.",
    ),
)


def gradient(slope):
    """Return whether a gradient vanishes in ten layers x + a·x."""
    if (slope := table(slope)) is None:
        return "no number"
    if slope == 0:
        return "nothing added"
    factor = abs(1 + slope) ** 10
    return "vanishes" if factor < 1e-6 else "grows" if factor > 1 else "stays"


@exercise.part(points=0.5, answer=Witness(gradient))
def shortcut_test():
    """A number a that refutes C9, or 0 if there is none."""
    return -0.9


@shortcut_test.alternative
def exactly_minus_one():
    """The shortcut is cancelled."""
    return -1


@shortcut_test.alternative
def beyond_minus_one():
    """The sign of what is left doesn't matter."""
    return -1.2


@shortcut_test.alternative
def three_quarters_and_more():
    """Just enough."""
    return -0.76


shortcut_test.mistakes(
    shortcut_protects=(
        0,
        "There is such a number: the factor of a layer is 1 + a, and a may have either sign.",
    ),
    shortcut_grows=(0.5, "Here the gradient grows. Which 1 + a are small?"),
    too_little_taken_away=(-0.5, "Raise 1 + a to the tenth power: it isn't below one millionth."),
)


def offset(pairs):
    """Return whether two pairs of positions are given to refute C12."""
    return "some positions" if np.any(pairs) else "none"


@exercise.part(points=0.25, answer=Witness(offset))
def rotation_test():
    """Two pairs of positions (m, n) with the same difference that refute C12, or zeros."""
    return np.zeros((2, 2))


@rotation_test.alternative
def zeros_as_text():
    """Written as text."""
    return "0 0; 0 0"


@rotation_test.alternative
def zeros_as_lists():
    """Whole numbers in lists."""
    return [[0, 0], [0, 0]]


@rotation_test.alternative
def zeros_as_array():
    """Whole numbers in an array."""
    return np.zeros((2, 2), int)


@rotation_test.misconception()
def positions_themselves():
    """Rotate by the angles m and n: the product depends on m − n. No positions refute that."""
    return np.array([[1, 2], [3, 4]])


reasons_of = Labels(
    "A B C D E F G H",
    wrong={
        "reach_for_order": (
            {"C3": "F"},
            "C3: global reach doesn't help. Does anything in the layer know an order?",
        ),
        "memory_for_time": (
            {"C5": "G"},
            "C5: that is about memory. What about the time?",
        ),
        "seen_once_for_ever": (
            {"C6": "H"},
            "C6: initial weights say nothing about what training does with them.",
        ),
        "seeds_for_findings": (
            {"C6": "E"},
            "C6: which of the letters speaks of models that are trained already?",
        ),
        "findings_for_seeds": (
            {"C10": "D"},
            "C10: can stability be seen in a model that is trained already?",
        ),
        "count_by_experiment": ({"C8": "D"}, "C8: parameters can be counted."),
        "denominator_decides": (
            {"C10": "G"},
            "C10: less memory is no steadier training.",
        ),
        "levels_by_stacking": (
            {"C11": "H"},
            "C11: look at what the first layer can reach after training, too.",
        ),
    },
)


@exercise.part(points=1, answer=reasons_of)
def reasons():
    """What settles each of six claims, by its letter."""
    return {"C3": "B", "C5": "A", "C6": "D", "C8": "C", "C10": "E", "C11": "F"}
