"""The grader's end of the connection to a worker: frames, with a deadline."""

import select
import socket
from typing import Any

from autograder.sandbox.allowance import Allowance
from autograder.sandbox.wire import Buffer, Receiver, decode

_MAX_PIECES = 64


class Channel:
    """A connection whose other end may do anything, including nothing.

    Its time does not begin anew with what it sends: by a byte now and then nothing is gained.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._poll = select.poll()
        self._receiver = Receiver(self._read)
        self._allowance: Allowance | None = None
        connection.setblocking(False)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def send(self, buffers: list[Buffer], allowance: Allowance) -> None:
        """Send a frame.

        Raises
        ------
        TimeoutError, TooBusy
            If the other side's time is over first.
        OSError
            If the other side has gone.
        """
        pieces = [memoryview(buffer) for buffer in buffers]
        while pieces:
            try:
                sent = self._connection.sendmsg(pieces[:_MAX_PIECES])
            except BlockingIOError:
                self._wait(select.POLLOUT, allowance)
                continue
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces.pop(0))
            if sent:
                pieces[0] = pieces[0][sent:]

    def receive(self, allowance: Allowance, max_payload: int) -> Any:
        """Wait for a frame and return its value.

        Raises
        ------
        TimeoutError, TooBusy
            If the other side's time is over first.
        EOFError, OSError
            If the other side has gone.
        WireError
            If what arrives is not a frame in order.
        """
        self._allowance = allowance
        header, payload = self._receiver.frame(max_payload)
        return decode(header, payload, copy=False)

    @property
    def ahead(self) -> bool:
        """Whether anything after the last frame has arrived already."""
        return self._receiver.ahead

    def _wait(self, event: int, allowance: Allowance) -> None:
        self._poll.register(self._connection, event)
        while not self._poll.poll(allowance.left() * 1000):
            pass

    def _read(self, view: memoryview) -> int:
        assert self._allowance
        while True:
            self._wait(select.POLLIN, self._allowance)
            try:
                count = self._connection.recv_into(view)
            except BlockingIOError:
                continue
            if not count:
                raise EOFError
            return count
