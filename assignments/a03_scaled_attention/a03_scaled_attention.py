# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Scaling, batches, masks
#
# With pencil and paper one query was enough. A model asks all its questions at once: $n$ queries
# are the rows of $Q$, $m$ keys and values the rows of $K$ and $V$, and
#
# $$ \operatorname{attention}(Q, K, V)
#    = \underbrace{\operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right)}_{A:\ n \times m} V . $$
#
# Row $i$ of the *weights* $A$ belongs to query $i$ and adds up to 1, so the softmax runs along the
# **last** axis, over the keys. Here you find out what the root is for, write this function once and for
# all, for batches, heads and masks, and send a gradient back through it.
#
# | part | you learn |
# |---|---|
# | 1 Why the root | how scores spread, and what an unscaled softmax does |
# | 2 Once and for all | attention for any batch shape; the bug that hides behind right shapes |
# | 3 Masks | who may look at whom: causal, padded, in four dialects, and nobody at all |
# | 4 Backwards | the gradient of attention, proved and as code |
# | 5 In PyTorch | attention as a module, with dropout |
#
# The parts can be done on different days. How to work with it:
#
# - Logarithms are natural, indices start at 0, as in Python, and a softmax acts on the last axis.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `A` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.

# %%
import numpy as np

# %% tags=["demonstration"]
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything works without pictures; below each one stands what it shows

# %% [markdown]
# ## First a picture
#
# Weights again, of one part of the small model that reads `^BADGEBADGE`: each row is a letter that looks, each column
# one that is looked at, in percent. On the left as it was trained, on the right with one thing taken away. Which?

