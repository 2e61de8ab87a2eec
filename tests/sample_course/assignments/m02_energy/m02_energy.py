# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The energy of a spring
#
# To hold a spring of strength $k$ at the length $x$ takes the force $k x$.

# %%
import numpy as np

# %% tags=["demonstration"]
forces = {k: k * np.linspace(0, 1, 3) for k in (1, 2)}
print(forces)

# %% tags=["demonstration"]
stiffest = max([1, 2])
print(stiffest)

# %% [markdown]
# ## 1. Work
#
# 1. `energy`: what it takes to stretch the spring from 0 to `x`, a formula in `k` and `x`.
# 2. `steps`: where $\tfrac12 k x^2 - m g x$, the energy of a mass that hangs on it, has no slope.
#    Equations, each from the one before, down to `x = …`, in `k`, `m`, `g` and `x`.

# %% exercise="spring"
energy = None  # text
steps = None   # lines of text
