"""What becomes of a grading run when disk, files, clock or packages fail it, or it is killed.

Each fault must end with a sentence and an exit code, never a traceback, and the same command
without the fault must then give the marks that an undisturbed run gives.  A run is killed at random
moments, again and again; after each kill everything on disk must be whole.  Needs Linux and
`unshare`; and a C compiler for the clock, which no other program may notice.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clock import library, set_back
from pipeline import prepare

from autograder.course.config import Course
from autograder.delivery.nbgrader.marks import scores

A = "a02_attention_by_hand"
GRADE = [str(Path(sys.executable).with_name("autograder")), "grade", A, "--jobs", "2"]
Marks = dict[str, Any]


def marks(root: Path) -> Marks:
    return {student: mark.cells for student, mark in scores(Course.load(root), A).items()}


def run(root: Path, command: list[str] | None = None) -> tuple[int, str]:
    done = subprocess.run(
        command or GRADE, cwd=root, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout + done.stderr


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def is_whole(root: Path) -> bool:
    """Say whether all that is on disk can be read, and no mark is another than recorded."""
    for folder in ("autograded", "records"):
        for path in (root / folder).rglob("*"):
            if path.suffix in (".ipynb", ".json"):
                json.loads(path.read_bytes())
    if (root / "gradebook.db").exists():
        with sqlite3.connect(root / "gradebook.db") as database:
            if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return False
        database.close()
    records = list((root / "records").glob(f"*/{A}.json"))
    given = scores(Course.load(root), A) if records else {}
    return all(given[p.parent.name].score == json.loads(p.read_bytes())["score"] for p in records)


def killed(clean: Path, right: Marks, folder: Path, kills: int, seconds: float) -> dict[str, Any]:
    """Kill so many runs at random moments; whenever one gets to its end, begin anew."""
    rng = random.Random(0)
    root, done, finished, outlived = folder / "killed", 0, 0, 0
    shutil.copytree(clean, root)
    while done < kills:
        progress(f"kill {done + 1} of {kills}")
        process = subprocess.Popen(
            GRADE, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(rng.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            below = _below(process.pid)
            process.kill()
            process.wait()
            done += 1
            deadline = time.monotonic() + 10
            while (left := [pid for pid in below if _alive(pid)]) and time.monotonic() < deadline:
                time.sleep(0.02)
            outlived += len(left)
        if not is_whole(root):
            raise SystemExit(f"{root} is not whole after a kill")
        if process.returncode == 0:
            finished += 1
            if marks(root) != right:
                raise SystemExit(f"other marks after kills than without: {root}")
            shutil.rmtree(root)
            shutil.copytree(clean, root)
    code, said = run(root)
    if code or marks(root) != right:
        raise SystemExit(f"the last run did not give the right marks: {said}")
    shutil.rmtree(root)
    return {
        "killed": kills,
        "came_to_their_end_before": finished,
        "processes_that_outlived_their_grader": outlived,
        "times_something_was_not_whole": 0,
        "times_marks_were_others": 0,
    }


def _below(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(path.parent.name))
    found, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Let another program write to the gradebook all the time."""
    config = root / "course_config.py"
    before = config.read_text()
    url = f"sqlite:///{root / 'gradebook.db'}?timeout=0.2"
    config.write_text(f"{before}\nc.CourseDirectory.db_url = {url!r}\n")
    holder = sqlite3.connect(root / "gradebook.db")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        holder.close()
        config.write_text(before)


@contextmanager
def cut(name: str, root: Path) -> Iterator[None]:
    """Cut files of a graded class in half, and let it be graded again."""
    for path in root.glob(name):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    yield


@contextmanager
def read_only(name: str, root: Path) -> Iterator[None]:
    """Let nobody write a folder or file, root neither."""
    path = str(root / name)
    inside = f"mount --bind {path!r} {path!r} && mount -o remount,ro,bind {path!r}"
    # The folder that the command was started in would be the one below the mount.
    yield _in_a_namespace(f"{inside} && cd {str(root)!r}")  # type: ignore[misc]


def _in_a_namespace(mounts: str) -> list[str]:
    private = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "-r", "--mount"]
    return [*private, "sh", "-c", f'{mounts} && exec "$@"', "sh"]


@contextmanager
def clock_set_back(root: Path) -> Iterator[None]:
    """Set the clock back by a day after two seconds."""
    path = library(root.parent)
    if path is None:
        raise SystemExit("no C compiler (cc) is there to set a clock back with")
    shutil.rmtree(root / "records")  # so that there is something to do
    yield set_back(path, 2)  # type: ignore[misc]


@contextmanager
def from_tomorrow(root: Path) -> Iterator[None]:
    """Have a class that was graded a day ahead of now, and a new submission of today."""
    tomorrow = time.time() + 86400
    for path in root.rglob("*"):
        os.utime(path, (tomorrow, tomorrow), follow_symlinks=False)
    notebook = next(root.glob("submitted/student_002/*/*.ipynb"))
    notebook.write_bytes(notebook.read_bytes() + b"\n")
    yield


