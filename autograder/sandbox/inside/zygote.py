"""The warm process: imports the libraries once and forks a worker for each submission.

It is trusted, but holds nothing worth taking: no reference, no expected value, no grader's
environment. `fork_server.Zygote` starts it and speaks to it over a socket that no worker inherits.
"""

import contextlib
import gc
import importlib
import mmap
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Any, assert_never

from autograder.sandbox.inside import worker
from autograder.sandbox.inside.shell import Shell
from autograder.sandbox.inside.warm_up import warm_up
from autograder.sandbox.jails import confinement, control, kernel
from autograder.sandbox.jails.jail import JAILS, Allowed
from autograder.sandbox.wire.orders import (
    Beginning,
    ForkWorker,
    MostMemory,
    Order,
    ReadClocks,
    ReadTime,
    ReapWorker,
    WatchMemory,
    from_json,
)

_LOOK_SECONDS = 0.001  # between looks at a worker's memory
_EAGER = ("numpy.random", "numpy.linalg", "numpy.fft")
_EDITABLE = "__editable__"  # so setuptools calls what finds a package in its source folder


def main(descriptor: str) -> None:
    """Serve the grader until it closes the connection.

    Parameters
    ----------
    descriptor : str
        The number of the inherited control socket.
    """
    gc.disable()  # imports make much, and next to no garbage
    connection = socket.socket(fileno=int(descriptor))
    try:
        message, _ = control.receive(connection)
        zygote = _Zygote(connection, Beginning(**message))
    except EOFError:
        return
    except Exception as error:  # importing a library can raise anything
        control.send(connection, {"error": f"{error}"})
        return
    control.send(connection, {"ready": True})
    zygote.serve()


