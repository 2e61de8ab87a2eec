"""What a shortcut does to the gradient.

Source: He et al. (2016), "Identity mappings in deep residual networks", section 2.
"""

import numpy as np

from autograder.algebra import IndexedChain, Waypoint
from autograder.exercise import Choice, Count, Derivation, Exercise, Formula, Numbers

exercise = Exercise(
    "residual_grad",
    title="The identity in the gradient",
    source="He et al. (2016), section 2",
    minutes=35,
    hints=[
        "The derivative of x + F(x) has one term that does not depend on F at all.",
        "Layers behind each other multiply their slopes.",
        "Each bracket offers two ways: through the shortcut or through the layer. How many "
        "ways are there through all of them?",
    ],
)


@exercise.variant
def draw(rng):
    """a: the slope of every layer; L: the number of layers, odd, so that a lost sign is seen."""
    a = float(rng.choice([0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7]))
    return {"a": a, "L": int(rng.choice(range(5, 21, 2)))}


@exercise.part(points=1, answer=Formula("I J_F", assumptions={"*": "matrix"}))
def jacobian():
    """The Jacobian of x + F(x)."""
    return "I + J_F"


@jacobian.alternative
def the_other_way_round():
    """Sums have no order."""
    return "J_F + I"


jacobian.mistakes(
    number_one=(
        "1 + J_F",
        "1 is right for a single feature alone. What is the derivative of a vector by itself?",
        0.5,
    ),
    without_identity=("J_F", "That is the Jacobian of F. The shortcut has one, too."),
    product_with_identity=("I*J_F", "Sums have sums as derivatives, not products."),
)


@exercise.part(points=0.75, answer=Numbers())
def with_path(a, L):
    """The slope of your L layers x + a x, one behind the other."""
    return (1 + a) ** L


@with_path.misconception()
def added_up(a, L):
    """You added the slopes. One layer behind the other: they are multiplied."""
    return 1 + L * a


@with_path.misconception()
def one_path_at_the_end(a, L):
    """You added one shortcut around all layers. Each layer has its own."""
    return 1 + a**L


@exercise.part(points=0.5, answer=Numbers())
def without_path(a, L):
    """The same without the shortcuts."""
    return a**L


@without_path.misconception()
def slopes_added(a, L):
    """You added the slopes. One layer behind the other: they are multiplied."""
    return L * a


@without_path.misconception()
def path_left_in(a, L):
    """You left the shortcuts in."""
    return (1 + a) ** L


@exercise.part(points=0.75, answer=Numbers(whole=True))
def damped(L):
    """With shortcuts again: L layers of slope −1, and L layers of slope −½."""
    return np.array([0, 0.5**L])


@damped.misconception()
def shortcuts_forgotten(L):
    """You left the shortcuts out."""
    return np.array([(-1) ** L, (-0.5) ** L])


@damped.misconception()
def always_at_least_one(L):
    """The shortcut adds 1 to the slope, whatever sign that has. Multiply it out."""
    return np.array([1, 1])


@damped.misconception()
def damped_added_up(L):
    """You added the slopes. One layer behind the other: they are multiplied."""
    return np.array([1 - L, 1 - L / 2])


@damped.misconception()
def signs_lost(L):
    """The slopes are negative."""
    return np.array([2**L, 1.5**L])


APART = ("I*I", "I*J_1", "J_2*I", "J_2*(I + J_1)", "(I + J_2)*J_1")


def comes_apart(line):
    """Whether products of the brackets' terms stand in a line, not yet simplified."""
    return line.shows(*APART)


chain = IndexedChain(
    start="(I + J_2)*(I + J_1)",
    target="I + J_1 + J_2 + J_2*J_1",
    matrices=("I", "J_1", "J_2"),
    waypoints=(Waypoint("Show the products into which the brackets come apart.", comes_apart),),
    ends=Waypoint(
        "Simplify the products with I.",
        lambda line: line.shows("J_2*J_1") and not comes_apart(line),
    ),
)


@exercise.part(points=1.5, answer=Derivation(chain))
def steps():
    """(I + J₂)(I + J₁), multiplied out."""
    return [
        "(I + J_2)*(I + J_1)",
        "I*(I + J_1) + J_2*(I + J_1)",
        "I*I + I*J_1 + J_2*I + J_2*J_1",
        "I + J_1 + J_2 + J_2*J_1",
    ]


@steps.alternative
def from_the_right():
    """Take the second bracket apart first."""
    return [
        "(I + J_2)*(I + J_1)",
        "(I + J_2)*I + (I + J_2)*J_1",
        "I + J_2 + J_1 + J_2*J_1",
    ]


@steps.alternative
def identity_at_once():
    """The identity changes nothing."""
    return [
        "(I + J_2)*(I + J_1)",
        "I + J_1 + J_2*(I + J_1)",
        "I + J_1 + J_2*I + J_2*J_1",
        "I + J_1 + J_2 + J_2*J_1",
    ]


@steps.alternative
def in_latex():
    """The same in LaTeX."""
    return [
        "(I + J_2) (I + J_1)",
        r"I (I + J_1) + J_2 (I + J_1)",
        r"I + J_1 + J_2 + J_2 \cdot J_1",
    ]


@exercise.part(points=0.5, answer=Count())
def paths(L):
    """Into how many terms, one for each path, the product of your L layers is multiplied out."""
    return 2**L


@paths.misconception()
def one_for_a_block(L):
    """Each layer doubles the number of terms: every path may go through it or around it."""
    return L + 1


@paths.misconception()
def two_for_a_block(L):
    """Each layer offers two ways, and each way through one goes on by both through the next."""
    return 2 * L


@paths.misconception()
def pairs_of_blocks(L):
    """You counted pairs. A path chooses at each layer."""
    return L * L


@paths.misconception()
def direct_path_left_out(L):
    """The path around all of them is a path, too."""
    return 2**L - 1


@exercise.part(
    points=1,
    answer=Choice(
        [
            "It can't vanish, because of the shortcuts.",
            "Since 1 is added to each layer's derivative, its length is at least that of the "
            "gradient at the top.",
            "The identity is a term in every factor, yet the product can shrink, or vanish.",
            "Shortcuts change what a stack computes, but not its gradients.",
        ]
    ),
)
def claim():
    """What is right about the gradient of a stack of residual blocks?"""
    return "C"


claim.mistakes(
    never_vanishes=("A", "Look at your two numbers for slopes of −1 and −½."),
    scalar_one=("B", "What is added is a matrix, and a product of several can have any size."),
    no_effect=("D", "Compare your numbers with and without the shortcut."),
)
