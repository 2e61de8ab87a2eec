# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What attention costs
#
# "Attention is quadratic" is the first half of a sentence. Quadratic in what, at what price
# per entry, in time or in memory, and next to which other costs? You begin with pencil and paper,
# then you measure, and at the end you write attention in two forms that cost less: one that never
# holds the matrix of weights, and one that remembers what it has computed.
#
# | part | you learn |
# |---|---|
# | 1 On paper | to count madds and bytes; where the quadratic part begins to matter |
# | 2 On the clock | to time honestly, to read exponents off a plot |
# | 3 Decoding | to cache keys and values; what a step and what the cache costs |
# | 4 In tiles | softmax in one pass, attention without the matrix |
#
# The parts can be done on different days. How to work with it:
#
# - Run the cells from top to bottom: some names come back in several exercises, and each exercise is
#   graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   it is right, you learn when you are graded.
# - Where *how* something is computed counts, the grader doesn't trust a clock, which any busy machine
#   could disturb. It counts the arithmetic your function does, the largest array it makes and the
#   memory it holds, for several $n$. A slow machine costs you nothing.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - KiB, MiB and GiB are powers of 1024, kB, MB and GB powers of 1000. A name such as `size_mib` says in
#   which unit the answer is; write the number without it.

# %%
import numpy as np

# %% tags=["demonstration"]
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything else works without pictures

# %% [markdown]
# ## First a picture
#
# The small model writes letter by letter. Here is how many products (*madds*) it takes for the next letter, when so many symbols
# stand there already: once when it computes everything anew for each letter, once when it keeps what it has. How do the two grow?

# %% tags=["demonstration"]
in_echo = {"weights": [5296], "per_key": [64], "times_as_much": [12], "per_token": [64], "numbers": [5552]}


def draw_echo():
    steps = range(1, 25)
    cached = [5296 + 64 * t for t in steps]
    anew = [5296 * t + 32 * t * (t + 1) for t in steps]
    _, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    axis.semilogy(steps, anew, "s--", markersize=4, label="everything anew")
    axis.semilogy(steps, cached, "o-", markersize=4, label="with a cache")
    axis.set(xlabel="symbols so far", ylabel="madds of a step")
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* two curves on a logarithmic axis. With a cache a step takes from 5,360 products for the first symbol to
# 6,832 for the 24th. Everything anew begins at the same 5,360 and ends at 146,304.
#
# *A guess:* What can be kept, and what has to be computed all the same? The lower curve rises, too: why? Keep
# your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 On paper
#
# ### The table of costs
#
# There are $n$ queries and $m$ keys, keys of width $d_k$ and values of width $d_v$:
#
# $$ S = Q K^\top \;(n \times m), \qquad A = \operatorname{softmax}(S), \qquad O = A V
#    \;(n \times d_v) . $$
#
# One entry of a matrix product is a sum of products; a multiplication with the addition that goes
# along counts as one **madd** (two FLOPs). So an $(a \times b)$ times a $(b \times c)$ matrix takes
# $a\,b\,c$ madds. A *class* keeps how a cost grows and drops the rest: constant factors, and terms
# that another one dominates. Of two terms of which neither dominates the other, both stay: write
# `n**2 + n*d`, say, unless you know which of $n$ and $d$ is larger.
#
# **What is often said.** "A layer costs $n^2 d$, so the quadratic term is the bottleneck." That is
# the attention alone. A whole self-attention layer also multiplies with four $d \times d$
# matrices, and which part is larger depends on $n$ and $d$. Give all terms. For
# memory say what is stored, and for how many heads: each head has weights of its own.
#
# *Linear attention* (question 5) never forms the $n \times m$ weights. With features of a fixed
# width $D$ it takes about $(n + m)\, D\, d_v$ madds.
#
# 1. Classes of time, in `n`, `m`, `d_k`, `d_v`: `scores_time` for $S$, `softmax_time` for $A$,
#    `values_time` for $O$.
# 2. `madds`: exactly how many madds the two products take together, as a formula.
# 3. `layer_time`: the class of a whole self-attention layer ($m = n$, $d_k = d_v = d$, the four
#    projections included), in `n` and `d`.
# 4. `memory`: the class of the memory for stored weights and output of one head.
#    `weights_memory`: of the weights alone, in a layer of `h` heads, with $n$ queries and $m$ keys.
# 5. `factor`: by what does the time of the two products of self-attention grow when $n$ doubles
#    (and $m$ with it)? `factor_linear`: and that of linear attention?

# %% exercise="cost_classes"
scores_time = None     # a class as text, such as "n*log(n)"
softmax_time = None    # a class
values_time = None     # a class
madds = None           # a formula, exact
layer_time = None      # a class
memory = None          # a class
weights_memory = None  # a class
factor = None          # a whole number
factor_linear = None   # a whole number

# %% [markdown]
# ### When is attention the bottleneck?
#
# A transformer layer over $n$ tokens of width $d$ does three kinds of products:
#
# | part | products | madds |
# |---|---|---|
# | projections | queries, keys, values and the output, with a $d \times d$ matrix each | $4\, n\, d^2$ |
# | the quadratic part | scores $Q K^\top$ and weighted sums $A V$ | $2\, n^2 d$ |
# | feed-forward | into a layer of width $4d$ and back | $8\, n\, d^2$ |
#
# Only one of the three grows like $n^2$, and for short texts it is the small one. So "$n^2 d$ is
# the cost of a layer" is wrong in both directions: it forgets most of the work for small $n$, and half
# of the quadratic part for large $n$. From which $n$ on does the quadratic part overtake the projections, and from which
# on the two others together? For $d = 512$ the picture says about where; below you say exactly, for every $d$.

