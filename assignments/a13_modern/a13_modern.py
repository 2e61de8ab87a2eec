# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention as it is built today
#
# You have taken apart the transformer of 2017 and its cheaper variants, and built one. What is in use
# today differs in a dozen places: fewer keys than queries, other norms and gates, rotations that are
# stretched, windows, sinks, latent caches, drafts that are verified. None of these is a new theory. Each is
# a short calculation on what you know already, and this notebook does them one by one.
#
# | part | you learn | time |
# |---|---|---|
# | 1 The block and the cache | shared keys, the block of today, longer contexts, sinks, windows, latent keys | 175 min |
# | 2 Other weights | bounded scores, weights that don't compete, differences of two softmaxes | 75 min |
# | 3 Looking inside | what the last layer can say, who contributed to a logit, more features than dimensions, heads that copy | 110 min |
# | 4 Training and serving | parameters against tokens, drafts, decay and state, bandwidth or arithmetic | 125 min |
#
# That is **eight hours**; the parts can be done on different days. How to work with it:
#
# - Positions count from 0, logarithms are natural unless a base is named.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2447 0.6652 0.0901"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `W` come back in several exercises. Each
#   exercise is graded where its check cell stands.
# - A check cell says whether an answer can be read, and runs some tests of your functions. Whether
#   an answer is right, you learn when you are graded.
# - A slip is paid for once: what follows rightly from your own earlier answer counts in full.
# - What is *measured on trained models* and no mathematics is said to be so.

# %%
import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # everything works without pictures; below each one stands what it shows

# %% [markdown]
# ## 1 The block and the cache

# %% [markdown]
# ## 2 Other weights

# %% [markdown]
# ## 3 Looking inside

# %% [markdown]
# ### ★ More features than dimensions
#
# *35 minutes, an optional star exercise.* A stream of width $d$ has $d$ directions that don't disturb each other. A model would like to keep many more
# features than that in it: one for each name, each tense, each kind of bracket. Most of them are off most of the time, so perhaps
# they may share the room, in directions that are only nearly at right angles. How near to right angles can $n$ directions be, and when does sharing pay?
#
# Take $n$ unit vectors in $d$ dimensions as rows of $E$. Their Gram matrix $G = EE^\top$ holds all cosines, with ones on the diagonal;
# $\mu$ is the largest size $|\cos|$ of an entry off the diagonal. Two facts on eigenvalues are used. They add up to the trace, as in the first notebook; and
# their squares add up to $\|G\|^2$, the sum of the squares of all entries. Since the rank is at most $d$ (ninth notebook), all but $d$ of the eigenvalues are 0.
#
# *An example.* $(1, 0)$, $(0, 1)$ and $(0.6, 0.8)$ in the plane. Off the diagonal stand 0, 0.6 and 0.8, each twice, so $\|G\|^2 = 3 + 2\,(0.36 + 0.64) = 5$
# and $\mu = 0.8$. The eigenvalues are 2, 1 and 0: sum 3, squares 5. The two that may differ from 0 have the mean $t = 1.5$, and their squared distances from it are
# $0.25 + 0.25 = 0.5$, which is $5 - 2 \cdot 1.5^2$. Had they been equal, $\|G\|^2$ would have been smaller.
#
# 1. `spread_steps`: call the $d$ eigenvalues that may differ from 0 $l_i$, their mean $t$, and $F = \sum_i l_i^2$. Lead `sum((l_i - t)^2, i)` to
#    `F - t^2*d`. Rules: *linearity of sums* (a constant summed over all $i$ gives `d` times the constant), *definition* (of $F$ and of $t$). One line per step, please.
#    You may add the reason: `…  # definition`.
#
# What you started from is never negative, and $t = n/d$ since the trace is $n$. So $\|G\|^2 \ge n^2/d$, with equality if the $d$ eigenvalues are equal.
#
# 2. `bound`: the other way round $\|G\|^2 \le n + n(n-1)\mu^2$, as no entry off the diagonal is larger than $\mu$. Which lower bound for $\mu$ follows, if $n \ge d$? A formula in `n` and `d`.
#    (A bound need not be reached: for four vectors in the plane it is 0.5774, and no four do better than 0.7071.)
# 3. `E`: six unit vectors in *three* dimensions, as rows, for which $\mu$ is at the bound, up to 0.001. Any that do it are right.
#
# Now three features in a plane, each with a direction of its own, 120° apart. What is stored is $E^\top x$, the sum of the directions of the features that are on; what is
# read is $\operatorname{ReLU}(E E^\top x) = \operatorname{ReLU}(G x)$.
#
# 4. `G`: the Gram matrix. `read`: what is read for $x = (1, 0, 0)$, for $(1, 1, 0)$ and for $(1, 1, 1)$, a row for each.
# 5. `loss`: each feature is 1 with probability $p$ and 0 otherwise, independently of the others. The expected squared error of what is read, $\mathbb{E}\,\|\operatorname{ReLU}(Gx) - x\|^2$, a
#    formula in `p`.
# 6. `threshold`: the plane could store two of the features exactly, with the third one always read as 0. That has the error $p$. Below which $p$ is sharing better?

