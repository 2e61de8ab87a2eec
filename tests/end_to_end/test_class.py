"""A simulated class goes the whole way, and every submission gets what it was written for."""

import json
import shutil

import pytest

from autograder.course.classes.expected import expect
from autograder.course.classes.simulate import simulate
from autograder.course.submissions.records import read_grade
from autograder.delivery.department.demo import disagreements
from autograder.delivery.department.grading import grade_and_save
from autograder.student.notebook import grade_id

from ..copies import copied_for

pytestmark = pytest.mark.sandbox

# How many students; by default as many as it takes to have every known outcome.  One class has
# them all; each mistake of the others is proved by `autograder verify`.
CLASSES = {
    "a01_softmax": 8,
    "a02_attention_by_hand": None,
    "a03_scaled_attention": 8,
    "a04_multi_head": 8,
    "a05_positions": 8,
    "a06_block": 8,
    "a07_full_transformer": 8,
    "a08_cost": 8,
    "a09_efficient": 8,
    "a10_scale_adapt": 8,
    "a11_theory": 8,
    "a12_capstone": 7,
    "a13_modern": 8,
    "a14_text": 8,
}


@pytest.mark.slow
@pytest.mark.parametrize(("id", "students"), CLASSES.items(), ids=CLASSES)
def test_every_known_outcome_is_reached(tmp_path, id, students):
    course = copied_for(tmp_path / "course", id)
    outcome = gathered(course, id, simulate(course, id, students))
    graded = grade_and_save(course, [id])
    assert [problem for problem in graded.problems if "checked on a GPU" not in problem] == []
    assert len(graded.grades) == len(outcome) >= 5
    assert disagreements(course) == []
    # each misconception was named in the student's own grade
    for student, exercises in outcome.items():
        grade = read_grade(course, student, id)
        for exercise in grade.exercises:
            scenario = exercises[exercise.id].scenario
            notes = {item.note for item in exercise.items}
            if ": " in scenario or (scenario.isidentifier() and scenario not in ROLES):
                assert scenario.split(": ")[-1] in notes, (student, exercise.id, scenario)


def gathered(course, id, outcome):
    """Have one student do what three do, each of whom breaks another exercise and no more.

    What else these three hand in is right, as it is with the first two.
    """
    one, *others = BREAKING
    notebook = json.loads(course.submission(one, id).read_text("utf-8"))
    cells = {grade_id(cell): cell for cell in notebook["cells"]}
    for other in others:
        theirs = json.loads(course.submission(other, id).read_text("utf-8"))
        broken = {e: a for e, a in outcome.pop(other).items() if not a.scenario.startswith("right")}
        for cell in theirs["cells"]:
            if (exercise := grade_id(cell)) in broken:
                cells[exercise]["source"] = cell["source"]
        outcome[one] |= broken
        shutil.rmtree(course.submission(other, id).parent)
    course.submission(one, id).write_text(json.dumps(notebook), "utf-8")
    expect(course, id, outcome)
    assert {answered.scenario for own in outcome.values() for answered in own.values()} >= ROLES
    return outcome


#: Who has a syntax error, a loop without an end, and an attack.
BREAKING = ("student_004", "student_005", "student_006")
ROLES = {"right", "right_other_style", "untouched", "syntax_error", "infinite_loop", "hostile"}
