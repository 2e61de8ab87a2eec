# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Softmax: shift, temperature, Jacobian
#
# Attention has to turn scores, any real numbers, into weights that are positive and add up to 1.
# The softmax does that:
#
# $$ p_i = \operatorname{softmax}(z)_i = \frac{e^{z_i}}{\sum_j e^{z_j}} . $$
#
# The inputs $z_i$ are called *logits*. Every $p_i$ is strictly positive, and not just
# non-negative as one often reads: in exact arithmetic no logit is ever ignored. A zero can only
# come out by rounding, or if a logit is $-\infty$, which is how masks will block things later.
#
# | part | you learn |
# |---|---|
# | 1 The function | to compute it, by hand and safely by machine; what it ignores |
# | 2 Temperature | to sharpen and flatten it; what it is a soft version of, and what not |
# | 3 Its derivative | the Jacobian: by proof, as code, as a matrix with eigenvalues |
# | 4 At work | the loss of a classifier, a softened teacher, sampling |
#
# The parts can be done on different days. How to work with it:
#
# - Logarithms are natural, indices start at 0, as in Python, and a softmax acts on the last axis.
# - Give numbers to at least four significant digits, small ones too (`0.0002907`, not `0.0003`).
#   They may be numbers, text (`"1/3"`, `"0.2 0.3 0.5"`) or computed by your own code.
# - Run the cells from top to bottom: short names such as `p` come back in several exercises. Each
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
    plt = None
    print("There is no matplotlib here. Below each picture's cell stands what it shows.")

# %% [markdown]
# ## First a picture
#
# A small model was trained to go on with texts such as `^BADGEBADGEBADGE`: a few letters from A to J, said again and
# again. It has read `^BADGE`, and says how likely it thinks each letter is to come next. Beside it stands what is
# exact. Where do the two differ?

# %% tags=["demonstration"]
in_echo = {
    "model": [0.287, 0.104, 0.165, 0.2, 0.066, 0.11],
    "exact": [0.25, 0.15, 0.15, 0.15, 0.15, 0.15],
    "of_B": [0.462, 0.287, 0.191],
    "entropy": [1.47, 1.9, 2.16],
}


def draw_echo():
    _, axis = plt.subplots(figsize=(6, 2.8), layout="constrained")
    places = range(6)
    axis.bar([i - 0.2 for i in places], in_echo["model"], 0.4, color="tab:blue", label="model")
    axis.bar([i + 0.2 for i in places], in_echo["exact"], 0.4, color="white", edgecolor="black", hatch="//", label="exact")
    axis.set(xticks=list(places), xticklabels=list("BCFHIJ"), xlabel="next letter after ^BADGE", ylabel="probability")
    axis.legend()
    plt.show()


if plt:
    draw_echo()

# %% [markdown]
# *The picture:* six pairs of bars, one for each letter that may follow. The model gives B 0.287, and C, F, H, I and J
# 0.104, 0.165, 0.2, 0.066 and 0.11. Exact would be 0.25 for B and 0.15 for each of the others.
#
# *A guess:* Where do numbers come from that are all positive and add up to 1? And what would you change if the
# model should be surer of itself? (Its other 0.068 go to symbols that can't come.) Keep your guess: near the end, *In a trained model* comes back to this picture.

# %% [markdown]
# ## 1 The function
#
# ### Five logits by hand
#
# Three steps lead from logits to probabilities. Subtract the largest logit from all of them (that
# changes nothing in the end, as you will prove soon, and keeps the numbers small), take
# exponentials, divide by their sum. For the logits $(0, 1, 3)$:
#
# $$ (0, 1, 3) \to (-3, -2, 0) \to (0.0498,\ 0.1353,\ 1) \to
#    \tfrac{1}{1.1851} (0.0498,\ 0.1353,\ 1) = (0.0420,\ 0.1142,\ 0.8438) . $$
#
# The next cell draws the two ends of this. What becomes of a gap of 1, and of one of 2?

# %% tags=["demonstration"]
if plt:
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.5), layout="constrained")
    stages = {"logits": [0, 1, 3], "probabilities": [0.0420, 0.1142, 0.8438]}
    for axis, (stage, heights) in zip(axes, stages.items(), strict=True):
        axis.bar_label(axis.bar(["0", "1", "2"], heights, color="0.6", edgecolor="black"))
        axis.set(title=stage, xlabel="index", ylim=(0, 1.2 * max(heights)))
    plt.show()

# %% [markdown]
# *The picture:* two bar charts over the indices 0, 1, 2. On the left the logits 0, 1 and 3. On the
# right the probabilities 0.042, 0.114 and 0.844: a step of 1 between logits makes a
# factor of $e \approx 2.72$, a step of 2 a factor of $e^2 \approx 7.39$.
#
# Now with pencil and paper (a pocket calculator is fine), for five logits of your own:

