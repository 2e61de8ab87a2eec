"""What JupyterLab shows of a check: a page beside the text, and nothing by colour alone."""

import html
import json
import re
import sys
from types import SimpleNamespace

import pytest

from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.typesetting import latex_of
from autograder.student.shown_page import page, show, typeset

LINES = [
    "sdpa: Attention",
    "  ✓ passed     Equals `attention` & is <right>.",
    "  ✗ failed     Masks.",
    "      attention(Q)    (call 1 of 2)",
    "      came = [[1, 2],",
    "              [3, 4]]",
    typeset("  → read as    a: read as 1/x", r"\frac{1}{x}"),
    "  – blank      b: The mean.",
    '  There is hint("sdpa") for a hint.',
]


def test_every_mark_is_a_sign_a_word_and_a_colour():
    items = re.findall(r"<li style=\"border-left: 4px solid (#\w+).*?</li>", page(LINES), re.DOTALL)
    assert len({*items}) == 4
    text = re.sub(r"<[^>]+>", "", page(LINES))
    for said in ("✓ passed", "✗ failed", "→ read as", "– blank"):
        assert said in text


def test_what_was_written_is_shown_and_not_taken_for_a_page():
    found = page(LINES)
    assert "<code>attention</code> &amp; is &lt;right&gt;." in found
    assert "came = [[1, 2],\n        [3, 4]]</pre>" in found


def test_a_formula_is_typeset_beside_how_it_is_read():
    assert r"a: read as 1/x &emsp; $\frac{1}{x}$" in page(LINES)


def test_without_jupyter_it_is_text(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    show(LINES)
    assert capsys.readouterr().out == "\n".join(LINES) + "\n"


def test_in_jupyter_the_text_stands_beside_the_page(monkeypatch):
    shown = []
    shell = SimpleNamespace(kernel=True)
    display = SimpleNamespace(display=lambda data, raw: shown.append((data, raw)))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    show(LINES)
    ((data, raw),) = shown
    assert raw
    assert data == {"text/plain": "\n".join(LINES), "text/html": page(LINES)}


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("(a - b)/c^2", r"\frac{a - b}{c^{2}}"),
        ("-p_1*p_2", r"-p_{1} p_{2}"),
        ("2*x*3", r"2 x \cdot 3"),
        ("sum(exp(z_k), k)", r"\sum_{k} \exp\left(z_{k}\right)"),
        ("sum(k, k, 1, n)", r"\sum_{k = 1}^{n} k"),
        ("diff(p1, z1)", r"\frac{\partial}{\partial z_{1}} p_{1}"),
        ("sqrt(d)*abs(x)", r"\sqrt{d} \left|x\right|"),
        ("a*(b + c)", r"a \left(b + c\right)"),
        ("(a*b)^2", r"\left(a b\right)^{2}"),
        ("softmax(x)", ""),
    ],
)
def test_latex_of_formulas(text, latex):
    calls = ("sum", "exp", "diff", "sqrt", "abs", "softmax")
    assert latex_of(read_tree(text, implicit=False, functions=calls)) == latex


def test_a_call_of_a_hint_has_a_button_that_other_frontends_hide():
    found = page(["sdpa: Attention", '  There is practice("sdpa"), hint("sdpa", 2) for a hint.'])
    [button] = re.findall(r"<button.*?</button>", found)
    assert 'style="display: none"' in button
    args = html.unescape(re.search(r'-args="(.*?)"', button)[1])
    assert json.loads(args)["args"] == {"text": 'hint("sdpa", 2)'}
    assert "<button" not in page(["sdpa: Attention", "  There is nothing."])
