"""Practice in the notebook: numbers that are nobody's, and the grader's own rule offline."""

import json

import pytest

from autograder.course.proofs.helping import helping_problems, told_problems
from autograder.course.release.build import build
from autograder.course.release.practice_sets import practice_sets
from autograder.exercise import Exercise, Numbers
from autograder.exercise.words.dependencies import solve
from autograder.exercise.words.variants import draws
from autograder.student.practice_diagnosis import diagnosed

HALVED = '''
@exercise.part(points=1, answer=Numbers())
def rest(doubled):
    """Your doubled numbers, less 1."""
    return doubled - 1

@exercise.part(points=1, answer=Choice("AB"))
def letter():'''
TWO_PARTS = [('\n@exercise.part(points=1, answer=Choice("AB"))\ndef letter():', HALVED)]
STUB = [("doubled = None", "doubled = None\nrest = None")]


@pytest.fixture
def practising(mini, write_release, as_student):
    """Return a function that runs code in the folder of the small course, after its numbers."""
    assignment = mini(by_hand=TWO_PARTS, a01_mini=STUB)
    files = build(assignment)
    folder = write_release(files, assignment.course.root / "release" / assignment.id)

    def run(code):
        return as_student(folder, f'x = practice("by_hand")["x"]\n{code}')

    return run


def test_no_more_numbers_are_drawn_for_practice_than_are_kept():
    exercise, drawn = Exercise("doubling", title="Doubling", source="none"), []

    @exercise.variant
    def draw(rng):
        drawn.append({"n": int(rng.integers(10**6))})
        return drawn[-1]

    @exercise.part(points=1, answer=Numbers())
    def doubled(n):
        """Twice your number."""
        return 2 * n

    graded = [solve(exercise, variant) for variant in draws(exercise, "course", 20).pool]
    drawn.clear()
    asked, sets = practice_sets(exercise, exercise.parts, "course", 3, graded)
    assert asked == exercise.parts
    assert [variant for variant, _ in sets] == drawn
    assert len(drawn) == 3


def test_practice_shows_its_numbers_what_is_asked_and_how_to_answer(practising):
    lines = practising("print(x.shape)").splitlines()
    assert lines[0] == "by_hand, practice 1 of 8"
    assert "  doubled: Twice your numbers." in lines
    assert 'practice("by_hand", doubled=..., rest=...)' in lines


def test_right_answers_are_said_to_be_right_at_once(practising):
    said = practising('practice("by_hand", doubled=2 * x, rest=2 * x - 1)')
    assert "✓ right    doubled\n  ✓ right    rest" in said
    assert "All right." in said


def test_a_known_mistake_is_named_and_paid_for_once(practising):
    said = practising('practice("by_hand", doubled=x**2, rest=x**2 - 1)')
    assert "✗ mistake  doubled: You squared the numbers." in said
    assert "✓ follows  rest: right, given your own doubled" in said


def test_of_an_unknown_mistake_the_right_entries_are_counted(practising):
    said = practising('y = 2 * x; y[0] += 1; practice("by_hand", doubled=y, rest=y + 7)')
    assert f"of {2 if '1 of 2' in said else 3} entries" in said
    (rest,) = (line for line in said.splitlines() if "mend that first" in line)
    assert rest.startswith("  ? open     rest: ")
    assert rest.endswith("It may follow from your doubled: mend that first.")


def test_what_can_not_be_read_is_told_as_check_tells_it(practising):
    said = practising(
        'practice("by_hand", doubled="a b", rest=[[1]]); practice("by_hand", dubled=1)'
    )
    assert "✗ form     doubled: numbers are expected, not 'a b'" in said
    assert "There is no `dubled` to practise. Did you mean doubled?" in said


def test_solution_shows_the_values_and_the_next_practice_has_other_numbers(practising):
    said = practising(
        'solution()\ny = practice("by_hand")["x"]\nprint(x.tolist() != y.tolist())\n'
        'practice("by_hand", doubled=2 * y)'
    )
    lines = said.splitlines()
    first = lines.index("by_hand, practice 1 of 8, how it comes out:")
    lines = lines[first : lines.index("by_hand, practice 2 of 8")]
    assert lines[1].startswith("  x = [")
    _, formula, filled, value = lines[lines.index("  doubled: Twice your numbers.") :][:4]
    assert formula.strip() == "= 2·x + 0·sum(x)"
    assert filled.strip().startswith("= 2·[")
    assert value.strip().startswith(("2 numbers: ", "3 numbers: "))
    assert lines[-3].strip() == "= doubled − 1"
    assert "True\nby_hand, practice 2 of 8\n  ✓ right    doubled" in said


