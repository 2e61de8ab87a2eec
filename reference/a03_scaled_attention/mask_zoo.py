"""How many pairs the masks of four kinds of model allow.

Source: Devlin et al. (2019), "BERT"; Radford et al. (2018), "GPT"; Raffel et al. (2020), "T5",
section 3.2.1 and figure 4.
"""

from autograder.exercise import Count, Exercise, Formula

exercise = Exercise(
    "mask_zoo",
    title="BERT, GPT, prefix, cross",
    source="Raffel et al. (2020), section 3.2.1 and figures 3, 4",
    minutes=20,
    hints=[
        "Count row by row: how many keys may the first, the second, the last query see?",
        "1 + 2 + … + n is known. What does a prefix add to it, in which corner of the square?",
        "Half of all pairs would leave one thing out: look at the diagonal.",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens; p: length of the prefix; source: tokens of the other text."""
    n = int(rng.integers(5, 10))
    return {
        "n": n,
        "p": int(rng.integers(2, 5)),
        "source": int(rng.choice([size for size in (3, 4, 6, 7, 8, 10) if size != n])),
    }


@exercise.part(
    points=1,
    answer=Formula(
        "n",
        question="sum(i, i, 1, n)",
        practice=(
            ("The allowed pairs if each of n > 2 tokens sees itself and the two before it."),
            "3*n - 3",
        ),
    ),
)
def causal():
    """The pairs that a causal mask allows for n tokens."""
    return "n*(n + 1)/2"


causal.mistakes(
    half_of_all=("n**2/2", "Half of all pairs would halve the diagonal, too."),
    without_the_diagonal=("n*(n - 1)/2", "A token may look at itself."),
)


# The prefix is never longer than the text, so that sums from p + 1 to n are what they say.
@exercise.part(
    points=1,
    answer=Formula(
        "n p",
        assumptions={"*": "nonnegative"},
        definitions={"n": "p + rest"},
        practice=(
            "The pairs that a causal mask allows if all others see none of the first p.",
            "n*(n + 1)/2 - p*(n - p)",
        ),
    ),
)
def prefix(causal):
    """The pairs that a causal mask allows if the first p tokens see each other."""
    return f"{causal.expression} + p*(p - 1)/2"


prefix.mistakes(
    prefix_for_every_query=(
        "n*(n + 1)/2 + n*p",
        "All later tokens see the prefix already. What is new lies within it.",
    ),
    whole_square=(
        "n*(n + 1)/2 + p**2",
        "Half of the square of the prefix, with its diagonal, is allowed already.",
    ),
    prefix_unseen_by_the_rest=(
        "p**2 + (n - p)*(n - p + 1)/2",
        "You counted two texts. The tokens behind the prefix see it, too.",
    ),
    with_the_diagonal=(
        "n*(n + 1)/2 + p*(p + 1)/2",
        "The diagonal of the prefix is allowed already.",
    ),
)


@exercise.part(points=2, answer=Count())
def allowed(causal, prefix, n, p, source):
    """The allowed pairs: all to all, causal, causal with a prefix of p, and across two texts."""
    return [n * n, causal(n=n), prefix(n=n, p=p), n * source]


@allowed.misconception()
def diagonal_forgotten(n, p, source):
    """In your causal mask no token may look at itself."""
    causal = n * (n - 1) // 2
    return [n * n, causal, causal + p * (p - 1) // 2, n * source]


@allowed.misconception()
def prefix_counted_twice(n, p, source):
    """Much of the prefix is allowed by the causal mask already. Count what it adds."""
    causal = n * (n + 1) // 2
    return [n * n, causal, causal + p * n, n * source]


@allowed.misconception()
def prefix_square_added(n, p, source):
    """Of the p² pairs within the prefix some are allowed already. Which ones are new?"""
    causal = n * (n + 1) // 2
    return [n * n, causal, causal + p * p, n * source]


@allowed.misconception()
def cross_as_a_square(n, p, source):
    """Across two texts queries come from one and keys from the other."""
    causal = n * (n + 1) // 2
    return [n * n, causal, causal + p * (p - 1) // 2, (n + source) ** 2]


@allowed.misconception()
def cross_within_the_source(n, p, source):
    """Across two texts the queries are your n tokens, and only the keys are the other text's."""
    causal = n * (n + 1) // 2
    return [n * n, causal, causal + p * (p - 1) // 2, source**2]


@allowed.misconception()
def causal_alone_without_the_diagonal(n, p, source):
    """In your second number no token may look at itself."""
    causal = n * (n + 1) // 2
    return [n * n, causal - n, causal + p * (p - 1) // 2, n * source]


@exercise.part(points=0.5, answer=Count())
def causal_1024(causal):
    """The pairs that a causal mask allows for 1024 tokens."""
    return causal(n=1024)


causal_1024.mistakes(
    causal_1024_half=(1024**2 // 2, "Half of all pairs would halve the diagonal, too."),
    causal_1024_without_the_diagonal=(1024 * 1023 // 2, "A token may look at itself."),
)


@exercise.part(points=0.5, answer=Count())
def excess(causal_1024):
    """By how many pairs this is more than half of all pairs."""
    return causal_1024 - 1024**2 // 2


excess.mistakes(
    exactly_half=(0, "Nearly: the diagonal makes it a little more than one half."),
    whole_diagonal=(1024, "Half of the diagonal is in one half of all pairs already."),
    less_than_half=(-512, "The diagonal belongs to the allowed pairs."),
)
