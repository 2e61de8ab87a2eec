"""The spectrum of the softmax Jacobian: how much of a gradient gets through.

Source: Gao & Pavel (2017), "On the properties of the softmax function", arXiv:1704.00805.
"""

import numpy as np

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Numbers

exercise = Exercise(
    "jacobian_spectrum",
    title="How much gradient gets through",
    source="Gao & Pavel (2017), section 3",
    minutes=35,
    hints=[
        "At equal logits all p_i are equal: J is then a multiple of a projection. What does "
        "it do to (1, 1, 1), and to vectors that add up to 0?",
        "For vᵀ J v multiply J with v first; means under p appear, and a variance is a mean "
        "of squares minus a squared mean.",
        "The trace is the sum of the diagonal alone; remember what the probabilities add up to.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")
softmax_jacobian = exercise.carries("a01_softmax/jacobian_code", "softmax_jacobian")


@exercise.variant
def draw(rng):
    """z: three whole numbers 0–4, not all the same."""
    while True:
        z = rng.integers(0, 5, 3)
        if np.ptp(z):
            return {"z": z}


def eigenvalues(A):
    """In ascending order; what rounding makes of 0 becomes 0 again."""
    return np.linalg.eigvalsh(A).round(12) + 0.0


@exercise.part(points=1, answer=Numbers())
def eig0():
    """The eigenvalues of J at z = (0, 0, 0), in ascending order."""
    return eigenvalues(softmax_jacobian(np.zeros(3)))


eig0.mistakes(
    outer_product_forgotten=(
        np.full(3, 1 / 3),
        "These are the eigenvalues of diag(p). The other term takes one direction away: which?",
    ),
    read_off_the_diagonal=(
        np.full(3, 2 / 9),
        "You read the diagonal. Eigenvalues stand there only if the rest of the matrix is 0.",
    ),
)


@eig0.misconception()
def from_the_largest_down():
    """The right numbers from the largest down; they are asked for from the smallest up."""
    return eigenvalues(softmax_jacobian(np.zeros(3)))[::-1]


@exercise.part(points=1, answer=Numbers())
def eig1(z):
    """The eigenvalues of J at your z, in ascending order."""
    return eigenvalues(softmax_jacobian(z))


@eig1.misconception()
def own_outer_product_forgotten(z):
    """These are the probabilities, the eigenvalues of diag(p). J has one more term."""
    return np.sort(softmax(z))


@eig1.misconception()
def own_diagonal(z):
    """You read the diagonal. Eigenvalues stand there only if the rest of the matrix is 0."""
    return np.sort(np.diag(softmax_jacobian(z)))


@eig1.misconception()
def descending(z):
    """The right numbers from the largest down; they are asked for from the smallest up."""
    return eigenvalues(softmax_jacobian(z))[::-1]


def square_is_shown(line):
    """Is there the squared mean, the mean written out, or a sum that vanishes?"""
    return line.contains("m**2") or line.has_sum("m", "0")


def variance_is_shown(line):
    """Are the squared distances from the mean there?"""
    return line.contains("(v1 - m)**2", "(m - v1)**2") and not line.has_sum("0")


form_chain = Chain(
    start="v1*p1*(v1 - m) + v2*p2*(v2 - m) + v3*p3*(v3 - m)",
    target="p1*(v1 - m)**2 + p2*(v2 - m)**2 + p3*(v3 - m)**2",
    names=("v1", "v2", "v3", "p1", "p2", "p3", "m"),
    definitions={"m": "p1*v1 + p2*v2 + p3*v3", "p3": "1 - p1 - p2"},
    final_names=("v1", "v2", "v3", "p1", "p2", "p3", "m"),
    waypoints=(
        Waypoint(
            "Use what m is: a line with its square, or with a sum that is 0.", square_is_shown
        ),
    ),
    ends=Waypoint("End with squared distances from the mean m.", variance_is_shown),
)


@exercise.part(points=2, answer=Derivation(form_chain))
def form_steps():
    """From vᵀ J v to the variance of v under p, one equality a line."""
    return [
        "v1*p1*(v1 - m) + v2*p2*(v2 - m) + v3*p3*(v3 - m)",
        "p1*v1**2 + p2*v2**2 + p3*v3**2 - m**2",
        "p1*v1**2 + p2*v2**2 + p3*v3**2 - 2*m*(p1*v1 + p2*v2 + p3*v3) + m**2*(p1 + p2 + p3)",
        "p1*(v1 - m)**2 + p2*(v2 - m)**2 + p3*(v3 - m)**2",
    ]


@form_steps.alternative
def mean_subtracted_and_added():
    """Write v_i = (v_i − m) + m; the second sum vanishes."""
    return [
        "(v1 - m + m)*p1*(v1 - m) + (v2 - m + m)*p2*(v2 - m) + (v3 - m + m)*p3*(v3 - m)",
        "p1*(v1 - m)^2 + p2*(v2 - m)^2 + p3*(v3 - m)^2"
        " + m*(p1*(v1 - m) + p2*(v2 - m) + p3*(v3 - m))",
        "p1*(v1 - m)^2 + p2*(v2 - m)^2 + p3*(v3 - m)^2",
    ]


@form_steps.alternative
def variance_expanded():
    """Reach E v² − m², and read the expansion of the variance backwards."""
    return [
        "v1^2*p1 + v2^2*p2 + v3^2*p3 - m*(v1*p1 + v2*p2 + v3*p3)",
        "v1^2*p1 + v2^2*p2 + v3^2*p3 - m^2",
        "(v1^2 - 2*m*v1 + m^2)*p1 + (v2^2 - 2*m*v2 + m^2)*p2 + (v3^2 - 2*m*v3 + m^2)*p3",
        "p1*(m - v1)^2 + p2*(m - v2)^2 + p3*(m - v3)^2",
    ]


@form_steps.alternative
def nothing_subtracted():
    """Subtract m times a sum that vanishes."""
    return [
        "v1*p1*(v1 - m) + v2*p2*(v2 - m) + v3*p3*(v3 - m)"
        " - m*(p1*(v1 - m) + p2*(v2 - m) + p3*(v3 - m))",
        "(v1 - m)*p1*(v1 - m) + (v2 - m)*p2*(v2 - m) + (v3 - m)*p3*(v3 - m)",
        "p1*(v1 - m)**2 + p2*(v2 - m)**2 + p3*(v3 - m)**2",
    ]


def sum_is_used(line):
    """Do the probabilities stand there as a sum, or one of them as what the others lack to 1?"""
    pairs = ("p2 + p3", "p1 + p3", "p1 + p2", "-p2 - p3", "-p1 - p3", "-p1 - p2")
    lacking = ("1 - p1 - p2", "1 - p1 - p3", "1 - p2 - p3", "1 - (p1 + p2)")
    return line.has_sum("1") or line.contains(*pairs) or line.shows(*lacking)


def squares_are_left(line):
    """Is it 1 minus the squares?"""
    return line.contains("1 - p1**2 - p2**2 - p3**2")


trace_chain = Chain(
    start="p1*(1 - p1) + p2*(1 - p2) + p3*(1 - p3)",
    target="1 - p1**2 - p2**2 - p3**2",
    names=("p1", "p2", "p3"),
    definitions={"p3": "1 - p1 - p2"},
    final_names=("p1", "p2", "p3"),
    waypoints=(Waypoint("Use that the probabilities add up to 1.", sum_is_used),),
    ends=Waypoint("End with 1 and the squares of the probabilities.", squares_are_left),
)


@exercise.part(points=1, answer=Derivation(trace_chain))
def trace_steps():
    """The trace of J, down to a form with the squares of the probabilities alone."""
    return [
        "p1*(1 - p1) + p2*(1 - p2) + p3*(1 - p3)",
        "(p1 + p2 + p3) - (p1**2 + p2**2 + p3**2)",
        "1 - (p1**2 + p2**2 + p3**2)",
    ]


@trace_steps.alternative
def multiplied_out():
    """Term by term, then the sum."""
    return [
        "p1*(1 - p1) + p2*(1 - p2) + p3*(1 - p3)",
        "p1 - p1^2 + p2 - p2^2 + p3 - p3^2",
        "1 - p1^2 - p2^2 - p3^2",
    ]


@trace_steps.alternative
def mixed_products():
    """Each 1 − p_i is the sum of the others; the products are what a square lacks."""
    return [
        "p1*(p2 + p3) + p2*(p1 + p3) + p3*(p1 + p2)",
        "2*(p1*p2 + p1*p3 + p2*p3)",
        "(p1 + p2 + p3)^2 - p1^2 - p2^2 - p3^2",
        "1 - p1^2 - p2^2 - p3^2",
    ]


@trace_steps.alternative
def in_latex():
    """With the sum of the probabilities in brackets."""
    return [
        r"\left(p_1 + p_2 + p_3\right) - \left(p_1^2 + p_2^2 + p_3^2\right)",
        r"1 - \left(p_1^2 + p_2^2 + p_3^2\right)",
        r"1 - p_1^2 - p_2^2 - p_3^2",
    ]


@exercise.part(points=1, answer=Numbers())
def norms():
    """The spectral norm of J at z = (0, 0) and at z = (10, 0), two numbers."""
    return np.array([np.linalg.norm(softmax_jacobian(np.array([gap, 0])), 2) for gap in (0, 10)])


@norms.misconception()
def one_entry():
    """You gave the entry p₁p₂. All four entries are as large: what does J do with (1, −1)?"""
    return np.array([softmax_jacobian(np.array([gap, 0]))[0, 0] for gap in (0, 10)])


@norms.misconception()
def largest_probability():
    """These are the largest probabilities, the norms of diag(p). Saturation does not show there."""
    return np.array([softmax(np.array([gap, 0])).max() for gap in (0, 10)])


norms.mistakes(
    rounded_to_nothing=(
        np.array([0.5, 0]),
        "Small is not nothing: the second norm has digits too, and they say how much gets through.",
    ),
    same_everywhere=(
        np.array([0.5, 0.5]),
        "You say that the norm is the same at both points. Work out p at the second one.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "1, as for every outer product.",
            "It depends: the more saturated the softmax, the smaller.",
            "$n - 1$: the vector of ones, and only its multiples, go to 0.",
            "$n$, since all $p_i$ are positive.",
        ]
    ),
)
def rank():
    """The rank of J for n finite logits."""
    return "C"


