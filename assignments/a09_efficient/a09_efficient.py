# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Cheaper attention
#
# Standard attention compares every query with every key, and so its price grows like $n^2$. There are many
# ways to pay less, and each gives something up. *Move a pair of brackets*, and the exponential has to go.
# *Estimate* the exponential, and there is noise. *Shorten* the keys, and positions get mixed. *Leave pairs
# out*, and some tokens hear from each other late. This notebook derives each way, counts what it
# saves, and looks for what it can't do.
#
# | part | you learn |
# |---|---|
# | 1 Brackets | linear attention: derived, by hand, in code, as a recurrence; what few features can't express |
# | 2 Random features | an unbiased estimate of the exponential: its missing factor, its variance, its code |
# | 3 Fewer keys | projections along the sequence, the best matrix of low rank |
# | 4 Fewer pairs | windows, strides, global and random keys; how many layers it takes to reach everyone |
# | 5 The table | every method with its cost |
#
# The parts can be done on different days. How to work with it:
#
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`). They
#   may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `edges` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - Linear time is *counted*, not timed: the grader adds up the arithmetic and the memory of your functions
#   for several $n$. A slow machine costs you nothing.

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
# The small model may look at all symbols before. Here some of that is taken away: it sees the last few symbols alone,
# or keeps the few largest weights of each row, or compares in another way, which would be cheaper. What is shown is
# what a letter costs that could be known; less is better. What can it do without?

# %% tags=["demonstration"]
in_echo = {
    "windows": [7.3565, 6.3735, 3.0502, 0.0007, 0.0006],
    "largest": [0.0225, 0.0027, 0.0013],
    "linear": [4],
}


def draw_echo():
    kinds = [f"last {w}" for w in (2, 4, 6, 8, 12)] + [f"largest {k}" for k in (1, 2, 3)] + ["elu + 1"]
    _, axis = plt.subplots(figsize=(7.5, 3), layout="constrained")
    heights = [height for values in in_echo.values() for height in values]
    bars = axis.bar(range(9), heights, color=["tab:blue"] * 5 + ["tab:orange"] * 3 + ["tab:gray"], edgecolor="black")
    axis.bar_label(bars, fmt="%.4g", fontsize=8)
    axis.axhline(2.303, linestyle="--", color="black")
    axis.set(yscale="log", ylim=(1e-4, 30), xticks=range(9), ylabel="loss on repeats, nats")
    axis.set_xticklabels(kinds, fontsize=8)
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* nine bars on a logarithmic axis, and a dashed line at 2.303, the price of a guess among ten letters.
# The last 2, 4, 6, 8, 12 symbols: 7.36, 6.37, 3.05, 0.0007, 0.0006. The largest 1, 2, 3 weights: 0.0225, 0.0027,
# 0.0013. The other comparison (elu + 1): 4.0.
#
# *A guess:* Between 6 and 8 symbols something ends. What? And why is a single weight nearly enough? Keep your
# guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 Brackets
#
# ### Where the brackets go
#
# The softmax weight of key $j$ for query $i$ is proportional to $e^{q_i \cdot k_j/\sqrt{d_k}}$. Suppose that a
# similarity can be written as a product of *features*, $\varphi(q_i) \cdot \varphi(k_j)$, where $\varphi$ maps a
# vector to $D$ numbers, such that no product is negative. The output is still a weighted mean:
#
# $$ o_i = \frac{\sum_j \bigl(\varphi(q_i) \cdot \varphi(k_j)\bigr)\, v_j}{\sum_j \varphi(q_i) \cdot \varphi(k_j)} . $$
#
# Two things get lost in short accounts of this. A softmax needs a whole row of scores, so it makes no
# sense to approximate "the softmax of one score"; what a feature map may approximate is the
# exponential, scale $1/\sqrt{d_k}$ included. And without the **denominator** the weights
# don't add up to 1.
#
# Now the sum over the keys can be pulled inside. Call the features of one query $q_a$ and those of the keys
# $k_{ja}$, with $a = 1, \dots, r$ (write `r` for $D$ here), and take one column $v_j$ of the values. Define
#
# $$ S_a = \sum_j k_{ja}\, v_j, \qquad z_a = \sum_j k_{ja} . $$
#
# 1. `row_steps`: show that the output needs nothing of the keys but $S$ and $z$. In text, a sum over $j$ is
#    `sum(…, j)`, a sum over the features is `sum(…, a, 1, r)`, in LaTeX `\sum_{a=1}^{r}` with both limits, and
#    $k_{ja}$ is `k_ja`. Start with
#
#    `sum(sum(q_a*k_ja, a, 1, r)*v_j, j)/sum(sum(q_a*k_ja, a, 1, r), j)`
#
#    and end with $\sum_{a=1}^{r} q_a S_a \big/ \sum_{a=1}^{r} q_a z_a$, one equality a line. Rules: *linearity of sums*
#    (a factor that doesn't depend on the index goes in or out), *order of sums*, *definition*. One rule a
#    line, please, above and below at once if you like. You may add the reason: `…  # order of sums`.
#
#    `chunk_steps`: sums need not be begun anew when more keys come. Let now $Q$, $K$ be whole matrices of features, and let keys and
#    values come in two chunks, one below the other, with $S_t = K_t^\top V_t$. Lead `Q*K^T*V` to $Q S_1 + Q S_2$. In text,
#    `[K_1; K_2]` are blocks below each other, `[A, B]` blocks side by side, and `K^T` is a transpose. Rules: *definition*
#    (of $K$, $V$, $S_1$, $S_2$), *product of blocks*; put the blocks in first.
# 2. `weights_first`, `keys_first`: the madds of $\bigl(\varphi(Q)\, \varphi(K)^\top\bigr) V$ and of
#    $\varphi(Q) \bigl(\varphi(K)^\top V\bigr)$, without the denominator and without the feature map itself,
#    for $n$ queries, $m$ keys, $D$ features and values of width $d_v$. Formulas in `n`, `m`, `D`, `d_v`.
# 3. `counts`: both in numbers, for your sizes.

# %%
your_numbers("lin_assoc")

# %% [markdown]
# 4. `pays_off`: let $n = m$ and $D = d_v = d$. Which class does the second order have, and when is it
#    the cheaper one?

