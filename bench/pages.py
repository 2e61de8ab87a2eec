"""How long the feedback page of a mixed student is, in pixels, at a width of 800.

A class of 24 is simulated and graded; the student is the eighth, most of whose exercises are partly
right. ``--engine FOLDER`` takes another clone's engine and course, such as an older version's.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import Tab, browsing  # noqa: E402

COMMAND = [sys.executable, "-c", "from autograder.cli import main; main()"]
COURSE = ["assignments", "reference", "release", "course_config.py", "nbgrader_config.py"]
WIDTH = 800


def main() -> None:
    """Measure the page of each assignment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", type=Path, default=ROOT)
    parser.add_argument("--assignments", nargs="+", default=["a02", "a03"])
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    result: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as scratch:
        course, profile = Path(scratch, "course"), Path(scratch, "profile")
        for folder in (course, profile):
            folder.mkdir()
        for name in COURSE:
            copy = shutil.copytree if (options.engine / name).is_dir() else shutil.copy
            copy(options.engine / name, course / name)
        (course / "grading_secret.txt").write_text("pages")  # the same numbers each time
        for id in options.assignments:
            simulated = ["simulate", id, "--students", "24"]
            for words in (["generate", id], simulated, ["grade", id], ["feedback", id]):
                autograder(options.engine, course, *words)
        with browsing(profile) as tab:
            for id in options.assignments:
                [page] = course.glob(f"feedback/student_008/{id}*/*.html")
                result[id] = height(tab, page)
                print(f"{id}: {result[id]} px", flush=True)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


def autograder(engine: Path, course: Path, *words: str) -> None:
    """Run a command of that engine in the course."""
    environment = {**os.environ, "PYTHONPATH": str(engine)}
    quiet = subprocess.DEVNULL
    subprocess.run([*COMMAND, *words], cwd=course, env=environment, check=True, stdout=quiet)


def height(tab: Tab, page: Path) -> int:
    """Return how many pixels long a page is."""
    tab.resize(WIDTH, 900)
    tab.open(page.as_uri())
    tab.wait(f"document.readyState == 'complete' && location.href == '{page.as_uri()}'")
    return int(tab.ask("document.documentElement.scrollHeight"))


if __name__ == "__main__":
    main()
