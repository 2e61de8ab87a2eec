import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.course.config import CourseError
from autograder.course.discover import load_assignment
from autograder.course.release.build import build, stale
from autograder.course.release.plain_json import alike

from ..courses import ENERGY, MOTION, copied

ROOT = Path(__file__).resolve().parents[2]
DIGEST = """
import hashlib, sys
from autograder.course.release.build import build
from autograder.course.config import Course
from autograder.course.discover import load_assignment
course = Course.load(sys.argv[1])
for id in course.ids():
    for name, content in build(load_assignment(course, id)).items():
        print(name, hashlib.sha256(content).hexdigest())
"""


def cells_of(files):
    return json.loads(files["a01_mini.ipynb"])["cells"]


def source(cell):
    return "".join(cell["source"])


def test_two_builds_give_the_same_bytes(mini):
    first = build(assignment := mini())
    shutil.rmtree(assignment.course.root / "records")  # else it would be what was kept
    assert build(mini()) == first


def test_another_hash_seed_gives_the_same_bytes(tmp_path):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", DIGEST, str(copied(tmp_path / seed).root)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    one, two = (process.communicate(timeout=900)[0] for process in started)
    assert [process.returncode for process in started] == [0, 0]
    assert one == two
    made = {line.split()[0] for line in one.splitlines()}
    assert {f"{MOTION}.ipynb", f"{ENERGY}.ipynb", "check.py", "check.json"} <= made


def test_the_notebook_is_what_its_author_wrote_with_setup_and_checks_put_in(mini):
    cells = cells_of(build(mini()))
    assert [(c["cell_type"], source(c).splitlines()[0]) for c in cells] == [
        ("markdown", "# A small assignment"),
        ("code", "from check import check, practice, solution, student, your_numbers"),
        ("markdown", "Your numbers:"),
        ("code", 'your_numbers("by_hand")'),
        ("code", "doubled = None"),
        ("code", 'check("by_hand")'),
        ("markdown", "*Your answer.*"),
        ("code", "import numpy as np"),
        ("code", 'check("norm")'),
    ]
    assert source(cells[1]).splitlines()[1:5] == [
        "import numpy as np",
        "",
        'student("")  # your id, between the quotes',
        "",
    ]
    assert '# Not graded: practice("by_hand")' in source(cells[1])


def test_the_code_of_what_only_shows_something_is_folded_away(mini):
    place = "# %% [markdown]\n# Your numbers:"
    shows = '# %% tags=["demonstration"]\nprint("a picture")\n'
    cells = cells_of(build(mini(a01_mini=[(place, f"{shows}\n{place}")])))
    folded = [source(c) for c in cells if c["metadata"].get("jupyter", {}).get("source_hidden")]
    assert folded == ['print("a picture")']


def test_cells_carry_the_metadata_of_nbgrader(mini):
    cells = {c["id"]: c["metadata"] for c in cells_of(build(mini()))}
    base = {"schema_version": 3, "task": False}
    assert cells["by_hand"]["nbgrader"] == {
        **base,
        "grade": False,
        "solution": True,
        "locked": False,
        "grade_id": "by_hand",
    }
    assert cells["check_by_hand"] == {
        "deletable": False,
        "editable": False,
        "nbgrader": {
            **base,
            "grade": True,
            "solution": False,
            "locked": True,
            "grade_id": "check_by_hand",
            "points": 2.5,
        },
    }
    assert cells["by_hand_why"]["nbgrader"] == {
        **base,
        "grade": True,
        "solution": True,
        "locked": False,
        "grade_id": "by_hand_why",
        "points": 2,
    }
    assert cells["cell-01"] == {}
    assert "editable" not in cells["by_hand"]
    assert "editable" not in cells["by_hand_why"]


