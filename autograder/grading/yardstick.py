"""The reference in a process of its own, so that its time can be compared with a submission's.

The process gets arguments as a worker does, by the same wire and with one thread, and its
processor time is read in the same way.  It holds a reference and runs no student's code.
"""

from __future__ import annotations

import inspect
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.exercise.words.loading import load_module
from autograder.sandbox.allowance import Allowance, Observed, TooBusy
from autograder.sandbox.channel import Channel
from autograder.sandbox.inside import serving
from autograder.sandbox.jails import control, kernel
from autograder.sandbox.wire import encode

_START_SECONDS, _CALL_SECONDS = 60.0, 30.0
_MAX_PAYLOAD = 1 << 30


class Yardstick:
    """Calls references and reads how long that takes.  The process starts when it is needed.

    Use it as a context manager, and from one thread.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None

    def __enter__(self) -> Yardstick:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._channel = self._process = None

    def timed(
        self, function: Callable[..., Any], *args: object, **kwargs: object
    ) -> tuple[Any, float | None]:
        """Call a function of an author's module and return its result and its processor time.

        The time is None where there is no clock to read, or the function is not one that the
        other process finds: one that stands in a file, under its own name.
        """
        function = inspect.unwrap(function)
        path = Path(function.__code__.co_filename)
        if sys.platform != "linux" or not path.is_file():
            return function(*args, **kwargs), None
        wanted = {"path": str(path), "name": function.__name__, "args": args, "kwargs": kwargs}
        try:
            if self._process is None:
                self._start()
                self._ask(wanted, _START_SECONDS)  # what is loaded on demand does not count
            assert self._process
            before = kernel.cpu_seconds(self._process.pid)
            reply = self._ask(wanted, _CALL_SECONDS)
            taken = kernel.cpu_seconds(self._process.pid) - before
        except (OSError, EOFError, TooBusy):
            self.close()
            return function(*args, **kwargs), None
        return reply["value"], taken

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                control.command("autograder.grading.yardstick", str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=control.environment(),
                start_new_session=True,
            )
        self._channel = Channel(ours)

    def _ask(self, wanted: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._channel
        allowance = Allowance(seconds, self._spent)
        self._channel.send(encode(wanted | {"id": secrets.token_hex(4)}), allowance)
        reply: dict[str, Any] = self._channel.receive(allowance, _MAX_PAYLOAD)
        return reply

    def _spent(self) -> Observed:
        assert self._process
        pid = self._process.pid
        return Observed(kernel.cpu_seconds(pid), kernel.waited_seconds(pid))


def main(descriptor: str) -> None:
    """Serve the grader until it closes the connection: the other process begins here."""
    connection = socket.socket(fileno=int(descriptor))
    functions: dict[tuple[str, str], Any] = {}
    for request, _ in serving.requests(connection):
        key = request["path"], request["name"]
        if key not in functions:
            functions[key] = inspect.unwrap(getattr(load_module(Path(key[0])), key[1]))
            torch: Any = sys.modules.get("torch")
            if torch is not None:
                torch.set_num_threads(1)
        value = functions[key](*request["args"], **request["kwargs"])
        serving.send(connection, encode({"value": value}))
