# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Soft lookup with pencil and paper
#
# *You need NumPy, a pencil and some paper; matplotlib, where it is installed, draws two pictures that
# nothing else depends on.*
#
# Attention answers a question by averaging. A **query** $q$ is compared with every **key** $k_i$;
# the better they match, the more the **value** $v_i$ counts in the average that comes out:
#
# $$ \underbrace{s_i = q \cdot k_i} _{\text{scores}}, \qquad
#    \underbrace{w_i = \frac{e^{s_i}}{\sum_j e^{s_j}}} _{\text{weights}}, \qquad
#    \underbrace{o = \sum_i w_i v_i} _{\text{output}} . $$
#
# Three steps: compare, normalise, average. Nearly everything in later notebooks is one of these
# steps with more indices. Here you do them with pencil and paper, so that later the code holds no
# mystery.
#
# | letter | shape | what it is |
# |---|---|---|
# | $q$ or $Q$ | $(d_k,)$ or $(n, d_k)$ | one query, or $n$ queries as rows |
# | $K$ | $(m, d_k)$ | $m$ keys, one to a row |
# | $V$ | $(m, d_v)$ | the $m$ values that belong to the keys, one to a row |
# | $s$ or $S$ | $(m,)$ or $(n, m)$ | scores: a row for each query, a column for each key |
# | $w$ or $A$ | as the scores | weights: every row is positive and adds up to 1 |
#
# How to work with it:
#
# - Logarithms are natural, and positions are counted from 0, as in Python.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `w` and `A` come back in several exercises.
#   Each exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.

# %%
import numpy as np

# %% tags=["demonstration"]
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything else works without pictures

# %% [markdown]
# ## First a picture
#
# The small model of the first notebook has read `^BADGEBA`. Somewhere in it one letter, the last A, looks back at the
# eight symbols so far: on the left with scores, on the right with weights. Which symbol does it look at most?

# %% tags=["demonstration"]
in_echo = {
    "scores": [13.15, 12.73, 10.07, 15.77, -5.79, 5.31, 3.18, -0.47],
    "weights": [0.065, 0.043, 0.003, 0.889, 0, 0, 0, 0],
}


def draw_echo():
    _, axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
    for axis, (name, heights) in zip(axes, in_echo.items(), strict=True):
        axis.bar_label(axis.bar(range(8), heights, color="tab:blue", edgecolor="black"), fontsize=8)
        axis.set(title=name, xticks=range(8), xticklabels=list("^BADGEBA"), xlabel="key")
        axis.margins(y=0.15)
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* two bar charts over the symbols `^`, B, A, D, G, E, B, A. The scores are 13.15, 12.73, 10.07, 15.77,
# −5.79, 5.31, 3.18 and −0.47. Of the weights D has 0.889, `^` 0.065, the first B 0.043, the first A 0.003, and the
# others have less than 0.0005.
#
# *A guess:* How do the bars on the right come from those on the left? And why is it D that this A looks for?
# Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1. One query, three keys
#
# Your numbers are small enough to do everything in your head. Go through the three
# formulas above as they stand, without any further factor: compare, normalise, average.

# %%
your_numbers("attn_hand")

# %% [markdown]
# 1. `scores`, `weights` and `out`, from top to bottom.
# 2. `large_weight`: suppose that in another example $w_i$ is much larger than the other weights.
#    What does that say?

# %% exercise="attn_hand"
scores = None        # K q, three numbers
weights = None       # three numbers that add up to 1
out = None           # two numbers
large_weight = None  # one of "A", "B", "C", "D"

# %% [markdown]
# ## 2. The same with a scale that matters
#
# Look back at your three scores: there was nothing to choose from. Multiply them all
# by 7, or divide them by anything you like, and the output stays exactly what it was. Exercises of this
# kind are popular, because the numbers come out round, and they have a flaw: a forgotten or a
# wrong scale can't be seen in the result. So here is a query of width $d_k = 4$ whose scores differ,
# and attention as transformers compute it, with a factor inside the softmax:
#
# $$ s_i = q \cdot k_i, \qquad w = \operatorname{softmax}\left(\frac{s}{\sqrt{d_k}}\right),
# \qquad o = \sum_i w_i v_i . $$
#
# Why the root? If the entries of $q$ and $k$ are independent with mean 0 and variance 1, then
# $q \cdot k$ is a sum of $d_k$ terms and has variance $d_k$; dividing by $\sqrt{d_k}$ brings it
# back to 1, whatever the width. Note what the scale depends on: the *width* of the keys, not their
# number, and not the values.

