"""Weights by content, by location and by both.

Source: Shaw, Uszkoreit & Vaswani (2018), "Self-attention with relative position representations";
Raffel et al. (2020), section 2.1.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.algebra import IndexedChain
from autograder.exercise import Choice, Count, Derivation, Exercise, Numbers, agree
from reference.helpers import softmax

exercise = Exercise(
    "relative_bias",
    title="Content plus location",
    source="Shaw et al. (2018), section 3; Raffel et al. (2020), section 2.1",
    minutes=40,
    hints=[
        "An exponential of a sum is a product: e^(f+g) = e^f e^g. What is left to do is to "
        "divide by a sum.",
        "Clipping leaves the offsets −K to K, with 0 among them.",
    ],
)


@exercise.variant
def draw(rng):
    """f: four scores by content; i: the query's position; clip, width: of relative vectors."""
    while True:
        f, i = rng.integers(0, 4, 4), int(rng.integers(0, 4))
        if len(set(f)) > 1:
            return {
                "f": f,
                "i": i,
                "clip": int(rng.choice([8, 12, 16, 20, 32])),
                "width": int(rng.choice([32, 48, 64, 96])),
                "length": int(rng.choice([256, 384, 512, 1024])),
            }


def location_term(i):
    """Return −|i − j| for the four keys."""
    return -np.abs(i - np.arange(4))


@exercise.part(points=1, answer=Numbers())
def content(f):
    """The weights by content alone, softmax(f)."""
    return softmax(f)


@content.misconception()
def content_linear(f):
    """You divided by the sum. A softmax takes exponentials first."""
    return f / f.sum()


@content.misconception()
def powers_of_two(f):
    """You took powers of 2. A softmax takes those of e."""
    return softmax(f * np.log(2))


@content.misconception()
def content_scaled(f):
    """You divided by √d_k. These scores are given as they go into the softmax."""
    return softmax(f / 2)


@exercise.part(points=1, answer=Numbers())
def location(i):
    """The weights by location alone, softmax(g) with g_j = −|i − j|."""
    return softmax(location_term(i))


@location.misconception()
def location_rewarded(i):
    """Your weights grow with the distance. Mind the sign."""
    return softmax(-location_term(i))


@location.misconception()
def direction_kept(i):
    """You forgot the absolute value: later keys gain in yours, however far they are."""
    return softmax(np.arange(4) - i)


@location.misconception()
def location_counted_from_one(i):
    """Yours is the query one place before. Positions count from 0, for query and keys alike."""
    return softmax(-np.abs(i - 1 - np.arange(4)))


@location.misconception()
def only_the_past(i):
    """You left out the keys behind the query. Nothing is masked here."""
    return softmax(np.where(np.arange(4) <= i, location_term(i), -np.inf))


@exercise.part(points=1.25, answer=Numbers())
def both(content, location):
    """The weights by both, softmax(f + g)."""
    return content * location / (content @ location)


def in_numbers(expr, known, places):
    """Work out an expression with indexed names, where these stand for four numbers each."""
    name, args = expr.func.__name__, expr.args
    if name == "Total":
        return sum(in_numbers(args[0], known, places | {args[1]: k}) for k in range(4))
    if name in known:
        return known[name][places[args[0]]]
    if expr.is_Symbol:
        return known[expr.name]
    values = (in_numbers(part, known, places) for part in args)
    return float(expr.func(*values) if args else expr)


@both.alternative
def where_the_steps_end(f, i, content, location, product_steps):
    """What the student's own derivation ends in, with the student's own weights."""
    end, g = product_steps[-1].expr, location_term(i)
    known = {"f": f, "g": g, "p": content, "q": location, "n": 4}
    known |= {"X": np.exp(f).sum(), "Y": np.exp(g).sum()}
    letters = sorted(end.free_symbols, key=str)
    return np.array([in_numbers(end, known, dict.fromkeys(letters, j)) for j in range(4)])


@both.misconception()
def averaged(content, location):
    """You averaged the weights. Scores are added before the softmax: what happens to e^(f + g)?"""
    return (content + location) / 2


@both.misconception()
def weights_in_a_softmax(content, location):
    """You put the weights into the softmax once more. The scores belong there."""
    return softmax(content + location)


@both.misconception()
def product_not_normalised(content, location):
    """The product of the weights is right; now they don't add up to 1."""
    return content * location


