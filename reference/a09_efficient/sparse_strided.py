"""Every s-th position.

Source: Child et al. (2019), "Generating long sequences with sparse transformers", section 4.
"""

import numpy as np

from autograder.exercise import ComplexityClass, Count, Exercise

exercise = Exercise(
    "sparse_strided",
    title="Every s-th position",
    source="Child et al. (2019), section 4",
    minutes=20,
    hints=[
        "Sort the tokens by their remainder modulo s. Who sees whom among those with the same "
        "one, and who sees a token with another?",
        "List how many tokens each remainder has, also for the length that s doesn't divide, "
        "and count the pairs of each list by itself.",
        "For the classes multiply what one query sees by the number of queries. What happens to "
        "the first factor as the text grows?",
    ],
)
local_mask = exercise.carries("a09_efficient/sparse_local", "local_mask")


@exercise.variant
def draw(rng):
    """s: the stride; n: a number of tokens that s divides; odd: one that it doesn't."""
    s = int(rng.integers(3, 6))
    n = s * int(rng.integers(3, 6))
    return {"s": s, "n": n, "odd": n - int(rng.integers(1, s))}


def strided(n, s):
    """True where query and key are a multiple of s apart."""
    i, j = np.indices((n, n))
    return (i - j) % s == 0


def pairs(n, s):
    """Count the allowed pairs."""
    return int(strided(n, s).sum())


def causal(n, s):
    """Count the allowed pairs of which the key is not later."""
    return int(np.tril(strided(n, s)).sum())


@exercise.part(points=2, answer=Count())
def edges(n, s, odd):
    """The allowed pairs for n; for n with a causal mask; for the other length, without."""
    return [pairs(n, s), causal(n, s), pairs(odd, s)]


@edges.misconception()
def linear_in_n(n, s, odd):
    """You gave each query s keys. A query sees every s-th position: how many are there?"""
    return [n * s, n * (s + 1) // 2, odd * s]


@edges.misconception()
def causal_halved(n, s, odd):
    """Half of all pairs would halve the diagonal, too."""
    return [pairs(n, s), pairs(n, s) // 2, pairs(odd, s)]


@edges.misconception()
def causal_without_itself(n, s, odd):
    """Causal means up to and including the token itself."""
    return [pairs(n, s), causal(n, s) - n, pairs(odd, s)]


@edges.misconception()
def evenly_for_the_odd_length(n, s, odd):
    """In the last case the classes of remainders differ in size: n²/s holds for equal ones."""
    return [pairs(n, s), causal(n, s), odd**2 // s]


@edges.misconception()
def rounded_down(n, s, odd):
    """In the last case some queries see one key more than others: count by residues."""
    return [pairs(n, s), causal(n, s), odd * (odd // s)]


@edges.misconception()
def rounded_up(n, s, odd):
    """In the last case some queries see one key less than others: count by residues."""
    return [pairs(n, s), causal(n, s), odd * -(-odd // s)]


@edges.misconception()
def own_token_left_out(n, s, odd):
    """A token is 0 away from itself, and 0 is a multiple of s."""
    return [pairs(n, s) - n, causal(n, s) - n, pairs(odd, s) - odd]


@exercise.part(points=1, answer=ComplexityClass("n s"))
def edges_class():
    """The class of the number of pairs, in n and s."""
    return "n^2/s"


edges_class.mistakes(
    taken_for_linear=(
        "n",
        "Often said. But with s fixed, a query sees the more keys the longer the text is.",
    ),
    s_keys_for_a_query=("n*s", "A query sees n/s keys, and not s of them."),
    stride_forgotten=("n^2", "The larger the stride, the fewer pairs."),
    keys_of_one_query=("n/s", "That is what one query sees."),
)


@exercise.part(points=1, answer=ComplexityClass("n"))
def at_the_root():
    """The class for s = √n."""
    return "n^(3/2)"


at_the_root.mistakes(
    linear_at_the_root=("n", "With s = √n a query sees √n keys, and there are n queries."),
    keys_of_one_query_at_the_root=("sqrt(n)", "That is what one query sees."),
    root_ignored=("n^2", "The stride grows with n here, and takes something off."),
    logarithm_for_root=("n*log(n)", "A root grows faster than a logarithm."),
)


def classes(mask):
    """Count the sets of tokens between which nothing is ever exchanged."""
    reached = np.linalg.matrix_power(
        (mask | np.eye(len(mask), dtype=bool)).astype(float), len(mask)
    )
    return len({tuple(row > 0) for row in reached})


@exercise.part(points=0.75, answer=Count())
def components(n, s):
    """Groups that never hear from each other, for your n and s."""
    return classes(strided(n, s))


@components.misconception()
def one_group():
    """A stride reaches far, but only positions with the same remainder."""
    return 1


@components.misconception()
def tokens_of_a_group(n, s):
    """You counted how many tokens are in a group. How many groups are there?"""
    return n // s


@exercise.part(points=0.25, answer=Count())
def joined(n, s):
    """The groups with a window of 1 added."""
    return classes(strided(n, s) | local_mask(n, 1))


@joined.misconception()
def window_changes_nothing(s):
    """Neighbours have different remainders: the window joins their groups."""
    return s


@joined.misconception()
def groups_joined_in_pairs(s):
    """A window joins each token to both of its neighbours, and the second to the third as well."""
    return (s + 1) // 2


@joined.misconception()
def no_group_left():
    """Where everybody hears from everybody, there is still a group: that of all tokens."""
    return 0