# %%
your_numbers("softmax_hand")

# %% [markdown]
# 1. `e`: the five exponentials, after the largest logit was subtracted from all.
# 2. `p`: the five probabilities.
#
# Look at the result before you go on: is it positive, does it add up to 1, do equal logits get
# equal entries?

# %% exercise="softmax_hand"
e = None  # five numbers
p = None  # five numbers that add up to 1

# %% [markdown]
# ### A softmax that does not overflow
#
# Typed in as it stands, the formula fails on harmless numbers. The logits $(1000, 1001, 1002)$
# have a perfectly good softmax, but $e^{1000}$ is larger than any floating-point number, and
# $\infty / \infty$ is NaN. At the other end $e^{-10000}$ is rounded to 0, and a row of such
# logits ends in $0/0$.
#
# The way out is the shift that you just used by hand: adding the same constant $c$ to all logits
# changes nothing. So you may choose $c$, for every row anew. Which $c$ makes sure that no
# exponential overflows *and* that the sum is never 0?
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
# Then a number worth knowing, `overflow_at`: from which $x$ on does `exp(x)` overflow, for float32
# and for float64? Two decimals are enough, but let the computer tell you: `np.finfo` knows the
# largest number of a type.

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
# ### What softmax cannot see
#
# A softmax looks at differences between logits and at nothing else. That is why the shift was
# allowed, and it is a fact about models too: no training can find out the common level of the
# logits, since it has no effect. A common *factor* is another matter.
#
# From here on you write some answers as formulas in text, with **a `*` for every product**:
# `exp(z1 - z2)`, `p1*(1 - p2)`, `p1**2/(p1 + p2)`; `^` works as well as `**`. A derivation is a
# list of such lines, **each equal to the one before** and without a sign of equality, for another
# identity perhaps
#
# ```python
# ["(a + b)**2 - (a - b)**2", "a**2 + 2*a*b + b**2 - a**2 + 2*a*b - b**2", "4*a*b"]
# ```
#
# Every step is worth points: all derivations here take at least two, so three lines or more. A step
# may be as small as you like.
#
# Take three logits, and write $Z = e^{z_1} + e^{z_2} + e^{z_3}$ and $p_i = e^{z_i} / Z$.
#
# 1. `steps`: prove that a common shift by $c$ leaves the first probability as it is. Begin with
#
#    $$ \frac{e^{z_1 + c}}{e^{z_1 + c} + e^{z_2 + c} + e^{z_3 + c}} , $$
#
#    show the factor that all terms have in common in a line of its own, and end with `p1`. You may
#    use `z1`, `z2`, `z3`, `c`, `Z`, `p1`, `p2`, `p3`.
# 2. `general`: the same for $n$ logits, where each line says **why** it follows from the one before,
#    behind a `#`. Begin with `exp(z_i + c)/sum(exp(z_j + c), j)`, a sum over all $j$, and end with `p_i`.
#    The reasons are *algebra*, *linearity of sums* (a factor that is the same in all terms comes out,
#    and a sum of sums is split) and *definition* (of $p_i$). For another sum:
#
#    ```python
#    ["sum(a*x_j, j)/a", "a*sum(x_j, j)/a  # linearity of sums", "sum(x_j, j)  # algebra"]
#    ```
# 3. `ratio`: what is $p_1 / p_2$, in terms of the logits?
# 4. `scaled`: all logits are multiplied by the factor $k$ below. What is the first entry of
#    $\operatorname{softmax}(k z)$, in terms of $p_1$, $p_2$, $p_3$ and with your number in place of $k$?
#    To test it: for $z = (0, 1, 2)$, $p = (0.0900, 0.2447, 0.6652)$, and doubled logits have
#    the softmax $(0.0159, 0.1173, 0.8668)$.

# %%
your_numbers("softmax_invariance")

# %% exercise="softmax_invariance"
steps = None   # a list of lines, the last is "p1"
general = None # a list of lines, each with its reason; the last is "p_i  # definition"
ratio = None   # a formula in z1, z2, z3
scaled = None  # a formula in p1, p2, p3

