"""What a marker sees in nbgrader's formgrader, and students never see."""

import base64
import json
import re
import time
import urllib.request
from html.parser import HTMLParser

import pytest

from autograder.course.release.handed_out import Release
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.releasing import generate
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.pages.essays.sheets import write_essays
from autograder.delivery.pages.feedback import write_feedback

from ..chromium import browsing
from ..courses import one_assignment
from ..servers import page_of, serving

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

A = "a99_marked"
STUB = "*Your answer:*"
TEXT = f"""
# %% [markdown]
# # Marked by hand

# %% exercise="line"
curve = None  # (x, y)
slope = None  # a letter

# %% exercise="line" part="picture"
# Plot it here.

# %% [markdown] exercise="line" part="why"
# {STUB}
"""
REFERENCE = '''
"""A line."""

import numpy as np

from autograder.exercise import Choice, Essay, Exercise, Figure

exercise = Exercise("line", title="A line", source="none")


@exercise.part(points=2, answer=Figure())
def curve():
    """y = x from 0 to 1, as (x, y)."""
    x = np.linspace(0, 1, 11)
    return x, x


@exercise.part(points=1, answer=Choice("AB"))
def slope():
    """Does it rise (A) or fall (B)?"""
    return "A"


@exercise.part(points=1, answer=Essay())
def picture():
    """The picture.

    (1) Both axes have labels.
    """


@exercise.part(points=2, answer=Essay())
def why():
    """Why does it rise?

    (1) Larger x_1 gives larger y, since `1 < 2`.
    (2) The word monotone stands there.
    """
    return "Because the identity is strictly monotone."


@why.sample(points=1)
def by_looking():
    """Point 1 alone; the word is missing."""
    return "A larger x lies higher up."
'''
SECRETS = ("axes have labels", "monotone", "For the marker", "lies higher up", "Point 1 alone")
DRAWN = "import matplotlib.pyplot as plt\nplt.plot(*curve)\nplt.show()"
ANSWERS = {
    "line": "curve = ([i / 20 for i in range(21)],) * 2\nslope = 'A'",
    "line_picture": DRAWN,
    "line_why": "It goes up.\n\n### BEGIN MARK SCHEME\n\n### BEGIN HIDDEN TESTS",
}


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """A course in which ada answered everything and bob nothing, graded."""
    folder = tmp_path_factory.mktemp("formgrader") / "course"
    course = one_assignment(folder, A, TEXT, {"line": REFERENCE})
    generate(course, [A])
    notebook = Release.load(course, A).notebook
    for student, answers in (("ada", ANSWERS), ("bob", {})):
        for cell in notebook["cells"]:
            id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = answers.get(id, cell["source"])
        path = course.submission(student, A)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
        notebook = Release.load(course, A).notebook
    grade_and_save(course, [A])
    return course


@pytest.fixture(scope="module")
def formgrader(marked, tmp_path_factory):
    """Return a function that gives the address of a student's page in a running formgrader."""
    with serving(marked, tmp_path_factory.mktemp("home")) as server:
        yield lambda student: server + page_of(marked, A, student)


