"""A large class on several machines: what is lost by kills, what it costs, and what limits it.

A class is graded by workers that are hosts of their own, network namespaces with an address each
(plain processes, where the user is not root or `ip` is missing).  While that runs, workers, the
scheduler and the one who asks are killed, again and again; the command is then given once more,
as a person would.  In the end every submission has one record and one row in the gradebook, and
the records of a part of the class are those of a grader without a cluster, its times aside.

Without kills a part of the class is graded by a cluster of as many workers as there are processors
and by as many graders without one, in turns.

How many workers are kept busy is tried with workers that sleep (sleeping.py): as long as the job
took a grader that had a processor for itself, or ten times as long.  The scheduler and the one who
asks are real, and do all that they do otherwise; the gradebook is SQLite's.  The efficiency is the
time slept over the time that all workers were there, from the first job to the end of the command.
In the end two courses share the workers, each with one who asks.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline import AUTOGRADER, prepare
from sleeping import ANSWERS, TIMES

from autograder.course.classes.classroom import grade_class
from autograder.course.config import CONFIG, Course
from autograder.course.graders.station import SECRET
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.nbgrader.marks import scores

A = "a02_attention_by_hand"
PORT = 8786
HOSTS = "ag-bench"  # begins the names of what `ip` makes, and of nothing else
PARTS = ("side_by_side", "sleeping", "killed")
#: The same program, which sends no two jobs at once.
SINGLY = [
    sys.executable,
    "-c",
    "from autograder.course.graders import batches; batches._MOST = 1; "
    "from autograder.cli import main; main()",
]
WIDTHS = (1, 4, 16, 64, 256)  # numbers of workers that sleep
SAMPLE = 60  # submissions by which the time of a job is known
_TICK = os.sysconf("SC_CLK_TCK")


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def hosts(count: int) -> Iterator[tuple[str, list[list[str]]]]:
    """Make so many hosts; give this one's address, and how a command begins on each of them."""
    if os.getuid() != 0 or not shutil.which("ip"):
        yield "127.0.0.1", [[] for _ in range(count)]
        return

    def ip(*words: str, check: bool = True) -> None:
        subprocess.run(["ip", *words], check=check, capture_output=not check)

    names = [f"{HOSTS}{i}" for i in range(count)]
    try:
        ip("link", "add", HOSTS, "type", "bridge")
        ip("addr", "add", "10.211.0.1/24", "dev", HOSTS)
        ip("link", "set", HOSTS, "up")
        for i, name in enumerate(names):
            ip("netns", "add", name)
            ip("link", "add", f"{name}v", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"{name}v", "master", HOSTS, "up")
            ip("-n", name, "addr", "add", f"10.211.0.{i + 2}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield "10.211.0.1", [["ip", "netns", "exec", name] for name in names]
    finally:
        for name in names:
            ip("netns", "del", name, check=False)
        ip("link", "del", HOSTS, check=False)


class Machines:
    """A scheduler and workers, which can be killed and come back."""

    def __init__(self, folder: Path, address: str, on: list[list[str]]) -> None:
        self.folder, self.host, self._on = folder, address, on
        self.address = f"tls://{address}:{PORT}"
        self.keys = folder / "keys"
        subprocess.run([*AUTOGRADER, "cluster", "certificates", str(self.keys)], check=True)
        self.asked = ["--scheduler", self.address, "--tls", str(self.keys)]
        self.scheduler = self._scheduler()
        self.workers = [self._worker(i) for i in range(len(on))]

    def kill_worker(self, number: int) -> None:
        """Switch a worker off, and on again."""
        _kill(self.workers[number])
        self.workers[number] = self._worker(number)

    def kill_scheduler(self) -> None:
        """Switch the scheduler off, and with it the workers, which have nobody to work for."""
        for process in (self.scheduler, *self.workers):
            _kill(process)
        self.scheduler = self._scheduler()
        self.workers = [self._worker(i) for i in range(len(self._on))]

    def __enter__(self) -> Machines:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.scheduler, *self.workers):
            _kill(process)

    def _scheduler(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
        command += ["--host", self.host, "--port", str(PORT), "--protocol", "tls"]
        return self.start([*command, *self.certificates], "scheduler")

    @property
    def certificates(self) -> list[str]:
        """Dask's options for an encrypted connection."""
        names = {"ca-file": "ca", "cert": "cert", "key": "key"}
        return [f"--tls-{option}={self.keys / name}.pem" for option, name in names.items()]

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        command = [*self._on[number], *AUTOGRADER, "worker", self.address, "--processes", "1"]
        command += ["--tls", str(self.keys)]
        return self.start(command, f"worker{number}")

    def start(self, command: list[str], name: str) -> subprocess.Popen[bytes]:
        """Start a command; what it says is kept."""
        with (self.folder / f"{name}.log").open("a") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started in its session: a machine is switched off."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _mb(pid: int) -> float:
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return int(fields["VmHWM"].split()[0]) / 1024


def asking(root: Path, *options: str, singly: bool = False) -> subprocess.Popen[bytes]:
    """Grade a course; what is said stands in a file beside it."""
    with said(root).open("wb") as log:
        command = [*(SINGLY if singly else AUTOGRADER), "grade", A, *options]
        return subprocess.Popen(command, cwd=root, stdout=log, stderr=subprocess.STDOUT)


def said(root: Path) -> Path:
    return root.with_suffix(".said")


def watched(*roots: Path, options: Sequence[str], singly: bool = False) -> dict[str, float]:
    """Grade courses to the end, at the same time; return seconds, their processor seconds, MB."""
    open = {root: asking(root, *options, singly=singly) for root in roots}
    began, used, most = time.monotonic(), dict.fromkeys(roots, 0.0), dict.fromkeys(roots, 0.0)
    while open:
        for root, process in list(open.items()):
            if process.poll() is None:
                with suppress(OSError, KeyError):  # it ends just now
                    used[root] = _seconds(process.pid)
                    most[root] = max(most[root], _mb(process.pid))
            elif process.returncode:
                sys.exit(f"grading failed: {said(root).read_text()[-2000:]}")
            else:
                del open[root]
        time.sleep(0.05)
    seconds = time.monotonic() - began
    return {"seconds": seconds, "cpu": sum(used.values()), "mb": sum(most.values())}


def marks(root: Path) -> dict[str, Any]:
    return {student: mark.cells for student, mark in scores(Course.load(root), A).items()}


def records(root: Path) -> dict[str, Any]:
    found = {}
    for path in (root / "records").glob(f"*/{A}.json"):
        record = json.loads(path.read_bytes())
        record["runtime"] = {}
        found[path.parent.name] = record
    return found


def part_of(origin: Path, folder: Path, students: int) -> Path:
    """Copy a course with the first so many of its submissions."""
    root = Path(shutil.copytree(origin, folder, ignore=shutil.ignore_patterns("submitted")))
    for path in sorted((origin / "submitted").iterdir())[:students]:
        shutil.copytree(path, root / "submitted" / path.name)
    return root


def killed(origin: Path, folder: Path, machines: Machines, every: float) -> dict[str, Any]:
    """Grade a class while somebody is killed every so many seconds."""
    rng, root = random.Random(0), Path(shutil.copytree(origin, folder / "killed"))
    students = {path.parent.name for path in (root / "submitted").glob(f"*/{A}")}
    handed = len(students)
    kills = {"worker": 0, "scheduler": 0, "asker": 0}
    runs, began, sentences = 0, time.monotonic(), []
    victims = ["worker", "worker", "asker", "worker", "worker", "scheduler"]
    while True:
        runs += 1
        process = asking(root, *machines.asked)
        while True:
            try:
                process.wait(every * rng.uniform(0.5, 1.5))
                break
            except subprocess.TimeoutExpired:
                victim = victims[sum(kills.values()) % len(victims)]
                kills[victim] += 1
                done = len(list((root / "records").glob(f"*/{A}.json")))
                progress(f"{time.monotonic() - began:.0f} s: {done} of {handed}, {victim} killed")
                if victim == "worker":
                    machines.kill_worker(rng.randrange(len(machines.workers)))
                elif victim == "scheduler":
                    machines.kill_scheduler()
                else:
                    process.kill()
                    process.wait()
                    break
        if process.returncode == 0:
            break
        text = said(root).read_text()
        if "Traceback" in text:
            sys.exit(f"a kill ended in a traceback: {text}")
        if process.returncode > 0:
            sentences.append(" ".join(text.split())[-300:].replace(str(root), "COURSE"))
    seconds = time.monotonic() - began
    found, given = records(root), marks(root)
    if found.keys() != students or given.keys() != students:
        sys.exit(f"{len(found)} records and {len(given)} rows for {handed} submissions")
    withheld = sum(record["score"] is None for record in found.values())
    shutil.rmtree(root / "submitted")
    return {
        "submissions": handed,
        "workers": len(machines.workers),
        "killed": kills,
        "times_the_command_was_given": runs,
        "seconds": round(seconds, 1),
        "said_when_the_scheduler_went": sorted(set(sentences))[:3],
        "submissions_without_a_record": 0,
        "rows_in_the_gradebook": len(given),
        "withheld": withheld,
    }


def side_by_side(origin: Path, folder: Path, machines: Machines, rounds: int) -> dict[str, Any]:
    """Grade a class with a cluster of as many workers as there are processors, and without one."""
    cores = os.cpu_count() or 1
    costs: dict[str, list[dict[str, float]]] = {"cluster": [], "here": []}
    seen: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name in costs:
            root = Path(shutil.copytree(origin, folder / name))
            before = _seconds(machines.scheduler.pid)
            own = machines.asked if name == "cluster" else ["--jobs", str(cores)]
            cost = watched(root, options=own)
            cost["scheduler"] = _seconds(machines.scheduler.pid) - before
            costs[name].append(cost)
            seen[name] = records(root)
            progress(f"{name}: {cost['seconds']:.1f} s for {len(seen[name])}")
            shutil.rmtree(root)
    differ = sum(seen["cluster"][student] != seen["here"][student] for student in seen["here"])
    number = len(seen["here"])

    def median(name: str, what: str) -> float:
        return statistics.median(cost[what] for cost in costs[name])

    return {
        "submissions": number,
        "rounds": rounds,
        "records_that_differ": differ,
        "seconds": {name: round(median(name, "seconds"), 2) for name in costs},
        "efficiency": round(median("here", "seconds") / median("cluster", "seconds"), 3),
        "mb_of_the_one_who_asks": round(median("cluster", "mb"), 1),
    }


def answers(origin: Path, folder: Path, factor: float) -> tuple[Path, list[float]]:
    """Grade a class with one grader; keep what came of it, and how long each took."""
    course = Course.load(part_of(origin, folder / "alone", SAMPLE))
    found = []
    for result in grade_class(course, submissions(course, A), GradingOptions(jobs=1)):
        assert isinstance(result, Graded)
        runtime = dict(result.grade.runtime)
        runtime["seconds"] *= factor
        # Written anew: by its record a job's time is known to the one who asks.
        result = replace(result, grade=replace(result.grade, runtime=runtime))
        found.append((runtime["seconds"], result))
    shutil.rmtree(course.root)
    path = folder / "answers.pickle"
    path.write_bytes(pickle.dumps(found[1:]))  # the first one waits for imports
    return path, [seconds for seconds, _ in found[1:]]


def sleeping(
    origin: Path, folder: Path, width: int, jobs: int, *, singly: bool = False, courses: int = 1
) -> dict[str, float]:
    """Grade so many submissions with so many workers that sleep, as several courses."""
    roots = [part_of(origin, folder / f"sleeping{i}", jobs // courses) for i in range(courses)]
    for root in roots:  # the same course would be known by its content
        with (root / CONFIG).open("a") as file:
            file.write(f"\n# {root.name}\n")
    times = Path(tempfile.mkdtemp(dir=folder))
    os.environ[TIMES] = str(times)
    processes = min(width, 4)
    module = [sys.executable, "-m", "distributed.cli.dask_worker"]
    options = ["--nworkers", str(processes), "--nthreads", str(width // processes)]
    options += ["--no-dashboard"]
    options += ["--preload", str(Path(__file__).with_name("sleeping.py"))]
    os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"  # as `autograder worker`
    with Machines(folder, "127.0.0.1", []) as machines:
        worker = machines.start(
            [*module, machines.address, *options, *machines.certificates],
            "sleeping",
        )
        try:
            _until_there(folder / "sleeping.log", processes)
            before = _seconds(machines.scheduler.pid)
            cost = watched(*roots, options=machines.asked, singly=singly)
            scheduler = _seconds(machines.scheduler.pid) - before
        finally:
            _kill(worker)
    ended = time.time()
    spans = [line.split() for path in times.iterdir() for line in path.read_text().splitlines()]
    began = min(float(first) for first, _ in spans)
    slept = sum(float(last) - float(first) for first, last in spans)
    done = sum(len(records(root)) for root in roots)
    if done != sum(len(list((root / "submitted").glob(f"*/{A}"))) for root in roots):
        sys.exit(f"{done} records, and {[said(root).read_text()[-2000:] for root in roots]}")
    for path in (*roots, times, folder / "keys"):
        shutil.rmtree(path)
    (folder / "sleeping.log").unlink()
    progress(f"{width} workers: {done} of {len(spans)} jobs in {ended - began:.1f} s")
    return {
        "jobs": done,
        "given_again": len(spans) - done,
        "jobs_a_second": round(done / (ended - began), 1),
        "efficiency": round(slept / len(spans) * done / width / (ended - began), 3),
        "asker_busy": round(cost["cpu"] / cost["seconds"], 2),
        "asker_cpu_ms_a_job": round(1000 * cost["cpu"] / done, 2),
        "asker_mb": round(cost["mb"], 1),
        "scheduler_busy": round(scheduler / cost["seconds"], 2),
        "scheduler_cpu_ms_a_job": round(1000 * scheduler / done, 2),
    }


def _until_there(log: Path, workers: int) -> None:
    """Wait until so many Dask workers have reached the scheduler."""
    while log.read_text().count("Registered to:") < workers:
        time.sleep(0.5)


def asleep(origin: Path, part: Path, folder: Path) -> dict[str, Any]:
    """Try several numbers of workers, with jobs in batches and singly, short and ten times as long.

    Beside these stands the machine's load before and after: what else runs makes all of it slower.
    """
    found: dict[str, Any] = {"load": [round(os.getloadavg()[0], 1)]}
    jobs = len(list((origin / "submitted").iterdir()))
    for factor, widths in ((1, WIDTHS), (10, WIDTHS[-2:])):
        path, seconds = answers(part, folder, factor)
        os.environ[ANSWERS] = str(path)
        found[f"jobs of {statistics.mean(seconds):.2g} s"] = {
            width: {
                name: sleeping(origin, folder, width, min(jobs, 100 * width), singly=singly)
                for name, singly in (("in batches", False), ("singly", True))
            }
            for width in widths
        }
        if factor == 1:
            found["two courses, 64 workers"] = sleeping(
                origin, folder, 64, min(jobs, 6400), courses=2
            )
    found["load"].append(round(os.getloadavg()[0], 1))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=10_000, help="of the class with kills")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=45.0, help="seconds between kills")
    parser.add_argument("--part", type=int, default=300, help="submissions without kills")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, help="one of the three")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the hosts go
    os.environ[SECRET] = "of this bench alone"
    parts = [options.only] if options.only else PARTS
    found: dict[str, Any] = {}
    if options.only and options.out and options.out.exists():
        found = json.loads(options.out.read_text())
    with tempfile.TemporaryDirectory() as name, hosts(options.workers) as (address, on):
        folder = Path(name)
        progress("simulating the class")
        origin = prepare([A], options.submissions, folder / "origin")
        part = part_of(origin, folder / "part", options.part)
        found["machine"] = {"cores": os.cpu_count(), "python": platform.python_version()}
        found["hosts"] = "network namespaces" if on[0] else "processes"
        if "side_by_side" in parts:
            with Machines(folder, address, on[: os.cpu_count()]) as two:
                found["side_by_side"] = side_by_side(part, folder, two, options.rounds)
        if "sleeping" in parts:
            found["sleeping"] = asleep(origin, part, folder)
        if "killed" in parts:
            with Machines(folder, address, on) as machines:
                found["killed"] = killed(origin, folder, machines, options.every)
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
