"""One browser, and every page that there is, of one simulated class."""

import json
from dataclasses import replace
from itertools import count

import pytest
from nbgrader.api import Gradebook

from autograder.course.classes.simulate import simulate
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.records import read_grade, write_record
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.nbgrader import gradebook
from autograder.delivery.pages.copies import write_copies
from autograder.delivery.pages.essays.sheets import write_essays
from autograder.delivery.pages.feedback import write_feedback
from autograder.delivery.pages.portfolio import write_portfolios
from autograder.delivery.pages.progress import term, write_progress
from autograder.delivery.pages.report import write_report
from autograder.grading.results import Status

from ..chromium import browsing
from ..courses import MOTION as A
from ..courses import copied

EXHIBITS = '''

from autograder.exercise import Curves, HeatMaps, Table


@exercise.exhibit
def falling(seconds):
    """How it falls, in `m`."""
    t = np.linspace(0, seconds, 9)
    return Curves("t", "h", {"stone": (t, g * t**2 / 2), "feather": (t, 2 * t)})


@exercise.exhibit
def measured(speed):
    """What was measured."""
    return Table(["drive", "speed"], [[name, speed] for name in ("first", "second")])


@exercise.exhibit
def compared(seconds):
    """All drives beside one another."""
    return HeatMaps("reading", "drive", {name: np.eye(3) for name in ("first", "second")})
'''
COPIED = """def mean_speeds(t, x):
    found = []
    for place in range(len(x) - 1):
        way = x[place + 1] - x[place]
        time = t[place + 1] - t[place]
        if time == 0:
            raise ValueError("two readings at one time")
        found.append(way / time if time > 0 else -way / -time)
    return np.array(found)
"""
PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
ESSAY = f"# Why\n\nIt cancels.\n\n| side | force |\n|---|---|\n| left | $m a$ |\n\n![]({PICTURE})\n"
CURVE = {
    "n": [250, 500, 1000],
    "seconds": [0.001, 0.004, 0.016],
    "reference": [0.001, 0.002, 0.004],
}
TRAINING = {"seed": 1, "seconds": 3.71, "steps": [1, 200], "losses": [2.2, 0.0031]}


@pytest.fixture(scope="session")
def tab(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="session")
def pages(tmp_path_factory, generated):
    """Pages by name, of a class in which everything happens that a page can tell."""
    root = copied(tmp_path_factory.mktemp("pages") / "course", generated).root
    with (root / "course_config.py").open("a") as config:
        listed = {"id": A, "title": "Falling and driving", "due": "2026-01-01 11:00 UTC"}
        config.write(
            f"c.Course.solutions = c.Course.quartiles = True\nc.Course.assignments[0] = {listed}\n"
        )
    with (root / "reference" / A / "fall.py").open("a") as reference:
        reference.write(EXHIBITS)
    course = copied(root.with_name("class"), root)
    simulate(course, A, 12)
    for student in ("student_001", "student_009"):
        _hand_in_alike(course.submission(student, A))
    assert not (problems := grade_and_save(course, [A]).problems), problems
    _measure(course)
    _mark(course, [f"student_{number:03}" for number in range(5, 13)])
    (course.root / "students.csv").write_text("id,name\nstudent_001,Student the First\n")
    essays = course.root / "essays.html"
    write_essays(course, A, essays, everything=True)
    write_copies(course, [A])
    write_feedback(course, [A])
    told = [course.folder("feedback") / f"student_00{n}" / A / f"{A}.html" for n in (1, 2, 3, 4, 7)]
    report = write_report(course, [A], before=course.root)
    progress, own = write_progress(course, term(course, [A]))
    portfolios = write_portfolios(course, [A], course.root / "portfolio", ["student_001"])
    return {
        **{f"feedback {number}": path for number, path in enumerate(told, 1)},
        "class": report,
        "progress of the class": progress,
        "progress of a student": own[0],
        "assignment": report.with_name(f"{A}.html"),
        "quality": report.with_name(f"{A}_quality.html"),
        "copies": report.with_name(f"{A}_copies.html"),
        "essays": essays,
        "portfolio": portfolios[0],
    }


def _hand_in_alike(path):
    """Put a function that two have into a submission, the id of the first of the class, a text."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        texts = {"mean_speeds": COPIED, "fall_why": ESSAY}
        cell["source"] = texts.get(id, cell["source"])
        cell["source"] = "".join(cell["source"]).replace(path.parts[-3], "student_001")
        if id in ("fall", "mean_speeds"):
            cell["source"] = f"# proud\n{cell['source']}"
    path.write_text(json.dumps(notebook))


def _mark(course, students):
    """Give points to the texts of some, as formgrader does."""
    with Gradebook(course.database) as book:
        for number, student in enumerate(students):
            row = book.find_grade("fall_why", A, A, student)
            row.manual_score, row.needs_manual_grade = number % 4, False
            book.find_comment("fall_why", A, A, student).manual_comment = "A `comment`."
        book.db.commit()


def _measure(course):
    """Say of some items what only a slow exercise, or a fault of ours, would make of them."""
    outcomes = [
        {"curve": CURVE, "feedback": "line 2 cannot be read\n    a + b\n      ^\nIt is `a`."},
        {"training": TRAINING},
        {"status": Status.ERRORED, "score": None, "feedback": "It broke."},
        {"note": "other_variant", "fits": [0, 1, 2], "feedback": "These are other numbers."},
    ]
    for number, outcome in zip(count(1), outcomes, strict=False):
        student = f"student_{number:03}"
        grade = read_grade(course, student, A)
        first, *others = grade.exercises
        items = [replace(first.items[0], **outcome), *first.items[1:]]
        changed = replace(grade, exercises=[type(first).of(first.id, items), *others])
        changed = replace(changed, notices=["The check cell `check_fall` was edited."])
        notebook = json.loads(course.submission(student, A, "autograded").read_text())
        gradebook.save(course, [Graded.of(changed, notebook)])
        write_record(course, Graded.of(changed, notebook))
