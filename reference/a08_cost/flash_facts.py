"""What tiled attention saves, and what it doesn't.

Source: Dao et al. (2022), "FlashAttention", theorems 1 and 2.
"""

from autograder.exercise import Choice, Count, Exercise, Numbers

exercise = Exercise(
    "flash_facts",
    title="What is saved, what is not",
    source="Dao et al. (2022), theorems 1 and 2",
    hints=[
        "Ask of each statement whether it speaks of operations, of memory, or of traffic "
        "between memories.",
        "Put the numbers into both formulas before you divide them; the ratio depends on d and M.",
    ],
)

TRUE = "ACEFG"
n, d = 8192, 64
fast = 100 * 1024 // 4  # numbers that fast memory holds


def all_but(letter):
    """Mark all that apply, except for one statement."""
    return "".join(sorted(set(TRUE) ^ {letter}))


@exercise.part(
    points=2,
    answer=Choice(
        [
            "It gives the result of ordinary attention, up to rounding.",
            "It is an approximation: tiles with small weights are skipped.",
            "The two products take as many madds as before: 8,589,934,592 forward for $n = "
            "8192$, $d = 64$.",
            "Its time grows linearly with $n$.",
            "Besides inputs and output, its memory grows like $n$.",
            "Its backward pass does more arithmetic than the ordinary one.",
            "Its time is quadratic in $n$, as before.",
        ],
        multiple=True,
    ),
)
def facts():
    """The letters of the true statements about tiled attention."""
    return TRUE


@facts.misconception()
def exactness_denied():
    """You left out “It gives the result of ordinary attention, up to rounding”.

    Rescaling undoes exactly what an earlier, smaller maximum did.
    """
    return all_but("A")


@facts.misconception()
def approximation_expected():
    """You marked “It is an approximation: tiles with small weights are skipped”.

    No score is skipped: every query still meets every key, in some tile.
    """
    return all_but("B")


@facts.misconception()
def fewer_products_expected():
    """You left out “The two products take as many madds as before …”.

    Cutting a product into tiles changes the order of its madds.
    """
    return all_but("C")


@facts.misconception()
def linear_time_expected():
    """You marked “Its time grows linearly with $n$”.

    Count the tiles: what happens to their number when n doubles?
    """
    return all_but("D")


@facts.misconception()
def quadratic_memory_expected():
    """You left out “Besides inputs and output, its memory grows like $n$”.

    Which numbers outlive a tile?
    """
    return all_but("E")


@facts.misconception()
def recomputation_overlooked():
    """You left out “Its backward pass does more arithmetic than the ordinary one”.

    The weights were never stored, and the gradient needs them.
    """
    return all_but("F")


@facts.misconception()
def quadratic_time_denied():
    """You left out “Its time is quadratic in $n$, as before”.

    Linear memory says nothing about time: every pair is still compared.
    """
    return all_but("G")


@facts.misconception()
def time_taken_for_linear():
    """You marked “Its time grows linearly with $n$” in place of quadratically.

    Count the tiles: what happens to their number when n doubles?
    """
    return "ACDEF"


@facts.misconception()
def taken_for_an_approximation():
    """You marked “It is an approximation …” and not “It gives the result of …”.

    Every query meets every key; rescaling undoes what came before.
    """
    return "BCEFG"


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