# %% exercise="superposition"
spread_steps = None  # a list of lines
bound = None         # a formula in n, d
E = None             # six rows of three numbers
G = None             # three rows of three numbers
read = None          # three rows of three numbers
loss = None          # a formula in p
threshold = None     # one number

# %% [markdown]
# **Where you meet this.** Equal angles between all lines are rare: there can be no more than $d(d+1)/2$ such lines. *Small* angles to the orthogonal are
# plentiful. In $d$ dimensions there are $e^{d \varepsilon^2/4}$ vectors of signs (rounded down) whose cosines all lie below $\varepsilon$ in size; that is Hoeffding's inequality, added up over all
# pairs. For $d = 1000$ and $\varepsilon = 0.2$ these are 22,026, beside 1,000 that are exactly orthogonal, and the number grows exponentially with $d$. So much is mathematics. That networks make use of it is *measured on trained
# models*: Elhage et al. (2022) trained small ones which store rare features in such figures, and went back to exact directions where features were frequent. Dictionaries with many more features
# than dimensions (sparse autoencoders) are today's attempt to read the shared room of large models.

# %% [markdown]
# ### ★ Two heads that copy
#
# *30 minutes, an optional star exercise.* In the eleventh notebook you saw two heads of a trained model that carry copying together: one tells each letter what stood in front of it, the other
# looks behind the earlier copy. Here you build such a pair, with no training at all: a model of two layers with one head each, which continues
# $\dots x\, y \dots x$ with $y$, for any $x$ and $y$, seen before or not.
#
# The stream has the width $3V + n$, in four parts one behind the other: the *token* (one-hot, $V$ places), the *position* (one-hot, $n$ places), a slot *previous* ($V$ places) and a slot
# *output* ($V$ places). Both slots are empty at first. There are no norms and no feed-forward layers. A layer is
#
# $$ A = \operatorname{softmax}\bigl(X\, qk\, X^\top\bigr) \text{ (causal)}, \qquad X \leftarrow X + A\, X\, ov , $$
#
# where $qk$ stands for $W_Q W_K^\top$ and $ov$ for $W_V W_O$, both square. Strings begin with the start symbol 0, which comes nowhere else. The next cell runs such a model.

# %%
def two_layers(W, ids, V, n):
    """Return the logits (t, V), which are the output slot, and the attention (2, t, t) of both layers."""
    t, maps = len(ids), []
    X = np.zeros((t, 3 * V + n))
    X[np.arange(t), ids] = 1
    X[np.arange(t), V + np.arange(t)] = 1
    for layer in "12":
        scores = X @ W["qk" + layer] @ X.T
        scores[~np.tri(t, dtype=bool)] = -np.inf
        A = np.exp(scores - scores.max(axis=1, keepdims=True))
        A = A / A.sum(axis=1, keepdims=True)
        X = X + A @ X @ W["ov" + layer]
        maps.append(A)
    return X[:, 2 * V + n :], np.stack(maps)


