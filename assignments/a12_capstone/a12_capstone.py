# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Build, train, look inside
#
# Eleven notebooks have taken attention apart. Here it is put together: a whole encoder–decoder, in
# NumPy, of pieces that you wrote yourself; its gradients, by hand; and then it learns.
#
# | part | you learn |
# |---|---|
# | 1 The whole model | embeddings, positions, encoder, decoder and output in one class |
# | 2 Trust your gradients | the way back through the whole model, and how to find out whether it is right |
# | 3 It learns | two tasks, Adam, and to measure what was learned |
# | 4 Look inside | what the heads of your trained model attend to |
# | 5 What it costs | three ways to compute attention: predicted, counted, measured |
#
# The parts can be done on different days.
#
# How to work with it:
#
# - Masks are Boolean, and `True` means: may attend. Positions and token ids start at 0. Norms are
#   layer norms that come after the sum (post-norm), with $\varepsilon = 10^{-5}$.
# - Run the cells from top to bottom. Each exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.

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
# This is how the small model of the course became what it is: its loss, and the mean weights of two of its heads, while
# it was trained. One of the two looks at the letter before, the other at what stood behind an earlier copy of the same
# letter. Which comes first?

# %% tags=["demonstration"]
in_echo = {
    "steps": [1, 300, 500, 700, 1000, 2000],
    "loss": [2.64, 1.42, 0.77, 0.67, 0.64, 0.63],
    "previous": [0.14, 0.21, 0.49, 0.83, 1, 1],
    "induction": [0.13, 0.33, 0.71, 0.92, 0.97, 0.97],
}


def draw_echo():
    _, axis = plt.subplots(figsize=(6.5, 3), layout="constrained")
    for name, style in {"loss": "o-", "previous": "s--", "induction": "^-."}.items():
        axis.plot(in_echo["steps"], in_echo[name], style, label=name)
    axis.axhline(0.579, linestyle=":", color="black", label="least possible loss")
    axis.set(xlabel="steps", ylabel="nats, or weight", ylim=(0, 2.8))
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* three curves over 1, 300, 500, 700, 1000 and 2000 steps. The loss falls: 2.64, 1.42, 0.77, 0.67, 0.64,
# 0.63, where 0.58 is the least possible. The weight on the letter before rises: 0.14, 0.21, 0.49, 0.83, 1, 1; and so
# does the weight behind earlier copies: 0.13, 0.33, 0.71, 0.92, 0.97, 0.97.
#
# *A guess:* Does the loss fall before the heads are there, or behind them? What has the model learned before step 300, when neither
# is there? Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 The whole model
#
# ### A complete transformer
#
# Everything is there: attention, positions, norms, feed-forward layers. Only two things differ from
# the notebooks before.
#
# **Attention has biases.** As in most libraries, each of the four maps adds one: a query is
# $x W_Q + b_Q$, and in the same way for keys, values and the output. So `multi_head(x, y, weights, h,
# mask)` gets a dictionary with `W_q`, `W_k`, `W_v`, `W_o` and `b_q`, `b_k`, `b_v`, `b_o`. Head $t$ has
# the columns $t\,d/h \ldots (t+1)\,d/h - 1$, of the biases too. It returns the output and the weights,
# one map for each head. Your own attention of the third notebook does the inner part; copy what you
# need.
#
# **All weights have names.** A `Transformer` keeps its arrays in one dictionary, `weights`. That makes
# saving, loading and training simple: whoever changes an array there, or puts another dictionary in
# its place, changes the model. So look weights up in `self.weights` when you need them, and keep no
# copies. The names, with `i` counting layers from 0:
#
# | name | shape | is |
# |---|---|---|
# | `source`, `target` | $(V, d)$ | the tables of embeddings |
# | `out.W`, `out.b` | $(d, V)$, $(V,)$ | the map to logits |
# | `encoder.i.self.W_q` … `encoder.i.self.b_o` | $(d, d)$, $(d,)$ | attention, eight arrays |
# | `decoder.i.self.W_q` …, `decoder.i.cross.W_q` … | the same | the decoder's two attentions |
# | `encoder.i.W1`, `.b1`, `.W2`, `.b2`, and of `decoder.i` | $(d, f)$, $(f,)$, $(f, d)$, $(d,)$ | feed-forward layers |
# | `encoder.i.gamma1`, `.beta1`, … | $(d,)$ | norms: two in an encoder's layer, three in a decoder's |
#
# A worked example of what happens to one token. With $d = 4$ and an embedding $(0.5, 0, -0.5, 1)$ at
# position 0, the embedding is multiplied by $\sqrt d = 2$ and the encoding $(0, 1, 0, 1)$ is added:
# $(1, 1, -1, 3)$ enters the first layer.
#
# 1. `multi_head`, as above.
# 2. `Transformer(V, d, h, f, L, rng)`: the arrays under their names. Draw all matrices from `rng`;
#    the entries of a matrix have variance 1/(its rows), those of the two tables $1/d$. Scales of norms
#    begin as 1, shifts and biases as 0.
# 3. `encode(src)` returns the encoder's output for a batch of ids, and `decode(memory, tgt)` logits
#    behind each token of `tgt`. Embeddings are multiplied by $\sqrt d$ before positions are added. The
#    decoder's attention to itself is causal; nothing is padded, so nothing else is masked.
# 4. `attention`, a dictionary with the maps of the last calls, $(B, h, n, m)$ each: under
#    `encoder.i.self`, `decoder.i.self` and `decoder.i.cross`.
# 5. For six tokens on either side: `touched`, which outputs of the decoder move if its input 4 changes
#    (1 for those that do). For $V = 9$, $d = 32$, $h = 2$, $f = 64$, $L = 2$: `parameters`, how many
#    numbers are learned, in the layers of the encoder, in those of the decoder, and in all.
#
# The next cells bring your pieces from the notebooks before.

