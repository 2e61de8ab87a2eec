import json

import numpy as np
import pytest

from autograder.course.config import CourseError
from autograder.course.release.build import build
from autograder.course.release.check_json import record
from autograder.course.release.drawing import drawn
from autograder.course.release.handed_out import Release
from autograder.course.release.plain_json import encode
from autograder.exercise import Essay, Exercise
from autograder.exercise.words.variants import draws, pick
from autograder.student import data as students
from autograder.student.data import decode
from autograder.student.told_differences import told_difference


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes() and a.shape == b.shape
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.0,
        0.1,
        float("nan"),
        float("-inf"),
        '√ and "quotes"',
        [1, (2, "a", None)],
        {"a": (1,), 2: [np.eye(2)]},
        np.array([[0.1, np.nan], [-np.inf, 1e-300]]),
        np.array([1 / 3, np.inf], np.float32),
        np.array([True, False]),
        np.array(7),
        np.zeros((0, 3), np.int32),
        np.array(["to", "be"]),
        np.float32(1 / 3),
        np.int64(2**60),
        np.bool_(True),
        np.float64("nan"),
    ],
    ids=repr,
)
def test_values_survive_the_way_through_json(value):
    assert same(decode(json.loads(json.dumps(encode(value), allow_nan=False))), value)


@pytest.mark.parametrize("value", [len, np.array([1j]), {1, 2}, np.random.default_rng(0)])
def test_other_values_are_refused(value):
    with pytest.raises(TypeError, match="can't be written to check.json"):
        encode(value)


def test_pools_come_back_as_they_were_drawn(mini, released):
    assignment = mini()
    release = Release.load(assignment.course, "a01_mini")
    drawn = draws(assignment.sound["by_hand"], "mini").pool
    pool = release.pool("by_hand")
    assert len(pool) == len(drawn) == 8
    for own, variant in zip(pool, drawn, strict=True):
        assert same(own["x"], variant["x"])
        assert same(own["k"], int(variant["k"]))
        assert own["unit"] == "cm"


def test_everybody_picks_the_same_variant(mini, released, as_student):
    release = Release.load(mini().course, "a01_mini")
    for student in ("ada", "grace", "émilie"):
        index = pick("mini", student, "by_hand", 8)
        assert release.variant("by_hand", student) == index
        assert students.pick("mini", student, "by_hand", 8) == index
        numbers = release.numbers(student)
        assert same(numbers["by_hand"], release.pool("by_hand")[index])
        assert numbers["norm"] == {}
        shown = as_student(
            released, f"student({student!r}); print(your_numbers('by_hand')['x'].tolist())"
        )
        assert shown.splitlines()[1] == str(numbers["by_hand"]["x"].tolist())


def test_a_release_that_is_missing_or_of_another_version_says_what_to_do(mini, released):
    course = mini().course
    (released / "check.json").write_text('{"schema": 99}')
    with pytest.raises(CourseError, match="check.json has schema 99, and this autograder knows 1"):
        Release.load(course, "a01_mini")
    (released / "check.json").write_text("{")
    with pytest.raises(CourseError, match="can't be read"):
        Release.load(course, "a01_mini")
    (released / "check.json").unlink()
    with pytest.raises(CourseError, match="is missing: run `autograder generate a01_mini`"):
        Release.load(course, "a01_mini")


def test_the_format_of_check_json(mini):
    data = json.loads(build(mini())["check.json"])
    assert [data["schema"], data["course"], data["assignment"]] == [1, "mini", "a01_mini"]
    norm = data["exercises"]["norm"]
    assert norm["points"] == 3
    assert norm["pool"] == [{}]
    (norm,) = norm["functions"]
    assert norm["name"] == "norm"
    assert norm["hidden_checks"] == 1
    assert [check["name"] for check in norm["checks"]] == ["right_length", "single_stays_single"]
    assert norm["checks"][0]["rubric"] == "Equals the root of the sum of squares."
    assert norm["checks"][0]["calls"][1]["kwargs"] == {"axis": 0, "keep": True}
    by_hand = data["exercises"]["by_hand"]
    assert by_hand["functions"] == []
    hints = {part["name"]: part["hint"] for part in by_hand["parts"]}
    assert hints["letter"] == {"kind": "choice", "options": "AB"}
    assert hints["formula"] == {
        "kind": "formula",
        "names": ["a", "b_1"],
        "operators": [],
        "implicit": True,
    }
    assert hints["why"] == {"kind": "manual"}