chain = IndexedChain(
    start="exp(f_j + g_j)/sum(exp(f_k + g_k), k)",
    target="p_j*q_j/sum(p_k*q_k, k)",
    indexed=("f", "g", "p", "q"),
    names=("X", "Y"),
    indices=("j", "k"),
    definitions={
        "X": "sum(exp(f_k), k)",
        "Y": "sum(exp(g_k), k)",
        "p_j": "exp(f_j)/X",
        "q_j": "exp(g_j)/Y",
    },
    rules=("linearity of sums", "definition"),
)


@exercise.part(points=1, answer=Derivation(chain))
def product_steps():
    """The weights by both are the product of the two, divided by its sum."""
    return [
        "exp(f_j + g_j)/sum(exp(f_k + g_k), k)",
        "exp(f_j)*exp(g_j)/sum(exp(f_k)*exp(g_k), k)",
        "p_j*X*q_j*Y/sum(p_k*X*q_k*Y, k)",
        "X*Y*p_j*q_j/(X*Y*sum(p_k*q_k, k))",
        "p_j*q_j/sum(p_k*q_k, k)",
    ]


@product_steps.alternative
def weights_put_in_from_behind():
    """Start from the end, so to say: bring the two sums in."""
    return [
        "exp(f_j + g_j)/sum(exp(f_k + g_k), k)",
        "exp(f_j)*exp(g_j)/sum(exp(f_k)*exp(g_k), k)",
        "(exp(f_j)/X)*(exp(g_j)/Y)/(sum(exp(f_k)*exp(g_k), k)/(X*Y))",
        "(exp(f_j)/X)*(exp(g_j)/Y)/sum(exp(f_k)*exp(g_k)/(X*Y), k)",
        "p_j*q_j/sum(p_k*q_k, k)",
    ]


@product_steps.alternative
def numerator_first():
    """Replace the numerator, then the denominator."""
    return [
        "exp(f_j + g_j)/sum(exp(f_k + g_k), k)",
        "exp(f_j)*exp(g_j)/sum(exp(f_k + g_k), k)",
        "X*p_j*Y*q_j/sum(exp(f_k + g_k), k)",
        "X*p_j*Y*q_j/sum(exp(f_k)*exp(g_k), k)",
        "X*p_j*Y*q_j/sum(X*p_k*Y*q_k, k)",
        "X*p_j*Y*q_j/(X*Y*sum(p_k*q_k, k))",
        "p_j*q_j/sum(p_k*q_k, k)",
    ]


@product_steps.alternative
def the_factors_behind():
    """Take X Y out of the sum without a word."""
    return [
        "exp(f_j + g_j)/sum(exp(f_k + g_k), k)",
        "exp(f_j)*exp(g_j)/sum(exp(f_k)*exp(g_k), k)",
        "p_j*q_j*X*Y/sum(p_k*q_k*X*Y, k)",
        "p_j*q_j/sum(p_k*q_k, k)",
    ]


@exercise.part(points=2.5, answer=Count())
def counts(clip, width, length):
    """Offsets with clipping; their parameters, a vector each; offsets without clipping."""
    return [2 * clip + 1, (2 * clip + 1) * width, 2 * length - 1]


@counts.misconception(credit=0.4)
def zero_forgotten(clip, width, length):
    """A token has the offset 0 to itself: that is one more."""
    return [2 * clip, 2 * clip * width, 2 * length - 2]


@counts.misconception(credit=0.6)
def zero_forgotten_where_clipped(clip, width, length):
    """A token has the offset 0 to itself: with clipping, too, that is one more."""
    return [2 * clip, 2 * clip * width, 2 * length - 1]


@counts.misconception()
def one_direction(clip, width, length):
    """You counted one direction. Keys before and behind a query have different offsets."""
    return [clip + 1, (clip + 1) * width, length]


@counts.misconception()
def pairs_counted(clip, width, length):
    """The last number counts pairs of positions. Many pairs have the same offset."""
    return [2 * clip + 1, (2 * clip + 1) * width, length**2]


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "Yes: all that is added to $q \\cdot k$ is divided, as the product is.",
            "It makes no difference to the weights.",
            "Both are in use, and they give different weights.",
        ]
    ),
)
def inside():
    """Is the location term divided by √d_k as well?"""
    return "C"


inside.mistakes(
    always_inside=(
        "A",
        "Some add it to q · k, before the scale (Shaw et al.), others after the scale (ALiBi).",
    ),
    makes_no_difference=("B", "Compute both for d_k = 4: the weights differ."),
)


