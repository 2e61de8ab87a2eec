# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Normalisation, feed-forward, residuals, encoder block
#
# Attention moves information between tokens. By itself it can't be stacked: a dozen layers of it, one
# behind the other, lose the signal on the way up and the gradient on the way down, and since every output is
# a mean of linear maps, there is little that a token could *compute*. Three plain devices turn it into
# something that works 6, 12 or 96 layers deep: a **norm** that keeps numbers at one size, a
# **feed-forward layer** that computes something for each token, and a **shortcut** around
# both. At the end of this notebook you have assembled them into one block.
#
# | part | you learn |
# |---|---|
# | 1 Keep the size | layer norm by hand, as code, its blind spots and its derivative; batch norm; RMSNorm |
# | 2 Compute something | the feed-forward layer, its parameters, another activation |
# | 3 A way around | what a shortcut does to gradients, and what it doesn't |
# | 4 The block | the class, its three million weights, and where to put the norm |
#
# The parts can be done on different days. How to work with it:
#
# - Vectors are rows, as in Python: $x W + b$, with $W$ of shape (in, out). A variance is the mean of the squared
#   deviations, divided by $d$ and not by $d - 1$.
# - Give numbers to at least four significant digits, small ones too. They may be numbers, text (`"1/3"`) or
#   computed by your own code.
# - In formulas `^` works as well as `**`, and a product needs no sign between names: `2 d f` is `2*d*f`. A derivation is a list of lines, each
#   equal to the one before. Every step is worth points, the last one too: write one a line.
# - Run the cells from top to bottom: short names such as `y` come back in several exercises. Each exercise is
#   graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether an answer is
#   right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - The last exercise measures something with torch. Everything else needs numpy alone.

# %%
import numpy as np

# %% tags=["demonstration"]
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
    print("There is no matplotlib here. Below each picture's cell stands what it shows.")

# %% [markdown]
# ## First a picture
#
# Seven parts of the small model add something, one after the other, to one and the same array, the *stream*. Here is
# how large each of these additions is, and how large the stream is behind it. Which part adds most?

# %% tags=["demonstration"]
in_echo = {
    "pieces": [0.65, 0.85, 0.9, 8.5, 1.64, 3.6, 4.94],
    "stream": [0.65, 1.23, 1.55, 8.9, 9.07, 9.93, 11.65],
    "losses": [0.615, 1.192],
}


def draw_echo():
    parts = ["embedding", "head 0.0", "head 0.1", "feed-\nforward 0", "head 1.0", "head 1.1", "feed-\nforward 1"]
    parts = [f"{part}\n{size:g}" for part, size in zip(parts, in_echo["pieces"], strict=True)]
    _, axis = plt.subplots(figsize=(7.5, 3), layout="constrained")
    axis.bar(range(7), in_echo["pieces"], color="tab:blue", edgecolor="black", label="added")
    axis.plot(range(7), in_echo["stream"], "o--", color="black", label="stream behind it")
    axis.set(xticks=range(7), xticklabels=parts, ylabel="root mean square")
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* seven bars and a dashed line above them. The embedding has 0.65; heads 0.0 and 0.1 add 0.85 and 0.9,
# the first feed-forward layer 8.5, heads 1.0 and 1.1 1.64 and 3.6, the last feed-forward layer 4.94. The stream grows
# from 0.65 over 1.55 to 8.9 behind the first block, and to 11.65 at the end.
#
# *A guess:* The stream becomes eighteen times as large. Why does that not trouble the parts that read it? Keep
# your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Keep the size
#
# ### Layer norm with round numbers
#
# Layer norm takes the $d$ features of **one token**, subtracts their mean $\mu$, divides by their
# standard deviation $\sigma$, and then gives each feature a scale $\gamma_i$ and a shift $\beta_i$ that are learned:
#
# $$ \hat x_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}, \qquad y_i = \gamma_i \hat x_i + \beta_i . $$
#
# For $x = (1, 3, 3, 9)$, $\varepsilon = 0$: the mean is 4, the deviations are $(-3, -1, -1, 5)$, their squares have the mean
# $36/4 = 9$, so $\sigma = 3$ and $\hat x = (-1, -\tfrac13, -\tfrac13, \tfrac53)$. With $\gamma = (1, 1, 3, 3)$ and
# $\beta = (0, 0, 2, 0)$ the output is $y = (-1, -\tfrac13, 1, 5)$.
#
# Now your own numbers, with $\varepsilon = 0$:

# %%
your_numbers("ln_hand")

# %% [markdown]
# 1. `mean`, `var`: mean and variance.
# 2. `xhat`: the normalised vector. What do its entries add up to, and what do their squares?
# 3. `y`: the output, after scale and shift.

# %% exercise="ln_hand"
mean = None  # one number
var = None   # one number
xhat = None  # four numbers
y = None     # four numbers

# %% [markdown]
# ### Layer norm for any shape
#
# In a model, $x$ has axes in front of its features: batch, position, perhaps more. **Every vector
# along the last axis is normalised by itself.** Texts that say "per sequence" or "per layer" mean this as well.
#
# What is $\varepsilon$ for? A row whose entries are all equal would be $0/0$. It stands **inside** the root,
# beside the variance, and is $10^{-5}$ unless somebody says otherwise. As long as variances are near 1 it can't be
# seen. For small vectors it decides, as question 2 shows.
#
# 1. Write `layer_norm(x, gamma, beta, eps=1e-5)` for arrays with any number of axes. A scale may be negative, a row may be
#    constant, $d$ may be 1. float32 gives float32; the array that you are given stays as it was.
# 2. `tiny`: take $x = 0.001 \cdot (1, 7, 9, 15)$, no scale, no shift. Three rows: with $\varepsilon = 10^{-5}$ inside the
#    root; with $\varepsilon = 10^{-8}$ inside; with $10^{-5}$ *added to the root* $\sigma$, as in some published code.

