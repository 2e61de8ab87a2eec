"""Python that a student wrote is parsed in the grader through one door, within a budget."""

import ast
import copy
import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.course.release.handed_out import Release
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Unreadable, _pictures, parse_notebook, restore
from autograder.course.submissions.job import Job
from autograder.exercise import Exercise, Numbers
from autograder.grading import budget, own_text
from autograder.grading.demonstrations import unneeded
from autograder.grading.depends import behind
from autograder.grading.hints import hints_taken
from autograder.grading.left_over import LeftOver
from autograder.sandbox import CellRun
from autograder.student.notebook import new_cell

ROOT = Path(__file__).resolve().parents[2]
LONG = own_text.LONGEST
#: Texts that a parser takes badly; what Python's own does is in the controls below.
TEXTS = {
    "signs": "-" * 10_000 + "1",
    "signs of another kind": "~" * 10_000 + "1",
    "nots": "not " * 5000 + "x",
    "lambdas": "lambda:" * 5000 + "1",
    "awaits of stars": "x = " + "*" * 5000 + "y",
    "ternaries": "x if y else " * 5000 + "z",
    "one line of statements": "a;" * 3_000_000,
    "lines without end": "a = b\n" * 1_000_000,
    "names without end": ",".join(f"n{i}" for i in range(500_000)),
    "a sum": "+".join(["a"] * 60_000),
    "calls of calls": "f" + "()" * 40_000,
    "attributes of attributes": "a" + ".b" * 40_000,
    "brackets": "[" * 50_000,
    "blocks": "".join(" " * i + "if a:\n" for i in range(300)),
    "functions in functions": "".join(" " * i + f"def f{i}():\n" for i in range(98))
    + " " * 98
    + "pass",
    "a long number": "9" * 90_000,
    "a null byte": "hint\0(",
    "half a character": "x = '\ud800'",
    "odd escapes": "'" + "\\q" * 30_000 + "'",
    "no Python": "hint( %%%",
}
#: Those that Python's parser ends badly with, or for which it needs more than a second.
FATAL = ("signs", "signs of another kind", "lambdas", "one line of statements")
DEMONSTRATION = "picture = draw()"


@pytest.fixture(autouse=True)
def quick():
    """Each of them takes a few seconds at most, however loaded the machine is."""
    before = time.process_time()
    yield
    assert time.process_time() - before < 2 * budget.SECONDS


def cells_of(text):
    return [DEMONSTRATION, f"# hint(\n{text}\nuse = picture, train", "def train(): return 1"]


class NoCells:
    """A submission whose cells do nothing."""

    def execute(self, *_):
        return CellRun(outputs=[], error=None)

    def read(self, *_):
        return []


def asked_twice():
    """Two exercises that ask for one name, after the first one's cell."""

    def use():
        """A number."""

    exercises = [Exercise(id, title="One", source="none") for id in ("first", "second")]
    for exercise in exercises:
        exercise.part(points=1, answer=Numbers())(use)
    followed = LeftOver(exercises)
    followed.run(NoCells(), "use = 1", 1, "first")
    return followed


@pytest.mark.parametrize("what", TEXTS)
def test_no_door_is_broken_by_it(what):
    first, second, third = cells_of(TEXTS[what])
    notebook = {"cells": [new_cell("code", text) for text in (second, 'hint("other", 2)')]}
    assert hints_taken(notebook) == {"other": 2}
    assert unneeded([first, second, third], [DEMONSTRATION]) == set()
    assert behind([second, third], "train")[-1].startswith("def train")
    assert not asked_twice().run(NoCells(), second, 2, "second").outputs
    assert own_text.array(TEXTS[what][:2000]) is None or what == "a long number"


@pytest.mark.parametrize("what", FATAL)
def test_a_parser_that_nothing_holds_back_is_broken_by_it(what):
    """The control: what the grader did with a cell that had `hint(` in a comment."""
    program = (
        "import ast, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (2, 2))\n"
        "try: ast.parse('# hint(\\n' + sys.stdin.read())\n"
        "except (SyntaxError, ValueError, RecursionError): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=TEXTS[what], text=True, capture_output=True
    )
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) or "MemoryError" in done.stderr


