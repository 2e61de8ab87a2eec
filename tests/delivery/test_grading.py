"""A class is graded: once, on the roster, whatever was handed in, and nothing costs another's."""

import json

import pytest

from autograder.course.classes.expected import ExpectedScore, expected_scores
from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.graders.serial import Serial
from autograder.course.submissions.grading_options import GradingOptions
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.department.releasing import generate
from autograder.grading.results import Status

from ..courses import EARNED, ENERGY, MOTION, one_assignment

pytestmark = pytest.mark.sandbox


def test_grading_again_changes_nothing_and_costs_nothing(course):
    simulate(course, MOTION, 4)
    first = grade_and_save(course, [MOTION])
    assert (len(first.grades), first.up_to_date) == (4, 0)
    again = grade_and_save(course, [MOTION])
    assert (len(again.grades), again.up_to_date) == (0, 4)
    forced = grade_and_save(course, [MOTION], GradingOptions(force=True))
    assert [g.score for g in sorted(forced.grades, key=lambda g: g.student)] == [
        g.score for g in sorted(first.grades, key=lambda g: g.student)
    ]


def test_only_what_changed_is_graded_again(course):
    simulate(course, MOTION, 3)
    grade_and_save(course, [MOTION])
    path = course.submission("student_001", MOTION)
    path.write_text(path.read_text().replace("seconds = ", "seconds = 2, #"))
    again = grade_and_save(course, [MOTION])
    assert [g.student for g in again.grades] == ["student_001"]


def test_an_interrupted_run_goes_on_where_it_stopped(course):
    simulate(course, MOTION, 3)
    grade_and_save(course, [MOTION])
    course.record("student_002", MOTION).unlink()
    again = grade_and_save(course, [MOTION])
    assert [g.student for g in again.grades] == ["student_002"]


def test_bad_submissions_are_told_and_the_rest_is_graded(course):
    answered = simulate(course, MOTION, 2)["student_001"]
    bad = {
        "not_json": b"hello",
        "other": (course.folder("release") / ENERGY / f"{ENERGY}.ipynb").read_bytes(),
        "large": b" " * (50 * 2**20),
    }
    for student, content in bad.items():
        path = course.submission(student, MOTION)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    link = course.submission("linked", MOTION)
    link.parent.mkdir(parents=True)
    link.symlink_to(course.submission("student_001", MOTION))
    outcome = grade_and_save(course, [MOTION])
    grades = {g.student: g for g in outcome.grades}
    expected = sum(answer.score for answer in answered.values())
    assert grades["student_001"].score == pytest.approx(expected)
    for student in (*bad, "linked"):
        assert grades[student].score == 0
        assert len(grades[student].notices) == 1, student
    assert "not hold JSON" in grades["not_json"].notices[0]
    assert "another assignment" in grades["other"].notices[0]
    assert "50 MB" in grades["large"].notices[0]
    assert "symbolic link" in grades["linked"].notices[0]


def test_a_broken_exercise_is_withheld_and_the_others_go_on(course):
    simulate(course, MOTION, 1)
    module = course.root / "reference" / MOTION / "mean_speeds.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('typo')\n")
    outcome = grade_and_save(course, [MOTION])
    (grade,) = outcome.grades
    by_id = {e.id: e for e in grade.exercises}
    assert (by_id["mean_speeds"].status, by_id["mean_speeds"].score) == (Status.ERRORED, None)
    assert by_id["fall"].score == 5
    assert "mean_speeds.py" in outcome.problems[0]
    assert "typo" in outcome.problems[0]


def test_a_package_that_is_missing_is_named_and_the_next_run_completes(
    course, tmp_path, monkeypatch
):
    simulate(course, MOTION, 1)
    module = course.root / "reference" / MOTION / "mean_speeds.py"
    module.write_text(f"import not_there_yet\n{module.read_text()}")

    def again():
        return grade_and_save(course, [MOTION], open_graders=lambda _: Serial(course))

    for _ in range(2):  # it is the machine's fault, and graded again as long as it lasts
        outcome = again()
        (grade,) = outcome.grades
        assert grade.exercises[1].score is None
        assert "there is no package 'not_there_yet' on this machine" in outcome.problems[0]
    (tmp_path / "not_there_yet.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    (grade,) = again().grades
    assert grade.score == EARNED
    assert again().up_to_date == 1


def test_what_the_machine_could_not_do_is_done_by_the_next_run(course, monkeypatch):
    simulate(course, MOTION, 1)
    with monkeypatch.context() as patched:
        patched.setattr("autograder.course.submissions.grade.grade_submission", out_of_memory)
        outcome = grade_and_save(course, [MOTION], open_graders=lambda _: Serial(course))
    assert "MemoryError" in outcome.problems[0]
    assert [grade.score for grade in grade_and_save(course, [MOTION]).grades] == [EARNED]


def out_of_memory(*_, **__):
    raise MemoryError


def test_a_student_who_is_not_on_the_roster_is_named(course):
    simulate(course, MOTION, 2)
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.Course.students = ["student_001"]\n')
    outcome = grade_and_save(Course.load(course.root), [MOTION])
    assert [g.student for g in outcome.grades] == ["student_001"]
    assert "student_002 is not on the roster" in outcome.problems[0]


def test_warnings_cost_nothing(course):
    simulate(course, MOTION, 1)
    path = course.submission("student_001", MOTION)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "mean_speeds":
            cell["source"] = (
                "import sys, warnings\nwarnings.warn('careful')\nprint('x', file=sys.stderr)\n"
                + cell["source"]
            )
    path.write_text(json.dumps(notebook))
    (grade,) = grade_and_save(course, [MOTION]).grades
    assert grade.score == EARNED  # all that is given automatically


COUNTED = '''
"""Both ask for a number of the same name."""

from autograder.exercise import Count, Exercise

exercise = Exercise("{id}", title="Counted", source="none")


@exercise.part(points=1, answer=Count())
def n():
    """A number."""
    return 3
'''


@pytest.mark.parametrize("broken", ["n = (1, 2", "1 / 0\nn = 3"])
def test_an_answer_to_an_earlier_exercise_is_no_answer_to_a_later_one(tmp_path, broken):
    """The second cell stops before it writes its own."""
    references = {id: COUNTED.format(id=id) for id in ("first", "second")}
    text = "".join(f'\n# %% exercise="{id}"\nn = None\n' for id in references)
    course = one_assignment(tmp_path / "course", "a99_counted", text, references)
    generate(course, ["a99_counted"])
    simulate(course, "a99_counted", 1)
    path = course.submission("student_001", "a99_counted")
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "second":
            cell["source"] = broken
    path.write_text(json.dumps(notebook))
    (grade,) = grade_and_save(course, ["a99_counted"]).grades
    first, second = grade.exercises
    assert (first.score, second.score) == (1, 0)
    assert second.items[0].note == "cell_error"


def test_the_truth_is_written_down(course):
    simulate(course, MOTION, 3)
    truth = expected_scores(course)[MOTION]
    assert truth["student_001"]["mean_speeds"] == ExpectedScore("right", 4)
