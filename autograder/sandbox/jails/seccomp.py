"""The filter on system calls: what student code may ask the kernel for.

It is a list of what is denied, because numpy, torch and their run-time libraries use too many
harmless calls, and other ones in each version, for a list of what is allowed. Denied are the calls
that would let the process become several, reach other processes or the network, get around
Landlock (which does not see changes of mode, owner or times) or around the limit on memory, and
rarely used parts of the kernel. Calls newer than this list answer "not implemented".
"""

import errno
import os
import platform
import struct

from autograder.sandbox.jails.syscalls import ARCHITECTURES, LAST_KNOWN, NUMBERS

# Classic BPF, as in <linux/bpf_common.h>, over struct seccomp_data.
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_GREATER, _IF_ANY_BIT = 0x15, 0x25, 0x45
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_ALLOW, _ERROR, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000

_OWN_PID = 0xFFFFFFFE  # stands for the process's own number, and is no operand otherwise

_Program = list[tuple[int, int, int, int]]


def _do(code: int, operand: int) -> _Program:
    return [(code, 0, 0, operand)]


def _if(code: int, operand: int, *, then: int = 0, otherwise: int = 0) -> _Program:
    """Jump over ``then`` or ``otherwise`` instructions."""
    return [(code, then, otherwise, operand)]


def _argument(index: int) -> _Program:
    """Load the lower half of an argument: the kernel reads all those tested here as an int."""
    return _do(_LOAD, _ARGUMENTS_OFFSET + 8 * index)


def _deny(code: int) -> _Program:
    return _do(_RETURN, _ERROR | code)


def _allow() -> _Program:
    return _do(_RETURN, _ALLOW)


def _only(argument: int, values: list[int], code: int = errno.EPERM) -> _Program:
    """Allow a call only if its argument is one of the values."""
    tests: _Program = []
    for i, value in enumerate(values):
        tests += _if(_IF_EQUAL, value, then=len(values) - i)
    return [*_argument(argument), *tests, *_deny(code), *_allow()]


def _only_private_futexes() -> _Program:
    # Else who waits on a page of a library is seen, and woken, by every process that has mapped it.
    # Joining a thread is such a wait: it looks again and again instead.
    return [
        *_argument(1),
        *_if(_IF_ANY_BIT, 128, then=7),  # FUTEX_PRIVATE_FLAG
        *_do(_AND, 0x7F),
        *_if(_IF_EQUAL, 0, then=3),  # FUTEX_WAIT
        *_if(_IF_EQUAL, 9, then=2),  # FUTEX_WAIT_BITSET
        *_if(_IF_EQUAL, 1, then=2),  # FUTEX_WAKE: nobody was there
        *_deny(errno.ENOSYS),
        *_deny(errno.EAGAIN),
        *_deny(0),
        *_allow(),
    ]


def _only_threads() -> _Program:
    clone_thread, new_namespaces = 0x00010000, 0x7E020080
    return [
        *_argument(0),
        *_if(_IF_ANY_BIT, new_namespaces, then=1),
        *_if(_IF_ANY_BIT, clone_thread, then=1),
        *_deny(errno.EPERM),
        *_allow(),
    ]


def _only_stream_pairs() -> _Program:
    # A pair of datagram sockets could still send to any other local socket.
    return [
        *_argument(0),
        *_if(_IF_EQUAL, 1, otherwise=3),
        *_argument(1),
        *_do(_AND, 0xF),
        *_if(_IF_EQUAL, 1, then=1),
        *_deny(errno.EPERM),
        *_allow(),
    ]


def _no_hidden_truncation(flags: int) -> _Program:
    # Opened with access mode 3 or for reading, O_TRUNC empties a file that the older versions of
    # Landlock take for read only.
    return [
        *_argument(flags),
        *_do(_AND, os.O_ACCMODE),
        *_if(_IF_EQUAL, 3, then=3),
        *_argument(flags),
        *_do(_AND, os.O_ACCMODE | os.O_TRUNC),
        *_if(_IF_EQUAL, os.O_TRUNC, otherwise=1),
        *_deny(errno.EACCES),
        *_allow(),
    ]


