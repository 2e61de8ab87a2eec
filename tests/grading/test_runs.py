"""Expensive calls: made once for all checks, and withheld where the notebook had no time left."""

import pytest

from autograder.exercise import Exercise, Mismatch
from autograder.grading.callee import Callee
from autograder.grading.checks import grade_checks
from autograder.grading.runs import Run
from autograder.sandbox import StudentError


def training():
    exercise = Exercise("training", title="Training", source="none")

    @exercise.reference
    def train(seed):
        return {"skill": 1.0, "seed": seed}

    @exercise.check(points=2)
    def half(call, rng):
        """Half of it is right."""
        skill = call.once(1)["skill"]
        if skill < 0.5:
            raise Mismatch("it has learned too little", kind="idle", credit=0.5 * skill)

    @exercise.check(points=2)
    def all_of_it(call, rng):
        """All of it is right."""
        if call.once(1)["skill"] < 1:
            raise Mismatch("it has not learned all of it", kind="idle")

    @exercise.misconception(fatal="nothing is learned")
    def never_learns(seed):
        """Nothing is learned."""
        return {"skill": 0.0}

    return exercise


def test_checks_that_draw_the_same_share_one_run_which_the_secret_chooses():
    exercise, asked = Exercise("drawn", title="Drawn", source="none"), []

    @exercise.reference
    def train(width):
        return {"skill": 1.0}

    for name in ("one", "other"):

        def check(call, rng):
            """It has learned."""
            call.once(int(rng.integers(1_000_000)))

        check.__name__ = name
        exercise.check(points=1, draws="training")(check)

    def counted(width):
        asked.append(width)
        return {"skill": 1.0}

    for secret in ("s1", "s2"):
        items = grade_checks(exercise.functions[0], counted, secret=secret)
        assert [item.score for item in items] == [1, 1]
    assert len(set(asked)) == len(asked) == 2  # of two checks each


def test_no_mistake_is_trained_for_what_no_check_has_seen():
    exercise, trained = Exercise("typed", title="Typed", source="none"), []

    @exercise.reference
    def train(seed: int) -> dict:
        return {"skill": 1.0}

    @exercise.check(points=1)
    def learned(call, rng):
        """It has learned."""
        if call.once(1)["skill"] < 1:
            raise Mismatch("it has not learned", kind="idle")

    @exercise.misconception
    def never_learns(seed):
        """Nothing is learned."""
        trained.append(seed)
        return {"skill": 0.0}

    (function,) = exercise.functions
    for idle in (None, 0.0, [1.0]):
        assert grade_checks(function, lambda _, idle=idle: idle)[0].note == ""
    assert not trained
    assert grade_checks(function, lambda _: {"skill": 0.0})[0].note == "never_learns"
    assert trained


def test_what_checks_share_of_a_run_is_worked_out_once():
    exercise, worked = Exercise("shared", title="Shared", source="none"), []

    def skill(found):
        worked.append(found)
        return found["skill"]

    @exercise.reference
    def train(seed):
        return {"skill": 1.0}

    for name, least in (("half", 0.5), ("all_of_it", 1.0)):

        def check(call, rng, least=least):
            """It has learned."""
            if call.once_as(skill, 1) < least:
                raise Mismatch("it has learned too little", kind="idle")

        check.__name__ = name
        exercise.check(points=1)(check)

    for skilled, scores in ((0.7, [1, 0]), (1.0, [1, 1])):
        worked.clear()
        items = grade_checks(exercise.functions[0], learned(skilled))
        assert [item.score for item in items] == scores
        assert len(worked) == 1


def test_no_further_mistake_is_trained_once_one_fails_alike():
    exercise, trained = Exercise("several", title="Several", source="none"), []

    @exercise.reference
    def train(seed):
        return {"skill": 1.0}

    @exercise.check(points=1)
    def has_learned(call, rng):
        """It has learned."""
        if (skill := call.once(1)["skill"]) < 1:
            raise Mismatch("it has not learned", kind="idle" if skill == 0 else "short")

    for name, skill in (("never_changed", 0.0), ("stopped_early", 0.5), ("stopped_late", 0.9)):

        def wrong(seed, name=name, skill=skill):
            """It has not learned."""
            trained.append(name)
            return {"skill": skill}

        wrong.__name__ = name
        exercise.misconception(wrong)

    (item,) = grade_checks(exercise.functions[0], learned(0.5))
    assert item.note == "stopped_early"
    assert trained == ["never_changed", "stopped_early"]


class Student(Callee):
    """A submission whose process has so much time left."""

    hurried = False

    def __init__(self, train, *, hurried=False):
        self._train, self.hurried, self.runs = train, hurried, 0

    def ask(self, request):  # noqa: ARG002
        raise AssertionError("only runs are asked for")

    def once(self, args, kwargs):  # noqa: ARG002
        self.runs += 1
        return Run(self._train(*args))


def learned(skill):
    return lambda _: {"skill": skill}


def outcome(student):
    return [
        (item.status.value, item.note, item.score)
        for item in grade_checks(training().functions[0], student)
    ]


def test_all_checks_look_at_one_run():
    student = Student(learned(1.0))
    assert outcome(student) == [("passed", "", 2.0)] * 2
    assert student.runs == 1


def test_a_run_that_comes_to_nothing_is_named_by_how_it_fails():
    student = Student(learned(0.0))
    assert outcome(student) == [("failed", "never_learns", 0.0)] * 2
    assert student.runs == 1


def test_what_was_learned_in_part_counts_in_part():
    (half, _) = outcome(Student(learned(0.4)))
    assert half == ("partial", "never_learns", 0.4)


def failing(kind, type=""):
    def train(seed):
        raise StudentError(kind, "it did not end", type=type)

    return train


def test_an_exception_ends_all_checks_without_another_run():
    student = Student(failing("exception", "ValueError"))
    assert [status for status, _, _ in outcome(student)] == ["failed", "failed"]
    assert student.runs == 1


@pytest.mark.parametrize(
    ("hurried", "found"),
    [
        (False, [("failed", "timeout", 0.0)] * 2),
        (True, [("errored", "inconclusive", None)] * 2),
    ],
)
def test_a_run_is_withheld_where_the_notebook_had_no_time_left_for_it(hurried, found):
    student = Student(failing("timeout"), hurried=hurried)
    assert outcome(student) == found
    assert student.runs == 1


def test_arguments_of_a_run_are_plain_data():
    exercise = training()

    @exercise.check(points=1)
    def wrong(call, rng):
        """Hands over what is no data."""
        call.once(rng)

    found = grade_checks(exercise.functions[0], exercise.functions[0].solution)[-1]
    assert (found.status.value, found.note) == ("errored", "grader_error")
