"""A softmax of two logits is a sigmoid of their difference.

Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. 4.57.
"""

import numpy as np
import sympy

from autograder.exercise import Exercise, Form, Formula, Numbers

exercise = Exercise(
    "softmax_sigmoid",
    title="Two logits are one sigmoid",
    source="Bishop (2006), eq. 4.57",
    minutes=15,
    hints=[
        "Divide numerator and denominator by the numerator: a single exponential is left.",
        "The result depends on the difference of the two logits alone, so work that out "
        "before anything else.",
    ],
)


@exercise.variant
def draw(rng):
    """a, b: two logits, b from 1 to 4 and a − b one of 0.5, 1, 1.5, 2."""
    b = int(rng.integers(1, 5))
    return {"a": b + int(rng.integers(1, 5)) / 2, "b": b}


temperatures = np.array([0.5, 1, 4])  # not closed under reciprocals


def sigmoid(x):
    """1 / (1 + e^−x)."""
    return 1 / (1 + np.exp(-x))


def in_the_difference(formula):
    """Is nothing but a − b left of the two logits?"""
    a, b = (next((s for s in formula.free_symbols if s.name == n), None) for n in "ab")
    if None in (a, b):
        return True
    shift = sympy.Symbol("shift", real=True)
    return not sympy.expand(formula.xreplace({a: b + shift})).has(b)


difference_alone = Form(
    "Write it in the difference a − b, so that neither logit stands there by itself.",
    in_the_difference,
    restated="exp(a/tau)/(exp(a/tau) + exp(b/tau))",
)


@exercise.part(
    points=2,
    answer=Formula(
        "a b tau",
        {"tau": "positive"},
        form=difference_alone,
        practice=(
            "The first entry of softmax((a, b)/τ), divided by the second one.",
            "exp((a - b)/tau)",
        ),
    ),
)
def first():
    """The first entry of softmax((a, b)/τ), as a function of a − b and τ."""
    return "1/(1 + exp(-(a - b)/tau))"


@first.alternative
def other_exponent():
    """Multiply above and below by e^{(a−b)/τ}."""
    return "exp((a - b)/tau)/(1 + exp((a - b)/tau))"


@first.alternative
def by_its_name():
    """Call the function that it is by its name."""
    return "sigmoid((a - b)/tau)"


@first.alternative
def as_hyperbolic_tangent():
    """A sigmoid is a tanh, shifted and halved."""
    return "(1 + tanh((a - b)/(2*tau)))/2"


first.mistakes(
    rival_forgotten=(
        "1/(1 + exp(-a/tau))",
        "You used one logit alone. A softmax sees only differences: where is the other one?",
    ),
    brackets_lost=(
        "1/(1 + exp(-a - b/tau))",
        "The minus sign and τ belong to the whole difference: put a − b in brackets.",
    ),
    second_entry=(
        "1/(1 + exp((a - b)/tau))",
        "That is the second entry: should the first one grow or fall when a grows?",
    ),
    temperature_multiplied=(
        "1/(1 + exp(-(a - b)*tau))",
        "You multiplied by τ. A high temperature should bring both entries close to 1/2.",
    ),
    temperature_left_out=("1/(1 + exp(-(a - b)))", "The temperature is missing."),
)


@exercise.part(points=2, answer=Numbers())
def p(first, a, b):
    """The first entry for your logits at τ = 0.5, 1 and 4, three numbers."""
    return first(a=a, b=b, tau=temperatures)


@p.misconception()
def sigmoid_of_one_logit(a):
    """You put the first logit alone into the sigmoid. Only the difference counts."""
    return sigmoid(a / temperatures)


@p.misconception()
def multiplied_by_temperature(a, b):
    """You multiplied by τ: your values move away from 1/2 where it gets hotter."""
    return sigmoid((a - b) * temperatures)


@p.misconception()
def of_the_second(a, b):
    """These belong to the second logit. The larger one gets more than half."""
    return sigmoid((b - a) / temperatures)


@exercise.part(points=1, answer=Numbers())
def q():
    """The first entry of the softmax of (−2, 0), (0, 0) and (2, 0), three numbers."""
    return sigmoid(np.array([-2, 0, 2]))


@q.misconception()
def entries_exchanged():
    """You gave the second entries: beside 0, the logit −2 should get less than half."""
    return sigmoid(np.array([2, 0, -2]))


@q.misconception()
def hard_decision():
    """You gave everything to the larger one. At τ = 1 the other one keeps a share."""
    return np.array([0, 0.5, 1])


@q.misconception()
def half_the_difference():
    """Your values are closer to 1/2 than they should be: was the difference halved?"""
    return sigmoid(np.array([-1, 0, 1]))
