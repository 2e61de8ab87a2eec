"""What can be moved and pressed in JupyterLab: by keys, and for a screen reader."""

import json
import re
import sys
import time

import nbformat
import pytest

from ..accessibility import COLOURS, violations
from ..chromium import browsing
from ..loaded import ROOT

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
from checked import jupyterlab

IDLE = "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status == 'idle'"
RUN = "document.querySelector('.jp-CodeCell .jp-InputPrompt').innerText.match(/[0-9*]/)"

IMPORTS = "import numpy as np\nimport matplotlib.pyplot as plt\nfrom check import moving\n"


def moving_cells():
    """Return the cells of all notebooks that show a picture with a slider, by assignment."""
    found = {}
    for path in sorted(ROOT.glob("release/*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and "    moving(" in cell.source:
                found[path.stem] = cell.source
    return found


CELLS = moving_cells()
CHECK = 'from check import check, hint\ncheck("softmax_hand")'
# One browser and one JupyterLab for all of them: no test is given a text, by which it would belong
# to an assignment's group.
pytestmark = pytest.mark.xdist_group("moving pictures")
MOVING = re.compile(r"moving\(\w+, \"(?P<name>[^\"]+)\", (?P<choices>.+), (?P<first>[\d.]+)\)")


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    """A tab with a notebook of all these cells, which have run, and of one that checks."""
    folder = tmp_path_factory.mktemp("lab")
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(IMPORTS + cell) for cell in [*CELLS.values(), CHECK]],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    for each in (ROOT / "release" / "a01_softmax").glob("*.*"):  # not Python's cache
        (folder / each.name).write_bytes(each.read_bytes())
    nbformat.write(made, folder / "moving.ipynb")
    own = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("JUPYTER_DATA_DIR", str(own / "data"))
        monkeypatch.setenv("IPYTHONDIR", str(own / "ipython"))
        with browsing(own / "profile") as tab, jupyterlab(folder) as address:
            tab.open(f"{address}/doc/tree/moving.ipynb")
            tab.wait(f"document.querySelectorAll('.jp-CodeCell').length == {len(CELLS) + 1}")
            while not tab.ask(f"!!{RUN}"):  # the kernel may be asked for, or not be there yet
                tab.ask("document.querySelector('.jp-Dialog .jp-mod-accept')?.click()")
                tab.wait(IDLE)
                tab.ask("document.querySelector('.jp-CodeCell .cm-content').focus()")
                for _ in [*CELLS, CHECK]:
                    tab.press("Shift+Enter")
                time.sleep(2)
            yield tab


def test_most_notebooks_have_a_slider():
    assert len(CELLS) >= 11
    assert all(MOVING.search(cell) for cell in CELLS.values())


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("number", range(len(CELLS)), ids=CELLS)
def test_keys_move_it_and_a_screen_reader_hears_what_it_shows(tab, number):
    tab.prefer("light")
    area = f"document.querySelectorAll('.jp-CodeCell')[{number}]"
    tab.ask(f"{area}.scrollIntoView()")
    tab.wait(f"!!{area}.querySelector('[role=slider]')")
    handle, says = (f"{area}.querySelector('{one}')" for one in ("[role=slider]", "p[role=status]"))
    picture = f"{area}.querySelector('.jp-OutputArea img')"
    called, choices, first = MOVING.search([*CELLS.values()][number]).groups()
    choices, first = eval(choices), json.loads(first)  # of our own file
    named = f"{handle}.ariaLabel + ' ' + {handle}.ariaValueText"
    tab.wait(f"{named} == '{called} {first}'")
    assert tab.ask(f"{picture}.naturalWidth") > 100
    before = tab.ask(f"{says}.innerText"), tab.ask(f"{picture}.src")
    place = choices.index(first)
    key, other = ("ArrowLeft", -1) if place == len(choices) - 1 else ("ArrowRight", 1)
    tab.ask(f"{handle}.focus()")
    tab.press(key)
    tab.wait(f"{named} == '{called} {choices[place + other]}'")
    tab.wait(f"{picture}.src != {json.dumps(before[1])}")
    assert tab.ask(f"{says}.innerText") != before[0]
    tab.ask(f"{area}.id = 'looked-at'")
    where = "{include: [['#looked-at .jp-OutputArea-output']]}"
    try:
        assert not violations(tab, where=where)
        tab.prefer("dark")
        assert not violations(tab, rules=COLOURS, where=where)
    finally:
        tab.ask(f"{area}.id = ''")


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_button_writes_the_call_of_a_hint_into_a_cell_that_stays(tab):
    tab.prefer("light")
    button = "document.querySelector('.jp-OutputArea .runs-below')"
    tab.wait(f"!!{button}")
    where = "{include: [['.jp-OutputArea-output:has(.runs-below)']]}"
    assert not violations(tab, where=where)
    tab.ask(f"{button}.focus()")
    tab.press("Enter")
    cells = "[...document.querySelectorAll('.jp-CodeCell')].map(cell => cell.innerText)"
    tab.wait(f"{cells}.some(text => /hint\\(.softmax_hand.\\)\\s+Hint 1 of/.test(text))")
