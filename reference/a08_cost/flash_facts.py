"""What tiled attention saves, and what it doesn't.

Source: Dao et al. (2022), "FlashAttention", theorems 1 and 2.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "flash_facts",
    title="What is saved, what is not",
    source="Dao et al. (2022), theorems 1 and 2",
    minutes=20,
    hints=[
        "Put the numbers into both formulas before you divide them; the ratio depends on d and M.",
        "Each product of two matrices has two products in its backward pass, one for either "
        "factor. What is missing where the weights were not kept?",
    ],
)

n, d = 8192, 64
fast = 100 * 1024 // 4  # numbers that fast memory holds


@exercise.part(points=0.5, answer=Numbers())
def moved_standard():
    """Numbers moved by ordinary attention, n d + n²."""
    return n * d + n * n


moved_standard.mistakes(
    weights_moved_alone=(n * n, "You counted the matrix. Inputs and output are moved as well."),
    inputs_moved_alone=(
        n * d,
        "You counted the inputs. The n × n matrix does not fit into fast memory either.",
    ),
    bytes_moved=(4 * (n * d + n * n), "You counted bytes. Numbers are asked for."),
    madds_of_standard=(
        2 * n * n * d,
        "These are madds. Asked for are numbers that travel between the memories.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def moved_tiled():
    """Numbers moved by tiled attention, n² d² / M."""
    return n**2 * d**2 / fast


moved_tiled.mistakes(
    bytes_of_fast_memory=(
        n**2 * d**2 / (4 * fast),
        "You put in bytes for M. How many numbers of four bytes are that?",
    ),
    kib_of_fast_memory=(
        n**2 * d**2 / 100,
        "You put in KiB for M. It is the number of floats that fit.",
    ),
    width_once=(n**2 * d / fast, "The width is squared too: wide rows make small tiles."),
    decimal_kilobytes=(n**2 * d**2 / 25000, "A KiB has 1024 bytes, not 1000."),
)


@exercise.part(points=0.5, answer=Numbers())
def moved_ratio(moved_standard, moved_tiled):
    """By what factor the traffic shrinks."""
    return moved_standard / moved_tiled


@moved_ratio.misconception()
def ratio_reversed(moved_standard, moved_tiled):
    """You divided the other way round: a saving is a factor above 1 here."""
    return moved_tiled / moved_standard


@moved_ratio.misconception()
def ratio_of_matrices():
    """You left n d out of the numerator."""
    return fast / d**2


@moved_ratio.misconception()
def difference(moved_standard, moved_tiled):
    """That is a difference. A factor is a quotient."""
    return moved_standard - moved_tiled


@exercise.part(points=1, answer=Count())
def widest(moved_tiled):
    """The largest width at which tiles move no more numbers than n², for very long texts."""
    return round(np.sqrt(n**2 * d**2 / moved_tiled))  # the root of M, as it was counted there


widest.mistakes(
    memory_itself=(fast, "The width is squared in the estimate: set n² d² / M equal to n²."),
    root_of_bytes=(320, "You put in bytes for M. How many numbers of four bytes are that?"),
    root_of_kib=(10, "You put in KiB for M. It is the number of floats that fit."),
    width_of_the_exercise=(
        d,
        "64 is the width of the numbers above. At which one is nothing gained any more?",
    ),
)


@exercise.part(points=1, answer=Count())
def saved():
    """Numbers saved per head for the backward pass besides Q, K, V and O, n = 8192."""
    return n


saved.mistakes(
    weights_saved=(
        n * n,
        "You saved the weights. They can be computed again from scores and one number a row.",
    ),
    two_statistics=(
        2 * n,
        "Maximum and sum of a row can be put together into one number. Which one?",
    ),
    one_number_in_all=(1, "Each row has a normaliser of its own."),
    another_output=(n * d, "That is the size of the output, which is kept anyway."),
)


@exercise.part(points=1, answer=Count())
def products():
    """Products of n² d madds: forward, backward with weights that were kept, backward by tiles."""
    return [2, 4, 5]


products.mistakes(
    nothing_again=(
        [2, 4, 4],
        "By tiles you need as many as with weights that were kept. Where do the weights come from?",
    ),
    forward_again=(
        [2, 4, 6],
        "You run both forward products again. The output was kept: which of them is needed?",
    ),
    one_each=(
        [2, 2, 3],
        "Backwards you count one product for each forward one. Both its factors have a gradient.",
    ),
    three_gradients=(
        [2, 3, 4],
        "You count one product for each gradient. The way to the scores leads through the "
        "weights'.",
    ),
    scores_alone=(
        [1, 2, 3],
        "You left out the product with the values: a head takes one for scores, one for the "
        "output.",
    ),
)