# %% exercise="lin_assoc"
row_steps = None      # a list of lines
chunk_steps = None    # a list of lines
weights_first = None  # a formula in n, m, D, d_v
keys_first = None     # a formula in n, m, D, d_v
counts = None         # two whole numbers: weights first, keys first
pays_off = None       # one of "A", "B", "C", "D", "E"

# %% [markdown]
# ### By hand
#
# A worked example first. One feature, $\varphi(q) = 2$, two keys with $\varphi(k_1) = 1$ and
# $\varphi(k_2) = 3$, and the values 5 and 1. Then $S = 1 \cdot 5 + 3 \cdot 1 = 8$ and $z = 1 + 3 = 4$. The
# numerator is $2 \cdot 8 = 16$, the denominator $2 \cdot 4 = 8$, and the output 2. The slow way agrees: the
# products are 2 and 6, the weights $\tfrac14$ and $\tfrac34$, and $\tfrac14 \cdot 5 + \tfrac34 \cdot 1 = 2$.
#
# Now two features, three keys and values of width 2. `q` holds the features of the query, `K` those of the keys as
# rows:

# %%
your_numbers("lin_hand")

# %% [markdown]
# 1. `S`, `z`: what is kept of the keys and values. `S` has a row for each feature.
# 2. `numerator`, `denominator`, `out`: the output of the query, and what it is made of.
# 3. `weights`: the weights of the three keys, by which the values would give the same output.

# %% exercise="lin_hand"
S = None            # two rows of two numbers
z = None            # two numbers
numerator = None    # two numbers
denominator = None  # one number
out = None          # two numbers
weights = None      # three numbers

# %% [markdown]
# ### Linear attention in code
#
# A weighted mean needs weights that are not negative and do not all vanish. Where all
# *features* are strictly positive, every product of two of them is, and so is every denominator. (That is enough, not
# necessary.) A popular map is $\operatorname{elu}(x) + 1$, which is $x + 1$ for $x > 0$ and $e^x$ for $x \le 0$, entry by entry.
# In some published code one finds $\max(x, 0) + 1$
# in its place, which can't tell one negative number from another, and a small $\varepsilon$ added to
# the denominator "for stability". What are the two maps of $-1$ and of $-3$?

# %% tags=["demonstration"]
if plt:
    x = np.linspace(-4, 2, 200)
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    axes.plot(x, np.where(x > 0, x + 1, np.exp(x)), "k-", label="elu(x) + 1")
    axes.plot(x, np.maximum(x, 0) + 1, "k--", label="max(x, 0) + 1")
    axes.set(xlabel="$x$", ylabel="feature", ylim=(0, 3))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* both curves over $x$ from −4 to 2. Right of 0 they are one straight line. Left of 0 the solid
# curve falls smoothly from 1 towards 0, while the dashed one stays at 1.
#
# 1. `linear_attention(Q, K, V, phi=elu1, eps=0.0)`, for `Q` of shape `(…, n, d_k)`, `K` of shape `(…, m, d_k)` and `V` of shape
#    `(…, m, d_v)`, returns the outputs, `(…, n, d_v)`. `phi` is a function from `(…, d_k)` to `(…, D)`,
#    applied to queries and keys; `eps` is added to the denominators. `elu1` is given.
#    (The notebook on cost had this function for one map and one head. Now it is for any.)
#    Work and memory must grow like $n + m$: there is no array with $n \cdot m$ entries, and no loop that
#    makes up for it.
# 2. `elu1_values`, `relu1_values`: both maps at $x = -2, -1, 0, 1$.
# 3. One query and one key, $D = 1$, $q = k = -8$, $v = 1$, with elu + 1. `with_epsilon`: the output if $10^{-6}$ is
#    added to the denominator. `without_epsilon`: and if nothing is.
# 4. `who`: who proposed elu + 1 for linear attention?

# %%
your_numbers("lin_attn")

# %% exercise="lin_attn"
import numpy as np

elu1_values = None      # four numbers
relu1_values = None     # four numbers
with_epsilon = None     # one number
without_epsilon = None  # one number
who = None              # one of "A", "B", "C", "D"


def elu1(x):
    """Return elu(x) + 1, entry by entry."""
    return np.exp(np.minimum(x, 0)) + np.maximum(x, 0)


def linear_attention(
    Q: "(…, n, d_k)", K: "(…, m, d_k)", V: "(…, m, d_v)", phi=elu1, eps: float = 0.0
) -> "(…, n, d_v)":
    """Return attention with the weights φ(q)·φ(k), normalised, in linear time.

    >>> linear_attention(np.zeros((1, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    array([[1.5]])
    """
    raise NotImplementedError

# %% [markdown]
# ### A transformer that is a recurrence
#
# Under a causal mask the sums of row $t$ run over the keys up to $t$. They are *prefix sums*,
# and each of them is the one before plus one term:
#
# $$ S_t = S_{t-1} + \varphi(k_t)\, v_t^\top, \qquad z_t = z_{t-1} + \varphi(k_t), \qquad
#    o_t = \frac{\varphi(q_t)^\top S_t}{\varphi(q_t) \cdot z_t} . $$
#
# That is a recurrent network: a state of fixed size goes from token to token. No cache grows, and the
# thousandth token costs what the first one did. (The price: everything the model remembers must fit into
# $S$ and $z$.) For training, where all tokens are known, a Python loop over them is slow. Better: go through the
# tokens in **chunks**. What lies before a chunk comes from the state, what lies within it from a small triangular
# matrix. A cumulative sum of all $S_t$ works too, and holds $n \cdot D \cdot d_v$ numbers.
#
# 1. `causal_linear_attention(Q, K, V)` for shapes `(n, d_k)`, `(n, d_k)`, `(n, d_v)`, with elu + 1, which is
#    given. Work and memory grow like $n$; a loop over tokens is accepted.
# 2. `recurrent_step(state, q, k, v)` takes the state `(S, z)`, `S` of shape `(d_k, d_v)` and `z` of shape
#    `(d_k,)`, and one token `q`, `k`: `(d_k,)`, `v`: `(d_v,)`. It returns the new state and the output `(d_v,)`.
#    Every step costs the same.
# 3. For your numbers. `state_numbers`: how many numbers are in the state for $D$ features and values of width $d_v$?
#    `cached_numbers`: how many does softmax attention cache at $t$ tokens, with keys of width $D$ and values of width
#    $d_v$? `break_even`: at how many tokens are both the same?

# %%
your_numbers("lin_causal")

# %% exercise="lin_causal"
import numpy as np

