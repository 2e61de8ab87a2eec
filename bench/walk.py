"""A lecturer's way from a clone to a first notebook that is released, handed in and graded.

Every command is run as README and guides say it, in a fresh clone of what is committed and in a
new virtual environment, whose packages are downloaded anew. Between them somebody hands in: the
notebook of the release with the id ``ada``, a right function, and a proof with one wrong line.
Counted are commands, seconds, and the words of what has to be read; nobody's reading is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
HAND_IN = "Ada Lovelace_4711_assignsubmission_file/a01_softmax.ipynb"  # as Moodle names it
ANSWERS = {
    "softmax_stable": """\
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
    "jacobian_proof": """\
diag_steps = ["diff(p1, z1)", "(exp(z1)*Z - exp(z1)*exp(z1))/Z**2", "p1 - p1/Z", "p1*(1 - p1)"]
""",
}
BEFORE = [
    "git clone --quiet {root} course",
    "make demo",
    ". .venv/bin/activate",
    "autograder generate a01",
    "autograder release a01 --to a01.zip",
]
AFTER = [
    "autograder collect a01 --from hand_ins.zip",
    "autograder grade a01",
    "autograder feedback a01",
    "autograder report a01",
    "autograder export --to csv --output grades.csv",
]
#: Pages and their sections that say so.
READ = {
    "README.md": ["A piece of a lesson", "What feedback says", "Two commands", "Where to go on"],
    "docs/instructor.md": ["Release an assignment", "The class list", "After grading"],
    "docs/grader.md": ["Bring submissions in", "Grade"],
}


def main() -> None:
    """Walk, print each command with its seconds, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        course = Path(folder, "course")
        steps = [ran(command.format(root=ROOT), course) for command in BEFORE]
        (course / "students.csv").write_text("id,name\nada,Ada Lovelace\n")
        hand_in(course)
        steps += [ran(command, course) for command in AFTER]
        page = next((course / "feedback").glob("ada/*/*.html")).read_text()
        assert "is not equal to line 2" in page
        assert "ada,Ada Lovelace,a01_softmax" in (course / "grades.csv").read_text()
    total = round(sum(step["seconds"] for step in steps))
    words = sum(map(count, READ))
    print(f"{len(steps)} commands, {total} s; {words} words to be read")
    result = {"commands": len(steps), "seconds": total, "words": words, "cores": os.cpu_count()}
    if options.out:
        options.out.write_text(json.dumps(result | {"steps": steps}, indent=1) + "\n")


def ran(command: str, course: Path) -> dict[str, object]:
    """Run a command where a lecturer would, and return how long it took."""
    first = not course.exists()
    place = course.parent if first else course
    path = f"{course}/.venv/bin{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PIP_NO_CACHE_DIR": "1", "COLUMNS": "80"}
    environment.pop("VIRTUAL_ENV", None)
    began = time.monotonic()
    subprocess.run(command, shell=True, cwd=place, env=environment, check=True)
    seconds = round(time.monotonic() - began, 1)
    shown = command.replace(str(ROOT), "URL")
    print(f"{seconds:7.1f} s  {shown}", flush=True)
    return {"command": shown, "seconds": seconds}


def hand_in(course: Path) -> None:
    """Do what a student does with the release, and pack it as a platform would."""
    with zipfile.ZipFile(course / "a01.zip") as released:
        notebook = nbformat.reads(released.read("a01_softmax/a01_softmax.ipynb").decode(), 4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('student("")', 'student("ada")')
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = ANSWERS.get(name, cell.source)
    with zipfile.ZipFile(course / "hand_ins.zip", "w") as packed:
        packed.writestr(HAND_IN, nbformat.writes(notebook))


def count(page: str) -> int:
    """Count the words of the sections of a page that have to be read."""
    parts = re.split(r"^##+ ", (ROOT / page).read_text("utf-8"), flags=re.M)
    return sum(len(part.split()) for part in parts if part.partition("\n")[0] in READ[page])


if __name__ == "__main__":
    main()
