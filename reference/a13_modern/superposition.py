"""More features than dimensions: how near to orthogonal they can be, and what reading them costs.

Source: Welch (1974), "Lower bounds on the maximum cross correlation of signals"; Elhage et al.
(2022), "Toy models of superposition".
"""

import numpy as np

from autograder.algebra import IndexedChain
from autograder.exercise import Derivation, Exercise, Formula, Numbers, Witness

exercise = Exercise(
    "superposition",
    title="More features than dimensions",
    source="Welch (1974); Elhage et al. (2022)",
    minutes=50,
    hints=[
        "Multiply the square out under the sum. Which of the three sums has a name already, and "
        "what does the definition of t say about another one?",
        "A regular solid whose corners lie in opposite pairs gives one line for each pair. Which "
        "solid has six pairs, all alike?",
        "For the expected error list how many of the three features are on, how often that "
        "happens, and what the reading gets wrong each time.",
    ],
)


spread = IndexedChain(
    start="sum((l_i - t)^2, i)",
    target="F - t^2*d",
    names=("t", "F"),
    indexed=("l",),
    size="d",
    definitions={"F": "sum(l_i^2, i)", "t": "sum(l_i, i)/d"},
    rules=("linearity of sums", "definition"),
    min_lines=3,
)


OTHER_SPREAD_STEPS = (
    "sum((l_i + t)^2, i)",
    "sum(l_i^2, i) + 2*t*sum(l_i, i) + d*t^2",
    "F + 2*t*sum(l_i, i) + d*t^2",
    "F + 3*d*t^2",
)


@exercise.part(points=2, answer=Derivation(spread, practice=OTHER_SPREAD_STEPS))
def spread_steps():
    """The spread of d eigenvalues around their mean t, led to F − t² d."""
    return [
        "sum(l_i^2 - 2*t*l_i + t^2, i)",
        "sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2  # linearity of sums",
        "F - 2*t*sum(l_i, i) + d*t^2  # definition",
        "F - 2*t*(d*t) + d*t^2  # definition",
        "F - t^2*d",
    ]


@spread_steps.alternative
def one_sum_after_the_other():
    """Split the sums before factors are taken out."""
    return [
        "sum(l_i^2 - 2*t*l_i + t^2, i)",
        "sum(l_i^2, i) - sum(2*t*l_i, i) + sum(t^2, i)  # linearity of sums",
        "F - sum(2*t*l_i, i) + sum(t^2, i)  # definition",
        "F - 2*t*sum(l_i, i) + d*t^2",
        "F - 2*t*(d*t) + d*t^2",
        "F - d*t^2",
    ]


@spread_steps.alternative
def as_a_product():
    """Write the square as a product; one factor is a deviation, and deviations add up to 0."""
    return [
        "sum(l_i*(l_i - t) - t*(l_i - t), i)",
        "sum(l_i*(l_i - t), i) - t*sum(l_i - t, i)",
        "sum(l_i^2, i) - t*sum(l_i, i) - t*(sum(l_i, i) - d*t)",
        "sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2",
        "F - 2*t*sum(l_i, i) + d*t^2",
        "F - 2*t*t*d + d*t^2",
        "F - t^2*d",
    ]


@spread_steps.alternative
def in_latex():
    """Write sums with their sign."""
    return [
        r"\sum_i (l_i^2 - 2 t l_i + t^2)",
        r"\sum_i l_i^2 - 2 t \sum_i l_i + d t^2",
        r"F - 2 t \sum_i l_i + d t^2",
        r"F - 2 d t^2 + d t^2",
        r"F - t^2 d",
    ]


@exercise.part(points=1, answer=Formula("n d", {"*": "positive"}))
def bound():
    """The least μ that n vectors in d dimensions can have by this argument."""
    return "sqrt((n - d)/(d*(n - 1)))"


