"""What a student answers may be anything: it is judged within a budget."""

import itertools
import json
import resource
import signal
import time
from fractions import Fraction

import numpy as np
import pytest

from autograder.algebra import Chain, IndexedChain
from autograder.course.classes.classroom import grade_class
from autograder.course.release.handed_out import Release
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.releasing import generate
from autograder.exercise import (
    Choice,
    ComplexityClass,
    Count,
    Derivation,
    Exercise,
    Figure,
    Formula,
    Fractions,
    Labels,
    Matrix,
    Numbers,
    Ordering,
    Shape,
    Witness,
)
from autograder.exercise.answers.registry import kinds
from autograder.grading import budget
from autograder.grading.budget import TOO_MUCH
from autograder.grading.parts import grade_parts
from autograder.grading.results import Status
from autograder.sandbox.wire.plain import Tensor, Unordered

from ..courses import one_assignment


def nested(depth, inner=1.0):
    for _ in range(depth):
        inner = [inner]
    return inner


#: What any answer may hold by the time it is read: plain data of the wire, whatever the kind.
ANSWERS = {
    "an array of no numbers and two billion rows": np.empty((2**31 - 1, 0)),
    "an array of no numbers in many rows": np.empty((50_000_000, 0, 3)),
    "an array of no numbers in many large rows": np.empty((2, 30_000_000, 0)),
    "arrays of no numbers in a list": [np.empty((50_000_000, 0))] * 2,
    "a tensor of no numbers in many rows": Tensor("float32", np.empty((50_000_000, 0), "f4")),
    "one number in a long row": np.broadcast_to(0.3, 10**10),
    "numbers along seven axes": np.zeros((10,) * 7),
    "objects": np.array([None] * 200_000),
    "texts as objects": np.array(["1/9", "x"], dtype=object),
    "whole numbers of many digits as objects": np.array([10**100_000, 1], dtype=object),
    "lists as objects": np.fromiter(([1.0] * 9 for _ in range(9000)), object, count=9000),
    "long texts in an array": np.array(["9" * 10_000] * 100),
    "bytes in an array": np.array([b"0.25"] * 100_000),
    "days": np.array(["2026-01-01", "NaT"], dtype="M8[D]"),
    "a day": np.datetime64("2026-01-01"),
    "a duration": np.timedelta64(3, "s"),
    "durations": np.zeros(100_000, "m8[s]"),
    "rows with fields": np.zeros(100_000, dtype=[("a", "f8"), ("b", "i4")]),
    "a masked array": np.ma.masked_all(100_000),
    "numbers of sixteen bytes": np.zeros(100_000, np.longdouble),
    "two long numbers": ["9" * 500_000] * 2,
    "two numbers, one of them a text": ["1/9", "x"],
    "blanks without end": "1" + " " * 1_000_000 + "x",
    "large fractions": [Fraction(1, 3**2000)] * 500,
    "a set": Unordered([1.0] * 50_000),
    "no numbers": np.empty(0),
    "a number as an array": np.array(3.0),
    "a letter as an array": np.array("A"),
    "a matrix of letters": np.array([["A", "B"]] * 1000),
    "a large array": np.zeros(8_000_000),
    "a large matrix": np.ones((3000, 3000)),
    "complex numbers": np.array([1j, 2]),
    "truth values": np.array([True, False]),
    "words without end": "1 " * 1_500_000,
    "commas without end": "," * 2_000_000,
    "brackets without end": "[" * 1_000_000,
    "parentheses without end": "(" * 100_000,
    "one long number": "9" * 1_000_000,
    "one long fraction": f"1/{'3' * 200_000}",
    "a large power of ten": "1e400",
    "a large power of ten for nothing": "0e400",
    "a huge power of ten for nothing": "0e999999999",
    "a power tower": "9**9**9**9",
    "a power tower in TeX": "9^{9^{9^9}}",
    "a factorial": "factorial(10**9)",
    "factorials": "(((99!)!)!)!",
    "open logarithms": "log(" * 30,
    "closed exponentials": f"{'exp(' * 12}x{')' * 12}",
    "nested largest ones": f"{'max(' * 12}x, x, x{')' * 12}",
    "nested derivatives": f"{'diff(' * 8}x{', x)' * 8}",
    "four parentheses": "((((",
    "one long name": "a" * 100_000,
    "nested fractions": f"{'(1 + 1/' * 60}x{')' * 60}",
    "nested fractions in TeX": rf"{r'frac{1}{1 + ' * 60}x{'}' * 60}".replace("frac", r"\frac"),
    "open brackets in TeX": r"\left(" * 2000,
    "what is no square from three thousand on": "x**2*(1 - floor(x/3000))",
    "what is no square but for small numbers": "x**2 + product(x - k, k, 1, 40)",
    "a square and nothing by nothing": "x**2 + (x - x)/(x - x)",
    "prose": "I do not know, perhaps it grows?",
    "signs": "-" * 50_000 + "1",
    "a sum without end": "+".join(["x"] * 50_000),
    "a product to expand": "*".join(f"(x+{i})" for i in range(400)),
    "a power to expand": "(x+y+z+1)**5000",
    "a sum of many terms": "Sum(1/k, (k, 1, 10**12))",
    "deeply nested": nested(500),
    "more deeply nested": nested(900),
    "wide and nested": [[[0.0] * 100] * 100] * 100,
    "ragged": [[1.0], [1.0, 2.0]] * 1000,
    "a large whole number": 10**4000,
    "infinity": float("inf"),
    "no number": float("nan"),
    "a dictionary": {"a": {"b": [1] * 1000}},
    "dictionaries": [{"x": i} for i in range(10_000)],
    "many empty lists": [[]] * 200_000,
    "many empty texts": [""] * 200_000,
    "bytes": b"A" * 1000,
    "odd letters": "\u202e\ud800x\x00" * 1000,
    "digits of another script": "٣" * 20_000,
    "lines without end": ["x = x"] * 20_000,
    "letters without end": ["A"] * 200_000,
    "None within": [None, [None, 1]],
}
SQUARE = Chain("(x+1)**2", "x**2 + 2*x + 1", names=("x",))
TEA = Ordering(["boil", ["pour", "wait"], "drink"], {"cold": ("cool", "It is not.")})
LINE = np.linspace(0, 1, 21)
KINDS = {
    "numbers": (Numbers(), [0.25, 0.75]),
    "infinite": (Numbers(special=True), [0.7, float("inf")]),
    "rows": (Numbers(), np.arange(6.0).reshape(2, 3) + 0.5),
    "digits": (Numbers(figures=2), 0.25),
    "count": (Count(), 12),
    "shape": (Shape(), (2, 3)),
    "choice": (Choice("AB"), "A"),
    "choices": (Choice("ABC", multiple=True), "AB"),
    "fractions": (Fractions(), ["1/3", "2/3"]),
    "formula": (Formula("x y z"), "x**2"),
    "matrix": (Matrix("x y"), [["x", "y"], ["y", "x"]]),
    "complexity": (ComplexityClass("n x"), "n**2"),
    "labels": (Labels("T F"), {"C1": "T", "C2": "F", "C3": "F"}),
    "ordering": (TEA, TEA.order(TEA.shuffled(np.random.default_rng(0)))),
    "figure": (Figure(), {"square": (LINE, LINE**2), "cube": (LINE, LINE**3)}),
    "witness": (Witness(lambda pair: bool(pair[0] < 0 < pair[1])), np.array([-1.0, 2.0])),
    "derivation": (Derivation(SQUARE), ["(x+1)**2", "(x+1)*x + (x+1)", "x**2 + 2*x + 1"]),
}


