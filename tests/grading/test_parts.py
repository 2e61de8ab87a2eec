"""Follow-through, rounding, misconceptions and bad input, part by part."""

from fractions import Fraction
from inspect import signature

import numpy as np
import pytest

from autograder.algebra import Chain, Waypoint
from autograder.course.proofs.blind import blind_guess
from autograder.course.proofs.part_proofs import part_problems
from autograder.course.proofs.prices import part_prices
from autograder.exercise import (
    AuthoringError,
    Choice,
    Count,
    Derivation,
    Essay,
    Exercise,
    Formula,
    Fractions,
    Matrix,
    Numbers,
    Shape,
    Undecided,
    Witness,
    seeded,
)
from autograder.grading.local import Local
from autograder.grading.own import own_function
from autograder.grading.parts import PartsGrading, grade_parts
from autograder.grading.results import ExerciseGrade, Item, Status
from autograder.sandbox import StudentError


def chain():
    """Two parts: a = 3x, b = a²; forgetting the factor is a known mistake worth half."""
    exercise = Exercise("chain", title="Chain", source="none")

    @exercise.part(points=1, answer=Numbers())
    def a(x):
        """Three times x."""
        return 3 * x

    @a.misconception(credit=0.5)
    def no_factor(x):
        """The factor is missing."""
        return x

    @exercise.part(points=2, answer=Numbers(), carry_if=lambda b: b > 0)
    def b(a):
        """The square of a."""
        return a**2

    @exercise.part(points=1, answer=Numbers())
    def c(b, x):
        """Their sum."""
        return b + x

    return exercise


def grade(exercise, variant=None, pool=(), **answers):
    def read(name):
        if name not in answers:
            raise StudentError("missing", f"`{name}` is not defined")
        if isinstance(answers[name], Exception):
            raise answers[name]
        return answers[name]

    return {item.name: item for item in grade_parts(exercise, variant or {}, read, pool=pool)}


X = {"x": 2.0}


def test_right_answers_pass_without_a_note():
    items = grade(chain(), X, a=6, b=36, c=38)
    assert [i.status for i in items.values()] == [Status.PASSED] * 3
    assert {i.note for i in items.values()} == {""}


def test_rows_may_be_arrays_in_a_list():
    assert Numbers().read([np.ones(2), [2, 3]]).tolist() == [[1, 1], [2, 3]]
    assert Count().read([np.arange(2), [2, 3]]).tolist() == [[0, 1], [2, 3]]


def test_what_follows_from_a_wrong_answer_counts_in_full():
    items = grade(chain(), X, a=5, b=25, c=27)
    assert items["a"].score == 0
    assert (items["b"].score, items["b"].note) == (2, "follow_through")
    assert (items["c"].score, items["c"].note) == (1, "follow_through")


def test_a_right_answer_after_a_wrong_one_counts_too():
    assert grade(chain(), X, a=5, b=36, c=38)["b"].score == 2


def test_a_misconception_is_named_and_earns_its_credit():
    item = grade(chain(), X, a=2, b=4, c=6)["a"]
    assert (item.status, item.score, item.note) == (Status.PARTIAL, 0.5, "no_factor")
    assert item.feedback == "The factor is missing."


def test_a_slip_is_not_named_where_it_may_follow_from_an_earlier_one():
    exercise = Exercise("sizes", title="Sizes", source="none")

    @exercise.part(points=1, answer=Count())
    def rows(n):
        """The rows."""
        return n

    @exercise.part(points=1, answer=Count())
    def pairs(rows):
        """The pairs of rows."""
        return rows * (rows - 1)

    @exercise.part(points=1, answer=Numbers())
    def size(rows):
        """The length of a diagonal."""
        return np.sqrt(2) * rows

    first = grade(exercise, {"n": 12}, rows=12, pairs=66, size=2**1.5 * 12)
    assert [item.note for item in first.values()] == ["", "factor_two", "factor_two"]
    # 264 is twice the right number; by the student's own rows it is nothing in particular.
    assert grade(exercise, {"n": 12}, rows=9, pairs=264, size=0)["pairs"].note == ""
    # 36 is half of what follows from them: that may be chance.
    own = grade(exercise, {"n": 12}, rows=9, pairs=36, size=2**1.5 * 9)
    assert [item.note for item in own.values()][1:] == ["", "factor_two"]
    said = "Compared with what follows from your earlier answers: It is off by a factor of 2"
    assert own["size"].feedback.startswith(said)


def test_what_follows_from_one_wrong_answer_and_the_right_other_one_is_right():
    exercise = Exercise("area", title="Area", source="none")

    @exercise.part(points=1, answer=Numbers())
    def width(n):
        """The width."""
        return n + 1.5

    @exercise.part(points=1, answer=Numbers())
    def height(n):
        """The height."""
        return 2 * n + 0.25

    @exercise.part(points=1, answer=Numbers())
    def area(width, height):
        """The area."""
        return width * height

    wrong = {"width": 14.5, "height": 21.5}  # 13.5 and 24.25 are right
    for right in (14.5 * 21.5, 14.5 * 24.25, 13.5 * 21.5):
        item = grade(exercise, {"n": 12}, **wrong, area=right)["area"]
        assert (item.score, item.note) == (1, "follow_through")
    assert grade(exercise, {"n": 12}, **wrong, area=14.5 * 23.5)["area"].score == 0


