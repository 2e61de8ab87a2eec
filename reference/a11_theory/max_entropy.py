"""What softmax maximises: the expected score plus τ times the entropy.

Source: Boyd & Vandenberghe (2004), "Convex Optimization", section 3.3.1 (example 3.25).
"""

import numpy as np
import sympy

from autograder.algebra import EquationChain, Fact, IndexedChain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "max_entropy",
    title="What softmax optimises",
    source="Boyd & Vandenberghe (2004), example 3.25",
    minutes=65,
    hints=[
        "The derivative by p_j meets one term of each sum. Solve what remains for p_j first; c "
        "comes last, from the sum of all weights.",
        "In the second derivation write s_i as the definition of q has it, and look for a sum in "
        "which nothing but weights is left.",
        "Compare F at your p, at the uniform weights and at the corner: the last line of your "
        "derivation says by how much they must differ. Ask of each claim whether one of these "
        "points would do better.",
    ],
)


@exercise.variant
def draw(rng):
    """s: three different scores; tau: the temperature."""
    s = rng.choice(np.arange(-1, 4), 3, replace=False).astype(float)
    return {"s": s, "tau": float(rng.choice([0.5, 0.8, 1.25, 1.6, 2]))}


def entropy(p):
    """Return −Σ p log p."""
    return -p @ np.log(p)


lagrange = EquationChain(
    start="D(sum(p_i*s_i, i) - tau*sum(p_i*log(p_i), i) - c*(sum(p_i, i) - 1), p_j) = 0",
    target="p_j = exp(s_j/tau)/Z",
    names=("c", "tau", "Z"),
    indexed=("p", "s"),
    positive=("p", "tau", "Z"),
    definitions={"Z": "sum(exp(s_k/tau), k)"},
    where={"p_i": "exp(s_i/tau)/Z", "c": "tau*log(Z) - tau"},
    waypoints=(
        Waypoint(
            "Carry the derivative out: what remains holds p_j, s_j, tau and c.",
            lambda line: {"c", "p", "s"} <= line.names and not line.operators & {"D"},
        ),
        Waypoint(
            "Use that the weights add up to 1: that determines c.",
            lambda line: (
                (line.operators == {"Total"} and "s" in line.names)
                or ("c" in line.names and "p" not in line.names)
            ),
        ),
    ),
)


@exercise.part(points=1.5, answer=Derivation(lagrange))
def lagrange_steps():
    """Lagrange's condition, solved for p_j: equations, each following from the one before."""
    return [
        "s_j - tau*(log(p_j) + 1) - c = 0",
        "log(p_j) = (s_j - c)/tau - 1",
        "p_j = exp(s_j/tau)*exp(-c/tau - 1)",
        "sum(exp(s_k/tau)*exp(-c/tau - 1), k) = 1",
        "exp(-c/tau - 1) = 1/Z",
        "p_j = exp(s_j/tau)/Z",
    ]


@lagrange_steps.alternative
def constant_by_name():
    """Solve for c, and put it in."""
    return [
        "s_j - tau*log(p_j) - tau = c",
        "p_j = exp((s_j - c)/tau - 1)",
        "sum(p_k, k) = 1",
        "exp(-c/tau - 1)*Z = 1",
        "c = tau*log(Z) - tau",
        "p_j = exp(s_j/tau - log(Z))",
        "p_j = exp(s_j/tau)/Z",
    ]


@lagrange_steps.alternative
def ratio_of_two_weights():
    """Two weights have a ratio without c; add them up."""
    return [
        "s_j - tau*(log(p_j) + 1) = c",
        "s_j - tau*log(p_j) = s_k - tau*log(p_k)",
        "log(p_k/p_j) = (s_k - s_j)/tau",
        "p_k = p_j*exp((s_k - s_j)/tau)",
        "1 = p_j*exp(-s_j/tau)*sum(exp(s_k/tau), k)",
        "p_j = exp(s_j/tau)/Z",
    ]


@lagrange_steps.alternative
def with_latex_and_arrows():
    """Write it as in a paper."""
    return [
        r"s_j - \tau (\log p_j + 1) - c = 0",
        r"\iff \tau \log p_j = s_j - \tau - c",
        r"\iff p_j = e^{s_j/\tau} e^{-1 - c/\tau}",
        r"\implies 1 = \sum_k e^{s_k/\tau} e^{-1 - c/\tau}",
        r"\implies p_j = \frac{e^{s_j/\tau}}{Z}",
    ]


def free_of_the_weights(line):
    """Are the scores gone, and does tau*log(Z) stand there by itself, beside no weight?"""
    alone = line.language.read_form("tau*log(Z)")
    return "s" not in line.names and line.expr.expand(log=False).coeff(alone) == 1


