"""What a student answers may be anything: it is judged within a budget."""

import itertools
import json
import time

import numpy as np
import pytest

from autograder.algebra import Chain
from autograder.exercise import (
    Choice,
    ComplexityClass,
    Count,
    Derivation,
    Exercise,
    Formula,
    Fractions,
    Matrix,
    Numbers,
    Shape,
)
from autograder.grading.parts import grade_parts
from autograder.grading.results import Status


def nested(depth, inner=1.0):
    for _ in range(depth):
        inner = [inner]
    return inner


#: What any answer may hold by the time it is read: plain data of the wire, whatever the kind.
ANSWERS = {
    "an array of no numbers and two billion rows": np.empty((2**31 - 1, 0)),
    "an array of no numbers in many rows": np.empty((50_000_000, 0, 3)),
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
    "logarithms": "log(" * 30 + "x" + ")" * 30,
    "open logarithms": "log(" * 30,
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
    "digits of another script": "٣" * 1000,
    "lines without end": ["x = x"] * 20_000,
    "letters without end": ["A"] * 200_000,
    "None within": [None, [None, 1]],
}
KINDS = {
    "numbers": (Numbers(), [0.25, 0.75]),
    "digits": (Numbers(figures=2), 0.25),
    "count": (Count(), 12),
    "shape": (Shape(), (2, 3)),
    "choice": (Choice("AB"), "A"),
    "choices": (Choice("ABC", multiple=True), "AB"),
    "fractions": (Fractions(), ["1/3", "2/3"]),
    "formula": (Formula("x y z"), "x**2"),
    "matrix": (Matrix("x y"), [["x", "y"], ["y", "x"]]),
    "complexity": (ComplexityClass("n x"), "n**2"),
    "derivation": (Derivation(Chain("x + x", "2*x", names=("x",))), ["x + x", "2*x"]),
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
    assert judged(kind, KINDS[kind][1]).score == 1


@pytest.mark.parametrize(("kind", "what"), list(itertools.product(KINDS, ANSWERS)))
def test_it_earns_nothing_and_takes_little(kind, what):
    before = time.process_time()
    item = judged(kind, ANSWERS[what])
    assert time.process_time() - before < 11
    assert (item.status, item.score) == (Status.FAILED, 0), item
    assert len(item.feedback) < 1000
    json.dumps(item.to_json())
