# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Order: sinusoids, rotations, biases
#
# Attention compares contents. Whoever wants *dog bites man* to differ from *man bites dog* has to bring the
# positions in. There is more than one place for that, and each has its classic recipe: this notebook goes through
# three.
#
# | part | you learn |
# |---|---|
# | 1 Without order | what attention can't see, stated precisely and proved |
# | 2 Waves | the encodings of the original transformer: as numbers, as code, as geometry |
# | 3 Rotations | RoPE: turn queries and keys, and only differences are left |
# | 4 Biases | ALiBi and relative vectors: change the scores themselves |
#
# The parts can be done on different days. How to work with it:
#
# - Positions count from 0, angles are in radians, logarithms are natural unless said otherwise.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `norm` come back in several exercises. Each
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
# The small model was trained on texts of 24 symbols. How long may they be? What is shown is how often it is right about
# a letter that it could know, with the same weights, run in four ways. Which of them holds longest?

# %% tags=["demonstration"]
in_echo = {
    "as_trained": [1, 0.89, 0.38, 0.14],
    "squeezed": [1, 0.96, 0.05, 0.12],
    "larger_base": [1, 0.9, 0.92, 0.77],
    "window_of_8": [1, 1, 1, 1],
}


def draw_echo():
    lengths = [24, 32, 48, 96]
    _, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    for (name, shares), style in zip(in_echo.items(), ["o-", "s--", "^-.", "D:"], strict=True):
        axis.plot(lengths, shares, style, label=name.replace("_", " "))
    axis.set(xticks=lengths, xlabel="symbols", ylabel="share of right ones", ylim=(0, 1.05))
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* four lines over the lengths 24, 32, 48 and 96, which all begin at 1. As trained they go on with 0.89,
# 0.38, 0.14; *squeezed* 0.96, 0.05, 0.12; with a *larger base* 0.90, 0.92, 0.77; with a *window of 8* all are 1.
#
# *A guess:* Its weights don't know what length is. What goes wrong, then, in a text that is longer? And why not
# with the window? Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Without order
#
# ### Two sentences, one bag
#
# A small experiment first. Three words, *cat*, *eats* and *fish*, have a vector each:
# the rows of your $X$. (Three one-hot columns, so that the words are told apart, and a constant in
# the last one.) Self-attention without projections, $q = k = v = x$, with the scale
# $1/\sqrt{d_k} = 1/2$, reads two sentences: "cat eats fish" and "fish eats cat".

# %%
your_numbers("order_blind")

# %% [markdown]
# 1. `plain`: the output **at the word "cat"** in the first sentence (first row) and in the second one
#    (second row).
# 2. `property_name`: you have seen an instance of a property. What is it called?
# 3. `ways_in`: where can information on the order be brought in, so that it has an effect on the
#    weights?
# 4. `placed`: the same two outputs, now with the vectors
#    $(\sin p, \cos p, \sin \tfrac{p}{100}, \cos \tfrac{p}{100})$ for the positions $p = 0, 1, 2$ added to
#    the embeddings before anything else is done.

# %% exercise="order_blind"
plain = None          # two rows of four numbers
property_name = None  # one of "A", "B", "C", "D"
ways_in = None        # letters, "AB" for example
placed = None         # two rows of four numbers

# %% [markdown]
# ### The precise statement
#
# Let $f(X)$ be self-attention with projections, without positions and without a mask, for the
# rows of $X$ as tokens. A permutation matrix $P$, with a single 1 in each row and each column and zeros elsewhere, puts the
# rows of $X$ in another order: $PX$. What the experiment showed is a theorem:
#
# $$ f(PX) = P f(X) \quad \text{for every permutation matrix } P . $$
#
# Below are the steps of a proof in a wrong order, and a few that belong to no proof. In them $Q$, $K$, $V$, $S$ and $A$ are
# queries, keys, values, scores and weights for $X$.

# %%
your_numbers("perm_equivariance")