def test_a_value_that_may_not_be_carried_is_replaced_by_the_true_one():
    items = grade(chain(), X, a=6, b=-1, c=38)
    assert items["b"].score == 0
    assert items["c"].score == 1
    assert grade(chain(), X, a=6, b=-1, c=1)["c"].score == 0


def test_rounding_an_earlier_answer_is_not_a_mistake():
    third = {"x": 100 / 9}  # a = 33.333…, b = 1111.11…
    items = grade(chain(), third, a="33.333", b="1111.09", c="1122.20")
    assert items["b"].status is Status.PASSED
    assert items["b"].note == ""
    # the same distance without rounding upstream is a mistake
    assert grade(chain(), third, a=100 / 3, b="1109.5", c=0)["b"].score == 0


def test_coarse_rounding_does_not_widen_the_band_beyond_the_tolerance():
    items = grade(chain(), {"x": 1.1}, a="3", b="9.6", c=0)
    assert items["a"].score == 0
    assert items["b"].score == 0


def test_an_answer_to_somebody_elses_numbers_is_noted():
    items = grade(chain(), X, pool=[X, {"x": 5.0}], a=15, b=225, c=230)
    assert items["a"].note == "other_variant"
    assert items["a"].fits == [1]
    assert items["a"].score == 0
    assert items["c"].note == "other_variant"


def test_one_number_that_happens_to_be_right_for_somebody_else_is_not_held_against_anyone():
    items = grade(chain(), X, pool=[X, {"x": 5.0}], a=6, b=225, c=38)
    assert (items["b"].score, items["b"].note) == (0, "")


def test_digits_that_are_missing_are_said_to_be_missing():
    numbers = {"x": 15.416}  # a = 46.248
    for few in (46, "46.2", 46.2):
        item = grade(chain(), numbers, a=few)["a"]
        assert (item.score, item.note) == (0.5, "too_coarse")
    cut_off = grade(chain(), {"x": 15.429}, a="46.2")["a"]  # 46.287
    assert (cut_off.score, cut_off.note) == (0, "too_coarse")
    for wrong in (48, 46.3, "46.20"):
        assert grade(chain(), numbers, a=wrong)["a"].note == ""
    assert grade(chain(), {"x": 1.2472 / 3}, a="1.2")["a"].note == "too_coarse"
    assert grade(chain(), {"x": 0.3}, a=1)["a"].note == ""  # 0.9 to the nearest whole number


@pytest.mark.parametrize("blank", [None, "", "  ", [], [None, None]])
def test_nothing_written_is_blank(blank):
    item = grade(chain(), X, a=blank)["a"]
    assert (item.status, item.note, item.score) == (Status.FAILED, "blank", 0)


def test_an_unreadable_earlier_answer_is_replaced_by_the_true_one():
    items = grade(chain(), X, a="six", b=36, c=38)
    assert (items["a"].note, items["b"].score) == ("format_error", 2)
    assert items["a"].feedback == "Numbers are expected, not 'six'."


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (float("nan"), "NaN"),
        ("abc", "numbers are expected"),
        ([1, 2], "2 numbers given"),
        ({"a": 1}, "numbers are expected"),
        (True, "numbers are expected"),
        (1 + 2j, "numbers are expected"),
        (10**400, "too large"),
        ([[1, 2], [3]], "different lengths"),
        ("1/0", "numbers are expected"),
        (np.zeros(200_000), "too large"),
    ],
)
def test_bad_numbers_get_a_sentence(raw, says):
    item = grade(chain(), X, a=raw)["a"]
    assert item.note == "format_error"
    assert says.lower() in item.feedback.lower()


@pytest.mark.parametrize(
    "raw",
    [
        [[1, 2], ["x", 4]],
        "1 2; x 4",
        "1, 2\n?, 4",
        ["1 2", "x 4"],
        [[1, 2], [[3], 4]],
        [[1, 2], [{3}, 4]],
        [["1", "2"], ["3e-2x", "4"]],
    ],
)
def test_an_entry_that_cannot_be_read_leaves_the_others(raw):
    exercise = Exercise("grid", title="Grid", source="none")

    @exercise.part(points=4, answer=Numbers())
    def a():
        """A grid."""
        return np.array([[1.0, 2], [3, 4]])

    item = grade(exercise, a=raw)["a"]
    assert (item.score, item.note) == (3, "format_error")
    assert item.feedback.startswith("Entry 2, 1: ")


def test_an_exception_of_the_student_is_told():
    error = StudentError("unsendable", "`a` holds a Foo object")
    item = grade(chain(), X, a=error)["a"]
    assert (item.note, item.feedback) == ("student_error", "`a` holds a Foo object.")


def single(answer, value):
    exercise = Exercise("single", title="Single", source="none")

    @exercise.part(points=1, answer=answer)
    def a():
        """A value."""
        return value

    return exercise