# %% exercise="ln_code"
import numpy as np


def layer_norm(
    x: "array (..., d)", gamma: "array (d,)", beta: "array (d,)", eps: float = 1e-5
) -> "array, same shape and type as x":
    """Normalise the last axis, then scale and shift.

    >>> layer_norm(np.array([[3.0, 5.0], [0.0, -8.0]]), np.array([1.0, 10.0]), np.zeros(2), eps=0)
    array([[ -1.,  10.],
           [  1., -10.]])
    """
    raise NotImplementedError


tiny = None  # three rows of four numbers

# %% [markdown]
# ### Which axis?
#
# Networks for images use **batch norm**: the same formula, with means over other axes. It compares one
# feature across all tokens of all examples, while layer norm compares the features of one token. The
# picture marks which numbers share a mean, for two sequences of two tokens with three features.

# %% tags=["demonstration"]
if plt:
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    groups = {"layer norm": ["AAA", "BBB", "CCC", "DDD"], "batch norm": ["ABC"] * 4}
    for axis, (title, rows) in zip(axes, groups.items(), strict=True):
        for i, row in enumerate(rows):
            for j, letter in enumerate(row):
                axis.text(j, i, letter, ha="center", va="center")
        axis.set(title=title, xlim=(-0.5, 2.5), ylim=(3.5, -0.5), xlabel="feature")
        axis.set_xticks([0, 1, 2])
        axis.set_yticks(range(4), ["seq 0, token 0", "seq 0, token 1", "seq 1, token 0", "seq 1, token 1"])
    plt.show()

# %% [markdown]
# *The picture:* two tables of four tokens by three features. Entries with the same letter share a mean. Under layer norm each
# row has a letter of its own, under batch norm each column.
#
# Your batch holds two sequences of three tokens with four features. There is no $\varepsilon$, no scale, no shift.

# %%
your_numbers("ln_vs_bn")

# %% [markdown]
# 1. `means`: how many means does layer norm compute for your batch, and how many does batch norm over (batch, position)?
# 2. `ln_row`, `bn_row`: what becomes of the first token of the first sequence, under each?
# 3. `changed`: 10 is added to every entry of the *second* sequence. Which result for the *first* one changes?

# %% exercise="ln_vs_bn"
means = None    # two whole numbers: layer norm, batch norm
ln_row = None   # four numbers
bn_row = None   # four numbers
changed = None  # one of "A", "B", "C", "D"

# %% [markdown]
# Now in words (a person reads this): why do transformers use layer norm rather than batch norm? Give two reasons. Think of
# a batch of one, of padding, and of a model that writes one token after the other.

# %% [markdown] exercise="ln_vs_bn" part="why"
# *Your answer, about four sentences.*

# %% [markdown]
# ### Shift, scale, sign, epsilon
#
# "Layer norm is invariant under shifting and scaling its input", one reads. Let us see which part of that is
# true. All entries of a vector are multiplied by $a$ and shifted by $b$.
#
# 1. `new_mean`, `new_variance`: if the entries of $x$ have the mean $m$ and the variance $v$, what are mean and variance of
#    the entries of $a x + b$? Formulas in `a`, `b`, `m`, `v`.
# 2. Take one entry `x` of the vector, and let $y = (x - m)/\sqrt v$ be what layer norm makes of it ($\varepsilon = 0$, no scale,
#    no shift). Write $M$ and $V$ for the new mean and the new variance, and let $a > 0$.
#    - `positive_steps`: the factor is $a$. Lead `(a*x + b - M)/sqrt(V)` to a form with `y` and nothing else.
#    - `negative_steps`: the factor is $-a$, so now $M$ belongs to $-a x + b$. Lead `(-a*x + b - M)/sqrt(V)` to
#      a form with `y`.
#
#    You may use `a`, `b`, `x`, `m`, `v`, `M`, `V`, `y`. What, then, would you say of the quoted sentence?
# 3. `factor`: now with $\varepsilon$ in the root, and $a > 0$. By which factor does an entry of
#    $\operatorname{LN}_\varepsilon(a x)$ differ from the same entry of $\operatorname{LN}_0(x)$? A formula in `a`, `epsilon` and
#    `sigma2`, the variance of $x$.
# 4. `factors`: that factor at $\varepsilon = 10^{-5}$ for $x = (1, 7, 9, 15)$ itself ($a = 1$), and for $0.001\, x$.

# %% exercise="ln_invariance"
new_mean = None        # a formula in a, b, m, v
new_variance = None    # a formula in a, b, m, v
positive_steps = None  # a list of lines
negative_steps = None  # a list of lines
factor = None          # a formula in a, sigma2, epsilon
factors = None         # two numbers