state_numbers = None   # a whole number
cached_numbers = None  # a whole number
break_even = None      # one number


def elu1(x):
    """Return elu(x) + 1, entry by entry."""
    return np.exp(np.minimum(x, 0)) + np.maximum(x, 0)


def causal_linear_attention(Q: "(n, d_k)", K: "(n, d_k)", V: "(n, d_v)") -> "(n, d_v)":
    """Return causal attention with the weights φ(q)·φ(k), normalised, in linear time.

    >>> causal_linear_attention(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    array([[1. ],
           [1.5]])
    """
    raise NotImplementedError


def recurrent_step(state: "(S, z)", q: "(d_k,)", k: "(d_k,)", v: "(d_v,)") -> "(S, z), (d_v,)":
    """Return the state after this token, and its output.

    >>> (S, z), o = recurrent_step((np.ones((1, 1)), np.ones(1)), np.zeros(1), np.zeros(1), np.ones(1))
    >>> S, z, o
    (array([[2.]]), array([2.]), array([1.]))
    """
    raise NotImplementedError

# %% [markdown]
# ### What few features can't express
#
# The price of moving the brackets stands in one number. With $D$ features the matrix of
# weights is a product of an $n \times D$ and a $D \times n$ matrix, however long the text is. A head that is to copy, where each
# token looks at one key and each at another one, needs weights near a permutation matrix. How near can it come?
#
# For distances between matrices take the Frobenius norm, the root of the sum of all squared entries. The matrix of rank
# $D$ that is nearest to $M$ keeps the $D$ largest singular values of $M$ and drops the others (Eckart and
# Young); the squares of those that were dropped add up to the square of the distance.

# %%
your_numbers("lin_rank")

# %% [markdown]
# 1. `steps`: a row of $\varphi(Q)\, \varphi(K)^\top$ is divided by its sum. Is that still a product through $D$ features? Take one query with the
#    features $f_a$, $a = 1, \dots, r$ (write `r` for $D$), and keys $j$ with the features $g_{ja}$. Lead its weight for key $j$, which is
#    `sum(f_a*g_ja, a, 1, r)/sum(sum(f_a*g_ka, a, 1, r), k)`, to $\sum_a u_a\, g_{ja}$, one equality a line. Known are $s_a = \sum_k g_{ka}$,
#    $z = \sum_a f_a s_a$ and $u_a = f_a / z$. Rules: *order of sums*, *linearity of sums*, *definition*.
#    `conclusion`: what does this say about the rank?
# 2. `rank`: which rank do the weights have for your $n$ and $D$, unless features happen to depend on each other?
# 3. `distance`: how near can a matrix of rank $D$ come to the $n \times n$ identity?
# 4. `softmax_rank`: and which rank have *softmax* weights of $n = 8$ tokens with $d_k = 3$? Try
#    `np.linalg.matrix_rank`, with the tolerance $10^{-10}$, on the softmax of the scores of random queries and keys with
#    standard normal entries. (Much longer ones make rows nearly one-hot; two rows with the same best key then look alike to a computer.)
# 5. `rest`: the weights $\operatorname{softmax}(20\, I)$ of three tokens are nearly the identity. Which weight has each row left for
#    the two other keys together? In units of $10^{-9}$.

# %% exercise="lin_rank"
steps = None         # a list of lines
conclusion = None    # one of "A", "B", "C", "D"
rank = None          # a whole number
distance = None      # one number
softmax_rank = None  # a whole number
rest = None          # one number, in units of 1e-9

# %% [markdown]
# ### Which similarities give weights?
#
# To be divided by their sum and called weights, similarities must not be negative, and not all of a
# row may be 0. A page on kernels says instead that a similarity has to be a *positive definite kernel*, one for which
# $\sum_{ij} c_i c_j \kappa(x_i, x_j) \ge 0$ for all numbers $c$. That is another property. Take each similarity
# below by itself, and look for a query and keys that break it.

# %%
your_numbers("kernel_validity")

# %% [markdown]
# 1. `valid`: which similarities give non-negative weights with a positive sum in **every** row, whatever the
#    vectors are? (All letters that apply. Wrong letters take away: naming all of them earns nothing.)
# 2. `dots`, `cosines`: two witnesses. Your query `q` and your two keys, the rows of `K`: their dot products with
#    the query, and $\cos(\texttt{omega} \cdot (q_1 - k_1))$, where $q_1$ and $k_1$ are the first entries, in radians.
#    Both kernels are positive definite.

# %% exercise="kernel_validity"
valid = None    # letters, as in "AB"
dots = None     # two numbers
cosines = None  # two numbers

# %% [markdown]
# ## 2 Random features
#
# ### The missing Gaussian factor
#
# elu + 1 is *another* similarity, and no number of tokens brings it nearer to the exponential. Can a
# product of features be the exponential? Not exactly, with finitely many of them. But on average, yes. Draw
# $\omega$ with independent standard normal entries. For one entry
#
# $$ \mathbb{E}\, e^{\omega z} = \frac{1}{\sqrt{2\pi}} \int e^{\omega z - \omega^2/2}\, \mathrm{d}\omega , $$
#
# and the exponent is a square and something that doesn't depend on $\omega$. What does that give for
# $e^{\omega \cdot q}\, e^{\omega \cdot k} = e^{\omega \cdot (q + k)}$, and which factor makes
# it the $e^{q \cdot k}$ that softmax needs?
#
# **What is often said.** One finds the features $\sqrt{2/m}\; e^{\omega_j \cdot x}$ for $j = 1, \dots, m$, and that they are
# unbiased. You will compute what they estimate.
#
# 1. `constant`: write $\omega z - \omega^2/2 = -(\omega - z)^2/2 + c$. What is $c$, as a formula in `z`? (Then
#    $\mathbb{E}\, e^{\omega z} = e^c$, since the rest is a normal density that has been moved.)
# 2. `mean_steps`: for vectors the entries are independent, so that $\mathbb{E}\, e^{\omega \cdot z} = e^{\lVert z \rVert^2/2}$.
#    Lead `E(exp(sum(w_k*x_k, k))*exp(sum(w_k*y_k, k)))` to
#    $e^{x \cdot y}\, e^{\lVert x \rVert^2/2}\, e^{\lVert y \rVert^2/2}$, written with sums as well, one equality a line. Rules: *linearity of
#    sums*, *normal expectation* (the mean of an exponential, as above, for any vector in the place of $z$) and
#    algebra. One rule a line, please.
# 3. `feature`: feature $j$ of $x$, so that the product of the features of $q$ and $k$, added up over $m$ of them, is $e^{q
#    \cdot k}$ on average. A formula in `w` (for $\omega_j$), `x` and `m`; `w*x` is the product of the two vectors, `norm(x)` the
#    length of $x$.
# 4. `target`: $e^{q \cdot k}$ for your `q` and `k`. `expected`: what the product of the features
#    $\sqrt{2/m}\; e^{\omega_j \cdot x}$ is on average.
# 5. Do normalised weights get away with those features? Take your query `p` and your keys, the rows of `K`. `right`:
#    the weights $\operatorname{softmax}(K p)$. `wrong`: the weights to which those features tend for $m \to \infty$.
# 6. `root`: softmax attention divides scores by $\sqrt{d_k}$. Where does that go here?

