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
#
# ### Four programs, one average
#
# *15 minutes.* Before anything new, one ladder from a loop to attention; it shows what attention adds to an average.
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
# *20 minutes.* In the notebook on cost you weighed the cache of keys and values, and met the extreme remedy: *one* head of keys
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
#    - **A** The cache.
#    - **B** The bytes that are read for each decoded token.
#    - **C** The number of weights in $W_K$ and $W_V$.
#    - **D** The number of attention weights.
#    - **E** The multiply–adds of $Q K^\top$.

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
# *40 minutes.* You know nearly all of its pieces. The norm stands *in front* of each sublayer, so that the stream
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
#    - **A** With $W_\text{down} = 0$ and $\varepsilon = 0$: $\operatorname{block}(3x) - 3x = \operatorname{block}(x) - x$.
#    - **B** Rotary positions leave the values as they are.
#    - **C** The stream itself is never normalised inside the block.
#    - **D** If 1 is added to all features, RMSNorm gives the same as before.
#    - **E** SwiGLU with one hidden unit is 0 for half of all inputs, as a ReLU layer with one hidden unit is.

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
# *25 minutes.* In the notebook on positions each pair $i$ of columns turned by $\theta_i = b^{-2i/d}$ for every position, with the base
# $b$ and $d$ columns in a head. A score depends on the difference of two positions alone, so nothing seems to stand in the way of a longer text. But
# a model has only learned with the angles that it has met. The wavelength $2\pi/\theta_i$ of a slow pair can be longer than the texts in
# training: such a pair has never come round, and at later positions it shows angles that the model has never seen.

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
# pair to pair, from $2\pi = 6.283$ on. With the base 10,000 (circles) the last four lie above the line, with 500,000 (triangles) the last eight.
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
#    - **A** Interpolation keeps every angle inside the trained range.
#    - **B** The new base leaves the first pair as it is.
#    - **C** With the new base all of the incomplete pairs but one leave their trained range.
#    - **D** With the new base no pair leaves its trained range.
#    - **E** Either method makes a trained model work at the new length.

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
# show, without any further training: in the second half a symbol costs it 2.2 nats unscaled (guessing costs 2.4), 9.4 with interpolation by 2, and 0.3
# with the other base. The price is paid in the first half: 0.001 nats become 7 by interpolation, and 0.2 by the other base.

# %% [markdown]
# ### Somewhere to look when there is nothing to see
#
# *25 minutes.* The weights of a softmax sum to 1, so a head that has found nothing must still bring something. In trained models such heads put
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
# 3. `softmax1(x, axis=-1, sink=0.0)`: these weights along an axis, with $e^\text{sink}$ in place of the 1. Scores may be ±1000 or $-\infty$; a row of
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
# *25 minutes.* In the notebook on cheaper attention a window went to both sides. In a decoder it goes back only: every token sees itself
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
# ## 2 Other weights

# %% [markdown]
# ## 3 Looking inside

# %% [markdown]
# ## 4 Training and serving

# %% [markdown]
# ## What you can do now
