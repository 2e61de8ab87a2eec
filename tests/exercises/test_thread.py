"""The small model's numbers in the notebooks are those that it gives."""

import importlib.util
import json

import jupytext
import numpy as np
import pytest

from ..loaded import ROOT

_spec = importlib.util.spec_from_file_location("thread", ROOT / "bench" / "thread.py")
thread = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(thread)


def drawing(assignment):
    """Return the cell that a notebook draws the model's numbers in."""
    notebook = jupytext.read(ROOT / "assignments" / assignment / f"{assignment}.py")
    [cell] = [cell for cell in notebook.cells if "in_echo = " in cell.source]
    assert cell.metadata["tags"] == ["demonstration"]
    return compile(cell.source, assignment, "exec")


@pytest.mark.parametrize("assignment", thread.SHOWN)
def test_a_notebook_shows_what_the_model_does(assignment):
    names = {"plt": None}
    exec(drawing(assignment), names)
    found = thread.SHOWN[assignment]()
    assert names["in_echo"].keys() == found.keys()
    for name, (value, decimals) in found.items():
        # Another processor may round a last digit the other way.
        allowed = 0.6 * 10.0**-decimals
        np.testing.assert_allclose(names["in_echo"][name], value, rtol=0, atol=allowed)


def test_notebooks_share_one_model():
    copies = {path.read_bytes() for path in ROOT.glob("assignments/*/data/echo.npz")}
    assert len(copies) == 1


def test_what_the_last_notebook_says_of_longer_texts():
    numbers = {name: np.atleast_1d(value) for name, (value, _) in thread.stretched().items()}
    (plain, squeezed, other), guessing = numbers["second_half"], *numbers["guessing"]
    before, after, based = numbers["repeats_before"]
    text = (ROOT / "assignments" / "a13_modern" / "a13_modern.py").read_text()
    text = " ".join(text.replace("\n# ", " ").split())
    assert (
        f"a symbol costs it {plain:.1f} nats unscaled (guessing costs {guessing:.1f}), "
        f"{squeezed:.1f} with interpolation by 2, and {other:.1f} with the other base"
    ) in text
    assert f"{before:.3f} nats become {after:.0f} by interpolation, and {based:.1f} by" in text


def test_it_is_the_model_of_the_theory_notebook():
    ids = thread.ids("^BADGEBADGE")
    logits, maps, _, _ = thread.run(ids)
    expected, seen = thread.helpers.echo_pass(thread.WEIGHTS, ids[0])
    np.testing.assert_allclose(logits[0], expected)
    np.testing.assert_allclose(maps[:, 0], seen)


def test_the_capstone_shows_how_it_was_trained():
    names = {"plt": None}
    exec(drawing("a12_capstone"), names)
    course = json.loads((ROOT / "bench" / "results" / "echo.json").read_text())["steps"]
    numbers = names["in_echo"]
    assert numbers.pop("steps") == [int(step) for step in course]
    for name, values in numbers.items():
        found = [row[name] for row in course.values()]
        np.testing.assert_allclose(values, found, rtol=0, atol=0.006)


@pytest.mark.parametrize("assignment", [*thread.SHOWN, "a12_capstone"])
def test_its_picture_can_be_drawn(assignment):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    exec(drawing(assignment), {"plt": plt})
    assert plt.get_fignums()
    plt.close("all")
