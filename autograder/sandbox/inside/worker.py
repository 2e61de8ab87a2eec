"""What answers the grader from within the process of a student's code.

It executes cells, reads variables, calls functions and holds objects, and answers with data. With
the rest of this room, `meters`, and `wire` to speak, it is the only code of ours there.
Everything here may be read, replaced and subverted by the student's code: the grader believes
nothing of what comes back beyond its being data.
"""

import copy
import gc
import mmap
import socket
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from autograder.sandbox.inside import health, serving
from autograder.sandbox.inside.capture import Output, Stream, describe, place_of
from autograder.sandbox.inside.desk import Desk, NoTorch
from autograder.sandbox.inside.handles import Lost, Objects, defined, noting, seed, unwritten
from autograder.sandbox.inside.health import Health
from autograder.sandbox.inside.serving import Frame
from autograder.sandbox.inside.shell import Shell
from autograder.sandbox.inside.snapshots import Snapshots
from autograder.sandbox.meters import layers
from autograder.sandbox.wire import Buffer, WireError, decode, encode, encode_parts, requests

#: After these it is said whether an argument was changed.
_SEEN = ("Call", "CallEach", "Lend", "Make", "CallMethod")
_PIECE = 1 << 16  # of what is compared at a time: no second copy of a large array is made


class Refusal(Exception):
    """A request that cannot be met, for a reason that is not an exception of the student's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class TorchTools(NamedTuple):
    """The modules of those names, where torch is at hand: importing it takes seconds."""

    torchmeter: Any
    gpumeter: Any


class Worker:
    """One student's notebook: a shell with its names, and what can be asked of it."""

    def __init__(
        self,
        shell: Shell,
        usual: health.Usual,
        numbers: dict[str, dict[str, Any]],
        max_payload: int,
        send: Callable[[list[Buffer]], None],
        torch: "TorchTools | None" = None,
        lent: mmap.mmap | None = None,
    ) -> None:
        self._shell = shell
        self._lent = lent
        self._gpumeter: Any = torch.gpumeter if torch else None
        self._bench: Any = None
        self._max_payload = max_payload
        self._send = send
        self._namespace: dict[str, Any] = shell.user_ns
        sys.stdout = Stream("stdout", shell.output)
        sys.stderr = Stream("stderr", shell.output)
        sys.modules["__main__"] = shell.user_module
        sys.modules["check"] = _check_module(numbers)
        seed(0)
        self._objects = Objects()
        self._supplied: set[str] = set()  # which functions of ours have been called
        torchmeter = torch.torchmeter if torch else None
        self._desk = Desk(self._objects, lambda: torchmeter)
        self._snapshots = Snapshots(self._namespace)
        self._health = Health((self, self._desk, self._objects, self._snapshots), usual)

    def answer(self, request: dict[str, Any], frame: Frame) -> list[Buffer]:
        """Do what is asked and return the frame to send back.

        ``frame`` is the one that the request came in.
        """
        reply = {"id": request["id"]}
        try:
            if request["do"] == "Lend":
                request = self._where_the_grader_looks(frame)
            reply |= self._watched(request, frame) if request.get("without") else self._do(request)
            if request["do"] in _SEEN:
                reply["modified"] = _differs(request, frame)
            return self._encoded(reply)
        except WireError as error:
            failure = _failure("unsendable", "", str(error))
        except Refusal as error:
            failure = _failure(error.kind, "", str(error))
        except Lost:
            failure = _failure("lost", "", "")
        except BaseException as error:  # the student's, SystemExit among them
            failure = _failure("exception", *describe(error))
            failure["error"]["place"] = place_of(error)
        return self._encoded({"id": request["id"]} | failure)

    def _watched(self, request: dict[str, Any], frame: Frame) -> dict[str, Any]:
        """Do what is asked, and say which of a library's layers were used for it."""
        with layers.watching(request["without"], closely=request["closely"]) as seen:
            reply = self._do(request)
        if seen.late:  # the call itself has brought torch in
            again = decode(*frame, torch_tensors=True)
            with layers.watching(request["without"]) as seen:
                reply = self._do(again)
        return reply | {"layers": sorted(seen.words)}

    def _where_the_grader_looks(self, frame: Frame) -> dict[str, Any]:
        """Return a request whose arrays lie in memory that the grader sees."""
        header, payload = frame
        if self._lent is not None:
            self._lent[: len(payload)] = bytes(payload)
            payload = memoryview(self._lent)[: len(payload)]
        request: dict[str, Any] = decode(header, payload, torch_tensors=True, lent=True)
        return request

    def _encoded(self, reply: dict[str, Any]) -> list[Buffer]:
        return encode(reply, max_payload=self._max_payload)

    def _do(self, message: dict[str, Any]) -> dict[str, Any]:
        request = requests.from_message(message, self._objects.arguments)
        match request:
            case requests.Execute():
                return self._execute(request, message["id"])
            case requests.Ping():
                return self._state()
            case requests.Read():
                return {"value": self._find(request.name)}
            case requests.ReadAll():
                there = self._namespace.keys() & request.names
                return {"value": {name: self._namespace[name] for name in there}}
            case requests.Keep():
                kept = self._snapshots.keep(request.snapshot, request.names)
                lacking = self._lacking([*request.names, *request.used])
                return {"value": {"kept": kept, "lacking": lacking}}
            case requests.Recall():
                back = self._snapshots.recall(request.snapshot)
                return {"value": {"back": back} | self._state()}
            case requests.Lacking():
                return {"value": self._lacking(request.names)}
            case requests.Supply():
                made, note = defined(request.name, request.source), self._supplied.add
                self._namespace[request.name] = noting(made, partial(note, request.name))
                return {"value": None}
            case requests.Supplied():
                called = sorted(self._supplied)
                self._supplied.clear()
                return {"value": called}
            case requests.Bench():
                return {"value": self._benched(message, request)}
            case _:
                return self._answered(message, request)

    def _lacking(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if unwritten(self._namespace.get(name))]

    def _answered(self, message: dict[str, Any], request: requests.Request) -> dict[str, Any]:
        """Do what is asked of a function or an object."""
        try:
            done = self._desk.do(request, partial(self._function, message))
        except NoTorch:
            raise Refusal("missing", "can't be outlined: the grader has no torch here") from None
        work = {} if done.work is None else {"work": done.work}
        return {"value": done.value, "warnings": list(done.warnings)} | work

    def _benched(self, message: dict[str, Any], request: requests.Bench) -> Any:
        """Take a step of a measurement on a GPU; the first one says of which function."""
        if request.step == "prepare":
            self._bench = None  # what it holds may leave no room for the next one
            self._bench = self._gpumeter.TimedFunction(self._function(message), **request.options)
            return None
        if request.step == "end":
            self._bench = None
            gc.collect()  # an exception keeps what its frames hold
            self._gpumeter.release()
            return None
        return self._bench.take(request.step, **request.options)

    def _function(self, message: dict[str, Any]) -> Callable[..., Any]:
        """Return the function that a message is about."""
        function = self._find(message["function"])
        if not callable(function):
            raise Refusal("missing", f"is not a function: its type is {type(function).__name__}")
        found: Callable[..., Any] = function
        return found

    def _find(self, name: str) -> Any:
        try:
            return self._namespace[name]
        except KeyError:
            raise Refusal("missing", "") from None

    def _execute(self, request: requests.Execute, id: str) -> dict[str, Any]:
        def report(outputs: list[dict[str, Any]]) -> None:
            self._send(self._encoded({"id": id, "outputs": outputs, "partial": True}))

        names = self._namespace
        before = {name: names[name] for name in request.own if name in names}
        for name in request.aside:
            names.pop(name, None)
        error = self._shell.run(
            request.source,
            request.number,
            limit=request.output_bytes,
            seconds=request.seconds,
            report=report,
        )
        outputs = self._shell.output.end()
        failure = {"error": None} if error is None else _failure("exception", *describe(error))
        same = [
            name
            for name, value in before.items()
            if (name not in names if name in request.aside else names.get(name) is value)
        ]
        for name in before.keys() & request.aside:
            names.setdefault(name, before[name])
        done = failure | {"outputs": outputs, "unchanged": same} | self._state()
        return done | {"along": self._along(request.along)}

    def _along(self, messages: Iterable[Mapping[str, Any]]) -> list[Any]:
        """Return what is asked along with a cell; nothing where it has to be asked by itself."""
        try:
            found = [self._do({**message})["value"] for message in messages]
            header, buffers = encode_parts([found]) if found else (b"", [])
        except BaseException:  # whatever the student's objects do: the cell itself has run
            return []
        return found if len(header) + sum(map(len, buffers)) <= requests.ALONG else []

    def _state(self) -> dict[str, Any]:
        healthy = self._health.intact(closely=self._shell.damaging)
        return {"healthy": healthy, "alone": self._health.alone()}


