"""The released notebook, executed as a student would."""

import shutil
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
A03 = "a03_scaled_attention"
SDPA = """\
import numpy as np

scores_shape, out_shape, scale = (2, 3, 3), (2, 3, 8), 0.5

def attention(Q, K, V, mask=None, scale=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights
"""


@pytest.fixture
def executed(tmp_path):
    """Return a function that executes the released a03, filled in, and returns its cells."""

    def execute(**answers):
        shutil.copytree(ROOT / "release" / A03, tmp_path / A03, dirs_exist_ok=True)
        notebook = nbformat.read(tmp_path / A03 / f"{A03}.ipynb", as_version=4)
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            cell.source = answers.get(grade_id, cell.source).replace(
                'student("")', 'student("ada")'
            )
        resources = {"metadata": {"path": str(tmp_path / A03)}}
        nbclient.NotebookClient(
            notebook, resources=resources, allow_errors=True, timeout=60
        ).execute()
        return {cell.source: cell.get("outputs", []) for cell in notebook.cells}

    return execute


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_student_who_has_written_attention_sees_it_pass(executed):
    cells = executed(sdpa=SDPA)
    (printed,) = cells['check("sdpa")']
    assert printed.text.splitlines() == [
        "sdpa: Scaled dot-product attention for any batch shape",
        "  ✓ filled in  scores_shape: (2, 3, 3)",
        "  ✓ filled in  scale: 0.5",
        "        (fewer than 4 digits are enough only where they are exact)",
        "  ✓ filled in  out_shape: (2, 3, 8)",
        "  Whether these are right, you learn when you are graded.",
        "  ✓ passed     Equals softmax(Q Kᵀ / √d_k) V, without a batch axis.",
        "  ✓ passed     With one or two batch axes every example is attended to by itself.",
        "  Grading also runs 6 hidden checks: passing here is not yet the mark.",
    ]
    (shown,) = cells['your_numbers("causal_mask")']
    assert shown.data["text/latex"].startswith(r"$$\begin{gathered} S = \begin{pmatrix}")
    (unwritten,) = cells['check("causal_mask")']
    assert "– blank      `causal_mask` is not written yet" in unwritten.text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_mistake_is_shown_with_the_line_of_the_cell(executed):
    cells = executed(sdpa=SDPA.replace("np.swapaxes(K, -1, -2)", "K").replace("scale = (", "x = ("))
    (printed,) = cells['check("sdpa")']
    assert "`scale` is not defined yet: run its cell first" in printed.text
    assert "ValueError: matmul" in printed.text
    assert "in line 6 of the cell: scores = Q @ K / np.sqrt(Q.shape[-1])" in printed.text
