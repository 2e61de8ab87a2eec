# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What attention does, and what it can't
#
# You have built attention, trained its parts, counted its cost and made it cheaper. This notebook steps back.
# How much does a row of weights say, and what does softmax optimise? How does one measure what a head does,
# and what does that prove? Which of the claims that are made about transformers are theorems, which are wrong, and
# which wait for an experiment? At the end you write: four essays, each on numbers that you have computed.
#
# | part | you learn | time |
# |---|---|---|
# | 1 Information | entropy of rows, what softmax optimises, entropy against temperature, mutual information | 115 min |
# | 2 Heads | how alike and how specialised heads are, what they look at, which ones can go | 100 min |
# | 3 Claims | true, false or open; recurrence and convolution; power laws | 75 min |
# | 4 Essays | four of eight questions, each with numbers of your own | 190 min |
#
# That is **eight hours**; the parts can be done on different days. How to work with it:
#
# - Give numbers to at least four significant digits. They may be numbers, text (`"1/3"`, `"0.2447 0.6652 0.0901"`)
#   or computed by your own code. Logarithms are natural ones unless a base is named: entropies are in *nats*.
# - Run the cells from top to bottom: short names such as `H` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.

# %%
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything works without pictures; below each one stands what it shows

# %% [markdown]
# ## 1 Information
#
# ### How focused is a row?
#
# *25 minutes.* One row of attention weights may rest on a single key, another one may be spread over all of them. The
# **entropy** puts a number on it,
#
# $$ H(p) = -\sum_j p_j \log p_j , \qquad 0 \log 0 = 0 . $$
#
# A worked example: the weights $(\tfrac12, \tfrac14, \tfrac14)$ have $\tfrac12 \log 2 + \tfrac14 \log 4 + \tfrac14 \log 4 = \tfrac32 \log 2 = 1.040$
# nats, or 1.5 **bits** with logarithms to base 2. Taken back through the exponential the entropy counts keys:
# $e^{1.040} = 2.828$ is the **effective number of keys**. A row that is spread evenly over four keys has
# exactly 4, a row that rests on one key has 1.
#
# "The cat sat", with the vectors (1, 0), (0, 1) and (1, 1) as queries, keys and values, without a scale, has
# these weights:

# %%
words = np.array([[1, 0], [0, 1], [1, 1]])  # The, cat, sat
cat_weights = np.exp(words @ words.T)
cat_weights /= cat_weights.sum(axis=1, keepdims=True)
print(cat_weights.round(4))

# %% [markdown]
# 1. `H`: the entropies of its rows, in nats. `largest`: the largest entropy that a row over three keys can have, in
#    nats. `bits`: the entropy of the row of "cat" in bits.
# 2. `effective`: the effective number of keys of each row.
# 3. `causal_largest`: with a causal mask and $n = 5$, the largest entropy of each of the five rows, in nats.
# 4. `attention_entropy`: the entropies along any axis of an array of weights, in nats or to any base.
#    A weight may be 0.

# %% exercise="row_entropy"
H = None               # three numbers
largest = None         # one number
bits = None            # one number
effective = None       # three numbers
causal_largest = None  # five numbers


def attention_entropy(A: "(..., m)", axis: int = -1, base: float | None = None) -> "(...,)":
    """Return the entropies of weights along an axis; nats if `base` is None.

    >>> attention_entropy(np.array([[0.5, 0.5], [1.0, 0.0]]), base=2)
    array([1., 0.])
    """
    raise NotImplementedError


# %% [markdown]
# ## Essays

# %% [markdown]
# ## What you can do now
#
# You can measure how focused attention is, say what softmax optimises and prove it, profile heads and remove them, and
# keep what is proved apart from what was observed once. You have argued, with figures of your own, about questions that
# have no one-line answer.
#
# The next notebook is the last one: build a transformer from your own parts, train it, and look inside.