@pytest.mark.parametrize(
    ("kind", "value", "right", "wrong", "bad"),
    [
        (Count(), 1024, ["1,024", 1024.0, np.int64(1024), "1 024"], [1023, "1000"], [1.5, "many"]),
        (Count(), [4, 2], [[4, 2], (4.0, 2), np.array([4, 2])], [[2, 4]], [[4], 4]),
        (
            Fractions(),
            [Fraction(3, 8), 2],
            ["3/8 2", ["6/16", 2.0], "3 / 8, 2/1"],
            ["2 3/8", ["3/7", "-2"]],
            [[0.375, 2], ["0.375", 2], "3/8", "1/0 2", [["3/8"], [2, 1]]],
        ),
        (Fractions(), Fraction(-1, 3), ["-1/3", "−2/6"], ["1/3"], [-1 / 3, "-0.333", "1//3"]),
        (Shape(), (2, 3), [(2, 3), [2, 3], "(2, 3)", "2 3"], [(3, 2), (2,)], [6, "two", (2.5, 3)]),
        (Choice("ABC"), "B", ["B", "b", " b", "B,", ["B"]], ["A"], ["D", 2, "AB", np.array(3.0)]),
        (
            Choice("ABCD", multiple=True),
            {"A", "C"},
            ["AC", "c, a", ["a", "C"], ("C", "A"), {"A", "C"}, "A; C"],
            ["AB", "ABCD", "none", {"D"}],
            ["AE", 2, ["AC"], {"A": 1, 2: 3}, [None, "A"]],
        ),
        (Choice("AB", multiple=True), "none", ["None", "none"], ["A", "AB"], ["nobody"]),
        (Numbers(), 0.005, [0.00501, "0.005"], [0.0052, 0.004], ["?"]),
    ],
)
def test_kinds_of_answer(kind, value, right, wrong, bad):
    exercise = single(kind, value)
    for raw in right:
        assert grade(exercise, a=raw)["a"].status is Status.PASSED, raw
    for raw in wrong:
        item = grade(exercise, a=raw)["a"]
        assert item.status is Status.FAILED, raw
        assert item.note != "format_error", raw
    for raw in bad:
        assert grade(exercise, a=raw)["a"].note == "format_error", raw


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ("ABD", 1),
        ("AB", 2 / 3),
        ("A", 1 / 3),
        ("ABDC", 2 / 3),
        ("ABCDEF", 0),
        ("CEF", 0),
        ("AE", 0),
        ("ADE", 1 / 3),
    ],
)
def test_wrong_letters_take_away_from_right_ones(given, score):
    item = grade(single(Choice("ABCDEF", multiple=True), "ABD"), a=given)["a"]
    assert item.score == pytest.approx(score, abs=0.005)
    assert item.status is {0: Status.FAILED, 1: Status.PASSED}.get(score, Status.PARTIAL)


def test_a_choice_says_how_many_letters_are_right_and_not_which():
    item = grade(single(Choice("ABCDEF", multiple=True), "ABD"), a="ADE")["a"]
    assert item.feedback == "Of 3 that apply 2 are marked, and 1 that do not apply."
    nothing = grade(single(Choice("ABC", multiple=True), "none"), a="A")["a"]
    assert nothing.score == 0


def test_a_known_mistake_keeps_what_its_right_letters_earn():
    exercise = single(Choice("ABCD", multiple=True), "AB")

    @exercise.parts[0].misconception()
    def b_missed():
        """B applies, too."""
        return "A"

    item = grade(exercise, a="A")["a"]
    assert (item.score, item.note, item.feedback) == (0.5, "b_missed", "B applies, too.")


def test_two_mistakes_at_once_are_both_named():
    exercise = single(Choice("ABCDEF", multiple=True), "AB")
    part = exercise.parts[0]

    @part.misconception()
    def b_missed():
        """B applies, too."""
        return "A"

    @part.misconception()
    def d_believed():
        """D is never true."""
        return "ABD"

    item = grade(exercise, a="AD")["a"]
    assert (item.score, item.note) == (0.25, "b_missed")
    count = "Of 2 that apply 1 are marked, and 1 that do not apply."
    assert item.feedback == f"{count} B applies, too. D is never true."
    one = grade(exercise, a="ABDF")["a"]  # F has no name
    assert one.feedback.endswith("and 2 that do not apply. D is never true.")
    assert grade(exercise, a="ABF")["a"].note == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"options": "abc"},
        {"options": "ABA"},
    ],
)
def test_a_choice_that_cannot_work_is_the_authors_error(wrong):
    with pytest.raises(ValueError, match="letters"):
        Choice(**wrong)


def test_a_known_mistake_may_have_another_shape():
    exercise = single(Numbers(), [1, 2])

    @exercise.parts[0].misconception()
    def one_too_many():
        """There are two."""
        return [1, 2, 3]

    assert grade(exercise, a="1 2 3")["a"].note == "one_too_many"
    assert grade(exercise, a="1 2 4")["a"].note == "format_error"


def test_witnesses_are_judged_by_what_they_show():
    exercise = single(Witness(lambda x: int(np.sign(x[0] - x[1]))), [2, 1])

    @exercise.parts[0].misconception()
    def equal():
        """They are equal."""
        return [5, 5]

    assert grade(exercise, a="1/2 1/3")["a"].score == 1
    assert grade(exercise, a=[0, 0])["a"].note == "equal"
    assert grade(exercise, a=[0, 1])["a"].score == 0
    assert grade(exercise, a=[2, 1, 0])["a"].note == "format_error"


def test_what_builds_on_a_witness_is_judged_by_the_students_own_alone():
    exercise = single(Witness(lambda x: bool(x[1] > x[0])), [1, 2])

    @exercise.part(points=1, answer=Numbers())
    def step(a):
        """From the first number to the second one."""
        return a[1] - a[0]

    def graded(**answers):
        return grade(exercise, **answers)["step"].score

    assert graded(a=[3, 7], step=4) == 1
    assert graded(a=[3, 7], step=1) == 0
    assert graded(a=[7, 3], step=-4) == 1
    assert graded(step=1) == 0