def ends_with_divergence(line):
    """Does tau*log(Z) stand there by itself, and beside it logarithms of quotients of weights?"""
    quotients = [
        log
        for log in line.expr.atoms(sympy.log)
        if {"p", "q"} <= {f.func.__name__ for f in log.atoms(sympy.Function)}
    ]
    return free_of_the_weights(line) and bool(quotients)


chain = IndexedChain(
    start="sum(p_i*s_i, i) - tau*sum(p_i*log(p_i), i)",
    target="tau*log(Z) - tau*sum(p_i*log(p_i/q_i), i)",
    names=("tau", "Z"),
    indexed=("p", "s", "q"),
    positive=("p", "q", "tau", "Z"),
    definitions={"q_i": "exp(s_i/tau)/Z", "Z": "sum(exp(s_k/tau), k)"},
    where={"p_i": "a_i/sum(a_k, k)"},
    hidden=("a_i",),
    rules=(
        "linearity of sums",
        "definition",
        Fact("weights sum to one", "sum(p_k, k)", "1"),
    ),
    ends=Waypoint("End with tau*log(Z) by itself, less a divergence.", ends_with_divergence),
)


@exercise.part(points=1.5, answer=Derivation(chain))
def gap_steps():
    """The objective at any p, led to τ log Z minus τ times a divergence."""
    return [
        "sum(p_i*(tau*log(q_i) + tau*log(Z)), i) - tau*sum(p_i*log(p_i), i)  # definition",
        "tau*log(Z)*sum(p_i, i) + tau*sum(p_i*(log(q_i) - log(p_i)), i)  # linearity of sums",
        "tau*log(Z) + tau*sum(p_i*(log(q_i) - log(p_i)), i)  # weights sum to one",
        "tau*log(Z) - tau*sum(p_i*log(p_i/q_i), i)  # algebra",
    ]


@gap_steps.alternative
def tau_in_front():
    """Under one sum, with τ in front."""
    return [
        "tau*sum(p_i*(s_i/tau - log(p_i)), i)  # linearity of sums",
        "tau*sum(p_i*(log(Z*q_i) - log(p_i)), i)  # definition",
        "tau*sum(p_i*(log(Z) - log(p_i/q_i)), i)",
        "tau*log(Z)*sum(p_i, i) - tau*sum(p_i*log(p_i/q_i), i)",
        "tau*log(Z) - tau*sum(p_i*log(p_i/q_i), i)",
    ]


@gap_steps.alternative
def every_sum_apart():
    """One sum for each logarithm."""
    return [
        "sum(p_j*(tau*log(q_j) + tau*log(Z)), j) - tau*sum(p_j*log(p_j), j)",
        "tau*sum(p_j*log(q_j), j) + tau*log(Z)*sum(p_j, j) - tau*sum(p_j*log(p_j), j)",
        "tau*sum(p_j*log(q_j), j) + tau*log(Z) - tau*sum(p_j*log(p_j), j)",
        "tau*log(Z) - tau*sum(p_j*(log(p_j) - log(q_j)), j)",
        "tau*log(Z) - tau*sum(p_j*log(p_j/q_j), j)",
    ]


@gap_steps.alternative
def in_latex():
    """Write sums and Greek letters with their signs."""
    return [
        r"\sum_i p_i (\tau \log q_i + \tau \log Z) - \tau \sum_i p_i \log p_i",
        r"\tau \log Z \sum_i p_i + \tau \sum_i p_i (\log q_i - \log p_i)",
        r"\tau \log Z - \tau \sum_i p_i (\log p_i - \log q_i)",
        r"\tau \log Z - \tau \sum_i p_i \log \frac{p_i}{q_i}",
    ]


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Because $Z$ is largest for $p = q$.",
            "Because $\\sum_i p_i \\log(p_i/q_i)$ is never positive.",
            "Because $\\sum_i p_i \\log(p_i/q_i)$ is 0 for $p = q$ and positive for all other "
            "weights.",
            "Because the derivative of $F$ vanishes at $q$.",
            "Because $\\sum_i p_i \\log(p_i/q_i)$ stays the same when $p$ and $q$ change places.",
        ]
    ),
)
def only_maximum():
    """Why does the last line show that softmax is the only maximum?"""
    return "C"


only_maximum.mistakes(
    partition_function_changes=("A", "Which letters does Z contain? Look whether p is among them."),
    divergence_is_negative=("B", "Try p = (1, 0) and q = (½, ½): which sign has the divergence?"),
    stationary_is_enough=(
        "D",
        "Minima and saddles are stationary, too. What does the line say beyond that?",
    ),
    divergence_is_symmetric=("E", "A divergence isn't symmetric, and nothing here needs it."),
)


def telling(p):
    """Equal weights are nobody's maximum here: they are not carried on."""
    return np.ptp(p) > 0 and (p > 0).all()