def test_what_can_not_be_practised_says_why(mini, write_release, as_student):
    assignment = mini(norm=[('source="None")', 'source="None", practice="it is an experiment")')])
    folder = write_release(build(assignment), assignment.course.root / "release" / assignment.id)
    assert "norm can't be practised: it is an experiment." in as_student(folder, 'practice("norm")')


RIGHT = """
import numpy as np

def norm(x, axis=-1, *, keep=False):
    return np.sqrt(np.sum(x**2, axis=axis, keepdims=keep))
"""
NO_ROOT = RIGHT.replace("np.sqrt(", "(")
OF_THREE_ROWS = RIGHT.replace("return", "return x[:, 0] if axis == -1 else")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (RIGHT, "✓ passed     Equals the root of the sum of squares."),
        (NO_ROOT, "✗ mistake    You forgot the root. A length has the unit of its entries."),
        ("", "✗ undefined  `norm` is not defined yet: run its cell first"),
        ("def norm(x): raise NotImplementedError", "– blank      `norm` is not written yet"),
        ("norm = 3", "✗ form       `norm` should be a function"),
    ],
)
def test_a_function_is_tried_on_other_inputs_and_its_mistake_named(
    released, as_student, code, said
):
    assert said in as_student(released, f'{code}\npractice("norm")')


def test_the_smallest_input_that_shows_it_is_shown_with_what_came(released, as_student):
    said = as_student(released, f'{OF_THREE_ROWS}\npractice("norm")')
    assert "with 3 of 3 draws" in said
    assert "norm(x)    (call 1 of 2)" in said
    assert "expected = " in said
    assert "mistake" not in said  # nobody knows this one


def test_inputs_of_practice_are_others_than_those_of_check_and_short(mini):
    files = build(mini())
    known = json.loads(files["check.json"])["exercises"]["norm"]["functions"][0]["checks"][0]
    practice = json.loads(files["help.json"])["norm"]["practice"]["functions"][0]["checks"][0]
    asked = [known["calls"], *(each["calls"] for each in practice["sets"])]
    drawn = [json.dumps(calls[0]["args"]) for calls in asked]
    assert len({*drawn}) == 4
    assert max(map(len, drawn[1:])) < 0.6 * len(drawn[0])


def test_of_a_mistake_that_only_hidden_checks_find_nothing_ships(mini):
    clipped = """
@exercise.misconception
def tiny_is_nothing(x, axis=-1, *, keep=False):
    \"\"\"You take tiny numbers for zeros. The root makes them larger.\"\"\"
    return norm(np.where(abs(x) < 1e-15, 0, x), axis, keep=keep)

@exercise.misconception
def always_double("""
    files = build(mini(norm=[("\n@exercise.misconception\ndef always_double(", clipped)]))
    assert b"forgot the root" in files["help.json"]
    assert b"tiny numbers for zeros" not in files["help.json"]


def test_solution_of_a_function_is_not_shown(released, as_student):
    assert 'functions are practised: practice("norm")' in as_student(released, 'solution("norm")')


def test_an_answer_that_is_the_same_for_everybody_is_not_practised(mini):
    practice = json.loads(build(mini())["help.json"])["by_hand"]["practice"]
    assert [part["name"] for part in practice["parts"]] == ["doubled"]


FEW = '''
@exercise.part(points=1, answer=Numbers())
def parity(k):
    """Is k odd?"""
    return k % 2

@exercise.part(points=1, answer=Numbers())
def capped(k):
    """The smaller one of k and 5."""
    return min(k, 5)

@exercise.part(points=1, answer=Choice("AB"))
def letter():'''


def test_what_a_practice_shows_is_right_for_at_most_a_quarter_of_a_class(mini):
    letter = '\n@exercise.part(points=1, answer=Choice("AB"))\ndef letter():'
    stub = [("doubled = None", "doubled = None\nparity = None\ncapped = None")]
    more = ('source="None", pool=8)', 'source="None", pool=64)')
    practice = json.loads(build(mini(by_hand=[(letter, FEW), more], a01_mini=stub))["help.json"])
    found = practice["by_hand"]["practice"]
    assert [part["name"] for part in found["parts"]] == ["doubled", "capped"]  # one of two is known
    shown = [each["right"]["capped"]["right"] for each in found["sets"]]
    assert [5] not in shown  # which most have


THRICE = '''
@exercise.part(points=1, answer=Numbers())
def thrice(k):
    """Three times k."""
    return 3 * k

@exercise.part(points=1, answer=Choice("AB"))
def letter():'''


