"""What this machine offers to isolate student code: each part is tried, not inferred.

======  ===================================================================
tier    student code runs
======  ===================================================================
A       as A-, in namespaces of its own, with a scratch folder of its own
A-      as B, in a view of the machine that holds nothing but Python
B       below Landlock and the system call filter
C       with nothing around it: only on explicit trust
======  ===================================================================

In tier B student code reads the Python installation and the system's libraries, and nothing else;
it writes no file; it has no network; it starts no process, and cannot signal or inspect another
one; its memory and processor time are limited. It can find out that a path exists, its size and
its times, but not what a file or folder holds. From tier A- on, other files, processes and network
interfaces do not exist for it; in tier A neither do the processes of other submissions, and it has
a scratch folder that ends with it.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from autograder.sandbox import advice
from autograder.sandbox.jails import bubblewrap, control

Tier = Literal["A", "A-", "B", "C"]

#: From the strongest to the weakest.
TIERS: tuple[Tier, ...] = get_args(Tier)

MEANING: dict[Tier, str] = {
    "A": "student code is alone in a world of its own, with a scratch folder",
    "A-": "student code sees Python alone, and writes nothing",
    "B": "student code reads Python alone, and writes nothing",
    "C": "nothing holds student code back: grading refuses, unless you --trust-students",
}


class SandboxError(RuntimeError):
    """The sandbox itself does not work. It is never the student's fault."""


class Trial(NamedTuple):
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
    tried: tuple[Trial, ...] = ()

    @property
    def isolates(self) -> bool:
        """Does anything hold student code back?"""
        return self.tier in TIERS[:-1]

    def reaches(self, minimum: Tier) -> bool:
        """Say whether this is a tier at least as strong as another one."""
        return TIERS.index(self.tier) <= TIERS.index(minimum)

    def failures(self) -> str:
        """Say what does not work."""
        failed = "; ".join(f"{part.what}: {part.detail}" for part in self.tried if not part.ok)
        return failed or "nothing was tried"

    def advice(self) -> list[str]:
        """Say what would lead to a stronger tier."""
        failed = [part.what for part in self.tried if not part.ok]
        if "user" in failed:  # that is then why bubblewrap does not work, too
            failed = [what for what in failed if what != "bubblewrap"]
        return [advice.on(what) for what in failed]


@functools.cache
def probe() -> Isolation:
    """Try every part of the isolation in processes of their own, once.

    Returns
    -------
    Isolation
        The strongest tier all of whose parts work.
    """
    inside = _tried_inside()
    failed = {part.what for part in inside if not part.ok}
    if not failed:
        return Isolation("A", inside)
    if failed == {"namespaces"}:
        return Isolation("A-", inside)
    outside = _tried("probe", control.command(__name__, "user", "Landlock", "seccomp"))
    known = {part.what for part in outside}
    tried = (*(part for part in inside if part.what not in known), *outside)
    return Isolation("B" if all(part.ok for part in outside) else "C", tried)


def _tried_inside() -> tuple[Trial, ...]:
    try:
        command = bubblewrap.command(__name__, "namespaces", "Landlock", "seccomp")
    except FileNotFoundError as error:
        return (Trial("bubblewrap", False, str(error)),)
    tried = _tried("bubblewrap", command)
    if tried[0].what == "bubblewrap":
        return tried
    return (Trial("bubblewrap", True, "shows Python and nothing else"), *tried)


def _tried(what: str, command: list[str]) -> tuple[Trial, ...]:
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=control.ENVIRONMENT,
            cwd="/",
            timeout=60,
        )
        if result.returncode:
            lines = result.stderr.decode(errors="replace").strip().splitlines()
            return (Trial(what, False, lines[-1] if lines else f"status {result.returncode}"),)
        return tuple(Trial(*part) for part in json.loads(result.stdout))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return (Trial(what, False, str(error)),)


def main(*names: str) -> None:
    """Try parts on this very process, and print what came of it."""
    tried = []
    for name in names:
        try:
            tried.append(Trial(name, True, _ATTEMPTS[name]()))
        except Exception as error:
            tried.append(Trial(name, False, f"{error}"))
    sys.stdout.write(json.dumps(tried))


def _try_user() -> str:
    from autograder.sandbox.jails import confinement, root

    started_as_root = os.getuid() == 0
    root.drop_root(confinement.python_paths())
    return "root gives up its rights" if started_as_root else "not root"


def _try_namespaces() -> str:
    from autograder.sandbox.jails import confinement, namespaces

    receiving, sending = os.pipe()
    pid = namespaces.fork()
    if pid == 0:
        try:
            namespaces.furnish(confinement.SCRATCH, 1)
            (Path(confinement.SCRATCH) / "probe").write_text("written")
            os.write(sending, b"works")
        except BaseException as error:
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


def _try_landlock() -> str:
    from autograder.sandbox.jails import landlock

    rules = landlock.Rules([])
    _must_change(lambda: list(Path("/").iterdir()), rules.restrict, "reading a folder")
    return f"ABI {landlock.abi()}; reading a folder is denied"


def _try_seccomp() -> str:
    import socket

    from autograder.sandbox.jails import kernel, seccomp

    if not seccomp.supported():
        raise OSError("the system calls of this processor are not known")
    program = seccomp.Filter().of(os.getpid())
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    _must_change(
        lambda: socket.socket().close(), lambda: kernel.seccomp_filter(program), "opening a socket"
    )
    return "opening a socket is denied"


_ATTEMPTS: dict[str, Callable[[], str]] = {
    "user": _try_user,
    "namespaces": _try_namespaces,
    "Landlock": _try_landlock,
    "seccomp": _try_seccomp,
}


def _must_change(attempt: Callable[[], object], lock: Callable[[], object], what: str) -> None:
    """Check that something works, and after locking no longer does."""
    attempt()
    lock()
    try:
        attempt()
    except PermissionError:
        return
    raise OSError(f"{what} is still allowed")
