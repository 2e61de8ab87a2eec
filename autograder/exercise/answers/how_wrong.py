"""What is said of wrong numbers that nothing explains."""

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

    >>> which_way(14, 12), which_way(-2, 3), which_way(0.5, 128)
    ('This is too large.', 'This is too small.', 'This is too small, by more than a factor of 10.')
    """
    if np.size(given) != 1 or np.size(expected) != 1:
        return ""
    own, right = np.asarray(given).item(), np.asarray(expected).item()
    if not (own < right or own > right):  # it isn't a number
        return ""
    near, far = sorted([abs(own), abs(right)])
    by = ", by more than a factor of 10" if own * right > 0 and far > 10 * near else ""
    return f"This is too {'small' if own < right else 'large'}{by}."
