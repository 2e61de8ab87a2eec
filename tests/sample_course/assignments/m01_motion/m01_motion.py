# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Falling and driving
#
# Without air, whatever falls for a time $t$ has fallen $h = \tfrac12 g t^2$ and is $g t$ fast.

# %%
import numpy as np

# %% [markdown]
# ## 1. Free fall

# %%
your_numbers("fall")

# %% [markdown]
# 1. `seconds` until it is down, and the `speed` it has then, in m/s. Take $g = 9.81$ m/s².
# 2. `heavier`: a stone of twice the mass falls beside it. When is that one down?
#    - **A** Earlier.
#    - **B** At the same time.
#    - **C** Later.
# 3. Why?

# %% exercise="fall"
seconds = None  # one number
speed = None    # one number
heavier = None  # one of "A", "B", "C"

# %% [markdown] exercise="fall" part="why"
# *Your answer:*

# %% [markdown]
# ## 2. A drive
#
# A car is at the places $x_i$ at the times $t_i$.

# %% exercise="mean_speeds"
def mean_speeds(t: "(n,) array", x: "(n,) array") -> "(n - 1,) array":
    """Return the mean speed between each reading and the next.

    >>> mean_speeds(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 4.0]))
    array([2., 1.])
    """
    raise NotImplementedError
