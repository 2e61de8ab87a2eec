"""Throw frames at the decoder: none may raise anything but WireError, and none may take long.

Most frames are valid ones in which bytes were changed, cut out or put in; the others are made by
hand to be as costly as the size limits allow. A frame that took long is decoded again, and the
fastest time counts. Times are those of the processor: what else the machine does is not counted.
"""

import argparse
import json
import os
import platform
import random
import statistics
import time
from collections import Counter
from pathlib import Path

import numpy as np

from autograder.sandbox.wire import (
    MAX_HEADER,
    MAX_NODES,
    PREFIX,
    WireError,
    decode,
    encode,
    frame_lengths,
)

PAYLOAD = 64 << 20
LONG, LONGEST = 0.001, 0.010
VALUES = [
    {"id": "0123456789abcdef", "value": np.arange(6.0).reshape(2, 3), "modified": False},
    {"id": "0123456789abcdef", "value": [(1, 2.5, "s", None, True, 1j), {"a": np.float32(1)}]},
    {"id": "0123456789abcdef", "outputs": [{"output_type": "stream", "text": "x" * 300}]},
    {"id": "0123456789abcdef", "value": np.zeros((3, 0, 2), np.int8)},
    {"id": "0123456789abcdef", "value": "é" * 2000},
    {"id": "0123456789abcdef", "error": {"kind": "exception", "type": "E", "message": "m"}},
]
PIECES = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"9" * 20,
    b"null",
    b"true",
    b"-1",
    b"1e400",
    b"\xff",
    b"NaN",
]
PIECES += [b'{"a":["f8",2]},', b'{"a":["f8",1099511627776,1099511627776]}', b'{"u":-1}', b"\\ud800"]


def frame(header, payload=b""):
    return PREFIX.pack(b"AGW1", len(header), len(payload)) + header + payload


def full(unit, opening=b"[", closing=b"]"):
    """Return a frame whose header is as large as allowed, filled with one unit."""
    count = (MAX_HEADER - len(opening) - len(closing)) // len(unit)
    return frame(opening + unit * count + closing)


def costly():
    """Frames that are as large as the limits allow, in every way there is."""
    nested = MAX_HEADER // 2
    yield full(b"0,", closing=b"0]")
    yield full(b"[],", closing=b"0]")
    yield full(b"{},", closing=b"0]")
    yield full(b'"",', closing=b"0]")
    yield full(b"1e9,", closing=b"0]")
    yield full(b"9", b"", b"")
    yield full(b"9" * 4299 + b",", closing=b"0]")
    yield full(b'"' + b"[,{" * 1000 + b'",', closing=b"0]")
    yield full(b'"\\\\",', closing=b"0]")
    most = MAX_NODES - 10
    yield frame(b"[" + b"0," * most + b"0]")
    yield frame(b"[" + b"-1.2345678901234567e-300," * most + b"0]")
    yield frame(b"[" + b"[]," * most + b"0]")
    yield frame(b"[" + b'{"t":[]},' * most + b"0]")
    yield frame(b'{"d":[' + b'"abcd",0,' * (most - 1) + b'"a",0]}')
    yield frame(b"[" + b'{"a":["f8",1]},' * (most // 11) + b"0]", bytes(8 * (most // 11)))
    yield frame(b"[" + b'{"u":1},' * (most // 11) + b"0]", bytes(most // 11))
    yield frame(b"[" + b'{"c":[1.5,2.5]},' * most + b"0]")
    yield full(b"9", b"0.", b"")
    yield full(b"\\u0041", b'"', b'"')
    yield full("é".encode(), b'"', b'"')
    yield full(b" ", b"", b"0")
    yield full(b'{"a":["f8",0]},', closing=b"0]")
    yield full(b'{"c":[0,0]},', closing=b"0]")
    yield full(b'"a",0,', b'{"d":[', b'"a",0]}')
    yield full(b'{"t":[]},', closing=b"0]")
    yield full(b'{"u":0},', closing=b"0]")
    yield frame(b"[" * nested + b"]" * nested)
    yield frame(b'{"t":' * (MAX_HEADER // 6) + b"0" + b"}" * (MAX_HEADER // 6))
    yield frame(b'{"a":["f8",' + b"1," * 100_000 + b"1]}")
    yield frame(b'{"p":["d",%d]}' % (19 * MAX_NODES), bytes(8 * 19 * MAX_NODES))
    yield frame(b'{"P":["q",%d]}' % (19 * MAX_NODES), b"\x7f" * (8 * 19 * MAX_NODES))
    yield frame(b"[" + b'{"p":["d",8]},' * (most // 11) + b"0]", bytes(64 * (most // 11)))
    yield frame(b'{"u":%d}' % (1 << 20), bytes(1 << 20))
    yield frame(b'{"u":%d}' % (1 << 20), b"\xff" * (1 << 20))
    yield PREFIX.pack(b"AGW1", MAX_HEADER + 1, 0)
    yield PREFIX.pack(b"AGW1", 2, 1 << 40) + b"{}"


def mutated(rng, valid):
    data = bytearray(rng.choice(valid))
    for _ in range(rng.randint(1, 4)):
        start = 0 if rng.random() < 0.1 else PREFIX.size
        at = rng.randrange(start, len(data)) if len(data) > start else 0
        kind = rng.random()
        if kind < 0.4 and data:
            data[at] = rng.randrange(256)
        elif kind < 0.6:
            del data[at : at + rng.randint(1, 5)]
        else:
            data[at:at] = rng.choice(PIECES)
    return bytes(data)


def receive(data):
    """Read a frame as the channel does, once all of it is there."""
    header, payload = frame_lengths(data[: PREFIX.size], PAYLOAD)
    end = PREFIX.size + header
    return decode(memoryview(data)[PREFIX.size : end], memoryview(data)[end : end + payload])


def outcome(data):
    start = time.thread_time()
    try:
        receive(data)
        result = "decoded"
    except WireError:
        result = "refused"
    except BaseException as error:  # what this looks for
        result = f"escaped: {type(error).__name__}"
    return result, time.thread_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--frames", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write the results here, as JSON")
    arguments = parser.parse_args()

    rng = random.Random(arguments.seed)
    valid = [b"".join(map(bytes, encode(value))) for value in VALUES]
    made = list(costly())
    counts, times, worst = Counter(), [], (0.0, b"")
    for i in range(arguments.frames):
        data = made[i] if i < len(made) else mutated(rng, valid)
        result, seconds = outcome(data)
        if seconds > LONG:
            seconds = min(seconds, *(outcome(data)[1] for _ in range(4)))
        counts[result] += 1
        times.append(seconds)
        worst = max(worst, (seconds, data[:60]))
    times.sort()
    results = {
        "frames": len(times),
        **counts,
        "median_us": statistics.median(times) * 1e6,
        "p99_us": times[int(0.99 * (len(times) - 1))] * 1e6,
        "max_ms": times[-1] * 1e3,
    }
    for name, value in results.items():
        print(f"{name:12}{value:>12.3f}" if isinstance(value, float) else f"{name:12}{value:>12}")
    print(f"the slowest begins with {worst[1]!r}")
    if arguments.out:
        machine = {"python": platform.python_version(), "cpus": os.cpu_count()}
        arguments.out.write_text(json.dumps({**machine, **results}, indent=1) + "\n")
    if any(name.startswith("escaped") for name in counts):
        raise SystemExit("an exception escaped")
    if times[-1] > LONGEST:
        raise SystemExit(f"a frame took {times[-1] * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