# %%
carry("pe_code")

# %%
carry("ln_code")

# %%
carry("ffn_code")

# %% exercise="cap_forward"
import numpy as np

touched = None     # six entries, 0 or 1
parameters = None  # three whole numbers: encoder, decoder, all


def multi_head(
    x: "array (B, n, d)", y: "array (B, m, d)", weights: dict, h: int, mask: "bool array, or None" = None
) -> "(array (B, n, d), array (B, h, n, m))":
    """Attention of x over y in h heads, with biases.

    >>> w = {name: np.eye(2) for name in ("W_q", "W_k", "W_v", "W_o")}
    >>> w |= {"b_q": np.zeros(2), "b_k": np.zeros(2), "b_v": np.zeros(2), "b_o": np.ones(2)}
    >>> multi_head(np.zeros((1, 1, 2)), np.array([[[1.0, 3.0]]]), w, 1)[0]
    array([[[2., 4.]]])
    """
    raise NotImplementedError


class Transformer:
    """An encoder and a decoder of L layers each.

    >>> Transformer(9, 8, 2, 12, 1, np.random.default_rng(0)).weights["decoder.0.cross.W_q"].shape
    (8, 8)
    """

    def __init__(self, V: int, d: int, h: int, f: int, L: int, rng: "generator"):
        raise NotImplementedError

    def encode(self, src: "whole numbers (B, n)") -> "array (B, n, d)":
        raise NotImplementedError

    def decode(self, memory: "array (B, n, d)", tgt: "whole numbers (B, m)") -> "array (B, m, V)":
        raise NotImplementedError

# %% [markdown]
# ### Where you meet this
#
# The sizes here are a toy's: nearly 44 thousand numbers. The first transformer, in its base form, had some
# 65 million, with $d = 512$, $h = 8$, $f = 2048$ and $L = 6$, and not one more kind of array than
# yours. Checkpoints of real models are such dictionaries, too: names with dots, and an array for each.

# %% [markdown]
# ## 2 Trust your gradients
#
# ### There and back
#
# To learn, a model needs the slope of its loss along every number. Libraries compute it; here you do,
# once, for the whole model. (The third part can do without: it offers gradients that are given.) Each step of the way there has a way back. It takes the gradient of the
# loss with respect to what came out, and returns the gradient with respect to what went in; on the way it leaves the gradients of
# its own weights behind.
#
# A worked example: $y = x W + b$ with $x$ of shape $(B, n, d)$. If $G$ is the gradient with respect to $y$, then that
# with respect to $x$ is $G W^\top$, that of $b$ is the sum of $G$ over batch and positions, and that of $W$
# the sum of $x^\top G$ over the batch. Three more rules do nearly all of the work:
#
# - what was *added* gets the same gradient on both ways: a shortcut's gradient joins the sublayer's;
# - what was *used several times* gets the sum of all its gradients: the memory, a token that comes
#   twice, the vectors that give queries, keys and values;
# - softmax and layer norm you have differentiated already (notebooks 1 and 6).
#
# Write small functions that return their result *and* the way back, and put them together as the
# forward pass is put together. The loss is the mean of $-\log p$ over all labels of the batch; logits
# at decoder position $t$ predict `labels[:, t]`.
#
# How do you know that it is right? Move one array a little along a random direction $D$, and compare:
#
# $$\frac{\ell(W + \epsilon D) - \ell(W - \epsilon D)}{2 \epsilon} \approx \sum_{ij} G_{ij} D_{ij},
# \qquad \epsilon = 10^{-5}.$$
#
# In float64 the two agree to a relative error of $10^{-6}$ and better, unless both are next to 0. Do that for every array: it
# tells you which sublayer is wrong. The grader does the same with *your* loss, so that a slip in the
# way there is not paid for again.

