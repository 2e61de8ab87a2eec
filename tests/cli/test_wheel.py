"""What is installed from a wheel works without this repository."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = {"docs/own_course.md", "LICENSE", "pyproject.toml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel, from a copy: a build leaves files behind."""
    source = tmp_path_factory.mktemp("source")
    for name in KEPT:
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    for path in (ROOT / "autograder").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            copy = source / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", source / "dist", source], check=True)
    (built,) = (source / "dist").glob("*.whl")
    return built


def test_it_holds_every_file_of_the_engine_and_nothing_of_the_course(wheel):
    held = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    paths = (ROOT / "autograder").rglob("*")
    files = {p.relative_to(ROOT).as_posix() for p in paths if p.is_file()}
    assert held == {name for name in files if "__pycache__" not in name}


def test_it_is_called_as_the_docs_say(wheel):
    assert f" {wheel.name}\n" in (ROOT / "docs/own_course.md").read_text("utf-8")


def test_a_course_is_begun_and_proved_with_it(wheel, tmp_path):
    place = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(place)
    environment = os.environ | {"PYTHONPATH": str(place)}

    def run(*arguments):
        start = "from autograder import cli; assert cli.__file__.startswith(%r); cli.main()"
        done = subprocess.run(
            [sys.executable, "-c", start % str(place), *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version").split() == ["autograder", wheel.name.split("-")[1]]
    run("init", "mine")
    assert "proved" in run("verify", "--course", "mine")
    run("generate", "--course", "mine")
    assert (tmp_path / "mine/release/a01_first/check.py").is_file()