# %%
your_numbers("favor_derive")

# %% exercise="favor_derive"
constant = None    # a formula in z
mean_steps = None  # a list of lines
feature = None     # a formula in w, x, m
target = None      # one number
expected = None    # one number
right = None       # three numbers
wrong = None       # three numbers
root = None        # one of "A", "B", "C", "D"

# %% [markdown]
# ### How far off?
#
# An unbiased estimate may still be useless. Compare two of them, both unbiased for
# $e^{x \cdot y}$, with the same $\omega$ in both factors:
#
# - the *positive* one, a mean of $m$ products of the features that you found;
# - the *trigonometric* one, a mean of $m$ terms $e^{(\lVert x \rVert^2 + \lVert y \rVert^2)/2}
#   \cos\bigl(\omega_j \cdot (x - y)\bigr)$, whose variance for $m = 1$ is
#   $\tfrac12\, e^{\lVert x \rVert^2 + \lVert y \rVert^2}\bigl(1 - e^{-\lVert x - y \rVert^2}\bigr)^2$.
#
# Which is better depends on the vectors. The picture compares both for pairs of vectors with $\lVert x \rVert^2 = \lVert y \rVert^2 = \tfrac12$.

# %% tags=["demonstration"]
if plt:
    cos = np.linspace(-1, 1, 17)
    positive = [0, 0.365, 0.533, 0.675, 0.805, 0.932, 1.057, 1.183, 1.311, 1.442, 1.578, 1.719, 1.866, 2.02, 2.181, 2.35, 2.528]
    trigonometric = [1.662, 1.529, 1.401, 1.28, 1.163, 1.051, 0.943, 0.838, 0.737, 0.639, 0.543, 0.449, 0.357, 0.267, 0.177, 0.088, 0]
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    axes.semilogy(cos[1:], positive[1:], "k-", label="positive")
    axes.semilogy(cos[:-1], trigonometric[:-1], "k--", label="trigonometric")
    axes.set(xlabel="cosine of the angle", ylabel="relative deviation, $m = 1$", ylim=(1e-2, 5))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the relative standard deviation of one feature, on a logarithmic axis, against the cosine of the
# angle between the vectors. The solid curve of the positive estimate rises to 2.5 at $x = y$. The dashed
# one of the trigonometric estimate falls the other way, from 1.7; they cross near a cosine of −0.3. Most weights
# of a row of attention are small, with a negative score, and small weights with a large error are what makes a row worthless.
#
# 1. `variance_steps`: let $z = x + y$, $N = \lVert z \rVert^2$, and let $c$ stand for the factors in front, which
#    don't depend on $\omega$. Lead `Var(c*exp(sum(w_k*z_k, k)))` to `c^2*exp(N)*(exp(N) - 1)`, one equality a line.
#    Rules: *variance of* a *multiple*, *definition of Var*, *linearity of sums*, *normal expectation* (the
#    mean that you found), *definition* (of $N$), and algebra, which takes numbers in and out of sums. One rule a line, please.
# 2. `var_formula`: the variance of the positive estimate with $m$ features, in `m`, `N` ($= \lVert x + y \rVert^2$) and
#    `p` ($= x \cdot y$).
# 3. Let $x = (0.6, 0.2, -0.4)$ and $y = (0.3, -0.2, 0.2)$. `kernel`: $e^{x \cdot y}$. `var_positive`,
#    `var_trigonometric`: both variances with $m = 1$. `relative`: the standard deviation of the positive estimate
#    with $m = 1000$, divided by $e^{x \cdot y}$.
# 4. Now $x = -y = (1.5, 0, 0)$. `opposite`: $e^{x \cdot y}$ and the variance of the positive estimate with $m = 1$.
#    `opposite_relative`: the standard deviation of the *trigonometric* one with $m = 1000$, divided by $e^{x \cdot y}$.
# 5. `growth`: the relative standard deviation of the positive estimate with $m = 1$ for two equal vectors,
#    $x = y$, of norm $r = 0.5$, 1 and 2.
# 6. `law`: how does its error behave in general?

# %%
your_numbers("favor_variance")

# %% exercise="favor_variance"
variance_steps = None     # a list of lines
var_formula = None        # a formula in m, N, p
kernel = None             # one number
var_positive = None       # one number
var_trigonometric = None  # one number
relative = None           # one number
opposite = None           # two numbers
opposite_relative = None  # one number
growth = None             # three numbers
law = None                # one of "A", "B", "C", "D"

# %% [markdown]
# ### Performer attention
#
# Put the features into linear attention and you have attention in linear time that *does* converge to
# softmax attention, as $m$ grows. In practice two things need care. The scale $1/\sqrt{d_k}$ has to go somewhere
# (see above). And the exponents may be far below 0 for all features at once, so that everything underflows
# to 0 and the quotient to 0/0. As in a softmax, what is common to numerator and denominator may be taken off
# the exponents before `exp`: for the features of a query, something of this query; for those of the keys only
# something that is the same for all keys.
#
# 1. `favor_features(X, W)` for `X` of shape `(…, n, d)` and `W` of shape `(m, d)`, the $\omega_j$ as rows: the features
#    that you found, `(…, n, m)`, with nothing taken off.
# 2. `performer_attention(Q, K, V, m, rng)` for shapes `(n, d)`, `(k, d)`, `(k, d_v)`: attention by $m$ random features, with
#    nothing else drawn than `rng.standard_normal((m, d))`. It stays finite for queries and keys of much the same direction
#    that are so long that every feature underflows, and with $m$ fixed its work and memory grow like $n$. (Where long vectors
#    point apart, a feature that is large for a query may be 0 for all keys. That isn't asked for.)
# 3. An experiment. Take `rng = np.random.default_rng(0)` and `Q, K, V = rng.normal(size=(3, 32, 8))`, and multiply
#    $Q$ and $K$ by 0.3. For $m = 64, 256, 1024, 4096$ compute your Performer output 20 times with fresh features
#    (of any seed) and its difference to softmax attention: for each repetition the root of the mean of the squared
#    differences, over all entries. `rmse`: for each $m$ the **median** of these 20 errors. (A mean would hang on the one
#    repetition in which a feature happens to point along a key.) `slope`: the slope of $\log \mathrm{RMSE}$ against
#    $\log m$, by least squares.
#
# (With longer vectors the slope is flatter, and the errors jump from run to run: you know the constant. Right results
# of this experiment lie well inside what is accepted, for every seed.)

