# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention by hand
#
# Attention answers a question by averaging. A *query* $q$ is compared with every *key* $k_i$;
# the better they match, the more the *value* $v_i$ counts in the average that comes out.
# Here you do it once with pencil and paper, so that later the code holds no mystery.

# %% [markdown]
# ## The same with a scale that matters
#
# One query meets three keys of width $d_k = 4$:
#
# $$ s_i = q \cdot k_i, \qquad w = \operatorname{softmax}\!\left(\frac{s}{\sqrt{d_k}}\right),
# \qquad o = \sum_i w_i\, v_i . $$
#
# The rows of $K$ are the keys and the rows of $V$ the values. Why the root? If the entries of
# $q$ and $k$ are independent with mean 0 and variance 1, then $q \cdot k$ has variance $d_k$;
# dividing by $\sqrt{d_k}$ brings it back to 1, whatever the width.
#
# Your own numbers:

# %%
your_numbers("attn_hand_scaled")

# %% [markdown]
# Work on paper or with the numbers above; write at least four decimals. A slip is not fatal:
# what follows from your own earlier answer counts in full.

# %% exercise="attn_hand_scaled"
scores = None   # K q, three numbers
scaled = None   # K q / √d_k, three numbers
weights = None  # three numbers that add up to 1
out = None      # two numbers