# %% [markdown]
# *An example* of how to read it. $qk_{rc}$ is what a query with a 1 in place $r$ and a key with a 1 in place $c$ add to their score; $ov_{rc}$ says that a 1 in place $r$ of what is attended to becomes a 1 in place $c$ of
# the stream. With $V = 2$ and $n = 3$ the token has the places 0 and 1, the position 2 to 4, *previous* 5 and 6, *output* 7 and 8. If 50 stands in row 4, column 2 of $qk$ and nothing else, then
# position 2 attends to position 0, by $e^{50}$ to 1. All others have equal scores and average evenly over what they see. If $ov$ has a 1 in row 0, column 8, then every attended symbol 0 votes for the symbol 1.
#
# 1. `induction_weights(V, n)` returns a dictionary with `qk1`, `ov1`, `qk2`, `ov2`, each of shape $(3V + n, 3V + n)$. On strings of 0 and a repeated word of two or more different symbols
#    - layer 1 puts at least 0.99 on the token before, at every position but the first;
#    - layer 2 puts at least 0.99 on the keys behind earlier copies of the token, wherever there are any;
#    - from the second pass of the word on, the largest logit is that of the symbol that comes next;
#    - no entry is larger than 100 in size.
#
#    For $V = 6$ and $n = 12$ the matrices are of width 30, and 29 entries other than 0 are enough. Try yours with `two_layers`.
# 2. `score`: the others have the score 0. Which score gives one of $n$ keys the weight $p$? A formula in `n` and `p`. (So you know how large entries have to be.)
# 3. Leave the start symbol away: the string is $(1, 2, 3, 1)$, with your weights for $V = 6$, $n = 12$. `row`: the attention of layer 2 at the last token. `logits`: those of the symbols 0 to 3 there.
#    Think first, run it then: what does position 0 tell about itself?
# 4. `why_two`: what makes two layers necessary?
#    - **A** The key of the second head must know the token *before* it, and only an earlier layer can have written that.
#    - **B** One head can't look at one key alone.
#    - **C** What one layer gives are convex combinations of values.
#    - **D** Positions are lost after one layer.

# %% exercise="induction_by_hand"
import numpy as np


def induction_weights(V: int, n: int) -> dict:
    """Return qk1, ov1, qk2, ov2 of two heads that continue … x y … x with y.

    >>> sorted(induction_weights(6, 12)), induction_weights(6, 12)["qk1"].shape
    (['ov1', 'ov2', 'qk1', 'qk2'], (30, 30))
    """
    raise NotImplementedError


score = None    # a formula in n, p
row = None      # four numbers
logits = None   # four numbers
why_two = None  # one of "A", "B", "C", "D"

# %% [markdown]
# **Where you meet this.** No pair of tokens is stored anywhere in these matrices. What they hold is a procedure, "look for what I have here, and say what came after it", and it works for words that nobody
# has seen before. That is the smallest example of what is called *in-context learning*. That trained models contain such pairs of heads is *measured on trained models*: the tiny one of the eleventh notebook does, with the
# head for the previous token in its first layer and the copying one in its second. Olsson et al. (2022) found them in transformers of two and more layers, none in those of one layer, and saw them form just when
# the models got better at using their context.

# %% [markdown]
# ## 4 Training and serving

# %% [markdown]
# ### Parameters or tokens?
#
# *25 minutes.* In the eleventh notebook you fitted how the loss falls with the compute. But compute can be spent on two things: a larger model, or more text. A
# forward and a backward pass cost about $C = 6ND$ FLOPs for $N$ parameters and $D$ tokens (a multiply–add is two FLOPs, and the backward pass counts twice: the eighth notebook's madds, six times). Hoffmann et al. (2022) fitted
#
# $$ L(N, D) = E + \frac{A}{N^\alpha} + \frac{B}{D^\beta}, \qquad E = 1.69,\; A = 406.4,\; B = 410.7, $$
#
# to the losses of some four hundred models. All of these constants are *measured on trained models*; what follows from them is calculus. For a given $C$: which $N$ and $D$ have the smallest loss?
#
# *An example* with easy numbers: $L = 4/N + 1/D$ (so $\alpha = \beta = 1$, $A = 4$, $B = 1$, $E = 0$) and $C = 24$. Then $D = 4/N$, and $L = 4/N + N/4$ has the derivative $-4/N^2 + 1/4$, which is 0 at $N = 4$.
# So $N = 4$, $D = 1$ and $L = 2$. At $N = 2$, $D = 2$ it would be 2.5. The picture shows how flat the minimum is for the published law.

