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
# them is simple, and the figures that are told with it are often wrong. So count.
#
# | part | you learn |
# |---|---|
# | 1 Experts | route tokens to a few of many networks, keep all of them busy, differentiate it |
# | 2 Checkpoints | forget activations and compute them again: what is saved, what it costs, which plan is best |
# | 3 Sixteen bits | the limits of half precision, where softmax breaks, what loss scaling lifts |
# | 4 Few parameters | LoRA, adapters, prefixes: adapt a large model by training a percent of it |
# | 5 Three stars | train through a hard choice, share a layer or the optimiser's state between devices |
#
# The parts can be done on different days. The fifth is for those who want more: an exercise with a ★ is harder than the others. How to work with it:
#
# - Give numbers to at least four significant digits. They may be numbers, text (`"2^-14"`, `"4/3"`, `"1.5e9"`)
#   or computed by your own code. Where a whole number is asked for, it is exact: `"2*512*2048"` will do. Infinity is `float("inf")` or `"inf"`, not-a-number `float("nan")` or `"nan"`.
# - Run the cells from top to bottom: short names such as `total` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - Three exercises need PyTorch: the code in part 2, and the two classes in part 4. A laptop without a GPU is enough.

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
# How coarse may the numbers of the small model be before it breaks? On the left they are rounded to fewer and fewer
# bits, on the right some of its matrices lose rank. What is shown is a loss; less is better. Where does it
# break?

# %% tags=["demonstration"]
in_echo = {
    "bits": [0.62, 0.62, 0.62, 0.63, 0.74, 2.16],
    "rank_qk": [0.005, 0.001, 1.234],
    "rank_vo": [0.004, 0.34, 2.136],
}


def draw_echo():
    _, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    axes[0].plot(range(6), in_echo["bits"], "o-")
    axes[0].set(xticks=range(6), xticklabels=[16, 8, 6, 5, 4, 3], xlabel="bits", ylabel="loss, nats", ylim=(0, 2.4))
    axes[1].plot([8, 6, 4], in_echo["rank_qk"], "o-", label="$W_Q, W_K$")
    axes[1].plot([12, 8, 6], in_echo["rank_vo"], "s--", label="$W_V, W_O$")
    axes[1].set(xlim=(12.5, 3.5), xticks=[12, 8, 6, 4], xlabel="rank", ylabel="loss on repeats, nats")
    axes[1].legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* on the left the loss with 16, 8, 6, 5, 4 and 3 bits: 0.62, 0.62, 0.62, 0.63, 0.74, 2.16. On the right
# the loss on repeats: $W_Q$ and $W_K$ with rank 8, 6, 4: 0.005, 0.001, 1.234; $W_V$ and $W_O$ with rank 12, 8, 6:
# 0.004, 0.34, 2.136.
#
# *A guess:* The matrices on the right are $16 \times 16$. Why do some of them need fewer directions than
# others? Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Experts
#
# ### Two of four experts
#
# Most of a transformer's parameters are in its feed-forward networks. What if there were eight of
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
#    chosen logits alone. A list of lines of text, each equal to the one before: put definitions in first, and simplify in a
#    line of its own.

# %% exercise="moe_gate"
G = None             # four numbers
kept = None          # one number
plain = None         # one number
gates = None         # two numbers
renormalised = None  # one number
steps = None         # a list of lines

# %% [markdown]
# ### Routing a batch
#
# Now for many tokens. On real hardware the experts live on different devices and
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
# 3. `capacity` for $c = 1.25$ and $k = 2$, and `dropped`, how many assignments of each expert are beyond it.

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
dropped = None    # four whole numbers

# %% [markdown]
# Without any further care an expert that is chosen more often is trained more often, gets better, and is chosen more often
# still. How much is dropped then, and how much if all are chosen equally often?

# %% tags=["demonstration"]
def draw_routed(favour):
    crowd = np.random.default_rng(0).normal(size=(2000, 8)) + np.linspace(favour, -favour, 8)
    counts_of = np.bincount(np.argsort(-crowd, axis=1)[:, :2].ravel(), minlength=8)
    figure = plt.Figure(figsize=(5.5, 2.8), layout="constrained")
    axis = figure.subplots()
    axis.bar(range(8), counts_of, color="0.6", edgecolor="black")
    axis.axhline(625, color="black", linestyle="--")
    axis.text(7.4, 650, "capacity", ha="right")
    axis.set(xlabel="expert", ylabel="assignments", ylim=(0, 1500))
    beyond = np.maximum(counts_of - 625, 0).sum()
    listed = ", ".join(map(str, counts_of))
    return figure, f"The eight experts get {listed} assignments; {beyond / 4000:.1%} are dropped."


if plt:
    moving(draw_routed, "how much some are favoured", [0, 0.25, 0.5, 1, 1.5], 1.5)

# %% [markdown]
# *The picture:* a bar chart of 4,000 assignments (2,000 tokens, $k = 2$) to eight experts, with a dashed line at the capacity
# 625; the logits of the first expert are larger by the number at the slider, those of the last one smaller by as much. At 1.5 the first expert gets 1,445 of them and the last one 14: a third of all
# assignments lie above the line. At 0, balanced, every expert gets about 500, and nothing is dropped.
#
# ### Keep the experts busy
#
# So a second loss is added, which is small if the experts share the work. Let $f_e$ be the share of the tokens whose *first*
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
# The list of the two largest logits jumps: it has no useful derivative. One may read that for this reason a mixture
# of experts needs a special estimator to be trained at all. Look at what depends on the logits besides the list.
#
# 1. `router_gradient(z, y, k, renormalise)`: the derivatives of the output with respect to all logits, shape $(E,)$, where the
#    choice is held fixed. `z` are the logits and `y` the outputs of the experts, both of shape $(E,)$.
# 2. For the logits 2, 1, 0, −1 and the outputs 10, 20, 30, 40: `plain`, the four derivatives with $k = 2$ and plain gates, and
#    `renormalised`, those with renormalised gates.
# 3. `one_expert`: two rows of four, with $k = 1$: with the plain gate, and with the renormalised one.
# 4. `stepped`: train the router. The output with $k = 2$ and plain gates should be 20, and the loss is half the square of what it is off.
#    The four logits after one step of gradient descent with the rate 0.01, no estimator, nothing else trained.

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
stepped = None       # four numbers

# %% [markdown]
# ### Total and active
#
# A model of experts has two sizes: how many parameters there are (memory), and how many
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

