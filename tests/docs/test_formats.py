"""docs/formats.md has every type, and the files are what the types say."""

import inspect
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


def test_the_page_links_to_every_type_where_it_is():
    text = file_formats.PAGE.read_text("utf-8")
    places = {
        name: Path(inspect.getsourcefile(form)).relative_to(ROOT).as_posix()
        for name, form in file_formats.TYPES.items()
    }
    assert file_formats.linked(text) == places


def test_the_site_has_a_table_for_each_link():
    made = file_formats.page(file_formats.PAGE.read_text("utf-8"))
    assert file_formats.linked(made) == {}
    for name in file_formats.TYPES:
        section = made.partition(f"\n### {name}\n")[2].partition("\n#")[0]
        assert "| entry | holds | |" in section
    assert "| `calls` | list of [RecordedCall](#recordedcall) | What it calls, in this " in made


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
