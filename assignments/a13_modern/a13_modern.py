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
# | part | you learn |
# |---|---|
# | 1 The block and the cache | shared keys, the block of today, longer contexts, sinks, windows, latent keys |
# | 2 Other weights | bounded scores, weights that don't compete, differences of two softmaxes |
# | 3 Looking inside | what the last layer can say, who made a logit, crowded features, heads that copy |
# | 4 Training and serving | parameters against tokens, drafts, decay and state, bandwidth or arithmetic |
#
# The parts can be done on different days; the three exercises with a ★ are harder than the others. How to work with it:
#
# - Positions count from 0, logarithms are natural unless a base is named.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `W` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - What is *measured on trained models* and no mathematics is said to be so.

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
# The small model of the first notebook was trained on 24 symbols, and rotates its queries and keys. Now it reads 48. Here is what a symbol costs it in the second half of such a text,
# in three ways of running the same weights: as they are, with all positions divided by two, and with another base of the rotations. Which would you take?

# %% tags=["demonstration"]
in_echo = {"second_half": [2.0, 9.4, 0.3], "guessing": [2.4]}


def draw_echo():
    _, axis = plt.subplots(figsize=(6, 2.6), layout="constrained")
    ways = ["as it is", "positions halved", "another base"]
    bars = axis.bar(ways, in_echo["second_half"], color="tab:blue", edgecolor="black")
    axis.axhline(in_echo["guessing"][0], linestyle="--", color="black", label="a guess")
    axis.bar_label(bars, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    axis.set(ylabel="nats", ylim=(0, 10.5))
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* three bars and a dashed line at 2.4 nats, the price of a guess. As it is the model pays 2.0 nats, with positions halved 9.4, with another base 0.3.
#
# *A guess:* Nothing was trained anew. Both ways make slow rotations slower still. Why does one of them ruin the model, and the other one save it? Keep your guess:
# *Longer than trained* comes back to this picture.

# %% [markdown]
# ## 1 The block and the cache
#
# ### Four programs, one average
#
# Before anything new, one ladder from a loop to attention; it shows what attention adds to an average.
# Let every token be replaced by the mean of itself and all tokens before it. There are four programs for that:
#
# 1. **two loops**: for each row $t$, add up the rows $0, \dots, t$ and divide by their number;
# 2. **one matrix**: collect the shares in a table and multiply, $y = W x$;
# 3. **a softmax** of scores that are all 0, where the scores of later tokens are $-\infty$ before the softmax;
# 4. **attention** whose queries are all 0: every score is $0 \cdot k_j = 0$, whatever the keys are.
#
# Worked example, three tokens of width 1, $x = (6, 0, 3)$. By loops $y = (6, 3, 3)$. As a matrix
#
# $$ W = \begin{pmatrix} 1 & 0 & 0 \cr \tfrac12 & \tfrac12 & 0 \cr \tfrac13 & \tfrac13 & \tfrac13 \end{pmatrix},
#    \qquad W x = \begin{pmatrix} 6 \cr 3 \cr 3 \end{pmatrix}, $$
#
# and $W$ is the softmax, row by row, of
#
# $$ \begin{pmatrix} 0 & -\infty & -\infty \cr 0 & 0 & -\infty \cr 0 & 0 & 0 \end{pmatrix} , $$
#
# since $e^0 = 1$ and $e^{-\infty} = 0$. From the third rung there is only one step to attention: let the
# scores differ. The mean becomes a weighted mean, and the data decide about the weights.
#
# Your four tokens are the rows of `x`:

# %%
your_numbers("prefix_ladder")

# %% [markdown]
# 1. `y`: each row replaced by the mean of itself and the rows before it.
# 2. `mean_matrix(n)`: the matrix $W$ of the second program.
#    `causal_weights(S)` for scores `S` of shape `(n, n)`: the weights of the third program, for any finite scores, such as
#    ±1000 as well. `causal_average(x, S=None)` for `x` of shape `(n, d)`: the outputs, the plain prefix means where no
#    scores are given; without a loop over the rows.
# 3. `running`: whoever decodes token by token needs the next mean without going back to all rows. Let `y` be the mean of the
#    rows 0 … t − 1 and `x` the row at position `t` (from 0). What is the mean of the rows 0 … t? A formula in
#    `y`, `x`, `t`.
# 4. Now scores that differ: $S_{ij} = j \log 2$ for all queries $i$. `last_weights`: the weights in the last of
#    four rows. `last_output`: the last row of the output, for your `x`.
# 5. `w`: two layers of *uniform* averaging, four tokens: the second layer averages what came out of the first. With which
#    weights do the four rows of the input enter the last row of the output?

# %% exercise="prefix_ladder"
import numpy as np

y = None             # four rows of two numbers
running = None       # a formula in y, x, t
last_weights = None  # four numbers
last_output = None   # two numbers
w = None             # four numbers


def mean_matrix(n: int) -> "(n, n)":
    """Return the matrix that turns the rows of x into their prefix means.

    >>> mean_matrix(2).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    raise NotImplementedError


def causal_weights(S: "(n, n)") -> "(n, n)":
    """Return the softmax of the scores along the keys, where no key is later than its query.

    >>> causal_weights(np.array([[1.0, 5.0], [2.0, 2.0]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    raise NotImplementedError


def causal_average(x: "(n, d)", S: "(n, n)" = None) -> "(n, d)":
    """Return the weighted mean of each row and those before it; without scores, the plain one.

    >>> causal_average(np.array([[6.0], [0.0], [3.0]])).round(6).tolist()
    [[6.0], [3.0], [3.0]]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* Every decoder is this ladder with learned scores. The uniform rung is where training begins: with small
# random weights all scores are near 0, so an untrained decoder averages its past. The last part says what
# that does in depth. No score prefers the first token, and yet it gains with each layer, because it is in the past of
# everyone: in the last of 1024 rows it has 0.1 % of the weight after one uniform layer, 0.7 % after two, and 90 % after twelve.

# %% [markdown]
# ### Eight queries, two keys
#
# In the notebook on cost you weighed the cache of keys and values, and met the extreme remedy: *one* head of keys
# and values for all query heads (multi-query attention). **Grouped queries** lie between. There are $h$ query heads and $g$
# heads of keys and values, with $h$ a multiple of $g$; neighbouring query heads share one:
#
# $$ \text{query head } j \text{ reads key and value head } \lfloor j / (h/g) \rfloor . $$
#
# Worked example: $h = 6$ and $g = 3$, so that $h/g = 2$. Query heads 0 and 1 read head 0, query heads 2 and 3 read head 1, and
# query head 5 reads head $\lfloor 5/2 \rfloor = 2$. Everything else stays: each query head has its own scores, softmax and output, and
# $W_O$ joins $h$ outputs. $W_K$ and $W_V$ have $g d_k$ columns in place of $h d_k$.
#
# A program can copy keys and values until there are $h$ of each. That is right, and gives away what was won: a step of
# decoding then writes and reads the large arrays after all. Broadcasting does without copies.
#
# 1. `gqa(Q, K, V, mask=None)` for `Q` of shape `(…, h, n, d_k)`, `K` of shape `(…, g, m, d_k)` and `V` of shape `(…, g, m, d_v)`
#    returns `(…, h, n, d_v)`, with scores divided by $\sqrt{d_k}$. True in a mask means "may attend"; it has the shape
#    `(…, h, n, m)` or one that broadcasts to that, such as `(n, m)`. Where $h$ is no multiple of $g$, raise a ValueError. No array has
#    $h \cdot m \cdot d_k$ entries for large $m$.
# 2. A model of width $d = 4096$ with $h = 32$ query heads, $d_k = d_v = 128$ and no biases. `parameters`: the weights of
#    $W_Q$, $W_K$, $W_V$ and $W_O$ of one layer together, for $g = 32$, 8 and 1.
# 3. The same model has 32 layers and caches numbers of two bytes. `bytes_per_token`: the bytes of cache for each token,
#    for the same $g$. `gib`: the cache of 8192 tokens in GiB ($2^{30}$ bytes).
# 4. A model with more key heads can be turned into one with fewer, and then trained on for a short time. One begins with the *mean*
#    of the matrices of each group. Take $d = 2$ and $d_k = 1$, so that $W_K$ has one column for each head, and let
#    `heads` hold the columns of four key heads as rows. `W`: the two heads after pooling, as rows as well.

# %%
your_numbers("gqa")

# %% [markdown]
# 5. `shrinks`: what shrinks when $g$ falls, with $h$, $d_k$ and the number of tokens as they are? (All letters that apply. Wrong
#    letters take away.)

# %% exercise="gqa"
import numpy as np

parameters = None       # three whole numbers, for g = 32, 8, 1
bytes_per_token = None  # three whole numbers
gib = None              # three numbers
W = None                # two rows of two numbers
shrinks = None          # letters, as in "AE"


def gqa(
    Q: "(…, h, n, d_k)", K: "(…, g, m, d_k)", V: "(…, g, m, d_v)", mask: "(…, h, n, m)" = None
) -> "(…, h, n, d_v)":
    """Return attention in which query head j reads key and value head j // (h/g).

    >>> V = np.array([[[1.0]], [[2.0]]])
    >>> gqa(np.zeros((4, 1, 1)), np.zeros((2, 1, 1)), V).ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* Llama-2-7B has $g = h = 32$. Llama-3-8B and Mistral-7B have 32 query heads and 8 heads of keys and values in each of
# 32 layers, Llama-3-70B has 64 and 8. That the quality stays close to that of $h$ key heads is *measured on trained models*
# (Ainslie et al., 2023); your counts are exact.

# %% [markdown]
# ### The block that replaced the one of 2017
#
# You know nearly all of its pieces. The norm stands *in front* of each sublayer, so that the stream
# itself is only added to (sixth notebook). It is RMSNorm, with a gain for each feature and no shift. Queries and keys are rotated by their
# positions (fifth notebook), and key heads are shared. There are no biases. New is the feed-forward layer, **SwiGLU**:
# two matrices read the input, one of the two results passes through $\operatorname{silu}(z) = z \sigma(z)$, with
# the logistic function $\sigma(z) = 1/(1 + e^{-z})$, and gates the other one, entry by entry:
#
# $$ \operatorname{SwiGLU}(x) = \bigl(\operatorname{silu}(x W_\text{gate}) \odot (x W_\text{up})\bigr) W_\text{down} . $$
#
# Worked example: $x = 1$, $W_\text{gate} = (3, -3)$, $W_\text{up} = (2, 4)$, $W_\text{down} = (1, 1)^\top$. The gate is
# $(\operatorname{silu}(3), \operatorname{silu}(-3)) = (2.858, -0.1423)$, the hidden vector $(2.858 \cdot 2, -0.1423 \cdot 4) = (5.715, -0.5691)$,
# and the output 5.146.
#
# The whole block, for $x$ of shape $(n, d)$:
#
# $$ u = x + \operatorname{Attention}\bigl(\operatorname{RMS}_1(x)\bigr), \qquad
#    y = u + \operatorname{SwiGLU}\bigl(\operatorname{RMS}_2(u)\bigr) . $$
#
# This exercise builds on your `gqa` from above and on your `rope` from the notebook on positions. Save that notebook, and run this
# cell: your own code comes in its place.

# %%
carry("rope_apply")

# %% [markdown]
# 1. `silu_values`: silu at −2, −1, 0, 1, 2.
# 2. A small SwiGLU: `x` has two features, `gate` and `up` are $W_\text{gate}$ and $W_\text{up}$, `down` is $W_\text{down}$.
#    `hidden`, `out`: the hidden vector, and the output. (Your `sizes` are for later.)

# %%
your_numbers("modern_block")

# %% [markdown]
# 3. `modern_block(x, P, h, g, base=10000.0, eps=1e-5, positions=None)` for `x` of shape `(…, n, d)`, with $h$ query heads and $g$
#    heads of keys and values. `P` holds the arrays `wq` $(d, d)$, `wk` and `wv` $(d, g d/h)$, `wo` $(d, d)$, `gate` and `up` $(d, f)$,
#    `down` $(f, d)$, and the gains `norm1`, `norm2` $(d,)$. Matrices are multiplied from the right, as in `x @ P["wq"]`; head 0 has the first columns.
#    - The norms divide by $\sqrt{\tfrac1d \sum_j x_j^2 + \varepsilon}$ and multiply by the gains.
#    - Queries and keys are rotated in every head, by `positions` (0 … n − 1 where none are given) and with `base`, neighbouring columns being a pair.
#    - Attention is causal, with scores divided by $\sqrt{d/h}$.
# 4. `parameters`: *all* parameters of two models. `sizes` has a row for each of them, $(V, d, L, h, g, f)$: vocabulary, width, blocks, query
#    heads, key heads, hidden width. Embedding ($V \times d$) and output matrix are two matrices; in front of the output matrix stands a final RMSNorm.
# 5. `f`: a ReLU layer has two matrices, $d \times 4d$ and $4d \times d$. For which hidden width does SwiGLU have as many weights? A
#    formula in `d`.
# 6. `exact`: which of these are exactly true, for all weights and inputs that are not 0? (All letters that apply. Wrong letters take away.)

# %% exercise="modern_block"
import numpy as np

silu_values = None  # five numbers
hidden = None       # three numbers
out = None          # two numbers
parameters = None   # two whole numbers
f = None            # a formula in d
exact = None        # letters, as in "BE"


def modern_block(
    x: "(…, n, d)", P: dict, h: int, g: int, base=10000.0, eps=1e-5, positions: "(n,)" = None
) -> "(…, n, d)":
    """Return x + attention(RMS(x)), and to that added what SwiGLU makes of its RMS.

    >>> P = {name: np.zeros((2, 2)) for name in ("wq", "wk", "wv", "wo", "gate", "up", "down")}
    >>> P["norm1"] = P["norm2"] = np.ones(2)
    >>> modern_block(np.array([[3.0, 4.0]]), P, 1, 1).tolist()
    [[3.0, 4.0]]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* With $(V, d, L, h, g, f) = (32000, 4096, 32, 32, 32, 11008)$ your count gives 6,738,415,616, the published size of
# Llama-2-7B; with $(128256, 4096, 32, 32, 8, 14336)$ it gives 8,030,261,248, that of Llama-3-8B. The 11,008 is your formula
# at $d = 4096$, rounded up to a multiple of 256; Llama-3-8B chose a wider layer. GPT-J and PaLM let both sublayers read the same normalised $x$ (a *parallel* block): another function, and a
# legitimate one. That the block of today trains better than the one of 2017 is *measured on trained models*.

# %% [markdown]
# ### Longer than trained
#
# In the notebook on positions each pair $i$ of columns turned by $\theta_i = b^{-2i/d}$ for every position, with the base
# $b$ and $d$ columns in a head. A score depends on the difference of two positions alone, so nothing seems to stand in the way of a longer text. But
# a model has only learned with the angles that it has met. The wavelength $2\pi/\theta_i$ of a slow pair can be longer than the texts in
# training: such a pair has never come round, and at later positions it shows angles that the model has never seen. How many pairs are that after training on 4096 tokens,
# and does a larger base make them fewer?

# %% tags=["demonstration"]
if plt:
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for style, base in (("ko", 1e4), ("k^", 5e5)):
        axes.semilogy(2 * np.pi * base ** (np.arange(0, 32, 2) / 32), style, mfc="none", label=f"base {base:.0f}")
    axes.axhline(4096, color="k", lw=0.8)
    axes.set(xlabel="pair", ylabel="wavelength in tokens")
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the wavelengths of the 16 pairs of a head of width 32, on a logarithmic axis, and a line at 4096 tokens. They grow by a constant factor from
# pair to pair, from $2\pi = 6.283$ on. With the base 10,000 (circles) the last four lie above the line, with 500,000 (triangles) the last eight: a larger base leaves more pairs incomplete.
#
# Two ways are common to make the context $s$ times longer.
#
# - **Interpolation** (`"pi"`): all positions are divided by $s$, which is the same as dividing every $\theta_i$ by $s$.
# - **Another base** (`"ntk"`): the base is replaced by a larger one, such that the *slowest* pair ($i = d/2 - 1$) turns exactly
#   $s$ times more slowly. The fastest pair ($i = 0$) turns by 1 for any base. (The name comes from the forum post that proposed it.)
#
# Worked example with $d = 4$, $b = 100$ and $s = 3$: two pairs, $\theta = (1,\ 100^{-1/2}) = (1,\ 0.1)$. Interpolation makes it $(0.3333,\ 0.03333)$. With
# the base 900 it is $(1,\ 900^{-1/2}) = (1,\ 0.03333)$: here 900 is what is looked for.

# %%
your_numbers("rope_scaling")

# %% [markdown]
# 1. `new_base`: the base for which the slowest pair turns $s$ times more slowly than with the base $b$. A formula in `b`, `s`, `d`.
# 2. `bases`: that base for $b = 10000$, your `d`, and both factors in `s`.
# 3. `pairs`: for how many of the $d/2$ pairs is the wavelength longer than the texts in training? For each row of `models`, which has the
#    base and the number of tokens of published models, and your `d`.
# 4. `rope_frequencies(d, base=10000.0, s=1.0, method="none")` returns the $d/2$ angles per position: unscaled for `"none"`, whatever $s$
#    is, interpolated for `"pi"`, with the new base for `"ntk"`. Raise a ValueError for $s < 1$, and for `"ntk"` with $d = 2$.
# 5. `scores`: take the first pair alone, and $q = k = (1, 0)$, before they are rotated, one token apart. Their product $q \cdot k$ after the
#    rotation: unscaled, and with interpolation by $s = 4$.
# 6. `statements`: a model with $d = 128$ and $b = 10000$, trained on 4096 tokens, is used up to position 16383 with $s = 4$. Call a pair
#    *incomplete* if its wavelength is longer than 4096, and call the angles from 0 to $4096 \theta_i$ its *trained range*. Which are true? (All letters
#    that apply. Wrong letters take away.)

# %% exercise="rope_scaling"
import numpy as np

new_base = None    # a formula in b, s, d
bases = None       # two numbers
pairs = None       # two whole numbers
scores = None      # two numbers
statements = None  # letters, as in "DE"


def rope_frequencies(d: int, base=10000.0, s=1.0, method="none") -> "(d/2,)":
    """Return what each pair turns by in one step, where the context shall grow by the factor s.

    >>> rope_frequencies(4, 100.0, 3.0, "pi").round(4).tolist()
    [0.3333, 0.0333]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* Interpolation stretched Llama from 2048 to 32,768 tokens, with a short training at the new length (Chen et al., 2023). Llama-3-8B is
# trained with the base 500,000 and 8192 tokens from the beginning. YaRN (Peng et al., 2023) divides the slow pairs, leaves the fast
# ones alone, and blends in between. How good a model is afterwards is *measured on trained models*; that the angles stay in a
# range is arithmetic. The small model of the eleventh notebook, which repeats motifs and was trained on 24 symbols, does on 48 symbols what such tables
# show, without any further training (the picture at the beginning): in the second half a symbol costs it 2.0 nats unscaled (guessing costs 2.4), 9.4 with interpolation by 2, and 0.3
# with the other base. The price is paid in the first half: on what is said again there, 0.001 nats become 7 by interpolation, and 0.2 by the other base.

# %% [markdown]
# ### Somewhere to look when there is nothing to see
#
# The weights of a softmax sum to 1, so a head that has found nothing must still bring something. In trained models such heads put
# nearly all of their weight on the first token, whatever it is (*measured on trained models*; Xiao et al., 2023): a **sink**, into which weight can
# flow without doing harm. Two things follow.
#
# **A sink can be built in.** Put one more term into the denominator, a 1, which is $e^0$: a key of score 0 whose value is 0.
#
# $$ \operatorname{softmax}_1(s)_i = \frac{e^{s_i}}{1 + \sum_k e^{s_k}}, \qquad \text{and with a sink of score } b: \quad \frac{e^{s_i}}{e^b + \sum_k e^{s_k}} . $$
#
# Worked example: $s = (1, -1)$. The denominator is $1 + e + e^{-1} = 4.086$, the weights are 0.6652 and 0.09003, and together 0.7553: the rest,
# 0.2447, goes nowhere. The ordinary softmax has 0.8808 and 0.1192. If both scores were 3 lower, the two weights would be 0.1173 and 0.01588.
#
# **A natural sink must be kept.** A cache that holds only the newest $w$ tokens drops the first one, on which the model relies. So one keeps a few
# first tokens for good, and the window.
#
# Can a head with a built-in sink fall silent? How far would all of its scores have to sink until half of the weight goes nowhere?

# %% tags=["demonstration"]
if plt:
    shift = np.linspace(-8, 8, 200)
    mass = (np.e + 1 / np.e) * np.exp(shift)
    figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
    axes.plot(shift, np.ones(200), "k--", label="softmax")
    axes.plot(shift, mass / (1 + mass), "k-", label="with a 1")
    axes.set(xlabel="added to both scores", ylabel="sum of the weights", ylim=(0, 1.1))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the sum of the weights for the scores $(1, -1)$ with something added to both, from −8 to 8. For the softmax it is 1 throughout. With a 1 in
# the denominator it rises from 0.001 on the left through 0.5 at −1.127 to 0.9999 on the right: the head can be switched off.

# %%
your_numbers("attention_sinks")

# %% [markdown]
# 1. `steps`: let $L = \log \sum_k e^{s_k}$, and let $p$ be the ordinary softmax. Lead `exp(s_i)/(1 + sum(exp(s_k), k))` to
#    `p_i/(1 + exp(-L))`, one equality a line. Rules: *definition* (of $L$ and $p$) and algebra. One rule a line, please.
# 2. `weights`: the weights with a 1 in the denominator for your `s`. `total`: their sum. `lowered`: the sum if all three scores are
#    5 lower.
# 3. `softmax1(x, axis=-1, sink=0.0)`: these weights along an axis, with $e^\text{sink}$ in place of the 1. Scores may be ±1000 or $-\infty$ (right results count, warnings don't); a row of
#    nothing but $-\infty$ gives zeros. `sink=-np.inf` is the ordinary softmax.
# 4. `sink_attention(Q, K, V, w, sinks)` for shapes `(n, d)`, `(n, d)`, `(n, d_v)`: ordinary softmax attention, with scores divided by $\sqrt d$, in which query $i$ sees
#    key $j$ if $j \le i$ and, besides, $j > i - w$ or $j < \texttt{sinks}$. (Here `w` counts the token itself.)
# 5. `edges`: the allowed pairs of query and key for your `n`, `w`, `sinks`. `cached`: how many tokens are kept when token 5000 has come
#    (counted from 0, itself included), with a window of 1020 and 4 sinks?
# 6. `sink_score`: which score must a sink have, so that $m$ other keys, all of score 0, keep the weight $\varepsilon$ *together*? A formula in `m`, `epsilon`.

# %% exercise="attention_sinks"
import numpy as np

steps = None       # a list of lines
weights = None     # three numbers
total = None       # one number
lowered = None     # one number
edges = None       # a whole number
cached = None      # a whole number
sink_score = None  # a formula in m, epsilon


def softmax1(x: "array", axis: int = -1, sink: float = 0.0) -> "array, same shape as x":
    """Return exp(x_i)/(exp(sink) + Σ exp(x_k)) along an axis.

    >>> softmax1(np.array([0.0, 0.0, 0.0])).tolist()
    [0.25, 0.25, 0.25]
    """
    raise NotImplementedError


def sink_attention(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", w: int, sinks: int) -> "(n, d_v)":
    """Return causal attention in a window of w keys and to the first tokens.

    >>> sink_attention(np.zeros((4, 1)), np.zeros((4, 1)), np.array([[8.0], [5], [4], [2]]), 1, 1).ravel().tolist()
    [8.0, 6.5, 6.0, 5.0]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* StreamingLLM (Xiao et al., 2023) keeps 4 first tokens and a window, and lets models of the Llama family run over
# millions of tokens with a cache of fixed size; without the 4 the loss explodes as soon as the first token is dropped (*measured on trained models*).
# The open models gpt-oss of 2025 learn one sink score $b$ for each head. Your last formula says how strong a sink must be: to leave
# 1 % to a thousand keys of score 0 it needs a score between 11 and 12.

# %% [markdown]
# ### A buffer of w slots
#
# In the notebook on cheaper attention a window went to both sides. In a decoder it goes back only: every token sees itself
# and the $w - 1$ tokens before it, in each of $L$ layers. (So $w$ counts the token itself.) Two questions: how far does such a model see, and what must be
# kept?
#
# Worked example, $w = 2$, $L = 2$, all weights uniform. In the first layer token 9 takes half of itself and half of token 8; in the
# second layer, half of what token 9 has become and half of what token 8 has become: a quarter of token 9, a quarter of token 8 by way of 9,
# a quarter of token 8 by way of itself, and a quarter of token 7. So three tokens reach the output, with $\tfrac14, \tfrac12, \tfrac14$.
#
# For decoding, $w$ keys and values are enough in each layer. One keeps them in $w$ **slots**, and writes token $t$ into slot $t \bmod w$: once around, it overwrites
# the one that has just left the window. With $w = 3$ the slots hold after tokens 0, 1, 2, 3, 4:
#
# | slot | $t = 0$ | $t = 1$ | $t = 2$ | $t = 3$ | $t = 4$ |
# |---|---|---|---|---|---|
# | 0 | 0 | 0 | 0 | 3 | 3 |
# | 1 | – | 1 | 1 | 1 | 4 |
# | 2 | – | – | 2 | 2 | 2 |
#
# Is the order of the slots harmless? Attention does not see the order of its keys; and rotary positions are put into the keys before
# they are stored, so that each key carries its own.

# %%
your_numbers("rolling_window")

# %% [markdown]
# 1. `reach`: how many tokens of the input can reach one late output (itself included) in a model of $L$ layers with windows of $w$? A
#    formula in `L`, `w`.
# 2. `share`: all weights uniform, with your `w` and `L`. The weight of each reachable token in a late output, the oldest first.
# 3. `cache_bytes`: 32 layers, 32 query heads on 8 heads of keys and values of width 128, two bytes for each number. The bytes of cache with $w = 4096$, when the
#    slots are full; and without a window at 32,768 tokens.
# 4. `slots`: another cache with `size` slots, tokens counted from 0. Which tokens stand in slots 0, 1, … after token `t`?
# 5. `new_state(w, d_k, d_v)` returns an empty cache for one head, a dictionary of three entries: `K` $(w, d_k)$, `V` $(w, d_v)$ and `t`, the number of
#    tokens so far, 0. `window_step(state, q, k, v)` for `q`, `k` of shape `(d_k,)` and `v` of shape `(d_v,)` returns
#    `(new_state, out)`: the state with the token in its slot, and its output of shape `(d_v,)`, with scores divided by $\sqrt{d_k}$. Mind the
#    first $w - 1$ tokens. The old state must stay usable, and no step gets more expensive than others.

# %% exercise="rolling_window"
import numpy as np

reach = None        # a formula in L, w
share = None        # as many numbers as there are reachable tokens
cache_bytes = None  # two whole numbers
slots = None        # as many whole numbers as there are slots


def new_state(w: int, d_k: int, d_v: int) -> dict:
    """Return an empty cache: w slots for keys and for values, and the number of tokens so far.

    >>> state = new_state(4, 3, 2)
    >>> state["K"].shape, state["V"].shape, state["t"]
    ((4, 3), (4, 2), 0)
    """
    raise NotImplementedError


def window_step(state: dict, q: "(d_k,)", k: "(d_k,)", v: "(d_v,)") -> "dict, (d_v,)":
    """Return the state with this token in it, and what the token sees in its window.

    >>> empty = {"K": np.zeros((2, 1)), "V": np.zeros((2, 1)), "t": 0}
    >>> state, out = window_step(empty, np.ones(1), np.ones(1), np.array([8.0]))
    >>> state["V"].ravel().tolist(), state["t"], out.tolist()
    ([8.0, 0.0], 1, [8.0])
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* Mistral-7B has $w = 4096$ and 32 layers, so that about 131,000 tokens *can* reach an output. Reach is not influence: in the
# example above the oldest of three tokens has a quarter, and with uniform weights and three layers of $w = 4096$ the oldest has a share of
# $4096^{-3} = 1.5 \cdot 10^{-11}$. Gemma 2 and gpt-oss therefore alternate windows with full attention, layer by layer.

# %% [markdown]
# ### Keys that are never built
#
# Grouped queries make the cache smaller by having fewer keys. There is another way: keep *one short
# vector* for each token, and make the keys of all heads from it. Let $c_j$ be this **latent** vector, $d_c$
# numbers, which is all that is cached of token $j$. A head reads its key $k_j = c_j W_{UK}$ and its value
# $v_j = c_j W_{UV}$ off it. (U is for "up": from $d_c$ numbers to $d_k$.) That would be a bad bargain if every step
# had to build the keys of a thousand tokens anew. It needn't. A score is a product of three factors, and brackets
# can be put in two ways:
#
# $$ q \cdot (c_j W_{UK}) = (q\, W_{UK}^\top) \cdot c_j . $$
#
# On the right, the query **absorbs** the matrix once, and then meets what is cached, for all tokens. One line as an
# example: with $W_{UK}$ of the rows $(2, 1)$ and $(0, 3)$, $c = (1, -1)$ and $q = (1, 2)$ the key is $(2, -2)$ and
# the score $-2$; the absorbed query is $q' = (2 \cdot 1 + 1 \cdot 2,\ 0 \cdot 1 + 3 \cdot 2) = (4, 6)$, and
# $q' \cdot c = 4 - 6 = -2$ again. The same holds behind the weights:
# $\sum_j a_j (c_j W_{UV}) = \bigl(\sum_j a_j c_j\bigr) W_{UV}$. (In the fourth notebook a head came down to two
# products, $W_Q W_K^\top$ and $W_V W_O$. It is the same idea.)
#
# Positions need an extra: a small key $k_r$ of $d_r$ numbers, rotated as in the fifth notebook. **One for all
# heads** is cached beside $c$. Each head has a rotated query $q_r$ for it. The score of a head is
#
# $$ \frac{q \cdot k_j + q_r \cdot k_{r,j}}{\sqrt{d_k + d_r}} . $$
#
# That is what attention would do with the key $(k_j, k_{r,j})$, of $d_k + d_r$ numbers. For the first three answers
# take `W_UK`, `c` and `q`, for the others the sizes:

# %%
your_numbers("mla")

# %% [markdown]
# 1. `key`, `score`, `absorbed`: your key $c\, W_{UK}$, the product $q \cdot k$ (not divided), and the absorbed
#    query.
# 2. `cached`: how many numbers are cached per token and layer, for `h` heads with keys and values of width `d_k`?
#    In this order: each head keeps keys and values of its own; `g` key/value heads are shared, as in grouped
#    queries; the latent form with `d_c` and `d_r`. (In the first two, rotated keys take no extra room.)
# 3. `mla(q, q_r, c, k_r, W_UK, W_UV, mask=None)` gives the outputs of all heads, `(h, n, d_v)`, without building
#    keys or values. `mask`, of shape `(n, m)`, says where a query may attend; each query has some such token. Scores may be in the thousands.
# 4. `madds`: the madds of scores and weighted sum for *one* query of every head, with `m` cached tokens and values
#    of width `d_k`: keys of width `d_k + d_r` and values that are stored; the absorbed form, of which the products
#    of the single query with $W_{UK}$ and $W_{UV}$ are left out; keys and values built from `c` for this one query,
#    and then used.
# 5. `why_apart`: why is the rotation kept out of the latent part?

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
# *Where you meet this.* DeepSeek-V2 has 128 heads of width 128 in each of 60 layers, a latent vector of 512 numbers
# and a rotated key of 64. At two bytes a number that is 69,120 bytes for each token, where keys and values of all
# heads would take 3,932,160. The price is arithmetic: queries meet latents of 512 numbers in place of keys of 128.
# When a token is decoded, reading is mostly what takes the time; the last part of this notebook says when.

# %% [markdown]
# ## 2 Other weights

# %% [markdown]
# ### Scores on a leash
#
# Queries and keys grow while a model is trained, and scores grow like their product. In the third
# notebook large scores made softmax hard and its gradients small. In large models this can run away: rows become
# one-hot, their entropy falls towards 0, and the loss jumps (*measured on trained models*, where it is called
# entropy collapse). Two leashes are in use, and both can be understood with a pencil.
#
# **A cap** bends every score, $s \mapsto c \tanh(s/c)$. Nothing exceeds $c$, and small scores stay nearly what they
# are: with $c = 10$ a score of 3 becomes $10 \tanh 0.3 = 2.913$. **A gain** replaces $1/\sqrt{d_k}$: queries and
# keys are divided by their lengths first, so that a score is $g$ times the cosine of an angle, and lies between
# $-g$ and $g$.
#
# Why a tanh, and not simply a clip at $c$? Ask what becomes of the gradient of a score of 15 under each.

# %% tags=["demonstration"]
def draw_cap(c):
    s = np.linspace(-40, 40, 200)
    figure = plt.Figure(figsize=(5.5, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(s, c * np.tanh(s / c), "k-", label=f"{c} tanh(s/{c})")
    axes.plot(s, np.clip(s, -c, c), "k--", label=f"clipped at {c}")
    axes.set(xlabel="score $s$", ylabel="what softmax gets", ylim=(-42, 42))
    axes.legend()
    return figure, f"A cap of {c}: a score of 3 becomes {c * np.tanh(3 / c):.3f}, one of 40 {c * np.tanh(40 / c):.2f}."


if plt:
    moving(draw_cap, "cap", [2, 5, 10, 20, 40], 10)

# %% [markdown]
# *The picture:* a cap of 10 beside a clip, for scores from −40 to 40. Around 0 both follow the diagonal. The clip
# has corners at ±10, beyond which it is flat and passes no gradient. The cap leaves the diagonal earlier, without a
# corner, and approaches ±10; it still rises everywhere, if ever less. A smaller cap bends earlier; one of 40 leaves scores up to 10 nearly what they are.
#
# 1. `slope`: the derivative of $c \tanh(s/c)$ with respect to $s$, a formula in `s` and `c`. (The derivative of
#    $\tanh x$ is $1 - \tanh^2 x$.) `capped`, `slopes`: the capped scores and the slopes there, for your `cap` and
#    your three scores `s`.
# 2. `smallest`: with a gain $g$ all scores lie between $-g$ and $g$. What is the smallest $g$ with which one of $n$
#    keys can get the weight $p$? A formula in `n` and `p`. `smallest_here`: that gain for your `n` and `p`.

# %%
your_numbers("logit_control")

# %% [markdown]
# 3. `bound_steps`: how flat must a row be? The entropy of weights $p_k$ is $-\sum_k p_k \log p_k$. Show that it is
#    at least $-\log$ of the largest weight: lead `sum(p_k*log(p_k), k)` to `max(log(p_k), k)`, one line a step. A
#    line may begin with `<=` or `=`. Rules: *largest term* (each term of a sum with positive weights is at most
#    that with the largest factor), *weights sum to one*. You may write the reason behind a line,
#    `…  # largest term`. Let the largest logarithm stand as `max(log(p_k), k)` throughout.
# 4. `least`: no weight exceeds the one of a key at $+g$ whose rivals all are at $-g$. With 3 you get a bound that
#    every row obeys: for 4 keys the entropy is at least $\log(1 + 3 e^{-2g})$, which is 0.3408 at $g = 1$. `least`
#    holds the bound for 100 keys at $g = 1, 3, 5$. (The entropy of equal weights is $\log 100 = 4.605$.)
# 5. `W`: without a leash, matrices decide. Four tokens $X$ with the rows $(1, 0)$, $(0, 1)$, $(-1, 0)$, $(0, -1)$
#    have the scores $X W X^\top / \sqrt 2$, where $W = W_Q W_K^\top$ is 2 × 2. Find a $W$ of spectral norm (largest
#    singular value) at most 12, with which every row of the weights has an entropy below 0.01 and its largest
#    weight on the *next* token; the last one looks at the first.
# 6. `leashed_attention(Q, K, V, gain=None, cap=None, mask=None)` for one head. If a gain is given, rows of `Q` and
#    `K` are divided by their lengths and the scores are `gain` times the products, without $1/\sqrt{d_k}$; rows of
#    zeros have scores of 0. If a cap is given, it comes next. The mask, `(n, m)`, comes last.

# %% exercise="logit_control"
import numpy as np

slope = None          # a formula in s and c
capped = None         # three numbers
slopes = None         # three numbers
smallest = None       # a formula in n and p
smallest_here = None  # one number
bound_steps = None    # a list of lines
least = None          # three numbers
W = None              # two rows of two numbers


def leashed_attention(
    Q: "(n, d_k)", K: "(m, d_k)", V: "(m, d_v)", gain: float | None = None, cap: float | None = None,
    mask: "(n, m), True: may attend" = None,
) -> "(n, d_v)":
    """Return the outputs of attention with bounded scores.

    >>> leashed_attention(np.array([[9.0]]), np.array([[1.0], [5.0]]), np.array([[1.0], [3.0]]), gain=2.0)
    array([[2.]])
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* Gemma 2 caps the scores of attention at 50 and the logits of the output at 30. Gemma 3
# dropped the cap and normalises queries and keys instead, as OLMo 2 and Qwen3 do, with an RMSNorm that has learned
# gains. A cap stands between the product $QK^\top$ and the softmax, so that a fused kernel has to know it; norms of
# queries and keys are computed outside. What you derived in 3 is a statement about norms as well: scores of unit
# tokens are at most the spectral norm of $W$, divided by $\sqrt 2$ here, so rows of four tokens with an entropy
# below 0.01 need a norm of at least 4.03. Keep the norms down, and entropy can't collapse. That large models run
# away in this direction without a leash is *measured on trained models*.

# %% [markdown]
# ### Weights without competition
#
# A softmax makes the keys of a row compete: what one of them gets, the others lose. Every weight
# needs the whole row. Sigmoid attention gives each key a weight of its own,
#
# $$ a_j = \sigma(s_j + b), \qquad \sigma(x) = \frac{1}{1 + e^{-x}}, $$
#
# with a **bias** $b$ that is the same for all keys. Its default is $-\log n$ for $n$ keys. Example: two keys with
# the scores 0 and 1 and the bias $-\log 2$ have $\sigma(-0.693) = 0.333$ and $\sigma(0.307) = 0.576$, together
# 0.909. Softmax would give 0.269 and 0.731. Nothing makes a row add up to 1, so outputs are no averages any more,
# and can leave the hull of the values (the second notebook had them confined to it).

# %%
your_numbers("sigmoid_attn")

# %% [markdown]
# 1. `row_sum`: what do the weights of a row of $n$ scores that are all 0 add up to, with $b = -\log n$? A formula
#    in `n`. `unit_bias`: with which $b$ would that sum be exactly 1? A formula in `n`.
# 2. `weights`, `total`: the weights of your three scores `s` with $b = -\log 3$, and their sum.
# 3. `steps`: softmax can be written as a sigmoid as well. In the first notebook you did it for two scores; now let
#    there be any number. Let $t$ be the score of one key, let $s_k$ be those of *all others*, and
#    $L = \log \sum_k e^{s_k}$. Lead its softmax weight
#
#    `exp(t)/(exp(t) + sum(exp(s_k), k))`
#
#    to $\dfrac{1}{1 + e^{-(t - L)}}$, one step a line. Rules: *definition* (of `L`), *linearity of sums* (a factor
#    goes in or out); the rest is algebra.
# 4. `sigmoid_attention(Q, K, V, bias=None, mask=None)` for one head, with scores $QK^\top/\sqrt{d_k}$. The default
#    bias counts all keys, masked ones too. A key that the mask blocks has the weight 0. Scores of ±1000 give
#    weights of 1 and 0 without a warning.

# %% exercise="sigmoid_attn"
import numpy as np

row_sum = None    # a formula in n
unit_bias = None  # a formula in n
weights = None    # three numbers
total = None      # one number
steps = None      # a list of lines


def sigmoid_attention(
    Q: "(n, d_k)", K: "(m, d_k)", V: "(m, d_v)", bias: float | None = None,
    mask: "(n, m), True: may attend" = None,
) -> "(n, d_v)":
    """Return σ(Q Kᵀ/√d_k + bias) V; the bias is -log(m) unless one is given.

    >>> sigmoid_attention(np.zeros((1, 1)), np.zeros((2, 1)), np.array([[1.0], [3.0]]), bias=0.0)
    array([[2.]])
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* So softmax *is* a sigmoid, with a bias that it computes from the rivals of each key; a
# fixed bias treats all rivals alike. That models trained with one are as good is *measured on trained models*
# (Ramapuram et al. 2024), and so is that they learn badly at first if the bias is left out. What one gains is
# simple: no sum over a row is needed, so a tiled kernel has nothing to rescale (compare the online softmax of the
# eighth notebook), and a row without allowed keys is 0 by itself (compare the dead rows of the third). The trick
# with the bias is older than this: SigLIP, which matches pictures and texts by sigmoids, starts with a bias of −10.

# %% [markdown]
# ### Subtracting the noise
#
# A softmax never gives a key nothing, so a long text takes much weight away from the few tokens that
# matter, a little each. An amplifier for weak signals has two inputs and returns their difference: what disturbs
# both is gone. Differential attention does this with two maps. It has two sets of queries and keys and one set of
# values, and the weights
#
# $$ a = \operatorname{softmax}(s_1) - \lambda \operatorname{softmax}(s_2), $$
#
# where $\lambda$ is a number that is learned. Example: the scores $(\log 3, 0)$ and $(0, 0)$ with $\lambda = 0.2$
# give $(0.75, 0.25) - 0.2 \cdot (0.5, 0.5) = (0.65, 0.15)$.
#
# Who loses by that: the key that matters, or the others?

# %% tags=["demonstration"]
if plt:
    noise = np.random.default_rng(4).normal(size=32)
    relevant = np.where(np.arange(32) == 10, 3, 0)
    first, second = (np.exp(s) / np.exp(s).sum() for s in (noise + relevant, noise))
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    axes.bar(np.arange(32) - 0.2, first, 0.4, color="0.7", label="first map")
    axes.bar(np.arange(32) + 0.2, first - 0.6 * second, 0.4, color="0.1", label="difference, λ = 0.6")
    axes.set(xlabel="key", ylabel="weight")
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the weights of one query over 32 keys with random scores. The first map knows that key 10 matters
# and adds 3 to its score, the second one doesn't. Before, key 10 has the weight 0.344 and the other keys have 0.656
# together. In the difference key 10 has 0.329, and the other bars are short: 0.071 together. (Here both maps have
# the same noise. That trained models come near this, with less weight on what doesn't matter, is *measured on
# trained models*.)

# %%
your_numbers("diff_attn")

# %% [markdown]
# 1. `a`: the weights of your scores `s1` and `s2`, with $\lambda = \tfrac12$.
# 2. `row_sum`: what do such weights add up to? A formula in `lam`.
# 3. `lam`, `left`: now let $s_1 = (t, 0, 0, 0)$ with your `t`, and $s_2 = (0, 0, 0, 0)$. Which $\lambda$ takes away
#    exactly all of the weight that the three equal keys have? And which four weights are left?
# 4. `s`: in the second notebook no output could leave the hull of the values. Let the values be $(0, 0)$, $(1, 0)$
#    and $(0, 1)$, and $\lambda = \tfrac12$. Find scores, $s_1$ and $s_2$ as rows, for which the output, *divided by
#    the sum of the weights*, lies outside of their triangle.
# 5. `diff_attention(Q1, K1, Q2, K2, V, lam, mask=None)`. Scores are divided by $\sqrt{d_k}$, the width of `Q1` and
#    of `Q2`. Axes in front belong to a batch. Nothing is divided afterwards.

# %% exercise="diff_attn"
import numpy as np

a = None        # four numbers
row_sum = None  # a formula in lam
lam = None      # one number
left = None     # four numbers
s = None        # two rows of three scores


def diff_attention(
    Q1: "(…, n, d_k)", K1: "(…, m, d_k)", Q2: "(…, n, d_k)", K2: "(…, m, d_k)", V: "(…, m, d_v)",
    lam: float, mask: "(n, m), True: may attend" = None,
) -> "(…, n, d_v)":
    """Return the outputs of the first attention minus lam times those of the second.

    >>> zeros = np.zeros((2, 1))
    >>> diff_attention(zeros, zeros, zeros, zeros, np.array([[1.0], [3.0]]), 0.25)
    array([[1.5],
           [1.5]])
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* In the Differential Transformer the two maps take the place of two heads, so that it costs
# what an ordinary one does. $\lambda$ starts at $0.8 - 0.6\, e^{-0.3 (l - 1)}$ in layer $l = 1, 2, \dots$: 0.2 in
# the first, 0.356 in the second and 0.778 in the twelfth. (Count the layers from 0 in that formula, and each layer
# gets the number of the one before it, the first −0.01.) The outputs of a head are normalised and multiplied by 1 minus this starting value.

# %% [markdown]
# ## 3 Looking inside

# %% [markdown]
# ### One hidden vector, too many futures
#
# The last step of a language model multiplies a hidden vector $h$ of $d$ numbers with an output
# vector for each of $V$ tokens, and takes a softmax. Write $n$ contexts as the rows of $H$ and the output vectors
# as the rows of $W$: without an output bias, the table of next-token probabilities is
#
# $$ P = \operatorname{softmax}(H W^\top), \qquad n \text{ contexts} \times V \text{ tokens.} $$
#
# $H W^\top$ has at most the rank $d$. In the fourth notebook softmax made full rank of low rank; so what, if
# anything, can $P$ not be?
#
# Example: the scores $(3, 4, 3)$ and $(7, 5, 7)$ of two contexts are a table of rank 2. Yet $d = 1$ is enough: with
# $h = 1$ and $h = -2$ and the output numbers $0, 1, 0$ the scores are $(0, 1, 0)$ and $(0, -2, 0)$, and both tables
# have the same softmax.

# %%
your_numbers("softmax_bottleneck")

# %% [markdown]
# 1. `why_bounded`: the rank of $\log P$ (entry by entry) is at most $d + 1$. Why?
# 2. `d`: four tables of scores, contexts as rows. For each of them give the smallest width $d$ with which
#    $\operatorname{softmax}(H W^\top)$ is the softmax of the table. There is no output bias.
# 3. `P`: choose a table of probabilities, three contexts and three tokens, that no model with $d = 1$ can give, not
#    even nearly. (All entries positive, rows of sum 1. Three decimals suffice. How it is tested: $\log P$ is
#    compared with the scores of such a model, to whose rows any numbers may be added. Whatever the model and the
#    numbers are, the nine differences, squared and added up, give more than 0.0025.)
# 4. `E`: a token *wins* for a hidden vector $h$ if its probability is larger than that of every other token. For
#    $d = 2$ choose output vectors of five tokens, the rows of `E`, of which exactly one can never win, whatever $h$
#    is.
# 5. `largest_rank`: GPT-2 small has $d = 768$ and 50,257 tokens. Which rank can $\log P$ have at most, for any
#    number of contexts? `able_to_win`: and if $d$ were 1, with output numbers that are all different, how many
#    tokens could win at all?

# %% exercise="softmax_bottleneck"
import numpy as np

why_bounded = None   # one of "A", "B", "C", "D"
d = None             # four whole numbers
P = None             # three rows of three numbers
E = None             # five rows of two numbers
largest_rank = None  # a whole number
able_to_win = None   # a whole number

# %% [markdown]
# *Where you meet this.* In every model whose vocabulary is larger than its width: Llama-3-8B can fill at most 4,097
# of 128,256 dimensions, about 3.2 %. Yang et al. mixed several softmaxes, which removes the bound, and measured
# better predictions for small models. Whether it hurts large ones is a question for *trained models*; so is whether
# tokens that can never win occur. Grivas et al. (2022) looked at many published models and found few. What you
# computed in 2 and 4 is exact.

# %% [markdown]
# ### Who voted for this token?
#
# Every sublayer *adds* to the stream. So the last stream is a sum of **pieces**: the embedding, one
# piece from each head (in the fourth notebook the output of multi-head attention was a sum over heads, each with
# its rows of $W_O$), one from each feed-forward layer. The logits are $\operatorname{RMSNorm}(\text{stream})\, U$,
# with an output matrix $U$, and would be a sum as well, were it not for the norm. But the norm only divides, by a
# number that depends on the whole stream. Hold that divisor fixed, and every piece has its share in every logit:
# its **direct contribution**.
#
# Example: two pieces, $(4, 3)$ and $(-3, 4)$. The stream is $(1, 7)$, its root mean square $\sqrt{(1 + 49)/2} = 5$.
# With a gain of 1, $\varepsilon = 0$ and the output columns $(1, 0)$ and $(0, 1)$ the first piece contributes
# $(0.8, 0.6)$ and the second $(-0.6, 0.8)$. Together that is $(0.2, 1.4)$, the logits.
#
# Another question is what the model would say *if it stopped early*: take the sum of the pieces so far, normalise
# **that**, multiply by $U$, take the softmax. This is the **logit lens**.
#
# Your last stream is the sum of four pieces of two features, the rows of `pieces`: embedding, head A, head B,
# feed-forward layer. The gain is 1 and $\varepsilon = 0$. Three tokens have the output columns $(1, 0)$, $(0, 1)$
# and $(1, -1)$.

# %%
your_numbers("direct_logits")

# %% [markdown]
# 1. `C`: the contribution of each piece (rows) to each of the three logits (columns).
# 2. `lens`: by the logit lens, the probability of token 1 (the middle one) after one, two, three and all four
#    pieces.
# 3. `change`: compute the logits of a stream to which head A adds nothing, everything else staying as it is. By how
#    much does head A change the three logits: with it, minus without it?
# 4. `direct_logits(pieces, gain, U, eps=1e-5)` for pieces of shape `(p, …, d)`, where axes in the middle are
#    batches and positions, gives the contributions, `(p, …, V)`. The norm is
#    $x / \sqrt{\operatorname{mean}(x^2) + \varepsilon}$ times the gain.
# 5. `exact`: which of these hold exactly, in every such model? (All letters that apply. Wrong letters take away.)

# %% exercise="direct_logits"
import numpy as np

C = None       # four rows of three numbers
lens = None    # four numbers
change = None  # three numbers
exact = None   # letters, as in "AD"


def direct_logits(
    pieces: "(p, …, d)", gain: "(d,)", U: "(d, V)", eps: float = 1e-5
) -> "(p, …, V)":
    """Return what each piece contributes to the logits, with the divisor of their sum.

    >>> direct_logits(np.array([[4.0, 3.0], [-3.0, 4.0]]), np.ones(2), np.eye(2), eps=0.0)
    array([[ 0.8,  0.6],
           [-0.6,  0.8]])
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* The logit lens was tried on GPT-2 first: in its middle layers the probable tokens are often
# sensible already, and are changed less and less (*measured on trained models*). Contributions to logits are the
# first thing that is looked at when someone asks which head makes a model say something. The small model of the
# eleventh notebook has 2 layers of 2 heads, so 7 pieces: your function is checked with them, and their
# contributions add up to its logits. Whoever concludes from a contribution what would happen *without* a piece
# should remember `change`.

# %% [markdown]
# ### More features than dimensions
#
# A stream of width $d$ has $d$ directions that don't disturb each other. A model would like to keep many more
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
# ### Two heads that copy
#
# In the eleventh notebook you saw two heads of a trained model that carry copying together: one tells each letter what stood in front of it, the other
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

# %%
your_numbers("induction_by_hand")

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
# ### Parameters or tokens?
#
# In the eleventh notebook you fitted how the loss falls with the compute. But compute can be spent on two things: a larger model, or more text. A
# forward and a backward pass cost about $C = 6ND$ FLOPs for $N$ parameters and $D$ tokens (a multiply–add is two FLOPs, and the backward pass counts twice: the eighth notebook's madds, six times). Hoffmann et al. (2022) fitted
#
# $$ L(N, D) = E + \frac{A}{N^\alpha} + \frac{B}{D^\beta}, \qquad E = 1.69,\; A = 406.4,\; B = 410.7, $$
#
# to the losses of some four hundred models. All of these constants are *measured on trained models*; what follows from them is calculus. For a given $C$: which $N$ and $D$ have the smallest loss?
#
# *An example* with easy numbers: $L = 4/N + 1/D$ (so $\alpha = \beta = 1$, $A = 4$, $B = 1$, $E = 0$) and $C = 24$. Then $D = 4/N$, and $L = 4/N + N/4$ has the derivative $-4/N^2 + 1/4$, which is 0 at $N = 4$.
# So $N = 4$, $D = 1$ and $L = 2$. At $N = 2$, $D = 2$ it would be 2.5. How much does a bad guess cost under the published law, half or twice the best $N$?

# %% tags=["demonstration"]
if plt:
    N = np.logspace(7, 9.5, 200)
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for compute, line in ((1e18, "k-"), (1e19, "k--")):
        axes.semilogx(N, 1.69 + 406.4 / N**0.34 + 410.7 / (compute / 6 / N) ** 0.28, line, label=f"$C$ = {compute:.0e}")
    axes.set(xlabel="parameters $N$", ylabel="loss", ylim=(2.8, 5))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the loss over $N$ from $10^7$ to $10^{9.5}$, at two computes, with $\alpha = 0.34$ and $\beta = 0.28$. Both curves are wide valleys. For $10^{18}$ FLOPs the bottom lies at 81 million parameters, for $10^{19}$ at 228 million, and lower.
# Half or twice as many parameters, with the tokens that are left for them, cost between 0.03 and 0.04 of loss.
#
# 1. `exponent`: the optimal $N$ is a constant times a power of $C$. Which power? A formula in `alpha` and `beta`.
#
# Now with the published $E$, $A$, $B$, and with exponents and a compute of your own:

# %%
your_numbers("chinchilla")

# %% [markdown]
# 2. `N`, `D`: the optimal numbers of parameters and tokens, such as `3.219e10`. `per_parameter`: tokens per parameter.
# 3. `best_loss`: the loss there. `loss_at_20`: a common rule of thumb takes 20 tokens per parameter. The loss at that ratio, with the same compute.
# 4. A model of half the optimal $N$ that reaches the *same loss*. `tokens_factor`: how many times the optimal $D$ does it need? `compute_factor`: how many times the training compute?
#    Serving a token costs $2N$ FLOPs. `served`: after how many tokens served has the smaller model been cheaper, training included? In units of the optimal $D$.
# 5. `allocate(C, A, B, alpha, beta)` returns the optimal $N$ and $D$ for any such law. ($E$ doesn't matter.)
# 6. In a few sentences: what does the law *not* say? Think of where its constants come from, and of what $C$ pays for.

# %% exercise="chinchilla"
exponent = None        # a formula in alpha, beta
N = None               # one number
D = None               # one number
per_parameter = None   # one number
best_loss = None       # one number
loss_at_20 = None      # one number
tokens_factor = None   # one number
compute_factor = None  # one number
served = None          # one number, in units of D


def allocate(C: float, A: float, B: float, alpha: float, beta: float) -> "(N, D)":
    """Return the parameters and tokens with the smallest A/N^alpha + B/D^beta for 6 N D = C.

    >>> N, D = allocate(24, 4, 1, 1, 1)
    >>> round(N, 6), round(D, 6)
    (4.0, 1.0)
    """
    raise NotImplementedError

# %% [markdown] exercise="chinchilla" part="limits"
# *Your answer, three to five sentences.*

# %% [markdown]
# **Where you meet this.** The compute of Gopher, $5.76 \cdot 10^{23}$ FLOPs, went into 280 billion parameters; with the same compute Chinchilla (70 billion parameters, $1.4 \cdot 10^{12}$ tokens) was the better model. Llama-3-8B,
# with its 8,030,261,248 parameters, was trained on about $15 \cdot 10^{12}$ tokens: 1868 for each parameter, and $7.2 \cdot 10^{23}$ FLOPs. You have just computed why somebody would do that.

# %% [markdown]
# ### Guess ahead, keep the law
#
# A large model decodes one token in each step, and a step takes as long for five tokens as for one: it waits for its weights (the last exercise of this notebook). So let a small, quick model write a *draft* of
# a few tokens, and let the large one, the *target*, look at all of them in a single step. Which ones may stay? In the seventh notebook decoding was greedy, and a draft could be compared with it. With sampling the
# result should have the target's *law*, exactly, although the tokens were drawn from another one.
#
# Let $p$ be the law of the target for the next token and $q$ that of the draft model. The rule: draw $x$ from $q$, accept it with probability $\min(1,\, p_x/q_x)$; otherwise draw from
# $(p - q)_+$, the positive part, divided by its sum.
#
# *An example.* Two tokens, $p = (0.6, 0.4)$ and $q = (0.8, 0.2)$. Token 0 is accepted with probability $0.6/0.8 = 0.75$, token 1 always. A draft is accepted with probability $0.8 \cdot 0.75 + 0.2 \cdot 1 = 0.8$. The positive part of
# $p - q = (-0.2, 0.2)$ is $(0, 0.2)$, so after a rejection token 1 comes. Token 0 comes out with $0.8 \cdot 0.75 = 0.6$, token 1 with $0.2 + 0.2 \cdot 1 = 0.4$. That is $p$.
#
# 1. `law_steps`: show it in general. Let $c_i = \min(p_i, q_i)$: then the acceptance is $c_i/q_i$ and the positive part $p_i - c_i$. Token $i$ is drafted and accepted, or drawn after a rejection; start with
#
#    `q_i*(c_i/q_i) + (1 - sum(q_k*(c_k/q_k), k))*(p_i - c_i)/sum(p_k - c_k, k)`
#
#    and end with `p_i`. Rules: *linearity of sums*, *weights sum to one* (of $p$). One rule a line, please; you may add the reason.
#
# Your own laws of three tokens:

# %%
your_numbers("speculative")

# %% [markdown]
# 2. `acceptance`: with which probability is each of the three tokens accepted, if it is the draft? `overall`: with which probability is a draft accepted? `after_rejection`: the law of what is drawn after a rejection, three numbers.
#
# A **round** has $\gamma$ drafts, one after the other. They are verified from the first one on. The first that is rejected is replaced as above, and the round ends there. If all $\gamma$ are accepted, the target's law for the place behind them is known, too, and
# one more token is drawn from it.
#
# 3. `tokens`: let every draft be accepted with probability $\alpha$, independently of the others. How many tokens does a round give in the mean? A formula in `alpha` and `gamma`, without a sum.
# 4. `tokens_at_4`: that for $\alpha = 0.8$ and $\gamma = 4$. `speedup`: a draft takes 0.05 of the time of a step of the target, and verifying takes one step. How many times as fast is a round of four drafts as plain decoding? `best_gamma`, `best_speedup`: which
#    $\gamma$ is the best for this $\alpha$, and how fast is it?

# %% [markdown]
# So is drafting always worth it? That depends on how good the drafts are, and how many one dares. Where does a round take *longer* than plain decoding?

# %% tags=["demonstration"]
if plt:
    gamma = [1, 2, 3, 4, 6, 8, 10, 13, 16, 20]
    speed = {
        0.9: [1.81, 2.46, 2.99, 3.41, 4.01, 4.38, 4.57, 4.67, 4.63, 4.45],
        0.6: [1.52, 1.78, 1.89, 1.92, 1.87, 1.77, 1.66, 1.51, 1.39, 1.25],
        0.1: [1.05, 1.01, 0.97, 0.93, 0.85, 0.79, 0.74, 0.67, 0.62, 0.56],
    }
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for share, line in ((0.9, "ko-"), (0.6, "kx--"), (0.1, "k.:")):
        axes.plot(gamma, speed[share], line, label=f"$\\alpha$ = {share}", ms=4)
    axes.axhline(1, color="0.7", lw=0.8)
    axes.set(xlabel="drafts in a round", ylabel="speed-up", xticks=range(1, 21, 3))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the speed-up over $\gamma$ from 1 to 20 for $\alpha$ = 0.9, 0.6 and 0.1. At 0.9 it climbs to 4.67 at 13 drafts and then falls very slowly; at 0.6 it is largest at 4 drafts, 1.92. At 0.1 it begins at 1.05, and from three drafts on it is below 1: a poor draft costs time.
#
# 5. `verify(draft, P, Q, u, r)` is one round, with nothing random in it: it takes the numbers from outside. `draft` holds $\gamma$ tokens; row $i$ of `Q`, $(\gamma, V)$, is the law from which draft $i$ was drawn; row $i$ of `P`, $(\gamma + 1, V)$, the target's law at
#    the same place. Draft $i$ is accepted if $u_i < p/q$. A token is drawn from a law with `r`, $0 \le r < 1$, by inverse distribution: the first token at which the cumulative sum is larger than $r$. Return the tokens of the round as a list of whole numbers.
#    *Example:* with $\gamma = 1$, $V = 2$ and the laws from above, $p$ in both rows, draft 0, $u = 0.8$ and any $r$: since $0.8 \ge 0.75$ it is rejected, and `[1]` comes.

# %% exercise="speculative"
import numpy as np

law_steps = None        # a list of lines
acceptance = None       # three numbers
overall = None          # one number
after_rejection = None  # three numbers
tokens = None           # a formula in alpha, gamma
tokens_at_4 = None      # one number
speedup = None          # one number
best_gamma = None       # a whole number
best_speedup = None     # one number


def verify(draft: "(γ,)", P: "(γ + 1, V)", Q: "(γ, V)", u: "(γ,)", r: float) -> list:
    """Return the tokens of a round: accepted drafts, and one more.

    >>> p, q = np.array([0.6, 0.4]), np.array([0.8, 0.2])
    >>> verify(np.array([0]), np.stack([p, p]), q[None], np.array([0.8]), 0.3)
    [1]
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** Leviathan et al. (2023) and Chen et al. (2023) report decoding two to three times as fast, *measured on trained models*; today's serving programs have it built in. The law is exact for *any* draft model, also for a bad one. The speed is not: with
# $\alpha = 0.1$ and four drafts at 0.05 a step one is slower than without, by a factor of 0.926. One minus the overall acceptance has a name, the total variation distance of $p$ and $q$.

# %% [markdown]
# ### One map, three programs
#
# In the ninth notebook causal linear attention was a recurrence: a state of fixed size to which each token adds $k_t v_t^\top$. Nothing ever leaves it, so a long text fills it up. Many of today's models
# let it fade: with a factor $a_t$ from 0 to 1, which may depend on the token,
#
# $$ S_t = a_t\, S_{t-1} + k_t v_t^\top, \qquad y_t = S_t^\top q_t . $$
#
# (There is no denominator, and no feature map; $S_{-1} = 0$.) The same outputs are $(L \circ QK^\top)\, V$, entry by entry times a table of decays: $L_{ij} = a_{j+1} \cdots a_i$ for $j \le i$ and 0 above the diagonal. The program in $n$ steps is good for decoding, the table for
# short texts, and for long ones there is a third: a table within each chunk of $c$ tokens, a state from chunk to chunk.
#
# *An example* with three tokens of width 1, $a = (1, 0.2, 0.5)$, $q = (1, 1, 1)$, $k = (1, 1, 2)$, $v = (10, 3, 1)$. The states are $10$; $0.2 \cdot 10 + 3 = 5$; $0.5 \cdot 5 + 2 = 4.5$. From the table: the last row of $L$ is $(0.2 \cdot 0.5,\; 0.5,\; 1) = (0.1, 0.5, 1)$, and
# $0.1 \cdot 10 + 0.5 \cdot 3 + 1 \cdot 2 = 4.5$.
#
# 1. `L`, `y`: by hand, the table and the outputs for four tokens of width 1, $a = (1, \tfrac12, 0, \tfrac12)$, $q = (1, 1, 2, 1)$, $k = (1, 2, 1, 1)$, $v = (4, 1, 3, 2)$.
# 2. `decay_recurrent(Q, K, V, a)`, `decay_quadratic(Q, K, V, a)` and `decay_chunked(Q, K, V, a, c)`: the three programs, for $Q$, $K$ of shape $(n, d)$, $V$ of shape $(n, d_v)$ and $a$ of shape $(n,)$. All give the same, also where factors are 0, where a product of many of them is too small for a
#    number, and where $c$ doesn't divide $n$ or is larger. Work and memory of the first and, for a given $c$, of the third grow like $n$.
# 3. `ranks`: take $n = 8$. What rank has the block of $L$ in rows 5 to 7 and columns 0 to 3, if no factor is 0? And the block of $L \circ QK^\top$ in rows 4 to 7 and columns 0 to 3, with $d = 3$ and vectors in general position? Two whole numbers.
# 4. `madds`: those of the chunked program, for $n$ tokens in chunks of $c$, all widths $d$, with full $c \times c$ tables within a chunk, and without those for the decays. A formula in `n`, `c` and `d`.
#
# Fading forgets everything alike. The **delta rule** corrects: $S \leftarrow S + k\,(v - S^\top k)^\top$ first asks what the state answers to this key, and writes the difference only. Write the value 5 under the key $(1, 0)$ and then 3 under the same key: by plain adding the key reads 8 afterwards, by the delta rule 3.
#
# 5. `added`: write the value 5 under the key $(1, 0)$, then 4 under the key $(0.6, 0.8)$, by plain adding, without decay. What is read with the second key, and what with the first? `corrected`: the same two by the delta rule.
# 6. `why_no_ratio`: with $p_i = a_0 \cdots a_i$ it seems that $L_{ij} = p_i/p_j$. Why does nobody compute it so?

# %%
your_numbers("decay_duality")

# %% exercise="decay_duality"
import numpy as np

L = None             # four rows of four numbers
y = None             # four numbers
ranks = None         # two whole numbers
madds = None         # a formula in n, c, d
added = None         # two numbers: read with the second key, with the first
corrected = None     # two numbers
why_no_ratio = None  # one of "A", "B", "C", "D"


def decay_recurrent(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", a: "(n,)") -> "(n, d_v)":
    """Return the outputs, token by token with a state.

    >>> k, v = np.array([[1.0], [1], [2]]), np.array([[10.0], [3], [1]])
    >>> decay_recurrent(np.ones((3, 1)), k, v, np.array([1, 0.2, 0.5])).ravel()
    array([10. ,  5. ,  4.5])
    """
    raise NotImplementedError


def decay_quadratic(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", a: "(n,)") -> "(n, d_v)":
    """Return the outputs from the table of all pairs.

    >>> k, v = np.array([[1.0], [1], [2]]), np.array([[10.0], [3], [1]])
    >>> decay_quadratic(np.ones((3, 1)), k, v, np.array([1, 0.2, 0.5])).ravel()
    array([10. ,  5. ,  4.5])
    """
    raise NotImplementedError


def decay_chunked(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", a: "(n,)", c: int) -> "(n, d_v)":
    """Return the outputs chunk by chunk: a table within, a state between.

    >>> k, v = np.array([[1.0], [1], [2]]), np.array([[10.0], [3], [1]])
    >>> decay_chunked(np.ones((3, 1)), k, v, np.array([1, 0.2, 0.5]), 2).ravel()
    array([10. ,  5. ,  4.5])
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** A constant factor for each head is RetNet (Sun et al. 2023), one that depends on the token is Mamba-2 (Dao and Gu 2024), who call the two forms a duality; the delta rule is older (Schlag et al. 2021) and was made parallel by Yang et al. (2024). The ranks say why a state of fixed size
# suffices: what a chunk can hear of everything before it goes through $d$ numbers for each column of the values. For $n = 4096$ and $c = d = 64$ the table takes 2,147,483,648 madds in one step, the recurrence 33,554,432 in 4096 steps one after the other, the chunks 67,108,864 in 64. Twice the arithmetic for a 64th of the steps: that this is
# faster on a GPU is *measured*. And a ratio of products would not last long: with factors of ½ they are 0 in double precision from 1,075 factors on.

# %% [markdown]
# ### Bandwidth or arithmetic?
#
# The eighth notebook counted the madds of a decoding step, and the bytes that are kept. Which of the two takes the time? A device is described by two numbers: it does $F$ FLOPs a second, and reads $B$ bytes a second. A step
# can't be faster than its FLOPs over $F$, nor than its bytes over $B$. What decides is its **intensity**, FLOPs for each byte that is read: below $F/B$ the arithmetic units wait for the memory, above it the memory waits for them.
#
# *An example.* A device with $F = 10^{14}$ and $B = 10^{12}$, so $F/B = 100$, and a model of $10^9$ weights in 4 bytes each. One token for one sequence: $2 \cdot 10^9$ FLOPs take 0.02 ms, $4 \cdot 10^9$ bytes take 4 ms. Nearly all of the time the units wait. Which share of its FLOPs
# does such a device get done then? The picture for that is called a roofline.

# %% tags=["demonstration"]
if plt:
    per_byte = np.logspace(-1, 4, 200)
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    axes.loglog(per_byte, np.minimum(1e14, 1e12 * per_byte), "k-")
    axes.axvline(100, color="k", ls=":")
    axes.axvline(0.5, color="k", ls="--")
    axes.set(xlabel="FLOPs for each byte", ylabel="FLOPs a second")
    plt.show()

# %% [markdown]
# *The picture:* FLOPs a second over the intensity, from 0.1 to 10,000, both logarithmic. A straight line climbs from $10^{11}$ to $10^{14}$, which it reaches at the dotted line, intensity 100; from there on it is level. The dashed line is the example, at $2/4 = 0.5$: $5 \cdot 10^{11}$ FLOPs a second, half a percent of what the units could do.
#
# 1. `intensity`: one decoding step for $b$ sequences at once, $w$ bytes for each weight. How many FLOPs for each byte of the weights? A formula in `b` and `w`. `batch`: at which $b$ is this $F/B$? A formula in `F`, `B` and `w`.
#    `your_batch`: in numbers, for your device, and weights in 4 or 8 bits with their scales:

# %%
your_numbers("decode_roofline")

# %% [markdown]
# From here on $F = 10^{15}$, $B = 4 \cdot 10^{12}$ and the same model for everybody: 8,030,261,248 parameters of 2 bytes, and a cache of 131,072 bytes for each token (8 key heads, as in *Eight queries, two keys* above).
#
# 2. `least_ms`: one sequence. How many milliseconds does a token take at least, if nothing but the weights is read? `per_second`: how many tokens a second is that?
# 3. `cache_bytes`: the cache of 8192 tokens. `ms_with_cache`: milliseconds a token, with this cache read as well. `as_heavy`: the caches of how many such sequences weigh as much as the weights?
# 4. Now attention alone, in a step that decodes 16 sequences at once. There are 32 query heads of width 128, in 2 bytes. `per_cache_byte`: how many FLOPs come to each byte of the *cache*, with 32, 8 and 1 key heads? Count scores and values, not the softmax.
#    `per_latent_byte`: the same for latent attention with 128 heads, where a token leaves 512 numbers, of which scores *and* values are made, and 64 rotated ones for the scores alone. (The absorbed form: every head works on the 512 and 64 numbers themselves.)
# 5. Four sequences have the lengths 100, 700, 37 and 1500. Either 2048 places are reserved for each, or blocks of 16 places as they are needed. `blocks`: how many blocks are these together? `empty`: which share of the reserved memory stays empty, in the first case and in the second?

# %% exercise="decode_roofline"
intensity = None        # a formula in b, w
batch = None            # a formula in F, B, w
your_batch = None       # one number
least_ms = None         # one number, in milliseconds
per_second = None       # one number
cache_bytes = None      # a whole number
ms_with_cache = None    # one number, in milliseconds
as_heavy = None         # one number
per_cache_byte = None   # three numbers
per_latent_byte = None  # one number
blocks = None           # a whole number
empty = None            # two numbers

# %% [markdown]
# **Where you meet this.** All of these are lower bounds from a model with two numbers; *measured* times are above them. On this device sixteen sequences of 8192 tokens get at most 1925 tokens a second together, a little more than eight times what one of them gets alone, since they share the weights. Prefilling is another matter: 2048 tokens
# at once bring 2,048 FLOPs to each byte of the weights, far beyond the ridge. So one machine is limited by its arithmetic while it reads a prompt and by its bandwidth while it answers; that is why drafts that are verified together cost no more than one token. It is also why keys are shared and made latent: fewer bytes for the same scores.
# Blocks for the cache are the idea of vLLM (Kwon et al. 2023), who found that earlier programs used between a fifth and two fifths of the memory that they had reserved.

# %% [markdown]
# ## What you can do now
#
# You can read the description of a model of today and say of each of its parts what it computes, what it costs and what it can't do: which cache a choice of heads leaves and what a step waits for, what a longer
# context does to rotations, where the weights of a row go that nobody wants, what a logit is made of, how many features share a stream, when a smaller model is the cheaper one. You have written the block, the
# verifying of drafts and the heads that copy, and you keep what follows from a calculation apart from what was measured once.
#
# Twelve notebooks ago attention was a softmax of four numbers that you computed by hand. Nothing that came since needed more than such calculations, done one after the other.
#
# **To read.**
#
# - Touvron et al. (2023), *Llama 2*: a model with the block and the shared keys of the first part, and why its authors chose them.
# - DeepSeek-AI (2024), *DeepSeek-V2*: latent keys and values, with the sizes that you have counted.
# - Elhage et al. (2021), *A mathematical framework for transformer circuits*: how to read weights, and the two heads that you built.
# - Pope et al. (2022), *Efficiently scaling transformer inference*: bandwidth and arithmetic for whole models on many devices.
# - Yang et al. (2024), *Parallelizing linear transformers with the delta rule over sequence length*: where states that forget are heading.
# - Williams, Waterman & Patterson (2009), *Roofline: An insightful visual performance model for multicore architectures*: the picture of the last exercise.
# - Karpathy, *llama2.c* (github.com/karpathy/llama2.c): the block of today in one file of C, rotations and shared keys included.