def exercise(kind):
    answer, right = KINDS[kind]
    made = Exercise("attacked", title="Attacked", source="none")

    @made.part(points=1, answer=answer)
    def value():
        """The value."""
        return right

    return made


def judged(kind, raw):
    (item,) = grade_parts(exercise(kind), {}, {"value": raw}.__getitem__)
    return item


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_answer_is_right(kind):
    """The positive control."""
    right = KINDS[kind][1]
    assert judged(kind, KINDS[kind][0].typed(right)).score == 1


@pytest.mark.parametrize(("kind", "what"), list(itertools.product(KINDS, ANSWERS)))
def test_it_earns_nothing_and_takes_little(kind, what):
    before = time.process_time()
    item = judged(kind, ANSWERS[what])
    assert time.process_time() - before < budget.SECONDS + 1
    assert (item.status, item.score) == (Status.FAILED, 0), item
    assert len(item.feedback) < 1000
    json.dumps(item.to_json())


SENSELESS = [f"{'exp(' * 12}x{')' * 12}", "log(-x^2)", "log(log(cos(7*x) - 2))"]


@pytest.mark.parametrize("line", SENSELESS)
def test_a_line_without_any_value_is_refused_and_withholds_nothing(line):
    right = KINDS["derivation"][1]
    for lines in ([line], [right[0], line, right[-1]], [*right[:2], line, right[-1]]):
        item = judged("derivation", lines)
        assert item.status in (Status.FAILED, Status.PARTIAL), item
        assert "has no value that could be computed" in item.feedback
    assert item.score > 0  # what stands around it counts
    assert judged("derivation", [right[0], line, right[-1]]).score == 0


