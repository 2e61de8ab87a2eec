"""What an author can get wrong, `verify` says."""

import numpy as np
import pytest

from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment, load_exercise
from autograder.course.proofs.guessing import blindly, guessed
from autograder.course.proofs.vacuous import vacuous
from autograder.course.proofs.verify import Proof, verify
from autograder.course.release.drawing import drawn
from autograder.exercise import Exercise, Formula, properties, require

TEXT = """
# %% [markdown]
# # Toy

# %% exercise="toy"
a = b = None
def double(x):
    raise NotImplementedError
"""

HEAD = '''
import numpy as np
from autograder.exercise import Exercise, Numbers, agree

exercise = Exercise("toy", title="Toy", source="none")

@exercise.part(points=1, answer=Numbers())
def a():
    """A number."""
    return 2.0

@exercise.reference
def double(x):
    return 2 * x

@exercise.check(points=1)
def doubles(call, rng):
    """Doubles."""
    x = rng.normal(size=3)
    agree(call(x), double(x))

@exercise.misconception
def squares(x):
    """You squared."""
    return x**2
'''


@pytest.fixture
def proof(tmp_path):
    def prove(more="", text=TEXT, head=HEAD):
        (tmp_path / "course_config.py").write_text(
            "c = get_config()\nc.Course.assignments = [{'id': 'toys', 'title': 'Toys'}]\n"
        )
        for folder, name, content in (
            ("assignments", "toys", text),
            ("reference", "toy", head + more),
        ):
            path = tmp_path / folder / "toys" / f"{name}.py"
            path.parent.mkdir(parents=True)
            path.write_text(content)
        (proof,) = verify(load_assignment(Course.load(tmp_path), "toys"))
        return proof

    return prove


@pytest.fixture
def problems(proof):
    return lambda *more, **changed: " | ".join(proof(*more, **changed).problems)


def test_a_sound_exercise_has_no_problems(problems):
    assert problems() == ""


def test_the_sample_course_proves_itself(course):
    proofs = [proof for id in course.ids() for proof in verify(load_assignment(course, id))]
    assert [proof.problems for proof in proofs] == [[], [], []]


