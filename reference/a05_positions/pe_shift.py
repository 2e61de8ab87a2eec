"""A shift of positions is a rotation, the same one everywhere.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np
import sympy

from autograder.algebra import Chain, Fact, IndexedChain, Waypoint
from autograder.exercise import Derivation, Exercise, Form, Matrix, Numbers

exercise = Exercise(
    "pe_shift",
    title="Shifting is rotating",
    source="Vaswani et al. (2017), section 3.5",
    minutes=50,
    hints=[
        "Use the addition theorems for w t + w k. The shift k alone decides what stands in "
        "the matrix.",
        "Tᵀ T: the entries off the diagonal cancel, those on it are known from Pythagoras.",
        "For width 4 there are two pairs with frequencies of their own. What is between "
        "different pairs?",
    ],
)


@exercise.variant
def draw(rng):
    """k: the shift, base: that of the encodings, both for the numbers at the end."""
    return {"k": int(rng.integers(1, 6)), "base": int(rng.choice([25, 100, 400, 2500, 10000]))}


def shifted(start, target, *known):
    """Return the chain from a wave at t + k to waves at t, with what else is known."""
    return IndexedChain(
        start=start,
        target=target,
        names=("w", "t", "k", "a", "b"),
        indices=("i",),
        definitions={"a": "cos(w*k)", "b": "sin(w*k)"},
        rules=("addition theorem", "definition", *known),
        closed=("sin", "cos"),
    )


sine = shifted("sin(w*(t + k))", "a*sin(w*t) + b*cos(w*t)")
cosine = shifted(
    "cos(w*(t + k))",
    "a*cos(w*t) - b*sin(w*t)",
    "differentiate",
    Fact("the sine at t + k", "sin(w*(t + k))", "a*sin(w*t) + b*cos(w*t)"),
)


@exercise.part(points=1.5, answer=Derivation(sine))
def sine_steps():
    """The sine at position t + k, from the sine and the cosine at t."""
    return [
        "sin(w*(t + k))",
        "sin(w*t + w*k)",
        "sin(w*t)*cos(w*k) + cos(w*t)*sin(w*k)",
        "a*sin(w*t) + b*cos(w*t)",
    ]


@sine_steps.alternative
def sine_without_multiplying_out():
    """Use the theorem on the sum as it stands."""
    return [
        "sin(w*(t + k))",
        "sin(w*t)*cos(w*k) + cos(w*t)*sin(w*k)  # addition theorem",
        "sin(w*t)*a + cos(w*t)*sin(w*k)  # definition",
        "a*sin(w*t) + b*cos(w*t)  # definition",
    ]


@sine_steps.alternative
def sine_with_the_factors_exchanged():
    """The shift first."""
    return [
        "sin(w*(k + t))",
        "sin(w*k)*cos(w*t) + cos(w*k)*sin(w*t)",
        "b*cos(w*t) + cos(w*k)*sin(w*t)",
        "b*cos(w*t) + a*sin(w*t)",
    ]


@sine_steps.alternative
def sine_put_back_at_once():
    """Both abbreviations in one line."""
    return [
        "sin(w*(t + k))",
        "cos(w*k)*sin(w*t) + sin(w*k)*cos(w*t)",
        "a*sin(t*w) + b*cos(t*w)",
    ]


@exercise.part(points=1.5, answer=Derivation(cosine))
def cosine_steps():
    """The cosine at position t + k, from the sine and the cosine at t."""
    return [
        "cos(w*(t + k))",
        "cos(w*t + w*k)",
        "cos(w*t)*cos(w*k) - sin(w*t)*sin(w*k)",
        "a*cos(w*t) - b*sin(w*t)",
    ]


@cosine_steps.alternative
def cosine_without_multiplying_out():
    """Use the theorem on the sum as it stands."""
    return [
        "cos(w*(t + k))",
        "cos(w*t)*cos(w*k) - sin(w*t)*sin(w*k)  # addition theorem",
        "cos(w*t)*a - sin(w*t)*sin(w*k)  # definition",
        "a*cos(w*t) - b*sin(w*t)  # definition",
    ]


@cosine_steps.alternative
def cosine_with_the_factors_exchanged():
    """The shift first."""
    return [
        "cos(w*(k + t))",
        "cos(w*k)*cos(w*t) - sin(w*k)*sin(w*t)",
        "a*cos(w*t) - sin(w*k)*sin(w*t)",
        "a*cos(w*t) - b*sin(w*t)",
    ]


@cosine_steps.alternative
def cosine_put_back_at_once():
    """Both abbreviations in one line."""
    return [
        "cos(w*(t + k))",
        "cos(w*k)*cos(w*t) - sin(w*k)*sin(w*t)",
        "-b*sin(t*w) + a*cos(t*w)",
    ]


@cosine_steps.alternative
def cosine_as_a_derivative():
    """Differentiate what was found for the sine."""
    return [
        "cos(w*(t + k))",
        "diff(sin(w*(t + k)), t)/w",
        "diff(a*sin(w*t) + b*cos(w*t), t)/w",
        "(a*w*cos(w*t) - b*w*sin(w*t))/w",
        "a*cos(w*t) - b*sin(w*t)",
    ]


@exercise.part(points=2, answer=Matrix("w k"))
def T():
    """The matrix T_k with T_k (sin wt, cos wt)ᵀ = (sin(w(t + k)), cos(w(t + k)))ᵀ."""
    return [["cos(w*k)", "sin(w*k)"], ["-sin(w*k)", "cos(w*k)"]]


@T.misconception(credit=0.5)
def transposed():
    """This one steps backwards. Multiply it with (sin wt, cos wt): which angle comes out?"""
    return [["cos(w*k)", "-sin(w*k)"], ["sin(w*k)", "cos(w*k)"]]


T.mistakes(
    sign_missing=(
        [["cos(w*k)", "sin(w*k)"], ["sin(w*k)", "cos(w*k)"]],
        "Both signs are the same. Look at the second addition theorem again.",
        0.5,
    ),
    cosine_row_first=(
        [["-sin(w*k)", "cos(w*k)"], ["cos(w*k)", "sin(w*k)"]],
        "The rows are exchanged: the vector has the sine first.",
    ),
)


def in_entries(most):
    """Return whether so many sines and cosines stand in an entry at most."""
    return lambda matrix: all(len(entry.atoms(sympy.sin, sympy.cos)) <= most for entry in matrix)


as_numbers = Form(
    "Its entries are as simple as can be: use sin² + cos² = 1.",
    in_entries(0),
    restated=[["cos(w*k)^2 + sin(w*k)^2", "0"], ["0", "sin(w*k)^2 + cos(w*k)^2"]],
)


@exercise.part(points=0.5, answer=Matrix("w k", form=as_numbers))
def product():
    """The product T_kᵀ T_k, with every entry as simple as it gets."""
    return [["1", "0"], ["0", "1"]]


def as_text(matrix):
    """Write every entry as simple as it gets."""
    return [[str(sympy.trigsimp(entry)) for entry in row] for row in matrix.tolist()]


@product.alternative
def product_of_own(T):
    """From the student's own matrix."""
    return as_text(T.expression.T * T.expression)


