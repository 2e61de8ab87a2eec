"""What a softmax can't see, and what it can: shifts and scales of the logits.

Source: Goodfellow, Bengio & Courville (2016), "Deep Learning", section 6.2.2.3.
"""

import sympy

from autograder.algebra import Chain, IndexedChain, Waypoint
from autograder.exercise import Derivation, Exercise, Formula

exercise = Exercise(
    "softmax_invariance",
    title="What softmax cannot see",
    source="Goodfellow et al. (2016), 6.2.2.3",
    minutes=20,
    hints=[
        "An exponential of a sum is a product of exponentials. One factor then stands in "
        "every term, above and below.",
        "For the ratio, write both probabilities with the same denominator before you simplify.",
        "What happens to each e^{z_i} if the logits are multiplied by k? Say it as something "
        "done to e^{z_i} itself.",
    ],
)


@exercise.variant
def draw(rng):
    """k: the factor by which all logits are multiplied."""
    return {"k": [2, 3, 0.5][rng.integers(3)]}


definitions = {
    "Z": "exp(z1) + exp(z2) + exp(z3)",
    "p1": "exp(z1)/Z",
    "p2": "exp(z2)/Z",
    "p3": "exp(z3)/Z",
}


def factor_is_shown(line):
    """Does e^c stand beside terms that are free of c, or e^−c beside those that it frees of c?"""
    c = sympy.Symbol("c", real=True)
    for above, below in line.products:
        if below == (sympy.exp(c),):
            above, below = (sympy.exp(-c), *above), ()
        for factors in (above, below):
            for factor in {sympy.exp(c), sympy.exp(-c)} & {*factors}:
                rest = sympy.Mul(*(other for other in factors if other != factor))
                names = {symbol.name for symbol in rest.free_symbols}
                left = {rest, sympy.expand(rest * factor)}
                if names & {"z1", "z2", "z3", "Z"} and any(not one.has(c) for one in left):
                    return True
    return False


chain = Chain(
    start="exp(z1 + c)/(exp(z1 + c) + exp(z2 + c) + exp(z3 + c))",
    target="p1",
    names=("z1", "z2", "z3", "c", "Z", "p1", "p2", "p3"),
    definitions=definitions,
    final_names=("p1",),
    waypoints=(Waypoint("Show the factor that all terms have in common.", factor_is_shown),),
)


OTHER_STEPS = (
    "log(exp(z1 + c) + exp(z2 + c) + exp(z3 + c))",
    "log(exp(c)*(exp(z1) + exp(z2) + exp(z3)))",
    "log(exp(c)) + log(Z)",
    "c + log(Z)",
)


@exercise.part(points=1.5, answer=Derivation(chain, practice=OTHER_STEPS))
def steps():
    """The first probability after the shift, back to p₁, one equality a line."""
    return [
        "exp(z1 + c)/(exp(z1 + c) + exp(z2 + c) + exp(z3 + c))",
        "exp(c)*exp(z1)/(exp(c)*(exp(z1) + exp(z2) + exp(z3)))",
        "exp(z1)/Z",
        "p1",
    ]


@steps.alternative
def term_by_term():
    """Split every exponential before the common factor is taken out."""
    return [
        "exp(z1 + c)/(exp(z1 + c) + exp(z2 + c) + exp(z3 + c))",
        "e^z1*e^c/(e^z1*e^c + e^z2*e^c + e^z3*e^c)",
        "e^z1*e^c/(e^c*Z)",
        "p1",
    ]


@steps.alternative
def multiplied_by_the_inverse():
    """Multiply above and below by e^−c."""
    return [
        "exp(-c)*exp(z1 + c)/(exp(-c)*exp(z1 + c) + exp(-c)*exp(z2 + c) + exp(-c)*exp(z3 + c))",
        "exp(z1)/(exp(z1) + exp(z2) + exp(z3))",
        "p1",
    ]


@steps.alternative
def in_latex():
    """Write the fractions as fractions."""
    return [
        r"\frac{e^{c+z_1}}{e^{c+z_1} + e^{c+z_2} + e^{c+z_3}}",
        r"\frac{e^c e^{z_1}}{e^c e^{z_1} + e^c e^{z_2} + e^c e^{z_3}}",
        r"\frac{e^{z_1}}{Z}",
        r"p_1",
    ]


SHIFTED = "exp(z_i + c)/sum(exp(z_j + c), j)"