bound.mistakes(
    root_forgotten=(
        "(n - d)/(d*(n - 1))",
        "That is the square of μ: the entries of G are squared in its norm.",
    ),
    diagonal_forgotten=(
        "sqrt(n/(d*(n - 1)))",
        "G has ones on its diagonal, and they count: n of them, whatever the directions.",
    ),
    diagonal_counted_as_cosines=(
        "sqrt((n - d)/(d*n))",
        "An entry for each pair of different vectors: a vector makes no angle with itself.",
    ),
    pairs_counted_once=(
        "sqrt(2*(n - d)/(d*(n - 1)))",
        "G is symmetric: each pair stands in it twice.",
    ),
    sum_over_all_entries=(
        "sqrt(n*(n - d)/d)",
        "You took the sum of the squares for one of them. How many entries stand off the diagonal?",
    ),
    very_many_vectors=(
        "1/sqrt(d)",
        "That is what the bound comes to for very many vectors. Here n counts.",
    ),
    dimension_left_out=(
        "sqrt((n - d)/(n - 1))",
        "The sum of the squares is at least n²/d: where is your d?",
    ),
    squares_by_the_rank=(
        "sqrt((n - d)/(d*(d - 1)))",
        "There are n(n − 1) entries off the diagonal: G is as large as there are vectors.",
    ),
)


def directions(E):
    """What six rows show: lengths first, then the largest |cos| between two of them."""
    lengths = np.linalg.norm(E, axis=1)
    if abs(lengths - 1).max() > 1e-3:
        return "other lengths"
    cosines = abs(E @ E.T - np.diag(lengths**2))
    if cosines.max() <= np.sqrt(1 / 5) + 1e-3:
        return "at the bound"
    if cosines.max() > 0.999:
        return "one line twice"
    return "in one plane" if np.linalg.svd(E)[1][2] < 1e-3 else "too near"


GOLDEN = (1 + np.sqrt(5)) / 2
CORNERS = np.vstack([np.roll([[0, 1, GOLDEN], [0, 1, -GOLDEN]], k, axis=1) for k in range(3)])


@exercise.part(points=2, answer=Witness(directions))
def E():
    """Six unit vectors in three dimensions, as rows, with μ at the bound."""
    return CORNERS / np.sqrt(1 + GOLDEN**2)


@E.alternative
def one_corner_on_top():
    """One diagonal upright, the others around it like the ribs of an umbrella."""
    turns, height = 2 * np.pi * np.arange(5) / 5, np.sqrt(1 / 5)
    ribs = np.stack([np.cos(turns), np.sin(turns), np.full(5, 0.5)], axis=1)
    return np.vstack([[0, 0, 1], ribs * [2 * height, 2 * height, 2 * height]])


@E.alternative
def rounded():
    """Four digits, with some vectors turned round."""
    return np.round(CORNERS / np.sqrt(1 + GOLDEN**2), 4) * [[1], [-1], [1], [-1], [1], [1]]


E.mistakes(
    not_of_length_one=(CORNERS, "Divide each row by its length first: μ compares directions."),
    there_and_back=(
        np.vstack([np.eye(3), -np.eye(3)]),
        "Two of your vectors lie on one line. The size of the cosine counts, not its sign.",
    ),
)


@E.misconception()
def flat():
    """All six lie in one plane. There is a third dimension to turn into."""
    turns = np.pi * np.arange(6) / 6
    return np.stack([np.cos(turns), np.sin(turns), np.zeros(6)], axis=1)


@E.misconception()
def axes_and_diagonals():
    """Two of your lines come nearer to each other than they need. Which pair is it?"""
    return np.vstack([np.eye(3), (2 * np.eye(3) - 1) / np.sqrt(3)])


TURNS = 2 * np.pi * np.arange(3) / 3
TRIPLE = np.stack([np.cos(TURNS), np.sin(TURNS)], axis=1)
ACTIVE = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]])


@exercise.part(points=0.5, answer=Numbers())
def G():
    """The Gram matrix of three unit vectors in the plane, 120° apart."""
    return TRIPLE @ TRIPLE.T


@G.misconception()
def sizes_alone():
    """You left out the signs. Which sign has the cosine of 120°?"""
    return abs(TRIPLE @ TRIPLE.T)


