"""What is wrong with an assignment's text is said before anything is released."""

import pytest

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.release.releasable import problems

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "toy"
c.Course.assignments = [{"id": "toys", "title": "Toys"}]
"""


@pytest.fixture
def found(tmp_path):
    """Return the problems of a text."""

    def check(text):
        (tmp_path / "course_config.py").write_text(CONFIG)
        folder = tmp_path / "assignments" / "toys"
        folder.mkdir(parents=True)
        (folder / "toys.py").write_text(text)
        return problems(load_assignment(Course.load(tmp_path), "toys"))

    return check


SHOW = '# %% tags=["demonstration"]\nfor n in range(3):\n    print(n)\n'


@pytest.mark.parametrize("more", ["", "# %%\nn = 1\nprint(n)\n", "# %%\nm = 3\n"])
def test_a_demonstration_that_nothing_depends_on(found, more):
    assert found(SHOW + more) == []


def test_a_demonstration_that_other_cells_use(found):
    (problem,) = found(SHOW + "\n# %%\nprint(n + 1)\n")
    assert "the demonstration `for n in range(3):` makes names that other cells use" in problem
    assert "(it makes n)" in problem


def test_a_demonstration_is_a_cell_of_code(found):
    (problem,) = found('# %% [markdown] tags=["demonstration"]\n# Look!\n')
    assert "`Look!` must be a code cell" in problem