def test_digits_and_units_are_typed_as_asked_for(problems):
    head = HEAD.replace("Numbers()", 'Numbers(figures=3, unit="MiB")')
    more = "\n@a.misconception()\ndef half():\n    'Half.'\n    return 1.0\n"
    assert problems(more, head=head) == ""


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            "\n@exercise.misconception\ndef adds(x):\n    'You added.'\n    return x + x\n",
            "misconception `adds` passes every check",
        ),
        (
            "\n@exercise.misconception\ndef also_squares(x):\n    'Same.'\n    return x * x\n",
            "`doubles` can't tell `squares` from `also_squares`",
        ),
        (
            "\n@exercise.check(points=1)\ndef is_an_array(call, rng):\n    'Array.'\n    call(1)\n",
            "no misconception fails the check `is_an_array`",
        ),
        (
            "\n@exercise.misconception\ndef alone(x):\n    'One.'\n    return float(x.sum())\n"
            "\n@exercise.check(points=1)\ndef pair(call, rng):\n    'Two.'\n"
            "    a, b = call(np.ones(2))\n",
            "misconception `alone` fails `pair` as nothing known",
        ),
        (
            "\n@exercise.alternative\ndef triple(x):\n    return 3 * x\n",
            "`triple` is right but fails `doubles`",
        ),
        (
            "\n@a.alternative\ndef three():\n    return 3\n",
            "`three` is right but fails `a`",
        ),
        (
            "\n@a.misconception()\ndef nearly():\n    'Nearly.'\n    return 2.0001\n",
            "misconception `nearly` of `a` is graded passed",
        ),
        (
            "\n@a.misconception()\ndef one():\n    'One.'\n    return 1\n"
            "\n@a.misconception()\ndef uno():\n    'Uno.'\n    return 1\n",
            "`a` can't tell `one` from `uno`",
        ),
        (
            "\n@exercise.variant\ndef draw(rng):\n    return {'q': 1}\n"
            "\n@a.misconception()\ndef two(q):\n    'Two.'\n    return 2 * q\n",
            "only 0 of 2000 draws tell every misconception from the right answer",
        ),
        ("\n1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_is_said(problems, more, says):
    assert says in problems(more)


@pytest.mark.parametrize(
    ("assumptions", "asked"), [("", True), (", {'*': 'matrix'}", False), (", {'*': 'real'}", False)]
)
def test_names_that_may_be_matrices_are_asked_for(problems, assumptions, asked):
    part = (
        f"\n@exercise.part(points=1, answer=Formula('Q K'{assumptions}))\n"
        "def b():\n    'A product.'\n    return 'Q K^T'\n"
        "\n@b.misconception()\ndef twice():\n    'Each counts once.'\n    return '2 Q K^T'\n"
        "\n@b.misconception()\ndef swapped():\n    'The first comes first.'\n    return 'K Q^T'\n"
    )
    found = problems(part, head=HEAD.replace("Numbers,", "Formula, Numbers,"))
    assert ("`b`: nobody has said whether K and Q are numbers" in found) == asked


def test_drawing_that_has_no_end_is_said(problems, monkeypatch):
    monkeypatch.setattr("autograder.course.release.drawing.DRAW_SECONDS", 0.5)
    endless = "\n@exercise.variant\ndef draw(rng):\n    while True:\n        rng.random()\n"
    assert problems(endless).startswith(
        "the variants are not drawn after 0.5 seconds of processor time, or take all memory: "
        "does a loop in `draw`"
    )


@pytest.mark.parametrize(
    ("stub", "says"),
    [
        ("a = 2\ndef double(x): raise NotImplementedError", "the stub earns 1 for a"),
        ("a = None\ndef double(x): return 2 * x", "the stub earns 1 for doubles"),
        ("a = None", "does not define `double`"),
        ("a = (", "the stub does not run: SyntaxError"),
    ],
)
def test_a_stub_must_run_and_earn_nothing(problems, stub, says):
    text = f'# %% [markdown]\n# # Toy\n\n# %% exercise="toy"\n{stub}\n'
    assert says in problems(text=text)


def test_a_reference_that_fails_its_own_check(problems):
    head = HEAD.replace("agree(call(x), double(x))", "agree(call(x), 3 * x)")
    assert "`double` is right but fails `doubles`" in problems(head=head)


DRAWN = """
@exercise.variant
def draw(rng):
    return {'q': int(rng.integers(1, 4))}

@exercise.part(points=1, answer=Numbers())
def b(q):
    'Four times a number.'
    return 4.0 * q
"""


def mistake(name, value):
    return f"\n@b.misconception()\ndef {name}(q):\n    'Wrong: {name}.'\n    return {value}\n"


def test_a_mistake_that_some_numbers_hide_is_named_and_drawn_around(proof):
    found = proof(DRAWN + mistake("squared", "4.0 * q**2"))
    assert not found.problems
    (hidden,) = found.hidden
    assert (hidden.misconception, hidden.released) == ("squared", [])
    assert hidden.draws > 5
    (note,) = found.notes
    assert note.endswith(f"a mistake gave the right answer: `squared` {hidden.draws}")


def test_mistakes_that_meet_in_some_variants_are_a_note(proof):
    found = proof(DRAWN + mistake("plain", "2.0 * q") + mistake("squared", "q**2 + 1e-9"))
    assert not found.problems
    (twins,) = found.twins
    assert (twins.place, twins.first, twins.second, twins.of) == ("b", "plain", "squared", 64)
    assert 5 < len(twins.variants) < 50
    (note,) = found.notes
    assert note.startswith(f"`b` can't tell `plain` from `squared` in {len(twins.variants)} of 64")


def test_numbers_that_nobody_draws_may_hide_nothing_either(problems):
    close = "\n@a.misconception()\ndef close():\n    'Close.'\n    return 2.002\n"
    assert "misconception `close` can't be told from the right answer" in problems(close)


def test_an_alternative_must_be_right_in_every_variant(problems):
    other = "\n@b.alternative\ndef other(q):\n    return 4.0 * q if q < 3 else 0\n"
    assert "`other` is right but fails `b`" in problems(DRAWN + other)


SECOND = """
@exercise.reference
def halve(x):
    return x / 2

@exercise.check(points=2)
def halves(call, rng):
    "Halves."
    x = rng.normal(size=3)
    agree(call(double(x)), x)
"""
ROOTS = """
@exercise.misconception
def roots(x):
    "You took the root."
    return np.sqrt(abs(x))
"""


def test_an_exercise_with_two_functions(proof):
    stub = "def halve(x):\n    raise NotImplementedError\n"
    assert proof(SECOND + ROOTS, text=TEXT + stub).problems == []


@pytest.mark.parametrize(
    ("more", "stub", "says"),
    [
        (SECOND + ROOTS, "", "the stub does not define `halve`"),
        (SECOND + ROOTS, "def halve(x): return x / 2\n", "the stub earns 2 for halves"),
        (SECOND, "halve = None\n", "no misconception fails the check `halves`"),
        (SECOND.partition("@exercise.check")[0], "halve = None\n", "`halve` has no check"),
    ],
)
def test_each_of_two_functions_proves_itself(problems, more, stub, says):
    assert says in problems(more, text=TEXT + stub)


KIND = """
from autograder.exercise import Attempt

class Tried(Numbers):
    def attempts(self, right):
        yield Attempt("the right one", right, at_least=1)
        yield Attempt("a thousand", 1000.0, at_most=0)
        yield {attempt}

@exercise.part(points=1, answer=Tried())
def c():
    "Three."
    return 3.0
"""


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        ("Attempt('in text', '3', at_most=0.5)", "`c`: in text earns 100%, at most 50% is due"),
        ("Attempt('a fraction', '7/2', at_least=1)", "`c`: a fraction earns 0%, at least 100%"),
        ("Attempt('a fraction', '6/2', at_least=1)", ""),
    ],
)
def test_what_students_try_earns_what_is_due(problems, attempt, says):
    text = TEXT.replace("a = b = None", "a = b = c = None")
    found = problems(KIND.replace("{attempt}", attempt), text=text)
    assert says in found if says else found == ""