# %% [markdown]
# ## 2 Checkpoints
#
# ### Store every √L-th layer
#
# The backward pass needs the activations of the forward pass, those of all layers. They are what fills the memory when
# long texts or deep models are trained. **Checkpointing** forgets most of them. The $L$ layers are cut into segments of $s$ layers, and
# only the input of each segment is stored. When the backward pass arrives at a segment, the segment is run forward once more, and
# its activations are alive until it is done with them.
#
# Count in *units* of one activation per layer. What is stored at worst are the inputs of all segments and one live
# segment: $\lceil L/s \rceil + s$ units. *An example:* 20 layers in segments of 5 take 4 + 5 = 9 units in place of 20.
#
# 1. `units` for $L = 64$ and $s = 1, 4, 8, 16, 64$.
# 2. `square_steps`: which $s$ is best? A square is never negative. Let `a` be $\sqrt{L/s}$ and `b` be $\sqrt{s}$. Lead `(a - b)^2`,
#    line by line, to $L/s + s$ less something that holds no $s$. In text, a root is `sqrt(L/s)`.
#    `best_steps`: where is it 0, or where has $L/s + s$ no slope? Solve `D(L/s + s, s) = 0` for `s`, one equation a line, each following
#    from the one before; or begin with the equation that says that the square is 0.
# 3. `best_s` and `least`, formulas in `L`: the $s$ at which $L/s + s$ is smallest, and how small it is.
# 4. `hundred`: the smallest number of units for $L = 100$. `twelve`: the units for $L = 12$ and $s = 2, 3, 4, 6$.
# 5. GPT-3 has 96 layers of width 12,288 and was trained on 2,048 tokens at a time. `all_bytes`: how many bytes does one activation for each layer take, for one such
#    text, in half precision? `kept_bytes`: and 20 units?

# %% exercise="ckpt_memory"
units = None         # five whole numbers
square_steps = None  # a list of lines
best_steps = None    # a list of equations
best_s = None        # a formula in L
least = None         # a formula in L
hundred = None       # a whole number
twelve = None        # four whole numbers
all_bytes = None     # a whole number
kept_bytes = None    # a whole number

# %% [markdown]
# How exactly does one have to hit the best length? What do half of it and twice of it cost?