def test_all_sets_together_have_the_numbers_of_a_part_of_at_most_a_quarter_of_a_class(mini):
    """A part that uses one number of seven: each answer is right for a seventh, all for all."""
    letter = '\n@exercise.part(points=1, answer=Choice("AB"))\ndef letter():'
    stub = [("doubled = None", "doubled = None\nthrice = None")]
    more = ('source="None", pool=8)', 'source="None", pool=64)')
    course = mini(by_hand=[(letter, THRICE), more], a01_mini=stub)
    files = build(course)
    practice = json.loads(files["help.json"])["by_hand"]["practice"]
    pool = json.loads(files["check.json"])["exercises"]["by_hand"]["pool"]
    shown = {each["numbers"]["k"] for each in practice["sets"]}
    asked = [part["name"] for part in practice["parts"]]
    assert "thrice" not in asked or sum(each["k"] in shown for each in pool) <= len(pool) / 4
    assert "doubled" in asked


HINTED = [('source="None", pool=8)', 'source="None", pool=8, hints=["Look at x.", "Add x to x."])')]


def test_hints_come_one_at_a_time_and_only_where_there_are_any(mini, write_release, as_student):
    assignment = mini(by_hand=HINTED)
    folder = write_release(build(assignment), assignment.course.root / "release" / assignment.id)
    said = as_student(
        folder, 'hint("by_hand"); hint("by_hand", 2); hint("by_hand", 3); hint("norm")'
    )
    assert said.splitlines() == [
        "Hint 1 of 2: Look at x.",
        'The next one: hint("by_hand", 2)',
        "Hint 2 of 2: Add x to x.",
        'There are hints 1 to 2: hint("by_hand", 1) is the first.',
        "There are no hints for norm.",
    ]


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        ("Take the letter A for that.", "hint 1 says A, the right answer to `letter`"),
        ("It is a + b_1, as you see.", "hint 1 says a + b_1, the right answer to `formula`"),
        ("You forgot the root. Take it.", "a hint gives it away"),
        ("A number comes first.", ""),
    ],
)
def test_a_hint_that_gives_an_answer_away_is_refused(mini, hint, problem):
    assignment = mini(by_hand=[("pool=8)", f'pool=8, hints=["{hint}"])')])
    exercise = assignment.sound["by_hand"]
    found = [
        *helping_problems(exercise, "mini", draws(exercise, "mini").pool),
        *told_problems(assignment, exercise),
    ]
    assert len(found) == bool(problem)
    assert problem in "".join(found)


def test_two_mistakes_at_once_are_both_named():
    letters = {"options": "ABCDEF", "multiple": True}
    part = {"name": "a", "hint": {"kind": "choice", **letters}, "rule": letters, "needs": []}
    part |= {"says": ["B applies, too.", "D is never true."], "asks": ["Which apply?"]}
    worked = {"right": {"a": {"right": ["AB"], "wrong": [[0, "A"], [1, "ABD"]]}}}
    (said,) = diagnosed([part], worked, {"a": "AD"})
    count = "Of 2 that apply 1 are marked, and 1 that do not apply."
    assert said == ("a", "mistake", f"{count} B applies, too. D is never true.")
    (said,) = diagnosed([part], worked, {"a": "ABF"})
    assert said.mark == "partly"


STATED = '''
chain = Chain(start="diff(x^2 + x, x)", target="2*x + 1", names=("x",))
OTHER = ("diff(x^3 - x, x)", "diff(x^3, x) - diff(x, x)", "3*x^2 - 1")

@exercise.part(points=1, answer=Derivation(chain, practice=OTHER))
def steps():
    """The derivative of x² + x, one equality a line."""
    return ["diff(x^2 + x, x)", "diff(x^2, x) + diff(x, x)", "2*x + 1"]

@exercise.part(points=1, answer=Choice("AB"))
def letter():'''
LETTER = '\n@exercise.part(points=1, answer=Choice("AB"))\ndef letter():'
DERIVED = [
    (LETTER, STATED),
    (
        "from autograder.exercise import",
        "from autograder.algebra import Chain\nfrom autograder.exercise import Derivation,",
    ),
]


@pytest.fixture
def deriving(mini, write_release, as_student):
    """Return a function that practises lines of another statement than the graded one."""
    assignment = mini(
        by_hand=DERIVED, a01_mini=[("doubled = None", "doubled = None\nsteps = None")]
    )
    folder = write_release(build(assignment), assignment.course.root / "release" / assignment.id)
    return lambda lines: as_student(folder, f'practice("by_hand", steps={lines!r})')