@pytest.mark.parametrize(
    ("kind", "value", "given", "score", "note"),
    [
        (Numbers(places=3), 0.38951, "0.390", 1, ""),
        (Numbers(places=3), 0.38951, 0.39, 1, ""),  # a number has no zeros to count
        (Numbers(places=3), 0.39, "0.39", 0.5, "precision"),
        (Numbers(places=3), 0.38951, "0.389", 0, ""),
        (Numbers(places=2), [0.125, 2 / 3], "0.13 2/3", 1, ""),
        (Numbers(figures=3), 0.025, "0.0250", 1, ""),
        (Numbers(figures=3), 0.025, "0.025", 0.5, "precision"),
        (Numbers(figures=3), 1234.0, "1230", 1, ""),
        (Numbers(figures=3), 1234.0, "1.23e3", 1, ""),
        (Numbers(figures=3), 1234.0, "1234", 0.5, "precision"),
        (Numbers(figures=3), 1234.0, "1240", 0, ""),
        (Numbers(figures=3), 0.025, 0.025, 0, "format_error"),
        (Numbers(unit="MiB"), 1536.0, "1.5 GiB", 1, ""),
        (Numbers(unit="MiB"), 1536.0, "1536 MiB", 1, ""),
        (Numbers(unit="MiB"), 1536.0, "1.5 GB", 0, ""),
        (Numbers(unit="MiB"), 1536.0, "1536", 1, ""),
        (Numbers(unit="MiB"), 1536.0, 1536, 1, ""),
        (Numbers(unit="MiB"), 1536.0, "3 s", 0, "format_error"),
        (Numbers(unit="ms"), 2.5, "2500 µs", 1, ""),
    ],
)
def test_digits_and_units_as_asked_for(kind, value, given, score, note):
    item = grade(single(kind, value), a=given)["a"]
    assert (item.score, item.note) == (score, note)


def test_digits_and_units_that_cannot_be_asked_for():
    with pytest.raises(ValueError, match="no unit 'parsec'"):
        Numbers(unit="parsec")
    with pytest.raises(ValueError, match="for one of them"):
        Numbers(places=1, figures=1)


def test_what_follows_from_an_example_follows_from_the_students_own():
    exercise = single(Witness(lambda x: bool(x[0] != x[1])), [2, 1])

    @exercise.part(points=1, answer=Count())
    def larger(a):
        """The place of the larger one."""
        return int(np.argmax(a))

    assert grade(exercise, a=[3, 7], larger=1)["larger"].score == 1
    assert grade(exercise, a=[3, 7], larger=0)["larger"].score == 0


def test_an_essay_waits_for_a_person():
    item = grade(single(Essay(), "text"))["a"]
    assert (item.status, item.score, item.note) == (Status.SKIPPED, None, "manual")


def test_what_cannot_be_decided_is_withheld():
    class Hard(Numbers):
        def judge(self, given, expected, *, slack=0.0):  # noqa: ARG002
            raise Undecided("no proof")

    item = grade(single(Hard(), 1.0), a=1)["a"]
    assert (item.status, item.score, item.note) == (Status.ERRORED, None, "needs_review")


def test_what_follows_from_a_wrong_fraction_counts_in_full():
    exercise = Exercise("odds", title="Odds", source="none")

    @exercise.part(points=1, answer=Fractions())
    def p(x):
        """A probability."""
        return Fraction(x, 8)

    @exercise.part(points=1, answer=Fractions())
    def rest(p):
        """What is left."""
        return 1 - p

    items = grade(exercise, {"x": 3}, p="1/3", rest="2/3")
    assert (items["p"].score, items["rest"].note) == (0, "follow_through")


def from_a_formula():
    """A slope as a formula, then its value at the student's numbers."""
    exercise = Exercise("slopes", title="Slopes", source="none")

    @exercise.part(points=2, answer=Formula("x a"))
    def slope():
        """The derivative of a x²."""
        return "2*a*x"

    @exercise.part(points=1, answer=Numbers())
    def steep(slope, x):
        """The slope at your x for a = 1 and a = 3."""
        return slope(x=x, a=np.array([1, 3]))

    return exercise


def test_a_number_follows_from_the_students_own_formula():
    items = grade(from_a_formula(), {"x": 4.0}, slope="a*x", steep=[4, 12])
    assert (items["slope"].score, items["steep"].score) == (0, 1)
    assert items["steep"].note == "follow_through"
    assert grade(from_a_formula(), {"x": 4.0}, slope="a*x", steep=[8, 24])["steep"].score == 1
    assert grade(from_a_formula(), {"x": 4.0}, slope="a*x", steep=[5, 7])["steep"].score == 0


@pytest.mark.parametrize("formula", ["log(-a*x)", "1/(x - x)", "f(x)", ")("])
def test_nothing_follows_from_a_formula_without_a_value(formula):
    items = grade(from_a_formula(), {"x": 4.0}, slope=formula, steep=[8, 24])
    assert (items["slope"].score, items["steep"].score) == (0, 1)


def from_a_function():
    exercise = Exercise("limits", title="Limits", source="none")

    @exercise.part(points=1, answer=Numbers())
    def at_three(double):
        """Your function's value at 3."""
        return double(3.0)

    @exercise.reference
    def double(x):
        return 2 * x

    return exercise