@G.misconception()
def sixty_degrees():
    """Neighbours at 60° would fill half a circle only."""
    turns = np.pi * np.arange(3) / 3
    return np.cos(turns[:, None] - turns)


G.mistakes(
    columns_for_rows=(
        TRIPLE.T @ TRIPLE,
        "That is EᵀE, 2 × 2. A Gram matrix has a product for each two of the three vectors.",
    ),
    thought_at_right_angles=(
        np.eye(3),
        "In a plane no three vectors stand at right angles. What is the cosine of 120°?",
    ),
    sines_for_cosines=(
        np.sin(TURNS[1]) * (1 - np.eye(3)),
        "Those are sines. The product of two unit vectors is the cosine of their angle.",
    ),
    empty_diagonal=(
        TRIPLE @ TRIPLE.T - np.eye(3),
        "Each vector has a product with itself, too: what is it for a length of 1?",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def read(G):
    """ReLU(G x) for the three x, a row for each."""
    return np.maximum(ACTIVE @ G.T, 0)


@read.misconception()
def relu_left_out(G):
    """Where a feature is off, the interference is negative here: the ReLU removes it."""
    return ACTIVE @ G.T


read.mistakes(
    no_interference=(
        ACTIVE,
        "That is x itself. A feature that is on takes something away from the others.",
    ),
    what_is_stored=(
        ACTIVE @ TRIPLE,
        "That is what is stored. To read it, multiply with the directions once more.",
    ),
)


@read.misconception()
def sizes_for_relu(G):
    """You took sizes. The ReLU makes 0 of what is negative."""
    return abs(ACTIVE @ G.T)


@exercise.part(points=1, answer=Formula("p"))
def loss():
    """The expected squared error of the reading, if each feature is on with probability p."""
    return "3*p^2/2 + 3*p^3/2"


loss.mistakes(
    three_active=(
        "3*p^2*(1 - p)/2",
        "If all three are on, their vectors add up to 0 and all are lost. What does that cost?",
    ),
    third_feature_free=(
        "3*p^2/2 + 3*p^3",
        "Two given features are on alone only if the third one is off.",
    ),
    one_pair=("p^2*(1 - p)/2 + 3*p^3", "There are three pairs that can be on."),
    error_of_one_feature=("3*p^2*(1 - p)/4 + 3*p^3", "Both features of a pair are read wrongly."),
    loss_without_relu=(
        "3*p/2 + 3*p^2/2",
        "That is the error without the ReLU, by which single features are read without any.",
    ),
    three_cost_as_one=("3*p^2*(1 - p)/2 + p^3", "If all three are on, how many of them are lost?"),
    small_p=(
        "3*p^2/2",
        "That is the error for small p. Asked for is all of it, also if all three are on.",
    ),
    errors_not_squared=(
        "3*p^2*(1 - p) + 3*p^3",
        "Each of the two is read wrongly by a half. What is the square of that?",
    ),
    mean_of_the_three=(
        "p^2/2 + p^3/2",
        "You divided by three. Asked for is the sum over the features, the square of a length.",
    ),
)


def crossing(error):
    """The first p in (0, 1) at which an error of p is reached, if there is one."""

    def gap(p):
        return float(error(p=p)) - p

    edges = np.linspace(0.01, 0.99, 50)
    signs = [gap(p) < 0 for p in edges]
    for low, high, before, after in zip(edges, edges[1:], signs, signs[1:], strict=False):
        if before and not after:
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (middle, high) if gap(middle) < 0 else (low, middle)
            return middle
    return np.nan


@exercise.part(points=1, answer=Numbers())
def threshold(loss):
    """The p below which three in superposition cost less than two stored exactly."""
    return crossing(loss)


threshold.mistakes(
    leading_term=(
        2 / 3,
        "That is where 3p²/2 equals p. At such a p all three are on too often to leave that out.",
    ),
    against_nothing_stored=(
        (np.sqrt(9 / 4 + 18) - 3 / 2) / 3,
        "You compared with storing nothing. Two features can be stored exactly.",
    ),
)
