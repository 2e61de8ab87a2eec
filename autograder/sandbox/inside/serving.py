"""The other end of the grader's connection: frames in, frames out."""

import os
import socket
from collections.abc import Iterator
from typing import Any

from autograder.sandbox.wire import Buffer, Receiver, decode

Frame = tuple[Buffer, Buffer]

_MAX_PIECES = 64  # the system takes about a thousand at once
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
    for start in range(0, len(buffers), _MAX_PIECES):
        pieces = buffers[start : start + _MAX_PIECES]
        # Not `sendmsg`, which is denied: it could have descriptors on their way, which others see.
        sent = os.writev(connection.fileno(), pieces)
        for piece in pieces:
            if sent < len(piece):
                connection.sendall(memoryview(piece)[sent:])
                sent = 0
            else:
                sent -= len(piece)
