"""A machine that lacks what a course imports is told so."""

import pytest

from autograder.course.config import CourseError
from autograder.course.submissions.packages import demand_packages

from ..courses import MOTION


def test_a_machine_that_has_them_will_do(course):
    demand_packages(course)


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("import not_there_yet.inside as x, numpy", ["not_there_yet"]),
        ("def f():\n    from not_there_yet import x\n    import other", ["not_there_yet", "other"]),
        ("try:\n    import not_there_yet\nexcept ImportError:\n    pass", []),
        ("from reference.helpers import x\nimport os.path", []),
        ("def f(:", []),
    ],
)
def test_what_a_reference_imports_is_looked_for(course, text, lacking):
    (course.root / "reference" / MOTION / "fall.py").write_text(text)
    if not lacking:
        demand_packages(course)
        return
    with pytest.raises(CourseError, match=r"packages that the course needs are missing") as error:
        demand_packages(course)
    for name in lacking:
        assert f"{name} (reference/{MOTION}/fall.py imports it)" in str(error.value)


def test_what_a_released_notebook_imports_is_looked_for(course, monkeypatch):
    notebook = course.folder("release") / MOTION / f"{MOTION}.ipynb"
    notebook.write_text(notebook.read_text().replace("import numpy", "import torch, numpy", 1))
    usual = demand_packages.__globals__["importlib"].util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "torch" else usual(name)
    )
    with pytest.raises(CourseError, match=rf"torch \(release/{MOTION} imports it\)"):
        demand_packages(course)
