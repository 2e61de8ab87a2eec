"""A second process for what may run for ever: started when first needed, killed when late.

Reading and comparing are bounded by the work they count and by `guard`, and stay in this process.
Solving and simplifying have no bound: they are sympy's, and go through here.  What crosses are
values that this package has built; no text of a student is run on either side.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import selectors
import struct
import subprocess
import sys
import threading
import time
from typing import Any

from autograder.algebra.reading.errors import ParseError

MEMORY = 2 << 30  # bytes that the second process may use
START_SECONDS = 20.0
IDLE_SECONDS = 600  # then the second process ends by itself

_HEADER = struct.Struct("!I")


class _Helper:
    def __init__(self) -> None:
        # -I: neither the working directory nor the environment decides what is imported.
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, os.pathsep.join(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.owner = os.getpid()
        self._receive(time.monotonic() + START_SECONDS)  # its word that it is ready

    def call(self, request: Any, seconds: float) -> Any:
        data = pickle.dumps(request)
        assert self.process.stdin is not None
        self.process.stdin.write(_HEADER.pack(len(data)) + data)
        self.process.stdin.flush()
        return self._receive(time.monotonic() + seconds)

    def _receive(self, deadline: float) -> Any:
        (length,) = _HEADER.unpack(self._read(_HEADER.size, deadline))
        return pickle.loads(self._read(length, deadline))

    def _read(self, length: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        handle = self.process.stdout.fileno()
        data = b""
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while len(data) < length:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                piece = os.read(handle, length - len(data))
                if not piece:
                    raise EOFError
                data += piece
        return data

    def stop(self) -> None:
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()


_helper: _Helper | None = None
_inside = False  # whether this is the second process
_lock = threading.Lock()


def run(task: str, *values: Any, seconds: float) -> Any:
    """Return what `task` of ``autograder.algebra.comparing.solving`` makes of `values`.

    None if it takes longer than `seconds` or fails; then the second process is replaced.
    """
    if _inside:
        from autograder.algebra.comparing.solving import TASKS

        return TASKS[task](*values)
    with _lock:
        try:
            return _ready().call((task, values), seconds)
        except (OSError, EOFError, TimeoutError, pickle.PickleError, RecursionError):
            stop()
            return None


def call(
    where: tuple[str, str], args: tuple[Any, ...], kwargs: dict[str, Any], *, seconds: float
) -> tuple[bool, Any] | None:
    """Call a function of this package, given by module and name, in the second process.

    Raises what it raises if that is a `ParseError`; None if it is late.
    """
    answer = run("call", where, args, kwargs, seconds=seconds)
    if answer and isinstance(answer[1], ParseError):
        raise answer[1]
    return answer  # type: ignore[no-any-return]


def _ready() -> _Helper:
    global _helper
    if _helper and (_helper.owner != os.getpid() or _helper.process.poll() is not None):
        stop()  # inherited through a fork, or ended
    if _helper is None:
        _helper = _Helper()
    return _helper


def stop() -> None:
    """End the second process, if there is one."""
    global _helper
    if _helper:
        _helper.stop()
        _helper = None


atexit.register(stop)

_BOOT = """
import os, sys
sys.path[:] = sys.argv[1].split(os.pathsep)
from autograder.algebra.deadlines.killable import serve
serve()
"""


def serve() -> None:
    """Answer requests until there are no more; this is the second process."""
    import resource
    import signal

    global _inside
    _inside = True

    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with answers
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    from autograder.algebra.comparing.solving import TASKS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def send(value: Any) -> None:
        data = pickle.dumps(value)
        output.write(_HEADER.pack(len(data)) + data)
        output.flush()

    send("ready")
    while True:
        signal.alarm(IDLE_SECONDS)
        header = sys.stdin.buffer.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return
        task, values = pickle.loads(sys.stdin.buffer.read(_HEADER.unpack(header)[0]))
        try:
            send(TASKS[task](*values))
        except Exception:
            send(None)