def test_a_number_follows_from_the_students_own_function():
    def graded(answer, double):
        found = grade_parts(from_a_function(), {}, lambda _: answer, functions={"double": double})
        return found[0].score, found[0].note

    def broken(x):
        raise StudentError("exception", "no", type="ValueError")

    assert graded(9, lambda x: x**2) == (1, "follow_through")
    assert graded(6, lambda x: x**2) == (1, "")
    assert graded(7.5, lambda x: x**2) == (0, "")
    assert graded(6, broken) == (1, "")
    assert graded(9, broken) == (0, "")


def test_where_the_students_own_function_gives_nothing_the_right_one_is_followed():
    exercise = from_a_function()

    @exercise.part(points=1, answer=Numbers())
    def of_both(double):
        """Your function's values at 3, and at the matrix (1 2; 3 5)."""
        return [double(3.0), double(np.array([[1.0, 2.0], [3.0, 5.0]]))[1, 0]]

    def graded(answer, double):
        answers = {"at_three": 9, "of_both": answer}
        found = grade_parts(exercise, {}, answers.__getitem__, functions={"double": double})
        return found[1].score

    def numbers_alone(x):
        if np.ndim(x):
            raise StudentError("exception", "no", type="ValueError")
        return x**2

    assert graded([9, 6], numbers_alone) == 1
    assert graded([9, 9], lambda x: np.ravel(x**2)[()]) == 1  # flattened
    assert graded([9, 7], numbers_alone) == 0.5


def test_every_right_way_is_followed():
    exercise = from_a_formula_or_a_function()

    def graded(answer):
        answers = {"rate": "a*3", "at_two": answer}
        found = grade_parts(
            exercise, {}, answers.__getitem__, functions={"double": lambda x, _: 5 * x}
        )
        return found[1].score

    assert [graded(answer) for answer in (4, 6, 10, 8)] == [1, 1, 1, 0]
    assert not part_problems(exercise, exercise.parts[1], [{}])


class Counter:
    def __init__(self, start):
        self.at = start

    def step(self, by):
        self.at = self.at + by[0]
        return self.at


class TwiceAsFar(Counter):
    def step(self, by):
        return super().step(2 * by)


class Idle(Counter):
    def step(self, _):
        self.at += 1.5
        return self.at


class Broken(Counter):
    def step(self, _):
        raise ValueError


@pytest.mark.parametrize(
    ("own", "answer", "score"),
    [
        (TwiceAsFar, [3.0, 9.0], 1),
        (TwiceAsFar, [3.0, 9.5], 0.5),
        (TwiceAsFar, [2.0, 5.0], 1),
        (Idle, [2.5, 4.0], 0),
        (Broken, [3.0, 9.0], 0),
    ],
)
def test_an_answer_follows_from_the_students_own_class(own, answer, score):
    exercise = Exercise("counter", title="Counter", source="none")

    @exercise.part(points=1, answer=Numbers())
    def places(Counter):
        """Where it is after steps of 1 and of 3."""
        counter = Counter(1.0)
        return [float(counter.step(np.array([by, 9.0]))) for by in (1.0, 3.0)]

    exercise.reference(Counter)
    functions = {"Counter": own_function(Counter, Local(own).ask)}
    [item] = grade_parts(exercise, {}, lambda _: answer, functions=functions)
    assert item.score == score


def from_a_formula_or_a_function():
    exercise = Exercise("ways", title="Ways", source="none")

    @exercise.part(points=1, answer=Formula("a"))
    def rate():
        """Twice a."""
        return "2*a"

    @exercise.part(points=1, answer=Numbers())
    def at_two(rate):
        """Its value at 2."""
        return rate(a=2)

    @at_two.alternative
    def by_the_function(double):
        """Call the function."""
        return double(2.0, seeded(1))

    @exercise.reference
    def double(x, rng):
        return 2 * x + 0 * rng.integers(9)

    return exercise


class Odd(Numbers):
    """Falls over numbers that it did not expect."""

    def read(self, raw, like=None):
        value = super().read(raw, like)
        return 1 / 0 if value == 13 else value

    def judge(self, given, expected, *, slack=0.0):
        return 1 / 0 if given == 14 else super().judge(given, expected, slack=slack)


@pytest.mark.parametrize(
    ("raw", "status", "note"), [(13, "failed", "format_error"), (14, "errored", "grader_error")]
)
def test_a_crash_is_one_parts_alone(raw, status, note):
    exercise = Exercise("odd", title="Odd", source="none")
    for name in ("a", "b"):
        compute = eval("lambda: 2.0")
        compute.__name__, compute.__doc__ = name, "Two."
        exercise.part(points=1, answer=Odd())(compute)
    items = grade(exercise, a=raw, b=2)
    assert (items["a"].status, items["a"].note) == (status, note)
    assert items["b"].status == "passed"


def test_what_can_be_had_adds_up_to_hundredths():
    items = [Item(name, "", Status.PASSED, 0.7, 0.7) for name in "abcdefghij"]
    assert sum(item.max_score for item in items) != 7
    assert ExerciseGrade.of("tenths", items).max_score == 7


def test_scores_are_hundredths_of_a_point():
    exercise = Exercise("thirds", title="Thirds", source="none")

    @exercise.part(points=1, answer=Numbers())
    def a():
        """One."""
        return 1.0

    @a.misconception(credit=1 / 3)
    def two():
        """Two."""
        return 2.0

    assert grade(exercise, a=2)["a"].score == 0.33


