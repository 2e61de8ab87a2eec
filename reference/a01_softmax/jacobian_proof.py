"""The Jacobian of softmax, derived for two entries and put together from them.

Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. 4.106.
"""

import sympy

from autograder.algebra import Chain, Diff, IndexedChain, Waypoint, equivalent
from autograder.exercise import Derivation, Exercise, Matrix

exercise = Exercise(
    "jacobian_proof",
    title="The softmax Jacobian",
    source="Bishop (2006), eq. 4.106",
    minutes=30,
    hints=[
        "Write p₁ as a fraction and say which of numerator and denominator depend on the "
        "logit that you differentiate by.",
        "Use the quotient rule as it stands in one line, and only simplify in the next: the "
        "step must be seen.",
        "At the end, look for p₁ and p₂ as factors: the fraction splits into two of them.",
    ],
)

P = ("p1", "p2", "p3")
names = ("z1", "z2", "z3", "Z", *P)
definitions = {
    "Z": "exp(z1) + exp(z2) + exp(z3)",
    "p1": "exp(z1)/Z",
    "p2": "exp(z2)/Z",
    "p3": "exp(z3)/Z",
}


def rule_is_shown(line):
    """Is there a squared denominator, or something else than p₁ that is to be differentiated?"""
    if any(power.exp <= -2 for power in line.expr.atoms(sympy.Pow) if power.exp.is_Rational):
        return True
    expand = line.language.expand
    p1 = expand(line.language.read_form("p1"))
    inner = {expand(derivative.args[0]) for derivative in line.expr.atoms(Diff)}
    return any(equivalent(p1, expression).equal is False for expression in inner)


by_rule = Waypoint("Show the quotient rule, or the derivative of the logarithm.", rule_is_shown)


def entry(start, target):
    """Differentiate by a rule that is shown, and end in the probabilities."""
    return Chain(start, target, names, definitions, final_names=P, waypoints=(by_rule,))


def ends_in_probabilities(lines):
    """Matrix entries can follow from a wrong last line, if it is one in p1, p2, p3."""
    return lines[-1].names <= {*P}


@exercise.part(
    points=2,
    answer=Derivation(
        entry("diff(p1, z1)", "p1*(1 - p1)"),
        practice=(
            "diff(log(p1), z2)",
            "diff(z1 - log(Z), z2)",
            "-diff(Z, z2)/Z",
            "-exp(z2)/Z",
            "-p2",
        ),
    ),
    carry_if=ends_in_probabilities,
)
def diag_steps():
    """∂p₁/∂z₁ in terms of p₁, one equality a line."""
    return [
        "diff(p1, z1)",
        "(exp(z1)*Z - exp(z1)*exp(z1))/Z**2",
        "exp(z1)/Z - (exp(z1)/Z)**2",
        "p1 - p1**2",
    ]


@diag_steps.alternative
def diagonal_as_a_product():
    """Take the factor out of the numerator."""
    return [
        "diff(p1, z1)",
        "(exp(z1)*Z - exp(z1)*exp(z1))/Z**2",
        "exp(z1)/Z*(Z - exp(z1))/Z",
        "p1*(1 - p1)",
    ]


@diag_steps.alternative
def diagonal_by_logarithm():
    """Differentiate log p₁ = z₁ − log Z, since ∂p = p ∂log p."""
    return [
        "p1*diff(log(p1), z1)",
        "p1*diff(z1 - log(Z), z1)",
        "p1*(1 - exp(z1)/Z)",
        "p1*(1 - p1)",
    ]


@diag_steps.alternative
def diagonal_by_product_rule():
    """Take e^{z₁} times 1/Z."""
    return [
        "diff(exp(z1)*(1/Z), z1)",
        "diff(exp(z1), z1)/Z + exp(z1)*diff(1/Z, z1)",
        "exp(z1)/Z - exp(z1)*exp(z1)/Z^2",
        "p1 - p1*p1",
    ]


@diag_steps.alternative
def diagonal_by_the_other_terms():
    """Multiply the numerator out, and call what is left by its names."""
    return [
        "diff(exp(z1)/Z, z1)",
        "(diff(exp(z1), z1)*Z - exp(z1)*diff(Z, z1))/Z^2",
        "exp(z1)*(exp(z2) + exp(z3))/Z^2",
        "p1*(p2 + p3)",
    ]


