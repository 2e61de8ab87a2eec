"""What this machine offers to isolate student code: each part is tried, not inferred.

======  ===================================================================
tier    student code runs
======  ===================================================================
A       in namespaces of its own, below Landlock and the system call filter
A-      the same without nested namespaces
B       below Landlock and the system call filter
C       with nothing around it: only on explicit trust
======  ===================================================================

In tier B student code reads the Python installation and the system's libraries, and nothing else;
it writes no file; it has no network; it starts no process, and cannot signal or inspect another
one; its memory and processor time are limited. It can find out that a path exists, its size and
its times, but not what a file or folder holds.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from autograder.sandbox import control

Tier = Literal["A", "A-", "B", "C"]


class SandboxError(RuntimeError):
    """The sandbox itself does not work. It is never the student's fault."""


class Part(NamedTuple):
    """One thing that was tried.

    Parameters
    ----------
    what : str
        Its name.
    ok : bool
        Whether it works.
    detail : str
        What was seen.
    """

    what: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Isolation:
    """The isolation tier in effect, and what it was concluded from."""

    tier: Tier
    tried: tuple[Part, ...] = ()


@functools.cache
def probe() -> Isolation:
    """Try every part of the isolation in a process of its own, once.

    Returns
    -------
    Isolation
        Tier B if all parts work, else C.
    """
    try:
        result = subprocess.run(
            control.command(__name__),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=control.ENVIRONMENT,
            cwd="/",
            timeout=60,
            check=True,
        )
        tried = tuple(Part(*part) for part in json.loads(result.stdout))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        tried = (Part("probe", False, str(error)),)
    return Isolation("B" if all(part.ok for part in tried) else "C", tried)


def main() -> None:
    """Try the parts on this very process, and print what came of it."""
    parts = {"user": _try_user, "Landlock": _try_landlock, "seccomp": _try_seccomp}
    tried = []
    for what, attempt in parts.items():
        try:
            tried.append(Part(what, True, attempt()))
        except Exception as error:
            tried.append(Part(what, False, f"{error}"))
    sys.stdout.write(json.dumps(tried))


def _try_user() -> str:
    from autograder.sandbox import limits, root

    started_as_root = os.getuid() == 0
    root.drop_root(limits.python_paths())
    return "root gives up its rights" if started_as_root else "not root"


def _try_landlock() -> str:
    from autograder.sandbox import landlock

    rules = landlock.ruleset([])
    _must_change(
        lambda: list(Path("/").iterdir()), lambda: landlock.restrict(rules), "reading a folder"
    )
    return f"ABI {landlock.abi()}; reading a folder is denied"


def _try_seccomp() -> str:
    import socket

    from autograder.sandbox import kernel, seccomp

    if not seccomp.supported():
        raise OSError("the system calls of this processor are not known")
    program = seccomp.program(os.getpid())
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