# %% [markdown]
# 1. `proof_order`: the letters of the right steps, in an order in which each follows from those before it.
#    `in_symbols`: the core of it once more, in equations. With $P$ for the permutation and without the scale, lead
#    `softmax(P*X*W_Q*(P*X*W_K)^T)*P*X*W_V` to $P \operatorname{softmax}(X W_Q W_K^\top X^\top)\, X W_V$, one rule a line. Rules: *transpose of a product*;
#    *permutations pass through* softmax, as the rows and columns of a table do; *P^T P = I*.
# 2. `effects`: what becomes of the output, for all inputs? It `"stays"` as it is, it `"moves"` (its rows are permuted in the same way), or `"neither"` is true in general.
#    - `keys_and_values`: keys and values, which may come from other tokens than the queries, are permuted alike.
#    - `queries`: the queries are permuted.
#    - `keys`: the keys are permuted, and nothing else.
#    - `causal`: in self-attention with a causal mask, the rows of $X$ are permuted.
#    - `mask`: in self-attention with any mask $M$, the rows of $X$ are permuted, and the mask becomes $P M P^\top$.
#    - `places`: the rows of $X$ are permuted; then each gets the encoding of its place added before $f$.
# 3. `is_equivariant(f, n, d, rng)`: a tester. It gets a function `f` of arrays of shape $(n, d)$ whose results have $n$ rows, and says whether
#    `f(PX)` is `P f(X)` up to rounding. Let `rng` draw the rows, and think about which orders have to be tried:
#    $n$ is at most 5.

# %% exercise="perm_equivariance"
import numpy as np

proof_order = None  # letters, such as "C A F B"
in_symbols = None   # a list of lines
effects = {  # "stays", "moves" or "neither"
    "keys_and_values": None,
    "queries": None,
    "keys": None,
    "causal": None,
    "mask": None,
    "places": None,
}


def is_equivariant(f: "function of an (n, d) array", n: int, d: int, rng: np.random.Generator) -> bool:
    """Say whether permuting the rows of the input permutes the rows of the result in the same way.

    >>> is_equivariant(np.exp, 3, 2, np.random.default_rng(0))
    True
    >>> is_equivariant(lambda X: np.cumsum(X, axis=0), 3, 2, np.random.default_rng(0))
    False
    """
    raise NotImplementedError


# %% [markdown]
# So order has to be *brought in*. The rest of this notebook is about how.

# %% [markdown]
# ## 2 Waves
#
# ### The first three rows
#
# The vectors that you just added are the encodings of the original transformer at width
# 4. In general the encoding of position $p$ in a model of even width $d$ consists of $d/2$ **pairs**. Pair
# $i = 0, 1, \dots, d/2 - 1$ occupies the columns $2i$ and $2i + 1$:
#
# $$ \mathrm{PE}(p, 2i) = \sin\frac{p}{b^{2i/d}}, \qquad
#    \mathrm{PE}(p, 2i + 1) = \cos\frac{p}{b^{2i/d}}, \qquad b = 10000 \text{ as a rule} . $$
#
# Both columns of a pair share one angle, in radians, and each pair is a point on the unit circle:
# a hand of a clock. The first turns by one radian a position, the last hardly at all. Which hand tells
# position 3 from 4, and which tells 3 from 300?

# %% tags=["demonstration"]
if plt:
    figure, axes = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
    for i, axis in enumerate(axes):
        circle = np.linspace(0, 2 * np.pi, 100)
        axis.plot(np.cos(circle), np.sin(circle), color="0.8")
        for p, style in ((3, "-"), (4, "--"), (300, ":")):
            angle = p / 10000 ** (2 * i / 6)
            axis.plot([0, np.sin(angle)], [0, np.cos(angle)], style, color="black", label=f"p = {p}")
        axis.set(title=f"pair {i}", aspect="equal", xticks=[], yticks=[])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    plt.show()

# %% [markdown]
# *The picture:* three clock faces for the pairs 0, 1, 2 at $d = 6$, with a solid hand for position 3, a
# dashed one for 4, a dotted one for 300. On the first face the hands of 3 and 4 are far apart; on the last one
# they lie on each other, at the top, and that of 300 is well away from both: it has turned by 0.65
# radian, 37 degrees.
#
# **What goes wrong here.** The letter $i$ numbers *pairs*. Some texts call it the dimension
# index, and then it is easily taken for the column. And code often loops over the even columns
# $c = 0, 2, 4, \dots$; then the exponent is $c/d$, because $c$ is $2i$ already.
#
# To let every column move visibly, your base $b$ is smaller than usual:

# %%
your_numbers("pe_hand")

# %% [markdown]
# Give the encodings of your three positions, in the order in which they stand above. The positions
# are used as they are: counting starts from 0, and position 0 is the first of yours.

# %% exercise="pe_hand"
p0 = None  # encoding of your first position, d numbers
p1 = None  # encoding of your second position, d numbers
p2 = None  # encoding of your third position, d numbers