# %% [markdown]
# **Where you meet this.** The directions along which a layer is blind are directions along which its input may drift
# unpunished. Where inputs have become small, $\varepsilon$ decides what comes out. Models differ in it, so it must be copied with
# the weights: BERT uses $10^{-12}$, GPT-2 $10^{-5}$.
#
# ### The derivative of normalisation
#
# A gradient that comes back through a layer norm is multiplied by its Jacobian $\partial \hat x / \partial x$.
# Every entry of $x$ moves the mean and the deviation, so every entry of $\hat x$ moves with it.
#
# Let a single entry vary, call it $t$, and keep all others fixed. Write $R$ for the sum of the others and $Q$ for the sum of
# their squares. Then for any number $d$ of entries
#
# $$ m = \frac{t + R}{d}, \qquad s = \sqrt{\frac{t^2 + Q}{d} - m^2}, \qquad z = \frac{t - m}{s}, \qquad y = \frac{u - m}{s}, $$
#
# where $u$ is one of the other entries. Two derivatives are asked for: of $z$, the normalised entry itself, and of $y$,
# another one. In text a derivative is `diff(…, t)`; `diff(m, t)` may stand in a line as it is.
#
# 1. `sigma_steps`: how does the deviation move? Lead `diff(s, t)` to a form in `z` and `d`.
# 2. `other_steps`: lead `diff((u - m)/s, t)` to a form in `y`, `z`, `d`, `s`. What you found in 1 may be used;
#    a factor that is wrong there is paid for there.
# 3. `own_steps`: lead `diff((t - m)/s, t)` to a form in `z`, `d`, `s`.
#
# Read them off for all $i$, $j$ at once: can you write the Jacobian as a matrix, with $I$, the matrix of ones and
# $\hat x^\top \hat x$ (a column times a row)?
#
# 4. `sigma`, `J`: the deviation of $x = (1, 2, 4)$, and the Jacobian there, three rows.
# 5. `ranks`: the rank of the Jacobian at $(1, 2, 4)$ and at $(1, 2, 4, 8, 16)$. (Which vectors does it map to 0?)
#    `rank_general`: the rank for $d$ entries that differ, $d \ge 3$. A formula in `d`.

# %% exercise="ln_jacobian"
sigma_steps = None   # a list of lines
other_steps = None   # a list of lines
own_steps = None     # a list of lines
sigma = None         # one number
J = None             # three rows of three numbers
ranks = None         # two whole numbers
rank_general = None  # a formula in d

# %% [markdown]
# Two things are worth keeping. The Jacobian is divided by $\sigma$: a *large* input gets a *small* gradient, which will explain
# what happens in deep stacks at the end of this notebook. And it removes two directions from every
# gradient, the ones that the layer can't see.
#
# ### Leaving the mean in
#
# **RMSNorm** divides by the root mean square and subtracts nothing; it has a scale $\gamma$ and no shift:
#
# $$ y_i = \gamma_i \frac{x_i}{\sqrt{\tfrac1d \sum_j x_j^2 + \varepsilon}} . $$
#
# Take $x = (1, 7, 9, 15)$, $\gamma = 1$, $\varepsilon = 0$.
#
# 1. `rms`, `y`: the root mean square, and the output.
# 2. `equal_when`: for which inputs do RMSNorm and layer norm ($\gamma = 1$, $\beta = 0$, $\varepsilon = 0$) give the same?
# 3. `parameters`: how many parameters has a layer norm at $d = 512$, and how many an RMSNorm?

# %%
your_numbers("rmsnorm")

# %% exercise="rmsnorm"
rms = None         # one number
y = None           # four numbers
equal_when = None  # one of "A", "B", "C", "D"
parameters = None  # two whole numbers: layer norm, RMSNorm

# %% [markdown]
# **Where you meet this.** The transformer of 2017, BERT and GPT-2 use layer norm. Llama-2-7B, Llama-3-8B and Mistral-7B use
# RMSNorm: one pass over the features less, and in practice no worse.
#
# ## 2 Compute something
#
# ### Position-wise feed-forward
#
# After attention has collected what a token needs, the **feed-forward layer** works on it: two linear
# maps with a ReLU between them, the same for every position,
#
# $$ \operatorname{FFN}(x) = \max(0,\ x W_1 + b_1)\, W_2 + b_2 , $$
#
# with $W_1$ of shape $(d, f)$ and $W_2$ of shape $(f, d)$. The hidden width $f$ is larger than $d$, mostly $4d$. Without the
# ReLU, the two maps would be a single linear one.
#
# First by hand, with $d = 2$ and $f = 3$:

# %%
your_numbers("ffn_code")

# %% [markdown]
# 1. `pre`, `hidden`, `y`: what the first map gives, what the ReLU leaves of it, and the output.
# 2. Write `ffn(x, W1, b1, W2, b2)` for arrays with any number of axes in front. float32 gives float32; the arguments stay as
#    they were.
# 3. `shapes` of input, hidden layer and output, for a batch of one sequence of 10 tokens, $d = 512$, $f = 2048$.

# %% exercise="ffn_code"
import numpy as np

pre = None     # three numbers
hidden = None  # three numbers
y = None       # two numbers
shapes = {"input": None, "hidden": None, "output": None}  # tuples


def ffn(
    x: "array (..., d)",
    W1: "array (d, f)",
    b1: "array (f,)",
    W2: "array (f, d)",
    b2: "array (d,)",
) -> "array (..., d)":
    """Apply max(0, x W1 + b1) W2 + b2 to every position.

    >>> ffn(np.array([[3.0], [-3.0]]), np.eye(1), np.zeros(1), np.eye(1), np.ones(1))
    array([[4.],
           [1.]])
    """
    raise NotImplementedError


# %% [markdown]
# ### Counting the feed-forward layer
#
# A layer that looks like an afterthought to attention. How large is it? Your widths:

# %%
your_numbers("ffn_params")

