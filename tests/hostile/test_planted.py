"""No file of a student's is executed or imported outside the locked-down process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.delivery.department.releasing import generate

from ..courses import one_assignment

pytestmark = [pytest.mark.slow]

A = "a99_planted"
TEXT = '# %% exercise="six"\nn = None\n'
REFERENCE = '''
"""A number."""

from autograder.exercise import Count, Exercise

exercise = Exercise("six", title="Six", source="none")


@exercise.part(points=1, answer=Count())
def n():
    """A number."""
    return 6
'''
#: What some program imports or runs when it meets it where it looks for its own.
NAMES = [
    "sitecustomize.py",
    "usercustomize.py",
    "conftest.py",
    "course_config.py",
    "nbgrader_config.py",
    "jupyter_config.py",
    "ipython_config.py",
    "__init__.py",
    "__main__.py",
    "autograder.py",
    "check.py",
    "nbgrader/__init__.py",
    "nbformat.py",
    "numpy.py",
    "json.py",
    "typing.py",
    "reference/a99_planted/six.py",
    ".ipython/profile_default/startup/00.py",
    ".ipython/profile_default/ipython_config.py",
    ".jupyter/jupyter_notebook_config.py",
    ".jupyter/nbgrader_config.py",
    ".local/lib/python3.11/site-packages/usercustomize.py",
]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A course, an upload of Eve's that is full of such files, and what they leave when run."""
    root = tmp_path_factory.mktemp("planted")
    marker = root / "executed"
    exchange = f"c.Exchange.root = {str(root / 'exchange')!r}"
    course = one_assignment(root / "course", A, TEXT, {"six": REFERENCE}, exchange)
    generate(course, [A])
    notebook = json.loads((course.folder("release") / A / f"{A}.ipynb").read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "six":
            cell["source"] = "n = 6"
    upload = root / "upload" / "eve"
    code = f"with open({str(marker)!r}, 'a') as file: file.write(__file__ + '\\n')\n"
    for name in NAMES:
        (upload / name).parent.mkdir(parents=True, exist_ok=True)
        (upload / name).write_text(code)
    (upload / "x.pth").write_text(f"import os; exec({code!r})\n")
    (upload / f"{A}.ipynb").write_text(json.dumps(notebook))
    return course.root, upload, marker


def run(folder, program, *arguments):
    command = [str(Path(sys.executable).with_name(program)), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_planted_file_would_be_run(planted):
    """The positive control: Python that looks for its modules beside the submission."""
    _, upload, marker = planted
    code = [sys.executable, "-c", "import nbformat, conftest"]
    subprocess.run(code, cwd=upload, check=True)
    assert len(marker.read_text().splitlines()) == 2
    marker.unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="the exchange is nbgrader's, for Linux")
def test_none_is_run(planted):
    course, upload, marker = planted
    inbound = upload.parents[1] / "exchange" / "own" / "inbound"
    inbound.mkdir(parents=True)
    os.chmod(inbound, 0o733)  # noqa: PTH101 -- what nbgrader asks of it
    sent = inbound / f"eve+{A}+2026-05-04 10:00:00.000000 UTC"
    shutil.copytree(upload, sent)
    (sent / "timestamp.txt").write_text("2026-05-04 10:00:00.000000 UTC")
    (sent / "submission_secret.txt").write_text("s")
    steps = [
        (course, "autograder", "collect", A, "--from", upload.parent),
        (course, "autograder", "collect", A, "--from", "exchange"),
        (course, "autograder", "grade", A),
        (upload, "autograder", "grade-file", f"{A}.ipynb", "--course", course, "--json"),
        (course, "nbgrader", "autograde", A, "--force"),
        (course, "nbgrader", "generate_feedback", A, "--force"),
        (course, "autograder", "feedback", A),
        (course, "autograder", "report", A),
    ]
    for folder, program, *arguments in steps:
        done = run(folder, program, *arguments)
        assert done.returncode == 0, (program, arguments, done.stdout + done.stderr)
        assert not marker.exists(), (program, arguments, marker.read_text())
    folder = course / "submitted" / "eve" / A
    shutil.copytree(upload, folder, dirs_exist_ok=True)
    done = run(folder, "autograder", "grade-file", f"{A}.ipynb")
    assert done.returncode == 1
    assert "came with a submission" in done.stderr
    assert not marker.exists()
    record = json.loads((course / "records" / "eve" / f"{A}.json").read_text())
    assert record["score"] == 1
