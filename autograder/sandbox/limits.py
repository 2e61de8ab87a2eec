"""What a worker does to itself before it runs a student's code.

Resource limits, Landlock and the system call filter are all set from the inside and cannot be
taken back. Nothing has to be installed, and no right is needed to give rights up.
"""

import os
import resource
import signal
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox import kernel, landlock, namespaces, seccomp

SYSTEM_LIBRARIES = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
)
SCRATCH = "/box"  # inside bubblewrap; in tier A a worker's own
_DEVICES = ("/dev/urandom", "/dev/zero")
_THREADS = 256
_OPEN_FILES = 128


@dataclass(frozen=True)
class Confinement:
    """What one zygote prepares for all of its workers.

    Parameters
    ----------
    readable : list of str
        Files and folders that may be read.
    rules : int or None
        The Landlock rules, as a file descriptor. None where each worker has files of its own and
        makes them itself.
    scratch_mb : int
        MiB of a worker's own scratch folder, where it has one.
    memory : int
        Bytes that a worker may map beyond what it inherits.
    cpu_seconds : int
        Processor time of a worker.
    threads : int
        Upper bound on the number of threads of this user, as the kernel counts them.
    """

    readable: list[str]
    rules: int | None
    scratch_mb: int
    memory: int
    cpu_seconds: int
    threads: int


def python_paths() -> list[str]:
    """Return the folders of the Python installation and of its virtual environment.

    Only the libraries: a course that keeps its environment in its own folder shows nothing else.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    folders = {str(Path(prefix) / lib) for prefix in prefixes for lib in ("lib", "lib64")}
    folders |= {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return sorted(folder for folder in folders if Path(folder).is_dir())


def prepare(memory_mb: int, cpu_seconds: float, scratch_mb: int, *, nested: bool) -> Confinement:
    """Make, once for all workers, what does not depend on the worker.

    ``nested`` says that workers run in namespaces of their own.
    """
    readable = [*python_paths(), *SYSTEM_LIBRARIES, *_DEVICES]
    return Confinement(
        readable,
        rules=None if nested else landlock.ruleset(readable, [os.devnull]),
        scratch_mb=scratch_mb if nested else 0,
        memory=memory_mb << 20,
        cpu_seconds=int(cpu_seconds) + 1,
        threads=_threads_of_this_user() + _THREADS,
    )


def confine(confinement: Confinement) -> None:
    """Put this process under all limits, irrevocably.

    Raises
    ------
    OSError
        If the kernel refuses any of it; then no student code may run here.
    """
    _limit_resources(confinement)
    rules = confinement.rules
    if rules is None:
        namespaces.furnish(SCRATCH, confinement.scratch_mb)
        os.chdir(SCRATCH)
        rules = landlock.ruleset(confinement.readable, [os.devnull], SCRATCH)
    landlock.restrict(rules)
    kernel.seccomp_filter(seccomp.program(os.getpid()))


def die_with(parent: int) -> None:
    """Have this process killed when its parent ends."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the request above
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of all descendants that lose theirs, so that none gets away."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """Keep other processes of the same user from attaching to this one, and core dumps away."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _limit_resources(confinement: Confinement) -> None:
    limits = {
        resource.RLIMIT_AS: _address_space() + confinement.memory,
        resource.RLIMIT_CPU: confinement.cpu_seconds,
        resource.RLIMIT_NPROC: confinement.threads,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_FSIZE: confinement.scratch_mb << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for name, value in limits.items():
        hard = resource.getrlimit(name)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(name, (value, value))


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _threads_of_this_user() -> int:
    # RLIMIT_NPROC counts the threads of the user, not of the process.
    count = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:  # ended meanwhile
            continue
        if int(fields["Uid"].split()[0]) == os.getuid():
            count += int(fields["Threads"])
    return count
