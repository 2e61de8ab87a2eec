"""Scores of rotated vectors know the difference of the positions and nothing else.

Source: Su et al. (2021), "RoFormer", section 3.2.1, eq. 12 to 16.
"""

import numpy as np
import sympy

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import (
    Derivation,
    Exercise,
    Form,
    Matrix,
    Numbers,
    agree,
    given,
    made,
    seeded,
)

exercise = Exercise(
    "rope_relative",
    title="Only the difference counts",
    source="Su et al. (2021), eq. 12 to 16",
    minutes=35,
    hints=[
        "A turn keeps scalar products: move one of the two rotations over to the other side "
        "as a transpose.",
        "Rᵀ turns back. What do a turn back by m and a turn by n make together?",
    ],
)
rope = exercise.carries("a05_positions/rope_apply", "rope")


@exercise.variant
def draw(rng):
    """q, k: (2,), whole numbers; m, n: their positions from 1 to 6, which differ."""
    q, k = rng.integers(-3, 4, (2, 2))
    while True:
        m, n = rng.choice(np.arange(1, 7), 2, replace=False)
        if m != 2 * n:  # then the angles m − n and n would be one
            return {"q": q, "k": k, "m": int(m), "n": int(n)}


def rotation(angle):
    """Turn counter-clockwise."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


START = (
    "(x*cos(m*w) - y*sin(m*w))*(u*cos(n*w) - v*sin(n*w))"
    " + (x*sin(m*w) + y*cos(m*w))*(u*sin(n*w) + v*cos(n*w))"
)

chain = IndexedChain(
    start=START,
    target="(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    names=("x", "y", "u", "v", "m", "n", "w"),
    indices=("i",),
    size="N",
    rules=("addition theorem",),
    closed=("sin", "cos"),
    min_lines=3,
    ends=Waypoint(
        "End with the positions as a difference alone, n - m.",
        lambda line: line.shows("n - m", "m - n"),
    ),
)


@exercise.part(points=2, answer=Derivation(chain))
def steps():
    """The score of two turned pairs, to a form in which m and n stand as a difference alone."""
    return [
        START,
        "(x*u + y*v)*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w))"
        " + (y*u - x*v)*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))",
        "(x*u + y*v)*cos(n*w - m*w) + (y*u - x*v)*sin(n*w - m*w)",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@steps.alternative
def both_theorems_at_once():
    """Sort by x u + y v and y u − x v, then use the two addition theorems."""
    return [
        START,
        "(x*u + y*v)*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w))"
        " + (y*u - x*v)*(cos(m*w)*sin(n*w) - sin(m*w)*cos(n*w))",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@steps.alternative
def one_theorem_after_the_other():
    """The cosine first."""
    return [
        START,
        "(x*u + y*v)*(cos(n*w)*cos(m*w) + sin(n*w)*sin(m*w))"
        " + (y*u - x*v)*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))",
        "(x*u + y*v)*cos(n*w - m*w) + (y*u - x*v)*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


@steps.alternative
def sorted_by_the_query():
    """Collect what stands behind x and what stands behind y."""
    return [
        START,
        "x*(u*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w))"
        " - v*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w)))"
        " + y*(u*(sin(n*w)*cos(m*w) - cos(n*w)*sin(m*w))"
        " + v*(cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w)))",
        "x*(u*cos(n*w - m*w) - v*sin(n*w - m*w)) + y*(u*sin(n*w - m*w) + v*cos(n*w - m*w))",
        "(x*u + y*v)*cos((n - m)*w) + (y*u - x*v)*sin((n - m)*w)",
    ]


COSINE = "cos(m*w)*cos(n*w) + sin(m*w)*sin(n*w)"
SINE = "cos(m*w)*sin(n*w) - sin(m*w)*cos(n*w)"
single = Form(
    "Use the addition theorems, so that a single sine or cosine stands in every entry.",
    lambda matrix: all(len(entry.atoms(sympy.sin, sympy.cos)) <= 1 for entry in matrix),
    restated=[[COSINE, f"-({SINE})"], [SINE, COSINE]],
)


@exercise.part(points=1, answer=Matrix("m n w", form=single))
def product():
    """The product R_mᵀ R_n, with a single sine or cosine in every entry."""
    return [["cos((n - m)*w)", "-sin((n - m)*w)"], ["sin((n - m)*w)", "cos((n - m)*w)"]]


product.mistakes(
    other_difference=(
        [["cos((m - n)*w)", "-sin((m - n)*w)"], ["sin((m - n)*w)", "cos((m - n)*w)"]],
        "That is R_(m − n). It is the first factor that is transposed, so it turns backwards.",
    ),
    sum_of_the_positions=(
        [["cos((m + n)*w)", "-sin((m + n)*w)"], ["sin((m + n)*w)", "cos((m + n)*w)"]],
        "That is R_m R_n. The transposed factor turns backwards, so the angles are subtracted.",
    ),
)


@exercise.part(points=2, answer=Numbers())
def score(q, k, m, n):
    """The score (R_m q) · (R_n k) of your vectors, one radian for each position."""
    return q @ rotation(n - m) @ k


@score.alternative
def both_turned(q, k, m, n):
    """Turn both vectors by the function of the exercise before."""
    turned = [np.asarray(rope(x[None], np.array([at]))) for x, at in ((q, m), (k, n))]
    return (turned[0] @ turned[1].T).item()


@score.misconception()
def score_of_the_other_difference(q, k, m, n):
    """You turned by (m − n). The query is turned as well: R_mᵀ R_n = R_(n − m)."""
    return q @ rotation(m - n) @ k


@score.misconception()
def score_without_positions(q, k):
    """That is q · k, as if both were at the same position."""
    return q @ k


@score.misconception()
def score_of_the_sum(q, k, m, n):
    """You added the angles. Both vectors are turned the same way, so they are subtracted."""
    return q @ rotation(m + n) @ k


@score.misconception()
def score_in_degrees(q, k, m, n):
    """Your calculator is set to degrees. One position turns by one radian."""
    return q @ rotation(np.deg2rad(n - m)) @ k


@score.misconception()
def only_the_key_turned(q, k, n):
    """You turned the key alone. The query stands at a position as well."""
    return q @ rotation(n) @ k


@exercise.reference
def relative_test(f, d: int, rng: np.random.Generator) -> bool:
    """Tell whether scores of encoded vectors depend on the difference of their positions alone."""
    return passes(f, d, rng)


def as_they_are(m, n):
    """Positions in their order."""
    return m, n


def passes(
    f,
    d,
    rng,
    positions=60,
    same=False,
    tolerance=1e-8,
    both=True,
    equal=False,
    places=as_they_are,
    way=1,
):
    """Compare 20 scores with those of the same vectors at positions shifted by the same number."""
    for _ in range(20):
        q, k = rng.normal(size=(2, d))
        k = q if equal else k
        m, n, shift = rng.integers(1, positions, 3)
        n = m if same else n
        one, other = places(m + shift * both, n + way * shift)
        later = f(q, one) @ f(k, other)
        if abs(f(q, m) @ f(k, n) - later) > tolerance:
            return False
    return True


@exercise.alternative
def along_the_diagonals(f, d, rng):
    """Make a table of scores; it must be constant along each diagonal."""
    q, k = rng.normal(size=(2, d))
    Q, K = (np.array([f(x, p) for p in range(60)]) for x in (q, k))
    S = Q @ K.T
    return all(np.ptp(np.diagonal(S, offset)) < 1e-7 for offset in range(-59, 60))


@exercise.alternative
def against_position_zero(f, d, rng):
    """Compare each score with that of the key at position 0 and the query moved along."""
    q, k = rng.normal(size=(2, d))
    for n in range(50):
        for m in range(n, n + 8):
            if not np.isclose(f(q, m) @ f(k, n), f(q, m - n) @ f(k, 0), atol=1e-7):
                return False
    return True


@exercise.alternative
def by_the_spread(f, d, rng):
    """Look at the spread of one score over many shifts."""
    spreads = []
    for m, n in rng.integers(0, 30, (6, 2)):
        q, k = rng.normal(size=d), rng.normal(size=d)
        spreads.append(np.std([np.sum(f(q, m + s) * f(k, n + s)) for s in range(40)]))
    return bool(max(spreads) < 1e-6)


def turning(base, speed=1.0):
    """Turn each pair by an angle that grows with the position."""

    def encode(x, position):
        pairs = np.asarray(x, float).reshape(-1, 2)
        turned = np.sign(position) * abs(position) ** speed  # also before position 0
        angles = turned * base ** (-np.arange(len(pairs)) / len(pairs))
        c, s = np.cos(angles), np.sin(angles)
        x, y = pairs.T
        return np.stack([c * x - s * y, s * x + c * y], axis=1).ravel()

    return encode


def adding(base):
    """Add a sinusoidal encoding."""
    turn = turning(base)
    return lambda x, position: x + turn(np.tile([1.0, 0.0], len(x) // 2), position)


def fading(rate):
    """Turn, and shrink with the position."""
    turn = turning(10000)
    return lambda x, position: turn(x, position) * rate**position


def shrinking_alone(x, position):
    """Shrink with the position, and turn nowhere."""
    return x * 0.97**position


def stopping(last):
    """Turn up to some position and no further."""
    turn = turning(100)
    return lambda x, position: turn(x, min(position, last))


def half_turns(x, position):
    """Turn by half a circle a position, which is exact."""
    return x * (-1.0) ** position


def unplaced(x, position):
    """Leave every vector as it is."""
    return x


def shadow(x, position):
    """Turn half of the numbers, without the others: such scores are the same over -3 and over 3."""
    angle, first = 0.7 * position, np.asarray(x)[: len(x) // 2]
    return np.concatenate([np.cos(angle) * first, np.sin(angle) * first])


def quaternion(x, position):
    """Turn four numbers: with itself a vector has relative scores, with another one it hasn't."""
    a, b = np.exp(1j * position * np.array([0.3, 1.1])) / np.sqrt(2)
    z = np.asarray(x)[:2] + 1j * np.asarray(x)[2:]
    y = np.array([[a, -b.conj()], [b, a.conj()]]) @ z
    return np.concatenate([y.real, y.imag])


