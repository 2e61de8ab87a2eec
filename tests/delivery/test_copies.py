"""Work that is alike is shown to the instructor, and changes nothing."""

import json
import re
import shutil
import sys

import pytest

from autograder.cli import main
from autograder.course.config import CourseError
from autograder.delivery.pages.copies import write_copies
from autograder.delivery.pages.copies.code import alike

A = "a01_tiny"
STUB = '''def weights(q, K, mask=None):
    """Attention weights of one query, shape (m,): softmax of the scaled scores, masked."""
    # your code
'''
HONEST = {
    "ada": """
    scores = K @ q / np.sqrt(len(q))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max())
    return e / e.sum()
""",
    "bob": """
    found = []
    for i in range(K.shape[0]):
        total = 0.0
        for j in range(len(q)):
            total += K[i, j] * q[j]
        found.append(total / len(q) ** 0.5 if mask is None or mask[i] else float("-inf"))
    largest = max(found)
    parts = [math.exp(each - largest) for each in found]
    return np.array(parts) / math.fsum(parts)
""",
    "cy": """
    logits = np.einsum("md,d->m", K, q)
    logits *= q.size ** -0.5
    keep = np.ones(len(logits), bool) if mask is None else np.asarray(mask, bool)
    logits[~keep] = -1e30
    return scipy.special.softmax(logits)
""",
}
# bob's, with other names, comments and blank lines
COPY = """
    # scores first
    results = []
    for row in range(K.shape[0]):

        acc = 0.0     # the sum
        for col in range(len(q)):
            acc += K[row, col] * q[col]
        results.append(acc / len(q) ** 0.5 if mask is None or mask[row] else float("-inf"))
    top = max(results)
    ws = [math.exp(x - top) for x in results]
    return np.array(ws) / math.fsum(ws)
"""


def cells(**code):
    return {
        "": STUB,
        **{student: STUB.replace("    # your code\n", text) for student, text in code.items()},
    }


def test_a_function_with_other_names_and_comments_is_found_and_marked():
    (pair,) = alike("weights", cells(**HONEST, eve=COPY))
    assert pair.names == ("bob", "eve")
    assert pair.share > 0.9
    assert "<mark>" in pair.code[0]
    assert "# scores first" in pair.code[1]


def test_honest_functions_are_not_alike_and_neither_are_stubs():
    assert alike("weights", cells(**HONEST)) == []
    assert alike("weights", cells(ada="    pass\n", bob="    pass\n")) == []


def test_what_many_wrote_is_what_the_exercise_asks_for():
    usual = {f"student_{i}": HONEST["ada"] for i in range(6)}
    assert alike("weights", cells(**usual)) == []
    assert len(alike("weights", cells(**usual, bob=HONEST["bob"], eve=COPY))) == 1


def test_student_text_is_text_on_the_page():
    evil = COPY.replace("# scores first", "'</pre><script>alert(1)</script>'")
    (pair,) = alike("weights", cells(bob=HONEST["bob"], eve=evil))
    assert "<script>" not in "".join(pair.code)


@pytest.fixture
def graded_class(tiny, graded, save, hand_in):
    """A class in which bob answered ada's numbers and says her id, and eve copied bob's code."""
    release = tiny.folder("release") / A
    notebook = json.loads((release / f"{A}.ipynb").read_text())
    next(c for c in notebook["cells"] if c["id"] == "norm")["source"] = STUB
    (release / f"{A}.ipynb").write_text(json.dumps(notebook))
    others = {"qk": 0.0, "note": "other_variant", "feedback": "No.", "fits": [0]}
    save(tiny, graded("ada"), graded("bob", **others), graded("eve"))
    for student, code in {"ada": HONEST["ada"], "bob": HONEST["bob"], "eve": COPY}.items():
        path = tiny.submission(student, A, "autograded")
        shown = json.loads(path.read_text())
        cell = next(c for c in shown["cells"] if c["id"] == "norm")
        cell["source"] = STUB.replace("    # your code\n", code)
        path.write_text(json.dumps(shown))
        handed = hand_in(tiny, student)
        typed = handed.read_text().replace("# Tiny", '# Tiny\\nstudent(\\"ada\\")')
        handed.write_text(typed if student == "bob" else handed.read_text())
    return tiny


def test_the_page_names_the_pairs_and_needs_no_network(graded_class, monkeypatch, capsys):
    before = {p: p.read_bytes() for p in graded_class.root.rglob("*.json")}
    monkeypatch.setattr(
        sys, "argv", ["autograder", "copies", A, "--course", str(graded_class.root)]
    )
    with pytest.raises(SystemExit) as exit:
        main()
    assert not exit.value.code
    path = graded_class.root / "reports" / f"{A}_copies.html"
    assert capsys.readouterr().out == (
        f"{A}: 1 answered another's numbers, 1 pairs of functions are alike: {path}\n"
    )
    page = " ".join(path.read_text().split())
    assert 'bob, whose notebook says <code>student("ada")</code>' in page.replace("&#34;", '"')
    assert "<li>ada: has these numbers in 2 of 2 (Queries &lt;and&gt; keys; Norm); this id" in page
    assert "Norm: bob and eve, 100 %" in page
    assert "<mark>" in page
    assert not re.search(r"https?://|<script| src=", page)
    assert {p: p.read_bytes() for p in before} == before


def test_before_grading_there_is_nothing_to_compare(tiny):
    shutil.rmtree(tiny.root / "records", ignore_errors=True)
    with pytest.raises(CourseError, match="nothing of a01_tiny is graded yet"):
        write_copies(tiny, [A])
