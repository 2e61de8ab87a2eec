# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Many heads, one budget
#
# One softmax gives each query one weighting, and one weighting gives one average. A layer with $h$
# heads asks $h$ questions at once, each in a space of width $d/h$, and mixes the answers. What does that
# bring, what does it cost, and how is it written so that no axis gets mixed up?
#
# | part | you learn |
# |---|---|
# | 1 Why several | what one head can't do, and what several cost |
# | 2 How | splitting, merging, counting; the layer as code, its gradient, the library's |
# | 3 Looked at closely | a layer is a sum of heads; scores of low rank |
# | 4 Across | a second sequence, and a mask that lands on the wrong axis |
#
# The parts can be done on different days. How to work with it:
#
# - Indices start at 0, as in Python, and a softmax acts on the last axis.
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
# The small model has two layers of two heads each. Here each of the four is left out in turn. What is shown is a loss,
# so less is better: where the next letter has to be guessed (*first pass*), and where it can be known, since it is said
# again (*on repeats*). Which one is missed most?

# %% tags=["demonstration"]
in_echo = {  # without head 0.0, 0.1, 1.0, 1.1, and with all of them
    "first_pass": [2.8, 2.28, 2.33, 3.46, 2.17],
    "on_repeats": [1.5954, 3.8235, 0.0007, 4.934, 0.0006],
}


def draw_echo():
    _, axis = plt.subplots(figsize=(7, 2.8), layout="constrained")
    styles = {"first_pass": ("tab:blue", ""), "on_repeats": ("white", "//")}
    for shift, (name, (color, hatch)) in zip([-0.2, 0.2], styles.items(), strict=True):
        bars = axis.bar([i + shift for i in range(5)], in_echo[name], 0.4, color=color, edgecolor="black", hatch=hatch, label=name.replace("_", " "))
        axis.bar_label(bars, fmt="%.4g", fontsize=8)
    names = ["no 0.0", "no 0.1", "no 1.0", "no 1.1", "all four"]
    axis.set(xticks=range(5), xticklabels=names, ylabel="loss in nats", ylim=(0, 5.6))
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* five pairs of bars. With all heads the loss is 2.17 in the first pass and 0.0006 on repeats. Without
# head 0.0 they are 2.80 and 1.60, without 0.1 2.28 and 3.82, without 1.0 2.33 and 0.0007, without 1.1 3.46 and 4.93.
#
# *A guess:* Which head would you give up? Is there one that does the work alone? Keep your guess: near the end,
# *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Why several
#
# ### What one head cannot do
#
# A token may want to know two things at once: what its verb is *and* where its sentence
# began. One row of weights can only blend the two.
#
# 1. `blended`: three keys have the values 0, 1 and 4 (one number each). A query puts equal weights on the first
#    and the last. What comes out? (Is it one of the two values that were wanted?)
# 2. `needed`: scores $QK^\top$ with queries and keys of width $d_k$ have at most rank $d_k$. Suppose each
#    of four tokens should have one score with itself, and one smaller score, the same for all, with the others. Shifting a
#    row of scores changes nothing, so what counts is the identity matrix with each row's mean subtracted. What is its
#    rank? A head needs that many dimensions for exactly this table. (If it is enough that each token looks *mostly* at
#    itself, two will do: put the tokens on a circle.)

# %% exercise="why_heads"
blended = None  # one number
needed = None   # a whole number

# %% [markdown]
# Now in words (a person reads this), in three separate sentences: what do several heads bring, what do they cost, and
# what should one not conclude from pictures of trained heads?

# %% [markdown] exercise="why_heads" part="benefit_cost_caveat"
# *Your answer, three sentences.*

# %% [markdown]
# ### Splitting a width
#
# A layer of width $d$ shares its columns between $h$ heads; each attends in its part, and the results
# stand side by side again.

# %%
your_numbers("heads_dims")

# %% [markdown]
# 1. `d_k`, `joined`: the width of one head, and that of all heads side by side.
# 2. `scale`: the factor by which a head's scores are multiplied.
# 3. `costs`: four whole numbers for your $n$ tokens: the madds (multiplications with an addition) of all scores
#    $QK^\top$ with $h$ heads and with one head of width $d$; and how many attention weights (entries of all $A$)
#    there are with $h$ heads and with one.
# 4. `reasons`: what speaks for several heads?
# 5. `differ`: do heads have to become different?