# %% exercise="favor_code"
import numpy as np

rmse = None   # four numbers
slope = None  # one number


def favor_features(X: "(…, n, d)", W: "(m, d)") -> "(…, n, m)":
    """Return the positive random features of every row of X.

    >>> favor_features(np.ones((5, 2)), np.ones((3, 2))).shape
    (5, 3)
    """
    raise NotImplementedError


def performer_attention(Q: "(n, d)", K: "(k, d)", V: "(k, d_v)", m: int, rng) -> "(n, d_v)":
    """Return attention with the weights of m random features, in linear time.

    >>> performer_attention(np.ones((1, 2)), np.ones((3, 2)), np.array([[1.0], [2.0], [6.0]]), 4,
    ...                     np.random.default_rng(0)).round(6).tolist()
    [[3.0]]
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** The Performer draws its $\omega_j$ *orthogonal* to each other, in blocks of $d$, which lowers the
# variance a little further. Linear attention with a decay on its state, in RetNet (Sun et al., 2023) or Mamba-2
# (Dao & Gu, 2024), gave the idea of the recurrence a second life, with learned features and no claim to be a softmax.
#
# ## 3 Fewer keys
#
# ### Linformer
#
# Keep the softmax and shorten what it runs over. Two matrices $E$ and $F$ of shape $(r, n)$ mix
# the $n$ keys into $r$ and the $n$ values into $r$:
#
# $$ O = \operatorname{softmax}\!\left(\frac{Q\, (E K)^\top}{\sqrt d}\right) (F V) . $$
#
# This is often described as a factorisation of the matrix of weights. It isn't one: the weights have the shape
# $(n, r)$, and a softmax over $r$ mixtures is another function than a mixture of softmax weights. $E$ has a
# column for each position, so $n$ is fixed when the model is made.

# %%
your_numbers("linformer")

# %% [markdown]
# 1. `linformer(Q, K, V, E, F)` for shapes `(n, d)`, `(m, d)`, `(m, d_v)`, `(r, m)`, `(r, m)`. Work and memory grow like $n + m$.
# 2. `sizes`: for your `n` and `r`, the entries of the scores, those of full attention, and the parameters of $E$ and
#    $F$ together. `madds`: for your `d` too, the madds of all four products ($E K$, $F V$, scores, weighted sums)
#    and those of the two products of full attention, one head each.
# 3. `moved`: take $n = 6$ tokens, $r = 3$ and random $E$ and $F$, and change the value of the *last* token. How many of the five
#    earlier outputs move? (Try it.)

# %% exercise="linformer"
import numpy as np

sizes = None  # three whole numbers
madds = None  # two whole numbers
moved = None  # a whole number


def linformer(
    Q: "(n, d)", K: "(m, d)", V: "(m, d_v)", E: "(r, m)", F: "(r, m)"
) -> "(n, d_v)":
    """Return attention over r mixtures of the keys.

    >>> linformer(np.zeros((1, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]), np.eye(2), np.eye(2))
    array([[1.5]])
    """
    raise NotImplementedError

# %% [markdown]
# ### The best low-rank weights
#
# What would a real factorisation look like? Take $X$ with the rows $(1, 0)$, $(0, 1)$, $(1, 1)$,
# for three words, and the weights $A = \operatorname{softmax}(X X^\top)$, without a scale.
#
# 1. `singular`: the three singular values of $A$, the largest first.
# 2. `errors`: the Frobenius distance of $A$ to the nearest matrix of rank 1, and of rank 2.
# 3. `row_sums`: the row sums of the nearest matrix of rank 1. Are they weights?
# 4. `U_shape`, `V_shape`: a matrix of $1024 \times 1024$ weights of rank 16 is written as $U V^\top$. The shapes of $U$
#    and $V$? `numbers`: how many numbers do $U$ and $V$ hold together, and how many the full matrix?

# %% exercise="lowrank_svd"
singular = None  # three numbers
errors = None    # two numbers
row_sums = None  # three numbers
U_shape = None   # a shape
V_shape = None   # a shape
numbers = None   # two whole numbers

# %% [markdown]
# ## 4 Fewer pairs
#
# A *sparse* pattern says which keys a query may look at, and the softmax runs over those alone. So it is a mask,
# and the question is which one. If the pattern is fixed beforehand, scores that it forbids need not be
# computed at all. Which of the four patterns of this part let a query see far, and which show it all of its neighbours?

# %% tags=["demonstration"]
if plt:
    i, j = np.indices((24, 24))
    keys = np.random.default_rng(4).integers(0, 24, (24, 2))
    patterns = {
        "window": abs(i - j) <= 2,
        "stride": (i - j) % 5 == 0,
        "window, global": (abs(i - j) <= 2) | (i < 2) | (j < 2),
        "window, random": (abs(i - j) <= 2) | (j[..., None] == keys[:, None]).any(-1),
    }
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    for axis, (name, mask) in zip(axes, patterns.items(), strict=True):
        axis.imshow(~mask, cmap="gray", vmin=0, vmax=1)
        axis.set(title=name, xlabel="key", ylabel="query", xticks=[], yticks=[])
    plt.show()

# %% [markdown]
# *The picture:* four squares of 24 × 24 fields, a row for each query, allowed keys in black. *Window:* a black band along
# the diagonal, five fields wide. *Stride:* the diagonal and thin lines beside it, five fields apart. *Window, global:* the
# band, the two topmost rows and the two leftmost columns. *Window, random:* the band and up to two more
# fields in each row, at random.
#
# Masks are as everywhere in this course: rows are queries, columns are keys, `True` means *may attend*.
#
# ### Windows
#
# Query $i$ sees the keys with $|i - j| \le w$. Take care: $w$ is the reach to **each side**; some papers and
# libraries mean the whole width, $2w$ or $2w + 1$. A *dilated* window leaves gaps: it has as many keys, at the
# distances $0, \pm D, \pm 2D, \dots, \pm wD$ for a dilation $D$. And because hardware likes whole tiles, real kernels
# often work in *blocks*: all queries of a block see the same keys, those of their own block and of the two beside it.
# A window of 16 tokens, not causal, and what one query sees:

# %% tags=["demonstration"]
def draw_window(w):
    figure = plt.Figure(figsize=(3.4, 3.2), layout="constrained")
    axis = figure.subplots()
    query, key = np.indices((16, 16))
    seen = abs(query - key) <= w
    axis.imshow(np.where(seen, np.where(query == 7, 0.0, 0.6), 1.0), cmap="gray", vmin=0, vmax=1)
    axis.set(xlabel="key", ylabel="query", xticks=range(0, 16, 3), yticks=range(0, 16, 3))
    first, last = np.flatnonzero(seen[7])[[0, -1]]
    return figure, f"With a reach of {w} query 7 sees the keys {first} to {last}, and query 0 the keys 0 to {w}."


if plt:
    moving(draw_window, "reach to each side", [0, 1, 2, 3, 5, 7], 2)

# %% [markdown]
# *The picture:* sixteen queries by sixteen keys. Allowed pairs are a grey band along the diagonal, which is cut off in two corners; query 7 is black. With a reach of 2
# it sees the keys 5 to 9. A wider reach makes the band wider on both sides.

# %%
your_numbers("sparse_local")

# %% [markdown]
# 1. `local_mask(n, w, causal=False, dilation=1)`: the mask of a window, $n \times n$. With `causal=True` no key ahead is seen.
# 2. `block_mask(n, size, causal=False)`: tokens $0, \dots, \text{size} - 1$ are the first block, and so on; the last one may be
#    shorter. A query sees its own block and the blocks next to it, with `causal=True` no token ahead.
# 3. `window_attention(Q, K, V, w)`: attention in a window, scaled, for `(n, d)`, `(n, d)`, `(n, d_v)`, **without** an
#    $n \times n$ array: with $w$ fixed, work and memory grow like $n$.
# 4. `edges`: how many pairs does a window allow, as a formula in `n` and `w` ($w < n$)?
# 5. `counts`: the pairs for your `n` and `w`, without and with a causal mask. `long_edges`: the pairs for $n = 4096$ and $w = 256$,
#    without. `density`: which share of all pairs is that?
# 6. `dilated`: for $n = 16$, $w = 2$ and your dilation `d`, the pairs (not causal); and, in a text that is long
#    enough, how far three such layers reach: from the first to the last position that has an influence on one output, how
#    many positions are that, those in the gaps included?

# %% exercise="sparse_local"
import numpy as np

edges = None       # a formula in n, w
counts = None      # two whole numbers
long_edges = None  # a whole number
density = None     # one number
dilated = None     # two whole numbers


def local_mask(n: int, w: int, causal: bool = False, dilation: int = 1) -> "(n, n) of bool":
    """Return the mask of a window.

    >>> local_mask(3, 1).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    raise NotImplementedError


