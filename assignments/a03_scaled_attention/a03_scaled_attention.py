# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Scaled attention, and what it may look at
#
# With pencil and paper one query was enough. A model asks all its questions at once: $n$ queries
# are the rows of $Q$, $m$ keys and values the rows of $K$ and $V$, and
#
# $$ \operatorname{attention}(Q, K, V)
#    = \underbrace{\operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right)}_{A:\ n \times m} V . $$
#
# Row $i$ of the *weights* $A$ belongs to query $i$ and adds up to 1, so the softmax runs along the
# **last** axis, over the keys. Here you write this function once, for good: for batches, for
# heads, with masks.

# %% [markdown]
# ## Scaled dot-product attention for any batch shape
#
# Examples of a batch and heads of a layer are extra axes in front: $Q$ has shape
# $(\dots, n, d_k)$, $K$ has $(\dots, m, d_k)$ and $V$ has $(\dots, m, d_v)$. Only the last two
# axes take part in the products; the others are carried along. NumPy's `@` already works so.
# `K.T` does not: it reverses *all* axes.
#
# **Why the root?** If the entries of $q$ and $k$ are independent with mean 0 and variance 1, then
# $q \cdot k$ has mean 0 and variance $d_k$. One often reads that dot products "grow" with
# the width; on average they do not, their *spread* does, and the factor $1/\sqrt{d_k}$ keeps it
# near 1. That is all it promises: it makes the start of training easy, it is not the best
# temperature for every purpose.
#
# **A common mistake.** Code that takes one maximum and one sum over the whole array looks right on
# a single row and even prints the right shape. On a batch the rows no longer add up to 1, and
# examples influence each other. Test sums, not shapes.
#
# **Masks.** In this course a mask is Boolean and `True` means *this query may attend to this key*
# (libraries disagree, so always ask). A score that is not allowed becomes $-\infty$ **before** the
# softmax. A query that may attend to nothing has no weights to hand out: its row of weights and
# its output are 0.
#
# First three warm-ups for $Q$ and $K$ of shape $(2, 3, 4)$ and $V$ of shape $(2, 3, 8)$: the shape
# of the scores and that of the output, as tuples, and the factor that scales the scores. Then the
# function. It returns the output and the weights. It should
#
# - take any number of axes in front, and $n \ne m$, $d_v \ne d_k$;
# - use `scale` instead of $1/\sqrt{d_k}$ where it is given;
# - take a mask that broadcasts to the shape of the scores;
# - stay finite when scores are huge;
# - return float32 for float32.

# %% exercise="sdpa"
import numpy as np

scores_shape = None  # a tuple
out_shape = None     # a tuple
scale = None         # a number


def attention(
    Q: "(..., n, d_k) array",
    K: "(..., m, d_k) array",
    V: "(..., m, d_v) array",
    mask: "bool array that broadcasts to (..., n, m)" = None,
    scale: "number" = None,
) -> "(..., n, d_v) array, (..., n, m) array":
    """Return the output and the weights of scaled dot-product attention.

    >>> attention(np.zeros((1, 2)), np.zeros((2, 2)), np.array([[0.0], [4.0]]))
    (array([[2.]]), array([[0.5, 0.5]]))
    """
    raise NotImplementedError


# %% [markdown]
# ## No peeking
#
# A model that writes text predicts token $t+1$ from the tokens up to $t$. In training all
# positions are predicted in one pass, so nothing may flow backwards from later tokens. The
# *causal mask* arranges that:
#
# $$ M_{ij} = \begin{cases} \text{True} & j \le i \cr \text{False} & j > i \end{cases}
#    \qquad i \text{ the query's position (row)},\ j \text{ the key's (column)} . $$
#
# Two details are often told wrongly. A token may look at **itself**, so "it attends to the past
# only" is one key short, and only the part *strictly* above the diagonal is blocked; with the
# diagonal blocked too, the first token has nothing left to attend to. And building the mask as
# a triangle of ones times $-\infty$ ends in NaN, because $0 \cdot \infty$ is not a number: choose
# between two values instead (`np.where`).
#
# Your own scores $S$, four queries by four keys, scaled already:

# %%
your_numbers("causal_mask")

# %% [markdown]
# 1. Write `causal_mask(n)` for any $n \ge 0$.
# 2. `A`: the weights for your $S$ under the causal mask, by hand or with NumPy, four decimals.
# 3. Someone applies the softmax first and then multiplies the weights with the mask
#    (`after_softmax`). What goes wrong?
#    - **A** The weights of the allowed keys get wrong ratios among each other.
#    - **B** The rows no longer add up to 1: blocked keys have taken part in the sum.
#    - **C** Blocked keys keep a little of the weight.
#    - **D** Nothing: both orders give the same.
# 4. When can such weights be repaired, without going back to the scores (`repair`)?
#    - **A** Never: what the blocked keys have taken is lost.
#    - **B** Always, by applying the softmax once more.
#    - **C** By dividing each row by its sum, wherever that sum is not 0.
#    - **D** Only if all scores of the row are equal.

# %% exercise="causal_mask"
import numpy as np


def causal_mask(n: int) -> "(n, n) bool array":
    """Return the causal mask for n tokens: True where the query may attend.

    >>> causal_mask(1)
    array([[ True]])
    """
    raise NotImplementedError


A = None              # your four rows of weights, e.g. [[…, …, …, …], …]
after_softmax = None  # one of "A", "B", "C", "D"
repair = None         # one of "A", "B", "C", "D"

# %% [markdown]
# Now in words (a person reads this): why does language modelling need the causal mask? Say what
# training does at all positions, what would happen without the mask, and what the mask has to do
# with the way text is generated afterwards.

# %% [markdown] exercise="causal_mask" part="why_needed"
# *Your answer, three to six sentences.*
