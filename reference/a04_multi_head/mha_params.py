"""Parameters of one multi-head attention layer.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.2.
"""

from autograder.algebra import Chain
from autograder.exercise import Choice, Count, Derivation, Exercise

exercise = Exercise(
    "mha_params",
    title="Counting one attention layer",
    source="Vaswani et al. (2017), 3.2.2",
    minutes=50,
    hints=[
        "All heads together have the width d again: count one W_Q for the whole layer.",
        "A bias has one number for each *column* that comes out.",
        "For a single narrow head, W_O begins with the width of that head and ends with the "
        "width of the model.",
    ],
)


@exercise.variant
def draw(rng):
    """d: width of the model, divisible by the number h of heads; bias: 1 with biases, 0 without."""
    d = int(rng.choice([192, 256, 320, 384, 512, 640, 768, 1024]))
    return {"d": d, "h": int(rng.choice([4, 8, 16])), "bias": int(rng.integers(2))}


@exercise.part(points=1, answer=Count())
def each(d):
    """Entries of each of W_Q, W_K and W_V, all heads together."""
    return d * d


@each.misconception()
def one_head_only(d, h):
    """That is the share of a single head. W_Q serves all of them, side by side."""
    return d * (d // h)


@each.misconception()
def full_width_heads(d, h):
    """You gave every head the whole width. The heads split the width among them."""
    return h * d * d


@each.misconception()
def three_together(d):
    """Those are all three matrices. Asked for is one of them."""
    return 3 * d * d


@exercise.part(points=1, answer=Count())
def output(d):
    """Entries of W_O."""
    return d * d


@output.misconception()
def one_head_in(d, h):
    """You let one head in. W_O takes the outputs of all heads, side by side."""
    return (d // h) * d


@output.misconception()
def full_width_in(d, h):
    """You gave every head the whole width. Side by side, the heads are as wide as the model."""
    return h * d * d


@exercise.part(points=1.5, answer=Count())
def total(each, output):
    """Parameters of the layer without biases."""
    return 3 * each + output


@total.misconception()
def times_h(d, h):
    """You multiplied by the number of heads. More heads are narrower, not more in total."""
    return 4 * d * d * h


@total.misconception()
def divided_by_h(d, h):
    """You counted one head. There are h of them, each with its own columns."""
    return 4 * d * d // h


@total.misconception()
def output_forgotten(d):
    """You counted queries, keys and values. One more matrix mixes the heads afterwards."""
    return 3 * d * d


@exercise.part(points=1, answer=Count())
def total_with_biases(total, d):
    """Parameters of the layer with a bias for each of the four maps."""
    return total + 4 * d


@total_with_biases.misconception()
def biases_forgotten(total):
    """This is the count without biases. Each map adds one number per output."""
    return total


@total_with_biases.misconception()
def queries_keys_values_only(d):
    """You counted queries, keys and values. The map after the heads has weights and a bias too."""
    return 3 * (d * d + d)


@total_with_biases.misconception()
def output_bias_forgotten(total, d):
    """The map after the heads has a bias too."""
    return total + 3 * d


@total_with_biases.misconception()
def biases_of_one_head(total, d, h):
    """Your biases are as wide as one head. A bias has an entry for each output of its map."""
    return total + 4 * (d // h)


@total_with_biases.misconception()
def one_number_for_each_map(total):
    """You added one number for each map. A bias has an entry for each output of its map."""
    return total + 4


@total_with_biases.misconception()
def biases_times_h(d, h):
    """You multiplied by the number of heads. More heads are narrower, not more in total."""
    return 4 * (d * d + d) * h


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "It has $h$ times as many parameters.",
            "It has fewer, by the factor $h$.",
            "It has a third more, whether or not the single head keeps its $W_O$.",
            "It has just as many if the single head keeps its $W_O$.",
        ]
    ),
)
def compared():
    """How does the layer compare with one that has a single head of width d?"""
    return "D"


compared.mistakes(
    h_times_as_many=(
        "A",
        "The single head is h times as wide as one of yours, and you have h of those.",
    ),
    fewer_by_h=(
        "B",
        "Count all heads of the layer, not one: together they are as wide as the single head.",
    ),
    output_dropped=(
        "C",
        "You dropped W_O on one side only; compare like with like. A single head may keep it.",
    ),
)


@exercise.part(points=1, answer=Count())
def narrow(d, h, bias):
    """Parameters of a layer with one head of width d/h and its W_O, biases as in your numbers."""
    k = d // h
    return 3 * (d * k + bias * k) + (k * d + bias * d)


@narrow.misconception()
def narrow_output_dropped(d, h, bias):
    """You left out the map from the head's width back to d."""
    k = d // h
    return 3 * (d * k + bias * k)


@narrow.misconception()
def narrow_output_wide(d, h, bias):
    """Your W_O takes in the whole width d. How wide is what this single head gives?"""
    k = d // h
    return 3 * (d * k + bias * k) + (d * d + bias * d)


@narrow.misconception()
def narrow_output_square(d, h, bias):
    """Your W_O stays as narrow as the head. It leads back to the width of the model."""
    k = d // h
    return 3 * (d * k + bias * k) + (k * k + bias * k)


@narrow.misconception()
def narrow_on_both_sides(d, h, bias):
    """Your matrices are as narrow as the head on both sides. The tokens still have the width d."""
    k = d // h
    return 4 * (k * k + bias * k)


@narrow.misconception()
def narrow_biases_other_way(d, h, bias):
    """Look at `bias` in your numbers: 1 means that all four maps have one, 0 that none has."""
    return narrow.compute(d, h, 1 - bias)


@narrow.misconception()
def narrow_but_wide(d, bias):
    """This head has the whole width d. The one in question is as narrow as one of h heads."""
    return 4 * (d * d + bias * d)


with_head_width = Chain(
    start="h*3*(d*k + k) + (h*k*d + d)",
    target="4*d**2 + 4*d",
    names=("d", "h", "k"),
    definitions={"k": "d/h"},
    final_names=("d",),
    assumptions={"*": "positive"},
)


@exercise.part(points=1, answer=Derivation(with_head_width))
def steps():
    """The count with biases, from head by head to a form without h, one equality a line."""
    return [
        "h*3*(d*k + k) + (h*k*d + d)",
        "4*d*(h*k) + 3*(h*k) + d",
        "4*d**2 + 3*d + d",
        "4*d**2 + 4*d",
    ]


@steps.alternative
def width_put_in_first():
    """Replace the width of a head at once."""
    return [
        "h*3*(d*(d/h) + d/h) + (h*(d/h)*d + d)",
        "3*(d**2 + d) + d**2 + d",
        "4*d*(d + 1)",
    ]


@steps.alternative
def one_map_for_all_heads():
    """See that h heads of width k are one map of width d, before counting."""
    return [
        "3*h*k*(d + 1) + d*(h*k + 1)",
        "= 3*d*(d + 1) + d*(d + 1)",
        "= 4*d*(d + 1)",
        "= 4*d**2 + 4*d",
    ]


@steps.alternative
def in_latex():
    """Weights first, then biases, with fractions."""
    return [
        r"4 d h k + 3 h k + d",
        r"= 4 d h \cdot \frac{d}{h} + 3 h \cdot \frac{d}{h} + d",
        r"= 4 d^2 + 3 d + d",
        r"= 4 d^2 + 4 d",
    ]
