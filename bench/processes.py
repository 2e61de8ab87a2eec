"""Measure a command with all of its processes, those that outlive it included."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Programs are measured as they are installed: with the bytecode that Python keeps of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_PR_SET_CHILD_SUBREAPER = 36
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, seconds of processor time, and MiB where they were sampled.

    ``pss_mb`` counts a page that processes share once, ``rss_mb`` once for each of them; ``over``
    has the PSS of every sample.  ``long`` has the processor seconds of the processes that lived
    long enough to be seen, by command line.
    """

    wall: float
    cpu: float
    rss_mb: float = 0.0
    pss_mb: float = 0.0
    over: list[float] = field(default_factory=list)
    long: dict[str, float] = field(default_factory=dict)


def measure(
    command: Sequence[str],
    root: Path,
    *,
    memory: bool = False,
    watch: bool = False,
    environment: dict[str, str] | None = None,
) -> Cost:
    """Run a command to its end, and wait for every process that it started.

    Sampling the memory takes time itself, so it is a measurement of its own; watching the single
    processes takes next to none.
    """
    # Processes whose parent is gone become ours, so that they are waited for as well.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with _processor_time() as (join, used):
        start = time.perf_counter()
        with subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=join,
        ) as process:
            watcher = _Watcher(process.pid, memory=memory) if memory or watch else None
            _, errors = process.communicate()
            wall = time.perf_counter() - start
            if watcher:
                watcher.stop()
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{errors[-3000:]}")
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        cpu = used()
    if watcher is None:
        return Cost(wall, cpu)
    rss, pss = watcher.peak
    return Cost(wall, cpu, rss, pss, watcher.over, watcher.long())


def counts_everything() -> bool:
    """Whether processor time is taken from a control group, where none is lost.

    Else it is that of the processes that were waited for.  The kernel forgets those that end with
    their namespace, so what runs in bubblewrap is missing then.
    """
    with _processor_time() as (join, _):
        return join is not None


@contextmanager
def _processor_time() -> Iterator[tuple[Callable[[], None] | None, Callable[[], float]]]:
    """Yield what a process does to be counted, and what tells the seconds counted so far."""
    group, file, unit = _group()
    if group is None:
        before = _waited_for()
        yield None, lambda: _waited_for() - before
        return
    try:
        tasks = str(group / "cgroup.procs")

        def join() -> None:
            Path(tasks).write_text(str(os.getpid()))

        def used() -> float:
            text = (group / file).read_text()
            fields = dict(line.split() for line in text.splitlines() if " " in line)
            return int(fields.get("usage_usec", text.split()[0])) / unit

        yield join, used
    finally:
        group.rmdir()


def _group() -> tuple[Path | None, str, float]:
    """Make a control group, of version 2 or 1, where this user may."""
    name = f"bench-{os.getpid()}"
    own = Path("/proc/self/cgroup").read_text() if Path("/proc/self/cgroup").exists() else ""
    inside = next((line[3:] for line in own.splitlines() if line.startswith("0::")), "/")
    for root, file, unit in (
        (Path("/sys/fs/cgroup" + inside), "cpu.stat", 1e6),
        (Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage", 1e9),
    ):
        group = root / name
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / file).exists() and os.access(group / "cgroup.procs", os.W_OK):
            return group, file, unit
        group.rmdir()
    return None, "", 1.0


def _waited_for() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Watcher(threading.Thread):
    """Samples the processor time, and the memory if wanted, of a process and all below it."""

    def __init__(self, pid: int, *, memory: bool) -> None:
        super().__init__()
        self._pid, self._memory, self._over = pid, memory, threading.Event()
        self._seconds: dict[int, float] = {}
        self._commands: dict[int, str] = {}
        self.peak = (0.0, 0.0)
        self.over: list[float] = []
        self.start()

    def stop(self) -> None:
        self._over.set()
        self.join()

    def long(self) -> dict[str, float]:
        """Return the seconds of the processes that were seen, by command line."""
        found: dict[str, float] = {}
        for pid, seconds in self._seconds.items():
            found[self._commands[pid]] = found.get(self._commands[pid], 0.0) + seconds
        return found

    def run(self) -> None:
        while not self._over.wait(0.2):
            family = _family(self._pid)
            for pid, seconds in family.items():
                self._seconds[pid] = seconds
                if pid not in self._commands:
                    self._commands[pid] = _command(pid)
            if self._memory:
                sizes = [_size(pid) for pid in family]
                rss, pss = (sum(column) / 1024 for column in zip(*sizes, strict=True))
                self.peak = max(self.peak[0], rss), max(self.peak[1], pss)
                self.over.append(round(pss, 1))


def _family(pid: int) -> dict[int, float]:
    """Return the processor seconds of a process and all below it."""
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        seconds[number] = (int(fields[11]) + int(fields[12])) / _TICK
    found = [pid]
    for member in found:
        found += children.get(member, [])
    return {member: seconds.get(member, 0.0) for member in found}


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def _size(pid: int) -> tuple[int, int]:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    fields = dict(line.split(":", 1) for line in lines[1:])
    return int(fields["Rss"].split()[0]), int(fields["Pss"].split()[0])
