"""Take the README's pictures anew: a feedback page and the report of a simulated class of 24.

    .venv/bin/python docs/pictures/make.py

It grades a02 in a copy of the course, marks its free text as a person would, and photographs the
pages in chromium; about a minute.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from itertools import cycle
from pathlib import Path

from PIL import Image

from autograder.course.secret import FILE as SECRET
from autograder.delivery.department.demo import copy_course

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import Tab, browsing  # noqa: E402

ASSIGNMENT = "a02_attention_by_hand"
SIZE = 1200, 1500
BAR = 15  # of scrolling, which a picture leaves empty
COLOURS = 64  # pages have few; this keeps the files small


def grade(folder: Path) -> None:
    """Grade a class in a copy of the course, its free text included, and write all pages."""
    copy_course(ROOT, folder)
    (folder / SECRET).write_text("pictures")  # the same pictures each time
    command = [sys.executable, "-c", "from autograder.cli import main; main()"]

    def autograder(*words: str) -> None:
        subprocess.run([*command, *words], cwd=folder, check=True)

    autograder("generate", "a02")
    autograder("simulate", "a02", "--students", "24")
    autograder("grade", "a02")
    autograder("essays", "a02", "--to", "essays.csv")
    mark(folder / "essays.csv")
    autograder("essays", "a02", "--from", "essays.csv")
    autograder("feedback", "a02")
    autograder("report", "a02")


def mark(sheet: Path) -> None:
    """Give each text some points."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, points in zip(rows, cycle(["3", "2", "1.5", "2.5"]), strict=False):
        row["points"] = points
    with sheet.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def photograph(tab: Tab, page: Path, name: str, zoom: float) -> None:
    """Save the top of a page."""
    tab.resize(SIZE[0] + BAR, SIZE[1])
    tab.open(page.as_uri())
    tab.wait(f"document.readyState == 'complete' && location.href == '{page.as_uri()}'")
    tab.ask(f"document.body.style.zoom = {zoom}")
    picture = HERE / f"{name}.png"
    tab.photograph(picture)
    with Image.open(picture) as taken:
        small = taken.convert("RGB").crop((0, 0, *SIZE)).quantize(COLOURS)
    small.save(picture, optimize=True)


def main() -> None:
    """Take both."""
    with tempfile.TemporaryDirectory() as scratch:
        course, profile = Path(scratch, "course"), Path(scratch, "profile")
        grade(course)
        profile.mkdir()
        with browsing(profile) as tab:
            feedback = course / "feedback" / "student_008" / ASSIGNMENT / f"{ASSIGNMENT}.html"
            photograph(tab, feedback, "feedback", 1.5)
            photograph(tab, course / "reports" / f"{ASSIGNMENT}.html", "report", 1)


if __name__ == "__main__":
    main()
