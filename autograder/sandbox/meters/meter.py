"""Call a function and count the work that the call is: the same counts on every machine.

It runs in the process of the student's code, who could forge what it counts; the grader confirms
by a clock of its own (`requests.Time`).  Three things are counted:

- operations, FLOPs and arrays of numpy (`traced`) and of torch (`torchmeter`);
- bytecodes of the student's own code, which grow with n where, and only where, it loops;
- bytes that are alive at once, as Python's own allocator and numpy report them, and torch's.

Bytecodes, and the bytes of Python and numpy, are counted in a second call: while arrays are traced
the bytes would be the tracer's, and Python would stop at every one of its functions to ask whether
its steps count.  What is copied for a call is copied before anything is counted.
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
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    torch: Any = None,
    held: object = None,
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
    held : object, optional
        Whose method is called: a copy of it is given first.  What it holds is among the bytes that
        are alive.

    Returns
    -------
    value
        What it returned the first time.
    dict
        ``flops``, ``largest``, ``peak``, ``steps``, ``operations`` and ``shapes``, a sorted list.
    """
    first, second = (copy.deepcopy((args, kwargs)) for _ in range(2))
    own, inside = _copied(held)
    with traced.tracing() as counts:
        args, kwargs = traced.traced(first)
        meter: Any = torch.meter(first, counts, inside) if torch else contextlib.nullcontext()
        del inside
        with meter:
            value = traced.bare(function(*own, *args, **kwargs))
    found = {"flops": counts.flops, "largest": counts.largest, "operations": counts.operations}
    del own
    peak, steps = _peak_and_steps(function, held, *second)
    # Not their sum: beside torch, Python's own objects are small.
    found |= {"peak": max(peak, meter.peak if torch else 0), "steps": steps}
    return value, found | {"shapes": sorted(counts.shapes)}


def _copied(held: object) -> tuple[tuple[Any, ...], list[Any]]:
    """Return a copy of an object, if there is one, and all that was copied for it."""
    if held is None:
        return (), []
    known: dict[int, Any] = {}
    copied = copy.deepcopy(held, known)
    known.pop(id(known), None)  # the originals, which deepcopy keeps alive there
    return (copied,), list(known.values())


def _peak_and_steps(
    function: Callable[..., Any], held: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int, int]:
    steps = Steps(function)
    gc.collect(1)  # of the first call; older garbage is not traced, and would take long to look for
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    own = _copied(held)[0]
    tracemalloc.reset_peak()
    try:
        with steps:
            function(*own, *args, **kwargs)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if ours:
            tracemalloc.stop()
    return peak, steps.count
