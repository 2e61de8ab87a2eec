"""Measure a command with all of its processes, those that outlive it included."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, seconds of processor time, and MiB where they were sampled.

    ``pss_mb`` counts a page that processes share once, ``rss_mb`` once for each of them.
    """

    wall: float
    cpu: float
    rss_mb: float = 0.0
    pss_mb: float = 0.0


def measure(command: Sequence[str], root: Path, *, memory: bool = False) -> Cost:
    """Run a command to its end, and wait for every process that it started.

    Sampling the memory takes time itself, so it is a measurement of its own.
    """
    # Processes whose parent is gone become ours, so that their processor time is counted as well.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, start = _cpu(), time.perf_counter()
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        peak = _Peak(process.pid) if memory else None
        _, errors = process.communicate()
        wall = time.perf_counter() - start
        if peak:
            peak.stop()
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{errors[-3000:]}")
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    return Cost(wall, _cpu() - before, *(peak.mb if peak else ()))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Peak(threading.Thread):
    """Samples the memory of a process and all below it."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid, self._over = pid, threading.Event()
        self.mb = (0.0, 0.0)
        self.start()

    def stop(self) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.wait(0.2):
            sizes = [_size(pid) for pid in _family(self._pid)]
            now = tuple(sum(column) / 1024 for column in zip(*sizes, strict=True))
            self.mb = max(self.mb[0], now[0]), max(self.mb[1], now[1])


def _family(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for member in found:
        found += children.get(member, [])
    return found


def _size(pid: int) -> tuple[int, int]:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    fields = dict(line.split(":", 1) for line in lines[1:])
    return int(fields["Rss"].split()[0]), int(fields["Pss"].split()[0])