# %% tags=["demonstration"]
if plt:
    steps = 10.0 ** np.arange(-13, 0)
    slope = [(np.exp(1 + e) - np.exp(1 - e)) / (2 * e) for e in steps]
    forward = [(np.exp(1 + e) - np.exp(1)) / e for e in steps]
    figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
    axis.loglog(steps, np.abs(np.array(slope) / np.e - 1), "ko-", label="both sides")
    axis.loglog(steps, np.abs(np.array(forward) / np.e - 1), "k^:", label="one side")
    axis.set(xlabel="step", ylabel="relative error", title="The slope of exp at 1")
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* relative error of differences against the step, both axes logarithmic. With both
# sides it falls with the square of the step, to some $10^{-11}$ between $10^{-7}$ and $10^{-5}$, and
# rises again for smaller steps, where two nearly equal numbers are subtracted. With one side it falls
# with the step alone, to some $10^{-9}$ at $10^{-8}$.
#
# 1. `loss_and_grads(weights, h, src, dec_in, labels)`: the loss, and a dictionary with the gradient of
#    every array of `weights` under its name. The number of layers follows from the names. Go back
#    once: differences for each number would take two passes for each of more than forty thousand.
# 2. `no_gradient`: one of the biases of attention has no effect on anything that comes out, so its
#    gradient is 0 whatever the data. Whose is it?

# %%
your_numbers("cap_gradcheck")

# %% exercise="cap_gradcheck"
no_gradient = None  # a letter


def loss_and_grads(
    weights: dict,
    h: int,
    src: "whole numbers (B, n)",
    dec_in: "whole numbers (B, m)",
    labels: "whole numbers (B, m)",
) -> "(number, dictionary of arrays)":
    """The mean loss of a label, and its gradient with respect to every array of the weights.

    >>> w = {name: np.zeros((2, 2)) for name in ("source", "target", "out.W")}
    >>> w["out.b"], ids = np.zeros(2), np.array([[0]])  # no layers at all
    >>> loss_and_grads(w, 1, ids, ids, ids)[1]["out.b"]
    array([-0.5,  0.5])
    """
    raise NotImplementedError

