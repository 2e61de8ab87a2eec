"""The engine knows nothing of what this repository's course is about."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "autograder"
#: Words of the course, and what torch and Python call things of their own.
OF_THE_COURSE = re.compile(
    r"attention|attn|transformer|softmax|logit|gelu|multi.?head|embedding|perplex|mha_|\bqk",
    re.IGNORECASE,
)
OF_LIBRARIES = re.compile(r"\w*scaled_dot_product\w*|NodeTransformer")


def words(text):
    return OF_THE_COURSE.findall(OF_LIBRARIES.sub("", text))


def test_no_file_of_the_engine_has_a_word_of_the_course():
    files = [p for p in ENGINE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    texts = {p.relative_to(ROOT).as_posix(): p.read_text(errors="replace") for p in files}
    assert {name: found for name, text in texts.items() if (found := words(text))} == {}
    assert not any(words(name) for name in texts)


def test_the_words_are_found_where_they_stand():
    course = (ROOT / "course_config.py").read_text()
    assert words(course)
    assert words("a Multi-Head layer, its softmax") == ["Multi-Head", "softmax"]


def test_what_is_installed_is_called_after_the_engine():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not words(f"{project['name']} {project['description']}")
    assert not words((ROOT / project["readme"]["file"]).read_text())