product.mistakes(
    square_of_T=(
        [["cos(2*w*k)", "sin(2*w*k)"], ["-sin(2*w*k)", "cos(2*w*k)"]],
        "That is T_k T_k, two steps forward. The first factor is transposed.",
    ),
    without_the_other_entries=(
        [["1", "2*sin(w*k)*cos(w*k)"], ["2*sin(w*k)*cos(w*k)", "1"]],
        "Look at the entries off the diagonal again: two products that cancel.",
    ),
)


COSINE = "cos(w*k)*cos(w*l) - sin(w*k)*sin(w*l)"
SINE = "sin(w*k)*cos(w*l) + cos(w*k)*sin(w*l)"
single = Form(
    "Use the addition theorems, so that a single sine or cosine stands in every entry.",
    in_entries(1),
    restated=[[COSINE, SINE], [f"-({SINE})", COSINE]],
)


@exercise.part(points=0.5, answer=Matrix("w k l", form=single))
def composition():
    """The product T_k T_l, with a single sine or cosine in every entry."""
    return [["cos(w*(k + l))", "sin(w*(k + l))"], ["-sin(w*(k + l))", "cos(w*(k + l))"]]


@composition.alternative
def composed_of_own(T):
    """From the student's own matrix."""
    first = T.expression
    names = [name for name in first.free_symbols if name.name == "k"]
    return as_text(first * first.subs({name: sympy.Symbol("l") for name in names}))