# %% tags=["demonstration"]
if plt:
    N = np.logspace(7, 9.5, 200)
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for compute, line in ((1e18, "k-"), (1e19, "k--")):
        axes.semilogx(N, 1.69 + 406.4 / N**0.34 + 410.7 / (compute / 6 / N) ** 0.28, line, label=f"$C$ = {compute:.0e}")
    axes.set(xlabel="parameters $N$", ylabel="loss", ylim=(2.8, 5))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the loss over $N$ from $10^7$ to $10^{9.5}$, at two computes, with $\alpha = 0.34$ and $\beta = 0.28$. Both curves are wide valleys. For $10^{18}$ FLOPs the bottom lies at 81 million parameters, for $10^{19}$ at 228 million, and lower.
# Half or twice as many parameters, with the tokens that are left for them, cost between 0.03 and 0.04 of loss.
#
# 1. `exponent`: the optimal $N$ is a constant times a power of $C$. Which power? A formula in `alpha` and `beta`.
#
# Now with the published $E$, $A$, $B$, and with exponents and a compute of your own:

# %%
your_numbers("chinchilla")

# %% [markdown]
# 2. `N`, `D`: the optimal numbers of parameters and tokens, such as `3.219e10`. `per_parameter`: tokens per parameter.
# 3. `best_loss`: the loss there. `loss_at_20`: a common rule of thumb takes 20 tokens per parameter. The loss at that ratio, with the same compute.
# 4. A model of half the optimal $N$ that reaches the *same loss*. `tokens_factor`: how many times the optimal $D$ does it need? `compute_factor`: how many times the training compute?
#    Serving a token costs $2N$ FLOPs. `served`: after how many tokens served has the smaller model been cheaper, training included? In units of the optimal $D$.
# 5. `allocate(C, A, B, alpha, beta)` returns the optimal $N$ and $D$ for any such law. ($E$ doesn't matter.)
# 6. In a few sentences: what does the law *not* say? Think of where its constants come from, and of what $C$ pays for.

# %% exercise="chinchilla"
exponent = None        # a formula in alpha, beta
N = None               # one number
D = None               # one number
per_parameter = None   # one number
best_loss = None       # one number
loss_at_20 = None      # one number
tokens_factor = None   # one number
compute_factor = None  # one number
served = None          # one number, in units of D


def allocate(C: float, A: float, B: float, alpha: float, beta: float) -> "(N, D)":
    """Return the parameters and tokens with the smallest A/N^alpha + B/D^beta for 6 N D = C.

    >>> N, D = allocate(24, 4, 1, 1, 1)
    >>> round(N, 6), round(D, 6)
    (4.0, 1.0)
    """
    raise NotImplementedError

# %% [markdown] exercise="chinchilla" part="limits"
# *Your answer, three to five sentences.*

# %% [markdown]
# **Where you meet this.** The compute of Gopher, $5.76 \cdot 10^{23}$ FLOPs, went into 280 billion parameters; with the same compute Chinchilla (70 billion parameters, $1.4 \cdot 10^{12}$ tokens) was the better model. Llama-3-8B,
# with its 8,030,261,248 parameters, was trained on about $15 \cdot 10^{12}$ tokens: 1868 for each parameter, and $7.2 \cdot 10^{23}$ FLOPs. You have just computed why somebody would do that.

# %% [markdown]
# ### Guess ahead, keep the law
#
# *35 minutes.* A large model decodes one token in each step, and a step takes as long for five tokens as for one: it waits for its weights (the last exercise of this notebook). So let a small, quick model write a *draft* of
# a few tokens, and let the large one, the *target*, look at all of them in a single step. Which ones may stay? In the seventh notebook decoding was greedy, and a draft could be compared with it. With sampling the
# result should have the target's *law*, exactly, although the tokens were drawn from another one.
#
# Let $p$ be the law of the target for the next token and $q$ that of the draft model. The rule: draw $x$ from $q$, accept it with probability $\min(1,\, p_x/q_x)$; otherwise draw from
# $(p - q)_+$, the positive part, divided by its sum.
#
# *An example.* Two tokens, $p = (0.6, 0.4)$ and $q = (0.8, 0.2)$. Token 0 is accepted with probability $0.6/0.8 = 0.75$, token 1 always. A draft is accepted with probability $0.8 \cdot 0.75 + 0.2 \cdot 1 = 0.8$. The positive part of
# $p - q = (-0.2, 0.2)$ is $(0, 0.2)$, so after a rejection token 1 comes. Token 0 comes out with $0.8 \cdot 0.75 = 0.6$, token 1 with $0.2 + 0.2 \cdot 1 = 0.4$. That is $p$.
#
# 1. `law_steps`: show it in general. Let $c_i = \min(p_i, q_i)$: then the acceptance is $c_i/q_i$ and the positive part $p_i - c_i$. Token $i$ is drafted and accepted, or drawn after a rejection; start with
#
#    `q_i*(c_i/q_i) + (1 - sum(q_k*(c_k/q_k), k))*(p_i - c_i)/sum(p_k - c_k, k)`
#
#    and end with `p_i`. Rules: *linearity of sums*, *weights sum to one* (of $p$). One rule a line, please; you may add the reason.
#
# Your own laws of three tokens:

