# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Stacks, decoding, counting
#
# A transformer is a few layers, again and again. You know attention, positions and the block; what
# is left is to stack blocks, to let one stack look at another, to write text with it one
# token at a time, and to know how large the whole is.
#
# | part | you learn |
# |---|---|
# | 1 Stacks | what goes in and out of an encoder, the third sublayer of a decoder, positions |
# | 2 One token after the other | targets, losses and masks that let a decoder learn all positions at once |
# | 3 Writing, and looking ahead | to decode, and a test that finds every leak |
# | 4 Counting | one function for the size of all transformers, two known models, three architectures |
#
# The parts can be done on different days. How to work with it:
#
# - Masks are Boolean, and `True` means: may attend. Positions and token ids start at 0. Norms are
#   layer norms that come after the sum (post-norm), with $\varepsilon = 10^{-5}$.
# - Give numbers to at least four significant digits. They may be numbers, text (`"1/3"`) or computed
#   by your own code. Counts are exact whole numbers; arithmetic such as `"2*512*2048"` is fine.
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
# The small model goes on with texts of 24 symbols, in which a few letters are said again and again. Here is what it
# pays for each place, in nats, beside the least that anybody could pay who knows the rules. From which place on is nearly
# nothing left to pay?

# %% tags=["demonstration"]
in_echo = {
    "model": [2.3, 2.23, 2.13, 2.07, 2.07, 1.56, 1.12, 0.67, 0.01, *[0] * 14],
    "best": [2.3, 2.2, 2.08, 1.95, 1.93, 1.42, 0.94, 0.5, *[0] * 15],
    "continued": [1],
}


def draw_echo():
    _, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    axis.plot(range(1, 24), in_echo["model"], "o-", label="model")
    axis.plot(range(1, 24), in_echo["best"], "s--", color="black", markersize=4, label="best possible")
    axis.set(xlabel="place in the sequence", ylabel="nats", xticks=range(1, 24, 2))
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* two falling curves that nearly coincide. Both begin at 2.3. At places 5 to 8 the model pays 2.07, 1.56,
# 1.12 and 0.67 nats, the best possible is 1.93, 1.42, 0.94 and 0.5. From place 9 on both pay next to nothing.
#
# *A guess:* Why 2.3 at first, and why nothing at the end? Where does the model lose most, and what might it not
# know there? Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Stacks
#
# The next cells bring the pieces of your block from the notebooks before; encoder and decoder need
# them. What you don't have, write there.

# %%
carry("mha_numpy")

# %%
carry("ln_code")

# %%
carry("ffn_code")

# %% [markdown]
# ### A sentence through the layers
#
# A block takes vectors and returns as many vectors of the same width. So blocks can be stacked,
# and the original encoder is nothing more: embed the tokens, add positions, send the result
# through $L$ blocks, each with weights of its own. What the last block gives is the encoder's
# output.
#
# One thing is easily overlooked. As the authors' code draws it, the embedding has entries with mean
# 0 and variance $1/d$. Before the encoding is added it is multiplied by a factor, such that the
# variance of the entries becomes 1.
#
# One sentence is in the batch. How many tokens it has depends on how it is cut up; here that is
# given. There are 8 heads, and the norms come after the sums.

# %%
your_numbers("encoder_stack")

# %% [markdown]
# Shapes are tuples, the batch first: for a batch of two sentences with ten tokens in width 64,
# `(2, 10, 64)`.
#
# 1. `embedded`: the shape of what enters the first layer. `factor`: the factor on the embedding,
#    for your $d$.
# 2. `after_two`: the shape of what the second layer gives. `scores`: the shape of the scores in
#    one layer, all heads together.
# 3. `output`: the shape of the encoder's output.
# 4. For the whole encoder: `attention_sublayers`, how many times attention is computed (all heads
#    count as once); `norms`, how many layer norms there are; `weights`, how many attention
#    weights are computed.
# 5. `Encoder(L, d, h, f, rng)`: `L` of your blocks from the notebook before, all drawn from the
#    one generator. Calling it sends `x` through them, with the same mask for each. `load` gets a
#    list of `L` dictionaries, one for each block, and hands them to the blocks' own `load`.
#
# The next cell brings your block.

# %%
carry("encoder_block")

# %% exercise="encoder_stack"
import numpy as np

embedded = None             # a tuple
factor = None               # one number
after_two = None            # a tuple
scores = None               # a tuple
output = None               # a tuple
attention_sublayers = None  # a whole number
norms = None                # a whole number
weights = None              # a whole number


class Encoder:
    """L blocks, one after the other.

    >>> Encoder(0, 2, 1, 4, np.random.default_rng(0))(np.array([[[1.0, 5.0]]]))
    array([[[1., 5.]]])
    """

    def __init__(self, L: int, d: int, h: int, f: int, rng: "generator"):
        raise NotImplementedError

    def __call__(self, x: "array (B, n, d)", mask: "bool array, or None" = None) -> "array (B, n, d)":
        raise NotImplementedError

    def load(self, weights: "list of L dictionaries"):
        raise NotImplementedError