# %% [markdown]
# 1. `matrices`, `with_biases`: the weights of the two matrices, and all parameters with both biases. (When a text gives one
#    number, ask which of the two it is.)
# 2. `formula`: all parameters where $f = 4d$, in `d`.
# 3. `ratio`: the weights of the two matrices, divided by those of an attention layer's four matrices, for your $d$ and $f$.

# %% exercise="ffn_params"
matrices = None     # a whole number
with_biases = None  # a whole number
formula = None      # a formula in d
ratio = None        # one number

# %% [markdown]
# ### The other activation
#
# BERT and the GPTs have **GELU** in place of the ReLU: $x\, \Phi(x)$, where
#
# $$ \Phi(x) = \tfrac12 \Bigl(1 + \operatorname{erf} \tfrac{x}{\sqrt 2}\Bigr) $$
#
# is the chance that a standard normal number is at most $x$. So an input is not cut off but multiplied by a probability. Because
# erf used to be slow, two approximations are in use:
#
# $$ \tfrac12 x \Bigl(1 + \tanh\bigl(\sqrt{2/\pi}\,(x + 0.044715\, x^3)\bigr)\Bigr) \qquad\text{and}\qquad
#    \frac{x}{1 + e^{-1.702 x}} . $$
#
# They differ from the exact function by up to 0.0005 and 0.02, so weights that were trained with one of them want that one.
# (The original GPT-2 has the first of the two, CLIP the second.)
# Where does GELU differ from the ReLU at all, and from SiLU, which you will meet below?

# %% tags=["demonstration"]
if plt:
    x = np.linspace(-4, 3, 300)
    figure, axis = plt.subplots(figsize=(6, 2.8), layout="constrained")
    axis.plot(x, np.maximum(x, 0), "k-", label="ReLU")
    axis.plot(x, 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), "k--", label="GELU")
    axis.plot(x, x / (1 + np.exp(-x)), "k:", label="SiLU, $x / (1 + e^{-x})$")
    axis.set(xlabel="$x$", ylim=(-0.5, 3))
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* ReLU, GELU and SiLU over $x$ from −4 to 3. All three are near 0 on the far left and near $x$ on the far right.
# ReLU has a corner at 0. GELU and SiLU are smooth and dip below 0 left of it, SiLU deeper and further to the left.
#
# 1. `exact`: $x\, \Phi(x)$ at $-3, 0, 1, 2$.
# 2. `gelu(x, approximate="none")`: the exact function; the first approximation for `"tanh"`, the second one for `"sigmoid"`.
#    numpy has no erf; the stub makes one that works on arrays.
# 3. `slopes`: the derivative of the exact function at 0 and at 1. `minimum`: where it is smallest, and how small.

# %% exercise="ffn_gelu"
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])

exact = None    # four numbers
slopes = None   # two numbers: at 0, at 1
minimum = None  # two numbers: where, how small


def gelu(x: "array", approximate: str = "none") -> "array, same shape and type as x":
    """Return x Φ(x), or one of its approximations: approximate="tanh", approximate="sigmoid".

    >>> gelu(np.array([-10.0, 10.0]))
    array([-0., 10.])
    """
    raise NotImplementedError


# %% [markdown]
# **Where you meet this.** BERT-base and GPT-2 small have $d = 768$ and $f = 3072$ with GELU. Llama-2-7B has $d = 4096$ and
# $f = 11008$, Llama-3-8B and Mistral-7B $f = 14336$, which is not $4d$: at the end of this notebook you see why.
#
# ## 3 A way around
#
# ### The identity in the gradient
#
# A sublayer $F$ with a **shortcut** gives $x + F(x)$. A layer then only has to learn what is to be *changed*, and
# a gradient has a way down that doesn't lead through $F$. How much is that worth? Let $J_F$ be the Jacobian of $F$.
#
# 1. `jacobian`: the Jacobian of $x + F(x)$ for a vector $x$. A formula in `I` and `J_F`.
# 2. In one dimension, let every layer be $F(x) = a x$, so that its slope is $a$. Your slope and your number of layers:

# %%
your_numbers("residual_grad")

# %% [markdown]
#    - `with_path`: the slope of $L$ layers $x + F(x)$, one behind the other. `without_path`: of $L$ layers $F(x)$.
#    - `damped`: with shortcuts, but for other slopes: for $a = -1$ and for $a = -\tfrac12$, $L$ layers each.
# 3. `steps`: two layers with the Jacobians $J_1$ (the first) and $J_2$. Multiply `(I + J_2)*(I + J_1)` out, step by step. Matrices
#    don't commute; `I*A` may be simplified.
# 4. `paths`: each term of the product is a path from top to bottom. How many are there for your $L$ layers?
# 5. `claim`: what is right about the gradient of a stack of residual blocks?

# %% exercise="residual_grad"
jacobian = None      # a formula in I and J_F
with_path = None     # one number
without_path = None  # one number
damped = None        # two numbers: a = -1, a = -1/2
steps = None         # a list of lines
paths = None         # a whole number
claim = None         # one of "A", "B", "C", "D"

# %% [markdown]
# ### Where the residual comes from
#
# Half a year before residual networks there were **highway networks**. A gate $T$, computed from $x$ and between 0 and
# 1, decides for each feature how much is transformed and how much is carried on:
#
# $$ y = T(x)\, F(x) + \bigl(1 - T(x)\bigr)\, x . $$
#
# 1. `y`: the outputs for $x = 2$ and $F = 6$, with the gates $T = 0$, $\tfrac14$ and $1$.
# 2. `slope`: $dy/dx$ for a single feature. Write `T(x)`, `F(x)`, `diff(T(x), x)`, `diff(F(x), x)`.
# 3. `setting`: for which setting of the gate is $y = x + F(x)$, a residual layer?

