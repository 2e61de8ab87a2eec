"""The only code of ours that runs in the process of a student's code.

It executes cells, reads variables and calls functions, and answers with data. Everything here may
be read, replaced and subverted by the student's code: the grader believes nothing of what comes
back beyond its being data.
"""

import ast
import base64
import copy
import io
import linecache
import random
import socket
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any

from autograder.sandbox.wire import PREFIX, Buffer, WireError, decode, encode, frame_lengths

_MAX_REQUEST = 1 << 40  # requests come from the grader; the limit on memory is the limit here
_MAX_MESSAGE = 2000
_MAX_TRACEBACK = 1 << 16
_MAX_IMAGE = 1 << 20
_OUTPUT_OVERHEAD = 512  # room that each change between the streams costs; bounds their number


class Refusal(Exception):
    """A request that cannot be met, for a reason that is not an exception of the student's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Output:
    """What the current cell has shown, up to a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._room = 0
        self._shown: list[dict[str, Any]] | None = None

    def begin(self) -> None:
        """Start to collect. Otherwise what is printed is dropped."""
        self._shown, self._room = [], self._limit

    def end(self) -> list[dict[str, Any]]:
        """Stop collecting, and return the outputs in the notebook format."""
        shown, self._shown = self._shown or [], None
        for output in shown:
            if output["output_type"] == "stream":
                output["text"] = "".join(output["text"])
        return shown

    def write(self, stream: str, text: str) -> None:
        """Add text to a stream."""
        shown = self._shown
        if shown is None or self._room <= 0 or not text:
            return
        text = self.fit(text)
        if not shown or shown[-1].get("name") != stream:
            self._room -= _OUTPUT_OVERHEAD
            shown.append({"output_type": "stream", "name": stream, "text": []})
        shown[-1]["text"].append(text)

    def add(self, output: dict[str, Any]) -> None:
        """Add an output that is not a stream."""
        if self._shown is not None:
            self._shown.append(output)

    def fit(self, text: str) -> str:
        """Return as much of the text as there is room for, and use up the room."""
        data = text.encode("utf-8", "replace")
        room = max(self._room, 0)
        self._room -= len(data)
        if len(data) <= room:
            return data.decode()
        cut = data[:room].decode("utf-8", "ignore")
        return f"{cut}\n[output cut after {self._limit >> 10} KiB]\n"


class Stream(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr``."""

    def __init__(self, name: str, output: Output) -> None:
        super().__init__()
        self._name = name
        self._output = output

    encoding = "utf-8"

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str, /) -> int:
        """Add text to the cell's output."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._output.write(self._name, text)
        return len(text)


class Worker:
    """One student's notebook: a namespace, and what can be asked of it."""

    def __init__(self, numbers: dict[str, dict[str, Any]], limits: dict[str, int]) -> None:
        self._max_payload = limits["payload_bytes"]
        self._output = Output(limits["output_bytes"])
        sys.stdout = Stream("stdout", self._output)
        sys.stderr = Stream("stderr", self._output)
        main = types.ModuleType("__main__")
        main.__dict__["__builtins__"] = __builtins__
        sys.modules["__main__"] = main
        sys.modules["check"] = _check_module(numbers)
        self._namespace = main.__dict__
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
            frame = self._encoded(reply | _failure("exception", *_describe(error)))
        return frame

    def _encoded(self, reply: dict[str, Any]) -> list[Buffer]:
        return encode(reply, max_payload=self._max_payload)

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "execute":
            return self._execute(request["source"], request["number"])
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

    def _execute(self, source: str, number: int) -> dict[str, Any]:
        reply: dict[str, Any] = {"error": None}
        self._output.begin()
        try:
            value = self._run(source, f"<cell {number}>")
            if value is not None:
                self._output.add(self._result(value))
        except BaseException as error:
            name, message = _describe(error)
            reply |= _failure("exception", name, message)
            lines = _student_traceback(error)
            self._output.add(
                {"output_type": "error", "ename": name, "evalue": message, "traceback": lines}
            )
        return reply | {"outputs": self._output.end()}

    def _run(self, source: str, filename: str) -> Any:
        """Execute a cell, and return the value of the expression at its end, or None."""
        source = self._without_magics(source, filename)
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        body = ast.parse(source, filename)
        last = None
        if body.body and isinstance(body.body[-1], ast.Expr):
            last = ast.Expression(body.body[-1].value)
            del body.body[-1]
        exec(compile(body, filename, "exec", dont_inherit=True), self._namespace)
        if last is None:
            return None
        return eval(compile(last, filename, "eval", dont_inherit=True), self._namespace)

    def _without_magics(self, source: str, filename: str) -> str:
        """Blank out the lines that begin with ``%`` or ``!`` where Python does not allow it."""
        lines = source.splitlines(keepends=True)
        for _ in range(len(lines)):
            try:
                ast.parse("".join(lines), filename)
            except SyntaxError as error:
                i = (error.lineno or 0) - 1
                code = lines[i].lstrip() if 0 <= i < len(lines) else ""
                if not code.startswith(("%", "!")):
                    break
                what = "line magic" if code[0] == "%" else "shell line"
                self._output.write("stdout", f"(the {what} {code.split()[0]} was skipped)\n")
                indent = lines[i][: len(lines[i]) - len(code)]
                lines[i] = f"{indent}pass\n"
            else:
                break
        return "".join(lines)

    def _result(self, value: Any) -> dict[str, Any]:
        data = {"text/plain": self._output.fit(repr(value))}
        draw = getattr(type(value), "_repr_png_", None)
        image = draw(value) if draw is not None else None
        if isinstance(image, bytes) and len(image) <= _MAX_IMAGE:
            data["image/png"] = base64.b64encode(image).decode()
        return {"output_type": "execute_result", "data": data}


def serve(connection: socket.socket) -> None:
    """Answer the grader's requests, the first of which starts the worker, until it hangs up."""
    receive = _receiver(connection)
    start = next(receive, None)
    if start is None:
        return
    worker = Worker(start["numbers"], start["limits"])
    _send(connection, encode({"id": start["id"]}))
    for request in receive:
        _send(connection, worker.answer(request))


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


def _describe(error: BaseException) -> tuple[str, str]:
    try:
        message = str(error)
    except BaseException:
        message = ""
    return type(error).__name__[:100], _sendable(message[:_MAX_MESSAGE])


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _student_traceback(error: BaseException) -> list[str]:
    """Format an exception, showing the lines of the student's cells alone."""
    report = traceback.TracebackException.from_exception(error)
    pending: list[traceback.TracebackException | None] = [report]
    while pending:
        part = pending.pop()
        if part is not None:
            frames = [frame for frame in part.stack if frame.filename.startswith("<cell ")]
            part.stack = traceback.StackSummary.from_list(frames)
            pending += [part.__cause__, part.__context__]
    text = _sendable("".join(report.format()))
    return text[:_MAX_TRACEBACK].splitlines()
