"""What decoding costs with a cache, and without one.

Source: Pope et al. (2022), "Efficiently scaling transformer inference", section 2.
"""

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "kv_cost",
    title="What a step costs",
    source="Pope et al. (2022), section 2",
    minutes=35,
    pool=16,
    hints=[
        "A step with a cache projects one token and lets it look at all t keys; sum that over t.",
        "Without a cache every step does the work of a whole prefix: the sum has squares in it.",
        "1 + 2 + … + n and 1 + 4 + … + n² have closed forms.",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens to decode; d: the width."""
    return {
        "n": int(rng.choice([500, 600, 800, 1000, 1200, 1500, 2000])),
        "d": int(rng.choice([128, 192, 256, 384, 512, 768])),
    }


@exercise.part(
    points=1.5,
    answer=Formula(
        "n d",
        question="sum(4*d^2 + 2*t*d, t, 1, n)",
        practice=("All madds of n steps, of which step t takes d² + t d.", "n*d^2 + n*(n + 1)*d/2"),
    ),
)
def cached():
    """All madds of n steps with a cache, as a formula in n and d."""
    return "4*n*d**2 + n*(n + 1)*d"


@cached.alternative
def expanded():
    """Multiply out."""
    return "n*d*(4*d + n + 1)"


cached.mistakes(
    last_step_throughout=(
        "4*n*d**2 + 2*n**2*d",
        "You gave every step the cost of the last one. Step t looks at t keys.",
    ),
    projections_forgotten=(
        "n*(n + 1)*d",
        "The projections are missing: each step makes a query, a key, a value and an output.",
    ),
    one_product_of_two=(
        "4*n*d**2 + n*(n + 1)*d/2",
        "Each cached position takes part twice: with its key in the score, with its value "
        "after it.",
    ),
    one_position_a_step=(
        "4*n*d**2 + 2*n*d",
        "You let each step look at one position. Step t looks at t of them: add up.",
    ),
    own_token_left_out=("4*n*d**2 + n*(n - 1)*d", "Step t sees t positions, its own among them."),
    half_a_square=("4*n*d**2 + n**2*d", "You took n²/2 for 1 + 2 + … + n, which is a little more."),
    one_token_projected=(
        "4*d**2 + n*(n + 1)*d",
        "You projected one token. Each of the n steps projects its own.",
    ),
)


@exercise.part(
    points=1.5,
    answer=Formula(
        "n d",
        practice=(
            "The sum of 3 t² d + 2 t d² over t = 1 … n.",
            "n*(n + 1)*(2*n + 1)*d/2 + n*(n + 1)*d^2",
        ),
        question="sum(4*t*d^2 + 2*t^2*d, t, 1, n)",
    ),
)
def recomputed():
    """All madds if each step recomputes attention over its whole prefix, in n and d."""
    return "2*n*(n + 1)*d**2 + n*(n + 1)*(2*n + 1)*d/3"


@recomputed.alternative
def as_two_sums():
    """Keep the two sums apart."""
    return "4*d**2*(n*(n + 1)/2) + 2*d*(n*(n + 1)*(2*n + 1)/6)"


recomputed.mistakes(
    one_product_of_each_prefix=(
        "2*n*(n + 1)*d**2 + n*(n + 1)*(2*n + 1)*d/6",
        "Scores and weighted sums both take t² d madds: the sum of squares counts twice.",
        0.5,
    ),
    last_prefix_throughout=(
        "4*n**2*d**2 + 2*n**3*d",
        "You gave every step the cost of the last one. The prefix of step t has t tokens.",
    ),
    projections_once=(
        "4*n*d**2 + n*(n + 1)*(2*n + 1)*d/3",
        "Without a cache the projections of the whole prefix are computed again in every step.",
    ),
    last_row_only=(
        "2*n*(n + 1)*d**2 + n*(n + 1)*d",
        "Here every step computes the whole attention of its prefix: t queries over t keys.",
    ),
    one_pass=(
        "4*n*d**2 + 2*n**2*d",
        "That is a single pass over all n tokens. Here there is one for each prefix.",
    ),
)


@exercise.part(points=1, answer=Count())
def counts(cached, recomputed, n, d):
    """Both totals for your n and d."""
    return [cached(n=n, d=d), recomputed(n=n, d=d)]


@counts.misconception()
def counts_in_flops(cached, recomputed, n, d):
    """These are FLOPs; asked for are madds, of which each is two."""
    return [2 * cached(n=n, d=d), 2 * recomputed(n=n, d=d)]


@counts.misconception()
def every_step_like_the_last(n, d):
    """You multiplied the last step by n. Earlier steps look back less far."""
    return [4 * n * d**2 + 2 * n**2 * d, 4 * n**2 * d**2 + 2 * n**3 * d]


@counts.misconception()
def attention_without_projections(n, d):
    """The projections are missing in both."""
    return [n * (n + 1) * d, n * (n + 1) * (2 * n + 1) * d // 3]


@exercise.part(points=1, answer=Numbers())
def ratio(counts):
    """How many times as much the second takes."""
    return counts[1] / counts[0]


@ratio.misconception()
def ratio_of_last_steps(n, d):
    """You compared two single steps. Compare the totals."""
    return (4 * n * d**2 + 2 * n**2 * d) / (4 * d**2 + 2 * n * d)


@ratio.misconception()
def ratio_upside_down(counts):
    """You divided the other way round."""
    return counts[0] / counts[1]


@ratio.misconception()
def ratio_without_projections(n, d):
    """The projections belong to both totals."""
    return (2 * n + 1) / 3


@exercise.part(points=0.5, answer=Count())
def last_step(cached, n, d):
    """The madds of step t = n with a cache."""
    return cached(n=n, d=d) - cached(n=n - 1, d=d)


@last_step.misconception()
def last_token_left_out(n, d):
    """Step t sees t positions, its own among them."""
    return 4 * d**2 + 2 * (n - 1) * d


@last_step.misconception()
def t_times_d(n, d):
    """t · d is one product alone. Keys and values take one each, and there are projections."""
    return n * d


@last_step.misconception()
def products_of_the_step(n, d):
    """The projections of the new token are missing: four products with a d × d matrix."""
    return 2 * n * d


@last_step.misconception()
def one_product_and_projections(n, d):
    """You counted one of the two products with the cache."""
    return 4 * d**2 + n * d


@last_step.misconception()
def prefix_projected_again(n, d):
    """That is what the cache saves: keys and values of earlier tokens are not computed again."""
    return 4 * n * d**2 + 2 * n * d


@exercise.part(points=0.5, answer=Count())
def equal_at(last_step, n, d):
    """The step t at which looking back costs as much as the projections."""
    projections = 4 * d**2
    return projections / ((last_step - projections) / n)


@equal_at.misconception()
def four_d(d):
    """You counted one of the two products with the cache."""
    return 4 * d


@equal_at.misconception()
def half_d(d):
    """You counted one of the four projections."""
    return d // 2


@equal_at.misconception()
def at_the_width(d):
    """Set 4d² equal to the cost of both products with the cache, and solve for t."""
    return d
