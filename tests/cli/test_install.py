"""`make` installs the torch that is built for processors, unless somebody has said otherwise."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIP = """#!/bin/sh
if [ "$1" = config ]; then echo "$SETTINGS"; else echo "$PIP_EXTRA_INDEX_URL $*" >>"$0.log"; fi
"""
EVERYTHING = "install --quiet -c constraints.txt -e .[test]"

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="not installed: make")


def installed(folder, settings, *given):
    """What pip is asked for, with the index that it is given."""
    pip = folder / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text(PIP)
    pip.chmod(0o755)
    (folder / "engine").touch()
    usual = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "MAKE"))}
    subprocess.run(
        ["make", "--silent", f"VENV={folder}", *given, f"{folder}/ready"],
        cwd=ROOT,
        env={**usual, "SETTINGS": settings},
        check=True,
    )
    return [line.split(maxsplit=1) for line in Path(f"{pip}.log").read_text().splitlines()]


def test_torch_comes_first_and_from_where_it_is_built_for_processors(tmp_path):
    (index, torch), everything = installed(tmp_path, "global.timeout='9'")
    assert index.endswith("/cpu")
    assert torch == "install --quiet -c constraints.txt torch"
    assert " ".join(everything) == EVERYTHING


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ("global.index-url='https://pypi.example'", []),
        (":env:.find-links='/wheels'", []),
        ("", ["TORCH_INDEX="]),
    ],
    ids=["an index of one's own", "a folder of one's own", "none wanted"],
)
def test_it_comes_with_the_rest_where_somebody_says_so(tmp_path, settings, given):
    assert [" ".join(each) for each in installed(tmp_path, settings, *given)] == [EVERYTHING]