# %% [markdown]
# ## 3 It learns
#
# ### Learn to reverse
#
# The task is one of the smallest on which an encoder–decoder can show what it does. The source is six symbols, drawn from the eight
# letters A to H (ids 1 to 8); the target is the same six in reverse order. Symbol 0 is the start symbol
# `^`. So $V = 9$.
#
# A worked example, with three symbols: the source `B A D` is `2 1 4`. The labels are `4 1 2`, and the
# decoder's input is `0 4 1`: the labels shifted to the right behind the start symbol. At position 1 the
# decoder has seen `^ D`, and is to say `A`. If the input were not shifted, the label would stand among
# what the decoder sees, the loss would fall to 0 at once, and the model would have learned nothing.
#
# Whoever guesses gets one symbol in eight right, and one sequence in $8^6 = 262{,}144$.
#
# **Adam** (with $\beta_1 = 0.9$, $\beta_2 = 0.98$) keeps two running means for every array: of the
# gradient $g$ and of its square.
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \quad
# W \leftarrow W - \eta\, \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + 10^{-9}}$$
#
# $t$ counts steps from 1, and all is entry by entry. Let the rate $\eta$ rise from 0 to its largest
# value over some 50 steps, and fall again until the end.
#
# `train(seed, d)` makes a new model of width $d$, trains it on sequences that it draws itself, and returns the
# dictionary of weights, by their names, and a list or array with the loss of each step. All that is
# random comes from `seed`.
#
# - Two layers on either side and $f = 2d$ will do; these are yours to choose. There are **two heads**, and $d$ is an even
#   number from 28 to 36, which the grader draws: what is kept from an earlier training doesn't fit. A few hundred steps with batches of 32 or 64 are enough.
# - `float32` is twice as fast as `float64` and exact enough here: convert the weights once, and see that
#   nothing turns them back. (The encoding of positions is float64 unless you convert it, too.)
# - The gradients are those of your own `loss_and_grads`. Nothing but NumPy is needed then, and one step should
#   take some 20 ms.
# - Whoever leaves part 2 out gets them: take the `#` away in the next cell and run it. Code comes in its place that
#   defines `loss_and_grads` by torch's layers. It is for training alone and earns nothing in part 2. With wrong gradients a
#   model learns badly, and that costs points here: as long as yours fail a check, train with those that are given.
#
# How it is graded. The grader calls `train` once, with a width of its own, and that may take 300 seconds of processor time; our
# own takes 5 to 10. It puts your weights into the model of part 1, which must therefore be the one
# described there, and lets it write: for 512 new sequences, one symbol after the other, each from what
# the model has written itself. The first six points come with half of the symbols right, and a share
# of them from a fifth on: guesses earn nothing, nor does a model that was not trained by this call. The other
# six come with nine sequences in ten, and a share of them before. The last two are for the losses: they begin
# where a model knows nothing ($\log 9 = 2.197$ with equal probabilities, up to 3 with the weights as you draw them),
# fall, and end where the loss on new sequences is.
#
# Your feedback shows the curve of your losses, and the seed and the seconds of the run. It is trained anew
# only if you hand in again and what `train` uses has changed.
#
# Train here with few steps, as long as you look for mistakes. Leave no training in a cell of this
# notebook when you hand in: what is graded is the function.

# %%
# carry("cap_gradcheck", given=True)

# %% exercise="cap_seq2seq"
def train(seed: int, d: int) -> "(dictionary of arrays, losses)":
    """A model of width d that reverses six symbols, and the loss at each step of its training.

    >>> weights, losses = train(0, 32)
    >>> weights["out.W"].shape[1], bool(losses[-1] < losses[0])
    (9, True)
    """
    raise NotImplementedError

# %% [markdown]
# ### Which came first?
#
# The second task needs no decoder. A sequence has twelve symbols of ten, the letters A to J as 0 to 9.
# A and B stand in it once each, at two random places; the others are drawn from C to J and mean
# nothing. The answer is 1 if A comes before B, and 0 otherwise: `C A D D B J …` is 1.
#
# The model is one block of your encoder between an embedding and a mean:
#
# $$\text{logits} = \Big(\frac1n \sum_i \text{block}(x)_i\Big) W + b, \qquad x_i = \sqrt d\, E_{t_i} +
# \text{pe}(i).$$
#
# Without $\text{pe}$ a block treats all orders alike, and the mean forgets which position gave what. So
# nothing that such a model computes can tell a sequence from its mirror image, where the answer is the
# other one: it guesses, however long it trains.
#
# 1. `Classifier(V, d, h, f, rng)`: its arrays, again in a dictionary `weights`, are `embed` $(V, d)$,
#    `out.W` $(d, 2)$, `out.b` $(2,)$, and those of the block, under the names that an encoder's layer
#    has in part 1, with `block` for `encoder.i`: `block.self.W_q`, …, `block.W1`, …, `block.gamma2`,
#    `block.beta2`. For $V = 10$, $d = 32$ and $f = 64$ these are 8,930 numbers. A call with ids $(B, n)$
#    returns logits $(B, 2)$; with `positions=False` no encoding is added.
# 2. `train_classifier(seed, d)` returns the weights of a trained `Classifier(10, d, 2, 2*d, rng)`, for an even width $d$
#    from 28 to 36 that the grader draws. Draw the
#    sequences yourself, and everything from `seed`. Three hundred steps are enough.
#
# How it is graded. `train_classifier` is called once, with a width of the grader's, and may take 120 seconds of processor time; our own
# takes 2 to 3. The grader runs your weights on 1000 new sequences. Four points come with three right answers
# in four, the other four with 95 in 100; a share of them before, from six in ten on. A guess is right
# every other time, and earns nothing; nor does a model that is sure where it is wrong (a mean loss over 0.8),
# as one that knows a few sequences by heart, or one that was not trained by this call.