@exercise.part(
    points=2,
    answer=Derivation(
        entry("diff(p1, z2)", "-p1*p2"),
        practice=(
            "diff(1/Z, z2)",
            "-diff(Z, z2)/Z^2",
            "-exp(z2)/Z^2",
            "-p2/Z",
        ),
    ),
    carry_if=ends_in_probabilities,
)
def off_steps():
    """∂p₁/∂z₂ in terms of p₁ and p₂, one equality a line."""
    return [
        "diff(p1, z2)",
        "(0*Z - exp(z1)*exp(z2))/Z**2",
        "-(exp(z1)/Z)*(exp(z2)/Z)",
        "-p1*p2",
    ]


@off_steps.alternative
def other_by_logarithm():
    """Differentiate log p₁ = z₁ − log Z, since ∂p = p ∂log p."""
    return [
        "diff(p1, z2)",
        "p1*diff(log(p1), z2)",
        "p1*(0 - exp(z2)/Z)",
        "-p1*p2",
    ]


@off_steps.alternative
def other_by_chain_rule():
    """Only 1/Z depends on z₂."""
    return [
        "exp(z1)*diff(1/Z, z2)",
        "exp(z1)*(-1/Z^2)*exp(z2)",
        "-p1*p2",
    ]


@off_steps.alternative
def other_in_latex():
    """Write the quotient rule with its zero."""
    return [
        "diff(p1, z2)",
        r"\frac{0 \cdot Z - e^{z_1} e^{z_2}}{Z^2}",
        r"-\frac{e^{z_1}}{Z} \cdot \frac{e^{z_2}}{Z}",
        "-p_1*p_2",
    ]


Z = "sum(exp(z_k), k)"
general_chain = IndexedChain(
    start=f"D(exp(z_i)/{Z}, z_j)",
    target="p_i*(delta(i,j) - p_j)",
    indexed=("z", "p"),
    definitions={"p_i": f"exp(z_i)/{Z}"},
    rules=(
        "quotient rule",
        "product rule",
        "chain rule",
        "logarithmic derivative",
        "derivative of exp",
        "derivative of a sum",
        "derivative of a variable",
        "delta contraction",
        "definition",
    ),
    reasons=True,
)


@exercise.part(
    points=2,
    answer=Derivation(
        general_chain,
        practice=(
            f"D(z_i - log({Z}), z_j)",
            f"delta(i,j) - D(log({Z}), z_j)",
            f"delta(i,j) - exp(z_j)/{Z}",
            "delta(i,j) - p_j",
        ),
    ),
)
def general():
    """∂p_i/∂z_j for any i and j of n logits, with the reason of each step."""
    return [
        f"(D(exp(z_i), z_j)*{Z} - exp(z_i)*D({Z}, z_j))/{Z}^2  # quotient rule",
        f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*D({Z}, z_j))/{Z}^2  # derivative of exp",
        f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*sum(D(exp(z_k), z_j), k))/{Z}^2"
        "  # derivative of a sum",
        f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*sum(exp(z_k)*delta(k,j), k))/{Z}^2"
        "  # derivative of exp",
        f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*exp(z_j))/{Z}^2  # delta contraction",
        f"exp(z_i)/{Z}*(delta(i,j) - exp(z_j)/{Z})  # algebra",
        "p_i*(delta(i,j) - p_j)  # definition",
    ]


@general.alternative
def general_by_logarithm():
    """Differentiate the logarithm."""
    return [
        "D(p_i, z_j)  # definition",
        "p_i*D(log(p_i), z_j)  # logarithmic derivative",
        f"p_i*D(log(exp(z_i)/{Z}), z_j)  # definition",
        f"p_i*D(z_i - log({Z}), z_j)  # algebra",
        f"p_i*(D(z_i, z_j) - D(log({Z}), z_j))  # derivative of a sum",
        f"p_i*(delta(i,j) - D(log({Z}), z_j))  # derivative of a variable",
        f"p_i*(delta(i,j) - D({Z}, z_j)/{Z})  # chain rule",
        f"p_i*(delta(i,j) - sum(D(exp(z_k), z_j), k)/{Z})  # derivative of a sum",
        f"p_i*(delta(i,j) - sum(exp(z_k)*delta(k,j), k)/{Z})  # derivative of exp",
        f"p_i*(delta(i,j) - exp(z_j)/{Z})  # delta contraction",
        "p_i*(delta(i,j) - p_j)  # definition",
    ]