def test_a_derivation_is_practised_on_another_statement(deriving):
    said = deriving(["diff(x^3 - x, x)", "diff(x^3, x) - 1", r"3 x^2 - 1"])
    assert "✓ right    steps: at every point that was drawn each line equals the one before" in said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["diff(x^3 - x, x)", "diff(x^3, x) + 1", "3*x^2 + 1"],
            "✗ wrong    steps: Line 2 is not equal to line 1: at x = 1.48,",
        ),
        (["3*x^2 - 1"], "Show what stands between what is given and the result."),
        (["diff(x^3 - x, x)", "3*x^2 - 1"], "Show what stands between"),
        (["diff(x^3, x) - diff(x, x)"], "the last is not yet in the form 3*x^2 - 1."),
        (["diff(x^2 + x, x)", "2*x + 1"], "Line 1 is not equal to what is given"),
        (["diff(x^3 - x, x"], "✗ form     steps: line 1:"),
        (["diff(x^3 - x, x)", "cosh(x)", "3*x^2 - 1"], "steps: a notebook can't compute line 2:"),
    ],
)
def test_a_line_that_differs_is_shown_with_a_point(deriving, lines, said):
    assert said in deriving(lines)


ASKED_OTHERWISE = """
OTHER = "The derivative of x^n.", "n*x^(n - 1)"

@exercise.part(points=1, answer=Formula("x n", {"*": "positive"}, practice=OTHER))
def power():
    \"\"\"An antiderivative of x^n.\"\"\"
    return "x^(n + 1)/(n + 1)"


@power.misconception()
def not_divided():
    \"\"\"Differentiate it: what does that give?\"\"\"
    return "x^(n + 1)"
"""


@pytest.fixture
def formulating(mini, write_release, as_student):
    """Return a function that practises a formula that is asked for otherwise than in grading."""
    changed = [(LETTER, ASKED_OTHERWISE), ("exercise import", "exercise import Formula,")]
    assignment = mini(by_hand=changed, a01_mini=[("doubled = None", "doubled = power = None")])
    folder = write_release(build(assignment), assignment.course.root / "release" / assignment.id)
    return lambda code: as_student(folder, code)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("n*x^n/x", "✓ right    power"),
        ("n*x^n", "✗ wrong    power: At n = 1."),
        ("x^(n + 1)/(n + 1)", "✗ wrong    power"),
        ("n*x^(n - ", "✗ form     power"),
        ("diff(x^n, x)", "✗ form     power"),
        ("cosh(x)", "power: a notebook can't compute this formula"),
    ],
)
def test_a_formula_is_practised_on_another_question(formulating, answer, said):
    assert said in formulating(f'practice("by_hand", power={answer!r})')


def test_the_other_question_is_asked_and_its_answer_shown(formulating):
    said = formulating('practice("by_hand")\nsolution()')
    assert said.count("power: Another question: The derivative of x^n.") == 2
    assert "n·x^(n − 1)" in said
    assert "antiderivative" not in said


def test_what_is_right_already_is_not_asked_again(practising):
    said = practising('practice("by_hand").doubled = 2 * x\npractice("by_hand")')
    asked = said[said.rindex("by_hand, practice") :]
    assert "  doubled:" not in asked
    assert "  rest:" in asked
    assert "Right so far: doubled." in asked


def test_practice_says_which_answers_are_left_out(mini, write_release, as_student):
    changed = [(LETTER, ASKED_OTHERWISE.replace(", practice=OTHER", ""))]
    changed += [("exercise import", "exercise import Formula,")]
    assignment = mini(by_hand=changed, a01_mini=[("doubled = None", "doubled = power = None")])
    folder = write_release(build(assignment), assignment.course.root / "release" / assignment.id)
    said = as_student(folder, 'practice("by_hand")')
    assert (
        "Left out, as nearly everybody has the same answer, or many are right: power, formula."
        in said
    )


def test_answers_go_in_one_at_a_time_and_the_numbers_stay_until_all_are_right(practising):
    said = practising(
        'practice("by_hand").doubled = -2 * x\n'
        'p = practice("by_hand")\np.doubled = 2 * p["x"]\nprint((p["x"] == x).all())\n'
        "p.rest = 2 * x - 1\n"
        'print(practice("by_hand")["x"].tolist() == x.tolist())'
    )
    assert "✗ wrong    doubled: It is right but for its sign." in said
    lines = said.splitlines()
    assert [line for line in lines if line in ("True", "False")] == ["True", "False"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("y = -2 * x", "It is right but for its sign."),
        ("y = (2 * x)[::-1]", "The numbers are right, in the reverse order."),
        ("y = 2 * x; y[1] += 1", "Look first at the one at [1]."),
    ],
)
def test_a_wrong_answer_without_a_name_is_told_where_to_look(practising, change, said):
    assert said in practising(f'{change}; practice("by_hand", doubled=y)')


def test_solution_is_of_what_was_answered_last(practising):
    said = practising('practice("by_hand", doubled=2 * x); solution()')
    assert "by_hand, practice 1 of 8, how it comes out:" in said