# %% exercise="cap_classify"
class Classifier:
    """One encoder block, the mean over positions, two logits.

    >>> model = Classifier(10, 32, 2, 64, np.random.default_rng(0))
    >>> model(np.array([[2, 0, 1]])).shape, sum(array.size for array in model.weights.values())
    ((1, 2), 8930)
    """

    def __init__(self, V: int, d: int, h: int, f: int, rng: "generator"):
        raise NotImplementedError

    def __call__(self, x: "whole numbers (B, n)", positions: bool = True) -> "array (B, 2)":
        raise NotImplementedError


def train_classifier(seed: int, d: int) -> "dictionary of arrays":
    """The weights of a classifier that knows which of two symbols came first.

    >>> train_classifier(0, 32)["embed"].shape
    (10, 32)
    """
    raise NotImplementedError

# %% [markdown]
# ## 4 Look inside
#
# ### Inside the trained model
#
# Your model reverses. How? Its attention maps are the part that can be
# looked at: two heads in each of six attentions, the encoder's to itself, the decoder's to itself and the
# decoder's to the encoder, in two layers each.
#
# A worked example. Two heads have the mean maps $\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$ and
# $\begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}$. All four entries differ by 1, so their Frobenius distance is
# $\sqrt 4 = 2$. The second has all of its weight on the mirrored position: query 0 looks at key 1, query 1 at key 0.
# Both have rows of entropy 0.
#
# 1. `collect(weights, src, dec_in)`: a dictionary with the maps of all six attentions, $(B, 2, n, m)$ each, under
#    the names of their places: `encoder.0.self`, …, `decoder.1.cross`. `weights` is a dictionary as `train` returns it,
#    with two heads and two layers. Your `Transformer` keeps its maps already.
# 2. `heatmaps(maps)`: what a picture of each head should show, the mean over the batch, $(2, n, m)$ under
#    the same names.
# 3. `head_distance(maps)`, the Frobenius distance between the mean maps of the two heads; `mirror_mass(maps)`, for
#    each head the weight that query $i$ gives to key $n - 1 - i$, in the mean over batch and queries;
#    `row_entropy(maps)`, for each head the mean of $-\sum_j p_j \log p_j$ over all its rows. Each gets one array
#    $(B, 2, n, m)$.
#
# Now train a model, and apply them to 256 new sequences; the decoder's input is what it would be in training. Write the
# results into the cell, so that nothing is trained when you hand in.
#
# 4. `mirror`: four numbers in any order, the masses of both heads of `decoder.0.cross` and of `decoder.1.cross`.
#    `distances`: six in any order, one for each attention.
# 5. `entropies`: six rows of two, for `encoder.0.self`, `encoder.1.self`, `decoder.0.self`, `decoder.1.self`,
#    `decoder.0.cross`, `decoder.1.cross`. Their order counts.
# 6. `sharper`: three whole numbers, 0 or 1. Which layer has the lower entropy, in the mean of its heads: for the encoder, for the
#    decoder's attention to itself, and for that to the encoder? It is judged by your own `entropies`.
#
# Models differ, so yours is judged by what holds of all that reverse well. Have a look at the maps
# themselves, too: `plt.imshow(heatmaps(maps)["decoder.1.cross"][0])`.

# %% exercise="cap_attention"
import numpy as np

mirror = None     # four numbers, in any order
distances = None  # six numbers, in any order
entropies = None  # six rows of two numbers, in the order above
sharper = None    # three whole numbers, 0 or 1


def collect(weights: dict, src: "whole numbers (B, n)", dec_in: "whole numbers (B, m)") -> "dictionary of arrays":
    """The maps of all six attentions, by their places.

    >>> shapes = {"source": (9, 2), "target": (9, 2), "out.W": (2, 9), "out.b": (9,)}
    >>> for place, looks in (("encoder.0", 1), ("encoder.1", 1), ("decoder.0", 2), ("decoder.1", 2)):
    ...     for look in ("self", "cross")[:looks]:
    ...         shapes |= {f"{place}.{look}.W_{name}": (2, 2) for name in "qkvo"}
    ...         shapes |= {f"{place}.{look}.b_{name}": (2,) for name in "qkvo"}
    ...     shapes |= {f"{place}.W1": (2, 3), f"{place}.b1": (3,), f"{place}.W2": (3, 2), f"{place}.b2": (2,)}
    ...     shapes |= {f"{place}.{name}{i + 1}": (2,) for name in ("gamma", "beta") for i in range(looks + 1)}
    >>> zeros = {name: np.zeros(shape) for name, shape in shapes.items()}
    >>> maps = collect(zeros, np.array([[1, 2]]), np.array([[0]]))
    >>> len(maps), np.asarray(maps["decoder.1.cross"]).tolist()
    (6, [[[[0.5, 0.5]], [[0.5, 0.5]]]])
    """
    raise NotImplementedError


