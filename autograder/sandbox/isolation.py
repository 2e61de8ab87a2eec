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
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import NamedTuple

from autograder.sandbox import advice
from autograder.sandbox.jails import control
from autograder.sandbox.jails.jail import JAILS

_PROBING = threading.Lock()

#: From the strongest to the weakest.
TIERS = tuple(JAILS)

#: Those in which something holds student code back.
ISOLATING = tuple(tier for tier, jail in JAILS.items() if jail.isolates)


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

    tier: str
    tried: tuple[Trial, ...] = ()

    @property
    def isolates(self) -> bool:
        """Does anything hold student code back?"""
        return self.tier in ISOLATING

    @property
    def meaning(self) -> str:
        """What student code can do, in a sentence."""
        return JAILS[self.tier].meaning

    def reaches(self, minimum: str) -> bool:
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


def probe() -> Isolation:
    """Try every part of the isolation in processes of their own, once.

    Returns
    -------
    Isolation
        The strongest tier all of whose parts work.
    """
    with _PROBING:  # who asks meanwhile waits for the answer
        return _probed()


@functools.cache
def _probed() -> Isolation:
    tried: dict[str, Trial] = {}
    for tier, jail in JAILS.items():
        if jail.wrapper in tried and not tried[jail.wrapper].ok:
            continue
        own = _tried(tier)
        tried |= {part.what: part for part in own}
        if all(part.ok for part in own):
            break
    return Isolation(tier, tuple(tried.values()))


def _tried(tier: str) -> tuple[Trial, ...]:
    """Try the parts of one way to hold student code back, in a process that it starts."""
    jail = JAILS[tier]()
    what = jail.wrapper or "probe"
    try:
        result = subprocess.run(
            jail.command(__name__, tier, data=""),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=control.environment(),
            cwd="/",
            timeout=60,
        )
        if result.returncode:
            lines = result.stderr.decode(errors="replace").strip().splitlines()
            return (Trial(what, False, lines[-1] if lines else f"status {result.returncode}"),)
        wrapped = [Trial(what, True, jail.shows)] * bool(jail.wrapper)
        return (*wrapped, *(Trial(*part) for part in json.loads(result.stdout)))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return (Trial(what, False, str(error)),)


def main(tier: str) -> None:
    """Try the parts on this very process, and print what came of it."""
    tried = []
    for name, attempt in JAILS[tier].attempts.items():
        try:
            tried.append(Trial(name, True, attempt()))
        except Exception as error:  # the kernel's answer, whatever it is
            tried.append(Trial(name, False, f"{error}"))
    sys.stdout.write(json.dumps(tried))
