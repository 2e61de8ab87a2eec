"""The parts of the isolation, each tried on this very process: what it came to, or an exception."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from autograder.sandbox.jails import confinement, kernel, landlock, namespaces, root, seccomp


def give_up_root() -> str:
    """Give up root's rights, where there are any."""
    started_as_root = os.getuid() == 0
    root.drop_root(confinement.python_paths())
    return "root gives up its rights" if started_as_root else "not root"


def enter_namespaces() -> str:
    """Fork a process with namespaces and a scratch folder of its own."""
    receiving, sending = os.pipe()
    pid = namespaces.fork()
    if pid == 0:
        try:
            namespaces.furnish(confinement.SCRATCH, 1)
            (Path(confinement.SCRATCH) / "probe").write_text("written")
            os.write(sending, b"works")
        except BaseException as error:  # the kernel's answer, whatever it is
            os.write(sending, str(error).encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(pid, 0)
    if answer != "works":
        raise OSError(answer)
    if list(Path(confinement.SCRATCH).iterdir()):
        raise OSError("the scratch folder is shared")
    return "processes and a scratch folder of its own"


def restrict_reading() -> str:
    """Have Landlock deny this process to read."""
    rules = landlock.Rules([])
    _must_change(lambda: list(Path("/").iterdir()), rules.restrict, "reading a folder")
    return f"ABI {landlock.abi()}; reading a folder is denied"


def filter_calls() -> str:
    """Have the kernel deny this process to open a socket."""
    if not seccomp.supported():
        raise OSError("the system calls of this processor are not known")
    program = seccomp.Filter().of(os.getpid())
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    _must_change(
        lambda: socket.socket().close(), lambda: kernel.seccomp_filter(program), "opening a socket"
    )
    return "opening a socket is denied"


def _must_change(attempt: Callable[[], object], lock: Callable[[], object], what: str) -> None:
    """Check that something works, and after locking no longer does."""
    attempt()
    lock()
    try:
        attempt()
    except PermissionError:
        return
    raise OSError(f"{what} is still allowed")
