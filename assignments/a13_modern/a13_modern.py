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
# ## 2 Other weights

# %% [markdown]
# ## 3 Looking inside

# %% [markdown]
# ### ★ More features than dimensions
#
# *35 minutes, an optional star exercise.* A stream of width $d$ has $d$ directions that don't disturb each other. A model would like to keep many more
# features than that in it: one for each name, each tense, each kind of bracket. Most of them are off most of the time, so perhaps
# they may share the room, in directions that are only nearly at right angles. How near to right angles can $n$ directions be, and when does sharing pay?
#
# Take $n$ unit vectors in $d$ dimensions as rows of $E$. Their Gram matrix $G = EE^\top$ holds all cosines, with ones on the diagonal;
# $\mu$ is the largest size $|\cos|$ of an entry off the diagonal. Two facts on eigenvalues are used. They add up to the trace, as in the first notebook; and
# their squares add up to $\|G\|^2$, the sum of the squares of all entries. Since the rank is at most $d$ (ninth notebook), all but $d$ of the eigenvalues are 0.
#
# *An example.* $(1, 0)$, $(0, 1)$ and $(0.6, 0.8)$ in the plane. Off the diagonal stand 0, 0.6 and 0.8, each twice, so $\|G\|^2 = 3 + 2\,(0.36 + 0.64) = 5$
# and $\mu = 0.8$. The eigenvalues are 2, 1 and 0: sum 3, squares 5. The two that may differ from 0 have the mean $t = 1.5$, and their squared distances from it are
# $0.25 + 0.25 = 0.5$, which is $5 - 2 \cdot 1.5^2$. Had they been equal, $\|G\|^2$ would have been smaller.
#
# 1. `spread_steps`: call the $d$ eigenvalues that may differ from 0 $l_i$, their mean $t$, and $F = \sum_i l_i^2$. Lead `sum((l_i - t)^2, i)` to
#    `F - t^2*d`. Rules: *linearity of sums* (a constant summed over all $i$ gives `d` times the constant), *definition* (of $F$ and of $t$). One line per step, please.
#    You may add the reason: `…  # definition`.
#
# What you started from is never negative, and $t = n/d$ since the trace is $n$. So $\|G\|^2 \ge n^2/d$, with equality if the $d$ eigenvalues are equal.
#
# 2. `bound`: the other way round $\|G\|^2 \le n + n(n-1)\mu^2$, as no entry off the diagonal is larger than $\mu$. Which lower bound for $\mu$ follows, if $n \ge d$? A formula in `n` and `d`.
#    (A bound need not be reached: for four vectors in the plane it is 0.5774, and no four do better than 0.7071.)
# 3. `E`: six unit vectors in *three* dimensions, as rows, for which $\mu$ is at the bound, up to 0.001. Any that do it are right.
#
# Now three features in a plane, each with a direction of its own, 120° apart. What is stored is $E^\top x$, the sum of the directions of the features that are on; what is
# read is $\operatorname{ReLU}(E E^\top x) = \operatorname{ReLU}(G x)$.
#
# 4. `G`: the Gram matrix. `read`: what is read for $x = (1, 0, 0)$, for $(1, 1, 0)$ and for $(1, 1, 1)$, a row for each.
# 5. `loss`: each feature is 1 with probability $p$ and 0 otherwise, independently of the others. The expected squared error of what is read, $\mathbb{E}\,\|\operatorname{ReLU}(Gx) - x\|^2$, a
#    formula in `p`.
# 6. `threshold`: the plane could store two of the features exactly, with the third one always read as 0. That has the error $p$. Below which $p$ is sharing better?

# %% exercise="superposition"
spread_steps = None  # a list of lines
bound = None         # a formula in n, d
E = None             # six rows of three numbers
G = None             # three rows of three numbers
read = None          # three rows of three numbers
loss = None          # a formula in p
threshold = None     # one number

# %% [markdown]
# **Where you meet this.** Equal angles between all lines are rare: there can be no more than $d(d+1)/2$ such lines. *Small* angles to the orthogonal are
# plentiful. In $d$ dimensions there are $e^{d \varepsilon^2/4}$ vectors of signs (rounded down) whose cosines all lie below $\varepsilon$ in size; that is Hoeffding's inequality, added up over all
# pairs. For $d = 1000$ and $\varepsilon = 0.2$ these are 22,026, beside 1,000 that are exactly orthogonal, and the number grows exponentially with $d$. So much is mathematics. That networks make use of it is *measured on trained
# models*: Elhage et al. (2022) trained small ones which store rare features in such figures, and went back to exact directions where features were frequent. Dictionaries with many more features
# than dimensions (sparse autoencoders) are today's attempt to read the shared room of large models.