# %% tags=["demonstration"]
if plt:
    n = np.geomspace(128, 32768, 200)
    parts = {
        "projections": 4 * n * 512**2, "feed-forward": 8 * n * 512**2, "quadratic": 2 * n**2 * 512
    }
    total = sum(parts.values())
    figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
    for (name, madds), style in zip(parts.items(), ["--", ":", "-"], strict=True):
        axes.plot(n, madds / total, style, color="black", label=name)
    axes.set(xscale="log", xlabel="$n$", ylabel="share of the madds", ylim=(0, 1))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* shares against $n$ from 128 to 32,768 on a logarithmic axis. At the left end the
# feed-forward part takes nearly two thirds and the projections nearly one third. The solid curve of the
# quadratic part starts near 0, rises in an S and takes more than nine tenths at the right end. On the way it crosses the
# dashed curve first and the dotted one somewhat later; where it has a half, it weighs as much as both together.

# %%
your_numbers("madds")

# %% [markdown]
# 1. `meets_projections`: at which $n$ does the quadratic part equal the projections?
#    `meets_layer`: and the projections and the feed-forward part together? Formulas in `d`.
# 2. `crossings`: both in numbers, for your $d$. `shares`: the share of the quadratic part in all
#    madds of the layer, at your `n_short` and at your `n_long`.
# 3. `flops`: how many FLOPs does the *attention layer* take (projections included, no
#    feed-forward) at `n_short`?
# 4. `madds_with_heads`: the quadratic part again, at `n_short`, now with your number $h$ of heads, each
#    of width $d/h$. How many madds do all heads take together?

# %% exercise="madds"
meets_projections = None  # a formula in d
meets_layer = None        # a formula in d
crossings = None          # two whole numbers
shares = None             # two numbers between 0 and 1
flops = None              # a whole number
madds_with_heads = None   # a whole number

# %% [markdown]
# ### A quarter of a gibibyte
#
# For memory one matrix is what matters: $n \times n$ weights, one number for every pair.
# One reads that the matrix of a sequence of 8192 tokens takes "256 MB". That leaves out three
# things. The unit is MiB ($1024^2$ bytes; in MB, $1000^2$ bytes, the number is another one). The
# matrix exists once *per head, per layer and per example of the batch*. And it assumes numbers of
# four bytes each.

# %%
your_numbers("attn_memory")

# %% [markdown]
# 1. `size_bytes`, `size_mib`, `size_mb`: the size of one $n \times n$ matrix for your $n$ and your type.
# 2. `layer_gib`: the weights of one layer with 8 heads and a batch of 4, in GiB, for your $n$
#    and type. `half_mib`: one matrix for your $n$ in half precision (float16), in MiB.
# 3. `table_bytes`: bytes of one matrix in float32 for $n = 100, 500, 1000, 2000, 5000$. `table_mb`: the
#    same in float64, in MB. (You will measure times for these $n$ below; that is their memory.)
# 4. `attention_bytes(n, m=None, heads=1, batch=1, dtype="float32")`: the bytes of all weights, as a
#    whole number. `m` is the number of keys; if it isn't given, it is $n$. `dtype` is one of
#    `"float16"`, `"bfloat16"`, `"float32"`, `"float64"`.
# 5. `largest_n`: the largest $n$ for which a single float32 matrix fits into 80 GiB.
#    `qkvo_mib`: what $Q$, $K$, $V$ and the output take together for $n = 8192$, $d = 64$, float32, in
#    MiB. `state_floats`: linear attention keeps a matrix $S$ of $D \times d_v$ numbers and a vector
#    $z$ of $D$ numbers instead of the weights. How many numbers are that for $D = d_v = 64$?

# %% exercise="attn_memory"
size_bytes = None    # a whole number
size_mib = None      # a number
size_mb = None       # a number
layer_gib = None     # a number
half_mib = None      # a number
table_bytes = None   # five whole numbers
table_mb = None      # five numbers
largest_n = None     # a whole number
qkvo_mib = None      # a number
state_floats = None  # a whole number


def attention_bytes(
    n: int, m: "int or None" = None, heads: int = 1, batch: int = 1, dtype: str = "float32"
) -> int:
    """Return the bytes of all attention weights of one layer.

    >>> attention_bytes(10, 20, heads=2, dtype="float16")
    800
    """
    raise NotImplementedError

# %% [markdown]
# ## 2 On the clock
#
# ### Measuring honestly
#
# A time is a number with a story. The first call of a function pays for things that
# never come again: memory is fetched from the system, code is loaded. Later calls are disturbed
# by whatever else the machine does, always in the same direction, towards longer. A comparison
# that ignores this measures luck, and many published speed-ups rest on a single cold run.
#
# 1. `good_practice`: two methods are to be compared. Which of these make the comparison trustworthy?
#    (All letters that apply. Wrong letters take away: naming all of them earns nothing.)
# 2. `factors`: by what do you expect the time to grow from $n = 1000$ to $n = 5000$, for a
#    quadratic and for a linear method?
# 3. `median`, `mean`: five runs took $1.0,\ 1.02,\ 0.98,\ 9.0,\ 1.01$ ms. Their median and their mean?

