"""The engine as Gradescope's autograder, in a root that holds little more than Python."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.secret import FILE as SECRET
from autograder.course.typed_json import decoded
from autograder.delivery.gradescope import PackedSettings, inside, package

from ..courses import EARNED
from ..courses import MOTION as A

USER = {"email": "Ada@example.org", "id": 1234, "name": "Ada Lovelace"}
LOOKS = """
import os
readable = []
for place in {places!r}:
    try:
        readable += os.listdir(place) if os.path.isdir(place) else [open(place).read()]
    except OSError:
        pass
if readable:
    globals().clear()
"""


@pytest.fixture(scope="module")
def packed(shared_course, tmp_path_factory):
    """Return the course, a right notebook of student_001, who is Ada, and the zip unpacked."""
    (shared_course.root / "students.csv").write_text(
        "id,name,email\nstudent_001,Ada Lovelace,ada@example.org\n"
    )
    helpers = shared_course.root / "reference" / "helpers.py"
    helpers.write_text('"""What references share."""\n')
    simulate(shared_course, A, 1)
    root = tmp_path_factory.mktemp("gradescope") / "autograder"
    path = root.parent / "a.zip"
    package.pack(Course.load(shared_course.root), A, path, visibility="visible", trust=False)
    for name in ("submission", "results", "venv"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(path) as file:
        file.extractall(root / "source")
    for script in ("setup.sh", "run_autograder"):
        (root / "source" / script).chmod(0o755)
    notebook = json.loads(shared_course.submission("student_001", A).read_text())
    return root, notebook, path


def handed_in(root, notebook, users=(USER,), name=f"{A}.ipynb"):
    shutil.rmtree(root / "submission")
    (root / "submission").mkdir()
    (root / "submission" / name).write_text(json.dumps(notebook))
    (root / "submission_metadata.json").write_text(json.dumps({"users": list(users)}))


def in_a_bare_root(root):
    """Run it as root without rights over the machine, as a container does, and give the results."""
    base = sys.base_prefix
    command = ["bwrap", "--die-with-parent", "--unshare-net", "--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "bin"):
        command += ["--symlink", f"usr/{name}", f"/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for folder in reversed(Path(base).parents[:-1]):  # anybody may enter, wherever it comes from
        command += ["--perms", "0755", "--dir", str(folder)]
    command += ["--tmpfs", "/tmp", "--ro-bind", base, base, "--bind", str(root), "/autograder"]
    command += ["--ro-bind", "/dev/null", "/usr/bin/bwrap"]  # last: Python may lie in /usr, too
    command += ["--ro-bind", sys.prefix, "/autograder/venv", "--clearenv"]
    command += ["--setenv", "PATH", "/usr/bin:/bin", "--chdir", "/"]
    rights = ["--cap-drop", "CAP_SYS_ADMIN"] if os.getuid() == 0 else ["--unshare-user"]
    done = subprocess.run(
        [*command, *rights, "/autograder/source/run_autograder"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((root / "results" / "results.json").read_text())


def looking(notebook, *places):
    """Return the notebook with a cell's answer that looks around, and undoes itself if it can."""
    copy = json.loads(json.dumps(notebook))
    cell = next(c for c in copy["cells"] if c["id"] == "fall")
    cell["source"] = "".join(cell["source"]) + LOOKS.format(places=places)
    return copy


@pytest.mark.sandbox
@pytest.mark.skipif(not shutil.which("bwrap"), reason="not installed: bubblewrap")
def test_in_a_bare_root_a_submission_is_graded_and_sees_no_reference(packed):
    root, notebook, _ = packed
    closed = ("source/course/reference", f"source/course/reference/{A}", "source/course")
    closed += ("source/settings.json", "submission_metadata.json", "submission", "results")
    handed_in(root, looking(notebook, *(f"/autograder/{place}" for place in closed)))
    results = in_a_bare_root(root)
    assert results["extra_data"] == {"student": "student_001", "isolation": "B"}
    assert results["score"] == EARNED
    by_hand = [test["name"] for test in results["tests"] if "score" not in test]
    assert all(name.endswith("marked by hand") for name in by_hand)
    assert sum(test.get("score", 0) for test in results["tests"]) == EARNED
    first = results["tests"][0]
    assert (first["status"], first["output_format"]) == ("passed", "html")
    assert first["visibility"] == "visible"
    assert "<b>✓ passed</b>" in first["output"]
    # a control: what can be read costs the points
    handed_in(root, looking(notebook, "/usr/lib"))
    assert in_a_bare_root(root)["score"] < EARNED


