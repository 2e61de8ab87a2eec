"""docs/formats.md says what the types say, and the files are what they say."""

import json
import sys
from pathlib import Path
from typing import TypedDict

import pytest

from autograder.course.typed_json import decoded
from autograder.student.released_files import CheckFile, Help

ROOT = Path(__file__).resolve().parents[2]
RELEASED = sorted((ROOT / "release").glob("*/check.json"))

sys.path.append(str(ROOT / "docs" / "site"))
import file_formats  # noqa: E402


def test_the_tables_are_those_of_the_types():
    text = file_formats.PAGE.read_text("utf-8")
    assert file_formats.page(text) == text, "run `make formats`"


def test_every_type_has_its_table():
    text = file_formats.PAGE.read_text("utf-8")
    assert [name for name in file_formats.TYPES if f"<!-- {name} -->" not in text] == []


def test_what_is_not_said_is_noticed():
    class Entry(TypedDict):
        """An entry.

        Attributes
        ----------
        told
            Something.
        """

        told: str
        untold: int

    with pytest.raises(ValueError, match="Entry doesn't say what .*untold"):
        file_formats.table(Entry)


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.parent.name)
def test_a_release_holds_what_its_types_say(path):
    assert decoded(path.read_bytes(), CheckFile) == json.loads(path.read_bytes())
    helping = path.with_name("help.json")
    if helping.is_file():
        known = decoded(helping.read_bytes(), dict[str, Help])
        assert json.loads(json.dumps(known)) == json.loads(helping.read_bytes())
