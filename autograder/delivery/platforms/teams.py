"""Teams that hand in one notebook: who is in one, and what they have in common.

It is kept under the id of one member and graded once; all of them get its grade and feedback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from autograder.course.config import Course
from autograder.course.people.roster import Person
from autograder.course.submissions.hand_in import hand_in, keep_origin, teams
from autograder.delivery.platforms.layouts import Origin, as_moodle_writes
from autograder.delivery.platforms.owners import identify

T = TypeVar("T")


def members(team: Origin, known: Mapping[str, Person]) -> tuple[str, ...]:
    """Return the ids of a team.

    Whose it is, the platform's list of this assignment says, or the groups that it listed with the
    class.

    Raises
    ------
    ValueError
        If no list says it, or one of them isn't clear.
    """
    if team.platform == "moodle" and not team.number:
        raise ValueError(
            f"{team.who!r} is what Moodle calls those who are in no team, or in more than one: "
            "they share one entry, and who uploaded it isn't said. Put them into teams there, or "
            "collect it from a folder of its student's id"
        )
    if team.members:
        return tuple(sorted({identify(one, known) for one in team.members}))
    found = [person.id for person in known.values() if _is_in(person, team.who)]
    if not found:
        raise ValueError(
            f"{team.who!r} is a team, and nobody says who is in it: name Moodle's grading "
            "worksheet (--worksheet), or take its participants with their groups into the class "
            "list (`autograder roster import`)"
        )
    return tuple(sorted(found))


def _is_in(person: Person, team: str) -> bool:
    groups = (person.section, *person.section.split(","))
    return team in {as_moodle_writes(group) for group in groups}


def with_teams(course: Course, assignment: str, found: Mapping[str, T]) -> dict[str, T]:
    """Return what there is of each student; for each member of a team, what there is of its."""
    keepers = teams(course, assignment)
    shared = {id: found[keeper] for id, keeper in keepers.items() if keeper in found}
    return dict(sorted({**found, **shared}.items()))


def rename_in_teams(course: Course, old: str, new: str) -> None:
    """Write another id into the teams, or take it out of them where there is none."""
    for assignment in course.ids():
        for notebook in course.folder("submitted").glob(f"*/{assignment}/{assignment}.ipynb"):
            known = hand_in(course, notebook.parts[-3], assignment)
            if old in known.team:
                team = {new if id == old else id for id in known.team} - {""}
                keep_origin(notebook, replace(known, team=tuple(sorted(team))))
