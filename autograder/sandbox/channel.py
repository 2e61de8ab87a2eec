"""The grader's end of the connection to a worker: frames, with a deadline."""

import select
import socket
import time
from typing import Any

from autograder.sandbox.wire import PREFIX, Buffer, WireError, decode, frame_lengths

_CHUNK = 1 << 16
_MAX_PIECES = 64


class Channel:
    """A connection whose other end may do anything, including nothing.

    Deadlines are absolute, in seconds of `time.monotonic`: a peer that sends a byte now and then
    gains no time by it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._poll = select.poll()
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
            If what arrives is not exactly one frame in order.
        """
        # Nearly every reply arrives in one piece, hence with one system call.
        data = bytearray()
        while len(data) < PREFIX.size:
            data += self._some(_CHUNK, deadline)
        header, payload = frame_lengths(data[: PREFIX.size], max_payload)
        end = PREFIX.size + header
        missing = end + payload - len(data)
        if missing < 0:
            raise WireError("more than one reply")
        if missing:
            data += self._exactly(missing, deadline)
        view = memoryview(data)
        return decode(view[PREFIX.size : end], view[end:])

    def _wait(self, event: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        self._poll.register(self._connection, event)
        if left <= 0 or not self._poll.poll(left * 1000):
            raise TimeoutError

    def _some(self, size: int, deadline: float) -> bytes:
        while True:
            self._wait(select.POLLIN, deadline)
            try:
                data = self._connection.recv(size)
            except BlockingIOError:
                continue
            if not data:
                raise EOFError
            return data

    def _exactly(self, size: int, deadline: float) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            self._wait(select.POLLIN, deadline)
            try:
                count = self._connection.recv_into(view)
            except BlockingIOError:
                continue
            if not count:
                raise EOFError
            view = view[count:]
        return data
