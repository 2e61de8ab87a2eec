"""Looks: what a notebook may tell of a graded answer, and what those get who want more of it."""

import hashlib
import json

import numpy as np
import pytest

from autograder.course import looks_given as bought
from autograder.course.config import CourseError
from autograder.course.release import looking
from autograder.course.release.build import build
from autograder.course.release.drawing import drawn
from autograder.course.release.leak import leaks
from autograder.course.submissions.giving_looks import give_look
from autograder.exercise import Count, Exercise, Numbers
from autograder.grading.look_prices import with_looks
from autograder.grading.results import ExerciseGrade, Item, Status
from autograder.student import looks
from autograder.student.judging import tolerance_of
from autograder.student.looks import rounded

FREE = [('"Mini"}]', '"Mini"}]\nc.Course.look = 0')]
PRICED = [('"Mini"}]', '"Mini"}]\nc.Course.look = 0.1')]
KEYS = 4  # fewer than in a course, which waits for them
MINE = f"""
import check as shipped
shipped.KEYS = {KEYS}
student("ada")
x = your_numbers("by_hand")["x"]
"""


@pytest.fixture
def offering(mini, write_release, as_student, monkeypatch):
    """Return a function that releases the small course with looks, and one that runs code there."""
    monkeypatch.setattr(looking, "LEAST", 2)
    monkeypatch.setattr(looking, "KEYS", KEYS)

    def make(config):
        assignment = mini(course_config=config)
        files = build(assignment)
        folder = write_release(files, assignment.course.root / "release" / assignment.id)

        def run(code):
            return as_student(folder, MINE + code)

        return assignment, files, run

    return make


def test_there_are_none_unless_a_course_wants_them(mini, released, as_student):
    assert "looks.json" not in build(mini())
    said = as_student(released, 'student("ada")\ncheck("by_hand", answer="doubled")')
    assert said.endswith("by_hand, a look\n  There is none here.\n")


def test_what_is_free_is_told_of_right_coarse_and_wrong_answers(offering):
    _, _, run = offering(FREE)
    said = run("""
doubled = [f"{2 * each:.4g}" for each in x]
check("by_hand", answer="doubled")
doubled = x**2
check("by_hand", answer=True)
doubled = 2 * x + 1
check("by_hand", answer="doubled")
doubled = None
check("by_hand", answer="doubled")
doubled = "a b"
check("by_hand", answer="doubled")
check("by_hand", answer="letter")
""")
    verdicts = [line for line in said.splitlines() if line.startswith("  ")]
    assert verdicts[0] == "  ✓ right    doubled"
    assert verdicts[1].startswith("  ✗ mistake  doubled: You squared the numbers.")
    assert verdicts[2].startswith("  ✗ wrong    doubled: not right to enough digits")
    assert verdicts[3] == "  – blank    doubled"
    assert verdicts[4].startswith("  ✗ form     doubled: ")
    assert verdicts[5] == '  There is one at answer="doubled".'


def test_nobody_is_told_anything_before_he_says_who_he_is(offering):
    _, _, run = offering(FREE)
    assert "Whose?" in run('student("")\ncheck("by_hand", answer="doubled")')


def test_what_is_shipped_holds_neither_answers_nor_sentences(offering):
    assignment, files, _ = offering(FREE)
    text = files["looks.json"].decode()
    assert leaks(assignment, {"check.json": files["looks.json"]}) == []
    assert "squared" not in text
    for _, known in drawn(assignment.sound["by_hand"], "mini"):
        assert not any(f"{each:.4g}" in text for each in known["doubled"])


def test_a_release_with_looks_is_the_same_every_time(offering):
    assignment, files, _ = offering(PRICED)
    assert build(assignment)["looks.json"] == files["looks.json"]


