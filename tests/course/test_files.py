"""What can't be written is said in a sentence, and nothing half written is left."""

import resource
from dataclasses import dataclass

import pytest

from autograder.course.config import CourseError
from autograder.course.files import write_atomically
from autograder.course.typed_json import decoded


@dataclass
class Entry:
    """A form to read."""

    score: float
    note: str


def test_a_disk_that_is_full_is_said_to_be(tmp_path):
    path = tmp_path / "records" / "ada.json"
    write_atomically(path, b"before")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, usual[1]))
    try:
        with pytest.raises(CourseError, match=r"records can't be written \(.+\): make room"):
            write_atomically(path, b"x" * (1 << 17))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert path.read_bytes() == b"before"
    assert [p.name for p in path.parent.iterdir()] == ["ada.json"]


def test_a_file_in_the_place_of_a_folder_is_said_to_be(tmp_path):
    (tmp_path / "records").write_text("")
    with pytest.raises(CourseError, match="records can't be written"):
        write_atomically(tmp_path / "records" / "ada.json", b"")


def test_json_that_only_python_reads_is_read_too():
    assert decoded('{"score": 1, "note": "x", "more": [NaN]}', Entry) == Entry(1.0, "x")
    assert decoded(rb'{"score": 1, "note": "\ud800"}', Entry).note == "\ud800"
    for wrong, why in {
        "{": "Expecting property name",
        '{"score": "4", "note": ""}': "Expected `float`, got `str`",
        '{"score": 1}': "missing required field `note`",
        b"\xff": "can't decode byte",
    }.items():
        with pytest.raises(ValueError, match=why):
            decoded(wrong, Entry)
