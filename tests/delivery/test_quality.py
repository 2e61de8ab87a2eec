"""How good was the test: figures that are known, and the page that says them."""

from types import SimpleNamespace

import numpy as np
import pytest
from nbgrader.api import Gradebook

from autograder.course.config import CourseError
from autograder.delivery.nbgrader.marks import Marks
from autograder.delivery.pages.final_grades import sheet as laid_over
from autograder.delivery.pages.final_grades import sheets
from autograder.delivery.pages.quality.assess import assess, places, thirds
from autograder.delivery.pages.quality.figures import alpha, alpha_interval, f_quantile, item_rest
from autograder.delivery.pages.quality.page import earlier, quality_lines
from autograder.delivery.pages.quality.wrong_answers import (
    AnswerOutcome,
    groups,
    option_tables,
    outcome,
)
from autograder.delivery.pages.report import write_report
from autograder.delivery.pages.solutions import Solutions
from autograder.exercise import Exercise, Numbers
from autograder.grading.results import ExerciseGrade, Grade, Item, Status
from tests.delivery.test_pages import Page, stands_alone

A = "a01_tiny"


def test_alpha_of_right_and_wrong_answers_is_kuder_and_richardson_s():
    right = np.random.default_rng(1).integers(0, 2, (40, 6))
    p = right.mean(axis=0)
    total = right.sum(axis=1).var(ddof=1)
    kr20 = 6 / 5 * (1 - (p * (1 - p)).sum() * 40 / 39 / total)
    assert alpha(right) == pytest.approx(kr20)


@pytest.mark.parametrize(
    ("probability", "n", "m", "value"),
    [(0.95, 4, 20, 2.866), (0.975, 10, 20, 2.774), (0.95, 1, 10, 4.965), (0.05, 20, 4, 1 / 2.866)],
)
def test_quantiles_of_f_are_those_of_the_tables(probability, n, m, value):
    assert f_quantile(probability, n, m) == pytest.approx(value, rel=2e-4)


def test_feldt_s_interval_holds_the_true_alpha_as_often_as_it_says():
    # Parallel exercises with a variance of 1 between students and 3 of error: α = k/(k + 3).
    rng, k, n = np.random.default_rng(5), 6, 25
    truth, held, tries = k / (k + 3), 0, 200
    quantiles = [1 - end for end in alpha_interval(0.0, n, k)]  # the same for every class
    for _ in range(tries):
        points = rng.normal(size=(n, 1)) + np.sqrt(3) * rng.normal(size=(n, k))
        low, high = (1 - (1 - alpha(points)) * quantile for quantile in quantiles)
        held += low < truth < high
    assert 0.90 <= held / tries <= 0.99


def test_discrimination_leaves_the_exercise_itself_out():
    points = np.array([[0, 0, 1], [1, 0, 0], [2, 1, 1], [3, 1, 0]], float)
    expected = [np.corrcoef(points[:, i], np.delete(points, i, 1).sum(1))[0, 1] for i in range(3)]
    assert item_rest(points) == pytest.approx(expected)


def test_an_exercise_in_which_the_better_ones_do_worse_is_named(tiny, graded, save):
    for n in range(12):
        save(tiny, graded(f"student_{n:03}", qk=n % 3, norm=1.0 if n % 3 == 0 else 0.0))
    with Gradebook(tiny.database) as book:
        for row in book.find_assignment(A).submissions:
            grade = book.find_grade("qk_why", A, A, row.student.id)
            grade.manual_score, grade.needs_manual_grade = 0.0, False
        book.db.commit()
    quality = assess(sheets(tiny, A))
    assert (quality.students, quality.few) == (12, True)
    assert quality.by_id["norm"].share == pytest.approx(1 / 3)
    assert quality.by_id["norm"].discrimination < -0.8
    (doubt,) = quality.by_id["norm"].doubts[:1]
    assert doubt.endswith("who does well elsewhere does worse here.")
    assert quality.alpha < 0
    first, *rest = quality_lines(A, quality)
    assert first.startswith("a01_tiny: reliability α = -")
    assert "12 students; of so few it is a hint at most" in first
    assert any("norm, 1 point: Discrimination is -" in line for line in rest)
    write_report(tiny, [A], tiny.root)
    page = Page(tiny.root / "reports" / f"{A}_quality.html")
    stands_alone(page)
    for said in (
        "These are the points of 12 students",
        "who does well elsewhere does worse here",
        "The earlier class: −",
        "Feldt’s",
    ):
        assert said in page.text
    stands_alone(Page(tiny.root / "reports" / f"{A}.html"))


