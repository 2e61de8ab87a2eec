"""Classes of time and memory for attention with n queries and m keys.

Source: Vaswani et al. (2017), "Attention is all you need", section 4, table 1.
"""

from autograder.exercise import ComplexityClass, Count, Exercise, Formula

exercise = Exercise(
    "cost_classes",
    title="The table of costs",
    source="Vaswani et al. (2017), table 1",
    minutes=30,
    hints=[
        "The time of a matrix product is rows times columns times what is summed over.",
        "A whole layer has products with the weights as well; keep both kinds in the class, "
        "since either may be the larger one.",
        "What is stored for each pair of positions, and how many times if there are heads?",
    ],
)


@exercise.part(points=0.5, answer=ComplexityClass("n m d_k d_v"))
def scores_time():
    """The time for the scores Q Kᵀ, as a class."""
    return "n*m*d_k"


scores_time.mistakes(
    quadratic_in_the_width=(
        "n*m*d_k**2",
        "A score is one dot product: how many products does a pair of vectors of width d_k take?",
    ),
    one_step_a_score=(
        "n*m",
        "You counted the scores. Each of them is a sum over the width of the keys.",
    ),
    keys_left_out=(
        "n*d_k",
        "You compared every query with one key. It is compared with all of them.",
    ),
    as_many_keys_as_queries=(
        "n**2*d_k",
        "You took as many keys as queries. Here there are m of them.",
    ),
)


@exercise.part(points=0.25, answer=ComplexityClass("n m d_k d_v"))
def softmax_time():
    """The time for the softmax of the scores, as a class."""
    return "n*m"


softmax_time.mistakes(
    softmax_of_one_row=("m", "That is the softmax of one row. Every query has a row."),
    one_step_a_row=("n", "You gave each row one step. How many exponentials are in a row?"),
    softmax_sees_the_width=(
        "n*m*d_k",
        "Softmax works on finished scores; it has nothing to do with the width of a key.",
    ),
    normalised_entry_by_entry=(
        "n*m**2",
        "The sum of a row is computed once, not again for every entry of the row.",
    ),
)


@exercise.part(points=0.25, answer=ComplexityClass("n m d_k d_v"))
def values_time():
    """The time for the weighted sums A V, as a class."""
    return "n*m*d_v"


values_time.mistakes(
    width_of_the_keys=(
        "n*m*d_k",
        "Keys play no part any more: this product takes the weights and the values.",
    ),
    size_of_the_output=(
        "n*d_v",
        "You counted the entries of the output. Each of them is a sum over the keys.",
    ),
    square_of_the_values=(
        "n*m*d_v**2",
        "Each weight multiplies each entry of a value once; no two widths meet.",
    ),
)


@exercise.part(
    points=0.75,
    answer=Formula(
        "n m d_k d_v",
        practice=(
            ("The multiply–add pairs that send n queries and m keys through a d_k × d_v matrix."),
            "(n + m)*d_k*d_v",
        ),
    ),
)
def madds():
    """The multiply–add pairs of both products together, exactly."""
    return "n*m*(d_k + d_v)"


@madds.alternative
def product_by_product():
    """Count one product after the other."""
    return "n*m*d_k + n*m*d_v"


@madds.misconception()
def widths_multiplied():
    """You multiplied the two costs. The products are carried out one after the other."""
    return "n*m*d_k*d_v"


@madds.misconception()
def flops():
    """You counted multiplications and additions apart; a madd is one of each."""
    return "2*n*m*(d_k + d_v)"


madds.mistakes(
    keys_twice=(
        "2*n*m*d_k",
        "Both products have the width of the keys in your count. The second one averages values.",
    ),
    softmax_included=(
        "n*m*(d_k + d_v + 1)",
        "You added the softmax. Only the two products are asked for.",
    ),
)


@exercise.part(points=0.5, answer=ComplexityClass("n d"))
def layer_time():
    """The time of a whole self-attention layer, projections included, as a class."""
    return "n**2*d + n*d**2"


@layer_time.alternative
def in_brackets():
    """Keep a constant, and factor."""
    return "O(n*d*(n + 4*d))"


layer_time.mistakes(
    projections_omitted=(
        "n**2*d",
        "The projections are missing. They are more than half of the work as long as n < 2d.",
    ),
    projections_only=(
        "n*d**2",
        "These are the projections. Comparing all tokens with each other is missing.",
    ),
    quadratic_in_both=(
        "n**2*d**2",
        "Widths and lengths are never both squared: add the costs up one product at a time.",
    ),
    one_token_projected=(
        "n**2*d + d**2",
        "You projected one token. All of them pass through the four matrices.",
    ),
)


@exercise.part(points=0.5, answer=ComplexityClass("n m d_k d_v"))
def memory():
    """The memory for the stored weights and the output of one head, as a class."""
    return "n*m + n*d_v"


memory.mistakes(
    output_forgotten=(
        "n*m",
        "The output is missing. It is the larger part where there are few keys and wide values.",
    ),
    weights_forgotten=("n*d_v", "The weights are missing: one for each pair of a query and a key."),
    time_for_memory=("n*m*d_v", "That is the time. The terms of a sum need not be stored."),
    a_row_for_each_key=("n*m + m*d_v", "Your output has a row for each key. Every query gets one."),
)


@exercise.part(points=0.5, answer=ComplexityClass("h n m d_k d_v"))
def weights_memory():
    """The memory for the stored weights of a layer with h heads, as a class."""
    return "h*n*m"


weights_memory.mistakes(
    heads_share_weights=("n*m", "You counted one matrix of weights. Every head has its own."),
    heads_compared_with_heads=(
        "h**2*n*m",
        "Heads don't look at each other: the number of heads counts once.",
    ),
    width_per_head=("h*n*m*d_k", "A weight is a single number, whatever the width of the head."),
    square_weights=("h*n**2", "You took as many keys as queries. Here there are m of them."),
)


@exercise.part(points=0.5, answer=Count())
def factor():
    """The factor on the time of self-attention's two products when n doubles."""
    return 4


factor.mistakes(
    linear_growth=(
        2,
        "You doubled the queries only. In self-attention their number is that of the keys, too.",
    ),
    cubic_growth=(8, "You doubled the width too. It belongs to the model and stays the same."),
)


@exercise.part(points=0.25, answer=Count())
def factor_linear():
    """The factor on the time of linear attention when n doubles."""
    return 2


factor_linear.mistakes(
    still_quadratic=(
        4,
        "You doubled queries and keys of a product. Linear attention never multiplies n with m.",
    ),
    no_growth=(1, "Twice as many tokens still have to be read once each."),
)
