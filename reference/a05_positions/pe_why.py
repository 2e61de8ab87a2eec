"""What sines and cosines give, and what they don't.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Count, Derivation, Exercise

exercise = Exercise(
    "pe_why",
    title="Why these functions?",
    source="Vaswani et al. (2017), section 3.5",
    minutes=35,
    hints=[
        "Multiply the two squares out. What do a squared sine and cosine of one angle add up to, "
        "and which theorem has the products that are left?",
        "Ask for which shifts the distance is 0, and which whole numbers are among these.",
        "The angles of the first pair are whole numbers, and a full turn is 2π: you look for "
        "whole k close to a multiple of that.",
    ],
)


START = "(sin(p + k) - sin(p))^2 + (cos(p + k) - cos(p))^2"


def is_multiplied_out(line):
    """Have the squares been multiplied out, or the two rows been expressed by each other?"""
    return line.shows(
        "sin(p + k)*sin(p)",
        "2*sin(p + k)*sin(p)",
        "-2*sin(p + k)*sin(p)",
        "sin(p)^2 + cos(p)^2",
        "sin(p + k)^2 + cos(p + k)^2",
        "(cos(k) - 1)^2",
        "cos(k)^2",
    )


chain = Chain(
    start=START,
    target="2 - 2*cos(k)",
    names=("p", "k"),
    final_names=("k",),
    waypoints=(Waypoint("Show the squares multiplied out.", is_multiplied_out),),
)


OTHER_STEPS = (
    "(sin(p) + cos(k))^2 + (cos(p) - sin(k))^2",
    "sin(p)^2 + cos(p)^2 + sin(k)^2 + cos(k)^2 + 2*sin(p)*cos(k) - 2*cos(p)*sin(k)",
    "2 + 2*(sin(p)*cos(k) - cos(p)*sin(k))",
    "2 + 2*sin(p - k)",
)


@exercise.part(points=2.5, answer=Derivation(chain, practice=OTHER_STEPS))
def steps():
    """The squared distance of the first pairs at p and at p + k, to a form without p."""
    return [
        START,
        "sin(p + k)^2 - 2*sin(p + k)*sin(p) + sin(p)^2"
        " + cos(p + k)^2 - 2*cos(p + k)*cos(p) + cos(p)^2",
        "2 - 2*(sin(p + k)*sin(p) + cos(p + k)*cos(p))",
        "2 - 2*cos(k)",
    ]


@steps.alternative
def difference_of_the_angles():
    """Both squares at once, and the angle as a difference."""
    return [
        START,
        "2 - 2*sin(p + k)*sin(p) - 2*cos(p + k)*cos(p)",
        "2 - 2*cos((p + k) - p)",
        "2 - 2*cos(k)",
    ]


@steps.alternative
def addition_theorems_first():
    """Turn the pair by k, and collect what stands beside sin p and cos p."""
    return [
        START,
        "(sin(p)*cos(k) + cos(p)*sin(k) - sin(p))^2 + (cos(p)*cos(k) - sin(p)*sin(k) - cos(p))^2",
        "(sin(p)^2 + cos(p)^2)*((cos(k) - 1)^2 + sin(k)^2)",
        "(cos(k) - 1)^2 + sin(k)^2",
        "2 - 2*cos(k)",
    ]


@steps.alternative
def in_latex():
    """The same in LaTeX, to the square of a sine."""
    return [
        r"(\sin(p + k) - \sin(p))^2 + (\cos(p + k) - \cos(p))^2",
        r"= 2 - 2 (\sin(p + k) \sin(p) + \cos(p + k) \cos(p))",
        r"= 2 - 2 \cos(k)",
        r"= 4 \sin^2(k/2)",
    ]


@exercise.part(
    points=1,
    answer=Choice(
        [
            "A sine takes each of its values once, so the first pair shows every position by "
            "itself.",
            "It is 0 only for $k = 2\\pi m$ with a whole number $m$; for $m \\ne 0$ the number "
            "$\\pi = k/(2m)$ would be a fraction.",
            "All pairs turn at different speeds, so they are never back at the same time.",
            "The slowest pair needs over 10,000 positions for a turn, and no text is long "
            "enough for it to come back to where it began.",
            "It is 0 only for $k = 2\\pi m$, and the smallest such number that is not 0, "
            "$6.28$, is no whole one.",
        ]
    ),
)
def never_again():
    """Why do two different positions never have the same row?"""
    return "B"


never_again.mistakes(
    sine_alone=(
        "A",
        "The sine takes its values again and again: it needs the cosine to tell an angle.",
    ),
    different_speeds_suffice=(
        "C",
        "Pairs that turn once in 2, 4 and 8 positions differ, and are all back after 8.",
    ),
    only_as_far_as_the_text=("D", "Asked are all positions, not those of a short text."),
    only_the_first_turn=(
        "E",
        "After one turn it is no whole number. What excludes that it is one after many turns?",
    ),
)


@exercise.part(
    points=1.5,
    answer=Choice(
        [
            "There is an encoding for every position, however large.",
            "A shift by $k$ is one linear map, the same for all positions.",
            "A model that was trained on short texts works as well on long ones.",
            "No entry is ever larger than 1 in size.",
            "After finitely many positions the encodings start again.",
        ],
        multiple=True,
    ),
)
def holds():
    """Which statements about sinusoidal encodings hold?"""
    return "ABD"


holds.mistakes(
    extrapolates=(
        "ABCD",
        "One of yours is a claim about trained models. What is defined need not be learned.",
    ),
    repeats_itself=(
        "ABDE",
        "Each pair turns round and round. But is there a whole number of turns for a whole shift?",
    ),
)


@exercise.part(points=1, answer=Count())
def nearest_return():
    """The shift k from 1 to 999 after which the first pair is nearest to where it was."""
    k = np.arange(1, 1000)
    return int(k[np.argmin(np.hypot(np.sin(k), np.cos(k) - 1))])


nearest_return.mistakes(
    one_turn=(
        6,
        "After about 2π positions the pair has turned once. Of many turns one may come closer.",
    ),
    approximation_of_pi=(
        355,
        "355/113 is close to π, so 355 is close to 113π. Is that a whole number of turns?",
    ),
    turns_by_another_fraction=(
        333,
        "333 comes close, since 333/106 is near π. There is a shift that comes closer still.",
    ),
    seven_turns=(44, "44 comes close, since 22/7 is near π. Which fraction is closer still?"),
)