# %%
your_numbers("speculative")

# %% [markdown]
# 2. `acceptance`: with which probability is each of the three tokens accepted, if it is the draft? `overall`: with which probability is a draft accepted? `after_rejection`: the law of what is drawn after a rejection, three numbers.
#
# A **round** has $\gamma$ drafts, one after the other. They are verified from the first one on. The first that is rejected is replaced as above, and the round ends there. If all $\gamma$ are accepted, the target's law for the place behind them is known, too, and
# one more token is drawn from it.
#
# 3. `tokens`: let every draft be accepted with probability $\alpha$, independently of the others. How many tokens does a round give in the mean? A formula in `alpha` and `gamma`, without a sum.
# 4. `tokens_at_4`: that for $\alpha = 0.8$ and $\gamma = 4$. `speedup`: a draft takes 0.05 of the time of a step of the target, and verifying takes one step. How many times as fast is a round of four drafts as plain decoding? `best_gamma`, `best_speedup`: which
#    $\gamma$ is the best for this $\alpha$, and how fast is it?

# %% tags=["demonstration"]
if plt:
    gamma = [1, 2, 3, 4, 6, 8, 10, 13, 16, 20]
    speed = {
        0.9: [1.81, 2.46, 2.99, 3.41, 4.01, 4.38, 4.57, 4.67, 4.63, 4.45],
        0.6: [1.52, 1.78, 1.89, 1.92, 1.87, 1.77, 1.66, 1.51, 1.39, 1.25],
        0.1: [1.05, 1.01, 0.97, 0.93, 0.85, 0.79, 0.74, 0.67, 0.62, 0.56],
    }
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for share, line in ((0.9, "ko-"), (0.6, "kx--"), (0.1, "k.:")):
        axes.plot(gamma, speed[share], line, label=f"$\\alpha$ = {share}", ms=4)
    axes.axhline(1, color="0.7", lw=0.8)
    axes.set(xlabel="drafts in a round", ylabel="speed-up", xticks=range(1, 21, 3))
    axes.legend()
    plt.show()

# %% [markdown]
# *The picture:* the speed-up over $\gamma$ from 1 to 20 for $\alpha$ = 0.9, 0.6 and 0.1. At 0.9 it climbs to 4.67 at 13 drafts and then falls very slowly; at 0.6 it is largest at 4 drafts, 1.92. At 0.1 it begins at 1.05, and from three drafts on it is below 1: a poor draft costs time.
#
# 5. `verify(draft, P, Q, u, r)` is one round, with nothing random in it: it takes the numbers from outside. `draft` holds $\gamma$ tokens; row $i$ of `Q`, $(\gamma, V)$, is the law from which draft $i$ was drawn; row $i$ of `P`, $(\gamma + 1, V)$, the target's law at
#    the same place. Draft $i$ is accepted if $u_i < p/q$. A token is drawn from a law with `r`, from 0 to 1, by inverse distribution: the first token at which the cumulative sum is larger than $r$. Return the tokens of the round as a list of whole numbers.
#    *Example:* with $\gamma = 1$, $V = 2$ and the laws from above, $p$ in both rows, draft 0, $u = 0.8$ and any $r$: since $0.8 \ge 0.75$ it is rejected, and `[1]` comes.

# %% exercise="speculative"
import numpy as np

law_steps = None        # a list of lines
acceptance = None       # three numbers
overall = None          # one number
after_rejection = None  # three numbers
tokens = None           # a formula in alpha, gamma
tokens_at_4 = None      # one number
speedup = None          # one number
best_gamma = None       # a whole number
best_speedup = None     # one number