# %%
your_numbers("highway_gate")

# %% exercise="highway_gate"
y = None        # three numbers
slope = None    # a formula with T(x), F(x) and their derivatives
setting = None  # one of "A", "B", "C", "D"

# %% [markdown]
# ## 4 The block
#
# ### One post-norm block
#
# Everything is there. One block of the original encoder is
#
# $$ y = \operatorname{LN}\bigl(x + \operatorname{MultiHead}(x, x, x)\bigr), \qquad
#    \operatorname{block}(x) = \operatorname{LN}\bigl(y + \operatorname{FFN}(y)\bigr) , $$
#
# where the two norms have scales and shifts of their own. The norm comes *behind* the sum, which is why this is called
# **post-norm**.
#
# The attention is the class that you wrote two notebooks ago. Save that notebook, and run this cell: your own code comes in its
# place.

# %%
carry("mha_numpy")

# %% [markdown]
# 1. `class EncoderBlock`, with `EncoderBlock(d, h, f, rng)`, and `block(x, mask)` for `x` of shape $(B, n, d)$. The mask is
#    Boolean, True = may attend, and is handed on to attention. Use your `layer_norm` and `ffn`.
#    - `attention` is a `MultiHead(d, h, rng)`, without biases.
#    - `W1` $(d, f)$ and `W2` $(f, d)$ are drawn from `rng` with mean 0 and the standard deviations $1/\sqrt d$ and
#      $1/\sqrt f$, so that a map keeps the size of what comes in.
#    - `b1` $(f,)$ and `b2` $(d,)$ are 0, `gamma1`, `gamma2` are 1, `beta1`, `beta2` are 0, all of shape $(d,)$. Norm 1 stands
#      behind attention.
#    - `load` puts other arrays in their place, by name. It is written already; the checks use it.
# 2. Shapes, for `x` of shape $(2, 10, 512)$, $h = 8$ and $f = 2048$, each a tuple: of the attention weights of all heads
#    (`scores_shape`), of what attention gives (`attended_shape`), after the first sum and norm (`first_norm_shape`), of the hidden
#    layer (`hidden_shape`), of what the feed-forward layer gives (`forward_shape`), and of what the block gives
#    (`block_shape`). Which of them *must* be equal, because they are added?
# 3. A block mixes information in two directions. `mixes_tokens`: of its devices, all that let something pass from one
#    token to another. `mixes_heads`: of those without the norms, all that let something pass from the output columns of one head to those of another. (The norms let each column feel two numbers,
#    mean and deviation; leave them aside in the second question.)

# %%
your_numbers("encoder_block")

# %% exercise="encoder_block"
import numpy as np

scores_shape = None      # a tuple
attended_shape = None    # a tuple
first_norm_shape = None  # a tuple
hidden_shape = None      # a tuple
forward_shape = None     # a tuple
block_shape = None       # a tuple
mixes_tokens = None      # letters of "ABCDE"
mixes_heads = None       # letters of "ABCD"


class EncoderBlock:
    """One post-norm block of the original encoder.

    >>> block = EncoderBlock(8, 2, 32, np.random.default_rng(0))
    >>> block(np.random.default_rng(1).normal(size=(2, 5, 8))).shape
    (2, 5, 8)
    """

    def __init__(self, d: int, h: int, f: int, rng: np.random.Generator):
        raise NotImplementedError

    def __call__(
        self, x: "array (B, n, d)", mask: "Boolean array, True = may attend" = None
    ) -> "array (B, n, d)":
        """Return what comes out, one row for each token."""
        raise NotImplementedError

    def load(self, weights: dict):
        """Put arrays in place of the weights, by name."""
        for name, array in weights.items():
            owner = self.attention if name in ("W_q", "W_k", "W_v", "W_o") else self
            setattr(owner, name, array)


# %% [markdown]
# Try what you would expect of a block: permuted tokens come out permuted; with a causal mask a change of the last token leaves the
# others alone; every row of the output has mean 0 and variance 1, as long as the second norm's scale is 1 and its shift 0.
#
# ### Three million weights
#
# Count one block with $d = 512$, $h = 8$, $f = 2048$. Here *all* maps have biases, those of attention as well.
#
# 1. `groups`: the parameters of attention, of the feed-forward layer, and of both norms together.
# 2. `total`: of the whole block. `share`: the share of the feed-forward layer in it.
# 3. `bare`: the whole block without biases and norms.

# %% exercise="block_params"
groups = None  # three whole numbers: attention, feed-forward, norms
total = None   # a whole number
share = None   # one number
bare = None    # a whole number

# %% [markdown]
# ### Where to put the norm
#
# A norm in front of the sublayer leaves the sum alone: $x + F(\operatorname{LN}(x))$. That is **pre-norm**, and most large
# language models since GPT-2 have it. What runs from bottom to top, being added to and never divided, is called the *stream*; a final norm follows
# at the top. What is better about it? First on paper, at initialisation, where branches are roughly independent of what they are added to.
#
# 1. Post-norm: $x$ and $F(x)$ have variance 1 each, so their sum has variance 2, and the norm divides by its deviation.
#    `path`: by which factor is a signal multiplied that takes the shortcut through $L$ such steps? A formula in `L`.
#    `path_of_six_blocks`: that number for six blocks. (How many steps has a block?)
# 2. Pre-norm: the stream begins with variance 1, and each branch adds an independent number of variance 1. `stream`: its standard
#    deviation after 0, 3, 8 and 15 branches.
#
# Now measure. The next cell makes a deep stack of torch's own blocks, the same ones each time you give the same seed, and
# two tensors: an input $x$ and weights $w$. Let the stack's output be $y$; the loss is $\sum w\, y$, all entries
# multiplied and added.