# %%
your_numbers("attn_hand_scaled")

# %% [markdown]
# Go from the raw `scores` to the `scaled` ones, on to the `weights` and to the output, `out`.

# %% exercise="attn_hand_scaled"
scores = None   # K q, three numbers
scaled = None   # K q / √d_k, three numbers
weights = None  # three numbers that add up to 1
out = None      # two numbers

# %% [markdown]
# ## 3. A dictionary that blends
#
# A Python dictionary is a lookup, too: `d["feline"]` compares the query with the keys
# and returns the value of the one that is equal, or fails. Attention is what becomes of this when *equal*
# turns into *similar*: no key fits perfectly, every key fits a little, and the answer is a blend.
#
# The picture is often told with words alone, *feline* asking *cat*, *dog* and *bird*; but nothing can be
# computed before the words are vectors. Here are some: $q$ asks, the rows of $K$ are the keys of
# *cat*, *dog* and *bird*, and the rows of $V$ say what is stored under each, two numbers that you may
# read as (legs, wings). The vectors are drawn by lot, so don't expect biology.
#
# As similarity take the plain dot product, and no scale. (It is not the only choice: the cosine would
# ignore the lengths of the vectors, and a distance grows where a similarity should fall.)

# %%
your_numbers("soft_lookup")

# %% [markdown]
# Compute the similarities, `sims`, their softmax, `w`, and the blend that the dictionary returns, `mix`.

# %% exercise="soft_lookup"
sims = None  # the similarities q · k_i, three numbers
w = None     # softmax(sims), three numbers
mix = None   # what the dictionary returns, two numbers

# %% [markdown]
# Now in words (a person reads this). A *hard* dictionary would return the value of the most similar
# key and nothing else. How does the soft one differ? Use three sentences, one for each of these:
# which entries contribute; what can be learned with gradients, and what can't; which results are
# possible, and what happens to them if all similarities are multiplied by a larger and larger number.

# %% [markdown] exercise="soft_lookup" part="soft_vs_hard"
# *Your answer, about three sentences.*

# %% [markdown]
# ## 4. "cat" looks around
#
# In **self**-attention the questions come from the same place as the answers: every
# word of a sentence is a query, a key and a value. The rows of $X$ are the words *The*, *cat*,
# *sat*, in this order. In a transformer, query, key and value of a word $x$ are three different
# vectors $x W_Q$, $x W_K$, $x W_V$. Here each word simply *is* all three of them.
#
# One often reads a story beside such an example: *cat* attends to *sat*, because a subject looks for
# its verb. Don't believe it of numbers like these. A score is large where two vectors overlap, and
# that is all the computation knows; another choice of vectors tells another story. A tie means that
# there is no winner, and whether the scores are scaled has to be said: so you do both.

# %%
your_numbers("self_attn_cat")

# %% [markdown]
# 1. `projections`: "each word is query, key and value" — what does that make of $W_Q$, $W_K$, $W_V$?
# 2. `row` and `row_scaled`: the weights with which *cat* looks at *The*, *cat*, *sat*; first from
#    unscaled scores, then from scores divided by $\sqrt{d_k}$, where $d_k$ is the width of your words.
# 3. `most`: which words does *cat* give most weight to? All that share the first place, as in `"AC"`.
# 4. `window`: other models slide a fixed window over the text, and mix each word with its $c$
#    neighbours in fixed proportions. Which statements hold for self-attention over $n$ words? (All
#    letters that apply, as in `"AB"`.)
# 5. `out` and `out_scaled`: what *cat* takes home in the two cases, $\sum_j w_j x_j$.
# 6. `A`: the unscaled weights of all three words, row by row. Compare the rows: does each word
#    prefer itself?

# %% exercise="self_attn_cat"
projections = None  # one of "A", "B", "C", "D"
row = None          # three weights, unscaled
row_scaled = None   # three weights, scaled
most = None         # letters, as in "AC"
window = None       # letters, as in "AB"
out = None          # as many numbers as a word has
out_scaled = None   # as many numbers as a word has
A = None            # three rows of three weights, unscaled

