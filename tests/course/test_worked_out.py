"""What grading worked out is found again by later processes, as long as it would come out alike."""

from contextlib import closing
from types import CellType, FunctionType

import numpy as np
import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.submissions import worked_out
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import submissions
from autograder.course.submissions.worked_out import FILE, WorkedOut
from autograder.exercise import Mismatch, cache
from autograder.exercise.cache import remembered
from autograder.exercise.lasting import key_of, lasting
from autograder.exercise.standing_in import replaceable, standing_in

from ..courses import MOTION


@pytest.fixture
def everything_lasts(monkeypatch):
    monkeypatch.setattr(cache, "WORTH", 0.0)


@pytest.fixture
def found(monkeypatch):
    """What was found of earlier graders."""
    seen, usual = [], WorkedOut.find

    def find(known, key):
        if result := usual(known, key):
            seen.append(result)
        return result

    monkeypatch.setattr(WorkedOut, "find", find)
    return seen


def graded(course):
    with Grader(course) as grader:
        return [grader.grade(handed).grade.exercises for handed in submissions(course, MOTION)]


class Kept(dict):
    """Results in memory, by topic and key."""

    def knows(self, topic):
        return any(about == topic for about, _ in self)

    def find(self, key):
        return next((found for (_, known), found in self.items() if known == key), None)

    def keep(self, topic, key, result, names):
        self[topic, key] = result, names


@pytest.mark.sandbox
def test_a_later_grader_finds_it_while_nothing_has_changed(course, everything_lasts, found):
    simulate(course, MOTION, 2)
    first = graded(course)
    assert not found
    assert graded(course) == first
    assert found
    found.clear()
    path = course.root / "reference" / MOTION / "fall.py"
    path.write_text(path.read_text() + "\n")
    assert graded(course) == first
    assert not found


def test_two_at_a_time_find_what_the_other_keeps(course, monkeypatch):
    monkeypatch.setattr(worked_out, "_LOOK", 0.0)
    with closing(WorkedOut(course, MOTION)) as one, closing(WorkedOut(course, MOTION)) as other:
        assert not other.knows(b"topic")
        one.keep(b"topic", b"key", 7, set())
        assert other.knows(b"topic")
        assert other.find(b"key") == (7, set())


def test_what_others_keep_is_not_looked_up_at_each_question(course, monkeypatch):
    monkeypatch.setattr(worked_out, "_LOOK", 60.0)
    with closing(WorkedOut(course, MOTION)) as one, closing(WorkedOut(course, MOTION)) as other:
        assert not other.knows(b"topic")
        one.keep(b"topic", b"key", 7, set())
        assert not other.knows(b"topic")


@pytest.mark.sandbox
def test_a_broken_file_is_written_anew(course, everything_lasts, found):
    simulate(course, MOTION, 2)
    first = graded(course)
    (course.root / "records" / FILE).write_bytes(b"no database" * 1000)
    assert graded(course) == first
    assert not found
    assert graded(course) == first


def test_nothing_is_kept_where_nobody_may_write(course):
    (course.root / "records" / FILE).mkdir(parents=True)
    known = WorkedOut(course, MOTION)
    known.keep(b"topic", b"key", 1.0, set())
    assert known.find(b"key") is None
    known.close()


@pytest.mark.parametrize(
    "result",
    [
        1.5,
        np.float32(1.5),
        (np.arange(3), {"x": [True, "text"]}),
        Mismatch("It differs.", "It differs at 3.", kind="differs", credit=0.5, free=True),
    ],
)
def test_a_result_comes_back_as_it_was(course, result):
    known = WorkedOut(course, MOTION)
    known.keep(b"topic", b"key", result, {"double"})
    found, names = WorkedOut(course, MOTION).find(b"key")
    assert type(found) is type(result)
    if isinstance(result, Mismatch):
        found, result = vars(found), vars(result)
    assert cache.Values(found).key == cache.Values(result).key
    assert names == {"double"}
    assert known.find(b"other") is None


def test_what_is_no_plain_data_is_not_kept(course):
    known = WorkedOut(course, MOTION)
    for result in (object(), {1.5}, Mismatch("It differs.", kind=object())):
        known.keep(b"topic", b"key", result, set())
        assert known.find(b"key") is None


def test_what_a_students_function_had_a_hand_in_is_neither_kept_nor_found(everything_lasts):
    double = replaceable(of_a_reference(lambda x: 2 * x), "double")

    def asked():
        return remembered(lasts=True)(lambda by, x: by(by(x)))(double, 1)

    kept = Kept()
    with lasting(kept):
        with standing_in({"double": lambda x: x}):
            assert asked() == 1
        assert not kept
        assert asked() == 4
        assert len(kept) == 1
        with standing_in({"double": lambda x: x}):
            assert asked() == 1


def of_a_reference(function):
    function.__module__ = "reference.a.b"
    return function


def test_what_takes_no_time_is_not_kept():
    kept = Kept()
    with lasting(kept):
        assert remembered(lasts=True)(lambda x: x + 1)(1) == 2
    assert not kept


def unfinished():
    """Return a function that uses a name without a value."""
    function = (lambda held: lambda: held)(1)
    return FunctionType(function.__code__, {}, closure=(CellType(),))


def test_only_what_another_process_would_call_the_same_has_a_key():
    def ours(held):
        return of_a_reference(lambda x: x + held)

    assert key_of(ours(1)) == key_of(ours(1)) != key_of(ours(2))
    one, other = (of_a_reference(f) for f in (lambda x: -x, lambda x: abs(x)))  # of one line
    assert key_of(one) != key_of(other)
    assert key_of(ours(object())) is None  # somebody's, behind a function of ours
    assert key_of(lambda x: x) is None  # of a module that nobody hashes
    names = {}
    exec("def of_no_module(x): return x", names)
    assert key_of(names["of_no_module"]) is None
    assert key_of(of_a_reference(unfinished())) is None
    assert key_of({1, 2}) == key_of({2, 1}) != key_of([1, 2])
    assert len({key_of(x) for x in (1, 1.0, True, "1", b"1", (1,), ((1,),), np.int64(1))}) == 8
