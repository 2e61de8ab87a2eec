"""Students carry their own code of an earlier notebook into a later one."""

import json
import subprocess
import sys

import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import verify
from autograder.course.release import carried_exercises
from autograder.course.release.build import build
from autograder.course.release.carried_exercises import given_sources
from autograder.course.release.kept import modules
from autograder.course.release.releasable import problems
from autograder.course.submissions import keys
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.delivery import nbgrader_settings
from autograder.delivery.department.releasing import generate

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "growing"
SMALL = (1.0, "it is so small")
c.Course.assignments = [
    {"id": "a01_first", "title": "1", "guessed": SMALL},
    {"id": "a02_second", "title": "2", "guessed": SMALL},
]
c.Course.limits = {"cell_seconds": 1.0, "call_seconds": 1.0}
"""
SCALER = '''
"""A class."""
from autograder.exercise import Exercise, agree

exercise = Exercise("scaler", title="Scaler", source="none")

def times(x, c):
    return c * x

@exercise.reference
class Scaler:
    """Multiplies."""

    def __init__(self, c: float = 2.0):
        self.c = c

    def __call__(self, x):
        return times(x, self.c)

@exercise.check(points=1)
def multiplies(call, rng):
    """Multiplies by c."""
    x = rng.normal(size=3)
    agree(call.make(3.0)(x), 3 * x)

@exercise.misconception(credit=0.5)
class Divides(Scaler):
    """You divided. Multiply."""

    def __call__(self, x):
        return x / self.c
'''
STACK = '''
"""A function on top of it."""
from autograder.exercise import Exercise, agree

exercise = Exercise("stack", title="Stack", source="none")
Scaler = exercise.carries("a01_first/scaler", "Scaler")

@exercise.reference
def stack(x, c: float):
    """Scale, then add 1."""
    return Scaler(c)(x) + 1

@exercise.check(points=2, visible=True)
def adds_one(call, rng):
    """Scales by c and adds 1."""
    x = rng.normal(size=3)
    agree(call(x, 3.0), call.own(Scaler).make(3.0)(x) + 1)

@exercise.misconception
def subtracts(x, c):
    """You subtracted 1."""
    return Scaler(c)(x) - 1
'''
FIRST = '''\
# %% exercise="scaler"
class Scaler:
    """Multiplies."""

    def __init__(self, c: float = 2.0):
        raise NotImplementedError

    def __call__(self, x):
        raise NotImplementedError
'''
SECOND = """\
# %% [markdown]
# # The second
#
# %%
carry("scaler")

# %% exercise="stack"
def stack(x, c):
    raise NotImplementedError
"""
OWN = """\
def times(x, c):
    return c * x


class Scaler:
    def __init__(self, c=2.0):
        self.c = c

    def __call__(self, x):
        return times(x, self.c)


def unused():
    return undefined
"""


@pytest.fixture
def course(tmp_path):
    """Return a function that makes the course; given are other texts, by file."""

    def make(**texts):
        files = {"config": CONFIG, "scaler": SCALER, "stack": STACK, "a01": FIRST, "a02": SECOND}
        files["nbgrader"] = nbgrader_settings.TEXT
        places = {
            "config": "course_config.py",
            "nbgrader": nbgrader_settings.FILE,
            "scaler": "reference/a01_first/scaler.py",
            "stack": "reference/a02_second/stack.py",
            "a01": "assignments/a01_first/a01_first.py",
            "a02": "assignments/a02_second/a02_second.py",
        }
        for name, content in (files | texts).items():
            path = tmp_path / places[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return Course.load(tmp_path)

    return make


def notebook(folder, cells, id="scaler"):
    """Write an earlier notebook: ordinary cells, the last of which is the exercise's."""
    made = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    made[-1]["metadata"] = {"nbgrader": {"grade_id": id}}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a01_first.ipynb").write_text(json.dumps({"cells": made}))


def test_what_an_exercise_is_loaded_from_has_what_it_builds_on(course):
    assignment = load_assignment(course(), "a02_second")
    found = modules(assignment, assignment.sound.values())
    assert {path.name for path in found} == {"stack.py", "scaler.py"}


@pytest.fixture
def carry(course, tmp_path):
    """Return a function that writes an earlier notebook, carries it, and returns what is said."""

    def run(*cells, then="", config=CONFIG, call='carry("scaler")'):
        here = tmp_path / "home" / "a02_second"
        here.mkdir(parents=True)
        for name, content in build(load_assignment(course(config=config), "a02_second")).items():
            (here / name).write_bytes(content)
        if cells:
            notebook(here.parent / "a01_first", cells)
        code = f"from check import carry, check\n{call}\n{then}"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_exercises_that_build_on_earlier_ones_prove_themselves(course):
    for assignment in ("a01_first", "a02_second"):
        (proof,) = verify(load_assignment(course(), assignment))
        assert proof.problems == []