# %%
your_numbers("bench_hygiene")

# %% exercise="bench_hygiene"
good_practice = None  # letters, as in "AB"
factors = None        # two numbers: quadratic, linear
median = None         # one number
mean = None           # one number

# %% [markdown]
# ### Race of two kernels
#
# Now measure. Write both kinds of attention for one head, and time them for
# $n = 100, 500, 1000, 2000, 5000$ with $d = 64$.
#
# Such a race can be given a spectacular winner, and races like this one have been published:
#
# ```python
# start = time.perf_counter()
# O = np.apply_along_axis(softmax, 1, Q @ K.T / 8) @ V      # a Python call for every row
# middle = time.perf_counter()
# L = linear_attention(Q, K, V)
# end = time.perf_counter()
# print((middle - start) / (end - middle))
# ```
#
# 1. `standard_attention(Q, K, V)`: scaled, safe for large scores, and without a Python loop, also
#    none that hides in a function such as `np.apply_along_axis`, and without a library's own attention.
#    `linear_attention(Q, K, V)`: the weights are $\varphi(q_i) \cdot \varphi(k_j)$ with
#    $\varphi(x) = \operatorname{elu}(x) + 1$ (that is $x + 1$ for $x > 0$ and $e^x$ otherwise), normalised:
#    $\varphi(Q)\, (\varphi(K)^\top V)$, each row divided by its sum of weights. (The next notebook derives why the brackets
#    may stand there; here the question is what they cost.) Its work and memory grow like $n$. No masks, no batches.
# 2. `times`: two rows of five times **in seconds**, standard first. Make the inputs before the clock
#    (`time.perf_counter`) starts, call each function once to warm up, and take the minimum of at least
#    five runs. Compute them in this cell, it takes a few seconds. What is graded of them is whether they
#    show the two growths at all, in very wide bands; times that show neither are left to a person.
# 3. `flattering`: by how much does the race above flatter? Say that a madd takes 0.1 ns, an exponential with what
#    belongs to it 5 ns, a Python call 10 µs, and whatever runs first in a program 50 ms more than later. Of the
#    products count those whose madds contain $n^2$ or $d^2$, one exponential for each score or each number that is mapped,
#    and the calls of `softmax`; leave out the rest. Two numbers for $n = 2000$: what the race prints, and what it would
#    print with a softmax that takes no call for a row, and without the first time.
#
# 4. `torch_attention(Q, K, V)`: linear attention again, in torch, for tensors of shape `(B, h, n, d)` on whatever
#    device they are, in float32 and bfloat16, as exact as these are: no shorter products in float32, and who adds up
#    key after key does it in float32, since a running sum in bfloat16 stands still after some hundred terms. It is
#    timed on a GPU, for $n$ up to 65,536, with the clock read after the device has finished. Where the grader has no GPU at hand, this part waits until it
#    has, and a course that never has one gives no points for it; you don't need one to write it.
#    (`torch.nn.functional.elu` is there, and `x.mT` is the transpose of the last two axes.)

# %% exercise="time_attention"
import time

import numpy as np

flattering = None  # two numbers: printed, fair


def standard_attention(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)") -> "(n, d_v)":
    """Return softmax(Q Kᵀ / √d) V.

    >>> standard_attention(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    array([[1.5],
           [1.5]])
    """
    raise NotImplementedError


def linear_attention(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)") -> "(n, d_v)":
    """Return attention with the weights φ(q)·φ(k), normalised, in linear time.

    >>> linear_attention(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    array([[1.5],
           [1.5]])
    """
    raise NotImplementedError


def torch_attention(Q: "(B, h, n, d)", K: "(B, h, n, d)", V: "(B, h, n, d)") -> "(B, h, n, d)":
    """Return linear attention of torch tensors, in linear time and memory.

    >>> import torch
    >>> Q = K = torch.zeros(1, 1, 2, 1)
    >>> torch_attention(Q, K, torch.tensor([[[[1.0], [2.0]]]])).flatten()
    tensor([1.5000, 1.5000])
    """
    raise NotImplementedError


times = None  # two rows of five seconds: standard, linear

# %% [markdown]
# ### How different are the outputs?
#
# A faster method that computes something else is not simply faster. So put the
# outputs beside each other, with your `linear_attention` from above. It replaces the weights $e^{q \cdot k / \sqrt d}$ by products of
# features,
#
# $$ \frac{\sum_j (\varphi(q_i) \cdot \varphi(k_j))\, v_j}{\sum_j \varphi(q_i) \cdot \varphi(k_j)},
#    \qquad \varphi(x) = \operatorname{elu}(x) + 1 = \begin{cases} x + 1 & x > 0 \\ e^x & x \le 0 \end{cases} $$
#
# entry by entry, without any factor $1/\sqrt d$ inside.
#
# Draw the inputs from one generator, `rng = np.random.default_rng(seed)` with **your** seed, for
# $n = 100, 500, 1000, 2000, 5000$ in this order, each time by
# `Q, K, V = rng.normal(size=(3, n, 64))`.

# %%
your_numbers("linear_gap")