# %% [markdown]
# ### Encodings of any width
#
# Now as a table with a row for each position. Write `positional_encoding` so that it
#
# - fills sines and cosines into their columns, for any base;
# - accepts odd widths: the last pair then consists of its sine alone, and the exponent stays $2i/d$
#   with the $d$ that was asked for;
# - accepts other positions than $0 \dots n-1$, in any order, negative ones and fractions;
# - gives a table without rows for $n = 0$;
# - computes all positions at once. (A loop over columns is fine.)
#
# Then `doubled_exponent`: much code that was published has the exponent $2c/d$ for the even columns $c$.
# Compute both tables for $d = 512$ and ten positions. What is the effect?

# %%
your_numbers("pe_code")

# %% exercise="pe_code"
import numpy as np


def positional_encoding(
    n: int, d: int, base: float = 10000.0, positions: "array (n,), or None" = None
) -> "array (n, d)":
    """Return the sinusoidal encodings of n positions, one to a row.

    >>> positional_encoding(2, 2)
    array([[0.        , 1.        ],
           [0.84147098, 0.54030231]])
    """
    raise NotImplementedError


doubled_exponent = None  # one of "A", "B", "C", "D"

# %% [markdown]
# ### From 6 to 60 thousand
#
# The pair $i$ has made a whole turn when its angle has grown by $2\pi$. The number of positions
# that this takes is its **wavelength** $\lambda_i$ (never a whole number, since $\pi$ is in it).

# %%
your_numbers("pe_wavelengths")

# %% [markdown]
# 1. `wavelengths`: those of all pairs for your width $d$ and your base.
# 2. For the original model, $d = 512$ and base 10000: `longest`, the longest wavelength; `ratio`, that of
#    each wavelength to the one before it; and `short`, the number of pairs whose wavelength is below
#    your `limit`.
# 3. Two pictures, of which the data are graded. Leave in `heatmap` the table of encodings for the
#    positions 0 … 99 at $d = 128$, base 10000, and in `curve` a pair `(x, y)`: $i = 0 \dots 63$ and the
#    logarithm to base 10 of the wavelengths at $d = 128$. Plot both, if you can: `plt.imshow(heatmap)`
#    and `plt.plot(*curve)`. What shape has the curve, and why?

# %% exercise="pe_wavelengths"
wavelengths = None  # d/2 numbers
longest = None      # one number
ratio = None        # one number
short = None        # a whole number
heatmap = None      # an array of shape (100, 128)
curve = None        # (x, y)

# %% [markdown]
# ### Shifting is rotating
#
# Why sines *and* cosines? Because a pair at position $t + k$ is a linear function of the
# pair at position $t$, the same one for every $t$. Write $w$ for the frequency of a pair,
# $a = \cos wk$ and $b = \sin wk$. Derivations are lists of lines of text, each equal to the one before;
# write a `*` for a product.
#
# 1. `sine_steps`: from `sin(w*(t + k))` to a sum of `sin(w*t)` and `cos(w*t)` with the factors `a` and `b`.
# 2. `cosine_steps`: the same for `cos(w*(t + k))`. Mind the signs.
# 3. `T`: the matrix with
#
#    $$ T_k \begin{pmatrix} \sin wt \\ \cos wt \end{pmatrix} =
#       \begin{pmatrix} \sin(w(t + k)) \\ \cos(w(t + k)) \end{pmatrix} , $$
#
#    as a list of two rows of text, in `w` and `k`.
# 4. `product`: $T_k^\top T_k$, and `composition`: $T_k T_l$ in `w`, `k` and `l`, with every entry as simple as
#    it gets. None of these holds a position: the shift is the same everywhere.
# 5. `composition_steps`: prove what you say of $T_k T_l$. Begin with the product of the two matrices, written
#    as `Matrix([[…], […]])*Matrix([[…], […]])`, the first with `k`, the second with `l`; show its entries as they
#    come before you use a theorem.

# %%
your_numbers("pe_shift")

# %% [markdown]
# 6. `T4`: for width $d = 4$ and your base, the $4 \times 4$ matrix which maps the encoding of each position
#    (as a column) to that of the position your $k$ further on. Test it with the encodings of two
#    positions before you go on.

# %% exercise="pe_shift"
sine_steps = None    # a list of lines
cosine_steps = None  # a list of lines
T = None             # two rows of two texts
product = None       # two rows of two texts
composition = None   # two rows of two texts
composition_steps = None  # a list of lines, each a matrix
T4 = None            # four rows of four numbers

