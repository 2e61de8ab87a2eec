"""Namespaces of a worker's own, inside those of its zygote (tier A).

Its siblings and the zygote do not exist for it: it is the only process, its scratch folder is a
file system of its own in memory, and both end with it.
"""

import os
from pathlib import Path

from autograder.sandbox import kernel

_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
_FILES = 4096


def fork() -> int:
    """Fork like `os.fork`; the child is the first process of new namespaces.

    The calling process must adopt orphans (`limits.adopt_orphans`), and becomes the child's parent.

    Raises
    ------
    OSError
        If the machine does not let ordinary users have namespaces inside of namespaces.
    """
    receiving, sending = os.pipe()
    # The namespace of processes is that of the children of whoever asks for one.
    between = os.fork()
    if between == 0:
        os.close(receiving)
        try:
            _unshare()
            pid = os.fork()
        except BaseException as error:
            os.write(sending, str(error).encode())
            os._exit(1)
        if pid == 0:
            os.close(sending)
            return 0
        os.write(sending, b"%d" % pid)
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(between, 0)
    if not answer.isdigit():
        raise OSError(answer or "a process of namespaces of its own ended at once")
    return int(answer)


def furnish(scratch: str, scratch_mb: int) -> None:
    """Make the child's view of files its own, and give up the rights that this takes.

    Parameters
    ----------
    scratch : str
        A folder that becomes an empty one of its own.
    scratch_mb : int
        Its size.
    """
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    options = f"size={scratch_mb}m,nr_inodes={_FILES},mode=700"
    kernel.mount("scratch", scratch, "tmpfs", _QUIET, options)
    kernel.mount("none", "/proc", "tmpfs", _QUIET | kernel.MS_RDONLY, "size=4k,mode=555")
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _unshare() -> None:
    user, group = os.getuid(), os.getgid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else these files belong to root
    kernel.unshare(
        kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC
    )
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)
