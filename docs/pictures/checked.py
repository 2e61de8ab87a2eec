"""Take the picture of what `check` and `practice` say in JupyterLab.

    .venv/bin/python docs/pictures/checked.py

It runs a few cells beside a released assignment, opens the notebook in JupyterLab and takes its
picture in chromium; some twenty seconds.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import browsing  # noqa: E402

SIZE = 1100, 1000
CUT = 40, 95, 1060, 835  # the cells
#: Whether the page is there, with its formulas.
TYPESET = "document.querySelectorAll('.jp-OutputArea mjx-container').length >= 3"
COLOURS = 64
CELLS = [
    'from check import check, practice, student\n\nstudent("ada")',
    """\
diag_steps = ["diff(p1, z1)", "(exp(z1)*Z - exp(z1)*exp(z1))/Z^2", "p1 - p1^2"]
off_steps = ["diff(p1, z2)", "-exp(z1)*exp(z2)/Z^2", "-p1 p2)"]
general = J = None
check("jacobian_proof")""",
    """\
practice("jacobian_proof",
         diag_steps=["diff(log(p1), z2)", "diff(z1 - log(Z), z2)", "-exp(z2)/Z", "-p2"],
         off_steps=["diff(1/Z, z2)", "exp(z2)/Z^2", "-p2/Z"])""",
]


def notebook(folder: Path) -> Path:
    """Return a notebook whose cells were run beside the released files."""
    shutil.copytree(ROOT / "release" / "a01_softmax", folder)
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    client = NotebookClient(made, resources={"metadata": {"path": str(folder)}})
    client.execute()
    made.cells = made.cells[1:]  # the greeting says nothing here
    path = folder / "checked.ipynb"
    nbformat.write(made, path)
    return path


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """Yield the address of a JupyterLab in a folder, for this machine alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--ServerApp.{name}" for name in ("token=", "password=", "open_browser=False")]
    command = [sys.executable, "-m", "jupyter", "lab", f"--port={port}", "--allow-root", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, cwd=folder, **quiet)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=60).close()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Take it."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        os.environ |= {"JUPYTER_DATA_DIR": str(home / "data"), "IPYTHONDIR": str(home / "ipython")}
        path = notebook(home / "a01_softmax")
        subprocess.run([sys.executable, "-m", "jupyter", "trust", path], check=True)
        with jupyterlab(path.parent) as address, browsing(home / "profile") as tab:
            tab.resize(*SIZE)
            tab.open(f"{address}/doc/tree/{path.name}")
            tab.wait(TYPESET)
            tab.ask("document.querySelector('.Toastify')?.remove()")  # news of Jupyter's
            tab.photograph(HERE / "checked.png")
    with Image.open(HERE / "checked.png") as taken:
        small = taken.convert("RGB").crop(CUT).quantize(COLOURS)
    small.save(HERE / "checked.png", optimize=True)


if __name__ == "__main__":
    main()
