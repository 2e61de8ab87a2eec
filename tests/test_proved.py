"""What has passed is left out until something changes that it depends on, and nothing else is."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
OWN = ("proved.py", "dependencies.py", "postgres.py")
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
    '[[tool.importlinter.contracts]]\nlayers = ["delivery", "exercise", "algebra"]\n',
    "constraints.txt": "",
    "autograder/__init__.py": "",
    "autograder/delivery/pages/rendering.py": "",
    "autograder/exercise/parts.py": "",
    "autograder/algebra/sums.py": "",
    "docs/words.md": "yes\n",
    "tests/conftest.py": "import pytest\nfrom .proved import Proved\n"
    "def pytest_addoption(parser):\n    parser.addoption('--changed', action='store_true')\n"
    "from .pages import shown\n"
    "def pytest_configure(config):\n    config.pluginmanager.register(Proved(config))\n"
    "@pytest.fixture\ndef page():\n    return shown('autograder.delivery')\n",
    "tests/pages.py": "from .sub.more import *\ndef shown(page):\n    return page\n",
    "tests/sub/more.py": "",
    "tests/algebra/helpers.py": "from ..numbers import TWO\n",
    "tests/numbers.py": "TWO = 2\n",
    "tests/algebra/test_sums.py": "# autograder.algebra\nfrom .helpers import TWO\n"
    "def test_adds():\n    assert 1 + 1 == TWO\n",
    "tests/kinds/test_parts.py": "# autograder.exercise\ndef test_counts():\n    pass\n",
    "tests/kinds/test_pages.py": "def test_shows(page):\n    pass\n",
    "tests/kinds/test_words.py": "from pathlib import Path\n"
    'def test_says():\n    assert (Path(__file__).parents[2] / "docs/words.md").read_text()\n',
    "tests/course/test_files.py": "def test_writes():\n    pass\n",
    "tests/hostile/test_tricks.py": "import pytest\n"
    "@pytest.mark.xdist_group('tricks')\ndef test_holds():\n    pass\n",
}
STRICT = FILES["pyproject.toml"].replace("]\n", "]\nxfail_strict = true\n", 1)
ROOM = "tests/algebra/test_sums.py"
EVERYTHING = {"adds", "counts", "shows", "says", "writes", "holds"}
ALL, ANOTHER = {"AUTOGRADER_PROVE_ALL": "1"}, {"LC_ALL": "de_DE.UTF-8"}


def written(root, changes):
    for name, text in changes.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run(root, *options, **environment):
    """Run the tests as `make test` does; return what is printed."""
    left_out = ("AUTOGRADER", "PYTEST", "LC_", "LANG")
    usual = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
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


def fresh(root):
    """Forget what has passed here, as a fresh clone does; what is committed stays."""
    shutil.rmtree(root / ".pytest_cache")
    return root


@pytest.fixture(scope="module")
def passed(tmp_path_factory):
    """A small project whose tests have all passed, in another process."""
    root = written(tmp_path_factory.mktemp("project"), FILES)
    for name in OWN:
        shutil.copy(HERE / name, root / "tests" / name)
    said = run(root, "-pxdist", "-n1", "--dist=loadgroup")
    assert f"{len(EVERYTHING)} passed" in said
    # By that name tests go to one process; pytest 9.2 drops it where pytest-xdist is not of later.
    assert "::test_holds@tricks" in said
    return root


@pytest.fixture
def project(tmp_path, passed):
    # A compiled file names the place that it was compiled at.
    left_out = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(passed, tmp_path / "project", ignore=left_out)


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ({}, {"holds"}),
        ({"tests/algebra/helpers.py": "TWO = 2\n"}, {"holds", "adds"}),
        ({"autograder/algebra/sums.py": "x = 1\n"}, EVERYTHING),
        ({"autograder/__init__.py": "x = 1\n"}, EVERYTHING),
        ({"autograder/delivery/pages/rendering.py": "x = 1\n"}, {"holds", "shows"}),
        ({"docs/words.md": "no\n"}, {"holds", "says"}),
        ({"tests/sub/more.py": "x = 1\n"}, {"holds", "shows"}),
        ({"tests/course/conftest.py": ""}, {"holds", "writes"}),
        ({"tests/numbers.py": "TWO = 1 + 1\n"}, EVERYTHING),
        ({"constraints.txt": "pytest==9\n"}, EVERYTHING),
        ({"pyproject.toml": STRICT}, EVERYTHING),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_what_may_have_changed_runs_again(project, changed, again):
    assert ran(written(project, changed)) == again


def test_what_has_failed_runs_again_with_all_of_its_group(project):
    wrong = FILES[ROOM] + "def test_fails():\n    assert 1 + 1 == 3\n"
    written(project, {ROOM: wrong})
    assert ran(project) == ran(project) == {"adds", "fails", "holds"}


def test_on_another_kind_of_machine_runs_what_depends_on_it(project):
    assert ran(project, **ANOTHER) == {"writes", "holds"}
    assert ran(project, **ANOTHER) == ran(project) == {"holds"}  # both are remembered


def test_a_whole_run_writes_the_record_that_others_leave_out_by(project):
    record = project / "tests" / "proved.json"
    ran(project, "-k", "adds", **ALL)
    assert not record.exists()
    assert ran(project, **ALL) == EVERYTHING
    assert sum(map(len, json.loads(record.read_text()).values())) == len(EVERYTHING) - 1
    assert ran(fresh(project)) == {"holds"}


def test_another_machine_is_added_to_the_record_and_kept_while_its_keys_hold(project):
    ran(project, **ALL)
    assert ran(fresh(project), AUTOGRADER_PROVE_HERE="1", **ANOTHER) == {"writes", "holds"}
    ran(project, **ALL)
    assert ran(fresh(project), **ANOTHER) == ran(fresh(project)) == {"holds"}
    written(project, {"tests/course/test_files.py": "def test_reads():\n    pass\n"})
    ran(project, **ALL)
    assert ran(fresh(project)) == {"holds"}
    assert ran(fresh(project), **ANOTHER) == {"reads", "holds"}
    assert len(json.loads((project / "tests" / "proved.json").read_text())) == 2


def test_what_has_read_more_than_its_key_knows_is_named_and_not_remembered(project):
    """The same file, by a name that is no part of the test's text."""
    sly = FILES["tests/kinds/test_words.py"].replace('"docs/words.md"', '"do" "cs" / "words.md"')
    written(project, {"tests/kinds/test_words.py": sly})
    said = run(project, **ALL)
    assert "kinds/test_words.py is not remembered" in said
    assert "does not know: docs/words.md (tests/dependencies.py)" in said
    assert ran(fresh(project)) == {"says", "holds"}


def test_what_is_hashed_alone_decides_nothing(project):
    sly = FILES["tests/kinds/test_words.py"].replace('"docs/words.md"', '"do" "cs" / "words.md"')
    hashed = sly.replace("(Path(__file__)", "hash_file(Path(__file__)").replace(".read_text()", "")
    key = f"from autograder.course.digests import hash_file\n{hashed}"
    written(project, {"tests/kinds/test_words.py": key})
    assert "is not remembered" not in run(project, **ALL)
    assert ran(fresh(project)) == {"holds"}
