"""Highway layers: a gate between the input and what was computed from it.

Source: Srivastava, Greff & Schmidhuber (2015), "Highway networks", eq. 3.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Formula, Numbers

exercise = Exercise(
    "highway_gate",
    title="Where the residual comes from",
    source="Srivastava et al. (2015), eq. 3",
    minutes=20,
    hints=[
        "Read the gate at its ends first: what comes out for T = 0, and for T = 1?",
        "T and F both depend on x: every product needs the product rule, and the gate appears"
        " twice.",
    ],
)

T = np.array([0, 0.25, 1])


@exercise.part(points=1, answer=Numbers())
def y():
    """The output for x = 2, F = 6 and the gates T = 0, ¼, 1."""
    return T * 6 + (1 - T) * 2


y.mistakes(
    carry_left_open=(
        2 + T * 6,
        "You added T·F to all of x. What the gate gives to F, it takes from x.",
    ),
    gate_turned_round=((1 - T) * 6 + T * 2, "The gate T stands before F, and 1 − T before x."),
    transform_alone=(T * 6, "That is T·F. The carried part of x is missing."),
)


gated = Formula(
    "x T F",
    assumptions={"x": "real", "T": "function", "F": "function"},
    question="diff(T(x)*F(x) + (1 - T(x))*x, x)",
)


@exercise.part(points=2, answer=gated)
def slope():
    """dy/dx for one feature, where T and F depend on x."""
    return "T(x)*diff(F(x), x) + diff(T(x), x)*(F(x) - x) + 1 - T(x)"


slope.mistakes(
    constant_gate=(
        "T(x)*diff(F(x), x) + 1 - T(x)",
        "You took the gate for a constant. It is computed from x, too.",
        0.5,
    ),
    residual_slope=(
        "1 + diff(F(x), x)",
        "That is the derivative of x + F(x). Here there are gates.",
    ),
    carry_gate_constant=(
        "T(x)*diff(F(x), x) + diff(T(x), x)*F(x) + 1 - T(x)",
        "1 − T is a function of x as well: its derivative, times x, is missing.",
        0.5,
    ),
    carry_gate_rises=(
        "T(x)*diff(F(x), x) + diff(T(x), x)*(F(x) + x) + 1 - T(x)",
        "Which sign has the derivative of 1 − T?",
        0.5,
    ),
    carry_gate_forgotten_there=(
        "T(x)*diff(F(x), x) + diff(T(x), x)*(F(x) - x) + 1",
        "Of (1 − T) x both factors depend on x: the derivative of x is still multiplied by 1 − T.",
        0.5,
    ),
    identity_lost=(
        "T(x)*diff(F(x), x) + diff(T(x), x)*(F(x) - x)",
        "The derivative of x is 1: the carry gate 1 − T is missing.",
        0.5,
    ),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "For $T = 1$.",
            "For $T = 0$.",
            "For $T = \\tfrac12$.",
            "For none.",
        ]
    ),
)
def setting():
    """Which setting of the gate gives x + F(x)?"""
    return "D"


setting.mistakes(
    open_gate=("A", "Put T = 1 into the formula: what is left of x?"),
    closed_gate=("B", "Put T = 0 into the formula: what is left of F?"),
    half_open=(
        "C",
        "Put T = ½ into the formula. It is a mean of the two, half of what is asked for.",
    ),
)