# %% [markdown]
# ### Balance of embedding and position
#
# What enters the first layer is a sum: the embedding of a token and the encoding of its position.
# A sum of two vectors is mostly the longer of them. So which of the two is longer?
#
# Take $d = 512$, embeddings as above, whose entries have mean 0 and variance $1/d$, and the
# factor that brings this variance to 1. The encodings have $\sin$ and $\cos$ of the same angle in
# neighbouring columns. For a vector with entries of mean 0 and variance $s^2$ take $\sqrt{d}\, s$
# as its norm: for $d$ in the hundreds that is right within a few percent.
#
# For a width of 8 instead: an encoding has the norm 2, since four pairs add 1 each to its
# square.
#
# 1. `norms`: three norms for $d = 512$: of an encoding (it is the same at every position), of an
#    embedding before the factor, and of one after it.
# 2. `ratio`: two numbers, the norm of the encoding over that of the embedding: with the factor, and
#    without it. In which of the two cases would you still recognise the token?

# %% exercise="position_in_stack"
norms = None  # three numbers: encoding, embedding, embedding times the factor
ratio = None  # two numbers: with the factor, without it

# %% [markdown]
# ### Six steps in order
#
# A decoder writes one text while it looks at another. Its layer has the two sublayers that you
# know and a third one between them or around them, in which the target asks and the source
# answers. Its keys and values are computed from the **memory**: the output of the encoder, of its
# *last* layer, the same for all decoder layers. The next picture has the six steps of a decoder
# layer, without their names. Which of them can be the sums?

# %% tags=["demonstration"]
if plt:
    figure, axis = plt.subplots(figsize=(7, 2), layout="constrained")
    for step in range(6):
        axis.text(step, 0, f"step {step + 1}", ha="center", va="center",
                  bbox={"boxstyle": "round,pad=0.5", "facecolor": "0.9" if step % 2 else "white"})
        axis.annotate("", (step + 0.62, 0), (step + 0.38, 0), arrowprops={"arrowstyle": "->"})
    for step in (0, 2, 4):
        axis.annotate("", (step + 1, 0.25), (step - 0.5, 0.02),
                      arrowprops={"arrowstyle": "->", "connectionstyle": "arc3,rad=-0.4"})
    axis.text(-0.55, 0, "$y$", ha="right", va="center")
    axis.annotate("", (-0.38, 0), (-0.52, 0), arrowprops={"arrowstyle": "-"})
    axis.text(5.7, 0, "new $y$", va="center")
    axis.set(xlim=(-1, 6.6), ylim=(-0.5, 1.1))
    axis.axis("off")
    plt.show()

# %% [markdown]
# *The picture:* six boxes in a row, with arrows from $y$ on the left through all of them to the
# new $y$ on the right. Three arcs lead around the boxes 1, 3 and 5, each into the box after it.
#
# Which six are they? Put the steps in order. Two of those in the list don't belong to it, and one
# step occurs three times, with a letter each time: use each once, in any order.

# %%
your_numbers("decoder_layer")

# %% [markdown]
# 1. `order`: the letters of the six steps, in order.
# 2. `numbers`: three counts: sublayers of a decoder layer, norms of a decoder layer, norms of an
#    encoder layer.
# 3. `affected`: a target of 5 tokens and a source of 7 go through a decoder layer, with a
#    causal mask on the target and none on the source. Change target token 3: which of the five
#    outputs move? Write 1 for those that do and 0 for the others. That is the first row. The
#    second row: change the last token of the source.
# 4. `DecoderLayer(d, h, f, rng)`, post-norm. It is called with the target `y`, the memory and two
#    masks, which broadcast to $(B, h, t, t)$ and to $(B, h, t, s)$. `load` gets a dictionary with
#    some or all of these names:
#
# | name | shape | what it is |
# |---|---|---|
# | `W_q`, `W_k`, `W_v`, `W_o` | $(d, d)$ | matrices of the self-attention |
# | `cross_W_q` … `cross_W_o` | $(d, d)$ | matrices of the attention to the memory |
# | `W1`, `b1`, `W2`, `b2` | $(d, f)$, $(f,)$, $(f, d)$, $(d,)$ | the feed-forward layer |
# | `gamma1`, `beta1` … `gamma3`, `beta3` | $(d,)$ | scales and shifts of the norms, in the order in which they are used |
#
# Two `MultiHead` layers, your `layer_norm` and your `ffn` do most of it. Matrices are drawn from
# `rng`, as in your block; biases and shifts begin as 0, scales as 1. To test it: change a token,
# and see whether it moves what you answered above.