def clock(x, position):
    """Turn each pair by a tenth of a circle a position."""
    return turning(1)(x, 2 * np.pi / 10 * position)


@exercise.check(points=0.75)
def additive_encodings(call, rng):
    """Rotations of pairs pass; encodings that are added to the vectors don't."""
    rotations = given(half_turns), given(clock), made(turning, 10000)
    others = given(unplaced), given(shadow)  # they tell mistakes apart that rotations don't
    for answer in [call(model, 2 * d, seeded(d)) for d, model in enumerate(rotations + others, 1)]:
        agree(answer, True, what="the answer for a rotation")
    agree(call(made(adding, 10000), 4, seeded(4)), False, what="the answer for added encodings")
    agree(call(made(adding, 100), 8, seeded(5)), False, what="the answer for added encodings")


@exercise.check(points=0.25, after=additive_encodings)
def shrinking(call, rng):
    """A rotation that also shrinks with the position is not relative."""
    for model in (made(fading, 0.97), given(shrinking_alone), made(fading, 0.998)):
        agree(call(model, 8, seeded(6)), False, what="the answer for a shrinking one")


@exercise.check(points=0.25, after=additive_encodings)
def uneven_speed(call, rng):
    """A rotation that gets faster with the position is not relative."""
    agree(call(made(turning, 100, 1.5), 4, seeded(7)), False, what="the answer for a faster one")


