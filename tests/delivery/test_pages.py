import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.course.config import CourseError
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.nbgrader import gradebook
from autograder.delivery.nbgrader.entering import entered_again
from autograder.delivery.pages import solutions
from autograder.delivery.pages.class_results import totals
from autograder.delivery.pages.feedback import page_of, shows, write_feedback
from autograder.delivery.pages.rendering import digest, script
from autograder.delivery.pages.report import summarise, write_report
from autograder.delivery.pages.tables import grade_table
from autograder.exercise import Exercise, Numbers
from autograder.grading.hints import with_hints
from autograder.grading.results import Status
from tests.delivery.conftest import configure, released

A = "a01_tiny"
BLANK = "Write here."
ENDS = (("feedback", "html"), ("autograded", "ipynb"))
EVIL = '<script>alert(1)</script> `<img src=x onerror="x">` & "quoted" {{ 7 * 7 }}'


OURS = str(script("report.js"))


class Page(HTMLParser):
    """The parts of a page that tests look at."""

    def __init__(self, path):
        super().__init__()
        self.html = path.read_text()
        self.tags, self.attributes, self.pieces = [], [], []
        self.feed(self.html)
        self.text = " ".join(" ".join(self.pieces).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        if self.tags[-1:] not in (["style"], ["script"]) or data.strip() == "":
            self.pieces.append(data)


def stands_alone(page):
    """Check that a page runs nothing, loads nothing and is accessible in outline."""
    assert not {"link", "iframe", "object", "base"} & set(page.tags)
    scripts = re.findall(r"<script[^>]*>(.*?)</script", page.html, re.S | re.I)
    allowed = re.findall(r"script-src ([^;\"]*)", page.html)
    assert allowed == [f"'{digest(script)}'" for script in scripts]
    assert scripts in ([], [OURS])
    # A picture in an address runs nothing and loads nothing; there are words for it as well.
    pictures = [value for name, value in page.attributes if value and value.startswith("data:")]
    assert page.tags.count("img") == len(pictures)
    assert all(value.startswith("data:image/svg+xml;base64,") for value in pictures)
    assert all(value for name, value in page.attributes if name == "alt")
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not re.search(r"https?:|//\w|@import|url\(", page.html)
    addresses = [value for name, value in page.attributes if name in ("href", "src")]
    addresses = [value for value in addresses if value not in pictures]
    beside = r"(\.\./(feedback|autograded)/[\w%]+/\w+/)?\w+\.(html|ipynb)"
    assert all(re.fullmatch(rf"#\w+|{beside}", address) for address in addresses)
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {a[1:] for a in addresses if a[0] == "#"} <= set(ids)
    labels = [value for name, value in page.attributes if name == "aria-labelledby"]
    assert set(labels) <= set(ids)
    assert page.tags.count("h1") == page.tags.count("main") == 1
    assert ("lang", "en") in page.attributes
    assert ("content", "width=device-width, initial-scale=1") in page.attributes


@pytest.fixture
def feedback(tiny, save):
    """Return a function that saves a graded submission and reads its page."""

    def write(graded):
        save(tiny, graded)
        write_feedback(tiny, [A])
        student = graded.grade.student
        page = Page(tiny.folder("feedback") / student / A / f"{A}.html")
        stands_alone(page)
        return page

    return write


CURVE = {
    "n": [250, 500, 1000, 2000],
    "seconds": [0.001, 0.004, 0.016, 0.064],
    "reference": [0.001, 0.002, 0.004, 0.008],
}


def test_a_picture_shows_how_the_time_grows_and_words_do_too(feedback, graded):
    page = feedback(graded("ada", curve=CURVE))
    assert page.tags.count("img") == 2  # both items have one here
    alt = dict(page.attributes)["alt"]
    assert "from n = 250 to n = 2000: yours grows like n^2.0, to 64 ms" in alt
    assert "the reference like n^1.0, to 8 ms" in alt


TRAINING = {"seed": 1, "seconds": 3.71, "steps": [1, 200], "losses": [2.2, 0.0031]}
SAID = "Trained with seed 1 in 3.7 s of processor time: the loss went from 2.2 to 0.0031"


def test_a_training_run_is_shown_with_its_seed_seconds_and_curve(feedback, graded):
    page = feedback(graded("ada", training=TRAINING))
    assert page.tags.count("img") == 2
    assert SAID in page.text
    without = feedback(graded("bob", training=TRAINING | {"steps": [], "losses": []}))
    assert "img" not in without.tags
    assert "Trained with seed 1 in 3.7 s" in without.text


def test_the_report_shows_everybody_s_training_runs(tiny, save, graded):
    slow = TRAINING | {"seconds": 9.0, "losses": [2.2, -1.0]}  # it may be anything
    save(tiny, graded("ada", training=TRAINING), graded("bob", training=slow), graded("eve"))
    write_report(tiny, [A])
    page = Page(tiny.root / "reports" / f"{A}.html")
    stands_alone(page)
    assert "Loss against step in 2 training runs" in dict(page.attributes)["alt"]
    assert "2 training runs in scores : 3.7 to 9.0 s of processor time" in page.text
    assert f"ada: {SAID}" in page.text


def test_the_report_shows_everybody_s_times(tiny, save, graded):
    save(tiny, graded("ada", curve=CURVE), graded("bob", curve=CURVE), graded("eve"))
    write_report(tiny, [A])
    page = Page(tiny.root / "reports" / f"{A}.html")
    stands_alone(page)
    assert "Processor time of 2 submissions" in dict(page.attributes)["alt"]


def test_one_error_is_told_once_for_an_exercise(feedback, graded):
    text = "There is no answer to read, because the cell stopped: cell 9 raised SyntaxError."
    one = graded("ada", qk=0.0, norm=0.0, feedback=text)
    first, *others = one.grade.exercises
    twice = replace(
        first, items=[first.items[0], replace(first.items[0], name="x"), first.items[1]]
    )
    page = feedback(replace(one, grade=replace(one.grade, exercises=[twice, *others])))
    at_the_top = len(one.grade.exercises)
    assert page.text.count("raised SyntaxError") == at_the_top + len(one.grade.exercises)
    assert page.text.count("As above.") == 1


def test_a_page_tells_points_outcome_and_diagnosis(feedback, graded):
    page = feedback(
        graded("ada", qk=1.0, norm=0.0, feedback="Divide by √d_k.", notices=["A cell was gone."])
    )
    for piece in (
        "Feedback for ada",
        "Tiny & small",
        "1 of 6 points",
        "3 points more will be marked by hand.",
        "A cell was gone.",
        "Queries <and> keys",
        "scores : Scores q·k .",
        "◐ partly right 1 of 2",
        "✗ not right yet 0 of 1",
        "Divide by √d_k.",
        "– will be marked by hand – of 3",
    ):
        assert piece in page.text
    assert "withheld" not in page.text


def test_what_is_paid_for_elsewhere_is_not_called_partly_right(feedback, graded):
    one = graded("ada", qk=1.0, norm=0.0, feedback="Divide by √d_k.")
    first, *others = one.grade.exercises
    item = replace(first.items[0], status=Status.PARTIAL)
    items = [replace(item, score=item.max_score), *first.items[1:]]
    page = feedback(
        replace(one, grade=replace(one.grade, exercises=[replace(first, items=items), *others]))
    )
    assert f"◐ paid for once {item.max_score:g} of {item.max_score:g}" in page.text


def test_what_costs_most_stands_first_and_what_is_right_is_folded(feedback, graded):
    one = graded("ada", qk=1.0, norm=0.0, feedback="Divide by √d_k.")
    page = feedback(one)
    (first, second) = re.findall(r"<li><a href=.*?</li>", page.html.partition('id="mend"')[2])[:2]
    assert "Divide by √d_k." in first + second
    assert "(1 point)" in first
    folded = "".join(re.findall(r"<details.*?</details>", page.html, re.S))
    assert "Divide by" not in folded
    assert "of 0" not in folded
    right = feedback(graded("bob", qk=2.0, norm=1.0))
    assert "What to mend first" not in right.text
    folded = "".join(re.findall(r"<details.*?</details>", right.html, re.S))
    assert "2 points</summary>" in folded
    assert "Scores" in folded
    assert "1 right, 1 point" in right.text
    assert 'class="open" style="width: 50' in right.html  # a person has yet to give three of six


def test_what_waits_for_a_person_is_said_once_above_and_once_at_its_place(feedback, graded):
    page = feedback(graded("ada", qk=1.0, norm=0.0))
    assert page.text.count("more will be marked by hand") == 1
    assert page.text.count("will be marked by hand") == 2


@pytest.mark.parametrize(("cost", "shown"), [(0.0, False), (0.25, True)])
def test_hints_that_are_free_are_no_success(feedback, graded, cost, shown):
    found = graded("ada", qk=2.0, norm=1.0)
    first, *others = found.grade.exercises
    hinted = with_hints(first, 2, 3, cost)
    page = feedback(replace(found, grade=replace(found.grade, exercises=[hinted, *others])))
    assert "2 of 3 hints, as your notebook says." in page.text
    assert ("of 0" in page.text) == shown


def test_what_a_message_quotes_is_set_apart_from_what_it_says(feedback, graded):
    said = "Line 2 cannot be read: write `*`\n    p1 p2\n       ^\nLine 3 is wrong."
    page = feedback(graded("ada", qk=0.0, feedback=said))
    assert '<pre class="said" tabindex="0">    p1 p2\n       ^</pre>' in page.html
    assert '<p class="said">Line 3 is wrong.</p>' in page.html
    assert "<code>*</code>" in page.html


def test_of_what_is_partly_withheld_the_rest_counts(feedback, partly):
    page = feedback(partly("ada"))
    assert "Withheld: 0.5 points, and the rest counts: the grader could not decide" in page.text
    assert "2 of 5.5 , more to come" in page.text


def test_a_withheld_exercise_is_said_to_be_looked_at(feedback, graded):
    page = feedback(graded("ada", qk=None))
    assert "withheld in 1 exercise: the grader could not decide there, and says why" in page.text
    assert "The score is withheld: the grader could not decide here" in page.text
    assert "– of 5" in page.text


def test_points_and_comments_given_by_hand_are_shown(tiny, feedback, graded):
    feedback(graded("ada", qk=None))
    with Gradebook(tiny.database) as book:
        for cell, points in (("qk_why", 2.5), ("check_qk", 1.0)):
            grade = book.find_grade(cell, A, A, "ada")
            grade.manual_score, grade.needs_manual_grade = points, False  # as formgrader does
        book.find_comment("qk_why", A, A, "ada").manual_comment = "Nearly: <why>?"
        book.find_comment("qk", A, A, "ada").manual_comment = "We looked."
        book.db.commit()
    page = feedback(graded("ada", qk=None))
    for piece in (
        "4.5 of 6 points",
        "A person gave these points",
        "Comment: We looked.",
        "◐ marked by hand 2.5 of 3",
        "Comment: Nearly: <why>?",
    ):
        assert piece in page.text
    assert "will be marked by hand" not in page.text
    assert "exercise: the grader could not decide" not in page.text
    page = feedback(graded("ada", qk=None, answer="Another text."))
    assert "3 points more will be marked by hand" in page.text
    assert "– will be marked by hand 2.5 of 3" in page.text


def test_a_late_penalty_is_explained(tiny, feedback, graded):
    feedback(graded("ada"))
    with Gradebook(tiny.database) as book:
        notebook = book.find_submission_notebook(A, A, "ada")
        notebook.late_submission_penalty = 2.0
        book.db.commit()
    write_feedback(tiny, [A])
    page = Page(tiny.folder("feedback") / "ada" / A / f"{A}.html")
    assert "2 points are taken off, because it was handed in late." in page.text
    assert "1 of 6 points" in page.text


def test_the_own_answer_stands_beside_the_verdict(feedback, graded):
    page = feedback(graded("ada", qk=0.0, given="a + b\n= <b> + a"))
    assert "Your answer (2 numbers asked for): a + b = <b> + a" in page.text
    assert "&lt;b&gt; + a" in page.html
    assert "A right answer" not in page.text
    page = feedback(graded("bob", given="[1, 2]"))
    assert "Your answer: [1, 2]" in page.text


def qk():
    """Return the exercise that the first page is about."""
    exercise = Exercise("qk", title="Queries and keys", source="none")

    @exercise.part(points=2, answer=Numbers())
    def scores():
        """Scores."""
        return np.array([1 / 3, 4.0])

    @exercise.reference
    def attend(q):
        """Weigh `q` with itself."""
        return q

    return exercise


@pytest.mark.parametrize(
    ("setting", "due", "shown"),
    [
        ("True", "2026-01-01 12:00 UTC", True),
        ("True", "2999-01-01 12:00 UTC", False),
        ("True", "", False),
        ("False", "2026-01-01 12:00 UTC", False),
    ],
)
def test_right_answers_are_shown_after_the_due_date_where_the_course_allows_it(
    tiny, save, graded, monkeypatch, setting, due, shown
):
    listed = {"id": A, "title": "Tiny"} | ({"due": due} if due else {})
    course = configure(
        tiny.root, f"c.Course.solutions = {setting}", f"c.Course.assignments = [{listed}]"
    )
    gradebook.register(course, A, gradebook.seal(released()))
    loaded = SimpleNamespace(sound={"qk": qk()})
    monkeypatch.setattr(solutions, "load_assignment", lambda *_: loaded)
    save(course, graded("ada", qk=0.0, given="[1, 1]"))
    write_feedback(course, [A])
    page = Page(course.folder("feedback") / "ada" / A / f"{A}.html")
    stands_alone(page)
    told = "A right answer, for your numbers: [0.333333, 4.0]" in page.text
    assert told == shown
    assert ("What the reference of attend does: Weigh q with itself." in page.text) == shown


def test_a_setting_that_means_nothing_is_refused(tiny):
    with pytest.raises(CourseError, match="c.Course.solutions is 'soon'; it is True or False"):
        configure(tiny.root, 'c.Course.solutions = "soon"')


def test_everything_that_students_write_is_escaped(tiny, feedback, graded):
    traceback = f"Traceback:\n  {EVIL}"
    page = feedback(graded("ada", qk=0.0, feedback=EVIL, notices=[EVIL, traceback]))
    dense = "".join(page.text.split())
    told = dense.count("".join(EVIL.replace("`", "").split()))
    assert told == 5  # at the top, of two items, in two notices
    assert "49" not in page.text
    page = feedback(graded("bob", qk=0.0, feedback=traceback))
    assert "pre" in page.tags
    record = {**graded("cy", feedback="half a pair: \ud800").grade.to_json(), "key": ""}
    tiny.record("cy", A).parent.mkdir()
    tiny.record("cy", A).write_text(json.dumps(record))
    write_feedback(tiny, [A])
    page = Page(tiny.folder("feedback") / "cy" / A / f"{A}.html")
    assert "half a pair: ?" in page.text
    report = write_report(tiny, [A])
    for path in (report, report.with_name(f"{A}.html")):
        stands_alone(Page(path))


def test_a_page_holds_nothing_that_is_not_in_the_grade(tiny, feedback, graded):
    for name in ("autograded", "release"):
        tiny.folder(name).mkdir(exist_ok=True)
    given = graded("ada", answer="SECRET-TEXT", qk=0.0)
    notebook = given.notebook
    notebook["cells"][2]["outputs"][0]["text"] = "SECRET-OUTPUT"
    page = feedback(Graded.of(given.grade, notebook))
    assert "SECRET" not in page.html
    assert "0.1" not in page.text  # nor how long it ran


def test_the_report_counts_names_and_lists(tiny, graded, save):
    scaling = {"note": "no_scaling", "feedback": "Divide by √d_k.", "answer": BLANK}
    other = {"note": "other_variant", "feedback": "Not your numbers.", "answer": BLANK}
    save(
        tiny,
        graded("ada", answer=BLANK),
        graded("bob", qk=1.0, norm=1.0, **scaling),
        graded("cy", qk=0.0, norm=0.0, **scaling),
        graded("di", qk=0.0, norm=0.0, **other),
        graded("eve", qk=None, notices=["The check cell `check_qk` was edited."]),
    )
    index = Page(write_report(tiny, [A]))
    stands_alone(index)
    assert "Tiny & small 1.2 1 6 5 4 1 1" in index.text
    assert "student a01 course" in index.text
    assert "eve 1 (+5) 1 (+5)" in index.text
    page = Page(tiny.root / "reports" / f"{A}.html")
    stands_alone(page)
    for piece in (
        "5 submissions",
        "mean 1.2 of 6",
        "median 1",
        "lowest – highest 0 – 3",
        "are of the points so far: those of 1 of 5 are not final.",
        "isolation tier A",
        "eve, Queries <and> keys: It broke.",
        "di: Queries <and> keys, Norm",
        "◐ partly right 2 ✗ not right yet 2 ! withheld 1",
        "mean 0.75 of 5 so far (1 not final)",
        "1 (+5)",
        "no_scaling Divide by √d_k. 2",
        "eve: The check cell check_qk was edited.",
    ):
        assert piece in page.text
    assert "Number of students by tenths of the points: 2, 1, 0, 1, 0, 1, 0, 0, 0, 0" in page.html


def test_the_points_of_the_course_are_those_of_all_assignments_that_one_handed_in():
    first = {"ada": SimpleNamespace(score=4, open=1), "bob": SimpleNamespace(score=2, open=0)}
    second = {"ada": SimpleNamespace(score=3.5, open=2)}
    assert totals([first, second]) == {"ada": (7.5, 3), "bob": (2, 0)}


def test_a_report_says_who_it_is_when_it_came_and_what_waits(tiny, graded, hand_in, save):
    names = "id,name\nada,Ada <b>Lovelace</b>\n"
    (tiny.root / "students.csv").write_text(names)
    course = configure(
        tiny.root,
        f'c.Course.assignments = [{{"id": "{A}", "title": "T", "due": "2026-05-04 08:30 UTC"}}]',
        'c.Exchange.timezone = "Europe/Berlin"',
    )
    gradebook.register(course, A, gradebook.seal(released()))
    hand_in(course, "ada")
    save(course, graded("ada"), graded("bob", answer=BLANK, changed=False))
    gradebook.refresh_times(course, A)
    write_feedback(course, [A])
    index = Page(write_report(course, [A]))
    stands_alone(index)
    assert "ada Ada <b>Lovelace</b>" in index.text
    page = Page(course.root / "reports" / f"{A}.html")
    stands_alone(page)
    assert "2026-05-04 12:00, late: 90 min notebook" in page.text
    assert "Queries <and> keys, 1: ada" in page.text
    links = [value for name, value in page.attributes if name == "href" and "/ada/" in value]
    assert links == [f"../{step}/ada/{A}/{A}.{end}" for step, end in ENDS]
    assert all((course.root / "reports" / link).resolve().is_file() for link in links)


def test_the_console_shows_the_same_scores(tiny, graded, save):
    cy = graded("cy[x]", qk=0.0, answer=BLANK)
    save(tiny, graded("ada"), graded("bob", qk=None), cy)
    console = Console(width=120, record=True, file=StringIO())
    for table in summarise(tiny, [A], 120):
        console.print(table)
    shown = console.export_text()
    assert re.search(r"ada +│ +2 – │ +1 ✓ │ +3 \(\+3\)", shown)  # no ✓ where points wait
    assert re.search(r"bob +│ +– ! │ +1 ✓ │ +1 \(\+5\)", shown)
    assert re.search(r"mean so far +│ +1 │ +1 │ +1\.67", shown)
    assert re.search(r"qk ┃ +norm ┃ +score", shown)
    assert re.search(rf"{A} +3 +1\.67 +1 +1 – 3 +6 +1", shown)
    assert f"Points so far: 2 of 3 in {A} wait for a marker." in shown
    assert "cy[x]" in shown


def test_a_wide_table_is_paged_and_no_id_is_cut(tiny, graded, save):
    students = [f"student_with_a_long_id_{i:03}" for i in range(3)]
    save(tiny, *map(graded, students))
    console = Console(width=44, record=True, file=StringIO())
    for table in list(summarise(tiny, [A], 44))[:-1]:
        console.print(table)
    shown = console.export_text()
    assert "Tiny & small (1 of 2)" in shown
    assert "…" not in shown
    assert all(shown.count(student) == 2 for student in students)
    assert max(map(len, shown.splitlines())) <= 44
    assert re.search(r"student +┃ +of 5 ┃ +of 1", shown)
    assert "1\N{NO-BREAK SPACE}qk, \n2\N{NO-BREAK SPACE}norm" in shown  # numbers in place of ids


def test_the_console_shows_one_grade_item_by_item(graded):
    console = Console(width=100, record=True, file=StringIO())
    console.print(grade_table(graded("ada", qk=1.0, feedback="[bold]Divide.").grade))
    shown = console.export_text()
    assert "a01_tiny, ada: 2 of 6" in shown
    assert "◐ partly right" in shown
    assert "[bold]Divide." in shown


def test_no_grades_give_an_empty_report(tiny):
    assert "Nothing is graded yet." in Page(write_report(tiny, [A])).text
    assert list(summarise(tiny, [A], 80)) == []


def test_who_hands_in_the_same_again_gets_feedback_for_the_new_hand_in(tiny, hand_in, graded, save):
    """The exchange makes a secret for each hand-in, and students fetch feedback by it."""
    secret = hand_in(tiny, "ada").with_name("submission_secret.txt")
    secret.write_text("first")
    save(tiny, graded("ada"))
    write_feedback(tiny, [A])
    assert shows(tiny, "ada", A)
    secret.write_text("second")
    (handed,) = submissions(tiny, A)
    assert entered_again(tiny, [handed]) == []  # it is up to date, and isn't graded again
    assert not shows(tiny, "ada", A)
    write_feedback(tiny, [A])
    assert page_of(tiny, "ada", A).with_name("submission_secret.txt").read_text() == "second"
    assert shows(tiny, "ada", A)
