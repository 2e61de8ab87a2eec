"""Essay: many narrow heads or few wide ones?

Source: Vaswani et al. (2017), section 3.2.2; Bhojanapalli et al. (2020), "Low-rank bottleneck in
multi-head attention models"; Michel et al. (2019), "Are sixteen heads really better than one?".
"""

import numpy as np

from autograder.exercise import Count, Essay, Exercise

exercise = Exercise(
    "essay_heads",
    title="Heads and their width",
    source="Vaswani et al. (2017), section 3.2.2; Bhojanapalli et al. (2020)",
    minutes=60,
    hints=[
        "All heads share one width. Go through your numbers: what shrinks as h grows, what grows, "
        "and what doesn't notice?",
        "For the ranks multiply a table whose rows have lost their means by a column of ones. "
        "What does that say about its columns?",
        "Before you write, try it out: take queries and keys of width 1, and compare the rank of "
        "their scores with that of their weights.",
    ],
)


@exercise.variant
def draw(rng):
    """d: the width, n: tokens, h: three numbers of heads, m: rows of a table of scores."""
    d = int(rng.choice([256, 512, 1024]))
    h = np.array([1, rng.choice([4, 8, 16]), rng.choice([32, 64])])
    return {
        "d": d,
        "n": int(rng.choice([96, 128, 160, 192])),
        "h": h,
        "m": int(rng.integers(5, 10)),
    }


@exercise.part(points=0.5, answer=Count())
def parameters(d, h):
    """The weights of the four projections, for each number of heads."""
    return 4 * d * d * np.ones_like(h)


@parameters.misconception()
def output_projection_forgotten(d, h):
    """There is a fourth projection, behind the heads."""
    return 3 * d * d * np.ones_like(h)


@parameters.misconception()
def every_head_whole(d, h):
    """Every head has projections of its own, but to a part of the width only."""
    return 4 * d * d * h


@parameters.misconception()
def divided_among_the_heads(d, h):
    """That is one head's share. All heads of the layer count."""
    return 4 * d * d // h


@exercise.part(points=0.5, answer=Count())
def d_k(d, h):
    """The width of one head, for each number of heads."""
    return d // h


@d_k.misconception()
def whole_width(d, h):
    """That is the width of all heads together."""
    return d * np.ones_like(h)


@exercise.part(points=1, answer=Count())
def stored(n, h):
    """The attention weights that one layer stores, for each number of heads."""
    return h * n * n


@stored.misconception()
def one_table_for_all(n, h):
    """Every head has a table of weights of its own."""
    return n * n * np.ones_like(h)


@stored.misconception()
def outputs_counted(n, h, d):
    """That counts outputs, d for every token. Count the weights with which values are added."""
    return n * d * np.ones_like(h)


@stored.misconception()
def scores_times_width(n, h, d):
    """That counts multiplications for the scores. Each of them ends in a single stored number."""
    return n * n * d * np.ones_like(h)


@stored.misconception()
def one_weight_for_each_query(n, h):
    """Every query has a weight for every key, not one."""
    return h * n


@exercise.part(points=1, answer=Count())
def ranks(m):
    """The ranks of two m × m tables after every row has lost its mean: random, and the identity."""
    return [m - 1, m - 1]


@ranks.misconception()
def before_the_means(m):
    """Those are the ranks of the tables themselves. What do the rows add up to afterwards?"""
    return [m, m]


@ranks.misconception()
def one_direction(m):
    """Only the random table was right: the rows of the other one differ from each other, too."""
    return [m - 1, 1]


@ranks.misconception()
def identity_stays_whole(m):
    """The identity, too, loses a direction: look at what its rows add up to afterwards."""
    return [m - 1, m]


@exercise.part(points=8, answer=Essay())
def essay():
    """Many narrow heads or few wide ones: what is proved, what does it cost, what is experience?

    (1) 2 points. A head's score table has rank at most d_k; with a reason (QKᵀ is a product through
    d_k). The bound does not pass through the softmax: the exponential acts entry by entry, and the
    weights may have full rank.

    (2) 2 points. The budget is fixed: h·d_k = d, so parameters and multiplications for scores do
    not depend on h; more heads are narrower heads.

    (3) 2 points. What does grow: stored weights, h·n². With the essay's own numbers.

    (4) 2 points. What is experience and no theorem is called so: a width of 64 or 128, roles of
    heads, that many of them can be removed after training.
    """
    return (
        "A head multiplies queries and keys of width d_k, so its n × n table of scores is a "
        "product through d_k dimensions and has rank at most d_k. The softmax ignores a constant "
        "added to a row, and my tables had rank m − 1 once the row means were gone: to form any "
        "table of scores for n tokens, a head needs a width of about n − 1. So a narrow head is "
        "restricted. The restriction concerns scores, not weights: the exponential acts on each "
        "entry, and even with d_k = 1 the weights exp(x_i x_j) have full rank when all x differ. "
        "The width is shared: h heads have d/h each. Parameters, 4d², and the n²d multiplications "
        "for scores are the same for every h, so more heads are bought with narrower ones, not "
        "with more parameters. What grows is the memory for weights, h·n²: in my numbers h times "
        "as much as for one head, unless they are computed in tiles. What is gained are several "
        "averages for a token instead of one blend. How wide a head should be follows from none "
        "of this. Published models use 64 or 128 because that trained well; that heads take on "
        "roles, and that many can be pruned, was observed in some trained models. I would begin "
        "with heads of 64 and measure."
    )


@essay.sample(points=5)
def rank_of_the_weights():
    """(1) 1, (2) 2, (3) 2, (4) 0.

    (1): the bound and its reason, but carried over to the weights. (4): the advice is stated as if
    it followed.
    """
    return (
        "Q and K have d_k columns, so QKᵀ has rank at most d_k and the attention matrix of a "
        "narrow head has low rank as well. With h heads d_k = d/h. The parameters are 4d² for all "
        "three of my h, and the products for the scores are n²d in total, but every head stores "
        "its n² weights, which makes 64 n² instead of n². Therefore 8 heads are the best "
        "compromise: one head can only do one thing, and 64 heads of width 8 are too narrow to be "
        "useful."
    )


@essay.sample(points=2)
def more_is_better():
    """(1) 0, (2) 0, (3) 2, (4) 0.

    (1): no rank. (2): more parameters are claimed. (3): hn² with numbers. (4): a role for each head
    is told as a fact.
    """
    return (
        "With more heads the model has more parameters and can learn more relations: one head "
        "learns the subject, another one the verb, a third one pronouns. A single head could not "
        "do this. The price is memory: with 64 heads 64 n² weights have to be stored, with n = "
        "128 that is 1,048,576 numbers instead of 16,384. Large models have many heads because "
        "they are better."
    )