@pytest.mark.parametrize("answer", [Numbers(), Numbers(places=3), Numbers(tolerance=0.05)])
def test_whatever_counts_as_right_lies_in_one_cell(answer):
    exercise = Exercise("one", title="One", source="None", pool=64)

    @exercise.variant
    def draw(rng):
        return {"x": rng.normal(size=6) * 10.0 ** rng.integers(-3, 4)}

    @exercise.part(points=1, answer=answer)
    def y(x):
        """Them."""
        return x

    (part,), variants = exercise.parts, drawn(exercise, "mini")
    grid, rng = looking._grid(part, variants), np.random.default_rng(0)
    for _, known in variants:
        right, off = known["y"], tolerance_of(known["y"], part.answer.rule)
        shift = looking._shift(right, grid, float(off.max()))
        for _ in range(20):
            near = right + rng.choice([-1, 1], 6) * off
            assert rounded(near, grid, shift) == rounded(right, grid, shift)


# --- attacks -----------------------------------------------------------------------------------


def test_every_try_costs_all_keys_and_nothing_cheaper_tells_anything(offering, monkeypatch):
    """A script may try as often as it likes: what it can't do is to try for less."""
    assignment, files, _ = offering(FREE)
    entry = json.loads(files["looks.json"])["by_hand"]["doubled"]
    (_, known), *_ = drawn(assignment.sound["by_hand"], "mini")
    asked, slow = [], hashlib.scrypt
    monkeypatch.setattr(
        hashlib, "scrypt", lambda *args, **how: asked.append(how) or slow(*args, **how)
    )

    def opened(value):
        cells = rounded(value, entry["grid"], entry["boxes"][0]["shift"])
        place = looks.place_of("mini", "by_hand", "doubled", 0)
        keys = (looks.key_of(place, "", cells, number) for number in range(KEYS))
        return [f for key in keys if (f := looks.unlocked(key, entry["boxes"][0]["locked"]))]

    assert looks.KEYS == 128
    assert opened(known["doubled"] + 1) == []
    assert len(asked) == KEYS
    assert all(how["n"] * how["r"] * 128 >= 16 << 20 for how in asked)
    (right,) = opened(known["doubled"])
    assert np.allclose(right["right"], known["doubled"], rtol=1e-10)


def test_the_boxes_of_one_variant_do_not_open_those_of_another(offering):
    _, files, _ = offering(FREE)
    boxes = json.loads(files["looks.json"])["by_hand"]["doubled"]["boxes"]
    assert len({box for each in boxes for box in each["locked"]}) == sum(
        len(each["locked"]) for each in boxes
    )


def test_a_price_asks_for_a_code_that_is_for_one_part_and_one_variant(offering):
    assignment, _, run = offering(PRICED)
    cell = give_look(assignment.course, "ada", "a01/by_hand.doubled")
    others = (f"s{number}" for number in range(100))
    mine, pool = bought.code_of(assignment.course, "by_hand", "doubled", 0), 8
    assert all(
        mine != bought.code_of(assignment.course, "by_hand", "doubled", n) for n in range(1, pool)
    )
    other = next(
        cell_
        for who in others
        if (cell_ := give_look(assignment.course, who, "a01/by_hand.doubled")) != cell
    )
    right, said = "doubled = 2 * x\n", "  ✓ right    doubled"
    assert "It needs a code" in run(f'{right}check("by_hand", answer="doubled")')
    assert "This is no code" in run(f'{right}{cell[:-6]}AAAA")')
    assert "This is no code" in run(f"{right}{other}")
    assert said in run(f"{right}{cell}")
    assert said in run(f"{right}{cell.lower().replace('-', '')}")


def test_without_its_code_even_the_right_answer_opens_nothing(offering):
    """Who leaves the check of the code out gets no further."""
    _, _, run = offering(PRICED)
    said = run("""
shipped.seal_of = lambda *_: ""
known = shipped._looks()
for each in known["by_hand"]["doubled"]["boxes"]:
    del each["seal"]
shipped._looks = lambda: known
doubled = 2 * x
check("by_hand", answer="doubled", code="AAAA")
""")
    assert "✗ wrong" in said


