import json

import pytest

from autograder.course.release.build import build
from autograder.course.release.leak import leaks


def with_cell(files, text):
    name = "a01_mini.ipynb"
    notebook = json.loads(files[name])
    notebook["cells"][2]["source"] = text.splitlines(keepends=True)
    return {**files, name: json.dumps(notebook).encode()}


def test_the_small_release_holds_nothing(mini):
    assignment = mini()
    assert leaks(assignment, build(assignment)) == []


def test_what_a_mistake_is_told_stands_in_help_json_alone(mini):
    assignment = mini()
    files = build(assignment)
    assert "You squared the numbers." in files["help.json"].decode()
    assert "squared_instead" not in files["help.json"].decode()
    assert leaks(assignment, {"check.json": files["help.json"]})
    hidden = b"Tiny numbers do not vanish."
    planted = files["help.json"].replace(b"You squared the numbers.", hidden)
    assert leaks(assignment, {"help.json": planted})


PLANTED = {
    "a statement": ("squares = np.sum(np.square(x), axis=axis, keepdims=keep)", "norm.py:"),
    "a statement in another layout": (
        "y = 1\nsquares  =  np.sum(\n    np.square( x ), axis=axis,\n    keepdims=keep)",
        "norm.py:",
    ),
    "a statement in a comment": ("# return 2 * x + 0 * x.sum()", "by_hand.py:"),
    "a misconception's sentence": ("You forgot the root.", "norm.no_root_taken"),
    "one of its further sentences": ("A length has the unit of its entries.", "no_root_taken"),
    "a sentence broken over lines": ("Twice a number is the\n  number plus itself.", "squared"),
    "a hidden check's sentence": ("Tiny numbers do not vanish.", "works_on_tiny_numbers"),
    "a misconception's name": ("| squared_instead | 4 |", "squared_instead"),
    "a hidden check's name": ("see works_on_tiny_numbers", "works_on_tiny_numbers"),
    "a model answer": ("Because every number has exactly one double.", "by_hand.py:"),
    "a point of a rubric": ("The word double stands there.", "the rubric of by_hand.why"),
    "a comment": ("It is added for the sake of an operation", "by_hand.py:"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_leak_is_found(mini, kind):
    text, where = PLANTED[kind]
    assignment = mini()
    found = leaks(assignment, with_cell(build(assignment), text))
    assert found
    assert all(sentence.startswith("a01_mini.ipynb, cell 3 holds") for sentence in found)
    assert any(where in sentence for sentence in found)


def test_a_leak_is_found_in_every_file(mini):
    assignment = mini()
    files = build(assignment)
    secret = "You forgot the root."
    data = json.loads(files["check.json"])
    data["exercises"]["norm"]["title"] = secret
    notebook = json.loads(files["a01_mini.ipynb"])
    output = {"output_type": "stream", "name": "stdout", "text": [secret]}
    notebook["cells"][1]["outputs"] = [output]
    for name, content in {
        "check.json": json.dumps(data).encode(),
        "check.py": files["check.py"] + f"# {secret}".encode(),
        "a01_mini.ipynb": json.dumps(notebook).encode(),
        "notes.txt": secret.encode(),
    }.items():
        assert [name in sentence for sentence in leaks(assignment, {name: content})] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "def norm(x, axis=-1, *, keep=False):",
        "from autograder.exercise import Exercise, agree, require",
        "Equals the root of the sum of squares.",
        "The length of a vector",
        "return x**2",
        "squared_instead_of_doubled",
    ],
)
def test_what_is_published_or_trivial_is_no_leak(mini, text):
    assignment = mini()
    assert leaks(assignment, with_cell(build(assignment), text)) == []


def test_a_function_that_students_are_given_is_no_leak(mini):
    for mark, found in (("  # given", 0), ("  # forgiven", 1)):
        helper = f"def helper(z):{mark}\n    return np.exp(z - z.max())\n"
        assignment = mini(norm=[("import numpy as np", f"import numpy as np\n{helper}")])
        planted = with_cell(build(assignment), "return np.exp(z - z.max())")
        assert len(leaks(assignment, planted)) == found
