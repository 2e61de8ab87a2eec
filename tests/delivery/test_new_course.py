"""A course of one's own: begun with a command, and as safe in nbgrader's hands as this one."""

import pytest
from nbgrader.validator import Validator

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import verify
from autograder.course.submissions.grading_options import GradingOptions
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.new_course import start_course
from autograder.delivery.department.releasing import generate
from autograder.delivery.nbgrader_settings import FILE, TEXT, configure, nbgrader_config

from ..courses import SAMPLE
from .conftest import ROOT


@pytest.fixture
def begun(tmp_path):
    start_course(tmp_path / "physics")
    return Course.load(tmp_path / "physics")


def test_a_course_begins_with_an_exercise_that_proves_itself_and_is_graded(begun):
    (proof,) = verify(load_assignment(begun, "a01_first"))
    assert proof.problems == []
    generate(begun, ["a01_first"])
    simulate(begun, "a01_first", 3)
    outcome = grade_and_save(begun, ["a01_first"], GradingOptions(trust_students=True))
    assert outcome.grades[0].score == 2.0
    assert outcome.problems == []


def test_nothing_that_is_there_is_touched(begun):
    before = {p: p.read_bytes() for p in begun.root.rglob("*") if p.is_file()}
    assert start_course(begun.root) == []
    (begun.root / FILE).unlink()
    assert start_course(begun.root) == [begun.root / FILE]
    assert before == {p: p.read_bytes() for p in begun.root.rglob("*") if p.is_file()}


def test_a_name_that_is_none(tmp_path):
    with pytest.raises(CourseError, match="'my course' can't be the name of a course"):
        start_course(tmp_path / "my course")


def test_this_course_and_the_sample_are_as_a_new_one_would_be():
    for root in (ROOT, SAMPLE):
        assert (root / FILE).read_text() == TEXT


def test_a_submission_is_never_run_by_nbgrader_itself(begun, nbgrader):
    generate(begun, ["a01_first"])
    simulate(begun, "a01_first", 1)
    nbgrader(begun.root, "autograde", "a01_first")
    assert begun.record("student_001", "a01_first").is_file()  # the engine has graded it


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, r"is missing, .* `autograder init \.` in the course's folder writes it"),
        ("load_subconfig('course_config.py')\n", r"would run submissions unprotected"),
        (
            TEXT + "c.Autograde.autograde_preprocessors = ['nbgrader.preprocessors.Execute']\n",
            r"its last line must be `configure\(c\)`",
        ),
        (TEXT + "1/0\n", "can't be read: division by zero"),
    ],
)
def test_a_course_that_nbgrader_would_run_unprotected_is_refused(begun, text, says):
    if text is None:
        (begun.root / FILE).unlink()
    else:
        (begun.root / FILE).write_text(text)
    for work in (nbgrader_config, lambda course: generate(course, ["a01_first"])):
        with pytest.raises(CourseError, match=says):
            work(begun)


def test_filters_of_a_course_stay(begun):
    config = begun.root / "course_config.py"
    config.write_text(config.read_text() + 'c.HTMLExporter.filters = {"mine": "a.b"}\n')
    read = nbgrader_config(begun)
    assert read.HTMLExporter.filters.keys() == {"mine", "markdown2html", "clean_html"}
    configure(read)
    assert read.HTMLExporter.filters.keys() == {"mine", "markdown2html", "clean_html"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_nbgraders_validate_fails_where_check_does(begun):
    generate(begun, ["a01_first"])
    path = begun.root / "release/a01_first/a01_first.ipynb"
    blank = path.read_text()
    todo = "    raise NotImplementedError"
    assert todo.strip() in blank

    def failed(answer):
        path.write_text(blank.replace(todo, f"    {answer}"))
        found = Validator().validate(str(path)).get("failed", [])
        return [cell["error"] for cell in found]

    assert failed("return factor * x") == []
    (said,) = failed("raise NotImplementedError")
    assert "– blank      `scale` is not written yet" in said
    assert "Traceback" not in said
    (said,) = failed("return x")
    assert "✗ failed     Doubles every entry by default." in said