VACUOUS = """
@exercise.check(points=1)
def never_negative(call, rng):
    "No entry is negative."
    require(np.all(np.asarray(call(np.ones(3))) >= 0), "negative")

@exercise.misconception
def turned_round(x):
    "You changed the sign."
    return -2 * x
"""


@pytest.mark.parametrize("asked", ["call(np.ones(3))", "call.once(np.ones(3))"])
@pytest.mark.parametrize("drawn", ["", ', draws="x"'])
def test_a_property_that_anything_has_is_none(proof, asked, drawn):
    vacuous = VACUOUS.replace("call(np.ones(3))", asked).replace("points=1", f"points=1{drawn}")
    found = proof(vacuous, head=HEAD.replace("agree\n", "agree, require\n"))
    assert "`double` earns 1 of 3 with zeros for every result: `never_negative`" in " ".join(
        found.problems
    )
    tried = {each.tried for each in found.vacuous if each.too_much}
    assert tried >= {"zeros", "ones", "the first argument"}
    assert "NaN" not in tried


def measuring(*, is_drawn):
    """The mean of squares, measured with a seed."""
    exercise = Exercise("measuring", title="Measuring", source="none")

    @exercise.reference
    def mean_square(seed):
        return float((np.random.default_rng(seed).standard_normal(50_000) ** 2).mean())

    @exercise.check(points=1)
    def is_near_one(call, rng):
        """Ten seeds give ten results near 1."""
        found = [call(int(seed)) for seed in rng.choice(1000, 10, replace=False)]
        require(np.allclose(found, 1, atol=0.05), "it isn't 1")
        require(len({*found}) == 10, "some are the same")
        if is_drawn:
            properties.drawn(call, 1, numbers=50_000)

    return exercise.functions[0]


@pytest.mark.parametrize("is_drawn", [False, True])
def test_an_experiment_is_told_from_theory_with_noise(is_drawn):
    tried = [each.tried for each in vacuous(measuring(is_drawn=is_drawn), 1) if each.too_much]
    assert tried == ([] if is_drawn else ["the results of other draws, with some noise,"])