def as_usual() -> health.Usual:
    """Return what must stay as it is: a zygote notes it once, since to touch it takes a while."""
    classes = map(vars, (Shell, Output, Worker, Desk, Objects, Snapshots))
    own = (serve, encode, decode, describe, Shell.run, Desk.do, seed, Snapshots.recall)
    return health.usual(*classes, *(part.__globals__ for part in (*own, requests.from_message)))


def serve(
    connection: socket.socket,
    shell: Shell,
    usual: health.Usual,
    torch: "TorchTools | None" = None,
    lent: mmap.mmap | None = None,
) -> None:
    """Answer the grader's requests, the first of which starts the worker, until it hangs up."""

    def send(frame: list[Buffer]) -> None:
        serving.send(connection, frame)

    receive = serving.requests(connection)
    start, _ = next(receive, (None, None))
    if start is None:
        return
    worker = Worker(shell, usual, start["numbers"], start["largest"], send, torch, lent)
    send(encode({"id": start["id"]}))
    for request, frame in receive:
        send(worker.answer(request, frame))


def _check_module(numbers: dict[str, dict[str, Any]]) -> types.ModuleType:
    """Make the module ``check`` that students' notebooks import."""
    module = types.ModuleType("check", "The exercises' checks; here the grader does them.")

    def check(*_args: object, **_kwargs: object) -> None:
        """Do nothing: the grader checks for itself."""

    def student(*_args: object, **_kwargs: object) -> None:
        """Do nothing: the grader knows whose notebook this is."""

    def helped(*_args: object, **_kwargs: object) -> None:
        """Do nothing: practice, hints and pictures are for who works on the notebook."""

    def your_numbers(exercise: str) -> dict[str, Any]:
        """Return this student's numbers of an exercise."""
        return copy.deepcopy(numbers.get(exercise, {}))

    def carry(exercise: str, *_args: object, **_kwargs: object) -> None:
        """Refuse: what is graded is the code itself."""
        raise RuntimeError(
            f"your code of {exercise} is not in this notebook: run this cell, so that the code "
            "stands in it, and save the notebook before you hand it in"
        )

    mine = {"carry": carry, "check": check, "student": student, "your_numbers": your_numbers}
    module.__dict__.update(mine, practice=helped, solution=helped, hint=helped, moving=helped)
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


def _failure(kind: str, name: str, message: str) -> dict[str, Any]:
    return {"error": {"kind": kind, "type": name, "message": message}}
