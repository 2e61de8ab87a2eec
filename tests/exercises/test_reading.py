"""The notebooks of a01 and a02 read well, in JupyterLab and where Markdown knows no formulas."""

import html
import re
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from ..loaded import COURSE, assigned

ASSIGNMENTS = [assigned(id) for id in COURSE.ids() if id.startswith(("a01", "a02"))]
pytestmark = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.id)

CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.S)


def texts(assignment):
    return [cell.source for cell in assignment.cells if cell.kind == "markdown"]


def formulas(assignment):
    """Every formula in the text, and whether it stands in a line of its own."""
    for text in texts(assignment):
        for found in FORMULA.finditer(CODE.sub("", text)):
            yield found[0], bool(found[1])


def test_a_reader_of_markdown_takes_nothing_out_of_a_formula(assignment):
    # Some take `\,` for an escaped comma and two `_` for emphasis before they look for formulas.
    markdown = MarkdownIt("commonmark").enable("table")
    for text in texts(assignment):
        page = html.unescape(re.sub(r"</?(p|li)>", "", markdown.render(text)))
        words = " ".join(page.split())
        for found in FORMULA.finditer(CODE.sub("", text)):
            assert " ".join(found[0].split()) in words


def test_a_formula_in_the_text_stands_in_one_line(assignment):
    for formula, displayed in formulas(assignment):
        assert displayed or "\n" not in formula, formula


def test_headings_are_those_of_one_document(assignment):
    levels = [
        len(marks)
        for text in texts(assignment)
        for marks in re.findall(r"^(#+) ", CODE.sub("", text), re.M)
    ]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_title_is_that_of_the_course(assignment):
    assert texts(assignment)[0].startswith(f"# {COURSE.titles[assignment.id]}\n")


def test_the_text_names_every_answer_before_it_is_asked_for(assignment):
    told = ""
    for cell in assignment.cells:
        if cell.kind == "markdown":
            told += cell.source
        elif cell.exercise and not cell.part:
            names = [part.name for part in assignment.sound[cell.exercise].parts if not part.manual]
            missing = [name for name in names if f"`{name}`" not in told]
            assert not missing, cell.exercise
            told = ""


def test_what_a_cell_draws_is_told_in_words(assignment):
    cells = assignment.cells
    for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
        if "plt.show()" in cell.source and not cell.exercise:
            assert re.search(r"\*The picture:\*|\*What you", before.source + after.source)
