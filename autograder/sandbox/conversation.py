"""One request after another to a process of student code, each answered once and in time."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Mapping
from typing import Any, Protocol

from autograder.sandbox.allowance import Allowance, Observed, TooBusy
from autograder.sandbox.channel import Channel
from autograder.sandbox.isolation import SandboxError
from autograder.sandbox.replies import Kind, Limits, StudentError, Usage
from autograder.sandbox.wire import WireError, encode
from autograder.sandbox.wire.orders import Reading

#: Of the processor time that there is. Limits count ticks, and where others share the processor
#: these come to a tenth more than what a process has really had.
_NEARLY = 0.8


class ForkServer(Protocol):
    """What processes of student code are forked from: it sees them from outside."""

    limits: Limits

    def spent(self, number: int) -> Observed | None:
        """Return the clocks of a process, if they can be read."""

    def reading(self, order: Reading) -> float | None:
        """Return the processor time or memory of one, if that can be read."""

    def reap(self, number: int) -> dict[str, Any]:
        """Kill a process and return its exit status and what it used."""


class Conversation:
    """The grader's end of the connection to a process of student code.

    Every request has an `Allowance` of time; when that is used up, or the process ends, or what
    comes back is not in order, the conversation is over, and so is the process.

    Attributes
    ----------
    spent
        Seconds that its requests have taken, without those for which it had no processor.
    shown
        What the cell that ran last had shown when it was last heard of.
    """

    def __init__(self, origin: ForkServer, number: int, channel: Channel) -> None:
        self._origin, self._number, self._channel = origin, number, channel
        self._over = ""
        self._end: dict[str, Any] | None = None
        self.spent = 0.0
        self.shown: Any = []

    @property
    def alive(self) -> bool:
        """Whether the process still takes requests."""
        return self._end is None

    def ask(
        self, subject: str, seconds: float, max_payload: int, message: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Send a request and return the reply.

        Parameters
        ----------
        subject : str
            How a message calls what is asked for.
        seconds : float
            The time that it may take.
        max_payload : int
            The bytes that the reply may have.
        message
            The request, as plain data.

        Raises
        ------
        StudentError
            If there is no proper reply in time; the process is ended then.
        SandboxError
            If the machine is too busy to tell.
        """
        if self._end is not None:
            raise StudentError("died", f"{subject} could not be used: {self._over}")
        allowance = Allowance(seconds, lambda: self._origin.spent(self._number))
        # Nobody can answer a request before it was made: student code cannot know its id.
        id = secrets.token_hex(8)
        frame = encode({**message, "id": id})
        self.shown = []
        try:
            self._channel.send(frame, allowance)
            reply = self._channel.receive(allowance, max_payload)
            while type(reply) is dict and reply.get("partial") and reply.get("id") == id:
                self.shown = reply.get("outputs")  # of a cell that may not end in time
                reply = self._channel.receive(allowance, max_payload)
            if type(reply) is not dict or reply.get("id") != id:
                raise WireError("a reply that answers no request")
            if self._channel.ahead:
                raise WireError("more than one reply")
        except TimeoutError:
            late = f"{subject} took longer than {seconds:g} s and was stopped"
            raise self._finish("timeout", late) from None
        except TooBusy:
            self.close()
            self._over = f"{subject} had next to no processor time: the machine is too busy"
            raise SandboxError(self._over) from None
        except (EOFError, OSError):
            self.close()
            raise self._finish("died", f"{subject} {self._death()}") from None
        except WireError as error:
            raise self.violated(subject, error) from None
        finally:
            self.spent += allowance.spent
        return reply

    def reading(self, order: type[Reading]) -> float | None:
        """Return what the zygote reads of the process, out of reach of student code."""
        return self._origin.reading(order(self._number))

    def violated(self, subject: str, error: WireError) -> StudentError:
        """End the process, whose reply is not in order, and return what to raise."""
        return self._finish(
            "protocol", f"{subject} interfered with the connection to the grader ({error})"
        )

    def close(self) -> Usage:
        """End the process, if it is still there, and return what it has used."""
        if self._end is None:
            self._channel.close()
            self._end = self._origin.reap(self._number)
            self._over = "the session was closed"
        return Usage(self._end["cpu_seconds"], self._end["max_rss_mb"])

    def _finish(self, kind: Kind, message: str) -> StudentError:
        self.close()
        self._over = message
        return StudentError(kind, message)

    def _death(self) -> str:
        end = self._end or {}
        status, most = end["status"], self._origin.limits.cpu_seconds
        if status >= 0:
            return "ended its process, for example with os._exit or for want of memory"
        if status != -signal.SIGKILL:
            return f"crashed Python ({signal.strsignal(-status)})"
        if end["cpu_seconds"] >= _NEARLY * most:
            return f"used up the {most:g} s of processor time of this notebook"
        return "lost its process: it was killed, or cut the connection to the grader"
