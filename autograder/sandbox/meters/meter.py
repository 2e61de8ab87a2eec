"""Call a function and count the work that the call is: the same counts on every machine.

It runs in the process of the student's code, who could forge what it counts; the grader confirms
by a clock of its own (`requests.Time`).  Three things are counted:

- operations, FLOPs and arrays of numpy (`traced`) and of torch (`torchmeter`);
- bytecodes of the student's own code, which grow with n where, and only where, it loops;
- bytes that are alive at once, as Python's own allocator and numpy report them, and torch's.

The last two are counted in a second call: while arrays are traced, the bytes would be the
tracer's, and Python would stop at every one of its functions to ask whether its steps count.
"""

import contextlib
import copy
import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

from autograder.sandbox.meters import traced
from autograder.sandbox.meters.steps import Steps


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
        `autograder.sandbox.meters.torchmeter`, where torch is in use.

    Returns
    -------
    value
        What it returned the first time.
    dict
        ``flops``, ``largest``, ``peak``, ``steps``, ``operations`` and ``shapes``, a sorted list.
    """
    first, second = (copy.deepcopy((args, kwargs)) for _ in range(2))
    with traced.tracing() as counts:
        args, kwargs = traced.traced(first)
        meter = torch.meter(first, counts) if torch else contextlib.nullcontext()
        with meter:
            value = traced.bare(function(*args, **kwargs))
    found = {"flops": counts.flops, "largest": counts.largest, "operations": counts.operations}
    found |= _peak_and_steps(function, *second, torch)
    return value, found | {"shapes": sorted(counts.shapes)}


def _peak_and_steps(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], torch: Any
) -> dict[str, int]:
    steps = Steps(function)
    meter: Any = contextlib.nullcontext()
    if torch:
        meter = torch.meter((args, kwargs), traced.Counts())
    gc.collect(1)  # of the first call; older garbage is not traced, and would take long to look for
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        with steps, meter:
            function(*args, **kwargs)
        numpy = tracemalloc.get_traced_memory()[1] - before
    finally:
        if ours:
            tracemalloc.stop()
    # Not their sum: beside torch, Python's own objects are the meter's.
    return {"peak": max(numpy, meter.peak if torch else 0), "steps": steps.count}