# %% exercise="decoder_layer"
import numpy as np

order = None     # letters, "C A F B D H" for example
numbers = None   # three whole numbers
affected = None  # two rows of five, 0 or 1


class DecoderLayer:
    """One decoder layer, post-norm: the six steps that you have put in order.

    >>> layer = DecoderLayer(4, 2, 8, np.random.default_rng(0))
    >>> layer.load({"gamma3": np.zeros(4), "beta3": np.arange(4.0)})
    >>> layer(np.ones((1, 1, 4)), np.ones((1, 3, 4)))
    array([[[0., 1., 2., 3.]]])
    """

    def __init__(self, d: int, h: int, f: int, rng: "generator"):
        raise NotImplementedError

    def __call__(
        self,
        y: "array (B, t, d)",
        memory: "array (B, s, d)",
        tgt_mask: "bool array, or None" = None,
        src_mask: "bool array, or None" = None,
    ) -> "array (B, t, d)":
        raise NotImplementedError

    def load(self, weights: "dictionary of arrays"):
        raise NotImplementedError


# %% [markdown]
# 5. Why does the decoder's self-attention have a causal mask, and its attention to the source none? Think of
#    training, in which the whole target is known, and of use, in which it is not. Three or four
#    sentences; a person reads them.

# %% [markdown] exercise="decoder_layer" part="why_masked"
# Your answer:

# %% [markdown]
# ## 2 One token after the other
#
# ### A source, a target, one pass
#
# A decoder predicts the next token from those before it. In training the target is known, so
# nothing has to wait for a prediction: what goes in is the true text, whatever the model would
# have written. That is **teacher forcing**. All positions learn in one pass, as the masks see to
# it that each one computes what it would compute if the later tokens were not there.
#
# What goes in begins with a start token, BOS, and what is to come out ends with an end token,
# EOS. For each position there is a label, the token that should come next.

# %%
your_numbers("teacher_forcing")

# %% [markdown]
# One pair of texts is in the batch, the model has width 512, 8 heads, six encoder layers and six
# decoder layers. The target goes in behind BOS.
#
# 1. Four shapes: `encoded`, the encoder's output; `decoder_input`, what enters the first decoder
#    layer; `self_weights` and `cross_weights`, the weights of the two attentions in one decoder
#    layer.
# 2. `shift_right(tgt, bos, eos, pad=None)`: two arrays of whole numbers, one longer than `tgt` in
#    the last axis: what goes into the decoder, and the labels. `tgt` has shape $(t,)$ or $(B, t)$
#    and holds neither BOS nor EOS. If `pad` is given, a row may end with any number of such
#    tokens: then its EOS comes where its padding begins, padding follows, and the decoder's input
#    keeps its padding at the end. $t$ may be 0.
# 3. `where_attention_is`: where are masked self-attention and cross-attention in a decoder of six
#    layers?
# 4. `logits`: the shape of what comes out at the end, where `V` stands for the number of tokens in
#    the vocabulary, as in `(8, "V")`. `row_predicts`: row $t$ of the
#    probabilities, counted from 0,
# 5. `order`: the letters of the steps of one pass, in order. Two of those in the list don't
#    belong to it; of the steps that wait for nothing else, any may come first. What repeats in
#    six layers stands in the list once.

# %% exercise="teacher_forcing"
import numpy as np

encoded = None             # a tuple
decoder_input = None       # a tuple
self_weights = None        # a tuple
cross_weights = None       # a tuple
where_attention_is = None  # one of "A", "B", "C", "D"
logits = None              # a tuple, with "V" in it
row_predicts = None        # one of "A", "B", "C", "D"
order = None               # letters


def shift_right(tgt: "(t,) or (B, t) whole numbers", bos: int, eos: int, pad: "number or None" = None) -> "two arrays":
    """Return what goes into the decoder, and the labels.

    >>> shift_right(np.array([[4, 7], [6, 3]]), 0, 1, 3)
    (array([[0, 4, 7],
           [0, 6, 3]]), array([[4, 7, 1],
           [6, 1, 3]]))
    """
    raise NotImplementedError

# %% [markdown]
# ### The chain rule as a loss
#
# A decoder gives probabilities for the next token, after every prefix. That is a model of whole
# texts: by the chain rule of probability,
#
# $$ P(y_1, \dots, y_T) = \prod_{t=1}^{T} P(y_t \mid y_1, \dots, y_{t-1}) . $$
#
# In training one minimises $-\log P$, which turns the product into a sum over positions, and
# divides by the number of tokens. Three quantities are in use for the same thing: *nats* per token
# (natural logarithm), *bits* per token (base 2) and the *perplexity*, $e$ to the nats per token:
# among that many equally likely tokens a model would choose with the same loss. For a coin, thrown
# twice: $P = \tfrac14$, $1.386$ nats in total, $0.6931$ nats and $1$ bit per throw, and a perplexity
# of 2.
#
# A model gave the three tokens of a sequence these probabilities, each after the tokens
# before it:

