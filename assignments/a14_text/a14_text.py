# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From text to text
#
# Thirteen notebooks began behind the first step and ended in front of the last one: tokens were given, and a model gave
# probabilities. Here are both ends. Text becomes tokens, a model learns from them, and it writes; then you ask what it
# can do, and how sure you are of that. The text is this course: the lessons of the thirteen notebooks before
# this one, 63,671 words, as they stood when this notebook was written. It lies beside the notebook as `course.txt`.
#
# | part | you learn |
# |---|---|
# | 1 Tokens | to merge pairs, by hand and as a program; what a larger vocabulary costs, and when it stops paying |
# | 2 Bits | to compare models that cut a text differently; what counting alone can predict |
# | 3 A model that writes | to train one on the course, and to draw from it |
# | 4 What has it learnt? | to ask, to count answers, and to say how little a few of them prove |
#
# Nobody needs this notebook for another one: it is a choice as a whole. Whoever takes it begins with what is marked as core here.
# The parts can be done on different days. How to work with it:
#
# - Logarithms are natural unless a base is named; positions and ids count from 0. A *byte* is a number from 0 to 255.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom. Each exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - What is *measured* on this text and no mathematics is said to be so.

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
# How many bits does a text need for each of its bytes? A file takes 8. Below are two others who have to say what comes next: one that has only counted how often each byte
# stands in this course, and people who guessed English letter by letter (Shannon, 1951).

# %% tags=["demonstration"]
if plt:
    bits_needed = {"as a file": 8, "counted bytes": 4.859, "people": 1}
    figure, axis = plt.subplots(figsize=(6, 2.4), layout="constrained")
    axis.bar_label(axis.barh(list(bits_needed), bits_needed.values(), color="0.6", edgecolor="black"), padding=3)
    axis.set(xlabel="bits for each byte", xlim=(0, 9))
    axis.invert_yaxis()
    plt.show()

# %% [markdown]
# *The picture:* three bars. As a file a byte takes 8 bits, by counted bytes 4.859, by people about 1.
#
# *A guess:* Where do the three bits come from that counting saves? And where between the last two bars would you expect a small model that has read this course? Keep your guess: you will train it in
# part 3, and measure it.

# %% [markdown]
# ## 1 Tokens
#
# ### Merges by hand
#
# A model reads whole numbers. One number for each letter makes texts long; one for each word needs an endless list, and has none
# for a word that is new. **Byte-pair encoding** lies between: it begins with single letters and gives
# what often stands side by side a number of its own.
#
# - *Count* for each pair of neighbouring tokens at how many places it stands. Places may overlap: in 0 0 0 the pair (0, 0) stands at two.
# - *Merge* the commonest pair: a new token takes its place wherever it stands. Go from left to right; what is merged is used up. Of several
#   pairs with the largest count take that whose left token is the smallest, and of those that with the smallest right token.
#   What counts are places: 0 0 0 has two, and so (0, 0) may come first although merging it saves one token only.
# - *Repeat* with the new text. New tokens are numbered on, and are tokens like all others.
#
# Worked example, tokens 0 and 1, so that new ones are 2, 3, …: 0 1 0 1 1 0 0 1. The pairs (0, 1), (1, 0), (1, 1), (0, 0) stand at 3, 2, 1 and 1 places.
# Merge (0, 1) into 2: the text is 2 2 1 0 2. Now (2, 2), (2, 1), (1, 0), (0, 2) stand at one place each, and nothing is gained by merging
# what stands somewhere once: here one stops.
#
# The merges, in their order, are what was learnt. To *encode* another text one carries them out there: the first of them everywhere, then the second, and so on.
# The text 1 0 1 0 becomes 1 2 0.
#
# Your two texts have the tokens 0, 1 and 2, so new tokens are 3, 4 and 5. Your `run` is for question 6.

# %%
your_numbers("bpe_hand")

# %% [markdown]
# 1. `pair_counts`: three rows of three numbers. In row $i$ and column $j$ stands at how many places of `text` token $i$ has token $j$ behind it.
# 2. `merges`: the first three merges of `text`, a row of two tokens for each.
# 3. `lengths`: how many tokens has `text` before the first merge, and after one, two and three of them? Four whole numbers.
# 4. `token_counts`: how often does each of the tokens 0, 1, 2, 3, 4, 5 stand in `text` after the three merges? Six whole numbers.
# 5. `other_encoded`: `other`, encoded with the merges of `text`. Ten whole numbers: the tokens that are left, then −1 for each place that they no longer fill.
# 6. `of_the_run`: another text, of `run` tokens 0 and nothing else, so that new tokens are 1 and 2. At how many places stands (0, 0)? How many tokens are left when it has been merged
#    into 1? And how many when (1, 1) has been merged as well? Three whole numbers.
# 7. `claims`: in some text the commonest of all pairs, $(x, y)$, has two *different* tokens and stands at $c$ places. It is merged. What is true? (All letters that apply. Wrong letters take away.)