def claim_and_reason():
    """A reason that counts only with its claim."""
    exercise = Exercise("claim", title="Claim", source="none")

    @exercise.part(points=1, answer=Choice("ABC"))
    def claim():
        """Which one is larger?"""
        return "B"

    @claim.misconception()
    def the_other_one():
        """Look at both."""
        return "A"

    @exercise.part(points=1, answer=Choice("ABC"), after=claim)
    def because():
        """Why is it larger?"""
        return "C"

    return exercise


@pytest.mark.parametrize(
    ("claim", "because", "earned", "note"),
    [("B", "C", 2, ""), ("A", "C", 0, "skipped"), ("B", "A", 1, ""), (None, "C", 0, "skipped")],
)
def test_a_reason_counts_only_with_its_claim(claim, because, earned, note):
    items = grade(claim_and_reason(), claim=claim, because=because)
    assert sum(item.score for item in items.values()) == earned
    assert items["because"].note == note


def test_a_wrong_claim_is_no_slip_that_is_paid_twice_and_guesses_are_counted_together():
    exercise = claim_and_reason()
    assert part_prices(exercise, {})[1] == []
    assert blind_guess(exercise, [{}]) == pytest.approx(4 * (1 / 3 + 1 / 9,))
    for part in exercise.parts:
        assert part_problems(exercise, part, [{}]) == []


def test_a_reason_needs_a_claim_before_it():
    exercise, other = claim_and_reason(), claim_and_reason()
    with pytest.raises(AuthoringError, match="`why` comes after `claim`, which is no part"):

        @exercise.part(points=1, answer=Choice("AB"), after=other.parts[0])
        def why():
            """Why?"""


@pytest.mark.parametrize("text", ["log(" * 30 + "2" + ")" * 30, "log(" * 25 + "a" + ")" * 25])
def test_a_formula_without_any_value_is_refused_and_not_withheld(text):
    exercise = Exercise("growth", title="Growth", source="none")

    @exercise.part(points=1, answer=Formula("a"))
    def grown():
        """It."""
        return "a + 1"

    found = grade(exercise, grown=text)["grown"]
    assert (found.status.value, found.note) == ("failed", "format_error")
    assert "no value that could be computed" in found.feedback


def formula_and_numbers():
    """A formula, and its value for two numbers."""
    exercise = Exercise("base", title="Base", source="none")

    @exercise.part(points=1, answer=Formula("b s d", {"*": "positive"}))
    def base():
        """The new base."""
        return "b*s^(d/(d - 2))"

    @base.misconception()
    def exponent_forgotten():
        """Where is the exponent?"""
        return "b*s"

    @base.misconception()
    def factor_forgotten():
        """Where is the old base?"""
        return "2*s"

    @exercise.part(points=1, answer=Numbers())
    def bases(base):
        """The base for two factors."""
        return base(b=100, s=np.array([2.0, 3.0]), d=4)

    return exercise


@pytest.mark.parametrize(
    ("base", "bases", "score"),
    [
        ("b", [100, 100], 0),
        ("s", [2, 3], 0),
        ("3*s", [6, 9], 0),
        ("7", [7, 7], 0),
        ("b*s", [200, 300], 1),
        ("2*s", [4, 6], 1),  # a mistake that is known
        ("b*s^2", [400, 900], 1),
        ("diff(b^2/2, b)*s^(d/(d - 2))", [400, 900], 1),
    ],
)
def test_from_a_name_as_it_is_given_nothing_follows(base, bases, score):
    assert grade(formula_and_numbers(), base=base, bases=bases)["bases"].score == score


def test_an_answer_that_is_refused_and_can_not_be_compared_is_refused_all_the_same():
    exercise = Exercise("one", title="One", source="none")
    softmax = {"p1": "exp(z1)/(exp(z1) + exp(z2))", "p2": "exp(z2)/(exp(z1) + exp(z2))"}

    @exercise.part(points=1, answer=Formula("p1 p2", definitions=softmax))
    def slope():
        """The slope."""
        return "p1*p2"

    @slope.misconception()
    def of_one():
        """There are two."""
        return "p1"

    item = grade(exercise, slope="p1*p2 + sum(p1, u, 1, p1) - p1^2")["slope"]
    assert (item.status.value, item.note) == ("failed", "format_error")
    assert "This sum is still to be worked out" in item.feedback