# %% tags=["demonstration"]
if plt:
    s_axis = np.arange(1, 65)
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    axis.plot(s_axis, np.ceil(64 / s_axis) + s_axis, "k-", label="both")
    axis.plot(s_axis, s_axis, "k:", label="live segment")
    axis.plot(s_axis, np.ceil(64 / s_axis), "k--", label="inputs of segments")
    axis.set(xlabel="layers in a segment", ylabel="units", ylim=(0, 70))
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* units against the length of a segment, for 64 layers. A dotted line rises (the live segment), a dashed one falls steeply (the inputs of the
# segments), and their sum, solid, has a flat valley between. From 6 to 11 layers it is one unit above the least at most, and any length from half of the best to twice the best costs at most a quarter more.
#
# Mind what a unit is. Here it is one array of size $n \times d$ for each layer. Attention has arrays of size $h \times n \times n$ besides, unless they are computed again as well: with 12 heads,
# $n = 1024$ and $d = 768$ these are sixteen times as large as a unit.
#
# ### The price
#
# Nothing is free: what is forgotten is computed again. Let the forward pass of the model take one unit of time. The backward pass takes two: gradients with
# respect to the activations, and with respect to the weights.
#
# 1. `units`: the time of one training step, plain, and with checkpoints where every segment is run again.
# 2. `ratio`: how many times as long is the step with checkpoints?
# 3. `last_alive`: the last segment is needed at once, so it needn't be run again. What is the ratio for $L = 64$, $s = 8$ then?
# 4. `forwards`: how often does the forward pass of one layer run in a step? Three whole numbers: plain; in the first segment; in the last segment, if it is still alive.

# %% exercise="ckpt_time"
units = None       # two whole numbers
ratio = None       # one number
last_alive = None  # one number
forwards = None    # three whole numbers

# %% [markdown]
# ### Better plans
#
# Segments of equal length are one plan. Let us look at others.
#
# 1. `uniform_plan(L, s)` returns two whole numbers for segments of $s$ layers (the last may be shorter): the units at the peak, which are the number of
#    segments plus the longest one, and how many layers are run again, if the last segment isn't.
# 2. Segments may be cut into segments again. Suppose that there is room for $c$ stored states, and every layer may be run forward
#    at most $r$ times before its backward step. The longest chain that can be reversed obeys $l(c, r) = l(c - 1, r) + l(c, r - 1)$: what lies before the first stored state, and
#    what lies behind it. With $l(0, r) = l(c, 0) = 1$. `reversible`: the longest chains for $(c, r) = (3, 2)$, $(2, 3)$, $(8, 1)$.
# 3. Layers have different sizes. `best_cut(sizes)` returns the best place for *one* cut and its cost. A cut $c$, from 1 to $L - 1$, separates the layers
#    $0 \dots c-1$ from $c \dots L-1$. It costs `sizes[c]`, for what is kept at the cut, plus the sum of the larger side. Of equal costs take the first.
# 4. `smallest_part(sizes, cuts)`: with several cuts, and without the cost of keeping, one wants the largest part to be small. Return the
#    smallest possible sum of the largest part. There are $\binom{L-1}{\text{cuts}}$ ways to cut, too many to try them all: what is best for a
#    longer chain follows from what is best for a shorter one.
# 5. `hardness`: how hard is it to find the best plan?

# %%
your_numbers("ckpt_plan")

# %% exercise="ckpt_plan"
reversible = None  # three whole numbers
hardness = None    # one of "A", "B", "C", "D"


def uniform_plan(L: int, s: int) -> "(int, int)":
    """Return the units at the peak, and how many layers are run again.

    >>> uniform_plan(20, 5)
    (9, 15)
    """
    raise NotImplementedError


def best_cut(sizes: "list of whole numbers") -> "(int, int)":
    """Return the best place for one cut, and what it costs.

    >>> best_cut([3, 1, 2])
    (1, 4)
    """
    raise NotImplementedError


def smallest_part(sizes: "list of whole numbers", cuts: int) -> int:
    """Return the smallest possible sum of the largest part.

    >>> smallest_part([3, 1, 2], 1)
    3
    """
    raise NotImplementedError

# %% [markdown]
# ### The least recomputation for a memory budget
#
# Segments are simple; what would be best? Let the chain have $L$ layers, and let there be room for $s$ states at a time. The input of the chain takes one of these *slots*, so
# $s \ge 1$. A backward step through a layer needs the input of that layer, and runs the layer itself; this run is part of the step and isn't counted. What is counted are all other
# runs of a layer, those of the first pass among them. *An example:* three layers, one slot. From the input layers 1 and 2 are run, and layer 3 steps back; layer 1 is run, and layer 2 steps
# back; layer 1 steps back: three runs. With two slots the state behind layer 1 is kept on the way, and layer 2 steps back at the cost of no further run: two.
#
# Suppose that the first state is stored behind $k$ layers. Then three things follow one another: these $k$ layers are run; what lies behind is reversed, a chain of its own that begins at the stored state; and the
# $k$ layers in front are reversed. Mind how many slots each of the two has.

# %%
your_numbers("ckpt_budget")

# %% [markdown]
# 1. `pieces`: two slots, your `L` and your `k`. The runs of the three things, each done as well as can be.
# 2. `least`: the fewest runs for your `L` with one, two and three slots, over all $k$. (On paper: fill in a row for two slots, from short chains to long ones, then one for three.)
# 3. `least_runs(L, s)`: the fewest runs for any chain and any number of slots. It is counted that shorter chains aren't worked out again and again.
# 4. `fewest`: with how many slots, at least, can 96 layers be reversed in at most $2 \cdot 96$ runs? (Segments of ten hold 20 units at the peak.)

# %% exercise="ckpt_budget"
pieces = None  # three whole numbers
least = None   # three whole numbers
fewest = None  # a whole number


def least_runs(L: int, s: int) -> int:
    """Return the least number of runs that reverse a chain of L layers with s slots.

    >>> least_runs(3, 1), least_runs(3, 2)
    (3, 2)
    """
    raise NotImplementedError


# %% [markdown]
# *Where you meet this.* If no layer is run more than $r$ times, chains of up to $\binom{s + r}{s}$ layers can be reversed with $s$ slots: the numbers of the last exercise. So memory and time
# need to grow like the logarithm of the depth only, both at once. Programs for automatic differentiation have done so since *revolve*; for layers of unequal size and time a plan is found by the same recursion, or by a solver.

# %% [markdown]
# ### Checkpointing in PyTorch
#
# `torch.utils.checkpoint.checkpoint(f, *args, use_reentrant=False)` computes `f(*args)` and saves the arguments alone; in the backward pass it
# calls `f` again. (The flag chooses the newer of two implementations. The older one does not work with `torch.autograd.grad`.)
#
# 1. `checkpointed(blocks, segments, x)` passes `x` through a list of modules, cut into so many consecutive segments. If the number of blocks can't be divided, lengths may
#    differ. The result and all gradients are those of the plain run, also where blocks draw random numbers (dropout), and
#    the grader counts the tensors that are alive at once: about as many as there are segments and blocks in the longest one.
# 2. `calls`: eight blocks in four segments. How often is a block called in one training step, all blocks together: plain, and with checkpoints if the last segment runs
#    as usual?

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

# %% [markdown]
# ### How long a pipeline waits
#
# Layers can be dealt out, too: the first few to one device, the next few to another. With $p$ such *stages* only one would work at a time, so a batch is cut into $m$ **micro-batches**, which follow one
# another through the stages. Let a micro-batch take one unit of time to go forward through a stage, and one to go back. The devices that have nothing to do yet, or no more, wait: that is the **bubble**. *An example:* with two stages and
# three micro-batches, forward takes four units; each device works for three of them and waits for one.
#
# Two orders are common. In one, all micro-batches go forward, and then all go back (GPipe). In the other a stage alternates as soon as it can, one forward, one backward (1F1B): it takes as long, and the first one comes back
# while later ones still go forward. A stage holds the activations of a micro-batch from the time when it begins to go forward there until it has come back.

# %%
your_numbers("pipeline_bubbles")

# %% [markdown]
# 1. `bubble`: the share of the time, there and back, for which a device waits. A formula in `p` and `m`. `share`: in numbers, for your $p$ and $m$.
# 2. `needed`: how many micro-batches does it take at least until the bubble is below your percentage, with your $p$ stages?
# 3. `held`: four whole numbers, for your $p$ and $m$. How many micro-batches does the *first* stage hold at most, and how many the *last*, if all go forward first? And how many do they hold when they alternate?

# %% exercise="pipeline_bubbles"
bubble = None  # a formula in p, m
share = None   # one number
needed = None  # a whole number
held = None    # four whole numbers

# %% [markdown]
# **Where you meet this.** Alternating doesn't shrink the bubble, it shrinks the memory, so that more micro-batches can be had, and these shrink the bubble. Megatron-LM deals several thin slices of layers to each device, which divides the bubble by
# their number, for more messages; DeepSeek-V3 sends micro-batches in from both ends.

# %% [markdown]
# ## 3 Sixteen bits
#
# ### The limits of sixteen bits
#
# A floating-point number is a sign, an exponent and a fraction: $\pm\, 1.f \times 2^{e}$. Half precision (float16) spends 1 + 5 + 10 bits on
# them, single precision (float32) 1 + 8 + 23, bfloat16 1 + 8 + 7. The exponent is stored with a *bias* of $2^{b-1} - 1$ for $b$ bits. Two patterns are reserved: all
# ones for infinity and not-a-number, all zeros for zero and the *subnormal* numbers $\pm\, 0.f \times 2^{e_{\min}}$, which have the smallest exponent
# and no leading 1. Everything else follows. Derive it before you ask `np.finfo`.
#
# *An example* with 1 + 3 + 2 bits: the bias is 3, exponents go from 1 − 3 = −2 to 6 − 3 = 3. The largest number is $1.11_2 \times 2^3 = 14$, the smallest normal one $2^{-2}$,
# the smallest subnormal one $0.01_2 \times 2^{-2} = 2^{-4}$, and ε, the distance from 1 to the next number, is $2^{-2}$.
#
# 1. Half precision: `half_largest`, the largest finite number, exactly; `half_exponents`, three whole numbers $e$ such that $2^e$ is the smallest normal
#    number, the smallest subnormal number, and ε.
# 2. Single precision: `single_largest` to four digits at least, and `single_exponents`, for the smallest normal number and ε.
# 3. `digits`: how many decimal digits are 11 and 24 significant bits? (One more than stored, for the leading 1.) Two numbers, no rounding to whole ones.
# 4. `rounded`: results are rounded to the nearest number, and a tie goes to the neighbour whose last fraction bit is 0. Five whole numbers: float16(2048) + 1; float16(2049); float16(2051);
#    and how many steps of the smallest subnormal number there are in float16($2^{-25}$) and in float16($3 \cdot 2^{-25}$).
# 5. `spacing`: the distance to the next number of half precision, from 1000 and from 5000.
# 6. `bfloat16_largest`: the largest number of the small format above is $14 = 2^4 - 2^1$. Which two exponents stand there for bfloat16?

# %% exercise="fp16_limits"
half_largest = None      # a whole number
half_exponents = None    # three whole numbers
single_largest = None    # one number
single_exponents = None  # two whole numbers
digits = None            # two numbers
rounded = None           # five whole numbers
spacing = None           # two numbers
bfloat16_largest = None  # two numbers

# %% [markdown]
# Two formats have 16 bits. Which of them could hold a gradient of $10^{-12}$, and what does it pay for that? (Your exponents are the ends of the bars.)

# %% tags=["demonstration"]
if plt:
    formats = [("float16", -24, 16, 3.31), ("bfloat16", -133, 128, 2.41), ("float32", -149, 128, 7.22)]
    figure, axis = plt.subplots(figsize=(7, 2.2), layout="constrained")
    for row, (_, low, high, ten) in enumerate(formats):
        axis.barh(row, high - low, left=low, height=0.5, color="0.75", edgecolor="black")
        axis.text(135, row, f"{ten} digits", va="center")
    axis.set_yticks(range(3), [name for name, *_ in formats])
    axis.axvline(0, color="black", linewidth=0.5)
    axis.set(xlabel="exponent of 2, subnormal numbers included", xlim=(-155, 185))
    plt.show()

# %% [markdown]
# *The picture:* three bars over exponents of 2. That of float16 reaches from −24 to 16, those of bfloat16 and float32 from −133 and −149 to 128. Beside them stand
# the decimal digits: 3.31, 2.41 and 7.22. A gradient of $10^{-12}$ is near $2^{-40}$, beyond the bar of float16: bfloat16 holds it, and pays with a digit.
#
# ### Where the exponential overflows
#
# Where does this hurt? In the exponential first.
#
# 1. `threshold`: the natural logarithm of the largest number of half precision. `exponentials`: $e^{11}$ and $e^{12}$ in half precision. (At $e^{11}$ the spacing is 32.)
# 2. `naive`: the softmax of (12, 11, 0) in half precision, without subtracting the largest logit. `right`: what it should be, in exact arithmetic.
# 3. `overflows`: four results in half precision: $e^{10} + e^{10}$, the sum of three $e^{10.5}$, $200 \cdot 300$, $300 \cdot 300$. (In half precision $e^{10}$ is 22,032.)
# 4. `softmax16(z)`: takes float16 of shape $(\dots, n)$ and returns the softmax along the last axis as float16. It is finite for all finite logits and right to a thousandth, also
#    for rows of 70,000: accumulate in float32.

# %% exercise="fp16_softmax"
import numpy as np

threshold = None     # one number
exponentials = None  # two numbers; infinity is "inf"
naive = None         # three numbers; not a number is "nan"
right = None         # three numbers
overflows = None     # four numbers; infinity is "inf"


def softmax16(z: "float16 array (..., n)") -> "float16 array, same shape":
    """Return the softmax along the last axis.

    >>> softmax16(np.zeros(2, np.float16))
    array([0.5, 0.5], dtype=float16)
    """
    raise NotImplementedError

# %% [markdown]
# ### Lifting small gradients
#
# At the other end numbers vanish. Many gradients of a trained network are smaller than $10^{-7}$. **Loss scaling** multiplies the loss by a factor $S$ before the
# backward pass, so that all gradients come out $S$ times as large, and divides by $S$ before the step is taken, in single precision. $S$ is a power of two: then it costs no digits.
#
# Let the gradients lie between $10^{-8}$ and 3 in size.
#
# 1. `stored`: how many steps of $2^{-24}$ does half precision store for $10^{-8}$, $4 \cdot 10^{-8}$, $10^{-7}$ and $2 \cdot 10^{-7}$?
#    `vanishing`: the exponent of the largest power of two that becomes 0.
# 2. `bounds`: the least $S$ for which $10^{-8}$ becomes a *normal* number, and the largest for which 3 doesn't go beyond the largest number of half precision. `powers`: the smallest and the largest
#    power of two between them.
# 3. `recovered`: what is $10^{-8}$ after scaling with the smaller of these powers in half precision and unscaling in single precision, in units of $10^{-12}$?
#    `relative_error`: its relative error, to four digits.
# 4. Nobody knows the largest gradient beforehand. So $S$ begins large and is adapted: a step with an overflow is skipped, and $S$ is halved; after `grow_every` good steps
#    in a row $S$ is doubled, and counting starts anew. `dynamic_scale(flags, S, grow_every)` returns the list of scales *after* each step, for flags that say which step had an overflow.
# 5. `scaled_step(w, g, S, lr)` takes such a step: `w` are float32 weights, `g` the scaled gradients in float16. It returns $w - \text{lr} \cdot g/S$,
#    or `w` as it is if any gradient isn't finite.

# %% exercise="loss_scale"
import numpy as np

stored = None          # four whole numbers
vanishing = None       # a whole number
bounds = None          # two numbers
powers = None          # two whole numbers
recovered = None       # one number
relative_error = None  # one number


def dynamic_scale(flags: list, S: float = 65536, grow_every: int = 3) -> list:
    """Return the scale after each step.

    >>> dynamic_scale([1, 0], S=8)
    [4.0, 4.0]
    """
    raise NotImplementedError


def scaled_step(
    w: "float32 array (n,)", g: "float16 array (n,)", S: float, lr: float
) -> "float32 array (n,)":
    """Return the weights after a step with scaled gradients, unchanged after an overflow.

    >>> scaled_step(np.ones(1, np.float32), np.array([8.0], np.float16), 8.0, 0.5)
    array([0.5], dtype=float32)
    """
    raise NotImplementedError

# %% [markdown]
# ### Does half precision halve the memory?
#
# Training with Adam holds several numbers for each parameter: the weight, its gradient, and the two moments, which are running means of the gradient and of its square. *Mixed precision* computes with weights and gradients in half
# precision. It keeps a *master copy* of the weights in single precision, since small steps would be rounded away otherwise, and both moments in single precision.
# (The copy isn't needed in single precision: there the weights are their own.) Take the base transformer of 2017 without its embeddings: 44,138,496 parameters.
#
# 1. `mixed`: the bytes for each parameter in mixed precision: weight, gradient, master copy, first moment, second moment. `per_parameter`: two sums, for single precision and for mixed.
# 2. `total`: the bytes for all parameters in mixed precision; `gib`: the same in GiB; `weights`: the weights alone, in single and in half precision.
# 3. `halved`: what is halved by mixed precision?

# %%
your_numbers("mixed_memory")

# %% exercise="mixed_memory"
mixed = None          # five whole numbers
per_parameter = None  # two whole numbers
total = None          # a whole number
gib = None            # one number
weights = None        # two whole numbers
halved = None         # letters, "AB" for example

# %% [markdown]
# *Where you meet this.* A model of 7 billion parameters doesn't fit onto one GPU of 80 GB for training, before a single activation is stored. Sharding the optimiser's state, the gradients and finally the weights over many devices (ZeRO) divides this number; a ★ exercise in part 5 counts by how much. bfloat16 has become the usual format for training since its range makes loss
# scaling unnecessary.

# %% [markdown]
# ## 4 Few parameters
#
# ### Two thin matrices
#
# A model that has been trained on everything shall be adapted to one task. Training all of its weights again takes sixteen bytes for each of them, and every task
# gets a model of its own. **LoRA** freezes a weight matrix $W$, which maps $d_{\text{in}}$ numbers to $d_{\text{out}}$, and learns a change $\Delta W = B A$ with a small rank $r$. (Both factors need the
# right shapes: in $A B^\top$, as one also finds it written, $A$ would have the rows of $\Delta W$ and $B$ those of its transpose.)
#
# *An example.* For a 100 × 100 matrix and $r = 2$ the factors have 400 numbers in place of 10,000: a ratio of 0.04, a reduction of 96 %.

# %%
your_numbers("lora_shapes")

# %% [markdown]
# 1. `factors`: the shapes of the factors $B$ and $A$ of rank $r$ for $\Delta W$ of shape $(4d, d)$, the first matrix of a feed-forward network. Write them with the letters $d$ and $r$, such as
#    `("2*d", "r")`.
# 2. `counts`, five whole numbers: the numbers in a $d \times d$ matrix, and in its factors of rank $r$; in a $D \times D$ matrix, and in its factors of rank $R$; and in
#    the factors of rank $r$ for the matrix of item 1.
# 3. `ratios`: factors divided by the full square matrix, for $(d, r)$, $(d, R)$, $(D, r)$, $(D, R)$.
# 4. "LoRA saves more than 90 %" isn't true of every rank. `reduction`: the share of the parameters that is saved for $(d, R)$. `ranks`: the largest rank that saves at least 90 %,
#    for a $d \times d$ matrix and for a $D \times D$ one.

# %% exercise="lora_shapes"
factors = {"B": None, "A": None}  # shapes in d and r
counts = None     # five whole numbers
ratios = None     # four numbers
reduction = None  # one number
ranks = None      # two whole numbers

# %% [markdown]
# ### Adapt, merge, undo
#
# A layer with its update computes $y = W x + \frac{\alpha}{r} B A x$. The factor $\alpha/r$ keeps the size of the update about the same when the rank is changed. When training is
# done, $W + \frac{\alpha}{r} B A$ can be written down as one matrix: then the layer costs what it did before, and taking the update off again gives the original model back.
#
# Write `LoRALinear(W, r, alpha)` as a module:
#
# - `W` is a tensor of shape $(d_{\text{out}}, d_{\text{in}})$, kept as a *buffer*: a tensor that belongs to the module and isn't trained. The line for that is there already. Inputs have the shape $(\dots, d_{\text{in}})$.
# - The parameters are `A` and `B`, under these names, with the shapes that make $BA$ a change of $W$. They start so that the output is that of $W$, and that training can begin.
# - `layer(x)` is the formula above; `layer.weight` is the matrix that `x` is multiplied by in full: $W$, or the sum after merging.
# - `merge()` and `unmerge()` switch, and do nothing where there is nothing to do.
# - Gradients reach `A` and `B` alone. A rank below 1 raises a `ValueError`.
#
# Then `start`: for a 256 × 256 matrix and $r = 4$, how many of the numbers in `A` and `B` does the first step of gradient descent change
# from a start as described on, and how many does the second? Two whole numbers; no input and no gradient that reaches the layer has a 0 in it, and nothing cancels by chance.
#
# `madds`: for $d_{\text{in}} = d_{\text{out}} = 512$ and $r = 8$, the madds of one token: the full product, and the path through the factors.

# %% exercise="lora_layer"
import torch
from torch import nn


class LoRALinear(nn.Module):
    """x ↦ W x + (α/r) B A x, with W frozen.

    >>> layer = LoRALinear(torch.eye(2), 1, 2.0)
    >>> layer(torch.ones(1, 2)).tolist()
    [[1.0, 1.0]]
    """

    def __init__(self, W: "tensor (d_out, d_in)", r: int, alpha: float):
        super().__init__()
        self.register_buffer("W", W)
        raise NotImplementedError

    def forward(self, x: "tensor (…, d_in)") -> "tensor (…, d_out)":
        """Return W x + (α/r) B A x."""
        raise NotImplementedError

    def merge(self):
        """Go over to one matrix."""
        raise NotImplementedError

    def unmerge(self):
        """Go back to W and two factors."""
        raise NotImplementedError


start = None  # two whole numbers
madds = None  # two whole numbers

# %% [markdown]
# ### When is low rank enough?
#
# It depends on the update that is wanted. Let $M$ be the best change of $W$, with the singular values $\sigma_1 \ge \sigma_2 \ge \dots$ How near can a matrix of rank $r$ come? Distances are Frobenius norms,
# $\|M\|^2 = \sum_{ij} M_{ij}^2 = \sum_i \sigma_i^2$.
#
# *An example* with singular values 4, 3: the best matrix of rank 1 has the error 3, and $16/25 = 64\,\%$ of the *energy* $\sum \sigma_i^2$.
#
# Here the singular values are 5, 3, 1, ½.
#
# 1. `errors`: the least error for $r = 0, 1, 2, 3, 4$.
# 2. `energy`: the share of the energy that rank $r = 1, 2, 3, 4$ can hold. `smallest`: the smallest rank with at least 70 %, 90 % and 99 % of it.
# 3. There are ranks which aren't whole numbers: `stable_rank`, $\sum \sigma_i^2 / \sigma_1^2$, and `entropy_rank`, $e^{H(p)}$ with $p = \sigma / \sum \sigma$ and the entropy $H$ in nats.
# 4. `proof_order`: why is nothing better than the singular value decomposition, cut off after $r$ terms? Below stand the steps of a proof, shuffled, and some that are wrong. Write the letters of the right ones in
#    order, such as `"C A F"`.

# %%
your_numbers("lora_best_rank")

# %% [markdown]
# 5. `identity`: sometimes no low rank will do. Let the wanted update be the identity with $d = 768$. What is the least relative error, $\|M - X\| / \|M\|$, for $r = 10$, $r = 100$ and $r = 384$? (So no rank that
#    grows like $\log d$ is enough for every update.)

# %% exercise="lora_best_rank"
errors = None        # five numbers
energy = None        # four numbers
smallest = None      # three whole numbers
stable_rank = None   # one number
entropy_rank = None  # one number
proof_order = None   # letters in order
identity = None      # three numbers

# %% [markdown]
# How large an error does an eighth of the full rank leave? Guess before you look: for singular values that fall like $1/i$, for a matrix of random entries, and for the identity.

# %% tags=["demonstration"]
if plt:
    draws = np.random.default_rng(0)
    left, right_side = (np.linalg.qr(draws.normal(size=(64, 64)))[0] for _ in range(2))
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    spectra = {"σ like 1/i": 1 / np.arange(1, 65), "random entries": None, "identity": np.ones(64)}
    for (label, sigma), style in zip(spectra.items(), ("-", "--", ":"), strict=True):
        wanted = draws.normal(size=(64, 64)) if sigma is None else (left * sigma) @ right_side
        energies = np.linalg.svd(wanted, compute_uv=False) ** 2
        rest = np.append(energies.sum() - np.cumsum(energies), 0)[:-1].clip(0)
        axis.plot(range(1, 65), np.sqrt(rest / energies.sum()), style, color="black", label=label)
    axis.set(xlabel="rank", ylabel="least relative error", ylim=(0, 1))
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* the least relative error of rank 1 to 64 for three 64 × 64 matrices. If the singular values fall like $1/i$ (solid), rank 8 leaves an error of 0.25. For random entries
# (dashed) rank 8 leaves 0.79, and for the identity (dotted) 0.94. LoRA works where the first curve is the true one, and that is a fact about tasks, no theorem.
#
# ### Bottleneck modules
#
# An **adapter** is a small network of its own, $y = x + \operatorname{ReLU}(x W_{\text{down}}) W_{\text{up}}$, put behind attention and behind the feed-forward network of each layer, two in
# every layer. Everything else is frozen.
#
# 1. `y` for $x = (1, 3, -2)$, $W_{\text{down}}$ with the rows (1, 0), (0, 1), (1, 1), and $W_{\text{up}}$ with the rows (1, 0, 1), (0, 2, 0).
# 2. For $d = 768$ and a bottleneck of $r = 64$: `one`, the parameters of an adapter with a bias behind each matrix, and without; `twelve_layers`, those of all adapters (with biases) in
#    12 layers; `share`, the fraction of the 109,482,240 parameters of BERT-base which that is.
# 3. `Adapter(d, r)` as a module, with biases, with two `nn.Linear` called `down` and `up`. It starts as the identity, and a gradient other than 0 reaches `up.weight` from the start.
# 4. `mergeable`: can a trained adapter be merged into the matrix before it, as LoRA can?
# 5. `because`: what decides that? (It counts only behind the right answer to item 4.)

# %%
your_numbers("adapter")

# %% exercise="adapter"
import torch
from torch import nn

y = None              # three numbers
one = None            # two whole numbers
twelve_layers = None  # a whole number
share = None          # one number


class Adapter(nn.Module):
    """x + ReLU(x W_down + b_down) W_up + b_up, which starts as the identity.

    >>> Adapter(2, 1)(torch.ones(1, 2)).tolist()
    [[1.0, 1.0]]
    """

    def __init__(self, d: int, r: int):
        super().__init__()
        raise NotImplementedError

    def forward(self, x: "tensor (…, d)") -> "tensor (…, d)":
        """Return x and what comes out of the bottleneck."""
        raise NotImplementedError


mergeable = None  # one of "A", "B", "C"
because = None    # one of "A", "B", "C", "D"

# %% [markdown]
# ### Extra keys and values
#
# **Prefix tuning** leaves all weights alone. It learns $p$ pairs of a key and a value in every layer, and puts them in front of those of the sequence. There are no tokens
# and no queries for them.
#
# By hand first: one learned pair and two tokens. Your scores are scaled already: first that of the prefix, then those of the tokens. The values come in the same order.

# %%
your_numbers("prefix_attn")

# %% [markdown]
# 1. `prefix_weight`: the weight of the prefix; `without`: the output without the prefix; `output`: that with it.
# 2. `mixture_steps`: with $p$ prefix pairs (scores $a_j$, values $u_j$) and $n$ tokens (scores $s_k$, values $v_k$) the output is
#
#    ```python
#    "(sum(exp(a_j)*u_j, j, 1, p) + sum(exp(s_k)*v_k, k))/(sum(exp(a_j), j, 1, p) + sum(exp(s_k), k))"
#    ```
#
#    Let $P$ and $S$ be the two sums of exponentials, $x$ the output of attention over the prefix alone, $y$ that over the sequence alone, and $l = P/(P + S)$. Lead the
#    output to a mixture of $x$ and $y$ in terms of `l`, `x` and `y`, one step a line.
# 3. `prefix_attention(Q, K, V, Pk, Pv, causal=True)` for $n$ tokens, with prefix keys and values of shape $(p, d)$ and $(p, d_v)$, and the scale $1/\sqrt{d}$. The causal mask is about the tokens; each
#    of them sees the whole prefix. $p = 0$ is allowed, and large scores stay finite.
# 4. `who_sees_whom`: for the prefix to have an effect, who has to see whom?
# 5. `mask_shape` and `allowed`: the shape of the mask for $n = 5$ and $p = 3$, queries in rows, and how many pairs it allows if it is causal among the tokens.

# %% exercise="prefix_attn"
import numpy as np

prefix_weight = None  # one number
without = None        # one number
output = None         # one number
mixture_steps = None  # a list of lines


def prefix_attention(
    Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", Pk: "(p, d)", Pv: "(p, d_v)", causal: bool = True
) -> "(n, d_v)":
    """Return attention over a prefix and the sequence.

    >>> nothing, one = np.zeros((1, 1)), np.ones((1, 1))
    >>> prefix_attention(nothing, nothing, one, nothing, nothing)
    array([[0.5]])
    """
    raise NotImplementedError


who_sees_whom = None  # one of "A", "B", "C", "D"
mask_shape = None     # a shape, such as (2, 3)
allowed = None        # a whole number

# %% [markdown]
# ### Compare the budgets
#
# Your model is one of the four published sizes of GPT-2: $L$ layers of width $d$, with a feed-forward network of width $4d$, biases everywhere, and two layer norms (scale and shift) in each layer.

# %%
your_numbers("peft_counts")

# %% [markdown]
# How many parameters are trained?
#
# 1. `prompt`: prompt tuning, $p$ learned vectors in front of the embeddings. `prefix`: prefix tuning, $p$ keys and $p$ values of width $d$ in every layer.
# 2. `lora`: rank $r$ on $W_Q$ and $W_V$ in every layer. `adapters`: two in every layer, with the bottleneck $m$ and biases. `full`: all weights of the $L$ layers, without embeddings.
# 3. `percent`: the four budgets in percent of the full count, in this order.
# 4. Llama-2-7B has 32 layers of width 4096 and 6,738,415,616 parameters. `llama`: the numbers that LoRA with your $r$ trains on its $W_Q$ and $W_V$. `llama_memory`: the GB for weights, gradients and optimiser when
#    everything is trained in mixed precision, and with LoRA, where frozen weights take two bytes and every trained number takes sixteen.

# %% exercise="peft_counts"
prompt = None        # a whole number
prefix = None        # a whole number
lora = None          # a whole number
adapters = None      # a whole number
full = None          # a whole number
percent = None       # four numbers
llama = None         # a whole number
llama_memory = None  # two numbers

# %% [markdown]
# ## 5 Three stars
#
# ### Forward hard, backward soft
#
# The router of part 1 chose the largest logits, and gradients went around the choice, through the gates. What if the choice itself is to be trained, with nothing beside it:
# one word, one expert, one branch, drawn at random? In the first notebook a draw from a softmax was the index of the largest $z_i + g_i$, with Gumbel noise $g$ that doesn't depend on anything that is learned. **Gumbel-softmax**
# puts a softmax in the place of this argmax,
#
# $$ y = \operatorname{softmax}\bigl((z + g)/\tau\bigr) , $$
#
# which has a derivative. But $y$ is a mixture, and what a model needs may be one index. The **straight-through** estimator takes both: forward goes the one-hot of the largest sum; on the way back one acts as if $y$ had gone forward, and
# multiplies with its Jacobian.
#
# *An example.* Logits $(1, 0)$, noise $(0, \tfrac12)$ and $\tau = \tfrac12$: the sums are $(1, \tfrac12)$, divided $(2, 1)$, so $y = (0.7311, 0.2689)$. Forward goes $(1, 0)$; backward one asks how 0.7311 and 0.2689 would move.
#
# Yours are three logits $z$ with their noise $g$, the temperature $\tau$, the gradient $v$ that arrives for the one-hot, and a `gap` for item 5:

# %%
your_numbers("straight_through")

# %% [markdown]
# 1. `y`: the soft sample, three numbers.
# 2. The Jacobian of $y$: `own`, the derivative of $y_i$ by its own logit $z_i$, a formula in `y_i` and `tau`, and `other`, that by another logit $z_j$, a formula in `y_i`, `y_j` and `tau`.
# 3. `back`: the gradient for the three logits that is sent back for $v$.
# 4. `straight_through(logits, noise, tau, gradient)` returns two arrays: what goes forward (of equal entries the first is chosen), and the gradient for the logits. `gradient` is that of the loss with respect to what goes forward. All arrays have the shape $(\dots, n)$, each
#    vector along the last axis is a choice by itself, and $\tau$ may be as small as 0.001.
# 5. `slopes`: why not take a tiny $\tau$, so that $y$ is nearly the one-hot? Two entries: what is $\partial y_1 / \partial z_1$ for $\tau = 1$, $0.1$ and $0.02$, if $z_1 + g_1$ is larger than $z_2 + g_2$ by your `gap`? And if both are equal? Two rows of three numbers.
# 6. `means`: is the gradient right on average? Two equal logits, $\tau = 1$, and a loss that is the first entry of what goes forward. The difference of two independent Gumbel numbers has the distribution function $1/(1 + e^{-x})$, so over the noise $y_1$ is
#    spread evenly between 0 and 1. What is the mean of $y_1 (1 - y_1)$, which is sent back? And what is the derivative of $p_1$, the probability of index 1 and so the mean of the loss, by $z_1$?
# 7. `biased`: what is biased, and why?

# %% exercise="straight_through"
import numpy as np

y = None       # three numbers
own = None     # a formula in y_i, tau
other = None   # a formula in y_i, y_j, tau
back = None    # three numbers
slopes = None  # two rows of three numbers
means = None   # two numbers
biased = None  # one of "A", "B", "C", "D"


def straight_through(
    logits: "array (…, n)", noise: "array (…, n)", tau: float, gradient: "array (…, n)"
) -> "arrays (…, n) and (…, n)":
    """Return the one-hot of logits + noise, and the gradient for the logits.

    >>> hard, sent = straight_through(np.zeros(2), np.log([3.0, 1.0]), 1.0, np.array([1.0, 0.0]))
    >>> hard, sent.round(4)
    (array([1., 0.]), array([ 0.1875, -0.1875]))
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** Wherever something discrete is learned by gradients: codes of images and sound (VQ-VAE passes the gradient on as it came, which is the estimator of Bengio et al. 2013), weights of one bit, routers, masks. The temperature is a bargain. For two
# equal logits and $\tau = 1$ the slope that is sent back has the standard deviation 0.0745 over the noise, for $\tau = 0.1$ it has 0.595, for $\tau = 0.01$ 2.03: a low temperature is paid for in variance. Jang et al. begin with a high temperature and lower it.

# %% [markdown]
# ### One layer, several devices
#
# A layer may be too large for one device, or too slow. In the fourth notebook the output of attention was a sum over heads: each head has its columns of $W_Q$, $W_K$ and $W_V$, and its rows of $W_O$. So $p$ devices can share
# a layer with hardly a word to each other, if $p$ divides $h$: each gets $X$ and $h/p$ of the heads, and at the end their outputs are added up. With the heads go their weights, and nobody holds those of others.
#
# *An example.* Two heads of width 1 give 3 and 4 for a token, and $W_O$ has the rows (1, 0) and (2, 1). The first device returns 3 · (1, 0) = (3, 0), the second 4 · (2, 1) = (8, 4). The sum is (11, 4), which is $(3, 4)\, W_O$.
#
# The feed-forward network $\operatorname{ReLU}(X A)\, B$, without biases here, is shared likewise: $A$ is cut by columns and $B$ by rows.

# %%
your_numbers("tensor_split")

# %% [markdown]
# 1. `device_output(X, W_Q, W_K, W_V, W_O, heads, devices, device)`: what one device returns, shape $(n, d)$. Devices count from 0; device 0 has the first $h/p$ heads, and so on. Head $t$ has the columns $t\,d/h \dots (t+1)\,d/h - 1$, as before; no mask, no biases.
#    The grader adds up what all devices return, also for sizes of its own.
# 2. `cut_by_rows`: what if $A$ were cut by *rows*? Take your token $x$ of width 2, your $A$, and two devices: one has $x_1$ and the first row of $A$, the other $x_2$ and the second row. Two rows of numbers: $\operatorname{ReLU}(xA)$; and what comes out if
#    each device applies the ReLU to its own part, and then both are added.
# 3. `weights`, for your $d$ and $p$: how many weights does each device have, of attention and of the feed-forward network with a hidden layer of width $4d$? Two whole numbers.
#
# Adding up so that everybody has the sum is called an **all-reduce**. The usual way is a ring. *An example* with three devices and arrays of six numbers: each array is cut into three pieces of two numbers. In a round every device sends one piece to its neighbour. In the first two rounds
# it adds its own piece to the one that arrives, and sends the sum on; then each device holds one piece of the whole sum. In two more rounds these go around. So a device sends four pieces, 8 numbers.
#
# 4. `sent`: a formula in `n`, `d` and `p`. How many numbers does one device send in the forward pass of a whole layer (attention and feed-forward network, $n$ tokens of width $d$), if every all-reduce is a ring?
# 5. `traffic`: the backward pass needs as many all-reduces of the same size. How many bytes does one device send for your layer, forward and backward, in half precision?
# 6. `why_so`: why is the first matrix of the network cut by columns, and the second by rows?

# %% exercise="tensor_split"
import numpy as np


def device_output(
    X: "array (n, d)",
    W_Q: "array (d, d)",
    W_K: "array (d, d)",
    W_V: "array (d, d)",
    W_O: "array (d, d)",
    heads: int,
    devices: int,
    device: int,
) -> "array (n, d)":
    """Return what the heads of one device contribute to the output.

    >>> X, W_O = np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> device_output(X, np.eye(2), np.eye(2), np.eye(2), W_O, 2, 2, 1)
    array([[8., 4.]])
    """
    raise NotImplementedError


cut_by_rows = None  # two rows of two numbers
weights = None      # two whole numbers
sent = None         # a formula in n, d, p
traffic = None      # a whole number
why_so = None       # one of "A", "B", "C", "D"

# %% [markdown]
# **Where you meet this.** Megatron-LM, where this comes from, had a model of 72 layers of width 3072 with 32 heads on eight devices: four heads of width 96 and about a billion of the 8.3 billion parameters on each. All this is exact: the output is that of one device, up to rounding. At every sum
# the devices wait for each other, so they need a fast connection; mostly it is the eight GPUs of one machine that share a layer.

# %% [markdown]
# ### Who keeps the state?
#
# The commonest way to use $N$ devices is to give each one a copy of the model and a part of the batch. After the backward pass their gradients are averaged, all take the same step, and so the copies stay equal. It is simple, and every device
# holds everything. *An example.* A billion parameters in mixed precision take sixteen gigabytes on each of four devices, 64 in all, for a billion numbers to be learned.
#
# It needn't be so: who takes the step for a parameter needs its optimiser's state, and nobody else does. **ZeRO** deals out evenly what needn't be everywhere, in three stages. In stage 1 the state of the optimiser is dealt out: master copy and both moments. Each device takes the step for its share of
# the parameters, and the new weights are sent to all. In stage 2 gradients are dealt out as well, in stage 3 the weights, too: they are fetched layer by layer when they are needed, and forgotten.
#
# *An example* of how to count, which is no stage: if of your five numbers in `mixed` the gradients alone were dealt out to four devices, each would hold $2 + \tfrac{2}{4} + 4 + 4 + 4 = 14.5$ bytes for each parameter of the model.

# %%
your_numbers("zero_stages")

# %% [markdown]
# 1. `stage1`, `stage2`, `stage3`: the bytes on each device for $P$ parameters on $N$ devices, as formulas in `P` and `N`.
# 2. `devices`: a device has 80 GB, which are $80 \cdot 10^9$ bytes, and activations shall not count. What is the smallest $N$ for which your two models can be trained? A row for each model, with stages 1, 2 and 3. Where no number of devices is enough, answer 0.
# 3. `largest`: however many such devices there are, in stages 1 and 2 a model must have fewer parameters than a certain number. Two numbers.

# %% exercise="zero_stages"
stage1 = None   # a formula in P, N
stage2 = None   # a formula in P, N
stage3 = None   # a formula in P, N
devices = None  # two rows of three whole numbers, 0 for "never"
largest = None  # two numbers

# %% [markdown]
# **Where you meet this.** The paper's own example is a model of 7.5 billion parameters on 64 devices: 120 GB on each of them without it, 31.4, 16.6 and 1.9 GB in the three stages. For the first two as many numbers are sent as for averaging gradients, for the third half as many again. In PyTorch the third stage is called *fully sharded data parallel*. Large models are
# trained with both of the last exercises together: a layer is shared by the devices of one machine, and machines deal out the state.

# %% [markdown]
# ## In a trained model: how few bits, how few directions?
#
# Round the weights of the small model of the first notebook, or cut directions from its attention matrices, until it breaks. Weights are rounded to $b$ bits
# with one scale for each matrix (16 bits: float16). $W_Q$ and $W_K$, or $W_V$ and $W_O$, all of them $16 \times 16$, are replaced by their best
# approximations of a lower rank, by their singular values.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* on the left the loss with 16, 8, 6, 5, 4 and 3 bits: 0.62, 0.62, 0.62, 0.63, 0.74, 2.16. On the right the loss on repeats: $W_Q$ and $W_K$ with rank 8, 6, 4: 0.005, 0.001, 1.234; $W_V$
# and $W_O$ with rank 12, 8, 6: 0.004, 0.34, 2.136.
#
# Eight bits cost nothing that one could see, four begin to hurt, three are the end. (Large models bear eight bits as well: Dettmers et al., 2022.) To *find* what to copy, six of 16 directions
# do; to *carry* a letter takes more, and there are ten letters to be told apart.

# %% [markdown]
# ### A new rule in 64 numbers
#
# The model was trained on motifs of four to eight letters. On shorter ones, `^ABABABAB…` or `^FADFADFAD…`, it stumbles: about 0.3 nats for a letter that could be known, against 0.0006 with the old ones. Teach it, with your `LoRALinear`: of rank 1, with
# $\alpha = 1$, on the matrices that make queries and keys in the second layer. These are 64 numbers of 5,552; all others stay. The next cell has the model in torch, which takes your two layers, and draws sentences.

# %%
import numpy as np
import torch
from torch import nn

trained = {name: torch.tensor(array) for name, array in np.load("echo.npz").items()}


def sentences(shortest, longest, count, rng):
    """Draw ids (count, 24), and where the next letter is known (count, 23): from the second one of the second pass on."""
    ids, known = np.zeros((count, 24), int), np.zeros((count, 23), bool)
    for i in range(count):
        m = rng.integers(shortest, longest + 1)
        ids[i, 1:] = np.tile(rng.permutation(10)[:m] + 1, 12)[:23]
        known[i, m + 1 :] = True
    return torch.tensor(ids), torch.tensor(known)


def root_norm(x, gains):
    return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + 1e-5) * gains


def turned(x):
    """Rotate neighbouring pairs of columns by angles that grow with the position."""
    angles = torch.outer(torch.arange(x.shape[-2]), 100.0 ** (-torch.arange(0, 8, 2) / 8))
    a, b = x[..., ::2], x[..., 1::2]
    pairs = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    return torch.stack(pairs, dim=-1).reshape(x.shape)


def echo_torch(ids, queries=None, keys=None):
    """Return logits (B, n, 11) for ids (B, n); queries and keys are modules for the second layer, in place of its matrices."""
    B, n = ids.shape
    x = trained["embed"][ids]
    for layer in (0, 1):
        w = {name: array[layer] for name, array in trained.items() if len(array) == 2}
        y = root_norm(x, w["norm1"])
        Q = queries(y) if layer and queries else y @ w["wq"]
        K = keys(y) if layer and keys else y @ w["wk"]
        Q, K, V = (z.reshape(B, n, 2, 8).transpose(1, 2) for z in (Q, K, y @ w["wv"]))
        S = turned(Q) @ turned(K).mT / 8**0.5
        A = S.masked_fill(torch.ones(n, n).triu(1) > 0, -torch.inf).softmax(-1)
        x = x + (A @ V).transpose(1, 2).reshape(B, n, 16) @ w["wo"]
        y = root_norm(x, w["norm2"])
        x = x + (nn.functional.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]
    return root_norm(x, trained["norm"]) @ trained["unembed"]


# %%
your_numbers("echo_lora")

# %% [markdown]
# `LoRALinear(trained["wq"][1].T, 1, 1.0)` is such a layer: it multiplies from the left, so it takes the matrix transposed. Two hundred steps take a few seconds.
#
# 1. `new`: train on `sentences(2, 3, …)` alone, with the mean loss of the letters that are known. Your 64 numbers, four rows of 16: `A[0]` and `B[:, 0]` of the queries' layer, then of the keys'. A known letter of such sentences shall cost at most 0.05 nats on the average.
# 2. `losses`: the model with the numbers that you hand in as `new`, on two sentences of 24 symbols, `^` and your motif `short`, or `long`, again and again: what does a known letter cost on the average, in nats? Two numbers. The first letter that is known is the second one of the second pass.
# 3. `both`: four rows as before, which do both: a known letter costs at most 0.05 nats with motifs of two and three letters, and at most 0.005 with those of four to eight. However you come by them.
# 4. `forgets`: why did the first training make the old motifs dearer?

# %% exercise="echo_lora"
new = None      # four rows of 16 numbers
losses = None   # two numbers
both = None     # four rows of 16 numbers
forgets = None  # one of "A", "B", "C", "D"

# %% [markdown]
# **Where you meet this.** Who adapts a large model to one task sees it get worse at others, which is called *catastrophic forgetting* since McCloskey and Cohen (1989). The usual remedy is to go on with some of the old data. Another one is to go only part of
# the way, to weights between the old and the new ones (Wortsman et al., 2022). With LoRA there is a third: the factors are a
# small file of their own, and may be taken off again.

# %% [markdown]
# ## What you can do now
#
# You can route tokens to experts, keep the experts busy and say what is differentiable about it; plan checkpoints and tell their price; say where sixteen bits break and how to mend it; budget the memory of a
# training run; and adapt a large model with a percent of its parameters, knowing when that can't be enough.
#
# The next notebook asks what attention can express, what its heads do, and how one finds out.
#
# **To read.**
#
# - Fedus, Zoph & Shazeer (2022), *Switch Transformers*: one expert for each token, and what balances them.
# - Chen et al. (2016), *Training deep nets with sublinear memory cost*: checkpoints, and the √L rule.
# - Micikevicius et al. (2018), *Mixed precision training*: master copies and loss scaling, with histograms of gradients.
# - Hu et al. (2022), *LoRA: Low-rank adaptation of large language models*: the two thin matrices, and how small a rank was enough.
# - He et al. (2022), *Towards a unified view of parameter-efficient transfer learning*: prefixes, adapters and LoRA as one family.
# - Jang, Gu & Poole (2017), *Categorical reparameterization with Gumbel-softmax*, and Maddison, Mnih & Teh (2017), *The concrete distribution*: the same idea, found twice.
# - Shoeybi et al. (2019), *Megatron-LM*: a layer on several devices. Rajbhandari et al. (2020), *ZeRO*: the three stages.
# - Griewank & Walther (2000), *Algorithm 799: revolve*: the least recomputation. Huang et al. (2019), *GPipe*: pipelines and their bubble.
# - Anthony, Biderman & Schoelkopf (2023), *Transformer math 101* (blog.eleuther.ai/transformer-math): the memory of a training run, as rules of thumb.
# - Hugging Face, *PEFT* (github.com/huggingface/peft): LoRA, prefixes and prompts for models that are ready trained. To adapt one, use it.
