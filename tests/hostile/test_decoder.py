"""Whatever arrives, in whatever pieces: a value or a refusal, never another exception.

How long a frame may take is measured by bench/decoder.py, with 50,000 of them.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.sandbox.wire import (
    MAX_HEADER,
    MAX_NODES,
    PREFIX,
    Receiver,
    WireError,
    decode,
    encode,
)

LIMIT = 1 << 20
VALUES = [
    {"id": "0123456789abcdef", "value": np.arange(6.0).reshape(2, 3), "modified": False},
    {"id": "0123456789abcdef", "value": [(1, 2.5, "s", None, True, 1j), {"a": np.float32(1)}]},
    {"id": "0123456789abcdef", "outputs": [{"output_type": "stream", "text": "x" * 300}]},
    {"id": "0123456789abcdef", "value": np.zeros((3, 0, 2), np.int8)},
    {"id": "0123456789abcdef", "value": ["é" * 3000, list(range(40)), (0.5,) * 9]},
    {"id": "0123456789abcdef", "value": [[[0.5, 1.5]] * 9, [np.ones(2)] * 9, [True] * 9]},
    {"id": "0123456789abcdef", "value": np.ones(40_000, np.float16)},
    {"id": "0123456789abcdef", "error": {"kind": "exception", "type": "E", "message": "m"}},
]
FRAMES = [b"".join(encode(value)) for value in VALUES]
BROKEN = [b"[", b"]", b"{", b"}", b'"', b",", b"null", b"true", b"-1", b"1e400", b"NaN", b"9" * 20]
ANNOUNCED = [b'"a":["f8",2]', b'"a":["f8",1099511627776,1099511627776]', b'"u":-1', b'"n":"f8"']
ANNOUNCED += [b'"p":["d",2,2]', b'"l":["n","f8",3]', b'"L":["T","f4",2,1]']
ANNOUNCED += [b'"p":["d",3]', b'"P":["q",99999999]', b'"T":["bf16",2]']
JUNK = st.binary(max_size=4) | st.sampled_from(
    [*BROKEN, *(b"{%s}," % tag for tag in ANNOUNCED), b"\\ud800", b"\xff"]
)
EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 5), JUNK), max_size=4)


def received(data, sizes):
    """The value of the first frame of a stream that arrives in pieces of these sizes."""
    left, turn = memoryview(data), 0

    def read(view):
        nonlocal left, turn
        if not left:
            raise EOFError
        count = min(sizes[turn % len(sizes)], len(view), len(left))
        view[:count], left = left[:count], left[count:]
        turn += 1
        return count

    return decode(*Receiver(read).frame(LIMIT), copy=False)


def is_in_order(data, sizes):
    try:
        value = received(data, sizes)
    except (WireError, EOFError):
        return False
    encode(value)  # what is accepted is a value like any other
    return True


SIZES = st.lists(st.sampled_from([1, 2, 7, 16, 100, 4096, 1 << 16]), min_size=1, max_size=5)


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FRAMES), EDITS, SIZES, st.booleans())
def test_frames_in_which_bytes_were_changed(frame, edits, sizes, with_lengths):
    """The lengths in the prefix are made right in one half: else the first check refuses most."""
    data = bytearray(frame)
    for at, cut, junk in edits:
        data[at : at + cut] = junk
    if with_lengths:
        _, header, _ = PREFIX.unpack_from(frame)
        grown = len(data) - len(frame)
        header = min(max(header + grown, 0), max(len(data) - PREFIX.size, 0))
        data[: PREFIX.size] = PREFIX.pack(b"AGW1", header, max(len(data) - PREFIX.size - header, 0))
    is_in_order(bytes(data), sizes)


@settings(deadline=None)
@given(st.sampled_from(FRAMES), SIZES, st.binary(max_size=3))
def test_a_good_frame_is_a_value_however_it_is_cut(frame, sizes, more):
    assert is_in_order(frame + more, sizes)


@pytest.mark.parametrize(
    ("opening", "unit", "closing"),
    [
        (b"[", b"0,", b"0]"),
        (b"[", b"[],", b"0]"),
        (b"[", b"{},", b"0]"),
        (b"[", b'"",', b"0]"),
        (b"[", b"1e9,", b"0]"),
        (b"", b"9", b""),
        (b"0.", b"9", b""),
        (b"[", b"9" * 4299 + b",", b"0]"),
        (b'"', b"\\u0041", b'"'),
        (b'"', "é".encode(), b'"'),
        (b"[", b'{"a":["f8",0]},', b"0]"),
        (b"[", b'{"u":0},', b"0]"),
        (b'{"d":[', b'"a",0,', b'"a",0]}'),
        (b"", b"[", b""),
        (b"", b'{"t":', b""),
    ],
    ids=lambda part: part[:12].decode(),
)
def test_a_header_as_full_as_may_be_is_refused(opening, unit, closing):
    header = opening + unit * ((MAX_HEADER - len(opening + closing)) // len(unit)) + closing
    assert len(header) > MAX_HEADER - 5000
    frame = PREFIX.pack(b"AGW1", len(header), 0) + header
    assert not is_in_order(frame, [1 << 16])


def test_as_many_values_as_may_be_are_a_value():
    header = b"[" + b"0," * (MAX_NODES - 2) + b"0]"
    frame = PREFIX.pack(b"AGW1", len(header), 0) + header
    assert is_in_order(frame, [1 << 16])
    assert not is_in_order(frame.replace(b"0,0", b"0,0,0,0,0", 1), [1 << 16])


def test_nothing_is_set_aside_for_what_is_only_announced():
    assert not is_in_order(PREFIX.pack(b"AGW1", 2, LIMIT + 1) + b"{}", [100])
    assert not is_in_order(PREFIX.pack(b"AGW1", MAX_HEADER + 1, 0) + b"{}", [100])
