# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What attention costs
#
# "Attention is quadratic" is the first half of a sentence. Quadratic in what, at what price
# per entry, in time or in memory, and next to which other costs? Here you fill in the table.

# %% [markdown]
# ## The table of costs
#
# There are $n$ queries and $m$ keys, keys of width $d_k$ and values of width $d_v$:
#
# $$ S = Q K^\top \;(n \times m), \qquad A = \operatorname{softmax}(S), \qquad O = A V
#    \;(n \times d_v) . $$
#
# One entry of a matrix product is a sum of products; a multiplication with the addition that goes
# along counts as one **madd** (two FLOPs). So an $(a \times b)$ times a $(b \times c)$ matrix takes
# $a\,b\,c$ madds. A *class* keeps how a cost grows and drops the rest: constant factors, and terms
# that another one dominates. Of two terms of which neither dominates the other, both stay: write
# `n**2 + n*d`, say, unless you know which of $n$ and $d$ is larger.
#
# **What is often said.** "A layer costs $n^2 d$, so the quadratic term is the bottleneck." That is
# the attention alone. A whole self-attention layer also multiplies with four $d \times d$
# matrices, and which part is larger depends on $n$ and $d$. Give all terms. For
# memory say what is stored, and for how many heads: each head has weights of its own.
#
# *Linear attention* (question 5) never forms the $n \times m$ weights. With features of a fixed
# width $D$ it takes about $(n + m)\, D\, d_v$ madds.
#
# 1. Classes of time, in `n`, `m`, `d_k`, `d_v`: `scores_time` for $S$, `softmax_time` for $A$,
#    `values_time` for $O$.
# 2. `madds`: exactly how many madds the two products take together, as a formula.
# 3. `layer_time`: the class of a whole self-attention layer ($m = n$, $d_k = d_v = d$, the four
#    projections included), in `n` and `d`.
# 4. `memory`: the class of the memory for stored weights and output of one head.
#    `weights_memory`: of the weights alone, in a layer of `h` heads.
# 5. `factor`: by what does the time of the two products of self-attention grow when $n$ doubles
#    (and $m$ with it)? `factor_linear`: and that of linear attention?

# %% exercise="cost_classes"
scores_time = None     # a class as text, such as "n*log(n)"
softmax_time = None    # a class
values_time = None     # a class
madds = None           # a formula, exact
layer_time = None      # a class
memory = None          # a class
weights_memory = None  # a class
factor = None          # a whole number
factor_linear = None   # a whole number