@pytest.mark.parametrize(
    ("kind", "right", "raw", "credit", "said"),
    [
        (Numbers(), [0.5, 0.25, 3, 7.5], [0.5, "abc", 3, 7.5], 0.75, "Entry 2: numbers"),
        (Numbers(), [0.5, 0.25, 3, 7.5], [0.5, None, 3, 7.5], 0.75, "Entry 2: numbers"),
        (Numbers(), [0.5, 0.25, 3, 7.5], "0.5, ?, 3, 7.5", 0.75, "Entry 2: numbers"),
        (Numbers(), [0.5, 0.25, 3, 7.5], "0.5 abc 3 7.5", 0.75, "Entry 2: numbers"),
        (Numbers(), [[0.5, 2], [3, 7.5]], [[0.5, 2], [3, "x"]], 0.75, "Entry 2, 2: numbers"),
        (Numbers(figures=2), [0.5, 2.5], ["0.50", 2.5], 0.5, "Entry 2: write the digits as text"),
        (Numbers(), [0.5, 2.5], np.array([0.5, np.nan]), 0.5, "Entry 2: it contains NaN"),
        (Count(), [1, 2, 3, 4], [1, "x", 3, 5], 0.5, "Entry 2: numbers"),
        (Fractions(), [Fraction(1, 2), 3], ["1/2", 0.5], 0.5, "Entry 2: fractions"),
        (Numbers(), [0.5, 0.25, 3, 7.5], ["x", "y", "z", 7.5], 0, "Numbers are expected"),
        (Numbers(), [0.5, 0.25, 3, 7.5], ["x", "y", "z", "u"], 0, "Numbers are expected"),
        (Numbers(whole=True), [0.5, 0.25], [0.5, "x"], 0, "Numbers are expected"),
        (Numbers(between=(0, 1e9)), [0.5, 0.25], ["x", "y"], 0, "Numbers are expected"),
        (Numbers(), [0.5, 0.25], [0.5], 0, "2 numbers expected"),
    ],
)
def test_an_entry_that_can_not_be_read_costs_itself_alone(kind, right, raw, credit, said):
    exercise = Exercise("one", title="One", source="none")

    @exercise.part(points=4, answer=kind)
    def numbers():
        """Some numbers."""
        return right

    item = grade(exercise, numbers=raw)["numbers"]
    assert (item.score, item.note) == (4 * credit, "format_error")
    assert item.feedback.startswith(said)


def test_nothing_is_carried_on_from_entries_that_can_not_be_read():
    exercise = Exercise("two", title="Two", source="none")

    @exercise.part(points=1, answer=Numbers())
    def one():
        """Two numbers."""
        return [0.5, 0.25]

    @exercise.part(points=1, answer=Numbers())
    def twice(one):
        """The double of them."""
        return 2 * one

    assert grade(exercise, one=[0.5, "x"], twice=[1, 0.5])["twice"].score == 1
    assert grade(exercise, one=[0.5, "x"], twice=[1, "x"])["twice"].score == 0.5


def sentences_alike():
    """Two rows, and a third one that is said in other words; a choice of which the same is said."""
    exercise = Exercise("rows", title="Rows", source="none")
    said = "You did not scale."
    for name, points, sentence in (("a", 1, said), ("b", 2, said), ("c", 2, "Scale.")):
        compute = eval(f"lambda: [1.5, 2.5, {points}.5]")
        compute.__name__, compute.__doc__ = name, f"The row {name}."
        part = exercise.part(points=points, answer=Numbers())(compute)
        wrong = eval(f"lambda: [3.0, 5.0, {2 * points}.0 + 1]")
        wrong.__name__, wrong.__doc__ = f"{name}_unscaled", sentence
        part.misconception()(wrong)
    for name in ("p", "q"):
        compute = eval("lambda: 'B'")
        compute.__name__, compute.__doc__ = name, f"The letter {name}."
        part = exercise.part(points=1, answer=Choice("ABC"))(compute)
        wrong = eval("lambda: 'A'")
        wrong.__name__, wrong.__doc__ = f"{name}_first", "Not the first."
        part.misconception()(wrong)
    return exercise


@pytest.mark.parametrize(
    ("answers", "scores"),
    [
        ({"a": [3, 5, 3], "b": [3, 5, 5]}, [1, 0, 0]),  # the dearer one pays
        ({"a": [3, 5, 3], "c": [3, 5, 5]}, [0, 0, 0]),  # other words: another mistake
        ({"a": [3, 5, 3], "b": [3, 5, 9]}, [0, 0, 0]),  # one of them is no known mistake
        ({"p": "A", "q": "A"}, [0, 0, 0]),  # a letter may be chosen by chance
    ],
)
def test_a_mistake_that_several_parts_say_the_same_of_is_paid_for_once(answers, scores):
    items = grade(sentences_alike(), **dict.fromkeys("abcpq") | answers)
    assert [items[name].score for name in "abc"] == scores
    assert items["p"].score == items["q"].score == 0
    if scores[0]:
        assert (items["a"].status, items["a"].note) == ("partial", "a_unscaled")
        assert items["a"].feedback.endswith("paid for with “The row b.”")


def slope_of_a_square(k="a"):
    """The slope of a x² is 2 a x: one's own factor may stand there."""
    target = f"2*{k}*x"
    ends = Waypoint("Carry it out.", lambda line: not line.shows("diff(x^2, x)"))
    return Chain(f"diff({k}*x^2, x)", target, names=("x", "a"), ends=ends)


def restating():
    """A factor, the derivation with it, and what that ends in."""
    exercise = Exercise("restating", title="Restating", source="none")

    @exercise.part(points=1, answer=Formula("a"))
    def factor():
        """The factor."""
        return "a"

    @exercise.part(points=2, answer=Derivation(slope_of_a_square()))
    def steps():
        """The slope of a x²."""
        return ["diff(a*x^2, x)", "a*diff(x^2, x)", "2*a*x"]

    @steps.restated
    def with_the_own_factor(factor):
        return slope_of_a_square(f"({factor.expression})")

    @exercise.part(points=1, answer=Formula("x a"))
    def slope():
        """The slope."""
        return "2*a*x"

    @slope.alternative
    def end_of_the_steps(steps):
        return steps.end

    return exercise