# %% [markdown]
# ## 5. A 4 × 4 attention matrix
#
# All words at once, in one formula: with the words as rows of $X$,
#
# $$ A = \operatorname{softmax}\left(\frac{X X^\top}{\sqrt{d_k}}\right), $$
#
# where the softmax runs along each **row**. Row $i$ is what word $i$, as a query, gives to the others;
# column $j$ is what word $j$, as a key, receives. Rows add up to 1. Columns need not: a word can be
# looked at by everyone or hardly by anyone.
#
# The scores $X X^\top$ are symmetric, since $x_i \cdot x_j = x_j \cdot x_i$. Is $A$? Look at your own.
#
# The words are *I*, *love*, *machine*, *learning*:

# %%
your_numbers("self_attn_grid")

# %% [markdown]
# 1. `A`: the matrix, with the scale.
# 2. `most_attended`: for each row the position of its largest weight, counted from 0; of equal ones
#    the first.
# 3. `itself`: it is often taken for granted that a word attends most to itself. Take a word of length 1, and
#    another one at an angle with the cosine 0.4. How long may the other word be at most, so that the first
#    one doesn't attend more to it than to itself?
# 4. `unit_diagonal`: divide every row of $X$ by its length $\sqrt{x_1^2 + x_2^2 + x_3^2}$ and compute the
#    matrix again, scale included. What stands on its diagonal? (Compare it with the rest of the rows.)
# 5. `received`: how much attention does each of the four words get, from all four together?
# 6. The picture of $A$, a *heatmap*, draws each weight as a coloured field, with the first row on top.
#    `vertical`: whose words stand beside the vertical axis then, and which fields add up to 1?

# %% exercise="self_attn_grid"
A = None              # four rows of four weights
most_attended = None  # four positions, counted from 0
itself = None         # one number
unit_diagonal = None  # four numbers
received = None       # four numbers
vertical = None       # one of "A", "B", "C", "D"

# %% [markdown]
# Which words prefer another word to themselves? The next cell draws your `A`, if you have matplotlib; it is not graded. *What you should
# see: a square of four by four fields, each with its weight written into it, so that nobody needs
# the colours to read it. The words stand beside the rows, where they ask, and below the columns,
# where they are looked at. The brightest field of a row is the word that counts most for it.*

# %% tags=["demonstration"]
if plt and np.shape(A) == (4, 4):
    words = ["I", "love", "machine", "learning"]
    fields = np.array(A, dtype=float)
    fig, axes = plt.subplots(figsize=(5, 4))
    axes.imshow(fields, cmap="cividis", vmin=0, vmax=1)
    axes.set_xticks(range(4), words)
    axes.set_yticks(range(4), words)
    axes.set_xlabel("key: is looked at")
    axes.set_ylabel("query: looks")
    for i in range(4):
        for j in range(4):
            ink = "black" if fields[i, j] > 0.5 else "white"
            axes.text(j, i, f"{fields[i, j]:.2f}", ha="center", va="center", color=ink)
    plt.show()

# %% [markdown]
# ### Two heat maps of your own
#
# Maps like this one have been drawn since the first papers on attention, and are often compared by eye. Draw two yourself, side by side: the weights of
# five words, with the scores divided by $\sqrt{d_k} = 2$ and without. The words are *your*, *dog*, *chased*, *my*, *cat*, the rows of your $X$; queries, keys and
# values are the words themselves, as before.

# %%
your_numbers("heat_map")

# %% [markdown]
# The data are graded. A picture of your own needs words beside the rows and below the columns, and what asks and what is looked at beside the axes.
#
# 1. `maps`: the weights of both, a row for each query: `{"scaled": …, "unscaled": …}`.
# 2. `sharpest`: a bar for each word below the maps, the largest weight in its row: `{"scaled": …, "unscaled": …}`, five numbers each. What does the
#    scale do to them?
# 3. `same_grey`: `plt.imshow(table)` gives the smallest number of *this* table one end of its greys and the largest one the other end, and goes in a
#    straight line between them. So one grey means two weights in your two pictures. Which weight of the scaled map has the grey that a weight of ½
#    gets in the unscaled one? (That is why the picture above has `vmin=0, vmax=1`.)

# %% exercise="heat_map"
maps = None       # {"scaled": …, "unscaled": …}, five rows of five weights each
sharpest = None   # {"scaled": …, "unscaled": …}, five numbers each
same_grey = None  # one number