def test_what_is_earned_without_a_thought_has_a_limit_that_an_author_may_raise(proof, tmp_path):
    found, course = proof(head=HEAD.replace("return 2.0", "return 2")), Course.load(tmp_path)
    (said,) = guessed([found], course)
    assert "without a thought earn 1 of 2 points; more than 2% is too much" in said
    assert '"guessed": (0.50, "why")' in said
    config = tmp_path / "course_config.py"
    config.write_text(config.read_text().replace("'Toys'}", "'Toys', 'guessed': (0.6, 'a toy')}"))
    assert guessed([found], Course.load(tmp_path)) == []
    config.write_text(config.read_text().replace("(0.6, 'a toy')", "0.6"))
    with pytest.raises(CourseError, match='"guessed" of toys is 0.6; it is a share of the points'):
        Course.load(tmp_path)


def test_the_same_answer_everywhere_is_guessed_and_not_the_best_of_each():
    proofs = [Proof("a", name, 10, guesses=own) for name, own in (("x", (1, 0)), ("y", (0, 2)))]
    assert blindly(proofs) == 2


DEAR = """
@exercise.check(points=1)
def keeps_the_shape(call, rng):
    "Keeps the shape."
    found = np.asarray(call(np.full(3, 2.0)), float)
    require(found.shape != (2,), "another shape", credit={credit})
    require(found.shape == (3,) and found.sum() == 12, "another sum")

@exercise.misconception{fatal}
def cuts(x):
    "You cut."
    return x[1:]
"""


@pytest.mark.parametrize(
    ("credit", "fatal", "costs", "notes"),
    [
        (0, "", 1, []),
        (
            0,
            '(fatal="nothing is left")',
            2,
            ["mistakes that leave nothing: `cuts` (nothing is left)"],
        ),
        (0.9, "", 1, []),
    ],
)
def test_a_mistake_is_paid_for_once_unless_it_is_fatal_for_a_reason(
    proof, credit, fatal, costs, notes
):
    head = HEAD.replace("Numbers, agree", "Numbers, agree, require")
    found = proof(DEAR.replace("{credit}", str(credit)).replace("{fatal}", fatal), head=head)
    assert not found.problems
    assert found.notes == notes
    prices = {price.misconception: price.lost for price in found.prices}
    assert (prices["cuts"], prices["squares"]) == (costs, 1)


def test_a_fatal_mistake_needs_a_reason(proof):
    found = proof(DEAR.replace("{credit}", "0").replace("{fatal}", "(fatal=True)"))
    assert 'fatal="nothing is sampled"' in found.problems[0]


@pytest.mark.parametrize(("value", "blind"), [(2.0, 1), (0.0, 1), (3.7, 0)])
def test_what_is_earned_without_a_thought(proof, value, blind):
    assert proof(head=HEAD.replace("return 2.0", f"return {value}")).blind == blind


def test_what_an_author_s_function_raises_names_it_with_the_draw_and_the_line(tmp_path):
    path = tmp_path / "ratio.py"
    path.write_text(
        "from autograder.exercise import Exercise, Numbers\n\n"
        'exercise = Exercise("ratio", title="Ratio", source="None")\n\n\n'
        "@exercise.variant\ndef draw(rng):\n"
        '    """n: a number."""\n    return dict(n=int(rng.integers(0, 100)))\n\n\n'
        "@exercise.part(points=1, answer=Numbers())\ndef ratio(n):\n"
        '    """One over n - n."""\n    return [1 / (n - n)]\n'
    )
    exercise = load_exercise(path)
    with pytest.raises(CourseError, match=r"ratio.py:15, in ratio\(n = \d+\), draw \d+: ZeroDiv"):
        drawn(exercise, "c")


def test_a_misspelt_assumption_is_said_where_it_is_written():
    with pytest.raises(ValueError, match=r"'positiv' of x \(did you mean 'positive'\?\)"):
        Formula("x y", assumptions={"x": "positiv"})
