"""Statements to choose from: everybody has an order of their own, which says nothing."""

import json
from collections import Counter

import pytest

from autograder.course.proofs.part_proofs import part_problems, right_answers
from autograder.course.release.check_json import record
from autograder.course.release.drawing import drawn
from autograder.exercise import Choice, Exercise
from autograder.exercise.words.variants import draws
from autograder.grading.parts import grade_parts
from autograder.student.answers import report_answers
from autograder.student.data import decode, statements

WORDS = ["zero", "one", "two", "three"]


def exercise(*, multiple=False, right="B", shared=False, pool=64):
    made = Exercise("which", title="Which", source="none", pool=pool)
    kind = Choice(WORDS, multiple=multiple)

    @made.part(points=1, answer=kind)
    def first():
        """The first."""
        return right

    @first.misconception()
    def off_by_one():
        """You counted from the wrong end."""
        return "CD" if multiple else "C"

    @made.part(points=1, answer=kind if shared else Choice(WORDS[:3]))
    def second():
        """The second."""
        return "A"

    return made


def graded(made, variant, **answers):
    return {item.name: item for item in grade_parts(made, variant, answers.get)}


@pytest.mark.parametrize("multiple", [False, True])
def test_what_is_right_is_right_in_everybodys_order_and_no_letter_is_right_more_often(multiple):
    made = exercise(multiple=multiple, right="AB" if multiple else "B")
    seen = Counter()
    for variant in draws(made, "course").pool:
        answers = right_answers(made, variant)
        items = graded(made, variant, **answers)
        assert [item.score for item in items.values()] == [1, 1]
        assert items["first"].chosen == ("AB" if multiple else "B")
        assert items["second"].given == "zero"
        seen.update(answers["first"])
    assert set(seen.values()) == {32 if multiple else 16}


def test_a_mistake_is_named_by_what_was_chosen_and_not_by_its_letter():
    made = exercise()
    variant = draws(made, "course").pool[5]
    published = sorted(WORDS)
    letter = "ABCD"[variant["orders"]["first"].index("ABCD"[published.index("two")])]
    item = graded(made, variant, first=letter.lower())["first"]
    assert (item.note, item.given, item.chosen) == ("off_by_one", "two", "C")


def test_the_first_variants_are_the_same_where_no_more_are_drawn():
    made = exercise()
    assert draws(made, "course", 5).pool == draws(made, "course").pool[:5]


def test_one_list_for_two_parts_has_one_order():
    made = exercise(shared=True)
    orders = [variant["orders"] for variant in draws(made, "course").pool]
    assert all(own["first"] == own["second"] for own in orders)
    entry = record(made, drawn(made, "course"))
    shown = statements(entry["parts"], orders[0])
    assert list(shown) == ["first, second"]


def test_the_release_says_nothing_about_the_authors_order():
    made, other = exercise(), exercise(right="D")
    entry = record(made, drawn(made, "course"))
    assert json.dumps(entry) == json.dumps(record(other, drawn(other, "course")))
    assert entry["parts"][0]["hint"]["statements"] == sorted(WORDS)


def test_an_exercise_is_proved_with_orders():
    made = exercise(multiple=True, right="AB")
    assert part_problems(made, made.parts[0], draws(made, "course").pool[:4]) == []


def test_an_answer_to_a_release_without_orders_is_read_as_it_stands():
    assert graded(exercise(), {}, first="B", second="a")["first"].score == 1


def test_check_says_what_a_letter_stands_for(monkeypatch):
    made = exercise()
    entry = record(made, drawn(made, "course"))
    data = {"exercises": {"which": entry}}
    monkeypatch.setattr("autograder.student.answers.contents", lambda: data)
    shown = statements(entry["parts"], decode(entry["pool"][3]["orders"]))
    (line, *_) = report_answers("which", 3, {"first": "b"})
    assert line.endswith(f"first: B, {shown['first']['B']}")


def test_statements_have_texts_of_their_own():
    with pytest.raises(ValueError, match="text of its own"):
        Choice(["one", "one"])