CHARGES = """    x = rng.normal(size=3)
    if not np.allclose(call.work(x, 3.0).value, 3 * x + 1):
        raise Mismatch("another result")
"""


def test_a_check_that_charges_for_an_earlier_slip_is_no_proof(course):
    head, _, rest = STACK.partition("    x = rng.normal(size=3)\n")
    text = head + CHARGES + rest[rest.index("\n@exercise.misconception") :]
    text = text.replace("import Exercise, agree", "import Exercise, Mismatch\nimport numpy as np")
    (proof,) = verify(load_assignment(course(stack=text), "a02_second"))
    assert "built on `Scaler` with the mistake `Divides`, fails `adds_one`" in proof.problems[0]


def test_a_check_that_has_no_eye_for_earlier_slips_is_right_by_the_reference_on_top_of_them(course):
    text = STACK.replace("call.own(Scaler).make(3.0)(x) + 1", "3 * x + 1")
    (proof,) = verify(load_assignment(course(stack=text), "a02_second"))
    assert proof.problems == []


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"a02": SECOND.replace('carry("scaler")', "1")}, 'add a code cell `carry("scaler")`'),
        ({"a02": SECOND.replace('carry("scaler")', 'carry("other")')}, 'carry("other")` is not'),
        ({"stack": STACK.replace("a01_first/scaler", "scaler")}, "write it as assignment/exercise"),
        (
            {"stack": STACK.replace('"Scaler")', '"Scale")')},
            "asks for no function or class 'Scale'",
        ),
    ],
)
def test_what_does_not_fit_is_named_before_it_is_released(course, texts, said):
    found = "\n".join(problems(load_assignment(course(**texts), "a02_second")))
    assert said.replace("`", "") in found.replace("`", "")


def test_code_is_carried_with_all_that_it_needs_and_nothing_else(carry):
    said = carry("offset = 0", OWN, then="print(Scaler(3)(2))\ncheck('stack')")
    assert "✓ carried: `Scaler`, with times, from" in said
    assert "# scaler of a01_first, carried over." in said
    assert "unused" not in said
    assert "\n6\n" in said
    assert "`stack` is not defined yet" in said


def test_the_last_of_several_definitions_counts_and_what_changes_it(carry):
    cells = ("def times(x, c):\n    return 0", "%matplotlib inline\n" + OWN)
    said = carry(*cells[:1], cells[1] + "\nScaler.extra = times\n", then="print(Scaler(3)(2))")
    assert "\n6\n" in said
    assert "Scaler.extra = times" in said
    assert "return 0" not in said


def test_a_class_made_out_of_itself_keeps_what_it_was(carry):
    twice = (
        "class Scaler(Scaler):\n    def __call__(self, x):\n        return 2 * super().__call__(x)"
    )
    assert "\n12\n" in carry(OWN, twice, then="print(Scaler(3)(2))")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((), "Put the folder a01_first beside this one"),
        (("Scale = 1",), "defines no `Scaler`"),
        (("class Scaler",), "is no Python"),
        (
            ("class Scaler:\n    def __init__(self):\n        raise NotImplementedError",),
            "not written",
        ),
        (("class Scaler(Base):\n    pass",), "doesn't run by itself (NameError"),
    ],
)
def test_what_keeps_code_from_being_carried_is_said(carry, cells, said):
    found = carry(*cells)
    assert found.startswith("✗ not carried: ")
    assert said in found


def test_a_version_is_given_where_the_course_says_so_alone(carry, course):
    given = f'{CONFIG}c.Course.given = ["a01_first"]\n'
    assert "c * x" not in build(load_assignment(course(), "a02_second"))["check.json"].decode()
    with pytest.raises(CourseError, match="is a list of assignments of this course"):
        course(config=f'{CONFIG}c.Course.given = ["a07"]\n')
    said = carry(config=given, call='carry("scaler", given=True)', then="print(Scaler(3)(2))")
    assert "\n6\n" in said


def test_without_a_given_version_none_is_to_be_had(carry):
    assert "your course gives no version" in carry(call='carry("scaler", given=True)')


