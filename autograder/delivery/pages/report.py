"""What an instructor wants to know about a class: reports/<assignment>.html and an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table

from autograder.course.config import Course
from autograder.delivery.nbgrader.people import people
from autograder.delivery.pages.class_results import Note, class_result, exercise_results, totals
from autograder.delivery.pages.final_grades import Section, Sheet, sheets
from autograder.delivery.pages.quality.assess import assess
from autograder.delivery.pages.quality.page import earlier, quality_lines, write_quality
from autograder.delivery.pages.quality.wrong_answers import names_a_mistake
from autograder.delivery.pages.rendering import write_page
from autograder.delivery.pages.report_rows import entries, waiting
from autograder.delivery.pages.tables import mistakes_table, scores_tables, statistics_table
from autograder.delivery.platforms.teams import with_teams


def write_report(course: Course, ids: Sequence[str], before: Path | None = None) -> Path:
    """Write a report for each assignment that has grades; return reports/class.html over all.

    Parameters
    ----------
    before
        The folder of the course as it was given earlier, to be compared.

    Raises
    ------
    CourseError
        If an assignment isn't released.
    """
    compared = earlier(before, ids)
    folder = course.root / "reports"
    classes = {id: found for id in ids if (found := sheets(course, id))}
    results = {id: class_result(found.values()) for id, found in classes.items()}
    for id, found in classes.items():
        write_page(
            folder / f"{id}.html",
            "report.html.j2",
            id=id,
            title=course.titles[id],
            sheets=found,
            result=results[id],
            exercises=exercise_results(found.values()),
            others=_others(found),
            entries=entries(course, id, found),
            waiting=waiting(found.values()),
            tiers=Counter(sheet.grade.isolation for sheet in found.values()),
        )
        write_quality(course, id, found, results[id], compared.get(id))
    everybody = {id: with_teams(course, id, found) for id, found in classes.items()}
    return write_page(
        folder / "class.html",
        "class.html.j2",
        title=course.id,
        titles=course.titles,
        classes=everybody,
        results=results,
        students=_named(course, everybody.values()),
        waits=_waits(everybody.values()),
        totals=totals(everybody.values()),
        most=sum(result.max_score for result in results.values()),
    )


def _named(course: Course, classes: Iterable[Mapping[str, Sheet]]) -> dict[str, str]:
    """Return the names of all who handed in, by id; empty where the id is all that is known."""
    known = people(course)
    ids = sorted({student for found in classes for student in found})
    names = {id: known[id].name if id in known else "" for id in ids}
    return {id: "" if name == id else name for id, name in names.items()}


def _waits(classes: Iterable[Mapping[str, Sheet]]) -> dict[str, str]:
    """Say what each student waits for, in the words by which the page filters."""
    words: dict[str, set[str]] = {}
    for found in classes:
        for student, sheet in found.items():
            own = words.setdefault(student, set())
            own |= {"open"} if sheet.open else set()
            own |= {"withheld"} if sheet.withheld else set()
    return {student: " ".join(sorted(own)) for student, own in words.items()}


def _others(found: Mapping[str, Sheet]) -> list[tuple[str, list[Section]]]:
    """Return who answered to somebody else's numbers, and in which exercises."""
    listed = []
    for student, sheet in found.items():
        sections = [
            section
            for section in sheet.sections
            if any(item.note == "other_variant" for item in section.grade.items)
        ]
        if sections:
            listed.append((student, sections))
    return listed


def summarise(course: Course, ids: Sequence[str], width: int) -> Iterator[Table]:
    """Give the scores of each assignment that has grades, and statistics, for such a console."""
    for id in ids:
        if found := sheets(course, id):
            exercises = exercise_results(found.values())
            yield from scores_tables(course.titles[id], exercises, found, width)
    yield from in_short(course, ids, 0)


def in_short(course: Course, ids: Sequence[str], most: int) -> Iterator[Table]:
    """Give the statistics of each assignment that has grades, and so many of its mistakes."""
    classes = {id: list(found.values()) for id in ids if (found := sheets(course, id))}
    if not classes:
        return
    yield statistics_table({id: class_result(own) for id, own in classes.items()})
    mistakes: list[tuple[str, Note]] = []
    for own in classes.values():
        notes = [(e.id, note) for e in exercise_results(own) for note in e.notes]
        named = [(id, note) for id, note in notes if names_a_mistake(note.name)]
        mistakes += sorted(named, key=lambda one: -one[1].count)[:most]
    if mistakes:
        yield mistakes_table(mistakes)


def quality_in_short(course: Course, ids: Sequence[str]) -> Iterator[str]:
    """Say of each assignment that has grades how good the test was."""
    for id in ids:
        if found := sheets(course, id):
            yield from quality_lines(id, assess(found))
