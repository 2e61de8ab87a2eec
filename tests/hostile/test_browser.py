"""What a student wrote is shown to a marker, and nothing of it runs in the marker's browser."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from autograder.course.config import Course
from autograder.course.people.roster import Person
from autograder.course.release.handed_out import Release
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.releasing import generate
from autograder.delivery.nbgrader.people import add_students
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.pages.report import write_report
from autograder.delivery.pages.sanitise import markdown2html

from ..chromium import browsing
from ..courses import one_assignment
from ..delivery.conftest import nbgrader  # noqa: F401
from ..servers import page_of, serving
from .vectors import VECTORS

pytestmark = [pytest.mark.slow, pytest.mark.browser]

A = "a99_shown"
TEXT = """
# %% exercise="shown"
letter = None  # a letter
words = None  # numbers

# %% [markdown] exercise="shown" part="why"
# *Your answer:*
"""
REFERENCE = '''
"""Something to show."""

from autograder.exercise import Choice, Essay, Exercise, Numbers

exercise = Exercise("shown", title="Shown", source="none")


@exercise.part(points=1, answer=Choice("AB"))
def letter():
    """A letter."""
    return "A"


@exercise.part(points=1, answer=Numbers())
def words():
    """Two numbers."""
    return [1, 2]


@exercise.part(points=1, answer=Essay())
def why():
    """Why."""
'''
FORMULA = r"$a<b$ and $$\\sum_{i<n} x_i$$"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CODE = f"""
from IPython.display import HTML, SVG, Javascript, Markdown, display
vectors = {VECTORS!r}
for vector in vectors:
    print(vector)
    display(HTML(vector), Markdown(vector), Javascript(vector[8:-9]))
letter, words = vectors[7], [vectors[0], vectors[7]]
raise type(vectors[7], (Exception,), {{}})(vectors[0])
"""


def _own(kind, source, **more):
    return {"cell_type": kind, "metadata": more.pop("metadata", {}), "source": source, **more}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A course in which Eve has handed in a notebook full of vectors, graded."""
    folder = tmp_path_factory.mktemp("shown") / "course"
    course = one_assignment(folder, A, TEXT, {"shown": REFERENCE})
    generate(course, [A])
    add_students(course, [Person("eve", VECTORS[7], VECTORS[0])])
    notebook = Release.load(course, A).notebook
    for cell in notebook["cells"]:
        id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if id == "shown":
            cell["source"] = CODE
        elif id == "shown_why":
            cell["source"] = f"{FORMULA} ![picture](attachment:pixel.png)\n\n{VECTORS[7]}"
            harmful = {"text/html": VECTORS[0], "image/svg+xml": VECTORS[5]}
            cell["attachments"] = {"pixel.png": {"image/png": PIXEL, **harmful}}
    notebook["cells"] += [_own("markdown", vector, attachments={}) for vector in VECTORS]
    notebook["cells"] += [
        _own("raw", vector, metadata={"raw_mimetype": "text/html"}) for vector in VECTORS
    ]
    notebook["cells"].append(_own("markdown", "![nowhere](attachment:nowhere.png)"))
    notebook["metadata"] = {
        "title": VECTORS[7],
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": VECTORS[0]}},
    }
    path = course.submission("eve", A)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))
    grade_and_save(course, [A])
    return course


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens a page, and gives it as the browser has it then."""

    def opened(address):
        command = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
        options = (f"--user-data-dir={tmp_path}", "--virtual-time-budget=15000", "--dump-dom")
        done = subprocess.run(
            [*command, *options, address], capture_output=True, text=True, check=True, timeout=180
        )
        return done.stdout

    return opened


def ran(page):
    """Return the numbers of the vectors that have left their mark on a page."""
    (html,) = re.findall(r"<html[^>]*>", page)[:1]
    return set(map(int, re.findall(r"data-ran-(\d+)", html)))


def test_the_vectors_run_where_nothing_is_sanitised(shown, nbgrader, opened, tmp_path):  # noqa: F811
    """The positive control: the same notebook, the same command, without our filter."""
    copy = Course.load(shutil.copytree(shown.root, tmp_path / "copy"))
    path = copy.submission("eve", A, "autograded")
    notebook = json.loads(path.read_text())
    assert "nowhere.png" in str(notebook["cells"].pop())  # nbconvert fails on it
    path.write_text(json.dumps(notebook))
    unfiltered = ("--HTMLExporter.filters={}", "--HTMLExporter.sanitize_html=False")
    nbgrader(copy.root, "generate_feedback", A, "--force", *unfiltered)
    page = opened((copy.folder("feedback") / "eve" / A / f"{A}.html").as_uri())
    assert len(ran(page)) >= 40, sorted(set(range(len(VECTORS))) - ran(page))


def test_none_runs_in_nbgrader_s_feedback(shown, nbgrader, opened):  # noqa: F811
    nbgrader(shown.root, "generate_feedback", A, "--force")
    page = opened((shown.folder("feedback") / "eve" / A / f"{A}.html").as_uri())
    assert ran(page) == set()
    assert_shown(page)


def test_none_runs_in_formgrader(shown, opened, tmp_path_factory):
    with serving(shown, tmp_path_factory.mktemp("home")) as server:
        page = opened(server + page_of(shown, A, "eve"))
        assert ran(page) == set()
        assert_shown(page)
        for place in ("manage_students", "manage_students/eve", f"gradebook/{A}/{A}"):
            page = opened(f"{server}/formgrader/{place}")
            assert ran(page) == set(), place


def test_none_runs_in_our_own_pages(shown, opened):
    pages = [*write_feedback(shown, [A]), write_report(shown, [A])]
    pages += pages[-1].parent.glob("*.html")
    for path in pages:
        assert ran(opened(path.as_uri())) == set(), path
        assert "default-src 'none'" in path.read_text()


def assert_shown(page):
    """Formulas, pictures and what was typed as text are still there."""
    text = unescape(re.sub(r"<[^>]*>", " ", page))
    assert "a<b" in text
    assert f'src="data:image/png;base64,{PIXEL}"' in page
    assert "attachment:nowhere.png" in text


LEAVES = [
    "position:fixed;inset:0",
    "position:absolute;top:-99em;left:0;width:9999em;height:9999em",
    "display:inline-block;position:relative;margin:-99em;width:9999em;height:9999em",
]


def test_nothing_leaves_its_piece_of_the_page(tmp_path):
    """Whatever the sanitiser has overlooked, or MathJax makes: it lies over no button."""
    button = "document.querySelector('button').getBoundingClientRect()"
    script = f"b = {button}, document.elementFromPoint(b.left + 2, b.top + 2).tagName"
    with browsing(tmp_path) as tab:
        for style in LEAVES:
            cover = f'<i style="{style};z-index:99">x</i>'
            found = []
            for html in (cover, markdown2html({}, "?").replace("?", cover)):
                (page := tmp_path / "page.html").write_text(f"<p><button>Save</button></p>{html}")
                tab.open(page.as_uri())
                found.append(tab.ask(script))
            assert found == ["I", "BUTTON"]  # the first is the control
