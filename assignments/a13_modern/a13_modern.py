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
# *25 minutes.* Grouped queries make the cache smaller by having fewer keys. There is another way: keep *one short
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
#    keys or values. `mask`, of shape `(n, m)`, says where a query may attend; each query has some such token.
# 4. `madds`: the madds of scores and weighted sum for *one* query of every head, with `m` cached tokens and values
#    of width `d_k`: keys of width `d_k + d_r` and values that are stored; the absorbed form, of which the products
#    of the single query with $W_{UK}$ and $W_{UV}$ are left out; keys and values built from `c` for this one query,
#    and then used.
# 5. `why_apart`: why is the rotation kept out of the latent part?
#    - **A** It would stand between $W_Q$ and $W_{UK}^\top$ and depend on $i - j$, so that no fixed product of the
#      two exists.
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
# *Where you meet this.* DeepSeek-V2 has 128 heads of width 128 in each of 60 layers, a latent vector of 512 numbers
# and a rotated key of 64. At two bytes a number that is 69,120 bytes for each token, where keys and values of all
# heads would take 3,932,160. The price is arithmetic: queries meet latents of 512 numbers in place of keys of 128.
# When a token is decoded, reading is mostly what takes the time; the last part of this notebook says when.

# %% [markdown]
# ## 2 Other weights

# %% [markdown]
# ### Scores on a leash
#
# *35 minutes.* Queries and keys grow while a model is trained, and scores grow like their product. In the third
# notebook large scores made softmax hard and its gradients small. In large models this can run away: rows become
# one-hot, their entropy falls towards 0, and the loss jumps (*measured on trained models*, where it is called
# entropy collapse). Two leashes are in use, and both can be understood with a pencil.
#
# **A cap** bends every score, $s \mapsto c \tanh(s/c)$. Nothing exceeds $c$, and small scores stay nearly what they
# are: with $c = 10$ a score of 3 becomes $10 \tanh 0.3 = 2.913$. **A gain** replaces $1/\sqrt{d_k}$: queries and
# keys are divided by their lengths first, so that a score is $g$ times the cosine of an angle, and lies between
# $-g$ and $g$.

# %% tags=["demonstration"]
if plt:
    s = np.linspace(-40, 40, 200)
    figure, axes = plt.subplots(figsize=(5.5, 3), layout="constrained")
    axes.plot(s, 10 * np.tanh(s / 10), "k-", label="10 tanh(s/10)")
    axes.plot(s, np.clip(s, -10, 10), "k--", label="clipped at 10")
    axes.set(xlabel="score $s$", ylabel="what softmax gets")
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* a cap of 10 beside a clip, for scores from −40 to 40. Around 0 both follow the diagonal. The clip
# has corners at ±10, beyond which it is flat and passes no gradient. The cap leaves the diagonal earlier, without a
# corner, and approaches ±10; it still rises everywhere, if ever less.
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
    Q: "(n, d_k)", K: "(m, d_k)", V: "(m, d_v)", gain: float = None, cap: float = None,
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
# *20 minutes.* A softmax makes the keys of a row compete: what one of them gets, the others lose. Every weight
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
    Q: "(n, d_k)", K: "(m, d_k)", V: "(m, d_v)", bias: float = None,
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
# *20 minutes.* A softmax never gives a key nothing, so a long text takes much weight away from the few tokens that
# matter, a little each. An amplifier for weak signals has two inputs and returns their difference: what disturbs
# both is gone. Differential attention does this with two maps. It has two sets of queries and keys and one set of
# values, and the weights
#
# $$ a = \operatorname{softmax}(s_1) - \lambda \operatorname{softmax}(s_2), $$
#
# where $\lambda$ is a number that is learned. Example: the scores $(\log 3, 0)$ and $(0, 0)$ with $\lambda = 0.2$
# give $(0.75, 0.25) - 0.2 \cdot (0.5, 0.5) = (0.65, 0.15)$.

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
# gets the number of the next.) The outputs of a head are normalised and multiplied by 1 minus this starting value.

# %% [markdown]
# ## 3 Looking inside

# %% [markdown]
# ### One hidden vector, too many futures
#
# *20 minutes.* The last step of a language model multiplies a hidden vector $h$ of $d$ numbers with an output
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
#    - **A** $\log P$ is $H W^\top$ minus one number per row, and a table whose columns are all equal has rank 1.
#    - **B** Softmax keeps the rank, and the logarithm adds 1 to it.
#    - **C** $W$ has $d + 1$ independent rows.
#    - **D** Probabilities sum to 1, which removes one dimension.
# 2. `d`: four tables of scores, contexts as rows. For each of them give the smallest width $d$ with which
#    $\operatorname{softmax}(H W^\top)$ is the softmax of the table. There is no output bias.
# 3. `P`: choose a table of probabilities, three contexts and three tokens, that no model with $d = 1$ can give, not
#    even nearly. (All entries positive, rows of sum 1. Three decimals suffice.)
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
# *25 minutes.* Every sublayer *adds* to the stream. So the last stream is a sum of **pieces**: the embedding, one
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
#    - **A** The contributions add up to the logits.
#    - **B** If a piece adds the same number to all logits, that moves no probability.
#    - **C** Without a piece the logits change by its contribution.
#    - **D** The contribution of a head contains what later layers make of its piece.
#    - **E** For a given divisor, contributions are linear in the pieces.

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
# ## 4 Training and serving

# %% [markdown]
# ## What you can do now