# %% [markdown]
# ### Inner products know the distance
#
# Rotations keep inner products. So $\mathrm{PE}(p) \cdot \mathrm{PE}(p + k)$ should depend on
# $k$ and not on $p$; and it does.

# %%
your_numbers("pe_dot")

# %% [markdown]
# 1. `closed_form`: $\mathrm{PE}(p) \cdot \mathrm{PE}(p + k)$ for $d = 6$, three pairs with the frequencies
#    $w_1, w_2, w_3$. Use `k`, `w1`, `w2`, `w3`.
# 2. `small`: its values for $k = 0, 1, 2, 3$ at $d = 4$ with your base; `wide`: those for your three $k$ at
#    $d = 128$ with base 10000.
# 3. `curve`: a pair `(x, y)` with $k = 0 \dots 199$ and the products at $d = 128$, base 10000. Plot it.
# 4. `reading`: what does the curve say?
# 5. `norm`: the length of every encoding at $d = 512$.

# %% exercise="pe_dot"
closed_form = None  # a formula in k, w1, w2, w3
small = None        # four numbers
wide = None         # three numbers
curve = None        # (x, y)
reading = None      # one of "A", "B", "C", "D"
norm = None         # one number

# %% [markdown]
# ### Six claims on trial
#
# These are said about the sinusoidal encodings. A claim is true if it holds for every even
# width $d \ge 8$ with base 10000, and for all positions.
#

# %%
your_numbers("pe_claims")

# %% [markdown]
# 1. `true_set`: the letters of the true ones. Naming them all doesn't pay: a wrong letter takes away.
# 2. `columns`: for $d = 8$ and your number $n$ of positions, the cosine of the angle between the columns 0
#    and 1 of the table, and between the columns 5 and 7.
# 3. For your wide $d$: `step`, the length of the step from a position to the next; `norm`, the length of a
#    row; `neighbours`, the cosine of two neighbouring rows.

# %% exercise="pe_claims"
true_set = None    # letters
columns = None     # two numbers
step = None        # one number
norm = None        # one number
neighbours = None  # one number

# %% [markdown]
# ### Why these functions?
#
# Could two positions have one encoding, at any distance whatever? No, and the first pair alone shows it: its angle is the
# position itself, in radians. How far apart are the two points of this pair at the positions $p$ and $p + k$, which are whole numbers?
#
# 1. `steps`: lead the square of this distance, `(sin(p + k) - sin(p))^2 + (cos(p + k) - cos(p))^2`, to a form without $p$, one
#    equality a line.
# 2. `never_again`: and why is it never 0 for two different positions?

# %%
your_numbers("pe_why")

# %% [markdown]
# 3. `holds`: which of the other statements follow from the formula, for every even width?
# 4. `nearest_return`: of the shifts $k = 1, \dots, 999$, which one brings the *first* pair nearest to
#    where it was? (A computer may look; a good fraction for $\pi$ explains what it finds.)

# %% exercise="pe_why"
steps = None           # a list of lines
never_again = None     # one of "A", "B", "C", "D", "E"
holds = None           # letters
nearest_return = None  # a whole number

# %% [markdown]
# ### Table or formula
#
# One may just as well *learn* a vector for each position. GPT-2 small has such a table with
# 1024 rows of 768 numbers, BERT-base one with 512 rows of 768.

# %%
your_numbers("pe_learned")

# %% [markdown]
# 1. `tables`: how many parameters has the sinusoidal table, and how many has a learned one for your `short`
#    and for your `long` number of positions, at your width $d$?
# 2. `original`: what did the authors of the original transformer use?

# %% exercise="pe_learned"
tables = None    # three whole numbers
original = None  # one of "A", "B", "C", "D"

# %% [markdown]
# Now in words (a person reads this): two advantages of the fixed table, and two of a learned one.

# %% [markdown] exercise="pe_learned" part="advantages"
# *Your answer, about four sentences.*

