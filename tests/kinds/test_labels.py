"""Tables of labels: each counts, none comes free, and mistakes are known by their labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.proofs.part_proofs import part_problems
from autograder.exercise import Exercise, FormatError, Labels
from autograder.student.readers import read

CLAIMS = Labels(
    "T F E",
    {
        "taken_for_proved": ({"C6": "T"}, "Nobody has proved it."),
        "exchanged": ({"C1": "T", "C2": "F"}, "The scores have that rank."),
    },
)
RIGHT = {"C1": "F", "C2": "T", "C3": "F", "C4": "T", "C5": "F", "C6": "E"}


def judged(**changed):
    return CLAIMS.judge(CLAIMS.read(RIGHT | changed, like=RIGHT), RIGHT)


def test_each_label_counts_above_the_commonest_one_everywhere():
    assert judged().credit == 1
    assert judged(C3="T").credit == pytest.approx(2 / 3)
    assert judged(C3=None, C4="F").credit == pytest.approx(1 / 3)
    for label in "TFE":
        assert judged(**dict.fromkeys(RIGHT, label)).credit == 0


def test_every_mistake_that_a_table_shows_is_named_with_its_sentence():
    found = judged(C1="T", C2="F", C6="T")
    assert found.note == "taken_for_proved"
    assert found.feedback == (
        "3 of 6 labels are right. Nobody has proved it. The scores have that rank."
    )
    assert judged(C1="T").note == ""


@given(st.integers(0, 10**6))
def test_labels_at_random_earn_little_on_average(seed):
    rng = np.random.default_rng(seed)
    tables = [dict(zip(RIGHT, rng.choice(["T", "F", "E"], 6), strict=True)) for _ in range(60)]
    earned = [CLAIMS.judge(CLAIMS.read(t, like=RIGHT), RIGHT).credit for t in tables]
    assert np.mean(earned) < 0.2


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"C9": "T"}, "there is no 'C9' in this table, but C1, C2"),
        ({"C1": "X"}, "C1: one of T, F, E is expected, not 'X'"),
        ({"C1": ["T"]}, "C1: one of T, F, E is expected"),
        ("C1 T", 'a dictionary such as {"C1": "T"} is expected, not \'C1 T\''),
        ({}, "a dictionary such as"),
    ],
)
def test_what_is_no_table_gets_a_sentence(raw, says):
    with pytest.raises(FormatError) as refused:
        CLAIMS.read(raw, like=RIGHT)
    assert says in str(refused.value)


def test_the_notebook_says_which_labels_are_missing():
    found = read({"c1": " t", "C6": "e"}, CLAIMS.hint({"C1": "F", "C2": "T", "C6": "E"}))
    assert found.shown == "C1 T, C6 E"
    assert found.advice == "no label yet: C2"


@pytest.mark.parametrize("labels", ["T F", "true false"])
@pytest.mark.parametrize("yes", [True, "True", "t", "T.", "true"])
def test_true_and_false_may_be_written_as_they_are(labels, yes):
    kind = Labels(labels)
    first = labels.split()[0]
    assert kind.read({"C1": yes}, like={"C1": first}) == {"C1": first}


def test_words_may_be_labels():
    kind = Labels("true false")
    assert kind.read({"a": True, "b": "False"}, like={"a": "true", "b": "true"}) == {
        "a": "true",
        "b": "false",
    }


def test_an_exercise_with_labels_proves_itself():
    exercise = Exercise("claims", title="Claims", source="here")

    @exercise.part(points=6, answer=CLAIMS)
    def labels():
        """Which claims hold?"""
        return RIGHT

    assert [wrong.name for wrong in labels.misconceptions] == ["taken_for_proved", "exchanged"]
    assert part_problems(exercise, labels, [{}]) == []