FREE = """
@exercise.given
def by_sorting(x, c: float):
    return sorted(x * c)[0] + 1 if BARRED else Scaler(c)(x) + 1
"""
OFFER = """
# %% [markdown]
# ## On top of it
#
# %%
# carry("stack", given=True)
"""


def offering(barred=True, text=SECOND, more=""):
    """The second assignment, of which a version to build on is offered further down."""
    stack = STACK + FREE.replace("BARRED", str(barred)) + more
    return {"stack": stack, "a02": text.replace("# # The second", "# ## Stack") + OFFER}


def test_a_version_of_one_s_own_exercise_is_given_where_the_text_offers_it(course):
    loaded = load_assignment(course(**offering(barred=False)), "a02_second")
    entry = json.loads(build(loaded)["check.json"])["carried"]["stack"]
    assert entry["names"] == ["stack"]
    names = {"Scaler": lambda c: lambda x: c * x}
    exec(entry["given"], names)
    assert names["stack"](2.0, 3.0) == 7.0
    assert "given" not in json.loads(build(loaded)["check.json"])["carried"]["scaler"]


def test_it_is_given_where_the_course_leaves_the_exercise_out(course):
    config = CONFIG.replace('"title": "2"', '"title": "2", "without": ["stack"]')
    loaded = load_assignment(course(**offering(barred=False), config=config), "a02_second")
    assert list(loaded.exercises) == []
    assert carried_exercises.carried(loaded)["stack"]["given"]


def test_what_is_given_is_right_and_no_answer(course):
    (proof,) = verify(load_assignment(course(**offering(barred=False)), "a02_second"))
    assert proof.problems == [
        "`by_sorting`, which is given, earns 2 points as an answer: say what an answer may not "
        "use, @exercise.reference(without=…)"
    ]
    (proof,) = verify(load_assignment(course(**offering()), "a02_second"))
    assert any("`by_sorting`, which is given, fails" in problem for problem in proof.problems)


def test_an_offer_without_a_version_is_named(course):
    found = problems(load_assignment(course(a02=SECOND + OFFER), "a02_second"))
    assert any('carry("stack", given=True) gets nothing' in said for said in found)


TOWER = '''
"""A function on top of that."""
from autograder.exercise import Exercise, agree

exercise = Exercise("tower", title="Tower", source="none")
stack = exercise.carries("a02_second/stack", "stack")

@exercise.reference
def tower(x, c: float):
    """Stack twice."""
    return stack(stack(x, c), c)

@exercise.check(points=1)
def stacks_twice(call, rng):
    """Stacks twice."""
    own, x = call.own(stack), rng.normal(size=3)
    agree(call(x, 3.0), own(own(x, 3.0), 3.0))

@exercise.misconception
def once(x, c):
    """You stacked once."""
    return stack(x, c)
'''
THIRD = """\
# %% [markdown]
# # The third
#
# %%
carry("stack")

# %% exercise="tower"
def tower(x, c):
    raise NotImplementedError
"""


@pytest.fixture
def three(course, tmp_path):
    """A course whose third assignment carries from the second, which carries from the first."""
    places = {"reference/a03_third/tower.py": TOWER, "assignments/a03_third/a03_third.py": THIRD}
    for place, content in places.items():
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(content)
    more = ', {"id": "a03_third", "title": "3"}\n]'
    given = 'c.Course.given = ["a02_second"]\n'
    return course(config=CONFIG.replace(",\n]", more) + given)


MIDDLE = STACK.replace(
    '''@exercise.reference
def stack(x, c: float):
    """Scale, then add 1."""
    return Scaler(c)(x) + 1
''',
    '''@exercise.reference
class Stack:
    """Scale, then add 1."""

    def __init__(self, c):
        self.scaler = Scaler(c)

    def __call__(self, x):
        return self.scaler(x) + 1
''',
).replace("call(x, 3.0)", "call.make(3.0)(x)")
MIDDLE = (
    MIDDLE[: MIDDLE.index("@exercise.misconception")]
    + '''@exercise.misconception
class Subtracts(Stack):
    """You subtracted 1."""

    def __call__(self, x):
        return self.scaler(x) - 1
'''
)
TOP = TOWER.replace('"stack")', '"Stack")').replace("stack =", "Stack =")
TOP = TOP.replace("stack(stack(x, c), c)", "Stack(c)(Stack(c)(x))").replace(
    "stack(x, c)", "Stack(c)(x)"
)
TOP = TOP.replace("call.own(stack)", "call.own(Stack).make(3.0)").replace(
    "own(own(x, 3.0), 3.0)", "own(own(x))"
)


