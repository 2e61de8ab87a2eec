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
# | part | you learn |
# |---|---|
# | 1 Information | entropy of rows, what softmax optimises, entropy against temperature, mutual information |
# | 2 Heads | how alike and how specialised heads are, what they look at, which ones can go |
# | 3 Claims | true, false or open; recurrence and convolution; power laws |
# | 4 Essays | four of eight questions, each with numbers of your own |
#
# The parts can be done on different days. How to work with it:
#
# - Give numbers to at least four significant digits. They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`)
#   or computed by your own code. Logarithms are natural ones unless a base is named: entropies are in *nats*.
# - Run the cells from top to bottom: short names such as `H` come back in several exercises. Each
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
# The small model has read `^BADGEBA` and says that D comes next. What it says is a sum, to which seven of its parts
# contribute. Here is how much each of them speaks for D. Who speaks
# loudest?

# %% tags=["demonstration"]
in_echo = {"votes": [0.5, 0.25, 0.11, -0.25, 1.63, 4.29, 3.83]}


def draw_echo():
    parts = ["embedding", "head 0.0", "head 0.1", "feed-\nforward 0", "head 1.0", "head 1.1", "feed-\nforward 1"]
    _, axis = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
    axis.bar_label(axis.bar(range(7), in_echo["votes"], color="tab:blue", edgecolor="black"), fontsize=8)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set(xticks=range(7), xticklabels=parts, ylabel="votes for D", ylim=(-1, 5))
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* seven bars. Embedding 0.5, head 0.0 0.25, head 0.1 0.11, feed-forward 0 −0.25, head 1.0 1.63, head 1.1
# 4.29, feed-forward 1 3.83.
#
# *A guess:* Head 0.1 says next to nothing. Could it be left out? (You have seen a picture of that, in the
# fourth notebook.) Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Information
#
# ### How focused is a row?
#
# One row of attention weights may rest on a single key, another one may be spread over all of them. The
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

    >>> attention_entropy(np.array([[0.5, 0.5], [0.25, 0.75]]), base=2)
    array([1.        , 0.81127812])
    """
    raise NotImplementedError


# %% [markdown]
# ### What softmax optimises
#
# One reads that attention "minimises entropy", that it "stays close to uniform", that it "maximises the
# expected score". What does it do? Here is a problem to start from. Look for the weights $p$ (no entry negative, $\sum_i p_i = 1$) that make
#
# $$ F(p) = \sum_i p_i s_i + \tau H(p) $$
#
# as large as possible: a good expected score, and a reward of $\tau$ for each nat of entropy. The classic way is
# Lagrange's: with a multiplier $c$ for the sum, the derivative of $F(p) - c\,(\sum_i p_i - 1)$ with respect to each $p_j$ must vanish. Let $Z = \sum_k e^{s_k/\tau}$.
#
# 1. `lagrange_steps`: solve this for $p_j$ in $s$, $\tau$ and $Z$. One equation a line, each following from the ones before; start from
#
#    `D(sum(p_i*s_i, i) - tau*sum(p_i*log(p_i), i) - c*(sum(p_i, i) - 1), p_j) = 0`
#
#    with the derivative carried out. That the weights add up to 1 is an equation, too, `sum(p_k, k) = 1`: it determines $c$.
#
# So the weights are softmax weights. But a point where derivatives vanish need not be a maximum. One identity
# settles it, without any calculus. Let $q_i = e^{s_i/\tau}/Z$, and let $p$ be *any* weights:
#
# 2. `gap_steps`: lead $F(p)$ to $\tau \log Z - \tau \sum_i p_i \log(p_i/q_i)$. In text, start with
#
#    `sum(p_i*s_i, i) - tau*sum(p_i*log(p_i), i)`
#
#    and write one equality a line. Rules: *definition* (of $q$: it makes $s_i = \tau \log q_i + \tau \log Z$), *linearity
#    of sums*, *weights sum to one*, and algebra. One rule a line, please; a line may name its reason:
#    `…  # linearity of sums`.
# 3. `only_maximum`: why does the last line show that $q$ is the maximum, and the only one?
#
# (The sum is the Kullback–Leibler divergence $\mathrm{KL}(p \,\|\, q)$. To see what sign it has, use $\log x \le x - 1$ on
# $x = q_i/p_i$; equality holds for $x = 1$ alone.) Now with numbers; these are your scores and your temperature:

# %%
your_numbers("max_entropy")

# %% [markdown]
# 4. `p`: the weights that maximise $F$. `optimum`: the value of $F$ at your `p`. `free_energy`: $\tau \cdot \mathrm{LSE}(s/\tau)$ with
#    $\mathrm{LSE}(z) = \log \sum_i e^{z_i}$.
# 5. `elsewhere`: $F$ at the uniform weights, and at the corner where the largest score has all the weight. `divergence`:
#    $\mathrm{KL}(p \,\|\, \text{uniform})$ of your `p`.
# 6. `false_claims`: which of these are **false**, for scores that aren't all equal and a finite $\tau > 0$?

# %% exercise="max_entropy"
lagrange_steps = None  # a list of equations
gap_steps = None     # a list of lines
only_maximum = None  # one of "A", "B", "C", "D", "E"
p = None             # three numbers
optimum = None       # one number
free_energy = None   # one number
elsewhere = None     # two numbers: uniform, corner
divergence = None    # one number
false_claims = None  # all that are false, such as "CD"

# %% [markdown]
# ### Sharper means less entropy
#
# Multiply the scores by $\beta$, the inverse of a temperature, and softmax gets sharper as $\beta$ grows. How fast does
# the entropy fall? Write $b$ for $\beta$ and let
#
# $$ p_i = \frac{e^{b s_i}}{Z}, \qquad Z = \sum_k e^{b s_k}, \qquad m = \sum_k p_k s_k . $$
#
# 1. `entropy_steps`: lead the entropy `-sum(p_i*log(p_i), i)` to $\log Z - b\, m$. Rules: *definition* (of $p$, as in
#    $\log p_i = b s_i - \log Z$, and of $m$), *linearity of sums*, *weights sum to one*.
# 2. `slope_steps`: lead its derivative `D(log(Z) - b*m, b)` to $-b\, \bigl(\sum_i p_i s_i^2 - m^2\bigr)$. The bracket is the variance of
#    the scores under $p$. Rules: *differentiate*, *definition*, *linearity of sums*, and two facts that you know from the
#    first notebook: *slope of log Z*, $\mathrm{d} \log Z/\mathrm{d} b = m$, and *slope of a weight*, $\mathrm{d} p_i/\mathrm{d} b = p_i (s_i - m)$, `D(p_i, b)` in text. One rule a
#    line: differentiate a sum *after* you have written $m$ as one.
#
# A variance is never negative, so for $b > 0$ the entropy can never rise. Take $s = (0, 1, 3)$:
#
# 3. `entropy_at`: the entropy of softmax($\beta s$) at $\beta = 0, \tfrac12, 1, 2$. `slope_at`: its slope at $\beta = 1$ and 2.

# %% exercise="entropy_slope"
entropy_steps = None  # a list of lines
slope_steps = None    # a list of lines
entropy_at = None     # four numbers
slope_at = None       # two numbers

# %% [markdown]
# The entropy never rises. Does it fall to 0 for every row, if $\beta$ is large enough? Think of two best scores that are equal, or nearly so.

# %% tags=["demonstration"]
if plt:
    sharpness = np.linspace(0, 8, 200)
    figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    for triple, style in (([0, 1, 2], "-"), ([0, 1.8, 2], "--"), ([0, 2, 2], ":")):
        curve = np.exp(np.outer(sharpness, triple))
        curve /= curve.sum(axis=1, keepdims=True)
        axis.plot(sharpness, -(curve * np.log(curve)).sum(axis=1), style, label=f"scores {triple}")
    axis.set(xlabel="β", ylabel="entropy in nats", ylim=(0, 1.2))
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* three falling curves that all start at $\log 3$. For the scores (0, 1, 2) the entropy is next to nothing at $\beta = 8$;
# for (0, 1.8, 2) it is still 0.453 there, because the two best scores lie close together; for (0, 2, 2) it never falls below $\log 2 = 0.693$. A slope is a variance times $-\beta$, and under the
# last weights the scores soon don't vary at all: a tie is shared for ever.
#
# **Where you meet this.** A row over 1024 keys has at most $\log 1024 = 6.931$ nats. Entropies of rows are plotted during the training of
# large models, since attention that collapses to single keys early often comes before a run that diverges (Zhai et al., 2023). And the objective $F$ isn't special to attention: in
# reinforcement learning an agent that is rewarded for the entropy of its actions has a softmax for its best policy (Haarnoja et al., 2018).

# %% [markdown]
# ### What a position says about the key
#
# Draw a query $i$ at random, each with probability $1/n$, and then a key $j$ with probability $A_{ij}$. How much does
# knowing $i$ tell about $j$? That is the **mutual information**
#
# $$ I = H(\text{key}) - H(\text{key} \mid \text{query}), $$
#
# the entropy of the key's own distribution (the *marginal*, for which the query is unknown) minus what remains on average when
# the query is known. Both terms are entropies, and both count with the signs that stand here: there is no such thing as a
# negative $I$. Take `cat_weights` from above.
#
# 1. `marginal`: the probabilities of the three keys. `conditional`: $H(\text{key} \mid \text{query})$, the mean entropy of a row.
#    `information`: $I$.
# 2. `extremes`: three numbers. $I$ if the matrix of weights is the $3 \times 3$ identity; then, if all rows are the same
#    one-hot row, the mean entropy of a row, and $I$.
# 3. `lesson`: what do the two extremes show?

# %%
your_numbers("attn_information")

# %% exercise="attn_information"
marginal = None     # three numbers
conditional = None  # one number
information = None  # one number
extremes = None     # three numbers
lesson = None       # one of "A", "B", "C", "D"

# %% [markdown]
# ## 2 Heads
#
# ### Specialisation and diversity
#
# Do heads do different things? A natural try is to compare their outputs. Let $H_1, \dots, H_h$ be the outputs of $h$
# heads, each an $n \times d$ matrix, $\bar H$ their mean, and $\|\cdot\|$ the Frobenius norm (the root of the sum of all squared
# entries). Define
#
# $$ S_i = \| H_i - \bar H \|, \qquad D = \sum_{i \ne j} \| H_i - H_j \| , $$
#
# where $D$ goes over *ordered* pairs, so that $(1, 2)$ and $(2, 1)$ both count. For example, with $1 \times 1$ outputs 0 and 4 the mean
# is 2, $S = (2, 2)$ and $D = 4 + 4 = 8$. Now three heads: $H_1 = H_2$ is the $2 \times 2$ identity, and $H_3 = \operatorname{diag}(4, 5)$.
#
# 1. `S`: the three distances from the mean. `D`: the sum over pairs. `D_scaled`: $D$ after all outputs were multiplied by 10.
# 2. `pairs_steps`: distances of pairs and from the mean are two sides of one thing, if they are squared:
#    $\sum_{i,j} \|H_i - H_j\|^2 = 2h \sum_i S_i^2$. Both sides are sums over the entries of the matrices, so show it for one entry, which is
#    $x_i$ in head $i$, with mean $m$. Lead `sum(sum((x_i - x_j)^2, i), j)` to $2h \sum_i (x_i - m)^2$. Sums go over the $h$ heads. Rules: *linearity
#    of sums* (a sum of something constant is $h$ times that), *definition* ($m = \sum_k x_k/h$), algebra. One rule a line.
# 3. `head_metrics`: both numbers for any heads. With `normalise=True` all outputs are first divided by one number, the root of
#    the mean of $\|H_1\|^2, \dots, \|H_h\|^2$.
# 4. `weaknesses`: which of these are weaknesses of $S$ and $D$ (without `normalise`) as measures of how differently heads work?

# %%
your_numbers("head_metrics")

# %% exercise="head_metrics"
S = None            # three numbers
D = None            # one number
D_scaled = None     # one number
pairs_steps = None  # a list of lines
weaknesses = None   # all that apply, such as "BE"


def head_metrics(H: "(h, n, d)", normalise: bool = False) -> "(h,), float":
    """Return S, the distances from the mean head, and D, those of all ordered pairs added up.

    >>> S, D = head_metrics(np.array([[[0.0]], [[4.0]]]))
    >>> S, float(D)
    (array([2., 2.]), 8.0)
    """
    raise NotImplementedError


# %% [markdown]
# ### Local, previous-token, uniform, first-token
#
# Another way is to ask where a head looks. Trained models have heads that rest almost all their weight on the
# token before, heads that stay on the first token, and heads that spread it. Five averages over the rows of a map $A$ tell them
# apart:
#
# | name | average of |
# |---|---|
# | `distance` | $\sum_j A_{ij} \lvert i - j \rvert$, over all rows |
# | `previous` | $A_{i,i-1}$, over the rows that have a token before them |
# | `first` | $A_{i,0}$, over all rows |
# | `entropy` | the entropy of a row in nats, over all rows |
# | `diagonal` | $A_{ii}$, over all rows |
#
# For instance, the map with the rows (1, 0) and (½, ½) has distance $\tfrac12 (0 + \tfrac12) = 0.25$, previous 0.5, first 0.75,
# entropy $\tfrac12 \log 2 = 0.3466$ and diagonal 0.75. Now four causal maps with $n = 6$: the **identity**; the **previous token** (row 0, which has
# none, looks at itself); **uniform** over all keys that the mask allows; **everything on token 0**.
#
# 1. `distance`, `previous`, `entropy`: of the four maps, in this order.
# 2. `head_profile`: all five averages as a dictionary, for weights of any shape (…, n, n); each entry has the shape (…). A weight may be
#    0, and a map need not be causal.
#
# And now a model that was trained. It is tiny: two layers with two heads each and 5,552 numbers, which lie in the file `echo.npz` beside
# this notebook. Its language consists of words that are repeated, `^BADGEBADGEBADGE…`, with up to eight different letters from A to J. (Two
# aids in training made its heads easy to read: noise in front of each layer, and a penalty on spread-out rows in the
# first one.) The next cell is the whole model: RMS norms, rotated queries and keys, a gated
# feed-forward layer; you have built all of it.

# %%
echo_weights = dict(np.load("echo.npz"))
LETTERS = "^ABCDEFGHIJ"


def rms_norm(x, gain):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gain


def rotate(x):
    """Turn neighbouring pairs of columns by angles that grow with the position."""
    n, d = x.shape[-2:]
    angle = np.arange(n)[:, None] * 100.0 ** (-np.arange(0, d, 2) / d)
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)


def echo(text, off=(), hook=lambda place, array: array):
    """Return logits (n, 11) and maps (layer, head, n, n); heads in `off`, such as (1, 0), add nothing.

    `hook` gets what is computed at a place, `("heads", layer)` (2, n, 8) or `("stream", layer)` (n, 16), and
    returns what the model goes on with.
    """
    ids = np.array([LETTERS.index(letter) for letter in text])
    x, maps = echo_weights["embed"][ids].astype(float), []
    future = ~np.tri(len(ids), dtype=bool)
    for layer in range(2):
        w = {name: echo_weights[name][layer] for name in echo_weights if len(echo_weights[name]) == 2}
        y = rms_norm(x, w["norm1"])
        q, k, v = ((y @ w[name]).reshape(len(ids), 2, 8).swapaxes(0, 1) for name in ("wq", "wk", "wv"))
        scores = rotate(q) @ rotate(k).swapaxes(1, 2) / np.sqrt(8)
        scores[:, future] = -np.inf
        A = np.exp(scores - scores.max(axis=-1, keepdims=True))
        A = A / A.sum(axis=-1, keepdims=True)
        heads = A @ v
        for head in range(2):
            if (layer, head) in off:
                heads[head] = 0
        heads = hook(("heads", layer), heads)
        x = x + heads.swapaxes(0, 1).reshape(len(ids), 16) @ w["wo"]
        y = rms_norm(x, w["norm2"])
        gate = y @ w["gate"]
        x = x + (gate / (1 + np.exp(-gate)) * (y @ w["up"])) @ w["down"]
        x = hook(("stream", layer), x)
        maps.append(A)
    return rms_norm(x, echo_weights["norm"]) @ echo_weights["unembed"], np.stack(maps)


# %% [markdown]
# Here are the maps of its heads (layer.number) 0.0, 0.1, 1.0 and 1.1 on `^BADGEBADGE`. One of them looks at the previous token,
# one at the first one while it has nothing better to do. Which? The picture says it at a glance, your function in numbers.

# %%
toy_maps = echo("^BADGEBADGE")[1].reshape(4, 11, 11)

# %% tags=["demonstration"]
if plt:
    figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained", sharey=True)
    for k, (axis, name) in enumerate(zip(axes, ["0.0", "0.1", "1.0", "1.1"], strict=True)):
        axis.imshow(toy_maps[k], cmap="Greys", vmin=0, vmax=1)
        axis.set(title=f"head {name}", xticks=range(11), yticks=range(11), xlabel="key")
        axis.set_xticklabels("^BADGEBADGE")
        axis.set_yticklabels("^BADGEBADGE")
    axes[0].set_ylabel("query")
    plt.show()

# %% [markdown]
# *The picture:* four lower triangles, black where the weight is large. Head 0.0 is a diagonal, but the second D looks at the first one.
# Head 0.1 is a diagonal one step lower. Head 1.0 is grey all over. Head 1.1 is black in the first column until the word
# begins again; from there on each letter looks at the one *behind* its earlier copy: the second B at the first A. So the last head has found
# what comes next. It could do so because head 0.1 had told each letter, one layer before, what stood in front of it.
#
# 3. `toy`: two rows of four numbers. The mean weights on the previous token, and on the first token, of the four
#    trained heads. Your function computes them.

# %% exercise="head_profile"
distance = None  # four numbers
previous = None  # four numbers
entropy = None   # four numbers


def head_profile(A: "(..., n, n)") -> "dict of (...)":
    """Return the averages "distance", "previous", "first", "entropy" and "diagonal".

    >>> head_profile(np.array([[1.0, 0.0], [0.5, 0.5]]))["distance"]
    np.float64(0.25)
    """
    raise NotImplementedError


toy = None  # two rows of four numbers

# %% [markdown]
# ### Which heads matter?
#
# A profile says what a head looks at, not whether anybody needs it. That takes an intervention: remove the
# head and measure what is lost. The output of a layer is the sum of what its heads add (notebook 4), so here are the contributions
# of four heads to 50 tokens of width 3, made from random numbers of four sizes. Put in your `seed` and `sizes`:

# %%
your_numbers("head_pruning")

# %%
seed, sizes = 0, [1, 1, 1, 1]  # yours go here
contributions = np.random.default_rng(seed).normal(size=(4, 50, 3)) * np.reshape(sizes, (4, 1, 1))
output = contributions.sum(axis=0)

# %% [markdown]
# 1. `order`: the heads (0 to 3) by the mean squared error of the output without that head alone, the largest error first.
# 2. `explained`: let $Y$ be the `output`. Keep the first one, two, three, four heads of your order, and call their sum $Y_q$. Four numbers:
#    $1 - \|Y - Y_q\|^2 / \|Y\|^2$.
# 3. `needed`: the number of heads after which this is at least 99 %. `ratio`: the compression ratio, 4 divided by that.
# 4. `pitfall`: heads were judged one at a time. What can go wrong?

# And the trained model from above? Its loss is the mean of $-\log p$ of the next letter, over the 23 letters behind `^` in
# `^BADGEBADGEBADGEBADGEBAD`: the row of logits at each letter is about the one behind it.
#
# 5. `losses`: five numbers. The loss of the whole model, and its losses without the heads 0.0, 0.1, 1.0 and 1.1, each switched off alone.
#    Compare with the maps: which heads need each other?

# %% exercise="head_pruning"
order = None      # four whole numbers, such as [1, 0, 3, 2]
explained = None  # four numbers
needed = None     # a whole number
ratio = None      # one number
pitfall = None    # one of "A", "B", "C", "D"
losses = None     # five numbers

# %% [markdown]
# **Where you meet this.** Michel, Levy and Neubig (2019) removed heads from trained transformers, one at a time: most could go
# without a significant loss, and some layers kept working with a single head. Removing many at once is another matter, for
# the reason that you have just chosen. GPT-2 small and BERT base have 144 heads each (12 layers of 12), Llama-2-7B has 1024 (32
# of 32). And keep three things apart: a head *looks* at something, a head *does* something, a head *is needed*. Maps show the
# first alone. In the tiny model above head 0.1 itself hardly votes for a letter, yet without it the last head finds nothing: the two
# carry the copying together, and switching off both costs no more than switching off one.
#
# ## 3 Claims
#
# ### True, false, empirical
#
# Here are twelve sentences of the kind that one reads. Label each: **T**, a theorem that was proved in this course;
# **F**, refuted by a proof or by a counterexample; **E**, a matter of experiment that no theorem decides.
#
# | number | claim |
# |---|---|
# | C1 | The matrix of attention weights has rank at most $d_k$. |
# | C2 | The matrix of scores $QK^\top$ has rank at most $d_k$. |
# | C3 | Without positions, a transformer layer followed by mean pooling can tell "ab" from "ba". |
# | C4 | Within a head, each output is a convex combination of the values. |
# | C5 | Computing in tiles makes the *time* of exact attention grow slower than $n^2$. |
# | C6 | In a transformer trained on text, some heads specialise in syntax. |
# | C7 | The scale $1/\sqrt{d_k}$ is optimal: no other temperature ever gives a smaller loss. |
# | C8 | With $d_k = d/h$, $h$ heads with $W_O$ have as many parameters as one head with $W_O$ (no biases). |
# | C9 | With residual connections gradients can't vanish. |
# | C10 | Linear attention trains more stably than softmax attention. |
# | C11 | Each layer adds exactly one level of abstraction: the first one relates neighbouring tokens alone, the next one phrases, and so on. |
# | C12 | Scores with RoPE depend on the two positions through their difference alone. |
#
# 1. `labels`: the twelve labels.
#
# A claim about *all* numbers falls with one example. Try to find one; where there is none, answer with zeros.
#
# 2. `rank_test`: C1 and C2. Give three queries and three keys of width $d_k = 1$, two rows of three numbers, for which one of them fails (small whole numbers will do).
# 3. `scale_test`: C7. Let $d_k = 4$ and three keys have the scores $q \cdot k$ that you give. Key 0 is the right one, and the loss is $-\log$ of its weight.
#    Find scores, at most 100 in size, for which the loss is smaller without the scale than with it; or three zeros.
# 4. `shortcut_test`: C9. Ten layers $x \mapsto x + a x$ in a row: find an $a$ for which the gradient
#    shrinks below one millionth; or 0.
# 5. `rotation_test`: C12. Find two pairs of positions $(m, n)$ with the same $m - n$, as two rows of two numbers, for which some
#    $q$ and $k$ get different scores; or four zeros.
#
# What would settle six of the others, one way or the other?
#
# 6. `reasons`: the letter of what speaks to C3, C5, C6, C8, C10, C11. Two of the letters are needed by none, each other one by one claim.
#    - **A** Count the products of queries with keys.
#    - **B** Permute the input, and follow it through layer and mean.
#    - **C** Count the parameters.
#    - **D** Look into models that are trained already, on other data and from other seeds, too.
#    - **E** Train both ways several times, from several seeds and in several set-ups.
#    - **F** Ask which tokens a single layer can reach.
#    - **G** Ask which arrays are stored.
#    - **H** Look at the weights at the beginning.

# %% exercise="claim_audit"
labels = {
    "C1": None, "C2": None, "C3": None, "C4": None, "C5": None, "C6": None,
    "C7": None, "C8": None, "C9": None, "C10": None, "C11": None, "C12": None,
}
rank_test = None      # two rows of three numbers: queries, keys
scale_test = None     # three numbers
shortcut_test = None  # one number
rotation_test = None  # two rows of two numbers
reasons = {"C3": None, "C5": None, "C6": None, "C8": None, "C10": None, "C11": None}

# %% [markdown]
# ### Against recurrence and convolution
#
# Before attention, sequences were read by **recurrent** layers, $h_t = \tanh(W h_{t-1} + U x_t)$, or by **convolutions**, in which each output
# is $\sum_{j=0}^{k-1} W_j x_{t+j}$, over $k$ neighbouring tokens, with a $d \times d$ matrix for each of the $k$ places. Three things differ:
# the *work*, the *steps* that must wait for each other, and the length of the *path* that a signal takes from one token to another.
# Count a path from token to token: from the first one of $n$ to the last the way is $n - 1$ tokens long.
#
# Give classes as text in `n`, `d`, `k`, such as `"n log(n)"`; a logarithm to base $d$ would be `log(n)/log(d)`.
#
# 1. `attention_work`, `recurrent_work`, `convolution_work`: the work of a layer of width $d$ on $n$ tokens. For attention count the pairs
#    of tokens alone, without the projections.
# 2. `recurrent_steps`: the steps of a recurrent layer that must wait for each other.
# 3. `stacked_path`, `dilated_path`: the largest number of convolutions that a signal passes between two of $n$ tokens: stacked ones, and
#    *dilated* ones, where the tokens that layer $l$ sees lie $k^{l-1}$ apart.
#
# Now let $n = 100$, $d = 512$, $k = 3$.
#
# 4. `madds`: the multiply–adds of self-attention (one of its two products), recurrence (one matrix a token), convolution.
#    `paths`: the longest path for the three, in layers, with the convolutions stacked; for the recurrence, how many steps it takes until it has read all. `dilated`: for dilated convolutions.
# 5. `crossover`: with these formulas and $d = 512$, the $n$ below which attention takes less work than recurrence. `layers`, for $n = 100$ again: the number
#    of stacked convolutions that link both ends of the sequence.

# %% exercise="rnn_cnn_compare"
attention_work = None    # text, such as "n log(n)"
recurrent_work = None    # text
convolution_work = None  # text
recurrent_steps = None   # text
stacked_path = None      # text
dilated_path = None      # text
madds = None             # three whole numbers
paths = None             # three whole numbers
dilated = None           # a whole number
crossover = None         # a whole number
layers = None            # a whole number

# %% [markdown]
# ### Fit a power law
#
# The loss of language models falls with the compute $C$ of their training like a power law, $\text{loss} \propto C^{-\alpha}$, over many
# orders of magnitude. On two logarithmic axes that is a straight line. Five runs gave these losses at $C = 10^{18}, 10^{19}, \dots, 10^{22}$ FLOPs:

# %%
your_numbers("scaling_fit")

# %% [markdown]
# 1. `alpha`: the exponent, by least squares over the logarithms. `error`: its standard error. With $N$ points, $x = \log_{10} C$ and the residuals $r$ of
#    $\log_{10} \text{loss}$ that is $\sqrt{\frac{\sum r^2}{N - 2} \big/ \sum (x - \bar x)^2}$. `factor`: what ten times the compute multiplies the loss by.
# 2. `quarter`: the same factor if $\alpha$ were 0.25.
# 3. A transformer with $L$ layers of width $d$ has about $12 L d^2$ weights. `weights`: for $(L, d) = (6, 512), (24, 256), (96, 128)$. `slender`: $d/L$ of the
#    three.
# 4. `depth`: the depth with the same budget if $d = 4L$; it needn't be a whole number. `published`: $d/L$ of GPT-3 ($L = 96$,
#    $d = 12288$) and of BERT base ($L = 12$, $d = 768$).

# %% exercise="scaling_fit"
alpha = None      # one number
error = None      # one number
factor = None     # one number
quarter = None    # one number
weights = None    # three whole numbers
slender = None    # three numbers
depth = None      # one number
published = None  # two numbers: GPT-3, BERT base

# %% [markdown]
# **Where you meet this.** Kaplan et al. (2020) fitted an exponent of about 0.05 for the loss against compute. So ten times the compute takes
# 11 % off the loss, and halving it takes $2^{20}$, a million times the compute. A fit through five points has an error, and the error doesn't say whether the
# line goes on: Hoffmann et al. (2022), with other schedules, came to other advice on how to spend the same budget. On the shape of a model such laws say little: over a wide range
# of $d/L$ Kaplan et al. found nearly equal losses. "96 layers are best" isn't among their results.

# %% [markdown]
# ## 4 Essays
#
# Eight questions, and none has an answer in one line. **Compute the numbers of all eight**, which takes about half an hour, and
# **write four of the essays**, whichever you like; leave the other four cells as they are. The best four count, 8 points each.
#
# An essay has at most **300 words** and ends with what *you* would build. A person reads it and looks for four things, two points each, which each
# question names. Three habits make it good:
#
# - *Say what kind of statement it is.* A theorem has conditions: name them. A measurement was made on some model: name it. A rule of thumb is
#   neither.
# - *Use your numbers.* "It takes much more memory" says less than the two numbers that you have just computed.
# - *Give reasons.* "Rotations are better" is a verdict; why the scores depend on the offset is a reason.
#
# Formulas may be typed in words or between dollar signs. Sources may be named; nobody asks for a list.
#
# ### Heads and their width
#
# A layer of width $d$ shares its columns between $h$ heads. You split widths in the fourth notebook and
# measured heads in this one. Here are three numbers of heads for one width.

# %%
your_numbers("essay_heads")

# %% [markdown]
# 1. `parameters`, `d_k`: for each of the three numbers of heads, the weights of the four projections together (no biases), and the width of one head.
# 2. `stored`: the attention weights that the layer stores for $n$ tokens, for each number of heads.
# 3. `ranks`: softmax doesn't notice when a number is added to a whole row of scores, so what matters of a table of scores is what is left when every row has lost
#    its mean. What rank is left of a random $m \times m$ table, and of the $m \times m$ identity? Two numbers.

# %% exercise="essay_heads"
parameters = None  # three whole numbers
d_k = None         # three whole numbers
stored = None      # three whole numbers
ranks = None       # two whole numbers

# %% [markdown]
# **Essay.** *Many narrow heads or few wide ones?* Say what bounds the rank of a head's scores, and whether the bound holds for its weights; what is shared
# between heads, so that their number doesn't change it; what grows with their number; and which advice about heads is experience and no theorem.

# %% [markdown] exercise="essay_heads" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### Full, sparse, linear
#
# Four patterns for $n$ tokens. In the **window** a query sees keys at most $w$ places away, on both sides, where there are any. With
# the **stride** it sees the keys whose distance is a multiple of $s$, which divides $n$. The last pattern has the window, and its first $g$ tokens are **global**: they see all
# tokens, and all tokens see them.

# %%
your_numbers("essay_patterns")

# %% [markdown]
# 1. `edges`: how many pairs of query and key have the full, the window, the stride, and the window-and-global pattern? A token's pair with itself counts, and no pair counts twice.
# 2. `layers`: how many layers does each take until every token can depend on every other one? Write −1 where that never happens.

# %% exercise="essay_patterns"
edges = None   # four whole numbers
layers = None  # four whole numbers

# %% [markdown]
# **Essay.** *When may full attention be replaced by a sparse or a linear one?* Say what the theorem that transformers approximate maps of sequences (Yun et al., 2020) assumes and leaves open; what a sparse
# pattern must have, with your numbers; what linear attention with 64 features can't form; and name a task that separates them, and why it does.

# %% [markdown] exercise="essay_patterns" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### Absolute, relative, rotary
#
# Five ways to tell a model where a token stands: sinusoids that are added, a learned table for at most $N$ positions of width $d$, relative vectors of width $d_k$ that are added to
# keys (one table for all heads, offsets clipped to $-K, \dots, K$), rotations of queries and keys, and ALiBi's penalties.

# %%
your_numbers("essay_positions")

# %% [markdown]
# `learned_numbers`: how many numbers does each of the five train?

# %% exercise="essay_positions"
learned_numbers = None  # five whole numbers

# %% [markdown]
# **Essay.** *What does each scheme guarantee, and what does only training show?* Say which make a score depend on the offset exactly, with what you measured in the fifth notebook ("Measure the relative information");
# what each costs and what of it can be cached; which tell before from behind; and what it takes to claim that a model reads longer texts than it was trained on.

# %% [markdown] exercise="essay_positions" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### Encoder, decoder, both
#
# A source of $n$ tokens and a target of $m$ tokens. An encoder reads the source alone; a decoder reads the source and then the target, under one causal mask; an encoder and
# a decoder share the work, with cross-attention from the target to the source.

# %%
your_numbers("essay_architectures")

# %% [markdown]
# `entries`: how many scores does one layer of each use, those that a mask hides left out? Of the third, count one layer of the encoder and one of the decoder. Start tokens don't count.

# %% exercise="essay_architectures"
entries = None  # three whole numbers

# %% [markdown]
# **Essay.** *Which of the three would you build for which task?* Say who sees whom, and which positions give a training signal; what each costs, with your numbers, and where the square of $m$ comes from;
# what is kept while a text is generated, token by token; and what each fits, with one example.

# %% [markdown] exercise="essay_architectures" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### Depth and width
#
# Two models: $L$ and $d$ list their layers and their widths. A block has four square projections and a feed-forward part of width $4d$; biases and
# normalisation are left out.

# %%
your_numbers("essay_depth")

# %% [markdown]
# 1. `block_weights`: the weights of all blocks, for each model.
# 2. `attention_madds`: the madds of $QK^\top$ and of the weights with the values, in all layers, for $n$ tokens, for each model. No mask; projections don't count.

# %% exercise="essay_depth"
block_weights = None    # two whole numbers
attention_madds = None  # two whole numbers

# %% [markdown]
# **Essay.** *Deep and narrow, or shallow and wide?* Say what your two models share and what they don't; how one finds an exponent from measurements, and how sure it is;
# how large published exponents of loss against compute are, and what that means for ten times the compute; and what of all this is proved.

# %% [markdown] exercise="essay_depth" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### Normalisation
#
# A batch of $B$ sequences of $n$ tokens, each a vector of width $d$.

# %%
your_numbers("essay_norms")

# %% [markdown]
# `statistics`: how many numbers does each of layer, batch and RMS normalisation compute from this batch? Count the means and the second moments (or variances) that it takes; scales and shifts
# are trained, not computed.

# %% exercise="essay_norms"
statistics = None  # three whole numbers

# %% [markdown]
# **Essay.** *Which normalisation, and where?* Say over which axes each averages, and what that couples; what its Jacobian does to gradients; what changes between a normalisation before
# the sublayer and one behind it; and which explanation of its success (Ioffe & Szegedy, 2015) is disputed (Santurkar et al., 2018).

# %% [markdown] exercise="essay_norms" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### An efficient training plan
#
# A model of $P$ parameters is trained with Adam on $N$ devices, in mixed precision: per parameter 2 bytes for the weight, 2 for the gradient, and 12 for the optimiser's state (a copy of the weight and two moments
# in single precision).

# %%
your_numbers("essay_training")

# %% [markdown]
# 1. `per_device`: bytes on each device if everything is replicated; if the optimiser's state is shared out evenly; if the gradients are, too; if the weights are, too.
# 2. `sent`: bytes that each device sends when the gradients, in half precision, are added up over all devices by a **ring**: they are cut into $N$ pieces; in $N - 1$ steps everybody passes a piece
#    on to the next and adds what comes, and in $N - 1$ more steps the finished pieces go round.

# %% exercise="essay_training"
per_device = None  # four whole numbers
sent = None        # a whole number

# %% [markdown]
# **Essay.** *Plan the training of this model on these devices.* Say what you want to reach and what limits you; how the memory is spent, activations included, and how you would save some; which arithmetic you choose, and
# what it risks or changes; and what is sent, when, and what it delays.

# %% [markdown] exercise="essay_training" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# ### Low-rank adaptation
#
# In the tenth notebook you replaced an update of a weight matrix by one of rank $r$. The update here has the singular values $s$.

# %%
your_numbers("essay_lora")

# %% [markdown]
# 1. `rank_two`: how near can a matrix of rank 2 come to it? Give the Frobenius norm of the difference, divided by that of the update.
# 2. `of_identity`: the same for the $d \times d$ identity and a matrix of rank $r$.

# %% exercise="essay_lora"
rank_two = None     # one number
of_identity = None  # one number

# %% [markdown]
# **Essay.** *When is an update of low rank enough?* Say when it is exact and what is lost otherwise, with your numbers; what stable rank or entropy rank are good for, and what not; whether
# a theorem makes a rank of the order of $\log d$ enough; and when an update isn't of low rank, and how one would notice.

# %% [markdown] exercise="essay_lora" part="essay"
# *Your essay, or leave this as it is.*

# %% [markdown]
# *Where you meet this.* These are the questions of anybody who plans a model: how many heads, which pattern, which positions, which architecture, how deep, which normalisation, on which machines, how to adapt it. Each has
# a part that can be computed in a minute, and a part that only an experiment decides. You know now which is which.

# %% [markdown]
# ## In a trained model: who wrote the D?
#
# You know the model's four heads. After `^BADGEBA` it says D, and it is right. Its logits are a linear function of the stream behind the last norm, and the stream is a sum: of the embedding,
# of what each head added, and of what both feed-forward layers did. So, for this norm, each part has its share in the logit of D. Shown is how much it gives D beyond
# what it gives a symbol on the average.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* seven bars. Embedding 0.5, head 0.0 0.25, head 0.1 0.11, feed-forward 0 −0.25, head 1.0 1.63, head 1.1 4.29, feed-forward 1 3.83: together 10.35, rounded at the end.
#
# Head 1.1 and the layer behind it say D. Head 0.1 says next to nothing; yet without it the loss on repeats rose from 0.0006 to 3.82, as the fourth notebook showed
# (by another measure than in `head_pruning`: the two numbers are not to be compared). It
# tells each letter who stands before it, and 1.1 looks that up: a part may be needed by others and say nothing itself. A share in a logit is an observation; what happens *without* a part
# is an experiment. They answer different questions.

# %% [markdown]
# ### Put the clean run into the spoiled one
#
# Switching a head off says that something breaks, not what the head had to say. *Activation patching* asks that: run a sentence, keep what a head gives there, and put it into the run of another
# sentence. A clean sentence ends with the second A: `^BADGEBA`, and D follows. In the spoiled one another letter stands in the place of the first A: `^BCDGEBA`. Now nothing tells the
# model what came behind A: D costs 2.388 nats in place of 0.0003. Which head brings D back?
#
# `echo` has an argument for this: `hook(place, array)` gets the heads' outputs as `("heads", layer)`, of shape (2, n, 8), and returns what the model goes on with: the same array, or another one.
# Such a function keeps what comes along:

# %%
kept = {}


def keep(place, array):
    """Remember a copy, change nothing."""
    kept[place] = array.copy()
    return array


clean_logits, _ = echo("^BADGEBA", hook=keep)  # kept["heads", 0][1] is now what head 0.1 gives, (8, 8)

# %%
your_numbers("echo_patch")

# %% [markdown]
# Your two sentences differ in one letter. The *cost* is $-\log p$, at the end of the sentence, of the letter that follows in the clean one; the share that a change of the spoiled run *restores* is (cost of the spoiled run − cost of the changed run) / (cost of the
# spoiled run − cost of the clean run). It is 1 if the letter is as likely as in the clean run, and may be negative.
#
# 1. `table`: put the output of one head, all rows of it, from the clean run into the spoiled one. The shares that are restored: a row for each layer, a column for each head.
# 2. `place`: for head 0.1, and for head 1.1, one row of the output is enough. Which? Two positions, `^` being at 0.
# 3. `path`: put in head 0.1 as before, and hold head 1.1 at its output *in the spoiled run*. What share is restored?
#
# A *linear probe* asks what could be read somewhere. Make 40 sentences to fit it and 10 to test it, with your `seed`:
#
#     rng = np.random.default_rng(seed)
#     def sentence():
#         letters = rng.permutation(list("ABCDEFGHIJ"))
#         return ("^" + "".join(letters[: rng.integers(4, 9)]) * 6)[:24]
#     fitted = [sentence() for _ in range(40)]
#     tested = [sentence() for _ in range(10)]
#
# 4. `read`: for the rows 1 … 23 of the fitted sentences find the matrix (16, 11) that maps the stream to the symbol *before*, as a one-hot row, with least squares and no constant (`np.linalg.lstsq`). In how many
#    of the 230 rows of the tested sentences has that symbol the largest entry? Three whole numbers: for the embedding, and for the stream behind layer 0 and behind layer 1, for each a matrix of its own.
# 5. `shown`: what shows that the model *uses* what the probe reads behind layer 0?

# %% exercise="echo_patch"
table = None  # two rows of two numbers
place = None  # two whole numbers
path = None   # one number
read = None   # three whole numbers
shown = None  # one of "A", "B", "C", "D"

# %% [markdown]
# **Where you meet this.** Meng et al. (2022) found by patching in which layers GPT-2 XL keeps facts such as where a tower stands; Wang et al. (2022) took a circuit of 26 heads apart, path by path. Libraries such as TransformerLens offer a hook at
# every place of a pretrained model.

# %% [markdown]
# ## What you can do now
#
# You can measure how focused attention is, say what softmax optimises and prove it, profile heads and remove them, and
# keep what is proved apart from what was observed once. You have argued, with figures of your own, about questions that
# have no one-line answer.
#
# In the next notebook you build a transformer from your own parts, train it, and look inside.
#
# **To read.**
#
# - Michel, Levy & Neubig (2019), *Are sixteen heads really better than one?*: heads removed from trained models, and what it cost.
# - Clark et al. (2019), *What does BERT look at?*: maps of 144 heads, with the kinds that you have profiled.
# - Olsson et al. (2022), *In-context learning and induction heads*: heads like the last one of the tiny model, and the evidence for what they do.
# - Yun et al. (2020), *Are transformers universal approximators of sequence-to-sequence functions?*: what such a theorem assumes.
# - Jain & Wallace (2019), *Attention is not explanation*: what weights do not show.
# - Kaplan et al. (2020), *Scaling laws for neural language models*: where the power laws come from.
# - Vig (2019), *A multiscale visualization of attention in the transformer model*: BertViz, maps of pretrained models to click through.
# - Nanda & Bloom (2022), *TransformerLens* (github.com/TransformerLensOrg/TransformerLens): reads and changes every activation of pretrained models.