# %% [markdown]
# ### True or false about softmax
#
# Most of what one needs to know about softmax fits into a sentence each, and so does most of what
# is mistaken. Logits are finite real numbers here, there are three or more of them, and arithmetic
# is exact.
#
# - **A** The entries of a softmax add up to 1.
# - **B** Every entry is strictly positive.
# - **C** Doubling all logits changes nothing.
# - **D** A larger logit gets a larger entry, and equal logits get equal entries.
# - **E** Different logits give different outputs.
# - **F** Leave out one logit: all remaining entries are multiplied by one common factor.
# - **G** Applying softmax to the result of a softmax gives that result again.
# - **H** Permuting the logits leaves the output vector as it is.
# - **I** The ratio of two entries depends on their two logits alone.
# - **J** If one logit grows and the others stay, every other entry becomes smaller.
# - **K** The largest entry is larger than 1/2.
# - **L** Changing the sign of all logits turns every entry $p_i$ into $1 - p_i$.
# - **M** If all logits are equal, each entry is $1/n$, however large the logits are.
# - **N** Adding a number to a single logit leaves the other entries as they are.
#
# Which of the fourteen are asked of you:

# %%
your_numbers("softmax_props")

# %% [markdown]
# 1. `true_set`: the letters of **your** statements that are true, `{"A", "F"}` or `"AF"` for example.
#    You earn the share of the true statements that you name minus that of the false ones, so guessing
#    does not pay.
# 2. `counterexample`: an example settles for good that a statement is false, and here one is enough. Give three
#    *different* logits at which **each** of your false statements fails. (Where a statement compares with other
#    logits, made from these, choose them so that it fails.)

# %% exercise="softmax_props"
true_set = None        # letters
counterexample = None  # three numbers

# %% [markdown]
# ## 2 Temperature
#
# ### Cold, warm, hot
#
# A factor changes the probabilities, and that is useful. Dividing all logits by a number $\tau > 0$,
# the *temperature*, makes a softmax sharper or flatter:
#
# $$ p_i(\tau) = \frac{e^{z_i/\tau}}{\sum_j e^{z_j/\tau}} . $$
#
# The name is from physics, where states of energy $E_i$ occur with probabilities proportional to
# $e^{-E_i/\tau}$. Cold systems sit in their best state, hot ones are anywhere.
#
# **With a condition.** That the cold limit is a single 1 and zeros otherwise holds only if *one*
# logit is the largest. You will see what happens at a tie.
#
# The logits $(0, 1, 3)$ of the beginning once more: what does a temperature do to them?

# %% tags=["demonstration"]
def draw_cooled(temperature):
    powers = np.exp((np.array([0.0, 1.0, 3.0]) - 3) / temperature)
    shares = powers / powers.sum()
    figure = plt.Figure(figsize=(4.5, 2.6), layout="constrained")
    axis = figure.subplots()
    bars = axis.bar(["0", "1", "3"], shares, color="0.6", edgecolor="black")
    axis.bar_label(bars, fmt="%.3f")
    axis.set(xlabel="logit", ylabel="probability", ylim=(0, 1.15))
    listed = ", ".join(f"{share:.3f}" for share in shares)
    return figure, f"At the temperature {temperature} the probabilities are {listed}."


if plt:
    moving(draw_cooled, "temperature", [0.25, 0.5, 1, 2, 4, 16], 1)

# %% [markdown]
# *The picture:* three bars for the logits 0, 1 and 3. At the temperature 1 they are 0.042, 0.114 and 0.844. At ¼ the last one is
# 1 to three digits; at 16 the three are nearly equal, 0.306, 0.325 and 0.369.

# %%
your_numbers("softmax_temperature")

# %% [markdown]
# 1. `p`: the softmax of your logits $z$ at your three temperatures, one row for each, in the order
#    in which they stand in `tau`. (By hand, or with your function. The coldest row has small
#    entries, and they need their four digits too.)
# 2. `cold`, `hot`: the limits of $\operatorname{softmax}\bigl((1, 4, 4, 2)/\tau\bigr)$ for
#    $\tau \to 0^+$ and for $\tau \to \infty$, exactly.
# 3. `first_order`: how does the even distribution come about? Let $n$ logits have the mean
#    $\bar z$. For large $\tau$ expand $p_i(\tau)$ in powers of $1/\tau$: what are the terms up to
#    $1/\tau$? Write `zbar` for $\bar z$ and `z_i` for $z_i$. (Use $e^x \approx 1 + x$ above *and*
#    below.) Do your terms, added up over $i$, give 1?
# 4. `application`: which of these uses the temperature as a device of *training*?

# %% exercise="softmax_temperature"
p = None            # three rows of four numbers
cold = None         # four numbers
hot = None          # four numbers
first_order = None  # a formula in z_i, zbar, n, tau
application = None  # one of "A", "B", "C", "D"

