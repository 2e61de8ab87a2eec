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
# vector to $D$ non-negative numbers. The output is still a weighted mean:
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
