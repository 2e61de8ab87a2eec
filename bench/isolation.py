"""What a process of its own costs each submission: the same requests with it and without.

A class is graded; what its students' processes are asked is written down, with the processor time
that they take.  Then all of it is asked again: in forks of one process, nothing locked down, and in
that process itself.  There the students' code, IPython and answering are all that remains.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline import prepare

from autograder.course.config import Course
from autograder.course.grade import Grader
from autograder.course.submissions import submissions
from autograder.sandbox import Session

Request = dict[str, Any]


@contextmanager
def written_down() -> Iterator[list[Request]]:
    """Write down every request that a session makes, that for its start among them."""
    asked: list[Request] = []
    usual = Session._ask

    def ask(session: Session, subject: str, seconds: float, most: int, **request: Any) -> Any:
        asked.append(request)
        return usual(session, subject, seconds, most, **request)

    Session._ask = ask  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        Session._ask = usual  # type: ignore[method-assign]


def graded(course: Course, ids: list[str]) -> tuple[list[Request], float, int, set[str]]:
    """Grade a class; return the requests, the students' seconds, how many there are, imports."""
    seconds, count, modules = 0.0, 0, set()
    with Grader(course) as grader, written_down() as asked:
        for id in ids:
            modules.update(grader.release(id).imports)
            for handed in submissions(course, id):
                seconds += grader.grade(handed).grade.runtime["cpu_seconds"]
                count += 1
    return asked, seconds, count, modules


class Unguarded:
    """Answers what sessions were asked, as a worker does, in this process."""

    def __init__(self, modules: list[str]) -> None:
        from autograder.sandbox import zygote

        self._shell, self._torch = zygote._import(modules)
        self.seconds: Counter[str] = Counter()

    def answer(self, session: list[Request]) -> None:
        """Answer the requests of one session, and add up the processor time by their kind."""
        from autograder.sandbox.wire import decode, encode_parts
        from autograder.sandbox.worker import Worker

        streams, main = (sys.stdout, sys.stderr), sys.modules["__main__"]
        start, *requests = session
        self._shell.forget()
        worker = Worker(
            self._shell, start["numbers"], start["largest"], lambda _: None, self._torch
        )
        for request in requests:
            header, buffers = encode_parts(request | {"id": "0" * 16})
            frame = header, b"".join(buffers)
            before = time.process_time()
            worker.answer(decode(*frame, torch_tensors=True), frame)
            self.seconds[request["do"]] += time.process_time() - before
        (sys.stdout, sys.stderr), sys.modules["__main__"] = streams, main

    def forked(self, session: list[Request]) -> float:
        """Answer them in a fork of this process, and return the processor time of that."""
        pid = os.fork()
        if pid == 0:
            try:
                self.answer(session)
            finally:
                os._exit(0)
        usage = os.wait4(pid, 0)[2]
        return usage.ru_utime + usage.ru_stime


def unguarded(sessions: list[list[Request]], modules: list[str], rounds: int, results: Any) -> None:
    """Send the seconds of all sessions in one process, by kind of request, and those of forks."""
    one = Unguarded(modules)
    for session in sessions:  # much is done for the first time here
        one.answer(session)
    one.seconds.clear()
    for session in sessions * rounds:
        one.answer(session)
    gc.freeze()  # as a zygote does, so that a fork's collector leaves shared pages alone
    forks = sum(one.forked(session) for session in sessions * rounds)
    results.send(({kind: s / rounds for kind, s in one.seconds.items()}, forks / rounds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignments", nargs="+", default=["a01", "a02"])
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        course = Course.load(prepare(options.assignments, options.submissions, Path(folder) / "c"))
        asked, seconds, count, modules = graded(course, course.ids(options.assignments))
    sessions: list[list[Request]] = []
    for request in asked:
        if "do" not in request:  # the first one of a session
            sessions.append([])
        sessions[-1].append(request)
    context = multiprocessing.get_context("spawn")
    results, theirs = context.Pipe(duplex=False)
    arguments = (sessions, sorted(modules), options.rounds, theirs)
    process = context.Process(target=unguarded, args=arguments)
    process.start()
    theirs.close()
    kinds, forks = results.recv()
    process.join()
    number = Counter(request.get("do", "start") for request in asked)
    result = {
        "assignments": options.assignments,
        "submissions": count,
        "sessions": len(sessions),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "cpu_ms_each_submission": {
            "locked-down processes": round(1e3 * seconds / count, 2),
            "forks, nothing locked down": round(1e3 * forks / count, 2),
            "all in one process": round(1e3 * sum(kinds.values()) / count, 2),
        },
        "requests_each_submission": {
            kind: {
                "number": round(number[kind] / count, 1),
                "cpu_ms in one process": round(1e3 * kinds[kind] / count, 2),
            }
            for kind in sorted(kinds, key=lambda kind: -kinds[kind])
        },
    }
    print(json.dumps(result, indent=1))
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
