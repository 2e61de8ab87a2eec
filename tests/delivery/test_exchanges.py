"""nbgrader's exchange as courses use it: several in one, a group's, with files, of another kind."""

import json
import shutil
import stat

import pytest

from autograder.course.config import Course
from autograder.delivery.department.releasing import hand_out
from autograder.delivery.platforms.collect import collect

A = "a01_tiny"
ELSEWHERE = """
from pathlib import Path

from nbgrader.exchange.abc import ExchangeCollect, ExchangeReleaseAssignment


class Collect(ExchangeCollect):
    def do_copy(self, src, dest):
        pass

    def start(self):
        place = Path(self.coursedir.root, "submitted", "ada", self.coursedir.assignment_id)
        place.mkdir(parents=True)
        (place / f"{self.coursedir.assignment_id}.ipynb").write_text("{}")


class Release(ExchangeReleaseAssignment):
    def start(self):
        Path(self.coursedir.root, "released elsewhere").touch()
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))


def set_in(course, *lines):
    config = course.root / "course_config.py"
    config.write_text("\n".join([config.read_text(), *lines, ""]))
    return Course.load(course.root)


def student_s(tmp_path, nbgrader, course):
    """Return a function that runs nbgrader as ada, in a folder of her own for this course."""
    home = tmp_path / f"home of {course.id}"
    home.mkdir()
    where = ("--course", course.id, f"--Exchange.root={tmp_path / 'exchange'}")
    return home, lambda *words: nbgrader(home, *words, *where)


@pytest.mark.slow
def test_several_courses_share_an_exchange_and_each_gets_its_own(tiny, nbgrader, tmp_path):
    root = shutil.copytree(tiny.root, tmp_path / "second")
    second = set_in(Course.load(root), 'c.CourseDirectory.course_id = "second"')
    courses = (tiny, second)
    homes = {}
    for course in courses:
        hand_out(course, [A], "exchange")
        homes[course.id], run = student_s(tmp_path, nbgrader, course)
        run("fetch_assignment", A)
        (path,) = homes[course.id].rglob("*.ipynb")
        notebook = json.loads(path.read_text())
        notebook["metadata"]["of"] = course.id
        path.write_text(json.dumps(notebook))
        run("submit", A, "--student=ada")
    for course in courses:
        assert collect(course, [A]).new == [("ada", A)]
        taken = json.loads(course.submission("ada", A).read_text())
        assert taken["metadata"]["of"] == course.id


@pytest.mark.slow
def test_files_beside_the_notebook_travel_with_it(tiny, nbgrader, tmp_path):
    (tiny.folder("release") / A / "readings.csv").write_text("t,x\n0,1\n")
    hand_out(tiny, [A], "exchange")
    home, run = student_s(tmp_path, nbgrader, tiny)
    run("fetch_assignment", A)
    assert (home / A / "readings.csv").read_text() == "t,x\n0,1\n"
    run("submit", A, "--student=ada")
    assert collect(tiny, [A]).new == [("ada", A)]
    assert tiny.submission("ada", A).with_name("readings.csv").is_file()


@pytest.mark.slow
def test_what_is_collected_for_a_group_is_the_group_s(tiny, nbgrader, tmp_path):
    course = set_in(tiny, "c.CourseDirectory.groupshared = True")
    hand_out(course, [A], "exchange")
    _, run = student_s(tmp_path, nbgrader, course)
    run("fetch_assignment", A)
    run("submit", A, "--student=ada")
    assert collect(course, [A]).new == [("ada", A)]
    path = course.submission("ada", A)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent)]
    assert modes == [0o660, 0o2770]
    released = tmp_path / "exchange" / course.id / "outbound" / A
    assert all(place.stat().st_mode & stat.S_IWGRP for place in (released, *released.iterdir()))


def test_an_exchange_of_another_kind_is_asked_in_place_of_the_folder(tiny, monkeypatch):
    (tiny.root / "elsewhere.py").write_text(ELSEWHERE)
    monkeypatch.syspath_prepend(tiny.root)
    course = set_in(
        tiny,
        'c.ExchangeFactory.collect = "elsewhere.Collect"',
        'c.ExchangeFactory.release_assignment = "elsewhere.Release"',
    )
    assert hand_out(course, [A], "exchange") == [f"{A}: released to the exchange"]
    assert (course.root / "released elsewhere").exists()
    assert collect(course, [A]).new == [("ada", A)]


def test_nbgrader_s_own_folder_stays_closed_to_its_own_classes(tiny):
    from autograder.delivery.nbgrader_settings import nbgrader_config

    name = "nbgrader.exchange.default.collect.ExchangeCollect"
    course = set_in(tiny, f'c.ExchangeFactory.collect = "{name}"')
    assert nbgrader_config(course).ExchangeFactory.collect.endswith("CollectFiles")