_DUP_TO_SETFL, _DUPFD_CLOEXEC = list(range(5)), 1030
# Close on exec, non-blocking, bytes to read, terminal or not. FIOSETOWN would send signals.
_IOCTLS = [0x5450, 0x5451, 0x5421, 0x541B, 0x5401, 0x802C542A, 0x5413]
_OF_A_PROCESS = (
    *("getpgid", "getsid", "sched_getparam", "sched_getscheduler", "sched_getattr"),
    *("sched_getaffinity", "sched_rr_get_interval", "get_robust_list"),
)
_OF_A_CLOCK = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
_CLOCKS = list(range(12))  # negative ones are those of processes
#: What prctl may set or say of the own process: names, being dumped, the filter, capabilities,
#: slack of timers, new privileges, huge pages, vectors and pointers of aarch64, names of memory.
#: Others ask about any process (PR_SCHED_CORE) or let it be traced.
_OF_ONESELF = [3, 4, 15, 16, 21, 22, 23, 29, 30, 38, 39, 41, 42, *range(50, 58), 0x53564D41]
_CONDITIONAL = {
    "clone": _only_threads(),
    "clone3": _deny(errno.ENOSYS),  # its flags are out of sight; glibc falls back to clone
    "kill": _only(0, [_OWN_PID]),
    "tgkill": _only(0, [_OWN_PID]),
    "prlimit64": _only(0, [0, _OWN_PID]),
    "prctl": _only(0, _OF_ONESELF),
    # F_SETOWN and F_SETSIG send any signal to any process of the same user.
    # Locks on a file that all may read would be seen by all.
    "fcntl": _only(1, [*_DUP_TO_SETFL, _DUPFD_CLOEXEC], errno.EINVAL),
    "flock": _deny(errno.ENOLCK),
    "futex": _only_private_futexes(),
    "futex_waitv": _deny(errno.ENOSYS),
    "futex_wake": _deny(errno.ENOSYS),
    "futex_wait": _deny(errno.ENOSYS),
    "futex_requeue": _deny(errno.ENOSYS),
    "preadv2": _deny(errno.ENOSYS),
    # What the kernel says of a process could be read by another: of the own one it may be asked.
    **dict.fromkeys(_OF_A_PROCESS, _only(0, [0, _OWN_PID], errno.ENOSYS)),
    "getpriority": _only(1, [0, _OWN_PID], errno.ENOSYS),
    "ioprio_get": _only(1, [0, _OWN_PID], errno.ENOSYS),
    **dict.fromkeys(_OF_A_CLOCK, _only(0, _CLOCKS, errno.EINVAL)),
    "ioctl": _only(1, _IOCTLS, errno.ENOTTY),
    "socketpair": _only_stream_pairs(),
    "open": _no_hidden_truncation(1),
    "openat": _no_hidden_truncation(2),
    "openat2": _deny(errno.ENOSYS),
}


def supported() -> bool:
    """Return whether this processor's system call numbers are known."""
    return platform.machine() in ARCHITECTURES


class Filter:
    """The filter, assembled once for any number of processes."""

    def __init__(self) -> None:
        machine = platform.machine()
        column = list(ARCHITECTURES).index(machine)
        code = [
            *_do(_LOAD, _ARCHITECTURE_OFFSET),
            *_if(_IF_EQUAL, ARCHITECTURES[machine], then=1),
            *_do(_RETURN, _KILL_PROCESS),
            *_do(_LOAD, _NUMBER_OFFSET),
        ]
        for name, numbers in NUMBERS.items():
            number = numbers[column]
            if number is not None:
                body = _CONDITIONAL.get(name) or _deny(errno.EPERM)
                code += [*_if(_IF_EQUAL, number, otherwise=len(body)), *body]
        # This also covers the x32 calls, which carry a high bit.
        code += [*_if(_IF_GREATER, LAST_KNOWN, otherwise=1), *_deny(errno.ENOSYS), *_allow()]
        self._own = [8 * i + 4 for i, (*_, operand) in enumerate(code) if operand == _OWN_PID]
        self._code = b"".join(struct.pack("<HBBI", *instruction) for instruction in code)

    def of(self, own_pid: int) -> bytes:
        """Return the filter of one process, as an array of ``struct sock_filter``.

        Parameters
        ----------
        own_pid : int
            The process that may send signals to itself.
        """
        code = bytearray(self._code)
        for offset in self._own:
            struct.pack_into("<I", code, offset, own_pid)
        return bytes(code)
