"""The other end of the grader's connection: frames in, frames out."""

import socket
from collections.abc import Iterator
from typing import Any

from autograder.sandbox.wire import Buffer, Receiver, decode

Frame = tuple[Buffer, Buffer]

_MAX_REQUEST = 1 << 40  # requests come from the grader; the limit on memory is the limit here


def requests(connection: socket.socket) -> Iterator[tuple[dict[str, Any], Frame]]:
    """Return the grader's requests, each with the frame it came in, until it hangs up."""

    def read(view: memoryview) -> int:
        if count := connection.recv_into(view):
            return count
        raise EOFError

    receiver = Receiver(read)
    while True:
        try:
            frame = receiver.frame(_MAX_REQUEST)
        except EOFError:
            return
        yield decode(*frame, torch_tensors=True), frame


def send(connection: socket.socket, buffers: list[Buffer]) -> None:
    """Send a frame."""
    sent = connection.sendmsg(buffers)
    for buffer in buffers:
        if sent < len(buffer):
            connection.sendall(memoryview(buffer)[sent:])
            sent = 0
        else:
            sent -= len(buffer)
