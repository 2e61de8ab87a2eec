# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Normalisation, feed-forward, residuals, encoder block

# %%
your_numbers("ln_hand")
your_numbers("ln_vs_bn")
your_numbers("ffn_params")
your_numbers("ffn_code")
your_numbers("residual_grad")

# %% exercise="ln_hand"
mean = None  # one number
var = None   # one number
xhat = None  # four numbers
y = None     # four numbers

# %% exercise="ln_code"
import numpy as np


def layer_norm(
    x: "array (..., d)", gamma: "array (d,)", beta: "array (d,)", eps: float = 1e-5
) -> "array, same shape and type as x":
    """Normalise the last axis, then scale and shift.

    >>> layer_norm(np.array([[3.0, 5.0], [0.0, -8.0]]), np.array([1.0, 10.0]), np.zeros(2), eps=0)
    array([[ -1.,  10.],
           [  1., -10.]])
    """
    raise NotImplementedError


tiny = None  # three rows of four numbers

# %% exercise="ln_vs_bn"
means = None    # two whole numbers: layer norm, batch norm
ln_row = None   # four numbers
bn_row = None   # four numbers
changed = None  # one of "A", "B", "C", "D"

# %% [markdown] exercise="ln_vs_bn" part="why"
# *Your answer.*

# %% exercise="rmsnorm"
rms = None         # one number
y = None           # four numbers
equal_when = None  # one of "A", "B", "C", "D"
parameters = None  # two whole numbers: layer norm, RMSNorm

# %% exercise="ffn_params"
matrices = None     # a whole number
with_biases = None  # a whole number
formula = None      # a formula in d
ratio = None        # one number

# %% exercise="highway_gate"
y = None        # three numbers
slope = None    # a formula with T(x), F(x) and their derivatives
setting = None  # one of "A", "B", "C", "D"

# %% exercise="block_params"
groups = None  # three whole numbers: attention, feed-forward, norms
total = None   # a whole number
share = None   # one number
bare = None    # a whole number

# %% exercise="ffn_code"
import numpy as np

pre = None           # three numbers
hidden = None        # three numbers
y = None             # two numbers
input_shape = None   # a tuple
hidden_shape = None  # a tuple
output_shape = None  # a tuple


def ffn(
    x: "array (..., d)",
    W1: "array (d, f)",
    b1: "array (f,)",
    W2: "array (f, d)",
    b2: "array (d,)",
) -> "array (..., d)":
    """Apply max(0, x W1 + b1) W2 + b2 to every position.

    >>> ffn(np.array([[3.0], [-3.0]]), np.eye(1), np.zeros(1), np.eye(1), np.ones(1))
    array([[4.],
           [1.]])
    """
    raise NotImplementedError


# %% exercise="ffn_gelu"
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])

exact = None    # four numbers
slopes = None   # two numbers: at 0, at 1
minimum = None  # two numbers: where, how deep


def gelu(x: "array", approximate: str = "none") -> "array, same shape and type as x":
    """Return x Φ(x), or one of its approximations: approximate="tanh", approximate="sigmoid".

    >>> gelu(np.array([-10.0, 10.0]))
    array([-0., 10.])
    """
    raise NotImplementedError


# %% exercise="ln_invariance"
new_mean = None        # a formula in a, b, m, v
new_variance = None    # a formula in a, b, m, v
positive_steps = None  # a list of lines
negative_steps = None  # a list of lines
factor = None          # a formula in a, sigma2, epsilon
factors = None         # two numbers

# %% exercise="ln_jacobian"
sigma_steps = None   # a list of lines
other_steps = None   # a list of lines
own_steps = None     # a list of lines
sigma = None         # one number
J = None             # three rows of three numbers
ranks = None         # two whole numbers
rank_general = None  # a formula in d

# %% exercise="residual_grad"
jacobian = None  # a formula in I and J_F
with_path = None  # one number
without_path = None  # one number
damped = None  # two numbers: a = -1, a = -1/2
steps = None  # a list of lines
paths = None  # a whole number
claim = None  # one of "A", "B", "C", "D"

# %% exercise="pre_post_norm"
import torch

path = None                # a formula in L
path_of_six_blocks = None  # one number
stream = None              # four numbers
pre_ratio = None           # one number
post_ratio = None          # one number


def gradient_norms(
    blocks: "list of modules", x: "tensor (B, n, d)", w: "tensor (B, n, d)", pre_norm: bool
) -> "as many numbers as there are blocks":
    """Return the norm of each block's gradient, all its parameters together."""
    raise NotImplementedError


# %% [markdown] exercise="pre_post_norm" part="consequence"
# *Your answer.*