def heatmaps(maps: dict) -> "dictionary of arrays":
    """The mean over the batch of each map, under the same names.

    >>> heatmaps({"one": np.array([[[[1.0]], [[0.0]]], [[[0.0]], [[0.0]]]])})["one"].tolist()
    [[[0.5]], [[0.0]]]
    """
    raise NotImplementedError


def head_distance(maps: "array (B, 2, n, m)") -> "number":
    """The Frobenius distance between the mean maps of two heads.

    >>> round(float(head_distance(np.array([[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]]))), 6)
    2.0
    """
    raise NotImplementedError


def mirror_mass(maps: "array (B, 2, n, n)") -> "array (2,)":
    """For each head the mean weight on the mirrored position.

    >>> np.round(mirror_mass(np.array([[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]])), 6).tolist()
    [0.0, 1.0]
    """
    raise NotImplementedError


def row_entropy(maps: "array (B, 2, n, m)") -> "array (2,)":
    """For each head the mean entropy of a row, in nats.

    >>> np.round(row_entropy(np.array([[[[0.5, 0.5]], [[0.25, 0.75]]]])), 4).tolist()
    [0.6931, 0.5623]
    """
    raise NotImplementedError

# %% [markdown]
# **Do the heads differ?** (100 to 200 words.) Train with a second seed and compare. A person reads it and looks for
# two things, a point each: your numbers, of both seeds; and that you keep apart what shows that two heads are
# different, and what would show that one can be interpreted.

# %% [markdown] exercise="cap_attention" part="essay"
# *Your text.*

# %% [markdown]
# ## 5 What it costs
#
# ### Linear against standard attention
#
# All of the model above is quadratic in the length, and at six tokens
# nobody notices. This exercise needs torch. It sets three methods against each other:
#
# - **explicit**: $\operatorname{softmax}(Q K^\top / \sqrt d)\, V$, with all $n \times n$ weights of a head in memory;
# - **fused**: the same result from one kernel, which goes through the weights in tiles and never has them all;
# - **linear**: $\varphi(Q)\,(\varphi(K)^\top V)$, each row divided by its sum of weights $\varphi(q) \cdot \varphi(k)$, with
#   $\varphi = \operatorname{elu} + 1$.
#
# First predict. A worked example, for one head of width $d = 2$ and $n = 3$: a map has 9 entries, 36 bytes
# in float32. The product $Q K^\top$ takes $3 \cdot 3 \cdot 2 = 18$ multiply-adds, one for each entry and each
# column that it sums over.

# %%
your_numbers("cap_benchmark")

# %% [markdown]
# These are your $n$ and your number of heads $h$, each of width $d = d_v = 64$; one example, nothing masked.
#
# 1. `maps_gib`: the GiB of one head's $n \times n$ map in float32, and of the maps of all $h$ heads in half
#    precision (16 bits).
# 2. `state_bytes`: linear attention needs two sums over the keys to answer any query. Their bytes
#    in float32, for all heads.
# 3. `madds`: multiply-adds of the matrix products of standard and of linear attention, all heads. Queries, keys and
#    values are there already (no projections); denominators, exponentials and features don't count.
# 4. `ratio`: the first over the second.
#
# Then write and measure.
#
# 5. `explicit_attention`, `fused_attention`, `linear_attention`: functions of tensors $(B, h, n, d)$, in any
#    precision and on any device. The first is your own; for the second take the function that
#    `torch.nn.functional` has, rather than a loop over tiles; `elu` is there too, and `x.mT` is the transpose of the last two axes.
# 6. `report`: four rows. First four lengths $n$, each at least 1.5 times the one before; then the seconds of
#    the explicit, the fused and the linear method at these lengths, with 8 heads of width 64. On a processor take
#    $n = 256$ to $2048$ and float32; on a GPU $n = 2048$ to $16{,}384$ (8192 if 10 GiB aren't free) and half precision, and call
#    `torch.cuda.synchronize()` before each look at the clock. Call each function once before you time it, take
#    the least of several runs, and write the numbers into the cell.
#
# How it is graded. The functions are compared with right results. Then operations, and the entries of the
# largest tensor, are *counted* at $n = 16{,}384$: that needs neither a GPU nor memory, and says how work and
# memory grow. Where the grader has a GPU, time and peak memory are measured there as well, for the last quarter
# of each function's points; until then that quarter waits. Of `report` it counts whether it shows two
# different growths, in wide bands; where it shows none, a person looks at it.