@composition.alternative
def where_the_steps_end(composition_steps):
    """The matrix in which the student's own proof ends."""
    return composition_steps.end


def texts(matrix):
    """Write every entry as it is."""
    return [[str(entry) for entry in row] for row in matrix.tolist()]


composition.mistakes(
    difference_of_the_shifts=(
        [["cos(w*(k - l))", "sin(w*(k - l))"], ["-sin(w*(k - l))", "cos(w*(k - l))"]],
        "One step forward and then another one: do they add up, or cancel?",
    ),
    diagonal_of_the_difference=(
        [["cos(w*(k - l))", "sin(w*(k + l))"], ["-sin(w*(k + l))", "cos(w*(k - l))"]],
        "cos a cos b − sin a sin b is the cosine of a sum; a plus makes it that of a difference.",
    ),
    sign_lost=(
        [["cos(w*(k + l))", "sin(w*(k + l))"], ["sin(w*(k + l))", "cos(w*(k + l))"]],
        "A minus got lost in the second row: what are its two products, each with its sign?",
    ),
    brackets_forgotten=(
        [["cos(w)*(k + l)", "sin(w)*(k + l)"], ["-sin(w)*(k + l)", "cos(w)*(k + l)"]],
        "That is cos(w) times a sum. Write brackets around the whole angle.",
        0.5,
    ),
    angles_multiplied=(
        [["cos(w*k*l)", "sin(w*k*l)"], ["-sin(w*k*l)", "cos(w*k*l)"]],
        "You multiplied the angles. Rotations that follow each other add them.",
    ),
)


def rows(first, second):
    """Write a matrix of two rows as text."""
    return f"Matrix([[{first}], [{second}]])"


def step(shift):
    """Write T_k as text."""
    wave = f"w*{shift}"
    return rows(f"cos({wave}), sin({wave})", f"-sin({wave}), cos({wave})")


COSINE = "cos(w*k)*cos(w*l) - sin(w*k)*sin(w*l)"
SINE = "cos(w*k)*sin(w*l) + sin(w*k)*cos(w*l)"

AS_IT_COMES = "Show an entry of the product as it comes, two products of a sine and a cosine."

product_chain = Chain(
    start=f"{step('k')}*{step('l')}",
    target=step("(k + l)"),
    names=("w", "k", "l"),
    waypoints=(Waypoint(AS_IT_COMES, lambda line: line.shows(COSINE, SINE, f"-({SINE})")),),
    ends=Waypoint(
        "Write each entry with a single sine or cosine of the sum.",
        lambda line: line.shows("cos(w*(k + l))", "cos(w*k + w*l)"),
    ),
)


@exercise.part(points=1, answer=Derivation(product_chain))
def composition_steps():
    """The proof that T_k T_l is a shift by k + l, from the product of the two matrices."""
    return [
        f"{step('k')}*{step('l')}",
        rows(f"{COSINE}, {SINE}", f"-sin(w*k)*cos(w*l) - cos(w*k)*sin(w*l), {COSINE}"),
        rows("cos(w*k + w*l), sin(w*k + w*l)", "-sin(w*k + w*l), cos(w*k + w*l)"),
    ]