# %% [markdown]
# 1. `l2`: for each $n$ the Frobenius norm $\lVert O_{\text{softmax}} - O_{\text{linear}} \rVert$, the root of the
#    sum of all squared differences. (At $n = 5000$ the weights take 200 MB in float64, and a careless
#    formula holds several copies. Cutting $Q$ into blocks of rows helps.)
# 2. `rel`: the same divided by the norm of the softmax output.

# %% exercise="linear_gap"
import numpy as np

l2 = None   # five numbers
rel = None  # five numbers

# %% [markdown]
# 3. What do the five numbers say? A person reads this; four or five sentences. Does linear
#    attention approach softmax attention as $n$ grows, and should it? Name a case in which both
#    give the same. There are *random* features, any number $m$ of them, whose products are $e^{q \cdot k}$ on average (the
#    next notebook builds them): what would have to grow with those so that the difference becomes as small as one likes?

# %% [markdown] exercise="linear_gap" part="reading"
# *Your answer, four or five sentences.*

# %% [markdown]
# ### Measured against predicted
#
# A power law $t = c\, n^a$ is a straight line on log–log axes: $\log t = \log c + a \log n$,
# with the exponent as its slope. That makes the eye a good judge: draw the measured times, draw a line
# of slope 2 and one of slope 1, and look which of them the points follow. It also shows where
# they don't follow any.
#
# 1. `predicted`: the madds of the two products of standard attention, $2 n^2 d$, and of linear attention,
#    $2 n d^2$, for $n = 100, 500, 1000, 2000, 5000$ and $d = 64$. Two rows of five numbers.
# 2. `lines`: somebody measured 0.25 s for standard and 0.006 s for linear attention at $n = 5000$.
#    The reference line $c_1 n^2$ goes through the first of these points, the line $c_2 n$ through the
#    second. Their values at the five $n$, two rows of five numbers, in seconds.
# 3. `cross`: at which $n$ are both predictions equal, for $d = 64$?
# 4. `fit_exponent(n, t, n_min=0)`: the slope of the least-squares line through the points
#    $(\log n, \log t)$, using the points with $n \ge n_{\min}$ alone. Try it on times of
#    $1\,\text{ms} + 10\,\text{ns} \cdot n^2$: a purely quadratic method, and a constant that any call costs.
#    What exponent does it seem to have over all five lengths, and what from $n = 1000$ on?

# %% exercise="cost_curves"
import numpy as np

predicted = None  # two rows of five whole numbers: standard, linear
lines = None      # two rows of five numbers: c₁n², c₂n
cross = None      # a whole number


def fit_exponent(n: "(k,)", t: "(k,)", n_min: float = 0) -> float:
    """Return the slope of log t against log n, for the points with n ≥ n_min.

    >>> round(float(fit_exponent(np.array([1, 10, 100]), np.array([7, 70, 700]))), 6)
    1.0
    """
    raise NotImplementedError

# %% [markdown]
# 5. The picture: **your own** times from above against $n$, on log–log axes, with both reference
#    lines (through your own points at $n = 5000$). Asked for are labelled axes with units, a legend,
#    points and lines that can be told apart without colour, and a sentence in a comment: where do
#    points leave their line, and why? (Without matplotlib: describe in comments what you would draw.)

# %% exercise="cost_curves" part="picture"
# Your picture: plot your times and the reference lines here.

# %% [markdown]
# ## 3 Decoding
#
# ### A cache changes nothing
#
# A model that writes text produces one token after the other. Under a causal mask,
# token $t$ looks at itself and at what came before, and nothing that comes later ever changes an
# earlier row. So the keys and values of earlier tokens can be kept:
#
# $$ K_{\le t} = \begin{pmatrix} K_{<t} \\ k_t \end{pmatrix}, \qquad
#    V_{\le t} = \begin{pmatrix} V_{<t} \\ v_t \end{pmatrix}, \qquad
#    o_t = \operatorname{softmax}\!\left(\frac{q_t K_{\le t}^\top}{\sqrt{d_h}}\right) V_{\le t}\, . $$
#
# Queries need no cache: $q_t$ is used once, in its own step. Several tokens may come at once, a prompt
# for example (*prefill*). Row $i$ of a chunk that comes after $c$ cached tokens stands at position
# $c + i$ and may look at keys $0, \dots, c + i$. The mask of a chunk is not square:
#
# | queries | key 0 | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|---|
# | chunk row 0 (position 4) | ✓ | ✓ | ✓ | ✓ | ✓ | – | – |
# | chunk row 1 (position 5) | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | – |
# | chunk row 2 (position 6) | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
#
# The same with more or fewer tokens in the cache:

# %% tags=["demonstration"]
def draw_chunk(cached):
    figure = plt.Figure(figsize=(5.5, 2.2), layout="constrained")
    axis = figure.subplots()
    may = np.arange(cached + 3) <= cached + np.arange(3)[:, None]
    axis.imshow(np.where(may, 0.75, 1.0), cmap="gray", vmin=0, vmax=1)
    for row, key in np.argwhere(may):
        axis.text(key, row, "kept" if key < cached else "new", ha="center", va="center", fontsize=8)
    axis.set(xlabel="key", ylabel="row of the chunk", xticks=range(cached + 3), yticks=range(3))
    return figure, f"With {cached} tokens in the cache the three rows may look at {cached + 1}, {cached + 2} and {cached + 3} keys, {cached} of them kept."


