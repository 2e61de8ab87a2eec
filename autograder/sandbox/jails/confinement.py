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

from autograder.sandbox.jails import kernel, landlock, namespaces, seccomp

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
DATA = "/data"  # inside bubblewrap; the files that a release holds beside its notebook
DEVICES = ("/dev/urandom", "/dev/zero")
_THREADS = 256
_OPEN_FILES = 128


@dataclass(frozen=True)
class Confinement:
    """What one zygote prepares for all of its workers.

    Parameters
    ----------
    rules : landlock.Rules
        What may be read.
    filter : seccomp.Filter
        What may be asked of the kernel.
    scratch_mb : int
        MiB of a worker's own scratch folder, where it has one.
    memory : int
        Bytes that a worker may map beyond what it inherits.
    resources : dict
        The other limits, by the kernel's numbers for them.
    nested : bool
        Whether each worker has namespaces of its own.
    data : str
        A folder with files that it may read by their names alone, or nothing.
    """

    rules: landlock.Rules
    filter: seccomp.Filter
    scratch_mb: int
    memory: int
    resources: dict[int, int]
    nested: bool
    data: str = ""


def python_paths() -> list[str]:
    """Return the folders of the Python installation and of its virtual environment.

    Only the libraries: a course that keeps its environment in its own folder shows nothing else.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    folders = {str(Path(prefix) / lib) for prefix in prefixes for lib in ("lib", "lib64")}
    folders |= {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return sorted(folder for folder in folders if Path(folder).is_dir())


def prepare(
    memory_mb: int, cpu_seconds: float, scratch_mb: int, *, nested: bool, data: str = ""
) -> Confinement:
    """Make, once for all workers, what does not depend on the worker.

    ``nested`` says that workers run in namespaces of their own.
    """
    scratch_mb = scratch_mb if nested else 0
    resources = {
        resource.RLIMIT_CPU: int(cpu_seconds) + 1,
        resource.RLIMIT_NPROC: _threads_of_this_user() + _THREADS,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_FSIZE: scratch_mb << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        # Signals that wait, and timers, are counted by user: others would notice when none is left.
        resource.RLIMIT_SIGPENDING: 0,
    }
    return Confinement(
        landlock.Rules(
            [*python_paths(), *SYSTEM_LIBRARIES, *DEVICES, *filter(None, [data])], [os.devnull]
        ),
        seccomp.Filter(),
        scratch_mb,
        memory_mb << 20,
        {name: _at_most(name, value) for name, value in resources.items()},
        nested,
        data,
    )


def confine(confinement: Confinement) -> None:
    """Put this process under all limits, irrevocably.

    Raises
    ------
    OSError
        If the kernel refuses any of it; then no student code may run here.
    """
    memory = _at_most(resource.RLIMIT_AS, _address_space() + confinement.memory)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for name, value in confinement.resources.items():
        resource.setrlimit(name, (value, value))
    scratch = None
    if confinement.nested:
        scratch = SCRATCH
        namespaces.furnish(scratch, confinement.scratch_mb)
        os.chdir(scratch)
        for file in os.listdir(confinement.data) if confinement.data else ():  # noqa: PTH208
            os.symlink(f"{confinement.data}/{file}", file)  # noqa: PTH211
    kernel.drop_capabilities()
    confinement.rules.restrict(scratch)
    kernel.seccomp_filter(confinement.filter.of(os.getpid()))


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


def _at_most(name: int, value: int) -> int:
    """Return a limit, or the one that is already in force if it is lower."""
    hard = resource.getrlimit(name)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _address_space() -> int:
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        pages = int(os.read(descriptor, 100).split()[0])
    finally:
        os.close(descriptor)
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