# %% exercise="bpe_hand"
pair_counts = None    # three rows of three whole numbers
merges = None         # three rows of two tokens
lengths = None        # four whole numbers
token_counts = None   # six whole numbers
other_encoded = None  # ten whole numbers, tokens and then −1
of_the_run = None     # three whole numbers
claims = None         # letters, as in "AE"

# %% [markdown]
# *Where you meet this.* GPT-2 begins with the 256 bytes and learns 50,000 merges; with a token for the end of a text its vocabulary has 50,257. Programs in use
# first cut a text into words, so that no token reaches across a blank. Yours may, and *measured* on this course they do: `of the ` is the 108th merge.

# %% [markdown]
# ### A tokeniser
#
# Now as a program, for texts of bytes. A text is an array of whole numbers: `np.frombuffer("√2".encode(), np.uint8)` is
# 226, 136, 154, 50, since UTF-8 writes √ with three bytes. (Such an array has the type `uint8`, into which no number above 255 fits.) The 256 bytes are tokens from the beginning, and merges make tokens
# 256, 257, … of them. Where fewer tokens are there from the beginning, `V` says how many: with `V=3` new ones are 3, 4, …, as in your work by hand.
#
# 1. `train(x, count, V=256)` returns the first `count` merges of the text `x`, a row of two tokens for each, by the rules above: all places count, also those that
#    overlap; of pairs with equal counts the one with the smaller left token comes first, then the one with the smaller right token. Where no pair stands at two places
#    one stops, and fewer come back.
# 2. `encode(x, merges, V=256)` returns the tokens of a text: the first merge carried out everywhere, from left to right, then the second, and so on.
# 3. `decode(ids, merges, V=256)` returns the text whose tokens these are. For every text of bytes `decode(encode(x, merges), merges)` is `x`.
# 4. `why_bytes`: why does one begin with the 256 bytes, and not with the letters of the training text?
#
# Lists do as well as arrays; where there are no merges, an empty list. What comes in is left as it is: `encode` must not change a list that it gets. Try your functions on a page of the course, such as `np.frombuffer(open("course.txt", "rb").read(3000), np.uint8)`.
# The merges of the whole course take a plain program minutes; so they lie beside it, `np.load("merges.npy")`, 744 of them.

# %%
your_numbers("bpe_code")

# %% exercise="bpe_code"
import numpy as np

why_bytes = None  # one of "A", "B", "C", "D"


def train(x: "(n,) whole numbers", count: int, V: int = 256) -> "(k, 2)":
    """Return the first merges of a text, at most count of them.

    >>> train(np.array([0, 1, 0, 1, 1, 0, 0, 1]), 3, V=2).tolist()
    [[0, 1]]
    """
    raise NotImplementedError


def encode(x: "(n,) whole numbers", merges: "(k, 2)", V: int = 256) -> "(m,)":
    """Return the tokens of a text: the merges, carried out in their order.

    >>> encode(np.array([1, 0, 1, 0]), np.array([[0, 1]]), V=2).tolist()
    [1, 2, 0]
    """
    raise NotImplementedError


