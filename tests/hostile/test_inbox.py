"""Whatever lies in a folder that students can write to, the others' work is collected."""

import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.config import CourseError
from autograder.course.opening import Listed, listed
from autograder.delivery.platforms import lms_files
from autograder.delivery.platforms.lms_files import opened_source

A = "m01_motion"
FAR = 2**42  # a year that no calendar of Python's has


def of_a_far_year(eve):
    (eve / f"{A}.ipynb").write_text("{}")
    os.utime(eve / f"{A}.ipynb", (FAR, FAR))


def of_a_year_before_christ(eve):
    (eve / f"{A}.ipynb").write_text("{}")
    os.utime(eve / f"{A}.ipynb", (-FAR, -FAR))


def a_name_that_is_no_text(eve):
    folder = os.fsencode(eve) + b"/\xff\xfe"
    os.mkdir(folder)  # noqa: PTH102
    Path(os.fsdecode(folder), f"{A}.ipynb").write_text("{}")


def an_id_that_is_no_text(eve):
    (eve / f"{A}.ipynb").write_text('{"cells": []}')
    os.rename(eve, os.fsencode(eve) + b"\xff")  # noqa: PTH104


def a_name_that_clears_the_screen(eve):
    folder = eve.with_name("eve\x1b[2J\r\nada: all is well")
    folder.mkdir()
    (folder / f"{A}.ipynb").write_text("{}")


def a_name_that_is_read_backwards(eve):
    (eve / "bypi\u202e.txt").write_text("{}")


def within(folder, name, deep):
    here = os.open(folder, os.O_RDONLY)
    for _ in range(deep):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open(f"{A}.ipynb", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def folders_in_folders(eve):
    within(eve, "a", 1500)


def a_path_that_is_too_long(eve):
    within(eve, "a" * 250, 18)


def a_link_to_its_own_folder(eve):
    (eve / "me").symlink_to(eve)


def a_folder_called_like_a_notebook(eve):
    (eve / f"{A}.ipynb").mkdir()
    (eve / f"{A}.ipynb" / f"{A}.ipynb").symlink_to("/dev/zero")


def many_files(eve):
    for number in range(3000):
        (eve / f"{number}.txt").touch()


ODD = [
    of_a_far_year,
    of_a_year_before_christ,
    a_name_that_is_no_text,
    an_id_that_is_no_text,
    a_name_that_clears_the_screen,
    a_name_that_is_read_backwards,
    folders_in_folders,
    a_path_that_is_too_long,
    a_link_to_its_own_folder,
    a_folder_called_like_a_notebook,
    many_files,
]


@pytest.fixture
def inbox(course):
    """An inbox in memory, where files may be of any year, with Ada's notebook in it."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    root = Path(tempfile.mkdtemp(dir=memory))
    for student in ("ada", "eve"):
        (root / student).mkdir()
    shutil.copy(course.root / "release" / A / f"{A}.ipynb", root / "ada" / f"{A}.ipynb")
    yield root
    subprocess.run(["rm", "-rf", root], check=True)  # Python's own gives up on such folders


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("words", ["collect", "watch --once --feedback=never"])
def test_it_stops_nobody_else_and_says_nothing_by_itself(course, inbox, odd, words):
    odd(inbox / "eve")
    command = [*words.split(), A, f"--from={inbox}", f"--course={course.root}"]
    done = CliRunner().invoke(app, command)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert course.submission("ada", A).is_file()
    assert all(sign.isprintable() for line in done.output.split("\n") for sign in line)
    assert not list(course.folder("submitted").glob("eve/*/*.ipynb")) or "year" in odd.__name__


def looked_through(root):
    """As anybody would write it."""
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(folder, name)
            datetime.fromtimestamp(path.lstat().st_mtime, UTC)
            str(path).encode()
            assert path.is_symlink() or path.as_posix().isprintable()


@pytest.mark.parametrize("odd", [*ODD[:5], ODD[5], ODD[7]])
def test_as_anybody_would_write_it_everything_ends(inbox, odd):
    """The control."""
    odd(inbox / "eve")
    with pytest.raises((ValueError, OSError, OverflowError, AssertionError)):
        looked_through(inbox)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer ones go through folders in a loop")
def test_python_s_own_goes_no_deeper_than_its_stack(inbox):
    """The control."""
    folders_in_folders(inbox / "eve")
    with pytest.raises(RecursionError):
        looked_through(inbox)


def test_what_goes_meanwhile_is_left_out(inbox, monkeypatch):
    real = os.lstat

    def gone(path, **kwargs):
        if Path(path).name == f"{A}.ipynb":
            raise FileNotFoundError(path)
        return real(path, **kwargs)

    assert f"ada/{A}.ipynb" in [entry.path for entry in listed(inbox)]  # the control
    monkeypatch.setattr(os, "lstat", gone)
    assert [entry.path for entry in listed(inbox)] == ["ada", "eve"]


def test_a_folder_that_can_not_be_opened_is_named(inbox, monkeypatch):
    shut = Listed("eve", closed="it can't be opened (Permission denied)")
    monkeypatch.setattr(lms_files, "listed", lambda _: [shut])
    with opened_source(inbox) as source:
        assert "Permission denied" in str(source.refused[0])


def test_nobody_waits_for_a_pipe_in_the_place_of_a_zip(inbox):
    os.mkfifo(inbox / "all.zip")
    with (
        pytest.raises(CourseError, match="neither a folder nor a zip"),
        opened_source(inbox / "all.zip"),
    ):
        pass