if plt:
    moving(draw_chunk, "tokens in the cache", [0, 1, 2, 4, 6, 8], 4)

# %% [markdown]
# *The picture:* a table of three rows, one for each token of the chunk. Fields for keys from the cache say *kept*, the three columns on the right say *new*, and the three fields above
# their diagonal are empty. Without a cache the table is a square with a triangle, as in the third notebook.
#
# Write a class `KVCache(W, h=1, rope=False)`:
#
# - `W` is an array of shape `(4, d, d)` with $W_Q$, $W_K$, $W_V$, $W_O$, used as `x @ W[0]` and so on. There
#   are `h` heads: head 0 has the first $d_h = d/h$ columns, and so on. No biases.
# - `step(x)` takes new tokens `x` of shape `(B, t, d)`, the inputs of the layer, and returns their
#   outputs, `(B, t, d)`. All calls together must give the rows of one causal pass over all tokens.
# - `length`, an attribute, is the number of tokens in the cache; `reset()` empties it.
# - With `rope=True` queries and keys of every head are rotated by their position, counted from 0 (`rotate`
#   is given); values are not.
# - A step costs what it must and no more. For one new token this is four projections *of that token*,
#   and two products with what is in the cache: work that grows linearly with $t$. Nothing but keys and
#   values is kept. Both are measured, for up to 432 tokens.
#
# `without_mask`: a layer *without* causal mask, in which every token sees all the others, is decoded in
# this way. Which rows are those of one pass over the whole text?
#
# `because`: why? (It counts only behind the right answer to `without_mask`.)

# %%
your_numbers("kv_equivalence")

# %% exercise="kv_equivalence"
import numpy as np

without_mask = None  # one of "A", "B", "C"
because = None       # one of "A", "B", "C", "D"


