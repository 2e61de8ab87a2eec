"""Attention against recurrence and convolution: work, steps one after the other, paths.

Source: Vaswani et al. (2017), "Attention is all you need", section 4.
"""

import math

import numpy as np

from autograder.exercise import ComplexityClass, Count, Exercise

exercise = Exercise(
    "rnn_cnn_compare",
    title="Against recurrence and convolution",
    source="Vaswani et al. (2017), section 4",
    minutes=35,
    hints=[
        "What does one pair of tokens cost, one step, one output of a convolution? Then count how "
        "many of them there are.",
        "Without dilation the view grows by the same amount in every layer, with dilation by the "
        "same factor. How many layers until it holds all tokens?",
        "From the first token to the last the distance is one less than the number of tokens; and "
        "a layer that is needed in part is needed.",
    ],
)

n, d, k = 100, 512, 3
CLASSES = ComplexityClass("n d k")


def exponents(cost):
    """By symbol its exponent in a class of one product of powers."""
    (term,) = cost.terms
    found = {symbol: power for symbol, (rate, power, log) in term.powers if not (rate or log)}
    if not found or len(found) < len(term.powers):
        raise ValueError("nothing follows from a constant, nor from a logarithm")
    return found


def worth(cost):
    """What such a class is for the numbers of this exercise, with the factor 1."""
    sizes = {"n": n, "d": d, "k": k}
    return math.prod(sizes[symbol] ** power for symbol, power in exponents(cost).items())


@exercise.part(points=0.5, answer=CLASSES)
def attention_work():
    """The class of the work of a layer of self-attention, without its projections."""
    return "n^2 d"


attention_work.mistakes(
    width_forgotten=(
        "n^2",
        "Each pair of tokens costs an inner product. How long are the vectors?",
    ),
    projections_counted=(
        "n d^2",
        "That is what the projections cost. Here the pairs of tokens count.",
    ),
    only_one_query=("n d", "That is the work for one query. There are n."),
)


@exercise.part(points=0.5, answer=CLASSES)
def recurrent_work():
    """The class of the work of a recurrent layer."""
    return "n d^2"


recurrent_work.mistakes(
    vectors_for_matrices=(
        "n d",
        "Each step multiplies a vector of width d by a matrix. What does that cost?",
    ),
    one_step_alone=("d^2", "That is one step. There are n."),
    pairs_in_a_recurrence=("n^2 d", "A recurrent layer compares no pairs of tokens."),
)


@exercise.part(points=0.75, answer=CLASSES)
def convolution_work():
    """The class of the work of a convolution with kernels of k tokens, from width d to width d."""
    return "k n d^2"


convolution_work.mistakes(
    kernel_forgotten=(
        "n d^2",
        "Each output looks at k tokens, and each of them has its own matrix.",
    ),
    channel_by_channel=(
        "k n d",
        "That is a convolution in which each channel stays by itself. Here all channels mix.",
    ),
    kernel_squared=("k^2 n d^2", "A sequence has one dimension: the kernel has k places."),
)


@exercise.part(points=0.25, answer=CLASSES)
def recurrent_steps():
    """The class of the number of steps of a recurrent layer that must wait for each other."""
    return "n"


recurrent_steps.mistakes(
    all_at_once=("1", "A state needs the one before it."),
    tree_of_steps=(
        "log(n)",
        "A sum can be made in a tree. Here each state goes through a nonlinearity.",
    ),
)


@exercise.part(points=0.5, answer=CLASSES)
def stacked_path():
    """The class of the longest path between two tokens in stacked convolutions."""
    return "n/(k-1)"


stacked_path.mistakes(
    each_layer_doubles=(
        "log(n)/log(k)",
        "Each layer widens the view by the same number of tokens, not by the same factor.",
    ),
    kernel_has_no_effect=("n", "How far does one layer carry? Wider kernels need fewer layers."),
    one_layer_is_enough=("1", "One layer carries over k − 1 tokens alone."),
    as_with_dilation=(
        "log(n)",
        "A logarithm belongs to views that are multiplied. Here each layer adds the same again.",
    ),
)


@exercise.part(points=0.5, answer=CLASSES)
def dilated_path():
    """The class of the longest path if each layer's kernel is spread k times as far."""
    return "log(n)/log(k)"


dilated_path.mistakes(
    as_without_dilation=(
        "n/k",
        "The view grows by the factor k in each layer. How many factors does it take?",
    ),
    base_forgotten=(
        "log(n)",
        "That is right for a fixed k. As a class in n and k: which base has the logarithm?",
    ),
)


@exercise.part(points=1, answer=Count())
def madds(attention_work, recurrent_work, convolution_work):
    """The madds of self-attention, recurrence and convolution."""
    return [worth(work) for work in (attention_work, recurrent_work, convolution_work)]


madds.mistakes(
    kernel_not_counted=(
        np.array([n * n * d, n * d * d, n * d * d]),
        "The convolution has a matrix for each of its k tokens.",
    ),
    flops_counted=(
        2 * np.array([n * n * d, n * d * d, k * n * d * d]),
        "These are FLOPs. A madd is two of them.",
    ),
    both_products_counted=(
        np.array([2 * n * n * d, n * d * d, k * n * d * d]),
        "You counted both products of attention, and one of each other layer. Here n² d counts.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def paths():
    """The longest paths: self-attention, recurrence, stacked convolutions."""
    return np.array([1, n, -(-(n - 1) // (k - 1))])


paths.mistakes(
    divided_by_the_kernel=(
        np.array([1, n, -(-n // k)]),
        "You divided by k. A kernel of k tokens carries over k − 1.",
    ),
    one_token_a_layer=(
        np.array([1, n, n - 1]),
        "Each layer widens the view by k − 1 tokens, not by one.",
    ),
    tokens_between=(
        np.array([n, n, -(-(n - 1) // (k - 1))]),
        "In self-attention any two tokens meet directly, however many stand between them.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def dilated():
    """The layers of dilated convolutions that it takes."""
    return 5


dilated.mistakes(
    to_base_two=(7, "You took the logarithm to base 2. The view grows by the factor k."),
    rounded_down=(4, "How many tokens do so many layers see? It isn't enough yet."),
)


@exercise.part(points=0.5, answer=Count())
def crossover(attention_work, recurrent_work):
    """The length from which attention is no longer the cheaper one of the two."""
    one, other = exponents(attention_work), exponents(recurrent_work)
    n_power, d_power = (one.get(name, 0) - other.get(name, 0) for name in "nd")
    if not n_power:
        raise ValueError("the two meet at no length")
    return d ** (-d_power / n_power)


crossover.mistakes(
    length_given=(n, "That is the n of the counts before. For which n are n² d and n d² alike?"),
    root_of_the_width=(23, "Set n² d equal to n d² and divide by what both have."),
    width_squared=(d * d, "Set n² d equal to n d². One n and one d go out."),
    two_products_against_one=(
        d // 2,
        "You counted both products of attention. The formulas here have one, n² d.",
    ),
)


@exercise.part(points=0.5, answer=Count())
def layers(paths):
    """The layers of kernel-3 convolutions that link both ends of the sequence."""
    if np.ptp(paths) == 0:
        raise ValueError("nothing follows from the same number everywhere")
    return paths[2]


layers.mistakes(
    thirds=(-(-n // k), "A kernel of 3 tokens carries over 2."),
    one_for_each_token=(n - 1, "Each layer carries over two tokens."),
)
