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