# %% [markdown]
# ## 3 Rotations
#
# ### Rotate pairs
#
# If shifting is rotating anyway, why not rotate what is compared? **RoPE** leaves the
# embeddings alone and turns queries and keys: the pair in the columns $(2i, 2i + 1)$ of a vector at
# position $p$ turns counter-clockwise by $\theta = p / b^{2i/d}$,
#
# $$ \begin{pmatrix} y_{2i} \\ y_{2i+1} \end{pmatrix} =
#    \begin{pmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{pmatrix}
#    \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix} . $$
#
# Here $d$ is the width of a *head*, not of the model. (Some libraries pair column $i$ with column
# $i + d/2$. After a fixed permutation of the columns that gives the same attention, but weights trained
# with one convention don't work with the other.)
#
# Write `rope(x, positions, base)`. Axes in front of the last two, for batches and heads, are kept.
# Positions may be fractions or negative. Whole numbers in `x` give an array of floats; `x` itself is left as it
# was; an odd width raises a `ValueError`.

# %% exercise="rope_apply"
import numpy as np


def rope(
    x: "array (..., n, d)", positions: "array (n,)", base: float = 10000.0
) -> "array of floats, same shape as x":
    """Turn each pair of neighbouring columns by position / base^(2i/d).

    >>> rope(np.array([[1, 0]]), np.array([1]))
    array([[0.54030231, 0.84147098]])
    """
    raise NotImplementedError


# %% [markdown]
# ### Only the difference counts
#
# Let $R_m$ turn by the angle $mw$. A query at position $m$ and a key at position $n$ have the
# score $(R_m q) \cdot (R_n k) = q^\top R_m^\top R_n k$.
#
# 1. `steps`: take one pair, $q = (x, y)$ and $k = (u, v)$. Turned, they have the score
#
#    ```python
#    "(x*cos(m*w) - y*sin(m*w))*(u*cos(n*w) - v*sin(n*w)) + (x*sin(m*w) + y*cos(m*w))*(u*sin(n*w) + v*cos(n*w))"
#    ```
#
#    Lead it, line by line, to a form in which the positions stand in `cos((n - m)*w)` and
#    `sin((n - m)*w)` alone, with the factors $xu + yv$ and $yu - xv$.
# 2. `product`: the matrix $R_m^\top R_n$ in `m`, `n`, `w`, with one sine or cosine in each entry. (Sines
#    are odd, so the order of $m$ and $n$ matters. More than one printed text has it wrong.)

# %%
your_numbers("rope_relative")

# %% [markdown]
# 3. `score`: the score of your $q$ at your position $m$ with your $k$ at your position $n$, for $w = 1$.
# 4. `relative_test(f, d, rng)`: a test for any encoding `f(x, position)`, which takes a vector of $d$ numbers
#    ($d$ is even) and a position 0, 1, 2, … and returns a vector of $d$ numbers. It returns `True` if the score
#    `f(q, m) @ f(k, n)` stays the same when both positions are moved on by the same number, whatever the
#    vectors and the positions are, and `False` otherwise. Draw what you need with `rng`, which is
#    `np.random.default_rng(…)`. Rounding changes a score by less than $10^{-9}$; what is not relative
#    changes some of them by more than $0.1$ among the first 60 positions.

# %% exercise="rope_relative"
steps = None    # a list of lines
product = None  # two rows of two texts
score = None    # one number


def relative_test(f: "function of a vector and a position", d: int, rng: "random generator") -> bool:
    """Tell whether the scores of encoded vectors depend on the difference of positions alone.

    >>> relative_test(lambda x, position: x, 4, np.random.default_rng(0))  # it ignores the position
    True
    >>> relative_test(lambda x, position: x + position, 4, np.random.default_rng(0))
    False
    """
    raise NotImplementedError

# %% [markdown]
# Two columns of a query and a key, and both move on in the text together, the key two positions behind:

# %% tags=["demonstration"]
def draw_rotation(place):
    figure = plt.Figure(figsize=(4.6, 2.8), layout="constrained")
    axis = figure.subplots(subplot_kw={"projection": "polar"})
    for name, start, at, style in (("query", 0.4, place, "-"), ("key", 2.0, place - 2, "--")):
        axis.plot([0, start + 0.3 * at], [0, 1], style, color="black", label=f"{name} at {at}")
    axis.set(yticks=[])
    axis.legend(loc="upper left", bbox_to_anchor=(1.1, 1.1))
    between = np.degrees(2.0 - 0.4 - 0.3 * 2)
    return figure, f"The query at {place}, the key at {place - 2}: the angle between them is {between:.1f}°."


if plt:
    moving(draw_rotation, "position of the query", list(range(2, 23, 2)), 2)

# %% [markdown]
# *The picture:* two lines from the middle of a circle, the query's solid and the key's dashed, which both turn by 0.3 radians for each position. Wherever they
# are, the angle between them is the same, 57.3°.
#
# What does the score of a fixed query and a fixed key look like, over their distance? The next cell
# draws it for two vectors of 64 numbers drawn at random, and for two equal ones.