def decode(ids: "(m,) whole numbers", merges: "(k, 2)", V: int = 256) -> "(n,)":
    """Return the text whose tokens these are.

    >>> decode(np.array([1, 2, 0]), np.array([[0, 1]]), V=2).tolist()
    [1, 0, 1, 0]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* With all 744 merges, *measured*, the 351,405 bytes of the course are 130,834 tokens. Nothing in the procedure knows words or endings; yet
# `attention `, `softmax ` and `the first ` are tokens in the end.

# %% [markdown]
# ### What a vocabulary costs
#
# A larger vocabulary makes texts shorter, and each token dearer. *Measured* on the 351,405 bytes of the course, with the merges in `merges.npy`:
#
# | vocabulary $V$ | 256 | 320 | 384 | 512 | 640 | 768 | 1000 |
# |---|---|---|---|---|---|---|---|
# | tokens $n$ | 351,405 | 235,263 | 205,277 | 173,990 | 156,892 | 145,383 | 130,834 |
#
# The first merge alone takes away 8,186 tokens, the 744th 51.
#
# What does a token cost? Count a decoder of $L$ blocks of width $d$ without biases, as in the seventh notebook: a block has $12 d^2$ weights, and for each token takes as many multiply–adds. (Those of
# the scores and of the weighted sums come on top, and are left out here, as are the norms.) The embedding has $V d$ weights, of which one row is *looked up*: that multiplies nothing. The output matrix, $d \times V$, makes $V$ logits of $d$ numbers each,
# $V d$ multiply–adds. Embedding and output are two matrices.
#
# Worked example, $L = 1$, $d = 10$, $V = 256$: 1200 weights in the block, 2560 in each of the two matrices. They have $5120/6320 = 0.8101$ of all weights. A token takes $1200 + 2560 = 3760$ multiply–adds, and so does a byte, since
# with 256 tokens each is one.
#
# 1. `bytes_per_token`: how many bytes has a token on average, for the seven vocabularies? Seven numbers.

# %%
your_numbers("tokens_cost")

# %% [markdown]
# 2. `share`: which share of all weights that are counted here (blocks without biases and norms, and both matrices) have embedding and output matrix together, for the seven vocabularies?
# 3. `madds_per_byte`: how many multiply–adds does your model take for each *byte* of the text, for the seven vocabularies?
# 4. `best`: with which of the seven vocabularies are they fewest?
# 5. `places`: a text has $n$ tokens out of $V$. One more merge would save one token at each place where its pair stands (let no two of them overlap), and give every token that is left one logit more. At how many places must the pair
#    stand, so that the multiply–adds for the whole text stay exactly the same? A formula in `n`, `V`, `L` and `d`.
# 6. `first_pays_from`: the same for your model and the first merge of all, in numbers: put in $n$ and $V$ as they are before it. It need not be a whole number.
# 7. `pairs`: attention has a score for each pair of tokens. Take the whole text at once: by which factor do the scores become fewer, from the vocabulary of 256 to that of 1000? (A number above 1.)
#    `seen`: your `window` is so many tokens. How many bytes of the text does it hold on average, with the vocabulary of 1000?
# 8. `claims`: what is true? (All letters that apply. Wrong letters take away.)

# %% exercise="tokens_cost"
bytes_per_token = None  # seven numbers
share = None            # seven numbers
madds_per_byte = None   # seven numbers
best = None             # one of the seven vocabularies
places = None           # a formula in n, V, L, d
first_pays_from = None  # one number
pairs = None            # one number
seen = None             # one number
claims = None           # letters, as in "AE"

# %% [markdown]
# *Where you meet this.* Llama-2-7B has 32 blocks of width 4096 and 32,000 tokens: two matrices of 131 million weights each, 3.9 % of all. How rare may
# a pair be there, so that its merge still pays? Your formula says it. Llama-3-8B has 128,256 tokens, and these two matrices have 13 % of its weights. What the count leaves out decides as well: rare tokens are trained rarely, and languages
# that stood in few training texts get few merges, so that their texts take more tokens.

# %% [markdown]
# ## 2 Bits
#
# ### Bits for each byte
#
# In the seventh notebook a model's loss was a mean over tokens, in nats, and the perplexity its exponential: numbers for each token. What a token is, the tokeniser says. What doesn't depend on the cutting is the loss of
# the *whole* text, $-\log P(\text{text})$, and what can be compared is that, divided by something that all models agree on: the bytes. With $\ell$ nats for each of $n$ tokens, and $B$ bytes,
#
# $$ \text{bits per byte} = \frac{\ell\, n}{B \log 2} . $$
#
# Worked example: 1000 bytes are 400 tokens, at 2.5 nats each. These are 1000 nats, $1000/\log 2 = 1442.7$ bits, and 1.443 bits per byte. The perplexity is $e^{2.5} = 12.18$. A model of single bytes with the same 1000 nats has a perplexity of
# $e = 2.718$, and is exactly as good.
#
# What can be reached without a model, by counting alone? The **unigram** model gives token $j$ its share of the training text. The **bigram** model looks at the token in front: $P(j \mid i)$ is the share of the pairs $(i, j)$ among those that begin with $i$.
# What was never seen would get the probability 0, and a single such pair makes the loss infinite. So one **smooths**: to every count, those of 0 included, a number $\alpha > 0$ is added before dividing, and the probabilities of all $V$ tokens still add up to 1.
#
# Worked example with two tokens and $\alpha = 1$: in 0 0 1 0 the pairs (0, 0), (0, 1), (1, 0) stand at one place each. $P(0 \mid 0) = (1+1)/(2+2) = \tfrac12$, $P(0 \mid 1) = (1+1)/(1+2) = \tfrac23$; the unigram model says $P(0) = (3+1)/(4+2) = \tfrac23$.
#
# You have two models of one text of `size` bytes: the first cuts it into the first number of `tokens` and needs the first number of `nats` for each of them; the second likewise. `train` and `test` are texts of the tokens 0, 1 and 2.

# %%
your_numbers("bits_per_byte")

# %% [markdown]
# 1. `perplexity`: the two perplexities per token. `bits`: the bits per byte of both.
# 2. `why`: why do perplexities say nothing across tokenisers?
# 3. `from_perplexity`: a model has the perplexity $P$ per token, and its tokens have $r$ bytes on average. How many bits per byte is that? A formula in `P` and `r`.
# 4. `after_each`: the bigram model of `train` with $\alpha = 1$. In row $i$ and column $j$ stands $P(j \mid i)$.
# 5. `test_bits`: the mean of $-\log_2 P$ over the last five tokens of `test`, by the unigram model of `train` (also with $\alpha = 1$; it counts all of its tokens) and by the bigram model. Two numbers.
# 6. `bigram_bits(train, test, V, alpha)`: the mean of $-\log_2 P(j \mid i)$ over the tokens of `test` but for the first, with the bigram model of `train`.
# 7. `course_bits`: count the bytes of the course up to the 300,000th, and predict those from there on (`x[:300000]` and `x[300000:]`, with $V = 256$; of the second text the first byte is not predicted, as in question 6): how many bits per byte does the bigram model need for $\alpha = 10$, 1 and 0.1? Three numbers.

# %% exercise="bits_per_byte"
import numpy as np

perplexity = None       # two numbers
bits = None             # two numbers
why = None              # one of "A", "B", "C", "D"
from_perplexity = None  # a formula in P, r
after_each = None       # three rows of three numbers
test_bits = None        # two numbers: unigram, bigram
course_bits = None      # three numbers, for alpha = 10, 1, 0.1


def bigram_bits(train: "(n,) whole numbers", test: "(m,) whole numbers", V: int, alpha: float) -> float:
    """Return the bits per token of a text but for its first token, by the counts of another.

    >>> round(bigram_bits(np.array([0, 0, 1, 0]), np.array([0, 1, 0]), 2, 1.0), 4)
    0.7925
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* A file takes 8 bits for each byte. The unigram model, *measured* as in question 7 with $\alpha = 1$, needs 4.859 of them; what does your bigram model need? Shannon (1951) let people guess English letter by letter, and found about one bit for each;
# models of today, *measured*, come below that. Bits per byte are also what a compressor could reach that asks the model at each byte.