class _Zygote:
    def __init__(self, connection: socket.socket, beginning: Beginning) -> None:
        self._connection = connection
        self._workers: dict[int, int] = {}
        self._watched: int | None = None
        self._most: int | None = None
        if beginning.cpus is not None:
            os.sched_setaffinity(0, beginning.cpus)
        self._shell, self._torch = _import(beginning.modules, beginning.also)
        _forget_ourselves(confinement.python_paths())
        self._jail = JAILS[beginning.tier]()
        self._jail.settle(Allowed(**beginning.allowed), beginning.data)
        os.chdir(beginning.data or "/")
        self._usual = worker.as_usual()
        # What exists now is not looked at by the workers' collectors, so its pages stay shared.
        gc.freeze()
        gc.enable()

    def serve(self) -> None:
        while True:
            try:
                self._look()
                message, descriptors = control.receive(self._connection)
            except (EOFError, OSError):
                break
            control.send(self._connection, self._done(from_json(message), descriptors))
        for pid in self._workers.values():
            os.kill(pid, signal.SIGKILL)
        os._exit(0)

    def _done(self, order: Order, descriptors: list[int]) -> dict[str, Any]:
        match order:
            case ForkWorker(id, cpu):
                return self._fork(id, descriptors, cpu)
            case ReapWorker(id):
                return self._reap(id)
            case ReadTime(id):
                return self._time(id)
            case ReadClocks(id):
                return self._clocks(id)
            case WatchMemory(id):
                self._watched, self._most = id, self._resident(id)
            case MostMemory():
                self._watched = None
            case _:
                assert_never(order)
        return {"reading": self._most}

    def _fork(self, number: int, descriptors: list[int], cpu: int | None) -> dict[str, Any]:
        zygote = os.getpid()
        try:
            pid = self._jail.fork()
        except OSError as error:
            _close(descriptors)
            return {"error": str(error)}
        if pid == 0:
            self._become_worker(zygote, descriptors, cpu)
        _close(descriptors)
        self._workers[number] = pid
        return {"pid": pid}

    def _become_worker(self, zygote: int, descriptors: list[int], cpu: int | None) -> None:
        status = 1
        try:
            connection, *memory = descriptors
            lent = mmap.mmap(memory[0], 0) if memory else None
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})
            self._jail.confine(zygote)
            # Standard input is /dev/null already. What C code prints must neither block the
            # worker nor reach the terminal.
            os.dup2(0, 1)
            os.dup2(0, 2)
            os.dup2(connection, 3)
            os.closerange(4, 1 << 16)
            self._connection.detach()
            connected = socket.socket(fileno=3)
            worker.serve(connected, self._shell, self._usual, self._torch, lent)
            status = 0
        except BaseException:  # it ends with its reason on stderr
            traceback.print_exc()
        finally:
            os._exit(status)

    def _time(self, number: int) -> dict[str, Any]:
        """Read the processor time of a worker: from outside, where its code has no hand in it."""
        pid = self._workers.get(number)
        if pid is None or sys.platform != "linux":
            return {"reading": None}
        return {"reading": kernel.cpu_seconds(pid)}

    def _clocks(self, number: int) -> dict[str, Any]:
        """Read the clocks of a worker by which its requests are ended."""
        pid = self._workers.get(number)
        if pid is None or sys.platform != "linux":
            return {"spent": None}
        waited = kernel.waited_seconds(pid)
        threads = None if waited is None else list(waited.items())
        return {"spent": {"cpu": kernel.cpu_seconds(pid), "waited": threads}}

    def _look(self) -> None:
        """Look at a worker's memory again and again until the grader has another request.

        The kernel's own mark of the most memory is of no use: it holds what cells needed that ran
        before, and it can't be reset for processes that nobody may attach to.
        """
        if self._watched is None or self._most is None:
            return
        while not select.select([self._connection], [], [], _LOOK_SECONDS)[0]:
            self._most = max(self._most, self._resident(self._watched) or 0)

    def _resident(self, number: int) -> int | None:
        pid = self._workers.get(number)
        try:
            return None if pid is None else kernel.resident_bytes(pid)
        except OSError:  # only Linux has this file
            return None

    def _reap(self, number: int) -> dict[str, Any]:
        pid = self._workers.pop(number, None)
        if pid is None:
            return {"status": 0, "cpu_seconds": 0.0, "max_rss_mb": 0.0}
        # Until it is waited for, the number cannot belong to another process.
        os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        unit = 1 << 10 if sys.platform == "linux" else 1 << 20
        return {
            "status": os.waitstatus_to_exitcode(status),
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "max_rss_mb": usage.ru_maxrss / unit,
        }


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _import(modules: Sequence[str], also: Sequence[str]) -> tuple[Shell, worker.TorchTools | None]:
    # As in a notebook; matplotlib reads it while it is imported.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    # Matplotlib and IPython insist on a folder that they can write to. The workers have none, but
    # they look no further than at the permissions.
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["MPLCONFIGDIR"] = os.environ["IPYTHONDIR"] = scratch
        shell = Shell()
        for name in modules:
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                raise ImportError(
                    f"the module {error.name!r} is not installed for {sys.executable} "
                    "(packages of the user's own folder are not visible to student code)"
                ) from error
        for name in also:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    folders = "MPLCONFIGDIR", "IPYTHONDIR", "TORCHINDUCTOR_CACHE_DIR"
    os.environ |= dict.fromkeys(folders, tempfile.gettempdir())
    if "numpy" in sys.modules:
        for name in _EAGER:
            importlib.import_module(name)
    torch = None
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
        tools = (f"autograder.sandbox.meters.{name}" for name in worker.TorchTools._fields)
        torch = worker.TorchTools(*map(importlib.import_module, tools))
    gc.freeze()  # IPython, put back, collects: half a million objects of torch would be looked at
    warm_up(shell)
    return shell, torch


def _forget_ourselves(paths: list[str]) -> None:
    """Leave nothing of this project, and no way to find what lies in other folders."""
    sys.meta_path[:] = [hook for hook in sys.meta_path if not _is_ours(hook.__module__)]
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if not _is_ours(hook.__module__)]
    for name in [name for name in sys.modules if _is_ours(name)]:
        del sys.modules[name]
    sys.path[:] = [entry for entry in sys.path if entry.startswith(tuple(paths))]
    sys.path_importer_cache.clear()
    sys.argv[:] = [""]
    sys.orig_argv[:] = [sys.executable]


def _is_ours(module: str) -> bool:
    return module.startswith(_EDITABLE) or module.partition(".")[0] == "autograder"