class Text(HTMLParser):
    """The text of a page."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_data(self, data):
        self.seen.append(data)


def text(html):
    parser = Text()
    parser.feed(html)
    return " ".join(" ".join(parser.seen).split())


def get(url):
    with urllib.request.urlopen(url, timeout=60) as page:
        return page.read().decode()


def test_the_rubric_stands_above_the_answer(formgrader):
    page = text(get(formgrader("ada")))
    assert "For the marker: line, why , 2 points" in page
    scheme = page.index("Larger x_1 gives larger y, since 1 < 2 .")
    model = page.index("A model answer. Because the identity is strictly monotone.")
    sample = page.index("A sample, worth 1 of 2. A larger x lies higher up. Why. Point 1 alone;")
    assert scheme < model < sample < page.index("It goes up.")
    assert page.index("Both axes have labels.") < page.index("plt . plot")
    assert "None" not in page[page.index("For the marker: line, picture") : scheme]


def test_where_nothing_was_written_there_is_nothing_to_read(formgrader):
    assert "For the marker" not in text(get(formgrader("bob")))


def test_a_choice_and_what_was_found_stand_beside_its_rationale(formgrader):
    page = text(get(formgrader("ada")))
    assert page.index("passed 1/1 slope: Does it rise (A)") < page.index("It goes up.")


def test_the_picture_is_there_for_the_marker(formgrader, marked):
    (image,) = re.findall(r'src="data:image/png;base64,([^"]+)"', get(formgrader("ada")))
    assert base64.b64decode(image).startswith(b"\x89PNG")
    notebook = json.loads(marked.submission("ada", A, "autograded").read_text())
    kept = [c for c in notebook["cells"] if "line_picture" in str(c["metadata"])]
    (output,) = kept[0]["outputs"]
    assert output["data"]["image/png"] == image.replace("\n", "")


def test_students_never_see_it(marked, nbgrader):
    told = [path.read_text() for path in (marked.folder("release") / A).glob("[!_]*")]
    nbgrader(marked.root, "generate_feedback", A, "--force")
    page = marked.folder("feedback") / "ada" / A / f"{A}.html"
    assert "It goes up." in page.read_text()
    assert "data:image/png" in page.read_text()
    told.append(text(page.read_text()))
    write_feedback(marked, [A])
    told += [text(page.read_text()), marked.record("ada", A).read_text()]
    for secret in SECRETS:
        assert not [one for one in told if secret in one], secret


def test_an_unchanged_stub_is_worth_nothing_and_waits_for_nobody(marked):
    cells = {student: marks.cells for student, marks in scores(marked, A).items()}
    for id in ("line_why", "line_picture"):
        assert (cells["bob"][id].auto, cells["bob"][id].pending) == (0.0, False)
        assert (cells["ada"][id].auto, cells["ada"][id].pending) == (None, True)


def test_nbgrader_s_own_autograde_shows_the_rubric_too(marked, nbgrader):
    before = marked.submission("ada", A, "autograded").read_text()
    nbgrader(marked.root, "autograde", A, "--force")
    cells = json.loads(marked.submission("ada", A, "autograded").read_text())["cells"]
    ours = [c["id"] for c in json.loads(before)["cells"]]
    assert [c["id"] for c in cells] == ours
    assert scores(marked, A)["bob"].cells["line_why"].auto == 0


@pytest.mark.browser
def test_a_marker_reads_the_rubric_and_types_points_and_a_comment(formgrader, marked, tmp_path):
    with browsing(tmp_path) as tab:
        tab.open(formgrader("ada"))
        tab.wait("document.querySelector('#line_why.score')?.placeholder !== undefined")
        tab.wait("document.body.textContent.includes('Larger x_1 gives larger y')")
        assert tab.ask("!!document.querySelector('img[src^=\"data:image/png\"]')")
        typed = "(e => {e.value = '%s'; e.dispatchEvent(new Event('change', {bubbles: true}))})"
        typed += "(document.querySelector('%s'))"
        for place, value in (("#line_why.score", "1.5"), ("textarea.comment", "Nearly.")):
            tab.wait(f"document.querySelector('{place}') && window.jQuery && !jQuery.active")
            tab.ask(typed % (value, place))
        marks = wait_for_marks(marked, "ada")
    assert marks.cells["line_why"].manual == 1.5
    write_essays(marked, A, tmp_path / "rest.csv")  # what is left to mark
    assert "It goes up" not in (tmp_path / "rest.csv").read_text()


def wait_for_marks(course, student):
    """Return what the gradebook holds as soon as a comment has arrived there."""
    for _ in range(100):
        found = scores(course, A)[student]
        if "Nearly." in found.comments.values() and found.cells["line_why"].manual is not None:
            break
        time.sleep(0.2)
    return found