general_chain = IndexedChain(
    start=SHIFTED,
    target="p_i",
    names=("c",),
    indexed=("z", "p"),
    definitions={"p_i": "exp(z_i)/sum(exp(z_j), j)"},
    rules=("linearity of sums", "definition"),
    reasons=True,
)


OTHER_GENERAL = (
    "exp(-c)*sum(exp(z_j + c), j)",
    "sum(exp(-c)*exp(z_j + c), j)",
    "sum(exp(z_j), j)",
)


@exercise.part(points=1.5, answer=Derivation(general_chain, practice=OTHER_GENERAL))
def general():
    """The same for any number of logits, with the reason of each step."""
    return [
        SHIFTED,
        "exp(c)*exp(z_i)/sum(exp(c)*exp(z_j), j)  # algebra",
        "exp(c)*exp(z_i)/(exp(c)*sum(exp(z_j), j))  # linearity of sums",
        "p_i  # definition",
    ]


@general.alternative
def cancelled_before_the_name():
    """Cancel the factor in a line of its own."""
    return [
        SHIFTED,
        "exp(z_i)*exp(c)/(exp(c)*sum(exp(z_k), k))  # linearity of sums",
        "exp(z_i)/sum(exp(z_k), k)  # algebra",
        "p_i  # definition",
    ]


@general.alternative
def inverse_above_and_below():
    """Multiply above and below by e^−c, and take it into the sum."""
    return [
        "exp(-c)*exp(z_i + c)/(exp(-c)*sum(exp(z_j + c), j))",
        "exp(z_i)/sum(exp(-c)*exp(z_j + c), j)  # linearity of sums",
        "exp(z_i)/sum(exp(z_j), j)  # algebra",
        "p_i  # definition",
    ]


@general.alternative
def general_in_latex():
    """Write fractions as fractions, and the sum with its sign."""
    return [
        r"\frac{e^{c} e^{z_i}}{\sum_{j=1}^{n} e^{c} e^{z_j}}",
        r"\frac{e^{z_i}}{\sum_{j=1}^{n} e^{z_j}}  # linearity of sums",
        r"p_i  # definition",
    ]


ALL = "(exp(z1) + exp(z2) + exp(z3))"


@exercise.part(
    points=1,
    answer=Formula(
        "z1 z2 z3",
        question=f"(exp(z1)/{ALL})/(exp(z2)/{ALL})",
        practice=("p₁²/(p₂ p₃) in terms of the logits.", "exp(2*z1 - z2 - z3)"),
    ),
)
def ratio():
    """The ratio p₁/p₂ in terms of the logits."""
    return "exp(z1 - z2)"


@ratio.alternative
def ratio_of_exponentials():
    """Divide one by the other."""
    return "exp(z1)/exp(z2)"


ratio.mistakes(
    ratio_of_logits=(
        "z1/z2",
        "You divided the logits. Write both probabilities out and see what cancels.",
    ),
    logits_divided_in_the_exponent=(
        "exp(z1/z2)",
        "A quotient of exponentials is no exponential of a quotient: e^a/e^b is another power "
        "of e.",
    ),
    upside_down=(
        "exp(z2 - z1)",
        "Upside down: where the first logit is the larger one, the ratio should exceed 1.",
    ),
    logarithm_of_the_ratio=(
        "z1 - z2",
        "That is the logarithm of the ratio. A ratio of positive numbers can't be negative.",
    ),
)


@exercise.part(points=2, answer=Formula("p1 p2 p3", definitions=definitions))
def scaled(k):
    """The first entry of softmax(k z), in terms of p = softmax(z)."""
    return f"p1**{k}/(p1**{k} + p2**{k} + p3**{k})"


@scaled.alternative
def through_ratios(k):
    """Divide above and below by the first power."""
    return f"1/(1 + (p2/p1)**{k} + (p3/p1)**{k})"


@scaled.misconception()
def scale_taken_for_a_shift():
    """You say that nothing changes. That holds for a common shift; a factor moves the ratios."""
    return "p1"


@scaled.misconception()
def power_not_normalised(k):
    """The power is right, but with the other entries treated alike: what do these add up to?"""
    return f"p1**{k}"


@scaled.misconception()
def multiple_normalised(k):
    """You multiplied the probability, and normalised. In the exponent the factor makes powers."""
    return f"{k}*p1/({k}*p1 + p2 + p3)"


@scaled.misconception()
def multiple_of_the_probability(k):
    """You multiplied the probability. The factor sits in the exponent, where it makes powers."""
    return f"{k}*p1"
