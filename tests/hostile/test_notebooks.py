"""Hostile files: whatever a notebook claims, it is graded as released, or refused in a sentence."""

import json
from copy import deepcopy

import nbformat
import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.grading.results import Grade, Status

from ..courses import MOTION

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def grader(shared_course):
    with Grader(shared_course) as grader:
        yield grader


@pytest.fixture(scope="module")
def honest(shared_course):
    """The path of a submission that earns everything but what people mark."""
    simulate(shared_course, MOTION, 1)
    return shared_course.submission("student_001", MOTION)


def of(notebook, id):
    return next(
        c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == id
    )


def forged_points(notebook):
    of(notebook, "check_fall")["metadata"]["nbgrader"]["points"] = 1e9


def forged_outputs(notebook):
    of(notebook, "check_fall")["outputs"] = [
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": "1000.0", "text/html": SCRIPT},
        }
    ]


def an_edited_check(notebook):
    of(notebook, "check_fall")["source"] = "1000.0"


def a_check_as_answer(notebook):
    of(notebook, "check_fall")["metadata"]["nbgrader"].update(grade=False, solution=True)


def duplicated_checks(notebook):
    notebook["cells"] += [deepcopy(of(notebook, "check_fall")) for _ in range(50)]


def a_check_of_nothing(notebook):
    cell = deepcopy(of(notebook, "check_fall"))
    cell["metadata"]["nbgrader"]["grade_id"] = "check_no_such_exercise"
    notebook["cells"].append(cell)


def ids_that_are_no_text(notebook):
    for value in (["x"], {"x": 1}, None, 7, "../../x", "\u0000"):
        cell = deepcopy(notebook["cells"][0])
        cell["metadata"] = {"nbgrader": {"grade_id": value}}
        notebook["cells"].append(cell)


def cells_that_are_none(notebook):
    notebook["cells"] += [None, 3, "x", [], {}, {"cell_type": "code"}, {"cell_type": SCRIPT}]


def sources_that_are_none(notebook):
    for source in (None, 3, {"a": 1}, [1, None, "x = 1"], ["\ud800"]):
        notebook["cells"].append({"cell_type": "code", "source": source, "metadata": {}})


def metadata_that_is_none(notebook):
    notebook["metadata"] = None
    notebook["nbformat"] = SCRIPT
    for metadata in (None, [], {"nbgrader": []}, {"nbgrader": {"grade_id": "x"}, "evil": SCRIPT}):
        notebook["cells"].append({"cell_type": "code", "source": "x", "metadata": metadata})


def another_kernel(notebook):
    notebook["metadata"] = {
        "kernelspec": {"name": "bash", "display_name": SCRIPT, "language": "bash"},
        "widgets": {"state": SCRIPT},
    }


def a_huge_cell(notebook):
    source = "x = 1\n" * 500_000
    notebook["cells"].append({"cell_type": "code", "source": source, "metadata": {}})


def very_many_cells(notebook):
    notebook["cells"] += [{"cell_type": "raw", "source": "", "metadata": {}}] * 5000


def attachments(notebook):
    notebook["cells"][0]["attachments"] = {"x.html": {"text/html": SCRIPT}}


HARMLESS = [
    forged_points,
    forged_outputs,
    an_edited_check,
    a_check_as_answer,
    duplicated_checks,
    a_check_of_nothing,
    ids_that_are_no_text,
    cells_that_are_none,
    sources_that_are_none,
    metadata_that_is_none,
    another_kernel,
    a_huge_cell,
    very_many_cells,
    attachments,
]


def grade(grader, path):
    graded = grader.grade(Handed("student_001", MOTION, path))
    record = json.loads(json.dumps(graded.grade.to_json()))
    assert Grade.from_json(record) == graded.grade
    nbformat.validate(nbformat.from_dict(graded.notebook))
    assert not any(e.status is Status.ERRORED for e in graded.grade.exercises)
    assert SCRIPT not in json.dumps(graded.notebook)
    return graded.grade


@pytest.mark.parametrize("attack", HARMLESS, ids=lambda attack: attack.__name__)
def test_it_is_graded_as_if_nothing_had_happened(attack, grader, honest, tmp_path):
    notebook = json.loads(honest.read_text())
    attack(notebook)
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook))
    marked, usual = grade(grader, path), grade(grader, honest)
    assert usual.score > 0
    assert marked.exercises == usual.exercises
    assert usual.notices == []


def linked(path):
    secret = path.with_name("secret.ipynb")
    secret.write_text('{"cells": []}')
    path.symlink_to(secret)


def a_folder(path):
    path.mkdir()


UNREADABLE = {
    "nothing": b"",
    "no JSON": b"{" * 100,
    "nested deeply": b"[" * 200_000,
    "no notebook": b'{"cells": {}}',
    "no text": b"\xff\xfe\x00",
    "a number with very many digits": b'{"cells": ' + b"9" * 10_000 + b"}",
    "too large": b" " * (65 << 20),
    "a link": linked,
    "a folder": a_folder,
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_it_is_refused_in_a_sentence(what, grader, honest, tmp_path):
    path, content = tmp_path / "x.ipynb", UNREADABLE[what]
    path.write_bytes(content) if isinstance(content, bytes) else content(path)
    marked = grade(grader, path)
    assert marked.score == 0
    assert len(marked.notices) == 1
    assert marked.notices[0].endswith(".")
    assert grade(grader, honest).score > 0