# %% [markdown]
# ## 3 A model that writes
#
# ### A model that has read this course
#
# Now it learns. The model is a **decoder without a source**: two layers of your encoder, one behind the other, with the mask that lets nobody
# look ahead. Behind each token it gives a logit for every token that may come next.
#
# The tokens lie ready: `lessons.npz` has those of the thirteen lessons, `np.load("lessons.npz")["01"]` to `["13"]`, in the vocabulary of
# $V = 512$ that the 256 bytes and the first 256 merges of `merges.npy` make. In all these are 174,000 tokens, of two bytes each in the mean.
#
# | name | shape | is |
# |---|---|---|
# | `embed` | $(V, d)$ | the table of embeddings; a row is multiplied by $\sqrt d$, and the sinusoidal encoding of its position is added, as in the fifth notebook: sines in columns 0, 2, …, cosines in 1, 3, …, base 10,000 |
# | `layer.i.self.W_q` … `layer.i.self.b_o` | $(d, d)$, $(d,)$ | attention in two heads, for $i = 0$ and $1$: four matrices and four biases, as in the twelfth notebook; head 0 has the first $d/2$ columns |
# | `layer.i.W1`, `.b1`, `.W2`, `.b2` | $(d, 2d)$, $(2d,)$, $(2d, d)$, $(d,)$ | the feed-forward layer, with a ReLU |
# | `layer.i.gamma1`, `.beta1`, `.gamma2`, `.beta2` | $(d,)$ | layer norms behind the two sums (post-norm), $\varepsilon = 10^{-5}$ |
# | `out.W`, `out.b` | $(d, V)$, $(V,)$ | the map from the last layer to logits |
#
# A worked example of windows, three tokens long: the text 5 8 8 2 9 has the window 5 8 8 with the labels 8 8 2, and the window 8 8 2 with the labels 8 2 9. Every
# position of a window is an example of its own: behind 5 comes 8, behind 5 8 comes 8, behind 5 8 8 comes 2. The loss is the mean over all of them.
#
# `train_text(seed, d, text)` gets a text of some 150,000 ids, trains a new model of width $d$ on it, and returns two things: the dictionary of weights, and a
# list or array with the loss of each step, in nats per token.
#
# - Draw windows of **32 tokens** anywhere in the text. Our own takes 800 steps of 16 windows each; of 8 windows each it takes 1200. Adam is that of the twelfth notebook
#   ($\beta_1 = 0.9$, $\beta_2 = 0.98$), with rates up to 0.01, which rise over the first 50 steps and fall again until the end.
# - Begin with normal numbers divided by the root of a matrix's number of rows, and those of `embed` by $\sqrt d$; with ones in `gamma`, and zeros in all that is added.
# - Use `float32`, and code that you wrote: copy the encoder's layer of your twelfth notebook and its way back into the cell, and add a mask. Or take torch and hand
#   its numbers over as arrays, by these names: `x @ W_q` is meant, so a matrix of `nn.Linear` is transposed.
# - At home take ten lessons, and try the model on the others. In the table of embeddings a token may come many times in one batch: its gradients are added up.
#   The ids are `int16`, in which $512\, a + b$ has no room.
#
# How it is graded. The grader calls `train_text` once, and that may take 300 seconds of processor time; our own takes about 10. It draws the width, an even number from 44
# to 52, and **two lessons that are taken out of the text**. Your weights are put into the model of the table, which reads these two lessons in windows of 32 tokens, and its
# bits per byte are counted, as in part 2. They are compared with those of a table of pairs, counted in the text that you got: the probability of $b$ behind $a$ is
# $(n_{ab} + 5 u_b)/(n_a + 5)$. In it $u_b$ is the share of the token $b$, smoothed as in part 2 with $\alpha = \frac12$: so a token that your text lacks has a probability, too.
#
# - Four points come with fewer bits than the pairs need, and a share of them before. A model that goes by the last token alone earns none of them, however it came about: what stands before has to help.
# - Four come with 0.12 bits per byte less than the pairs, and a share of them before. *Measured:* with twenty seeds our own is 0.24 to 0.32 below.
# - One point is for the losses: they begin near $\log 512 = 6.24$ (between 5 and 8), fall, and end where the model's loss on the text is that it has read.
#
# A model that was not trained by this call earns nothing, and the grader numbers all tokens anew, by chance: so train on what comes in, and leave the file alone. Leave no training in a cell of
# this notebook when you hand in: what is graded is the function.
#
# **Which run is which?** One seed, one text, four runs of 500 steps with 8 windows. One has the rates above. In one all rates are 33 times smaller, in one 10 times larger, and one
# begins with the full 0.01 at once, without warming up, and falls as the others do. Your four curves, the losses at the `steps` (means of up to five steps):

