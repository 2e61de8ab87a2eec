"""Steps in order: any right order earns everything, what takes no thought earns nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.proofs.verify import part_problems
from autograder.exercise import Exercise, FormatError, Ordering
from autograder.exercise.answers.ordering import Order
from autograder.grading.parts import grade_parts
from autograder.sandbox.wire import decode, encode_parts
from autograder.student.readers import read
from autograder.student.symbols import NumbersByName

DISTRACTORS = {
    "begs_the_question": ("z is shown", "That is what is to be shown."),
    "nonsense": ("x is y", "x is a number and y is none."),
}
PROOF = Ordering(["a", (["b", "c"], "d"), "e", "f"], DISTRACTORS)
STEPS = PROOF.shuffled(np.random.default_rng(0))
RIGHT = PROOF.order(STEPS)
LETTER = {text: letter for letter, text in STEPS.items()}


def sent(raw):
    """Send an answer to the grader."""
    header, pieces = encode_parts(raw)
    return decode(header, b"".join(pieces))


def judged(texts, proof=PROOF, steps=STEPS):
    letters = {text: letter for letter, text in steps.items()}
    right = proof.order(steps)
    return proof.judge(Order((letters[text] for text in texts.split()), right.key), right)


@pytest.mark.parametrize("order", ["a b c d e f", "a d b c e f", "a b d c e f"])
def test_every_right_order_earns_everything(order):
    assert judged(order).credit == 1


def test_a_step_out_of_place_or_left_out_costs_its_share_and_the_rest_stays():
    one_off = (5 - PROOF._by_chance) / (6 - PROOF._by_chance)
    assert PROOF._by_chance == pytest.approx(3.46, abs=0.01)
    assert judged("a c b d e f").credit == one_off
    assert judged("a c b d e f").note == "wrong_order"
    assert judged("f a b c d e").credit == one_off
    assert judged("a b c d e").credit == one_off
    assert judged("a b c d e").note == "missing_step"
    assert "5 stand in a right order" in judged("a c b d e f").feedback


@pytest.mark.parametrize(
    ("order", "early"),
    [("f a b c d e", "f"), ("b c d e f a", "b"), ("a d c b e f", "c"), ("a b d e c f", "e")],
)
def test_one_step_that_stands_too_early_is_named(order, early):
    said = judged(order).feedback
    assert f"Step {LETTER[early]} stands too early: a step that it needs comes after it." in said
    assert said.count("Step") == 1


def test_of_equal_steps_none_is_called_early_that_may_stand_there():
    proof = Ordering(["a", "x", "b", "x", "c", "d"])
    steps = proof.shuffled(np.random.default_rng(3))
    right = proof.order(steps)
    turned = [right[place] for place in (0, 3, 2, 1, 5, 4)]  # a x b x d c
    assert f"Step {right[5]} stands too early" in proof.judge(Order(turned, right.key), right)[2]


def test_a_wrong_step_takes_its_share_away_and_is_named_with_its_sentence():
    order = [*RIGHT[:3], LETTER["x is y"], *RIGHT[3:]]
    found = PROOF.judge(Order(order, RIGHT.key), RIGHT)
    assert found.credit == 0.75
    assert found.note == "nonsense"
    assert found.feedback == "x is a number and y is none."
    both = PROOF.judge(Order([*order, LETTER["z is shown"]], RIGHT.key), RIGHT)
    assert both.credit == 0.5
    assert both.feedback == "That is what is to be shown. x is a number and y is none."


def test_a_wrong_step_in_the_place_of_a_right_one_leaves_the_rest():
    replaced = ["a", "b", "c", "d", "e", "x is y"]
    found = PROOF.judge(Order((LETTER[text] for text in replaced), RIGHT.key), RIGHT)
    assert found.credit == pytest.approx(judged("a b c d e").credit - 0.25)
    assert found.credit > 0.35
    assert found.note == "nonsense"


def test_equal_steps_may_take_each_others_place():
    block = Ordering(["attend", "norm", "look across", "norm", "feed", "norm"])
    steps = block.shuffled(np.random.default_rng(1))
    norms = [letter for letter, text in steps.items() if text == "norm"]
    rest = {text: letter for letter, text in steps.items()}
    for first, second, third in (norms, norms[::-1]):
        order = [rest["attend"], first, rest["look across"], second, rest["feed"], third]
        assert block.judge(Order(order, ""), block.order(steps)).credit == 1
        del order[1]  # any of the norms may be the one that is missing
        assert block.judge(Order(order, ""), block.order(steps)).credit == pytest.approx(
            0.65, abs=0.01
        )


@given(st.integers(4, 9), st.integers(0, 3), st.integers(0, 10**6))
def test_shuffled_letters_earn_next_to_nothing_on_average(number, wrong, seed):
    proof = Ordering(
        [f"step {i}" for i in range(number)],
        {f"wrong_{i}": (f"wrong {i}", "It is wrong.") for i in range(wrong)},
    )
    rng = np.random.default_rng(seed)
    right = proof.order(proof.shuffled(rng))
    guesses = [rng.permutation(list(right.key))[: rng.integers(1, number + 1)] for _ in range(40)]
    earned = [proof.judge(proof.read(list(guess), like=right), right).credit for guess in guesses]
    assert np.mean(earned) < 0.2
    if wrong:
        shuffled = [rng.permutation(list(right.key)) for _ in range(40)]
        earned = [proof.judge(Order(guess, right.key), right).credit for guess in shuffled]
        assert np.mean(earned) < 0.12
    assert proof.judge(proof.read(sorted(right), like=right), right).credit == 0
    if wrong:
        assert proof.judge(proof.read(right.key, like=right), right).credit == 0.5
        assert proof.judge(proof.read(sorted(right.key), like=right), right).credit == 0


@given(st.permutations(sorted(RIGHT.key)), st.integers(1, 8))
def test_an_earlier_answer_never_earns_more_for_a_wrong_step_more(letters, number):
    given, wrong = letters[:number], set(RIGHT.key) - set(RIGHT)
    without = [letter for letter in given if letter not in wrong]
    credit = PROOF.judge(Order(given, RIGHT.key), RIGHT).credit
    assert 0 <= credit <= PROOF.judge(Order(without, RIGHT.key), RIGHT).credit <= 1


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("A A B", "each step stands there once, and A more often"),
        ("A 1", "letters from A to H in order are expected, such as \"C B A\", not 'A 1'"),
        (3, "letters from A to H"),
        ({"A": 1}, "letters from A to H"),
        ("none", "letters from A to H"),
        ({"A", "B"}, "a set has no order: write the letters in a list, or as text"),
        (sent(frozenset("AB")), "a set has no order"),
    ],
)
def test_what_is_no_order_gets_a_sentence(raw, says):
    with pytest.raises(FormatError) as refused:
        PROOF.read(raw, like=RIGHT)
    assert says in str(refused.value)


def test_the_notebook_says_in_which_order_letters_are_read():
    assert read("h,B  c", PROOF.hint(RIGHT)).shown == "H B C: 3 steps in this order"


def test_steps_are_shown_as_a_list_with_the_numbers_above():
    shown = NumbersByName({"d": 3, "steps": {"A": "so $d > 2$", "B": "hence"}})
    assert shown._repr_latex_() is None
    assert shown._repr_markdown_().splitlines()[-2:] == ["- **A** so $d > 2$", "- **B** hence"]
    assert "d = 3" in shown._repr_markdown_()
    assert repr(shown).splitlines() == ["d = 3", "A  so $d > 2$", "B  hence"]
    assert NumbersByName({"d": 3})._repr_markdown_() is None


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ((["a", "b"],), "of these 2 steps a shuffle has 1.5 in order"),
        ((["a", ("b", "c", "d", "e")],), "of these 5 steps"),
        ((["a", "b", "c"], {"w": ("a", "No.")}), "has the text of another step"),
        (([str(i) for i in range(13)],), "at most 12 steps"),
    ],
)
def test_steps_that_ask_for_nothing_are_refused(declared, says):
    with pytest.raises(ValueError, match=says):
        Ordering(*declared)


def test_an_exercise_with_steps_proves_itself_and_names_the_wrong_steps():
    exercise = Exercise("proof", title="Proof", source="here")
    exercise.variant(lambda rng: {"steps": PROOF.shuffled(rng)})

    @exercise.part(points=4, answer=PROOF)
    def order(steps):
        """The steps in order."""
        return PROOF.order(steps)

    pool = [exercise.draw(np.random.default_rng(seed)) for seed in range(8)]
    assert [wrong.name for wrong in order.misconceptions] == list(DISTRACTORS)
    assert part_problems(exercise, order, pool) == []
    (item,) = grade_parts(exercise, {"steps": STEPS}, {"order": list(RIGHT.key)}.get)
    assert (item.score, item.note) == (2, "begs_the_question")


@pytest.mark.parametrize(
    "text",
    [
        "{}-{}-{}",
        "{} -> {} -> {}",
        "{} → {} → {}",
        "{} => {} ⇒ {}",
        "{}, {}, {}",
        "{} / {} / {}",
        "1. {} 2. {} 3. {}",
        "1) {}\n2) {}\n3) {}",
        "{}, then {}, then {}",
        r"${} \to {} \rightarrow {}$",
    ],
)
def test_letters_may_stand_between_arrows(text):
    steps = Ordering(["a", "b", "c"])
    shuffled = steps.shuffled(np.random.default_rng(1))
    right = steps.order(shuffled)
    written = text.format(*right)
    assert steps.judge(steps.read(written, like=right), right).credit == 1
