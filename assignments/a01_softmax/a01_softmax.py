# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Softmax
#
# Attention has to turn scores, any real numbers, into weights that are positive and add up to 1.
# The softmax does that:
#
# $$ p_i = \operatorname{softmax}(z)_i = \frac{e^{z_i}}{\sum_j e^{z_j}} . $$
#
# The inputs $z_i$ are called *logits*. Every $p_i$ is strictly positive, and not just
# non-negative as one often reads: in exact arithmetic no logit is ever ignored. A zero can only
# come out by rounding, or if a logit is $-\infty$, which is how masks will block things later.

# %% [markdown]
# ## A softmax that does not overflow
#
# Typed in as it stands, the formula fails on harmless numbers. The logits $(1000, 1001, 1002)$
# have a perfectly good softmax, but $e^{1000}$ is larger than any floating-point number, and
# $\infty / \infty$ is NaN. At the other end $e^{-10000}$ is rounded to 0, and a row of such
# logits ends in $0/0$.
#
# The way out is a fact about softmax: adding the same constant to all logits changes nothing,
#
# $$ \frac{e^{z_i + c}}{\sum_j e^{z_j + c}} = \frac{e^c\, e^{z_i}}{e^c \sum_j e^{z_j}} = p_i . $$
#
# So you may choose $c$, for every row anew. Which $c$ makes sure that no exponential overflows
# *and* that the sum is never 0?
#
# **For every row anew** is where much published code goes wrong. On an array of several rows,
# one sum for the whole array is plainly wrong: the rows do not add up to 1. One constant for
# the whole array would be harmless in exact arithmetic, yet with floating-point numbers it ruins
# every row that lies far from it. Neither mistake shows in the shape of the result.
#
# Write `softmax(x, axis=-1)` so that it
#
# - works for arrays with one to four axes, along any of them;
# - copes with huge, tiny and integer logits, and gives exactly 0 to a logit of $-\infty$ (at least
#   one logit of each row is finite);
# - returns float32 for float32 and float64 for float64 and for integers;
# - leaves the array that it is given as it was.
#
# Then a number worth knowing: from which $x$ on does `exp(x)` overflow, for float32 and for float64?

# %% exercise="softmax_stable"
import numpy as np


def softmax(x: "array with one to four axes", axis: int = -1) -> "array, same shape as x":
    """Return the softmax of x along an axis.

    >>> softmax(np.array([[0.0, 0.0], [7.0, 7.0]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    raise NotImplementedError


overflow_at = None  # two numbers: float32, float64

# %% [markdown]
# ## The softmax Jacobian
#
# How does one probability react when one logit moves? All of them react, because the sum in the
# denominator contains every logit. The answers fill a matrix, the *Jacobian*
# $J_{ij} = \partial p_i / \partial z_j$. You derive two of its entries for three logits, and by
# symmetry you then know all nine: softmax treats its logits alike, so renaming 1, 2, 3
# renames the entries.
#
# With $Z = e^{z_1} + e^{z_2} + e^{z_3}$ and $p_i = e^{z_i}/Z$ there are two good routes:
#
# - the quotient rule $\left(\frac{u}{v}\right)' = \frac{u' v - u v'}{v^2}$;
# - the logarithm: $\partial p = p\; \partial \log p$, and $\log p_i = z_i - \log Z$.
#
# Write a derivation as a list of lines of text, each equal to the one before. Known are `z1`, `z2`,
# `z3`, `Z`, `p1`, `p2`, `p3`, and `diff(f, z1)` is a derivative. For another function it might be
#
# ```python
# ["diff(log(Z), z1)", "diff(Z, z1)/Z", "exp(z1)/Z", "p1"]
# ```
#
# 1. `diag_steps`: from `diff(p1, z1)` to a form in $p_1$ alone.
# 2. `off_steps`: from `diff(p1, z2)` to a form in $p_1$ and $p_2$.
# 3. `J`: the whole matrix in `p1`, `p2`, `p3`, as a list of three rows, each a list of three texts.
#    If your derivations end in something else than they should, but $J$ follows from them, it counts.
#
# Show the rule that you use in a line of its own. To test yourself, put in numbers: a shift of
# all logits changes nothing, so what must a row of $J$ add up to?

# %% exercise="jacobian_proof"
diag_steps = None  # a list of lines, the first is "diff(p1, z1)"
off_steps = None   # a list of lines, the first is "diff(p1, z2)"
J = None           # a list of three rows