# %%
your_numbers("train_text")

# %% [markdown]
# **Is it the model of the table?** Losses don't tell: a matrix handed over transposed, or heads in other columns, learns as well, and is another model in the grader. So `example` makes weights that were
# never trained. With `example(4)` and the ids 3, 1, 4, 1, 5 your model's first four logits behind the last token are $-0.9677, -0.7765, 0.1286, 0.9155$. And `differences` compares names and shapes of what
# your `train_text` returns with those of the table: nothing may be left.

# %%
def shapes(d):
    """The shape of every array by its name."""
    found = {"embed": (512, d), "out.W": (d, 512), "out.b": (512,)}
    for i in range(2):
        found |= {f"layer.{i}.W1": (d, 2 * d), f"layer.{i}.b1": (2 * d,), f"layer.{i}.W2": (2 * d, d), f"layer.{i}.b2": (d,)}
        for name in "qkvo":
            found |= {f"layer.{i}.self.W_{name}": (d, d), f"layer.{i}.self.b_{name}": (d,)}
        for name in ("gamma1", "beta1", "gamma2", "beta2"):
            found[f"layer.{i}.{name}"] = (d,)
    return found


def example(d):
    """Weights to compare logits with."""
    return {
        name: np.sin(np.arange(np.prod(shape)) + sum(name.encode())).reshape(shape) for name, shape in shapes(d).items()
    }


def differences(weights, d):
    """Names that are missing, too many, or of another shape."""
    found = {name: np.shape(array) for name, array in weights.items()}
    return {*found.items()} ^ {*shapes(d).items()}