def ending():
    """A slope and, behind it, the derivation that ends in it."""
    exercise = Exercise("ending", title="Ending", source="none")

    @exercise.part(points=1, answer=Formula("x a"))
    def slope():
        """The slope."""
        return "2*a*x"

    @slope.alternative
    def end_of_the_steps(steps):
        return steps.end

    @exercise.part(points=1, answer=Formula("x a"), after=slope)
    def twice(slope):
        """Twice as much."""
        return f"2*({slope.expression})"

    @exercise.part(points=2, answer=Derivation(slope_of_a_square()))
    def steps():
        """The slope of a x²."""
        return ["diff(a*x^2, x)", "a*diff(x^2, x)", "2*a*x"]

    return exercise


def test_a_slip_in_a_later_derivation_is_paid_for_there():
    own = ["diff(a*x^2, x)", "a*diff(x^2, x)", "3*a*x"]
    items = grade(ending(), slope="3*a*x", twice="6*a*x", steps=own)
    assert [*items] == ["slope", "twice", "steps"]
    assert (items["slope"].score, items["slope"].note) == (1, "follow_through")
    assert items["twice"].score == 1
    assert 0 < items["steps"].score < 2
    assert grade(ending(), slope="5*a*x", steps=own)["slope"].score == 0
    assert grade(ending(), slope="3*a*x", steps=["3*a*x"])["slope"].score == 0


def test_a_derivation_may_start_from_ones_own_wrong_answer():
    own = ["diff(3*a*x^2, x)", "3*a*diff(x^2, x)", "6*a*x"]
    items = grade(restating(), factor="3*a", steps=own, slope="6*a*x")
    assert [item.score for item in items.values()] == [0, 2, 1]
    assert items["steps"].note == items["slope"].note == "follow_through"
    items = grade(restating(), factor="a", steps=own, slope="6*a*x")
    assert 0 < items["steps"].score < 2
    items = grade(restating(), factor="3*a", steps=["6*a*x"], slope="6*a*x")
    assert [item.score for item in items.values()] == [0, 0, 0]  # nothing follows from a jump


def test_what_a_derivation_shows_by_ones_own_answer_is_proved():
    exercise = restating()
    assert part_problems(exercise, exercise.parts[1], [{}]) == []

    @exercise.parts[1].restated
    def another(factor):
        return slope_of_a_square(f"(7*{factor.expression})")

    (problem,) = part_problems(exercise, exercise.parts[1], [{}])
    assert problem.startswith("the reference does not show what `another` says")


def test_where_no_mistake_is_known_a_place_is_shown():
    exercise = Exercise("places", title="Places", source="none")

    @exercise.part(points=1, answer=Formula("x y"))
    def formula():
        """A product."""
        return "x*y"

    @exercise.part(points=1, answer=Matrix("x y"))
    def matrix():
        """Two rows."""
        return [["x", "y"], ["x*y", "1"]]

    @exercise.part(points=1, answer=Count())
    def counts():
        """Five counts."""
        return [17, 23, 31, 47, 53]

    wrong = {
        "formula": "x^3*y^2",
        "matrix": [["x", "y"], ["x^3*y", "1"]],
        "counts": [17, 24, 33, 44, 59],
    }
    said = {name: item.feedback for name, item in grade(exercise, **wrong).items()}
    assert said["formula"] == "At x=3, y=5 this is 675: put numbers in, and compare."
    assert said["matrix"] == "3 of 4 entries are right. Look first at row 2, column 1."
    assert said["counts"] == "1 of 5 entries is right."


def test_a_mistake_that_shows_as_zeros_is_paid_for_once_but_zeros_are_no_way_to_points():
    exercise = Exercise("zeros", title="Zeros", source="none")
    right, mistaken = {}, {}
    for name, points, values, wrong in (
        ("worked", 2, [4, 7, 9], [3, 8, 1]),
        ("first", 1, [1, 2, 3], [0, 0, 0]),
        ("second", 1, [5, 2, 4], [0, 0, 0]),
    ):
        right[name], mistaken[name] = values, wrong

        def compute(values=values):
            """Three numbers."""
            return np.array(values, float)

        def transposed(wrong=wrong):
            """You exchanged rows and columns."""
            return np.array(wrong, float)

        compute.__name__ = name
        compute.__signature__ = transposed.__signature__ = signature(lambda: None)
        exercise.part(points=points, answer=Numbers())(compute).misconception()(transposed)

    def scores(*wrong):
        answers = {name: mistaken[name] if name in wrong else right[name] for name in right}
        return [item.score for item in grade(exercise, **answers).values()]

    assert scores("worked", "first") == [0, 1, 1]
    assert sum(scores("worked", "first", "second")) == 1
    assert scores("first", "second") == [2, 0, 0]


def test_what_comes_before_is_judged_once_and_nothing_is_carried_over():
    exercise = Exercise("chain", title="Chain", source="test")

    @exercise.part(points=1, answer=Numbers())
    def first():
        """One."""
        return np.array([3.0, 5.0])

    @exercise.part(points=1, answer=Numbers())
    def second(first):
        """Two."""
        return 2 * first

    @exercise.part(points=1, answer=Numbers())
    def third(second):
        """Three."""
        return second + 7

    right = {"first": [3, 5], "second": [6, 10], "third": [13, 17]}
    begun = PartsGrading(exercise, {}).judged(right.__getitem__, until=second)
    for changed in ({}, {"second": [6, 11], "third": [13, 18]}, {"third": [1, 2]}, {}):
        answers = {**right, **changed}
        assert begun.completed(answers.get) == grade_parts(exercise, {}, answers.get)
