"""Whose functions are alike: copydetect compares fingerprints of their tokens.

Names, strings, comments and layout don't count there.  What was released is taken out, and so is
what many wrote alike, because it is what the exercise asks for.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from copydetect import CodeFingerprint, compare_files
from copydetect.utils import get_token_coverage, highlight_overlap
from markupsafe import Markup

from autograder.course.config import Course
from autograder.course.release.handed_out import Release
from autograder.course.submissions.handed_in import texts
from autograder.grading.own_text import looking

#: Signs of code without names and layout: so many in a row must agree,
_AGREE = 25
#: so many of two functions in all,
_LEAST = 60
#: and such a share of what only few wrote.
_SHARE = 0.5
#: What more than so many wrote, or than such a share of the class, is common.
_MANY, _MOST = 5, 0.2
#: So much of a cell is compared; a notebook may hold megabytes.
_LONGEST = 20_000
_FUNCTION = re.compile(r"^\s*(def|class) ", re.M)


@dataclass(frozen=True)
class Pair:
    """Two functions that are alike.

    Attributes
    ----------
    size
        Signs that agree.
    share
        Their share of what is not common, in the one of both where it is more.
    code
        Both texts, with what agrees marked.
    """

    exercise: str
    names: tuple[str, str]
    size: int
    share: float
    code: tuple[Markup, Markup]


def functions(
    course: Course, release: Release, students: Iterable[str]
) -> dict[str, dict[str, str]]:
    """Return the code of the cells that define functions, by exercise and student.

    What was handed out, the stub, is there under the empty name.
    """
    stubs = texts(release.notebook)
    found = {
        id: {"": stubs[id]}
        for id in release.data["exercises"]
        if _FUNCTION.search(stubs.get(id, ""))
    }
    for student in students:
        path = course.submission(student, release.assignment, "autograded")
        try:
            own = texts(json.loads(path.read_bytes()))
        except (OSError, ValueError):
            continue
        for id, cells in found.items():
            if own.get(id, stubs[id]) != stubs[id]:
                cells[student] = own[id][:_LONGEST]
    return found


def alike(exercise: str, cells: Mapping[str, str]) -> list[Pair]:
    """Return the pairs of students whose cells are alike; the stub has the empty name."""
    found_prints = {student: _fingerprint(text) for student, text in cells.items()}
    prints = {student: one for student, one in found_prints.items() if one is not None}
    released = prints.pop("").hashes
    counts = Counter(each for one in prints.values() for each in one.hashes)
    many = max(_MANY, _MOST * len(prints))
    common = released | {each for each, count in counts.items() if count > many}
    for one in prints.values():
        _leave_out(one, common)
    shared: Counter[tuple[str, str]] = Counter()
    owners: dict[int, list[str]] = {}
    for student, one in prints.items():
        for each in one.hashes:
            owners.setdefault(each, []).append(student)
    for students in owners.values():
        shared.update(combinations(sorted(students), 2))
    found = []
    for names in sorted(shared):
        one, other = (prints[name] for name in names)
        if shared[names] < _SHARE / 2 * min(len(one.hashes), len(other.hashes)):
            continue  # in pieces: comparing every two of a large class would take minutes
        size, shares, slices = compare_files(one, other)
        if size >= _LEAST and max(shares) >= _SHARE:
            code = _marked(one, slices[0]), _marked(other, slices[1])
            found.append(Pair(exercise, names, int(size), min(float(max(shares)), 1.0), code))
    return found


def _fingerprint(text: str) -> Any:
    """Return the fingerprint of a cell; None where taking it has no end."""

    def taken() -> Any:
        return CodeFingerprint("", _AGREE, 1, language="python", fp=io.StringIO(text))

    return looking("copies", taken, None)


def _leave_out(one: Any, common: set[int]) -> None:
    one.hash_idx = {each: at for each, at in one.hash_idx.items() if each not in common}
    one.hashes = set(one.hash_idx)
    one.token_coverage = get_token_coverage(one.hash_idx, _AGREE, len(one.filtered_code))


def _marked(one: Any, slices: object) -> Markup:
    text, _ = highlight_overlap(one.raw_code, slices, "<mark>", "</mark>", escape_html=True)
    return Markup(text)