# %% [markdown]
# 1. `too_small`, `too_large`, `no_warm_up`: the letters of these three runs.
# 2. `sign_of_small`, `sign_of_large`, `sign_of_no_warm_up`: what gives each of them away? The statements have letters of their own, above. A reason counts
#    only where the run is the right one. The losses are means of a few steps, so hundredths say nothing: *the level of 5.5* is left where a loss is clearly below it, by 0.2 or more.

# %% exercise="train_text"
import numpy as np

too_small = None           # a letter of a curve
too_large = None           # a letter of a curve
no_warm_up = None          # a letter of a curve
sign_of_small = None       # a letter of a statement
sign_of_large = None       # a letter of a statement
sign_of_no_warm_up = None  # a letter of a statement


def train_text(seed: int, d: int, text: "whole numbers (N,)") -> "(dictionary of arrays, losses)":
    """A decoder of width d that has read the text, and the loss at each step of its training.

    >>> weights, losses = train_text(0, 44, np.arange(2000) % 512)
    >>> weights["out.W"].shape[1], bool(losses[-1] < losses[0])
    (512, True)
    """
    raise NotImplementedError

# %% [markdown]
# ### Which token comes next?
#
# A model gives probabilities, and a text needs tokens. Three knobs stand between the two. They are turned in this order:
#
# 1. **Temperature** $T$: logits are divided by $T$ before the softmax. $T = 0$ means *greedy* decoding: one token, that with the largest logit, has the probability 1.
# 2. **Top-k**: the $k$ likeliest tokens are kept, all others get the probability 0.
# 3. **Top-p**: of what is left, the likeliest tokens are kept until their probabilities add up to $p$ or more; so the one that reaches $p$ is the last that is kept. (A sum within $10^{-9}$ of $p$ reaches it.)
#
# After each cut the probabilities that are left are divided by their sum. Of tokens that are level the smaller id comes first, also for $T = 0$.
#
# Worked example: logits $(1, 2, 0, 1)$, ids 0 to 3. At $T = 1$ the probabilities are $0.1966, 0.5344, 0.0723, 0.1966$. Top-k with $k = 2$ keeps 1 and 0, since 0 and 3 are level:
# $(0.2689, 0.7311, 0, 0)$. Top-p with $p = 0.8$ keeps 1, 0 and 3: $0.5344 + 0.1966$ is less than 0.8, so one more is needed. Both together, $k = 2$ and then $p = 0.7$, keep token 1 alone:
# after top-k it has 0.7311. Without sharing out in between it would have taken two.

# %% tags=["demonstration"]
def draw_heated(temperature):
    powers = np.exp(np.array([2.0, 1.0, 1.0, 0.0]) / temperature)
    chances = powers / powers.sum()
    before = np.cumsum(chances) - chances
    figure = plt.Figure(figsize=(5.5, 2.8), layout="constrained")
    axis = figure.subplots()
    axis.bar(range(4), chances, color=np.where(before < 0.8, "0.6", "1.0"), edgecolor="black")
    axis.set(xlabel="rank of the token", ylabel="probability", xticks=range(4), ylim=(0, 1))
    said = f"from {chances[0]:.2f} to {chances[-1]:.2f}"
    return figure, f"At T = {temperature} the probabilities fall {said}; top-p with p = 0.8 keeps {(before < 0.8).sum()} tokens, in grey."


if plt:
    moving(draw_heated, "temperature", [0.25, 0.5, 1, 2.5, 10], 1)

# %% [markdown]
# *The picture:* bars for the probabilities of these four logits, the likeliest token first, at a temperature that you can change; those that top-p keeps are grey, the others white. At $T = 0.5$ they fall from 0.78 to 0.01 and two are kept, at $T = 1$ from 0.53 to 0.07,
# and at $T = 2.5$ from 0.36 to 0.16: heat levels them, and top-p then needs more tokens.

# %%
your_numbers("sampling")

