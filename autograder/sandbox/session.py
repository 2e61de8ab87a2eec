"""The grader's side of a session, in which a student's code runs."""

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from autograder.exercise.words.given import portable, tells
from autograder.sandbox import outputs
from autograder.sandbox.channel import Channel
from autograder.sandbox.conversation import Conversation, ForkServer
from autograder.sandbox.isolation import SandboxError
from autograder.sandbox.replies import (
    CONTROL_SECONDS,
    CellRun,
    Moment,
    Reply,
    State,
    StudentError,
    Usage,
    counted,
    named,
    reported,
)
from autograder.sandbox.shared_memory import Lent, lendable
from autograder.sandbox.wire import WireError, encode_parts, requests
from autograder.sandbox.wire.orders import MostMemory, Reading, ReadTime, WatchMemory

_MAX_LINE = 120
_MAX_IMAGE_AND_TRACEBACK = 2 << 20


class Session:
    """A student's notebook in a process of its own. `Zygote.session` makes it.

    Use it as a context manager, and from one thread. It is over when a request used up its time, or
    the process ended, or what came back was not in order. Whatever asks something of the process
    raises what `call` raises.

    Attributes
    ----------
    informed
        Whether a function of the grader's was handed over, which its code may have kept.
    """

    def __init__(
        self,
        origin: ForkServer,
        number: int,
        channel: Channel,
        numbers: dict[str, dict[str, Any]],
        lent: Lent | None,
    ) -> None:
        self._conversation = Conversation(origin, number, channel)
        self._lent, self._limits = lent, origin.limits
        self.informed = False
        self._cells: dict[int, list[str]] = {}
        start = {"numbers": numbers, "largest": self._limits.payload_bytes}
        try:
            self._conversation.ask("the session", CONTROL_SECONDS, 0, start)
        except StudentError as error:
            # No student code has run yet. The zygote has written the reason to standard error.
            raise SandboxError("the process of a session did not start") from error
        except BaseException:  # raised again when it is tidied up
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the process still takes requests."""
        return self._conversation.alive

    @property
    def spent(self) -> float:
        """Seconds that its requests have taken, without those for which it had no processor."""
        return self._conversation.spent

    def execute(
        self,
        source: str,
        *,
        number: int = 1,
        seconds: float | None = None,
        output_bytes: int | None = None,
        own: Collection[str] = (),
        aside: Collection[str] = (),
        along: Sequence[requests.OfProcess] = (),
    ) -> CellRun:
        """Run a cell.

        Parameters
        ----------
        source : str
            Its text.
        number : int
            Its number, for tracebacks and outputs.
        seconds : float, optional
            Time allowed, instead of the limit for cells.
        output_bytes : int, optional
            Output kept, instead of the limit for cells.
        own : collection of str
            Names of which is told whether the cell has given them a value.
        aside : collection of str
            Those among them that it neither uses nor may find: so the same value is seen as well.
        along
            What is asked as soon as it has run, for which no other message is needed then.

        Returns
        -------
        CellRun
            Also when the cell raised an exception, or did not end. A cell whose time was up keeps
            what it had shown shortly before, and has given no name a value.
        """
        subject = f"cell {number}"
        self._cells[number] = source.splitlines()
        seconds = self._limits.cell_seconds if seconds is None else seconds
        room = self._limits.output_bytes if output_bytes is None else output_bytes
        more = [*own], [*aside], [requests.as_message(each) for each in along]
        request = requests.Execute(_encodable(source), number, seconds, room, *more)
        message = requests.as_message(request)
        max_payload = room + _MAX_IMAGE_AND_TRACEBACK + requests.ALONG
        try:
            reply = self._conversation.ask(subject, seconds, max_payload, message)
            try:
                shown = outputs.clean(reply.get("outputs"), number)
                error = reported(reply.get("error"), subject)
                unchanged = {*own} & {*named(reply.get("unchanged"))}
                found = reply.get("along")
                answered = found if type(found) is list and len(found) == len(along) else []
                return CellRun(shown, error, *_state(reply), unchanged, answered)
            except WireError as error:
                raise self._conversation.violated(subject, error) from None
        except StudentError as error:
            try:
                shown = outputs.clean(self._conversation.shown, number)
            except WireError:
                shown = []
            shown = [*shown, outputs.error_output(error.kind, error.message)]
            return CellRun(shown, error, False, False, own)

    def state(self, seconds: float) -> State:
        """Return how the process is; one that does not answer is not well."""
        message = requests.as_message(requests.Ping())
        with contextlib.suppress(StudentError):
            return _state(self._conversation.ask("the notebook", seconds, 0, message))
        return State(healthy=False, alone=False)

    def read(self, name: str, *, seconds: float | None = None) -> Any:
        """Return the value of a variable.

        Raises
        ------
        StudentError
            If there is none, or it is not plain data.
        """
        return self._answered(name, requests.Read(name), seconds, verb="holds").value

    def read_all(self, names: Iterable[str], *, seconds: float | None = None) -> dict[str, Any]:
        """Return the values of those variables that there are.

        Raises
        ------
        StudentError
            If one of them is not plain data, or they are too much for one reply.
        """
        values = self._of_notebook("holds", requests.ReadAll(list(names)), seconds)
        return values if isinstance(values, dict) else {}

    def call(
        self, name: str, /, *args: object, seconds: float | None = None, **kwargs: object
    ) -> Any:
        """Call a function and return its result, as `ask` does."""
        return self.ask(name, requests.Call(args, kwargs), seconds=seconds).value

    def ask(self, name: str, request: requests.OfCalls, *, seconds: float | None = None) -> Reply:
        """Ask something of a function, or of an object that it made. What it prints is dropped.

        Parameters
        ----------
        name : str
            The function's. Of objects the grader chooses the numbers.
        request
            What is asked. Times and memory are read by the zygote, out of reach of student code;
            counts of work, warnings, and changed arguments but for `Lend` are the worker's own
            word. Arrays that are lent lie in memory that is shared with the worker, where they can
            be seen from here: what a worker gives its function instead is a copy, and a function
            that works on a copy leaves its arguments alone.
        seconds : float, optional
            Time allowed, instead of the limit for calls.

        Raises
        ------
        StudentError
            If there is no such function or object, or it does not return plain data in time.
        WireError
            If an argument is not plain data, or too large to be lent.
        """
        match request:
            case requests.Lend(args, kwargs):
                buffers = lendable(encode_parts(portable(args, kwargs))[1])
                answer = self._answered(name, request, seconds)
                same = self._lent is None or self._lent.holds(buffers)
                return replace(answer, modified=answer.modified or not same)
            case requests.Time():
                return self._between(ReadTime, ReadTime, name, request, seconds)
            case requests.Watch():
                return self._between(WatchMemory, MostMemory, name, request, seconds)
        return self._answered(name, request, seconds)

    def keep(self, request: requests.Keep) -> Moment:
        """Keep the notebook as it is now."""
        return Moment.said(self._of_notebook("is", request))

    def recall(self, snapshot: str = "") -> tuple[bool, State]:
        """Turn back to what was kept; else to the last cell.

        Returns
        -------
        bool
            Whether that was possible.
        State
            How the process is.
        """
        said = self._of_notebook("is", requests.Recall(snapshot))
        said = said if isinstance(said, dict) else {}
        return said.get("back") is True, _state(said)

    def lacking(self, names: Iterable[str]) -> list[str]:
        """Return which of these functions are not there, or were left as they were handed out."""
        wanted = list(names)
        found = self._of_notebook("is", requests.Lacking(wanted))
        return [name for name in wanted if isinstance(found, list) and name in found]

    def supply(self, name: str, source: str) -> None:
        """Define a function of the grader's under a name that nothing has."""
        self.informed = True
        self._of_notebook("is", requests.Supply(name, source))

    def supplied(self) -> list[str]:
        """Return which of those were called since this was asked last, as the process says."""
        return [*named(self._of_notebook("is", requests.Supplied()))]

    def close(self) -> Usage:
        """End the process, if it is still there, and return what it has used."""
        if self._lent:
            self._lent.close()
        return self._conversation.close()

    def _between(
        self,
        first: type[Reading],
        last: type[Reading],
        name: str,
        request: requests.Request,
        seconds: float | None,
    ) -> Reply:
        """Ask between two readings of the zygote, and take what lies between them as well."""
        before = self._conversation.reading(first)
        answer = self._answered(name, request, seconds)
        after = self._conversation.reading(last)
        if before is None or after is None:
            return answer
        return replace(answer, reading=after - before)

    def _of_notebook(
        self, verb: str, request: requests.OfProcess, seconds: float | None = None
    ) -> Any:
        return self._answered("", request, seconds, "the notebook", verb).value

    def _answered(
        self,
        name: str,
        request: requests.OfProcess,
        seconds: float | None,
        subject: str = "",
        verb: str = "",
    ) -> Reply:
        subject = f"`{subject or _subject(name, request)}`"
        verb = verb or ("holds" if isinstance(request, requests.GetAttribute) else "returned")
        seconds = self._limits.call_seconds if seconds is None else seconds
        message = requests.as_message(request) | {"function": name}
        if isinstance(request, requests.WithArguments):
            self.informed |= tells(request.args, request.kwargs)
            message |= portable(request.args, request.kwargs)
        reply = self._conversation.ask(subject, seconds, self._limits.payload_bytes, message)
        counts = isinstance(request, requests.CountWork | requests.CountMethod | requests.Outline)
        try:
            error = reported(reply.get("error"), subject, verb)
            if error is None and "value" not in reply:
                raise WireError("a reply without a value")
            said = named(reply.get("warnings", []))
            layers = named(reply.get("layers", []))
            work = counted(reply.get("work")) if counts and error is None else {}
        except WireError as violation:
            raise self._conversation.violated(subject, violation) from None
        if error is not None:
            error.line = self._line(*error.place)
            raise error
        return Reply(reply["value"], reply.get("modified") is True, said, work, layers)

    def _line(self, cell: int, number: int) -> str:
        """Return a line of a cell as it was run: the process says no more than which."""
        lines = self._cells.get(cell, [])
        return lines[number - 1].strip()[:_MAX_LINE] if 0 < number <= len(lines) else ""


def _state(reply: Mapping[str, Any]) -> State:
    return State(reply.get("healthy") is True, reply.get("alone") is True)


def _subject(name: str, request: requests.OfProcess) -> str:
    """Say how a message calls what is used."""
    match request:
        case requests.Seed() | requests.Drop():
            return "the notebook"
        case (
            requests.CallMethod()
            | requests.CountMethod()
            | requests.GetAttribute()
            | requests.SetAttribute()
            | requests.IsMethod()
        ) if request.name != "__call__":
            return f"{name}.{request.name}"
    return name


def _encodable(source: str) -> str:
    # A notebook file may hold unpaired surrogates, which are no text.
    return source.encode("utf-8", "replace").decode()
