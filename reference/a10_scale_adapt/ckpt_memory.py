"""What is stored if every s-th layer is, and the best s.

Source: Chen et al. (2016), "Training deep nets with sublinear memory cost", section 4.
"""

import numpy as np

from autograder.algebra import Chain, EquationChain, Waypoint
from autograder.exercise import Count, Derivation, Exercise, Formula

exercise = Exercise(
    "ckpt_memory",
    title="Store every √L-th layer",
    source="Chen et al. (2016), section 4",
    minutes=40,
    hints=[
        "Count two things and add them: one input for every segment, and the layers of a single "
        "segment.",
        "In `square_steps` multiply out first, and see what becomes of the product of a and b "
        "under one root.",
        "For the bytes ask how many numbers one layer's array holds, then how many bytes a "
        "number takes, and last how many layers there are.",
    ],
)

LAYERS, TOKENS, WIDTH = 96, 2048, 12288
ONE = TOKENS * WIDTH * 2  # the bytes of one activation in half precision


def stored(L, s):
    """Units: the inputs of all segments, and one live segment."""
    return -(-L // np.asarray(s)) + s


@exercise.part(points=2, answer=Count())
def units():
    """Units for L = 64 and s = 1, 4, 8, 16, 64."""
    return stored(64, np.array([1, 4, 8, 16, 64]))


units.mistakes(
    live_segment_forgotten=(
        np.array([64, 16, 8, 4, 1]),
        "These are the inputs of the segments. The layers of one segment are alive as well.",
    ),
    segment_alone=(
        np.array([1, 4, 8, 16, 64]),
        "These are the layers of one segment. The inputs of all segments are stored as well.",
    ),
)


@units.misconception()
def units_larger_of_two():
    """You took the larger of two numbers. Both are stored at the same time: add them."""
    s = np.array([1, 4, 8, 16, 64])
    return np.maximum(64 // s, s)


@units.misconception()
def first_input_not_counted():
    """One is missing everywhere: the input of the first segment is stored as well."""
    return stored(64, np.array([1, 4, 8, 16, 64])) - 1


chain = Chain(
    start="(a - b)^2",
    target="L/s + s - 2*sqrt(L)",
    names=("a", "b", "L", "s"),
    definitions={"a": "sqrt(L/s)", "b": "sqrt(s)"},
    assumptions={"L": "positive", "s": "positive"},
    ends=Waypoint(
        "The square is multiplied out, and what is subtracted holds no s.",
        lambda line: line.shows("2*sqrt(L)", "2*L^(1/2)", "2*L^0.5", "sqrt(4*L)"),
    ),
)


OTHER_SQUARE_STEPS = (
    "(a + b)^2",
    "a^2 + 2*a*b + b^2",
    "L/s + 2*sqrt(L/s)*sqrt(s) + s",
    "L/s + 2*sqrt(L) + s",
)


@exercise.part(points=0.5, answer=Derivation(chain, practice=OTHER_SQUARE_STEPS))
def square_steps():
    """The square of √(L/s) − √s is L/s + s less something in which there is no s."""
    return [
        "(a - b)^2",
        "a^2 - 2*a*b + b^2",
        "L/s - 2*sqrt(L/s)*sqrt(s) + s",
        "L/s + s - 2*sqrt(L)",
    ]


@square_steps.alternative
def roots_put_in_first():
    """Put the roots in, then multiply out under one root."""
    return [
        "(a - b)^2",
        "(sqrt(L/s) - sqrt(s))^2",
        "L/s - 2*sqrt(L/s*s) + s",
        "L/s - 2*sqrt(L) + s",
    ]


@square_steps.alternative
def bracket_by_bracket():
    """A square is a product of two brackets."""
    return [
        "(a - b)*(a - b)",
        "a*a - a*b - b*a + b*b",
        "L/s - 2*sqrt(L/s)*sqrt(s) + s",
        "L/s + s - 2*L^(1/2)",
    ]


@square_steps.alternative
def common_denominator():
    """Bring both roots over one."""
    return [
        "(a - b)^2",
        "((sqrt(L) - s)/sqrt(s))^2",
        "(L - 2*s*sqrt(L) + s^2)/s",
        "L/s - 2*sqrt(L) + s",
    ]


stationary = EquationChain(
    start="D(L/s + s, s) = 0",
    target="s = sqrt(L)",
    names=("a", "b", "L", "s"),
    definitions={"a": "sqrt(L/s)", "b": "sqrt(s)"},
    positive=("L", "s"),
    where={"s": "sqrt(L)"},
)


@exercise.part(points=0.5, answer=Derivation(stationary))
def best_steps():
    """The slope of L/s + s is 0: equations, solved for s."""
    return ["1 - L/s^2 = 0", "s^2 = L", "s = sqrt(L)"]


@best_steps.alternative
def root_by_root():
    """Bring the fraction to the other side, and take roots."""
    return ["-L/s^2 + 1 = 0", "L/s^2 = 1", "L = s*s", "sqrt(L) = s"]


@best_steps.alternative
def by_the_square_in_names():
    """Begin with the square as it was called."""
    return ["(a - b)^2 = 0", "a = b", "sqrt(L/s) = sqrt(s)", "L/s = s", "s = sqrt(L)"]


@best_steps.alternative
def by_the_square():
    """Where the square is 0, its root is."""
    return ["(sqrt(L/s) - sqrt(s))^2 = 0", "sqrt(L/s) = sqrt(s)", "L/s = s", "s = L^(1/2)"]


@best_steps.alternative
def slope_in_latex():
    """Multiply the equation by the square of s."""
    return [r"1 - \frac{L}{s^2} = 0", r"s^2 - L = 0", r"s^2 = L", r"s = \sqrt{L}"]


@exercise.part(
    points=0.5,
    answer=Formula(
        "L", {"L": "positive"}, practice=("The s at which L/s + 4s is smallest.", "sqrt(L)/2")
    ),
)
def best_s():
    """The s at which L/s + s is smallest."""
    return "sqrt(L)"


@best_s.alternative
def where_the_steps_end(best_steps):
    """What the student's own last equation says of s, on whichever side that stands."""
    left, _, right = best_steps.texts[-1].partition("#")[0].partition("=")
    return left if right.strip() == "s" else right


best_s.mistakes(
    half_of_the_layers=("L/2", "Put it in and compare with s = √L: which is smaller for L = 64?"),
    squared_again=(
        "L^2",
        "Segments can't be longer than the chain: solve your equation for s once more.",
    ),
    logarithm_of_the_layers=(
        "log(L)",
        "A logarithm comes out for recursive plans. Here the square has to vanish.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Formula(
        "L", {"L": "positive"}, practice=("The smallest value of L/s² + 2 s.", "3*L^(1/3)")
    ),
)
def least():
    """The smallest value of L/s + s."""
    return "2*sqrt(L)"


least.mistakes(
    root_lost=("2*L", "Without checkpoints it is L. Put s = √L into L/s and into s."),
    one_of_two_terms=(
        "sqrt(L)",
        "Both terms are as large as that: inputs of segments, and the live segment.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def hundred():
    """The smallest number of units for L = 100."""
    return 20


@hundred.alternative
def hundred_by_the_formula(least):
    """Put L = 100 into the formula."""
    return least(L=100)


hundred.mistakes(
    hundred_segment_forgotten=(10, "The live segment counts, too."),
    halves_of_hundred=(52, "That is what two segments take. There is a better s."),
)


@exercise.part(points=0.5, answer=Count())
def twelve():
    """Units for L = 12 and s = 2, 3, 4, 6."""
    return stored(12, np.array([2, 3, 4, 6]))


@twelve.misconception()
def twelve_segment_forgotten():
    """The layers of the live segment are missing."""
    return np.array([6, 4, 3, 2])


@twelve.misconception()
def twelve_larger_of_two():
    """You took the larger of two numbers. Both are stored at the same time: add them."""
    s = np.array([2, 3, 4, 6])
    return np.maximum(12 // s, s)


@twelve.misconception()
def one_layer_less():
    """One is missing everywhere: the input of the first segment is stored as well."""
    return stored(12, np.array([2, 3, 4, 6])) - 1


@exercise.part(points=0.5, answer=Count(unit="B"))
def all_bytes():
    """The bytes of one activation for every layer."""
    return LAYERS * ONE


all_bytes.mistakes(
    one_byte_each=(LAYERS * ONE // 2, "Half precision takes two bytes for each number."),
    single_precision=(
        LAYERS * ONE * 2,
        "That is single precision: half precision takes two bytes for each number.",
    ),
    one_layer=(ONE, "That is one layer."),
)


@exercise.part(points=0.5, answer=Count(unit="B"))
def kept_bytes(all_bytes):
    """The bytes of 20 units."""
    return 20 * all_bytes // LAYERS


@kept_bytes.misconception()
def a_twentieth(all_bytes):
    """You divided by 20. Of the activations of 96 layers, as many as 20 are kept."""
    return all_bytes // 20


@kept_bytes.misconception()
def units_of_all_layers(all_bytes):
    """You took `all_bytes` twenty times. A unit is what one of the 96 layers leaves."""
    return 20 * all_bytes


@kept_bytes.misconception()
def ten_units():
    """That is half. Twenty units are kept, and a number in half precision takes two bytes."""
    return 10 * ONE