# %%
your_numbers("sequence_nll")

# %% [markdown]
# 1. `joint`: the probability of the sequence.
# 2. `total`: its negative log-likelihood, in nats.
# 3. `mean`: the nats per token.
# 4. `bits`: the bits per token.
# 5. `perplexity`: the perplexity.
# 6. `nll(logits, labels, ignore=-100)`: the mean negative log-likelihood in nats of the labels under
#    the softmax of each row of logits. Positions whose label equals `ignore` (padding, mostly)
#    count neither in the sum nor in the mean; at least one is left. Logits may be as large
#    as $\pm 10^4$, and the rows may lie far apart: the loss stays finite and exact. A library's loss (torch's
#    `cross_entropy`, say) is to be compared with, not called.

# %% exercise="sequence_nll"
joint = None       # one number
total = None       # one number
mean = None        # one number
bits = None        # one number
perplexity = None  # one number


def nll(logits: "(n, V) array", labels: "(n,) whole numbers", ignore: int = -100) -> float:
    """Return the mean negative log-likelihood of the labels that are not ignored.

    >>> nll(np.zeros((3, 4)), np.array([0, 3, -100]))  # log 4
    1.3862943611198906
    """
    raise NotImplementedError

# %% [markdown]
# ### Two training signals
#
# An encoder sees both sides of every token, so it can't learn by predicting the next one: it would
# look it up. BERT hides tokens instead. It selects 15 % of them at random and predicts these; of
# the selected ones 80 % are replaced by a special token, `[MASK]`, 10 % by a random token, and 10 %
# stay as they are, so that the model can't rely on `[MASK]` to know where it is tested. A decoder
# predicts every token from those before it.
#
# Take a sequence of 512 tokens; nothing stands before it, not even BOS.
#
# 1. `hidden_predicted`: how many tokens BERT is expected to predict.
# 2. `fractions`: three numbers, the fractions *of all tokens* that become `[MASK]`, that become a
#    random token, and that are selected and stay.
# 3. `next_predicted`: how many tokens the decoder predicts.
# 4. `ratio`: `next_predicted` divided by `hidden_predicted`.
# 5. `pairs_both_ways`, `pairs_backwards`: how many pairs (query, key) are allowed, in the encoder and
#    in the decoder.
# 6. `meanings`: "masked" is said of language models and of attention. What do the two have in common?

# %%
your_numbers("mlm_vs_clm")

# %% exercise="mlm_vs_clm"
hidden_predicted = None  # one number
fractions = None         # three numbers
next_predicted = None    # a whole number
ratio = None             # one number
pairs_both_ways = None   # a whole number
pairs_backwards = None   # a whole number
meanings = None          # one of "A", "B", "C", "D"

# %% [markdown]
# ## 3 Writing, and looking ahead
#
# ### Step by step equals all at once
#
# In training a decoder predicts all positions in one pass. When it writes, there is nothing to
# predict beyond the next token: run the model on what there is, choose a token, append it, run
# again. **Greedy** decoding chooses the most probable one each time. The last row of logits is
# the only one that is new.
#
# Because no position looks ahead, both ways agree: put a sequence that was decoded greedily in at
# once, and every row's most probable token is the next one of the sequence. (Try it with
# your function and a model of your own.)
#
# 1. `greedy(logits_fn, bos, steps)`: the list of whole numbers that begins with `bos` and goes on
#    with `steps` decoded tokens. `logits_fn` takes a list of $n$ ids and returns an array of shape
#    $(n, V)$, whose row $t$ has the logits for the token after the first $t + 1$. You may take it
#    that no two logits are equal.
#
# Greedy decoding finds *a* sequence, not always the best one. A small tree shows it: the first
# token is `a` with probability 0.6 or `b` with probability 0.4. After `a`, two tokens have
# probability 0.5 each. After `b`, one has 0.9 and another 0.1.
#
# 2. `greedy_probability`: the probability of the sequence of two tokens that greedy decoding finds
#    (either of the two, where they are equally likely).
# 3. `best_probability`: that of the most probable sequence. Search with several candidates (*beam
#    search*) would have found it.

# %% exercise="greedy_decode"
def greedy(logits_fn: "function of a list of ids", bos: int, steps: int) -> list:
    """Return bos and the tokens that follow, each the most probable after those before it.

    >>> greedy(lambda ids: np.eye(5)[[(i + 2) % 5 for i in ids]], 1, 3)
    [1, 3, 0, 2]
    """
    raise NotImplementedError


greedy_probability = None  # one number
best_probability = None    # one number

