"""Counting the feed-forward layer.

Source: Vaswani et al. (2017), section 3.3 and table 3.
"""

from autograder.exercise import Count, Exercise, Formula, Numbers

exercise = Exercise(
    "ffn_params",
    title="Counting the feed-forward layer",
    source="Vaswani et al. (2017), section 3.3",
    minutes=20,
    hints=[
        "The two matrices have the shapes (d, f) and (f, d); each bias is as long as what "
        "comes out.",
        "Put f = 4d in before you add up.",
    ],
)


@exercise.variant
def draw(rng):
    """d: the width of the model; f: that of the hidden layer."""
    d = int(rng.choice([256, 384, 512, 640, 768, 1024]))
    return {"d": d, "f": 64 * int(rng.integers(d // 32, d // 12))}


@exercise.part(points=1, answer=Count())
def matrices(d, f):
    """The weights of the two matrices."""
    return 2 * d * f


@matrices.misconception(credit=0.5)
def one_matrix(d, f):
    """That is one of the two. One widens, the other one narrows."""
    return d * f


@matrices.misconception()
def squares(d, f):
    """You made both matrices square. One is d × f, the other f × d."""
    return d * d + f * f


@exercise.part(points=1, answer=Count())
def with_biases(matrices, d, f):
    """All parameters, with both biases."""
    return matrices + f + d


@with_biases.misconception(credit=0.5)
def two_short_biases(matrices, d):
    """The first bias is added to the hidden layer, so it is as wide as that."""
    return matrices + 2 * d


@with_biases.misconception(credit=0.5)
def two_long_biases(matrices, f):
    """The second bias is added to the output, so it is as wide as the model."""
    return matrices + 2 * f


@with_biases.misconception()
def biases_forgotten(matrices):
    """These are the matrices. Each map adds a bias."""
    return matrices


@with_biases.misconception(credit=0.5)
def one_bias(matrices, f):
    """There are two biases, one behind each matrix."""
    return matrices + f


@exercise.part(
    points=1,
    answer=Formula("d", practice=("All parameters, biases included, where f = 2d.", "4*d^2 + 3*d")),
)
def formula():
    """All parameters, biases included, where f = 4d."""
    return "8*d**2 + 5*d"


@formula.alternative
def factored():
    """Take d out."""
    return "d*(8*d + 5)"


@formula.alternative
def map_by_map():
    """One map after the other."""
    return "(d*4*d + 4*d) + (4*d*d + d)"


@formula.alternative
def in_latex():
    """The same in LaTeX."""
    return "8d^2 + 5d"


formula.mistakes(
    without_biases=("8*d**2", "These are the matrices. Each map adds a bias.", 0.5),
    narrow_biases=(
        "8*d**2 + 2*d",
        "The first bias is added to the hidden layer, so it is as wide as that.",
    ),
    one_bias_alone=("8*d**2 + 4*d", "There are two biases, one behind each matrix.", 0.5),
    wide_biases=(
        "8*d**2 + 8*d",
        "The second bias is added to the output, so it is as wide as the model.",
    ),
    one_matrix_with_both_biases=(
        "4*d**2 + 5*d",
        "That is one of the two. One widens, the other one narrows.",
        0.5,
    ),
    one_matrix_without_biases=(
        "4*d**2",
        "That is one of the two matrices. Each map adds a bias, too.",
        0.5,
    ),
    one_map=("4*d**2 + 4*d", "That is the first map. There is a second one, back to the width d."),
)


@exercise.part(points=1, answer=Numbers())
def ratio(matrices, d):
    """The weights of the two matrices over those of an attention layer's four."""
    return matrices / (4 * d * d)


@ratio.misconception()
def per_matrix(matrices, d):
    """You compared one matrix with one. There are two here and four there."""
    return matrices / 2 / (d * d)


@ratio.misconception()
def against_three(matrices, d):
    """Attention has four matrices: for queries, keys, values, and the output."""
    return matrices / (3 * d * d)


@ratio.misconception()
def upside_down(matrices, d):
    """That is the attention layer over the feed-forward layer."""
    return 4 * d * d / matrices