@exercise.part(points=1, answer=Numbers(), carry_if=telling)
def p(s, tau):
    """The maximising weights, three numbers."""
    return softmax(s / tau)


@p.misconception()
def entropy_subtracted(s, tau):
    """The largest score got the smallest weight. Check the signs of both terms."""
    return softmax(-s / tau)


@p.misconception()
def temperature_multiplied(s, tau):
    """You multiplied by τ. A high temperature makes the weights more equal."""
    return softmax(s * tau)


@p.misconception()
def temperature_left_out(s):
    """That is the maximum for τ = 1."""
    return softmax(s)


@exercise.part(points=0.5, answer=Numbers())
def optimum(p, s, tau):
    """The largest value of the objective, p·s + τ H(p) at your p."""
    return p @ s + tau * entropy(p)


@optimum.misconception()
def sign_of_the_entropy(p, s, tau):
    """You subtracted the entropy. It is added: spreading out is rewarded."""
    return p @ s - tau * entropy(p)


@optimum.misconception()
def entropy_without_tau(p, s):
    """The entropy counts τ times."""
    return p @ s + entropy(p)


@optimum.misconception()
def expected_score_alone(p, s):
    """That is the expected score. The entropy is missing."""
    return p @ s


@exercise.part(points=0.5, answer=Numbers())
def free_energy(s, tau):
    """τ · LSE(s/τ)."""
    return tau * np.log(np.exp(s / tau).sum())


@free_energy.misconception()
def tau_inside_alone(s, tau):
    """That is LSE(s/τ). Multiply by τ."""
    return np.log(np.exp(s / tau).sum())


@free_energy.misconception()
def without_temperature(s):
    """That is LSE(s), for τ = 1."""
    return np.log(np.exp(s).sum())


@free_energy.misconception()
def logarithm_forgotten(s, tau):
    """You left out the logarithm."""
    return tau * np.exp(s / tau).sum()


@free_energy.misconception()
def tau_outside_alone(s, tau):
    """That is τ · LSE(s). The scores are divided by τ first."""
    return tau * np.log(np.exp(s).sum())


@exercise.part(points=0.5, answer=Numbers())
def elsewhere(s, tau):
    """The objective at the uniform weights and at the corner of the largest score."""
    return np.array([s.mean() + tau * np.log(3), s.max()])


@elsewhere.misconception()
def scores_alone(s):
    """You left out the entropy. Which of the two points has one?"""
    return np.array([s.mean(), s.max()])


@elsewhere.misconception()
def entropy_at_the_corner(s, tau):
    """You gave the corner an entropy. How much is uncertain there?"""
    return np.array([s.mean(), s.max()]) + tau * np.log(3)


@elsewhere.misconception()
def tau_forgotten(s):
    """The entropy counts τ times."""
    return np.array([s.mean() + np.log(3), s.max()])


@exercise.part(points=0.5, answer=Numbers())
def divergence(p):
    """KL(p ‖ uniform) of your p."""
    return np.log(3) - entropy(p)


@divergence.misconception()
def other_way_round(p):
    """That is KL(uniform ‖ p). Weight the logarithms with p."""
    return -np.log(3 * p).mean()


@divergence.misconception()
def entropy_itself(p):
    """That is the entropy of p. How far is it below its bound?"""
    return entropy(p)


@divergence.misconception()
def bound_forgotten(p):
    """You left out the uniform weights: the logarithm is that of a quotient."""
    return p @ np.log(p)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Softmax weights have the least entropy of all weights.",
            "Softmax weights have the least divergence from the uniform weights.",
            "Softmax weights maximise the expected score plus $\\tau$ times the entropy.",
            "As $\\tau$ goes to 0, they approach the corner of the largest score (if there is "
            "one such score).",
            "Softmax weights maximise the expected score.",
            "As $\\tau$ grows without bound, they approach the uniform weights.",
        ],
        multiple=True,
    ),
)
def false_claims():
    """The claims about softmax that are false, for a finite temperature τ > 0."""
    return "ABE"


false_claims.mistakes(
    sharp_is_least=(
        "BE",
        'You let "minimises entropy" pass. Which weights have the least entropy of all?',
    ),
    flat_is_nearest=(
        "AE",
        "You let a claim about uniform weights pass. Which weights diverge least from them?",
    ),
    theorem_doubted=("ABCE", "You called the theorem false that you have just proved."),
    score_maximised=(
        "AB",
        'You let "maximises the expected score" pass. Compare with the corner of the largest '
        "score.",
    ),
    limits_doubted=(
        "ABDEF",
        "You called a limit false. Divide the scores by a very small and by a very large τ.",
    ),
    true_ones_marked=("CDF", "Which claims are asked for: the true ones or the false ones?"),
)
