"""How far numbers may be apart and still count as the same: what their types round to.

One table, for `check`, for the checks that grade, and for what a release records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Relative and absolute tolerance by the size of the floating-point type, in bytes.
TOLERANCE = {2: (2e-2, 2e-3), 4: (1e-4, 1e-6), 8: (1e-9, 1e-12)}


def rounding_of(*arrays: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the relative and absolute tolerance of the least precise of some arrays.

    >>> rounding_of(np.zeros(2), np.zeros(2, np.float32))
    (0.0001, 1e-06)
    """
    sizes = [a.dtype.itemsize for a in arrays if a.dtype.kind == "f"]
    return TOLERANCE.get(min(sizes, default=8), TOLERANCE[8])