# %% [markdown]
# ### Two logits are one sigmoid
#
# With two logits there is a single free number, the difference. So a softmax of $(a, b)$ must
# be a function of $a - b$, and it is one that you know.
#
# 1. `first`: write the first entry of $\operatorname{softmax}((a, b)/\tau)$ as a function of
#    $a - b$ and $\tau$. (In letters: your own $a$ and $b$ come next.)
# 2. `p`: the first entry for your own $a$ and $b$, at $\tau = 0.5$, $1$ and $4$.
# 3. `q`: the first entry of the softmax ($\tau = 1$) of $(-2, 0)$, of $(0, 0)$ and of $(2, 0)$. What
#    do the first and the last have to do with each other?

# %%
your_numbers("softmax_sigmoid")

# %% exercise="softmax_sigmoid"
first = None  # a formula in a, b, tau
p = None      # three numbers
q = None      # three numbers

# %% [markdown]
# ### Expected index is not a maximum
#
# The softmax is a soft version of a *one-hot* vector: where the largest logit stands there is
# nearly 1. From that, some texts make a "soft index of the maximum", the mean of the positions,
#
# $$ \sum_i i p_i \qquad (i = 0, 1, 2, \dots). $$
#
# It is better called by what it is, an **expected index**, and you are going to see why. The
# *value* of a maximum does have honest soft versions:
#
# $$ \operatorname{LSE}(z) = \log \sum_i e^{z_i} \qquad\text{and}\qquad \sum_i z_i p_i . $$
#
# The first is never below the maximum, the second never above it.

# %%
your_numbers("soft_argmax")

# %% [markdown]
# 1. `ei`: the expected index of your $z$ and of the vector $(a, 0, a)$ with your $a$.
# 2. `lse`, `boltz`: $\operatorname{LSE}(z)$ and $\sum_i z_i p_i$ of your $z$.
# 3. How far above the maximum can LSE lie? Let $m$ be the largest logit.
#    - `bound_steps`: lead $\log(e^{z_1} + e^{z_2} + e^{z_3})$ to
#      $m + \log(e^{z_1 - m} + e^{z_2 - m} + e^{z_3 - m})$, one equality a line, and show how the
#      factor that all terms have in common is taken out. You may use `z1`, `z2`, `z3`, `m`.
#    - `at_least`, `at_most`: for $n$ logits of which $m$ is the largest, between which two bounds
#      does $\sum_i e^{z_i - m}$ lie? Give the tightest ones that hold for all such logits (it
#      does not matter that one of them is approached and never reached). Together that is a proof
#      of $\max_i z_i \le \operatorname{LSE}(z) \le \max_i z_i + \log n$. Does your `lse` obey it?
# 4. `why`: what speaks against reading the expected index of $(a, 0, a)$ as the index
#    of the maximum?

# %% exercise="soft_argmax"
ei = None           # two numbers
lse = None          # one number
boltz = None        # one number
bound_steps = None  # a list of lines
at_least = None     # a number or a formula in n
at_most = None      # a number or a formula in n
why = None          # one of "A", "B", "C", "D"

# %% [markdown]
# ### Plot the two temperature pictures
#
# Numbers at three temperatures are one thing, seeing what heat does is another. Draw it twice:
#
# - **bars**: $\operatorname{softmax}\bigl((1, 2, 3, 4)/\tau\bigr)$ against the index, for $\tau = 1$, $2$
#   and $4$;
# - **a duel**: a logit of 3 has one rival, $x$. Its probability against $x$ from $-2$ to $2$, at the
#   same three temperatures.
#
# The data are checked, and a person looks at the pictures.
#
# 1. `bars`: the data of the first, a dictionary `{1: four numbers, 2: four numbers, 4: …}` with the
#    temperatures as keys.
# 2. `curve`: the data of the second, a dictionary `{1: (x, y), 2: (x, y), 4: (x, y)}`, where `x` and
#    `y` are arrays of the same length (`np.linspace` makes an `x`; fifty points are plenty). Should
#    the curves rise or fall?

# %% exercise="temperature_figure"
bars = None   # {1: …, 2: …, 4: …}, four numbers each
curve = None  # {1: (x, y), 2: (x, y), 4: (x, y)}

# %% [markdown]
# 3. The pictures. Asked for are labels on both axes, a legend that names the three temperatures,
#    and line styles, markers or hatching that tell the three apart without colour (`linestyle="--"`,
#    `hatch="//"`). If you can't use matplotlib, describe in comments what you would draw and what one
#    would see.

# %% exercise="temperature_figure" part="picture"
# Your pictures: plot `bars` and `curve` here.

# %% [markdown]
# ## 3 Its derivative
#
# ### The softmax Jacobian
#
# How does one probability react when one logit moves? All of them react, because the sum in the
# denominator contains every logit. The next cell shows it for three logits of which the first one
# moves.

