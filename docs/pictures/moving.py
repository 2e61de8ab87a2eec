"""Take the picture of a slider in JupyterLab: a window's reach, moved by a key.

    .venv/bin/python docs/pictures/moving.py

It runs one cell of a09, moves its slider and takes its picture in chromium; some twenty seconds.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import nbformat
from checked import HERE, ROOT, browsing, jupyterlab
from PIL import Image

ID = "a09_efficient"
IMPORTS = "import numpy as np\nimport matplotlib.pyplot as plt\nfrom check import moving\n"
HANDLE = "document.querySelector('[role=slider]')"
SAYS = "document.querySelector('p[role=status]').innerText"
OUTPUT = "document.querySelector('.jp-OutputArea-output')"
BOX = f"Object.values({OUTPUT}.getBoundingClientRect().toJSON()).slice(0, 4).join(' ')"
SIZE = 1100, 1000
COLOURS = 64
MARGIN, WIDEST = 8, 560


def notebook(folder: Path) -> Path:
    """Return a notebook of the one cell, beside the released files."""
    shutil.copytree(ROOT / "release" / ID, folder)
    cells = nbformat.read(folder / f"{ID}.ipynb", as_version=4).cells
    (cell,) = (each for each in cells if "def draw_window(" in each.source)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(IMPORTS + cell.source)], metadata=kernel
    )
    path = folder / "moving.ipynb"
    nbformat.write(made, path)
    return path


def main() -> None:
    """Take it."""
    with tempfile.TemporaryDirectory() as scratch:
        home, taken = Path(scratch), HERE / "moving.png"
        os.environ |= {"JUPYTER_DATA_DIR": str(home / "data"), "IPYTHONDIR": str(home / "ipython")}
        path = notebook(home / ID)
        with jupyterlab(path.parent) as address, browsing(home / "profile") as tab:
            tab.resize(*SIZE)
            tab.open(f"{address}/doc/tree/{path.name}")
            tab.wait("!!document.querySelector('.jp-CodeCell .cm-content')")
            while not tab.ask(f"!!{HANDLE}"):  # the kernel may not be there yet
                tab.ask("document.querySelector('.jp-Dialog .jp-mod-accept')?.click()")
                tab.ask("document.querySelector('.jp-CodeCell .cm-content').focus()")
                tab.press("Shift+Enter")
                time.sleep(3)
            tab.ask("document.querySelector('.Toastify')?.remove()")  # news of Jupyter's
            tab.ask(f"{HANDLE}.focus()")
            tab.press("ArrowRight")
            tab.wait(f"{SAYS}.includes('a reach of 3')")
            tab.ask(f"{OUTPUT}.scrollIntoView()")
            time.sleep(1)
            x, y, width, height = (float(each) for each in tab.ask(BOX).split())
            tab.photograph(taken)
    with Image.open(taken) as whole:
        box = int(x) - MARGIN, int(y) - MARGIN, int(x + min(width, WIDEST)), int(y + height)
        part = whole.convert("RGB").crop(box)
        small = part.quantize(COLOURS)
    small.save(taken, optimize=True)


if __name__ == "__main__":
    main()