def rotate(x: "(…, t, d_h)", positions: "(t,)") -> "(…, t, d_h)":
    """Rotate columns 2i and 2i + 1 by position · 10000^(−2i/d_h)."""
    d = x.shape[-1]
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-2 * np.arange(d // 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return turned.reshape(x.shape)


class KVCache:
    """Causal self-attention that remembers keys and values.

    >>> cache = KVCache(np.array([0.0, 0.0, 1.0, 1.0]).reshape(4, 1, 1))
    >>> [cache.step(np.array([[[x]]])).item() for x in (3.0, 5.0)], cache.length
    ([3.0, 4.0], 2)
    """

    def __init__(self, W: "(4, d, d)", h: int = 1, rope: bool = False):
        raise NotImplementedError

    def reset(self):
        """Forget everything."""
        raise NotImplementedError

    def step(self, x: "(B, t, d)") -> "(B, t, d)":
        """Take in new tokens and return their outputs."""
        raise NotImplementedError

# %% [markdown]
# ### What a step costs
#
# Count madds for one layer of width $d$. Step $t$ (counted from 1) with a cache projects one
# token, $4d^2$, computes $t$ scores and adds up $t$ values, $2\,t\,d$ in all heads together. Texts that call this
# "$O(t d)$ per step" forget the part that dominates as long as the text is short.
#
# Without a cache, step $t$ sends the whole prefix through the layer: $4 t d^2 + 2 t^2 d$.
#
# You need $\sum_{t=1}^n t = \frac{n(n+1)}{2}$ and $\sum_{t=1}^n t^2 = \frac{n(n+1)(2n+1)}{6}$.

# %%
your_numbers("kv_cost")

# %% [markdown]
# 1. `cached`, `recomputed`: all madds of $n$ steps, with a cache and without, as formulas in `n` and `d`.
# 2. `counts`: both in numbers, for your $n$ and $d$. `ratio`: how many times as much the second takes.
# 3. `last_step`: the madds of step $t = n$ with a cache. `equal_at`: the $t$ at which looking back, $2td$,
#    costs as much as the projections.

# %% exercise="kv_cost"
cached = None      # a formula in n, d
recomputed = None  # a formula in n, d
counts = None      # two whole numbers
ratio = None       # one number
last_step = None   # a whole number
equal_at = None    # a whole number

# %% [markdown]
# ### What the cache weighs
#
# The price is memory: keys **and** values, in each of $L$ layers, for each of $t$ tokens, of
# width $d$ (all heads together):
#
# $$ \text{bytes} = 2 \cdot L \cdot t \cdot d \cdot \text{(bytes per number)} . $$
#
# It does not contain $t^2$: no weights are kept. Half precision takes 2 bytes per number.
#
# 1. `small_bytes`: a small model, $L = 6$, $d = 512$, after $t = 1000$ tokens, in half precision.
# 2. `large_bytes`, `large_gib`: a large one, $L = 96$, $d = 12288$, $t = 2048$, in half precision, in bytes
#    and in GiB. `per_token`: the bytes that each further token adds.
# 3. `shared_bytes`: in *multi-query attention* all heads of a layer use the same keys and values, of the
#    width of one head. What does the large cache weigh with one such head of width 128?

# %% exercise="kv_memory"
small_bytes = None   # a whole number
large_bytes = None   # a whole number
large_gib = None     # one number
per_token = None     # a whole number
shared_bytes = None  # a whole number

# %% [markdown]
# ## 4 In tiles
#
# ### One pass, two blocks
#
# A safe softmax needs the largest score first, and the sum of all exponentials before it can
# divide: it seems that all scores must be at hand at once. They needn't. Go through the keys block by block
# and keep three numbers for each query:
#
# $$ m = \max_j s_j, \qquad l = \sum_j e^{s_j - m}, \qquad o = \sum_j e^{s_j - m}\, v_j , $$
#
# over the keys seen so far. When a block brings a larger maximum $m'$, what was collected belongs to the old
# one, and a factor $e^{m - m'}$ puts that right. At the end $o / l$ is the output, and
# $m + \log l$ is the log-sum-exp of all scores.
#
# In general two states, of *any* two sets of keys, are merged like this:
#
# $$ (m_1, l_1, o_1) \circ (m_2, l_2, o_2) = (M,\; e^{m_1 - M} l_1 + e^{m_2 - M} l_2,\;
#    e^{m_1 - M} o_1 + e^{m_2 - M} o_2), \qquad M = \max(m_1, m_2). $$
#
# Your four scores $s$ come in two blocks of two, with the values $v$:

# %%
your_numbers("online_softmax")

# %% [markdown]
# 1. `state1`: $(m, l, o)$ after the first block; `state2`: after the second one; `correction`: the factor by
#    which the first block's $l$ and $o$ were multiplied.
# 2. `out`: the output. `lse`: the log-sum-exp of all four scores. (Compare with a softmax of all four at once.)
# 3. `merge_steps`: merging is *associative*. Start with the sum of (first ∘ second) ∘ third, where $M_{12}$
#    is the maximum of the first two and $M$ that of all three,
#
#    `exp(M12 - M)*(exp(m1 - M12)*l1 + exp(m2 - M12)*l2) + exp(m3 - M)*l3`,
#
#    and lead it to a form without `M12`, one equality a line, in at least two steps: one line shows, side by
#    side, the exponentials in which `M12` cancels. You may use `m1`, `m2`, `m3`, `M12`, `M`, `l1`, `l2`,
#    `l3`. (With $o$ in place of $l$ the same lines hold for the weighted sums.)
# 4. `neutral`: which state is *neutral*, that is, changes nothing when it is merged with another?
#
#    `why_any_order`: why may three blocks be merged in any order and in any brackets?
# 5. `merge(a, b)` and `finish(state)` for $n$ queries at once. A state is a tuple of `m` and `l`, both of shape
#    `(n,)`, and `o` of shape `(n, d_v)`. `finish` returns the outputs `(n, d_v)` and the log-sum-exps `(n,)`.
#    A query that has not seen any key has the state $(-\infty, 0, 0)$; its output is 0 and its
#    log-sum-exp $-\infty$.

# %% exercise="online_softmax"
import numpy as np

state1 = None         # m, l, o
state2 = None         # m, l, o
correction = None     # one number
out = None            # one number
lse = None            # one number
merge_steps = None    # a list of lines
neutral = None        # one of "A", "B", "C", "D"
why_any_order = None  # one of "A", "B", "C", "D"


def merge(a: "(m, l, o)", b: "(m, l, o)") -> "(m, l, o)":
    """Return the state of the keys of a and of b together.

    >>> m, l, o = merge((np.zeros(1), np.ones(1), np.array([[2.0]])),
    ...                 (np.zeros(1), np.ones(1), np.array([[4.0]])))
    >>> float(m[0]), float(l[0]), float(o[0, 0])
    (0.0, 2.0, 6.0)
    """
    raise NotImplementedError


def finish(state: "(m, l, o)") -> "outputs (n, d_v), log-sum-exps (n,)":
    """Return o/l and m + log l.

    >>> out, lse = finish((np.zeros(1), np.full(1, 2.0), np.array([[6.0]])))
    >>> float(out[0, 0]), round(float(lse[0]), 6)
    (3.0, 0.693147)
    """
    raise NotImplementedError


# %% [markdown]
# ### Attention without the matrix
#
# Put the pieces together. Cut the queries into blocks of rows and the keys into blocks, which
# cuts the matrix of scores into *tiles*. For one block of queries go through the blocks of keys, compute one
# tile of scores, fold it into the running $(m, l, o)$ of its rows, and forget it. No $n \times m$ array is ever
# needed, and the result is exact. The number of multiplications stays what it was: this saves *memory*, and the
# traffic to memory, not arithmetic.
#
# And with a causal mask? The next cell draws the tiles for twelve tokens and blocks of four. Which share of the tiles need
# not be computed, and does that share grow with more blocks? You will need the answer for 64 blocks.

# %% tags=["demonstration"]
if plt:
    tokens = np.arange(12)
    seen = tokens <= tokens[:, None]
    figure, axes = plt.subplots(figsize=(3.2, 3.2), layout="constrained")
    axes.imshow(np.where(seen, 0.7, 1.0), cmap="gray", vmin=0, vmax=1)
    for edge in (3.5, 7.5):
        axes.axhline(edge, color="black")
        axes.axvline(edge, color="black")
    axes.set(xlabel="key", ylabel="query")
    plt.show()

# %% [markdown]
# *The picture:* a square of 12 × 12 fields in nine tiles of 4 × 4. The three tiles below the diagonal are grey
# throughout: everything in them may be seen. The three on the diagonal are half grey, a staircase. The three above it
# are white: nothing in them may be seen, so they need not be computed. That is a third of them. With more
# blocks the share grows towards a half: fewer of the tiles lie on the diagonal, and those are computed whole.
#
# 1. `flash_attention(Q, K, V, block=64, causal=False)` for `Q` of shape `(n, d_k)`, `K` `(m, d_k)` and `V` `(m, d_v)`
#    returns the outputs `(n, d_v)` and the log-sum-exp of each row of scaled scores, `(n,)`. Blocks of
#    queries and of keys have `block` rows, the last ones may have fewer. With `causal=True`, where $n = m$, query $i$ sees
#    keys $0, \dots, i$. float32 inputs give float32 results. What is counted:
#    - no array has more entries than a tile or an input, and tiles are not kept;
#    - each tile is computed once, and not at all if nothing in it may be seen.
#
#    A library's own attention (such as torch's `scaled_dot_product_attention`) is no answer.
#
#    `torch_flash(Q, K, V, block=1024)` is the same in torch, for tensors of shape `(B, h, n, d)` on whatever device they
#    are, without a mask, and returns the outputs alone. In bfloat16, too, the running numbers are float32. It is tried on a GPU, for
#    $n$ up to 32,768: its memory has to grow like $n$, its time like $n^2$. Where the grader has no GPU at hand, this
#    half point waits until it has, and a course that never has one gives no points for it; you don't need one to write it.
# 2. In numbers, for $n = m = 8192$ and blocks of 128. `tile_count`: how many tiles are there? `tiles_causal`: how many are
#    computed with a causal mask? `running_floats`: how many numbers are the running $m$ and $l$ of all rows?
#    `full_floats`: and the full matrix? `tile_kib`: how many KiB does one tile take in float32?
# 3. `shortcut_steps`: going backwards, the softmax needs for every row the sum $\sum_j \mathrm{d}A_j A_j$, over all keys
#    again. Tiled attention has no row of $A$, but it has the output. Let $g_k$ be the gradient of one row of the
#    output, $o_k = \sum_j A_j v_{jk}$ that row, and $s_j = \mathrm{d}A_j = \sum_k g_k v_{jk}$. Lead
#    `sum(s_j*A_j, j)` to a form with $g$ and $o$ alone, one equality a line. Write `v_{j,k}` for
#    $v_{jk}$. Rules: *definition*, *linearity of sums*, *order of sums*, one a line.

# %% exercise="flash_tiled"
import numpy as np

tile_count = None      # a whole number
tiles_causal = None    # a whole number
running_floats = None  # a whole number
full_floats = None     # a whole number
tile_kib = None        # one number
shortcut_steps = None  # a list of lines


def torch_flash(
    Q: "(B, h, n, d)", K: "(B, h, n, d)", V: "(B, h, n, d)", block: int = 1024
) -> "(B, h, n, d)":
    """Return attention of torch tensors, tile by tile."""
    raise NotImplementedError


def flash_attention(
    Q: "(n, d_k)", K: "(m, d_k)", V: "(m, d_v)", block: int = 64, causal: bool = False
) -> "outputs (n, d_v), log-sum-exps (n,)":
    """Return attention and log-sum-exps, tile by tile.

    >>> out, lse = flash_attention(np.zeros((1, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]), 1)
    >>> float(out[0, 0]), round(float(lse[0]), 6)
    (1.5, 0.693147)
    """
    if not isinstance(Q, np.ndarray):  # leave these two lines: a check calls torch_flash so
        return torch_flash(Q, K, V)
    raise NotImplementedError

# %% [markdown]
# ### What is saved, what is not
#
# Tiled attention is fast for one reason: it moves fewer numbers. A GPU computes far faster
# than it can fetch numbers from its large memory; a small fast memory sits beside the arithmetic. Dropping constants,
# ordinary attention moves about $nd + n^2$ numbers between the two, tiled attention about $n^2 d^2 / M$, where
# $M$ is how many *numbers* the fast memory holds.
#
# 1. `moved_standard`, `moved_tiled`: the two estimates for $n = 8192$, $d = 64$ and a fast memory of 100 KiB,
#    in float32. `moved_ratio`: by what factor the traffic shrinks.
# 2. `widest`: it doesn't shrink for every width. Let the text be so long that $nd$ is nothing beside $n^2$: up to which $d$
#    do tiles, by these estimates and with this memory, move no more numbers than ordinary attention?
# 3. `saved`: the backward pass computes the weights again, tile by tile. Which numbers have to be kept for
#    that, per head, besides $Q$, $K$, $V$ and $O$? How many are they at least for $n = 8192$?
# 4. `products`: and what does that cost? Three whole numbers, how many matrix products of $n^2 d$ madds a head takes: forward; backward
#    with the weights that ordinary attention has kept, to all three gradients; and backward by tiles.

# %% exercise="flash_facts"
moved_standard = None  # one number
moved_tiled = None     # one number
moved_ratio = None     # one number
widest = None          # a whole number
saved = None           # a whole number
products = None        # three whole numbers

# %% [markdown]
# ## In a trained model: what does the next letter cost?
#
# The small model of the first notebook says motifs again, letter by letter, up to 24 symbols. Its matrices take 5,296 madds for each
# symbol. A query takes 64 more for each key: in two layers of width 16 a product for the score, and another one for the value. Cache, or compute again?

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* two curves on a logarithmic axis. With a cache a step takes from 5,360 madds for the first symbol to 6,832 for the 24th. Everything anew begins
# at the same 5,360 and ends at 146,304.
#
# In all, 24 letters cost 12 times as much without a cache. With it, attention would be the larger part of a step from the 83rd symbol on, far beyond the 24 of this language.
# The cache holds 64 numbers per token: from 87 tokens on it weighs more than the model.

# %% [markdown]
# ### Your own cache writes
#
# The next cell has what surrounds attention in this model: RMS norms, rotations with base 100, a feed-forward layer with a gate. Each of its two layers adds to the stream what
# attention makes of the first norm, and to that what the gated layer makes of the second; behind the layers come one more norm and the output matrix. What is missing is attention with a cache,
# and your `KVCache` is nearly all of it.

# %%
LETTERS = "^ABCDEFGHIJ"
trained = {name: array.astype(float) for name, array in np.load("echo.npz").items()}


def read(sentence):
    """Return the ids of a sentence."""
    return np.array([LETTERS.index(letter) for letter in sentence])


def rms_norm(x, gains):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5) * gains