# %% [markdown]
# 1. `warm`: the probabilities of your logits $z$ at temperature $T$. `top_k` and `top_p`: what your $k$ alone and your $p$ alone make of them, at temperature 1. Each has six numbers, zeros for what is cut off.
# 2. `sizes`: how many tokens your $p$ keeps at temperature $T$, and how many at temperature 1, in both cases without top-k.
# 3. `all_three`: the probabilities with $T$, then $k$, then $p$.
# 4. `shaped(z, temperature, k, p)` does this for any logits; `None` leaves a cut out. A $k$ larger than $V$ keeps all; $k$ is at least 1, and $p$ above 0 and at most 1. Logits may be large, and $-\infty$ means: never, but some logit is finite.
#    The array that comes in is left as it is.
# 5. `sample(z, size, seed, temperature, k, p)` draws `size` tokens with these probabilities, each independently of the others. The same seed gives the same tokens. How it is graded: 20,000 of your draws from
#    five tokens are counted and compared with the exact probabilities $q_i$ by $X^2 = \sum_i (n_i - 20000\, q_i)^2 / (20000\, q_i)$. For right draws it is about 4, and above 55, where it
#    fails, with a probability of $e^{-55/2}(1 + 55/2) = 3 \cdot 10^{-11}$. Equal neighbours are counted, too: chance keeps their number within 7 deviations all but as surely. And four such $X^2$ together are
#    above 0.2, except once in $4 \cdot 10^{12}$: who comes nearer than that hasn't drawn.
# 6. **Greedy decoding repeats itself.** Your `table` has in row $i$ the logits behind token $i$; this model looks at the last token alone. `path`: the eight tokens that greedy decoding writes behind your `start`.
#    `period`: in the end it goes round and round; how many tokens has the circle? `forever`: what does a model do that sees the last $n$ tokens, for any $n$? (A letter; the statements are above.)

# %% exercise="sampling"
import numpy as np

warm = None       # six numbers
top_k = None      # six numbers
top_p = None      # six numbers
sizes = None      # two whole numbers: at temperature T, at temperature 1
all_three = None  # six numbers
path = None       # eight tokens
period = None     # a whole number
forever = None    # a letter


def shaped(
    z: "array (V,)", temperature: float = 1.0, k: "whole number, or None" = None, p: "number, or None" = None
) -> "array (V,)":
    """The probabilities with which the next token is drawn.

    >>> np.round(shaped(np.array([1.0, 2.0, 0.0, 1.0]), 1.0, 2), 4).tolist()
    [0.2689, 0.7311, 0.0, 0.0]
    """
    raise NotImplementedError


def sample(
    z: "array (V,)",
    size: int,
    seed: int,
    temperature: float = 1.0,
    k: "whole number, or None" = None,
    p: "number, or None" = None,
) -> "whole numbers (size,)":
    """Tokens that are drawn independently with these probabilities.

    >>> np.asarray(sample(np.array([0.0, 9.0, 0.0]), 4, 0, 0.0)).tolist()
    [1, 1, 1, 1]
    """
    raise NotImplementedError

# %% [markdown]
# *Where you meet this.* Programs that serve models have these three knobs, mostly in this order. What is called *temperature 0* there is greedy decoding; a temperature of 1 with $p = 1$ draws what the model says.

# %% [markdown]
# ## 4 What has it learnt?
#
# ### Ten questions prove little
#
# Ask a model ten questions, count what is right: 8. Another one gets 6. Is the first one better? Three things come before an answer.
#
# **What counts as right.** *Exact* means letter for letter. *Normalised* means: both texts are changed first, in four steps, and then compared as a whole.
#
# 1. Large letters become small.
# 2. Marks are deleted, and nothing takes their place: the 32 of `string.punctuation`, and “ ” ‘ ’ … as well.
# 3. The words `a`, `an` and `the` are deleted; only whole words, which are what stands between blanks.
# 4. Blanks of any kind (ends of lines, too) become one blank between words, and none at the ends.
#
# “The  Softmax.” becomes `softmax`. “softmax function” stays another answer: that the right one is in there is not enough.
#
# **How sure it is.** From $k$ right answers of $n$ follows no share $p$, but an interval. Wilson's has all $p$ for which $k/n$ lies within $z$ standard deviations of $p$, where the deviation is that of $p$ itself:
#
# $$\Big(\frac kn - p\Big)^2 \le z^2\, \frac{p\,(1 - p)}{n} , \qquad p = \frac{\frac kn + \frac{z^2}{2n} \pm z \sqrt{\frac{\frac kn (1 - \frac kn)}{n} + \frac{z^2}{4 n^2}}}{1 + \frac{z^2}{n}} .$$
#
# A worked example: 5 of 10 at $z = 1.96$ (95 per cent) give 0.2366 to 0.7634.
#
# **Whether it had read the answer.** What stood in the training text shows memory and nothing else. One looks for runs of $n$ words: a *window* is $n$ words of a sentence in a row, and
# the *overlap* is the share of its windows that stand somewhere in the text, both normalised. Words count as a whole: `b c` doesn't stand in `ab cd`. A window that a sentence has twice is two of its windows. “a b c d” has the windows of two words `b c` and `c d`, once `a` has gone; `x b c y` contains the first of them: 0.5.

# %%
your_numbers("evaluate")

