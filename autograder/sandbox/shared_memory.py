"""Memory of the grader's in which a student's function finds its arguments.

What a function does to its arguments happens in its own process, which could say anything about it.
So they are laid into memory that both processes share, and the grader looks for itself.
"""

import fcntl
import mmap
import os
from collections.abc import Sequence
from typing import Self

from autograder.sandbox.wire import Buffer, WireError

SIZE = 1 << 22  # the kernel sets aside no more of it than is used


class Lent:
    """The memory that a session's process shares with the grader.

    Nobody can change the length of its file, so looking at it is safe.
    """

    def __init__(self) -> None:
        descriptor = os.memfd_create("lent", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self._file = os.fdopen(descriptor, "r+b", buffering=0)
        self._file.truncate(SIZE)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        self._memory = mmap.mmap(descriptor, SIZE)

    @classmethod
    def where_possible(cls) -> Self | None:
        """Return one; None where the system has no such files (it has no isolation either)."""
        return cls() if hasattr(os, "memfd_create") else None

    @property
    def descriptor(self) -> int:
        """The file, for the other process."""
        return self._file.fileno()

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()
        self._file.close()

    def holds(self, buffers: Sequence[Buffer]) -> bool:
        """Say whether these bytes stand in it, one piece after the other from its beginning."""
        start = 0
        for buffer in buffers:
            end = start + len(buffer)
            if self._memory[start:end] != bytes(buffer):
                return False
            start = end
        return True


def lendable(buffers: Sequence[Buffer]) -> Sequence[Buffer]:
    """Return what is to be lent.

    Raises
    ------
    WireError
        If it is too much.
    """
    if sum(map(len, buffers)) > SIZE:
        raise WireError(f"arguments of more than {SIZE >> 20} MiB, which can't be lent")
    return buffers
