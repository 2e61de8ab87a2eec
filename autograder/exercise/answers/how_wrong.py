"""What is said of wrong numbers that nothing explains."""

import math
from typing import Any

import numpy as np

from autograder.student.judgement import entries_right


def some_right(right: Any) -> str:
    """Say how many entries are right, if there are several.

    >>> some_right([True, False]), some_right([False, False]), some_right(True)
    ('1 of 2 entries is right.', 'None of the 2 entries is right.', '')
    """
    found, size = int(np.sum(right)), np.size(right)
    if size < 2:
        return ""
    return entries_right(found, size) if found else f"None of the {size} entries is right."


def which_way(given: Any, expected: Any) -> str:
    """Say of a single number whether it is too small or too large, and whether by far.

    Only where its sign or its power of ten is another one: whoever hands in again and again finds
    out no more than these.  Nothing is said where 0 is right, which two tries would tell.

    >>> which_way(8, 12), which_way(0.5, 128), which_way(14, 12)
    ('This is too small.', 'This is too small, by more than a factor of 10.', '')
    """
    if np.size(given) != 1 or np.size(expected) != 1:
        return ""
    own, right = np.asarray(given).item(), np.asarray(expected).item()
    if not right or own - own != 0 or right - right != 0:  # 0 is right, or one is not finite
        return ""
    apart = _tens(own) - _tens(right)
    if np.sign(own) == np.sign(right) and not apart:
        return ""
    by = ", by more than a factor of 10" if own * right > 0 and abs(apart) > 1 else ""
    return f"This is too {'small' if own < right else 'large'}{by}."


def _tens(number: Any) -> float:
    """Return the power of ten of a number.

    >>> _tens(999), _tens(-1000), _tens(0.5)
    (2, 3, -1)
    """
    return math.floor(math.log10(abs(number))) if number else -math.inf