# %% exercise="cap_benchmark"
import time

maps_gib = None     # two numbers: one map in float32, all in half precision
state_bytes = None  # a whole number
madds = None        # two whole numbers: standard, linear
ratio = None        # a number


def explicit_attention(Q: "(B, h, n, d)", K: "(B, h, n, d)", V: "(B, h, n, d)") -> "(B, h, n, d)":
    """Standard attention of torch tensors, by way of all weights.

    >>> import torch
    >>> Q = K = torch.zeros(1, 1, 2, 1)
    >>> explicit_attention(Q, K, torch.tensor([[[[1.0], [2.0]]]])).flatten()
    tensor([1.5000, 1.5000])
    """
    raise NotImplementedError


def fused_attention(Q: "(B, h, n, d)", K: "(B, h, n, d)", V: "(B, h, n, d)") -> "(B, h, n, d)":
    """The same, in a kernel that never holds all weights.

    >>> import torch
    >>> Q = K = torch.zeros(1, 1, 2, 1)
    >>> fused_attention(Q, K, torch.tensor([[[[1.0], [2.0]]]])).flatten()
    tensor([1.5000, 1.5000])
    """
    raise NotImplementedError


def linear_attention(Q: "(B, h, n, d)", K: "(B, h, n, d)", V: "(B, h, n, d)") -> "(B, h, n, d)":
    """Attention with the weights φ(q)·φ(k), normalised, in linear time and memory.

    >>> import torch
    >>> Q = K = torch.zeros(1, 1, 2, 1)
    >>> linear_attention(Q, K, torch.tensor([[[[1.0], [2.0]]]])).flatten()
    tensor([1.5000, 1.5000])
    """
    raise NotImplementedError


report = None  # four rows of four: lengths, then seconds of explicit, fused, linear

# %% [markdown]
# **Measured against predicted** (150 to 250 words). How do your times differ from what multiply-adds predict,
# and why? A person reads it and looks for three things, a point each: your own ratios beside the predicted ones, at
# short and at long inputs, with a reason where they part; why equally many multiply-adds need not take
# equally long; and what the fused kernel changes, in memory and in time, and what it does not.

# %% [markdown] exercise="cap_benchmark" part="essay"
# *Your text.*

# %% [markdown]
# ## In a trained model: when do its heads appear?
#
# The small model that has come along since the first notebook was trained in 2000 steps of 64 sequences. Here is what became of it on the way: the loss per
# letter; the mean weight on the token before, of the head in the first layer that puts most there; and the mean weight on
# the letters behind earlier copies, of the head in the second layer that puts most there.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* three curves over 1, 300, 500, 700, 1000 and 2000 steps. The loss falls: 2.64, 1.42, 0.77, 0.67, 0.64, 0.63, where 0.58 is the
# least possible. The weight on the token before rises: 0.14, 0.21, 0.49, 0.83, 1, 1; and so does the weight behind earlier copies: 0.13, 0.33, 0.71, 0.92, 0.97, 0.97.
#
# Most of the fall comes before step 300, while both heads are weak. They appear together, between 300 and 700 steps, and the loss falls on to 0.67;
# in the finished model neither is of use without the other, as the fourth notebook showed. Two things helped to make them so clear: noise on the
# stream, and, from step 601 on, a penalty on the entropy of the first layer's rows. You have trained a model of your own now. What does it pay beside this one?
#
# *Where you meet this.* This training saw 2,944,000 letters, which took some $9.8 \cdot 10^{10}$ floating-point operations, six per weight and letter. Llama-2-7B saw
# $2 \cdot 10^{12}$ tokens, with some $8.1 \cdot 10^{22}$.