rank.mistakes(
    rank_of_the_outer_product=(
        "A",
        "That is the rank of p pᵀ alone, which is subtracted from a matrix of full rank.",
    ),
    saturation_for_rank=(
        "B",
        "Small eigenvalues are not 0: with finite logits every p_i is positive.",
    ),
    full_rank=("D", "One direction of z changes nothing at all, so J sends it to 0."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "$1/4$, reached where some $p_i = 1/2$.",
            "$1/2$, reached by two equal logits, and approached whenever two entries share "
            "nearly all the mass evenly.",
            "$1$, approached when one entry gets nearly everything.",
            "None: the norm grows with the gaps between the logits.",
        ]
    ),
)
def norm_bound(norms):
    """The least upper bound of the spectral norm of J."""
    return "A" if abs(norms[0] - 1 / 4) < 0.01 else "B"  # the norm at two equal logits


norm_bound.mistakes(
    bound_of_the_diagonal=(
        "A",
        "That bounds an entry on the diagonal, p(1 − p). A norm can be larger than every entry.",
    ),
    bound_of_the_probabilities=(
        "C",
        "True, but not the least: p pᵀ takes something away in every direction that matters.",
    ),
    no_bound=(
        "D",
        "Each eigenvalue is a variance of numbers v with Σ v² = 1, and that is bounded.",
    ),
)
