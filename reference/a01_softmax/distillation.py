"""A teacher at high temperature, and the gradient that its student gets.

Source: Hinton, Vinyals & Dean (2015), "Distilling the knowledge in a neural network", section 2.1.
"""

import numpy as np

from autograder.exercise import Exercise, Formula, Numbers

exercise = Exercise(
    "distillation",
    title="A softened teacher",
    source="Hinton et al. (2015), section 2.1",
    minutes=20,
    hints=[
        "Both teacher and student are softened with the same τ: divide all logits by it "
        "before the softmax.",
        "The logit z_i enters as z_i/τ. The chain rule has a factor for that; differentiate "
        "the cross-entropy by u = z/τ first.",
        "For the limit, expand both softmaxes to first order in 1/τ: the constant terms cancel.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")

teacher, pupil, tau = np.array([2, 0, -2]), np.array([1, 1, -2]), 2


def has_logarithms(weights):
    """A wrong answer is worth carrying on if it is positive and isn't even."""
    return np.all(weights > 0) and np.ptp(weights) > 0.01


@exercise.part(points=1, answer=Numbers(), carry_if=has_logarithms)
def t():
    """The teacher's probabilities at τ = 2, three numbers."""
    return softmax(teacher / tau)


@t.misconception()
def teacher_not_softened():
    """This is the teacher at τ = 1. Divide its logits by the temperature."""
    return softmax(teacher)


@t.misconception()
def teacher_sharpened():
    """You multiplied by τ, which makes the teacher more certain. It should be softer."""
    return softmax(teacher * tau)


@exercise.part(points=1, answer=Numbers(), carry_if=has_logarithms)
def s(t):
    """The student's probabilities at τ = 2, three numbers."""
    used = (teacher[0] - teacher[1]) / np.log(t[0] / t[1])  # the temperature of the teacher
    return softmax(pupil / used)


@s.misconception()
def student_not_softened():
    """This is the student at τ = 1. Both are compared at the same temperature."""
    return softmax(pupil)


@s.misconception()
def student_sharpened():
    """You multiplied by τ. Divide the logits by it."""
    return softmax(pupil * tau)


@exercise.part(points=1, answer=Numbers())
def kl(t, s):
    """The divergence KL(t ‖ s) = Σ t_i log(t_i/s_i), one number."""
    return t @ np.log(t / s)


@kl.misconception()
def arguments_exchanged(t, s):
    """You computed KL(s ‖ t). The weights are those of the first argument, the teacher."""
    return s @ np.log(s / t)


@kl.misconception()
def divergence_reversed(t, s):
    """The sign: a divergence is never negative, and 0 only for equal distributions."""
    return -(t @ np.log(t / s))


@kl.misconception()
def cross_entropy_instead(t, s):
    """This is the cross-entropy. The teacher's own entropy is still to be subtracted."""
    return -(t @ np.log(s))


@kl.misconception()
def divergence_in_bits(t, s):
    """You took the logarithm to base 2. This course uses natural logarithms."""
    return t @ np.log2(t / s)


@exercise.part(
    points=1,
    answer=Formula(
        "s_i t_i tau",
        {"*": "positive"},
        practice=(
            ("The derivative of −log s_i with respect to the student's logit z_i."),
            "(s_i - 1)/tau",
        ),
    ),
)
def kl_slope():
    """The derivative of KL(t ‖ s) with respect to the student's logit z_i."""
    return "(s_i - t_i)/tau"


kl_slope.mistakes(
    chain_rule_forgotten=(
        "s_i - t_i",
        "You differentiated with respect to z_i/τ. One factor of the chain rule is missing.",
    ),
    wrong_direction=(
        "(t_i - s_i)/tau",
        "The sign: where the student gives too much, its logit should come down.",
    ),
    probability_differentiated=(
        "-t_i/s_i",
        "You stopped at the derivative with respect to s_i. The logit is further in.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def kl_grad(kl_slope, t, s):
    """The gradient of KL(t ‖ s) with respect to the student's logits, three numbers."""
    return kl_slope(s_i=s, t_i=t, tau=tau)


@kl_grad.misconception()
def temperature_forgotten(t, s):
    """Twice too large: z is divided by τ before the softmax, and the chain rule sees that."""
    return s - t


@kl_grad.misconception()
def uphill(t, s):
    """The sign: where the student gives too much, its logit should come down."""
    return (t - s) / tau


@exercise.part(points=1, answer=Numbers())
def limit(kl_slope):
    """The limit of τ² times that gradient for τ → ∞, three exact numbers."""

    def scaled(tau):
        t, s = softmax(teacher / tau), softmax(pupil / tau)
        return tau**2 * kl_slope(s_i=s, t_i=t, tau=tau)

    return np.round(2 * scaled(2e4) - scaled(1e4), 7)  # what is left out is like 1/τ²


@limit.misconception()
def shares_not_divided():
    """The first-order term of a softmax has a factor 1/n. Here n is 3."""
    return (pupil - teacher).astype(float)


limit.mistakes(
    gradient_without_its_factor=(
        np.zeros(3),
        "The gradient itself goes to 0; the question is how fast. Keep the factor τ².",
    ),
    limit_reversed=((teacher - pupil) / 3, "The sign: compare with the gradient at τ = 2."),
)
