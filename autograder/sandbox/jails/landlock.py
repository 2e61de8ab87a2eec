"""Landlock: which files a process may still open, from the inside and for good.

References
----------
https://docs.kernel.org/userspace-api/landlock.html
"""

import os
import stat
import struct
from collections.abc import Iterable

from autograder.sandbox.jails import kernel

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446

_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_REMOVE = 0b11 << 4
_MAKE_FOLDERS_AND_FILES = 0b11 << 7
_MOVE = 1 << 13
_TRUNCATE = 1 << 14
_EVERYDAY = _WRITE_FILE | _READ_FILE | _READ_DIR | _REMOVE | _MAKE_FOLDERS_AND_FILES


def abi() -> int:
    """Return the version of Landlock that the kernel offers.

    Raises
    ------
    OSError
        If it offers none.
    """
    version_flag = 1
    return kernel.syscall("landlock", _CREATE_RULESET, None, 0, version_flag)


class Rules:
    """What may be read and written, for any number of processes to put themselves under.

    Everything else is denied; so are TCP, abstract sockets and signals to processes outside, where
    the kernel's version of Landlock can do so (the seccomp filter does in any case).

    Parameters
    ----------
    readable
        Files and folders that may be read. Those that do not exist are passed over.
    writable
        Files that may be read and written.
    """

    def __init__(self, readable: Iterable[str], writable: Iterable[str] = ()) -> None:
        version = abi()
        filesystem_bits = 13 + (version >= 2) + (version >= 3) + (version >= 5)
        self._filesystem = (1 << filesystem_bits) - 1
        network = 0b11  # bind and connect
        scope = 0b11  # abstract sockets and signals
        if version >= 6:
            self._attributes = struct.pack("<QQQ", self._filesystem, network, scope)
        elif version >= 4:
            self._attributes = struct.pack("<QQ", self._filesystem, network)
        else:
            self._attributes = struct.pack("<Q", self._filesystem)
        # What a rule is about is held open, so that a worker need not look for it.
        self._prepared = [
            rule
            for paths, access in (
                (readable, _READ_FILE | _READ_DIR),
                (writable, _READ_FILE | _WRITE_FILE),
            )
            for path in paths
            if (rule := _rule(path, access)) is not None
        ]

    def restrict(self, scratch: str | None = None) -> None:
        """Put this thread, and all that it starts, under these rules, for good.

        Parameters
        ----------
        scratch : str, optional
            A folder in which files and folders may be made, written, moved and removed.
        """
        attributes = self._attributes
        rules = kernel.syscall("landlock", _CREATE_RULESET, attributes, len(attributes), 0)
        own = []
        if scratch is not None:
            access = (_EVERYDAY | _MOVE | _TRUNCATE) & self._filesystem
            own = [rule for rule in [_rule(scratch, access)] if rule is not None]
        for rule in self._prepared + own:
            beneath = 1
            kernel.syscall("landlock", _ADD_RULE, rules, beneath, rule, 0)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.syscall("landlock", _RESTRICT_SELF, rules, 0)
        os.close(rules)


def _rule(path: str, access: int) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        access &= ~_READ_DIR
    return struct.pack("<Qi", access, descriptor)
