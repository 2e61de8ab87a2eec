"""Cells that only show something are left out where nothing depends on them."""

import pytest

from autograder.grading.demonstrations import unneeded

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
