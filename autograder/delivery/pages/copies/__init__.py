"""Work that is alike, for an instructor to look at: reports/<assignment>_copies.html.

Nothing of it is a score, and none of it proves anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.course.config import Course, CourseError
from autograder.course.release.handed_out import Release
from autograder.delivery.pages.copies.code import alike, functions
from autograder.delivery.pages.copies.others_numbers import of_others
from autograder.delivery.pages.final_grades import sheets
from autograder.delivery.pages.rendering import write_page

#: So many pairs are shown, the most alike first.
SHOWN = 100


def write_copies(course: Course, ids: Sequence[str]) -> list[str]:
    """Write the page of each assignment that has grades; say what is on it.

    Raises
    ------
    CourseError
        If an assignment isn't released, or nothing is graded.
    """
    lines = []
    for id in ids:
        found = sheets(course, id)
        if not found:
            continue
        release = Release.load(course, id)
        answers = of_others(course, release, {s: sheet.grade for s, sheet in found.items()})
        pairs = [
            pair
            for exercise, cells in functions(course, release, [*found]).items()
            for pair in alike(exercise, cells)
        ]
        pairs.sort(key=lambda pair: (-pair.share * pair.size, pair.names))
        path = write_page(
            course.root / "reports" / f"{id}_copies.html",
            "copies.html.j2",
            title=course.titles[id],
            titles={e: known["title"] for e, known in release.data["exercises"].items()},
            count=len(found),
            answers=answers,
            pairs=pairs[:SHOWN],
            more=len(pairs[SHOWN:]),
        )
        lines.append(
            f"{id}: {len(answers)} answered another's numbers, {len(pairs)} pairs of functions "
            f"are alike: {path}"
        )
    if not lines:
        raise CourseError(
            f"nothing of {', '.join(ids)} is graded yet: `autograder grade` comes first"
        )
    return lines