@pytest.mark.parametrize(
    ("top", "said"),
    [
        (TOP, []),
        (
            TOP.replace("call(x, 3.0)", "call.work(x, 3.0).value").replace(
                "own(own(x))", "9 * x + 4"
            ),
            [
                "built on `Stack` with the mistake `Subtracts`, fails `stacks_twice`",
                "built on `Scaler` with the mistake `Divides`, fails `stacks_twice`",
            ],
        ),
    ],
)
def test_a_mistake_of_two_notebooks_before_is_tried(three, tmp_path, top, said):
    places = {"a02_second/stack.py": MIDDLE, "a03_third/tower.py": top}
    for place, content in places.items():
        (tmp_path / "reference" / place).write_text(content)
    (proof,) = verify(load_assignment(three, "a03_third"))
    assert len(proof.problems) == len(said)
    assert all(text in problem for text, problem in zip(said, proof.problems, strict=True))


def test_what_was_carried_into_earlier_code_comes_with_it(three):
    third = load_assignment(three, "a03_third")
    (proof,) = verify(third)
    assert proof.problems == []
    given = given_sources(third)["stack"]
    found = {}
    exec(given, found)
    assert found["stack"](1.0, 3.0) == 4.0
    assert given.index("class Scaler") < given.index("def stack")
    assert json.loads(build(third)["check.json"])["carried"]["stack"]["given"] == given


def test_a_grade_rests_on_all_that_its_code_was_built_on(three):
    for id in ("a01_first", "a02_second", "a03_third"):
        folder = three.folder("release") / id
        folder.mkdir(parents=True)
        for name, content in build(load_assignment(three, id)).items():
            (folder / name).write_bytes(content)
    release = three.folder("release")
    assert keys._built_on(release, "a03_third") == ["a03_third", "a02_second", "a01_first"]


@pytest.mark.sandbox
def test_simulated_students_and_wrong_earlier_code_earn_what_they_should(course):
    made = course()
    for assignment in ("a01_first", "a02_second"):
        generate(made, [assignment])
    outcome = simulate(made, "a02_second", 8)
    with Grader(made) as grader:
        for student, answered in outcome.items():
            path = made.submission(student, "a02_second")
            grade = grader.grade(Handed(student, "a02_second", path)).grade
            assert grade.exercises[0].score == answered["stack"].score, student
        path = made.submission("student_001", "a02_second")
        path.write_text(path.read_text().replace("c * x", "x / c"))
        (item,) = grader.grade(Handed("ada", "a02_second", path)).grade.exercises[0].items
        assert (item.score, item.note) == (2.0, "follow_through")
        path.write_text(path.read_text().replace("def times", "carry('scaler')\\ndef other"))
        grade = grader.grade(Handed("ada", "a02_second", path))
        assert grade.grade.score == 2.0
        assert "is not in your notebook" in grade.grade.exercises[0].items[0].feedback
        assert "is not in this notebook: run this cell" in json.dumps(grade.notebook)


APART = '''
"""Apart from that."""
from autograder.exercise import Count, Exercise

exercise = Exercise("apart", title="Apart", source="none")

@exercise.part(points=1, answer=Count())
def seven():
    """Six and one."""
    return 7

@seven.misconception()
def six():
    """One was forgotten."""
    return 6
'''


def handed_in(course, scaler):
    """Return a submission to the second assignment, right but for a line of the carried code."""
    for assignment in ("a01_first", "a02_second"):
        generate(course, [assignment])
    simulate(course, "a02_second", 1)
    path = course.submission("student_001", "a02_second")
    path.write_text(path.read_text().replace("        return times(x, self.c)", scaler, 1))
    return path


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("scaler", "note", "says"),
    [
        ("        return 0 * x", "idle", "returns the same number everywhere"),
        ("        raise ValueError(1)", "student_error", "raises an exception"),
        ("        while True: pass", "timeout", "takes too long"),
    ],
)
def test_earlier_code_that_does_not_work_is_named_and_costs_nothing_else(
    course, tmp_path, scaler, note, says
):
    second = f'{SECOND}\n# %% exercise="apart"\nseven = None\n'
    made = course(a02=second)
    (tmp_path / "reference/a02_second/apart.py").write_text(APART)
    path = handed_in(made, scaler)
    with Grader(made) as grader:
        stack, apart = grader.grade(Handed("ada", "a02_second", path)).grade.exercises
    assert (stack.score, stack.items[0].note, apart.score) == (0.0, note, 1.0)
    assert f"builds on your own `Scaler`, which {says}" in stack.items[0].feedback
