"""A picture with a slider in JupyterLab: by keys, and for a screen reader."""

import json
import sys
import time
from contextlib import contextmanager

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


IMPORTS = "import numpy as np\nimport matplotlib.pyplot as plt\nfrom check import moving\n"


def moving_cells():
    """Return the cells of all notebooks that show a picture with a slider, by assignment."""
    found = {}
    for path in sorted(ROOT.glob("release/*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and "    moving(" in cell.source:
                found[path.stem] = cell.source
    return found


@contextmanager
def lab(tmp_path, monkeypatch, cells):
    """Yield a tab with a notebook of these cells, which have run."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    folder = tmp_path / "a01_softmax"
    folder.mkdir()
    for each in (ROOT / "release" / "a01_softmax").glob("*"):
        (folder / each.name).write_bytes(each.read_bytes())
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(IMPORTS + cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(made, folder / "moving.ipynb")
    with browsing(tmp_path / "profile") as tab, jupyterlab(folder) as address:
        tab.open(f"{address}/doc/tree/moving.ipynb")
        tab.wait(f"document.querySelectorAll('.jp-CodeCell').length == {len(cells)}")
        while not tab.ask(f"!!{RUN}"):  # the kernel may be asked for, or not be there yet
            tab.ask("document.querySelector('.jp-Dialog .jp-mod-accept')?.click()")
            tab.wait(IDLE)
            tab.ask("document.querySelector('.jp-CodeCell .cm-content').focus()")
            for _ in cells:
                tab.press("Shift+Enter")
            time.sleep(2)
        yield tab


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_keys_move_it_and_a_screen_reader_hears_what_it_shows(tmp_path, monkeypatch):
    with lab(tmp_path, monkeypatch, [moving_cells()["a01_softmax"]]) as tab:
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


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_every_slider_moves_its_picture_and_says_another_thing(tmp_path, monkeypatch):
    cells = moving_cells()
    assert {"a03_scaled_attention", "a09_efficient", "a13_modern"} < cells.keys()
    with lab(tmp_path, monkeypatch, [*cells.values()]) as tab:
        for place, name in enumerate(cells):
            area = f"document.querySelectorAll('.jp-CodeCell')[{place}]"
            tab.ask(f"{area}.scrollIntoView()")
            tab.wait(f"!!{area}.querySelector('[role=slider]')")
            seen = f"{area}.querySelector('p[role=status]').innerText"
            before = tab.ask(seen), tab.ask(f"{area}.querySelector('img').src")
            tab.ask(f"{area}.querySelector('[role=slider]').focus()")
            tab.press("ArrowLeft" if name == "a10_scale_adapt" else "ArrowRight")  # it begins last
            tab.wait(f"{area}.querySelector('img').src != {json.dumps(before[1])}")
            assert tab.ask(seen) != before[0], name