def block_mask(n: int, size: int, causal: bool = False) -> "(n, n) of bool":
    """Return the mask by which blocks see themselves and their neighbours.

    >>> block_mask(3, 1).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    raise NotImplementedError


def window_attention(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", w: int) -> "(n, d_v)":
    """Return attention in a window, in linear time and memory.

    >>> window_attention(np.zeros((3, 1)), np.zeros((3, 1)), np.array([[1.0], [3.0], [5.0]]), 1)
    array([[2.],
           [3.],
           [4.]])
    """
    raise NotImplementedError

# %% [markdown]
# ### Every s-th position
#
# To reach far with few keys, look at every $s$-th position: query $i$ sees the keys with
# $j \equiv i \pmod s$. One reads that this costs $O(n)$ and links what is far apart. Count.

# %%
your_numbers("sparse_strided")

# %% [markdown]
# 1. `edges`: the allowed pairs for your `n` and `s`; the same with a causal mask; and, not causal, for the other length
#    `odd`, which $s$ does not divide.
# 2. `edges_class`: the class of the number of pairs, in `n` and `s`. `at_the_root`: the class for $s = \sqrt n$.
# 3. `components`: however many layers there are, tokens hear from some others only. Into how many such groups do your `n`
#    tokens fall? `joined`: and how many are left if a window of $w = 1$ is added?

# %% exercise="sparse_strided"
edges = None        # three whole numbers
edges_class = None  # a class in n, s
at_the_root = None  # a class in n
components = None   # a whole number
joined = None       # a whole number

# %% [markdown]
# ### Window plus global tokens
#
# A few *global* tokens, a token that stands for the whole text or the words of a question, see all tokens and
# are seen by all. With a window that makes the pattern of Longformer. Two patterns together are one mask, their union, and
# **one** softmax: whoever computes the attention of each pattern and adds the results up has weights that add up to 2.

# %%
your_numbers("sparse_global")

# %% [markdown]
# 1. `longformer_mask(n, w, global_idx)`: the mask for the global tokens in `global_idx`, an array of positions. It may be
#    empty, and may name a position twice.
# 2. `edges`: the allowed pairs, if the first $g$ tokens are global, as a formula in `n`, `w`, `g` (for $w < n - g$).
# 3. `count`: the pairs for your `n`, `w`, `g`. `long_count`: and for $n = 4096$, $w = 256$, $g = 2$.

# %% exercise="sparse_global"
import numpy as np

edges = None       # a formula in n, w, g
count = None       # a whole number
long_count = None  # a whole number


def longformer_mask(n: int, w: int, global_idx: "(g,) of int") -> "(n, n) of bool":
    """Return the mask of a window and global tokens.

    >>> longformer_mask(4, 0, np.array([1])).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0], [0, 1, 0, 1]]
    """
    raise NotImplementedError

# %% [markdown]
# ### Some keys by chance
#
# BigBird adds $r$ random keys to each query, drawn once and then fixed. Random graphs are known for short
# ways, and one reads that this keeps the distances at $O(\log n)$, and that random keys connect the graph. Check
# both: the first with and without global tokens, the second for random keys alone.

# %%
your_numbers("sparse_bigbird")

# %% [markdown]
# 1. `bigbird_mask(n, w, g, r, rng)`: window, the first $g$ tokens as global ones, and for each query in turn, from
#    query 0 to the last one, the $r$ keys `rng.choice(n, r, replace=False)`. A random key may be one that the
#    query sees anyway.
# 2. Take $n = 64$, $w = 1$, $g = 2$, $r = 3$ and the generator `np.random.default_rng(seed)` with **your** seed. `edges`: the
#    allowed pairs. `bound`: what they can be at most by the bound $n(2w + 1 + r + g) + g\,n$.
# 3. `layers`: after how many layers can every output depend on every token? For this mask; for $g = 0$, with a new
#    generator of the same seed; and for the window alone ($w = 1$, $n = 64$). A token also keeps what it knew before. (The
#    next exercise asks for a function that finds out; write that one first if you like.)
# 4. `unattended`: now random keys alone, $r = 3$. Which share of the tokens is attended to by **no other** token? For
#    $n = 64$, 256 and 1024, as an average over 320, 80 and 20 masks, with any seed.
#    `limit`: and to what does that share tend for $n \to \infty$ with $r$ keys, as a formula in `r`?

# %% exercise="sparse_bigbird"
import numpy as np

edges = None       # a whole number
bound = None       # a whole number
layers = None      # three whole numbers
unattended = None  # three numbers
limit = None       # a formula in r


def bigbird_mask(n: int, w: int, g: int, r: int, rng) -> "(n, n) of bool":
    """Return the mask of a window, g global tokens and r random keys for each query.

    >>> bigbird_mask(4, 0, 1, 0, np.random.default_rng(0)).astype(int)
    array([[1, 1, 1, 1],
           [1, 1, 0, 0],
           [1, 0, 1, 0],
           [1, 0, 0, 1]])
    """
    raise NotImplementedError

# %% [markdown]
# ### How many layers to reach everyone?
#
# After one layer an output depends on the keys that its query sees, and on its own token, which goes around
# the attention. After two layers it depends on what those keys saw. So what an output depends on is found by a search
# through the mask, or by powers of it.

# %%
your_numbers("sparse_hops")

# %% [markdown]
# 1. `hops(mask)`: after how many layers does *every* output depend on *every* token? A whole number, and −1 if that
#    never happens. A token depends on itself before the first layer, so 0 can be right, too.
# 2. `window_layers`: a window of your `w` over your `n` tokens. `patterns`: 16 tokens, with all pairs; a stride of 4; a stride
#    of 4 and a window of $w = 4$; one global token and a window of $w = 1$.
# 3. ★ *A middle way.* Let query $i$ see the keys $i$, $i - 1$, $i - 2$, $i - 4$, $i - 8$ and so on, as far as there are any.
#    `doubling_class`: the class of the number of pairs for $n$ tokens. `doubling_layers`: after how many
#    layers does the last of 1024 tokens depend on the first?

# %% exercise="sparse_hops"
import numpy as np

window_layers = None    # a whole number
patterns = None         # four whole numbers
doubling_class = None   # a class in n
doubling_layers = None  # a whole number


def hops(mask: "(n, n) of bool") -> int:
    """Return after how many layers every output depends on every token, −1 if never.

    >>> hops(np.ones((3, 3), dtype=bool))
    1
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** GPT-3 alternates full layers with windowed ones. Mistral-7B has windows of 4096 tokens in all of
# its 32 layers, and its authors count a reach of about 131 thousand tokens for the whole stack. Longformer and BigBird read
# 4096 tokens when BERT read 512. BigBird is built from blocks of 64 tokens, not from single ones: what looks
# like an implementation detail is what makes it fast.
#
# ### Keep the largest weights
#
# All patterns so far are fixed beforehand. The opposite is to compute a row of scores and to keep the $k$
# largest weights only. That saves the products with the values, not the scores, so nothing about it is linear. What does it
# cost in precision? One query with the logits $(4, 3, 1, 0, 0, 0, 0, 0)$ over eight keys, whose values are the
# numbers $0, 1, \dots, 7$.
#
# 1. `mass`: the weight of the largest key, of the two and of the three largest together.
# 2. `full`: the output with all weights. `top2`: the output with the two largest weights, divided by their sum.
# 3. `bound_steps`: how wrong can that be, for any values? Call the weights $w_i$, the largest ones first. The first $m$ are
#    kept, with the sum $M$; the others add up to $R = 1 - M$. Show that the output moves by at most
#    $2 R \max_j |v_j|$: start with `abs(sum(w_i*v_i, i) - sum(w_i*v_i, i, 1, m)/M)`, end there, with `max(abs(v_j), j)` for the maximum. A sum
#    over those that are left out runs from `m+1` to `n`. Lines may begin with `=` or `<=`. Rules: *parts of a
#    sum*, *weights sum to one* ($R = 1 - M$), *triangle inequality*, *largest term* (a sum is at most its largest
#    factor times the sum of the others), *definition* (of $M$ and $R$), one a line. Put $R$ in before the first
#    inequality, please: the grader knows that $R/M$ is positive, but not that $1/M - 1$ is.
# 4. `bound`: that bound for the two largest weights of the row above. (How far did the output move?)
# 5. `above`: how many of the weights are above 0.01? (All are above 0, as always. A support needs a threshold.)
#    `perplexity`: $e^H$ with the entropy $H = -\sum_j p_j \ln p_j$ of all eight weights, by how many keys the attention is
#    spread, so to speak.

