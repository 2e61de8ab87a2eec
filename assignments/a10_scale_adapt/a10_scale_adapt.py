# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Experts, checkpoints, precision, adapters
#
# A large model is expensive in four currencies: arithmetic, memory for activations, bits per number, and
# parameters that must be trained. This notebook goes through one remedy for each. Every one of
# them is simple, and each is often told with a figure that is wrong by a factor of two. So count.
#
# | part | you learn | time |
# |---|---|---|
# | 1 Experts | route tokens to a few of many networks, keep all of them busy, differentiate it | 125 min |
# | 2 Checkpoints | forget activations and compute them again: what is saved, what it costs, which plan is best | 115 min |
# | 3 Sixteen bits | the limits of half precision, where softmax breaks, what loss scaling lifts | 100 min |
# | 4 Few parameters | LoRA, adapters, prefixes: adapt a large model by training a percent of it | 140 min |
#
# That is **eight hours**; the parts can be done on different days. How to work with it:
#
# - Give numbers to at least four significant digits. They may be numbers, text (`"2^-14"`, `"4/3"`, `"1.5e9"`)
#   or computed by your own code. Infinity is `float("inf")` or `"inf"`, not-a-number `float("nan")` or `"nan"`.
# - Run the cells from top to bottom: short names such as `total` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - Two exercises need PyTorch: the code in part 2, and the classes in part 4. A laptop without a GPU is enough.

# %%
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything works without pictures; below each one stands what it shows

# %% [markdown]
# ## 1 Experts
#
# ### Two of four
#
# *25 minutes.* Most of a transformer's parameters are in its feed-forward networks. What if there were eight of
# them side by side, and each token passed through two? The model would hold eight times as much, and a
# token would pay for two. Such a layer is called a **mixture of experts**.
#
# Which two is decided by a small linear map, the *gate* or *router*: it gives one logit $z_e$ for each
# expert. With the gates $g = \operatorname{softmax}(z)$ and the set $\mathcal{T}$ of the $k$ largest logits the
# output is
#
# $$ y = \sum_{e \in \mathcal{T}} g_e\, y_e \qquad\text{or}\qquad
#    y = \sum_{e \in \mathcal{T}} \frac{g_e}{\sum_{j \in \mathcal{T}} g_j}\, y_e . $$
#
# In the first form the gates stay *plain*: those of the chosen experts add up to less than 1. In the second they are
# *renormalised*. Both are in use, and they are different layers.
#
# *An example.* Three experts with the logits 1, 0, 1 return 2, 4, 6; $k = 2$. The gates are 0.4223, 0.1554,
# 0.4223. Plain: 0.4223 · 2 + 0.4223 · 6 = 3.379. Renormalised: ½ · 2 + ½ · 6 = 4.
#
# Your four experts are so small that each returns one number.

# %%
your_numbers("moe_gate")

# %% [markdown]
# 1. `G`: the gates of all four experts. `kept`: the mass that the two largest keep.
# 2. `plain`: the output with $k = 2$ and plain gates.
# 3. `gates`, the two renormalised gates, the larger first, and `renormalised`, the output with them.
# 4. `steps`: there is a shorter way to renormalised gates. Let `g1` and `g2` be the chosen gates, with `g1` $= e^{z_1}/Z$,
#    `g2` $= e^{z_2}/Z$ and $Z = e^{z_1} + e^{z_2} + e^{z_3} + e^{z_4}$. Lead `g1/(g1 + g2)` to a softmax over the two
#    chosen logits alone. A list of lines of text, each equal to the one before.

# %% exercise="moe_gate"
G = None             # four numbers
kept = None          # one number
plain = None         # one number
gates = None         # two numbers
renormalised = None  # one number
steps = None         # a list of lines

