"""What is committed of every assignment is what `autograder generate` writes now."""

import pytest

from autograder.delivery.department.releasing import generate

from ..loaded import COURSE


@pytest.mark.parametrize("id", COURSE.ids())
def test_a_release_is_what_is_generated_now(id):
    """And what is generated is refused if it leaks, or if too much is earned without a thought."""
    assert [str(drift) for drift in generate(COURSE, [id], check=True)] == []
