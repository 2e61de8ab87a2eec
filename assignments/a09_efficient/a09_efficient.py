# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Linear attention
#
# Standard attention compares every query with every key, and so its price grows like $n^2$. There are
# many ways to pay less. This notebook begins with the one that changes the least: keep the form of a
# weighted mean, choose another similarity, and move a pair of brackets.
#
# | part | you learn | time |
# |---|---|---|
# | Where the brackets go | why a product of features can be summed over the keys once and for all | 40 min |
# | In code | linear attention for any feature map, in linear time and memory | 60 min |
# | Causal | prefix sums: a transformer that is a recurrent network | 60 min |
#
# - Run the cells from top to bottom; each exercise is graded where its check cell stands.
# - Linear time is *counted*, not timed: the grader adds up the arithmetic and the memory of your functions
#   for several $n$. A slow machine costs you nothing.

# %% [markdown]
# ## Where the brackets go
#
# *40 minutes.* The softmax weight of key $j$ for query $i$ is proportional to $e^{q_i \cdot k_j/\sqrt{d_k}}$. Suppose that a
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
#    `sum(…, j)`, a sum over the features is `sum(…, a, 1, r)`, and $k_{ja}$ is `k_ja`. Start with
#
#    `sum(sum(q_a*k_ja, a, 1, r)*v_j, j)/sum(sum(q_a*k_ja, a, 1, r), j)`
#
#    and end with $\sum_a q_a S_a \big/ \sum_a q_a z_a$, one equality a line. Rules: *linearity of sums*
#    (a factor that doesn't depend on the index goes in or out), *order of sums*, *definition*. One rule a
#    line, please, above and below at once if you like. You may add the reason: `…  # order of sums`.
# 2. `weights_first`, `keys_first`: the madds of $\bigl(\varphi(Q)\, \varphi(K)^\top\bigr) V$ and of
#    $\varphi(Q) \bigl(\varphi(K)^\top V\bigr)$, without the denominator and without the feature map itself,
#    for $n$ queries, $m$ keys, $D$ features and values of width $d_v$. Formulas in `n`, `m`, `D`, `d_v`.
# 3. `counts`: both in numbers, for your sizes.

# %%
your_numbers("lin_assoc")

# %% [markdown]
# 4. `pays_off`: let $n = m$ and $D = d_v = d$. Which class does the second order have, and when is it
#    the cheaper one?
#    - **A** $O(n d)$; always cheaper.
#    - **B** $O(n d^2)$; always cheaper.
#    - **C** $O(n d^2)$; cheaper for $n < d$.
#    - **D** $O(n d^2)$; cheaper for $n > d$.
#    - **E** $O(n^2 d)$; equally expensive.

# %% exercise="lin_assoc"
row_steps = None      # a list of lines
weights_first = None  # a formula in n, m, D, d_v
keys_first = None     # a formula in n, m, D, d_v
counts = None         # two whole numbers: weights first, keys first
pays_off = None       # one of "A", "B", "C", "D", "E"

# %% [markdown]
# ## Linear attention in code
#
# *60 minutes.* A weighted mean needs weights that are not negative and do not all vanish. Where all
# *features* are strictly positive, every product of two of them is, and so is every denominator. (That is enough, not
# necessary: $(q \cdot k)^2$ has features of either sign and is never negative. And $\max(x, 0)$, never
# negative either, can make a denominator 0.) A popular map is $\operatorname{elu}(x) + 1$, which is $x + 1$ for $x > 0$ and $e^x$ for $x \le 0$, entry by entry. It is
# strictly positive, so the denominator is, too. In some published code one finds $\max(x, 0) + 1$
# in its place, which can't tell one negative number from another, and a small $\varepsilon$ added to
# the denominator "for stability". The picture compares the two maps.