# %% [markdown]
# ## 6. When does a token prefer itself?
#
# Your matrix has shown that a word need not prefer itself: a long vector that points
# roughly the same way gives a larger score than the word's own. With all lengths equal that can't
# happen, in any number of dimensions.
#
# Let $x$ and $y$ have $n$ coordinates and the same length, $\sum_i x_i^2 = \sum_i y_i^2$. The claim is
# that $x \cdot y$ never exceeds $x \cdot x$. So look at the difference, and transform it until its
# sign can be seen. (This is the Cauchy–Schwarz inequality $x \cdot y \le \lVert x \rVert \lVert y \rVert$
# in the one case that is needed here.) A hint: $x \cdot x$ is $y \cdot y$, so it is also the mean of the
# two; what you get smells of a square.
#
# Write the derivation as a list of lines of text, each equal to the one before, as you would type
# formulas in Python, with **a `*` for every product**; a sum over all $i$ is `sum(…, i)`. Behind a `#`
# each line says **why** it follows from the one before: *equal lengths*, *linearity of sums* (a sum of
# sums is one sum, a common factor comes out) or *algebra*. One step at a time: a line that needs two of the
# reasons is two lines. For another sum, with $\sum_i a_i^2 = \sum_i b_i^2$:
#
# ```python
# ["3*sum(a_i^2, i) - sum(a_i, i)",
#  "3*sum(b_i^2, i) - sum(a_i, i)  # equal lengths",
#  "sum(3*b_i^2 - a_i, i)  # linearity of sums"]
# ```
#
# 1. `gap`: from `sum(x_i^2, i) - sum(x_i*y_i, i)` to `sum((x_i - y_i)^2, i)/2`, half of a squared
#    distance.
# 2. `equality`: for which $y$ of the same length is $x \cdot y$ as large as $x \cdot x$?
# 3. `pair`: without equal lengths the claim is wrong. Find two vectors, $x$ and $y$ as rows
#    `[[x1, x2], [y1, y2]]`, for which $\operatorname{softmax}(x \cdot x,\ x \cdot y)$ favours $y$.
# 4. `W_K`: and with a learned projection it is wrong even for equal lengths. Take the tokens
#    $(1, 0)$ and $(0, 1)$, so $X = I$, queries $X$ and keys $X W_K$. Find a $2 \times 2$ matrix
#    with which token 0 prefers token 1.

# %%
your_numbers("self_preference")

# %% exercise="self_preference"
gap = None       # a list of lines, the first is "sum(x_i^2, i) - sum(x_i*y_i, i)"
equality = None  # one of "A", "B", "C", "D"
pair = None      # two rows: x and y
W_K = None       # two rows of two numbers

# %% [markdown]
# ## 7. Code for one query
#
# Now as a function, for any number $m$ of pairs. The formulas are those of the first
# exercise, **without a scale**. It returns two things, the output and the weights. It should
#
# - work for $m = 1$, and for values of any width;
# - stay finite for scores of ten thousand (a shift by the largest score changes no weight);
# - accept whole numbers, and return float32 for float32.
#
# Before you test it with numbers, think about what must hold for *any* numbers. What if there is just
# one pair? If all values are equal? If somebody shuffles the pairs? Each of these is worth points here, and
# each of them is a test that you can write without knowing the answer. (A classic slip passes when $V$
# happens to be square, and only then. So test with a $V$ that isn't.)

# %% exercise="attn_single_query"
import numpy as np


def attend_one(
    q: "(d,) array",
    K: "(m, d) array",
    V: "(m, dv) array",
) -> "(dv,) array, (m,) array":
    """Return the output and the weights of one query over m key–value pairs.

    >>> attend_one(np.zeros(2), np.ones((2, 2)), np.array([[0.0], [4.0]]))
    (array([2.]), array([0.5, 0.5]))
    """
    raise NotImplementedError


# %% [markdown]
# ## 8. Two queries, three keys, wider values
#
# In self-attention many matrices are square, and squares hide mistakes: a product
# with a transposed factor still has a shape that fits. Here nothing is square that needn't be: two
# queries, three keys of width $d_k = 4$, and values of width $d_v = 5$.
#
# $$ S = Q K^\top, \qquad A = \operatorname{softmax}\left(\frac{S}{\sqrt{d_k}}\right), \qquad O = A V . $$
#
# Write down the shapes of $S$, $A$ and $O$ first. An output has the width of the values; the
# number of outputs is that of the queries.

# %%
your_numbers("attn_rect")

