"""A clock that is set back while a program runs: for programs that are started with `set_back`."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

typedef int (*original)(clockid_t, struct timespec *);

int clock_gettime(clockid_t id, struct timespec *now) {
    static original real;
    if (!real) real = (original)dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(id, now);
    const char *moment = getenv("SET_BACK_AT");
    struct timespec since;
    if (!failed && id == CLOCK_REALTIME && moment && !real(CLOCK_MONOTONIC, &since)
        && since.tv_sec >= atol(moment))
        now->tv_sec -= 86400;
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int failed = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *out) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (out) *out = exact.tv_sec;
    return exact.tv_sec;
}
"""


def library(folder: Path) -> Path | None:
    """Compile what stands before the C library; None where there is no compiler."""
    if not shutil.which("cc"):
        return None
    source, path = folder / "clock.c", folder / "clock.so"
    source.write_text(_SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source, "-ldl"], check=True)
    return path


def set_back(path: Path, after: float) -> list[str]:
    """Return what a command begins with whose clock is set back by a day after so many seconds."""
    return ["env", f"LD_PRELOAD={path}", f"SET_BACK_AT={int(time.monotonic() + after)}"]