# %% [markdown]
# ### Write the test yourself
#
# A decoder that looks ahead learns splendidly: its loss falls to nearly nothing, because the
# answer is in its input. It is useless, and no shape and no error tells you. So one tests for it, and
# the test needs nothing but the model as a function: change a token, and see which outputs move.
#
# Write `count_leaks(f, X, eps=1.0, tol=1e-9)`. `f` takes an array of shape $(n, d)$, a token in each
# row, and returns another of the same shape. Change **one token at a time**, by an amount that grows
# in proportion to `eps`, with all others as they are in `X`. Count every *earlier* output that
# moves in some entry by more than `tol`: so the result is a number of pairs (changed token,
# earlier output), and 0 if `f` is causal.
#
# Choose the change with care: one that a layer can't see finds nothing. What does a layer norm do
# to a token to all of whose entries you add the same? You may try several changes of a token, and call `f`
# as often as you like; a pair counts once.
#
# Your tester is run on more than a dozen models that you have not seen. Some are causal, and the others are
# not, for several different reasons.
#
# Then `may_influence`: which tokens may influence output $i$ of a causal model?
#

# %%
your_numbers("causality_test")

# %% exercise="causality_test"
def count_leaks(f: "function of an array", X: "(n, d) array", eps: float = 1.0, tol: float = 1e-9) -> int:
    """Count the pairs of a token that is changed and an earlier output that moves.

    >>> count_leaks(lambda X: np.cumsum(X, axis=0), np.eye(3))
    0
    >>> count_leaks(lambda X: np.roll(X, -1, axis=0), np.eye(3))  # outputs 0 and 1 are the next token
    2
    """
    raise NotImplementedError


may_influence = None  # one of "A", "B", "C", "D"

# %% [markdown]
# ## 4 Counting
#
# ### Counting without biases
#
# How many numbers does a transformer learn? Most of them are in matrices, so count these first. A
# model has $L$ encoder layers and $L$ decoder layers of width $d$ with $h$ heads and feed-forward
# layers of inner width $f$. Every attention has its four matrices, each feed-forward layer its
# two. An example with other numbers: for $d = 4$ and $f = 10$ a feed-forward layer has $2 \cdot 4
# \cdot 10 = 80$ of them.

# %%
your_numbers("params_layers")

# %% [markdown]
# Count matrix entries alone, except where biases and norms are named.
#
# 1. `attention`, `feed_forward`: one sublayer of each.
# 2. `norms`: what the norms of *one* encoder layer learn, scales and shifts. `share`: as a share of
#    all that this layer learns, its biases and norms included. (Beside the matrices these hardly matter: try
#    it without them.)
# 3. `encoder`, `decoder`, `both`: the $L$ layers of the encoder, those of the decoder, and their sum.
# 4. `encoder_layer`, `decoder_layer`: matrix entries of one layer of each kind if $f = 4d$, as
#    formulas in `d`. They are worth remembering: model sizes are estimated with them.

# %% exercise="params_layers"
attention = None      # a whole number
feed_forward = None   # a whole number
norms = None          # a whole number
share = None          # one number
encoder = None        # a whole number
decoder = None        # a whole number
both = None           # a whole number
encoder_layer = None  # a formula in d
decoder_layer = None  # a formula in d

# %% [markdown]
# ### Everything counted
#
# "The total number of parameters" is not one number until you say what is in it. Biases? Norms?
# Embeddings, and how many of them? A norm behind the last layer, as PyTorch's `nn.Transformer`
# has one at the end of both its stacks? So every count comes with a list, and here the list is an
# argument.

# %%
your_numbers("params_full")

# %% [markdown]
# 1. `encoder_layer`, `decoder_layer`: *all* that one layer learns with your $d$ and $f$: matrices, a
#    bias for each of them, and a norm (scale and shift) for each sublayer.
# 2. `encoder_formula`, `decoder_formula`: the same for $f = 4d$, as formulas in `d`.
# 3. `count(config)`: the same for whole models. `config` is a dictionary with these keys:
#
# | key | meaning |
# |---|---|
# | `d`, `f` | width, and inner width of the feed-forward layers |
# | `L_enc`, `L_dec` | encoder layers and decoder layers; 0 means that there is no such stack. A decoder layer has its three sublayers in any case, the one that looks at the source among them, also where `L_enc` is 0: the source may come from elsewhere |
# | `V` | tokens in the vocabulary, one for all uses |
# | `bias` | whether every linear map has a bias |
# | `norms` | whether every sublayer has a norm |
# | `final_norm` | whether one more norm stands behind each stack |
# | `tied` | `True`: one matrix of $V \times d$ serves as the embedding of each stack and as the map to the logits, which then has no bias. `False`: each stack that is there has an embedding of its own, and the map to the logits is one more linear map, with a bias if `bias` says so |
#
# The number of heads is not in the table. Why not?
#
# It is worth doing well: you will count two known models with it. (If you have PyTorch, compare:
# `sum(p.numel() for p in torch.nn.Transformer(d, h, L_enc, L_dec, f).parameters())` has biases, norms
# and final norms, and no vocabulary.)

