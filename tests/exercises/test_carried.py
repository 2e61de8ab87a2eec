"""What notebooks build on stands alone, where it has to take the place of what is missing."""

import pytest

from autograder.exercise.carried_source import all_carried, source_of_carried

from ..loaded import COURSE, assigned


@pytest.mark.parametrize("id", COURSE.ids())
def test_all_that_is_carried_defines_itself(id):
    for exercise in assigned(id).sound.values():
        for one in all_carried(exercise.carried):
            names = {}
            exec(source_of_carried([one]), names)
            assert callable(names[one.name])