# %% tags=["demonstration"]
if plt:
    first = np.linspace(-4, 6, 101)
    curves = np.exp([first, 0 * first, 0 * first + 1])
    curves /= curves.sum(axis=0)
    figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    for number, style in enumerate(["-", "--", ":"], 1):
        axis.plot(first, curves[number - 1], style, color="black", label=f"$p_{number}$")
    axis.set(xlabel="$z_1$, while $z_2 = 0$ and $z_3 = 1$", ylabel="probability")
    axis.legend()
    plt.show()

# %% [markdown]
# *The picture:* three curves over $z_1$ from −4 to 6. The solid one, $p_1$, climbs from nearly 0 to
# nearly 1, steepest in the middle. The dashed one, $p_2$, and the dotted one, $p_3$, fall meanwhile
# towards 0, and $p_3$ stays the same multiple of $p_2$ all the way.
#
# The slopes of such curves fill a matrix, the *Jacobian* $J_{ij} = \partial p_i / \partial z_j$. You
# derive two of its entries for three logits, and by
# symmetry you then know all nine: softmax treats its logits alike, so renaming 1, 2, 3
# renames the entries.
#
# With $Z = e^{z_1} + e^{z_2} + e^{z_3}$ and $p_i = e^{z_i}/Z$ there are two good routes:
#
# - the quotient rule $\left(\frac{u}{v}\right)' = \frac{u' v - u v'}{v^2}$;
# - the logarithm: $\partial p = p\ \partial \log p$, and $\log p_i = z_i - \log Z$.
#
# Write each derivation as a list of lines of text, each equal to the one before, in at least two
# steps. Known are `z1`, `z2`, `z3`, `Z`, `p1`, `p2`, `p3`, and `diff(f, z1)` is the derivative of `f`
# with respect to `z1`. For another function it might be
#
# ```python
# ["diff(exp(z1)**2, z1)", "2*exp(z1)*diff(exp(z1), z1)", "2*exp(z1)**2"]
# ```
#
# 1. `diag_steps`: from `diff(p1, z1)` to a form in $p_1$ alone.
# 2. `off_steps`: from `diff(p1, z2)` to a form in $p_1$ and $p_2$.
# 3. `general`: for $n$ logits and any $i$ and $j$, from `D(exp(z_i)/sum(exp(z_k), k), z_j)` to
#    `p_i*(delta(i,j) - p_j)`, with the reason of each step behind a `#`. `D(f, z_j)` is the derivative,
#    `delta(i,j)` is 1 if $i = j$ and 0 otherwise, so $\partial z_i/\partial z_j$ is `delta(i,j)`. The reasons
#    are *quotient rule*, *product rule*, *chain rule*, *logarithmic derivative*, *derivative of exp*,
#    *derivative of a sum*, *derivative of a variable*, *delta contraction* (a sum over
#    `a_k*delta(k,j)` is `a_j`), *definition* and *algebra*; one of them a line. For another function:
#
#    ```python
#    ["D(sum(z_k^2, k), z_j)", "sum(D(z_k^2, z_j), k)  # derivative of a sum",
#     "sum(2*z_k*D(z_k, z_j), k)  # chain rule", "sum(2*z_k*delta(k,j), k)  # derivative of a variable",
#     "2*z_j  # delta contraction"]
#    ```
# 4. `J`: the whole matrix in `p1`, `p2`, `p3`, as a list of three rows, each a list of three texts.
#    If your derivations end in something else than they should, but $J$ follows from them, it counts.
#
# Show the rule that you use in a line of its own. To test yourself, compare an entry with the slope
# of its curve in the picture: at $z_1 = 0$ the three probabilities are
# $(0.2119, 0.2119, 0.5761)$.

# %% exercise="jacobian_proof"
diag_steps = None  # a list of lines, the first is "diff(p1, z1)"
off_steps = None   # a list of lines, the first is "diff(p1, z2)"
general = None     # a list of lines, each with its reason
J = None           # a list of three rows

# %% [markdown]
# ### Why rows and columns add to zero
#
# Add up any row of $J$, or any column: you get 0. There are two facts behind this, and they are
# easily mixed up. You can even read that the *rows* add to zero for the reason that in truth
# belongs to the *columns*.
#
# A row belongs to one output: $\sum_j \partial p_i / \partial z_j$ is the reaction of $p_i$ when all
# logits move at the same pace. A column belongs to one input:
# $\sum_i \partial p_i / \partial z_j$ is the reaction of all outputs together when $z_j$ moves alone.
#
# To separate the two facts, the next cell takes a function that has only one of them. It makes
# $p_i \propto z_i^2 e^{z_i}$, divided by the sum as usual, and differentiates numerically.