# %% [markdown]
# ### Route a batch
#
# *30 minutes.* Now for many tokens. On real hardware the experts live on different devices and
# each has room for so many tokens: its **capacity** is
#
# $$ \left\lceil c \cdot \frac{k\,T}{E} \right\rceil $$
#
# for $T$ tokens, $E$ experts and a *capacity factor* $c$ a little above 1. What arrives beyond that is dropped: this
# expert adds nothing for that token, which keeps its residual.
#
# 1. `route(logits, k)` returns two arrays of shape $(T, k)$: the indices of the chosen experts, the one with the largest logit
#    first (of equal logits, the smaller index first), and their plain gates. Each token is routed by itself; the
#    logits may be large.
# 2. For the eight tokens in `batch`: `load`, the number of assignments that each expert gets with $k = 2$, and `top1_load`,
#    that with $k = 1$.
# 3. `capacity` for $c = 1.25$ and $k = 2$, and `dropped`, how many assignments of this batch are beyond it.

# %% exercise="moe_route"
import numpy as np

batch = np.array(
    [[2, 1, 0, -1], [3, 0, 1, 0], [1, 2, 0, 0], [0, 3, 1, -1],
     [2, 0, -1, 1], [2, 2.5, 0, 0], [1, 0, 3, 0], [4, 1, 0, 2]]
)


def route(logits: "array (T, E)", k: int) -> "(indices (T, k), gates (T, k))":
    """Return the k experts with the largest logits for each token, and their plain gates.

    >>> route(np.array([[0.0, 0.0, 0.0, 0.0]]), 2)
    (array([[0, 1]]), array([[0.25, 0.25]]))
    """
    raise NotImplementedError


load = None       # four whole numbers
top1_load = None  # four whole numbers
capacity = None   # a whole number
dropped = None    # a whole number

# %% [markdown]
# The picture shows what routing without any further care tends to: an expert that is chosen more often is trained more
# often, gets better, and is chosen more often still.

# %% tags=["demonstration"]
if plt:
    crowd = np.random.default_rng(0)
    crowded = crowd.normal(size=(2000, 8)) + np.linspace(1.5, -1.5, 8)
    spread_out = crowd.normal(size=(2000, 8))
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
    cases = (("without care", crowded), ("balanced", spread_out))
    for axis, (title, logits) in zip(axes, cases, strict=True):
        counts_of = np.bincount(np.argsort(-logits, axis=1)[:, :2].ravel(), minlength=8)
        axis.bar(range(8), counts_of, color="0.6", edgecolor="black")
        axis.axhline(625, color="black", linestyle="--")
        axis.set(title=title, xlabel="expert")
    axes[0].set(ylabel="assignments")
    axes[0].text(7.4, 650, "capacity", ha="right")
    plt.show()

# %% [markdown]
# *The picture:* two bar charts of 4,000 assignments (2,000 tokens, $k = 2$) to eight experts, with a dashed line at the capacity
# 625. Without care the first expert gets 1,445 of them and the last one 14: a third of all
# assignments lie above the line. Balanced, every expert gets about 500, and nothing is dropped.
#
# ### Keep the experts busy
#
# *30 minutes.* So a second loss is added, which is small if the experts share the work. Let $f_e$ be the share of the tokens whose *first*
# choice is expert $e$, and $P_e$ the mean of the plain gates of expert $e$ over the batch. The loss is
#
# $$ \mathcal{L} = E \sum_e f_e\, P_e . $$
#
# Why the product? $f$ says what happens, but it is a count and has no derivative. $P$ says what nearly happens, and has
# one. Held constant, $f_e$ tells the gradient which $P_e$ to push down.
#
# 1. `loss` for $E = 4$, $f = (\tfrac12, \tfrac14, \tfrac14, 0)$ and $P = (0.4, 0.3, 0.2, 0.1)$.
# 2. `extremes`: four numbers. The loss if tokens and gates are spread evenly over four experts, and if every token goes to one of
#    the four for certain; then both for eight experts.
# 3. `balance(logits)` for an array of shape $(T, E)$ returns the loss for $k = 1$ and its gradient with respect to the
#    logits, shape $(T, E)$, with $f$ held constant.
# 4. `batch_loss`: the loss of the eight tokens in `batch` of the last exercise.
# 5. `spread`: another measure is the coefficient of variation of the loads: the standard deviation (`np.std`) divided by the mean.
#    What is it for the loads 8, 5, 2, 1?

