"""What answers the grader from within the process of a student's code.

It executes cells, reads variables and calls functions, and answers with data. With `shell` and
`capture` it is the only code of ours there (and `wire`, to speak). Everything here may be read,
replaced and subverted by the student's code: the grader believes nothing of what comes back beyond
its being data.
"""

import copy
import random
import socket
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograder.sandbox.capture import Stream, describe
from autograder.sandbox.shell import Shell
from autograder.sandbox.wire import PREFIX, Buffer, WireError, decode, encode, frame_lengths

_MAX_REQUEST = 1 << 40  # requests come from the grader; the limit on memory is the limit here


class Refusal(Exception):
    """A request that cannot be met, for a reason that is not an exception of the student's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Worker:
    """One student's notebook: a shell with its names, and what can be asked of it."""

    def __init__(
        self,
        shell: Shell,
        numbers: dict[str, dict[str, Any]],
        max_payload: int,
        send: Callable[[list[Buffer]], None],
    ) -> None:
        self._shell = shell
        self._max_payload = max_payload
        self._send = send
        self._namespace: dict[str, Any] = shell.user_ns
        sys.stdout = Stream("stdout", shell.output)
        sys.stderr = Stream("stderr", shell.output)
        sys.modules["__main__"] = shell.user_module
        sys.modules["check"] = _check_module(numbers)
        _seed()

    def answer(self, request: dict[str, Any]) -> list[Buffer]:
        """Do what is asked and return the frame to send back."""
        reply = {"id": request["id"]}
        try:
            frame = self._encoded(reply | self._do(request))
        except WireError as error:
            frame = self._encoded(reply | _failure("unsendable", "", str(error)))
        except Refusal as error:
            frame = self._encoded(reply | _failure(error.kind, "", str(error)))
        except BaseException as error:
            frame = self._encoded(reply | _failure("exception", *describe(error)))
        return frame

    def _encoded(self, reply: dict[str, Any]) -> list[Buffer]:
        return encode(reply, max_payload=self._max_payload)

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "execute":
            return self._execute(request)
        if request["do"] == "read":
            return {"value": self._find(request["name"])}
        function = self._find(request["name"])
        if not callable(function):
            raise Refusal("missing", f"is not a function: its type is {type(function).__name__}")
        arguments = (request["args"], request["kwargs"])
        before = _frozen(arguments)
        value = function(*request["args"], **request["kwargs"])
        return {"value": value, "modified": _frozen(arguments) != before}

    def _find(self, name: str) -> Any:
        try:
            return self._namespace[name]
        except KeyError:
            raise Refusal("missing", "") from None

    def _execute(self, request: dict[str, Any]) -> dict[str, Any]:
        def report(outputs: list[dict[str, Any]]) -> None:
            self._send(self._encoded({"id": request["id"], "outputs": outputs, "partial": True}))

        error = self._shell.run(
            request["source"],
            request["number"],
            limit=request["output_bytes"],
            seconds=request["time"],
            report=report,
        )
        outputs = self._shell.output.end()
        failure = {"error": None} if error is None else _failure("exception", *describe(error))
        return failure | {"outputs": outputs}


def serve(connection: socket.socket, shell: Shell) -> None:
    """Answer the grader's requests, the first of which starts the worker, until it hangs up."""

    def send(frame: list[Buffer]) -> None:
        _send(connection, frame)

    receive = _receiver(connection)
    start = next(receive, None)
    if start is None:
        return
    worker = Worker(shell, start["numbers"], start["largest"], send)
    send(encode({"id": start["id"]}))
    for request in receive:
        send(worker.answer(request))


def rehearse(shell: Shell) -> None:
    """Answer some requests in a zygote, so that workers inherit what this makes on demand.

    Much is loaded, compiled and cached when it is used first: once here, instead of in each fork.
    """
    cells = [
        "import math\ndef f(x): return math.sqrt(x)\nprint(f(4.0))\n(0, f(9.0))",
        "%%time\n(0,\n1)",
        "1 / 0",
        "f(",
        "x: int = 1; x;",
    ]
    value: Any = 4.0
    if "numpy" in sys.modules:
        cells.append("import numpy as np\na = np.linspace(0, 1, 4)\na.max() + a")
        value = sys.modules["numpy"].ones(3)
    execute = {"do": "execute", "time": 10.0, "output_bytes": 1 << 16}
    requests = [execute | {"source": c, "number": n} for n, c in enumerate(cells * 8, 1)]
    requests += [{"do": "execute", "source": "def f(x): return x"} | execute | {"number": 99}]
    requests += [{"do": "call", "name": "f", "args": (value,), "kwargs": {}}] * 16
    requests += [{"do": "read", "name": name} for name in ("f", "x", "nothing")]
    streams, main = (sys.stdout, sys.stderr), sys.modules["__main__"]
    worker = Worker(shell, {}, 1 << 20, lambda _: None)
    for request in requests:
        frame = b"".join(encode(request | {"id": ""}))
        header, _ = frame_lengths(frame[: PREFIX.size], _MAX_REQUEST)
        end = PREFIX.size + header
        worker.answer(decode(frame[PREFIX.size : end], frame[end:], torch_tensors=True))
    (sys.stdout, sys.stderr), sys.modules["__main__"] = streams, main
    del sys.modules["check"]
    shell.forget()


def _receiver(connection: socket.socket) -> Iterator[dict[str, Any]]:
    chunk = bytearray(1 << 16)
    while True:
        # Nearly every request arrives in one piece, hence with one system call.
        data = chunk[: connection.recv_into(chunk)]
        if not _complete(connection, data, PREFIX.size):
            return
        header, payload = frame_lengths(data[: PREFIX.size], _MAX_REQUEST)
        end = PREFIX.size + header
        if not _complete(connection, data, end + payload):
            return
        yield decode(data[PREFIX.size : end], data[end:], torch_tensors=True)


def _complete(connection: socket.socket, data: bytearray, size: int) -> bool:
    """Receive until there are ``size`` bytes. False if the other side has gone."""
    filled = len(data)
    if filled < size:
        data.extend(bytes(size - filled))
        with memoryview(data) as view:
            while filled < size:
                count = connection.recv_into(view[filled:])
                if count == 0:
                    return False
                filled += count
    return True


def _send(connection: socket.socket, buffers: list[Buffer]) -> None:
    sent = connection.sendmsg(buffers)
    for buffer in buffers:
        if sent < len(buffer):
            connection.sendall(memoryview(buffer)[sent:])
            sent = 0
        else:
            sent -= len(buffer)


def _check_module(numbers: dict[str, dict[str, Any]]) -> types.ModuleType:
    """Make the module ``check`` that students' notebooks import."""
    module = types.ModuleType("check", "The exercises' checks; here the grader does them.")

    def check(*_args: object, **_kwargs: object) -> None:
        """Do nothing: the grader checks for itself."""

    def student(*_args: object, **_kwargs: object) -> None:
        """Do nothing: the grader knows whose notebook this is."""

    def your_numbers(exercise: str) -> dict[str, Any]:
        """Return this student's numbers of an exercise."""
        return copy.deepcopy(numbers.get(exercise, {}))

    module.__dict__.update(check=check, student=student, your_numbers=your_numbers)
    return module


def _frozen(arguments: Any) -> bytes | None:
    """Return the arguments' values, or None if they are no longer plain data."""
    try:
        return b"".join(encode(arguments))
    except WireError:
        return None


def _seed() -> None:
    random.seed(0)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)


def _failure(kind: str, name: str, message: str) -> dict[str, Any]:
    return {"error": {"kind": kind, "type": name, "message": message}}
