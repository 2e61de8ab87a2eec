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
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import submissions
from autograder.sandbox.conversation import Conversation
from autograder.sandbox.inside import zygote
from autograder.sandbox.inside.serving import Frame
from autograder.sandbox.inside.worker import Worker
from autograder.sandbox.wire import decode, encode_parts

Request = dict[str, Any]
Asked = tuple[Request, list[tuple[str, Frame]]]  # a session: its start, and what followed


@contextmanager
def written_down() -> Iterator[list[Request]]:
    """Write down every request that a session makes, that for its start among them."""
    asked: list[Request] = []
    usual = Conversation.ask

    def ask(session: Conversation, subject: str, seconds: float, most: int, request: Any) -> Any:
        asked.append({**request, "id": ""})
        return usual(session, subject, seconds, most, request)

    Conversation.ask = ask  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        Conversation.ask = usual  # type: ignore[method-assign]


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
        self._shell, self._torch = zygote._import(modules, [])
        self.kinds: Counter[str] = Counter()

    def answer(self, start: Request, frames: list[tuple[str, Frame]]) -> float:
        """Answer one session; return its processor time, and add it up by kind of request."""
        streams, main = (sys.stdout, sys.stderr), sys.modules["__main__"]
        began = before = time.process_time()
        worker = Worker(
            self._shell, start["numbers"], start["largest"], lambda _: None, self._torch
        )
        for kind, frame in frames:
            worker.answer(decode(*frame, torch_tensors=True), frame)
            now = time.process_time()
            self.kinds[kind] += now - before
            before = now
        (sys.stdout, sys.stderr), sys.modules["__main__"] = streams, main
        return before - began

    def here(self, session: Asked) -> float:
        """Answer it in this process, and tidy up: that is not counted."""
        seconds = self.answer(*session)
        self._shell.forget()
        return seconds

    def forked(self, session: Asked) -> float:
        """Answer it in a fork of this process; return the processor time of that, its end too."""
        pid = os.fork()
        if pid == 0:
            try:
                self.answer(*session)
            finally:
                os._exit(0)
        usage = os.wait4(pid, 0)[2]
        return usage.ru_utime + usage.ru_stime


def unguarded(asked: list[Request], modules: list[str], rounds: int, results: Any) -> None:
    """Send the seconds of all sessions in one process and in forks of it, and of their kinds."""
    sessions: list[Asked] = []
    for request in asked:
        if "do" not in request:  # the first one of a session
            sessions.append((request, []))
        else:
            header, buffers = encode_parts(request | {"id": "0" * 16})
            sessions[-1][1].append((request["do"], (header, b"".join(buffers))))
    process = Unguarded(modules)
    for session in sessions:  # much is done for the first time here
        process.here(session)
    process.kinds.clear()
    one = sum(process.here(session) for session in sessions * rounds)
    kinds = {kind: seconds / rounds for kind, seconds in process.kinds.items()}
    gc.collect()
    gc.freeze()  # as a zygote does, so that a fork's collector leaves shared pages alone
    forks = sum(process.forked(session) for session in sessions * rounds)
    results.send((one / rounds, forks / rounds, kinds))


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
    context = multiprocessing.get_context("spawn")
    results, theirs = context.Pipe(duplex=False)
    arguments = (asked, sorted(modules), options.rounds, theirs)
    process = context.Process(target=unguarded, args=arguments)
    process.start()
    theirs.close()
    one, forks, kinds = results.recv()
    process.join()
    number = Counter(request.get("do", "start") for request in asked)
    result = {
        "assignments": options.assignments,
        "submissions": count,
        "sessions": number["start"],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "cpu_ms_each_submission": {
            "locked-down processes": round(1e3 * seconds / count, 2),
            "forks, nothing locked down": round(1e3 * forks / count, 2),
            "all in one process": round(1e3 * one / count, 2),
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
