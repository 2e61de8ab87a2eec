"""The grader's side of a session, in which a student's code runs."""

import secrets
import signal
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from autograder.exercise.given import portable, tells
from autograder.sandbox import outputs
from autograder.sandbox.allowance import Allowance, TooBusy
from autograder.sandbox.channel import Channel
from autograder.sandbox.isolation import SandboxError
from autograder.sandbox.lent import Lent, lendable
from autograder.sandbox.results import (
    CONTROL_SECONDS,
    CellRun,
    Kind,
    StudentError,
    Usage,
    counted,
    reported,
    warned,
)
from autograder.sandbox.wire import WireError, encode, encode_parts

if TYPE_CHECKING:
    from autograder.sandbox.fork_server import Zygote

_MAX_IMAGE_AND_TRACEBACK = 2 << 20


class Session:
    """A student's notebook in a process of its own. `Zygote.session` makes it.

    Use it as a context manager, and from one thread. Every request has an `Allowance` of time; when
    that is used up, or the process ends, or what comes back is not in order, the session is over.

    Attributes
    ----------
    spent
        Seconds that its requests have taken, without those for which it had no processor.
    informed
        Whether a function of the grader's was handed over, which its code may have kept.
    """

    def __init__(
        self,
        zygote: "Zygote",
        number: int,
        channel: Channel,
        numbers: dict[str, dict[str, Any]],
        lent: Lent | None,
    ) -> None:
        self._zygote = zygote
        self._number = number
        self._channel = channel
        self._lent = lent
        self._limits = zygote.limits
        self.spent = 0.0
        self.informed = False
        self._modified = False
        self._warnings: tuple[str, ...] = ()
        self._partial: Any = []
        self._over = ""
        self._end: dict[str, Any] | None = None
        most = self._limits.payload_bytes
        try:
            self._ask("the session", CONTROL_SECONDS, 0, numbers=numbers, largest=most)
        except StudentError as error:
            # No student code has run yet. The zygote has written the reason to standard error.
            raise SandboxError("the process of a session did not start") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the process still takes requests."""
        return self._end is None

    @property
    def modified(self) -> bool:
        """Whether the last call, as the worker reports it, changed its arguments in place.

        A worker that says so is believed; `leaves_alone` needs no such word.
        """
        return self._modified

    @property
    def warnings(self) -> tuple[str, ...]:
        """The kinds of warnings that the last call gave, as the worker reports them."""
        return self._warnings

    def execute(
        self,
        source: str,
        *,
        number: int = 1,
        seconds: float | None = None,
        output_bytes: int | None = None,
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

        Returns
        -------
        CellRun
            Also when the cell raised an exception, or did not end. A cell whose time was up keeps
            what it had shown shortly before.
        """
        subject = f"cell {number}"
        seconds = self._limits.cell_seconds if seconds is None else seconds
        room = self._limits.output_bytes if output_bytes is None else output_bytes
        request = {"do": "execute", "source": _encodable(source), "number": number}
        request |= {"time": seconds, "output_bytes": room}
        max_payload = room + _MAX_IMAGE_AND_TRACEBACK
        self._partial = []
        try:
            reply = self._ask(subject, seconds, max_payload, **request)
            try:
                shown = outputs.clean(reply.get("outputs"), number)
                error = reported(reply.get("error"), subject)
                healthy, alone = (reply.get(name) is True for name in ("healthy", "alone"))
                return CellRun(shown, error, healthy, alone)
            except WireError as error:
                raise self._finish("protocol", _violation(subject, error)) from None
        except StudentError as error:
            try:
                shown = outputs.clean(self._partial, number)
            except WireError:
                shown = []
            shown = [*shown, outputs.error_output(error.kind, error.message)]
            return CellRun(shown, error, healthy=False, alone=False)

    def read(self, name: str, *, seconds: float | None = None) -> Any:
        """Return the value of a variable.

        Raises
        ------
        StudentError
            If there is none, or it is not plain data.
        """
        return self._value(name, "holds", seconds, do="read")["value"]

    def read_all(self, names: Iterable[str], *, seconds: float | None = None) -> dict[str, Any]:
        """Return the values of those variables that there are.

        Raises
        ------
        StudentError
            If one of them is not plain data, or they are too much for one reply.
        """
        request = {"do": "read_all", "names": list(names)}
        values = self._value("the notebook", "holds", seconds, **request)["value"]
        return values if isinstance(values, dict) else {}

    def call(self, name: str, /, *args: Any, seconds: float | None = None, **kwargs: Any) -> Any:
        """Call a function and return its result. What it prints is dropped.

        Raises
        ------
        StudentError
            If there is no such function, or it does not return plain data in time.
        WireError
            If an argument is not plain data.
        """
        return self._value(name, "returned", seconds, do="call", args=args, kwargs=kwargs)["value"]

    def leaves_alone(
        self, name: str, /, *args: Any, seconds: float | None = None, **kwargs: Any
    ) -> bool:
        """Call a function, and say whether its arguments are then what they were.

        Arrays lie in memory that is shared with the worker, where they can be seen from here: what
        a worker gives its function instead is a copy, and a function that works on a copy leaves
        its arguments alone.  Of lists and dictionaries the worker tells.

        Raises
        ------
        StudentError, WireError
            As `call` does; also if the arguments are too large.
        """
        buffers = lendable(encode_parts(portable(args, kwargs))[1])
        self._value(name, "returned", seconds, do="lend", args=args, kwargs=kwargs)
        return not self._modified and (self._lent is None or self._lent.holds(buffers))

    def use(
        self, do: str, subject: str, *, seconds: float | None = None, **request: Any
    ) -> dict[str, Any]:
        """Make an object, use one that was made, or seed the process (`inside.objects`).

        Parameters
        ----------
        do : str
            make, method, gradients, get, set, is_method, drop or seed.
        subject : str
            How a message calls what is used.
        **request
            What the worker needs to know. The grader chooses the numbers of objects.

        Returns
        -------
        dict
            The ``value``, and the ``work`` where that was asked for.

        Raises
        ------
        StudentError, WireError
            As `call` does; also if the object is not there.
        """
        verb = "holds" if do == "get" else "returned"
        reply = self._value(subject, verb, seconds, do=do, **request)
        work = {"work": self._counted(subject, reply)} if request.get("metered") else {}
        return {"value": reply["value"]} | work

    def metered(
        self, name: str, /, *args: Any, seconds: float | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Call a function and return its result and the work that it was, as the worker counts it.

        Whoever controls the worker can forge the counts.

        Raises
        ------
        StudentError, WireError
            As `call` does.
        """
        reply = self._value(name, "returned", seconds, do="meter", args=args, kwargs=kwargs)
        return reply["value"], self._counted(name, reply)

    def outlined(
        self, name: str, *shapes: tuple[int, ...], dtype: str, seconds: float | None = None
    ) -> dict[str, Any]:
        """Return the work of a call with torch tensors of these shapes that hold no numbers.

        Raises
        ------
        StudentError
            As `call` does.
        """
        request = {"do": "outline", "shapes": list(shapes), "dtype": dtype}
        return self._counted(name, self._value(name, "returned", seconds, **request))

    def timed(
        self, name: str, /, *args: Any, seconds: float | None = None, **kwargs: Any
    ) -> tuple[Any, float | None]:
        """Call a function and return its result and the processor time of all of its threads.

        The time is read by the zygote from the clock of the worker's process, out of reach of
        student code.  It is None where the system has no such clock.

        Raises
        ------
        StudentError, WireError
            As `call` does.
        """
        return self._between("clock", "clock", name, args, kwargs, seconds)

    def watched(
        self, name: str, /, *args: Any, seconds: float | None = None, **kwargs: Any
    ) -> tuple[Any, float | None]:
        """Call a function and return its result and the bytes by which the process grew meanwhile.

        Arguments and result are among them, and what they take on the way.  It is the zygote that
        looks, out of reach of student code.  None where the system does not tell.

        Raises
        ------
        StudentError, WireError
            As `call` does.
        """
        return self._between("watch", "watched", name, args, kwargs, seconds)

    def bench(
        self, name: str, /, *, step: str, seconds: float | None = None, **options: Any
    ) -> Any:
        """Take a step of `gpumeter.Bench` with a function: prepare, go, rows or peak.

        Raises
        ------
        StudentError, WireError
            As `call` does.
        """
        request = {"do": "bench", "step": step, "options": options}
        return self._value(name, "returned", seconds, **request)["value"]

    def keep(self, moment: str, names: Iterable[str]) -> bool:
        """Keep the notebook as it is now, and say whether calls can be turned back to it.

        They can if nothing that these functions use can be changed but by its name.

        Raises
        ------
        StudentError
            If the process did not answer in time.
        """
        return self._moment("keep", moment=moment, names=list(names))

    def recall(self, moment: str) -> bool:
        """Turn back to what was kept, and say whether that was possible.

        Raises
        ------
        StudentError
            If the process did not answer in time.
        """
        return self._moment("recall", moment=moment)

    def close(self) -> Usage:
        """End the process, if it is still there, and return what it has used."""
        if self._end is None:
            self._channel.close()
            if self._lent:
                self._lent.close()
            self._end = self._zygote._reap(self._number)
            self._over = "the session was closed"
        return Usage(self._end["cpu_seconds"], self._end["max_rss_mb"])

    def _between(
        self, first: str, last: str, name: str, args: Any, kwargs: Any, seconds: float | None
    ) -> tuple[Any, float | None]:
        """Call a function between two readings of the zygote, and return what lies between them."""
        before = self._zygote._reading(first, self._number)
        reply = self._value(name, "returned", seconds, do="time", args=args, kwargs=kwargs)
        after = self._zygote._reading(last, self._number)
        return reply["value"], None if before is None or after is None else after - before

    def _moment(self, do: str, **moment: Any) -> bool:
        return self._value("the notebook", "is", None, do=do, moment=moment)["value"] is True

    def _counted(self, name: str, reply: dict[str, Any]) -> dict[str, Any]:
        try:
            return counted(reply.get("work"))
        except WireError as violation:
            raise self._finish("protocol", _violation(f"`{name}`", violation)) from None

    def _value(
        self, called: str, verb: str, seconds: float | None, /, **request: Any
    ) -> dict[str, Any]:
        subject = f"`{called}`"
        seconds = self._limits.call_seconds if seconds is None else seconds
        max_payload = self._limits.payload_bytes
        self._modified, self._warnings = False, ()
        request = {"name": called} | request
        if "args" in request:
            self.informed |= tells(request["args"], request["kwargs"])
            request |= portable(request["args"], request["kwargs"])
        reply = self._ask(subject, seconds, max_payload, **request)
        try:
            error = reported(reply.get("error"), subject, verb)
            if error is None and "value" not in reply:
                raise WireError("a reply without a value")
            self._warnings = warned(reply.get("warnings", []))
        except WireError as violation:
            raise self._finish("protocol", _violation(subject, violation)) from None
        self._modified = reply.get("modified") is True
        if error is not None:
            raise error
        return reply

    def _ask(
        self, subject: str, seconds: float, max_payload: int, **request: Any
    ) -> dict[str, Any]:
        if self._end is not None:
            raise StudentError("died", f"{subject} could not be used: {self._over}")
        allowance = Allowance(seconds, lambda: self._zygote._spent(self._number))
        # Nobody can answer a request before it was made: student code cannot know its id.
        request["id"] = secrets.token_hex(8)
        frame = encode(request)
        try:
            self._channel.send(frame, allowance)
            reply = self._channel.receive(allowance, max_payload)
            while type(reply) is dict and reply.get("partial") and reply.get("id") == request["id"]:
                self._partial = reply.get("outputs")  # of a cell that may not end in time
                reply = self._channel.receive(allowance, max_payload)
            if type(reply) is not dict or reply.get("id") != request["id"]:
                raise WireError("a reply that answers no request")
            if self._channel.ahead:
                raise WireError("more than one reply")
        except TimeoutError:
            message = f"{subject} took longer than {seconds:g} s and was stopped"
            raise self._finish("timeout", message) from None
        except TooBusy:
            self.close()
            self._over = f"{subject} had next to no processor time: the machine is too busy"
            raise SandboxError(self._over) from None
        except (EOFError, OSError):
            self.close()
            raise self._finish("died", f"{subject} {self._death()}") from None
        except WireError as error:
            raise self._finish("protocol", _violation(subject, error)) from None
        finally:
            self.spent += allowance.spent
        return reply

    def _finish(self, kind: Kind, message: str) -> StudentError:
        self.close()
        self._over = message
        return StudentError(kind, message)

    def _death(self) -> str:
        end = self._end or {}
        status = end["status"]
        if status >= 0:
            return "ended Python itself, for example with os._exit"
        if status != -signal.SIGKILL:
            return f"crashed Python ({signal.strsignal(-status)})"
        if end["cpu_seconds"] >= self._limits.cpu_seconds:
            return f"used up the {self._limits.cpu_seconds:g} s of processor time of this notebook"
        return "lost its process: it was killed, or cut the connection to the grader"


def _violation(subject: str, error: WireError) -> str:
    return f"{subject} interfered with the connection to the grader ({error})"


def _encodable(source: str) -> str:
    # A notebook file may hold unpaired surrogates, which are no text.
    return source.encode("utf-8", "replace").decode()