# %% [markdown]
# 1. `S`, `A` and `O` for your numbers.
# 2. `A_demo`, with code: the weights for random numbers that everybody can reproduce. Call
#    `np.random.seed(42)`, then draw $Q$ as `np.random.randn(2, 4)` and after it $K$ as
#    `np.random.randn(3, 4)`, and compute the weights, with the scale. (That is NumPy's old generator,
#    which you meet in many published examples. New code uses `np.random.default_rng`, whose numbers
#    are different ones.)

# %% exercise="attn_rect"
import numpy as np

S = None       # raw scores: a row for each query, a column for each key
A = None       # weights, of the same shape
O = None       # a row for each query
A_demo = None  # two rows of three weights

# %% [markdown]
# ## 9. Outputs are averages
#
# Weights are positive and add up to 1, and from these two facts alone follows what
# attention can and can't say. A mean of numbers lies between the smallest and the largest of them.
# A mean of points lies in their **convex hull**: the segment between two points, the triangle of three.
#
# Does every point of it come out, and none beside it? The next cell draws it, if you have matplotlib. *What you see: three values as large squares, the
# corners of a triangle, and 400 outputs for random scores as small dots. The dots fill the triangle;
# not a single one lies outside, although the box drawn with dashed lines around the corners has a
# lot of room left. All scores can be multiplied: by 0 they leave one dot in the middle, by 8 nearly all lie along the sides,
# and most of them near a corner.*

# %% tags=["demonstration"]
def draw_outputs(factor):
    corners = np.array([[1.0, 0.0], [5.0, 1.0], [2.0, 4.0]])
    powers = np.exp(factor * np.random.default_rng(0).normal(size=(400, 3)))
    outputs = powers / powers.sum(axis=1, keepdims=True) @ corners
    figure = plt.Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(*outputs.T, ".", color="0.4", markersize=3, label="outputs")
    axes.plot(*corners.T, "s", color="k", markersize=9, label="values")
    axes.plot([1, 5, 5, 1, 1], [0, 0, 4, 4, 0], "k--", linewidth=1, label="coordinate bounds")
    axes.set_aspect("equal")
    axes.legend()
    near = np.linalg.norm(outputs[:, None] - corners, axis=2).min(axis=1) < 0.5
    return figure, f"With scores times {factor} all 400 outputs lie in the triangle, {near.sum()} of them within 0.5 of a corner."


if plt:
    moving(draw_outputs, "factor of the scores", [0, 0.5, 1, 2, 4, 8], 2)

# %% [markdown]
# 1. `bound`: the proof for one coordinate and three values. Let $v_1, v_2, v_3 \le M$ and
#    $w_1 + w_2 + w_3 = 1$ with $w_j \ge 0$. Transform $M$ minus the output into a sum of terms of which
#    none is negative, one equality a line, in at least two steps, with a `*` for each product. Known
#    are `w1`, `w2`, `w3`, `v1`, `v2`, `v3`, `M`, and that the weights add up to 1. The first line is
#    `"M - (w1*v1 + w2*v2 + w3*v3)"`. (With the smallest value in place of $M$ the same lines
#    prove the lower bound.)
# 2. `length`: the length of an output is bounded, too, for any number of values. Lead
#    `norm(sum(w_k*V_k, k))` to `max(norm(V_k), k)`, the length of the longest value. A line begins with
#    `<=` where it is at least as large as the one before, with `=` where it is equal, and ends with its
#    reason behind a `#`: *triangle inequality*, *norm of a multiple*, *largest term* (each term of a sum
#    with positive weights is at most that with the largest factor), *linearity of sums* (a constant goes
#    out of a sum), *weights sum to one* or *algebra*.
#    For another bound:
#
#    ```python
#    ["norm(2*V_i + V_j)", "<= norm(2*V_i) + norm(V_j)  # triangle inequality",
#     "= 2*norm(V_i) + norm(V_j)  # norm of a multiple"]
#    ```
# 3. Three values are $(0, 0)$, $(4, 0)$ and $(0, 4)$. `weights_11`, `weights_33`: which three numbers with
#    sum 1 lead to the point $(1, 1)$, and to $(3, 3)$, as $\sum_j w_j v_j$? Then `reachable`: which of the two
#    points can be an output of attention?

# %%
your_numbers("attn_hull")

# %% exercise="attn_hull"
bound = None        # a list of lines, the first is "M - (w1*v1 + w2*v2 + w3*v3)"
length = None      # a list of lines, each with its reason
weights_11 = None   # three numbers
weights_33 = None   # three numbers
reachable = None    # one of "A", "B", "C", "D"

