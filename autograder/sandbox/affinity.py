"""One processor for the grader and for the process that it talks to.

The two take turns: while one works, the other waits. On one processor a turn is a change of
process; on two it is a message that wakes a sleeping one, which takes longer than most calls. So
while sessions are open the grader's thread stays on one processor, and their processes come there.

No two graders choose the same one: it is claimed by a name that one process at a time can have,
and that is free again when the process ends in whatever way. Where all are taken, the scheduler
decides, as it does otherwise.
"""

import os
import socket
import threading

from autograder.sandbox.jails import kernel

_NAME = "\0autograder.sandbox.affinity."  # the first byte says that it is no file


class _Turns(threading.local):
    """How many sessions this thread has open, and where it may run when it has none."""

    open = 0
    cpu: int | None = None
    claim: socket.socket | None = None
    usual: frozenset[int] = frozenset()


_turns = _Turns()


def cpus() -> list[int] | None:
    """Return the processors that this thread may usually use, where the system lets it choose."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    return sorted(_turns.usual if _turns.cpu is not None else os.sched_getaffinity(0))


def begin() -> int | None:
    """Stay on one processor, and return its number for the session's process."""
    if _turns.open == 0 and hasattr(os, "sched_setaffinity"):
        _turns.usual = frozenset(os.sched_getaffinity(0))
        # Best where the scheduler has put this thread beside what else is running.
        here = kernel.current_cpu()
        for cpu in sorted(_turns.usual, key=lambda cpu: cpu != here):
            if _claimed(cpu):
                os.sched_setaffinity(0, {cpu})
                break
    _turns.open += 1
    return _turns.cpu


def end() -> None:
    """Be free to move again once no session is open."""
    _turns.open -= 1
    if _turns.open == 0 and _turns.claim is not None:
        os.sched_setaffinity(0, _turns.usual)
        _turns.claim.close()
        _turns.claim = _turns.cpu = None


def _claimed(cpu: int) -> bool:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"{_NAME}{cpu}")
    except OSError:
        claim.close()
        return False
    _turns.claim, _turns.cpu = claim, cpu
    return True
