"""Notebooks for everybody: axe-core finds nothing, and no picture takes colours, or eyes."""

import contextlib
import io
import json
import re
import sys
from unittest.mock import MagicMock

import jupytext
import numpy as np
import pytest
from matplotlib import colormaps, pyplot
from nbconvert import HTMLExporter

from ..accessibility import violations
from ..chromium import browsing
from ..loaded import COURSE, ROOT

#: nbconvert's own: the grey of its prompts and the colours of code.  Our text has no colours.
LEFT_OUT = ["color-contrast"]
OURS = "{exclude: [['.jp-InputArea-prompt'], ['.highlight']]}"
#: How words for a picture begin, in the text in front of or behind the cell that draws it.
WORDS = re.compile(r"\*The picture[:*]|\*What you\s(should\s)?see:")
#: What a picture is drawn of where it is the student's.
GIVEN = {"a02_attention_by_hand": {"A": np.tri(4) / np.arange(1, 5)[:, None]}}


def released(id):
    return ROOT / "release" / id / f"{id}.ipynb"


@pytest.mark.browser
def test_axe_finds_nothing_in_any_notebook(tmp_path):
    # What nbconvert would load from the network is no part of the text.
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="")
    with browsing(tmp_path) as tab:
        for id in COURSE.ids():
            page = tmp_path / f"{id}.html"
            page.write_text(exporter.from_filename(str(released(id)))[0])
            tab.open(page.as_uri())
            assert violations(tab, left_out=LEFT_OUT, where=OURS) == [], id
            coloured = "document.querySelectorAll('.jp-RenderedMarkdown :is([style], [color])')"
            assert tab.ask(f"{coloured}.length") == 0, id


def pictures(id):
    """Run the cells that are ours; give the text around each that draws, and its figures."""
    cells = json.loads(released(id).read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    names = {}
    for number, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        if cell["cell_type"] == "code" and "nbgrader" not in cell["metadata"]:
            draws = "plt.show()" in text
            names |= GIVEN.get(id, {}) if draws else {}
            with contextlib.redirect_stdout(io.StringIO()):
                exec(text, names)
            if draws:
                around = f"{texts[number - 1]}\n{texts[number + 1]}"
                yield around, [pyplot.figure(each) for each in pyplot.get_fignums()]
                pyplot.close("all")


def told_apart(axes):
    """Check that lines differ by more than their colours, and that maps are lighter or darker."""
    lines = [line for line in axes.lines if not line.get_label().startswith("_")]
    looks = {(line.get_linestyle(), line.get_marker()) for line in lines}
    assert len(looks) == len(lines), [line.get_label() for line in lines]
    for image in axes.images:
        red, green, blue, _ = colormaps[image.get_cmap().name](np.linspace(0, 1, 64)).T
        lightness = np.diff(0.2126 * red + 0.7152 * green + 0.0722 * blue)
        assert (lightness >= 0).all() or (lightness <= 0).all(), image.get_cmap().name


@pytest.mark.parametrize("id", COURSE.ids())
def test_words_say_what_a_picture_shows_and_colours_alone_say_nothing(id, monkeypatch):
    monkeypatch.chdir(released(id).parent)
    monkeypatch.setitem(sys.modules, "check", MagicMock())  # nothing of it is drawn
    pyplot.switch_backend("agg")
    drawn = 0
    for around, figures in pictures(id):
        assert WORDS.search(around), f"nothing says what is to be seen:\n{around}"
        assert figures
        for axes in (axes for figure in figures for axes in figure.axes):
            told_apart(axes)
        drawn += 1
    assert drawn


@pytest.mark.parametrize("id", COURSE.ids())
def test_a_question_stands_before_each_picture(id):
    cells = jupytext.read(ROOT / "assignments" / id / f"{id}.py").cells
    for place, cell in enumerate(cells):
        if "demonstration" in cell.metadata.get("tags", []) and "plt.show()" in cell.source:
            text = next(c.source for c in cells[place::-1] if c.cell_type == "markdown")
            assert "?" in text, text
