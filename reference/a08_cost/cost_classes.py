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


@scores_time.misconception()
def quadratic_in_the_width():
    """A score is one dot product: how many products does a pair of vectors of width d_k take?"""
    return "n*m*d_k**2"


@scores_time.misconception()
def one_step_a_score():
    """You counted the scores. Each of them is a sum over the width of the keys."""
    return "n*m"


@scores_time.misconception()
def keys_left_out():
    """You compared every query with one key. It is compared with all of them."""
    return "n*d_k"


@scores_time.misconception()
def as_many_keys_as_queries():
    """You took as many keys as queries. Here there are m of them."""
    return "n**2*d_k"


@exercise.part(points=0.25, answer=ComplexityClass("n m d_k d_v"))
def softmax_time():
    """The time for the softmax of the scores, as a class."""
    return "n*m"


@softmax_time.misconception()
def softmax_of_one_row():
    """That is the softmax of one row. Every query has a row."""
    return "m"


@softmax_time.misconception()
def one_step_a_row():
    """You gave each row one step. How many exponentials are in a row?"""
    return "n"


@softmax_time.misconception()
def softmax_sees_the_width():
    """Softmax works on finished scores; it has nothing to do with the width of a key."""
    return "n*m*d_k"


@softmax_time.misconception()
def normalised_entry_by_entry():
    """The sum of a row is computed once, not again for every entry of the row."""
    return "n*m**2"


@exercise.part(points=0.25, answer=ComplexityClass("n m d_k d_v"))
def values_time():
    """The time for the weighted sums A V, as a class."""
    return "n*m*d_v"


@values_time.misconception()
def width_of_the_keys():
    """Keys play no part any more: this product takes the weights and the values."""
    return "n*m*d_k"


@values_time.misconception()
def size_of_the_output():
    """You counted the entries of the output. Each of them is a sum over the keys."""
    return "n*d_v"


@values_time.misconception()
def square_of_the_values():
    """Each weight multiplies each entry of a value once; no two widths meet."""
    return "n*m*d_v**2"


@exercise.part(points=0.75, answer=Formula("n m d_k d_v"))
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


@madds.misconception()
def keys_twice():
    """Both products have the width of the keys in your count. The second one averages values."""
    return "2*n*m*d_k"


@madds.misconception()
def softmax_included():
    """You added the softmax. Only the two products are asked for."""
    return "n*m*(d_k + d_v + 1)"


@exercise.part(points=0.5, answer=ComplexityClass("n d"))
def layer_time():
    """The time of a whole self-attention layer, projections included, as a class."""
    return "n**2*d + n*d**2"


@layer_time.alternative
def in_brackets():
    """Keep a constant, and factor."""
    return "O(n*d*(n + 4*d))"


@layer_time.misconception()
def projections_omitted():
    """The projections are missing. They are more than half of the work as long as n < 2d."""
    return "n**2*d"


@layer_time.misconception()
def projections_only():
    """These are the projections. Comparing all tokens with each other is missing."""
    return "n*d**2"


@layer_time.misconception()
def quadratic_in_both():
    """Widths and lengths are never both squared: add the costs up one product at a time."""
    return "n**2*d**2"


@layer_time.misconception()
def one_token_projected():
    """You projected one token. All of them pass through the four matrices."""
    return "n**2*d + d**2"


@exercise.part(points=0.5, answer=ComplexityClass("n m d_k d_v"))
def memory():
    """The memory for the stored weights and the output of one head, as a class."""
    return "n*m + n*d_v"


@memory.misconception()
def output_forgotten():
    """The output is missing. It is the larger part where there are few keys and wide values."""
    return "n*m"


@memory.misconception()
def weights_forgotten():
    """The weights are missing: one for each pair of a query and a key."""
    return "n*d_v"


@memory.misconception()
def time_for_memory():
    """That is the time. The terms of a sum need not be stored."""
    return "n*m*d_v"


@memory.misconception()
def a_row_for_each_key():
    """Your output has a row for each key. Every query gets one."""
    return "n*m + m*d_v"


@exercise.part(points=0.5, answer=ComplexityClass("h n m d_k d_v"))
def weights_memory():
    """The memory for the stored weights of a layer with h heads, as a class."""
    return "h*n*m"


@weights_memory.misconception()
def heads_share_weights():
    """You counted one matrix of weights. Every head has its own."""
    return "n*m"


@weights_memory.misconception()
def heads_compared_with_heads():
    """Heads don't look at each other: the number of heads counts once."""
    return "h**2*n*m"


@weights_memory.misconception()
def width_per_head():
    """A weight is a single number, whatever the width of the head."""
    return "h*n*m*d_k"


@weights_memory.misconception()
def square_weights():
    """You took as many keys as queries. Here there are m of them."""
    return "h*n**2"


@exercise.part(points=0.5, answer=Count())
def factor():
    """The factor on the time of self-attention's two products when n doubles."""
    return 4


@factor.misconception()
def linear_growth():
    """You doubled the queries only. In self-attention their number is that of the keys, too."""
    return 2


@factor.misconception()
def cubic_growth():
    """You doubled the width too. It belongs to the model and stays the same."""
    return 8


@exercise.part(points=0.25, answer=Count())
def factor_linear():
    """The factor on the time of linear attention when n doubles."""
    return 2


@factor_linear.misconception()
def still_quadratic():
    """You doubled queries and keys of a product. Linear attention never multiplies n with m."""
    return 4


@factor_linear.misconception()
def no_growth():
    """Twice as many tokens still have to be read once each."""
    return 1