@exercise.check(points=0.5, after=additive_encodings)
def far_positions(call, rng):
    """A rotation that stops at position 16 is not relative: positions beyond are tried."""
    models = made(stopping, 16), made(turning, 100, 1.5)
    for answer in [call(model, 4, seeded(8)) for model in models]:
        agree(answer, False, what="the answer for a rotation that stops, or gets faster")


@exercise.check(points=0.25, after=additive_encodings)
def two_different_vectors(call, rng):
    """What is relative for a vector with itself need not be so for two different ones."""
    models = given(quaternion), made(turning, 100, 1.5), made(turning, 10000)
    answers = [call(model, 4, seeded(9)) for model in models]
    agree(answers, [False, False, True], what="the answers for three ways to turn")


@exercise.misconception
def only_the_key_shifted(f, d, rng):
    """You moved one of the two. Their distance changes then, and with it the score."""
    return passes(f, d, rng, both=False)


@exercise.misconception
def vectors_compared(f, d, rng):
    """You compared the encoded vectors. They do change; the scores of two of them do not."""
    q = rng.normal(size=d)
    return bool(np.allclose(f(q, 3), f(q, 13)))


@exercise.misconception
def exact_equality(f, d, rng):
    """You ask for equal numbers. Sines and cosines are rounded: allow a small difference."""
    return passes(f, d, rng, tolerance=0)


@exercise.misconception
def too_tolerant(f, d, rng):
    """You let scores differ by too much. The text says what rounding changes, and what counts."""
    return passes(f, d, rng, tolerance=1)


@exercise.misconception
def exchanged(f, d, rng):
    """In one of your two scores the positions are exchanged: −3 and 3 are two distances."""
    return passes(f, d, rng, places=lambda m, n: (n, m))


@exercise.misconception
def moved_apart(f, d, rng):
    """You moved one back where the other went on: move both by the same number."""
    return passes(f, d, rng, way=-1)


@exercise.misconception
def same_position_for_both(f, d, rng):
    """Your test sees lengths alone, as of a key at its query's own position. Let the two differ."""
    return passes(f, d, rng, same=True)


@exercise.misconception
def same_vector_for_both(f, d, rng):
    """Query and key are the same vector in your test. Draw two of them."""
    return passes(f, d, rng, equal=True)


@exercise.misconception
def near_positions_only(f, d, rng):
    """You tried small positions alone. What is relative there need not be so further on."""
    return passes(f, d, rng, positions=6)


@exercise.misconception
def angles_compared(f, d, rng):
    """You compared angles. A score changes with the lengths of its vectors, too."""
    return passes(lambda x, position: f(x, position) / np.linalg.norm(f(x, position)), d, rng)
