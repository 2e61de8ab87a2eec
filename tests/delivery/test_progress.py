"""A course's own numbers: where the class stands, how the term goes, who has not handed in."""

import shutil

import pytest

from autograder.cli import main
from autograder.course.config import Course
from autograder.delivery.nbgrader.gradebook import register, seal
from autograder.delivery.pages.class_results import SMALLEST
from autograder.delivery.pages.feedback import page_of, shows, write_feedback
from autograder.delivery.pages.progress import term, write_progress

from .conftest import A

CLASS = [f"s{n:02}" for n in range(SMALLEST)]


@pytest.fixture
def whole(tiny, configure, graded, save, hand_in, released):
    """Return the course after a class was graded; what waits for a person is not final."""

    def made(*settings, students=CLASS):
        listed = {"id": A, "title": "Tiny & small", "due": "2026-05-01 01:00 UTC"}
        course = configure(tiny.root, f"c.Course.assignments = [{listed}]", *settings)
        names = "".join(f"{id},Student {id}\n" for id in [*CLASS, "zed"])
        (course.root / "students.csv").write_text(f"id,name\n{names}")
        register(course, A, seal(released()))
        for student in students:
            hand_in(course, student)
        blank = {"answer": "Write here.", "changed": True}
        save(course, *(graded(s, qk=n % 3, **blank) for n, s in enumerate(students)))
        return Course.load(course.root)

    return made


SAID = "of 10 whose points are final: a quarter have 1 or less, half 2 or less, three quarters 2.75"


def test_feedback_says_where_the_class_stands_if_the_course_wants_it(whole):
    course = whole("c.Course.quartiles = True")
    write_feedback(course, [A])
    assert SAID in page_of(course, "s00", A).read_text()
    course = whole("c.Course.quartiles = False")
    write_feedback(course, [A])
    assert "In the class" not in page_of(course, "s00", A).read_text()


def test_of_a_class_that_is_too_small_nothing_is_said(whole):
    course = whole("c.Course.quartiles = True", students=CLASS[1:])
    write_feedback(course, [A])
    assert "In the class" not in page_of(course, "s01", A).read_text()


def test_a_watch_writes_everybody_s_page_anew_when_the_class_is_another(whole, graded, save):
    from autograder.delivery.department.watch import Watcher

    course = whole("c.Course.quartiles = True")
    lines = []
    work = Watcher(course.root, [A], course.root / "release", feedback="now", say=lines.append)
    work._publish(course)
    assert "of 10 whose points are final" in page_of(course, "s00", A).read_text()
    save(course, graded("s00", qk=2.0, norm=0.0, answer="Write here."))
    shutil.copytree(course.root / "submitted" / "s00", course.root / "submitted" / "zed")
    save(course, graded("zed", answer="Write here."))
    work._publish(course)
    assert lines[-1] == f"{A}: feedback of 11 published"
    assert all("of 11 whose points" in page_of(course, s, A).read_text() for s in ("s05", "zed"))
    work._publish(course)
    assert len(lines) == 2
    assert shows(course, "s05", A)


def test_the_term_lists_everybody_and_says_who_is_missing(whole, monkeypatch, capsys):
    course = whole(students=CLASS[:3])
    found = term(course, course.ids())
    assert found.of("s02") == (3.0, 6.0)
    assert found.of("zed") == (0, 0)
    page, own = write_progress(course, found)
    text = page.read_text()
    assert "3 of 11 handed in; not handed in: s03, s04" in text
    assert 'data-is="missing"><th scope="row">zed <span class="muted">Student zed</span>' in text
    assert len(own) == 11
    pages = {path.parent.name: path.read_text() for path in own}
    assert "<strong>3</strong> of 6 points" in pages["s02"]
    assert "Not handed in." in pages["zed"]
    write_feedback(course, [A])
    write_progress(course, found)
    assert f'href="{A}/{A}.html"' in own[2].read_text()
    monkeypatch.setattr("sys.argv", ["autograder", "progress", "--course", str(course.root)])
    with pytest.raises(SystemExit):
        main()
    assert f"{A}: 8 of 11 have not handed in: s03, s04" in capsys.readouterr().out


def test_what_is_handed_in_and_not_graded_is_not_missing(whole, hand_in):
    course = whole(students=CLASS[:1])
    hand_in(course, "zed")
    found = term(course, course.ids())
    assert "zed" not in found.stages[0].missing
    _, own = write_progress(course, found)
    assert "Handed in; it is not graded yet." in own[-1].read_text()