# %% [markdown]
# ### Your own model beside echo
#
# Train one that can be compared: the same class and the same loop, on this language, which is called echo as well. A sentence is `^` and a motif of four to eight different letters from A to J, said again and
# again up to 24 symbols. All lengths are equally likely, and all motifs of a length.
#
# - `Transformer(11, 32, 2, 64, 2, rng)`: 43,819 numbers, nearly eight times those of the small model.
# - Its encoder has nothing to read: the source of each sentence is a single `^`, id 0. The decoder gets `ids[:, :-1]`, and the labels are `ids[:, 1:]`.
# - Six hundred steps with batches of 32 new sentences and a rate of at most 0.005 take some ten seconds. The loss should end near 0.6.
#
# The small model runs on your own code of the seventh notebook. The next cells bring it, and the numbers of both.

# %%
carry("echo_reads")

# %%
LETTERS = "^ABCDEFGHIJ"
echo_numbers = {name: array.astype(float) for name, array in np.load("echo.npz").items()}


def sentences(motifs):
    """Return ids (B, 24), each row ^ and a motif again and again, and the lengths of the motifs (B,)."""
    said = [("^" + 6 * motif)[:24] for motif in motifs]
    return np.array([[LETTERS.index(letter) for letter in row] for row in said]), np.array([len(motif) for motif in motifs])


print({name: array.shape for name, array in echo_numbers.items()}, sentences(["BADGE"])[0].tolist())

# %%
your_numbers("echo_beside")

# %% [markdown]
# A sentence has letters of three kinds: those of the *first pass*, as many as the motif is long; the *return*, the next letter, with which the motif begins again; and all behind it, which are *known*. In `^BADGEBADGE…` the first five letters are
# new, the second B is the return, and from the second A on everything is known.
#
# 1. `costs(logits, ids, lengths)`: three numbers, what a letter costs on average in the first pass, at the return, and where it is known, in nats. Average once, over all letters of a kind in all sentences. `logits` has the shape $(B, n, V)$, `ids` $(B, n + 1)$: the row at a symbol
#    predicts the symbol behind it.
# 2. `least`: what would these ten sentences cost somebody who knows the rules, and nothing else? Two numbers: in the first pass, and at the return. (What is known costs nothing.)
# 3. `echoes`: what they cost the small model, with `echo_logits(ids, echo_numbers)` for one sentence at a time. Three numbers.
# 4. `own`: what they cost your model. Three numbers; it has learned if a letter that is known costs at most 0.15 nats. Write them into the cell, so that nothing is trained when you hand in.
# 5. `apart`: put the three rows below each other. Both models pay nearly the same, and one has nearly eight times as many numbers. What follows?

# %% exercise="echo_beside"
import numpy as np

least = None   # two numbers: first pass, return
echoes = None  # three numbers: first pass, return, known
own = None     # three numbers, of your own model
apart = None   # one of "A", "B", "C", "D"


def costs(logits: "array (B, n, V)", ids: "whole numbers (B, n + 1)", lengths: "whole numbers (B,)") -> "three numbers":
    """What a letter costs in the first pass, at the return, and where it is known.

    >>> ids = np.array([[0, 1, 2, 3, 4, 1, 2, 3, 4, 1]])  # a motif of four letters
    >>> np.round(costs(np.zeros((1, 9, 11)), ids, [4]), 4).tolist()
    [2.3979, 2.3979, 2.3979]
    """
    raise NotImplementedError

# %% [markdown]
# *To try, without points.* Look at your decoder's maps under `decoder.0.self` and `decoder.1.self`, as in *Inside the trained model*: is there a head that looks at the letter before, and one that looks behind an earlier copy? Train
# with other seeds: are they the same heads?

# %% [markdown]
# ## What you can do now
#
# You can build an encoder–decoder from nothing but NumPy; name and count all that it learns; go back
# through it, and show that the gradients are right; train it, and measure what it has learned where it can't
# have learned it by heart; say where its heads look; predict what attention costs, and measure it.
#
# **To read.**
#
# - Vaswani et al. (2017), *Attention is all you need*: the model of this notebook; its figure 1 shows all of it.
# - Rush (2018), *The annotated Transformer*: the same paper, line by line as a program.
# - Rumelhart, Hinton and Williams (1986), *Learning representations by back-propagating errors*: the
#   way back.
# - Kingma and Ba (2015), *Adam: a method for stochastic optimization*: the optimiser, and why it divides.
# - Clark et al. (2019), *What does BERT look at?*: the same questions for a large model.
# - Dao et al. (2022), *FlashAttention: fast and memory-efficient exact attention with IO-awareness*: why bytes
#   that move count more than products.
# - Karpathy (2023), *Let's build GPT: from scratch, in code, spelled out*: two hours of film, from a table of counts to a
#   decoder that is trained on Shakespeare.
