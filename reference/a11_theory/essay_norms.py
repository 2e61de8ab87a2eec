"""Essay: which normalisation, and where?

Source: Ioffe and Szegedy (2015); Ba et al. (2016), "Layer normalization"; Santurkar et al. (2018),
"How does batch normalization help optimization?"; Zhang and Sennrich (2019); Xiong et al. (2020),
"On layer normalization in the transformer architecture".
"""

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_norms",
    title="Normalisation",
    source="Ba et al. (2016); Santurkar et al. (2018); Xiong et al. (2020)",
    minutes=60,
    hints=[
        "Take a single mean: which numbers of the batch go into it? Then count how many such "
        "groups there are.",
        "For the essay add a constant to a token's vector, or double it: what comes out of a "
        "norm, and what does that say about its slopes along these two directions?",
        "Draw the residual stream through two blocks, once for either place of the norm. What "
        "stands on the direct way from the loss back to the input?",
    ],
)


@exercise.variant
def draw(rng):
    """B: sequences in a batch, n: tokens of each, d: the width."""
    return {
        "B": int(rng.choice([8, 16, 24, 32])),
        "n": int(rng.choice([96, 128, 160, 200])),
        "d": int(rng.choice([256, 384, 512, 768])),
    }


@exercise.part(points=1, answer=Count())
def statistics(B, n, d):
    """Means and second moments that layer, batch and RMS normalisation compute for the batch."""
    return [2 * B * n, 2 * d, B * n]


@statistics.misconception()
def one_per_sequence(B, n, d):
    """Layer normalisation looks at every token by itself."""
    return [2 * B, 2 * d, B]


@statistics.misconception()
def layer_per_sequence(B, n, d):
    """Layer normalisation takes its mean for every token, as RMS normalisation does."""
    return [2 * B, 2 * d, B * n]


@statistics.misconception()
def rms_with_a_mean(B, n, d):
    """RMS normalisation subtracts no mean."""
    return [2 * B * n, 2 * d, 2 * B * n]


@statistics.misconception()
def axes_exchanged(B, n, d):
    """Over what does each average: over one token's features, or one feature's tokens?"""
    return [2 * d, 2 * B * n, d]


@statistics.misconception()
def batch_for_every_position(B, n, d):
    """Batch normalisation averages a feature over all sequences and all positions."""
    return [2 * B * n, 2 * n * d, B * n]


@statistics.misconception()
def means_only(B, n, d):
    """Every mean that is subtracted comes with a second moment by which one divides."""
    return [B * n, d, B * n]


@exercise.part(points=8, answer=Essay())
def essay():
    """Layer, batch or RMS normalisation, before or after the sublayer: what is fact, what is story?

    (1) 2 points. Axes and coupling: layer and RMS over the features of one token; batch over tokens
    of all sequences, so that examples depend on each other and training and use differ. With the
    essay's own numbers.

    (2) 2 points. The Jacobian (1/σ)(I − 11ᵀ/d − x̂x̂ᵀ/d) or its content: two directions are taken
    out, and gradients are divided by σ.

    (3) 2 points. Before or after: before leaves a path of identities through all blocks, with a
    last normalisation at the end; after scales the path itself, and needs warm-up.

    (4) 2 points. "Internal covariate shift" is a contested explanation; no optimality is proved.
    """
    return (
        "Layer normalisation takes mean and variance over the d features of one token, RMS "
        "normalisation only the second moment. Both treat a token the same in any company: batch "
        "size and neighbours don't matter. Batch normalisation averages a feature over all tokens "
        "of the batch, so there are only 2d statistics instead of 2Bn; examples become coupled, "
        "padding enters, and in use running averages stand in, one token at a time. That is the "
        "reason to avoid it for sequences. The Jacobian of layer normalisation is (1/σ)(I − 11ᵀ/d "
        "− x̂x̂ᵀ/d): shifts and scalings of the input don't come through, and gradients are "
        "divided by σ, so large activations get small gradients. Without the mean, only the "
        "direction of x itself is taken out. Where it stands matters as much. Before the "
        "sublayer, x + F(LN(x)) leaves the identity untouched, and the gradient has a direct path "
        "through all blocks; the sum grows with depth and is normalised once at the end. After "
        "it, LN(x + F(x)), every block rescales the path itself; gradients near the output are "
        "large at the start, and training needs warm-up. Why normalisation helps is not settled. "
        "'Less internal covariate shift' was the first explanation; Santurkar et al. added such "
        "shifts on purpose and training still got faster, and they point to a smoother loss "
        "instead. That RMS does as well as layer normalisation is an observation; that any of "
        "them is optimal has not been proved. I would take RMS before the sublayer, because it is "
        "cheaper and trained well in published models."
    )


@essay.sample(points=5)
def shift_believed():
    """(1) 2, (2) 1, (3) 2, (4) 0.

    (2): the factor 1/σ, nothing of the directions. (4): the contested explanation is told as the
    mechanism.
    """
    return (
        "LN normalises each token over 512 features (8,192 statistics), BN each feature over the "
        "batch (1,024), RMSNorm needs 4,096. With BN a sentence's result depends on the other "
        "sentences, and one has to keep running means for testing; so it isn't used for text. The "
        "gradient through LN is scaled with 1/σ. Pre-norm keeps the residual stream free, so deep "
        "models train without warm-up, but a final norm is needed; post-norm puts the norm on the "
        "stream and is harder to train. All of them work because they reduce internal covariate "
        "shift: later layers don't have to adapt to changing inputs."
    )


@essay.sample(points=3)
def axes_only():
    """(1) 1, (2) 0, (3) 1, (4) 1.

    (1): the axes, not the coupling. (3): the names, one reason. (4): doubt without its object.
    """
    return (
        "Layer norm normalises over the features and batch norm over the batch; RMS norm leaves "
        "out the mean and is therefore faster. For text one uses layer norm since sentences have "
        "different lengths. In the original transformer it comes after the sublayer, today before "
        "it, which is more stable. Why exactly normalisation helps is not completely understood. "
        "I would use RMS norm like the newer models."
    )
