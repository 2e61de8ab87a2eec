"""Pictures that a slider moves: still without widgets, a sentence in a terminal."""

import sys
import types

import pytest

from autograder.course.release.build import build
from autograder.student import moving_pictures as moving

DRAWN = """
def draw(value):
    class Figure:
        def savefig(self, file, format):
            file.write(b"a picture")
    return Figure(), f"It is {value}."
"""


def test_a_terminal_says_what_the_first_picture_shows(released, as_student):
    code = f"from check import moving\n{DRAWN}\nmoving(draw, 'size', [1, 2, 3], 2)"
    assert as_student(released, code) == "It is 2.\n"


@pytest.mark.parametrize("kernel", [True, False])
def test_without_widgets_the_picture_stands_still(monkeypatch, kernel):
    shown, names = [], {}
    exec(DRAWN, names)
    shell = types.SimpleNamespace(**({"kernel": None} if kernel else {}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    display = types.SimpleNamespace(display=lambda data, **_: shown.append(data))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    moving.show_moving(names["draw"], "size", [1, 2, 3], 2)
    (data,) = shown
    assert data["text/plain"] == "It is 2."
    assert data["text/html"].endswith('<p role="status">It is 2.</p>')
    assert "application/vnd.jupyter.widget-view+json" not in data


def test_the_first_cell_imports_it_where_a_picture_moves(mini):
    cell = '# %% exercise="by_hand"'
    more = '# %% tags=["demonstration"]\nmoving(len, "size", [1], 1)\n\n'
    with_one = mini(a01_mini=[(cell, more + cell)])
    setup = b"from check import check, hint"
    assert b"moving, " in build(with_one)["a01_mini.ipynb"]
    assert setup not in build(with_one)["a01_mini.ipynb"]