@contextmanager
def lacking_a_package(root: Path) -> Iterator[None]:
    """Let a reference need a package, which is there afterwards."""
    reference = next(path for path in sorted((root / "reference" / A).glob("*.py")))
    place = root / "packages"
    needs = f"import sys\nsys.path.append({str(place)!r})\nimport not_there_yet\n"
    reference.write_text(reference.read_text() + needs)
    yield
    place.mkdir()
    (place / "not_there_yet.py").write_text("")


def full_disk(clean: Path, right: Marks, folder: Path, sizes: int) -> dict[str, Any]:
    """Grade on disks of several sizes: each is full at another moment; then make room."""
    place = folder / "disk"
    place.mkdir()
    used = sum(p.stat().st_blocks for p in clean.rglob("*")) // 2 + 200  # KiB
    ends: dict[str, int] = {}
    for i in range(sizes):
        progress(f"full disk {i + 1} of {sizes}")
        room = used + 40 * (i + 1)
        script = (
            f"mount -t tmpfs -o size={room}k none {place}\ncp -a {clean}/. {place} && cd {place}\n"
            f'"$@"; echo "exit code $?"\nmount -o remount,size=1g {place}; "$@"\n'
            f"cp -a {place} {folder / 'after'}"
        )
        _, said = run(folder, [*_in_a_namespace("true")[:-2], script, "sh", *GRADE])
        first = said.partition("exit code ")
        if "Traceback" in said or marks(folder / "after") != right:
            raise SystemExit(f"a full disk ({room} KiB): {said}")
        ends[first[2][:1]] = ends.get(first[2][:1], 0) + 1
        shutil.rmtree(folder / "after")
    return {"disks": sizes, "ended_with_a_sentence": ends.get("1", 0), "had_room": ends.get("0", 0)}


FAULTS: dict[str, tuple[bool, Callable[[Path], Any]]] = {
    "gradebook locked": (True, locked),
    "gradebook read-only": (True, lambda root: read_only("gradebook.db", root)),
    "whole course read-only": (True, lambda root: read_only(".", root)),
    "records read-only": (True, lambda root: read_only("records", root)),
    "autograded read-only": (True, lambda root: read_only("autograded", root)),
    "records half written": (False, lambda root: cut("records/*/*.json", root)),
    "autograded half written": (False, lambda root: cut("autograded/*/*/*.ipynb", root)),
    "gradebook half written": (True, lambda root: cut("gradebook.db", root)),
    "clock set back while grading": (False, clock_set_back),
    "graded by a clock that was a day ahead": (False, from_tomorrow),
    "a package is missing": (True, lacking_a_package),
    "a submission half written": (False, lambda root: cut("submitted/student_001/*/*.ipynb", root)),
}

#: The course needs its backup then.
LASTING = ("gradebook half written", "a submission half written")


def faults(
    names: list[str], clean: Path, graded: Path, right: Marks, folder: Path
) -> dict[str, Any]:
    """Let a run meet each fault, and one without it come to the right marks."""
    found = {}
    for name in names:
        progress(name)
        fails, fault = FAULTS[name]
        root = Path(shutil.copytree(clean if fails else graded, folder / "faulty"))
        for made in ("records", "autograded"):
            (root / made).mkdir(exist_ok=True)
        with fault(root) as inside:
            code, said = run(root, [*(inside or []), *GRADE])
        if "Traceback" in said or bool(code) != fails:
            raise SystemExit(f"{name}: exit code {code}\n{said}")
        found[name] = {"exit_code": code, "said": said.replace(str(root), "COURSE").strip()}
        if name not in LASTING and (run(root)[0] or marks(root) != right):
            raise SystemExit(f"{name}: other marks afterwards")
        shutil.rmtree(root)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--disks", type=int, default=12)
    parser.add_argument("--only", choices=("faults", "full_disk", "kills"), help="one of the three")
    parser.add_argument("--fault", action="append", choices=[*FAULTS], help="of the faults, these")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean = prepare([A], 6, folder / "clean")
        graded = Path(shutil.copytree(clean, folder / "graded"))
        began = time.monotonic()
        run(graded)
        seconds = time.monotonic() - began
        right = marks(graded)
        found = json.loads(options.out.read_text()) if options.only and options.out else {}
        found |= {
            "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
            "submissions": len(right),
        }
        if options.only in (None, "faults"):
            names = options.fault or [*FAULTS]
            found["faults"] = found.get("faults", {}) if options.fault else {}
            found["faults"] |= faults(names, clean, graded, right, folder)
        if options.only in (None, "full_disk"):
            found["full_disk"] = full_disk(clean, right, folder, options.disks)
        if options.only in (None, "kills"):
            found["kills"] = killed(clean, right, folder, options.kills, seconds)
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
