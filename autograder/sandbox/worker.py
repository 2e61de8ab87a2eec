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
from collections.abc import Callable
from typing import Any

from autograder.sandbox.capture import Stream, describe
from autograder.sandbox.shell import Shell
from autograder.sandbox.wire import (
    PREFIX,
    Buffer,
    Receiver,
    WireError,
    decode,
    encode,
    encode_parts,
    frame_lengths,
)

Frame = tuple[Buffer, Buffer]

_PIECE = 1 << 16  # of what is compared at a time: no second copy of a large array is made
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

    def answer(self, request: dict[str, Any], frame: Frame) -> list[Buffer]:
        """Do what is asked and return the frame to send back.

        ``frame`` is the one that the request came in.
        """
        reply = {"id": request["id"]}
        try:
            return self._encoded(reply | self._do(request, frame))
        except WireError as error:
            failure = _failure("unsendable", "", str(error))
        except Refusal as error:
            failure = _failure(error.kind, "", str(error))
        except BaseException as error:
            failure = _failure("exception", *describe(error))
        return self._encoded(reply | failure)

    def _encoded(self, reply: dict[str, Any]) -> list[Buffer]:
        return encode(reply, max_payload=self._max_payload)

    def _do(self, request: dict[str, Any], frame: Frame) -> dict[str, Any]:
        if request["do"] == "execute":
            return self._execute(request)
        if request["do"] == "read":
            return {"value": self._find(request["name"])}
        function = self._find(request["name"])
        if not callable(function):
            raise Refusal("missing", f"is not a function: its type is {type(function).__name__}")
        value = function(*request["args"], **request["kwargs"])
        return {"value": value, "modified": _differs(request, frame)}

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

    def read(view: memoryview) -> int:
        if count := connection.recv_into(view):
            return count
        raise EOFError

    receiver = Receiver(read)
    try:
        start = _request(receiver.frame(_MAX_REQUEST))
        worker = Worker(shell, start["numbers"], start["largest"], send)
        send(encode({"id": start["id"]}))
        while True:
            frame = receiver.frame(_MAX_REQUEST)
            send(worker.answer(_request(frame), frame))
    except EOFError:
        pass


def _request(frame: Frame) -> dict[str, Any]:
    request: dict[str, Any] = decode(*frame, torch_tensors=True)
    return request


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
        parts = (frame[PREFIX.size : end], frame[end:])
        worker.answer(_request(parts), parts)
    (sys.stdout, sys.stderr), sys.modules["__main__"] = streams, main
    del sys.modules["check"]
    shell.forget()


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


def _differs(request: dict[str, Any], frame: Frame) -> bool:
    """Say whether a request is no longer what came in a frame, or no plain data at all.

    A value that came over the wire has but one form there.
    """
    header, payload = frame
    try:
        now, buffers = encode_parts(request)
    except WireError:
        return True
    if now != header:
        return True
    position = 0
    before = memoryview(payload)
    for buffer in buffers:
        for start in range(0, len(buffer), _PIECE):
            part = buffer[start : start + _PIECE]
            # A bytearray compares with any bytes at once, a memoryview one by one.
            if bytearray(before[position : position + len(part)]) != part:
                return True
            position += len(part)
    return False


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
