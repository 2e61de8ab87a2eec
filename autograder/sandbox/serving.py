"""The other end of the grader's connection: frames in, frames out."""

import socket
from collections.abc import Iterator
from typing import Any

from autograder.sandbox.wire import PREFIX, Buffer, decode, frame_lengths

_MAX_REQUEST = 1 << 40  # requests come from the grader; the limit on memory is the limit here


def requests(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """Return the grader's requests, until it hangs up."""
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


def send(connection: socket.socket, buffers: list[Buffer]) -> None:
    """Send a frame."""
    sent = connection.sendmsg(buffers)
    for buffer in buffers:
        if sent < len(buffer):
            connection.sendall(memoryview(buffer)[sent:])
            sent = 0
        else:
            sent -= len(buffer)


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