# %%
import torch
from torch import nn


def deep(depth, pre_norm, seed):
    """Return a list of blocks, an input x and the weights w of the loss."""
    torch.manual_seed(seed)
    blocks = [
        nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=pre_norm)
        for _ in range(depth)
    ]
    for p in (p for block in blocks for p in block.parameters() if p.dim() > 1):
        nn.init.xavier_uniform_(p)
    x, w = torch.randn(2, 4, 16, 64)
    return blocks, x, w


# %% [markdown]
# 3. `gradient_norms(blocks, x, w, pre_norm)`: for every block, the first one first, the length of the loss's gradient with respect to all
#    its parameters: the root of the sum of all squares. If `pre_norm` is true, the final norm is needed: apply
#    `torch.nn.functional.layer_norm(y, y.shape[-1:])` to the output before the loss. Gradients that the blocks hold from before
#    must not count.
# 4. `last_block`: for the depths 2, 4, 8, 16 and 32, the **last** block's entry of `gradient_norms`, a mean over the seeds
#    0, 1, 2, 3. Draw it against the depth, in pre-norm and in post-norm, and hand in the data of both curves. (That takes some
#    seconds. Once you have the numbers, you may write them down in place of the computation.)

# %% exercise="pre_post_norm"
import torch

path = None                # a formula in L
path_of_six_blocks = None  # one number
stream = None              # four numbers
last_block = None          # {"pre": (depths, norms), "post": (depths, norms)}


def gradient_norms(
    blocks: "list of modules", x: "tensor (B, n, d)", w: "tensor (B, n, d)", pre_norm: bool
) -> "as many numbers as there are blocks":
    """Return the norm of each block's gradient, all its parameters together.

    >>> x, w = torch.full((1, 1, 1), 3.0), torch.ones(1, 1, 1)
    >>> gradient_norms([torch.nn.Linear(1, 1, bias=False)], x, w, pre_norm=False)
    array([3.], dtype=float32)
    """
    raise NotImplementedError


# %% [markdown]
# Now in words (a person reads this): what follows for training a deep stack, in post-norm and in pre-norm? And the factor of question 1 says that
# almost nothing comes through the shortcut; what does your measurement say about the gradient, and how do the two fit together?

# %% [markdown] exercise="pre_post_norm" part="consequence"
# *Your answer, about five sentences.*

# %% [markdown]
# ### A block in torch, with GELU and dropout
#
# Nobody trains a block in NumPy. The one that you write now has pre-norm, GELU in place of ReLU, and **dropout**: while a model is trained, each
# entry of what a sublayer gives is set to 0 with the probability $p$, and divided by $1 - p$ otherwise. In evaluation nothing is dropped.
#
# $$ y = x + \operatorname{drop}\bigl(\operatorname{MHA}(\operatorname{LN}_1 x)\bigr), \qquad
#    z = y + \operatorname{drop}\bigl(\operatorname{GELU}(\operatorname{LN}_2(y)\, W_1 + b_1)\, W_2 + b_2\bigr) . $$
#
# GELU is $x\, \Phi(x)$ itself, no approximation. `MHA(d, h)` is your module of the fourth notebook; `MHA(d, h)(x, x, x, mask)` returns the output and
# the weights. Norms, linear maps, GELU and dropout may be torch's own; its attention and its whole blocks may not.
#
# 1. `growth`: dropout keeps the mean of what it is given. By which factor does it enlarge the mean *square*, for $p = 0.1$?
# 2. `Block(d, h, f, p)`, with the submodules `attention`, `norm1`, `norm2`, `up` ($d \to f$) and `down` ($f \to d$), which `load_from` below
#    expects. With the weights of torch's own block it gives torch's own result; `train()` turns dropout on, `eval()` off. It has no parameters
#    but these, and gradients reach all of them.

# %%
carry("mha_torch")

# %% exercise="torch_block"
import torch
from torch import nn

growth = None  # one number


class Block(nn.Module):
    """A pre-norm encoder block with GELU and dropout.

    >>> Block(8, 2, 32)(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, d: int, h: int, f: int, p: float = 0.1):
        super().__init__()
        raise NotImplementedError

    def load_from(self, m: nn.TransformerEncoderLayer):
        """Take over the weights of the library's block."""
        self.attention.load_from(m.self_attn)
        pairs = {"norm1": m.norm1, "norm2": m.norm2, "up": m.linear1, "down": m.linear2}
        for name, theirs in pairs.items():
            getattr(self, name).load_state_dict(theirs.state_dict())

    def forward(self, x: "tensor (B, n, d)", mask: "Boolean tensor, True = may attend" = None):
        """Return what comes out, one row for each token."""
        raise NotImplementedError


# %% [markdown]
# *Where you meet this.* This is `nn.TransformerEncoderLayer(d, h, f, p, "gelu", batch_first=True, norm_first=True)` in all but two more places of
# dropout, on the weights of attention and behind GELU. Pretrained blocks of this kind are a line away in Hugging Face's *transformers* and in *timm*; both split heads
# with reshapes such as yours, which `einops.rearrange(x, "b n (h c) -> b h n c", h=h)` says in words. Large models of today are mostly trained without dropout, since they see no text twice.

