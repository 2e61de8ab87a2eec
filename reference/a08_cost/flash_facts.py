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


@moved_standard.misconception()
def weights_moved_alone():
    """You counted the matrix. Inputs and output are moved as well."""
    return n * n


@moved_standard.misconception()
def inputs_moved_alone():
    """You counted the inputs. The n × n matrix does not fit into fast memory either."""
    return n * d


@moved_standard.misconception()
def bytes_moved():
    """You counted bytes. Numbers are asked for."""
    return 4 * (n * d + n * n)


@moved_standard.misconception()
def madds_of_standard():
    """These are madds. Asked for are numbers that travel between the memories."""
    return 2 * n * n * d


@exercise.part(points=1, answer=Numbers())
def moved_tiled():
    """Numbers moved by tiled attention, n² d² / M."""
    return n**2 * d**2 / fast


@moved_tiled.misconception()
def bytes_of_fast_memory():
    """You put in bytes for M. How many numbers of four bytes are that?"""
    return n**2 * d**2 / (4 * fast)


@moved_tiled.misconception()
def kib_of_fast_memory():
    """You put in KiB for M. It is the number of floats that fit."""
    return n**2 * d**2 / 100


@moved_tiled.misconception()
def width_once():
    """The width is squared too: wide rows make small tiles."""
    return n**2 * d / fast


@moved_tiled.misconception()
def decimal_kilobytes():
    """A KiB has 1024 bytes, not 1000."""
    return n**2 * d**2 / 25000


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


@widest.misconception()
def memory_itself():
    """The width is squared in the estimate: set n² d² / M equal to n²."""
    return fast


@widest.misconception()
def root_of_bytes():
    """You put in bytes for M. How many numbers of four bytes are that?"""
    return 320


@widest.misconception()
def root_of_kib():
    """You put in KiB for M. It is the number of floats that fit."""
    return 10


@widest.misconception()
def width_of_the_exercise():
    """64 is the width of the numbers above. At which one is nothing gained any more?"""
    return d


@exercise.part(points=1, answer=Count())
def saved():
    """Numbers saved per head for the backward pass besides Q, K, V and O, n = 8192."""
    return n


@saved.misconception()
def weights_saved():
    """You saved the weights. They can be computed again from scores and one number a row."""
    return n * n


@saved.misconception()
def two_statistics():
    """Maximum and sum of a row can be put together into one number. Which one?"""
    return 2 * n


@saved.misconception()
def one_number_in_all():
    """Each row has a normaliser of its own."""
    return 1


@saved.misconception()
def another_output():
    """That is the size of the output, which is kept anyway."""
    return n * d


@exercise.part(points=1, answer=Count())
def products():
    """Products of n² d madds: forward, backward with weights that were kept, backward by tiles."""
    return [2, 4, 5]


@products.misconception()
def nothing_again():
    """By tiles you need as many as with weights that were kept. Where do the weights come from?"""
    return [2, 4, 4]


@products.misconception()
def forward_again():
    """You run both forward products again. The output was kept: which of them is needed?"""
    return [2, 4, 6]


@products.misconception()
def one_each():
    """Backwards you count one product for each forward one. Both its factors have a gradient."""
    return [2, 2, 3]


@products.misconception()
def three_gradients():
    """You count one product for each gradient. The way to the scores leads through the weights'."""
    return [2, 3, 4]


@products.misconception()
def scores_alone():
    """You left out the product with the values: a head takes one for scores, one for the output."""
    return [1, 2, 3]
