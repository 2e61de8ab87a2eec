"""Two exercises ask for one name: what the first leaves under it is no answer to the second."""

from textwrap import indent

import pytest

from autograder.exercise import Exercise, Numbers, agree
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.sandbox import Limits, Zygote

pytestmark = pytest.mark.sandbox


def exercise(id, right):
    made = Exercise(id, title=id, source="none")

    @made.part(points=1, answer=Numbers())
    def steps():
        """How many steps."""
        return right

    @made.part(points=1, answer=Numbers())
    def other():
        """Another number."""
        return 7

    @made.reference
    def double(x):
        return 2 * x

    @made.check(points=1)
    def doubles(call, rng):
        """Doubles."""
        x = rng.normal(size=3)
        agree(call(x), 2 * x)

    return made


FIRST = "steps = 4\nother = 7\ndef double(x): return 2 * x\n"


@pytest.fixture(scope="module")
def second():
    """A function that grades cells after the first exercise's, and returns the second's items."""
    with Zygote(limits=Limits(cell_seconds=1.0, call_seconds=2.0)) as zygote:

        def second(source, *, between="", behind=""):
            cells = [
                ("first", FIRST),
                ("check_first", ""),
                ("", between),
                ("second", source),
                ("", behind),
                ("check_second", ""),
            ]
            written = [
                {
                    "cell_type": "code",
                    "id": f"c{number}",
                    "metadata": {"nbgrader": {"grade_id": id}} if id else {},
                    "source": text,
                    "outputs": [],
                    "execution_count": None,
                }
                for number, (id, text) in enumerate(cells)
            ]
            notebook = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            assigned = [Assigned(id, exercise(id, 4), 3) for id in ("first", "second")]
            grade, _ = grade_submission(SubmissionRun("a01", "ada", notebook, assigned, zygote))
            before, found = grade.exercises
            assert before.score == 3
            return {item.name: item for item in found.items}

        yield second


def scores(items):
    return [items[name].score for name in ("steps", "other", "doubles")]


@pytest.mark.parametrize("source", ["pass", f"if False:\n{indent(FIRST, ' ')}"])
def test_what_a_cell_does_not_assign_any_more_is_said(second, source):
    items = second(source)
    assert scores(items) == [0, 0, 0]
    for name in ("steps", "other"):
        assert items[name].note == "blank"
        assert f"doesn't define `{name}`, and what `first` left" in items[name].feedback
    assert items["doubles"].note == "blank"
    assert "doesn't define `double`, and what `first` left" in items["doubles"].feedback


@pytest.mark.parametrize("stops", ["1 / 0", "while True: pass", "raise SystemExit"])
def test_of_a_cell_that_stopped_half_way_what_it_had_assigned_counts(second, stops):
    items = second(f"other = 7\n{stops}\nsteps = 4\ndef double(x): return 2 * x")
    ended = stops.startswith("while")  # the process is over, and all that the cell made with it
    assert scores(items) == [0, 0 if ended else 1, 0]
    assert "because the cell stopped" in items["steps"].feedback
    assert "because the cell stopped" in items["doubles"].feedback


def test_that_its_cell_stopped_is_said_of_a_function_that_lacks_what_would_have_come_then(second):
    told = second("def double(x): return twice * x\n1 / 0\ntwice = 2")["doubles"].feedback
    assert "NameError" in told
    assert "had stopped before: cell 4 raised ZeroDivisionError" in told


@pytest.mark.parametrize(
    "source",
    [
        FIRST,
        f"{FIRST}print(steps, other, double(1))",
        "steps, other = steps, other + 0\nwere = double\ndef double(x): return were(x)",
        "globals().update(steps=4.0, other=7.0, double=lambda x: x + x)",
        "exec('steps = 4.0; other = 7.0')\ndouble = lambda x: x + x",
        "%matplotlib inline\n" + FIRST,
        "for steps in range(5): pass\nother = 7\ndef double(x): return x + x",
        FIRST.replace("steps", "".join(chr(ord(c) + 0xFEE0) for c in "steps")),  # in wide letters
    ],
)
def test_an_answer_that_is_the_same_or_is_made_in_another_way_counts(second, source):
    assert scores(second(source)) == [1, 1, 1]


def test_answers_in_a_cell_of_the_student_s_own_count_before_and_behind_the_exercise_s(second):
    assert scores(second("pass", between=FIRST)) == [1, 1, 1]
    assert scores(second("pass", behind=FIRST)) == [1, 1, 1]
    assert scores(second("pass", behind="%matplotlib inline\n" + FIRST)) == [1, 1, 1]


def test_what_the_first_left_is_there_for_cells_behind(second):
    items = second("pass", behind="steps = steps\nother = other\nwere = double\ndouble = were")
    assert scores(items) == [1, 1, 1]


def test_an_exercise_that_shares_names_is_told_in_which_line_it_fails(second):
    found = second("steps = 4\nother = 7\ndef double(x):\n    return x + missing\n")
    assert "`return x + missing`" in found["doubles"].feedback
