"""Random numbers that no student knows, so that no formula can be fitted to them."""

from __future__ import annotations

import os
import random

import numpy as np

#: Names what unknown functions return.
SALT = os.urandom(32)

draw = random.Random(os.urandom(32))
arrays = np.random.default_rng(list(os.urandom(32)))