# %% exercise="params_full"
encoder_layer = None    # a whole number
decoder_layer = None    # a whole number
encoder_formula = None  # a formula in d
decoder_formula = None  # a formula in d


def count(config: dict) -> int:
    """Return how many numbers a transformer of this description learns.

    >>> tiny = {"d": 2, "f": 3, "L_enc": 1, "L_dec": 0, "V": 5, "bias": False,
    ...         "norms": False, "final_norm": False, "tied": True}
    >>> count(tiny)
    38
    """
    raise NotImplementedError

# %% [markdown]
# ### Two known models
#
# Sizes in papers and blogs are rounded: BERT-base is said to have
# 110M, GPT-2 small 124M, though its paper's table says 117M. Count
# them to the last number, and let your `count` do most of it. Both have twelve layers of width
# $d = 768$ with $f = 3072$ and twelve heads; each layer has *one* attention, a feed-forward layer,
# a norm for each of the two, and biases everywhere. (GPT-2 is called a decoder for its causal
# mask. With no source to look at, its layers have the parts of encoder layers.)
#
# - **GPT-2 small**: a vocabulary of 50,257 tokens, a learned table of 1024 positions (as wide as the
#   model), a norm behind the last layer; the map to the logits is tied to the embedding.
# - **BERT-base**: a vocabulary of 30,522 tokens, learned tables of 512 positions and of 2 segments
#   (first or second text), a norm of their sum, and no norm behind the last layer. A *pooler*
#   follows, one linear map from $d$ to $d$ with a bias. (The heads for training are not counted.)
#
# 1. `gpt2_tied`, `gpt2_untied`: GPT-2 small as it is; and if the map to the logits had a matrix of
#    its own, without a bias.
# 2. `bert`, `bert_without_pooler`: BERT-base with the pooler and without it.
# 3. `twelve_layers`: what the twelve layers alone learn, exactly.
# 4. `rule`: what the rule of thumb $12 L d^2$ gives for them. By how many percent is it off?

# %% exercise="params_families"
gpt2_tied = None            # a whole number
gpt2_untied = None          # a whole number
bert = None                 # a whole number
bert_without_pooler = None  # a whole number
twelve_layers = None        # a whole number
rule = None                 # a whole number

# %% [markdown]
# ### Three architectures, one table
#
# A text of $n$ tokens is read, a text of $m$ tokens is written. Three architectures can do it, or
# half of it, and they look at different numbers of pairs (query, key). Count the scores that
# are needed in **one head of one layer** of each kind.

# %%
your_numbers("arch_costs")

# %% [markdown]
# 1. `encoder_only`: an encoder that reads the source.
# 2. `decoder_only`: a causal decoder that gets source and target as one text, the target behind
#    the source.
# 3. `encoder_decoder`: an encoder layer on the source, and a decoder layer whose self-attention is
#    causal and which looks at the source. Count pairs that are allowed.
# 4. `dense`: the same if the scores that a causal mask blocks are computed as well, as simple
#    code does.
# 5. `saved`: $(n + m)^2$ minus that, as a formula in `n` and `m`. Which pairs are these?

# %% exercise="arch_costs"
encoder_only = None     # a whole number
decoder_only = None     # a whole number
encoder_decoder = None  # a whole number
dense = None            # a whole number
saved = None            # a formula in n, m

# %% [markdown]
# ### Where you meet this
#
# The three kinds of attention of an encoder–decoder, drawn for a model whose weights were set by
# hand: it writes the words of a sentence in reverse order. Queries and keys are encodings of
# positions, and the decoder's query at position $t$ asks for the position that is to be written
# next. Which of the three is a mask, and in which does one see the reversed order?

