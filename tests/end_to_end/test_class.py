"""A simulated class goes the whole way, and every submission gets what it was written for."""

import json

import pytest

from autograder.course.config import Course
from autograder.course.records import read_grade
from autograder.course.simulate import expected_scores, simulate
from autograder.delivery.demo import disagreements
from autograder.delivery.grading import grade_and_save
from autograder.grading.results import Status

pytestmark = pytest.mark.sandbox

# How many students; by default as many as it takes to have every known outcome.  One class has
# them all; each mistake of the others is proved by `autograder verify`.
CLASSES = {
    "a01_softmax": 12,
    "a02_attention_by_hand": None,
    "a03_scaled_attention": 12,
    "a04_multi_head": 12,
    "a05_positions": 12,
    "a06_block": 12,
    "a07_full_transformer": 12,
    "a08_cost": 12,
    "a09_efficient": 12,
    "a10_scale_adapt": 12,
    "a11_theory": 12,
    "a12_capstone": 7,
}


@pytest.mark.slow
@pytest.mark.parametrize(("id", "students"), CLASSES.items(), ids=CLASSES)
def test_every_known_outcome_is_reached(course, id, students):
    outcome = simulate(course, id, students)
    graded = grade_and_save(course, [id])
    assert [problem for problem in graded.problems if "checked on a GPU" not in problem] == []
    assert len(graded.grades) == len(outcome) >= 7
    assert disagreements(course) == []
    # each misconception was named in the student's own grade
    for student, exercises in outcome.items():
        grade = read_grade(course, student, id)
        for exercise in grade.exercises:
            scenario = exercises[exercise.id].scenario
            notes = {item.note for item in exercise.items}
            if ": " in scenario or (scenario.isidentifier() and scenario not in ROLES):
                assert scenario.split(": ")[-1] in notes, (student, exercise.id, scenario)


ROLES = {"right", "right_other_style", "untouched", "syntax_error", "infinite_loop", "hostile"}


def test_grading_again_changes_nothing_and_costs_nothing(course):
    simulate(course, "a02_attention_by_hand", 4)
    first = grade_and_save(course, ["a02_attention_by_hand"])
    assert (len(first.grades), first.up_to_date) == (4, 0)
    again = grade_and_save(course, ["a02_attention_by_hand"])
    assert (len(again.grades), again.up_to_date) == (0, 4)
    forced = grade_and_save(course, ["a02_attention_by_hand"], force=True)
    assert [g.score for g in sorted(forced.grades, key=lambda g: g.student)] == [
        g.score for g in sorted(first.grades, key=lambda g: g.student)
    ]


def test_only_what_changed_is_graded_again(course):
    simulate(course, "a02_attention_by_hand", 3)
    grade_and_save(course, ["a02_attention_by_hand"])
    path = course.submission("student_001", "a02_attention_by_hand")
    path.write_text(path.read_text().replace("weights = ", "weights = 2, #"))
    again = grade_and_save(course, ["a02_attention_by_hand"])
    assert [g.student for g in again.grades] == ["student_001"]


def test_an_interrupted_run_goes_on_where_it_stopped(course):
    simulate(course, "a02_attention_by_hand", 3)
    grade_and_save(course, ["a02_attention_by_hand"])
    course.record("student_002", "a02_attention_by_hand").unlink()
    again = grade_and_save(course, ["a02_attention_by_hand"])
    assert [g.student for g in again.grades] == ["student_002"]


def test_bad_submissions_are_told_and_the_rest_is_graded(course):
    id = "a03_scaled_attention"
    answered = simulate(course, id, 2)["student_001"]
    bad = {
        "not_json": b"hello",
        "other": json.dumps(
            json.loads(
                (
                    course.folder("release")
                    / "a02_attention_by_hand"
                    / "a02_attention_by_hand.ipynb"
                ).read_text()
            )
        ).encode(),
        "large": b" " * (50 * 2**20),
    }
    for student, content in bad.items():
        path = course.submission(student, id)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    link = course.submission("linked", id)
    link.parent.mkdir(parents=True)
    link.symlink_to(course.submission("student_001", id))
    outcome = grade_and_save(course, [id])
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
    id = "a03_scaled_attention"
    simulate(course, id, 1)
    module = course.root / "reference" / id / "sdpa.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('typo')\n")
    outcome = grade_and_save(course, [id])
    (grade,) = outcome.grades
    by_id = {e.id: e for e in grade.exercises}
    assert (by_id["sdpa"].status, by_id["sdpa"].score) == (Status.ERRORED, None)
    assert by_id["causal_mask"].score == 7
    assert "sdpa.py" in outcome.problems[0]
    assert "typo" in outcome.problems[0]


def test_a_student_who_is_not_on_the_roster_is_named(course):
    simulate(course, "a02_attention_by_hand", 2)
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.Course.students = ["student_001"]\n')
    outcome = grade_and_save(Course.load(course.root), ["a02_attention_by_hand"])
    assert [g.student for g in outcome.grades] == ["student_001"]
    assert "student_002 is not on the roster" in outcome.problems[0]


def test_warnings_cost_nothing(course):
    id = "a02_attention_by_hand"
    simulate(course, id, 1)
    path = course.submission("student_001", id)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "attn_hand_scaled":
            cell["source"] = (
                "import sys, warnings\nwarnings.warn('careful')\nprint('x', file=sys.stderr)\n"
                + cell["source"]
            )
    path.write_text(json.dumps(notebook))
    (grade,) = grade_and_save(course, [id]).grades
    assert grade.score == 51  # all that is given automatically


def test_an_answer_to_an_earlier_exercise_is_no_answer_to_a_later_one(course):
    """Both exercises ask for `scores`; the second cell stops before it writes its own."""
    id = "a02_attention_by_hand"
    simulate(course, id, 1)
    path = course.submission("student_001", id)
    for broken in ("scores = (1, 2", "1 / 0\nscores = 3"):
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "attn_hand_scaled":
                cell["source"] = broken
        path.write_text(json.dumps(notebook))
        (grade,) = grade_and_save(course, [id]).grades
        hand, scaled = grade.exercises[:2]
        assert hand.score == 4
        assert next(i.note for i in scaled.items if i.name == "scores") == "cell_error"


def test_the_truth_is_written_down(course):
    simulate(course, "a02_attention_by_hand", 3)
    truth = expected_scores(course)["a02_attention_by_hand"]
    assert truth["student_001"]["attn_hand_scaled"] == {"scenario": "right", "score": 6}