# %%
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything else works without pictures

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
#    applied to queries and keys; `eps` is added to the denominators. `elu1` is yours to write, too.
#    Work and memory must grow like $n + m$: there is no array with $n \cdot m$ entries, and no loop that
#    makes up for it.
# 2. `elu1_values`, `relu1_values`: both maps at $x = -2, -1, 0, 1$.
# 3. One query and one key, $D = 1$, $q = k = -8$, $v = 1$, with elu + 1. `with_epsilon`: the output if $10^{-6}$ is
#    added to the denominator. `without_epsilon`: and if nothing is.
# 4. `who`: who proposed elu + 1 for linear attention?
#    - **A** Choromanski et al. (2021), as the feature map of Performer.
#    - **B** Katharopoulos et al. (2020). Performer uses random features that approximate the exponential.
#    - **C** Vaswani et al. (2017), as an alternative to the softmax.
#    - **D** Wang et al. (2020), in Linformer.
#
# The last function calls yours for the checks, with a feature map by name: leave it as it is.

# %% exercise="lin_attn"
import numpy as np

elu1_values = None      # four numbers
relu1_values = None     # four numbers
with_epsilon = None     # one number
without_epsilon = None  # one number
who = None              # one of "A", "B", "C", "D"


def elu1(x: "array") -> "array, same shape":
    """Return elu(x) + 1, entry by entry."""
    raise NotImplementedError


def linear_attention(
    Q: "(…, n, d_k)", K: "(…, m, d_k)", V: "(…, m, d_v)", phi=elu1, eps: float = 0.0
) -> "(…, n, d_v)":
    """Return attention with the weights φ(q)·φ(k), normalised, in linear time."""
    raise NotImplementedError


def attend(Q, K, V, phi="elu1", eps=0.0):
    """Call linear_attention: the checks use this.

    >>> attend(np.zeros((1, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    array([[1.5]])
    """
    if phi == "elu1":
        return linear_attention(Q, K, V, eps=eps)
    maps = {"exp": np.exp, "both": lambda x: np.concatenate([np.exp(x), np.exp(-x)], axis=-1)}
    return linear_attention(Q, K, V, maps[phi], eps)

# %% [markdown]
# ## A transformer that is a recurrence
#
# *60 minutes.* Under a causal mask the sums of row $t$ run over the keys up to $t$. They are *prefix sums*,
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
# 1. `causal_linear_attention(Q, K, V)` for shapes `(n, d_k)`, `(n, d_k)`, `(n, d_v)`, with elu + 1 (write it
#    again, so that this cell stands alone). Work and memory grow like $n$; a loop over tokens is accepted.
# 2. `recurrent_step(state, q, k, v)` takes the state `(S, z)`, `S` of shape `(d_k, d_v)` and `z` of shape
#    `(d_k,)`, and one token `q`, `k`: `(d_k,)`, `v`: `(d_v,)`. It returns the new state and the output `(d_v,)`.
#    Every step costs the same.
# 3. `state_numbers`: how many numbers are in the state for $D = d_v = 64$? `cached_numbers`: how many does softmax attention
#    cache at $t = 1000$, with keys and values of width 64? `break_even`: at which $t$ are both the same?
#
# The last function calls yours for the checks: leave it as it is.

# %% exercise="lin_causal"
import numpy as np

state_numbers = None   # a whole number
cached_numbers = None  # a whole number
break_even = None      # one number


def causal_linear_attention(Q: "(n, d_k)", K: "(n, d_k)", V: "(n, d_v)") -> "(n, d_v)":
    """Return causal attention with the weights φ(q)·φ(k), normalised, in linear time."""
    raise NotImplementedError


def recurrent_step(state: "(S, z)", q: "(d_k,)", k: "(d_k,)", v: "(d_v,)") -> "(S, z), (d_v,)":
    """Return the state after this token, and its output."""
    raise NotImplementedError


def causal_or_steps(Q, K, V, steps=False):
    """Call one of the two functions: the checks use this.

    >>> causal_or_steps(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    array([[1. ],
           [1.5]])
    """
    if not steps:
        return causal_linear_attention(Q, K, V)
    state, outputs = (np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])), []
    for q, k, v in zip(Q, K, V, strict=True):
        state, output = recurrent_step(state, q, k, v)
        outputs.append(output)
    return np.array(outputs)