@general.alternative
def general_by_product_rule():
    """Take e^{z_i} times 1/Z."""
    return [
        f"D(exp(z_i), z_j)/{Z} + exp(z_i)*D(1/{Z}, z_j)  # product rule",
        f"exp(z_i)*delta(i,j)/{Z} + exp(z_i)*D(1/{Z}, z_j)  # derivative of exp",
        f"exp(z_i)*delta(i,j)/{Z} - exp(z_i)*D({Z}, z_j)/{Z}^2  # chain rule",
        f"exp(z_i)*delta(i,j)/{Z} - exp(z_i)*sum(D(exp(z_l), z_j), l)/{Z}^2  # derivative of a sum",
        f"exp(z_i)*delta(i,j)/{Z} - exp(z_i)*sum(exp(z_l)*delta(l,j), l)/{Z}^2"
        "  # derivative of exp",
        f"exp(z_i)*delta(i,j)/{Z} - exp(z_i)*exp(z_j)/{Z}^2  # delta contraction",
        "p_i*delta(i,j) - p_i*p_j  # definition",
        "p_i*(delta(i,j) - p_j)  # algebra",
    ]


@general.alternative
def general_with_all_at_the_end():
    """Carry all derivatives out before anything is contracted; names come one by one."""
    return [
        f"(D(exp(z_i), z_j)*{Z} - exp(z_i)*D({Z}, z_j))/{Z}^2  # quotient rule",
        f"(D(exp(z_i), z_j)*{Z} - exp(z_i)*sum(D(exp(z_l), z_j), l))/{Z}^2  # derivative of a sum",
        f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*sum(exp(z_l)*delta(l,j), l))/{Z}^2"
        "  # derivative of exp",
        f"(exp(z_i)*delta(i,j)*{Z} - exp(z_i)*exp(z_j))/{Z}^2  # delta contraction",
        f"p_i*delta(i,j) - p_i*exp(z_j)/{Z}  # definition",
        "p_i*delta(i,j) - p_i*p_j  # definition",
    ]


p = p1, p2, p3 = sympy.symbols("p1:4", real=True)


def by_symmetry(diagonal, other):
    """Rename 1, 2 to i, j in ∂p₁/∂z₁ and ∂p₁/∂z₂: softmax treats its logits alike."""
    J = sympy.zeros(3)
    for i in range(3):
        for j in range(3):
            renamed = [p[k] for k in dict.fromkeys((i, j, 0, 1, 2))]
            rule = diagonal if i == j else other
            J[i, j] = rule.xreplace(dict(zip(p, renamed, strict=True)))
    return J


@exercise.part(points=2, answer=Matrix("p1 p2 p3", definitions=definitions))
def J(diag_steps, off_steps):
    """The Jacobian ∂p_i/∂z_j, three rows of three entries in p₁, p₂, p₃."""
    return by_symmetry(diag_steps[-1].expr, off_steps[-1].expr)


@J.alternative
def diagonal_minus_outer_product():
    """Write out diag(p) − p pᵀ."""
    return [
        ["p1 - p1^2", "-p1*p2", "-p1*p3"],
        ["-p2*p1", "p2 - p2^2", "-p2*p3"],
        ["-p3*p1", "-p3*p2", "p3 - p3^2"],
    ]


@J.alternative
def with_the_other_probabilities():
    """Use 1 − p₁ = p₂ + p₃ on the diagonal."""
    return [
        ["p1*(p2 + p3)", "-p1*p2", "-p1*p3"],
        ["-p1*p2", "p2*(p1 + p3)", "-p2*p3"],
        ["-p1*p3", "-p2*p3", "p3*(p1 + p2)"],
    ]


@J.misconception()
def diagonal_rule_everywhere():
    """You used the rule of the diagonal for all entries. For i ≠ j the numerator stays as it is."""
    return by_symmetry(p1 * (1 - p1), p1 * (1 - p2))


@J.misconception()
def minus_lost():
    """Off the diagonal a sign is lost: where one logit grows, can the other entries grow too?"""
    return by_symmetry(p1 * (1 - p1), p1 * p2)


@J.misconception()
def sigmoids_side_by_side():
    """These are three separate sigmoids. In a softmax the sum below ties each p_i to all logits."""
    return by_symmetry(p1 * (1 - p1), sympy.Integer(0))


@J.misconception()
def outer_product_only():
    """The diagonal lacks a term: there the numerator depends on the logit as well."""
    return by_symmetry(-(p1**2), -p1 * p2)
