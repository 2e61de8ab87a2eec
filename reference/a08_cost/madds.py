"""Where the quadratic part of a transformer layer overtakes the rest of it.

Source: Kaplan et al. (2020), "Scaling laws for neural language models", section 2.1.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "madds",
    title="When is attention the bottleneck?",
    source="Kaplan et al. (2020), section 2.1",
    minutes=30,
    pool=24,
    hints=[
        "Set both counts equal and divide by what they have in common: one power of n, and "
        "one of d.",
        "An attention layer has four products with square matrices; a feed-forward layer has "
        "two that are four times as large.",
        "One multiply–add is two floating-point operations.",
    ],
)


@exercise.variant
def draw(rng):
    """d: the width; n_short, n_long: two lengths; h: the number of heads.

    At n = 2d and n = 4d two mistakes give the same FLOPs.
    """
    d = int(rng.choice([256, 384, 512, 640, 768, 1024]))
    short = [n for n in (256, 320, 512, 640, 768, 1024) if n not in (2 * d, 4 * d)]
    return {
        "d": d,
        "n_short": int(rng.choice(short)),
        "n_long": int(rng.choice([4096, 6144, 8192, 12288, 16384])),
        "h": int(rng.choice([4, 8, 16])),
    }


def projections(n, d):
    """Madds of the products with W_Q, W_K, W_V and W_O."""
    return 4 * n * d**2


def products(n, d):
    """Madds of scores and weighted sums, the quadratic part."""
    return 2 * n**2 * d


def feed_forward(n, d):
    """Madds of the two feed-forward products of inner width 4d."""
    return 8 * n * d**2


@exercise.part(
    points=1,
    answer=Formula(
        "d",
        practice=(("The n at which 2 n² d equals 8 n d², the feed-forward layer's madds."), "4*d"),
    ),
)
def meets_projections():
    """The n at which the quadratic part equals the projections, as a formula in d."""
    return "2*d"


@meets_projections.alternative
def as_a_quotient():
    """Leave the quotient of the two costs standing."""
    return "4*d**2/(2*d)"


meets_projections.mistakes(
    one_projection=(
        "d/2",
        "You compared with a single projection. Queries, keys, values and output have one each.",
    ),
    output_left_out=(
        "3*d/2",
        "You counted three projections. After the heads are put together there is another one.",
    ),
    one_product=(
        "4*d",
        "You counted one of the two quadratic products: scores and weighted sums both take one.",
    ),
    widths_squared=("2*d**2", "One factor of d is on both sides of the equation. Cancel it."),
)


@exercise.part(
    points=1,
    answer=Formula(
        "d",
        practice=(
            "The n at which 2 n² d equals 4 n d² + 12 n d², the width within being 6d.",
            "8*d",
        ),
    ),
)
def meets_layer(meets_projections):
    """The n at which the quadratic part equals projections plus feed-forward, in d."""
    return f"3*({meets_projections.expression})"


@meets_layer.alternative
def added_up(meets_projections):
    """Add the two lengths that each of them needs."""
    return f"{meets_projections.expression} + 4*d"


meets_layer.mistakes(
    feed_forward_alone=(
        "4*d",
        "Something is missing on the other side: four projections and two feed-forward products.",
    ),
    feed_forward_missing=(
        "2*d",
        "That is where it meets the projections. The feed-forward part is to be added.",
    ),
    twelve=(
        "12*d",
        "You counted one of the two quadratic products: scores and weighted sums both take one.",
    ),
)


@exercise.part(points=1, answer=Count())
def crossings(meets_projections, meets_layer, d):
    """The two lengths for your d, whole numbers."""
    return np.array([meets_projections(d=d), meets_layer(d=d)])


@crossings.misconception()
def halves(d):
    """You counted one of the two quadratic products: scores and weighted sums both take one."""
    return np.array([4 * d, 12 * d])


@crossings.misconception()
def feed_forward_by_itself(d):
    """The second length is where the quadratic part equals *both* others together."""
    return np.array([2 * d, 4 * d])


@crossings.misconception()
def single_projection(d):
    """You counted one projection. There are four: queries, keys, values, output."""
    return np.array([d // 2, d // 2 + 4 * d])


def share(n, d, rest):
    """The quadratic part of the madds, if the others take ``rest`` of them."""
    return products(n, d) / (products(n, d) + rest)


@exercise.part(points=1, answer=Numbers())
def shares(n_short, n_long, d):
    """The share of the quadratic part in all madds of the layer at your two lengths."""
    return np.array(
        [share(n, d, projections(n, d) + feed_forward(n, d)) for n in (n_short, n_long)]
    )


@shares.misconception()
def share_of_attention(n_short, n_long, d):
    """You left the feed-forward part out: that is the share within the attention alone."""
    return np.array([share(n, d, projections(n, d)) for n in (n_short, n_long)])


@shares.misconception()
def ratio_to_the_rest(n_short, n_long, d):
    """You divided by the rest of the layer. A share is the part divided by the whole."""
    return np.array(
        [products(n, d) / (projections(n, d) + feed_forward(n, d)) for n in (n_short, n_long)]
    )


@shares.misconception()
def share_of_the_rest(n_short, n_long, d):
    """That is the share of everything else. Does it grow or fall with n?"""
    return 1 - shares.compute(n_short, n_long, d)


@shares.misconception()
def scores_only(n_short, n_long, d):
    """You counted one of the two quadratic products: scores and weighted sums both take one."""
    rest = [projections(n, d) + feed_forward(n, d) for n in (n_short, n_long)]
    half = np.array([n**2 * d for n in (n_short, n_long)])
    return half / (half + np.array(rest))


@exercise.part(points=1, answer=Count(unit="FLOP"))
def flops(n_short, d):
    """The FLOPs of the attention layer, projections included, at the shorter length."""
    return 2 * (projections(n_short, d) + products(n_short, d))


@flops.misconception()
def madds_reported(n_short, d):
    """These are madds. How many operations is one of them?"""
    return projections(n_short, d) + products(n_short, d)


@flops.misconception()
def flops_of_one_product(n_short, d):
    """You counted one of the two quadratic products: scores and weighted sums both take one."""
    return 2 * projections(n_short, d) + products(n_short, d)


@flops.misconception()
def projections_left_out(n_short, d):
    """The projections are missing: the layer multiplies with four d × d matrices."""
    return 2 * products(n_short, d)


@flops.misconception()
def madds_of_the_products(n_short, d):
    """These are the madds of scores and weighted sums: projections are missing, and the factor."""
    return products(n_short, d)


@flops.misconception()
def feed_forward_included(n_short, d):
    """You counted the feed-forward part too. Only the attention layer is asked for."""
    return 2 * (projections(n_short, d) + products(n_short, d) + feed_forward(n_short, d))


@exercise.part(points=1, answer=Count())
def madds_with_heads(n_short, d, h):
    """The madds of scores and weighted sums with h heads of width d/h, at the shorter length."""
    return h * products(n_short, d // h)


@madds_with_heads.misconception()
def times_h(n_short, d, h):
    """You gave each head the full width. The heads share it."""
    return h * products(n_short, d)


@madds_with_heads.misconception()
def one_head(n_short, d, h):
    """That is one head. All of them have to be computed."""
    return products(n_short, d // h)


@madds_with_heads.misconception()
def scores_of_all_heads(n_short, d, h):
    """You counted one of the two quadratic products: scores and weighted sums both take one."""
    return n_short**2 * d


@madds_with_heads.misconception()
def flops_of_all_heads(n_short, d, h):
    """These are FLOPs; asked for are madds, of which each is two."""
    return 2 * products(n_short, d)
