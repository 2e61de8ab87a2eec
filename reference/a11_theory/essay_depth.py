"""Essay: deep or wide?

Source: Kaplan et al. (2020), "Scaling laws for neural language models"; Hoffmann et al. (2022),
"Training compute-optimal large language models".
"""

import numpy as np

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_depth",
    title="Depth and width",
    source="Kaplan et al. (2020); Hoffmann et al. (2022)",
    minutes=60,
    hints=[
        "L and d of your two models differ by simple factors. Follow these through each formula "
        "before you multiply large numbers.",
        "For the essay look at your own fit again: how large is the error of its exponent, and "
        "what would change within that error? Ask of each sentence that you write whether it is "
        "proved, measured or customary.",
    ],
)


@exercise.variant
def draw(rng):
    """L: the layers of two models, d: their widths, n: tokens."""
    L, d = int(rng.choice([4, 6, 8, 12])), int(rng.choice([512, 768, 1024]))
    L, d = np.array([L, 4 * L]), np.array([d, d // 2])
    return {"L": L, "d": d, "n": int(rng.choice([512, 1024, 2048]))}


@exercise.part(points=0.5, answer=Count())
def block_weights(L, d):
    """The weights of all blocks, 4d² of attention and 8d² of the feed-forward part each."""
    return 12 * L * d * d


@block_weights.misconception()
def attention_only(L, d):
    """The feed-forward part has weights, too."""
    return 4 * L * d * d


@block_weights.misconception()
def one_matrix_of_two(L, d):
    """The feed-forward part goes to the width 4d and back: two matrices."""
    return 8 * L * d * d


@block_weights.misconception()
def one_block(L, d):
    """That is one block."""
    return 12 * d * d


@exercise.part(points=0.5, answer=Count())
def attention_madds(L, d, n):
    """The madds of QKᵀ and of the weights with the values, in all layers, for n tokens."""
    return 2 * L * n * n * d


@attention_madds.misconception()
def scores_only(L, d, n):
    """The sums of values take as many madds as the scores."""
    return L * n * n * d


@attention_madds.misconception()
def one_layer(L, d, n):
    """That is one layer."""
    return 2 * n * n * d


@attention_madds.misconception()
def width_squared(L, d, n):
    """That is what projections take. Here n² pairs of vectors of width d are multiplied."""
    return 2 * L * n * d * d


@exercise.part(points=8, answer=Essay())
def essay():
    """Deep and narrow or shallow and wide: what follows from counting, and what has to be measured?

    (1) 2 points. Equal weights, unequal cost: four times the layers at half the width double the
    attention's madds, and layers run one after the other. With the essay's own numbers.

    (2) 2 points. An exponent is fitted, with an uncertainty: the slope in log–log coordinates from
    a few noisy points, as in the power-law exercise.

    (3) 2 points. Published exponents are small: about 0.05 for loss against compute (Kaplan et al.
    2020), so ten times the compute takes off some 11 % of the loss.

    (4) 2 points. Rules of thumb are told from theorems: no ratio of depth and width is proved, and
    models in use differ widely.
    """
    return (
        "My two models have exactly the same number of weights, since 12Ld² doesn't change when L "
        "is multiplied by four and d halved. They don't cost the same: attention takes 2Ln²d "
        "madds, twice as many for the deep one, and its layers have to be run one after the "
        "other, so it uses parallel hardware less well and takes longer for every generated "
        "token. What depth gives is more compositions, which a shallow net of the same size may "
        "lack. Which of the two reaches the lower loss is a matter of measurement. For loss "
        "against compute one fits a line to logarithms. With five noisy points, as in my fit, the "
        "slope has a standard error that belongs to it, and beyond the measured range nothing is "
        "guaranteed. Kaplan et al. report an exponent of about 0.05: ten times the compute "
        "multiplies the loss by 10^−0.05 = 0.89. An exponent of 0.25 would be quite another "
        "world. They also found that the shape matters little within a wide range. That is an "
        "observation, not a theorem. Width over depth is 85 for the base transformer, 64 for BERT "
        "base and 128 for GPT-3; there is no proved ratio, no law that a layer is a level of "
        "abstraction, and bounds on what deep nets can express say nothing about what training "
        "finds. I would take a usual ratio, and measure two neighbours of it."
    )


@essay.sample(points=6)
def exponent_without_error():
    """(1) 2, (2) 0, (3) 2, (4) 2.

    (2): a fit is mentioned, its uncertainty isn't.
    """
    return (
        "Both models have 18,874,368 weights, but the attention of the deep one needs 12.9 "
        "instead of 6.4 billion madds, and 24 layers must wait for each other while 6 layers can "
        "be computed with large matrix products. Scaling laws say that loss falls with compute to "
        "the power of about −0.05, so a factor of ten gives only 11 %. From my fit the exponent "
        "is 0.0504. The shape is a matter of taste: GPT-3 has 128 columns per layer and BERT 64, "
        "and nobody has proved that one of them is best. I would choose the wider one because it "
        "is faster."
    )


@essay.sample(points=3)
def levels_of_abstraction():
    """(1) 1, (2) 0, (3) 2, (4) 0.

    (1): equal weights, the cost isn't compared. (3): the exponent and its meaning. (4): a rule of
    thumb is stated as a law.
    """
    return (
        "Both have the same number of weights, so they have the same capacity. Depth is more "
        "important than width since every layer learns one level of abstraction: letters, words, "
        "grammar, meaning. With 24 layers one gets 24 levels, and the number of functions grows "
        "as 2^L. The scaling law with exponent 0.05 says that ten times the compute lowers the "
        "loss by about a tenth. Therefore one should build models as deep as possible."
    )
