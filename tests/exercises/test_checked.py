"""What `check` and `practice` say in JupyterLab: typeset, and accessible to everybody."""

import subprocess
import sys

import pytest

from ..accessibility import COLOURS, violations
from ..chromium import browsing
from ..loaded import ROOT

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
from checked import TYPESET, jupyterlab, notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OUTPUTS = "{include: [['.jp-OutputArea-output']]}"
MARKS = (
    "[...document.querySelectorAll('.jp-OutputArea-output li')]"
    ".map(one => one.innerText.split(' ').slice(0, 2).join(' '))"
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_check_is_a_page_with_formulas_signs_and_words(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    path = notebook(tmp_path / "a01_softmax")
    subprocess.run([sys.executable, "-m", "jupyter", "trust", path], check=True)
    with browsing(tmp_path / "profile") as tab, jupyterlab(path.parent) as address:
        tab.open(f"{address}/doc/tree/{path.name}")
        tab.wait(TYPESET)
        for mark in ("→ read", "✗ form", "– blank", "✓ right", "✗ wrong"):
            tab.wait(f"{MARKS}.includes({mark!r})")  # a busy machine shows cell after cell
        for scheme in ("light", "dark"):
            tab.prefer(scheme)
            assert not violations(tab, rules=COLOURS, where=OUTPUTS)