# %% [markdown]
# ## 10. From soft to hard
#
# Divide the scores by a **temperature** $\tau > 0$ before the softmax:
# $w = \operatorname{softmax}(s/\tau)$. A high temperature evens the weights out, a low one sharpens
# them, and in the limit $\tau \to 0$ the blend becomes the hard pick, if one key is the best. That is
# tempting: why not start hard? Because of the gradient. How much the weights react to the scores is measured by the matrix
# $\partial w_i / \partial s_j$. For $p = \operatorname{softmax}(z)$ it is
#
# $$ \frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j),
#    \qquad \delta_{ij} = 1 \text{ if } i = j, \text{ else } 0 ; $$
#
# here $z = s/\tau$, and the derivative is taken with respect to $s$: mind the chain rule. Its
# size in one number is the *Frobenius norm*, the root of the sum of all squared entries.
#
# One often reads "the lower the temperature, the smaller the gradient", or that the limit is always
# one-hot. Check both with the scores $s = (2, 1, 0)$; a few lines of NumPy help.
#
# 1. `p`: the largest weight at $\tau = 2,\ 1,\ 0.5,\ 0.1$, in this order.
# 2. `g`: the Frobenius norm of $\partial w / \partial s$ at the same temperatures. (Small numbers need
#    more decimals: a result like 0.00123 is asked for to one percent.)
# 3. `tie`: now the two best keys have exactly the same score. Where does the output go for
#    $\tau \to 0$?

# %%
your_numbers("attn_hard_limit")

# %% exercise="attn_hard_limit"
import numpy as np

p = None    # four numbers
g = None    # four numbers
tie = None  # one of "A", "B", "C", "D"

# %% [markdown]
# Look at `g` once more: it grows before it collapses. The gradient dies only when $\tau$ is far below
# the gap between the scores, and there it dies fast. The scale $1/\sqrt{d_k}$ of the second exercise is a
# temperature of this kind: it keeps wide keys away from that end. The next notebook builds on it.

# %% [markdown]
# ## In a trained model: what does the second A look up?
#
# The small model of the first notebook has read `^BADGEBA`. In its language the motif `BADGE` is said again, so
# a D has to come: the letter that stood behind the first A. In the model's second layer there is a head (we call it
# 1.1, since layers and heads count from 0) whose query at the last A meets eight keys, with these scores after the
# division by $\sqrt 8$:

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* two bar charts over the keys `^`, B, A, D, G, E, B, A. The scores are 13.15, 12.73, 10.07, 15.77, −5.79, 5.31,
# 3.18 and −0.47, so D has the largest one. Its weight is 0.889; `^` has 0.065, the first B 0.043, the first A 0.003,
# and the others have less than 0.0005.
#
# The head looks up *the letter behind an earlier A*, and fetches, to nine tenths, the value of D. A dictionary would
# have given D the weight 1. Softness has a price, then, of one tenth, and a reward: the weights have derivatives, and
# by these the head was found. How can the key of D know that an A stands before it? The layer below
# has told it so; the eleventh notebook takes the model apart.
#
# *Where you meet this.* A head of GPT-2 small or BERT-base does this with 64 numbers per query, over up to 1024 or 512 keys; one
# of Llama-2-7B with 128 numbers over up to 4096.
#
# ## What you can do now
#
# You can compute a row of attention by hand, say what its output can and can't be, and what becomes of it as it grows
# sharper.
#
# The next notebook asks all questions at once, says where the root comes from, and hides what must not be seen.
#
# **To read.**
#
# - Bahdanau, Cho and Bengio (2015), *Neural machine translation by jointly learning to align and translate*: the first
#   soft look-up in translation.
# - Graves, Wayne and Danihelka (2014), *Neural Turing machines*: memory that is addressed by content.
# - Vaswani et al. (2017), *Attention is all you need*, section 3.2: the formula.
# - Nadaraya (1964), *On estimating regression*, and Watson (1964), *Smooth regression analysis*: the same average, in
#   statistics.
# - Alammar (2018), *The illustrated transformer* (jalammar.github.io/illustrated-transformer): each step as a picture.
# - 3Blue1Brown (2024), *Attention in transformers, step-by-step*, chapter 6 of *Deep learning*: queries, keys and values
#   as a film.
