"""A picture with a slider in JupyterLab: by keys, and for a screen reader."""

import sys
import time

import nbformat
import pytest

from ..accessibility import COLOURS, violations
from ..chromium import browsing
from ..loaded import ROOT

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
from checked import jupyterlab

HANDLE = "document.querySelector('.jp-OutputArea [role=slider]')"
IDLE = "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status == 'idle'"
RUN = "document.querySelector('.jp-CodeCell .jp-InputPrompt').innerText.match(/[0-9*]/)"
NAMED = f"{HANDLE}.ariaLabel + ' ' + {HANDLE}.ariaValueText"
SAYS = "document.querySelector('.jp-OutputArea p[role=status]').innerText"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_keys_move_it_and_a_screen_reader_hears_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    path = ROOT / "release" / "a01_softmax" / "a01_softmax.ipynb"
    folder = tmp_path / "a01_softmax"
    folder.mkdir()
    for each in path.parent.glob("*"):
        (folder / each.name).write_bytes(each.read_bytes())
    cells = nbformat.read(path, as_version=4).cells
    (cell,) = (each for each in cells if "def draw_cooled(" in each.source)
    imports = "import numpy as np\nimport matplotlib.pyplot as plt\nfrom check import moving\n"
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(imports + cell.source)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(made, folder / "moving.ipynb")
    with browsing(tmp_path / "profile") as tab, jupyterlab(folder) as address:
        tab.open(f"{address}/doc/tree/moving.ipynb")
        tab.wait("document.querySelectorAll('.jp-CodeCell').length == 1")
        while not tab.ask(f"!!{RUN}"):  # the kernel may be asked for, or not be there yet
            tab.ask("document.querySelector('.jp-Dialog .jp-mod-accept')?.click()")
            tab.wait(IDLE)
            tab.ask("document.querySelector('.jp-CodeCell .cm-content').focus()")
            tab.press("Shift+Enter")
            time.sleep(2)
        tab.wait(f"!!{HANDLE}")
        assert "temperature 1 the" in tab.ask(SAYS)
        assert tab.ask("document.querySelector('.jp-OutputArea img').naturalWidth") > 100
        tab.wait(f"{NAMED} == 'temperature 1'")
        before = tab.ask("document.querySelector('.jp-OutputArea img').src")
        tab.ask(f"{HANDLE}.focus()")
        tab.press("ArrowRight")
        tab.wait(f"{SAYS}.includes('temperature 2 the')")
        assert tab.ask("document.querySelector('.jp-OutputArea img').src") != before
        tab.wait(f"{NAMED} == 'temperature 2'")
        where = "{include: [['.jp-OutputArea-output']]}"
        assert not violations(tab, where=where)
        tab.prefer("dark")
        assert not violations(tab, rules=COLOURS, where=where)
