"""Workers of a scheduler, on this machine: `autograder worker`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from autograder.course.config import CourseError
from autograder.course.graders.station import SECRET
from autograder.course.graders.tls import certificates
from autograder.sandbox import probe


def serve(scheduler: str, processes: int, tls: Path | None) -> NoReturn:
    """Become that many of a scheduler's workers, in place of this program.

    Raises
    ------
    CourseError
        If there is no secret, or the address and the certificates don't go together.
    """
    if not os.environ.get(SECRET):
        raise CourseError(f"{SECRET} is not set: without it no course is given to this worker")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-dashboard"]
    command += ["--nworkers", str(processes), "--nthreads", "1"]
    options = {"ca": "--tls-ca-file", "cert": "--tls-cert", "key": "--tls-key"}
    for name, path in certificates(scheduler, tls).items():
        command += [options[name], path]
    print(f"isolation tier {probe().tier}, {processes} at a time, for {scheduler}", flush=True)
    # Graders are processes of a worker's own.
    os.execve(sys.executable, command, os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "False"})
