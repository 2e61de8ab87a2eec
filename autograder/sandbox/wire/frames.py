"""Frames as they come out of a stream, cut into pieces in any way."""

import struct
from collections.abc import Callable

import numpy as np

from autograder.sandbox.wire.plain import MAX_HEADER, Buffer, WireError

MAGIC = b"AGW1"
PREFIX = struct.Struct("<4sIQ")
_CHUNK = 1 << 16

_empty = np.empty  # unlike a bytearray it is not filled with zeros first


def frame_lengths(prefix: Buffer, max_payload: int) -> tuple[int, int]:
    """Read the lengths of header and payload from the first `PREFIX.size` bytes of a frame.

    Raises
    ------
    WireError
        If the magic is wrong or a length is above its limit.
    """
    if len(prefix) != PREFIX.size:
        raise WireError("a prefix of the wrong length")
    magic, header, payload = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("a frame that does not begin as it should")
    if header > MAX_HEADER or payload > max_payload:
        raise WireError("a frame above the size limit")
    return header, payload


class Receiver:
    """Takes frames from a stream.

    Nearly every frame arrives in one piece, hence with one system call; a large payload is received
    where it stays.

    Parameters
    ----------
    read : callable
        Waits for bytes, writes them to the beginning of a memoryview and returns how many there
        were, which is at least one. What it raises is passed on.
    """

    def __init__(self, read: Callable[[memoryview], int]) -> None:
        self._read = read
        self._chunk = memoryview(bytearray(_CHUNK))
        self._filled = 0

    @property
    def ahead(self) -> bool:
        """Whether anything after the last frame has arrived already."""
        return self._filled > 0

    def frame(self, max_payload: int) -> tuple[Buffer, Buffer]:
        """Wait for a frame and return its header and its payload, which belong to the caller.

        Raises
        ------
        WireError
            If it is none, or its payload is larger than allowed. Then nothing was set aside for it.
        """
        while self._filled < PREFIX.size:
            self._filled += self._read(self._chunk[self._filled :])
        lengths = frame_lengths(self._chunk[: PREFIX.size], max_payload)
        position = PREFIX.size
        parts: list[Buffer] = []
        for length in lengths:
            end = position + length
            if end <= self._filled:
                parts.append(bytearray(self._chunk[position:end]))
            else:
                parts.append(self._large(position, length))
                end = self._filled
            position = end
        rest = bytes(self._chunk[position : self._filled])
        self._chunk[: len(rest)] = rest
        self._filled = len(rest)
        return parts[0], parts[1]

    def _large(self, position: int, length: int) -> memoryview:
        """Receive what is not all in the chunk, from a position in it."""
        part: memoryview = _empty(length, "u1").data
        there = self._filled - position
        part[:there] = self._chunk[position : self._filled]
        while there < length:
            there += self._read(part[there:])
        return part
