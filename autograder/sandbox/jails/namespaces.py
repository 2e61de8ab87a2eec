"""Namespaces of a worker's own, inside those of its zygote (tier A).

Its siblings and the zygote do not exist for it: it is the only process, its scratch folder is a
file system of its own in memory, and both end with it.
"""

import os

from autograder.sandbox.jails import kernel

_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
_FILES = 4096


def fork() -> int:
    """Fork like `os.fork`; the child is the first process of a namespace of processes.

    The caller must hold ``CAP_SYS_ADMIN`` where it is, as bubblewrap grants it to the zygote.

    Raises
    ------
    OSError
        If the machine does not let ordinary users have namespaces inside of namespaces.
    """
    # This namespace is that of the children of whoever asks for one, hence back to the own one.
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        kernel.unshare(kernel.CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                kernel.setns(own, kernel.CLONE_NEWPID)
    finally:
        os.close(own)
    return pid


def furnish(scratch: str, scratch_mb: int) -> None:
    """Give the child users, messages and files of its own, and no right over any.

    Parameters
    ----------
    scratch : str
        A folder that becomes an empty one of its own.
    scratch_mb : int
        Its size.
    """
    _unshare()
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    options = f"size={scratch_mb}m,nr_inodes={_FILES},mode=700"
    kernel.mount("scratch", scratch, "tmpfs", _QUIET, options)
    kernel.mount("none", "/proc", "tmpfs", _QUIET | kernel.MS_RDONLY, "size=4k,mode=555")
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _unshare() -> None:
    """Leave the rest of the namespaces that are shared: of users, files and messages."""
    user, group = os.getuid(), os.getgid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else these files belong to root
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
    _write("setgroups", b"deny")
    _write("uid_map", b"%d %d 1" % (user, user))
    _write("gid_map", b"%d %d 1" % (group, group))


def _write(name: str, text: bytes) -> None:
    descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
    try:
        os.write(descriptor, text)
    finally:
        os.close(descriptor)