def verify(draft: "(γ,)", P: "(γ + 1, V)", Q: "(γ, V)", u: "(γ,)", r: float) -> list:
    """Return the tokens of a round: accepted drafts, and one more.

    >>> p, q = np.array([0.6, 0.4]), np.array([0.8, 0.2])
    >>> verify(np.array([0]), np.stack([p, p]), q[None], np.array([0.8]), 0.3)
    [1]
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** Leviathan et al. (2023) and Chen et al. (2023) report decoding two to three times as fast, *measured on trained models*; today's serving programs have it built in. The law is exact for *any* draft model, also for a bad one. The speed is not: with
# $\alpha = 0.1$ and four drafts at 0.05 a step one is slower than without, by a factor of 0.926. One minus the overall acceptance has a name, the total variation distance of $p$ and $q$.

# %% [markdown]
# ### ★ One map, three programs
#
# *45 minutes, an optional star exercise.* In the ninth notebook causal linear attention was a recurrence: a state of fixed size to which each token adds $k_t v_t^\top$. Nothing ever leaves it, so a long text fills it up. Many of today's models
# let it fade: with a factor $a_t$ from 0 to 1, which may depend on the token,
#
# $$ S_t = a_t\, S_{t-1} + k_t v_t^\top, \qquad y_t = S_t^\top q_t . $$
#
# (There is no denominator, and no feature map; $S_{-1} = 0$.) The same outputs are $(L \circ QK^\top)\, V$, entry by entry times a table of decays: $L_{ij} = a_{j+1} \cdots a_i$ for $j \le i$ and 0 above the diagonal. The program in $n$ steps is good for decoding, the table for
# short texts, and for long ones there is a third: a table within each chunk of $c$ tokens, a state from chunk to chunk.
#
# *An example* with three tokens of width 1, $a = (1, 0.2, 0.5)$, $q = (1, 1, 1)$, $k = (1, 1, 2)$, $v = (10, 3, 1)$. The states are $10$; $0.2 \cdot 10 + 3 = 5$; $0.5 \cdot 5 + 2 = 4.5$. From the table: the last row of $L$ is $(0.2 \cdot 0.5,\; 0.5,\; 1) = (0.1, 0.5, 1)$, and
# $0.1 \cdot 10 + 0.5 \cdot 3 + 1 \cdot 2 = 4.5$.
#
# 1. `L`, `y`: by hand, the table and the outputs for four tokens of width 1, $a = (1, \tfrac12, 0, \tfrac12)$, $q = (1, 1, 2, 1)$, $k = (1, 2, 1, 1)$, $v = (4, 1, 3, 2)$.
# 2. `decay_recurrent(Q, K, V, a)`, `decay_quadratic(Q, K, V, a)` and `decay_chunked(Q, K, V, a, c)`: the three programs, for $Q$, $K$ of shape $(n, d)$, $V$ of shape $(n, d_v)$ and $a$ of shape $(n,)$. All give the same, also where factors are 0, where a product of many of them is too small for a
#    number, and where $c$ doesn't divide $n$ or is larger. Work and memory of the first and, for a given $c$, of the third grow like $n$.
# 3. `ranks`: take $n = 8$. What rank has the block of $L$ in rows 5 to 7 and columns 0 to 3, if no factor is 0? And the block of $L \circ QK^\top$ in rows 4 to 7 and columns 0 to 3, with $d = 3$ and vectors in general position? Two whole numbers.
# 4. `madds`: those of the chunked program, for $n$ tokens in chunks of $c$, all widths $d$, with full $c \times c$ tables within a chunk, and without those for the decays. A formula in `n`, `c` and `d`.
#
# Fading forgets everything alike. The **delta rule** corrects: $S \leftarrow S + k\,(v - S^\top k)^\top$ first asks what the state answers to this key, and writes the difference only. Write the value 5 under the key $(1, 0)$ and then 3 under the same key: by plain adding the key reads 8 afterwards, by the delta rule 3.
#
# 5. `added`: write the value 5 under the key $(1, 0)$, then 4 under the key $(0.6, 0.8)$, by plain adding, without decay. What is read with the second key, and what with the first? `corrected`: the same two by the delta rule.
# 6. `why_no_ratio`: with $p_i = a_0 \cdots a_i$ it seems that $L_{ij} = p_i/p_j$. Why does nobody compute it so?
#    - **A** It is 0/0 where some factor is 0, and where products have become too small for a number.
#    - **B** It needs $n^2$ divisions.
#    - **C** It is wrong for $j = 0$.
#    - **D** It is not causal.

# %% exercise="decay_duality"
import numpy as np

L = None             # four rows of four numbers
y = None             # four numbers
ranks = None         # two whole numbers
madds = None         # a formula in n, c, d
added = None         # two numbers: read with the second key, with the first
corrected = None     # two numbers
why_no_ratio = None  # one of "A", "B", "C", "D"


def decay_recurrent(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", a: "(n,)") -> "(n, d_v)":
    """Return the outputs, token by token with a state.

    >>> k, v = np.array([[1.0], [1], [2]]), np.array([[10.0], [3], [1]])
    >>> decay_recurrent(np.ones((3, 1)), k, v, np.array([1, 0.2, 0.5])).ravel()
    array([10. ,  5. ,  4.5])
    """
    raise NotImplementedError


def decay_quadratic(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", a: "(n,)") -> "(n, d_v)":
    """Return the outputs from the table of all pairs.

    >>> k, v = np.array([[1.0], [1], [2]]), np.array([[10.0], [3], [1]])
    >>> decay_quadratic(np.ones((3, 1)), k, v, np.array([1, 0.2, 0.5])).ravel()
    array([10. ,  5. ,  4.5])
    """
    raise NotImplementedError


def decay_chunked(Q: "(n, d)", K: "(n, d)", V: "(n, d_v)", a: "(n,)", c: int) -> "(n, d_v)":
    """Return the outputs chunk by chunk: a table within, a state between.

    >>> k, v = np.array([[1.0], [1], [2]]), np.array([[10.0], [3], [1]])
    >>> decay_chunked(np.ones((3, 1)), k, v, np.array([1, 0.2, 0.5]), 2).ravel()
    array([10. ,  5. ,  4.5])
    """
    raise NotImplementedError

# %% [markdown]
# **Where you meet this.** A constant factor for each head is RetNet (Sun et al. 2023), one that depends on the token is Mamba-2 (Dao and Gu 2024), who call the two forms a duality; the delta rule is older (Schlag et al. 2021) and was made parallel by Yang et al. (2024). The ranks say why a state of fixed size
# suffices: what a chunk can hear of everything before it goes through $d$ numbers for each column of the values. For $n = 4096$ and $c = d = 64$ the table takes 2,147,483,648 madds in one step, the recurrence 33,554,432 in 4096 steps one after the other, the chunks 67,108,864 in 64. Twice the arithmetic for a 64th of the steps: that this is
# faster on a GPU is *measured*. And a ratio of products would not last long: with factors of ½ they are 0 in double precision from 1,075 factors on.

# %% [markdown]
# ### Bandwidth or arithmetic?
#
# *20 minutes.* The eighth notebook counted the madds of a decoding step, and the bytes that are kept. Which of the two takes the time? A device is described by two numbers: it does $F$ FLOPs a second, and reads $B$ bytes a second. A step
# can't be faster than its FLOPs over $F$, nor than its bytes over $B$. What decides is its **intensity**, FLOPs for each byte that is read: below $F/B$ the arithmetic units wait for the memory, above it the memory waits for them.
#
# *An example.* A device with $F = 10^{14}$ and $B = 10^{12}$, so $F/B = 100$, and a model of $10^9$ weights in 4 bytes each. One token for one sequence: $2 \cdot 10^9$ FLOPs take 0.02 ms, $4 \cdot 10^9$ bytes take 4 ms. Nearly all of the time the units wait. The picture shows what such a device
# can do at each intensity; it is called a roofline.

# %% tags=["demonstration"]
if plt:
    per_byte = np.logspace(-1, 4, 200)
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    axes.loglog(per_byte, np.minimum(1e14, 1e12 * per_byte), "k-")
    axes.axvline(100, color="k", ls=":")
    axes.axvline(0.5, color="k", ls="--")
    axes.set(xlabel="FLOPs for each byte", ylabel="FLOPs a second")
    plt.show()

# %% [markdown]
# *The picture:* FLOPs a second over the intensity, from 0.1 to 10,000, both logarithmic. A straight line climbs from $10^{11}$ to $10^{14}$, which it reaches at the dotted line, intensity 100; from there on it is level. The dashed line is the example, at $2/4 = 0.5$: $5 \cdot 10^{11}$ FLOPs a second, half a percent of what the units could do.
#
# 1. `intensity`: one decoding step for $b$ sequences at once, $w$ bytes for each weight. How many FLOPs for each byte of the weights? A formula in `b` and `w`. `batch`: at which $b$ is this $F/B$? A formula in `F`, `B` and `w`.
#    `your_batch`: in numbers, for your device, and weights in 4 or 8 bits with their scales:

# %%
your_numbers("decode_roofline")

# %% [markdown]
# From here on $F = 10^{15}$, $B = 4 \cdot 10^{12}$ and the same model for everybody: 8,030,261,248 parameters of 2 bytes, and a cache of 131,072 bytes for each token (8 key heads, as in *Eight queries, two keys* above).
#
# 2. `least_ms`: one sequence. How many milliseconds does a token take at least, if nothing but the weights is read? `per_second`: how many tokens a second is that?
# 3. `cache_bytes`: the cache of 8192 tokens. `ms_with_cache`: milliseconds a token, with this cache read as well. `as_heavy`: the caches of how many such sequences weigh as much as the weights?
# 4. Now attention alone, in a step that decodes 16 sequences at once. There are 32 query heads of width 128, in 2 bytes. `per_cache_byte`: how many FLOPs come to each byte of the *cache*, with 32, 8 and 1 key heads? Count scores and values, not the softmax.
#    `per_latent_byte`: the same for latent attention with 128 heads, where a token leaves 512 numbers, of which scores *and* values are made, and 64 rotated ones for the scores alone. (The absorbed form: every head works on the 512 and 64 numbers themselves.)
# 5. Four sequences have the lengths 100, 700, 37 and 1500. Either 2048 places are reserved for each, or blocks of 16 places as they are needed. `blocks`: how many blocks are these together? `empty`: which share of the reserved memory stays empty, in the first case and in the second?

# %% exercise="decode_roofline"
intensity = None        # a formula in b, w
batch = None            # a formula in F, B, w
your_batch = None       # one number
least_ms = None         # one number, in milliseconds
per_second = None       # one number
cache_bytes = None      # a whole number
ms_with_cache = None    # one number, in milliseconds
as_heavy = None         # one number
per_cache_byte = None   # three numbers
per_latent_byte = None  # one number
blocks = None           # a whole number
empty = None            # two numbers

# %% [markdown]
# **Where you meet this.** All of these are lower bounds from a model with two numbers; *measured* times are above them. On this device sixteen sequences of 8192 tokens get at most 1925 tokens a second together, nearly eight times what one gets, since they share the weights. Prefilling is another matter: 2048 tokens
# at once bring 2,048 FLOPs to each byte of the weights, far beyond the ridge. So one machine is limited by its arithmetic while it reads a prompt and by its bandwidth while it answers; that is why drafts that are verified together cost no more than one token. It is also why keys are shared and made latent: fewer bytes for the same scores.
# Blocks for the cache are the idea of vLLM (Kwon et al. 2023), who found that earlier programs used between a fifth and two fifths of the memory that they had reserved.

# %% [markdown]
# ## What you can do now
#
# You can read the description of a model of today and say of each of its parts what it computes, what it costs and what it can't do: which cache a choice of heads leaves and what a step waits for, what a longer
# context does to rotations, where the weights of a row go that nobody wants, what a logit is made of, how many features share a stream, when a smaller model is the cheaper one. You have written the block, the
# verifying of drafts and the heads that copy, and you keep what follows from a calculation apart from what was measured once.
#
# Twelve notebooks ago attention was a softmax of four numbers that you computed by hand. Nothing that came since needed more than such calculations, done one after the other.
#
# **To read.**
#
# - Touvron et al. (2023), *Llama 2*: a model with the block and the shared keys of the first part, and why its authors chose them.
# - DeepSeek-AI (2024), *DeepSeek-V2*: latent keys and values, with the sizes that you have counted.
# - Elhage et al. (2021), *A mathematical framework for transformer circuits*: how to read weights, and the two heads that you built.
# - Pope et al. (2022), *Efficiently scaling transformer inference*: bandwidth and arithmetic for whole models on many devices.
# - Yang et al. (2024), *Parallelizing linear transformers with the delta rule over sequence length*: where states that forget are heading.
