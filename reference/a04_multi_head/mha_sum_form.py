"""Multi-head attention as a sum over heads.

Source: Vaswani et al. (2017), section 3.2.2; Elhage et al. (2021), "A mathematical framework for
transformer circuits".
"""

from autograder.exercise import Choice, Count, Exercise

exercise = Exercise(
    "mha_sum_form",
    title="A sum over heads",
    source="Vaswani et al. (2017), section 3.2.2; Elhage et al. (2021)",
)


@exercise.variant
def draw(rng):
    """d: the width of the model, h: the heads."""
    h = int(rng.choice([2, 3, 4, 6, 8]))
    return {"d": h * int(rng.choice([w for w in (4, 5, 6, 8, 10, 12, 16) if w != h])), "h": h}


@exercise.part(points=1, answer=Choice("ABCD"))
def tied():
    """What if all heads had the same weights A?"""
    return "B"


@tied.misconception()
def becomes_zero():
    """Nothing cancels: A stands in front of every term of the sum. Take it out."""
    return "A"


@tied.misconception()
def h_times_one_head():
    """The heads keep their own W_V and W_O, so the terms are not all the same."""
    return "C"


@tied.misconception()
def becomes_an_average():
    """Only for equal scores would A average. Take A out of the sum and look at what is left."""
    return "D"


@exercise.part(points=1, answer=Count())
def ranks(d, h):
    """The largest rank of W_Q W_Kᵀ of one head, and that of its W_V W_O."""
    return [d // h, d // h]


@ranks.misconception()
def full_rank(d):
    """Both are products through a space that is only d/h wide."""
    return [d, d]


@ranks.misconception()
def number_of_heads(h):
    """The number of heads doesn't bound a rank; the width of a head does."""
    return [h, h]


@ranks.misconception()
def output_of_full_rank(d, h):
    """W_V W_O leads through the width of the head, too."""
    return [d // h, d]
