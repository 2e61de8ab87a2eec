"""The engine's tests and the course's stand apart."""

import re

from ..loaded import COURSE, ROOT

#: What is about the course on attention, and may break when one of its exercises is edited.
OF_THE_COURSE = {"exercises", "end_to_end", "docs", "loaded.py", "copies.py"}


def test_no_test_of_the_engine_names_an_assignment_of_the_course():
    of_the_course = re.compile("|".join([*COURSE.ids(), r"\bloaded import", r"copy_course\(ROOT"]))
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in (ROOT / "tests").rglob("*.py")
        if path.relative_to(ROOT / "tests").parts[0] not in OF_THE_COURSE
        for match in of_the_course.finditer(path.read_text())
    ]
    assert found == []
