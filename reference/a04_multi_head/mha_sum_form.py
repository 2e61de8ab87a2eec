"""Multi-head attention as a sum over heads.

Source: Vaswani et al. (2017), section 3.2.2; Elhage et al. (2021), "A mathematical framework for
transformer circuits".
"""

from autograder.algebra import IndexedChain
from autograder.exercise import Choice, Count, Derivation, Exercise, Ordering

exercise = Exercise(
    "mha_sum_form",
    title="A sum over heads",
    source="Vaswani et al. (2017), section 3.2.2; Elhage et al. (2021)",
    minutes=50,
    hints=[
        "Cut the joined heads C into column blocks, and W_O into row blocks of the same size."
        " What does block multiplication say?",
        "The rank of a product is at most the smallest width on the way.",
    ],
)


proof = Ordering(
    [
        (
            [
                "Let $C$ be the heads side by side: its first $d/h$ columns are head 1, the next "
                "ones head 2, and so on.",
                "An entry of the product is $(C\\, W_O)_{ij} = \\sum_c C_{ic}\\, (W_O)_{cj}$, a "
                "sum of $d$ terms.",
                "Sort these terms by the head whose column $c$ is: a sum over $t$ of sums over "
                "the $d/h$ columns of head $t$.",
                "For such a $c$, $C_{ic}$ is an entry of $\\mathrm{head}_t$, and $(W_O)_{cj}$ one "
                "of the rows $W_O^{(t)}$.",
                "So the inner sum is an entry of $\\mathrm{head}_t\\, W_O^{(t)}$, and the layer "
                "is the sum of these products over $t$.",
            ],
            "By definition, $\\mathrm{head}_t = A^{(t)} (X\\, W_V^{(t)})$.",
        ),
        "Put this into the sum of products and bracket anew: $A^{(t)} X\\, (W_V^{(t)} "
        "W_O^{(t)})$, summed over $t$.",
    ],
    distractors={
        "cut_into_columns": (
            "For such a $c$, $(W_O)_{cj}$ is an entry of the columns of $W_O$ that belong to head "
            "$t$.",
            "A column of the first factor meets a row of the second one: cut W_O into rows.",
        ),
        "heads_added_up": (
            "Side by side, the heads add up: $C$ is $\\mathrm{head}_1 + \\dots + "
            "\\mathrm{head}_h$.",
            "Heads side by side have columns of their own; nothing is added before W_O.",
        ),
        "factors_exchanged": (
            "Exchange the factors: $A^{(t)} X = X A^{(t)}$, so that $X$ comes out of the sum.",
            "Factors may be bracketed anew and not exchanged: X A has not even a shape.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """d: the width of the model, h: the heads; the steps of the proof by their letters."""
    h = int(rng.choice([2, 3, 4, 6, 8]))
    return {"d": h * int(rng.choice([w for w in (4, 5, 6, 8, 10, 12, 16) if w != h])), "h": h} | {
        "steps": proof.shuffled(rng)
    }


@exercise.part(points=2, answer=proof)
def order(steps):
    """The layer is the sum of A X W_V W_O over the heads: the proof in order."""
    return proof.order(steps)


two_heads = IndexedChain(
    start="C*W",
    target="A_1*X*V_1*W_1 + A_2*X*V_2*W_2",
    matrices=("C", "W", "H_1", "H_2", "W_1", "W_2", "A_1", "A_2", "X", "V_1", "V_2"),
    definitions={
        "C": "[H_1, H_2]",
        "W": "[W_1; W_2]",
        "H_1": "A_1*X*V_1",
        "H_2": "A_2*X*V_2",
    },
    rules=("definition", "product of blocks"),
)


@exercise.part(points=1, answer=Derivation(two_heads))
def block_steps():
    """The same for two heads, with block matrices: C W as a sum of two products."""
    return [
        "[H_1, H_2]*[W_1; W_2]  # definition",
        "H_1*W_1 + H_2*W_2  # product of blocks",
        "A_1*X*V_1*W_1 + A_2*X*V_2*W_2  # definition",
    ]


@block_steps.alternative
def heads_put_in_first():
    """Put in the heads before multiplying."""
    return [
        "[A_1*X*V_1, A_2*X*V_2]*[[W_1], [W_2]]",
        "A_1*X*V_1*W_1 + A_2*X*V_2*W_2",
    ]


@block_steps.alternative
def in_latex():
    """Blocks between brackets."""
    return [
        r"\begin{pmatrix} H_1 & H_2 \end{pmatrix} \begin{pmatrix} W_1 \\ W_2 \end{pmatrix}",
        "= H_1 W_1 + H_2 W_2",
        "= A_1 X V_1 W_1 + A_2 X V_2 W_2",
    ]


@block_steps.alternative
def one_definition_at_a_time():
    """Cut C first, then W, and put in the heads one by one."""
    return [
        "[H_1, H_2]*W  # definition",
        "= [H_1, H_2]*[W_1; W_2]  # definition",
        "= H_1*W_1 + H_2*W_2  # product of blocks",
        "= A_1*X*V_1*W_1 + H_2*W_2  # definition",
        "= A_1*X*V_1*W_1 + A_2*X*V_2*W_2  # definition",
    ]


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Zero: the contributions cancel.",
            "The same as a single head with the weights $A$ and value and output matrices of "
            "the full width $d$.",
            "$h$ times what one head of width $d/h$ computes.",
            "The mean of all values.",
        ]
    ),
)
def tied():
    """What if all heads had the same weights A?"""
    return "B"


tied.mistakes(
    becomes_zero=("A", "Nothing cancels: A stands in front of every term of the sum. Take it out."),
    h_times_one_head=(
        "C",
        "The heads keep their own W_V and W_O, so the terms are not all the same.",
    ),
    becomes_an_average=(
        "D",
        "Only equal scores make A the plain mean. Take A out of the sum and look at what is left.",
    ),
)


@exercise.part(points=1.5, answer=Count())
def ranks(d, h):
    """The largest rank of W_Q W_Kᵀ of one head, and that of its W_V W_O."""
    return [d // h, d // h]


@ranks.misconception()
def full_rank(d):
    """Both are products through a space that is only d/h wide."""
    return [d, d]


@ranks.misconception()
def number_of_heads(h):
    """The number of heads doesn't bound a rank; the width of a head does."""
    return [h, h]


@ranks.misconception()
def output_of_full_rank(d, h):
    """W_V W_O leads through the width of the head, too."""
    return [d // h, d]
