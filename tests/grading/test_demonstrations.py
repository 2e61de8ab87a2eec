"""Cells that only show something are left out where nothing depends on them."""

import numpy as np
import pytest

from autograder.grading.demonstrations import only_shows, shown, unneeded

SHOW = "shown = [n for n in range(3)]\nif plt: plt.plot(shown)"


def left_out(*others, shows=(SHOW,)):
    """Return whether each demonstration is left out, with the other cells behind them."""
    found = unneeded([*shows, *others], shows)
    return [i in found for i in range(len(shows))]


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "shown = [1, 2]\nprint(shown)",
        "def f(shown): return shown",
        "def f():\n    shown = 2\n    return shown",
        "# the cell above has shown it",
        "a.shown",
        "import a as shown\nshown",
        "def shown(): return 2\nshown()",
    ],
)
def test_it_is_left_out_where_no_cell_uses_it(source):
    assert left_out(source) == [True]


@pytest.mark.parametrize(
    "source",
    [
        "print(shown)",
        "def f(): return shown",
        "def f(x):\n    def g(): return [y for y in shown]\n    return g()",
        "class C:\n    a = shown",
        "%time shown",
        "shown[",
    ],
)
def test_it_is_run_where_a_cell_uses_a_name_of_its(source):
    assert left_out(source) == [False]
    assert left_out("shown = 1", source) == [True]


def test_what_comes_before_it_does_not_count():
    assert unneeded(["shown = 0\nprint(shown)", SHOW], [SHOW]) == {1}


def test_a_changed_one_is_a_cell_like_any_other():
    assert unneeded([SHOW + "\nanswer = 3"], [SHOW]) == set()


def test_what_a_needed_one_uses_is_run_too():
    shows = ("first = 1", "second = first + 1", "third = 3")
    assert left_out("answer = second", shows=shows) == [False, False, True]
    assert left_out("answer = 2", shows=shows) == [True, True, True]


@pytest.mark.parametrize("source", ["a = _", "def f(): return Out[3]", "print(_12 + 1)", "%time _"])
def test_all_are_run_where_a_cell_uses_what_cells_have_shown(source):
    assert left_out(source) == [False]


@pytest.mark.parametrize("source", ["for _ in range(3): pass", "_, x = 1, 2", "Out = 3", "# _"])
def test_a_name_of_the_cells_own_is_none_of_what_was_shown(source):
    assert left_out(source) == [True]


@pytest.mark.parametrize(
    ("source", "tags", "only"),
    [
        ('your_numbers("fall")', [], True),
        ("your_numbers('fall')\n", [], True),
        ('x = your_numbers("fall")', [], False),
        ('your_numbers("fall"), 2', [], False),
        ("x = 1", ["demonstration"], True),
        ("x = 1", [], False),
    ],
)
def test_numbers_are_only_shown(source, tags, only):
    assert only_shows({"source": source, "metadata": {"tags": tags}}) is only


def test_numbers_are_shown_without_running_the_cell():
    cell = {"source": 'your_numbers("fall")', "execution_count": 4}
    output = shown(cell, {"fall": {"h": 3, "K": np.eye(2, dtype=int)}})
    assert output["data"]["text/plain"] == "{'h': 3,\n 'K': array([[1, 0],\n        [0, 1]])}"
    assert output["execution_count"] == 4
    assert shown(cell, {})["data"]["text/plain"] == "{}"
    assert "not run" in shown(cell | {"source": "x = 1"}, {})["text"]
