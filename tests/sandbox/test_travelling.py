"""The notebook's check and the wire refuse the same results, in the same words."""

import collections
import dataclasses
import decimal
import enum
import pathlib
from fractions import Fraction

import numpy as np
import pytest
import sympy

from autograder.sandbox.wire import PREFIX, WireError, decode, encode, frame_lengths, plain
from autograder.student import travelling
from autograder.student.travelling import unreadable_result


class Colour(enum.IntEnum):
    RED = 1


class Shade(enum.Enum):
    DARK = 1


@dataclasses.dataclass
class Pair:
    left: int = 1


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def itself(times):
    value = []
    value += [value] * times
    return value


VALUES = {
    **{f"{depth} deep": nested(depth) for depth in (7, 8, 10, 11, 12, 13, 40)},
    "itself": itself(1),
    "itself often": itself(8),
    "numpy's scalars": [np.float64(i) for i in range(1500)],
    "scalars of two types": [np.float32(1), np.float64(1)] * 2200,
    "too many of two types": [np.float32(1), np.float64(1)] * 2500,
    "rows": [[0.5] * 30] * 10_000,
    "ragged rows": [[1.0] * (i % 5) for i in range(10_000)],
    "too many ragged rows": [[1.0] * (i % 8) for i in range(20_000)],
    "pairs": [(i, i / 2) for i in range(10_000)],
    "too many pairs": [(i, i / 2) for i in range(20_000)],
    "a million": list(range(999_000)),
    "over a million": list(range(1_000_100)),
    "whole numbers and not": [0, 0.5] * 9_000,
    "truth values": [True, False] * 9_000,
    "long integers": [2**70] * 20,
    "too long an integer": [2**5000] * 10,
    "complex numbers": [1j] * 49_000,
    "too many complex numbers": [1j] * 50_001,
    "no values": [None] * 60_000,
    "words": ["word"] * 10_000,
    "long words": {f"k{i}" * 100: i for i in range(4_000)},
    "too many long words": {f"k{i}" * 100: i for i in range(5_000)},
    "arrays": [np.zeros(3)] * 9_000,
    "arrays of several sizes": [np.zeros(i % 3) for i in range(4_000)],
    "too many of several sizes": [np.zeros(i % 3) for i in range(5_000)],
    "large arrays": [np.zeros(4_000)] * 9,
    "lists of lists of arrays": [[np.zeros(2)] * 9] * 9,
    "lists of lists of scalars": [[np.float64(1)] * 9] * 900,
    "a number of no axes": np.array(2.0),
    "objects": np.array([None, 1]),
    "texts in an array": np.array(["a"]),
    "a date": np.datetime64("2024"),
    "numpy's text": np.str_("a"),
    "numpy's bytes": np.bytes_(b"a"),
    "records": np.zeros(2, dtype=[("a", int)]),
    "a longer float": [np.longdouble(1), np.zeros(2, np.longdouble)],
    "a masked array": np.ma.array([1]),
    "masked": np.ma.masked,
    "a matrix": np.array([[1]]).view(np.matrix),
    "nine axes": np.zeros((1,) * 9),
    "other layouts": [np.zeros((3, 4), order="F"), np.arange(5)[::-1], np.zeros(3, ">f8")],
    "keys": {np.int64(1): 1, np.str_("a"): 2, Colour.RED: 3},
    **{f"the key {key!r}": {key: 1} for key in (1.5, True, (1, 2), None)},
    "an enum": Shade.DARK,
    "an enum of numbers": Colour.RED,
    "an object": Pair(),
    "a path": pathlib.PurePosixPath(),
    "a function": len,
    "a class": dict,
    "a module": np,
    "a named tuple": collections.namedtuple("P", "x y")(1, 2),
    "a counter": collections.Counter("abc"),
    "lists by default": collections.defaultdict(list, {"a": [1]}),
    "sets": [{1, 2}, frozenset("a"), {frozenset({1})}],
    "a decimal": decimal.Decimal("1.5"),
    "no decimal": decimal.Decimal("nan"),
    "an endless decimal": decimal.Decimal("inf"),
    "a fraction": Fraction(1, 3),
    **{
        f"sympy's {number}": number
        for number in (sympy.Rational(1, 3), sympy.sqrt(2), sympy.oo, sympy.zoo, sympy.I)
    },
    "a symbol": sympy.Symbol("x"),
    "sympy's matrix": sympy.eye(2),
    "a generator": (i for i in "ab"),
    "an iterator": iter([1]),
    "a map": map(str, [1]),
    "a range": range(9),
    "a deque": collections.deque([1, 2]),
    "values of a dict": {}.values(),
    "bytes": b"ab",
    "a view of bytes": memoryview(b"ab"),
    "none": None,
    "no number": [float("nan"), float("inf")] * 8,
    "a surrogate": "\ud800",
    "an ellipsis": ...,
    "not implemented": NotImplemented,
    "an exception": ValueError("x"),
}


def refused_by_the_wire(value):
    try:
        frame = b"".join(encode({"id": "0" * 16, "value": value, "warnings": [], "modified": True}))
    except WireError as error:
        return str(error)
    header, _ = frame_lengths(frame[: PREFIX.size], 1 << 30)
    decode(frame[PREFIX.size :][:header], frame[PREFIX.size + header :])
    return ""


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_both_say_the_same_of_a_result(value):
    assert unreadable_result(value) == refused_by_the_wire(value)


def test_both_say_the_same_of_tensors():
    torch = pytest.importorskip("torch")
    values = [
        [torch.tensor(float(i), requires_grad=True) for i in range(3_000)],
        [torch.zeros(())] * 25_001,
        [torch.zeros(i % 3) for i in range(5_000)],
        torch.nn.Parameter(torch.zeros(2)),
        torch.nn.Linear(2, 2).state_dict(),
        torch.nn.Linear(2, 2),
        torch.eye(3).to_sparse(),
        torch.zeros(2, device="meta"),
        torch.zeros(2).bfloat16(),
        torch.zeros(2).to(torch.float8_e4m3fn),
        torch.zeros(2, dtype=torch.complex64).conj(),
        torch.zeros(2, 3).size(),
        torch.float32,
    ]
    said = [unreadable_result(value) for value in values]
    assert said == [refused_by_the_wire(value) for value in values]
    assert said[0] == ""
    assert said[5] == "a Linear object"


def test_both_count_alike():
    ours = (travelling.MOST_NODES, travelling.BYTES_NODES, travelling.MANY, travelling.DEEPEST)
    assert ours == (plain.MAX_NODES, plain.BUFFER_NODES, plain.PACKED_AT_LEAST, plain.MAX_DEPTH)
    ours = (travelling.MANY_PER_NODE, travelling.ALIKE_NODES, travelling.LONG_TEXT)
    assert ours == (plain.PACKED_PER_NODE, plain.LIKE_NODES, plain.MAX_INLINE_TEXT)
    assert (travelling.INTEGER_BITS, travelling.SMALL_BYTES) == (plain.MAX_INT_BITS, plain.SMALL)
