"""The grader's end of the connection to a worker: frames, with a deadline."""

import select
import socket
import time
from typing import Any

from autograder.sandbox.wire import Buffer, Receiver, decode

_MAX_PIECES = 64


class Channel:
    """A connection whose other end may do anything, including nothing.

    Deadlines are absolute, in seconds of `time.monotonic`: a peer that sends a byte now and then
    gains no time by it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._poll = select.poll()
        self._receiver = Receiver(self._read)
        self._deadline = 0.0
        connection.setblocking(False)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def send(self, buffers: list[Buffer], deadline: float) -> None:
        """Send a frame.

        Raises
        ------
        TimeoutError
            If the deadline passes first.
        OSError
            If the other side has gone.
        """
        pieces = [memoryview(buffer) for buffer in buffers]
        while pieces:
            try:
                sent = self._connection.sendmsg(pieces[:_MAX_PIECES])
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
                continue
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces.pop(0))
            if sent:
                pieces[0] = pieces[0][sent:]

    def receive(self, deadline: float, max_payload: int) -> Any:
        """Wait for a frame and return its value.

        Raises
        ------
        TimeoutError
            If the deadline passes first.
        EOFError, OSError
            If the other side has gone.
        WireError
            If what arrives is not a frame in order.
        """
        self._deadline = deadline
        header, payload = self._receiver.frame(max_payload)
        return decode(header, payload, copy=False)

    @property
    def ahead(self) -> bool:
        """Whether anything after the last frame has arrived already."""
        return self._receiver.ahead

    def _wait(self, event: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        self._poll.register(self._connection, event)
        if left <= 0 or not self._poll.poll(left * 1000):
            raise TimeoutError

    def _read(self, view: memoryview) -> int:
        while True:
            self._wait(select.POLLIN, self._deadline)
            try:
                count = self._connection.recv_into(view)
            except BlockingIOError:
                continue
            if not count:
                raise EOFError
            return count
