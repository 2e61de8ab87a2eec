# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Positions
#
# Attention compares contents and has no idea of order: shuffle the tokens, and the outputs are
# shuffled in the same way. Whoever wants *dog bites man* to differ from *man bites dog* has to
# put the position into the vectors. The oldest recipe adds a fixed vector of sines and cosines.

# %% [markdown]
# ## The first three rows
#
# The encoding of position $p$ in a model of even width $d$ consists of $d/2$ **pairs**. Pair
# $i = 0, 1, \dots, d/2 - 1$ occupies the columns $2i$ and $2i + 1$:
#
# $$ \mathrm{PE}(p, 2i) = \sin\frac{p}{b^{2i/d}}, \qquad
#    \mathrm{PE}(p, 2i + 1) = \cos\frac{p}{b^{2i/d}}, \qquad b = 10000 \text{ as a rule} . $$
#
# Both columns of a pair share one angle, in radians, and each pair is a point on the unit circle:
# a hand of a clock. The first turns by one radian a position, the last hardly at all.
#
# **What goes wrong here.** The letter $i$ numbers *pairs*. Some texts call it the dimension
# index, and then it is easily taken for the column. And code often loops over the even columns
# $c = 0, 2, 4, \dots$; then the exponent is $c/d$, because $c$ is $2i$ already. With $2c/d$ the
# exponent is doubled, and most of the columns stand practically still. In a plot of wide vectors
# nobody sees it; in the numbers below you would.
#
# To let every column move visibly, your base $b$ is smaller than usual:

# %%
your_numbers("pe_hand")

# %% [markdown]
# Give the encodings of your three positions, in the order in which they stand above, with at
# least four decimals. The positions are used as they are: counting starts from 0, and position 0
# just happens not to be among yours.

# %% exercise="pe_hand"
p0 = None  # encoding of your first position, d numbers
p1 = None  # encoding of your second position, d numbers
p2 = None  # encoding of your third position, d numbers
