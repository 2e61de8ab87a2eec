"""What has passed is left out until something changes that it depends on, and nothing else is."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROVED = Path(__file__).with_name("proved.py")
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
    '[[tool.importlinter.contracts]]\nlayers = ["delivery", "exercise", "algebra"]\n',
    "constraints.txt": "",
    "autograder/delivery/pages.py": "",
    "autograder/exercise/parts.py": "",
    "autograder/algebra/sums.py": "",
    "tests/conftest.py": "import pytest\nfrom .proved import Proved\n"
    "def pytest_addoption(parser):\n    parser.addoption('--changed', action='store_true')\n"
    "def pytest_configure(config):\n    config.pluginmanager.register(Proved(config))\n"
    "@pytest.fixture\ndef page():\n    import autograder.delivery\n",
    "tests/algebra/helpers.py": "from ..numbers import TWO\n",
    "tests/numbers.py": "TWO = 2\n",
    "tests/algebra/test_sums.py": "import autograder.algebra\nfrom .helpers import TWO\n"
    "def test_adds():\n    assert 1 + 1 == TWO\n",
    "tests/kinds/test_parts.py": "import autograder.exercise\ndef test_counts():\n    pass\n",
    "tests/kinds/test_pages.py": "def test_shows(page):\n    pass\n",
    "tests/hostile/test_tricks.py": "import pytest\n"
    "@pytest.mark.xdist_group('tricks')\ndef test_holds():\n    pass\n",
}
ROOM = "tests/algebra/test_sums.py"


EVERYTHING = {"adds", "counts", "shows", "holds"}


def written(root, changes):
    for name, text in changes.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run(root, *options, **environment):
    """Run the tests as `make test` does; return what is printed."""
    usual = {k: v for k, v in os.environ.items() if not k.startswith(("AUTOGRADER", "PYTEST"))}
    command = [sys.executable, "-P", "-m", "pytest", "-v", "--import-mode=importlib", "--changed"]
    done = subprocess.run(
        [*command, *options],
        cwd=root,
        env={**usual, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def ran(root, *options, **environment):
    """Run the tests; return the names of those that ran."""
    return set(re.findall(r"::test_(\w+) ", run(root, *options, **environment)))


@pytest.fixture(scope="module")
def passed(tmp_path_factory):
    """A small project whose tests have all passed, in another process."""
    root = written(tmp_path_factory.mktemp("project"), FILES)
    (root / "tests" / "proved.py").write_text(PROVED.read_text("utf-8"))
    said = run(root, "-pxdist", "-n1", "--dist=loadgroup")
    assert "4 passed" in said
    # By that name tests go to one process; pytest 9.2 drops it where pytest-xdist is not of later.
    assert "::test_holds@tricks" in said
    return root


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ({}, {"holds"}),
        ({"tests/algebra/helpers.py": "TWO = 2\n"}, {"holds", "adds"}),
        ({"autograder/algebra/sums.py": "x = 1\n"}, EVERYTHING),
        ({"autograder/delivery/pages.py": "x = 1\n"}, {"holds", "shows"}),
    ],
    ids=["nothing", "a helper", "a layer below", "a layer above all but one"],
)
def test_what_may_have_changed_runs_again(tmp_path, passed, changed, again):
    project = shutil.copytree(passed, tmp_path / "project")
    assert ran(written(project, changed)) == again


def test_what_has_failed_runs_again_with_all_of_its_group(tmp_path, passed):
    wrong = FILES[ROOM] + "def test_fails():\n    assert 1 + 1 == 3\n"
    project = written(shutil.copytree(passed, tmp_path / "project"), {ROOM: wrong})
    assert ran(project) == ran(project) == {"adds", "fails", "holds"}


def test_a_whole_run_writes_the_record_that_others_leave_out_by(tmp_path, passed):
    project = shutil.copytree(passed, tmp_path / "project")
    record = project / "tests" / "proved.json"
    ran(project, "-k", "adds", AUTOGRADER_PROVE_ALL="1")
    assert not record.exists()
    assert ran(project, AUTOGRADER_PROVE_ALL="1") == EVERYTHING
    assert len(json.loads(record.read_text())) == 3
    shutil.rmtree(project / ".pytest_cache")  # as in a fresh clone
    assert ran(project) == {"holds"}