# %% exercise="moe_balance"
import numpy as np

loss = None      # one number
extremes = None  # four numbers


def balance(logits: "array (T, E)") -> "(number, array (T, E))":
    """Return the balancing loss for k = 1, and its gradient with the shares held constant.

    >>> balance(np.zeros((1, 2)))
    (1.0, array([[ 0.5, -0.5]]))
    """
    raise NotImplementedError


batch_loss = None  # one number
spread = None      # one number

# %% [markdown]
# ### Is the selection differentiable?
#
# *25 minutes.* The list of the two largest logits jumps: it has no useful derivative. One may read that for this reason a mixture
# of experts needs a special estimator to be trained at all. Look at what depends on the logits besides the list.
#
# 1. `router_gradient(z, y, k, renormalise)`: the derivatives of the output with respect to all logits, shape $(E,)$, where the
#    choice is held fixed. `z` are the logits and `y` the outputs of the experts, both of shape $(E,)$.
# 2. For the logits 2, 1, 0, −1 and the outputs 10, 20, 30, 40: `plain`, the four derivatives with $k = 2$ and plain gates, and
#    `renormalised`, those with renormalised gates.
# 3. `one_expert`: two rows of four, with $k = 1$: with the plain gate, and with the renormalised one.
# 4. `training`: how are such layers trained as a rule?
#    - **A** With a straight-through estimator: there is no gradient for the router otherwise.
#    - **B** By ordinary gradients through the gates of the chosen experts, with a balancing loss and sometimes noise on the logits.
#    - **C** By computing all experts while training, and choosing afterwards.
#    - **D** The router isn't trained: its matrix stays as it was drawn.

# %% exercise="moe_gradient"
import numpy as np


def router_gradient(
    z: "array (E,)", y: "array (E,)", k: int, renormalise: bool
) -> "array (E,)":
    """Return the derivatives of the output of k experts by the logits.

    >>> router_gradient(np.zeros(2), np.array([2.0, 4.0]), 2, False)
    array([-0.5,  0.5])
    """
    raise NotImplementedError


plain = None         # four numbers
renormalised = None  # four numbers
one_expert = None    # two rows of four numbers
training = None      # one of "A", "B", "C", "D"

# %% [markdown]
# ### Total and active
#
# *15 minutes.* A model of experts has two sizes: how many parameters there are (memory), and how many
# one token meets (arithmetic). Take $E$ experts, each a feed-forward network of width $d$ with a hidden layer of width $f$ and both
# biases, and a gate that is linear without a bias. Each token goes to $k$ experts.

# %%
your_numbers("moe_params")

# %% [markdown]
# `dense`: the parameters of a single such network. `total`: those of the whole layer. `active`: those that one token meets. `ratio`: total
# divided by active, to three decimals.

# %% exercise="moe_params"
dense = None   # a whole number
total = None   # a whole number
active = None  # a whole number
ratio = None   # one number

# %% [markdown]
# *Where you meet this.* Mixtral 8x7B has eight experts in each of 32 layers, two of them active: 46.7 billion parameters, of which a token
# meets 12.9 billion. (It isn't 8 × 7: attention and embeddings are there once.) DeepSeek-V3 has 671 billion, 37 billion of them active.

# %% exercise="ckpt_code"
import torch
from torch.utils.checkpoint import checkpoint


def checkpointed(blocks: "list of modules", segments: int, x: "tensor") -> "tensor":
    """Pass x through the blocks; save inputs of the segments alone.

    >>> checkpointed([torch.nn.Identity(), torch.nn.Identity()], 2, torch.ones(1))
    tensor([1.])
    """
    raise NotImplementedError


calls = None  # two whole numbers
