"""Score entries of three architectures that read one text and write another.

Source: Vaswani et al. (2017), section 3.2.3; Raffel et al. (2020), section 3.2.
"""

from autograder.exercise import Count, Exercise, Formula

exercise = Exercise(
    "arch_costs",
    title="Three architectures, one table",
    source="Vaswani et al. (2017), section 3.2.3; Raffel et al. (2020), section 3.2",
    minutes=30,
    hints=[
        "Write a score as a pair (query, key) and count pairs: squares for an encoder, "
        "triangles with their diagonal where nobody looks ahead.",
        "An encoder–decoder has three kinds of attention: source to source, target to target,"
        " target to source.",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens of the source; m: tokens of the target."""
    n, m = (10 * int(size) for size in rng.choice(range(3, 16), 2, replace=False))
    return {"n": n, "m": m}


def causal(m):
    """Pairs that nobody ahead belongs to."""
    return m * (m + 1) // 2


@exercise.part(points=0.5, answer=Count())
def encoder_only(n):
    """Score entries of an encoder that reads the source."""
    return n * n


@encoder_only.misconception()
def encoder_with_a_causal_mask(n):
    """An encoder looks in both directions."""
    return causal(n)


@encoder_only.misconception()
def target_read_as_well(n, m):
    """This encoder reads the source alone."""
    return (n + m) ** 2


@exercise.part(points=0.75, answer=Count())
def decoder_only(n, m):
    """Score entries of a causal decoder on source and target, one behind the other."""
    return causal(n + m)


@decoder_only.misconception()
def two_separate_texts(n, m):
    """Each text looks at itself alone in yours. Behind each other, the target sees the source."""
    return causal(n) + causal(m)


@decoder_only.misconception()
def full_square(n, m):
    """You counted pairs in which a token looks ahead."""
    return (n + m) ** 2


@decoder_only.misconception()
def without_diagonal(n, m):
    """A token may look at itself."""
    return (n + m) * (n + m - 1) // 2


@decoder_only.misconception()
def source_both_ways(n, m):
    """You let the source look ahead. In this decoder nobody does."""
    return n * n + causal(m) + n * m


@exercise.part(points=0.75, answer=Count())
def encoder_decoder(n, m):
    """Score entries of an encoder–decoder: a layer of each, the target causal."""
    return n * n + causal(m) + n * m


@encoder_decoder.misconception()
def target_forgotten(n, m):
    """The target's attention to itself is missing."""
    return n * n + n * m


@encoder_decoder.misconception()
def cross_forgotten(n, m):
    """The target looks at the source as well."""
    return n * n + causal(m)


@encoder_decoder.misconception()
def source_forgotten(n, m):
    """The source's attention to itself is missing."""
    return causal(m) + n * m


@encoder_decoder.misconception()
def cross_both_ways(n, m):
    """Only the target looks at the source. The source is read before the target is known."""
    return n * n + causal(m) + 2 * n * m


@encoder_decoder.misconception()
def strictly_before(n, m):
    """A token may look at itself."""
    return n * n + m * (m - 1) // 2 + n * m


@encoder_decoder.misconception()
def source_masked(n, m):
    """You masked the source as well. An encoder looks in both directions."""
    return causal(n) + causal(m) + n * m


@exercise.part(points=1, answer=Count())
def dense(encoder_decoder, m):
    """The same if the whole square of the target is computed and masked afterwards."""
    return encoder_decoder - causal(m) + m * m


@dense.misconception()
def whole_square_of_both(n, m):
    """The source never looks at the target, so these entries are not computed."""
    return (n + m) ** 2


@dense.misconception()
def dense_cross_forgotten(n, m):
    """The target looks at the source as well."""
    return n * n + m * m


@dense.misconception()
def target_square_forgotten(n, m):
    """The target's attention to itself is missing."""
    return n * n + n * m


@exercise.part(
    points=1,
    answer=Formula("n m", practice=("By how much (n + 2m)² is larger than n² + 4 m².", "4*n*m")),
)
def saved(dense, n, m):
    """By how much (n + m)² is larger than the dense count, in n and m."""
    left = {2 * n * m: "2*n*m", n * m + m * m: "n*m + m**2"}
    return left.get((n + m) ** 2 - int(dense), "n*m")


saved.mistakes(
    both_crossings=("2*n*m", "One of the two crossings is there: the target looks at the source."),
    difference_upside_down=("-n*m", "You subtracted the other way round."),
    a_square_left_over=("n*m + m**2", "Both squares are in both counts."),
    allowed_pairs_subtracted=(
        "n*m + m*(m - 1)/2",
        "You subtracted the pairs that are allowed. The dense count holds the blocked ones as "
        "well.",
    ),
    blocked_by_the_mask=(
        "m*(m - 1)/2",
        "The pairs that the mask blocks are in both counts. Whose queries meet whose keys in one?",
    ),
)