def turned(x, positions):
    """Rotate neighbouring pairs of columns of each head, (2, t, d_h), by angles that grow with the positions (t,)."""
    angles = np.asarray(positions)[:, None] * 100.0 ** (-2 * np.arange(x.shape[-1] // 2) / x.shape[-1])
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = [even * np.cos(angles) - odd * np.sin(angles), even * np.sin(angles) + odd * np.cos(angles)]
    return np.stack(pairs, axis=-1).reshape(x.shape)


def feed_forward(y, gate, up, down):
    z = y @ gate
    return (z / (1 + np.exp(-z)) * (y @ up)) @ down


print({name: array.shape for name, array in trained.items()})

# %%
your_numbers("echo_cache")

# %% [markdown]
# 1. `EchoCache(model)`: the whole model. `step(ids)` takes the ids of new symbols, of shape $(t,)$, and returns their logits, $(t, V)$; all calls together give the rows of one pass over all symbols. `length`, an attribute, is the number of
#    symbols so far. `model` is a dictionary like `trained`: `embed` $(V, d)$, `unembed` $(d, V)$, `norm` $(d,)$, and `norm1`, `wq`, `wk`, `wv`, `wo`, `norm2`, `gate`, `up`, `down` with an axis of layers in front (two here; others are tried, too). There are two heads in
#    each layer; nothing has a bias. A step must cost what one symbol needs: that is measured.
#    After `^BADGEBA` the largest logit should be that of D.
# 2. `word`: let it write. It reads your `prompt`, all at once; then the letter with the largest logit is written and read in turn, until `steps` letters have been written. Which? A list of whole numbers, A being 1.
# 3. `kept`: how many numbers do the caches hold when the last letter has just been written?
# 4. `madds`: two whole numbers, for all that was read until then: with the cache, and if every letter took a pass over the whole sentence so far. Count as above: 5,296 for each symbol, and 64 for each pair of a query and a key that it
#    sees.

# %% exercise="echo_cache"
import numpy as np

word = None   # a list of whole numbers
kept = None   # a whole number
madds = None  # two whole numbers


class EchoCache:
    """The whole model, which remembers keys and values of every layer.

    >>> model = {name: np.zeros((1, 4, 4)) for name in "wq wk wv wo gate up down".split()}
    >>> model |= {"embed": np.eye(3, 4), "norm1": np.ones((1, 4)), "norm2": np.ones((1, 4))}
    >>> echo = EchoCache(model | {"norm": np.ones(4), "unembed": np.eye(4, 3)})
    >>> [echo.step(np.array([i])).round(2).tolist() for i in (1, 0)], echo.length
    ([[[0.0, 2.0, 0.0]], [[2.0, 0.0, 0.0]]], 2)
    """

    def __init__(self, model: dict):
        raise NotImplementedError

    def step(self, ids: "(t,)") -> "(t, V)":
        """Take in new symbols and return their logits."""
        raise NotImplementedError

# %% [markdown]
# *Where you meet this.* In 16 bits a token takes 36,864 bytes of cache in GPT-2 small, 524,288 in Llama-2-7B and 131,072 in Llama-3-8B, whose keys are shared by four
# heads each. At their full contexts of 1024, 4096 and 8192 tokens these are 36, 2048 and 1024 MiB: for one text of one user.
#
# ## What you can do now
#
# You can predict what attention costs in time and memory, measure it without fooling yourself, decode with a cache, and compute attention in tiles that never hold the
# matrix.
#
# All of this left attention as it is. The next notebook changes it, so that it needs less.
#
# **To read.**
#
# - Milakov and Gimelshein (2018), *Online normalizer calculation for softmax*: one pass instead of two.
# - Dao et al. (2022), *FlashAttention: fast and memory-efficient exact attention with IO-awareness*: the tiles.
# - Pope et al. (2023), *Efficiently scaling transformer inference*: decoding as bytes and multiply-adds.
# - Kwon et al. (2023), *Efficient memory management for large language model serving with PagedAttention*: where to put
#   all these caches.
# - He (2022), *Making deep learning go brrrr from first principles* (horace.io/brrr_intro.html): arithmetic, bandwidth and
#   overhead, and how to tell which one you wait for.
# - Chen (2022), *Transformer inference arithmetic*: this notebook's sums for models that are served.