# %% tags=["demonstration"]
in_echo = {
    "masked": [
        [100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [98, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [72, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [69, 31, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [23, 4, 73, 0, 0, 0, 0, 0, 0, 0, 0],
        [7, 4, 0, 89, 0, 0, 0, 0, 0, 0, 0],
        [0, 2, 0, 0, 97, 0, 0, 0, 0, 0, 0],
        [0, 12, 0, 0, 0, 88, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0],
    ],
    "unmasked": [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0],
        [47, 3, 0, 0, 0, 0, 0, 0, 0, 49, 0],
        [89, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [95, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0],
        [99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [96, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0],
        [19, 44, 28, 9, 0, 0, 0, 0, 0, 0, 0],
        [3, 85, 7, 5, 0, 0, 0, 0, 0, 0, 0],
        [14, 0, 0, 0, 0, 0, 0, 0, 0, 85, 0],
        [1, 0, 2, 0, 90, 4, 3, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 26, 74, 0, 0, 0, 0],
    ],
    "losses": [0.615, 6.363, 0.626, 0.651],
    "spread": [26.1, 63.3],
}


def draw_echo():
    _, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for axis, name, title in zip(axes, ["masked", "unmasked"], ["as trained", "one thing taken away"], strict=True):
        axis.imshow(in_echo[name], cmap="Blues", vmin=0, vmax=100)
        for i, row in enumerate(in_echo[name]):
            for j, percent in enumerate(row):
                if percent:
                    axis.text(j, i, percent, ha="center", va="center", fontsize=7, color="white" if percent > 60 else "black")
        letters = list("^BADGEBADGE")
        axis.set(title=title, xticks=range(11), xticklabels=letters, yticks=range(11), yticklabels=letters, xlabel="key", ylabel="query")
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* two tables of eleven rows. On the left all is 0 above the diagonal; the first rows rest on `^`, and
# from the second B on each row has one large number, of 73 to 100 percent. On the right numbers stand on both sides of
# the diagonal, and the first row rests on the second G with 100 percent.
#
# *A guess:* What could a letter see on the right that it could not see on the left? And what do the large numbers on the left have in common, from the seventh row
# on? Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Why the root
#
# ### Variance of a dot product
#
# Before training, queries and keys are random. Let all entries of $q$ and $k$ be
# independent; those of $q$ have the mean $a$ and the standard deviation $s$, those of $k$ the mean $b$
# and the standard deviation $t$. How much does the score $q \cdot k = \sum_i q_i k_i$, a sum over $n$
# entries, vary?
#
# A derivation is a list of lines of text, each equal to the one before, by one rule a line; after a `#` you
# may name it. There are `E(…)` and `Var(…)`, `sum(…, i)` runs over all $n$ entries, and a product
# needs a `*`. For another quantity it might be
#
# ```python
# ["E(sum(q_i, i))", "sum(E(q_i), i)  # linearity of sums", "sum(a, i)  # mean of q", "n*a"]
# ```
#
# You may use: *variance of a sum* (of independent terms); *definition of Var*,
# $\operatorname{Var} X = E X^2 - (E X)^2$; *independence*, $E(XY) = E(X)\, E(Y)$; *linearity of sums*; and
# the moments *mean of q*, *mean of k*, *squares of q* ($E q_i^2 = s^2 + a^2$), *squares of k*
# ($E k_i^2 = t^2 + b^2$). That a sum of $n$ equal terms is $n$ times one of them is algebra, or *linearity of sums*.
#
# 1. `steps`: from `Var(sum(q_i*k_i, i))` to a form without E and Var: $n$ times a difference, the product of
#    both second moments less that of both squared means.
# 2. `var`: the same for width $d$ as a formula in `d`, `mu_q`, `mu_k`, `sigma_q`, `sigma_k`. What do the
#    means contribute?

# %%
your_numbers("score_variance")

# %% [markdown]
# 3. `cases`: all standard deviations are 1. For your $d$, the variance of $q \cdot k$ in three cases, as
#    three whole numbers: all means 0; your means; and $q = k$, one and the same vector, with standard
#    normal entries (independence is gone; you need $E x^4 = 3$).
# 4. Back to means 0 and deviations 1: `divisor`, by which a score must be divided so that its variance
#    is 1, and `over_width`, the variance if one divides by $d$ instead. Both are formulas in `d`.

# %% exercise="score_variance"
steps = None       # a list of lines
var = None         # a formula in d, mu_q, mu_k, sigma_q, sigma_k
cases = None       # three whole numbers
divisor = None     # a formula in d
over_width = None  # a formula in d

# %% [markdown]
# ### Scores in 64 dimensions
#
# Now with numbers. Draw a query and then a key, 64 entries each:
#
# ```python
# rng = np.random.default_rng(seed)
# q = rng.standard_normal(64)
# k = rng.standard_normal(64)
# ```

# %%
your_numbers("score_growth")

# %% [markdown]
# 1. `dot`, `scaled`: their score, and the same as attention scales it.
# 2. `sd`: the standard deviation of a raw score for $d = 1, 4, 16, 64, 256, 1024$ (from theory).
# 3. `slope(seed)`: measure it. For $d = 4, 8, 16, 32, 64$ draw 20,000 pairs with the seed, take the
#    standard deviation of their scores, and return the slope of a straight line through
#    $\log \mathrm{sd}$ against $\log d$ (`np.polyfit`).

# %% exercise="score_growth"
import numpy as np

dot = None     # one number
scaled = None  # one number
sd = None      # six numbers


def slope(seed: int) -> float:
    """Return the measured slope of log sd against log d, for the widths 4, 8, 16, 32, 64.

    >>> slope(1) == slope(1), slope(1) == slope(2)
    (True, False)
    """
    raise NotImplementedError


# %% [markdown]
# In words (a person reads this): one often reads that dot products "grow" with the width, so they are
# divided by $\sqrt{d_k}$. What exactly grows, and why does dividing help at the start of training?

# %% [markdown] exercise="score_growth" part="why_it_helps"
# *Your answer, three to five sentences.*

# %% [markdown]
# ### Histograms of scores
#
# See it with your own numbers. Draw 2000 pairs of a query and a key for each of four widths, all entries standard normal, with your seed:
#
# ```python
# rng = np.random.default_rng(seed)
# scores = {}
# for d in (4, 16, 64, 256):
#     q, k = rng.normal(size=(2000, d)), rng.normal(size=(2000, d))
#     scores[d] = (q * k).sum(axis=1)
#
# edges, narrow = np.linspace(-32, 32, 33), np.linspace(-4, 4, 33)
# ```

# %%
your_numbers("score_histograms")

# %% [markdown]
# The data are graded. Plot them if you can, the four widths in one picture, one picture without the scale and one with it: `plt.stairs(heights, edges)`.
#
# 1. `unscaled`: for each width, `{4: …, 16: …, 64: …, 256: …}`, the heights of 32 bars: the share of the 2000 scores that lies between two neighbouring `edges`.
# 2. `scaled`: the same for the scores divided by $\sqrt{d_k}$, and the edges in `narrow`. What do four such curves have in common?
# 3. `outside`: a histogram shows only what lies between its outermost edges, and some ways of drawing one hide that. Which share of your unscaled scores
#    of width 256 is in no bar?
# 4. `predicted`: without drawing anything, which share of unscaled scores of width 1024 do you expect between −2 and 2, if they are normally distributed?
#    (`math.erf(x / math.sqrt(2))` is the share of a standard normal number between $-x$ and $x$.)

# %% exercise="score_histograms"
unscaled = None   # {4: …, 16: …, 64: …, 256: …}, 32 heights each
scaled = None     # the same
outside = None    # one number
predicted = None  # one number

# %% [markdown]
# *Where you meet this.* Histograms of scores, of activations and of gradients are what one logs while a model is trained: a scale that drifts is seen there
# long before the loss shows it.

# %% [markdown]
# ### How fast does an unscaled softmax saturate?
#
# A query meets 32 keys, all with standard normal entries. For each width
# $d = 4, 16, 64, 256, 1024$ repeat 2,000 times: draw them, take the softmax of the scores, once as they
# are and once divided by $\sqrt d$, and look at two numbers: the largest weight, and the trace
# $\sum_i p_i (1 - p_i)$ of the softmax Jacobian, which says how much gradient gets through.
#
# (A shortcut: for a *given* query of length $\ell$, the 32 scores are independent normal numbers with
# mean 0 and standard deviation $\ell$. So it is enough to draw $q$ and 32 numbers.)
#
# 1. `max_w`: the mean largest weight, a row for unscaled and a row for scaled scores, a column for each
#    width. Two decimals suffice.
# 2. `trace`: the mean trace, in the same order.
# 3. `threshold`: "Beyond $d_k = 64$ gradients vanish." What do your numbers say?
# 4. `best_scale`: what is known about the temperature $\sqrt{d_k}$?

# %%
your_numbers("score_saturation")

# %% exercise="score_saturation"
max_w = None       # two rows of five numbers
trace = None       # two rows of five numbers
threshold = None   # one of "A", "B", "C", "D"
best_scale = None  # one of "A", "B", "C", "D"

# %% [markdown]
# *Where you meet this.* The factor is 1/8 in GPT-2 small and BERT-base, whose heads are 64 wide, and
# $1/\sqrt{128} \approx 0.088$ in Llama 2 7B and Mistral 7B.
#
# ### One key is not a sample of keys
#
# The growing variance is often demonstrated with an experiment like this one, whose numbers
# miss the widths by up to 36 %. Run it as it stands:
#
# ```python
# np.random.seed(42)
# for d in (8, 32, 128, 512):
#     Q = np.random.randn(1000, d)
#     k = np.random.randn(1, d)
#     scores = Q @ k.T
# ```
#
# 1. `var`: the variance (`.var()`) of the 1000 scores for the four widths; `ksq`: the squared length of
#    the four keys.
# 2. `estimated`: what does the experiment estimate?
# 3. `fair_variance(d, n, seed)`: do it right. Draw $n$ independent pairs and return the variance of
#    their scores.

# %%
your_numbers("variance_trap")

# %% exercise="variance_trap"
import numpy as np

var = None        # four numbers
ksq = None        # four numbers
estimated = None  # one of "A", "B", "C", "D"


def fair_variance(d: int, n: int, seed: int) -> float:
    """Return the variance of the scores of n independent pairs of width d.

    >>> fair_variance(3, 10, 0) == fair_variance(3, 10, 1)
    False
    """
    raise NotImplementedError


# %% [markdown]
# ## 2 Once and for all
#
# ### Four steps up
#
# All attention is an average. Four ways to average the past show how it gets its usual form. Read them;
# the tasks come afterwards.
#
# | step | how | what is new |
# |---|---|---|
# | 1 | `for i in range(n): out[i] = V[:i + 1].mean(axis=0)` | each token averages the past, itself included |
# | 2 | `W @ V`, where row $i$ of `W` holds $1/(i+1)$ up to the diagonal, then 0 | the average is a matrix product |
# | 3 | `W = softmax(S)`, where `S` is 0 up to the diagonal, then $-\infty$ | the weights come out of a softmax with a mask |
# | 4 | $Q K^\top / \sqrt{d_k}$ in place of the zeros of `S` | the weights depend on what the tokens say |
#
# Steps 1 to 3 compute the same numbers. Only in the last one does anybody decide how much a token counts. By what does one see it in the weights?

# %% tags=["demonstration"]
if plt:
    figure, axes = plt.subplots(1, 2, figsize=(6, 2.8), layout="constrained")
    drawn = np.random.default_rng(3).normal(size=(6, 6)) * 1.5
    for axis, given in zip(axes, (0 * drawn, drawn), strict=True):
        grown = np.tril(np.exp(given))
        axis.imshow(grown / grown.sum(axis=1, keepdims=True), cmap="Greys", vmin=0, vmax=1)
        axis.set(xlabel="key", ylabel="query")
    axes[0].set_title("steps 1 to 3")
    axes[1].set_title("step 4")
    plt.show()

# %% [markdown]
# *The picture:* two 6 × 6 grids of weights, dark for large ones, empty above the diagonal. On the left
# each row is even: 1, then 1/2 and 1/2, at last six times 1/6. On the right the rows are uneven; each
# query has favourites.
#
# ### Shapes only
#
# Examples of a batch and heads of a layer are extra axes in front. Only the last two axes
# take part in the products; the others are carried along.

# %%
your_numbers("sdpa_shapes")

# %% [markdown]
# Give shapes as tuples of your numbers, `(2, 3)` for example.
#
# 1. `single`: the output for $Q$ of shape $(n, d_k)$, $K$ of $(m, d_k)$, $V$ of $(m, d_v)$.
# 2. `batch`: the output with an axis of $B$ examples in front of all three.
# 3. `weights`, `out`: weights and output with $B$ examples and $h$ heads in front.

# %% exercise="sdpa_shapes"
single = None   # a tuple
batch = None    # a tuple
weights = None  # a tuple
out = None      # a tuple

# %% [markdown]
# ### Scaled dot-product attention for any batch shape
#
# NumPy's `@` treats axes in front just so. `K.T` does not: it reverses *all* axes.
#
# **A common mistake.** Code that takes one maximum and one sum over the whole array looks right on
# a single row and even prints the right shape. Test sums, not shapes; soon you will see what becomes of a
# batch otherwise.
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
# ### Projections first
#
# In a model, queries, keys and values are made from the same tokens by three matrices:
# $Q = X W_Q$, $K = X W_K$, $V = X W_V$. Do it by hand, or with your own function, for three tokens:

# %%
your_numbers("self_attn_proj")

# %% [markdown]
# `Q`, `K`, `V`; then the weights `A`, scaled by $1/\sqrt{d_k}$ (which of the widths here is $d_k$?); then
# the output `O`.
#
# Then a proof, for matrices of any size. Multiply $W_Q$ by a square matrix $R$ and $W_K$ by $S^\top$, where
# $S$ is the inverse of $R$: both projections are others now, and what do the scores notice? `same_scores`:
# lead
#
# ```python
# "X*W_Q*R*(X*W_K*S^T)^T"
# ```
#
# to `X*W_Q*W_K^T*X^T`, one equality a line, with its reason after a `#`: *transpose of a product*,
# *S is the inverse of R* (`R*S` is `I`, the identity) or *algebra*. Products of matrices keep their order. For
# another product:
#
# ```python
# ["(A*B)^T*A", "B^T*A^T*A  # transpose of a product"]
# ```
#
# So a query or a key means nothing by itself: the scores show the product $W_Q W_K^\top$ alone.

# %% exercise="self_attn_proj"
Q = None  # three rows of two numbers
K = None  # three rows of two numbers
V = None  # three rows of four numbers
A = None  # three rows of three numbers
O = None  # three rows of four numbers
same_scores = None  # a list of lines, each with its reason

# %% [markdown]
# ### Find the normalisation bug
#
# Here is the mistake from above, on a batch of two examples:
#
# ```python
# rng = np.random.default_rng(seed)
# Q = rng.standard_normal((2, 3, 4))
# K = rng.standard_normal((2, 3, 4))
# S = Q @ np.swapaxes(K, -1, -2) / 2
# e = np.exp(S - S.max())
# weights = e / e.sum()
# ```

# %%
your_numbers("softmax_axis_bug")

# %% [markdown]
# 1. `rowsums`: the sums of the rows of these weights, for your seed.
# 2. `totals`: the sum of all these weights, and the sum of all weights as they should be.
# 3. `symptom`: with scores of shape $(1, 2, 4, 4)$, one example and two heads, all nearly equal, what
#    would one notice?
# 4. `leak`: the total weight in example 0 as it is, and after 5 has been added to all scores of
#    *example 1*. Two numbers. (What has example 0 to do with it? That is the point.)
# 5. `repair(weights)`: the right weights from the wrong ones, without the scores, for any number of axes
#    in front.

# %% exercise="softmax_axis_bug"
import numpy as np

rowsums = None  # two rows of three numbers
totals = None   # two numbers
symptom = None  # one of "A", "B", "C", "D"
leak = None     # two numbers


def repair(weights: "array (..., n, m)") -> "array (..., n, m)":
    """Return the right weights from those that were normalised over the whole array.

    >>> repair(np.array([[0.1, 0.1], [0.2, 0.6]]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    raise NotImplementedError


# %% [markdown]
# ## 3 Masks
#
# ### No peeking
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
# 4. When can such weights be repaired, without going back to the scores (`repair`)?

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

# %% [markdown]
# ### Four dialects of one mask
#
# Every library says it in another way. There are numbers, 1 for allowed and 0 for blocked
# (`"allow01"`); numbers that are added to the scores, 0 for allowed and $-\infty$ for blocked
# (`"additive"`); and two kinds of Booleans: PyTorch's `MultiheadAttention` means *blocked* by True
# (`"block_bool"`), its `scaled_dot_product_attention` means *allowed* (`"allow_bool"`), as this course
# does. Mixing them up raises no error. With three scores of 0 and only the first key allowed, the weights
# should be $(1, 0, 0)$. Adding a 0/1 mask gives $(0.576, 0.212, 0.212)$, and reading it the wrong way
# round $(0, 0.5, 0.5)$.
#
# 1. `to_bool(mask, kind)`: any of the four to this course's form.
# 2. `to_additive(mask_bool)`: this course's form to the additive one.
# 3. `causal_mask(n, m)`: the causal mask for a *block* of $n$ queries that are the last ones of $m$
#    positions, $n \le m$, as in a model that has read $m - n$ tokens before. (Not every library lines up
#    the ends: PyTorch's `is_causal` lines up the beginnings.)

# %% exercise="mask_forms"
import numpy as np


def to_bool(mask: "array", kind: "allow01, additive, block_bool or allow_bool") -> "bool array":
    """Return the mask with True where the query may attend.

    >>> to_bool(np.array([0.0, -np.inf]), "additive")
    array([ True, False])
    """
    raise NotImplementedError


def to_additive(mask_bool: "bool array") -> "array of floats":
    """Return 0 where the query may attend and −∞ elsewhere.

    >>> to_additive(np.array([True, False]))
    array([  0., -inf])
    """
    raise NotImplementedError


def causal_mask(n: int, m: int) -> "(n, m) bool array":
    """Return the causal mask for n queries, the last ones of m positions.

    >>> causal_mask(1, 2)
    array([[ True,  True]])
    """
    raise NotImplementedError


# %% [markdown]
# ### When nothing may be attended
#
# What if a query may look at no key at all? It happens: two masks that are harmless by
# themselves may together leave a query nothing. Code in circulation replaces blocked scores by $-10^9$, or adds $-10^9$, or takes
# $-\infty$. Your query has these three scores, and all three keys are blocked:

# %%
your_numbers("dead_rows")

# %% [markdown]
# 1. `filled`: the weights if each score is *replaced* by $-10^9$.
# 2. `added`, `added32`: the weights if $-10^9$ is *added* to each score, in float64 and in float32. (Next
#    to $10^9$, two neighbouring float32 numbers are 64 apart.)
# 3. `plain`: and if each is replaced by $-\infty$, with a softmax that subtracts the largest score first?
#    Where a computer gets infinity or no number at all, write `np.inf` or `np.nan`.
# 4. `masked_softmax(s, mask)`: the house rule. A dead row is 0, no warning is raised, and other rows are
#    not touched.
# 5. `risks`: which of the statements are true, and speak against a large negative number in place of $-\infty$? (All
#    letters that apply, also of what you have just computed. Wrong letters take away.)

# %% exercise="dead_rows"
import numpy as np

filled = None   # three numbers
added = None    # three numbers
added32 = None  # three numbers
plain = None    # three numbers
risks = None    # letters


def masked_softmax(s: "array (..., n, m)", mask: "bool array that broadcasts to s") -> "as s":
    """Return the softmax over the allowed keys; rows that have none are 0.

    >>> masked_softmax(np.zeros((2, 2)), np.array([[True, True], [False, False]]))
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    raise NotImplementedError


# %% [markdown]
# ### Ragged batches
#
# Texts of a batch have different lengths; the short ones are filled up with padding, at the
# end as a rule. Nobody should look at padding, so its *keys* are blocked, for all queries. (What padded
# queries compute is thrown away.)
#
# 1. `padding_mask(lengths, n)`: the mask, of shape $(B, 1, n)$, so that it broadcasts over the queries.
# 2. `combine(*masks)`: what all of the given masks allow; they broadcast.
# 3. `pairs`, `causal_pairs`: for $n = 5$ and the lengths 1, 3, 5, the number of allowed pairs in each of
#    the three examples, without and with a causal mask in addition. Padded queries count, too.
# 4. `left_padding`: some put the padding on the left. With two padding tokens there, and a causal mask in
#    addition, what happens?

# %%
your_numbers("padding_mask")

# %% exercise="padding_mask"
import numpy as np

pairs = None         # three whole numbers
causal_pairs = None  # three whole numbers
left_padding = None  # one of "A", "B", "C", "D"


def padding_mask(lengths: "int array (B,)", n: int) -> "bool array (B, 1, n)":
    """Return True for the keys that are there: the first ones of each example.

    >>> padding_mask(np.array([1]), 2)
    array([[[ True, False]]])
    """
    raise NotImplementedError


def combine(*masks: "bool arrays that broadcast") -> "bool array":
    """Return True where all masks allow a pair.

    >>> combine(np.array([True, False]), np.array([[True], [False]]))
    array([[ True, False],
           [False, False]])
    """
    raise NotImplementedError


# %% [markdown]
# ### BERT, GPT, prefix, cross
#
# Kinds of model differ in their mask more than in anything else. BERT lets every token see
# every other; GPT masks causally; a prefix LM lets the first $p$ tokens, a question say, see each other,
# and masks the rest causally; and a translator's decoder looks across, at all tokens of another text.

# %% tags=["demonstration"]
def draw_prefix(p):
    figure = plt.Figure(figsize=(3, 2.8), layout="constrained")
    axis = figure.subplots()
    query, key = np.indices((6, 6))
    axis.imshow((key > query) & ((query >= p) | (key >= p)), cmap="gray", vmin=-0.3, vmax=1)
    axis.set(xlabel="key", ylabel="query", xticks=range(6), yticks=range(6))
    kind = {0: "GPT: every token sees itself and what came before", 6: "BERT: every token sees every other"}
    return figure, f"A prefix of {p} of six tokens, allowed pairs dark. " + kind.get(
        p, f"The first {p} see each other, the rest see themselves and what came before") + "."


if plt:
    moving(draw_prefix, "length of the prefix", [0, 1, 2, 3, 4, 6], 3)

# %% [markdown]
# *The picture:* six queries by six keys, allowed pairs dark. With a prefix of 3 there is a square of three by three in the upper left corner, and
# below it each row is one key longer than the one before. A prefix of 0 leaves the causal triangle, one of all six tokens the whole square.

# %%
your_numbers("mask_zoo")

# %% [markdown]
# 1. `allowed`: the number of allowed pairs for your $n$, in these four cases; the prefix has your $p$
#    tokens, the other text your number of `source` tokens.
# 2. `causal`, `prefix`: the second and third number as formulas, in `n`, and in `n` and `p`.
# 3. `causal_1024`, `excess`: the allowed pairs of a causal mask for 1024 tokens, the context of GPT-2, and by
#    how many pairs that is more than half of all pairs.

# %% exercise="mask_zoo"
allowed = None      # four whole numbers
causal = None       # a formula in n
prefix = None       # a formula in n and p
causal_1024 = None  # a whole number
excess = None       # a whole number

# %% [markdown]
# ## 4 Backwards
#
# ### Backward pass of attention
#
# Training sends a gradient back: given $dO$, the gradient of a loss with respect to the
# output, what are those with respect to $Q$, $K$ and $V$? For the values it is a matrix product,
# $dV = A^\top dO$, and so is the way to the weights, $dA = dO\,V^\top$. Between weights and scores stands
# the softmax.
#
# 1. `steps`: take one row. The scores $s$ give the weights $p = \operatorname{softmax}(s)$, and $g$ is the
#    gradient with respect to $p$. Begin with `sum(g_k*D(p_k, s_j), k)`, where `D(f, x)` is the derivative
#    of $f$ with respect to $x$; use the *softmax Jacobian*,
#    $\partial p_i / \partial s_j = p_i (\delta_{ij} - p_j)$ (written `delta(i,j)`), *linearity of sums* and
#    *delta contraction*, one a line; and end with $p_j$ times a difference.
# 2. `attention_grad(Q, K, V, dO, mask)`: the three gradients. Blocked pairs get the gradient 0; a query
#    without any key has zeros as well. Test it with central differences,
#    $\frac{f(x + h) - f(x - h)}{2h}$: $h = 10^{-5}$ is right, $10^{-2}$ is too coarse, and $10^{-12}$
#    drowns in rounding.
# 3. By hand: `A`, `dQ`, `dK`, `dV` for the query $(1, 0)$, the keys $(1, 0)$ and $(0, 1)$, the values $1$
#    and $0$, and $dO = 1$.

# %% exercise="sdpa_grad"
import numpy as np

steps = None  # a list of lines
A = None      # two numbers
dQ = None     # two numbers
dK = None     # two rows of two numbers
dV = None     # two numbers


def attention_grad(
    Q: "array (n, d_k)",
    K: "array (m, d_k)",
    V: "array (m, d_v)",
    dO: "array (n, d_v)",
    mask: "bool array (n, m), or None" = None,
) -> "arrays of the shapes of Q, K, V":
    """Return the gradients for Q, K and V from that for the output.

    >>> attention_grad(np.zeros((1, 1)), np.zeros((2, 1)), np.ones((2, 1)), np.ones((1, 1)))[2]
    array([[0.5],
           [0.5]])
    """
    raise NotImplementedError


# %% [markdown]
# ## 5 In PyTorch
#
# ### Attention as a torch module
#
# In torch a layer is an `nn.Module`: it knows its parameters, and whether it is being trained
# (`module.train()`) or used (`module.eval()`). Attention by itself has no parameters, but one thing that depends on
# the mode: *dropout*. In training each weight is set to 0 with probability $p$, and the others are divided by
# $1 - p$, so that the expected value stays what it was:
#
# $$ \tilde A_{ij} = \begin{cases} 0 & \text{with probability } p \cr A_{ij} / (1 - p) & \text{otherwise} \end{cases} $$
#
# The output is $\tilde A V$. Return $A$ beside it, not $\tilde A$: whoever looks at the weights wants to see what the
# softmax said.
#
# 1. Write the module `Attention(p)`, for `q` of shape `(…, n, d)`, `k` `(…, m, d)` and `v` `(…, m, d_v)`. A Boolean
#    `mask` broadcasts to `(…, n, m)`, and True means *may attend*. float16 and bfloat16 inputs give such
#    outputs. Compare with `torch.nn.functional.scaled_dot_product_attention`, but don't call it.
# 2. Somebody returns the weights after dropout with $p = 0.1$, in training (`row_sums`). What do the five
#    weights of a row add up to?

# %%
your_numbers("sdpa_torch")

# %% exercise="sdpa_torch"
import torch
from torch import nn

row_sums = None  # one of "A", "B", "C", "D"


class Attention(nn.Module):
    """Scaled dot-product attention with dropout on the weights.

    >>> out, weights = Attention(0.5).eval()(torch.zeros(1, 2), torch.zeros(2, 2), torch.eye(2))
    >>> out.tolist(), weights.tolist()
    ([[0.5, 0.5]], [[0.5, 0.5]])
    """

    def __init__(self, p: float = 0.1):
        raise NotImplementedError

    def forward(self, q: "(…, n, d)", k: "(…, m, d)", v: "(…, m, d_v)", mask: "bool (…, n, m)" = None):
        """Return the output (…, n, d_v) and the weights (…, n, m), these before dropout."""
        raise NotImplementedError


# %% [markdown]
# ## In a trained model: what if the mask is missing?
#
# Back to the small model of the first notebook, which says motifs again. It was trained with a causal mask. Here is
# head 1, layer 1, on `^BADGEBADGE`, as it was trained and with the mask taken away, the weights in percent:

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* two tables of weights, a row for each query. With the mask the first five letters rest on `^`; from the second B on
# each letter points at the one behind its earlier copy: B at A, A at D, D at G, G at E, E at B, with 73 to 100 percent. Without
# the mask little is left of that, and `^` itself puts everything on the second G, nine letters later.
#
# What does it cost? The loss per letter is 0.615 nats as trained, and 6.363 without the mask. Somebody who guesses among ten letters
# pays $\log 10 = 2.303$, so the model is now worse than a guess: it never learned what to do with keys that come later, since it never saw any.
#
# Is the root as precious? With a factor of 1 in place of $1/\sqrt 8$ the loss is 0.626, with $1/8$ it is 0.651: hardly. The
# scores of the two heads of the first layer, before they are divided, have standard deviations of 26.1 and 63.3. Most of their rows rest on one key, whatever the
# factor. The root did its work earlier, at the start of the training, when nothing had been decided yet.

# %% [markdown]
# ## What you can do now
#
# You can say what the root is for and what it isn't, write masked attention that survives batches, padding
# and dead rows, and differentiate it without building a Jacobian.
#
# The next notebook runs several of these side by side and calls them heads.
#
# **To read.**
#
# - Vaswani et al. (2017), *Attention is all you need*, section 3.2.1, and its footnote on the variance.
# - Rush (2018), *The Annotated Transformer*: the paper line by line in code, masks included.
# - Dao et al. (2022), *FlashAttention*, appendix B: the backward pass, without ever storing the weights.
# - Henry et al. (2020), *Query-key normalization for transformers*: another answer to scores that spread
#   too far.
# - Zhang, Lipton, Li & Smola, *Dive into deep learning* (d2l.ai), the chapter on attention: a textbook whose code runs.