# %% [markdown]
# ### ★ Two heads that copy
#
# *30 minutes, an optional star exercise.* In the eleventh notebook you saw two heads of a trained model that carry copying together: one tells each letter what stood in front of it, the other
# looks behind the earlier copy. Here you build such a pair, with no training at all: a model of two layers with one head each, which continues
# $\dots x\, y \dots x$ with $y$, for any $x$ and $y$, seen before or not.
#
# The stream has the width $3V + n$, in four parts one behind the other: the *token* (one-hot, $V$ places), the *position* (one-hot, $n$ places), a slot *previous* ($V$ places) and a slot
# *output* ($V$ places). Both slots are empty at first. There are no norms and no feed-forward layers. A layer is
#
# $$ A = \operatorname{softmax}\bigl(X\, qk\, X^\top\bigr) \text{ (causal)}, \qquad X \leftarrow X + A\, X\, ov , $$
#
# where $qk$ stands for $W_Q W_K^\top$ and $ov$ for $W_V W_O$, both square. Strings begin with the start symbol 0, which comes nowhere else. The next cell runs such a model.

# %%
def two_layers(W, ids, V, n):
    """Return the logits (t, V), which are the output slot, and the attention (2, t, t) of both layers."""
    t, maps = len(ids), []
    X = np.zeros((t, 3 * V + n))
    X[np.arange(t), ids] = 1
    X[np.arange(t), V + np.arange(t)] = 1
    for layer in "12":
        scores = X @ W["qk" + layer] @ X.T
        scores[~np.tri(t, dtype=bool)] = -np.inf
        A = np.exp(scores - scores.max(axis=1, keepdims=True))
        A = A / A.sum(axis=1, keepdims=True)
        X = X + A @ X @ W["ov" + layer]
        maps.append(A)
    return X[:, 2 * V + n :], np.stack(maps)


# %% [markdown]
# *An example* of how to read it. $qk_{rc}$ is what a query with a 1 in place $r$ and a key with a 1 in place $c$ add to their score; $ov_{rc}$ says that a 1 in place $r$ of what is attended to becomes a 1 in place $c$ of
# the stream. With $V = 2$ and $n = 3$ the token has the places 0 and 1, the position 2 to 4, *previous* 5 and 6, *output* 7 and 8. If 50 stands in row 4, column 2 of $qk$ and nothing else, then
# position 2 attends to position 0, by $e^{50}$ to 1. All others have equal scores and average evenly over what they see. If $ov$ has a 1 in row 0, column 8, then every attended symbol 0 votes for the symbol 1.
#
# 1. `induction_weights(V, n)` returns a dictionary with `qk1`, `ov1`, `qk2`, `ov2`, each of shape $(3V + n, 3V + n)$. On strings of 0 and a repeated word of two or more different symbols
#    - layer 1 puts at least 0.99 on the token before, at every position but the first;
#    - layer 2 puts at least 0.99 on the keys behind earlier copies of the token, wherever there are any;
#    - from the second pass of the word on, the largest logit is that of the symbol that comes next;
#    - no entry is larger than 100 in size.
#
#    For $V = 6$ and $n = 12$ the matrices are of width 30, and 29 entries other than 0 are enough. Try yours with `two_layers`.
# 2. `score`: the others have the score 0. Which score gives one of $n$ keys the weight $p$? A formula in `n` and `p`. (So you know how large entries have to be.)
# 3. Leave the start symbol away: the string is $(1, 2, 3, 1)$, with your weights for $V = 6$, $n = 12$. `row`: the attention of layer 2 at the last token. `logits`: those of the symbols 0 to 3 there.
#    Think first, run it then: what does position 0 tell about itself?
# 4. `why_two`: what makes two layers necessary?
#    - **A** The key of the second head must know the token *before* it, and only an earlier layer can have written that.
#    - **B** One head can't look at one key alone.
#    - **C** What one layer gives are convex combinations of values.
#    - **D** Positions are lost after one layer.

# %% exercise="induction_by_hand"
import numpy as np


def induction_weights(V: int, n: int) -> dict:
    """Return qk1, ov1, qk2, ov2 of two heads that continue … x y … x with y.

    >>> sorted(induction_weights(6, 12)), induction_weights(6, 12)["qk1"].shape
    (['ov1', 'ov2', 'qk1', 'qk2'], (30, 30))
    """
    raise NotImplementedError


score = None    # a formula in n, p
row = None      # four numbers
logits = None   # four numbers
why_two = None  # one of "A", "B", "C", "D"

# %% [markdown]
# **Where you meet this.** No pair of tokens is stored anywhere in these matrices. What they hold is a procedure, "look for what I have here, and say what came after it", and it works for words that nobody
# has seen before. That is the smallest example of what is called *in-context learning*. That trained models contain such pairs of heads is *measured on trained models*: the tiny one of the eleventh notebook does, with the
# head for the previous token in its first layer and the copying one in its second. Olsson et al. (2022) found them in transformers of two and more layers, none in those of one layer, and saw them form just when
# the models got better at using their context.

# %% [markdown]
# ## 4 Training and serving

# %% [markdown]
# ## What you can do now