def test_all_of_them_in_one_notebook_cost_no_exercise(shared_course):
    id = "m01_motion"
    release = Release.load(shared_course, id)
    notebook = copy.deepcopy(release.notebook)
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "mean_speeds":
            cell["source"] += "\ndistance = 0"
    with Grader(shared_course) as grader:
        plain = grader.grade_job(Job("ada", id, content=json.dumps(notebook).encode()))
        notebook["cells"] += [new_cell("code", f"# hint(\n{text}") for text in TEXTS.values()]
        hostile = grader.grade_job(Job("ada", id, content=json.dumps(notebook).encode()))
    assert plain.grade.score is not None
    assert [e.score for e in hostile.grade.exercises] == [e.score for e in plain.grade.exercises]
    assert hostile.grade.score == plain.grade.score


# The timer may strike while something is finalised, and strikes again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "notebook",
    [
        {"cells": [{}] * 300_000},
        {"cells": [[[]]] * 1_000_000},
        {"cells": [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "x"}}}] * 100_000},
    ],
    ids=["empty cells", "lists for cells", "cells of one name"],
)
def test_a_notebook_that_is_too_much_earns_nothing_and_says_so(
    shared_course, notebook, monkeypatch
):
    """It is no fault of the grader's: withheld, it would come back at every run."""

    def impatient(item, work):
        return budget.bounded(item, work, 0.05)

    monkeypatch.setattr("autograder.course.submissions.handed_in.judging", impatient)
    with Grader(shared_course) as grader:
        job = Job("eve", "m01_motion", key="k", content=json.dumps(notebook).encode())
        graded = grader.grade_job(job)
    assert (graded.grade.score, graded.key) == (0, "k")
    assert {item.note for e in graded.grade.exercises for item in e.items} == {
        "unreadable_submission"
    }


def test_what_ended_a_grader_is_not_read_again(shared_course):
    """The process that takes its place is told, and gives 0 with a sentence."""
    with Grader(shared_course) as grader:
        try:
            content = json.dumps(grader.release("m01_motion").notebook).encode()
            job = Job("eve", "m01_motion", content=content, barred=("the notebook",))
            assert grader.grade_job(job).grade.score == 0
            job = Job("eve", "m01_motion", content=content, barred=("the cells (hints)",))
            assert grader.grade_job(job).grade.exercises[0].items[0].note == "blank"
        finally:
            budget.bar(())


def test_a_picture_of_spaces_is_looked_at_once():
    """Two stars beside one another tried every division of a row of spaces."""
    found = _pictures({"a.png": {"image/png": "A" + " " * 2_000_000 + "!"}})
    assert found == {}
    assert _pictures({"a.png": {"image/png": "QUJD\nREVG==\n"}})


def test_one_budget_within_another_leaves_the_outer_one_in_force():
    def endless():
        budget.judging("a.b", lambda: None)
        while True:
            pass

    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)
    with pytest.raises(budget.Exhausted):
        budget.bounded("a.c", endless, seconds=0.2)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)) == before
    assert not budget.is_open()


def test_what_is_being_judged_is_told_for_the_outer_one_again(monkeypatch):
    told = []
    monkeypatch.setattr(budget, "_tell", told.append)
    budget.judging("outer", lambda: budget.judging("inner", lambda: None))
    assert told == ["outer", "inner", "outer", ""]


def test_a_limit_is_measured_by_the_clock_that_it_is_counted_by(monkeypatch):
    """The other one lags where others share the processor: an answer would end the grader."""
    monkeypatch.setattr(budget, "_tell", lambda _: None)
    monkeypatch.setattr(budget.time, "process_time", lambda: -1000.0)
    limit, _ = budget.judging("x.y", lambda: resource.getrlimit(resource.RLIMIT_CPU))
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    assert limit > used + budget.SECONDS