@exercise.reference
def toeplitz_bias(b: Float[ndarray, " o"], n: int) -> Float[ndarray, "n n"]:
    """Return the table with b[clip(j − i, −K, K) + K] in row i, column j, where len(b) = 2K + 1."""
    K = len(b) // 2
    offset = np.arange(n) - np.arange(n)[:, None]
    return np.asarray(b)[np.clip(offset, -K, K) + K]


@exercise.alternative
def entry_by_entry(b, n):
    """Two loops."""
    K = (len(b) - 1) // 2
    return np.array([[b[max(-K, min(K, j - i)) + K] for j in range(n)] for i in range(n)])


@exercise.alternative
def diagonal_by_diagonal(b, n):
    """Put one diagonal after the other."""
    K, table = len(b) // 2, np.zeros((n, n))
    for offset in range(1 - n, n):
        value = b[min(max(offset, -K), K) + K]
        table += np.diag(np.full(n - abs(offset), value), offset)
    return table


@exercise.alternative
def by_padding(b, n):
    """Repeat the ends, then cut a window out for every row."""
    K = len(b) // 2
    long = np.pad(np.asarray(b, float), n, mode="edge")
    return np.array([long[K + n - i : K + 2 * n - i] for i in range(n)])


@exercise.check(points=1, visible=True)
def constant_along_diagonals(call, rng):
    """Row i, column j holds b[j − i + K] where the offset is not clipped."""
    K = int(rng.integers(3, 6))
    b = 4 * rng.normal(size=2 * K + 1)
    agree(call(b, K), toeplitz_bias(b, K))


@exercise.check(points=1)
def offsets_beyond_are_clipped(call, rng):
    """Offsets beyond ±K take the value at ±K; K = 0 makes all entries equal."""
    for K, n in ((2, 7), (0, 3)):
        b = 4 * rng.normal(size=2 * K + 1)
        agree(call(b, n), toeplitz_bias(b, n))


@exercise.misconception(credit=0.5)
def transposed(b, n):
    """You took i − j. The offset of a key is j − i, negative for keys before the query."""
    return toeplitz_bias(b, n).T


@exercise.misconception(credit=0.4)
def index_not_moved(b, n):
    """Your index is the offset itself. But b[0] is for the offset −K: the diagonal holds b[K]."""
    K = len(b) // 2
    offset = np.arange(n) - np.arange(n)[:, None]
    return np.asarray(b)[np.clip(offset, -K, K)]


@exercise.misconception(credit=0.5)
def never_clipped(b, n):
    """Offsets beyond ±K have no entry of their own in b: they take that at the nearer end."""
    K, offset = len(b) // 2, np.arange(n) - np.arange(n)[:, None]
    return np.asarray(b)[offset + K]


@exercise.misconception(credit=0.5)
def clipped_above_alone(b, n):
    """You clip at one end. In Python an index below 0 counts from the other one."""
    K, offset = len(b) // 2, np.arange(n) - np.arange(n)[:, None]
    return np.asarray(b)[np.minimum(offset, K) + K]


@exercise.misconception(credit=0.5)
def bounds_from_n(b, n):
    """You took K from n. It comes from b, which has 2K + 1 entries."""
    K, offset = n // 2, np.arange(n) - np.arange(n)[:, None]
    return np.asarray(b)[np.clip(offset, -K, K) + K]


@exercise.misconception(credit=0.5)
def cut_to_whole_numbers(b, n):
    """Your table holds whole numbers, so the biases lose their fractions."""
    return toeplitz_bias(b, n).astype(int)


@exercise.misconception
def wrapped_around(b, n):
    """Far offsets start again at the other end. Clip them."""
    offset = np.arange(n) - np.arange(n)[:, None] + len(b) // 2
    return np.asarray(b)[offset % len(b)]


@exercise.misconception
def zero_beyond(b, n):
    """Far offsets have the bias 0 in yours. Clipped, they take the last value there is."""
    offset = np.arange(n) - np.arange(n)[:, None]
    return np.where(abs(offset) <= len(b) // 2, toeplitz_bias(b, n), 0)


@exercise.misconception(credit=0.4)
def symmetric(b, n):
    """Yours depends on the distance alone: keys before and behind a query differ."""
    K = len(b) // 2
    offset = np.arange(n) - np.arange(n)[:, None]
    return np.asarray(b)[np.clip(abs(offset), 0, K) + K]