# %%
def other_map(z):
    weights = z**2 * np.exp(z)
    return weights / np.sum(weights)


z, h = np.array([0.3, -1.0, 2.0]), 1e-6
other_J = np.array([(other_map(z + d) - other_map(z - d)) / (2 * h) for d in h * np.eye(3)]).T
print("sum of each row:   ", other_J.sum(axis=1).round(4))
print("sum of each column:", other_J.sum(axis=0).round(4) + 0.0)

# %% [markdown]
# 1. `row_steps`: for three logits, show that the first row of $J$ adds up to 0. Begin with
#    $p_1 (1 - p_1) + p_1 (0 - p_2) + p_1 (0 - p_3)$, show the sum whose value you know, and end
#    with `0`. You may use `z1`, `z2`, `z3`, `Z`, `p1`, `p2`, `p3`.
# 2. `general`: the same for $n$ logits and any row. Begin with `sum(p_i*(delta(i,j) - p_j), j)`, end with
#    `0`, and give the reason of each step behind a `#`: *linearity of sums*, *delta contraction*,
#    *weights sum to one* or *algebra*.
# 3. `columns`, `rows`: which fact makes the columns add up to 0, for a function of which you know
#    nothing else, and which one the rows?
#
# The softmax has one more property: its $J$ is *symmetric*. With that, either fact gives both sums.
# It is a special feature of softmax, and no reason to exchange the two causes.

# %%
your_numbers("jacobian_sums")

# %% exercise="jacobian_sums"
row_steps = None  # a list of lines, the last is "0"
general = None    # a list of lines, each with its reason
columns = None    # one of "A", "B", "C", "D"
rows = None       # one of "A", "B", "C", "D"

# %% [markdown]
# ### Jacobian, JVP and VJP without the matrix
#
# As code, the matrix that you have derived is one line. But training never needs the
# matrix. It needs products with a vector $v$: $J v$ says how the probabilities react when the
# logits move along $v$ (a *JVP*), and $v^\top J$ carries a gradient backwards (a *VJP*). Since
# $J$ is symmetric, these are the same numbers here.
#
# For $2 \cdot 10^4$ logits, a small vocabulary, the matrix takes 3.2 GB, while $p$ and $v$ take 160 kB
# each. So write $J$ as a difference of two simple matrices, multiply each of them by $v$ on paper, and
# put brackets until no matrix is left.
#
# Write two functions, both for logits of shape `(n,)` and for batches of shape `(…, n)`:
#
# - `softmax_jacobian(z)` returns the matrix, or one for every vector of the batch;
# - `softmax_jvp(z, v)` returns the product in memory proportional to the size of `z`.
#
# Test yourself at $z = (1, 2, 3)$ and $v = (1, 0, -1)$, where $J v = (0.1418, 0.1408, -0.2826)$. What
# does an entry far from all others, as in $(1000, 0, 0)$, do to your code? Does your $J$ survive a
# comparison with difference quotients? You may call your `softmax` from above.

# %% exercise="jacobian_code"
import numpy as np