# %% exercise="topk_mass"
mass = None         # three numbers
full = None         # one number
top2 = None         # one number
bound_steps = None  # a list of lines
bound = None        # one number
above = None        # a whole number
perplexity = None   # one number

# %% [markdown]
# ## 5 The table
#
# Every method with what it costs. Count the work of the scores for $n$ tokens, one head of width $d$; for
# linear attention and random features count the product $\varphi(K)^\top V$ instead. Name as classes, in the letters
# that stand there:
#
# | variable | method |
# |---|---|
# | `full` | all pairs: `n`, `d` |
# | `window` | a window of $w$ to each side, *not* fixed: `n`, `d`, `w` |
# | `stride` | every $s$-th position with $s = \sqrt n$: `n`, `d` |
# | `linear` | linear attention with $D$ features, values of width $d$: `n`, `d`, `D` |
# | `linformer` | keys projected to $r$: `n`, `d`, `r` (the scores) |
# | `random_features` | $m$ random features, values of width $d$: `n`, `d`, `m` |
# | `window_global` | a window of $w$ and $g$ global tokens: `n`, `d`, `w`, `g` |
#
# 1. The seven classes.
# 2. `madds`: the madds for $n = 4096$ and $d = 64$, six whole numbers: all pairs; a window with $w = 256$, counted as if no row were cut
#    off at the ends; a stride of $s = 64$; $D = 64$ features; $m = 256$ random features; $r = 128$. `savings`: by
#    which factor are the other five below the first?
# 3. `theorems`: what one reads about *training* with linear attention. Which of these statements are theorems? (All letters
#    that apply; `"none"` is an answer, too.)

