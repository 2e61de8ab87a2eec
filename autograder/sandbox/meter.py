"""Call a function and count the work that the call is: the same counts on every machine.

It runs in the process of the student's code, who could forge what it counts; the grader confirms
by a clock of its own (`session.Session.timed`).  Three things are counted:

- operations, FLOPs and arrays of numpy (`traced`) and of torch (`torchmeter`);
- bytecodes of the student's own code, which grow with n where, and only where, it loops;
- bytes that are alive at once, as Python's own allocator and numpy report them, and torch's.
  These are counted in a second call: while the first one is traced, they would be the tracer's.
"""

import contextlib
import copy
import gc
import inspect
import sys
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

from autograder.sandbox import traced

CELLS = "<cell "  # what the files of a notebook's cells are called


def metered(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], torch: Any = None
) -> tuple[Any, dict[str, Any]]:
    """Call a function twice, with copies of the arguments.

    Parameters
    ----------
    function : callable
        What to call.  Bytecodes count in its own file, and in a notebook's cells.
    args, kwargs
        Plain data.
    torch : module, optional
        `autograder.sandbox.torchmeter`, where torch is in use.

    Returns
    -------
    value
        What it returned the first time.
    dict
        ``flops``, ``largest``, ``peak``, ``steps``, ``operations`` and ``shapes``, a sorted list.
    """
    steps = _Steps(function)
    first, second = (copy.deepcopy((args, kwargs)) for _ in range(2))
    with traced.tracing() as counts:
        args, kwargs = traced.traced(first)
        meter = torch.meter(first, counts) if torch else contextlib.nullcontext()
        with steps, meter:
            value = traced.bare(function(*args, **kwargs))
    found = {"flops": counts.flops, "largest": counts.largest, "operations": counts.operations}
    found |= {"peak": _peak(function, *second, torch), "steps": steps.count}
    return value, found | {"shapes": sorted(counts.shapes)}


def _peak(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], torch: Any
) -> int:
    meter: Any = contextlib.nullcontext()
    if torch:
        meter = torch.meter((args, kwargs), traced.Counts())
    gc.collect()
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        with meter:
            function(*args, **kwargs)
        numpy = tracemalloc.get_traced_memory()[1] - before
    finally:
        if ours:
            tracemalloc.stop()
    # Not their sum: beside torch, Python's own objects are the meter's.
    return max(numpy, meter.peak if torch else 0)


class _Steps:
    """Counts bytecodes while it is entered, in all threads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = getattr(inspect.unwrap(function), "__code__", None)
        self._home = code.co_filename if code else CELLS
        self.count = 0

    def __enter__(self) -> None:
        self._usual = sys.gettrace()
        threading.settrace(self._frame)
        sys.settrace(self._frame)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._usual)
        threading.settrace(None)

    def _frame(self, frame: Any, _event: str, _argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name != self._home and not name.startswith(CELLS):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _step(self, _frame: Any, event: str, _argument: Any) -> Any:
        if event == "opcode":
            self.count += 1
        return self._step