# %% exercise="heads_dims"
d_k = None      # a whole number
joined = None   # a whole number
scale = None    # one number
costs = None    # four whole numbers
reasons = None  # letters, "AB" for example
differ = None   # one of "A", "B", "C", "D"

# %% [markdown]
# *Where you meet this.* Heads are 64 wide in GPT-2 small and BERT-base (12 of them in a width of 768) and 128 wide in
# Llama 2 7B (32 of them in 4096).
#
# ## 2 How
#
# ### Reshape, then transpose
#
# In code there is one matrix product for all heads. Then the columns are dealt out: head 0 gets the first
# $d/h$ columns of every token, head 1 the next ones, and so on. It takes two steps. What does head 0 get
# if one forgets the second?

# %% tags=["demonstration"]
def draw_dealt(h):
    tokens = np.arange(32).reshape(4, 8)
    ways = {
        "reshape, then transpose": tokens.reshape(4, h, 8 // h).transpose(1, 0, 2),
        "reshape alone": tokens.reshape(h, 4, 8 // h),
    }
    figure = plt.Figure(figsize=(7, 2.6), layout="constrained")
    for axis, (title, heads) in zip(figure.subplots(1, 2), ways.items(), strict=True):
        axis.imshow(np.isin(tokens, heads[0]), cmap="Greys", vmin=0, vmax=2)
        for (row, column), number in np.ndenumerate(tokens):
            axis.text(column, row, number, ha="center", va="center")
        axis.set(title=title, xlabel="column", ylabel="token")
    whole = f"the first {32 // h} of all 32 numbers, row by row"
    return figure, f"Head 0 of {h} gets the first {8 // h} of 8 columns; without the second step {whole}."


if plt:
    moving(draw_dealt, "heads", [1, 2, 4, 8], 2)

# %% [markdown]
# *The picture:* the numbers 0 to 31 as four tokens of width 8; those that head 0 of two gets are grey. On the
# left it gets the first four columns of every token, as it should. On the right it gets the whole first two tokens and
# never sees the others.

# %%
your_numbers("mha_split")

# %% [markdown]
# 1. `split_shape`, `merged_shape`: for your sizes, the shape after splitting $(B, n, d)$ into $h$ heads, and after merging
#    them again. (Heads come before tokens, so that `@` works head by head.)
# 2. `split_heads(x, h)` and `merge_heads(x)`. A width that $h$ doesn't divide raises a `ValueError`. A batch may be
#    empty, $B = 0$ (then NumPy can't work out a size that you leave open as −1).

# %% exercise="mha_split"
import numpy as np

split_shape = None   # a tuple
merged_shape = None  # a tuple


def split_heads(x: "array (B, n, d)", h: int) -> "array (B, h, n, d/h)":
    """Give head t the columns t·d/h … (t + 1)·d/h − 1 of every token.

    >>> split_heads(np.array([[[1.0, 2.0, 3.0, 4.0]]]), 2)
    array([[[[1., 2.]],
    <BLANKLINE>
            [[3., 4.]]]])
    """
    raise NotImplementedError


def merge_heads(x: "array (B, h, n, k)") -> "array (B, n, h·k)":
    """Put the heads of each token side by side.

    >>> merge_heads(np.array([[[[1.0, 2.0]], [[3.0, 4.0]]]]))
    array([[[1., 2., 3., 4.]]])
    """
    raise NotImplementedError


# %% [markdown]
# ### Counting one attention layer
#
# Tokens are rows of width $d$. Head $t = 1, \dots, h$ has matrices of its own,
#
# $$ W_Q^{(t)},\ W_K^{(t)},\ W_V^{(t)} \in \mathbb{R}^{d \times d/h}, \qquad
#    \mathrm{head}_t = \operatorname{attention}\bigl(X W_Q^{(t)},\ X W_K^{(t)},\ X W_V^{(t)}\bigr), $$
#
# and the heads, side by side, pass through one more matrix:
# $\bigl[\mathrm{head}_1 \ \cdots \ \mathrm{head}_h\bigr] W_O$, which leads back to width $d$.
# In code the $h$ small matrices stand side by side in one: that is the $W_Q$ (and $W_K$, $W_V$) of
# the questions below. A *bias* adds one number to each output of a linear map. The scale and the
# softmax have no parameters.
#
# **Compare like with like.** You may read that several heads cost "about as much" as a single
# one, beside two counts that differ by a third. Before you believe in the third, look which
# matrices each of the two counts includes.
#
# Your own layer (`bias` is 1 if the maps have biases and 0 if not; it matters for `narrow` alone):

# %%
your_numbers("mha_params")

# %% [markdown]
# 1. `each`: how many entries does each of $W_Q$, $W_K$, $W_V$ have, all heads together?
#    `output`: and $W_O$?
# 2. `total`: parameters of the layer without biases; `total_with_biases`: with a bias on each of
#    the four maps.
# 3. `compared`: how does the layer (without biases) compare with a layer that has one head
#    of width $d$?
# 4. `narrow`: parameters of a layer with a *single* head that is only $d/h$ wide, with its $W_O$
#    from $d/h$ back to $d$, and with biases if your numbers say so.
# 5. `steps`: the same count in general. Write $k$ for the width $d/h$ of a head. Begin with the sum in $h$, $d$ and $k$,
#    head by head and with biases: $h$ times what the three maps of one head have, and what the output's map has. Give a
#    list of lines of text, each equal to the one before; end with a form in $d$ alone. That $k = d/h$ is known, so
#    you may put it in at any line.

# %% exercise="mha_params"
each = None               # a whole number
output = None             # a whole number
total = None              # a whole number
total_with_biases = None  # a whole number
compared = None           # one of "A", "B", "C", "D"
narrow = None             # a whole number
steps = None              # a list of lines: ["3*h*(d*k + k) + h*k*d + d", …]

# %% [markdown]
# ### Multi-head attention in NumPy
#
# Project, split, attend, merge, project: five steps, and four matrices that stay. So the layer is a class. A
# layer that you can call is what the next notebooks build on: you will carry this one with you.
#
# 1. `project(x, W, h)`: the first two steps. One product with $W$ for all heads, and the columns dealt out.
# 2. `MultiHead(d, h, rng, bias)`: the layer.
#    - `W_q`, `W_k`, `W_v`, `W_o` are arrays of shape $(d, d)$, used as $X W$. They are drawn from `rng` with mean 0 and standard
#      deviation $1/\sqrt{d}$. Whoever sets one of them changes what the layer computes from then on.
#    - With `bias=True` there are also `b_q`, `b_k`, `b_v`, `b_o` of shape $(d,)$. They begin as zeros.
#    - Calling the layer gives the output and the weights of all heads. A mask is True where a query may look at a key; it has
#      shape $(n, m)$ or any other that broadcasts to $(B, h, n, m)$.
#    - float32 inputs and matrices give float32. (A NumPy number such as `np.sqrt(2)` is float64, and makes float64 of them.)
#
# You may use functions of earlier exercises if they stand in this notebook.

# %% exercise="mha_numpy"
import numpy as np


def project(x: "array (B, n, d)", W: "array (d, d)", h: int) -> "array (B, h, n, d/h)":
    """Project all tokens, and give head t the columns t·d/h … (t + 1)·d/h − 1 of the result.

    >>> project(np.array([[[1.0, 2.0]]]), np.eye(2), 2)
    array([[[[1.]],
    <BLANKLINE>
            [[2.]]]])
    """
    raise NotImplementedError


class MultiHead:
    """Attention with h heads.

    >>> layer = MultiHead(1, 1)
    >>> layer.W_q = layer.W_k = layer.W_v = layer.W_o = np.ones((1, 1))
    >>> out, weights = layer(np.zeros((1, 1, 1)), *2 * [np.array([[[2.0], [4.0]]])])
    >>> out, weights
    (array([[[3.]]]), array([[[[0.5, 0.5]]]]))
    """

    def __init__(self, d: int, h: int, rng: "generator, or None" = None, bias: bool = False):
        raise NotImplementedError

    def __call__(
        self,
        xq: "array (B, n, d)",
        xk: "array (B, m, d)",
        xv: "array (B, m, d)",
        mask: "bool array, or None" = None,
    ) -> "arrays (B, n, d) and (B, h, n, m)":
        raise NotImplementedError


# %% [markdown]
# ### The gradient of the whole layer
#
# Training needs the gradient of everything. In self-attention $X$ enters three times: as queries, as keys and as
# values. So the gradient for $X$ has three parts, and it is easy to lose one.
#
# 1. `mha_backward(X, W, h, dY, mask)`: the layer is $Y$, with the four matrices stacked in $W$ of shape $(4, d, d)$: $W_Q, W_K,
#    W_V, W_O$, without biases. $dY$ is the gradient of some number with respect to $Y$. Return its gradients with respect to $X$ and $W$.
# 2. `gradcheck(f, x, h)`: how does one know that this is right? `f(x)` returns a number and what is claimed to be its gradient $a$ at
#    $x$. Work out the gradient $b$ by central differences,
#    $$ b_i = \frac{f(x + h\,e_i) - f(x - h\,e_i)}{2h}, $$
#    and return $\lVert a - b \rVert / (\lVert a \rVert + \lVert b \rVert)$. In float32 rounding hides everything: raise an
#    exception or warn (`warnings.warn`).
#
# Then use the second on the first. A relative error below $10^{-6}$ is good; one of $X$'s three paths missing gives $0.05$ or more.

# %% exercise="mha_grad"
import numpy as np


def mha_backward(
    X: "array (B, n, d)",
    W: "array (4, d, d)",
    h: int,
    dY: "array (B, n, d)",
    mask: "bool array (n, n), or None" = None,
) -> "arrays (B, n, d) and (4, d, d)":
    """Return the gradients for X and W.

    >>> X, W, dY = np.ones((1, 1, 1)), np.full((4, 1, 1), 2.0), np.ones((1, 1, 1))
    >>> dX, dW = mha_backward(X, W, 1, dY)
    >>> dX.item(), dW.ravel().tolist()
    (4.0, [0.0, 0.0, 2.0, 2.0])
    """
    raise NotImplementedError


def gradcheck(f: "function", x: "array", h: float = 1e-5) -> float:
    """Return how far the gradient that f claims is from central differences.

    >>> gradcheck(lambda x: ((x**2).sum(), 2 * x), np.ones(3)) < 1e-6
    True
    >>> round(gradcheck(lambda x: ((x**2).sum(), 6 * x), np.ones(3)), 4)
    0.5
    """
    raise NotImplementedError


# %% [markdown]
# ### The same as the library
#
# PyTorch has this layer: `nn.MultiheadAttention`. Yours is right if it gives the same numbers with the same weights. For
# that one has to know how the library keeps them: three matrices in one, `in_proj_weight` of shape $(3d, d)$, their biases in `in_proj_bias`,
# and `out_proj`, a linear layer. Like all linear maps in PyTorch they are used as $x W^\top$. (This exercise needs PyTorch.)
#
# 1. `parameters`: how many numbers are there in `nn.MultiheadAttention(512, 8)`, and in one with `bias=False`? Two whole numbers. Count by hand,
#    then look.
# 2. `MHA(d, h, bias)`: the layer as a module. `load_from(m)` takes over the weights of an `nn.MultiheadAttention`. Calling the module gives the output
#    and the weights of every head, $(B, h, n, m)$. In the mask True means, as everywhere in this course, that a query *may* look at a key.
#    (In the library it means the opposite.) Its attention is what is to be written: don't call it, nor
#    `scaled_dot_product_attention`.

# %% exercise="mha_torch"
import torch
from torch import nn

parameters = None  # two whole numbers


class MHA(nn.Module):
    """Attention with h heads that can take over the library's weights.

    >>> layer, library = MHA(4, 2), nn.MultiheadAttention(4, 2, batch_first=True)
    >>> layer.load_from(library)
    >>> x = torch.ones(1, 3, 4)
    >>> torch.allclose(layer(x, x, x)[0], library(x, x, x)[0], atol=1e-6)
    True
    """

    def __init__(self, d: int, h: int, bias: bool = True):
        raise NotImplementedError

    def load_from(self, m: nn.MultiheadAttention):
        """Take over the weights of m."""
        raise NotImplementedError

    def forward(self, xq, xk, xv, mask=None):
        """Return the output (B, n, d) and the weights (B, h, n, m)."""
        raise NotImplementedError


# %% [markdown]
# ## 3 Looked at closely
#
# ### A sum over heads
#
# "Side by side, then times $W_O$" hides something. Cut $W_O$ into $h$ blocks of rows, $W_O^{(t)}$ for head $t$. Then
# the product is a sum, and each head writes its own contribution into the result:
#
# $$ \bigl[\mathrm{head}_1 \ \cdots \ \mathrm{head}_h\bigr] W_O
#    = \sum_{t=1}^{h} A^{(t)} X\, W_V^{(t)} W_O^{(t)} . $$
#
# So a head is two things: $A^{(t)}$ says from where to where, $W_V^{(t)} W_O^{(t)}$ says what is carried along. The steps below
# say why that is so; they stand in a wrong order, and a few among them belong to no proof.

# %%
your_numbers("mha_sum_form")

# %% [markdown]
# 1. `order`: the letters of the right steps, in an order in which each follows from those before it.
#    `block_steps`: for two heads the same is two lines with block matrices. Let $C = [H_1\ H_2]$ be the heads side by side and $W$ the
#    two blocks of $W_O$ below each other, with $H_t = A_t X V_t$. Lead `C*W` to a sum of two products of these single matrices. In text,
#    `[H_1, H_2]` are blocks side by side and `[W_1; W_2]` blocks below each other. Rules: *definition* (of $C$, $W$, $H_1$, $H_2$), *product of blocks*.
# 2. `tied`: suppose that all heads had the same weights $A$. What would the layer compute?
# 3. `ranks`: for your sizes, the largest possible rank of $W_Q^{(t)} W_K^{(t)\top}$ of one head, and of its
#    $W_V^{(t)} W_O^{(t)}$. Two whole numbers.

# %% exercise="mha_sum_form"
order = None        # letters, such as "C A F B"
block_steps = None  # a list of lines
tied = None         # one of "A", "B", "C", "D"
ranks = None        # two whole numbers

# %% [markdown]
# ### Low-rank scores, full-rank attention
#
# One reads that a head of width $d_k$ can form weights of rank $d_k$ at most. That holds for the *scores*. Look at the
# narrowest head there is: $d_k = 1$, and queries and keys are the same three numbers $x$. So the scores are $x x^\top$, and
# the scale is 1.
#
# Is what you find there an accident of these numbers? Take two queries $a$, $b$ and two keys $u$, $v$ of width 1, and divide the rows by their sums,
# $Y = e^{au} + e^{av}$ and $Z = e^{bu} + e^{bv}$: when is the determinant 0? For $n$ of each, suppose that $E c = 0$ with $E_{ij} = e^{q_i k_j}$. Then
# $f(t) = c_1 e^{k_1 t} + \dots + c_n e^{k_n t}$ is 0 at all $n$ queries $t = q_i$. If that leaves only $c = 0$, the columns of $E$ are independent: the
# weights, whose rows are those of $E$, each divided by a number, have rank $n$.

# %%
your_numbers("rank_logits")

# %% [markdown]
# 1. `A`: the weights; `det`: the determinant of $A$.
# 2. `ranks`: the rank of the scores, and that of the weights.
# 3. `steps`: lead the determinant of the two by two weights, `(exp(a*u)/Y)*(exp(b*v)/Z) - (exp(a*v)/Y)*(exp(b*u)/Z)`, to
#    $e^{av + bu} \bigl(e^{(a - b)(u - v)} - 1\bigr) / (Y Z)$, one equality a line. For which queries and keys is it 0?
#    `few_zeros`: and for $n$ different queries and $n$ different keys, why does $f$ vanish at all queries only if $c = 0$?
# 4. `statement`: which one is right, for $n$ queries and $m$ keys?

# %% exercise="rank_logits"
A = None          # three rows of three numbers
det = None        # one number
ranks = None      # two whole numbers
steps = None      # a list of lines
few_zeros = None  # one of "A", "B", "C", "D", "E"
statement = None  # one of "A", "B", "C", "D"

# %% [markdown]
# ## 4 Across
#
# ### Two sequences
#
# A translator has read a text, the *source*, with an encoder, and writes another one, the *target*, with a decoder. For
# each word that it writes, it looks into the source: **cross-attention**. Nothing in the formula asks queries and keys to
# come from the same tokens.

# %%
your_numbers("cross_attn")

# %% [markdown]
# 1. `origins`: where do queries, keys and values come from?
# 2. `weights_shape`, `out_shape`: the shapes of weights and output, for $B$ examples, $n$ target and $m$ source tokens, width $d$,
#    $h$ heads; `entries`: how many scores does one head compute for one example, in the decoder's self-attention and in its
#    cross-attention? Two whole numbers.
# 3. `cross_attention(dec, enc, W, h, src_mask)`: the layer. `W` holds $W_Q, W_K, W_V, W_O$, applied from the right. `src_mask`, of shape
#    $(B, m)$, is True where there is a source token and False for padding. You may use functions of earlier exercises if they
#    stand in this notebook.
# 4. `uses`: for which of these does it fit?

# %% exercise="cross_attn"
import numpy as np

origins = None        # one of "A", "B", "C", "D"
weights_shape = None  # a tuple
out_shape = None      # a tuple
entries = None        # two whole numbers
uses = None           # letters


def cross_attention(
    dec: "array (B, n, d)",
    enc: "array (B, m, d)",
    W: "array (4, d, d)",
    h: int,
    src_mask: "bool array (B, m), or None" = None,
) -> "array (B, n, d)":
    """Let every target token attend to the source with h heads.

    >>> cross_attention(np.zeros((1, 1, 1)), np.array([[[2.0], [4.0]]]), np.ones((4, 1, 1)), 1)
    array([[[3.]]])
    """
    raise NotImplementedError


# %% [markdown]
# ### A mask that lands on the wrong axis
#
# Scores have shape $(B, h, n, m)$. A mask with a table for each example has shape $(B, n, m)$. NumPy (and PyTorch)
# line axes up from the *last* one, so the mask's first axis meets, without a word, the heads.
#
# 1. Take $B = h = 2$, $n = m = 3$, and scores that are all 0. The mask lets example 0 see key 0 only, and example 1 see everything.
#    `wrong`: what are `weights[:, :, 0, 0]` (a row for each example, a column for each head) if the mask is
#    used as it is? `right`: and what should they be?
# 2. `when`: with more than one example, when does this go unnoticed?
# 3. `align_mask(mask, ndim)`: the mask with `ndim` axes, so that it broadcasts as meant. Masks come as $(n, m)$, for everybody; as
#    $(B, n, m)$, with a table for each example; or with all axes already. The last two axes always are queries and keys.

# %%
your_numbers("mask_broadcast")

# %% exercise="mask_broadcast"
import numpy as np

wrong = None  # two rows of two numbers
right = None  # two rows of two numbers
when = None   # one of "A", "B", "C", "D"


def align_mask(mask: "bool array", ndim: int) -> "bool array with ndim axes":
    """Give a mask the axes that it lacks.

    >>> align_mask(np.ones((2, 3, 3), bool), 4).shape
    (2, 1, 3, 3)
    """
    raise NotImplementedError


# %% [markdown]
# ## In a trained model: which head matters?
#
# The small model of the first notebook has two layers with two heads each. Let one of the four add nothing. What
# breaks? Two losses are shown, in nats per letter: that in the *first pass*, where the next letter has to be guessed, and that on
# *repeats*, where it can be known for certain.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* five pairs of bars. With all heads the loss is 2.17 in the first pass and 0.0006 on repeats. Without head 0.0 they are
# 2.80 and 1.60, without 0.1 2.28 and 3.82, without 1.0 2.33 and 0.0007, without 1.1 3.46 and 4.93.
#
# Copying rests on 0.1 and 1.1 *together*: without either of them the model is on repeats worse than a guess, which costs 2.303. Head 1.0
# can go, as long as there is something to copy; only in the first pass is it missed. So what a head is worth depends on the
# question. And a large loss does not say that a head *does* the work, only that the work needs it: 0.1 tells each letter
# who stands before it, and 1.1 looks that up.

# %% [markdown]
# ## What you can do now
#
# You can say what several heads are for and what they cost, split and merge them without mixing tokens, count their
# parameters, write the whole layer with its gradient, and point attention at another sequence.
#
# The next notebook asks what all this can know about the order of the tokens. (Without a mask: nothing, so far.)
#
# **To read.**
#
# - Vaswani et al. (2017), *Attention is all you need*, section 3.2.2.
# - Michel, Levy & Neubig (2019), *Are sixteen heads really better than one?*: what happens if heads are removed.
# - Elhage et al. (2021), *A mathematical framework for transformer circuits*: a layer as a sum of heads.
# - Bhojanapalli et al. (2020), *Low-rank bottleneck in multi-head attention models*: how wide a head should be.
# - Rogozhnikov (2022), *Einops: Clear and reliable tensor manipulations with Einstein-like notation* (einops.rocks):
#   `rearrange(x, "b n (h c) -> b h n c", h=h)` splits heads and says so. Once you know what a reshape does, use this.