# %% [markdown]
# ### Where you meet this today
#
# *No points here: to read, and a question at the end.* Leave aside what goes on inside attention (rotated positions, shared keys and
# values). Then a block of 2024 differs from the one that you built in four places.
#
# | place | 2017 | today (Llama, Mistral) | why |
# |---|---|---|---|
# | norm | behind the sum | in front of the sublayer, and one at the top | no large gradients near the output, less warm-up |
# | kind | layer norm | RMSNorm | cheaper, and no worse |
# | feed-forward | $\max(0, x W_1 + b_1) W_2 + b_2$ | SwiGLU: $\bigl(\operatorname{SiLU}(x W_g) \odot x W_u\bigr) W_d$ | better at the same size |
# | biases | in the feed-forward layer, shifts in the norms | none | not missed |
#
# **SwiGLU** multiplies two maps of $x$, one of which goes through $\operatorname{SiLU}(z) = z / (1 + e^{-z})$ and so acts as a gate. It has three
# matrices in place of two. To keep the number of weights, its hidden width is cut to $\tfrac23 \cdot 4d$: for $d = 4096$ that is
# 10,922.67, and Llama-2-7B has 11,008, the next multiple of 256. (Llama-3-8B and Mistral-7B take 14,336: they spend 31 % more than $8 d^2$ weights on it.) Three matrices $4096 \times 11008$ are 135,266,304 weights, two
# $4096 \times 16384$ would be 134,217,728.
#
# What does all that do to a signal, and to its gradient? See 32 blocks ($d = 64$, four heads) at initialisation, mean of four seeds.
# *Original* is post-norm with ReLU, *pre-norm* the same with the norm in front, *today* pre-norm with RMSNorm, SwiGLU and no biases, and
# *bare* has neither norms nor shortcuts. The size of the stream is its root mean square in front of a block; the gradient is that of the loss with
# respect to the stream there.

# %% tags=["demonstration"]
# in front of block 0, 2, 4, …, 30, and behind the last one
sizes = {
    "original": [0.996, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] ,
    "pre-norm": [0.996, 1.33, 1.63, 1.94, 2.23, 2.48, 2.71, 2.92, 3.11, 3.3, 3.54, 3.72, 3.86, 3.95, 4.07, 4.33, 4.51] ,
    "today": [1.01, 1.17, 1.34, 1.51, 1.71, 1.88, 2.06, 2.21, 2.37, 2.47, 2.63, 2.78, 2.94, 3.05, 3.19, 3.33, 3.47] ,
    "bare": [0.996, 0.0351, 0.00569, 0.000936, 0.000145, 2.29e-05, 3.41e-06, 4.61e-07, 6.91e-08, 1.07e-08, 1.71e-09, 2.97e-10, 4.29e-11, 7.99e-12, 9.65e-13, 1.49e-13, 2.85e-14] ,
}
gradients = {
    "original": [31.3, 23.9, 19.0, 18.1, 15.7, 13.8, 13.6, 13.3, 14.4, 14.9, 15.6, 17.8, 21.1, 26.2, 32.1, 44.7, 63.6],
    "pre-norm": [50.9, 34.6, 28.2, 24.4, 21.8, 20.2, 19.0, 18.2, 17.6, 16.9, 16.2, 15.8, 15.4, 15.0, 14.7, 14.3, 14.1],
    "today": [112.0, 77.0, 57.2, 46.2, 38.9, 34.3, 30.8, 28.2, 26.2, 24.7, 23.4, 22.2, 21.3, 20.5, 19.8, 19.1, 18.6],
    "bare": [1.91e-12, 1.29e-11, 8.76e-11, 6.79e-10, 3.5e-09, 2.29e-08, 1.52e-07, 1e-06, 6.35e-06, 4.04e-05, 0.000249, 0.00159, 0.0103, 0.0688, 0.465, 2.74, 63.6],
}
if plt:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for axis, (title, curves) in zip(
        axes, {"size of the stream": sizes, "gradient": gradients}.items(), strict=True
    ):
        for style, (name, values) in zip(("k-", "k--", "k-.", "k:"), curves.items(), strict=True):
            axis.plot(range(0, 33, 2), values, style, label=name)
        axis.set(title=title, xlabel="block", yscale="log")
    axes[0].set_ylim(0.3, 10)
    axes[1].set_ylim(3, 300)
    axes[1].legend()
    plt.show()

# %% [markdown]
# *The picture:* two panels over the depth from 0 to 32, on logarithmic scales. On the left, the size of the stream: 1 throughout for *original*; it
# grows to 4.5 for *pre-norm* and to 3.5 for *today*; *bare* falls out of the picture, to $3 \cdot 10^{-14}$. On the right the gradient, which
# begins at the top, depth 32: *original* starts with 64, sinks to 13 in the middle and arrives at the bottom with 31. *Pre-norm* starts with 14, since the final norm
# divides by the size of the stream, and grows steadily to 51; *today* grows from 19 to 112. *Bare* arrives with $2 \cdot 10^{-12}$: it
# can't learn.
#
# So with the norm in either place a gradient gets through 32 blocks. The difference is at which end it is large: at the top in post-norm, where the first steps of
# training then do damage unless they are small, and at the bottom in pre-norm.
#
# **★ A question without points.** Turn your block into one of today: pre-norm, RMSNorm, SwiGLU. Two tests: with $W_O = 0$ and
# $W_d = 0$ it must return $x$ *exactly*, and adding blocks of that kind changes nothing. What does your post-norm block return there, and
# what does that mean for a model that is to be made deeper after training?

