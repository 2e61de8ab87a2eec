# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Many heads, one budget
#
# One softmax gives each query one weighting. A layer with $h$ heads asks $h$ questions at once,
# each in a space of width $d/h$, and mixes the answers. What does that cost? This
# notebook counts.

# %% [markdown]
# ## Counting one attention layer
#
# Tokens are rows of width $d$. Head $t = 1, \dots, h$ has matrices of its own,
#
# $$ W_Q^{(t)},\ W_K^{(t)},\ W_V^{(t)} \in \mathbb{R}^{d \times d/h}, \qquad
#    \mathrm{head}_t = \operatorname{attention}\bigl(X W_Q^{(t)},\ X W_K^{(t)},\ X W_V^{(t)}\bigr), $$
#
# and the heads, side by side, pass through one more matrix:
# $\bigl[\mathrm{head}_1 \ \cdots \ \mathrm{head}_h\bigr] W_O$, which leads back to width $d$.
# In code the $h$ small matrices stand side by side in one: that is the $W_Q$ (and $W_K$, $W_V$) of
# the questions below. A *bias* adds one number to each output of a linear map. The scale and the
# softmax have no parameters.
#
# **Compare like with like.** You may read that several heads cost "about as much" as a single
# one, beside two counts that differ by a third. Before you believe in the third, look which
# matrices each of the two counts includes.
#
# Your own layer (`bias` is 1 if the maps have biases and 0 if not; it matters for `narrow` alone):

# %%
your_numbers("mha_params")

# %% [markdown]
# 1. `each`: how many entries does each of $W_Q$, $W_K$, $W_V$ have, all heads together?
#    `output`: and $W_O$?
# 2. `total`: parameters of the layer without biases; `total_with_biases`: with a bias on each of
#    the four maps.
# 3. `compared`: how does the layer (without biases) compare with a layer that has one head
#    of width $d$?
#    - **A** It has $h$ times as many parameters.
#    - **B** It has fewer, by the factor $h$.
#    - **C** It has a third more, whether or not the single head keeps its $W_O$.
#    - **D** It has just as many if the single head keeps its $W_O$.
# 4. `narrow`: parameters of a layer with a *single* head that is only $d/h$ wide, with its $W_O$
#    from $d/h$ back to $d$, and with biases if your numbers say so.
# 5. `steps`: show that the number of heads does not matter, in general. Write $k$ for the width
#    $d/h$ of a head. Head by head, with biases, the layer has
#    $h \cdot 3 (d k + k) + (h k d + d)$ parameters. Start from there, and give a list of lines of
#    text, each equal to the one before; end with a form in $d$ alone. That $k = d/h$ is known, so
#    you may put it in at any line.

# %% exercise="mha_params"
each = None               # a whole number
output = None             # a whole number
total = None              # a whole number
total_with_biases = None  # a whole number
compared = None           # one of "A", "B", "C", "D"
narrow = None             # a whole number
steps = None              # a list of lines: ["3*h*(d*k + k) + h*k*d + d", …]
