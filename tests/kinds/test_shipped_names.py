"""What a kind from elsewhere brings to check.py replaces nothing there."""

import pytest

from autograder.course.release.shipping import check_module
from autograder.exercise import Answer


def brief(raw, hint):
    return raw


class Brief(Answer):
    """A kind whose reader has the name of one of check.py's own functions."""

    kind = "brief"
    reader = staticmethod(brief)


def test_a_name_that_check_has_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"the kind 'brief' brings brief to check\.py"):
        check_module(frozenset({Brief}))
