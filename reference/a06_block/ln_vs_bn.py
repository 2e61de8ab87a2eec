"""Layer norm and batch norm take their means over different axes.

Source: Ioffe & Szegedy (2015), "Batch normalization", section 3; Ba et al. (2016), section 3.
"""

from autograder.exercise import Choice, Count, Essay, Exercise, Numbers

exercise = Exercise(
    "ln_vs_bn",
    title="Which axis?",
    source="Ioffe & Szegedy (2015), Ba et al. (2016)",
    minutes=35,
    hints=[
        "Layer norm looks at one token at a time, batch norm at one feature at a time: count "
        "how many tokens and how many features there are.",
        "If a number of another sequence is changed, which of the two means that the first "
        "sequence uses can notice?",
    ],
)


@exercise.variant
def draw(rng):
    """X: (2, 3, 4), two sequences of three tokens with four features."""
    while True:
        X = rng.integers(0, 7, (2, 3, 4))
        if min(X.std(axis=axis).min() for axis in (0, 1, 2)) > 0:  # by whatever axis one divides
            return {"X": X}


def normalised(X, axis):
    """Subtract the mean over these axes and divide by the deviation, both without ε."""
    return (X - X.mean(axis=axis, keepdims=True)) / X.std(axis=axis, keepdims=True)


@exercise.part(points=1, answer=Count())
def means(X):
    """How many means layer norm computes for your X, and how many batch norm: two numbers."""
    B, n, d = X.shape
    return [B * n, d]


@means.misconception()
def exchanged(X):
    """You exchanged the two: layer norm has a mean for each token, batch norm for each feature."""
    B, n, d = X.shape
    return [d, B * n]


@means.misconception(credit=0.5)
def one_for_a_sequence(X):
    """Layer norm doesn't mix the tokens of a sequence: each has a mean of its own."""
    B, _, d = X.shape
    return [B, d]


@means.misconception(credit=0.5)
def one_for_a_place(X):
    """Batch norm takes its mean over examples and positions together: one for each feature."""
    B, n, d = X.shape
    return [B * n, n * d]


@exercise.part(points=1, answer=Numbers())
def ln_row(X):
    """The first token of the first sequence after layer norm."""
    return normalised(X, -1)[0, 0]


@ln_row.misconception()
def over_the_features_of_all(X):
    """You normalised over all the features of a sequence. Each token stands by itself."""
    return normalised(X, (1, 2))[0, 0]


@ln_row.misconception()
def batch_norm_there(X):
    """That is batch norm: features are compared across tokens. Here a token is all there is."""
    return normalised(X, (0, 1))[0, 0]


@ln_row.misconception()
def over_the_tokens(X):
    """You compared a feature across the tokens of the sequence. Layer norm stays within a token."""
    return normalised(X, 1)[0, 0]


@ln_row.misconception()
def divided_by_the_variance(X):
    """You divided by the variance. Divide by its root."""
    return normalised(X, -1)[0, 0] / X[0, 0].std()


@ln_row.misconception()
def mean_alone_removed(X):
    """The mean is gone. The division by the deviation is missing."""
    return X[0, 0] - X[0, 0].mean()


@ln_row.misconception()
def layer_norm_over_one_less(X):
    """You divided the squares by d − 1."""
    row = X[0, 0]
    return (row - row.mean()) / row.std(ddof=1)


@exercise.part(points=1, answer=Numbers())
def bn_row(X):
    """The first token of the first sequence after batch norm over (batch, position)."""
    return normalised(X, (0, 1))[0, 0]


@bn_row.misconception()
def over_the_batch_alone(X):
    """Batch norm takes its mean over examples and positions together: one for each feature."""
    return normalised(X, 0)[0, 0]


@bn_row.misconception()
def over_the_sequence_alone(X):
    """You took the mean over the tokens of the first sequence. The second one counts as well."""
    return normalised(X, 1)[0, 0]


@bn_row.misconception()
def layer_norm_there(X):
    """That is layer norm. Batch norm compares one feature across all tokens."""
    return normalised(X, -1)[0, 0]


@bn_row.misconception()
def divided_by_the_variance_there(X):
    """You divided by the variance. Divide by its root."""
    return normalised(X, (0, 1))[0, 0] / X.std(axis=(0, 1))


@bn_row.misconception()
def mean_alone_removed_there(X):
    """The mean is gone. The division by the deviation is missing."""
    return X[0, 0] - X.mean(axis=(0, 1))


@bn_row.misconception()
def batch_norm_over_one_less(X):
    """You divided the squares by one less than there are tokens."""
    tokens = X.reshape(-1, X.shape[-1])
    return ((tokens - tokens.mean(0)) / tokens.std(0, ddof=1))[0]


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Neither.",
            "That of layer norm.",
            "That of batch norm.",
            "Both.",
        ]
    ),
)
def changed():
    """10 is added to all of the second sequence: which result for the first one changes?"""
    return "C"


changed.mistakes(
    neither_changes=("A", "One of the two has means in which both sequences take part."),
    layer_norm_changes=(
        "B",
        "What does layer norm know of another sequence while it normalises a token?",
    ),
    both_change=("D", "One of the two looks at a single token at a time."),
)


@exercise.part(points=2, answer=Essay())
def why():
    """Why do transformers use layer norm rather than batch norm?

    (1) No coupling: a token's result depends neither on the other examples of the batch nor on
    other positions (padding and later tokens among them).

    (2) The same rule in training and at inference, without running averages; it works for a batch
    of one and any length, where batch norm of a single token divides 0 by 0.
    """
    return (
        "Layer norm treats each token by itself. So a result doesn't depend on which other "
        "examples, how much padding or which later tokens are in the batch, and generating one "
        "token after the other follows the same rule as training. Batch norm needs averages of "
        "earlier batches for that, and for a single token its variance is 0."
    )