# %% tags=["demonstration"]
if plt:
    rng = np.random.default_rng(1)
    distance = np.arange(200)
    frequency = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    for label, style in (("equal vectors", "-"), ("two random vectors", ":")):
        x, y = rng.normal(size=(2, 32)) + 1j * rng.normal(size=(2, 32))
        y = x if style == "-" else y
        score = (np.conj(x) * y * np.exp(1j * np.outer(distance, frequency))).real.sum(axis=1)
        axis.plot(distance, score / 8, style, color="black", label=label)
    axis.set(xlabel="distance of the key from the query", ylabel="score / √64")
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* two lines over the distances 0 to 199. The solid one, for equal vectors, starts at its
# largest value, falls within the first ten positions and then wavers. The dotted one, for different
# vectors, wavers around 0 with no preference for near keys. RoPE makes scores *depend* on the distance;
# that they fall with it is no law.
#
# *Where you meet this.* RoPE is in Llama, Mistral, Qwen and most open models of today. Its base decides
# how slow the slowest pair is: with heads of width 128 the longest wavelength is 54,410 positions at the base 10,000
# of Llama 2 and 2,559,196 at the base 500,000 of Llama 3.
#
# ### Measure the relative information
#
# Both recipes promise scores that know the distance. How far is that true? Take two fixed
# contents, $x$ for the queries and $y$ for the keys, drawn with your seed:
#
# ```python
# rng = np.random.default_rng(seed)
# x, y = rng.normal(size=32), rng.normal(size=32)
# ```

# %%
your_numbers("rope_vs_pe")

# %% [markdown]
# 1. `added`: with encodings of width 32 (base 10000) added to both, compute the 64 scores of $x$ at the
#    position $m + \mathrm{offset}$ with $y$ at the position $m$, for $m = 0, \dots, 63$ (no scale, no
#    projections). What is their standard deviation (`np.std`)?
# 2. `turned`: the same with rotations in place of sums.
# 3. Write `offset_r2(S)`: the share of the variance of the table $S$ that the offset $i - j$ explains,
#
#    $$ R^2 = 1 - \frac{\sum_{ij} (S_{ij} - \bar S_{i-j})^2}{\sum_{ij} (S_{ij} - \bar S)^2} , $$
#
#    where $\bar S_o$ is the mean of the entries with offset $o$, and $\bar S$ that of all entries.
#    Use it on your 64 × 64 tables.

# %% exercise="rope_vs_pe"
import numpy as np

added = None   # one number
turned = None  # one number


def offset_r2(S: "array (n, n), not constant") -> float:
    """Return the share of the variance of S that is explained by i − j.

    >>> round(offset_r2(np.array([[1.0, 2.0], [3.0, 1.0]])), 6)
    1.0
    """
    raise NotImplementedError


# %% [markdown]
# In words (a person reads this): what do the two shares say, and what don't they say about a model that
# has been trained?

# %% [markdown] exercise="rope_vs_pe" part="reading"
# *Your answer, about four sentences.*

# %% [markdown]
# ## 4 Biases
#
# ### Linear distance penalties
#
# The third place is the scores. **ALiBi** lowers a score by the distance times a number, the
# *slope*, which each head has for itself:
#
# $$ s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} - m\,(i - j) \quad\text{for } j \le i, \qquad
#    s_{ij} = -\infty \quad\text{for } j > i . $$
#
# The $h$ heads have the slopes $2^{-8/h}, 2^{-16/h}, \dots, 2^{-8}$: a geometric sequence that starts at
# its own ratio. How far does a head look then?

# %% tags=["demonstration"]
if plt:
    past = np.arange(40)
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    for head, style in ((1, "-"), (3, "--"), (5, ":")):
        weight = np.exp(-(2.0**-head) * past)
        axis.plot(past, weight / weight.sum(), style, color="black", label=f"slope 1/{2**head}")
    axis.set(xlabel="steps into the past", ylabel="weight, equal scores")
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* three falling curves over 40 steps into the past, for scores that are equal otherwise. With slope 1/2
# the weight is nearly all on the last five tokens; with 1/8 it reaches about twenty; with 1/32 the
# curve falls slowly, to 30 % of its first value at the last step. Some heads look near, some far.

# %%
your_numbers("alibi_bias")