@composition_steps.alternative
def entry_by_entry():
    """Use the theorem on one row after the other."""
    return [
        rows(f"{COSINE}, {SINE}", f"-({SINE}), {COSINE}"),
        rows("cos(w*(k + l)), sin(w*(k + l))", f"-({SINE}), {COSINE}"),
        step("(k + l)"),
    ]


@composition_steps.alternative
def factors_exchanged():
    """Multiply the other way round: shifts commute."""
    return [
        f"{step('l')}*{step('k')}",
        rows(
            "cos(w*l)*cos(w*k) - sin(w*l)*sin(w*k), cos(w*l)*sin(w*k) + sin(w*l)*cos(w*k)",
            "-sin(w*l)*cos(w*k) - cos(w*l)*sin(w*k), -sin(w*l)*sin(w*k) + cos(w*l)*cos(w*k)",
        ),
        step("(l + k)"),
    ]


@composition_steps.alternative
def angles_added_at_once():
    """Straight from the sums of products to the sum of the shifts."""
    return [
        rows(f"{COSINE}, {SINE}", f"-({SINE}), {COSINE}"),
        step("(k + l)"),
    ]


@composition_steps.restated
def for_the_own_matrix(T):
    """The product of the student's own matrices, simplified entry by entry."""
    first = T.expression
    names = [name for name in first.free_symbols if name.name == "k"]
    second = first.subs({name: sympy.Symbol("l") for name in names})
    product = first * second
    entries = [str(entry) for entry in product]
    waves = [sympy.trigsimp(entry) for entry in product]
    waves = [str(form) for wave in waves for form in (wave, sympy.expand(wave))]
    return Chain(
        start=f"{rows(*map(', '.join, texts(first)))}*{rows(*map(', '.join, texts(second)))}",
        target=rows(*map(", ".join, as_text(product))),
        names=("w", "k", "l"),
        waypoints=(Waypoint(AS_IT_COMES, lambda line: line.shows(*entries)),),
        ends=Waypoint(
            "Write each entry with a single sine or cosine.",
            lambda line: line.shows(*waves),
        ),
    )


def turned(k, base, sign=1):
    """Return the matrix of all pairs at d = 4; with sign −1 it steps backwards."""
    blocks = np.zeros((4, 4))
    for pair, angle in enumerate((k, k / base**0.5)):
        c, s = np.cos(angle), sign * np.sin(angle)
        blocks[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[c, s], [-s, c]]
    return blocks


@exercise.part(points=2, answer=Numbers())
def T4(k, base):
    """The matrix that shifts an encoding of width 4 by your k, shape (4, 4)."""
    return turned(k, base)


@T4.alternative
def blocks_of_own(T, k, base):
    """The student's own matrix for either frequency."""
    blocks = np.zeros((4, 4))
    for pair, w in enumerate((1, base**-0.5)):
        blocks[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = T(w=w, k=k)
    return blocks


@T4.misconception()
def T4_transposed(k, base):
    """This one steps backwards: it maps the encoding of position k to that of position 0."""
    return turned(k, base, sign=-1)


@T4.misconception()
def one_frequency(k, base):
    """Both pairs turn at the same speed in yours. The second one is slower."""
    T = turned(k, base)
    T[2:, 2:] = T[:2, :2]
    return T


@T4.misconception()
def exponent_doubled(k, base):
    """The second pair turns too slowly. Its frequency is base^(−2i/d) with i = 1."""
    return turned(k, base**2)


@T4.misconception()
def exponent_halved(k, base):
    """The second pair turns too fast. Its frequency is base^(−2i/d) with i = 1."""
    return turned(k, base**0.5)


@T4.misconception()
def shift_of_one(k, base):
    """This shifts by a single position."""
    return turned(1, base)


@T4.misconception()
def columns_blocked(k, base):
    """You put both sines first. Sine and cosine alternate, a pair at a time."""
    order = [0, 2, 1, 3]
    return turned(k, base)[np.ix_(order, order)]
