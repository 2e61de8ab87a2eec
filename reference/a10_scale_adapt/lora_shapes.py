"""Shapes and counts of a low-rank update.

Source: Hu et al. (2022), "LoRA: Low-rank adaptation of large language models", section 4.1.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers, Shape

exercise = Exercise(
    "lora_shapes",
    title="Two thin matrices",
    source="Hu et al. (2022), section 4.1",
    minutes=20,
    hints=[
        "A product has the rows of its left factor and the columns of its right one. What do "
        "the two factors share?",
        "For the largest rank write the condition as an inequality in r, and round to the side "
        "on which it still holds.",
    ],
)


@exercise.variant
def draw(rng):
    """d, D: a smaller and a larger width; r, R: a smaller and a larger rank."""
    return {
        "d": int(rng.choice([384, 512, 640, 768, 1024])),
        "D": int(rng.choice([2048, 2560, 3072, 4096, 5120])),
        "r": int(rng.choice([4, 6, 8, 12])),
        "R": int(rng.choice([32, 48, 64])),
    }


@exercise.part(points=1, answer=Shape(names="d r"))
def factors():
    """The shapes of B and A for ΔW of shape (4d, d) and rank r."""
    return {"B": ("4*d", "r"), "A": ("r", "d")}


factors.mistakes(
    both_transposed=(
        {"B": ("r", "4*d"), "A": ("d", "r")},
        "Then B A would have no shape at all. Which axis of ΔW does B bring?",
    ),
    ends_exchanged=(
        {"B": ("d", "r"), "A": ("r", "4*d")},
        "The rows of ΔW are as many as the outputs: that axis is B's, and the inputs' is A's.",
    ),
    names_exchanged=(
        {"B": ("r", "d"), "A": ("4*d", "r")},
        "These are the shapes of factors in A B. Here the product is B A.",
    ),
    B_is_not_thin=({"B": ("4*d", "d"), "A": ("r", "d")}, "B is thin: its other axis is the rank."),
    A_transposed=(
        {"B": ("4*d", "r"), "A": ("d", "r")},
        "That is the shape of A in the product B Aᵀ. Here the product is B A.",
    ),
)


@exercise.part(points=2, answer=Count())
def counts(d, D, r, R):
    """Numbers: of a d × d matrix, of its factors; of D × D, with R; of the factors of (4d, d)."""
    return [d * d, 2 * d * r, D * D, 2 * D * R, r * (d + 4 * d)]


@counts.misconception()
def one_factor(d, D, r, R):
    """You counted one of the two factors."""
    return [d * d, d * r, D * D, D * R, r * 4 * d]


@counts.misconception()
def rank_squared(d, D, r, R):
    """There is no r × r matrix between the factors."""
    return [d * d, 2 * d * r + r * r, D * D, 2 * D * R + R * R, r * 5 * d + r * r]


@counts.misconception()
def factors_multiplied(d, D, r, R):
    """Two matrices are stored: their numbers are added."""
    return [d * d, (d * r) ** 2, D * D, (D * R) ** 2, 4 * (d * r) ** 2]


@counts.misconception()
def rectangle_as_square(d, D, r, R):
    """The last matrix isn't square: one factor is as wide as the input, one as the output."""
    return [d * d, 2 * d * r, D * D, 2 * D * R, 2 * r * d]


@counts.misconception()
def as_wide_as_high(d, D, r, R):
    """In the last one B alone is 4d high: A is as wide as the input."""
    return [d * d, 2 * d * r, D * D, 2 * D * R, 2 * r * 4 * d]


@exercise.part(points=1, answer=Numbers())
def ratios(d, D, r, R):
    """Factors / full matrix for (d, r), (d, R), (D, r), (D, R)."""
    return np.array([2 * rank / width for width in (d, D) for rank in (r, R)])


@ratios.misconception()
def ratios_of_one_factor(d, D, r, R):
    """You counted one of the two factors."""
    return np.array([rank / width for width in (d, D) for rank in (r, R)])


@ratios.misconception()
def ratios_inverted(d, D, r, R):
    """The factors are the smaller number: divide it by the larger one."""
    return np.array([width / (2 * rank) for width in (d, D) for rank in (r, R)])


@ratios.misconception()
def ratios_of_what_is_saved(d, D, r, R):
    """That is the part that is saved."""
    return 1 - np.array([2 * rank / width for width in (d, D) for rank in (r, R)])


@exercise.part(points=0.5, answer=Numbers())
def reduction(ratios):
    """The share of parameters that is saved for (d, R)."""
    return 1 - ratios[1]


@reduction.misconception()
def share_kept(ratios):
    """That is the share that is left to train."""
    return ratios[1]


@reduction.misconception()
def another_pair(ratios):
    """That is the reduction for the small rank."""
    return 1 - ratios[0]


@exercise.part(points=0.5, answer=Count())
def ranks(d, D):
    """The largest rank that saves at least 90 % for a d × d and for a D × D matrix."""
    return [d // 20, D // 20]


@ranks.misconception()
def ranks_of_one_factor(d, D):
    """There are two factors: 2 r/d is what has to be at most a tenth."""
    return [d // 10, D // 10]


@ranks.misconception(credit=0.5)
def ranks_not_rounded_down(d, D):
    """You rounded up: with that rank a little less than 90 % is saved."""
    return [-(-d // 20), -(-D // 20)]


@ranks.misconception()
def ranks_rounded_up(d, D):
    """With these ranks less than 90 % is saved. The quotient is rounded down."""
    return [-(-d // 20) + (d % 20 == 0), -(-D // 20) + (D % 20 == 0)]