# %% tags=["demonstration"]
if plt:
    source, target = ["dogs", "chase", "old", "cats"], ["BOS", "cats", "old", "chase"]
    angle = np.arange(4)[:, None] / 10000 ** (np.arange(0, 32, 2) / 32)
    place = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)

    def look(queries, keys, mask):
        e = np.exp(4 * queries @ keys.T / np.sqrt(32)) * mask
        return e / e.sum(axis=1, keepdims=True)

    panels = [
        ("encoder: source, source", source, source, look(place, place, np.ones((4, 4)))),
        ("decoder: target, target", target, target, look(place, place, np.tri(4))),
        ("decoder: target, source", target, source, look(place[::-1], place, np.ones((4, 4)))),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    for axis, (title, rows, columns, shares) in zip(axes, panels, strict=True):
        axis.imshow(shares, cmap="Greys", vmin=0, vmax=1.2)
        for i, j in np.ndindex(4, 4):
            axis.text(j, i, f"{shares[i, j]:.2f}", ha="center", va="center",
                      color="white" if shares[i, j] > 0.7 else "black")
        axis.set(title=title, xticks=range(4), yticks=range(4), xlabel="keys")
        axis.set_xticklabels(columns)
        axis.set_yticklabels(rows)
    axes[0].set_ylabel("queries")
    plt.show()

# %% [markdown]
# *The picture:* three grids of four by four weights, queries as rows, keys as columns. Left,
# source to source: every weight is positive, the largest are on the diagonal (0.53, 0.41, 0.41,
# 0.53). Middle, target to target: zeros above the diagonal; BOS gives itself 1.00. Right, target
# to source: the largest weights are on the other diagonal. BOS looks mostly at "cats" (0.53), the
# word that comes out at its position, and "chase", the last one that goes in, mostly at "dogs"
# (0.53).
#
# - **Encoders and decoders.** Translation began with both; BERT is an encoder, GPT a decoder without
#   the attention to a source, T5 has both again. T5-base: 12 + 12 layers, 222,903,552 numbers.
# - **Counting today.** Llama-2-7B learns 6,738,415,616 numbers, Mistral-7B 7,241,732,096,
#   Llama-3-8B 8,030,261,248: no biases, norms without shifts, feed-forward layers of three
#   matrices and, in the last two, fewer keys and values than queries.
# - **Decoding.** Programs that chat sample, at a temperature, from the tokens that are probable
#   enough. Greedy decoding is what is left at temperature 0. The next notebook asks what each
#   further token costs, and why nobody runs the whole model on the whole text again.

# %% [markdown]
# ### Your own code reads
#
# The small model of the first notebook is a decoder of two blocks, and you have written such a block, for trained weights, at the end of
# the last notebook (*A trained block on your own code*). What surrounds the blocks is short: a row of the embedding for each symbol, at the end one more RMS norm with gains of its own and an
# output matrix. With that your code is a model that was trained to read its language: `^`, then a motif of four to eight different letters from A to J, said again and again.

# %%
carry("echo_block")

# %%
LETTERS = "^ABCDEFGHIJ"
PARTS = ("norm1", "norm2", "wq", "wk", "wv", "wo", "gate", "up", "down")  # what a block has
trained = {name: array.astype(float) for name, array in np.load("echo.npz").items()}

rng = np.random.default_rng(0)
fresh = {
    name: np.ones(array.shape) if "norm" in name else rng.normal(scale=0.02, size=array.shape)
    for name, array in trained.items()
}


def read(sentence):
    """Return the ids of a sentence."""
    return np.array([LETTERS.index(letter) for letter in sentence])


def said(motif, letters=20):
    """Return ^ and the motif again and again, so many letters."""
    return "^" + (motif * letters)[:letters]


print({name: array.shape for name, array in trained.items()}, said("BADGE"))

# %% [markdown]
# 1. `echo_logits(ids, model)`: the logits, one row for each symbol, for `ids` of shape $(n,)$. `model` holds `embed` $(V, d)$, `unembed` $(d, V)$, `norm` $(d,)$, and
#    for each name in `PARTS` the arrays of all blocks, one behind the other: `model["wq"][0]` belongs to the first block. Blocks have two heads. The norm at the end
#    is that of the blocks, $\varepsilon = 10^{-5}$ included. For `read("^BADGEBA")` and `trained`, the largest logit of the last row should be that of D.
# 2. `surprise`: now let it read, and ask what it pays in nats, two numbers. `^` and your motif have been said once, and the motif's *first letter* follows: what does it pay for this one? It goes on reading, up to the second A:
#    what does it pay for the letter behind this A? (Behind the motif's last letter comes its first.)
# 3. `loss`: ten sentences, `said(motif)` for each of your ten motifs, have 200 letters behind their `^`. What does a letter cost on average, in nats?
# 4. A slip in code is easily overlooked as long as weights are drawn. `fresh` is such a model, with small weights and gains of 1. Make the six slips below in a copy of your code, in both blocks, one at a time, and look at both models.
#    `silent`: which leave every logit of `fresh` exactly as it is? `dear`: which raise your loss on `trained` by more than 1 nat?

# %%
your_numbers("echo_reads")

# %% exercise="echo_reads"
import numpy as np

surprise = None  # two numbers
loss = None      # one number
silent = None    # letters, as in "BE"
dear = None      # letters, as in "BE"


def echo_logits(ids: "array of whole numbers (n,)", model: dict) -> "array (n, V)":
    """Return a row of logits for each symbol, which say what comes next.

    >>> zeros = {name: np.zeros((1, 4, 4)) for name in ("wq", "wk", "wv", "wo", "gate", "up", "down")}
    >>> zeros |= {"norm1": np.ones((1, 4)), "norm2": np.ones((1, 4)), "norm": np.ones(4)}
    >>> zeros |= {"embed": np.array([[3.0, 3, 3, 3], [-5, 5, -5, 5]]), "unembed": np.eye(4, 2)}
    >>> echo_logits(np.array([0, 1]), zeros).round(2)
    array([[ 1.,  1.],
           [-1.,  1.]])
    """
    raise NotImplementedError


# %% [markdown]
# *Where you meet this.* Who writes a known architecture anew loads published weights and compares logits with the published code, layer by layer. A fresh
# model pays about $\log V$ nats whatever its code does, so its loss proves next to nothing.

# %% [markdown]
# ## In a trained model: where does it lose against the best possible?
#
# The small model of the first notebook is a decoder of two blocks. What it pays at each of the 23 places of a sequence, on average, can be compared with
# the least that anybody could pay who knows the rules of its language, and no more.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* two falling curves that nearly coincide. Both begin at 2.3, which is $\log 10$: the first letter can only be guessed. At places 5 to 8 the model pays 2.07, 1.56, 1.12
# and 0.67 nats, the best possible is 1.93, 1.42, 0.94 and 0.5. From place 9 on both pay next to nothing.
#
# It loses a little in the whole first pass, and most where the motif may be over: there one has to know how likely that is *and* that all unused letters are alike. Where all is decided it is perfect: given `^`, a motif and
# its first letter again, greedy decoding continued all of 512 motifs without a mistake.
#
# One sentence, `^BADGEBADGE`, letter by letter: what does the model expect next?

# %% tags=["demonstration"]
expected = [  # in percent, for A to J, behind so many symbols
    [10, 10, 10, 11, 10, 10, 10, 10, 9, 10],
    [9, 0, 10, 11, 17, 10, 9, 12, 11, 10],
    [1, 1, 11, 10, 11, 16, 11, 9, 12, 18],
    [0, 4, 12, 1, 13, 11, 26, 9, 12, 12],
    [1, 18, 16, 1, 6, 15, 2, 21, 10, 9],
    [2, 29, 10, 3, 0, 16, 2, 20, 7, 11],
    [100, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 100, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 100, 0, 0, 0],
    [0, 0, 0, 0, 100, 0, 0, 0, 0, 0],
    [0, 100, 0, 0, 0, 0, 0, 0, 0, 0],
]


def draw_expected(symbols):
    bars = expected[symbols - 1]
    figure = plt.Figure(figsize=(5.5, 2.8), layout="constrained")
    axis = figure.subplots()
    axis.bar(list("ABCDEFGHIJ"), bars, color="0.6", edgecolor="black")
    axis.set(xlabel="next letter", ylabel="percent", ylim=(0, 105))
    best = "ABCDEFGHIJ"[np.argmax(bars)]
    return figure, f"Behind {'^BADGEBADGE'[:symbols]} it expects {best} most, with {max(bars)} %."


if plt:
    moving(draw_expected, "symbols read", list(range(1, 12)), 6)

# %% [markdown]
# *The picture:* ten bars, for the letters A to J. Behind `^` all are near 10 %. Behind `^BADGE` B has 29 %, since the motif may be over; what has been said besides has 3 % at most, and each letter that
# hasn't been said 7 to 20 %. Behind the second B, and from there on, one letter has 100 %: the right one.
#
# ## What you can do now
#
# You can stack blocks into an encoder; write the layer of a decoder, and say what may influence what in
# it; prepare targets and labels; turn probabilities into nats, bits and perplexity; decode; test any
# model for leaks; and count any transformer to the last number.
#
# The next notebook asks what attention costs, in time and in memory.
#
# **To read.**
#
# - Vaswani et al. (2017), *Attention is all you need*: encoder and decoder, in one figure.
# - Radford et al. (2019), *Language models are unsupervised multitask learners*: GPT-2, a decoder
#   and nothing else.
# - Devlin et al. (2019), *BERT: Pre-training of deep bidirectional transformers for language
#   understanding*: an encoder, and learning from hidden tokens.
# - Raffel et al. (2020), *Exploring the limits of transfer learning with a unified text-to-text
#   transformer*: all three architectures, compared under one roof.
# - Williams and Zipser (1989), *A learning algorithm for continually running fully recurrent neural
#   networks*: where teacher forcing got its name.
# - Phuong & Hutter (2022), *Formal algorithms for transformers*: all of them as pseudocode, every index in its place.
# - Alammar (2019), *The illustrated GPT-2* (jalammar.github.io/illustrated-gpt2): decoding token by token, in pictures.
# - Hugging Face, *Transformers* (huggingface.co/docs/transformers): BERT, GPT-2 and T5 ready trained. Who needs a model,
#   and not to understand one, begins there.