def test_points_that_wait_are_in_no_figure(tiny, graded, save):
    save(tiny, graded("ada"), graded("bob", qk=1))
    quality = assess(sheets(tiny, A))
    assert quality.left_out == ["qk"]
    assert quality.by_id["qk"].share is None
    assert quality.by_id["qk"].outcomes == {AnswerOutcome.WAITS: 2}
    assert quality.alpha is None
    assert next(quality_lines(A, quality)).endswith(
        "not defined: students whose points are final: 2"
    )


def test_an_earlier_class_without_the_assignment_is_said(tiny, graded, save, configure):
    save(tiny, graded("ada"))
    configure(tiny.root, "c.Course.assignments = [{'id': 'b', 'title': 'Other'}]")
    with pytest.raises(CourseError, match="has no records of a01_tiny to compare with"):
        earlier(tiny.root, [A])


asked = Exercise("ratio", title="Ratio", source="nobody")


@asked.variant
def draw(rng):
    return {"x": int(rng.integers(2, 50))}


@asked.part(points=1, answer=Numbers())
def value(x):
    """The value."""
    return 1.0 * x


def sheet(student, variant, items):
    exercise = ExerciseGrade.of("ratio", items, variant=variant)
    grade = Grade(A, student, "A", [exercise], [], {})
    return laid_over(grade, Marks(), {"ratio": {"title": "Ratio", "parts": [{"name": "value"}]}})


def wrong(given, name="value", note=""):
    return Item(name, "The value.", Status.FAILED, 0.0, 1, note, "No.", given=given)


def test_wrong_answers_to_other_numbers_are_grouped_by_what_they_are_to_the_right_one():
    pool = [{"x": x} for x in (4, 6, 10, 20, 30)]
    solutions = Solutions({"ratio": asked}, SimpleNamespace(pool=lambda _: pool))
    given = {"ada": (0, "6"), "bob": (1, "9"), "cia": (2, "15"), "dan": (3, "7"), "eve": (4, "7")}
    found = {s: sheet(s, variant, [wrong(text)]) for s, (variant, text) in given.items()}
    found["fay"] = sheet("fay", 0, [wrong("99", note="known")])
    found["gus"] = sheet("gus", 0, [wrong("nonsense")])
    several, alone = groups(found, solutions)
    assert [(g.relation, g.students) for g in several] == [
        ("1.5 × the right answer", ["ada", "bob", "cia"]),
        ("", ["dan", "eve"]),
    ]
    assert (several[0].given, several[0].right) == ("6", "4")
    assert alone == 1


def test_letters_of_a_choice_are_counted_for_the_better_and_the_weaker():
    choice = {"kind": "choice", "options": "ABC"}
    letters = {"ada": "A", "bob": "a", "cia": "B", "dan": "Z", "eve": ""}
    found = {s: sheet(s, 0, [wrong(text, "which")]) for s, text in letters.items()}
    (table,) = option_tables(
        found, {("ratio", "which"): choice}, Solutions({}, None), ({"ada", "cia"}, {"bob"})
    )
    assert table.answered == 3
    assert [(o.text, o.count, o.upper, o.lower) for o in table.options] == [
        ("A", 2, 0.5, 1.0),
        ("B", 1, 0.5, 0.0),
        ("C", 0, 0.0, 0.0),
    ]


def test_an_exercise_counts_once_by_the_first_reason():
    def of(*items):
        return outcome(sheet("ada", 0, list(items)).sections[0])

    right = Item("value", "", Status.PASSED, 1.0, 1)
    assert of(right) is AnswerOutcome.RIGHT
    assert of(right, wrong("", note="blank")) is AnswerOutcome.BLANK
    assert of(wrong("3"), wrong("", note="blank")) is AnswerOutcome.UNNAMED
    assert of(wrong("3"), wrong("3", note="timeout")) is AnswerOutcome.BROKEN
    assert of(wrong("3", note="timeout"), wrong("3", note="factor_two")) is AnswerOutcome.NAMED


def test_exercises_that_would_cover_each_other_share_a_place():
    one, two, far = ((0.5, 0.4), (0.52, 0.45), (0.5, -0.1))
    exercises = [SimpleNamespace(share=s, discrimination=d) for s, d in (one, far, two)]
    exercises.append(SimpleNamespace(share=0.5, discrimination=None))
    found = places(SimpleNamespace(exercises=exercises))
    assert found == [(*one, [1, 3]), (*far, [2])]


def test_the_better_third_are_those_with_the_most_points():
    found = {f"s{n}": SimpleNamespace(open=n == 6, score=n) for n in range(7)}
    assert thirds(found) == ({"s4", "s5"}, {"s0", "s1"})