# %% [markdown]
# ### A trained block on your own code
#
# The small model of the first notebook was trained with two such blocks; they have one change inside attention, too, the rotation of
# the fifth notebook. Its 5,552 numbers lie in the file `echo.npz` beside this notebook. What it lacks is code, and you have written almost all of it:
#
# $$ u = x + \operatorname{Attention}\bigl(\operatorname{RMS}_1(x)\bigr), \qquad
#    y = u + \Bigl(\operatorname{SiLU}\bigl(\operatorname{RMS}_2(u)\, W_g\bigr) \odot \operatorname{RMS}_2(u)\, W_u\Bigr) W_d . $$
#
# Your attention of the third notebook, `split_heads` and `merge_heads` of the fourth and `rope` of the fifth come in by this cell, once those notebooks are saved. You
# need not use them.

# %%
carry("sdpa")

# %%
carry("mha_split")

# %%
carry("rope_apply")

# %% [markdown]
# The next cell reads the first block and embeds a sentence: `x` is the stream in front of the block.

# %%
LETTERS = "^ABCDEFGHIJ"
model = {name: array.astype(float) for name, array in np.load("echo.npz").items()}
first_block = {name: array[0] for name, array in model.items() if len(array) == 2}


def embedded(sentence):
    """Return the stream in front of the first block, (1, n, 16)."""
    return model["embed"][[LETTERS.index(letter) for letter in sentence]][None]


print({name: array.shape for name, array in first_block.items()}, embedded("^BADGEBADGE").shape)

# %% [markdown]
# 1. `echo_block(x, w, h)` for `x` of shape $(B, n, d)$ and $h$ heads. `w` holds the arrays `norm1` and `norm2` $(d,)$, `wq`, `wk`, `wv` and `wo`
#    $(d, d)$, `gate` and `up` $(d, f)$, `down` $(f, d)$. Matrices are multiplied from the right, `x @ w["wq"]`; head 0 has the first columns.
#    - The norms divide by $\sqrt{\tfrac1d \sum_j x_j^2 + 10^{-5}}$ and multiply by the gains `norm1`, `norm2`.
#    - Queries and keys are rotated within each head, in pairs of neighbouring columns, at the positions $0 \dots n - 1$ and with the **base 100**.
#    - Attention is causal; scores are divided by the root of a head's width.
#
#    For `echo_block(embedded("^BADGEBADGE"), first_block, 2)`, the last row begins with −4.09954, 0.09381, 1.34782, −3.95544.
# 2. `sizes`: run your block on your sentence, which `your_numbers` shows. How large is the stream behind it, as the root mean square of a row? Three numbers:
#    in the row of `^`, of the first letter, and of the last one.

# %%
your_numbers("echo_block")

# %% exercise="echo_block"
import numpy as np

sizes = None  # three numbers: at ^, at the first letter, at the last one


def echo_block(x: "array (B, n, d)", w: dict, h: int) -> "array (B, n, d)":
    """Return what a trained block makes of the stream.

    >>> w = {name: np.zeros((2, 2)) for name in ("wq", "wk", "wv", "wo", "gate", "up", "down")}
    >>> w["norm1"] = w["norm2"] = np.ones(2)
    >>> echo_block(np.array([[[3.0, 4.0]]]), w, 1).tolist()
    [[[3.0, 4.0]]]
    """
    raise NotImplementedError


# %% [markdown]
# One row is unlike all others, and it is the same in every sentence, since nothing stands before it. Many large models do the same with their
# first token: heads that find nothing to copy leave their weight there.

# %% [markdown]
# ## In a trained model: who writes into the stream?
#
# The small model of the first notebook consists of two blocks of today's kind. Each part adds something to the
# stream. How large is what it adds, and how large is the stream behind it? Shown are root mean squares of the entries.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* seven bars and a dashed line above them. The embedding has 0.65; heads 0.0 and 0.1 add 0.85 and 0.9, the first feed-forward layer 8.5, heads 1.0 and 1.1 1.64
# and 3.6, the last feed-forward layer 4.94. The stream grows from 0.65 over 1.55 to 8.9 behind the first block, and to 11.65 at the end.
#
# So the feed-forward layer of the first block writes most. The parts in the second block don't
# notice: each has a norm in front, which reads the direction and not the size. But sizes *relative to each other* matter: with all
# embeddings three times as large, and nothing else changed, the loss goes from 0.615 to 1.192. The norm in front of the first block doesn't see the factor;
# what the heads add to the embedding is now a third as large beside it.
#
# ## What you can do now
#
# You can write a block and say of each of its parts what it may change and what it can't: which directions a norm is blind to and what its
# derivative removes, where two thirds of the weights sit, why a shortcut helps and what it doesn't promise, and what moving one norm does to 32 layers.
#
# The next notebook stacks your block to an encoder, adds a decoder with a second attention, and lets the whole transformer speak.
#
# **To read.**
#
# - Ba, Kiros & Hinton (2016), *Layer normalization*: short, with a table of what each norm is invariant to.
# - He et al. (2016), *Identity mappings in deep residual networks*: why the path should be left alone.
# - Xiong et al. (2020), *On layer normalization in the transformer architecture*: the gradients of post-norm and pre-norm, with proofs.
# - Zhang & Sennrich (2019), *Root mean square layer normalization*: what happens without the mean.
# - Shazeer (2020), *GLU variants improve transformer*: a few pages on gates.
# - Karpathy, *nanoGPT* (github.com/karpathy/nanoGPT): read the class `Block` of `model.py`, and what it is made of.