def test_a_rubric_stays_with_the_grader():
    exercise = Exercise("essay", title="Essay", source="none")

    @exercise.part(points=2, answer=Essay())
    def why():
        """Why is the sky
        blue?

        (1) Short waves are scattered most.
        """
        return "Short waves are scattered most."

    (part,) = record(exercise, drawn(exercise, "course"))["parts"]
    assert part["rubric"] == "Why is the sky blue?"
    assert exercise.parts[0].scheme == ["(1) Short waves are scattered most."]


def test_a_shape_that_depends_on_the_variant_is_given_for_each(mini):
    by_hand = json.loads(build(mini())["check.json"])["exercises"]["by_hand"]
    hint = by_hand["parts"][0]["hint"]
    assert hint["varies"] == [{"shape": variant["x"]["shape"]} for variant in by_hand["pool"]]
    assert "shape" not in hint


def test_what_a_check_does_not_look_at_is_not_shipped(mini):
    checks = json.loads(build(mini())["check.json"])["exercises"]["norm"]
    checks = checks["functions"][0]["checks"]
    assert [call["compare"] for call in checks[0]["calls"]] == [["value"], ["value"]]
    call = checks[1]["calls"][0]
    assert call["compare"] == ["shape", "dtype"]
    assert call["unchanged"] is True
    assert call["value"] == {"array": [0.0] * 4, "dtype": "float32", "shape": [4]}


def test_entries_of_a_dictionary_that_a_check_does_not_look_at_are_not_shipped():
    exercise = Exercise("both", title="Both", source="none")

    @exercise.reference
    def both(x):
        return {"sum": np.sum(x), "mean": np.mean(x)}

    @exercise.check(points=1, visible=True)
    def sums(call, rng):
        """`sum` is the sum."""
        x = rng.normal(size=3)
        assert np.isclose(call(x)["sum"], np.sum(x))

    (function,) = record(exercise, drawn(exercise, "course"))["functions"]
    (call,) = function["checks"][0]["calls"]
    expected = decode(call["value"])
    assert (list(expected), call["compare"]) == (["sum"], ["value", "more"])
    came = {"sum": expected["sum"], "mean": 7.0}
    assert not told_difference(came, expected, call["compare"], "the result")
    assert told_difference({"sum": 7.0}, expected, call["compare"], "the result")


def test_what_stands_beside_a_number_and_is_not_looked_at_is_not_compared():
    """Else a right loss would be called wrong where only a gradient is."""
    exercise = Exercise("loss", title="Loss", source="none")

    @exercise.reference
    def loss(x):
        return np.sum(x**2) / 2, {"x": x, "unused": np.zeros(3)}

    @exercise.check(points=1, visible=True)
    def half_of_the_squares(call, rng):
        """The loss is half the sum of squares."""
        x = rng.normal(size=3)
        assert np.isclose(call(x)[0], np.sum(x**2) / 2)

    @exercise.check(points=1, visible=True)
    def slope(call, rng):
        """The gradient by x is x."""
        x = rng.normal(size=3)
        assert np.allclose(call(x)[1]["x"], x)

    (function,) = record(exercise, drawn(exercise, "course"))["functions"]
    calls = [check["calls"][0] for check in function["checks"]]
    (right, nothing), (_, slopes) = (decode(call["value"]) for call in calls)
    assert (nothing, list(slopes)) == ({}, ["x"])
    for came, call, wrong in (
        ((right, {"x": np.ones(3)}), calls[0], False),
        ((right + 1, slopes), calls[0], True),
        ((7.0, slopes), calls[1], False),
        ((right, {"x": np.ones(3)}), calls[1], True),
        ((right, {}), calls[1], True),
    ):
        assert bool(told_difference(came, decode(call["value"]), call["compare"], "it")) is wrong


def test_generating_ends_where_drawing_does_not(monkeypatch):
    monkeypatch.setattr("autograder.course.release.drawing.DRAW_SECONDS", 0.2)
    exercise = Exercise("endless", title="Endless", source="none")

    @exercise.variant
    def draw(rng):
        while True:
            rng.random()

    with pytest.raises(CourseError, match=r"^endless: the variants are not drawn after 0\.2 s"):
        drawn(exercise, "c")
