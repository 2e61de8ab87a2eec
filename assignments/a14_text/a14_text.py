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
# 6. `of_the_run`: a text of `run` tokens 0 and nothing else. At how many places stands (0, 0)? How many tokens are left when it has been merged
#    into 1? And how many when (1, 1) has been merged as well? Three whole numbers.
# 7. `claims`: some text, in which the commonest pair $(x, y)$ of two *different* tokens stands at $c$ places, is merged. What is true? (All letters that apply. Wrong letters take away.)

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
# 226, 136, 154, 50, since UTF-8 writes √ with three bytes. The 256 bytes are tokens from the beginning, and merges make tokens
# 256, 257, … of them. Where fewer tokens are there from the beginning, `V` says how many: with `V=3` new ones are 3, 4, …, as in your work by hand.
#
# 1. `train(x, count, V=256)` returns the first `count` merges of the text `x`, a row of two tokens for each, by the rules above: all places count, also those that
#    overlap; of pairs with equal counts the one with the smaller left token comes first, then the one with the smaller right token. Where no pair stands at two places
#    one stops, and fewer come back.
# 2. `encode(x, merges, V=256)` returns the tokens of a text: the first merge carried out everywhere, from left to right, then the second, and so on.
# 3. `decode(ids, merges, V=256)` returns the text whose tokens these are. For every text of bytes `decode(encode(x, merges), merges)` is `x`.
# 4. `why_bytes`: why does one begin with the 256 bytes, and not with the letters of the training text?
#
# Try them on a page of the course, such as `np.frombuffer(open("course.txt", "rb").read(3000), np.uint8)`. All of it takes a plain program minutes; so the merges that are
# found in the whole text lie beside it, `np.load("merges.npy")`, 744 of them.

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
# 2. `share`: which share of all weights of your model have embedding and output matrix together, for the seven vocabularies?
# 3. `madds_per_byte`: how many multiply–adds does your model take for each *byte* of the text, for the seven vocabularies?
# 4. `best`: with which of the seven vocabularies are they fewest?
# 5. `places`: a text has $n$ tokens out of $V$. One more merge would save one token at each place where its pair stands (let no two of them overlap), and give every token that is left one logit more. At how many places must the pair
#    stand, so that the multiply–adds for the whole text stay exactly the same? A formula in `n`, `V`, `L` and `d`.
# 6. `first_pays_from`: the same for your model and the first merge of all, in numbers.
# 7. `pairs`: attention has a score for each pair of tokens. Take the whole text at once: by which factor do the scores become fewer, from 256 to 1000 tokens?
#    `seen`: your `window` is so many tokens. How many bytes does it hold on average, with 1000 of them?
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
# *Where you meet this.* Llama-2-7B has 32 blocks of width 4096 and 32,000 tokens: two matrices of 131 million weights each, 3.9 % of all. Your formula says that for it a merge pays which stands at one place in
# $12 \cdot 32 \cdot 4096 + 32001 = 1{,}604{,}865$ tokens. Llama-3-8B has 128,256 tokens, and these two matrices have 13 % of its weights. What the count leaves out decides as well: rare tokens are trained rarely, and languages
# that stood in few training texts get few merges, so that their texts take more tokens.

# %% [markdown]
# ## 2 Bits
#
# ### Bits for each byte
#
# In the seventh notebook a model's loss was a mean over tokens, in nats, and the perplexity its exponential. Who cuts a text into fewer tokens has more to guess at each of them. What doesn't depend on the cutting is the loss of
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
# 7. `course_bits`: count the bytes of the course up to the 300,000th, and predict those from there on (`x[:300000]` and `x[300000:]`, with $V = 256$): how many bits per byte for $\alpha = 10$, 1 and 0.1? Three numbers.

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
# *Where you meet this.* A file takes 8 bits for each byte. The unigram model, *measured* as in question 7 with $\alpha = 1$, needs 4.859 of them, your bigram model a bit more than one less. Shannon (1951) let people guess English letter by letter, and found about one bit for each;
# models of today, *measured*, come below that. Bits per byte are also what a compressor could reach that asks the model at each byte.

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
