"""What is committed of every assignment is what `autograder generate` writes now."""

import pytest

from autograder.delivery.releasing import generate

from ..loaded import COURSE


@pytest.mark.parametrize("id", COURSE.ids())
def test_a_release_is_what_is_generated_now(id):
    """And nothing leaks, nor is too much earned without a thought: it would be refused."""
    assert [str(drift) for drift in generate(COURSE, [id], check=True)] == []
