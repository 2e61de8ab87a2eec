"""Work on a spring, and where a mass hangs.

Source: Hooke (1678), "De potentia restitutiva".
"""

from autograder.algebra import EquationChain, Waypoint
from autograder.exercise import Derivation, Exercise, Formula

exercise = Exercise("spring", title="Work", source="Hooke (1678)")


@exercise.part(points=2, answer=Formula("k x", {"*": "positive"}))
def energy():
    """The work that stretching takes, in k and x."""
    return "k x^2 / 2"


@energy.misconception(credit=0.5)
def last_force_all_along():
    """The force k x is needed at the end alone; on the way it is smaller."""
    return "k x^2"


chain = EquationChain(
    start="D(k*x^2/2 - m*g*x, x) = 0",
    target="x = m*g/k",
    names=("x", "k", "m", "g"),
    where={"x": "m*g/k"},
    waypoints=(
        Waypoint(
            "Carry the derivative out.",
            lambda line: not line.operators and line.shows("k*x", "k*x - m*g"),
        ),
    ),
)


@exercise.part(points=2, answer=Derivation(chain))
def steps():
    """Where the energy has no slope: equations, solved for x."""
    return ["k*x - m*g = 0", "k*x = m*g", "x = m*g/k"]


@steps.alternative
def divide_first():
    """Divide by k first."""
    return ["k*x - m*g = 0", "x - m*g/k = 0", "x = m*g/k"]
