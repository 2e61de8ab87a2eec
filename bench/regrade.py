"""What a second grading of the capstone costs, after another exercise has changed.

    python bench/regrade.py [--out bench/results/regrade.json]

One right submission is graded; then a letter in it is changed, which no training depends on; then
the training itself. Seconds are those of the students' processes, and of the clock on the wall.
"""

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path

from autograder.course.classes.simulate import simulate
from autograder.course.submissions.grading_options import GradingOptions
from autograder.delivery.department.demo import copy_course
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.releasing import generate

ID = "a12_capstone"
CHANGES = {
    "graded for the first time": {},
    "another answer changed": {"no_gradient = 'B'": "no_gradient = 'C'"},
    "the training changed": {"steps=200": "steps=201"},
}


def changed(path, replacements):
    """Change the text of a notebook's cells."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        for old, new in replacements.items():
            source = source.replace(old, new)
        cell["source"] = source
    path.write_text(json.dumps(notebook))


def main():
    """Grade three times, and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {"python": platform.python_version(), "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as folder:
        course = copy_course(Path(__file__).parents[1], Path(folder) / "course")
        generate(course, [ID])
        simulate(course, ID, 1)
        path = course.submission("student_001", ID)
        for name, replacements in CHANGES.items():
            before = path.read_bytes()
            changed(path, replacements)
            assert not replacements or path.read_bytes() != before, name
            (grade,) = grade_and_save(course, [ID], GradingOptions(jobs=1)).grades
            runtime = grade.runtime
            found[name] = {
                "cpu_seconds": round(runtime["cpu_seconds"], 2),
                "seconds": round(runtime["seconds"], 2),
                "score": grade.score,
            }
            print(f"{name}: {found[name]}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