def test_the_notebook_is_valid_and_has_no_outputs(mini):
    notebook = nbformat.reads(build(mini())["a01_mini.ipynb"].decode(), as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_an_exercise_marked_by_hand_alone_has_no_check_cell(mini):
    only_text = """
from autograder.exercise import Essay, Exercise
exercise = Exercise("by_hand", title="Words", source="None")
@exercise.part(points=2, answer=Essay())
def why():
    \"\"\"Why so?\"\"\"
    return "Because."
"""
    assignment = mini()
    root = assignment.course.root
    (root / "reference/a01_mini/by_hand.py").write_text(only_text)
    text = root / "assignments/a01_mini/a01_mini.py"
    text.write_text(text.read_text().replace('your_numbers("by_hand")', "1"))
    cells = cells_of(build(load_assignment(assignment.course, "a01_mini")))
    assert "check_by_hand" not in {c["id"] for c in cells}
    assert "by_hand_why" in {c["id"] for c in cells}


def test_older_pythons_read_the_released_modules(mini):
    files = build(mini())
    ast.parse(files["check.py"], feature_version=(3, 9))
    ast.parse(files["check_formulas.py"], feature_version=(3, 10))


def test_formulas_are_read_only_where_there_are_any(mini):
    assert "check_formulas.py" in build(mini())
    number = ('answer=Formula("a b_1")', "answer=Numbers()"), ('return "a + b_1"', "return 1")
    assert "check_formulas.py" not in build(mini(by_hand=number))


PROBLEMS = {
    "a broken reference": ({"norm": [("import numpy as np", "1/0")]}, "norm.py:2: ZeroDivision"),
    "no stub": ({"a01_mini": [(' exercise="norm"', "")]}, "norm.py: no cell is its stub"),
    "an essay without a cell": (
        {"a01_mini": [('# %% [markdown] exercise="by_hand" part="why"', "# %% [markdown]")]},
        "by_hand: no cells for its Essay part `why`; write one "
        '`# %% [markdown] exercise="by_hand" part="why"`',
    ),
    "a cell for a part that isn't marked by hand": (
        {"a01_mini": [('part="why"', 'part="letter"')]},
        'part="letter"',
    ),
    "a cell of an unknown exercise": (
        {"a01_mini": [('exercise="by_hand" part', 'exercise="by_head" part')]},
        'exercise="by_head", which has no stub',
    ),
    "an answer without a variable": (
        {"a01_mini": [('letter = ""', "")]},
        "by_hand: its stub lacks the line `letter = None`",
    ),
    "another argument": (
        {"a01_mini": [("keep=False", "keepdims=False")]},
        "norm: its stub is `def norm(x, axis=-1, *, keepdims=False)`; "
        "the reference is `def norm(x, axis=-1, *, keep=False)`",
    ),
    "another default": ({"a01_mini": [("= -1", "= 0")]}, "norm(x, axis=0, *, keep=False)"),
    "another kind of argument": ({"a01_mini": [("*, keep", "keep")]}, "norm(x, axis=-1, keep="),
    "another name": ({"a01_mini": [("def norm(", "def length(")]}, "doesn't define `norm`"),
    "a stub that isn't Python": ({"a01_mini": [("raise Not", "raise raise Not")]}, "isn't Python"),
    "nobody sees the numbers": (
        {"a01_mini": [('your_numbers("by_hand")', "")]},
        "nobody sees the numbers of by_hand, or its statements to choose from; add a code cell "
        '`your_numbers("by_hand")`',
    ),
    "numbers that don't exist": (
        {
            "a01_mini": [
                ('your_numbers("by_hand")', 'your_numbers("by_hand"), your_numbers("norm")')
            ]
        },
        'your_numbers("norm") shows nothing',
    ),
    "a visible check that nobody can pass": (
        {"norm": [("agree(call(x), norm(x))", "agree(call(x), 2 * norm(x))")]},
        "the visible check `right_length` fails with the reference itself",
    ),
    "a visible check without calls": (
        {"norm": [("agree(call(x), norm(x))", "return")]},
        "gets no answer from any call",
    ),
    "a visible check that can't be written down": (
        {
            "norm": [
                (
                    "np.square(x)",
                    "np.square(x() if callable(x) else x)",
                ),
                ("agree(call(x), norm(x))", "agree(call(lambda: x), norm(x))"),
            ]
        },
        "a value of type function can't be written to check.json): hide it",
    ),
    "fewer texts than are to count": (
        {"course_config": [('"Mini"', '"Mini", "best": {"why": 2}')]},
        "2 of the parts `why` count, and there are 1; write more",
    ),
    "what the grader marks itself": (
        {"course_config": [('"Mini"', '"Mini", "best": {"letter": 1}')]},
        "`letter` count, and not all are marked by hand",
    ),
    "a star that is no exercise": (
        {"course_config": [('"Mini"', '"Mini", "stars": ["by_hnd"]')]},
        "a01_mini names `by_hnd`, which is no exercise there (did you mean 'by_hand'?)",
    ),
    "a mistake that hides": (
        {"by_hand": [("return x**2", "return 2 * x")]},
        "by_hand: only 0 of 2000 draws",
    ),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_an_assignment_that_is_not_ready_is_refused(mini, problem):
    changes, message = PROBLEMS[problem]
    with pytest.raises(CourseError) as refused:
        build(mini(**changes))
    assert message in str(refused.value)


def test_everything_that_is_wrong_is_said_at_once(mini):
    changes = {"a01_mini": [('letter = ""', ""), ("def norm(", "def length(")]}
    with pytest.raises(CourseError, match="(?s)`letter = None`.*doesn't define `norm`"):
        build(mini(**changes))


def test_stale_names_what_differs(mini, released):
    files = build(mini())
    assert stale(files, released) == []
    assert stale({**files, "check.py": b""}, released) == ["check.py"]
    (released / "left_over.txt").touch()
    (released / "check.json").unlink()
    assert stale(files, released) == ["check.json", "left_over.txt"]


def test_stale_overlooks_the_last_digits_of_recorded_floats(mini, released):
    files = build(mini())
    data = json.loads(files["check.json"])
    call = data["exercises"]["norm"]["functions"][0]["checks"][0]["calls"][0]
    call["value"]["array"][0] *= 1 + 1e-15
    assert stale({**files, "check.json": json.dumps(data).encode()}, released) == []
    call["value"]["array"][0] *= 1 + 1e-3
    assert stale({**files, "check.json": json.dumps(data).encode()}, released) == ["check.json"]


def recorded(values, dtype):
    return {"calls": [{"value": {"array": values, "dtype": dtype, "shape": [len(values)]}}]}


@pytest.mark.parametrize(
    ("old", "new", "digits", "same"),
    [
        (recorded([-0.009790659], "float32"), recorded([-0.009790957], "float32"), None, True),
        (recorded([-0.009790659], "float64"), recorded([-0.009790957], "float64"), None, False),
        (recorded([1e-8, 1.0], "float32"), recorded([-1e-8, 1.0], "float32"), None, True),
        (recorded([1, 10**12], "int64"), recorded([1, 10**12 + 1], "int64"), None, False),
        *(
            ({"array": [1.0], "dtype": dtype}, {"array": [1.01], "dtype": dtype}, None, same)
            for dtype, same in [("float16", True), ("float32", False)]
        ),
        ({"C": 2e23}, {"C": 2.0000000000000002e23}, None, True),
        ([[0, 2.40144], [1.0, 1]], [[-1.4e-17, 2.40144], [1, 1.0]], None, True),
        ([1.0, "nan"], [1, "nan"], None, True),
        ([1.0, "nan"], [1.0, 1.0], None, False),
        ([[1], [1, 2]], [[1], [1.0, 2]], None, True),
        ([1, 2], [1, 2, 3], None, False),
        ([True], [1], None, False),
        ({"a": None}, {"b": None}, None, False),
        (0.123455, 0.123456, 6, True),
        (0.123455, 0.123456, None, False),
        (0.1234, 0.1235, 6, False),
        ([[2, 4], [0.0105467, 16.0], 0], [[2, 4], [0.010546, 16.0], 0], 6, True),  # a mark
        ([[2, 4], [0.0105467, 16.0], 0], [[2, 4], [0.011, 16.0], 0], 6, False),
    ],
)
def test_recorded_numbers_differ_beyond_their_types_rounding_or_not(old, new, digits, same):
    assert alike(old, new, digits) is same