# %% [markdown]
# 1. `slopes`: those of your $h$ heads.
# 2. `alibi(n, slopes, m)`: the biases of all heads for $n$ queries and $m$ keys ($m = n$ if it is not
#    given). With more keys than queries, as with a cache, the queries are the **last** $n$ of the $m$
#    positions.
# 3. `weights`: all scores before the penalty are equal. What are the weights of the query in your `row` (the first
#    one is row 0), and of the last query, among your $n$ tokens and with your `slope`?
# 4. `parameters`: how many parameters are learned for all this?

# %% exercise="alibi_bias"
import numpy as np

slopes = None      # h numbers
weights = None     # two rows of n numbers
parameters = None  # a whole number


def alibi(n: int, slopes: "array (h,)", m: "int >= n, or None" = None) -> "array (h, n, m)":
    """Return the bias of each head: −slope · distance, and −∞ for keys that are still to come.

    >>> alibi(2, [0.5])
    array([[[ 0. , -inf],
            [-0.5,  0. ]]])
    """
    raise NotImplementedError


# %% [markdown]
# ### A rewriting
#
# Under a causal mask the same weights come out if *no distance* is computed at all: instead of
# the penalty $-m(i - j)$, every key gets the bonus $m j$ for its own position.
#
# 1. `steps_taken`: show it for the weight of key $j$. Begin with
#    `exp(s_j - m*(i - j))/sum(exp(s_k - m*(i - k)), k)` and end with $e^{s_j + mj} / \sum_k e^{s_k + mk}$; the sums
#    run over the keys that the query $i$ may see. Show the factor that cancels.
# 2. `weight_ratio`: the scores before the penalty are equal, and two keys are your number of steps apart. What is
#    the weight of the farther one, divided by that of the nearer one, for your slope?
# 3. `without_mask`: does the rewriting hold for the penalty $-m\,|i - j|$ without a mask?

# %%
your_numbers("alibi_shift")

# %% exercise="alibi_shift"
steps_taken = None   # a list of lines
weight_ratio = None  # one number
without_mask = None  # one of "A", "B", "C"

# %% [markdown]
# ### Content plus location
#
# In general a score may be a sum: a term $f_j$ for what the key says and a term $g_j$ for
# where it stands. Your query at position $i$ sees four keys with the content scores $f$; the location
# term is $g_j = -|i - j|$. Nothing is masked, nothing is divided.

# %%
your_numbers("relative_bias")

# %% [markdown]
# 1. `content`, `location`, `both`: the weights $\operatorname{softmax}(f)$,
#    $\operatorname{softmax}(g)$ and $\operatorname{softmax}(f + g)$.
# 2. `product_steps`: let $p = \operatorname{softmax}(f)$ and $q = \operatorname{softmax}(g)$, with the
#    sums $X = \sum_k e^{f_k}$ and $Y = \sum_k e^{g_k}$. Lead `exp(f_j + g_j)/sum(exp(f_k + g_k), k)` to
#    $p_j q_j / \sum_k p_k q_k$, one equality a line.
# 3. `counts`: three whole numbers. A relative position may be a learned vector for each offset $j - i$, clipped to
#    $-K \dots K$. How many offsets are there with your `clip` as $K$? How many parameters, with vectors of your
#    `width`? And how many offsets without clipping in a text of your `length`?
# 4. `inside`: does the location term belong inside the division by $\sqrt{d_k}$?
# 5. `toeplitz_bias(b, n)`: the $n \times n$ table whose row $i$, column $j$ holds the bias of the offset $j - i$.
#    `b` has one bias for each offset, from $-K$ up to $K$; offsets beyond are clipped.

# %% exercise="relative_bias"
import numpy as np

content = None        # four numbers
location = None       # four numbers
both = None           # four numbers
product_steps = None  # a list of lines
counts = None         # three whole numbers
inside = None         # one of "A", "B", "C"


def toeplitz_bias(b: "array, a bias for each offset", n: int) -> "array (n, n)":
    """Return the biases of all offsets j − i, clipped to −K … K.

    >>> toeplitz_bias(np.array([10.0, 20.0, 30.0]), 3)
    array([[20., 30., 30.],
           [10., 20., 30.],
           [10., 10., 20.]])
    """
    raise NotImplementedError


