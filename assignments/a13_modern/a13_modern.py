# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention as it is built today
#
# You have taken apart the transformer of 2017 and its cheaper variants, and built one. What is in use
# today differs in a dozen places: fewer keys than queries, other norms and gates, rotations that are
# stretched, windows, sinks, latent caches, drafts that are verified. None of these is a new theory. Each is
# a short calculation on what you know already, and this notebook does them one by one.
#
# | part | you learn | time |
# |---|---|---|
# | 1 The block and the cache | shared keys, the block of today, longer contexts, sinks, windows, latent keys | 175 min |
# | 2 Other weights | bounded scores, weights that don't compete, differences of two softmaxes | 75 min |
# | 3 Looking inside | what the last layer can say, who contributed to a logit, more features than dimensions, heads that copy | 110 min |
# | 4 Training and serving | parameters against tokens, drafts, decay and state, bandwidth or arithmetic | 125 min |
#
# That is **eight hours**; the parts can be done on different days. How to work with it:
#
# - Positions count from 0, logarithms are natural unless a base is named.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2447 0.6652 0.0901"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `W` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - What is *measured on trained models* and no mathematics is said to be so.

# %%
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything works without pictures; below each one stands what it shows

# %% [markdown]
# ## 1 The block and the cache

# %% [markdown]
# ### Keys that are never built
#
# *25 minutes.* Grouped queries make the cache smaller by having fewer keys. There is another way: keep *one short vector*
# for each token, and make the keys of all heads from it. Let $c_j$ be this **latent** vector, $d_c$ numbers, which is all that is
# cached of token $j$. A head reads its key $k_j = c_j W_{UK}$ and its value $v_j = c_j W_{UV}$ off it. (U is for "up": from
# $d_c$ numbers to $d_k$.) That would be a bad bargain if every step had to build the keys of a thousand tokens anew. It
# needn't. A score is a product of three factors, and brackets can be put in two ways:
#
# $$ q \cdot (c_j W_{UK}) = (q\, W_{UK}^\top) \cdot c_j . $$
#
# On the right, the query **absorbs** the matrix once, and then meets what is cached, for all tokens. One line
# as an example: with $W_{UK}$ of the rows $(2, 1)$ and $(0, 3)$, $c = (1, -1)$ and $q = (1, 2)$ the key is $(2, -2)$ and the score
# $-2$; the absorbed query is $q' = (2 \cdot 1 + 1 \cdot 2,\ 0 \cdot 1 + 3 \cdot 2) = (4, 6)$, and $q' \cdot c = 4 - 6 = -2$ again.
# The same holds behind the weights: $\sum_j a_j (c_j W_{UV}) = \bigl(\sum_j a_j c_j\bigr) W_{UV}$. (In the fourth notebook you
# wrote multi-head attention with the products $W_Q W_K^\top$ and $W_V W_O$ of each head. It is the same idea.)
#
# Positions need an extra: a small key $k_r$ of $d_r$ numbers, rotated as in the fifth notebook. **One for all heads**
# is cached beside $c$. Each head has a rotated query $q_r$ for it. The score of a head is
#
# $$ \frac{q \cdot k_j + q_r \cdot k_{r,j}}{\sqrt{d_k + d_r}} . $$
#
# That is what attention would do with the key $(k_j, k_{r,j})$, of $d_k + d_r$ numbers. For the first three answers take
# `W_UK`, `c` and `q`, for the others the sizes:

# %%
your_numbers("mla")

# %% [markdown]
# 1. `key`, `score`, `absorbed`: your key $c\, W_{UK}$, the product $q \cdot k$ (not divided), and the absorbed query.
# 2. `cached`: how many numbers are cached per token and layer, for `h` heads with keys and values of width `d_k`? In this order: each head
#    keeps keys and values of its own; `g` key/value heads are shared, as in grouped queries; the latent form with
#    `d_c` and `d_r`. (In the first two, rotated keys take no extra room.)
# 3. `mla(q, q_r, c, k_r, W_UK, W_UV, mask=None)` gives the outputs of all heads, `(h, n, d_v)`, without building keys or values. `mask`,
#    of shape `(n, m)`, says where a query may attend; each query has some such token.
# 4. `madds`: the madds of scores and weighted sum for *one* query of every head, with `m` cached tokens and values
#    of width `d_k`: keys of width `d_k + d_r` and values that are stored; the absorbed form, of which the products of the single
#    query with $W_{UK}$ and $W_{UV}$ are left out; keys and values built from `c` for this one query, and then used.
# 5. `why_apart`: why is the rotation kept out of the latent part?
#    - **A** It would stand between $W_Q$ and $W_{UK}^\top$ and depend on $i - j$, so that no fixed product of the two exists.
#    - **B** Rotations change norms, and with them the variance of the scores.
#    - **C** $c$ is too short to be rotated in pairs.
#    - **D** The values, which are made of $c$ as well, would be rotated with it.

# %% exercise="mla"
import numpy as np

key = None        # three numbers
score = None      # one number
absorbed = None   # two numbers
cached = None     # three whole numbers: all heads, shared heads, latent
madds = None      # three whole numbers: stored, absorbed, rebuilt
why_apart = None  # one of "A", "B", "C", "D"


def mla(
    q: "(h, n, d_k)", q_r: "(h, n, d_r)", c: "(m, d_c)", k_r: "(m, d_r)",
    W_UK: "(h, d_c, d_k)", W_UV: "(h, d_c, d_v)", mask: "(n, m), True: may attend" = None,
) -> "(h, n, d_v)":
    """Return the outputs of all heads, which read keys and values off the latent vectors c.

    >>> one = np.ones((1, 1, 1))
    >>> mla(0 * one, 0 * one, np.array([[1.0], [3.0]]), np.zeros((2, 1)), one, 5 * one)
    array([[[10.]]])
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* DeepSeek-V2 has 128 heads of width 128 in each of 60 layers, a latent vector of 512 numbers and a
# rotated key of 64. At two bytes a number that is 69,120 bytes for each token, where keys and values of all heads would take 3,932,160.
# The price is arithmetic: queries meet latents of 512 numbers in place of keys of 128. When a token is decoded, reading
# is mostly what takes the time; the last part of this notebook says when.

# %% [markdown]
# ## 2 Other weights

# %% [markdown]
# ## 3 Looking inside

# %% [markdown]
# ## 4 Training and serving

# %% [markdown]
# ## What you can do now
