"""A second process for what may run for ever: started when first needed, killed when late.

Reading and comparing are bounded by the work they count and by `guard`, and stay in this process.
Solving and simplifying have no bound: they are sympy's, and go through here.  What crosses are
values that this package has built; no text of a student is run on either side.

A task is named by module and function, ``"package.module:function"``, so that this room, the
lowest, knows none of those above.  What counts is the processor time of the second process, read
from outside: a busy machine answers as an idle one does.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import pickle
import selectors
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

MEMORY = 2 << 30  # bytes that the second process may use
START_SECONDS = 120.0
IDLE_SECONDS = 600  # then the second process ends by itself
WALL_SECONDS = 60.0  # for one that neither works nor ends; far above what a busy machine takes
LOOK_SECONDS = 0.05  # between two looks at the processor time

_HEADER = struct.Struct("!I")


@dataclass
class Budget:
    """Processor time of the second process that several requests share."""

    seconds: float


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
        self._receive(START_SECONDS, START_SECONDS)  # its word that it is ready

    def call(self, request: Any, seconds: float) -> Any:
        data = pickle.dumps(request)
        assert self.process.stdin is not None
        self.process.stdin.write(_HEADER.pack(len(data)) + data)
        self.process.stdin.flush()
        return self._receive(seconds, max(WALL_SECONDS, 10 * seconds))

    def used(self) -> float:
        """Return the processor time that the second process has used."""
        return time.clock_gettime((~self.process.pid << 3) | 2)  # CPUCLOCK_SCHED in Linux

    def _receive(self, seconds: float, wall: float) -> Any:
        latest = self.used() + seconds, time.monotonic() + wall
        (length,) = _HEADER.unpack(self._read(_HEADER.size, *latest))
        return pickle.loads(self._read(length, *latest))

    def _read(self, length: int, until: float, deadline: float) -> bytes:
        assert self.process.stdout is not None
        handle = self.process.stdout.fileno()
        data = b""
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while len(data) < length:
                if not selector.select(LOOK_SECONDS):
                    if self.used() > until or time.monotonic() > deadline:
                        raise TimeoutError
                    continue
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


def run(task: str, *values: Any, seconds: float, budget: Budget | None = None) -> Any:
    """Return what the function named `task`, ``"package.module:function"``, makes of `values`.

    None if it takes longer than `seconds` of processor time or than is left of `budget`, or fails;
    then the second process is replaced.
    """
    if _inside:
        return _function(task)(*values)
    with _lock:
        left = seconds if budget is None else min(seconds, budget.seconds)
        if left <= 0:
            return None
        try:
            helper = _ready()
            before = helper.used()
            result = helper.call((task, values), left)
            left = helper.used() - before
        except (OSError, EOFError, TimeoutError, pickle.PickleError, RecursionError):
            stop()
            result = None
        except BaseException:
            stop()  # else the next request would be given the answer to this one
            raise
        if budget is not None:
            budget.seconds -= left
        return result


def _function(task: str) -> Any:
    module, _, name = task.partition(":")
    return getattr(importlib.import_module(module), name)


def call(
    where: tuple[str, str], args: tuple[Any, ...], kwargs: dict[str, Any], *, seconds: float
) -> tuple[bool, Any] | None:
    """Call a function of this package, given by module and name, in the second process.

    Returns whether it returned, and what; raises the `ValueError` that it raises; None if it is
    late.
    """
    answer = run(f"{__name__}:attempt", where, args, kwargs, seconds=seconds)
    if answer and not answer[0]:
        raise answer[1]
    return answer  # type: ignore[no-any-return]


def attempt(
    where: tuple[str, str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[bool, Any]:
    """Call a function of this package; a `ValueError` that it raises is part of the answer."""
    try:
        return True, _function(":".join(where))(*args, **kwargs)
    except ValueError as error:  # a text that can't be read
        return False, error


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
    importlib.import_module("autograder.algebra")  # before memory is limited and time counted
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))  # not that of who started it
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
            send(_function(task)(*values))
        except Exception:
            send(None)
