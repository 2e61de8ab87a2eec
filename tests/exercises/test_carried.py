"""What notebooks build on stands alone, where it has to take the place of what is missing."""

import pytest

from autograder.exercise.words.carried_source import all_carried, source_of_carried
from autograder.exercise.words.source import standalone
from autograder.grading.checks import grade_checks
from autograder.grading.local import Local

from ..loaded import COURSE, assigned


@pytest.mark.parametrize("id", COURSE.ids())
def test_all_that_is_carried_defines_itself(id):
    for exercise in assigned(id).sound.values():
        for one in all_carried(exercise.carried):
            names = {}
            exec(source_of_carried([one]), names)
            assert callable(names[one.name])


class Built(Local):
    """A class of an exercise as a student has it whose earlier class is another."""

    def __init__(self, solution, wrong, own):
        names = dict(own)
        exec(standalone(wrong, solution.__name__), names)
        self.own_classes = own
        super().__init__(names[solution.__name__])

    def own(self, solution):
        return Local(self.own_classes.get(solution.__name__, solution))


@pytest.mark.parametrize(
    ("id", "exercise", "name"),
    [
        ("a06_block", "encoder_block", "PreNorm"),
        ("a06_block", "encoder_block", "OneShortcutMissing"),
        ("a07_full_transformer", "decoder_layer", "PreNorm"),
    ],
)
def test_a_mistake_is_named_on_top_of_an_earlier_class_with_a_mistake_of_its_own(
    id, exercise, name
):
    (function,) = assigned(id).sound[exercise].functions
    own = {one.name: one.solution for one in function.carried}
    (heads,) = (one.function for one in function.carried if one.name == "MultiHead")
    own["MultiHead"] = {w.name: w.compute for w in heads.misconceptions}["KeysAsValues"]
    wrong = {w.name: w.compute for w in function.misconceptions}[name]
    alone = grade_checks(function, wrong)
    built = grade_checks(function, Built(function.solution, wrong, own))
    assert [item.note for item in built] == [item.note for item in alone]
    assert sum(item.score for item in built) == sum(item.score for item in alone)