# %% [markdown]
# ### A vector for every offset
#
# A bias says that near keys count more. It can't say that *this* word looks for a verb two places on. For that the offset
# has to meet the query. So let each offset have a vector $r$ of its own, and let the query meet it as it meets the key:
#
# $$ s_{ij} = \frac{q_i \cdot k_j + q_i \cdot r_{\operatorname{clip}(j - i)}}{\sqrt{d_k}} . $$
#
# Offsets are clipped to $-K \dots K$. The $2K + 1$ vectors are the rows of a table $R$, that of the offset $-K$ first.
#
# *An example* with $K = 1$, $q = (1, 2)$ and $d_k = 2$: the key $(3, 0)$ stands two places before the query, and the row for the offset
# $-1$ is $(0, 1)$. The score is $(3 + 2)/\sqrt 2 = 3.536$. Your query stands at position $i$ of four, the first of which is 0; $K = 1$.

# %%
your_numbers("shaw_score")

# %% [markdown]
# 1. `rows`: which row of $R$ does each of the four keys get? Rows are counted from 0.
# 2. `scores`: the four scores of your query.
# 3. `relative_scores(Q, K, R)`: the scores of all queries. `Q` and `K` have the shape $(\dots, n, d)$, where the axes in front belong to
#    examples and heads, and `R` has the shape $(2K + 1, d)$ and serves all of them. Mind how it is computed: a vector laid out for
#    each pair of a query and a key would be $n^2 d$ numbers, and there are $2K + 1$ different ones. It is counted that no array
#    is as large.

# %% exercise="shaw_score"
import numpy as np

rows = None    # four whole numbers
scores = None  # four numbers


def relative_scores(
    Q: "array (…, n, d)", K: "array (…, n, d)", R: "array (2K + 1, d)"
) -> "array (…, n, n)":
    """Return the scaled scores of contents and of offsets j − i, clipped to −K … K.

    >>> relative_scores(np.eye(2), np.zeros((2, 2)), np.array([[2.0, 4.0], [0.0, 0.0], [6.0, 8.0]])) * 2**0.5
    array([[0., 6.],
           [4., 0.]])
    """
    raise NotImplementedError


# %% [markdown]
# **Where you meet this.** Shaw's models had such vectors for the values, too, and clipped at 16. T5 kept one number for each offset and head, which is
# the bias of the last exercise; Transformer-XL and DeBERTa let positions meet contents in further ways.

# %% [markdown]
# ## In a trained model: does it count positions or distances?
#
# The small model of the first notebook rotates its queries and keys, with base 100, and was trained on 24 symbols. Its scores depend
# on distances alone, as you have proved. How long may a sequence be, then? Four ways of running the same weights; shown is
# the share of right ones among the last eight letters.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* four lines over the lengths 24, 32, 48 and 96. As trained, the shares are 1, 0.89, 0.38, 0.14. With positions squeezed into 24, that is multiplied by $24/n$,
# they are 1, 0.96, 0.05, 0.12; with the base $100\,(n/24)^{4/3}$, 1, 0.90, 0.92, 0.77. If each query sees its last eight keys alone, all of them are 1.
#
# Distances are what it counts, but it knows only those that it has met: beyond 24 symbols there are keys farther away than any in training, and
# their scores are anybody's guess. Squeezing brings them back, but blurs the neighbours, which this
# model has to tell apart. A larger base leaves neighbours sharp. The window removes what was never trained, and nothing is lost, since
# a motif has at most eight letters. *Defined for any length* is a fact about a formula; *works at any length* is one about a model.

# %% [markdown]
# ## What you can do now
#
# You can say precisely what attention can't see, build the three classic remedies, test each for what it
# promises, and tell what is *defined* for any length from what a model has *learned* about it.
#
# The next notebook builds a whole block around attention: normalisation, a feed-forward network, and the path
# around both.
#
# **To read.**
#
# - Vaswani et al. (2017), *Attention is all you need*, section 3.5: the waves, in one paragraph.
# - Shaw, Uszkoreit & Vaswani (2018), *Self-attention with relative position representations*: offsets instead
#   of positions.
# - Su et al. (2021), *RoFormer: Enhanced transformer with rotary position embedding*: the rotations.
# - Press, Smith & Lewis (2022), *Train short, test long*: ALiBi, and what it does beyond the training length.
# - Kazemnejad et al. (2023), *The impact of positional encoding on length generalization in transformers*: no
#   encoding at all is a serious competitor under a causal mask.
# - Biderman et al. (2021), *Rotary embeddings: A relative revolution* (blog.eleuther.ai/rotary-embeddings): the rotations
#   with pictures and code.
