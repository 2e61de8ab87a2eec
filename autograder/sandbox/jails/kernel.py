"""The system calls that Python does not offer, through ctypes (Linux only)."""

import contextlib
import ctypes
import os
import struct
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

_PAGE = os.sysconf("SC_PAGE_SIZE")
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(name: str, number: int, *arguments: int | bytes | None) -> int:
    """Make a system call that has no function in the C library.

    Raises
    ------
    OSError
        If the kernel refuses it.
    """
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _check(int(_libc.syscall(ctypes.c_long(number), *converted)), name)


def prctl(option: int, value: int) -> None:
    """Change an attribute of this process."""
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def seccomp_filter(program: bytes) -> None:
    """Install a filter for all further system calls of this thread and its descendants."""
    code = ctypes.create_string_buffer(program, len(program))
    header = _SockFprog(len(program) // 8, ctypes.addressof(code))
    mode_filter = ctypes.c_ulong(2)
    _check(_libc.prctl(PR_SET_SECCOMP, mode_filter, ctypes.byref(header), 0, 0), "seccomp")


def current_cpu() -> int:
    """Return the number of the processor on which this thread is running."""
    return _check(int(_libc.sched_getcpu()), "sched_getcpu")


def drop_capabilities() -> None:
    """Give up all rights that this process has in its user namespace."""
    version_3 = 0x20080522
    none = bytes(24)
    _check(_libc.capset(struct.pack("<Ii", version_3, 0), none), "capset")


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process of this user has taken so far."""
    return time.clock_gettime((~pid << 3) | 2)  # CPUCLOCK_SCHED in the kernel's posix-timers.h


def waited_seconds(pid: int) -> dict[int, float] | None:
    """Return for how long each thread of a process was ready to run and had no processor.

    None where the kernel does not keep this.
    """
    found = {}
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # ended meanwhile
                fields = (thread / "schedstat").read_text().split()
                found[int(thread.name)] = int(fields[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None
    return found or None


def resident_bytes(pid: int) -> int:
    """Return the memory that a process holds now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def unshare(flags: int) -> None:
    """Leave the namespaces shared with the parent process."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Enter a namespace that is open as a file descriptor."""
    _check(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, filesystem: str, flags: int, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    result = _libc.mount(
        source.encode(),
        target.encode(),
        filesystem.encode(),
        ctypes.c_ulong(flags),
        options.encode(),
    )
    _check(result, f"mount {target}")


class _SockFprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]