# %% [markdown]
# 1. `right`: each of your `answers` has what is right in front of the stroke, and behind it what a model wrote. How many of the ten are right: exactly, and normalised? (Two whole numbers. What is right exactly counts for both.)
# 2. `interval`: Wilson's interval for your $k$ of $n$, $z = 1.96$; the lower end first.
# 3. `steps`: why ten are so few. $x_i$ is 1 if question $i$ is answered rightly and 0 if not, independently of the others; all have the mean $p$, and so the variance $\operatorname{Var}(x_i) = p\,(1 - p)$.
#    Go from $\operatorname{Var}\big(\frac1n \sum_i x_i\big)$, written `Var(sum(x_i, i)/n)`, to `p*(1 - p)/n`, one line per step (a step that is written in two lines loses nothing). Take $1/n$ out of the variance first, and then what you know of independent numbers.
# 4. `deviations`: two models, ten questions each, and 8 against 6 right. If both had $p = 0.7$, how many of its standard deviations is the difference $0.2$ of their shares? The models are independent of each other, too, so the variances of both shares are added.
#    `enough`: how many questions for each model would it take for 80 against 60 per cent to be 1.96 deviations apart, or more (again with $p = 0.7$ for both)?
# 5. `seen`: which of your six `sentences` stand in `course.txt`, once both are normalised? (All letters that apply. Wrong letters take away.)
# 6. `normalise(text)`, `wilson(k, n, z)` and `overlap(sentence, text, n)`, as above. Of a sentence that has fewer than $n$ words, all words are one window; each has some word that is no article.

# %% exercise="evaluate"
right = None       # two whole numbers: exactly, normalised
interval = None    # two numbers
steps = [
    # "Var(sum(x_i, i)/n)",
]
deviations = None  # a number
enough = None      # a whole number
seen = None        # letters, as in "AE"


def normalise(text: str) -> str:
    """The text as it is compared.

    >>> normalise("The  Softmax.")
    'softmax'
    """
    raise NotImplementedError


def wilson(k: int, n: int, z: float = 1.96) -> "(number, number)":
    """Both ends of Wilson's interval for the share of right answers.

    >>> [round(float(end), 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    raise NotImplementedError


def overlap(sentence: str, text: str, n: int = 8) -> "number":
    """The share of the sentence's windows of n words that stand in the text.

    >>> float(overlap("a b c d", "x b c y", 2))
    0.5
    """
    raise NotImplementedError

# %% [markdown]
# ### What does it know of attention?
#
# Let your `train_text` read all thirteen lessons, with $d = 48$ and a seed of your choice. Then let the model go on behind “The scores are divided by ”: once greedily, and three times with $T = 0.8$ and $p = 0.9$, 40 tokens each. (Mind the blank: in this vocabulary
# blanks stand at the ends of tokens.) It sees 32 tokens, so cut off what lies further back.
# Then ask in another way: behind “The scores are divided ”, how many nats do `by the square root of` and `by the number of heads` take? Each is eight tokens; add up their $-\log p$.
#
# And look at what it had to learn from. `stands`: make all of `course.txt` small letters, and all blanks and ends of lines between two words one blank. How often stand these four in it: “scores are divided”, “square root”,
# “number of heads”, “the score”? (Every place counts, also within longer words: “the scores” has “the score”. Marks and articles stay. 0 is possible.)

# %% exercise="read_out"
stands = None  # four whole numbers

# %% [markdown]
# Write **five lines** (80 to 150 words) about what it has learnt. A person reads them and looks for three things, 0.75 points each:
#
# 1. what your model wrote, greedily and drawn, in its own words, and what became of the greedy text;
# 2. what it has of *form* (letters, words, which word follows which) and what of *content*, kept apart, with a number of yours that tells the two apart;
# 3. what the text that it read, its window, or its size has to do with that, and what one such test can't show.

# %% [markdown] exercise="read_out" part="essay"
# *Your text.*

# %% [markdown]
# ## What you can do now
#
# You can turn a text into tokens and back, and say what that costs; compare models by bits for each byte, and know what counting alone
# reaches; train a model on a text, draw from it by three rules, and say how much a handful of answers shows.
#
# **To read.**
#
# - Sennrich et al. (2016), *Neural machine translation of rare words with subword units*: byte-pair encoding for translation.
# - Radford et al. (2019), *Language models are unsupervised multitask learners*: bytes as letters, and what a larger text does.
# - Holtzman et al. (2020), *The curious case of neural text degeneration*: why the likeliest text is a bad one.
# - Shannon (1951), *Prediction and entropy of printed English*: bits per letter, from counts and from people who guess.
