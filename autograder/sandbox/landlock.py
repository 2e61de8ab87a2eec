"""Landlock: which files a process may still open, from the inside and for good.

References
----------
https://docs.kernel.org/userspace-api/landlock.html
"""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox import kernel

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


def ruleset(
    readable: Iterable[str], writable: Iterable[str] = (), scratch: str | None = None
) -> int:
    """Make a set of rules that denies everything but reading below some paths.

    TCP, abstract sockets and signals to processes outside are denied too, where the kernel's
    version of Landlock can do so (the seccomp filter does in any case).

    Parameters
    ----------
    readable
        Files and folders that may be read. Those that do not exist are passed over.
    writable
        Files that may be read and written.
    scratch
        A folder in which files and folders may be made, written, moved and removed.

    Returns
    -------
    int
        A file descriptor for `restrict`. Making it once serves any number of processes.
    """
    version = abi()
    filesystem_bits = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    filesystem = (1 << filesystem_bits) - 1
    network = 0b11  # bind and connect
    scope = 0b11  # abstract sockets and signals
    if version >= 6:
        attributes = struct.pack("<QQQ", filesystem, network, scope)
    elif version >= 4:
        attributes = struct.pack("<QQ", filesystem, network)
    else:
        attributes = struct.pack("<Q", filesystem)
    rules = kernel.syscall("landlock", _CREATE_RULESET, attributes, len(attributes), 0)
    for path in readable:
        _allow(rules, path, _READ_FILE | _READ_DIR)
    for path in writable:
        _allow(rules, path, _READ_FILE | _WRITE_FILE)
    if scratch is not None:
        _allow(rules, scratch, (_EVERYDAY | _MOVE | _TRUNCATE) & filesystem)
    return rules


def _allow(rules: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        if not Path(path).is_dir():
            access &= ~_READ_DIR
        beneath = 1
        rule = struct.pack("<Qi", access, descriptor)
        kernel.syscall("landlock", _ADD_RULE, rules, beneath, rule, 0)
    finally:
        os.close(descriptor)


def restrict(rules: int) -> None:
    """Put this thread, and all that it starts, under a set of rules."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.syscall("landlock", _RESTRICT_SELF, rules, 0)
