"""Nobody knows the inputs of a course's checks beforehand, and feedback carries none out."""

import builtins
import json
import math
import stat

import numpy as np
import pytest

from autograder.course.config import Course, CourseError
from autograder.course.release.check_json import record
from autograder.course.release.drawing import drawn
from autograder.course.secret import FILE, secret_of
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.keys import Keys
from autograder.exercise import Exercise, agree
from autograder.grading.checks import grade_checks
from autograder.grading.replay import seed_of
from autograder.grading.results import Status
from autograder.sandbox import StudentError
from autograder.student.data import decode

from ..delivery.conftest import A, configure, hand_in, released, template, tiny  # noqa: F401

SECRET = "of this course"


def doubling():
    exercise = Exercise("doubling", title="Doubling", source="none")

    @exercise.reference
    def double(x):
        return 2 * x

    @exercise.check(points=1, visible=True)
    def doubles(call, rng):
        """Doubles."""
        x = rng.normal(size=3)
        agree(call(x), double(x))

    @exercise.check(points=1)
    def doubles_others(call, rng):
        """Doubles others."""
        x = rng.normal(size=4)
        agree(call(x), double(x))

    return exercise


def table(x):
    """Answer from check.json alone."""
    (function,) = record(doubling(), drawn(doubling(), "a course"))["functions"]
    for call in function["checks"][0]["calls"]:
        if np.array_equal(decode(call["args"][0]), x):
            return decode(call["value"])
    return np.zeros(1)


def scores(call, secret):
    return [item.score for item in grade_checks(doubling().functions[0], call, secret=secret)]


def test_a_table_of_what_students_can_see_earns_nothing():
    assert scores(table, SECRET) == [0, 0]
    assert scores(table, "") == [1, 0]  # the positive control
    assert scores(lambda x: x + x, SECRET) == [1, 1]


def test_inputs_are_those_of_the_course_for_everybody():
    exercise = doubling()
    drawn = [seed_of(exercise, exercise.checks[1], s).normal() for s in (SECRET, SECRET, "of last")]
    assert drawn[0] == drawn[1] != drawn[2]


def spies():
    """Answers that carry an input out: `bits` is the number to be carried."""

    def raises(x, bits):
        raise StudentError("exception", f"`double` raised Told: {bits}", type=f"T{bits}")

    def raises_one_of_many(x, bits):
        names = sorted(name for name in dir(builtins) if name.endswith("Error"))
        raise StudentError("exception", "x", type=names[bits % len(names)])

    def shape(x, bits):
        return np.arange((bits % 50 + 5) * (bits // 50 + 1.0)).reshape(bits % 50 + 5, -1)

    def where(x, bits):
        value = 2 * x
        value[bits % 3] += 1
        return value

    def which(x, bits):
        return 2 * x + np.array([bits >> i & 1 for i in range(len(x))]) + 1

    def value(x, bits):
        return 2 * x + bits + 1

    def length(x, bits):
        return tuple([1.0] * (bits + 5))

    def kind(x, bits):
        return ["text", {"a": 1}, b"b", [[1], [1, 2]], "more", np.array(["x"])][bits % 6]

    return [raises, raises_one_of_many, shape, where, which, value, length, kind]


@pytest.mark.parametrize("spy", spies(), ids=lambda spy: spy.__name__)
def test_feedback_tells_next_to_nothing_of_what_came(spy):
    told = {True: set(), False: set()}
    for bits in range(200):
        for secret in (SECRET, ""):
            items = grade_checks(
                doubling().functions[0], lambda x, b=bits: spy(x, b), secret=secret
            )
            assert all(item.status is Status.FAILED for item in items)
            told[bool(secret)].add(json.dumps([[i.note, i.feedback] for i in items]))
    assert math.log2(len(told[True])) <= 4  # for both checks together
    if spy.__name__ in ("raises", "shape", "where", "value"):
        assert len(told[False]) > 2  # the positive control: it is told where nothing is secret


def test_a_secret_is_made_once_and_is_nobody_s(tiny):  # noqa: F811
    path = tiny.root / FILE
    assert not path.exists()
    secret = secret_of(tiny)
    assert len(secret) == 64
    assert secret_of(Course.load(tiny.root)) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not [
        p for p in tiny.folder("release").rglob("*") if p.is_file() and secret in p.read_text()
    ]
    path.write_text("\n")
    with pytest.raises(CourseError, match="restore it from a backup"):
        secret_of(tiny)


def test_only_what_a_grade_depends_on_is_in_its_key(tiny):  # noqa: F811
    handed = Handed("ada", A, hand_in(tiny, "ada"))
    key = Keys(tiny).of(handed)
    course = configure(tiny.root, "# a comment", 'c.Course.students = ["ada", "bob"]')
    assert Keys(course).of(handed) == key
    course = configure(tiny.root, 'c.Course.exercise_limits = {"elsewhere": {"cell_seconds": 3.0}}')
    assert Keys(course).of(handed) == key
    others = [
        configure(tiny.root, 'c.Course.exercise_limits = {"qk": {"cell_seconds": 3.0}}'),
        configure(tiny.root, 'c.Course.limits = {"memory_mb": 77}'),
    ]
    keys = [Keys(course).of(handed) for course in others]
    (tiny.root / FILE).write_text("another")
    keys.append(Keys(course).of(handed))
    handed.path.write_text("{}")
    keys.append(Keys(course).of(handed))
    assert len({key, *keys}) == 5