# %%
your_numbers("efficient_classes")

# %% exercise="efficient_classes"
full = None             # a class in n, d
window = None           # a class in n, d, w
stride = None           # a class in n, d
linear = None           # a class in n, d, D
linformer = None        # a class in n, d, r
random_features = None  # a class in n, d, m
window_global = None    # a class in n, d, w, g
madds = None            # six whole numbers
savings = None          # five numbers
theorems = None         # letters, as in "AB", or "none"

# %% [markdown]
# ## In a trained model: does it need all its keys?
#
# The small model of the first notebook was trained with full attention. Take some of it away and look at the loss on repeats, where everything can be known:
# each query sees its last $w$ keys alone; or it keeps its $k$ largest weights; or it compares by $\phi(q)\cdot\phi(k)$ with $\phi = \operatorname{elu} + 1$, without rotations.

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* nine bars on a logarithmic axis, and a dashed line at 2.303, the price of a guess among ten letters. The last 2, 4, 6, 8, 12 keys: 7.36, 6.37, 3.05, 0.0007, 0.0006. The largest 1, 2, 3 weights: 0.0225, 0.0027,
# 0.0013. elu + 1: 4.0.
#
# A window as long as the longest motif loses nothing, a shorter one nearly everything: what has to be copied is out of reach. One key in each row is almost enough, since its heads point.
# Another similarity is no good at all *for these weights*, which were trained for the exponential. What a model trained with it could do is another
# question, and not answered here.

# %% [markdown]
# ### Where copying ends
#
# How short may the window be? Put your own mask into the model. Its sentences are `^` and a motif, said again and again and cut after $n$ symbols; from the
# first letter of the second pass on everything is known: for `^BADGEBADGE` and so on, behind the second B comes A, then D, G, E, B, …. The next cell is the whole model,
# which takes a mask for both layers.

# %%
LETTERS = "^ABCDEFGHIJ"
trained = {name: array.astype(float) for name, array in np.load("echo.npz").items()}


def rms_norm(x, gains):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gains


def turned(x):
    """Rotate neighbouring pairs of columns by angles that grow with the position."""
    angles = np.outer(np.arange(x.shape[-2]), 100.0 ** (-np.arange(0, 8, 2) / 8))
    a, b = x[..., ::2], x[..., 1::2]
    pairs = [a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)]
    return np.stack(pairs, axis=-1).reshape(x.shape)


def predicted(ids, mask):
    """Return a row of logits for each symbol; mask (n, n), True = may attend."""
    x = trained["embed"][ids]
    for i in (0, 1):
        norm1, norm2, wq, wk, wv, wo, gate, up, down = (
            trained[name][i] for name in ("norm1", "norm2", "wq", "wk", "wv", "wo", "gate", "up", "down")
        )
        y = rms_norm(x, norm1)
        Q, K, V = ((y @ W).reshape(len(ids), 2, 8).transpose(1, 0, 2) for W in (wq, wk, wv))
        S = np.where(mask, turned(Q) @ turned(K).transpose(0, 2, 1) / 8**0.5, -np.inf)
        A = np.exp(S - S.max(-1, keepdims=True))
        A = A / A.sum(-1, keepdims=True)
        x = x + (A @ V).transpose(1, 0, 2).reshape(len(ids), 16) @ wo
        y = rms_norm(x, norm2)
        z = y @ gate
        x = x + (z / (1 + np.exp(-z)) * (y @ up)) @ down
    return rms_norm(x, trained["norm"]) @ trained["unembed"]


# %%
your_numbers("echo_window")

# %% [markdown]
# 1. `counts`: your sentence has $n$ symbols, `^` among them. For the reaches $w = 0, 1, \dots, 9$ (`local_mask(n, w, causal=True)`), how many of the letters that are known does the model predict,
#    as the letter with the largest logit? The first that is known is the second letter of the second pass. Ten whole numbers.
# 2. `least`: the least reach at which copying works, for a motif of $m$ letters. A formula in `m`; try other motifs.
# 3. `costs`: for your motif, what do the letters that are known cost on average, in nats: one reach *below* the least one, and at the least one? Two numbers.
# 4. `why`: with two layers of reach $w$ a symbol is reached from $2w$ places back. Why doesn't that help?

# %% exercise="echo_window"
counts = None  # ten whole numbers
least = None   # a formula in m
costs = None   # two numbers
why = None     # one of "A", "B", "C", "D"

# %% [markdown]
# ## What you can do now
#
# You can derive linear attention from softmax attention and run it as a recurrence, say what a number of features can't
# express, estimate the exponential and say how far off you are, shorten keys, count what a pattern allows and how many
# layers it needs, and choose among all of these by what they cost *and* by what they can't do.
#
# The next notebook keeps attention as it is and makes everything around it cheaper: experts, checkpoints, fewer bits,
# small adapters.
#
# **To read.**
#
# - Katharopoulos et al. (2020), *Transformers are RNNs*: the recurrence, with a feature map anybody can write down.
# - Choromanski et al. (2021), *Rethinking attention with Performers*: positive random features, with proofs.
# - Wang et al. (2020), *Linformer: Self-attention with linear complexity*: fewer keys.
# - Beltagy, Peters & Cohan (2020), *Longformer*, and Zaheer et al. (2020), *Big Bird*: the patterns.
# - Tay et al. (2022), *Efficient transformers: A survey*: all of them in one table.
# - Weng (2023), *The transformer family version 2.0* (lilianweng.github.io): patterns, recurrences and kernels in pictures.