def test_only_the_list_of_the_course_says_who_had_a_look(offering):
    """No cell of a notebook matters, so that none is worth taking away, copying or forging."""
    assignment, _, _ = offering(PRICED)
    course = assignment.course
    for _ in range(2):  # asked for again it is the same look
        give_look(course, "ada", "a01/by_hand.doubled")
    assert bought.looks_of(course, ["ada"]) == (("by_hand", "doubled"),)
    assert bought.looks_of(course, ["grace"]) == ()
    assert bought.looks_of(course, ["grace", "ada"]) == (("by_hand", "doubled"),)
    bought.rename_in_looks(course, "ada", "lovelace")
    assert bought.looks_of(course, ["lovelace"]) == (("by_hand", "doubled"),)
    assert (course.root / "looks.csv").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("config", "student", "part", "why"),
    [
        (FREE, "ada", "a01/by_hand.doubled", "need no code"),
        (PRICED, "ada", "a01/by_hand.doubld", "did you mean 'a01_mini/by_hand.doubled'"),
        (PRICED, "../ada", "a01/by_hand.doubled", "can't be a student's id"),
    ],
)
def test_what_can_not_be_given_is_said(offering, config, student, part, why):
    assignment, _, _ = offering(config)
    with pytest.raises(CourseError, match=why):
        give_look(assignment.course, student, part)


def test_a_list_that_somebody_spoilt_is_not_guessed_at(offering):
    assignment, _, _ = offering(PRICED)
    (assignment.course.root / "looks.csv").write_text("ada,by_hand\n")
    with pytest.raises(CourseError, match="no list of looks"):
        bought.looks_of(assignment.course, ["ada"])


@pytest.mark.parametrize("price", [0.3, -0.1, True, "0.1"])
def test_a_price_is_a_fifth_at_most(mini, price):
    with pytest.raises(CourseError, match=r"c\.Course\.look is"):
        mini(course_config=[('"Mini"}]', f'"Mini"}}]\nc.Course.look = {price!r}')])


# --- the price ---------------------------------------------------------------------------------


def graded(score):
    status = Status.PASSED if score == 2 else Status.PARTIAL if score else Status.FAILED
    items = [Item("y", "Y.", status, score, 2.0), Item("z", "Z.", Status.PASSED, 1.0, 1.0)]
    return ExerciseGrade.of("one", items)


@pytest.mark.parametrize(("score", "left"), [(2.0, 2.8), (0.1, 1.0), (0.0, 1.0)])
def test_a_look_costs_its_share_of_the_part_and_never_more_than_that_has(score, left):
    assert with_looks(graded(score), ["y"], 0.1).score == left


def test_where_nobody_looked_nothing_changes():
    assert with_looks(graded(2.0), ["of another"], 0.1) == graded(2.0)


# --- how many answers there are ----------------------------------------------------------------


def chain():
    exercise = Exercise("chain", title="Chain", source="None", pool=64)

    @exercise.variant
    def draw(rng):
        return {"x": rng.normal(size=4), "k": int(rng.integers(1, 4))}

    @exercise.part(points=1, answer=Numbers())
    def weights(x):
        """They sum to 1."""
        return np.exp(x) / np.exp(x).sum()

    @exercise.part(points=1, answer=Count())
    def few(k):
        """One of three."""
        return k

    @exercise.part(points=1, answer=Numbers())
    def after(few, x):
        """Known to who knows which of the three."""
        return few * x

    return exercise


def test_what_follows_from_the_rest_is_not_counted():
    exercise = chain()
    tries = looking.plausible(exercise, drawn(exercise, "mini"))
    assert 10**3 < tries["weights"] <= 64**3
    assert tries["few"] < 4
    assert tries["after"] == tries["few"]