def softmax_jacobian(z: "(…, n)") -> "(…, n, n)":
    """Return the matrix of the derivatives ∂p_i/∂z_j.

    >>> softmax_jacobian(np.array([0.0, 0.0]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    raise NotImplementedError


def softmax_jvp(z: "(…, n)", v: "(…, n)") -> "(…, n)":
    """Return J v, without the matrix J.

    >>> softmax_jvp(np.array([0.0, 0.0]), np.array([2.0, 0.0]))
    array([ 0.5, -0.5])
    """
    raise NotImplementedError

# %% [markdown]
# ### How much gradient gets through
#
# In a network the gradient flows backwards through $J$. The eigenvalues say how much of it
# survives, and in which directions: $J$ is symmetric, so its spectral norm $\lVert J \rVert_2$ is its
# largest eigenvalue, since none of them is negative. That last claim needs a proof, and the
# proof says what $v^\top J v$ *is*.

# %%
your_numbers("jacobian_spectrum")

# %% [markdown]
# 1. `eig0`, `eig1`: the eigenvalues of $J$ at $z = (0, 0, 0)$ and at your own $z$, each in ascending
#    order. (The second by machine: `np.linalg.eigvalsh`.)
# 2. `form_steps`: let $m = p_1 v_1 + p_2 v_2 + p_3 v_3$ be the mean of $v$ under $p$. Since
#    $(J v)_i = p_i (v_i - m)$, the quadratic form is
#
#    $$ v^\top J v = v_1 p_1 (v_1 - m) + v_2 p_2 (v_2 - m) + v_3 p_3 (v_3 - m) . $$
#
#    Lead it to the *variance* of $v$ under $p$, the mean of the squared distances from $m$, one
#    equality a line, in at least two steps, one of which uses that $m$ is the mean. Being a sum of
#    squares with positive weights the variance can't be negative. You may use `v1`, `v2`, `v3`,
#    `p1`, `p2`, `p3`, `m`, and that the $p_i$ add up to 1.
# 3. `trace_steps`: the trace is the sum of the eigenvalues. Add up the diagonal $p_i (1 - p_i)$, and
#    end with a number and the squares of the probabilities, nothing else. You may use `p1`, `p2`,
#    `p3`. (If a line is found wrong, you are shown numbers that refute it. They add up to 1, yet some
#    may be above 1 or below 0: what you claim is an identity, and holds for those too.)
# 4. `norms`: the spectral norm for two logits, at $z = (0, 0)$ and at $z = (10, 0)$. (The second is
#    small: give it to four significant digits, `1.234e-5` say.)
# 5. `rank`: what is the rank of $J$ for $n$ finite logits?
# 6. `norm_bound`: which bound do all spectral norms of $J$ obey, and when are they close to it?

# %% exercise="jacobian_spectrum"
eig0 = None         # three numbers
eig1 = None         # three numbers
form_steps = None   # a list of lines
trace_steps = None  # a list of lines
norms = None        # two numbers
rank = None         # one of "A", "B", "C", "D"
norm_bound = None   # one of "A", "B", "C", "D"

# %% [markdown]
# ## 4 At work
#
# ### Log-sum-exp and cross-entropy
#
# A classifier gives logits $z$, and the right class is $y$. Its loss is the *cross-entropy*
#
# $$ -\log p_y = \operatorname{LSE}(z) - z_y . $$
#
# So its gradient needs no more than the gradient of LSE, which turns out to be an old friend. It
# is the reason why softmax and logarithm are so often seen together: one undoes what the other
# makes difficult.

# %%
your_numbers("lse_gradient")

# %% [markdown]
# 1. `lse_steps`: for $n$ logits, lead `D(log(sum(exp(z_k), k)), z_j)` to a single name, with the reason
#    of each step behind a `#`: *chain rule*, *derivative of a sum*, *derivative of exp*, *delta
#    contraction*, *definition* or *algebra*.
# 2. `lse_slope`: for three logits, what is $\partial \operatorname{LSE} / \partial z_1$, in terms of
#    $p_1$, $p_2$, $p_3$?
# 3. `lse_curvature`: and $\partial^2 \operatorname{LSE} / \partial z_1 \partial z_2$?
# 4. `loss`, `grad`: for your own logits, and the target at index $y$ (counted from 0), the loss
#    and its gradient with respect to the logits. What do the entries of the gradient add up to?

# %% exercise="lse_gradient"
lse_steps = None      # a list of lines, each with its reason
lse_slope = None      # a formula in p1, p2, p3
lse_curvature = None  # a formula in p1, p2, p3
loss = None           # one number
grad = None           # three numbers

# %% [markdown]
# ### A softened teacher
#
# A large network, the *teacher*, knows more than which class is right: it knows which wrong ones
# are nearly right. At temperature 1 these small probabilities hardly count. In *distillation* both
# the teacher's and the student's logits are divided by some $\tau > 1$ before the softmax,
#
# $$ t = \operatorname{softmax}(z^{\mathrm t}/\tau), \qquad s = \operatorname{softmax}(z^{\mathrm s}/\tau), \qquad
#    \operatorname{KL}(t \mathrel{\Vert} s) = \sum_i t_i \log \frac{t_i}{s_i} , $$
#
# and the student is trained to make this divergence small. The teacher's logits are
# $z^{\mathrm t} = (2, 0, -2)$, the student's $z^{\mathrm s} = (1, 1, -2)$, and $\tau = 2$.
#
# 1. `t`, `s`: the two distributions.
# 2. `kl`: their divergence $\operatorname{KL}(t \mathrel{\Vert} s)$.
# 3. `kl_slope`: its derivative with respect to the student's logit $z_i^{\mathrm s}$, for any
#    $\tau$, in terms of `s_i`, `t_i` and `tau`. (The cross-entropy of the last exercise, with $t$ in
#    place of a single target; and the chain rule.)
# 4. `kl_grad`: the whole gradient with respect to the student's logits, in numbers.
# 5. `limit`: as $\tau$ grows, the gradient dies like $1/\tau^2$, and so the loss is often multiplied
#    by $\tau^2$. What is the limit of $\tau^2$ times the gradient for $\tau \to \infty$, as three exact
#    numbers? (Your `first_order`, from *Cold, warm, hot*, holds for $t_i$ and for $s_i$.)

# %% exercise="distillation"
t = None         # three numbers
s = None         # three numbers
kl = None        # one number
kl_slope = None  # a formula in s_i, t_i, tau
kl_grad = None   # three numbers
limit = None     # three numbers

# %% [markdown]
# ### Sampling by adding noise
#
# To draw an index from a softmax one can compute all probabilities and spin a wheel. There is a
# second way, without any probability: add noise to each logit, and take the index of the
# largest sum,
#
# $$ \operatorname{argmax}_i\ (z_i + g_i) . $$
#
# If the $g_i$ are independent with the *standard Gumbel* distribution, index $i$ comes out with
# probability $p_i$ exactly. Such noise is $g = -\log(-\log u)$ with $u$ uniform between 0 and 1.
# With this trick, and a temperature, one can even differentiate through a
# random choice ("Gumbel-softmax"), since the noise no longer depends on what is learned.
#
# Write `gumbel_sample(z, size, rng)`. It returns `size` independent samples, as whole numbers. `rng`
# is a seed or a generator: begin with `rng = np.random.default_rng(rng)`, which takes both. Graded
# are the frequencies in $2 \cdot 10^5$ samples (a loop over samples is too slow), also for logits
# around 1000 and with $-\infty$ among them.

# %% exercise="gumbel_max"
import numpy as np


def gumbel_sample(z: "(n,)", size: int, rng: "seed or generator") -> "(size,), whole numbers":
    """Return size indices from 0 to n − 1, drawn with the probabilities softmax(z).

    >>> gumbel_sample(np.array([-np.inf, 0.0]), 5, 1)
    array([1, 1, 1, 1, 1])
    """
    raise NotImplementedError

# %% [markdown]
# ## In a trained model: how sure is it?
#
# Every notebook of this course comes back to one small model, in a section like this one. Its language is
# called *echo*. A sequence begins with `^`; then comes a *motif* of four to eight different letters from A
# to J, which is said again and again until there are 24 symbols:
#
# ```text
# ^BADGEBADGEBADGEBADGEBAD
# ```
#
# The model is a transformer of 5,552 numbers that was trained on such sequences. For every symbol it gives eleven
# logits, one for each symbol that may come next. How it gets them is what the other notebooks are about; what
# happens to them is a softmax.
#
# In *echo* the best possible answer is known. After `^BADGE` the motif has had five letters. It has four to
# eight in all, each as often, so it is over with probability $\tfrac14$, and B follows. Otherwise one of
# the unused letters C, F, H, I, J does, with $\tfrac15 \cdot \tfrac34 = 0.15$ each. And the model?

# %% tags=["demonstration"]
if plt:
    draw_echo()  # once more

# %% [markdown]
# *The picture:* six pairs of bars. The model gives B 0.287, and C, F, H, I and J 0.104, 0.165, 0.2, 0.066 and 0.11. Exact
# would be 0.25 for B and 0.15 for each of the others.
#
# So it knows what matters, that the motif may be over now and how likely that is. It has favourites among letters
# that are all alike, and it spends 7 % on symbols that can't come. With the temperatures
# $\tau = \tfrac12$, 1 and 2 the probability of B is 0.462, 0.287 and 0.191, and the entropy of all eleven is 1.47, 1.90
# and 2.16 nats; that of the exact answer is 1.77. A temperature makes a model more or less sure. It
# can't tell it that H and I are alike.
#
# *Where you meet this.* GPT-2 small chooses among 50,257 tokens at every step; one that knew nothing would have an
# entropy of $\log 50257 = 10.82$ nats.
#
# ## What you can do now
#
# You can turn scores into probabilities without overflow, sharpen and soften them, say what softmax
# can't see, differentiate it without building a matrix, and draw from it without computing it.
#
# The next notebook uses it for what this course is about: to look something up.
#
# **To read.**
#
# - Bridle (1990), *Probabilistic interpretation of feedforward classification network outputs*: where the name
#   comes from.
# - Boyd and Vandenberghe (2004), *Convex optimization*, section 3.1.5: log-sum-exp, and why it is convex.
# - Hinton, Vinyals and Dean (2015), *Distilling the knowledge in a neural network*: what a temperature is good for.
# - Holtzman et al. (2020), *The curious case of neural text degeneration*: what it does to text.
# - 3Blue1Brown (2024), *But what is a GPT? Visual intro to transformers*, chapter 5 of *Deep learning*
#   (3blue1brown.com): a film; the softmax and its temperature stand near its end.