def test_nothing_is_parsed_outside_of_a_budget():
    for parse in (own_text.names, own_text.statements):
        with pytest.raises(AssertionError, match="outside of any budget"):
            parse("x = 1")
        assert budget.bounded("x.y", lambda parse=parse: parse("x = 1"))


def test_deep_json_is_no_notebook():
    for text in ("[" * 1_000_000, '{"cells":' * 500_000, "9" * 10_000_000):
        with pytest.raises(Unreadable):
            parse_notebook(text.encode())


def test_a_notebook_of_other_cells_is_refused(shared_course):
    with pytest.raises(Unreadable, match="None of the cells"):
        restore(
            {"cells": [None, 1, {"cell_type": "code"}]}, Release.load(shared_course, "m01_motion")
        )


#: Who else makes Python of text, and whose text it is.
OTHERS = {
    "student": "ships, and runs on the student's own machine",
    "sandbox/inside": "runs in the locked-down process",
    "exercise/words/source": "a reference",
    "course/release/leak": "references and what is released of them",
    "course/proofs/helpers": "the course's helpers",
    "course/release/releasable": "stubs and references",
    "course/release/shipping": "packages that ship to students",
    "course/submissions/packages": "what references import",
    "course/proofs/verify": "stubs",
    "course/release/ways": "how a reference computes a part",
    "grading/changes": "what references are written in",
    "course/classes/simulate": "answers that a simulated class is given",
    "course/proofs/follow_through": "what a part of a reference uses",
    "algebra/reading/lexer": "our own tokens of formulas: within the budget of judging",
    "algebra/reading/grammar": "the same",
    "grading/depends": "`literal_eval` of a tree that came through the door",
    "grading/own_text": "the door",
}
_PARSING = {"compile", "eval", "exec", "literal_eval", "symtable", "tokenize"}
_MODULES = {"ast", "builtins", "code", "codeop", "symtable", "tokenize"}


def _parses(node):
    if not isinstance(node, ast.Call):
        return False
    match node.func:
        case ast.Name(id=name):
            return name in _PARSING
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return module in _MODULES and name in {*_PARSING, "parse", "generate_tokens"}
    return False


def test_no_other_module_parses_python():
    found = set()
    for path in sorted((ROOT / "autograder").rglob("*.py")):
        name = path.relative_to(ROOT / "autograder").with_suffix("").as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        known = any(name == one or name.startswith(f"{one}/") for one in OTHERS)
        if not known and any(map(_parses, ast.walk(tree))):
            found.add(name)
    assert found == set()


def test_the_readers_of_names_are_asked_by_authors_tools_and_the_door_alone():
    """`names` and what carries code parse as well: nobody else in the grader imports them."""
    may = {f"exercise/words/{name}" for name in ("source", "carried_source", "cell_names")}
    may |= {"grading/own_text", "course/proofs/helpers"}
    may |= {"course/release/carried_exercises", "course/release/releasable"}
    asked = ("autograder.exercise.words.cell_names", "autograder.student.names")
    asked += ("autograder.student.cells", "autograder.student.carried_code")
    found = set()
    for path in sorted((ROOT / "autograder").rglob("*.py")):
        name = path.relative_to(ROOT / "autograder").with_suffix("").as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.ImportFrom(module=module) if module in asked:
                    found.add(name)
                case ast.ImportFrom(module="autograder.exercise.words", names=names) if any(
                    alias.name == "cell_names" for alias in names
                ):
                    found.add(name)
    assert {one for one in found if not one.startswith("student/")} <= may


def test_the_search_finds_what_it_looks_for():
    """The control of both tests above."""
    for text in ("ast.parse(x)", "compile(x, '', 'exec')", "tokenize.tokenize(x)", "eval(x)"):
        assert any(map(_parses, ast.walk(ast.parse(text))))
    assert not any(map(_parses, ast.walk(ast.parse("re.compile(x); model.eval()"))))