LONGER = f"{'exp(' * 10}a{')' * 10}"
INDEXED = IndexedChain(
    start="sum(a*x_i, i)",
    target="a*sum(x_i, i)",
    names=("a",),
    indexed=("x",),
    indices=("i",),
    rules=("linearity of sums",),
)


def test_of_lines_with_indices_the_one_without_a_value_alone_is_refused():
    made = Exercise("indexed", title="Indexed", source="none")

    @made.part(points=1, answer=Derivation(INDEXED))
    def value():
        """The value."""
        return [INDEXED.start, INDEXED.target]

    lines = [INDEXED.start, LONGER, INDEXED.target]
    (item,) = grade_parts(made, {}, {"value": lines}.__getitem__)
    assert item.note == "derivation_unreadable"
    assert "Line 2 has no value" in item.feedback
    assert "Line 3" not in item.feedback


def test_a_formula_of_vectors_that_takes_too_long_is_refused():
    made = Exercise("vectors", title="Vectors", source="none")

    @made.part(points=1, answer=Formula("a b", assumptions={"a": "vector", "b": "vector"}))
    def value():
        """The value."""
        return "norm(a)^2 + norm(b)^2"

    (item,) = grade_parts(made, {}, {"value": LONGER}.__getitem__)
    assert (item.status, item.note) == (Status.FAILED, "format_error")


def test_there_are_forty_for_every_kind():
    assert len(ANSWERS) >= 40
    assert {kind.kind for kind, _ in KINDS.values()} | {"essay"} == set(kinds())


def test_what_takes_memory_is_stopped(monkeypatch):
    monkeypatch.setattr(budget, "MEMORY", 1 << 26)
    with pytest.raises(budget.Exhausted):
        budget.judging("x.y", lambda: bytearray(1 << 27))
    assert len(budget.judging("x.y", lambda: bytearray(1 << 24))) == 1 << 24


def test_what_takes_time_is_stopped_and_the_timer_too():
    def endless():
        while True:
            pass

    before = signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_CPU)
    with pytest.raises(budget.Exhausted):
        budget.bounded("x.y", endless, seconds=0.2)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_CPU)) == before


A = "a99_counted"
TEXT = """
# %% exercise="counted"
n = None
total = None
word = None

# %% exercise="after"
n2 = None
"""
REFERENCES = {
    "counted": '''
"""Follow-through computes with what the student wrote, in one step that Python can't stop."""

from autograder.exercise import Choice, Count, Exercise

exercise = Exercise("counted", title="Counted", source="none")


@exercise.part(points=1, answer=Count())
def n():
    """A number."""
    return 100


@exercise.part(points=2, answer=Count())
def total(n):
    """The sum of all numbers below."""
    return sum(range(int(n)))


@exercise.part(points=1, answer=Choice("AB"))
def word():
    """A letter."""
    return "A"
''',
    "after": '''
"""What comes later."""

from autograder.exercise import Count, Exercise

exercise = Exercise("after", title="After", source="none")


@exercise.part(points=1, answer=Count())
def n2():
    """A number."""
    return 2
''',
}
RIGHT = "n, total, word = 100, 4950, 'A'"
ATTACK = "n, total, word = 10**13, 7, 'A'"


@pytest.mark.slow
def test_what_nothing_else_stops_costs_its_item_alone(tmp_path):
    course = one_assignment(tmp_path / "course", A, TEXT, REFERENCES)
    generate(course, [A])
    for student in ("ada", "bob", "cy", "eve"):
        notebook = Release.load(course, A).notebook
        for cell in notebook["cells"]:
            id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            if id == "counted":
                cell["source"] = ATTACK if student == "bob" else RIGHT
            elif id == "after":
                cell["source"] = "n2 = 2"
        path = course.submission(student, A)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
    done = {
        g.grade.student: g.grade
        for g in grade_class(course, submissions(course, A), GradingOptions(jobs=2))
    }
    assert {s: grade.score for s, grade in done.items()} == {"ada": 5, "bob": 2, "cy": 5, "eve": 5}
    items = {item.name: item for item in done["bob"].exercises[0].items}
    assert (items["total"].status, items["total"].note) == (Status.FAILED, TOO_MUCH)
