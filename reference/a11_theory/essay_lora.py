"""Essay: when is a low-rank update enough?

Source: Eckart and Young (1936), "The approximation of one matrix by another of lower rank"; Hu et
al. (2022), "LoRA"; Aghajanyan et al. (2021), "Intrinsic dimensionality explains the effectiveness
of language model fine-tuning".
"""

import numpy as np

from autograder.exercise import Essay, Exercise, Numbers

exercise = Exercise(
    "essay_lora",
    title="Low-rank adaptation",
    source="Eckart and Young (1936); Hu et al. (2022); Aghajanyan et al. (2021)",
    minutes=60,
    hints=[
        "Which singular values does the best matrix of that rank keep, by Eckart and Young? The "
        "error and the whole norm are made of the others, and of all.",
        "An identity has singular values, too: how many are there, and how large are they?",
        "For the essay compare your two errors: what in a spectrum makes a small rank enough? And "
        "what do you know of that spectrum before you have trained?",
    ],
)


@exercise.variant
def draw(rng):
    """s: the singular values of an update, d: the size of an identity, r: a rank below d."""
    s = np.sort(rng.choice([0.5, 1, 1.5, 2, 3, 4, 5, 6], 4, replace=False))[::-1]
    d = int(rng.choice([64, 128, 256, 512]))
    return {"s": s, "d": d, "r": d * int(rng.choice([1, 2, 3, 5, 6])) // 8}


@exercise.part(points=0.5, answer=Numbers())
def rank_two(s):
    """The smallest relative Frobenius error of a rank-2 approximation of the update."""
    return np.sqrt(np.sum(s[2:] ** 2) / np.sum(s**2))


@rank_two.misconception()
def share_of_squares(s):
    """That is the share of the squares. A norm is their root."""
    return np.sum(s[2:] ** 2) / np.sum(s**2)


@rank_two.misconception()
def not_relative(s):
    """That is the error itself. Divide it by the norm of the update."""
    return np.sqrt(np.sum(s[2:] ** 2))


@rank_two.misconception()
def sums_of_values(s):
    """The Frobenius norm adds squares of singular values."""
    return np.sum(s[2:]) / np.sum(s)


@rank_two.misconception()
def what_is_kept(s):
    """That is the norm of what is kept. What is lost?"""
    return np.sqrt(np.sum(s[:2] ** 2) / np.sum(s**2))


@rank_two.misconception()
def largest_ratio(s):
    """That is the error in the spectral norm, which looks at the largest lost value alone."""
    return s[2] / s[0]


@exercise.part(points=0.5, answer=Numbers())
def of_identity(d, r):
    """The same for the d × d identity and rank r."""
    return np.sqrt(1 - r / d)


@of_identity.misconception()
def lost_share(d, r):
    """That is the share of singular values that are lost. A norm is a root."""
    return 1 - r / d


@of_identity.misconception()
def kept_part(d, r):
    """That is the norm of what is kept. What is lost?"""
    return np.sqrt(r / d)


@of_identity.misconception()
def lost_norm(d, r):
    """That is the error itself. Divide it by the norm of the identity."""
    return np.sqrt(d - r)


@exercise.part(points=8, answer=Essay())
def essay():
    """When is an update of low rank enough, and how would you choose the rank?

    (1) 2 points. Exact if the rank is at least that of the wanted update; else the best error is
    √(Σ_{i>r} σ_i² / Σ σ_i²), by Eckart and Young. With the essay's own numbers.

    (2) 2 points. Stable rank and entropy rank summarise a spectrum; choosing r by them is a
    heuristic.

    (3) 2 points. No theorem makes a rank of O(log d) enough: log₂ 768 = 9.58 is near usual ranks by
    coincidence.

    (4) 2 points. When the update isn't of low rank, with a reason or an example: a new language or
    domain, long further training, an update like the identity; measured by raising r.
    """
    return (
        "An update BA has rank at most r. If the update that full training would find has rank r "
        "or less it can be matched exactly; otherwise the best approximation keeps the r largest "
        "singular values, and what is lost, relative to the norm, is the root of the lost squares "
        "over all squares. In my example two of four directions leave a small error, because the "
        "values fall quickly. For the identity nothing falls: even rank d/2 loses 71 %. So it is "
        "the spectrum that decides, not the size of the matrix. And the theorem is about "
        "approximating a given matrix: that training by gradients finds the best factors, and "
        "that a small error in the weights is a small loss in quality, it doesn't say. Stable "
        "rank, ‖W‖_F²/σ₁², and the exponential of the entropy of the normalised spectrum say how "
        "many directions carry weight. Setting r to one of them is a heuristic, and it takes the "
        "full update, which one wanted to avoid. I know of no theorem that a rank of order log d "
        "is enough. log₂ 768 = 9.58 lies near the ranks 8 and 16 that work in practice, but the "
        "identity of size 768 shows that no rank far below d does for every update. That "
        "fine-tuning often needs few directions is observed. It is likely to fail where much "
        "changes: a new language, a domain with new facts, long further training. I would begin "
        "with r = 8 for the attention's projections, double it, and compare losses on held-out "
        "data, with full fine-tuning of a small model beside it. If each doubling still helps, "
        "the update isn't of low rank."
    )


@essay.sample(points=6)
def rank_from_stable_rank():
    """(1) 2, (2) 0, (3) 2, (4) 2.

    (2): the heuristic is told as a rule.
    """
    return (
        "If the rank of ΔW is at most r, LoRA is exact; otherwise Eckart–Young gives the error, "
        "for 5, 3, 1, ½ and r = 2 it is √1.25/√35.25 = 0.188, for the identity and r = d/2 it is "
        "0.707, since all directions count the same. The right rank is the stable rank "
        "‖ΔW‖_F²/σ₁². That r = 8 is about log₂ 768 is a coincidence: there is no theorem, and the "
        "identity would be a counterexample. If the model has to learn a new language the update "
        "touches many directions, and one sees this when the loss keeps falling as r is doubled."
    )


@essay.sample(points=2)
def logarithm_is_enough():
    """(1) 1, (2) 1, (3) 0, (4) 0.

    (1): the numbers, not what they mean. (2): named as a rule of thumb, not explained. (3): the
    logarithm is claimed.
    """
    return (
        "LoRA trains only BA with a small rank r and saves more than 99 % of the parameters. In "
        "the example the error is 0.188 for rank 2. It is known that models have a low intrinsic "
        "dimension, so a rank of about log₂ d is sufficient, which is 10 for d = 768. As a rule "
        "of thumb one can also use the entropy rank. So LoRA always reaches the quality of full "
        "fine-tuning with fewer parameters."
    )
