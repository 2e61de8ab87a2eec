"""What answers the grader from within the process of a student's code.

It executes cells, reads variables and calls functions, and answers with data. With `shell`,
`capture` and `meter` it is the only code of ours there (and `serving` and `wire`, to speak).
Everything here may be read, replaced and subverted by the student's code: the grader believes
nothing of what comes back beyond its being data.
"""

import copy
import random
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

from autograder.sandbox import meter, serving
from autograder.sandbox.capture import Stream, describe
from autograder.sandbox.shell import Shell
from autograder.sandbox.wire import Buffer, WireError, encode


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
        torchmeter: Any = None,
    ) -> None:
        self._shell = shell
        self._torchmeter = torchmeter
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
        args, kwargs = request["args"], request["kwargs"]
        if request["do"] == "time":  # nothing beside the call: the grader's clock is running
            return {"value": function(*args, **kwargs)}
        if request["do"] == "meter":
            value, work = meter.metered(function, args, kwargs, self._torchmeter)
            return {"value": value, "work": work}
        before = _frozen((args, kwargs))
        value = function(*args, **kwargs)
        return {"value": value, "modified": _frozen((args, kwargs)) != before}

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


def serve(connection: socket.socket, shell: Shell, torchmeter: Any = None) -> None:
    """Answer the grader's requests, the first of which starts the worker, until it hangs up.

    ``torchmeter`` is the module of that name, where torch is at hand.
    """

    def send(frame: list[Buffer]) -> None:
        serving.send(connection, frame)

    receive = serving.requests(connection)
    start = next(receive, None)
    if start is None:
        return
    worker = Worker(shell, start["numbers"], start["largest"], send, torchmeter)
    send(encode({"id": start["id"]}))
    for request in receive:
        send(worker.answer(request))


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