@pytest.mark.sandbox
def test_who_is_not_on_the_class_list_gets_no_score_instead_of_a_wrong_one(packed, tmp_path):
    root, notebook, _ = packed
    handed_in(root, notebook, [{"email": "eve@example.org", "id": 5, "name": "Eve"}])
    course = Course.load(root / "source" / "course")
    settings = decoded((root / "source" / "settings.json").read_bytes(), PackedSettings)
    with pytest.raises(CourseError, match=r"eve@example.org handed this in and is not on"):
        inside.graded(course, root, settings)
    handed_in(root, {"cells": []}, name="other.ipynb")
    assert "no notebook of m01" in inside.graded(course, root, settings)["output"]


@pytest.mark.sandbox
def test_what_the_grader_withholds_has_no_score_there(packed, tmp_path):
    root, notebook, _ = packed
    copy = shutil.copytree(root / "source" / "course", tmp_path / "course")
    module = copy / "reference" / A / "fall.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('typo')\n")
    handed_in(root, notebook)
    settings = PackedSettings(A, "hidden", trust_students=False)
    results = inside.graded(Course.load(copy), root, settings)
    (withheld,) = (test for test in results["tests"] if test["name"].endswith(": withheld"))
    assert "score" not in withheld
    assert "You lose nothing by it." in results["output"]
    assert 0 < results["score"] < EARNED


def test_the_zip_is_the_same_every_time_and_holds_this_assignment_alone(
    packed, shared_course, tmp_path
):
    path = tmp_path / "again.zip"
    package.pack(Course.load(shared_course.root), A, path, visibility="visible", trust=False)
    assert path.read_bytes() == packed[2].read_bytes()
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        executable = [i.filename for i in file.infolist() if i.external_attr >> 16 == 0o755]
    assert executable == ["setup.sh", "run_autograder"]
    references = {n.split("/")[2] for n in names if n.startswith("course/reference/")}
    assert references == {A, "helpers.py"}
    course = {name.split("/")[1] for name in names if name.startswith("course/")}
    assert course == {"course_config.py", SECRET, "students.csv", "reference", "release"}


@pytest.mark.sandbox
def test_the_packages_that_are_installed_there_suffice(packed):
    root, notebook, _ = packed
    handed_in(root, notebook)
    allowed = {Requirement(pin).name for pin in package.pins(list(package.NEEDED))}
    known = metadata.packages_distributions()
    others = {m for m, of in known.items() if not {canonicalize_name(d) for d in of} & allowed}
    assert {"nbgrader", "torch"} <= others
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(others - {"autograder"})!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from pathlib import Path
from autograder.delivery.gradescope import inside
inside.main(Path({str(root)!r}))
"""
    here = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=here)
    assert json.loads((root / "results" / "results.json").read_text())["score"] == EARNED


@pytest.mark.parametrize(
    ("line", "to", "visibility", "reason"),
    [
        ("", "a.tar", "visible", "is a .zip file, and"),
        ("", "a.zip", "later", "it is one of visible, after_due_date"),
        ('c.Course.minimum_tier = "A"', "a.zip", "visible", "a container gives tier B at most"),
    ],
)
def test_what_can_not_be_packed_is_said(tiny, configure, tmp_path, line, to, visibility, reason):
    course = configure(tiny.root, line)
    with pytest.raises(CourseError, match=reason):
        package.pack(course, "a01_tiny", tmp_path / to, visibility=visibility, trust=False)
